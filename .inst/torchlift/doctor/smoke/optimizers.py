"""Fused optimizers, against the same in fp64."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .smoke import Measurement

if TYPE_CHECKING:
    from .bench import Bench

LIMIT = 1e-6
_STEPS = 3
_SHAPES = ((257, 65), (1000,), (3, 5, 7))


def run_fused(bench: Bench, name: str, **options: Any) -> Measurement:
    """Three steps of `torch.optim.<name>(fused=True)` on parameters of odd sizes."""
    torch = bench.torch
    optimizer = getattr(torch.optim, name)

    def trained(parameters: list[Any], **more: Any) -> list[Any]:
        steps = optimizer(parameters, lr=0.01, **options, **more)
        for step in range(_STEPS):
            for number, parameter in enumerate(parameters):
                gradient = bench.random(*parameter.shape, seed=100 * step + number)
                parameter.grad = gradient.to(device=parameter.device, dtype=parameter.dtype)
            steps.step()
        return parameters

    starts = [bench.random(*shape, seed=number) for number, shape in enumerate(_SHAPES)]
    got = trained([bench.put(start).clone().requires_grad_() for start in starts], fused=True)
    want = trained([start.double().requires_grad_() for start in starts], foreach=False)
    for shape, mine, reference in zip(_SHAPES, got, want):
        bench.compare(f"parameter {' x '.join(map(str, shape))}", mine, reference, LIMIT)
    return bench.measurement()


def limits() -> tuple[tuple[str, float], ...]:
    """The limits of all comparisons."""
    return tuple((f"parameter {' x '.join(map(str, shape))}", LIMIT) for shape in _SHAPES)
