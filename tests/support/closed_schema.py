"""Schemas in which no key is left open."""

from __future__ import annotations

from typing import Any


def closed(schema: Any) -> Any:
    """The schema with no key allowed that it does not describe."""
    if isinstance(schema, dict):
        schema = {key: closed(value) for key, value in schema.items()}
        if schema.get("type") == "object" and "properties" in schema:
            schema["additionalProperties"] = False
    return [closed(item) for item in schema] if isinstance(schema, list) else schema
