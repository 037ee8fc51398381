"""What calls the compiled kernels is C++ too."""

from __future__ import annotations

from typing import Any

from ..bench import Bench
from ..compiling import TIMEOUT, can_compile
from ..gates import all_of, torch_from
from ..smoke import Measurement, Smoke

_LIMIT = 1e-5

SMOKE = Smoke(
    id="inductor-cpp-wrapper",
    tier="full",
    title="Inductor's C++ wrapper calls the kernels it compiled for the CPU",
    gate=all_of(torch_from(2, 6), can_compile),
    needs="torch 2.6; a version of Python that this torch compiles for; a C++ compiler",
    limits=(("result", _LIMIT), ("wrappers in Python", 0.0)),
    kinds=("cpu",),
    timeout=TIMEOUT,
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch

    def block(x: Any) -> Any:
        return (x * 2 + 1).tanh().softmax(-1)

    x = bench.random(32, 64)
    with bench.module("torch._inductor.config").patch(cpp_wrapper=True):
        got, code = bench.module("torch._inductor.utils").run_and_get_code(torch.compile(block, fullgraph=True), x)
    bench.compare("result", got, block(x.double()), _LIMIT)
    # The function that a wrapper in C++ begins with (torch/_inductor/codegen/cpp_wrapper_cpu.py, 2.13.0 and 2.15.0).
    bench.measured("wrappers in Python", float(not any("inductor_entry_impl" in text for text in code)), 0.0)
    return bench.measurement()
