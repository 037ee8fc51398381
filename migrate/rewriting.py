"""New texts of all files that chosen fixes concern, verified file by file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from torchlift.finding import Finding, Rewrite, TextEdit
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.document import Document, open_document
from torchlift.migrate.fix.obstacles import Obstacles
from torchlift.project import Project
from torchlift.source import SourceText
from torchlift.torchscript_intent import TorchScriptIntent

Chosen = Mapping[str, Sequence[Finding]]


@dataclass(frozen=True)
class WantedRewrites:
    """What the fix of one finding wants changed in one file.

    Attributes:
        owner: the file of the finding: a fix can reach into another one.
        finding: the finding.
        rewrites: the changes.
    """

    owner: str
    finding: Finding
    rewrites: tuple[Rewrite, ...]


def wishes_of(chosen: Chosen) -> dict[str, list[WantedRewrites]]:
    """What the fixes of `chosen` want changed, by file; in each first the wishes of its own findings."""
    wishes: dict[str, list[WantedRewrites]] = {}
    for path, findings in chosen.items():
        wishes.setdefault(path, []).extend(
            WantedRewrites(path, item, item.fix.rewrites) for item in findings if item.fix
        )
    for owner, findings in chosen.items():
        for item in findings:
            for other in item.fix.elsewhere if item.fix else ():
                wishes.setdefault(other.path, []).append(WantedRewrites(owner, item, (other.rewrite,)))
    return wishes


def rewritten(
    project: Project, chosen: Chosen, obstacles: Obstacles, intent: TorchScriptIntent
) -> tuple[dict[str, SourceText], Obstacles]:
    """New texts of files, by path, and the obstacles with those that were met: then the texts are of no use."""
    import traceback

    texts: dict[str, SourceText] = {}
    wishes = wishes_of(chosen)
    for path in sorted(wishes):
        try:
            document = open_document(project, path)
            new, obstacles = _rewritten(project, document, wishes[path], obstacles)
            if new is not None and path not in obstacles.blocked and intent.drops(path):
                new = document.tidied(new)
        except Exception:
            problem = "its fixes could not be built, which is a defect of torchlift"
            obstacles = obstacles.blocking(path, "rewrite", problem, traceback.format_exc())
            continue
        if new is not None:
            texts[path] = new
    return texts, obstacles


def _rewritten(
    project: Project, document: Document, wishes: Sequence[WantedRewrites], obstacles: Obstacles
) -> tuple[SourceText | None, Obstacles]:
    from torchlift.migrate.fix.conflicts import agree
    from torchlift.migrate.fix.rewrite.build import apply_edits
    from torchlift.migrate.fix.rewrite.fragments import CannotEdit

    agreed = agree([wish.rewrites for wish in wishes], document.edits)
    for index in sorted(agreed.refused):
        wish, error = wishes[index], agreed.refused[index]
        if isinstance(error, CannotEdit):
            reason = f"The fix cannot be written here: {error}"
        else:
            reason = "The fix could not be built, which is a defect of torchlift."
            told = f"The fix of {wish.finding.code} could not be built."
            obstacles = obstacles.failing(document.path, "rewrite", told, error)
        obstacles = obstacles.holding(project, wish.owner, wish.finding, reason)
    if not agreed.rewrites:
        return None, obstacles
    edits: Sequence[TextEdit] = agreed.edits
    left_over = document.left_over(agreed.rewrites)
    if left_over:
        with suppress(CannotEdit):  # what is left over does no harm
            edits = document.edits([*agreed.rewrites, *left_over])
    new = document.source.replaced(apply_edits(document.source.text, edits))
    problem = document.problem_with(edits, new)
    return new, obstacles if problem is None else obstacles.blocking(document.path, "verify", problem)
