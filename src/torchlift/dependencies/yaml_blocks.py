"""Which keys and list items of YAML a place stands below, by indentation: the job of a step, the row of a matrix.

Sources: "Workflow syntax for GitHub Actions" (`jobs`, `matrix.include`); "CI/CD YAML syntax reference" of GitLab, where jobs
are the keys of the file; "YAML schema" of Azure Pipelines, where they are a list.
"""

from __future__ import annotations

import re
from functools import lru_cache

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span
from torchlift.view.text import TextView

_LINE = lazy_pattern(r"(?P<indent>[ \t]*)(?P<dashes>(?:-[ \t]+)*)(?:[\"']?(?P<key>[\w./-]+)[\"']?[ \t]*:(?=\s|\Z))?")
# Keys of a whole file that are no jobs of GitLab's.
_OF_AN_IMAGE = frozenset({"image", "name", "container", "base_image", "image_id", "docker", "machine", "default"})
_OF_THE_FILE = frozenset({"default", "env", "image", "on", "steps", "variables"})


@dataclass(frozen=True, slots=True)
class YamlBlock:
    """What belongs to a key, or to an item of a list.

    Attributes:
        key: the key, "" for an item.
        span: from its line on to the end of what is further in.
        above: keys of the blocks around it, the outermost first; "" for items.
    """

    key: str
    span: Span
    above: tuple[str, ...]


def job_of(view: TextView, place: Span) -> Span:
    """The job that a place belongs to, or the whole file."""
    around = _around(view, place)
    whole = Span(0, len(view.source.text))
    if any(block.key == "jobs" for block in _blocks(view) if not block.above):
        return next((block.span for block in around if block.above == ("jobs",)), whole)
    top = around[0] if around else None
    return top.span if top is not None and top.key and top.key not in _OF_THE_FILE else whole


def row_of(view: TextView, place: Span) -> Span | None:
    """The row of a matrix, an item below `include`, that a place stands in."""
    rows = [block for block in _around(view, place) if not block.key and block.above[-1:] == ("include",)]
    return rows[-1].span if rows else None


def outside_jobs(view: TextView, place: Span) -> bool:
    """Whether a place holds for all jobs of a file."""
    return job_of(view, place) == Span(0, len(view.source.text))


def runs_in(view: TextView, image: Span) -> Span:
    """What runs in an image: the job, the service or the container that it belongs to itself, or the whole file."""
    around = _around(view, image)
    while around and (around[-1].key in _OF_AN_IMAGE or _is_first_of_circle(view, around)):
        around.pop()
    return around[-1].span if around else Span(0, len(view.source.text))


def _is_first_of_circle(view: TextView, around: list[YamlBlock]) -> bool:
    """Whether a block is the first item of a list below `docker`, in which CircleCI runs the steps of a job."""
    last = around[-1]
    if last.key or last.above[-1:] != ("docker",):
        return False
    return not any(
        one.above == last.above and around[-2].span.start < one.span.start < last.span.start for one in _blocks(view)
    )


def _around(view: TextView, place: Span) -> list[YamlBlock]:
    return [block for block in _blocks(view) if block.span.contains(place)]


@lru_cache(maxsize=8)
def _blocks(view: TextView) -> tuple[YamlBlock, ...]:
    """All blocks in the order in which they begin."""
    found: list[tuple[int, int, str, tuple[str, ...]]] = []
    ends: dict[int, int] = {}
    open_blocks: list[tuple[int, str, int]] = []

    def close(indent: int, at: int, *, items_only: bool) -> None:
        while open_blocks and (open_blocks[-1][0] > indent or (open_blocks[-1][0] == indent and not items_only)):
            ends[open_blocks.pop()[2]] = at
        # The items of a list may stand as far in as its key
        while items_only and open_blocks and open_blocks[-1][0] == indent and not open_blocks[-1][1]:
            ends[open_blocks.pop()[2]] = at

    def begin(indent: int, key: str, at: int) -> None:
        close(indent, at, items_only=not key)
        above = tuple(name for _, name, _ in open_blocks)
        open_blocks.append((indent, key, len(found)))
        found.append((indent, at, key, above))

    for line in view.lines:
        match = _LINE.match(line.text)
        if match is None:
            continue
        indent = len(match["indent"])
        for dash in re.finditer("-", match["dashes"]):
            begin(indent + dash.start(), "", line.start)
        if match["key"]:
            begin(
                match.start("key") - (line.text[match.start("key") - 1 : match.start("key")] in {'"', "'"}),
                match["key"],
                line.start,
            )
    for _, _, index in open_blocks:
        ends[index] = len(view.source.text)
    return tuple(YamlBlock(key, Span(at, ends[index]), above) for index, (_, at, key, above) in enumerate(found))
