"""One captured value as the evidence shows it: its calls, what they have in common and what varies."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from torchlift.evidence.records import (
    Modes,
    Proof,
    RecordedCall,
    RecordedExample,
    RecordedValue,
    Touch,
    TriedVariant,
    WrittenArchive,
)
from torchlift.json_records.reading import RecordError, read_record
from torchlift.record.captured_objects import CapturedObjects
from torchlift.record.inside_calls import inside_calls, with_inside
from torchlift.record.source_places import SourcePlaces
from torchlift.record.spool import Event, Told

_TENSOR = re.compile(r"(\w+)\[([\d,]*)\](@.*)?")


class ValueMaker:
    """Makes the values of one run."""

    def __init__(self, told: Told, places: SourcePlaces) -> None:
        self._places = places
        self.objects = CapturedObjects(told)
        self._calls: dict[str, list[Event]] = defaultdict(list)
        self._touches: dict[str, list[Event]] = defaultdict(list)
        self._flags: dict[str, set[str]] = defaultdict(set)
        self._tests: dict[str, set[str]] = defaultdict(set)
        self._counts: dict[str, dict[str, int]] = defaultdict(dict)
        for event in told.events:
            if event["e"] == "call":
                self._calls[event["object"]].append(event)
                self._counts[event["call"]].setdefault(event["process"], 1)
            elif event["e"] == "count":
                self._counts[event["call"]][event["process"]] = event["count"]
            elif event["e"] == "tested":
                self._tests[event["call"]].add(event["test"])
            elif event["e"] in ("operation", "attribute"):
                self._touches[event["object"]].append(event)
            elif event["e"] == "flag":
                self._flags[event["object"]].add(event["flag"])

    def value(self, capture: Event) -> RecordedValue:
        """What the run did with one capture."""
        number = capture["object"]
        reached = list(self.objects.all_of(number))
        flags = {flag for one in reached for flag in self._flags[one.number]}
        example = capture["example"]
        value = RecordedValue(
            id=0,
            of=self._places.definition(capture["of"]),
            kind=capture["kind"],
            training=capture["training"],
            context=Modes(**capture["context"]),
            aliased_inputs=capture["aliased_inputs"],
            example=None if example is None else RecordedExample(**example),
            classes=[self._places.definition(told) for told in capture["classes"]],
            mutates_inputs="mutates_inputs" in flags,
            state_changed_between_calls="state_changed_between_calls" in flags,
        )
        for one in reached:
            value.calls += [self._call(event, one.prefix, one.via) for event in self._calls[one.number]]
            for written in self.objects.written[one.number]:
                value.wrote.append(self._written(written))
        calls = [event for one in reached for event in self._calls[one.number]]
        value.python_class_of_output = next(
            (event["class_of_output"] for event in calls if event["class_of_output"]), None
        )
        inside = inside_calls(capture.get("proof"))
        value.calls = united([*value.calls, *(call for part in inside for call in part.calls)])
        value.wrote = list({json.dumps(vars(one), sort_keys=True): one for one in value.wrote}.values())
        touches = [event for one in reached for event in self._touches[one.number]]
        value.operations = self._touched(touches, "operation")
        value.attributes = self._touched(touches, "attribute")
        value.varied, value.dtypes_varied = _variation(value)
        return value

    def calls_of_loaded(self, read: Event) -> list[RecordedCall]:
        """What was called of an archive that nothing captured in the run had written."""
        if read["object"] is None or self.objects.writers.get(read["content"]):
            return []
        reached = self.objects.all_of(read["object"])
        return united([self._call(event, one.prefix, "load") for one in reached for event in self._calls[one.number]])

    def _call(self, event: Event, prefix: str, via: Any) -> RecordedCall:
        return RecordedCall(
            method=prefix + event["method"],
            args=event["args"],
            kwargs=event["kwargs"],
            out={"raised": event["raised"]} if "raised" in event else event["out"],
            training=event["training"],
            context=Modes(**event["context"]),
            count=max(sum(self._counts[event["call"]].values()), 1),
            via=via,
            site=self._places.shown(event["place"]),
            tests=sorted(self._tests[event["call"]]),
        )

    def _written(self, event: Event) -> WrittenArchive:
        return WrittenArchive(event["content"], event["path"], self._places.shown(event["place"]), event["extra_files"])

    def _touched(self, events: list[Event], kind: str) -> list[Touch]:
        found: dict[tuple[str, str], Touch] = {}
        for event in events:
            if event["e"] == kind:
                touch = found.setdefault(
                    (event["name"], event["detail"] or ""), Touch(event["name"], [], event["detail"])
                )
                site = self._places.shown(event["place"])
                if site is not None and site not in touch.sites:
                    touch.sites.append(site)
        return list(found.values())

    def proof(self, capture: Event) -> Proof | None:
        """What the prover found, here and in the processes that loaded an archive of the value; None if it was not asked."""
        reached = self.objects.all_of(capture["object"])
        is_called = any(self._calls[one.number] for one in reached)
        proof = with_inside(proof_of(capture.get("proof")), is_called, inside_calls(capture.get("proof")))
        if proof is not None:
            parts = (
                event
                for one in self.objects.all_of(capture["object"])
                if one.prefix
                for event in self._calls[one.number]
            )
            proof.dropped += sum(1 for _ in parts)
        if proof is None or proof.export is None or proof.export.proved is None:
            return proof
        for one in self.objects.all_of(capture["object"]):
            elsewhere = proof_of(self.objects.proofs.get(one.number))
            if elsewhere is None or not any(self._calls[one.number]):
                continue
            proof.calls += elsewhere.calls
            proof.dropped += elsewhere.dropped
            proof.seconds += elsewhere.seconds
            if elsewhere.export is None or elsewhere.export.proved is None:
                tried = [] if elsewhere.export is None else elsewhere.export.tried
                why = next((variant.failed for variant in tried if variant.failed), elsewhere.unproved)
                failed = TriedVariant(proof.export.proved, f"where it was loaded: {why}")
                proof.export.tried = [variant for variant in proof.export.tried if variant.failed] + [failed]
                proof.export.proved = None
                break
            proof.export.worst = max(proof.export.worst, elsewhere.export.worst)
        return proof


def proof_of(path: str | None) -> Proof | None:
    """What the prover of a value left; None if none was asked for."""
    if path is None:
        return None
    try:
        found = json.loads(Path(path).read_bytes())
        for key in ("pending", "fresh"):
            found.pop(key, None)
        return read_record(Proof, found)
    except FileNotFoundError:
        return Proof(unproved="the prover did not begin")
    except (OSError, ValueError, AttributeError, RecordError) as error:
        return Proof(unproved=f"the prover left an answer that cannot be read: {error}")


def united(calls: list[RecordedCall]) -> list[RecordedCall]:
    """Calls that are alike as one, which counts them."""
    found: dict[str, RecordedCall] = {}
    for call in calls:
        own = (call.method, call.args, call.kwargs, call.out, call.training, vars(call.context), call.via, call.site)
        known = found.setdefault(json.dumps(own, sort_keys=True), call)
        if known is not call:
            known.count += call.count
            known.tests = sorted({*known.tests, *call.tests})
    return list(found.values())


def _variation(value: RecordedValue) -> tuple[dict[str, dict[str, list[int]]], bool]:
    """Dimensions with several sizes by method and input, and whether an input had several dtypes."""
    seen: dict[tuple[str, str], set[tuple[str, tuple[int, ...]]]] = defaultdict(set)
    rows = [(call.method, call.args, call.kwargs) for call in value.calls]
    if value.example is not None:
        rows.append(("forward", value.example.args, value.example.kwargs))
    for method, args, kwargs in rows:
        inputs = [*((f"args[{index}]", item) for index, item in enumerate(args)), *kwargs.items()]
        for name, item in inputs:
            for path, dtype, shape in _tensors(item, name):
                seen[method, path].add((dtype, shape))
    varied: dict[str, dict[str, list[int]]] = {}
    for (method, path), kinds in sorted(seen.items()):
        shapes = [shape for _, shape in kinds]
        if len({len(shape) for shape in shapes}) > 1:
            varied.setdefault(method, {})[path] = [-1]
            continue
        axes = [axis for axis, sizes in enumerate(zip(*shapes, strict=True)) if len(set(sizes)) > 1]
        if axes:
            varied.setdefault(method, {})[path] = axes
    return varied, any(len({dtype for dtype, _ in kinds}) > 1 for kinds in seen.values())


def _tensors(item: Any, path: str) -> list[tuple[str, str, tuple[int, ...]]]:
    if isinstance(item, str):
        match = _TENSOR.fullmatch(item)
        if match is None:
            return []
        return [(path, match[1], tuple(int(size) for size in match[2].split(",") if size))]
    if isinstance(item, list):
        return [found for index, one in enumerate(item) for found in _tensors(one, f"{path}[{index}]")]
    if isinstance(item, dict):
        inner = item.get("tuple", item.get("items"))
        if inner is not None:
            return _tensors(inner, path)
        named = item.get("dict")
        if isinstance(named, dict):
            return [found for key, one in named.items() for found in _tensors(one, f"{path}[{key!r}]")]
    return []
