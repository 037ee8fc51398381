"""Archives whose layers `optimize_for_mobile` packed for XNNPACK: `ops.prepacked.conv2d_clamp_run(x, CONSTANTS.c0)`.

Wheels of torch are built without XNNPACK (seen in 2.13.0+cpu), so nothing loads such an archive any more. A packed layer keeps
its weight, bias and settings beside two limits of its output, in the order of ATen/native/xnnpack/OpContext.h (torch 2.0 to
2.5). A copy of the archive is made in which an ordinary layer and a clamp stand in its place; all else is the same.
"""

from __future__ import annotations

import ast
import math
import struct
from pathlib import Path
from typing import Any

from torchlift.convert.archive.code import ArchiveCode, dotted, operator_of
from torchlift.convert.archive.copies import write_copy
from torchlift.convert.archive.torchscript import TorchScript
from torchlift.convert.archive.values import STORAGES, Tensor, Thing
from torchlift.convert.archive.zip_entries import BadArchive

_CLASSES = "__torch__.torch.classes.xnnpack."
_CONSTANT = "CONSTANTS.c"
_UNKNOWN = "has layers that `optimize_for_mobile` packed for XNNPACK, in a form that torchlift does not know"
_RUNS = {
    "prepacked::conv2d_clamp_run": "Conv2dOpContext",
    "prepacked::conv2d_transpose_clamp_run": "TransposeConv2dOpContext",
    "prepacked::linear_clamp_run": "LinearOpContext",
}


def has_packed_layers(code: ArchiveCode) -> bool:
    """Whether the code calls packed layers."""
    return any(name.startswith("prepacked::") for name in code.operators())


def copy_unpacked(archive: Path, copy: Path, found: TorchScript) -> None:
    """Writes a copy with ordinary layers.

    Args:
        archive: the archive, which was looked through.
        copy: where it goes.
        found: what was read of it.

    Raises:
        BadArchive: a layer is packed in another form than those that torch wrote.
    """
    constants = list(found.constants)
    layers: dict[int, tuple[str, str, str]] = {}
    for number, value in enumerate(found.constants):
        if isinstance(value, Thing) and str(value.kind).startswith(_CLASSES):
            weight, bias, *settings = value.state if isinstance(value.state, tuple) else (None, None)
            if not isinstance(weight, Tensor) or not (bias is None or isinstance(bias, Tensor)):
                raise BadArchive(_UNKNOWN)
            constants[number] = weight
            words = [f"{_CONSTANT}{number}", "None" if bias is None else f"{_CONSTANT}{len(constants)}"]
            constants += [] if bias is None else [bias]
            layers[number] = _layer(value.kind.name, words, settings)

    def changed(name: str, data: bytes) -> bytes:
        if name == f"{found.prefix}constants.pkl":
            return b"\x80\x02" + _tuple(constants) + b"."
        return _rewritten(data, found, layers) if b"ops.prepacked." in data else data

    write_copy(archive, copy, changed)


def _layer(kind: str, words: list[str], settings: list[Any]) -> tuple[str, str, str]:
    """The class of a packed layer, and what stands before and behind the input of the ordinary one."""
    match kind, settings:
        case "LinearOpContext", [low, high]:
            function = "linear"
        case "Conv2dOpContext", [stride, padding, dilation, groups, low, high]:
            function = "conv2d"
            words = [*words, str(stride), str(padding), str(dilation), str(groups)]
        case "TransposeConv2dOpContext", [stride, padding, outer, dilation, groups, low, high]:
            function = "conv_transpose2d"
            words = [*words, str(stride), str(padding), str(outer), str(groups), str(dilation)]
        case _:
            raise BadArchive(_UNKNOWN)
    if not _are_plain(settings):
        raise BadArchive(_UNKNOWN)
    limits = [None if one is None or math.isinf(one) else one for one in (low, high)]
    inner = f"torch.{function}("
    if limits == [None, None]:
        return kind, inner, f", {', '.join(words)})"
    return kind, f"torch.clamp({inner}", f", {', '.join(words)}), {limits[0]!r}, {limits[1]!r})"


def _are_plain(settings: list[Any]) -> bool:
    numbers = [one for part in settings for one in (part if isinstance(part, list) else [part])]
    return all(one is None or type(one) in (int, float) for one in numbers)


def _rewritten(data: bytes, found: TorchScript, layers: dict[int, tuple[str, str, str]]) -> bytes:
    """The code with ordinary layers in the place of packed ones."""
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    edits: list[tuple[int, int, bytes]] = []
    for node in ast.walk(ast.parse(data)):
        operator = operator_of(node) or ""
        if not isinstance(node, ast.Call) or not operator.startswith("prepacked::"):
            continue
        number = (dotted(node.args[1]) or "").removeprefix(_CONSTANT) if len(node.args) == 2 else ""
        kind, before, behind = layers.get(int(number) if number.isdecimal() else -1, ("", "", ""))
        if not kind or kind != _RUNS.get(operator):
            raise BadArchive(_UNKNOWN)
        given = node.args[0]
        ends = [
            starts[line - 1] + column
            for line, column in (
                (node.lineno, node.col_offset),
                (given.lineno, given.col_offset),
                (given.end_lineno or 0, given.end_col_offset or 0),
                (node.end_lineno or 0, node.end_col_offset or 0),
            )
        ]
        edits += [(ends[0], ends[1], before.encode()), (ends[2], ends[3], behind.encode())]
    for start, end, text in sorted(edits, reverse=True):
        data = data[:start] + text + data[end:]
    return data


def _tuple(values: list[Any] | tuple[Any, ...]) -> bytes:
    return b"(" + b"".join(map(_value, values)) + b"t"


def _value(value: Any) -> bytes:
    """A constant as pickles of archives write it. Raises `BadArchive` for what stands beside packed layers in none."""
    if value is None:
        return b"N"
    if isinstance(value, bool):
        return b"\x88" if value else b"\x89"
    if isinstance(value, int) and -(1 << 31) <= value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    if isinstance(value, str):
        return b"X" + struct.pack("<I", len(value.encode())) + value.encode()
    if isinstance(value, tuple):
        return _tuple(value)
    if isinstance(value, Tensor) and value.quantizer is None and value.dtype in STORAGES:
        numbers = value.offset + (1 + sum((n - 1) * step for n, step in zip(value.shape, value.stride, strict=True)))
        storage = (
            b"(" + _value("storage") + f"ctorch\n{STORAGES[value.dtype]}\n".encode() + _value(value.key) + _value("cpu")
        )
        storage += _value(numbers if value.numbers else 0) + b"tQ"
        shape = _value(value.offset) + _tuple(value.shape) + _tuple(value.stride) + _value(value.requires_grad)
        return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + shape + b"ccollections\nOrderedDict\n)RtR"
    raise BadArchive(f"{_UNKNOWN} (a {type(value).__name__} among its constants)")
