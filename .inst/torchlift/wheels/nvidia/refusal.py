"""No wheel: why, and what else there is."""

from __future__ import annotations

from dataclasses import replace

from torchlift.wheels import drivers
from torchlift.wheels.answer import Answer, Choice
from torchlift.wheels.host import Host
from torchlift.wheels.nvidia.case import NvidiaCase
from torchlift.wheels.nvidia.choice import nvidia_choice
from torchlift.wheels.nvidia.upgrade import after_upgrade
from torchlift.wheels.offers import known_versions, line_of, offers
from torchlift.wheels.wish import Wish

_ANY = Wish.any()


def no_common_driver(case: NvidiaCase) -> Answer | None:
    """GPUs of which the newer ones need a driver branch that no longer knows the older ones."""
    ends = {gpu: last for gpu in case.gpus if (last := drivers.last_branch(gpu.capability))}
    starts = {gpu: first for gpu in case.gpus if (first := drivers.first_branch(gpu.capability))}
    if not ends or not starts:
        return None
    oldest, newest = min(ends, key=lambda gpu: ends[gpu]), max(starts, key=lambda gpu: starts[gpu])
    if ends[oldest] >= starts[newest]:
        return None
    return Answer(
        "none",
        f"No driver serves {oldest.label} and {newest.label} together: branch {ends[oldest]} is the last for the one and "
        f"{starts[newest]} the first for the other",
        reasons=("take one of them out of the machine, or hand it to a virtual machine with a driver of its own",),
    )


def without(case: NvidiaCase) -> Answer:
    """No wheel: why, and what else there is."""
    covered = [offer for offer in case.covered() if not offer.secondary]
    where = case.host.label
    if not covered:
        summary = f"No torch 2.x wheel for {where} has code for {case.names}"
        reasons = ["no driver and no index changes that: build torch from source, or use the CPU build"]
        if case.jetson:
            reasons = ["torch's wheels leave this Jetson out: NVIDIA's JetPack has torch wheels of its own for it"]
        return Answer("none", summary, reasons=tuple(reasons))
    last = max(covered, key=lambda offer: offer.line)
    allowed = [
        offer
        for offer in covered
        if any(case.wish.allows(release.version) for release in offer.releases)
        and case.wish.build in (None, offer.build)
    ]
    free = case.with_wish(_ANY)
    alternatives = tuple(nvidia_choice(free, offer) for offer in free.usable()[:1]) if case.wish.narrow else ()
    later: tuple[Choice, ...] = ()
    if case.wish.narrow and not alternatives:
        answer = after_upgrade(free)
        later = (answer.then,) if answer and answer.then else ()
    reasons = []
    if allowed:
        newest = max(allowed, key=lambda offer: offer.line)
        obstacle = case.host.obstacle(newest) or "has no wheel that fits"
        summary = f"torch {newest.torch}, which has code for {case.names}, {obstacle}"
        other = _with_any_python(case)
        if other is not None:
            reasons.append(f"with another Python: {other.pip}")
    elif case.wish.build is not None and not _exists(case):
        summary, reasons = _no_such_build(case)
    else:
        secondary = [offer for offer in case.covered() if offer.secondary]
        asked = _asked_line(case)
        summary = f"torch {asked} has no wheel for {where} with code for {case.names}"
        if last.line < line_of(known_versions()[-1]) or last.torch != asked:
            summary += f"; the last release with one is {last.torch} ({last.build})"
        if any(case.host.versions(offer, case.wish) for offer in secondary):
            reasons.append("a secondary source knows of a cu129 wheel; ask for it by torch==VERSION+cu129")
    return Answer("none", summary, None, alternatives + later, reasons=tuple(reasons))


def _with_any_python(case: NvidiaCase) -> Choice | None:
    free = replace(case, host=Host(case.host.platform, None, case.host.system))
    return nvidia_choice(free, free.usable()[0]) if free.usable() else None


def _exists(case: NvidiaCase) -> bool:
    return any(
        offer.build == case.wish.build and any(case.wish.allows(release.version) for release in offer.releases)
        for offer in offers(case.host.platform)
    )


def _no_such_build(case: NvidiaCase) -> tuple[str, list[str]]:
    same = [offer for offer in offers(case.host.platform) if offer.build == case.wish.build]
    summary = f"{case.wish} does not exist for {case.host.label}"
    if same:
        last = max(same, key=lambda offer: offer.line)
        summary += f": the last release with a {case.wish.build} build is {last.torch}"
    else:
        summary += f": no release has a {case.wish.build} build"
    reasons = []
    if case.wish.build == "cu126" and case.wish.allows("2.15.0"):
        reasons.append("torch 2.15.0's own warning still names this build, which is announced as not published")
    return summary, reasons


def _asked_line(case: NvidiaCase) -> str:
    allowed = [version for version in known_versions() if case.wish.allows(version)]
    return ".".join(allowed[-1].split(".")[:2]) if allowed else known_versions()[-1]
