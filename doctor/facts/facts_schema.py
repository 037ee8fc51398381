"""The published JSON schema of the facts, made from the dataclasses:

python -m torchlift.doctor.facts.facts_schema > doctor/facts.schema.json
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
import types
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_origin

from torchlift.doctor import facts
from torchlift.doctor.facts.facts_json import field_types, has_default

_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean"}


def facts_schema() -> dict[str, Any]:
    """The schema (JSON Schema 2020-12); the docstrings of classes and fields are its descriptions."""
    kinds = [kind for kind in vars(facts).values() if is_dataclass(kind) and isinstance(kind, type)]
    texts = _docstrings()
    objects = {kind.__name__: _object(kind, texts) for kind in kinds}
    whole = objects.pop("Facts")
    whole["properties"]["schema"] = {"const": facts.FACTS_SCHEMA, "description": texts["Facts.schema"]}
    whole["required"] = ["schema"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"torchlift doctor facts, schema {facts.FACTS_SCHEMA}",
        **whole,
        "$defs": objects,
    }


def schema_text() -> str:
    """The schema as the file has it."""
    return json.dumps(facts_schema(), indent=2) + "\n"


def _object(kind: Any, texts: dict[str, str]) -> dict[str, Any]:
    properties = {}
    for field in fields(kind):
        described = _schema_of(field_types(kind)[field.name])
        text = texts.get(f"{kind.__name__}.{field.name}")
        properties[field.name] = described if text is None else {**described, "description": text}
    required = [field.name for field in fields(kind) if not has_default(field)]
    return {
        "description": texts[kind.__name__],
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
    }


def _schema_of(kind: Any) -> dict[str, Any]:
    if is_dataclass(kind) and isinstance(kind, type):
        return {"$ref": f"#/$defs/{kind.__name__}"}
    origin = get_origin(kind)
    if origin is types.UnionType:
        (inner,) = (choice for choice in get_args(kind) if choice is not types.NoneType)
        simple = _SIMPLE.get(inner)
        return {"type": [simple, "null"]} if simple else {"anyOf": [_schema_of(inner), {"type": "null"}]}
    if origin is list:
        return {"type": "array", "items": _schema_of(get_args(kind)[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema_of(get_args(kind)[1])}
    return {"type": _SIMPLE[kind]}


def _docstrings() -> dict[str, str]:
    """Texts by "Class" and "Class.field"; those of fields are the strings below them, which only the source has."""
    texts = {"Facts.schema": "Changes when a field is removed or re-interpreted, not when one is added."}
    for item in ast.parse(inspect.getsource(facts)).body:
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


if __name__ == "__main__":
    sys.stdout.write(schema_text())
