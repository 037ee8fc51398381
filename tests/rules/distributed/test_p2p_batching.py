"""Exchanges rewritten into one batch: the text, the refusals, and the same results on gloo with 2, 3 and 4 processes."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from exhaustive import is_exhaustive

from torchlift.finding import Safety
from torchlift.migrate.fix.rewrite.build import apply_edits, build_edits
from torchlift.migrate.fix.verify import problem_with
from torchlift.rules.distributed.p2p.batches.batching import BatchPlan, plan_batch
from torchlift.source import SourceText
from torchlift.testing import FreshProcesses, Program, run_program
from torchlift.testing.ranks import failed_ranks
from torchlift.view import ModuleView

_NAMES = frozenset({"isend", "irecv", "recv", "send", "post", "fetch"})
_HEAD = "import torch\nimport torch.distributed as dist\n\n\n"


def view_of(code: str) -> ModuleView:
    source = SourceText(code)
    return ModuleView("example.py", source, source.parse(), "example")


def operations(view: ModuleView) -> list[ast.Call]:
    """Calls of the function `exchange` whose name is that of a point-to-point operation."""
    function = next(n for n in ast.walk(view.tree) if isinstance(n, ast.FunctionDef) and n.name == "exchange")
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    return [call for call in calls if ast.unparse(call.func).rpartition(".")[2] in _NAMES]


def plan(code: str, *, safe: bool = True, gloo: bool = False) -> BatchPlan | str:
    view = view_of(code)
    return plan_batch(view, operations(view), safe=safe, gloo=gloo)


def rewritten(code: str, *, safe: bool = True, gloo: bool = False) -> str:
    view = view_of(code)
    found = plan_batch(view, operations(view), safe=safe, gloo=gloo)
    assert isinstance(found, BatchPlan), found
    edits = build_edits(view, found.fix.rewrites)
    text = apply_edits(view.source.text, edits)
    assert problem_with(view, edits, view.source.replaced(text)) is None
    return text


RING = _HEAD + (
    "def exchange(x, rank, world, group=None):\n"
    "    right, left = (rank + 1) % world, (rank - 1) % world\n"
    "    send = dist.isend(x, dst=right, group=group)\n"
    "    got = torch.empty_like(x)\n"
    "    recv = dist.irecv(got, src=left, group=group)\n"
    "    send.wait()\n"
    "    recv.wait()\n"
    "    return got\n"
)

EXCHANGES = {
    "ring": RING,
    "ring, receiving first and computing before the waits": _HEAD + "def exchange(x, rank, world):\n"
    "    got = torch.zeros_like(x)\n"
    "    a = dist.irecv(got, (rank - 1) % world)\n"
    "    b = dist.isend(x, (rank + 1) % world)\n"
    "    y = torch.sin(x).sum()  # goes on meanwhile\n"
    "    a.wait()\n"
    "    y = y + got.sum()\n"
    "    b.wait()\n"
    "    return got, y\n",
    "positional arguments": _HEAD + "def exchange(x, rank, world):\n"
    "    got = torch.zeros_like(x)\n"
    "    a = dist.isend(x, (rank + 1) % world, None, 0)\n"
    "    b = dist.irecv(got, (rank - 1) % world, dist.group.WORLD)\n"
    "    a.wait(); b.wait()\n"
    "    return got\n",
    "group ranks": _HEAD + "def exchange(x, rank, world):\n"
    "    got = torch.zeros_like(x)\n"
    "    a = dist.isend(tensor=x, group_dst=(rank + 1) % world)\n"
    "    b = dist.irecv(tensor=got, group_src=(rank - 1) % world)\n"
    "    for handle in (a, b):\n"
    "        handle.wait()\n"
    "    return got\n",
    "comments and calls of several lines": _HEAD + "def exchange(x, rank, world):\n"
    "    got = torch.zeros_like(x)\n"
    "    # to the right\n"
    "    a = dist.isend(\n"
    "        x,  # what\n"
    "        dst=(rank + 1) % world,  # where\n"
    "    )\n"
    "    # from the left\n"
    "    b = dist.irecv(\n"
    "        # into this\n"
    "        got,\n"
    "        src=(rank - 1) % world,\n"
    "    )  # received\n"
    "    # both\n"
    "    a.wait()  # sent\n"
    "    # and\n"
    "    b.wait()  # got it\n"
    "    return got\n",
    "names imported one by one": "from torch.distributed import irecv as fetch, isend as post\nimport torch\n\n\n"
    "def exchange(x, rank, world):\n"
    "    got = torch.zeros_like(x)\n"
    "    a, b = None, None\n"
    "    a = post(x, (rank + 1) % world)\n"
    "    b = fetch(got, (rank - 1) % world)\n"
    "    [request.wait() for request in [a, b]]\n"
    "    return got\n",
    "a list of requests": _HEAD + "def exchange(x, rank, world):\n"
    "    got = torch.zeros_like(x)\n"
    "    reqs = [dist.isend(x, (rank + 1) % world), dist.irecv(got, (rank - 1) % world)]\n"
    "    for req in reqs:\n"
    "        req.wait()\n"
    "    return got\n",
    "requests appended in loops, work before the waits": _HEAD + "def exchange(x, rank, world):\n"
    "    got = [torch.zeros_like(x) for _ in range(world)]\n"
    "    reqs: list[dist.Work] = []\n"
    "    for peer in range(world):\n"
    "        if peer != rank:\n"
    "            reqs.append(dist.irecv(got[peer], peer))\n"
    "            reqs.append(dist.isend(x, peer))\n"
    "    y = torch.cos(x)\n"
    "    y.sum().backward() if y.requires_grad else None\n"
    "    [r.wait() for r in reqs]\n"
    "    return got, y\n",
    "halo with neighbours on some sides": _HEAD + "def exchange(x, rank, world):\n"
    "    above, below = torch.zeros_like(x), torch.zeros_like(x)\n"
    "    reqs = []\n"
    "    if rank > 0:\n"
    "        reqs.append(dist.isend(x, rank - 1))\n"
    "        reqs.append(dist.irecv(above, rank - 1))\n"
    "    if rank < world - 1:\n"
    "        reqs.append(dist.isend(x, rank + 1))\n"
    "        reqs.append(dist.irecv(below, rank + 1))\n"
    "    if reqs:\n"
    "        for req in reqs:\n"
    "            req.wait()\n"
    "    return above, below\n",
    "open chain": _HEAD + "def exchange(x, rank, world):\n"
    "    got = torch.zeros_like(x)\n"
    "    reqs = list()\n"
    "    if rank > 0:\n"
    "        h = dist.irecv(got, rank - 1)\n"
    "        reqs.append(h)\n"
    "    if rank + 1 < world and world > 1:\n"
    "        reqs.append(dist.isend(x, rank + 1))\n"
    "    for req in reqs:\n"
    "        req.wait()\n"
    "    return got\n",
    "everyone sends to the first": _HEAD + "def exchange(x, rank, world):\n"
    "    got = [torch.zeros_like(x) for _ in range(world)]\n"
    "    reqs = []\n"
    "    if rank == 0:\n"
    "        for peer in range(1, world):\n"
    "            reqs.append(dist.irecv(got[peer], src=peer))\n"
    "    else:\n"
    "        reqs.append(dist.isend(x, dst=0))\n"
    "    for req in reqs:\n"
    "        req.wait()\n"
    "    return got\n",
    "a blocking receive": _HEAD + "def exchange(x, rank, world):\n"
    "    got = torch.zeros_like(x)\n"
    "    handle = dist.isend(x.contiguous(), dst=(rank + 1) % world)\n"
    "    dist.recv(got, src=(rank - 1) % world)  # from the left\n"
    "    total = got.sum()\n"
    "    handle.wait()\n"
    "    return got, total\n",
    "two blocking receives": _HEAD + "def exchange(x, rank, world):\n"
    "    halo = torch.zeros(2, *x.shape, dtype=x.dtype)\n"
    "    right, left = (rank + 1) % world, (rank - 1) % world\n"
    "    first, second = x + 1, x + 2\n"
    "    to_right = dist.isend(first, right)\n"
    "    to_left = dist.isend(second, left)\n"
    "    dist.recv(halo[0], left)\n"
    "    dist.recv(halo[1], right)\n"
    "    to_left.wait()\n"
    "    to_right.wait()\n"
    "    return halo\n",
    "inside a loop": _HEAD + "def exchange(x, rank, world):\n"
    "    for step in range(world - 1):\n"
    "        got = torch.empty_like(x)\n"
    "        a = dist.isend(x, (rank + 1) % world)\n"
    "        b = dist.irecv(got, (rank - 1) % world)\n"
    "        a.wait()\n"
    "        b.wait()\n"
    "        x = got + step\n"
    "    return x\n",
    "one exchange after the other": _HEAD + "def exchange(x, rank, world):\n"
    "    got, back = torch.empty_like(x), torch.empty_like(x)\n"
    "    right, left = (rank + 1) % world, (rank - 1) % world\n"
    "    a = dist.isend(x, right)\n"
    "    b = dist.irecv(got, left)\n"
    "    a.wait()\n"
    "    b.wait()\n"
    "    got *= 2\n"
    "    a = dist.isend(got, left)\n"
    "    dist.recv(back, right)\n"
    "    a.wait()\n"
    "    return got, back\n",
    "exchanges in two branches": _HEAD + "def exchange(x, rank, world):\n"
    "    got = torch.zeros_like(x)\n"
    "    for step in range(3):\n"
    "        if step % 2 == 0:\n"
    "            a = dist.isend(x, (rank + 1) % world)\n"
    "            dist.recv(got, (rank - 1) % world)\n"
    "            a.wait()\n"
    "        else:\n"
    "            a = dist.isend(got, (rank + 1) % world)\n"
    "            dist.recv(x, (rank - 1) % world)\n"
    "            a.wait()\n"
    "    return got, x\n",
    "two exchanges with the same names": _HEAD + "def exchange(x, rank, world):\n"
    "    return first(second(x, rank, world), rank, world)\n\n\n"
    + "".join(
        f"def {name}(x, rank, world):\n"
        "    got = torch.empty_like(x)\n"
        f"    a = dist.isend(x, (rank {sign} 1) % world)\n"
        f"    b = dist.irecv(got, (rank {other} 1) % world)\n"
        "    b.wait()\n"
        "    a.wait()\n"
        "    return got\n\n\n"
        for name, sign, other in (("first", "+", "-"), ("second", "-", "+"))
    ),
}

# Every program with a real and a complex tensor, one after the other in the same processes.
_JOB = """
import json, os, pickle
import torch
import torch.distributed as dist

rank, world, folder = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), os.getcwd()
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=world)
members = list(range(1, world)) if world > 2 else [0, 1]
group = dist.new_group(members)
results = {}
for name, programs in json.load(open(f"{folder}/programs.json")).items():
    print(name, flush=True)
    results[name] = []
    for code in programs:
        scope = {}
        exec(compile(code, "example.py", "exec"), scope)
        outcome = []
        for x in (torch.arange(4.0) + 10 * rank, torch.complex(torch.ones(3) * rank, torch.arange(3.0))):
            outcome.append(scope["exchange"](x, rank, world))
        if "in_group" in scope and rank in members:
            outcome.append(scope["in_group"](torch.arange(3.0) + rank, members.index(rank), members, group))
        results[name].append(outcome)
        dist.barrier()
pickle.dump(results, open(f"{folder}/result{rank}", "wb"))
dist.destroy_process_group()
"""

# A ring over a part of the ranks; peers are global ranks.
IN_GROUP = RING + (
    "\n\ndef in_group(x, place, members, group):\n"
    "    got = torch.empty_like(x)\n"
    "    a = dist.isend(x, dst=members[(place + 1) % len(members)], group=group)\n"
    "    b = dist.irecv(got, src=members[place - 1], group=group)\n"
    "    a.wait()\n"
    "    b.wait()\n"
    "    return got\n"
)


def migrated(name: str, code: str) -> str:
    """The program with every function that makes an exchange rewritten."""
    functions = {"two exchanges with the same names": ("first", "second"), "in a subgroup": ("exchange", "in_group")}
    for function in functions.get(name, ("exchange",)):
        view = view_of(code)
        node = next(n for n in ast.walk(view.tree) if isinstance(n, ast.FunctionDef) and n.name == function)
        calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
        calls = [call for call in calls if ast.unparse(call.func).rpartition(".")[2] in _NAMES]
        found = plan_batch(view, calls, safe=True)
        assert isinstance(found, BatchPlan), found
        assert found.fix.safety is Safety.SAFE, found.assumptions
        edits = build_edits(view, found.fix.rewrites)
        text = apply_edits(view.source.text, edits)
        assert problem_with(view, edits, view.source.replaced(text)) is None
        code = text
    return code


@pytest.mark.parametrize("world", [2, 3, 4] if is_exhaustive() else [3])
def test_batched_exchanges_give_every_rank_what_the_unbatched_ones_gave(
    world: int, tmp_path: Path, processes: FreshProcesses
) -> None:
    import pickle

    import torch

    programs = {name: (code, migrated(name, code)) for name, code in {**EXCHANGES, "in a subgroup": IN_GROUP}.items()}
    for name, (_, new) in programs.items():
        assert "batch_isend_irecv" in new, name
    (tmp_path / "programs.json").write_text(json.dumps(programs))
    done = run_program(Program(_JOB), ranks=world, folder=tmp_path, timeout=240, processes=processes)
    assert not failed_ranks(done), done.trace
    for rank in range(world):
        results = pickle.loads((tmp_path / f"result{rank}").read_bytes())
        for name, (old, new) in results.items():
            torch.testing.assert_close(new, old, rtol=0, atol=0, msg=lambda text, name=name: f"{name}: {text}")
    ring = pickle.loads((tmp_path / "result0").read_bytes())["ring"][1][0]
    # The first rank has what the last one sent.
    assert ring.tolist() == [10.0 * (world - 1) + i for i in range(4)]


def test_names_that_are_taken_are_left_alone() -> None:
    code = RING.replace("x, rank, world, group=None", "x, rank, world, req, group=None")
    assert "for req_2 in dist.batch_isend_irecv([send, recv]):\n        req_2.wait()\n" in rewritten(code)


def test_comments_keep_their_places() -> None:
    new = rewritten(EXCHANGES["comments and calls of several lines"])
    for comment in (
        "to the right",
        "what",
        "where",
        "from the left",
        "into this",
        "received",
        "both",
        "sent",
        "and",
        "got it",
    ):
        assert f"# {comment}\n" in new
    assert (
        "dist.P2POp(\n        dist.isend,\n        x,  # what\n        peer=(rank + 1) % world,  # where\n    )\n"
        in new
    )


def test_work_between_posting_and_waiting_still_overlaps() -> None:
    new = rewritten(EXCHANGES["ring, receiving first and computing before the waits"])
    assert new.index("dist.batch_isend_irecv([a, b])") < new.index("torch.sin(x)") < new.index("req.wait()")


def test_a_list_that_may_stay_empty_is_guarded_and_one_that_cannot_is_not() -> None:
    assert "in dist.batch_isend_irecv(reqs) if reqs else []:" in rewritten(EXCHANGES["open chain"])
    assert "in dist.batch_isend_irecv(reqs):" in rewritten(EXCHANGES["a list of requests"])
    assert "in dist.batch_isend_irecv(reqs):" in rewritten(EXCHANGES["halo with neighbours on some sides"])


def test_the_users_way_of_writing_the_module_is_kept() -> None:
    for head, name in (
        ("import torch\nfrom torch import distributed as td\n\n\n", "td"),
        ("import torch\nimport torch.distributed\n\n\n", "torch.distributed"),
        ("import torch\nimport torch.distributed.distributed_c10d as c10d\n\n\n", "c10d"),
    ):
        new = rewritten(RING.replace(_HEAD, head).replace("dist.", f"{name}."))
        assert (
            f"{name}.P2POp({name}.isend, x, peer=right" in new and f"in {name}.batch_isend_irecv([send, recv]):" in new
        )


def test_names_imported_for_the_old_calls_only_go_with_them() -> None:
    code = EXCHANGES["a blocking receive"].replace(
        "import torch.distributed as dist", "from torch.distributed import isend, recv"
    )
    new = rewritten(code.replace("dist.", ""))
    assert "torch.distributed.P2POp(isend, x.contiguous(), peer=" in new
    assert "receiving = torch.distributed.P2POp(torch.distributed.irecv, got, peer=" in new


def test_without_the_callers_word_the_fix_needs_review() -> None:
    found = plan(RING, safe=False)
    assert isinstance(found, BatchPlan)
    assert found.fix.safety is Safety.UNSAFE and "every rank of the group" in found.assumptions[0]


def test_calls_nobody_knows_are_named_as_an_assumption() -> None:
    found = plan(RING.replace("torch.empty_like(x)", "pool.take(x)"))
    assert isinstance(found, BatchPlan)
    assert found.fix.safety is Safety.UNSAFE
    assert found.assumptions == ("`pool.take(...)` must not communicate or change a tensor of the exchange",)


def test_a_function_that_is_told_where_to_write_is_an_assumption() -> None:
    found = plan(RING.replace("got = torch.empty_like(x)", "got = torch.empty(4)\n    torch.add(x, x, out=got)"))
    assert isinstance(found, BatchPlan)
    assert found.assumptions == ("`torch.add(...)` must not communicate or change a tensor of the exchange",)


def test_a_guarded_list_is_in_brackets_in_a_comprehension() -> None:
    new = rewritten(
        EXCHANGES["open chain"].replace("    for req in reqs:\n        req.wait()\n", "    [r.wait() for r in reqs]\n")
    )
    assert "[r.wait() for r in (dist.batch_isend_irecv(reqs) if reqs else [])]" in new


def test_membership_is_assumed_where_a_rank_may_leave_before_the_wait() -> None:
    code = RING.replace("    send.wait()\n", "    if group is None:\n        return x\n    send.wait()\n")
    found = plan(code)
    assert isinstance(found, BatchPlan)
    assert found.assumptions == ("this rank has to be a member of `group`",)


def body(*lines: str) -> str:
    return (
        _HEAD
        + "def exchange(x, got, rank, right, left, group=None, other=None):\n"
        + "".join(f"    {line}\n" for line in lines)
    )


SEND, RECV, WAITS = "a = dist.isend(x, right)", "b = dist.irecv(got, left)", ("a.wait()", "b.wait()")

REFUSED = {
    "a tag": (body(SEND[:-1] + ", tag=3)", RECV[:-1] + ", tag=3)", *WAITS), "tag"),
    "a tag in a variable": (body(SEND[:-1] + ", None, rank)", RECV, *WAITS), "tag"),
    "different groups": (body(SEND[:-1] + ", group)", RECV[:-1] + ", other)", *WAITS), "different groups"),
    "the group is bound anew": (
        body(SEND[:-1] + ", group)", "group = other", RECV[:-1] + ", group)", *WAITS),
        "the group is another one",
    ),
    "from any source": (body(SEND, "b = dist.irecv(got)", *WAITS), "from any rank"),
    "one direction only": (body(SEND, "b = dist.isend(x, left)", *WAITS), "stands elsewhere"),
    "open arguments": (body(SEND, "b = dist.irecv(got, **{'src': left})", *WAITS), "not all read"),
    "a time limit": (body(SEND, RECV, "a.wait()", "b.wait(3.0)"), "time limit"),
    "the request is asked": (body(SEND, RECV, "print(b.is_completed())", *WAITS), "more than waiting"),
    "the request is returned": (body(SEND, RECV, "a.wait()", "return b"), "more than waiting"),
    "the request is kept": (body(SEND, "self.b = dist.irecv(got, left)", "a.wait()"), "neither bound to a local name"),
    "the request is dropped": (body("dist.isend(x, right)", RECV, "b.wait()"), "dropped"),
    "nobody waits for the send": (body(SEND, RECV, "b.wait()"), "nothing waits"),
    "a global name": (body("global a", SEND, RECV, *WAITS), "not a local name"),
    "a closure waits": (body(SEND, RECV, "a.wait()", "return lambda: b.wait()"), "more than waiting"),
    "one after the other": (body(SEND, "a.wait()", RECV, "b.wait()"), "`a.wait()` waits between the operations"),
    "one of two exchanges has a tag": (
        body(SEND, RECV, *WAITS, SEND[:-1] + ", tag=1)", RECV[:-1] + ", tag=1)", *WAITS),
        "tag",
    ),
    "one of two exchanges is asked": (
        body(SEND, RECV, *WAITS, SEND, RECV, "b.is_completed()", *WAITS),
        "more than waiting",
    ),
    "a collective in between": (body(SEND, "dist.all_reduce(x)", RECV, *WAITS), "`dist.all_reduce` is called"),
    "a collective before the waits": (body(SEND, RECV, "dist.barrier()", *WAITS), "`dist.barrier` is called"),
    "a collective between the waits": (body(SEND, RECV, "a.wait()", "dist.barrier()", "b.wait()"), "`dist.barrier`"),
    "the tensor changes in between": (body(SEND, "x[0] = 1", RECV, *WAITS), "stored to"),
    "the tensor changes in place": (body(SEND, "x += 1", RECV, *WAITS), "may change a tensor"),
    "a tensor is filled in between": (body(SEND, "got.zero_()", RECV, *WAITS), "changes a tensor"),
    "the function is left in between": (body(SEND, "if right < 0:", "    return", RECV, *WAITS), "may be left"),
    "the ranks part ways": (
        body("if rank == 0:", f"    {SEND}", f"    {RECV}", "    a.wait()", "    b.wait()"),
        "the ranks part ways",
    ),
    "the ranks part ways by a name": (
        body("even = dist.get_rank() % 2 == 0", "if even:", *(f"    {line}" for line in (SEND, RECV, *WAITS))),
        "the ranks part ways",
    ),
    "the ranks part ways by the environment": (
        body("import os", 'if os.environ["RANK"] == "0":', *(f"    {line}" for line in (SEND, RECV, *WAITS))),
        "the ranks part ways",
    ),
    "a wait under a condition": (body(SEND, RECV, "if group:", "    a.wait()", "b.wait()"), "another block"),
    "one operation under a condition": (body(SEND, "if group:", f"    {RECV}", "    b.wait()", "a.wait()"), "block"),
    "the same tensor": (body(SEND, "b = dist.irecv(x, left)", *WAITS), "at the same time"),
    "a tensor on the CPU": (
        body("y = got.cpu()", SEND, "b = dist.irecv(y, left)", *WAITS),
        "on the CPU and others may not be",
    ),
    "what recv returns is used": (body(SEND, "n = dist.recv(got, left)", "a.wait()"), "what `recv` returns"),
    "the received tensor is needed": (body("dist.recv(got, left)", SEND, "a.wait()"), "may need what it receives"),
    "a size that is received first": (
        body(SEND, "dist.recv(got, left)", "y = torch.empty(int(got))", "dist.recv(y, left)", "a.wait()"),
        "may need what was received",
    ),
    "a peer that is received first": (
        body(SEND, "dist.recv(got, left)", "dist.recv(y[1:], got)", "a.wait()"),
        "may need what",
    ),
    "a blocking send": (body("dist.send(x, right)", RECV, "b.wait()"), "blocking `send`"),
    "put together already": (
        body("with dist._coalescing_manager():", *(f"    {line}" for line in (SEND, RECV, *WAITS))),
        "puts the operations together already",
    ),
    "a list that escapes": (
        body("reqs = [dist.isend(x, right), dist.irecv(got, left)]", "for r in reqs:", "    r.wait()", "return reqs"),
        "more than waiting",
    ),
    "a list with something else": (
        body("reqs = [dist.isend(x, right), dist.irecv(got, left), other]", "for r in reqs:", "    r.wait()"),
        "something else",
    ),
    "a list from outside": (
        body("other.append(dist.isend(x, right))", "other.append(dist.irecv(got, left))", "[r.wait() for r in other]"),
        "not a list made in this function",
    ),
    "a list that lives longer than the loop": (
        body(
            "reqs = []",
            "for step in range(3):",
            "    reqs.append(dist.isend(x, right))",
            "    reqs.append(dist.irecv(got, left))",
            "    for r in reqs:",
            "        r.wait()",
        ),
        "more than once",
    ),
    "a loop that does more": (
        body("reqs = [dist.isend(x, right), dist.irecv(got, left)]", "for r in reqs:", "    r.wait()", "    print(r)"),
        "more than waiting",
    ),
    "the wait shares its line": (body(SEND, RECV, "y = 1; a.wait()", "b.wait()"), "holds other code too"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_exchange_that_is_not_surely_the_same_in_a_batch_is_not_rewritten(name: str) -> None:
    code, reason = REFUSED[name]
    found = plan(code)
    assert isinstance(found, str), found
    assert reason in found and found.startswith("Not rewritten: ") and found.endswith(".")


def test_nothing_is_planned_for_no_operations_or_those_of_two_functions() -> None:
    code = EXCHANGES["two exchanges with the same names"]
    view = view_of(code)
    calls = [n for n in ast.walk(view.tree) if isinstance(n, ast.Call) and ast.unparse(n.func).startswith("dist.")]
    assert len(calls) == 4
    assert plan_batch(view, calls, safe=True) == "Not rewritten: the operations do not stand in one function."
    assert isinstance(plan_batch(view, [], safe=True), str)


def test_tags_are_kept_on_gloo() -> None:
    code, _ = REFUSED["a tag"]
    assert "peer=" not in rewritten(code, gloo=True)
    assert "dist.P2POp(dist.isend, x, right, tag=3)" in rewritten(code, gloo=True)


def test_operations_of_a_module_are_not_rewritten() -> None:
    view = view_of("import torch.distributed as dist\na = dist.isend(x, 1)\nb = dist.irecv(y, 1)\na.wait()\nb.wait()\n")
    calls = [n for n in ast.walk(view.tree) if isinstance(n, ast.Call) and ast.unparse(n.func).startswith("dist.")]
    found = plan_batch(view, calls, safe=True)
    assert isinstance(found, str) and "local name" in found


def test_the_rewrite_leaves_windows_newlines_and_tabs_alone() -> None:
    code = RING.replace("    ", "\t").replace("\n", "\r\n")
    new = rewritten(code)
    assert "\tfor req in dist.batch_isend_irecv([send, recv]):\r\n\t\treq.wait()\r\n\treturn got" in new
