"""A traced part of a module that is scripted as a whole stays as long as the whole does: it may be what cannot be scripted."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files

from torchlift.finding import Finding
from torchlift.torchscript_intent import TorchScriptIntent

WHOLE = """import torch


class Both(torch.nn.Module):
    def __init__(self, encoder, scale: float):
        super().__init__()
        self.encoder = encoder
        self.scale = scale

    def forward(self, x):
        return self.encoder(x) * self.scale


def write(encoder, path):
    traced = torch.jit.trace(encoder, torch.ones(2, 3))
    both = Both(traced, 2.0)
"""
DROP = TorchScriptIntent(support="drop")


def about_the_trace(folder: Path, then: str, intent: TorchScriptIntent) -> Finding:
    result = analyse_files(folder, {"a.py": f"{WHOLE}    {then}\n"}, torchscript=intent)
    (found,) = (finding for finding in all_findings(result) if finding.code == "TL101")
    return found


@pytest.mark.parametrize("intent", [TorchScriptIntent(), DROP], ids=["unset", "drop"])
def test_a_part_is_neither_exported_nor_plain_while_the_whole_is_scripted(
    intent: TorchScriptIntent, tmp_path: Path
) -> None:
    found = about_the_trace(tmp_path, "torch.jit.script(both).save(path)", intent)
    assert found.fix is None
    assert "becomes a part of `Both`, which a.py:17 compiles and which has to go first" in (found.help or "")


def test_a_part_of_what_nothing_scripts_is_offered_as_the_plain_module(tmp_path: Path) -> None:
    assert about_the_trace(tmp_path, "return both(torch.ones(2, 3))", DROP).fix is not None
