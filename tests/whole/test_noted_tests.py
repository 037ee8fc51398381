"""Results of tests that are noted: whatever such a test depends on makes it run again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import noted_tests
import pytest

TEST = "tests/testing/test_programs.py"
FILES = {
    TEST: "import helper\nfrom torchlift.testing import runs\n",
    "tests/conftest.py": "",
    "tests/support/helper.py": "def late():\n    from torchlift.record import spool\n",
    "testing/__init__.py": "",
    "testing/runs.py": "from . import ranks\n",
    "testing/ranks.py": "from torchlift.versions import (\n    parsed,\n)\n",
    "testing/started.py": "import torchlift.evidence.records\n",
    "record/__init__.py": "",
    "record/spool.py": "",
    "record/sizes.json": "{}",
    "src/torchlift/__init__.py": "",
    "src/torchlift/versions.py": "",
    "src/torchlift/evidence/__init__.py": "",
    "src/torchlift/evidence/records.py": "",
    "docs/testing.md": "",
}
OTHERS = {"record/prover.py": "", "src/torchlift/source.py": "", "migrate/run.py": "", "docs/rules.md": ""}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A checkout where one file of tests is noted that imports some of the rest and whose commands run all of `testing/`."""
    for name, text in {**FILES, **OTHERS}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "fixtures").mkdir()
    monkeypatch.setattr(noted_tests, "ROOT", tmp_path)
    monkeypatch.setattr(noted_tests, "NOTED", tmp_path / "fixtures/noted_tests.tsv")
    monkeypatch.setattr(noted_tests, "BESIDE", {"tests/testing/": ("testing", "docs/testing.md")})
    noted_tests.note([tmp_path / TEST])
    yield tmp_path
    _forget()


def _forget() -> None:
    for known in (noted_tests._imported, noted_tests._contents, noted_tests._data_beside):
        known.cache_clear()


@pytest.mark.parametrize("name", FILES)
def test_a_change_of_anything_that_a_test_imports_reads_or_runs_makes_it_run(name: str, repository: Path) -> None:
    assert noted_tests.unchanged() == [repository / TEST]
    (repository / name).write_text(f"{FILES[name]}\n")
    _forget()
    assert noted_tests.unchanged() == []


@pytest.mark.parametrize("name", OTHERS)
def test_a_change_of_something_else_does_not(name: str, repository: Path) -> None:
    (repository / name).write_text("x = 1\n")
    _forget()
    assert noted_tests.unchanged() == [repository / TEST]


def test_a_test_that_has_not_passed_is_not_noted(repository: Path) -> None:
    (repository / TEST).write_text("import helper\n")
    _forget()
    noted_tests.note([])
    assert noted_tests.NOTED.read_text() == ""


def test_each_place_that_is_named_is_there() -> None:
    for tests, places in noted_tests.BESIDE.items():
        assert [path for path in noted_tests.files() if noted_tests._name(path).startswith(tests)], tests
        assert [place for place in places if not (noted_tests.ROOT / place).exists()] == []
