"""Names that mean TorchScript's own here and something plain there, and files that are only named like tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlift.migrate.result import Mode
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.rule import Settings
from torchlift.torchscript_intent import DROP
from torchlift.versions import TorchVersion

NAMED = "import torch\n\nBase = torch.jit.ScriptModule\n\n\nclass Net(torch.nn.Module):\n    pass\n"
OTHERS = {
    "a name of its own": ("import torch\n\nBase = torch.nn.Module\n\n\nclass Other(Base):\n    pass\n", True),
    "an import of the name": ("from net import Base\n\nprint(Base)\n", False),
    "a name of its own and an import in a function": (
        "Base = object\n\n\ndef f():\n    from net import Base\n\n    return Base\n",
        False,
    ),
    "the name of another module's attribute": ("import net\n\nBase = net.Base\n", False),
    "the name in a string": ("import net\n\nBase = getattr(net, 'Base')\n", False),
    "all names of the module": ("from net import *\n\nBase = Base\n", False),
}


def migrated(folder: Path, files: dict[str, str]) -> dict[str, str]:
    """New texts of the files that change, with fixes for review."""
    for name, text in files.items():
        (folder / name).write_text(text)
    names = tuple(sorted(files))
    settings = Settings(min_torch=TorchVersion(2, 13), torchscript=DROP)
    codes = frozenset({"TL102", "TL105", "TL136"})
    options = RunOptions(
        folder, names, Mode.DIFF, codes, unsafe_fixes=True, settings=settings, project_files=lambda: names, jobs=1
    )
    result = analyse(options)
    assert not result.failures
    return {one.path: one.new_text for one in result.outcomes if one.new_text is not None}


@pytest.mark.parametrize("case", OTHERS)
def test_a_name_goes_unless_another_file_may_take_it_from_here(case: str, tmp_path: Path) -> None:
    other, goes = OTHERS[case]
    changed = migrated(tmp_path, {"net.py": NAMED, "other.py": other})
    assert ("net.py" in changed) == goes
    assert "Base" not in changed.get("net.py", "")


SPEED = (
    "import torch\n\nfrom net import Net\n\n\nclass Speed:\n    def __init__(self):\n        self.prepare()\n\n    def prepare(self):\n"
    "        self.net = Net()\n        self.net = torch.jit.script(self.net)\n\n    def loop(self):\n        self.net(torch.ones(1))\n\n\n"
    "if __name__ == '__main__':\n    Speed()\n"
)
PLAIN = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n"


def test_a_program_that_is_named_like_a_file_of_tests_is_none(tmp_path: Path) -> None:
    changed = migrated(tmp_path, {"net.py": PLAIN, "speed_test.py": SPEED})
    assert "        self.net = Net()\n\n    def loop" in changed["speed_test.py"]
