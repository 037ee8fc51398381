"""A project that was migrated is left alone by the next run: every example of every rule, fixed, and fixed again."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Bad, Rule, Settings
from torchlift.view.text import text_kind

RULES = [rule for rule in all_rules().values() if any(isinstance(example, Bad) for example in rule.examples)]


def run(folder: Path, example: Bad, *, unsafe: bool) -> RunResult:
    python = tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py")))
    texts = tuple(sorted(file for file in (example.path, *dict(example.files)) if text_kind(file) is not None))
    settings = Settings(
        min_torch=example.min_torch,
        batch_example=example.batch_example,
        machine=example.machine,
        torchscript=example.torchscript,
    )
    codes = frozenset(all_rules())
    return analyse(RunOptions(folder, python, Mode.DIFF, codes, unsafe, settings, jobs=1, texts=texts))


def changes(result: RunResult, example: Bad) -> dict[str, bytes]:
    """New contents, by path."""
    assert [failure.reason for failure in result.failures] == [], example.why
    return {outcome.path: outcome.shown.to_bytes() for outcome in result.outcomes if outcome.new_text is not None}


def write(folder: Path, files: dict[str, bytes]) -> None:
    for file, data in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(data)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_second_run_changes_nothing(rule: Rule, tmp_path: Path) -> None:
    for number, example in enumerate(example for example in rule.examples if isinstance(example, Bad)):
        folder = tmp_path / str(number)
        before = {example.path: example.before, **dict(example.files)}
        write(folder, {file: text.encode() for file, text in before.items()})
        safe = changes(run(folder, example, unsafe=False), example)
        write(folder, safe)
        # Where all fixes change nothing, the safe ones among them do not either.
        if all_fixes := changes(run(folder, example, unsafe=True), example):
            if safe:
                assert changes(run(folder, example, unsafe=False), example) == {}, example.why
            write(folder, all_fixes)
            assert changes(run(folder, example, unsafe=True), example) == {}, example.why
