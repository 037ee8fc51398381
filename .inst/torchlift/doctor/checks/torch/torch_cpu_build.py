"""A machine with a GPU has a torch that was built for one."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result, Status, note
from torchlift.doctor.derived.intel_cards import cards_for_computing, intel_cards
from torchlift.doctor.derived.torch_build import TorchBuild, torch_build
from torchlift.doctor.derived.visible_gpus import hidden_by_environment, names, visible_gpus
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.wheel_remedy import wheel_answer, wheel_remedy
from torchlift.wheels.amd_gpus import ROCM_WHEELS, is_instinct, is_integrated

CHECK = Check(
    id="torch-cpu-build",
    group="torch",
    title="torch is built for the GPU of this machine",
    why=(
        "`torch.cuda.is_available()` is False, and `.cuda()` stops with `Torch not compiled with CUDA enabled`. Nothing else "
        "is wrong with the driver or the card: another wheel of the same release is all that is needed."
    ),
    sources=(
        "https://pytorch.org/get-started/locally/",
        "Wheel lists of torch on PyPI, read 2026-11-21 (Windows: no CUDA; aarch64: CUDA from 2.11)",
        "https://docs.pytorch.org/docs/2.12/notes/get_start_xpu.html (Intel's cards)",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None or facts.system.os == "darwin" or hidden_by_environment(facts):
        return
    build = torch_build(facts.torch)
    if build.vendor != "none":
        return
    evidence = Evidence("torch was built for", "the CPU only", needed="CUDA", source=f"{facts.torch.path}/version.py")
    gpus = visible_gpus(facts).gpus
    if gpus:
        if wheel_answer(facts).kind == "none":
            yield note(
                f"torch {facts.torch.version} is a CPU build, and no wheel of torch supports {names(gpus)}",
                evidence=(evidence,),
            )
            return
        # A card that no driver has answered for may be meant for something else.
        answered = all(gpu.source != "PCI id" for gpu in gpus)
        yield Result(
            "problem" if answered else "warning",
            f"torch {facts.torch.version} is a CPU build and cannot use {names(gpus)}: {_reason(facts, build)}",
            evidence=(evidence, Evidence("GPUs in view", names(gpus), source=gpus[0].source)),
            remedy=wheel_remedy(facts),
        )
    else:
        yield from _others(facts)


def _others(facts: Facts) -> Iterator[Result]:
    """The same for AMD's and Intel's GPUs; what is part of a processor is there for the screen, and may do more."""
    assert facts.torch is not None
    own = [device for device in facts.other.rocm_devices if not is_integrated(device.architecture)]
    amd = own or [device for device in facts.other.rocm_devices if device.architecture in ROCM_WHEELS]
    intel = cards_for_computing(facts) or (intel_cards(facts) if facts.other.level_zero else [])
    status: Status = "note"
    if amd and facts.system.os == "linux" and (own or not cards_for_computing(facts)):
        cards = [f"{device.name or 'AMD GPU'} ({device.architecture})" for device in amd]
        if any(is_instinct(device.architecture) for device in own):
            status = "problem"
        elif any(device.architecture in ROCM_WHEELS for device in own):
            status = "warning"
        needed = "ROCm"
    elif intel:
        cards = [card.name for card in intel]
        if any(card.kind == "data-centre" for card in intel):
            status = "problem"
        elif any(card.kind == "discrete" for card in intel):
            status = "warning"
        needed = "XPU"
    else:
        return
    yield Result(
        status,
        f"torch {facts.torch.version} is a CPU build and cannot use {', '.join(dict.fromkeys(cards))}",
        evidence=(
            Evidence("torch was built for", "the CPU only", needed=needed, source=f"{facts.torch.path}/version.py"),
        ),
        remedy=wheel_remedy(facts),
    )


def _reason(facts: Facts, build: TorchBuild) -> str:
    local = facts.torch.version.partition("+")[2] if facts.torch else ""
    if local == "cpu":
        return "it is from the CPU index"
    if facts.system.os == "windows":
        return "the wheels for Windows on PyPI are CPU builds, CUDA needs an index of PyTorch's own"
    if facts.system.machine == "aarch64" and build.release is not None and build.release < (2, 11):
        return "the wheels for aarch64 on PyPI are CPU builds before torch 2.11"
    return "it was built without CUDA"
