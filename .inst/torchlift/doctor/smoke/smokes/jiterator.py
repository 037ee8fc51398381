"""A kernel from source text, compiled by NVRTC when it is first used."""

from __future__ import annotations

from ..bench import Bench
from ..smoke import Measurement, Signature, Smoke

_LIMIT = 1e-6
_NVRTC = Signature(
    "nvrtc-missing",
    r"nvrtc: error|libnvrtc(-builtins)?\.so|NVRTC_ERROR",
    "NVRTC, which compiles CUDA code at run time, is missing a part or is another version",
    "Reinstall nvidia-cuda-nvrtc in torch's version, and take other CUDA folders out of LD_LIBRARY_PATH",
    likely=True,
)

SMOKE = Smoke(
    id="jiterator",
    tier="default",
    title="A kernel from source text compiles at run time (NVRTC) and runs",
    limits=(("2 x + y", _LIMIT),),
    kinds=("cuda", "rocm"),
    signatures=(_NVRTC,),
)

_CODE = "template <typename T> T scaled_sum(T x, T y, T factor) { return factor * x + y; }"


def run(bench: Bench) -> Measurement:
    function = bench.torch.cuda.jiterator._create_jit_fn(_CODE, factor=2.0)
    x, y = bench.random(10_007, seed=1), bench.random(10_007, seed=2)
    bench.compare("2 x + y", function(bench.put(x), bench.put(y)), 2 * x.double() + y.double(), _LIMIT)
    return bench.measurement()
