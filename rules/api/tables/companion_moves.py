"""Names of torchvision that got another name, with the same object or a function that only forwards behind both.

torchvision cannot be imported where the tests run: each row says what the sources of a wheel show, read 2026-11-23, and is for
review. Releases are those of the torch that goes with each.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.rules.renaming import MovedName
from torchlift.versions import TorchVersion

_OLD_LOADER = "torchvision 0.12: `from .._internally_replaced_utils import load_state_dict_from_url`, there `from torch.hub import load_state_dict_from_url`"
_MODELS = (
    "alexnet",
    "densenet",
    "googlenet",
    "inception",
    "resnet",
    "squeezenet",
    "vgg",
    "shufflenetv2",
    "mobilenetv2",
)
# What takes the same arguments in `functional` and hands tensors on unchanged (torchvision 0.16.2, the signatures compared).
_FORWARDED = (
    "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_saturation", "adjust_sharpness", "autocontrast",
    "crop", "equalize", "hflip", "invert", "pad", "posterize", "rgb_to_grayscale", "solarize", "vflip",
)  # fmt: skip


def _loaders() -> Iterator[MovedName]:
    places = {f"torchvision.models.{name}": TorchVersion(1, 12) for name in _MODELS}
    for module, removed in {"torchvision.models.utils": TorchVersion(1, 10), **places}.items():
        yield MovedName(
            f"{module}.load_state_dict_from_url",
            "torch.hub.load_state_dict_from_url",
            TorchVersion(1, 4),
            "torchvision 0.10, models/utils.py: `from torch.hub import load_state_dict_from_url`"
            if module.endswith("utils")
            else _OLD_LOADER,
            removed=removed,
            triggers=("load_state_dict_from_url & torchvision",),
            review="It was an import of torch's function, by the source of torchvision's wheels; nothing was run.",
        )


def _tensor_functions() -> Iterator[MovedName]:
    for name in _FORWARDED:
        yield MovedName(
            f"torchvision.transforms.functional_tensor.{name}",
            f"torchvision.transforms.functional.{name}",
            TorchVersion(1, 7),
            f"torchvision 0.16.2, transforms/functional.py: `{name}` returns `F_t.{name}(...)` for tensors; functional_tensor.py warns",
            deprecated=TorchVersion(2, 0),
            removed=TorchVersion(2, 2),
            triggers=("functional_tensor",),
            review="For tensors it calls the same function; it takes PIL images, too, which the old one refused.",
        )


def _transforms() -> Iterator[MovedName]:
    for module in ("torchvision.transforms", "torchvision.transforms.transforms"):
        for old, new in (("Scale", "Resize"), ("RandomSizedCrop", "RandomResizedCrop")):
            yield MovedName(
                f"{module}.{old}",
                f"{module}.{new}",
                TorchVersion(1, 4),
                f"torchvision 0.11.3, transforms/transforms.py: `class {old}({new})` warns and passes everything on",
                removed=TorchVersion(1, 11),
                triggers=(f"{old} & transforms",),
                review=f"The old class was `{new}` and a warning, by the source of torchvision 0.11; nothing was run.",
            )


COMPANION_MOVES: tuple[MovedName, ...] = (*_loaders(), *_tensor_functions(), *_transforms())
