"""Smokes through the command: what is refused, what is said, which failures are known."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from patched_imports import python_path, with_stand_in

import torchlift.doctor.smoke as package
from torchlift.doctor.smoke.loading import own_smokes, smokes_below
from torchlift.doctor.smoke.parent.catalogue import catalogue
from torchlift.doctor.smoke.parent.desk_check import places
from torchlift.doctor.smoke.parent.measured import measured, runs
from torchlift.doctor.smoke.parent.outcome import SmokeResult
from torchlift.doctor.smoke.parent.report import SmokeReport
from torchlift.doctor.smoke.parent.runner import Plan, Run, SmokeError
from torchlift.doctor.smoke.parent.signatures import COMMON, find_signature
from torchlift.doctor.smoke.parent.torch_process import TorchProcess, TorchUnavailable
from torchlift.doctor.smoke.smoke import GPUS, TIERS
from torchlift.doctor.smoke.zygote import TAIL, last_lines

pytestmark = pytest.mark.xdist_group("smokes")

FOLDER = Path(package.__file__).parent
ROOT = Path(__file__).parents[2]
FAULTS, LOST = (Path(__file__).parent / name for name in ("faulty_smokes", "lost_smokes"))


def _doctor(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "torchlift", "doctor", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.fixture
def light_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For smokes that compute nothing."""
    monkeypatch.setenv("PYTHONPATH", python_path(with_stand_in(tmp_path / "site"), {}))


@pytest.mark.usefixtures("light_torch")
def test_the_doctors_own_process_never_imports_torch() -> None:
    code = (
        "import pathlib, sys; from torchlift.doctor.smoke.parent.runner import Plan, Run;"
        f"well = Plan(sys.executable, only=('zz-well',), devices=('cpu',), folders=(pathlib.Path({str(LOST)!r}),));"
        "results = list(Run(well).results());"
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


@pytest.mark.usefixtures("light_torch")
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
        pytest.raises(TorchUnavailable, match="is not installed for") as caught,
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


@pytest.mark.usefixtures("light_torch")
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


@pytest.mark.usefixtures("light_torch")
def test_without_a_terminal_progress_is_plain_lines() -> None:
    done = _doctor("--smoke-only=zz-well", "--smoke-folder", str(LOST), "--device=cpu", "--color=never")
    assert "\r" not in done.stdout and "\x1b" not in done.stdout
    assert "zz-well" in done.stdout


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


@pytest.mark.usefixtures("light_torch")
def test_redacted_reports_name_no_folder_of_the_user(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "someone-special"
    folder.mkdir(parents=True)
    shutil.copy(FAULTS / "raises.py", folder)
    done = _doctor("--smoke-only=raises", "--smoke-folder", str(folder), "--device=cpu", "--json", "--redact")
    assert json.loads(done.stdout)["smokes"]["results"][0]["outcome"] == "fail"
    assert "someone-special" not in done.stdout


def test_a_run_in_which_nothing_failed_has_nothing_to_sum_up() -> None:
    results = [SmokeResult(id, "cpu", "quick", "", "pass") for id in ("alloc", "conv")]
    assert SmokeReport("quick", "python", results=results).summary() == ""
    results[1].outcome, results[1].reason = "fail", "wrong numbers.\nAnd more."
    failed = SmokeReport("quick", "python", results=results)
    assert failed.summary() == "1 of 2 smokes failed, first conv on cpu: wrong numbers." and failed.exit_code == 1


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
    ids = [row.id for row in COMMON]
    ids += sorted({signature.id for smoke in own_smokes().values() for signature in smoke.signatures})
    assert len(ids) == len(set(ids))


def test_the_catalogue_is_in_step_with_the_smokes() -> None:
    assert (ROOT / "docs" / "smokes.md").read_text(encoding="utf-8") == catalogue()


def test_every_smoke_of_a_gpu_has_been_read_against_torch() -> None:
    on_gpus = {id for id, smoke in own_smokes().items() if set(smoke.kinds) & set(GPUS)}
    assert set(places()["python"]) == on_gpus, "each needs its row in doctor/smoke/parent/desk_check.json"
    assert all(places()["python"].values())
    assert set(places()["binary"]) <= on_gpus


def test_the_places_that_were_read_are_in_the_torch_that_is_installed() -> None:
    torch = pytest.importorskip("torch")
    release = torch.__version__.partition("+")[0]
    root = Path(torch.__file__).parent
    rows = [row for rows in places()["python"].values() for row in rows]
    assert all(row["lines"] and set(row["lines"]) <= {"2.13.0", "2.15.0"} for row in rows)
    for row in rows:
        if release not in row["lines"]:
            continue
        source = root.joinpath(row["file"]).read_text(encoding="utf-8")
        assert source.count("\n", 0, source.index(row["text"])) + 1 == row["lines"][release], row


def test_what_a_smoke_gave_on_a_gpu_is_well_below_the_limit_that_it_has_now() -> None:
    smokes = own_smokes()
    seen = [(smokes[id], row) for run in runs() for id, row in run["smokes"].items()]
    assert len(seen) > 30
    for smoke, row in seen:
        if "said" not in row:
            assert row["limit"] == smoke.limit(row["worst"]), smoke.id
            assert row["error"] <= row["limit"] / 3, smoke.id


def test_a_smoke_that_ran_on_no_gpu_says_so() -> None:
    smokes = own_smokes()
    ran = {id for run in runs() for id in run["smokes"]}
    told = {id for id, smoke in smokes.items() if "not run on a GPU" in measured(smoke)}
    assert told == {id for id, smoke in smokes.items() if set(smoke.kinds) & set(GPUS)} - ran


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
