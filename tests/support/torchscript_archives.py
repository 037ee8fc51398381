"""Archives of every kind that torch can write, made anew for the tests: `write(name, folder)`."""

import enum
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# TorchScript compiles the annotations of Python 3.9.
# ruff: noqa: UP006, UP007, UP035, UP045


@dataclass(frozen=True)
class Archive:
    """One program: what it makes, and what has to be said about its inputs, as `--inputs` takes it."""

    make: Callable[[], Any]
    inputs: str | None
    extra: dict[str, str]


ARCHIVES: dict[str, Archive] = {}


def _archive(inputs: str | None = None, **extra: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def keep(make: Callable[[], Any]) -> Callable[[], Any]:
        ARCHIVES[make.__name__] = Archive(make, inputs, extra)
        return make

    return keep


def write(name: str, folder: Path) -> Path:
    """Writes the archive; the same numbers every time."""
    path = folder / f"{name}.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        made = ARCHIVES[name].make()
        torch.jit.save(made, str(path), _extra_files=ARCHIVES[name].extra or None)
    return path


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


class Branch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if bool(x.sum() > 0):
            y = x * 2
        else:
            y = x - 1
        return y


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


class While(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        while bool(x.abs().sum() > 1.0):
            x = x / 2
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


class UsesBox(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * Box(3).area()


@torch.jit.script
def _decay(x: Tensor, rate: float = 0.5, steps: int = 2) -> Tensor:
    for _ in range(steps):
        x = x * rate
    return x


class CallsFunction(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return _decay(x) + _decay(x, 0.25, 1)


class Texts(nn.Module):
    def forward(self, x: Tensor, name: str) -> Tuple[Tensor, str]:
        parts = name.upper().split("_")
        return x + len(parts), "-".join(parts) + f" {x.size(1)}"


def _scripted(module: nn.Module) -> Any:
    return torch.jit.script(module.eval())


def _traced(module: nn.Module, *inputs: Any, **named: Any) -> Any:
    return torch.jit.trace(module.eval(), inputs, **named)


_IMAGE = "float32[2,3,16,16]"
_MATRIX = "float32[4,6]"

for _name, _module, _inputs in (
    ("scripted_mlp", Mlp, _MATRIX),
    ("scripted_convolutions", Convolutions, _IMAGE),
    ("scripted_residual", Residual, "float32[2,4,8,8]"),
    ("scripted_attention", Attention, "float32[2,5,8]"),
    ("scripted_lookup", Lookup, "int64[3,5]"),
    ("scripted_recurrent", Recurrent, "float32[3,4,5]"),
    ("scripted_gru", Gru, "float32[4,2,4] float32[1,2,3]"),
    ("scripted_encoder", Encoder, "float32[2,5,8]"),
    ("optional_mask", Masked, "float32[4,3] bool[4,3]"),
    ("optional_left_out", Masked, "float32[4,3]"),
    ("state_in_python", Counter, "float32[4,3]"),
    ("buffer_in_place", Running, "float32[4,3]"),
    ("buffer_rebound", Rebound, "float32[4,3]"),
    ("branch_on_data", Branch, "float32[4,3]"),
    ("branch_on_shape", ShapeBranch, "float32[4,6]"),
    ("loop_over_int", Loop, "float32[4,3]"),
    ("while_on_data", While, "float32[4,3]"),
    ("break_and_continue", Break, "float32[4,3]"),
    ("strings", Mode, "float32[4,3] 'tanh'"),
    ("named_tuple", Named, "float32[4,3]"),
    ("named_tuple_inside", TakesNamed, "float32[4,3]"),
    ("enums", Colored, "float32[4,3]"),
    ("several_methods", Methods, _MATRIX),
    ("without_forward", OnlyEncode, _MATRIX),
    ("dictionaries", Mapping, '{"a": "float32[4,3]", "b": "float32[4,3]"}'),
    ("lists", Listed, '["float32[4,3]", "float32[4,2]"]'),
    ("tuples", Tupled, '{"tuple": ["float32[4,3]", "float32[4,3]"]}'),
    ("attributes", Names, "float32[4,3]"),
    ("cache_in_a_list", Caches, "float32[4,3]"),
    ("slices", Slices, "float32[4,6]"),
    ("factories", Factory, "float32[4,6]"),
    ("branch_on_dtype", DtypeBranch, "float32[4,6]"),
    ("refined_type", Refined, "float32[4,6]"),
    ("forked", Forked, "float32[3,4]"),
    ("raises", Raises, "float32[3,4]"),
    ("noise", Noise, "float32[3,4]"),
    ("tied_weights", Tied, "int64[3,5]"),
    ("shared_module", SharedModule, "float32[3,4]"),
    ("interpolated", Interpolated, "float32[2,3,4,4]"),
    ("padded", Padded, "float32[3,4]"),
    ("complex_numbers", Complex, "float32[3,4]"),
    ("bfloat16_weights", Half, "bfloat16[3,4]"),
    ("input_mutated", Mutates, "float32[3,4]"),
    ("integers", Integers, "float32[6,4] 4 true"),
    ("no_inputs", NothingGiven, ""),
    ("many_outputs", ManyOutputs, "float32[3,4]"),
    ("sorted", Sorts, "float32[3,4]"),
    ("rows_by_data", Boxes, "float32[6,4]"),
    ("interface", ByInterface, "float32[3,4]"),
    ("class_of_its_own", UsesBox, "float32[3,4]"),
    ("function_called", CallsFunction, "float32[3,4]"),
    ("texts", Texts, "float32[3,4] 'some_name'"),
):
    ARCHIVES[_name] = Archive(lambda module=_module: _scripted(module()), _inputs, {})


@_archive()
def traced_mlp() -> Any:
    return _traced(Mlp(), torch.rand(4, 6))


@_archive()
def traced_one_row() -> Any:
    return _traced(Convolutions(), torch.rand(1, 3, 16, 16))


@_archive()
def traced_attention() -> Any:
    return _traced(Attention(), torch.rand(2, 5, 8))


@_archive()
def traced_recurrent() -> Any:
    return _traced(Recurrent(), torch.rand(3, 4, 5))


@_archive()
def traced_lookup() -> Any:
    return _traced(Lookup(), torch.randint(0, 11, (3, 5)))


@_archive()
def traced_dictionary() -> Any:
    return _traced(Mapping(), {"a": torch.rand(4, 3), "b": torch.rand(4, 3)}, strict=False)


@_archive()
def traced_factories() -> Any:
    return _traced(Factory(), torch.rand(4, 6))


@_archive()
def traced_interpolated() -> Any:
    return _traced(Interpolated(), torch.rand(2, 3, 4, 4))


@_archive()
def traced_branch() -> Any:
    return _traced(Branch(), torch.rand(4, 3))


@_archive()
def traced_methods() -> Any:
    return torch.jit.trace_module(Plain().eval(), {"encode": torch.rand(4, 6), "size": torch.rand(4, 6)})


@_archive()
def traced_function() -> Any:
    return torch.jit.trace(lambda x: x.softmax(-1) * 2, torch.rand(4, 3))


@_archive()
def traced_with_a_scripted_part() -> Any:
    return _traced(nn.Sequential(nn.Linear(4, 4), _scripted(ShapeBranch())), torch.rand(3, 4))


@_archive()
def traced_encoder() -> Any:
    return _traced(Encoder(), torch.rand(2, 5, 8), check_trace=False)


@_archive()
def traced_under_autocast() -> Any:
    with torch.autocast("cpu", torch.bfloat16):
        return _traced(Mlp(), torch.rand(4, 6), check_trace=False)


@_archive("float32[4,6]")
def frozen() -> Any:
    return torch.jit.freeze(_scripted(Mlp()))


@_archive("float32[2,3,16,16]")
def frozen_convolutions() -> Any:
    return torch.jit.freeze(_scripted(Convolutions()))


@_archive("float32[4,6]")
def in_training_mode() -> Any:
    return torch.jit.script(Dropped())


@_archive("float32[2,3,16,16]")
def normalised_in_training() -> Any:
    return torch.jit.script(Convolutions())


@_archive("float32[4,6]", **{"labels.txt": "cat\ndog", "config.json": '{"size": 6}'})
def with_extra_files() -> Any:
    return _scripted(Mlp())


@_archive("float32[4,3] 0.5 2")
def scripted_function() -> Any:
    return _decay


@_archive("float32[4,6]")
def quantised_dynamically() -> Any:
    quantised = torch.ao.quantization.quantize_dynamic(Mlp().eval(), {nn.Linear}, dtype=torch.qint8)
    return torch.jit.script(quantised)


@_archive("float32[4,6]")
def quantised_statically() -> Any:
    from torch.ao.quantization import DeQuantStub, QuantStub, convert, get_default_qconfig, prepare

    model = nn.Sequential(QuantStub(), nn.Linear(6, 3), DeQuantStub()).eval()
    model.qconfig = get_default_qconfig(torch.backends.quantized.engine)  # type: ignore[assignment]
    prepared = prepare(model)
    prepared(torch.rand(4, 6))
    return torch.jit.script(convert(prepared))
