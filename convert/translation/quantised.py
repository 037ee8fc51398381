"""Quantised tensors and packed weights: as torch's quantised operators take them, or as arithmetic that can be exported.

`torch.export` writes no packed weights. What quantises its input as it comes (`linear_dynamic`) is arithmetic on the same
codes then: rounding and limits are those of ATen/native/quantized/cpu/QuantUtils.h (torch 2.13).
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchlift.convert.archive.values import Tensor, Thing
from torchlift.convert.archive.zip_entries import BadArchive
from torchlift.convert.translation.operators import called

Weight = Callable[[Tensor, str], ast.expr]
"""A tensor's bytes as an expression, under a name."""

_LINEAR = "__torch__.torch.classes.quantized.LinearPackedParamsBase"
_CONVOLUTIONS = tuple(f"__torch__.torch.classes.quantized.Conv{n}dPackedParamsBase" for n in (2, 3))
PACKED = (_LINEAR, *_CONVOLUTIONS)
"""Classes of packed weights."""
CODES = {"qint8": "int8", "quint8": "uint8", "qint32": "int32"}
"""The dtype of the whole numbers in a quantised tensor."""
AS_ARITHMETIC = frozenset(("linear_dynamic", "linear_relu_dynamic"))
"""Operators of `quantized` that have a helper."""

QUANTISED_HELPERS = {
    "packed_convolution": '''
def packed_convolution(sizes, weight, bias):
    """A convolution's weights for quantised operators; the sizes stand in a tensor as the archive has them."""
    dimensions, *rest = sizes.tolist()
    stride, padding, dilation = (rest[part * dimensions : (part + 1) * dimensions] for part in range(3))
    pack = getattr(torch.ops.quantized, f"conv{dimensions}d_prepack")
    return pack(weight, bias, stride, padding, dilation, rest[4 * dimensions])
''',
    "PackedLinear": '''
class PackedLinear(nn.Module):
    """A quantised weight and its bias, for arithmetic."""

    def __init__(self, weight, bias):
        super().__init__()
        self.register_buffer("codes", weight.int_repr())
        by_channel = weight.qscheme() == torch.per_channel_affine
        scale = weight.q_per_channel_scales() if by_channel else torch.tensor(weight.q_scale())
        point = weight.q_per_channel_zero_points() if by_channel else torch.tensor(weight.q_zero_point())
        self.register_buffer("scale", scale.float())
        self.register_buffer("point", point.float().reshape(-1, 1))
        self.register_buffer("bias", bias)
''',
    "linear_dynamic": '''
def linear_dynamic(x, packed, reduce_range=False):
    """A linear layer that quantises its input by the least and the largest of it."""
    most = 127 if reduce_range else 255
    low, high = x.min().clamp(max=0.0).double(), x.max().clamp(min=0.0).double()
    wide = (high - low) / most
    scale = torch.where(wide.float() == 0, torch.full_like(wide, 0.1), wide)
    least = 6.1e-05
    up = least / scale
    low = torch.where(scale >= least, low, torch.where(high == 0, torch.full_like(low, -least * most), low * up))
    high = torch.where(scale >= least, high, torch.where(low == 0, torch.full_like(high, least * most), high * up))
    scale = scale.clamp(min=least)
    by_low = (low / scale).abs().neg() < most - (high / scale).abs()
    point = torch.where(by_low, -low / scale, most - high / scale).round().clamp(0, most).float()
    scale = scale.float()
    codes = ((x * (1.0 / scale)).round() + point).clamp(0, 255)
    sums = F.linear(codes - point, packed.codes.float() - packed.point) * (scale * packed.scale)
    return sums if packed.bias is None else sums + packed.bias
''',
    "linear_relu_dynamic": '''
def linear_relu_dynamic(x, packed, reduce_range=False):
    """The same with a ReLU behind it."""
    return torch.relu(linear_dynamic(x, packed, reduce_range))
''',
}
QUANTISED_NEEDS = {"linear_relu_dynamic": ("linear_dynamic",)}


def quantised(value: Tensor, path: str, weight: Weight) -> ast.expr:
    """A quantised tensor as an expression. Raises `BadArchive`."""
    scheme, *rest = value.quantizer
    codes = weight(value, path)
    if str(scheme) == "torch.per_tensor_affine":
        return called("torch._make_per_tensor_quantized_tensor", codes, *(ast.Constant(one) for one in rest))
    if str(scheme) == "torch.per_channel_affine" and all(isinstance(one, Tensor) for one in rest[:2]):
        scales, points = (weight(one, f"{path}.{name}") for one, name in zip(rest, ("scales", "points"), strict=False))
        return called("torch._make_per_channel_quantized_tensor", codes, scales, points, ast.Constant(rest[2]))
    raise BadArchive(f"holds a tensor that is quantised as {scheme}, which torchlift cannot write down")


def packed(thing: Thing, path: str, weight: Weight, arithmetic: bool) -> tuple[ast.expr, str | None]:
    """Packed weights as an expression, and the helper that it needs.

    Args:
        thing: of a class of `PACKED`.
        path: a name for its tensors.
        weight: makes an expression of a tensor.
        arithmetic: whether operators that have a helper are written so.

    Raises:
        BadArchive: its state is not one that torch 1.6 or newer wrote.
    """
    if str(thing.kind) == _LINEAR:
        values, bias = thing.state if isinstance(thing.state, tuple) and len(thing.state) == 2 else (None, None)
        if isinstance(values, Tensor):
            made = quantised(values, f"{path}.weight", weight) if values.quantizer else weight(values, f"{path}.weight")
            second = weight(bias, f"{path}.bias") if isinstance(bias, Tensor) else ast.Constant(None)
            if arithmetic and values.quantizer:
                return called("PackedLinear", made, second), "PackedLinear"
            pack = "linear_prepack" if values.quantizer else "linear_prepack_fp16"
            return called(f"torch.ops.quantized.{pack}", made, second), None
    else:
        match thing.state:
            case ("2", [Tensor() as sizes, Tensor() as values], [*biases]) if values.quantizer and len(biases) <= 2:
                bias = next((one for one in biases if isinstance(one, Tensor)), None)
                second = ast.Constant(None) if bias is None else weight(bias, f"{path}.bias")
                parts = weight(sizes, f"{path}.sizes"), quantised(values, f"{path}.weight", weight), second
                return called("packed_convolution", *parts), "packed_convolution"
    raise BadArchive(f"holds packed weights ({thing.kind}) in a form that torchlift does not know")
