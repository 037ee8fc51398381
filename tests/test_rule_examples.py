"""Every example of every rule: found or not, rewritten as shown, and doing the same under torch afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import TorchPrograms, same

from torchlift.finding import Finding
from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Bad, Ok, Rule, Settings

BAD = [(rule, example) for rule in all_rules().values() for example in rule.examples if isinstance(example, Bad)]
OK = [(rule, example) for rule in all_rules().values() for example in rule.examples if isinstance(example, Ok)]
FIXED = [(rule, example) for rule, example in BAD if example.after is not None and example.run is not None]


def name(value: Rule | Bad | Ok) -> str:
    return value.code if isinstance(value, Rule) else value.why


def migrate(folder: Path, example: Bad | Ok, *, unsafe: bool = False) -> RunResult:
    files = (
        {"example.py": example.before, **dict(example.files)}
        if isinstance(example, Bad)
        else {"example.py": example.code}
    )
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(text.encode())
    settings = Settings(min_torch=example.min_torch) if isinstance(example, Bad) else Settings()
    options = RunOptions(folder, tuple(sorted(files)), Mode.DIFF, frozenset(all_rules()), unsafe, settings)
    result = analyse(options)
    assert not [failure.detail or failure.reason for failure in result.failures]
    return result


def findings(result: RunResult, rule: Rule) -> list[Finding]:
    return [f for outcome in result.outcomes for f in (*outcome.left, *outcome.fixed) if f.code == rule.code]


@pytest.mark.parametrize(("rule", "example"), OK, ids=name)
def test_a_look_alike_is_not_reported(rule: Rule, example: Ok, tmp_path: Path) -> None:
    assert findings(migrate(tmp_path, example), rule) == []


@pytest.mark.parametrize(("rule", "example"), BAD, ids=name)
def test_an_example_is_reported_and_rewritten_as_shown(rule: Rule, example: Bad, tmp_path: Path) -> None:
    safe_run = migrate(tmp_path, example)
    assert findings(safe_run, rule)
    new = {outcome.path: outcome.new_text for outcome in safe_run.outcomes}.get("example.py")
    if example.safety == "safe":
        assert new == example.after
        return
    assert new is None, "a finding that is not safe was rewritten without being asked"
    unsafe_run = migrate(tmp_path, example, unsafe=True)
    new = {outcome.path: outcome.new_text for outcome in unsafe_run.outcomes}.get("example.py")
    assert new == example.after


@pytest.mark.parametrize(("rule", "example"), FIXED, ids=name)
def test_the_rewritten_example_does_under_torch_what_the_old_one_did(
    rule: Rule, example: Bad, tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    result = migrate(tmp_path, example, unsafe=example.safety == "unsafe")
    new = {outcome.path: outcome.new_text for outcome in result.outcomes if outcome.new_text is not None}
    files = {"example.py": example.before, **dict(example.files)}
    old_folder, new_folder = tmp_path / "old", tmp_path / "new"
    old = torch_programs.run(old_folder, files, f"{files['example.py']}\n{example.run}\n")
    files |= {path: text for path, text in new.items() if text is not None}
    now = torch_programs.run(new_folder, files, f"{files['example.py']}\n{example.run}\n")
    assert old[0] != "NoneType", "the example's `run` must assign `result`"
    assert same(old, now), f"{old} is not {now}"


@pytest.mark.parametrize("rule", all_rules().values(), ids=name)
def test_a_rule_is_documented_by_its_examples(rule: Rule) -> None:
    reasons = [example.why for example in rule.examples]
    assert all(reasons) and len(set(reasons)) == len(reasons)
    assert sum(isinstance(example, Ok) for example in rule.examples) >= 3
    assert any(isinstance(example, Bad) for example in rule.examples)
    for example in rule.examples:
        if isinstance(example, Bad) and example.after is not None and example.safety == "safe":
            assert example.run is not None, f"{rule.code} {example.why}: a safe fix is shown but never run"


@pytest.mark.parametrize("rule", all_rules().values(), ids=name)
def test_a_rule_is_described_in_full(rule: Rule) -> None:
    assert rule.summary and not rule.summary.endswith(".")
    assert rule.why.endswith(".") and rule.fix.endswith(".") and rule.sources
    assert rule.name == rule.name.lower() and " " not in rule.name
    assert rule.words
