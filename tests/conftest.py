"""Fixtures of all tests, and the options `--exhaustive`, `--anew` and `--prove`.

What takes too long for every run is marked `exhaustive` and left out unless the option is given: whole compilations, every
data type and world size, property tests at full size (`exhaustive.tried`). It runs in the exhaustive run all the same.
"""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import exhaustive
import fake_drivers as drivers
import noted_proofs
import noted_tests
import noted_words
import pytest
from hypothesis import HealthCheck, settings
from torch_programs import TorchPrograms

from torchlift.testing import FreshProcesses
from torchlift.testing.processes import fresh_processes

# Files in memory. To remove a folder from a disk may take milliseconds.
_MEMORY = "/dev/shm"
_seen_by_workers: dict[str, dict[str, str]] = {"proofs": {}, "words": {}}
_left_out = pytest.StashKey[frozenset[Path]]()
_outcomes: dict[Path, set[str]] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--exhaustive", action="store_true", help="run what is too long for every run, too")
    parser.addoption("--anew", action="store_true", help="run what is noted by an earlier run, too")
    parser.addoption("--prove", action="store_true", help="note what programs gave, and which files of tests passed")


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: ranks that wait for each other and hangs that are waited for take time and no core."""
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "exhaustive: too long for every run; runs with --exhaustive")
    exhaustive.choose(config.getoption("exhaustive"))
    config.stash[_left_out] = frozenset(map(Path, _told_to_leave_out(config)))
    if config.getoption("anew"):
        noted_proofs.forget()
    # A run in the background of a script ignores Ctrl-C, and every command that it starts would, too.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Threads of torch wait for each other by spinning, and the workers take all cores.
    os.environ["OMP_NUM_THREADS"] = "1"
    # Only the tests of the cache have one, each its own.
    os.environ["TORCHLIFT_NO_CACHE"] = "1"
    # What is recorded here runs in copies of a worker, and none could be made of one that had asked for its GPUs.
    if Path("/dev/nvidiactl").exists():
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    if "TMPDIR" not in os.environ and _has_room(_MEMORY):
        os.environ["TMPDIR"] = _MEMORY
        tempfile.tempdir = None
    # A random example that fails says nothing about the change it fails for: new ones are looked for in the exhaustive run.
    # How long one takes is no property of the project's: other processes share the machine.
    untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("the same examples in every run", untimed, derandomize=not exhaustive.is_exhaustive())
    settings.load_profile("the same examples in every run")


def _told_to_leave_out(config: pytest.Config) -> list[str]:
    """Files of tests whose results are noted: known to a worker from the process that started it, which finds them."""
    if hasattr(config, "workerinput"):
        return list(config.workerinput["left out"])
    all_of_them = {Path(argument).resolve() for argument in config.args} == {Path(__file__).parent}
    if not all_of_them or config.getoption("exhaustive") or config.getoption("anew"):
        return []
    return [str(path) for path in noted_tests.unchanged()]


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["left out"] = [str(path) for path in node.config.stash[_left_out]]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if collection_path in config.stash[_left_out] else None


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _outcomes.setdefault(Path(__file__).parents[1] / report.nodeid.partition("::")[0], set()).add(report.outcome)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    # The workers have ended by now, so that they and all that they waited for count as children.
    terminalreporter.write_line(f"{sum(os.times()[:4]) / 60:.2f} CPU minutes, with all that the tests started.")
    if left_out := config.stash[_left_out]:
        count = f"{len(left_out)} files of tests were left out"
        terminalreporter.write_line(
            f"{count}: what they depend on is as it was when they passed; --anew runs them, too."
        )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if exhaustive.is_exhaustive():
        return
    left_out = [item for item in items if item.get_closest_marker("exhaustive")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not item.get_closest_marker("exhaustive")]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Ten thousand tests and all modules stay until the end: to look through them for garbage again and again took a fifth."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput |= {"proofs": dict(noted_proofs.seen()), "words": dict(noted_words.seen())}
    elif config.getoption("prove"):
        noted_proofs.note({**_seen_by_workers["proofs"], **noted_proofs.seen()})
        noted_words.note({**_seen_by_workers["words"], **noted_words.seen()})
        if not config.getoption("keyword") and not config.getoption("markexpr"):
            passed = [path for path in noted_tests.files() if "passed" in _outcomes.get(path, ())]
            noted_tests.note(path for path in passed if "failed" not in _outcomes[path])


def pytest_testnodedown(node: Any) -> None:
    for kind, seen in _seen_by_workers.items():
        seen.update(getattr(node, "workeroutput", {}).get(kind, {}))


def _has_room(folder: str) -> bool:
    """Whether the tests can write and execute their files there: hundreds of megabytes, in ten thousand folders."""
    try:
        there = os.statvfs(folder)
    except (AttributeError, OSError):
        return False
    return there.f_bavail * there.f_frsize > 4 << 30 and not there.f_flag & os.ST_NOEXEC and os.access(folder, os.W_OK)


@pytest.fixture(scope="session")
def processes() -> Iterator[FreshProcesses]:
    """Those that the product shares, so that torch is imported for them once a worker."""
    with fresh_processes() as started:
        yield started


@pytest.fixture(scope="session")
def torch_programs(processes: FreshProcesses) -> TorchPrograms:
    return noted_proofs.NotedPrograms(processes)


@pytest.fixture(scope="session")
def built_fake_drivers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    reason = drivers.why_not()
    if reason:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("fake_drivers")
    drivers.build(folder)
    return folder


@pytest.fixture
def fake_drivers(built_fake_drivers: Path, tmp_path: Path) -> drivers.FakeDrivers:
    """Machines with NVIDIA drivers that are not there."""
    return drivers.FakeDrivers(built_fake_drivers, tmp_path)
