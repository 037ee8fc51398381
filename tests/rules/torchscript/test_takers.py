"""Files that are not parsed for what takes TorchScript hold nothing that does."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files

from torchlift.project import Project
from torchlift.rules.torchscript.facts import value_consumers
from torchlift.rules.torchscript.values import takers
from torchlift.torchscript_intent import DROP

MORE = ("torch_neuronx.trace", "torch.neuron.trace", "ipex.optimize", "torch2trt.torch2trt", "torch._export.converter.TS2EPConverter", "torch.ao.quantization.quantize_jit")  # fmt: skip


@pytest.mark.parametrize(
    "name", [*value_consumers._ADVICE, *MORE, *sorted(takers._METHODS), "torch.jit.save", "model.save"]
)
def test_whatever_takes_torchscript_is_spelled_with_a_word_that_files_are_sieved_by(name: str) -> None:
    taken = value_consumers.takes_torchscript(name) and not name.startswith(takers._TORCH)
    assert takers._TAKES.search(name.encode()) or not (taken or name.rpartition(".")[2] in {"save", *takers._METHODS})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import torch\n\ntorch.jit.save(net, 'net.pt')\n", 3),
        ("# torch.jit.save(net)\nnet.save_to_buffer()\n", 2),
        ("import torch\n\ntorch.save(net, 'net.pt')\n", None),
        ("# torch.jit.save(net, 'net.pt')\n", None),
    ],
)
def test_the_first_place_of_a_project_that_takes_torchscript_is_told_and_those_of_tests_are_not(
    text: str, line: int | None, tmp_path: Path
) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_a.py").write_text("import torch\n\ntorch.jit.save(net, 'net.pt')\n")
    (tmp_path / "net.py").write_text(text)
    found = takers.first_taker(Project(tmp_path, ("net.py", "tests/test_a.py")))
    assert found == (None if line is None else f"net.py:{line}")


def test_what_an_exporter_to_onnx_gets_from_another_object_stays_scripted(tmp_path: Path) -> None:
    export = (
        "import torch\n\n\ndef export(model, x):\n    model.diffusion = torch.jit.script(model.diffusion)\n"
        "    torch.onnx.export(model.diffusion, (x,), 'd.onnx')\n"
    )
    called = export.replace("torch.onnx.export(model.diffusion, (x,), 'd.onnx')", "model.diffusion(x)")
    for text, stays in ((export, True), (called, False)):
        result = analyse_files(tmp_path, {"export.py": text}, unsafe=True, torchscript=DROP)
        assert [one.fix is None for one in all_findings(result) if one.code == "TL102"] == [stays]
