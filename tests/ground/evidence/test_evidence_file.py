"""The evidence file: read back as written, the same bytes for the same evidence, a sentence for whatever is wrong."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path

import jsonschema
import pytest

import torchlift.evidence
from torchlift.evidence.file import EvidenceError, evidence_text, read_evidence, write_evidence
from torchlift.evidence.records import (
    EagerProof,
    ExportProof,
    Proof,
    RecordedCall,
    RecordedEvidence,
    RecordedExample,
    RecordedSite,
    RecordedValue,
    SourceDefinition,
    Touch,
    TriedVariant,
    evidence_schema,
)
from torchlift.json_records.schema import schema_text

SCHEMA = Path(torchlift.evidence.__file__).with_name("evidence.schema.json")


def evidence() -> RecordedEvidence:
    calls = [
        RecordedCall("forward", [f"float32[{rows},3]", {"tuple": [1, {"str": "relu"}]}], {"scale": 2.5}, count=rows)
        for rows in (4, 2)
    ]
    proof = Proof(
        calls=6,
        eager=EagerProof(equal=True),
        export=ExportProof("as given", tried=[TriedVariant("as given")]),
        probes={"rows + 3": "same"},
        seconds=3.8,
    )
    value = RecordedValue(
        1,
        SourceDefinition("net:Net", file="net.py", line=8, source_sha="ab"),
        example=RecordedExample(["float32[4,3]"]),
        calls=calls,
        operations=[Touch("eval", ["b.py:3:1", "a.py:2:1"])],
        proof=proof,
    )
    sites = [
        RecordedSite(
            f"{file}:15:14:torch.jit.trace", file, 15, 14, 15, 40, "torch.jit.trace", "9f3c", "77", values=[value]
        )
        for file in ("b.py", "a.py")
    ]
    return RecordedEvidence(torch="2.13.0+cpu", command=["pytest", "tests"], exit=0, sites=sites)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    given = evidence()
    write_evidence(tmp_path / ".torchlift" / "evidence.json", given)
    assert read_evidence(tmp_path / ".torchlift" / "evidence.json") == given
    assert [path.name for path in (tmp_path / ".torchlift").iterdir()] == ["evidence.json"]


def test_equal_evidence_in_another_order_is_equal_bytes() -> None:
    one, other = evidence(), evidence()
    chance = random.Random(1)
    for site in other.sites:
        for value in site.values:
            chance.shuffle(value.calls)
            value.operations[0].sites.reverse()
    other.sites.reverse()
    other.sites[0].values[0].calls.reverse()
    assert evidence_text(one) == evidence_text(copy.deepcopy(other))


def test_the_published_schema_is_that_of_the_records() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == schema_text(evidence_schema()), (
        "run: python -m torchlift.evidence.records > src/torchlift/evidence/evidence.schema.json"
    )


def test_the_written_file_is_as_the_schema_says() -> None:
    jsonschema.validate(json.loads(evidence_text(evidence())), evidence_schema())


def test_keys_of_a_later_torchlift_are_ignored(tmp_path: Path) -> None:
    value = json.loads(evidence_text(evidence()))
    value["invented"] = value["sites"][0]["invented"] = {"later": 1}
    (tmp_path / "e.json").write_text(json.dumps(value))
    assert read_evidence(tmp_path / "e.json") == evidence_in_order()


def evidence_in_order() -> RecordedEvidence:
    given = evidence()
    evidence_text(given)
    return given


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is not JSON: Expecting property name"),
        ("[]", "Evidence is a JSON object, but this is a list."),
        ("{}", "It has no `schema_version`: `torchlift record -- COMMAND` writes evidence files."),
        (
            '{"schema_version": 2}',
            "It has schema 2, and this torchlift reads schema 1: upgrade torchlift.",
        ),
        ('{"schema_version": "1"}', '`schema_version` should be a whole number, but is the string "1".'),
        ('{"schema_version": 1, "sites": [{"id": 3}]}', "`sites[0].id` should be a string, but is the number 3."),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_what_is_no_evidence_is_refused_with_a_sentence(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "e.json"
    path.write_text(text)
    with pytest.raises(EvidenceError) as caught:
        read_evidence(path)
    assert str(path) in str(caught.value)
    assert reason in str(caught.value)


def test_a_missing_file_says_how_one_is_made(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match=r"none\.json cannot be read: No such file or directory. `torchlift record"):
        read_evidence(tmp_path / "none.json")
