"""What torchvision does with `pretrained=`, small enough for examples to be run where torchvision is not installed."""

from __future__ import annotations

_MODELS = '''
import enum


class ResNet50_Weights(enum.Enum):
    IMAGENET1K_V1 = "resnet50, first"
    IMAGENET1K_V2 = "resnet50, second"


class VGG16_Weights(enum.Enum):
    IMAGENET1K_V1 = "vgg16"
    IMAGENET1K_FEATURES = "vgg16, features"


def _legacy(kwargs, new, old, default):
    """As `handle_legacy_interface` of torchvision 0.13 to 0.28 does."""
    given = kwargs.get(new, ...)
    if (given is ... and old not in kwargs) or given is None or isinstance(given, enum.Enum):
        return
    value = kwargs.pop(old) if given is ... else given
    kwargs[new] = default if value else None


def resnet50(*args, **kwargs):
    kwargs.update(zip(("weights", "progress"), args))
    _legacy(kwargs, "weights", "pretrained", ResNet50_Weights.IMAGENET1K_V1)
    return "resnet50", str(kwargs.get("weights")), kwargs.get("progress", True)
'''

_DETECTION = """
import enum

from torchvision.models import VGG16_Weights, _legacy


class SSD300_VGG16_Weights(enum.Enum):
    COCO_V1 = "ssd"


def ssd300_vgg16(*args, **kwargs):
    kwargs.update(zip(("weights", "progress", "num_classes", "weights_backbone"), args))
    _legacy(kwargs, "weights", "pretrained", SSD300_VGG16_Weights.COCO_V1)
    _legacy(kwargs, "weights_backbone", "pretrained_backbone", VGG16_Weights.IMAGENET1K_FEATURES)
    return "ssd", str(kwargs.get("weights")), str(kwargs.get("weights_backbone", VGG16_Weights.IMAGENET1K_FEATURES))
"""

BY_HAND = (
    ("torchvision/__init__.py", "from torchvision import models\n"),
    ("torchvision/models/__init__.py", f"{_MODELS}\n\nfrom torchvision.models import detection\n"),
    ("torchvision/models/detection/__init__.py", _DETECTION),
)
