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

_Precision = Literal["release", "text", "pair", "major", "minor"]
"""Compared as releases are; compared as text, where 2.10 is less than 2.9; major and minor; one of them alone."""


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
    if precision in {None, "text", "minor"} or release is None:
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
            if value is None:
                return _unpacked(view, node, steps - 1)
            return _asked(view, value, steps - 1)
        case ast.Attribute(value=inner, attr="release"):
            return _asked(view, inner, steps)
        case ast.Attribute(value=inner, attr="major" | "minor" as attribute):
            return _part(attribute == "minor") if _asked(view, inner, steps) == "release" else None
        case ast.Call(
            func=ast.Name(id="int"),
            args=[ast.Subscript(value=numbers, slice=ast.Constant(value=0 | 1) as index)],
            keywords=[],
        ):
            return _part(index.value == 1) if _is_split(view, numbers, ".", steps) else None
        case ast.Subscript(value=numbers, slice=ast.Constant(value=0 | 1) as index) if _numbers(view, numbers, steps):
            return _part(index.value == 1)
        case ast.Tuple(elts=[major, minor]):
            parts = _asked(view, major, steps), _asked(view, minor, steps)
            return "pair" if parts == ("major", "minor") else None
        case ast.Call(func=ast.Name(id="tuple"), args=[numbers], keywords=[]):
            return "pair" if _numbers(view, numbers, steps) else None
        case ast.Subscript(value=inner, slice=ast.Constant(value=0)):
            return "text" if _is_split(view, inner, "+", steps) else None
        case ast.Call(func=ast.Name() | ast.Attribute(), args=[inner], keywords=[]) if _parses(node):
            return "release" if _asked(view, inner, steps) in {"release", "text"} else None
    return None


def _part(is_second: bool) -> _Precision:
    return "minor" if is_second else "major"


def _unpacked(view: ModuleView, name: ast.Name, steps: int) -> _Precision | None:
    """The same for a variable that is one of several: `MAJOR, MINOR = map(int, torch.__version__.split(".")[:2])`."""
    binding = view.definition(name)
    if binding is None or binding.kind != "target" or steps < 0:
        return None
    match view.statement(binding.node):
        case ast.Assign(targets=[ast.Tuple(elts=elements)], value=value):
            index = next((at for at, element in enumerate(elements[:2]) if element is binding.node), None)
            if index is None or any(isinstance(element, ast.Starred) for element in elements[:index]):
                return None
            return _part(index == 1) if _numbers(view, value, steps) else None
    return None


def _numbers(view: ModuleView, node: ast.expr, steps: int) -> bool:
    """Whether `node` gives the first numbers of torch's version, one by one."""
    match node:
        case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="int"), parts], keywords=[]):
            pass
        case (
            ast.ListComp(
                elt=ast.Call(func=ast.Name(id="int"), args=[ast.Name(id=item)]),
                generators=[ast.comprehension(target=ast.Name(id=each), iter=parts, ifs=[])],
            )
            | ast.GeneratorExp(
                elt=ast.Call(func=ast.Name(id="int"), args=[ast.Name(id=item)]),
                generators=[ast.comprehension(target=ast.Name(id=each), iter=parts, ifs=[])],
            )
        ) if item == each:
            pass
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner], keywords=[]):
            return _numbers(view, inner, steps)
        case ast.Name() if steps and (value := _value(view, node)) is not None:
            return _numbers(view, value, steps - 1)
        case _:
            return False
    if isinstance(parts, ast.Subscript) and ast.unparse(parts.slice) in {":2", ":3", "0:2"}:
        parts = parts.value
    return _is_split(view, parts, ".", steps)


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
