"""What is proved to be the own rank, and which tests differ by it."""

from __future__ import annotations

import ast

import pytest

from torchlift.rules.distributed.ranks.proven_rank import differs_by_rank
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
    assert differs_by_rank(*last_test(code))


@pytest.mark.parametrize(
    "code",
    [
        "def f(rank):\n    if rank == 0: pass",
        "if dist.get_rank() >= 0: pass",
        "if dist.get_rank() != -1: pass",
        "if dist.get_rank() < dist.get_world_size(): pass",
        "if 'RANK' in os.environ: pass",
        "if os.environ.get('RANK') is None: pass",
        "if os.environ.get('RANK', '') != '': pass",
        "if os.environ.get('LOCAL_RANK'): pass",
        "ranks = [0]\nif len(ranks) > dist.get_world_size(): pass",
        "r = load()\nif dist.is_initialized():\n    r = dist.get_rank()\nif r == 0: pass",
        "if ranks in known: pass",
        "class A:\n    def f(self, rank):\n        self.r = rank\n        if self.r == 0: pass",
    ],
)
def test_what_is_the_same_everywhere_or_not_proved_does_not_differ(code: str) -> None:
    assert not differs_by_rank(*last_test(code))
