"""What is the own rank, proven or plausible, and which tests differ by it."""

from __future__ import annotations

import ast

import pytest

from torchlift.rules.distributed.facts.launchers import OWN_NUMBERS
from torchlift.rules.distributed.ranks.own_rank import Strength, differs_by_rank
from torchlift.source import SourceText
from torchlift.view import ModuleView

_HEAD = "import os\nimport torch.distributed as dist\nfrom torch.multiprocessing import spawn\n"


def last_test(code: str) -> tuple[ModuleView, ast.expr]:
    source = SourceText.from_bytes((_HEAD + code).encode())
    view = ModuleView("example.py", source, source.parse(), "example")
    return view, [node for node in ast.walk(view.tree) if isinstance(node, ast.If)][-1].test


@pytest.mark.parametrize(
    "code",
    [
        "if dist.get_rank() == 0: pass",
        "if not dist.get_rank(): pass",
        "if int(os.environ['RANK']) % 2: pass",
        "if os.environ.get('LOCAL_RANK') == '0': pass",
        "r = dist.get_rank()\nif r in [0, 1] and True: pass",
        "r = 0\nif dist.is_initialized():\n    r = dist.get_rank()\nif r == 0: pass",
        "def rank():\n    return dist.get_rank() if dist.is_initialized() else 0\nif rank() > 1: pass",
        "def main():\n    return dist.get_rank() == 0\nif main(): pass",
        "class A:\n    def __init__(self):\n        self.r = dist.get_rank()\n    def f(self):\n        if self.r // 8 == 1: pass",
        "def work(index):\n    if index == 0: pass\nspawn(work, nprocs=2)",
        "first = dist.get_rank() == 0\nif first: pass",
    ],
)
def test_a_question_about_the_own_rank_differs_from_rank_to_rank(code: str) -> None:
    assert differs_by_rank(*last_test(code), "proven")
    assert differs_by_rank(*last_test(code), "plausible")


@pytest.mark.parametrize("strength", ["proven", "plausible"])
@pytest.mark.parametrize(
    "code",
    [
        "if dist.get_rank() >= 0: pass",
        "if dist.get_rank() != -1: pass",
        "if dist.get_rank() < dist.get_world_size(): pass",
        "def f(rank):\n    world = dist.get_world_size()\n    if rank < world: pass",
        "def f(rank):\n    if rank in (-1, None): pass",
        "if 'RANK' in os.environ: pass",
        "if os.environ.get('RANK') is None: pass",
        "if os.environ.get('RANK', '') != '': pass",
        "if os.environ.get('LOCAL_RANK'): pass",
        "ranks = [0]\nif len(ranks) > dist.get_world_size(): pass",
        "if ranks in known: pass",
    ],
)
def test_what_is_the_same_everywhere_does_not_differ(code: str, strength: Strength) -> None:
    assert not differs_by_rank(*last_test(code), strength)


@pytest.mark.parametrize(
    "code",
    [
        "def f(rank):\n    if rank == 0: pass",
        "r = load()\nif dist.is_initialized():\n    r = dist.get_rank()\nif r == 0: pass",
        "class A:\n    def f(self, rank):\n        self.r = rank\n        if self.r == 0: pass",
    ],
)
def test_what_is_not_proved_does_not_surely_differ(code: str) -> None:
    assert not differs_by_rank(*last_test(code), "proven")


@pytest.mark.parametrize(
    "code",
    [
        "def f(rank):\n    if rank == 0: pass",
        "def f(rank, local_rank):\n    if rank == local_rank: pass",
        "if self.local_rank == 0: pass",
        "if mesh.get_rank() == 0: pass",
        "class A:\n    def f(self, rank):\n        self.r = rank\n        if self.r == 0: pass",
    ],
)
def test_a_parameter_or_attribute_called_rank_differs_plausibly(code: str) -> None:
    assert differs_by_rank(*last_test(code), "plausible")


@pytest.mark.parametrize("strength", ["proven", "plausible"])
@pytest.mark.parametrize("variable", sorted(OWN_NUMBERS))
def test_the_rank_variable_of_every_launcher_is_the_own_rank(variable: str, strength: Strength) -> None:
    for read in (f"os.environ['{variable}']", f"os.getenv('{variable}', '0')", f"os.environ.get('{variable}') or 0"):
        assert differs_by_rank(*last_test(f"if int({read}) == 0: pass"), strength), read


def test_both_strengths_know_the_variables_of_mpich_and_open_mpi() -> None:
    assert {"PMI_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_PROCID", "MV2_COMM_WORLD_RANK"} <= OWN_NUMBERS


@pytest.mark.parametrize(
    "started", ["mp.spawn(work, nprocs=2)", "mp.spawn(fn=work, nprocs=2)", "mp.start_processes(work, nprocs=2)"]
)
def test_the_index_of_a_spawned_process_is_its_rank_however_it_is_started(started: str) -> None:
    code = f"import torch.multiprocessing as mp\ndef work(index):\n    if index == 0: pass\n{started}"
    assert differs_by_rank(*last_test(code), "proven")
