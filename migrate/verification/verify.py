"""Tries the fixes of a run on a copy of the project, and keeps those with which the user's command runs as before."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from torchlift.finding import DroppedFix
from torchlift.migrate.alternatives import Alternatives
from torchlift.migrate.result import RunResult
from torchlift.migrate.verification.baseline import Baseline
from torchlift.migrate.verification.clusters import Cluster, clusters_of, withheld
from torchlift.migrate.verification.command_run import CommandRun
from torchlift.migrate.verification.failed import VerificationFailed
from torchlift.migrate.verification.search import SearchEnd, search
from torchlift.migrate.verification.tree_copy import TreeCopy, remove_leftovers
from torchlift.migrate.verification.trials import CommandTrials, Verification

_FEWEST_RUNS = 4
_NOT_FOUND = 127
"""Exit status of a POSIX shell that finds no program of the name."""


def verified(alternatives: Alternatives, verification: Verification) -> RunResult:
    """What a run comes to that applies only fixes with which the command runs as it does without any.

    Nothing of the user's is written: that is left to the caller, as after any other run.

    Raises:
        VerificationFailed: nothing can be said of the fixes, and nothing may be written.
    """
    if verification.runs < _FEWEST_RUNS:
        raise VerificationFailed(
            f"--verify-runs {verification.runs} is too few: it takes {_FEWEST_RUNS} runs at least."
        )
    leftovers = remove_leftovers()
    told = [f"Removed the copy of {tree} that an interrupted run had left behind." for tree in dict.fromkeys(leftovers)]
    clusters = clusters_of(alternatives.first_fixes())
    if not clusters:
        result = alternatives.result()
        return replace(result, notes=(*result.notes, *told, "No fix can be applied, so nothing was verified."))
    with TreeCopy(alternatives.reading.project.root) as copy:
        trials = CommandTrials(verification, copy, alternatives, clusters)
        trials.baseline = _baseline(trials)
        verdict = search(frozenset(range(len(clusters))), trials, careful=verification.flaky)
        changed = copy.changed_meanwhile()
        if changed:
            raise VerificationFailed(
                f"{changed[0]} changed while the fixes were being tried; nothing was written. Run torchlift again."
            )
        result = alternatives.result(withheld(clusters, _dropped(verdict, verification)))
        return replace(result, notes=(*result.notes, *told, *_notes(verdict, trials)))


def _baseline(trials: CommandTrials) -> Baseline:
    """How the command runs without any fix.

    Raises:
        VerificationFailed: it fails, is not the same twice, or does not run what would be changed.
    """
    command = trials.verification.command
    first = trials.without_fixes()
    if _why_unusable(first) is not None:
        # Whether that is because what functions return was noted.
        trials.notes_returns = False
        first = trials.without_fixes()
    problem = _why_unusable(first)
    if problem is not None:
        raise VerificationFailed(
            f"`{command}` fails without any fix: {problem}. Nothing was written.{_where_it_runs(command, first)}{_end_of(first)}"
        )
    _check_imports(first, trials)
    runs = [first, *(trials.without_fixes() for _ in range(2 if trials.verification.flaky else 1))]
    for run in runs[1:]:
        problem = _why_unusable(run)
        if problem is not None or (not run.tests and run.status != first.status):
            raise VerificationFailed(
                f"`{command}` does not end the same way twice without any fix: {problem or 'the status differs'}. "
                "Nothing was written."
            )
    baseline = Baseline.of(runs)
    trials.verification.say(_described(baseline))
    return baseline


def _why_unusable(run: CommandRun) -> str | None:
    if run.status is None:
        return f"it ran past the limit of {run.seconds:.0f} s (--verify-timeout)"
    if run.tests:
        if run.status not in {0, 1}:
            return f"exit status {run.status}"
        if all(test.outcome not in {"passed", "expected to fail"} for test in run.tests.values()):
            return "no test of it passes"
        return None
    if run.status != 0:
        return f"exit status {run.status}" if run.status > 0 else f"it was ended by signal {-run.status}"
    return None


def _where_it_runs(command: str, run: CommandRun) -> str:
    """What a shell that found no program does not say: paths out of the project lead elsewhere from a copy."""
    if run.status != _NOT_FOUND or "/" not in command.partition(" ")[0]:
        return ""
    return " It runs in a copy of the project, from which a relative path leads elsewhere: name the program by its whole path."


def _end_of(run: CommandRun) -> str:
    lines = [line.rstrip() for line in run.output.splitlines() if line.strip()]
    return " It ended with:\n" + "\n".join(f"  {line}" for line in lines[-10:]) if lines else ""


def _check_imports(run: CommandRun, trials: CommandTrials) -> None:
    copy, command = trials.copy, trials.verification.command
    if not run.processes:
        raise VerificationFailed(
            f"`{command}` started no Python that could be watched (one started with -I or -E cannot be), so it would prove "
            "nothing about the fixes. Nothing was written."
        )
    for name, path in sorted(run.modules.items()):
        inside = os.path.relpath(path, copy.tree)
        if path.startswith(copy.tree + os.sep) and copy.has(inside):
            raise VerificationFailed(
                f"`{command}` imports {name} from {path} and not from the copy in which fixes are tried, so it would prove "
                "nothing about them. Nothing was written. An editable installation (`pip install -e`) is led to the copy; "
                "a path that is written out in the command or in the environment is not."
            )
    changed = {
        os.path.normpath(os.path.join(copy.folder, trials.inside, path))
        for cluster in trials.clusters
        for path, _ in cluster.rewrites()
    }
    python = {path for path in changed if path.endswith(".py")}
    if (
        python
        and python.isdisjoint(map(os.path.realpath, run.modules.values()))
        and python.isdisjoint(run.modules.values())
    ):
        which = "the file" if len(python) == 1 else f"any of the {len(python)} files"
        raise VerificationFailed(
            f"`{command}` does not import {which} that the fixes change, so it would prove nothing about them. Nothing was "
            "written. Where the project is installed as a copy of itself, `pip install -e .` makes the command run what is "
            "in this folder."
        )


def _described(baseline: Baseline) -> str:
    if not baseline.tests and not baseline.unstable:
        return f"Without any fix it ends with status {baseline.status}."
    failing, unstable = len(baseline.failing), len(baseline.unstable)
    more = f", {failing} that fail anyway" if failing else ""
    more += f", {unstable} that do not end the same way twice" if unstable else ""
    return f"Without any fix: {len(baseline.tests)} test{'' if len(baseline.tests) == 1 else 's'}{more}."


def _dropped(verdict: SearchEnd, verification: Verification) -> dict[int, DroppedFix]:
    dropped = {index: DroppedFix(_by(complaint.by), complaint.error) for index, complaint in verdict.dropped.items()}
    for index in verdict.undecided:
        broken = verdict.broken[0] if verdict.broken else None
        error = (
            f"{broken.by} fails in the last run, and --verify-runs {verification.runs} leaves none to find out why"
            if broken is not None
            else f"--verify-runs {verification.runs} was not enough to find out whether it is behind a failure"
        )
        dropped[index] = DroppedFix(f"`{verification.command}`", error)
    return dropped


def _by(words: str) -> str:
    return words if " " in words.partition("[")[0] else f"`{words}`"


def _notes(verdict: SearchEnd, trials: CommandTrials) -> Iterator[str]:
    verification, number = trials.verification, len(trials.clusters)
    groups = "1 group" if number == 1 else f"{number} groups"
    last = "and the last of them was the whole command" if verdict.kept else "and nothing is left to keep"
    left_out = f", {len(verdict.dropped)} dropped" if verdict.dropped else ""
    left_out += f", {len(verdict.undecided)} undecided and left out" if verdict.undecided else ""
    yield (
        f"Verified with `{verification.command}`: {len(verdict.kept)} of {groups} of fixes kept{left_out}, in "
        f"{trials.counted} runs and {trials.seconds:.0f} s, {last}."
    )
    baseline = trials.baseline
    if baseline.failing:
        yield f"{_tests(sorted(baseline.failing))} without any fix, too, and said nothing about them."
    unstable = sorted({*baseline.unstable, *verdict.unstable})
    if unstable:
        shown = ", ".join(unstable[:3]) + (", ..." if len(unstable) > 3 else "")
        yield f"Not the same in every run, so nobody was blamed for it: {shown}."
    if not trials.notes_returns:
        yield "What functions return was not compared: the command does not run where it is noted."
    yield from _unproven(verdict, trials)


def _tests(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return f"{'1 test fails' if len(names) == 1 else f'{len(names)} tests fail'} ({shown})"


def _unproven(verdict: SearchEnd, trials: CommandTrials) -> Iterator[str]:
    """What was kept although no test says that it is well."""
    unreached = sorted(_place(trials.clusters[index]) for index in verdict.kept if not _is_reached(index, trials))
    if unreached:
        shown = ", ".join(unreached[:5]) + (", ..." if len(unreached) > 5 else "")
        are = "1 group that was kept is" if len(unreached) == 1 else f"{len(unreached)} groups that were kept are"
        yield (
            f"{are} not proven by the command, which runs none of that code, or only in tests that were rewritten with it: "
            f"{shown}."
        )


def _is_reached(index: int, trials: CommandTrials) -> bool:
    """Whether code that a group changes ran, outside of tests that it changes itself."""
    functions = trials.changed_code.functions[index]
    return any(not trials.notes_returns or not name or trials.reached.get((module, name)) for module, name in functions)


def _place(cluster: Cluster) -> str:
    return f"{cluster.findings[0].path} ({', '.join(dict.fromkeys(finding.code for finding in cluster.findings))})"
