"""Which devices smokes run on, one GPU visible to each, several side by side, and what is said when one does not answer."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from ended_processes import is_gone
from patched_imports import python_path, with_stand_in

from torchlift.doctor.facts import Gpu
from torchlift.doctor.smoke.parent.outcome import SmokeResult
from torchlift.doctor.smoke.parent.runner import Plan, Run
from torchlift.doctor.smoke.parent.targets import _as_nvml, hide_others

pytestmark = [
    pytest.mark.xdist_group("smokes of several devices"),
    pytest.mark.skipif(sys.platform != "linux", reason="forks from a process with torch only on Linux"),
]

SMOKES = Path(__file__).parent / "lent_smokes"

# Four GPUs, as far as `find_devices` goes: CUDA_VISIBLE_DEVICES chooses among them, in ORDER.
LENT = """
ORDER = os.environ.get("LENT_ORDER", "0,1,2,3").split(",")


def find_devices(torch):
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES", ",".join(ORDER)).split(",")
    devices = [
        {
            "name": f"cuda:{place}", "kind": "cuda", "title": "Lent", "count": len(chosen), "capability": [9, 0],
            "memory": 1 << 30, "uuid": "uuid-" + number, "pci": None,
        }
        for place, number in enumerate(chosen)
    ]
    return {"devices": [*devices, cpu()], "problem": None, "torch": str(torch.__version__), "built": ["cuda"]}
"""


@pytest.fixture
def lend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    folder = with_stand_in(tmp_path / "site")
    monkeypatch.setenv("PYTHONPATH", python_path(folder, {"torchlift_smoke.devices": LENT}))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return monkeypatch


def run(*only: str, **options: Any) -> list[SmokeResult]:
    return list(Run(Plan(sys.executable, only=only, folders=(SMOKES,), **options)).results())


def device(name: str, kind: str, count: int = 4) -> dict[str, Any]:
    return {"name": name, "kind": kind, "count": count}


@pytest.mark.parametrize(
    ("shown", "environment", "hidden"),
    [
        (device("cuda:2", "cuda"), {}, {"CUDA_VISIBLE_DEVICES": "2"}),
        (device("cuda:1", "cuda", 2), {"CUDA_VISIBLE_DEVICES": "5, 7"}, {"CUDA_VISIBLE_DEVICES": "7"}),
        (device("cuda:1", "cuda", 2), {"CUDA_VISIBLE_DEVICES": "GPU-a,GPU-b"}, {"CUDA_VISIBLE_DEVICES": "GPU-b"}),
        (device("cuda:3", "cuda"), {"CUDA_VISIBLE_DEVICES": "0"}, {}),
        (device("cuda:0", "cuda", 1), {}, {}),
        (device("cuda:2", "rocm"), {}, {"HIP_VISIBLE_DEVICES": "2"}),
        (device("cuda:1", "rocm", 2), {"ROCR_VISIBLE_DEVICES": "4,6"}, {"HIP_VISIBLE_DEVICES": "1"}),
        (device("cuda:1", "rocm", 2), {"CUDA_VISIBLE_DEVICES": "4,6"}, {"CUDA_VISIBLE_DEVICES": "6"}),
        (device("cuda:1", "rocm", 2), {"HIP_VISIBLE_DEVICES": "4,6"}, {"HIP_VISIBLE_DEVICES": "6"}),
        (device("xpu:1", "xpu", 2), {}, {"ZE_AFFINITY_MASK": "1"}),
        (device("xpu:1", "xpu", 2), {"ZE_AFFINITY_MASK": "0.0,0.1"}, {"ZE_AFFINITY_MASK": "0.1"}),
        (device("xpu:1", "xpu", 2), {"ONEAPI_DEVICE_SELECTOR": "level_zero:*"}, {}),
        (device("cpu", "cpu", 64), {}, {}),
    ],
)
def test_the_variable_of_its_vendor_leaves_one_device(
    shown: dict[str, Any], environment: dict[str, str], hidden: dict[str, str]
) -> None:
    assert hide_others(shown, environment) == hidden


def test_nvml_knows_a_gpu_by_its_uuid_or_its_place_on_the_bus() -> None:
    gpus = [Gpu(0, uuid="GPU-a", pci_address="0000:01:00.0"), Gpu(1, uuid="GPU-b", pci_address="0000:C1:00.0")]
    for known in ({"uuid": "b", "pci": None}, {"uuid": None, "pci": "0000:c1:00.0"}):
        assert _as_nvml({"kind": "cuda", "count": 2, **known}, gpus) is gpus[1]
    assert _as_nvml({"kind": "cuda", "count": 2, "uuid": None, "pci": "0000:d1:00.0"}, gpus) is None


def test_a_smoke_of_one_gpu_sees_no_other_and_those_of_all_come_last(lend: pytest.MonkeyPatch) -> None:
    results = run("looks", "together", at_once=1)
    assert [(result.device, result.id) for result in results] == [
        *((f"cuda:{number}", "looks") for number in range(4)),
        ("cuda:0", "together"),
    ]
    assert [result.details["visible"] for result in results] == ["0", "1", "2", "3", None]
    assert [result.details["count"] for result in results] == [1, 1, 1, 1, 4]


def test_one_gpu_of_several_that_was_asked_for_is_alone_too(lend: pytest.MonkeyPatch) -> None:
    looks, together = run("looks", "together", devices=("cuda:2",))
    assert (looks.device, looks.details["visible"], looks.details["name"]) == ("cuda:2", "2", "cuda:0")
    assert together.details["count"] == 4


def test_a_variable_that_counts_in_another_order_is_not_relied_on(lend: pytest.MonkeyPatch) -> None:
    lend.setenv("LENT_ORDER", "3,2,1,0")
    assert {result.details["visible"] for result in run("looks", at_once=1)} == {None}


def test_several_gpus_work_side_by_side_and_their_results_come_in_order(
    lend: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lend.setenv("LENT_NOTES", str(tmp_path))
    results = run("looks", "meets", "together", at_once=4)
    assert [result.device for result in results] == [f"cuda:{number // 2}" for number in range(8)] + ["cuda:0"]
    assert {result.outcome for result in results} == {"pass"}
    assert len({result.details["process"] for result in results if result.id == "looks"}) == 4
    assert results[-1].details["begun"] >= max(result.details["met"] for result in results if result.id == "meets")


def test_a_run_that_is_given_up_leaves_nothing_running(lend: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lend.setenv("LENT_NOTES", str(tmp_path))
    results = Run(Plan(sys.executable, only=("looks", "sleeps"), folders=(SMOKES,), at_once=4)).results()
    next(results)
    deadline = time.monotonic() + 60
    while len(list(tmp_path.glob("*.asleep"))) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    started = time.monotonic()
    results.close()
    assert time.monotonic() - started < 15
    asleep = [int(path.stem) for path in tmp_path.glob("*.asleep")]
    assert len(asleep) == 4 and all(is_gone(process) for process in asleep)


def test_one_gpu_that_falls_off_the_bus_does_not_stop_the_others_but_what_needs_all(lend: pytest.MonkeyPatch) -> None:
    results = run("third-is-lost", "looks", "together", at_once=1)
    outcomes = {(result.device, result.id): result for result in results}
    assert [outcomes[f"cuda:{number}", "looks"].outcome for number in range(4)] == ["pass", "pass", "lost", "pass"]
    assert outcomes["cuda:0", "together"].outcome == "lost"
    assert outcomes["cuda:0", "together"].reason == "not run: cuda:2 no longer answers (since third-is-lost)"


def test_a_card_that_torch_has_no_code_for_is_not_said_to_be_gone(lend: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As torch 2.15 does on a V100: every kernel is refused."""
    refused = "CUDA error: no kernel image is available for execution on the device"
    code = f"def ones(*shape, **options): raise RuntimeError({refused!r})\ndef zeros(*shape, **options): ones()"
    lend.setenv("PYTHONPATH", python_path(tmp_path / "site", {"torchlift_smoke.devices": LENT, "torch": code}))
    first, second, third = run("alloc", "elementwise", "looks", devices=("cuda:0",))
    assert (first.outcome, first.signature) == ("fail", "no-kernel-image")
    assert second.outcome == third.outcome == "skip"
    assert second.reason is not None and second.reason.endswith(
        "cannot use cuda:0 at all, see alloc; with one that can it runs"
    )


def test_a_card_that_answered_and_then_does_not_is_gone(lend: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code = "def ones(*shape, **options): raise RuntimeError('CUDA error: unspecified launch failure')"
    lend.setenv("PYTHONPATH", python_path(tmp_path / "site", {"torchlift_smoke.devices": LENT, "torch": code}))
    results = run("looks", "third-is-lost", "elementwise", "alloc", devices=("cuda:0",))
    assert [result.outcome for result in results] == ["pass", "pass", "lost", "lost"]
    assert results[3].reason == "not run: cuda:0 no longer answers (since elementwise)"


def test_a_device_that_this_torch_was_not_built_for_is_a_wrong_option() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "torchlift", "doctor", "--smoke=quick", "--device=xpu:9"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert re.search(
        r"no device 'xpu:9': this torch is built without XPU\. Devices: (\S+, )*cpu", " ".join(done.stderr.split())
    )
