"""What the processes under torch do: list, export, prove. Each is one function that gets plain data and emits plain data."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from torchlift.convert.road.comparing import compare
from torchlift.convert.road.step import (
    Emit,
    Exported,
    NoResult,
    Task,
    bounded,
    callee,
    first_line,
    loaded,
    own_method,
    said,
    warnings_off,
)


def list_inputs(task: Task, emit: Emit) -> None:
    """Emits `FoundInputs`, or a `NoResult`: the first inputs with which the archive runs."""
    with said(emit), bounded(task), warnings_off():
        from torchlift.convert.road.trying import first_that_runs

        target = callee(loaded(task), task.method)
        emit(first_that_runs(target, task.tries, task.searched, time.monotonic() + task.seconds / 2))


def export(task: Task, emit: Emit) -> None:
    """Writes the exported program, or emits a `NoResult`."""
    with said(emit), bounded(task), warnings_off():
        import torch

        from torchlift.convert.road.made_inputs import made
        from torchlift.convert.translation.eager import eager_module
        from torchlift.record.prover.exporting import as_module, exported, fixed_sizes, ways

        model = eager_module(Path(task.path), task.flow)
        if model is None:
            emit(NoResult("no further way"))
            return
        inputs = made(*task.tries[0], below=task.below)
        script = callee(loaded(task), task.method)
        named = _has_named_tuple(script(*made(*task.tries[0], below=task.below).args, **inputs.kwargs))
        possible = list(ways(inputs, [inputs], named))
        if task.way >= len(possible):
            emit(NoResult("no further way"))
            return
        way = possible[task.way]
        name = f"{way.name}, with operators for branches and loops" if task.flow else way.name
        module = as_module(own_method(model, task.method), _kind_of(task.method), {})
        try:
            program = exported(module, way)
            torch.export.save(program, task.program)
        except Exception as error:
            emit(NoResult(f"{name}: {_why(error)}"))
            return
        emit(Exported(name, fixed_sizes(program, way), way.plain, task.flow))


def _why(error: Exception) -> str:
    """What speaks against a way of exporting."""
    place = re.search(r'File "[^"]*", line \d+, in (\w+)\n\s+(\S.*)', str(error))
    if type(error).__name__ == "GuardOnDataDependentSymNode" and place is not None:
        return f"what only the data knows decides in `{place[1]}`: `{place[2].strip()}`; no operator can stand for that"
    return f"{type(error).__name__}: {first_line(error)}"


def convert_graph(task: Task, emit: Emit) -> None:
    """The same with torch's own converter of TorchScript graphs."""
    with said(emit), bounded(task), warnings_off():
        import torch
        from torch._export.converter import TS2EPConverter

        from torchlift.convert.road.made_inputs import made

        if task.method != "forward":
            emit(NoResult("torch's converter knows `forward` only"))
            return
        inputs = made(*task.tries[0], below=task.below)
        named = _has_named_tuple(loaded(task)(*inputs.args, **inputs.kwargs))
        inputs = made(*task.tries[0], below=task.below)
        try:
            program = TS2EPConverter(loaded(task), tuple(inputs.args), inputs.kwargs or None).convert()
            torch.export.save(program, task.program)
        except Exception as error:
            emit(NoResult(f"{type(error).__name__}: {first_line(error)}"))
            return
        emit(Exported("torch's converter", {}, named))


def prove(task: Task, emit: Emit) -> None:
    """Emits `CaseDifferences` for each case: the archive against the program in `task.program`."""
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
