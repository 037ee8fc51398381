"""`torch.backends.cuda.sdp_kernel`: flags where `sdpa_kernel` takes a list."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Template
from torchlift.rules.api.uses.old_call import CallAdvice, OldName, bind, changed, old_uses, spelled
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

RULE = Rule(
    code="TL422",
    name="sdp-kernel",
    summary="`torch.backends.cuda.sdp_kernel`, deprecated in favour of `torch.nn.attention.sdpa_kernel`",
    why="It warns since 2.3 and will be removed. The new context manager takes the list of backends that the flags stood for.",
    fix="Safe where the flags are written out: the list is the one that the old function builds.",
    targets=("torch.backends.cuda.sdp_kernel",),
    triggers=("sdp_kernel",),
    deprecated=TorchVersion(2, 3),
    aliases=("TOR101", "TOR103"),
    sources=(
        "torch/backends/cuda/__init__.py:679-713 of torch 2.13.0; https://github.com/pytorch/pytorch/pull/114689",
        "torch/backends/cuda/__init__.py:330 of 2.3.1: the same warning and list, with `CUDNN_ATTENTION`; read 2026-11-26",
    ),
)

# Flags in the order of the parameters, and the backends in the order in which the old function lists them.
_FLAGS = ("enable_flash", "enable_math", "enable_mem_efficient", "enable_cudnn")
_BACKENDS = (
    ("enable_flash", "FLASH_ATTENTION"),
    ("enable_mem_efficient", "EFFICIENT_ATTENTION"),
    ("enable_math", "MATH"),
    ("enable_cudnn", "CUDNN_ATTENTION"),
)
_OLD = OldName(
    "torch.backends.cuda.sdp_kernel",
    ("torch.nn.attention.sdpa_kernel",),
    "Write `torch.nn.attention.sdpa_kernel([...])` with the wanted ones of `SDPBackend.FLASH_ATTENTION`, `EFFICIENT_ATTENTION`, "
    "`MATH` and `CUDNN_ATTENTION`. Every flag of the old function is True unless given.",
    TorchVersion(2, 3),
)


def _answer(use: Use, call: ast.Call, view: ModuleView) -> CallAdvice:
    given = bind(call, _FLAGS)
    if given is None or "#" in view.text(call):
        return CallAdvice(_OLD.advice)
    flags = {flag: given[flag].constant if flag in given else True for flag in _FLAGS}
    name = spelled(view, use, "torch.nn.attention.sdpa_kernel")
    enum = spelled(view, use, "torch.nn.attention.SDPBackend")
    if name is None or enum is None or not all(isinstance(flag, bool) for flag in flags.values()):
        return CallAdvice(_OLD.advice)
    backends = ", ".join(f"{enum[0]}.{backend}" for flag, backend in _BACKENDS if flags[flag])
    edit = EditCall(
        view.span(call),
        Template(name[0]),
        view.span(call.func),
        drop=tuple(argument.key for argument in given.values()),
        first=Template(f"[{backends}]"),
    )
    imports = (*name[1], *(item for item in enum[1] if item not in name[1]))
    return changed("Use `torch.nn.attention.sdpa_kernel`", (edit, *imports), TorchVersion(2, 3))


def check(use: Use, context: Context) -> Iterator[Finding]:
    yield from old_uses("TL422", use, context, _OLD, lambda call: _answer(use, call, context.view))


_SEEN = """import torch
def seen(manager):
    flags = torch.backends.cuda
    with manager:
        return [flags.flash_sdp_enabled(), flags.mem_efficient_sdp_enabled(), flags.math_sdp_enabled(), flags.cudnn_sdp_enabled()]
"""

EXAMPLES = (
    Bad(
        "import torch\n\n\ndef kernel():\n    return torch.backends.cuda.sdp_kernel(enable_flash=False, enable_cudnn=False)\n",
        "import torch\n\n\ndef kernel():\n    return torch.nn.attention.sdpa_kernel("
        "[torch.nn.attention.SDPBackend.EFFICIENT_ATTENTION, torch.nn.attention.SDPBackend.MATH])\n",
        why="some backends",
        run=_SEEN + "result = [seen(kernel()), seen(__import__('contextlib').nullcontext())]",
    ),
    Bad(
        "from torch.backends.cuda import sdp_kernel\nfrom torch.nn.attention import SDPBackend\n\nfew = [SDPBackend.MATH]\n\n\n"
        "def kernel():\n    return sdp_kernel(True, False, False, False)\n",
        "import torch\nfrom torch.nn.attention import SDPBackend\n\nfew = [SDPBackend.MATH]\n\n\n"
        "def kernel():\n    return torch.nn.attention.sdpa_kernel([SDPBackend.FLASH_ATTENTION])\n",
        why="by position, imported by name",
        run=_SEEN + "result = seen(kernel())",
    ),
    Bad(
        "import torch\n\n\ndef kernel(flash):\n    return torch.backends.cuda.sdp_kernel(enable_flash=flash)\n",
        why="a flag that is known at run time only",
    ),
    Ok("from torch.nn.attention import sdpa_kernel\n\n\ndef f(b):\n    return sdpa_kernel(b)\n", "the new one"),
    Ok("import torch\n\ntorch.backends.cuda.enable_flash_sdp(False)\n", "a setting, which stays"),
    Ok(
        "import torch\n\ntry:\n    from torch.nn.attention import sdpa_kernel\nexcept ImportError:\n"
        "    from torch.backends.cuda import sdp_kernel as sdpa_kernel\n",
        "a fallback for old releases",
    ),
)
