"""How messages and drafted calls show code and reasons."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from torchlift.lazy_pattern import lazy_pattern
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_LONG = 60
_PLACED = lazy_pattern(r"(?P<clause>.+) \((?P<place>[^()\s]+:\d+|line \d+)\)")


def sentence(reasons: list[str]) -> str:
    """Clauses as one sentence: each once with all of its places, and all of them, since any one may be what decides."""
    places: dict[str, list[str]] = {}
    for reason in reasons:
        found = _PLACED.fullmatch(reason)
        listed = places.setdefault(found["clause"] if found is not None else reason, [])
        listed += [found["place"]] if found is not None else []
    told = (f"{clause} ({', '.join(dict.fromkeys(at))})" if at else clause for clause, at in places.items())
    return "; ".join(told).rstrip(".") + "."


def shortened(text: str, longest: int = 60) -> str:
    """A text on one line, with `...` for the end of it where it is longer than `longest`."""
    text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 3] + "..."


def one_line(view: ModuleView, node: ast.expr) -> str:
    """The source of an expression on one line; where it is long, with `...` for the arguments of its calls."""
    text = view.text(node)
    if "\n" in text or "\r" in text:
        text = ast.unparse(node)
    return text if len(text) <= _LONG else ast.unparse(_Shortened().visit(ast.parse(ast.unparse(node), mode="eval")))


def beside(view: ModuleView, call: ast.Call, name: str) -> str:
    """How another function of torch is called where `call` stands: `th.rsqrt` beside `th.sqrt`."""
    return f"{view.text(call.func.value) if isinstance(call.func, ast.Attribute) else 'torch'}.{name}"


class _Shortened(ast.NodeTransformer):
    """Leaves the arguments out of calls."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        arguments: list[ast.expr] = [ast.Constant(...)] if node.args or node.keywords else []
        return ast.Call(self.visit(node.func), arguments, [])


def spelled_out(
    view: ModuleView, node: ast.expr, stands_for: Callable[[ast.Name], ast.expr | None], depth: int = 3
) -> str:
    """Source of `node`, in which a name that `stands_for` has an expression for is replaced by it, `depth` times over."""
    values: dict[str, str] = {}
    for name in walk(node) if depth else ():
        value = stands_for(name) if isinstance(name, ast.Name) else None
        if isinstance(name, ast.Name) and value is not None:
            values[name.id] = spelled_out(view, value, stands_for, depth - 1)
    if isinstance(node, ast.Name) and node.id in values:
        return values[node.id]
    if not values:
        return view.text(node)
    return ast.unparse(_Replace(values).visit(ast.parse(ast.unparse(node), mode="eval")))


class _Replace(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        text = self._values.get(node.id)
        return ast.parse(f"({text})", mode="eval").body if text is not None else node
