"""Every example of every rule: found or not, rewritten as shown, and doing the same under torch afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from proofs import compared

from torchlift.finding import Finding
from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Bad, Ok, Rule, Settings
from torchlift.testing import FreshProcesses, Program, Verdict
from torchlift.testing.nodes import Container, Scalar
from torchlift.view.text import text_kind

BAD = [(rule, example) for rule in all_rules().values() for example in rule.examples if isinstance(example, Bad)]
OK = [(rule, example) for rule in all_rules().values() for example in rule.examples if isinstance(example, Ok)]
FIXED = [(rule, example) for rule, example in BAD if example.after is not None and example.run is not None]


def name(value: Rule | Bad | Ok) -> str:
    return value.code if isinstance(value, Rule) else value.why


def migrate(folder: Path, example: Bad | Ok, *, unsafe: bool = False) -> RunResult:
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
    options = RunOptions(folder, python, Mode.DIFF, frozenset(all_rules()), unsafe, settings, texts=texts)
    result = analyse(options)
    assert not [failure.detail or failure.reason for failure in result.failures]
    return result


def findings(result: RunResult, rule: Rule) -> list[Finding]:
    return [f for outcome in result.outcomes for f in (*outcome.left, *outcome.fixed) if f.code == rule.code]


def new_texts(result: RunResult) -> dict[str, str | None]:
    return {outcome.path: outcome.new_text for outcome in result.outcomes}


@pytest.mark.parametrize(("rule", "example"), OK, ids=name)
def test_a_look_alike_is_not_reported(rule: Rule, example: Ok, tmp_path: Path) -> None:
    assert findings(migrate(tmp_path, example), rule) == []


@pytest.mark.parametrize(("rule", "example"), BAD, ids=name)
def test_an_example_is_reported_and_rewritten_as_shown(rule: Rule, example: Bad, tmp_path: Path) -> None:
    safe_run = migrate(tmp_path, example)
    assert findings(safe_run, rule)
    new = new_texts(safe_run).get(example.path)
    if example.kind == "safe":
        assert new == example.after
        return
    assert new is None, "a finding that is not safe was rewritten without being asked"
    unsafe_run = migrate(tmp_path, example, unsafe=True)
    new = new_texts(unsafe_run).get(example.path)
    assert new == example.after


@pytest.mark.parametrize(("rule", "example"), FIXED, ids=name)
def test_the_rewritten_example_does_under_torch_what_the_old_one_did(
    rule: Rule,
    example: Bad,
    tmp_path: Path,
    processes: FreshProcesses,
) -> None:
    result = migrate(tmp_path, example, unsafe=example.safety == "unsafe")
    files = dict(example.files)
    rewritten = files | {path: text for path, text in new_texts(result).items() if text is not None}
    new = Program(rewritten.pop(example.path), rewritten)
    old, run = Program(example.before, files), example.run or ""
    found = compared(old, new, run, ranks=example.ranks, folder=tmp_path / "proof", processes=processes)
    assert found.verdict is not Verdict.FAILED, str(found)
    results = found.old.items if isinstance(found.old, Container) and example.ranks else [("", found.old)]
    assert Scalar("NoneType", None) not in [part for _, part in results], "the example's `run` must assign `result`"
    if not example.differs:
        assert found.verdict is Verdict.SAME, str(found)
    elif example.safety == "safe":
        assert found.verdict is Verdict.TORCHSCRIPT_WRONG, str(found)
    else:
        assert found.verdict is not Verdict.SAME, "`differs` says that the results differ, and they do not"


@pytest.mark.parametrize("rule", all_rules().values(), ids=name)
def test_a_rule_is_documented_by_its_examples(rule: Rule) -> None:
    reasons = [example.why for example in rule.examples]
    assert all(reasons) and len(set(reasons)) == len(reasons)
    assert sum(isinstance(example, Ok) for example in rule.examples) >= 3
    assert any(isinstance(example, Bad) for example in rule.examples)
    for example in rule.examples:
        # What says which packages are installed cannot be run; `test_dependency_files` checks such fixes.
        code = example.path.endswith(".py") and example.path != "setup.py"
        if isinstance(example, Bad) and example.after is not None and example.safety == "safe" and code:
            assert example.run is not None, f"{rule.code} {example.why}: a safe fix is shown but never run"
        if isinstance(example, Bad):
            assert not example.differs or example.run, f"{rule.code} {example.why}: `differs` without `run`"


@pytest.mark.parametrize("rule", all_rules().values(), ids=name)
def test_a_rule_is_described_in_full(rule: Rule) -> None:
    assert rule.summary and not rule.summary.endswith(".")
    assert rule.why.endswith(".") and rule.fix.endswith(".") and rule.sources
    assert rule.name == rule.name.lower() and " " not in rule.name
    assert rule.words or rule.text_triggers
    assert bool(rule.text_triggers) == (rule.text is not None)
