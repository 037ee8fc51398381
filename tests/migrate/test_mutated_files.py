"""Odd code: a run finds no defect of its own, what it writes is Python, and a second run changes nothing."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from example_project import RUN_HERE, analyse_files
from exhaustive import tried
from mutated_neighbours import machine, neighbours
from mutated_sources import mutated, parses

from torchlift.migrate.result import RunResult
from torchlift.toml_text import parsed_toml
from torchlift.torchscript_intent import UNSTATED, TorchScriptIntent
from torchlift.versions import TorchVersion
from torchlift.wheels.machine import Machine

FILES = 8
# `TORCHLIFT_FUZZ=START:COUNT pytest tests/migrate/test_mutated_files.py` tries other seeds, each of them a project.
START, COUNT = map(int, os.environ.get("TORCHLIFT_FUZZ", f"0:{tried(24, 400)}").split(":"))

_NET = "class Net(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n\n\n"
_SAVED = """\
def test_net():
    net, x = Net(), torch.zeros(2)
    expected = net(x) if flag else None
    assert expected.sum() == 2
    buffer = io.BytesIO()
    torch.jit.save({}, buffer)
    buffer.seek(0)
    loaded = torch.jit.load(buffer)
    assert torch.equal(loaded(x), expected)
"""
# Code on which 100,000 files did not end well, less what had no part in it; each with a sibling.
FOUND = {
    "lone carriage returns around statements that move": (
        "import os\r\rimport torch\rimport torch.distributed as dist\r\r\rdef setup():\r    dist.init_process_group('nccl')\r"
        "    local_rank = int(os.environ['LOCAL_RANK'])  # why\r    torch.cuda.set_device(local_rank)\r'''docs'''"
    ),
    "lone carriage returns and no comment": (
        "import torch\rimport torch.distributed as dist\r\r\rdef setup(rank):\r    dist.init_process_group('nccl')\r"
        "    device = torch.device('cuda', rank)\r    torch.cuda.set_device(device)\r"
    ),
    "no newline behind the import that another one follows": (
        "def is_nccl(b):\n    return isinstance(b, dist.ProcessGroupNCCL)\n\n\n"
        "for item in items:\n    import torch.distributed as dist"
    ),
    "no newline but a comment behind that import": (
        "def is_nccl(b):\n    return isinstance(b, dist.ProcessGroupNCCL)\n\n\n"
        "while items:\n    import torch.distributed as dist  # late"
    ),
    "an import that goes into the branch that is lost": (
        "if not torch.jit.is_scripting():\n\timport torch\nelse:\n\timport torch\n\n\n"
        "class Net(torch.nn.Module):\n\twidth: torch.jit.Final[int]\n"
    ),
    "an import that goes into the branch that stays": (
        "if torch.jit.is_scripting():\n    pass\nelse:\n    import torch\n\n\n"
        "class Net(torch.nn.Module):\n    width: torch.jit.Final[int]\n"
    ),
    "a module that both branches import, and a line with more to say once": (
        "from typing import Optional\nif not torch.jit.is_scripting():\n    import torch\nelse:\n    import torch\n"
        "from torch.cuda.amp import GradScaler\ndef make(scaler: 'GradScaler', other: Optional[GradScaler] = None): return other or GradScaler()\n"
    ),
    "the same about questions of tracing and autocast": (
        "from typing import Optional\nif torch.jit.is_tracing():\n    import torch\nelse:\n    import torch\n"
        "from torch.cuda.amp import autocast\ndef make(cast: 'autocast', other: Optional[autocast] = None): return other or autocast()\n"
    ),
    "a suppression that goes from within a call that changes": (
        "import torch.utils.checkpoint as cp\n\n\ndef f(*args):\n    return cp.checkpoint(  # torchlift: ignore[TL101] why\n"
        "        torch.sin,\n        *args,\n        preserve_rng_state=False,\n    )\n"
    ),
    "a suppression that goes from a branch that moves": (
        "import torch\n\n\ndef f(x):\n    if not torch.jit.is_scripting():\n        return x + 1  # torchlift: ignore[TL101] why\n"
        "    return x\n"
    ),
    "a name that becomes the last of an import above": (
        "from typing import Any\n\nimport torch\n\n\nclass Net(torch.nn.Module):\n    width: torch.jit.Final[Any]\n"
    ),
    "one of several lines": (
        "from typing import (\n    Any,\n    Dict)\nfrom torch.jit import Final\nimport torch\n\n\nclass Net(torch.nn.Module):\n"
        "    width: Final[Any]\n"
    ),
    "a name that becomes the last of an import with a semicolon": (
        "from typing import Any; import os\nfrom torch.jit import _overload_method\n\n\nclass Net:\n    @_overload_method\n"
        "    def run(self, x: int) -> Any:\n        pass\n\n    def run(self, x):\n        return x\n"
    ),
    "a line that goes on into a blank one, above what goes": "import torch\n\n\nimport torch as th\n \\\n\ntorch.jit.script(swish)\n",
    "a suppression that goes from a line that the one above goes on into": (
        "import torch\n \\\n  # torchlift: ignore[TL101] why\nclass Act:\n    def f(x):\n        return x + 1\n"
    ),
    "the same at the end of a function": (
        "import torch\n\n\ndef f(x):\n    return x\n    \\\n    # torchlift: ignore[TL101] why\n\n\ndef g(x):\n    return x\n"
    ),
    "a test that goes with a comment that the line above goes on into": (
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x) + 1\n\n\ndef test_values():\n"
        "    net = Net()\n    assert net(torch.zeros(2)).sum() == 2\n\n \\\n# The scripted module gives the same.\ndef test_scripted():\n"
        "    net = Net()\n    x = torch.rand(2)\n    torch.testing.assert_close(torch.jit.script(net)(x), net(x))\n"
    ),
    "a form feed in a comment": "for item in items:\n    from torchvision.models import resnet50  # \x0c\n\nmodel = resnet50(pretrained=True)\n",
    "a loop that members of a group leave": (
        "import torch.distributed as dist\n\n\ndef build(world):\n    for first in range(0, world, 2):\n        ranks = [first, first + 1]\n"
        "        if dist.get_rank() in ranks:\n            pair = dist.new_group(ranks)\n            return pair\n"
    ),
    "the same inside a function": "import torch\n\n\ndef f(x):\n    y = x\n    \\\n\n    torch._C._jit_set_profiling_mode(False)\n",
    "a test that scripts in the call that saves": "import io\n\nimport torch\n\n\n"
    + _NET
    + _SAVED.format("torch.jit.script(net)"),
    "a test that traces in the call that saves": "import io\n\nimport torch\n\n\n"
    + _NET
    + _SAVED.format("torch.jit.trace(net, (x,)).eval()"),
}


@pytest.mark.parametrize("source", FOUND.values(), ids=FOUND)
@pytest.mark.parametrize("lowest", [RUN_HERE, TorchVersion(2, 0)], ids=str)
@pytest.mark.parametrize("intent", [UNSTATED, TorchScriptIntent(support="drop")], ids=["unstated", "drop"])
def test_code_that_once_did_not_ends_well(
    source: str, lowest: TorchVersion, intent: TorchScriptIntent, tmp_path: Path
) -> None:
    ends_well(tmp_path, {"m.py": source.encode()}, unsafe=True, lowest=lowest, intent=intent)


def test_a_name_that_nothing_binds_is_no_compiler(tmp_path: Path) -> None:
    module = "import torch\n\n\ndef f(x):\n    if torch.jit.is_scripting():\n        return x + 1\n    return x\n"
    other = "import torch\nfrom torch.jit import isinstance as is_a\n\nf = jit.script(f)\nis_a(x, int)\n"
    ends_well(tmp_path, {"m.py": module.encode(), "other.py": other.encode()}, unsafe=True)


@pytest.mark.parametrize("seed", range(START, START + COUNT))
def test_mutated_examples_end_well(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    files = {f"m{number}.py": mutated(chance) for number in range(FILES)} | neighbours(chance)
    unsafe, drops = chance.random() < 0.7, chance.random() < 0.4
    lowest = chance.choice([RUN_HERE, RUN_HERE, TorchVersion(2, 0)])
    intent = TorchScriptIntent(support="drop") if drops else UNSTATED
    ends_well(tmp_path, files, unsafe=unsafe, lowest=lowest, intent=intent, on=machine(chance))


def ends_well(
    folder: Path,
    files: dict[str, bytes],
    *,
    unsafe: bool,
    lowest: TorchVersion = RUN_HERE,
    intent: TorchScriptIntent = UNSTATED,
    on: Machine | None = None,
) -> None:
    """There is no defect, what is written parses, and a second run changes nothing."""

    def run(texts: dict[str, bytes]) -> RunResult:
        return analyse_files(folder, texts, unsafe=unsafe, min_torch=lowest, torchscript=intent, machine=on)

    first = run(files)
    assert [(failure.path, failure.reason, failure.detail) for failure in first.failures] == []
    changed = {outcome.path: outcome for outcome in first.outcomes if outcome.new_text is not None}
    new = {path: outcome.shown.to_bytes() for path, outcome in changed.items()}
    assert [path for path, data in new.items() if not _is_whole(path, files[path], data)] == []
    for path in [path for path, outcome in changed.items() if outcome.is_removed]:
        (folder / path).unlink()
        del files[path], new[path]
    second = run(files | new)
    again = [outcome for outcome in second.outcomes if outcome.new_text is not None]
    assert second.failures == () and [(outcome.path, outcome.new_text) for outcome in again] == []


def _is_whole(path: str, old: bytes, new: bytes) -> bool:
    """Whether a file is read by the reader of its kind, if the old one was."""
    read = {".py": parses, ".ipynb": partial(_reads, json.loads), ".toml": partial(_reads, _toml)}.get(
        Path(path).suffix
    )
    return read is None or read(new) or not read(old)


def _toml(data: bytes) -> object:
    return parsed_toml(data.decode())


def _reads(read: Callable[[bytes], object], data: bytes) -> bool:
    try:
        read(data)
    except ValueError:
        return False
    return True
