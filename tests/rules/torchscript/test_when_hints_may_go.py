"""When hints for the TorchScript compiler may go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from example_project import analyse_files, new_bytes
from hint_findings import found

from torchlift.finding import Safety
from torchlift.torchscript_intent import DROP

HINT = "import torch\n\n\ndef names():\n    found = torch.jit.annotate(list[str], [])\n    return found\n"


def safety_of(folder: Path, files: dict[str, str], code: str = "TL113") -> tuple[Safety, str]:
    (finding,) = (finding for finding in found(folder, files, code) if finding.path == "pkg/a.py")
    return finding.safety, finding.help or ""


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": "[project]\nname = 'a'\n"},
        {"pyproject.toml": "[build-system]\nrequires = []\n"},
        {"pyproject.toml": "[tool.poetry]\nname = 'a'\n"},
        {"setup.cfg": "[metadata]\nname = a\n"},
        {"setup.py": "import setuptools\n"},
        {"hubconf.py": "dependencies = ['torch']\n"},
        {"a-1.0.dist-info/METADATA": "Name: a\n"},
        {"pkg/__init__.py": "__version__ = '1'\n"},
        {"README.md": "Then call `torch.jit.script(model)`.\n"},
        {"train.py": "import e3nn\n"},
        {"tests/test_a.py": "from unittest import mock\n\nmock.patch('torch.jit.annotate')\n"},
        {"tests/test_a.py": "import torch\nfrom unittest import mock\n\nmock.patch.object(torch.jit, 'annotate')\n"},
        {"tools.py": "import torch\n\ntorch.jit.annotate = lambda kind, value: value\n"},
        {"tools.py": "import torch\n\nif not hasattr(torch.jit, 'other'):\n    torch.jit.annotate = print\n"},
        {"tools.py": "import torch\n\nif hasattr(torch.jit, 'annotate'):\n    torch.jit.annotate = print\n"},
        {"tools.py": "import torch\n\nif torch.__version__ > '2':\n    torch.jit.annotate = print\n"},
        {"tools.py": "def is_marked(f):\n    return hasattr(f, '_torchscript_modifier')\n"},
    ],
    ids=lambda files: next(iter(files)) + ": " + next(iter(files.values())).splitlines()[0],
)
def test_code_that_others_may_compile_needs_review(files: dict[str, str], tmp_path: Path) -> None:
    safety, reason = safety_of(tmp_path, {"pkg/a.py": HINT, **files})
    assert safety is Safety.UNSAFE
    assert reason.startswith("Needs review: ")


@pytest.mark.parametrize(
    "files",
    [
        {
            "tools.py": "import torch\n\nif not hasattr(torch.jit, 'annotate'):\n    torch.jit.annotate = lambda kind, value: value\n"
        },
        {},
        {"pyproject.toml": "[tool.ruff]\nline-length = 100\n"},
        {"setup.cfg": "[flake8]\nignore = E501\n"},
        {"train.py": "import torch\n\ntorch.jit.trace(torch.nn.ReLU(), torch.ones(1))\n"},
        {"train.py": "import torch\n\n\ndef is_scripted(m):\n    return isinstance(m, torch.jit.ScriptModule)\n"},
        {"train.py": "import torch\n\nif hasattr(torch.jit, 'script'):\n    pass\n"},
    ],
    ids=str,
)
def test_an_application_that_compiles_nothing_needs_no_hints(files: dict[str, str], tmp_path: Path) -> None:
    assert safety_of(tmp_path, {"pkg/a.py": HINT, **files}) == (Safety.SAFE, "")


@pytest.mark.parametrize(
    ("extra", "safety"),
    [
        ({}, Safety.SAFE),
        ({"other.py": "import torch\n\n\ndef f():\n    return torch.jit.is_scripting()\n"}, Safety.UNSAFE),
        ({"README.md": "Use `torch.jit.script(net)`.\n"}, Safety.UNSAFE),
    ],
)
def test_a_mark_in_installable_code_goes_unless_the_code_expects_a_compiler(
    extra: dict[str, str], safety: Safety, tmp_path: Path
) -> None:
    marked = "import torch\n\n\n@torch.jit.unused\ndef f():\n    print()\n"
    files = {"pkg/a.py": marked, "pyproject.toml": "[project]\nname = 'a'\n", **extra}
    assert safety_of(tmp_path, files, "TL112")[0] is safety


SCRIPTS = "def test_names():\n    torch.jit.script(a.names)\n"


@pytest.mark.parametrize(
    "test",
    [
        f"import pytest\n\n\n@pytest.mark.skip\n{SCRIPTS}",
        f"import pytest\n\n\n@pytest.mark.skip(reason='broken')\n{SCRIPTS}",
        f"import unittest\n\n\n@unittest.skip('broken')\n{SCRIPTS}",
        f"import pytest\n\npytestmark = pytest.mark.skip('broken')\n\n\n{SCRIPTS}",
        f"import pytest\n\n\n{SCRIPTS}\n\npytestmark = [pytest.mark.slow, pytest.mark.skip('broken')]\n",
        f"import pytest\n\npytest.skip('broken', allow_module_level=True)\n\n\n{SCRIPTS}",
        f"import unittest\n\nraise unittest.SkipTest('broken')\n\n\n{SCRIPTS}",
        "import pytest\n\n\n@pytest.mark.skip\nclass TestNames:\n    def test_names(self):\n        torch.jit.script(a.names)\n",
    ],
)
def test_a_test_that_is_skipped_compiles_nothing_but_may_some_day(test: str, tmp_path: Path) -> None:
    files = {"pkg/a.py": HINT, "tests/test_a.py": f"import torch\n\nfrom pkg import a\n{test}"}
    safety, reason = safety_of(tmp_path, files)
    assert safety is Safety.UNSAFE
    assert "tests/test_a.py:" in reason and "would compile or trace, in a test that is skipped" in reason


@pytest.mark.parametrize(
    "test",
    [
        f"import pytest\n\n\n@pytest.mark.skipif(True, reason='broken')\n{SCRIPTS}",
        f"import pytest\n\n\n@pytest.mark.xfail\n{SCRIPTS}",
        f"import pytest\n\nif not available():\n    pytest.skip('broken', allow_module_level=True)\n\n\n{SCRIPTS}",
        f"import pytest\n\n\n{SCRIPTS}\n\npytest.skip('broken', allow_module_level=True)\n",
        f"import pytest\n\n\n{SCRIPTS}\n\n@pytest.mark.skip\ndef test_other():\n    pass\n",
        f"from own import unittest\n\n\n@unittest.skip('broken')\n{SCRIPTS}",
    ],
)
def test_a_test_that_may_run_compiles(test: str, tmp_path: Path) -> None:
    files = {"pkg/a.py": HINT, "tests/test_a.py": f"import torch\n\nfrom pkg import a\n{test}"}
    safety, reason = safety_of(tmp_path, files)
    assert safety is Safety.MANUAL and "tests/test_a.py:" in reason


@pytest.mark.parametrize(
    "compiling",
    [
        "import torch\n\ncompile = getattr(torch.jit, 'script')\n",
        "import torch\n\ncompile = getattr(torch.jit, name)\n",
        "from torch.jit import script\n",
        "import torch\n\ncompilers = {'old': torch.jit.script}\n",
    ],
)
def test_a_hint_stays_while_the_project_hands_a_compiler_on(compiling: str, tmp_path: Path) -> None:
    safety, reason = safety_of(tmp_path, {"pkg/a.py": HINT, "tools/compile.py": compiling})
    assert safety is Safety.MANUAL
    assert "tools/compile.py:" in reason


@pytest.mark.parametrize(
    "marked",
    [
        "@torch.jit.export\n    def names(self):\n        return torch.jit.annotate(list[str], [])\n",
        "def names(self):\n        return torch.jit.annotate(list[str], [])\n\n    @torch.jit.export\n"
        "    def size(self):\n        return len(self.names())\n",
    ],
)
def test_tracing_compiles_what_is_marked_for_export(marked: str, tmp_path: Path) -> None:
    module = f"import torch\n\n\nclass Net(torch.nn.Module):\n    {marked}"
    # No rule has a word in this file, but a collector does.
    tracing = "from pkg import a\n\nwriter.add_graph(a.Net(), x)\n"
    safety, reason = safety_of(tmp_path, {"pkg/a.py": module, "run.py": tracing})
    assert safety is Safety.MANUAL
    assert "run.py:3" in reason


@pytest.mark.parametrize(
    "tracing",
    [
        "from torch import onnx\n\nfrom pkg import a\n\nonnx.export(a.Net(), x, 'net.onnx')\n",
        "import torch\n\nfrom pkg import a\n\ntorch.jit.trace(torch.nn.ReLU(), x)\n",
    ],
)
def test_what_is_marked_for_export_is_held_by_traces_that_make_a_module_of_it(tracing: str, tmp_path: Path) -> None:
    module = (
        "import torch\n\n\nclass Net(torch.nn.Module):\n    @torch.jit.export\n    def names(self):\n        return 1\n"
    )
    files = {"pkg/a.py": module, "run.py": tracing}
    result = analyse_files(tmp_path, files, codes=frozenset({"TL112"}), torchscript=DROP)
    assert b"export" not in (new_bytes(result, "pkg/a.py") or module.encode())


@pytest.mark.parametrize(
    ("trace", "stays"),
    [
        ("from net import Net\n\nprint(torch.jit.trace(Net(), x).graph)\n", True),
        ("print(torch.jit.trace(load(), x).graph)\n", False),  # of another program
        ("import net\n\nprint(torch.jit.trace(load(), x).graph)\n", True),
        ("import net\n\ncapture = torch.jit.trace\n", True),
        ("import net\n\nprint(torch.jit.trace(torch.nn.ReLU(), x).graph)\n", False),
    ],
)
def test_a_trace_holds_what_it_runs_also_where_a_compiler_does_not_look(
    trace: str, stays: bool, tmp_path: Path
) -> None:
    module = (
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return self.own(x)\n\n"
        "    @torch.jit.ignore\n    def own(self, x):\n        if torch.jit.is_tracing():\n            return x\n"
        "        return x * 3\n"
    )
    files = {"net.py": module, "run.py": f"import torch\n{trace}"}
    result = analyse_files(tmp_path, files, codes=frozenset({"TL118"}), torchscript=DROP)
    assert ((new_bytes(result, "net.py") or b"is_tracing").count(b"is_tracing") > 0) == stays


@pytest.mark.parametrize(
    "value",
    [
        "f", "lambda x: f(x)", "functools.partial(f)", "[f][0]", "Net()", "Net().again", "make()", "outer()", "named",
        "(lambda: f)()",
    ],
)  # fmt: skip
def test_a_trace_runs_what_is_called_in_whatever_it_is_given(value: str, tmp_path: Path) -> None:
    files = {
        "helper.py": "import torch\n\n\n@torch.jit.script_if_tracing\ndef f(x):\n    return x\n",
        "tracer.py": "import functools\nimport torch\nfrom helper import f\n\n\n"
        "class Net(torch.nn.Module):\n    def again(self, x):\n        return f(x)\n\n"
        "    def forward(self, x):\n        return self.again(x)\n\n\n"
        "def make():\n    return lambda x: f(x)\n\n\n"
        "def outer():\n    def inner(x):\n        return f(x)\n\n    return inner\n\n\n"
        f"named = lambda x: f(x)\ntraced = torch.jit.trace({value}, torch.ones(2))\n",
    }
    assert [finding.safety for finding in found(tmp_path, files, "TL111")] == [Safety.MANUAL]


def test_a_hint_stays_while_a_notebook_scripts(tmp_path: Path) -> None:
    lines = ["import torch\n", "from pkg.a import names\n", "torch.jit.script(names)"]
    cell = {"cell_type": "code", "metadata": {}, "source": lines, "outputs": []}
    notebook = json.dumps({"cells": [cell], "nbformat": 4, "nbformat_minor": 5, "metadata": {}})
    safety, reason = safety_of(tmp_path, {"pkg/a.py": HINT, "notebooks/try.ipynb": notebook})
    assert safety is Safety.MANUAL
    assert "notebooks/try.ipynb" in reason
