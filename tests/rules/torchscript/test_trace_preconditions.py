"""Programs whose trace must not be rewritten by default, each with the reason; every one of them differs under export."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files, new_bytes

from torchlift.finding import Safety


def program(
    init: str = "",
    forward: str = "return torch.relu(self.fc(x))",
    between: str = "",
    capture: str = "",
    extra: str = "",
) -> str:
    """A module that is traced; `between` runs after `.eval()` and before the capture."""
    lines = "\n".join(f"        {line}" for line in init.splitlines())
    body = "\n".join(f"        {line}" for line in forward.splitlines())
    capture = capture or "traced = torch.jit.trace(net, example)"
    return (
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self, act=None):\n"
        f"        super().__init__()\n        self.fc = nn.Linear(3, 4)\n{lines}\n\n    def forward(self, x):\n{body}\n{extra}\n\n"
        f"net = Net().eval()\nexample = torch.rand(4, 3)\n{between}\n{capture}\nresult = traced(torch.ones(7, 3))\n"
    )


TWO = (
    "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x, y):\n        return torch.cat([x, y])\n\n\n"
    "net = Net()\n{lines}\n"
)
BN = "self.bn = nn.BatchNorm1d(4)"
DROP = "self.drop = nn.Dropout(0.5)"
UNSAFE = {
    "an input changed in place by forward": program(forward="x += 1\nreturn self.fc(x)"),
    "an in-place first layer": program("self.act = nn.ReLU(inplace=True)", "return self.fc(self.act(x))"),
    "an in-place function": program(forward="return self.fc(torch.nn.functional.elu(x, inplace=True))"),
    "an in-place function by position": program(forward="return self.fc(torch.nn.functional.elu(x, 1.0, True))"),
    "a buffer changed through a local name": program(
        "self.register_buffer('n', torch.zeros(1))", "n = self.n\nn += 1\nreturn self.fc(x) + n"),
    "an embedding that renormalises": program("self.e = nn.Embedding(9, 3, max_norm=0.1)", "return self.fc(self.e(x))"),
    "a part put into train mode": program(BN, "return self.bn(self.fc(x))", "net.bn.train()"),
    "train mode through another name": program(BN, "return self.bn(self.fc(x))", "other = net\nother.train()"),
    "train mode through modules()": program(DROP, "return self.drop(self.fc(x))", "for m in net.modules(): m.train()"),
    "train mode in another function": program(BN, "return self.bn(self.fc(x))", "def prepare():\n    net.train()\nprepare()"),
    "train mode at the end of the loop around": program(
        BN, "return self.bn(self.fc(x))", capture="for _ in range(2):\n    traced = torch.jit.trace(net, example)\n    net.train()"),
    "an overridden eval": program(DROP, "return self.drop(self.fc(x))", extra="\n    def eval(self):\n        return self.train()\n"),
    "the module handed to other code": program(BN, "return self.bn(self.fc(x))", "prepare(net)"),
    "a local layer appended": program(
        "layer = nn.Dropout()\nself.layers = nn.ModuleList()\nself.layers.append(layer)",
        "for layer in self.layers:\n    x = layer(x)\nreturn self.fc(x)"),
    "a layer replaced": program(between="net.fc = Other()"),
    "a layer set by setattr": program(between="setattr(net, 'fc', nn.Dropout())"),
    "a method replaced": program(between="Net.forward = lambda self, x: x"),
    "a hook": program(between="net.fc.register_forward_hook(lambda m, i, o: seen.append(o))"),
    "a hook in __init__": program("self.handles = []\nself.handles.append(self.fc.register_forward_hook(print))"),
    "a size returned through arithmetic": program(forward="n = x.shape[0]\nm = n + 1\nreturn self.fc(x), m"),
    "a negative size returned": program(forward="m = -x.shape[0]\nreturn self.fc(x), m"),
    "a parameter in the place of a layer": program(
        "self.act = nn.ReLU()\nif act is not None:\n    self.act = act", "return self.act(self.fc(x))"),
    "a branch on a buffer": program("self.register_buffer('on', torch.tensor(True))", "if self.on:\n    return self.fc(x)\nreturn x"),
    "a branch on a tensor attribute": program("self.on = torch.ones(1)", "if self.on:\n    return self.fc(x)\nreturn x"),
    "an example changed in place": program(between="example.unsqueeze_(0)"),
    "an example of size zero": program().replace("torch.rand(4, 3)", "torch.rand(0, 3)"),
    "autocast in the file": program(between="def f():\n    with torch.autocast('cpu'):\n        return traced(example)"),
    "a fixed first dimension": program(forward="return self.fc(x).view(4, -1)"),
    "a cut of the first dimension": program(forward="return self.fc(x[:3])"),
    "two inputs added": "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x, y):\n        return x + y\n\n\n"
    "net = Net()\ntraced = torch.jit.trace(net, (torch.rand(4, 3), torch.rand(4, 3)))\nr = traced(torch.rand(4, 3), torch.rand(1, 3))\n",
    "a call of another rank": program(capture="traced = torch.jit.trace(net, example)\nr = traced(torch.ones(3))"),
    "an inherited forward": program().replace("nn.Module", "Base"),
}  # fmt: skip


@pytest.mark.parametrize("code", UNSAFE.values(), ids=UNSAFE)
def test_a_trace_is_not_rewritten_by_default(code: str, tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"a.py": code})
    assert result.failures == ()
    found = [finding for finding in all_findings(result) if finding.code == "TL101"]
    assert len(found) == 1 and found[0].safety is not Safety.SAFE and found[0].help
    assert new_bytes(result, "a.py") is None


def test_the_program_without_any_of_this_is_rewritten(tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"a.py": program()})
    assert new_bytes(result, "a.py") is not None


SAFE = {
    "in-place layers behind fresh results": program(
        "self.body = nn.Sequential(nn.Linear(3, 3), nn.ReLU(inplace=True))", "return self.fc(self.body(x))"),
    "an in-place layer on a fresh local": program(
        "self.act = nn.ReLU(inplace=True)", "x = self.fc(x)\nx = self.act(x)\nreturn x"),
    "a branch on a constructor flag": program("self.on = True", "if self.on:\n    return self.fc(x)\nreturn x"),
    "weights loaded before": program(between="net.load_state_dict(torch.load('w.pt'))"),
    "the module used later": program(capture="traced = torch.jit.trace(net, example)\nprint(net, net(example))"),
}  # fmt: skip


@pytest.mark.parametrize("code", SAFE.values(), ids=SAFE)
def test_everyday_code_is_still_rewritten(code: str, tmp_path: Path) -> None:
    assert new_bytes(analyse_files(tmp_path, {"a.py": code}), "a.py") is not None


def test_a_value_that_another_file_imports_is_not_rewritten(tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"a.py": program(), "main.py": "from a import traced\ntraced.eval()\n"})
    assert new_bytes(result, "a.py") is None


def test_a_value_whose_module_methods_are_used_is_called_and_saved_under_two_names(tmp_path: Path) -> None:
    code = program(capture="traced = torch.jit.trace(net, example)\ntraced.load_state_dict(w)\ntraced.save('n.pt')")
    new = new_bytes(analyse_files(tmp_path, {"a.py": code}, unsafe=True), "a.py") or b""
    assert b"traced = traced_program.module()" in new and b"torch.export.save(traced_program, 'n.pt')" in new


@pytest.mark.parametrize(
    ("lines", "inputs"),
    [
        ("a = b = torch.rand(4, 3)", "(a, b)"),
        ("a = torch.rand(4, 3)", "(a, a.float())"),
        ("a = torch.rand(4, 3)\nb = a.contiguous()", "(a, b)"),
    ],
    ids=["chained assignment", "a method that may return the same tensor", "through a variable"],
)
def test_a_tensor_that_may_be_given_twice_is_cloned(lines: str, inputs: str, tmp_path: Path) -> None:
    code = TWO.format(lines=f"{lines}\ntraced = torch.jit.trace(net, {inputs})\nr = traced(a, a)")
    new = new_bytes(analyse_files(tmp_path, {"a.py": code}), "a.py") or b""
    assert b".clone())" in new
