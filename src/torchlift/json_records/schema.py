"""The JSON schema of a record, made from its data class."""

from __future__ import annotations

import ast
import inspect
import sys
import types
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum, EnumMeta
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

from torchlift.json_records.reading import field_types, may_be_missing
from torchlift.json_records.writing import on_lines

_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schema_of(kind: type, title: str, *, readable: Collection[type] = ()) -> dict[str, Any]:
    """The schema (JSON Schema, draft 2020-12) of the JSON object that `plain` makes of this record.

    Records inside it are definitions, by the names of their classes. The docstrings of classes and fields are the
    descriptions.

    Args:
        kind: a data class.
        title: what the schema describes, and its version.
        readable: data classes that `read_record` reads too: in these, and in all below them, a key whose field has a
            default may be missing. Elsewhere every key is required.

    Raises:
        TypeError: a field has a type that the package does not know, or two records of one name meet.
    """
    maker = _Maker(frozenset(readable))
    whole = maker.object(kind, kind in maker.readable)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **whole,
        "$defs": maker.definitions(),
    }


def schema_text(schema: Mapping[str, Any]) -> str:
    """The schema as a published file has it."""
    return on_lines(schema) + "\n"


class _Maker:
    def __init__(self, readable: frozenset[type]) -> None:
        self.readable = readable
        self._made: dict[type, dict[str, Any]] = {}
        self._lenient: dict[type, bool] = {}

    def object(self, kind: Any, lenient: bool) -> dict[str, Any]:
        required: list[str] = []
        properties: dict[str, Any] = {}
        self._add_fields(kind, lenient, properties, required)
        return {
            "description": _docstrings(kind.__module__)[kind.__qualname__],
            "type": "object",
            "properties": properties,
            **({"required": required} if required else {}),
        }

    def definitions(self) -> dict[str, dict[str, Any]]:
        """The records met so far, in the order of their modules as they were met and of the source there."""
        modules = list(dict.fromkeys(kind.__module__ for kind in self._made))
        source = {module: list(_docstrings(module)) for module in modules}

        def place(kind: type) -> tuple[int, int]:
            return modules.index(kind.__module__), source[kind.__module__].index(kind.__qualname__)

        return {kind.__name__: self._made[kind] for kind in sorted(self._made, key=place)}

    def _add_fields(self, kind: Any, lenient: bool, properties: dict[str, Any], required: list[str]) -> None:
        texts = _docstrings(kind.__module__)
        for field in fields(kind):
            type_ = field_types(kind)[field.name]
            if field.metadata.get("flattened"):
                self._add_fields(type_, lenient, properties, required)
                continue
            described = self._schema(type_, lenient)
            text = texts.get(f"{kind.__qualname__}.{field.name}")
            properties[field.name] = described if text is None else {**described, "description": text}
            if not (lenient and may_be_missing(field)):
                required.append(field.name)

    def _schema(self, kind: Any, lenient: bool) -> dict[str, Any]:
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is None:
            return self._named(kind, lenient)
        if origin is Annotated:
            inner, keywords = arguments
            return {**self._schema(inner, lenient), **keywords}
        if origin is Literal:
            return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
        if origin is types.UnionType:
            (inner,) = (choice for choice in arguments if choice is not types.NoneType)
            return _or_null(self._schema(inner, lenient))
        if origin is list or (origin is tuple and arguments[1:] == (...,)):
            return {"type": "array", "items": self._schema(arguments[0], lenient)}
        if origin is tuple:
            items = [self._schema(item, lenient) for item in arguments]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        if origin is dict and arguments[0] is str:
            values = self._schema(arguments[1], lenient)
            return {"type": "object", **({"additionalProperties": values} if values else {})}
        raise _unknown(kind)

    def _named(self, kind: Any, lenient: bool) -> dict[str, Any]:
        if is_dataclass(kind):
            return self._reference(kind, lenient or kind in self.readable)
        if isinstance(kind, EnumMeta):
            members: list[Enum] = list(kind)
            return {"enum": [member.value for member in members]}
        if kind is Any:
            return {}
        if kind in _SIMPLE:
            return {"type": _SIMPLE[kind]}
        raise _unknown(kind)

    def _reference(self, kind: Any, lenient: bool) -> dict[str, Any]:
        if kind not in self._made:
            if any(kind.__name__ == other.__name__ for other in self._made):
                raise TypeError(f"Two records of this schema are called {kind.__name__}.")
            self._made[kind], self._lenient[kind] = {}, lenient
            self._made[kind] = self.object(kind, lenient)
        if self._lenient[kind] != lenient:
            raise TypeError(f"{kind.__name__} is both in a record that is read and in one that is only written.")
        return {"$ref": f"#/$defs/{kind.__name__}"}


def _unknown(kind: Any) -> TypeError:
    return TypeError(f"A JSON record cannot have a field of the type {kind!r}.")


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    if isinstance(schema.get("type"), str) and len(schema) == 1:
        return {"type": [schema["type"], "null"]}
    if "enum" in schema:
        return {"enum": [*schema["enum"], None]}
    return {"anyOf": [schema, {"type": "null"}]}


@cache
def _docstrings(module: str) -> Mapping[str, str]:
    """Texts by "Class" and "Class.field"; those of fields are the strings below them, which only the source has."""
    texts = {}
    for item in ast.parse(inspect.getsource(sys.modules[module])).body:
        if isinstance(item, ast.ClassDef):
            texts[item.name] = _one_line(ast.get_docstring(item) or "")
            for above, below in zip(item.body, item.body[1:], strict=False):
                if (
                    isinstance(above, ast.AnnAssign)
                    and isinstance(above.target, ast.Name)
                    and isinstance(below, ast.Expr)
                    and isinstance(below.value, ast.Constant)
                    and isinstance(below.value.value, str)
                ):
                    texts[f"{item.name}.{above.target.id}"] = _one_line(below.value.value)
    return texts


def _one_line(text: str) -> str:
    return " ".join(text.split())
