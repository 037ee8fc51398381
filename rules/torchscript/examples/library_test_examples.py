"""Examples of tests that script through a library, beside the code that they test, or in a program of their own."""

from __future__ import annotations

from torchlift.rules.rule import Bad
from torchlift.torchscript_intent import DROP, TorchScriptIntent

_NET = (
    "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x) + 1\n\n\n"
)
_LIT = (
    "class Lit(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.drop = torch.nn.Dropout(0.5)\n\n"
    "    def forward(self, x):\n        return self.drop(x)\n\n"
    "    def to_torchscript(self, path=None, **options):\n        mode = self.training\n        net = torch.jit.script(self.eval())\n"
    "        self.train(mode)\n        return net\n\n\n"
)

LIGHTNING = (
    Bad(
        "import torch\n\n\ndef test_net(net):\n    net.eval()\n    x = torch.rand(2)\n    assert net(x).shape == (2,)\n"
        "    traced = net.to_torchscript(method='trace', example_inputs=x)\n    assert torch.equal(traced(x), net(x))\n"
        "    assert traced(x).dim() == 1\n",
        "import torch\n\n\ndef test_net(net):\n    net.eval()\n    x = torch.rand(2)\n    assert net(x).shape == (2,)\n"
        "    assert net(x).dim() == 1\n",
        why="a test that traces with Lightning on the way",
        path="test_net.py",
        run=f"{_LIT}test_net(Lit())\nresult = True",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\ndef test_net(net):\n    scripted = net.to_torchscript()\n    x = torch.ones(9)\n"
        "    assert scripted(x).sum() == 9\n",
        "import torch\n\n\ndef test_net(net):\n    x = torch.ones(9)\n    assert net(x).sum() == 9\n",
        safety="unsafe",
        why="a test of what Lightning captures in eval mode",
        path="test_net.py",
        run=f"{_LIT}torch.manual_seed(0)\ntry:\n    test_net(Lit())\n    result = True\nexcept AssertionError:\n    result = False",
        differs="the module is in train mode",
        torchscript=DROP,
    ),
)

BESIDE = (
    Bad(
        f"{_NET}def test_net():\n    net = Net()\n    net = torch.jit.script(net)\n    net.to(torch.float64)\n    net.train()\n"
        "    assert net(torch.zeros(2)).sum() == 2\n    assert net.training\n",
        f"{_NET}def test_net():\n    net = Net()\n    net.to(torch.float64)\n    net.train()\n"
        "    assert net(torch.zeros(2)).sum() == 2\n    assert net.training\n",
        why="what moves the scripted module moves the module",
        path="test_net.py",
        run="test_net()\nresult = True",
        torchscript=DROP,
    ),
    Bad(
        f"{_NET}def test_net():\n    net = torch.jit.script(Net())\n    before = net(torch.ones(2))\n"
        "    after = torch.compile(net, backend='eager')(torch.ones(2))\n    assert torch.equal(before, after)\n",
        why="torch.compile, which refuses scripted code, would compile the plain code",
        path="test_net.py",
        torchscript=DROP,
    ),
    Bad(
        f"{_NET}def test_net():\n    net = Net()\n    x = torch.rand(2)\n    assert net(x).shape == (2,)\n"
        "    scripted = torch.jit.script(net)\n    assert torch.equal(scripted(x), net(x))\n",
        f"{_NET}def test_net():\n    net = Net()\n    x = torch.rand(2)\n    assert net(x).shape == (2,)\n",
        why="a test beside the code that it tests",
        run="test_net()\nresult = True",
        torchscript=DROP,
    ),
    Bad(
        f"{_NET}def test_model(net, x):\n    net = torch.jit.script(net)\n    assert len(x), 'no inputs'\n    return net(x)\n",
        why="a function that is called like a test, and is a program",
        torchscript=DROP,
    ),
)

PROGRAMS = tuple(
    Bad(
        f"import subprocess\nimport sys\n\n{_NET}def test_shape():\n    assert Net()(torch.ones(2)).shape == (2,)\n\n\n"
        "def test_saved(tmp_path):\n    net = Net()\n    x = torch.ones(2)\n    scripted = torch.jit.script(net)\n"
        f"{checks}"
        "    scripted.save(str(tmp_path / 'net.pt'))\n    torch.save(x, tmp_path / 'x.pt')\n"
        "    (tmp_path / 'code.py').write_text(\n        f\"import torch\\nnet = torch.jit.load('{tmp_path}/net.pt')\\n\"\n"
        "        f\"torch.save(net(torch.load('{tmp_path}/x.pt')), '{tmp_path}/y.pt')\"\n    )\n"
        "    subprocess.run([sys.executable, str(tmp_path / 'code.py')], check=True)\n"
        "    assert (tmp_path / 'y.pt').exists()\n",
        f"{_NET}def test_shape():\n    assert Net()(torch.ones(2)).shape == (2,)\n" if not kept else None,
        safety="unsafe",
        why=why,
        path="test_net.py",
        torchscript=TorchScriptIntent("drop", tests="delete"),
    )
    for checks, kept, why in (
        ("    assert torch.equal(scripted(x), net(x))\n", False, "a test whose own program loads what it scripted"),
        ("    assert net(x).sum() == 4\n", True, "the same, with a check of something else"),
    )
)
