"""How to make every layer that is trusted, and what to call it with."""

from __future__ import annotations

# How to make each layer, and the shape of its input without the batch dimension.
_VECTOR, _SEQUENCE, _IMAGE, _VOLUME = "(6,)", "(4, 8)", "(4, 8, 8)", "(4, 8, 8, 8)"
LAYERS = {
    "Linear": ("(6, 3)", _VECTOR),
    "Conv1d": ("(4, 2, 3)", _SEQUENCE),
    "Conv2d": ("(4, 2, 3)", _IMAGE),
    "Conv3d": ("(4, 2, 3)", _VOLUME),
    "ConvTranspose1d": ("(4, 2, 3)", _SEQUENCE),
    "ConvTranspose2d": ("(4, 2, 3)", _IMAGE),
    "ConvTranspose3d": ("(4, 2, 3)", _VOLUME),
    "LayerNorm": ("(6,)", _VECTOR),
    "GroupNorm": ("(2, 4)", _IMAGE),
    "MaxPool1d": ("(2,)", _SEQUENCE),
    "MaxPool2d": ("(2,)", _IMAGE),
    "MaxPool3d": ("(2,)", _VOLUME),
    "AvgPool1d": ("(2,)", _SEQUENCE),
    "AvgPool2d": ("(2,)", _IMAGE),
    "AvgPool3d": ("(2,)", _VOLUME),
    "AdaptiveAvgPool1d": ("(2,)", _SEQUENCE),
    "AdaptiveAvgPool2d": ("((2, 2),)", _IMAGE),
    "AdaptiveMaxPool2d": ("((2, 2),)", _IMAGE),
    "Flatten": ("()", _IMAGE),
    "Softmax": ("(dim=1,)", _VECTOR),
    "LogSoftmax": ("(dim=1,)", _VECTOR),
    "ZeroPad2d": ("(1,)", _IMAGE),
    "ReflectionPad2d": ("(1,)", _IMAGE),
    "PixelShuffle": ("(2,)", _IMAGE),
    "BatchNorm1d": ("(6,)", _VECTOR),
    "BatchNorm2d": ("(4,)", _IMAGE),
    "BatchNorm3d": ("(4,)", _VOLUME),
    "Dropout1d": ("()", _SEQUENCE),
    "Dropout2d": ("()", _IMAGE),
    "Dropout3d": ("()", _VOLUME),
}
DEFAULT = ("()", _VECTOR)
