"""One step in a process of its own: what it is told, what it answers, its limits, and the archive that it loads."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import resource
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from torchlift.convert.archive.devices import copy_on_cpu
from torchlift.convert.archive.zip_entries import BadArchive
from torchlift.lazy_dataclass import dataclass
from torchlift.testing.difference import Aspect

Emit = Callable[[Any], None]
Difference = tuple[Aspect, str, str, str, str]
"""Aspect, path, left, right and extent, as in `Mismatch`."""


@dataclass(frozen=True)
class Task:
    """One archive, and what is to be done with one of its methods.

    Attributes:
        path: the archive.
        digests: SHA-256 of everything in it that was looked through, by the name of the entry.
        method: that is called.
        tries: inputs to try, as pairs of args and kwargs; a single one with `below` where they are settled.
        below: what whole numbers in tensors stay below.
        way: number of the way of exporting.
        flow: whether branches and loops that data decides become operators.
        program: the exported program's file.
        memory: bytes that a process may allocate.
        seconds: of CPU time that it may take.
        reads_dtype: whether the code asks for dtypes.
        searched: whether other inputs than the tries may be tried.
        libraries: that bring operators of the archive; imported where they are installed.
        moved: whether the code names other devices than the CPU, which then stands in their place.
        unpacked: whether the archive is a copy of one whose layers were packed.
    """

    path: str
    digests: dict[str, str]
    method: str
    tries: list[tuple[list[Any], dict[str, Any]]]
    below: int = 2
    way: int = 0
    flow: bool = False
    program: str = ""
    memory: int = 8 << 30
    seconds: float = 120.0
    reads_dtype: bool = False
    libraries: tuple[str, ...] = ()
    searched: bool = False
    moved: bool = False
    unpacked: bool = False


@dataclass(frozen=True)
class NoResult:
    """Why a step came to no result, as a sentence without its end."""

    text: str


@dataclass(frozen=True)
class FoundInputs:
    """Inputs with which the archive runs, below what whole numbers in them stay, and how many were tried."""

    args: list[Any]
    kwargs: dict[str, Any]
    below: int
    tried: int


@dataclass(frozen=True)
class Exported:
    """A program was written: the way, sizes that it takes in one size only by input, what it does otherwise.

    Attributes:
        plain: named tuples are returned as plain ones.
        flow: branches and loops became operators, whose outputs carry gradients if those of any branch do.
    """

    way: str
    fixed: dict[str, list[int]]
    plain: bool
    flow: bool = False


@dataclass(frozen=True)
class CaseDifferences:
    """One case: its name, inputs, how often it was called, and what differs: aspect, path, left, right, extent."""

    case: str
    given: str
    calls: int
    differences: list[Difference]


def loaded(task: Task) -> Any:
    """The archive as TorchScript has it, once it is sure that it is what was looked through."""
    import torch

    for library in task.libraries:
        _bring_operators(library)
    reader = torch._C.PyTorchFileReader(task.path)
    names = [str(name) for name in reader.get_all_records()]
    code = {name for name in names if name.startswith("code/") and name.endswith(".py")}
    wanted = {name for name in task.digests if name.startswith("code/")}
    same = code == wanted and all(
        hashlib.sha256(reader.get_record(name)).hexdigest() == digest for name, digest in task.digests.items()
    )
    if not same:
        raise BadArchive("is read by torch in another way than by torchlift: its tables contradict each other")
    if not task.moved:
        return torch.jit.load(task.path, map_location="cpu")  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory(prefix="torchlift-") as folder:
        copy = Path(folder, "on_cpu.pt")
        copy_on_cpu(Path(task.path), copy)
        return torch.jit.load(str(copy), map_location="cpu")  # type: ignore[no-untyped-call]


def _bring_operators(library: str) -> None:
    """Imports what brings operators of the archive. Raises `BadArchive` if it cannot."""
    try:
        importlib.import_module(library)
    except ModuleNotFoundError:
        raise BadArchive(
            f"calls operators of {library}, which is not installed here; `pip install {library}` brings it"
        ) from None
    except Exception as error:
        raise BadArchive(
            f"calls operators of {library}, which is installed here and cannot be imported ({first_line(error)}); it has to be "
            "one that was built for this torch"
        ) from None


def callee(script: Any, method: str) -> Any:
    """What is called of the archive: the module itself, or a bound method."""
    return script if method == "forward" else getattr(script, method)


def own_method(model: Any, method: str) -> Any:
    """The same of a module of our own."""
    return model if method == "forward" else getattr(model, method)


@contextlib.contextmanager
def said(emit: Emit) -> Iterator[None]:
    """What goes wrong becomes a `NoResult`."""
    try:
        yield
    except BadArchive as error:
        emit(NoResult(f"it {error}"))
    except MemoryError:
        emit(NoResult("it needs more memory than it may have (--memory)"))
    except Exception as error:
        emit(NoResult(f"{type(error).__name__}: {first_line(error)}"))


@contextlib.contextmanager
def bounded(task: Task) -> Iterator[None]:
    """Limits of this process, which is used for nothing else afterwards."""
    with Path("/proc/self/statm").open() as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    for kind, bound in ((resource.RLIMIT_AS, used + task.memory), (resource.RLIMIT_CPU, int(task.seconds) + 1)):
        with contextlib.suppress(OSError, ValueError):
            _, hard = resource.getrlimit(kind)
            resource.setrlimit(kind, (bound if hard == resource.RLIM_INFINITY else min(bound, hard), hard))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    yield


@contextlib.contextmanager
def warnings_off() -> Iterator[None]:
    """What torch says about TorchScript on the way is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def first_line(error: BaseException) -> str:
    """The line of its message that says most, not too long."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    skipped = ("The following operation failed", "Traceback", "File ", "~", "Serialized")
    kept = [line for line in lines if not line.startswith(skipped)] or lines
    last = next((line for line in reversed(lines) if line.startswith(("RuntimeError", "builtins."))), None)
    return (last or (kept[0] if kept else type(error).__name__))[:240].rstrip(".")
