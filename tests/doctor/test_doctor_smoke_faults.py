"""Every way for a smoke to go wrong gets its verdict, and the rest still run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from ended_processes import is_gone
from patched_imports import python_path, with_stand_in

from torchlift.doctor.smoke.parent.outcome import SmokeResult
from torchlift.doctor.smoke.parent.runner import Plan, Run

pytestmark = pytest.mark.xdist_group("faulty smokes")

HERE = Path(__file__).parent
FAULTS = HERE / "faulty_smokes"
LOST = HERE / "lost_smokes"

posix = pytest.mark.skipif(os.name != "posix", reason="signals")
linux = pytest.mark.skipif(sys.platform != "linux", reason="forks from a process with torch only on Linux")


def _ids(folder: Path) -> tuple[str, ...]:
    return tuple(path.stem.replace("_", "-") for path in sorted(folder.glob("*.py")))


def _run(folder: Path, only: tuple[str, ...], *, fork: bool) -> dict[str, SmokeResult]:
    plan = Plan(sys.executable, only=only, devices=("cpu",), folders=(folder,), fork=fork)
    return {result.id: result for result in Run(plan).results()}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(True, marks=linux, id="forked"),
        pytest.param(False, marks=pytest.mark.exhaustive, id="spawned"),
    ],
)
def faults(request: pytest.FixtureRequest) -> dict[str, SmokeResult]:
    only = _ids(FAULTS)
    if os.name != "posix":
        only = tuple(id for id in only if id not in ("killed", "limited-memory"))
    if not request.param:  # no session of its own, so what it leaves behind and reads is its own business
        only = tuple(id for id in only if id not in ("leaves-children", "prints", "limited-memory"))
    return _run(FAULTS, only, fork=request.param)


def test_wrong_numbers_fail_with_the_name_of_the_comparison(faults: dict[str, SmokeResult]) -> None:
    result = faults["wrong-numbers"]
    assert result.outcome == "fail"
    assert result.reason is not None and "wrong numbers in wrong" in result.reason
    assert result.error is not None and result.limit == 1e-6 and result.error > 0.01
    assert result.details["right"]["error"] == 0.0


@pytest.fixture
def light_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For smokes that compute nothing."""
    monkeypatch.setenv("PYTHONPATH", python_path(with_stand_in(tmp_path / "site"), {}))


@pytest.mark.usefixtures("light_torch")
def test_without_forks_a_smoke_has_a_python_of_its_own_and_the_same_verdicts() -> None:
    results = _run(LOST, ("falls-off-the-bus",), fork=False) | _run(FAULTS, ("gated", "hang", "leaves"), fork=False)
    assert [result.outcome for result in results.values()] == ["fail", "skip", "timeout", "crash"]


def test_a_result_that_is_not_finite_fails(faults: dict[str, SmokeResult]) -> None:
    assert faults["not-finite"].outcome == "fail"
    assert faults["not-finite"].error is None
    assert "not finite" in (faults["not-finite"].reason or "")


@posix
def test_a_segmentation_fault_is_a_crash_that_names_the_signal(faults: dict[str, SmokeResult]) -> None:
    assert (faults["segfault"].outcome, faults["segfault"].signal) == ("crash", "SIGSEGV")


def test_a_hang_is_killed_when_its_time_is_over(faults: dict[str, SmokeResult]) -> None:
    assert faults["hang"].outcome == "timeout"
    assert faults["hang"].reason == "not done within 1 s, and killed"


def test_an_exception_fails_with_the_known_cause_and_remedy(faults: dict[str, SmokeResult]) -> None:
    result = faults["raises"]
    assert (result.outcome, result.signature) == ("fail", "no-kernel-image")
    assert "architecture" in (result.cause or "") and "torchlift doctor" in (result.remedy or "")
    assert "Traceback" in (result.output or "")


def test_running_out_of_memory_fails_and_is_named(faults: dict[str, SmokeResult]) -> None:
    assert (faults["out-of-memory"].outcome, faults["out-of-memory"].signature) == ("fail", "host-out-of-memory")


@linux
def test_a_memory_limit_is_named_too(faults: dict[str, SmokeResult]) -> None:
    if "limited-memory" in faults:
        assert (faults["limited-memory"].outcome, faults["limited-memory"].signature) == ("fail", "host-out-of-memory")


@posix
def test_a_smoke_that_is_killed_from_outside_is_a_crash(faults: dict[str, SmokeResult]) -> None:
    result = faults["killed"]
    assert (result.outcome, result.signal, result.signature) == ("crash", "SIGKILL", "killed")
    assert result.likely


def test_a_process_that_leaves_without_a_result_is_a_crash(faults: dict[str, SmokeResult]) -> None:
    result = faults["leaves"]
    assert (result.outcome, result.signal) == ("crash", None)
    assert result.reason == "it ended with exit status 0 and without a result"


def test_a_gate_skips_with_its_reason(faults: dict[str, SmokeResult]) -> None:
    assert (faults["gated"].outcome, faults["gated"].reason) == ("skip", "needs a flux capacitor")


def test_a_gate_that_fails_is_a_failure_of_its_smoke_alone(faults: dict[str, SmokeResult]) -> None:
    assert faults["broken-gate"].outcome == "fail"
    assert "ZeroDivisionError" in (faults["broken-gate"].reason or "")


def test_the_rest_still_runs_after_every_fault(faults: dict[str, SmokeResult]) -> None:
    assert list(faults)[-1] == "zz-well"
    assert faults["zz-well"].outcome == "pass"


@linux
def test_what_a_smoke_prints_is_no_answer_and_what_it_reads_is_no_request(faults: dict[str, SmokeResult]) -> None:
    if "prints" in faults:
        assert faults["prints"].outcome == "pass"


@linux
def test_processes_that_a_smoke_leaves_behind_are_killed(faults: dict[str, SmokeResult]) -> None:
    if "leaves-children" in faults:
        assert faults["leaves-children"].outcome == "pass"
        assert is_gone(faults["leaves-children"].details["child"])


@linux
@pytest.mark.usefixtures("light_torch")
def test_a_hang_says_where_it_hangs() -> None:
    result = _run(FAULTS, ("hang",), fork=True)["hang"]
    assert "now it hangs" in (result.output or "")
    assert "hang.py" in (result.output or "") and "_run" in (result.output or "")


@linux
@pytest.mark.usefixtures("light_torch")
def test_a_process_that_cannot_be_killed_is_reported_and_not_waited_for() -> None:
    results = _run(LOST, ("stuck-in-the-driver", "zz-well"), fork=True)
    stuck = results["stuck-in-the-driver"]
    if stuck.outcome == "skip":
        pytest.skip(stuck.reason or "")
    assert stuck.outcome == "stuck"
    assert stuck.reason is not None and "stuck in the driver" in stuck.reason
    assert results["zz-well"].outcome == "lost"
    assert results["zz-well"].reason == "not run: cpu is stuck in the driver (since stuck-in-the-driver)"


@pytest.mark.usefixtures("light_torch")
def test_a_lost_device_ends_the_run_on_it() -> None:
    results = _run(LOST, ("falls-off-the-bus", "zz-well"), fork=sys.platform == "linux")
    assert (results["falls-off-the-bus"].outcome, results["falls-off-the-bus"].signature) == ("fail", "gpu-lost")
    assert results["zz-well"].outcome == "lost"
    assert results["zz-well"].reason == "not run: cpu no longer answers (since falls-off-the-bus)"
