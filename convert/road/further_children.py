"""What more the processes under torch do: a Python module, a compiled package, a program for ExecuTorch."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from pathlib import Path
from typing import Any

from torchlift.convert.road.comparing import compare
from torchlift.convert.road.step import (
    Emit,
    Exported,
    NoResult,
    Task,
    bounded,
    first_line,
    own_method,
    said,
    warnings_off,
)


def compile_package(task: Task, emit: Emit) -> None:
    """Compiles the program with AOTInductor into `task.program` with the suffix `.aoti.pt2`."""
    with said(emit), bounded(task), warnings_off():
        import torch

        package = str(Path(task.program).with_suffix(".aoti.pt2"))
        try:
            torch._inductor.aoti_compile_and_package(torch.export.load(task.program), package_path=package)
        except Exception as error:
            compiler = "compiler" in str(error).lower() or "g++" in str(error)
            hint = "; AOTInductor needs a C++ compiler, such as g++" if compiler else ""
            emit(NoResult(f"{type(error).__name__}: {first_line(error)}{hint}"))
            return
        emit(Exported("AOTInductor", {}, False))


def prove_package(task: Task, emit: Emit) -> None:
    """The compiled package against the archive."""
    with said(emit), bounded(task), warnings_off():
        import torch

        package = torch._inductor.aoti_load_package(str(Path(task.program).with_suffix(".aoti.pt2")))
        compare(task, _without_gradients(package), emit, plain=task.way == -1, gradients=False)


def lower_for_executorch(task: Task, emit: Emit) -> None:
    """Writes the program for ExecuTorch, as `task.program` with the suffix `.pte`."""
    with said(emit), bounded(task), warnings_off():
        import torch

        try:
            to_edge_transform_and_lower = importlib.import_module("executorch.exir").to_edge_transform_and_lower
        except ImportError:
            emit(NoResult("ExecuTorch is not installed here; `pip install executorch` brings it"))
            return
        try:
            program = to_edge_transform_and_lower(torch.export.load(task.program)).to_executorch()
        except Exception as error:
            emit(NoResult(f"{type(error).__name__}: {first_line(error)}"))
            return
        with Path(task.program).with_suffix(".pte").open("wb") as file:
            program.write_to_file(file)
        emit(Exported("ExecuTorch", {}, False))


def prove_lowered(task: Task, emit: Emit) -> None:
    """The program for ExecuTorch, run by its own runtime, against the archive."""
    with said(emit), bounded(task), warnings_off():
        import torch
        from torch.utils import _pytree

        runtime = importlib.import_module("executorch.runtime").Runtime.get()
        method = runtime.load_program(Path(task.program).with_suffix(".pte")).load_method("forward")
        if method is None:
            emit(NoResult("ExecuTorch's runtime finds no method in the program"))
            return
        spec = torch.export.load(task.program).call_spec.out_spec

        def call(*args: Any, **kwargs: Any) -> Any:
            given, _ = _pytree.tree_flatten((args, kwargs))
            return _pytree.tree_unflatten(method.execute(given), spec)

        compare(task, call, emit, plain=True, gradients=False)


def _without_gradients(package: Any) -> Any:
    import torch

    def call(*args: Any, **kwargs: Any) -> Any:
        with torch.no_grad():
            return package(*args, **kwargs)

    return call


def emit_python(task: Task, emit: Emit) -> None:
    """Writes a module, its weights and a test into the folder `task.program`, named as the archive."""
    with said(emit), bounded(task), warnings_off():
        from torchlift.convert.road.emitting import module_text, text_of_test, write_weights
        from torchlift.convert.translation.eager import python_of

        path, folder = Path(task.path), Path(task.program)
        made, weights = python_of(path)
        name = module_name(path)
        text = module_text(name, path.name, made.text, task.libraries)
        compile(text, f"{name}.py", "exec", dont_inherit=True)
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        args, kwargs = task.tries[0]
        test = text_of_test(name, task, args, kwargs)
        (folder / f"test_{name}.py").write_text(test, encoding="utf-8")
        write_weights(weights, folder / f"{name}.safetensors")
        emit(Exported("python", {}, False))


def prove_python(task: Task, emit: Emit) -> None:
    """The module in the folder `task.program` against the archive."""
    with said(emit), bounded(task), warnings_off():
        name = module_name(Path(task.path))
        spec = importlib.util.spec_from_file_location(name, Path(task.program, f"{name}.py"))
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        compare(task, own_method(module.load(), task.method), emit, plain=False)


def module_name(path: Path) -> str:
    """A name for a Python module, from that of a file."""
    name = re.sub(r"\W", "_", path.stem, flags=re.ASCII).lower()
    return (
        f"model_{name}"
        if not name.isidentifier() or keyword.iskeyword(name) or name in sys.stdlib_module_names
        else name
    )
