"""What may be concluded from what one site did in recorded runs: the table of docs/evidence.md, line by line.

Evidence is about the calls that were recorded. Inputs of one shape prove nothing about others, unless inputs that nobody
recorded (probes) came out the same, too; a number that never varied may have become part of the program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from torchlift.evidence.records import EagerProof, ExportProof, Proof, RecordedCall, RecordedSite, RecordedValue
from torchlift.lazy_dataclass import dataclass

PLAIN_OPERATIONS = frozenset(
    {"eval", "train", "to", "cuda", "cpu", "half", "float", "double", "bfloat16", "requires_grad_", "load_state_dict",
     "state_dict", "parameters", "named_parameters", "buffers", "named_buffers", "children", "named_children", "modules",
     "named_modules", "zero_grad", "apply", "share_memory", "training"}
)  # fmt: skip
"""What any module offers, and a function needs not."""

_MOST_SHAPES = 3
_STEPS = 3  # TorchScript runs its optimised form, which may round otherwise, from the third call on
_ROWS, _NUMBERS = "rows + 3", "other numbers"  # names of probes


@dataclass(frozen=True)
class Conclusion:
    """What a run showed about one way of rewriting a site.

    Attributes:
        variant: the way of exporting that was proved, `eager` for the object itself; empty if none was.
        refuted: why the rewrite is wrong, a clause; empty if nothing speaks against it.
        unknown: why nothing is known, a clause; empty if something is.
        doubts: what the runs left open, as clauses; any of them makes the fix one for review.
        basis: what was proved and on what, a sentence.
        detail: what a text needs to know of the variant.
    """

    variant: str = ""
    refuted: str = ""
    unknown: str = ""
    doubts: tuple[str, ...] = ()
    basis: str = ""
    detail: dict[str, Any] = field(default_factory=dict)


def exported(site: RecordedSite) -> Conclusion:
    """Whether an exported program can take the place of what a site captures."""
    # A program is not called inside of TorchScript.
    values = [replace(value, calls=[c for c in value.calls if c.via != "inside"]) for value in site.values]
    if any(value.calls for value in site.values) and not any(value.calls for value in values):
        return Conclusion(unknown="scripted code alone calls it")
    return _of_all(replace(site, values=values), _exported, "export")


def eager(site: RecordedSite) -> Conclusion:
    """Whether the Python object itself can take the place of what a site captures."""
    return _of_all(site, _eager, "eager")


def _of_all(site: RecordedSite, judge: Callable[[RecordedValue], Conclusion], what: str) -> Conclusion:
    """What holds for every value that the site made."""
    if site.failed:
        failed = site.failed[0]
        said = f": {failed.message}" if failed.message else ""
        return Conclusion(refuted=f"it is broken today: in the recorded run it raised {failed.error}{said}")
    if not site.values:
        return Conclusion(unknown="no value was made here")
    called = [value for value in site.values if value.calls]
    # What was captured beside values that were called was tried on its example.
    values = [
        value if value.calls or not called else replace(value, calls=_of_example(value))
        for value in site.values
        if not _is_idle(value, called)
    ]
    found = [judge(value) for value in values]
    for conclusion in sorted(found, key=lambda item: not item.refuted):
        if conclusion.refuted or conclusion.unknown:
            return conclusion
    variants = sorted({conclusion.variant for conclusion in found})
    if len(variants) > 1:
        said = " and ".join(f"`{variant}`" for variant in variants)
        return Conclusion(refuted=f"the values that it makes need different programs ({said})")
    if any(_written(conclusion.detail) != _written(found[0].detail) for conclusion in found):
        return Conclusion(refuted="the values that it makes need programs that are written differently")
    doubts = tuple(dict.fromkeys(doubt for conclusion in found for doubt in conclusion.doubts))
    return replace(found[0], doubts=doubts, basis=_basis(site, what))


def _is_idle(value: RecordedValue, called: list[RecordedValue]) -> bool:
    """Whether nobody did anything with a value that a module could not do, and others of its class were called."""
    idle = not (value.calls or value.example or value.wrote or value.attributes)
    alike = any((one.of, one.kind) == (value.of, value.kind) for one in called)
    return idle and alike and {touch.name for touch in value.operations} <= PLAIN_OPERATIONS


def _of_example(value: RecordedValue) -> list[RecordedCall]:
    """The call of a capture that runs its example, if something was tried on it."""
    example, proof = value.example, value.proof
    if example is None or proof is None or proof.unproved is not None:
        return []
    return [
        RecordedCall("forward", example.args, example.kwargs, training=value.training, context=value.context, count=0)
    ]


def _written(detail: Any) -> Any:
    """A detail without what makes no other program: sizes of the example, but for ones, which become fixed."""
    if isinstance(detail, str):
        return re.sub(r"(?<=[\[,])\d{2,}|(?<=[\[,])[02-9]", "n", detail)
    if isinstance(detail, dict):
        return {key: _written(item) for key, item in detail.items()}
    return [_written(item) for item in detail] if isinstance(detail, list) else detail


def _exported(value: RecordedValue) -> Conclusion:
    proof = value.proof
    missing = _unproved(value)
    if missing or proof is None:
        return Conclusion(unknown=missing)
    if proof.export is None:
        return Conclusion(unknown="no export of it was tried")
    if proof.export.proved is None:
        last = next((tried for tried in proof.export.tried if tried.failed), None)
        return Conclusion(
            refuted=f"exporting it was tried and failed: {last.failed if last else 'no reason is recorded'}"
        )
    if trained := next((c for c in value.calls if c.training and c.context.grad and not c.context.inference), None):
        return Conclusion(
            refuted=f"it is called in train mode with gradients{_at(trained)}, and a program has one mode only"
        )
    mode = ("it was captured in train mode",) if value.training else ()
    moved = (
        ("its parameters or buffers changed between the recorded calls",) if value.state_changed_between_calls else ()
    )
    doubts = (
        *mode,
        *moved,
        *_doubts(value, proof, proof.probes),
        *_close(value, proof.export),
        *_fixed_inputs(value, proof.probes),
    )
    return Conclusion(proof.export.proved, doubts=doubts, detail=proof.export.detail)


def _eager(value: RecordedValue) -> Conclusion:
    proof = value.proof
    missing = _unproved(value)
    if missing or proof is None:
        return Conclusion(unknown=missing)
    if proof.eager is None:
        return Conclusion(unknown="the Python object itself was not tried")
    if not proof.eager.equal:
        return Conclusion(refuted=f"without TorchScript the result is another: {proof.eager.failed or 'values differ'}")
    if value.wrote:
        return Conclusion(refuted="it is written to a file, which needs a program")
    unknown = sorted({touch.name for touch in value.operations} - PLAIN_OPERATIONS)
    if unknown:
        return Conclusion(refuted=f"`.{unknown[0]}` is used on it, which only TorchScript has")
    return Conclusion("eager", doubts=(*_doubts(value, proof, proof.eager.probes), *_close(value, proof.eager)))


def _unproved(value: RecordedValue) -> str:
    if not value.calls:
        return "they never called it"
    if value.proof is None:
        return "nothing was tried on it"
    if value.proof.unproved is not None:
        return f"nothing could be tried on it ({value.proof.unproved})"
    return ""


def _doubts(value: RecordedValue, proof: Proof, probes: Mapping[str, str]) -> Iterator[str]:
    """What the recorded calls of a value, and probes, leave open."""
    if proof.dropped:
        yield f"{_count(proof.dropped, 'recorded call')} could not be tried again"
    for what, came in sorted(probes.items()):
        if not is_harmless(came):
            yield f"on inputs that nobody recorded ({what}) it {came}"
    if _ROWS not in probes and len(_shapes(value)) < 2:
        yield f"the recorded runs called it with one shape only ({', '.join(_shapes(value)) or 'no tensor'})"


def _close(value: RecordedValue, proof: EagerProof | ExportProof) -> Iterator[str]:
    """What is not quite the same on recorded calls."""
    if proof.gradients is not None and sum(call.count for call in value.calls) < _STEPS:
        yield "it may be trained through, and few calls were recorded"
    if proof.errors:
        yield f"it raises {proof.errors}, which a handler may wait for"
    if proof.gradients:
        yield "its gradients differ by rounding, which training adds up"


def _fixed_inputs(value: RecordedValue, probes: Mapping[str, str]) -> Iterator[str]:
    """Inputs besides tensors that a program may have been given for good."""
    for place, constants in sorted(_constants(value, numbers=probes.get(_NUMBERS) != "same").items()):
        if len(constants) == 1:
            yield f"{place} was {constants.pop()} in every recorded call, and may be fixed at it"


def _shapes(value: RecordedValue) -> list[str]:
    """The different tensors, by shape and dtype, that the recorded calls were given."""
    shapes = dict.fromkeys(", ".join(_tensors([call.args, call.kwargs])) for call in value.calls)
    return [shape for shape in shapes if shape]


def _tensors(tree: Any) -> list[str]:
    if isinstance(tree, str):
        return [tree]
    if isinstance(tree, dict):
        if "str" in tree or "object" in tree:
            return []
        return [leaf for key, item in tree.items() if key != "namedtuple" for leaf in _tensors(item)]
    return [leaf for item in tree for leaf in _tensors(item)] if isinstance(tree, list) else []


def is_harmless(came: str) -> bool:
    """Whether a probe gave the same, or could not be tried because TorchScript rejects such inputs itself."""
    return came == "same" or came.startswith("not tried")


def _constants(value: RecordedValue, *, numbers: bool) -> dict[str, set[str]]:
    """What was given besides tensors, by input; with or without numbers."""
    found: dict[str, set[str]] = {}
    for call in value.calls:
        for place, tree in (
            *((f"args[{index}]", item) for index, item in enumerate(call.args)),
            *((f"kwargs.{key}", item) for key, item in call.kwargs.items()),
        ):
            for inner, leaf in _plain_leaves(tree, place):
                if numbers or not isinstance(leaf, (int, float)):
                    found.setdefault(f"`{call.method}`'s {inner}", set()).add(repr(leaf))
    return found


def _plain_leaves(tree: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(tree, dict):
        if "str" in tree or "object" in tree:
            yield place, str(tree.get("str", tree.get("object")))
            return
        for key, item in tree.items():
            if key != "namedtuple":
                yield from _plain_leaves(item, f"{place}[{key!r}]" if key not in {"tuple", "dict", "items"} else place)
    elif isinstance(tree, list):
        for index, item in enumerate(tree):
            yield from _plain_leaves(item, f"{place}[{index}]")
    elif not isinstance(tree, str):
        yield place, tree


def _basis(site: RecordedSite, what: str) -> str:
    calls = sum(call.count for value in site.values for call in value.calls)
    shapes = list(dict.fromkeys(shape for value in site.values for shape in _shapes(value)))
    tests = sorted({test for value in site.values for call in value.calls for test in call.tests} | set(site.tests))
    listed = "; ".join(shapes[:_MOST_SHAPES]) + ("; ..." if len(shapes) > _MOST_SHAPES else "")
    where = f" in {_count(len(tests), 'test')}" if tests else ""
    inside = sum(call.count for value in site.values for call in value.calls if call.via == "inside")
    made = f" {_count(inside, 'call')} came from the Python objects of scripted callers, run for it." if inside else ""
    subject = "The exported program" if what == "export" else "The Python object"
    worst = max((_worst(value, what) for value in site.values), default=0.0)
    close = f", to within {worst:.1g}" if worst else ""
    return (
        f"{subject} gave the results of TorchScript{close} on {_count(calls, 'recorded call')}{where}, each tried twice, with "
        f"{_count(len(shapes), 'shape')} of inputs ({listed}).{made}"
    )


def _worst(value: RecordedValue, what: str) -> float:
    proof = value.proof
    if proof is None:
        return 0.0
    part = proof.export if what == "export" else proof.eager
    return part.worst if part is not None else 0.0


def _at(call: RecordedCall) -> str:
    return f" at {call.site.rpartition(':')[0] if call.site.count(':') > 1 else call.site}" if call.site else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
