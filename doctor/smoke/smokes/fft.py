"""Fourier transforms, of sizes that are products of small primes and of ones that are not."""

from __future__ import annotations

from ..bench import Bench
from ..smoke import Measurement, Signature, Smoke

# An H200 with torch 2.11.0+cu130 gave 4.9e-7 for the prime size and back (2026-11-26).
_LIMIT = 5e-6
_SHAPES = {"rfft of 4096": (8, 4096), "rfft of 1021 (prime)": (8, 1021), "rfft2 of 128 x 96": (4, 128, 96)}
_JIT = Signature(
    "nvjitlink-mismatch",
    r"nvJitLink|nvjitlink|CUFFT_(INTERNAL_ERROR|NVJITLINK_FAILURE|SETUP_FAILED)",
    "cuFFT compiles some kernels when they are first used, and its linker (nvJitLink) is missing or another version",
    "Take other CUDA folders out of LD_LIBRARY_PATH and reinstall nvidia-nvjitlink and nvidia-cufft in torch's version",
    likely=True,
)

SMOKE = Smoke(
    id="fft",
    tier="default",
    title="Fourier transforms in one and two dimensions, also of prime sizes",
    limits=tuple(item for name in _SHAPES for item in ((name, _LIMIT), (f"{name} and back", _LIMIT))),
    signatures=(_JIT,),
)


def run(bench: Bench) -> Measurement:
    fft = bench.module("torch.fft")
    for name, shape in _SHAPES.items():
        forward, back = (fft.rfft2, fft.irfft2) if "rfft2" in name else (fft.rfft, fft.irfft)
        x = bench.random(*shape)
        spectrum = forward(bench.put(x))
        bench.compare(name, spectrum, forward(x.double()), _LIMIT)
        size = shape[-2:] if "rfft2" in name else shape[-1]
        bench.compare(f"{name} and back", back(spectrum, size), x.double(), _LIMIT)
    return bench.measurement()
