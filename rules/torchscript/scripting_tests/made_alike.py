"""Which check of a test would compare two values that are made in the same words, once nothing is scripted.

Words are less than values: what is drawn at random or changed in between differs all the same. So this tells what to look
at, and takes nothing out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from torchlift.rules.torchscript.scripting_tests.checks import COMPARES, called_name
from torchlift.rules.torchscript.scripting_tests.same_values import COPIES, DRAWS
from torchlift.rules.torchscript.scripting_tests.scripted_values import ScriptedValues, assigned_from
from torchlift.view.walk import walk

_STEPS = 8
_DIFFERS = re.compile(r"(?i)^assert_?(?:is_?)?not_?(?:almost_?)?equal$|^assert_?is_?not$")


def made_alike(values: ScriptedValues, statements: Iterable[ast.stmt]) -> int | None:
    """Line of the first comparison of a scripted value with one that is made in the same words; None if there is none."""
    words = _Words(values)
    for statement in statements:
        for node in walk(statement):
            for one, other in _compared(node):
                scripted = values.depends(one) or values.depends(other)
                if scripted and words.of(one) == words.of(other):
                    return statement.lineno
    return None


def asks_alike(values: ScriptedValues, statement: ast.stmt, earlier: ast.stmt) -> bool:
    """Whether two checks ask for nothing but shapes and types of values that are made in the same words.

    What is drawn at random has the same shape each time.
    """
    words = _Words(values)
    asked = [node for node in walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    asked = [name for name in asked if values.depends(name)]
    return (
        bool(asked)
        and all(_asks_shape(values, name) for name in asked)
        and words.of(statement, _STEPS) == words.of(earlier, _STEPS)
    )


def _asks_shape(values: ScriptedValues, name: ast.Name) -> bool:
    parent = values.view.parent(name)
    return isinstance(parent, ast.Attribute) and parent.attr in {"shape", "ndim", "dtype", "size", "dim", "device"}


def expects_otherwise(values: ScriptedValues, statements: Iterable[ast.stmt]) -> int | None:
    """Line of the first check that a scripted value differs from one that is made in the same words; None if there is none."""
    words = _Words(values)
    for statement in statements:
        for node in walk(statement):
            pair = _told_apart(node)
            if pair is None or not any(map(values.depends, pair)) or words.of(pair[0]) != words.of(pair[1]):
                continue
            if DRAWS.isdisjoint(re.findall(r"\w+", words.of(pair[0]))):
                return statement.lineno
    return None


def _told_apart(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    match node:
        case ast.Compare(left=left, ops=[ast.NotEq() | ast.IsNot()], comparators=[right]):
            return left, right
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return next(_compared(operand), None)
        case ast.Call(args=[ast.Call() as inner]) if called_name(node) == "assertFalse":
            return next(_compared(inner), None)
        case ast.Call(args=[one, other, *_]) if _DIFFERS.search(called_name(node)) is not None:
            return one, other
    return None


def _compared(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.Compare(left=left, ops=[_], comparators=[right]) | ast.BinOp(left=left, op=ast.Sub(), right=right):
            yield left, right
        case ast.Call(func=ast.Attribute(value=value), args=[one]) if COMPARES.search(called_name(node)):
            yield value, one
        case ast.Call(args=[one, other, *_]) if COMPARES.search(called_name(node)):
            yield one, other


class _Words:
    """How values are made, back to what the test is given."""

    def __init__(self, values: ScriptedValues) -> None:
        self.values = values
        self._known: dict[tuple[ast.AST, int], str] = {}

    def of(self, node: ast.AST, steps: int = _STEPS) -> str:
        """The words for one value; what lies more than `steps` variables back is not looked at."""
        key = (node, steps)
        if key not in self._known:
            self._known[key] = self._of(node, steps)
        return self._known[key]

    def _of(self, node: ast.AST, steps: int) -> str:
        original = self.values.original(node) if isinstance(node, ast.expr) else None
        if original is not None and original is not node:
            return self.of(original, steps)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in COPIES:
            return self.of(node.func.value, steps)
        if isinstance(node, ast.Name):
            return self._source(node, steps)
        if isinstance(node, ast.Constant):
            return repr(node.value)
        shown = [type(node).__name__, *(str(getattr(node, name)) for name in ("attr", "arg") if hasattr(node, name))]
        return f"({' '.join([*shown, *(self.of(child, steps) for child in ast.iter_child_nodes(node))])})"

    def _source(self, node: ast.Name, steps: int) -> str:
        view = self.values.view
        bound = view.bindings_of(node, view.scope_at(node))
        binding = view.definition(node) or (bound[0] if len(bound) == 1 else None)
        if binding is None or binding.kind == "param" or not steps or not isinstance(node.ctx, ast.Load):
            return node.id
        if binding.value is not None:
            return self.of(binding.value, steps - 1)
        made = assigned_from(view, binding.node)
        target = view.parent(binding.node)
        if isinstance(made, ast.Call) and called_name(made) == "zip" and isinstance(target, ast.Tuple):
            pairs = zip(made.args, target.elts, strict=False)
            made = next((given for given, item in pairs if item is binding.node), made)
        return f"of {self.of(made, steps - 1)}" if made is not None else node.id
