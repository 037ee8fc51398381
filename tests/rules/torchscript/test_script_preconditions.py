"""Programs whose scripting must not be taken out by default, each with the reason, and everyday ones where it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files, new_bytes

from torchlift.finding import Finding, Safety
from torchlift.testing import FreshProcesses, Program, Verdict, compare_programs

HEAD = "import math\n\nimport torch\nimport torch.nn.functional as F\n\n\n"


def function(body: str, parameters: str = "x, y", decorator: str = "@torch.jit.script", after: str = "") -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"{HEAD}{decorator}\ndef f({parameters}):\n{lines}\n{after}"


PLAIN = "return x * torch.sigmoid(y)"
UNSAFE = {
    # what scripting converts, checks or copies
    "an int parameter": function("return x * k", "x, k: int"),
    "a float parameter with a default": function("return x + eps", "x, eps: float = 1e-9"),
    "a bool parameter": function("return -x if flag else x", "x, flag: bool"),
    "an optional tensor": function(
        "if m is not None:\n    x = x * m\nreturn x", "x, m: 'torch.Tensor | None' = None"),
    "a list of tensors": function("return xs[0] + xs[1]", "xs: list[torch.Tensor]"),
    "a dict": function("return d['x']", "d: dict[str, torch.Tensor]"),
    "types in a comment": function("# type: (Tensor, int) -> Tensor\nreturn x * y"),
    "types in comments of the parameters": function(
        "# type: (...) -> Tensor\nreturn x * y", "x,  # type: Tensor\n      y  # type: int\n     "),
    "types in comments for some of the parameters": function("# type: (Tensor) -> Tensor\nreturn x * y"),
    "a comment of types below the first line": function("x = x + 1\n# type: (Tensor, Tensor) -> Tensor\nreturn x * y"),
    "types in a comment and an annotation": function("# type: (Tensor, Tensor) -> Tensor\nreturn x * y", "x, y: int"),
    "an annotation that is not torch's": HEAD + "Tensor = object\n\n\n@torch.jit.script\ndef f(x: Tensor):\n    return x\n",
    "keyword-only parameters": function("return x * y", "x, *, y"),
    # operations that differ
    "a power of a size": function("return x * x.size(0) ** 2"),
    "rounding": function("return x * round(2.5)"),
    "rounding in the other branch": function("if x.dim() == 2:\n    y = x\nelse:\n    y = x * round(2.5)\nreturn y"),
    "bytes taken from a float": function("return 1.0 - x"),
    "a float taken from an unknown result in a loop": function(
        "z = torch.sigmoid(x)\nfor i in range(2):\n    y = 1.0 - z\n    z = x\nreturn y"),
    "a number divided down by a tensor": function("return 2 // x"),
    "arithmetic with True": function("return x + True"),
    "a keyword with a condition": function("return torch.add(x, y, alpha=True)"),
    "a change in the middle of an expression": function("return y.sigmoid_() % 3"),
    "an in-place function in the middle": function("return F.relu(x, inplace=True) + x"),
    "a multiplication that may be left out": function("return (x * 1) * x"),
    "an addition of a constant": function("n = 0\nreturn (x + n) * x"),
    "random numbers before a remainder": function("return torch.rand_like(x) % 2"),
    "a change in a loop": function("z = x + 1\nfor i in range(2):\n    z += 1\n    z = y\nreturn y"),
    "a result that is never used": function("z = torch.stack([x, y])\nreturn x"),
    "tensors compared for the largest": function("return torch.max(x, y)"),
    "a tensor as an exponent": function("return x ** y"),
    "tensors as bounds": function("return x.clamp(min=y)"),
    "a standard deviation": function("return x.std(dim=0)"),
    "a split into parts": function("a, b = x.split(2)\nreturn a + b"),
    "a bitwise change in place": function("x &= y\nreturn x"),
    "a remainder in place": function("x %= y\nreturn x"),
    "a factory": function("return x + torch.zeros(3)"),
    "a factory by a size": function("return x + torch.arange(x.size(0))"),
    "a sum of half precision products": function("return torch.addmm(x, x, y)"),
    "a function of torch that was not checked": function("return torch.linalg.svd(x)[1]"),
    "a method that was not checked": function("return x.bernoulli_()"),
    "a print": function("print(x)\nreturn x"),
    "a formatted text": function("raise ValueError(f'{x.dim()}')"),
    "an assertion": function("assert x.dim() == 2\nreturn x"),
    "rows changed in place in a loop": function("for row in x:\n    row += 1\nreturn x"),
    "a question to the compiler": function("if torch.jit.is_scripting():\n    return -x\nreturn x"),
    "a context manager": function("with torch.no_grad():\n    return x * y"),
    "a nested function": function("g = lambda z: z + 1\nreturn g(x)"),
    "a generator": function("yield x"),
    # results of another type
    "a shape": function("return x.shape"),
    "a size": function("return x.size(0)"),
    "a dtype": function("return x.dtype"),
    "the tuple of a split": function("return x.chunk(2)"),
    "a split through a name": function("parts = x.split(1)\nreturn parts"),
    "a named pair": function("return x.max(dim=0)"),
    "a named pair inside a tuple": function("return x, x.sort()"),
    "a list": function("return [x, y]"),
    "an early return without a value": function("if x.dim() == 1:\n    return\nx += y"),
    # names from around
    "a constant from around": HEAD + "SCALE = torch.ones(3)\n\n\n@torch.jit.script\ndef f(x):\n    return x * SCALE\n",
    "a function from around with a default": HEAD
    + "def g(x, k=2):\n    return x * k\n\n\n@torch.jit.script\ndef f(x):\n    return g(x)\n",
    "a decorated function from around": HEAD
    + "@torch.no_grad()\ndef g(x):\n    return x * 2\n\n\n@torch.jit.script\ndef f(x):\n    return g(x)\n",
    "a closure": HEAD + "def make(scale):\n    @torch.jit.script\n    def f(x):\n        return x * scale\n    return f\n",
    # uses
    "handed to other code": function(PLAIN, after="\nregister(f)\n"),
    "kept on an object": function(PLAIN, after="\nclass Act:\n    def __init__(self):\n        self.f = f\n"),
    "its name asked for": function(PLAIN, after="\nname = f.__name__\n"),
    "errors caught around a call": function(PLAIN, after="\ntry:\n    f(1, 2)\nexcept RuntimeError:\n    pass\n"),
    "called with a number": function(PLAIN, after="\nr = f(torch.ones(3), 2)\n"),
    "another decorator below": HEAD + "@torch.jit.script\n@torch.no_grad()\ndef f(x):\n    return x * 2\n",
    "another decorator above": HEAD + "@register\n@torch.jit.script\ndef f(x):\n    return x * 2\n",
    # around
    "autocast": function(PLAIN, after="\nwith torch.autocast('cpu'):\n    r = f(torch.ones(3), torch.ones(3))\n"),
    "mixed precision of a trainer": function(PLAIN, after="\ntrainer = Trainer(precision='16-mixed')\n"),
    "a subclass of Tensor": function(PLAIN, after="\n\nclass Image(torch.Tensor):\n    pass\n"),
    "a branch under torch.fx": function(
        "if x.dim() == 2:\n    return x\nreturn y", after="\ng = torch.fx.symbolic_trace(torch.nn.Identity())\n"),
    "a loop inside a trace": function(
        "for row in x:\n    y = y + row\nreturn y", after="\nt = torch.jit.trace(*load())\n"),
    "a size that leaves the tensors inside a trace": function(
        "return x / math.sqrt(x.size(-1))", after="\nt = torch.jit.trace(*load())\n"),
    # scripted in other ways
    "kept on self": function(PLAIN, decorator="",
                             after="\n\nclass Act:\n    def __init__(self):\n        self.f = torch.jit.script(f)\n"),
    "passed on scripted": function(PLAIN, decorator="", after="\n\nrun(torch.jit.script(f))\n"),
    "scripted inside a class body": function(PLAIN, decorator="", after="\n\nclass Act:\n    f = torch.jit.script(f)\n"),
    "kept on a class": function(PLAIN, after="\n\nclass Act:\n    act = f\n"),
    "a method": HEAD + "class Act:\n    @torch.jit.script\n    def f(x):\n        return x\n",
    "its graph asked for": function(PLAIN, after="\nprint(f.graph)\n"),
    "saved": function(PLAIN, after="\nf.save('f.pt')\n"),
    "its type asked for": function(PLAIN, after="\nassert isinstance(f, torch.jit.ScriptFunction)\n"),
    "inside a test": HEAD + "def test_script():\n    @torch.jit.script\n    def f(x):\n        return x * 2\n    f(torch.ones(1))\n",
}  # fmt: skip


def found(folder: Path, files: dict[str, str], code: str = "TL102") -> list[Finding]:
    result = analyse_files(folder, files, codes=frozenset({code}))
    assert result.failures == ()
    findings = [finding for finding in all_findings(result) if finding.code == code]
    assert all(new_bytes(result, path) is None for path in files)
    return findings


@pytest.mark.parametrize("code", UNSAFE.values(), ids=UNSAFE)
def test_a_scripted_function_is_not_rewritten_by_default(code: str, tmp_path: Path) -> None:
    findings = found(tmp_path, {"a.py": code})
    assert findings and all(finding.safety is not Safety.SAFE and finding.help for finding in findings)


ACROSS = {
    "the graph is asked for in another file": {"a.py": function(PLAIN), "b.py": "from a import f\n\nprint(f.graph)\n"},
    "through a module": {"a.py": function(PLAIN), "b.py": "import a\n\nprint(a.f.code)\n"},
    "handed on in another file": {"a.py": function(PLAIN), "b.py": "from a import f\n\nACTS = {'f': f}\n"},
    "offered to further files": {
        "pkg/a.py": function(PLAIN), "pkg/__init__.py": "from .a import f\n", "b.py": "from pkg import f\n\nf.graph\n"},
    "offered with a star": {"pkg/a.py": function(PLAIN), "pkg/__init__.py": "from .a import *\n"},
    "code that is installed": {"a.py": function(PLAIN), "setup.py": "import setuptools\n\nsetuptools.setup()\n"},
    "code that is installed from a folder of examples": {
        "examples/a.py": function(PLAIN), "examples/setup.py": "import setuptools\n\nsetuptools.setup()\n"},
    "a graph for TensorBoard": {
        "a.py": function("if x.dim() == 2:\n    return x * y\nreturn y"),
        "b.py": "from torch.utils.tensorboard import SummaryWriter\n\nSummaryWriter().add_graph(net, x)\n"},
    "autocast in another file": {
        "a.py": function(PLAIN), "b.py": "import a, torch\n\nctx = torch.cuda.amp.autocast()\n"},
    "a helper that is patched": {
        "a.py": HEAD + "def g(x):\n    return x * 2\n\n\n@torch.jit.script\ndef f(x):\n    return g(x)\n",
        "b.py": "import a\n\na.g = abs\n"},
}  # fmt: skip


@pytest.mark.parametrize("files", ACROSS.values(), ids=ACROSS)
def test_uses_in_other_files_count(files: dict[str, str], tmp_path: Path) -> None:
    findings = found(tmp_path, files)
    assert findings and all(finding.safety is not Safety.SAFE for finding in findings)


SAFE = {
    "types in a comment": (
        function(f"# type: (Tensor, Tensor) -> Tensor\n{PLAIN}"), "result = observe(f, torch.ones(4, 3), torch.ones(3))"),
    "types in comments of the parameters": (
        function(f"# type: (...) -> Tensor\n{PLAIN}", "x,  # type: Tensor\n      y  # type: Tensor\n     "),
        "result = observe(f, torch.ones(4, 3), torch.ones(3))"),
    "a module that calls it": (
        function(PLAIN, after="\n\nclass Act(torch.nn.Module):\n    def forward(self, x):\n        return f(x, x)\n"),
        "result = observe(Act(), torch.ones(4, 3))"),
    "called by keyword": (function(PLAIN), "result = f(y=torch.ones(3), x=torch.zeros(3))"),
    "a parameter of a module": (function(PLAIN), "result = f(torch.nn.Parameter(torch.ones(3)), torch.ones(3))"),
    "a scripted module that calls it": (
        function(PLAIN, after="\n\nclass Act(torch.nn.Module):\n    def forward(self, x):\n        return f(x, x)\n"),
        "result = observe(torch.jit.script(Act()), torch.ones(4, 3))"),
    "a scripted function handed to script again": (
        function(PLAIN), "result = torch.jit.script(f)(torch.ones(3), torch.ones(3))"),
    "a GELU": (
        function("return x * 0.5 * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)))", "x"),
        "result = observe(f, torch.randn(4, 3))"),
    "dropout and a residual": (
        function("return F.dropout(x, p=0.5, training=True) + y"),
        "torch.manual_seed(0)\nresult = f(torch.ones(4, 3), torch.ones(4, 3))"),
    "masked attention": (
        function(
            "s = torch.matmul(x, y.transpose(-2, -1)) / math.sqrt(x.size(-1))\n"
            "s = s.masked_fill(s > 5, float('-inf')) if False else s.masked_fill(s > 5, -math.inf)\n"
            "return F.softmax(s, dim=-1)").replace(
                "s.masked_fill(s > 5, float('-inf')) if False else ", ""),
        "result = observe(f, torch.randn(2, 4, 3), torch.randn(2, 4, 3))"),
    "a gated linear unit": (
        function("a, b = torch.chunk(x, 2, dim=1)\nreturn torch.tanh(a + y) * torch.sigmoid(b)"),
        "result = observe(f, torch.randn(4, 6), torch.ones(3))"),
    "an early return": (
        function("if x.dim() == 1:\n    return x.unsqueeze(0)\nreturn x.mean(dim=0, keepdim=True)", "x"),
        "result = [f(torch.ones(3)), f(torch.ones(2, 3))]"),
    "nothing returned": (
        function("x.mul_(2)\ny[0] = 1"),
        "x, y = torch.ones(3), torch.zeros(3)\nf(x, y)\nresult = (x, y)"),
    "gradients": (
        function(PLAIN),
        "x = torch.ones(3, requires_grad=True)\nfor _ in range(3):\n    f(x, x).sum().backward()\nresult = x.grad"),
}  # fmt: skip


BESIDE = {
    "a log for TensorBoard": {
        "b.py": "from torch.utils.tensorboard import SummaryWriter\n\nSummaryWriter().add_scalar('loss', 1.0)\n"},
    "a package beside the examples": {"setup.py": "import setuptools\n\nsetuptools.setup()\n"},
}  # fmt: skip


@pytest.mark.parametrize("files", BESIDE.values(), ids=BESIDE)
def test_what_neither_traces_nor_runs_the_code_holds_nothing_back(files: dict[str, str], tmp_path: Path) -> None:
    code = function("if x.dim() == 2:\n    return x * y\nreturn y")
    result = analyse_files(tmp_path, {"examples/a.py": code, **files}, codes=frozenset({"TL102"}))
    assert b"torch.jit.script" not in (new_bytes(result, "examples/a.py") or code.encode())


@pytest.mark.parametrize(("code", "run"), SAFE.values(), ids=SAFE)
def test_everyday_functions_lose_their_decorator_and_do_the_same(
    code: str, run: str, tmp_path: Path, processes: FreshProcesses
) -> None:
    result = analyse_files(tmp_path / "project", {"example.py": code}, codes=frozenset({"TL102"}))
    new = (new_bytes(result, "example.py") or b"").decode()
    assert new and "torch.jit.script" not in new
    outcome = compare_programs(Program(code), Program(new), run, folder=tmp_path / "proof", processes=processes)
    assert outcome.verdict is Verdict.SAME, str(outcome)


MODULE = (
    "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.fc = torch.nn.Linear(3, 4)\n\n    def forward(self, x):\n        return self.fc(x)\n\n\nnet = Net()\n"
)


@pytest.mark.parametrize(
    "lines",
    [
        "s = torch.jit.script(net)\ny = s(torch.ones(2, 3))",
        "net = torch.jit.script(net)\nnet.train()",
        "torch.jit.script(net).save('n.pt')",
        "s = torch.jit.script(net)\nprint(s.graph)",
        "s = torch.jit.script(net, **options)\ns(torch.ones(3))",
        "s = torch.jit.script(net)\nassert isinstance(s, torch.jit.ScriptModule)",
        "s = torch.jit.script(obj=net)",
        "s = torch.jit.script()",
        "for s in [torch.jit.script(net)]:\n    s(torch.ones(3))",
        "with torch.jit.script(net) as s:\n    pass",
        "s = torch.jit.script(*[net])",
        "s = torch.jit.script(lambda x: x)",
        "s = torch.jit.script(torch.sigmoid)",
        "s, t = torch.jit.script(net), 1",
        "x = [torch.jit.script(n) for n in [net]]",
        "s = t = torch.jit.script(net)",
        "del net\ns = torch.jit.script(net)",
    ],
)  # fmt: skip
def test_a_scripted_module_is_never_rewritten_by_default(lines: str, tmp_path: Path) -> None:
    findings = found(tmp_path, {"a.py": f"{MODULE}{lines}\n"})
    assert len(findings) == 1 and findings[0].safety is not Safety.SAFE and findings[0].help


def test_the_reader_of_a_saved_module_holds_the_fix_back(tmp_path: Path) -> None:
    code = f"{MODULE}net.eval()\ns = torch.jit.script(net)\ny = s(torch.ones(2, 3))\ns.save('n.pt')\n"
    files = {"a.py": code, "b.py": "import torch\n\nr = torch.jit.load('n.pt')\nprint(r.graph)\n"}
    result = analyse_files(tmp_path, files, unsafe=True, codes=frozenset({"TL102", "TL103"}))
    assert new_bytes(result, "a.py") is None


def test_the_draft_names_the_inputs_of_forward(tmp_path: Path) -> None:
    code = (
        "import torch\n\n\nclass Net(torch.nn.Module):\n"
        "    def forward(self, ids: torch.Tensor, k: int, mask: torch.Tensor | None = None):\n        return ids * k\n\n\n"
        "net = Net()\ntorch.jit.script(net).save('n.pt')\n"
    )
    (finding,) = found(tmp_path, {"a.py": code})
    assert finding.help is not None
    assert "torch.export.export(net.eval(), (ids, k), dynamic_shapes=" in finding.help
    assert "`k` is fixed" in finding.help and "`mask`" in finding.help


IMPORTED = "import io\n\nimport layers\nimport torch\nfrom layers import Conv, pool\n\n\n"
ADVICE = {
    "an imported function or module": (
        "def test_pool(x, index):\n    scripted = torch.jit.script(pool)\n    assert scripted(x, index) is not None\n",
        ["torch.compile(pool)", "if it is a module, what `torch.export.export(pool, inputs)` captures"], [".eval()"]),
    "a function under another name": (
        "def double(x):\n    return x * 2\n\n\ndef test_double(x):\n    op = double\n    torch.jit.script(op)(x)\n",
        ["torch.compile(op, fullgraph=True)"], [".eval()", "export.export"]),
    "a function of a module": (
        "def test_op(x):\n    op = layers.functional.pool\n    torch.jit.script(op)(x)\n", ["torch.compile(op"], [".eval()"]),
    "a static method of a class": (
        "def test_score(x):\n    torch.jit.script(Conv.score)(x)\n", ["torch.compile(Conv.score"], [".eval()", "export."]),
    "a constructed module": (
        "def test_conv(x, index):\n    conv = Conv(3)\n    assert conv(x, index).dim() == 2\n"
        "    torch.jit.script(conv)(x, index)\n",
        ["what `torch.export.export(conv, inputs)` captures, in the mode that it is in here"], ["torch.compile", ".eval()"]),
    "any number of arguments": (
        "class Any(torch.nn.Module):\n    def forward(self, *args):\n        return args[0]\n\n\n"
        "def test_any(x, index):\n    torch.jit.script(Any())(x, index)\n",
        ["torch.export.export(Any(), inputs)"], []),
    "arguments that are no tensors": (
        "def test_conv():\n    x = torch.ones(3)\n    torch.jit.script(Conv(3))(x, 2, size=None, mask=x)\n",
        ["torch.export.export(Conv(3), inputs)"], ["dynamic_shapes"]),
    "a long expression": (
        "def test_conv(x):\n    torch.jit.script(Conv(channels=[3, 4, 5, 6], activation='relu', norm='layer').to(x.device))(x)\n",
        ["torch.export.export(Conv(...).to(...), inputs)"], ["module.eval()"]),
    "strings": (
        "def test_words():\n    words = torch.jit.script(Conv(3))\n    assert words(['a', 'b']) == [1, 2]\n",
        ["takes strings, which `torch.export` would fix, and stays plain Python"], ["torch.export.export("]),
    "a function beside the plain one": (
        "def double(x):\n    return x * 2\n\n\nways = {}\nways['plain'] = double\nways['script'] = torch.jit.script(double)\n",
        ["`ways['script']` stands beside the plain `double` of line 13", "torch.compile(double)"], []),
    "a module beside the plain one": (
        "net = Conv(3)\nways = {}\nways['plain'] = net\nways['script'] = torch.jit.script(net)\n",
        ["`ways['script']` stands beside the plain `net` of line 10"], []),
    "a program that is named like a test": (
        "def test_export(x):\n    net = torch.jit.script(Conv(3))\n    net.graph\n    net.save(x)\n", ["is asked for `.graph`"], ["Delete"]),
    "a buffer in memory": (
        "def test_save():\n    torch.jit.save(torch.jit.script(Conv(3)), io.BytesIO())\n", ["torch.export.save"], ["C++"]),
    "a path of the function around": (
        "def export(folder):\n    torch.jit.script(Conv(3)).save(folder + '/net.pt')\n", ["torch.export.save"], ["C++"]),
    "a file": (
        "torch.jit.script(Conv(3)).save('net.pt')\n", ["torch.export.save", "C++ (`torch::jit::load`) at main.cpp:1"], []),
}  # fmt: skip


@pytest.mark.parametrize(("code", "said", "unsaid"), ADVICE.values(), ids=ADVICE)
def test_the_advice_fits_what_is_scripted(code: str, said: list[str], unsaid: list[str], tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text('auto net = torch::jit::load("any.pt");\n')
    (finding,) = found(tmp_path, {"a.py": IMPORTED + code})
    assert finding.help is not None and finding.safety is Safety.MANUAL
    assert [text for text in said if text not in finding.help] == []
    assert [text for text in unsaid if text in finding.help] == []


@pytest.mark.parametrize(
    "forward",
    ["def forward(self, line: str):", "def forward(self, lines: list[str], n: int):", "def forward(self, x: 'List[List[int]]'):",
     "def forward(self, x):\n        if torch.jit.isinstance(x, str):\n            return 0"],
)  # fmt: skip
def test_a_module_of_strings_or_numbers_stays_plain_python(forward: str, tmp_path: Path) -> None:
    code = f"import torch\n\n\nclass Words(torch.nn.Module):\n    {forward}\n        return 1\n\n\n"
    (finding,) = found(tmp_path, {"a.py": f"{code}torch.jit.script(Words()).save('words.pt')\n"})
    assert finding.help is not None and "keep it as Python code" in finding.help
    assert "torch.export.save" not in finding.help and "torch.export.load" not in finding.help


def test_a_parameter_that_is_a_string_beside_tensors_is_fixed(tmp_path: Path) -> None:
    code = (
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x: torch.Tensor, mode: str):\n"
        "        return x\n\n\ntorch.jit.script(Net()).save('n.pt')\n"
    )
    (finding,) = found(tmp_path, {"a.py": code})
    assert finding.help is not None and "`mode` is fixed" in finding.help


SCRIPT_MODULE = (
    "import torch\n\n\nclass Net(torch.jit.ScriptModule):\n    def __init__(self):\n        super().__init__()\n"
    "        self.fc = torch.nn.Linear(3, 4)\n{init}\n    @torch.jit.script_method\n    def forward(self, {parameters}):\n"
    "        {body}\n\n{after}\n"
)


def script_module(
    init: str = "", parameters: str = "x", body: str = "return torch.relu(self.fc(x))", after: str = ""
) -> str:
    init = "".join(f"        {line}\n" for line in init.splitlines())
    return SCRIPT_MODULE.format(init=init, parameters=parameters, body=body, after=after)


@pytest.mark.parametrize(
    "code",
    [
        script_module(parameters="x, k: int", body="return self.fc(x) * k"),
        script_module(body="return 1.0 - x"),
        script_module(body="return self.other(x)"),
        script_module("self.sub = Sub()", body="return self.sub(x)"),
        script_module("self.w = torch.ones(3)", body="return x * self.w"),
        script_module("self.names = ['a']", body="return self.fc(x) * len(self.names)"),
        script_module("for i in range(2):\n    setattr(self, f'l{i}', torch.nn.Linear(3, 3))"),
        script_module("self.define('def g(self, x): return x')"),
        script_module("self.lstm = torch.nn.LSTM(3, 4)", body="return self.lstm(x)[0]"),
        script_module(after="net = Net()\nnet.save('n.pt')"),
        script_module(after="torch.jit.save(Net(), 'n.pt')"),
        script_module(after="net = Net()\nprint(net.code)"),
        script_module(after="fast = torch.jit.freeze(Net().eval())"),
        script_module(after="net = Net()\nassert isinstance(net, torch.jit.ScriptModule)"),
        script_module(after="nets = torch.nn.ModuleList([Net()])"),
        script_module(after="class Wide(Net):\n    pass"),
        script_module(after="CLASSES = {'net': Net}"),
        script_module(after="with torch.autocast('cpu'):\n    Net()(torch.ones(2, 3))"),
        script_module().replace("torch.jit.ScriptModule)", "torch.jit.ScriptModule, Mixin)"),
        script_module(after="    def helper(self, x):\n        return self.forward(x)"),
        script_module(body="return self.fc(x) if x.sum() > 0 else self.fc(-x)", after="t = torch.jit.trace(*load())"),
    ],
)  # fmt: skip
def test_a_script_module_is_not_rewritten_by_default(code: str, tmp_path: Path) -> None:
    findings = found(tmp_path, {"a.py": code}, "TL105")
    assert len(findings) == 1 and findings[0].safety is not Safety.SAFE and findings[0].help


def test_the_script_module_without_any_of_this_is_rewritten(tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"a.py": script_module()}, codes=frozenset({"TL105"}))
    new = new_bytes(result, "a.py") or b""
    assert b"class Net(torch.nn.Module):" in new and b"script_method" not in new
