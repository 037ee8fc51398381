"""Jetson modules need wheels with code for their GPU."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, problem
from torchlift.doctor.derived.naming import cuda_text
from torchlift.doctor.derived.nvidia_driver import cuda_of_driver
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.package_commands import install
from torchlift.wheels.compatibility import INTEGRATED, capability, runs_on
from torchlift.wheels.drivers import parts

_JETSON_INDEX = "https://pypi.jetson-ai-lab.io"

CHECK = Check(
    id="jetson-wheel",
    group="machine",
    title="torch has code for this Jetson",
    why=(
        "A Jetson's GPU does not run the code of its big siblings: Orin (sm_87) runs sm_80 code only from wheels built with "
        "CUDA 13.2 or later, and Thor needs sm_110. Otherwise `torch.cuda.is_available()` is True and the first kernel "
        "fails with `CUDA error: no kernel image is available for execution on the device`."
    ),
    sources=(
        "torch 2.15.0, torch/cuda/__init__.py, DEVICE_REQUIREMENT, read 2026-11-21",
        f"{_JETSON_INDEX} (wheels for JetPack 6, CUDA 12.6)",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    if not facts.system.jetson_release:
        return
    model = facts.system.jetson_model or "This Jetson"
    shown = [device.compute_capability for device in facts.libcuda.devices]
    shown += [gpu.compute_capability for gpu in facts.gpus]
    device = next((found for text in shown if (found := capability(text))), None)
    known = cuda_of_driver(facts)
    unified = known is not None and known >= 13000
    if device is None or facts.torch is None or facts.torch.cuda is None:
        yield note(
            f"{model} (release {facts.system.jetson_release}) shares its driver with JetPack, which limits the wheels",
            evidence=_evidence(facts),
            remedy=_remedy(facts, unified),
            confidence="table",
        )
        return
    toolkit = parts(facts.torch.cuda)
    images = [
        image.architecture for library in facts.libraries if library.package == "torch" for image in library.images
    ]
    pair = (toolkit[0], toolkit[1]) if len(toolkit) >= 2 else None
    if images and not any(runs_on(image, device, pair) for image in images):
        yield problem(
            f"The installed torch {facts.torch.version} has no code for {model} (sm_{device[0]}{device[1]})",
            evidence=(
                *_evidence(facts),
                Evidence("code in torch's libraries", ", ".join(dict.fromkeys(images)), source="its files"),
            ),
            remedy=_remedy(facts, unified or device not in INTEGRATED),
            cause="gpu-architecture",
        )
    elif images:
        yield ok(f"The installed torch has code for {model}")


def _evidence(facts: Facts) -> tuple[Evidence, ...]:
    known = cuda_of_driver(facts)
    return (
        Evidence("Jetson release", facts.system.jetson_release or "", source="/etc/nv_tegra_release"),
        Evidence("CUDA of the driver", cuda_text(known) if known else "unknown", source="cuDriverGetVersion"),
    )


def _remedy(facts: Facts, unified: bool) -> Remedy:
    if unified:
        text = "Take torch 2.15 with CUDA 13.2, whose code runs on Orin and Thor"
        # The same release may be installed from another index, and pip would leave it alone.
        return Remedy(text, install(facts, "torch==2.15.*", reinstall=facts.torch is not None))
    return Remedy(
        "Take the wheel that NVIDIA's Jetson AI Lab builds for JetPack 6, or upgrade to JetPack 7",
        f"pip install --force-reinstall torch --index-url {_JETSON_INDEX}/jp6/cu126",
    )
