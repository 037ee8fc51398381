"""Rules outside torchlift are loaded from the files that are named, and from no others; a mistake in one is a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_rule_files import write_rule

from torchlift.rules.own_rules import own_rules, rules_with
from torchlift.rules.registry import RuleFileError
from torchlift.rules.rule_index import indexed_rules


def test_a_folder_of_rules_is_loaded_with_what_they_import_from_beside_them(tmp_path: Path) -> None:
    write_rule(tmp_path, "X100", "first")
    write_rule(tmp_path, "ACME2001", "second")
    found = own_rules((tmp_path,))
    assert list(found) == ["ACME2001", "X100"]
    assert [len(rule.examples) for rule in found.values()] == [4, 4]


def test_a_file_is_loaded_alone(tmp_path: Path) -> None:
    write_rule(tmp_path, "X100", "first")
    second = write_rule(tmp_path, "X101", "second")
    assert list(own_rules((second,))) == ["X101"]


def test_two_folders_may_have_helpers_of_the_same_name(tmp_path: Path) -> None:
    write_rule(tmp_path / "a", "X100", "first")
    write_rule(tmp_path / "b", "X101", "second")
    (tmp_path / "b" / "wording.py").write_text('MESSAGE = "another"\n')
    checks = [rule.check for rule in own_rules((tmp_path / "a", tmp_path / "b")).values()]
    assert [check.__globals__["MESSAGE"] for check in checks] == ["`mylib.old` is gone.", "another"]  # type: ignore[attr-defined]


def test_what_is_known_of_torchlifts_own_rules_stays_as_it_is(tmp_path: Path) -> None:
    before = dict(indexed_rules())
    write_rule(tmp_path)
    assert set(rules_with((tmp_path,))) == {*before, "X100"}
    assert dict(indexed_rules()) == before
    assert rules_with(()) is indexed_rules()


BROKEN = {
    "a code of torchlift": ({"code": "TL998"}, "codes with TL belong to torchlift"),
    "a code of TorchFix": ({"code": "TOR998"}, "codes with TOR belong to torchlift"),
    "a code without digits enough": ({"code": "X1", "file": "x10_old.py"}, "X1 is no code"),
    "a file of another name": ({"file": "x101_old.py"}, "must be named after it: x100_old_call.py"),
    "a name that is taken": ({"name": "moved-name"}, "another rule is called 'moved-name' already"),
    "an error while it is imported": ({"more": "raise OSError('no such thing')\n"}, "OSError: no such thing ("),
    "a file that is no Python": ({"more": "def f(:\n"}, "cannot be imported: SyntaxError"),
    "two functions for one purpose": ({"more": "RULE = Rule(**{**vars(RULE), 'check': print})\n"}, "has `check` twice"),
}


@pytest.mark.parametrize(("given", "said"), BROKEN.values(), ids=BROKEN)
def test_a_mistake_in_a_rule_names_its_file_and_says_what_is_wrong(
    given: dict[str, str], said: str, tmp_path: Path
) -> None:
    file = write_rule(tmp_path, **given)
    with pytest.raises(RuleFileError) as raised:
        own_rules((tmp_path,))
    assert said in str(raised.value) and file.name in str(raised.value)


def test_two_rules_of_one_code_are_an_error(tmp_path: Path) -> None:
    write_rule(tmp_path, "X100", "first")
    write_rule(tmp_path, "X100", "second")
    with pytest.raises(RuleFileError, match="X100 is defined twice"):
        own_rules((tmp_path,))


@pytest.mark.parametrize("name", ["nowhere", "empty", "helpers.py"])
def test_a_place_without_rules_is_an_error(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "helpers.py").write_text("x = 3\n")
    with pytest.raises(RuleFileError, match=name):
        own_rules((tmp_path / name,))
