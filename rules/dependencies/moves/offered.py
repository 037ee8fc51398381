"""What is offered for requirements that keep torch back: a move, or the sentence that says why the list itself forbids one."""

from __future__ import annotations

import re

from torchlift.dependencies.pin import Pin
from torchlift.dependencies.pin_set import PinSet
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.dependencies.installed.reading import is_pytorch_channel, torch_of
from torchlift.rules.dependencies.moves.holding import is_named_after
from torchlift.rules.dependencies.moves.moving import Move, move
from torchlift.rules.dependencies.moves.said_of_pins import IS_LOWEST
from torchlift.rules.dependencies.wheels.builds import Line, is_named_in, spelled, target_line
from torchlift.rules.dependencies.wheels.index_problem import builds_in, problem_of
from torchlift.rules.rule import Settings
from torchlift.view.text import TextView

_FOR_MACS = lazy_pattern(r"==\s*[\"'](?:darwin|macos)[\"']", re.IGNORECASE)
_CUDA = lazy_pattern(r"(?:pt\d+)?cu\d{2,3}")


def by_hand(pin: Pin) -> str:
    """What to tell of a pin whose condition gives it an older version than others have."""
    build = next((clause.build for clause in pin.clauses if clause.build), None)
    with_it = f", with its build ({build}) and the index it comes from" if build else ""
    return f"Its condition gives it a version of its own; raise it by hand{with_it}."


def of_its_own(pin: Pin, target: Line) -> str:
    """What to tell of a pin that does not come from the index of a CUDA that others beside it come from; "" for all others."""
    condition = pin.text.partition(";")[2]
    if _FOR_MACS.search(condition) and " or " not in condition:
        return f"It is for macOS, where torch comes from PyPI: raise it by hand, and try torch {spelled(target)} there first."
    build = next((clause.build for clause in pin.clauses if clause.build), None)
    if build is None or _CUDA.fullmatch(build):
        return ""
    return f"Its build, {build}, comes from an index of its own: raise it by hand to what that has of torch {spelled(target)}."


def offered(
    view: TextView, item: PinSet, held: list[Pin], settings: Settings, project: Project, *, elsewhere: bool
) -> Move:
    """The move of a list, `held` of which keep torch back; `elsewhere`: its index stands at another place of the file."""
    if any(pin.notation == "conda" for pin in held):
        if any(is_pytorch_channel(name) for name, _ in item.channels):
            return Move(
                None,
                "PyTorch's own conda channel ended with torch 2.5 (TL308): install torch by pip or from conda-forge.",
            )
        return Move(
            None,
            "Which releases a conda channel has is not in torchlift's data; raise it there, or install torch by pip.",
        )
    if any(map(is_named_after, held)):
        return Move(
            None,
            f"The name of the list says which torch it is for: torch {spelled(target_line(settings.target))} gets one of its own.",
        )
    if IS_LOWEST.search(view.path):
        return Move(
            None, "The name of the file says that it holds the lowest releases; raise it when the project drops them."
        )
    if any(is_named_in(view.path, clause.version) for pin in held if pin.is_torch for clause in pin.clauses):
        return Move(None, "The name of the file says which torch it is for: another release gets a file of its own.")
    wanted = torch.specifier if (torch := torch_of(item.pins)) is not None and not torch.opaque else None
    if any(problem_of(build, wanted, settings) for build in builds_in(item)):
        return Move(None, "It goes with its index, of which TL301 speaks.", of_index=True)
    moved = move(view, item, settings, project)
    if elsewhere and moved.fix is not None and not item.indexes:
        return Move(
            None, f"{moved.help} Not rewritten: the index is named elsewhere in this file, and both change together."
        )
    return moved
