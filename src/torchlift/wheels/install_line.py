"""The command lines that install a wheel."""

from __future__ import annotations

from torchlift.lazy_pattern import lazy_pattern
from torchlift.wheels.tables import table

_NAME = lazy_pattern(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


def install_lines(torch: str, index: str | None, companions: tuple[str, ...], version: str) -> tuple[str, str]:
    """The pip and the uv line for a torch requirement ("torch", "torch==2.14.*").

    Companions are pinned to the release whose METADATA names `version`; those without one are named bare. The double
    quotes are right for POSIX shells, cmd.exe and PowerShell alike.
    """
    wanted = [torch, *(_companion(name, torch, version) for name in companions if _NAME.fullmatch(name))]
    words = [word if _NAME.fullmatch(word) else f'"{word}"' for word in dict.fromkeys(wanted)]
    if index is not None:
        words += ["--index-url", index]
    arguments = " ".join(words)
    return f"pip install {arguments}", f"uv pip install {arguments}"


def pins(version: str, companions: tuple[str, ...]) -> list[tuple[str, str]]:
    """torch and its companions with the one version of each that belongs to this release; "" where none does."""
    exact = f"torch=={version}"
    found = [_companion(name, exact, version).partition("==") for name in companions if _NAME.fullmatch(name)]
    return [("torch", version), *((name, wanted) for name, _, wanted in found)]


def _companion(name: str, torch: str, version: str) -> str:
    if torch == "torch":
        return name
    found = next((row.get(name.lower()) for row in table("companions")["rows"] if row["torch"] == version), None)
    if not isinstance(found, str):
        return name
    line = ".".join(found.split(".")[:2])
    return f"{name}=={line}.*" if torch.endswith(".*") else f"{name}=={found}"
