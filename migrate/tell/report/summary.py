"""The last words of a run: the verdict first, then what stands in the way and what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torchlift.finding import FileFailure, Finding, Safety
from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.tell.report.items import Item, items
from torchlift.migrate.tell.report.palette import Palette
from torchlift.migrate.tell.report.paths import shown_path, with_places
from torchlift.rules.rule_index import indexed_rules
from torchlift.terminal.columns import one_line

_MOST_PATHS = 5
_MOST_FAILURES = 10
_MOST_CODES = 3


def summary(result: RunResult, *, root: Path, color: bool = False) -> str:
    """The verdict and the remarks on a run, a sentence or an item a line.

    Args:
        result: the run.
        root: project root.
        color: whether to add terminal colours.
    """
    listed = list(items(result))
    palette = Palette(color)
    lines = [_colored_verdict(result, listed, palette)]
    lines += _refused(result, root, palette)
    lines += _failures(result.failures, root, palette)
    lines += _harm(result, [item.finding for item in listed if not item.fixed], palette)
    if result.suppressed:
        are = "is" if result.suppressed == 1 else "are"
        lines.append(f"{_count(result.suppressed, 'finding')} {are} suppressed by comments.")
    if result.known:
        are = "is" if result.known == 1 else "are"
        lines.append(f"{_count(result.known, 'finding')} {are} in the baseline and not listed.")
    lines += [with_places(root, one_line(note)) for note in result.notes]
    return "".join(f"{line}\n" for line in lines)


def verdict(result: RunResult) -> str:
    """What the run comes to, in a sentence or two."""
    return _verdict(result, list(items(result)))


def _harm(result: RunResult, left: Sequence[Finding], palette: Palette) -> list[str]:
    if not left:
        return []
    from torchlift.migrate.tell.report.harm import Harm, counted, harm_of

    kinds = [harm_of(finding) for finding in left]
    if Harm.BREAKS not in kinds or len(set(kinds)) == 1:
        return []
    return [f"{palette.strong('Of what is left:')} {counted(kinds, result.target)}."]


def _colored_verdict(result: RunResult, listed: Sequence[Item], palette: Palette) -> str:
    text = _verdict(result, listed)
    if result.failures:
        return palette.bad(text)
    return palette.pending(text) if result.exit_code else palette.good(text)


def _verdict(result: RunResult, listed: Sequence[Item]) -> str:
    fixed = [item for item in listed if item.fixed]
    left = [item for item in listed if not item.fixed]
    if not listed:
        return _nothing_found(result)
    if not fixed:
        found = f"{_count(len(left), 'finding')} in {_files(left)}"
        tail = "" if result.mode is Mode.CHECK else ", nothing fixed"
        return f"{found}{tail}: {_kinds(result, left)}."
    written = sum(outcome.new_text is not None and outcome.refused is None for outcome in result.outcomes)
    done = f"{_count(len(fixed), 'finding')} in {_count(written, 'file')}"
    if proven := sum(item.finding.safety is Safety.PROVEN for item in fixed):
        done += f", {proven if proven < len(fixed) else 'all'} proven by recorded runs"
    if result.mode is Mode.DIFF:
        head = f"Would fix {done} (run without `--diff` to apply)."
        return f"{head} {_left(result, left, 'Nothing would be left.', 'would be left')}"
    return f"Fixed {done}. {_left(result, left, 'Nothing is left.', 'left')}"


def _nothing_found(result: RunResult) -> str:
    if result.failures:
        return "Nothing found to migrate, but not everything could be done."
    if not result.files_seen:
        return "No Python files found."
    if result.known or result.unchanged:
        return f"Nothing new to migrate in {_count(result.files_seen, 'file')} (target: torch {result.target})."
    return f"Nothing to migrate in {_count(result.files_seen, 'file')} (target: torch {result.target})."


def _left(result: RunResult, left: Sequence[Item], nothing: str, verb: str) -> str:
    return f"{len(left)} {verb}: {_kinds(result, left)}." if left else nothing


def _kinds(result: RunResult, left: Sequence[Item]) -> str:
    """What is left by what it takes, each kind with the way to see it."""
    applies = result.mode is not Mode.CHECK
    held = [item for item in left if item.applicable and applies]
    waiting = [item for item in left if not (item.applicable and applies)]
    safe = [item for item in waiting if item.finding.safety in {Safety.SAFE, Safety.PROVEN}]
    review = [item for item in waiting if item.finding.safety is Safety.UNSAFE]
    manual = [item for item in waiting if item.finding.safety is Safety.MANUAL and not item.finding.waits_for]
    later = [item for item in waiting if item.finding.safety is Safety.MANUAL and item.finding.waits_for]
    kinds = []
    if safe:
        kinds.append(f"{_subject(safe, left)} can be fixed (run without `--check` to apply)")
    if held:
        were = "was" if len(held) == 1 else "were"
        kinds.append(f"{_subject(held, left)} could be fixed but {were} not")
    if review:
        need = "needs" if len(review) == 1 else "need"
        kinds.append(f"{_subject(review, left)} {need} review ({_how_to_review(result, review)})")
    if manual:
        are = "is" if len(manual) == 1 else "are"
        kinds.append(f"{_subject(manual, left)} {are} manual ({_explained(manual)})")
    if later:
        wait = "waits" if len(later) == 1 else "wait"
        kinds.append(
            f"{_subject(later, left)} {wait} for another place to change first (`torchlift plan` shows what for)"
        )
    return ", ".join(kinds)


def _subject(kind: Sequence[Item], left: Sequence[Item]) -> str:
    if len(kind) < len(left):
        return str(len(kind))
    return "it" if len(left) == 1 else "all"


def _how_to_review(result: RunResult, review: Sequence[Item]) -> str:
    if result.unsafe_fixes:
        return "run without `--check` to apply"
    flags = "--unsafe-fixes" if result.mode is Mode.DIFF else "--unsafe-fixes --diff"
    return f"`{flags}` shows the {'change' if len(review) == 1 else 'changes'}"


def _explained(manual: Sequence[Item]) -> str:
    codes = sorted({item.finding.code for item in manual})
    allowed = "" if indexed_rules().keys() >= set(codes) else " --allow-own-rules"
    if len(codes) == 1:
        return f"`torchlift rule {codes[0]}{allowed}` explains"
    named = ", ".join(codes[:_MOST_CODES])
    more = f" and {len(codes) - _MOST_CODES} more" if len(codes) > _MOST_CODES else ""
    return f"`torchlift rule CODE{allowed}` explains {named}{more}"


def _refused(result: RunResult, root: Path, palette: Palette) -> list[str]:
    """Files left as they were, by reason. What failed is told as a failure."""
    failed = {failure.path for failure in result.failures if failure.stage in {"verify", "write"}}
    paths: dict[str, list[str]] = {}
    for outcome in result.outcomes:
        if outcome.refused is not None and outcome.path not in failed:
            paths.setdefault(outcome.refused, []).append(shown_path(root, outcome.path))
    lines = [palette.strong("Not written:")] if paths else []
    for reason, refused in paths.items():
        lines += [f"  {path}: {one_line(reason)}" for path in refused[:_MOST_PATHS]]
        if len(refused) > _MOST_PATHS:
            lines.append(f"  and {_count(len(refused) - _MOST_PATHS, 'more file')} for the same reason")
    return lines


def _failures(failures: Sequence[FileFailure], root: Path, palette: Palette) -> list[str]:
    if not failures:
        return []
    lines = [palette.strong(f"{_count(len(failures), 'failure')}:")]
    for failure in failures[:_MOST_FAILURES]:
        lines.append(f"  {shown_path(root, failure.path)}: {failure.stage}: {one_line(failure.reason)}")
    if len(failures) > _MOST_FAILURES:
        lines.append(f"  and {len(failures) - _MOST_FAILURES} more (`--output-format json` lists all)")
    ours = sum(failure.ours for failure in failures)
    if ours:
        if len(failures) == 1:
            subject = "This is a defect"
        elif ours == len(failures):
            subject = "They are defects"
        else:
            subject = "1 of them is a defect" if ours == 1 else f"{ours} of them are defects"
        lines.append(f"{subject} of torchlift and not of your code; please report it.")
    return lines


def _files(kind: Sequence[Item]) -> str:
    return _count(len({item.finding.path for item in kind}), "file")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
