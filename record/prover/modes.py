"""What a call depends on besides its inputs: modes of torch, and state that moved since the last call."""

from __future__ import annotations

import contextlib
import ctypes
import weakref
from typing import Any, Optional

_GRADIENTS_LOOKED_AT = 64
_AUTOCAST = ("cpu", "cuda", "xpu")


def modes_now(torch: Any, module: Any) -> dict[str, Any]:
    """Plain data for `entered`."""
    return {
        "training": getattr(module, "training", None),
        "grad": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "autocast": {
            kind: str(torch.get_autocast_dtype(kind)) for kind in _AUTOCAST if torch.is_autocast_enabled(kind)
        },
        "default": str(torch.get_default_dtype()),
        "precision": _precision(torch),
    }


def entered(torch: Any, modes: dict[str, Any]) -> Any:
    """A context in which the modes hold; the default dtype and the precision of matrix products are set for good."""
    stack = contextlib.ExitStack()
    torch.set_default_dtype(getattr(torch, modes["default"].replace("torch.", "")))
    if modes["inference"]:
        stack.enter_context(torch.inference_mode())
    stack.enter_context(torch.set_grad_enabled(modes["grad"]))
    if modes["precision"] not in (None, _precision(torch)):
        torch.set_float32_matmul_precision(modes["precision"])
    for kind in _AUTOCAST:
        if kind in modes["autocast"]:
            dtype = getattr(torch, modes["autocast"][kind].replace("torch.", ""))
            stack.enter_context(torch.autocast(kind, dtype=dtype))
        elif torch.is_autocast_enabled(kind):
            stack.enter_context(torch.autocast(kind, enabled=False))
    return stack


def _precision(torch: Any) -> Optional[str]:
    """Of matrix products in fp32, which a GPU may compute in TF32; None where settings of both kinds of names are mixed."""
    try:
        return str(torch.get_float32_matmul_precision())
    except RuntimeError:
        return None


def unobservable(torch: Any) -> bool:
    """Whether copying a tensor now would be seen: something traces, profiles or intercepts operations."""
    return bool(
        torch._C._get_tracing_state() is not None
        or torch._C._len_torch_dispatch_stack()
        or torch.compiler.is_compiling()
        or torch._C._autograd._profiler_enabled()
        or torch._C._functorch.peek_interpreter_stack() is not None
    )


class Tracked:
    """Notices that parameters or buffers were written between two calls."""

    def __init__(self, module: Any) -> None:
        self._module = None if module is None else weakref.ref(module)
        self._tensors: list[Any] = []
        self._versions: list[int] = []
        self._unseen: Optional[str] = None
        self.refresh()
        self._gradients = self._arrived()

    def module(self) -> Any:
        """The module; None for a function, and after its end."""
        return None if self._module is None else self._module()

    def refresh(self) -> None:
        """Takes the state as it is now for what is known."""
        module = self.module()
        if module is not None:
            self._tensors = [*module.parameters(), *module.buffers()]
            self._versions = _versions(self._tensors)

    called = refresh

    def skipped(self) -> None:
        """After a call that is not replayed; what it wrote has to be sent before the next one."""
        if _versions(self._tensors) != self._versions:
            self._unseen = self._unseen or "skipped"
            self.refresh()

    def moved(self) -> Optional[str]:
        """`outside` if state was written since the last call, `skipped` if only calls that were not kept wrote it."""
        if _versions(self._tensors) != self._versions:
            self._unseen = "outside"
            self.refresh()
        unseen, self._unseen = self._unseen, None
        return unseen

    def trained(self) -> bool:
        """Whether a gradient has arrived at a parameter since the capture."""
        return bool(self._arrived() - self._gradients)

    def _arrived(self) -> set[tuple[int, int]]:
        leaves = [t for t in self._tensors[:_GRADIENTS_LOOKED_AT] if t.is_leaf]
        return {(id(t.grad), t.grad._version) for t in leaves if t.grad is not None}


def generator_state(torch: Any, with_gpu: Optional[bool] = None) -> bytes:
    """The state of the random generator on the CPU and, where CUDA is in use or `with_gpu` says so, of the current GPU's."""
    state = _bytes_of(torch.get_rng_state())
    if torch.cuda.is_initialized() if with_gpu is None else with_gpu:
        with contextlib.suppress(RuntimeError):  # a CUDA graph is being captured
            state += _bytes_of(torch.cuda.get_rng_state())
    return state


def set_generator_state(torch: Any, state: bytes) -> bool:
    """Set what `generator_state` gave; whether a GPU's generator is part of it."""
    size = torch.get_rng_state().numel()
    torch.set_rng_state(torch.frombuffer(bytearray(state[:size]), dtype=torch.uint8).clone())
    if len(state) == size:
        return False
    torch.cuda.set_rng_state(torch.frombuffer(bytearray(state[size:]), dtype=torch.uint8).clone())
    return True


def _bytes_of(state: Any) -> bytes:
    return ctypes.string_at(state.data_ptr(), state.numel())


def _versions(tensors: list[Any]) -> list[int]:
    return [0 if t.is_inference() else t._version for t in tensors]
