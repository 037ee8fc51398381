"""What the rules about hints for the TorchScript compiler find in a project, and what they make of it."""

from __future__ import annotations

from pathlib import Path

from example_project import all_findings, analyse_files, new_bytes

from torchlift.finding import Finding

HINTS = tuple(f"TL{number}" for number in range(110, 122))


def found(folder: Path, files: dict[str, str], *codes: str, **options: object) -> list[Finding]:
    result = analyse_files(folder, files, codes=frozenset(codes or HINTS), **options)  # type: ignore[arg-type]
    assert not [failure.detail or failure.reason for failure in result.failures]
    return all_findings(result)


def rewritten(folder: Path, code: str, *, unsafe: bool = True, **files: str) -> str:
    result = analyse_files(folder, {"a.py": code, **files}, codes=frozenset(HINTS), unsafe=unsafe)
    assert not [failure.detail or failure.reason for failure in result.failures]
    new = new_bytes(result, "a.py")
    return code if new is None else new.decode()
