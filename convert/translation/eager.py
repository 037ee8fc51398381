"""The archive as an eager module: its code written anew, run, and filled with its weights."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from torchlift.convert.archive.model_file import read_model_file
from torchlift.convert.archive.zip_entries import BadArchive
from torchlift.convert.translation.module_text import WrittenModule, written
from torchlift.convert.translation.weights import StoredTensors

HEAD = """from __future__ import annotations

import builtins
import math
import warnings
from enum import Enum
from typing import Any, NamedTuple, Optional, Union

import torch
from torch import Tensor, nn
from torch.nn import functional as F


"""


def python_of(path: Path, *, flow: bool = False, arithmetic: bool = False) -> tuple[WrittenModule, dict[str, Any]]:
    """The archive as Python text, and its weights as tensors; `flow` and `arithmetic` as in `written`. Raises `BadArchive`."""
    found = read_model_file(path).torchscript
    if found is None:
        raise BadArchive("is no TorchScript archive")
    stored = StoredTensors(path, found)
    made = written(found, stored.number, flow=flow, arithmetic=arithmetic)
    return made, stored.all(made.weights)


def eager_module(path: Path, flow: bool = False) -> Any:
    """The model as an `nn.Module`.

    Args:
        path: the archive.
        flow: whether branches and loops that data decides become `torch.cond` and `while_loop`; None is returned where
            there are none.

    Raises:
        BadArchive: something in it has no counterpart; the text says what.
    """
    made, weights = python_of(path, flow=flow, arithmetic=True)
    if flow and not made.flows:
        return None
    text = HEAD + made.text
    name = f"{path.stem}.py"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = sys.modules["converted"] = ModuleType(
        "converted"
    )  # where what compiles its functions looks for their globals
    exec(compile(text, name, "exec", dont_inherit=True), vars(module))
    return module.build(weights)
