"""Captured functions that other captured values call: inside of TorchScript no hook sees that, so the caller's Python object runs.

What it gives them are their calls. They are proved here, for the caller, and the answer lies beside the proofs of the run.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from .exporting import decoded, notation
from .keeper import Doings, Subject, write_proof
from .modes import generator_state, modes_now
from .replay import Player, eager_loaded
from .steps import Emit
from .wire import Encoder, Unsent

if TYPE_CHECKING:
    from .proof import Prover

_MOST_ALIKE = 2
_MOST_KINDS = 24
_MOST_BYTES = 8 << 20


def prove_inside(prover: Prover) -> None:
    """Proves the functions that are called inside of what a prover has, each on what it was given."""
    from .proof import Prover

    capture = prover.capture
    if not capture.functions or prover.spent():
        return
    found: dict[str, list[tuple[Any, ...]]] = {}
    for _, path, event in prover.step(lambda emit: _watched(prover, emit)).results:
        found.setdefault(path, []).append(event)
    for function, original, path in capture.functions.values():
        if path not in found or prover.spent():
            continue
        others = {key: known for key, known in capture.functions.items() if known[2] != path}
        about = Subject(
            original, function, "function", "torch.jit.script", None, _answer(path, capture.spool_path), None,
            capture.originals, capture.process, None, None, functions=others,
        )  # fmt: skip
        inner = Prover(about, Doings(found[path]), prover.limits)
        inner.end, inner.seconds = prover.end, prover.seconds
        proof = inner.prove(export=False)
        prover.seconds, proof["seconds"] = inner.seconds, round(inner.seconds - prover.seconds, 1)
        write_proof(about.spool_path, {"calls": _shown(found[path]), "proof": proof})


def _watched(prover: Prover, emit: Emit) -> None:
    """Runs the Python object once on every call, and emits what it calls."""
    import torch

    kind: Any = torch._C.ScriptFunction
    call = kind.__call__
    known = {id(function): path for function, _, path in prover.capture.functions.values()}
    alike: Counter[tuple[str, str]] = Counter()
    kinds: Counter[str] = Counter()

    def seen(function: Any, *args: Any, **kwargs: Any) -> Any:
        path = known.get(id(function))
        if path is not None:
            key = (path, repr(notation((args, kwargs))))
            kinds[path] += not alike[key]
            alike[key] += 1
            if alike[key] <= _MOST_ALIKE and kinds[path] <= _MOST_KINDS:
                try:
                    given = Encoder(_MOST_BYTES).encode((args, kwargs))
                    modes = modes_now(torch, None)
                    emit(
                        ("inside", path, ("call", "forward", 0, modes, given, generator_state(torch), None, None, b""))
                    )
                except Unsent:
                    pass
        return call(function, *args, **kwargs)

    kind.__call__ = seen
    player = Player(prover.capture.original, eager_loaded, lambda method: True)
    for _ in player.play(prover.events, again=False):
        pass


def _answer(path: str, caller: str) -> str:
    """The file for the proof of the function with the proof at `path`, made for `caller`."""
    names = [os.path.basename(one).rpartition(".")[0].partition("-")[2] for one in (path, caller)]
    return os.path.join(os.path.dirname(path), f"inside-{'-of-'.join(names)}.json")


def _shown(events: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Calls as the evidence file has them."""
    shown = []
    for event in events:
        inputs, modes = decoded(event[4]), event[3]
        autocast = {kind: dtype.replace("torch.", "") for kind, dtype in modes["autocast"].items()}
        shown.append(
            {
                "args": [notation(value) for value in inputs.args],
                "kwargs": {name: notation(value) for name, value in inputs.kwargs.items()},
                "context": {"grad": modes["grad"], "inference": modes["inference"], "autocast": autocast},
            }
        )
    return shown
