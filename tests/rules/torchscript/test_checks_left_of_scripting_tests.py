"""What is left of the checks, branches and parameters of a test of scripting, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from dropped_scripting import CODES, NET, body, migrated

from torchlift.finding import Safety
from torchlift.migrate.result import Mode
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.rule import Settings
from torchlift.torchscript_intent import DROP
from torchlift.versions import TorchVersion

SAID = {
    "what is called after scripting": (
        "test_jit",
        "    assert torch.jit.script(net)(1) == 2\n",
        "Its name still speaks of scripting.",
    ),
    "a skip that is for scripting": (
        "test_net",
        "    assert torch.jit.script(net)(1) == 2\n",
        "Its `skip` on line 13 still speaks of scripting.",
    ),
    "a call that may script": (
        "test_net",
        "    assert torch.jit.script(net)(1) == 2\n    test_script_save(net)\n",
        "`test_script_save` on line 16 may script, too, and stays.",
    ),
    "a variable": (
        "test_net",
        "    jit_out = torch.jit.script(net)(1)\n    assert jit_out == 2\n",
        "`jit_out` keeps a name that speaks of scripting.",
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_what_still_speaks_of_scripting_is_said(case: str, tmp_path: Path) -> None:
    name, text, said = SAID[case]
    skip = "@pytest.mark.skip('no jit for a while')\n" if "skip" in said else ""
    test = f"import pytest\nfrom other import test_script_save\n\n\n{skip}def {name}():\n    net = Net()\n{text}"
    (tmp_path / "test_net.py").write_text(body(test))
    options = RunOptions(
        tmp_path, ("test_net.py",), Mode.CHECK, CODES,
        settings=Settings(min_torch=TorchVersion(2, 13), torchscript=DROP), project_files=lambda: ("test_net.py",), jobs=1,
    )  # fmt: skip
    (finding,) = (one for outcome in analyse(options).outcomes for one in outcome.left)
    assert finding.safety is Safety.SAFE
    assert finding.help == said


REDUCED = {
    "an expected error of scripting goes, and what only made it": (
        "    with pytest.raises(RuntimeError):\n        bad = Net()\n        torch.jit.script(bad)\n    assert Net()(1) == 2\n",
        None,
    ),
    "a call whose result nobody reads stays": (
        "    net = Net()\n    _ = net(1)\n    torch.jit.script(net)\n    assert net.training\n",
        "    net = Net()\n    _ = net(1)\n    assert net.training\n",
    ),
    "a check that reads like an earlier one goes": (
        "    net = Net()\n    assert net(torch.rand(2)).shape == (2,)\n    f = torch.jit.script(net)\n"
        "    assert f(torch.rand(2)).shape == (2,)\n",
        "    net = Net()\n    assert net(torch.rand(2)).shape == (2,)\n",
    ),
    "a check of a value that is made again goes": (
        "    net, x = Net(), torch.ones(2)\n    y = net(x)\n    assert set(y) == {2}\n    f = torch.jit.script(net)\n    y = f(x)\n"
        "    assert set(y) == {2}\n    y = net(2 * x)\n    assert set(y) == {3}\n",
        "    net, x = Net(), torch.ones(2)\n    y = net(x)\n    assert set(y) == {2}\n    y = net(2 * x)\n    assert set(y) == {3}\n",
    ),
    "a check of another value stays": (
        "    net, x = Net(), torch.rand(2)\n    f = torch.jit.script(net)\n    assert net(x).shape != (3,)\n    x = torch.rand(4)\n"
        "    assert f(x).shape != (3,)\n",
        "    net, x = Net(), torch.rand(2)\n    assert net(x).shape != (3,)\n    x = torch.rand(4)\n    assert net(x).shape != (3,)\n",
    ),
    "a comparison of what each branch scripts goes": (
        "    net = Net()\n    if wide:\n        f = torch.jit.script(net)\n    else:\n        f = torch.jit.trace(net, 1)\n"
        "    assert net(1) == 2\n    assert f(1) == net(1)\n",
        "    net = Net()\n    assert net(1) == 2\n",
    ),
    "a call that is said again goes": (
        "    net = Net()\n    export(net, wide)\n    # as scripted\n    net = torch.jit.script(net)\n    export(net, wide)\n",
        "    net = Net()\n    export(net, wide)\n",
    ),
    "a look for the file that only scripting wrote goes": (
        "    net = Net()\n    assert net(1) == 2\n    torch.jit.save(torch.jit.script(net), wide)\n    assert os.path.isfile(wide)\n",
        "    net = Net()\n    assert net(1) == 2\n",
    ),
    "a short comment about scripting alone goes": (
        "    net = Net()\n    # the scripted one\n    assert torch.jit.script(net)(1) == 2\n",
        "    net = Net()\n    assert net(1) == 2\n",
    ),
    "a comment that says more stays": (
        "    net = Net()\n    # scripted, and it adds one\n    assert torch.jit.script(net)(1) == 2\n",
        "    net = Net()\n    # scripted, and it adds one\n    assert net(1) == 2\n",
    ),
}


@pytest.mark.parametrize("case", REDUCED)
def test_what_would_say_nothing_goes(case: str, tmp_path: Path) -> None:
    old, new = REDUCED[case]
    module = "import os\n" if "os." in old else ""
    head = f"{module}import pytest\nfrom other import export\n\n\ndef test_net(wide):\n"
    changed, _ = migrated(tmp_path, {"test_net.py": body(head + old)}, unsafe=True)
    if new is None:
        assert "    assert Net()(1) == 2\n" in changed["test_net.py"] and "raises" not in changed["test_net.py"]
    else:
        assert changed["test_net.py"].endswith(f"def test_net(wide):\n{new}")


MARKED = {
    "nothing else is checked": ("    net = Net()\n    net(1)\n    torch.jit.script(net)\n", ""),
    "something else is checked": (
        "    net = Net()\n    torch.jit.script(net)\n    assert net(1) == 2\n",
        "    net = Net()\n    assert net(1) == 2\n",
    ),
}


@pytest.mark.parametrize("case", MARKED)
def test_a_test_that_is_marked_to_fail_may_fail_for_its_scripting(case: str, tmp_path: Path) -> None:
    test, kept = MARKED[case]
    head = "import pytest\n\n\n"
    marked = "@pytest.mark.xfail\ndef test_net():\n"
    _, left = migrated(tmp_path, {"test_net.py": body(head + marked + test)})
    assert {finding.safety for finding in left} == {Safety.UNSAFE}
    changed, _ = migrated(tmp_path, {"test_net.py": body(head + marked + test)}, unsafe=True)
    assert changed["test_net.py"].endswith(marked + kept) if kept else "def test_net" not in changed["test_net.py"]


@pytest.mark.parametrize("names", ['"wide, jit"', '("wide", "jit")'])
def test_a_column_that_says_whether_to_script_goes_and_rows_that_are_alike_then(names: str, tmp_path: Path) -> None:
    test = (
        f"import pytest\n\n\n@pytest.mark.parametrize({names}, [(1, True), (1, False), (2, False)])\n"
        "def test_net(wide, jit):\n    net = Net()\n    if jit:\n        net = torch.jit.script(net)\n    assert net(wide) == wide + 1\n"
    )
    changed, _ = migrated(tmp_path, {"test_net.py": body(test)})
    assert changed["test_net.py"].endswith(
        '@pytest.mark.parametrize("wide", [1, 2])\ndef test_net(wide):\n    net = Net()\n    assert net(wide) == wide + 1\n'
    )


TRACED = {
    "a graph module that only scripting read": (
        "    gm = GraphModule(net, Tracer().trace(net))\n    torch.jit.script(gm)\n",
        "    gm = GraphModule(net, Tracer().trace(net))\n",
    ),
    "a traced module inside of the call": (
        "    torch.jit.script(symbolic_trace(net))\n",
        "    symbolic_trace(net)\n",
    ),
}


@pytest.mark.parametrize("case", TRACED)
def test_a_trace_by_other_means_stays_a_check(case: str, tmp_path: Path) -> None:
    before, after = TRACED[case]
    head = f"from torch.fx import GraphModule, Tracer, symbolic_trace\n\n{NET}def test_fx_script():\n    net = Net()\n"
    changed, left = migrated(tmp_path, {"test_net.py": head + before})
    assert changed["test_net.py"] == head + after
    assert not left
    scope: dict[str, object] = {}
    exec(changed["test_net.py"] + "test_fx_script()\n", scope)


def test_checks_that_say_again_what_another_said_go(tmp_path: Path) -> None:
    before = (
        "def test_jit():\n    net, x = Net(), torch.zeros(2)\n    other = Net()\n    a = torch.jit.script(other)\n"
        "    assert_close(net(x), a(x), atol=1)\n    b = torch.jit.script(other)\n    assert_close(net(x), b(x), atol=1)\n"
        "    assert_close(net(x), b(x), atol=2)\n"
    )
    after = (
        "def test_jit():\n    net, x = Net(), torch.zeros(2)\n    other = Net()\n"
        "    assert_close(net(x), other(x), atol=1)\n    assert_close(net(x), other(x), atol=2)\n"
    )
    head = "from torch.testing import assert_close\n\n" + NET
    changed, _ = migrated(tmp_path, {"test_net.py": head + before})
    assert changed["test_net.py"] == head + after


def test_a_parameter_of_a_helper_that_chose_scripting_is_named(tmp_path: Path) -> None:
    helper = (
        "def check(net, x, scriptable=True):\n    if scriptable:\n        torch.jit.script(net)\n    assert net(x) == x + 1\n\n\n"
        "def test_net():\n    check(Net(), 1, scriptable=False)\n"
    )
    (tmp_path / "test_net.py").write_text(body(helper))
    options = RunOptions(
        tmp_path,
        ("test_net.py",),
        Mode.CHECK,
        CODES,
        settings=Settings(min_torch=TorchVersion(2, 13), torchscript=DROP),
    )
    (finding,) = [one for one in analyse(options).outcomes[0].left if one.code == "TL102"]
    assert "`scriptable` on line 9 has no effect any more" in (finding.help or "")


@pytest.mark.parametrize(("more", "told"), [("", True), ("        print(self.script_it)\n", False)])
def test_an_option_that_chose_scripting_is_named(more: str, told: bool, tmp_path: Path) -> None:
    loader = (
        "import torch\n\n\nclass Loader:\n    def __init__(self, script_it=True):\n        self.script_it = script_it\n\n"
        "    def load(self, net: torch.nn.Module):\n        if self.script_it:\n            net = torch.jit.script(net)\n"
        f"{more}        return net\n"
    )
    (tmp_path / "loader.py").write_text(loader)
    options = RunOptions(
        tmp_path, ("loader.py",), Mode.CHECK, CODES, settings=Settings(min_torch=TorchVersion(2, 13), torchscript=DROP)
    )
    (finding,) = [one for one in analyse(options).outcomes[0].left if one.code == "TL102"]
    assert ("`self.script_it` (line 6)" in (finding.help or "")) is told
    assert finding.fix is not None


def test_ways_to_run_a_test_that_are_alike_now_go_with_their_parameter(tmp_path: Path) -> None:
    test = (
        "import pytest\n\n\n@pytest.mark.parametrize('kind', ['eager', 'script', 'trace'])\ndef test_net(kind):\n    net = Net()\n"
        "    x = torch.ones(2)\n    if kind == 'script':\n        net = torch.jit.script(net)\n    elif kind == 'trace':\n"
        "        net = torch.jit.trace(net, x)\n    assert net(x).sum() == 4\n"
    )
    changed, _ = migrated(tmp_path, {"test_net.py": body(test)})
    assert changed["test_net.py"].endswith(
        "def test_net():\n    net = Net()\n    x = torch.ones(2)\n    assert net(x).sum() == 4\n"
    )


def test_a_shape_that_was_asked_for_before_is_not_asked_for_again(tmp_path: Path) -> None:
    test = (
        "def test_net():\n    net = Net()\n    y = net(torch.rand([2, 3]))\n    assert y.shape == (2, 3)\n"
        "    fast = torch.jit.trace(net, torch.rand([2, 3]))\n    z = fast(torch.rand([2, 3]))\n    assert z.shape == (2, 3)\n"
        "    w = fast(torch.rand([4, 3]))\n    assert w.shape == (4, 3)\n"
    )
    changed, _ = migrated(tmp_path, {"test_net.py": body(test)})
    assert changed["test_net.py"].endswith(
        "    assert y.shape == (2, 3)\n    w = net(torch.rand([4, 3]))\n    assert w.shape == (4, 3)\n"
    )


def test_blocks_with_labels_that_follow_each_other_go_together(tmp_path: Path) -> None:
    test = (
        "def check(net, x, trace=True, script=True):\n    y = net(x)\n    assert y.shape == x.shape\n\n    # trace it\n    if trace:\n"
        "        z = torch.jit.trace(net, x)(x)\n        assert z.shape == x.shape\n\n    # script it\n    if script:\n"
        "        z = torch.jit.script(net)(x)\n        assert z.shape == x.shape\n\n\ndef test_net():\n    check(Net(), torch.ones(2))\n"
    )
    changed, _ = migrated(tmp_path, {"test_net.py": body(test)})
    assert "    y = net(x)\n    assert y.shape == x.shape\n\n\ndef test_net" in changed["test_net.py"]


HELPER = (
    "def same(net, x):\n    scripted = torch.jit.script(net)\n    return torch.equal(scripted(x), net(x))\n\n\n"
    "def test_net():\n    assert same(Net(), torch.ones(2))\n"
)


def test_a_helper_that_would_compare_a_value_with_itself_goes_with_its_calls(tmp_path: Path) -> None:
    more = "\n\ndef test_plain():\n    assert Net()(1) == 2\n"
    changed, _ = migrated(tmp_path, {"test_net.py": body(HELPER + more)}, unsafe=True)
    assert "same" not in changed["test_net.py"] and changed["test_net.py"].endswith(more)


WRAPPED = """\
def test_jit():
    @torch.jit.script
    def op_script(x, k):
        return torch.add(x, k)

    k = torch.tensor(0.04)
    x = torch.rand(2)
    actual = op_script({given})
    expected = torch.add(x, k)
    torch.testing.assert_close(actual, expected)
"""


def test_a_function_that_only_hands_on_says_what_it_calls(tmp_path: Path) -> None:
    changed, _ = migrated(tmp_path, {"test_net.py": body(WRAPPED.format(given="x, k"))}, unsafe=True)
    assert "test_jit" not in changed["test_net.py"]


def test_a_function_that_hands_on_something_else_is_compared(tmp_path: Path) -> None:
    changed, _ = migrated(tmp_path, {"test_net.py": body(WRAPPED.format(given="k, x"))}, unsafe=True)
    assert "assert_close(actual, expected)" in changed["test_net.py"] and "torch.jit" not in changed["test_net.py"]
