"""Every row of the table of distributed names, checked on the installed torch with processes that talk to each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import TorchPrograms
from test_moved_names import FIND, INSTALLED

from torchlift.rules.distributed.distributed_names import DISTRIBUTED_NAMES
from torchlift.rules.renaming import MovedName
from torchlift.testing import FreshProcesses, Program, Verdict, compare_programs

FUNCTIONS = [row for row in DISTRIBUTED_NAMES if row.example]
LATER = [row for row in DISTRIBUTED_NAMES if row.since > INSTALLED]
MODULES = [row for row in DISTRIBUTED_NAMES if row.module]
_PROGRAM = (
    FIND
    + """
import torch.distributed as dist

f = find({name!r})


def gathered(f):
    x = torch.arange(6.0).reshape(3, 2) * (dist.get_rank() + 1)
    whole = x.new_empty(3 * dist.get_world_size(), 2)
    handle = f(whole, x, async_op=True)
    handle.wait()
    again = torch.empty_like(whole)
    return [whole, f(again, 2 * x), again, f(output_tensor=whole, input_tensor=x, group=dist.group.WORLD)]


def scattered(f):
    x = torch.arange(12.0 * dist.get_world_size()) * (dist.get_rank() + 1)
    part, most = x.new_empty(12), x.new_empty(12)
    f(part, x)
    f(output=most, input=x, op=dist.ReduceOp.MAX, group=None, async_op=True).wait()
    return [part, most]
"""
)


def names_of(row: MovedName) -> list[str]:
    """The old name and every new one that the installed torch has, where the functions are defined."""
    names = [row.old, row.new, *([row.newer[0]] if row.newer and row.newer[1] <= INSTALLED else [])]
    return [f"torch.distributed.distributed_c10d.{name.rpartition('.')[2]}" for name in names]


@pytest.mark.parametrize("row", FUNCTIONS, ids=lambda row: row.old)
def test_old_and_new_do_the_same_on_every_rank(row: MovedName, tmp_path: Path, processes: FreshProcesses) -> None:
    run = f'dist.init_process_group("gloo")\nresult = {row.example}'
    before, *after = names_of(row)
    for number, new in enumerate(after):
        old = Program(_PROGRAM.format(name=before))
        found = compare_programs(
            old, Program(_PROGRAM.format(name=new)), run, ranks=(2, 3, 4), folder=tmp_path / str(number),
            timeout=60, processes=processes,
        )  # fmt: skip
        assert found.verdict is Verdict.SAME, str(found)


@pytest.mark.parametrize("row", [row for row in FUNCTIONS if not row.members], ids=lambda row: row.old)
def test_old_and_new_take_the_same_arguments(row: MovedName, tmp_path: Path, torch_programs: TorchPrograms) -> None:
    names = names_of(row)
    read = "[[p.name, p.kind.name, repr(p.default)] for p in inspect.signature(find(name)).parameters.values()]"
    code = f"{FIND}\nimport torch.distributed\nresult = json.dumps([{read} for name in {names}])"
    old, *others = json.loads(torch_programs.run(tmp_path, {}, code)[1])
    renamed = [[dict(row.keywords).get(name, name), kind, default] for name, kind, default in old]
    assert len(old) > 1 and all(new == renamed for new in others)


def test_the_operations_of_the_old_object_are_all_there(tmp_path: Path, torch_programs: TorchPrograms) -> None:
    (row,) = [row for row in DISTRIBUTED_NAMES if row.members]
    code = f"{FIND}\nold, new = find({row.old!r}), find({row.new!r})\n"
    code += f"result = json.dumps([[name, getattr(old, name) is getattr(new, name)] for name in {row.members}])"
    assert json.loads(torch_programs.run(tmp_path, {}, code)[1]) == [[name, True] for name in row.members]


@pytest.mark.parametrize("row", MODULES, ids=lambda row: row.old)
def test_a_moved_module_has_every_name_of_the_old_one(
    row: MovedName, tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    code = (
        f"from {row.old} import *\nold = dict(globals())\nimport {row.new} as new, json\n"
        "names = [name for name in old if name[0] != '_' and name != 'observe']\n"
        "result = json.dumps([len(names), [name for name in names if getattr(new, name, None) is not old[name]]])"
    )
    count, other = json.loads(torch_programs.run(tmp_path, {}, code)[1])
    assert count > 5 and other == []


@pytest.mark.parametrize("row", LATER, ids=lambda row: row.old)
def test_a_new_name_is_missing_before_its_release(
    row: MovedName, tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    code = f"{FIND}\nimport torch.distributed.config\ntry:\n    find({row.new!r})\n    result = 'there'\nexcept AttributeError:\n    result = 'missing'"
    assert torch_programs.run(tmp_path, {}, code) == ["str", "missing"]
