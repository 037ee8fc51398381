"""Where torch defines names and where users are meant to import them from.

Both spellings reach the same object, so rules are written for the public one only.
Source: `torch/jit/__init__.py`, `torch/distributed/__init__.py` of the torch 2.13.0 wheel, read 2026-11-21.
"""

from __future__ import annotations

from functools import lru_cache

TORCH_PACKAGES = frozenset({"torch", "torchvision", "torchaudio"})
"""Packages that are released together."""
_PUBLIC_HOME = {
    "torch.jit._trace": "torch.jit",
    "torch.jit._script": "torch.jit",
    "torch.jit._serialization": "torch.jit",
    "torch.jit._freeze": "torch.jit",
    "torch.jit._async": "torch.jit",
    "torch.jit._fuser": "torch.jit",
    "torch._jit_internal": "torch.jit",
    "torch.distributed.distributed_c10d": "torch.distributed",
    "torch.nn.modules": "torch.nn",
}

# Modules of `torch.nn.modules` that hold the classes; the file name is not part of the public name.
_NN_FILES = "torch.nn.modules."


@lru_cache(maxsize=4096)
def public_name(qualified: str) -> str:
    """The public spelling of a qualified torch name; other names are returned as they are."""
    if not qualified.startswith("torch."):
        return qualified
    if qualified.startswith(_NN_FILES):
        head, _, tail = qualified[len(_NN_FILES) :].partition(".")
        return f"torch.nn.{tail or head}"
    for private, public in _PUBLIC_HOME.items():
        if qualified.startswith(private) and qualified[len(private) : len(private) + 1] in {"", "."}:
            return public + qualified[len(private) :]
    return qualified


# Modules that `import torch` leaves unloaded: what they hold is reached by an import of its own. Measured on 2.13.0.
_UNLOADED = ("torch.export.passes", "torch.export.pt2_archive")


def unloaded_module(name: str) -> str | None:
    """The module that holds `name` and has to be imported before it can be used; None if `import torch` is enough."""
    return name.rpartition(".")[0] if name.startswith(_UNLOADED) else None
