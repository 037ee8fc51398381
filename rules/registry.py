"""All rules, found by file name: every `tl*.py` below this package declares a `RULE`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

import torchlift.rules
from torchlift.rules.rule import Rule, nothing, unbound
from torchlift.view.names import longest_target

# What a rule file defines below its declaration, and what the declaration has in the place of it.
_FUNCTIONS = {
    "check": unbound,
    "text": None,
    "matters": None,
    "applies": None,
    "whole": None,
    "wants": None,
    "changed_in": None,
    "gives_way": None,
}


class RuleFileError(Exception):
    """A file of a rule that cannot be used; the message names the file and says why."""


@cache
def all_rules() -> Mapping[str, Rule]:
    """Every rule by its code, in the order of the codes."""
    return {code: rule for code, (rule, _) in loaded_rules().items()}


@cache
def loaded_rules() -> Mapping[str, tuple[Rule, str]]:
    """Every rule by its code, in the order of the codes, with the module that defines it.

    Raises:
        ValueError: a code is defined twice.
    """
    rules: dict[str, tuple[Rule, str]] = {}
    for module in pkgutil.walk_packages(torchlift.rules.__path__, "torchlift.rules."):
        if module.name.rpartition(".")[2].startswith("tl"):
            rule = rule_in(importlib.import_module(module.name))
            if rule.code in rules:
                raise ValueError(f"{rule.code} is defined twice")
            rules[rule.code] = rule, module.name
    first = frozenset(
        target for rule, _ in rules.values() if rule.gives_way is None and rule.default for target in rule.targets
    )
    for code, (rule, name) in rules.items():
        if rule.gives_way is not None:
            left = tuple(target for target in rule.targets if _is_left(target, first))
            rules[code] = replace(rule, targets=left, triggers=rule.gives_way(left)), name
    return dict(sorted(rules.items()))


def _is_left(target: str, first: frozenset[str]) -> bool:
    """Whether no other rule has a name, or one that it is below; functions of torchvision.models have the names of their modules."""
    other = longest_target(target, first)
    return other is None or (other != target and other.startswith("torchvision.models."))


def rule_in(module: ModuleType) -> Rule:
    """The rule that `module` declares, with the functions, collectors and examples that stand below its `RULE`.

    Raises:
        RuleFileError: something is missing, or said twice.
    """
    rule = getattr(module, "RULE", None)
    if not isinstance(rule, Rule):
        raise RuleFileError(f"{module.__file__} declares no rule: it needs `RULE = Rule(...)`.")
    below: dict[str, Any] = {}
    for name, unsaid in _FUNCTIONS.items():
        function = getattr(module, name, None)
        if not isinstance(function, FunctionType) or function.__module__ != module.__name__:
            continue
        if getattr(rule, name) not in (unsaid, function):
            raise RuleFileError(f"{module.__file__} has `{name}` twice: in its `RULE`, and as a function.")
        below[name] = function
    if rule.check is unbound and "check" not in below:
        if rule.text is None and below.keys().isdisjoint({"text", "whole"}):
            raise RuleFileError(f"{module.__file__} has no function `check`: nothing would find {rule.code}.")
        below["check"] = nothing
    if not rule.examples:
        below["examples"] = tuple(getattr(module, "EXAMPLES", ()))
    if not rule.collectors:
        below["collectors"] = tuple(getattr(module, "COLLECTORS", ()))
    return replace(rule, **below)


def names_of(rules: Iterable[Rule]) -> list[str]:
    """Everything a user may write to mean one of `rules`: codes, prefixes of codes, names, codes of other tools."""
    known: set[str] = set()
    for rule in rules:
        known |= {rule.code, rule.name, *rule.aliases}
        known |= set(_prefixes(rule.code))
        known |= {prefix for alias in rule.aliases for prefix in _prefixes(alias)}
    return sorted(known)


def selected_by(rule: Rule, name: str) -> bool:
    """Whether `name` (a code, a prefix of one, a rule's name, another tool's code or a prefix of it, or `ALL`) means `rule`."""
    if name in {"ALL", rule.name}:
        return True
    return any(code == name or name in _prefixes(code) for code in (rule.code, *rule.aliases))


def is_asked_for(rule: Rule, name: str) -> bool:
    """Whether `name` in `--select` means `rule`.

    The first letters of torchlift's own codes stand for what such a family reports by default: a matter of taste among a
    thousand findings of substance helps nobody.
    """
    by_prefix = name in _prefixes(rule.code)
    return selected_by(rule, name) and (rule.default or not by_prefix)


def _prefixes(code: str) -> list[str]:
    """What stands for a family of codes: their letters (`TL`, `TOR`), alone or with some of the digits (`TL1`)."""
    letters = len(code.rstrip("0123456789"))
    return [code[:length] for length in range(letters, len(code))]


def url_of(rule: Rule) -> str | None:
    """Where `rule` can be read about: its page, where the documentation is published, else the first address among its sources."""
    from torchlift.documentation import page_of

    page = page_of("rules", rule.code) if rule.code.startswith("TL") else None
    if page is not None:
        return page
    addresses = (word.strip("(),;") for source in rule.sources for word in source.split())
    return next((word for word in addresses if word.startswith("https://")), None)
