"""`torch.cuda` calls that `torch.accelerator` has for every kind of device."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

_FIRST = TorchVersion(2, 6)
_MEMORY = TorchVersion(2, 9)
_CAPTURE = TorchVersion(2, 12)
# What takes the place, and the first release that has it.
_GENERAL = {
    "current_device": ("torch.accelerator.current_device_index()", _FIRST),
    "set_device": ("torch.accelerator.set_device_index(...)", _FIRST),
    "device_count": ("torch.accelerator.device_count()", _FIRST),
    "current_stream": ("torch.accelerator.current_stream()", _FIRST),
    "set_stream": ("torch.accelerator.set_stream(...)", _FIRST),
    "synchronize": ("torch.accelerator.synchronize()", _FIRST),
    "Stream": ("torch.Stream(...)", _FIRST),
    "Event": ("torch.Event(...)", _FIRST),
    "empty_cache": ("torch.accelerator.empty_cache()", _MEMORY),
    "memory_allocated": ("torch.accelerator.memory_allocated()", _MEMORY),
    "memory_reserved": ("torch.accelerator.memory_reserved()", _MEMORY),
    "max_memory_allocated": ("torch.accelerator.max_memory_allocated()", _MEMORY),
    "max_memory_reserved": ("torch.accelerator.max_memory_reserved()", _MEMORY),
    "memory_stats": ("torch.accelerator.memory_stats()", _MEMORY),
    "reset_peak_memory_stats": ("torch.accelerator.reset_peak_memory_stats()", _MEMORY),
    "is_current_stream_capturing": ("torch.accelerator.current_stream().is_capturing()", _CAPTURE),
}

# What neither raises nor does anything on a machine without a GPU, where the new one raises: run on torch 2.13.0 for the CPU, 2026-11-27.
_QUIET = frozenset(
    "empty_cache memory_allocated memory_reserved max_memory_allocated max_memory_reserved memory_stats".split()
)

RULE = Rule(
    code="TL511",
    name="cuda-only-call",
    summary="`torch.cuda` calls that `torch.accelerator` has for every device; has to be selected",
    why=(
        "`torch.accelerator` (torch 2.6, memory since 2.9) does for the accelerator of the machine what these do for CUDA and "
        "ROCm. `torch.cuda` is neither deprecated nor slower, so this rule runs only where it is selected."
    ),
    fix="None: whether a project is for CUDA alone is a decision, and single calls are not changed by themselves.",
    targets=tuple(f"torch.cuda.{name}" for name in _GENERAL),
    triggers=tuple(f"{name} & cuda" for name in _GENERAL),
    severity=Severity.INFO,
    default=False,
    sources=(
        "torch/accelerator/__init__.py of torch 2.6.0, torch/accelerator/memory.py of 2.9.1",
        "torch/_C/__init__.pyi:150 of torch 2.12.1 (`Stream.is_capturing`, not in 2.11.0)",
        "`torch.accelerator` called without a device with torch 2.15.0",
    ),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    if use.call is None or use.name != use.target:
        return
    short = use.target.rpartition(".")[2]
    new, since = _GENERAL[short]
    if context.settings.target < since:
        return
    view = context.view
    message = f"`torch.cuda.{short}` is for CUDA and ROCm; `{new}` is for whatever accelerator there is (torch {since} and later)."
    quiet = (
        f" Without an accelerator it raises RuntimeError, where `torch.cuda.{short}` does not."
        if short in _QUIET
        else ""
    )
    advice = (
        "Nothing is wrong with it in code for CUDA. Where other devices matter, change it together with the rest of the file."
        + quiet
    )
    yield Finding("TL511", view.path, view.span(use.node), message, Severity.INFO, advice)


EXAMPLES = (
    Bad("import torch\n\n\ndef wait():\n    torch.cuda.synchronize()\n", why="waiting for the device"),
    Bad(
        "import torch\n\n\ndef busy():\n    return torch.cuda.is_current_stream_capturing()\n",
        why="capture of a graph",
    ),
    Bad(
        "from torch import cuda\n\n\ndef used():\n    return cuda.max_memory_allocated() / 2**20\n",
        why="memory, through an import of its own",
    ),
    Ok("import torch\n\n\ndef wait():\n    torch.accelerator.synchronize()  # not cuda\n", "the general one"),
    Ok("import torch\n\n\ndef there():\n    return torch.cuda.is_available()\n", "a question about CUDA"),
    Ok("import cupy.cuda as cuda\n\ncuda.Stream()\n", "another library's"),
    Ok("import torch\n\n\ndef wait(tensor):\n    tensor.cuda().synchronize()\n", "a method"),
)
