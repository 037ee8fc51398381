"""Drivers and GPUs that came after torchlift's tables."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result, note, ok
from torchlift.doctor.derived.naming import gpu_label
from torchlift.doctor.derived.nvidia_driver import driver_version
from torchlift.doctor.facts import Facts
from torchlift.wheels.compatibility import capability, renamed
from torchlift.wheels.drivers import branch, newest_branch
from torchlift.wheels.gpus import is_known
from torchlift.wheels.tables import data_date

CHECK = Check(
    id="newer-than-data",
    group="machine",
    title="torchlift's data knows this driver and these GPUs",
    why=(
        "Advice about a driver or a GPU that the tables do not know would be a guess, so none is given. What is measured on "
        "this machine needs no table. Updating torchlift brings newer tables."
    ),
    sources=("torchlift's own tables, src/torchlift/wheels/data",),
)


def look(facts: Facts) -> Iterator[Result]:
    number = branch(driver_version(facts))
    new_driver = number > newest_branch() and not facts.system.jetson_release
    if new_driver:
        yield note(
            f"Driver branch {number} is newer than torchlift's data of {data_date()}",
            evidence=(
                Evidence(
                    "driver",
                    driver_version(facts) or "",
                    needed=f"{newest_branch()} at most",
                    source=f"data of {data_date()}",
                ),
            ),
            confidence="table",
        )
    known = False
    for gpu in facts.gpus:
        found = capability(gpu.compute_capability)
        if found is None:
            continue
        if is_known(found) or is_known(renamed(found)):
            known = True
            continue
        yield note(
            f"{gpu_label(gpu)} has compute capability {gpu.compute_capability}, which torchlift's data of {data_date()} "
            "does not have: only what the installed files and the driver say counts",
            evidence=(Evidence(f"compute capability of GPU {gpu.index}", gpu.compute_capability or "", source="NVML"),),
            confidence="table",
        )
    if known and not new_driver:
        yield ok(f"torchlift's data of {data_date()} knows this driver and these GPUs")
