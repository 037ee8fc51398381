"""Where a process cannot be copied, what it captured is spooled and proved in a fresh one, after the command."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from torchlift.evidence.file import read_evidence
from torchlift.evidence.records import Proof, RecordedEvidence
from torchlift.record.proofs import prove_spooled
from torchlift.record.prover.main_program import way_to_main

_NET = """\
import os

import torch

HERE = os.getpid()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        torch.nn.init.constant_(self.linear.weight, 0.54321)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x):
        self.seen += 1
        return self.linear(x) * self.seen


class Fatal(Net):
    def __setstate__(self, state):
        os._exit(3)

"""
_USES = """\
import torch


@torch.jit.script
def scale(x, n: int):
    return x * n


def write(model, path):
    torch.jit.trace(model, torch.rand(4, 3)).save(path)


def read(path):
    return torch.jit.load(path)
"""
_TORCH_2_5 = version("torch").startswith("2.5.")
# What a system without fork lacks besides.
_NO_FORK = "import os, sys\ndel os.fork\nsys.modules.update(fcntl=None, resource=None)\n"
_ONE = """\
import torch
from net import Net, Fatal


class Own(Net):
    pass


value = torch.jit.script(Net().eval())
with torch.no_grad():
    for rows in (4, 9):
        value(torch.rand(rows, 3))
{more}
"""
_ALL = """\
import torch
from net import Net
from uses import read, scale, write

torch.manual_seed(0)
value = torch.jit.script(Net().eval())
with torch.no_grad():
    for rows in (4, 9):
        value(torch.rand(rows, 3))
for rows in (4, 9):
    scale(torch.rand(rows), rows)
write(torch.nn.Sequential(torch.nn.Linear(3, 2)).eval(), "net.pt")
loaded = read("net.pt")
for rows in (4, 9):
    loaded(torch.rand(rows, 3))
"""


def recorded(folder: Path, program: str, monkeypatch: pytest.MonkeyPatch, *options: str) -> RecordedEvidence:
    """The evidence of a program; all that was spooled is gone."""
    (folder / "net.py").write_text(_NET)
    (folder / "uses.py").write_text(_USES)
    (folder / "main.py").write_text(program)
    (folder / "tmp").mkdir(exist_ok=True)
    monkeypatch.setenv("TMPDIR", str(folder / "tmp"))
    line = [sys.executable, "-I", "-m", "torchlift", "record", "-o", "evidence.json", *options, "--"]
    done = subprocess.run(
        [*line, sys.executable, "main.py"], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert not list((folder / "tmp").glob("torchlift-*"))
    return read_evidence(folder / "evidence.json")


def proofs(evidence: RecordedEvidence) -> list[Proof]:
    found = [value.proof for site in evidence.sites for value in site.values]
    assert None not in found
    return [proof for proof in found if proof is not None]


def test_a_value_is_proved_although_the_process_could_not_be_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proved, own = proofs(
        recorded(tmp_path, _NO_FORK + _ONE.format(more="torch.jit.script(Own())(torch.rand(2, 3))"), monkeypatch)
    )
    assert proved.unproved is None
    assert proved.eager is not None and proved.eager.equal
    # Of a module that counts a buffer up torch 2.5 exports a program that does not run.
    assert proved.export is not None and proved.export.proved == (None if _TORCH_2_5 else "as given")
    assert own.unproved == (
        "fork: this system does not copy processes, and it is defined in the program that was started, which another process would have"
        ' to run again: only where all that it does stands below `if __name__ == "__main__":` is that an import'
    )
    assert "0.5432" not in (tmp_path / "evidence.json").read_text()


_GUARDED = """\
import argparse
from pathlib import Path

import torch
from net import Net

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=4)
RUNS = Path("runs.txt")


class Own(Net):
    pass


@torch.jit.script
def halve(x):
    return x / 2


def main(rows):
    with RUNS.open("a") as file:
        file.write("run\\n")
    with torch.no_grad():
        torch.jit.script(Own().eval())(torch.rand(rows, 3))
    halve(torch.rand(rows))


if __name__ == "__main__":
    main(parser.parse_args().rows)
"""


def test_what_is_defined_in_a_program_with_a_main_guard_is_proved_without_running_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = proofs(recorded(tmp_path, _NO_FORK + _GUARDED, monkeypatch))
    assert [(proof.unproved, proof.eager and proof.eager.equal) for proof in found] == [(None, True)] * 2
    assert (tmp_path / "runs.txt").read_text() == "run\n"


@pytest.mark.parametrize(
    ("more", "importable"),
    [
        ("try:\n    import numpy\nexcept ImportError:\n    numpy = None\n", True),
        ("torch.manual_seed(0)\nnet = Own()\n", True),
        ("result = main(3)\n", False),
        ("if True:\n    main(3)\n", False),
        ("Own().forward(torch.rand(3))\n", False),
        ("for rows in range(3):\n    print(rows)\n", False),
        ("with open('log') as file:\n    pass\n", False),
        ("trainer = Trainer()\nhistory = trainer.fit(Own())\n", False),
        ("Trainer = make()\nTrainer.start().now()\n", False),
        ("if main(3):\n    pass\n", False),
        ("total = 1\ntotal += main(3)\n", False),
        ("fire.Fire(main)\n", False),
        ("parser = ArgumentParser()\nparser.add_argument('--rows')\nargs = parser.parse_args()\n", True),
        ("net = Own().to('cpu').eval()\nwarnings.filterwarnings('ignore')\n", True),
    ],
)
def test_a_program_is_imported_again_only_where_it_does_nothing_outside_of_its_guard(
    more: str, importable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "class Own:\n    def forward(self, x): ...\n\ndef main(rows): ...\n\n{}\nif __name__ == '__main__':\n    main(3)\n"
    program = ModuleType("__main__")
    program.__file__, program.__spec__ = str(tmp_path / "program.py"), None
    (tmp_path / "program.py").write_text(text.format(more))
    monkeypatch.setitem(sys.modules, "__main__", program)
    assert (way_to_main() is not None) == importable


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")
def test_a_fresh_process_finds_what_a_copy_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for before in ("", _NO_FORK):
        evidence = recorded(tmp_path, before + "import random\n" * (3 - before.count("\n")) + _ALL, monkeypatch)
        for proof in proofs(evidence):
            proof.seconds = 0.0
        evidence.recorded_at = ""
        found.append(evidence)
    assert [
        (s.api, v.proof and v.proof.export and v.proof.export.proved) for s in found[0].sites for v in s.values
    ] == [
        ("torch.jit.script", "as given"),
        ("torch.jit.script", "dynamic ints"),
        ("torch.jit.trace", "as given"),
    ]
    for one, other in zip(found[0].sites, found[1].sites, strict=True):
        assert one.values == other.values


@pytest.mark.exhaustive
def test_a_fresh_process_that_ends_or_does_not_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fatal = "torch.jit.script(Fatal())(torch.rand(2, 3))"
    _, killed = proofs(recorded(tmp_path, _NO_FORK + _ONE.format(more=fatal), monkeypatch))
    assert killed.unproved == "killed: the fresh process did not come to an end"


def test_one_that_takes_too_long_is_ended_and_its_data_removed(tmp_path: Path) -> None:
    slow = tmp_path / "python"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    for number, python in enumerate((slow, tmp_path / "none")):
        proof = tmp_path / f"proof-{number}.json"
        proof.write_text(json.dumps({"unproved": "killed", "fresh": {"python": str(python), "loaded": False}}))
        (tmp_path / f"{proof.name}.subject").write_bytes(b"data")
        (tmp_path / f"{proof.name}.course").write_bytes(b"data")
    prove_spooled(tmp_path, 0.01, None, to_start=0.2)
    said = [json.loads((tmp_path / f"proof-{number}.json").read_text())["unproved"] for number in range(2)]
    assert said[0].startswith("timeout: ")
    assert said[1] == "fresh process: it cannot be started: No such file or directory"
    assert not list(tmp_path.glob("*.subject")) and not list(tmp_path.glob("*.course"))


def test_what_is_too_large_or_no_data_is_not_spooled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from torchlift.record.prover import Limits, snapshot

    monkeypatch.delattr(os, "fork")
    large, odd = torch.nn.Linear(8, 8), torch.nn.Linear(2, 2)
    odd.later = (_ for _ in ())  # type: ignore[assignment]
    limits = Limits(spooled=200)
    for module, why in (
        (large, "takes more than 0 MiB, or all of them take more than four times that"),
        (odd, "cannot be written to a file: TypeError: cannot pickle 'generator' object"),
    ):
        path = str(tmp_path / "proof-1.json")
        traced = torch.jit.trace(torch.nn.Linear(module.in_features, 2), torch.ones(1, module.in_features))
        assert snapshot(module, traced, kind="module", api="torch.jit.trace", spool_path=path, limits=limits) is None
        assert json.loads(Path(path).read_text())["unproved"].endswith(f", and it {why}")
    assert [path.name for path in tmp_path.iterdir()] == ["proof-1.json"]


def test_a_value_that_was_captured_before_the_program_used_its_gpu_is_proved_in_a_copy_that_starts_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch

    # Another test of this process may have asked a torch for CUDA for the GPUs that are not here.
    monkeypatch.setattr(torch.cuda, "_is_in_bad_fork", lambda: False)

    from torchlift.record.prover.keeper import Doings, Subject, proved
    from torchlift.record.prover.limits import Limits
    from torchlift.record.prover.modes import generator_state, modes_now
    from torchlift.record.prover.wire import Encoder

    original = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Dropout(0.5)).train()
    script: Any = torch.jit.script
    captured = script(original)
    course = Doings(accelerator="cuda")
    for rows in (4, 9):
        given = (torch.rand(rows, 3),)
        inputs, random, modes = Encoder(1 << 20).encode((given, {})), generator_state(torch), modes_now(torch, captured)
        with torch.no_grad():
            result = captured(*given)
        after = hashlib.sha256(generator_state(torch)).digest()
        outcome = ("returned", Encoder(1 << 20).encode(result), inputs)
        course.events.append(("call", "forward", 0, {**modes, "grad": False}, inputs, random, None, outcome, after))
    subject = Subject(original, captured, "module", "torch.jit.script", None, "", None, {}, 0, b"", b"")
    proof = proved(subject, course, Limits())
    assert proof["unproved"] is None
    assert proof["eager"]["equal"], proof["eager"]
    assert proof["calls"] == 2
