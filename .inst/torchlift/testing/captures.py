"""Compares what a model does in eager mode, as TorchScript and after the migration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from torchlift.testing.comparison import Comparison, Difference
from torchlift.testing.difference import Mismatch, Tolerance, call_mismatches
from torchlift.testing.nodes import Call, Raised, short
from torchlift.testing.notes import notes
from torchlift.testing.processes import FreshProcesses, fresh_processes
from torchlift.testing.reference import reference
from torchlift.testing.variant import (
    NAMES,
    Doing,
    Failure,
    Made,
    Role,
    Saved,
    StageCall,
    Variant,
    VariantTask,
    by_label,
)
from torchlift.testing.verdict import Verdict, judge, worst

Named = Callable[..., Any] | str
_JOB = "torchlift.testing.variant_job:run_variant"


def compare_captures(
    *,
    eager: Named | None = None,
    torchscript: Named | None = None,
    migrated: Named,
    inputs: Named,
    mask: Named | None = None,
    seeds: Sequence[int] = (0,),
    calls: int = 2,
    batch_sizes: Sequence[int] | None = None,
    dtypes: Sequence[Any] | None = None,
    other_values: bool = True,
    rtol: float = 1e-5,
    atol: float = 1e-5,
    save: bool = True,
    grad: bool = True,
    timeout: float = 600.0,
    processes: FreshProcesses | None = None,
) -> Comparison:
    """Makes and calls each variant in a fresh process and compares everything that can be seen from outside.

    Outputs are compared in structure, Python classes, dtype, shape, kind of device, `requires_grad` and values (NaN equals
    NaN); inputs are compared after the call. Every call gets fresh copies of its inputs and comes right after seeding.
    Each input is used `calls` times in a row, as it is, with other values, and with other batch sizes; then once more
    with the value that was saved and loaded.

    Functions are given as such, if they stand at the top of a module, or as `package.module:function` or
    `file.py:function`.

    Args:
        eager: makes the `nn.Module`.
        torchscript: makes the traced or scripted value; without it the migrated one is compared with eager only.
        migrated: makes the ExportedProgram, its `.module()`, or any other callable.
        inputs: gives the example: a tuple of arguments, a dictionary of keyword arguments, `Inputs(x, mask=m)`, a single
            argument, or a list of several such examples. It must give the same in every process.
        mask: `mask(output, *args, **kwargs)` gives what is compared instead of the output, for example without padding.
        seeds: what Python's, torch's and NumPy's generators are seeded with before every call.
        calls: consecutive calls with equal inputs; from two on, state in Python objects shows.
        batch_sizes: sizes of dimension 0 that are tried on all tensors that share the first one's; None for three more
            than the example has and 1, empty for none.
        dtypes: floating point types that inputs and modules are converted to; None for one other if a `forward` reads
            `.dtype`.
        other_values: whether the example is also tried with other values.
        rtol, atol: tolerance for floating point values; dtypes coarser than float32 get at least one rounding step.
        save: whether a ScriptModule and an ExportedProgram are also compared after a round trip through a file.
        grad: whether the calls record gradients; False compares inference under `torch.no_grad()`.
        timeout: seconds for each variant.
        processes: where they run; None for those that this Python process shares.

    Raises:
        ValueError: if a function cannot be found by a fresh process, neither `eager` nor `torchscript` is given, or an option
            makes no sense.
        TorchUnavailable: if torch is not installed.
    """
    if eager is None and torchscript is None:
        raise ValueError("There is nothing to compare with: give `eager`, `torchscript` or both.")
    if calls < 1 or not seeds:
        raise ValueError("At least one seed and one call are needed.")
    if any(size < 0 for size in batch_sizes or ()):
        raise ValueError("A batch size cannot be negative.")
    processes = processes or fresh_processes()
    variants: dict[Role, Variant] = {}
    chosen = None if dtypes is None else tuple(str(dtype).removeprefix("torch.") for dtype in dtypes)
    makers: tuple[tuple[Role, Named | None], ...] = (
        ("eager", eager),
        ("torchscript", torchscript),
        ("migrated", migrated),
    )
    for role, make in makers:
        if make is None:
            continue
        task = VariantTask(
            role,
            reference(make),
            reference(inputs),
            None if mask is None else reference(mask),
            tuple(seeds),
            calls,
            None if batch_sizes is None else tuple(batch_sizes),
            chosen if chosen is not None or role == "eager" else (),
            other_values,
            save,
            grad,
        )
        variants[role] = _run(task, processes, timeout)
        if chosen is None and (made := variants[role].made) is not None and role == "eager":
            chosen = made.dtypes
    return _compared(variants, Tolerance(rtol, atol))


def _run(task: VariantTask, processes: FreshProcesses, timeout: float) -> Variant:
    ending = processes.run(_JOB, task, timeout=timeout)

    def last(kind: type[Any]) -> Any:
        return next((record for record in reversed(ending.records) if isinstance(record, kind)), None)

    failure: Failure | None = last(Failure)
    if ending.how != "done":
        doing: Doing | None = last(Doing)
        during = f" during: {doing.what}" if doing else ""
        if ending.how == "timed out":
            text = f"{NAMES[task.role]} did not end within {timeout:g} seconds{during}."
            failure = Failure(task.role, "timeout", text)
        else:
            text = f"{NAMES[task.role]} crashed the process ({ending.reason}){during}."
            failure = Failure(task.role, "crash", text, _users_part(ending.output))
    made: Made | None = last(Made)
    saved: Saved | None = last(Saved)
    return Variant(
        task.role, made, saved, tuple(record for record in ending.records if isinstance(record, StageCall)), failure
    )


def _users_part(output: str) -> str:
    """What a dying process printed, without the frames of this package."""
    ours = (str(Path(__file__).parent), 'File "<string>"', "Extension modules:")
    return "\n".join(line for line in output.strip().splitlines() if not any(part in line for part in ours))


def _compared(variants: dict[Role, Variant], tolerance: Tolerance) -> Comparison:
    eager, script, migrated = (variants.get(role) for role in NAMES)
    assert migrated is not None
    everyone = tuple(variants.values())
    failures = [variant.failure for variant in everyone if variant.failure is not None]
    unequal = [v.role for v in everyone if v.made and migrated.made and v.made.inputs != migrated.made.inputs]
    if unequal:
        text = (
            f"The example inputs of {NAMES[unequal[0]]} are not those of migrated: the function that gives them must give "
            "the same in every process. torch, NumPy and random are seeded before it is called."
        )
        return Comparison(Verdict.FAILED, failures=(*failures, Failure("migrated", "inputs", text)), variants=everyone)
    differences: list[Difference] = []
    base = script or eager
    assert base is not None
    old_calls, eager_calls = by_label(base), by_label(eager) if eager else {}
    compared = 0
    for new in migrated.calls:
        key = (new.loaded, new.call.label)
        # What eager does has no file to go through.
        in_eager = eager_calls.get((False, new.call.label))
        old = old_calls.get(key if script else (False, new.call.label)) or (script and old_calls.get((False, key[1])))
        if not old:
            continue
        compared += not (isinstance(old.outcome, Raised) and isinstance(new.call.outcome, Raised))
        differences += _of_call(old, new, in_eager if script else None, tolerance, NAMES[base.role])
    saving = _saving(base, migrated)
    differences += saving
    verdicts = [difference.verdict for difference in differences]
    if not base.failure and base.calls and all(isinstance(item.call.outcome, Raised) for item in base.calls):
        text = f"Every call of {NAMES[base.role]} raised, so nothing was compared. {short(base.calls[0].call.outcome)}"
        failures.append(Failure(base.role, "calls", text))
        verdicts.append(Verdict.FAILED)
    if base.failure is None and migrated.failure is not None and migrated.made is not None:
        verdicts.append(Verdict.RAISES)  # it crashed or hung where the old code did not
    elif migrated.failure is not None or base.failure is not None or not compared:
        verdicts.append(Verdict.FAILED)
    return Comparison(
        worst(verdicts), tuple(differences), tuple(notes(variants, tolerance)), tuple(failures), compared, everyone
    )


def _of_call(old: Call, new: StageCall, eager: Call | None, tolerance: Tolerance, base: str) -> list[Difference]:
    from_eager = None if eager is None else call_mismatches(eager, new.call, tolerance)
    found = []
    for verdict, mismatch in judge(call_mismatches(old, new.call, tolerance), from_eager):
        words = ""
        if eager is not None and verdict is not Verdict.TORCHSCRIPT_WRONG:
            alike = not any(mismatch.overlaps(other) for other in call_mismatches(old, eager, tolerance))
            words = f"eager agrees with {base}" if alike else _in_eager(mismatch, eager)
        found.append(Difference(verdict, mismatch, new.loaded, base, words))
    return found


def _in_eager(mismatch: Mismatch, eager: Call) -> str:
    if isinstance(eager.outcome, Raised):
        return f"eager raised {short(eager.outcome)}"
    return f"eager returned {short(eager.outcome)}" if mismatch.aspect == "error" else "eager agrees with neither"


def _saving(base: Variant, migrated: Variant) -> list[Difference]:
    if migrated.saved is None or not migrated.saved.problem:
        return []
    if base.saved is not None and base.saved.problem:
        return []
    before = "saved and loaded" if base.saved is not None and base.saved.problem is None else "not saved"
    mismatch = Mismatch("save and load", "error", before, f"raised {migrated.saved.problem}")
    return [Difference(Verdict.RAISES, mismatch, old=NAMES[base.role])]
