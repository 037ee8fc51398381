"""Every number that the reader is certain of is the one that Python computes, whatever the arguments."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from example_project import all_findings, analyse_files
from exhaustive import is_exhaustive
from number_programs import ARGUMENTS, Raised, constructs, outcomes, random_construct

from torchlift.finding import Safety
from torchlift.project import Project
from torchlift.rules.distributed.p2p.interpreter.code import Code, FunctionNode
from torchlift.rules.distributed.p2p.interpreter.rank_run import RankRun
from torchlift.rules.distributed.p2p.interpreter.values import CodeRaises, CommonChoice, Open, Unknown, unknown_in
from torchlift.source import SourceText

NOT_KNOWN = object()


def _read(source: str) -> Any:
    """What `program` returns as one rank of two reads it; `NOT_KNOWN` where that is not certain."""
    project = Project(Path("/nowhere"), ["program.py"], {"program.py": SourceText.from_bytes(source.encode())})
    view = project.view("program.py")
    assert view is not None
    code = Code(view, project)
    (entry,) = (n for n in view.tree.body if isinstance(n, FunctionNode) and n.name == "program")
    run = RankRun(code, project, 0, 2, {})
    try:
        value = run.run(entry)
    except (Open, CommonChoice):
        return NOT_KNOWN
    except CodeRaises:
        return Raised
    return NOT_KNOWN if isinstance(value, Unknown) or unknown_in(value) is not None or run.assumed else value


def _disagreement(source: str) -> str | None:
    """What Python does and the reader does not allow, as text."""
    known = _read(source)
    if known is NOT_KNOWN:
        return None
    for arguments, ran in zip(ARGUMENTS, outcomes(source), strict=True):
        if ran is Raised and known is not Raised:
            continue  # a rank that fails does nothing more
        if type(ran) is not type(known) or ran != known:
            return f"flag, items, n = {arguments}: {ran!r}, read as {known!r}"
    return None


CONSTRUCTS = dict(constructs())


@pytest.mark.parametrize("part", range(8))
def test_a_number_that_is_called_certain_is_what_python_computes(part: int) -> None:
    chosen = list(CONSTRUCTS)[part::8]
    found = {name: _disagreement(CONSTRUCTS[name]) for name in chosen}
    assert {name: wrong for name, wrong in found.items() if wrong is not None} == {}


def test_the_reader_is_certain_of_what_does_not_depend_on_the_arguments() -> None:
    assert len(CONSTRUCTS) >= 700
    plain = (
        "for, known",
        "own decorator",
        "__bool__",
        "__eq__",
        "setattr",
        "keyword default in a comprehension",
        "super",
    )
    assert [name for name in plain if name in CONSTRUCTS and _read(CONSTRUCTS[name]) is NOT_KNOWN] == []
    assert sum(_read(source) is not NOT_KNOWN for source in list(CONSTRUCTS.values())[-200::2]) >= 25


@pytest.mark.parametrize("part", range(8))
def test_numbers_of_random_programs_are_what_python_computes(part: int) -> None:
    for seed in range(part, 5_000 if is_exhaustive() else 120, 8):
        assert _disagreement(random_construct(Random(seed))) is None, seed


@pytest.mark.parametrize("kept", [True, False])
def test_a_batch_is_not_safe_where_its_order_rests_on_a_number_that_is_not_certain(kept: bool, tmp_path: Path) -> None:
    doubt = "" if kept else "    for i in x:\n        if i == 3:\n            break\n    else:\n        k = 1\n"
    code = (
        "import torch\nimport torch.distributed as dist\n\n\ndef init():\n    dist.init_process_group('nccl')\n\n\n"
        "def exchange(x):\n    rank, world = dist.get_rank(), dist.get_world_size()\n    y = torch.zeros_like(x)\n    k = 0\n"
        f"{doubt}    if k == 0:\n        a = dist.isend(x, (rank + 1) % world)\n        b = dist.irecv(y, (rank - 1) % world)\n"
        "        a.wait()\n        b.wait()\n    return y\n"
    )
    result = analyse_files(tmp_path, {"example.py": code}, codes=frozenset({"TL210", "TL218"}))
    safe = [
        finding.code for finding in all_findings(result) if finding.fix is not None and finding.safety is Safety.SAFE
    ]
    assert safe == (["TL210"] if kept else [])
