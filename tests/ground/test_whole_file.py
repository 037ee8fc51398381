"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from torchlift.whole_file import write_whole


@pytest.mark.skipif(os.name == "nt", reason="there are no permissions of this kind")
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_a_file_that_is_there_keeps_its_permissions(mode: int, tmp_path: Path) -> None:
    file = tmp_path / "report"
    file.write_bytes(b"old")
    file.chmod(mode)
    write_whole(file, b"new")
    assert (file.read_bytes(), file.stat().st_mode & 0o7777) == (b"new", mode)


@pytest.mark.skipif(os.name == "nt", reason="there are no permissions of this kind")
def test_a_new_file_may_be_read_by_those_who_may_read_others(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "made" / "report", b"new")
    finally:
        assert os.umask(before) == 0o027
    assert (tmp_path / "made" / "report").stat().st_mode & 0o7777 == 0o640
