"""Matrix products under sustained load, in every type that the card has."""

from __future__ import annotations

from typing import Any

from ..bench import Bench
from ..memory import free_memory
from ..smoke import Measurement, Signature, Skip, Smoke
from ..sustained import sustained

_WRONG = Signature(
    "wrong-under-load",
    r"wrong numbers",
    "The same product gave other numbers under load: a defect of the GPU, its memory, or its power supply",
    "Look for ECC errors and Xid messages (nvidia-smi -q -d ECC; dmesg | grep Xid), take off any overclocking, try the card "
    "in another slot; if it happens again, have it replaced",
)

_SMALL = {"fp64": 512, "fp32": 512, "tf32": 512, "fp16": 512, "bf16": 512, "fp8": 512}
_LARGE = {"fp64": 4096, "fp32": 8192, "tf32": 8192, "fp16": 8192, "bf16": 8192, "fp8": 8192}
_FP8_ON_AMD = ("gfx940", "gfx941", "gfx942", "gfx950", "gfx1200", "gfx1201")
_ELSEWHERE = 2e-2
_NEEDS = 4 << 30

SMOKE = Smoke(
    id="burn-matmul",
    tier="burn",
    title="Matrix products keep their rate and their numbers under load, in every type the card has",
    needs="nothing (fp64, fp32 or tf32, fp16, bf16 and fp8, as far as the device has them)",
    reference="the card's datasheet, where torchlift has it, with what clocks and power allow; the first product, bit for "
    "bit on NVIDIA GPUs",
    limits=(("every product, share of other numbers", 0.0), ("not NVIDIA: every product", _ELSEWHERE)),
    kinds=("cuda", "rocm", "xpu", "cpu"),
    signatures=(_WRONG,),
    timeout=120.0,
    loads=True,
    lasts=1.0,
    guessed="The floors of 50 % and 20 % are guesses",
)


def types_of(bench: Bench) -> list[str]:
    """The types of number to multiply, from the one that takes the longest to the shortest.

    An NVIDIA GPU has TF32 and bf16 from compute capability 8.0 and fp8 from 8.9 (torch 2.13, `_scaled_mm` in
    aten/src/ATen/native/cuda/ScaledBlas.cpp: `_scaled_mm_allowed_device`). A GPU of unknown capability gets those that
    all have.
    """
    capability = bench.capability or (0, 0)
    if bench.kind == "cuda":
        last = ["tf32", "fp16", "bf16"] if capability >= (8, 0) else ["fp32", "fp16"]
        fp8 = capability >= (8, 9) and bench.version >= (2, 2)
        return ["fp64", *last, *(["fp8"] if fp8 else [])]
    if bench.kind == "rocm":
        fp8 = str(bench.facts.get("architecture") or "").partition(":")[0] in _FP8_ON_AMD and bench.version >= (2, 3)
        return ["fp64", "fp32", "fp16", "bf16", *(["fp8"] if fp8 else [])]
    if bench.kind == "xpu":
        return [*(["fp64"] if _xpu_has_fp64(bench) else []), "fp32", "fp16", "bf16"]
    return ["fp64", "fp32", "bf16"]


def run(bench: Bench) -> Measurement:
    types = types_of(bench)
    free = free_memory(bench)
    if free is not None and free < _NEEDS:
        raise Skip(f"only {free >> 20} MiB of the device's memory are free; it runs with {_NEEDS >> 20} MiB")
    sizes = _SMALL if bench.kind == "cpu" else _LARGE
    rates: dict[str, Any] = {}
    for name in types:
        rates[name] = {**_course(bench, name, sizes[name], bench.seconds / len(types)), "unit": "FLOP/s"}
    return bench.measurement(rates=rates, seconds=bench.seconds)


def _course(bench: Bench, name: str, size: int, seconds: float) -> dict[str, Any]:
    torch = bench.torch
    multiply, out = _product(bench, name, size)
    exact = bench.kind == "cuda"
    first: Any = None
    worst = 0.0

    def check() -> None:
        nonlocal first, worst
        if first is None:
            first = out().clone()
        if torch.equal(out(), first):
            return
        if exact:
            error = float((out() != first).double().mean())
        else:
            # Libraries of other vendors may add in another order from one call to the next.
            scale = first.double().abs().max().item()
            error = (out().double() - first.double()).abs().max().item() / (scale or 1.0)
        worst = max(worst, error)

    switch = torch.backends.cuda.matmul
    before = switch.allow_tf32
    try:
        switch.allow_tf32 = name == "tf32"
        course = sustained(bench, multiply, amount=2.0 * size**3, seconds=seconds, check=check)
    finally:
        switch.allow_tf32 = before
    bench.measured(f"{name} under load", worst, 0.0 if exact else _ELSEWHERE)
    return course.told()


def _product(bench: Bench, name: str, size: int) -> tuple[Any, Any]:
    """What multiplies once, and what gives the product. Numbers are random: zeros take less power."""
    torch = bench.torch
    generator = torch.Generator(device=bench.name).manual_seed(1)
    # Normal numbers divided by the root of their count: no sum leaves the range of fp16.
    a, b = (torch.randn(size, size, device=bench.name, generator=generator) / size**0.5 for _ in range(2))
    if name == "fp8":
        return _fp8(bench, a * size**0.5, b * size**0.5)
    dtype = {"fp64": torch.float64, "fp16": torch.float16, "bf16": torch.bfloat16}.get(name, torch.float32)
    a, b = a.to(dtype), b.to(dtype)
    into = torch.empty_like(a)
    return lambda: torch.mm(a, b, out=into), lambda: into


def _fp8(bench: Bench, a: Any, b: Any) -> tuple[Any, Any]:
    """Scales for the whole tensor, as in the smoke fp8-matmul; datasheets count the fast accumulation of NVIDIA GPUs."""
    torch = bench.torch
    gfx94 = bench.kind == "rocm" and str(bench.facts.get("architecture")).startswith("gfx94")
    dtype = torch.float8_e4m3fnuz if gfx94 else torch.float8_e4m3fn
    a, b = a.to(dtype), b.to(dtype)
    one = torch.ones((), device=bench.name)
    options = {"use_fast_accum": True} if bench.kind == "cuda" else {}
    held: list[Any] = [None]

    def multiply() -> None:
        got = torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, **options)
        held[0] = got[0] if isinstance(got, tuple) else got  # a pair before torch 2.5

    return multiply, lambda: held[0]


def _xpu_has_fp64(bench: Bench) -> bool:
    return bool(getattr(bench.torch.xpu.get_device_properties(bench.index), "has_fp64", False))
