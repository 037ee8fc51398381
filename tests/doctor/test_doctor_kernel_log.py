"""Xid errors are read from whichever log may be read, and reading it never waits."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest
from machine_files import machine

from torchlift.doctor.facts import KernelLog, XidError
from torchlift.doctor.probes.kernel_log import kernel_log, xids_in
from torchlift.doctor.probes.world import World

pytestmark = pytest.mark.skipif(os.name != "posix", reason="roots hold files of Linux")

DRIVER = {"/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05\n"}
OFF_THE_BUS = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus."


def test_errors_are_counted_by_gpu_and_code_and_the_last_text_is_kept() -> None:
    lines = [
        "Nov 23 01:02:03 host kernel: NVRM: Xid (PCI:0000:3B:00): 31, pid=1, name=a, MMU Fault: first",
        "[  12.5] NVRM: Xid (PCI:0000:3b:00): 31, pid=2, name=b, MMU Fault: second",
        "6,1234,567890,-;NVRM: Xid (PCI:0000:af:00): 63, Row Remapper: New row marked for remapping",
        "NVRM: Xid (0000:03:00): 13, 0005 00000000",
        "NVRM: GPU at PCI:0000:3b:00 has software scheduler",
    ]
    assert list(xids_in(lines)) == [
        XidError(31, "0000:3b:00.0", "MMU Fault: second", 2),
        XidError(63, "0000:af:00.0", "Row Remapper: New row marked for remapping", 1),
        XidError(13, "0000:03:00.0", "0005 00000000", 1),
    ]


def test_the_ring_buffer_comes_before_files(tmp_path: Path) -> None:
    root = machine(tmp_path, {**DRIVER, "/dev/kmsg": f"4,1,1,-;{OFF_THE_BUS}\n", "/var/log/kern.log": "nothing\n"})
    log = kernel_log(root)
    assert (log.source, [xid.code for xid in log.xids]) == ("/dev/kmsg", [79])


def test_a_file_is_read_from_the_last_start_of_the_machine(tmp_path: Path) -> None:
    boot = "host kernel: [    0.000000] Linux version 6.8.0-49-generic (buildd@lcy02)\n"
    old = f"host kernel: {OFF_THE_BUS.replace('79', '48')}\n"
    root = machine(tmp_path, {**DRIVER, "/var/log/kern.log": f"{boot}{old}{boot}host kernel: {OFF_THE_BUS}\n"})
    log = kernel_log(root)
    assert (log.source, [xid.code for xid in log.xids]) == ("/var/log/kern.log", [79])


def test_a_log_that_nobody_may_read_is_unknown(tmp_path: Path) -> None:
    assert kernel_log(machine(tmp_path, DRIVER)) == KernelLog(None, [])


def test_without_nvidias_module_nothing_is_looked_for(tmp_path: Path) -> None:
    assert kernel_log(machine(tmp_path, {"/dev/kmsg": OFF_THE_BUS})) == KernelLog(None, [])


@pytest.mark.parametrize("path", ["/dev/kmsg", "/var/log/kern.log"])
def test_a_pipe_in_place_of_a_log_is_not_waited_for(tmp_path: Path, path: str) -> None:
    root = machine(tmp_path, DRIVER)
    place = tmp_path / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(place)
    assert stat.S_ISFIFO(place.stat().st_mode)
    started = time.monotonic()
    assert kernel_log(root).xids == []
    assert time.monotonic() - started < 5


def test_a_journal_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "journalctl"
    program.write_text("#!/bin/sh\nsleep 60\n")
    program.chmod(0o755)
    monkeypatch.setattr("torchlift.doctor.probes.kernel_log._FILES", ())
    monkeypatch.setattr("torchlift.doctor.probes.kernel_log._ring_buffer", lambda world: None)
    monkeypatch.setattr(World, "exists", lambda self, path: True)
    started = time.monotonic()
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert kernel_log(World(Path("/"), dict(os.environ))) == KernelLog(None, [])
    assert time.monotonic() - started < 10


def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    root = machine(tmp_path, DRIVER)
    (tmp_path / "dev").mkdir(exist_ok=True)
    (tmp_path / "dev/kmsg").write_bytes(b"\xff\xfe NVRM: Xid (PCI:0000:3b:00): 79, \xff\n" + os.urandom(5000))
    assert [xid.code for xid in kernel_log(root).xids] == [79]
