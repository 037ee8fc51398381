"""Which groups of fixes make a command fail: suspects first, then halves. Nothing here runs anything.

A group is blamed if the command fails with it, does not fail without it, and all other groups are the same. What fails once
and not again blames nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.verification.complaint import Complaint

Groups = frozenset[int]


class OutOfRuns(Exception):
    """No further run is allowed, but for the last one."""


class Trials(Protocol):
    """Runs of the command on the project with some groups of fixes; each may raise `OutOfRuns`."""

    def whole(self, groups: Groups) -> Sequence[Complaint]:
        """What is wrong in a run of the whole command."""

    def again(self, groups: Groups, about: Sequence[Complaint]) -> Sequence[Complaint]:
        """Which of the complaints `about` are to be heard in another run, of the tests they are about where that can be.

        Where the same tests fail in another way, a complaint is heard with the words of that.
        """

    def last(self, groups: Groups) -> Sequence[Complaint]:
        """The same as `whole`, also where no other run is allowed any more."""

    def suspects(self, groups: Groups, complaint: Complaint) -> Sequence[Groups]:
        """Groups that may be behind a complaint, the likeliest first; none if nothing points at any."""


@dataclass(frozen=True)
class SearchEnd:
    """What came of a search.

    Attributes:
        kept: groups with which the whole command ran as it did before.
        dropped: groups that were blamed, with what for.
        undecided: groups for which there were no runs left.
        unstable: what failed once and not again, by its words.
        broken: what was still wrong in the last run, so that nothing is kept.
    """

    kept: Groups
    dropped: Mapping[int, Complaint] = field(default_factory=dict)
    undecided: Groups = frozenset()
    unstable: tuple[str, ...] = ()
    broken: tuple[Complaint, ...] = ()


def search(groups: Groups, trials: Trials, *, careful: bool = False) -> SearchEnd:
    """Find the groups with which the command runs as it does without any.

    Args:
        groups: all of them.
        trials: runs; it is known that nothing is wrong without any group.
        careful: whether both sides of each blame are run twice more; once they are anyway where a single test can be run
            and nothing but halves told who is to blame.
    """
    return _Search(groups, trials, careful).run()


class _Search:
    def __init__(self, groups: Groups, trials: Trials, careful: bool) -> None:
        self.kept = groups
        self.trials = trials
        self.careful = careful
        self.dropped: dict[int, Complaint] = {}
        self.unstable: dict[str, str] = {}
        self.ignored: set[str] = set()
        self.open: list[Complaint] = []
        self.good: dict[str, Groups] = {}

    def run(self) -> SearchEnd:
        try:
            while self.kept:
                self.open = self._confirmed(self._known_only(self.trials.whole(self.kept)))
                if not self.open:
                    return self._verdict(frozenset())
                self._settle()
        except OutOfRuns:
            return self._end()
        return self._verdict(frozenset())

    def _known_only(self, complaints: Sequence[Complaint]) -> list[Complaint]:
        return [complaint for complaint in complaints if complaint.key not in self.ignored]

    def _confirmed(self, complaints: Sequence[Complaint]) -> list[Complaint]:
        """Those that are heard again, and not without any fix; where they are not heard alone, in the whole command."""
        if not complaints:
            return []
        self.open = list(complaints)  # for `_end`, should the runs end here
        heard = {complaint.key: complaint for complaint in self.trials.again(self.kept, complaints)}
        alone = [complaint for complaint in complaints if complaint.tests and complaint.key in heard]
        lone = {complaint.key for complaint in self.trials.again(frozenset(), alone)} if alone else set()
        confirmed = [heard[key] for key in heard if key not in lone]
        doubtful = [complaint for complaint in complaints if complaint.key not in heard or complaint.key in lone]
        if doubtful and not confirmed:
            # It may take the tests before it to fail: then it is heard in the whole command and there alone.
            by_itself = [_of_the_whole(complaint) for complaint in doubtful if complaint.tests]
            confirmed = list(self.trials.again(self.kept, by_itself)) if by_itself else []
            anyway = {complaint.key for complaint in self.trials.again(frozenset(), confirmed)} if confirmed else set()
            confirmed = [complaint for complaint in confirmed if complaint.key not in anyway]
            kept = {complaint.key for complaint in confirmed}
            self._call_unstable([complaint for complaint in doubtful if complaint.key not in kept])
        return confirmed

    def _call_unstable(self, complaints: Collection[Complaint]) -> None:
        self.unstable.update({complaint.key: complaint.by for complaint in complaints})
        # A whole command that failed once is not believed that once; to believe it never would prove nothing.
        self.ignored.update(complaint.key for complaint in complaints if complaint.tests)

    def _settle(self) -> None:
        """Find who is behind each open complaint, until none is heard any more."""
        while self.open:
            # Whoever names a suspect is heard first: that takes one run.
            pointed = [(self.trials.suspects(self.kept, complaint), complaint) for complaint in self.open]
            pointed.sort(key=lambda pair: (not pair[0], len(pair[0][0]) if pair[0] else 0))
            suspects, complaint = pointed[0]
            culprit, rest = self._culprit(complaint, [group & self.kept for group in suspects])
            if culprit is None:
                self._call_unstable([complaint])
                self.open = [other for other in self.open if other.key != complaint.key]
                continue
            self.kept -= {culprit}
            self.dropped[culprit] = complaint
            self.open = list(self.trials.again(self.kept, self.open) if rest is None else rest)

    def _culprit(
        self, complaint: Complaint, suspects: Sequence[Groups]
    ) -> tuple[int | None, Sequence[Complaint] | None]:
        """The group behind a complaint, None if it is not heard twice the same way; and what is open without the group."""
        for some in suspects:
            if not some or some == self.kept:
                continue
            without = self.trials.again(self.kept - some, self.open)
            if any(complaint.is_the_same_failure(other) for other in without):
                continue
            if len(some) == 1:
                culprit = next(iter(some))
                return (culprit, without) if self._holds(complaint, self.kept, culprit, pointed=True) else (None, None)
            return self._halved(complaint, self.kept - some, sorted(some)), None
        base = self.good.get(complaint.key, frozenset()) & self.kept
        return self._halved(complaint, base, sorted(self.kept - base)), None

    def _halved(self, complaint: Complaint, base: Groups, others: Sequence[int]) -> int | None:
        """The group among `others` that brings a complaint in: without it, and with all before it, there is none."""
        if not others:
            return None  # it was not heard with the same groups before
        low, high, other_failures = 0, len(others), False
        while high - low > 1:
            middle = (low + high) // 2
            heard = self.trials.again(base.union(others[:middle]), [complaint])
            if heard and complaint.is_the_same_failure(heard[0]):
                high = middle
                continue
            low = middle
            if heard:  # these groups need others, without which something else fails
                other_failures = True
            else:
                self.good[complaint.key] = base.union(others[:low])
        culprit = others[low]
        if other_failures and self.trials.again(self.kept - {culprit}, [complaint]):
            raise OutOfRuns  # further runs would not tell them apart
        with_it = base.union(others[:high])
        return culprit if self._holds(complaint, with_it, culprit, pointed=False) else None

    def _holds(self, complaint: Complaint, groups: Groups, culprit: int, *, pointed: bool) -> bool:
        """Whether the complaint is heard with the culprit and not without it, as often as is asked."""
        times = int(not pointed) if complaint.tests else 0
        if self.careful:
            times = 2 if complaint.tests else 1
        return all(
            not self._is_heard(complaint, groups - {culprit}) and self._is_heard(complaint, groups)
            for _ in range(times)
        )

    def _is_heard(self, complaint: Complaint, groups: Groups) -> bool:
        return any(map(complaint.is_the_same_failure, self.trials.again(groups, [complaint])))

    def _end(self) -> SearchEnd:
        """There is one run left: keep what is known to be well, if anything is, and prove it with that run."""
        good = self.kept
        for complaint in self.open:
            pointed = self.trials.suspects(self.kept, complaint)
            good &= self.good.get(complaint.key) or (self.kept - pointed[0] if pointed else frozenset())
        undecided = self.kept - good
        self.kept = good
        if good:
            broken = self._known_only(self.trials.last(good))
            if broken:
                self.kept = frozenset()
                return self._verdict(undecided | good, tuple(broken))
        return self._verdict(undecided)

    def _verdict(self, undecided: Groups, broken: tuple[Complaint, ...] = ()) -> SearchEnd:
        return SearchEnd(self.kept, self.dropped, undecided, tuple(self.unstable.values()), broken)


def _of_the_whole(complaint: Complaint) -> Complaint:
    return Complaint(complaint.key, complaint.by, complaint.error, complaint.places)
