"""What the full report shows together: one frame for each distinct edit, and a count for findings that wait for another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from torchlift.finding import Severity
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.tell.report.frame import CONTEXT
from torchlift.migrate.tell.report.items import Item

_QUOTED = lazy_pattern(r"\blines? \d+(?:-\d+)?(?: \(`[^`]*`(?: \.\.\.)?\))?")


@dataclass(frozen=True)
class Block:
    """Findings with the same advice, or on the same line.

    Attributes:
        items: those shown in one frame: of one file, so near each other that their frames would overlap.
        alike: others, elsewhere, about which the same is to be said.
    """

    items: tuple[Item, ...]
    alike: tuple[Item, ...] = ()


@dataclass(frozen=True)
class Waiting:
    """Findings that can do nothing before another place changes.

    Attributes:
        place: that place, as `path:line` seen from the project.
        items: the findings.
    """

    place: str
    items: tuple[Item, ...]

    @property
    def counts(self) -> str:
        """How many there are of each rule, the most first: `TL117 71, TL118 20`."""
        codes = Counter(item.finding.code for item in self.items)
        return ", ".join(
            f"{code} {number}" for code, number in sorted(codes.items(), key=lambda row: (-row[1], row[0]))
        )


def blocks_of(items: Iterable[Item]) -> list[Block]:
    """Findings as blocks, in the order of their first places."""
    blocks: list[Block] = []
    known: dict[tuple[object, ...], int] = {}
    for near in _near_each_other(items):
        said = tuple(dict.fromkeys((item.finding.message, *advice_of(item)) for item in near))
        index = known.setdefault(said, len(blocks))
        if index == len(blocks):
            blocks.append(Block(tuple(near)))
        else:
            blocks[index] = Block(blocks[index].items, (*blocks[index].alike, *near))
    return blocks


def worst_first(blocks: Iterable[Block]) -> list[Block]:
    """What cannot work any more before what is merely old; else in the order given."""
    order = list(Severity)
    return sorted(blocks, key=lambda block: min(order.index(item.finding.severity) for item in block.items))


def waiting_of(items: Sequence[Item]) -> tuple[list[Item], list[Waiting]]:
    """The findings that something can be done about, and the others under what they wait for."""
    free = [item for item in items if not item.finding.waits_for]
    waiting: dict[str, list[Item]] = {}
    for item in items:
        if item.finding.waits_for:
            waiting.setdefault(item.finding.waits_for, []).append(item)
    order = sorted(waiting, key=lambda place: (-len(waiting[place]), place))
    return free, [Waiting(place, tuple(waiting[place])) for place in order]


def row_of(item: Item) -> int:
    """The line that a finding is on."""
    return item.source.location(item.span.start)[0]


def _near_each_other(items: Iterable[Item]) -> list[list[Item]]:
    groups: list[list[Item]] = []
    for item in items:
        last = groups[-1][-1] if groups else None
        if (
            last is not None
            and last.finding.path == item.finding.path
            and (row_of(item) == row_of(last) or (advice_of(last) == advice_of(item) and _overlap(last, item)))
        ):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def _overlap(last: Item, item: Item) -> bool:
    return row_of(item) - row_of(last) <= 2 * CONTEXT


def advice_of(item: Item) -> tuple[object, ...]:
    """What is to be done about a finding; lines that it quotes from around its place are no difference."""
    finding = item.finding
    fix = (finding.fix.title, finding.fix.safety) if finding.fix is not None else None
    help = _QUOTED.sub("line", finding.help or "")
    return finding.code, finding.severity, help, finding.notes, fix, item.applicable
