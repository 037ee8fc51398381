"""Inputs that nobody gave: from the types of a schema and the sizes of the parameters, most likely ones first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from torchlift.convert.archive.model_file import ModelFile
from torchlift.convert.archive.values import tensors_of
from torchlift.convert.road.given_inputs import GivenInputs

_MOST = 160
_LAYERS = 8
_COMMON = (
    "float32[4,3]",
    "float32[2,3,32,32]",
    "float32[2,1,28,28]",
    "float32[2,3,224,224]",
    "float32[2,3,16]",
    "float32[4]",
    "float32[2,3]",
    "float32[]",
)
_SAID = "Nobody gave inputs: these were found by trying, and that they run does not make them the intended ones."


def searched(found: ModelFile, method: str) -> Iterator[GivenInputs]:
    """Inputs to try, one after the other; nothing where the types leave too much open."""
    script = found.torchscript
    kind = script.code.classes.get(str(script.model.kind)) if script and script.model else None
    function = kind.methods.get(method) if kind else None
    if function is None:
        return
    tensors = list(dict.fromkeys([*_sizes(found), *_COMMON]))
    wanted = [(name, type_) for name, type_, default in function.parameters if default is None]
    if any(_options(type_, ["float32[1]"]) is None for _, type_ in wanted):
        return
    tried: dict[str, None] = {}
    alike = ([_options(type_, [one])[:1] for _, type_ in wanted] for one in tensors)  # type: ignore[index]
    free = [_options(type_, tensors) or [] for _, type_ in wanted]
    for choice in itertools.chain((tuple(one[0] for one in row) for row in alike), _by_sum(free)):
        given = GivenInputs(list(choice), {}, "search", _SAID)
        if str(given) not in tried:
            tried[str(given)] = None
            yield given
        if len(tried) >= _MOST:
            return


def _by_sum(options: list[list[Any]]) -> Iterator[tuple[Any, ...]]:
    """All combinations of the first few options, likely ones first."""
    few = [one[:12] for one in options]
    places = sorted(itertools.product(*(range(len(one)) for one in few)), key=sum) if len(few) <= 3 else []
    for place in places:
        yield tuple(one[number] for one, number in zip(few, place, strict=True))


def _options(type_: str, tensors: list[str]) -> list[Any] | None:
    """What a parameter of this type may be given; None where that cannot be guessed."""
    plain: dict[str, list[Any]] = {
        "Tensor": list(tensors),
        "int": [2, 1, 4],
        "float": [0.5, 1.0],
        "bool": [False, True],
        "str": [{"str": ""}],
        "number": [1],
        "NoneType": [None],
    }
    if type_ in plain:
        return plain[type_]
    outer, _, inner = type_.partition("[")
    inner = inner[:-1]
    if outer == "Optional":
        return [None]
    if outer == "Dict":
        return [{"dict": {}}]
    if outer == "List":
        items = _options(inner, tensors)
        return None if items is None else [[item, item] for item in items]
    if outer == "Tuple":
        parts = [_options(part.strip(), tensors) for part in _split(inner)]
        if any(part is None for part in parts):
            return None
        return [{"tuple": list(row)} for row in zip(*(part for part in parts if part), strict=False)]
    return None


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and not depth:
            parts.append(text[start:place])
            start = place + 1
    return [part for part in (*parts, text[start:]) if part.strip(" ()")]


def _sizes(found: ModelFile) -> Iterator[str]:
    """Shapes that layers with parameters of these sizes take."""
    seen: set[tuple[int, ...]] = set()
    constants = found.torchscript.constants if found.torchscript is not None else []  # of frozen archives the weights
    for name, tensor in (*found.tensors(), *tensors_of(constants)):
        shape = tensor.shape
        if not tensor.dtype.startswith(("float", "bfloat")) or 0 in shape or shape in seen or len(seen) >= _LAYERS:
            continue
        seen.add(shape)
        dtype = tensor.dtype
        if len(shape) == 5:
            yield f"{dtype}[2,{shape[1]},8,32,32]"
        elif len(shape) == 4:
            yield from (
                f"{dtype}[2,{channels},{side},{side}]" for channels in (shape[1], shape[0]) for side in (32, 64, 224)
            )
        elif len(shape) == 3:
            yield from (f"{dtype}[2,{channels},64]" for channels in (shape[1], shape[0]))
        elif len(shape) == 2:
            tokens = [f"int64[3,5]<{shape[0]}", f"int64[5]<{shape[0]}"]
            rows = [
                f"{dtype}[4,{shape[1]}]",
                f"{dtype}[1,{shape[1]}]",
                f"{dtype}[2,5,{shape[1]}]",
                f"{dtype}[5,2,{shape[1]}]",
            ]
            yield from [*tokens, *rows] if "emb" in name or shape[0] > 4 * shape[1] else [*rows, *tokens]
        elif len(shape) == 1:
            yield from (f"{dtype}[4,{shape[0]}]", f"{dtype}[2,{shape[0]},8,8]")
