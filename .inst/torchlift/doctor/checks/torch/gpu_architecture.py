"""The installed torch has device code for every GPU in view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchlift.doctor.check import Check, Confidence, Evidence, Remedy, Result, Status, note, ok, problem, skipped
from torchlift.doctor.derived.device_code import complete, cubin_for, listed, main_cuda_library, ptx_for
from torchlift.doctor.derived.naming import spelled
from torchlift.doctor.derived.nvidia_driver import cuda_of_driver
from torchlift.doctor.derived.torch_build import driver_toolkit, torch_build
from torchlift.doctor.derived.visible_gpus import VisibleGpu, names, visible_gpus
from torchlift.doctor.facts import CodeImages, Facts
from torchlift.doctor.remedies.wheel_remedy import wheel_remedy
from torchlift.wheels.tables import table

CHECK = Check(
    id="gpu-architecture",
    group="torch",
    title="torch has device code for every GPU",
    why=(
        "`torch.cuda.is_available()` is True and the first kernel stops with `CUDA error: no kernel image is available for "
        "execution on the device`. PyTorch's release wheels hold no PTX that a driver could compile instead, so a wheel "
        "either has code for a GPU or does not. What is measured in the installed library counts, the table only where "
        "that could not be read."
    ),
    sources=(
        "DEVICE_REQUIREMENT in torch/cuda/__init__.py of torch 2.15.0",
        "Device code of the torch wheels 2.0 to 2.15 on PyPI, read 2026-11-21",
        "https://github.com/pytorch/pytorch/issues/167244",
    ),
)

_SCREEN = 4 << 30
"""Bytes of memory up to which a card beside a supported one is taken to be there for a screen."""


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None or facts.torch.cuda is None:
        return
    visible = visible_gpus(facts)
    known = [gpu for gpu in visible.gpus if gpu.capability is not None]
    if not known:
        if visible.gpus:
            yield skipped(f"The compute capability of {names(visible.gpus)} is not known")
        return
    images, source, confidence = _images(facts)
    if not images:
        yield skipped(f"The device code of torch {facts.torch.version} was not read, and no table has this build")
        return
    build = torch_build(facts.torch)
    full = complete(images)
    missing = [gpu for gpu in known if not cubin_for(full, gpu.capability or (0, 0), build.cuda)]
    hopeless = [gpu for gpu in missing if not ptx_for(images, gpu.capability or (0, 0))]
    if all(gpu.source == "PCI id" for gpu in known) or any(gpu.source == "PCI id" for gpu in missing):
        confidence = "table"
    evidence = Evidence("device code in torch", listed(full), needed=_needed(missing or known), source=source)
    if hopeless:
        certain = visible.certain or len(hopeless) == len(visible.gpus)
        spare = _hide_small_cards(facts, hopeless) if len(hopeless) < len(known) else None
        status: Status = "problem" if certain and spare is None else "warning"
        doubt = "" if certain else ", if CUDA_VISIBLE_DEVICES means that one"
        yield Result(
            status,
            f"torch {facts.torch.version} has no device code for {names(hopeless)}{doubt}",
            evidence=(evidence, *(Evidence("GPU", gpu.described(), source=gpu.source) for gpu in hopeless[:1])),
            remedy=spare or wheel_remedy(facts),
            confidence=confidence if certain else "likely",
        )
    elif missing:
        driver = driver_toolkit(cuda_of_driver(facts))
        if driver is not None and build.cuda is not None and driver < build.cuda:
            yield problem(
                f"torch {facts.torch.version} has only PTX of CUDA {spelled(build.cuda)} for {names(missing)}, which a "
                f"driver for CUDA {spelled(driver)} refuses",
                evidence=(
                    evidence,
                    Evidence(
                        "CUDA of the driver", spelled(driver), needed=spelled(build.cuda), source="cuDriverGetVersion"
                    ),
                ),
                remedy=wheel_remedy(facts),
                confidence="likely",
            )
        else:
            yield note(
                f"torch {facts.torch.version} has only PTX for {names(missing)}: the first start compiles it for minutes",
                evidence=(evidence,),
                confidence=confidence,
            )
    else:
        yield ok(
            f"torch {facts.torch.version} has device code for {names(known)}",
            evidence=(evidence,),
            confidence=confidence,
        )


def _hide_small_cards(facts: Facts, hopeless: Sequence[VisibleGpu]) -> Remedy | None:
    """What to do where only cards for a screen lack device code; None where one of them is for computing.

    A torch without code for a GPU runs on the others as long as the program does not choose that one.
    """
    names_of = {gpu.name for gpu in hopeless}
    without = [gpu for gpu in facts.gpus if gpu.name in names_of]
    others = [gpu.uuid for gpu in facts.gpus if gpu.name not in names_of]
    small = all(gpu.memory_total is not None and gpu.memory_total <= _SCREEN for gpu in without)
    if not without or not small or not others or None in others:
        return None
    value = ",".join(uuid for uuid in others if uuid)
    command = f"export CUDA_VISIBLE_DEVICES={value}"
    return Remedy("Keep torch off that card", command if facts.system.os != "windows" else None)


def _images(facts: Facts) -> tuple[Sequence[CodeImages], str, Confidence]:
    library = main_cuda_library(facts)
    if library is not None:
        return library.images, library.path, "measured"
    assert facts.torch is not None
    build = torch_build(facts.torch)
    if build.release is None or build.tag is None:
        return (), "", "table"
    platform = {"windows": "windows_amd64"}.get(facts.system.os, f"{facts.system.os}_{facts.system.machine}")
    release = f"{build.release[0]}.{build.release[1]}"
    for row in table("wheels")["rows"]:
        if (row["torch"], row["build"], row["platform"]) == (release, build.tag, platform):
            cubins = [CodeImages("sass", architecture, 1) for architecture in row["sass"]]
            ptx = [CodeImages("ptx", architecture, 1) for architecture in row["ptx"]]
            return [*cubins, *ptx], f"{row['source']} ({row['date']})", "table"
    return (), "", "table"


def _needed(gpus: Sequence[VisibleGpu]) -> str:
    wanted = sorted({gpu.capability for gpu in gpus if gpu.capability is not None})
    return "for " + ", ".join(f"sm_{major}{minor}" for major, minor in wanted)
