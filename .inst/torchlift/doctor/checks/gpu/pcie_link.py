"""A PCIe link narrower than card and slot allow."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, warning
from torchlift.doctor.derived.naming import gpu_label
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="pcie-link",
    group="gpu",
    title="Every GPU has all its PCIe lanes",
    why=(
        "A badly seated card, a riser or a shared slot leaves fewer lanes: copies between host and GPU are slower by as "
        "much, with no error. An idle GPU lowers the speed of its lanes, never their number."
    ),
    sources=("nvmlDeviceGetMaxPcieLinkWidth: the most possible with this device and system, NVML API reference",),
)


def look(facts: Facts) -> Iterator[Result]:
    well = False
    for gpu in facts.gpus:
        width, possible = gpu.pcie_width, gpu.pcie_width_max
        if width is None or possible is None or width <= 0:
            continue
        if width >= possible:
            well = True
            continue
        yield warning(
            f"{gpu_label(gpu)} has {width} of {possible} PCIe lanes",
            evidence=(Evidence(f"PCIe width of GPU {gpu.index}", f"x{width}", needed=f"x{possible}", source="NVML"),),
            remedy=Remedy(
                "Seat the card anew, in a slot with all lanes; some boards share lanes between slots or with drives"
            ),
        )
    if well:
        # The generation is not judged: an idle GPU lowers it to save power.
        yield ok("Every GPU has all its PCIe lanes")
