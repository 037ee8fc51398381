"""The pages of the site: one for each thing that a finding can be about, all linked with each other."""

from __future__ import annotations

import importlib.util
import json
import posixpath
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest

from torchlift.doctor.checks.registry import all_checks
from torchlift.doctor.errors.table import KNOWN
from torchlift.doctor.smoke.loading import own_smokes
from torchlift.documentation import VARIABLE, page_of
from torchlift.rules.registry import all_rules, url_of

ROOT = Path(__file__).parents[2]
SITE = "https://torchlift.example.org/docs"


@pytest.fixture(scope="module")
def site() -> ModuleType:
    found = importlib.util.spec_from_file_location("site_pages", ROOT / "scripts/site_pages.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    # Dataclasses look their module up.
    sys.modules["site_pages"] = module
    found.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def written(site: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    site.write(folder)
    return folder


@pytest.mark.parametrize("kind", ["rules", "checks", "smokes", "errors"])
def test_each_has_a_page_at_the_address_that_findings_link_to(
    kind: Literal["rules", "checks", "smokes", "errors"], written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {
        "rules": list(all_rules()),
        "checks": [check.id for check in all_checks()],
        "smokes": list(own_smokes()),
        "errors": [row.id for row in KNOWN if not row.smokes_only],
    }[kind]
    monkeypatch.setenv(VARIABLE, f"{SITE}/")
    for name in names:
        address = page_of(kind, name)
        assert address is not None
        page = written / (address.removeprefix(f"{SITE}/").rstrip("/") + ".md")
        assert page.read_text(encoding="utf-8").startswith(f"# {name}"), page
    assert len(list((written / kind).glob("*.md"))) == len(names) + 1


def test_links_lead_to_pages_and_headings_that_are_there(written: Path) -> None:
    addresses = {path.relative_to(written).as_posix() for path in written.rglob("*") if path.is_file()}
    broken = []
    for page in sorted(written.rglob("*.md")):
        text = re.sub(r"^ {0,3}(```+|~~~+).*?^ {0,3}\1\s*$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)\s:]+)\)", re.sub(r"`[^`\n]*`", "", text)):
            away = posixpath.normpath(
                posixpath.join(page.parent.relative_to(written).as_posix(), target.partition("#")[0])
            )
            if not target.startswith("#") and away not in addresses:
                broken.append(f"{page.name}: {target}")
    assert broken == []


def test_links_of_pages_that_moved_are_told_from_where_they_stand_now(site: ModuleType) -> None:
    text = "[a](docs/rules.md#tl101-torchscript-trace) [b](docs/wheels.md) [c](setup.py) `[d](docs/wheels.md)`"
    assert site.linked(text, "index.md", "README.md") == "[a](rules/TL101.md) [b](wheels.md) c `[d](docs/wheels.md)`"
    moved = site.linked("[b](wheels.md#pins) [c](../setup.py)", "rules/TL101.md", "docs/rules.md", "https://host/o/n")
    assert moved == "[b](../wheels.md#pins) [c](https://host/o/n/blob/HEAD/setup.py)"


def test_code_keeps_what_looks_like_a_link(site: ModuleType) -> None:
    block = "```md\n[b](docs/wheels.md)\n```"
    assert site.linked(block, "rules/TL101.md", "README.md") == block


def test_findings_link_to_their_sources_where_nobody_published_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = all_rules()["TL101"]
    monkeypatch.delenv(VARIABLE, raising=False)
    assert (url_of(rule) or "").startswith("https://docs.pytorch.org/")
    monkeypatch.setenv(VARIABLE, "nowhere")
    assert (url_of(rule) or "").startswith("https://docs.pytorch.org/")
    monkeypatch.setenv(VARIABLE, SITE)
    assert url_of(rule) == f"{SITE}/rules/TL101/"


def test_an_explained_error_and_its_checks_link_to_their_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, SITE)
    text = "RuntimeError: CUDA error: no kernel image is available for execution on the device"
    command = [sys.executable, "-m", "torchlift", "doctor", "--gpu", "V100", "--explain-error", text, "--json"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert told["first"]["url"] == f"{SITE}/errors/{told['first']['id']}/"
    assert all(result["url"] == f"{SITE}/checks/{result['check']}/" for result in told["results"])
