"""Whether code surely runs with gradients switched off."""

from __future__ import annotations

import ast

from torchlift.view import ModuleView

_OFF = frozenset({"torch.no_grad", "torch.inference_mode"})


def without_gradient(view: ModuleView, node: ast.AST) -> bool:
    """Whether `node` stands inside `with torch.no_grad()` or a function decorated with it."""
    for ancestor in view.ancestors(node):
        candidates: list[ast.expr] = []
        if isinstance(ancestor, (ast.With, ast.AsyncWith)):
            candidates = [item.context_expr for item in ancestor.items]
        elif isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
            candidates = ancestor.decorator_list
        elif isinstance(ancestor, ast.Lambda):
            return False
        for candidate in candidates:
            function = candidate.func if isinstance(candidate, ast.Call) else candidate
            resolution = view.resolve(function)
            plain = not isinstance(candidate, ast.Call) or not (candidate.args or candidate.keywords)
            if resolution is not None and resolution.certain and resolution.name in _OFF and plain:
                return True
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
    return False
