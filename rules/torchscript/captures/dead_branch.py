"""Code behind a version test that no torch of the project passes: it goes with its test, where TorchScript goes."""

from __future__ import annotations

import ast
from typing import Literal

from torchlift.finding import Finding, Fix, KeepBranch, ReplaceExpression, Rewrite, Safety, Severity, Template
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.facts.deprecation import DEPRECATED
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.view import ModuleView, Use
from torchlift.view.guards import decisive_release, is_guarded
from torchlift.view.release_tests import decided


def is_silent(use: Use, context: Context) -> bool:
    """Whether a version test or an import fallback around a use has dealt with its deprecation."""
    decisive = decisive_release(DEPRECATED, context.settings.min_torch, context.settings.target)
    return is_guarded(context.view, use.node, decisive, context.project.binding)


def dead_branch(use: Use, context: Context, code: str, message: str) -> Finding | None:
    """The finding about a use that no torch from the project's lowest on reaches; None where one may."""
    if not drops(context):
        return None
    view, lowest = context.view, context.settings.min_torch
    for choice, holds in view.choices(use.node):
        passed = decided(view, choice.test, lowest, context.project.binding)
        if passed is not None and passed is not holds:
            test = view.text(choice.test)
            advice = f"No torch from {lowest} on, the lowest of this project, gets here: `{test}` is always {passed}."
            fix = Fix("Delete the branch that never runs", Safety.SAFE, (_kept(view, choice, passed),))
            return Finding(code, view.path, view.span(use.node), message, Severity.WARNING, advice, fix)
    return None


def _kept(view: ModuleView, choice: ast.If | ast.IfExp, passed: bool) -> Rewrite:
    if isinstance(choice, ast.IfExp):
        other = choice.body if passed else choice.orelse
        return ReplaceExpression(view.span(choice), Template("$other", (("other", view.span(other)),)))
    branch: Literal["body", "orelse"] | None = "body" if passed else "orelse" if choice.orelse else None
    return KeepBranch(view.span(choice), branch)
