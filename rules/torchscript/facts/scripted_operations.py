"""Operations that give the same compiled by TorchScript and run as Python.

`tests/rules/torchscript/test_scripted_operations.py` runs every one of them both ways on torch 2.13: floating point, integer and boolean
inputs, three calls each (the compiler optimises after the second), results, changed arguments, shared memory, and
gradients, also of a longer computation, which TorchScript differentiates with formulas of its own. What differed there
is not listed:

- results: factories without a tensor (`torch.zeros(2)` is computed once and handed out again at each call),
  `torch.addmm` (half precision), `round` and integer powers (a float in TorchScript), `1.0 - x` for bytes (wraps around),
  `x * 1` and `x + 0` (left out, so bools stay bools), `2 // x`, arithmetic with `True`
- changes in place: `x **= y` and `x &= y` (change the tensor in Python only), `x %= y` (takes the sign of `x`), the left
  side of `%` (computed twice), tensors that a loop rebinds and changes (mixed up)
- gradients: `torch.max(x, y)` and `x ** y` at ties and zeros, `clamp` between tensors, `std` of equal numbers, `type_as`,
  `split` (an error)
"""

from __future__ import annotations

# Functions of torch that take a tensor or a sequence of tensors first and give a tensor.
FUNCTIONS = frozenset(
    f"torch.{name}"
    for name in """abs absolute acos acosh add addcdiv addcmul all amax amin any argmax argmin argsort asin asinh atan
    atan2 atanh baddbmm bmm bucketize cat cdist ceil clamp clamp_max clamp_min clip clone column_stack concat cos cosh
    cross cumprod cumsum deg2rad diag diag_embed diagonal diff div dot einsum eq erf erfc erfinv exp exp2 expm1 flatten
    flip floor floor_divide fmod frac full_like gather ge gt hstack hypot index_select inner isclose isfinite isinf isnan
    kron le lerp lgamma log log10 log1p log2 log_softmax logaddexp logical_and logical_not logical_or logical_xor
    logsumexp lt masked_fill masked_select matmul max maximum mean median min minimum mm mul mv nan_to_num narrow ne neg
    nonzero norm ones_like outer permute pow prod rad2deg rand_like randn_like reciprocal relu remainder
    repeat_interleave reshape roll round rsqrt scatter scatter_add selu sigmoid sign sin sinc sinh softmax sqrt square
    squeeze stack sub sum t take tan tanh tensordot tile trace transpose tril triu true_divide trunc unique unsqueeze
    var vstack where xlogy zeros_like
    nn.functional.relu nn.functional.relu6 nn.functional.elu nn.functional.selu nn.functional.celu
    nn.functional.leaky_relu nn.functional.gelu nn.functional.silu nn.functional.mish nn.functional.sigmoid
    nn.functional.tanh nn.functional.softplus nn.functional.softsign nn.functional.hardtanh nn.functional.hardsigmoid
    nn.functional.hardswish nn.functional.logsigmoid nn.functional.tanhshrink nn.functional.softshrink
    nn.functional.hardshrink nn.functional.threshold nn.functional.glu nn.functional.softmax nn.functional.log_softmax
    nn.functional.softmin nn.functional.normalize nn.functional.layer_norm nn.functional.group_norm
    nn.functional.linear nn.functional.conv2d nn.functional.pad nn.functional.dropout nn.functional.one_hot
    nn.functional.embedding nn.functional.grid_sample nn.functional.unfold nn.functional.avg_pool1d
    nn.functional.avg_pool2d nn.functional.max_pool1d nn.functional.max_pool2d nn.functional.adaptive_avg_pool2d
    nn.functional.mse_loss nn.functional.l1_loss nn.functional.smooth_l1_loss nn.functional.huber_loss
    nn.functional.cross_entropy nn.functional.nll_loss nn.functional.binary_cross_entropy
    nn.functional.binary_cross_entropy_with_logits nn.functional.kl_div nn.functional.cosine_similarity
    nn.functional.pairwise_distance nn.functional.pixel_shuffle nn.functional.scaled_dot_product_attention""".split()
)

# Methods of a tensor that give a tensor; those that end in `_` change it as the same method does in Python.
METHODS = frozenset(
    """abs add addcdiv addcmul all amax amin any argmax argmin argsort asin atan bmm broadcast_to ceil clamp clamp_max
    clamp_min clip clone contiguous cos cumprod cumsum detach diag diagonal diff div dot double eq erf exp expand
    expand_as expm1 flatten flip float floor fmod gather ge gt half index_add index_fill index_select int isfinite isinf
    isnan le lerp log log10 log1p log2 log_softmax logical_and logical_not logical_or logsumexp long lt masked_fill
    masked_select matmul max maximum mean min minimum mm movedim mul mv nan_to_num narrow ne neg new_full new_ones
    new_zeros nonzero outer permute pow prod reciprocal relu remainder repeat repeat_interleave reshape reshape_as roll
    round rsqrt scatter scatter_add select sigmoid sign sin softmax sqrt square squeeze sub sum swapaxes t tan tanh
    tile to transpose tril triu trunc unflatten unfold unsqueeze var view view_as where
    add_ clamp_ copy_ div_ exp_ fill_ index_add_ masked_fill_ mul_ pow_ relu_ scatter_ scatter_add_ sigmoid_ sqrt_ sub_
    tanh_ zero_""".split()
)

# Those whose result is a float whatever the input is, functions and methods alike: `dropout`, `linear` and `conv2d` of bytes
# (`torch.uint8`) are bytes. `test_scripted_bytes.py` runs each.
FLOATING = frozenset(
    """sigmoid tanh exp log log1p log2 log10 sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh erf erfc exp2
    expm1 softmax log_softmax mean logsumexp float double half var true_divide norm elu selu celu leaky_relu gelu silu
    mish softplus softsign hardsigmoid hardswish logsigmoid tanhshrink softshrink hardshrink normalize layer_norm
    group_norm""".split()
)

# Functions and methods that give several tensors: TorchScript makes a list of them where Python has a tuple.
SEQUENCES = frozenset({"chunk", "unbind"})

# Those that give a pair with names, which TorchScript hands out as a plain tuple; `max` and `min` do so with a dimension.
PAIRS = frozenset({"sort", "topk", "cummax", "cummin", "max", "min", "median"})
PAIRS_WITH_DIMENSION = frozenset({"max", "min", "median"})

# Attributes of a tensor, and what they are.
ATTRIBUTES = {
    "shape": "shape",
    "ndim": "int",
    "dtype": "dtype",
    "device": "device",
    "T": "tensor",
    "mT": "tensor",
    "is_cuda": "bool",
    "requires_grad": "bool",
}
SIZES = frozenset({"size", "dim", "numel", "stride"})
BOOLS = frozenset({"is_floating_point", "is_complex", "is_contiguous"})

MATH_CONSTANTS = frozenset({"math.pi", "math.e", "math.inf"})
MATH_FUNCTIONS = {
    "math.sqrt": "float",
    "math.log": "float",
    "math.exp": "float",
    "math.ceil": "int",
    "math.floor": "int",
}

# Those that take numbers only: gradients differ where a tensor stands in the place of the bound or exponent.
NUMBERS_ONLY = frozenset(
    {"pow", "pow_", "float_power", "clamp", "clamp_", "clamp_min", "clamp_max", "clip", "max", "min"}
)

# Keywords that take a switch or a choice and not a number to compute with.
SWITCHES = frozenset(
    """keepdim dim inplace training unbiased descending largest sorted align_corners mode approximate reduction
    rounding_mode indexing padding_mode right""".split()
)
# Functions that take a switch by position (`x.sum(1, True)`).
REDUCTIONS = frozenset(
    """sum mean amax amin all any argmax argmin var norm max min sort topk logsumexp prod softmax dropout
    argsort median""".split()
)
