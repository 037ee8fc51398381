"""Which devices, releases and platforms a smoke asks, and what it says where it does not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from torchlift.doctor.smoke.attention import LIMITS, all_limits
from torchlift.doctor.smoke.bench import Bench
from torchlift.doctor.smoke.loading import own_smokes
from torchlift.doctor.smoke.smoke import KINDS, Skip


class _Stub(Bench):
    """A device of a torch of which only the version is known."""

    def has(self, name: str) -> bool:
        return name not in self.facts.get("without", ())

    def module(self, name: str) -> Any:
        without = self.facts.get("without", ())
        return SimpleNamespace(
            CUDA_HOME=None if "toolkit" in without else "/usr/local/cuda",
            ROCM_HOME=None if "toolkit" in without else "/opt/rocm",
            _dump_nccl_trace=bytes,
            _dump_fr_trace=bytes,
            is_available=lambda: True,
            is_nccl_available=lambda: True,
            is_xccl_available=lambda: True,
            is_gloo_available=lambda: True,
            check_if_dynamo_supported=lambda: None,
        )


def _gates(version: str, kind: str, **facts: Any) -> dict[str, str]:
    """Reasons not to run, by id, of the smokes that are for this kind of device."""
    torch = SimpleNamespace(
        __version__=version,
        _scaled_mm=0,
        cond=0,
        accelerator=SimpleNamespace(Graph=0),
        backends=SimpleNamespace(
            cudnn=SimpleNamespace(version=lambda: facts.get("cudnn", 91900)),
            cusparselt=SimpleNamespace(is_available=lambda: "hipsparselt" not in facts.get("without", ())),
            mkldnn=SimpleNamespace(is_available=lambda: True),
        ),
        **dict.fromkeys(("float8_e4m3fn", "float8_e8m0fnu", "float4_e2m1fn_x2"), 0),
    )
    name = {"cpu": "cpu", "rocm": "cuda:0"}.get(kind, f"{kind}:0")
    bench = _Stub(torch, {"name": name, "kind": kind, "count": 2, **facts}, forked=True)
    reasons = {smoke.id: smoke.gate(bench) for smoke in own_smokes().values() if kind in smoke.kinds}
    return {id: reason for id, reason in reasons.items() if reason is not None}


@pytest.mark.parametrize("kind", KINDS)
def test_an_old_torch_is_told_which_one_is_needed(kind: str) -> None:
    for id, reason in _gates("2.0.1+cu117", kind).items():
        assert reason.startswith("needs torch >= 2."), (id, reason)
        assert "this is 2.0.1+cu117" in reason


def test_a_new_torch_on_a_hopper_runs_all_but_the_formats_of_blackwell() -> None:
    assert set(_gates("2.15.0+cu132", "cuda", capability=[9, 0])) == {"mxfp8-matmul", "nvfp4-matmul"}


@pytest.mark.parametrize(("kind", "home"), [("cuda", "CUDA_HOME"), ("rocm", "ROCM_HOME")])
def test_a_package_for_a_gpu_is_compiled_where_there_is_a_toolkit(kind: str, home: str) -> None:
    reasons = _gates("2.15.0", kind, capability=[9, 0], without=("toolkit",))
    assert reasons["aoti"].endswith(f"install one and set {home}") and "compile" not in reasons
    assert "aoti" not in _gates("2.15.0", "xpu", without=("toolkit",))


def test_without_triton_nothing_is_compiled_for_a_gpu() -> None:
    without = _gates("2.15.0", "cuda", capability=[9, 0], without=("triton",))
    assert {"triton", "compile", "flex-attention", "aoti"} <= set(without)
    assert all(
        without[id].startswith("Triton is not installed") for id in ("triton", "compile", "flex-attention", "aoti")
    )
    assert not _gates("2.15.0", "cpu", without=("triton",)).keys() & {"compile", "flex-attention", "aoti"}


@pytest.mark.parametrize(("version", "runs"), [("2.13.0", False), ("2.14.0", True)])
def test_flash_attention_on_windows_is_asked_of_wheels_that_have_it(version: str, runs: bool) -> None:
    assert ("sdpa-flash" not in _gates(version, "cuda", capability=[9, 0], windows=True)) is runs
    assert "sdpa-flash" not in _gates(version, "cuda", capability=[9, 0])


FUSED = ("sdpa-cudnn", "sdpa-flash", "sdpa-efficient", "sdpa-default")


@pytest.mark.parametrize(
    ("version", "capability", "runs"),
    [
        ("2.6.0", [9, 0], True),
        ("2.6.0", [10, 0], False),
        ("2.7.0", [12, 0], True),
        ("2.7.1", [12, 1], False),
        ("2.8.0", [12, 1], True),
        ("2.15.0", [12, 1], True),
        ("2.15.0", [13, 0], False),
    ],
)
def test_attention_is_asked_of_the_architectures_that_a_release_has_it_for(
    version: str, capability: list[int], runs: bool
) -> None:
    reasons = _gates(version, "cuda", capability=capability)
    for id in FUSED:
        assert (id not in reasons) is runs, (id, reasons.get(id))
        assert runs or "compute capability" in reasons[id]


def test_an_older_torch_is_told_which_release_has_attention_for_its_card() -> None:
    assert _gates("2.6.0", "cuda", capability=[10, 0])["sdpa-flash"] == (
        "needs compute capability 8.0 to 9.0; cuda:0 has 10.0; torch 2.7 runs it there"
    )


def test_attention_by_cudnn_needs_its_ninth_version() -> None:
    assert _gates("2.5.0", "cuda", capability=[9, 0], cudnn=8902)["sdpa-cudnn"] == "needs cuDNN 9; this torch has 8902"


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"xpu_device": 0xE20B}, None),
        ({}, None),
        ({"xpu_device": 0x0BD5}, "needs an Xe2 GPU"),
        ({"xpu_device": 0xE20B, "windows": True}, "on Linux this runs"),
    ],
)
def test_flash_attention_on_intel_is_asked_where_torchs_own_tests_ask_it(
    facts: dict[str, Any], why: str | None
) -> None:
    reason = _gates("2.15.0", "xpu", **facts).get("sdpa-flash")
    assert reason is None if why is None else why in (reason or "")


def test_amd_cards_are_asked_what_their_libraries_have() -> None:
    assert not _gates("2.15.0", "rocm", architecture="gfx942:sramecc+").keys() & {
        "sdpa-flash",
        "sparse-24",
        "fp8-matmul",
    }
    assert {"sparse-24", "sdpa-flash"} <= _gates("2.15.0", "rocm", architecture="gfx1030").keys()
    assert "sdpa-efficient" not in _gates("2.15.0", "rocm", architecture="gfx1100")
    without = _gates("2.15.0", "rocm", architecture="gfx942", without=("hipsparselt",))
    assert without["sparse-24"].endswith("a build for ROCm that has it runs this")


def test_every_gate_says_what_would_make_it_run() -> None:
    said = ("needs", "has", "have", "runs", "install", "came with")
    for kind in KINDS:
        for facts in (
            {"capability": [6, 0], "architecture": "gfx906", "count": 1, "windows": True},
            {"without": ("triton", "cuda", "toolkit")},
        ):
            for version in ("2.3.0", "2.15.0"):
                for id, reason in _gates(version, kind, **facts).items():
                    assert any(word in reason.split() or word in reason for word in said), (id, reason)


def test_memory_that_others_fill_is_not_measured() -> None:
    torch = pytest.importorskip("torch")
    full = SimpleNamespace(mem_get_info=lambda index: (100 << 20, 80 << 30))
    bench = Bench(SimpleNamespace(ones=torch.ones, cuda=full), {"name": "cuda:0", "kind": "cuda", "memory": 80 << 30})
    with pytest.raises(Skip, match="only 100 MiB of the device's memory are free; it runs with 256 MiB"):
        own_smokes()["bandwidth"].run(bench)


def test_graphs_by_the_neutral_name_are_skipped_where_no_backend_offers_them() -> None:
    class Graph:
        def __init__(self) -> None:
            raise RuntimeError("Graph is not supported on device type: CUDA")

    class Stream:
        def __enter__(self) -> None: ...
        def __exit__(self, *error: object) -> None: ...
        def wait_stream(self, other: object) -> None: ...
        def synchronize(self) -> None: ...

    torch = pytest.importorskip("torch")
    accelerator = SimpleNamespace(Graph=Graph, set_device_index=print, current_stream=Stream)
    names = ("Generator", "randn", "float32", "float64", "empty_like", "__version__")
    here = SimpleNamespace(**{name: getattr(torch, name) for name in names}, accelerator=accelerator)
    here.Stream = lambda device: Stream()
    with pytest.raises(Skip, match=r"has no torch\.accelerator\.Graph for this kind of device"):
        own_smokes()["accelerator-graph"].run(Bench(here, {"name": "cpu", "kind": "cpu"}))


def test_a_volta_is_spared_what_it_does_not_have() -> None:
    reasons = _gates("2.14.0+cu126", "cuda", capability=[7, 0])
    assert reasons["fp8-matmul"] == "needs compute capability 8.9; cuda:0 has 7.0"
    assert set(reasons) >= {"sdpa-flash", "sdpa-cudnn", "flex-attention", "sparse-24", "bf16-rate"}
    assert not set(reasons) & {"alloc", "elementwise", "matmul-half", "sdpa-efficient", "compile", "linalg"}


def test_a_pascal_is_not_asked_to_compile() -> None:
    reasons = _gates("2.14.0+cu126", "cuda", capability=[6, 0])
    assert "needs compute capability 7.0" in reasons["compile"] and "aoti" in reasons


def test_one_gpu_is_not_asked_to_talk_to_others() -> None:
    reasons = _gates("2.15.0", "cuda", capability=[9, 0], count=1)
    assert {"collective-multi", "point-to-point", "peer-copy"} <= set(reasons)
    assert "collective" not in reasons


def test_a_device_of_unknown_capability_is_tried() -> None:
    assert _gates("2.15.0", "cuda", capability=None) == {}


def test_gradients_of_attention_may_be_twice_as_far_off_as_its_output() -> None:
    limits = dict(all_limits(tuple(name for name, _ in LIMITS)))
    assert {name: limits[f"{name}, output"] for name, _ in LIMITS} == dict(LIMITS)
    assert all(limits[f"{name}, gradient of k"] == 2 * limit for name, limit in LIMITS)
