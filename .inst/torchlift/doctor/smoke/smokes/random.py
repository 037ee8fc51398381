"""Random numbers have the right moments and come again with the same seed."""

from __future__ import annotations

from ..bench import Bench
from ..smoke import Measurement, Smoke

_SIGMAS = 4.0

SMOKE = Smoke(
    id="random",
    tier="quick",
    title="Random numbers have the right moments and come again with the same seed",
    reference="mean and variance of the distribution; the same numbers for the same seed",
    limits=(
        ("the same seed again", 0.0),
        ("mean of randn, in standard errors", _SIGMAS),
        ("variance of randn, in standard errors", _SIGMAS),
        ("mean of rand, in standard errors", _SIGMAS),
    ),
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    count = 1 << 20
    torch.manual_seed(7)
    first = torch.randn(count, device=bench.name)
    torch.manual_seed(7)
    again = torch.randn(count, device=bench.name)
    uniform = torch.rand(count, device=bench.name)
    values, others = first.cpu().double(), uniform.cpu().double()
    root = count**0.5
    bench.exact("the same seed again", again, first.cpu())
    bench.measured("mean of randn, in standard errors", abs(values.mean().item()) * root, _SIGMAS)
    bench.measured("variance of randn, in standard errors", abs(values.var().item() - 1) * root / 2**0.5, _SIGMAS)
    bench.measured("mean of rand, in standard errors", abs(others.mean().item() - 0.5) * root * 12**0.5, _SIGMAS)
    return bench.measurement()
