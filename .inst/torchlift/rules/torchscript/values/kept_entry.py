"""A scripted function or module that is put into a container, perhaps to be compared with the plain one beside it."""

from __future__ import annotations

import ast

from torchlift.rules.analysis.wording.messages import one_line
from torchlift.view import ModuleView
from torchlift.view.walk import walk


def kept_entry(view: ModuleView, target: ast.Subscript, value: ast.expr) -> str:
    """Advice for `container[key] = torch.jit.script(value)`; `target` is its left side."""
    shown = one_line(view, value)
    plain = plain_entry(view, target, value)
    if plain is not None:
        return (
            f"Not rewritten: `{one_line(view, target)}` stands beside the plain `{shown}` of line {plain.lineno}, and without "
            f"scripting both would be the same. Drop this entry, or make it `torch.compile({shown})`."
        )
    return (
        f"Not rewritten: it is kept as `{one_line(view, target)}`, and what happens to it there was not followed. Put `{shown}` "
        f"itself there if it is only called, or `torch.compile({shown})`."
    )


def plain_entry(view: ModuleView, target: ast.Subscript, value: ast.expr) -> ast.Assign | None:
    """The statement that puts `value` itself into the same container, where there is one."""
    container = ast.dump(target.value)
    return next(
        (
            statement
            for statement in walk(view.function_of(target) or view.tree)
            if isinstance(statement, ast.Assign)
            and ast.dump(statement.value) == ast.dump(value)
            and any(isinstance(t, ast.Subscript) and ast.dump(t.value) == container for t in statement.targets)
        ),
        None,
    )
