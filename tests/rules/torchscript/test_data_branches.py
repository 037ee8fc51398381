"""Code that is said to follow the values of a tensor is what `torch.export` raises on, and what it captures is not said to."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch
from example_project import analyse_files

from torchlift.rules.torchscript.modules.data_branches import data_branch
from torchlift.source import SourceText
from torchlift.view import ModuleView

FOLLOWS = {
    "a sum in a condition": "    if x.sum() > 0:\n        return x * 2\n    return x\n",
    "an answer of any": "    return x if (x > 0).any() else x + 1\n",
    "a function of torch": "    if torch.all(x > 0):\n        return x\n    return -x\n",
    "a number that a variable holds": "    top = x.max().item()\n    if top > 1:\n        return x / top\n    return x\n",
    "a while": "    while x.abs().max() > 0.5:\n        x = x / 2\n    return x\n",
    "rounds of a loop": "    for _ in range(int(x.max())):\n        x = x + 1\n    return x\n",
    "an assertion": "    assert bool((x < 100).all())\n    return x\n",
    "an element of what is declared as a tensor": "    if x[0, 0] > 0:\n        return x\n    return -x\n",
    "NumPy": "    return x + torch.from_numpy(x.detach().numpy())\n",
}
CAPTURED = {
    "a number that is only used": "    return x * x.max().item()\n",
    "a mask": "    return x[x > 0]\n",
    "a size": "    if x.shape[1] > 2:\n        return x + 1\n    return x\n",
    "a reduction along an axis": "    return torch.where(x.sum(dim=1, keepdim=True) > 0, x, -x)\n",
    "a reduction along an axis that is asked for its size": "    return x if x.sum(dim=1).shape[0] > 1 else -x\n",
    "the built-in any": "    return x if any([True, False]) else -x\n",
    "None": "    return x if x is not None else 0\n",
    "a mode": "    if torch.jit.is_scripting():\n        if x.sum() > 0:\n            return -x\n    return x\n",
}


def found_in(body: str) -> str | None:
    text = f"import torch\n\n\ndef forward(x: torch.Tensor):\n{body}"
    view = ModuleView("m.py", SourceText(text), ast.parse(text))
    found = data_branch(view, view.tree.body[1])
    return found.what if found is not None else None


def exported(body: str) -> bool:
    names: dict[str, object] = {}
    exec(f"import torch\n\n\ndef forward(self, x: torch.Tensor):\n{body}", names)
    net = type("Net", (torch.nn.Module,), {"forward": names["forward"]})()
    sizes = ([torch.export.Dim.AUTO] * 2,)
    try:
        torch.export.export(net, (torch.rand(4, 3),), dynamic_shapes=sizes, strict=False)
    except Exception:
        return False
    return True


@pytest.mark.parametrize("body", FOLLOWS.values(), ids=FOLLOWS)
def test_what_follows_the_values_of_a_tensor_is_seen_and_cannot_be_exported(body: str) -> None:
    assert found_in(body) is not None
    assert not exported(body)


@pytest.mark.parametrize("body", CAPTURED.values(), ids=CAPTURED)
def test_what_is_exported_is_not_said_to_follow_values(body: str) -> None:
    assert found_in(body) is None
    assert exported(body)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("torch.jit.script(Part())", "makes a part with `torch.jit.script`"),
        ("torch.ao.quantization.FakeQuantize()", "calls `torch.ao.quantization.FakeQuantize`"),
        ("load_part()", "makes a part with `torch.jit.load`"),
    ],
)
def test_a_part_that_no_program_can_hold_is_named(tmp_path: Path, made: str, said: str) -> None:
    text = (
        "import torch\n\n\ndef load_part():\n    return torch.jit.load('part.pt')\n\n\nclass Part(torch.nn.Module):\n    def forward(self, x):\n"
        f"        return x\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.part = {made}\n\n"
        "    def forward(self, x):\n        return self.part(x)\n\n\ntraced = torch.jit.trace(Net(), torch.rand(2, 3))\ntraced.save('net.pt')\n"
    )
    result = analyse_files(tmp_path, {"m.py": text})
    left = [one for outcome in result.outcomes for one in outcome.left if one.code == "TL101"]
    assert [one.fix for one in left] == [None]
    assert said in (left[0].help or "")
