"""Examples of TL101."""

from __future__ import annotations

from torchlift.rules.rule import Bad, Ok
from torchlift.rules.torchscript.examples.plain_examples import TRACED_MODULES
from torchlift.rules.torchscript.examples.trace_flow_examples import FLOW_EXAMPLES
from torchlift.versions import TorchVersion

_CLASS = """\
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())

    def forward(self, x):
        return self.body(x) + x.mean()


torch.manual_seed(0)
"""
_HEAD = f"import torch\n\n\n{_CLASS}net = Net()\nnet.eval()\n"
_BATCHES = "result = observe(traced, torch.ones(4, 3))"
_SHAPES = "dynamic_shapes=([torch.export.Dim.AUTO] * 2,)"
_EXPORT = f"torch.export.export(net, (torch.rand(4, 3),), {_SHAPES})"
_TWO = """\
import torch


class Two(torch.nn.Module):
    def forward(self, x, y):
        return torch.cat([x, 2 * y], dim=1)


net = Two()
"""
_DICT = """\
import torch


class Net(torch.nn.Module):
    def forward(self, batch):
        return 2 * batch["x"]


net = Net()
"""
_EACH = "lambda tensor: [torch.export.Dim.AUTO] * tensor.dim()"
_TWO_SHAPES = "dynamic_shapes=([torch.export.Dim.AUTO] * 2, [torch.export.Dim.AUTO] * 2)"


def _forward(body: str, init: str = "", head: str = "import torch\n") -> str:
    """A module with one forward, traced on a visible example."""
    return (
        f"{head}\n\nclass Net(torch.nn.Module):\n"
        + (f"    def __init__(self):\n        super().__init__()\n        {init}\n\n" if init else "")
        + f"    def forward(self, x):\n        {body}\n\n\n"
        + "torch.manual_seed(0)\nnet = Net().eval()\ntraced = torch.jit.trace(net, torch.rand(4, 3))\n"
    )


def _exported(code: str) -> str:
    return code.replace("torch.jit.trace(net, torch.rand(4, 3))", f"{_EXPORT}.module()")


def _review(body: str, why: str, init: str = "", differs: str = "") -> Bad:
    code = _forward(body, init)
    return Bad(code, _exported(code), safety="unsafe", why=why, run=_BATCHES, differs=differs)


EXAMPLES: tuple[Bad | Ok, ...] = (
    Bad(
        _HEAD + "traced = torch.jit.trace(net, torch.rand(4, 3))\n",
        _HEAD + f"traced = {_EXPORT}.module()\n",
        why="called only",
        run=_BATCHES,
    ),
    Bad(
        _HEAD + "traced = torch.jit.trace(net, torch.rand(4, 3))\n",
        _HEAD + f"traced = {_EXPORT[:-1]}, strict=False).module()\n",
        why="torch 2.5 is supported: strict had another default",
        min_torch=TorchVersion(2, 5),
        run=_BATCHES,
    ),
    Bad(
        _HEAD + "traced = torch.jit.trace(net, torch.rand(4, 3))\n",
        why="torch 1.13 is supported: no torch.export there",
        min_torch=TorchVersion(1, 13),
    ),
    Bad(
        _HEAD
        + "traced = torch.jit.trace(\n    net,  # in eval mode\n    torch.rand(4, 3),  # one batch\n"
        + "    check_trace=False,\n    strict=False,\n)\ntraced.eval()  # inference\n",
        _HEAD
        + "traced = torch.export.export(\n    net,  # in eval mode\n    (torch.rand(4, 3),),  # one batch\n"
        + f"    {_SHAPES},\n).module()\n",
        why="comments and layout stay, tracer options and eval go",
        run=_BATCHES,
    ),
    Bad(
        _HEAD
        + "example = torch.rand(4, 3)\nwith torch.no_grad():\n    traced = torch.jit.trace(net, example).eval()\n",
        _HEAD
        + "example = torch.rand(4, 3)\nwith torch.no_grad():\n"
        + f"    traced = torch.export.export(net, (example,), {_SHAPES}).module()\n",
        why="under no_grad, eval chained",
        run=_BATCHES,
    ),
    Bad(
        _HEAD
        + "traced = torch.jit.trace(net, torch.rand(4, 3))\nassert traced(torch.ones(2, 3)).shape == (2, 4)\n"
        + 'torch.jit.save(traced, "net.pt")\nloaded = torch.jit.load("net.pt")\n',
        _HEAD
        + f"traced_program = {_EXPORT}\ntraced = traced_program.module()\n"
        + "assert traced(torch.ones(2, 3)).shape == (2, 4)\n"
        + 'torch.export.save(traced_program, "net.pt2")\nloaded = torch.export.load("net.pt2").module()\n',
        why="called and saved: two names",
        run="result = [m(torch.ones(n, 3)) for n in (4, 7, 4) for m in (traced, loaded)]",
    ),
    Bad(
        _HEAD + 'traced = torch.jit.trace(net, torch.rand(4, 3))\ntraced.save("net.pt")\n',
        _HEAD + f'traced = {_EXPORT}\ntorch.export.save(traced, "net.pt")\n',
        safety="unsafe",
        why="nobody in the project reads the file, so the reader is elsewhere",
        run="import os\nresult = os.path.exists('net.pt')",
    ),
    Bad(
        f"import torch as th\nfrom torch.jit import trace\n\n\n{_CLASS}".replace("torch.nn", "th.nn").replace(
            "torch.manual", "th.manual"
        )
        + "net = Net().eval()\ntraced = trace(net, th.rand(4, 3))\n",
        f"import torch as th\n\n\n{_CLASS}".replace("torch.nn", "th.nn").replace("torch.manual", "th.manual")
        + "net = Net().eval()\ntraced = th.export.export(net, (th.rand(4, 3),), "
        + "dynamic_shapes=([th.export.Dim.AUTO] * 2,)).module()\n",
        why="aliased torch and a from-import that is left without use",
        run="import torch\n" + _BATCHES,
    ),
    Bad(
        _TWO + "traced = torch.jit.trace(net, (torch.rand(4, 3), torch.rand(4, 5)))\n",
        _TWO
        + "traced = torch.export.export(net, (torch.rand(4, 3), torch.rand(4, 5)), "
        + _TWO_SHAPES
        + ").module()\n",
        why="two inputs, no layer that cares about eval",
        run="result = observe(traced, torch.ones(4, 3), torch.ones(4, 5))",
    ),
    Bad(
        _TWO + "x = torch.rand(4, 3)\ntraced = torch.jit.trace(net, [x, x])\n",
        _TWO
        + "x = torch.rand(4, 3)\ntraced = torch.export.export(net, (x, x.clone()), "
        + _TWO_SHAPES
        + ").module()\n",
        why="a list that holds one tensor twice",
        run="result = observe(traced, torch.ones(4, 3), 3 * torch.ones(4, 3))",
    ),
    Bad(
        _TWO + "x, y = torch.rand(4, 3), torch.rand(4, 3)\ntraced = torch.jit.trace(net, (x, y))\n",
        _TWO
        + "x, y = torch.rand(4, 3), torch.rand(4, 3)\ntraced = torch.export.export(net, (x, y), dynamic_shapes=("
        + ", ".join(f"torch.utils._pytree.tree_map({_EACH}, {name})" for name in "xy")
        + ")).module()\n",
        safety="unsafe",
        why="inputs from an unpacking: their kind is not visible",
        run="result = observe(traced, torch.ones(4, 3), 3 * torch.ones(4, 3))",
    ),
    Bad(
        _HEAD + "shape = (3,)\nx = torch.rand((4, *shape))\ntraced = torch.jit.trace(net, x)\n",
        _HEAD
        + "shape = (3,)\nx = torch.rand((4, *shape))\n"
        + "traced = torch.export.export(net, (x,), dynamic_shapes=([torch.export.Dim.AUTO] * x.dim(),)).module()\n",
        safety="unsafe",
        why="an unpacked shape: the rank is not visible",
        run=_BATCHES,
    ),
    Bad(
        _HEAD + "def make():\n    return torch.rand(4, 3)\n\n\nx = make()\nnet(x)\ntraced = torch.jit.trace(net, x)\n",
        _HEAD
        + "def make():\n    return torch.rand(4, 3)\n\n\nx = make()\nnet(x)\n"
        + "traced = torch.export.export(net, (x,), dynamic_shapes=([torch.export.Dim.AUTO] * x.dim(),)).module()\n",
        safety="unsafe",
        why="a call of the module shows that the variable is one input",
        run=_BATCHES,
    ),
    Bad(
        _HEAD + "def make():\n    return torch.rand(4, 3)\n\n\nx = make()\ntraced = torch.jit.trace(net, x)\n",
        _HEAD
        + "def make():\n    return torch.rand(4, 3)\n\n\nx = make()\n"
        + "example_inputs = tuple(x) if isinstance(x, (tuple, list)) else (x,)\n"
        + "traced = torch.export.export(net, example_inputs, "
        + f"dynamic_shapes=torch.utils._pytree.tree_map({_EACH}, example_inputs)).module()\n",
        safety="unsafe",
        why="one input or several: told apart when it runs, as trace does",
        run=_BATCHES,
    ),
    Bad(
        _HEAD + "inputs = [torch.rand(4, 3)]\ntraced = torch.jit.trace(net, inputs)\n",
        _HEAD
        + "inputs = [torch.rand(4, 3)]\n"
        + f"traced = torch.export.export(net, tuple(inputs), {_SHAPES}).module()\n",
        why="a variable that holds a list",
        run=_BATCHES,
    ),
    Bad(
        _DICT + 'traced = torch.jit.trace(net, {"x": torch.rand(4, 3)})\n',
        _DICT
        + 'example = {"x": torch.rand(4, 3)}\n'
        + f"traced = torch.export.export(net, (example,), dynamic_shapes=(torch.utils._pytree.tree_map({_EACH}, example),))"
        + ".module()\n",
        safety="unsafe",
        why="a dict is one input",
        run='result = observe(traced, {"x": torch.ones(4, 3)})',
    ),
    Bad(
        _HEAD + "traced = torch.jit.trace(func=net, example_inputs=torch.rand(4, 3), check_trace=False)\n",
        _HEAD + f"traced = torch.export.export(mod=net, args=(torch.rand(4, 3),), {_SHAPES}).module()\n",
        why="everything by keyword",
        run=_BATCHES,
    ),
    Bad(
        _HEAD + "traced = torch.jit.trace(net, torch.rand(4, 3), None, False)\n",
        _HEAD + f"traced = {_EXPORT}.module()\n",
        why="tracer options by position",
        run=_BATCHES,
    ),
    Bad(
        _HEAD
        + "traced = torch.jit.trace(net, example_kwarg_inputs={'x': torch.rand(4, 3)})\ny = traced(x=torch.ones(2, 3))\n",
        _HEAD
        + "traced = torch.export.export(net, args=(), kwargs={'x': torch.rand(4, 3)}, "
        + 'dynamic_shapes={"x": [torch.export.Dim.AUTO] * 2}).module()\ny = traced(x=torch.ones(2, 3))\n',
        why="keyword inputs, called with the same keywords",
        run="result = y, observe(traced, x=torch.ones(4, 3))",
    ),
    Bad(
        _HEAD
        + "traced = torch.jit.trace(net, example_kwarg_inputs={'x': torch.rand(4, 3)})\ny = traced(torch.ones(2, 3))\n",
        why="keyword inputs, called with positions",
    ),
    Bad(
        _HEAD + "traced = torch.jit.trace(net, torch.rand(1, 3))\ny = traced(torch.ones(1, 3))\n",
        _HEAD + f"traced = {_EXPORT.replace('rand(4', 'rand(1')}.module()\ny = traced(torch.ones(1, 3))\n",
        why="a batch of one, and every call has one too",
        run="result = y",
    ),
    Bad(
        _HEAD + "traced = torch.jit.trace(net, torch.rand(1, 3))\n",
        _HEAD + f"traced = {_EXPORT.replace('rand(4, 3)', 'rand(1, 3).repeat(2, 1)')}.module()\n",
        why="a batch of one with --batch-example 2",
        batch_example=2,
        run=_BATCHES,
    ),
    Bad(
        _HEAD + "traced = torch.jit.trace(net, torch.rand(1, 3))\n",
        _HEAD + f"traced = {_EXPORT.replace('rand(4', 'rand(1')}.module()\n",
        safety="unsafe",
        why="batch of one becomes fixed",
        run="result = [traced(torch.ones(1, 3)) for _ in range(2)]",
    ),
    Bad(
        f"import torch\n\n\n{_CLASS}net = torch.nn.Sequential(Net(), torch.nn.Dropout())\n"
        "traced = torch.jit.trace(net, torch.rand(4, 3))\n",
        f"import torch\n\n\n{_CLASS}net = torch.nn.Sequential(Net(), torch.nn.Dropout())\ntraced = {_EXPORT}.module()\n",
        safety="unsafe",
        why="train mode: tracing runs the model",
    ),
    Bad(
        "import torch\n\n\ndef export(net: torch.nn.Module, x: torch.Tensor):\n"
        "    traced = torch.jit.trace(net, x)\n    return traced(x)\n\n\nexport(torch.nn.ReLU(), torch.rand(2, 3))\n",
        "import torch\n\n\ndef export(net: torch.nn.Module, x: torch.Tensor):\n"
        "    traced = torch.export.export(net, (x,), dynamic_shapes=([torch.export.Dim.AUTO] * x.dim(),)).module()\n"
        "    return traced(x)\n\n\nexport(torch.nn.ReLU(), torch.rand(2, 3))\n",
        safety="unsafe",
        why="module and input are parameters",
        run="result = export(torch.nn.ReLU(), torch.arange(6.0).reshape(2, 3))",
    ),
    Bad(
        "import torch\n\n\ndef export(net: torch.nn.Module, x: torch.Tensor):\n"
        "    traced = torch.jit.trace(net, x)\n    return traced(x)\n",
        why="a module of which nothing is known",
    ),
    Bad(
        f"import torch\n\n\ndef halve(x):\n    while x.max() > 1:\n        x = x / 2\n    return x\n\n\n{_CLASS}"
        "class Halved(Net):\n    def forward(self, x):\n        return halve(super().forward(x))\n\n\n"
        "traced = torch.jit.trace(Halved().eval(), torch.rand(4, 3))\n",
        why="a function that forward calls loops until the values of a tensor say so",
    ),
    Bad(
        f"import torch\n\n\n{_CLASS}net = torch.ao.quantization.prepare_qat(Net().train())\n"
        "traced = torch.jit.trace(net.eval(), torch.rand(4, 3))\n",
        why="fake quantization",
    ),
    Bad(
        "import torch\n\n\nclass Quantized(torch.nn.Module):\n    def forward(self, x):\n"
        "        return torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127)\n\n\n"
        "class Holds(torch.nn.Module):\n    def __init__(self, part):\n        super().__init__()\n        self.part = part\n\n"
        "    def forward(self, x):\n        return self.part(x)\n\n\n"
        "traced = torch.jit.trace(Holds(Quantized()), torch.rand(4, 3))\n",
        why="fake quantization in a part that is handed in",
    ),
    _review("self.calls = 1\n        return x", "forward keeps Python state", "self.calls = 0"),
    _review("return x if self.training else 2 * x", "forward asks for the mode"),
    _review("return x.to(torch.float64)", "forward changes the dtype"),
    _review("return torch.zeros(3, dtype=x.dtype) + x", "forward reads the dtype"),
    _review("print(x)\n        return x", "forward prints"),
    _review("with torch.no_grad():\n            return 2 * x", "forward switches gradients off"),
    _review(
        "return x * x.max().item()",
        "forward takes a number out of a tensor",
        differs="the trace has the number of the example baked in",
    ),
    _review(
        "return x.shape[0]",
        "forward returns a size",
        differs="a tensor when traced, an int when exported, as in eager mode",
    ),
    _review(
        "if x.shape[0] > 3:\n            return x\n        return -x",
        "forward branches on a shape",
        differs="export guards the branch of the example, where the trace takes it for every size",
    ),
    _review(
        "return self.rnn(x)[0]",
        "recurrent layers fix the sequence length",
        "self.rnn = torch.nn.GRU(3, 4)",
        "the first dimension is the sequence of an unbatched input",
    ),
    Bad(
        _forward("return -x if torch.jit.is_tracing() else x"),
        _exported(_forward("return -x if torch.compiler.is_exporting() else x")),
        safety="unsafe",
        why="forward asks whether it is traced; TL118 makes it ask for export",
        run=_BATCHES,
    ),
    Bad(
        _forward("return self.part(x)", "self.part = torch.jit.script(torch.nn.ReLU())"),
        _exported(_forward("return self.part(x)", "self.part = torch.nn.ReLU()")),
        safety="unsafe",
        why="a scripted part breaks export, so TL102 takes it out first",
        run=_BATCHES,
    ),
    Bad(
        "import torch\n\ntraced = torch.jit.trace(lambda x: 2 * x, torch.rand(4, 3))\n",
        "import torch\n\nclass TracedEntry(torch.nn.Module):\n    def forward(self, x):\n        return 2 * x\n\n\n"
        + f"traced = {_EXPORT.replace('net', 'TracedEntry()')}.module()\n",
        why="a lambda becomes a module",
        run=_BATCHES,
    ),
    Bad(
        "import torch\n\n\ndef scale_by(x, y):\n    return 2 * x + y.mean()\n\n\n"
        "traced = torch.jit.trace(scale_by, (torch.rand(4, 3), torch.rand(2, 5)))\n",
        "import torch\n\n\ndef scale_by(x, y):\n    return 2 * x + y.mean()\n\n\n"
        "class ScaleByModule(torch.nn.Module):\n    def forward(self, x, y):\n        return scale_by(x, y)\n\n\n"
        f"traced = torch.export.export(ScaleByModule(), (torch.rand(4, 3), torch.rand(2, 5)), {_TWO_SHAPES}).module()\n",
        why="a function becomes a module",
        run="result = observe(traced, torch.ones(4, 3), torch.ones(2, 5))",
    ),
    Bad(
        _HEAD
        + "net.requires_grad_(False)\nif net is not None:\n"
        + "    traced = torch.jit.trace(lambda x: net.body(x) + 1, torch.rand(4, 3))\n",
        _HEAD
        + "net.requires_grad_(False)\nif net is not None:\n"
        + "    class TracedEntry(torch.nn.Module):\n        def __init__(self, net):\n"
        + "            super().__init__()\n            self.net = net\n\n        def forward(self, x):\n"
        + "            return self.net.body(x) + 1\n\n\n"
        + f"    traced = {_EXPORT.replace('net', 'TracedEntry(net)')}.module()\n",
        safety="unsafe",
        why="a lambda that calls a module registers it",
        run=_BATCHES,
    ),
    Bad(
        "import torch\n\n\ndef pick(x, *more):\n    return x\n\n\ntraced = torch.jit.trace(pick, torch.rand(4, 3))\n",
        why="a function with any number of inputs",
    ),
    Bad(
        _HEAD + "traced = torch.jit.trace(net.forward, torch.rand(4, 3))\n",
        _HEAD + f"traced = {_EXPORT}.module()\n",
        why="a bound forward is its module",
        run=_BATCHES,
    ),
    Bad(
        _HEAD + "traced = torch.jit.trace(net, torch.rand(4, 3))\nprint(traced.graph)\n",
        why="the graph of the value is read",
    ),
    Bad(
        _HEAD + "traced = torch.jit.trace(net, torch.rand(4, 3))\ny = traced(x=torch.rand(4, 3))\n",
        why="called with keywords",
    ),
    Bad(
        _HEAD
        + 'torch.jit.trace(net, torch.rand(4, 3)).save("net.pt", _extra_files={"a": "b"})\n'
        + 'traced = torch.jit.load("net.pt")\n',
        _HEAD
        + f'torch.export.save({_EXPORT}, "net.pt2", extra_files={{"a": "b"}})\n'
        + 'traced = torch.export.load("net.pt2").module()\n',
        why="saved with extra files that are text, which nobody reads",
        run=_BATCHES,
    ),
    Bad(
        _HEAD
        + 'extra = {"a": open(__file__, "rb").read()}\ntraced = torch.jit.trace(net, torch.rand(4, 3))\n'
        + 'torch.jit.save(traced, "net.pt", _extra_files=extra)\n',
        _HEAD
        + f'extra = {{"a": open(__file__, "rb").read()}}\ntraced = {_EXPORT}\n'
        + 'torch.export.save(traced, "net.pt", extra_files=extra)\n',
        safety="unsafe",
        why="saved with extra files that may be bytes",
    ),
    Bad(_HEAD + "trace = torch.jit.trace\n", why="the function itself is passed around"),
    Bad("import torch\nfrom unittest import mock\n\nmock.patch('torch.jit.trace')\n", why="patch target"),
    Ok("import jax\n\njit = jax.jit(lambda x: x)\njax.make_jaxpr(jit)\n", "another jit"),
    Ok("import numpy\n\njit = numpy.zeros(3)\njit.trace(0)\n", "trace of a matrix"),
    Ok("import torch\n\n\ndef f(torch):\n    return torch.jit.trace(1, 2)\n", "a parameter named torch"),
    Ok(
        "import torch\n\nif torch.__version__ < '2.5':\n    traced = torch.jit.trace(1, 2)\n",
        "code for an old release behind a version test",
    ),
    Ok('"""Call torch.jit.trace(model, x)."""\n', "a docstring"),
    *FLOW_EXAMPLES,
    *TRACED_MODULES,
)
