"""Models whose branches and loops are decided by data, for archives of the tests."""

from typing import List, Tuple

import torch
from torch import Tensor, nn

# TorchScript compiles the annotations of Python 3.9.
# ruff: noqa: UP006, UP035


class Branch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if bool(x.sum() > 0):
            y = x * 2
        else:
            y = x - 1
        return y


class While(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        while bool(x.abs().sum() > 1.0):
            x = x / 2
        return x


class Experts(nn.Module):
    """Layers in branches, one in the other, and one output that a branch hands on as it is."""

    def __init__(self) -> None:
        super().__init__()
        self.small = nn.Linear(6, 6)
        self.large = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 6))

    def forward(self, x: Tensor) -> Tensor:
        if bool(x.mean() > 0.5):
            if bool(x.std() > 0.25):
                y = self.large(x)
            else:
                y = self.small(x)
        else:
            y = x
        return y + 1


class Both(nn.Module):
    """`and`, `or` and `not` of conditions, and numbers that branches hand on."""

    def forward(self, x: Tensor) -> Tensor:
        steps, scale = 1, 2.0
        if bool(x.max() > 0.5) and not bool(x.min() > 0.1):
            steps, scale = 3, 0.5
        if bool(x.sum() > 100.0) or steps == 3:
            x = x * scale
        return x + steps


class Returns(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if bool((x < 0).any()):
            return x.relu()
        total = x.sum()
        if bool(total > 3.0):
            return x / total
        return x


class Checks(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if bool(torch.isnan(x).any()):
            raise ValueError("a number is missing")
        assert bool((x.abs() < 100).all()), "too large"
        return x.sqrt()


class Newton(nn.Module):
    """A loop that ends by a counter or by data, with a layer and a branch in it."""

    def __init__(self) -> None:
        super().__init__()
        self.step = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tuple[Tensor, int]:
        count = 0
        while count < 10 and bool(x.norm() > 0.1):
            if bool(x.sum() > 0):
                x = x - 0.5 * x
            else:
                x = 0.25 * torch.tanh(self.step(x))
            count += 1
        return x, count


class Counted(nn.Module):
    """As many steps as a number in a tensor says."""

    def forward(self, x: Tensor, steps: Tensor) -> Tensor:
        for i in range(int(steps)):
            x = x * 0.5 + i
        return x


class Breaks(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        total = torch.zeros([])
        for i in range(5):
            total = total + x[i].sum()
            if bool(total > 3.0):
                break
        return total


class Helper(nn.Module):
    """A method that is called in a branch, and a branch in a method."""

    def halved(self, x: Tensor) -> Tensor:
        if bool(x.max() > 0.9):
            x = x / 2
        return x

    def forward(self, x: Tensor) -> Tensor:
        if bool(x.sum() > 1.0):
            x = self.halved(x)
        return x


class Keeps(nn.Module):
    """What happens in a branch is seen by the next call."""

    seen: int

    def __init__(self) -> None:
        super().__init__()
        self.seen = 0

    def forward(self, x: Tensor) -> Tensor:
        if bool(x.sum() > 1.0):
            self.seen += 1
        return x + self.seen


class Grows(nn.Module):
    """A loop whose results have another size after each step."""

    def forward(self, x: Tensor) -> Tensor:
        found: List[Tensor] = []
        while bool(x.sum() > 1.0):
            x = x / 2
            found.append(x)
        return torch.stack(found)


CONTROL_FLOW = (
    ("branch_on_data", Branch, "float32[4,3]"),
    ("while_on_data", While, "float32[4,3]"),
    ("layers_in_branches", Experts, "float32[4,6]"),
    ("conditions_of_conditions", Both, "float32[4,3]"),
    ("early_returns_by_data", Returns, "float32[4,3]"),
    ("checks_of_data", Checks, "float32[4,3]"),
    ("loop_with_a_branch", Newton, "float32[4,3]"),
    ("counted_by_data", Counted, "float32[4,3] int64[]<7"),
    ("break_by_data", Breaks, "float32[5,3]"),
    ("branch_in_a_method", Helper, "float32[4,3]"),
    ("state_in_a_branch", Keeps, "float32[4,3]"),
    ("list_grown_by_data", Grows, "float32[4,3]"),
)
