"""Driver branches that NVIDIA no longer updates."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Result, note, ok
from torchlift.doctor.derived.nvidia_driver import driver_version
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.driver_install import install_driver
from torchlift.wheels.compatibility import capability
from torchlift.wheels.drivers import branch, end_of_life, kind, last_branch, newest_branch
from torchlift.wheels.tables import data_date

_TABLE = "https://docs.nvidia.com/datacenter/tesla/drivers/615/supported-drivers-and-cuda-toolkit-versions.html"

CHECK = Check(
    id="driver-branch-end-of-life",
    group="driver",
    title="The driver's branch still gets updates",
    why=(
        "NVIDIA updates a production branch for about a year, a long-term branch for about three, as its data-centre "
        "table says. An older driver keeps working, but gets no security fixes and cannot run the next CUDA."
    ),
    sources=(_TABLE,),
)


def look(facts: Facts) -> Iterator[Result]:
    driver = driver_version(facts)
    number = branch(driver)
    if not driver or facts.system.jetson_release or not 300 <= number <= newest_branch():
        return
    ends = end_of_life(number)
    if ends is None:
        return
    # The day of the examination, not today: saved facts give the same answer for ever. YYYY-MM compares as text.
    now = (facts.taken or data_date())[:7]
    if ends >= now:
        named = f", a {kind(number)} branch," if kind(number) else ""
        yield ok(f"Driver branch {number}{named} is kept up until {ends}")
        return
    last = [last_branch(found) for gpu in facts.gpus if (found := capability(gpu.compute_capability))]
    newest_possible = min((one for one in last if one is not None), default=None)
    if newest_possible is not None and newest_possible <= number:
        yield note(
            f"Driver branch {number} had its last update in {ends}, and it is the last for this card",
            evidence=(Evidence("driver", driver, source="the driver"),),
            confidence="table",
            link=_TABLE,
        )
        return
    yield note(
        f"Driver branch {number} had its last update in {ends}, security fixes included",
        evidence=(Evidence("driver", driver, needed="580 (until 2028-06) or newer", source="the driver"),),
        remedy=install_driver(facts, "580"),
        confidence="table",
        link=_TABLE,
    )
