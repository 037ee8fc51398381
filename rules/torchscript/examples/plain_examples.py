"""Examples of TL101 and TL102 where the user says that TorchScript goes: the module takes the place of its capture."""

from __future__ import annotations

from torchlift.rules.rule import Bad
from torchlift.torchscript_intent import DROP, TorchScriptIntent

_COMPILE = TorchScriptIntent("drop", speed="compile")
_NET = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 4)
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x):
        return torch.relu(self.drop(self.fc(x)))


torch.manual_seed(0)
"""
_RUN = "result = observe(run, torch.ones(4, 3))"


def _script(
    before: str,
    after: str | None,
    why: str,
    *,
    head: str = _NET,
    run: str | None = _RUN,
    unsafe: bool = False,
    intent: TorchScriptIntent = DROP,
) -> Bad:
    return Bad(
        f"{head}{before}",
        f"{head}{after}" if after is not None else None,
        safety="unsafe" if unsafe else "safe",
        why=why,
        run=run if after is not None else None,
        torchscript=intent,
    )


SCRIPTED_MODULES: tuple[Bad, ...] = (
    _script(
        "net = Net().eval()\nscripted = torch.jit.script(net)\n\n\ndef run(x):\n    return scripted(x)\n",
        "net = Net().eval()\nscripted = net\n\n\ndef run(x):\n    return scripted(x)\n",
        "drop: the module is called",
    ),
    _script(
        "\n\ndef run(x):\n    net = Net()\n    net = torch.jit.script(net)\n    net.eval()\n    return net(x)\n",
        "\n\ndef run(x):\n    net = Net()\n    net.eval()\n    return net(x)\n",
        "drop: in the module's own place",
    ),
    _script(
        "\n\nclass Holder:\n    def __init__(self):\n        self.net = torch.jit.script(Net().eval())\n\n"
        "    def __call__(self, x):\n        return self.net(x)\n\n\nrun = Holder()\n",
        "\n\nclass Holder:\n    def __init__(self):\n        self.net = Net().eval()\n\n"
        "    def __call__(self, x):\n        return self.net(x)\n\n\nrun = Holder()\n",
        "drop: kept on self",
    ),
    _script(
        'nets = {}\nnets["a"] = torch.jit.script(Net().eval())\n\n\ndef run(x):\n    return nets["a"](x)\n',
        'nets = {}\nnets["a"] = Net().eval()\n\n\ndef run(x):\n    return nets["a"](x)\n',
        "drop: put into a dict",
    ),
    _script(
        "\n\ndef make():\n    return torch.jit.script(Net().eval())\n\n\nrun = make()\n",
        "\n\ndef make():\n    return Net().eval()\n\n\nrun = make()\n",
        "drop: returned",
    ),
    _script(
        "\n\ndef run(x):\n    net = torch.jit.freeze(torch.jit.script(Net().eval()))\n    with torch.no_grad():\n"
        "        return net(x)\n",
        "\n\ndef run(x):\n    net = Net().eval()\n    with torch.no_grad():\n        return net(x)\n",
        "drop: frozen, and called without gradients",
    ),
    _script(
        "\n\ndef run(x, jit=True):\n    net = Net().eval()\n    if jit:\n        net = torch.jit.script(net)\n    return net(x)\n",
        "\n\ndef run(x):\n    net = Net().eval()\n    return net(x)\n",
        "drop: an option",
    ),
    _script(
        "\n\ndef run(x, jit=True):\n    net = Net().eval()\n    net = torch.jit.script(net) if jit else net\n    return net(x)\n",
        "\n\ndef run(x):\n    net = Net().eval()\n    return net(x)\n",
        "drop: an option as an expression",
    ),
    _script(
        "\n\ndef fast(net, jit):\n    if jit:\n        return torch.jit.script(net)\n    return net\n\n\n"
        "run = fast(Net().eval(), True)\n",
        "\n\ndef fast(net):\n    return net\n\n\nrun = fast(Net().eval())\n",
        "drop: an option that returns",
    ),
    _script(
        "net = Net().eval()\ntorch.jit.script(net)\n\n\ndef run(x):\n    return net(x)\n",
        "net = Net().eval()\n\n\ndef run(x):\n    return net(x)\n",
        "drop: thrown away",
    ),
    _script(
        "\n\ndef run(x):\n    net = torch.jit.script(Net().eval())\n    return net(x)\n",
        "\n\ndef run(x):\n    net = Net().eval()\n    net.compile()\n    return net(x)\n",
        "drop: compiled",
        intent=_COMPILE,
    ),
    _script(
        "\n\nnet = Net()\nscripted = torch.jit.script(net)\nscripted.eval()\n\n\ndef run(x):\n    return net.training\n",
        "\n\nnet = Net()\nscripted = net\nscripted.eval()\n\n\ndef run(x):\n    return net.training\n",
        "drop: one object in two modes",
        unsafe=True,
        run=None,
    ),
    _script(
        "\n\nnet = Net()\nfor _ in range(2):\n    modes = net.training\n    scripted = torch.jit.script(net)\n"
        "    scripted.eval()\n",
        "\n\nnet = Net()\nfor _ in range(2):\n    modes = net.training\n    scripted = net\n    scripted.eval()\n",
        "drop: one object in two modes, in the next round of a loop",
        unsafe=True,
        run=None,
    ),
    _script(
        "\n\ndef prepare(net):\n    net = torch.jit.script(net)\n    net.eval()\n    return net\n",
        "\n\ndef prepare(net):\n    net.eval()\n    return net\n",
        "drop: a module of the caller, and its mode",
        unsafe=True,
        run=None,
    ),
    _script(
        "class Scaled(torch.nn.Module):\n    def forward(self, x, by: float):\n        return x * by\n\n\n"
        "net = torch.jit.script(Scaled())\ny = net(torch.tensor([1, 2]), 2)\n",
        "class Scaled(torch.nn.Module):\n    def forward(self, x, by: float):\n        return x * by\n\n\n"
        "net = Scaled()\ny = net(torch.tensor([1, 2]), 2)\n",
        "drop: an int that scripting made a float",
        head="import torch\n\n\n",
        unsafe=True,
        run=None,
    ),
    _script(
        "class Net(torch.nn.Module):\n    def forward(self, x):\n        if torch.jit.is_scripting():\n"
        "            return x, x\n        return x\n\n\n"
        "first, second = torch.jit.script(Net())(torch.ones(2, 3))\n",
        "class Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n\n\n"
        "first, second = Net()(torch.ones(2, 3))\n",
        "drop: a class that returns something else when scripted",
        head="import torch\n\n\n",
        unsafe=True,
        run=None,
    ),
    _script(
        "\n\nclass Whole(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.part = torch.jit.script(Net())\n        for part in self.modules():\n"
        "            if isinstance(part, torch.nn.Linear):\n                torch.nn.init.zeros_(part.weight)\n\n"
        "    def forward(self, x):\n        return self.part(x)\n",
        "\n\nclass Whole(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.part = Net()\n        for part in self.modules():\n"
        "            if isinstance(part, torch.nn.Linear):\n                torch.nn.init.zeros_(part.weight)\n\n"
        "    def forward(self, x):\n        return self.part(x)\n",
        "drop: parts that `isinstance` finds from now on",
        unsafe=True,
        run=None,
    ),
    _script(
        "\n\ndef prepare(net, fast):\n    return fast(torch.jit.script(net))\n",
        "\n\ndef prepare(net, fast):\n    return fast(net)\n",
        "drop: passed on to what was not read",
        unsafe=True,
        run=None,
    ),
    _script(
        "net = torch.jit.script(Net().eval())\nprint(net.graph)\n",
        None,
        "drop: asked for what only TorchScript has",
    ),
    _script(
        "def write(net, path):\n    scripted = torch.jit.script(net)\n    torch.jit.save(scripted, path)\n",
        None,
        "drop: written to a file, which is a question",
        head="import torch\n\n\n",
    ),
)

_VERSION = "import torch\nfrom packaging.version import Version\n\n"
_NEW = 'Version(torch.__version__) >= Version("2.2")'


def _dead(before: str, after: str, why: str) -> Bad:
    run = "result = fuse(lambda x: x + 1)(torch.ones(3))"
    return _script(before, after, why, head=_VERSION, run=run)


DEAD_BRANCHES: tuple[Bad, ...] = (
    _dead(
        f"if {_NEW}:\n    fuse = torch.no_grad()\nelse:\n    fuse = torch.jit.script\n",
        "fuse = torch.no_grad()\n",
        "drop: the branch of releases that are gone",
    ),
    _dead(
        f"fuse = torch.no_grad() if {_NEW} else torch.jit.script\n",
        "fuse = torch.no_grad()\n",
        "drop: the arm of releases that are gone",
    ),
    _dead(
        f"fuse = torch.no_grad()\nif not {_NEW}:\n    fuse = torch.jit.script\n",
        "fuse = torch.no_grad()\n",
        "drop: a test for releases that are gone",
    ),
)

_WHOLE = (
    "\n\nclass Whole(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.net = {}\n\n    def forward(self, x):\n        return self.net(x)\n\n\n"
    "def run(x):\n    return Whole()(x)\n"
)
_TRACED_PART = "torch.jit.trace(Net().eval(), torch.zeros(2, 3))"

TRACED_MODULES: tuple[Bad, ...] = (
    _script(_WHOLE.format(_TRACED_PART), _WHOLE.format("Net().eval()"), "drop: a part"),
    _script(
        _WHOLE.format(_TRACED_PART) + "\n\nprint(torch.jit.script(Whole()).graph)\n",
        None,
        "drop: a part of what is still scripted as a whole",
    ),
    _script(
        "\n\ndef run(x):\n    net = Net().eval()\n    example = torch.zeros(2, 3)\n    traced = torch.jit.trace(net, example)\n"
        "    return traced(x)\n",
        "\n\ndef run(x):\n    net = Net().eval()\n    return net(x)\n",
        "drop: the module is called, and its example input goes",
    ),
    _script(
        "\n\ndef run(x):\n    net = Net().eval()\n    example = torch.zeros(2, 3)\n    traced = torch.jit.trace(net, example)\n"
        "    del example\n    return traced(x)\n",
        "\n\ndef run(x):\n    net = Net().eval()\n    example = torch.zeros(2, 3)\n"
        "    del example\n    return net(x)\n",
        "drop: an example input that something else names",
    ),
    _script(
        "net = Net().eval()\ntorch.jit.trace(net, (torch.zeros(2, 3),), check_trace=False)\n\n\ndef run(x):\n    return net(x)\n",
        "net = Net().eval()\n\n\ndef run(x):\n    return net(x)\n",
        "drop: thrown away",
    ),
    _script(
        "traced = torch.jit.trace(Net(), torch.zeros(2, 3))\ntraced.eval()\ny = traced(torch.ones(2, 3))\n",
        "traced = Net()\ntraced.eval()\ny = traced(torch.ones(2, 3))\n",
        "drop: traced in train mode, whose dropout stays on",
        unsafe=True,
        run=None,
    ),
    _script(
        "class Net(torch.nn.Module):\n    def forward(self, x):\n        if x.sum() > 0:\n            return x\n"
        "        return -x\n\n\ntraced = torch.jit.trace(Net(), torch.ones(2, 3))\ny = traced(-torch.ones(2, 3))\n",
        "class Net(torch.nn.Module):\n    def forward(self, x):\n        if x.sum() > 0:\n            return x\n"
        "        return -x\n\n\ntraced = Net()\ny = traced(-torch.ones(2, 3))\n",
        "drop: a branch that the trace kept",
        head="import torch\n\n\n",
        unsafe=True,
        run=None,
    ),
    _script(
        "\n\ndef run(x):\n    net = Net().eval()\n    example = torch.rand(2, 3)\n    traced = torch.jit.trace(net, example)\n"
        "    return traced(x)\n",
        "\n\ndef run(x):\n    net = Net().eval()\n    return net(x)\n",
        "drop: random numbers that go to others",
        unsafe=True,
        run=None,
    ),
    _script(
        "class Served(torch.jit.ScriptModule):\n    def __init__(self, net, x):\n        super().__init__()\n"
        "        self.net = torch.jit.trace(net, x)\n\n"
        "    @torch.jit.script_method\n    def forward(self, x: torch.Tensor):\n        return self.net(x).item()\n\n\n"
        "Served(torch.nn.ReLU(), torch.ones(2)).save('served.pt')\n",
        None,
        "drop: a part of a ScriptModule, which would script the plain one",
        head="import torch\n\n\n",
    ),
    _script(
        "def show(writer, net, x):\n    writer.add_graph(torch.jit.trace(net, x), [])\n",
        None,
        "drop: drawn by what traces a plain module",
        head="import torch\n\n\n",
    ),
)
