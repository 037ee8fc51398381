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


def write(folder: Path, result: RunResult) -> bool:
    """Write what was changed; whether anything was."""
    changed = [outcome for outcome in result.outcomes if outcome.new_text is not None]
    for outcome in changed:
        (folder / outcome.path).write_bytes(outcome.shown.to_bytes())
    return bool(changed)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_second_run_changes_nothing(rule: Rule, tmp_path: Path) -> None:
    for number, example in enumerate(example for example in rule.examples if isinstance(example, Bad)):
        folder = tmp_path / str(number)
        for file, text in {example.path: example.before, **dict(example.files)}.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(text.encode())
        for unsafe in (False, True):
            first = run(folder, example, unsafe=unsafe)
            assert [failure.reason for failure in first.failures] == [], example.why
            if not write(folder, first):
                continue
            again = run(folder, example, unsafe=unsafe)
            assert [failure.reason for failure in again.failures] == [], example.why
            changed = {outcome.path: outcome.new_text for outcome in again.outcomes if outcome.new_text is not None}
            assert changed == {}, example.why
