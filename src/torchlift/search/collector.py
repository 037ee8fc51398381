"""Facts that a family of rules wants from every file."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from torchlift.lazy_dataclass import dataclass
from torchlift.search.glance import Sighting


@dataclass(frozen=True)
class Collector:
    """Facts that one family of rules wants from every file of the project.

    Attributes:
        name: key of the facts.
        triggers: words of which a file must hold at least one, as `Prefilter` takes them.
        collect: from one file to a picklable record, or None if there is nothing to record; the text of the file is enough
            for it where `reads_text` is set.
        targets: names of which every file with a record uses one, or one of `text`; empty where words alone decide.
        matters: which uses of them count; all unless given.
        text: whether the bytes of a file hold something else that may lead to a record.
    """

    name: str
    triggers: tuple[str, ...]
    collect: Callable[[Any], Any]
    targets: frozenset[str] = frozenset()
    matters: Callable[[Sighting], bool] | None = None
    text: Callable[[bytes], bool] | None = None
    reads_text: bool = False


class Deferred(Enum):
    """Stands for the record of a file that may have one and has not been read for it yet."""

    DEFERRED = "deferred"
