"""Each smoke that has a meaning on the CPU runs there for real, through the command: all that were chosen in one run of it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import Any

import jsonschema
import pytest

from torchlift.doctor.schemas import report_schema
from torchlift.doctor.smoke.loading import own_smokes
from torchlift.doctor.smoke.smoke import tiers_of

pytestmark = pytest.mark.xdist_group("smokes")

ON_GPUS_ONLY = frozenset(
    """accelerator-graph cuda-graph expandable-segments graph-annotations jiterator mxfp8-matmul nvfp4-matmul peer-copy
    sdpa-cudnn sdpa-efficient sparse-24 triton""".split()
)
COMPILED = frozenset({"compile", "aoti", "flex-attention", "inductor-half", "inductor-gemm", "inductor-cpp-wrapper"})
# Each imports the tracer of torch into a process of its own, or starts one: seconds. `cond` does so in every run; two meet a
# fault there as well (`test_smoke_faults_within.py`).
TRACING = frozenset({"compiled-autograd", "device-autoload", "export-mx", "flight-recorder", "fused-adam", "fused-adagrad", "profiler"})  # fmt: skip
IN_FULL = [id for id, smoke in own_smokes().items() if smoke.tier in tiers_of("full")]
each_smoke = pytest.mark.parametrize(
    "smoke", [pytest.param(id, marks=pytest.mark.exhaustive if id in COMPILED | TRACING else ()) for id in IN_FULL]
)


@pytest.fixture(scope="session")
def on_cpu(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The report of one run of all smokes that the chosen tests name; each costs a fork of the process that imported torch."""
    parameters = [getattr(item, "callspec", None) for item in request.session.items]
    named = {callspec.params.get("smoke") for callspec in parameters if callspec is not None}
    chosen = [f"--smoke-only={id}" for id in IN_FULL if id in named]
    command = [sys.executable, "-m", "torchlift", "doctor", *chosen, "--device=cpu", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _result(report: dict[str, Any], smoke: str) -> dict[str, Any]:
    (result,) = (result for result in report["smokes"]["results"] if result["id"] == smoke)
    return dict(result)


@each_smoke
def test_a_smoke_passes_on_the_cpu_within_its_published_limits(smoke: str, on_cpu: dict[str, Any]) -> None:
    result = _result(on_cpu, smoke)
    expected = {"skip"} if smoke in ON_GPUS_ONLY else {"pass"}
    if (shutil.which("g++") is None and smoke in {*COMPILED, "cond"}) or (
        sys.platform != "linux" and smoke in {"collective-multi", "point-to-point", "export-mx"}
    ):
        expected.add("skip")
    assert result["outcome"] in expected, result["reason"]
    limits = dict(own_smokes()[smoke].limits)
    for name, measured in result["details"].items():
        if isinstance(measured, dict) and "limit" in measured:
            known = limits.get(name, limits.get(f"{name.partition(', rank')[0]}, every rank"))
            assert known == measured["limit"], name
            assert measured["error"] <= measured["limit"]


@pytest.mark.parametrize("smoke", ["alloc"])
def test_the_report_of_a_run_with_smokes_fits_the_published_schema(smoke: str, on_cpu: dict[str, Any]) -> None:
    jsonschema.validate(on_cpu, report_schema())
    assert on_cpu["smokes"]["failed"] is False and on_cpu["smokes"]["tier"] is None
    ran = [result["id"] for result in on_cpu["smokes"]["results"]]
    assert smoke in ran and ran == [id for id in IN_FULL if id in ran]


@pytest.mark.parametrize(("smoke", "unit"), [("bandwidth", "GB/s"), ("bf16-rate", "TFLOP/s")])
def test_a_rate_without_a_datasheet_is_a_number_without_a_verdict(
    smoke: str, unit: str, on_cpu: dict[str, Any]
) -> None:
    result = _result(on_cpu, smoke)
    assert result["outcome"] == "pass"
    assert unit in result["reason"] and "no verdict" in result["reason"]
    assert result["details"]["rate"] > 0


@pytest.mark.parametrize("smoke", ["eigh"])
def test_eigh_tells_its_speed_against_a_loop(smoke: str, on_cpu: dict[str, Any]) -> None:
    assert _result(on_cpu, smoke)["details"]["faster_than_loop"] > 0
