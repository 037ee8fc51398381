"""Whether a file is what git has of it, told without git's help.

`git status` runs the programs that `.git/config` names as filters, and a repository that came in an archive brought its
`.git/config` along. So the file is read and hashed here, as git hashes a blob, and what git itself does between the two
(line endings, `$Id$`, another encoding) is undone. A file behind a filter cannot be judged without running it.

Sources: gitattributes(5), `convert.c` and `object-file.c` of git 2.39; read 2026-11-22.
"""

from __future__ import annotations

import hashlib
from enum import Enum, auto
from pathlib import Path

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern

ATTRIBUTES = ("text", "crlf", "eol", "ident", "working-tree-encoding", "filter")

# git takes a file for binary by its first 8000 bytes.
_LOOKED_AT = 8000
_IDENT = lazy_pattern(rb"\$Id:[^$\n]*\$")


class BlobComparison(Enum):
    """How a file stands to the blob that git has of it."""

    SAME = auto()
    OTHER = auto()
    FILTERED = auto()
    """A program that torchlift does not run stands between the two."""


@dataclass(frozen=True)
class GitConversions:
    """What git does to a file on its way into the repository.

    Attributes:
        line_endings: whether CRLF may become LF; git asks the file whether it is text.
        ident: whether `$Id: ...$` becomes `$Id$`.
        encoding: the encoding that becomes UTF-8, if the file has one.
        filtered: whether a program is run.
    """

    line_endings: bool = False
    ident: bool = False
    encoding: str | None = None
    filtered: bool = False

    @classmethod
    def of(cls, attributes: dict[str, str], *, autocrlf: bool) -> GitConversions:
        """Read what `git check-attr` said; an attribute is `set`, `unset`, `unspecified` or has a value.

        Args:
            attributes: by name, those of `ATTRIBUTES`.
            autocrlf: whether `core.autocrlf` is `true` or `input`.
        """

        def said(name: str) -> str:
            return attributes.get(name, "unspecified")

        text = said("text") if said("text") != "unspecified" else said("crlf")
        asked = text in {"set", "auto", "input"} or (text == "unspecified" and said("eol") in {"lf", "crlf"})
        encoding = said("working-tree-encoding")
        return cls(
            line_endings=asked or (text == "unspecified" and autocrlf),
            ident=said("ident") == "set",
            encoding=None if encoding in {"set", "unset", "unspecified", ""} else encoding,
            filtered=said("filter") not in {"unset", "unspecified"},
        )


def compared(path: Path, blob: str, conversions: GitConversions) -> BlobComparison:
    """Whether the file at `path` would become the blob with the hexadecimal name `blob`."""
    try:
        data = path.read_bytes()
    except OSError:
        return BlobComparison.OTHER
    if conversions.filtered:
        return BlobComparison.SAME if _name(data, blob) == blob else BlobComparison.FILTERED
    if conversions.encoding is not None:
        try:
            data = data.decode(conversions.encoding).encode("utf-8")
        except (LookupError, ValueError):
            return BlobComparison.OTHER
    if conversions.ident:
        data = _IDENT.sub(b"$Id$", data)
    # A blob that has CRLF keeps it, so the file is compared as it is first.
    same = _name(data, blob) == blob
    if not same and conversions.line_endings and b"\0" not in data[:_LOOKED_AT]:
        same = _name(data.replace(b"\r\n", b"\n"), blob) == blob
    return BlobComparison.SAME if same else BlobComparison.OTHER


def _name(data: bytes, like: str) -> str:
    """The name that git gives to a blob, in the repository's hash function: `like` has the length of its names."""
    algorithm = "sha1" if len(like) == 40 else "sha256"
    return hashlib.new(algorithm, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
