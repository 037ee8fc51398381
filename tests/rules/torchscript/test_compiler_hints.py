"""Hints for the TorchScript compiler: what torch does with them, when they may go, and that every spelling is seen."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path

import pytest
from example_project import all_findings, analyse_files, new_bytes
from torch_programs import TorchPrograms, same

from torchlift.finding import Finding, Safety
from torchlift.rules.torchscript.hints.container_tests import CannotTest, container_test
from torchlift.source import SourceText
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView

HINTS = tuple(f"TL{number}" for number in range(110, 122))


def found(folder: Path, files: dict[str, str], *codes: str, **options: object) -> list[Finding]:
    result = analyse_files(folder, files, codes=frozenset(codes or HINTS), **options)  # type: ignore[arg-type]
    assert not [failure.detail or failure.reason for failure in result.failures]
    return all_findings(result)


def rewritten(folder: Path, code: str, *, unsafe: bool = True, **files: str) -> str:
    result = analyse_files(folder, {"a.py": code, **files}, codes=frozenset(HINTS), unsafe=unsafe)
    assert not [failure.detail or failure.reason for failure in result.failures]
    new = new_bytes(result, "a.py")
    return code if new is None else new.decode()


# What torch does. The rules and their advice rest on these.


def test_the_flags_of_the_compilers_are_as_the_advice_says(tmp_path: Path, torch_programs: TorchPrograms) -> None:
    code = """
import torch
from torch._C import _get_tracing_state

FLAGS = (
    torch.jit.is_scripting,
    torch.jit.is_tracing,
    lambda: _get_tracing_state() is not None,
    torch.onnx.is_in_onnx_export,
    torch.compiler.is_compiling,
    torch.compiler.is_exporting,
)
seen = []


class Net(torch.nn.Module):
    def forward(self, x):
        seen.append([flag() for flag in FLAGS])
        return x + 1


class Scripted(torch.nn.Module):
    def forward(self, x):
        return torch.jit.is_scripting(), torch.jit.is_tracing(), torch.compiler.is_compiling()


Net()(torch.ones(1))
torch.export.export(Net(), (torch.ones(1),), strict=False)
torch.jit.trace(Net(), torch.ones(1), check_trace=False)
result = [*seen, torch.jit.script(Scripted())(torch.ones(1))]
"""
    off, on = ["bool", False], ["bool", True]
    assert torch_programs.run(tmp_path, {}, code) == [
        "list",
        [
            ["list", [off, off, off, off, off, off]],
            ["list", [off, off, off, off, on, on]],
            ["list", [off, on, on, off, off, off]],
            ["tuple", [on, off, off]],
        ],
    ]


def test_scripted_code_cannot_ask_is_exporting(tmp_path: Path, torch_programs: TorchPrograms) -> None:
    code = """
import torch


def ask(x: torch.Tensor):
    if torch.compiler.is_exporting():
        return x + 1
    return x


try:
    torch.jit.script(ask)
    result = "compiled"
except RuntimeError as error:
    result = "cannot be used as a value" in str(error)
"""
    assert torch_programs.run(tmp_path, {}, code) == ["bool", True]


def test_fork_is_a_plain_call_whose_result_passes_through_types(tmp_path: Path, torch_programs: TorchPrograms) -> None:
    code = """
import collections
import threading

import torch

Pair = collections.namedtuple("Pair", "a b")
log = []


def note(value):
    log.append(threading.current_thread() is threading.main_thread())
    return value


def outcome(value):
    try:
        got = torch.jit.wait(torch.jit.fork(note, value))
        return type(got).__name__, got is value
    except RuntimeError:
        return "RuntimeError"


x = torch.ones(2)
future = torch.jit.fork(note, x)
log.append("after the fork")
torch.jit.wait(future)
try:
    torch.jit.fork(lambda: 1 / 0)
    raised = False
except ZeroDivisionError:
    raised = True
result = [
    log[:2], raised, torch.jit.Future is torch.futures.Future,
    [outcome(value) for value in (x, torch.nn.Parameter(x), 3, None, [x], Pair(x, x), x.shape, [], torch.float32)],
]
"""
    expected = (
        "[[True, 'after the fork'], True, True, [('Tensor', True), ('Parameter', True), ('int', True), ('NoneType', True), "
        "('list', False), ('tuple', False), ('tuple', False), 'RuntimeError', ('int', False)]]"
    )
    assert str(plain(torch_programs.run(tmp_path, {}, code))) == expected


def plain(described: object) -> object:
    """A described result as Python objects."""
    assert isinstance(described, list)
    kind, value = described
    if kind == "list":
        return [plain(item) for item in value]
    return tuple(plain(item) for item in value) if kind == "tuple" else value


VALUES = (
    "[]", "[1]", "[True, 2]", "[1, 'a']", "['a']", "[None]", "[[1]]", "[[1], []]", "[['a']]", "(1,)", "(1, 'a')",
    "(1, None)", "()", "{}", "{'a': 1}", "{1: 'a'}", "{'a': [1]}", "{'a': None}", "None", "3", "'a'", "2.5",
    "torch.ones(2)", "[torch.ones(2)]", "{'a': torch.ones(1)}",
)  # fmt: skip
TYPES = (
    "int", "str", "torch.Tensor", "(int, str)", "Optional[int]", "float | None", "List[int]", "list[torch.Tensor]",
    "List[Optional[int]]", "Dict[str, int]", "dict[str, torch.Tensor]", "Dict[str, List[int]]", "Dict[str, Optional[int]]",
    "Tuple[int]", "Tuple[int, str]", "tuple[int, str | None]", "Optional[List[int]]", "List[List[int]]",
)  # fmt: skip


def test_a_written_out_type_test_answers_as_torch_does(tmp_path: Path, torch_programs: TorchPrograms) -> None:
    head = "import torch\nfrom typing import Dict, List, Optional, Tuple\n\n"
    tests = []
    for kind in TYPES:
        source = SourceText(f"{head}answer = torch.jit.isinstance(x, {kind})\n")
        view = ModuleView("a.py", source, source.parse(), "a")
        call = next(node for node in ast.walk(view.tree) if isinstance(node, ast.Call))
        tests.append(container_test(view, call).shown(view))
    answers = ", ".join(f"(torch.jit.isinstance(x, {k}), {t})" for k, t in zip(TYPES, tests, strict=True))
    code = f"{head}result = []\nfor x in ({', '.join(VALUES)}):\n    result.append([{answers}])\n"
    for value, pairs in zip(VALUES, plain(torch_programs.run(tmp_path, {}, code)), strict=True):  # type: ignore[arg-type]
        for kind, test, (old, new) in zip(TYPES, tests, pairs, strict=True):
            assert old is new, f"{value} as {kind}: {test}"


@pytest.mark.parametrize(
    "kind",
    [
        "Tuple[int, ...]",
        "Union[int, str]",
        "List",
        "list",
        "Any",
        "List[Any]",
        "List[List[List[int]]]",
        "List['int']",
        "K",
    ],
)
def test_a_type_without_a_plain_test_is_left_alone(kind: str) -> None:
    source = SourceText(f"import torch\nfrom typing import *\nK = int\n\nanswer = torch.jit.isinstance(x, {kind})\n")
    view = ModuleView("a.py", source, source.parse(), "a")
    call = next(node for node in ast.walk(view.tree) if isinstance(node, ast.Call))
    with pytest.raises(CannotTest):
        container_test(view, call)


# When hints may go.

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
        {"notebooks/try.ipynb": '{"source": ["m = torch.jit.script(net)"]}'},
        {"train.py": "import e3nn\n"},
        {"tests/test_a.py": "from unittest import mock\n\nmock.patch('torch.jit.annotate')\n"},
        {"tests/test_a.py": "import torch\nfrom unittest import mock\n\nmock.patch.object(torch.jit, 'annotate')\n"},
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
    tracing = "from torch import onnx\n\nonnx.export(net, x, 'net.onnx')\n"
    safety, reason = safety_of(tmp_path, {"pkg/a.py": module, "run.py": tracing})
    assert safety is Safety.MANUAL
    assert "run.py:3" in reason


# Every spelling.

NAMES = {
    "TL110": ("Final", "torch.jit.Final", "torch._jit_internal.Final"),
    "TL111": ("script_if_tracing", "torch.jit._script_if_tracing", "torch.jit._trace._script_if_tracing"),
    "TL112": ("ignore", "unused", "export", "torch._jit_internal.unused"),
    "TL113": ("annotate",),
    "TL114": ("Attribute", "torch.jit._script.Attribute"),
    "TL115": ("isinstance",),
    "TL116": ("_unwrap_optional", "torch.jit._script._unwrap_optional"),
    "TL117": ("is_scripting", "torch._jit_internal.is_scripting"),
    "TL118": (
        "is_tracing",
        "torch.jit._trace.is_tracing",
        "torch._C._get_tracing_state",
    ),
    "TL119": ("fork", "wait", "_fork", "_wait", "Future", "torch.jit._async.fork", "torch._jit_internal.Future"),
    "TL120": ("interface", "torch.jit._script.interface"),
    "TL121": ("_overload", "_overload_method", "_IgnoreContextManager", "torch._jit_internal.boolean_dispatch"),
}
QUALIFIED = [(code, name if "." in name else f"torch.jit.{name}") for code, names in NAMES.items() for name in names]


def spellings(name: str) -> list[str]:
    module, _, last = name.rpartition(".")
    parent, _, child = module.rpartition(".")
    return [
        f"import torch\nuse({name})\n",
        f"import torch as th\nuse(th.{name.removeprefix('torch.')})\n",
        f"import {module} as m\nuse(m.{last})\n",
        f"from {parent} import {child}\nuse({child}.{last})\n",
        f"from {module} import {last}\nuse({last})\n",
        f"from {module} import {last} as renamed\nuse(renamed)\n",
        f"def f():\n    from {module} import {last}\n    use({last})\n",
        f"import torch\nown = {name}\nuse(own)\n",
        f"from {module} import *\nuse({last})\n",
    ]


@pytest.mark.parametrize(("code", "name"), QUALIFIED)
def test_every_spelling_of_a_hint_is_reported_once(code: str, name: str, tmp_path: Path) -> None:
    for number, text in enumerate(spellings(name)):
        if "import *" in text and (name.rpartition(".")[2].startswith("_") or "isinstance" in name):
            continue  # not among the names that a star brings, or a built-in's name
        findings = found(tmp_path / str(number), {"a.py": text})
        places = [finding.span for finding in findings if finding.code == code]
        assert len(places) == len(set(places))
        assert 1 <= len(places) <= (2 if "own" in text else 1), text
        assert {finding.code for finding in findings} == {code}


@pytest.mark.parametrize(("code", "name"), QUALIFIED)
def test_every_kind_of_use_of_a_hint_is_reported(code: str, name: str, tmp_path: Path) -> None:
    module, _, last = name.rpartition(".")
    uses = {
        "value": f"import torch\nfunctions = [{name}]\n",
        "keyword": f"import torch\nuse(function={name})\n",
        "patch": f"from unittest import mock\nmock.patch('{name}')\n",
        "store": f"import torch\n{name} = None\n",
        "unused import": f"from {module} import {last}\n",
        "call": f"import torch\n{name}()\n",
        "starred call": f"import torch\n{name}(*values)\n",
        "decorator": f"import torch\n\n\n@{name}\ndef f(x):\n    return x\n",
    }
    for kind, text in uses.items():
        findings = found(tmp_path / kind, {"a.py": text}, code)
        assert len(findings) == 1, kind
        assert findings[0].fix is not None or findings[0].help, kind
        # What is offered can be carried out.
        assert not analyse_files(tmp_path / kind, {"a.py": text}, codes=frozenset({code}), unsafe=True).failures


def test_a_name_passed_on_is_reported_where_it_is_and_where_it_is_used(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/jit.py": "from torch.jit import annotate\n",
        "run.py": "from pkg.jit import annotate\n\nannotate(int, 3)\n",
    }
    places = [(finding.path, finding.help) for finding in found(tmp_path, files)]
    assert [path for path, _ in places] == ["pkg/jit.py", "run.py"]
    assert "passes the name on" in (places[0][1] or "")


# Conditions.


class Fold(ast.NodeTransformer):
    """Fills `is_scripting()` in with False: another way to the same end, on trees."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return ast.Constant(False) if ast.unparse(node) == "torch.jit.is_scripting()" else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        known = isinstance(node.operand, ast.Constant) and isinstance(node.op, ast.Not)
        return ast.Constant(not node.operand.value) if known else node  # type: ignore[attr-defined]

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        neutral = isinstance(node.op, ast.And)
        values = []
        for value in node.values:
            if isinstance(value, ast.Constant) and value.value is not neutral:
                return value
            if not isinstance(value, ast.Constant):
                values.append(value)
        if not values:
            return ast.Constant(neutral)
        return values[0] if len(values) == 1 else ast.BoolOp(node.op, values)

    def visit_If(self, node: ast.If) -> object:
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node


FLAG = "torch.jit.is_scripting()"
CONDITIONS = (
    FLAG, f"not {FLAG}", f"{FLAG} and a", f"a and {FLAG}", f"not {FLAG} and a", f"a and not {FLAG}", f"a or {FLAG}",
    f"{FLAG} or a", f"not {FLAG} or a", f"a and not {FLAG} and b", f"a and (b or {FLAG})", f"not (a or {FLAG})",
    f"(a) and (not ({FLAG}))", f"a and not (b and not {FLAG})", f"not {FLAG} and not {FLAG}", f"{FLAG} or a or {FLAG}",
)  # fmt: skip
SHAPES = (
    "    if {c}:\n        log('yes')\n",
    "    if {c}:  # why\n        # inside\n        log('yes')\n    else:\n        log('''no\n    no''')\n",
    "    if a:\n        log('first')\n    elif {c}:\n        log('yes')\n    log('end')\n",
    "    if a:\n        log('first')\n    elif {c}:\n        log('yes')\n    else:\n        log('no')\n",
    "    if {c}:\n        log('yes')\n    elif b:\n        if a:\n            log('b',\n                'c')\n    else:\n        log('no')\n",
    "    if (\n        {c}\n    ):\n        log('yes')\n\n        # last\n    # else\n    else:\n\n        log('no')\n",
    "    for a in (0, 1):\n        if {c}:\n            log('yes')\n            continue\n        log(a)\n",
    "    if b:\n        if {c}:\n            log('yes')\n        else:\n            if not torch.jit.is_scripting():\n                log('no')\n",
)  # fmt: skip
CASES = list(itertools.product(CONDITIONS, SHAPES))


def test_a_settled_condition_leaves_what_python_ran(tmp_path: Path) -> None:
    head = "import torch\n\n\ndef run(a, b, log):\n"
    files = {f"c{number}.py": head + shape.format(c=condition) for number, (condition, shape) in enumerate(CASES)}
    result = analyse_files(tmp_path, files, codes=frozenset({"TL117"}), unsafe=True)
    assert not [failure.detail or failure.reason for failure in result.failures]
    for name, old in files.items():
        data = new_bytes(result, name)
        assert data is not None, old
        new = data.decode()
        assert FLAG not in new, f"{old}\nbecame\n{new}"
        folded = ast.parse(ast.unparse(Fold().visit(ast.parse(old))))
        assert ast.dump(Fold().visit(ast.parse(new))) == ast.dump(Fold().visit(folded)), f"{old}\nbecame\n{new}"
        for a, b in itertools.product((False, True), repeat=2):
            assert calls(old, a, b) == calls(new, a, b)
        comments = [line.strip() for line in new.splitlines() if "#" in line]
        assert len(comments) <= sum("#" in line for line in old.splitlines())


def calls(code: str, a: bool, b: bool) -> list[object]:
    """What a program logs in Python."""
    import types

    torch = types.ModuleType("torch")
    torch.jit = types.SimpleNamespace(is_scripting=lambda: False)  # type: ignore[attr-defined]
    seen: list[object] = []
    names: dict[str, object] = {}
    exec(code.replace("import torch\n", ""), {"torch": torch}, names)
    names["run"](a, b, lambda *args: seen.append(args))  # type: ignore[operator]
    return seen


def test_a_branch_moves_in_files_with_tabs_carriage_returns_and_long_strings(tmp_path: Path) -> None:
    old = (
        "import torch\r\n\r\n\r\ndef f(a):\r\n\tif torch.jit.is_scripting():\r\n\t\tpass\r\n\telse:\r\n"
        '\t\ta = """x\r\n\t\ty""" + a\r\n\t\tb = (1 +\r\n\t2)\r\n\treturn a, b\r\n'
    )
    result = analyse_files(tmp_path, {"a.py": old.encode()}, codes=frozenset({"TL117"}), unsafe=True)
    assert new_bytes(result, "a.py") == (
        b'import torch\r\n\r\n\r\ndef f(a):\r\n\ta = """x\r\n\t\ty""" + a\r\n\tb = (1 +\r\n\t2)\r\n\treturn a, b\r\n'
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("    if f() and torch.jit.is_scripting():\n        return 1\n", "may have an effect"),
        ("    if torch.jit.is_scripting():\n        yield x\n", "holds a `yield`"),
        ("    if torch.jit.is_scripting():\n        y = 1\n    return y\n", "`y` is only bound"),
        ("    while not torch.jit.is_scripting():\n        return 1\n", "a loop"),
        ("    y = x and not torch.jit.is_scripting()\n    return y\n", "may be no bool"),
    ],
)
def test_a_condition_that_cannot_be_settled_says_why(body: str, reason: str, tmp_path: Path) -> None:
    (finding,) = found(tmp_path, {"a.py": f"import torch\n\n\ndef f(x):\n{body}"}, "TL117")
    assert finding.safety is Safety.MANUAL
    assert reason in (finding.help or "")


def test_two_rules_rewrite_one_condition_together(tmp_path: Path) -> None:
    code = (
        "import torch\n\n\ndef f(x):\n    if not torch.jit.is_scripting() and not torch.jit.is_tracing():\n"
        "        x = x + 1\n    return torch.jit.annotate(torch.Tensor, x)\n"
    )
    assert rewritten(tmp_path, code) == (
        "import torch\n\n\ndef f(x):\n    if not torch.compiler.is_exporting():\n        x = x + 1\n    return x\n"
    )


def test_a_moved_branch_takes_other_rewrites_along(tmp_path: Path) -> None:
    code = (
        "import torch\nfrom torch.jit import annotate\n\n\ndef f(x):\n    if torch.jit.is_scripting():\n"
        "        y = annotate(int, 1)\n    else:\n        y = annotate(\n            int,\n            2)  # two\n"
        "        z = annotate(int, 3)\n        y = y + z\n    return y\n"
    )
    assert rewritten(tmp_path, code) == (
        "import torch\n\n\ndef f(x):\n    y = 2  # two\n    z: int = 3\n    y = y + z\n    return y\n"
    )


def test_the_branches_are_told_apart_in_the_advice(tmp_path: Path) -> None:
    code = (
        "import torch\n\n\ndef f(x):\n    if torch.jit.is_scripting():\n        return x + 1\n    return x + 2\n\n\n"
        "torch.jit.script(f).save('f.pt')\n"
    )
    (finding,) = found(tmp_path, {"a.py": code}, "TL117")
    assert "Export skips line 6 (`return x + 1`), where TorchScript returned." in (finding.help or "")
    assert "`torch.jit.is_scripting() or torch.compiler.is_exporting()`" in (finding.help or "")
    older = found(tmp_path, {"a.py": code}, "TL117", min_torch=TorchVersion(2, 6))
    assert "is_exporting" not in (older[0].help or "")


# Rewrites that could go wrong.

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
    assert "needs no program" in names
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
        "from marks import *\n": True,
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
