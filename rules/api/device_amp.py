"""How files that use torch.cuda.amp or torch.cpu.amp, and not the device-agnostic torch.amp, spell it."""

from __future__ import annotations

from collections.abc import Iterable

_SPELLINGS = tuple(
    spelling.format(device) for device in ("cuda", "cpu") for spelling in ("{}.amp", "torch.{} import", "torch.{} as")
)


def triggers(names: Iterable[str]) -> tuple[str, ...]:
    """Triggers for names of the two packages."""
    return tuple(f"{name} & {spelling}" for name in names for spelling in _SPELLINGS)
