"""TOML with the reader that Python brings, or its predecessor where it brings none."""

from __future__ import annotations

import sys
from typing import Any


def parsed_toml(text: str) -> dict[str, Any]:
    """What a TOML file holds.

    Raises:
        ValueError: the text is no TOML (its subclass `TOMLDecodeError`), or holds a number with thousands of digits.
        RecursionError: it is nested too deeply.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text)
