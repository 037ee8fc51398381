"""What the processes under torch do: list, export, prove. Each is one function that gets plain data and emits plain data."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torchlift.convert.road.comparing import compare
from torchlift.convert.road.step import (
    Emit,
    Exported,
    Found,
    Problem,
    Task,
    bounded,
    callee,
    first_line,
    loaded,
    own_method,
    said,
    warnings_off,
)

_BELOWS = (100, 10, 2)


def list_inputs(task: Task, emit: Emit) -> None:
    """Emits `Found`, or a `Problem`: the first inputs with which the archive runs."""
    with said(emit), bounded(task):
        from torchlift.convert.road.made_inputs import made

        target = callee(loaded(task), task.method)
        end = time.monotonic() + task.seconds / 2
        first = ""
        for number, (args, kwargs) in enumerate(task.tries):
            whole = any("int" in part and "<" not in part for part in _tensors_in([args, kwargs]))
            for below in _BELOWS if whole else _BELOWS[-1:]:
                inputs = made(args, kwargs, below)
                try:
                    with warnings_off():
                        target(*inputs.args, **inputs.kwargs)
                except Exception as error:
                    first = first or first_line(error)
                    continue
                emit(Found(number, below, number + 1))
                return
            if time.monotonic() > end:
                break
        emit(Problem(f"it runs with none of {len(task.tries)} inputs; the first failed with: {first}"))


def export(task: Task, emit: Emit) -> None:
    """Writes the exported program, or emits a `Problem`."""
    with said(emit), bounded(task), warnings_off():
        import torch

        from torchlift.convert.road.made_inputs import made
        from torchlift.convert.translation.eager import eager_module
        from torchlift.record.prover.exporting import as_module, exported, fixed_sizes, ways

        model = eager_module(Path(task.path), task.flow)
        if model is None:
            emit(Problem("no further way"))
            return
        inputs = made(*task.tries[0], below=task.below)
        script = callee(loaded(task), task.method)
        named = _has_named_tuple(script(*made(*task.tries[0], below=task.below).args, **inputs.kwargs))
        possible = list(ways(inputs, [inputs], named))
        if task.way >= len(possible):
            emit(Problem("no further way"))
            return
        way = possible[task.way]
        name = f"{way.name}, with operators for branches and loops" if task.flow else way.name
        module = as_module(own_method(model, task.method), _kind_of(task.method), {})
        try:
            program = exported(module, way)
            torch.export.save(program, task.program)
        except Exception as error:
            emit(Problem(f"{name}: {_why(error)}"))
            return
        emit(Exported(name, fixed_sizes(program, way), way.plain, task.flow))


def _why(error: Exception) -> str:
    """What speaks against a way of exporting."""
    place = re.search(r'File "[^"]*", line \d+, in (\w+)\n\s+(\S.*)', str(error))
    if type(error).__name__ == "GuardOnDataDependentSymNode" and place is not None:
        return f"data decides what `{place[1]}` does, in `{place[2].strip()}`, and no operator can"
    return f"{type(error).__name__}: {first_line(error)}"


def convert_graph(task: Task, emit: Emit) -> None:
    """The same with torch's own converter of TorchScript graphs."""
    with said(emit), bounded(task), warnings_off():
        import torch
        from torch._export.converter import TS2EPConverter

        from torchlift.convert.road.made_inputs import made

        if task.method != "forward":
            emit(Problem("torch's converter knows `forward` only"))
            return
        inputs = made(*task.tries[0], below=task.below)
        named = _has_named_tuple(loaded(task)(*inputs.args, **inputs.kwargs))
        inputs = made(*task.tries[0], below=task.below)
        try:
            program = TS2EPConverter(loaded(task), tuple(inputs.args), inputs.kwargs or None).convert()
            torch.export.save(program, task.program)
        except Exception as error:
            emit(Problem(f"{type(error).__name__}: {first_line(error)}"))
            return
        emit(Exported("torch's converter", {}, named))


def prove(task: Task, emit: Emit) -> None:
    """Emits `Compared` for each case: the archive against the program in `task.program`."""
    with said(emit), bounded(task), warnings_off():
        import torch

        program = torch.export.load(task.program).module()
        compare(task, program, emit, plain=task.way == -1)


def _kind_of(method: str) -> str:
    return "module" if method == "forward" else "function"


def _has_named_tuple(value: Any) -> bool:
    if isinstance(value, tuple):
        return hasattr(value, "_fields") or any(map(_has_named_tuple, value))
    return False


def _tensors_in(words: Any) -> Iterator[str]:
    if isinstance(words, str):
        yield words
    elif isinstance(words, list):
        for item in words:
            yield from _tensors_in(item)
    elif isinstance(words, dict) and "str" not in words:
        for item in words.values():
            yield from _tensors_in(item)
