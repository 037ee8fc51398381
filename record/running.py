"""Runs a command with the hooks in, waits for the proofs, and makes the evidence of what was told."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from types import FrameType

from torchlift import __version__
from torchlift.at_start import with_room
from torchlift.evidence.records import RecordedEvidence
from torchlift.lazy_dataclass import dataclass
from torchlift.record.assembly import assembled
from torchlift.record.installed_hooks import hooks_installed
from torchlift.record.proofs import prove_spooled, wait_for_proofs
from torchlift.record.redaction import redacted

_HERE = Path(__file__).parent
_PREFIX = "torchlift-record-"


class CommandNotStarted(Exception):
    """The command could not be started; the text is a sentence."""


@dataclass(frozen=True)
class Recording:
    """How to record.

    Attributes:
        root: of the project; paths are relative to it.
        prove: whether to prove what is captured.
        proof_seconds: limit of one proof.
        keep_inputs: folder for the inputs of calls, None to keep none.
        redact: whether names of tests, archives and arguments of the command are left out.
        times: whether the evidence says when the command ran and how long proofs took.
        install: whether the hooks are also put into the environment of the command's Python while it runs.
        folder: working directory of the command; None for the current one.
        environment: of the command; None for that of this process.
    """

    root: Path
    prove: bool = True
    proof_seconds: float = 60.0
    keep_inputs: Path | None = None
    redact: bool = False
    times: bool = False
    install: bool = False
    folder: Path | None = None
    environment: Mapping[str, str] | None = None


@dataclass(frozen=True)
class RecordedRun:
    """What came of it.

    Attributes:
        status: exit status of the command, 128 and the signal's number if one killed it.
        evidence: what was seen.
    """

    status: int
    evidence: RecordedEvidence


def record(command: Sequence[str], how: Recording) -> RecordedRun:
    """Run a command and record it. Its streams are those of this process.

    Raises:
        CommandNotStarted: there is no such program, or it cannot be executed.
    """
    with spool_folder() as spool:
        since = time.time_ns()
        began = datetime.now(timezone.utc).replace(microsecond=0)
        commit, dirty = _version_of(how.root)
        variables = _variables(how, spool)
        with contextlib.ExitStack() as stack:
            if how.install:
                stack.enter_context(hooks_installed(command, spool, variables, how.environment))
            status = _run(command, how, variables)
        if how.prove:
            wait_for_proofs(spool, how.proof_seconds)
            prove_spooled(spool, how.proof_seconds, how.environment)
        evidence = assembled(spool, how.root, since)
    evidence.torchlift = __version__
    if how.times:
        evidence.recorded_at = began.isoformat().replace("+00:00", "Z")
    else:
        _without_times(evidence)
    evidence.command = list(command)
    evidence.exit = status if status >= 0 else None
    evidence.root_commit, evidence.dirty = commit, dirty
    return RecordedRun(status if status >= 0 else 128 - status, redacted(evidence) if how.redact else evidence)


def _without_times(evidence: RecordedEvidence) -> None:
    """Two equal runs take different times, and give equal files all the same."""
    for proof in (value.proof for site in evidence.sites for value in site.values):
        if proof is not None:
            proof.seconds = 0.0


@contextlib.contextmanager
def spool_folder() -> Iterator[Path]:
    """A private folder, which goes with this process: one of a recorder that was killed goes with the next one."""
    for old in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        _remove_if_left(old)
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
    with (folder / "owner").open("w") as owner:
        _lock(owner.fileno())
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _lock(handle: int) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows: folders that are left stay
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_if_left(folder: Path) -> None:
    # Right after it was made, a folder has no lock yet.
    with contextlib.suppress(OSError):
        about = folder.stat()
        mine = not hasattr(os, "getuid") or about.st_uid == os.getuid()
        if mine and time.time() - about.st_mtime > 60:
            with (folder / "owner").open("w") as owner:
                is_left = _lock(owner.fileno())
            if is_left:
                shutil.rmtree(folder, ignore_errors=True)


def _run(command: Sequence[str], how: Recording, variables: Mapping[str, str]) -> int:
    """Exit status of the command, negative for a signal."""
    inherited = os.environ if how.environment is None else how.environment
    environment = with_room({**inherited, **variables}, "_torchlift_record", str(_HERE / "hooks"))
    try:
        process = subprocess.Popen(list(command), env=environment, cwd=how.folder)
    except OSError as error:
        raise CommandNotStarted(f"The command {command[0]!r} cannot be started: {error.strerror or error}.") from None
    with _signals_passed_on(process):
        while True:
            with contextlib.suppress(InterruptedError):
                return process.wait()


def _variables(how: Recording, spool: Path) -> dict[str, str]:
    options: dict[str, object] = {}
    if how.prove:
        options["prover"] = str(_HERE / "prover")
        options["limits"] = {"seconds": how.proof_seconds}
    if how.keep_inputs is not None:
        options["keep_inputs"] = str(how.keep_inputs.resolve())
    return {
        "TORCHLIFT_SPOOL": str(spool),
        "TORCHLIFT_ROOT": str(how.root.resolve()),
        "TORCHLIFT_RECORD": json.dumps(options),
    }


@contextlib.contextmanager
def _signals_passed_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """While the command runs, it decides what a signal does; Ctrl-C reaches it from the terminal anyway."""

    def hand_on(number: int, _: FrameType | None) -> None:
        if number != signal.SIGINT or not sys.stdin.isatty():
            with contextlib.suppress(OSError):
                process.send_signal(number)

    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    try:
        before = {number: signal.signal(number, hand_on) for number in numbers}
    except ValueError:  # not in the main thread: signals are the caller's
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _version_of(root: Path) -> tuple[str | None, bool]:
    """Commit of the project, and whether it has changes that were not committed."""

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
        except OSError:
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    return git("rev-parse", "--short=12", "HEAD"), bool(git("status", "--porcelain", "--untracked-files=no"))
