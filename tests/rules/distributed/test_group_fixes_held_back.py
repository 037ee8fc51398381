"""Programs for which a fix of a process-group rule would not do what the old code did, so that it is not safe there."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlift.finding import Finding, Safety
from torchlift.migrate.result import Mode
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.rule import Settings
from torchlift.versions import TorchVersion

HEAD = "import os\nimport torch\nimport torch.distributed as dist\n\n"
RULES = frozenset({"TL201", "TL202", "TL230", "TL232", "TL233", "TL250"})


def findings(folder: Path, code: str, **files: str) -> tuple[list[Finding], str]:
    """What the rules say about `code`, and `code` with the safe fixes applied."""
    texts = {"main.py": HEAD + code} | {f"{name}.py": text for name, text in files.items()}
    for name, text in texts.items():
        (folder / name).write_text(text)
    settings = Settings(min_torch=TorchVersion(2, 15))
    result = analyse(RunOptions(folder, tuple(sorted(texts)), Mode.DIFF, RULES, settings=settings))
    assert not [failure.detail or failure.reason for failure in result.failures]
    outcomes = [outcome for outcome in result.outcomes if outcome.path == "main.py"]
    found = [item for outcome in outcomes for item in (*outcome.left, *outcome.fixed)]
    return found, next((outcome.new_text for outcome in outcomes if outcome.new_text), texts["main.py"])


def safeties(folder: Path, code: str, rule: str, **files: str) -> list[Safety]:
    return [found.safety for found in findings(folder, code, **files)[0] if found.code == rule]


NOT_THE_SAME_DEVICE = {
    "a negative default": "def setup(rank: int = -1):\n    torch.cuda.set_device(rank)\n    dist.init_process_group('nccl')\n",
    "called with a negative number": (
        "def setup(rank: int):\n    torch.cuda.set_device(rank)\n    dist.init_process_group('nccl')\n\n\nsetup(-1)\n"
    ),
    "called with a default of minus one": (
        "def setup(rank: int):\n    torch.cuda.set_device(rank)\n    dist.init_process_group('nccl')\n\n\n"
        "local = int(os.environ.get('LOCAL_RANK', '-1'))\nsetup(local)\n"
    ),
    "bound again behind the test": (
        "def setup():\n    rank = int(os.environ.get('LOCAL_RANK', '-1'))\n    if rank != -1:\n"
        "        rank = int(os.environ.get('GPU', '-1'))\n        torch.cuda.set_device(rank)\n"
        "        dist.init_process_group('nccl')\n"
    ),
    "a nested function binds the name": (
        "def setup():\n    rank = int(os.environ['LOCAL_RANK'])\n\n    def other():\n        nonlocal rank\n"
        "        rank = int(os.environ['RANK'])\n\n    torch.cuda.set_device(rank)\n    other()\n"
        "    dist.init_process_group('nccl')\n"
    ),
    "what a small function reads is stored": (
        "def local():\n    return int(os.environ['LOCAL_RANK'])\n\n\ndef setup():\n    torch.cuda.set_device(local())\n"
        "    os.environ['LOCAL_RANK'] = '0'\n    dist.init_process_group('nccl')\n"
    ),
    "set again by keyword": (
        "def setup(rank: int):\n    torch.cuda.set_device(0)\n    torch.cuda.set_device(device=rank)\n"
        "    dist.init_process_group('nccl')\n"
    ),
    "set again by a function of the file": (
        "def remap(rank):\n    torch.cuda.set_device([1, 0][rank])\n\n\ndef setup(rank: int):\n"
        "    torch.cuda.set_device(rank)\n    remap(rank)\n    dist.init_process_group('nccl')\n"
    ),
    "set again by a function with a telling name": (
        "from tools import select_gpu\n\n\ndef setup(rank: int):\n    torch.cuda.set_device(rank)\n    select_gpu()\n"
        "    dist.init_process_group('nccl')\n"
    ),
    "in a context of another device": (
        "def setup(rank: int, other):\n    torch.cuda.set_device(rank)\n    with torch.cuda.device(other):\n"
        "        dist.init_process_group('nccl')\n"
    ),
    "a lambda with a parameter of that name": (
        "def setup(rank: int):\n    torch.cuda.set_device(rank)\n"
        "    return lambda rank: dist.init_process_group('nccl', rank=rank)\n"
    ),
    "a comprehension with a variable of that name": (
        "def setup(rank: int):\n    torch.cuda.set_device(rank)\n"
        "    return [dist.init_process_group('nccl', rank=rank) for rank in [3]]\n"
    ),
    "an argument of the call binds the name": (
        "def setup(rank: int):\n    torch.cuda.set_device(rank)\n    dist.init_process_group('nccl', rank=(rank := rank + 8))\n"
    ),
    "an argument of the call may store the attribute": (
        "def setup(args):\n    args.gpu = int(os.environ['LOCAL_RANK'])\n    torch.cuda.set_device(args.gpu)\n"
        "    dist.init_process_group('nccl', rank=args.next())\n"
    ),
    "an argument of the call may change the test": (
        "use = True\n\n\ndef setup(rank: int, address):\n    if use:\n        torch.cuda.set_device(rank)\n"
        "    dist.init_process_group('nccl' if use else 'gloo', init_method=address())\n"
    ),
    "a generator hands over in between": (
        "def setup(job):\n    job.gpu = int(os.environ['LOCAL_RANK'])\n    torch.cuda.set_device(job.gpu)\n    yield\n"
        "    dist.init_process_group('nccl')\n"
    ),
    "a nested function reads the name before it moves": (
        "def setup():\n    rank = 0\n\n    def report():\n        print(rank)\n\n    dist.init_process_group('nccl')\n    report()\n"
        "    rank = int(os.environ['LOCAL_RANK'])\n    torch.cuda.set_device(rank)\n"
    ),
    "a handler binds the name": (
        "def setup(rank: int):\n    torch.cuda.set_device(rank)\n    try:\n        print(1)\n    except OSError as rank:\n"
        "        pass\n    dist.init_process_group('nccl')\n"
    ),
    "an import binds the name": (
        "def setup(rank: int):\n    torch.cuda.set_device(rank)\n    import rank\n\n    dist.init_process_group('nccl')\n"
    ),
    "an own function called int": (
        "def int(x):\n    return x\n\n\ndef setup():\n    rank = int(os.environ['LOCAL_RANK'])\n"
        "    torch.cuda.set_device(rank)\n    dist.init_process_group('nccl')\n"
    ),
    "a negative fallback": (
        "def setup():\n    rank = dist.get_node_local_rank(fallback_rank=-1)\n    torch.cuda.set_device(rank)\n"
        "    dist.init_process_group('nccl')\n"
    ),
    "what the device needs is imported behind the call": (
        "dist.init_process_group('nccl')\nimport tools\n\nrank = int(tools.os.environ['LOCAL_RANK'])\n"
        "torch.cuda.set_device(rank)\n"
    ),
    "the function is replaced": (
        "def start(backend):\n    print(backend)\n\n\ndist.init_process_group = start\n\n\ndef setup(rank: int):\n"
        "    torch.cuda.set_device(rank)\n    dist.init_process_group('nccl')\n"
    ),
    "another maker's devices": (
        "import torch_npu\nfrom torch_npu.contrib import transfer_to_npu\n\n\ndef setup(rank: int):\n"
        "    torch.cuda.set_device(rank)\n    dist.init_process_group('nccl')\n"
    ),
}


@pytest.mark.parametrize("case", NOT_THE_SAME_DEVICE)
def test_a_device_that_may_be_another_one_at_the_call_is_not_passed_safely(case: str, tmp_path: Path) -> None:
    found = safeties(tmp_path, NOT_THE_SAME_DEVICE[case], "TL201")
    assert found and Safety.SAFE not in found


@pytest.mark.parametrize(
    "code",
    [
        "def setup(rank: int):\n    torch.cuda.set_device(0)\n    dist.init_process_group('nccl', rank=rank, world_size=2)\n"
        "    return torch.nn.Linear(2, 2).to(rank)\n",
        "os.environ['CUDA_VISIBLE_DEVICES'] = '0,1'\n\n\ndef setup(rank: int):\n    torch.cuda.set_device('cuda:0')\n"
        "    dist.init_process_group('nccl', rank=rank, world_size=2)\n",
    ],
)
def test_the_same_gpu_in_every_process_is_passed_after_review_only(code: str, tmp_path: Path) -> None:
    (found,), _ = findings(tmp_path, code)
    assert found.safety is Safety.UNSAFE
    assert "one process per host" in (found.help or found.message)


@pytest.mark.parametrize(
    ("handler", "safety"),
    [
        ("except RuntimeError:", Safety.UNSAFE),
        ("except (RuntimeError, OSError):", Safety.UNSAFE),
        ("except ValueError:", Safety.UNSAFE),
        ("except (RuntimeError, ValueError):", Safety.SAFE),
        ("except Exception:", Safety.SAFE),
        ("except:", Safety.SAFE),
    ],
)
@pytest.mark.parametrize("place", ["around", "at the caller"])
def test_a_fallback_for_machines_without_gpus_must_catch_what_a_device_raises(
    handler: str, safety: Safety, place: str, tmp_path: Path
) -> None:
    """Without GPUs torch 2.15 raises RuntimeError, and with a device ValueError."""
    if place == "around":
        code = (
            f"def setup(rank: int):\n    try:\n        dist.init_process_group('nccl')\n    {handler}\n"
            "        dist.init_process_group('gloo')\n    if torch.cuda.is_available():\n        torch.cuda.set_device(rank)\n"
        )
    else:
        code = (
            "def start(rank: int):\n    dist.init_process_group('nccl')\n    torch.cuda.set_device(rank)\n\n\n"
            f"def setup(rank: int):\n    try:\n        start(rank)\n    {handler}\n        dist.init_process_group('gloo')\n"
        )
    assert safeties(tmp_path, code, "TL201") == [safety]


def test_a_fallback_does_not_matter_where_the_device_was_set_before(tmp_path: Path) -> None:
    code = (
        "def setup(rank: int):\n    torch.cuda.set_device(rank)\n    try:\n        dist.init_process_group('nccl')\n"
        "    except RuntimeError:\n        dist.init_process_group('gloo')\n"
    )
    assert safeties(tmp_path, code, "TL201") == [Safety.SAFE]


def test_the_known_arguments_of_a_call_do_not_hold_a_fix_back(tmp_path: Path) -> None:
    code = (
        "from datetime import timedelta\n\n\ndef setup(args):\n    args.gpu = int(os.environ['LOCAL_RANK'])\n"
        "    torch.cuda.set_device(args.gpu)\n    dist.init_process_group('nccl', timeout=timedelta(seconds=int(args.wait)))\n"
    )
    assert safeties(tmp_path, code, "TL201") == [Safety.SAFE]


@pytest.mark.parametrize(
    "code",
    [
        "import inspect\n\n\ndef setup(rank: int):\n    torch.cuda.set_device(rank)\n"
        "    if 'device_id' in inspect.signature(dist.init_process_group).parameters:\n"
        "        dist.init_process_group('nccl', device_id=torch.device('cuda', rank))\n"
        "    else:\n        dist.init_process_group('nccl')\n",
        "def setup(rank: int):\n    torch.cuda.set_device(rank)\n    try:\n"
        "        dist.init_process_group('nccl', device_id=torch.device('cuda', rank))\n"
        "    except TypeError:\n        dist.init_process_group('nccl')\n",
        "def setup(rank: int):\n    torch.cuda.set_device(rank)\n    if torch.__version__ >= '2.3':\n"
        "        dist.init_process_group('nccl', device_id=torch.device('cuda', rank))\n"
        "    else:\n        dist.init_process_group('nccl')\n",
    ],
)
def test_the_call_for_a_torch_without_device_id_is_left_alone(code: str, tmp_path: Path) -> None:
    found, new = findings(tmp_path, code)
    assert (found, new) == ([], HEAD + code)


def test_a_dict_with_two_names_may_have_got_a_device(tmp_path: Path) -> None:
    code = (
        "def setup(rank: int):\n    torch.cuda.set_device(rank)\n    one = two = {'backend': 'nccl'}\n"
        "    two['device_id'] = torch.device('cuda', rank)\n    dist.init_process_group(**one)\n"
    )
    assert findings(tmp_path, code)[0] == []


def test_advice_is_left_where_torch_cannot_be_named(tmp_path: Path) -> None:
    code = (
        "def setup(torch, rank: int):\n    from torch.cuda import set_device\n    set_device(rank)\n"
        "    dist.init_process_group('nccl')\n"
    )
    (found,), _ = findings(tmp_path, code)
    assert found.fix is None and "`rank`" in (found.help or "")


MAKE = "if rank == 0:\n    group = dist.new_group([0])\n"
START = 'dist.init_process_group("gloo")\nrank = dist.get_rank()\n'

NOT_EVERY_RANK = {
    "ranks that have ended": START + "import sys\nif rank > 1:\n    sys.exit(0)\n" + MAKE,
    "ranks that a function ends": START + "def leave():\n    if rank > 1:\n        quit()\n\n\nleave()\n" + MAKE,
    "ranks without a default group": (
        "rank = int(os.environ['RANK'])\nif rank < 2:\n    dist.init_process_group('gloo', world_size=2, rank=rank)\n"
        + MAKE
    ),
    "a test that communicates": (
        START
        + "def ready():\n    dist.barrier()\n    return True\n\n\nif rank == 0 and ready():\n    group = dist.new_group([0])\n"
    ),
    "a context that swallows an error": (
        START + "import contextlib\nwith contextlib.suppress(ZeroDivisionError):\n    1 / (rank - 1)\n"
        "    if rank == 0:\n        group = dist.new_group([0])\n"
    ),
    "an own function called sorted": (
        START + "def sorted(x):\n    return [rank]\n\n\nif rank == 0:\n    group = dist.new_group(sorted([0, 1]))\n"
    ),
}


@pytest.mark.parametrize("case", NOT_EVERY_RANK)
def test_a_group_is_not_moved_safely_where_not_every_rank_may_reach_it(case: str, tmp_path: Path) -> None:
    found = safeties(tmp_path, NOT_EVERY_RANK[case], "TL230")
    assert found and Safety.SAFE not in found


def test_the_exit_status_of_a_main_function_does_not_hold_a_group_back(tmp_path: Path) -> None:
    code = "import sys\n\n" + START + MAKE + "\nif __name__ == '__main__':\n    sys.exit(0)\n"
    assert safeties(tmp_path, code, "TL230") == [Safety.SAFE]


def test_a_class_built_on_this_one_may_store_another_group(tmp_path: Path) -> None:
    code = (
        "class Part:\n    def __init__(self):\n        self.group = dist.new_group([0], use_local_synchronization=True)\n\n"
        "    def outside(self):\n        return self.group is None\n"
    )
    (alone,) = safeties(tmp_path, code, "TL232")
    other = "from main import Part\n\n\nclass Whole(Part):\n    def __init__(self):\n        self.group = make()\n"
    (built_on,) = safeties(tmp_path, code, "TL232", other=other)
    assert (alone, built_on) == (Safety.SAFE, Safety.MANUAL)


def test_a_side_group_whose_devices_are_asked_for_is_renamed_after_review_only(tmp_path: Path) -> None:
    code = 'dist.init_process_group("nccl")\ng = dist.new_group(backend="cpu:gloo")\nprint(g._device_types)\n'
    assert safeties(tmp_path, code, "TL233") == [Safety.UNSAFE]


def test_an_import_declared_global_keeps_its_name(tmp_path: Path) -> None:
    code = "def load():\n    global reduce_op\n    from torch.distributed import reduce_op\n\n\nload()\nx = reduce_op.SUM\n"
    _, new = findings(tmp_path, code)
    assert "from torch.distributed import ReduceOp as reduce_op" in new
    assert "x = reduce_op.SUM" in new
