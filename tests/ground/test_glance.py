"""A glance at the bytes of a file never refuses one that a syntax tree has a use in."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from exhaustive import tried
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlift.project import Project
from torchlift.search.glance import Glance
from torchlift.search.parties import Party, Sighting, Wanted
from torchlift.search.vocabulary import words_in
from torchlift.source import SourceText
from torchlift.view import ModuleView
from torchlift.wrappers import Wrapper, Wrappers

TARGETS = frozenset({"torch.jit.script", "torch.jit.trace", "torch.nn.functional.upsample", "torch.load", "*.submit"})


def seen(
    code: str | bytes,
    targets: frozenset[str] = TARGETS,
    test: Callable[[Sighting], bool] | None = None,
    own: tuple[str, ...] = ("mylib",),
    wrappers: Wrappers | None = None,
) -> bool:
    data = code.encode() if isinstance(code, str) else code
    glance = Glance({"all": Party({"one": Wanted(targets, test)})}, wrappers or Wrappers())
    present = words_in(data)
    return bool(glance.served(data, present, {"all": {"one"}}, lambda name: name.partition(".")[0] in own))


@pytest.mark.parametrize(
    "code",
    [
        "import torch\ntorch.jit.script(f)\n",
        "import torch as th\nth.jit.script(f)\n",
        "from torch import jit\n\n\n@jit.script\ndef f(x):\n    return x\n",
        "from torch import jit as j\nx = j.script\n",
        "from torch.jit import script\n",
        'import pytest\n\nth = pytest.importorskip("torch", reason="slow")\nth.jit.script(f)\n',
        "from torch.jit import (\n    fork,  # with ) in it\n    script as s,\n)\ns(f)\n",
        "from torch \\\n    import jit\njit.script(f)\n",
        "from torch.jit import fork, \\\n    script\n",
        "import numpy, torch.jit as j ; j.script(f)\n",
        "raise ValueError from error\nimport torch\ntorch.jit.script(f)\n",
        "try: import torch\nexcept ImportError: pass\ntorch.jit.script(f)\n",
        "if True: from torch import jit\njit.script(f)\n",
        "import torch\nj = torch.jit\nj.script(f)\n",
        "import torch\na = b = torch.jit\na.script(f)\n",
        "import torch\nj: object = torch.jit\nj.script(f)\n",
        "import torch\nj: Dict[\n    str\n] = torch.jit\nj.script(f)\n",
        "import torch\nif x: j = torch.jit\nj.script(f)\n",
        "import torch\n(j) = torch.jit\nj.script(f)\n",
        "import torch\nj = (\n    torch.jit  # here\n)\nj.script(f)\n",
        "import torch\nt = torch\nj = t.jit\nj.script(f)\n",
        "import torch\nx = (torch\n     .jit\n     .script(f))\n",
        "import torch\nx = (torch.\n     jit.\n     # and then\n     script(f))\n",
        "import torch\nx = torch . jit . script(f)\n",
        "import torch\nx = torch.jit \\\n    .script(f)\n",
        "import torch\nx = torch. \\\n    jit.script(f)\n",
        "import torch\nx = 1.\ntorch.jit.script(f)\n",
        "import torch\nx = f()  # to the end.\ntorch.jit.script(f)\n",
        "import torch\r\ntorch.jit.script(f)\r\n",
        "import torch\rtorch.jit.script(f)\r",
        "import torch\n\fx = torch.jit.script\n",
        "import torch\nx = '#', torch.jit.script\n",
        'import torch\nx = f"""\n# {torch.jit.script}"""\n',
        "import torch\nx = '''\n# ''', torch.jit.script\n",
        "patch('torch.jit.script')\n",
        'patch("torch.jit.script")\n',
        "import torch\n\n\ndef f(x: 'torch.jit.script'):\n    pass\n",
        "from torch.jit import *\nscript(f)\n",
        "from .compat import *\nscript(f)\n",
        "from .compat import jit\njit.script(f)\n",
        "from . import compat\ncompat.script(f)\n",
        "from mylib import jit\njit.script(f)\n",
        "import mylib.compat as c\nc.torch.jit.script(f)\n",
        "pool.submit(f)\n",
        "x = pools[0].submit\n",
        "x = (pools()\n     .submit)\n",
        "import torch\nglobals()[torch.jit.script]\n",
        "# import (not\nimport torch\ntorch.jit.script(f)\n",
        '"""Import (or\nnot."""\nimport torch\n\ntorch.jit.script(f)\n# )\n',
        "from deepspeed import comm\nfrom torch import load\n",
        "from torch import jit as j\ndef f(): ...\n\n\nj.script(f)\n",
        "import torch\nx = y[\n    0:2] = torch.jit\nx.script(f)\n",
        "from torch import jit as j\nx = y[\n    ...,\n    ...\n    # .\n]\nj.script(f)\n",
    ],
)
def test_a_use_is_seen(code: str) -> None:
    assert seen(code)


@pytest.mark.parametrize(
    "code",
    [
        "",
        "import torch\n# torch.jit.script(f)\n",
        "from numba import jit\n\n\n@jit.script\ndef f(x):\n    return x\n",
        "import numpy as torch2\ntorch2.load(x)\n",
        "import torch\n\n\ndef f(self, x):\n    return self.upsample(x)\n",
        "import torch\nupsample = torch.nn.Upsample(2)\n",
        "import json\nimport torch\njson.load(x)\n",
        "import torch\nscript = torch.zeros(2)\nscript.jit\n",
        "import torch\nx = submit(f)\n",
        "import torch\ny = model.jit.script(f)\n",
        "import torch\ny = model().load(f)\n",
        "import torch\nmodel.load = torch.zeros\n",
    ],
)
def test_another_meaning_of_the_word_is_not_a_use(code: str) -> None:
    assert not seen(code)


def test_a_call_is_judged_by_its_arguments() -> None:
    def without_weights_only(sighting: Sighting) -> bool:
        return sighting.call is not None and all(k.arg != "weights_only" for k in sighting.call.keywords)

    def judged(code: str) -> bool:
        return seen(code, frozenset({"torch.load"}), without_weights_only)

    assert judged("import torch\ntorch.load(path)\n")
    assert judged("import torch\ntorch.load(\n    path,  # weights_only=\n    map_location=')',\n)\n")
    assert judged("from torch import load as l\nl(path)\n")
    assert judged("import torch\nl = torch.load\nl(path)\n")
    assert judged("import torch\n(torch.load)(path)\n")
    assert judged("import torch\nx = (torch.load  # here\n     (path))\n")
    assert judged("import torch\ntorch.load(path, weights_only=True)\ntorch.load(path)\n")
    assert judged("import torch\ntorch.load(" + "(" * 3000 + ")" * 3000 + ")\n"), "too long to tell"
    assert not judged("import torch\ntorch.load(path, weights_only=True)\n")
    assert not judged("import torch\ntorch.load(\n    open(')'),\n    weights_only=(1, 2),\n)\n")
    assert not judged("import torch\nl = torch.load  # (path)\n")
    assert not judged("from torch import load\n")


def test_what_is_no_call_is_told_from_a_call_and_an_import() -> None:
    def kinds(code: str) -> set[str]:
        found = set()

        def note(sighting: Sighting) -> bool:
            found.add(sighting.kind)
            return False

        seen(code, frozenset({"torch.load"}), note)
        return found

    assert kinds("import torch\ntorch.load(x)\n") == {"call"}
    assert kinds("import torch\ntorch.load = x\n") == {"other"}
    assert kinds("from torch import load\n") == {"import", "other"}


def test_every_party_is_served_for_itself() -> None:
    data = b"import torch\ntorch.jit.script(f)\npool.submit(f)\n"
    parties = {
        "scripts": Party({"a": Wanted({"torch.jit.script"}), "b": Wanted({"torch.jit.trace"})}),
        "loads": Party({"c": Wanted({"torch.load"})}),
        "calls": Party({"d": Wanted({"*.submit"}, lambda sighting: sighting.kind == "call")}),
    }
    glance = Glance(parties, Wrappers())
    present = words_in(data)
    asking = {"scripts": {"a", "b"}, "loads": {"c"}, "calls": {"d"}}
    assert glance.served(data, present, asking, lambda head: False) == {"scripts", "calls"}
    assert glance.served(data, present, {"scripts": {"b"}, "loads": set()}, lambda head: False) == set()


def test_a_longer_target_of_the_same_party_takes_the_use() -> None:
    data = b"import torch\ntorch.jit.mobile.load(f)\n"
    short = {"a": Wanted({"torch.jit.mobile"}), "b": Wanted({"torch.jit.mobile.load"}, lambda sighting: False)}
    glance = Glance({"all": Party(short)}, Wrappers())
    assert not glance.served(data, words_in(data), {"all": {"a", "b"}}, lambda head: False)


def test_targets_that_are_no_names_are_looked_for_as_text() -> None:
    targets = frozenset({"ignore::torch.jit.TracerWarning"})
    assert seen("filters = ['ignore::torch.jit.TracerWarning']\n", targets)
    assert not seen("filters = ['error']\n", targets)


def test_wrappers_stand_for_what_they_mirror() -> None:
    wrappers = Wrappers([Wrapper("mylib.dist", "torch.distributed")])
    targets = frozenset({"torch.distributed.send"})
    assert seen("from mylib import dist\ndist.send(t, 1)\n", targets, own=(), wrappers=wrappers)
    assert not seen("from yourlib import dist\ndist.send(t, 1)\n", targets, own=(), wrappers=wrappers)


STRANGE = {
    "blanks and comments": "import torch\nx = torch.load" + " " * 3000 + "# a " * 300 + "\n# b" * 3000,
    "a list of imports that does not end": "import (" + "# a ) \n" * 3000,
    "names given on and on": "import torch\n" + "torch.load = " * 20_000 + "x\n",
    "imports on one line": "import torch; " * 20_000,
    "lines of comments": "import torch\n" + "\n# c" * 5000 + "\nload\n" * 500,
    "many assignments": "a = b.c\n" * 20_000 + "import torch\nb = torch\nload\n",
    "assigned from itself": "import torch\ntorch = torch.x\n" * 1000 + "load\n",
    "a long module": "from " + "a." * 20_000 + "b import load\n",
    "a long name": "import torch\n" + "load." * 20_000 + "load\n",
    "a long name over lines": "import torch\n" + "load.\n" * 20_000 + "load\n",
    "calls in calls": "import torch\n" + "torch.load(" * 20_000 + "\n",
    "many references": "import torch\n" + "torch.load\n" * 20_000,
}


@pytest.mark.parametrize("code", STRANGE.values(), ids=list(STRANGE))
def test_strange_files_are_looked_at_in_no_time(code: str) -> None:
    seen(code)


ROOTS = ["torch", "t", "jit", "F", "j", "np", "self", "mylib", "script"]
IMPORTS = [
    "import torch",
    "import torch as t",
    "import torch.jit",
    "import torch.nn.functional as F",
    "from torch import jit",
    "from torch import jit as j, load",
    "from torch.jit import (script as j,\n    trace)",
    "import numpy as np",
    "from .a import jit",
    "from torch.nn.functional import *",
]
names = st.sampled_from(ROOTS)
dotted = st.builds(
    lambda root, rest, space: space.join([root, *rest]),
    names,
    st.lists(st.sampled_from(["jit", "script", "trace", "nn", "functional", "upsample", "load", "submit"]), max_size=3),
    st.sampled_from([".", ".", ".", " . ", ".\\\n"]),
)
STATEMENTS = st.one_of(
    st.sampled_from(IMPORTS),
    st.builds("{} = {}".format, names, dotted),
    st.builds("{}: object = {}".format, names, dotted),
    st.builds("{} = {} = {}".format, names, names, dotted),
    st.builds("if 1: {} = ({})".format, names, dotted),
    st.builds("{}({})".format, dotted, dotted),
    st.builds("x = [{}, '#', {}]  # {}".format, dotted, dotted, dotted),
    st.builds("x = '{}'".format, dotted),
    st.sampled_from(["def f(): ...", "x = 1.", "x = 1  # one.", "# one.", "...", "'''One.\n\nTwo.'''"]),
    st.builds("def f(x: '{}' = {}):\n    {} = {}\n    return {}".format, dotted, dotted, names, dotted, dotted),
    st.builds("class {}({}):\n    {} = {}".format, names, dotted, names, dotted),
    st.builds("@{}\ndef {}(): ...".format, dotted, names),
    st.builds("x = (\n    {}\n    .script # {}\n)".format, dotted, dotted),
)


@settings(max_examples=tried(150, 400))
@given(st.lists(STATEMENTS, max_size=8), st.sampled_from(["\n", "\r\n", "; "]))
def test_whatever_a_syntax_tree_has_a_use_in_is_seen(statements: list[str], newline: str) -> None:
    code = (newline if all("\n" not in s and ":" not in s and "#" not in s for s in statements) else "\n").join(
        statements
    )
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return
    view = ModuleView("a.py", SourceText(code), tree)
    if any(use.kind != "string" or "torch" in use.name for use in view.uses(TARGETS)):
        assert seen(code)


def test_a_name_may_be_the_projects_where_a_module_of_it_can_have_it(tmp_path: Path) -> None:
    files = ["pkg/__init__.py", "pkg/sub/a.py", "scripts/tool.py", "src/lib/b.py", "scripts/data/c.py"]
    project = Project(tmp_path, files)
    for importer, head, answer in [
        ("pkg/sub/a.py", "pkg", True),
        ("scripts/tool.py", "tool", True),
        ("pkg/sub/a.py", "lib", True),
        ("scripts/tool.py", "data", True),
        ("pkg/sub/a.py", "data", True),
        ("scripts/tool.py", "sub", False),
        ("pkg/sub/a.py", "torch", False),
    ]:
        assert project.may_own(head, importer) is answer, (importer, head)
        found = project.find_module(f"{head}.b", importer) or project.find_module(head, importer)
        assert answer or found is None
