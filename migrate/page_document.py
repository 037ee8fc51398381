"""A page in Markdown or reStructuredText, or a script, on its way through a run: text, with Python in it that is told of and not edited."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache

from torchlift.finding import Finding
from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.document import TextDocument
from torchlift.migrate.find.check import Checked, Dispatcher
from torchlift.migrate.find.suppress import Suppression, read_suppressions
from torchlift.rules.rule import Rule, Settings
from torchlift.source import SourceText
from torchlift.view import ModuleView
from torchlift.view.page_code import PageCode, command_code, page_code
from torchlift.view.uses import last_words

_IMPORT = "\nimport torch\n"
_MIGRATION = lazy_pattern(r"migrat|upgrad", re.IGNORECASE)
"""Pages that show how it was written before, beside how it is written now."""
_WORD = lazy_pattern(r"\w+")
_ABOUT_NAMES = ("TL250", "TL4")
_TORCHSCRIPT = "TL1"
_LOAD = "TL501"


class PageDocument(TextDocument):
    """A page or a script."""

    @cached_property
    def code(self) -> PageCode:
        """Its Python; none of a page about a migration."""
        if self.view.kind != "markdown":
            return command_code(self.source.text)
        return page_code("" if _MIGRATION.search(self.path) else self.source.text)

    def check(self, rules: Dispatcher, settings: Settings) -> Checked:
        """What rules find in its text, and which names and parameters in its Python are gone or deprecated."""
        checked = super().check(rules, settings)
        text = self.code.text
        if "torch" not in text:
            return checked
        # Readers of a page know where `torch` comes from.
        source = SourceText(text if "import torch" in text else text + _IMPORT)
        view = ModuleView(self.path, source, source.parse(), wrappers=self.project.wrappers)
        named = _about_names(rules, loads=self.view.kind != "markdown").check(self.project, view, settings)
        found = [*named.findings, *_torchscript(rules.rules, view, settings)]
        findings = sorted([*checked.findings, *map(self._on_page, found)], key=Finding.sort_key)
        failures = (*checked.failures, *named.failures)
        return replace(checked, findings=tuple(findings), failures=failures, crashed=checked.crashed | named.crashed)

    def suppressions(self) -> list[Suppression]:
        """The comments that silence findings: those of its Python; in a script they are comments of the script, too."""
        if self.view.kind != "markdown":
            return super().suppressions()
        found = read_suppressions(SourceText(self.code.text))
        place = self.code.on_page
        return [replace(one, span=place(one.span), reach=place(one.reach), editable=False) for one in found]

    def _on_page(self, finding: Finding) -> Finding:
        if finding.fix is not None:
            finding = finding.without_fix("Python in other text is not edited.")
        statement = self.code.on_page(finding.statement) if finding.statement is not None else None
        return replace(finding, span=self.code.on_page(finding.span), statement=statement)


@lru_cache(maxsize=4)
def _about_names(rules: Dispatcher, *, loads: bool) -> Dispatcher:
    """Those of the rules that are asked about pages, or about scripts, which also load files: to make what asks them takes longer
    than to ask them about one."""
    return Dispatcher([rule for rule in rules.rules if _is_about_names(rule) or (loads and rule.code == _LOAD)])


def _is_about_names(rule: Rule) -> bool:
    """Whether what a rule says holds whatever stands around a name: a page shows no whole program."""
    dated = rule.deprecated or rule.removed or rule.changed_in
    return (
        rule.check is not None
        and rule.applies is None
        and not rule.code.startswith(_TORCHSCRIPT)
        and (rule.code.startswith(_ABOUT_NAMES) or bool(dated))
    )


def _torchscript(rules: Iterable[Rule], view: ModuleView, settings: Settings) -> Iterator[Finding]:
    """Names of TorchScript; what to do about them depends on a program, and is told where that is."""
    words = frozenset(_WORD.findall(view.source.text))
    is_mirrored = any(wrapper.word in words for wrapper in settings.wrappers)
    for rule in rules:
        since = rule.deprecated
        if not rule.code.startswith(_TORCHSCRIPT) or since is None or since > settings.target:
            continue
        targets = frozenset(rule.targets)
        if not is_mirrored and words.isdisjoint(last_words(targets)):
            continue
        for use in view.uses(targets):
            if use.kind not in {"import", "string"} or view.is_unread_import(use):
                message = f"`{use.target}`: TorchScript is deprecated since torch {since}."
                advice = f"`torchlift rule {rule.code}` tells what takes its place."
                yield Finding(rule.code, view.path, view.span(use.node), message, rule.severity, advice)
