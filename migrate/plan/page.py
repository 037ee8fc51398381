"""A plan as one page for a browser: what only people can answer and what each answer unlocks, what is automatic, what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from torchlift import __version__
from torchlift.migrate.plan.questions import counted, what_it_decides
from torchlift.migrate.plan.report import Left, PlanReport, Question, Unlocked
from torchlift.migrate.plan.show import TABLE, headline
from torchlift.page import effort
from torchlift.page.filters import filters, hiding, mark
from torchlift.page.frame import page, section
from torchlift.page.markup import Child, Markup, element, joined, sentence, table

_MOST_BOXES = 40


def render(plan: PlanReport) -> str:
    """The whole page, with paths as seen from the root of the project."""
    status = "problem" if plan.failures else "warning" if plan.roots + plan.hints else "ok"
    stated = [
        (name, value)
        for name, value in (
            ("support", plan.stated.support),
            ("tests", plan.stated.tests),
            ("speed", plan.stated.speed),
        )
        if value is not None
    ]
    facts = [
        ("places", f"{counted(plan.roots, 'root')}, {counted(plan.hints, 'hint')} in {counted(plan.files, 'file')}"),
        ("have a fix today", str(plan.fixable)),
        ("go by answers", str(plan.decided)),
        *((f"{name}, stated", value) for name, value in stated),
    ]
    head = element("dl", *(part for name, value in facts for part in (element("dt", name), element("dd", value))))
    css = effort.CSS + hiding(each for row in plan.left for each in (row.code, mark(_folder(row.place))))
    return page(
        "torchlift plan", headline(plan), status, head, list(_body(plan)), foot=f"torchlift {__version__}", css=css
    )


def _body(plan: PlanReport) -> Iterator[Child]:
    if plan.failures:
        items = (element("li", sentence(failure)) for failure in plan.failures)
        yield section("troubles", "What could not be done", element("ul", *items))
    if plan.questions:
        where = element("p", "Answers go into pyproject.toml below ", element("code", TABLE), ".")
        asked = (_question(number, question) for number, question in enumerate(plan.questions, 1))
        yield section("questions", "What only you can answer", where, *asked)
    if plan.gone is not None and plan.roots + plan.hints:
        left = sum(row.findings for row in plan.left)
        yield section("effort", "What dropping support takes", _unlocked(plan.gone, left))
    yield from _tables(plan)
    if plan.left:
        yield section("left", "Left for you when support is dropped", _boxes(plan.left), _left(plan.left))


def _question(number: int, question: Question) -> Markup:
    rows = [
        (
            element("code", answer.lines[0]),
            sentence(answer.effect),
            "" if answer.gone is None else effort.bar(answer.gone.safe, answer.gone.review, 0),
        )
        for answer in question.answers
    ]
    title = element("h3", f"{number}. ", sentence(question.text))
    settles = f"It {what_it_decides(question)}."
    return element(
        "article", title, element("p", settles, class_="where"), table("Answers", ("answer", "leads to", "share"), rows)
    )


def _unlocked(gone: Unlocked, left: int) -> Markup:
    lines = f"{counted(gone.effort.files, 'file')}, +{gone.effort.added} -{gone.effort.removed} lines"
    told = f"{lines}: {gone.safe} by safe fixes, {gone.review} to review, {left} left for you."
    return joined([effort.bar(gone.safe, gone.review, left), element("p", told)])


def _tables(plan: PlanReport) -> Iterator[Child]:
    artifacts = [
        (element("code", each.name), _places(each.writers), _places(each.readers), _places(each.uploads))
        for each in plan.artifacts
    ]
    readers = [(element("code", each.place), each.title, sentence(each.advice)) for each in plan.other_readers]
    options = [(element("code", each.name), each.place) for each in plan.options]
    tests = [
        (element("code", f"{each.folder or '.'}/"), *map(str, (each.files, each.functions, each.deleted, each.changed)))
        for each in plan.tests
    ]
    held = [
        (
            element("code", each.place) if each.place else "hints that can go by themselves",
            str(each.findings),
            str(each.files),
        )
        for each in plan.held
    ]
    for id, title, head, rows in (
        ("artifacts", "Artifacts", ("file", "written at", "read at", "uploaded at"), artifacts),
        ("readers", "Readers in other languages", ("place", "who reads", "what reads the successor"), readers),
        ("options", "Options that speak of TorchScript", ("option", "place"), options),
        (
            "tests",
            "Tests that script, trace, save or load",
            ("folder", "files", "test functions", "go", "are changed"),
            tests,
        ),
        ("held", "Hints, under the place that holds them", ("place", "findings", "files"), held),
    ):
        if rows:
            yield section(id, title, table(title, head, rows))
    seen = plan.evidence
    if seen is not None:
        told = (
            f"{seen.reached} of {counted(seen.known, 'known place')} reached; {counted(seen.proven, 'finding')} proven."
        )
        rows = [(element("code", place), "not reached") for place in seen.unreached]
        rows += [(element("code", place), "changed since it was recorded") for place in seen.outdated]
        more = table("Places that nothing is proven of", ("place", "why"), rows) if rows else None
        yield section("evidence", "What recorded runs say", element("p", told), more)


def _places(places: Sequence[str]) -> Markup:
    return joined((element("code", place) for place in places), ", ")


def _boxes(left: Sequence[Left]) -> Markup:
    codes = [(code, code) for code in sorted({row.code for row in left})]
    folders = [(mark(folder), folder) for folder in sorted({_folder(row.place) for row in left})]
    return filters([("Rule", codes), *([("Folder", folders)] if 1 < len(folders) <= _MOST_BOXES else [])])


def _left(left: Sequence[Left]) -> Markup:
    """The places by folder, those that hold most first."""
    folders = Counter(dict.fromkeys(sorted({_folder(row.place) for row in left}), 0))
    for row in left:
        folders[_folder(row.place)] += row.findings
    parts = []
    for folder, number in folders.most_common():
        rows = [
            element(
                "li", element("code", row.place), f" {row.code}: ", sentence(row.message),
                f" ({row.findings - 1} wait for it)" if row.findings > 1 else None, class_=f"is-{row.code}",
            )
            for row in left
            if _folder(row.place) == folder
        ]  # fmt: skip
        title = element(
            "summary", element("code", folder), f": {counted(number, 'finding')} in {counted(len(rows), 'place')}"
        )
        parts.append(element("details", title, element("ul", *rows), open=len(left) <= 50, class_=f"is-{mark(folder)}"))
    return joined(parts)


def _folder(place: str) -> str:
    path, slash, _ = place.rpartition("/")
    return "/".join(path.split("/")[:2]) if slash else "."
