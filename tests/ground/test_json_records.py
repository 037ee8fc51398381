"""A data class is its JSON reader, its JSON writer and its JSON schema."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, make_dataclass
from enum import Enum
from typing import Annotated, Any, Literal

import jsonschema
import pytest

from torchlift.json_records import FLATTENED, REQUIRED
from torchlift.json_records.reading import RecordError, read_record
from torchlift.json_records.schema import schema_of
from torchlift.json_records.writing import plain


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Wheel:
    """A part that turns."""

    size: float
    """Metres."""
    maker: str | None = None


@dataclass
class Car:
    """What is read."""

    name: str
    wheels: list[Wheel] = field(default_factory=list)
    spare: Wheel | None = None
    plates: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Owner:
    """Who has it."""

    person: str
    """As in the passport."""


@dataclass(frozen=True)
class Sale:
    """What is
    only written."""

    version: Literal[3]
    owner: Owner = field(metadata=FLATTENED)
    car: Car = field(default_factory=lambda: Car("none"))
    """It
    drives."""
    colour: Colour | None = None
    size: Literal["small", "large"] = "small"
    corners: tuple[tuple[str, ...], int] = ((), 0)
    count: Annotated[int, {"minimum": 0}] = 0
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass
class Untold:
    """A type that JSON does not know."""

    size: complex


@dataclass
class TwoRoads:
    """Written, with one part that is read too."""

    wheel: Wheel
    car: Car


@dataclass
class Form:
    """Which says what it is."""

    version: Literal[2] = field(default=2, metadata=REQUIRED)
    size: Literal["small", "large"] = "small"


OtherCar = make_dataclass("Car", ["name"], namespace={"__module__": __name__})


@dataclass
class Garage:
    """Two records of one name."""

    car: Car
    other: OtherCar  # type: ignore[valid-type]


CAR = Car("one", [Wheel(1.5), Wheel(2.0, "x")], Wheel(0.5), {"DE": 5})
SALE = Sale(3, Owner("Ada"), CAR, Colour.BLUE, "large", (("a", "b"), 1), 2, {"free": [True]})


def test_a_record_comes_back_from_json_as_it_was() -> None:
    assert read_record(Car, json.loads(json.dumps(plain(CAR)))) == CAR


def test_a_written_record_has_every_field_and_the_keys_of_a_flattened_one_in_its_place() -> None:
    written = plain(SALE)
    assert list(written) == ["version", "person", "car", "colour", "size", "corners", "count", "notes"]
    assert written["person"] == "Ada"
    assert written["car"]["wheels"][0] == {"size": 1.5, "maker": None}
    assert written["colour"] == "blue"
    assert written["corners"] == [["a", "b"], 1]


def test_the_schema_describes_what_is_written_and_takes_no_less() -> None:
    schema = schema_of(Sale, "A sale", readable=[Car])
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    written = plain(SALE)
    validator.validate(written)
    for key in written:
        assert not validator.is_valid({other: value for other, value in written.items() if other != key}), key
    for key, wrong in [("version", 4), ("person", None), ("colour", "green"), ("size", None), ("count", -1)]:
        assert not validator.is_valid({**written, key: wrong}), key
    for corners in ([["a"]], [["a"], 1, 2], [["a"], "1"], [[1], 1]):
        assert not validator.is_valid({**written, "corners": corners}), corners
    assert validator.is_valid({**written, "colour": None})


def test_what_is_read_too_may_leave_out_what_has_a_default() -> None:
    schema = schema_of(Sale, "A sale", readable=[Car])
    assert schema["$defs"]["Car"]["required"] == ["name"]
    assert schema["$defs"]["Wheel"]["required"] == ["size"]
    assert schema_of(Sale, "A sale")["$defs"]["Wheel"]["required"] == ["size", "maker"]


def test_docstrings_of_classes_and_fields_are_its_descriptions_on_one_line() -> None:
    schema = schema_of(Sale, "A sale", readable=[Car])
    assert schema["title"] == "A sale"
    assert schema["description"] == "What is only written."
    assert schema["properties"]["person"] == {"type": "string", "description": "As in the passport."}
    assert schema["properties"]["car"] == {"$ref": "#/$defs/Car", "description": "It drives."}
    assert list(schema["$defs"]) == ["Wheel", "Car"]


def test_a_record_cannot_be_read_in_one_place_and_only_written_in_another() -> None:
    with pytest.raises(TypeError, match="Wheel is both"):
        schema_of(TwoRoads, "Both", readable=[Car])


def test_two_records_of_one_name_do_not_meet_in_a_schema() -> None:
    with pytest.raises(TypeError, match="Two records of this schema are called Car"):
        schema_of(Garage, "Garage")


def test_a_type_that_json_does_not_know_has_no_schema() -> None:
    with pytest.raises(TypeError, match="complex"):
        schema_of(Untold, "Untold")


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (None, "This should be an object, but is null."),
        ({}, "`name` is missing."),
        ({"name": 1}, "`name` should be a string, but is the number 1."),
        ({"name": "a", "wheels": {}}, "`wheels` should be a list, but is an object."),
        ({"name": "a", "wheels": [{"size": 1}, {}]}, "`wheels[1].size` is missing."),
        ({"name": "a", "spare": []}, "`spare` should be an object, but is a list."),
        ({"name": "a", "plates": []}, "`plates` should be an object, but is a list."),
        ({"name": "a", "plates": {"DE": True}}, "`plates.DE` should be a whole number, but is true."),
        ({"name": "a", "wheels": [{"size": 10**400}]}, "`wheels[0].size` should be a number, but is the number 1000"),
    ],
)
def test_another_value_is_refused_with_its_place_and_what_it_is(value: Any, sentence: str) -> None:
    with pytest.raises(RecordError) as caught:
        read_record(Car, value)
    assert str(caught.value).startswith(sentence)
    assert len(str(caught.value)) < 150


def test_a_key_that_is_not_known_is_ignored_and_a_whole_float_is_a_whole_number() -> None:
    assert read_record(Car, {"name": "a", "plates": {"DE": 2.0}, "doors": 4}) == Car("a", plates={"DE": 2})


def test_a_choice_is_read_as_one_of_its_values_and_a_required_one_is_not_left_out() -> None:
    assert read_record(Form, {"version": 2.0, "size": "large"}) == Form(2, "large")
    assert schema_of(Form, "A form", readable=[Form])["required"] == ["version"]
    with pytest.raises(RecordError, match=r"`version` is missing\."):
        read_record(Form, {})
    with pytest.raises(RecordError, match='`size` should be "small" or "large", but is true'):
        read_record(Form, {"version": 2, "size": True})
