"""What can be wrong with a run of the user's command on changed files."""

from __future__ import annotations

from torchlift.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CopiedLine:
    """A line of a file, counted from one; the path is relative to the copied tree."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something that was well before any fix.

    Attributes:
        key: what it is about; the same in every run.
        by: the same in words: a test, a function that returns something else, or the command.
        error: the line that says how it fails, without a full stop.
        places: lines that it names, the nearest to the failure first, in the changed files.
        tests: ids of the tests in which it can be seen again; none if that takes the whole command.
    """

    key: str
    by: str
    error: str
    places: tuple[CopiedLine, ...] = ()
    tests: tuple[str, ...] = ()

    def is_the_same_failure(self, other: Complaint) -> bool:
        """Whether another complaint, of a later run, is about the same failure: behind an import that fails may be the next."""
        if (self.key, self.by) != (other.key, other.by):
            return False
        if not self.places or not other.places or self.error == other.error:
            return True
        return self.places[0].path == other.places[0].path
