"""Which objects of a run are one captured value: itself, its parts, its copies, and what was loaded from its archives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Literal, NamedTuple

from torchlift.record.spool import Event, Told

Via = Literal["capture", "load", "copy"]


class Standing(NamedTuple):
    """An object that stands for a captured value.

    Attributes:
        number: of the object.
        prefix: its name inside of the value, with a dot behind it, for a part.
        via: how it was made.
    """

    number: str
    prefix: str
    via: Via


class CapturedObjects:
    """The objects of a run, and what each was made from."""

    def __init__(self, told: Told) -> None:
        self._made: dict[str, list[tuple[str, str, Via]]] = defaultdict(list)
        self.written: dict[str, list[Event]] = defaultdict(list)
        """What each object was written to."""
        self.writers: dict[str, set[str]] = defaultdict(set)
        """Captured objects that were written to an archive, by its hash."""
        for event in told.of("wrote"):
            if event["object"] is not None:
                self.written[event["object"]].append(event)
                self.writers[event["content"]].add(event["object"])
        for event in told.of("made"):
            part = event["via"] == "part"
            self._add(
                event["source"], event["object"], f"{event['name']}." if part else "", "capture" if part else "copy"
            )
        for event in told.of("capture"):
            if event["object"] is not None and event.get("source") is not None:
                self._add(event["source"], event["object"], "", "copy")
        self.proofs: dict[str, str] = {}
        """Files of the proofs of what was loaded in a process that did not write it."""
        for event in told.of("read"):
            if event["object"] is not None:
                if event.get("proof"):
                    self.proofs[event["object"]] = event["proof"]
                for writer in sorted(self.writers[event["content"]]):
                    self._add(writer, event["object"], "", "load")

    def _add(self, source: str, number: str, prefix: str, via: Via) -> None:
        self._made[source].append((number, prefix, via))

    def all_of(self, number: str) -> Iterator[Standing]:
        """The object, and all that stand for it."""
        seen = set()
        stack = [Standing(number, "", "capture")]
        while stack:
            here = stack.pop()
            if here.number in seen:
                continue
            seen.add(here.number)
            yield here
            for made, prefix, via in self._made[here.number]:
                further: Via = (
                    "load" if "load" in (via, here.via) else "copy" if "copy" in (via, here.via) else "capture"
                )
                stack.append(Standing(made, here.prefix + prefix, further))
