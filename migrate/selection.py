"""Who wants to see a file, decided on its bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from torchlift.glance import Glance, Party, Sighting, Wanted
from torchlift.prefilter import GroupedPrefilter
from torchlift.project import Collector, Project
from torchlift.rules.rule import Rule, Settings

RULES = "rules"
"""Stands for the rules among those who want a file, but for those that do not apply to every project: each has its code."""


class Selection:
    """Finds the files that rules and collectors want.

    First the words of a file are compared with the triggers. Where that leaves a rule, a glance at the imports and at what
    is written with them tells whether the words are names of torch.
    """

    def __init__(
        self, project: Project, rules: Sequence[Rule], collectors: Sequence[Collector], settings: Settings
    ) -> None:
        self._project = project
        triggers = project.wrappers.triggers
        self._texts = {collector.name: collector.text for collector in collectors if collector.text is not None}
        parties = {c.name: Party({c.name: Wanted(c.targets, c.matters)}) for c in collectors if c.targets}
        wanted: dict[str, Wanted] = {}
        groups: dict[str, tuple[str, ...]] = {}
        for rule in rules:
            test = _test(rule, settings)
            if rule.applies is not None:
                parties[rule.code] = Party({rule.code: Wanted(rule.targets, test)})
                groups[rule.code] = triggers(rule.words)
            elif rule.gives_way is None:
                wanted[rule.code], groups[rule.code] = Wanted(rule.targets, test), triggers(rule.words)
            else:
                # A table of names: what looks like one of them is no reason to look for the others.
                for target in rule.targets:
                    name = f"{rule.code} {target}"
                    wanted[name], groups[name] = Wanted((target,), test), triggers(rule.gives_way((target,)))
        parties[RULES] = Party(wanted)
        self._askers = frozenset(wanted)
        self._glance = Glance(parties, project.wrappers)
        groups |= {collector.name: triggers(collector.triggers) for collector in collectors}
        self._prefilter = GroupedPrefilter(groups, self._glance.words)

    def wanted_by(self, path: str) -> frozenset[str]:
        """Names of the collectors that want to see a file, `RULES`, and codes of rules that do not apply to every project.

        A file that cannot be read is reported where it is parsed.
        """
        try:
            data = self._project.data(path)
        except OSError:
            return frozenset((RULES,))
        words = self._prefilter.read(data)
        found = self._prefilter.found_among(words)
        askers, collectors = found & self._askers, found - self._askers
        asking = {name: frozenset((name,)) for name in collectors & self._glance.parties.keys()}
        asking = {name: one for name, one in asking.items() if name not in self._texts or not self._texts[name](data)}
        if askers:
            asking[RULES] = askers
        found = collectors | asking.keys()
        if asking and self._project.module_name(path).partition(".")[0].encode() not in self._glance.heads:
            # In a part of torch itself, what is defined are torch's names.
            own = partial(self._project.may_own, importer=path)
            found -= asking.keys() - self._glance.served(data, words.present, asking, own)
        return found | {RULES} if b"torchlift:" in data else found


def _test(rule: Rule, settings: Settings) -> Callable[[Sighting], bool] | None:
    matters = rule.matters
    if matters is None:
        return None
    return lambda seen: seen.call is not None and matters(seen.target, seen.call, settings)
