"""Proves on the spot: a sleeping copy of the process, forked at a capture, replays what the program does with it.

This folder runs in the user's process, under Python 3.9 or newer, without torchlift: it needs the standard library, torch,
and the files of `testing/` that say what a value is and where two differ, which it finds beside itself. It is loaded by its
path, under any name:

    spec = importlib.util.spec_from_file_location("_torchlift_prover", folder / "__init__.py",
                                                  submodule_search_locations=[str(folder)])

What the hooks call, all of it guarded (nothing is raised, printed, or changed; no random number is drawn):

    before = prover.random_state()                   # in the wrapper of trace or script, before the capture
    shot = prover.snapshot(original, captured, kind="module", api="torch.jit.trace", example=(args, kwargs),
                           spool_path=".../17.proof.json", limits=prover.Limits(seconds=60), quiet=hooks_off, drawn=before)
    token = shot.begin("forward", args, kwargs)      # before each call of the captured value
    shot.end(token, result)                          # after it; `shot.end(token, error=exception)` if it raised
    shot.did("to", args, kwargs)                     # moves and modes: train, eval, to, half, load_state_dict, ...
    shot.saved(content)                              # the value was written to an archive with this hash
    shot.ended()                                     # the value died, or the process ends: the proof starts

Where a process cannot be forked, the value and its course become files beside the proof, which then names the interpreter as
"fresh": `python fresh.py PROOF`, run when the program is over, proves it.

`snapshot` returns None if nothing can be proved; the reason is then in the file. `copy=N` on `begin` and `did` names a value
that was loaded from an archive of this one (each load another N, from 1); it has a course of its own. A value that was
loaded in another process is snapshot with `original=None, api="torch.jit.load", content=HASH`: it is compared with the
program that was proved for that archive, which is kept as HASH.pt2 beside the proofs. `derived=True`: frozen or optimised, `original` is
still the Python object.

`spool_path` always holds one JSON object, `proof` of the evidence file, written atomically: from the start one that says
that the prover did not come to an end, with its process as "pending"; the last one has no such key. Provers of one folder
take turns, by its `prover.lock`. To stop a prover end the process "pending"; it and all it started are gone within a second.
"""

from __future__ import annotations

from .limits import Limits
from .snapshot import Snapshot, random_state, snapshot

__all__ = ["Limits", "Snapshot", "random_state", "snapshot"]
