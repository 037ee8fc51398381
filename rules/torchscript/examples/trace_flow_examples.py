"""Examples of TL101 about where the traced value goes."""

from __future__ import annotations

from typing import Literal

from torchlift.rules.rule import Bad, Ok

_HEAD = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())

    def forward(self, x):
        return self.body(x) + x.mean()


torch.manual_seed(0)
net = Net().eval()
"""
_TRACE = "torch.jit.trace(net, torch.rand(4, 3))"
_EXPORT = "torch.export.export(net, (torch.rand(4, 3),), dynamic_shapes=([torch.export.Dim.AUTO] * 2,))"
_RUN = "import torch\nresult = observe(model, torch.ones(4, 3))"


def _flow(
    code: str,
    why: str,
    safety: Literal["safe", "unsafe"] = "safe",
    run: str = _RUN,
    files: tuple[tuple[str, str], ...] = (),
    gone: tuple[str, ...] = (),
) -> Bad:
    """An example whose trace becomes an export that is called, and whose lines `gone` go."""
    after = _HEAD + code.replace(_TRACE, f"{_EXPORT}.module()")
    for line in gone:
        assert line in after
        after = after.replace(line, "")
    return Bad(_HEAD + code, after, safety=safety, why=why, run=run, files=files)


def _kept(code: str, why: str, files: tuple[tuple[str, str], ...] = ()) -> Bad:
    return Bad(_HEAD + code, why=why, files=files)


_SERVER = f"""

class Server:
    def __init__(self):
        self.net = None
        self.net = {_TRACE}

    def __call__(self, x):
        return self.net(x)


model = Server()
"""
_LOAD = f"""

def load():
    traced = {_TRACE}
    return traced


"""

FLOW_EXAMPLES: tuple[Bad | Ok, ...] = (
    _flow(_SERVER, "kept on self and called in another method"),
    Bad(_HEAD + _SERVER + 'model.net.save("net.pt")\n', why="kept on self and saved from outside"),
    Bad(
        _HEAD
        + _SERVER.replace(
            "    def __call__", '    def write(self):\n        self.net.save("net.pt")\n\n    def __call__'
        ),
        _HEAD
        + _SERVER.replace(
            "    def __call__",
            '    def write(self):\n        torch.export.save(self.net_program, "net.pt")\n\n    def __call__',
        ).replace(
            f"self.net = {_TRACE}", f"self.net_program = {_EXPORT}\n        self.net = self.net_program.module()"
        ),
        safety="unsafe",
        why="kept on self, called and saved: two attributes",
        run="model.write()\n" + _RUN,
    ),
    _kept(
        _SERVER.replace("class Server:", "class Server(torch.nn.Module):").replace(
            "        self.net = None\n", "        super().__init__()\n"
        ),
        "a part of an nn.Module, whose eval() would reach it",
    ),
    _flow(
        _LOAD + "model = load()\nmodel.eval()\n",
        "returned, and put into eval mode by the caller",
        gone=("model.eval()\n",),
    ),
    _flow(
        _LOAD + "def run(model, x):\n    return model(x)\n\n\nmodel = lambda x: run(load(), x)\n",
        "given to another function",
    ),
    _kept(
        _LOAD.replace("    return traced", "    if net is None:\n        return net\n    return traced")
        + "model = load()\nmodel.eval()\n",
        "eval() on what may also be the module itself",
    ),
    _kept(_LOAD + 'model = load()\nmodel(torch.ones(2, 3))\nmodel.save("net.pt")\n', "returned, then called and saved"),
    _flow(
        f"\n\ndef show(rows):\n    model = {_TRACE}\n    return [model(row) for row in rows]\n",
        "called with each of several inputs, which may have other numbers of dimensions",
        safety="unsafe",
        run="result = show([torch.ones(4, 3), torch.ones(5, 3)])",
    ),
    _kept(
        f"\n\ndef show(model):\n    print(model.graph)\n\n\nshow({_TRACE})\n",
        "given to a function that reads its graph",
    ),
    _flow(
        f"model = {_TRACE}\n",
        "used by another file, which only calls it",
        files=(("serve.py", "from example import model\n\n\ndef serve(x):\n    return model(x)\n"),),
    ),
    _kept(
        f"from client import send\n\nmodel = {_TRACE}\nmodel.save('net.pt')\nsend('net', 'net.pt')\n",
        "its file is handed to somebody who may read TorchScript alone",
    ),
    _kept(
        f"import io\n\nfrom client import send\n\nbuffer = io.BytesIO()\ntorch.jit.save({_TRACE}, buffer)\nsend(buffer.getvalue())\n",
        "its bytes are handed to somebody who may read TorchScript alone",
    ),
    _kept(
        f"model = {_TRACE}\n",
        "used by another file, which reads its code",
        files=(("serve.py", "import example\n\nprint(example.model.code)\n"),),
    ),
    _flow(
        _LOAD + "model = load()\n",
        "returned to another file",
        files=(("serve.py", "from example import load\n\n\ndef serve(x):\n    return load()(x)\n"),),
    ),
    _flow(f"model = {_TRACE} if torch.__doc__ is None else {_TRACE}\n", "in both branches of a conditional expression"),
    _flow(f"models = [{_TRACE}]\nmodel = models[0]\n", "put into a list", "unsafe"),
    Bad(
        _HEAD + f"model = torch.jit.freeze({_TRACE})\nwith torch.no_grad():\n    y = model(torch.ones(2, 3))\n",
        _HEAD + f"model = {_EXPORT}.module()\nwith torch.no_grad():\n    y = model(torch.ones(2, 3))\n",
        why="frozen at once, used without gradients",
        run="result = y",
    ),
    Bad(
        _HEAD + f"model = {_TRACE}\nmodel = torch.jit.optimize_for_inference(model)\n",
        _HEAD + f"model = {_EXPORT}.module()\n",
        safety="unsafe",
        why="frozen later, under the same name: gradients come back",
        run="with torch.no_grad():\n    result = [model(torch.ones(n, 3)) for n in (4, 4)]",
    ),
    _kept(
        f"import coremltools as ct\n\nct.convert({_TRACE}, inputs=[])\n",
        "given to coremltools, which takes the program",
    ),
    _kept(f"import openvino as ov\n\nov.convert_model({_TRACE})\n", "given to openvino, which takes the program"),
    Bad(
        _HEAD
        + f"model = {_TRACE}\nmodel(torch.rand(4, 3))\ntorch.onnx.export(model, (torch.rand(4, 3),), 'net.onnx')\n",
        _HEAD
        + f"model = {_EXPORT}.module()\nmodel(torch.rand(4, 3))\ntorch.onnx.export(net, (torch.rand(4, 3),), 'net.onnx', dynamo=True)\n",
        safety="unsafe",
        why="given to the ONNX exporter: TL135 gives it the module first",
    ),
    _kept(f"model = {_TRACE}\ntorch.save(model, 'net.pth')\n", "pickled"),
    _kept(f"print({_TRACE}.training)\n", "asked for its mode, which export answers with True always"),
    _kept(f"model = {_TRACE}\nmodel.train()\n", "switched to train mode"),
    _kept(f"assert isinstance({_TRACE}, torch.jit.ScriptModule)\n", "asked for its type"),
    _flow(f"model = {_TRACE}\nmodel.half().float()\n", "moved to another dtype", "unsafe", run="result = 1"),
    Bad(
        _HEAD + f'{_TRACE}.save("net.pt")\nmodel = torch.jit.load("net.pt")\n',
        why="a C++ program in the project opens the file by its name",
        files=(("serve.cpp", 'auto net = torch::jit::load("net.pt");\n'),),
    ),
    Bad(
        _HEAD + f"try:\n    model = {_EXPORT}.module()\nexcept Exception:\n    model = {_TRACE}\n",
        why="where an export has failed",
    ),
    Bad(
        _HEAD + f"if dynamo:\n    program = {_EXPORT}\nelse:\n    model = {_TRACE}\n",
        why="beside an export, as its alternative",
    ),
    Bad(
        _HEAD + f'{_TRACE}.save("net.pt")\nmodel = torch.jit.load("net.pt")\n',
        _HEAD + f'torch.export.save({_EXPORT}, "net.pt2")\nmodel = torch.export.load("net.pt2").module()\n',
        safety="unsafe",
        why="a C++ program in the project loads TorchScript files",
        run=_RUN,
        files=(("serve.cpp", "auto net = torch::jit::load(argv[1]);\n"),),
    ),
    *(
        Bad(
            _HEAD + f"\n\ndef write(name):\n    {_TRACE}.save({path})\n",
            _HEAD + f"\n\ndef write(name):\n    torch.export.save({_EXPORT}, {new})\n",
            safety="unsafe",
            why=f"a path that is made up where it is written: {why}",
            run=(
                "import pathlib, tempfile, torch\nfolder = pathlib.Path(tempfile.mkdtemp())\nwrite(str(folder))\n"
                "result = len([*folder.rglob('*.pt*')])"
            ),
        )
        for path, new, why in (
            ('f"{name}.pt"', 'f"{name}.pt2"', "an f-string"),
            ('name + "/net.pt"', 'name + "/net.pt2"', "a sum"),
        )
    ),
    Bad(
        "import pathlib\n\n"
        + _HEAD
        + f"\n\ndef write(name):\n    {_TRACE}.save(f'{{name}}.pt')\n\n\nfiles = sorted(pathlib.Path('.').glob('*.pt'))\n",
        "import pathlib\n\n"
        + _HEAD
        + f"\n\ndef write(name):\n    torch.export.save({_EXPORT}, f'{{name}}.pt')\n\n\nfiles = sorted(pathlib.Path('.').glob('*.pt'))\n",
        safety="unsafe",
        why="a made up path whose suffix the project looks for",
    ),
    Bad(
        _HEAD + f'{_TRACE}.save("net.pt")\nmodel = torch.jit.load("net.pt")\n',
        _HEAD + f'torch.export.save({_EXPORT}, "net.pt2")\nmodel = torch.export.load("net.pt2").module()\n',
        safety="unsafe",
        why="Triton serves TorchScript files",
        run=_RUN,
        files=(("models/net/config.pbtxt", 'platform: "pytorch_libtorch"\n'),),
    ),
)
