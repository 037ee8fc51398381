"""Facts survive JSON, what is written obeys the published schema, and bad files are told in a sentence."""

from __future__ import annotations

import copy
import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from exhaustive import tried
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import torchlift.doctor
from torchlift.doctor.facts import (
    FACTS_SCHEMA,
    CallError,
    CodeImages,
    Facts,
    Gpu,
    Library,
    PciCard,
    ProbeFailure,
    System,
    Torch,
)
from torchlift.doctor.facts.facts_json import FactsError, from_json, read_facts, to_json
from torchlift.doctor.schemas import facts_schema
from torchlift.json_records.schema import schema_text

SCHEMA = Path(torchlift.doctor.__file__).with_name("facts.schema.json")
VALIDATOR = jsonschema.Draft202012Validator(facts_schema())

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
ANY_FACTS = st.builds(
    Facts,
    schema=st.just(FACTS_SCHEMA),
    pci=st.none() | st.lists(st.from_type(PciCard), max_size=2),
    gpus=st.lists(st.builds(Gpu, power_limit=FLOATS | st.none(), power_limit_default=FLOATS | st.none()), max_size=2),
    torch=st.none() | st.builds(Torch, import_seconds=FLOATS | st.none()),
    failures=st.lists(st.builds(ProbeFailure, seconds=FLOATS | st.none()), max_size=2),
    libraries=st.lists(st.from_type(Library), max_size=2),
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
EXAMPLE = Facts(
    torchlift="0.1",
    taken="2026-11-21T12:00:00+00:00",
    system=System(os="linux", machine="x86_64", wsl=0, compilers={"gcc": "/usr/bin/gcc"}, secure_boot=False),
    pci=[PciCard("0000:17:00.0", "10de", "2335", "0302")],
    gpus=[Gpu(0, name="NVIDIA H200", power_limit=700.0, errors=[CallError("nvmlDeviceGetMigMode", 3, "NotSupported")])],
    torch=Torch("/venv/torch", "2.15.0+cu132", import_seconds=1.5),
    libraries=[Library("/venv/torch/lib/libtorch_cuda.so", "torch", 5, [CodeImages("sass", "90a", 4)])],
    failures=[ProbeFailure("nvml", "crashed", "Killed by SIGSEGV", signal=11, seconds=0.25)],
)


def leaves(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of everything in a JSON value, itself excepted."""
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    return [found for key, item in items for found in [(*place, key), *leaves(item, (*place, key))]]


def put(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    changed = copy.deepcopy(value)
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = new
    return changed


@settings(max_examples=tried(25, 60), suppress_health_check=list(HealthCheck))
@given(ANY_FACTS)
def test_any_facts_come_back_from_json_text_as_they_were_and_obey_the_schema(facts: Facts) -> None:
    value = json.loads(json.dumps(to_json(facts)))
    assert from_json(value) == facts
    VALIDATOR.validate(value)


@settings(max_examples=tried(120, 300))
@given(st.sampled_from(leaves(to_json(EXAMPLE))), JSON_VALUES)
def test_the_schema_accepts_exactly_what_can_be_read(place: tuple[Any, ...], new: Any) -> None:
    value = put(to_json(EXAMPLE), place, new)
    try:
        from_json(value)
    except FactsError as error:
        assert not VALIDATOR.is_valid(value), error
    else:
        assert VALIDATOR.is_valid(value)


def test_every_field_is_written_even_when_it_is_not_known() -> None:
    written = to_json(Facts())
    assert set(written) == {field.name for field in fields(Facts)}
    assert set(written["system"]) == {field.name for field in fields(System)}


def test_what_a_newer_minor_version_added_is_ignored() -> None:
    value = to_json(EXAMPLE)
    value["quantum"] = {"qubits": 3}
    value["gpus"][0]["colour"] = "green"
    assert from_json(value) == EXAMPLE
    VALIDATOR.validate(value)


def test_what_an_older_minor_version_did_not_have_takes_its_default() -> None:
    facts = from_json({"schema": 1, "gpus": [{"index": 3}]})
    assert facts == Facts(gpus=[Gpu(3)])


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([1], "Facts are a JSON object, but this is a list."),
        (None, "Facts are a JSON object, but this is null."),
        ({}, "This JSON object has no `schema`, so it is no facts file"),
        ({"schema": "1"}, '`schema` should be a whole number, but is the string "1".'),
        ({"schema": True}, "`schema` should be a whole number, but is true."),
        ({"schema": 2}, "These facts have schema 2, written by a newer torchlift; this one reads schema 1."),
        ({"schema": 0}, "These facts have schema 0, but this torchlift reads schema 1: save them again"),
        ({"schema": 1, "gpus": {}}, "`gpus` should be a list, but is an object."),
        ({"schema": 1, "gpus": [{"index": 0}, 7]}, "`gpus[1]` should be an object, but is the number 7."),
        ({"schema": 1, "gpus": [{"index": "0"}]}, '`gpus[0].index` should be a whole number, but is the string "0".'),
        ({"schema": 1, "gpus": [{}]}, "`gpus[0].index` is missing."),
        ({"schema": 1, "system": {"memory": 1.5}}, "`system.memory` should be a whole number, but is the number 1.5."),
        ({"schema": 1, "hypothetical": 1}, "`hypothetical` should be true or false, but is the number 1."),
        ({"schema": 1, "taken": None}, "`taken` should be a string, but is null."),
        ({"schema": 1, "environment": {"PATH": 1}}, "`environment.PATH` should be a string, but is the number 1."),
        ({"schema": 1, "gpus": [{"index": 0, "power_limit": "7" * 99}]}, '`gpus[0].power_limit` should be a number, but is the string "777'),
    ],
)  # fmt: skip
def test_a_value_that_is_no_facts_is_refused_with_a_sentence(value: Any, sentence: str) -> None:
    with pytest.raises(FactsError) as caught:
        from_json(value)
    assert str(caught.value).startswith(sentence)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe\x00", b"[" * 100_000, b'{"schema": ' + b"9" * 5000, b"nonsense"]
)
def test_a_file_that_is_not_json_is_refused_with_a_sentence_that_names_it(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "facts.json"
    file.write_bytes(content)
    with pytest.raises(FactsError, match=r"facts\.json is not JSON: "):
        read_facts(file)


def test_a_file_with_an_unexpected_value_is_named_together_with_the_place(tmp_path: Path) -> None:
    file = tmp_path / "facts.json"
    file.write_text('{"schema": 1, "pci": [{}]}')
    with pytest.raises(FactsError, match=r"facts\.json cannot be used. `pci\[0\]\.address` is missing\."):
        read_facts(file)


@pytest.mark.parametrize("name", ["absent.json", "."])
def test_a_file_that_cannot_be_read_is_refused_with_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(FactsError, match="cannot be read: "):
        read_facts(tmp_path / name)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_written_by_another_shell_is_read(tmp_path: Path, encoding: str) -> None:
    facts = replace(EXAMPLE, system=System(os="windows", jetson_model="Ünïcode"))
    file = tmp_path / "facts.json"
    file.write_bytes(json.dumps(to_json(facts), ensure_ascii=False).encode(encoding))
    assert read_facts(file) == facts


def test_the_published_schema_is_the_one_of_the_record() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == schema_text(facts_schema()), (
        "run: python -m torchlift.doctor.schemas facts > doctor/facts.schema.json"
    )


def test_the_schema_is_a_valid_one_and_describes_what_the_record_describes() -> None:
    schema = facts_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$defs"]["Gpu"]["properties"]["power_limit"] == {"type": ["number", "null"], "description": "Watts."}
    assert schema["$defs"]["Gpu"]["description"].startswith("A GPU as NVML describes it")
