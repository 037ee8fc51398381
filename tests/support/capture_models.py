"""Models that TorchScript and torch.export treat differently, and controls that they treat alike.

Every class holds the makers of one comparison: `eager`, `torchscript`, `migrated`, `inputs`. The module is imported in
fresh processes only.
"""

from __future__ import annotations

import os
import signal
import time
from typing import Any, NamedTuple, Optional

import torch
from torch import Tensor, nn
from torch.export import Dim, export


class Makers:
    """Scripted against exported with every dimension free, on one random batch; a subclass changes what it needs."""

    model: Any
    rank = 2

    @classmethod
    def eager(cls) -> nn.Module:
        made = cls.model()
        assert isinstance(made, nn.Module)
        return made.eval()

    @classmethod
    def torchscript(cls) -> Any:
        return torch.jit.script(cls.eager())

    @classmethod
    def migrated(cls) -> Any:
        return cls.exported(cls.eager(), cls.example())

    @classmethod
    def inputs(cls) -> Any:
        return cls.example()

    @classmethod
    def example(cls) -> tuple[Any, ...]:
        return (torch.linspace(-1, 2, 12).reshape(4, 3),)

    @staticmethod
    def exported(model: nn.Module, example: tuple[Any, ...]) -> Any:
        shapes = tuple([Dim.AUTO] * x.dim() if isinstance(x, Tensor) else None for x in example)
        return export(model, example, dynamic_shapes=shapes)


class Traced(Makers):
    @classmethod
    def torchscript(cls) -> Any:
        return torch.jit.trace(cls.eager(), cls.example())


class Plain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x) + x.mean()


class Good(Traced):
    model = Plain


class PinnedBatch(Traced):
    model = Plain

    @classmethod
    def migrated(cls) -> Any:
        return export(cls.eager(), cls.example())


class WrongNumbers(Traced):
    model = Plain

    @classmethod
    def migrated(cls) -> Any:
        model = cls.eager()
        with torch.no_grad():
            model.body[0].weight[0, 0] += 0.5
        return cls.exported(model, cls.example())


class Compiled(Makers):
    """T28."""

    model = Plain

    @classmethod
    def migrated(cls) -> Any:
        return torch.compile(cls.eager(), backend="eager")


class OtherDropout(Makers):
    """T2: traced in train mode, and `.eval()` was added for the export."""

    @staticmethod
    def model() -> nn.Module:
        return nn.Sequential(nn.Dropout(0.5))

    @classmethod
    def eager(cls) -> nn.Module:
        return cls.model().train()

    @classmethod
    def torchscript(cls) -> Any:
        return torch.jit.trace(cls.eager(), cls.example(), check_trace=False)

    @classmethod
    def migrated(cls) -> Any:
        return cls.exported(cls.eager().eval(), cls.example())


class Mode(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x if self.training else 2 * x


class FrozenMode(Makers):
    """T1, T3: `.eval()` after scripting is live, after export it was too late."""

    model = Mode

    @classmethod
    def torchscript(cls) -> Any:
        return torch.jit.script(cls.model().train()).eval()

    @classmethod
    def migrated(cls) -> Any:
        return cls.exported(cls.model().train(), cls.example())


class Statistics(Traced):
    """T4: tracing runs the model, which moves its statistics and draws numbers."""

    @staticmethod
    def model() -> nn.Module:
        return nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5))

    @classmethod
    def eager(cls) -> nn.Module:
        return cls.model().train()


class MaybeMasked(nn.Module):
    def forward(self, x: Tensor, mask: Optional[Tensor] = None) -> Tensor:  # noqa: UP045 (TorchScript reads it)
        return x if mask is None else x * mask


class IgnoredOptional(Makers):
    """T5."""

    model = MaybeMasked

    @classmethod
    def migrated(cls) -> Any:
        return export(cls.eager(), (*cls.example(), None), dynamic_shapes=([Dim.AUTO] * 2, None)).module()

    @classmethod
    def inputs(cls) -> Any:
        (x,) = cls.example()
        return [(x, None), (x, torch.zeros(4, 3))]


class OmittedOptional(IgnoredOptional):
    @classmethod
    def inputs(cls) -> Any:
        return (*cls.example(), None)


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x + self.calls


class FrozenState(Makers):
    """T8."""

    model = Counter


class Typed(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.ones(x.shape[0], dtype=x.dtype)


class BakedDtype(Makers):
    """T10."""

    model = Typed


class AnyRank(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.sum(dim=0) if x.dim() == 1 else x.sum(dim=1)


class OtherRank(Makers):
    """T11."""

    model = AnyRank

    @classmethod
    def inputs(cls) -> Any:
        return [cls.example(), (torch.ones(5),)]


class Cast(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x @ x.t()


class BakedAutocast(Traced):
    """T12."""

    model = Cast

    @classmethod
    def torchscript(cls) -> Any:
        with torch.autocast("cpu", torch.bfloat16, cache_enabled=False):
            return super().torchscript()


class Difference(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x - y


class SameTensorTwice(Makers):
    """T14: the program was exported from one tensor given twice; so does the example that users would write."""

    model = Difference

    @classmethod
    def example(cls) -> tuple[Any, ...]:
        x = torch.rand(4, 3)
        return x, x

    @classmethod
    def migrated(cls) -> Any:
        return export(cls.eager(), cls.example(), dynamic_shapes=([Dim.AUTO] * 2,) * 2)


class Pair(NamedTuple):
    left: Tensor
    right: Tensor


class Twins(nn.Module):
    def forward(self, x: Tensor) -> Pair:
        return Pair(x, 2 * x)


class TracedNamedTuple(Traced):
    """T22: a trace forgets the class."""

    model = Twins

    @classmethod
    def migrated(cls) -> Any:
        return super().migrated().module()


class UnsavableNamedTuple(Traced):
    model = Twins


class PlainTwins(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return x, 2 * x


class LostNamedTuple(TracedNamedTuple):
    @classmethod
    def torchscript(cls) -> Any:
        return cls.eager()

    @classmethod
    def migrated(cls) -> Any:
        return cls.exported(PlainTwins(), cls.example()).module()


class Size(nn.Module):
    def forward(self, x: Tensor) -> int:
        return x.shape[0]


class TracedSize(Traced):
    """T22: a size is a tensor in a trace."""

    model = Size


class TensorSize(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.tensor(x.shape[0])


class SizeAsTensor(Makers):
    model = Size

    @classmethod
    def migrated(cls) -> Any:
        return cls.exported(TensorSize(), cls.example())


class Hidden(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.ones(3))
        self.register_buffer("hidden", torch.ones(3), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.kept + self.hidden


class NonPersistent(Makers):
    """T30."""

    model = Hidden

    @classmethod
    def eager(cls) -> nn.Module:
        return Hidden().eval()


class Scaled(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * x.max().item()


class BakedFloat(Traced):
    """T33: the trace is wrong."""

    model = Scaled


class Adding(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.add_(1)


class NotAdding(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + 1


class LostMutation(Makers):
    model = Adding

    @classmethod
    def migrated(cls) -> Any:
        return cls.exported(NotAdding(), cls.example())


class Detached(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(3, 4)

    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            return self.body(x)


class LostGradient(Makers):
    @staticmethod
    def model() -> nn.Module:
        return nn.Sequential(Detached().body)

    @classmethod
    def migrated(cls) -> Any:
        torch.manual_seed(0)
        return cls.exported(Detached(), cls.example())


class Padded(Traced):
    """T15: the fast path of the encoder zeroes padded rows."""

    @staticmethod
    def model() -> nn.Module:
        return nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), 1)

    @classmethod
    def torchscript(cls) -> Any:
        return cls.eager()

    @classmethod
    def inputs(cls) -> Any:
        padding = torch.zeros(4, 6, dtype=torch.bool)
        padding[:, 4:] = True
        return {"src": torch.rand(4, 6, 8), "src_key_padding_mask": padding}

    @classmethod
    def migrated(cls) -> Any:
        shapes = {"src": {0: Dim.AUTO}, "src_key_padding_mask": {0: Dim.AUTO}}
        return export(cls.eager(), (), cls.inputs(), dynamic_shapes=shapes)

    @staticmethod
    def valid(output: Tensor, src: Tensor, src_key_padding_mask: Tensor) -> Tensor:
        return output[~src_key_padding_mask]


class Asserting(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        assert x.shape[0] == 4, "four rows"
        return x


class OtherError(Makers):
    """T37."""

    model = Asserting


class Ending(Makers):
    model = Plain

    @classmethod
    def crashing(cls) -> Any:
        model = cls.eager()
        model.register_forward_hook(lambda *_: os.kill(os.getpid(), signal.SIGSEGV))
        return model

    @classmethod
    def crashing_at_once(cls) -> Any:
        os.kill(os.getpid(), signal.SIGSEGV)

    @classmethod
    def endless(cls) -> Any:
        model = cls.eager()
        model.register_forward_hook(lambda *_: time.sleep(1000))
        return model

    @classmethod
    def raising(cls) -> Any:
        raise RuntimeError("no weights here")

    @classmethod
    def leaving(cls) -> Any:
        raise SystemExit(3)

    @classmethod
    def uncallable(cls) -> Any:
        return 3

    @classmethod
    def changing_inputs(cls) -> Any:
        return (torch.full((4, 3), float(os.getpid())),)


class Mixed(nn.Module):
    """Random numbers, a buffer changed in place, a changed input, an output that is the input, tied and unused weights."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(3, 3)
        self.other = nn.Linear(3, 3)
        self.other.weight = self.one.weight
        self.unused = nn.Parameter(torch.ones(2))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Tensor, scratch: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        self.count += 1
        scratch.mul_(2)
        wide = nn.functional.interpolate(x[:, None], scale_factor=2.0)
        return self.other(self.one(x)) + torch.rand_like(x) + self.count, scratch, wide


class Controls(Makers):
    """T39: what looks dangerous and is not."""

    model = Mixed

    @classmethod
    def example(cls) -> tuple[Any, ...]:
        return torch.rand(4, 3), torch.ones(4)


class Hooked(Traced):
    """T39: a hook registered before the capture, weights loaded after it."""

    model = Plain

    @classmethod
    def eager(cls) -> nn.Module:
        model = super().eager()
        model.body.register_forward_hook(lambda module, args, output: 2 * output)
        return model

    @classmethod
    def _loaded(cls, model: Any) -> Any:
        model.load_state_dict({name: torch.ones_like(value) for name, value in model.state_dict().items()})
        return model

    @classmethod
    def torchscript(cls) -> Any:
        return cls._loaded(super().torchscript())

    @classmethod
    def migrated(cls) -> Any:
        return cls._loaded(super().migrated().module())


class ClosedOver(Traced):
    """T39: a tensor of the enclosing module."""

    class model(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + OFFSET


OFFSET = torch.tensor([1.0, float("nan"), 3.0])


class Described(Makers):
    """Outputs of every kind that can be described, the same in all variants."""

    class model(nn.Module):
        def forward(self, x: Tensor) -> dict[str, Any]:
            return {"a": [x, (x.bool(), None)], "b": x.to(torch.complex64), "c": x.half(), "n": 3, "s": "text"}

    @classmethod
    def torchscript(cls) -> Any:
        return cls.eager()

    @classmethod
    def migrated(cls) -> Any:
        return super().migrated().module()


class Awkward(Makers):
    """Inputs for which torch lacks some operations: sparse and 8 bit."""

    class model(nn.Module):
        def forward(self, x: Tensor, sparse: Tensor, tiny: Tensor) -> Tensor:
            return x + sparse.to_dense().sum() + tiny.float().sum()

    @classmethod
    def inputs(cls) -> Any:
        return torch.rand(4, 3), torch.eye(3).to_sparse(), torch.ones(5).to(torch.float8_e4m3fn)

    @classmethod
    def migrated(cls) -> Any:
        return cls.eager()
