"""Writing the result of a run: files that belong together end up all new or all old."""

from __future__ import annotations

import os
from pathlib import Path

from example_project import analyse_files
from writer_and_reader import FILES

from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.tell.apply import write_outcomes


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
