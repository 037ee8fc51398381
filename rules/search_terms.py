"""What rules and their collectors look for in the bytes of a file, put together.

That takes longer than to look at a small project, so it is kept with the index of rules, for all of them; whoever runs only
some leaves out what the others are found by.
"""

from __future__ import annotations

from collections.abc import Iterable

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.rule import Rule
from torchlift.search.prefilter import GroupedPrefilter
from torchlift.search.vocabulary import encoded
from torchlift.wrappers import Wrappers


@dataclass(frozen=True)
class SearchTerms:
    """What some rules look for.

    Attributes:
        prefilter: finds what has a trigger in a file, by the names that `owner` knows.
        text: every word that it has to know of, and the last word of every target, with spaces between them.
    """

    prefilter: GroupedPrefilter
    text: bytes

    @property
    def words(self) -> frozenset[bytes]:
        """These words."""
        return frozenset(self.text.split())


def terms_of(rules: Iterable[Rule], wrappers: Wrappers) -> SearchTerms:
    """What `rules` look for in a project with these wrappers."""
    triggers = wrappers.triggers
    groups: dict[str, tuple[str, ...]] = {}
    targets: set[str] = set()
    for rule in rules:
        if rule.has_names:
            targets.update(rule.targets)
        for collector in rule.collectors:
            groups[collector.name] = triggers(collector.triggers)
            targets.update(collector.targets)
        if rule.whole_triggers:
            groups[rule.code] = triggers(rule.whole_triggers)
        if is_table(rule) and rule.gives_way is not None:
            for target in rule.targets:
                groups[tabled(rule, target)] = triggers(rule.gives_way((target,)))
        else:
            groups[rule.code] = triggers(rule.words)
    words = GroupedPrefilter(groups).words.union(encoded(target.rpartition(".")[2]) for target in targets)
    return SearchTerms(GroupedPrefilter(groups), b" ".join(sorted(words)))


def is_table(rule: Rule) -> bool:
    """Whether each target of a rule has triggers of its own: what looks like one of them is no reason to look for the others."""
    return rule.gives_way is not None and rule.has_names and rule.applies is None


def tabled(rule: Rule, target: str) -> str:
    """The name of one target of a table."""
    return f"{rule.code} {target}"


def owner(name: str) -> str:
    """The rule or collector that a name stands for."""
    return name.partition(" ")[0]
