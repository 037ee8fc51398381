"""Findings about the NCCL engine of torch 2.15 are for those who move to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlift.migrate.result import Mode
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Settings
from torchlift.versions import TorchVersion

CODE = """\
import torch
import torch.distributed as dist


def setup(rank: int):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")


def shift(x, y):
    rank, world = dist.get_rank(), dist.get_world_size()
    a = dist.isend(x, (rank + 1) % world)
    b = dist.irecv(y, (rank - 1) % world)
    a.wait()
    b.wait()


def later(x, group):
    group._get_backend(torch.device("cuda"))._set_default_timeout(3)
    dist.irecv(x)
"""


@pytest.mark.parametrize(
    ("target", "expected"),
    [((2, 14), {"TL216"}), ((2, 15), {"TL201", "TL210", "TL216", "TL236"})],
)
def test_what_the_new_engine_changes_is_reported_to_those_who_move_to_it(
    target: tuple[int, int], expected: set[str], tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text(CODE)
    codes = frozenset(code for code in all_rules() if code.startswith("TL2"))
    settings = Settings(min_torch=TorchVersion(2, 13), target=TorchVersion(*target))
    result = analyse(RunOptions(tmp_path, ("a.py",), Mode.CHECK, codes, False, settings))
    found = [one for outcome in result.outcomes for one in (*outcome.left, *outcome.fixed)]
    assert {one.code for one in found} == expected


@pytest.mark.parametrize("minor", [14, 15])
def test_a_suppression_for_a_later_torch_is_not_unused(minor: int, tmp_path: Path) -> None:
    code = CODE.replace('group("nccl")', 'group("nccl")  # torchlift: ignore[TL201]')
    (tmp_path / "a.py").write_text(code)
    settings = Settings(min_torch=TorchVersion(2, 13), target=TorchVersion(2, minor))
    result = analyse(RunOptions(tmp_path, ("a.py",), Mode.CHECK, frozenset({"TL201", "TL901"}), False, settings))
    found = [one.code for outcome in result.outcomes for one in (*outcome.left, *outcome.fixed)]
    assert found == []
