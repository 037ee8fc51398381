"""Which groups of fixes make a command fail: suspects first, then halves. Nothing here runs anything.

A group is blamed if the command fails with it, does not fail without it, and all other groups are the same. Where each of
several groups is enough for a failure, all of them are left out first, and each is blamed that brings it back alone. What fails
once and not again blames nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.verification.complaint import Complaint

# How often both sides of a blame are run again: a test that fails at random agrees with it less than one time in four pairs.
_PAIRS, _CAREFUL_PAIRS = 3, 5

Groups = frozenset[int]
Units = Sequence[Groups]
"""Groups that are suspected together. Those of one unit are alike: any of them does by itself what is suspected of it."""


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

    def suspects(self, groups: Groups, complaint: Complaint) -> Sequence[Units]:
        """Who may be behind a complaint, the likeliest first; none if nothing points at anybody."""


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
        careful: whether both sides of each blame are run five times more; three times they are anyway where a single test
            can be run and nothing but halves told who is to blame.
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
        self.doubted: set[str] = set()
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
            self.doubted |= kept
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
            pointed.sort(key=lambda pair: (not pair[0], sum(map(len, pair[0][0])) if pair[0] else 0))
            suspects, complaint = pointed[0]
            before = self.kept
            rest = self._drop_behind(complaint, suspects)
            if self.kept == before:
                self._call_unstable([complaint])
                self.open = [other for other in self.open if other.key != complaint.key]
                continue
            self.open = list(self.trials.again(self.kept, self.open) if rest is None else rest)

    def _drop_behind(self, complaint: Complaint, suspects: Sequence[Units]) -> Sequence[Complaint] | None:
        """Drop the groups behind a complaint, none if it is not heard twice the same way; what is open then, if known."""
        for some in suspects:
            units, base = [], self.kept
            for unit in some:
                units += [unit & base] if unit & base else []
                base -= unit
            if not units:
                continue
            without = self.trials.again(base, self.open) if base else []
            behind = next((other for other in without if other.key == complaint.key), None)
            if behind is not None and complaint.is_the_same_failure(behind):
                continue
            if len(units) == 1:
                if self._holds(complaint, base, units[0], by_halves=False, is_first=True):
                    self._drop(units[0], complaint)
                    return without
                units = _singles(units[0])
            return self._narrow(complaint, base, units, behind) if len(units) > 1 else None
        base = self.good.get(complaint.key, frozenset()) & self.kept
        return self._narrow(complaint, base, _singles(self.kept - base))

    def _narrow(
        self, complaint: Complaint, base: Groups, units: Units, behind: Complaint | None = None
    ) -> Sequence[Complaint] | None:
        """Drop those of `units` that keep a complaint alive; what is open then, if known.

        It is heard with all of them, and not with `base`, where no more than the failure `behind` it is. Most often one is
        to blame. Behind the first, where there are more, they are sought in blocks that begin as long as the way to the
        last one was, and grow while all is well.
        """
        block, is_heard, is_first = len(units), True, True
        self._well(complaint, base, (), behind)
        while units:
            block = min(block, len(units))
            if not is_heard:
                is_all = block == len(units)
                found = self.trials.again(base.union(*units[:block]), self.open if is_all else [complaint])
                answer = _answer(complaint, found, behind)
                if answer is None or (is_all and not answer):
                    return found if is_all else None
                if not answer:
                    base, units, block = self._well(complaint, base, units[:block], behind), units[block:], 2 * block
                    continue
            at = self._first_bad(complaint, base, units[:block], behind)
            base, unit, units = base.union(*units[:at]), units[at], units[at + 1 :]
            if not self._holds(complaint, base, unit, by_halves=True, is_first=is_first):
                if len(unit) == 1:
                    return None
                units, block, is_heard = [*_singles(unit), *units], len(unit), True
                continue
            self._drop(unit, complaint)
            block, is_heard = at + 1, False
            if is_first:
                found = self.trials.again(self.kept, self.open)
                if not _answer(complaint, found, behind):
                    return found
                is_first, is_heard = False, block >= len(units)
        return None

    def _first_bad(self, complaint: Complaint, base: Groups, units: Units, behind: Complaint | None) -> int:
        """Which of `units` brings a complaint in: with all before it there is none; with all of them it is heard."""
        low, high, other_failures = 0, len(units), False
        while high - low > 1:
            middle = (low + high) // 2
            heard = self.trials.again(base.union(*units[:middle]), [complaint])
            answer = _answer(complaint, heard, behind)
            if answer:
                high = middle
                continue
            low = middle
            if answer is None:  # these groups need others, without which something else fails
                other_failures = True
            else:
                self._well(complaint, base, units[:low], behind)
        if other_failures and self.trials.again(self.kept - units[low], [complaint]):
            raise OutOfRuns  # further runs would not tell them apart
        return low

    def _well(self, complaint: Complaint, base: Groups, units: Units, behind: Complaint | None) -> Groups:
        groups = base.union(*units)
        if behind is None:
            self.good[complaint.key] = groups
        return groups

    def _drop(self, unit: Groups, complaint: Complaint) -> None:
        self.kept -= unit
        self.dropped.update(dict.fromkeys(unit, complaint))

    def _holds(self, complaint: Complaint, without: Groups, unit: Groups, *, by_halves: bool, is_first: bool) -> bool:
        """Whether the complaint is heard with any one of a unit and not without it, as often as is asked."""
        one = without | {min(unit)}
        may_be_chance = bool(complaint.tests) or complaint.key in self.doubted
        pairs = _PAIRS if by_halves and is_first and may_be_chance else 0
        if self.careful:
            pairs = _CAREFUL_PAIRS if may_be_chance else 1
        if pairs:
            return all(not self._is_heard(complaint, without) and self._is_heard(complaint, one) for _ in range(pairs))
        is_asked = len(unit) > 1 or (by_halves and bool(complaint.tests))
        return not is_asked or self._is_heard(complaint, one)

    def _is_heard(self, complaint: Complaint, groups: Groups) -> bool:
        return any(map(complaint.is_the_same_failure, self.trials.again(groups, [complaint])))

    def _end(self) -> SearchEnd:
        """There is one run left: keep what is known to be well, if anything is, and prove it with that run."""
        good = self.kept
        for complaint in self.open:
            pointed = self.trials.suspects(self.kept, complaint)
            good &= self.good.get(complaint.key) or (self.kept.difference(*pointed[0]) if pointed else frozenset())
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


def _singles(groups: Groups) -> list[Groups]:
    return [frozenset({group}) for group in sorted(groups)]


def _answer(complaint: Complaint, heard: Sequence[Complaint], behind: Complaint | None) -> bool | None:
    """Whether a complaint is among those that were heard; None if it is, but is neither the same failure nor the one `behind`."""
    found = next((other for other in heard if other.key == complaint.key), None)
    if found is None or complaint.is_the_same_failure(found):
        return found is not None
    return False if behind is not None and behind.is_the_same_failure(found) else None
