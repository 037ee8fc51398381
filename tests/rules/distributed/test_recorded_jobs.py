"""What recorded runs tell of process groups: backend, ranks, and the order of sends and receives, as information."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import analyse_files
from recorded_evidence import place_of

from torchlift.evidence.known import KnownRuns
from torchlift.evidence.records import RecordedJob, RecordedTransfer

FILES = {
    "ring.py": "import torch.distributed as dist\n\n\ndef start():\n    dist.init_process_group()\n\n\n"
    "def exchange(x, y, a, b):\n    a = dist.isend(x, a)\n    b = dist.irecv(y, b)\n    a.wait()\n    b.wait()\n"
}


def at(called: str) -> str:
    place = place_of(FILES["ring.py"], called)
    return f"ring.py:{place.line}:{place.column}"


def posted(rank: int, api: str, peer: int, site: str | None = None) -> RecordedTransfer:
    return RecordedTransfer(rank, api, peer, "float32[3]", site or at(f"dist.{api}"))


def notes(folder: Path, job: RecordedJob | None) -> dict[str, tuple[str, ...]]:
    evidence = KnownRuns("e.json", jobs=(job,)) if job is not None else None
    result = analyse_files(folder, FILES, evidence=evidence, unsafe=True)
    assert not result.failures
    found = [finding for one in result.outcomes for finding in (*one.fixed, *one.left)]
    return {finding.code: finding.notes for finding in found}


def job(*sequence: RecordedTransfer, cut: int = 0) -> RecordedJob:
    return RecordedJob(2, "gloo", "cpu", at("dist.init_process_group"), sequence=list(sequence), cut=cut)


RING = (posted(0, "isend", 1), posted(0, "irecv", 1), posted(1, "isend", 0), posted(1, "irecv", 0))
MATCHED = (posted(0, "isend", 1), posted(0, "irecv", 1), posted(1, "irecv", 0), posted(1, "isend", 0))
BATCHED = tuple(
    one
    for rank in (0, 1)
    for one in (
        RecordedTransfer(rank, "batch_isend_irecv", site="ring.py:9:1"),
        posted(rank, "isend", 1 - rank, "ring.py:9:1"),
        posted(rank, "irecv", 1 - rank, "ring.py:9:1"),
    )
)


def test_without_evidence_nothing_is_added(tmp_path: Path) -> None:
    assert notes(tmp_path, None)["TL212"] == ()


@pytest.mark.parametrize(
    ("sequence", "cut", "said"),
    [
        (RING, 0, "In that order it would not end where each rank has one queue: rank 0 waits at its isend"),
        (MATCHED, 0, "In that order every message meets its peer also where each rank has one queue."),
        (BATCHED, 0, "In that order every message meets its peer also where each rank has one queue."),
        (MATCHED[:3], 0, "rank 0 waits at its irecv"),
        (RING, 5, "The end of it was not recorded."),
    ],
)
def test_an_open_question_has_the_order_that_was_seen(
    tmp_path: Path, sequence: tuple[RecordedTransfer, ...], cut: int, said: str
) -> None:
    (note,) = notes(tmp_path, job(*sequence, cut=cut))["TL212"]
    assert note.startswith("In a recorded run, gloo with 2 ranks on cpu: rank 0 isend to 1")
    assert said in note


def test_an_initialisation_has_the_backend_that_was_seen(tmp_path: Path) -> None:
    assert notes(tmp_path, job())["TL203"] == ("In a recorded run: gloo with 2 ranks on cpu.",)


def test_another_exchange_than_the_recorded_one_has_no_note(tmp_path: Path) -> None:
    assert notes(tmp_path, job(posted(0, "isend", 1, "ring.py:1:1")))["TL212"] == ()
