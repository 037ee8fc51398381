"""Two evidence files as one: what either run saw counts, and what is concluded has to hold for both."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, TypeVar

from torchlift.evidence.records import (
    FurtherRun,
    Proof,
    RecordedArchive,
    RecordedCall,
    RecordedEvidence,
    RecordedSite,
    RecordedValue,
)

_Record = TypeVar("_Record")


def merged(first: RecordedEvidence, second: RecordedEvidence) -> RecordedEvidence:
    """The evidence of both.

    A site whose source was another in the two runs is taken from `second`, the later one. Values that were captured,
    used and proved alike become one, with the calls of both.
    """
    first, second = copy.deepcopy(first), copy.deepcopy(second)
    sites = {_key(site): site for site in first.sites}
    renamed: dict[str, str] = {}
    for site in second.sites:
        earlier = sites.get(_key(site))
        if earlier is None or earlier.scope_sha != site.scope_sha or earlier.text_sha != site.text_sha:
            sites[_key(site)] = site
        else:
            renamed |= _unite_sites(earlier, site)
    files = {archive.content: archive for archive in first.files}
    for archive in second.files:
        archive.writers = [renamed.get(writer, writer) for writer in archive.writers]
        known = files.setdefault(archive.content, RecordedArchive(archive.content))
        known.writers = _union(known.writers, archive.writers)
        known.readers = _union(known.readers, archive.readers)
    return replace(
        first,
        torchlift=second.torchlift or first.torchlift,
        torch=second.torch or first.torch,
        python=second.python or first.python,
        processes=first.processes + second.processes,
        with_torch=first.with_torch + second.with_torch,
        dirty=first.dirty or second.dirty,
        sites=list(sites.values()),
        files=list(files.values()),
        loads=_union(first.loads, second.loads),
        distributed=_union(first.distributed, second.distributed),
        problems=_union(first.problems, second.problems),
        further=[*first.further, _run(second), *second.further],
    )


def _run(evidence: RecordedEvidence) -> FurtherRun:
    return FurtherRun(**{field.name: getattr(evidence, field.name) for field in fields(FurtherRun)})


def _key(site: RecordedSite) -> tuple[str, str, str, str, int]:
    return site.file, site.api, site.qualname, site.text_sha, site.nth


def _unite_sites(into: RecordedSite, site: RecordedSite) -> dict[str, str]:
    """Add what another run saw at a site; gives the names of its values in `into`, by those they had."""
    renamed = {}
    into.hits += site.hits
    into.tests = _union(into.tests, site.tests)
    into.keywords = _union(into.keywords, site.keywords)
    into.failed = _union(into.failed, site.failed)
    into.line, into.column, into.end_line, into.end_column = site.line, site.column, site.end_line, site.end_column
    for value in site.values:
        alike = next((known for known in into.values if _about(known) == _about(value)), None)
        before = value.id
        if alike is None:
            value.id = max((known.id for known in into.values), default=0) + 1
            into.values.append(value)
        else:
            value.id = alike.id
            _unite_values(alike, value)
        renamed[f"{site.id}#{before}"] = f"{into.id}#{value.id}"
    return renamed


def _about(value: RecordedValue) -> Any:
    """What has to be the same for two values to be one."""
    proof = value.proof
    shown = None
    if proof is not None:
        export, eager = proof.export, proof.eager
        shown = (
            proof.unproved,
            proof.dropped,
            proof.probes,
            eager and (eager.equal, eager.failed, eager.errors),
            export and (export.proved, export.detail, export.fixed, export.errors),
        )
    wrote = [(written.path, written.site) for written in value.wrote]
    touched = [[(touch.name, touch.detail) for touch in some] for some in (value.operations, value.attributes)]
    same = (value.of.name, value.of.source_sha, value.kind, value.training, value.context, value.aliased_inputs)
    return same, value.example, value.classes, value.state_changed_between_calls, wrote, touched, shown


def _unite_values(into: RecordedValue, value: RecordedValue) -> None:
    calls = {_about_call(call): call for call in into.calls}
    for call in value.calls:
        known = calls.get(_about_call(call))
        if known is None:
            into.calls.append(call)
        else:
            known.count += call.count
            known.tests = _union(known.tests, call.tests)
    for ours, theirs in ((into.operations, value.operations), (into.attributes, value.attributes)):
        for one, other in zip(ours, theirs, strict=True):
            one.sites = _union(one.sites, other.sites)
    into.wrote = _union(into.wrote, value.wrote)
    into.dtypes_varied = into.dtypes_varied or value.dtypes_varied
    into.mutates_inputs = into.mutates_inputs or value.mutates_inputs
    for method, inputs in value.varied.items():
        known_inputs = into.varied.setdefault(method, {})
        for name, dimensions in inputs.items():
            known_inputs[name] = sorted({*known_inputs.get(name, []), *dimensions})
    if into.proof is not None and value.proof is not None:
        into.proof = proof_of_both(into.proof, value.proof)


def _larger(one: float | None, other: float | None) -> float | None:
    return max((value for value in (one, other) if value is not None), default=None)


def proof_of_both(first: Proof, second: Proof) -> Proof:
    """One proof on the calls of two that said the same; the first is the one that is kept otherwise."""
    proof = replace(first, calls=first.calls + second.calls, seconds=round(first.seconds + second.seconds, 3))
    if proof.eager is not None and second.eager is not None:
        proof.eager.worst = max(proof.eager.worst, second.eager.worst)
        proof.eager.gradients = _larger(proof.eager.gradients, second.eager.gradients)
    if proof.export is not None and second.export is not None:
        proof.export.worst = max(proof.export.worst, second.export.worst)
        proof.export.gradients = _larger(proof.export.gradients, second.export.gradients)
    return proof


def _about_call(call: RecordedCall) -> str:
    return repr(replace(call, count=0, tests=[]))


def _union(first: Iterable[_Record], second: Iterable[_Record]) -> list[_Record]:
    found = list(first)
    return found + [item for item in second if item not in found]
