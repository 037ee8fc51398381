"""Runs one program in a fresh process and describes its `result`."""

from __future__ import annotations

import linecache
import sys
import traceback
import types
from pathlib import Path

from torchlift.lazy_dataclass import dataclass
from torchlift.testing.calls import observe, seed_everything
from torchlift.testing.describe import describe, describe_error
from torchlift.testing.job import Emit
from torchlift.testing.nodes import Node


@dataclass(frozen=True)
class ProgramTask:
    """Code that is run in the working directory, statements run after it, and whether TorchScript is off."""

    code: str
    run: str
    eager: bool = False


@dataclass(frozen=True)
class ProgramResult:
    """The description of `result`, or an error with its traceback."""

    result: Node
    trace: str = ""


def run_program_task(task: ProgramTask, emit: Emit) -> None:
    """Emits one `ProgramResult`."""
    folder = Path.cwd()
    sys.path.insert(0, str(folder))
    if task.eager:
        from torchlift.testing.eager_mode import switch_torchscript_off

        switch_torchscript_off()
    seed_everything(0)
    # Classes find their source by the file of their module, and are pickled by its name.
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=str(folder / "example.py"), observe=observe)
    sys.modules["__main__"] = main
    linecache.cache["run.py"] = (len(task.run), None, task.run.splitlines(keepends=True), "run.py")
    namespace = main.__dict__
    try:
        exec(compile(task.code, "example.py", "exec", dont_inherit=True), namespace)
        exec(compile(task.run, "run.py", "exec", dont_inherit=True), namespace)
        result = describe(namespace.get("result"))
    except (Exception, SystemExit) as error:
        emit(ProgramResult(describe_error(error), traceback.format_exc()))
        return
    emit(ProgramResult(result))
