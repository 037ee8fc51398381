"""Inline suppressions: `# torchlift: ignore[TL101] reason` and `# torchlift: file-ignore[TL101] reason`.

They are the same in Python and in every other language whose comments begin with `#`; in C++ `//` takes its place.
"""

from __future__ import annotations

import io
import tokenize
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from torchlift.finding import EditComment, Finding, Fix, Safety, Severity
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.registry import selected_by
from torchlift.rules.rule import Rule
from torchlift.source import SourceText, Span
from torchlift.view.text import TextView

_PRAGMA = lazy_pattern(r"(?:#|//)\s*torchlift:\s*(?P<verb>[\w-]+)?\s*(?:\[(?P<names>[^\]]*)\])?[ \t]*(?P<reason>.*)")


@dataclass(frozen=True)
class Suppression:
    """One suppression comment.

    Attributes:
        span: the comment.
        verb: `ignore` or `file-ignore`; anything else is a mistake to report.
        names: rules it names, as written.
        reason: the text behind the names.
        reach: what a suppressed statement has a character of: a line, or the whole file.
        editable: whether a fix may take it away.
    """

    span: Span
    verb: str
    names: tuple[str, ...]
    reason: str
    reach: Span
    editable: bool = True


def _whole(source: SourceText) -> Span:
    return Span(0, len(source.text) + 1)


def _line(source: SourceText, number: int) -> Span:
    starts = source.line_starts
    return Span(starts[number - 1], starts[number] if number < len(starts) else len(source.text) + 1)


def read_suppressions(source: SourceText) -> list[Suppression]:
    """All suppression comments, in source order; none where the text cannot be tokenised."""
    if "torchlift:" not in source.text:
        return []
    found = []
    pending: list[Suppression] = []
    code_on_line = 0
    in_script = False
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text, newline="").readline):
            line = token.start[0]
            if token.type == tokenize.COMMENT:
                in_script = token.string.rstrip() == "# /// script" or (in_script and token.string.rstrip() != "# ///")
                match = _PRAGMA.search(token.string)
                if match:
                    start = source.line_starts[line - 1] + token.start[1]
                    span = Span(start + match.start(), start + len(token.string.rstrip("\r\n")))
                    verb = match["verb"] or ""
                    names = tuple(name.strip() for name in (match["names"] or "").split(",") if name.strip())
                    # In the TOML at the head of a script of one file (PEP 723) a comment is about its own line.
                    own_line = code_on_line != line and not (in_script and match.start() > 1)
                    reach = _line(source, line) if verb == "ignore" else _whole(source)
                    suppression = Suppression(span, verb, names, match["reason"].strip(), reach)
                    if own_line and verb == "ignore":
                        pending.append(suppression)
                    else:
                        found.append(suppression)
            elif token.type not in {
                tokenize.NL,
                tokenize.NEWLINE,
                tokenize.INDENT,
                tokenize.DEDENT,
                tokenize.ENDMARKER,
            }:
                code_on_line = token.end[0]
                found += [replace(item, reach=_line(source, line)) for item in pending]
                pending.clear()
    except (tokenize.TokenError, SyntaxError, IndexError):
        return []
    return sorted([*found, *pending], key=lambda suppression: suppression.span)


def read_text_suppressions(view: TextView) -> list[Suppression]:
    """All suppression comments of a text file, in source order; one on a line of its own is about the next line of code."""
    if "torchlift:" not in view.source.text:
        return []
    found = []
    starts = [line.start for line in view.lines]
    for comment in view.comments:
        match = _PRAGMA.search(view.source.slice(comment))
        if match is None:
            continue
        verb = match["verb"] or ""
        names = tuple(name.strip() for name in (match["names"] or "").split(",") if name.strip())
        line, _ = view.source.location(comment.start)
        first = view.source.line_starts[line - 1]
        if not view.code[first : comment.end].strip():
            following = bisect_left(starts, comment.start)
            if following < len(starts):
                code = view.lines[following]
                line, _ = view.source.location(code.start + len(code.text) - len(code.text.lstrip()))
        span = Span(comment.start + match.start(), comment.end)
        reach = _line(view.source, line) if verb == "ignore" else _whole(view.source)
        found.append(Suppression(span, verb, names, match["reason"].strip(), reach, editable=False))
    return found


def apply_suppressions(
    path: str,
    suppressions: Sequence[Suppression],
    findings: Sequence[Finding],
    rules: Mapping[str, Rule],
    active: Collection[str],
) -> tuple[list[Finding], list[Finding]]:
    """Split `findings` into kept and suppressed, adding findings about the suppressions themselves.

    Args:
        path: the file.
        suppressions: those in it, in source order.
        findings: what rules found in it.
        rules: all rules by code.
        active: codes of the rules that ran; a suppression of any other rule cannot be called unused.
    """
    if not suppressions:
        return list(findings), []
    used: dict[Suppression, set[str]] = {suppression: set() for suppression in suppressions}
    everywhere = [suppression for suppression in suppressions if suppression.verb == "file-ignore"]
    here = sorted((item for item in suppressions if item.verb == "ignore"), key=lambda item: item.reach)
    kept: list[Finding] = []
    silenced: list[Finding] = []
    for finding in findings:
        by = [
            (suppression, name)
            for suppression in (*everywhere, *_reaching(here, finding.statement or finding.span))
            for name in suppression.names
            if selected_by(rules[finding.code], name)
        ]
        for suppression, name in by:
            used[suppression].add(name)
        (silenced if by else kept).append(finding)
    for suppression in suppressions:
        about = _about(path, suppression, used[suppression], rules, active)
        kept += about if suppression.editable else [_by_hand(finding) for finding in about]
    return sorted(kept, key=Finding.sort_key), silenced


def _reaching(suppressions: Sequence[Suppression], statement: Span) -> Sequence[Suppression]:
    """Those of some lines, in order, that a statement has a character of; one without characters counts as one."""
    first = bisect_right(suppressions, statement.start, key=lambda item: item.reach.end)
    return suppressions[
        first : bisect_left(suppressions, max(statement.end, statement.start + 1), key=lambda item: item.reach.start)
    ]


def _by_hand(finding: Finding) -> Finding:
    return finding if finding.fix is None else finding.without_fix(f"{finding.fix.title} by hand.")


def _about(
    path: str, suppression: Suppression, used: set[str], rules: Mapping[str, Rule], active: Collection[str]
) -> list[Finding]:
    def finding(code: str, message: str, advice: str, fix: Fix | None = None) -> list[Finding]:
        if code not in active:
            return []
        return [Finding(code, path, suppression.span, message, Severity.INFO, advice, fix, suppression.span)]

    usage = "Write `# torchlift: ignore[TL101] reason` or `# torchlift: file-ignore[TL101] reason`."
    if suppression.verb not in {"ignore", "file-ignore"} or not suppression.names:
        return finding("TL901", "This suppression names no rule, so it has no effect.", usage)
    unknown = [name for name in suppression.names if not any(selected_by(rule, name) for rule in rules.values())]
    if unknown:
        names = ", ".join(f"`{name}`" for name in unknown)
        return finding(
            "TL901",
            f"This suppression names {names}, which is no rule that is known here.",
            "`torchlift rules` lists them; rules of the project's own are known where they were allowed.",
        )
    unused = [
        name
        for name in suppression.names
        if name not in used and all(rule.code in active for rule in rules.values() if selected_by(rule, name))
    ]
    if unused:
        rest = [name for name in suppression.names if name not in unused]
        text = f"# torchlift: {suppression.verb}[{', '.join(rest)}] {suppression.reason}".rstrip() if rest else ""
        names = ", ".join(f"`{name}`" for name in unused)
        fix = Fix(
            f"Remove {names} from the suppression" if rest else "Remove the suppression",
            Safety.SAFE,
            (EditComment(suppression.span, text),),
        )
        return finding("TL901", f"Nothing here is reported for {names}, so the suppression is unused.", "", fix)
    if not suppression.reason:
        return finding("TL903", "This suppression gives no reason.", "Say behind the brackets why the code may stay.")
    return []
