"""Kinds of values in a function, as the TorchScript compiler would type them; `scripted_expressions` lists them."""

from __future__ import annotations

import ast

from torchlift.view import ModuleView

TENSORS = frozenset({"tensor", "floating"})
NUMBERS = frozenset({"int", "float"})
_DTYPES = frozenset(
    """float16 float32 float64 bfloat16 half float double int8 int16 int32 int64 short int long uint8 bool
    complex64 complex128""".split()
)


def parameter_kind(view: ModuleView, annotation: ast.expr | None, comment: str | None = None) -> str:
    """Kind of a parameter with this annotation, or with this type other than a tensor in a comment."""
    if annotation is None and comment is not None:
        plain = comment
    elif annotation is None or is_tensor_annotation(view, annotation):
        return "tensor"
    else:
        plain = annotation.id if isinstance(annotation, ast.Name) else ""
    return plain if plain in {"int", "float", "bool", "str"} else "unknown"


def is_tensor_annotation(view: ModuleView, node: ast.expr) -> bool:
    """Whether an annotation surely means `torch.Tensor`."""
    return view.certain_name(node) == "torch.Tensor"


def is_dtype(name: str) -> bool:
    """Whether a qualified name is one of torch's data types."""
    module, _, last = name.rpartition(".")
    return module == "torch" and last in _DTYPES


def shown(kind: str) -> str:
    """How messages call a kind."""
    return {
        "shape": "a shape",
        "tensors": "the tuple of a split",
        "pair": "a named tuple",
        "int": "an int",
        "float": "a float",
        "bool": "a bool",
        "str": "a string",
        "none": "None",
        "tuple": "a list or tuple",
        "ints": "a list or tuple of ints",
    }.get(kind, f"a {kind}")
