"""What a person reads at the end of a recorded run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from torchlift.evidence.records import Proof, RecordedEvidence, RecordedSite, RecordedValue

_MOST = 20


def summary(evidence: RecordedEvidence, path: Path) -> Iterator[str]:
    """Lines: what was seen, what was proved and what was not, and where it was written.

    Args:
        evidence: of the run.
        path: of the file it was written to.
    """
    yield f"{evidence.processes} Python processes, {evidence.with_torch} with torch {evidence.torch}".rstrip()
    if not evidence.with_torch:
        yield (
            "0 processes with torch were seen, so nothing was recorded. Programs that reset their environment or run "
            "`python -I`, `-E` or `-S` need --install; what runs in a container or on another machine is recorded there."
        )
    values = [(site, value) for site in evidence.sites for value in site.values]
    yield f"{len(evidence.sites)} places captured; {len(values)} different values, {_calls(values)} calls of them"
    proofs = [(site, value, value.proof) for site, value in values if value.proof is not None]
    if proofs:
        yield from _proved(proofs)
    broken = [site for site in evidence.sites if site.failed]
    for site in broken[:_MOST]:
        failed = site.failed[0]
        yield f"broken today: {_place(site)} {site.api}: {failed.error}: {failed.message}"
    if evidence.problems:
        counts = Counter(problem.what for problem in evidence.problems)
        yield "not seen: " + "; ".join(f"{what} ({count})" if count > 1 else what for what, count in counts.items())
    yield f"Evidence: {path}"


def _calls(values: list[tuple[RecordedSite, RecordedValue]]) -> int:
    return sum(call.count for _, value in values for call in value.calls)


def _proved(proofs: list[tuple[RecordedSite, RecordedValue, Proof]]) -> Iterator[str]:
    variants = Counter(
        proof.export.proved for _, _, proof in proofs if proof.export is not None and proof.export.proved
    )
    done = sum(variants.values())
    how = ", ".join(f"{variant}: {count}" for variant, count in sorted(variants.items()))
    eager = sum(proof.eager is not None and proof.eager.equal for _, _, proof in proofs)
    yield f"torch.export proved equal for {done} of {len(proofs)} values{f' ({how})' if how else ''}; eager equal for {eager}"
    left = [(site, proof) for site, _, proof in proofs if proof.export is None or not proof.export.proved]
    for site, proof in left[:_MOST]:
        yield f"  {_place(site)} {site.api}: {_why(proof)}"
    if len(left) > _MOST:
        yield f"  and {len(left) - _MOST} more"


def _place(site: RecordedSite) -> str:
    return f"{site.file}:{site.line}:{site.column}"


def _why(proof: Proof) -> str:
    if proof.unproved:
        return proof.unproved
    tried = proof.export.tried if proof.export is not None else []
    reason = next((one.failed for one in tried if one.failed), "no variant of export was tried")
    return reason.splitlines()[0][:200]
