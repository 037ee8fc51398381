"""Exchanges read with names at their word: what is taken for what, what ends, what hangs, what stays open."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from example_project import all_findings, analyse_files

from torchlift.finding import Finding, Safety, Severity
from torchlift.project import Project
from torchlift.rules.distributed.p2p.interpreter.code import Code
from torchlift.rules.distributed.p2p.interpreter.reading import attempted
from torchlift.rules.distributed.p2p.interpreter.values import Layout
from torchlift.rules.distributed.p2p.program import Exchange, Post, RankProgram
from torchlift.source import SourceText

HEAD = "import os\nimport torch\nimport torch.distributed as dist\n\n\n"
CODES = frozenset({"TL210", "TL211", "TL212", "TL213", "TL222"})
WAIT = "a.wait()\nb.wait()\n"


def findings(folder: Path, code: str) -> list[Finding]:
    result = analyse_files(folder, {"example.py": HEAD + code}, codes=CODES)
    assert not result.failures
    return all_findings(result)


def function(parameters: str, body: str, before: str = "") -> str:
    return f"{before}def exchange(x, y, {parameters}):\n" + "".join(f"    {line}\n" for line in body.splitlines())


def parameters_of(code: str) -> list[str]:
    """The parameters of `exchange` behind the two tensors."""
    return code[: code.index("):")].partition("(x, y, ")[2].split(", ")


def ring(to: str, source: str) -> str:
    return f"a = dist.isend(x, {to})\nb = dist.irecv(y, {source})\n{WAIT}"


HANGS = {
    "next and previous rank": function("next_rank, prev_rank", ring("next_rank", "prev_rank")),
    "where to and where from": function("send_to, recv_from", ring("send_to, group=None", "recv_from")),
    "dst and src": function("dst, src", ring("dst", "src")),
    "the rank and the number of ranks": function("rank, world_size", ring("(rank + 1) % world_size", "(rank - 1) % world_size")),
    "the rank in arguments": function("args", ring("(args.rank + 1) % args.world_size", "(args.rank - 1) % args.world_size")),
    "the rank in settings": function("cfg", ring("(cfg.dist.rank + 1) % cfg.dist.num_ranks", "(cfg.dist.rank - 1) % cfg.dist.num_ranks")),
    "functions of a library": function(
        "group", ring("mpu.get_pipeline_model_parallel_next_rank()", "mpu.get_pipeline_model_parallel_prev_rank()"),
        "from megatron import mpu\n\n\n",
    ),
    "a list of ranks in a module": function(
        "rank", ring("RANKS[(rank + 1) % len(RANKS)]", "RANKS[(rank - 1) % len(RANKS)]"), "from settings import RANKS\n\n\n"
    ),
    "a device mesh": function(
        "mesh", "me, count = mesh.get_local_rank('cp'), mesh.size(0)\n" + ring("(me + 1) % count", "(me - 1) % count")
    ),
    "the stage of a pipeline in the environment": function(
        "n", "stage = int(os.environ['STAGE_ID'])\ncount = int(os.environ['NUM_STAGES'])\n"
        + ring("(stage + 1) % count", "(stage - 1) % count"),
    ),
    "a group that is handed in": function(
        "next_rank, prev_rank, group", ring("next_rank, group=group", "prev_rank, group=group")
    ),
}  # fmt: skip

ENDS = {
    "from one rank to those of a list, whose handles a library keeps": function(
        "rank, src, dsts",
        "if rank == src:\n    for dst in dsts:\n        dist.isend(x, dst)\nelse:\n    keep(y, [dist.irecv(y, src)])\n",
        "from library import keep\n\n\n",
    ),
    "to one rank from those of a list": function(
        "rank, dst, srcs",
        "if rank == dst:\n    works = [dist.irecv(y, src) for src in srcs]\n    handler.submit(y, works)\nelse:\n    dist.isend(x, dst)\n",
        "from library import handler\n\n\n",
    ),
    "the stages of a pipeline": function(
        "is_first_stage, is_last_stage, next_rank, prev_rank",
        "works = []\nif not is_last_stage:\n    works.append(dist.isend(x, next_rank))\n"
        "if not is_first_stage:\n    works.append(dist.irecv(y, prev_rank))\nfor work in works:\n    work.wait()\n",
    ),
    "optional tensors, even ranks first": function(
        "send_next, recv_prev, group",
        "reqs = []\nif get_pp_rank() % 2 == 0:\n    if send_next is not None:\n"
        "        reqs.append(dist.isend(send_next, get_pp_next_rank(), group=group))\n    if recv_prev is not None:\n"
        "        reqs.append(dist.irecv(recv_prev, get_pp_prev_rank(), group=group))\nelse:\n    if recv_prev is not None:\n"
        "        reqs.append(dist.irecv(recv_prev, get_pp_prev_rank(), group=group))\n    if send_next is not None:\n"
        "        reqs.append(dist.isend(send_next, get_pp_next_rank(), group=group))\nreturn reqs\n",
        "from mpu import get_pp_rank, get_pp_next_rank, get_pp_prev_rank\n\n\n",
    ),
    "no next rank at the end": function(
        "next_rank, prev_rank",
        "works = []\nif next_rank is not None:\n    works.append(dist.isend(x, next_rank))\n"
        "if prev_rank is not None:\n    works.append(dist.irecv(y, prev_rank))\nfor work in works:\n    work.wait()\n",
    ),
    "two groups that are handed in": function(
        "stage, forth, back",
        "works = []\nif not stage.is_last:\n    works += [dist.isend(x, stage.next_rank, group=forth)]\n"
        "    works += [dist.irecv(y, stage.next_rank, group=back)]\nif not stage.is_first:\n"
        "    works += [dist.isend(y, stage.prev_rank, group=back), dist.irecv(x, stage.prev_rank, group=forth)]\n"
        "for work in works:\n    work.wait()\n",
    ),
    "one sends to the others": function(
        "cfg",
        "if cfg.rank == cfg.src_or_dst:\n    works = [dist.isend(x, other) for other in cfg.dst_ranks]\n"
        "elif cfg.rank in cfg.dst_ranks:\n    works = [dist.irecv(y, cfg.src_or_dst)]\n"
        "for work in works:\n    work.wait()\n",
    ),
    "where to send stands in the settings, and is the root": function(
        "cfg",
        "if cfg.rank == cfg.src_or_dst:\n    works = [dist.irecv(y[i], one) for i, one in enumerate(cfg.src_ranks)]\n"
        "else:\n    works = [dist.isend(x, cfg.dst_rank)]\nfor work in works:\n    work.wait()\n",
    ),
    "all send to the root": function(
        "rank, size, root",
        "reqs = []\nif rank == root:\n    for i in range(size):\n        if i != rank:\n"
        "            reqs.append(dist.irecv(y[i], src=i))\nelse:\n    reqs.append(dist.isend(x, dst=root))\nreturn reqs\n",
    ),
}  # fmt: skip

OPEN = {
    "from one rank, which waits for an answer": function(
        "rank, src, dsts",
        "if rank == src:\n    for dst in dsts:\n        a = dist.isend(x, dst)\n        keep(a, dist.irecv(y, dst))\nelse:\n    keep(dist.irecv(y, src))\n    dist.send(x, src)\n",
        "from library import keep\n\n\n",
    ),
    "a plan": function("plan", ring("plan.first", "plan.second")),
    "what was received": function("n", "dist.recv(y, 0)\n" + ring("int(y[0])", "int(y[1])")),
    "a partner, who may receive first": function("peer", ring("peer", "peer")),
    "a ring that optional tensors may leave open": function(
        "send_next, recv_prev, next_rank, prev_rank",
        "works = []\nif send_next is not None:\n    works.append(dist.isend(send_next, next_rank))\n"
        "if recv_prev is not None:\n    works.append(dist.irecv(recv_prev, prev_rank))\nfor work in works:\n    work.wait()\n",
    ),
    "a name of something else": function("rank_loss, source_text", ring("rank_loss.size(0)", "source_text[0]")),
}


NUMBERS = {
    "rank": "rank", "world_size": "world", "size": "world", "root": "0", "next_rank": "(rank + 1) % world",
    "prev_rank": "(rank - 1) % world", "send_to": "(rank + 1) % world", "recv_from": "(rank - 1) % world",
    "dst": "(rank + 1) % world", "src": "(rank - 1) % world", "group": "None", "is_first_stage": "rank == 0",
    "is_last_stage": "rank == world - 1",
}  # fmt: skip
NUMBERED = {
    name: code
    for name, code in {**HANGS, **ENDS}.items()
    if code.startswith("def") and "environ" not in code and set(parameters_of(code)) <= NUMBERS.keys()
}


def read(code: str, layout: Layout | None, name: str, size: int) -> Exchange:
    """What the ranks of one world do in a function of `code`."""
    project = Project(Path("/nowhere"), ["example.py"], {"example.py": SourceText(code)})
    view = project.view("example.py")
    assert view is not None
    body = next(n for n in ast.walk(view.tree) if isinstance(n, ast.FunctionDef) and n.name == name)
    return attempted(Code(view, project), project, body, size, {}, layout).exchange


@pytest.mark.parametrize("name", NUMBERED)
def test_names_are_taken_for_the_numbers_that_a_caller_would_give(name: str) -> None:
    code = HEAD + NUMBERED[name]
    given = ", ".join(f"{one}={NUMBERS[one]}" for one in parameters_of(NUMBERED[name]))
    called = f"{code}\n\ndef call(x, y):\n    rank, world = dist.get_rank(), dist.get_world_size()\n    exchange(x, y, {given})\n"
    for size in (2, 3, 5):
        by_name = read(code, Layout.RING, "exchange", size)
        assert any(by_name.programs)
        assert [plain(one) for one in by_name.programs] == [
            plain(one) for one in read(called, None, "call", size).programs
        ]


def plain(program: RankProgram) -> list[object]:
    """A program without the names of groups."""
    return [
        [(one.kind, one.line, one.peer) for one in step.operations] if isinstance(step, Post) else step
        for step in program
    ]


@pytest.mark.parametrize("name", HANGS)
def test_a_ring_under_names_that_say_so_hangs_and_the_message_says_what_was_taken(name: str, tmp_path: Path) -> None:
    (found,) = findings(tmp_path, HANGS[name])
    assert (found.code, found.severity) == ("TL210", Severity.WARNING)
    assert found.message.startswith("If `") and "with 3 ranks or more this exchange hangs" in found.message
    assert found.fix is None or found.safety is not Safety.SAFE


@pytest.mark.parametrize("name", ENDS)
def test_what_ends_under_its_names_is_not_reported(name: str, tmp_path: Path) -> None:
    assert findings(tmp_path, ENDS[name]) == []


@pytest.mark.parametrize("name", OPEN)
def test_what_names_do_not_settle_is_a_remark(name: str, tmp_path: Path) -> None:
    (found,) = findings(tmp_path, OPEN[name])
    assert (found.code, found.severity, found.fix) == ("TL212", Severity.INFO, None)


def test_a_ring_without_the_guards_of_a_pipeline_is_another_thing(tmp_path: Path) -> None:
    guarded = ENDS["the stages of a pipeline"]
    bare = guarded.replace("if not is_last_stage", "if True").replace("if not is_first_stage", "if True")
    assert [one.code for one in findings(tmp_path, bare)] == ["TL210"]


def test_both_directions_of_a_pipeline_in_one_group_hang(tmp_path: Path) -> None:
    one = ENDS["two groups that are handed in"].replace("group=back", "group=forth")
    assert [found.code for found in findings(tmp_path, one)] == ["TL212"]


def test_even_ranks_first_is_what_saves_optional_tensors(tmp_path: Path) -> None:
    ordered = ENDS["optional tensors, even ranks first"]
    assert [one.code for one in findings(tmp_path, ordered.replace("% 2 == 0", ">= 0"))] == ["TL212"]
