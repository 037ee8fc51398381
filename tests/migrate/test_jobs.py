"""The number of processes changes nothing about what is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlift.finding import Finding
from torchlift.migrate.result import Mode
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Settings
from torchlift.versions import TorchVersion

# What is found in most of them depends on what stands in the others.
FILES = {
    "pkg/__init__.py": "__version__ = '1'\n",
    "pkg/export.py": "import torch\n\n\ndef write(net, x):\n    torch.jit.trace(net, x).save('net.pt')\n",
    "pkg/serve.py": "import torch\n\nnet = torch.jit.load('net.pt')\n",
    "pkg/compat.py": "from torch import ger\nfrom torch.jit import script as compiled\n",
    "pkg/use.py": "from pkg.compat import compiled, ger\n\n\n@compiled\ndef outer(a, b):\n    return ger(a, b)\n",
    "pkg/hints.py": "import torch\n\n\ndef f(x):\n    if torch.jit.is_scripting() or torch.jit.is_tracing():\n        return x\n"
    "    return x + 1\n",
    "pkg/norm.py": "from torch.nn.utils import weight_norm\n\n\ndef wrap(net):\n    return weight_norm(net)\n",
    "pkg/state.py": "def copy(net):\n    return net.weight_g, net.weight_v\n",
    "pkg/group.py": "import torch\nimport torch.distributed as dist\n\ndist.init_process_group('nccl')\n",
    "pkg/sync.py": "import torch\nimport torch.distributed as dist\n\n\ndef f():\n    n = torch.zeros(1)\n    dist.all_reduce(n)\n",
    "pkg/broken.py": "import torch\n\nx = torch.ger(\n",
    "pkg/quiet.py": "import json\n",
}


@pytest.mark.parametrize("mode", [Mode.CHECK, Mode.DIFF])
def test_one_process_finds_what_several_find(tmp_path: Path, mode: Mode) -> None:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def result(jobs: int) -> list[tuple[str, str | None, tuple[Finding, ...], tuple[Finding, ...]]]:
        settings = Settings(min_torch=TorchVersion(2, 13))
        codes = frozenset(all_rules())
        run = analyse(RunOptions(tmp_path, tuple(FILES), mode, codes, True, settings, jobs=jobs))
        assert not run.failures
        return [(o.path, o.new_text, o.fixed, o.left) for o in run.outcomes]

    alone = result(1)
    found = {finding.code for _, _, fixed, left in alone for finding in (*fixed, *left)}
    assert {"TL101", "TL102", "TL103", "TL117", "TL118", "TL240", "TL401", "TL421", "TL902"} <= found
    assert result(2) == alone == result(3)
