"""What two descriptions may differ in, and what they may not."""

from __future__ import annotations

import array
from dataclasses import replace

import pytest

from torchlift.testing import FreshProcesses, Program, run_program
from torchlift.testing.difference import Mismatch, Tolerance, mismatches
from torchlift.testing.inputs import Inputs, input_sets
from torchlift.testing.nodes import Array, Container, Node, Opaque, Raised, Scalar, short
from torchlift.testing.verdict import Verdict, judge, worst


def tensor(*values: float, dtype: str = "float32") -> Array:
    return Array("torch.Tensor", dtype, (len(values),), "cpu", False, "d", array.array("d", values).tobytes())


def box(kind: str, **items: Node) -> Container:
    return Container(kind, tuple((f"[{name!r}]", item) for name, item in items.items()))


ONE = tensor(1.0, 2.0)
NAN = float("nan")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (tensor(1.0, NAN), tensor(1.000001, NAN)),
        (tensor(float("inf")), tensor(float("inf"))),
        (tensor(1.0, dtype="bfloat16"), tensor(1.0078125, dtype="bfloat16")),
        (tensor(0.0), tensor(-0.0)),
        (Scalar("float", 1.0), Scalar("float", 1.000001)),
        (Scalar("float", NAN), Scalar("float", NAN)),
        (box("dict", a=ONE, b=ONE), box("dict", b=ONE, a=ONE)),
        (Raised("ValueError", "a"), Raised("TypeError", "b")),
        (tensor(), tensor()),
    ],
)
def test_equal(left: Node, right: Node) -> None:
    assert mismatches(left, right, Tolerance()) == []


@pytest.mark.parametrize(
    ("left", "right", "aspect", "path"),
    [
        (ONE, tensor(1.0, 2.1), "values", ""),
        (tensor(1.0, NAN), tensor(1.0, 2.0), "values", ""),
        (tensor(1.0), tensor(float("inf")), "values", ""),
        (tensor(1.0, dtype="bfloat16"), tensor(1.02, dtype="bfloat16"), "values", ""),
        (ONE, tensor(1.0, 2.0, dtype="float64"), "dtype", ""),
        (ONE, replace(ONE, requires_grad=True), "requires_grad", ""),
        (ONE, replace(ONE, device="cuda"), "device", ""),
        (ONE, replace(ONE, type="torch.nn.parameter.Parameter"), "type", ""),
        (ONE, tensor(1.0), "shape", ""),
        (ONE, Scalar("float", 1.0), "type", ""),
        (Scalar("int", 1), Scalar("bool", True), "type", ""),
        (Scalar("int", 1), Scalar("float", 1.0), "type", ""),
        (Scalar("str", "a"), Scalar("str", "b"), "values", ""),
        (ONE, Raised("ValueError", "a"), "error", ""),
        (box("dict", a=ONE), box("dict", b=ONE), "structure", ""),
        (box("dict", a=ONE), box("dict", a=tensor(3.0, 4.0)), "values", "['a']"),
        (box("dict", a=ONE), box("collections.OrderedDict", a=ONE), "type", ""),
        (Opaque("a.B", "<a.B>"), Opaque("a.C", "<a.C>"), "values", ""),
    ],
)
def test_different(left: Node, right: Node, aspect: str, path: str) -> None:
    (found,) = mismatches(left, right, Tolerance())
    assert (found.aspect, found.path) == (aspect, path)
    assert found.left != found.right or found.extent


def test_a_difference_of_values_says_how_many_how_far_and_where() -> None:
    (found,) = mismatches(tensor(1.0, 2.0, 3.0), tensor(1.0, 2.5, 5.0), Tolerance())
    assert (found.left, found.right, found.extent) == ("2", "2.5", "2 of 3 values, by up to 2, first at [1]")


def test_torchscript_is_the_odd_one_out_only_where_eager_agrees() -> None:
    one, other = Mismatch("[0]", "values", "1", "2"), Mismatch("[1]", "values", "1", "2")
    raised = Mismatch("[2]", "error", "returned 1", "raised ValueError")
    inside = Mismatch("[1].mask", "values", "1", "2")
    judged = judge([one, other, raised], [inside, raised])
    assert [verdict for verdict, _ in judged] == [Verdict.TORCHSCRIPT_WRONG, Verdict.DIFFERS, Verdict.RAISES]
    assert [verdict for verdict, _ in judge([one], None)] == [Verdict.DIFFERS]
    assert worst([verdict for verdict, _ in judged]) is Verdict.DIFFERS and worst([]) is Verdict.SAME


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((1, 2), [((1, 2), {})]),
        (3, [((3,), {})]),
        ({"x": 1}, [((), {"x": 1})]),
        (({"x": 1},), [(({"x": 1},), {})]),
        ({1: 2}, [(({1: 2},), {})]),
        ([(1,), {"x": 2}, Inputs(3, y=4)], [((1,), {}), ((), {"x": 2}), ((3,), {"y": 4})]),
        (([1, 2],), [(([1, 2],), {})]),
    ],
)
def test_inputs_may_be_given_in_many_forms(given: object, expected: object) -> None:
    assert [(one.args, one.kwargs) for one in input_sets(given)] == expected


def test_no_example_is_an_error() -> None:
    with pytest.raises(ValueError, match="is empty"):
        input_sets([])


_DESCRIBED = """
import collections, dataclasses, enum, torch

@dataclasses.dataclass
class Box:
    a: object
    b: int = 3

class Slots:
    def __init__(self):
        self.x = torch.ones(1)
        self.me = self

class Colour(enum.Enum):
    RED = 1

P = collections.namedtuple("P", "x y")
"""


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("torch.tensor([1, 2**62])", "int64[2] 1, 4611686018427387904"),
        ("torch.tensor([2**63 + 1], dtype=torch.uint64)", "uint64[1] 9223372036854775809"),
        ("torch.tensor([True, False])", "bool[2] True, False"),
        ("torch.tensor([1.5], dtype=torch.bfloat16)", "bfloat16[1] 1.5"),
        ("torch.tensor([1 + 2j]).conj()", "complex64[1] 1, -2"),
        ("torch.tensor([[1., 2.], [3., 4.]]).t()", "float32[2, 2] 1, 3, 2, 4"),
        ("torch.eye(2).to_sparse()", "float32[2, 2] 1, 0, 0, 1"),
        ("torch.quantize_per_tensor(torch.ones(2), 0.5, 0, torch.qint8)", "qint8[2] 1, 1"),
        ("torch.empty(0, 3)", "float32[0, 3]"),
        ("torch.empty(2, device='meta')", "float32[2]"),
        ("torch.Size([2, 3])", "Size(int 2, int 3)"),
        ("P(1, None)", "P(int 1, None)"),
        ("Box(torch.ones(1))", "Box(float32[1] 1, int 3)"),
        ("Slots()", "Slots(float32[1] 1, <the __main__.Slots that it is part of>)"),
        ("Colour.RED", "<Colour.RED: 1>"),
        ("{'a': {1, 2}}", "dict(set(1, 2))"),
        ("torch.float32", "torch.float32"),
        ("lambda: 0", "<function <lambda>>"),
        ("torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])", "Tensor(float32[1] 1, float32[2] 1, 1)"),
    ],
)  # fmt: skip
def test_values_of_every_kind_are_described(expression: str, expected: str, processes: FreshProcesses) -> None:
    seen = run_program(Program(_DESCRIBED), f"result = {expression}", processes=processes)
    assert short(seen.result) == expected, seen.trace
