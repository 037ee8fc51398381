"""Code of the project that asks a value for what only TorchScript has keeps the value, wherever it gets it from."""

from __future__ import annotations

from pathlib import Path

import pytest
from dropped_scripting import NET, body, migrated

GRAPH = """\
import torch


class Graph:
    def __init__(self, model=None, traced_model=None):
        self.trace = traced_model
        {first}

    def build(self):
        return {asked}


class ModuleGraph(Graph):
    def __init__(self, model=None, traced_model=None):
        super().__init__(model, traced_model)


class Reader:
    @classmethod
    def convert_to_graph(cls, module):
        return walk_nodes(module)


def walk_nodes(module):
    return {walked}
"""
READS = {
    "a keyword that a base class keeps": ("ModuleGraph(traced_model={})", {"asked": "self.trace.graph"}),
    "a type that is asserted": (
        "ModuleGraph(traced_model={})", {"first": "assert isinstance(traced_model, torch.jit.TopLevelTracedModule)"},
    ),
    "a compiler that it is handed to": ("Reader().convert_to_graph({})", {"walked": 'torch._C._jit_to_backend("own", module, {})'}),
    "a method, by its name, that hands it on": ("Reader().convert_to_graph({})", {"walked": "module.inlined_graph"}),
}  # fmt: skip


def project(call: str, **parts: str) -> dict[str, str]:
    code = GRAPH.format(**{"first": "pass", "asked": "self.trace", "walked": "module", **parts})
    test = f"def test_graph():\n    net = Net()\n    traced = torch.jit.trace(net, torch.rand(2))\n    graph = {call.format('traced')}\n    assert graph\n"
    used = f"{NET}\n\ndef show(x):\n    net = torch.jit.script(Net())\n    return {call.format('net')}\n"
    imports = "from graph import Graph, ModuleGraph, Reader\n"
    return {"graph.py": code, "test_net.py": imports + body(test), "use.py": imports + used}


@pytest.mark.parametrize(("call", "parts"), READS.values(), ids=READS)
def test_a_value_whose_graph_is_read_stays(call: str, parts: dict[str, str], tmp_path: Path) -> None:
    changed, found = migrated(tmp_path, project(call, **parts), unsafe=True)
    assert changed == {}
    said = [item.help or "" for item in found if item.code in {"TL101", "TL102"}]
    assert len(said) == 2 and "asks it for what only TorchScript has" in said[0]


@pytest.mark.parametrize("call", [call for call, _ in READS.values()], ids=READS)
def test_a_value_that_is_only_run_goes(call: str, tmp_path: Path) -> None:
    changed, _ = migrated(tmp_path, project(call), unsafe=True)
    assert sorted(changed) == ["test_net.py", "use.py"]


COMMENT = "# This function only works in script mode, because a dtype is a number there.\n"
DECORATED = "@torch.jit.script\ndef check(x: torch.Tensor, y: torch.Tensor):\n    assert x.shape == y.shape\n"


@pytest.mark.parametrize("name", ["code.py", "test_code.py"])
def test_a_comment_that_says_scripting_is_needed_asks_for_a_review(name: str, tmp_path: Path) -> None:
    text = f"import torch\n\n\n{COMMENT}{DECORATED}"
    assert migrated(tmp_path, {name: text})[0] == {}
    assert "@torch.jit.script" not in migrated(tmp_path, {name: text}, unsafe=True)[0][name]
    plain = f"import torch\n\n\n# Compares sizes.\n{DECORATED}"
    assert "@torch.jit.script" not in migrated(tmp_path, {name: plain})[0][name]


def test_a_dtype_that_a_test_compares_in_scripted_code_keeps_the_scripting(tmp_path: Path) -> None:
    text = "import torch\n\n\n@torch.jit.script\ndef check(x, dtype: torch.dtype):\n    assert x.dtype == dtype\n"
    assert migrated(tmp_path, {"test_code.py": text}, unsafe=True)[0] == {}


def test_a_comment_that_gives_the_type_of_torchscript_goes(tmp_path: Path) -> None:
    function = "def loss(x: torch.Tensor) -> torch.Tensor:\n    return x * 2\n\n\n"
    text = f"import torch\n\n\n{function}loss_jit = torch.jit.script(\n    loss\n)  # type: torch.jit.ScriptModule\n"
    changed, _ = migrated(tmp_path, {"m.py": text}, unsafe=True)
    assert changed["m.py"] == f"import torch\n\n\n{function}loss_jit = loss\n"


def test_an_entry_that_would_be_put_where_it_is_goes(tmp_path: Path) -> None:
    lines = (
        "    for at in range(2):\n        x[at] += 1\n        x[at] = torch.jit.annotate(int, x[at])\n    return x\n"
    )
    changed, _ = migrated(tmp_path, {"m.py": f"import torch\n\n\ndef f(x):\n{lines}"}, unsafe=True)
    assert changed["m.py"] == "def f(x):\n    for at in range(2):\n        x[at] += 1\n    return x\n"


def test_a_package_of_the_project_that_hands_a_trace_to_a_backend_keeps_it(tmp_path: Path) -> None:
    backend = "import torch\n\n\ndef to_own(model, spec):\n    return torch._C._jit_to_backend('own', model, spec)\n"
    (tmp_path / "python" / "own").mkdir(parents=True)
    used = f"{NET}\n\ndef lower(x):\n    return own.to_own(torch.jit.trace(Net().eval(), x), {{}})\n"
    files = {
        "python/own/__init__.py": backend,
        "use.py": used.replace("import torch\n", "import own\nimport torch\n", 1),
    }
    assert migrated(tmp_path, files, unsafe=True)[0] == {}


@pytest.mark.parametrize(("start", "count"), [("0", "found += 1"), ("[]", "found.append(node)")])
def test_a_check_of_what_was_counted_in_a_graph_is_not_left_alone(start: str, count: str, tmp_path: Path) -> None:
    test = (
        f"def test_fused():\n    traced = torch.jit.trace(Net(), torch.rand(2))\n    found = {start}\n    for node in traced.graph.nodes():\n"
        f"        if node.kind() == 'own::Group':\n            {count}\n    assert found\n"
    )
    assert migrated(tmp_path, {"test_net.py": body(test)}, unsafe=True)[0] == {}
