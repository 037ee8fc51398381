"""Every spelling of a hint for the TorchScript compiler is seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import analyse_files
from hint_findings import found

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
        "run.py": "from pkg.jit import annotate\n\nannotate(int, 3)\nkept = annotate\n",
    }
    places = [(finding.path, finding.help) for finding in found(tmp_path, files)]
    assert [path for path, _ in places] == ["pkg/jit.py", "run.py", "run.py"]
    assert "passes the name on" in (places[0][1] or "")
