"""Twice as much of the same costs twice as much: calls are counted, since seconds depend on the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from example_project import analyse_files

from torchlift.migrate.result import Mode
from torchlift.migrate.tell.report import json_report

Files = Mapping[str, str]

H = "import torch\n"


def _lines(head: str, line: str) -> Callable[[int], Files]:
    """A file that repeats a line, in which `@` is its number."""
    return lambda n: {"a.py": head + "".join(line.replace("@", str(i)) for i in range(n))}


def _members(head: str, line: str) -> Callable[[int], Files]:
    return _lines(f"{H}class A(torch.nn.Module):\n{head}", line)


def _calling(number: int, other: int) -> str:
    return f"@torch.jit.script\ndef f{number}(x):\n    return f{other}(f{other}(x))\n"


_SHAPES: dict[str, tuple[Callable[[int], Files], Mode]] = {
    "one name bound again and again": (_lines(H, "x = torch.jit.script(x)\n"), Mode.CHECK),
    "traces of one name": (_lines(H, "m = torch.jit.trace(m, (x,))\n"), Mode.CHECK),
    "suppressions": (_lines(H, "x = torch.ger(a, b)  # torchlift: ignore[TL401] why\n"), Mode.CHECK),
    "unused suppressions": (_lines(H, "x = 1  # torchlift: ignore[TL401] why\n"), Mode.DIFF),
    "pins": (lambda n: {"requirements.txt": "torch==1.13.1\n" * n}, Mode.DIFF),
    "installed in an image": (
        lambda n: {"Dockerfile": "FROM python:3.10\n" + "RUN pip install torch==1.13.1\n" * n},
        Mode.DIFF,
    ),
    "one fix a line": (_lines(H, "x = torch.ger(x, x)\n"), Mode.DIFF),
    "one fix a line, reported": (_lines(H, "x = torch.ger(x, x)\n"), Mode.CHECK),
    "one fix a line, written": (_lines(H, "x = torch.ger(x, x)\n"), Mode.WRITE),
    "names of their own": (_lines(H, "x@ = torch.ger(a, b)\n"), Mode.DIFF),
    "a long list": (lambda n: {"a.py": H + "x = [\n" + "    torch.ger(a, b),\n" * n + "]\n"}, Mode.DIFF),
    "a long line": (lambda n: {"a.py": H + "x = [" + "torch.ger(a, b), " * n + "]\n"}, Mode.DIFF),
    "semicolons": (lambda n: {"a.py": H + "x = torch.ger(a, b); " * n + "\n"}, Mode.DIFF),
    "calls in calls": (lambda n: {"a.py": H + "x = " + "torch.ger(" * n + "a" + ", b)" * n + "\n"}, Mode.DIFF),
    "many files": (lambda n: {f"p{i}.py": H + "x = torch.ger(a, b)\n" for i in range(n)}, Mode.DIFF),
    "many files, written": (lambda n: {f"p{i}.py": H + "x = torch.ger(a, b)\n" for i in range(n)}, Mode.WRITE),
    "a deep tree": (
        lambda n: {"a.py": H + "".join("    " * i + "if x:\n" for i in range(n)) + "    " * n + "torch.ger(x, x)\n"},
        Mode.DIFF,
    ),
    "elif": (
        lambda n: {"a.py": H + "if x:\n    pass\n" + "".join(f"elif x == {i}:\n    torch.ger(x, x)\n" for i in range(n))},
        Mode.DIFF,
    ),
    "methods": (_members("", "    def f@(self, x):\n        return torch.ger(x, x)\n"), Mode.DIFF),
    "marked methods": (_members("", "    @torch.jit.ignore\n    def f@(self, x):\n        return x\n"), Mode.DIFF),
    "attributes": (_members("", "    a@: torch.jit.Final[int] = @\n"), Mode.DIFF),
    "functions that ask": (
        _lines(H, "def f@(x):\n    if not torch.jit.is_scripting():\n        print(x)\n    return x\n"),
        Mode.DIFF,
    ),
    "functions that call one": (_lines(f"{H}def f(x):\n    return x\n", "@torch.jit.script\ndef f@(x):\n    return f(x)\n"), Mode.DIFF),
    "script modules": (
        _lines(H, "class A@(torch.jit.ScriptModule):\n    @torch.jit.script_method\n    def forward(self, x):\n        return x\n"),
        Mode.DIFF,
    ),
    "functions in a circle": (lambda n: {"a.py": H + "".join(_calling(i, (i + 1) % n) for i in range(n))}, Mode.DIFF),
    "functions in a row": (lambda n: {"a.py": H + _calling(0, 0) + "".join(_calling(i, i - 1) for i in range(1, n))}, Mode.DIFF),
    "forks": (_lines(H, "y@ = torch.jit.fork(g, x)\n"), Mode.DIFF),
    "annotated values": (_lines(H, "v@ = torch.jit.annotate(int, @)\n"), Mode.DIFF),
    "type tests": (_lines(H, "b@ = torch.jit.isinstance(x, int)\n"), Mode.DIFF),
    "imports that go": (_lines("", "from torch.jit import Final as F@\n"), Mode.DIFF),
    "norms": (_lines(H, "x@ = torch.norm(a@)\n"), Mode.DIFF),
    "contexts": (_lines(H, "with torch.cuda.amp.autocast():\n    x = f(x)\n"), Mode.DIFF),
    "files that are loaded": (_lines(H, "m@.load_state_dict(torch.load('a@.pt'))\n"), Mode.DIFF),
    "normed weights": (_lines(H, "l@ = torch.nn.utils.weight_norm(m@)\n"), Mode.DIFF),
    "checkpoints": (_lines("from torch.utils.checkpoint import checkpoint\n", "y@ = checkpoint(f, x)\n"), Mode.DIFF),
    "exports": (_lines(H, "torch.onnx.export(m@, x, 'a@.onnx')\n"), Mode.DIFF),
    "messages": (_lines("import torch.distributed as dist\n", "dist.isend(x, 1)\n"), Mode.CHECK),
    "questions in one condition": (
        lambda n: {"a.py": H + "def f(x):\n    if " + " and ".join(["torch.jit.is_scripting()"] * n) + ":\n        return x\n"},
        Mode.DIFF,
    ),
    "questions about traces in one condition": (
        lambda n: {"a.py": H + "def f(x):\n    if " + " or ".join(["torch.jit.is_tracing()"] * n) + ":\n        return x\n"},
        Mode.DIFF,
    ),
    "archives, saved and loaded": (
        _lines(H, "torch.jit.save(m, 'a@.pt')\ny@ = torch.jit.load('a@.pt')\n"), Mode.DIFF,
    ),
    "groups in one function": (
        _lines("import torch.distributed as dist\ndef f():\n", "    dist.init_process_group('nccl')\n"), Mode.DIFF,
    ),
    "functions that call three others": (
        lambda n: {"a.py": H + "".join(f"@torch.jit.script\ndef f{i}(x):\n    return f{(i + 1) % n}(x) + f{(i + 2) % n}(x) + f{(i + 3) % n}(x)\n" for i in range(n))},
        Mode.DIFF,
    ),
    "commands": (lambda n: {"a.sh": "python -m torch.distributed.launch a.py\n" * n}, Mode.DIFF),
}  # fmt: skip
_COST_MORE = 2.3


def calls(folder: Path, files: Files, mode: Mode) -> int:
    """How many functions a run over some files, and its JSON report, call."""
    counted = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal counted
        counted += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        result = analyse_files(folder, files, mode=mode, unsafe=True)
        json_report.render(result, root=folder, names={}, urls={})
    finally:
        sys.setprofile(before)
    assert not result.failures
    return counted


@pytest.mark.parametrize("shape", _SHAPES)
def test_twice_as_much_costs_twice_as_many_calls(shape: str, tmp_path: Path) -> None:
    files, mode = _SHAPES[shape]
    calls(tmp_path / "first", files(1), mode)  # what is made once in a process
    one, some, more = (calls(tmp_path / str(n), files(n), mode) for n in (1, 24, 48))
    assert (more - one) / (some - one) <= _COST_MORE


def test_functions_that_all_call_all_are_read_a_few_times_each(tmp_path: Path) -> None:
    def shape(n: int) -> Files:
        body = "".join(f"    f{j}(x)\n" for j in range(n)) + "    return x\n"
        return {"a.py": H + "".join(f"@torch.jit.script\ndef f{i}(x):\n{body}" for i in range(n))}

    # Twice as many functions are four times as many calls to read; to read them anew for each function that is scripted is eight times.
    calls(tmp_path / "first", shape(1), Mode.DIFF)
    some, more = (calls(tmp_path / str(n), shape(n), Mode.DIFF) for n in (8, 16))
    assert more / some <= 4
