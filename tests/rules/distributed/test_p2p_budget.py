"""How much of a project's exchanges is read: counted in steps, so that every machine gives up at the same place."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import analyse_files

from torchlift.project import Project
from torchlift.rules.distributed.p2p.interpreter import rank_state, reading
from torchlift.rules.distributed.p2p.interpreter.reading import Reading, exchanges
from torchlift.source import SourceText


def source_of(functions: int) -> str:
    """A file whose functions send and receive in many ways, each of which is read."""
    body = "".join(
        f"    if cfg.option_{i}:\n        b.append(dist.isend(x, (r + {i}) % w))\n    else:\n"
        f"        b.append(dist.irecv(x, (r - {i}) % w))\n"
        for i in range(1, 4)
    )
    return (
        "import argparse\nimport torch.distributed as dist\ncfg = argparse.ArgumentParser().parse_args()\n"
        + "".join(
            f"\n\ndef exchange_{n}(x):\n    r, w = dist.get_rank(), dist.get_world_size()\n    b = []\n{body}"
            "    for one in b:\n        one.wait()\n"
            for n in range(functions)
        )
    )


def read_first(files: int) -> list[Reading]:
    """How the first of several such files is read."""
    texts = {f"f{n}.py": SourceText.from_bytes(source_of(12).encode()) for n in range(files)}
    project = Project(Path("/nowhere"), sorted(texts), texts)
    view = project.view("f0.py")
    assert view is not None
    return exchanges(view, project)


def test_a_file_with_many_exchanges_is_not_read_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_state, "MOST_STEPS_OF_FILE", 16_000)
    readings = read_first(1)
    assert readings[0].is_known
    assert "too much of this kind" in readings[-1].unknown[0]


def test_many_files_share_what_is_read_of_a_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_state, "MOST_STEPS_OF_PROJECT", 30_000)
    monkeypatch.setattr(rank_state, "_MOST_STEPS", 2_000)
    alone, beside = (sum(one.is_known for one in read_first(files)) for files in (1, 8))
    assert 0 < beside < alone


def test_a_file_is_read_once_for_all_who_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    monkeypatch.setattr(reading, "Code", lambda view, project: read.append(view.path) or code(view, project))
    start = "import torch\nimport torch.distributed as dist\n\n\ndef init():\n    dist.init_process_group('nccl')\n"
    # TL201 asks about the exchanges of all files, TL210 about those of its own.
    analyse_files(tmp_path, {"a.py": start, "b.py": source_of(1)}, codes=frozenset({"TL201", "TL210", "TL218"}))
    assert read == ["b.py"]


code = reading.Code
