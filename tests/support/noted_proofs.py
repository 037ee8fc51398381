"""What programs and comparisons of them gave, kept in `fixtures/proofs.tsv` from one run of the tests to the next.

A line stands under a digest of all that it depends on: both programs, what is run after them, the code that runs and
judges them, and the releases of Python, torch and NumPy. So a program that changes is run, as all are with `--exhaustive` and
with `--anew`. `pytest --prove` adds what it had to run to the file.
"""

from __future__ import annotations

import ast
import hashlib
import json
import platform
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import proofs
import torch_programs
from exhaustive import is_exhaustive
from torch_programs import TorchPrograms

import torchlift.testing
from torchlift.testing import Program, ProgramComparison, Verdict
from torchlift.testing.nodes import Container, Node, Scalar

NOTED = Path(__file__).parents[2] / "fixtures" / "proofs.tsv"
_AS_NOTED = Scalar("str", "noted by an earlier run")
_DESCRIBING = Path(torch_programs.__file__).read_text(encoding="utf-8")
_LONGEST = 8000
_seen: dict[str, str] = {}


def compared(old: Program, new: Program, run: str, *, ranks: Sequence[int] = (), **more: Any) -> ProgramComparison:
    """As `proofs.compared`, or what the file says of these programs, without their results."""
    key = _key(old, new, run, ranks)
    if key in _noted() and not is_exhaustive():
        verdict, said = json.loads(_noted()[key])
        return ProgramComparison(Verdict[verdict], (), _AS_NOTED, None, _AS_NOTED, said)
    found = proofs.compared(old, new, run, ranks=ranks, **more)
    last = found.trace.rstrip().rpartition("\n")[2]  # the error; what stands above it are places of this machine
    told = ProgramComparison(found.verdict, found.differences, found.old, found.eager, found.new, last)
    said = "" if found.verdict is Verdict.SAME else str(told)
    # What failed is run again every time.
    if found.verdict is not Verdict.FAILED and "/" not in said and not _is_nothing(found.old) and not is_exhaustive():
        _seen[key] = json.dumps([found.verdict.name, said])
    return found


class NotedPrograms(TorchPrograms):
    """As `TorchPrograms`; the file answers for a program that asks for nothing but torch and what is written beside it."""

    def run(self, folder: Path, files: Mapping[str, str], code: str) -> Any:
        """Description of `result`; see `TorchPrograms.run`."""
        alone = not folder.exists() or not any(folder.iterdir())
        if is_exhaustive() or not alone or "torchlift" in "".join((code, *files.values())):
            return super().run(folder, files, code)
        key = _key(Program(code, files), Program(_DESCRIBING), "", ())
        if key in _noted():
            return json.loads(_noted()[key])
        found = super().run(folder, files, code)
        line = json.dumps(found)
        if len(line) < _LONGEST and "/" not in line and json.loads(line) == found:
            _seen[key] = line
        return found


def forget() -> None:
    """Say once, before tests are collected, that nothing is taken from the file."""
    _noted().clear()


def seen() -> Mapping[str, str]:
    """What this process found out, as lines of the file by their keys."""
    return _seen


def note(lines: Mapping[str, str]) -> None:
    """Write the file anew: these lines, and those of which the same code was the judge."""
    _noted.cache_clear()
    kept = {key: line for key, line in _noted().items() if key.startswith(_judges())} | dict(lines)
    NOTED.write_text("".join(f"{key}\t{kept[key]}\n" for key in sorted(kept)), encoding="utf-8")


@cache
def _noted() -> dict[str, str]:
    lines = NOTED.read_text(encoding="utf-8").splitlines() if NOTED.exists() else []
    return dict(line.split("\t", 1) for line in lines)


@cache
def _judges() -> str:
    """A digest of what runs and judges programs."""
    digest = hashlib.sha256(f"{platform.system()} {platform.machine()} {sys.version_info[:2]}".encode())
    for name in ("torch", "numpy"):
        try:
            digest.update(version(name).partition("+")[0].encode())
        except PackageNotFoundError:
            digest.update(b"missing")
    code = Path(torchlift.testing.__file__).parent.glob("*.py")
    for path in sorted([*code, Path(proofs.__file__)], key=lambda path: path.name):
        digest.update(_without_words(path.read_text(encoding="utf-8")).encode())
    return digest.hexdigest()[:8]


def _without_words(code: str) -> str:
    """Code without comments and docstrings, in one way of writing it."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _key(old: Program, new: Program, run: str, ranks: Sequence[int]) -> str:
    texts = [(program.code, sorted(program.files.items())) for program in (old, new)]
    return _judges() + hashlib.sha256(repr((texts, run, tuple(ranks))).encode()).hexdigest()[:24]


def _is_nothing(result: Node) -> bool:
    """Whether a program, or one of its ranks, assigned no `result`."""
    parts = [item for _, item in result.items] if isinstance(result, Container) else []
    return Scalar("NoneType", None) in (result, *parts)
