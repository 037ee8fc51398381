"""The default report: where, what, the code, and what to do about it."""

from __future__ import annotations

from pathlib import Path

from torchlift.finding import Safety
from torchlift.migrate.result import RunResult
from torchlift.migrate.tell.report.frame import frame
from torchlift.migrate.tell.report.items import Item, left
from torchlift.migrate.tell.report.palette import Palette
from torchlift.migrate.tell.report.paths import shown_path
from torchlift.terminal.columns import one_line


def render(result: RunResult, *, root: Path, color: bool = False) -> str:
    """Every finding that is left, each with a source frame, notes and help; empty if there is none.

    Args:
        result: the run.
        root: project root.
        color: whether to add terminal colours.
    """
    palette = Palette(color)
    return "\n".join(_finding(item, root, palette) for item in left(result))


def _finding(item: Item, root: Path, palette: Palette) -> str:
    finding = item.finding
    row, column = item.source.location(item.span.start)
    place = palette.path(f"{shown_path(root, finding.path)}:{row}:{column}")
    code = palette.severity(finding.code, finding.severity)
    mark = f" {palette.fixable('[*]')}" if item.applicable else ""
    lines, width = frame(item.source, item.span, finding.severity, palette)
    remarks = [
        *(("note", one_line(note)) for note in finding.notes),
        *(("help", advice) for advice in _advice(item, palette)),
    ]
    for kind, text in remarks:
        lines.append(f"{' ' * width} {palette.gutter('=')} {palette.strong(f'{kind}:')} {text}")
    return "\n".join([f"{place} {code}{mark} {one_line(finding.message)}", *lines, ""])


def _advice(item: Item, palette: Palette) -> list[str]:
    """What can be done: the fix first, then the rule's own words."""
    advice = []
    fix = item.finding.fix
    if fix is not None:
        title = one_line(fix.title)
        if fix.safety is Safety.SAFE:
            advice.append(f"{palette.fixable('[*]')} {title}")
        elif item.applicable:
            advice.append(f"{palette.fixable('[*]')} {title} (needs review)")
        else:
            advice.append(f"{title} (needs review: `--unsafe-fixes --diff` shows it)")
    if item.finding.help:
        advice.append(one_line(item.finding.help))
    return advice
