"""The driver against the CUDA of the installed torch."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, problem, skipped
from torchlift.doctor.derived.naming import cuda_text
from torchlift.doctor.derived.nvidia_cards import has_nvidia_gpu
from torchlift.doctor.derived.nvidia_driver import cuda_of_driver, driver_version
from torchlift.doctor.derived.torch_origin import torch_origin
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.driver_install import install_driver
from torchlift.doctor.remedies.wheel_remedy import remedy_of, wheel_answer
from torchlift.wheels.drivers import lowest, meets, paired, parts
from torchlift.wheels.tables import data_date

_RULES = "https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html"

CHECK = Check(
    id="driver-too-old",
    group="driver",
    title="The driver is new enough for the installed torch",
    why=(
        "A torch wheel brings its own CUDA and needs a driver of the same major version or newer: CUDA 13 needs driver "
        "580, CUDA 12 driver 525. Otherwise torch says `The NVIDIA driver on your system is too old (found version "
        "12080)`. That number is a CUDA version, 12.8, not a driver version. Within one major version an older driver is "
        "legal: only newer PTX is refused (`the provided PTX was compiled with an unsupported toolchain`)."
    ),
    sources=(
        _RULES,
        "https://github.com/pytorch/pytorch/issues/25581",
        "torch 2.15.0, error text measured, 2026-11-21",
        "torch/csrc/jit/codegen and aten/src/ATen/native/cuda/jit_utils.cpp: NVRTC compiles straight to SASS",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    wheel = parts(facts.torch.cuda)[:2] if facts.torch is not None else ()
    if len(wheel) < 2:
        return
    known, driver = cuda_of_driver(facts), driver_version(facts)
    if known is None and driver is None:
        if has_nvidia_gpu(facts):
            yield skipped("the version of the driver is not known")
        return
    needed = lowest(wheel[0], _os(facts))
    if known is not None:
        too_old = known // 1000 < wheel[0]
    elif needed is not None:
        too_old = not meets(driver, needed)
    else:
        yield skipped(f"which driver CUDA {wheel[0]} needs is newer than torchlift's data")
        return
    if too_old:
        yield _too_old(facts, wheel, known, driver, needed)
        return
    full = paired((wheel[0], wheel[1]), _os(facts))
    behind = known is not None and known < wheel[0] * 1000 + wheel[1] * 10
    if behind and known is not None:
        yield note(
            f"The driver knows CUDA {cuda_text(known)} and torch is built for {wheel[0]}.{wheel[1]}: legal, with limits",
            evidence=(
                Evidence(
                    "CUDA of the driver",
                    cuda_text(known),
                    needed=f"{wheel[0]}.{wheel[1]} for everything",
                    source="cuDriverGetVersion",
                ),
                Evidence("driver", driver or "unknown", needed=full, source="the driver"),
            ),
            remedy=Remedy(
                "Nothing to do: torch compiles no PTX of its own. PTX of CUDA "
                f"{wheel[0]}.{wheel[1]} from elsewhere (some extensions, Numba) fails with error 222 on this driver; "
                f"driver {full or 'of that CUDA'} or newer lifts that"
            ),
            confidence="table",
            link=_RULES,
        )
    else:
        yield ok(f"The driver {driver or ''}".rstrip() + f" is new enough for CUDA {wheel[0]}.{wheel[1]}")


def _too_old(facts: Facts, wheel: tuple[int, ...], known: int | None, driver: str | None, needed: str | None) -> Result:
    cuda = f"{wheel[0]}.{wheel[1]}"
    supports = f", which knows CUDA up to {cuda_text(known)}," if known is not None else ""
    evidence = [Evidence("CUDA of the installed torch", cuda, source=facts.torch.path if facts.torch else "")]
    if known is not None:
        shown = f"{cuda_text(known)} (torch prints it as {known})"
        evidence.append(
            Evidence("CUDA of the driver", shown, needed=f"{wheel[0]}.0 or newer", source="cuDriverGetVersion")
        )
    evidence.append(
        Evidence("driver", driver or "unknown", needed=f"{needed} or newer" if needed else None, source="the driver")
    )
    branch = f"; CUDA {wheel[0]} needs driver {needed} or newer" if needed else ""
    return problem(
        f"The NVIDIA driver {driver or ''}".rstrip() + f"{supports} is too old for torch built for CUDA {cuda}{branch}",
        evidence=tuple(evidence),
        remedy=_remedy(facts, needed),
        link=_RULES,
        cause="driver-too-old-for-gpu",
    )


def _remedy(facts: Facts, needed: str | None) -> Remedy:
    if needed is None:
        wanted = f"a driver for CUDA {parts(facts.torch.cuda)[0]}" if facts.torch is not None else "a newer driver"
        return Remedy(f"Install {wanted}; which one that is, is newer than torchlift's data of {data_date()}")
    upgrade, answer = install_driver(facts, needed), wheel_answer(facts)
    # Another torch in place of such a one would be another image, or another day's work.
    if torch_origin(facts) in ("nvidia", "source"):
        return upgrade
    if answer.kind != "wheel" or answer.choice is None:
        return upgrade
    instead = remedy_of(facts, answer).command
    text = (
        f"{upgrade.text}. Or keep this driver and install torch {answer.choice.torch} built for {answer.choice.build}"
    )
    # Where a command cannot change the driver, it can change torch.
    return Remedy(text if upgrade.command is None else f"{text}: {instead}", upgrade.command or instead)


def _os(facts: Facts) -> str:
    # Under WSL the driver, and so its numbers, are those of Windows.
    return "windows" if facts.system.wsl or facts.system.os == "windows" else "linux"
