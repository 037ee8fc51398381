"""A program is exported, compiled ahead of time, packaged, loaded and run."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from ..bench import Bench
from ..compiling import TIMEOUT, can_compile
from ..gates import all_of, torch_from
from ..smoke import Measurement, Signature, Smoke

_LIMIT = 1e-5

# Seen on an H200 with torch 2.11.0+cu130 (2026-11-26): with CC and CXX set to a GCC of its own folder the compiled package crashed in
# its own copy of std::regex while it was loaded, on the CPU as well; with the system's g++ it ran.
_OWN_LIBRARY = Signature(
    "package-crashes-when-loaded",
    r"SIGSEGV[\s\S]*in _load_aoti",
    "The package was compiled and crashes when it is loaded: the compiler brings another C++ library along than torch uses, as one "
    "does that links libstdc++ into what it makes",
    "Compile with the system's compiler: CC=/usr/bin/gcc CXX=/usr/bin/g++ torchlift doctor --smoke-only aoti; if that passes, set "
    "the two for your programs, too",
    likely=True,
)

SMOKE = Smoke(
    id="aoti",
    tier="full",
    title="A program is exported, compiled ahead of time (AOTInductor), loaded and run",
    needs="torch 2.6; what compile needs; on GPUs a CUDA or ROCm toolkit",
    limits=(("packaged program", _LIMIT),),
    kinds=("cuda", "rocm", "xpu", "cpu"),
    signatures=(_OWN_LIBRARY,),
    timeout=TIMEOUT,
)


def _toolkit(bench: Bench) -> str | None:
    """The headers and libraries that a package for a GPU is compiled against, which the wheels of torch do not bring.

    `torch.utils.cpp_extension.include_paths("cuda")` raises OSError without CUDA_HOME in 2.13.0 and 2.15.0 (wheels read
    2026-11-22; https://github.com/pytorch/pytorch/issues/197765).
    """
    name = {"cuda": "CUDA_HOME", "rocm": "ROCM_HOME"}.get(bench.kind)
    if name is None or getattr(bench.module("torch.utils.cpp_extension"), name):
        return None
    return f"needs a {name.partition('_')[0]} toolkit to compile against: install one and set {name}"


gate = all_of(torch_from(2, 6), can_compile, _toolkit)


def run(bench: Bench) -> Measurement:
    torch = bench.torch

    class Program(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return (x * 2 + 1).tanh().softmax(-1)

    x = bench.random(32, 64)
    inductor = bench.module("torch._inductor")
    exported = bench.module("torch.export").export(Program().to(bench.name), (bench.put(x),))
    with tempfile.TemporaryDirectory(prefix="torchlift-aoti-") as folder:
        package = inductor.aoti_compile_and_package(exported, package_path=str(Path(folder, "program.pt2")))
        with torch.no_grad():
            got = inductor.aoti_load_package(package)(bench.put(x))
        got = got[0] if isinstance(got, (list, tuple)) else got
        bench.compare("packaged program", got, (x.double() * 2 + 1).tanh().softmax(-1), _LIMIT)
    return bench.measurement()
