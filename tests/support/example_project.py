"""Runs of the engine over small projects that a test writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torchlift.evidence.known import KnownRuns
from torchlift.finding import Finding
from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Settings
from torchlift.torchscript_intent import UNSTATED, TorchScriptIntent
from torchlift.versions import TorchVersion
from torchlift.view.text import text_kind
from torchlift.wheels.machine import Machine

RUN_HERE = TorchVersion(2, 13)


def analyse_files(
    folder: Path,
    files: Mapping[str, str | bytes],
    *,
    mode: Mode = Mode.DIFF,
    unsafe: bool = False,
    min_torch: TorchVersion = RUN_HERE,
    only: tuple[str, ...] | None = None,
    codes: frozenset[str] | None = None,
    jobs: int = 1,
    torchscript: TorchScriptIntent = UNSTATED,
    evidence: KnownRuns | None = None,
    machine: Machine | None = None,
) -> RunResult:
    """Write `files` into `folder` and run all rules; only `only` counts as given paths, if given."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    python = tuple(sorted(name for name in files if name.endswith((".py", ".pyi", ".ipynb"))))
    texts = tuple(sorted(name for name in files if text_kind(name) is not None))
    options = RunOptions(
        folder,
        only or python,
        mode,
        codes or frozenset(all_rules()),
        unsafe_fixes=unsafe,
        settings=Settings(min_torch=min_torch, torchscript=torchscript, evidence=evidence, machine=machine),
        project_files=lambda: python,
        texts=texts,
        jobs=jobs,
    )
    return analyse(options)


def new_bytes(result: RunResult, path: str) -> bytes | None:
    """What a file would be written as; None if it does not change."""
    for outcome in result.outcomes:
        if outcome.path == path and outcome.new_text is not None:
            return outcome.shown.to_bytes()
    return None


def all_findings(result: RunResult) -> list[Finding]:
    """Everything found, fixed or not, in report order."""
    return sorted((f for o in result.outcomes for f in (*o.left, *o.fixed)), key=Finding.sort_key)
