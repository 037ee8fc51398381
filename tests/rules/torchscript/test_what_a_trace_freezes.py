"""What a trace keeps of its example, read from one function."""

from __future__ import annotations

import ast

import pytest

from torchlift.rules.torchscript.modules.tracing_differences import frozen_parts
from torchlift.source import SourceText
from torchlift.view import ModuleView


@pytest.mark.parametrize(
    ("line", "frozen"),
    [
        ("for i in range(3): x = x + i", ""),
        ("for layer in self.layers: x = layer(x)", ""),
        ("for i in range(len(self.layers)): x = x + i", "len"),
        ("for i in range(x.shape[0]): x = x + i", "loops over more than constants"),
        ("for i in range(count): x = x + i", "loops over more than constants"),
        ("if self.deep: x = x + 1", ""),
        ("if self.training: x = x + 1", "branches"),
        ("if x.sum() > 0: x = x + 1", "branches"),
        ("while x.sum() > 0: x = x - 1", "loops as often"),
        ("with self.lock: x = x + 1", "works under a context manager"),
        ("assert x.dim() == 2", "checks something"),
        ("x = x + x.max().item()", "takes numbers out"),
        ("x = x + int(x.max())", "calls `int`"),
        ("x = helper(x)", "calls `helper`"),
        ("self.count += 1", "changes `self.count`"),
    ],
)
def test_a_trace_keeps_what_depends_on_more_than_constants_of_the_module(line: str, frozen: str) -> None:
    code = f"def forward(self, x, count):\n    {line}\n    return x\n"
    view = ModuleView("net.py", SourceText(code), ast.parse(code), "net")
    (function,) = view.tree.body
    assert isinstance(function, ast.FunctionDef)
    said = list(frozen_parts(view, function, "`Net.forward`"))
    assert (len(said) == 1 and frozen in said[0]) if frozen else said == [], said
