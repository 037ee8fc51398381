"""What a value is by what made it: weights and plain values, a module, or an object that no unpickler of plain values knows.

What `torch.load` takes with `weights_only=True`: torch/_weights_only_unpickler.py of torch 2.13.0, read 2026-11-26.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlift.rules.behaviour.loaded_files.use_of_value import Kind, kind_by_use
from torchlift.view import Binding, ModuleView

_MOST_STEPS = 4
_TENSORS = frozenset(
    f"torch.{name}"
    for name in "arange cat empty eye full linspace ones rand randint randn randperm stack tensor zeros".split()
)
_OBJECTS = frozenset(
    """argparse.Namespace pathlib.Path pathlib.PurePath types.SimpleNamespace numpy.array numpy.asarray numpy.concatenate
    numpy.float32 numpy.float64 numpy.int64 numpy.mean numpy.median numpy.ones numpy.random.get_state numpy.std numpy.zeros""".split()
)
_PLAIN = frozenset("bool float int len range round str".split())
_TO_PLAIN = frozenset({"item", "tolist"})
_OF_TENSORS = frozenset("clone contiguous cpu cuda detach double float half reshape squeeze to unsqueeze view".split())


def kind_of(view: ModuleView, value: ast.expr, depth: int = 0) -> Kind | None:
    """What `value` surely is, or is on some way to it where that is no plain value; None if nothing tells."""
    match value:
        case ast.Constant(value=None | bool() | int() | float() | str()):
            return "weights"
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return _of_all(kind_of(view, one, depth) for one in values)
        case ast.List(elts=values) | ast.Tuple(elts=values):
            return _of_all(kind_of(view, one, depth) for one in values)
        case ast.BinOp(left=left, right=right):
            return _of_all(kind_of(view, one, depth) for one in (left, right))
        case ast.Call():
            return _of_call(view, value, depth)
        case ast.Name() if depth < _MOST_STEPS:
            bindings = view.bindings_of(value, view.scope_at(value))
            made = [bound.value for bound in bindings if bound.kind == "assign" and bound.value is not None]
            told = (kind_by_use(view, one) for one in made)
            if any(one is not None and one.kind == "module" for one in told):
                return "module"
            read_back = [bound for bound in bindings if bound.value is None or not _is_read_back(view, bound.value)]
            return _of_all(_bound(view, bound, depth + 1) for bound in read_back)
    return None


def _of_all(kinds: Iterable[Kind | None]) -> Kind | None:
    found = set(kinds)
    if found == {"weights"}:
        return "weights"
    return "object" if found & {"module", "object"} else None


def _bound(view: ModuleView, bound: Binding, depth: int) -> Kind | None:
    if bound.kind == "assign" and bound.value is not None:
        return kind_of(view, bound.value, depth)
    loop = bound.statement if bound.statement is not None else view.parent(bound.node)
    if isinstance(loop, (ast.For, ast.AsyncFor)) and loop.target is bound.node and isinstance(loop.iter, ast.Call):
        return "weights" if _is_builtin(view, loop.iter.func, frozenset({"range"})) else None
    return None


def _of_call(view: ModuleView, call: ast.Call, depth: int) -> Kind | None:
    function = call.func
    if isinstance(function, ast.Attribute):
        if function.attr == "state_dict" or function.attr in _TO_PLAIN:
            return "weights"
        if function.attr == "parse_args":
            return "object"
        if function.attr in _OF_TENSORS and kind_of(view, function.value, depth) == "weights":
            return "weights"
    if _is_builtin(view, function, frozenset({"dict"})) and not call.args and all(one.arg for one in call.keywords):
        return _of_all(kind_of(view, one.value, depth) for one in call.keywords)
    name = view.certain_name(function)
    if name in _TENSORS or _is_builtin(view, function, _PLAIN):
        return "weights"
    return "object" if name in _OBJECTS else None


def _is_builtin(view: ModuleView, function: ast.expr, names: frozenset[str]) -> bool:
    return (
        isinstance(function, ast.Name) and function.id in names and view.scope_at(function).lookup(function.id) is None
    )


def _is_read_back(view: ModuleView, value: ast.expr) -> bool:
    """Whether a value comes out of a file that was saved before, and so is what is saved into it."""
    while isinstance(value, (ast.Subscript, ast.Attribute)):
        value = value.value
    made = [value] if isinstance(value, ast.Call) else []
    if isinstance(value, ast.Name):
        made = [one.value for one in view.bindings_of(value, view.scope_at(value)) if isinstance(one.value, ast.Call)]
    return bool(made) and all(view.certain_name(one.func) == "torch.load" for one in made)
