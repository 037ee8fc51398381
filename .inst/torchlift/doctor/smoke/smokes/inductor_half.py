"""Code that Inductor generates for the CPU's vector units, in fp16."""

from __future__ import annotations

from typing import Any

from ..bench import Bench
from ..compiling import TIMEOUT, can_compile
from ..gates import all_of, torch_from
from ..smoke import Measurement, Smoke

_LIMIT = 3e-3
_WIDTHS = {"AVX512": 512, "AVX2": 256}

SMOKE = Smoke(
    id="inductor-half",
    tier="full",
    title="Inductor compiles fp16 for the CPU, with vectors as wide as torch's own",
    gate=all_of(torch_from(2, 6), can_compile),
    needs="torch 2.6; a version of Python that this torch compiles for; a C++ compiler",
    limits=(("fp16", _LIMIT), ("vectors narrower than torch's own", 0.0)),
    kinds=("cpu",),
    timeout=TIMEOUT,
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    gelu = bench.module("torch.nn.functional").gelu

    def block(x: Any) -> Any:
        return gelu(x * 2 + 1).softmax(-1)

    x = bench.random(64, 96, dtype=torch.float16)
    bench.compare("fp16", torch.compile(block, fullgraph=True)(x), block(x.double()), _LIMIT)
    mine = torch.backends.cpu.get_cpu_capability()
    width = int(bench.module("torch._inductor.cpu_vec_isa").pick_vec_isa().bit_width() or 0)
    bench.measured("vectors narrower than torch's own", float(width < _WIDTHS.get(mine, 0)), 0.0)
    return bench.measurement(capability=mine, bits=width)
