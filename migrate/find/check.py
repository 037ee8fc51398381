"""Rules on one file: uses in, findings out. A rule that crashes is a failure of that rule on that file, nothing more."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from torchlift.api_changes.changes import is_there, must_be_newer
from torchlift.api_changes.newer_names import newest_named
from torchlift.finding import FileFailure, Finding, Fix, ReplaceExpression, ReplaceText, Safety
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.find.selection import looks_at_files
from torchlift.migrate.find.suppress import Suppression
from torchlift.project import Project
from torchlift.rules.rule import Context, Rule, Settings, TextContext
from torchlift.rules.rule_index import indexed_rules
from torchlift.search.asked import Asked
from torchlift.search.prefilter import GroupedPrefilter
from torchlift.search.vocabulary import encoded
from torchlift.source import SourceText
from torchlift.torch_names import public_name
from torchlift.view import Binding, ModuleView, Use
from torchlift.view.guards import Guarded, decisive_release, is_dead, is_fallback_import, is_guarded
from torchlift.view.names import longest_target
from torchlift.view.release_tests import OLDEST, Has
from torchlift.view.text import SCRIPTS, TextView
from torchlift.wrappers import Wrapper

if TYPE_CHECKING:
    from torchlift.migrate.earlier_answers import Beneath


@dataclass(frozen=True)
class Checked:
    """One file after the rules.

    Attributes:
        path: the file.
        findings: in source order, before suppressions.
        failures: rules that crashed.
        unreadable: why there are no findings: a sentence without its end.
        suppressions: comments that silence findings; none where the rules did not run.
        crashed: codes of rules that failed, so that nothing is known about their suppressions.
        asked: what the rules asked about the project.
        told: what the answers that they shared with others rest on, where somebody wants to know.
    """

    path: str
    findings: tuple[Finding, ...] = ()
    failures: tuple[FileFailure, ...] = ()
    unreadable: str | None = None
    suppressions: tuple[Suppression, ...] = ()
    asked: Asked = field(default_factory=Asked)
    crashed: frozenset[str] = frozenset()
    told: Beneath | None = None


def check_text(rules: Sequence[Rule], project: Project, view: TextView, settings: Settings) -> Checked:
    """Run the text functions of `rules` on one file that is no Python."""
    context = TextContext(project, settings.at(view.path))
    findings: dict[tuple[str, int, int, str, str], Finding] = {}
    failures: list[FileFailure] = []
    crashed: set[str] = set()
    fits: dict[int, tuple[Fix, bool]] = {}  # findings of one fix share it, with all that it rewrites
    for rule in rules:
        if rule.text is None or view.kind not in (rule.text_kinds or SCRIPTS):
            continue
        try:
            for finding in rule.text(view, context):
                covered = view.statement(finding.statement or finding.span)
                fix = finding.fix
                if fix is not None and id(fix) not in fits:
                    fits[id(fix)] = fix, _fits_text(fix)
                kept = fix if fix is not None and fits[id(fix)][1] else None
                findings.setdefault(finding.sort_key(), replace(finding, statement=covered, fix=kept))
        except Exception as error:
            failures.append(_crash(rule, view.path, "the file", error))
            crashed.add(rule.code)
    ordered = tuple(findings[key] for key in sorted(findings))
    return Checked(view.path, ordered, tuple(failures), crashed=frozenset(crashed))


def _fits_text(fix: Fix) -> bool:
    return not fix.elsewhere and all(isinstance(rewrite, ReplaceText) for rewrite in fix.rewrites)


class Dispatcher:
    """Rules by the names they want to hear about."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self.collectors = tuple(collector for rule in rules for collector in rule.collectors)
        self._by_target: dict[str, list[Rule]] = {}
        for rule in rules:
            for target in rule.targets:
                self._by_target.setdefault(target, []).append(rule)
        self.targets = frozenset(self._by_target)
        self.seen_guarded = frozenset(target for rule in rules if rule.sees_guarded for target in rule.targets)
        self._whole = tuple(rule for rule in rules if rule.whole is not None)
        # A use belongs to the longest target of all rules, also of those that are not asked for.
        self._all_targets = self.targets.union(*(rule.targets for rule in indexed_rules().values()))

    def check(self, project: Project, view: ModuleView, settings: Settings) -> Checked:
        """Run every rule on every use in `view`."""
        check = FileCheck(self, project, view, settings)
        for rule, use in check.questions():
            check.ask(rule, use)
        return check.checked()

    def questions(self, project: Project, view: ModuleView, settings: Settings) -> Iterator[tuple[Rule, Use | None]]:
        """The rules that have to be asked, each about a use, or about the whole file."""
        if view.is_stub:
            return  # nothing in a stub ever runs
        for use in view.uses(self.targets, project.translate):
            if longest_target(public_name(use.name), self._all_targets) == use.target:
                yield from ((rule, use) for rule in self._by_target[use.target])
        whole = [rule for rule in self._whole if looks_at_files(rule, settings)]
        named = self._sieve.found(encoded(view.source.text)) if whole else frozenset()
        yield from ((rule, None) for rule in whole if rule.code in named)

    @cached_property
    def _sieve(self) -> GroupedPrefilter:
        """Tells the rules about whole files by their triggers: most files are looked at for something else."""
        return GroupedPrefilter({rule.code: rule.whole_triggers or rule.words for rule in self._whole})


class FileCheck:
    """The check of one file, question by question.

    Args:
        dispatcher: the rules.
        project, view, settings: what they are asked about.
    """

    def __init__(self, dispatcher: Dispatcher, project: Project, view: ModuleView, settings: Settings) -> None:
        self._dispatcher = dispatcher
        self._context = Context(view, project, settings.at(view.path), indexed_rules())
        self._findings: dict[tuple[str, int, int, str, str], Finding] = {}
        self._crashed: dict[str, list[FileFailure]] = {}
        self._guarded: Guarded = {}

    def questions(self) -> Iterator[tuple[Rule, Use | None]]:
        """As of `Dispatcher.questions`."""
        context = self._context
        return self._dispatcher.questions(context.project, context.view, context.settings)

    def ask(self, rule: Rule, use: Use | None) -> None:
        """Ask a rule about a use, or about the whole file; that it crashes is noted."""
        try:
            if use is not None:
                self._ask(rule, use)
            elif rule.whole is not None:
                self._findings.update((finding.sort_key(), finding) for finding in rule.whole(self._context))
        except Exception as error:
            where = f"line {use.node.lineno}" if use is not None else "the file"
            self._crashed.setdefault(rule.code, []).append(_crash(rule, self._context.view.path, where, error))

    def _ask(self, rule: Rule, use: Use) -> None:
        context = self._context
        view, project, settings = context.view, context.project, context.settings
        if not _may_report(rule, use, settings):
            return
        if not rule.sees_guarded:
            # What another rule says about guarded uses is not said twice.
            has = None if use.target in self._dispatcher.seen_guarded else partial(is_there, target=settings.target)
            if _is_guarded(rule, view, use, settings, project, self._guarded, has):
                return
        for finding in rule.check(use, context):
            settled = _complete(finding, use, view, settings)
            self._findings.setdefault(settled.sort_key(), settled)

    def checked(self, unasked: frozenset[str] = frozenset()) -> Checked:
        """What was found by now; of the rules `unasked` nothing is known."""
        source = self._context.view.source
        ordered = tuple(_writable(self._findings[key], source) for key in sorted(self._findings))
        failures = tuple(failure for some in self._crashed.values() for failure in some)
        return Checked(self._context.view.path, ordered, failures, crashed=unasked.union(self._crashed))


def _crash(rule: Rule, path: str, where: str, error: Exception) -> FileFailure:
    import traceback

    missing = "in it" if where == "the file" else "in this file"
    reason = f"Rule {rule.code} failed on {where}; its findings {missing} may be missing."
    ours = rule.code.startswith("TL")
    if not ours:
        codes = [getattr(function, "__code__", None) for function in (rule.check, rule.whole, rule.text)]
        homes = {code.co_filename for code in codes if code is not None}  # a partial has none
        frames = traceback.extract_tb(error.__traceback__)
        at = next((frame for frame in reversed(frames) if frame.filename in homes), frames[-1])
        said = f"{type(error).__name__}: {error} ({at.filename}:{at.lineno})"
        reason += f" It is a rule of your own: {said}. `torchlift rule --test {at.filename}` tries it."
    return FileFailure(path, f"rule {rule.code}", reason, ours=ours, detail=traceback.format_exc())


def _is_guarded(
    rule: Rule,
    view: ModuleView,
    use: Use,
    settings: Settings,
    project: Project,
    known: Guarded,
    has: Has | None,
) -> bool:
    """Whether a test of torch's release has dealt with what the rule reports.

    Code behind a test of a release that knows of the change was written for it. A name that is only imported in a branch
    that no supported torch takes has another meaning. A question for a name that every release has deals with nothing.
    """
    binding = use.resolution.binding if use.resolution is not None else None
    if binding is not None and _is_imported_itself(use, binding) and is_fallback_import(view, binding):
        return True
    if binding is not None and is_dead(view, binding.node, settings.min_torch, project.binding, known):
        return True
    change = rule.changed_in(use.target) if rule.changed_in is not None else None
    if change is None or change > settings.target:
        change = rule.deprecated or rule.removed
        # A test of the very release since which something is different was written for it, whatever the project supports.
        lowest = settings.min_torch if change is not None else OLDEST
        decisive = decisive_release(change or rule.since, lowest, settings.target)
    else:
        decisive = settings.target
    guarded = partial(
        is_guarded,
        view,
        lowest=decisive,
        find=project.binding,
        known=known,
        has=has,
        only=decisive == settings.target,
    )
    if guarded(use.node):
        return True
    # What one release imports and another one defines is dealt with where that is decided.
    rivals = binding is not None and use.resolution is not None and not use.resolution.certain
    return rivals and binding is not None and guarded(binding.node)


def _is_imported_itself(use: Use, binding: Binding) -> bool:
    """Whether what is reported is what an import names, and not something below it, which the other import may lack as well."""
    imported = binding.imported or ""
    return imported == use.target or imported.startswith(f"{use.target}.")


def _may_report(rule: Rule, use: Use, settings: Settings) -> bool:
    return rule.matters is None or (use.call is not None and rule.matters(use.target, use.call, settings))


def _complete(finding: Finding, use: Use, view: ModuleView, settings: Settings) -> Finding:
    """Apply what holds for every rule: uncertain names and releases that lack the new code keep their fix back, or are told."""
    settled = _with_fix_settled(finding, use, view, settings)
    if settled.help is None:
        return settled
    advised = newest_named(settled.help, settings.min_torch)
    if advised is None or not must_be_newer(advised[1], use.target, settings.min_torch):
        return settled
    told = finding.fix.needs if finding.fix is not None else None
    if told is not None and told >= advised[1]:
        return settled
    stop = "" if settled.help.endswith((".", "!", "?", ")")) else "."
    return replace(settled, help=f"{settled.help}{stop} `{advised[0]}` needs torch {advised[1]}.")


def _with_fix_settled(finding: Finding, use: Use, view: ModuleView, settings: Settings) -> Finding:
    if finding.statement is None:
        finding = replace(finding, statement=view.simple_statement_span(use.node))
    if use.wrapper is not None:
        finding = _through(use.wrapper, finding)
    fix = finding.fix
    if fix is None:
        return finding
    if isinstance(use.node, ast.Constant) and use.kind == "annotation" and not _keeps_quotes(fix, use.node, view):
        return finding.without_fix("It stands in quotes, where nothing is rewritten.")
    if use.resolution is not None and not use.resolution.certain:
        others = ", ".join(sorted(f"`{name}`" for name in use.resolution.alternatives if name)) or "something else"
        return finding.without_fix(f"No fix is offered because the name may also mean {others} here.")
    if fix.needs is None or fix.needs <= settings.min_torch:
        return finding
    if use.wrapper is None and not must_be_newer(fix.needs, use.target, settings.min_torch):
        return replace(finding, fix=replace(fix, needs=None))  # what it takes the place of is as new
    if settings.min_torch_at_least:
        needs = f"it is offered for torch>={fix.needs}, which `--min-torch {fix.needs}` would say that the project has."
        reviewed = fix.safety is Safety.UNSAFE and finding.help is not None
        said = (
            f"{finding.help} Besides, {needs}" if reviewed else f"Needs review: {needs} {finding.help or ''}".rstrip()
        )
        return replace(finding, fix=replace(fix, safety=Safety.UNSAFE), help=said)
    if settings.min_torch_pinned:
        place = settings.min_torch_pinned.partition(",")[0]
        return finding.without_fix(
            f"The fix is offered for torch>={fix.needs}, and {place} asks for torch {settings.min_torch}. "
            f"`--min-torch {fix.needs}` says that it runs on nothing older any more."
        )
    return finding.without_fix(
        f"The fix is offered for torch>={fix.needs}, and this project {settings.supports}. "
        f"`--min-torch {fix.needs}` says that it runs on nothing older any more."
    )


def _writable(finding: Finding, source: SourceText) -> Finding:
    """The finding without a fix that would lose a comment, or leave a file that does not parse, so that nobody is promised one."""
    rewrites = finding.fix.rewrites if finding.fix is not None else ()
    text = source.text
    if not all(isinstance(rewrite, ReplaceText) for rewrite in rewrites) and source.has_old_async:
        return finding.without_fix(
            "Fixes are offered once `async=` (TL453) is gone, with which the file does not parse."
        )
    if not any(isinstance(rewrite, ReplaceExpression) and rewrite.loses_comment(text) for rewrite in rewrites):
        return finding
    return finding.without_fix(
        "The fix cannot be written here: A comment in the middle of the expression would be lost."
    )


def _keeps_quotes(fix: Fix, node: ast.Constant, view: ModuleView) -> bool:
    """Whether a fix writes a whole annotation anew, in its quotes."""
    return any(
        isinstance(rewrite, ReplaceExpression)
        and rewrite.span == view.span(node)
        and rewrite.template.text[:1] == view.text(node)[:1]
        for rewrite in fix.rewrites
    )


def _through(wrapper: Wrapper, finding: Finding) -> Finding:
    """The finding with the wrapper named; its fix is withheld unless the user says that the wrapper has every name."""
    finding = replace(finding, message=f"{finding.message} (Reached through `{wrapper.module}`.)")
    if finding.fix is None or wrapper.rewrite:
        return finding
    return finding.without_fix(
        f"It is reached through `{wrapper.module}`, which is not rewritten unless the wrappers in the configuration say "
        f'`"{wrapper.module}" = {{ mirrors = "{wrapper.mirrors}", rewrite = true }}`.'
    )


def not_checked(path: str) -> Checked:
    """What is known of a file whose check has just crashed."""
    import traceback

    reason = "The rules could not be run on the file, and nothing is known about it."
    return Checked(path, failures=(FileFailure(path, "check", reason, ours=True, detail=traceback.format_exc()),))
