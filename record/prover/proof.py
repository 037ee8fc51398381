"""The whole proof: TorchScript replayed, the Python object beside it, then the ways of exporting, and what they do on probes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Optional, Union

from .exporting import decoded, shape_of
from .gradients import of_training, without_gradients
from .keeper import Doings, Subject
from .limits import Limits
from .probes import probes
from .replay import Player, eager_loaded, furthest, recorded, script_loaded
from .shared import Call, Inputs, Mismatch, Raised, Tolerance, call_mismatches, short
from .steps import Attempt, Emit, attempt, attempt_here

_TOLERANCE = Tolerance()


class Compared(NamedTuple):
    """What came of comparing calls: the first difference, how far numbers lie apart, and what else is not the same.

    That is `gradients`, how far those lie apart, and `errors`, classes in the place of those that TorchScript raises.
    """

    failed: Optional[str]
    worst: float
    close: dict[str, Any]


@dataclass
class PlayedCalls:
    """What a value did: its calls by label, those of probes apart."""

    calls: dict[str, Call] = field(default_factory=dict)
    probes: dict[str, Call] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)


class Prover:
    """One capture, its course, and the time that is left.

    Args:
        capture: what was captured.
        course: what the program did with it.
        limits: what all steps together may cost.
    """

    def __init__(self, capture: Subject, course: Doings, limits: Limits) -> None:
        self.capture, self.course, self.limits = capture, course, limits
        self.end = time.monotonic() + 2 * limits.seconds
        self.seconds = 0.0
        self.events = list(course.events)
        self.calls = [event for event in self.events if event[0] == "call"]

    def prove(self, *, export: bool = True) -> dict[str, Any]:
        """`proof` of the evidence file; without `export` of the Python object alone."""
        reason = self._why_not()
        if reason is not None:
            return self._said({"unproved": reason})
        script = self._script()
        if isinstance(script, str):
            return self._said({"unproved": script})
        proof: dict[str, Any] = {"eager": None, "probes": {}, "unproved": None}
        if self.capture.original is not None:
            proof["eager"] = self._eager(script)
            if proof["eager"]["equal"] and self.capture.anew is None:
                from .inside_calls import prove_inside

                prove_inside(self)
        if not export:
            return self._said(proof)
        from .program import prove_loaded, prove_program

        found = prove_program(self, script) if self.capture.original is not None else prove_loaded(self, script)
        proof["export"], proof["probes"] = found
        return self._said(proof)

    def step(self, work: Any) -> Attempt:
        """Runs a step in what time is left."""
        capture = self.capture
        if capture.anew is not None:
            capture.original, capture.captured = capture.anew()
            made = attempt_here(work)
            self.seconds += made.seconds
            return made
        left = max(1.0, self.limits.seconds - self.seconds)
        made = attempt(work, left, max(0.1, self.end - time.monotonic()), self.limits.memory)
        self.seconds += made.seconds
        return made

    def spent(self) -> bool:
        """Whether no time is left."""
        return self.seconds > self.limits.seconds or time.monotonic() > self.end

    def play(self, player: Player, emit: Emit) -> None:
        """Emits all calls, then the probes; a `doing` before each, in case it does not come back."""
        for played in player.play(self.events):
            emit(("call", played.label, played.call))
        forward = [event for event in self.calls if event[1] == "forward"]
        base = min(forward, key=lambda event: int(event[2]), default=None)
        if base is not None:
            for name, inputs, reason in probes(decoded(base[4]), self.capture.captured, self.alike()):
                if inputs is None:
                    emit(("skipped", name, reason))
                else:
                    emit(("probe", name, player.called(base, name, inputs)))

    def alike(self) -> bool:
        """Whether all calls have inputs of the same shapes."""
        return len({shape_of(one) for one in self.inputs()}) < 2

    def inputs(self) -> list[Inputs]:
        """Of all calls of `forward`."""
        return [decoded(event[4]) for event in self.calls if event[1] == "forward"]

    def _why_not(self) -> Optional[str]:
        course = self.course
        if any(event[6] is not None and event[6][1] is None for event in self.calls):
            return (
                f"trained: state changed between calls, and is larger than {self.limits.state >> 20} MiB or no tensors"
            )
        if not self.calls:
            missed = list(course.missed)
            if missed:
                return f"inputs: {missed[0]}"
            if self.capture.example is None:
                return "never called"
            self.calls = [_example_call(self.capture.example)]
            self.events = [event for event in self.events if event[0] == "saved"] + self.calls
        return None

    def _script(self) -> Union[PlayedCalls, str]:
        made = self.step(lambda emit: self.play(Player(self.capture.captured, script_loaded, _always), emit))
        played = collected(made.results)
        if made.problem is not None:
            return f"{made.problem}, while TorchScript itself was replayed"
        for number, event in enumerate(self.calls, start=1):
            was = recorded(event, f"call {number}") if event[7] is not None else None
            again = played.calls.get(f"call {number}")
            if was is None or again is None:
                continue
            # Whether the first runs of a function that TorchScript optimises ask for gradients depends on how many there were.
            found = [one for one in differences(was, without_gradients(again)) if one.aspect != "requires_grad"]
            if found:
                return f"replay: TorchScript itself gives something else: {worded(found[0], 'recorded', 'replayed')}"
        return played

    def _eager(self, script: PlayedCalls) -> dict[str, Any]:
        made = self.step(lambda emit: self.play(Player(self.capture.original, eager_loaded, _always), emit))
        eager = collected(made.results)
        failed, worst, close = compared(script.calls, eager.calls, "eager", made.problem)
        if failed is None and self.capture.drawn_before not in (None, self.capture.drawn_after):
            failed = "random numbers: capturing draws some, so that later ones differ"
        found = compared_probes(script, eager, made.problem, "eager")
        return {"equal": failed is None, "worst": worst, "failed": failed, "probes": found, **close}

    def _said(self, proof: dict[str, Any]) -> dict[str, Any]:
        recorded_calls = sum(event[0] == "call" for event in self.course.events)
        proof["calls"] = recorded_calls
        proof["dropped"] = sum(self.course.missed.values())
        proof["seconds"] = round(self.seconds, 1)
        return proof


def prove(capture: Subject, course: Doings, limits: Limits) -> dict[str, Any]:
    """`proof` of the evidence file, for one captured value."""
    return Prover(capture, course, limits).prove()


def collected(results: list[Any]) -> PlayedCalls:
    """The results of `Prover.play`."""
    played = PlayedCalls()
    kinds: dict[str, dict[str, Any]] = {"call": played.calls, "probe": played.probes, "skipped": played.skipped}
    for result in results:
        if result[0] in kinds:
            kinds[result[0]][result[1]] = result[2]
    return played


def differences(left: Call, right: Call) -> list[Mismatch]:
    """How two calls differ; a call that raised draws what it wants."""
    found = call_mismatches(left, right, _TOLERANCE)
    return [one for one in found if one.path != "input random numbers drawn" or not isinstance(left.outcome, Raised)]


def compared(left: dict[str, Call], right: dict[str, Call], name: str, problem: Optional[str]) -> Compared:
    """Calls of TorchScript on the left."""
    worst, close = 0.0, dict[str, Any](gradients=None, errors="")
    for label, call in left.items():
        if label not in right:
            return Compared(f"{problem or 'not played'} on {label}", worst, close)
        other = right[label]
        found = differences(call, other)
        if found:
            return Compared(worded(found[0], "TorchScript", name, other), worst, close)
        worst = max(worst, furthest(call.outcome, other.outcome))
        if (slopes := of_training(call)).items:
            close["gradients"] = max(close["gradients"] or 0.0, furthest(slopes, of_training(other)))
        was, now = call.outcome, other.outcome
        if isinstance(was, Raised) and isinstance(now, Raised) and was.type != now.type and not close["errors"]:
            close["errors"] = f"`{now.type}` in the place of `{was.type}` on {label}"
    return Compared(problem, worst, close)


def worded(mismatch: Mismatch, left: str, right: str, after: Optional[Call] = None) -> str:
    """A difference as a sentence; an error is its own."""
    label = mismatch.call.label.partition(", call")[0] if mismatch.call is not None else ""
    if mismatch.aspect == "error" and after is not None and isinstance(after.outcome, Raised):
        return f"{short(after.outcome)} on {label}"
    what = "" if mismatch.aspect == "values" else f"{mismatch.aspect}: "
    path = mismatch.path.replace("input random", "random")
    extent = f" ({mismatch.extent})" if mismatch.extent else ""
    return f"{what}{left} {mismatch.left}, {right} {mismatch.right}{extent} in {path} on {label}"


def compared_probes(
    script: PlayedCalls, program: PlayedCalls, problem: Optional[str], side: str = "exported"
) -> dict[str, str]:
    """What came of each probe."""
    found = dict(script.skipped)
    for name, call in script.probes.items():
        if isinstance(call.outcome, Raised):
            found[name] = "not tried: TorchScript raises"
        elif name not in program.probes:
            found[name] = f"raises: {problem or 'not played'}"
        else:
            other = program.probes[name]
            differ = differences(call, other)
            if not differ:
                found[name] = "same"
            elif isinstance(other.outcome, Raised):
                found[name] = f"raises: {short(other.outcome)}"
            else:
                found[name] = f"differs: {worded(differ[0], 'TorchScript', side)}"
    return found


def _example_call(example: Any) -> tuple[Any, ...]:
    import torch

    from .modes import generator_state, modes_now

    modes = modes_now(torch, None)
    return ("call", "forward", 0, modes, example, generator_state(torch), None, None, b"")


def _always(method: str) -> bool:
    return True
