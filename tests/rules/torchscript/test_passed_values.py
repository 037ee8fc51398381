"""What a value is that a function is called with."""

from __future__ import annotations

import ast

import pytest

from torchlift.rules.torchscript.functions.passed_values import gives_tensor
from torchlift.source import SourceText
from torchlift.view import ModuleView


@pytest.mark.parametrize(
    ("value", "known"),
    [
        ("torch.tensor(3)", True),
        ("torch.sum(x)", True),
        ("torch.rand(3).sum()", True),
        ("total", True),
        ("x.sum()", False),
        ("numpy.ones(3).sum()", False),
        ("torch.rand(3).tolist()", False),
        ("helper.sum(torch.rand(3))", False),
        ("3", False),
    ],
)
def test_a_value_surely_is_a_tensor_where_torch_makes_or_reduces_one(value: str, known: bool) -> None:
    source = SourceText(f"import numpy\nimport torch\nimport helper\n\ntotal = torch.rand(3).sum()\nuse({value})\n")
    view = ModuleView("a.py", source, source.parse())
    (call,) = [
        node for node in ast.walk(view.tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "use"
    ]
    assert gives_tensor(view, call.args[0]) is known
