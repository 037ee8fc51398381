"""Files and pages of files whose names say for which torch, or which of its CUDAs, they were compiled."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.dependencies.pin_set import indexes_in
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.dependencies.moves.holding import line_in
from torchlift.rules.dependencies.wheels.builds import Line, is_older_than_all, lines_of, spelled
from torchlift.source import Span

_MADE_FOR = lazy_pattern(
    r"(?:[+./-]|%2B|\bpt|cu\d{2,3}|\d)(?:torch|pt)-?(?P<release>[12]\.\d{1,2}(?:\.\d+)?)(?!\d)", re.IGNORECASE
)
# `2.1.0+pt113cu117`, as PyG names what it builds
_LOCAL = lazy_pattern(r"\+pt(?P<major>[12])(?P<minor>\d{1,2})(?:cu|cpu)")
_OF_TORCH = lazy_pattern(r"(?:^|/)torch-[^/]*\.whl")
_MARK = lazy_pattern(
    r"\.whl\b|(?<===)[\w.]+\+pt[12]\d{1,2}(?:cu\d{2,3}|cpu)\b|(?:whl/torch-\d|openmmlab\.com/mmcv/dist/|detectron2/wheels/|data\.dgl\.ai/wheels/|autogptq-index/whl/)[^\s\"';,<>()]*"
)
_PAGE_FOR_CUDA = lazy_pattern(r"(?:dist|wheels(?:/torch-[\d.]+)?|autogptq-index/whl)/(cu\d{2,3})(?=/|\Z)")
_BREAKS = frozenset(" \t\r\n\"'=;,<>()")
_LONGEST_NAME = 400
OWN_WHEEL = "This is a wheel of torch"
"""How `compiled_for` begins about a file of torch itself."""


def compiled_for(named: str, span: Span, target: Line) -> str:
    """What keeps a file or a page with such a name from going with the target; empty where nothing does."""
    moves = f"torch {spelled(target)}, which this project moves to"
    made, local = _MADE_FOR.search(named), _LOCAL.search(named)
    release = made["release"] if made is not None else f"{local['major']}.{local['minor']}" if local is not None else ""
    later = made is not None and named[made.end() :].lower().startswith("andhigher")
    if release and not later and line_in(release) < target:
        if _OF_TORCH.search(named):
            return f"{OWN_WHEEL} {release}, older than {moves}."
        return (
            f"This is compiled for torch {release}, and {moves}, may refuse to "
            "load it: compiled extensions fit the minor release that they were built with."
        )
    page = _PAGE_FOR_CUDA.search(named)
    if page is not None:
        lines = lines_of(page[1])
        ended = f"ends with torch {spelled(lines[-1])}" if lines else "had no torch 2"
        if is_older_than_all(page[1]) if not lines else lines[-1] < target:
            return f"What is here is compiled for {page[1]}, for which PyTorch {ended}: it does not go with {moves}."
    index = next(indexes_in(named, span.start), None)
    lines = lines_of(index.build) if index is not None and "/torch-" not in named else ()
    if index is not None and lines and lines[-1] < target:
        ended = f"which ends with torch {spelled(lines[-1])}"
        return f"This file is of PyTorch's index for {index.build}, {ended}: it does not go with {moves}."
    return ""


def made_for_one_torch(code: str) -> Iterator[Span]:
    """Names and addresses of wheels, and of pages of wheels for one torch."""
    for match in _MARK.finditer(code):
        start = match.start()
        while start and code[start - 1] not in _BREAKS and match.start() - start < _LONGEST_NAME:
            start -= 1
        yield Span(start, match.end())
