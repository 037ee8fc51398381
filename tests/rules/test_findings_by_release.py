"""What the releases that a branch or a project runs on change in what is found and said."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files

from torchlift.versions import TorchVersion

_TABLES = {
    "TL401": "y = torch.ger(a, b)",
    "TL402": "y = torch.cuda.MemPoolContext(pool)",
    "TL403": "torch.set_default_tensor_type(t)",
    "TL404": "y = torch.optim.lr_scheduler.StepLR(o, 2, verbose=flag)",
}
_OLDER = "if Version(torch.__version__) {} Version('{}'):\n    "
# (code around it, whether the torch that the project moves to runs it)
BRANCHES = {
    "all releases of the project": (_OLDER.format(">=", "1.10") + "{}", True),
    "the newest releases": (_OLDER.format(">=", "2.14") + "{}", True),
    "only older ones": (_OLDER.format("<", "2.14") + "{}", False),
    "the other branch, for older ones": (_OLDER.format(">=", "1.10") + "pass\nelse:\n    {}", False),
    "the other branch, for the newest": (_OLDER.format("<", "2.14") + "pass\nelse:\n    {}", True),
    "behind a test that old releases fail": (_OLDER.format("<", "1.10") + "raise ImportError\n{}", True),
    "behind a test that new ones fail": (_OLDER.format(">=", "2.14") + "raise ImportError\n{}", False),
    "behind an assertion of old releases": ("assert Version(torch.__version__) >= Version('1.10')\n{}", True),
    "where the name is asked for": ("if hasattr(torch, 'anything'):\n    {}", False),
    "where the name is looked for in a list": ("if 'anything' not in dir(torch):\n    {}", False),
    "where it is looked for in the public ones": ("if 'anything' not in torch.__all__:\n    {}", False),
    "where it is taken if it is there": ("if getattr(torch, 'anything', None) is None:\n    {}", False),
    "where something else is looked for": ("if 'anything' not in dir(options):\n    {}", True),
}


@pytest.mark.parametrize(("around", "runs"), BRANCHES.values(), ids=BRANCHES)
@pytest.mark.parametrize(("code", "line"), _TABLES.items(), ids=_TABLES)
def test_a_branch_that_the_new_torch_runs_is_code_like_any_other(
    code: str, line: str, around: str, runs: bool, tmp_path: Path
) -> None:
    source = f"import torch\nfrom packaging.version import Version\n\n{around.format(line)}\n"
    found = all_findings(analyse_files(tmp_path, {"m.py": source}, min_torch=TorchVersion(2, 0)))
    assert (code in {item.code for item in found}) == runs


@pytest.mark.parametrize("error", ["ImportError", "Exception", "(ImportError, OSError)"])
@pytest.mark.parametrize("first", ["assert_close", "assert_allclose"])
def test_of_two_imports_in_one_try_each_release_takes_the_one_that_it_has(
    error: str, first: str, tmp_path: Path
) -> None:
    second = {"assert_close": "assert_allclose", "assert_allclose": "assert_close"}[first]
    source = f"try:\n    from torch.testing import {first} as same\nexcept {error}:\n    from torch.testing import {second} as same\nsame(x, y)\n"
    assert not all_findings(analyse_files(tmp_path, {"m.py": source}, min_torch=TorchVersion(2, 0)))


_GUARDS = "import torch\n\ntorch.fx.experimental.symbolic_shapes.ShapeGuardPrinter\n"
_GATHER = "import torch\n\ntorch.distributed.nn.all_gather(x)\n"
# what it is about: (lowest torch, source, what the help says, what it does not say)
NEWER = {
    "a newer name is preferred to none": ("2.0", _GUARDS, "`torch.fx.experimental.symbolic_shapes.ShapeGuardPythonPrinter` needs torch 2.6.", "2.2."),
    "all have it": ("2.6", _GUARDS, "please use `torch.fx.experimental.symbolic_shapes.ShapeGuardPythonPrinter`", "needs torch"),
    "the old name is as new": ("2.0", "import torch\n\ntorch.cuda.MemPoolContext(pool)\n", "use_mem_pool", "It needs torch"),
    "the newest name, which all have": ("2.13", _GATHER, "all_gather_single", "all_gather_tensor"),
    "the name that older releases have, too": ("2.0", _GATHER, "all_gather_tensor(tensor, 0, group)", "It needs torch"),
    "an argument that older releases lack": ("2.0", "import torch\n\ntorch.distributed.init_process_group('nccl')\n", "`device_id` exists since torch 2.3.", "``"),
    "an argument that all have": ("2.3", "import torch\n\ntorch.distributed.init_process_group('nccl')\n", "Pass `device_id=", "exists since"),
    "a name that was always there": ("2.0", "import torch\n\ntorch.set_default_tensor_type(t)\n", "set_default_dtype", "needs torch"),
}  # fmt: skip


@pytest.mark.parametrize(("lowest", "source", "said", "unsaid"), NEWER.values(), ids=NEWER)
def test_help_names_what_runs_on_the_lowest_torch(
    lowest: str, source: str, said: str, unsaid: str, tmp_path: Path
) -> None:
    [found] = all_findings(analyse_files(tmp_path, {"m.py": source}, min_torch=TorchVersion.parse(lowest)))
    assert found.help is not None and said in found.help and unsaid not in found.help, found.help
