"""Examples of tests of scripting, for the rules that find `torch.jit` in them."""

from __future__ import annotations

from torchlift.rules.rule import Bad, Ok
from torchlift.torchscript_intent import DROP, TorchScriptIntent

_NET = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1


"""
_RUN = """\
for name in sorted(globals()):
    if name.startswith("test"):
        globals()[name]()
result = True
"""
_DELETE = TorchScriptIntent("drop", tests="delete")
_SUCCESSOR = TorchScriptIntent("drop", tests="successor")
_VALUES = """\
def test_values():
    net = Net()
    assert net(torch.zeros(2)).sum() == 2
"""
_SCRIPTED = """\
# The scripted module gives the same.
def test_scripted():
    net = Net()
    x = torch.rand(2)
    torch.testing.assert_close(torch.jit.script(net)(x), net(x))
"""


def _edited(before: str, after: str, why: str, *, head: str = _NET, **rest: object) -> Bad:
    """A test that stays, without its scripting."""
    run = rest.pop("run", _RUN)
    return Bad(
        head + before,
        head + after,
        why=why,
        path="test_net.py",
        torchscript=DROP,
        run=run,  # type: ignore[arg-type]
        **rest,  # type: ignore[arg-type]
    )


EXAMPLES: tuple[Bad | Ok, ...] = (
    _edited(
        "def test_net():\n    net = Net()\n    torch.jit.script(net)\n    assert net(torch.zeros(2)).sum() == 2\n",
        "def test_net():\n    net = Net()\n    assert net(torch.zeros(2)).sum() == 2\n",
        "a test that scripts on the way",
    ),
    _edited(
        "def test_net():\n    net = Net()\n    scripted = torch.jit.script(net)\n    y = scripted(torch.zeros(2))\n"
        "    assert y.shape == (2,)\n",
        "def test_net():\n    net = Net()\n    y = net(torch.zeros(2))\n    assert y.shape == (2,)\n",
        "a test of what the scripted module gives",
    ),
    _edited(
        "def test_net():\n    net = Net()\n    x = torch.rand(2)\n    y = net(x)\n    assert y.shape == (2,)\n\n"
        "    # jit\n    scripted = torch.jit.script(net)\n    assert torch.allclose(scripted(x), y)\n",
        "def test_net():\n    net = Net()\n    x = torch.rand(2)\n    y = net(x)\n    assert y.shape == (2,)\n",
        "a comparison that compares the module with itself from now on",
    ),
    _edited(
        "def test_net():\n    net = Net()\n    x = torch.rand(2)\n    kept = x.clone()\n    y = net(x)\n"
        "    z = torch.jit.script(net)(x)\n    assert torch.equal(y, z)\n    assert torch.equal(x, kept)\n",
        "def test_net():\n    net = Net()\n    x = torch.rand(2)\n    kept = x.clone()\n    y = net(x)\n"
        "    z = net(x)\n    assert torch.equal(x, kept)\n",
        "a check of what the call leaves as it was",
    ),
    _edited(
        "def test_net():\n    net = Net()\n    x = torch.rand(2)\n    before = net(x)\n    x += 1\n"
        "    after = torch.jit.script(net)(x)\n    assert not torch.equal(before, after)\n    assert torch.equal(before + 1, after)\n",
        "def test_net():\n    net = Net()\n    x = torch.rand(2)\n    before = net(x)\n    x += 1\n"
        "    after = net(x)\n    assert not torch.equal(before, after)\n    assert torch.equal(before + 1, after)\n",
        "a comparison across a change of the input, which stays",
    ),
    _edited(
        "import pytest\n\n\n@pytest.mark.parametrize('jit', [False, True])\n@pytest.mark.parametrize('size', [1, 2])\n"
        "def test_net(size, jit):\n    net = Net()\n    if jit:\n        net = torch.jit.script(net)\n"
        "    assert net(torch.zeros(size)).sum() == size\n",
        "import pytest\n\n\n@pytest.mark.parametrize('size', [1, 2])\n"
        "def test_net(size):\n    net = Net()\n    assert net(torch.zeros(size)).sum() == size\n",
        "a parameter that only says whether to script",
        run="result = observe(Net(), torch.ones(2))",
    ),
    _edited(
        "import pytest\n\n\n@pytest.mark.parametrize('wrap', [lambda net: net, torch.jit.script])\n"
        "def test_net(wrap):\n    assert wrap(Net())(torch.zeros(2)).sum() == 2\n",
        "import pytest\n\n\n@pytest.mark.parametrize('wrap', [lambda net: net])\n"
        "def test_net(wrap):\n    assert wrap(Net())(torch.zeros(2)).sum() == 2\n",
        "a row of parameters",
        run="test_net(lambda net: net)\nresult = True",
    ),
    _edited(
        "def test_net():\n    net = Net()\n    for one in (net, torch.jit.script(net)):\n"
        "        assert one(torch.zeros(2)).sum() == 2\n",
        "def test_net():\n    net = Net()\n    for one in (net,):\n        assert one(torch.zeros(2)).sum() == 2\n",
        "a loop over a module and its scripted version",
    ),
    _edited(
        "def check_script(module, x):\n    scripted = torch.jit.script(module)\n"
        "    torch.testing.assert_close(scripted(x), module(x))\n\n\n"
        "def test_net():\n    net, x = Net(), torch.zeros(2)\n    assert net(x).sum() == 2\n    check_script(net, x)\n",
        "def test_net():\n    net, x = Net(), torch.zeros(2)\n    assert net(x).sum() == 2\n",
        "a helper that does nothing but test scripting",
    ),
    _edited(
        "import io\n\n\ndef test_net():\n    net, x = Net(), torch.zeros(2)\n    expected = net(x)\n"
        "    assert expected.sum() == 2\n    buffer = io.BytesIO()\n    torch.jit.save(torch.jit.script(net), buffer)\n"
        "    buffer.seek(0)\n    loaded = torch.jit.load(buffer)\n    assert torch.equal(loaded(x), expected)\n",
        "def test_net():\n    net, x = Net(), torch.zeros(2)\n    expected = net(x)\n    assert expected.sum() == 2\n",
        "a file that nothing but the test reads",
    ),
    Bad(
        _NET + "def test_net():\n    net = Net()\n    scripted = torch.jit.script(net)\n    net.scale = 2\n"
        "    assert scripted(torch.zeros(2)).sum() == 2\n    other = scripted(torch.zeros(3))\n    print(other.shape)\n",
        why="what a scripted copy keeps when the module changes",
        after=_NET
        + "def test_net():\n    net = Net()\n    net.scale = 2\n    other = net(torch.zeros(3))\n    print(other.shape)\n",
        safety="unsafe",
        path="test_net.py",
        torchscript=DROP,
        run=_RUN,
    ),
    Bad(
        _NET + _VALUES + "\n\n" + _SCRIPTED,
        _NET + _VALUES,
        why="a test of nothing but scripting beside its twin",
        path="test_net.py",
        torchscript=DROP,
        run=_RUN,
    ),
    Bad(
        _NET + _SCRIPTED,
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x) + 1\n",
        why="a test of nothing but scripting that the user wants deleted",
        path="test_net.py",
        torchscript=_DELETE,
        run=_RUN,
    ),
    Bad(
        _NET + _SCRIPTED,
        _NET.rstrip() + "\n",
        "unsafe",
        why="a test of nothing but scripting without a twin",
        path="test_net.py",
        torchscript=DROP,
        run=_RUN,
    ),
    Bad(
        _NET + "def test_scripted():\n    net, x = Net(), torch.rand(2)\n    scripted = torch.jit.script(net)\n"
        "    torch.testing.assert_close(scripted(x), net(x))\n",
        _NET
        + "def test_export():\n    net, x = Net(), torch.rand(2)\n    exported = torch.export.export(net, (x,)).module()\n"
        "    torch.testing.assert_close(exported(x), net(x))\n",
        "unsafe",
        why="a test of the successor of a scripted module",
        path="test_net.py",
        torchscript=_SUCCESSOR,
        run=_RUN,
    ),
    Bad(
        "import torch\n\n\ndef f(x):\n    return x + 1\n\n\ndef test_jit():\n    x = torch.rand(2)\n"
        "    assert torch.equal(torch.jit.script(f)(x), f(x))\n",
        "import torch\n\n\ndef f(x):\n    return x + 1\n\n\ndef test_compile():\n    x = torch.rand(2)\n"
        "    assert torch.equal(torch.compile(f)(x), f(x))\n",
        "unsafe",
        why="a test of the successor of a scripted function",
        path="test_net.py",
        torchscript=_SUCCESSOR,
    ),
    Bad(_NET + _SCRIPTED, why="a test of scripting of which the user said nothing", path="test_net.py"),
)
