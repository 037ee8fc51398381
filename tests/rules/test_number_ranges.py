"""Numbers that a scripted function computes: where they make a fix one that needs review."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from torchlift.project import Project
from torchlift.rules.torchscript.functions.scripted_function import read_function
from torchlift.rules.torchscript.modules.submodule_walks import first_walk


def _project(folder: Path, text: str) -> Project:
    (folder / "code.py").write_text(text)
    return Project(folder, ("code.py",))


def _doubts(folder: Path, body: str) -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    view = _project(folder, f"import math\nimport torch\n\ndef f(x: torch.Tensor):\n{lines}\n").view("code.py")
    assert view is not None
    function = view.tree.body[-1]
    assert isinstance(function, ast.FunctionDef)
    return " ".join(read_function(view, function, Project(folder, ("code.py",))).doubts)


@pytest.mark.parametrize(
    "body",
    [
        "return x / math.sqrt(x.size(-1))",
        "n = x.size(0) // 2\nreturn x[: n * 2 + 1]",
        "b, c = x.shape\nreturn x.view(b * c)",
        "n = 0\nfor i in range(x.size(0)):\n    n += 1\nreturn x[: n * 2]",
        "for i in range(x.size(0) - 1):\n    x = x + (i * 2 + 1)\nreturn x",
        "return x * (1.0 / max(x.size(0) - 1, 1))",
        "return x * math.sqrt(2.0 / math.pi)",
        "return x * float(x.size(0)) ** 0.5",
    ],
)
def test_numbers_with_close_bounds_are_no_doubt(tmp_path: Path, body: str) -> None:
    assert _doubts(tmp_path, body) == ""


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("n = 1\nfor i in range(99):\n    n = n * 2\nreturn x * n", "64 bits"),
        ("n = 1\nfor i in range(99):\n    n *= 3\nreturn x * n", "64 bits"),
        ("a = 0\nb = 1\nfor i in range(99):\n    a = a + b\n    b = a + b\nreturn x * b", "64 bits"),
        ("n = 2\nwhile n > 0:\n    n = n - 7 * n\nreturn x * n", "64 bits"),
        ("n = x.numel()\nif n > 3:\n    n = n * n\nreturn x * (n * x.numel())", "64 bits"),
        ("return x * int(x.sum())", "64 bits"),
        ("return x * int(float(x.sum()))", "64 bits"),
        ("return x / (1.0 / (x.size(0) - 1))", "zero"),
        ("return x * (7 % x.size(0))", "zero"),
        ("return x * (1.0 / float(x.sum()))", "zero"),
        ("n = 1\nif x.size(0) > 2:\n    n = 0\nreturn x * (1.0 / n)", "zero"),
        ("return x * math.log(x.size(0))", "zero"),
        ("return x * math.sqrt(x.size(0) - 2)", "negative"),
        ("return x * math.exp(x.size(0))", "large"),
        ("return x * float(x.sum()) ** 0.5", "complex"),
        ("return x * x.size(-1) ** -0.5", "zero"),
    ],
)
def test_numbers_that_scripting_computes_otherwise_are_named(tmp_path: Path, body: str, word: str) -> None:
    assert word in _doubts(tmp_path, body)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("net.apply(init)\n", None),
        ("net.apply(lambda part: print(type(part).__name__))\n", "code.py:1"),
        ("net.apply(init)\n\n\ndef init(part):\n    if isinstance(part, nn.Conv2d):\n        pass\n", "code.py:5"),
        ("net.apply(init)\n\n\ndef init(part):\n    if isinstance(part, (nn.Linear, nn.LSTM)):\n        pass\n", None),
        ("net.apply(init)\n\n\ndef init(part):\n    if isinstance(part, kinds):\n        pass\n", "code.py:5"),
        ("net.apply(init)\nKinds = (nn.Conv2d,)\n\n\ndef init(x):\n    return isinstance(x, Kinds)\n", "code.py:6"),
        ("def init(part):\n    return isinstance(part, nn.Conv2d)\n", None),
        ("\nfor part in net.modules():\n    type(part) is nn.Conv2d\n", "code.py:3"),
        ("for name, part in net.named_children():\n    isinstance(part, _ConvNd)\n", "code.py:2"),
        ("for part in net.modules():\n    'RecursiveScriptModule' in str(type(part))\n", "code.py:2"),
        ("walk = getattr(net, 'modules')\nisinstance(x, nn.Conv2d)\n", "code.py:2"),
        ("parts = net._modules\nisinstance(x, nn.Module)\n", None),
        ("import sys\nsys.modules.pop('a')\n", None),
        ("# net.apply(init)\n", None),
        ("import modules\n", None),
    ],
)
def test_walks_that_ask_for_a_class_of_the_parts_are_found(tmp_path: Path, text: str, found: str | None) -> None:
    assert first_walk(_project(tmp_path, text), frozenset({"Conv2d", "BatchNorm2d"}), "code.py") == found


def test_a_test_for_what_no_module_can_be_asks_no_part(tmp_path: Path) -> None:
    walk = "net.apply(init)\nisinstance(x, {})\n"
    for kind in ("Path", "torch.Tensor", "(Mapping, ValueError)", "MissingKeyError"):
        assert first_walk(_project(tmp_path, walk.format(kind)), None, "code.py") is None
    assert first_walk(_project(tmp_path, walk.format("Encoder")), None, "code.py") == "code.py:2"
    assert (
        first_walk(_project(tmp_path, "class Path(Layer): ...\n" + walk.format("Path")), None, "code.py") == "code.py:3"
    )
