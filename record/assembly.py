"""Makes the evidence of one run from what its processes told."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torchlift.evidence.records import (
    FailedCapture,
    RecordedArchive,
    RecordedEvidence,
    RecordedLoad,
    RecordedSite,
    RecordedValue,
    RecordingProblem,
)
from torchlift.record.distributed_jobs import recorded_jobs
from torchlift.record.error_texts import reworded, the_same_in_every_run
from torchlift.record.source_places import SourcePlaces
from torchlift.record.spool import Event, Told, read_spool
from torchlift.record.values import ValueMaker, united

_READ = "torch.jit.load"


def assembled(spool: Path, root: Path, since: int) -> RecordedEvidence:
    """The evidence in the folder of a run; what concerns the command itself is still to be filled in.

    Args:
        spool: the folder.
        root: of the project.
        since: time in nanoseconds at which the command began.
    """
    told = read_spool(spool)
    places = SourcePlaces(root, since)
    stable = the_same_in_every_run(root.resolve())
    for event in told.of("failed", "call"):
        for key in {"message", "raised"} & event.keys():
            event[key] = stable(event[key])
    evidence = RecordedEvidence(processes=told.processes, with_torch=told.with_torch)
    versions = told.of("torch")
    if versions:
        evidence.torch, evidence.python = versions[0]["torch"], versions[0]["python"]
    maker = ValueMaker(told, places)
    writers: dict[str, set[str]] = defaultdict(set)
    evidence.sites, lost = _sites(told, places, maker, writers)
    evidence.files = _archives(told, places, writers)
    evidence.loads = _loads(told, places, maker)
    evidence.distributed = recorded_jobs(told, places)
    evidence.problems = [*lost, *_problems(told, places, evidence)]
    reworded(evidence, stable)
    return evidence


def _sites(
    told: Told, places: SourcePlaces, maker: ValueMaker, writers: dict[str, set[str]]
) -> tuple[list[RecordedSite], list[RecordingProblem]]:
    sites: dict[str, RecordedSite] = {}
    made: dict[str, list[tuple[RecordedValue, set[str]]]] = defaultdict(list)
    lost: dict[str, RecordingProblem] = {}
    for event in told.of("capture", "failed", "hit"):
        site = _site(event, places)
        if site is None:
            shown = places.shown(event["place"])
            what = "the source does not show which call this capture was"
            lost[shown or ""] = RecordingProblem(what, event["api"], shown)
            continue
        site = sites.setdefault(site.id, site)
        _count(site, event)
        if event["e"] == "capture" and event["object"] is not None:
            value = maker.value(event)
            value.proof = maker.proof(event)
            made[site.id].append((value, {one.content for one in value.wrote}))
    for site in sites.values():
        for value, contents in _numbered(made[site.id]):
            site.values.append(value)
            for content in contents:
                writers[content].add(f"{site.id}#{value.id}")
    return list(sites.values()), list(lost.values())


def _site(event: Event, places: SourcePlaces) -> RecordedSite | None:
    place = places.at(event["place"], event["api"])
    if place is None:
        return None
    file = event["place"][0]
    return RecordedSite(
        id=f"{file}:{place.line}:{place.column}:{event['api']}",
        file=file,
        line=place.line,
        column=place.column,
        end_line=place.end_line,
        end_column=place.end_column,
        api=event["api"],
        text_sha=place.text_sha,
        scope_sha=place.scope_sha,
        qualname=place.qualname,
        nth=place.nth,
    )


def _count(site: RecordedSite, event: Event) -> None:
    site.hits += 1
    test = event.get("test")
    if test is not None and test not in site.tests:
        site.tests.append(test)
    site.keywords = sorted({*site.keywords, *event.get("keywords", [])})
    if event["e"] == "failed":
        known = next(
            (one for one in site.failed if (one.error, one.message) == (event["error"], event["message"])), None
        )
        if known is None:
            known = FailedCapture(event["error"], event["message"], 0)
            site.failed.append(known)
        known.count += 1
        if test is not None and test not in known.tests:
            known.tests.append(test)


def _numbered(made: list[tuple[RecordedValue, set[str]]]) -> list[tuple[RecordedValue, set[str]]]:
    """The values of a site in an order that does not depend on which process was first; equal ones are one.

    Values of which several were made alike keep the proof that says least for them: a proof has to hold for all.
    """
    kept: dict[str, tuple[RecordedValue, set[str]]] = {}
    for value, contents in made:
        proof, wrote = value.proof, value.wrote
        value.proof, value.wrote = None, []
        key = json.dumps(asdict(value), sort_keys=True)
        value.proof, value.wrote = proof, wrote
        known = kept.setdefault(key, (value, contents))
        if known[0] is not value:
            known[1].update(contents)
            seen = {one.content for one in known[0].wrote}
            known[0].wrote += [one for one in wrote if one.content not in seen]
            if _strength(value) < _strength(known[0]):
                known[0].proof = value.proof
    ordered = [kept[key] for key in sorted(kept)]
    for number, (value, _) in enumerate(ordered, 1):
        value.id = number
    return ordered


def _strength(value: RecordedValue) -> tuple[bool, bool, bool]:
    proof = value.proof
    if proof is None:
        return (False, False, False)
    exported = proof.export is not None and proof.export.proved is not None
    return (exported, proof.eager is not None and proof.eager.equal, proof.unproved is None)


def _archives(told: Told, places: SourcePlaces, writers: dict[str, set[str]]) -> list[RecordedArchive]:
    found: dict[str, RecordedArchive] = {}
    for event in told.of("wrote", "read"):
        if event["content"] is not None:
            archive = found.setdefault(event["content"], RecordedArchive(event["content"]))
            archive.writers = sorted(writers[event["content"]])
            if event["e"] == "read":
                reader = f"{places.shown(event['place'])}:{_READ}"
                if event["place"] is not None and reader not in archive.readers:
                    archive.readers.append(reader)
    return list(found.values())


def _loads(told: Told, places: SourcePlaces, maker: ValueMaker) -> list[RecordedLoad]:
    found: dict[str, RecordedLoad] = {}
    for event in told.of("load", "read"):
        site = places.shown(event["place"])
        if site is None:
            continue
        is_script = event["e"] == "read"
        load = RecordedLoad(site, event["content"], is_script or event["torchscript"], event.get("weights_only"))
        load.unsafe_globals = event.get("unsafe_globals") or []
        load.refused = event.get("refused")
        place = places.at(event["place"], _READ if is_script else "torch.load")
        load.text_sha = None if place is None else place.text_sha
        known = found.setdefault(json.dumps(asdict(load), sort_keys=True), load)
        if is_script:
            known.calls = united([*known.calls, *maker.calls_of_loaded(event)])
    return list(found.values())


def _problems(told: Told, places: SourcePlaces, evidence: RecordedEvidence) -> list[RecordingProblem]:
    found: list[RecordingProblem] = []
    for event in told.of("problem"):
        site: Any = event["site"]
        problem = RecordingProblem(event["what"], event["error"], places.shown(site) if site else None)
        if problem not in found:
            found.append(problem)
    if told.cut:
        found.append(RecordingProblem(f"{told.cut} processes were killed in the middle of a line"))
    if told.unfinished:
        what = f"{told.unfinished} processes with torch did not say that they end: killed, or left by os._exit as workers are"
        found.append(RecordingProblem(what))
    found += [RecordingProblem("the file changed while the command ran", "", file) for file in sorted(places.changed)]
    if not evidence.with_torch:
        found.append(RecordingProblem("0 processes with torch were seen"))
    return found
