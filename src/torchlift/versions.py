"""torch versions as rules compare them: `(major, minor)` and, where it matters, a patch number."""

from __future__ import annotations

from typing import NamedTuple

from torchlift.lazy_pattern import lazy_pattern

_NUMBER = lazy_pattern(r"\s*v?(\d+)(?:\.(\d+))?(?:\.(\d+))?")


class TorchVersion(NamedTuple):
    """A torch release; pre-release and local parts (`+cu126`) do not matter to any rule and are dropped."""

    major: int
    minor: int = 0
    patch: int = 0

    @classmethod
    def parse(cls, text: str) -> TorchVersion:
        """Read `2.15`, `2.5.1`, `v2.6`, `2.7.0+cu126`.

        Raises:
            ValueError: the text does not start with a release number.
        """
        match = _NUMBER.match(text)
        if not match:
            raise ValueError(f"{text!r} is not a torch version; write it like 2.15 or 2.5.1")
        return cls(*(int(part or 0) for part in match.groups()))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}" if self.patch else f"{self.major}.{self.minor}"


# Source: file list of the torch project on PyPI, read 2026-11-21; 2.15.0 carries files dated 2026-10-28.
LATEST = TorchVersion(2, 15)
