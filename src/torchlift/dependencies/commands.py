"""`pip install`, `uv pip install`, `uv add` and `conda install` wherever commands are written: scripts, container files,
CI, makefiles, tox, and the code blocks of a README.

Sources: the command references of pip, uv and conda.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from torchlift.dependencies.grammar import is_template, read_pin
from torchlift.dependencies.pin import Pin
from torchlift.dependencies.pin_set import Include, Index, PackageSource, PinSet, indexes_in, source_of
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span
from torchlift.view.text import LogicalLine, TextView

_COMMAND = lazy_pattern(
    r"(?<![\w./${}~-])(?:[\w.~${}-]*/)*(?:(?P<pip>(?:uv[ \t]+)?pip[\d.]*[ \t]+(?:-\S+[ \t]+)*install|uv[ \t]+add)"
    r"|(?P<conda>(?:conda|mamba|micromamba)[ \t]+(?:-\S+[ \t]+)*(?:install|create|env[ \t]+create)))(?=[ \t])"
)
_TOKEN = lazy_pattern(r"""(?:\$\{\{[^{}]*\}\}|"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\;&|()`])+|&&|\|\||[;&|()`]""")
_END = frozenset({"&&", "||", ";", "&", "|", "(", ")", "`"})
_REDIRECTION = lazy_pattern(r"\d?[<>]{1,2}(?:[^=].*)?")
_WITH_VALUE = {
    "pip": frozenset({
        "-t", "--target", "--prefix", "--root", "--cache-dir", "--progress-bar", "--timeout", "--retries", "--python",
        "--resume-retries", "--trusted-host", "--no-binary", "--only-binary", "--platform", "--python-version", "--src",
        "-e", "--editable", "--group", "--extra", "--config-settings", "-C", "--torch-backend", "--index-strategy", "-p",
        "--no-build-isolation-package", "--proxy", "--log", "--upgrade-strategy", "--index", "--default-index",
        "--build-option", "--global-option", "--prerelease", "--resolution", "--exclude-newer", "--no-install-package",
    }),
    "conda": frozenset({"-n", "--name", "-p", "--prefix", "--solver", "--override-frozen", "--subdir", "--platform"}),
}  # fmt: skip
_SOURCES = frozenset({"-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--index", "--default-index"})
_CHANNELS = frozenset({"-c", "--channel"})
_FILES = frozenset({"-r", "--requirement", "-c", "--constraint", "--constraints", "-f", "--file"})
_LOOSE = lazy_pattern(
    r"(?<![\w./$-])(?:pytorch|torch(?:vision|audio)?)(?:\[\w+\])?(?:[ ]?(?:[<>~=!]=?[ ]?[\d.]+,[ ]?)*(?:===?|~=|<=?)[ ]?\d+(?:\.\d+)+(?:\+\w+)?(?![\w.]*[*$])"
    r"|(?:===?|~=|<=?)(?P<quote>[\"'])\d+(?:\.\d+)+(?:[.+-]?(?:\$\{?\w+\}?|\w+))?(?P=quote))"
)
_INLINE = lazy_pattern(r"(?<!`)(`{1,3})(?!`).{1,400}?(?<!`)\1(?!`)")
_FENCE = lazy_pattern(r"^[ \t>]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\r\n]*)\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Token:
    """A word of a command, quotes gone; `start` is where `text` begins in the line. `plain` tells that `text` stands in the
    source as it is."""

    text: str
    start: int
    plain: bool


def read_commands(view: TextView) -> list[PinSet]:
    """Every install command of a file, in order, each a set of its own."""
    found = []
    for match in _COMMAND.finditer(view.code):
        kind = match.lastgroup
        line = view.line_at(match.start())
        if kind is None or line is None or not is_command(view, line, match.start()):
            continue
        read = _read(line, match.start() - line.start, match.end() - line.start, kind)
        if read is not None:
            found.append(read)
    return found


def loose_indexes(view: TextView, taken: list[PinSet]) -> Iterator[Index]:
    """PyTorch's indexes that stand outside of the sets already read: in variables, in configuration."""
    spans = [index.span for item in taken for index in item.indexes]
    for index in indexes_in(view.code, 0):
        if not any(span.overlaps(index.span) for span in spans):
            yield index


def loose_pins(view: TextView, taken: Sequence[PinSet]) -> Iterator[Pin]:
    """Pins of torch and its companions outside of the sets already read: in lists of YAML, in variables and strings."""
    if view.kind in {"markdown", "requirements", "lock", "ini"}:
        return
    spans = [item.span for item in taken if item.span.end - item.span.start < len(view.source.text)]
    spans += [pin.span for item in taken for pin in item.pins]
    for match in _LOOSE.finditer(view.code):
        span = Span(*match.span())
        if view.kind == "toml" and view.code[span.start - 1] not in "\"'":
            continue  # prose
        text = match[0].replace(match["quote"], "") if match["quote"] else match[0]
        taken_already = any(other.overlaps(span) for other in spans)
        pin = None if taken_already else read_pin(text, span.start, "conda" if text.startswith("pytorch") else "pip")
        if pin is not None:
            yield replace(pin.at(span) if match["quote"] else pin, opaque=True)


def is_command(view: TextView, line: LogicalLine, offset: int) -> bool:
    """Whether what stands at `offset` may be run: everything outside of pages, and their code, on lines of its own, by fences
    or with nothing but four columns before it, or in backticks."""
    if view.kind != "markdown" or is_code(view, line):
        return True
    inside = offset - line.start
    if line.text.startswith(("    ", "\t")) and line.text[:inside].strip() in {"", "$"}:
        return True
    return any(span.start() < inside < span.end() for span in _INLINE.finditer(line.text))


def is_code(view: TextView, line: LogicalLine) -> bool:
    """Whether a line of a README stands in a code block, and is no comment there.

    Fences count in pairs; in reStructuredText an indented line is code.
    """
    if line.text.lstrip().startswith("#"):
        return False
    if view.path.endswith(".rst"):
        return line.text[:1] in {" ", "\t"}
    return bisect_right(_fences(view.source.text), line.start) % 2 == 1


@lru_cache(maxsize=8)
def _fences(text: str) -> tuple[int, ...]:
    """Where the lines begin that open and close code blocks. A fence that names a language opens one, also where the one before was
    never closed."""
    found: list[int] = []
    fence = ""
    for match in _FENCE.finditer(text):
        if not fence:
            fence = match["fence"]
        elif match["info"].strip() or not match["fence"].startswith(fence):
            continue
        else:
            fence = ""
        found.append(match.start())
    return tuple(found)


def read_words(words: list[tuple[str, int]]) -> PinSet | None:
    """What a pip command installs whose words are given, each with its place in the file."""
    tokens = [_Token(text, start, True) for text, start in words]
    return _taken(tokens, Span(words[0][1], words[-1][1] + len(words[-1][0])), "pip")


def _read(line: LogicalLine, begin: int, start: int, kind: str) -> PinSet | None:
    tokens = [replace(token, start=line.start + token.start) for token in _tokens(line.text, start)]
    end = tokens[-1].start + len(tokens[-1].text) if tokens else line.start + start
    return _taken(tokens, Span(line.start + begin, end), kind)


def _taken(tokens: list[_Token], span: Span, kind: str) -> PinSet | None:
    found = PinSet(span, conda=kind == "conda")
    waiting = ""
    for token in tokens:
        text, place = token.text, token.start
        if text.startswith("-") and not waiting:
            name, equals, value = text.partition("=")
            if not equals:
                takes = name in _SOURCES | _CHANNELS | _FILES or name in _WITH_VALUE[kind]
                waiting = name if takes else ""
                found.no_deps = found.no_deps or name == "--no-deps"
            else:
                _option(found, kind, name, value, place + len(name) + 1)
            continue
        if waiting:
            _option(found, kind, waiting, text, place)
            waiting = ""
            continue
        if is_template(text) and re.match(r"[${]", text):
            found.variables = True
            continue
        if "://" in text.partition("@")[0] or text.startswith((".", "/")) or text.endswith((".whl", ".tar.gz", ".zip")):
            found.sources.append(PackageSource(text, Span(place, place + len(text))))
            continue
        pin = read_pin(text, place, "conda", "conda") if kind == "conda" else read_pin(text, place)
        if pin is not None:
            # In a shell, an unquoted comparison is a redirection, and a star may be a file.
            found.pins.append(pin if token.plain else replace(pin, opaque=True))
    return found if found.pins or found.indexes or found.variables or found.includes else None


def _option(found: PinSet, kind: str, name: str, value: str, place: int) -> None:
    span = Span(place, place + len(value))
    if kind == "conda" and name in _CHANNELS:
        found.channels.append((value, span))
    elif name in _FILES and not (kind == "pip" and name == "-f"):
        found.includes.append(Include(value, span))
    elif name in _SOURCES:
        found.variables = found.variables or is_template(value)
        found.sources.append(source_of(name, value, span))


def _tokens(text: str, start: int) -> Iterator[_Token]:
    # A whole command may stand in quotes, as in YAML or the exec form; its words then end at the closing one.
    quoted = _enclosing_quote(text, start)
    limit = text.find(quoted, start) if quoted else -1
    limit = len(text) if limit < 0 else limit
    into_file = False
    for match in _TOKEN.finditer(text, start, limit):
        word = match[0]
        if word in _END:
            return
        if into_file:
            into_file = False
            continue
        if _REDIRECTION.fullmatch(word):
            into_file = word[-1] in "<>"
            continue
        position = match.start()
        if word[0] in "\"'" and word[-1] == word[0] and len(word) >= 2 and word.count(word[0]) == 2:
            yield _Token(word[1:-1], position + 1, "\\" not in word)
            continue
        plain = not re.search(r"[\"'\\]", word)
        unquoted = re.sub(r"[\"']", "", word)
        cut = re.search(r"(?<!=)[<>](?!=)", unquoted)
        yield _Token(unquoted[: cut.start()] if cut and cut.start() else unquoted, position, plain and cut is None)


def _enclosing_quote(text: str, start: int) -> str | None:
    """The quote that is open where a command begins."""
    for quote in "\"'":
        if text[:start].count(quote) % 2:
            return quote
    return None
