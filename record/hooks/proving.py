"""The way to the prover, which is loaded only where something is to be proved. What it raises is its own problem."""

from __future__ import annotations

import os
import sys
from typing import Any

from .guard import STATE
from .spool import SPOOL

_STATE: dict[str, Any] = {"prover": None}
_MODES_AND_MOVES = {
    "train",
    "eval",
    "to",
    "half",
    "float",
    "double",
    "cuda",
    "cpu",
    "type",
    "requires_grad_",
    "load_state_dict",
}


def random_state() -> Any:
    """What the prover wants to know before a capture; None without a prover."""
    prover = _prover()
    return None if prover is None else prover.random_state()


def snapshot(original: Any, captured: Any, drawn: Any, **facts: Any) -> Any:
    """Let the prover keep what was captured, as it is now; None if it does not."""
    prover = _prover()
    if prover is None:
        return None
    limits = prover.Limits(**(SPOOL.options.get("limits") or {}))
    return prover.snapshot(original, captured, limits=limits, quiet=_quiet, drawn=drawn, **facts)


def proof_path(number: str) -> str:
    """File for the proof of a value."""
    return os.path.join(SPOOL.folder, f"proof-{number}.json")


def begin(value: Any, method: Any, args: Any, kwargs: Any) -> Any:
    """Before a call of a value: what `end` needs, or None."""
    root, prefix, copy = value.root()
    if root.snapshot is None or prefix:
        return None  # calls of a part are no calls of the whole, and are not replayed
    module = value.reference() if copy else None
    return root.snapshot, root.snapshot.begin(method, args, kwargs, copy=copy or 0, module=module)


def end(begun: Any, result: Any, error: BaseException | None = None) -> None:
    """Behind the call."""
    if begun is not None:
        kept, token = begun
        if error is None:
            kept.end(token, result)
        else:
            kept.end(token, error=error)


def did(value: Any, name: str, args: Any, kwargs: Any) -> None:
    """A mode or a move."""
    root, prefix, copy = value.root()
    if root.snapshot is not None and not prefix and name in _MODES_AND_MOVES:
        root.snapshot.did(name, args, kwargs, copy=copy or 0)


def ended(kept: Any) -> None:
    """No more calls will come."""
    if kept is not None:
        kept.ended()


def _quiet() -> None:
    STATE.busy = True


def _prover() -> Any:
    folder = SPOOL.options.get("prover")
    if not folder or _STATE["prover"] is False:
        return None
    if _STATE["prover"] is None:
        _STATE["prover"] = False
        from importlib.util import module_from_spec, spec_from_file_location

        name = "_torchlift_prover"
        spec = spec_from_file_location(name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
        if spec is None or spec.loader is None:
            raise ImportError(f"there is no prover in {folder}")
        sys.modules[name] = package = module_from_spec(spec)
        spec.loader.exec_module(package)
        _STATE["prover"] = package
    return _STATE["prover"]
