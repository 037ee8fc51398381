"""Inputs of calls as files, only where the user asked for them: safetensors, for a later proof without the command.

The format is eight bytes of length, a JSON header and the bytes of all tensors (https://github.com/huggingface/safetensors,
read 2026-11), so nothing has to be installed for it.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any

from .describe import described, tensors_of
from .spool import SPOOL

_MOST = 1 << 20
_TYPES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint8": "U8",
    "bool": "BOOL",
}


def keep(value: Any, method: str, args: Any, kwargs: Any, signature: Any, place: Any) -> None:
    """Write the inputs of a call, unless one like it was kept or those of this value are a mebibyte already."""
    folder = SPOOL.options.get("keep_inputs")
    if not folder or ("inputs", signature) in value.told:
        return
    value.told.add(("inputs", signature))
    tensors = tensors_of((args, kwargs))
    size = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    if value.kept + size > _MOST:
        SPOOL.problem("inputs beyond one mebibyte a value are not kept", None, place)
        return
    value.kept += size
    about = {"method": method, "place": json.dumps(place), "args": json.dumps([described(item) for item in args])}
    about["kwargs"] = json.dumps({name: described(item) for name, item in kwargs.items()})
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{value.number}-{len(value.told)}.safetensors")
    with open(path, "wb") as file:
        file.write(_packed(tensors, about))
    SPOOL.write({"e": "kept", "object": value.number, "path": path})


def _packed(tensors: list[Any], about: dict[str, str]) -> bytes:
    torch = sys.modules["torch"]
    header: dict[str, Any] = {"__metadata__": about}
    parts = []
    offset = 0
    for index, tensor in enumerate(tensors):
        kind = _TYPES.get(str(tensor.dtype).replace("torch.", ""))
        if kind is None or tensor.layout != torch.strided or tensor.is_quantized:
            continue
        plain = tensor.detach().to("cpu").contiguous()
        data = ctypes.string_at(plain.data_ptr(), plain.numel() * plain.element_size()) if plain.numel() else b""
        header[f"input{index}"] = {
            "dtype": kind,
            "shape": list(plain.shape),
            "data_offsets": [offset, offset + len(data)],
        }
        offset += len(data)
        parts.append(data)
    head = json.dumps(header).encode("ascii")
    head += b" " * (-len(head) % 8)
    return len(head).to_bytes(8, "little") + head + b"".join(parts)
