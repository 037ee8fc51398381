"""Models of every kind that TorchScript compiles, for archives of the tests."""

import enum
from typing import Dict, List, NamedTuple, Optional, Tuple, Union

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# TorchScript compiles the annotations of Python 3.9.
# ruff: noqa: UP006, UP007, UP035, UP045


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Convolutions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 3), nn.GELU()
        )
        self.head = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x).mean([2, 3]))


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([nn.Conv2d(4, 4, 3, padding=1, bias=False) for _ in range(3)])
        self.norms = nn.ModuleList([nn.GroupNorm(2, 4) for _ in range(3)])

    def forward(self, x: Tensor) -> Tensor:
        for block, norm in zip(self.blocks, self.norms):  # noqa: B905 - TorchScript has no `strict`
            x = x + torch.relu(norm(block(x)))
        return x


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        n, t, c = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, 2, c // 2).permute(2, 0, 3, 1, 4).unbind(0)
        scores = (q @ k.transpose(-2, -1)) / (c // 2) ** 0.5
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(n, t, c))


class Masked(nn.Module):
    def forward(self, x: Tensor, mask: Optional[Tensor] = None, scale: float = 2.0) -> Tensor:
        if mask is not None:
            x = x.masked_fill(mask, 0.0)
        return x * scale


class OnDevice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.device = torch.device("cpu")

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.ones(3, device=self.device)


class Lookup(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(11, 6)
        self.head = nn.Linear(6, 2)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.table(tokens).mean(1))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(5, 7, batch_first=True)
        self.head = nn.Linear(7, 2)

    def forward(self, x: Tensor) -> Tensor:
        y, _ = self.lstm(x)
        return self.head(y[:, -1])


class Gru(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(4, 3)

    def forward(self, x: Tensor, h: Tensor) -> Tuple[Tensor, Tensor]:
        return self.gru(x, h)


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.encoder(x)


class Counter(nn.Module):
    count: int

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        return x + self.count


class Running(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        self.total += x.sum(0)
        return x - self.total


class Rebound(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        self.state = torch.tanh(self.state + x.mean(0))
        return self.state


class ShapeBranch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.dim() == 3:
            x = x.flatten(1)
        if x.size(-1) > 4:
            x = x[:, :4]
        return x.sum(-1)


class Loop(nn.Module):
    def forward(self, x: Tensor, steps: int = 3) -> Tensor:
        for i in range(steps):
            x = x * 0.5 + i
        return x


class Break(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        found = 0
        for i in range(10):
            if i * i > 20:
                break
            if i % 2 == 0:
                continue
            found += i
        return x + found


class Mode(nn.Module):
    def forward(self, x: Tensor, mode: str = "relu") -> Tensor:
        if mode == "relu":
            return torch.relu(x)
        if mode in ["tanh", "th"]:
            return torch.tanh(x)
        raise ValueError(f"no {mode}")


class Pair(NamedTuple):
    score: Tensor
    index: Tensor


class Named(nn.Module):
    def forward(self, x: Tensor) -> Pair:
        values, indices = x.max(-1)
        return Pair(score=values, index=indices)


class TakesNamed(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pair = Pair(x, x.argmax(-1))
        return pair.score.sum(-1) + pair.index


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Colored(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.color = Color.GREEN

    def forward(self, x: Tensor) -> Tensor:
        if self.color == Color.GREEN:
            return x + self.color.value
        return x


class Methods(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Linear(6, 2)
        self.up = nn.Linear(2, 6)

    def forward(self, x: Tensor) -> Tensor:
        return self.decode(self.encode(x))

    @torch.jit.export
    def encode(self, x: Tensor) -> Tensor:
        return torch.tanh(self.down(x))

    @torch.jit.export
    def decode(self, z: Tensor) -> Tensor:
        return self.up(z)


class Plain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Linear(6, 2)

    def encode(self, x: Tensor) -> Tensor:
        return torch.tanh(self.down(x))

    def size(self, x: Tensor) -> Tensor:
        return self.down(x).norm(dim=1)


class OnlyEncode(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Linear(6, 2)

    @torch.jit.export
    def encode(self, x: Tensor) -> Tensor:
        return self.down(x)


class Mapping(nn.Module):
    def forward(self, batch: Dict[str, Tensor]) -> Dict[str, Tensor]:
        total = batch["a"] + batch["b"]
        return {"sum": total, "mean": total.mean(-1)}


class Listed(nn.Module):
    def forward(self, xs: List[Tensor]) -> Tensor:
        return torch.cat(xs, 1).sum(1)


class Tupled(nn.Module):
    def forward(self, pair: Tuple[Tensor, Tensor]) -> Tuple[Tensor, List[Tensor]]:
        a, b = pair
        return a + b, [a, b * 2]


class Names(nn.Module):
    names: List[str]
    sizes: Dict[str, int]

    def __init__(self) -> None:
        super().__init__()
        self.names = ["a", "b"]
        self.sizes = {"a": 2, "b": 3}

    def forward(self, x: Tensor) -> Tensor:
        for name in self.names:
            x = x * self.sizes[name]
        return x


class Caches(nn.Module):
    kept: List[Tensor]

    def __init__(self) -> None:
        super().__init__()
        self.kept = []

    def forward(self, x: Tensor) -> Tensor:
        self.kept.append(x)
        return torch.stack(self.kept).sum(0)


class Slices(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x.clone()
        y[:, 1:3] = 0
        y[..., -1] += x[:, ::2].sum(-1)
        numbers = [1, 2, 3, 4]
        return y * sum(numbers[1:3]) + numbers[-1]


class Factory(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        n, c = x.shape
        grid = torch.arange(n, device=x.device).to(x.dtype)
        eye = torch.eye(c, dtype=x.dtype)
        return x @ eye + grid[:, None] + torch.zeros_like(x) + torch.full((n, c), 0.5)


class DtypeBranch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.dtype == torch.float64:
            return x * 3
        return x.to(torch.float64).half().float()


class Refined(nn.Module):
    def forward(self, x: Union[Tensor, List[Tensor]]) -> Tensor:
        if isinstance(x, Tensor):
            return x * 2
        return x[0] * 3


class Forked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        future = torch.jit.fork(self.a, x)
        return self.a(x * 2) + torch.jit.wait(future)


class Raises(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.size(1) != 4:
            raise RuntimeError("four columns are needed")
        assert x.dim() == 2, "a matrix is needed"
        return x + 1


class Dropped(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        return self.drop(self.fc(x))


class Noise(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + torch.randn_like(x)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(9, 4)
        self.out = nn.Linear(4, 9, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, tokens: Tensor) -> Tensor:
        return self.out(self.embed(tokens))


class SharedModule(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = self.first

    def forward(self, x: Tensor) -> Tensor:
        return self.second(torch.relu(self.first(x)))


class Interpolated(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = F.interpolate(x, scale_factor=2.0, mode="nearest")
        return F.adaptive_avg_pool2d(y, 2) + F.interpolate(x, size=[2, 2], mode="bilinear", align_corners=False)


class Padded(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return F.pad(x, [1, 1], value=0.5).unfold(1, 3, 1).sum(-1)


class Complex(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.fft.ifft(torch.fft.fft(x)).real


class Half(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4).to(torch.bfloat16)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(x)


class Mutates(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        x.add_(1)
        return x * 2


class Integers(nn.Module):
    def forward(self, x: Tensor, n: int, flag: bool) -> Tensor:
        y = x[:n] if flag else x
        return y * (n // 2) + n % 3


class NothingGiven(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("x", torch.arange(4.0))

    def forward(self) -> Tensor:
        return self.x * 2


class ManyOutputs(nn.Module):
    def forward(self, x: Tensor) -> Tuple[Tensor, int, float, Optional[Tensor]]:
        return x * 2, 3, 0.5, None


class Sorts(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        values, _ = torch.topk(x, 2, dim=1)
        keep = x > values[:, 1:2]
        return torch.where(keep, x, torch.zeros_like(x)).sum(1)


class Boxes(nn.Module):
    def forward(self, boxes: Tensor) -> Tensor:
        keep = boxes[:, 2] > boxes[:, 0]
        return boxes[keep].sum(0)


@torch.jit.interface
class Step(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Doubles(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2


class ByInterface(nn.Module):
    step: Step

    def __init__(self) -> None:
        super().__init__()
        self.step = Doubles()

    def forward(self, x: Tensor) -> Tensor:
        return self.step.forward(x)


@torch.jit.script
class Box:
    def __init__(self, size: int) -> None:
        self.size = size

    def area(self) -> int:
        return self.size * self.size


class ChangesDictionary(nn.Module):
    """The caller's dictionary stays as it is: TorchScript works on a copy."""

    def forward(self, batch: Dict[str, Tensor]) -> Dict[str, Tensor]:
        batch["sum"] = batch["a"] + batch["b"]
        return batch


class HoldsBox(nn.Module):
    """An object of a class of its own in an attribute, and a dictionary that is asked by dtype."""

    kinds: Dict[int, str]

    def __init__(self) -> None:
        super().__init__()
        self.box = Box(3)
        self.kinds = {torch.float32: "single", torch.float64: "double"}

    def forward(self, x: Tensor) -> Tensor:
        first = list(self.kinds.keys())[0]  # noqa: RUF015 - TorchScript has no iterators
        y = torch.tensordot(x, x, [[1], [1]]) + len(self.kinds[x.dtype])
        return y * self.box.area() + first


class Forces(nn.Module):
    """Gradients that are taken inside."""

    def forward(self, x: Tensor) -> Tensor:
        x = x.detach().requires_grad_(True)
        grad = torch.autograd.grad([(x**3).sum()], [x])[0]
        assert grad is not None
        return -grad


class UsesBox(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * Box(3).area()


@torch.jit.script
def decay(x: Tensor, rate: float = 0.5, steps: int = 2) -> Tensor:
    for _ in range(steps):
        x = x * rate
    return x


class CallsFunction(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return decay(x) + decay(x, 0.25, 1)


class Texts(nn.Module):
    def forward(self, x: Tensor, name: str) -> Tuple[Tensor, str]:
        parts = name.upper().split("_")
        return x + len(parts), "-".join(parts) + f" {x.size(1)}"
