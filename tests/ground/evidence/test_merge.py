"""Two evidence files as one: united where they agree, apart where they do not, the later source wins."""

from __future__ import annotations

import copy

from torchlift.evidence.file import evidence_text
from torchlift.evidence.merge import merged
from torchlift.evidence.records import (
    ExportProof,
    Proof,
    RecordedArchive,
    RecordedCall,
    RecordedEvidence,
    RecordedSite,
    RecordedValue,
    SourceDefinition,
    Touch,
    WrittenArchive,
)


def run(
    rows: int, *, variant: str = "as given", scope: str = "s", content: str = "c0", line: int = 3
) -> RecordedEvidence:
    value = RecordedValue(
        1,
        SourceDefinition("net:Net"),
        calls=[RecordedCall("forward", [f"float32[{rows},3]"], tests=[f"t.py::{rows}"])],
        operations=[Touch("eval", ["a.py:9:1"])],
        wrote=[WrittenArchive(content, "m.pt", "a.py:4:1")],
        proof=Proof(calls=2, export=ExportProof(variant)),
    )
    site = RecordedSite(f"a.py:{line}:1:torch.jit.trace", "a.py", line, 1, line, 9, "torch.jit.trace", "t", scope)
    site.hits, site.values = 1, [value]
    archive = RecordedArchive(content, [f"{site.id}#1"], ["b.py:2:1:torch.jit.load"])
    return RecordedEvidence(command=["pytest", str(rows)], exit=0, processes=1, sites=[site], files=[archive])


def test_values_that_were_proved_alike_become_one_with_the_calls_of_both() -> None:
    both = merged(run(4), run(7))
    (site,) = both.sites
    (value,) = site.values
    assert [call.args for call in value.calls] == [["float32[4,3]"], ["float32[7,3]"]]
    assert value.proof is not None
    assert (site.hits, value.proof.calls, both.processes) == (2, 4, 2)
    assert [run.command for run in both.further] == [["pytest", "7"]]


def test_the_same_calls_are_counted_and_not_listed_twice() -> None:
    (site,) = merged(run(4), run(4)).sites
    assert [call.count for call in site.values[0].calls] == [2]


def test_values_that_were_proved_otherwise_stay_apart_and_keep_their_archives() -> None:
    both = merged(run(4), run(7, variant="ones doubled", content="c1"))
    (site,) = both.sites
    assert [value.id for value in site.values] == [1, 2]
    assert {archive.content: archive.writers for archive in both.files} == {
        "c0": [f"{site.id}#1"],
        "c1": [f"{site.id}#2"],
    }


def test_a_site_whose_function_changed_is_that_of_the_later_run() -> None:
    both = merged(run(4), run(7, scope="other"))
    assert [call.args for site in both.sites for value in site.values for call in value.calls] == [["float32[7,3]"]]


def test_a_site_that_moved_stands_where_the_later_run_saw_it() -> None:
    both = merged(run(4), run(7, line=30, content="c1"))
    assert [(site.line, site.hits) for site in both.sites] == [(30, 2)]
    assert {writer for archive in both.files for writer in archive.writers} == {f"{both.sites[0].id}#1"}


def test_neither_file_is_changed_and_equal_evidence_stays_as_it_is_but_for_counts() -> None:
    one, other = run(4), run(7)
    before = copy.deepcopy((one, other))
    assert evidence_text(merged(one, other)) == evidence_text(merged(one, other))
    assert (one, other) == before
