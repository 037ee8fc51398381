"""Command lines for the package manager that the examined environment uses."""

from __future__ import annotations

import re

from torchlift.doctor.facts import Facts

_SAFE = re.compile(r"[A-Za-z0-9._+!-]+", re.ASCII)


def install(facts: Facts, *arguments: str, reinstall: bool = False, without_dependencies: bool = False) -> str:
    """`pip install ...`, or `uv pip install ...` where uv installed torch."""
    flags = []
    if reinstall:
        flags.append("--reinstall" if _uses_uv(facts) else "--force-reinstall")
    if without_dependencies:
        flags.append("--no-deps")
    return " ".join([_program(facts), "install", *flags, *map(_quoted, arguments)])


def uninstall(facts: Facts, *names: str) -> str:
    """The line that removes these distributions without asking."""
    return " ".join([_program(facts), "uninstall", *([] if _uses_uv(facts) else ["-y"]), *names])


def pinned(name: str, version: str) -> str:
    """ "name==version", or the bare name when the version is no version."""
    return f"{name}=={version}" if _SAFE.fullmatch(version) else name


def _uses_uv(facts: Facts) -> bool:
    torch = facts.package("torch")
    return torch is not None and torch.installer == "uv"


def _program(facts: Facts) -> str:
    return "uv pip" if _uses_uv(facts) else "pip"


def _quoted(argument: str) -> str:
    return argument if not re.search(r"[<>~!*;\[\] ]", argument) else f'"{argument}"'
