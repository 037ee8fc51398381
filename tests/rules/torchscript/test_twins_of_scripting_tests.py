"""A test of scripting goes where another one asks the same of the plain code: what is such a twin, and what is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from dropped_scripting import body, migrated

from torchlift.finding import Safety


def test_what_would_be_left_word_for_word_like_another_test_goes(tmp_path: Path) -> None:
    plain = "def test_net(net, benchmark):\n    x = torch.zeros(2)\n    benchmark(net.forward, x)\n"
    scripted = (
        '@pytest.mark.benchmark(group="scripted")\ndef test_scripted_net(net, benchmark):\n    x = torch.zeros(2)\n'
        "    scripted = torch.jit.script(net)\n    benchmark(scripted.forward, x)\n"
    )
    head = "import pytest\nimport torch\n\n\n"
    changed, _ = migrated(tmp_path, {"test_net.py": f"{head}{plain}\n\n{scripted}"})
    assert changed["test_net.py"] == head.replace("import pytest\n", "") + plain


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


def test_a_class_that_runs_the_tests_of_its_base_scripted_goes(tmp_path: Path) -> None:
    base = (
        "class TestNet(unittest.TestCase):\n    def setUp(self):\n        self.net = Net()\n\n"
        "    def test_net(self):\n        self.assertEqual(self.net(1), 2)\n"
    )
    scripted = "class TestJit(TestNet):\n    def setUp(self):\n        super().setUp()\n        self.net = torch.jit.script(self.net)\n"
    head = "import unittest\n\n"
    changed, _ = migrated(tmp_path, {"test_net.py": head + body(f"{base}\n\n{scripted}")})
    assert changed["test_net.py"] == head + body(base)


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
