"""Kinds of values in a function, as the TorchScript compiler would type them; `scripted_expressions` lists them."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.values.type_comments import comment_types
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_MAYBE_FLOAT = lazy_pattern(r"(?:typing\.)?Optional\[float\]|float \| None|None \| float")
_FLOATS = lazy_pattern(r"(?i)\b(?:list|tuple|dict)\[.*\bfloat\b")
TENSORS = frozenset({"tensor", "floating"})
NUMBERS = frozenset({"int", "float"})
_PLAIN = frozenset({"bool", "int", "float", "str"})
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
    return plain if plain in _PLAIN else "unknown"


def parameter_kinds(
    view: ModuleView, node: ast.FunctionDef | ast.AsyncFunctionDef, positional: list[ast.arg], *, known_only: bool
) -> tuple[dict[str, str], list[str]]:
    """Kinds of the parameters of a function, and those that hold floats, one or several.

    With `known_only` keywords are read as well, and an optional float is one.
    """
    comments = comment_types(view, node) or {}
    kinds = {one.arg: parameter_kind(view, one.annotation, comments.get(one.arg)) for one in positional}
    kinds |= {one.arg: "unknown" for one in node.args.kwonlyargs}
    written = dict(comments)
    if known_only:
        kinds |= {one.arg: parameter_kind(view, one.annotation) for one in node.args.kwonlyargs if one.annotation}
        written |= {a.arg: view.text(a.annotation) for a in [*positional, *node.args.kwonlyargs] if a.annotation}
        kinds |= {name: "float" for name in kinds if _MAYBE_FLOAT.fullmatch(written.get(name, ""))}
    several = [name for name in kinds if known_only and _FLOATS.search(written.get(name, ""))]
    return kinds, [*(name for name, kind in kinds.items() if kind == "float"), *several]


def plain_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    """Parameters that are plain Python values, by their annotation or default."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(zip(reversed([a.arg for a in positional]), reversed(arguments.defaults), strict=False))
    defaults |= {a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None}
    found = set()
    for argument in [*positional, *arguments.kwonlyargs]:
        default = defaults.get(argument.arg)
        if argument.annotation is not None:
            if ast.unparse(argument.annotation).strip("'") in _PLAIN:
                found.add(argument.arg)
        elif isinstance(default, ast.Constant) and default.value is not None:
            found.add(argument.arg)
    return frozenset(found)


def is_tensor_annotation(view: ModuleView, node: ast.expr) -> bool:
    """Whether an annotation surely means `torch.Tensor`."""
    return view.certain_name(node) == "torch.Tensor"


def is_dict_view(view: ModuleView, node: ast.expr) -> bool:
    """Whether an expression gives keys, values or items, which are a list in TorchScript."""
    bound = view.definition(node) if isinstance(node, ast.Name) else None
    node = bound.value if bound is not None and bound.kind == "assign" and bound.value is not None else node
    asked = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    return asked in {"keys", "values", "items"}


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
