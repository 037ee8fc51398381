"""Which tensor an expression is a part of: `x`, `x[1:]` and `x.view(-1)` share their memory."""

from __future__ import annotations

import ast
from dataclasses import replace

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.values.literals import integer
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.view import ModuleView

_DEEPEST = 5
# Methods and attributes that may return a view of their tensor.
_VIEWS = frozenset(
    """view view_as reshape contiguous detach narrow select flatten ravel squeeze unsqueeze transpose permute t expand to
    swapaxes movedim unflatten data T mT H real imag float half double bfloat16 int long cuda cpu""".split()
)


@dataclass(frozen=True)
class Part:
    """A tensor, or a part of one.

    Attributes:
        whole: what tells whole tensors apart; the same name bound anew is another tensor.
        indexes: the subscripts that pick the part, outermost first; empty for the whole.
        first: constant positions of the first subscript, by dimension.
        rearranged: whether dimensions are other ones than those of the whole.
    """

    whole: str
    indexes: tuple[str, ...] = ()
    first: tuple[int | None, ...] = ()
    rearranged: bool = False

    def is_beside(self, other: Part) -> bool:
        """Whether constant positions in the first subscript keep two parts of one tensor apart."""
        return any(
            one is not None and two is not None and one != two and (one < 0) == (two < 0)
            for one, two in zip(self.first, other.first, strict=False)
        )


def part_of(view: ModuleView, node: ast.expr, depth: int = _DEEPEST) -> Part:
    """The tensor that `node` is, or is a part or view of.

    Names are followed to what they are bound to, if that is another name, an attribute, a part or a view.
    """
    match node:
        case ast.Subscript(value=value, slice=index):
            inner = part_of(view, value, depth)
            known = inner.first if inner.indexes else () if inner.rearranged else _positions(index)
            return Part(inner.whole, (*inner.indexes, ast.dump(index)), known, inner.rearranged)
        case ast.Call(func=ast.Attribute(attr=name, value=value)) if name in _VIEWS:
            return replace(part_of(view, value, depth), rearranged=True)
        case ast.Attribute(attr=name, value=value) if name in _VIEWS:
            return replace(part_of(view, value, depth), rearranged=True)
        case ast.Name():
            binding = view.definition(node)
            bound = assigned_value(view, node)
            if depth and isinstance(bound, (ast.Name, ast.Subscript, ast.Attribute, ast.Call)):
                found = part_of(view, bound, depth - 1)
                if found.whole != ast.dump(bound) or isinstance(bound, ast.Attribute):
                    return found
            place = f"@{binding.node.lineno}" if binding is not None and isinstance(binding.node, ast.Name) else ""
            return Part(node.id + place)
    return Part(ast.dump(node))


def _positions(index: ast.expr) -> tuple[int | None, ...]:
    """Constant positions of a subscript, by dimension."""
    found: list[int | None] = []
    for element in index.elts if isinstance(index, ast.Tuple) else [index]:
        number = integer(element)
        if number is None and isinstance(element, ast.Constant):
            break  # an ellipsis or None: the dimensions behind it cannot be counted
        found.append(number)
    return tuple(found)
