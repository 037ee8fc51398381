"""Pages of the site and reports, as they are seen: in a light and a dark room, on a desk, on a phone, and on paper."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browser import Browser, why_not
from readable import brightness, hard_to_read, off_the_page

ROOT = Path(__file__).parents[2]
TORCHLIFT = (sys.executable, "-m", "torchlift")
PAGES = ("index", "torchscript", "comparison", "rules/TL101", "smokes/burn-matmul", "checks/driver-too-old")
REPORTS = ("plan", "migrate", "doctor", "survey")

pytestmark = [
    pytest.mark.xdist_group("page"),
    pytest.mark.exhaustive,
]  # `.ci/run` runs them, once it can build the site


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if reason := why_not():
        pytest.skip(reason)
    with Browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site with some pages of each kind, made as the whole one is."""
    builder = Path(sys.executable).with_name("zensical")
    if not builder.exists():
        pytest.skip("what builds the site is in the extra `docs`")
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, "scripts/site_pages.py", "--folder", folder / "all"], cwd=ROOT, check=True)
    for page in PAGES:
        (folder / "pages" / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / f"all/{page}.md", folder / f"pages/{page}.md")
    for other in ("site.css", "report.png"):
        shutil.copy(folder / "all" / other, folder / "pages" / other)
    settings = (
        (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("validation:")[0].replace("strict: true\n", "")
    )
    settings = re.sub(r"(docs_dir|site_dir): build/", r"\1: ", settings)
    (folder / "mkdocs.yml").write_text(settings, encoding="utf-8")
    subprocess.run([builder, "build"], cwd=folder, check=True, capture_output=True)
    handler = functools.partial(_Quiet, directory=str(folder / "site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing of it in the output of the tests."""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    shutil.copytree(ROOT / "fixtures/legacy_project", folder / "shapes")
    for command in (
        "plan shapes --html plan.html",
        "migrate --check shapes --unsafe-fixes --output-file html=migrate.html",
        "doctor --gpu V100 --driver 580 --html doctor.html",
        "survey shapes --database known.sqlite --html survey.html",
    ):
        done = subprocess.run([*TORCHLIFT, *command.split()], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode in {0, 1} and (folder / command.split()[-1].removeprefix("html=")).is_file(), done.stderr
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_pages_of_the_site_are_read_in_any_light_and_on_a_phone(page: str, site: str, browser: Browser) -> None:
    # One after the other in one browser: who comes back after dark is not shown what was right at noon.
    for dark in (False, True):
        for width in (1280, 390):
            browser.open(f"{site}/{'' if page == 'index' else f'{page}/'}", dark=dark, width=width)
            assert (brightness(browser) < 0.3) is dark
            assert hard_to_read(browser) == []
            assert off_the_page(browser) == []


@pytest.mark.parametrize("report", REPORTS)
def test_reports_are_read_in_any_light_and_on_a_phone(report: str, reports: Path, browser: Browser) -> None:
    for dark in (False, True):
        for width in (1280, 390):
            browser.open(reports / f"{report}.html", dark=dark, width=width)
            assert (brightness(browser) < 0.3) is dark
            assert hard_to_read(browser) == []
            assert off_the_page(browser) == []


@pytest.mark.parametrize("report", REPORTS)
def test_reports_are_printed_dark_on_white_whatever_the_screen_is(report: str, reports: Path, browser: Browser) -> None:
    browser.open(reports / f"{report}.html", dark=True, width=794, media="print")
    assert brightness(browser) == 1
    assert hard_to_read(browser) == []
    assert off_the_page(browser) == []
    assert browser.run("return getComputedStyle(document.documentElement).printColorAdjust") == "exact"


def test_what_cannot_be_read_is_found(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        '<body style="background: #fff"><p style="color: #ff6e42">a link</p><p style="color: #000">a text</p>'
        '<div style="width: 900px">wide</div><div style="overflow-x: auto"><p style="width: 950px">moved alone</p></div>'
    )
    browser.open(page, width=500)
    assert hard_to_read(browser) == ["P rgb(255, 110, 66) on 255,255,255: a link"]
    assert off_the_page(browser) == ["DIV: wide"]
