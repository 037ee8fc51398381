"""Every way for a burn to go wrong gets its verdict, and leaves nothing running."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from torchlift.doctor.smoke.parent.outcome import SmokeResult
from torchlift.doctor.smoke.parent.runner import Plan, Run

pytestmark = [
    pytest.mark.xdist_group("faulty smokes"),
    pytest.mark.skipif(sys.platform != "linux", reason="forks, and looks into /proc"),
]

BURNS = {
    "burn_matmul": ("torch", "mm"),
    "burn_memory": ("torch.Tensor", "fill_"),
    "burn_pcie": ("torch.Tensor", "copy_"),
    "burn_collectives": ("torch.distributed", "all_reduce"),
}
"""What each smoke calls again and again."""

FAULTS = {
    "raises": 'raise RuntimeError("CUDA error: an illegal memory access was encountered")',
    "hangs": "time.sleep(600)",
    "dies": "ctypes.string_at(0)",
}

FAULTY = """\
import ctypes
import time

from torchlift_smoke.smoke import Smoke
from torchlift_smoke.smokes import {module} as real

SMOKE = Smoke(id="{id}", tier="burn", title="{id}", kinds=("cpu",), timeout={timeout}, loads=True)


def run(bench):
    torch = bench.torch
    import torch.distributed

    holder, calls = {holder}, []
    original = getattr(holder, "{name}")

    def faulty(*arguments, **options):
        calls.append(1)
        if len(calls) > 3:
            {fault}
        return original(*arguments, **options)

    setattr(holder, "{name}", faulty)
    return real.run(bench)
"""


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SmokeResult]:
    folder = tmp_path_factory.mktemp("faulty")
    ids = []
    for module, (holder, name) in BURNS.items():
        for how, fault in FAULTS.items():
            id = f"{module.replace('_', '-')}-{how}"
            timeout = 4 if how == "hangs" else 60
            text = FAULTY.format(module=module, id=id, holder=holder, name=name, fault=fault, timeout=timeout)
            (folder / f"{module}_{how}.py").write_text(text)
            ids.append(id)
    os.environ["TORCHLIFT_TEST_FAULTS"] = str(folder)
    try:
        plan = Plan(sys.executable, only=tuple(ids), devices=("cpu",), folders=(folder,), burn_seconds=1)
        results = {result.id: result for result in Run(plan).results()}
    finally:
        del os.environ["TORCHLIFT_TEST_FAULTS"]
    until = time.monotonic() + 5
    while _left_by(folder) and time.monotonic() < until:
        time.sleep(0.05)
    assert _left_by(folder) == []
    return results


def _left_by(folder: Path) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            alive = (place / "stat").read_text().rpartition(") ")[2][0] != "Z"
            if alive and f"TORCHLIFT_TEST_FAULTS={folder}".encode() in (place / "environ").read_bytes():
                found.append(int(place.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("burn", [name.replace("_", "-") for name in BURNS])
def test_an_exception_a_hang_and_a_crash_are_told_apart(faulty: dict[str, SmokeResult], burn: str) -> None:
    raised, hung, died = (faulty[f"{burn}-{how}"] for how in FAULTS)
    assert raised.outcome == "fail" and "illegal memory access" in (raised.reason or "")
    assert raised.signature == "illegal-access"
    assert hung.outcome == "timeout" and hung.reason == "not done within 4 s, and killed"
    if burn == "burn-collectives":  # its ranks are processes of their own
        assert died.outcome == "fail" and "was killed by signal 11" in (died.reason or "")
    else:
        assert (died.outcome, died.signal) == ("crash", "SIGSEGV")
