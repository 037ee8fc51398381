"""Work that forked processes share out: every file once, what is dear first, and nothing lost with a child."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from torchlift.migrate.find.sharing import Sharing, can_fork

pytestmark = pytest.mark.skipif(not can_fork(), reason="no process can be forked here")


def numbered(count: int) -> list[str]:
    return [f"f{number:03}.py" for number in range(count)]


def shared(
    work: Callable[[str], object], paths: list[str], dear: int = 0, helpers: int = 1
) -> list[tuple[str, object]]:
    return list(Sharing(work, paths, dear, helpers).results())


@pytest.mark.parametrize(("dear", "helpers"), [(0, 1), (5, 1), (40, 1), (3, 3)])
def test_every_file_is_done_once_by_whomever(dear: int, helpers: int) -> None:
    paths = numbered(40)

    def work(path: str) -> int:
        time.sleep(0.002)
        return os.getpid()

    found = shared(work, paths, dear, helpers)
    assert sorted(path for path, _ in found) == paths
    assert len({process for _, process in found}) > 1


def test_what_is_dear_is_known_to_every_child_that_needs_it() -> None:
    known: list[int] = []

    def work(path: str) -> int:
        if path.startswith("dear") and not known:
            time.sleep(0.05)
            known.append(os.getpid())
        time.sleep(0.002)
        return known[0] if known else 0

    found = dict(shared(work, [*(f"dear{number}" for number in range(30)), *numbered(5)], dear=30))
    assert {process for path, process in found.items() if path.startswith("dear")} == {os.getpid()}


def test_a_child_that_is_killed_costs_time_and_no_result() -> None:
    me = os.getpid()

    def work(path: str) -> str:
        time.sleep(0.002)
        if os.getpid() != me and path == "f018.py":
            os._exit(9)
        return path

    found = shared(work, numbered(20))
    assert sorted(found) == [(path, path) for path in numbered(20)]


def test_what_goes_wrong_in_this_process_ends_its_children() -> None:
    me = os.getpid()

    def work(path: str) -> None:
        if os.getpid() == me:
            raise ZeroDivisionError
        time.sleep(60)

    sharing = Sharing(work, numbered(10), 0, 1)
    with pytest.raises(ZeroDivisionError):
        list(sharing.results())
    (child, _), *_ = sharing._children
    child.join(10)
    assert child.exitcode not in {None, 0}


_ENDS_AT_ONCE = """
import os, sys, time
from torchlift.migrate.find.sharing import Sharing

me = os.getpid()

def work(path):
    if os.getpid() != me:
        with open(sys.argv[1], "a") as file:
            file.write(f"{os.getpid()}\\n")
        time.sleep(0.05)
    else:
        while not os.path.exists(sys.argv[1]):
            time.sleep(0.01)
        os._exit(0)

list(Sharing(work, [str(number) for number in range(10_000)], 0, 1).results())
"""


def test_a_child_whose_parent_has_gone_goes_on_with_nothing(tmp_path: Path) -> None:
    noted = tmp_path / "noted"
    subprocess.run([sys.executable, "-c", _ENDS_AT_ONCE, str(noted)], check=True, capture_output=True, timeout=60)
    time.sleep(1)
    before = noted.read_text()
    time.sleep(0.5)
    assert noted.read_text() == before
