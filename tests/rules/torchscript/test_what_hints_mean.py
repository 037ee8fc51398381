"""What torch does with hints for the TorchScript compiler: the rules and their advice rest on it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from torch_programs import TorchPrograms

from torchlift.rules.torchscript.hints.container_tests import CannotTest, container_test
from torchlift.source import SourceText
from torchlift.view import ModuleView


def test_the_flags_of_the_compilers_are_as_the_advice_says(tmp_path: Path, torch_programs: TorchPrograms) -> None:
    code = """
import torch
from torch._C import _get_tracing_state

FLAGS = (
    torch.jit.is_scripting,
    torch.jit.is_tracing,
    lambda: _get_tracing_state() is not None,
    torch.onnx.is_in_onnx_export,
    torch.compiler.is_compiling,
    torch.compiler.is_exporting,
)
seen = []


class Net(torch.nn.Module):
    def forward(self, x):
        seen.append([flag() for flag in FLAGS])
        return x + 1


class Scripted(torch.nn.Module):
    def forward(self, x):
        return torch.jit.is_scripting(), torch.jit.is_tracing(), torch.compiler.is_compiling()


Net()(torch.ones(1))
torch.export.export(Net(), (torch.ones(1),), strict=False)
torch.jit.trace(Net(), torch.ones(1), check_trace=False)
result = [*seen, torch.jit.script(Scripted())(torch.ones(1))]
"""
    off, on = ["bool", False], ["bool", True]
    assert torch_programs.run(tmp_path, {}, code) == [
        "list",
        [
            ["list", [off, off, off, off, off, off]],
            ["list", [off, off, off, off, on, on]],
            ["list", [off, on, on, off, off, off]],
            ["tuple", [on, off, off]],
        ],
    ]


def test_scripted_code_cannot_ask_is_exporting(tmp_path: Path, torch_programs: TorchPrograms) -> None:
    code = """
import torch


def ask(x: torch.Tensor):
    if torch.compiler.is_exporting():
        return x + 1
    return x


try:
    torch.jit.script(ask)
    result = "compiled"
except RuntimeError as error:
    result = "cannot be used as a value" in str(error)
"""
    assert torch_programs.run(tmp_path, {}, code) == ["bool", True]


def test_fork_is_a_plain_call_whose_result_passes_through_types(tmp_path: Path, torch_programs: TorchPrograms) -> None:
    code = """
import collections
import threading

import torch

Pair = collections.namedtuple("Pair", "a b")
log = []


def note(value):
    log.append(threading.current_thread() is threading.main_thread())
    return value


def outcome(value):
    try:
        got = torch.jit.wait(torch.jit.fork(note, value))
        return type(got).__name__, got is value
    except RuntimeError:
        return "RuntimeError"


x = torch.ones(2)
future = torch.jit.fork(note, x)
log.append("after the fork")
torch.jit.wait(future)
try:
    torch.jit.fork(lambda: 1 / 0)
    raised = False
except ZeroDivisionError:
    raised = True
result = [
    log[:2], raised, torch.jit.Future is torch.futures.Future,
    [outcome(value) for value in (x, torch.nn.Parameter(x), 3, None, [x], Pair(x, x), x.shape, [], torch.float32)],
]
"""
    expected = (
        "[[True, 'after the fork'], True, True, [('Tensor', True), ('Parameter', True), ('int', True), ('NoneType', True), "
        "('list', False), ('tuple', False), ('tuple', False), 'RuntimeError', ('int', False)]]"
    )
    assert str(plain(torch_programs.run(tmp_path, {}, code))) == expected


def plain(described: object) -> object:
    """A described result as Python objects."""
    assert isinstance(described, list)
    kind, value = described
    if kind == "list":
        return [plain(item) for item in value]
    return tuple(plain(item) for item in value) if kind == "tuple" else value


VALUES = (
    "[]", "[1]", "[True, 2]", "[1, 'a']", "['a']", "[None]", "[[1]]", "[[1], []]", "[['a']]", "(1,)", "(1, 'a')",
    "(1, None)", "()", "{}", "{'a': 1}", "{1: 'a'}", "{'a': [1]}", "{'a': None}", "None", "3", "'a'", "2.5",
    "torch.ones(2)", "[torch.ones(2)]", "{'a': torch.ones(1)}",
)  # fmt: skip
TYPES = (
    "int", "str", "torch.Tensor", "(int, str)", "Optional[int]", "float | None", "List[int]", "list[torch.Tensor]",
    "List[Optional[int]]", "Dict[str, int]", "dict[str, torch.Tensor]", "Dict[str, List[int]]", "Dict[str, Optional[int]]",
    "Tuple[int]", "Tuple[int, str]", "tuple[int, str | None]", "Optional[List[int]]", "List[List[int]]",
)  # fmt: skip


def test_a_written_out_type_test_answers_as_torch_does(tmp_path: Path, torch_programs: TorchPrograms) -> None:
    head = "import torch\nfrom typing import Dict, List, Optional, Tuple\n\n"
    tests = []
    for kind in TYPES:
        source = SourceText(f"{head}answer = torch.jit.isinstance(x, {kind})\n")
        view = ModuleView("a.py", source, source.parse(), "a")
        call = next(node for node in ast.walk(view.tree) if isinstance(node, ast.Call))
        tests.append(container_test(view, call).shown(view))
    answers = ", ".join(f"(torch.jit.isinstance(x, {k}), {t})" for k, t in zip(TYPES, tests, strict=True))
    code = f"{head}result = []\nfor x in ({', '.join(VALUES)}):\n    result.append([{answers}])\n"
    for value, pairs in zip(VALUES, plain(torch_programs.run(tmp_path, {}, code)), strict=True):  # type: ignore[arg-type]
        for kind, test, (old, new) in zip(TYPES, tests, pairs, strict=True):
            assert old is new, f"{value} as {kind}: {test}"


@pytest.mark.parametrize(
    "kind",
    [
        "Tuple[int, ...]",
        "Union[int, str]",
        "List",
        "list",
        "Any",
        "List[Any]",
        "List[List[List[int]]]",
        "List['int']",
        "K",
    ],
)
def test_a_type_without_a_plain_test_is_left_alone(kind: str) -> None:
    source = SourceText(f"import torch\nfrom typing import *\nK = int\n\nanswer = torch.jit.isinstance(x, {kind})\n")
    view = ModuleView("a.py", source, source.parse(), "a")
    call = next(node for node in ast.walk(view.tree) if isinstance(node, ast.Call))
    with pytest.raises(CannotTest):
        container_test(view, call)
