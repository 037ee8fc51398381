"""Code that already exports or loads an exported program, beside code that does the same with TorchScript.

There TorchScript is the other way on purpose: for what cannot be exported, or for files that users have.
"""

from __future__ import annotations

import ast

from torchlift.view import ModuleView
from torchlift.view.handlers import failed_before
from torchlift.view.walk import walk

_EXPORTS = frozenset(
    {"torch.export.export", "torch.export.save", "torch.export.load", "torch.export.export_for_training"}
)
_TRIED = _EXPORTS | {"torch.compile", "torch.onnx.export", "torch.onnx.dynamo_export"}


def export_beside(view: ModuleView, call: ast.Call) -> str | None:
    """A clause about the export or load that `call` is the other way of; None if there is none in its function."""
    for _, around in failed_before(view, call):
        if view.function_of(around) is not view.function_of(call):
            break
        tried = _first(view, around.body, _TRIED)
        if tried is not None:
            return (
                f"it is what is left where `{tried[0]}` on line {tried[1]} has failed, and exporting it would fail too"
            )
    child: ast.AST = call
    for ancestor in view.ancestors(call):
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
            break
        child = ancestor
    function = view.function_of(call)
    body = function.body if function is not None else [child] if isinstance(child, ast.stmt) else []
    other = _first(view, body, _EXPORTS)
    if other is None:
        return None
    return f"`{other[0]}` on line {other[1]} is the other way here, so TorchScript is kept for what that does not serve"


def _first(view: ModuleView, body: list[ast.stmt], names: frozenset[str]) -> tuple[str, int] | None:
    for statement in body:
        for node in walk(statement):
            if isinstance(node, ast.Call) and (name := view.possible_name(node.func)) in names:
                return name, node.lineno
    return None
