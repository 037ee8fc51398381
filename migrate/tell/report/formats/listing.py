"""What every exchange format lists: places with a level and words, named as seen from the working directory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from torchlift.finding import Safety, Severity, TextEdit
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.result import RunResult
from torchlift.migrate.tell.identity import identities
from torchlift.migrate.tell.report.harm import Harm, harm_of
from torchlift.migrate.tell.report.items import Item, left
from torchlift.migrate.tell.report.paths import from_here, with_places
from torchlift.rules.named_release import release_of
from torchlift.source import SourceText, Span
from torchlift.terminal.columns import one_line


@dataclass(frozen=True)
class Region:
    """A range of lines and columns.

    Attributes:
        row: first line; lines end at LF, CRLF and lone CR.
        column: its first column, in code points.
        end_row: last line.
        end_column: the column behind the last character.
    """

    row: int
    column: int
    end_row: int
    end_column: int


@dataclass(frozen=True)
class ListedFinding:
    """A finding that is left.

    Attributes:
        code: code of the rule.
        name: its name; the code where it has none.
        url: where it is explained, if anywhere.
        severity: how much it matters at the target release.
        harm: what it means for whoever moves there.
        path: the file as seen from the working directory, with forward slashes.
        uri: the same as a relative URI.
        place: where in it.
        line: the same for people: `line 7`, or `cell 3, line 2` of a notebook, whose `place` is in its JSON.
        message: what is wrong.
        advice: what to do about it, a sentence or several; may be empty.
        identity: what stays the same when lines move.
        source: the text that places refer to.
        span: `place`, in characters of that text.
        safety: how far its fix can be trusted.
        edits: its fix as replacements in `source`, where they are known and are the whole fix.
        title: what the fix does; empty without one.
        waits: whether something else has to change first.
        release: the release of torch that removed, changed or deprecated what it is about, if it names one.
    """

    code: str
    name: str
    url: str | None
    severity: Severity
    harm: Harm
    path: str
    uri: str
    place: Region
    line: str
    message: str
    advice: str
    identity: str
    source: SourceText
    span: Span
    safety: Safety
    edits: tuple[TextEdit, ...]
    title: str
    waits: bool
    release: str | None

    @property
    def text(self) -> str:
        """Message and advice."""
        return f"{self.message} {self.advice}".rstrip()


@dataclass(frozen=True)
class Trouble:
    """Something that could not be done.

    Attributes:
        path: the file as seen from the working directory, with forward slashes.
        uri: the same as a relative URI.
        stage: what was being done.
        reason: why it was not.
    """

    path: str
    uri: str
    stage: str
    reason: str

    @property
    def text(self) -> str:
        """One sentence or several."""
        return f"{self.stage}: {self.reason}"


def listed_findings(
    result: RunResult, root: Path, names: Mapping[str, str], urls: Mapping[str, str]
) -> list[ListedFinding]:
    """The findings that are left, by file and place."""
    items = left(result)
    known = identities((item.finding, item.source) for item in items)
    return [_entry(item, identity, root, names, urls) for item, identity in zip(items, known, strict=True)]


def troubles_of(result: RunResult, root: Path) -> list[Trouble]:
    """What failed, then the files that were left as they were although there was something to write."""
    failed = {failure.path for failure in result.failures}
    found = [Trouble(*_named(root / f.path), f.stage, one_line(f.reason)) for f in result.failures]
    for outcome in result.outcomes:
        if outcome.refused is not None and outcome.path not in failed:
            found.append(Trouble(*_named(root / outcome.path), "not written", one_line(outcome.refused)))
    return found


def region_of(source: SourceText, span: Span) -> Region:
    """`span` in lines and columns."""
    return Region(*source.written(span))


def _entry(item: Item, identity: str, root: Path, names: Mapping[str, str], urls: Mapping[str, str]) -> ListedFinding:
    finding = item.finding
    said = [with_places(root, one_line(text)) for text in (finding.message, finding.help or "")]
    if finding.dropped is not None:
        said[0] += f" {one_line(finding.dropped.sentence)}"
    title = one_line(finding.fix.title) if finding.fix is not None else ""
    path, uri = _named(root / finding.path)
    row = item.source.location(item.span.start)[0]
    part = item.source.part(row)
    cell = f"cell {part.number}, " if part.number is not None else ""
    said_so = (finding.help or "").startswith("Needs review")
    review = " (needs review)" if finding.safety is Safety.UNSAFE and not said_so else ""
    return ListedFinding(
        code=finding.code,
        name=names.get(finding.code, finding.code),
        url=urls.get(finding.code),
        severity=finding.severity,
        harm=harm_of(finding),
        path=path,
        uri=uri,
        place=region_of(item.source, item.span),
        line=f"{cell}line {row - part.first + 1}",
        message=f"In {cell}line {row - part.first + 1}: {said[0]}" if cell else said[0],
        advice=" ".join(part for part in (f"{title}{review}." if title else "", said[1]) if part),
        identity=identity,
        source=item.source,
        span=item.span,
        safety=finding.safety,
        edits=item.edits if _is_whole(item) else (),
        title=title + review,
        waits=bool(finding.waits_for),
        release=release_of(finding),
    )


def _named(path: Path) -> tuple[str, str]:
    """A file as it can be printed, and as a URI; names need not be UTF-8."""
    seen = from_here(path)
    raw = os.fsencode(seen)
    return raw.decode("utf-8", "backslashreplace"), quote(raw, safe="/")


def _is_whole(item: Item) -> bool:
    """Whether the edits of the finding's own file are all that its fix does."""
    fix = item.finding.fix
    alone = all(set(group.paths) <= {item.finding.path} and group.sites <= 1 for group in item.finding.groups)
    in_json = item.source.part(1).number is not None  # where an edit of its Python is none
    return fix is not None and not fix.elsewhere and alone and not in_json
