"""Takes the facts of a machine: all probes, side by side, none of which can harm the others."""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from torchlift import __version__
from torchlift.doctor.facts import Facts, ProbeFailure
from torchlift.doctor.facts.facts_json import from_json, to_json
from torchlift.doctor.probes import libcuda, nvml, python_environment
from torchlift.doctor.probes.child import Child, ChildResult
from torchlift.doctor.probes.environment import environment
from torchlift.doctor.probes.examined_python import PythonError, default_python, python_of
from torchlift.doctor.probes.installing import installing
from torchlift.doctor.probes.kernel_driver import kernel_driver
from torchlift.doctor.probes.kernel_log import kernel_log
from torchlift.doctor.probes.other_accelerators import other_accelerators
from torchlift.doctor.probes.pci import pci_cards
from torchlift.doctor.probes.system import system
from torchlift.doctor.probes.text import printable
from torchlift.doctor.probes.toolkits import toolkits
from torchlift.doctor.probes.world import World
from torchlift.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Options:
    """What to look at."""

    python: str | None = None
    """The interpreter to examine, as `python_of` takes it; None is `default_python`."""
    root: Path = Path("/")
    """Where the machine's files lie. What runs in a child asks this machine all the same."""
    timeout: float | None = None
    """Seconds for each child; None leaves every probe its own."""
    environment: Mapping[str, str] | None = None
    """The variables that count, for the children too; None is this process's."""
    import_torch: bool = False
    """Also import torch in the examined interpreter, which costs seconds."""
    scan_libraries: bool = True
    """Also read native libraries for the device code inside."""


def collect(options: Options | None = None) -> Facts:
    """The facts of this machine.

    Never raises: a probe that fails, by its own defect too, is a `ProbeFailure` in the facts. Takes as long as the
    slowest child, at most its timeout and a moment.
    """
    options = options or Options()
    variables = dict(os.environ if options.environment is None else options.environment)
    facts = Facts(torchlift=__version__, taken=datetime.now(timezone.utc).isoformat(timespec="seconds"))
    guard = _Guard(facts)
    children = _Children(guard)
    try:
        _start(children, options, variables, guard)
        _look(World(options.root, variables), facts, guard)
        children.gather(facts)
    finally:
        children.stop()
    return _printable(facts)


def _start(children: _Children, options: Options, variables: dict[str, str], guard: _Guard) -> None:
    limit: dict[str, Any] = {} if options.timeout is None else {"timeout": options.timeout}
    python = guard.call("interpreter", lambda: _python(options, variables), None)
    # Whose answer is longest to read first: it is read while the drivers' are waited for.
    if python is not None:
        more = {"import_torch": options.import_torch, "scan_libraries": options.scan_libraries, **limit}
        children.start(
            "interpreter", lambda: python_environment.start(python, variables, **more), python_environment.read
        )
    children.start("nvml", lambda: nvml.start(variables, **limit), nvml.read)
    children.start("libcuda", lambda: libcuda.start(variables, python=python, **limit), libcuda.read)


def _python(options: Options, variables: Mapping[str, str]) -> str:
    return default_python(variables) if options.python is None else python_of(options.python, variables)


def _look(world: World, facts: Facts, guard: _Guard) -> None:
    facts.system = guard.call("system", lambda: system(world), facts.system)
    facts.pci = guard.call("pci", lambda: pci_cards(world), facts.pci)
    facts.kernel_driver = guard.call("kernel-driver", lambda: kernel_driver(world), facts.kernel_driver)
    facts.kernel_log = guard.call("kernel-log", lambda: kernel_log(world), facts.kernel_log)
    facts.toolkits = guard.call("toolkits", lambda: toolkits(world), facts.toolkits)
    facts.other = guard.call("other-accelerators", lambda: other_accelerators(world), facts.other)
    facts.installing = guard.call("installing", lambda: installing(world), facts.installing)
    facts.environment = guard.call("environment", lambda: environment(world.environment), facts.environment)


class _Guard:
    """Turns an exception of a probe into a `ProbeFailure`."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def call(self, probe: str, look: Callable[[], Any], otherwise: Any) -> Any:
        try:
            return look()
        except PythonError as error:
            detail = str(error)
        except Exception as error:
            detail = _defect(error)
        self.facts.failures.append(ProbeFailure(probe, "error", detail))
        return otherwise


class _Children:
    """Started children and what reads each answer."""

    def __init__(self, guard: _Guard) -> None:
        self._guard = guard
        self._waiting: list[tuple[str, Child, Callable[[ChildResult, Facts], None]]] = []

    def start(self, probe: str, start: Callable[[], Child], read: Callable[[ChildResult, Facts], None]) -> None:
        child = self._guard.call(probe, start, None)
        if child is not None:
            self._waiting.append((probe, child, read))

    def gather(self, facts: Facts) -> None:
        while self._waiting:
            probe, child, read = self._waiting[0]
            result = child.result()
            del self._waiting[0]
            self._guard.call(probe, lambda read=read, result=result: read(result, facts), None)  # type: ignore[misc]

    def stop(self) -> None:
        """End those that nobody waits for any more: the user interrupted, and they are in sessions of their own."""
        for _, child, _ in self._waiting:
            child.stop()
        for _, child, _ in self._waiting:
            child.timeout = 0
            child.result()


def _defect(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"A defect of torchlift: {type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})"


def _printable(facts: Facts) -> Facts:
    """The facts without lone surrogates, which stand for bytes of names that are not UTF-8 and which no file takes."""
    value = to_json(facts)
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return from_json(_without_surrogates(value))
    return facts


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value
