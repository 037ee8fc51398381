"""The examples of a rule, tried: found or not, rewritten as shown, and doing under torch afterwards what they did before."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from difflib import unified_diff
from functools import partial
from pathlib import Path

from torchlift.authoring.completeness import is_placeholder, unfilled_words
from torchlift.finding import Finding, Safety
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.options import RunOptions
from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.run import analyse
from torchlift.rules.own_rules import rules_with
from torchlift.rules.rule import Bad, Ok, Rule, Settings
from torchlift.testing import (
    FreshProcesses,
    Program,
    ProgramComparison,
    TorchUnavailable,
    Verdict,
    compare_programs,
)
from torchlift.testing.nodes import Container, Raised, Scalar, short
from torchlift.view.text import text_kind

# What the help of a finding says that has no fix.
_CANNOT = lazy_pattern(
    r"(?i)not rewritten|no fix is offered|nothing is rewritten|raise its lower bound|(?:write|ask for|change) [^.:;]* first\b"
)
_SECONDS = 300.0
_SECONDS_OF_RANKS = 60.0


@dataclass(frozen=True)
class Tried:
    """What became of an example.

    Attributes:
        example: the example.
        problems: what does not hold, as sentences; empty if all does.
        held: what was seen to hold, in a few words.
        not_run: why its `run` was not executed; None if it was, or has none.
        said: all that torchlift says of it, in words: the findings of all rules, and every file as it became.
    """

    example: Bad | Ok
    problems: tuple[str, ...]
    held: str
    not_run: str | None = None
    said: str = ""


def try_example(
    rule: Rule,
    example: Bad | Ok,
    own: tuple[Path, ...] = (),
    *,
    processes: FreshProcesses | None = None,
    compare: Callable[..., ProgramComparison] = compare_programs,
) -> Tried:
    """Run all rules over the example, and compare what it does under torch before and after.

    Args:
        rule: the rule that the example belongs to.
        example: the example.
        own: files of rules outside torchlift, `rule` among them if it is one.
        processes: where programs run; None for those that this Python process shares.
        compare: what compares the old and the new program, called as `compare_programs` is.
    """
    compare = partial(compare, processes=processes)
    given = (example.before, example.after, example.run) if isinstance(example, Bad) else (example.code,)
    unfilled = [text for text in (*given, example.why) if text is not None and is_placeholder(text)]
    if unfilled:
        return Tried(example, tuple(f"It is still to be written: {text}" for text in unfilled), "")
    with tempfile.TemporaryDirectory(prefix="torchlift-example-") as name:
        if isinstance(example, Ok):
            return _look_alike(rule, example, Path(name), own)
        return _bad(rule, example, Path(name), own, compare)


def _look_alike(rule: Rule, example: Ok, folder: Path, own: tuple[Path, ...]) -> Tried:
    result = _migrated(example, folder, own)
    problems = _failures(result)
    problems += [f"It is reported, at {finding.path}: {finding.message}" for finding in _findings(result, rule)]
    return Tried(example, tuple(problems), "not reported")


def _bad(
    rule: Rule, example: Bad, folder: Path, own: tuple[Path, ...], compare: Callable[..., ProgramComparison]
) -> Tried:
    unsafe = example.kind == "unsafe"
    result = _migrated(example, folder, own)
    problems = _failures(result)
    found = _findings(result, rule)
    if not found:
        return Tried(example, (*problems, "It is not reported."), "")
    problems += unfilled_words(found)
    if example.kind != "safe":
        if _new_text(result, example.path) is not None:
            problems.append("It is rewritten without `--unsafe-fixes`, so some fix in it is safe.")
        result = _migrated(example, folder, own, unsafe=True)
    problems += [
        f"A fix is offered at {finding.path}, and its own help says that it cannot work: {finding.help}"
        for finding in _findings(result, rule)
        if finding.fix is not None and _CANNOT.search(finding.help or "")
    ]
    new = _new_text(result, example.path)
    if new != example.after:
        return Tried(example, (*problems, _not_as_shown(example, new, _findings(result, rule))), "")
    said = _said(result)
    held = "reported" if new is None else f"reported, rewritten as shown{' (unsafe)' if unsafe else ''}"
    if new is None or example.run is None or problems:
        return Tried(example, tuple(problems), held, said=said)
    try:
        problem = _differing(example, result, folder, compare)
    except TorchUnavailable as error:
        return Tried(example, (), held, not_run=str(error), said=said)
    if problem is not None:
        return Tried(example, (problem,), held, said=said)
    same = "another result, as `differs` says" if example.differs else "the same when run"
    return Tried(example, (), f"{held}, {same}", said=said)


def _migrated(example: Bad | Ok, folder: Path, own: tuple[Path, ...], *, unsafe: bool = False) -> RunResult:
    files = {example.path: example.before if isinstance(example, Bad) else example.code, **dict(example.files)}
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(text.encode())
    settings = (
        Settings(
            min_torch=example.min_torch,
            batch_example=example.batch_example,
            machine=example.machine,
            torchscript=example.torchscript,
        )
        if isinstance(example, Bad)
        else Settings(machine=example.machine, torchscript=example.torchscript)
    )
    python = tuple(sorted(file for file in files if file.endswith(".py")))
    texts = tuple(sorted(file for file in files if text_kind(file) is not None))
    return analyse(
        RunOptions(folder, python, Mode.DIFF, frozenset(rules_with(own)), unsafe, settings, texts=texts, own_rules=own)
    )


def _failures(result: RunResult) -> list[str]:
    return [failure.detail or failure.reason for failure in result.failures]


def _findings(result: RunResult, rule: Rule) -> list[Finding]:
    return [f for outcome in result.outcomes for f in (*outcome.left, *outcome.fixed) if f.code == rule.code]


def _said(result: RunResult) -> str:
    found = []
    for one in (one for outcome in result.outcomes for one in (*outcome.left, *outcome.fixed)):
        fix = one.fix and (one.fix.title, one.fix.safety.name, str(one.fix.needs), one.fix.leaves)
        words = (one.message, one.help, one.notes, one.waits_for, fix)
        found.append(f"{one.path} {one.span} {one.code} {one.severity.name} {words}")
    became = [f"{one.path}:\n{one.new_text}" for one in result.outcomes if one.new_text is not None]
    return "\n".join([*sorted(found), *sorted(became)])


def _new_text(result: RunResult, path: str) -> str | None:
    return next((outcome.new_text for outcome in result.outcomes if outcome.path == path), None)


def _not_as_shown(example: Bad, new: str | None, found: list[Finding]) -> str:
    if new is None:
        left = {finding.fix.safety for finding in found if finding.fix is not None}
        if Safety.UNSAFE in left and example.kind == "safe":
            return 'It is reported, and its fix needs review: `Bad(..., safety="unsafe")` shows such a one.'
        refused = next((f" {finding.help}" for finding in found if finding.fix is None and finding.help), "")
        return f"It is reported, and nothing is rewritten.{refused}"
    if example.after is None:
        return f"It is rewritten, and `after` shows nothing. What it became:\n{new}"
    lines = unified_diff(example.after.splitlines(), new.splitlines(), "as shown", "as rewritten", lineterm="")
    return "\n".join(["It is rewritten otherwise than shown:", *lines])


def _differing(example: Bad, result: RunResult, folder: Path, compare: Callable[..., ProgramComparison]) -> str | None:
    """What the rewritten program does otherwise than the example promises, None if nothing."""
    files = dict(example.files)
    rewritten = files | {o.path: o.new_text for o in result.outcomes if o.new_text is not None}
    found = compare(
        Program(example.before, files),
        Program(rewritten.pop(example.path), rewritten),
        f"import torch\n{example.run}",  # which the code itself may no longer need
        ranks=example.ranks,
        folder=folder / "proof",
        timeout=_SECONDS_OF_RANKS if example.ranks else _SECONDS,
    )
    if found.verdict is Verdict.FAILED:
        lacks = re.search(r"No module named '(\w+)", str(found))
        stand_in = f'What stands for it here can be given: `files=(("{lacks[1]}.py", "..."),)`.\n' if lacks else ""
        failed = (
            f"`run` fails with the code as it was: {short(found.old)}" if isinstance(found.old, Raised) else "see below"
        )
        return f"{stand_in}Nothing can be compared: {failed}\n{found.trace}".rstrip()
    results = (
        [part for _, part in found.old.items] if isinstance(found.old, Container) and example.ranks else [found.old]
    )
    if Scalar("NoneType", None) in results:
        return "`run` assigns no `result`."
    if not example.differs:
        return None if found.verdict is Verdict.SAME else f"It does not do the same when run: {found}"
    if example.safety == "safe":
        right = found.verdict is Verdict.TORCHSCRIPT_WRONG
        return None if right else f"`differs` says that TorchScript was the odd one out, but: {found}"
    return None if found.verdict is not Verdict.SAME else "`differs` says that the results differ, and they do not."
