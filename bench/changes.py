"""What a tool did to one file, found out without the tool: changed lines, and whether anything else suffered."""

from __future__ import annotations

import ast
import codecs
import difflib
import io
import re
import tokenize
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import tomllib

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_NEWLINE = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True)
class Hunk:
    """Lines `[start, end)` of the old file, counted from 0, that became `[new_start, new_end)` of the new one."""

    start: int
    end: int
    new_start: int
    new_end: int


def lines_of(data: bytes) -> list[bytes]:
    """Lines with their ends, which are LF, CRLF or a lone CR as in Python, and nothing else."""
    return _LINE.findall(data)


def hunks(old: list[bytes], new: list[bytes]) -> list[Hunk]:
    """The changed places; every line outside them is the same, byte for byte."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    matcher = difflib.SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    return [
        Hunk(start + head, end + head, new_start + head, new_end + head)
        for kind, start, end, new_start, new_end in matcher.get_opcodes()
        if kind != "equal"
    ]


def damage(path: str, old: bytes, new: bytes) -> list[str]:
    """Sentences about what no migration may do to a file; empty when all is well."""
    found = []
    try:
        if path.endswith(".toml"):
            tomllib.loads(new.decode())
        elif path.endswith((".py", ".pyi")):
            parse(new)
    except (SyntaxError, ValueError) as error:
        found.append(f"it no longer parses: {error}")
    if old.startswith(codecs.BOM_UTF8) != new.startswith(codecs.BOM_UTF8):
        found.append("its byte-order mark came or went")
    if encoding(old) != encoding(new):
        found.append(f"its encoding went from {encoding(old)} to {encoding(new)}")
    foreign = set(_NEWLINE.findall(new)) - (set(_NEWLINE.findall(old)) or {b"\n"})
    if foreign:
        found.append(f"it has newlines of another kind: {sorted(foreign)}")
    if old.endswith((b"\r", b"\n")) != new.endswith((b"\r", b"\n")):
        found.append("its final newline came or went")
    return found


def parse(data: bytes) -> ast.Module:
    """Parse a file.

    Raises:
        SyntaxError, ValueError: it is no Python source for this interpreter.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(data)


def encoding(data: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError:
        return "unknown"


def import_lines(data: bytes) -> set[int]:
    """Lines, counted from 0, that belong to import statements; none in a file that is no Python."""
    found: set[int] = set()
    try:
        tree = parse(data)
    except (SyntaxError, ValueError):
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.update(range(node.lineno - 1, node.end_lineno or node.lineno))
    return found


def unexplained(old: bytes, new: bytes, announced: Iterable[tuple[int, int]]) -> list[Hunk]:
    """Changed places that no announced edit covers and that are not about imports or blank lines alone.

    Args:
        old: the file before.
        new: the file after.
        announced: first and last line of each announced edit, counted from 1.
    """
    allowed = {line for first, last in announced for line in range(first - 1, last)}
    before, after = lines_of(old), lines_of(new)
    old_imports, new_imports = import_lines(old), import_lines(new)
    odd = []
    for hunk in hunks(before, after):
        # An insertion stands between two lines; the edit that makes it may be announced on either.
        touched = range(hunk.start, hunk.end) if hunk.end > hunk.start else range(hunk.start - 1, hunk.start + 1)
        if any(line in allowed for line in touched) and all(
            line in allowed or not before[line].strip() for line in range(hunk.start, hunk.end)
        ):
            continue
        if all(line in old_imports or not before[line].strip() for line in range(hunk.start, hunk.end)) and all(
            line in new_imports or not after[line].strip() for line in range(hunk.new_start, hunk.new_end)
        ):
            continue
        odd.append(hunk)
    return odd
