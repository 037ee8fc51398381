"""Every row of the table of moved names, checked on the installed torch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from installed_torch import FIND, INSTALLED
from torch_programs import TorchPrograms, same

from torchlift.rules.api.tables.moved_names import MOVED_NAMES, PRIVATE_COLLATE_NAMES
from torchlift.rules.distributed.facts.distributed_names import DISTRIBUTED_NAMES
from torchlift.rules.renaming import MovedName

ALL = (*MOVED_NAMES, *PRIVATE_COLLATE_NAMES, *DISTRIBUTED_NAMES)
IDENTICAL = [row for row in ALL if not row.example and not row.stores and row.since <= INSTALLED]
FORWARDING = [row for row in MOVED_NAMES if row.example and row.removed is None]
REMOVED = [row for row in MOVED_NAMES if row.removed is not None]


def test_rows_without_an_example_are_the_same_object(tmp_path: Path, torch_programs: TorchPrograms) -> None:
    pairs = [(row.old, row.new) for row in IDENTICAL]
    code = f"{FIND}\nresult = json.dumps([[old, find(old) is find(new)] for old, new in {pairs!r}])"
    answers = json.loads(torch_programs.run(tmp_path, {}, code)[1])
    assert len(answers) == len(IDENTICAL) > 20
    assert [old for old, identical in answers if not identical] == []


@pytest.mark.parametrize("row", FORWARDING, ids=lambda row: row.old)
def test_a_row_with_an_example_gives_the_same_result(
    row: object, tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    assert hasattr(row, "old") and hasattr(row, "new") and hasattr(row, "example")
    if row.example == "FORWARDS":
        # Needs a GPU to run; the old function's source names the new one.
        code = f"{FIND}\nresult = {row.new.rpartition('.')[2]!r} in inspect.getsource(find({row.old!r}))"
        assert torch_programs.run(tmp_path, {}, code) == ["bool", True]
        return
    run = f"{FIND}\ntorch.manual_seed(0)\nf = find({{name!r}})\nresult = {row.example}"
    old = torch_programs.run(tmp_path, {}, run.format(name=row.old))
    new = torch_programs.run(tmp_path, {}, run.format(name=row.new))
    assert old[0] != "NoneType" and same(old, new)


@pytest.mark.parametrize("row", REMOVED, ids=lambda row: row.old)
def test_a_removed_name_is_gone_and_its_successor_is_there(
    row: object, tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    assert hasattr(row, "old") and hasattr(row, "new") and hasattr(row, "removed") and row.removed <= INSTALLED
    code = f"{FIND}\ntry:\n    find({row.old!r})\n    result = 'there'\nexcept AttributeError:\n    result = 'gone'\nfind({row.new!r})"
    assert torch_programs.run(tmp_path, {}, code) == ["str", "gone"]


def test_no_name_is_in_the_table_twice_and_none_is_a_target_of_another() -> None:
    old = [row.old for row in ALL]
    assert len(set(old)) == len(old)
    assert not {row.new for row in ALL} & set(old)


@pytest.mark.parametrize("row", ALL, ids=lambda row: row.old)
def test_every_usual_spelling_holds_a_trigger(row: MovedName) -> None:
    from torchlift.search.prefilter import Prefilter

    module, _, name = row.old.rpartition(".")
    matches = Prefilter(row.words).matches
    package, _, last = module.rpartition(".")
    assert matches(f"import {module}\n{row.old}()\n".encode())
    assert matches(f"from {module} import {name}\n{name}()\n".encode())
    assert matches(f"import {module} as m\nm.{name}()\n".encode())
    if package:
        assert matches(f"from {package} import {last}\n{last}.{name}()\n".encode())
        assert matches(f"from {package} import {last} as m\nm.{name}()\n".encode())
