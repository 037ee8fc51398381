"""Machines for the tests of checks: the healthy ones of `fixtures/machines`, and ill ones made by changing them.

What stands in `fixtures/machines/alike` is like another machine but for what its file changes.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from torchlift.doctor import facts as records
from torchlift.doctor.facts import Facts
from torchlift.doctor.facts.facts_json import from_json

FIXTURES = Path(__file__).parents[2] / "fixtures"
MACHINES = tuple(sorted(path.stem for path in (FIXTURES / "machines").rglob("*.json")))


@cache
def read(machine: str) -> str:
    """The facts of a machine of `fixtures/machines`, as a facts file has them."""
    alike = FIXTURES / "machines" / "alike" / f"{machine}.json"
    if not alike.exists():
        return (FIXTURES / "machines" / f"{machine}.json").read_text(encoding="utf-8")
    told = json.loads(alike.read_text(encoding="utf-8"))
    return json.dumps(_changed(told["like"], told["change"]))


def facts_file(machine: str, folder: Path) -> str:
    """The path of a facts file with this machine, below `folder`, named as it is."""
    path = folder / f"{machine}.json"
    path.write_text(read(machine), encoding="utf-8")
    return str(path)


def healthy(machine: str) -> Facts:
    """A machine of `fixtures/machines`, fresh at every call."""
    return from_json(json.loads(read(machine)))


def changed(machine: str, change: Mapping[str, Any]) -> Facts:
    """The machine "empty" or one of `fixtures/machines` with some values replaced.

    A key is a path such as "nvml.driver_version". In a list a step is an index, "*" for every item, "+" to append, or
    the `name` of an item ("packages.triton.version") or its file's name without the suffix ("libraries.libtorch_cuda");
    "-" before the last step removes that item.
    """
    return from_json(_changed(machine, change))


def _changed(machine: str, change: Mapping[str, Any]) -> Any:
    raw: Any = {"schema": 1} if machine == "empty" else json.loads(read(machine))
    for path, value in change.items():
        _change(raw, path.split("."), copy.deepcopy(value), path)
    return raw


def _change(node: Any, steps: list[str], value: Any, path: str) -> None:
    step, rest = steps[0], steps[1:]
    if isinstance(node, list):
        if step == "+":
            node.append(value)
            return
        if step == "*":
            assert node, f"{path}: nothing in the list"
            keys: list[Any] = list(range(len(node)))
        elif step.startswith("-"):
            del node[_index(node, step[1:], path)]
            return
        else:
            keys = [_index(node, step, path)]
    else:
        assert isinstance(node, dict), f"{path}: no such place"
        if step.startswith("-"):
            assert step[1:] in node, f"{path}: nothing to remove"
            del node[step[1:]]
            return
        if not rest:
            node[step] = value
            return
        keys = [step]
        if node.get(step) is None:
            node[step] = [] if rest[0] == "+" else {}
    for key in keys:
        if rest:
            _change(node[key], rest, copy.deepcopy(value), path)
        else:
            node[key] = copy.deepcopy(value)


def _index(items: list[Any], step: str, path: str) -> int:
    if step.isdecimal():
        return int(step)
    for index, item in enumerate(items):
        if isinstance(item, dict) and step in (item.get("name"), Path(item.get("path", "")).name.partition(".")[0]):
            return index
    raise AssertionError(f"{path}: no item {step!r}")


@dataclass(frozen=True)
class Place:
    """A field of one record inside some facts, and what a probe that learned little might leave there."""

    record: Any
    name: str
    values: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{type(self.record).__name__}.{self.name}"


def places(record: Any) -> Iterator[Place]:
    """Every field inside, with None where that is allowed and the empty, odd and extreme values of its type."""
    for name, values in _odd_fields(type(record)):
        value = getattr(record, name)
        yield Place(record, name, values)
        # The first two stand for all the records of a list.
        for inner in value[:2] if isinstance(value, list) else [value]:
            if is_dataclass(inner):
                yield from places(inner)


@cache
def _odd_fields(kind: Any) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    hints = get_type_hints(kind)
    return tuple((item.name, tuple(_odd_values(hints[item.name]))) for item in fields(kind))


@contextmanager
def recorded_reads() -> Iterator[set[tuple[int, str]]]:
    """The fields of facts that are read meanwhile, each as the id of its record and its name."""
    reads: set[tuple[int, str]] = set()

    def read(record: Any, name: str) -> Any:
        reads.add((id(record), name))
        return object.__getattribute__(record, name)

    kinds: list[Any] = [value for value in vars(records).values() if isinstance(value, type) and is_dataclass(value)]
    for kind in kinds:
        kind.__getattribute__ = read
    try:
        yield reads
    finally:
        for kind in kinds:
            del kind.__getattribute__


def _odd_values(kind: Any) -> Iterator[Any]:
    choices = get_args(kind) if NoneType in get_args(kind) else (kind,)
    for choice in choices:
        if choice is NoneType:
            yield None
        elif choice is str:
            yield from ("", "?\udcff", "9999.1", "-1")
        elif choice is bool:
            yield from (True, False)
        elif choice in (int, float):
            yield from (0, -1, 10**12)
        elif get_origin(choice) in (list, dict):
            yield get_origin(choice)()
            if get_args(choice) == (str,):
                yield ["", "?\udcff"]
