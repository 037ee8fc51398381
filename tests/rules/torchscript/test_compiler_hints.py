"""Hints for the TorchScript compiler: rewrites that could go wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files, new_bytes
from hint_findings import found, rewritten
from torch_programs import TorchPrograms, same

from torchlift.finding import Safety
from torchlift.rules.analysis.wording.nearest_place import nearest, place_alone

KEPT_RIGHT = {
    "a class body makes a variable of its own": (
        "import torch\n\nlimit = 3\n\n\nclass Net:\n    limit = torch.jit.annotate(int, limit)\n\n\nresult = vars(Net)['limit']\n"
    ),
    "a global declaration": (
        "import torch\n\nnames = None\n\n\ndef f():\n    global names\n    names = torch.jit.annotate(list[str], [])\n\n\n"
        "f()\nresult = names\n"
    ),
    "a value that needs brackets": "import torch\n\nresult = torch.jit.annotate(int, 1 + 2) * 3\n",
    "a value over several lines": "import torch\n\nresult = torch.jit.annotate(\n    int,\n    1 +\n    2,\n)\n",
    "an assignment expression": "import torch\n\nresult = [torch.jit.annotate(int, (y := 3)), y]\n",
    "a generator as the only argument": "import torch\n\nresult = sum(torch.jit.annotate(int, (i for i in (1, 2))))\n",
    "two statements on one line": "import torch\n\nx = torch.jit.annotate(list[int], []); x.append(1)\nresult = x\n",
    "an unwrapped value before a semicolon": (
        "import torch\n\n\ndef f(x):\n    y = torch.jit._unwrap_optional(x); y += 1\n    return y\n\n\nresult = f(2)\n"
    ),
    "an unwrapped value in one line with its condition": (
        "import torch\n\n\ndef f(x):\n    if x != 3: x = torch.jit._unwrap_optional(x)\n    return x\n\n\n"
        "try:\n    result = f(None)\nexcept AssertionError as error:\n    result = str(error), f(3)\n"
    ),
    "an unwrapped attribute is read once": (
        "import torch\n\n\nclass A:\n    reads = 0\n\n    @property\n    def x(self):\n        A.reads += 1\n        return 1\n\n\n"
        "y = torch.jit._unwrap_optional(A().x)\nresult = A.reads, y\n"
    ),
    "a tested call is made once": (
        "import torch\n\ncalls = []\n\n\ndef f():\n    calls.append(1)\n    return [1]\n\n\n"
        "answer = torch.jit.isinstance(f(), list[int])\nresult = answer, len(calls)\n"
    ),
    "a variable named like an element": "import torch\n\nitem = [1, 2]\nresult = torch.jit.isinstance(item, list[int]), item\n",
    "a type test in a chain": (
        "import torch\n\nx = [1]\nresult = 3 if not torch.jit.isinstance(x, list[str]) and torch.jit.isinstance(x, list[int]) "
        "else 4\n"
    ),
    "a function that is marked in its class": (
        "import torch\n\n\ndef forward(self):\n    return 3\n\n\nclass Net:\n    forward = torch.jit.unused(forward)\n\n\n"
        "result = Net().forward()\n"
    ),
    "a fork of a lambda": (
        "import torch\n\n\ndef f(x):\n    future = torch.jit.fork(lambda y: y + 1, x)\n    return torch.jit.wait(future)\n\n\n"
        "result = f(torch.ones(2))\n"
    ),
    "a future that is waited for twice": (
        "import torch\n\n\ndef f(x):\n    future = torch.jit.fork(torch.relu, x)\n"
        "    return torch.jit.wait(future) + torch.jit.wait(future)\n\n\nresult = f(torch.ones(2))\n"
    ),
    "a list of futures by index": (
        "import torch\n\n\ndef f(x):\n    futures = [torch.jit.fork(torch.relu, x * i) for i in range(3)]\n"
        "    return torch.jit.wait(futures[0]), len(futures), [torch.jit.wait(future) for future in futures]\n\n\n"
        "result = f(torch.ones(2))\n"
    ),
    "a future among other values": (
        "import torch\n\n\ndef f(x):\n    futures = []\n    futures.append(torch.jit.fork(torch.relu, x))\n"
        "    futures.append(3)\n    return [f if f == 3 else torch.jit.wait(f) for f in futures]\n\n\nresult = f(torch.ones(2))\n"
    ),
    "overloads of which the last is the implementation": (
        "import torch\n\n\nclass A:\n    @torch.jit._overload_method\n    def f(self, x: int) -> int: ...\n\n"
        "    def f(self, x):\n        return x\n\n\nresult = A().f(3)\n"
    ),
    "an overload that is called": (
        "import torch\n\n\n@torch.jit._overload\ndef f(x: int) -> int: ...\n\n\nresult = f(3)\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("code", KEPT_RIGHT.values(), ids=KEPT_RIGHT)
def test_a_program_does_the_same_without_its_hints(code: str, tmp_path: Path, torch_programs: TorchPrograms) -> None:
    new = rewritten(tmp_path / "project", code)
    old = torch_programs.run(tmp_path / "old", {"example.py": code}, code)
    assert same(old, torch_programs.run(tmp_path / "new", {"example.py": new}, new)), new


def test_a_future_is_rewritten_whole_or_not_at_all(tmp_path: Path) -> None:
    code = (
        "import torch\n\n\ndef f(x):\n    future = torch.jit.fork(torch.relu, x)\n"
        "    return torch.jit.wait(future)  # torchlift: ignore[TL119] kept\n"
    )
    assert rewritten(tmp_path, code) == code


def test_a_pair_is_not_unwrapped_where_it_is_taken_apart(tmp_path: Path) -> None:
    code = (
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.n = torch.jit.Attribute(3, int)\n\n    def forward(self, x):\n        value, kind = self.n\n"
        "        return x * value\n"
    )
    assert rewritten(tmp_path, code) == code


def test_torchscript_cannot_compile_what_counts_as_never_compiled(
    tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    code = """
import torch


def starred(x, *more):
    return x


def keywords(x, **options):
    return x


def plain(x, by: int = 1):
    return x * by


def passing(x):
    if torch.jit.is_scripting():
        return x
    return plain(x, **{"by": 2})


def calling(function):
    def call(x):
        return function(x)

    return call


def compiles(function):
    try:
        torch.jit.script(function)
    except torch.jit.frontend.NotSupportedError:
        return False
    return True


result = [compiles(f) for g in (plain, starred, keywords, passing) for f in (g, calling(g))]
"""
    answers = torch_programs.run(tmp_path, {}, code)
    assert answers == ["list", [["bool", True]] * 2 + [["bool", False]] * 6]


SCRIPTED = "import torch\n\n\ndef f(x):\n    return torch.jit.script(x)\n"


@pytest.mark.parametrize(
    ("near", "named"),
    [
        ("pkg/ops/own.py", "pkg/ops/own.py:5"),
        ("pkg/ops/ask.py", "pkg/ops/own.py:5"),
        ("pkg/nn/ask.py", "pkg/export.py:5"),
        ("pkg/tests/test_nn.py", "pkg/tests/test_export.py:5"),
        ("examples/one/ask.py", "pkg/export.py:5"),
    ],
)
def test_the_nearest_place_that_scripts_is_named(near: str, named: str, tmp_path: Path) -> None:
    places = ("aside.py", "examples/two/run.py", "pkg/export.py", "pkg/ops/own.py", "pkg/tests/test_export.py")
    files = dict.fromkeys(places, SCRIPTED)
    files[near] = files.get(near, "") + "import torch\n\nmark = torch.jit.ignore(unknown)\n"
    (finding,) = found(tmp_path, files, "TL112")
    assert f"nearest at {named} (and 4 more places)" in (finding.help or "")


@pytest.mark.parametrize(
    ("condition", "written"),
    [
        ("torch.jit.is_tracing()", "torch.jit.is_tracing() or E()"),
        ("not torch.jit.is_tracing()", "not (torch.jit.is_tracing() or E())"),
        ("x is None and torch.jit.is_tracing()", "(torch.jit.is_tracing() or E())"),
        ("x is None or torch.jit.is_tracing()", "torch.jit.is_tracing() or E()"),
        ("x and not torch.jit.is_tracing()", "not (torch.jit.is_tracing() or E())"),
        ("torch._C._get_tracing_state() is None", "torch._C._get_tracing_state() is None and not E()"),
        ("torch._C._get_tracing_state() is not None", "torch._C._get_tracing_state() is not None or E()"),
        ("not torch._C._get_tracing_state()", "not (torch._C._get_tracing_state() or E())"),
    ],
)
def test_the_question_about_export_is_shown_with_its_brackets(condition: str, written: str, tmp_path: Path) -> None:
    code = f"import torch\n\n\ndef f(x):\n    return 1 if {condition} else 2\n\n\nmake = torch.jit.script\n"
    (finding,) = found(tmp_path, {"a.py": code}, "TL118")
    assert f"write `{written.replace('E()', 'torch.compiler.is_exporting()')}`" in (finding.help or "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x = T", "x = T or E"),
        ("x = not T", "x = not (T or E)"),
        ("x = a and T", "x = a and (T or E)"),
        ("x = a or T", "x = a or T or E"),
        ("x = a == T", "x = a == (T or E)"),
        ("x = T is False", "x = (T or E) is False"),
        ("x = not T and a", "x = not (T or E) and a"),
        ("x = [a for a in b if T]", "x = [a for a in b if T or E]"),
        ("x = 1 if T else 2", "x = 1 if T or E else 2"),
        ("x = a if b else T", "x = a if b else (T or E)"),
        ("x = (lambda: T)()", "x = (lambda: (T or E))()"),
        ("x = T, a", "x = (T or E), a"),
        ("x = a[T]", "x = a[(T or E)]"),
    ],
)
def test_the_question_about_export_is_written_with_its_brackets(old: str, new: str, tmp_path: Path) -> None:
    head, tail = "import torch\n\n\ndef f(a, b):\n    ", "\n    return x\n\n\ncapture = torch.jit.trace\n"
    code, expected = (
        head + text.replace("T", "torch.jit.is_tracing()").replace("E", "torch.compiler.is_exporting()") + tail
        for text in (old, new)
    )
    result = analyse_files(tmp_path, {"a.py": code}, codes=frozenset({"TL118"}), unsafe=True)
    assert not result.failures
    assert (new_bytes(result, "a.py") or b"").decode() == expected
    (tmp_path / "a.py").write_text(expected)
    again = analyse_files(tmp_path, {"a.py": expected}, codes=frozenset({"TL118"}), unsafe=True)
    assert new_bytes(again, "a.py") is None
    assert [(f.code, f.safety) for f in all_findings(again)] == [("TL118", Safety.MANUAL)]


def test_a_value_that_is_no_bool_stays_what_it_was(tmp_path: Path) -> None:
    code = "import torch\n\n\nclass A:\n    def __init__(self, x):\n        self.x = x and torch.jit.is_scripting()\n"
    assert rewritten(tmp_path, code) == code


def test_an_exported_method_is_advised_by_what_it_takes(tmp_path: Path) -> None:
    code = (
        "import torch\nfrom typing import List\n\n\nclass Net(torch.nn.Module):\n"
        "    @torch.jit.export\n    def names(self) -> List[str]:\n        return []\n\n"
        "    @torch.jit.export\n    def encode(self, x):\n        return x\n\n\n"
        "@torch.jit.export\ndef pad(x: torch.Tensor) -> torch.Tensor:\n    return x\n\n\nmake = torch.jit.script\n"
    )
    names, encode, pad = (finding.help or "" for finding in found(tmp_path, {"a.py": code}, "TL112"))
    assert "neither takes nor returns a tensor" in names
    assert "`self.net.encode`" in encode
    assert "calls `pad`" in pad


def test_an_ignored_method_runs_under_export_only_if_forward_reaches_it(tmp_path: Path) -> None:
    code = (
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return self.step(x)\n\n"
        "    def step(self, x):\n        self.log(x)\n        return x\n\n"
        "    def reset(self):\n        self.freeze(True)\n\n"
        "    @torch.jit.ignore\n    def log(self, x):\n        print(x)\n\n"
        "    @torch.jit.ignore\n    def freeze(self, on: bool):\n        self.frozen = on\n\n\nmake = torch.jit.script\n"
    )
    log, freeze = (finding.help or "" for finding in found(tmp_path, {"a.py": code}, "TL112"))
    assert "runs it once" in log
    assert "runs it once" not in freeze


@pytest.mark.parametrize("code", ["TL110", "TL113", "TL131", "TL136", "TL139"])
def test_an_import_of_a_package_survives_the_rewriting_of_its_last_use(code: str, tmp_path: Path) -> None:
    lines = {
        "TL110": ("Final", "x: Final[int] = 3"),
        "TL113": ("annotate", "x = annotate(int, 3)"),
        "TL131": ("set_fusion_strategy", "set_fusion_strategy([('STATIC', 2)])"),
        "TL136": ("ScriptModule", "x = ScriptModule"),
        "TL139": ("annotations", "x: annotations.List[int] = []"),
    }
    name, line = lines[code]
    text = f"from torch.jit import {name}\n\n{line}\n"
    result = analyse_files(tmp_path, {"pkg/__init__.py": text}, unsafe=True)
    assert not [failure.reason for failure in result.failures]
    assert code in {finding.code for finding in all_findings(result)}


def test_an_import_that_is_read_in_quotes_is_not_called_unused(tmp_path: Path) -> None:
    code = "from typing import TypeIs\n\nfrom torch.jit import ScriptModule\n\n\ndef is_script(x) -> 'TypeIs[ScriptModule]': ...\n"
    (finding,) = found(tmp_path, {"a.py": code, "b.py": "import a\n"}, "TL136")
    assert "Annotate" in (finding.help or "")


def test_a_name_is_passed_on_only_to_a_module_that_takes_it(tmp_path: Path) -> None:
    marks = "from torch.jit import unused\n\n\n@unused\ndef f():\n    pass\n"
    takers = {
        "from marks import unused\n": True,
        "import marks\n\nmarks.unused(print)\n": True,
        "import marks as m\n\nm.unused(print)\n": True,
        "import marks as m\n\nfor name in ('unused',):\n    getattr(m, name)\n": True,
        "from marks import *\n": False,
        "from marks import *\n\nunused(print)\n": True,
        "from marks import f\nfrom torch.jit import unused as own\n": False,
        "import marks\n\nmarks.f()\nunused = 3\n": False,
    }
    for number, (taker, passed) in enumerate(takers.items()):
        result = analyse_files(tmp_path / str(number), {"marks.py": marks, "b.py": taker}, unsafe=True)
        kept = b"import unused" in (new_bytes(result, "marks.py") or b"")
        assert kept is passed, taker


def test_an_import_stays_for_an_annotation_in_quotes(tmp_path: Path) -> None:
    code = "from torch.jit import Attribute, annotate\n\nx = annotate(int, 3)\n\n\ndef f(a: 'list[Annotate]', b: 'annotate | List'): ...\n"
    assert "import Attribute, annotate\n\nx = 3\n" in rewritten(tmp_path, code)


WAITING = {
    "TL111": "import torch\n\n\n@torch.jit.script_if_tracing\ndef f(x):\n    return x\n",
    "TL112": "import torch\n\n\n@torch.jit.ignore\ndef f(x):\n    return x\n",
    "TL113": "import torch\n\n\ndef f():\n    found = torch.jit.annotate(list[int], [])\n    return found\n",
    "TL114": "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n"
    "        self.size = torch.jit.Attribute(3, int)\n",
    "TL115": "import torch\n\n\ndef f(x: object):\n    return torch.jit.isinstance(x, list[int])\n",
    "TL116": "import torch\n\n\ndef f(x):\n    y = torch.jit._unwrap_optional(x)\n    return y\n",
    "TL117": "import torch\n\n\ndef f(x):\n    if not torch.jit.is_scripting():\n        print(x)\n    return x\n",
    "TL118": "import torch\n\n\ndef f(x):\n    if not torch.jit.is_tracing():\n        assert x.dim() == 2\n    return x\n",
    "TL119": "import torch\n\n\ndef f(g, x):\n    future = torch.jit.fork(g, x)\n    return torch.jit.wait(future)\n",
    "TL120": "import torch\n\n\n@torch.jit.interface\nclass Net:\n    def one(self, x: torch.Tensor) -> torch.Tensor:\n"
    "        pass\n",
    "TL121": "import torch\n\n\n@torch.jit._overload\ndef f(x: int) -> int: ...\ndef f(x):\n    return x\n",
    "TL131": "import torch\n\ntorch._C._jit_set_profiling_mode(False)\n",
}


@pytest.mark.parametrize("code", sorted(WAITING))
def test_a_hint_names_the_place_that_it_waits_for_and_none_once_that_is_gone(tmp_path: Path, code: str) -> None:
    name = "Net" if "class Net" in WAITING[code] else "f"
    root = f"import torch\nfrom a import {name}\n\ntorch.jit.script({name})\n"
    held = found(tmp_path, {"a.py": WAITING[code], "b.py": root}, code)
    assert held
    assert {(finding.waits_for, finding.fix) for finding in held} == {("b.py:4", None)}
    free = found(tmp_path, {"a.py": WAITING[code], "b.py": root.replace("torch.jit.script", "print")}, code)
    assert free
    assert {finding.waits_for for finding in free} == {""}


def test_two_other_places_are_named_and_more_are_counted() -> None:
    assert nearest([("a.py", 1), ("b.py", 2), ("c.py", 3)], "a.py") == "a.py:1 (and b.py:2, c.py:3)"
    assert nearest([("a.py", line) for line in range(1, 5)], "b.py") == "a.py:1 (and 3 more places)"
    assert place_alone("a.py:1 (and b.py:2, c.py:3)") == "a.py:1"
