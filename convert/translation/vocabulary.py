"""TorchScript's words that are not operators on tensors alone, and what Python has for them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType

BINARY: Mapping[str, type[ast.operator]] = MappingProxyType(
    {
        "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "div": ast.Div, "floordiv": ast.FloorDiv, "remainder": ast.Mod,
        "matmul": ast.MatMult, "__and__": ast.BitAnd, "__or__": ast.BitOr, "__xor__": ast.BitXor, "__lshift__": ast.LShift,
        "__rshift__": ast.RShift,
    }
)  # fmt: skip
"""Of tensors, numbers, lists and strings alike."""

COMPARISONS: Mapping[str, type[ast.cmpop]] = MappingProxyType(
    {
        "eq": ast.Eq, "ne": ast.NotEq, "lt": ast.Lt, "le": ast.LtE, "gt": ast.Gt, "ge": ast.GtE, "__is__": ast.Is,
        "__isnot__": ast.IsNot,
    }
)  # fmt: skip

METHODS = frozenset(
    "append extend insert pop remove reverse keys items get setdefault update popitem upper lower strip lstrip rstrip "
    "startswith endswith join replace find rfind isdigit isalpha isalnum isnumeric isspace islower isupper isidentifier "
    "istitle isprintable isdecimal title capitalize swapcase casefold zfill ljust rjust center splitlines rsplit partition "
    "rpartition expandtabs encode count".split()
)
"""Of lists, dictionaries and strings; no operator on tensors has the name."""

EITHER = frozenset("copy index sort values split clear max min sum abs all any len slice rindex list".split())
"""Of a tensor, or of a list, dictionary or string: told apart when it runs."""

ATTRIBUTES: Mapping[str, str] = MappingProxyType(
    {
        "dtype": "dtype", "device": "device", "layout": "layout", "is_cuda": "is_cuda", "is_sparse": "is_sparse",
        "requires_grad": "requires_grad", "is_quantized": "is_quantized", "is_meta": "is_meta", "grad": "grad",
        "is_mkldnn": "is_mkldnn", "is_cpu": "is_cpu", "type": "type", "index": "index", "name": "name", "is_nested": "is_nested",
        "itemsize": "itemsize", "nbytes": "nbytes", "H": "H", "mT": "mT", "mH": "mH", "is_mps": "is_mps", "is_xpu": "is_xpu",
        "is_mkldnn_supported": "is_mkldnn_supported",
    }
)  # fmt: skip
"""`ops.prim.NAME(x)` that is `x.NAME`."""

ERRORS = frozenset(
    "ValueError RuntimeError AssertionError IndexError KeyError TypeError NotImplementedError Exception OSError".split()
)
"""What `prim::RaiseException` raises under its own name; anything else becomes a RuntimeError."""

DTYPES = (
    "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex32", "complex64", "complex128",
    "bool", "qint8", "quint8", "qint32", "bfloat16",
)  # fmt: skip
"""By the number that stands for them in TorchScript (c10/core/ScalarType.h, torch 2.13)."""
MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
LAYOUTS = ("strided", "sparse_coo", "sparse_csr", "_mkldnn")

TYPES: Mapping[str, str] = MappingProxyType(
    {
        "List": "list", "Dict": "dict", "Tuple": "tuple", "NoneType": "None", "number": "float", "Device": "torch.device",
        "Future": "Any", "Await": "Any", "Scalar": "float", "t": "Any", "AnyClassType": "Any", "Storage": "Any",
        "Generator": "Any", "Stream": "Any", "QScheme": "Any", "Layout": "Any", "ScalarType": "Any",
    }
)  # fmt: skip

MATHEMATICS = frozenset(
    "sqrt exp log log2 log10 log1p expm1 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh floor ceil gamma lgamma "
    "erf erfc degrees radians".split()
)
"""Of a tensor or of a number."""

# What a module needs to do as TorchScript does; each is written into a module that uses it, under its name here.
HELPERS: Mapping[str, str] = MappingProxyType(
    {
        "as_int": '''
def as_int(value):
    """An int of a tensor, a number or a string."""
    if isinstance(value, str):
        return int(value)
    return torch.sym_int(value.item() if isinstance(value, Tensor) else value)
''',
        "as_float": '''
def as_float(value):
    """A float of a tensor, a number or a string."""
    if isinstance(value, str):
        return float(value)
    return torch.sym_float(value.item() if isinstance(value, Tensor) else value)
''',
        "as_number": '''
def as_number(value):
    """The number in a tensor."""
    return value.item() if isinstance(value, Tensor) else value
''',
        "as_tensor": '''
def as_tensor(number):
    """A number as a tensor without dimensions, in the widest type of its kind."""
    if isinstance(number, Tensor):
        return number
    kind = torch.float64 if isinstance(number, (float, torch.SymFloat)) else torch.int64
    return torch.scalar_tensor(number, dtype=torch.bool if isinstance(number, bool) else kind)
''',
        "as_code": f'''
def as_code(dtype):
    """The number that stands for a dtype in TorchScript."""
    return {DTYPES!r}.index(str(dtype).removeprefix("torch."))
''',
        "restored": '''
def restored(kind, **attributes):
    """An object with these attributes, made without its constructor."""
    made = kind.__new__(kind)
    vars(made).update(attributes)
    return made
''',
        "power": '''
def power(base, exponent):
    """A power; of numbers it is a float."""
    if isinstance(base, Tensor) or isinstance(exponent, Tensor):
        return torch.pow(base, exponent)
    return torch.sym_float(base) ** exponent
''',
        "calculate": '''
def calculate(name, value):
    """A function of a tensor or of a number."""
    return getattr(torch.ops.aten, name)(value) if isinstance(value, Tensor) else getattr(math, name)(value)
''',
        "length": '''
def length(value):
    """How many items there are, or rows in a tensor."""
    return value.size(0) if isinstance(value, Tensor) else len(value)
''',
        "part": '''
def part(value, *place):
    """A slice: of a tensor by dimension, start, end and step, of anything else by start, end and step."""
    if isinstance(value, Tensor):
        return torch.ops.aten.slice(value, *place)
    return value[slice(*(place if len(place) > 1 else (*place, None)[:2]))]
''',
        "either": '''
def either(name, value, *more, **named):
    """What a tensor, a list, a dictionary or a string has under this name."""
    if isinstance(value, Tensor) or (isinstance(value, list) and value and isinstance(value[0], Tensor) and name != "copy"):
        return getattr(torch.ops.aten, name)(value, *more, **named)
    if name in ("sum", "max", "min", "abs", "all", "any", "list"):
        return getattr(builtins, name)(value, *more)
    if name == "values":
        return list(value.values())
    if name == "sort":
        return value.sort(reverse=bool(more and more[0]))
    return getattr(value, name)(*more)
''',
    }
)
