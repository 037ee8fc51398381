"""The source of an expression as messages and drafted calls show it: on one line, not too long, and still code."""

from __future__ import annotations

import ast

from torchlift.view import ModuleView

_LONG = 60


def one_line(view: ModuleView, node: ast.expr) -> str:
    """The source of an expression on one line; where it is long, with `...` for the arguments of its calls."""
    text = view.text(node)
    if "\n" in text or "\r" in text:
        text = ast.unparse(node)
    return text if len(text) <= _LONG else ast.unparse(_Shortened().visit(ast.parse(ast.unparse(node), mode="eval")))


class _Shortened(ast.NodeTransformer):
    """Leaves the arguments out of calls."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        arguments: list[ast.expr] = [ast.Constant(...)] if node.args or node.keywords else []
        return ast.Call(self.visit(node.func), arguments, [])
