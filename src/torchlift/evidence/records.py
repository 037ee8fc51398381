"""The evidence file, schema 1: one declaration is its reader, its writer and its published JSON schema.

It holds what a run did and no data: tensors are their dtype, shape and device.

A recorded value is JSON: a tensor is a string such as `float32[4,3,32,32]` or `float32[2]@cuda:0`; numbers, true, false
and null are themselves, a list is a list; all else is an object with one key: `{"str": "relu"}` (a string of more than 32
characters is `{"str": 57}`, its length), `{"tuple": [...]}`, `{"dict": {"x": ...}}`, `{"namedtuple": "m:Out", "items": [...]}`,
`{"object": "m:Class"}`.

Places are `path:line:column` with paths relative to the project root, lines and columns counted from one, columns in code
points, as torchlift reports them. `schema_version` rises when a key goes away or changes its meaning.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Final, Literal

from torchlift.json_records import REQUIRED
from torchlift.json_records.schema import schema_of
from torchlift.lazy_dataclass import dataclass

EVIDENCE_SCHEMA: Final = 1


@dataclass
class SourceDefinition:
    """A class or function of the run, and where its source stands."""

    name: str
    """`module:qualname`."""
    kind: Literal["class", "function"] = "class"
    file: str | None = None
    """Relative to the root; null where it is outside, or has no file."""
    line: int | None = None
    """Line of its `class` or `def`, decorators included."""
    source_sha: str | None = None
    """`places.definition_sha` of its text; null outside the root."""


@dataclass
class Modes:
    """Modes in which a call or a capture ran."""

    grad: bool = True
    inference: bool = False
    autocast: dict[str, str] = field(default_factory=dict)
    """Device types under autocast, and their dtypes."""


@dataclass
class RecordedExample:
    """Inputs of a capture."""

    args: list[Any] = field(default_factory=list)
    kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass
class RecordedCall:
    """Calls of a captured value that were alike: same method, inputs, modes and place."""

    method: str
    args: list[Any] = field(default_factory=list)
    kwargs: dict[str, Any] = field(default_factory=dict)
    out: Any = None
    training: bool | None = None
    context: Modes = field(default_factory=Modes)
    count: int = 1
    via: Literal["capture", "load", "copy", "inside"] = "capture"
    """`load`: a value that was read from an archive this value was written to. `inside`: another captured value calls it, which
    was seen when that one's Python object ran for its proof."""
    site: str | None = None
    """Where it was called."""
    tests: list[str] = field(default_factory=list)
    """Tests that ran at the time, as pytest names them."""


@dataclass
class Touch:
    """Something else that was done with a captured value: a method of modules (`eval`, `to`), or an attribute asked."""

    name: str
    sites: list[str] = field(default_factory=list)
    detail: str | None = None
    """Arguments that matter, as text: `torch.bfloat16`."""


@dataclass
class WrittenArchive:
    """An archive that a value was written to."""

    content: str
    """Hash of its bytes: what links writers and readers, also after the file was copied or renamed."""
    path: str | None = None
    """Relative to the root; null for buffers and for files elsewhere."""
    site: str | None = None
    """Where it was written."""
    extra_files: list[str] = field(default_factory=list)


@dataclass
class TriedVariant:
    """One way of exporting, tried on the recorded calls."""

    variant: str
    """One of `records.VARIANTS`."""
    failed: str | None = None
    """Why it is no proof, null for the one that is."""


@dataclass
class EagerProof:
    """The original Python object against TorchScript."""

    equal: bool
    worst: float = 0.0
    """Largest absolute difference of any two elements."""
    failed: str | None = None
    """What differed, on which call."""
    probes: dict[str, str] = field(default_factory=dict)
    """Inputs nobody recorded, as in `Proof.probes`, on the Python object."""
    gradients: float | None = None
    """Largest absolute difference of any two elements of gradients, of inputs and parameters; null if training needs none."""
    errors: str = ""
    """Another class of error than TorchScript's on a recorded call: "`ValueError` in the place of `torch.jit.Error` on call 3"."""


@dataclass
class ExportProof:
    """`torch.export` against TorchScript."""

    proved: str | None = None
    """The first variant under which everything agreed; null if none did."""
    worst: float = 0.0
    saved_and_loaded: bool = False
    """Whether the program was saved and loaded again before it was compared."""
    detail: dict[str, Any] = field(default_factory=dict)
    """What a program text needs to know of the variant: `{"doubled": {"args[0]": [0]}}`."""
    fixed: dict[str, list[int]] = field(default_factory=dict)
    """Dimensions that the program takes in one size only, by input: `{"args[0]": [1]}`."""
    gradients: float | None = None
    errors: str = ""
    """Both as in `EagerProof`."""
    tried: list[TriedVariant] = field(default_factory=list)


VARIANTS: Final = (
    "as given",
    "dynamic ints",
    "ones doubled",
    "as called",
    "other example",
    "fixed shapes",
    "plain outputs",
    "autocast inside",
)
"""Ways of exporting, in the order in which they are tried."""


@dataclass
class Proof:
    """What replaying the recorded calls of one value showed."""

    calls: int = 0
    """Calls replayed, each twice."""
    dropped: int = 0
    """Calls that were recorded and not replayed."""
    eager: EagerProof | None = None
    export: ExportProof | None = None
    probes: dict[str, str] = field(default_factory=dict)
    """Inputs nobody recorded (`rows + 3`, `one row`, `other sizes`, `other dtype`, `other numbers`) and what came of them in the
    exported program: `same`, `differs: dtype`, `raises: ...`, `not tried: TorchScript raises`."""
    seconds: float = 0.0
    """CPU time; with `record --times` only."""
    unproved: str | None = None
    """Why nothing could be tried: `cuda`, `trained`, `timeout`."""


@dataclass
class RecordedValue:
    """One value that a site made."""

    id: int
    """Counts the values of a site in the order of the run, from one."""
    of: SourceDefinition
    """What was captured."""
    kind: Literal["module", "function", "method"] = "module"
    training: bool = False
    """Mode at the capture."""
    context: Modes = field(default_factory=Modes)
    """Modes around the capture."""
    aliased_inputs: bool = False
    """Whether two example inputs were one tensor."""
    example: RecordedExample | None = None
    classes: list[SourceDefinition] = field(default_factory=list)
    """Classes of all modules inside it that stand in the project."""
    calls: list[RecordedCall] = field(default_factory=list)
    varied: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """Dimensions that had several sizes, by method and input: `{"forward": {"args[0]": [0]}}`."""
    dtypes_varied: bool = False
    mutates_inputs: bool = False
    state_changed_between_calls: bool = False
    operations: list[Touch] = field(default_factory=list)
    attributes: list[Touch] = field(default_factory=list)
    wrote: list[WrittenArchive] = field(default_factory=list)
    python_class_of_output: str | None = None
    derived: list[int] = field(default_factory=list)
    """Values of this site made from this one: frozen, optimised."""
    proof: Proof | None = None
    """Null if nothing was to be proved."""


@dataclass
class FailedCapture:
    """A capture that raised in the recorded run."""

    error: str
    """Class of the exception."""
    message: str = ""
    """First line of its text."""
    count: int = 1
    tests: list[str] = field(default_factory=list)


@dataclass
class RecordedSite:
    """One place in the source that captures, and all that came of it."""

    id: str
    """`file:line:column:api`, as recorded."""
    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    api: str
    """Qualified name: `torch.jit.trace`."""
    text_sha: str
    """`places.text_sha` of the call expression; of the whole definition where a decorator captures it."""
    scope_sha: str
    """`places.text_sha` of the outermost function around it; where there is none, of the decorated definition or the file."""
    qualname: str = ""
    """Names of the functions and classes around it, as in `Net.forward`; empty at the top of a file."""
    nth: int = 0
    """How many places of the same text stand before it in the file."""
    hits: int = 0
    tests: list[str] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    """Keywords that the capture was given."""
    failed: list[FailedCapture] = field(default_factory=list)
    values: list[RecordedValue] = field(default_factory=list)


@dataclass
class RecordedArchive:
    """A file of TorchScript that the run wrote or read."""

    content: str
    writers: list[str] = field(default_factory=list)
    """`site#value`."""
    readers: list[str] = field(default_factory=list)
    """Places that read it: `file:line:column:api`."""


@dataclass
class RecordedLoad:
    """What one place loaded with `torch.load` or `torch.jit.load`."""

    site: str
    content: str | None = None
    torchscript: bool = False
    weights_only: bool | None = None
    """As it was given; null where it was left out."""
    unsafe_globals: list[str] = field(default_factory=list)
    """What `weights_only=True` would have refused."""
    refused: str | None = None
    """What the load raised: class and first line; null if it did not."""
    text_sha: str | None = None
    """`places.text_sha` of the call."""
    calls: list[RecordedCall] = field(default_factory=list)
    """Of what was loaded from an archive that nothing captured in the run had written; others stand under their capture."""


@dataclass
class RecordedTransfer:
    """One call of torch.distributed, in the order of its rank."""

    rank: int
    api: str
    """`isend`, `irecv`, `send`, `recv`, `batch_isend_irecv`, `new_group`, `all_reduce`."""
    peer: int | None = None
    """The other rank; null for calls of whole groups and for `recv` from anyone."""
    tensor: str | None = None
    site: str | None = None
    group: list[int] | None = None
    """Ranks of the group; null for the default group."""


@dataclass
class RecordedJob:
    """One job with a process group."""

    world: int
    backend: str | None = None
    """As `torch.distributed.get_backend` says: `gloo`, `nccl`, `cpu:gloo,cuda:nccl`."""
    device: str | None = None
    """Device types of the tensors that were sent."""
    site: str | None = None
    """Where the group was initialised."""
    destroyed: bool | None = None
    sequence: list[RecordedTransfer] = field(default_factory=list)
    cut: int = 0
    """Calls that are missing at the end of the sequence."""


@dataclass
class RecordingProblem:
    """Something the recorder could not see."""

    what: str
    error: str = ""
    site: str | None = None


@dataclass
class FurtherRun:
    """A run that was merged into an earlier one."""

    command: list[str] = field(default_factory=list)
    exit: int | None = None
    recorded_at: str = ""
    torch: str = ""
    root_commit: str | None = None
    dirty: bool = False


@dataclass
class RecordedEvidence:
    """What one or several recorded runs did."""

    schema_version: Literal[1] = field(default=1, metadata=REQUIRED)
    torchlift: str = ""
    torch: str = ""
    python: str = ""
    recorded_at: str = ""
    """ISO 8601, UTC, in seconds; with `record --times` only."""
    command: list[str] = field(default_factory=list)
    exit: int | None = None
    """Exit status of the command; null if it was killed."""
    processes: int = 0
    with_torch: int = 0
    """How many of them imported torch."""
    root_commit: str | None = None
    dirty: bool = False
    """Whether the project had changes that were not committed."""
    sites: list[RecordedSite] = field(default_factory=list)
    files: list[RecordedArchive] = field(default_factory=list)
    loads: list[RecordedLoad] = field(default_factory=list)
    distributed: list[RecordedJob] = field(default_factory=list)
    problems: list[RecordingProblem] = field(default_factory=list)
    further: list[FurtherRun] = field(default_factory=list)
    """Runs that were merged into this one."""


def evidence_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of the file, as `evidence.schema.json` beside this file publishes it."""
    return schema_of(RecordedEvidence, f"torchlift evidence, schema {EVIDENCE_SCHEMA}", readable=[RecordedEvidence])


if __name__ == "__main__":
    import sys

    from torchlift.json_records.schema import schema_text

    sys.stdout.write(schema_text(evidence_schema()))
