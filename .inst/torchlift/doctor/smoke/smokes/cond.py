"""A branch on a value that only the device knows: torch.cond, inside a CUDA graph on NVIDIA GPUs."""

from __future__ import annotations

from typing import Any

from ..bench import Bench
from ..compiling import TIMEOUT, can_compile
from ..gates import all_of, torch_from
from ..smoke import Measurement, Signature, Skip, Smoke

_CASES = ("condition true", "condition false", "condition true again")
_DRIVER = Signature(
    "no-conditional-nodes",
    r"[Cc]onditional nodes? (is|are|require)|begin_capture_to_if_node|cudaGraphConditional",
    "The driver has no conditional nodes in CUDA graphs; drivers of CUDA 12.4 and newer have them",
    "Upgrade the driver",
    likely=True,
)

SMOKE = Smoke(
    id="cond",
    tier="full",
    title="torch.cond takes the right branch, inside a CUDA graph on NVIDIA GPUs",
    needs="torch 2.6, on GPUs 2.12; what compile needs",
    reference="the branch taken by Python on the CPU, bit for bit",
    limits=tuple((case, 0.0) for case in _CASES),
    kinds=("cuda", "cpu"),
    signatures=(_DRIVER,),
    timeout=TIMEOUT,
)


def _gpu_release(bench: Bench) -> str | None:
    return None if bench.kind == "cpu" else torch_from(2, 12)(bench)


def run(bench: Bench) -> Measurement:
    torch = bench.torch

    def branch(x: Any) -> Any:
        return torch.cond(x.sum() > 0, lambda x: x * 2 + 1, lambda x: x - 3, (x,))

    counters = bench.module("torch._dynamo.utils").counters
    # "cudagraphs" records what eager would launch, "eager" checks only that the branch can be captured by dynamo.
    compiled = torch.compile(branch, backend="cudagraphs" if bench.kind == "cuda" else "eager", fullgraph=True)
    x = torch.arange(1.0, 65.0)
    for _ in range(3):  # the first calls warm up and record
        compiled(bench.put(x)).cpu()
    for name, values in zip(_CASES, (x, -x, x + 5)):
        want = values * 2 + 1 if values.sum() > 0 else values - 3
        bench.exact(name, compiled(bench.put(values)).clone(), want)
    if bench.kind != "cuda":
        return bench.measurement(graph="none: this device has no conditional graphs")
    skips = int(counters["inductor"]["cudagraph_skips"])
    if skips:
        raise Skip(f"right, but torch kept the branch out of the CUDA graph ({skips} parts skipped)")
    return bench.measurement(graph="captured")


gate = all_of(torch_from(2, 6, "cond"), _gpu_release, can_compile)
