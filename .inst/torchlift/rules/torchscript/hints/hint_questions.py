"""How a question about TorchScript is written so that it asks about export as well."""

from __future__ import annotations

import ast

from torchlift.view import ModuleView


def asking_too(view: ModuleView, call: ast.Call, name: str) -> str:
    """The expression around the question `call` that has to change, as it looks when `name` is asked too.

    With its `not`, and with brackets where `and` or `not` would bind closer than the new `or`.

    Args:
        view: the file.
        call: the question: False, or None for the tracer's state, where its compiler does not run.
        name: qualified name of the other question.
    """
    text = " ".join(view.text(call).split())
    parent = view.parent(call)
    joined = f"{text} or {name}()"
    if isinstance(parent, ast.Compare) and parent.left is call:
        compared = " ".join(view.text(parent).split())
        joined = f"{compared} and not {name}()" if isinstance(parent.ops[0], ast.Is) else f"{compared} or {name}()"
        parent = view.parent(parent)
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
        return f"not ({joined})"
    return f"({joined})" if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And) else joined
