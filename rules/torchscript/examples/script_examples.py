"""Examples of TL102."""

from __future__ import annotations

from torchlift.rules.rule import Bad, Ok
from torchlift.rules.torchscript.examples.plain_examples import DEAD_BRANCHES, SCRIPTED_MODULES
from torchlift.torchscript_intent import DROP

_HEAD = "import torch\n\n\n"
_DECORATOR = "@torch.jit.script\n"
_SWISH = "def swish(x: torch.Tensor) -> torch.Tensor:\n    return x * torch.sigmoid(x)\n"
_RUN_SWISH = "result = observe(swish, torch.randn(4, 3))"

_NET = """\
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 4)

    def forward(self, x):
        return torch.relu(self.fc(x))


torch.manual_seed(0)
"""
_AUTO = "torch.export.Dim.AUTO"
_EXPORT = f"dynamic_shapes=([{_AUTO}] * 2,))"
_BRANCH = "def f(x):\n    if x.sum() > 0:\n        return x\n    return -x\n"
_TRACE = "\n\nexample = [torch.ones(3)]\ntraced = torch.jit.trace(lambda x: f(x), *example)\n"
_PROJECT = '[project]\nname = "shapes"\nversion = "1"\n'


def _function(body: str, why: str, *, parameters: str = "x, y", run: str, safety: str = "safe", **rest: object) -> Bad:
    """A decorated function that loses its decorator."""
    code = f"def f({parameters}):\n{body}"
    return Bad(
        _HEAD + _DECORATOR + code,
        _HEAD + code,
        safety=safety,  # type: ignore[arg-type]
        why=why,
        run=run,
        **rest,  # type: ignore[arg-type]
    )


def _reviewed(body: str, why: str, *, parameters: str = "x", run: str | None = None, **rest: object) -> Bad:
    """A decorated function whose decorator goes only after review."""
    code = f"def f({parameters}):\n    {body}\n"
    return Bad(
        _HEAD + _DECORATOR + code,
        _HEAD + code,
        safety="unsafe",
        why=why,
        run=run,
        **rest,  # type: ignore[arg-type]
    )


_FUNCTIONS: tuple[Bad | Ok, ...] = (
    Bad(_HEAD + _DECORATOR + _SWISH, _HEAD + _SWISH, why="an activation function", run=_RUN_SWISH),
    Bad(
        f"import torch\nfrom torch.jit import script\n\n\n@script\n{_SWISH}",
        f"import torch\n\n\n{_SWISH}",
        why="from-import that goes with its last use",
        run=_RUN_SWISH,
    ),
    Bad(
        f"import torch\nimport torch.jit as tj\n\n\n@tj.script  # fused on the GPU\n{_SWISH}",
        f"import torch\n\n\n{_SWISH}",
        why="aliased module and a comment",
        run=_RUN_SWISH,
    ),
    _function(
        "    shape = x.shape\n    x = x.reshape(shape[0], shape[1], -1)\n"
        "    x = x + (y + 1e-9).reciprocal() * torch.sin(y * x).pow(2)\n    return x.reshape(shape)\n",
        "unannotated parameters, sizes and reassigned names",
        run="result = observe(f, torch.randn(4, 3, 2), torch.ones(1))",
    ),
    _function(
        "    a, b = x.chunk(2, dim=-1)\n    a[a > 0] *= 2\n    y += b\n    return a, y\n",
        "unpacking, a masked store, an argument changed in place",
        run="y = torch.ones(4, 2)\nresult = (f(torch.randn(4, 4), y), f(torch.randn(4, 4), y), y)",
    ),
    _function(
        "    if x.sum() > 0:\n        x = x * y\n    for i in range(x.size(0)):\n        y = y + x[i]\n    return y\n",
        "a branch and a loop, nothing traces",
        run="result = [f(s * torch.ones(n, 3), torch.ones(3)) for s in (1, -1) for n in (1, 4)]",
    ),
    Bad(
        _HEAD
        + "def gate(x):\n    return torch.tanh(x)\n\n\n@torch.jit.script\ndef f(x, y):\n    return gate(x) + torch.mean(y)\n",
        _HEAD + "def gate(x):\n    return torch.tanh(x)\n\n\ndef f(x, y):\n    return gate(x) + torch.mean(y)\n",
        why="it calls another function of the file",
        run="result = observe(f, torch.ones(4, 3), torch.ones(2))",
    ),
    Bad(
        f"{_HEAD}class Act(torch.nn.Module):\n    @staticmethod\n    @torch.jit.script\n    def f(x):\n        return x + 1\n\n"
        "    def forward(self, x):\n        return self.f(x)\n",
        f"{_HEAD}class Act(torch.nn.Module):\n    @staticmethod\n    def f(x):\n        return x + 1\n\n"
        "    def forward(self, x):\n        return self.f(x)\n",
        safety="unsafe",
        why="a static method, whose uses are not looked for",
        run="result = observe(Act(), torch.ones(2))",
    ),
    Bad(
        _HEAD + _SWISH + "\n\nswish = torch.jit.script(swish)\n",
        _HEAD + _SWISH,
        why="rebound to its scripted form",
        run=_RUN_SWISH,
    ),
    Bad(
        _HEAD + _SWISH + "\n\nfast = torch.jit.script(swish)\n",
        _HEAD + _SWISH + "\n\nfast = swish\n",
        why="scripted under another name",
        run="result = observe(fast, torch.randn(4, 3))",
    ),
    Bad(
        "import torch\nfrom acts import swish\n\ny = torch.jit.script(swish)(torch.ones(3))\n",
        "import torch\nfrom acts import swish\n\ny = swish(torch.ones(3))\n",
        why="a function of another file, called at once",
        run="result = y",
        files=(("acts.py", _HEAD + _SWISH),),
    ),
    Bad(
        _HEAD + _DECORATOR + _SWISH + "\n\n@torch.jit.script\ndef twice(x):\n    return swish(x) + swish(x)\n",
        _HEAD + _SWISH + "\n\ndef twice(x):\n    return swish(x) + swish(x)\n",
        why="a scripted function that calls another",
        run="result = observe(twice, torch.randn(4, 3))",
    ),
    # With review
    _reviewed(
        "return x + 1 / (a + eps)",
        "a float parameter, which scripting converts",
        parameters="x, a, eps: float = 1e-9",
        run="result = (f(torch.ones(3), torch.ones(3)), f(torch.ones(3), torch.ones(3), 0.5))",
    ),
    _reviewed(
        "return x * int(k / 2)",
        "an int parameter",
        parameters="x, k: int",
        run="result = [f(torch.ones(3), k) for k in (2, 5)]",
    ),
    _reviewed(
        "return torch.stack(xs)",
        "a list parameter, which scripting copies",
        parameters="xs: list[torch.Tensor]",
        run="result = f([torch.ones(3), torch.zeros(3)])",
    ),
    _reviewed(
        "return 1.0 - x",
        "a float minus a tensor: TorchScript wraps around for bytes",
        run="result = observe(f, torch.tensor([1, 2], dtype=torch.uint8))",
        differs="the tensor holds bytes",
    ),
    _reviewed(
        "x %= 2\n    return x",
        "an operation that differs",
        run="result = f(torch.tensor([-3.0, 5.0]))",
        differs="a number is negative: `%=` keeps its sign in TorchScript",
    ),
    _reviewed(
        "return torch.zeros(3)",
        "a factory, which TorchScript computes once",
        run="f(torch.ones(1)).add_(1)\nresult = f(torch.ones(1))",
        differs="the caller changes the result in place",
    ),
    _reviewed(
        "return x.max(dim=1)",
        "a named tuple is returned",
        run="result = f(torch.ones(2, 3))",
        differs="the type of the returned tuple is looked at",
    ),
    _reviewed(
        'assert x.dim() == 2, "no batch"\n    return x',
        "an assertion, which fails with another exception",
        run="result = f(torch.ones(2, 3))",
    ),
    Bad(
        _HEAD + _DECORATOR + _SWISH + "\n\nacts = {'swish': swish}\n",
        _HEAD + _SWISH + "\n\nacts = {'swish': swish}\n",
        safety="unsafe",
        why="the function is handed on",
        run="result = observe(acts['swish'], torch.ones(3))",
    ),
    Bad(
        _HEAD
        + _DECORATOR
        + _SWISH
        + "\n\nwith torch.autocast('cpu', dtype=torch.bfloat16):\n    y = swish(torch.ones(3))\n",
        _HEAD + _SWISH + "\n\nwith torch.autocast('cpu', dtype=torch.bfloat16):\n    y = swish(torch.ones(3))\n",
        safety="unsafe",
        why="autocast in the project",
        run="with torch.autocast('cpu', dtype=torch.bfloat16):\n    result = swish(torch.ones(3, dtype=torch.bfloat16))",
        differs="TorchScript casts on its own under autocast",
    ),
    Bad(
        _HEAD + _DECORATOR + _BRANCH + _TRACE,
        why="a function with a branch inside a trace",
    ),
    Bad(
        _HEAD
        + _DECORATOR
        + "def rows_for_export(x, rows: int):\n    for row in range(rows):\n        x = x + row\n    return x\n\n\n"
        + "def write(net, x):\n    torch.onnx.export(net, x, 'net.onnx', dynamo=False)\n",
        why="a function with a loop that is called after the export",
        torchscript=DROP,
    ),
    Bad(
        _HEAD
        + "class Net(torch.nn.Module):\n    def forward(self, x):\n        return x if x.sum() > 0 else -x\n\n\n"
        + "torch.onnx.export(torch.jit.script(Net()), torch.ones(3), 'net.onnx')\n",
        why="a module that is scripted for an exporter, so that both branches are kept",
        torchscript=DROP,
    ),
    Bad(
        _HEAD + _DECORATOR + _SWISH,
        _HEAD + _SWISH,
        safety="unsafe",
        why="code that others install and run",
        run=_RUN_SWISH,
        files=(("pyproject.toml", _PROJECT),),
    ),
    # By hand
    Bad(_HEAD + _DECORATOR + _SWISH + "\n\nprint(swish.graph)\n", why="the graph is asked for"),
    Bad(
        f"{_HEAD}class Act:\n    @torch.jit.script\n    def f(x):\n        return x + 1\n",
        why="a function in a class body, which is called without self",
    ),
    Bad(
        _HEAD + _DECORATOR + _SWISH + "\n\nclass Act:\n    f = swish\n",
        why="kept on a class, where a plain function becomes a method",
    ),
    Bad(
        _HEAD + _SWISH + "\n\ndef make():\n    return torch.jit.script(swish)\n",
        why="a function whose scripted form is returned",
    ),
    Bad(
        _HEAD
        + _SWISH
        + "\n\ndef test_script():\n    f = torch.jit.script(swish)\n    assert torch.equal(f(torch.ones(3)), swish(torch.ones(3)))\n",
        why="a test that a function can be scripted",
    ),
)

_POINT = """\
class Point:
    def __init__(self, x: torch.Tensor):
        self.x = x

    def moved(self) -> torch.Tensor:
        return self.x + 1
"""
_RUN_POINT = "result = Point(torch.ones(2)).moved()"

_CLASSES: tuple[Bad | Ok, ...] = (
    Bad(_HEAD + _DECORATOR + _POINT, _HEAD + _POINT, why="a class nothing scripted uses", run=_RUN_POINT),
    Bad(
        "import enum\n\nimport torch\n\n\n@torch.jit.script\nclass Colour(enum.Enum):\n    RED = 1\n",
        "import enum\n\nimport torch\n\n\nclass Colour(enum.Enum):\n    RED = 1\n",
        why="an enum",
        run="result = (Colour.RED.value, Colour.RED is Colour(1))",
    ),
    Bad(
        "from dataclasses import dataclass\n\nimport torch\n\n\n@dataclass\nclass Out:\n    x: torch.Tensor\n\n\n"
        "Out = torch.jit.script(Out)\n",
        "from dataclasses import dataclass\n\nimport torch\n\n\n@dataclass\nclass Out:\n    x: torch.Tensor\n",
        why="a dataclass rebound to itself",
        run="result = Out(torch.ones(2)).x",
    ),
    Bad(
        _HEAD
        + _DECORATOR
        + _POINT
        + "\n\ndef f(x: torch.Tensor) -> torch.Tensor:\n    return Point(x).moved()\n\n\ng = torch.jit.script(f)\nassert g.graph\n",
        why="a scripted function uses the class",
    ),
    Bad(
        f"{_HEAD}@torch.jit.script\nclass Net(torch.nn.Module):\n    pass\n",
        why="a module class, which cannot be scripted",
    ),
)

_MODULES: tuple[Bad | Ok, ...] = (
    Bad(
        _HEAD + _NET + "net = torch.jit.script(Net())\ny = net(torch.ones(4, 3))\n",
        _HEAD + _NET + "net = Net()\ny = net(torch.ones(4, 3))\n",
        safety="unsafe",
        why="called only",
        run="result = observe(net, torch.ones(4, 3))",
    ),
    Bad(
        _HEAD + _NET + "net = Net()\nnet = torch.jit.script(net)\nnet.eval()\ny = net(torch.ones(4, 3))\n",
        _HEAD + _NET + "net = Net()\nnet.eval()\ny = net(torch.ones(4, 3))\n",
        safety="unsafe",
        why="rebound to its scripted form and put into eval mode",
        run="result = (observe(net, torch.ones(4, 3)), net.training)",
    ),
    Bad(
        _HEAD + _NET + "net = Net()\ny = torch.jit.script(net).eval()(torch.ones(4, 3))\n",
        _HEAD + _NET + "net = Net()\ny = net.eval()(torch.ones(4, 3))\n",
        safety="unsafe",
        why="called at once",
        run="result = y",
    ),
    Bad(
        _HEAD + _NET + "net = Net()\nnet.scale = 1.0\nfast = torch.jit.script(net)\nnet.fc = torch.nn.Identity()\n",
        _HEAD + _NET + "net = Net()\nnet.scale = 1.0\nfast = net\nnet.fc = torch.nn.Identity()\n",
        safety="unsafe",
        why="the module is changed afterwards",
        run="result = fast(torch.ones(4, 3))",
        differs="a part of the module is replaced after it was scripted",
    ),
    Bad(
        _HEAD
        + _NET
        + "net = torch.jit.script(Net())\nnet.train()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        + "for _ in range(2):\n    opt.zero_grad()\n    net(torch.ones(4, 3)).sum().backward()\n    opt.step()\n",
        _HEAD
        + _NET
        + "net = Net()\nnet.train()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        + "for _ in range(2):\n    opt.zero_grad()\n    net(torch.ones(4, 3)).sum().backward()\n    opt.step()\n",
        safety="unsafe",
        why="trained",
        run="result = (net(torch.ones(4, 3)), sorted(net.state_dict()))",
    ),
    Bad(
        f"{_HEAD}{_NET}class Whole(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.part = torch.jit.script(Net())\n\n    def forward(self, x):\n        return self.part(x)\n",
        f"{_HEAD}{_NET}class Whole(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.part = Net()\n\n    def forward(self, x):\n        return self.part(x)\n",
        safety="unsafe",
        why="a scripted part of a module, which would break its export",
        run="result = observe(Whole(), torch.ones(4, 3))",
    ),
    Bad(
        _HEAD + _NET + "net = Net().eval()\nx = torch.ones(4, 3)\nscripted = torch.jit.script(net)\n"
        'scripted.save("net.pt")\ny = scripted(x)\n',
        _HEAD
        + _NET
        + "net = Net().eval()\nx = torch.ones(4, 3)\n"
        + f"scripted_program = torch.export.export(net, args=(x,), {_EXPORT}\nscripted = scripted_program.module()\n"
        + 'torch.export.save(scripted_program, "net.pt")\ny = scripted(x)\n',
        safety="unsafe",
        why="called and saved, with the inputs in view: two names",
        run="result = [scripted(torch.ones(n, 3)) for n in (4, 7)]",
    ),
    Bad(
        _HEAD + _NET + "net = Net()\nscripted = torch.jit.script(net)\nscripted.eval()\n"
        'torch.jit.save(scripted, "net.pt")\ny = net(torch.ones(4, 3))\n',
        _HEAD
        + _NET
        + f"net = Net()\nscripted = torch.export.export(net.eval(), args=(torch.ones(4, 3),), {_EXPORT}\n"
        + 'torch.export.save(scripted, "net.pt")\ny = net(torch.ones(4, 3))\n',
        safety="unsafe",
        why="eval after scripting moves in front of the capture",
        run="import os\nresult = (y, os.path.exists('net.pt'))",
    ),
    Bad(
        _HEAD
        + _NET
        + "net = Net().eval()\ntorch.jit.script(net, example_inputs=[(torch.ones(4, 3),)]).save('net.pt')\n",
        _HEAD
        + _NET
        + f"net = Net().eval()\ntorch.export.save(torch.export.export(net, args=(torch.ones(4, 3),), {_EXPORT}, 'net.pt')\n",
        safety="unsafe",
        why="example inputs given to script",
        run="import os\nresult = os.path.exists('net.pt')",
    ),
    Bad(
        f"{_HEAD}class Two(torch.nn.Module):\n    def forward(self, x: torch.Tensor, k: int, mask=None):\n        return x * k\n\n\n"
        'torch.jit.script(Two()).save("two.pt")\n',
        why="saved without inputs in view: the call is drafted",
    ),
    Bad(
        _HEAD + _NET + 'net = torch.jit.script(Net())\ny = net(torch.ones(4, 3))\nnet.eval()\nnet.save("net.pt")\n',
        why="used in both modes and saved",
    ),
    Bad(_HEAD + _NET + "print(torch.jit.script(Net()).code)\n", why="the code is asked for"),
    Bad(
        "import torch\n\n\ndef prepare(net: torch.nn.Module):\n    return [torch.jit.script(net)]\n",
        why="handed on in a container",
    ),
    Bad(
        "import torch\n\n\ndef prepare(net, jit):\n    if jit:\n        net = torch.jit.script(net)\n    return net(torch.ones(3))\n",
        why="an option that turns scripting on",
    ),
    Bad(
        "import torch\n\n\ndef prepare(net, jit):\n    net = torch.jit.script(net) if jit else net\n    return net(torch.ones(3))\n",
        why="a conditional expression",
    ),
    Bad(_HEAD + _NET + "torch.jit.script(Net())\n", why="only to see whether it works"),
    Bad(
        _HEAD + _NET + "def test_script():\n    assert torch.jit.script(Net())(torch.ones(4, 3)).shape == (4, 4)\n",
        why="a test that a module can be scripted",
    ),
)

_NAMES: tuple[Bad | Ok, ...] = (
    Bad("import torch\n\nnets = list(map(torch.jit.script, []))\n", why="mapped over modules"),
    Bad(
        "import functools\n\nimport torch\n\nscript = functools.partial(torch.jit.script, optimize=True)\n",
        why="partially applied",
    ),
    Bad("import torch\n\nfuse = torch.jit.script\n", why="another name for it"),
    Bad(
        "import torch\n\nFAST = True\nmaybe = torch.jit.script if FAST else (lambda f: f)\n",
        why="chosen by a condition",
    ),
    Bad("from unittest import mock\n\nwith mock.patch('torch.jit.script'):\n    pass\n", why="a patch target"),
    Bad(
        "from torch.jit import script\n",
        why="an import that only passes the name on",
        files=(("main.py", "from example import script\n\nscript(object()).save('x')\n"),),
    ),
    Ok("import script\n\nscript.script('jit')\n", "a module named script"),
    Ok("from numba import jit\n\n\n@jit\ndef script(x):\n    return x\n", "numba's jit"),
    Ok("jit = object()\n\n\n@jit.script\ndef f(x):\n    return x\n", "an own object named jit"),
    Ok("# torch.jit.script(model)\njit = 3\n", "a comment"),
    Ok(
        "import torch\n\nif hasattr(torch.jit, 'script'):\n    print('torch.jit.script is there')\n",
        "a question and prose",
    ),
)

_OPEN_TESTS = (
    Ok(
        "import torch\nfrom packaging.version import Version\n\nif Version(torch.__version__) >= Version('3.0'):\n"
        "    fuse = torch.compile\nelse:\n    fuse = torch.jit.script\n",
        "drop: a test that the lowest torch does not decide",
        torchscript=DROP,
    ),
)

EXAMPLES = (*_FUNCTIONS, *_CLASSES, *_MODULES, *_NAMES, *SCRIPTED_MODULES, *DEAD_BRANCHES, *_OPEN_TESTS)
