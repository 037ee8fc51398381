"""Programs on several ranks: run at the same time with the environment of torchrun, compared rank by rank."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlift.testing import FreshProcesses, Program, Verdict, compare_programs, run_program
from torchlift.testing.nodes import Container, Node, Raised, Scalar
from torchlift.testing.program_job import ProgramResult

HEAD = """\
import os
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
"""
REDUCE = HEAD + "\n\ndef reduced(x):\n    dist.all_reduce(x)\n    return x\n"


def parts(seen: ProgramResult) -> dict[str, Node]:
    assert isinstance(seen.result, Container), seen.trace
    return dict(seen.result.items)


def test_the_ranks_of_a_program_talk_to_each_other(processes: FreshProcesses) -> None:
    run = "result = (rank, reduced(torch.tensor(rank + 1)).item())"
    for size in (1, 2, 3, 4):
        seen = run_program(Program(REDUCE), run, ranks=size, processes=processes)
        total = Scalar("int", size * (size + 1) // 2)
        assert parts(seen) == {
            f"[rank {rank} of {size}]": Container("tuple", (("[0]", Scalar("int", rank)), ("[1]", total)))
            for rank in range(size)
        }


def test_a_rank_has_the_environment_that_torchrun_sets(
    processes: FreshProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "7")
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "OMP_NUM_THREADS")
    run = f"result = ' '.join(os.environ[name] for name in {names}) + f' {{torch.get_num_threads()}}'"
    run += "\nassert dist.is_torchelastic_launched() and int(os.environ['MASTER_PORT']) > 0"
    seen = run_program(Program(HEAD), run, ranks=2, processes=processes)
    assert parts(seen) == {
        f"[rank {rank} of 2]": Scalar("str", f"{rank} {rank} 2 2 127.0.0.1 1 1") for rank in range(2)
    }


def test_the_ranks_share_the_files_of_the_program(processes: FreshProcesses, tmp_path: Path) -> None:
    program = Program(
        "from package.part import value\nresult = value()\n", {"package/part.py": "def value():\n    return 3\n"}
    )
    seen = run_program(program, ranks=3, folder=tmp_path / "here", processes=processes)
    assert set(parts(seen).values()) == {Scalar("int", 3)}
    assert (tmp_path / "here/package/part.py").exists()


def test_a_rank_that_is_done_early_waits_for_the_others(processes: FreshProcesses) -> None:
    # Rank 0 gives an answer that is read only long after it has none to give any more.
    run = (
        "import time\nif rank == 0:\n    work = dist.isend(torch.ones(1), 1)\nelse:\n    time.sleep(0.3)\n"
        "    x = torch.zeros(1)\n    dist.recv(x, 0)\nresult = x.item() if rank else None\n"
    )
    seen = run_program(Program(HEAD), run, ranks=2, timeout=30, processes=processes)
    assert parts(seen)["[rank 1 of 2]"] == Scalar("float", 1.0), seen.trace


def test_two_groups_at_the_same_time_do_not_meet(processes: FreshProcesses) -> None:
    from concurrent.futures import ThreadPoolExecutor

    run = "result = reduced(torch.tensor(1)).item()"
    with FreshProcesses() as others, ThreadPoolExecutor(2) as pool:
        sizes = {processes: 2, others: 3}
        seen = [
            pool.submit(run_program, Program(REDUCE), run, ranks=size, processes=where) for where, size in sizes.items()
        ]
        assert [set(parts(one.result()).values()) for one in seen] == [{Scalar("int", 2)}, {Scalar("int", 3)}]


@pytest.mark.parametrize(
    ("body", "message", "words"),
    [
        ("if rank == 1:\n    raise ValueError('no')", "no", "rank 1 of 3: ValueError: no\nTraceback"),
        ("if rank == 1:\n    print('bye', flush=True)\n    os._exit(7)", "crashed (exit status 7)", "bye"),
        ("if rank == 1:\n    import time\n    time.sleep(60)", "did not end within 4 seconds", 'File "run.py", line 3'),
    ],
    ids=["raises", "exits", "hangs"],
)
@pytest.mark.parametrize("others", ["dist.barrier()\n", ""], ids=["others wait for it", "others are done"])
def test_a_rank_that_fails_is_named_with_what_it_said(
    body: str, message: str, words: str, others: str, processes: FreshProcesses
) -> None:
    run = f"{body}\n{others}result = rank"
    seen = run_program(Program(HEAD), run, ranks=3, timeout=4, processes=processes)
    failed = {name: part for name, part in parts(seen).items() if isinstance(part, Raised)}
    assert message in failed["[rank 1 of 3]"].message and words in seen.trace
    assert len(failed) == (3 if others else 1)
    assert seen.trace.startswith("rank 1 of 3") or "sleep" in body, seen.trace
    # Nothing is left of them: the next group is served as if nothing had happened.
    again = run_program(Program(REDUCE), "result = reduced(torch.tensor(1)).item()", ranks=2, processes=processes)
    assert set(parts(again).values()) == {Scalar("int", 2)}


def test_ranks_that_wait_for_one_that_left_without_a_word_are_stopped(processes: FreshProcesses) -> None:
    # They listen to the store, which does not tell them.
    code = "import os\nimport torch.distributed as dist\nrank = int(os.environ['RANK'])\n"
    run = "if rank == 0:\n    raise ValueError('no')\nimport threading\nthreading.Event().wait()"
    seen = run_program(Program(code), run, ranks=2, timeout=300, processes=processes)
    part = parts(seen)["[rank 1 of 2]"]
    assert isinstance(part, Raised) and part.type == "Stopped"
    assert seen.trace.index("ValueError: no") < seen.trace.index("rank 1 of 2: Stopped")
    assert 'File "run.py", line 4' in seen.trace


@pytest.mark.parametrize(
    ("new", "verdict", "lines"),
    [
        ("x = x + rank", Verdict.SAME, ["same"]),
        ("x = x + rank + (rank == 2)", Verdict.DIFFERS, ["result[rank 2 of 3]: the old program 2, migrated 3", "result[rank 2 of 4]: "]),
        ("x = x + min(rank, 2)", Verdict.DIFFERS, ["result[rank 3 of 4]: the old program 3, migrated 2"]),
        ("x = x + [0, 1, 2][rank]", Verdict.RAISES, ["result[rank 3 of 4]: the old program returned", "IndexError", "rank 3 of 4: "]),
        ("x = (x + rank).double()", Verdict.DIFFERS, ["result[rank 0 of 2]: dtype: the old program float32, migrated float64"]),
    ],
)  # fmt: skip
def test_ranks_are_compared_one_by_one(
    new: str, verdict: Verdict, lines: list[str], processes: FreshProcesses, tmp_path: Path
) -> None:
    head = HEAD + "x = torch.zeros(1)\n"
    old = Program(head + "x = x + rank\n")
    found = compare_programs(old, Program(f"{head}{new}\n"), "result = x", ranks=(2, 3, 4), folder=tmp_path, processes=processes)  # fmt: skip
    assert found.verdict is verdict and all(line in str(found) for line in lines), str(found)
    assert len(found.differences) == str(found).count("result[rank")
    assert isinstance(found.old, Container) and len(found.old.items) == 2 + 3 + 4


def test_an_old_program_that_fails_on_a_rank_proves_nothing(processes: FreshProcesses) -> None:
    program = Program(HEAD + "assert rank < 2, 'too many'\n")
    found = compare_programs(program, program, "result = 1", ranks=(2, 3, 4), processes=processes)
    assert found.verdict is Verdict.FAILED and "rank 2 of 3: AssertionError: too many" in str(found)
    assert isinstance(found.old, Container) and len(found.old.items) == 2 + 3


@pytest.mark.exhaustive
def test_where_forking_is_not_reliable_every_rank_is_a_new_process() -> None:
    with FreshProcesses(fork=False) as started:
        seen = run_program(Program(REDUCE), "result = reduced(torch.tensor(rank)).item()", ranks=2, processes=started)
    assert set(parts(seen).values()) == {Scalar("int", 1)}


def test_there_is_no_program_without_ranks(processes: FreshProcesses) -> None:
    with pytest.raises(ValueError, match="on 0 ranks"):
        run_program(Program(""), ranks=0, processes=processes)
