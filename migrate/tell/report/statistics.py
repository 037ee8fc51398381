"""How many findings each rule has."""

from __future__ import annotations

import json
from collections.abc import Mapping

from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.output_formats import OutputFormat
from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.tell.report.items import items
from torchlift.migrate.tell.report.palette import Palette


@dataclass(frozen=True, slots=True)
class RuleCount:
    """One rule's share of a run.

    Attributes:
        code: rule code.
        count: findings that are left.
        fixable: how many of them have a fix that the run's settings let be applied.
        fixed: findings whose fix was written, or is shown as a patch.
    """

    code: str
    count: int = 0
    fixable: int = 0
    fixed: int = 0


def count_rules(result: RunResult) -> list[RuleCount]:
    """Every rule that found something, the most frequent first."""
    tallies: dict[str, list[int]] = {}
    for item in items(result):
        tally = tallies.setdefault(item.finding.code, [0, 0, 0])
        tally[0] += not item.fixed
        tally[1] += not item.fixed and item.applicable
        tally[2] += item.fixed
    counts = [RuleCount(code, *tally) for code, tally in tallies.items()]
    return sorted(counts, key=lambda rule: (-rule.count, -rule.fixed, rule.code))


def render(result: RunResult, output_format: OutputFormat, *, names: Mapping[str, str], color: bool = False) -> str:
    """Counts per rule: a table, or in `json` format an array of objects with ruff's keys and `fixed_count`.

    In the table `[*]` stands for rules whose findings can all be fixed, `[-]` for those where some can.

    Args:
        result: the run.
        output_format: `json`, or one of the text formats, which are the same here.
        names: rule names by code.
        color: whether to add terminal colours.
    """
    counts = count_rules(result)
    if output_format == "json":
        rows = [
            {
                "code": rule.code,
                "name": names.get(rule.code),
                "count": rule.count,
                "fixable": rule.count > 0 and rule.fixable == rule.count,
                "fixable_count": rule.fixable,
                "fixed_count": rule.fixed,
            }
            for rule in counts
        ]
        return json.dumps(rows, indent=2) + "\n"
    palette = Palette(color)
    fixed = "to be fixed" if result.mode is Mode.DIFF else "fixed"
    digits = max((len(str(rule.count)) for rule in counts), default=0)
    width = max((len(rule.code) for rule in counts), default=0)
    lines = []
    for rule in counts:
        note = f" ({rule.fixed} {fixed})" if rule.fixed else ""
        code = palette.strong(rule.code) + " " * (width - len(rule.code))
        row = f"{rule.count:>{digits}}  {code}  {_mark(rule, palette)} {names.get(rule.code, '')}"
        lines.append(f"{row.rstrip()}{note}\n")
    return "".join(lines)


def _mark(rule: RuleCount, palette: Palette) -> str:
    if rule.count and rule.fixable == rule.count:
        return f"[{palette.fixable('*')}]"
    return f"[{palette.fixable('-')}]" if rule.fixable else "[ ]"
