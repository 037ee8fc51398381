"""`--html` and `--format markdown`: what is wrong comes first, nothing hostile gets through, a real browser shows it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, why_not
from commands import told
from doctor_machines import MACHINES, healthy
from html_page import ALLOWED, Page

from torchlift.doctor.checks.registry import all_checks
from torchlift.doctor.diagnose import diagnose
from torchlift.doctor.examination import Examination
from torchlift.doctor.facts import Facts, XidError
from torchlift.doctor.fleet import markdown as fleet_markdown
from torchlift.doctor.fleet import page as fleet_page
from torchlift.doctor.fleet.exchange import Collective
from torchlift.doctor.fleet.fleet import Fleet, fleet_of
from torchlift.doctor.fleet.record import Record
from torchlift.doctor.fleet.redact import redacted as redacted_fleet
from torchlift.doctor.report import markdown
from torchlift.doctor.report.page import machine
from torchlift.doctor.report.rates import Rate, pairs_of, rates_of, shown
from torchlift.doctor.report.redact import redacted
from torchlift.doctor.report.verdict import verdict
from torchlift.doctor.smoke.parent.outcome import SmokeResult
from torchlift.doctor.smoke.parent.report import SmokeReport
from torchlift.json_records.writing import plain
from torchlift.page.look import CSS
from torchlift.page.markup import element

pytestmark = pytest.mark.xdist_group("page")

HOSTILE = '"><script>document.title="owned"</script><img src=x onerror="document.title=1">\u202e`|@all #1 </style>'


def _smokes(slow: bool = False, name: str = "NVIDIA H100 80GB HBM3") -> SmokeReport:
    report = SmokeReport("burn", "/usr/bin/python3", torch="2.15.0+cu132")
    for index in range(8):
        device = f"cuda:{index}"
        report.devices[device] = name
        factor = 0.1 if slow and index == 5 else 0.75
        rates = {"bf16": {"rate": 989e12 * factor, "unit": "FLOP/s", "full": 989e12}}
        result = SmokeResult("burn-matmul", device, "burn", "Products", "pass", seconds=60.0, details={"rates": rates})
        if factor < 0.2:
            result.outcome, result.reason, result.remedy = (
                "fail",
                "bf16 runs at 10% of its datasheet",
                "Look at its power",
            )
        report.results.append(result)
        link = {"host to device": {"rate": (40 + index) * 1e9, "unit": "B/s"}}
        report.results.append(
            SmokeResult("burn-pcie", device, "burn", "PCIe", "pass", seconds=9.0, details={"rates": link})
        )
    pairs = [{"source": a, "target": b, "rate": 380e9, "direct": a != 3} for a in range(8) for b in range(8) if a != b]
    report.results.append(SmokeResult("burn-peers", "cuda:0", "burn", "Pairs", "pass", details={"pairs": pairs}))
    return report


def _examined(facts: Facts, smokes: SmokeReport | None = None) -> Examination:
    return Examination(facts, diagnose(facts, all_checks()), smokes=smokes)


def _ill(name: str = "") -> Examination:
    facts = healthy("healthy_8xh100")
    facts.gpus[2].remapping_failed = True
    facts.kernel_log.source = "/dev/kmsg"
    facts.kernel_log.xids.append(XidError(79, "0000:ff:00.0", name or "GPU has fallen off the bus."))
    if name:
        facts.gpus[2].name = name
        facts.environment["NCCL_DEBUG"] = name
    return _examined(facts, _smokes(slow=True, name=name or "NVIDIA H100 80GB HBM3"))


def _fleet(number: int = 4, name: str = "node") -> Fleet:
    records = []
    for index in range(number):
        facts = healthy("healthy_8xh100")
        if index == 2:
            facts.nvml.driver_version = "570.10"
            facts.gpus[2].remapping_failed = True
        smokes = [plain(result) for result in _smokes(slow=index == 2).results]
        records.append(Record(f"{name}-{index}", index, facts, smokes))
    tried = [Collective("nccl", 8 * number, 0.2, {}, bus_bandwidth=380e9)]
    return fleet_of(
        records, _examined, missing={number: f"sent a record that cannot be used: {name}"}, collectives=tried
    )


def _pages(name: str = "") -> dict[str, str]:
    fleets = {f"fleet of {size}": fleet_page.render(_fleet(size, name or "node")) for size in (4, 12)}
    return {"ill": machine.render(_ill(name)), **fleets}


@pytest.mark.parametrize("name", ["", HOSTILE], ids=["plain", "hostile"])
def test_a_page_is_whole_and_takes_nothing_from_elsewhere(name: str) -> None:
    for text in _pages(name).values():
        page = Page(text)
        assert {tag for tag, _ in page.elements} <= ALLOWED
        for tag, attributes in page.elements:
            assert not [key for key in attributes if key.startswith("on") or key in ("src", "srcset", "action")]
            if tag == "a":
                assert re.match(r"https?://|#found$", attributes["href"] or "")
        assert "url(" not in text and "@import" not in text
        assert any("default-src 'none'" in (attributes.get("content") or "") for _, attributes in page.elements)


def test_hostile_names_are_text_and_show_what_they_are() -> None:
    for text in _pages(HOSTILE).values():
        assert '<script>document.title="owned"</script>' in Page(text).text
        assert "\u202e" not in text and "\\u202e" in text


def test_headings_tables_and_names_are_there_for_those_who_do_not_see() -> None:
    for text in _pages().values():
        page = Page(text)
        ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
        assert len(ids) == len(set(ids))
        named = [attributes["aria-labelledby"] for _, attributes in page.elements if "aria-labelledby" in attributes]
        assert set(named) <= set(ids) and named
        tags = [tag for tag, _ in page.elements]
        assert tags.count("table") == tags.count("caption") > 0
        assert all("scope" in attributes for tag, attributes in page.elements if tag == "th")
        assert tags.count("h1") == tags.count("main") == 1
        assert [attributes for tag, attributes in page.elements if tag == "html"] == [{"lang": "en"}]


def _luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_has_the_contrast_that_wcag_asks_for(scheme: int) -> None:
    colors = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", CSS.split("(prefers-color-scheme: dark)")[scheme]))
    for ink in ("ink", "faint", "problem", "warning", "ok", "note"):
        for paper in ("paper", "wash", "code", "tint", "tint-warning"):
            low, high = sorted((_luminance(colors[ink]), _luminance(colors[paper])))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, paper)


def test_what_is_wrong_comes_first_and_the_worst_of_it_before_the_rest() -> None:
    text = Page(machine.render(_ill())).text.partition("What is wrong")[2]
    places = [text.index(part) for part in ("burn-matmul (fail)", "could not replace bad memory", "Xid 79", "Rates")]
    assert places == sorted(places)
    assert "Look at its power" in text


def test_a_healthy_machine_says_so() -> None:
    text = Page(machine.render(_examined(healthy("healthy_h100")))).text
    assert "Nothing that torchlift looks for." in text and "Rates" not in text


@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_has_a_page_and_a_text_for_an_issue(name: str) -> None:
    examination = _examined(healthy(name))
    Page(machine.render(examination))
    assert markdown.render(redacted(examination)).startswith("### torchlift doctor: ")


def test_a_slow_gpu_of_many_is_the_first_of_its_measure() -> None:
    text = Page(fleet_page.render(_fleet(12))).text
    assert "the slowest of 96 devices" in text
    assert text.index("node-2 cuda:5") < text.index("88 more")


def test_a_trouble_of_many_machines_stands_once() -> None:
    facts = healthy("healthy_h100")
    facts.gpus[0].remapping_failed = True
    fleet = fleet_of([Record(f"n{index}", index, facts) for index in range(3)], _examined)
    wrong = Page(fleet_page.render(fleet)).text.partition("One line a machine")[0]
    assert wrong.count("could not replace bad memory") == 1 and "On n0, n1, n2" in wrong


def test_machines_that_differ_are_set_off_in_a_table() -> None:
    page = Page(fleet_page.render(_fleet()))
    assert ("span", {"class": "other"}) in page.elements
    assert "570.10" in page.text and "node-2" in page.text


def test_an_unknown_scheme_is_no_link() -> None:
    assert "javascript" in element("p", "javascript:alert(1)")
    assert machine.element("a", "x", href='" onclick="y') == '<a href="&quot; onclick=&quot;y">x</a>'


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(745e12, "FLOP/s", "745 TFLOP/s"), (4.5e15, "FLOP/s", "4500 TFLOP/s"), (3.35e12, "B/s", "3.35 TB/s"), (25.31e9, "B/s", "25.3 GB/s"), (5.0, "B/s", "5 B/s")],
)  # fmt: skip
def test_rates_are_written_as_people_say_them(value: float, unit: str, text: str) -> None:
    assert shown(value, unit) == text


def test_rates_are_found_in_every_shape_that_smokes_give_them() -> None:
    smokes = [
        {"id": "bandwidth", "device": "cuda:0", "details": {"rate": 3e12, "datasheet": 4e12}},
        {"id": "burn-collectives", "device": "cuda:0", "details": {"rates": {"all_reduce bus bandwidth": {"rate": 1e9, "unit": "B/s"}}}},
        {"id": "alloc", "device": "cuda:0", "details": {}},
        {"id": "conv", "device": "cuda:0"},
    ]  # fmt: skip
    assert rates_of(smokes) == [
        Rate("cuda:0", "memory", 3e12, "B/s", 4e12),
        Rate("", "all_reduce bus bandwidth", 1e9, "B/s"),
    ]


@pytest.mark.parametrize(
    "details",
    [None, [], "text", {"rate": "fast"}, {"rates": 3}, {"rates": {"bf16": 1}}, {"rates": {"bf16": {"rate": float("nan")}}},
     {"rates": {"bf16": {"rate": True}}}, {"pairs": [1, {"source": "a"}, {"source": 0, "target": 1, "rate": -1}]}, {"pairs": {}}],
)  # fmt: skip
def test_results_of_another_shape_are_passed_over(details: Any) -> None:
    smokes = [{"id": "bandwidth", "device": 7, "details": details}]
    assert rates_of(smokes) == [] and pairs_of(smokes) == []
    fleet = fleet_of([Record("n", 0, healthy("healthy_h100"), smokes)], _examined)
    for each in (fleet, redacted_fleet(fleet)):
        assert "Rates" not in Page(fleet_page.render(each)).text
    assert fleet_markdown.render(fleet)


@pytest.mark.parametrize("arguments", [("--gpu", "H100", "--driver", "580"), ("--gpu", "V100", "--for", "torch==2.15")])
def test_a_plan_has_a_page_with_what_to_install(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    page = tmp_path / "plan.html"
    done = told(tmp_path, "doctor", *arguments, "--format=markdown", "--html", str(page))
    assert done.stderr == "" and "What to install" in done.stdout and "pip install" in done.stdout
    assert "What to install" in Page(page.read_text()).text


# Markdown


def _outside_code(text: str) -> str:
    text = re.sub(r"(?ms)^(`{3,}).*?^\1$", "", text)
    return re.sub(r"(`+)[^`].*?\1", "", text)


def test_nothing_in_a_text_for_an_issue_notifies_anybody_or_makes_markup() -> None:
    for text in (markdown.render(_ill(HOSTILE)), fleet_markdown.render(_fleet(name=HOSTILE))):
        bare = _outside_code(text)
        assert (
            "@all" not in bare and "<script" not in bare and "<img" not in bare and "#1" not in bare.replace("&#1", "")
        )
        for line in bare.splitlines():
            assert not line.startswith("|") or line.count("|") == bare_columns(line), line


def bare_columns(line: str) -> int:
    """Cells are escaped: every bar left is one between cells."""
    return len(re.findall(r"(?<!\\)\|", line))


def test_a_fence_is_longer_than_any_in_what_it_holds() -> None:
    assert markdown.block("a\n````\nb")[0] == "`````"
    assert markdown.code("a `b` c") == "`` a `b` c ``"


def test_the_text_for_an_issue_has_verdict_machine_troubles_and_the_whole_report() -> None:
    text = markdown.render(redacted(_ill()))
    parts = (
        "### torchlift doctor",
        "| **GPUs** |",
        "#### What is wrong",
        "**problem**",
        "| device |",
        "<details>",
        "```text",
    )
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_the_command_writes_both_and_markdown_is_redacted(tmp_path: Path) -> None:
    facts = healthy("healthy_h100")
    facts.python.prefix = "/home/somebody-special/venv"
    file, page = tmp_path / "facts.json", tmp_path / "page.html"
    from torchlift.doctor.facts.facts_json import to_json

    file.write_text(json.dumps(to_json(facts)))
    command = [
        sys.executable,
        "-m",
        "torchlift",
        "doctor",
        "--facts",
        str(file),
        "--format",
        "markdown",
        "--html",
        str(page),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("### torchlift doctor: Healthy") and "somebody-special" not in done.stdout
    assert "Healthy" in Page(page.read_text()).text and "somebody-special" not in page.read_text()
    nowhere = subprocess.run(
        [*command[:-1], str(tmp_path / "no" / "page.html")], capture_output=True, text=True, check=False
    )
    assert nowhere.returncode == 2 and "There is no folder" in nowhere.stderr


def test_merged_machines_have_a_page_too(tmp_path: Path) -> None:
    from torchlift.doctor.facts.facts_json import to_json

    files = []
    for index in range(2):
        files.append(tmp_path / f"n{index}.json")
        files[-1].write_text(json.dumps(to_json(healthy("healthy_h100"))))
    page = tmp_path / "page.html"
    command = [
        sys.executable,
        "-m",
        "torchlift",
        "doctor",
        "merge",
        *map(str, files),
        "--html",
        str(page),
        "--format=markdown",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "machine-1" in done.stdout and "n0" not in done.stdout
    assert "machine-1" in Page(page.read_text()).text


def test_a_redacted_fleet_keeps_its_rates_and_nothing_else_of_its_smokes() -> None:
    fleet = redacted_fleet(_fleet(name="secret"))
    text = fleet_page.render(fleet)
    assert "secret" not in text and "Products in bf16" in text


def test_the_first_line_says_of_failed_smokes_whether_the_checks_found_why() -> None:
    healthy_but_slow = verdict(_examined(healthy("healthy_8xh100"), _smokes(slow=True)))
    assert "The checks themselves found no problem: " in healthy_but_slow and "Healthy" not in healthy_but_slow
    ill = verdict(replace(_ill(), smokes=_smokes(slow=True)))
    assert "The checks themselves" not in ill and "problem" in ill
    assert verdict(_examined(healthy("healthy_8xh100"), _smokes())).startswith("Healthy: ")


# A real browser, which `.ci/run` starts


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    with Browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


_WIDEST = "return [document.documentElement.scrollWidth, window.innerWidth]"
_LOOK = """
const body = getComputedStyle(document.body), fills = [...document.querySelectorAll('.fill')];
return {paper: body.backgroundColor, ink: body.color, title: document.title,
  loaded: performance.getEntriesByType('resource').length,
  bars: fills.map(fill => fill.getBoundingClientRect().width / fill.parentElement.getBoundingClientRect().width),
  seen: document.querySelector('.verdict').getBoundingClientRect().top < window.innerHeight,
  wrong: document.querySelector('.trouble').getBoundingClientRect().top < window.innerHeight};
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["", HOSTILE], ids=["plain", "hostile"])
def test_a_browser_shows_the_page_in_light_and_dark_on_wide_and_narrow_windows(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    for title, text in _pages(name).items():
        file = tmp_path / f"{title}.html"
        file.write_text(text, encoding="utf-8")
        papers: set[str] = set()
        for dark in (False, True):
            for width in (360, 1200):
                browser.open(file, dark=dark, width=width)
                scroll, window = browser.run(_WIDEST)
                assert scroll <= window, (title, width)
                look: dict[str, Any] = browser.run(_LOOK)
                papers.add(look["paper"])
                assert look["title"].startswith("torchlift doctor") and look["loaded"] == 0
                assert look["seen"] and (look["wrong"] or width < 500 or name)
        assert papers == {"rgb(255, 255, 255)", "rgb(20, 24, 28)"}
        assert not browser.complaints()


@pytest.mark.exhaustive
def test_bars_are_as_long_as_their_shares(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(machine.render(_ill()), encoding="utf-8")
    browser.open(file)
    bars = browser.run(_LOOK)["bars"]
    assert bars[:8] == pytest.approx([0.75] * 5 + [0.1] + [0.75] * 2, abs=0.01)
    assert bars[8] == pytest.approx(40 / 47, abs=0.01) and bars[15] == pytest.approx(1.0, abs=0.01)


@pytest.mark.exhaustive
def test_everything_can_be_opened_with_the_keyboard_alone(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(machine.render(_ill()), encoding="utf-8")
    browser.open(file)
    closed = browser.run("return document.querySelectorAll('details:not([open])').length")
    browser.run("document.querySelectorAll('summary').forEach(each => { each.focus(); each.click() })")
    assert closed and browser.run("return document.activeElement.tagName") == "SUMMARY"
    assert browser.run("return document.querySelectorAll('.wide').length") == browser.run(
        "return document.querySelectorAll('.wide[tabindex=\"0\"]').length"
    )
