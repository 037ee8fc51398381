"""What a repository's distribution is called, as others require it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from torchlift.file_bytes import file_bytes
from torchlift.toml_text import parsed_toml


def distribution_name(folder: Path) -> str | None:
    """The name in the metadata of a project, in lower case with hyphens; None where none is written out. Nothing is run."""
    for name, read in (
        ("pyproject.toml", _pyproject),
        ("setup.cfg", _setup_cfg),
        ("setup.py", _setup_py),
        ("PKG-INFO", _pkg_info),
    ):
        try:
            found = read(file_bytes(folder / name).decode("utf-8"))
        except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if found:
            return normalised(found)
    return None


def normalised(name: str) -> str:
    """A name of a distribution as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _pyproject(text: str) -> str | None:
    found = parsed_toml(text)
    for table in (found.get("project"), (found.get("tool") or {}).get("poetry")):
        if isinstance(table, dict) and isinstance(table.get("name"), str):
            return str(table["name"])
    return None


def _setup_cfg(text: str) -> str | None:
    match = re.search(r"^\[metadata\]\s*$(?:(?!^\[).*\n)*?^name\s*=\s*(\S+)\s*$", text, re.M)
    return match[1] if match and not match[1].startswith(("attr:", "file:")) else None


def _setup_py(text: str) -> str | None:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "setup":
            for keyword in node.keywords:
                if (
                    keyword.arg == "name"
                    and isinstance(keyword.value, ast.Constant)
                    and isinstance(keyword.value.value, str)
                ):
                    return keyword.value.value
    return None


def _pkg_info(text: str) -> str | None:
    match = re.match(r"(?:.+\n)*?Name:[ \t]*(\S+)", text)
    return match[1] if match else None
