"""Which device a fix writes into `init_process_group`, and when there is none: what the examples of the rules leave out."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files

from torchlift.finding import Finding, Safety
from torchlift.migrate.result import Mode
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Settings
from torchlift.versions import TorchVersion

HEAD = "import os\nimport torch\nimport torch.distributed as dist\n\n"
EAGER = TorchVersion(2, 15)
RULES = frozenset({"TL201", "TL202", "TL203", "TL205"})


def findings(
    folder: Path, code: str, files: dict[str, str] | None = None, lowest: TorchVersion = EAGER
) -> tuple[list[Finding], str]:
    """What the rules on initialisation say about `code`, and `code` with every fix applied."""
    texts = {"main.py": HEAD + code, **(files or {})}
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    options = RunOptions(
        folder, tuple(sorted(texts)), Mode.DIFF, RULES & frozenset(all_rules()), True, Settings(min_torch=lowest)
    )
    result = analyse(options)
    assert not [failure.detail or failure.reason for failure in result.failures]
    found = [f for outcome in result.outcomes if outcome.path == "main.py" for f in (*outcome.left, *outcome.fixed)]
    new = next((outcome.new_text for outcome in result.outcomes if outcome.path == "main.py"), None)
    return found, new or texts["main.py"]


def only(folder: Path, code: str, files: dict[str, str] | None = None) -> tuple[Finding, str]:
    """The single finding of `code`, and the fixed code."""
    found, new = findings(folder, code, files)
    assert len(found) == 1, found
    return found[0], new


def bound(text: str) -> str:
    """The device that `text` passes."""
    line = next(line for line in text.splitlines() if "device_id=" in line)
    return line.partition("device_id=")[2].rstrip(")") + ")"


@pytest.mark.parametrize(
    ("guard", "safety"),
    [
        ("if args.local_rank != -1:", Safety.SAFE),
        ("if args.local_rank >= 0 and args.fast:", Safety.SAFE),
        ("if not args.local_rank < 0:", Safety.SAFE),
        ("if args.local_rank > -2:", Safety.UNSAFE),
        ("if args.local_rank == -1 or args.fast:", Safety.UNSAFE),
        ("if args.fast:", Safety.UNSAFE),
    ],
)
def test_a_default_of_minus_one_is_safe_only_behind_a_test_that_excludes_it(
    guard: str, safety: Safety, tmp_path: Path
) -> None:
    code = (
        "import argparse\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--local_rank', type=int, default=int(os.environ.get('LOCAL_RANK', -1)))\n\n"
        f"def main(args):\n    {guard}\n        torch.cuda.set_device(args.local_rank)\n"
        "        dist.init_process_group('nccl')\n"
    )
    finding, new = only(tmp_path, code)
    assert finding.safety is safety
    assert bound(new) == 'torch.device("cuda", args.local_rank)'


def test_the_branch_of_a_failed_test_counts_too(tmp_path: Path) -> None:
    code = (
        "def main(local: str):\n    rank = int(local)\n    if rank == -1 or not local:\n        pass\n    else:\n"
        "        torch.cuda.set_device(rank)\n        dist.init_process_group('nccl')\n"
    )
    assert only(tmp_path, code)[0].safety is Safety.SAFE


def test_an_index_goes_through_the_functions_of_a_file(tmp_path: Path) -> None:
    code = (
        "def setup(rank):\n    torch.cuda.set_device(rank)\n    dist.init_process_group('nccl', rank=rank)\n\n"
        "def worker(number, size):\n    setup(number)\n\n"
        "torch.multiprocessing.spawn(worker, args=(2,), nprocs=2)\n"
    )
    finding, _ = only(tmp_path, code)
    assert finding.safety is Safety.SAFE
    assert "`LOCAL_RANK` inherited" not in finding.message


def test_a_caller_in_another_file_takes_the_proof_away(tmp_path: Path) -> None:
    code = (
        "def setup(rank):\n    torch.cuda.set_device(rank)\n    dist.init_process_group('nccl', rank=rank)\n\n"
        "def worker(number, size):\n    setup(number)\n\n"
        "torch.multiprocessing.spawn(worker, args=(2,), nprocs=2)\n"
    )
    finding, _ = only(tmp_path, code, {"other.py": "from main import setup\n\nsetup(-1)\n"})
    assert finding.safety is Safety.UNSAFE


def test_a_spawned_process_is_warned_of_an_inherited_local_rank(tmp_path: Path) -> None:
    code = (
        "import torch.multiprocessing as mp\n\ndef worker(index, world):\n    torch.cuda.set_device(index)\n"
        "    dist.init_process_group('nccl', rank=index, world_size=world)\n\nmp.spawn(worker, args=(2,), nprocs=2)\n"
    )
    finding, new = only(tmp_path, code)
    assert "`LOCAL_RANK` inherited from the launcher" in finding.message
    assert finding.safety is Safety.SAFE and bound(new) == 'torch.device("cuda", index)'


@pytest.mark.parametrize(
    "between",
    [
        "    for where in range(2):\n        pass\n",
        "    if early:\n        return\n",
        "    where += 1\n",
        "    where, early = early, where\n",
    ],
)
def test_nothing_is_written_where_the_device_behind_may_be_another(between: str, tmp_path: Path) -> None:
    code = (
        "def setup(where: int, early):\n    dist.init_process_group('nccl')\n"
        f"{between}    torch.cuda.set_device(where)\n"
    )
    assert only(tmp_path, code)[0].fix is None


@pytest.mark.parametrize(
    ("between", "moves"),
    [
        ("    local_rank = int(os.environ['LOCAL_RANK'])\n", True),
        ("    name = 'LOCAL_RANK'\n    local_rank = int(os.environ[name])\n", True),
        ("    os.environ['LOCAL_RANK'] = '1'\n    local_rank = int(os.environ['LOCAL_RANK'])\n", False),
        ("    local_rank = dist.get_rank() % torch.cuda.device_count()\n", False),
        ("    local_rank = ask()\n", False),
        ("    local_rank = (\n        int(os.environ['LOCAL_RANK']))\n", False),
        ("    if True:\n        local_rank = int(os.environ['LOCAL_RANK'])\n", False),
        ("    print(local_rank)\n    local_rank = int(os.environ['LOCAL_RANK'])\n", False),
    ],
)
def test_only_plain_assignments_that_ask_no_group_move_in_front(between: str, moves: bool, tmp_path: Path) -> None:
    code = f"def setup():\n    dist.init_process_group('nccl')\n{between}    torch.cuda.set_device(local_rank)\n"
    finding, new = only(tmp_path, code)
    assert (finding.fix is not None) is moves
    if moves:
        compile(new, "main.py", "exec")
        assert new.index("local_rank = int") < new.index("dist.init_process_group") < new.index("set_device")


@pytest.mark.parametrize(
    ("test", "backend", "safety"),
    [
        ("torch.cuda.is_available()", "'nccl'", Safety.SAFE),
        ("cuda", "'nccl' if cuda else 'gloo'", Safety.SAFE),
        ("cuda and local_rank >= 0", "'nccl' if cuda else 'gloo'", Safety.UNSAFE),
        ("not cuda", "'gloo' if not cuda else 'nccl'", Safety.UNSAFE),
        ("not cuda", "'nccl' if not cuda else 'gloo'", Safety.SAFE),
        ("cuda", "'nccl'", Safety.UNSAFE),
    ],
)
def test_a_conditional_set_device_counts_where_nccl_implies_its_test(
    test: str, backend: str, safety: Safety, tmp_path: Path
) -> None:
    code = (
        f"def setup(local_rank: int, cuda):\n    if {test}:\n        torch.cuda.set_device(local_rank)\n"
        f"    dist.init_process_group({backend})\n"
    )
    assert only(tmp_path, code)[0].safety is safety


def test_a_test_whose_names_change_in_between_proves_nothing(tmp_path: Path) -> None:
    code = (
        "def setup(local_rank: int, cuda):\n    if cuda:\n        torch.cuda.set_device(local_rank)\n    cuda = True\n"
        "    dist.init_process_group('nccl' if cuda else 'gloo')\n"
    )
    assert only(tmp_path, code)[0].safety is Safety.UNSAFE


def test_a_second_device_in_the_function_is_named(tmp_path: Path) -> None:
    code = (
        "def setup(local_rank: int, other: int):\n    torch.cuda.set_device(local_rank)\n"
        "    dist.init_process_group('nccl')\n    torch.cuda.set_device(other)\n"
    )
    finding, _ = only(tmp_path, code)
    assert finding.safety is Safety.UNSAFE and "`torch.cuda.set_device(other)` on line 8" in (finding.help or "")


def test_a_device_set_in_the_other_branch_is_no_doubt(tmp_path: Path) -> None:
    code = (
        "def setup(local_rank: int, other: int, one):\n    if one:\n        torch.cuda.set_device(other)\n    else:\n"
        "        torch.cuda.set_device(local_rank)\n        dist.init_process_group('nccl')\n"
    )
    assert only(tmp_path, code)[0].safety is Safety.SAFE


@pytest.mark.parametrize(
    ("text", "held_back"),
    [
        ("def f(t, to):\n    dist.isend(t, to)\n", True),
        ("def f(t):\n    dist.send(t, 1)\n", False),
        ("def f(r):\n    return dist.new_group(r, use_local_synchronization=True)\n", True),
        ("def f(r):\n    return dist.new_group(r, use_local_synchronization=False)\n", False),
        ("def f(rank, r):\n    if rank in r:\n        return dist.new_group(r)\n", True),
        ("def f(r):\n    if dist.get_rank() != 0:\n        return None\n    return dist.new_group(r)\n", True),
        ("def f(r):\n    return dist.new_group(r) if int(os.environ['RANK']) else None\n", True),
        ("def f(r, known):\n    if r not in known:\n        known[r] = dist.new_group(r)\n", False),
        ("def f(r):\n    if len(r) > 1:\n        return dist.new_group(r)\n", False),
        ("def f(r, rank=None):\n    if rank is not None:\n        return dist.new_group(r)\n", False),
        ("def f(t):\n    return dist.P2POp(dist.isend, t, 1)\n", False),
        ("def f(socket):\n    socket.send(b'')\n", False),
    ],
)
def test_before_2_15_a_fix_is_held_back_by_what_eager_groups_may_hang(
    text: str, held_back: bool, tmp_path: Path
) -> None:
    code = "def setup(local_rank: int):\n    torch.cuda.set_device(local_rank)\n    dist.init_process_group('nccl')\n"
    files = {"groups.py": HEAD + text, "both.py": "import groups\nimport main\n"}
    (apart,), _ = findings(tmp_path / "apart", code, {"groups.py": HEAD + text}, TorchVersion(2, 14))
    assert apart.fix is not None
    (old,), _ = findings(tmp_path / "old", code, files, TorchVersion(2, 14))
    assert (old.fix is None) is held_back
    assert not held_back or "groups.py:" in (old.help or "")
    (new,), _ = findings(tmp_path / "new", code, files, TorchVersion(2, 15))
    assert new.safety is Safety.SAFE


def test_releases_that_hang_with_a_device_are_named(tmp_path: Path) -> None:
    code = "def setup(local_rank: int):\n    torch.cuda.set_device(local_rank)\n    dist.init_process_group('nccl')\n"
    (finding,), _ = findings(tmp_path, code, lowest=TorchVersion(2, 5))
    assert finding.safety is Safety.UNSAFE and "2.6.0-2.7.0" in (finding.help or "")


def test_advice_uses_the_device_of_the_same_file_only_where_its_names_mean_something(tmp_path: Path) -> None:
    known = (
        "def place(args):\n    torch.cuda.set_device(args.gpu)\n\n"
        "def setup(args, backend):\n    dist.init_process_group(backend)\n"
    )
    unknown = known.replace("def setup(args, backend)", "def setup(backend)")
    assert 'torch.device("cuda", args.gpu) if "nccl" in backend else None' in (
        only(tmp_path / "a", known)[0].help or ""
    )
    assert 'int(os.environ["LOCAL_RANK"])' in (only(tmp_path / "b", unknown)[0].help or "")


def help_for(folder: Path, code: str, files: dict[str, str] | None = None) -> str:
    """The help of the single finding of `code`, in front of the escape hatches."""
    return (only(folder, code, files)[0].help or "").partition(" If the new engine")[0]


def test_a_spawned_worker_of_some_backend_gets_its_index(tmp_path: Path) -> None:
    code = (
        "def worker(rank, backend):\n    dist.init_process_group(backend, rank=rank, world_size=2)\n\n"
        "if __name__ == '__main__':\n    torch.multiprocessing.spawn(worker, args=('nccl',), nprocs=2)\n"
    )
    other = {"other.py": HEAD + "def f():\n    torch.cuda.set_device(int(os.environ['LOCAL_RANK']))\n"}
    finding, new = only(tmp_path, code, other)
    assert finding.safety is Safety.UNSAFE
    assert 'device_id=torch.device("cuda", rank) if "nccl" in backend else None' in new


def test_a_definition_moves_in_front_of_a_group_of_some_backend(tmp_path: Path) -> None:
    code = (
        "def setup(self, backend):\n    dist.init_process_group(backend, rank=self.rank)\n"
        "    index = self.rank % self.count\n    torch.cuda.set_device(index)\n"
    )
    finding, new = only(tmp_path, code)
    assert finding.safety is Safety.UNSAFE and new.index("index = ") < new.index("init_process_group")
    assert 'torch.device("cuda", index) if "nccl" in backend else None' in new


@pytest.mark.parametrize(
    ("rank", "files", "promised"),
    [
        ("", {}, True),
        (", rank=int(os.environ['RANK'])", {}, True),
        (", rank=-1", {}, True),
        (", rank=self.rank", {}, False),
        (", rank=int(os.environ['SLURM_PROCID'])", {}, False),
        (", rank=self.rank", {"near.py": "import os\nr = os.environ['LOCAL_RANK']\n"}, True),
        (", rank=self.rank", {"far/off.py": "import os\nr = os.environ['LOCAL_RANK']\n"}, False),
        (
            ", rank=r, world_size=n",
            {"far/off.py": "import os\nimport torch\ntorch.cuda.set_device(int(os.environ['LOCAL_RANK']))\n"},
            False,
        ),
    ],
)
def test_advice_names_local_rank_only_where_torchrun_may_have_set_it(
    rank: str, files: dict[str, str], promised: bool, tmp_path: Path
) -> None:
    code = f"class A:\n    def setup(self, backend):\n        dist.init_process_group(backend{rank})\n"
    text = help_for(tmp_path, code, files)
    assert ('os.environ["LOCAL_RANK"]' in text) is promised
    assert ("own GPU for `own_gpu`" in text) is not promised


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("    def setup(self, device: torch.device):\n", "device_id=device,"),
        ("    device: torch.device\n\n    def setup(self):\n", "device_id=self.device,"),
        (
            "    def __init__(self, d):\n        self.place: torch.device = d\n\n    def setup(self):\n",
            "device_id=self.place,",
        ),
        ("    def setup(self, device: str):\n", "own_gpu"),
        ("    def setup(self, device: torch.device):\n        device = None\n", "own_gpu"),
        ("    def setup(self):\n", "own_gpu"),
    ],
)
def test_advice_prefers_a_device_in_scope_that_is_annotated(code: str, expected: str, tmp_path: Path) -> None:
    text = help_for(tmp_path, f"class A:\n{code}        dist.init_process_group(rank=self.rank, world_size=2)\n")
    assert expected in text.replace("`,", ",")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "def f(gpu, n):\n    dist.init_process_group('nccl', rank=n)\n    model.cuda(gpu)\n",
            'torch.device("cuda", gpu)',
        ),
        (
            "def f(rank, n):\n    dist.init_process_group('nccl', rank=n)\n    x.to(rank)\n",
            'torch.device("cuda", rank)',
        ),
        ("def f(rank):\n    dist.init_process_group('nccl', rank=rank)\n", 'torch.device("cuda", rank)'),
    ],
)
def test_advice_names_the_parameter_that_stands_by(code: str, expected: str, tmp_path: Path) -> None:
    text = help_for(tmp_path, code)
    assert expected in text and "own_gpu" not in text


@pytest.mark.parametrize(
    ("other", "told"), [("dist_info.py", True), ("tools/info.py", True), ("tests/test_info.py", False)]
)
def test_a_comparison_of_the_backend_is_evidence_where_it_is_of_the_same_program(
    other: str, told: bool, tmp_path: Path
) -> None:
    files = {
        "a.py": HEAD + "dist.init_process_group()\n",
        other: HEAD + "fast = dist.get_backend() == 'nccl'\n",
    }
    (finding,) = [item for item in all_findings(analyse_files(tmp_path, files)) if item.code == "TL203"]
    assert (other in finding.message) is told


def test_a_comparison_of_the_backend_in_a_sibling_folder_is_no_evidence(tmp_path: Path) -> None:
    files = {
        "one/a.py": HEAD + "dist.init_process_group()\n",
        "two/b.py": HEAD + "fast = dist.get_backend() == 'nccl'\n",
    }
    (finding,) = [item for item in all_findings(analyse_files(tmp_path, files)) if item.code == "TL203"]
    assert "two/b.py" not in finding.message


def test_advice_says_nothing_of_names_of_another_place(tmp_path: Path) -> None:
    elsewhere = {"far/bench.py": HEAD + "def f(rank):\n    torch.cuda.set_device(rank)\n"}
    code = "def setup(backend, rank):\n    dist.init_process_group(backend)\n"
    assert "far/bench.py" not in help_for(tmp_path, code, elsewhere)


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ("    rank = int(os.environ['SOME_RANK'])\n    device = torch.device(f'cuda:{rank}')\n", "SOME_RANK"),
        ("    device = torch.device('cuda', index())\n", "torch.device('cuda', index())"),
        ("    device = torch.device('cuda', index(1))\n", "LOCAL_RANK"),
        ("    device = torch.device('cuda', dist.get_rank())\n", "LOCAL_RANK"),
        ("    device = torch.device('cuda', group_index())\n", "LOCAL_RANK"),
    ],
)
def test_advice_writes_out_local_names_unless_they_ask_a_group(definition: str, expected: str, tmp_path: Path) -> None:
    code = (
        "def index():\n    found = os.environ.get('X', 0)\n    return int(found)\n\n"
        "def group_index():\n    found = dist.get_rank()\n    return int(found)\n\n"
        f"def main():\n{definition}    torch.cuda.set_device(device)\n\n"
        "if __name__ == '__main__':\n    dist.init_process_group('nccl')\n    device = 3\n    rank = dist.get_rank()\n"
    )
    assert expected in help_for(tmp_path, code)


def test_only_comparisons_that_undefined_changes_are_named(tmp_path: Path) -> None:
    tests = (
        "def f(group):\n    a = dist.get_backend() == 'nccl'\n    b = dist.get_backend() == 'fake'\n"
        "    c = dist.get_backend(group) == 'nccl'\n    d = dist.get_backend() in (dist.Backend.GLOO, 'ucc')\n"
        "    return a, b, c, d\n\n"
    )
    finding, _ = only(tmp_path, tests + "dist.init_process_group()\n")
    lines = [HEAD.count("\n") + 2, HEAD.count("\n") + 5]
    assert f"compares it at main.py:{lines[0]}, main.py:{lines[1]}. " in finding.message


def test_code_that_is_given_a_device_type_is_advised_by_it(tmp_path: Path) -> None:
    code = "class Mesh:\n    def setup(self):\n        dist.init_process_group()\n        return self._device_type\n"
    text = help_for(tmp_path, code)
    assert 'Where `self._device_type` is "cuda" name both' in text and "without GPUs" not in text


@pytest.mark.parametrize(
    ("default", "said", "unsaid"),
    [
        ("-1", ("believe that they run alone", "tests for -1"), ("first process",)),
        ("0", ("asks whether this is the first process",), ("run alone",)),
        ("2", ("what chooses a GPU by it does so by the process",), ("run alone", "first process")),
    ],
)
def test_what_an_option_means_depends_on_its_default(
    default: str, said: tuple[str, ...], unsaid: tuple[str, ...], tmp_path: Path
) -> None:
    code = (
        f"import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--local_rank', type=int, default={default})\n"
        "args = parser.parse_args()\ntorch.cuda.set_device(args.local_rank)\n"
    )
    (finding,), _ = findings(tmp_path, code)
    text = f"{finding.message} {finding.help}"
    assert all(part in text for part in said) and not any(part in text for part in unsaid)


@pytest.mark.parametrize(
    ("device", "code"),
    [
        ("0", "TL202"),
        ("2", "TL202"),
        ("'cuda:1'", "TL202"),
        ("rank * 2", "TL202"),
        ("gpus[rank]", "TL202"),
        ("list(range(8))[rank]", "TL201"),
        ("[0, 1, 2, 3][rank]", "TL201"),
        ("[0, 2, 1, 3][rank]", "TL202"),
        ("rank", "TL201"),
        ("rank % 8", "TL201"),
        ("rank % torch.cuda.device_count()", "TL201"),
        ("int(os.environ['OMPI_COMM_WORLD_LOCAL_RANK'])", "TL202"),
        ("int(os.environ['LOCAL_RANK'])", "TL201"),
        ("dist.get_node_local_rank()", "TL201"),
    ],
)
def test_the_device_decides_which_rule_speaks(device: str, code: str, tmp_path: Path) -> None:
    text = f"def setup(rank: int, gpus):\n    torch.cuda.set_device({device})\n    dist.init_process_group('nccl')\n"
    assert only(tmp_path, text)[0].code == code


@pytest.mark.parametrize(
    "sets",
    [
        "os.environ['CUDA_VISIBLE_DEVICES'] = str(gpu)",
        "os.environ.setdefault('CUDA_VISIBLE_DEVICES', str(gpu))",
        "os.environ.update(CUDA_VISIBLE_DEVICES=str(gpu))",
        "run(env=dict(os.environ, CUDA_VISIBLE_DEVICES=str(gpu)))",
        "run(env={'CUDA_VISIBLE_DEVICES': str(gpu)})",
        "run('CUDA_VISIBLE_DEVICES=0 python train.py')",
        "run(f'CUDA_VISIBLE_DEVICES={gpu} python train.py')",
    ],
)
def test_a_project_that_chooses_the_visible_gpus_is_not_told_of_another_device(sets: str, tmp_path: Path) -> None:
    code = f"def f(gpu):\n    {sets}\n    torch.cuda.set_device(0)\n    dist.init_process_group('nccl')\n"
    assert [item.code for item in findings(tmp_path, code)[0] if item.code == "TL202"] == []
    assert [item.code for item in findings(tmp_path, code.replace("CUDA_VISIBLE_DEVICES", "OTHER"))[0]] == ["TL202"]


_GIVEN_BACKEND = "def setup(rank, backend):\n    dist.init_process_group(backend, rank=rank, world_size=2)\n"
_NEVER = {
    "calls here": {"main.py": "\n\nsetup(0, 'gloo')\nsetup(1, backend='mpi')\n"},
    "a call of another file": {"other.py": "import main\n\nmain.setup(0, 'gloo')\n"},
    "spawned processes": {"main.py": "\n\nimport torch.multiprocessing as mp\n\nmp.spawn(setup, args=('gloo',), nprocs=2)\n"},
    "spawned by another file": {
        "other.py": "import torch.multiprocessing as mp\nfrom main import setup\n\nmp.spawn(setup, ('gloo',), 2)\n"
    },
}  # fmt: skip
_MAYBE = {
    "one caller of several": {"main.py": "\n\nsetup(0, 'gloo')\n", "other.py": "import main\n\nmain.setup(1, 'nccl')\n"},
    "an option": {"main.py": "\n\nsetup(0, args.backend)\n"},
    "no caller": {},
    "handed on": {"main.py": "\n\nsetup(0, 'gloo')\nstart(setup)\n"},
    "a package": {"main.py": "\n\nsetup(0, 'gloo')\n", "setup.py": "from setuptools import setup\n\nsetup(name='a')\n"},
    "spawned with arguments that are made elsewhere": {
        "main.py": "\n\nimport torch.multiprocessing as mp\n\nmp.spawn(setup, args=given, nprocs=2)\n"
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("files", "expected"), [(files, 0) for files in _NEVER.values()] + [(files, 1) for files in _MAYBE.values()]
)
def test_a_backend_that_no_caller_calls_nccl_is_left_alone(
    files: dict[str, str], expected: int, tmp_path: Path
) -> None:
    others = {name: text for name, text in files.items() if name != "main.py"}
    found, _ = findings(tmp_path, _GIVEN_BACKEND + files.get("main.py", ""), others)
    assert len(found) == expected


_TESTED = {
    "an assertion": "    assert backend in ['gloo', 'mpi'], backend\n    CALL",
    "an assertion of one": "    assert backend == 'gloo' and rank >= 0\n    CALL",
    "an error for others": "    if backend not in ('gloo', 'ccl'):\n        raise ValueError(backend)\n    CALL",
    "a branch": "    if backend == 'gloo':\n        CALL",
    "the other branch": "    if backend != 'gloo' or rank < 0:\n        pass\n    else:\n        CALL",
    "NCCL among them": "    assert backend in ['gloo', 'nccl']\n    CALL",
    "the wrong branch": "    if backend == 'gloo':\n        pass\n    else:\n        CALL",
    "another name": "    assert other in ['gloo', 'mpi']\n    CALL",
    "changed behind it": "    assert backend in ['gloo', 'mpi']\n    backend = choose()\n    CALL",
    "an error that goes on": "    if backend not in ('gloo', 'ccl'):\n        print(backend)\n    CALL",
    "only one of two conditions": "    assert backend == 'gloo' or rank > 0\n    CALL",
}  # fmt: skip


@pytest.mark.parametrize(("name", "body"), _TESTED.items(), ids=_TESTED)
def test_a_backend_that_is_tested_to_be_another_one_is_left_alone(name: str, body: str, tmp_path: Path) -> None:
    call = "dist.init_process_group(backend, rank=rank, world_size=2)\n"
    found, _ = findings(
        tmp_path,
        "class Data:\n    def setup(self, rank, backend='gloo', other=''):\n"
        + "".join(f"    {line}\n" for line in body.replace("CALL", call).splitlines()),
    )
    assert len(found) == (list(_TESTED).index(name) > 4)


@pytest.mark.parametrize(
    ("size", "init", "codes"),
    [
        ("os.environ['WORLD_SIZE'] = '1'", "'nccl'", []),
        ("os.environ['WORLD_SIZE'] = '1'", "'nccl', init_method='env://'", []),
        ("os.environ['WORLD_SIZE'] = '2'", "'nccl'", ["TL202"]),
        ("os.environ['WORLD_SIZE'] = '1'", "'nccl', world_size=n", ["TL202"]),
        ("if n:\n        os.environ['WORLD_SIZE'] = '1'", "'nccl'", ["TL202"]),
        ("other['WORLD_SIZE'] = '1'", "'nccl'", ["TL202"]),
    ],
)
def test_a_group_of_one_by_the_environment_works_on_gpu_0_as_ever(
    size: str, init: str, codes: list[str], tmp_path: Path
) -> None:
    code = f"def setup(n, other):\n    {size}\n    torch.cuda.set_device(0)\n    dist.init_process_group({init})\n"
    found, _ = findings(tmp_path, code)
    assert [finding.code for finding in found] == codes


def test_the_environment_in_front_of_a_match_is_that_of_its_cases(tmp_path: Path) -> None:
    code = "def setup(n):\n    os.environ['WORLD_SIZE'] = '1'\n    torch.cuda.set_device(0)\n    match n:\n        case 1:\n"
    found, _ = findings(tmp_path, f"{code}            dist.init_process_group('nccl')\n")
    assert found == []


@pytest.mark.parametrize(
    ("code", "taken"),
    [
        ("def main(args):\n    print(args.local_rank)\n    dist.init_process_group('nccl')\n", True),
        ("def main(a):\n    args = a\n    print(args.local_rank)\n    dist.init_process_group('nccl')\n", True),
        ("def main(a):\n    dist.init_process_group('nccl')\n    args = a\n    print(args.local_rank)\n", False),
    ],
    ids=["a parameter", "bound before", "bound behind"],
)
def test_an_option_that_the_function_reads_is_the_device_where_it_is_bound_already(
    code: str, taken: bool, tmp_path: Path
) -> None:
    finding, _ = only(tmp_path, code)
    assert ("`args.local_rank` is this process's GPU" in (finding.help or "")) is taken


@pytest.mark.parametrize(
    ("between", "safety"),
    [
        ("", Safety.SAFE),
        ("    local_rank += args.first\n", Safety.UNSAFE),
        ("    local_rank = dist.get_rank()\n", Safety.UNSAFE),
    ],
)
@pytest.mark.parametrize("device", ['torch.device(f"cuda:{local_rank}")', "local_rank"])
def test_a_device_set_again_is_another_one_where_its_number_changed(
    between: str, safety: Safety, device: str, tmp_path: Path
) -> None:
    code = (
        'def main(args):\n    local_rank = int(os.environ["LOCAL_RANK"])\n'
        f'    torch.cuda.set_device({device})\n    dist.init_process_group("nccl")\n'
        f"{between}    torch.cuda.set_device(local_rank)\n    x = torch.ones(1, device='cuda')\n    dist.all_reduce(x)\n"
    )
    finding, _ = only(tmp_path, code)
    assert finding.safety is safety, finding.help


@pytest.mark.parametrize(("more", "told"), [("", 0), ('TABLE["cuda"] = "nccl"\n', 1), ("fill(TABLE)\n", 1)])
def test_a_table_of_other_backends_is_one_only_where_nothing_changes_it(more: str, told: int, tmp_path: Path) -> None:
    code = f'TABLE = {{"cpu": "gloo", "mpi": "mpi"}}\n{more}\n\ndef main(kind):\n    dist.init_process_group(TABLE[kind])\n'
    found, _ = findings(tmp_path, code)
    assert len(found) == told
