"""Conditions on the installed torch that the lowest release a project supports has decided already."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt, ne
from typing import Literal, TypeAlias

from torchlift.lazy_pattern import lazy_pattern
from torchlift.versions import TorchVersion
from torchlift.view.last_name import last_name
from torchlift.view.module import ModuleView
from torchlift.view.release_helpers import arguments, known_helper, returned
from torchlift.view.scopes import Binding
from torchlift.view.walk import walk

_TORCH_VERSION = frozenset({"torch.__version__", "torch.version.__version__", "torch.torch_version.__version__"})
_RELEASE = lazy_pattern(r"v?\d+(?:\.\d+)*$")
_STEPS = 4

# Newer than every release: a condition that it decides compares torch's release.
_NEWEST = TorchVersion(1000)
OLDEST = TorchVersion(0, 0)

Lookup: TypeAlias = Callable[[str, str], tuple[ModuleView, Binding] | None]
"""What defines a qualified name of the project for a file, in whichever file."""

Has: TypeAlias = Callable[[str], bool | None]
"""Whether the torch that a project moves to has a name; None where nobody knows."""

_COMPARED: Mapping[type[ast.cmpop], Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ast.GtE: ge,
    ast.Gt: gt,
    ast.LtE: le,
    ast.Lt: lt,
    ast.Eq: eq,
    ast.NotEq: ne,
}
_MIRRORED = {ast.GtE: ast.LtE, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.Lt: ast.Gt}

_Precision = Literal["release", "text", "pair", "major", "minor"]
"""Compared as releases are; compared as text, where 2.10 is less than 2.9; major and minor; one of them alone."""


class _Place:
    """Where an expression stands: its file, how other files are found, what a call gives to the parameters around it.

    `only` is whether one release is asked about alone, and not those after it.
    """

    __slots__ = ("find", "given", "has", "only", "view")

    def __init__(
        self,
        view: ModuleView,
        find: Lookup | None,
        has: Has | None = None,
        given: Mapping[str, ast.expr] | None = None,
        only: bool = False,
    ) -> None:
        self.view, self.find, self.has, self.given, self.only = view, find, has, given or {}, only

    def at(self, view: ModuleView, given: Mapping[str, ast.expr] | None = None) -> _Place:
        """A place in another file, or in a function of this one."""
        return _Place(view, self.find, self.has, given, self.only)

    def written(self, node: ast.expr) -> ast.expr | None:
        """A constant, or the tuple of constants, that `node` is or that a parameter was given."""
        if isinstance(node, ast.Name) and node.id in self.given:
            binding = self.view.definition(node)
            return self.given[node.id] if binding is not None and isinstance(binding.node, ast.arg) else None
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        return node if all(isinstance(part, ast.Constant) for part in parts) else None

    def defined(self, node: ast.expr) -> tuple[ModuleView, Binding] | None:
        """The only definition of what a name or attribute reads, in this file or another one."""
        binding = self.view.definition(node)
        if binding is not None and binding.imported is None:
            return self.view, binding
        name = self.view.certain_name(node) if self.find is not None else ""
        return self.find(name, self.view.path) if self.find is not None and name else None

    def value(self, node: ast.expr) -> tuple[_Place, ast.expr] | None:
        """What the only definition of a variable assigns, and where."""
        found = self.defined(node)
        if found is None or found[1].kind != "assign" or found[1].value is None:
            return None
        return (self if found[0] is self.view else self.at(found[0])), found[1].value

    def called(self, call: ast.Call) -> tuple[_Place, ast.FunctionDef] | None:
        """The function of the project that a call runs, with what it is given; None where that is not plain."""
        found = self.defined(call.func)
        if found is None or not isinstance(found[1].node, ast.FunctionDef):
            return None
        given = arguments(found[1].node, call, self.written)
        return (self.at(found[0], given), found[1].node) if given is not None else None


def decided(
    view: ModuleView,
    test: ast.expr,
    lowest: TorchVersion,
    find: Lookup | None = None,
    has: Has | None = None,
    *,
    only: bool = False,
) -> bool | None:
    """What a condition is for every torch from `lowest` on, or with `only` for that one; None if that depends on more, or was not understood.

    Functions and constants of the project are read where they are defined, in other files too where `find` finds them;
    questions for a name are answered where `has` does.
    """
    return _decided(_Place(view, find, has, only=only), test, lowest, _STEPS)


def compares_release(view: ModuleView, test: ast.expr, find: Lookup | None = None) -> bool:
    """Whether a part of a condition compares torch's release, here or in a helper."""
    parts = (part for part in walk(test) if isinstance(part, (ast.Call, ast.Name, ast.Attribute, ast.Compare)))
    return any(
        decided(view, part, _NEWEST, find) is not None and decided(view, part, OLDEST, find) is None for part in parts
    )


def assigned(view: ModuleView, node: ast.expr, find: Lookup | None = None) -> tuple[ModuleView, ast.expr] | None:
    """What the only definition of a variable assigns, and the file that does."""
    found = _Place(view, find).value(node)
    return (found[0].view, found[1]) if found is not None else None


def _decided(at: _Place, test: ast.expr, lowest: TorchVersion, steps: int) -> bool | None:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _decided(at, operand, lowest, steps)
            return None if inner is None else not inner
        case ast.BoolOp(op=operator, values=values):
            answers = [_decided(at, value, lowest, steps) for value in values]
            settling = isinstance(operator, ast.Or)
            if settling in answers:
                return settling
            return None if None in answers else not settling
        case ast.Compare(
            left=asked,
            ops=[ast.In() | ast.NotIn() as operator],
            comparators=[ast.Call(func=ast.Name(id="dir" | "vars"), args=[module])],
        ):
            there = _there(at, module, asked)
            return None if there is None else there is isinstance(operator, ast.In)
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return _compared(at, left, operator, right, lowest)
        case ast.Name(id=name) if name in at.given:
            given = at.written(test)
            return bool(given.value) if isinstance(given, ast.Constant) else None
        case ast.Name() | ast.Attribute() if steps and (found := at.value(test)) is not None:
            return _decided(found[0], found[1], lowest, steps - 1)
        case ast.Call(func=ast.Name(id="hasattr"), args=[module, asked]):
            return _there(at, module, asked)
        case ast.Call(func=ast.Attribute(value=version, attr="startswith"), args=[ast.Constant(value=str(prefix))]):
            return _begins(at, version, prefix, lowest)
        case ast.Call() if steps:
            return _helped(at, test, lowest, steps - 1)
    return None


def _there(at: _Place, module: ast.expr, asked: ast.expr) -> bool | None:
    """Whether torch has a name that is asked for."""
    name = at.written(asked)
    home = at.view.certain_name(module)
    value = name.value if isinstance(name, ast.Constant) else None
    return at.has(f"{home}.{value}") if at.has is not None and home and isinstance(value, str) else None


def _helped(at: _Place, call: ast.Call, lowest: TorchVersion, steps: int) -> bool | None:
    """What a helper returns that compares torch's release."""
    known = known_helper(at.view.certain_name(call.func), call)
    if known is not None:
        release = _release(at, known[1])
        return _ordered(tuple(lowest), known[0](), release, at.only) if release is not None else None
    inside = at.called(call)
    if inside is None:
        return None
    return returned(inside[1].body, lambda test: _decided(inside[0], test, lowest, steps))


def _begins(at: _Place, version: ast.expr, prefix: str, lowest: TorchVersion) -> bool | None:
    """`torch.__version__.startswith("1.")`: False from the first release behind those; "2.1" begins 2.10 to 2.19 as well."""
    if _RELEASE.match(prefix.rstrip(".")) is None or _asked(at, version, _STEPS) not in {"release", "text"}:
        return None
    release = tuple(map(int, prefix.rstrip(".").removeprefix("v").split(".")))
    if at.only:
        return f"{lowest}.0".startswith(prefix)
    if not prefix.endswith("."):
        release = release[:-1] or release
    return False if tuple(lowest)[: len(release)] > release else None


def _compared(at: _Place, left: ast.expr, operator: ast.cmpop, right: ast.expr, lowest: TorchVersion) -> bool | None:
    precision, release = _asked(at, left, _STEPS), _release(at, right)
    if precision is None and release is None:
        precision, release = _asked(at, right, _STEPS), _release(at, left)
        operator = _MIRRORED.get(type(operator), type(operator))()
    if precision in {None, "text"} or (precision == "minor" and not at.only) or release is None:
        return None
    bound: tuple[int, ...] = tuple(lowest)
    if precision != "release":
        first, end = {"major": (0, 1), "minor": (1, 2)}.get(precision, (0, 2))
        if len(release) > end - first:
            return None
        bound = bound[first:end]
    return _ordered(bound, operator, release, at.only)


def _ordered(bound: tuple[int, ...], operator: ast.cmpop, release: tuple[int, ...], only: bool) -> bool | None:
    """What a comparison with `release` is from `bound` on, or with `only` for that alone."""
    width = max(len(bound), len(release))
    low, asked = (numbers + (0,) * (width - len(numbers)) for numbers in (bound, release))
    if only:
        compare = _COMPARED.get(type(operator))
        return compare(low, asked) if compare is not None else None
    match operator:
        case ast.GtE() | ast.Lt() if low >= asked:
            return isinstance(operator, ast.GtE)
        case ast.Gt() | ast.LtE() if low > asked:
            return isinstance(operator, ast.Gt)
        case ast.Eq() | ast.NotEq() if low > asked:
            return isinstance(operator, ast.NotEq)
    return None


def _asked(at: _Place, node: ast.expr, steps: int) -> _Precision | None:
    """How much of torch's own version an expression gives, parsed or cut into numbers; None if it is something else."""
    if steps < 0:
        return None
    if at.view.certain_name(node) in _TORCH_VERSION:
        return "release"
    match node:
        case ast.Name():
            found = at.value(node)
            if found is None:
                return _unpacked(at, node, steps - 1, _numbers)
            return _asked(*found, steps - 1)
        case ast.Attribute(value=inner, attr="release"):
            return _asked(at, inner, steps)
        case ast.Attribute(value=inner, attr="base_version" | "public") if _asked(at, inner, steps) == "release":
            return "text"
        case ast.Attribute(value=inner, attr="major" | "minor" as attribute):
            return _part(attribute == "minor") if _asked(at, inner, steps) == "release" else None
        case ast.Call(
            func=ast.Name(id="int"),
            args=[ast.Subscript(value=numbers, slice=ast.Constant(value=0 | 1) as index)],
            keywords=[],
        ) if _is_split(at, numbers, steps):
            return _part(index.value == 1)
        case ast.Call(func=ast.Name(id="int"), args=[ast.Name() as part], keywords=[]):
            return _unpacked(at, part, steps - 1, _is_split)
        case ast.Call(func=ast.Name(id="int"), args=[ast.Subscript(slice=ast.Constant(value=0)) as first], keywords=[]):
            return "major" if _asked(at, first, steps) == "major" else None  # `int(torch.__version__[0])`
        case ast.Subscript(value=numbers, slice=ast.Constant(value=0 | 1) as index) if _numbers(at, numbers, steps):
            return _part(index.value == 1)
        case ast.Tuple(elts=[major, minor]):
            parts = _asked(at, major, steps), _asked(at, minor, steps)
            return "pair" if parts == ("major", "minor") else None
        case ast.Call(func=ast.Name(id="tuple"), args=[numbers], keywords=[]):
            return "pair" if _numbers(at, numbers, steps) else None
        case ast.Subscript(value=inner, slice=ast.Constant(value=0)):
            return (
                "text"
                if _is_split(at, inner, steps, "+")
                else "major"
                if _asked(at, inner, steps) == "release"
                else None
            )
        case ast.Call(func=ast.Name() | ast.Attribute(), args=[inner], keywords=[]) if _parses(node):
            return "release" if _asked(at, inner, steps) in {"release", "text"} else None
        case ast.Call(args=[], keywords=[]) if (inside := at.called(node)) is not None:
            match inside[1].body[-1]:
                case ast.Return(value=ast.expr() as value):
                    return _asked(inside[0], value, steps - 1)
        case ast.Attribute() if (found := at.value(node)) is not None:
            return _asked(*found, steps - 1)
    return None


def _part(is_second: bool) -> _Precision:
    return "minor" if is_second else "major"


def _unpacked(
    at: _Place, name: ast.Name, steps: int, holds: Callable[[_Place, ast.expr, int], bool]
) -> _Precision | None:
    """The same for a variable that is one of several: `MAJOR, MINOR = map(int, torch.__version__.split(".")[:2])`."""
    found = at.defined(name)
    if found is None or found[1].kind != "target" or steps < 0:
        return None
    binding, at = found[1], at.at(found[0])
    match at.view.statement(binding.node):
        case ast.Assign(targets=[ast.Tuple(elts=elements)], value=value):
            index = next((at for at, element in enumerate(elements[:2]) if element is binding.node), None)
            if index is None or any(isinstance(element, ast.Starred) for element in elements[:index]):
                return None
            return _part(index == 1) if holds(at, value, steps) else None
    return None


def _numbers(at: _Place, node: ast.expr, steps: int) -> bool:
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
            return _numbers(at, inner, steps)
        case ast.Name() if steps and (found := at.value(node)) is not None:
            return _numbers(*found, steps - 1)
        case _:
            return False
    return _is_split(at, parts, steps)


def _parses(call: ast.Call) -> bool:
    name = last_name(call.func)
    return "version" in name.lower() or name == "parse"


def _is_split(at: _Place, node: ast.expr, steps: int, mark: str = ".") -> bool:
    """Whether `node` is torch's version, split at `mark`, or the first parts of that."""
    match node:
        case ast.Subscript(
            value=inner, slice=ast.Slice(lower=None | ast.Constant(value=0), upper=ast.Constant(value=2 | 3))
        ):
            return _is_split(at, inner, steps, mark)
        case ast.Name() if steps > 0 and (found := at.value(node)) is not None:
            return _is_split(*found, steps - 1, mark)
        case ast.Call(func=ast.Attribute(value=inner, attr="split"), args=[ast.Constant(value=split_at), *_]) if (
            split_at == mark
        ):
            return _asked(at, inner, steps) in {"release", "text"}
    return False


def _release(at: _Place, node: ast.expr) -> tuple[int, ...] | None:
    """The numbers of a release that is written out, here or in what a helper is given."""
    match at.written(node) if isinstance(node, ast.Name) else node:
        case ast.Constant(value=str(text)) if _RELEASE.match(text):
            return tuple(int(part) for part in text.lstrip("v").split("."))
        case ast.Constant(value=float(number)) if _RELEASE.match(str(number)):
            return _release(at, ast.Constant(str(number)))
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return (number,)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) if elements:
            numbers = [at.written(element) for element in elements]
            values = [number.value for number in numbers if isinstance(number, ast.Constant)]
            whole = [value for value in values if isinstance(value, int)]
            return tuple(whole) if len(whole) == len(elements) else None
        case ast.Call(func=ast.Name(id="str"), args=[inner], keywords=[]):
            return _release(at, inner)
        case ast.Call(args=[inner], keywords=[]) as call if _parses(call):
            return _release(at, inner)
    return None
