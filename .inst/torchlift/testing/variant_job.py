"""Makes one variant and calls it; runs in a fresh process."""

from __future__ import annotations

import copy
import ctypes
import hashlib
import inspect
import sysconfig
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from torchlift.testing.calls import describe_inputs, observe_calls, seed_everything
from torchlift.testing.cases import Case, cases, with_dtype
from torchlift.testing.describe import describe, describe_error, type_name
from torchlift.testing.inputs import Inputs, fresh, input_sets, tensors
from torchlift.testing.job import Emit
from torchlift.testing.nodes import Call, short
from torchlift.testing.variant import Doing, Failure, Made, Saved, StageCall, VariantTask


def run_variant(task: VariantTask, emit: Emit) -> None:
    """Emits `Doing`, `Made`, `Saved` and one `StageCall` per call; or a `Failure` and nothing more."""
    import torch

    steps = _Steps(task, emit)
    make = steps.user("import", f"importing {task.make.text}", task.make.load)
    give = steps.user("import", f"importing {task.inputs.text}", task.inputs.load)
    mask = steps.user("import", f"importing {task.mask.text}", task.mask.load) if task.mask and make and give else None
    if make is None or give is None or (task.mask and mask is None):
        return
    seed_everything(task.seeds[0])
    given = steps.user("inputs", f"{task.inputs.text}", lambda: [fresh(one) for one in input_sets(give())])
    if given is None:
        return
    seed_everything(task.seeds[0])
    value = steps.user("make", task.make.text, lambda: _checked(make()))
    if value is None:
        return
    drawn = _digest(torch.get_rng_state())
    callee = _callee(value)
    dtypes = task.dtypes if task.dtypes is not None else _dtypes(callee, given)
    emit(
        Made(
            type_name(value),
            getattr(callee, "training", None),
            _state(callee),
            drawn,
            tuple(describe_inputs(one) for one in given),
            dtypes,
            tuple(_never_given(callee, given)) if task.role == "eager" else (),
        )
    )
    loaded = _saved_and_loaded(value, emit) if task.save and task.role != "eager" else None
    duplicates = [_duplicate(callee) for _ in dtypes]

    def observe(target: Callable[..., Any], tried: Iterator[Case], during: str) -> Iterator[Call]:
        return observe_calls(
            target,
            tried,
            seeds=task.seeds,
            calls=task.calls,
            mask=mask,
            grad=task.grad,
            before=lambda doing: emit(Doing(f"{during}{doing}")),
        )

    for call in observe(callee, _cases(task, given), ""):
        emit(StageCall(False, call))
    if loaded is not None:
        for call in observe(loaded, _cases(task, given), "saved and loaded, "):
            emit(StageCall(True, call))
    for name, duplicate in zip(dtypes, duplicates, strict=True):
        dtype = getattr(torch, name)
        for call in observe(_converted(duplicate, dtype), _dtype_cases(given, dtype, name), ""):
            emit(StageCall(False, call))


class _Steps:
    """Runs the user's functions; what they raise becomes a `Failure`."""

    def __init__(self, task: VariantTask, emit: Emit) -> None:
        self._task, self._emit = task, emit

    def user(self, kind: Any, doing: str, function: Callable[[], Any]) -> Any:
        """What the function returns, or None after a failure."""
        self._emit(Doing(doing))
        try:
            return function()
        except (Exception, SystemExit) as error:
            verb = "failed with" if kind == "import" else "raised"
            text = f"{doing} {verb} {short(describe_error(error))}"
            self._emit(Failure(self._task.role, kind, _sentence(text), _user_frames(error)))
            return None


def _checked(value: Any) -> Any:
    if value is None or not (callable(value) or _is_program(value)):
        raise TypeError(f"it returned {short(describe(value))}, which cannot be called")
    return value


def _is_program(value: Any) -> bool:
    import torch

    return isinstance(value, torch.export.ExportedProgram)


def _callee(value: Any) -> Any:
    return value.module() if _is_program(value) else value


def _cases(task: VariantTask, given: list[Inputs]) -> Iterator[Case]:
    for number, example in enumerate(given, start=1):
        name = f"example {number}" if len(given) > 1 else ""
        yield from cases(example, name, task.batch_sizes, task.other_values)


def _dtype_cases(given: list[Inputs], dtype: Any, name: str) -> Iterator[Case]:
    for number, example in enumerate(given, start=1):
        yield Case(f"example {number}, {name}" if len(given) > 1 else name, with_dtype(example, dtype))


def _saved_and_loaded(value: Any, emit: Emit) -> Any:
    """The value after a round trip through its file; None without one."""
    import torch

    scripted = isinstance(value, (torch.jit.ScriptModule, torch.jit.ScriptFunction))
    if not scripted and not _is_program(value):
        emit(Saved(""))
        return None
    emit(Doing("saving and loading"))
    with tempfile.TemporaryDirectory() as folder:
        try:
            if scripted:
                path = Path(folder, "model.pt")
                torch.jit.save(value, str(path))
                loaded = torch.jit.load(str(path))  # type: ignore[no-untyped-call]
            else:
                path = Path(folder, "model.pt2")
                torch.export.save(value, path)
                loaded = torch.export.load(path).module()
        except Exception as error:
            emit(Saved(short(describe_error(error))))
            return None
    emit(Saved(None))
    return loaded


def _duplicate(callee: Any) -> Any:
    try:
        return copy.deepcopy(callee)
    except Exception:
        return callee


def _converted(callee: Any, dtype: Any) -> Callable[..., Any]:
    """The module in another dtype, if it has floating point state; what raises on the way is raised by every call."""
    import torch

    if not isinstance(callee, torch.nn.Module):
        return callee  # type: ignore[no-any-return]
    floating = [t for t in (*callee.parameters(), *callee.buffers()) if t.is_floating_point()]
    if not floating:
        return callee
    try:
        return callee.to(dtype)
    except Exception as error:
        problem = error

        def raises(*args: Any, **kwargs: Any) -> Any:
            raise problem

        return raises


def _dtypes(callee: Any, given: list[Inputs]) -> tuple[str, ...]:
    """float64 (float32 for float64 inputs), if the source of a `forward` that is not torch's own reads `.dtype`."""
    import torch

    if not isinstance(callee, torch.nn.Module):
        return ()
    read = False
    for module in callee.modules():
        if not type(module).__module__.startswith("torch."):
            try:
                read |= ".dtype" in inspect.getsource(type(module).forward)
            except (OSError, TypeError):
                continue
    floating = [t.dtype for one in given for t in tensors(one) if t.is_floating_point()]
    if not read or not floating:
        return ()
    return ("float32" if floating[0] == torch.float64 else "float64",)


def _never_given(callee: Any, given: list[Inputs]) -> Iterator[str]:
    forward = getattr(callee, "forward", callee)
    try:
        signature = inspect.signature(forward)
    except (TypeError, ValueError):
        return
    seen: set[str] = set()
    for one in given:
        try:
            bound = signature.bind(*one.args, **one.kwargs).arguments
        except TypeError:
            return
        seen |= {name for name, value in bound.items() if value is not None}
    for name, parameter in signature.parameters.items():
        if parameter.default is not inspect.Parameter.empty and name not in seen:
            yield name


def _state(callee: Any) -> dict[str, tuple[str, str]] | None:
    try:
        state = callee.state_dict()
        return {name: (_kind(value), _digest(value)) for name, value in state.items()}
    except Exception:
        return None


def _kind(value: Any) -> str:
    import torch

    if isinstance(value, torch.Tensor):
        return f"{value.dtype}{list(value.shape)}"
    return type_name(value)


def _digest(value: Any) -> str:
    """A short form of a value that differs when the value does; tensors are read where they lie."""
    import torch

    if isinstance(value, torch.Tensor) and value.layout == torch.strided and not value.is_quantized:
        plain = value.detach().cpu().contiguous()
        if not plain.numel():
            return ""
        return hashlib.sha256((ctypes.c_char * plain.nbytes).from_address(plain.data_ptr())).hexdigest()
    return hashlib.sha256(repr(describe(value)).encode()).hexdigest()


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _user_frames(error: BaseException) -> str:
    """The lines of the traceback that are in the user's files."""
    ours = str(Path(__file__).parent)
    installed = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))
    frames = []
    for frame in traceback.extract_tb(error.__traceback__):
        if not frame.filename.startswith((ours, *installed, "<")) and "torchlift/testing" not in frame.filename:
            frames.append(f"{frame.filename}:{frame.lineno}: {frame.line}")
    return "\n".join(frames)
