"""Whether another finding speaks for a call: the one about the call that makes the value it is given."""

from __future__ import annotations

import ast

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.rule import Context, Rule
from torchlift.rules.torchscript.values.value_life import follow
from torchlift.view import Use


@dataclass(frozen=True)
class Maker:
    """The call that makes a value.

    Attributes:
        name: its qualified name.
        line: its line.
        rewritten: whether it has a fix that takes care of the other call too.
    """

    name: str
    line: int
    rewritten: bool


def maker_of(call: ast.Call, context: Context) -> Maker | None:
    """Who makes the value that `call`, a save or a freeze, is given; None if that is not known in this file."""
    for rule in _rules():
        for use in context.view.uses(frozenset(rule.targets)):
            if use.call is None or use.call is call:
                continue
            life = follow(context.view, use.call, context.project)
            if any(save.call is call for save in life.saves) or any(frozen is call for frozen in life.frozen):
                return Maker(use.target, use.call.lineno, context.once(_has_fix, rule, use))
    return None


def _rules() -> tuple[Rule, ...]:
    from torchlift.rules.torchscript import tl101_trace, tl102_script, tl103_load

    return (tl101_trace.RULE, tl102_script.RULE, tl103_load.RULE)


def _has_fix(context: Context, rule: Rule, use: Use) -> bool:
    fixes = [finding.fix for finding in rule.check(use, context)]
    return any(fix is not None and (fix.needs is None or context.settings.min_torch >= fix.needs) for fix in fixes)
