"""Under the intent to drop TorchScript: programs in which it must not go by default, and some where it must stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files, new_bytes

from torchlift.finding import Finding, Safety
from torchlift.torchscript_intent import DROP, TorchScriptIntent

HEAD = "import torch\n\n\n"
BRANCH = "@torch.jit.script\ndef f(x):\n    if x.sum() > 0:\n        return x\n    return -x\n"
PLAIN = "@torch.jit.script\ndef f(x):\n    return x * torch.sigmoid(x)\n"
SCALE = "@torch.jit.script\ndef f(x, by: float):\n    return x * by\n"
NET = (
    "class Net(torch.jit.ScriptModule):\n    @torch.jit.script_method\n    def forward(self, x, sizes: list[int]):\n"
    "        {}\n        return x + sizes[0]\n"
)


def findings(folder: Path, files: dict[str, str], code: str) -> list[Finding]:
    result = analyse_files(folder, files, codes=frozenset({code}), torchscript=DROP)
    assert result.failures == ()
    return [finding for finding in all_findings(result) if finding.code == code]


ATTRIBUTE = (
    "class Net({base}):\n    def __init__(self, table):\n        super().__init__()\n"
    "        self.table = torch.jit.Attribute(table, dict[str, int])\n\n{mark}    def forward(self, x):\n"
    "        return x * len(self.table)\n"
)
CAPTURE = "\n\ndef run(x, table):\n    net = torch.jit.script(Net(table))\n    return net(x)\n"
MODULE = "class Net(torch.nn.Module):\n    def forward(self, x):\n        return 2 * x\n"
OPTION = (
    "\n\ndef make(table, use_jit):\n    net = Net(table if use_jit else {})\n    net.fast = use_jit\n    if use_jit:\n"
    "        return torch.jit.script(net)\n    return net\n"
)
EXPECTS = """

def test_refused(check):
    net = torch.jit.script(Net())
    with pytest.raises(TypeError):
        check(net)
    assert Net()(torch.ones(2)).sum() == 4
"""
WRITES = """\
def test_dump(tmp_path, dump):
    net = torch.jit.script(Net())
    with open(tmp_path / "log") as log:
        torch.jit.save(net, tmp_path / "net.pt")
    assert (tmp_path / "net.pt").exists() and Net()(torch.ones(2)).sum() == 4
"""

FOR_REVIEW = {
    "a shape that is compared with a list": (
        "TL102", {"a.py": HEAD + "@torch.jit.script\ndef f(x):\n    if x.shape == [2, 3]:\n        return x + 1.5\n    return x\n"}),
    "an attribute is a pair to plain code": (
        "TL102", {"a.py": HEAD + ATTRIBUTE.format(base="torch.nn.Module", mark="") + CAPTURE}),
    "an attribute of a ScriptModule": (
        "TL105", {"a.py": HEAD + ATTRIBUTE.format(base="torch.jit.ScriptModule", mark="    @torch.jit.script_method\n")}),
    "C++ may be given the module": (
        "TL102", {"a.py": HEAD + MODULE + CAPTURE.replace("table", ""), "run.cpp": "torch::jit::Module net;\n"}),
    "an int through a parameter that is declared a float": (
        "TL102",
        {"a.py": HEAD + SCALE + "\n\ndef g(x, by: float):\n    return f(x, by)\n", "b.py": "from a import g\n\ng(1, 2)\n"}),
    "an option that steers the module, too": (
        "TL102", {"a.py": HEAD + ATTRIBUTE.format(base="torch.nn.Module", mark="") + OPTION}),
    "an error that a test expects": ("TL102", {"test_a.py": HEAD + MODULE + EXPECTS}),
    "a trace of the project reaches a branch": ("TL102", {"a.py": HEAD + BRANCH, "b.py": "import a\nimport torch\ntorch.jit.trace\n"}),
    "a library traces": (
        "TL102", {"a.py": HEAD + BRANCH, "b.py": "import a\n\n\ndef save(net):\n    net.to_torchscript('x', method='trace')\n"}),
    "autocast in another file": ("TL102", {"a.py": HEAD + PLAIN, "b.py": "import torch, a\n\nctx = torch.autocast('cpu')\n"}),
    "Lightning's mixed precision": (
        "TL102", {"a.py": HEAD + PLAIN, "b.py": "import a\n\nplugins = [MixedPrecision(precision='16-mixed', device='cuda')]\n"}),
    "Lightning's mixed precision of bfloat16": (
        "TL102", {"a.py": HEAD + PLAIN, "b.py": "import a\n\nplugins = [MixedPrecisionPlugin('bf16', 'cuda')]\n"}),
    "an int from another file": ("TL102", {"a.py": HEAD + SCALE, "b.py": "from a import f\n\nf(1, 2)\n"}),
    "an int through an attribute": (
        "TL102",
        {"a.py": HEAD + SCALE + "\n\nclass C:\n    def __init__(self):\n        self.by = 2\n\n    def g(self, x):\n"
                 "        return f(x, self.by)\n"}),
    "an int that is computed": ("TL102", {"a.py": HEAD + SCALE + "\n\ndef g(x, n):\n    return f(x, n * 2)\n"}),
    "an int one call further": (
        "TL102",
        {"a.py": HEAD + "def g(x, by: float):\n    return x * by\n\n\n@torch.jit.script\ndef f(x, by: float):\n"
                 "    return g(x, by)\n\n\nf(1, 2)\n"}),
    "a list that is changed under another name": (
        "TL102", {"a.py": HEAD + "@torch.jit.script\ndef f(xs: list[int]):\n    ys = xs\n    ys.append(1)\n    return len(xs)\n"}),
    "a list that is handed out": (
        "TL102", {"a.py": HEAD + "@torch.jit.script\ndef f(xs: list[int]):\n    return xs\n"}),
    "an attribute of an object": (
        "TL102", {"a.py": HEAD + "@torch.jit.script\ndef f(p: Pair, x):\n    p.x = x\n    return x\n"}),
    "random numbers that nobody reads": (
        "TL102", {"a.py": HEAD + "@torch.jit.script\ndef f(x):\n    y = torch.rand_like(x)\n    return torch.rand_like(x)\n"}),
    "a tensor made once and handed out": (
        "TL102", {"a.py": HEAD + "@torch.jit.script\ndef f(x):\n    y = torch.zeros([2], dtype=torch.float32)\n    return y\n"}),
    "a tensor that a loop binds and changes by a number from elsewhere": (
        "TL102",
        {"a.py": HEAD + "import numpy as np\n\n\n@torch.jit.script\ndef f(x):\n    for i in range(3):\n        x += np.pi\n        x = x * 2\n    return x\n"}),
    "a tensor that a loop binds and changes": (
        "TL102",
        {"a.py": HEAD + "@torch.jit.script\ndef f(x):\n    for i in range(3):\n        x += 1\n        x = x * 2\n    return x\n"}),
    "a hash that wraps around": (
        "TL102",
        {"a.py": HEAD + "@torch.jit.script\ndef f(x, n: int):\n    h = 1\n    for i in range(n):\n        h = h * 31\n    return x + h\n"}),
    "a method's list that is changed": ("TL105", {"a.py": HEAD + NET.format("sizes.append(1)")}),
    "a class that another file names": (
        "TL105", {"a.py": HEAD + NET.format("pass"), "app/b.py": "from somewhere.a import Net\n\nNet().save('x')\n"}),
}  # fmt: skip


@pytest.mark.parametrize(("code", "files"), FOR_REVIEW.values(), ids=FOR_REVIEW)
def test_what_may_give_other_values_needs_review(code: str, files: dict[str, str], tmp_path: Path) -> None:
    found = findings(tmp_path, files, code)
    assert [finding.safety for finding in found if finding.path in ("a.py", "test_a.py")] == [Safety.UNSAFE]
    assert all(finding.help for finding in found)


def test_mixed_precision_of_fsdp_is_no_autocast(tmp_path: Path) -> None:
    sharded = "import a\n\nnet = FSDP(net, mixed_precision=MixedPrecision(param_dtype=torch.bfloat16))\n"
    (finding,) = findings(tmp_path, {"a.py": HEAD + PLAIN, "b.py": sharded}, "TL102")
    assert finding.safety is Safety.SAFE


SENDS = """
import io

from a import Net


class Robot:
    @staticmethod
    def _stream(module):
        buffer = io.BytesIO()
        torch.jit.save(module, buffer)
        return buffer

    def send(self, net):
        scripted = torch.jit.script(Net())
        return self._stream(scripted)
"""
MUST_STAY = {
    "a list behind a shape": (
        "TL102", {"a.py": HEAD + "@torch.jit.script\ndef f(x):\n    return torch.zeros(x.shape + [3], device=x.device)\n"}),
    "a list behind a name for a part of a shape": (
        "TL102", {"a.py": HEAD + "@torch.jit.script\ndef f(x, more: list[int]):\n    shape = x.shape[:-1]\n    return x.new_zeros(shape + more)\n"}),
    "a test that an abstract base asks for": (
        "TL102",
        {"test_a.py": "from base import Base\n\n\n" + HEAD + MODULE + "\n\nclass TestNet(Base):\n    def test_net(self):\n        assert Net()(1) == 2\n\n"
                      "    def test_jit(self):\n        torch.jit.script(Net())\n",
         "base.py": "from abc import ABC, abstractmethod\n\n\nclass Base(ABC):\n    @abstractmethod\n    def test_jit(self): ...\n"}),
    "an ONNX exporter of torch's own traces what tests give it": (
        "TL118",
        {"a.py": HEAD + "def grad(x):\n    return x if torch.jit.is_tracing() else x * 3\n",
         "b.py": "from torch.onnx.utils import _export\n\n\ndef export(net, x):\n    return _export(net, x, 'net.onnx')\n",
         "test_c.py": HEAD + "import a, b\n\n\ndef test_grad():\n    class Net(torch.nn.Module):\n"
                      "        def forward(self, x):\n            return a.grad(x)\n\n    assert b.export(Net(), torch.ones(2))\n"}),
    "a file in a folder that a test hands to unknown code": (
        "TL102",
        {"test_a.py": HEAD + MODULE + "\n\ndef test_run(tmp_path, run):\n    folder = tmp_path / 'work'\n    path = folder / 'net.pt'\n"
                      "    torch.jit.save(torch.jit.script(Net()), path)\n    assert run(folder) == 0\n"}),
    "what a test loads is written by the code that it tests": (
        "TL103",
        {"test_a.py": HEAD + MODULE + "\n\ndef test_run(tmp_path, write):\n    path = tmp_path / 'net.pt'\n"
                      "    assert write(Net(), path) == 0\n    torch.jit.load(path)\n"}),
    "C++ takes what an option scripts": (
        "TL102",
        {"a.py": HEAD + MODULE + "\n\ndef make(jit=False):\n    net = Net()\n    if jit:\n        net = torch.jit.script(net)\n    return net\n",
         "b.py": "import cpp\nfrom a import make\n\nlocker = cpp.Locker([make(jit=True)])\n",
         "csrc/run.cc": "m = o.attr(\"_c\").cast<torch::jit::script::Module*>();\n"}),
    "a part that a setter puts into what is scripted below": (
        "TL101",
        {"a.py": HEAD + "def export(whole, x):\n    whole.inner.set_part(torch.jit.trace(whole.inner.part, x))\n"
                 "    return torch.jit.script(whole)\n"}),
    "a list of inputs for ONNX": (
        "TL101",
        {"a.py": HEAD + "def export(net, x):\n    inputs = [x, x]\n    net = torch.jit.trace(net, inputs)\n"
                 "    torch.onnx.export(net, inputs, 'net.onnx', dynamo=False)\n"}),
    "the compiler as an argument that gets more": (
        "TL102",
        {"a.py": HEAD + "def make(compiler, x):\n    return compiler(x, example=1)\n\n\ndef run(x):\n    return make(torch.jit.script, x)\n"}),
    "a file that a test looks for": ("TL102", {"test_a.py": HEAD + MODULE + "\n\n" + WRITES}),
    "a method that saves what it is given": ("TL102", {"a.py": HEAD + MODULE, "b.py": "import torch\n" + SENDS}),
    "a function of another file that saves what it is given": (
        "TL102",
        {"b.py": "from io_of import Writer\n\n\n" + HEAD + MODULE + "\n\nWriter().put(torch.jit.script(Net()))\n",
         "io_of.py": "import torch\n\n\nclass Writer:\n    def put(self, net):\n        torch.jit.save(net, 'a.pt')\n"}),
    "what a method returns is saved in another file": (
        "TL102",
        {"b.py": HEAD + MODULE + "\n\nclass Maker:\n    def make(self):\n        return torch.jit.script(Net())\n",
         "c.py": "import torch\n\n\ndef write(maker):\n    net = maker.make().eval()\n    torch.jit.save(net, 'a.pt')\n"}),
    "a trace that a method returns is saved in another file": (
        "TL101",
        {"b.py": HEAD + MODULE + "\n\nclass Maker:\n    def trace(self):\n        net, x = Net(), torch.ones(2)\n"
                 "        net.eval()\n        return torch.jit.trace(net, x)\n",
         "c.py": "def write(maker):\n    import torch.jit\n\n    net = maker.trace()\n    net.save('a.pt')\n"}),
    "an attribute is saved in another file": (
        "TL102",
        {"b.py": HEAD + MODULE + "\n\nclass Keeper:\n    def __init__(self):\n        self.fast = torch.jit.script(Net())\n",
         "c.py": "import torch\n\n\ndef write(keeper):\n    torch.jit.save(keeper.fast, 'a.pt')\n"}),
    "the graph is asked for in another file": (
        "TL102", {"a.py": HEAD + PLAIN, "b.py": "from a import f\n\nprint(f.graph)\n"}),
    "asked by name for what TorchScript alone has": (
        "TL102", {"a.py": HEAD + MODULE + "\n\nnet = torch.jit.script(Net())\nprint(getattr(net, 'code'))\n"}),
    "an attribute is taken as TorchScript in another file": (
        "TL102",
        {"b.py": HEAD + MODULE + "\n\nclass Keeper:\n    def __init__(self):\n        self.fast = torch.jit.script(Net())\n",
         "c.py": "from openmmtorch import TorchForce\n\n\ndef force(keeper):\n    return TorchForce(keeper.fast)\n"}),
    "kept on a class of another file": (
        "TL102", {"a.py": HEAD + PLAIN, "b.py": "from a import f\n\n\nclass C:\n    act = f\n"}),
    "handed to another member of torch.jit": (
        "TL102", {"a.py": HEAD + PLAIN, "b.py": "import torch\n\nfrom a import f\n\ntorch.jit.save(f, 'x')\n"}),
    "C++ takes modules from Python": (
        "TL105", {"a.py": HEAD + NET.format("pass"), "csrc/run.cc": "m = o.attr(\"_c\").cast<torch::jit::script::Module*>();\n"}),
    "C++ loads modules, and a setting may be for it": (
        "TL131",
        {"a.py": "import torch\n\ntorch._C._jit_set_profiling_mode(False)\n", "src/main.cpp": "torch::jit::load(\"x.pt\");\n"}),
    "a test asks whether the compiler is switched on": (
        "TL131",
        {"a.py": "import torch\n\n\ndef enable():\n    torch.jit._state.enable()\n",
         "tests/test_a.py": "import torch\n\nfrom a import enable\n\n\ndef test_enable():\n    enable()\n    assert torch.jit._state._enabled.enabled\n"}),
    "a type test while a file is loaded": (
        "TL136",
        {"a.py": "import torch\n\n\ndef f(m):\n    return isinstance(m, torch.jit.ScriptModule)\n",
         "b.py": "import torch\n\nnet = torch.jit.load('users.pt')\n"}),
}  # fmt: skip


@pytest.mark.parametrize(("code", "files"), MUST_STAY.values(), ids=MUST_STAY)
def test_what_a_plain_function_or_module_does_not_serve_stays(code: str, files: dict[str, str], tmp_path: Path) -> None:
    found = [finding for finding in findings(tmp_path, files, code) if finding.path in ("a.py", "b.py", "test_a.py")]
    assert found and all(finding.fix is None and finding.help for finding in found)


def test_a_file_that_the_user_keeps_is_left_alone(tmp_path: Path) -> None:
    kept = TorchScriptIntent("drop", keep=("serving/**",))
    files = {"serving/a.py": HEAD + SCALE, "b.py": HEAD + PLAIN}
    result = analyse_files(tmp_path, files, codes=frozenset({"TL102"}), torchscript=kept)
    safe = {finding.path for finding in all_findings(result) if finding.safety is Safety.SAFE}
    assert safe == {"b.py"}


def test_the_assertion_of_a_test_that_a_value_is_torchscript_goes_with_the_scripting(tmp_path: Path) -> None:
    files = {
        "fuse.py": "import torch\n\n\ndef fuse(owner, net: torch.nn.Module):\n    owner.replace(torch.jit.script(net), 'net')\n",
        "tests/test_fuse.py": (
            "import torch\n\nfrom fuse import fuse\n\n\ndef test_fuse(owner):\n    fuse(owner, torch.nn.ReLU())\n"
            "    assert isinstance(owner['net'], torch.jit.ScriptModule)\n    assert owner.runs()\n"
        ),
    }
    result = analyse_files(tmp_path, files, unsafe=True, torchscript=DROP)
    assert b"owner.replace(net, 'net')" in new_bytes(result, "fuse.py")
    assert b"isinstance" not in new_bytes(result, "tests/test_fuse.py")
    kept = analyse_files(tmp_path, files, torchscript=DROP)
    assert not [outcome.path for outcome in kept.outcomes if outcome.new_text is not None]


@pytest.mark.parametrize(("inside", "safe"), [(False, True), (True, False)])
def test_a_function_of_the_same_name_in_another_file_is_another_one(inside: bool, safe: bool, tmp_path: Path) -> None:
    code = "import torch\n\n\n@torch.jit.script\ndef fused(x: torch.Tensor):\n    return x * 2\n\n\ndef run(x):\n    fuse = fused\n{}\n"
    plain, cast = "    return fuse(x)", "    with torch.autocast('cpu'):\n        return fuse(x)"
    files = {
        "a.py": code.format(cast if inside else plain) + "\n\nprint(run(torch.ones(2)))\n",
        "b.py": code.replace("@torch.jit.script\n", "").format(cast) + "\n\nprint(run(torch.ones(2)))\n",
        "main.py": "import a\nimport b\n",
    }
    (finding,) = findings(tmp_path, files, "TL102")
    assert (finding.safety is Safety.SAFE) == safe
    assert safe or "a.py:12 may run it under autocast" in (finding.help or "")


_CLIP = "import torch\n\n\n@torch.jit.script\ndef clip(x):\n    if x.sum() > 0:\n        return x\n    return -x\n"
_HANDED = {
    "a list of functions": "HOOKS = list()\nHOOKS.append(clip)\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        for hook in HOOKS:\n            x = hook(x)\n        return x\n",
    "a name that is computed": "class Net(torch.nn.Module):\n    def forward(self, x):\n        return globals()['clip'](x)\n",
}


@pytest.mark.parametrize("net", _HANDED.values(), ids=_HANDED)
def test_a_function_that_is_handed_on_may_be_traced_in_a_program_that_traces(net: str, tmp_path: Path) -> None:
    trace = "import torch\n\nfrom net import Net\n\ntorch.jit.trace(Net(), torch.ones(2))\n"
    files = {"a.py": _CLIP, "net.py": f"import torch\n\nfrom a import clip\n\n{net}", "main.py": trace}
    (finding,) = [found for found in findings(tmp_path, files, "TL102") if found.path == "a.py"]
    assert finding.safety is not Safety.SAFE
