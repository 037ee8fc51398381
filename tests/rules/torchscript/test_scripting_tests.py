"""What a test of scripting becomes where nobody needs TorchScript any more, and what it must not become."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import indent

import pytest

from torchlift.finding import Finding, Safety
from torchlift.migrate.result import Mode
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Settings
from torchlift.torchscript_intent import DROP, TorchScriptIntent
from torchlift.versions import TorchVersion

NET = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n\n\n"
CODES = frozenset(code for code in all_rules() if code.startswith("TL1"))


def migrated(
    folder: Path, files: dict[str, str], *, unsafe: bool = False, intent: TorchScriptIntent = DROP
) -> tuple[dict[str, str], list[Finding]]:
    """New texts of the files that change, and what is left."""
    for name, text in files.items():
        (folder / name).write_text(text)
    names = tuple(sorted(files))
    settings = Settings(min_torch=TorchVersion(2, 13), torchscript=intent)
    options = RunOptions(
        folder, names, Mode.DIFF, CODES, unsafe_fixes=unsafe, settings=settings, project_files=lambda: names, jobs=1
    )
    result = analyse(options)
    assert not result.failures
    changed = {one.path: one.new_text for one in result.outcomes if one.new_text is not None}
    return changed, [finding for one in result.outcomes for finding in one.left]


def body(text: str) -> str:
    """A file with `Net` and the test `text`."""
    return NET + text


KEPT = {
    "a check of values beside the comparison": (
        "def test_jit():\n    net, x = Net(), torch.zeros(2)\n    y = torch.jit.script(net)(x)\n"
        "    assert torch.equal(y, net(x))\n    assert y.sum() == 2\n"
    ),
    "a comparison with another module": (
        "def test_jit():\n    net, other, x = Net(), Net(), torch.zeros(2)\n"
        "    assert torch.equal(torch.jit.script(net)(x), other(x))\n"
    ),
    "a comparison with other inputs": (
        "def test_jit():\n    net = Net()\n"
        "    assert torch.equal(torch.jit.script(net)(torch.zeros(2)), net(torch.ones(2)) - 1)\n"
    ),
    "random inputs drawn twice": (
        "def test_jit():\n    net = Net()\n"
        "    assert not torch.equal(torch.jit.script(net)(torch.rand(2)), net(torch.rand(2)))\n"
    ),
    "a comparison across a change of the module": (
        "def test_jit():\n    net, x = Net(), torch.zeros(2)\n    before = net(x)\n    net.reset()\n"
        "    assert torch.equal(torch.jit.script(net)(x), before)\n"
    ),
    "an error that the plain call raises, too": (
        "import pytest\n\n\ndef test_jit():\n    net = Net()\n    torch.jit.script(net)\n"
        "    with pytest.raises(TypeError):\n        net(None)\n"
    ),
}


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


def test_what_would_be_left_word_for_word_like_another_test_goes(tmp_path: Path) -> None:
    plain = "def test_net(net, benchmark):\n    x = torch.zeros(2)\n    benchmark(net.forward, x)\n"
    scripted = (
        '@pytest.mark.benchmark(group="scripted")\ndef test_scripted_net(net, benchmark):\n    x = torch.zeros(2)\n'
        "    scripted = torch.jit.script(net)\n    benchmark(scripted.forward, x)\n"
    )
    head = "import pytest\nimport torch\n\n\n"
    changed, _ = migrated(tmp_path, {"test_net.py": f"{head}{plain}\n\n{scripted}"})
    assert changed["test_net.py"] == head.replace("import pytest\n", "") + plain


def test_a_test_that_reads_the_file_that_another_part_of_it_wrote_is_left_to_the_user(tmp_path: Path) -> None:
    test = (
        "def test_teacher(tmp_path, build):\n    name = str(tmp_path / 'a.pt')\n    torch.jit.save(torch.jit.script(Net()), name)\n"
        "    assert build(name)(1) == 2\n"
    )
    changed, left = migrated(tmp_path, {"test_net.py": body(test)}, unsafe=True)
    assert not changed
    assert any("is looked for on line 12" in (finding.help or "") for finding in left)


def test_a_file_that_is_loaded_again_is_no_longer_looked_for(tmp_path: Path) -> None:
    test = (
        "def test_saved(tmp_path):\n    name = str(tmp_path / 'a.pt')\n    torch.jit.save(torch.jit.script(Net()), name)\n"
        "    loaded = torch.jit.load(name)\n    assert loaded(1) == 2\n"
    )
    changed, _ = migrated(tmp_path, {"test_net.py": body(test)})
    assert "jit" not in changed["test_net.py"] and "(1) == 2" in changed["test_net.py"]


def test_a_temporary_file_is_removed_as_before(tmp_path: Path) -> None:
    test = (
        "def test_saved():\n    file = tempfile.NamedTemporaryFile(delete=False)\n    file.close()\n"
        "    Net().to_torchscript(file_path=file.name, method='trace')\n    loaded = torch.jit.load(file.name)\n"
        "    os.unlink(file.name)\n    assert loaded(1) == 2\n"
    )
    changed, _ = migrated(tmp_path, {"test_net.py": "import os\nimport tempfile\n\n" + body(test)}, unsafe=True)
    assert "jit" not in changed["test_net.py"] and "os.unlink(file.name)" in changed["test_net.py"]


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


@pytest.mark.parametrize("why", KEPT)
def test_a_test_that_checks_something_else_stays(why: str, tmp_path: Path) -> None:
    changed, _ = migrated(tmp_path, {"test_net.py": body(KEPT[why])}, unsafe=True)
    text = changed["test_net.py"]
    assert "torch.jit" not in text
    assert "def test_jit" in text
    assert KEPT[why].count("assert") <= text.count("assert") + 1


def test_a_helper_that_others_use_for_more_stays(tmp_path: Path) -> None:
    helper = "def make():\n    return Net()\n\n\n"
    used = "def test_values():\n    assert make()(torch.zeros(2)).sum() == 2\n\n\n"
    scripted = "def test_jit():\n    torch.jit.script(make())\n"
    changed, _ = migrated(tmp_path, {"test_net.py": body(helper + used + scripted)}, unsafe=True)
    assert changed["test_net.py"] == body(helper + used).rstrip() + "\n"


def test_a_fixture_of_two_tests_stays_with_the_other(tmp_path: Path) -> None:
    fixture = "import pytest\n\n\n@pytest.fixture\ndef net():\n    return Net()\n\n\n"
    used = "def test_values(net):\n    assert net(torch.zeros(2)).sum() == 2\n"
    scripted = "def test_jit(net):\n    torch.jit.script(net)\n\n\n"
    changed, _ = migrated(tmp_path, {"test_net.py": body(fixture + scripted + used)}, unsafe=True)
    assert changed["test_net.py"] == body(fixture + used)


def test_a_helper_in_another_file_goes_with_its_calls(tmp_path: Path) -> None:
    files = {
        "test_helpers.py": "import torch\n\n\ndef check_script(module, x):\n"
        "    torch.testing.assert_close(torch.jit.script(module)(x), module(x))\n\n\ndef other():\n    return 1\n",
        "test_net.py": "from test_helpers import check_script, other\nfrom nets import Net\nimport torch\n\n\n"
        "def test_net():\n    net = Net()\n    assert net(torch.zeros(2)).sum() == other()\n    check_script(net, torch.zeros(2))\n",
    }
    changed, left = migrated(tmp_path, files)
    assert "check_script" not in changed["test_net.py"] + changed["test_helpers.py"]
    assert "sum() == other()" in changed["test_net.py"]
    assert not left


def test_a_class_that_runs_the_tests_of_its_base_scripted_goes(tmp_path: Path) -> None:
    base = (
        "class TestNet(unittest.TestCase):\n    def setUp(self):\n        self.net = Net()\n\n"
        "    def test_net(self):\n        self.assertEqual(self.net(1), 2)\n"
    )
    scripted = "class TestJit(TestNet):\n    def setUp(self):\n        super().setUp()\n        self.net = torch.jit.script(self.net)\n"
    head = "import unittest\n\n"
    changed, _ = migrated(tmp_path, {"test_net.py": head + body(f"{base}\n\n{scripted}")})
    assert changed["test_net.py"] == head + body(base)


def test_a_test_that_something_else_calls_is_not_deleted(tmp_path: Path) -> None:
    text = body("def test_jit():\n    torch.jit.script(Net())\n\n\nTESTS = [test_jit]\n")
    changed, left = migrated(tmp_path, {"test_net.py": text}, unsafe=True)
    assert not changed
    assert "is used on line" in (left[0].help or "")


def test_a_test_that_a_main_function_runs_goes_with_the_call(tmp_path: Path) -> None:
    text = body(
        "def test_jit():\n    torch.jit.script(Net())\n\n\ndef test_net():\n    assert Net()(1) == 2\n\n\n"
        'if __name__ == "__main__":\n    test_jit()\n    test_net()\n'
    )
    changed, _ = migrated(tmp_path, {"test_net.py": text})
    assert changed["test_net.py"].endswith('== 2\n\n\nif __name__ == "__main__":\n    test_net()\n')


@pytest.mark.parametrize(
    "other",
    [
        "def test_other():\n    with pytest.raises(TypeError):\n        Net()(None)\n",
        "def test_other():\n    assert Net() is not None\n",
        "def test_other():\n    assert torch.zeros(2).sum() == 0\n",
    ],
)
def test_a_test_that_does_not_run_the_module_is_no_twin(other: str, tmp_path: Path) -> None:
    scripted = "def test_jit():\n    net, x = Net(), torch.zeros(2)\n    assert torch.equal(torch.jit.script(net)(x), net(x))\n"
    _, left = migrated(tmp_path, {"test_net.py": "import pytest\n" + body(f"{other}\n\n{scripted}")})
    assert [finding.safety for finding in left] == [Safety.UNSAFE]


def test_code_that_asks_whether_it_is_scripted_is_for_review(tmp_path: Path) -> None:
    text = NET.replace("return x + 1", "return x if torch.jit.is_scripting() else x + 1") + (
        "def test_net():\n    assert torch.jit.script(Net())(torch.zeros(2)).sum() == 0\n"
    )
    changed, left = migrated(tmp_path, {"test_net.py": text})
    assert not changed
    assert any("asks whether it is scripted" in (finding.help or "") for finding in left)


def test_a_benchmark_is_no_test(tmp_path: Path) -> None:
    text = "import time\n" + body(
        "def test_speed():\n    net = torch.jit.script(Net())\n    start = time.time()\n    net(torch.zeros(2))\n"
        "    print(time.time() - start)\n"
    )
    changed, _ = migrated(tmp_path, {"test_speed.py": text}, unsafe=True)
    assert "def test_speed" in changed["test_speed.py"]


def test_without_an_intent_nothing_changes(tmp_path: Path) -> None:
    text = body("def test_jit():\n    torch.jit.script(Net())\n")
    changed, left = migrated(tmp_path, {"test_net.py": text}, unsafe=True, intent=TorchScriptIntent())
    assert not changed
    assert left


BASE = (
    "import torch\n\n\nclass Base:\n    def test_net(self):\n        assert torch.ones(1)\n\n"
    "    def test_script(self):\n        if not torch.cuda.is_available():\n            self.skipTest('no GPU')\n"
    "        net = torch.nn.ReLU()\n        if net.training:\n            with self.assertRaises(RuntimeError):\n"
    "                torch.jit.script(net)\n            return\n        scripted = torch.jit.script(net)\n"
    "        assert torch.equal(scripted(torch.ones(1)), net(torch.ones(1)))\n"
)
AGAIN = (
    "import pytest\n\nfrom test_base import Base\n\n\nclass TestOther({}):\n    def test_wide(self):\n        assert 1\n\n"
    "    def test_script(self):\n        {}\n"
)


def test_a_test_that_only_skips_or_scripts_goes_and_so_do_tests_in_its_place_that_only_skip(tmp_path: Path) -> None:
    changed, _ = migrated(
        tmp_path, {"test_base.py": BASE, "test_other.py": AGAIN.format("Base", "pytest.skip('wide')")}, unsafe=True
    )
    assert "test_script" not in changed["test_base.py"]
    assert "test_script" not in changed["test_other.py"]
    assert "def test_wide(self):\n        assert 1\n" in changed["test_other.py"]


@pytest.mark.parametrize(
    ("base", "body"), [("Base", "assert super().test_net() is None"), ("object", "pytest.skip('wide')")]
)
def test_a_test_of_the_same_name_that_checks_something_or_is_of_another_class_stays(
    base: str, body: str, tmp_path: Path
) -> None:
    changed, _ = migrated(tmp_path, {"test_base.py": BASE, "test_other.py": AGAIN.format(base, body)}, unsafe=True)
    assert "test_script" not in changed["test_base.py"]
    assert "test_other.py" not in changed


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


LEFT = {
    "an operation of a graph": (
        "def test_net():\n    net = Net()\n    f = torch.jit.script(net)\n    assert 'aten::add' in count(f)\n",
        "looks for `aten::add` in a graph",
    ),
    "a file that a helper wrote": (
        "def save(net, path):\n    torch.jit.save(net, path + '.ts')\n\n\n"
        "def test_net(tmp_path):\n    save(torch.jit.script(Net()), f'{tmp_path}/a')\n    assert (tmp_path / 'a.ts').exists()\n",
        "is looked for on line",
    ),
    "a graph that is looked at": (
        "def test_net():\n    net = torch.jit.script(Net())\n    last = list(net.graph.nodes())[-1]\n    assert last.kind() == 'x'\n",
        "line 14 looks at `.graph`",
    ),
    "what takes TorchScript alone": (
        "from openmmtorch import TorchForce\n\n\ndef test_net():\n    net = torch.jit.script(Net())\n"
        "    assert TorchForce(net).energy() == 0\n",
        "openmm-torch deprecates it for `PythonTorchForce`",
    ),
    "an error that only TorchScript raises": (
        "import pytest\n\n\ndef test_net():\n    net = torch.jit.script(Net())\n"
        "    with pytest.raises(torch.jit.Error):\n        assert net(None)\n",
        "expects `torch.jit.Error`, which plain code never raises",
    ),
    "an input of the trace that the function reads from around it": (
        "def test_net():\n    x = torch.ones(2)\n\n    def f(given):\n        return x + given\n\n"
        "    g = torch.jit.trace(f, (x,))\n    assert g(torch.zeros(2)).sum() == 0\n",
        "which is an input of the trace",
    ),
}


@pytest.mark.parametrize("case", LEFT)
def test_what_needs_torchscript_itself_is_left_to_the_user(case: str, tmp_path: Path) -> None:
    test, said = LEFT[case]
    changed, left = migrated(tmp_path, {"test_net.py": body("from other import count\n\n\n" + test)}, unsafe=True)
    assert "assert" in changed.get("test_net.py", body(test)) and "torch.jit" in changed.get("test_net.py", body(test))
    assert any(said in (finding.help or "") for finding in left)


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


WIDE = (
    "import torch\n\n\nclass Wide(torch.nn.Module):\n    def __init__(self, width=1, twice=False):\n        super().__init__()\n"
    "        self.width = width * (1 + twice)\n\n    def forward(self, x, y=0):\n        return x + self.width + y\n\n\n"
)
LESS = {
    "a loop over configurations": (
        "def test_wide():\n    assert Wide()(1) == 2\n",
        "    for twice in [True, False]:\n        net = Wide(twice=twice)\n        assert torch.jit.script(net)(1) == net(1)\n",
    ),
    "other arguments": ("def test_wide():\n    assert Wide(2)(1) == 3\n", "    torch.jit.script(Wide(3))\n"),
    "arguments by a name that means something else": (
        "def test_wide():\n    width = 2\n    assert Wide(width)(1) == 3\n",
        "    width = 3\n    torch.jit.script(Wide(width))\n",
    ),
    "arguments that are changed in between": (
        "def test_wide():\n    args = {'width': 2}\n    assert Wide(**args)(1) == 3\n",
        "    args = {'width': 2}\n    args['twice'] = True\n    torch.jit.script(Wide(**args))\n",
    ),
    "another mode": (
        "def test_wide():\n    assert Wide()(1) == 2\n",
        "    net = Wide()\n    net.eval()\n    torch.jit.script(net)\n",
    ),
    "one argument more in the call": (
        "def test_wide():\n    assert Wide()(1) == 2\n",
        "    net = Wide()\n    scripted = torch.jit.script(net)\n    assert scripted(1, 1) == net(1, 1)\n",
    ),
    "a class of the test's own": (
        "def test_wide():\n    class Own(torch.nn.Module):\n        pass\n\n    assert Own() is not None\n",
        "    class Own(torch.nn.Module):\n        def forward(self, x: int):\n            return x\n\n    torch.jit.script(Own())\n",
    ),
}


@pytest.mark.parametrize("case", LESS)
def test_a_test_that_covers_less_is_no_twin(case: str, tmp_path: Path) -> None:
    other, scripted = LESS[case]
    _, left = migrated(tmp_path, {"test_net.py": f"{WIDE}{other}\n\ndef test_jit():\n{scripted}"})
    assert {finding.safety for finding in left} == {Safety.UNSAFE}
    told = "`test_wide` on line 13 makes or calls it in other ways" in (left[0].help or "")
    assert told == (case != "a class of the test's own")


SAME_CONFIGURATION = {
    "arguments in another order": (
        "def test_wide():\n    assert Wide(width=2, twice=True)(1) == 5\n",
        "    torch.jit.script(Wide(twice=True, width=2))\n",
    ),
    "the same loop": (
        "def test_wide():\n    for twice in [True, False]:\n        assert Wide(twice=twice)(1) == 2 + twice\n",
        "    for twice in [True, False]:\n        torch.jit.script(Wide(twice=twice))\n",
    ),
}


@pytest.mark.parametrize("case", SAME_CONFIGURATION)
def test_a_test_of_the_same_configurations_is_a_twin(case: str, tmp_path: Path) -> None:
    other, scripted = SAME_CONFIGURATION[case]
    changed, left = migrated(tmp_path, {"test_net.py": f"{WIDE}{other}\n\ndef test_jit():\n{scripted}"})
    assert changed["test_net.py"] == WIDE + other
    assert not left


def test_a_test_of_the_same_fixture_is_a_twin(tmp_path: Path) -> None:
    plain = "def test_net(net, x):\n    assert_expected(net(x), 2)\n"
    scripted = "\n\ndef test_jit(net, x):\n    assert_expected(torch.jit.script(net)(x), net(x), rtol=0)\n"
    head = "import torch\nfrom helpers import assert_expected\n\n\n"
    changed, _ = migrated(tmp_path, {"test_net.py": head + plain + scripted})
    assert changed["test_net.py"] == head.replace("import torch\n", "") + plain


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


def test_a_test_that_compiles_what_it_scripted_is_left_to_the_user(tmp_path: Path) -> None:
    test = (
        "def test_compiled():\n    net, x = Net(), torch.zeros(2)\n    scripted = torch.jit.script(net)\n"
        "    assert torch.equal(torch.compile(scripted)(x), x + 1)\n"
    )
    changed, left = migrated(tmp_path, {"test_net.py": body(test)}, unsafe=True)
    assert not changed
    assert "`torch.compile` is called on line 12" in (left[0].help or "")


HELPER = (
    "def same(net, x):\n    scripted = torch.jit.script(net)\n    return torch.equal(scripted(x), net(x))\n\n\n"
    "def test_net():\n    assert same(Net(), torch.ones(2))\n"
)


def test_a_helper_that_would_compare_a_value_with_itself_goes_with_its_calls(tmp_path: Path) -> None:
    more = "\n\ndef test_plain():\n    assert Net()(1) == 2\n"
    changed, _ = migrated(tmp_path, {"test_net.py": body(HELPER + more)}, unsafe=True)
    assert "same" not in changed["test_net.py"] and changed["test_net.py"].endswith(more)


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


def test_a_scripted_branch_that_an_onnx_export_may_trace_is_for_review(tmp_path: Path) -> None:
    test = (
        "def test_net(export):\n    @torch.jit.script\n    def pick(x):\n        if x.shape[0] == 3:\n            return x\n"
        "        return -x\n\n    assert export(lambda x: pick(x))\n"
    )
    other = "import torch\n\n\ndef write(net, x):\n    torch.onnx.export(net, x, 'net.onnx', dynamo=False)\n"
    changed, left = migrated(tmp_path, {"test_net.py": body(test), "net.py": other})
    assert not changed
    assert any("a trace keeps the branch on line 12" in (finding.help or "") for finding in left)


def test_a_program_that_is_called_like_a_test_is_none(tmp_path: Path) -> None:
    program = (
        "import sys\n\nimport torch\n\n\ndef test_model(path, texts):\n    model = torch.jit.load(path)\n    for text in texts:\n"
        "        print(model(text))\n\n\nif __name__ == '__main__':\n    test_model(sys.argv[1], sys.argv[2:])\n"
    )
    changed, left = migrated(tmp_path, {"test_model.py": program}, unsafe=True)
    assert not changed
    assert left


def test_a_parametrized_test_beside_the_code_is_one(tmp_path: Path) -> None:
    test = (
        "import pytest\n\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_net(n):\n    net = Net()\n"
        "    assert net(n) == n + 1\n    assert torch.jit.script(net)(n) == net(n)\n"
    )
    changed, _ = migrated(tmp_path, {"CheckNet.py": body(test)}, unsafe=True)
    assert changed["CheckNet.py"].endswith("    net = Net()\n    assert net(n) == n + 1\n")


DETECTOR = (
    "import torch\n\n\nclass Detector(torch.nn.Module):\n    def forward(self, x):\n        if torch.jit.is_scripting():\n"
    "            return x, x + 1\n        return x + 1\n\n\ndef make(name):\n    return {'detector': Detector}[name]()\n"
)


@pytest.mark.parametrize("made", ["Detector()", "make('detector')"])
def test_what_returns_something_else_when_it_is_scripted_is_for_review(made: str, tmp_path: Path) -> None:
    test = (
        "import torch\nfrom det import Detector, make\n\n\ndef test_det(x):\n"
        f"    net = {made}\n    fast = torch.jit.script(net)\n    assert torch.equal(net(x), fast(x)[1])\n"
    )
    changed, left = migrated(tmp_path, {"det.py": DETECTOR, "test_det.py": test})
    assert "test_det.py" not in changed
    assert any("det.py:6 returns something else when it is scripted" in (finding.help or "") for finding in left)


def test_both_ways_that_return_the_same_do_not_hold_a_test_back(tmp_path: Path) -> None:
    code = DETECTOR.replace("return x, x + 1", "return x + 1")
    test = (
        "import torch\nfrom det import Detector\n\n\ndef test_det(x):\n    net = Detector()\n    fast = torch.jit.script(net)\n"
        "    assert fast(x).sum() == 2\n"
    )
    changed, _ = migrated(tmp_path, {"det.py": code, "test_det.py": test})
    assert "assert net(x).sum() == 2" in changed["test_det.py"]


def test_a_method_that_others_call_by_its_name_is_not_deleted(tmp_path: Path) -> None:
    test = body(
        "class Outer(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.net = Net()\n\n"
        "    def to_traceable(self):\n        self.net = torch.jit.script(self.net)\n\n\n"
        "def test_outer(convert):\n    assert convert(Outer())(torch.ones(2)).sum() == 4\n"
    )
    convert = "def convert(net):\n    if hasattr(net, 'to_traceable'):\n        net.to_traceable()\n    return net\n"
    changed, _ = migrated(tmp_path, {"test_net.py": test, "convert.py": convert}, unsafe=True)
    assert "def to_traceable" in changed.get("test_net.py", test)


@pytest.mark.parametrize(
    "check",
    ["assert not torch.equal(one, other)", "assert one != other", "self.assertNotEqual(one, other)"],
)
def test_a_check_that_a_trace_differs_from_the_plain_code_holds_it_back(check: str, tmp_path: Path) -> None:
    test = (
        "import unittest\n\n\nclass TestNet(unittest.TestCase):\n    def test_net(self):\n        net = Net()\n"
        "        x = torch.ones(2)\n        fast = torch.jit.trace(net, x)\n        y = torch.zeros(3)\n"
        f"        one = net(y)\n        other = fast(y)\n        {check}\n        self.assertEqual(other.sum(), 3)\n"
    )
    changed, left = migrated(tmp_path, {"test_net.py": body(test)}, unsafe=True)
    assert not changed
    assert any("expects another value of the plain code" in (finding.help or "") for finding in left)


@pytest.mark.parametrize(
    "ways",
    [
        "with tempfile.NamedTemporaryFile() as f:\n        torch.jit.script(net).save(f.name)\n        fast = torch.jit.load(f.name)",
        "with tempfile.NamedTemporaryFile() as f:\n        made = torch.jit.script(net)\n        torch.jit.save(made, f.name)\n"
        "        fast = torch.jit.load(f.name)",
        "torch.jit.save(torch.jit.script(net), 'net.pt')\n    fast = torch.jit.load('net.pt')",
    ],
)
def test_what_is_loaded_from_a_file_is_the_module_that_was_saved_there(ways: str, tmp_path: Path) -> None:
    test = f"import tempfile\n\n\ndef test_net():\n    net = Net()\n    {ways}\n    assert fast(torch.ones(2)).sum() == 4\n"
    changed, left = migrated(tmp_path, {"test_net.py": body(test)})
    assert changed["test_net.py"].endswith(
        "def test_net():\n    net = Net()\n    assert net(torch.ones(2)).sum() == 4\n"
    )
    assert not left


def test_a_temporary_folder_that_nothing_is_put_into_goes(tmp_path: Path) -> None:
    test = (
        "import os\nimport tempfile\n\n\ndef test_net():\n    net = Net()\n    with tempfile.TemporaryDirectory() as folder:\n"
        "        torch.jit.script(net).save(os.path.join(folder, 'net.pt'))\n"
        "        y = torch.jit.load(os.path.join(folder, 'net.pt'))(torch.ones(2))\n    assert y.sum() == 4\n"
    )
    changed, _ = migrated(tmp_path, {"test_net.py": body(test)}, unsafe=True)
    assert changed["test_net.py"].endswith(
        "def test_net():\n    net = Net()\n    y = net(torch.ones(2))\n    assert y.sum() == 4\n"
    )


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


def test_a_class_keeps_its_base_while_a_branch_of_its_body_may_compile_a_method(tmp_path: Path) -> None:
    code = (
        "import os\n\nimport torch\n\nif os.environ.get('WIDE'):\n    method = torch.jit.script_method\nelse:\n    method = print\n\n\n"
        "class Net(torch.jit.ScriptModule):\n    if os.environ.get('CUDA'):\n\n        @method\n        def forward(self, x):\n"
        "            return x\n"
    )
    changed, left = migrated(tmp_path, {"net.py": code}, unsafe=True)
    assert "class Net(torch.jit.ScriptModule):" in changed.get("net.py", code)
    assert any("`method` on line 14 may be `torch.jit.script_method`" in (finding.help or "") for finding in left)


def test_a_value_that_a_helper_hands_to_one_which_saves_it_is_for_review(tmp_path: Path) -> None:
    test = (
        "def _save(net, path):\n    torch.jit.save(net, path)\n    return path\n\n\n"
        "def _check(net, path):\n    assert _save(net, path)\n\n\n"
        "def test_net(path):\n    net = Net()\n    fast = torch.jit.script(net)\n    _check(fast, path)\n    assert fast(1) == 2\n"
    )
    changed, left = migrated(tmp_path, {"test_net.py": body(test)})
    assert "fast = torch.jit.script(net)" in changed.get("test_net.py", body(test))
    assert left


def test_blocks_with_labels_that_follow_each_other_go_together(tmp_path: Path) -> None:
    test = (
        "def check(net, x, trace=True, script=True):\n    y = net(x)\n    assert y.shape == x.shape\n\n    # trace it\n    if trace:\n"
        "        z = torch.jit.trace(net, x)(x)\n        assert z.shape == x.shape\n\n    # script it\n    if script:\n"
        "        z = torch.jit.script(net)(x)\n        assert z.shape == x.shape\n\n\ndef test_net():\n    check(Net(), torch.ones(2))\n"
    )
    changed, _ = migrated(tmp_path, {"test_net.py": body(test)})
    assert "    y = net(x)\n    assert y.shape == x.shape\n\n\ndef test_net" in changed["test_net.py"]
