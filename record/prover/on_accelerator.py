"""Proves in a copy that was made before the program used an accelerator: it starts the device itself, once, for all steps."""

from __future__ import annotations

import copy
import inspect
import io
from typing import Any

from .keeper import Doings, Subject
from .limits import Limits
from .steps import Emit, attempt


def prove_there(capture: Subject, course: Doings, limits: Limits) -> dict[str, Any]:
    """`proof` of the evidence file. A process that uses a device cannot be copied again: one does every step."""

    def work(emit: Emit) -> None:
        import torch

        if getattr(torch, course.accelerator or "")._is_in_bad_fork():
            emit(
                (
                    "proof",
                    {"unproved": f"{course.accelerator}: a copy of a process that asked for its GPUs cannot use them"},
                )
            )
            return
        from .proof import prove

        capture.anew = _again(capture)
        emit(("proof", prove(capture, course, limits)))

    made = attempt(work, limits.seconds, 2 * limits.seconds, None)
    for _, proof in made.results:
        return dict(proof)
    return {"unproved": f"{made.problem}, while it was proved on {course.accelerator}"}


def _again(capture: Subject) -> Any:
    """What gives the Python object and the captured value as they were at the capture, again and again."""
    import torch

    archive = io.BytesIO()
    save: Any = torch.jit.save
    save(capture.captured, archive)
    data, kept = archive.getvalue(), copy.deepcopy(capture.original)

    def anew() -> tuple[Any, Any]:
        load: Any = torch.jit.load
        return _copied(kept), load(io.BytesIO(data))

    return anew


def _copied(original: Any) -> Any:
    if inspect.ismethod(original):
        return getattr(copy.deepcopy(original.__self__), original.__name__)
    return copy.deepcopy(original)  # a function is itself
