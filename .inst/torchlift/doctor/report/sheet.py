"""What every form of the report says of an examination as a whole."""

from __future__ import annotations

from torchlift.doctor.check import Status
from torchlift.doctor.derived.naming import cuda_text
from torchlift.doctor.derived.nvidia_driver import cuda_of_driver, driver_version
from torchlift.doctor.examination import Examination
from torchlift.doctor.facts import Facts
from torchlift.doctor.report import words

_MENDED_BY_A_WHEEL = (
    "gpu-architecture",
    "torch-cpu-build",
    "torch-other-vendor",
    "jetson-wheel",
    "driver-too-old",
    "driver-too-old-for-gpu",
    "driver-too-new-for-gpu",
)
"""Checks whose problems another wheel mends, at once or after a change of the driver."""


def status_of(examination: Examination) -> Status:
    """How bad it is, for the colour of the verdict."""
    if examination.health != "healthy":
        return "problem" if examination.health == "problems" else "failed"
    return "warning" if examination.independent("warning") else "ok"


def wants_install(examination: Examination) -> bool:
    """Whether what to install is part of the answer."""
    if examination.is_plan or examination.facts.torch is None:
        return True
    return any(
        item.result.status == "problem" and item.check.id in _MENDED_BY_A_WHEEL
        for finding in examination.findings
        for item in finding.all()
    ) or (examination.project is not None and any(result.status == "problem" for result in examination.project.results))


def machine_lines(facts: Facts) -> list[tuple[str, str]]:
    """What the machine is, line by line, with a name for each; what is not known is left out."""
    driver, version = driver_version(facts), cuda_of_driver(facts)
    lines = [
        ("System", words.operating_system(facts)),
        ("GPUs", words.gpus_with_memory(facts)),
        ("Driver", f"{driver}{f' (CUDA {cuda_text(version)})' if version else ''}" if driver else ""),
        ("Packages", words.packages(facts) or ""),
        ("Python", words.python(facts) or ""),
    ]
    return [(name, value) for name, value in lines if value]
