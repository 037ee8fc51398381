"""What scripting did to the values that a function was passed, where a call would notice that it does so no more.

Scripting turned an int for a `float` into a float, a tensor of one element for an `int` into an int, and copied lists, dicts
and instances of scripted classes (run on torch 2.13.0, 2026-11-22). What it merely rejected was never passed.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from torchlift.finding import Rewrite
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.places.uses_everywhere import uses_everywhere
from torchlift.rules.analysis.values.literals import is_none
from torchlift.rules.analysis.values.parameter_values import defaults_of, named_arguments
from torchlift.rules.analysis.values.self_attributes import self_attribute, stored_on_self
from torchlift.rules.analysis.values.type_comments import comment_types
from torchlift.rules.analysis.values.value_of import MOST_STEPS
from torchlift.rules.torchscript.facts.value_kinds import is_tensor_annotation
from torchlift.rules.torchscript.functions.list_parameters import list_doubt
from torchlift.rules.torchscript.functions.scripted_expressions import FunctionNode
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_CHANGING = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem __setitem__ __delitem__".split()
)
_FLOAT_CALLS = frozenset(
    {"float", "math.sqrt", "math.exp", "math.log", "math.pow", "math.sin", "math.cos", "math.tanh"}
)
_FLOATS = frozenset(f"{module}.{name}" for module in ("math", "numpy", "torch") for name in ("pi", "e", "inf", "nan"))
_REDUCED = frozenset("max min sum mean prod argmax argmin median amax amin".split())
_CONTAINER = lazy_pattern(r"\b(?:[Ll]ist|[Dd]ict)\b")
_TENSORS = lazy_pattern(r"(?:typing\.)?[Ll]ist\[(?:torch\.)?Tensor\]")
_CLASS = lazy_pattern(r"(?!(?:bool|str|int|float|(?:torch\.)?(?:Tensor|dtype|device|Size))$)\w+(?:\.\w+)*")

Call = tuple[ModuleView, ast.Call]


def passed_doubts(
    view: ModuleView,
    node: FunctionNode,
    calls: Sequence[Call],
    numbers: Mapping[str, int],
    project: Project,
    *,
    method: bool = False,
    unseen: bool = False,
    rewrites: list[Rewrite] | None = None,
) -> list[str]:
    """Clauses about values that a call passes, or may pass, and that reach a place where they differ now.

    Args:
        view: the file of the function.
        node: the function.
        calls: all known calls of it, each with its file.
        numbers: parameters whose number reaches an operation in which an int gives another result than a float, and
            its line.
        project: the project.
        method: whether the first parameter is the instance.
        unseen: whether there may be further calls.
        rewrites: gets what makes a list again where that is all that is missing; None where nothing is changed in this file.
    """
    comments = comment_types(view, node) or {}
    positional = [*node.args.posonlyargs, *node.args.args][1 if method else 0 :]
    defaults = defaults_of(node.args)
    names = [argument.arg for argument in positional]
    doubts = []
    for argument in [*positional, *node.args.kwonlyargs]:
        name = argument.arg
        if argument.annotation is not None:
            written = "Tensor" if is_tensor_annotation(view, argument.annotation) else view.text(argument.annotation)
        else:
            written = comments.get(name, "Tensor")
        values = _values(calls, [*names, *(a.arg for a in node.args.kwonlyargs)], name, defaults.get(name), view)
        if "float" in written and name in numbers:
            place = _first(values, may_be_int) or _passed_on(values, project)
            if unseen or not values or place is not None:
                given = f"{place} may pass" if place is not None else "a caller may pass"
                doubts.append(
                    f"{given} something else than a float for `{name}` of `{node.name}`, of which scripting made one and line "
                    f"{numbers[name]} takes it as it is"
                )
        if "int" in written and (place := _first(values, gives_tensor)) is not None:
            doubts.append(f"{place} passes a tensor for `{name}` of `{node.name}`, which scripting turned into an int")
        container = _CONTAINER.search(written) is not None
        if (container or _CLASS.fullmatch(written.strip("\"'"))) and (
            line := _changed(node, name, attributes_only=not container, tensors=_TENSORS.fullmatch(written) is not None)
        ) is not None:
            doubts.append(f"line {line} changes `{name}` of `{node.name}`, of which scripting passed a copy")
        else:
            clause = list_doubt(view, node, name, values, project, written=written, unseen=unseen, rewrites=rewrites)
            doubts += [clause] if clause is not None else []
    return doubts


def calls_as_attribute(view: ModuleView, name: str) -> list[Call]:
    """Calls `self.name(...)` and `Class.name(...)` in the same file."""
    calls = [(node, view.parent(node)) for node in view.attributes_named(name)]
    return [(view, call) for node, call in calls if isinstance(call, ast.Call) and call.func is node]


def _values(
    calls: Sequence[Call], names: list[str], name: str, default: ast.expr | None, home: ModuleView
) -> list[tuple[ModuleView, ast.expr]] | None:
    """What is passed for one parameter; None where some call hides it."""
    found: list[tuple[ModuleView, ast.expr]] = [(home, default)] if default is not None and not is_none(default) else []
    for view, call in calls:
        given = named_arguments(call, names)
        if given is None:
            return None
        if name in given:
            found.append((view, given[name]))
    return found


def _first(values: list[tuple[ModuleView, ast.expr]] | None, wanted: object) -> str | None:
    assert callable(wanted)
    return next((f"{view.path}:{value.lineno}" for view, value in values or () if wanted(view, value)), None)


def may_be_int(view: ModuleView, node: ast.expr, steps: int = 0) -> bool:
    """Whether a number that a call passes may be an int."""
    if steps > MOST_STEPS:
        return True
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int) and not isinstance(value, bool)
        case ast.UnaryOp(operand=operand):
            return may_be_int(view, operand, steps + 1)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return any(may_be_int(view, element, steps + 1) for element in elements)
        case ast.BinOp(op=ast.Div()):
            return False
        case ast.BinOp(left=left, right=right):
            return may_be_int(view, left, steps + 1) and may_be_int(view, right, steps + 1)
        case ast.IfExp(body=body, orelse=orelse):
            return may_be_int(view, body, steps + 1) or may_be_int(view, orelse, steps + 1)
        case ast.Call(func=function):
            name = function.id if isinstance(function, ast.Name) else view.certain_name(function)
            return name not in _FLOAT_CALLS
        case ast.Attribute() if view.certain_name(node) in _FLOATS:
            return False
        case ast.Attribute() if self_attribute(node) is not None:
            stored = stored_on_self(view, node)
            return not stored or any(may_be_int(view, value, steps + 1) for value in stored)
        case ast.Name():
            binding = view.definition(node)
            if binding is not None and binding.kind == "assign" and binding.value is not None:
                return may_be_int(view, binding.value, steps + 1)
            if binding is not None and isinstance(binding.node, ast.arg):
                owner = view.function_of(binding.node)
                comments = comment_types(view, owner) if isinstance(owner, ast.FunctionDef) else None
                annotation = binding.node.annotation
                written = view.text(annotation) if annotation is not None else (comments or {}).get(binding.name, "")
                return written != "float"
    return True


def _passed_on(values: list[tuple[ModuleView, ast.expr]] | None, project: Project) -> str | None:
    """Where an int is written out for a parameter that a caller declares a float and passes on."""
    for view, value in values or ():
        binding = view.definition(value)
        function = view.function_of(binding.node) if binding is not None and isinstance(binding.node, ast.arg) else None
        if binding is None or not isinstance(function, ast.FunctionDef):
            continue
        bound = view.bound_by(function)
        positional = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        if isinstance(view.parent(function), ast.ClassDef):
            positional = positional[1:]
            calls = calls_as_attribute(view, function.name)
        else:
            reads = uses_everywhere(view, bound, project)[0] if bound is not None else []
            around = [(home, read, home.parent(read)) for home, read in reads]
            calls = [(home, call) for home, read, call in around if isinstance(call, ast.Call) and call.func is read]
        for home, call in calls:
            given = (named_arguments(call, [*positional, *(a.arg for a in function.args.kwonlyargs)]) or {}).get(
                binding.name
            )
            if given is not None and isinstance(_literal(home, given), int):
                return f"{home.path}:{given.lineno}"
    return None


def _literal(view: ModuleView, node: ast.expr) -> object:
    """The number that is written out in an expression, or in what its name is bound to."""
    binding = view.definition(node)
    if binding is not None and binding.kind == "assign" and binding.value is not None:
        node = binding.value
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return node.value if isinstance(node, ast.Constant) and not isinstance(node.value, bool) else None


def gives_tensor(view: ModuleView, node: ast.expr) -> bool:
    """Whether an expression surely is a tensor: what reduces one, or what torch makes."""
    binding = view.definition(node)
    if binding is not None and binding.kind == "assign" and binding.value is not None:
        node = binding.value
    if not isinstance(node, ast.Call):
        return False
    if view.certain_name(node.func) in {f"torch.{name}" for name in ("tensor", "as_tensor", *_REDUCED)}:
        return True
    made = isinstance(node.func, ast.Attribute) and node.func.attr in _REDUCED
    return made and not view.certain_name(node.func) and _mentions_torch(view, node)


def _mentions_torch(view: ModuleView, node: ast.Call) -> bool:
    return any(
        view.certain_name(child).startswith("torch.")
        for child in walk(node)
        if isinstance(child, (ast.Name, ast.Attribute))
    )


def _changed(node: FunctionNode, name: str, *, attributes_only: bool, tensors: bool) -> int | None:
    """Line on which a function changes the container that a parameter holds or hands it out, or sets an attribute of it.

    What is added to one of the `tensors` of a list changes that in place, in a copy of the list as well.
    """
    same = {name}
    added = {
        one.target
        for one in walk(node)
        if tensors and isinstance(one, ast.AugAssign) and isinstance(one.op, (ast.Add, ast.Sub, ast.Mult, ast.Div))
        if isinstance(one.target, ast.Subscript) and isinstance(one.target.value, ast.Name)
    }
    for child in walk(node):
        match child:
            case ast.Attribute(ctx=ast.Store()) if _root(child) in same:
                return child.lineno
            case ast.Assign(targets=[ast.Name(id=other)], value=ast.Name(id=source)) if source in same:
                same.add(other)
            case _ if attributes_only:
                continue
            case ast.AugAssign(target=ast.Name(id=target)) if target in same:
                return child.lineno
            case ast.Call(func=ast.Attribute(attr=attr) as function) if attr in _CHANGING and _root(function) in same:
                return child.lineno
            case ast.Subscript(ctx=ast.Store() | ast.Del()) if _root(child) in same and child not in added:
                return child.lineno
            case ast.Return(value=ast.Name(id=returned)) if returned in same:
                return child.lineno
    return None


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
