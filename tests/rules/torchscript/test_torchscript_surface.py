"""The whole surface of TorchScript: every name is some rule's, and no name is two rules'."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from example_project import all_findings, analyse_files
from torch_programs import TorchPrograms

from torchlift.migrate.result import Mode
from torchlift.project import Project
from torchlift.rules.analysis.project import foreign_packages
from torchlift.rules.registry import all_rules
from torchlift.rules.torchscript import tl139_internals
from torchlift.rules.torchscript.compilers import runtime_uses
from torchlift.rules.torchscript.facts import c_bindings
from torchlift.torch_names import public_name
from torchlift.view.names import longest_target

# Private, but used in the wild (torch 2.13.0; all of them are still there in 2.15.0).
PRIVATE = """
torch.jit._fork torch.jit._wait torch.jit._set_fusion_strategy torch.jit._script_if_tracing torch.jit._overload
torch.jit._overload_method torch.jit._unwrap_optional torch.jit._get_trace_graph torch.jit._flatten
torch.jit._unique_state_dict torch.jit._IgnoreContextManager torch.jit._awaitable torch.jit._awaitable_nowait
torch.jit._awaitable_wait torch.jit._recursive.wrap_cpp_module torch.jit._recursive.create_script_module
torch.jit._script.ScriptModule torch.jit._script.RecursiveScriptModule torch.jit._trace.TopLevelTracedModule
torch.jit._state.disable torch.jit._state.enable torch.jit._state._enabled torch.jit._builtins._register_builtin
torch.jit.annotations.BroadcastingList2 torch.jit.frontend.get_jit_def torch._jit_internal.is_scripting
torch._jit_internal.ignore torch._jit_internal.unused torch._jit_internal.boolean_dispatch torch._jit_internal.export
torch._jit_internal.Final torch._C.ScriptModule torch._C.ScriptFunction torch._C._jit_set_profiling_executor
torch._C._freeze_module torch._C._jit_to_backend torch._C._get_tracing_state
""".split()
SUBMODULES = "annotations frontend mobile quantized supported_ops".split()
# Imported there for the module's own use.
NOT_PUBLIC = frozenset("Any Iterator contextmanager set_module torch warnings".split())
SPELLINGS = {
    "attribute of torch": ("import torch", "torch.jit.{name}"),
    "aliased torch": ("import torch as th", "th.jit.{name}"),
    "module imported from torch": ("from torch import jit as J", "J.{name}"),
    "aliased module": ("import torch.jit as tj", "tj.{name}"),
    "name imported": ("from torch.jit import {name} as X{name}", "X{name}"),
    "assigned module": ("import torch\n\nscripting = torch.jit", "scripting.{name}"),
}


_ASKING = """
import torch
listed = {listed!r}.split()
result = [
    torch.__version__.partition("+")[0],
    " ".join(dir(torch.jit)),
    " ".join(name for name in dir(torch._C) if name.startswith("_jit_")),
    " ".join(name for name in listed if not hasattr(torch._C, name)),
]
"""


@pytest.fixture(scope="session")
def torch_names(torch_programs: TorchPrograms, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[str]]:
    """Names in two modules of the installed torch, and those of our list that one of them lacks."""
    listed = " ".join(name for names in c_bindings.NAMES.values() for name in names)
    _, found = torch_programs.run(tmp_path_factory.mktemp("names") / "here", {}, _ASKING.format(listed=listed))
    told = (str(text).split() for _, text in found)
    return dict(zip(("version", "torch.jit", "torch._C", "missing"), told, strict=True))


@cache
def claims() -> dict[str, list[str]]:
    """Codes of the rules that claim a target."""
    found = defaultdict(list)
    for rule in all_rules().values():
        for target in rule.targets:
            found[target].append(rule.code)
    return found


def claimants(name: str) -> list[str]:
    known = claims()
    target = longest_target(public_name(name), frozenset(known))
    if target == "torch.jit.ScriptModule":
        # Shared on purpose: one rule has its subclasses, the other every other use.
        assert known[target] == ["TL105", "TL136"]
        return ["TL136"]
    return known[target] if target is not None else []


def public_names(torch_names: Mapping[str, list[str]]) -> list[str]:
    return [name for name in torch_names["torch.jit"] if not name.startswith("_") and name not in NOT_PUBLIC]


def test_every_public_name_of_torch_jit_belongs_to_exactly_one_rule(torch_names: Mapping[str, list[str]]) -> None:
    names = [*public_names(torch_names), *SUBMODULES]
    assert len(names) > 45
    assert {name: claimants(f"torch.jit.{name}") for name in names if len(claimants(f"torch.jit.{name}")) != 1} == {}


def test_every_private_name_that_is_used_belongs_to_exactly_one_rule() -> None:
    assert {name: claimants(name) for name in PRIVATE if len(claimants(name)) != 1} == {}


def test_every_c_binding_of_torchscript_belongs_to_exactly_one_rule() -> None:
    names = [f"torch._C.{name}" for purpose in c_bindings.NAMES for name in c_bindings.NAMES[purpose]]
    assert {name: claimants(name) for name in names if len(claimants(name)) != 1} == {}


def test_the_list_of_c_bindings_is_that_of_the_installed_torch(torch_names: Mapping[str, list[str]]) -> None:
    if not torch_names["version"][0].startswith("2.13."):
        pytest.skip("the list was made with torch 2.13")
    listed = [name for names in c_bindings.NAMES.values() for name in names]
    assert len(listed) == len(set(listed))
    assert torch_names["missing"] == []
    assert set(torch_names["torch._C"]) <= set(listed)


def test_names_left_to_the_last_rule_have_advice_of_their_own(torch_names: Mapping[str, list[str]]) -> None:
    names = [*public_names(torch_names), *SUBMODULES]
    left = [name for name in names if claimants(f"torch.jit.{name}") == ["TL139"]]
    assert [name for name in left if name not in tl139_internals._ADVICE] == []


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_public_name_is_reported_by_one_rule_however_it_is_spelled(
    spelling: str, torch_names: Mapping[str, list[str]], tmp_path: Path
) -> None:
    head, use = SPELLINGS[spelling]
    names = public_names(torch_names)
    heads = dict.fromkeys(head.format(name=name) for name in names)
    lines = [*"\n".join(heads).split("\n"), ""]
    first = len(lines) + 1
    lines += [f"use({use.format(name=name)})" for name in names]
    result = analyse_files(tmp_path, {"example.py": "\n".join(lines) + "\n"}, mode=Mode.CHECK)
    assert not [failure.detail for failure in result.failures]
    source = "\n".join(lines)
    codes: dict[int, set[str]] = defaultdict(set)
    for finding in all_findings(result):
        codes[source.count("\n", 0, finding.span.start) + 1].add(finding.code)
    found = {name: codes[first + index] for index, name in enumerate(names)}
    if spelling == "name imported":  # some are reported at the import and no more at each use
        found = {name: codes[first + index] or codes[index + 1] for index, name in enumerate(names)}
    assert {name: sorted(reported) for name, reported in found.items() if len(reported) != 1} == {}


USES = {
    "call": "torch.jit.{name}(1)",
    "value": "table = [torch.jit.{name}]",
    "mock": "from unittest import mock\nmock.patch('torch.jit.{name}')",
    "annotation": "def f(x: torch.jit.{name}): ...",
    "isinstance": "isinstance(1, torch.jit.{name})",
    "store": "torch.jit.{name} = None",
}
OWN = (
    "freeze optimize_for_inference set_fusion_strategy fuser export_opnames ScriptModule Error CompilationUnit".split()
)


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("kind", USES)
def test_every_kind_of_use_is_reported_once(kind: str, name: str, tmp_path: Path) -> None:
    result = analyse_files(
        tmp_path, {"example.py": f"import torch\n\n{USES[kind].format(name=name)}\n"}, mode=Mode.CHECK
    )
    assert [finding.code for finding in all_findings(result)] == claimants(f"torch.jit.{name}")


def test_a_name_belongs_to_its_rule_even_where_that_rule_is_not_selected(tmp_path: Path) -> None:
    code = "import torch\n\nnet = torch.jit.load('x')\nerror = torch.jit.frontend.NotSupportedError\nunit = torch.jit.CompilationUnit\n"
    result = analyse_files(tmp_path, {"a.py": code}, mode=Mode.CHECK, codes=frozenset({"TL132", "TL139"}))
    assert [(f.code, code.count("\n", 0, f.span.start) + 1) for f in all_findings(result)] == [("TL139", 5)]


def test_an_import_is_reported_only_where_it_passes_the_name_on(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from torch.jit import freeze\n",
        "pkg/used.py": "from torch.jit import freeze\n\nfrozen = [freeze]\n",
        "pkg/unused.py": "from torch.jit import freeze\n",
        "pkg/listed.py": "from torch.jit import freeze\n\n__all__ = ['freeze']\n",
    }
    findings = all_findings(analyse_files(tmp_path, files, mode=Mode.CHECK))
    assert [(f.path, f.code) for f in findings] == [
        ("pkg/__init__.py", "TL130"),
        ("pkg/listed.py", "TL130"),
        ("pkg/used.py", "TL130"),
    ]
    assert (findings[0].help or "").startswith("Stop passing the name on")
    assert not (findings[2].help or "").startswith("Stop passing")


def test_every_advice_says_what_to_do_in_sentences(tmp_path: Path) -> None:
    for rule in all_rules().values():
        if rule.code.startswith("TL13"):
            for index, example in enumerate(rule.examples):
                code = getattr(example, "before", None)
                if code is None:
                    continue
                files = {"example.py": code, **dict(example.files)}  # type: ignore[union-attr]
                result = analyse_files(tmp_path / f"{rule.code}_{index}", files, mode=Mode.CHECK)
                for finding in all_findings(result):
                    if finding.code == rule.code:
                        assert finding.message.endswith(".") and len(finding.message) < 260, finding.message
                        assert finding.fix is not None or (finding.help and re.search(r"[.)/l]$", finding.help))
                        assert "  " not in f"{finding.message}{finding.help}"


_NET = "n = torch.nn.ReLU()\nx = torch.rand(2, 3)\n"


@pytest.mark.parametrize(
    ("code", "covered"),
    [
        ("t = torch.jit.trace(n, x)\nf = torch.jit.freeze(t)\n", True),
        ("f = torch.jit.freeze(torch.jit.trace(n, x).eval())\n", True),
        ("t = torch.jit.trace(n, x)\nt = t.eval()\nt = torch.jit.freeze(t)\n", True),
        ("t = torch.jit.freeze(torch.jit.trace(n, x))\nf = torch.jit.optimize_for_inference(t)\n", True),
        ("t = torch.jit.trace(n, x)\nt = torch.jit.freeze(t)\nt.train()\n", False),
        ("t = torch.jit.script(n)\nf = torch.jit.freeze(t)\n", False),
        ("def g(t):\n    return torch.jit.freeze(t)\n", False),
        ("f = torch.jit.freeze(*args)\n", False),
    ],
)
def test_a_freeze_is_left_to_the_capture_that_takes_it_along(code: str, covered: bool, tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"a.py": f"import torch\n\n{_NET}{code}"}, mode=Mode.CHECK)
    assert ("TL130" not in {finding.code for finding in all_findings(result)}) is covered


def test_packages_are_found_in_every_kind_of_import_and_known_ones_are_left_out(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/a.py": "import os, e3nn.util, numpy as np\nfrom torch import nn\nfrom . import b\nfrom pkg import b\n",
        "pkg/b.py": "def f():\n    from timm.models import create_model\n\n# import of a thing\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert foreign_packages.foreign_packages(Project(tmp_path, sorted(files))) == ("e3nn", "timm")


@pytest.mark.parametrize(
    ("code", "runs"),
    [
        ("net = torch.jit.load('x')", True),
        ("net = torch.load('x', weights_only=False)", True),
        ("net = torch.load('x')", False),
        ("net = torch.load('x', weights_only=True)", False),
        ("net = torch.hub.load('x', 'y')", True),
        ("capture = torch.jit.trace", True),
        ("net = torch.export.load('x')", False),
    ],
)
def test_a_switch_stays_as_long_as_something_runs_torchscript(code: str, runs: bool, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"import torch\n\n{code}\n")
    assert (runtime_uses.first_runtime_use(Project(tmp_path, ["a.py"]), "a.py") == "a.py:3") is runs


def test_a_switch_in_an_installable_package_needs_review(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    code = "import torch\n\ntorch.jit.enable_onednn_fusion(True)\n"
    findings = all_findings(analyse_files(tmp_path, {"a/__init__.py": "", "a/b.py": code}, mode=Mode.CHECK))
    assert [(f.code, f.safety.value) for f in findings] == [("TL131", "unsafe")]
