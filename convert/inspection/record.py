"""What `torchlift inspect --json` says of a file: one declaration is the record and its published schema."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from torchlift.lazy_dataclass import dataclass

INSPECTION_SCHEMA = 1


@dataclass(frozen=True)
class Parameter:
    """A tensor of the model."""

    name: str
    dtype: str
    """Without `torch.`."""
    shape: list[int]
    bytes: int
    device: str
    """Device that it was saved from."""
    trainable: bool


@dataclass(frozen=True)
class Method:
    """Something that can be called on a TorchScript module."""

    name: str
    schema: str
    """Parameters with types and defaults, and the type of the result."""
    recorded: list[Any] | None
    """Example inputs that a trace was made with: `float32[4,3]`, lists and objects of that; null where none are kept."""


@dataclass(frozen=True)
class Import:
    """A class or function that loading the pickles of the file would import."""

    name: str
    called: bool
    """Whether it would also be called."""
    allowed: bool
    """Whether it is one that `torch.load(weights_only=True)` allows without being told."""


@dataclass(frozen=True)
class Inspection:
    """What one file is."""

    path: str
    kind: str
    """`torchscript`, `exported`, `state dict`, `module`, ... or `unreadable`."""
    what: str
    """The kind in words."""
    bytes: int
    problem: str | None = None
    """Why it cannot be read, as a sentence."""
    version: str = ""
    """Of the file's format, as it says."""
    tracing: bool | None = None
    """Whether a TorchScript archive has recorded inputs, which only traces have; null for other files."""
    methods: list[Method] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    """Operators that do not come with torch."""
    parameters: list[Parameter] = field(default_factory=list)
    extra_files: dict[str, int] = field(default_factory=dict)
    """Sizes in bytes."""
    imports: list[Import] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """What is odd about the file, or dangerous, as sentences."""
    next: list[str] = field(default_factory=list)
    """What can be done with it, as sentences."""


@dataclass(frozen=True)
class Inspections:
    """What `torchlift inspect --json` writes."""

    schema_version: int
    torchlift: str
    files: list[Inspection]
