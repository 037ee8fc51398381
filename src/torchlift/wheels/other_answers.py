"""The wheel for machines without an NVIDIA GPU: CPU, ROCm, XPU and Apple's GPUs."""

from __future__ import annotations

import re
from dataclasses import replace

from torchlift.lazy_pattern import lazy_pattern
from torchlift.wheels.amd_gpus import ROCM_WHEELS, override_for
from torchlift.wheels.answer import Answer, Choice
from torchlift.wheels.choice import choice_of
from torchlift.wheels.host import Host
from torchlift.wheels.machine import Device
from torchlift.wheels.offers import Offer, known_versions, line_of, offers
from torchlift.wheels.tables import data_date
from torchlift.wheels.wish import Wish

# Integrated graphics that came before Xe; XPU builds ask for Arc, Core Ultra or a data-centre GPU.
_OLD_INTEL = lazy_pattern(r"\b(u?hd graphics|iris|uhd|hd \d+)\b", re.IGNORECASE)


def for_cpu(host: Host, wish: Wish, companions: tuple[str, ...], why: str) -> Answer:
    """The newest CPU build (on macOS the one build there is)."""
    choice, obstacle = _newest(host, wish, companions, "cpu")
    if choice is None:
        return Answer("none", obstacle, reasons=(why,))
    where = "the default index" if choice.index is None else choice.index
    reasons: tuple[str, ...] = (why,)
    if host.platform == "darwin_x86_64":
        reasons += ("torch 2.2 is the last release for macOS on Intel",)
    return Answer("wheel", f"torch {choice.torch} for the CPU, from {where}", choice, reasons=reasons)


def for_named_build(host: Host, wish: Wish, companions: tuple[str, ...], why: str) -> Answer:
    """The build that the requirement names, where no GPU decides."""
    choice, obstacle = _newest(host, wish, companions, wish.build or "cpu")
    if choice is None:
        cpu, _ = _newest(host, wish, companions, "cpu")
        return Answer("none", obstacle, alternatives=(cpu,) if cpu else (), reasons=(why,))
    summary = f"torch {choice.torch} built for {choice.build}, as asked for"
    return Answer("wheel", summary, choice, reasons=(f"{why}, and this build computes on the CPU too",))


def for_apple(host: Host, wish: Wish, companions: tuple[str, ...]) -> Answer:
    """The macOS wheel, which has Metal (MPS) where the processor is Apple's."""
    choice, obstacle = _newest(host, wish, companions, "cpu")
    if choice is None:
        return Answer("none", obstacle)
    return Answer(
        "wheel",
        f"torch {choice.torch} from the default index uses the Apple GPU through MPS",
        choice,
        reasons=("the macOS arm64 wheel holds the MPS backend",),
    )


def for_amd(host: Host, wish: Wish, companions: tuple[str, ...], devices: list[Device]) -> Answer:
    """The newest ROCm build that has code for the devices; the CPU build where none has."""
    names = ", ".join(dict.fromkeys(device.name for device in devices))
    cpu, _ = _newest(host, wish, companions, "cpu")
    also = (cpu,) if cpu else ()
    if host.platform != "linux_x86_64":
        return Answer(
            "none",
            f"PyTorch publishes ROCm wheels for Linux on x86_64 only, so none for {names} here",
            alternatives=also,
            reasons=("the CPU build runs here",) if cpu else (),
        )
    if cpu is not None and wish.build is None and all(_without_code(device) for device in devices):
        why = f"PyTorch's ROCm wheels have no code for {_architectures(devices)}"
        return Answer("wheel", f"torch {cpu.torch} for the CPU: {why}", cpu, reasons=(why,))
    choice, obstacle = _newest(host, wish, companions, "rocm")
    if choice is None:
        return _no_rocm_build(host, wish, companions, obstacle, also)
    chosen = replace(
        choice,
        reasons=("the newest ROCm build that torchlift's data knows", *choice.reasons),
        warnings=(*choice.warnings, *_amd_warnings(devices)),
    )
    others = [
        offer for offer in _ranked(host, "rocm") if offer.line == line_of(chosen.torch) and offer.build != choice.build
    ]
    usable = [offer for offer in others if host.versions(offer, wish)] if wish.build is None else []
    more = tuple(choice_of(offer, host, wish, companions) for offer in usable[-1:])
    summary = f"torch {chosen.torch} built for {chosen.build} for {names}"
    return Answer("wheel", summary, chosen, alternatives=(*more, *also))


def _no_rocm_build(
    host: Host, wish: Wish, companions: tuple[str, ...], obstacle: str, also: tuple[Choice, ...]
) -> Answer:
    last, _ = _newest(host, Wish.any(), companions, "rocm")
    alternatives = (last, *also) if last is not None else also
    newest = max(offer.line for offer in _ranked(host, "rocm"))
    wanted = [line_of(version) for version in known_versions() if wish.allows(version)]
    if wanted and min(wanted) > newest:
        asked = f"{wanted[-1][0]}.{wanted[-1][1]}"
        note = f"which ROCm builds torch {asked} has is not in torchlift's data (of {data_date()})"
        known = f"; the last that it knows is torch {last.torch} ({last.build})" if last is not None else ""
        return Answer("unknown", f"{note[0].upper()}{note[1:]}{known}", alternatives=alternatives, data_note=note)
    return Answer("none", obstacle, alternatives=alternatives)


def _without_code(device: Device) -> bool:
    architecture = device.architecture or ""
    return architecture not in ("", *ROCM_WHEELS) and override_for(architecture) is None


def _amd_warnings(devices: list[Device]) -> list[str]:
    unknown = [device for device in devices if not device.architecture]
    found = []
    if unknown:
        found.append(f"whether it has code for {_architectures(unknown)} is not in torchlift's data")
    for architecture in dict.fromkeys(device.architecture for device in devices if device.architecture):
        value = override_for(architecture)
        if value is not None:
            found.append(
                f"it has no code for {architecture}; with HSA_OVERRIDE_GFX_VERSION={value} users run that of its "
                "sibling, which AMD does not support"
            )
        elif architecture not in ROCM_WHEELS:
            found.append(f"it has no code for {architecture}")
    return found


def for_intel(host: Host, wish: Wish, companions: tuple[str, ...], devices: list[Device]) -> Answer:
    """The XPU build, or the CPU build where the GPU is known to be too old for XPU or none is published."""
    names = ", ".join(dict.fromkeys(device.name for device in devices))
    xpu, obstacle = _newest(host, wish, companions, "xpu")
    cpu, _ = _newest(host, wish, companions, "cpu")
    old = all(_OLD_INTEL.search(device.name) for device in devices)
    if xpu is None and not old:
        last, _ = _newest(host, Wish.any(), companions, "xpu")
        if last is not None:
            return Answer("none", obstacle, alternatives=(last, cpu) if cpu else (last,))
    if cpu is not None and (xpu is None or old):
        summary = f"torch {cpu.torch} for the CPU: {obstacle if xpu is None else f'{names} is likely too old for XPU'}"
        return Answer("wheel", summary, cpu, alternatives=(xpu,) if xpu else ())
    if xpu is None:
        return Answer("none", obstacle)
    chosen = replace(
        xpu,
        reasons=("PyTorch's build for Intel GPUs", *xpu.reasons),
        warnings=(
            *xpu.warnings,
            "XPU builds ask for Arc, Core Ultra or data-centre graphics and Intel's GPU driver",
        ),
    )
    return Answer("wheel", f"torch {xpu.torch} built for xpu for {names}", chosen, alternatives=(cpu,) if cpu else ())


def _ranked(host: Host, kind: str) -> list[Offer]:
    """The offers of a kind, the best last: an index that is confirmed for a release comes before one that is taken to go
    on, and of two for one release that of which no trouble is known."""
    of_kind = [offer for offer in offers(host.platform) if offer.build.startswith(kind)]
    return sorted(of_kind, key=lambda offer: (not offer.secondary, offer.line, offer.measured, _numbers(offer.build)))


def _newest(host: Host, wish: Wish, companions: tuple[str, ...], kind: str) -> tuple[Choice | None, str]:
    """The newest build of a kind, or None and the sentence that says why there is none."""
    exact = wish.build if wish.build is not None and wish.build.startswith(kind) else None
    ranked = [offer for offer in _ranked(host, kind) if exact is None or offer.build == exact]
    usable = [offer for offer in ranked if host.versions(offer, wish)]
    wanted = [offer for offer in ranked if any(wish.allows(release.version) for release in offer.releases)]
    if usable:
        newest = usable[-1]
        reasons = _obstacles(host, wanted, newest)
        return choice_of(newest, host, wish, companions, reasons), ""
    if wanted:
        obstacle = host.obstacle(wanted[-1]) or "has no wheel for this machine"
        return None, f"torch {wanted[-1].torch} {obstacle}"
    return None, f"no {kind} build of torch satisfies {wish} on {host.label}"


def _obstacles(host: Host, wanted: list[Offer], chosen: Offer) -> list[str]:
    newer = [offer for offer in wanted if offer.line > chosen.line]
    found = {offer.torch: host.obstacle(offer) for offer in newer}
    return [f"torch {line} {obstacle}" for line, obstacle in found.items() if obstacle][-1:]


def _architectures(devices: list[Device]) -> str:
    return ", ".join(dict.fromkeys(device.architecture or device.name for device in devices))


def _numbers(build: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", build))
