"""Writing the result of a run: files that belong together end up all new or all old."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from example_project import analyse_files
from writer_and_reader import FILES

from torchlift.finding import Finding, Group
from torchlift.migrate.result import FileOutcome, Mode, RunResult
from torchlift.migrate.tell.apply import write_outcomes
from torchlift.source import SourceText, Span
from torchlift.versions import LATEST


def analysed(folder: Path) -> RunResult:
    return analyse_files(folder, FILES, mode=Mode.WRITE)


def test_all_files_of_a_group_are_written(tmp_path: Path) -> None:
    result = write_outcomes(analysed(tmp_path), tmp_path)
    assert result.exit_code == 0
    assert "torch.export.save" in (tmp_path / "writer.py").read_text()
    assert "torch.export.load" in (tmp_path / "reader.py").read_text()


def test_a_file_that_cannot_be_written_takes_its_group_back(tmp_path: Path) -> None:
    result = analysed(tmp_path)
    (tmp_path / "writer.py").chmod(0o444)
    done = write_outcomes(result, tmp_path)
    assert done.exit_code == 2
    assert [failure.path for failure in done.failures] == ["writer.py"]
    assert {path: (tmp_path / path).read_text() for path in FILES} == FILES
    assert {outcome.path: bool(outcome.refused) for outcome in done.outcomes} == {"reader.py": True, "writer.py": True}


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    result = analysed(tmp_path)
    (tmp_path / "reader.py").write_text("mine = 1\n")
    done = write_outcomes(result, tmp_path)
    assert done.exit_code == 2 and "changed by another program" in done.failures[0].reason
    assert (tmp_path / "reader.py").read_text() == "mine = 1\n"


def test_other_hard_links_are_named(tmp_path: Path) -> None:
    result = analysed(tmp_path)
    os.link(tmp_path / "reader.py", tmp_path / "link.py")
    done = write_outcomes(result, tmp_path)
    assert any("hard link" in note for note in done.notes)
    assert (tmp_path / "link.py").read_text() == FILES["reader.py"]


def emptied(path: str, text: str = "import torch\n") -> FileOutcome:
    return FileOutcome(path, SourceText(text), new_text="")


def applied(folder: Path, *outcomes: FileOutcome) -> RunResult:
    for outcome in outcomes:
        folder.joinpath(outcome.path).write_text(outcome.source.text)
    return RunResult(Mode.WRITE, False, LATEST, LATEST, None, 1, 1, outcomes)


def test_a_file_that_fixes_leave_without_text_is_removed(tmp_path: Path) -> None:
    done = write_outcomes(applied(tmp_path, emptied("test_script.py"), emptied("__init__.py")), tmp_path)
    assert not done.failures
    assert [path.name for path in tmp_path.iterdir()] == ["__init__.py"]


def test_a_file_that_changed_meanwhile_or_is_read_only_is_not_removed(tmp_path: Path) -> None:
    result = applied(tmp_path, emptied("a.py"), emptied("b.py"))
    (tmp_path / "a.py").write_text("mine = 1\n")
    (tmp_path / "b.py").chmod(0o444)
    done = write_outcomes(result, tmp_path)
    assert [failure.path for failure in done.failures] == ["a.py", "b.py"]
    assert (tmp_path / "a.py").read_text() == "mine = 1\n" and (tmp_path / "b.py").read_text() == "import torch\n"


def test_what_a_link_leads_to_is_not_removed(tmp_path: Path) -> None:
    result = applied(tmp_path, emptied("real.py"))
    (tmp_path / "link.py").symlink_to("real.py")
    done = write_outcomes(replace(result, outcomes=(emptied("link.py"),)), tmp_path)
    assert "symbolic link" in done.failures[0].reason and (tmp_path / "real.py").exists()


def test_a_removed_file_comes_back_when_another_of_its_group_cannot_be_written(tmp_path: Path) -> None:
    group = Group("both", ("a.py", "b.py"))
    fixed = tuple(Finding("TL102", path, Span(0, 1), "x", groups=(group,)) for path in ("a.py", "b.py"))
    outcomes = [replace(emptied(finding.path), fixed=(finding,)) for finding in fixed]
    result = applied(tmp_path, *outcomes)
    (tmp_path / "a.py").chmod(0o755)
    (tmp_path / "b.py").chmod(0o444)
    done = write_outcomes(result, tmp_path)
    assert [failure.path for failure in done.failures] == ["b.py"]
    assert (tmp_path / "a.py").read_text() == "import torch\n" and (tmp_path / "a.py").stat().st_mode & 0o777 == 0o755
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "b.py"]
