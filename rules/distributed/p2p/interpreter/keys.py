"""Texts and keys of expressions, and what a name says of the rank."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from torchlift.rules.analysis.wording.messages import shortened
from torchlift.rules.distributed.p2p.interpreter.values import Unknown, Value

# Words in the name of a setting that says what this rank in particular is.
RANK_WORDS = ("rank", "stage", "first", "last", "is_main", "is_master", "local", "node", "host", "coord")

_texts: WeakKeyDictionary[ast.AST, str] = WeakKeyDictionary()


def node_text(node: ast.AST) -> str:
    """Source text of an expression, on one line."""
    text = _texts.get(node)
    if text is None:
        text = _texts[node] = ast.unparse(node)
    return text


def condition_key(node: ast.AST, values: Sequence[Value]) -> str:
    """A key for what `node` computes: its text, with the keys of the unknown operands in it.

    Where operands are known or functions are called, the place is part of it: the text could mean something else elsewhere.
    """
    unknown = [value for value in values if isinstance(value, Unknown)]
    place = f"@{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}"
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        return f"{node_text(node)}"
    if isinstance(node, ast.Compare) and len(values) == 2:
        sides = [
            v.key if isinstance(v, Unknown) else repr(v) if isinstance(v, (int, str, float, type(None))) else place
            for v in values
        ]
        return f"{sides[0]} {type(node.ops[0]).__name__} {sides[1]}"
    if (
        isinstance(node, ast.Subscript)
        and len(values) == 2
        and isinstance(values[0], Unknown)
        and not isinstance(values[1], Unknown)
    ):
        return f"{values[0].key}[{values[1]!r}]" if isinstance(values[1], (int, str)) else f"{values[0].key}[{place}]"
    return f"{shortened(node_text(node))}{place}{''.join(value.key for value in unknown)}"


def speaks_of_rank(name: str) -> bool:
    """Whether a name says what this rank in particular is."""
    lower = name.lower()
    return any(word in lower for word in RANK_WORDS)
