"""A capture in the light of recorded runs: assumptions about what it does are settled, those about the project stay.

A run tells what a value was given, asked and used for, and whether something else gave the same. It does not tell who else
reads a file, what happens under another release, or what a handler of errors is for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from torchlift.finding import Group, Safety
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.rule import Context
from torchlift.view import Use

if TYPE_CHECKING:
    from torchlift.evidence.conclusions import Conclusion
    from torchlift.evidence.known import Ends, KnownSite

Asks = Literal["run", "project"]
"""Who could tell: a run of the program that reached the place, or only somebody who knows the whole project."""


@dataclass(frozen=True)
class Assumption:
    """What a fix for review rests on.

    Attributes:
        text: a clause.
        asks: who could tell whether it holds.
    """

    text: str
    asks: Asks = "run"


def clauses(assumptions: Iterable[Assumption]) -> list[str]:
    """The texts of assumptions."""
    return [assumption.text for assumption in assumptions]


@dataclass(frozen=True)
class Recorded:
    """What recorded runs say about one way of rewriting one capture.

    Attributes:
        known: the recorded site.
        conclusion: what holds; None where the record is of another text.
    """

    known: KnownSite
    conclusion: Conclusion | None = None

    @property
    def refuted(self) -> str:
        """Why the rewrite must not be offered, a clause; empty if nothing speaks against it."""
        return self.conclusion.refuted if self.conclusion is not None else ""

    @property
    def proved(self) -> bool:
        """Whether the rewrite gave the same on all that was recorded."""
        return self.conclusion is not None and bool(self.conclusion.variant)

    def notes(self) -> tuple[str, ...]:
        """What a finding says about the record."""
        if self.conclusion is None:
            return (f"Recorded before {self.known.changed} changed, so the evidence is not used: record it again.",)
        if self.conclusion.unknown:
            return (f"The recorded runs do not tell: {self.conclusion.unknown}.",)
        return (self.conclusion.basis,) if self.conclusion.basis else ()

    def left_of(self, assumptions: Sequence[Assumption]) -> list[Assumption]:
        """What a fix still rests on: what no run can tell, and what the runs left open."""
        if self.conclusion is None or not self.proved:
            return list(assumptions)
        opened = [Assumption(doubt) for doubt in self.conclusion.doubts]
        return [*(item for item in assumptions if item.asks == "project"), *opened]


def recorded_site(use: Use, context: Context) -> KnownSite | None:
    """What was recorded of the capture `use`; None if nothing was, or the user names no evidence."""
    runs, view = context.settings.evidence, context.view
    node = use.call or use.node
    if runs is None or not isinstance(node, ast.expr):
        return None
    parent = view.parent(node)
    decorated = None
    if isinstance(parent, (ast.FunctionDef, ast.ClassDef)) and node in parent.decorator_list:
        decorated = parent
    found = runs.at(view.path, view.source, node, decorated)
    if found is not None:
        return found
    return runs.lost_at(view.path, _qualname(use, context), use.target)


def recorded_export(use: Use, context: Context) -> Recorded | None:
    """Whether a program can take the place of the capture `use`, as recorded; None if nothing was recorded."""
    known = recorded_site(use, context)
    if known is None:
        return None
    from torchlift.evidence.conclusions import exported

    return Recorded(known, None if known.changed else exported(known.site))


def recorded_eager(use: Use, context: Context) -> Recorded | None:
    """Whether the Python object itself can take its place, as recorded; None if nothing was recorded."""
    known = recorded_site(use, context)
    if known is None:
        return None
    from torchlift.evidence.conclusions import eager

    return Recorded(known, None if known.changed else eager(known.site))


def rather_plain(use: Use, context: Context) -> bool:
    """Whether recorded runs prove the module itself, and no program, in the place of a trace."""
    plain, program = recorded_eager(use, context), recorded_export(use, context)
    return plain is not None and plain.proved and program is not None and not program.proved


def recorded_load(ends: Ends | None) -> Recorded | None:
    """What recorded runs say about programs in the place of the archives that a load reads; None if nothing is recorded.

    The first writer that speaks against it, or of which nothing is known, decides.
    """
    if ends is None or not ends.writers or len(ends.writers) < ends.number_of_writers:
        return None
    from torchlift.evidence.conclusions import exported

    found = [Recorded(known, None if known.changed else exported(known.site)) for known in ends.writers]
    return min(found, key=lambda recorded: recorded.proved)


def recorded_group(ends: Ends) -> tuple[Group, ...]:
    """What ties writers and readers of an archive together, where a run saw both; none where it did not."""
    if not ends.readers or not ends.writers:
        return ()
    places = [f"{known.site.file}:{known.site.line}" for known in ends.writers]
    read = [":".join(reader.split(":")[:2]) for reader in ends.readers]
    paths = sorted({place.rpartition(":")[0] for place in (*places, *read)})
    key = f"the archive that {', '.join(places)} was seen to write and {', '.join(read)} to read"
    return (Group(key, tuple(paths), ends.number_of_writers + len(ends.readers)),)


def safety_of(static: Sequence[Assumption], recorded: Recorded | None) -> tuple[Safety, list[Assumption]]:
    """How far a fix can be trusted, and what it still rests on.

    Args:
        static: what the analyses could not tell.
        recorded: what recorded runs say.
    """
    if not static:
        return Safety.SAFE, []
    left = recorded.left_of(static) if recorded is not None else list(static)
    return (Safety.UNSAFE if left else Safety.PROVEN), left


def _qualname(use: Use, context: Context) -> str:
    names = [
        ancestor.name
        for ancestor in context.view.ancestors(use.node)
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    ]
    return ".".join(reversed(names))
