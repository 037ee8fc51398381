"""Programs of fixtures/evidence_programs, recorded and proved in forks of one process that has imported torch."""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from torchlift.at_start import with_room
from torchlift.evidence.conclusions import exported
from torchlift.evidence.file import write_evidence
from torchlift.evidence.records import RecordedEvidence, RecordedSite
from torchlift.migrate.library import migrate, project_config
from torchlift.record.assembly import assembled
from torchlift.record.proofs import wait_for_proofs
from torchlift.record.prover.detached import start_of

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "fixtures" / "evidence_programs"
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.py")))
_PROJECT = '[project]\nname = "programs"\nversion = "1"\ndependencies = ["torch>=2.10"]\n'
_LIMITS: Mapping[str, float] = {"seconds": 60, "nice": 0}


@dataclass(frozen=True)
class RecordedProgram:
    """What a program printed and how it ended, the evidence of that run, and the processes it left behind."""

    output: str
    status: int
    evidence: RecordedEvidence
    left: list[int]

    @property
    def sites(self) -> list[RecordedSite]:
        return self.evidence.sites


def recorded(name: str, *, first_call_only: bool = False) -> RecordedProgram:
    """Run a program of the folder under the recorder.

    Args:
        name: of its file.
        first_call_only: whether the recorder is deaf after the first call of each value, as if a test called once.
    """
    return recorded_text((FOLDER / f"{name}.py").read_text(), name, first_call_only=first_call_only)


def recorded_text(
    source: str, name: str = "program", *, first_call_only: bool = False, limits: Mapping[str, float] = _LIMITS
) -> RecordedProgram:
    """Run a program under the recorder; `limits` are the prover's."""
    _load_torch()
    with tempfile.TemporaryDirectory() as folder:
        root, spool = Path(folder, "project"), Path(folder, "spool")
        root.mkdir()
        spool.mkdir()
        program = root / f"{name}.py"
        program.write_text(source)
        process = os.fork()
        if process == 0:
            _run(program, spool, first_call_only, limits)
        _, status = os.waitpid(process, 0)
        output = (root / "output.txt").read_text()
        wait_for_proofs(spool, limits["seconds"])
        until = time.monotonic() + 10
        while (left := _processes_in(root)) and time.monotonic() < until:
            time.sleep(0.02)
        return RecordedProgram(output, status, assembled(spool, root, program.stat().st_mtime_ns), left)


@cache
def _load_torch() -> None:
    """Once, for all that is forked: exporting imports a thousand modules more, in each fork that does it first."""
    import torch.export

    torch.export.export(torch.nn.Identity(), (torch.ones(2),))


def _processes_in(folder: Path) -> list[int]:
    return [
        int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and _is_in(int(entry.name), folder)
    ]


def _is_in(process: int, folder: Path) -> bool:
    try:
        return Path(f"/proc/{process}/cwd").readlink() == folder and start_of(process) is not None
    except OSError:
        return False


def conclusion(sites: list[RecordedSite]) -> str:
    """What `migrate` may do with the captures of a program: `applied`, `review`, or `refused`; and why, in words."""
    # What scripted code alone calls is not where a program would stand.
    called = [s for s in sites if any(v.proof and any(c.via != "inside" for c in v.calls) for v in s.values)]
    said = [_said(site) for site in called]
    if not said:
        return "refused: nothing was called that could be proved"
    return max(said, key=lambda text: ["applied", "review", "refused"].index(text.partition(":")[0].split()[0]))


def _said(site: RecordedSite) -> str:
    found = exported(site)
    if found.refuted or found.unknown:
        return f"refused: {found.refuted or found.unknown}"
    return f"review: {found.variant}: {'; '.join(found.doubts)}" if found.doubts else f"applied: {found.variant}"


def migrated(name: str, run: RecordedProgram) -> str:
    """The program as `migrate --evidence` leaves it."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, f"{name}.py")
        program.write_text((FOLDER / f"{name}.py").read_text())
        Path(folder, "pyproject.toml").write_text(_PROJECT)
        write_evidence(Path(folder, "evidence.json"), run.evidence)
        config = replace(project_config([Path(folder)]), evidence=str(Path(folder, "evidence.json")), allow_no_vcs=True)
        migrate([Path(folder)], config)
        return program.read_text()


def output_of(source: str, name: str) -> str:
    """What a program prints, without the recorder; the traceback where it fails."""
    _load_torch()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, f"{name}.py")
        program.write_text(source)
        process = os.fork()
        if process == 0:
            _run(program, None, False, {})
        _, status = os.waitpid(process, 0)
        return Path(folder, "errors.txt" if status else "output.txt").read_text()


def _run(program: Path, spool: Path | None, first_call_only: bool, limits: Mapping[str, float]) -> None:
    """Never returns."""
    status = 1
    try:
        os.chdir(program.parent)
        for name, number in (("output.txt", 1), ("errors.txt", 2)):
            os.dup2(os.open(name, os.O_CREAT | os.O_WRONLY), number)
        sys.stdout = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
        end = _hooked(program.parent, spool, first_call_only, limits) if spool is not None else None
        sys.argv = [str(program)]
        sys.path.insert(0, str(program.parent))
        import warnings

        warnings.simplefilter("ignore")
        runpy.run_path(str(program), run_name="__main__")
        if end is not None:
            end()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _hooked(root: Path, spool: Path, first_call_only: bool, limits: Mapping[str, float]) -> Any:
    import json

    import torch

    options = {"prover": str(ROOT / "record" / "prover"), "limits": dict(limits)}
    variables = {"TORCHLIFT_SPOOL": str(spool), "TORCHLIFT_ROOT": str(root), "TORCHLIFT_RECORD": json.dumps(options)}
    folder = str(ROOT / "record" / "hooks")
    os.environ.update(with_room(variables, "_torchlift_record", folder))
    hooks: Any = type(sys)("_torchlift_record")
    hooks.__path__ = [folder]
    sys.modules[hooks.__name__] = hooks
    from _torchlift_record import calls, installing  # type: ignore[import-not-found]

    (spool / f"process-{os.getpid()}").touch()
    if first_call_only:
        began = calls._begun
        seen: set[Any] = set()

        def begun_once(value: Any, *others: Any) -> Any:
            root_value = value.root()[0]
            if id(root_value) in seen:
                return None
            seen.add(id(root_value))
            return began(value, *others)

        calls._begun = begun_once
    installing.install(torch)
    return installing._ending
