"""What the user keeps as TorchScript is told in a note for each artifact, and not touched."""

from __future__ import annotations

from pathlib import Path

from torchlift.migrate import Config, Mode, migrate
from torchlift.migrate.result import RunResult
from torchlift.torchscript_intent import TorchScriptIntent
from torchlift.versions import LATEST

EXPORT = """\
import torch

from nets import Net

torch.jit.script(Net()).save("net.pt")
"""
NETS = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        if torch.jit.is_scripting():
            return x
        return 2 * x
"""
PREDICT = 'import torch\n\nnet = torch.jit.load("net.pt")\n'
SERVER = '#include <torch/script.h>\nauto net = torch::jit::load("net.pt");\n'
LOSSES = "import torch\n\n\n@torch.jit.script\ndef loss(x, y):\n    return x - y\n"
OTHER = "import torch\n\nresult = torch.ger(torch.ones(2), torch.ones(2))\n"


def migrated(folder: Path, intent: TorchScriptIntent, mode: Mode = Mode.DIFF) -> RunResult:
    files = {
        "export.py": EXPORT,
        "nets.py": NETS,
        "predict.py": PREDICT,
        "server.cpp": SERVER,
        "losses.py": LOSSES,
        "other.py": OTHER,
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    config = Config(torchscript=intent, unsafe_fixes=True, allow_no_vcs=True, min_torch=LATEST)
    return migrate([folder], config, mode=mode)


def codes(result: RunResult, path: str) -> set[str]:
    return {item.code for o in result.outcomes if o.path == path for item in (*o.left, *o.fixed)}


def changed(result: RunResult) -> set[str]:
    return {outcome.path for outcome in result.outcomes if outcome.new_text is not None}


def test_all_of_it_becomes_one_note_for_the_artifact_and_one_for_the_rest(tmp_path: Path) -> None:
    result = migrated(tmp_path, TorchScriptIntent("keep"))
    assert changed(result) == {"other.py"} and codes(result, "export.py") == set()
    artifact, rest, *_ = result.notes
    assert artifact == (
        "The artifact `net.pt` stays TorchScript: written at export.py:5; read at predict.py:3; "
        "C++ (`torch::jit::load`) reads TorchScript at server.cpp:2."
    )
    assert rest == (
        "5 findings are about TorchScript that stays, as you said, in export.py:5, losses.py:4, nets.py:6, predict.py:3, server.cpp:2: "
        "not listed, not rewritten."
    )


def test_what_stays_keeps_what_it_compiles_and_nothing_else(tmp_path: Path) -> None:
    result = migrated(tmp_path, TorchScriptIntent("drop", keep=("net.pt",)))
    assert changed(result) == {"losses.py", "other.py"}
    assert not codes(result, "nets.py") and not codes(result, "predict.py")
    assert len([note for note in result.notes if "stays" in note]) == 2


def test_a_file_that_stays_is_named_by_a_pattern(tmp_path: Path) -> None:
    result = migrated(tmp_path, TorchScriptIntent(keep=("losses.py",)))
    assert not codes(result, "losses.py") and codes(result, "export.py")


def test_without_an_intent_everything_is_listed(tmp_path: Path) -> None:
    result = migrated(tmp_path, TorchScriptIntent())
    assert codes(result, "losses.py") == {"TL102"} and codes(result, "nets.py") == {"TL117"}
    assert not any("stays TorchScript" in note for note in result.notes)


def test_what_breaks_today_is_listed_even_so(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('import torch\n\nnet = torch.load("net.pt")\n')
    (tmp_path / "b.py").write_text('import torch\n\ntorch.jit.script(torch.nn.ReLU()).save("net.pt")\n')
    (tmp_path / "c.py").write_text('import torch\n\ntorch.jit.load("net.pt")\nnet = torch.load("net.pt")\n')
    result = migrate([tmp_path], Config(torchscript=TorchScriptIntent("keep")), mode=Mode.CHECK)
    assert codes(result, "c.py") == {"TL138"}


def test_the_summary_asks_as_long_as_nobody_said_what_becomes_of_torchscript(tmp_path: Path) -> None:
    asked = "nobody said whether the project still supports it"
    assert any(asked in note and "torchlift plan" in note for note in migrated(tmp_path, TorchScriptIntent()).notes)
    for support in ("drop", "keep"):
        assert not any(asked in note for note in migrated(tmp_path, TorchScriptIntent(support)).notes)  # type: ignore[arg-type]


def test_the_summary_asks_what_becomes_of_tests_of_nothing_but_scripting(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("import torch\n\n\ndef test_a():\n    torch.jit.script(torch.nn.ReLU())\n")
    asked = "1 finding is about tests of nothing but scripting"

    def notes(intent: TorchScriptIntent) -> str:
        return " ".join(migrate([tmp_path], Config(torchscript=intent), mode=Mode.CHECK).notes)

    assert asked in notes(TorchScriptIntent("drop")) and "`--torchscript-tests delete`" in notes(
        TorchScriptIntent("drop")
    )
    assert asked not in notes(TorchScriptIntent("drop", tests="delete"))
    assert asked not in notes(TorchScriptIntent())


def test_a_patch_of_what_stays_stays(tmp_path: Path) -> None:
    patch = "from unittest import mock\n\nwith mock.patch('torch.jit.load'):\n    pass\n"
    (tmp_path / "test_a.py").write_text(patch)
    found = {
        support: migrate([tmp_path], Config(torchscript=TorchScriptIntent(support)), mode=Mode.CHECK)  # type: ignore[arg-type]
        for support in (None, "keep")
    }
    assert codes(found[None], "test_a.py") and not codes(found["keep"], "test_a.py")
