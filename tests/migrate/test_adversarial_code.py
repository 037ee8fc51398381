"""Code that breaks migration tools: one row for each way that has broken one, with what must come out."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files, new_bytes

HEAD = "import torch\n"

# what it is -> (before, after); None: nothing may change
RENAMES: dict[str, tuple[str, str | None]] = {
    "starred arguments": (HEAD + "x = torch.ger(*args, **kwargs)\n", HEAD + "x = torch.outer(*args, **kwargs)\n"),
    "keyword arguments": (HEAD + "x = torch.ger(input=a, vec2=b)\n", HEAD + "x = torch.outer(input=a, vec2=b)\n"),
    "parenthesised argument": (HEAD + "x = torch.ger((a), (b))\n", HEAD + "x = torch.outer((a), (b))\n"),
    "parenthesised callee": (HEAD + "x = (torch.ger)(a, b)\n", HEAD + "x = (torch.outer)(a, b)\n"),
    "inside an f-string": (HEAD + "x = f'{torch.ones(2)}'\ny = torch.ger(a, f'{b}')\n",
                           HEAD + "x = f'{torch.ones(2)}'\ny = torch.outer(a, f'{b}')\n"),
    "implicit string concatenation beside it": (HEAD + "x = ('a' 'b', torch.ger(a, b))\n",
                                                HEAD + "x = ('a' 'b', torch.outer(a, b))\n"),
    "multi-line call without trailing comma": (HEAD + "x = torch.ger(\n    a,\n    b\n)\n",
                                               HEAD + "x = torch.outer(\n    a,\n    b\n)\n"),
    "two statements on one line": (HEAD + "a = 1; x = torch.ger(a, b); y = 2\n",
                                   HEAD + "a = 1; x = torch.outer(a, b); y = 2\n"),
    "one-line suite": (HEAD + "if a: x = torch.ger(a, b)\nelse: x = 3\n", HEAD + "if a: x = torch.outer(a, b)\nelse: x = 3\n"),
    "lambda, conditional and await": (
        HEAD + "async def f():\n    return (lambda: torch.ger)() if a else await torch.ger(a, b)\n",
        HEAD + "async def f():\n    return (lambda: torch.outer)() if a else await torch.outer(a, b)\n",
    ),
    "aliased member": ("from torch import ger as g\nx = g(a, b)\n", "from torch import outer as g\nx = g(a, b)\n"),
    "from-import with other names": ("from torch import (\n    abs,\n    ger,  # outer product\n    nn,\n)\nx = ger(a, b)\n",
                                     "from torch import (\n    abs,\n    outer,  # outer product\n    nn,\n)\nx = outer(a, b)\n"),
    "both import styles": ("import torch\nfrom torch import ger\nx = ger(a, b) + torch.ger(a, b)\n",
                           "import torch\nfrom torch import outer\nx = outer(a, b) + torch.outer(a, b)\n"),
    "star import": ("from torch import *\nx = ger(a, b)\n", None),
    "base class": (HEAD + "class A(torch.ger): pass\n", HEAD + "class A(torch.outer): pass\n"),
    "decorator": (HEAD + "@torch.ger\ndef f(): pass\n", HEAD + "@torch.outer\ndef f(): pass\n"),
    "default value": (HEAD + "def f(g=torch.ger): pass\n", HEAD + "def f(g=torch.outer): pass\n"),
    "functools.partial": (HEAD + "import functools\nf = functools.partial(torch.ger, a)\n",
                          HEAD + "import functools\nf = functools.partial(torch.outer, a)\n"),
    "dictionary value": (HEAD + "t = {'g': torch.ger}\n", HEAD + "t = {'g': torch.outer}\n"),
    "shadowed by a parameter": (HEAD + "def f(torch):\n    return torch.ger(1, 2)\n", None),
    "shadowed by a comprehension": (HEAD + "x = [torch.ger(1, 2) for torch in y]\n", None),
    "shadowed by a local": (HEAD + "def f():\n    torch = make()\n    return torch.ger(1, 2)\n", None),
    "shadowed by a local that is bound later": (HEAD + "def f():\n    x = torch.ger(1, 2)\n    torch = 3\n", None),
    "shadowed by an except handler": (HEAD + "try: pass\nexcept E as torch:\n    torch.ger(1, 2)\n", None),
    "shadowed by a match pattern": (HEAD + "def f(x):\n    match x:\n        case [torch]: return torch.ger(1, 2)\n", None),
    "shadowed by a walrus in a comprehension": (HEAD + "def f():\n    [torch := i for i in y]\n    return torch.ger(1, 2)\n", None),
    "class scope is not seen by its methods": (
        HEAD + "class A:\n    torch = None\n    def f(self):\n        return torch.ger(1, 2)\n",
        HEAD + "class A:\n    torch = None\n    def f(self):\n        return torch.outer(1, 2)\n",
    ),
    "global statement": (HEAD + "def f():\n    global torch\n    return torch.ger(1, 2)\n",
                         HEAD + "def f():\n    global torch\n    return torch.outer(1, 2)\n"),
    "rebound at module level after use": (HEAD + "x = torch.ger(1, 2)\ntorch = Fake()\ny = torch.ger(1, 2)\n",
                                          HEAD + "x = torch.outer(1, 2)\ntorch = Fake()\ny = torch.ger(1, 2)\n"),
    "rebound in one branch": (HEAD + "if a:\n    torch = Fake()\nx = torch.ger(1, 2)\n", None),
    "function-local import": ("def f():\n    import torch\n    return torch.ger(1, 2)\n",
                              "def f():\n    import torch\n    return torch.outer(1, 2)\n"),
    "function-local import, use elsewhere": ("def f():\n    import torch\ndef g():\n    return torch.ger(1, 2)\n", None),
    "optional import": ("try:\n    import torch\nexcept ImportError:\n    torch = None\nx = torch.ger(1, 2)\n",
                        "try:\n    import torch\nexcept ImportError:\n    torch = None\nx = torch.outer(1, 2)\n"),
    "import with an own fallback": (
        "try:\n    from torch import ger\nexcept ImportError:\n    def ger(a, b): ...\nx = ger(1, 2)\n", None),
    "TYPE_CHECKING import": ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\ndef f(g: 'torch.ger'): pass\n", None),
    "store": (HEAD + "torch.ger = fake\n", None),
    "delete": (HEAD + "del torch.ger\n", None),
    "augmented store": (HEAD + "torch.ger += 1\n", None),
    "same method on another object": (HEAD + "x = a.ger(b)\ny = self.torch.ger(b)\n", None),
    "the new name is bound to something else": (
        "from torch import ger\ndef outer(): pass\nx = ger(a, b)\n",
        "from torch import outer as ger\ndef outer(): pass\nx = ger(a, b)\n"),
    "nested in each other": (HEAD + "x = torch.ger(torch.ger(a, b), torch.ger(c, torch.ger(d, e)))\n",
                             HEAD + "x = torch.outer(torch.outer(a, b), torch.outer(c, torch.outer(d, e)))\n"),
    "listed in __all__": ("from torch import ger\n__all__ = ['ger']\n", "from torch import outer as ger\n__all__ = ['ger']\n"),
    "string that looks like code": (HEAD + "x = 'torch.ger(a, b)'\n", None),
    "mock patch target": (HEAD + "patch('torch.ger')\n", None),
    "assigned module alias": (HEAD + "t = torch\nx = t.ger(a, b)\n", HEAD + "t = torch\nx = t.outer(a, b)\n"),
    "assigned function alias": (HEAD + "g = torch.ger\nx = g(a, b)\n", HEAD + "g = torch.outer\nx = g(a, b)\n"),
    "walrus alias": (HEAD + "if (t := torch):\n    x = t.ger(a, b)\n", None),
    "getattr": (HEAD + "x = getattr(torch, 'ger')(a, b)\n", None),
    "subscripted generic beside it": (HEAD + "def f(x: dict[str, torch.Tensor]): return torch.ger(x, x)\n",
                                      HEAD + "def f(x: dict[str, torch.Tensor]): return torch.outer(x, x)\n"),
    "chained comparison and slices": (HEAD + "x = a < torch.ger(b, c)[1:2, ...] < d\n", HEAD + "x = a < torch.outer(b, c)[1:2, ...] < d\n"),
    "conditional import of two modules": ("if a:\n    import torch\nelse:\n    import other as torch\nx = torch.ger(1, 2)\n", None),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), RENAMES.values(), ids=RENAMES)
def test_a_rename_survives(before: str, after: str | None, tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"a.py": before})
    assert result.failures == ()
    new = new_bytes(result, "a.py")
    assert (None if new is None else new.decode()) == after


MODEL = "import torch\nnet = torch.nn.Linear(3, 4)\nx = torch.rand(4, 3)\n"
SHAPES = "dynamic_shapes=([torch.export.Dim.AUTO] * 2,)"
CALLS: dict[str, tuple[str, str]] = {
    "keyword example inputs": (
        "t = torch.jit.trace(net, example_inputs=x)  # by name\nt(x)\n",
        f"t = torch.export.export(net, args=(x,), {SHAPES}).module()  # by name\nt(x)\n",
    ),
    "starred arguments": ("t = torch.jit.trace(*args)\nt(x)\n", ""),
    "keyword dictionary": ("t = torch.jit.trace(net, x, **options)\nt(x)\n", ""),
    "comment between arguments": (
        "t = torch.jit.trace(  # capture\n    net, x\n)\nt(x)\n",
        f"t = torch.export.export(  # capture\n    net, (x,), {SHAPES}\n).module()\nt(x)\n",
    ),
    "one argument a line without trailing comma": (
        "t = torch.jit.trace(\n    net,\n    x  # batch\n)\nt(x)\n",
        f"t = torch.export.export(\n    net,\n    (x,),  # batch\n    {SHAPES}\n).module()\nt(x)\n",
    ),
    "hanging indentation": (
        "t = torch.jit.trace(net,\n                    x)\nt(x)\n",
        f"t = torch.export.export(net,\n                    (x,),\n                    {SHAPES}).module()\nt(x)\n",
    ),
    "a multi-line input": (
        "t = torch.jit.trace(net, torch.rand(\n    4,  # batch\n    3,\n))\nt(x)\n",
        f"t = torch.export.export(net, (torch.rand(\n    4,  # batch\n    3,\n),), {SHAPES}).module()\nt(x)\n",
    ),
    "all on a line with others": (
        "a = 1; t = torch.jit.trace(net, x); b = t(x)\n",
        f"a = 1; t = torch.export.export(net, (x,), {SHAPES}).module(); b = t(x)\n",
    ),
    "eval alone in its block": (
        "t = torch.jit.trace(net, x)\nif True:\n    t.eval()\nt(x)\n",
        f"t = torch.export.export(net, (x,), {SHAPES}).module()\nif True:\n    pass\nt(x)\n",
    ),
    "eval in the middle of a line": (
        "t = torch.jit.trace(net, x); t.eval(); t(x)\n",
        f"t = torch.export.export(net, (x,), {SHAPES}).module(); t(x)\n",
    ),
    "called at once": (
        "y = torch.jit.trace(net, x)(x)\n",
        f"y = torch.export.export(net, (x,), {SHAPES}).module()(x)\n",
    ),
    "reassigned by eval": (
        "t = torch.jit.trace(net, x)\nt = t.eval()\ny = t(x)\n",
        f"t = torch.export.export(net, (x,), {SHAPES}).module()\ny = t(x)\n",
    ),
    "inside a larger expression": (
        "y = [torch.jit.trace(net, x)(x) + 1 for _ in range(2)]\n",
        f"y = [torch.export.export(net, (x,), {SHAPES}).module()(x) + 1 for _ in range(2)]\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), CALLS.values(), ids=CALLS)
def test_a_rewritten_call_keeps_its_layout(before: str, after: str, tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"a.py": MODEL + before})
    assert result.failures == ()
    new = new_bytes(result, "a.py")
    assert (new or b"").decode() == (MODEL + after if after else "")
    assert after or any(finding.code == "TL101" for finding in all_findings(result))


def test_a_re_export_is_followed_to_torch(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/compat.py": "import torch\nfrom torch import jit\nouter_product = torch.ger\n",
        "pkg/a.py": "from .compat import torch\nx = torch.ger(1, 2)\n",
        "pkg/b.py": "from pkg.compat import jit\nx: jit.Final = 3\n",
        "pkg/sub/__init__.py": "from ..compat import *\n",
        "pkg/sub/c.py": "from .. import compat\nx = compat.torch.ger(1, 2)\n",
    }
    result = analyse_files(tmp_path, files)
    assert new_bytes(result, "pkg/a.py") == b"from .compat import torch\nx = torch.outer(1, 2)\n"
    assert {f.path for f in all_findings(result)} >= {"pkg/a.py", "pkg/b.py", "pkg/compat.py", "pkg/sub/c.py"}


def test_an_import_that_another_file_needs_stays(tmp_path: Path) -> None:
    script = "from torch.jit import unused\n\n\nclass A:\n    @unused\n    def f(self): pass\n"
    alone = analyse_files(tmp_path / "alone", {"marks.py": script})
    assert b"import unused" not in (new_bytes(alone, "marks.py") or b"import unused")
    shared = analyse_files(tmp_path / "shared", {"marks.py": script, "b.py": "from marks import unused\n"})
    assert b"from torch.jit import unused" in (new_bytes(shared, "marks.py") or b"")


def test_a_module_that_torch_does_not_load_by_itself_is_not_named_without_its_import(tmp_path: Path) -> None:
    code = "import torch\nfrom torch.distributed import _tensor\nx = _tensor.DTensor\n"
    assert new_bytes(analyse_files(tmp_path / "a", {"a.py": code}), "a.py") is None
    code = "import torch\nimport torch.distributed._tensor\nx = torch.distributed._tensor.DTensor\n"
    new = new_bytes(analyse_files(tmp_path / "b", {"a.py": code}), "a.py")
    assert new == code.replace("x = torch.distributed._tensor", "x = torch.distributed.tensor").encode()
