"""NVIDIA driver versions: what a CUDA needs, what a GPU needs, how long a branch lives.

Sources are in data/drivers.json, one per row. `os` is "linux" or "windows" throughout, and answers are driver versions
such as "580.65.06", or a branch alone, "580", where NVIDIA names no more.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from torchlift.lazy_pattern import lazy_pattern
from torchlift.wheels.compatibility import renamed
from torchlift.wheels.tables import table

_VERSION = lazy_pattern(r"\s*(\d+(?:\.\d+)*)")


def parts(driver: str | None) -> tuple[int, ...]:
    """The numbers of a driver version, () when there are none to read."""
    match = _VERSION.match(driver or "")
    return tuple(int(number[:9]) for number in match[1].split(".")) if match else ()


def branch(driver: str | None) -> int:
    """580 for "580.95.05"; 0 when `driver` is no version."""
    numbers = parts(driver)
    return numbers[0] if numbers else 0


def meets(driver: str | None, needed: str | None) -> bool:
    """Whether `driver` is `needed` or newer. Nothing needed is always met; an unreadable driver meets nothing."""
    if needed is None:
        return True
    have, need = parts(driver), parts(needed)
    width = max(len(have), len(need))
    return bool(have) and have + (0,) * (width - len(have)) >= need + (0,) * (width - len(need))


def floor(cuda_major: int, os: str) -> str | None:
    """The oldest driver that runs programs built with any toolkit of this major version (minor-version
    compatibility), with the limit that newer PTX is refused. None when the tables do not know the major version."""
    return next((row[os] for row in table("drivers")["floors"] if row["cuda"] == cuda_major and os in row), None)


def paired(cuda: tuple[int, int], os: str) -> str | None:
    """The oldest driver that knows all of this toolkit ("580.65.06" for 13.0 on Linux); None where NVIDIA names none.

    Since 13.1 NVIDIA names no Windows driver: there the branch of the Linux driver is what to compare with, see
    `paired_branch`.
    """
    return next((row[os] for row in _toolkits() if row["cuda"] == f"{cuda[0]}.{cuda[1]}" and row.get(os)), None)


def paired_branch(cuda: tuple[int, int]) -> int | None:
    """The branch of the oldest Linux driver that knows this toolkit; branches are the same on both systems."""
    driver = paired(cuda, "linux")
    return branch(driver) if driver else None


def lowest(cuda_major: int, os: str) -> str | None:
    """The oldest driver release that meets the floor: "580.65.06", where the floor itself only says "580"."""
    needed = floor(cuda_major, os)
    if needed is None or "." in needed:
        return needed
    known = [row[os] for row in _toolkits() if row.get(os) and branch(row[os]) == branch(needed)]
    return min(known, key=parts, default=needed)


def last_branch(capability: tuple[int, int]) -> int | None:
    """The last driver branch for a GPU of this compute capability; None while support goes on."""
    return next((row["last_branch"] for row in _architectures() if _is(row, capability)), None)


def first_cuda(capability: tuple[int, int]) -> tuple[int, int] | None:
    """The first CUDA for this compute capability: no driver paired with an older one knows the chip. None when no
    source says."""
    row = next((row for row in _architectures() if _is(row, capability)), None)
    return (row["first_cuda"][0], row["first_cuda"][1]) if row and row["first_cuda"] else None


def first_branch(capability: tuple[int, int]) -> int | None:
    """The first driver branch that can know a GPU of this compute capability; None when no source says."""
    row = next((row for row in _architectures() if _is(row, capability)), None)
    return row["first_branch"] if row else None


def end_of_life(driver_branch: int) -> str | None:
    """The month in which NVIDIA ends or ended the data-centre branch, "2028-06"; None when unknown."""
    return next((row["end_of_life"] for row in table("drivers")["branches"] if row["branch"] == driver_branch), None)


def kind(driver_branch: int) -> str | None:
    """ "long-term support", "production" or "new feature"; None when unknown."""
    return next((row["kind"] for row in table("drivers")["branches"] if row["branch"] == driver_branch), None)


def newest_branch() -> int:
    """The newest branch that the tables know of."""
    return max(int(row["branch"]) for row in table("drivers")["branches"])


@cache
def _toolkits() -> tuple[dict[str, Any], ...]:
    """Rows of the toolkit table, oldest driver first."""
    return tuple(sorted(table("drivers")["toolkits"], key=lambda row: parts(row["linux"])))


def _architectures() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table("drivers")["architectures"]
    return rows


def _is(row: dict[str, Any], capability: tuple[int, int]) -> bool:
    return bool(renamed(capability) == (row["capability"][0], row["capability"][1]))
