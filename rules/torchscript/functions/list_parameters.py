"""Parameters annotated as lists, of which scripting made lists whatever was passed.

A scripted function takes a tuple or a `torch.Size` for a `List[int]` and sees a list; a plain one sees what was passed,
and `shape + [3]` raises TypeError (run on torch 2.13.0, 2026-11-23).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torchlift.finding import ReplaceExpression, Rewrite, Template
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.values.value_of import MOST_STEPS, definition_of
from torchlift.rules.torchscript.functions.scripted_expressions import FunctionNode
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_LIST = lazy_pattern(r"[\"']?(?:(?:typing|t)\.)?(?:Optional\[(?:typing\.)?)?[Ll]ist\b")
# One for which None, or a tuple inside of it, may be passed is another matter.
_PLAIN_LIST = lazy_pattern(r"(?:(?:typing|t)\.)?[Ll]ist\[(?:int|float|bool|str|(?:torch\.)?Tensor)\]")
_TAKING = (ast.BinOp, ast.Compare)
_ALIKE = frozenset(
    "len list tuple sorted reversed enumerate zip range sum max min any all set print str repr int float bool map".split()
)
_SHARED_METHODS = frozenset({"index", "count"})
_KEEPING = frozenset({"append", "extend", "insert", "add", "setdefault", "update"})


def list_doubt(
    view: ModuleView,
    node: FunctionNode,
    name: str,
    values: Sequence[tuple[ModuleView, ast.expr]] | None,
    project: Project,
    *,
    written: str,
    unseen: bool,
    rewrites: list[Rewrite] | None = None,
) -> str | None:
    """A clause about a parameter for which a call may pass a tuple where only a list does the same; None if none does.

    Where a call is seen to pass another one and each such place can make a list of it, as scripting did, that is added to `rewrites`, and
    nothing is doubtful.

    Args:
        view: the file of the function.
        node: the function.
        name: the parameter.
        values: what the known calls pass for it; None where some call hides it.
        project: the project.
        written: its type as it is written.
        unseen: whether there may be further calls.
        rewrites: what is changed in the file of the function anyway.
    """
    if _LIST.match(written) is None or (line := _noticing(view, node, name, project)) is None:
        return None
    other = next(((home, value) for home, value in values or () if not is_list(home, value)), None)
    if values and other is None and not unseen:
        return None
    if rewrites is not None and other is not None and _PLAIN_LIST.fullmatch(written.strip("\"'")) is not None:
        noticing = _noticing_reads(view, node, name, project)
        if all(isinstance(view.parent(read), _TAKING) and _makes_lists(view, read) for read in noticing):
            rewrites += [ReplaceExpression(view.span(read), Template(f"list({read.id})")) for read in noticing]
            return None
    given = f"{other[0].path}:{other[1].lineno}" if other is not None else "a caller"
    return (
        f"{given} may pass a tuple or a `torch.Size` for `{name}` of `{node.name}`, of which scripting made a list, and "
        f"line {line} does something else with it or fails: `list({name})` there makes it one again"
    )


def is_list(view: ModuleView, node: ast.expr, steps: int = 0) -> bool:
    """Whether an expression surely is a list."""
    if steps > MOST_STEPS:
        return False
    match node:
        case ast.List() | ast.ListComp():
            return True
        case ast.Call(func=ast.Name(id="list" | "sorted")) | ast.Call(func=ast.Attribute(attr="tolist")):
            return True
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return is_list(view, left, steps + 1) or is_list(view, right, steps + 1)
        case ast.Name():
            bound = view.definition(node)
            assigned = bound is not None and bound.kind == "assign" and bound.value is not None
            return assigned and is_list(view, bound.value, steps + 1)  # type: ignore[union-attr, arg-type]
    return False


def _noticing(view: ModuleView, node: FunctionNode, name: str, project: Project, steps: int = 0) -> int | None:
    """First line of a function that does something else with a tuple for one of its parameters than with a list."""
    return min((read.lineno for read in _noticing_reads(view, node, name, project, steps)), default=None)


def _noticing_reads(
    view: ModuleView, node: FunctionNode, name: str, project: Project, steps: int = 0
) -> list[ast.Name]:
    same, turned = {name}, _turned(view, node, name)
    for child in walk(node):
        match child:
            case ast.Assign(targets=[ast.Name(id=other)], value=ast.Name(id=source)) if source in same:
                same.add(other)
    return [
        child
        for child in walk(node)
        if isinstance(child, ast.Name)
        and isinstance(child.ctx, ast.Load)
        and child.id in same
        and (turned is None or child.lineno <= turned)
        and _notices(view, child, project, steps)
    ]


def _makes_lists(view: ModuleView, read: ast.Name) -> bool:
    """Whether `list` is Python's own where a name is read, and the name is bound by nothing but its parameter."""
    scope = view.scope_at(read)
    seen = view.bindings_of(read, scope)
    return scope.lookup("list") is None and len(seen) == 1 and isinstance(seen[0].node, ast.arg)


def _turned(view: ModuleView, node: FunctionNode, name: str) -> int | None:
    """Line after which the parameter is a list in any case, because the function makes it one."""
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Call() | ast.List() | ast.ListComp() as value):
                if target == name and is_list(view, value):
                    return statement.lineno
    return None


def _notices(view: ModuleView, node: ast.expr, project: Project, steps: int) -> bool:
    """Whether what stands around a sequence may tell a tuple from a list."""
    parent = view.parent(node)
    match parent:
        case ast.For() | ast.comprehension() | ast.Starred() | ast.FormattedValue() | ast.Expr():
            return False
        case ast.If() | ast.While() | ast.Assert() | ast.UnaryOp(op=ast.Not()):
            return False
        case ast.IfExp(test=test) if test is node:
            return False
        case ast.Subscript(value=value, slice=index, ctx=ast.Load()) if value is node:
            return isinstance(index, ast.Slice) and _notices(view, parent, project, steps)
        case ast.IfExp() | ast.BoolOp() | ast.NamedExpr() | ast.BinOp(op=ast.Mult()):
            return _notices(view, parent, project, steps)
        case ast.Attribute(attr=attr):
            return attr not in _SHARED_METHODS
        case ast.Compare(ops=ops, left=left):
            inside = left is not node and all(isinstance(operator, (ast.In, ast.NotIn)) for operator in ops)
            return not inside and not all(isinstance(operator, (ast.Is, ast.IsNot)) for operator in ops)
        case ast.Assign(targets=[ast.Name()]):
            return not isinstance(node, ast.Name)
        case ast.Assign(targets=[ast.Tuple() | ast.List()]):
            return False
        case ast.keyword(arg=arg) if isinstance(call := view.parent(parent), ast.Call):
            return _call_notices(view, call, arg, project, steps)
        case ast.Call() if parent.func is not node:
            return _call_notices(view, parent, parent.args.index(node), project, steps)
    return True


def _call_notices(view: ModuleView, call: ast.Call, place: int | str | None, project: Project, steps: int) -> bool:
    """Whether a call does something else with a tuple in one place of its arguments."""
    function = call.func
    if isinstance(function, ast.Name) and function.id in _ALIKE and view.definition(function) is None:
        return False
    name = view.certain_name(function)
    if name in {"torch.jit.fork", "torch.jit._fork"} and isinstance(place, int) and place:
        function, place, name = call.args[0], place - 1, ""  # it calls that with what stands behind
    if name.startswith(("torch.", "math.")):
        return name.startswith("torch.jit.")
    found = definition_of(view, function, project, ast.FunctionDef)
    if found is not None and steps < MOST_STEPS:
        home, called = found
        names = [argument.arg for argument in (*called.args.posonlyargs, *called.args.args)]
        given = names[place] if isinstance(place, int) and place < len(names) else place
        return not isinstance(given, str) or _noticing(home, called, given, project, steps + 1) is not None
    root = function
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(function, ast.Attribute) and not name and getattr(root, "id", "self") not in {"self", "cls"}:
        return function.attr in _KEEPING
    return True
