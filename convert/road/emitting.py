"""A Python module in the place of an archive whose source is lost: code, weights, and a test that compares."""

from __future__ import annotations

import ctypes
import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torchlift.convert.archive.zip_entries import BadArchive
from torchlift.convert.road.step import Task

_DTYPES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32", "int16": "I16",
    "int8": "I8", "uint8": "U8", "bool": "BOOL", "complex64": "C64",
}  # fmt: skip

_HEAD = '''"""{title}

Written by torchlift from the code and the weights of the TorchScript archive {archive}; it needs {needs} and nothing else.
TorchScript keeps no comments, has unrolled loops over modules, and names intermediate values `_0`, `x1` and so on.

    model = {name}.load()
"""

from __future__ import annotations

import json
import struct
{imports}from pathlib import Path
{typing}
import torch
{libraries}from torch import Tensor, nn
{functional}
WEIGHTS = Path(__file__).with_suffix(".safetensors")


def load(path: Path = WEIGHTS) -> nn.Module:
    """The model with its weights; in training mode only where the archive was."""
    return build(read_weights(path))


def read_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file, by name."""
    dtypes = {dtypes}
    data = bytearray(path.read_bytes())
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    weights = {{}}
    for name, one in header.items():
        if name != "__metadata__":
            start, end = (8 + length + place for place in one["data_offsets"])
            raw = torch.frombuffer(data[start:end], dtype=torch.uint8) if end > start else torch.empty(0, dtype=torch.uint8)
            weights[name] = raw.view(getattr(torch, dtypes[one["dtype"]])).reshape(one["shape"])
    return weights


'''

_TEST = '''"""Compares {name}.py with the archive that it was made of: python {test} {given}"""

{imports}import sys
{zips}
import torch

import {name}


def inputs() -> tuple[tuple, dict]:
    """Inputs of a call, new ones every time."""
    return ({args}), {{{kwargs}}}


def main(archive: str) -> None:
    old = torch.jit.load({archive}, map_location="cpu")
    new = {name}.load()
    for seed in range(3):
        args, kwargs = inputs()
        again = [one.detach().clone().requires_grad_(one.requires_grad) if isinstance(one, torch.Tensor) else one for one in args]
        torch.manual_seed(seed)
        expected = old{method}(*args, **kwargs)
        torch.manual_seed(seed)
        compare(new{method}(*again, **kwargs), expected)
    print("same")


def compare(new: object, old: object) -> None:
    """Part by part: named tuples of an archive have classes of their own."""
    if isinstance(old, (tuple, list)):
        assert len(new) == len(old), (new, old)
        for one, other in zip(new, old):
            compare(one, other)
    elif isinstance(old, dict):
        assert new.keys() == old.keys(), (new, old)
        for key in old:
            compare(new[key], old[key])
    elif isinstance(old, (torch.Tensor, float, complex)):
        torch.testing.assert_close(new, old, rtol=1e-5, atol=1e-5)
    else:
        assert new == old, (new, old)


{moving}if __name__ == "__main__":
    main(sys.argv[1])
'''
_MOVING = '''def on_cpu(archive: str) -> io.BytesIO:
    """The archive with the CPU in the place of the devices that its code names."""
    made = io.BytesIO()
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(made, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename.endswith(".py"):
                data = re.sub(rb'torch\\.device\\("[a-z]+(:\\d+)?"\\)', b'torch.device("cpu")', data)
            if not entry.filename.endswith(".debug_pkl"):
                new.writestr(entry.filename, data)
    made.seek(0)
    return made


'''


def module_text(name: str, archive: str, body: str, libraries: tuple[str, ...]) -> str:
    """The text of the module; `libraries` bring operators that it calls."""
    words = {name: f"import {name}\n" for name in ("builtins", "math", "warnings")}
    imports = "".join(line for word, line in words.items() if f"{word}." in body or f"({word}," in body)
    typing = [word for word in ("Any", "NamedTuple", "Optional", "Union") if word in body]
    lines = (["from enum import Enum"] if "(Enum)" in body else []) + (
        [f"from typing import {', '.join(typing)}"] if typing else []
    )
    head = _HEAD.format(
        title=f"The model of {archive}.",
        archive=archive,
        name=name,
        needs=" and ".join(("torch", *libraries)),
        libraries="".join(f"import {library}  # brings torch.ops.{library}\n" for library in libraries),
        imports=imports,
        typing="\n".join(lines) + "\n" if lines else "",
        functional="from torch.nn import functional as F\n" if "F." in body else "",
        dtypes={short: long for long, short in _DTYPES.items()},
    )
    return head.replace("\n\n\nimport torch", "\n\nimport torch") + body


def text_of_test(name: str, task: Task, args: list[Any], kwargs: dict[str, Any]) -> str:
    """The text of the test beside it, which calls the method of the task with such inputs."""
    below, moved = task.below, task.moved
    given = [code_of(value, below) for value in args]
    named = [f"{key!r}: {code_of(value, below)}" for key, value in kwargs.items()]
    words = ", ".join(given) + ("," if len(given) == 1 else "")
    call = "" if task.method == "forward" else f".{task.method}"
    parts = {"name": name, "test": f"test_{name}.py", "args": words, "kwargs": ", ".join(named), "method": call}
    parts["given"] = f"{name}_unpacked.pt" if task.unpacked else "ARCHIVE"
    parts["archive"] = "on_cpu(archive)" if moved else "archive"
    parts["imports"], parts["zips"] = ("import io\nimport re\n", "import zipfile\n") if moved else ("", "")
    return _TEST.format(**parts, moving=_MOVING if moved else "")


def code_of(words: Any, below: int) -> str:
    """An input in words as Python."""
    if isinstance(words, str):
        plain = words.removesuffix("+grad")
        kind, _, rest = plain.partition("[")
        sizes, _, limit = rest.partition("]")
        shape = f"[{', '.join(filter(None, sizes.split(',')))}]"
        if kind == "bool":
            return f"torch.rand({shape}) > 0.5"
        if "int" in kind:
            most = limit.rpartition("<")[2] or str(below)
            return f"torch.randint(0, {most}, {shape}, dtype=torch.{kind})"
        return f"torch.rand({shape}).to(torch.{kind}){'.requires_grad_()' * (plain != words)}"
    if isinstance(words, list):
        return f"[{', '.join(code_of(item, below) for item in words)}]"
    if isinstance(words, dict) and "str" in words:
        return repr(words["str"])
    if isinstance(words, dict) and "tuple" in words:
        return f"({', '.join(code_of(item, below) for item in words['tuple'])},)"
    if isinstance(words, dict):
        return "{" + ", ".join(f"{key!r}: {code_of(item, below)}" for key, item in words["dict"].items()) + "}"
    return repr(words)


def write_weights(weights: Mapping[str, Any], path: Path) -> None:
    """Tensors as a safetensors file. Raises `BadArchive` for a dtype that the format does not have."""
    header: dict[str, Any] = {}
    parts: list[bytes] = []
    offset = 0
    for name, tensor in weights.items():
        dtype = str(tensor.dtype).removeprefix("torch.")
        if dtype not in _DTYPES:
            raise BadArchive(f"has weights of {dtype}, which a safetensors file cannot hold")
        raw = tensor.detach().contiguous().reshape(-1)
        data = ctypes.string_at(raw.data_ptr(), raw.nbytes) if raw.numel() else b""
        header[name] = {
            "dtype": _DTYPES[dtype],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + len(data)],
        }
        offset += len(data)
        parts.append(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for data in parts:
            file.write(data)
