"""The way of exporting that recorded runs proved: the text that is written has to be that program, or none is written."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.rules.torchscript.captures.capture_writer import Capture
from torchlift.rules.torchscript.captures.export_arguments import CannotExport, ExportArguments

_WRITTEN = frozenset({"", "as given", "ones doubled", "fixed shapes"})
# These are written where the example is.
_WITH_EXAMPLE = frozenset({"dynamic ints", "as called", "other example"})
_OF_PROGRAMS = frozenset({"save", "eval", "state_dict", "parameters", "named_parameters", "buffers", "named_buffers"})
_DOUBLED = 2


def weigh_record(capture: Capture) -> None:
    """Refuse what recorded runs speak against: the program differs, or the value was used as no program can be.

    Raises:
        CannotExport: they do.
    """
    recorded = capture.recorded
    if recorded is None:
        return
    if recorded.refuted:
        raise CannotExport(recorded.refuted)
    if not recorded.proved:
        return
    for place in _unreached(capture):
        capture.assume(f"no recorded run reached its use at {place}", asks="project")
    for value in recorded.known.site.values:
        for touch in value.attributes:
            where = f" at {touch.sites[0]}" if touch.sites else ""
            raise CannotExport(f"in the recorded run it was asked for `.{touch.name}`{where}, which a program has not")
        for touch in value.operations:
            if touch.name not in _OF_PROGRAMS:
                where = f" at {touch.sites[0]}" if touch.sites else ""
                capture.assume(f"in the recorded run `.{touch.name}()` was called on it{where}", asks="project")
            elif touch.name == "eval" and (other := _not_dropped(capture, touch.sites)):
                raise CannotExport(f"`.eval()` is called on it at {other}, which a program rejects")
    if proved_variant(capture) not in (_WRITTEN | _WITH_EXAMPLE if _has_example(capture) else _WRITTEN):
        raise CannotExport(
            f"the recorded runs proved an export in another form ({proved_variant(capture)}), which has to be written by hand"
        )


def _unreached(capture: Capture) -> Iterator[str]:
    """Places that call or save the value and that no run passed: evidence says nothing about them."""
    recorded, life = capture.recorded, capture.life
    if recorded is None or recorded.known.place is None:
        return
    values, moved = recorded.known.site.values, recorded.known.place.line - recorded.known.site.line
    called = {_line_of(call.site) for value in values for call in value.calls if call.site}
    saved = {_line_of(written.site) for value in values for written in value.wrote if written.site}
    for nodes, reached in ((life.calls, called), ([save.call for save in life.saves], saved)):
        for node in nodes if reached else ():
            home = life.home(node)
            line = node.lineno - (moved if home is life.view else 0)
            if f"{home.path}:{line}" not in reached:
                yield f"{home.path}:{node.lineno}"


def _line_of(place: str) -> str:
    return ":".join(place.split(":")[:2])


def _has_example(capture: Capture) -> bool:
    recorded = capture.recorded
    return recorded is not None and recorded.conclusion is not None and "example" in recorded.conclusion.detail


def proved_variant(capture: Capture) -> str:
    """The way of exporting that recorded runs proved; empty where none did."""
    recorded = capture.recorded
    return recorded.conclusion.variant if recorded is not None and recorded.conclusion is not None else ""


def batch_example(capture: Capture) -> int | None:
    """The size to give to first dimensions of size 1: what the user says, or what was proved."""
    doubled = _DOUBLED if proved_variant(capture) == "ones doubled" else None
    return capture.context.settings.batch_example or doubled


def in_proved_form(capture: Capture, arguments: ExportArguments, *, clones: bool) -> ExportArguments:
    """The arguments as the proved program has them.

    Args:
        capture: the capture.
        arguments: as the analyses write them.
        clones: whether they clone inputs that are one tensor.

    Raises:
        CannotExport: they cannot be written that way.
    """
    recorded, variant = capture.recorded, proved_variant(capture)
    if recorded is None or not variant:
        return arguments
    if not clones and any(value.aliased_inputs for value in recorded.known.site.values):
        raise CannotExport("the example inputs hold the same tensor twice, which export would merge into one input")
    if variant == "fixed shapes":
        arguments.shapes = None
    elif variant == "ones doubled" and not _doubles(
        arguments, recorded.conclusion.detail if recorded.conclusion else {}
    ):
        raise CannotExport(
            "an example of size 1 fixes that size, and it was proved with 2 in its place: take such an example, or pass "
            "--batch-example 2 where its size is visible"
        )
    return arguments


def _doubles(arguments: ExportArguments, detail: dict[str, object]) -> bool:
    doubled = detail.get("doubled")
    return "ints" not in detail and doubled == {f"args[{index}]": [0] for index in sorted(arguments.grown)}


def _not_dropped(capture: Capture, sites: list[str]) -> str:
    """A place where `.eval()` was called that the rewrite leaves as it is; empty if there is none."""
    life = capture.life
    lines = {statement.lineno for statement in life.evals}
    if life.outer is not life.origin:
        lines |= set(range(life.outer.lineno, (life.outer.end_lineno or life.outer.lineno) + 1))
    for place in sites:
        path, line = place.split(":")[:2]
        if path != life.view.path or int(line) not in lines:
            return place
    return ""
