"""Code that a test runs to see it fail."""

from __future__ import annotations

import ast

from torchlift.view import ModuleView

_EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex"})


def is_expected_to_fail(view: ModuleView, node: ast.AST) -> bool:
    """Whether a `with pytest.raises(...)` or `with self.assertRaises(...)` stands around `node`."""
    parent = view.parent(node)
    while parent is not None:
        if isinstance(parent, (ast.With, ast.AsyncWith)) and any(_expects(item.context_expr) for item in parent.items):
            return True
        parent = view.parent(parent)
    return False


def _expects(context: ast.expr) -> bool:
    if not isinstance(context, ast.Call):
        return False
    function = context.func
    name = (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )
    return name in _EXPECTING
