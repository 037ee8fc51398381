"""The rule that somebody wants to try, by its code or by its file, from where its author has it."""

from __future__ import annotations

from pathlib import Path

from torchlift.authoring.checkout import checkout_around, code_of
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.own_rules import own_rules
from torchlift.rules.registry import RuleFileError, all_rules
from torchlift.rules.rule import Rule


@dataclass(frozen=True)
class ChosenRule:
    """A rule to try.

    Attributes:
        rule: the rule, with its examples.
        own: files and folders of rules outside torchlift, that of the rule among them if it is one.
    """

    rule: Rule
    own: tuple[Path, ...] = ()


def find_rule(meant: str, own: tuple[Path, ...]) -> ChosenRule:
    """The rule `meant`.

    Args:
        meant: a file, or the code or the name of a rule.
        own: files and folders of further rules outside torchlift.

    Raises:
        RuleFileError: there is no such rule, or its file cannot be used.
    """
    file = Path(meant)
    if file.is_file() and (checkout_around(file) is None or code_of(file) is None):
        file = file.resolve()
        (rule,) = own_rules((file,)).values()
        return ChosenRule(rule, (file, *(path for path in own if path.resolve() not in (file, *file.parents))))
    wanted = code_of(file) if file.is_file() else meant
    for rule in (*own_rules(own).values(), *all_rules().values()):
        if wanted is not None and (wanted.upper() == rule.code or wanted == rule.name):
            return ChosenRule(rule, own)
    missing = "There is no file" if meant.endswith(".py") else "There is no rule"
    raise RuleFileError(f"{missing} {meant}; `torchlift rules` lists all rules.")
