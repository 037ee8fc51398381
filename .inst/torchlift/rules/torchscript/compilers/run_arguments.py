"""Whether a class runs what it is made with: keeps an argument of its `__init__` and calls it, or makes something of it."""

from __future__ import annotations

import ast

from torchlift.project import Project
from torchlift.rules.analysis.values.self_attributes import self_members
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_MOST_BASES = 6
# Asked of configurations, and of no module.
_LOOKED_UP = frozenset("get keys items values copy pop update append lower upper split format".split())


def runs_argument(view: ModuleView, owner: ast.ClassDef, given: int | str, project: Project, depth: int = 0) -> bool:
    """Whether the class `owner` may run the argument at a position or of a name; True where it is not read off the code."""
    init = next((item for item in owner.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"), None)
    if init is None:
        bases = [definition_of(view, base, project, ast.ClassDef) for base in owner.bases]
        known = [base for base in bases if base is not None]
        return depth >= _MOST_BASES or any(runs_argument(*base, given, project, depth + 1) for base in known)
    positional = [one.arg for one in (*init.args.posonlyargs, *init.args.args)][1:]
    if isinstance(given, int):
        name = positional[given] if given < len(positional) else None
    else:
        name = given if given in {*positional, *(one.arg for one in init.args.kwonlyargs)} else None
    if name is None:
        return True
    reads = [node for node in walk(init) if isinstance(node, ast.Name) and node.id == name]
    return any(_runs(view, owner, node, project, depth) for node in reads)


def _runs(view: ModuleView, owner: ast.ClassDef, node: ast.expr, project: Project, depth: int) -> bool:
    """Whether a read of the argument leads to a run of it."""
    top: ast.expr = node
    while isinstance(parent := view.parent(top), (ast.Attribute, ast.Subscript)) and parent.value is top:
        top = parent
    match parent:
        case ast.Call(func=function) if function is top:
            return not (isinstance(top, ast.Attribute) and top.attr in _LOOKED_UP)
        case ast.Call():
            return _passes_on(view, parent, top, project, depth)
        case ast.Assign(targets=[ast.Attribute() as target]) | ast.AnnAssign(target=ast.Attribute() as target):
            return any(_is_run(view, read) for read in self_members(view, owner, target.attr))
        case ast.For() | ast.comprehension() | ast.Starred() | ast.List() | ast.Tuple() | ast.keyword(arg=None):
            return True
        case ast.keyword() if isinstance(call := view.parent(parent), ast.Call):
            return _passes_on(view, call, top, project, depth)
        case _:
            return False


def _passes_on(view: ModuleView, call: ast.Call, value: ast.expr, project: Project, depth: int) -> bool:
    name = view.possible_name(call.func)
    if name in {"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict", "copy.deepcopy"}:
        return True
    if isinstance(call.func, ast.Attribute) and call.func.attr in {
        "add_module",
        "register_module",
        "append",
        "__init__",
    }:
        return True
    found = definition_of(view, call.func, project, ast.ClassDef)
    if found is None or depth >= _MOST_BASES:
        return found is not None
    position = call.args.index(value) if value in call.args else None
    keyword = next((one.arg for one in call.keywords if one.value is value), None)
    given = position if position is not None else keyword
    return given is None or runs_argument(*found, given, project, depth + 1)


def _is_run(view: ModuleView, read: ast.Attribute) -> bool:
    """Whether `self.name` is called, or gone through."""
    top: ast.expr = read
    while isinstance(parent := view.parent(top), (ast.Attribute, ast.Subscript)) and parent.value is top:
        top = parent
    if isinstance(parent, ast.Call) and parent.func is top:
        return not (isinstance(top, ast.Attribute) and top.attr in _LOOKED_UP)
    return isinstance(parent, (ast.For, ast.comprehension, ast.Starred))
