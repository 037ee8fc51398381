"""A fix for review that other fixes of the same run make possible was in no report before: the run says what it rests on."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import told

FILES = {
    "setting.py": "import other\nimport torch\n\n\ndef start():\n    torch._C._jit_set_profiling_mode(False)\n    return other\n",
    "scripted.py": "import torch\n\n\n@torch.jit.script\ndef double(x: torch.Tensor):\n    return x + x\n",
}


@pytest.mark.parametrize("diff", [(), ("--diff",)], ids=["written", "shown"])
def test_a_run_says_what_fixes_rest_on_that_no_report_could_tell(diff: tuple[str, ...], tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    drop = ("migrate", "--select", "TL1", "--torchscript", "drop", "--allow-no-vcs")
    before = told(tmp_path, *drop, "--check")
    rests_on = "Needs review: `other` must not run TorchScript in the same process."
    assert rests_on not in before.stdout + before.stderr
    done = told(tmp_path, *drop, "--unsafe-fixes", *diff)
    assert f"setting.py TL131 Remove the setting: other fixes of this run made it possible. {rests_on}" in done.stderr
    assert "scripted.py TL102" not in done.stderr
