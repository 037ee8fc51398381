"""What is said below a report about a run as a whole: what stays, what nobody answered, which torch was taken as the lowest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from torchlift.finding import Finding, Safety
from torchlift.migrate.find.kept import READERS, ROOTS, may_stay, place_of
from torchlift.migrate.options import RunOptions
from torchlift.migrate.result import RunResult
from torchlift.project import Project
from torchlift.rules.analysis.project.torchscript_elsewhere import foreign_readers
from torchlift.torchscript_intent import UNDECIDED, TorchScriptIntent


def notes_on(kept: Sequence[Finding], project: Project) -> tuple[str, ...]:
    """A sentence for each artifact that stays, and one about the rest."""
    if not kept:
        return ()
    notes = []
    for artifact in sorted({group.artifact for finding in kept for group in finding.groups if group.artifact}):
        about = [item for item in kept if any(group.artifact == artifact for group in item.groups)]
        written = ", ".join([place_of(item, project) for item in about if item.code in ROOTS])
        read = ", ".join([place_of(item, project) for item in about if item.code in READERS])
        ends = [f"written at {written}" if written else "", f"read at {read}" if read else ""]
        ends += [f"{reader.title} reads TorchScript at {reader.place}" for reader in foreign_readers(project)]
        notes.append(f"The artifact `{artifact}` stays TorchScript: {'; '.join(filter(None, ends))}.")
    first: dict[str, str] = {}
    for item in sorted(kept, key=Finding.sort_key):
        first.setdefault(item.path, place_of(item, project))
    are = "finding is" if len(kept) == 1 else "findings are"
    notes.append(
        f"{len(kept)} {are} about TorchScript that stays, as you said, in {', '.join(first.values())}: not listed, not rewritten."
    )
    return tuple(notes)


def unanswered(left: Iterable[Finding], intent: TorchScriptIntent) -> tuple[str, ...]:
    """A sentence where findings about TorchScript are left that an answer of the user may settle, and there is none."""
    if intent.support == "drop" and intent.tests is None:
        return _about_tests(left)
    number = sum(may_stay(finding) and finding.safety is not Safety.SAFE for finding in left)
    if not number or intent.support is not None:
        return ()
    are = "finding is" if number == 1 else "findings are"
    return (
        f"{number} {are} about TorchScript, and nobody said whether the project still supports it: `torchlift plan` shows "
        "what the answer changes and how many fixes come with it, `--torchscript drop` or `--torchscript keep` gives it.",
    )


def asking_of_what_is_left(before: RunResult, after: RunResult, intent: TorchScriptIntent) -> RunResult:
    """The result `after` something was left out, without the sentence about findings that nobody is shown any more."""
    if before is after:
        return after
    asked, now = (
        unanswered((one for outcome in result.outcomes for one in outcome.left), intent) for result in (before, after)
    )
    return replace(after, notes=(*now, *(note for note in after.notes if note not in asked)))


def _about_tests(left: Iterable[Finding]) -> tuple[str, ...]:
    """A sentence where tests of nothing but scripting are left for review, because nobody said what becomes of them."""
    number = sum(UNDECIDED in (finding.help or "") for finding in left)
    if not number:
        return ()
    are = "finding is" if number == 1 else "findings are"
    return (
        f"{number} {are} about tests of nothing but scripting, and nobody said what becomes of these: `--torchscript-tests delete` "
        "deletes them safely, `--torchscript-tests successor` tests `torch.export` or `torch.compile` instead.",
    )


def left_behind(fixed: Iterable[Finding]) -> tuple[str, ...]:
    """What applied fixes leave as it is, although it speaks of what they changed."""
    return tuple(dict.fromkeys(finding.fix.leaves for finding in fixed if finding.fix and finding.fix.leaves))


def rested_on(start: Mapping[str, Sequence[Finding]], fixed: Iterable[Finding]) -> tuple[str, ...]:
    """What applied fixes rest on that became possible with others of the run, so that no report said it before.

    Args:
        start: findings by path, before any fix.
        fixed: findings whose fixes were applied.
    """
    places: dict[str, dict[str, None]] = {}
    for finding in fixed:
        fix = finding.fix
        before = (one for one in start.get(finding.path, ()) if one.code == finding.code)
        if fix is None or fix.safety is not Safety.UNSAFE or any(one.safety is Safety.UNSAFE for one in before):
            continue
        said = f"{finding.code} {fix.title}: other fixes of this run made it possible. {finding.help or ''}".rstrip()
        places.setdefault(said, {})[finding.path] = None
    return tuple(f"{', '.join(paths)} {said}" for said, paths in places.items())


def why_min_torch(options: RunOptions, findings: Sequence[Finding]) -> tuple[str, ...]:
    """What was taken for the lowest torch, and what it holds back."""
    settings = options.settings
    if not findings or not settings.min_torch_at_least:
        return options.min_torch_why if findings else ()
    *notes, why = options.min_torch_why
    needed = [
        fix.needs for finding in findings if (fix := finding.fix) and fix.needs and fix.needs > settings.min_torch
    ]
    if not needed:
        return (*notes, f"{why} If it is another, say so with `--min-torch`.")
    fixes = "1 fix needs" if len(needed) == 1 else f"{len(needed)} fixes need"
    return (
        *notes,
        f"{why} {fixes} a newer one, up to {max(needed)}: `--min-torch {max(needed)}` if the project does, too.",
    )
