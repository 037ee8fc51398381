"""Every row of the table of distributed names, checked on the installed torch with processes that talk to each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from example_project import analyse_files
from installed_torch import FIND, INSTALLED
from noted_proofs import compared
from torch_programs import TorchPrograms

from torchlift.migrate.result import Mode
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.distributed.facts.distributed_names import DISTRIBUTED_NAMES
from torchlift.rules.renaming import MovedName
from torchlift.rules.rule import Settings
from torchlift.testing import FreshProcesses, Program, Verdict
from torchlift.versions import TorchVersion

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
        found = compared(
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


_TARGETS = (TorchVersion(2, 12), TorchVersion(2, 13), TorchVersion(2, 14), TorchVersion(2, 15))


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        ("dist.all_gather_into_tensor(x, x)", {"2.13": "TL252 manual", "2.14": "TL252 manual"}),
        ("dist.reduce_scatter_tensor(x, x)", {"2.13": "TL252 manual", "2.14": "TL252 manual"}),
        ("dist.all_gather_single(x, x)", {"2.12": "TL252 manual"}),
        ("dist.gather_into_tensor(x, x)", {}),
        ("dist.distributed_c10d._set_pg_timeout(x)", {"2.14": "TL250 safe", "2.15": "TL250 safe"}),
        ("dist.config.compile_on_one_rank = True", {"2.14": "TL250 safe", "2.15": "TL250 safe"}),
        ("dist.config.pipeline_per_direction_p2p = True", {"2.15": "TL250 unsafe"}),
        (
            "from torch.distributed._tensor import DTensor",
            dict.fromkeys(("2.12", "2.13", "2.14", "2.15"), "TL250 safe"),
        ),
        ("dist._all_gather_base(x, x)", dict.fromkeys(("2.12", "2.13", "2.14", "2.15"), "TL250 safe")),
    ],
)
def test_each_name_is_reported_for_the_releases_that_it_concerns(
    line: str, reported: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "example.py").write_text(f"import torch.distributed as dist\n\nx = 1\n{line}\n")
    found = {}
    for target in _TARGETS:
        settings = Settings(target=target, min_torch=target)
        codes = frozenset({"TL250", "TL251", "TL252"})
        result = analyse(RunOptions(tmp_path, ("example.py",), Mode.CHECK, codes, settings=settings))
        findings = [finding for outcome in result.outcomes for finding in (*outcome.left, *outcome.fixed)]
        if findings:
            found[str(target)] = ", ".join(f"{finding.code} {finding.safety.value}" for finding in findings)
    assert found == reported


@pytest.mark.parametrize(("lowest", "name"), [((1, 13), "all_gather_into_tensor"), ((2, 13), "all_gather_single")])
def test_the_newest_name_that_every_supported_release_has_is_taken(
    lowest: tuple[int, int], name: str, tmp_path: Path
) -> None:
    text = "from torch.distributed import _all_gather_base\n\n\ndef f(x, y):\n    _all_gather_base(x, y)\n"
    result = analyse_files(tmp_path, {"example.py": text}, min_torch=TorchVersion(*lowest))
    assert [outcome.new_text for outcome in result.outcomes] == [text.replace("_all_gather_base", name)]


@pytest.mark.parametrize(
    "text",
    [
        "from torch.distributed import reduce_op\n\nprint(reduce_op.SUM, reduce_op)\n",
        "from torch.distributed import reduce_op\n\nprint(reduce_op.SUM, reduce_op.__members__)\n",
        "from torch.distributed import reduce_op\n\nprint(reduce_op.SUM, globals()['reduce_op'])\n",
        "from torch.distributed.distributed_c10d import _get_global_rank as f\n\nprint(f(None, 0), map(f, []))\n",
        "from torch.distributed.distributed_c10d import _get_global_rank as f\n\nprint(f(None, **{'rank': 0}))\n",
        "import torch.distributed._sharded_tensor as st\n\nprint(st.ShardedTensor)\n",
        "from torch.distributed._sharded_tensor.api import ShardedTensor\n",
    ],
)
def test_what_would_not_work_under_the_new_name_is_left(text: str, tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"example.py": text}, unsafe=True)
    assert [outcome.new_text for outcome in result.outcomes] == [None]
    assert {finding.code for outcome in result.outcomes for finding in outcome.left} == {"TL250"}


def test_an_argument_is_renamed_also_where_the_function_keeps_its_name(tmp_path: Path) -> None:
    text = "from torch.distributed.distributed_c10d import _get_global_rank as f\n\nprint(f(None, 0), f(group=None, rank=1))\n"
    result = analyse_files(tmp_path, {"example.py": text})
    assert [outcome.new_text for outcome in result.outcomes] == [
        "from torch.distributed import get_global_rank as f\n\nprint(f(None, 0), f(group=None, group_rank=1))\n"
    ]


@pytest.mark.parametrize("old", ["_tensor.api.DTensor", "_tensor.DTensor", "_tensor.placement_types.Shard"])
def test_names_of_tensors_are_found_in_every_module_that_had_them(old: str, tmp_path: Path) -> None:
    module, _, name = f"torch.distributed.{old}".rpartition(".")
    result = analyse_files(tmp_path, {"a.py": f"from {module} import {name}\n\nprint({name})\n"})
    (outcome,) = result.outcomes
    assert f"from torch.distributed.tensor import {name}" in (outcome.new_text or "")
