"""Which tests on its own rank decide whether a process reaches some code."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.places.order import LEAVING_QUIETLY, leaves
from torchlift.rules.distributed.ranks.own_rank import Strength, differs_by_rank
from torchlift.view import ModuleView

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class RankCondition:
    """A test that lets some ranks pass and others not.

    Attributes:
        test: the test.
        how: whether it stands around the code, some ranks have left before it, or they leave the loop around it.
        others: what the ranks run instead that do not get there.
        around: the `if` statement around the code, if it is one.
    """

    test: ast.expr
    how: Literal["around", "left", "leave"] = "around"
    others: Sequence[ast.stmt | ast.expr] = ()
    around: ast.If | None = None


def condition_on_own_rank(view: ModuleView, node: ast.AST) -> ast.expr | None:
    """The test that plausibly is on its own rank and decides whether a process reaches `node` in its function."""
    return next((found.test for found in conditions_on_own_rank(view, node, "plausible")), None)


def conditions_on_own_rank(view: ModuleView, node: ast.AST, strength: Strength) -> Iterator[RankCondition]:
    """Every test on its own rank that decides whether a process reaches `node` in its function, from the inside out."""
    return (found for found in _tests(view, node) if differs_by_rank(view, found.test, strength))


def _tests(view: ModuleView, node: ast.AST) -> Iterator[RankCondition]:
    for child, ancestor in view.upwards(node):
        match ancestor:
            case ast.If(test=test, body=body, orelse=orelse) if child is not test:
                yield RankCondition(test, others=orelse if child in body else body, around=ancestor)
            case ast.IfExp(test=test, body=value, orelse=other) if child is not test:
                yield RankCondition(test, others=[other if child is value else value])
            case ast.BoolOp(values=values):
                yield from (RankCondition(value) for value in values[: values.index(child)])  # type: ignore[arg-type]
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                yield from (
                    RankCondition(test) for part in ancestor.generators for test in part.ifs if test is not child
                )
        if isinstance(child, ast.stmt):
            yield from _left_early(view, child, ancestor)
        if isinstance(ancestor, _FUNCTIONS):
            return


def _left_early(view: ModuleView, statement: ast.stmt, around: ast.AST) -> Iterator[RankCondition]:
    """Ranks that have left before the statement, or, in a loop, before it is run again."""
    block = view.block(statement)
    index = next(i for i, item in enumerate(block) if item is statement)
    for earlier in (item for item in block[:index] if isinstance(item, ast.If)):
        left = leaves(earlier.body, LEAVING_QUIETLY)
        if left != leaves(earlier.orelse, LEAVING_QUIETLY):
            yield RankCondition(earlier.test, "left", earlier.body if left else earlier.orelse)
    if isinstance(around, (ast.For, ast.AsyncFor)) and statement in around.body:
        for later in (item for item in block[index + 1 :] if isinstance(item, ast.If)):
            if not later.orelse and leaves(later.body, (ast.Return, ast.Break)):
                yield RankCondition(later.test, "leave")
