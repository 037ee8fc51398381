"""What is known of a captured function from the captured values that call it: its calls there, and how they came out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from torchlift.evidence.conclusions import is_harmless
from torchlift.evidence.merge import proof_of_both
from torchlift.evidence.records import Modes, Proof, RecordedCall
from torchlift.json_records.reading import RecordError, read_record


class InsideCalls(NamedTuple):
    """Calls by one caller, and the proof on them."""

    calls: list[RecordedCall]
    proof: Proof


def inside_calls(proof: str | None) -> list[InsideCalls]:
    """What the provers of the callers left.

    Args:
        proof: path of the function's own proof; None if it has none.
    """
    if proof is None:
        return []
    own = Path(proof)
    found = []
    for path in sorted(own.parent.glob(f"inside-{own.stem.partition('-')[2]}-of-*.json")):
        try:
            told = json.loads(path.read_bytes())
            calls = [
                RecordedCall(
                    "forward", call["args"], call["kwargs"], context=read_record(Modes, call["context"]), via="inside"
                )
                for call in told["calls"]
            ]
            found.append(InsideCalls(calls, read_record(Proof, told["proof"])))
        except (OSError, ValueError, LookupError, TypeError, RecordError) as error:
            problem = f"the prover of a caller left an answer that cannot be read: {error}"
            found.append(InsideCalls([RecordedCall("forward", via="inside")], Proof(unproved=problem)))
    return found


def with_inside(own: Proof | None, is_called: bool, inside: list[InsideCalls]) -> Proof | None:
    """The proof of a function on its own calls, if there are any, and on those inside of others: all have to hold."""
    proofs = [part.proof for part in inside]
    if own is None or not proofs:
        return own
    if is_called:
        proofs.insert(0, own)
    joined = next((proof for proof in proofs if proof.eager is None), None)
    if joined is not None:
        return joined
    joined = next((proof for proof in proofs if proof.eager is not None and not proof.eager.equal), proofs[0])
    for proof in proofs:
        if proof is not joined:
            joined = proof_of_both(joined, proof)
            if joined.eager is not None and proof.eager is not None:
                joined.eager.probes |= {
                    name: came
                    for name, came in proof.eager.probes.items()
                    if is_harmless(joined.eager.probes.get(name, "same"))
                }
                joined.eager.errors = joined.eager.errors or proof.eager.errors
    joined.export, joined.probes = (own.export, own.probes) if is_called else (None, {})
    return joined
