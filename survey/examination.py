"""Looking at one repository, in the process that asks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from torchlift.lazy_dataclass import dataclass
from torchlift.migrate import Mode, RunResult, load_config, migrate
from torchlift.migrate.cache.digests import digest
from torchlift.migrate.cache.request import code_state
from torchlift.migrate.cache.tree import look_at
from torchlift.migrate.plan.draw_up import draw_up
from torchlift.migrate.workspace.config import Config, ConfigError
from torchlift.rules.named_release import release_of
from torchlift.rules.registry import RuleFileError
from torchlift.rules.rule_index import indexed_rules
from torchlift.survey.distribution_name import distribution_name
from torchlift.survey.needs import needs_of
from torchlift.survey.record import PlannedWork, Surveyed, SurveyedFinding
from torchlift.survey.targets import is_bare
from torchlift.versions import TorchVersion

_MOST_FINDINGS = 20_000
"""Of one repository: what is beyond that is counted and not listed."""


@dataclass(frozen=True)
class SurveyQuestion:
    """What is asked about a repository.

    Attributes:
        path: its folder.
        known: the state that is known already; empty if none is.
        target: the release to move to; None for the newest known.
        with_plan: whether `plan` is drawn up, too.
    """

    path: str
    known: str = ""
    target: str | None = None
    with_plan: bool = True


def state_of(question: SurveyQuestion) -> str:
    """A digest of the files of a repository, of torchlift and of the question; empty where files may still change unseen.

    Raises:
        OSError: a folder cannot be listed.
    """
    tree = look_at(question.path).digest
    return digest([code_state(), tree, question.target, question.with_plan]) if tree else ""


def examined(question: SurveyQuestion, state: str) -> Surveyed:
    """What is known of a repository."""
    folder = Path(question.path)
    name = distribution_name(folder) or folder.name
    if is_bare(folder):
        problem = "It is a git repository without a work tree; check one out, such as with `git worktree add`."
        return Surveyed(question.path, name, "refused", problem, state=state)
    notes: list[str] = []
    config = _config(folder, notes)
    if question.target is not None:
        config = replace(config, target=TorchVersion.parse(question.target))
    result = migrate([folder], config, mode=Mode.CHECK)
    if not result.files_seen:
        return Surveyed(
            question.path, name, "refused", "There is no Python and nothing else that rules read.", state=state
        )
    found = list(_findings(result))
    if len(found) > _MOST_FINDINGS:
        notes.append(f"Of {len(found)} findings the first {_MOST_FINDINGS} are listed.")
    notes += [f"{failure.path}: {failure.reason}" for failure in result.failures]
    return Surveyed(
        question.path,
        name,
        notes=tuple(notes),
        state=state,
        commit=_commit(folder),
        target=str(result.target),
        lowest=str(result.min_torch),
        lowest_source=result.min_torch_source,
        files=result.files_seen,
        analysed=result.files_analysed,
        findings=tuple(found[:_MOST_FINDINGS]),
        plan=_plan(folder, config) if question.with_plan and result.files_analysed else PlannedWork(),
        needs=needs_of(folder),
    )


def _config(folder: Path, notes: list[str]) -> Config:
    """The repository's own configuration as far as it can be used; code that it brings along is never run."""
    try:
        config = replace(load_config(folder), jobs=1, baseline=None, evidence=None)
    except (ConfigError, RuleFileError) as error:
        notes.append(f"Its configuration was left out: {error}")
        return Config(jobs=1)
    if config.extend_rules:
        notes.append("Its own rules (`extend-rules`) were not run.")
        config = replace(config, extend_rules=())
    return config


def _findings(result: RunResult) -> Iterator[SurveyedFinding]:
    rules = indexed_rules()
    for outcome in result.outcomes:
        for finding in outcome.left:
            rule = rules.get(finding.code)
            line = outcome.source.location(finding.span.start)[0]
            yield SurveyedFinding(
                finding.code,
                rule.name if rule is not None else finding.code,
                finding.severity.value,
                finding.safety.value,
                release_of(finding),
                finding.path,
                line,
                finding.message,
            )


def _plan(folder: Path, config: Config) -> PlannedWork:
    plan = draw_up([folder], config)
    return PlannedWork(plan.roots, plan.hints, plan.fixable, plan.decided, len(plan.questions))


def _commit(folder: Path) -> str | None:
    """The commit that is checked out, read from git's files: git itself would run what a repository's configuration names."""
    git = folder / ".git"
    try:
        if git.is_file():
            git = folder / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
        if not head.startswith("ref:"):
            return head if re.fullmatch(r"[0-9a-f]{40,64}", head) else None
        name = head.removeprefix("ref:").strip()
        common = git / "commondir"
        base = git / common.read_text(encoding="utf-8").strip() if common.is_file() else git
        loose = base / name
        if loose.is_file() and os.path.realpath(loose).startswith(os.path.realpath(base) + os.sep):
            return loose.read_text(encoding="utf-8").strip() or None
        packed = (base / "packed-refs").read_text(encoding="utf-8")
        match = re.search(rf"^([0-9a-f]{{40,64}}) {re.escape(name)}$", packed, re.M)
        return match[1] if match else None
    except (OSError, UnicodeDecodeError):
        return None
