"""Faults in the recorder itself: the program's results stay, and the file says what it lacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from torchlift.evidence.file import read_evidence
from torchlift.record.assembly import assembled
from torchlift.record.proofs import wait_for_proofs

RECORD = [sys.executable, "-I", "-m", "torchlift", "record", "--no-prove", "-o", "evidence.json", "--"]

# Everything that a hook watches, with results that can be compared.
_WORK = """
import copy, io, os, tempfile, torch, torch.distributed as dist

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)
        self.labels = ["a"]
    def forward(self, x):
        return self.inner(x) + torch.rand(2)

class Twice(torch.jit.ScriptModule):
    @torch.jit.script_method
    def forward(self, x):
        return x * 2

def plain(x):
    return x + 1

def work(folder):
    torch.manual_seed(0)
    found = []
    x = torch.ones(3, 2)
    traced = torch.jit.trace(Net().eval(), x, check_trace=False)
    scripted = torch.jit.script(Net())
    function = torch.jit.trace(plain, x)
    found += [traced(x).tolist(), scripted(x=x).tolist(), function(x).tolist(), Twice()(x).tolist()]
    found += [scripted.inner(x).tolist(), scripted.labels, scripted.training, len(scripted.code), scripted.original_name]
    found += [scripted.eval().training, len(list(traced.parameters())), traced.half().inner.weight.dtype is torch.half]
    path = os.path.join(folder, "a.pt")
    scripted.save(path)
    torch.jit.save(function, path + "f")
    function.save(path + "g")
    buffer = io.BytesIO(scripted.save_to_buffer())
    found += [len(function.save_to_buffer()) > 10, torch.jit.load(buffer)(x).tolist(), torch.jit.load(path)(x).tolist()]
    buffer = io.BytesIO()
    torch.jit.save(scripted, buffer)
    found.append(copy.deepcopy(scripted)(x).tolist())
    found.append(torch.jit.freeze(scripted)(x).tolist())
    for bad in (lambda: function("text"), lambda: torch.jit.script(lambda x: print(**x)), lambda: torch.load(path + "none")):
        try:
            bad()
        except Exception as error:
            found.append(type(error).__name__)
    torch.save({"net": Net()}, path)
    found.append(sorted(torch.load(path, weights_only=False)))
    try:
        torch.load(path, weights_only=True)
    except Exception as error:
        found.append(type(error).__name__)
    dist.init_process_group("gloo", init_method="file://" + path + "s", rank=0, world_size=1)
    y = torch.ones(2)
    dist.all_reduce(y)
    dist.destroy_process_group()
    found += [y.tolist(), torch.rand(3).tolist()]
    return found
"""


def run(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    (folder / "work.py").write_text(_WORK)
    (folder / "main.py").write_text(textwrap.dedent(program))
    return subprocess.run(
        [*RECORD, sys.executable, "-W", "ignore", "main.py"], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.exhaustive
def test_a_fault_in_any_hook_changes_no_result_and_is_told(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
        import gc, tempfile
        from work import work

        def hooks():
            # The function that `guarded` keeps in its closure, of each hook.
            for one in gc.get_objects():
                if type(one) is type(hooks) and one.__code__.co_filename.endswith("guard.py") and hasattr(one, "__wrapped__"):
                    cells = dict(zip(one.__code__.co_freevars, one.__closure__))
                    yield one.__wrapped__.__module__ + ":" + one.__wrapped__.__name__, cells["body"]

        def result():
            with tempfile.TemporaryDirectory() as folder:
                return work(folder)

        right = result()
        tried = reached = 0
        errors = [RuntimeError("fault"), MemoryError(), RecursionError("deep"), OSError(28, "No space left")]
        for name, cell in list(hooks()):
            body, calls = cell.cell_contents, []
            def bad(*args, **kwargs):
                calls.append(1)
                raise errors[len(calls) % len(errors)]
            cell.cell_contents = bad
            if result() != right:
                print("CHANGED by", name)
            cell.cell_contents = body
            tried += 1
            reached += bool(calls)
            if not calls:
                print("never called:", name)
        print(tried, "hooks", reached)
        if result() != right:
            print("CHANGED afterwards")
        """,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert not [line for line in lines if line.startswith("CHANGED")]
    tried, reached = (int(number) for number in lines[-1].split(" hooks "))
    assert tried > 40
    # Operations that few programs ask for are hooks of their own, all made by one function.
    assert not [line for line in lines if line.startswith("never called") and not line.endswith(":entered")]
    assert reached > 25
    evidence = read_evidence(tmp_path / "evidence.json")
    assert {"RuntimeError: fault", "RecursionError: deep", "OSError: [Errno 28] No space left"} <= {
        problem.error for problem in evidence.problems
    }
    assert {site.api for site in evidence.sites} >= {"torch.jit.trace", "torch.jit.script", "torch.jit.freeze"}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", 139),
        ("os._exit(4)", 4),
        ("import shutil; shutil.rmtree(os.environ['TORCHLIFT_SPOOL'])", 0),
        ("os.closerange(3, 4096)", 0),
        ("os.chdir('/')", 0),
        ("sys.meta_path.clear(); os.environ.clear()", 0),
    ],
)
def test_whatever_becomes_of_the_process_its_status_is_kept_and_the_file_is_whole(
    fault: str, status: int, tmp_path: Path
) -> None:
    done = run(
        tmp_path,
        f"""
        import os, signal, sys, tempfile
        from work import torch, Net
        kept = torch.jit.script(Net())
        kept(torch.ones(1, 2))
        {fault}
        kept(torch.ones(2, 2))
        print("done", flush=True)
        """,
    )
    assert done.returncode == status, done.stderr
    assert (done.stdout == "done\n") == (status == 0)
    evidence = read_evidence(tmp_path / "evidence.json")
    if "rmtree" in fault:
        assert evidence.problems
    else:
        calls = sum(call.count for site in evidence.sites for value in site.values for call in value.calls)
        assert calls == (2 if status == 0 else 1)
    if status in (139, 4):
        assert "did not say that they end" in "".join(problem.what for problem in evidence.problems)


@pytest.mark.exhaustive
def test_an_exception_of_a_signal_handler_reaches_the_program_through_a_hook(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
        import signal, sys
        from work import torch, Net

        class TooLate(Exception):
            pass

        def late(number, frame):
            seen.add("_torchlift_record" in frame.f_globals.get("__name__", ""))
            raise TooLate

        seen = set()
        kept = torch.jit.script(Net())
        x = torch.ones(1, 2)
        signal.signal(signal.SIGALRM, late)
        for turn in range(400):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.00002 + 0.000001 * (turn % 100))
                while True:
                    kept(x)
            except TooLate:
                pass
        print(True in seen, False in seen)
        """,
    )
    assert done.stdout == "True True\n", done.stderr


def told(folder: Path, *lines: str) -> Path:
    (folder / "process-7").touch()
    (folder / "7.jsonl").write_text("".join(f"{line}\n" for line in lines[:-1]) + lines[-1])
    return folder


def test_a_line_that_is_cut_off_is_left_out_and_told(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    told(spool, json.dumps({"e": "torch", "torch": "2.13.0", "python": "3.11.7"}), '{"e":"capture","api":"torch')
    evidence = assembled(spool, tmp_path, 0)
    assert (evidence.with_torch, evidence.torch, evidence.sites) == (1, "2.13.0", [])
    assert [problem.what for problem in evidence.problems] == [
        "1 processes were killed in the middle of a line",
        "1 processes with torch did not say that they end: killed, or left by os._exit as workers are",
    ]


def test_a_prover_that_hangs_is_ended(tmp_path: Path) -> None:
    hanging = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    (tmp_path / "proof-1.json").write_text(
        json.dumps({"pending": hanging.pid, "unproved": "it did not come to an end"})
    )
    began = time.monotonic()
    wait_for_proofs(tmp_path, 0.01)
    assert hanging.wait(timeout=30) == -15
    assert time.monotonic() - began < 30


def test_a_prover_that_was_killed_is_not_waited_for(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / "proof-1.json").write_text(json.dumps({"pending": gone.pid}))
    (tmp_path / "proof-2.json").write_text("{")
    wait_for_proofs(tmp_path, 1000)
    assert os.path.exists(tmp_path / "proof-1.json")  # noqa: PTH110
