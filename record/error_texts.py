"""Texts of errors in evidence: the only part of it that a program words, with what changes from run to run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from torchlift.evidence.records import EagerProof, ExportProof, Proof, RecordedCall, RecordedEvidence

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}\b")
_PATH = re.compile(r"""(?<![\w.<:/])/(?:[^\s/'"`:,;()<>]+/)+(?=[^\s/'"`:,;()<>])""")
_KIND = re.compile(r"[A-Za-z_][\w. -]*")

Change = Callable[[str], str]


def reworded(evidence: RecordedEvidence, change: Change) -> None:
    """Change every text of an error, in place."""
    for problem in evidence.problems:
        problem.error = change(problem.error)
    for load in evidence.loads:
        load.refused = load.refused and change(load.refused)
        _reword_calls(load.calls, change)
    for site in evidence.sites:
        for failed in site.failed:
            failed.message = change(failed.message)
        for value in site.values:
            _reword_calls(value.calls, change)
            if value.proof is not None:
                _reword_proof(value.proof, change)


def the_same_in_every_run(root: Path) -> Change:
    """Takes addresses and the folders of files out of a text: they differ from run to run and from machine to machine.

    Args:
        root: of the project; paths below it are relative to it afterwards, of others the name is left.
    """
    here = f"{root}/"

    def changed(text: str) -> str:
        return _PATH.sub(".../", _ADDRESS.sub("0x...", text.replace(here, "")))

    return changed


def kind_of_error(text: str) -> str:
    """What stands before the colon, such as the class of an exception, if that is words only; all else may be data."""
    head = text.partition(":")[0].strip()
    return head if _KIND.fullmatch(head) else "left out" if head else ""


def _reword_calls(calls: list[RecordedCall], change: Change) -> None:
    for call in calls:
        if isinstance(call.out, dict) and isinstance(call.out.get("raised"), str):
            call.out = {"raised": change(call.out["raised"])}


def _reword_proof(proof: Proof, change: Change) -> None:
    parts: tuple[EagerProof | ExportProof | None, ...] = (proof.eager, proof.export)
    proof.unproved = proof.unproved and change(proof.unproved)
    proof.probes = {name: change(came) for name, came in proof.probes.items()}
    for part in parts:
        if isinstance(part, EagerProof):
            part.failed = part.failed and change(part.failed)
            part.probes = {name: change(came) for name, came in part.probes.items()}
        elif part is not None:
            for tried in part.tried:
                tried.failed = tried.failed and change(tried.failed)
