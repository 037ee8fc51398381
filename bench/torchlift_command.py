"""How the scripts call torchlift and read its report."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import Sample, measure

DEFAULT = f"{shlex.quote(sys.executable)} -m torchlift"


@dataclass(frozen=True)
class Run:
    """One finished `torchlift migrate`.

    Attributes:
        sample: time, memory and exit code.
        stdout: what it printed.
        stderr: what it complained of.
    """

    sample: Sample
    stdout: bytes
    stderr: str

    @property
    def report(self) -> dict[str, Any]:
        """The JSON report.

        Raises:
            ValueError: standard output holds none.
        """
        report = json.loads(self.stdout)
        if not isinstance(report, dict):
            raise ValueError("the report is not a JSON object")
        return report


def migrate(
    program: str,
    repository: Path,
    *arguments: str,
    paths: list[str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Run:
    """Run `torchlift migrate` on `repository`, or on `paths` inside it, from the folder that holds it.

    It does not run inside the repository: `python -m` looks for modules in the working directory first, and projects
    have folders called `packaging` or `torch`.

    Raises:
        RuntimeError: the command cannot be started.
    """
    out, err = (repository.with_name(f"{repository.name}.{name}") for name in ("stdout", "stderr"))
    targets = [f"{repository.name}/{path}" for path in paths] if paths else [repository.name]
    command = [*shlex.split(program), "migrate", *arguments, *targets]
    sample = measure(command, cwd=repository.parent, stdout=out, stderr=err, environment=environment)
    run = Run(sample, out.read_bytes(), err.read_text(encoding="utf-8", errors="replace"))
    out.unlink()
    err.unlink()
    return run
