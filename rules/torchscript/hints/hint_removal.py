"""Whether a hint for the TorchScript compiler can go: what every rule about such hints asks first."""

from __future__ import annotations

from torchlift.finding import Safety
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.wording.nearest_place import place_alone
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.compilers.outside_users import outside_compiler
from torchlift.rules.torchscript.compilers.scripting_uses import first_compilation, first_use, first_watch
from torchlift.rules.torchscript.facts.intent import drops


@dataclass(frozen=True)
class Removal:
    """The answer.

    Attributes:
        safety: of removing the hint: `MANUAL` while something in the project still compiles.
        reason: a sentence about what stands against it; None if nothing does.
        place: what still compiles, as `path:line` and the number of other places, if anything.
    """

    safety: Safety
    reason: str | None = None
    place: str | None = None

    @property
    def root(self) -> str:
        """What the hint waits for, as `path:line`; empty if nothing still compiles."""
        return place_alone(self.place or "")

    @property
    def also(self) -> str:
        """The reason as one more sentence of a review; empty if there is none."""
        return f" Also, {self.reason.removeprefix('Needs review: ')}" if self.reason is not None else ""


def removal(context: Context, *, tracing: bool = False) -> Removal:
    """Whether hints in the file in view may go.

    A hint is dead when no file of the project compiles Python source to TorchScript. In code that others install or
    run, that they do not either is an assumption, unless the user says so.

    Args:
        context: the file and its project.
        tracing: whether the hint matters to a trace too.
    """
    return context.once(_removal, tracing)


def _removal(context: Context, tracing: bool) -> Removal:
    project, near = context.project, context.view.path
    scripts = first_use(project, near, tracing=False)
    place = scripts or (first_use(project, near, tracing=True) if tracing else first_compilation(project, near))
    if place is not None:
        what = (
            "scripts"
            if scripts
            else "traces"
            if tracing
            else "traces, which compiles functions and methods marked for it"
        )
        return Removal(
            Safety.MANUAL,
            f"It has to stay as long as this project {what}, nearest at {place}; migrate that first.",
            place,
        )
    watch = first_watch(project, near)
    if watch is not None:
        return Removal(
            Safety.UNSAFE, f"Needs review: {watch} patches a hint like this, names one, or reads the mark it leaves."
        )
    outside = None if drops(context) else outside_compiler(context, tracing=tracing, expecting=True)
    if outside is not None:
        return Removal(Safety.UNSAFE, f"Needs review: {outside}.")
    return Removal(Safety.SAFE)
