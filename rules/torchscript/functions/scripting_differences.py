"""What a module does otherwise when it is scripted, read from its classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.project import Project
from torchlift.rules.torchscript.functions.scripted_function import read_function
from torchlift.rules.torchscript.modules.reached_classes import reached_classes
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_ASKING = frozenset({"torch.jit.is_scripting", "torch.jit.is_tracing"})
_ATTRIBUTE = "torch.jit.Attribute"
_LEFT_ALONE = frozenset({"torch.jit.ignore", "torch.jit.unused"})
_MUTATING = frozenset(
    {"append", "extend", "insert", "pop", "clear", "update", "remove", "sort", "reverse", "setdefault"}
)
_CONTAINERS = ("List", "Dict", "list[", "dict[")


def scripting_differences(
    view: ModuleView, owner: ast.ClassDef, project: Project, calls: list[ast.Call]
) -> Iterator[str]:
    """Clauses; `calls` are those of the scripted value."""
    classes, unread = reached_classes(view, owner, project)
    if unread is not None:
        yield unread
    for home, node in classes:
        yield from _asks(home, node, project)
        for compiled in _compiled(home, node):
            facts = read_function(home, compiled, project, {}, known_only=True)
            yield from (*facts.doubts, *facts.fails)
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and method.name != "__init__":
                yield from _changes(home, node, method)
                own = node is owner and method.name == "forward"
                yield from _converts(home, node, method, calls if own else _calls_inside(classes, node, method))


def _compiled(view: ModuleView, node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """Methods that scripting an instance compiles: `forward`, those that are marked, and what these call."""
    methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
    marks = {name: {view.possible_name(one) for one in item.decorator_list} for name, item in methods.items()}
    pending = [name for name in methods if name == "forward" or "torch.jit.export" in marks[name]]
    seen: set[str] = set()
    while pending:
        name = pending.pop()
        if name in seen or name not in methods or not marks[name].isdisjoint(_LEFT_ALONE):
            continue
        seen.add(name)
        yield methods[name]
        pending += (child.attr for child in walk(methods[name]) if isinstance(child, ast.Attribute))


def _asks(view: ModuleView, node: ast.ClassDef, project: Project) -> Iterator[str]:
    last = node.end_lineno or node.lineno
    for use in view.uses(_ASKING | {_ATTRIBUTE}, project.translate):
        if node.lineno <= use.node.lineno <= last and use.target in _ASKING:
            name = use.target.rpartition(".")[2]
            yield f"`{node.name}` asks `{name}()` at {view.path}:{use.node.lineno}, and takes the other way from now on"
        elif node.lineno <= use.node.lineno <= last and use.target == _ATTRIBUTE and use.call is not None:
            place = f"{view.path}:{use.node.lineno}"
            yield f"`{node.name}` makes a `torch.jit.Attribute` at {place}, which plain code reads as a pair of value and type"


def _changes(view: ModuleView, node: ast.ClassDef, method: ast.FunctionDef) -> Iterator[str]:
    """Containers that are changed where scripting changed a copy."""
    held = {
        argument.arg
        for argument in [*method.args.posonlyargs, *method.args.args, *method.args.kwonlyargs]
        if argument.annotation is not None and any(word in ast.unparse(argument.annotation) for word in _CONTAINERS)
    }
    for child in walk(method):
        changed: ast.expr | None = None
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute) and child.func.attr in _MUTATING:
            changed = child.func.value
        elif isinstance(child, ast.Subscript) and isinstance(child.ctx, (ast.Store, ast.Del)):
            changed = child.value
        if isinstance(changed, ast.Name) and changed.id in held:
            place = f"{view.path}:{changed.lineno}"
            yield f"`{node.name}.{method.name}` changes `{changed.id}`, of which scripting passed a copy ({place})"
            return


def _converts(
    view: ModuleView, node: ast.ClassDef, method: ast.FunctionDef, calls: list[ast.Call] | None
) -> Iterator[str]:
    """Parameters that scripting turned ints into floats for, where a call may pass one."""
    positional = [*method.args.posonlyargs, *method.args.args][1:]
    for index, argument in enumerate([*positional, *method.args.kwonlyargs]):
        written = ast.unparse(argument.annotation) if argument.annotation is not None else ""
        if "float" not in written and "complex" not in written:
            continue
        if calls is None or any(
            not _is_no_int(given)
            for call in calls
            for given in _given(call, argument.arg, index if index < len(positional) else None)
        ):
            place = f"{view.path}:{method.lineno}"
            yield f"`{argument.arg}` of `{node.name}.{method.name}` is a float, which scripting made of an int ({place})"


def _given(call: ast.Call, name: str, index: int | None) -> list[ast.expr | None]:
    """What a call passes for a parameter; None in it where that is not visible."""
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(k.arg is None for k in call.keywords):
        return [None]
    named: list[ast.expr | None] = [keyword.value for keyword in call.keywords if keyword.arg == name]
    return named or ([call.args[index]] if index is not None and index < len(call.args) else [])


def _is_no_int(node: ast.expr | None) -> bool:
    match node:
        case ast.Constant(value=value):
            return not isinstance(value, int)
        case ast.UnaryOp(operand=operand):
            return _is_no_int(operand)
        case ast.BinOp(op=ast.Div()):
            return True
        case ast.Call(func=ast.Name(id="float")):
            return True
    return False


def _calls_inside(
    classes: list[tuple[ModuleView, ast.ClassDef]], owner: ast.ClassDef, method: ast.FunctionDef
) -> list[ast.Call] | None:
    """Calls of a method by its own class; None if others may call it, which is not looked at."""
    if method.name == "forward" or not method.name.startswith("_"):
        return None
    return [
        child
        for _, node in classes
        for child in walk(node)
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute) and child.func.attr == method.name
    ]
