"""Which rules run, and which of them are not reported in which files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.workspace.config import Config, check_codes
from torchlift.migrate.workspace.own_rules import own_rule_paths
from torchlift.rules.own_rules import rules_with
from torchlift.rules.registry import is_asked_for, names_of, selected_by
from torchlift.rules.rule import Rule


@dataclass(frozen=True)
class RuleChoice:
    """The rules of a run.

    Attributes:
        rules: all there are, by code.
        codes: those that run.
        own_rules: files and folders of those outside torchlift.
        config: where it says what is ignored in which files.
    """

    rules: Mapping[str, Rule]
    codes: frozenset[str]
    own_rules: tuple[Path, ...]
    config: Config

    def ignored_in(self, path: str) -> frozenset[str]:
        """Codes of the rules that are not reported in a file."""
        return _selected(self.rules, self.config.ignored_in(path))


def choose_rules(config: Config) -> RuleChoice:
    """The rules that a configuration selects, less those it ignores.

    Raises:
        ConfigError: it names a rule that there is not, or rules of the project's own that nobody allowed to run.
        RuleFileError: a rule of the project's own cannot be loaded.
    """
    own = own_rule_paths(config)
    rules = rules_with(own)
    known = names_of(rules.values())
    check_codes(config.select, known, "select")
    check_codes(config.ignore, known, "ignore")
    check_codes((name for names in config.per_file_ignores.values() for name in names), known, "per-file-ignores")
    wanted = frozenset(
        rule.code
        for rule in rules.values()
        if (any(is_asked_for(rule, name) for name in config.select) if config.select else rule.default)
    )
    return RuleChoice(rules, wanted - _selected(rules, config.ignore), own, config)


def _selected(rules: Mapping[str, Rule], names: Collection[str]) -> frozenset[str]:
    return frozenset(rule.code for rule in rules.values() for name in names if selected_by(rule, name))
