"""What a smoke works on: torch, one device, and how results are compared."""

from __future__ import annotations

import importlib.util
import math
import re
from typing import Any

from .smoke import BURN_SECONDS, Measurement


class Bench:
    """A device of this torch.

    Attributes:
        torch: the module.
        name: the device as torch spells it, such as "cuda:0".
        kind: "cuda", "rocm", "xpu", "mps" or "cpu".
        facts: what is known of the device without touching it, see `devices.Device`.
        forked: this process is a fork of one that imported torch, and may fork further.
        seconds: how long a burn loads the device.
    """

    def __init__(
        self, torch: Any, facts: dict[str, Any], *, forked: bool = False, seconds: float = BURN_SECONDS
    ) -> None:
        self.torch = torch
        self.facts = facts
        self.name = str(facts["name"])
        self.kind = str(facts["kind"])
        self.forked = forked
        self.seconds = seconds
        self._comparisons: dict[str, Any] = {}
        self._worst: tuple[float, float] | None = None

    @property
    def type(self) -> str:
        """The device's type as torch spells it: "cuda" also for ROCm."""
        return self.name.partition(":")[0]

    @property
    def index(self) -> int:
        """The ordinal of the device."""
        return int(self.name.partition(":")[2] or 0)

    @property
    def version(self) -> tuple[int, int]:
        """Major and minor version of torch."""
        return version_pair(str(self.torch.__version__))

    @property
    def capability(self) -> tuple[int, int] | None:
        """Compute capability of an NVIDIA GPU; None when unknown."""
        value = self.facts.get("capability")
        return (int(value[0]), int(value[1])) if value else None

    def computes(self, dtype: str) -> bool:
        """Whether this device computes in "fp32", "fp16" or "bf16"; an unknown GPU does.

        NVIDIA GPUs before compute capability 8.0 emulate bf16 or refuse it. The CPU had no products of fp16 in early
        releases ("addmm_impl_cpu_" not implemented for 'Half' in 2.0.1), and MPS needs macOS 14 for bf16, as torch 2.12
        does.
        """
        if dtype == "fp16" and self.kind == "cpu":
            return self.version >= (2, 5)
        if dtype == "bf16" and self.kind == "mps":
            return self.version >= (2, 12)
        if dtype == "bf16" and self.kind == "cuda":
            return self.capability is None or self.capability >= (8, 0)
        return True

    def module(self, name: str) -> Any:
        """Import a module, such as "torch.nn.attention"."""
        return importlib.import_module(name)

    def has(self, name: str) -> bool:
        """Whether a package is installed, without importing it."""
        return importlib.util.find_spec(name) is not None

    def random(self, *shape: int, dtype: Any = None, seed: int = 0) -> Any:
        """Normally distributed values on the CPU, rounded to `dtype` (float32): the same on every machine."""
        generator = self.torch.Generator().manual_seed(seed)
        values = self.torch.randn(*shape, generator=generator, dtype=self.torch.float64)
        return values.to(dtype or self.torch.float32)

    def put(self, tensor: Any) -> Any:
        """The tensor on the device."""
        return tensor.to(self.name)

    def synchronize(self) -> None:
        """Wait for the device: errors of kernels show here."""
        if self.type == "cpu":
            return
        module = getattr(self.torch, self.type, None)
        if module is None or not hasattr(module, "synchronize"):
            module = self.torch.accelerator
        module.synchronize()

    def touch(self) -> None:
        """Use the device once; raises whatever torch raises when it does not answer."""
        if self.index:
            # `torch.accelerator` came with torch 2.6.
            module = getattr(self.torch, self.type, None)
            choose = getattr(module, "set_device", None) or self.torch.accelerator.set_device_index
            choose(self.index)
        self.torch.ones(1, device=self.name)
        self.synchronize()

    def compare(self, name: str, got: Any, want: Any, limit: float) -> float:
        """Compare a result with its reference: the largest difference relative to the largest value of `want`."""
        torch = self.torch
        got = got.detach().to("cpu")
        if got.dtype != torch.bool and not got.dtype.is_complex:
            got = got.to(torch.float64)
        elif got.dtype.is_complex:
            got = got.to(torch.complex128)
        want = want.detach().to(got.dtype)
        if got.shape != want.shape:
            raise ValueError(f"{name}: shape {tuple(got.shape)} instead of {tuple(want.shape)}")
        difference = (got - want).abs().max().item() if got.dtype != torch.bool else float((got != want).any())
        scale = want.abs().max().item() if got.dtype != torch.bool else 1.0
        error = difference / scale if scale else difference
        return self.measured(name, error, limit)

    def exact(self, name: str, got: Any, want: Any) -> None:
        """Compare bit for bit; the error is the share of elements that differ."""
        got = got.detach().to("cpu")
        if got.shape != want.shape or got.dtype != want.dtype:
            raise ValueError(f"{name}: {got.dtype} {tuple(got.shape)} instead of {want.dtype} {tuple(want.shape)}")
        different = int((got != want).sum())
        self.measured(name, different / max(want.numel(), 1), 0.0)

    def measured(self, name: str, error: float, limit: float) -> float:
        """Note an error that was measured in another way."""
        bad = not math.isfinite(error)
        self._comparisons[name] = {"error": None if bad else error, "limit": limit}
        ratio = math.inf if bad or (error > 0 and not limit) else (error / limit if limit else 0.0)
        if self._worst is None or ratio >= self._worst_ratio:
            self._worst, self._worst_ratio, self._worst_name = (error, limit), ratio, name
        return error

    def measurement(self, **details: Any) -> Measurement:
        """All comparisons so far: the error and limit of the worst, and each of them in the details."""
        if self._worst is None:
            raise ValueError("the smoke compared nothing")
        error, limit = self._worst
        return Measurement(error, limit, {**self._comparisons, "worst": self._worst_name, **details})

    _worst_ratio = 0.0
    _worst_name = ""


def version_pair(text: str) -> tuple[int, int]:
    """(2, 15) of "2.15.0+cu132"; (0, 0) when there are no numbers."""
    numbers: list[str] = re.findall(r"\d+", text)[:2]
    return (int(numbers[0]), int(numbers[1])) if len(numbers) == 2 else (0, 0)
