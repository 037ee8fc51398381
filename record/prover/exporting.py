"""The ways of exporting that are tried, in order, and what a program text has to know of each."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Optional

from .shared import Inputs, changed, tensors
from .wire import Decoder

Shape = tuple[Any, ...]
_LONGEST_STRING = 32
_ANY_SIZE = 1 << 31
_TWO = 2


@dataclass
class Way:
    """One way of exporting.

    Attributes:
        name: as in the evidence file.
        inputs: the example.
        shapes: what becomes of dimensions: `auto` or `fixed`.
        ints: whether integers among the inputs may change.
        plain: whether named tuples are returned as plain ones.
        detail: what a program text has to know.
    """

    name: str
    inputs: Inputs
    shapes: str = "auto"
    ints: bool = False
    plain: bool = False
    detail: dict[str, Any] = field(default_factory=dict)


def ways(example: Optional[Inputs], calls: list[Inputs], named: bool) -> Iterator[Way]:
    """Every way that makes sense for these inputs.

    Args:
        example: what a trace was given; None where the first call is the example.
        calls: inputs of the recorded calls of `forward`.
        named: whether TorchScript returned a named tuple.
    """
    first = example or calls[0]
    for way in _ways(first, calls, named):
        if example is None:
            way.detail["example"] = {
                "args": [notation(value) for value in way.inputs.args],
                "kwargs": {name: notation(value) for name, value in way.inputs.kwargs.items()},
            }
        yield way


def notation(value: Any) -> Any:
    """A value as the evidence file writes it: tensors by dtype and shape."""
    if _is_tensor(value):
        return f"{str(value.dtype).replace('torch.', '')}[{','.join(map(str, value.shape))}]"
    if isinstance(value, str):
        return {"str": value if len(value) <= _LONGEST_STRING else len(value)}
    if isinstance(value, list):
        return [notation(item) for item in value]
    if isinstance(value, tuple):
        items = [notation(item) for item in value]
        kind = type(value)
        return (
            {"namedtuple": f"{kind.__module__}:{kind.__qualname__}", "items": items}
            if kind is not tuple
            else {"tuple": items}
        )
    if isinstance(value, dict):
        return {"dict": {str(key): notation(item) for key, item in value.items()}}
    if isinstance(value, float) and value - value != 0:
        return {"float": repr(value)}  # infinity and NaN are no JSON
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return {"object": f"{type(value).__module__}:{type(value).__qualname__}"}


def _ways(first: Inputs, calls: list[Inputs], named: bool) -> Iterator[Way]:
    yield Way("as given", first)
    if named:
        yield Way("plain outputs", first, plain=True)
    ints = [path for path, value in leaves(first) if type(value) is int]
    if ints:
        yield Way("dynamic ints", first, ints=True, detail={"ints": ints})
    doubled = _doubled_paths(first)
    if doubled:
        yield Way("ones doubled", _doubled(first), detail={"doubled": doubled})
    if ints and doubled:
        yield Way("ones doubled", _doubled(first), ints=True, detail={"doubled": doubled, "ints": ints})
    called = next((one for one in calls if _layout(one) != _layout(first)), None)
    if called is not None:
        yield Way("as called", called, detail={"kwargs": sorted(called.kwargs)})
    others = {shape_of(one): one for one in reversed(calls) if shape_of(one) != shape_of(first)}
    if others:
        most = max(others.values(), key=lambda one: sum(t.numel() for t in tensors(one)))
        yield Way("other example", most)
    if not others:
        yield Way("fixed shapes", first, shapes="fixed")


def leaves(inputs: Inputs) -> Iterator[tuple[str, Any]]:
    """The parts without parts, and how code names them: `args[0]`, `kwargs.mask`."""
    for number, value in enumerate(inputs.args):
        yield from _leaves(value, f"args[{number}]")
    for name, value in inputs.kwargs.items():
        yield from _leaves(value, f"kwargs.{name}")


def shape_of(inputs: Inputs) -> Shape:
    """Shapes of all tensors."""
    return tuple(tuple(t.shape) for t in tensors(inputs))


def exported(module: Any, way: Way) -> Any:
    """The ExportedProgram; aliased inputs are told apart."""
    import torch

    inputs = changed(way.inputs, lambda t: t.detach().clone().requires_grad_(t.requires_grad))
    if way.plain:
        module = _returning_plain(module)
    if way.shapes == "fixed":
        return torch.export.export(module, inputs.args, inputs.kwargs, strict=False)
    shapes = dynamic_shapes(module, inputs, way.ints)
    return torch.export.export(module, inputs.args, inputs.kwargs, dynamic_shapes=shapes, strict=False)


def dynamic_shapes(module: Any, inputs: Inputs, ints: bool) -> Any:
    """`Dim.AUTO` for every dimension, by the names of the parameters."""
    specs = [_spec(value, ints) for value in inputs.args]
    named = {name: _spec(value, ints) for name, value in inputs.kwargs.items()}
    try:
        signature = inspect.signature(module.forward)
    except (TypeError, ValueError):
        return tuple(specs)
    return dict(signature.bind(*specs, **named).arguments)


def as_module(original: Any, kind: str, originals: dict[int, Any]) -> Any:
    """The original as a module; modules inside that were captured themselves are their originals again."""
    import torch

    if kind == "module":
        for parent in list(original.modules()) if not isinstance(original, torch.jit.ScriptModule) else []:
            for name, child in list(parent.named_children()):
                if id(child) in originals:
                    setattr(parent, name, originals[id(child)])
        return original
    owner = getattr(original, "__self__", None)
    return _module_of(original, as_module(owner, "module", originals) if isinstance(owner, torch.nn.Module) else None)


def fixed_sizes(program: Any, way: Way) -> dict[str, list[int]]:
    """Dimensions that the program takes in one size only, by input; none where all were asked to be fixed."""
    if way.shapes == "fixed":
        return {path: list(range(value.dim())) for path, value in leaves(way.inputs) if _is_tensor(value)}
    placeholders = [node for node in program.graph.nodes if node.op == "placeholder"]
    names = list(program.graph_signature.user_inputs)
    values = {node.name: node.meta.get("val") for node in placeholders}
    found = {}
    for (path, value), name in zip(leaves(way.inputs), names):
        shape = getattr(values.get(name), "shape", None) if isinstance(name, str) else None
        if _is_tensor(value) and shape is not None:
            fixed = [number for number, size in enumerate(shape) if isinstance(size, int)]
            if fixed:
                found[path] = fixed
    return found


def bounded_sizes(program: Any, way: Way) -> dict[str, str]:
    """Dimensions that may vary within bounds, by input: `{"args[0][2]": "at most 8"}`."""
    values = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    bounds = {str(symbol): (str(kept.lower), str(kept.upper)) for symbol, kept in program.range_constraints.items()}
    found = {}
    for (path, value), name in zip(leaves(way.inputs), program.graph_signature.user_inputs):
        shape = getattr(values.get(name), "shape", ()) if isinstance(name, str) and _is_tensor(value) else ()
        for number, size in enumerate(shape):
            lower, upper = bounds.get(str(size), ("0", "int_oo"))
            if upper.isdigit() and int(upper) < _ANY_SIZE:
                found[f"{path}, dimension {number}"] = f"at most {upper}"
            elif lower.isdigit() and int(lower) > _TWO:
                found[f"{path}, dimension {number}"] = f"at least {lower}"
    return found


def decoded(encoded: Any) -> Inputs:
    """Inputs as they were sent."""
    args, kwargs = Decoder().decode(encoded)
    return Inputs(*args, **kwargs)


def _returning_plain(module: Any) -> Any:
    def forward(*args: Any, **kwargs: Any) -> Any:
        return tuple(module(*args, **kwargs))

    forward.__signature__ = inspect.signature(module.forward)  # type: ignore[attr-defined]
    return _module_of(forward, module)


def _module_of(forward: Any, inner: Any) -> Any:
    """A module that calls a function; what the function uses of a module inside is its own."""
    import torch

    made = torch.nn.Module()
    if isinstance(inner, torch.nn.Module):
        made.add_module("inner", inner)
    made.forward = forward
    return made


def _spec(value: Any, ints: bool) -> Any:
    import torch

    auto = torch.export.Dim.AUTO
    if isinstance(value, torch.Tensor):
        return [auto] * value.dim()
    if isinstance(value, (list, tuple)):
        items = [_spec(item, ints) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {key: _spec(item, ints) for key, item in value.items()}
    return auto if ints and type(value) is int else None


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from _leaves(item, f"{path}[{number}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{path}[{key!r}]")
    else:
        yield path, value


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _layout(inputs: Inputs) -> tuple[int, frozenset[str]]:
    return len(inputs.args), frozenset(inputs.kwargs)


def _doubled_paths(inputs: Inputs) -> dict[str, list[int]]:
    return {path: [0] for path, value in leaves(inputs) if _is_tensor(value) and value.dim() and value.shape[0] == 1}


def _doubled(inputs: Inputs) -> Inputs:
    import torch

    def twice(tensor: Any) -> Any:
        if tensor.dim() and tensor.shape[0] == 1:
            plain = tensor.detach()
            return torch.cat([plain, plain]).requires_grad_(tensor.requires_grad)
        return tensor

    return changed(copy.copy(inputs), twice)
