"""The prover runs the user's code: whatever that does there, the program does not notice and nothing is left behind.

Each program behaves well in its own process, which is the only one that it should run in, and badly in any other.
"""

from __future__ import annotations

import sys

import evidence_programs as programs
import pytest

from torchlift.evidence.records import Proof

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")

_PROGRAM = """
import os
import signal
import time

import torch

HERE = os.getpid()


class Net(torch.nn.Module):
    def forward(self, x):
        if os.getpid() != HERE:
            {fault}
        return x * 2


traced = torch.jit.trace(Net(), torch.ones(3))
print(traced(torch.ones(3)).tolist(), traced(torch.ones(5)).tolist())
{after}
"""
_PRINTED = "[2.0, 2.0, 2.0] [2.0, 2.0, 2.0, 2.0, 2.0]\n"


def _recorded(
    fault: str, after: str = "", seconds: float = 20, memory: int = 1 << 30
) -> tuple[programs.RecordedProgram, Proof]:
    text = _PROGRAM.format(fault=fault, after=after)
    run = programs.recorded_text(text, limits={"seconds": seconds, "nice": 0, "memory": memory})
    (site,) = run.sites
    (value,) = site.values
    assert value.proof is not None
    return run, value.proof


@pytest.mark.parametrize(
    ("fault", "said", "seconds"),
    [
        ("raise ValueError('not here')", "ValueError: not here on call 1", 20),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "crash: SIGSEGV on call 1", 20),
        ("time.sleep(1000)", "timeout on call 1", 1),
        pytest.param("while True: pass", "timeout on call 1", 1, marks=pytest.mark.exhaustive),
        pytest.param("os._exit(0)", "crash: the process left on call 1", 20, marks=pytest.mark.exhaustive),
        pytest.param("kept = bytearray(8 << 30)", "MemoryError on call 1", 20, marks=pytest.mark.exhaustive),
        pytest.param("torch.zeros(8 << 30)", "can't allocate memory", 20, marks=pytest.mark.exhaustive),
        pytest.param("while True: os.fork() or time.sleep(1000)", "timeout on call 1", 1, marks=pytest.mark.exhaustive),
        pytest.param("os.setsid(); os.fork() or (os.setsid(), time.sleep(1000))", "", 20, marks=pytest.mark.exhaustive),
    ],
)
def test_a_fault_in_the_prover_is_told_and_ends_there(fault: str, said: str, seconds: float) -> None:
    run, proof = _recorded(fault, seconds=seconds)
    assert (run.output, run.status) == (_PRINTED, 0)
    assert proof.eager is not None
    assert said in (proof.eager.failed or "")
    assert run.left == []


def test_a_program_that_is_killed_is_proved_with_what_it_told() -> None:
    run, proof = _recorded("pass", after="os.kill(HERE, signal.SIGKILL)")
    assert run.status == 9
    assert proof.export is not None
    assert proof.export.proved == "as given"
    assert run.left == []


def test_a_program_that_leaves_without_a_word_is_proved_with_what_it_told() -> None:
    run, proof = _recorded("pass", after="os._exit(3)")
    assert run.status == 3 << 8
    assert proof.calls == 2
    assert run.left == []


def test_the_program_sees_no_child_no_signal_and_no_open_pipe() -> None:
    run = programs.recorded_text("""
import os
import signal

import torch

seen = []
signal.signal(signal.SIGCHLD, lambda number, frame: seen.append(number))
reading, writing = os.pipe()
threads = torch.get_num_threads()
before = torch.get_rng_state()
scripted = torch.jit.script(torch.nn.ReLU())
scripted(torch.ones(3))
os.close(writing)
print(seen, os.read(reading, 1), torch.get_num_threads() == threads, torch.equal(before, torch.get_rng_state()))
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no child")
""")
    assert (run.output, run.status) == ("[] b'' True True\nno child\n", 0)
    assert run.left == []


def test_more_values_than_may_sleep_are_told() -> None:
    run = programs.recorded_text(
        """
import torch

one = torch.jit.script(torch.nn.ReLU())
two = torch.jit.script(torch.nn.ReLU())
three = torch.jit.script(torch.nn.ReLU())
one(torch.ones(3)), two(torch.ones(3)), three(torch.ones(3))
""",
        limits={"seconds": 20, "nice": 0, "sleeping": 2},
    )
    said = [value.proof.unproved for site in run.sites for value in site.values if value.proof is not None]
    assert said == [None, None, "limit: 2 captured values were alive at once"]
    assert run.left == []
