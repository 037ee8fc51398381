"""The choice of a wheel for a machine."""

from __future__ import annotations

from dataclasses import replace

from torchlift.wheels import drivers
from torchlift.wheels.answer import Answer, Choice
from torchlift.wheels.driver_view import driver_view
from torchlift.wheels.host import Host, host_of
from torchlift.wheels.machine import Device, Machine
from torchlift.wheels.nvidia.answer import for_nvidia, unknown_capability
from torchlift.wheels.nvidia.case import NvidiaCase, NvidiaGpu
from torchlift.wheels.offers import known_versions, line_of
from torchlift.wheels.other_answers import for_amd, for_apple, for_cpu, for_intel, for_named_build
from torchlift.wheels.tables import data_date
from torchlift.wheels.wish import Wish, read_wish


def resolve(machine: Machine, requirement: str | None = None, *, companions: tuple[str, ...] = ()) -> Answer:
    """The wheel for `machine` that satisfies `requirement`.

    Args:
        machine: what is known of it. Where NVIDIA GPUs are among its devices, only these count.
        requirement: "torch==2.15", ">=2.6,<2.9", "torch==2.14.1+cu126"; None for any torch.
        companions: further packages for the command lines, such as "torchvision".

    Never raises: what cannot be decided is an answer of kind "unknown" or "none" that says why.
    """
    wish = read_wish(requirement)
    if wish is None:
        return Answer("unknown", f"{requirement!r} is not understood as a requirement on torch, such as torch==2.15")
    host = host_of(machine)
    if isinstance(host, str):
        return Answer("none", host)
    unknown = _unknown_release(machine, wish, companions)
    if unknown is not None:
        return unknown
    answer = _for_devices(machine, host, wish, companions)
    newest = drivers.newest_branch()
    if answer.data_note is None and drivers.branch(machine.driver) > newest and machine.os != "darwin":
        note = f"driver {machine.driver} is newer than torchlift's data (of {data_date()}, up to branch {newest})"
        return replace(answer, data_note=note)
    return answer


def _for_devices(machine: Machine, host: Host, wish: Wish, companions: tuple[str, ...]) -> Answer:
    if wish.build == "cpu":
        return for_cpu(host, wish, companions, "the CPU build was asked for")
    by_vendor: dict[str, list[Device]] = {}
    for device in machine.devices:
        by_vendor.setdefault(device.vendor.lower(), []).append(device)
    if host.os == "darwin":
        if host.platform == "darwin_arm64":
            return for_apple(host, wish, companions)
        return for_cpu(host, wish, companions, "torch has no GPU builds for macOS on Intel")
    if "nvidia" in by_vendor:
        return _for_nvidia(machine, by_vendor["nvidia"], host, wish, companions)
    if "amd" in by_vendor:
        return for_amd(host, wish, companions, by_vendor["amd"])
    if "intel" in by_vendor:
        return for_intel(host, wish, companions, by_vendor["intel"])
    if wish.build is not None:
        return for_named_build(host, wish, companions, "no GPU is visible")
    if machine.devices:
        names = ", ".join(dict.fromkeys(device.name for device in machine.devices))
        return for_cpu(host, wish, companions, f"torchlift knows no torch build for {names}")
    return for_cpu(host, wish, companions, "no GPU is visible")


def _for_nvidia(machine: Machine, devices: list[Device], host: Host, wish: Wish, companions: tuple[str, ...]) -> Answer:
    known = tuple(NvidiaGpu(device.name, device.capability) for device in devices if device.capability is not None)
    case = NvidiaCase(host, driver_view(machine), known, wish, companions, machine.jetson)
    for device in devices:
        problem = unknown_capability(device.name, device.capability)
        if problem is not None:
            summary, note = problem
            by_rule = for_nvidia(case) if known else None
            likely: tuple[Choice, ...] = (by_rule.choice,) if by_rule and by_rule.choice else ()
            reasons = ("the alternatives are for what is known and by the rules of older GPUs",) if likely else ()
            return Answer("unknown", summary, alternatives=likely, reasons=reasons, data_note=note)
    return for_nvidia(case)


def _unknown_release(machine: Machine, wish: Wish, companions: tuple[str, ...]) -> Answer | None:
    """The answer to a wish that no release in the tables satisfies; None where one does."""
    from packaging.version import Version

    if any(wish.allows(version) for version in known_versions()):
        return None
    best = resolve(machine, None, companions=companions)
    alternatives = (best.choice,) if best.choice else ()
    if _is_newer(wish):
        note = f"{wish} is newer than torchlift's data (of {data_date()}, newest torch {known_versions()[-1]})"
        return Answer("unknown", note, alternatives=alternatives, data_note=note)
    first = known_versions()[0]
    if wish.beyond is not None and wish.beyond < Version(first):
        return Answer("unknown", f"{wish} is older than torchlift's data, which begins with torch {first}")
    return Answer("none", f"No release of torch satisfies {wish}", alternatives=alternatives)


def _is_newer(wish: Wish) -> bool:
    """Whether it allows a release that may have come out after the tables: of a later line, or a later patch release
    of the two newest lines."""
    from packaging.version import Version

    wanted = wish.beyond
    if wanted is None:
        return False
    newest: dict[tuple[int, int], Version] = {}
    for version in known_versions():
        newest[line_of(version)] = Version(version)
    recent = list(newest)[-2:]
    major, minor, micro = wanted.major, wanted.minor, wanted.micro
    following = [Version(f"{major}.{minor}.{micro + 1}"), Version(f"{major}.{minor + 1}.0")]
    for candidate in (wanted, *following):
        line = (candidate.major, candidate.minor)
        unknown = line > recent[-1] or (line in recent and candidate > newest[line])
        if unknown and wish.allows(str(candidate)):
            return True
    return False
