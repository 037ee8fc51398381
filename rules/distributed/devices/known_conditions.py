"""Tests that surely hold where an `init_process_group` makes an NCCL group."""

from __future__ import annotations

import ast

from torchlift.rules.analysis.values.repeatable import is_repeatable, is_unchanged
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.rules.distributed.devices.init_call import InitCall
from torchlift.view import ModuleView

Fact = tuple[str, bool]
"""A test as normal text, and its truth."""

_IS_AVAILABLE = ("torch.cuda.is_available()", True)


def branch_taken(view: ModuleView, init: InitCall, statement: ast.If) -> list[ast.stmt]:
    """The branch of an `if` in front of `init` that was surely taken where it makes an NCCL group; empty if unknown."""
    facts = known_facts(view, init)
    for branch, holds in ((statement.body, True), (statement.orelse, False)):
        if is_implied(view, statement.test, holds, facts) and is_unchanged(view, statement.test, statement, init.call):
            return branch
    return []


def known_facts(view: ModuleView, init: InitCall) -> set[Fact]:
    """What surely holds where `init` makes an NCCL group, as tests and their truth."""
    facts: set[Fact] = {_IS_AVAILABLE}
    if init.when is not None:
        facts |= _conjuncts(view, init.when.test, init.when.holds)
        if init.when.variable is not None:
            facts.add((f"{init.when.variable} == {init.when.nccl!s}".replace('"', "'"), True))
    for choice, holds in view.choices(init.call, view.function_of(init.call)):
        facts |= _conjuncts(view, choice.test, holds)
    return facts


def _conjuncts(view: ModuleView, test: ast.expr, holds: bool) -> set[Fact]:
    """Simple tests that all have a known truth when `test` has the truth `holds`."""
    facts = {(_normal(view, test), holds)}
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return facts | _conjuncts(view, test.operand, not holds)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
        for value in test.values:
            facts |= _conjuncts(view, value, holds)
    if isinstance(test, ast.Name):
        facts.add((test.id, holds))
    return facts


def is_implied(view: ModuleView, test: ast.expr, holds: bool, facts: set[Fact]) -> bool:
    """Whether `facts` leave `test` no other truth than `holds`."""
    if (_normal(view, test), holds) in facts or (ast.unparse(test), holds) in facts:
        return True
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_implied(view, test.operand, not holds, facts)
    if isinstance(test, ast.BoolOp):
        parts = [is_implied(view, value, holds, facts) for value in test.values]
        return all(parts) if isinstance(test.op, ast.And) is holds else any(parts)
    return False


def _normal(view: ModuleView, test: ast.expr) -> str:
    """Text of a test: names of torch by their public name, a local name by the one expression it stands for."""
    if isinstance(test, ast.Name):
        value = assigned_value(view, test)
        if value is not None and not isinstance(value, (ast.Name, ast.Constant)) and is_repeatable(view, value):
            return _normal(view, value)
    if isinstance(test, ast.Call) and not test.args and not test.keywords:
        name = view.certain_name(test.func)
        if name:
            return f"{name}()"
    return ast.unparse(test)


def asks_the_machine(view: ModuleView, test: ast.expr) -> bool:
    """Whether a test only asks torch what the machine has, which no code changes."""
    return (_normal(view, test), True) == _IS_AVAILABLE
