"""Matrix products in fp8."""

from __future__ import annotations

from ..bench import Bench
from ..gates import all_of, capability_from, rocm_architecture, torch_from, torch_from_on_cpu
from ..smoke import Measurement, Smoke

_LIMIT = 2e-2

SMOKE = Smoke(
    id="fp8-matmul",
    tier="default",
    title="Matrix products in fp8 (torch._scaled_mm, scales for the whole tensor)",
    gate=all_of(
        torch_from(2, 2, "_scaled_mm", "float8_e4m3fn"),
        torch_from_on_cpu(2, 13),
        capability_from(8, 9),
        rocm_architecture(("gfx940", "gfx941", "gfx942", "gfx950", "gfx1200", "gfx1201")),
    ),
    needs="torch 2.2 (on the CPU 2.13); compute capability 8.9; on AMD gfx94x, gfx950, gfx120x",
    reference="fp64 product of the same fp8 values, dequantised",
    limits=(("float8_e4m3fn to bf16", _LIMIT), ("float8_e4m3fnuz to bf16", _LIMIT)),
    kinds=("cuda", "rocm", "xpu", "cpu"),
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    name = "float8_e4m3fn"
    if bench.kind == "rocm" and str(bench.facts.get("architecture")).startswith("gfx94"):
        name = "float8_e4m3fnuz"  # what MI300 computes in
    dtype = getattr(torch, name)
    scale_a, scale_b = 0.5, 0.25
    a, b = bench.random(256, 128, seed=1).to(dtype), bench.random(192, 128, seed=2).to(dtype)
    got = torch._scaled_mm(
        bench.put(a),
        bench.put(b).t(),
        scale_a=torch.tensor(scale_a, device=bench.name),
        scale_b=torch.tensor(scale_b, device=bench.name),
        out_dtype=torch.bfloat16,
    )
    got = got[0] if isinstance(got, tuple) else got  # a pair before torch 2.5
    want = (a.double() * scale_a) @ (b.double() * scale_b).t()
    bench.compare(f"{name} to bf16", got, want, _LIMIT)
    return bench.measurement()
