"""The literals of `setup.py`: requirements, `python_requires`.

Nothing is executed: a list is followed to the name it is assigned to, and no further.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.pins.pin import Draft, PinSet, read_pin
from torchlift.source import Span
from torchlift.view import ModuleView

_LISTS = ("install_requires", "setup_requires", "tests_require")


def read_setup(view: ModuleView, call: ast.Call) -> tuple[PinSet, tuple[str, Span] | None]:
    """The requirements of a call of `setup`, one group for each list, and `python_requires` with its place."""
    draft = Draft("this file", Span(0, len(view.source.text)))
    python: tuple[str, Span] | None = None
    for keyword in call.keywords:
        if keyword.arg in _LISTS:
            _take(draft, view, keyword.value, keyword.arg)
        elif keyword.arg == "extras_require":
            for value in _followed(view, keyword.value):
                if isinstance(value, ast.Dict):
                    for key, item in zip(value.keys, value.values, strict=True):
                        extra = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else "?"
                        _take(draft, view, item, f"extras_require.{extra}")
        elif keyword.arg == "python_requires":
            place = string_place(view, keyword.value)
            python = (view.source.slice(place), place) if place else None
    return draft.done(), python


def string_place(view: ModuleView, node: ast.AST) -> Span | None:
    """Where the content of a string stands; None unless it is written as it is, on one line."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return None
    span = view.span(node)
    written = view.source.slice(span)
    if (
        len(written) < 2
        or "\n" in node.value
        or written[0] not in "\"'"
        or written[1:-1] != node.value
        or written[-1] != written[0]
    ):
        return None
    return Span(span.start + 1, span.end - 1)


def _take(draft: Draft, view: ModuleView, node: ast.expr, group: str) -> None:
    for value in _followed(view, node):
        for item in value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]:
            place = string_place(view, item)
            pin = read_pin(view.source.slice(place), place.start, group=group) if place else None
            if pin is not None:
                draft.pins.append(pin)


def _followed(view: ModuleView, node: ast.expr) -> Iterator[ast.expr]:
    """The value of an expression: itself, or what a name of this file is assigned once."""
    if not isinstance(node, ast.Name):
        yield node
        return
    scope = view.scope_at(node).lookup(node.id)
    bindings = scope.bindings[node.id] if scope else ()
    if len(bindings) == 1:
        value = getattr(bindings[0], "value", None)
        if isinstance(value, ast.expr):
            yield value
