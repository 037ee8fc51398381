"""torch broken on purpose, one ability each: the smoke of that ability fails, and names the comparison."""

from __future__ import annotations

import contextlib
import importlib
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from patched_imports import python_path

from torchlift.doctor.smoke.bench import Bench
from torchlift.doctor.smoke.loading import own_smokes
from torchlift.doctor.smoke.parent.outcome import SmokeResult
from torchlift.doctor.smoke.parent.runner import Plan, Run
from torchlift.doctor.smoke.smoke import Measurement, Skip

pytestmark = pytest.mark.xdist_group("broken torch")

torch = pytest.importorskip("torch")

# By smoke: what is broken, in the namespace of which module, and the comparison that must tell.
BROKEN = {
    "addcdiv": (
        "torch",
        "_right = _foreach_addcdiv\n"
        "def _foreach_addcdiv(*a, **o): return tuple(each * (1 + 1e-6) for each in _right(*a, **o))",
        "_foreach_addcdiv",
    ),
    "sdpa-default": ("torch", "def _fused_sdp_choice(*a, **o): return 0", "another kernel than the fastest"),
    "profiler": (
        "torch.autograd.profiler_util",
        "_right = FunctionEvent.__init__\n"
        "def _init(self, *a, **o): _right(self, *a, **{**o, 'flow_id': 0})\n"
        "FunctionEvent.__init__ = _init",
        "flows that are not linked",
    ),
    "flight-recorder": (
        "torch.distributed",
        "import pickle\ntorch._C._distributed_c10d._dump_fr_trace = lambda *a, **o: pickle.dumps({'entries': []})",
        "entries that are missing",
    ),
    "device-autoload": (
        "importlib.metadata",
        "_right = entry_points\n"
        "def entry_points(**o): return () if o.get('group') == 'torch.backends' else _right(**o)",
        "packages that were not loaded",
    ),
    "compiled-autograd": (
        "torch._dynamo.compiled_autograd",
        "def _enable(*a, **o): return contextlib.nullcontext()",
        "steps without a captured backward pass",
    ),
}
COMPILED = {
    "compile": (
        "torch",
        "_right, _many = nn.Module.compile, iter('abcdefgh')\n"
        "def _other(block, *a, **o):\n"
        "    code = type(block).forward.__code__.replace(co_name=f'forward{next(_many)}')\n"
        "    forward = type(_other)(code, type(block).forward.__globals__, 'f', None, type(block).forward.__closure__)\n"
        "    block.__class__ = type('Other', (type(block),), {'forward': forward})\n"
        "    return _right(block, *a, **o)\n"
        "nn.Module.compile = _other",
        "graphs besides the first",
    ),
    "aoti": (
        "torch._inductor",
        "_right = aoti_load_package\n"
        "def aoti_load_package(*a, **o):\n"
        "    program = _right(*a, **o)\n"
        "    return lambda *x: program(*x) * 1.001",
        "packaged program",
    ),
    "inductor-half": (
        "torch._inductor.cpu_vec_isa",
        "def pick_vec_isa(): return invalid_vec_isa",
        "vectors narrower than torch's own",
    ),
    "inductor-gemm": (
        "torch._inductor.utils",
        "def use_cpp_gemm_template(*a, **o): return False",
        "layers without a template",
    ),
    "inductor-cpp-wrapper": (
        "torch._inductor.compile_fx",
        "_right = compile_fx\n"
        "def compile_fx(*a, **o):\n"
        "    with config.patch(cpp_wrapper=False):\n"
        "        return _right(*a, **o)",
        "wrappers in Python",
    ),
}


def failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: dict[str, tuple[str, str, str]]
) -> dict[str, SmokeResult]:
    after: dict[str, str] = {}
    for module, code, _ in broken.values():
        after[module] = f"{after.get(module, '')}\n{code}\n"
    monkeypatch.setenv("PYTHONPATH", python_path(tmp_path, after))
    plan = Plan(sys.executable, only=tuple(broken), devices=("cpu",))
    return {result.id: result for result in Run(plan).results()}


def test_every_ability_that_is_broken_is_told_by_its_smoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = failures(tmp_path, monkeypatch, BROKEN)
    assert {id: result.outcome for id, result in told.items()} == dict.fromkeys(BROKEN, "fail")
    assert {id: result.details.get("worst") for id, result in told.items()} == {
        id: comparison for id, (_, _, comparison) in BROKEN.items()
    }


@pytest.mark.exhaustive
@pytest.mark.parametrize("id", COMPILED)
def test_every_compiler_that_is_broken_is_told_by_its_smoke(
    id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = failures(tmp_path, monkeypatch, {id: COMPILED[id]})[id]
    assert (result.outcome, result.details.get("worst")) == ("fail", COMPILED[id][2]), result.reason


class _Lent(Bench):
    """The CPU as what a smoke takes for a GPU, with modules of torch replaced."""

    def __init__(self, kind: str, lent: Any = torch, **modules: Any) -> None:
        super().__init__(lent, {"name": "cpu", "kind": kind, "count": 1, "capability": [9, 0]})
        self._modules = modules

    def module(self, name: str) -> Any:
        return self._modules.get(name.rpartition(".")[2]) or super().module(name)


def _module(smoke: str) -> ModuleType:
    """Found by its whole name: smokes of users that import one of torchlift's bind `smokes` to their own copy."""
    return importlib.import_module(f"torchlift.doctor.smoke.smokes.{smoke}")


def worst(id: str, bench: Bench) -> tuple[bool, Any]:
    """Whether the smoke passes, and its worst comparison."""
    measured: Measurement = own_smokes()[id].run(bench)
    assert measured.error is not None and measured.limit is not None
    return measured.error <= measured.limit, measured.details["worst"]


def like_torch(**changed: Any) -> Any:
    """torch with some names of its own."""
    lent = SimpleNamespace(**{name: getattr(torch, name) for name in dir(torch) if not name.startswith("__")})
    lent.__version__ = torch.__version__
    for name, value in changed.items():
        setattr(lent, name, value)
    return lent


@pytest.mark.parametrize(("batch", "one", "passes"), [(1.0, 0.5, True), (40.0, 0.5, False)])
def test_the_time_of_a_batch_of_eigenvalues_is_judged_on_a_gpu(
    batch: float, one: float, passes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]

    def eigh(matrices: Any) -> Any:
        clock[0] += batch if matrices.dim() == 3 else one
        return torch.linalg.eigh(matrices) if matrices.dim() == 3 else None

    lent = like_torch(linalg=SimpleNamespace(eigh=eigh, eigvalsh=torch.linalg.eigvalsh))
    monkeypatch.setattr(_module("eigh"), "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    right, comparison = worst("eigh", _Lent("cuda", lent))
    assert right is passes
    assert passes or comparison == "time of a batch, in loops (NVIDIA, torch 2.12)"


def attention(wrong: float = 1.0) -> Any:
    """FlexAttention in plain torch, whose gradient of k is off by a factor."""

    class Off(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(context: Any, gradient: Any) -> Any:
            return gradient * wrong

    def flex_attention(q: Any, k: Any, v: Any, *, score_mod: Any, block_mask: Any) -> Any:
        i, j = torch.arange(256).unsqueeze(1), torch.arange(256)
        scores = score_mod(q.float() @ Off.apply(k.float()).mT / 8, 0, 0, i, j)
        return (scores.masked_fill(~block_mask(0, 0, i, j), float("-inf")).softmax(-1) @ v.float()).to(q.dtype)

    return SimpleNamespace(flex_attention=flex_attention, create_block_mask=lambda mask, *sizes, **options: mask)


def test_the_backward_pass_of_flexible_attention_is_compared_on_a_gpu() -> None:
    lent = like_torch(compile=lambda function, **options: function)
    assert worst("flex-attention", _Lent("cuda", lent, flex_attention=attention()))[0]
    broken = worst("flex-attention", _Lent("cuda", lent, flex_attention=attention(wrong=1.2)))
    assert broken == (False, "fp16, gradient of k")


def recorder(keeps: bool) -> Callable[[], bytes]:
    entries = [{"profiling_name": "nccl:all_reduce", "input_sizes": [[128]]}] if keeps else []
    return lambda: pickle.dumps({"entries": entries})


@pytest.mark.parametrize("keeps", [True, False])
def test_the_flight_recorder_of_nccl_is_read_by_its_own_name(keeps: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Group:
        all_reduce = destroy_process_group = staticmethod(lambda *x: None)

    monkeypatch.setattr(_module("flight_recorder"), "join_group", lambda *a, **o: (Group, "cpu"))
    for name in ("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"):
        monkeypatch.setenv(name, "0")
    bench = _Lent("cuda", _distributed_c10d=SimpleNamespace(_dump_nccl_trace=recorder(keeps)))
    assert worst("flight-recorder", bench)[0] is keeps


def test_the_recorder_that_backends_share_since_2_15_is_asked_for_nccl_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class Group:
        all_reduce = destroy_process_group = staticmethod(lambda *x: None)

    def shared(*, backend: str) -> bytes:
        return recorder(backend == "nccl")()

    monkeypatch.setattr(_module("flight_recorder"), "join_group", lambda *a, **o: (Group, "cpu"))
    for name in ("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"):
        monkeypatch.setenv(name, "0")
    c10d = SimpleNamespace(_dump_nccl_trace=recorder(False), _dump_fr_trace=shared)
    assert worst("flight-recorder", _Lent("cuda", like_torch(__version__="2.15.0"), _distributed_c10d=c10d))[0]
    assert not worst("flight-recorder", _Lent("cuda", like_torch(__version__="2.13.0"), _distributed_c10d=c10d))[0]


class _Graphs:
    """`torch.cuda` as far as the smokes of graphs and memory go, on the CPU."""

    def __init__(self, *, expandable: bool = True) -> None:
        self.expandable = expandable
        self.memory = SimpleNamespace(_set_allocator_settings=lambda text: None)
        self.CUDAGraph = lambda: SimpleNamespace(replay=lambda: None)

    def Stream(self) -> Any:
        return self.current_stream()

    def current_stream(self) -> Any:
        return SimpleNamespace(wait_stream=lambda other: None)

    def stream(self, which: Any) -> Any:
        return contextlib.nullcontext()

    def graph(self, graph: Any, *, enable_annotations: bool) -> Any:
        assert enable_annotations
        return self.stream(graph)

    def memory_snapshot(self) -> list[dict[str, bool]]:
        return [{"is_expandable": self.expandable}]


def annotations(kept: Callable[[str], bool]) -> Any:
    found: dict[int, list[str]] = {}

    def mark_kernels(name: str) -> Any:
        if kept(name):
            found[len(found)] = [name]
        return contextlib.nullcontext()

    return SimpleNamespace(
        mark_kernels=mark_kernels, get_kernel_annotations=lambda: found, _is_tools_id_unavailable=lambda: False
    )


def test_annotations_that_a_graph_loses_are_missed() -> None:
    lent = like_torch(cuda=_Graphs())
    assert worst("graph-annotations", _Lent("cuda", lent, _graph_annotations=annotations(lambda name: True)))[0]
    losing = annotations(lambda name: "first" in name)
    broken = worst("graph-annotations", _Lent("cuda", lent, _graph_annotations=losing))
    assert broken == (False, "regions without annotation")


def test_annotations_are_skipped_where_the_driver_has_none() -> None:
    old = SimpleNamespace(_is_tools_id_unavailable=lambda: True)
    with pytest.raises(Skip, match=r"driver of CUDA 13\.1"):
        own_smokes()["graph-annotations"].run(_Lent("cuda", _graph_annotations=old))


def test_segments_that_do_not_grow_are_told() -> None:
    assert worst("expandable-segments", _Lent("rocm", like_torch(cuda=_Graphs())))[0]
    broken = worst("expandable-segments", _Lent("cuda", like_torch(cuda=_Graphs(expandable=False))))
    assert broken == (False, "segments that cannot grow")


@pytest.mark.parametrize("factor", [1.0, 1.01])
def test_products_of_sparse_weights_are_compared_on_amd_too(factor: float) -> None:
    sparse = SimpleNamespace(to_sparse_semi_structured=lambda weight: weight * factor)
    assert worst("sparse-24", _Lent("rocm", sparse=sparse))[0] is (factor == 1.0)


def test_eigenvalues_that_torch_was_built_without_are_left_out_and_others_still_fail() -> None:
    def refuse(text: str) -> Any:
        def eigvals(matrix: Any) -> Any:
            raise RuntimeError(text)

        names = {name: getattr(torch.linalg, name) for name in ("svd", "qr", "lu", "solve", "cholesky")}
        linalg = SimpleNamespace(**names, eigvals=eigvals)
        return like_torch(linalg=linalg, cuda=SimpleNamespace(has_magma=False))

    without = "Calling torch.linalg.eig on a CUDA tensor requires compiling PyTorch with MAGMA."
    measured = own_smokes()["linalg"].run(_Lent("cpu", refuse(without)))
    assert "MAGMA" in measured.details["not run"] and "QR" in measured.details
    with pytest.raises(RuntimeError, match="another"):
        own_smokes()["linalg"].run(_Lent("cpu", refuse("another")))


@pytest.mark.parametrize(
    ("version", "capability", "cudnn", "chosen", "right"),
    [
        ("2.15.0", (9, 0), 91900, "CUDNN_ATTENTION", True),
        ("2.15.0", (9, 0), 91900, "FLASH_ATTENTION", False),
        ("2.15.0", (9, 0), 91002, "FLASH_ATTENTION", True),
        ("2.15.0", (12, 0), 91900, "FLASH_ATTENTION", True),
        ("2.8.0", (9, 0), 91900, "FLASH_ATTENTION", True),
        ("2.15.0", (8, 6), 91900, "MATH", False),
    ],
)
def test_cudnn_is_wanted_where_torch_prefers_it(
    version: str, capability: tuple[int, int], cudnn: int, chosen: str, right: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TORCH_CUDNN_SDPA_DEPRIORITIZED", raising=False)
    backend = getattr(torch.nn.attention.SDPBackend, chosen).value
    lent = like_torch(
        __version__=version,
        _fused_sdp_choice=lambda *inputs: backend,
        backends=SimpleNamespace(cudnn=SimpleNamespace(version=lambda: cudnn)),
    )
    bench = _Lent("cuda", lent)
    bench.facts["capability"] = list(capability)
    assert worst("sdpa-default", bench)[0] is right
