"""What `torchlift convert --json` says, and the manifest beside a program: one declaration is record and schema."""

from __future__ import annotations

from dataclasses import field

from torchlift.lazy_dataclass import dataclass

CONVERSION_SCHEMA = 1


@dataclass(frozen=True)
class ComparedCase:
    """One set of inputs on which the archive and the program were compared."""

    name: str
    """`inputs as given`, `rows + 3`, `one row`, `other values`, ..."""
    inputs: str
    """Types and shapes."""
    calls: int
    """How often in a row, so that state shows."""
    verdict: str
    """In the words of `torchlift.testing`: `same`, `migrated raises where the old code worked`, `migrated differs`."""
    differences: list[str]


@dataclass(frozen=True)
class TriedWay:
    """A way of making the program, and why it was not taken; null if it was."""

    way: str
    failed: str | None


@dataclass(frozen=True)
class Conversion:
    """What came of one method of one file."""

    path: str
    method: str
    outcome: str
    """`converted`, `same` (with --check-only), `differs`, `refused` or `failed`."""
    said: str
    """One sentence."""
    inputs: str = ""
    inputs_from: str = ""
    """`user`, `evidence`, `trace` or `search`."""
    assumption: str = ""
    """What rests on inputs that nobody gave, or on what the program no longer does."""
    way: str = ""
    cases: list[ComparedCase] = field(default_factory=list)
    fixed_sizes: dict[str, list[int]] = field(default_factory=dict)
    """Dimensions, by input, that the program takes in one size only."""
    tried: list[TriedWay] = field(default_factory=list)
    also: list[TriedWay] = field(default_factory=list)
    """What else was asked for, AOTInductor or ExecuTorch, and why it failed; null if it did not."""
    written: list[str] = field(default_factory=list)
    """Paths of the files that were written."""
    seconds: float = 0.0


@dataclass(frozen=True)
class Conversions:
    """What `torchlift convert --json` writes."""

    schema_version: int
    torchlift: str
    files: list[Conversion]


@dataclass(frozen=True)
class Manifest:
    """The file beside a program, `NAME.pt2.json`: what it was made of, and what was compared."""

    schema_version: int
    torchlift: str
    torch: str
    archive: str
    """Name of the archive."""
    archive_sha256: str
    program_sha256: str
    conversion: Conversion
