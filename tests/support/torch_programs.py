"""Programs run under torch in fresh processes, and their results compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torchlift.testing import FreshProcesses, Program, run_program
from torchlift.testing.nodes import Array, Container, Node, Opaque, Raised, Scalar


class TorchPrograms:
    """Programs run under torch in fresh processes, their results as nested lists."""

    def __init__(self, processes: FreshProcesses) -> None:
        self.processes = processes

    def run(self, folder: Path, files: Mapping[str, str], code: str) -> Any:
        """Description of `result` after running `code` in `folder`, which gets `files` first."""
        done = run_program(Program(code, files), folder=folder, processes=self.processes)
        if isinstance(done.result, Raised):
            raise AssertionError(f"the program failed:\n{code}\n{done.trace}")
        return as_lists(done.result)


def as_lists(node: Node) -> Any:
    """`["int", 3]`, `["tensor", dtype, shape, requires_grad, values]`, `["list", [...]]`."""
    if isinstance(node, Scalar):
        return [node.type.rpartition(".")[2], node.value]
    if isinstance(node, Array):
        return ["tensor", f"torch.{node.dtype}", list(node.shape), node.requires_grad, list(node.values)]
    if isinstance(node, Container) and node.type == "dict":
        return ["dict", [[key, as_lists(item)] for key, item in node.items]]
    if isinstance(node, Container):
        return [node.type.rpartition(".")[2], [as_lists(item) for _, item in node.items]]
    assert isinstance(node, Opaque)
    return [node.type.rpartition(".")[2], node.text]


def same(left: Any, right: Any) -> bool:
    """Equality of two descriptions; floats may differ by rounding."""
    if isinstance(left, float) and isinstance(right, (int, float)):
        return math.isclose(left, right, rel_tol=1e-5, abs_tol=1e-6) or (math.isnan(left) and math.isnan(right))
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)
