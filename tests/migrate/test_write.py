from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from torchlift.migrate.tell import write as write_module
from torchlift.migrate.tell.write import ChangedOnDisk, write_atomic

OLD = b"old = 1\n" * 1000
NEW = b"new = 2\n" * 2000

posix = pytest.mark.skipif(os.name == "nt", reason="not on this system")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "a.py"
    path.parent.mkdir()
    path.write_bytes(OLD)
    return path


def alone(path: Path) -> bool:
    """Whether no temporary file is left beside `path`."""
    return [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_the_new_bytes_replace_the_old_ones(file: Path) -> None:
    for data in (NEW, b"", b"\xff\0\r\n"):
        write_atomic(file, data)
        assert file.read_bytes() == data
        assert alone(file)


@posix
@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o4755, 0o200])
def test_the_mode_is_kept(file: Path, mode: int) -> None:
    file.chmod(mode)
    write_atomic(file, NEW)
    assert stat.S_IMODE(file.stat().st_mode) == mode


@posix
def test_the_umask_does_not_matter(file: Path) -> None:
    file.chmod(0o664)
    before = os.umask(0o077)
    try:
        write_atomic(file, NEW)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o664


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only the superuser can give files away")
def test_the_owner_and_the_group_are_kept(file: Path) -> None:
    os.chown(file, 1234, 2345)
    file.chmod(0o4755)
    write_atomic(file, NEW)
    now = file.stat()
    assert (now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode)) == (1234, 2345, 0o4755)


@posix
def test_an_owner_that_cannot_be_kept_stops_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    old = os.stat_result([file.stat().st_mode, 0, 0, 1, 4321, 4321, 0, 0, 0, 0])
    monkeypatch.setattr(Path, "stat", lambda self, **_: old)
    monkeypatch.setattr(os, "fchown", refuse)
    write_atomic(file, NEW)
    assert file.read_bytes() == NEW


@posix
def test_a_link_stays_and_its_file_is_replaced(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.py"
    second = tmp_path / "second.py"
    link.symlink_to("folder/a.py")
    second.symlink_to("link.py")
    write_atomic(second, NEW, expected=OLD)
    assert link.is_symlink()
    assert second.is_symlink()
    assert file.read_bytes() == NEW
    assert alone(file)


@posix
def test_other_names_of_a_file_keep_the_old_text(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    os.link(file, other)
    write_atomic(file, NEW)
    assert file.read_bytes() == NEW
    assert other.read_bytes() == OLD


@posix
def test_a_file_becomes_another_name_of_one_that_has_the_new_text(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_bytes(NEW)
    write_atomic(file, NEW, link_to=other)
    assert file.samefile(other) and file.read_bytes() == NEW
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_file_that_changed_meanwhile_is_left_alone(file: Path) -> None:
    file.write_bytes(b"mine = 3\n")
    with pytest.raises(ChangedOnDisk, match="changed by another program"):
        write_atomic(file, NEW, expected=OLD)
    assert file.read_bytes() == b"mine = 3\n"
    assert alone(file)


def test_a_file_that_is_as_expected_is_written(file: Path) -> None:
    write_atomic(file, NEW, expected=OLD)
    assert file.read_bytes() == NEW


def test_a_read_only_file_is_refused(file: Path) -> None:
    file.chmod(0o444)
    with pytest.raises(PermissionError) as caught:
        write_atomic(file, NEW)
    assert caught.value.strerror == "it is read-only; make it writable or exclude it"
    assert file.read_bytes() == OLD
    assert alone(file)


def test_a_missing_file_is_not_made(file: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomic(file.with_name("no.py"), NEW)
    assert alone(file)


def test_a_folder_is_refused(file: Path) -> None:
    with pytest.raises(OSError, match="not a regular file"):
        write_atomic(file.parent, NEW)


@posix
def test_a_pipe_is_refused(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(OSError, match="not a regular file"):
        write_atomic(file, NEW)


@posix
def test_a_folder_that_takes_no_new_files_is_said_to_be_the_reason(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(PermissionError, match=r"no file can be created beside it \(Permission denied\)"):
        write_atomic(file, NEW)
    assert file.read_bytes() == OLD


@posix
def test_a_very_long_name_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 252 + ".py")
    path.write_bytes(OLD)
    write_atomic(path, NEW)
    assert path.read_bytes() == NEW


# Faults

STEPS: dict[str, tuple[Any, str]] = {
    "writing": (write_module, "open"),
    "keeping the mode": (Path, "chmod"),
    "reaching the disk": (os, "fsync"),
    "reading what is there": (Path, "read_bytes"),
    "taking over the name": (os, "replace"),
}


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "interrupt"]
)
@pytest.mark.parametrize("step", STEPS)
def test_a_fault_at_any_step_leaves_the_old_file_and_nothing_else(
    file: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(*STEPS[step], fail, raising=False)
        with pytest.raises(type(error)):
            write_atomic(file, NEW, expected=OLD)
    assert file.read_bytes() == OLD
    assert alone(file)


@posix
def test_a_real_full_disk_leaves_the_old_file(file: Path) -> None:
    code = (
        "import resource, signal, sys; from pathlib import Path; from torchlift.migrate.tell.write import write_atomic\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try: write_atomic(Path(sys.argv[1]), b'x' * 100_000)\n"
        "except OSError as error: print(error.strerror)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file)], check=True, capture_output=True, text=True)
    assert "too large" in done.stdout
    assert file.read_bytes() == OLD
    assert alone(file)


@posix
def test_a_folder_that_cannot_be_synchronised_is_no_failure(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync

    def only_files(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(22, "Invalid argument")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    write_atomic(file, NEW)
    assert file.read_bytes() == NEW


# Kills

CALLS = ["open", "fstat", "fchown", "chmod", "fsync", "stat", "access", "replace", "close", "unlink"]


@posix
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_kill_around_any_system_call_leaves_the_old_file_or_the_new_one(file: Path, moment: str) -> None:
    """Die by SIGKILL before or after the n-th call into the system, for every n there is."""

    def count_down(real: Callable[..., Any], left: list[int]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            left[0] -= 1
            if left[0] == 0 and moment == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            result = real(*args, **kwargs)
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return wrapped

    outcomes = []
    for step in range(1, 50):
        file.write_bytes(OLD)
        child = os.fork()
        if child == 0:
            left = [step]
            for name in CALLS:
                setattr(os, name, count_down(getattr(os, name), left))
            write_atomic(file, NEW, expected=OLD)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        now = file.read_bytes()
        assert now in {OLD, NEW}, f"step {step}"
        outcomes.append(now)
        for leftover in file.parent.glob(".torchlift-*"):
            leftover.unlink()
        assert alone(file)
        if not os.WIFSIGNALED(status):
            assert now == NEW
            break
        assert os.WTERMSIG(status) == signal.SIGKILL
    assert not os.WIFSIGNALED(status)
    assert len(outcomes) > 6
    assert OLD in outcomes[:1]
    # Once new, it stays new for every later moment.
    assert outcomes == sorted(outcomes, key=lambda data: data == NEW)


@posix
def test_a_kill_at_any_moment_leaves_one_whole_version(file: Path) -> None:
    """A separate program writes versions over and over and is killed at random moments."""
    versions = [bytes([65 + number]) * (700_000 + number) + b"\n" for number in range(4)]
    code = (
        "import sys; from pathlib import Path; from time import monotonic\n"
        "from torchlift.migrate.tell.write import write_atomic\n"
        "versions = [bytes([65 + n]) * (700_000 + n) + b'\\n' for n in range(4)]\n"
        "path = Path(sys.argv[1])\n"
        "while True:\n"
        "    begun = monotonic()\n"
        "    for data in versions: write_atomic(path, data)\n"
        "    print(monotonic() - begun, flush=True)"
    )
    file.write_bytes(versions[0])
    seen = set()
    luck = random.Random(7)
    end = time.monotonic() + 8
    for _ in range(40):
        with subprocess.Popen([sys.executable, "-c", code, str(file)], stdout=subprocess.PIPE) as program:
            assert program.stdout is not None
            time.sleep(luck.uniform(0, 1.5) * float(program.stdout.readline()))
            program.kill()
        data = file.read_bytes()
        assert data in versions
        seen.add(data[0])
        if time.monotonic() > end:
            break
    assert len(seen) > 1, "the program was never killed between two versions"
    leftovers = [path.name for path in file.parent.iterdir() if path != file]
    assert all(name.startswith(".torchlift-") and name.endswith(".tmp") for name in leftovers)


@posix
def test_a_reader_never_sees_half_a_file(file: Path) -> None:
    child = os.fork()
    if child == 0:
        for number in range(60):
            write_atomic(file, NEW if number % 2 else OLD)
        os._exit(0)
    reads = 0
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        assert file.read_bytes() in {OLD, NEW}
        reads += 1
    assert reads
