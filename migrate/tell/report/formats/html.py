"""One page for a browser: what breaks, what is automatic, where, and each finding with its change. No scripts, nothing from elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import unified_diff
from itertools import groupby

from torchlift import __version__
from torchlift.finding import Safety, Severity
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.tell.report.formats.listing import ListedFinding, Trouble
from torchlift.migrate.tell.report.harm import Harm
from torchlift.page import effort
from torchlift.page.filters import all_of, filters, hiding, mark
from torchlift.page.frame import link, page, section
from torchlift.page.markup import Child, Markup, element, joined, sentence, table
from torchlift.rules.rule_index import indexed_rules
from torchlift.terminal.columns import one_line

_FIXES = {
    Safety.SAFE: "safe",
    Safety.PROVEN: "proven",
    Safety.UNSAFE: "to review",
    Safety.MANUAL: "by hand",
}
_LEVELS = {Severity.ERROR: "problem", Severity.WARNING: "warning", Severity.INFO: "note"}
_LONGEST_CHANGE = 60
"""Lines of a change that are shown."""

_CSS = """
.found { border-top: 1px solid var(--line); padding: .6rem 0; } .found h3 { font-weight: 500; }
del, ins { display: block; text-decoration: none; } del { color: var(--problem); } ins { color: var(--ok); }
"""


@dataclass(frozen=True)
class RunHead:
    """What stands at the top of the page.

    Attributes:
        verdict: what the run comes to, in a sentence.
        clean: whether nothing is left.
        facts: names with values: target, lowest torch, files.
        notes: sentences about the whole run.
        harms: the kinds of harm in words, the worst first.
    """

    verdict: str
    clean: bool
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    harms: Mapping[Harm, str]


def render(entries: Sequence[ListedFinding], troubles: Sequence[Trouble], head: RunHead) -> str:
    """The whole page."""
    facts = [part for name, value in head.facts for part in (element("dt", name), element("dd", value))]
    status = "problem" if troubles else "ok" if head.clean else "warning"
    foot = f"torchlift {__version__}"
    body = list(_body(entries, troubles, head))
    return page("torchlift migrate", head.verdict, status, element("dl", *facts), body, foot=foot, css=_css(entries))


def _body(entries: Sequence[ListedFinding], troubles: Sequence[Trouble], head: RunHead) -> Iterator[Child]:
    if troubles:
        items = [element("li", element("code", one_line(trouble.path)), f": {trouble.text}") for trouble in troubles]
        yield section("troubles", "What could not be done", element("ul", *items))
    if head.notes:
        yield section(
            "notes",
            "To decide, and worth knowing",
            element("ul", *(element("li", sentence(note)) for note in head.notes)),
        )
    if not entries:
        return
    harms = list(head.harms.values())
    harm = _counted(entries, "kind of harm", lambda entry: head.harms[entry.harm], by_name=harms.index)
    yield section("harm", "What harm", harm)
    if breaks := [(number, entry) for number, entry in enumerate(entries) if entry.harm is Harm.BREAKS]:
        yield section("breaks", "Where it cannot work", _places(breaks))
    yield section("effort", "What it takes", _effort(entries))
    yield section("rules", "By rule", _by_rule(entries, head.harms))
    yield section("folders", "By folder", _by_folder(entries))
    releases = _counted(entries, "release of torch", _release, by_name=_in_order)
    yield section("releases", "What changed when", releases)
    files = [list(found) for _, found in groupby(enumerate(entries), key=lambda entry: entry[1].path)]
    yield section(
        "findings", "Findings", _filters(entries, head.harms), *(_file(found, len(entries) <= 50) for found in files)
    )


def _places(found: Sequence[tuple[int, ListedFinding]]) -> Markup:
    """Each place with a link to what is said of it below; many of one rule in one file take one row."""
    rows: dict[tuple[str, str], list[tuple[int, ListedFinding]]] = {}
    for number, entry in found:
        rows.setdefault((entry.path, entry.code), []).append((number, entry))
    body = []
    for (path, _), here in rows.items():
        lines = joined([element("a", entry.line, href=f"#f{number}") for number, entry in here], ", ")
        said = list(dict.fromkeys(entry.message for _, entry in here))
        more = f" (and {len(said) - 1} more)" if len(said) > 1 else ""
        body.append((element("code", one_line(path)), lines, sentence(said[0] + more)))
    return table("Places that cannot work", ("file", "lines", "why"), body)


def _by_folder(entries: Sequence[ListedFinding]) -> Markup:
    groups: dict[str, list[ListedFinding]] = {}
    for entry in entries:
        groups.setdefault(_folder(entry.path), []).append(entry)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    rows = []
    for name, found in ordered:
        breaks = sum(entry.harm is Harm.BREAKS for entry in found)
        rows.append((name, element("span", str(breaks or ""), class_="number"), *_numbers(found)))
    return table("Findings of each folder", ("folder", "cannot work", "findings", "what it takes", "share"), rows)


def _effort(entries: Sequence[ListedFinding]) -> Markup:
    counts = Counter(entry.safety for entry in entries)
    named = [f"{counts[safety]} {word}" for safety, word in _FIXES.items() if counts[safety]]
    waits = sum(entry.waits for entry in entries)
    tail = f", of which {waits} wait for another place or an answer and may be automatic then" if waits else ""
    return joined([_bar(entries), element("p", f"{', '.join(named)}{tail}.")])


def _counted(
    entries: Sequence[ListedFinding],
    what: str,
    key: Callable[[ListedFinding], str],
    by_name: Callable[[str], object] | None = None,
) -> Markup:
    groups: dict[str, list[ListedFinding]] = {}
    for entry in entries:
        groups.setdefault(key(entry), []).append(entry)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    if by_name is not None:
        ordered.sort(key=lambda group: by_name(group[0]))  # type: ignore[arg-type, return-value]
    rows = [(name, *_numbers(found)) for name, found in ordered]
    return table(f"Findings of each {what}", (what, "findings", "what it takes", "share"), rows)


def _by_rule(entries: Sequence[ListedFinding], harms: Mapping[Harm, str]) -> Markup:
    """A row for each rule and kind of harm, the worst and the most frequent first."""
    groups: dict[tuple[Harm, str], list[ListedFinding]] = {}
    for entry in entries:
        groups.setdefault((entry.harm, entry.code), []).append(entry)
    order = list(harms)
    ordered = sorted(groups.items(), key=lambda group: (order.index(group[0][0]), -len(group[1]), group[0][1]))
    rows = [(_rule(found[0]), harms[harm], *_numbers(found)) for (harm, _), found in ordered]
    return table("Findings of each rule", ("rule", "kind of harm", "findings", "what it takes", "share"), rows)


def _rule(entry: ListedFinding) -> Child:
    title = f"{entry.code} {entry.name}"
    named = link(entry.url, title) if entry.url else title
    rule = indexed_rules().get(entry.code)
    return named if rule is None else joined([named, element("div", sentence(rule.summary), class_="where")])


def _numbers(found: Sequence[ListedFinding]) -> tuple[Child, Child, Child]:
    counts = Counter(entry.safety for entry in found)
    kinds = ", ".join(f"{counts[safety]} {word}" for safety, word in _FIXES.items() if counts[safety])
    return element("span", str(len(found)), class_="number"), kinds, _bar(found)


def _folder(path: str) -> str:
    folder, slash, _ = one_line(path).rpartition("/")
    return "/".join(folder.split("/")[:2]) if slash else "."


def _release(entry: ListedFinding) -> str:
    return entry.release or "none named"


def _in_order(release: str) -> tuple[bool, list[int]]:
    parts = release.split(".")
    return not parts[0].isdigit(), [int(part) for part in parts if part.isdigit()]


def _bar(entries: Sequence[ListedFinding]) -> Markup:
    counts = Counter(entry.safety for entry in entries)
    safe = counts[Safety.SAFE] + counts[Safety.PROVEN]
    return effort.bar(safe, counts[Safety.UNSAFE], counts[Safety.MANUAL])


def _filters(entries: Sequence[ListedFinding], harms: Mapping[Harm, str]) -> Markup:
    kinds_of_harm = [(harm.value, words) for harm, words in harms.items() if any(e.harm is harm for e in entries)]
    kinds = [(safety.value, word) for safety, word in _FIXES.items() if any(e.safety is safety for e in entries)]
    codes = [(code, code) for code in sorted({entry.code for entry in entries})]
    folders = [(mark(folder), folder) for folder in sorted({_folder(entry.path) for entry in entries})]
    return filters(
        [
            ("Harm", kinds_of_harm),
            ("Takes", kinds),
            ("Rule", codes),
            *([("Folder", folders)] if 1 < len(folders) <= 40 else []),
        ]
    )


def _css(entries: Sequence[ListedFinding]) -> str:
    marks = [each for entry in entries for each in (entry.safety.value, entry.harm.value, entry.code, _mark(entry))]
    files = [list(found) for _, found in groupby(entries, key=lambda entry: entry.path)]
    return f"{_CSS}{effort.CSS}{hiding(marks, [each for found in files for each in _marks_within(found)])}"


def _marks_within(found: Sequence[ListedFinding]) -> list[set[str]]:
    """The marks of a file's findings, by group of boxes; of rules where there are few, since each mixture takes a line of style."""
    codes = {entry.code for entry in found}
    kinds = [{entry.harm.value for entry in found}, {entry.safety.value for entry in found}]
    return [*kinds, codes] if len(codes) <= 3 else kinds


def _mark(entry: ListedFinding) -> str:
    return mark(_folder(entry.path))


def _file(found: Sequence[tuple[int, ListedFinding]], is_open: bool) -> Markup:
    entries = [entry for _, entry in found]
    path = entries[0].path
    shown = [_finding(entry, number) for number, entry in found]
    title = element("summary", element("code", one_line(path)), f": {len(found)}")
    classes = [f"is-{_mark(entries[0])}", *map(all_of, _marks_within(entries))]
    return element("details", title, *shown, open=is_open, class_=" ".join(classes))


def _finding(entry: ListedFinding, number: int) -> Markup:
    kind = element("span", f"{entry.code} ", class_=_LEVELS[entry.severity])
    where = f"{entry.line}, {_FIXES[entry.safety]}"
    return element(
        "article",
        element("h3", kind, sentence(entry.message)),
        element("p", where, class_="where"),
        element("p", sentence(entry.advice)) if entry.advice else None,
        _change(entry) if entry.edits else _line(entry),
        id=f"f{number}",
        class_=f"found is-{entry.code} is-{entry.safety.value} is-{entry.harm.value}",
    )


def _line(entry: ListedFinding) -> Markup:
    return element("pre", element("code", entry.source.line(entry.source.location(entry.span.start)[0]).strip()))


def _change(entry: ListedFinding) -> Markup:
    """The lines that the fix changes, before and after."""
    text, edits = entry.source.text, sorted(entry.edits, key=lambda edit: (edit.span.start, edit.span.end))
    after, at = "", 0
    for edit in edits:
        after += text[at : edit.span.start] + edit.text
        at = edit.span.end
    after += text[at:]
    lines: list[Child] = []
    for line in list(unified_diff(text.splitlines(), after.splitlines(), n=1, lineterm=""))[3:]:
        if line.startswith("@@"):
            lines.append("...\n")
        else:
            tag = {"-": "del", "+": "ins"}.get(line[0])
            lines.append(element(tag, line) if tag else f"{line}\n")
    more = ["..."] if len(lines) > _LONGEST_CHANGE else []
    return element("pre", element("code", *lines[:_LONGEST_CHANGE], *more))
