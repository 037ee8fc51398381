"""What was asked about the files of a project, so that an answer can be told to hold still after some of them changed, in the same run or in
what a later one takes over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, TypeVar

Result = TypeVar("Result")


class Asked:
    """Questions about one state of a project; plain data that other processes may send back.

    Attributes:
        files: read or parsed, by path.
        names: of which it was asked what their names are bound to, by path.
        texts: looked for in every Python file, as bytes and whether they have to be words of their own.
        places: looked for line by line.
        records: names of collectors whose records of all files were read.
        facts: functions that were asked of the text of every Python file.
        answers: functions of the project whose answers are shared, with their further arguments.
        earlier: keys of what was taken over from an earlier run.
        unbounded: whether something was asked besides that cannot be told.
    """

    __slots__ = ("answers", "earlier", "facts", "files", "names", "places", "records", "texts", "unbounded")

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.names: set[str] = set()
        self.texts: set[tuple[bytes, bool]] = set()
        self.places: set[bytes] = set()
        self.records: set[str] = set()
        self.facts: set[Callable[[str, bytes], Any]] = set()
        self.answers: set[tuple[Callable[..., Any], tuple[Any, ...]]] = set()
        self.earlier: set[str] = set()
        self.unbounded = False

    def add(self, other: Asked) -> None:
        """Ask all that `other` did, too."""
        self.files |= other.files
        self.names |= other.names
        self.texts |= other.texts
        self.places |= other.places
        self.records |= other.records
        self.facts |= other.facts
        self.answers |= other.answers
        self.earlier |= other.earlier
        self.unbounded |= other.unbounded


class Ear:
    """Notes what is asked.

    Attributes:
        asked: the questions of whoever asks at present.
    """

    def __init__(self) -> None:
        self.asked = Asked()

    @contextmanager
    def listening(self) -> Iterator[Asked]:
        """Note what is asked until the end of the block; it counts as asked around the block, too."""
        around, self.asked = self.asked, Asked()
        try:
            yield self.asked
        finally:
            around.add(self.asked)
            self.asked = around

    def unheard(self, work: Callable[[], Result]) -> Result:
        """Do something whose result is asked about as a whole."""
        return self.apart(work)[0]

    def apart(self, work: Callable[[], Result]) -> tuple[Result, Asked]:
        """The same, and what was asked for it."""
        around, self.asked = self.asked, Asked()
        try:
            return work(), self.asked
        finally:
            self.asked = around


Question = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function of the project, and its further arguments."""


class Exports(NamedTuple):
    """What the names of one module are bound to, and the modules it imports everything from."""

    names: dict[str, str | None]
    stars: tuple[str, ...] = ()


class Earlier(Protocol):
    """Answers of an earlier run; each is None where it has to be worked out again."""

    def record(self, collector: str, path: str) -> tuple[Any] | None:
        """What a collector recorded of a file: one value, which may be None."""

    def exports(self, path: str) -> Exports | None:
        """What the names of a file are bound to."""

    def answer(self, question: Question) -> tuple[Any, Asked] | None:
        """A shared answer, and the key of what it rests on."""

    def beneath(self, key: str) -> Asked:
        """All that something rests on that was taken over."""


class Knowledge(NamedTuple):
    """What a state of a project knows that a later run may take over.

    Attributes:
        records: by path and collector.
        exports: by path.
    """

    records: dict[str, dict[str, Any]]
    exports: dict[str, Exports]
