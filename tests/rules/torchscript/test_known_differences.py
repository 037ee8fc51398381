"""Known differences between TorchScript and Python, each run on torch beside what a finding says of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files
from torch_programs import TorchPrograms

from torchlift.finding import Finding, Safety
from torchlift.torchscript_intent import DROP

HEAD = "import torch\n\n\n"


def finding_of(folder: Path, plain: str, after: str = "") -> Finding:
    script = plain.replace("def", "@torch.jit.script\ndef") + after
    result = analyse_files(folder, {"a.py": script}, codes=frozenset({"TL102"}), torchscript=DROP)
    (finding,) = all_findings(result)
    return finding


_OF_DTYPES = {
    "a product with one": ("(x * 1) * x", False),
    "a sum with nothing by its name": ("torch.add(x, 0) * x", False),
    "bounds of which one is a number": ("torch.clamp(x.float(), 0, torch.ones_like(x).sum())", True),
    "a power of ints": ("torch.full_like(x, 2, dtype=torch.int64) * (2 ** x.size(0))", False),
    "a product with one that is the result": ("x * 1", True),
    "a product of what is made here": ("(x == x) * 1", False),
    "a sum of what is called": ("torch.isnan(x) + 0", False),
    "a division by one": ("(x / 1) * x", True),
    "a division by one by its name": ("torch.div(x, 1) * x", True),
    "a division by one that rounds": ("torch.div(x, 1, rounding_mode='floor')", True),
}
_DTYPES = """
import torch
from a import f
x = torch.tensor([True, False])
scripted = torch.jit.script(f)
result = all(scripted(x).dtype == f(x).dtype for _ in range(3))
"""


@pytest.mark.parametrize(("value", "same"), _OF_DTYPES.values(), ids=_OF_DTYPES)
def test_a_dtype_is_another_only_where_a_finding_says_so(
    value: str, same: bool, tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    plain = HEAD + f"def f(x: torch.Tensor):\n    return {value}\n"
    assert (finding_of(tmp_path, plain).safety is Safety.SAFE) == same
    assert torch_programs.run(tmp_path, {"a.py": plain}, _DTYPES) == ["bool", same]


_MADE = {
    "handed out": ("y = torch.zeros([2], dtype=torch.float32)\n    return y", False),
    "seen otherwise": ("return torch.zeros(4).reshape(2, 2)", False),
    "an item of it": ("y = torch.zeros(2, 2)\n    return y[0]", False),
    "of a size that has a name": ("n = 3\n    return torch.zeros(n)", False),
    "handed on before its name is another's": (
        "y = torch.zeros(2)\n    r = y\n    y = y + x\n    y += 1\n    return r",
        False,
    ),
    "changed": ("y = torch.zeros(2)\n    y += 1\n    return y", True),
    "of a dtype that comes in": ("y = torch.eye(2, dtype=x.dtype)\n    return y", True),
}
_TENSORS = """
import torch
from a import f
scripted = torch.jit.script(f)
kept = [scripted(torch.ones(2)) for _ in range(4)]
result = len({tensor.data_ptr() for tensor in kept}) == 4
"""


@pytest.mark.parametrize(("body", "anew"), _MADE.values(), ids=_MADE)
def test_a_tensor_is_made_once_only_where_nothing_but_constants_makes_it_and_nothing_changes_it(
    body: str, anew: bool, tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    plain = HEAD + f"def f(x: torch.Tensor):\n    {body}\n"
    assert (finding_of(tmp_path, plain).safety is Safety.SAFE) == anew
    assert torch_programs.run(tmp_path, {"a.py": plain}, _TENSORS) == ["bool", anew]


_NUMBERS = {
    "multiplied": ("return x * (rate * 3)", False),
    "divided": ("step = rate / 3\n    return x * step", True),
    "with a float": ("step = 1.0 - rate\n    return x * step", True),
    "a scale by a keyword": ("return torch.add(x, x, alpha=rate)", False),
}
_INTS = """
import torch
from a import f
x = torch.tensor([1, 2])


def given(function):
    try:
        return str(function(x, 2))
    except Exception as error:
        return type(error).__name__


result = given(torch.jit.script(f)) == given(f)
"""


@pytest.mark.parametrize(("body", "same"), _NUMBERS.values(), ids=_NUMBERS)
def test_an_int_for_a_float_makes_a_difference_only_until_a_float_is_made_of_it(
    body: str, same: bool, tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    plain = HEAD + f"def f(x: torch.Tensor, rate: float):\n    {body}\n"
    called = "\n\ndef call(x):\n    return f(x, 2)\n"
    assert (finding_of(tmp_path, plain, called).safety is Safety.SAFE) == same
    assert torch_programs.run(tmp_path, {"a.py": plain}, _INTS) == ["bool", same]


_BRANCH = HEAD + "def f(x: torch.Tensor):\n    if x.sum() > 0:\n        return x\n    return -x\n"
_SYMBOLIC = """
import torch
import a


class Net(torch.nn.Module):
    def forward(self, x):
        return a.f(x)


def traced():
    try:
        return str(torch.fx.symbolic_trace(Net()).graph)
    except Exception as error:
        return "raises"


plain = traced()
a.f = torch.jit.script(a.f)
result = [plain, traced()]
"""


def test_torch_fx_traces_a_scripted_function_as_little_as_a_plain_one_that_branches(
    tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    assert torch_programs.run(tmp_path, {"a.py": _BRANCH}, _SYMBOLIC) == ["list", [["str", "raises"]] * 2]
    assert finding_of(tmp_path, _BRANCH, "\n\ntracer = torch.fx.Tracer()\n").safety is Safety.SAFE


_CHANGES = {
    "a remainder by a number from elsewhere": ("x %= 2 * np.pi\n    return x", False),
    "a remainder of a row": ("x[0] %= 2.0\n    return x", False),
    "a power": ("x **= y\n    return x", False),
    "a sum": ("x += y\n    return x", True),
    "a remainder of its own": ("return x % 2.0", True),
}
_SIGNS = """
import torch
from a import f
scripted = torch.jit.script(f)
rows = []
for function in (f, scripted):
    x, y = torch.tensor([-3.5, 2.0, -1.0]), torch.tensor([2.0, 3.0, 2.0])
    rows.append((function(x, y).tolist(), x.tolist()))
result = rows[0] == rows[1]
"""


@pytest.mark.parametrize(("body", "same"), _CHANGES.values(), ids=_CHANGES)
def test_what_a_change_in_place_does_otherwise_needs_review(
    body: str, same: bool, tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    plain = f"import numpy as np\n{HEAD}def f(x: torch.Tensor, y: torch.Tensor):\n    {body}\n"
    assert (finding_of(tmp_path, plain).safety is Safety.SAFE) == same
    assert torch_programs.run(tmp_path, {"a.py": plain}, _SIGNS) == ["bool", same]


_LIMITED = {
    "embedding": ("F.embedding(i, w, max_norm=0.1)", False),
    "embedding by position": ("F.embedding(i, w, None, 0.1)", False),
    "embedding_bag": ("F.embedding_bag(i, w, i * 0, max_norm=0.1)", False),
    "no limit": ("F.embedding(i, w, max_norm=None)", True),
}
_ROWS = """
import torch
from a import f
i, w = torch.tensor([1]), torch.ones(3, 2)
result = torch.equal(torch.jit.script(f)(i, w.clone()), f(i, w.clone()))
"""


@pytest.mark.parametrize(("value", "same"), _LIMITED.values(), ids=_LIMITED)
def test_rows_are_shortened_by_plain_code_alone(
    value: str, same: bool, tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    head = HEAD.replace("torch\n", "torch\nimport torch.nn.functional as F\n", 1)
    plain = head + f"def f(i: torch.Tensor, w: torch.Tensor):\n    return {value}\n"
    assert (finding_of(tmp_path, plain).safety is Safety.SAFE) == same
    assert torch_programs.run(tmp_path, {"a.py": plain}, _ROWS) == ["bool", same]


_ANSWERS = {
    "numbers that nothing needs": ("r = torch.rand(2)\n    return torch.rand(2)", False),
    "numbers for what nothing needs": ("r = torch.rand(2)\n    s = r + 1\n    return torch.rand(2)", False),
    "numbers that are replaced": ("r = torch.randn(2)\n    r = torch.randn(2)\n    return x + r", False),
    "a statement that draws": ("torch.randperm(3)\n    return torch.rand(2)", False),
    "numbers that a branch needs": (
        "r = torch.rand(2)\n    if bool(x.sum() > 9):\n        x = x + r\n    return x + torch.rand(2)",
        True,
    ),
    "numbers for the next ones": ("r = torch.rand(2)\n    r = r + torch.rand(2)\n    return x * r", True),
    "a gradient": ("return x.grad is None", False),
    "two conditions": ("return x.any() and x.all()", False),
    "two conditions that are asked": ("if x.any() and x.all():\n        return x\n    return -x", True),
    "a split": ("return x.split(1)", False),
    "a split by its name": ("y = torch.split(x, 1)\n    return y", False),
    "indices": ("return torch.where(x > 0)", False),
    "a shape beside a number": ("return x.shape[0], x.shape[:1]", False),
    "numbers that an annotated name holds": ("n: torch.Tensor = torch.rand(2)\n    return torch.rand(2)", False),
    "a statement that draws with a keyword": ("torch.rand(2, dtype=x.dtype)\n    return torch.rand(2)", False),
    "a statement that draws and converts": ("torch.rand(2).to(x)\n    return torch.rand(2)", False),
    "numbers added to what nothing needs": ("n = x * 2\n    n += torch.rand(2)\n    return torch.rand(2)", False),
    "one of two that nothing needs": ("a, b = torch.rand(2), x\n    return b + torch.rand(2)", False),
    "one of a pair": ("return x + (torch.rand(2), torch.rand(2))[1]", False),
    "numbers in place of what nothing needs": ("n = torch.empty(2).normal_()\n    return torch.rand(2)", False),
    "numbers that are stacked": ("return torch.stack([torch.rand(2), torch.rand(2)]) + x", True),
    "a split that gets longer": ("y = x.split(1)\n    y += [x]\n    return y[0]", None),
    "a split that is compared": ("y = x.split(1)\n    return y[0] if isinstance(y, list) else x", False),
    "a slice of a split that gets longer": ("y = x.split(1)[1:]\n    y.append(x)\n    return y[0]", None),
    "another name of a split that gets longer": (
        "y = x.split(1)\n    z = y\n    z.insert(0, x)\n    return z[0]",
        None,
    ),
    "a split that is taken apart": ("y = x.split(1)\n    a, b = y\n    return a + b", True),
    "a split that is joined": ("y = x.split(1)\n    return torch.cat(y) + y[0] + len(y)", True),
    "a dtype beside the result": ("return x, x.dtype", False),
    "a dtype by a name": ("d = x.dtype\n    return x, d", False),
    "a memory format": ("return x, torch.channels_last", False),
    "several products": ("y = x.outer(x)\n    return y.mm(y) + y.mm(y + 1) + y.mm(y + 2) + y.mm(y + 3)", None),
}
_BOTH = """
import torch
from a import f
def result_of(function):
    torch.manual_seed(0)
    return repr(function(torch.tensor([0.5, 1.0])))
scripted = torch.jit.script(f)
result = all(result_of(scripted) == result_of(f) for _ in range(3))
"""


@pytest.mark.parametrize(("body", "same"), _ANSWERS.values(), ids=_ANSWERS)
def test_an_answer_is_another_only_where_a_finding_says_so(
    body: str, same: bool | None, tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    plain = HEAD + f"def f(x: torch.Tensor):\n    {body}\n"
    assert (finding_of(tmp_path, plain).safety is Safety.SAFE) == bool(same)
    if same is not None:  # one fails, and how matrices round is the processor's
        assert torch_programs.run(tmp_path, {"a.py": plain}, _BOTH) == ["bool", same]


_PARTS = {
    "a divisor that is held above zero": ("assert n > 0\n    return x * (1.0 / n)", "n: float", True),
    "a divisor that is held above zero in a loop": (
        "while bool(x.sum() > 100):\n        assert n > 0\n        x = x / 2\n    return x * (1.0 / n)",
        "n: float",
        False,
    ),
    "a divisor that may be zero": ("assert n >= 0\n    return x * (1.0 / n)", "n: float", False),
    "an optional number": ("if n is not None:\n        return x * n\n    return x", "n: Optional[float] = None", False),
    "a number of several": ("return x * n[0]", "n: List[float]", False),
    "a number made a tensor of floats": ("return x * torch.tensor(n, dtype=torch.float32)", "n: float", True),
}


@pytest.mark.parametrize(("body", "given", "safe"), _PARTS.values(), ids=_PARTS)
def test_what_a_number_may_be_counts_where_it_reaches_a_tensor(
    body: str, given: str, safe: bool, tmp_path: Path
) -> None:
    plain = f"from typing import List, Optional\n\n{HEAD}def f(x: torch.Tensor, {given}):\n    {body}\n"
    assert (finding_of(tmp_path, plain).safety is Safety.SAFE) == safe


def test_an_operator_of_the_project_is_called_as_it_is(tmp_path: Path) -> None:
    made = "@torch.library.custom_op('own::twice', mutates_args=())\ndef twice(x: torch.Tensor) -> torch.Tensor:\n    return x + x\n\n\n"
    plain = "def f(x: torch.Tensor):\n    return twice(x)\n"
    files = {"a.py": HEAD + made + "@torch.jit.script\n" + plain}
    (finding,) = all_findings(analyse_files(tmp_path, files, codes=frozenset({"TL102"}), torchscript=DROP))
    assert finding.safety is Safety.SAFE


_METHODS = {
    "its forward": ("def forward(self, x):\n        x %= 3\n        return x", False),
    "a method that it calls": (
        "def forward(self, x):\n        return self.part(x)\n\n    def part(self, x):\n        x %= 3\n        return x",
        False,
    ),
    "a marked method": (
        "def forward(self, x):\n        return x\n\n    @torch.jit.export\n    def part(self, x):\n        x %= 3\n        return x",
        False,
    ),
    "a method that it leaves alone": (
        "def forward(self, x):\n        return self.part(x)\n\n    @torch.jit.ignore\n    def part(self, x):\n        x %= 3\n        return x",
        True,
    ),
    "a method that nothing compiled calls": (
        "def forward(self, x):\n        return x\n\n    def part(self, x):\n        x %= 3\n        return x",
        True,
    ),
}


@pytest.mark.parametrize(("methods", "safe"), _METHODS.values(), ids=_METHODS)
def test_what_a_module_does_otherwise_counts_where_scripting_compiled_it(
    methods: str, safe: bool, tmp_path: Path
) -> None:
    code = f"{HEAD}class Net(torch.nn.Module):\n    {methods}\n\n\nnet = torch.jit.script(Net())\nprint(net(torch.ones(2)))\n"
    (finding,) = all_findings(analyse_files(tmp_path, {"a.py": code}, codes=frozenset({"TL102"}), torchscript=DROP))
    assert (finding.safety is Safety.SAFE) == safe


@pytest.mark.parametrize(
    ("kind", "change", "safe"),
    [
        ("List[torch.Tensor]", "d[0] += x", True),
        ("List[torch.Tensor]", "d[0] **= 2", False),
        ("Dict[str, torch.Tensor]", "d['a'] += x", False),
        ("List[List[torch.Tensor]]", "d[0] += [x]", False),
        ("List[Dict[str, torch.Tensor]]", "d[0]['a'] += x", False),
    ],
)
def test_what_is_added_in_a_container_reaches_the_callers_where_it_is_a_list_of_tensors(
    kind: str, change: str, safe: bool, tmp_path: Path
) -> None:
    plain = f"from typing import Dict, List\n\n{HEAD}def f(x: torch.Tensor, d: {kind}):\n    {change}\n    return x\n"
    assert ("passed a copy" in (finding_of(tmp_path, plain).help or "")) != safe
