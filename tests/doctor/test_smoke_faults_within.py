"""Every fault in the middle of every smoke that is not there for speed: each gets its verdict, and nothing is left running."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from ended_processes import is_gone
from patched_imports import python_path, with_stand_in

from torchlift.doctor.smoke.parent.outcome import SmokeResult
from torchlift.doctor.smoke.parent.runner import Plan, Run

pytestmark = [
    pytest.mark.xdist_group("faults within smokes"),
    pytest.mark.skipif(sys.platform != "linux", reason="forks from a process with torch only on Linux"),
]

IDS = ("addcdiv", "sdpa-default", "eigh", "compiled-autograd", "device-autoload", "flight-recorder", "profiler")
COMPILED = ("inductor-half", "inductor-gemm", "inductor-cpp-wrapper")
FAULTS = ("exception", "segfault", "memory", "hang")

# Each smoke goes wrong where it compares for the first time, in the way that FAULTS names for its id.
WITHIN = """
from . import bench as _bench
FAULTS = {faults!r}
_right, _measured = _smoke, _bench.Bench.measured


def _smoke(bench, request):
    bench.fault = FAULTS.get(request["id"])
    return _right(bench, request)


def _go_wrong(self, *arguments):
    import ctypes, resource, subprocess, sys, time
    if self.fault is None:
        return _measured(self, *arguments)
    child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
    open(os.path.join({notes!r}, str(child.pid)), "w").close()
    if self.fault == "exception":
        raise RuntimeError("CUDA error: unspecified launch failure")
    if self.fault == "segfault":
        ctypes.string_at(0)
    if self.fault == "memory":
        resource.setrlimit(resource.RLIMIT_AS, (1 << 20, resource.RLIM_INFINITY))
        bytearray(1 << 32)
    while True:
        time.sleep(60)


_bench.Bench.measured = _go_wrong
"""

VERDICTS = {
    "exception": ("fail", "illegal-access"),
    "segfault": ("crash", None),
    "memory": ("fail", "host-out-of-memory"),
    "hang": ("timeout", None),
}


def told(
    faults: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, timeout: float
) -> dict[str, SmokeResult]:
    notes = tmp_path / "notes"
    notes.mkdir()
    code = WITHIN.format(faults=faults, notes=str(notes))
    monkeypatch.setenv("PYTHONPATH", python_path(tmp_path / "site", {"torchlift_smoke.trial": code}))
    plan = Plan(sys.executable, only=(*faults, "alloc"), devices=("cpu",), timeout=timeout)
    results = {result.id: result for result in Run(plan).results()}
    started = [int(note.name) for note in notes.iterdir()]
    assert started and all(is_gone(process) for process in started)
    return results


def check(faults: dict[str, str], results: dict[str, SmokeResult]) -> None:
    assert {id: results[id].outcome for id in faults} == {id: VERDICTS[fault][0] for id, fault in faults.items()}
    for id, fault in faults.items():
        known = VERDICTS[fault][1]
        assert known is None or results[id].signature == known, (id, results[id].signature, results[id].reason)
    assert results["alloc"].outcome == "pass"


def test_each_new_smoke_meets_a_fault_and_the_rest_still_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = ("addcdiv", "sdpa-default", "flight-recorder", "profiler")
    faults = dict(zip(quick, ("hang", "memory", "segfault", "exception"), strict=True))
    check(faults, told(faults, tmp_path, monkeypatch, timeout=40.0))


@pytest.mark.exhaustive
@pytest.mark.parametrize("fault", FAULTS)
def test_each_new_smoke_meets_each_fault(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = dict.fromkeys(IDS + COMPILED, fault)
    check(faults, told(faults, tmp_path, monkeypatch, timeout=40.0 if fault == "hang" else 300.0))


def test_a_package_that_hangs_while_it_is_loaded_is_killed_with_its_smoke(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "note"
    code = (
        "import os\n"
        "if 'torchlift-autoload-' in os.environ.get('PYTHONPATH', ''):\n"
        f"    open({str(note)!r}, 'w').write(str(os.getpid()))\n"
        "    import time\n"
        "    time.sleep(600)\n"
    )
    monkeypatch.setenv("PYTHONPATH", python_path(with_stand_in(tmp_path / "site"), {"torch": code}))
    (result,) = Run(Plan(sys.executable, only=("device-autoload",), devices=("cpu",), timeout=25.0)).results()
    assert result.outcome == "timeout"
    assert is_gone(int(note.read_text(encoding="utf-8")))
