"""Kinds of values in a function, as the TorchScript compiler would type them; `scripted_expressions` lists them."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from torchlift.view import ModuleView
from torchlift.view.walk import walk

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


def is_switch(view: ModuleView, node: ast.expr, kinds: Mapping[str, str]) -> bool:
    """Whether a condition asks for nothing but parameters that are a bool or a text, which a trace is given as such."""
    parts = [part for part in walk(node) if isinstance(part, ast.expr)]
    if any(not isinstance(part, (ast.Name, ast.Constant, ast.UnaryOp, ast.BoolOp, ast.Compare)) for part in parts):
        return False
    names = [part for part in parts if isinstance(part, ast.Name)]
    given = [view.definition(name) for name in names]
    return all(one is not None and isinstance(one.node, ast.arg) for one in given) and all(
        kinds.get(name.id) in {"bool", "str"} for name in names
    )


def mixes_size(view: ModuleView, left: tuple[str, ast.expr], right: tuple[str, ast.expr]) -> bool:
    """Whether one of two values, given as kind and expression, is a shape and the other a list: one type in TorchScript."""
    for (kind, _), (_, other) in ((left, right), (right, left)):
        binding = view.definition(other)
        annotation = binding.node.annotation if binding is not None and isinstance(binding.node, ast.arg) else None
        listed = annotation is not None and re.match(r"(?:typing\.)?[Ll]ist\b", view.text(annotation)) is not None
        value = binding.value if binding is not None and binding.kind == "assign" else other
        if kind == "shape" and (listed or isinstance(value, (ast.List, ast.ListComp))):
            return True
    return False


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
