"""Examples of TL105."""

from __future__ import annotations

from torchlift.rules.rule import Bad, Ok
from torchlift.torchscript_intent import DROP

_NET = """\
class Net(torch.jit.ScriptModule):
    __constants__ = ["scale"]

    def __init__(self, scale: float = 2.0):
        super().__init__()
        self.scale = scale
        self.fc = torch.nn.Linear(3, 4)
        self.bias = torch.nn.Parameter(torch.ones(4))
        self.register_buffer("mask", torch.ones(4))

    @torch.jit.script_method
    def forward(self, x):
        y = torch.relu(self.fc(x)) * self.scale
        return y * self.mask + self.bias
"""


def _plain(code: str) -> str:
    return code.replace("torch.jit.ScriptModule", "torch.nn.Module").replace("    @torch.jit.script_method\n", "")


def _dropped(code: str) -> str:
    return _plain(code).replace('    __constants__ = ["scale"]\n\n', "")


_NAMES = "def method(function):\n    return function\n\n\nBase = torch.nn.Module\n"
_NAMED = "\n\nclass Net(Base):\n    @method\n    def forward(self, x):\n        return x + 1\n"
_RUN = (
    "torch.manual_seed(0)\nnet = Net()\nresult = (observe(net, torch.ones(2, 3)), sorted(net.state_dict()), "
    "[p.shape for p in net.parameters()], net.eval().training)"
)
_BRANCH = """\
class Net(torch.jit.ScriptModule):
    @torch.jit.script_method
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x
"""
_COUNT = """\
class Net(torch.jit.ScriptModule):
    @torch.jit.script_method
    def forward(self, x, n: int):
        for i in range(n):
            x = x + i
        return x
"""
_HEAD = "import torch\n\n\n"
_WRAPPED = """\
class Net(torch.jit.ScriptModule):
    def __init__(self, table):
        super().__init__()
        self.table = torch.jit.Attribute(table, dict[str, int])
        self.scale = torch.jit.Attribute(2.0, float)

    @torch.jit.script_method
    def forward(self, x):
        return x * len(self.table) * self.scale
"""
_UNWRAPPED = (
    _plain(_WRAPPED)
    .replace("table = torch.jit.Attribute(table, dict[str, int])", "table: dict[str, int] = table")
    .replace("scale = torch.jit.Attribute(2.0, float)", "scale: float = 2.0")
)
_READER = "\n\nnets = [Net()]\n\n\ndef run(x, nets=nets):\n    return [net(x).sum() for net in nets]\n"
_HEIR = "\n\nclass Wide(Net):\n    @torch.jit.script_method\n    def wide(self, x):\n        return self.forward(x)\n"

EXAMPLES: tuple[Bad | Ok, ...] = (
    Bad(_HEAD + _NET, _HEAD + _plain(_NET), why="layers, a parameter, a buffer and a constant", run=_RUN),
    Bad(
        "import torch\nfrom torch import nn\nfrom torch.jit import ScriptModule, script_method\n\n\n"
        "class Net(ScriptModule):\n    def __init__(self):\n        super(Net, self).__init__()\n"
        "        self.bn = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))\n\n"
        "    @script_method\n    def forward(self, x: torch.Tensor) -> torch.Tensor:\n        return self.bn(x)\n",
        "import torch\nfrom torch import nn\n\n\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super(Net, self).__init__()\n"
        "        self.bn = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))\n\n"
        "    def forward(self, x: torch.Tensor) -> torch.Tensor:\n        return self.bn(x)\n",
        why="from-imports that go with their last use",
        run="torch.manual_seed(0)\nnet = Net()\nresult = (net(torch.rand(4, 3)), net.eval()(torch.rand(4, 3)), "
        "sorted(net.state_dict()))",
    ),
    Bad(
        _HEAD + _BRANCH,
        _HEAD + _plain(_BRANCH),
        why="a branch on data",
        run="net = Net()\nresult = [net(s * torch.ones(3)) for s in (1, -1)]",
    ),
    Bad(
        "import torch\n\n\nclass Net(torch.jit.ScriptModule):\n    def __init__(self):\n        torch.jit.ScriptModule.__init__(self)\n"
        "        self.w = torch.nn.Parameter(torch.ones(3))\n\n    @torch.jit.script_method\n    def forward(self, x):\n        return x @ self.w\n",
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        torch.nn.Module.__init__(self)\n"
        "        self.w = torch.nn.Parameter(torch.ones(3))\n\n    def forward(self, x):\n        return x @ self.w\n",
        why="the base class is initialised by its name",
        run="result = observe(Net(), torch.ones(2, 3))",
    ),
    Bad(
        _HEAD + _COUNT,
        _HEAD + _plain(_COUNT),
        safety="unsafe",
        why="a parameter that is no tensor",
        run="result = Net()(torch.ones(2), 3)",
    ),
    Bad(
        _HEAD + _NET + "\n\nnets = [Net()]\n",
        _HEAD + _plain(_NET) + "\n\nnets = [Net()]\n",
        safety="unsafe",
        why="an instance in a container",
        run="torch.manual_seed(0)\nresult = observe(Net(), torch.ones(2, 3))",
    ),
    Bad(
        _HEAD + _WRAPPED,
        _HEAD + _UNWRAPPED,
        safety="unsafe",
        why="values leave their pairs",
        run="result = observe(Net({'a': 1, 'b': 2, 'c': 3}), torch.ones(2, 3))",
        torchscript=DROP,
    ),
    Bad(_HEAD + _WRAPPED.replace("len(self.table)", "len(self.table.value)"), why="code that takes a pair apart"),
    Bad(_HEAD + _NET + "\n\nNet().save('net.pt')\n", why="an instance is saved"),
    Bad(_HEAD + _NET + "\n\nnet = Net()\nprint(net.graph)\n", why="the graph is asked for"),
    Bad(
        _HEAD
        + _NET
        + "\n\nclass Wide(Net):\n    @torch.jit.script_method\n    def wide(self, x):\n        return self.forward(x)\n",
        why="another class derives from it",
    ),
    Bad(_HEAD + _NET.replace("super().__init__()", "super().__init__(False)"), why="options for the base class"),
    # Where TorchScript is dropped
    Bad(
        _HEAD + _COUNT,
        _HEAD + _plain(_COUNT),
        why="a parameter that scripting checked, and TorchScript goes",
        run="result = Net()(torch.ones(2), 3)",
        torchscript=DROP,
    ),
    Bad(
        _HEAD + _NET + _READER,
        _HEAD + _dropped(_NET) + _READER,
        why="instances in a container, methods that are not compiled, constants that nothing reads",
        run="torch.manual_seed(0)\nresult = observe(Net(), torch.ones(2, 3))",
        torchscript=DROP,
    ),
    Bad(
        _HEAD + _NET + _HEIR,
        _HEAD + _dropped(_NET) + _plain(_HEIR),
        why="another class of the file derives from it",
        run="torch.manual_seed(0)\nresult = observe(Wide(), torch.ones(2, 3))",
        torchscript=DROP,
    ),
    Bad(
        _HEAD + _NET,
        why="C++ of the project runs TorchScript modules",
        files=(("csrc/runner.h", 'auto module = object.attr("_c").cast<torch::jit::script::Module*>();\n'),),
        torchscript=DROP,
    ),
    Bad(
        _HEAD + _NET + "\n\nnet = Net()\nprint(net.graph)\n",
        why="the graph is asked for, whatever the intent is",
        torchscript=DROP,
    ),
    Bad(
        _HEAD + _NET + "\n\nnames = Net.__constants__\n",
        _HEAD + _plain(_NET) + "\n\nnames = Net.__constants__\n",
        why="constants that something reads",
        run="torch.manual_seed(0)\nresult = observe(Net(), torch.ones(2, 3)), names",
        torchscript=DROP,
    ),
    Bad(
        f"import os\n\n{_HEAD}{_NAMES}\n\nif int(os.environ.get('USE_JIT', '0')) > 0:\n    Base = torch.jit.ScriptModule\n"
        f"    method = torch.jit.script_method\n{_NAMED}",
        f"import torch\n\n\n{_NAMES}{_NAMED}",
        why="names that a condition binds to TorchScript's own",
        run="result = Net()(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        f"import os\n\n{_HEAD}if os.environ.get('WIDE'):\n    Base = torch.jit.ScriptModule\n"
        "    method = torch.jit.script_method\nelse:\n    Base = torch.nn.Module\n    method = lambda function: function\n"
        f"{_NAMED}",
        f"{_HEAD}Base = torch.nn.Module\nmethod = lambda function: function\n{_NAMED}",
        safety="unsafe",
        why="a condition that may be about something else",
        run="result = Net()(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        f"import os\n\n{_HEAD}if os.environ.get('USE_JIT') == '1':\n    method = torch.jit.script_method\nelse:\n"
        "    method = print\n\n\n@method\ndef f(x):\n    return x\n",
        why="a name that means something else without TorchScript",
        torchscript=DROP,
    ),
    Bad(
        f"import os\n\n{_HEAD}{_NAMES}\n\nif os.environ.get('SEVENTH') == '1':\n    print('the seventh')\n"
        f"    Base = torch.jit.ScriptModule\n    method = torch.jit.script_method\n{_NAMED}",
        f"import os\n\n{_HEAD}{_NAMES}\n\nif os.environ.get('SEVENTH') == '1':\n    print('the seventh')\n"
        f"    Base = torch.nn.Module\n    method = lambda function: function\n{_NAMED}",
        safety="unsafe",
        why="names that are bound again where more happens",
        run="result = Net()(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad("from torch.jit import script_method\n\nmarked = {'forward': script_method}\n", why="script_method as a value"),
    Ok(
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, jit):\n        return jit\n",
        "a plain module",
    ),
    Ok(
        "import torch\n\n\ndef is_scripted(m) -> bool:\n    return isinstance(m, torch.jit.ScriptModule)\n",
        "a type test, which is another rule's",
    ),
    Ok(
        "def script_method(f):\n    return f\n\n\nclass jit:\n    @script_method\n    def f(self): ...\n",
        "an own decorator",
    ),
    Ok('"""torch.jit.ScriptModule and torch.jit.script_method"""\n', "a docstring"),
)
