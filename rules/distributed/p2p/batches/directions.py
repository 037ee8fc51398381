"""Which neighbour a peer is, as far as its name or its arithmetic tells."""

from __future__ import annotations

import ast
import re
from typing import Literal

from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.rules.distributed.ranks.own_rank import own_rank
from torchlift.view import ModuleView

Neighbour = Literal["next", "previous"]

_NEXT = re.compile(r"(?:^|_)(?:next|succ|successor|downstream|right)(?:_|$)")
_PREVIOUS = re.compile(r"(?:^|_)(?:prev|previous|pred|predecessor|upstream|left)(?:_|$)")


def neighbour(view: ModuleView, peer: ast.expr, depth: int = 3) -> Neighbour | None:
    """`next` for `self.next_rank` or `rank + 1`, `previous` for their mirror images, None for anything else."""
    match peer:
        case ast.BinOp(left=left, op=ast.Mod()):
            return neighbour(view, left, depth)
        case ast.BinOp(left=left, op=op, right=ast.Constant(value=1)) if own_rank(view, left, "plausible"):
            return "next" if isinstance(op, ast.Add) else "previous" if isinstance(op, ast.Sub) else None
        case ast.Subscript(value=value):
            return neighbour(view, value, depth)
        case ast.Call(func=function, args=[]):
            return neighbour(view, function, depth)
        case ast.Name(id=word) | ast.Attribute(attr=word):
            ahead, behind = _NEXT.search(word.lower()), _PREVIOUS.search(word.lower())
            if ahead or behind:
                return None if ahead and behind else "next" if ahead else "previous"
            bound = assigned_value(view, peer) if depth else None
            return neighbour(view, bound, depth - 1) if bound is not None else None
    return None
