"""The answer for NVIDIA GPUs."""

from __future__ import annotations

from torchlift.wheels import drivers, gpus
from torchlift.wheels.answer import Answer, Choice
from torchlift.wheels.compatibility import renamed
from torchlift.wheels.install_line import install_lines
from torchlift.wheels.nvidia.case import ORIN, NvidiaCase
from torchlift.wheels.nvidia.choice import limits, nvidia_choice
from torchlift.wheels.nvidia.refusal import no_common_driver, without
from torchlift.wheels.nvidia.split import split
from torchlift.wheels.nvidia.upgrade import after_upgrade, better_driver, upgrade_to
from torchlift.wheels.tables import data_date, table


def for_nvidia(case: NvidiaCase) -> Answer:
    """The answer for GPUs whose compute capabilities are all known."""
    conflict = no_common_driver(case)
    if conflict is not None:
        return conflict
    if case.usable():
        return _wheel(case)
    if case.jetson and all(gpu.capability == ORIN for gpu in case.gpus):
        older = _jetson_index(case)
        if older is not None:
            return older
    return after_upgrade(case) or split(case) or without(case)


def _wheel(case: NvidiaCase) -> Answer:
    ranked = case.usable()
    best = ranked[0]
    choice = nvidia_choice(case, best)
    reasons = limits(case, best)
    upgrade, then = better_driver(case, best)
    if upgrade is not None and then is not None:
        reasons.append(f"with driver {upgrade} or newer torch {then.torch} ({then.build}) would run")
    summary = f"torch {choice.torch} ({choice.build}) runs on {case.names}"
    summary += f" with {case.driver.text}" if case.driver.known else "; the driver is not known"
    gone = [gpu.label for gpu in case.gpus if case.driver.outgrew(gpu.capability)]
    if gone:
        last = min(last for gpu in case.gpus if (last := drivers.last_branch(gpu.capability)))
        summary += f", but only after going back to driver branch {last}, the last for {', '.join(dict.fromkeys(gone))}"
    others = [offer for offer in ranked[1:] if offer.line == best.line][:2]
    alternatives = tuple(nvidia_choice(case, offer) for offer in others)
    return Answer("wheel", summary, choice, alternatives, upgrade, then, reasons=tuple(reasons))


def _jetson_index(case: NvidiaCase) -> Answer | None:
    row = next(row for row in table("indexes")["rows"] if row["build"] == "jetson")
    if case.wish.build is not None:
        return None
    pin = f"torch{case.wish.specifier}" if case.wish.narrow else f"torch=={row['torch_named']}.*"
    pip, uv = install_lines(pin, row["url"], case.companions, "")
    choice = Choice(
        torch=str(case.wish.specifier) if case.wish.narrow else row["torch_named"],
        build="jetson",
        index=row["url"],
        pip=pip,
        uv=uv,
        reasons=("PyTorch's own wheels run on Orin only when built with CUDA 13.2 or newer, which needs driver 580",),
        warnings=("which releases this index has is known from public install guides only",),
        sources=(f"{row['source']} ({row['date']})",),
        measured=False,
    )
    ideal = case.with_driver(None).usable()
    upgrade, then = upgrade_to(case, ideal) if ideal else (None, None)
    summary = f"Orin with {case.driver.text} takes torch from NVIDIA's Jetson index"
    if then is not None:
        summary += f"; with JetPack's driver {upgrade} or newer torch {then.torch} ({then.build}) would run"
    return Answer("wheel", summary, choice, (), upgrade, then)


def unknown_capability(name: str, capability: tuple[int, int] | None) -> tuple[str, str | None] | None:
    """A sentence, and a note about the data, on a GPU that the tables cannot place; None for known ones."""
    if capability is None:
        return f"The compute capability of {name} is not known", None
    if gpus.is_known(renamed(capability)) or capability < (3, 0):
        return None
    number = f"{capability[0]}.{capability[1]}"
    return (
        f"Compute capability {number} ({name}) is not in torchlift's data",
        f"compute capability {number} is newer than torchlift's data (of {data_date()})",
    )
