"""Products of fp8 in blocks of 32 with a power of two for each (MXFP8)."""

from __future__ import annotations

from typing import Any

from ..bench import Bench
from ..block_scales import swizzled
from ..gates import all_of, capability_from, torch_from
from ..smoke import Measurement, Smoke

_LIMIT = 5e-2

SMOKE = Smoke(
    id="mxfp8-matmul",
    tier="full",
    title="Matrix products in MXFP8 (blocks of 32 with e8m0 scales)",
    gate=all_of(torch_from(2, 8, "_scaled_mm", "float8_e8m0fnu"), capability_from(10, 0)),
    needs="torch 2.8; compute capability 10.0",
    reference="fp64 product of the same values, dequantised",
    limits=(("mxfp8 to bf16", _LIMIT),),
    kinds=("cuda",),
)

_ROWS, _COLUMNS, _DEPTH, _BLOCK = 128, 256, 256, 32


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    exponents = torch.Generator().manual_seed(5)

    def operand(rows: int, seed: int) -> Any:
        values = bench.random(rows, _DEPTH, seed=seed).to(torch.float8_e4m3fn)
        # 127 stands for 1: an e8m0 number is nothing but the exponent.
        bits = torch.randint(125, 130, (rows, _DEPTH // _BLOCK), generator=exponents, dtype=torch.uint8)
        scales = bits.view(torch.float8_e8m0fnu)
        wide = values.double() * torch.exp2(bits.double() - 127).repeat_interleave(_BLOCK, dim=1)
        return bench.put(values), bench.put(swizzled(bits)).view(scales.dtype), wide

    a, scale_a, wide_a = operand(_ROWS, 1)
    b, scale_b, wide_b = operand(_COLUMNS, 2)
    got = torch._scaled_mm(a, b.t(), scale_a=scale_a, scale_b=scale_b, out_dtype=torch.bfloat16)
    bench.compare("mxfp8 to bf16", got, wide_a @ wide_b.t(), _LIMIT)
    return bench.measurement()
