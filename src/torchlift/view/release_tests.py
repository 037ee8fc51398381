"""Conditions on the installed torch that the lowest release a project supports has decided already."""

from __future__ import annotations

import ast
import re
from typing import Literal

from torchlift.versions import TorchVersion
from torchlift.view.module import ModuleView

_TORCH_VERSION = frozenset({"torch.__version__", "torch.version.__version__", "torch.torch_version.__version__"})
_RELEASE = re.compile(r"v?\d+(?:\.\d+)*$")
_STEPS = 4

_Precision = Literal["release", "text", "pair", "major"]
"""Compared as releases are; compared as text, where 2.10 is less than 2.9; major and minor; major alone."""


def decided(view: ModuleView, test: ast.expr, lowest: TorchVersion) -> bool | None:
    """What a condition is for every torch from `lowest` on; None if that depends on more, or was not understood."""
    return _decided(view, test, lowest, _STEPS)


def _decided(view: ModuleView, test: ast.expr, lowest: TorchVersion, steps: int) -> bool | None:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _decided(view, operand, lowest, steps)
            return None if inner is None else not inner
        case ast.BoolOp(op=operator, values=values):
            answers = [_decided(view, value, lowest, steps) for value in values]
            settling = isinstance(operator, ast.Or)
            if settling in answers:
                return settling
            return None if None in answers else not settling
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return _compared(view, left, operator, right, lowest)
        case ast.Name() if steps:
            value = _value(view, test)
            return _decided(view, value, lowest, steps - 1) if value is not None else None
    return None


def _compared(
    view: ModuleView, left: ast.expr, operator: ast.cmpop, right: ast.expr, lowest: TorchVersion
) -> bool | None:
    precision, release = _asked(view, left, _STEPS), _release(right)
    if precision is None or precision == "text" or release is None:
        return None
    bound: tuple[int, ...] = tuple(lowest)
    if precision != "release":
        kept = 1 if precision == "major" else 2
        if len(release) > kept:
            return None
        bound = bound[:kept]
    width = max(len(bound), len(release))
    low, asked = (numbers + (0,) * (width - len(numbers)) for numbers in (bound, release))
    match operator:
        case ast.GtE() | ast.Lt() if low >= asked:
            return isinstance(operator, ast.GtE)
        case ast.Gt() | ast.LtE() if low > asked:
            return isinstance(operator, ast.Gt)
        case ast.Eq() | ast.NotEq() if low > asked:
            return isinstance(operator, ast.NotEq)
    return None


def _asked(view: ModuleView, node: ast.expr, steps: int) -> _Precision | None:
    """How much of torch's own version an expression gives, parsed or cut into numbers; None if it is something else."""
    if steps < 0:
        return None
    resolution = view.resolve(node)
    if resolution is not None and resolution.certain and resolution.name in _TORCH_VERSION:
        return "release"
    match node:
        case ast.Name():
            value = _value(view, node)
            return _asked(view, value, steps - 1) if value is not None else None
        case ast.Attribute(value=inner, attr="release"):
            return _asked(view, inner, steps)
        case ast.Attribute(value=inner, attr="major"):
            return "major" if _asked(view, inner, steps) == "release" else None
        case ast.Call(func=ast.Name(id="int"), args=[ast.Subscript(slice=ast.Constant(value=0)) as part], keywords=[]):
            return "major" if _is_split(view, part.value, ".", steps) else None
        case ast.Call(func=ast.Name(id="tuple"), args=[ast.Call(func=ast.Name(id="map"), args=[_, numbers])]):
            if isinstance(numbers, ast.Subscript) and ast.unparse(numbers.slice) == ":2":
                numbers = numbers.value
            return "pair" if _is_split(view, numbers, ".", steps) else None
        case ast.Subscript(value=inner, slice=ast.Constant(value=0)):
            return "text" if _is_split(view, inner, "+", steps) else None
        case ast.Call(func=ast.Name() | ast.Attribute(), args=[inner], keywords=[]) if _parses(node):
            return "release" if _asked(view, inner, steps) in {"release", "text"} else None
    return None


def _parses(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return "version" in name.lower() or name == "parse"


def _is_split(view: ModuleView, node: ast.expr, mark: str, steps: int) -> bool:
    """Whether `node` is torch's version, split at `mark`."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="split"), args=[ast.Constant(value=at), *_]) if at == mark:
            return _asked(view, inner, steps) in {"release", "text"}
    return False


def _release(node: ast.expr) -> tuple[int, ...] | None:
    """The numbers of a release that is written out."""
    match node:
        case ast.Constant(value=str(text)) if _RELEASE.match(text):
            return tuple(int(part) for part in text.lstrip("v").split("."))
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return (number,)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) if elements:
            numbers = [element.value for element in elements if isinstance(element, ast.Constant)]
            whole = [number for number in numbers if isinstance(number, int)]
            return tuple(whole) if len(whole) == len(elements) else None
        case ast.Call(args=[inner], keywords=[]) if _parses(node):
            return _release(inner)
    return None


def _value(view: ModuleView, name: ast.Name) -> ast.expr | None:
    """What the only definition of a variable assigns."""
    binding = view.definition(name)
    return binding.value if binding is not None and binding.kind == "assign" else None
