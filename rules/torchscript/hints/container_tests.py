"""`torch.jit.isinstance(x, List[int])` and its like, written in plain Python.

Source: `container_checker` and `_isinstance` in torch/_jit_internal.py of torch 2.13.0, and the table of results in
tests/rules/torchscript/test_what_hints_mean.py. What they do that nobody means (`Tuple[int, ...]` fails, any Union takes None) has no form.
"""

from __future__ import annotations

import ast
import builtins

from torchlift.finding import Parts
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.values.literals import is_none
from torchlift.source import Span
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_LEAVES = frozenset({"int", "float", "bool", "str", "bytes", "complex"})
_TORCH_LEAVES = frozenset({"torch.Tensor", "torch.device", "torch.Size", "torch.nn.Module", "torch.nn.Parameter"})
_CONTAINERS = {
    "list": "list",
    "dict": "dict",
    "tuple": "tuple",
    "typing.List": "list",
    "typing.Dict": "dict",
    "typing.Tuple": "tuple",
    "typing.Optional": "optional",
}
_NAMES = ("item", "entry", "element", "key", "value", "inner_key", "inner_value", "part", "field")
_HOLE = lazy_pattern(r"\$([a-z_][a-z0-9_]*)")


class CannotTest(Exception):
    """A type that has no plain test; the message is a clause."""


@dataclass(frozen=True)
class ContainerTest:
    """An expression that tests a value.

    Attributes:
        text: template of the test.
        parts: the user's own expressions in it.
        exact: whether it does what `torch.jit.isinstance` does in eager mode, warnings included.
        simple: whether the built-in `isinstance` takes the very same arguments.
        operator: what joins it at the top: `and`, `or`, or nothing.
    """

    text: str
    parts: Parts
    exact: bool
    simple: bool = False
    operator: str = ""

    def shown(self, view: ModuleView) -> str:
        """The test with the user's expressions in it."""
        parts = dict(self.parts)
        return _HOLE.sub(lambda match: view.source.slice(parts[match[1]]), self.text)


def container_test(view: ModuleView, call: ast.Call) -> ContainerTest:
    """The plain form of a call of `torch.jit.isinstance`.

    Raises:
        CannotTest: there is none, or it would not be right.
    """
    if len(call.args) != 2 or call.keywords or any(isinstance(argument, ast.Starred) for argument in call.args):
        raise CannotTest("the call is not written with the value and the type alone")
    value, kind = call.args
    writer = _Writer(view, call)
    if isinstance(kind, ast.Tuple) and kind.elts and all(writer.is_leaf(element) for element in kind.elts):
        return ContainerTest("isinstance($x, $t)", (("x", view.span(value)), ("t", view.span(kind))), True, simple=True)
    if writer.is_leaf(kind):
        return ContainerTest("isinstance($x, $t)", (("x", view.span(value)), ("t", view.span(kind))), True, simple=True)
    base: ast.expr = value
    while isinstance(base, ast.Attribute):
        base = base.value
    if not isinstance(base, ast.Name):
        raise CannotTest("the value has to be computed once and given a name first")
    writer.parts["x"] = view.span(value)
    text, operator = writer.test("$x", kind, 0)
    exact = not writer.containers and isinstance(value, ast.Name)
    return ContainerTest(text, tuple(writer.parts.items()), exact, operator=operator)


class _Writer:
    def __init__(self, view: ModuleView, call: ast.Call) -> None:
        self.view = view
        self.scope = view.scope_at(call)
        self.parts: dict[str, Span] = {}
        self.containers = False
        used = {child.id for child in walk(call) if isinstance(child, ast.Name)}
        self.free = [name for name in _NAMES if name not in used]
        for name in ("isinstance", "all", "len"):
            if self.scope.lookup(name) is not None:
                raise CannotTest(f"`{name}` is not Python's own here; import it under another name or drop the import")

    def _name(self, node: ast.expr) -> str:
        """Qualified name of a type, builtins by their plain name."""
        resolution = self.view.resolve(node)
        if resolution is not None and resolution.certain:
            return resolution.name
        if isinstance(node, ast.Name) and self.scope.lookup(node.id) is None and hasattr(builtins, node.id):
            return node.id
        return ""

    def is_leaf(self, node: ast.expr) -> bool:
        """Whether the type is a plain class."""
        return self._name(node) in _LEAVES | _TORCH_LEAVES

    def _isinstance(self, value: str, kind: ast.expr) -> str:
        if not self.is_leaf(kind):
            raise CannotTest(f"`{self.view.text(kind)}` is no type whose test is known")
        hole = f"t{len(self.parts)}"
        self.parts[hole] = self.view.span(kind)
        return f"isinstance({value}, ${hole})"

    def _fresh(self, *wanted: str) -> str:
        for name in (*wanted, *self.free):
            if name in self.free:
                self.free.remove(name)
                return name
        raise CannotTest("no name is free for the elements")

    def test(self, value: str, kind: ast.expr, depth: int) -> tuple[str, str]:
        """Template and top operator of the test whether `value` is of `kind`."""
        if self.is_leaf(kind):
            return self._isinstance(value, kind), ""
        inner = self._optional(kind)
        if inner is not None:
            text, operator = self.test(value, inner, depth)
            return f"{value} is None or {f'({text})' if operator else text}", "or"
        if not isinstance(kind, ast.Subscript):
            raise CannotTest(f"`{self.view.text(kind)}` is no type whose test is known")
        container = _CONTAINERS.get(self._name(kind.value), "")
        if depth > 1:
            raise CannotTest("the type is nested too deeply to read well; use a function")
        arguments = list(kind.slice.elts) if isinstance(kind.slice, ast.Tuple) else [kind.slice]
        self.containers = True
        if container == "list" and len(arguments) == 1:
            item = self._fresh("item")
            text, _ = self.test(item, arguments[0], depth + 1)
            return f"isinstance({value}, list) and all({text} for {item} in {value})", "and"
        if container == "dict" and len(arguments) == 2:
            key, item = self._fresh("key", "inner_key"), self._fresh("value", "inner_value")
            text, operator = self.test(item, arguments[1], depth + 1)
            text = f"({text})" if operator == "or" else text
            both = f"{self._isinstance(key, arguments[0])} and {text}"
            return f"isinstance({value}, dict) and all({both} for {key}, {item} in {value}.items())", "and"
        if container == "tuple" and not any(_is_ellipsis(argument) for argument in arguments):
            tests = [self.test(f"{value}[{index}]", argument, depth + 1) for index, argument in enumerate(arguments)]
            fields = [f"({text})" if operator == "or" else text for text, operator in tests]
            return " and ".join([f"isinstance({value}, tuple)", f"len({value}) == {len(fields)}", *fields]), "and"
        raise CannotTest(f"`{self.view.text(kind)}` is no type whose test is known")

    def _optional(self, kind: ast.expr) -> ast.expr | None:
        """The other type of `Optional[T]` or `T | None`."""
        if isinstance(kind, ast.Subscript) and _CONTAINERS.get(self._name(kind.value)) == "optional":
            return kind.slice
        if isinstance(kind, ast.BinOp) and isinstance(kind.op, ast.BitOr):
            sides = [side for side in (kind.left, kind.right) if not is_none(side)]
            return sides[0] if len(sides) == 1 else None
        return None


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
