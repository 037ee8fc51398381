"""Which standard of C++ the headers of a torch release take, and the flags that ask for one."""

from __future__ import annotations

from torchlift.lazy_pattern import lazy_pattern
from torchlift.versions import TorchVersion

# Source: `#error C++17 or later compatible compiler is required to use ATen` and its like in ATen/ATen.h of the wheels of torch
# 1.13.1 to 2.15.0, read 2026-11-26 (rules/cpp/data/headers.json, "standard"). A test holds the two together.
STANDARDS: tuple[tuple[TorchVersion, str], ...] = ((TorchVersion(2, 14), "20"), (TorchVersion(2, 1), "17"))
_ORDER = ("98", "03", "0x", "11", "1y", "14", "1z", "17", "2a", "20", "2b", "23", "26")
FLAG = lazy_pattern(r"[-/]std[=:](?:c|gnu)\+\+(?P<standard>0x|11|1y|14|1z|17)")
LATER_FLAG = lazy_pattern(r"[-/]std[=:](?:c|gnu)\+\+(?:2\w|latest)")


def needed_standard(standard: str, target: TorchVersion) -> tuple[str, TorchVersion] | None:
    """The standard that the headers of `target` need, and the first release that needs it; None where `standard` is enough."""
    for since, needed in STANDARDS:
        if target >= since:
            return (needed, since) if _ORDER.index(standard) < _ORDER.index(needed) else None
    return None
