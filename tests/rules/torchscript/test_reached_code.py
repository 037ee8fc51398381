"""Which code something that scripts compiles: hints in that code stay, all others go."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files

from torchlift.finding import Finding, Safety
from torchlift.torchscript_intent import DROP

HEAD = "import torch\nfrom torch import nn\n\n\n"
ASKS = "    if not torch.jit.is_scripting():\n        print(x)\n"
HELPER = f"{HEAD}def helper(x):\n{ASKS}    return x\n"
METHOD = ASKS.replace("    if", "        if").replace("        print", "            print")
LAYER = f"{HEAD}class Layer(nn.Module):\n    def forward(self, x):\n{METHOD}        return x\n"
NET = (
    "from pkg.a import Layer\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.layer = Layer()\n\n    def forward(self, x):\n        return self.layer(x)\n\n\n"
)


def hints(folder: Path, files: dict[str, str], **options: object) -> list[Finding]:
    result = analyse_files(folder, files, codes=frozenset({"TL112", "TL117"}), **options)  # type: ignore[arg-type]
    assert not [failure.detail or failure.reason for failure in result.failures]
    return all_findings(result)


REACHED = {
    "the function itself": (HELPER + "\n\ntorch.jit.script(helper)\n", ""),
    "the function, decorated": (HELPER.replace("def helper", "@torch.jit.script\ndef helper"), ""),
    "a function that a scripted one calls": (
        HELPER,
        "from pkg.a import helper\n\n\n@torch.jit.script\ndef f(x):\n    return helper(x)\n",
    ),
    "through a module": (HELPER, "from pkg import a\n\n\n@torch.jit.script\ndef f(x):\n    return a.helper(x)\n"),
    "through another function": (
        HELPER + "\n\ndef between(x):\n    return helper(x)\n",
        "from pkg.a import between as g\n\n\n@torch.jit.script\ndef f(x):\n    return g(x)\n",
    ),
    "through another name for the compiler": (
        HELPER,
        "from pkg.a import helper\n\njit = torch.jit.script if torch.cuda.is_available() else torch.jit.script\njit(helper)\n",
    ),
    "through a function that scripts what it is given": (
        HELPER,
        "from pkg.a import helper\n\n\ndef fast(f):\n    return torch.jit.script(f)\n\n\nfast(helper)\n",
    ),
    "by a decorator of the project": (
        "from b import fast\n" + HELPER.replace("def helper", "@fast\ndef helper"),
        "def fast(f):\n    return torch.jit.script(f)\n",
    ),
    "the module": (LAYER, "from pkg.a import Layer\n\ntorch.jit.script(Layer().eval())\n"),
    "a submodule": (LAYER, NET + "model = Net().cuda()\nmodel.eval()\ntorch.jit.script(model)\n"),
    "a submodule in a list, from a loop": (
        LAYER,
        NET.replace("self.layer = Layer()", "self.layers = nn.ModuleList(Layer() for _ in range(2))")
        + "torch.jit.script(Net())\n",
    ),
    "a submodule that a function makes": (
        LAYER + "\n\ndef make():\n    return nn.Sequential(Layer(), nn.ReLU())\n",
        NET.replace("import Layer", "import make").replace("Layer()", "make()") + "torch.jit.script(Net())\n",
    ),
    "a submodule whose class is an argument": (
        LAYER,
        NET.replace("__init__(self)", "__init__(self, block)").replace("Layer()", "block()")
        + "torch.jit.script(Net(Layer))\n",
    ),
    "a submodule that is put in later": (
        LAYER,
        NET.replace("self.layer = Layer()", "self.layer = nn.ReLU()")
        + "net = Net()\nnet.layer = Layer()\ntorch.jit.script(net)\n",
    ),
    "a module from a function that is called with it": (
        LAYER,
        "from pkg.a import Layer\n\n\ndef save(model):\n    torch.jit.script(model).save('x.pt')\n\n\nsave(Layer())\n",
    ),
    "a module on self": (
        LAYER,
        "from pkg.a import Layer\n\n\nclass Test:\n    def setUp(self):\n        self.model = Layer()\n\n"
        "    def test(self):\n        torch.jit.script(self.model)\n",
    ),
    "itself, from a subclass": (
        LAYER.replace("(nn.Module)", "(Base)").replace(
            "from torch import nn\n", "from torch import nn\nfrom b import Base\n"
        ),
        "class Base(nn.Module):\n    def compiled(self):\n        return torch.jit.script(self)\n",
    ),
    "a module out of a table": (
        LAYER,
        "from pkg.a import Layer\n\nMODELS = {'layer': Layer}\n\n\ndef make(name):\n    return MODELS[name]()\n\n\n"
        "torch.jit.script(make('layer'))\n",
    ),
    "a module from a registry that decorates": (
        "from b import MODELS\n" + LAYER.replace("class Layer", "@MODELS.register()\nclass Layer"),
        "from registry import Registry\n\nMODELS = Registry()\n\n\ndef make(name):\n    return MODELS.get(name)()\n\n\n"
        "torch.jit.script(make('layer'))\n",
    ),
    "a test that pytest calls with it": (
        LAYER,
        "import pytest\nfrom pkg.a import Layer\n\n\n@pytest.mark.parametrize('model', [Layer()])\ndef test(model):\n"
        "    torch.jit.script(model)\n",
    ),
    "a base class": (
        LAYER,
        "from pkg.a import Layer\n\n\nclass Net(Layer):\n    pass\n\n\ntorch.jit.script(Net())\n",
    ),
    "a ScriptModule": (LAYER, NET.replace("Net(nn.Module)", "Net(torch.jit.ScriptModule)")),
    "a function that a module keeps": (
        HELPER,
        "from pkg.a import helper\n\n\nclass Net(nn.Module):\n    def __init__(self, act=helper):\n"
        "        super().__init__()\n        self.act = act\n\n    def forward(self, x):\n        return self.act(x)\n\n\n"
        "torch.jit.script(Net())\n",
    ),
    "an exported method": (
        LAYER.replace("    def forward", "    @torch.jit.export\n    def other"),
        "from pkg.a import Layer\n\ntorch.jit.script(Layer())\n",
    ),
    "a method that another calls": (
        LAYER.replace("def forward", "def forward(self, x):\n        return self.step(x)\n\n    def step"),
        "from pkg.a import Layer\n\ntorch.jit.script(Layer())\n",
    ),
    "a method of a submodule": (
        LAYER.replace("def forward", "def step"),
        NET.replace("self.layer(x)", "self.layer.step(x)") + "torch.jit.script(Net())\n",
    ),
    "by a compiler of another package": (
        LAYER.replace("(nn.Module)", "(L.LightningModule)").replace(HEAD, "import lightning as L\n" + HEAD),
        "from pkg.a import Layer\n\nLayer().to_torchscript('m.pt')\n",
    ),
    "a submodule that a method makes": (
        LAYER,
        NET.replace("self.layer = Layer()", "self.layer = self.make(Layer)").replace(
            "    def forward", "    def make(self, block):\n        return nn.Sequential(block())\n\n    def forward"
        )
        + "torch.jit.script(Net())\n",
    ),
    "a submodule in a dictionary": (
        LAYER,
        NET.replace("self.layer = Layer()", "self.layer = nn.ModuleDict({'a': Layer()})['a']")
        + "torch.jit.script(Net())\n",
    ),
    "a submodule set by its name": (
        LAYER,
        NET.replace("self.layer = Layer()", "setattr(self, 'layer', Layer())") + "torch.jit.script(Net())\n",
    ),
    "a class that the class keeps": (
        LAYER,
        NET.replace("    def __init__", "    block = Layer\n\n    def __init__", 1).replace(
            "= Layer()", "= self.block()"
        )
        + "torch.jit.script(Net())\n",
    ),
    "a partial of a class": (
        LAYER,
        "from functools import partial\n"
        + NET.replace("__init__(self)", "__init__(self, make)").replace("Layer()", "make()")
        + "torch.jit.script(Net(partial(Layer)))\n",
    ),
    "a property": (
        LAYER.replace("def forward(self, x)", "@property\n    def step(self)")
        .replace("print(x)", "print()")
        .replace("return x\n", "return 1\n\n    def forward(self, x):\n        return x + self.step\n"),
        "from pkg.a import Layer\n\ntorch.jit.script(Layer())\n",
    ),
    "a method that a subclass puts in the place of its base's": (
        "from b import Base\n"
        + LAYER.replace("(nn.Module)", "(Base)").replace("def forward", "def step")
        + "\n\ntorch.jit.script(Layer())\n",
        "class Base(nn.Module):\n    def forward(self, x):\n        return self.step(x)\n",
    ),
    "a base's method by super()": (
        LAYER.replace("def forward", "def step"),
        "from pkg.a import Layer\n\n\nclass Net(Layer):\n    def forward(self, x):\n        return super().step(x)\n\n\n"
        "torch.jit.script(Net())\n",
    ),
    "a static method by the class": (
        LAYER.replace("def forward(self, x)", "@staticmethod\n    def step(x)"),
        "from pkg.a import Layer\n\n\n@torch.jit.script\ndef f(x):\n    return Layer.step(x)\n",
    ),
    "through a name that a package passes on": (
        HELPER,
        "from other import helper\n\n\n@torch.jit.script\ndef f(x):\n    return helper(x)\n",
    ),
    "a part of a module": (
        LAYER,
        NET + "net = Net()\ntorch.jit.script(net.layer)\n",
    ),
    "one of two modules": (
        LAYER,
        "from pkg.a import Layer\n\nmodel = nn.ReLU() if torch.cuda.is_available() else Layer()\ntorch.jit.script(model)\n",
    ),
    "one of several that a function gives": (
        LAYER,
        "from pkg.a import Layer\n\n\ndef build():\n    return Layer(), 3\n\n\ndef test():\n    model, x = build()\n"
        "    model = model.eval()\n    torch.jit.script(model)\n",
    ),
    "each of a list": (
        LAYER,
        "from pkg.a import Layer\n\nfor model in [nn.ReLU(), Layer()]:\n    torch.jit.script(model)\n",
    ),
    "a copy": (
        LAYER,
        "import copy\nfrom pkg.a import Layer\n\nmodel = Layer()\ntorch.jit.script(copy.deepcopy(model))\n",
    ),
    "what a class method makes": (
        LAYER.replace(
            "    def forward", "    @classmethod\n    def small(cls):\n        return cls()\n\n    def forward"
        ),
        "from pkg.a import Layer\n\ntorch.jit.script(Layer.small())\n",
    ),
    "through a method of a test": (
        LAYER,
        "from pkg.a import Layer\n\n\nclass Test:\n    def check(self, module):\n        torch.jit.script(module)\n\n"
        "    def test(self):\n        self.check(Layer())\n",
    ),
    "a type that compiled code makes": (
        HEAD
        + "class Box:\n    def __init__(self, x):\n        self.x = x\n\n    def step(self, x):\n"
        + METHOD
        + "        return x\n",
        "from pkg.a import Box\n\n\n@torch.jit.script\ndef f(x):\n    return Box(x).step(x)\n",
    ),
    "an object that a module keeps": (
        HEAD + "class Box:\n    def step(self, x):\n" + METHOD + "        return x\n",
        NET.replace("import Layer", "import Box")
        .replace("Layer()", "Box()")
        .replace("self.layer(x)", "self.layer.step(x)")
        + "torch.jit.script(Net())\n",
    ),
    "by a decorator in a function": (
        HELPER,
        "from pkg.a import helper\n\n\ndef outer():\n    @torch.jit.script\n    def f(x):\n        return helper(x)\n\n    return f\n",
    ),
    "a function that a variable holds": (
        HELPER + "\n\nACT = helper\n",
        "from pkg.a import ACT\n\n\n@torch.jit.script\ndef f(x):\n    return ACT(x)\n",
    ),
    "traced, and marked for it": (
        HELPER.replace("def helper", "@torch.jit.script_if_tracing\ndef helper")
        + "\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return helper(x)\n",
        "import pkg.a\n\ntorch.jit.trace(net, x)\n",
    ),
}


# Where each step from the root is certain; the others are followed by names only.
KNOWN = frozenset(
    {
        "the function itself",
        "the function, decorated",
        "a function that a scripted one calls",
        "through a module",
        "through another function",
        "through another name for the compiler",
        "the module",
        "a submodule",
        "a submodule in a list, from a loop",
        "a base class",
        "a ScriptModule",
        "an exported method",
        "a method that another calls",
        "by a compiler of another package",
        "a method that a subclass puts in the place of its base's",
        "through a name that a package passes on",
        "a function that a variable holds",
        "a type that compiled code makes",
        "by a decorator in a function",
    }
)


@pytest.mark.parametrize("case", REACHED)
def test_a_hint_stays_where_something_compiles_it(case: str, tmp_path: Path) -> None:
    own, other = REACHED[case]
    files = {"pkg/__init__.py": "", "pkg/a.py": own, "b.py": HEAD + other}
    if "from other" in other:
        files["other.py"] = "from pkg.a import *\n"
    found = [finding for finding in hints(tmp_path, files) if finding.code == "TL117"]
    assert [finding.safety for finding in found] == [Safety.MANUAL]
    assert ("compiles it;" if case in KNOWN else "may compile it:") in (found[0].help or ""), found[0].help


GUESSED = {
    "not in a compilation": "if not torch.jit.is_scripting():\n        return helper(x)\n    return x",
    "behind what ends a compilation": "if torch.jit.is_scripting():\n        return x\n    return helper(x)",
    "of one kind only": "if isinstance(x, list):\n        x = helper(x)\n    return x",
    "handed on": "return use(x, helper)",
}


@pytest.mark.parametrize("case", GUESSED)
def test_a_call_that_a_compilation_may_leave_out_is_not_said_to_be_compiled(case: str, tmp_path: Path) -> None:
    root = f"from pkg.a import helper\n\n\n@torch.jit.script\ndef f(x):\n    {GUESSED[case]}\n"
    files = {"pkg/__init__.py": "", "pkg/a.py": HELPER, "b.py": HEAD + root}
    (found,) = (one for one in hints(tmp_path, files) if one.path == "pkg/a.py")
    assert "may compile it: what b.py:8 compiles was not followed to its end." in (found.help or "")


def test_the_root_that_is_known_to_compile_is_named_before_others(tmp_path: Path) -> None:
    own = LAYER + "\n\ntorch.jit.script(Layer())\n"
    other = "from pkg.a import Layer\n\n\ndef make():\n    return Layer()\n\n\ntorch.jit.script(make())\n"
    (found,) = hints(tmp_path, {"a.py": HEAD + other, "pkg/__init__.py": "", "pkg/a.py": own})
    assert "as long as pkg/a.py:12 compiles it;" in (found.help or "")


def test_a_registry_whose_users_cannot_be_told_may_hold_any_module(tmp_path: Path) -> None:
    own, other = REACHED["a module from a registry that decorates"]
    files = {"pkg/__init__.py": "", "pkg/a.py": own, "b.py": HEAD + other, "other.py": "from b import *\n"}
    found = [finding for finding in hints(tmp_path, files) if finding.code == "TL117"]
    assert [finding.safety for finding in found] == [Safety.MANUAL]
    assert "may compile it" in (found[0].help or "")


def test_a_registry_that_is_filled_by_calls_may_hold_any_module_where_its_users_cannot_be_told(tmp_path: Path) -> None:
    registry = (
        "class Registry:\n    def __init__(self):\n        self.kinds = {}\n\n    def register(self, kind):\n"
        "        self.kinds[kind.__name__] = kind\n\n    def build(self, name):\n        return self.kinds[name]()\n\n\nMODELS = Registry()\n"
    )
    files = {
        "pkg/__init__.py": "",
        "pkg/reg.py": registry,
        "pkg/a.py": f"from pkg.reg import MODELS\n{LAYER}\n\nMODELS.register(Layer)\n",
        "main.py": f"{HEAD}from pkg.reg import MODELS\n\ntorch.jit.script(MODELS.build('Layer'))\n",
        "other.py": "from pkg.reg import *\n\nmodels = MODELS\n",
        "more.py": "from other import *\n",
    }
    (found,) = (finding for finding in hints(tmp_path, files) if finding.code == "TL117")
    assert found.safety is Safety.MANUAL
    assert "may compile it" in (found.help or "")


def test_a_function_that_scripts_may_be_given_anything_under_another_name(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/a.py": LAYER,
        "b.py": HEAD + "def fast(f):\n    return torch.jit.script(f)\n\n\nfast(nn.ReLU())\n",
        "between.py": "from b import fast as quick\n",
        "user.py": "from between import quick\nfrom pkg.a import Layer\n\nquick(Layer())\n",
    }
    (found,) = hints(tmp_path, files)
    assert found.safety is Safety.MANUAL


UNKNOWN = {
    "a parameter that nobody is seen to give": "def save(model):\n    torch.jit.script(model)\n",
    "a model by name": "import models\n\ntorch.jit.script(getattr(models, name)())\n",
    "a model from a file": "torch.jit.script(torch.load('m.pt'))\n",
    "a model from another package": "import factory\n\ntorch.jit.script(factory.build(cfg))\n",
    "a submodule that is handed in": (
        "class Net(nn.Module):\n    def __init__(self, inner):\n        super().__init__()\n        self.inner = inner\n\n"
        "    def forward(self, x):\n        return self.inner(x)\n\n\ndef save(inner):\n    torch.jit.script(Net(inner))\n\n\n"
        "def main(config):\n    save(config.inner)\n"
    ),
    "a registry that a function fills": (
        "MODELS = {}\n\n\ndef register(cls):\n    MODELS[cls.__name__] = cls\n    return cls\n\n\n"
        "def make(name):\n    return MODELS[name]()\n\n\ntorch.jit.script(make('layer'))\n"
    ),
    "somebody else's compiler": "from e3nn.util import jit\n\njit.compile(net)\n",
    "somebody else's compiler by its whole name": "import e3nn.util.jit\n\ne3nn.util.jit.script(net)\n",
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_is_given_to_a_compiler_may_be_any_module_where_it_is_not_known(case: str, tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/a.py": LAYER,
        "pkg/used.py": HELPER + "\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return helper(x)\n",
        "pkg/plain.py": HELPER + "\n\nprint(helper(torch.ones(1)))\n",
        "models.py": "",
        "b.py": HEAD + UNKNOWN[case],
    }
    found = {finding.path: finding for finding in hints(tmp_path, files)}
    for path in ("pkg/a.py", "pkg/used.py"):
        assert found[path].safety is Safety.MANUAL
        assert "may compile it" in (found[path].help or "") and "b.py:" in (found[path].help or "")
    assert found["pkg/plain.py"].safety is not Safety.MANUAL


FREE = {
    "another function is scripted": (HELPER, "@torch.jit.script\ndef f(x):\n    return x + 1\n"),
    "another module is scripted": (LAYER, NET.replace("Layer()", "nn.ReLU()") + "torch.jit.script(Net())\n"),
    "a method that nothing compiled calls": (
        LAYER.replace("def forward", "def forward(self, x):\n        return x\n\n    def report"),
        "from pkg.a import Layer\n\ntorch.jit.script(Layer())\n",
    ),
    "the module is traced": (LAYER, "from pkg.a import Layer\n\ntorch.jit.trace(Layer(), torch.ones(1))\n"),
    "an ignored body": (
        LAYER.replace(
            "def forward", "def forward(self, x):\n        return self.log(x)\n\n    @torch.jit.ignore\n    def log"
        ),
        "from pkg.a import Layer\n\ntorch.jit.script(Layer())\n",
    ),
    "a sibling with a method of the same name": (
        LAYER.replace("def forward", "def step"),
        "class Net(nn.Module):\n    def forward(self, x):\n        return self.step(x)\n\n    def step(self, x):\n"
        "        return x\n\n\ntorch.jit.script(Net())\n",
    ),
    "a stub": (HELPER, ""),
}


@pytest.mark.parametrize("case", FREE)
def test_a_hint_goes_where_nothing_compiles_it(case: str, tmp_path: Path) -> None:
    own, other = FREE[case]
    files = {"pkg/__init__.py": "", "pkg/a.py": own, "b.py": HEAD + other}
    if case == "a stub":
        files["torch_stubs.pyi"] = (
            HEAD + "def script(f): ...\n\n\nclass Old(torch.jit.ScriptModule): ...\n\n\nmake = torch.jit.script\n"
        )
    found = [finding for finding in hints(tmp_path, files) if finding.code == "TL117"]
    assert [(finding.path, finding.safety) for finding in found] == [("pkg/a.py", Safety.SAFE)], found[0].help


def test_no_stub_has_findings_about_torchscript(tmp_path: Path) -> None:
    stub = "import torch\nfrom torch.jit import Final, ScriptModule\n\n\nclass Old(ScriptModule):\n    n: Final[int]\n\n\n@torch.jit.script\ndef f(x): ...\n"
    result = analyse_files(tmp_path, {"torch_stubs.pyi": stub})
    assert not [finding for finding in all_findings(result) if finding.code.startswith("TL1")]


IMPORT = "from e3nn.util.jit import compile_mode\n"
UNREAD = {
    "pkg/__init__.py": "from .a import *\nfrom .b import *\n",
    "pkg/a.py": HELPER.replace("import torch\n", f"{IMPORT}import torch\n"),
    "pkg/b.py": IMPORT,
}


def test_an_unread_import_of_a_compiler_that_a_star_takes_along_compiles_nothing(tmp_path: Path) -> None:
    (found,) = hints(tmp_path, UNREAD, torchscript=DROP)
    assert found.safety is Safety.SAFE


@pytest.mark.parametrize(
    "files",
    [
        {"c.py": "from pkg import compile_mode\n\n\n@compile_mode('script')\nclass Net:\n    pass\n"},
        {"c.py": "from pkg import *\n\n\n@compile_mode('script')\nclass Net:\n    pass\n"},
        {"c.py": "import pkg\n\nuse(pkg.compile_mode)\n"},
        {"c.py": "import pkg\n\nuse(getattr(pkg, 'compile_mode'))\n"},
        {"pkg/b.py": f"__all__ = ['compile_mode']\n{IMPORT}"},
        {"pkg/__init__.py": f"{IMPORT}from .a import *\n"},
    ],
    ids=["an import", "a star import", "an attribute", "a look-up", "a list of names", "a package"],
)
def test_an_import_of_a_compiler_that_others_get_from_there_may_compile_anything(
    files: dict[str, str], tmp_path: Path
) -> None:
    found = [one for one in hints(tmp_path, {**UNREAD, **files}, torchscript=DROP) if one.path == "pkg/a.py"]
    assert [one.safety for one in found] == [Safety.MANUAL]
