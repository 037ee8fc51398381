"""What is asked of one variant (eager, TorchScript, migrated) and what came out of its process."""

from __future__ import annotations

from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.testing.nodes import Call, Container
from torchlift.testing.reference import Reference

Role = Literal["eager", "torchscript", "migrated"]
NAMES: dict[Role, str] = {"eager": "eager", "torchscript": "TorchScript", "migrated": "migrated"}


@dataclass(frozen=True)
class VariantTask:
    """What a fresh process makes and calls; the options are those of `compare_captures`."""

    role: Role
    make: Reference
    inputs: Reference
    mask: Reference | None
    seeds: tuple[int, ...]
    calls: int
    batch_sizes: tuple[int, ...] | None
    dtypes: tuple[str, ...] | None
    other_values: bool
    save: bool
    grad: bool


@dataclass(frozen=True)
class Doing:
    """What is about to happen, for the report of a process that does not come back from it."""

    what: str


@dataclass(frozen=True)
class Failure:
    """Why a variant gave nothing (more) to compare.

    Attributes:
        role: which variant.
        kind: `import`, `inputs`, `make`: the user's code raised there; `calls`: every call did; `crash`, `timeout`: the
            process ended.
        text: one sentence.
        detail: what helps to find the place: the user's own lines of the traceback, the last output of the process.
    """

    role: Role
    kind: Literal["import", "inputs", "make", "calls", "crash", "timeout"]
    text: str
    detail: str = ""


@dataclass(frozen=True)
class Made:
    """What can be seen of a variant before it is called.

    Attributes:
        kind: class of the value.
        training: its `.training`; None without one.
        state: its `state_dict()`: dtype, shape and a digest of the values by name; None without one.
        drawn: digest of the state of torch's random generator after making it.
        inputs: the example inputs of this process.
        dtypes: further dtypes that are tried.
        never_given: parameters of `forward` with a default that no example gives a value other than None.
    """

    kind: str
    training: bool | None
    state: dict[str, tuple[str, str]] | None
    drawn: str
    inputs: tuple[Container, ...]
    dtypes: tuple[str, ...]
    never_given: tuple[str, ...] = ()


@dataclass(frozen=True)
class Saved:
    """Whether the value was saved and loaded: `problem` says why not; None if it was, "" if it has no file format."""

    problem: str | None


@dataclass(frozen=True)
class StageCall:
    """A call of the value itself or, `loaded`, of what came back from its file."""

    loaded: bool
    call: Call


@dataclass(frozen=True)
class Variant:
    """Everything that came out of one variant's process."""

    role: Role
    made: Made | None
    saved: Saved | None
    calls: tuple[StageCall, ...]
    failure: Failure | None


def by_label(variant: Variant) -> dict[tuple[bool, str], Call]:
    """Its calls by whether they came after loading, and by name."""
    return {(item.loaded, item.call.label): item.call for item in variant.calls}
