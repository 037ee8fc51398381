"""What a rule sees of a file that is no Python: scripts, container files, YAML, makefiles, environment files, and what
says which packages a project needs.

None of these languages is parsed. What they share is enough to find a command or a variable in them: logical lines, with
continuations joined, and comments, which are not code. Where a quote or a comment is in doubt the text counts as a
comment, so that the doubt ends in silence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import SourceText, Span, UnreadableSource
from torchlift.view.cpp_text import cpp_code

TextKind = Literal[
    "shell",
    "dockerfile",
    "yaml",
    "makefile",
    "env",
    "requirements",
    "toml",
    "ini",
    "cmake",
    "markdown",
    "batch",
    "powershell",
    "lock",
    "cpp",
]
"""Batch scripts of Slurm, PBS and LSF are `shell`, those of Windows `batch`; `toml` and `ini` are files with requirements in
them, `markdown` is a page in Markdown or reStructuredText, `lock` what a tool wrote from requirements, `cpp` also C, CUDA and Objective-C++."""

SCRIPTS: frozenset[TextKind] = frozenset({"shell", "dockerfile", "yaml", "makefile", "env"})
"""Kinds that a rule about commands and variables is asked about."""

WITH_PYTHON: frozenset[TextKind] = frozenset({"markdown", "shell", "yaml", "dockerfile", "makefile"})
"""Kinds in which Python may stand: the blocks of a page, what a command hands to `python -c`."""

_PROSE = ("md", "mdx", "markdown", "rst")
_NAMES: tuple[tuple[TextKind, str], ...] = (
    (
        "lock",
        r"(?:uv|poetry|pdm|pixi|pylock(?:\.[\w-]+)?)\.lock|pylock(?:\.[\w-]+)?\.toml|Pipfile\.lock|(?:[\w.-]+-)?conda-lock\.ya?ml",
    ),
    ("shell", r".+\.(?:sh|bash|slurm|sbatch|pbs|lsf|job)"),
    # JSON is YAML; of its files those that say by their names that they install something.
    (
        "yaml",
        r"[^/]+\.ya?ml|(?:[\w.-]*[-_.])?(?:pins?|setup|install|deps|dependenc(?:y|ies)|requirements|versions?|devcontainer)(?:[-_.][\w.-]*)?\.json",
    ),
    # Apptainer's definitions have `From:` and commands, too.
    (
        "dockerfile",
        r"(?!.+\.(?:pyi?|ipynb|mdx?|rst|html|json|js|ts|go)\Z)(?i:(?:[\w.-]+[._-])?(?:docker|container)file(?:[._-].+)?)"
        r"|.+\.docker|Singularity(?:[._-].+)?|.+\.def",
    ),
    # Others that have commands, and variables with blanks around the sign: just, HCL (bake, Terraform, Nomad), Nix, Jenkins.
    (
        "makefile",
        r"(?:GNU)?[Mm]akefile(?:\.inc)?|.+\.mk|\.?[Jj]ustfile|.+\.(?:just|hcl|tf|nomad|nix|groovy|jenkinsfile)|Jenkinsfile(?:[._-].+)?",
    ),
    ("env", r"\.env(?:\.\w+)?|.+\.env"),
    (
        "requirements",
        r"(?:[^/]*[-_.])?(?:requirements?|constraints?|reqs)(?:[-_.][^/]*)?\.(?:txt|in)"
        r"|(?:requirements?|constraints?|reqs)/[^/]+\.(?:txt|in)"
        r"|(?:[^/]*[-_.])?(?:env(?:ironment)?|conda|packages|pip|freeze|spec[-_]?(?:file|list)|deps|dependencies)(?:[-_.][^/]*)?\.txt",
    ),
    ("toml", r"(?:pyproject(?:[-_.][\w.-]+)?|uv|pixi|tox|hatch)\.toml|Pipfile"),
    ("ini", r"setup\.cfg|tox\.ini"),
    ("cmake", r"CMakeLists\.txt|.+\.cmake"),
    # A list of changes names old releases for ever.
    ("markdown", rf"(?!(?i:change|history|news|release))[^/]+\.(?i:{'|'.join(_PROSE)})"),
    ("batch", r".+\.(?:bat|cmd|BAT|CMD)"),
    ("powershell", r".+\.ps1"),
    ("cpp", r".+\.(?:c|cc|cpp|cxx|cu|cuh|h|hh|hpp|hxx|hip|inl|ipp|mm|tpp)"),
)
HEAD = 128
"""Bytes at the beginning of a file that tell a script without a telling name."""
_WITHOUT_CONTINUATION = frozenset({"env", "toml", "ini", "cmake", "lock"})
_ESCAPES = {"batch": "^", "powershell": "`"}
_REMARK = lazy_pattern(r"[ \t]*@?(?:rem(?![^\s])|::)", re.IGNORECASE)
_BY_NAME = lazy_pattern(r"(?:^|/)(?:" + "|".join(f"(?P<{kind}>{name})" for kind, name in _NAMES) + r")\Z")
_ANY_NAME = lazy_pattern((r"(?:^|/)(?:" + "|".join(name for _, name in _NAMES) + r")\Z").encode())
_SHEBANG = lazy_pattern(rb"#![ \t]*\S*/(?:env[ \t]+(?:-\S+[ \t]+)*)?(?:ba|da|k|z)?sh\b")

# Comments to the shell, options to the batch system that reads the script.
_DIRECTIVE = lazy_pattern(r"#(?:SBATCH|PBS|BSUB|COBALT|\$) ")
_ESCAPE_DIRECTIVE = lazy_pattern(r"\A(?:#[^\n]*\n)*?#[ \t]*escape[ \t]*=[ \t]*`", re.IGNORECASE)
# Comments of the templates that YAML is often made from: Helm's, and those of Jinja.
_TEMPLATE_COMMENT = lazy_pattern(r"\{\{-?\s*/\*.*?\*/\s*-?\}\}|(?<!\$)\{#.*?#\}", re.DOTALL)
_LINE = lazy_pattern(r"([^\r\n]*)(\r\n|\r|\n|\Z)")


def is_text_name(path: bytes) -> bool:
    """Whether the name alone tells that a file is one of these; `path` as git prints it."""
    return _ANY_NAME.search(path) is not None


def is_shell_script(head: bytes) -> bool:
    """Whether a file that begins with `head` asks to be run by a shell."""
    return _SHEBANG.match(head) is not None


def is_document(path: str) -> bool:
    """Whether people read a file, and what it names is no use of that: prose, lists of changes among it, and notebooks beside their cells."""
    return path.lower().endswith(tuple(f".{ending}" for ending in (*_PROSE, "html", "ipynb")))


def text_kind(path: str, head: bytes = b"") -> TextKind | None:
    """Which kind of text a file is, by its name or else by its first bytes; None for everything else."""
    match = _BY_NAME.search(path)
    if match is not None:
        return next(kind for kind, _ in _NAMES if match[kind] is not None)
    return "shell" if not path.endswith((".py", ".pyi")) and is_shell_script(head) else None


def named_kind(path: str, head: bytes = b"") -> TextKind | None:
    """The kind of a file that somebody names as an input: another name for requirements is theirs to choose."""
    return text_kind(path, head) or ("requirements" if path.endswith((".txt", ".in")) else None)


def kind_in_run(path: str, data: bytes) -> TextKind:
    """The kind of a file that a run looks at: what is of no other kind is read as a shell reads it, as the commands of notebooks are."""
    return named_kind(path, data[:HEAD]) or "shell"


def read_text(data: bytes) -> SourceText:
    """Decode a text file so that encoding it again gives the same bytes.

    That is UTF-8, or the encoding a comment names as in Python. Anything else is read as Latin-1, which is wrong for the
    letters of many languages and right for every word a rule looks for.

    Raises:
        UnreadableSource: there are NUL bytes in it, so it is not text, or is UTF-16.
    """
    if b"\0" in data:
        raise UnreadableSource("it contains NUL bytes, so it is not text in an encoding that torchlift reads")
    try:
        return SourceText.from_bytes(data)
    except UnreadableSource:
        return SourceText(data.decode("latin-1"), "latin-1")


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """One line of code, continuations joined, comments gone.

    Attributes:
        text: as long as what it stands for; what is no code is blanks in it.
        start: where it begins in the source, so that `text[i]` stands at `start + i`.
    """

    text: str
    start: int

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """Where `text[start:end]` stands in the source."""
        return Span(self.start + start, self.start + (len(self.text) if end is None else end))


@dataclass(frozen=True)
class TextView:
    """One text file.

    Attributes:
        path: relative to the project root, forward slashes.
        kind: its language.
        source: its text.
    """

    path: str
    kind: TextKind
    source: SourceText

    @cached_property
    def _parts(self) -> tuple[str, tuple[Span, ...]]:
        return _code_and_comments(self.source.text, self.kind)

    @property
    def code(self) -> str:
        """The whole text, character by character, with blanks in the place of comments and continuations."""
        return self._parts[0]

    @property
    def comments(self) -> tuple[Span, ...]:
        """Every comment, from its `#` to the end of the line; in C++ from `//` or `/*`."""
        return self._parts[1]

    @cached_property
    def lines(self) -> tuple[LogicalLine, ...]:
        """The logical lines that hold code, in order."""
        return tuple(
            LogicalLine(match[1], match.start()) for match in _LINE.finditer(self.code) if match[1] and match[1].strip()
        )

    def line_at(self, offset: int) -> LogicalLine | None:
        """The logical line around a character; None where there is no code."""
        index = bisect_right(self.lines, offset, key=lambda line: line.start) - 1
        if index < 0 or offset >= self.lines[index].span().end:
            return None
        return self.lines[index]

    def statement(self, span: Span) -> Span:
        """The logical lines that `span` touches, without the blanks around them: what a suppression covers."""
        near = max(bisect_right(self.lines, span.start, key=lambda line: line.start) - 1, 0)
        behind = bisect_right(self.lines, span.end, key=lambda line: line.start)
        touched = [line for line in self.lines[near:behind] if line.span().overlaps(span)]
        if not touched:
            return span
        first, last = touched[0], touched[-1]
        start = first.start + len(first.text) - len(first.text.lstrip())
        return Span(min(start, span.start), max(last.start + len(last.text.rstrip()), span.end))


def _code_and_comments(text: str, kind: TextKind) -> tuple[str, tuple[Span, ...]]:
    if kind == "cpp":
        return cpp_code(text)
    if kind == "yaml" and "{" in text:
        text = _TEMPLATE_COMMENT.sub(lambda match: re.sub(r"[^\r\n]", " ", match[0]), text)
    escape = "`" if kind == "dockerfile" and _ESCAPE_DIRECTIVE.match(text) else _ESCAPES.get(kind, "\\")
    pieces: list[str] = []
    comments: list[Span] = []
    continued = False
    for match in _LINE.finditer(text):
        line, newline = match[1], match[2]
        comment = _comment_start(line, kind)
        if comment is not None:
            comments.append(Span(match.start() + comment, match.start() + len(line.rstrip())))
            # A container file may have comments between the lines of one instruction.
            continued = continued and kind == "dockerfile" and not line[:comment].strip()
            code = line[:comment] + " " * (len(line) - comment)
            pieces.append(code + (" " * len(newline) if continued else newline))
            continue
        body = line.rstrip() if kind == "dockerfile" else line
        continued = kind not in _WITHOUT_CONTINUATION and (len(body) - len(body.rstrip(escape))) % 2 == 1
        if continued:
            pieces.append(body[:-1] + " " * (len(line) - len(body) + 1 + len(newline)))
        else:
            pieces.append(line + newline)
        if not newline:
            break
    return "".join(pieces), tuple(comments)


def _comment_start(line: str, kind: TextKind) -> int | None:
    """Where the comment of one physical line begins."""
    if kind == "ini" and line.lstrip()[:1] == ";":
        return len(line) - len(line.lstrip())
    if kind == "batch":
        return len(line) - len(line.lstrip()) if _REMARK.match(line) else None
    if kind == "makefile" and line.lstrip().startswith("//"):  # Groovy, HCL
        return len(line) - len(line.lstrip())
    if "#" not in line or kind in {"markdown", "lock"}:
        return None
    if line.lstrip()[:1] == "#":
        return None if kind == "shell" and _DIRECTIVE.match(line) else len(line) - len(line.lstrip())
    position = 0
    while position < len(line):
        character = line[position]
        before = line[position - 1] if position else " "
        if character == "\\":
            position += 1
        elif character in "\"'" and not (kind == "yaml" and (before.isalnum() or before == "_")):
            position = _closing(line, position)
        elif character == "#" and (before in " \t;" or kind in {"toml", "cmake"}):
            return position
        position += 1
    return None


def _closing(line: str, opening: int) -> int:
    """Where the quote opened at `opening` ends; there itself if it does not end on this line."""
    quote = line[opening]
    position = opening + 1
    while position < len(line):
        if line[position] == quote:
            return position
        position += 2 if line[position] == "\\" and quote == '"' else 1
    return opening
