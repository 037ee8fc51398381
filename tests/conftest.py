from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest


class TorchPrograms:
    """Programs run under torch in fresh processes; see `torch_zygote.py`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, folder: Path, files: Mapping[str, str], code: str) -> Any:
        """Description of `result` after running `code` in `folder`, which gets `files` first."""
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        if self._process is None:
            script = Path(__file__).with_name("torch_zygote.py")
            self._process = subprocess.Popen(
                [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            assert self._process.stdout is not None
            assert self._process.stdout.readline() == "ready\n"
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"folder": str(folder), "code": code}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "error" in answer:
            raise AssertionError(f"the program failed:\n{code}\n{answer['error']}")
        return answer["result"]

    def close(self) -> None:
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(timeout=30)
            assert self._process.stdout is not None
            self._process.stdout.close()


def same(left: Any, right: Any) -> bool:
    """Equality of two descriptions; floats may differ by rounding."""
    if isinstance(left, float) and isinstance(right, (int, float)):
        return math.isclose(left, right, rel_tol=1e-5, abs_tol=1e-6) or (math.isnan(left) and math.isnan(right))
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


@pytest.fixture(scope="session")
def torch_programs() -> Iterator[TorchPrograms]:
    programs = TorchPrograms()
    yield programs
    programs.close()
