"""Products of 4-bit numbers in blocks of 16 with an fp8 scale for each (NVFP4)."""

from __future__ import annotations

from typing import Any

from ..bench import Bench
from ..block_scales import swizzled
from ..gates import all_of, capability_from, torch_from
from ..smoke import Measurement, Smoke

_LIMIT = 5e-2

SMOKE = Smoke(
    id="nvfp4-matmul",
    tier="full",
    title="Matrix products in NVFP4 (blocks of 16 with e4m3 scales)",
    gate=all_of(torch_from(2, 8, "_scaled_mm", "float4_e2m1fn_x2"), capability_from(10, 0)),
    needs="torch 2.8; compute capability 10.0",
    reference="fp64 product of the same values, dequantised",
    limits=(("nvfp4 to bf16", _LIMIT),),
    kinds=("cuda",),
)

_ROWS, _COLUMNS, _DEPTH, _BLOCK = 128, 256, 256, 16
_VALUES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    generator = torch.Generator().manual_seed(6)
    table = torch.tensor([*_VALUES, *(-value for value in _VALUES)], dtype=torch.float64)

    def operand(rows: int) -> Any:
        codes = torch.randint(0, 16, (rows, _DEPTH), generator=generator)
        packed = (codes[:, 1::2] << 4 | codes[:, ::2]).to(torch.uint8).contiguous()
        scales = (torch.rand(rows, _DEPTH // _BLOCK, generator=generator) + 0.5).to(torch.float8_e4m3fn)
        wide = table[codes] * scales.double().repeat_interleave(_BLOCK, dim=1)
        bits = swizzled(scales.view(torch.uint8))
        return bench.put(packed).view(torch.float4_e2m1fn_x2), bench.put(bits).view(torch.float8_e4m3fn), wide

    a, scale_a, wide_a = operand(_ROWS)
    b, scale_b, wide_b = operand(_COLUMNS)
    got = torch._scaled_mm(a, b.t(), scale_a=scale_a, scale_b=scale_b, out_dtype=torch.bfloat16)
    bench.compare("nvfp4 to bf16", got, wide_a @ wide_b.t(), _LIMIT)
    return bench.measurement()
