"""One line a finding, for editors, `grep` and logs."""

from __future__ import annotations

from pathlib import Path

from torchlift.migrate.result import RunResult
from torchlift.migrate.tell.report.items import Item, left
from torchlift.migrate.tell.report.palette import Palette
from torchlift.migrate.tell.report.paths import place_in, shown_path, with_places
from torchlift.terminal.columns import one_line


def render(result: RunResult, *, root: Path, color: bool = False) -> str:
    """Every finding that is left as `path:line:column: CODE [*] message`; empty if there is none.

    Args:
        result: the run.
        root: project root.
        color: whether to add terminal colours.
    """
    palette = Palette(color)
    return "".join(f"{_finding(item, root, palette)}\n" for item in left(result))


def _finding(item: Item, root: Path, palette: Palette) -> str:
    finding = item.finding
    place = f"{palette.path(shown_path(root, finding.path))}:{place_in(item.source, item.span.start)}:"
    mark = f" {palette.fixable('[*]')}" if item.applicable else ""
    message = finding.message
    if finding.dropped is not None:
        message = f"{message} {finding.dropped.sentence}"
    return f"{place} {palette.severity(finding.code, finding.severity)}{mark} {with_places(root, one_line(message))}"
