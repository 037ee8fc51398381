"""Whether the example input of a trace is one tensor, as far as the code around asks."""

from __future__ import annotations

import ast

import pytest

from torchlift.rules.torchscript.values.example_inputs import read_example_inputs
from torchlift.source import SourceText
from torchlift.view import ModuleView


@pytest.mark.parametrize(
    ("line", "form"),
    [
        ("net(inputs)", "tensor"),
        ("inputs = (inputs,) if not isinstance(inputs, tuple) else inputs", "unknown"),
        ("assert isinstance(inputs, (list, tuple))", "unknown"),
        ("net(*inputs)", "unknown"),
        ("assert isinstance(other, tuple)", "tensor"),
    ],
)
def test_an_input_that_may_be_several_is_not_taken_for_one_tensor(line: str, form: str) -> None:
    source = SourceText(f"import torch\n\ndef f(net, inputs, other):\n    {line}\n    net(inputs)\n    mark(inputs)\n")
    view = ModuleView("a.py", source, source.parse())
    calls = [node for node in ast.walk(view.tree) if isinstance(node, ast.Call)]
    mark = next(call for call in calls if ast.unparse(call.func) == "mark")
    plain = tuple(call for call in calls if ast.unparse(call) == "net(inputs)")
    assert read_example_inputs(view, mark.args[0], plain).form == form
