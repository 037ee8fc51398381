"""Functions made at random: whichever would lose its decorator does the same compiled and plain."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from exhaustive import tried
from expressions_to_compare import OPERATORS, VARIANTS, expressions
from torch_programs import TorchPrograms

from torchlift.project import Project
from torchlift.rules.torchscript.functions.scripted_function import read_function

_NUMBERS = ["2", "-3", "0.5", "1", "0", "1.0", "x.size(0)", "x.shape[1]", "x.dim()", "math.pi"]
_OPS = "+ - * / // % ** & | ^ < <= > >= == != @".split()
_CONDITIONS = [
    "{v}.dim() == 2",
    "{v}.sum() > 0",
    "{v}.size(0) > 2 and {v}.dim() > 1",
    "bool(({v} > 0).any())",
    "{v}.dtype == torch.float32",
    "len({v}) > 3",
]
_UNPACKED = ["chunk(2, dim=-1)", "max(dim=1)", "sort(dim=0)", "topk(2)", "shape"]


class Generator:
    """Writes functions of x and y."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        known = [*expressions().values(), *OPERATORS, *VARIANTS]
        self.known = [expression for expression in known if not expression.startswith("(")]

    def function(self) -> str:
        """One definition."""
        lines, names = self._block(["x", "y"], 0)
        results = [self._expression(names) for _ in range(self.random.randint(1, 2))]
        body = "\n".join(f"    {line}" for line in [*lines, f"return {', '.join(results)}"])
        return f"def f(x, y):\n{body}\n"

    def _pick(self, names: list[str]) -> str:
        return self.random.choice(names)

    def _known(self, names: list[str]) -> str:
        return re.sub(r"\b[xy]\b", lambda _: self._pick(names), self.random.choice(self.known))

    def _expression(self, names: list[str], depth: int = 0) -> str:
        chance = self.random.random()
        if depth > 2 or chance < 0.25:
            return self._pick(names)
        inner = self._expression(names, depth + 1)
        op, number = self.random.choice(_OPS), self.random.choice(_NUMBERS)
        if chance < 0.6:
            return f"({self._known(names)})"
        if chance < 0.75:
            return f"({inner} {op} {self._expression(names, depth + 1)})"
        if chance < 0.85:
            return f"({inner} {op} {number})"
        if chance < 0.95:
            return f"({number} {op} {inner})"
        return f"({inner} if {self._condition(names)} else {self._expression(names, depth + 1)})"

    def _condition(self, names: list[str]) -> str:
        return self.random.choice(_CONDITIONS).replace("{v}", self._pick(names))

    def _block(self, names: list[str], depth: int) -> tuple[list[str], list[str]]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            chance = self.random.random()
            if chance < 0.5:
                name = self.random.choice("xyabc")
                lines.append(f"{name} = {self._expression(names)}")
                names = sorted({*names, name})
            elif chance < 0.65:
                value = self.random.choice([self._expression(names), self.random.choice(_NUMBERS)])
                lines.append(f"{self._pick(names)} {self.random.choice(['+=', '-=', '*=', '/='])} {value}")
            elif chance < 0.72:
                place = self.random.choice(["0", ":, 1", "...", "-1"])
                lines.append(f"{self._pick(names)}[{place}] = {self.random.choice(['0', '0.5', self._pick(names)])}")
            elif chance < 0.8:
                lines.append(f"a, b = {self._pick(names)}.{self.random.choice(_UNPACKED)}")
                names = sorted({*names, "a", "b"})
            elif depth < 2:
                head = self.random.choice(
                    [f"if {self._condition(names)}:", "for i in range(x.size(0)):", f"for r in {names[0]}:"]
                )
                lines.append(head)
                lines += [f"    {line}" for line in self._block(list(names), depth + 1)[0]]
        return lines or ["x = x"], names


_COMPARE = """
import importlib, json, torch

def tensor(dtype, seed):
    torch.manual_seed(seed)
    if dtype is torch.bool:
        return torch.rand(4, 6) > 0.5
    if dtype.is_floating_point:
        return (torch.randn(4, 6) * 3).to(dtype)
    return torch.randint(1, 9, (4, 6)).to(dtype)

def outcome(f, inputs):
    torch.manual_seed(3)
    try:
        return f(*inputs)
    except Exception:
        return None

def same(a, b):
    if type(a) is not type(b):
        return False
    if not isinstance(a, (tuple, torch.Tensor)):
        return a == b
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    loose = a.dtype in (torch.float16, torch.bfloat16)
    return torch.allclose(a.double(), b.double(), rtol=2e-2 if loose else 1e-4, atol=1e-2 if loose else 1e-5, equal_nan=True)

different, ran = [], 0
for name in NAMES:
    plain = importlib.import_module(name).f
    try:
        scripted = torch.jit.script(plain)
    except RuntimeError:
        continue
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8, torch.bool):
        for call in range(3):
            left, right = ([tensor(dtype, 1), tensor(dtype, 2)] for _ in range(2))
            one, two = outcome(plain, left), outcome(scripted, right)
            if one is None or two is None:
                continue
            ran += 1
            if not same(one, two) or not same(tuple(left), tuple(right)):
                different.append([name, str(dtype), call])
result = json.dumps([different, ran])
"""


@pytest.mark.parametrize("known_only", [False, True], ids=["read", "nothing known against it"])
@pytest.mark.parametrize("seed", range(tried(1, 3)))
def test_a_function_that_would_lose_its_decorator_does_the_same_without(
    seed: int, known_only: bool, tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    generator = Generator(seed)
    sources: dict[str, str] = {}
    for number in range(150):
        source = f"import math\n\nimport torch\nimport torch.nn.functional as F\n\n\n{generator.function()}"
        path = tmp_path / "project" / f"m{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
        project = Project(path.parent, (path.name,))
        view = project.view(path.name)
        assert view is not None
        facts = read_function(view, view.tree.body[-1], project, known_only=known_only)  # type: ignore[arg-type]
        if not facts.doubts and facts.sequence is None:
            sources[path.stem] = source
    assert len(sources) > 20
    files = {f"{name}.py": source for name, source in sources.items()}
    answer = torch_programs.run(tmp_path / "run", files, f"NAMES = {sorted(sources)!r}\n{_COMPARE}")
    different, ran = json.loads(answer[1])
    assert [(sources[name], *rest) for name, *rest in different] == []
    assert ran > 200
