"""What is wrong with taking a torch from an index: it never had it, it ended, or its wheel does not run on the GPUs."""

from __future__ import annotations

from torchlift.dependencies.pin_set import Index, PinSet
from torchlift.finding import Severity
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.dependencies.wheels.builds import (
    allowed,
    is_older_than_all,
    lines_of,
    never_was,
    newest_of,
    reaches_beyond,
    spelled,
    target_line,
)
from torchlift.rules.dependencies.wheels.hardware import serves, wheel_for
from torchlift.rules.rule import Settings
from torchlift.source import Span
from torchlift.wheels.offers import line_of

_CUDA = lazy_pattern(r"cu\d{2,3}\Z")
_BUILD_OF_A_TEMPLATE = lazy_pattern(r"[}\w%]\+(cu\d{2,3})\Z")


@dataclass(frozen=True)
class Problem:
    """What is wrong, and what it weighs."""

    message: str
    severity: Severity


def builds_in(item: PinSet) -> dict[str, Span]:
    """The CUDA builds that a set takes torch from, each with the first place that says so."""
    places: dict[str, Span] = {}
    for index in item.indexes:
        # An index of nightly builds has no releases; a page of links or a file says no more than its pin.
        if not index.channel:
            places.setdefault(index.build, index.span)
    for pin in item.named("torch"):
        for clause in pin.clauses:
            if clause.build and _CUDA.match(clause.build) and "dev" not in clause.version:
                places.setdefault(clause.build, pin.span)
        filled_in = _BUILD_OF_A_TEMPLATE.search(pin.text) if pin.opaque and not pin.clauses and not pin.file else None
        if filled_in is not None:
            places.setdefault(filled_in[1], pin.span)
    return places


def problem_of(build: str, wanted: str | None, settings: Settings) -> Problem | None:
    """What is wrong with taking a torch from the index of a build."""
    target = target_line(settings.target)
    lines = lines_of(build)
    if never_was(build):
        return Problem(f"PyTorch never had an index for {build}, so nothing can come from it.", Severity.ERROR)
    found = allowed(wanted)
    older, _ = reaches_beyond(wanted)
    if not lines:
        if not is_older_than_all(build):
            return None
        if wanted and found and not older:
            return Problem(
                f"There is no wheel of torch {wanted} for {build}: that index has no torch 2.", Severity.ERROR
            )
        message = f"PyTorch's index for {build} has no torch 2, so torch {spelled(target)} cannot come from it."
        return Problem(message, Severity.WARNING)
    inside = [version for version in found if line_of(version) in lines]
    if found and not inside and not older:
        asked = f"torch {found[0]}" if len(found) == 1 else f"a torch {wanted}"
        span = f"torch {spelled(lines[0])}" + (f" to {spelled(lines[-1])}" if len(lines) > 1 else "")
        return Problem(f"There is no wheel of {asked} for {build}: that index has {span}.", Severity.ERROR)
    machine = settings.machine
    if machine is not None:
        wheel = wheel_for(machine, target)
        if isinstance(wheel, str):
            return None if target in lines else _ended(build, target)
        if wheel.build == build:
            # The best there is for this machine, even where it ends before the target.
            return (
                None if not found or wheel.line in {line_of(version) for version in inside} else _ended(build, target)
            )
        line = max((line_of(version) for version in inside if line_of(version) <= target), default=None)
        if line is not None and target in lines and not serves(machine, build, line):
            names = ", ".join(dict.fromkeys(device.name for device in machine.devices))
            return Problem(f"torch {spelled(line)} for {build} does not run on {names} here.", Severity.ERROR)
    return _ended(build, target) if lines[-1] < target else None


def _ended(build: str, target: tuple[int, int]) -> Problem | None:
    last = lines_of(build)[-1]
    if last >= target:
        return None
    version = newest_of(last) or spelled(last)
    message = (
        f"PyTorch's index for {build} ends with torch {version}, so torch {spelled(target)}, which this project moves to, "
        "cannot come from it."
    )
    return Problem(message, Severity.WARNING)


def channel_problem(index: Index, settings: Settings) -> Problem | None:
    """What is wrong with an index of builds that are no releases: it stopped with the releases for its CUDA."""
    target = target_line(settings.target)
    if index.channel.startswith("lts"):
        old = index.channel.partition("/")[2]
        return Problem(f"This index holds torch {old} of long-term support and nothing newer.", Severity.WARNING)
    lines = lines_of(index.build)
    if (lines and lines[-1] < target) or is_older_than_all(index.build):
        last = spelled(lines[-1]) if lines else "1.13"
        message = f"No torch after {last} is built for {index.build}, so its index of {index.channel} builds has no torch {spelled(target)}."
        return Problem(message, Severity.WARNING)
    return None
