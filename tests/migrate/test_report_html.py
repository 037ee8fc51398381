"""The report as a page: whole, safe, and what it filters by is a style sheet's work."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, why_not
from html_page import ALLOWED, Page

from torchlift.finding import FileFailure, Finding, Fix, Safety, Severity, TextEdit
from torchlift.migrate.result import FileOutcome, Mode, RunResult
from torchlift.migrate.tell.report import render
from torchlift.source import SourceText, Span
from torchlift.versions import TorchVersion

pytestmark = pytest.mark.xdist_group("page")

HOSTILE = '"><script>document.title="owned"</script><img src=x onerror="document.title=1">\u202e`|</style>'
TEXT = "import torch\nx = torch.ger(a, b)\ny = torch.jit.load(p)\n"
GER = Span(TEXT.index("torch.ger"), TEXT.index("(a"))
LOAD = Span(TEXT.index("torch.jit"), TEXT.index("(p"))


def page(text: str = "Old: `ger`.", path: str = "src/a.py") -> str:
    ger = Finding("TL401", path, GER, text, Severity.WARNING, fix=Fix(text, Safety.SAFE, ()))
    load = Finding("TL103", path, LOAD, text, Severity.ERROR, text)
    other = Finding("TL103", f"{path[:-3]}/b.py", LOAD, text)
    edits = ((TextEdit(GER, "torch.outer"),), ())
    outcomes = (
        FileOutcome(path, SourceText(TEXT), (ger, load), edits=edits),
        FileOutcome(other.path, SourceText(TEXT), (other,)),
    )
    failures = (FileFailure(path, "parse", text),)
    version = TorchVersion(2, 15)
    result = RunResult(Mode.CHECK, False, version, version, None, 9, 3, outcomes, failures, notes=(text,))
    return render(result, "html", root=Path.cwd(), names={"TL401": "moved-name"}, urls={"TL401": "https://e.org/x"})


@pytest.mark.parametrize("text", ["Old: `ger`.", HOSTILE], ids=["plain", "hostile"])
def test_a_page_is_whole_and_takes_nothing_from_elsewhere(text: str) -> None:
    shown = page(text, f"{HOSTILE if text is HOSTILE else 'src'}/a.py")
    parsed = Page(shown)
    assert {tag for tag, _ in parsed.elements} <= ALLOWED
    for tag, attributes in parsed.elements:
        assert not [key for key in attributes if key.startswith("on") or key in ("src", "srcset", "action")]
        assert tag != "a" or re.match(r"https?://|#f(?:ound|\d+)$", attributes["href"] or "")
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert "url(" not in shown and "\u202e" not in shown and shown.count("</style>") == 1


def test_each_finding_stands_with_its_line_or_its_change() -> None:
    text = Page(page()).text
    assert "-x = torch.ger(a, b)+x = torch.outer(a, b)" in text
    assert "y = torch.jit.load(p)" in text
    assert "1 safe, 2 by hand." in text
    bars = [attributes["style"] for _, attributes in Page(page()).elements if "style" in attributes]
    assert bars and "width: 0.0%" not in bars


def test_a_rule_stands_in_a_row_for_each_kind_of_harm_the_worst_first() -> None:
    text = Page(page()).text
    table = text[text.index("Findings of each rule") : text.index("By folder")]
    assert table.index("cannot work with torch 2.15") < table.index("only old") and table.count("TL103 TL103") == 2
    assert "`torch.jit.load` instead" not in table and "torch.jit.load instead of torch.export.load" in table


def test_nothing_found_is_a_page_that_says_so() -> None:
    version = TorchVersion(2, 15)
    shown = render(RunResult(Mode.CHECK, False, version, version, None, 9, 3, ()), "html", root=Path.cwd())
    assert "Nothing to migrate in 9 files" in Page(shown).text and "Findings" not in Page(shown).text


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if reason := why_not():
        pytest.skip(reason)
    with Browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_unticked_boxes_hide_what_they_stand_for_in_a_real_browser(
    browser: Browser, tmp_path: Path, dark: bool
) -> None:
    (tmp_path / "report.html").write_text(page())
    browser.open(tmp_path / "report.html", dark=dark)
    seen = "return [...document.querySelectorAll('article')].filter(e => e.checkVisibility()).length"
    assert browser.run(seen) == 3
    browser.run("document.querySelector('#show-TL103').click()")
    assert browser.run(seen) == 1
    browser.run("document.querySelector('#show-safe').click()")
    assert browser.run(seen) == 0
    files = "return [...document.querySelectorAll('article')].map(e => e.closest('details')).filter(e => e.checkVisibility()).length"
    assert browser.run(files) > 0
    browser.run("document.querySelectorAll('.filters fieldset:first-of-type input').forEach(e => e.click())")
    assert browser.run(files) == 0
    assert browser.run("return document.body.scrollWidth <= innerWidth") and browser.complaints() == []
