"""The smokes that have a meaning on the CPU run for real, through the command; gates, known failures and rates."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from exhaustive import is_exhaustive

import torchlift.doctor.smoke as package
from torchlift.doctor.facts import Gpu
from torchlift.doctor.schemas import report_schema
from torchlift.doctor.smoke.loading import own_smokes, smokes_below
from torchlift.doctor.smoke.parent.catalogue import catalogue
from torchlift.doctor.smoke.parent.datasheet import cards, find_card
from torchlift.doctor.smoke.parent.desk_check import places
from torchlift.doctor.smoke.parent.floor import held_back, judge
from torchlift.doctor.smoke.parent.nvml_watch import Sample
from torchlift.doctor.smoke.parent.outcome import SmokeResult
from torchlift.doctor.smoke.parent.runner import Plan, Run, SmokeError
from torchlift.doctor.smoke.parent.signatures import COMMON, find_signature
from torchlift.doctor.smoke.parent.torch_process import TorchProcess, TorchUnavailable
from torchlift.doctor.smoke.smoke import GPUS, TIERS, tiers_of
from torchlift.doctor.smoke.zygote import TAIL, last_lines

pytestmark = pytest.mark.xdist_group("smokes")

FOLDER = Path(package.__file__).parent
ROOT = Path(__file__).parents[2]
FAULTS = Path(__file__).parent / "faulty_smokes"
ON_GPUS_ONLY = frozenset(
    """accelerator-graph cuda-graph expandable-segments graph-annotations jiterator mxfp8-matmul nvfp4-matmul peer-copy
    sdpa-cudnn sdpa-efficient sparse-24 triton""".split()
)
COMPILED = frozenset({"compile", "aoti", "flex-attention", "inductor-half", "inductor-gemm", "inductor-cpp-wrapper"})


def _doctor(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "torchlift", "doctor", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def _in_full() -> list[str]:
    return [id for id, smoke in own_smokes().items() if smoke.tier in tiers_of("full")]


@pytest.fixture(scope="session")
def full_on_cpu() -> dict[str, Any]:
    """One run of everything, once: but for what compiles with Inductor, unless the run is exhaustive."""
    chosen = [] if is_exhaustive() else [f"--smoke-only={id}" for id in _in_full() if id not in COMPILED]
    done = _doctor("--smoke=full", *chosen, "--device", "cpu", "--json")
    assert done.stderr == ""
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_every_smoke_with_a_meaning_on_the_cpu_passes_there(full_on_cpu: dict[str, Any]) -> None:
    outcomes = {result["id"]: (result["outcome"], result["reason"]) for result in full_on_cpu["smokes"]["results"]}
    left_out = set() if is_exhaustive() else COMPILED
    assert list(outcomes) == [id for id in _in_full() if id not in left_out]
    skipped = {id for id, (outcome, _) in outcomes.items() if outcome == "skip"}
    allowed = set(ON_GPUS_ONLY)
    if shutil.which("g++") is None:
        allowed |= {*COMPILED, "cond"}
    if sys.platform != "linux":
        allowed |= {"collective-multi", "point-to-point", "export-mx"}
    assert ON_GPUS_ONLY <= skipped <= allowed
    assert {id: outcome for id, outcome in outcomes.items() if id not in skipped and outcome[0] != "pass"} == {}


def test_every_comparison_is_within_its_published_limit(full_on_cpu: dict[str, Any]) -> None:
    for result in full_on_cpu["smokes"]["results"]:
        limits = dict(own_smokes()[result["id"]].limits)
        for name, measured in result["details"].items():
            if isinstance(measured, dict) and "limit" in measured:
                known = limits.get(name, limits.get(f"{name.partition(', rank')[0]}, every rank"))
                assert known == measured["limit"], (result["id"], name)
                assert measured["error"] <= measured["limit"]


def test_the_report_of_a_run_with_smokes_fits_the_published_schema(full_on_cpu: dict[str, Any]) -> None:
    jsonschema.validate(full_on_cpu, report_schema())
    assert full_on_cpu["smokes"]["failed"] is False
    assert full_on_cpu["smokes"]["tier"] == ("full" if is_exhaustive() else None)


def test_rates_without_a_datasheet_are_numbers_without_a_verdict(full_on_cpu: dict[str, Any]) -> None:
    results = {result["id"]: result for result in full_on_cpu["smokes"]["results"]}
    for id, unit in (("bandwidth", "GB/s"), ("bf16-rate", "TFLOP/s")):
        assert results[id]["outcome"] == "pass"
        assert unit in results[id]["reason"] and "no verdict" in results[id]["reason"]
        assert results[id]["details"]["rate"] > 0


def test_eigh_tells_its_speed_against_a_loop(full_on_cpu: dict[str, Any]) -> None:
    eigh = next(result for result in full_on_cpu["smokes"]["results"] if result["id"] == "eigh")
    assert eigh["details"]["faster_than_loop"] > 0


def test_the_doctors_own_process_never_imports_torch() -> None:
    code = (
        "import sys; from torchlift.doctor.smoke.parent.runner import Plan, Run;"
        "results = list(Run(Plan(sys.executable, only=('alloc',), devices=('cpu',))).results());"
        "print(results[0].outcome, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["pass", "False"]


def test_the_process_that_forks_never_touches_a_device(tmp_path: Path) -> None:
    """A fork of a process that has started CUDA cannot use it: torch says so with `is_in_bad_fork`."""
    (tmp_path / "fork.py").write_text(
        "from torchlift_smoke.smoke import Measurement, Smoke\n"
        "def _run(bench):\n"
        "    import os\n"
        "    cuda = bench.torch.cuda\n"
        "    started = cuda.is_initialized() or cuda._is_in_bad_fork()\n"
        "    return Measurement(float(started), 0.0, {'check': os.environ.get('PYTORCH_NVML_BASED_CUDA_CHECK')})\n"
        "SMOKE = Smoke(id='fork', tier='quick', title='Fork', run=_run)\n"
    )
    plan = Plan(sys.executable, only=("alloc", "fork"), devices=("cpu",), folders=(tmp_path,))
    results = list(Run(plan).results())
    assert [result.outcome for result in results] == ["pass", "pass"]
    assert results[1].details["check"] is None


def test_the_quick_tier_is_the_beginning_of_the_default_tier() -> None:
    plans = [Run(Plan(sys.executable, tier=tier)) for tier in TIERS if tier != "burn"]
    ids = [[chosen.smoke.id for chosen in run.chosen] for run in plans]
    assert ids[1][: len(ids[0])] == ids[0] and ids[2][: len(ids[1])] == ids[1]
    assert len(ids[0]) < len(ids[1]) < len(ids[2]) == sum(smoke.tier != "burn" for smoke in own_smokes().values())


def test_an_unknown_smoke_is_refused_with_a_suggestion() -> None:
    with pytest.raises(SmokeError, match=r"There is no smoke 'elementwize'. Did you mean 'elementwise'"):
        Run(Plan(sys.executable, only=("elementwize",)))


def test_an_unknown_device_is_refused_with_those_there_are() -> None:
    with pytest.raises(SmokeError, match=r"There is no device 'tpu:0'. Devices: cpu"):
        list(Run(Plan(sys.executable, only=("alloc",), devices=("tpu:0",))).results())


def test_two_smokes_with_one_id_are_refused(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text((FAULTS / "gated.py").read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(SmokeError, match=r"b.py and .*a.py both bind a smoke with the id 'gated'"):
        Run(Plan(sys.executable, folders=(tmp_path,)))


def test_an_interpreter_without_torch_is_said_to_have_none(tmp_path: Path) -> None:
    # A torch that is not there: the one that is found first cannot be found itself.
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n")
    with (
        TorchProcess(sys.executable, environment={**os.environ, "PYTHONPATH": str(tmp_path)}) as interpreter,
        pytest.raises(TorchUnavailable, match="torch is not installed for") as caught,
    ):
        interpreter.start()
    assert caught.value.missing


def test_a_torch_that_cannot_be_imported_fails_the_run_with_cause_and_remedy(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libtorch_cuda.so: undefined symbol: ncclCommResume')\n")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    done = _doctor("--smoke=quick", PYTHONPATH=path)
    assert done.returncode == 1
    assert "undefined symbol: ncclCommResume" in done.stdout
    assert "Uninstall both families" in " ".join(done.stdout.split())


def test_an_interpreter_that_dies_while_it_imports_torch_is_reported(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("import os\nos._exit(7)\n")
    with (
        TorchProcess(sys.executable, environment={**os.environ, "PYTHONPATH": str(tmp_path)}) as interpreter,
        pytest.raises(TorchUnavailable, match="exit status 7"),
    ):
        interpreter.start()


def test_a_file_named_torch_in_the_current_folder_is_not_taken_for_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch.py").write_text("raise RuntimeError('not this one')\n")
    monkeypatch.chdir(tmp_path)
    with TorchProcess(sys.executable) as interpreter:
        interpreter.start()
        assert interpreter.torch is not None


def test_the_command_fails_when_a_smoke_fails_and_says_so_first() -> None:
    done = _doctor(
        "--smoke-only", "wrong-numbers", "--smoke-only", "zz-well", "--smoke-folder", str(FAULTS), "--device=cpu"
    )
    assert done.returncode == 1
    assert "wrong-numbers" in done.stdout and "failed: wrong numbers in wrong" in done.stdout
    assert "1 passed, 1 failed" in done.stdout
    assert "1 of 2 smokes failed, first wrong-numbers on cpu" in " ".join(done.stdout.split())


def test_without_a_terminal_progress_is_plain_lines() -> None:
    done = _doctor("--smoke-only=alloc", "--device=cpu", "--color=never")
    assert "\r" not in done.stdout and "\x1b" not in done.stdout
    assert "alloc" in done.stdout


def test_smoke_without_a_tier_means_the_default_one() -> None:
    from torchlift.doctor.cli import doctor

    context = doctor.make_context("doctor", ["--smoke", "--json"])
    assert (context.params["smoke"], context.params["format"]) == ("default", "json")


def test_smokes_of_a_described_machine_are_refused() -> None:
    done = _doctor("--smoke=quick", "--gpu", "H100")
    assert done.returncode == 2
    assert "Smokes run on this machine" in done.stderr


def test_all_smokes_are_listed() -> None:
    done = _doctor("--list-smokes", "--json")
    listed = json.loads(done.stdout)
    assert [row["id"] for row in listed] == list(own_smokes())


def test_redacted_reports_name_no_folder_of_the_user(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "someone-special"
    folder.mkdir(parents=True)
    shutil.copy(FAULTS / "raises.py", folder)
    done = _doctor("--smoke-only=raises", "--smoke-folder", str(folder), "--device=cpu", "--json", "--redact")
    assert json.loads(done.stdout)["smokes"]["results"][0]["outcome"] == "fail"
    assert "someone-special" not in done.stdout


def test_output_that_is_too_long_begins_with_a_whole_line() -> None:
    line = b"/home/someone-special/file\n"
    assert last_lines(line) == line.decode() and last_lines(2 * TAIL * line).startswith(line.decode())


# Texts as they were printed or quoted in the issues they come from.
@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("The NVIDIA driver on your system is too old (found version 12080)", "driver-too-old"),
        ("Found no NVIDIA driver on your system", "no-driver"),
        ("Error 804: forward compatibility was attempted on non supported HW", "forward-compatibility"),
        ("Error 803: system has unsupported display driver / cuda driver combination", "driver-mix"),
        ("Driver/library version mismatch", "driver-library-mismatch"),
        ("RM has detected an NVML/RM version mismatch.", "driver-library-mismatch"),
        ("Error 802: system not yet initialized", "system-not-ready"),
        (
            "CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable "
            "CUDA_VISIBLE_DEVICES after program start. (Triggered internally) Error 999: unknown error",
            "cuda-unknown",
        ),
        ("Error 34: CUDA driver is a stub library", "stub-libcuda"),
        ("CUDA error: no kernel image is available for execution on the device", "no-kernel-image"),
        ("CUDA error: the provided PTX was compiled with an unsupported toolchain.", "unsupported-ptx"),
        ("No CUDA GPUs are available", "no-gpus"),
        ("NVML_SUCCESS == r INTERNAL ASSERT FAILED at CUDACachingAllocator.cpp:1016", "mig-allocator-assert"),
        ("AssertionError: libcuda.so cannot found!", "libcuda-not-in-loader-cache"),
        ("undefined symbol: ncclCommResume", "wheel-families-mixed"),
        ("undefined symbol: ncclAlltoAll", "wheel-families-mixed"),
        ("undefined symbol: ncclMemFree", "wheel-families-mixed"),
        ("ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory", "cudnn-not-found"),
        ("RuntimeError: operator torchvision::nms does not exist", "torchvision-mismatch"),
        ("ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'", "ptxas-too-old"),
        ("triton.runtime.errors.PTXASError: PTXAS error", "ptxas-too-old"),
        ("torch._inductor.exc.GPUTooOldForTriton: Found Tesla P100", "triton-gpu-too-old"),
        ("RuntimeError: Failed to find C compiler. Please specify via CC environment variable", "no-c-compiler"),
        ("CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH", "cudnn-mismatch"),
        ("cuDNN error: CUDNN_STATUS_NOT_INITIALIZED", "cudnn-not-initialized"),
        ("CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasGemmEx`", "cublas-not-supported"),
        ("CUDA error: all CUDA-capable device(s) is/are busy or unavailable", "busy"),
        ("NVML: GPU is lost", "gpu-lost"),
        ("ncclUnhandledCudaError: Call to CUDA function failed. unhandled cuda error", "nccl-cuda-error"),
        ("Bus error (core dumped): out of shared memory", "shared-memory"),
        ("CUDA out of memory. Tried to allocate 20.00 MiB", "out-of-memory"),
    ],
)
def test_error_texts_are_recognised(text: str, id: str) -> None:
    found = find_signature(text)
    assert found is not None and found.id == id
    assert found.cause and found.remedy


@pytest.mark.parametrize(
    ("smoke", "text", "id"),
    [
        ("profiler", "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", "cupti-privileges"),
        ("sdpa-flash", "RuntimeError: No available kernel. Aborting execution.", "no-attention-kernel"),
        ("linalg", "CUDA error: no kernel image is available for execution on the device", "magma-without-this-gpu"),
        ("collective-multi", "ranks [0, 1] of 2 were not done within 60 s: they wait for each other", "ranks-hang"),
        ("sparse-24", "libcusparseLt.so.0: cannot open shared object file", "no-cusparselt"),
    ],
)
def test_a_smokes_own_failures_come_before_the_common_ones(smoke: str, text: str, id: str) -> None:
    found = find_signature(text, own_smokes()[smoke].signatures)
    assert found is not None and found.id == id


def test_a_text_that_nobody_knows_gets_no_cause() -> None:
    assert find_signature("RuntimeError: the moon is full") is None


def test_signatures_have_names_of_their_own() -> None:
    ids = [signature.id for signature in COMMON]
    ids += sorted({signature.id for smoke in own_smokes().values() for signature in smoke.signatures})
    assert len(ids) == len(set(ids))


H200 = {"title": "NVIDIA H200", "memory": 150_000_000_000}


def _rate(id: str, rate: float) -> SmokeResult:
    return SmokeResult(id, "cuda:0", "full", "", "pass", details={"rate": rate})


def test_a_rate_near_the_datasheet_passes_with_its_share() -> None:
    result = _rate("bandwidth", 4.2e12)
    judge(result, H200, Gpu(0), [])
    assert result.outcome == "pass" and "warning" not in result.details
    assert result.reason == "NVIDIA H200 runs at 88% of its datasheet bandwidth (4200 GB/s of 4800 GB/s)"


def test_a_slow_card_is_told_why_it_is_slow() -> None:
    result = _rate("bandwidth", 1.6e12)
    gpu = Gpu(0, pcie_width=8, pcie_width_max=16, power_limit=350.0, power_limit_default=700.0)
    judge(result, H200, gpu, [Sample(0.0, 0, ("hw-thermal-slowdown",), memory_clock=2619, memory_clock_max=2619)])
    assert result.outcome == "pass" and result.details["warning"] is True
    assert result.reason == (
        "NVIDIA H200 runs at 33% of its datasheet bandwidth (1600 GB/s of 4800 GB/s) at 100% of its clock: "
        "hw-thermal-slowdown is active; "
        "its PCIe link has 8 lanes of 16; its power cap is 350 W of 700 W"
    )


def test_a_card_far_below_its_datasheet_fails() -> None:
    result = _rate("bf16-rate", 100e12)
    judge(result, H200, None, [])
    assert (result.outcome, result.signature, result.likely) == ("fail", "below-floor", True)


L4 = {"title": "NVIDIA L4", "memory": 24 << 30}


def test_a_card_whose_power_budget_does_not_allow_its_datasheet_is_not_blamed() -> None:
    result = _rate("bf16-rate", 50e12)
    under_load = [Sample(float(n), 0, ("sw-power-cap",), sm_clock=900, pcie_generation=4) for n in range(5)]
    gpu = Gpu(
        0, sm_clock_max=2040, power_limit=72.0, power_limit_default=72.0, pcie_generation=1, pcie_generation_max=4
    )
    judge(result, L4, gpu, under_load)
    assert result.outcome == "pass" and "warning" not in result.details
    assert result.reason == (
        "NVIDIA L4 runs at 41% of its datasheet bf16 rate (50.0 TFLOP/s of 121.0 TFLOP/s) at 44% of its clock: "
        "sw-power-cap is active; its power cap is 72 W"
    )


def test_a_card_that_heat_slows_down_is_warned_of_and_does_not_fail() -> None:
    result = _rate("bf16-rate", 100e12)
    judge(result, H200, Gpu(0, sm_clock_max=1980), [Sample(0.0, 0, ("hw-thermal-slowdown",), sm_clock=345)])
    assert result.outcome == "pass" and result.details["warning"] is True
    assert "17% of its clock" in (result.reason or "")


def test_the_link_of_a_gpu_at_rest_is_no_cause() -> None:
    resting = Gpu(0, pcie_generation=1, pcie_generation_max=5)
    assert held_back(resting, []) == []
    slow = held_back(resting, [Sample(0.0, 0, pcie_generation=3)])
    assert slow == ["its PCIe link runs at generation 3 of 5"]


def test_a_card_without_a_datasheet_and_a_slice_of_one_get_no_verdict() -> None:
    for device, name in (({"title": "NVIDIA H300", "memory": 1}, "cuda:0"), (H200, "MIG-1")):
        result = _rate("bandwidth", 1e9)
        result.device = name
        judge(result, device, None, [])
        assert result.outcome == "pass" and "no verdict" in (result.reason or "")


def test_a_similar_name_is_not_the_card() -> None:
    assert find_card("NVIDIA H200 NVL", 150_000_000_000) is None
    assert find_card("NVIDIA L4", 24 << 30) is not None


def test_every_datasheet_row_says_where_it_is_from() -> None:
    for card in cards():
        assert all(source.startswith("https://") for source in card.source.split(" ")), card.name
        assert card.rates and all(1e11 < rate < 2e16 for rate in card.rates.values()), card.name
        assert 1e11 < (card.rate("memory") or 1e12) < 2e13, card.name
        # Sparse numbers are twice the dense ones: types of half the size are not four times as fast.
        for wide, narrow in (("tf32", "bf16"), ("bf16", "fp8")):
            pair = card.rate(wide), card.rate(narrow)
            assert not all(pair) or (pair[1] or 0) / (pair[0] or 1) == pytest.approx(2, rel=0.1), card.name
    names = [(card.match.casefold(), card.memory_between) for card in cards()]
    assert len(names) == len(set(names))


def test_the_catalogue_is_in_step_with_the_smokes() -> None:
    assert (ROOT / "docs" / "smokes.md").read_text(encoding="utf-8") == catalogue()


def test_every_smoke_of_a_gpu_has_been_read_against_torch() -> None:
    on_gpus = {id for id, smoke in own_smokes().items() if set(smoke.kinds) & set(GPUS)}
    assert set(places()["python"]) == on_gpus and all(places()["python"].values())
    assert set(places()["binary"]) <= on_gpus


def test_the_places_that_were_read_are_in_the_torch_that_is_installed() -> None:
    torch = pytest.importorskip("torch")
    release = torch.__version__.partition("+")[0]
    root = Path(torch.__file__).parent
    rows = [row for rows in places()["python"].values() for row in rows]
    assert all(set(row["lines"]) == {"2.13.0", "2.15.0"} for row in rows)
    for row in rows if release in rows[0]["lines"] else ():
        source = root.joinpath(row["file"]).read_text(encoding="utf-8")
        assert source.count("\n", 0, source.index(row["text"])) + 1 == row["lines"][release], row


def test_no_limit_is_said_to_come_from_a_gpu() -> None:
    for smoke in own_smokes().values():
        assert "not yet" in smoke.calibrated, smoke.id


def _examined_side() -> list[Path]:
    return [*FOLDER.glob("*.py"), *FOLDER.joinpath("smokes").glob("*.py")]


@pytest.mark.parametrize("path", _examined_side(), ids=lambda path: path.stem)
def test_what_runs_under_the_examined_interpreter_needs_only_python_39_and_torch(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
    imported = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    for node in imported:
        absolute = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        if isinstance(node, ast.ImportFrom) and node.level:
            continue
        for name in absolute:
            top = name.partition(".")[0]
            assert top in sys.stdlib_module_names or top in ("torch", "triton"), (path.name, name)
    assert not any(isinstance(node, ast.keyword) and node.arg == "strict" for node in ast.walk(tree)), "3.10 brought it"
    if path.stem != "triton_kernel" and any(isinstance(node, ast.FunctionDef) for node in ast.walk(tree)):
        assert any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in imported)


DECLARED = "from torchlift_smoke.smoke import Smoke\nSMOKE = Smoke(id='declared', tier='quick', title='Declared')\n"


def test_the_functions_below_a_declaration_are_its_run_and_gate(tmp_path: Path) -> None:
    code = "def run(bench): return 'ran'\ndef gate(bench): return 'closed'\n"
    tmp_path.joinpath("declared.py").write_text(DECLARED + code)
    smoke, _ = smokes_below([tmp_path])["declared"]
    assert [smoke.run(None), smoke.gate(None)] == ["ran", "closed"]  # type: ignore[arg-type]


def test_a_smoke_that_nothing_runs_is_refused(tmp_path: Path) -> None:
    tmp_path.joinpath("declared.py").write_text(DECLARED)
    with pytest.raises(ValueError, match="has no function `run`: nothing would run declared"):
        smokes_below([tmp_path])
