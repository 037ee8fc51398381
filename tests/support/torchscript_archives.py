"""Archives of every kind that torch can write, made anew for the tests: `write(name, folder)`."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torchscript_models as models
from torch import nn
from torchscript_control_flow import CONTROL_FLOW, Branch


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


def _scripted(module: nn.Module) -> Any:
    return torch.jit.script(module.eval())


def _traced(module: nn.Module, *inputs: Any, **named: Any) -> Any:
    return torch.jit.trace(module.eval(), inputs, **named)


_IMAGE = "float32[2,3,16,16]"
_MATRIX = "float32[4,6]"

for _name, _module, _inputs in (
    ("scripted_mlp", models.Mlp, _MATRIX),
    ("scripted_convolutions", models.Convolutions, _IMAGE),
    ("scripted_residual", models.Residual, "float32[2,4,8,8]"),
    ("scripted_attention", models.Attention, "float32[2,5,8]"),
    ("scripted_lookup", models.Lookup, "int64[3,5]"),
    ("scripted_recurrent", models.Recurrent, "float32[3,4,5]"),
    ("scripted_gru", models.Gru, "float32[4,2,4] float32[1,2,3]"),
    ("scripted_encoder", models.Encoder, "float32[2,5,8]"),
    ("optional_mask", models.Masked, "float32[4,3] bool[4,3]"),
    ("optional_left_out", models.Masked, "float32[4,3]"),
    ("state_in_python", models.Counter, "float32[4,3]"),
    ("buffer_in_place", models.Running, "float32[4,3]"),
    ("buffer_rebound", models.Rebound, "float32[4,3]"),
    ("branch_on_shape", models.ShapeBranch, "float32[4,6]"),
    ("loop_over_int", models.Loop, "float32[4,3]"),
    ("break_and_continue", models.Break, "float32[4,3]"),
    ("strings", models.Mode, "float32[4,3] 'tanh'"),
    ("named_tuple", models.Named, "float32[4,3]"),
    ("named_tuple_inside", models.TakesNamed, "float32[4,3]"),
    ("enums", models.Colored, "float32[4,3]"),
    ("several_methods", models.Methods, _MATRIX),
    ("without_forward", models.OnlyEncode, _MATRIX),
    ("dictionaries", models.Mapping, '{"a": "float32[4,3]", "b": "float32[4,3]"}'),
    ("lists", models.Listed, '["float32[4,3]", "float32[4,2]"]'),
    ("tuples", models.Tupled, '{"tuple": ["float32[4,3]", "float32[4,3]"]}'),
    ("attributes", models.Names, "float32[4,3]"),
    ("cache_in_a_list", models.Caches, "float32[4,3]"),
    ("slices", models.Slices, "float32[4,6]"),
    ("factories", models.Factory, "float32[4,6]"),
    ("branch_on_dtype", models.DtypeBranch, "float32[4,6]"),
    ("refined_type", models.Refined, "float32[4,6]"),
    ("forked", models.Forked, "float32[3,4]"),
    ("raises", models.Raises, "float32[3,4]"),
    ("noise", models.Noise, "float32[3,4]"),
    ("tied_weights", models.Tied, "int64[3,5]"),
    ("shared_module", models.SharedModule, "float32[3,4]"),
    ("interpolated", models.Interpolated, "float32[2,3,4,4]"),
    ("padded", models.Padded, "float32[3,4]"),
    ("complex_numbers", models.Complex, "float32[3,4]"),
    ("bfloat16_weights", models.Half, "bfloat16[3,4]"),
    ("input_mutated", models.Mutates, "float32[3,4]"),
    ("integers", models.Integers, "float32[6,4] 4 true"),
    ("no_inputs", models.NothingGiven, ""),
    ("device_in_an_attribute", models.OnDevice, "float32[4,3]"),
    ("many_outputs", models.ManyOutputs, "float32[3,4]"),
    ("sorted", models.Sorts, "float32[3,4]"),
    ("rows_by_data", models.Boxes, "float32[6,4]"),
    ("interface", models.ByInterface, "float32[3,4]"),
    ("class_of_its_own", models.UsesBox, "float32[3,4]"),
    ("dictionary_changed", models.ChangesDictionary, '{"a": "float32[4,3]", "b": "float32[4,3]"}'),
    ("object_in_an_attribute", models.HoldsBox, "float32[3,4]"),
    ("gradients_inside", models.Forces, "float32[3,4]"),
    ("function_called", models.CallsFunction, "float32[3,4]"),
    ("texts", models.Texts, "float32[3,4] 'some_name'"),
    *CONTROL_FLOW,
):
    ARCHIVES[_name] = Archive(lambda module=_module: _scripted(module()), _inputs, {})


@_archive()
def patches_counted() -> Any:
    """Sizes that are divided and multiplied as tensors, as traces of older releases have them."""

    def patches(x: torch.Tensor) -> torch.Tensor:
        rows: Any = x.shape[0]
        side = torch.div(x.shape[2], 4, rounding_mode="trunc")
        parts = (x.shape[1] * side).mul_(side)
        return x.reshape(torch.div(rows, 1, rounding_mode="floor"), parts, 16).tanh()

    return torch.jit.trace(patches, torch.rand(2, 3, 8, 8))


@_archive()
def traced_mlp() -> Any:
    return _traced(models.Mlp(), torch.rand(4, 6))


@_archive()
def traced_one_row() -> Any:
    return _traced(models.Convolutions(), torch.rand(1, 3, 16, 16))


@_archive()
def traced_attention() -> Any:
    return _traced(models.Attention(), torch.rand(2, 5, 8))


@_archive()
def traced_recurrent() -> Any:
    return _traced(models.Recurrent(), torch.rand(3, 4, 5))


@_archive()
def traced_lookup() -> Any:
    return _traced(models.Lookup(), torch.randint(0, 11, (3, 5)))


@_archive()
def traced_dictionary() -> Any:
    return _traced(models.Mapping(), {"a": torch.rand(4, 3), "b": torch.rand(4, 3)}, strict=False)


@_archive()
def traced_factories() -> Any:
    return _traced(models.Factory(), torch.rand(4, 6))


@_archive()
def traced_interpolated() -> Any:
    return _traced(models.Interpolated(), torch.rand(2, 3, 4, 4))


@_archive()
def traced_branch() -> Any:
    return _traced(Branch(), torch.rand(4, 3))


@_archive()
def traced_methods() -> Any:
    return torch.jit.trace_module(models.Plain().eval(), {"encode": torch.rand(4, 6), "size": torch.rand(4, 6)})


@_archive()
def traced_function() -> Any:
    return torch.jit.trace(lambda x: x.softmax(-1) * 2, torch.rand(4, 3))


@_archive()
def traced_with_a_scripted_part() -> Any:
    return _traced(nn.Sequential(nn.Linear(4, 4), _scripted(models.ShapeBranch())), torch.rand(3, 4))


@_archive()
def traced_encoder() -> Any:
    return _traced(models.Encoder(), torch.rand(2, 5, 8), check_trace=False)


@_archive()
def traced_under_autocast() -> Any:
    with torch.autocast("cpu", torch.bfloat16):
        return _traced(models.Mlp(), torch.rand(4, 6), check_trace=False)


@_archive("float32[4,6]")
def frozen() -> Any:
    return torch.jit.freeze(_scripted(models.Mlp()))


@_archive("float32[2,3,16,16]")
def frozen_convolutions() -> Any:
    return torch.jit.freeze(_scripted(models.Convolutions()))


@_archive("float32[4,6]")
def in_training_mode() -> Any:
    return torch.jit.script(models.Dropped())


@_archive("float32[2,3,16,16]")
def normalised_in_training() -> Any:
    return torch.jit.script(models.Convolutions())


@_archive("float32[4,6]", **{"labels.txt": "cat\ndog", "config.json": '{"size": 6}'})
def with_extra_files() -> Any:
    return _scripted(models.Mlp())


@_archive("float32[4,3] 0.5 2")
def scripted_function() -> Any:
    return models.decay


@_archive("float32[4,6]")
def quantised_dynamically() -> Any:
    quantised = torch.ao.quantization.quantize_dynamic(models.Mlp().eval(), {nn.Linear}, dtype=torch.qint8)
    return torch.jit.script(quantised)


@_archive("float32[4,6]")
def quantised_statically() -> Any:
    from torch.ao.quantization import DeQuantStub, QuantStub, convert, get_default_qconfig, prepare

    model = nn.Sequential(QuantStub(), nn.Linear(6, 3), DeQuantStub()).eval()
    model.qconfig = get_default_qconfig(torch.backends.quantized.engine)  # type: ignore[assignment]
    prepared = prepare(model)
    prepared(torch.rand(4, 6))
    return torch.jit.script(convert(prepared))
