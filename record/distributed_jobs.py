"""Jobs with a process group, each from what its ranks told."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict

from torchlift.evidence.records import RecordedJob, RecordedTransfer
from torchlift.record.source_places import SourcePlaces
from torchlift.record.spool import Event, Told


def recorded_jobs(told: Told, places: SourcePlaces) -> list[RecordedJob]:
    """The jobs; those that did the same are one."""
    jobs: dict[str, RecordedJob] = {}
    of_process: dict[str, RecordedJob] = {}
    devices: dict[int, set[str]] = defaultdict(set)
    for event in told.events:
        if event["e"] == "group":
            key = json.dumps([event["job"], event["world"]])
            made = RecordedJob(event["world"], event["backend"], None, places.shown(event["place"]), destroyed=False)
            of_process[event["process"]] = jobs.setdefault(key, made)
        job = of_process.get(event["process"])
        if job is None:
            continue
        if event["e"] == "cut":
            job.cut += event["count"]
        elif event["e"] == "transfer":
            job.destroyed = job.destroyed or event["api"] == "destroy_process_group"
            job.sequence += _transfers(event, places)
            devices[id(job)] |= {part["device"] for part in event.get("parts", [event]) if part.get("device")}
    for job in jobs.values():
        job.sequence.sort(key=lambda transfer: transfer.rank)  # stable: the order of each rank stays
        job.device = ", ".join(sorted(devices[id(job)])) or None
    different = {json.dumps(asdict(job), sort_keys=True): job for job in jobs.values()}
    return list(different.values())


def _transfers(event: Event, places: SourcePlaces) -> list[RecordedTransfer]:
    site = places.shown(event["place"])
    rank, group = event["rank"], event["group"]
    found = [RecordedTransfer(rank, event["api"], event.get("peer"), event.get("tensor"), site, group)]
    for part in event.get("parts", []):
        found.append(RecordedTransfer(rank, part["api"], part["peer"], part["tensor"], site, group))
    return found
