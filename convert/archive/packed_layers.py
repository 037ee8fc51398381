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
from typing import Any, NamedTuple

from torchlift.convert.archive.code import ArchiveCode, dotted, operator_of
from torchlift.convert.archive.copies import write_copy
from torchlift.convert.archive.torchscript import TorchScript
from torchlift.convert.archive.values import STORAGES, Tensor, Thing
from torchlift.convert.archive.zip_entries import BadArchive

_CLASSES = "__torch__.torch.classes.xnnpack."
_CONSTANT = "CONSTANTS.c"
_UNKNOWN = "has layers that `optimize_for_mobile` packed for XNNPACK, in a form that torchlift does not know"
_KINDS = {
    "prepacked::conv2d_clamp": "Conv2dOpContext",
    "prepacked::conv2d_transpose_clamp": "TransposeConv2dOpContext",
    "prepacked::linear_clamp": "LinearOpContext",
}
"""Classes of packed layers, by the name of the operators that pack and run them without their ending."""
_SETTINGS = {"Conv2dOpContext": 6, "TransposeConv2dOpContext": 7, "LinearOpContext": 2}
"""How many settings follow weight and bias, the two limits of the output last."""


class _Layer(NamedTuple):
    """A packed layer: its class, and what stands before and behind the input of the ordinary one."""

    kind: str
    before: str
    behind: str


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
    layers: dict[int, _Layer] = {}
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
        return _rewritten(data, layers) if b"ops.prepacked." in data else data

    write_copy(archive, copy, changed)


def _layer(kind: str, words: list[str], settings: list[Any]) -> _Layer:
    """The layer with this weight and bias."""
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
        return _Layer(kind, inner, f", {', '.join(words)})")
    return _Layer(kind, f"torch.clamp({inner}", f", {', '.join(words)}), {limits[0]!r}, {limits[1]!r})")


def _are_plain(settings: list[Any]) -> bool:
    numbers = [one for part in settings for one in (part if isinstance(part, list) else [part])]
    return all(one is None or type(one) in (int, float) for one in numbers)


def _rewritten(data: bytes, folded: dict[int, _Layer]) -> bytes:
    """The code with ordinary layers in the place of packed ones."""
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    edits: list[tuple[int, int, bytes]] = []

    def replace(line: int, column: int, end_line: int | None, end_column: int | None, text: str) -> None:
        edits.append((starts[line - 1] + column, starts[(end_line or 0) - 1] + (end_column or 0), text.encode()))

    for function in ast.walk(ast.parse(data)):
        if not isinstance(function, ast.FunctionDef):
            continue
        packing = _packing(function)
        for packed, _ in packing.values():
            replace(packed.lineno, packed.col_offset, packed.end_lineno, packed.end_col_offset, "pass")
        done = {id(packed.value) for packed, _ in packing.values()}
        for node in ast.walk(function):
            operator = operator_of(node) or ""
            if not isinstance(node, ast.Call) or not operator.startswith("prepacked::") or id(node) in done:
                continue
            name = (dotted(node.args[1]) or "") if len(node.args) == 2 else ""
            number = name.removeprefix(_CONSTANT)
            layer = packing[name][1] if name in packing else folded.get(int(number) if number.isdecimal() else -1)
            if layer is None or layer.kind != _KINDS.get(operator.removesuffix("_run")):
                raise BadArchive(_UNKNOWN)
            given = node.args[0]
            replace(node.lineno, node.col_offset, given.lineno, given.col_offset, layer.before)
            replace(
                given.end_lineno or 0, given.end_col_offset or 0, node.end_lineno, node.end_col_offset, layer.behind
            )
    for start, end, text in sorted(edits, reverse=True):
        data = data[:start] + text + data[end:]
    return data


def _packing(function: ast.FunctionDef) -> dict[str, tuple[ast.Assign, _Layer]]:
    """Layers that are packed where they are used, by the variable: `_0 = ops.prepacked.linear_clamp_prepack(...)`."""
    found: dict[str, tuple[ast.Assign, _Layer]] = {}
    stored = [one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign) or not (operator_of(node.value) or "").endswith("_prepack"):
            continue
        kind = _KINDS.get((operator_of(node.value) or "").removesuffix("_prepack"), "")
        name = dotted(node.targets[0]) or ""
        if not kind or not isinstance(node.value, ast.Call) or stored.count(name) != 1 or node.value.keywords:
            raise BadArchive(_UNKNOWN)
        weights, settings = node.value.args[:2], node.value.args[2:]
        words = ["None" if isinstance(one, ast.Constant) and one.value is None else dotted(one) for one in weights]
        if len(words) != 2 or None in words:
            raise BadArchive(_UNKNOWN)
        values = [_literal(one) for one in settings]
        values += [None] * (_SETTINGS[kind] - len(values))
        found[name] = node, _layer(kind, [str(word) for word in words], values)
    return found


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise BadArchive(_UNKNOWN) from None


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
