"""The changes of a run as a unified diff.

A patch is bytes. It may hold several encodings, and its lines end at line feeds alone: a carriage return, a form feed
or a Unicode line separator inside a line is content, and a patch that treated it otherwise would not apply.

Names are relative to the project root. There is no `diff --git` line: with it `git apply` would take them from the top
of the repository, which need not be the project.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from torchlift.migrate.result import FileOutcome, RunResult
from torchlift.migrate.tell.report.palette import Palette
from torchlift.terminal.columns import cells

_CONTEXT = 3

_Change = tuple[int, int, int, int]
"""Lines `[i1, i2)` of the old text become lines `[j1, j2)` of the new."""


def patch_bytes(outcome: FileOutcome, prefix: str = "") -> bytes:
    """The change of one file, as `git apply` and `patch -p1` take it; empty where there is none.

    Args:
        outcome: the file.
        prefix: way from the folder the patch is applied in to the project root, with a slash at its end.

    Raises:
        UnicodeEncodeError: the new text has a character the file's encoding lacks.
    """
    return b"".join(_patch(outcome, prefix))


def run_patch(result: RunResult, prefix: str = "") -> bytes:
    """The changes of all files, including those that were not written; `prefix` as in `patch_bytes`."""
    return b"".join(patch_bytes(outcome, prefix) for outcome in result.outcomes)


def shown_patch(result: RunResult, prefix: str = "", *, color: bool) -> str:
    """The changes of all files for a person at a terminal: decoded, coloured, control characters made visible.

    It looks like the patch but need not apply.
    """
    palette = Palette(color)
    lines = []
    for outcome in result.outcomes:
        for index, line in enumerate(_patch(outcome, prefix)):
            if index < 2:
                lines.append(palette.strong(cells(os.fsdecode(line).rstrip("\n\t"))[0]))
                continue
            # A line feed opens each change of the no-newline remark; a carriage return before it is the line's end.
            for part in line.decode(outcome.source.encoding, "replace").rstrip("\n").split("\n"):
                lines.append(_colored(part, palette))
    return "".join(f"{line}\n" for line in lines)


def _colored(line: str, palette: Palette) -> str:
    mark, text = line[:1], cells(line[1:].removesuffix("\r"))[0]
    if mark == "+":
        return palette.added(mark + text)
    if mark == "-":
        return palette.removed(mark + text)
    return palette.hunk(mark + text) if mark == "@" else mark + text


def _patch(outcome: FileOutcome, prefix: str) -> Iterator[bytes]:
    """Header and body lines; one that has no line feed of its own carries the remark that says so."""
    if outcome.new_text is None:
        return
    old = _lines(outcome.source.to_bytes())
    new = [] if outcome.is_removed else _lines(outcome.source.replaced(outcome.new_text).to_bytes())
    if old == new:
        return
    yield b"--- " + _name(f"a/{prefix}{outcome.path}")
    yield b"+++ " + (b"/dev/null\n" if outcome.is_removed else _name(f"b/{prefix}{outcome.path}"))
    for hunk in _hunks(_changes(old, new)):
        yield from _hunk(old, new, hunk)


def _lines(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    last = lines.pop()
    return [*(line + b"\n" for line in lines), *([last] if last else [])]


def _name(name: str) -> bytes:
    """A file name as git writes it in headers: quoted if it needs to be, closed by a tab if it has spaces."""
    raw = os.fsencode(name)
    if any(byte < 0x20 or byte in b'"\\\x7f' for byte in raw):
        escaped = b"".join(
            b"\\%c" % byte if byte in b'"\\' else b"\\%03o" % byte if byte < 0x20 or byte == 0x7F else b"%c" % byte
            for byte in raw
        )
        return b'"%s"\n' % escaped
    return raw + (b"\t\n" if b" " in raw else b"\n")


def _changes(old: Sequence[bytes], new: Sequence[bytes]) -> list[_Change]:
    """What differs, in order. The equal head and tail, most of every file, never reach the costly comparison."""
    head = 0
    limit = min(len(old), len(new))
    while head < limit and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < limit - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail])
    return [
        (head + i1, head + i2, head + j1, head + j2) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"
    ]


def _hunks(changes: Sequence[_Change]) -> list[list[_Change]]:
    """Changes whose context lines touch or overlap, together."""
    hunks: list[list[_Change]] = []
    for change in changes:
        if hunks and change[0] - hunks[-1][-1][1] <= 2 * _CONTEXT:
            hunks[-1].append(change)
        else:
            hunks.append([change])
    return hunks


def _hunk(old: Sequence[bytes], new: Sequence[bytes], changes: Sequence[_Change]) -> Iterator[bytes]:
    before = min(_CONTEXT, changes[0][0])
    after = min(_CONTEXT, len(old) - changes[-1][1])
    i1, i2 = changes[0][0] - before, changes[-1][1] + after
    j1, j2 = changes[0][2] - before, changes[-1][3] + after
    yield b"@@ -%s +%s @@\n" % (_range(i1, i2), _range(j1, j2))
    at = i1
    for first, last, new_first, new_last in changes:
        yield from (_line(b" ", line) for line in old[at:first])
        yield from (_line(b"-", line) for line in old[first:last])
        yield from (_line(b"+", line) for line in new[new_first:new_last])
        at = last
    yield from (_line(b" ", line) for line in old[at:i2])


def _range(first: int, last: int) -> bytes:
    """A line range as GNU diff writes it: an empty one names the line before it, and a count of one goes unsaid."""
    length = last - first
    start = first + 1 if length else first
    return b"%d" % start if length == 1 else b"%d,%d" % (start, length)


def _line(mark: bytes, line: bytes) -> bytes:
    return mark + line if line.endswith(b"\n") else mark + line + b"\n\\ No newline at end of file\n"
