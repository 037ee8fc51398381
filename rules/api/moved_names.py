"""Table of torch names that moved: the new name is the same object, or a function that does the same.

Every row was checked against the torch 2.13.0 sources and by calling both names; `tests/test_moved_names.py` does it
again. `since` is the first release known to have the new name.
"""

from __future__ import annotations

from dataclasses import dataclass

from torchlift.versions import TorchVersion


@dataclass(frozen=True)
class MovedName:
    """One moved name.

    Attributes:
        old: qualified old name.
        new: qualified new name.
        since: first release with the new name.
        source: evidence.
        deprecated: release that deprecated the old name, if known.
        removed: release that removed the old name, if it is gone.
        note: what else a user should know.
    """

    old: str
    new: str
    since: TorchVersion
    source: str
    deprecated: TorchVersion | None = None
    removed: TorchVersion | None = None
    note: str = ""


MOVED_NAMES: tuple[MovedName, ...] = (
    MovedName(
        "torch.ger",
        "torch.outer",
        TorchVersion(1, 8),
        'torch 2.13.0, torch/_torch_docs.py: "Alias of torch.outer. This function is deprecated"',
    ),
)
