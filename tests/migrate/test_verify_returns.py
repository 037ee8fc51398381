"""What functions return under torch is noted without being noticed, and compared across what they become."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from repositories import commit

from torchlift.migrate.verification.command_run import CommandRun, run_command
from torchlift.migrate.verification.returned import returned_otherwise
from torchlift.migrate.verification.tree_copy import TreeCopy

BEFORE = """\
import torch


@torch.jit.script
def phase(x, period: int):
    x %= period
    return x


@torch.jit.script
def twice(x):
    return 2 * x


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)

    def forward(self, x):
        return self.layer(x)


def make():
    torch.manual_seed(0)
    net = Net().eval()
    return torch.jit.trace(net, torch.ones(4, 3))
"""
AFTER = BEFORE.replace("@torch.jit.script\n", "").replace(
    "torch.jit.trace(net, torch.ones(4, 3))",
    "torch.export.export(net, (torch.ones(4, 3),), dynamic_shapes=([torch.export.Dim.AUTO] * 2,)).module()",
)
WATCHED = """\
import torch
import net

net.phase(torch.tensor([-3.0, 5.0]), 2)
net.twice(torch.ones(3))
made = net.make()
for rows in (2, 5):
    made(torch.ones(rows, 3))

plain = net.Net().eval()
whole = torch.compile(plain.forward, fullgraph=True, backend="eager")
whole(torch.ones(2, 3))
torch.export.export(plain, (torch.ones(2, 3),), strict=True)
torch.func.vmap(plain)(torch.ones(2, 3))
assert "seen" not in torch.jit.trace(plain, torch.ones(2, 3)).code
assert "seen" not in torch.fx.symbolic_trace(plain).code
"""


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TreeCopy:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "p").mkdir()
    (tmp_path / "p/net.py").write_text(BEFORE)
    (tmp_path / "p/use.py").write_text(WATCHED)
    commit(tmp_path / "p")
    return TreeCopy(tmp_path / "p")


def run(copy: TreeCopy, text: str) -> CommandRun:
    copy.prepare({"net.py": text.encode()})
    done = run_command(f'"{sys.executable}" -W ignore use.py', copy, ".", limit=300, tests=None, returns=True)
    assert done.status == 0, done.output
    return done


@pytest.mark.exhaustive
def test_scripted_traced_and_exported_code_is_compared_under_the_name_of_the_python_code(copy: TreeCopy) -> None:
    with copy:
        before, after = run(copy, BEFORE).returns, run(copy, AFTER).returns
        again = run(copy, BEFORE.replace("2 * x", "3 * x")).returns
    made = [[call for call in returns["", "net", "Net.forward"] if call[1]] for returns in (before, after)]
    assert len(made[0]) == len(made[1]) >= 2
    assert [(other.function, other.difference) for other in returned_otherwise(before, after)] == [
        ("phase", "2.0 where there was 0.0 in float32[2]")
    ]
    assert [other.function for other in returned_otherwise(before, again)] == ["twice"]


def leaf(*numbers: float, kind: str = "float32", shape: tuple[int, ...] = (2,)) -> tuple[object, ...]:
    return (kind, list(shape), sum(numbers), sum(map(abs, numbers)), 0.0, *numbers)


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        (leaf(1.0, 2.0), leaf(1.0, 2.00001), None),
        (leaf(1.0, 2.0), leaf(1.0, 2.01), "3.01 where there was 3.0 in float32[2]"),
        (leaf(1.0, 2.0), leaf(2.0, 1.0), "2.0 where there was 1.0 in float32[2]"),
        (leaf(1.0, 2.0), leaf(1.0, 2.0, kind="float64"), "float64[2] where there was float32[2]"),
        (leaf(1.0, 2.0), leaf(1.0, 2.0, shape=(2, 1)), "float32[2, 1] where there was float32[2]"),
        (
            leaf(1.0, 2.0, kind="float64"),
            leaf(1.0, 2.00001, kind="float64"),
            "3.00001 where there was 3.0 in float64[2]",
        ),
        (("int", [], 3), ("int", [], 4), "4 where there was 3"),
        (("float", [], "nan"), ("float", [], "nan"), None),
        (("float", [], "nan"), ("float", [], 1.0), "1.0 where there was 'nan'"),
    ],
)
def test_values_are_the_same_up_to_rounding(old: tuple[object], new: tuple[object], difference: str | None) -> None:
    key = ("test", "module", "function")
    found = list(returned_otherwise({key: ((1, (old,)),)}, {key: ((7, (new,)),)}))
    assert [other.difference for other in found] == ([difference] if difference else [])


def test_a_function_that_is_called_another_number_of_times_is_not_compared() -> None:
    key = ("test", "module", "function")
    one, other = (1, (("int", [], 3),)), (2, (("int", [], 4),))
    assert list(returned_otherwise({key: (one,)}, {key: (other, other)})) == []
    assert list(returned_otherwise({key: (one,)}, {})) == []


def test_what_returned_first_is_told_first() -> None:
    three, four = (("int", [], 3),), (("int", [], 4),)
    before = {("t", "m", "outer"): ((2, three),), ("t", "m", "inner"): ((1, three),)}
    after = {("t", "m", "outer"): ((2, four),), ("t", "m", "inner"): ((1, four),)}
    assert [other.function for other in returned_otherwise(before, after)] == ["inner", "outer"]
