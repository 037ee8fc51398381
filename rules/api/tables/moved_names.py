"""Table of torch names that moved: the new name is the same object, or the old one only forwards to it.

Every row was checked against the Python sources of the wheels 1.4.0 to 2.15.0 (each `.0` minor), read 2026-11-21, and by
calling both names on torch 2.13.0; `tests/rules/api/test_moved_names.py` calls them again. `since` is the first release whose
sources have the new name; 1.4 stands for "1.4 or earlier".
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.rules.renaming import MovedName
from torchlift.versions import TorchVersion

_EARLY = TorchVersion(1, 4)


def _initialisers() -> Iterator[MovedName]:
    examples = {
        "uniform": "f(torch.ones(3, 4))",
        "normal": "f(torch.ones(3, 4))",
        "constant": "f(torch.ones(3, 4), 2.0)",
        "eye": "f(torch.ones(3, 4))",
        "dirac": "f(torch.ones(3, 4, 5))",
        "xavier_uniform": "f(torch.ones(3, 4), gain=2.0)",
        "xavier_normal": "f(torch.ones(3, 4))",
        "kaiming_uniform": "f(torch.ones(3, 4), mode='fan_out')",
        "kaiming_normal": "f(torch.ones(3, 4))",
        "orthogonal": "f(torch.ones(3, 4))",
        "sparse": "f(torch.ones(3, 4), 0.5)",
    }
    for line, (name, example) in enumerate(examples.items(), 788):
        yield MovedName(
            f"torch.nn.init.{name}",
            f"torch.nn.init.{name}_",
            _EARLY,
            f'torch/nn/init.py:{line}, FutureWarning "`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`."',
            example,
            # `uniform` and its like are everyday words; the module is always named beside them.
            triggers=(f"init.{name}", "nn.init import", "init as"),
        )


def _functorch() -> Iterator[MovedName]:
    examples = {
        "vmap": "f(torch.sin)(torch.ones(3, 4))",
        "grad": "f(lambda x: (x * x).sum())(torch.ones(3))",
        "grad_and_value": "f(lambda x: (x * x).sum())(torch.ones(3))",
        "vjp": "f(torch.sin, torch.ones(3))[0]",
        "jvp": "f(torch.sin, (torch.ones(3),), (torch.ones(3),))",
        "jacrev": "f(torch.sin)(torch.ones(3))",
        "jacfwd": "f(torch.sin)(torch.ones(3))",
        "hessian": "f(lambda x: (x * x * x).sum())(torch.ones(3))",
        "functionalize": "f(lambda x: x.clone().add_(1))(torch.ones(3))",
    }
    for name, example in examples.items():
        yield MovedName(
            f"functorch.{name}",
            f"torch.func.{name}",
            TorchVersion(2, 0),
            f'torch/_functorch/deprecated.py, FutureWarning "`functorch.{name}` is deprecated as of PyTorch 2.0"',
            example,
            deprecated=TorchVersion(2, 0),
            triggers=("functorch",),
        )


def _cuda_memory() -> Iterator[MovedName]:
    moved = {
        "memory_cached": "memory_reserved",
        "max_memory_cached": "max_memory_reserved",
        "reset_max_memory_allocated": "reset_peak_memory_stats",
        "reset_max_memory_cached": "reset_peak_memory_stats",
    }
    for old, new in moved.items():
        yield MovedName(
            f"torch.cuda.{old}",
            f"torch.cuda.{new}",
            _EARLY,
            f"torch/cuda/memory.py: `torch.cuda.{old}` warns and calls `{new}` (forwards since 1.4.0)",
            "FORWARDS",
        )


def _accelerator() -> Iterator[MovedName]:
    for verb in ("current", "set"):
        yield MovedName(
            f"torch.accelerator.{verb}_device_idx",
            f"torch.accelerator.{verb}_device_index",
            TorchVersion(2, 6),
            f"torch/accelerator/__init__.py: `{verb}_device_idx = deprecated(...)({verb}_device_index)`, 2.6 to 2.15",
            "FORWARDS",
            deprecated=TorchVersion(2, 6),
        )


MOVED_NAMES: tuple[MovedName, ...] = (
    MovedName(
        "torch.ger",
        "torch.outer",
        TorchVersion(1, 7),
        'torch/_torch_docs.py:4986: "Alias of :func:`torch.outer`. This function is deprecated and will be removed"',
        "f(torch.arange(3.0), torch.arange(2.0))",
        deprecated=TorchVersion(1, 7),
    ),
    *_initialisers(),
    MovedName(
        "torch.nn.utils.clip_grad_norm",
        "torch.nn.utils.clip_grad_norm_",
        _EARLY,
        "torch/nn/utils/clip_grad.py:240, FutureWarning, returns `clip_grad_norm_(...)` with all its arguments",
        "f([torch.nn.Parameter(torch.ones(3))], 1.0)",
    ),
    MovedName(
        "torch.nn.functional.upsample",
        "torch.nn.functional.interpolate",
        _EARLY,
        "torch/nn/functional.py:4809, UserWarning, forwards its five arguments in order",
        "f(torch.arange(8.0).reshape(1, 2, 2, 2), None, 2, 'bilinear', True)",
        triggers=("upsample & functional",),
    ),
    *_functorch(),
    MovedName(
        "torch.utils.model_zoo.load_url",
        "torch.hub.load_state_dict_from_url",
        TorchVersion(1, 2),
        "torch/utils/model_zoo.py:2 imports one as the other; https://docs.pytorch.org/docs/1.2.0/model_zoo.html: moved to torch.hub",
        triggers=("model_zoo",),
    ),
    *_cuda_memory(),
    *_accelerator(),
    MovedName(
        "torch._utils.is_compiling",
        "torch.compiler.is_compiling",
        TorchVersion(2, 5),
        "torch/_utils.py: returns `torch.compiler.is_compiling()` since 2.5 (before, `False` where nothing compiles), warns since 2.6",
        "f()",
        deprecated=TorchVersion(2, 6),
        triggers=("is_compiling & _utils",),
    ),
    MovedName(
        "torch.library.impl_abstract",
        "torch.library.register_fake",
        TorchVersion(2, 4),
        "torch/library.py: `impl_abstract` warns and returns `register_fake(...)` with the same arguments, 2.4 to 2.13",
        "FORWARDS",
        deprecated=TorchVersion(2, 4),
    ),
    MovedName(
        "torch.onnx.utils.is_in_onnx_export",
        "torch.onnx.is_in_onnx_export",
        _EARLY,
        "torch 2.8.0 has no such name in torch/onnx/utils.py any more; 2.7.0 imports one from the other",
        "f()",
        removed=TorchVersion(2, 8),
    ),
)

# `_utils` is private; what it holds has been public since 1.11.
PRIVATE_COLLATE_NAMES: tuple[MovedName, ...] = tuple(
    MovedName(
        f"torch.utils.data._utils.collate.{name}",
        f"torch.utils.data.{name}",
        TorchVersion(1, 11),
        "torch/utils/data/dataloader.py:71-72 assigns one to the other",
        triggers=("_utils.collate", "_utils import collate", "data import _utils"),
    )
    for name in ("default_collate", "default_convert")
)
