"""Which files choose the GPUs that a process sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlift.project import Project
from torchlift.rules.distributed.devices.device_guess import VISIBLE_DEVICES
from torchlift.source import SourceText


@pytest.mark.parametrize(
    ("code", "chooses"),
    [
        ('import os\n\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\n', True),
        ('x = 1\n\n\n@run("CUDA_VISIBLE_DEVICES=0 python a.py")\ndef f():\n    pass\n', True),
        ("def f(env):\n    env.update(CUDA_VISIBLE_DEVICES=1)\n", True),
        ('command = f"CUDA_VISIBLE_DEVICES={gpu} python a.py"\n', True),
        ('import os\n\nprint(os.environ["CUDA_VISIBLE_DEVICES"])\n', False),
        ('x = 1  # CUDA_VISIBLE_DEVICES=0\ny = "CUDA_VISIBLE_DEVICES"\n', False),
    ],
)
def test_a_file_that_sets_the_variable_or_starts_a_command_with_it_chooses(code: str, chooses: bool) -> None:
    project = Project(Path("nowhere"), ("a.py",), {"a.py": SourceText(code)})
    assert (project.record(VISIBLE_DEVICES, "a.py") is True) is chooses
