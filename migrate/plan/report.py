"""The shape of a plan: what `torchlift plan --format json` writes, and its JSON schema.

`schema_version` rises when a key goes away or changes its meaning. New keys may come at any time: a reader ignores what it
does not know. Paths are relative to `root`, with forward slashes; a place is `path:line`.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from torchlift.json_records.schema import schema_of
from torchlift.lazy_dataclass import dataclass

SCHEMA_VERSION: Final = 1

Count = Annotated[int, {"minimum": 0}]


@dataclass(frozen=True)
class Effort:
    """How much a run changes."""

    files: Count
    """Files that change."""
    added: Count
    """Lines that come in."""
    removed: Count
    """Lines that go."""


@dataclass(frozen=True)
class Unlocked:
    """What goes with an answer."""

    roots: Count
    """Places that script, trace, save or load TorchScript, or look into it."""
    hints: Count
    """Places that only speak to its compiler."""
    options: Count
    """Parameters and options that chose TorchScript and choose nothing then."""
    safe: Count
    """Those of roots and hints that go by fixes whose every precondition was checked, or is the answer itself."""
    review: Count
    """Those of roots and hints that go by fixes that need review (`--unsafe-fixes`)."""
    effort: Effort


@dataclass(frozen=True)
class PlannedAnswer:
    """One answer to a question."""

    value: str
    """What is written into the configuration."""
    lines: tuple[str, ...]
    """Lines for the table `[tool.torchlift.torchscript]` of pyproject.toml."""
    effect: str
    """What it leads to, a sentence."""
    gone: Unlocked | None
    """The same in numbers; null where the answer leaves the code as it is."""


@dataclass(frozen=True)
class Question:
    """Something that no analysis of the code can know."""

    about: Literal["support", "tests", "speed", "artifact"]
    text: str
    """The question."""
    decides: Count
    """Findings that an answer settles, beside those that have a fix as the project stands."""
    artifact: str | None
    """The file that it is about, as the code spells it; null if it is about none."""
    answers: tuple[PlannedAnswer, ...]


@dataclass(frozen=True)
class PlannedArtifact:
    """A file with TorchScript in it, by whom it is written and read."""

    name: str
    """As the code spells it."""
    writers: tuple[str, ...]
    """Places."""
    readers: tuple[str, ...]
    """Places."""
    uploads: tuple[str, ...]
    """Places of scripts and CI jobs that hand it to others."""


@dataclass(frozen=True)
class OtherReader:
    """A place that reads TorchScript without Python."""

    place: str
    title: str
    """Who reads: `C++ (torch::jit::load)`."""
    advice: str
    """What reads the successor there, a clause."""


@dataclass(frozen=True)
class PlannedOption:
    """An option of a command whose name speaks of TorchScript."""

    name: str
    place: str


@dataclass(frozen=True)
class FolderOfTests:
    """Tests in one folder that script, trace, save or load."""

    folder: str
    files: Count
    functions: Count
    """Test functions with such a place in them."""
    deleted: Count
    """Test functions that go when support is dropped."""
    changed: Count
    """Test functions that go on without TorchScript then."""


@dataclass(frozen=True)
class Held:
    """Findings that wait for one place."""

    place: str
    """The place that has to change first; empty for findings that wait for none."""
    findings: Count
    files: Count


@dataclass(frozen=True)
class Left:
    """A place that no answer settles: somebody has to look."""

    place: str
    code: str
    """The rule, which `torchlift rule CODE` explains."""
    message: str
    findings: Count
    """It and those that wait for it."""


@dataclass(frozen=True)
class PlannedEvidence:
    """What recorded runs say of the project."""

    known: Count
    """Places that capture or load TorchScript, or open process groups and send through them."""
    reached: Count
    """How many of them a run passed."""
    proven: Count
    """Findings with a fix that the runs prove."""
    unreached: tuple[str, ...]
    """Places that no run passed: nothing is proven there."""
    outdated: tuple[str, ...]
    """Places whose source changed since they were recorded."""


@dataclass(frozen=True)
class Stated:
    """What the configuration says already; null where it says nothing."""

    support: str | None
    """`drop` or `keep`."""
    tests: str | None
    """`successor` or `delete`."""
    speed: str | None
    """`eager` or `compile`."""
    keep: tuple[str, ...]


@dataclass(frozen=True)
class PlanReport:
    """What `torchlift plan` says about one project."""

    schema_version: Literal[1]
    torchlift_version: str
    root: str
    """The project as seen from the working directory of the run."""
    stated: Stated
    roots: Count
    """Places that script, trace, save or load TorchScript, or look into it."""
    hints: Count
    """Places that only speak to its compiler."""
    files: Count
    """Files with either."""
    fixable: Count
    """How many of them have a fix as the project stands, safe or for review."""
    decided: Count
    """How many more the answers settle, or what is stated already."""
    questions: tuple[Question, ...]
    """Whether TorchScript is still supported comes first, then the one that settles most."""
    gone: Unlocked | None
    """What goes with the support that is stated as dropped, or would be; null if it is kept."""
    artifacts: tuple[PlannedArtifact, ...]
    other_readers: tuple[OtherReader, ...]
    options: tuple[PlannedOption, ...]
    tests: tuple[FolderOfTests, ...]
    held: tuple[Held, ...]
    left: tuple[Left, ...]
    """What is left after dropping support, fixes to review included; the most findings come first."""
    evidence: PlannedEvidence | None
    """Null where no file of recorded runs is named."""
    failures: tuple[str, ...]
    """What torchlift could not do, a sentence each."""

    @property
    def has_work(self) -> bool:
        """Whether there is anything to ask or to do."""
        return self.roots + self.hints > 0 and self.stated.support != "keep"


def plan_schema() -> dict[str, Any]:
    """The schema (JSON Schema, draft 2020-12)."""
    return schema_of(PlanReport, "torchlift plan report")
