"""The archive as an eager module: its code written anew, run, and filled with its weights."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

from torchlift.convert.archive.model_file import read_model_file
from torchlift.convert.archive.zip_entries import BadArchive
from torchlift.convert.translation.module_text import Written, written
from torchlift.convert.translation.weights import StoredTensors

HEAD = """import builtins
import math
import warnings
from enum import Enum
from typing import Any, NamedTuple, Optional, Union

import torch
from torch import Tensor, nn
from torch.nn import functional as F


"""


def python_of(path: Path) -> tuple[Written, dict[str, Any]]:
    """The archive as Python text, and its weights as tensors. Raises `BadArchive`."""
    found = read_model_file(path).torchscript
    if found is None:
        raise BadArchive("is no TorchScript archive")
    stored = StoredTensors(path, found)
    made = written(found, stored.number)
    return made, stored.all(made.weights)


def eager_module(path: Path) -> Any:
    """The model as an `nn.Module`.

    Raises:
        BadArchive: something in it has no counterpart; the text says what.
    """
    made, weights = python_of(path)
    text = HEAD + made.text
    name = f"{path.stem}.py"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": "converted"}
    exec(compile(text, name, "exec", dont_inherit=True), namespace)
    return namespace["build"](weights)
