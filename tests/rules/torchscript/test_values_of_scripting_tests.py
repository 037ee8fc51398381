"""Which value each name has in a test when the scripted ones are the plain ones: bound again, unpacked, taken away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import indent

import pytest
from dropped_scripting import NET, body, migrated

LATER = {
    "loaded from what goes": (
        "f = torch.jit.script(double)\ntorch.jit.save(f, 'f.pt')\ng = torch.jit.load('f.pt')\nassert g(x) == 2\n",
        "assert double(x) == 2\n",
    ),
    "bound again from a reloaded one": (
        "f = torch.jit.script(double)\nf = reload(f)\nf(x)\nf = torch.jit.script(triple)\nassert f(x) == 3\n",
        "double(x)\nassert triple(x) == 3\n",
    ),
    "reloaded twice": (
        "f = torch.jit.script(double)\nf = reload(f)\nf = reload(f)\nassert f(x) == 2\n",
        "assert double(x) == 2\n",
    ),
    "another name for one that is bound again": (
        "f = torch.jit.script(double)\ng = reload(f)\nassert g(x) == 2\nf = torch.jit.script(triple)\nassert f(x) == 3\n",
        "assert double(x) == 2\nassert triple(x) == 3\n",
    ),
    "reloaded on one way only": (
        "f = torch.jit.script(double)\nif x:\n    f = reload(f)\nassert f(x) == 2\n",
        "f = double\nassert f(x) == 2\n",
    ),
    "what it was made from is bound again in between": (
        "g = double\nf = torch.jit.script(g)\nf = reload(f)\ng = triple\nassert f(x) == 2 and g(x) == 3\n",
        "g = double\nf = g\ng = triple\nassert f(x) == 2 and g(x) == 3\n",
    ),
}


@pytest.mark.parametrize("case", LATER)
def test_every_use_of_a_name_gets_what_it_was_bound_to_before_it(case: str, tmp_path: Path) -> None:
    head = (
        "import torch\n\n\ndef double(x: int):\n    return 2 * x\n\n\ndef triple(x: int):\n    return 3 * x\n\n\n"
        "def reload(module):\n    torch.jit.save(module, 'm.pt')\n    return torch.jit.load('m.pt')\n\n\n"
    )
    plain_head = head[: head.index("def reload")].removeprefix("import torch\n\n\n")
    old, new = (f"def test_values(x=1):\n{indent(text, '    ')}" for text in LATER[case])
    changed, left = migrated(tmp_path, {"test_net.py": head + old})
    assert changed["test_net.py"] == plain_head + new
    assert not left
    names: dict[str, Callable[[], None]] = {}
    exec(changed["test_net.py"], names)
    names["test_values"]()


def test_a_name_that_is_deleted_later_stays(tmp_path: Path) -> None:
    test = "def test_net():\n    net = Net()\n    f = torch.jit.script(net)\n    assert f(1) == 2\n    del f\n"
    changed, _ = migrated(tmp_path, {"test_net.py": body(test)})
    assert changed["test_net.py"] == body(test.replace("torch.jit.script(net)", "net"))


def test_a_name_whose_last_value_goes_while_something_still_takes_it_away_is_left_to_the_user(tmp_path: Path) -> None:
    test = (
        "def test_net():\n    net = Net()\n    y = torch.jit.script(net)(1)\n    assert y == net(1)\n    del y\n"
        "    assert net(2) == 3\n"
    )
    changed, left = migrated(tmp_path, {"test_net.py": body(test)})
    assert not changed
    assert left


def test_a_value_that_goes_is_not_replaced_by_an_earlier_one_of_the_same_name(tmp_path: Path) -> None:
    test = (
        "def test_net():\n    net = Net()\n    assert net(1) == 2\n    net = torch.jit.script(Net(3))\n"
        "    torch.jit.save(net, 'net.pt')\n    loaded = torch.jit.load('net.pt')\n    assert loaded(1) == 4\n"
    )
    changed, left = migrated(tmp_path, {"test_net.py": body(test)})
    assert changed["test_net.py"].endswith(
        "    net = Net()\n    assert net(1) == 2\n    net = Net(3)\n    assert net(1) == 4\n"
    )
    assert not left


def test_a_value_that_is_unpacked_in_a_branch_is_compared_with_itself_no_more(tmp_path: Path) -> None:
    head = "import torch\n\n\ndef fn(x: int):\n    return x, x\n\n\n"
    plain = "def test_fn():\n    out1 = fn(1)\n"
    unpacked = "    if isinstance(out1, tuple):\n        out1, arg1 = out1\n{}        assert arg1 == 1\n{}    assert out1 == 1\n{}"
    scripted = "    jit = torch.jit.script(fn)\n    out2 = jit(1)\n"
    parts = "        out2, arg2 = out2\n", "        assert arg1 == arg2\n", "    assert out1 == out2\n"
    changed, _ = migrated(tmp_path, {"test_net.py": head + plain + scripted + unpacked.format(*parts)})
    new = changed["test_net.py"]
    assert new == (head + plain + unpacked.format("", "", "")).removeprefix("import torch\n\n\n")
    scope: dict[str, object] = {}
    exec(new + "test_fn()\n", scope)


def test_a_value_of_another_branch_is_no_copy(tmp_path: Path) -> None:
    head = "import torch\n\n\ndef fn(x: int):\n    return x\n\n\n"
    test = (
        "def test_fn(wide):\n    out1 = fn(1)\n    out2 = torch.jit.script(fn)(1)\n    if wide:\n        out1 = fn(2)\n"
        "    if not wide:\n        out2 = fn(2)\n    assert out1 != out2\n"
    )
    changed, _ = migrated(tmp_path, {"test_net.py": head + test})
    assert "assert out1 != out2" in changed["test_net.py"]


def test_values_that_are_unpacked_go_with_the_comparison_that_read_them(tmp_path: Path) -> None:
    test = "def test_net():\n    net = pair\n    a, (b, c) = net(1)\n    assert a == 1\n"
    scripted = "    d, (e, f) = torch.jit.script(net)(1)\n    assert a == d and b == e\n    assert c == f\n"
    head = "import torch\n\n\ndef pair(x: int):\n    return x, (x, x)\n\n\n"
    changed, _ = migrated(tmp_path, {"test_net.py": head + test + scripted})
    assert changed["test_net.py"] == (head + test).removeprefix("import torch\n\n\n")


def test_a_module_that_is_made_in_the_same_words_is_the_same(tmp_path: Path) -> None:
    test = (
        "def test_jit():\n    x = torch.zeros(2)\n    net = Net().eval()\n    scripted = torch.jit.script(Net().eval())\n"
        "    assert torch.equal(scripted(x), net(x))\n\n\ndef test_net():\n    assert Net().eval()(1) == 2\n"
    )
    changed, _ = migrated(tmp_path, {"test_net.py": body(test)})
    assert changed["test_net.py"] == NET + "def test_net():\n    assert Net().eval()(1) == 2\n"


@pytest.mark.parametrize("check", ["torch.testing.assert_close(one, other)", "assert abs(one - other).max() < 1e-3"])
def test_values_that_are_made_in_the_same_words_from_now_on_are_told(check: str, tmp_path: Path) -> None:
    test = (
        "def test_net(read):\n    net = Net()\n    x = read()\n    y = [item for item in net(x)]\n"
        "    fast = torch.jit.script(net)\n    x = read()\n    z = [item for item in fast(x)]\n"
        f"    for one, other in zip(y, z):\n        {check}\n"
    )
    changed, left = migrated(tmp_path, {"test_net.py": body(test)})
    assert not changed
    assert "line 17 compares two values that are made in the same words" in (left[0].help or "")


def test_a_check_behind_a_change_by_the_scripted_value_stays(tmp_path: Path) -> None:
    test = (
        "def test_steps():\n    policy = Policy()\n    scripted = torch.jit.script(policy)\n"
        "    assert not scripted.is_done()\n    scripted.forward(1)\n    assert scripted.is_done()\n"
    )
    changed, _ = migrated(tmp_path, {"test_net.py": "import torch\nfrom policies import Policy\n\n\n" + test})
    plain = test.replace("    scripted = torch.jit.script(policy)\n", "").replace("scripted", "policy")
    assert changed["test_net.py"] == "from policies import Policy\n\n\n" + plain


def test_a_plain_value_that_is_looked_at_behind_a_change_of_the_scripted_one_is_for_review(tmp_path: Path) -> None:
    test = "def test_steps():\n    net = Net()\n    scripted = torch.jit.script(net)\n    scripted.step_on()\n    assert net.steps == 0\n"
    changed, left = migrated(tmp_path, {"test_net.py": body(test)})
    assert not changed
    assert any("is the same object from now on" in (finding.help or "") for finding in left)
