"""A call of an operator, spelled as people write it where that means the same, and by its full name otherwise."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from torchlift.convert.archive.zip_entries import BadArchive
from torchlift.convert.translation.vocabulary import DTYPES, LAYOUTS, MEMORY_FORMATS

# What torch has under their names looks at more than the arguments. Functions of torch that are written in Python have
# parameters of their own, and are left out anyway.
_BY_FULL_NAME = frozenset(
    "range arange to full normal scalar_tensor einsum stft istft index_put index_put_ index".split()
)
_SAME_IN_PYTHON = frozenset(("split",))
_ENUMS = {"ScalarType": DTYPES, "MemoryFormat": MEMORY_FORMATS, "Layout": LAYOUTS}
_DTYPE_ATTRIBUTES = ("dtype", "layout")


def name_of(path: str) -> ast.expr:
    """`torch.ops.aten.add` as an expression."""
    first, *rest = path.split(".")
    node: ast.expr = ast.Name(first, ast.Load())
    for part in rest:
        node = ast.Attribute(node, part, ast.Load())
    return node


def called(path: str | ast.expr, *args: ast.expr, **named: ast.expr) -> ast.Call:
    """A call as an expression."""
    function = name_of(path) if isinstance(path, str) else path
    return ast.Call(function, list(args), [ast.keyword(name, value) for name, value in named.items()])


def operator_call(namespace: str, name: str, args: list[ast.expr], named: dict[str, ast.expr]) -> ast.expr:
    """The call of an operator on translated arguments.

    Raises:
        BadArchive: torch has no operator of this name.
    """
    import torch

    schemas = torch._C._jit_get_schemas_for_operator(f"{namespace}::{name}")
    if not schemas:
        raise BadArchive(f"calls the operator {namespace}::{name}, which this torch does not have")
    if namespace != "aten":
        return called(f"torch.ops.{namespace}.{name}", *args, **named)
    fitting = [schema for schema in schemas if _fits(schema, args, named)] or list(schemas)
    named = {key: value for key, value in named.items() if not _is_none(value)}
    args = [_spelled(value, [_type_at(schema, place) for schema in fitting]) for place, value in enumerate(args)]
    named = {key: _spelled(value, [_type_named(schema, key) for schema in fitting]) for key, value in named.items()}
    return _written(name, args, named, fitting)


def _written(name: str, args: list[ast.expr], named: dict[str, ast.expr], fitting: Sequence[Any]) -> ast.expr:
    import torch
    from torch.nn import functional

    plain = all(_is_plain(value) for schema in fitting for value in _enum_arguments(schema, args, named))
    on_tensors = all(_first_is_tensor(schema) for schema in fitting)
    if plain and on_tensors and name not in _BY_FULL_NAME:
        if (
            getattr(torch, name, None) is getattr(torch._C._VariableFunctions, name, object())
            or name in _SAME_IN_PYTHON
        ):
            return called(f"torch.{name}", *args, **named)
        method = getattr(torch._C.TensorBase, name, object())
        if args and getattr(torch.Tensor, name, None) is method and str(fitting[0].arguments[0].type) == "Tensor":
            return called(ast.Attribute(args[0], name, ast.Load()), *args[1:], **named)
        if getattr(functional, name, None) is getattr(torch._C._nn, name, object()):
            return called(f"F.{name}", *args, **named)
    return called(f"torch.ops.aten.{name}", *args, **named)


def _fits(schema: Any, args: list[ast.expr], named: dict[str, ast.expr]) -> bool:
    positional = [argument for argument in schema.arguments if not argument.kwarg_only]
    names = {argument.name for argument in schema.arguments}
    if len(args) > len(positional) or not named.keys() <= names or any(one.is_out for one in schema.arguments):
        return False
    given = {argument.name for argument in positional[: len(args)]} | named.keys()
    missing = [one for one in schema.arguments if one.name not in given and not one.has_default_value()]
    return not missing and all(_may_be(one, value) for one, value in zip(positional, args, strict=False))


def _may_be(argument: Any, value: ast.expr) -> bool:
    kind = str(argument.real_type)
    if not isinstance(value, ast.Constant) or "t[" in kind or kind in ("t", "Any"):
        return not (isinstance(value, ast.List) and kind in ("Tensor", "Device", "ScalarType"))
    constant = value.value
    if constant is None:
        return kind.startswith("Optional") or kind == "NoneType"
    if isinstance(constant, bool):
        return "bool" in kind or "number" in kind
    if isinstance(constant, int):
        return any(word in kind for word in ("int", "float", "number", "SymInt", *_ENUMS))
    if isinstance(constant, float):
        return any(word in kind for word in ("float", "number"))
    return not isinstance(constant, str) or "str" in kind or "Device" in kind


def _type_at(schema: Any, place: int) -> str:
    return str(schema.arguments[place].real_type) if place < len(schema.arguments) else ""


def _type_named(schema: Any, name: str) -> str:
    return next((str(argument.real_type) for argument in schema.arguments if argument.name == name), "")


def _enum(kind: str) -> str | None:
    inner = kind.removeprefix("Optional[").removesuffix("]")
    return inner if inner in _ENUMS else None


def _spelled(value: ast.expr, kinds: list[str]) -> ast.expr:
    """A number that stands for a dtype, layout or memory format, by its name."""
    enums = {_enum(kind) for kind in kinds}
    if len(enums) != 1 or (kind := enums.pop()) is None:
        return value
    words = _ENUMS[kind]
    if isinstance(value, ast.Constant) and type(value.value) is int and 0 <= value.value < len(words):
        return name_of(f"torch.{words[value.value]}")
    return value


def _enum_arguments(schema: Any, args: list[ast.expr], named: dict[str, ast.expr]) -> list[ast.expr]:
    found = [value for place, value in enumerate(args) if _enum(_type_at(schema, place))]
    return found + [value for key, value in named.items() if _enum(_type_named(schema, key))]


def _is_plain(value: ast.expr) -> bool:
    """Whether a dtype or layout is given as such, not as a number that comes from elsewhere, such as the model."""
    of_model = (ast.unparse(value) if isinstance(value, ast.Attribute) else "").startswith("self.")
    return _is_none(value) or (
        isinstance(value, ast.Attribute)
        and (
            (value.attr in _DTYPE_ATTRIBUTES and not of_model)
            or (isinstance(value.value, ast.Name) and value.value.id == "torch")
        )
    )


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _first_is_tensor(schema: Any) -> bool:
    if not schema.arguments:
        return True
    kind = str(schema.arguments[0].type)
    return kind in ("Tensor", "List[Tensor]") or (schema.arguments[0].name == "size" and kind == "List[int]")
