"""Files migrated for a project that has nobody left who needs TorchScript."""

from __future__ import annotations

from pathlib import Path

from torchlift.finding import Finding
from torchlift.migrate.result import Mode
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Settings
from torchlift.torchscript_intent import DROP, TorchScriptIntent
from torchlift.versions import TorchVersion

NET = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n\n\n"
CODES = frozenset(code for code in all_rules() if code.startswith("TL1"))


def migrated(
    folder: Path, files: dict[str, str], *, unsafe: bool = False, intent: TorchScriptIntent = DROP
) -> tuple[dict[str, str], list[Finding]]:
    """New texts of the files that change, and what is left."""
    for name, text in files.items():
        (folder / name).write_text(text)
    names = tuple(sorted(files))
    settings = Settings(min_torch=TorchVersion(2, 13), torchscript=intent)
    options = RunOptions(
        folder, names, Mode.DIFF, CODES, unsafe_fixes=unsafe, settings=settings, project_files=lambda: names, jobs=1
    )
    result = analyse(options)
    assert not result.failures
    changed = {one.path: one.new_text for one in result.outcomes if one.new_text is not None}
    return changed, [finding for one in result.outcomes for finding in one.left]


def body(text: str) -> str:
    """A file with `Net` and the test `text`."""
    return NET + text
