"""A plan for people: text for a terminal, Markdown for an issue or a pull request."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from textwrap import wrap

from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.plan.questions import counted, go, what_it_decides
from torchlift.migrate.plan.report import Left, PlanReport, Unlocked
from torchlift.migrate.tell.report.palette import Palette
from torchlift.migrate.tell.report.paths import shown_path, with_places
from torchlift.terminal.columns import one_line

_MOST_ROWS = 12
# Rows of a section, most first: the first number with which a plan fits two screens counts.
_FEWER_ROWS = (_MOST_ROWS, 8, 6, 4, 3, 2)
_LEAST_QUESTIONS = 4
_MOST_PLACES = 6
_WIDTH = 98
_TWO_SCREENS = 100  # lines
_INDENT = " " * 8
_LISTS = "`--output-format json` lists"
TABLE = "[tool.torchlift.torchscript]"


@dataclass(frozen=True)
class _Section:
    """A heading and the rows below it."""

    title: str
    rows: tuple[str, ...]


def text(plan: PlanReport, root: Path, *, color: bool = False, verbose: bool = False) -> str:
    """The plan for a terminal, with paths as seen from the working directory.

    Args:
        plan: the plan.
        root: the project.
        color: whether to add terminal colours.
        verbose: whether every row is shown; else as many as fit two screens of 50 lines.
    """
    palette = Palette(color)
    if verbose:
        return _text(plan, root, palette, None)
    shown = ""
    for most in _FEWER_ROWS:
        shown = _text(plan, root, palette, most)
        if shown.count("\n") <= _TWO_SCREENS:
            break
    return shown


def _text(plan: PlanReport, root: Path, palette: Palette, most: int | None) -> str:
    """The plan for a terminal, with at most so many rows of a section."""
    lines = [*map(palette.strong, wrap(headline(plan), _WIDTH)), ""]
    asked = plan.questions if most is None else plan.questions[: max(most, _LEAST_QUESTIONS)]
    for number, question in enumerate(asked, 1):
        first = f" {number}. {with_places(root, question.text)}  {what_it_decides(question)}"
        lines += map(palette.pending, wrap(first, _WIDTH, subsequent_indent="    "))
        for answer in question.answers:
            said, *more = wrap(f"{answer.lines[0]}: {answer.effect}", _WIDTH - 4, subsequent_indent="    ")
            lines.append("    " + said.replace(answer.lines[0], palette.fixable(answer.lines[0]), 1))
            lines += (f"    {line}" for line in more)
    if len(plan.questions) > len(asked):
        lines.append(f"    and {len(plan.questions) - len(asked)} more questions, which `--verbose` shows")
    if plan.questions:
        where = f"Answers go into pyproject.toml below {TABLE}; `torchlift plan --ask` asks and writes them."
        lines += ["", *wrap(where, _WIDTH), ""]
    for section in _sections(plan, lambda place: _seen(root, place), most, "`--verbose` shows"):
        lines.append(palette.strong(section.title))
        for row in section.rows:
            lines += wrap(f"  {row}", _WIDTH, subsequent_indent=_INDENT, break_long_words=False, break_on_hyphens=False)
        lines.append("")
    return "\n".join(line.rstrip() for line in lines).rstrip("\n") + "\n"


def markdown(plan: PlanReport) -> str:
    """The plan as Markdown, with paths as seen from the root of the project."""
    lines = [f"## {headline(plan)}", ""]
    for number, question in enumerate(plan.questions, 1):
        lines.append(f"{number}. **{question.text}** ({what_it_decides(question)})")
        lines += [f"   - `{answer.lines[0]}`: {answer.effect}" for answer in question.answers]
    if plan.questions:
        example = [question.answers[0].lines[0] for question in plan.questions if question.about != "artifact"]
        if example:
            lines += ["", "In `pyproject.toml`, for example:", "", "```toml", TABLE, *example, "```"]
        lines.append("")
    for section in _sections(plan, lambda place: f"`{place}`" if place else place, _MOST_ROWS, _LISTS):
        lines += [f"### {section.title}", "", *(f"- {row.strip()}" for row in section.rows), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def headline(plan: PlanReport) -> str:
    """The verdict in a sentence."""
    name = Path(plan.root).resolve().name
    number = plan.roots + plan.hints
    if not number:
        if plan.failures:
            return f"TorchScript in {name}: none was found, but not everything could be read."
        return f"TorchScript in {name}: none, so there is nothing to plan."
    what = f"TorchScript in {name}: {counted(plan.roots, 'root')} and {counted(plan.hints, 'hint')}"
    what += f" in {counted(plan.files, 'file')}"
    if plan.stated.support == "keep":
        return f'{what}, which stay: the configuration says support = "keep".'
    asked = len(plan.questions)
    have = "has" if plan.fixable == 1 else "have"
    today = f"{plan.fixable} {have} a fix today, " if plan.fixable else ""
    if not asked:
        stated = f"{plan.decided} more go by what the configuration says, " if plan.stated.support == "drop" else ""
        return f"{what}; {today}{stated}and there is nothing to ask."
    if not plan.decided:
        return f"{what}; {today}{counted(asked, 'answer')} of yours {'says' if asked == 1 else 'say'} which."
    verb = "answer decides" if asked == 1 else "answers decide"
    return f"{what}; {today}{asked} {verb} {plan.decided}{' more' if today else f' of {number}'}."


def _seen(root: Path, place: str) -> str:
    path, colon, line = place.rpartition(":")
    return f"{shown_path(root, path)}{colon}{line}" if path else place


def _sections(plan: PlanReport, place: Callable[[str], str], most: int | None, where: str) -> list[_Section]:
    """What a plan says below its questions.

    Args:
        plan: the plan.
        place: how a place is written.
        most: how many rows of a section are told; None for all.
        where: the end of a sentence about the others: what shows them.
    """
    sections = [
        _Section("Artifacts, with who writes and reads them", _artifacts(plan, place)),
        _Section("Readers in other languages", _other_readers(plan, place)),
        _Section("Options that speak of TorchScript", tuple(f"{place(o.place)}  {o.name}" for o in plan.options)),
        _Section("Tests that script, trace, save or load", _tests(plan)),
        _Section("What recorded runs say", _evidence(plan, place)),
        _Section("Hints, under the place that holds them", _held(plan, place)),
        _Section("Left for you when support is dropped", _left(plan, place)),
    ]
    if plan.gone is not None and plan.roots + plan.hints:
        sections.append(_Section("Effort of dropping support", (_effort(plan, plan.gone),)))
    sections.append(_Section("Could not be done", plan.failures))
    return [_Section(section.title, _cut(section, most, where)) for section in sections if section.rows]


def _cut(section: _Section, most: int | None, where: str) -> tuple[str, ...]:
    rows = section.rows
    if most is None or len(rows) <= most + 1:
        return rows
    return (*rows[:most], f"and {len(rows) - most} more, which {where}")


def _artifacts(plan: PlanReport, place: Callable[[str], str]) -> tuple[str, ...]:
    rows = []
    for artifact in plan.artifacts:
        ends = []
        for verb, places in (
            ("written at", artifact.writers),
            ("read at", artifact.readers),
            ("uploaded at", artifact.uploads),
        ):
            if places:
                ends.append(f"{verb} {', '.join(map(place, places))}")
        rows.append(f"{artifact.name}: {'; '.join(ends)}")
    return tuple(rows)


def _other_readers(plan: PlanReport, place: Callable[[str], str]) -> tuple[str, ...]:
    places: dict[tuple[str, str], list[str]] = {}
    for reader in plan.other_readers:
        places.setdefault((reader.title, reader.advice), []).append(place(reader.place))
    return tuple(f"{title} at {', '.join(found)}: {advice}" for (title, advice), found in places.items())


def _tests(plan: PlanReport) -> tuple[str, ...]:
    rows = []
    for row in plan.tests:
        what = counted(row.functions, "test function") if row.functions else "no test function, but helpers,"
        what += f" in {counted(row.files, 'file')} of {row.folder or '.'}/"
        if plan.gone is not None and row.functions:
            what += f": without TorchScript {row.deleted} {go(row.deleted)}, {row.changed} {go(row.changed)} on changed"
        rows.append(what)
    return tuple(rows)


def _evidence(plan: PlanReport, place: Callable[[str], str]) -> tuple[str, ...]:
    seen = plan.evidence
    if seen is None:
        return ()
    proven = f"{counted(seen.proven, 'finding')} {'has' if seen.proven == 1 else 'have'} a fix that is proven"
    rows = [
        f"{seen.reached} of {counted(seen.known, 'known place')} {'was' if seen.reached == 1 else 'were'} reached; {proven}"
    ]
    for what, places in (("not reached", seen.unreached), ("changed since it was recorded", seen.outdated)):
        if places:
            rows.append(f"{what}: {', '.join(map(place, places))}")
    return tuple(rows)


def _held(plan: PlanReport, place: Callable[[str], str]) -> tuple[str, ...]:
    width = len(str(max((row.findings for row in plan.held), default=0)))
    return tuple(
        f"{row.findings:>{width}}  {place(row.place) if row.place else 'hints that can go by themselves'}"
        f" (in {counted(row.files, 'file')})"
        for row in plan.held
    )


def _left(plan: PlanReport, place: Callable[[str], str]) -> tuple[str, ...]:
    """What is left by what is said about it, with its places; those that hold most come first."""
    groups: dict[tuple[str, str], list[Left]] = {}
    for row in plan.left:
        groups.setdefault((row.code, _short(row.message)), []).append(row)
    numbers = {key: sum(row.findings for row in rows) for key, rows in groups.items()}
    width = len(str(max(numbers.values(), default=0)))
    shown = []
    for key in sorted(groups, key=lambda key: (-numbers[key], key)):
        places = [place(row.place) + _held_there(row) for row in groups[key]]
        more = f", and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES + 1 else ""
        listed = ", ".join(places if not more else places[:_MOST_PLACES]) + more
        shown.append(f"{numbers[key]:>{width}}  {' '.join(key).strip()} {listed}")
    return tuple(shown)


def _held_there(row: Left) -> str:
    return f" (and {row.findings - 1} that wait for it)" if row.findings > 1 else ""


def _short(message: str) -> str:
    """The first sentence of a message, or what it begins with."""
    return re.split(r"(?<=[^.])[.;:](?: |$)", one_line(message), maxsplit=1)[0] + ":"


def _effort(plan: PlanReport, gone: Unlocked) -> str:
    effort = gone.effort
    left = sum(row.findings for row in plan.left)
    return (
        f"{counted(effort.files, 'file')}, +{effort.added} -{effort.removed} lines: {counted(gone.safe, 'finding')} by safe fixes, "
        f"{gone.review} by fixes to review; {left} left for you in {counted(len(plan.left), 'place')}."
    )
