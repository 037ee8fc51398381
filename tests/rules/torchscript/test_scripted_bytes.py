"""A float minus a tensor of bytes wraps around in TorchScript alone: the decorator goes unseen only where no tensor holds bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files
from torch_programs import TorchPrograms

from torchlift.finding import Safety
from torchlift.rules.torchscript.facts.scripted_operations import FLOATING
from torchlift.torchscript_intent import DROP

_MAY_BE_BYTES = {
    "a sum without dimensions promotes nothing": "return 1.0 - x * x.sum()",
    "nor does a position": "return 1.0 - (x + x.argmax())",
    "a sum under another name": "s = x.sum()\n    return 1.0 - (x + s)",
    "a sum of bytes": "return 1.0 - x.sum(dim=0, dtype=torch.uint8)",
    "a name that is unpacked into": "s = x.sum()\n    s, t = x, x\n    return 1.0 - s + t",
    "a name that a loop binds": "s = x.sum(0)\n    y = x\n    for i in range(2):\n        y = 1.0 - s\n        s = x\n    return y",
    "a dropout that drops nothing": "return 1.0 - F.dropout(x, 0.5, False)",
    "a product of matrices": "return 1.0 - F.linear(x, x)",
    "a convolution": "z = x.reshape(1, 1, 2, 3)\n    return 1.0 - F.conv2d(z, z)",
}
_NEVER_BYTES = {
    "a quotient": "return 1.0 - x.sum() / 2",
    "an exponential": "return 1.0 - x * torch.exp(x)",
    "a mean": "y = x.float().mean(0)\n    return 1.0 - y",
}
_HEAD = "import torch\nimport torch.nn.functional as F\n\n\n"
_COMPARE = """
import torch, ops
same = []
for name in ops.NAMES:
    plain = getattr(ops, name)
    x = torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=torch.uint8)
    results = [f(x.clone()) for f in (plain, torch.jit.script(plain))]
    same.append(results[0].dtype == results[1].dtype and torch.allclose(*results))
result = same
"""
_KINDS = """
import ops, torch, torch.nn.functional as F
holders = (torch, torch.Tensor, F)
bytes_ = torch.ones(2, 4, 5, 5, dtype=torch.uint8)
others = ((), (1,), (2,), (0.5, False), ((5,),), (bytes_,), (bytes_[0, 0],))
given = ({}, {"dtype": torch.uint8}, {"dim": 0, "dtype": torch.uint8}, {"dim": 0}, {"training": False})
found = []
for name in ops.NAMES:
    for f in (getattr(holder, name) for holder in holders if hasattr(holder, name)):
        for more in others:
            for named in given:
                try:
                    made = f(bytes_, *more, **named)
                except (RuntimeError, TypeError, ValueError, IndexError):
                    continue
                parts = made if isinstance(made, tuple) else (made,)
                if name not in found and not all(part.is_floating_point() for part in parts):
                    found.append(name)
result = found
"""


def _safeties(folder: Path, body: str) -> list[Safety | None]:
    code = f"{_HEAD}@torch.jit.script\ndef f(x):\n    {body}\n"
    result = analyse_files(folder, {"a.py": code}, codes=frozenset({"TL102"}), torchscript=DROP)
    assert result.failures == ()
    return [finding.safety for finding in all_findings(result)]


@pytest.mark.parametrize("body", _MAY_BE_BYTES.values(), ids=_MAY_BE_BYTES)
def test_a_float_minus_what_may_be_bytes_needs_review(tmp_path: Path, body: str) -> None:
    assert _safeties(tmp_path, body) == [Safety.UNSAFE]


@pytest.mark.parametrize("body", _NEVER_BYTES.values(), ids=_NEVER_BYTES)
def test_a_float_minus_a_float_tensor_needs_none(tmp_path: Path, body: str) -> None:
    assert _safeties(tmp_path, body) == [Safety.SAFE]


@pytest.mark.parametrize(("bodies", "alike"), [(_MAY_BE_BYTES, False), (_NEVER_BYTES, True)], ids=["bytes", "floats"])
def test_bytes_give_other_numbers_scripted_and_floats_do_not(
    tmp_path: Path, torch_programs: TorchPrograms, bodies: dict[str, str], alike: bool
) -> None:
    functions = "\n\n".join(f"def f{k}(x):\n    {body}\n" for k, body in enumerate(bodies.values()))
    ops = f"{_HEAD}{functions}\n\nNAMES = {[f'f{k}' for k in range(len(bodies))]}\n"
    assert torch_programs.run(tmp_path, {"ops.py": ops}, _COMPARE) == ["list", [["bool", alike]] * len(bodies)]


@pytest.mark.parametrize(
    ("names", "of_bytes"),
    [(sorted(FLOATING), []), (["sum", "dropout", "linear", "conv2d"], ["sum", "dropout", "linear", "conv2d"])],
    ids=["floating", "others"],
)
def test_what_is_called_floating_gives_floats_of_bytes_or_raises(
    tmp_path: Path, torch_programs: TorchPrograms, names: list[str], of_bytes: list[str]
) -> None:
    found = torch_programs.run(tmp_path, {"ops.py": f"NAMES = {names}\n"}, _KINDS)
    assert found == ["list", [["str", name] for name in of_bytes]]
