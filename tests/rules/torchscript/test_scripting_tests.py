"""What a test of scripting becomes where nobody needs TorchScript any more, and what it must not become."""

from __future__ import annotations

from pathlib import Path

import pytest
from dropped_scripting import NET, body, migrated

from torchlift.torchscript_intent import TorchScriptIntent

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


LOOKS = "import torch.jit\n\n\ndef nodes_of(net):\n    return list(net.graph.nodes())\n"
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
        "line 15 looks at `.graph`",
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
    "a function of the project that looks into the graph": (
        "def test_net():\n    net = torch.jit.trace(Net(), 1)\n    assert len(nodes_of(net)) == 2\n",
        "and pkg.py:5 needs it as TorchScript",
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
    head = "from other import count\nfrom pkg import nodes_of\n\n\n"
    files = {"test_net.py": body(head + test), "pkg.py": LOOKS}
    changed, left = migrated(tmp_path, files, unsafe=True)
    assert "assert" in changed.get("test_net.py", body(test)) and "torch.jit" in changed.get("test_net.py", body(test))
    assert any(said in (finding.help or "") for finding in left)


def test_a_test_that_compiles_what_it_scripted_is_left_to_the_user(tmp_path: Path) -> None:
    test = (
        "def test_compiled():\n    net, x = Net(), torch.zeros(2)\n    scripted = torch.jit.script(net)\n"
        "    assert torch.equal(torch.compile(scripted)(x), x + 1)\n"
    )
    changed, left = migrated(tmp_path, {"test_net.py": body(test)}, unsafe=True)
    assert not changed
    assert "`torch.compile` is called on line 12" in (left[0].help or "")


def test_what_the_builder_of_another_library_captures_stays_with_its_builder(tmp_path: Path) -> None:
    test = (
        "def test_net(tmp_path):\n    builder = Builder(Net())\n    builder.add(torch.ones(2))\n    try:\n        captured = builder.trace()\n"
        "        torch.jit.save(captured, tmp_path / 'net.pt')\n        assert (tmp_path / 'net.pt').exists()\n    except Exception as error:\n"
        "        print(error)\n"
    )
    changed, left = migrated(tmp_path, {"test_net.py": "from other import Builder\n" + body(test)}, unsafe=True)
    assert "test_net.py" not in changed and left


def test_a_scripted_branch_that_an_onnx_export_may_trace_stays(tmp_path: Path) -> None:
    test = (
        "def test_net(export):\n    @torch.jit.script\n    def pick(x):\n        if x.shape[0] == 3:\n            return x\n"
        "        return -x\n\n    assert export(lambda x: pick(x))\n"
    )
    other = "import torch\n\n\ndef write(net, x):\n    torch.onnx.export(net, x, 'net.onnx', dynamo=False)\n"
    changed, left = migrated(tmp_path, {"test_net.py": body(test), "net.py": other}, unsafe=True)
    assert "test_net.py" not in changed
    assert any("a trace may fix the branch on line 12" in (finding.help or "") for finding in left)


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


def test_a_class_keeps_its_base_while_a_branch_of_its_body_may_compile_a_method(tmp_path: Path) -> None:
    code = (
        "import os\n\nimport torch\n\nif os.environ.get('WIDE'):\n    method = torch.jit.script_method\nelse:\n    method = print\n\n\n"
        "class Net(torch.jit.ScriptModule):\n    if os.environ.get('CUDA'):\n\n        @method\n        def forward(self, x):\n"
        "            return x\n"
    )
    changed, left = migrated(tmp_path, {"net.py": code}, unsafe=True)
    assert "class Net(torch.jit.ScriptModule):" in changed.get("net.py", code)
    assert any("`method` on line 14 may be `torch.jit.script_method`" in (finding.help or "") for finding in left)
