"""Where a traced value goes: what is followed, what is refused, and that nothing is taken for harmless unread."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files, new_bytes

from torchlift.finding import Safety

HEAD = (
    "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.fc = torch.nn.Linear(3, 4)\n\n    def forward(self, x):\n        return self.fc(x)\n\n\n"
    "net = Net().eval()\n"
)
TRACE = "torch.jit.trace(net, torch.rand(4, 3))"
SERVER = f"class Server:\n    def __init__(self):\n        self.net = {TRACE}\n\n    def run(self, x):\n        return self.net(x)\n"
LOAD = f"def load():\n    return {TRACE}\n\n\n"

SAFE = {
    "kept on self": {"a.py": HEAD + SERVER},
    "kept on self of a class with harmless bases": {"a.py": HEAD + "import abc\n\n\n" + SERVER.replace("Server:", "Server(abc.ABC):")},
    "reserved with None first": {"a.py": HEAD + SERVER.replace("        self.net = t", "        self.net = None\n        self.net = t")},
    "put into eval mode in another method": {"a.py": HEAD + SERVER + "\n    def prepare(self):\n        self.net.eval()\n"},
    "given to a constructor": {
        "a.py": HEAD + f"class Runner:\n    def __init__(self, model):\n        self.model_ = model\n\n    def run(self, x):\n"
        f"        return self.model_(x)\n\n\nrunner = Runner({TRACE})\n"},
    "given by keyword": {"a.py": HEAD + f"def run(x, *, model):\n    return model(x)\n\n\nrun(torch.ones(2, 3), model={TRACE})\n"},
    "returned by a method of the same class": {
        "a.py": HEAD + f"class Server:\n    def __init__(self):\n        self.net_ = self._load()\n\n    def _load(self):\n"
        f"        return {TRACE}\n\n    def run(self, x):\n        return self.net_(x)\n"},
    "a global set in a function and read in functions": {
        "a.py": HEAD + f"MODEL = None\n\n\ndef init():\n    global MODEL\n    MODEL = {TRACE}\n    MODEL.eval()\n\n\n"
        "def serve(x):\n    return MODEL(x)\n"},
    "asked whether it is there": {"a.py": HEAD + f"model = {TRACE}\nif model is not None and model:\n    print(model)\n"},
    "returned to another file": {"a.py": HEAD + LOAD, "b.py": "from a import load\n\nmodel = load()\nmodel(1)\n"},
    "through two functions": {"a.py": HEAD + LOAD + "def again():\n    return load()\n\n\nmodel = again()\nmodel.eval()\n"},
}  # fmt: skip

NOT_SAFE = {
    "a class with unknown bases": ({"a.py": HEAD + SERVER.replace("Server:", "Server(Base):")}, "base classes were not read"),
    "an nn.Module": ({"a.py": HEAD + SERVER.replace("Server:", "Server(torch.nn.Module):")}, "NotImplementedError"),
    "an nn.Module through a class of the project": (
        {"a.py": "from b import Base\n" + HEAD + SERVER.replace("Server:", "Server(Base):"),
         "b.py": "import torch\n\n\nclass Base(torch.nn.Module):\n    pass\n"}, "NotImplementedError"),
    "an attribute another file reads": (
        {"a.py": HEAD + SERVER, "b.py": "def use(server):\n    return server.net.graph\n"}, "may be reached as `.net` by b.py"),
    "an attribute reached by its name": ({"a.py": HEAD + SERVER + "\nprint(getattr(Server(), 'net'))\n"}, "by the string 'net'"),
    "an attribute read through another variable": (
        {"a.py": HEAD + SERVER + "\nserver = Server()\nserver.net.save('n.pt')\n"}, "it may be another value, as far as this was read"),
    "an attribute set twice": (
        {"a.py": HEAD + SERVER + "\n    def other(self):\n        self.net = net\n        self.net.eval()\n"},
        "it may be another value, as far as this was read"),
    "a subclass reads the attribute": (
        {"a.py": HEAD + SERVER + "\n\nclass Other(Server):\n    def show(self):\n        print(self.net.code)\n"}, ".code"),
    "an async function": ({"a.py": HEAD + LOAD.replace("def ", "async def ") + "model = load()\n"}, "callers were not followed"),
    "a cached function": ({"a.py": "import functools\n" + HEAD + "@functools.cache\n" + LOAD}, "callers were not followed"),
    "a function handed on": ({"a.py": HEAD + LOAD + "register(load)\n"}, "handed on as a function"),
    "one of two results": (
        {"a.py": HEAD + LOAD.replace("    return", "    if not net:\n        return net\n    return") + "model = load()\nmodel.eval()\n"},
        "it may be another value, as far as this was read"),
    "a public function of a package": (
        {"pkg/__init__.py": "", "pkg/a.py": HEAD + LOAD}, "users of the package"),
    "listed in __all__": ({"a.py": "__all__ = ['model']\n" + HEAD + f"model = {TRACE}\n"}, "offered to other code"),
    "another file passes it on": (
        {"a.py": HEAD + f"model = {TRACE}\n", "b.py": "from a import model\n", "c.py": "from b import model\n\nmodel.eval()\n"},
        "c.py:3"),
    "a star import": (
        {"a.py": HEAD + f"model = {TRACE}\n", "b.py": "from a import *\n"}, "cannot all be looked at"),
    "put into eval mode by another file": (
        {"a.py": HEAD + f"model = {TRACE}\n", "b.py": "import a\n\na.model.eval()\n"}, "b.py:3"),
    "a parameter that is inspected": (
        {"a.py": HEAD + f"def show(model):\n    return model.code\n\n\nshow({TRACE})\n"}, ".code"),
    "a generator": ({"a.py": HEAD + f"def models():\n    yield {TRACE}\n"}, "handed out"),
    "a dict": ({"a.py": HEAD + f"models = {{'a': {TRACE}}}\n"}, "container"),
    "an unknown function": ({"a.py": HEAD + f"serve({TRACE})\n"}, "passed on to `serve`"),
    "isinstance": ({"a.py": HEAD + f"model = {TRACE}\nprint(isinstance(model, torch.nn.Module))\n"}, "isinstance"),
    "autocast in a file that uses it": (
        {"a.py": HEAD + f"model = {TRACE}\n", "b.py": "import torch\nwith torch.autocast('cpu'):\n    import a\n"}, "b.py uses autocast"),
    "a frozen value used with gradients": (
        {"a.py": HEAD + f"model = torch.jit.freeze({TRACE})\ny = model(torch.ones(2, 3))\n"}, "needed no gradient"),
    "a traced lambda around a module": (
        {"a.py": HEAD + "model = torch.jit.trace(lambda x: net(x), torch.rand(4, 3))\n"}, "takes no parameters that need gradients"),
    "a function around a module": (
        {"a.py": HEAD + "def entry(x):\n    return net(x)\n\n\nmodel = torch.jit.trace(entry, torch.rand(4, 3))\n"}, "`net`"),
    "more inputs than the lambda takes": (
        {"a.py": HEAD + "def entry(x, y=None):\n    return x\n\n\nmodel = torch.jit.trace(entry, torch.rand(4, 3))\n"}, "default"),
    "two inputs matched to each other": (
        {"a.py": "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x, y):\n        return torch.add(x, y)\n\n\n"
         "model = torch.jit.trace(Net(), (torch.rand(4, 3), torch.rand(4, 3)))\n"}, "combines two inputs"),
}  # fmt: skip


@pytest.mark.parametrize("files", SAFE.values(), ids=SAFE)
def test_a_value_that_is_only_called_is_followed_to_its_end(files: dict[str, str], tmp_path: Path) -> None:
    result = analyse_files(tmp_path, files)
    assert result.failures == ()
    new = new_bytes(result, "a.py") or b""
    assert b"torch.export.export(" in new and b"jit" not in new and b".eval()\n        self" not in new


@pytest.mark.parametrize(("files", "words"), NOT_SAFE.values(), ids=NOT_SAFE)
def test_a_value_that_goes_further_is_not_rewritten_by_default(
    files: dict[str, str], words: str, tmp_path: Path
) -> None:
    result = analyse_files(tmp_path, files)
    assert result.failures == ()
    found = [finding for finding in all_findings(result) if finding.code == "TL101"]
    assert len(found) == 1 and found[0].safety is not Safety.SAFE
    assert words in (found[0].help or ""), found[0].help
    assert all(
        new_bytes(result, path) is None or b"torch.export" not in (new_bytes(result, path) or b"") for path in files
    )


def test_lines_are_counted_as_python_counts_them(tmp_path: Path) -> None:
    code = "import os\rimport torch\rnet = torch.jit.load(os.path.join(folder, 'model.jit'))\rtrace = torch.jit.trace(f, x)\rtrace.save('x.pt')\r"
    assert not analyse_files(tmp_path, {"m.py": code.encode()}).failures
