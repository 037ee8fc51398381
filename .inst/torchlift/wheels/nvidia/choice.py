"""How a chosen wheel is installed on a machine with NVIDIA GPUs, why it is the one, and what still limits it."""

from __future__ import annotations

from torchlift.wheels import drivers
from torchlift.wheels.answer import Choice
from torchlift.wheels.choice import choice_of
from torchlift.wheels.nvidia.case import ORIN, NvidiaCase, cuda_offers
from torchlift.wheels.offers import Offer, known_versions, line_of

_TRITON = (7, 0)


def nvidia_choice(case: NvidiaCase, offer: Offer) -> Choice:
    """The choice of an offer in a case."""
    cuda = offer.cuda or (0, 0)
    reasons = [f"has code for {case.names}"]
    warnings = []
    pair, floor = drivers.paired(cuda, case.driver.os), drivers.floor(cuda[0], case.driver.os)
    toolkit = f"CUDA {cuda[0]}.{cuda[1]}"
    if not case.driver.known:
        complete = f", {pair} for all that {toolkit} can do" if pair else ""
        warnings.append(f"the driver is not known: this build needs {floor} or newer{complete}")
    elif case.driver.meets_pair(cuda):
        reasons.append(f"{case.driver.text} knows all of {toolkit}" + (f" (needs {pair})" if pair else ""))
    else:
        warnings.append(
            f"{case.driver.text} is older than the {pair or f'branch {drivers.paired_branch(cuda)}'} that belongs to "
            f"{toolkit}: kernels run (minor-version compatibility from {floor} on), but PTX of that toolkit, as in some "
            "extensions or from Numba, is refused with error 222"
        )
    warnings += [
        f"driver branch {drivers.last_branch(gpu.capability)} is the last for {gpu.label}, so {case.driver.text} does not "
        "drive it"
        for gpu in dict.fromkeys(case.gpus)
        if case.driver.outgrew(gpu.capability)
    ]
    old = [gpu.label for gpu in dict.fromkeys(case.gpus) if gpu.capability < _TRITON]
    if old:
        warnings.append(f"torch.compile's Triton needs compute capability 7.0: {', '.join(old)} runs eager code only")
    if any(gpu.capability == ORIN for gpu in case.gpus):
        warnings.append(
            "torch's own table allows CUDA 13.2 builds on Orin, but torchlift's data has no run that shows it; JetPack 6 "
            "has an older driver and takes torch from https://pypi.jetson-ai-lab.io"
        )
    if _uv_would_err(case):
        warnings.append("uv's --torch-backend=auto looks at the driver only and would take a build without code for it")
    return choice_of(offer, case.host, case.wish, case.companions, reasons, warnings)


def _uv_would_err(case: NvidiaCase) -> bool:
    """What uv would take by the driver alone lacks code for a GPU.

    Source: uv's backend.rs and astral-sh/uv#14742, read 2026-11-21.
    """
    newest = [
        offer
        for offer in cuda_offers(case.host)
        if offer.cuda
        and not offer.secondary
        and case.driver.meets_floor(offer.cuda[0])
        and case.host.versions(offer, case.wish)
    ]
    taken = max(newest, key=lambda offer: (offer.cuda or (0, 0), offer.line), default=None)
    return taken is not None and not all(taken.runs_on(gpu.capability) for gpu in case.gpus)


def limits(case: NvidiaCase, best: Offer) -> list[str]:
    """Why not a newer release: one sentence for each thing that keeps it away."""
    newest = line_of(known_versions()[-1])
    if best.line >= newest:
        return []
    found = []
    covered = [offer for offer in case.covered() if not offer.secondary]
    last = max(covered, key=lambda offer: offer.line, default=best)
    if last.line < newest:
        found.append(
            f"torch {last.torch} is the last release with code for {case.names}; {known_versions()[-1]} has none"
        )
    blocked = [(offer, case.host.obstacle(offer)) for offer in covered if offer.line > best.line]
    newest_blocked = max((item for item in blocked if item[1]), key=lambda item: item[0].line, default=None)
    if newest_blocked is not None:
        found.append(f"torch {newest_blocked[0].torch} {newest_blocked[1]}")
    return found
