"""Files that are not parsed for what takes TorchScript hold nothing that does."""

from __future__ import annotations

import pytest

from torchlift.rules.torchscript.facts import value_consumers
from torchlift.rules.torchscript.values import takers

MORE = ("torch_neuronx.trace", "torch.neuron.trace", "ipex.optimize", "torch2trt.torch2trt", "torch._export.converter.TS2EPConverter", "torch.ao.quantization.quantize_jit")  # fmt: skip


@pytest.mark.parametrize(
    "name", [*value_consumers._ADVICE, *MORE, *sorted(takers._METHODS), "torch.jit.save", "model.save"]
)
def test_whatever_takes_torchscript_is_spelled_with_a_word_that_files_are_sieved_by(name: str) -> None:
    taken = value_consumers.takes_torchscript(name) and not name.startswith(takers._TORCH)
    assert takers._TAKES.search(name.encode()) or not (taken or name.rpartition(".")[2] in {"save", *takers._METHODS})
