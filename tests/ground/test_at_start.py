"""Code that arrives in every Python process of a command, and does not get in anybody's way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from torchlift.at_start import with_room

ARRIVAL = """\
from .after_import import after_import

def arrive():
    print("arrived", __package__)
    after_import("stringprep", lambda module: (print("imported", __package__), 1 / 0))
"""
PROGRAM = """\
import sys
print([path for path in sys.path if "startup" in path], len(sys.meta_path))
import stringprep
print(type(stringprep.__loader__).__name__, vars(stringprep.__loader__).keys() - {"name", "path"}, len(sys.meta_path))
"""


def test_two_rooms_one_that_fails_and_the_users_own_all_have_their_turn(tmp_path: Path) -> None:
    for name, text in (("one", ARRIVAL), ("broken", "def arrive():\n    raise SystemError"), ("two", ARRIVAL)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "arrival.py").write_text(text)
    (tmp_path / "own").mkdir()
    (tmp_path / "own/sitecustomize.py").write_text("print('mine')\n")
    plain = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": ""},
    )
    paths, finders = plain.stdout.split("\n")[0].split("] ")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "own")}
    for name in ("one", "broken", "two", "two"):
        environment = with_room(environment, f"_room_{name}", str(tmp_path / name))
    assert environment["PYTHONPATH"].endswith(f"startup{os.pathsep}{tmp_path / 'own'}")
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "arrived _room_one",
        "arrived _room_two",
        "mine",
        f"{paths}] {int(finders) + 2}",
        "imported _room_one",
        "imported _room_two",
        f"SourceFileLoader set() {finders}",
    ]
