"""A class made by torchlift's `dataclass` is what the standard decorator makes of it."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import KW_ONLY, field
from functools import cached_property
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlift.lazy_dataclass import dataclass

ARGUMENTS = [
    {"frozen": frozen, "eq": eq, "slots": slots}
    for frozen in (False, True)
    for eq in (False, True)
    for slots in (False, True)
]


def both(arguments: dict[str, bool]) -> list[type]:
    def bare() -> type:
        class Point:
            """A point."""

            x: int
            y: tuple[int, ...] = ()
            seen: list[str] = field(default_factory=list)
            hidden: str = field(default="h", repr=False)
            late: int = field(default=7, init=False)

        return Point

    return [decorator(**arguments)(bare()) for decorator in (dataclass, dataclasses.dataclass)]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
def test_instances_have_the_same_values_and_look_the_same(arguments: dict[str, bool]) -> None:
    ours, theirs = both(arguments)
    for given_values, named in (((1,), {}), ((1, (2,)), {}), ((1,), {"seen": ["a"], "hidden": "b"}), ((), {"x": 3})):
        one, other = ours(*given_values, **named), theirs(*given_values, **named)
        assert repr(one) == repr(other).replace(theirs.__qualname__, ours.__qualname__)
        names = [item.name for item in dataclasses.fields(one)]
        assert names == [item.name for item in dataclasses.fields(other)]
        assert [getattr(one, name) for name in names] == [getattr(other, name) for name in names]
    assert ours(1).seen is not ours(1).seen
    assert (ours(1) == ours(1)) is (theirs(1) == theirs(1)) is arguments["eq"]
    assert ours(1) != ours(2) and ours(1) != theirs(1)
    assert hasattr(ours(1), "__dict__") is hasattr(theirs(1), "__dict__") is not arguments["slots"]
    assert dataclasses.replace(ours(1), x=5).x == 5 and dataclasses.asdict(ours(1)) == dataclasses.asdict(theirs(1))
    assert ours.__match_args__ == theirs.__match_args__ and ours.__doc__ == "A point."


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
def test_wrong_arguments_are_refused(arguments: dict[str, bool]) -> None:
    for kind in both(arguments):
        for values, named in (((), {}), ((1,), {"late": 2}), ((1, 2, 3, 4, 5), {}), ((), {"z": 1})):
            with pytest.raises(TypeError, match="argument"):
                kind(*values, **named)


@pytest.mark.parametrize("slots", [False, True])
def test_a_frozen_instance_does_not_change(slots: bool) -> None:
    for kind in both({"frozen": True, "slots": slots}):
        point: Any = kind(1)
        with pytest.raises(dataclasses.FrozenInstanceError):
            point.x = 2
        with pytest.raises(dataclasses.FrozenInstanceError):
            del point.x
        assert point.x == 1


def test_what_may_change_has_no_hash_and_what_is_frozen_has_one_of_its_values() -> None:
    @dataclass
    class Open:
        x: int

    @dataclass(frozen=True)
    class Frozen:
        x: int

    @dataclass(frozen=True)
    class Own:
        x: list[int]

        def __hash__(self) -> int:
            return 5

    @dataclass(eq=False)
    class Identity:
        x: int

    with pytest.raises(TypeError, match="unhashable"):
        hash(Open(1))
    assert {Frozen(1), Frozen(1), Frozen(2)} == {Frozen(2), Frozen(1)} and hash(Own([])) == 5
    one = Identity(1)
    assert one != Identity(1) and hash(one) == object.__hash__(one)


@dataclass(frozen=True)
class Base:
    x: int
    y: int = 2

    @cached_property
    def sum(self) -> int:
        return self.x + self.y


@dataclass(frozen=True)
class Derived(Base):
    z: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "z", self.z * 10)


@dataclass(frozen=True, slots=True)
class Slotted:
    x: int
    y: list[int]


@dataclass(frozen=True)
class Empty:
    pass


def test_fields_may_be_left_out_of_comparison_and_hash() -> None:
    for decorator in (dataclass, dataclasses.dataclass):

        @decorator(frozen=True)
        class Partly:
            x: int
            note: str = field(default="", compare=False)
            more: dict[str, int] = field(default_factory=dict, hash=False)

        assert Partly(1, "a") == Partly(1, "b") and Partly(1, more={"a": 1}) != Partly(1)
        assert hash(Partly(1, "a", {"a": 1})) == hash(Partly(1)) != hash(Partly(2))


def test_a_class_inherits_fields_and_runs_what_comes_after_its_initialiser() -> None:
    derived = Derived(1, z=4)
    assert repr(derived) == "Derived(x=1, y=2, z=40)" and derived.sum == 3
    assert derived != Base(1) and Base(1) == Base(1, 2) and Empty() == Empty() and hash(Empty()) == hash(Empty())


@given(st.integers(), st.lists(st.integers()))
def test_instances_are_copied_and_sent_to_other_processes(x: int, y: list[int]) -> None:
    for instance in (Base(x), Derived(x), Slotted(x, y), Empty()):
        for again in (copy.copy(instance), copy.deepcopy(instance), pickle.loads(pickle.dumps(instance))):
            assert again == instance and type(again) is type(instance)


def test_an_instance_that_holds_itself_is_shown() -> None:
    looped = Slotted(1, [])
    looped.y.append(looped)  # type: ignore[arg-type]
    assert repr(looped) == "Slotted(x=1, y=[...])"


def test_fields_below_kw_only_are_given_by_name_alone() -> None:
    @dataclass(frozen=True)
    class Evidence:
        what: str
        _: KW_ONLY
        needed: str
        source: str = ""
        seen: str = field(default="", kw_only=False)

    evidence = Evidence("a", "b", needed="c")
    assert evidence == Evidence("a", seen="b", needed="c", source="")
    assert [item.name for item in dataclasses.fields(evidence)] == ["what", "needed", "source", "seen"]
    assert dataclasses.replace(evidence, needed="d").needed == "d"
    with pytest.raises(TypeError, match="takes from 2 to 3 positional arguments"):
        Evidence("a", "b", "c")


def test_a_class_whose_fields_are_all_given_by_name_takes_none_by_position() -> None:
    @dataclass(kw_only=True)
    class Check:
        id: str = "x"
        title: str

    assert Check(title="t") == Check(id="x", title="t")
    with pytest.raises(TypeError):
        Check("x", "t")  # type: ignore[misc]
