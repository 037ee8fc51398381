"""Ignore files of a folder that nobody has looked at."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from torchlift.migrate.workspace.gitignore import IgnoreFiles, without_retries

PIECES = ["a", "b", "a/", "/", "**/", "/**/", "*", "*", "?", "[ab]", "[!a]", ".", "-", "\\*", "[]a]", "(", "+"]


def ignored(folder: Path, lines: str, path: str) -> bool:
    (folder / ".gitignore").write_text(lines)
    files = IgnoreFiles(str(folder))
    files.read(str(folder))
    return files.ignored(str(folder / path), is_folder=False)


@given(
    line=st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map("".join),
    path=st.lists(st.text("aab.-*(]", min_size=1, max_size=4), min_size=1, max_size=5).map("/".join),
)
def test_a_line_means_the_same_without_retries(line: str, path: str) -> None:
    try:
        patterns = GitIgnoreSpec.from_lines([line]).patterns
    except ValueError:
        return
    for pattern in patterns:
        if isinstance(pattern.regex, re.Pattern):  # type: ignore[attr-defined]
            # pathspec lets `[!a]` take a slash, git does not.
            plain = re.sub(r"(\\.)|\[\^(?!/)", lambda found: found[1] or "[^/", pattern.regex.pattern)  # type: ignore[attr-defined]
            before, after = (re.match(one, path) for one in (plain, without_retries(pattern.regex.pattern)))  # type: ignore[attr-defined]
            assert bool(before) == bool(after)
            assert before is None or after is None or before.groupdict().get("ps_d") == after.groupdict().get("ps_d")


@pytest.mark.parametrize("line", ["*a*a*a*a*a*a*a*b", "**/a/" * 20 + "b*c", "a/**/" * 20 + "c", "*[ab]" * 20 + "c"])
def test_a_hostile_line_is_answered(tmp_path: Path, line: str) -> None:
    assert not ignored(tmp_path, f"{line}\n", "a" * 255)
    assert not ignored(tmp_path, f"{line}\n", "a/" * 1500 + "a" * 255)


def test_stars_still_ignore(tmp_path: Path) -> None:
    assert ignored(tmp_path, "*_a*_b*.py\n", "d/x_a_a_b_c.py")
    assert ignored(tmp_path, "**/gen/**/out*/**/x.py\n", "p/gen/q/out1/r/s/x.py")
    assert not ignored(tmp_path, "**/gen/**/out*/**/x.py\n", "p/gens/q/out1/r/s/x.py")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".gitignore")
    files = IgnoreFiles(str(tmp_path))
    files.read(str(tmp_path))
    assert not files.ignored(str(tmp_path / "a.py"), is_folder=False)
