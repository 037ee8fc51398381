"""Where TorchScript is dropped, what no maintainer would leave behind goes with it, and nothing that was there before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from example_project import analyse_files, new_bytes

from torchlift.torchscript_intent import DROP, UNSTATED, TorchScriptIntent

HEAD = "import torch\n\n\n"
USES = "\n\ndef g(x):\n    return torch.relu(x)\n"
MARKED = "@torch.jit.ignore\ndef f(x):\n    return x\n"
PLAIN = MARKED.removeprefix("@torch.jit.ignore\n")


def rewritten(
    folder: Path, code: str, intent: TorchScriptIntent = DROP, path: str = "pkg/a.py", **files: str
) -> str | None:
    """`code` after all fixes; None where its file goes."""
    named = {name.replace("__", "/") + ".py": text for name, text in files.items()}
    result = analyse_files(folder, {"pkg/__init__.py": "", path: code, **named}, unsafe=True, torchscript=intent)
    assert not [failure.detail or failure.reason for failure in result.failures]
    new = new_bytes(result, path)
    text = code if new is None else new.decode()
    return text or None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "def f(net, c):\n    if c.is_wide():\n        y = torch.jit.script(net)\n    else:\n        y = net\n    return y(torch.ones(2))\n",
            "def f(net, c):\n    y = net\n    return y(torch.ones(2))\n",
        ),
        (
            "def f(x, c):\n    if c:\n        torch._C._jit_set_profiling_mode(False)\n    return torch.relu(x)\n",
            "def f(x, c):\n    return torch.relu(x)\n",
        ),
        (
            "def f(x, c):\n    if c:\n        x = x + 1\n    else:\n        torch._C._jit_set_profiling_mode(False)\n    return torch.relu(x)\n",
            "def f(x, c):\n    if c:\n        x = x + 1\n    return torch.relu(x)\n",
        ),
        (
            "def f(x):\n    torch._C._jit_set_profiling_mode(False)\n    try:\n        torch._C._jit_override_can_fuse_on_cpu(False)\n    except Exception:\n        pass\n    return torch.relu(x)\n",
            "def f(x):\n    return torch.relu(x)\n",
        ),
        (
            "def f(path):\n    old = torch.jit.script\n    torch.jit.script = lambda fn: fn\n    try:\n        # first\n"
            "        x = open(path)\n    finally:\n        torch.jit.script = old\n    return torch.relu(x)\n",
            "def f(path):\n    # first\n    x = open(path)\n    return torch.relu(x)\n",
        ),
        (
            "class Net(torch.nn.Module):\n    def forward(self, x, y):\n        if torch.jit.is_scripting() or y is None:\n"
            "            assert y is None, 'scripted'\n            y = x\n        return y\n",
            "class Net(torch.nn.Module):\n    def forward(self, x, y):\n        if y is None:\n            y = x\n        return y\n",
        ),
        (
            "class Net(torch.nn.Module):\n    def forward(self, x):\n        wide = self.training and self.aux\n"
            "        if torch.jit.is_scripting():\n            if not wide:\n                raise RuntimeError\n        return x\n",
            "class Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n",
        ),
        (
            "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self._warned = False\n\n"
            "    def forward(self, x):\n        if torch.jit.is_scripting():\n            if not self._warned:\n"
            "                self._warned = True\n        return x\n",
            "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n\n"
            "    def forward(self, x):\n        return x\n",
        ),
        (
            "def f(x, c):\n    a = torch.relu(x)\n\n    if torch.jit.is_scripting():\n        a = a + 1\n\n    return a\n",
            "def f(x, c):\n    a = torch.relu(x)\n\n    return a\n",
        ),
        (
            "def f(net):\n    y = torch.jit.script(\n        torch.nn.Sequential(\n            net,\n            torch.nn.ReLU(),\n"
            "        )\n    )\n    return y(torch.ones(2))\n",
            "def f(net):\n    y = torch.nn.Sequential(\n        net,\n        torch.nn.ReLU(),\n    )\n    return y(torch.ones(2))\n",
        ),
        (
            "def f(x, net):\n    if not (\n        torch.jit.is_scripting() or torch.jit.is_tracing() or net.is_wide()\n    ):\n"
            "        x = torch.relu(x)\n    return x\n",
            "def f(x, net):\n    if not net.is_wide():\n        x = torch.relu(x)\n    return x\n",
        ),
        (
            "def f(self, x):\n    self.a = torch.jit.trace(self.a, x)\n    if x.dim() == 2:\n        self.b = torch.jit.trace(self.b, x)\n"
            "\n\ndef g(x):\n    return torch.relu(x)\n",
            None,
        ),
        (
            "@torch.jit.script\ndef _loud(x: torch.Tensor):\n    return x + 1\n\n\ndef f(x):\n    if torch.jit.is_scripting():\n"
            "        x = _loud(x)\n    return torch.relu(x)\n",
            "def f(x):\n    return torch.relu(x)\n",
        ),
        (
            "@torch.jit._overload  # noqa: F811\ndef f(x):  # noqa: F811\n    # type: (int) -> int\n    pass\n\n\n"
            "def f(x):  # noqa: F811\n    return torch.relu(x)\n",
            "def f(x):\n    return torch.relu(x)\n",
        ),
        (
            "from e3nn.util.jit import compile_mode\n\n\n@compile_mode('script')\nclass Net(torch.nn.Module):\n"
            "    def forward(self, x):\n        return x\n",
            "class Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n",
        ),
        (
            "def f(net, x):\n    import torch\n    import torch.jit\n\n    net = torch.jit.script(net)\n    return torch.relu(net(x))\n",
            "def f(net, x):\n    import torch\n\n    return torch.relu(net(x))\n",
        ),
    ],
    ids=[
        "branches alike",
        "an empty branch",
        "an empty else",
        "an empty try",
        "a finally for nothing",
        "an assertion of the condition above",
        "a local value",
        "a private attribute",
        "blank lines",
        "lines further in",
        "brackets",
        "a block that two changes empty",
        "a private scripted helper",
        "a linter that is silenced for nothing",
        "a name of e3nn",
        "torch.jit beside torch",
    ],
)
def test_what_the_fixes_leave_behind_goes(before: str, after: str | None, tmp_path: Path) -> None:
    new = rewritten(tmp_path, HEAD + before)
    if after is not None:
        assert new == HEAD + after
    else:
        compile(new or "", "a.py", "exec")


@pytest.mark.parametrize(
    "code",
    [
        "def f(x, c):\n    if c.pop():\n        torch._C._jit_set_profiling_mode(False)\n    return torch.relu(x)\n",
        "def f(net, c):\n    if c.pop():\n        y = torch.jit.script(net)\n    else:\n        y = net\n    return y(torch.ones(2))\n",
        "def f(net, c):\n    if (d := c.wide):\n        y = torch.jit.script(net)\n    else:\n        y = net\n    return y(torch.ones(2)), d\n",
    ],
    ids=["an empty branch", "branches alike", "a value that is kept"],
)
def test_a_question_that_does_something_stays(code: str, tmp_path: Path) -> None:
    new = rewritten(tmp_path, HEAD + code)
    assert new is not None
    assert "jit" not in new
    assert ("c.pop()" in new) or ("d := c.wide" in new)


def test_what_stood_there_before_stays(tmp_path: Path) -> None:
    odd = "import os\n\n\ndef h(x, c):\n    y = x\n    if c:\n        pass\n    if c:\n        return x\n    else:\n        return x\n"
    assert rewritten(tmp_path, HEAD + MARKED + USES + odd) == HEAD + PLAIN + USES + odd


def test_torch_itself_goes_where_nothing_reads_it_any_more(tmp_path: Path) -> None:
    assert rewritten(tmp_path, "import os\n\nimport torch\n\nfrom pkg import b\n\n\n" + MARKED) == (
        "import os\n\nfrom pkg import b\n\n\n" + PLAIN
    )


@pytest.mark.parametrize(
    ("code", "files"),
    [
        ("import torch  # before anything else\n\n\n{}", {}),
        ("# Has to be first.\nimport torch\n\n\n{}", {}),
        ("import torch\nfrom pkg import _C\n\n\n{}", {}),
        ("import torch\nimport nms_cuda\n\n\n{}", {}),
        ("import torch\n\n\n{}\n\ndef g(x: 'torch.Tensor'):\n    return x\n", {}),
        ("import torch\n\n\n{}\n\ndef g(x):\n    # type: (torch.Tensor) -> torch.Tensor\n    return x\n", {}),
        ('import torch\n\n\n{}\n\ndef g(x):\n    """Add.\n\n    >>> g(torch.ones(2))\n    """\n    return x\n', {}),
        ("import torch\n\n\n{}\n\ndef g(x):\n    return eval(x)\n", {}),
        ("import torch\n\n__all__ = ['f', 'torch']\n\n\n{}", {}),
        ("import torch\n\n\n{}", {"pkg__b": "from pkg import a\n\nprint(a.torch)\n"}),
        ("import torch\n\n\n{}", {"pkg__b": "from pkg.a import torch\n\nprint(torch)\n"}),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None\n\n\n{}", {}),
    ],
    ids=[
        "a remark",
        "a remark above",
        "compiled code of the project",
        "compiled code",
        "an annotation in quotes",
        "a comment on types",
        "an example in a docstring",
        "code in strings",
        "offered to others",
        "read as an attribute",
        "imported from there",
        "an import that may fail",
    ],
)
def test_torch_stays_for_what_does_not_read_its_name(code: str, files: dict[str, str], tmp_path: Path) -> None:
    assert rewritten(tmp_path, code.format(MARKED), **files) == code.format(PLAIN)


def test_a_private_attribute_goes_though_another_class_sets_one_of_this_name(tmp_path: Path) -> None:
    code = (
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self._warned = False\n\n"
        "    def forward(self, x):\n        if torch.jit.is_scripting() and self._warned:\n            return x + 1\n        return x\n"
    )
    other = "class Other:\n    def __init__(self):\n        self._warned = True\n"
    new = rewritten(tmp_path, HEAD + code, pkg__b=other)
    assert new is not None
    assert "_warned" not in new


def test_a_private_attribute_stays_for_another_file(tmp_path: Path) -> None:
    code = (
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self._warned = False\n\n"
        "    def forward(self, x):\n        if torch.jit.is_scripting() and self._warned:\n            return x + 1\n        return x\n"
    )
    new = rewritten(tmp_path, HEAD + code, pkg__b="def told(net):\n    return net._warned\n")
    assert new is not None
    assert "_warned = False" in new
    assert "is_scripting" not in new


TEST = "import unittest\n\nimport torch\n\n\nclass TestNet(unittest.TestCase):\n    def test_scripted(self):\n        torch.jit.script(torch.nn.ReLU())\n"
MAIN = '\n\nif __name__ == "__main__":\n    unittest.main()\n'


def test_a_file_of_tests_that_has_lost_them_goes(tmp_path: Path) -> None:
    assert rewritten(tmp_path, f"# The authors.\n{TEST}{MAIN}", path="tests/test_net.py") is None


@pytest.mark.parametrize(
    ("more", "files"),
    [
        ("\n\ndef helper():\n    return 1\n", {}),
        ("\n\nunittest.register()\n", {}),
        ("", {"tests__test_other": "from tests.test_net import torch\n"}),
    ],
    ids=["a helper", "a call", "somebody imports from it"],
)
def test_a_file_of_tests_stays_for_what_else_it_holds(more: str, files: dict[str, str], tmp_path: Path) -> None:
    assert rewritten(tmp_path, TEST + more, path="tests/test_net.py", **files) is not None


def test_without_an_intent_torch_stays(tmp_path: Path) -> None:
    code = HEAD + "def f(x):\n    if torch.jit.is_scripting():\n        raise RuntimeError\n    return x\n"
    assert rewritten(tmp_path, code, UNSTATED) == HEAD + "def f(x):\n    return x\n"


def test_a_call_of_another_class_test_of_the_same_name_stays(tmp_path: Path) -> None:
    code = (
        "import unittest\n\nimport torch\n\n\nclass TestA(unittest.TestCase):\n    def test_net(self):\n"
        "        torch.jit.script(torch.nn.ReLU())\n\n    def test_twice(self):\n        self.test_net()\n        assert True\n\n\n"
        "class TestB(unittest.TestCase):\n    def test_net(self):\n        assert torch.ones(1)\n\n"
        "    def test_twice(self):\n        self.test_net()\n        assert True\n"
    )
    new = rewritten(tmp_path, code, path="tests/test_net.py")
    assert new is not None
    assert new.count("self.test_net()") == 1
    assert new.index("class TestB") < new.index("self.test_net()")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "def f(net):\n    net.eval()\n    fast = torch.jit.script(net)\n    fast.eval()\n    return fast(torch.ones(2))\n",
            "def f(net):\n    net.eval()\n    return net(torch.ones(2))\n",
        ),
        (
            "def f(make):\n    net = make().eval()\n    fast = torch.jit.script(net)\n    fast.eval()\n    return fast(torch.ones(2))\n",
            "def f(make):\n    net = make().eval()\n    return net(torch.ones(2))\n",
        ),
        (
            "def f(net, wide):\n    return torch.jit.script(net) if wide else net\n",
            "def f(net, wide):\n    return net\n",
        ),
    ],
)
def test_what_says_again_what_stands_before_it_goes(before: str, after: str, tmp_path: Path) -> None:
    assert rewritten(tmp_path, HEAD + before) in {HEAD + after, after}


def test_a_mode_that_was_set_twice_before_stays_so(tmp_path: Path) -> None:
    code = "def f(net):\n    net.eval()\n    net.eval()\n    torch._C._jit_set_profiling_mode(False)\n    return net(torch.ones(2))\n"
    assert "    net.eval()\n    net.eval()\n" in (rewritten(tmp_path, HEAD + code) or "")


_MODE = "from e3nn.util.jit import compile_mode\n"


@pytest.mark.parametrize(
    ("other", "goes"),
    [
        ("from .a import *\n", True),
        (f"from .a import *\n{_MODE}\n\n@compile_mode('script')\nclass Other: ...\n", True),
        ("from .a import *\n\nmode = compile_mode\n", False),
    ],
    ids=["nobody names it", "others import it themselves", "another file has it from here"],
)
def test_an_import_that_a_star_hands_on_goes_unless_somebody_takes_it(other: str, goes: bool, tmp_path: Path) -> None:
    net = "class Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
    new = rewritten(tmp_path, f"import torch\n{_MODE}\n\n@compile_mode('script')\n{net}", pkg__all=other)
    assert new is not None
    assert "@compile_mode" not in new
    assert (_MODE not in new) is goes


@pytest.mark.parametrize(
    ("remark", "left"),
    [
        ("  # !!! changes x in place !!!", "# !!! changes x in place !!!\n"),
        ("  # noqa: F811", ""),
        ("  # jit for speed", ""),
    ],
)
def test_a_remark_behind_a_decorator_stays_where_it_speaks_of_the_function(
    remark: str, left: str, tmp_path: Path
) -> None:
    code = HEAD + f"@torch.jit.script{remark}\ndef f(x):\n    return torch.relu(x)\n"
    assert rewritten(tmp_path, code) == HEAD + f"{left}def f(x):\n    return torch.relu(x)\n"


@pytest.mark.parametrize(("bases", "stays"), [("Common, unittest.TestCase", True), ("unittest.TestCase", False)])
def test_a_method_of_tests_stays_where_a_base_of_another_file_may_call_it(
    bases: str, stays: bool, tmp_path: Path
) -> None:
    code = (
        "import unittest\n\nimport torch\n\nfrom common import Common, Net\n\n\nclass TestNet("
        + bases
        + "):\n    def _prepare(self, x):\n        return x + 1\n\n    def test_net(self):\n        self.assertEqual(Net()(1), 2)\n\n"
        "    def test_script(self):\n        torch.jit.script(Net())(self._prepare(torch.ones(2)))\n"
    )
    result = analyse_files(tmp_path, {"test_net.py": code}, unsafe=True, torchscript=replace(DROP, tests="delete"))
    new = new_bytes(result, "test_net.py")
    assert new is not None and b"test_script" not in new
    assert (b"_prepare" in new) == stays
