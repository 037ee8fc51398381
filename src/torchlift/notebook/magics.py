"""What IPython runs and Python does not parse: magics, shell commands, questions. Each line of them becomes a line of Python.

A line keeps its place, and its text as it was behind a mark in a comment:

    %matplotlib inline      pass  # ipython| %matplotlib inline
    files = !ls             files = ...  # ipython| files = !ls
    %%bash                  # ipython| %%bash
    echo hello              # ipython| echo hello

IPython's own grammar: `IPython/core/inputtransformer2.py` and `IPython/core/magics` of IPython 9.18.1, read 2026-11-24. What it takes
away before it parses (indents of whole cells, prompts) is not; such a cell is no Python here.
"""

from __future__ import annotations

import ast
import re
import warnings

from torchlift.lazy_pattern import lazy_pattern

MARK = "# ipython| "

_PYTHON_BELOW = frozenset("capture debug lprun memit mprun prun px snakeviz time timeit".split())
_SHELL_BELOW = frozenset("bash sh cmd script system sx !".split())
_SHELL = lazy_pattern(r"[ \t]*(?:[^=#]*=[ \t]*)?(?:!!?|%(?:pip|conda|mamba|micromamba|uv|sx|system)(?=[ \t]))")
_MAGIC = lazy_pattern(r"[ \t]*(?:[%!?/,;]|[^#'\"]*[\w*\]]\?\??$)")
_ASSIGNED = lazy_pattern(r"[ \t]*(?P<target>[^=#]+?)[ \t]*=[ \t]*(?:!|%(?=[^\W\d]))")
_TOKEN = lazy_pattern(r"#.*|\"\"\"|'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[()\[\]{}]")
_WITH_PYTHON = lazy_pattern(
    rf"[ \t]*%%?(?:{'|'.join(sorted(_PYTHON_BELOW))})[ \t]+\S|[^#]*[{{$?]|[ \t]*[/,;]|[^=!%]+=[ \t]*%"
)
_PYTHON = lazy_pattern(r"\{[ \t]*sys\.executable[ \t]*\}")


def masked(text: str) -> str | None:
    """The Python of a cell, line by line; None where it is no Python even without what IPython runs."""
    if MARK in text:
        return None
    if _parses(text):
        return text
    result = _commands_marked(text)
    return result if _parses(result) else None


def wrong_line(text: str) -> int:
    """The line in which the parser stops, of a cell that is no Python; the first one where it does not say."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(_commands_marked(text))
    except SyntaxError as error:
        return min(error.lineno or 1, text.count("\n") + 1)
    except (ValueError, RecursionError, MemoryError):
        return 1
    return 1


def _commands_marked(text: str) -> str:
    lines = text.split("\n")
    for number, line in enumerate(lines):
        magic = _cell_magic(line)
        if magic is not None and magic not in _PYTHON_BELOW:
            return "\n".join([*lines[:number], *(MARK + below for below in lines[number:])])
        if magic is None and line.strip():
            break
        if magic is not None:
            lines[number] = f"pass  {MARK}{line}"
    return "\n".join(_without_magics(lines))


def unmasked(text: str) -> str:
    """What `masked` was given, of what it returned."""
    return "\n".join(map(_unmasked, text.split("\n")))


def blanked(text: str) -> str:
    """`text` of a cell that is no Python, as comments."""
    return "\n".join(MARK + line for line in text.split("\n"))


def runs_python(text: str) -> bool:
    """Whether what IPython runs in a masked text may be Python, or be given values of it."""
    return any(
        _WITH_PYTHON.match(rest) for _, mark, rest in (line.partition(MARK) for line in text.split("\n")) if mark
    )


def commands(text: str) -> str:
    """The commands for a shell in a masked text, each where it stands there; everything else is blanks."""
    shown, in_shell, goes_on = [], False, False
    for line in text.split("\n"):
        before, mark, rest = line.partition(MARK)
        if not mark:
            shown.append(" " * len(line))
            in_shell = goes_on = False
            continue
        is_comment = not before.strip()
        magic = _cell_magic(rest) if is_comment else None
        found = _SHELL.match(rest) if not is_comment else None
        if magic is not None:
            in_shell = magic in _SHELL_BELOW
            rest = " " * len(rest)
        elif found is not None:
            kept = found.end() if rest[found.end() - 1] == "!" else rest.index("%") + 1
            rest = " " * kept + rest[kept:]
        elif not (is_comment and (in_shell or goes_on)):
            rest = " " * len(rest)
        goes_on = rest.rstrip().endswith("\\")
        shown.append(" " * (len(before) + len(mark)) + _PYTHON.sub(lambda match: "python".ljust(len(match[0])), rest))
    return "\n".join(shown)


def _cell_magic(line: str) -> str | None:
    match = re.match(r"%%(!|\w+(?!\w*\?))", line)
    return match[1] if match is not None else None


def _unmasked(line: str) -> str:
    _, mark, rest = line.partition(MARK)
    return rest if mark else line


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _without_magics(lines: list[str]) -> list[str]:
    result: list[str] = []
    depth, quote, joined, is_magic = 0, "", False, False
    for line in lines:
        if is_magic and joined:  # a command over several lines
            result.append(MARK + line)
            joined = line.endswith("\\")
            continue
        starts = not depth and not quote and not joined
        is_magic = starts and MARK not in line and (_MAGIC.match(line) or _ASSIGNED.match(line)) is not None
        if is_magic:
            result.append(_replaced(line))
        else:
            result.append(line)
            depth, quote = _open_after(line, depth, quote)
        joined = line.endswith("\\")
    return result


def _replaced(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    assigned = _ASSIGNED.match(line)
    statement = f"{assigned['target']} = ..." if assigned is not None else "pass"
    return f"{indent}{statement}  {MARK}{line}"


def _open_after(line: str, depth: int, quote: str) -> tuple[int, str]:
    """How many brackets, and which triple quote, are open behind a line."""
    at = 0
    while at < len(line):
        if quote:
            end = line.find(quote, at)
            if end < 0:
                return depth, quote
            at, quote = end + 3, ""
            continue
        token = _TOKEN.search(line, at)
        if token is None:
            break
        at = token.end()
        if token[0] in {'"""', "'''"}:
            quote = token[0]
        elif token[0] in "([{":
            depth += 1
        elif token[0] in ")]}":
            depth = max(0, depth - 1)
    return depth, quote
