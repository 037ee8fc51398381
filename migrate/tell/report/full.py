"""The default report: where, what, the code, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from torchlift.finding import Finding, Safety
from torchlift.migrate.result import RunResult
from torchlift.migrate.tell.report.frame import frame
from torchlift.migrate.tell.report.groups import Block, Waiting, advice_of, blocks_of, row_of, waiting_of, worst_first
from torchlift.migrate.tell.report.items import Item, left
from torchlift.migrate.tell.report.palette import Palette
from torchlift.migrate.tell.report.paths import place_in, shown_path, with_places
from torchlift.rules.torchscript.facts.deprecation import SINCE
from torchlift.terminal.columns import one_line

_WIDTH = 140


def render(result: RunResult, *, root: Path, color: bool = False, verbose: bool = False) -> str:
    """Every finding that is left, each with a source frame, notes and help; empty if there is none.

    What is said of several places is said once, with a frame for the first of them, and findings that wait for another
    are a number under that one.

    Args:
        result: the run.
        root: project root.
        color: whether to add terminal colours.
        verbose: whether every finding is shown in full.
    """
    items = left(result)
    if verbose:
        return _Report(root, Palette(color), {}).of(worst_first([Block((item,)) for item in items]), told=None)
    free, waiting = waiting_of(items)
    held = {group.place: group for group in waiting}
    return _Report(root, Palette(color), held).of(worst_first(blocks_of(free)), told=SINCE)


class _Report:
    """Blocks as text.

    Args:
        root: project root.
        palette: colours.
        held: findings that wait, by what they wait for.
    """

    def __init__(self, root: Path, palette: Palette, held: Mapping[str, Waiting]) -> None:
        self._root = root
        self._palette = palette
        self._held = dict(held)

    def of(self, blocks: Sequence[Block], told: str | None) -> str:
        """The report; `told` is what messages say once and leave out from then on."""
        shown = []
        before = False
        for block in blocks:
            texts = [item.finding.message for item in block.items]
            if told is not None:
                texts = [text.replace(f": {told}", "") if before or index else text for index, text in enumerate(texts)]
                before = before or told in block.items[0].finding.message
            shown.append(self._block(block, texts))
        shown += [self._by_itself(waiting) for waiting in self._held.values()]
        return "\n".join(shown)

    def _block(self, block: Block, texts: Sequence[str]) -> str:
        first, palette = block.items[0], self._palette
        lines = [self._head(item, text) for item, text in zip(block.items, texts, strict=True)]
        framed, width = frame(first.source, [item.span for item in block.items], first.finding.severity, palette)
        lines += framed
        remarks = list(dict.fromkeys(self._remarks(block)))
        remarks += [("waits", self._counted(group, "this")) for group in self._waiting_for(block)]
        for kind, text in remarks:
            lines.append(f"{' ' * width} {palette.gutter('=')} {palette.strong(f'{kind}:')} {self._seen(text)}")
        return "\n".join([*lines, ""])

    def _remarks(self, block: Block) -> Iterator[tuple[str, str]]:
        """What is said below a frame, each with its kind."""
        several = len({item.finding.code for item in block.items}) > 1
        seen: set[object] = set()
        for item in block.items:
            said = advice_of(item)
            about = f"{item.finding.code}: " if several else ""
            for note in item.finding.notes:
                yield "note", about + one_line(note)
            for text in _advice(item, self._palette) if said not in seen else ():
                yield "help", about + text
            seen.add(said)
        if block.alike:
            import textwrap  # few reports need it

            lines = {(item.finding.path, row_of(item)): item for item in reversed(block.alike)}
            places = ", ".join(self._place(item) for item in reversed(lines.values()))
            for line in textwrap.wrap(places, _WIDTH, break_long_words=False, break_on_hyphens=False):
                yield "also", line.rstrip(",")

    def _head(self, item: Item, text: str) -> str:
        finding, palette = item.finding, self._palette
        code = palette.severity(finding.code, finding.severity)
        mark = f" {palette.fixable('[*]')}" if item.applicable else ""
        return f"{palette.path(self._place(item))} {code}{mark} {self._seen(one_line(text))}"

    def _place(self, item: Item) -> str:
        return f"{shown_path(self._root, item.finding.path)}:{place_in(item.source, item.span.start)}"

    def _seen(self, text: str) -> str:
        return with_places(self._root, text)

    def _waiting_for(self, block: Block) -> list[Waiting]:
        places = dict.fromkeys(f"{item.finding.path}:{row_of(item)}" for item in (*block.items, *block.alike))
        return [self._held.pop(place) for place in places if place in self._held]

    def _counted(self, waiting: Waiting, what: str) -> str:
        number, files = len(waiting.items), len({item.finding.path for item in waiting.items})
        findings, wait = ("1 finding", "waits") if number == 1 else (f"{number} findings", "wait")
        in_files = "1 file" if files == 1 else f"{files} files"
        return f"{findings} in {in_files} {wait} for {what}: {waiting.counts} (`--verbose` shows all)"

    def _by_itself(self, waiting: Waiting) -> str:
        place = self._palette.path(self._seen(waiting.place))
        return f"{place} has to change first: {self._counted(waiting, 'it')}\n"


def _advice(item: Item, palette: Palette) -> list[str]:
    """What can be done: the fix first, then the rule's own words."""
    advice = []
    finding: Finding = item.finding
    fix = finding.fix
    if fix is not None:
        title = one_line(fix.title)
        if fix.safety is Safety.SAFE:
            advice.append(f"{palette.fixable('[*]')} {title}")
        elif fix.safety is Safety.PROVEN:
            advice.append(f"{palette.fixable('[*]')} {title} (proven by recorded runs)")
        elif item.applicable:
            advice.append(f"{palette.fixable('[*]')} {title} (needs review)")
        else:
            advice.append(f"{title} (needs review: `--unsafe-fixes --diff` shows it)")
    if finding.help:
        advice.append(one_line(finding.help))
    return advice
