"""A rule file declares its rule first; what stands below the declaration is bound to it when the register reads the file."""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from torchlift.rules.registry import RuleFileError, all_rules, rule_in
from torchlift.rules.rule import Rule, nothing

DECLARED = """\
from torchlift.project import Collector
from torchlift.rules.rule import Bad, Ok, Rule

RULE = Rule(
    code="TL999", name="bad", summary="Bad", why="Bad.", fix="None.", targets=("torch.bad",), sources=("a test",), {more}
)
"""


def module(folder: Path, below: str = "", more: str = "") -> ModuleType:
    path = folder / "tl999_bad.py"
    path.write_text(DECLARED.format(more=more) + below)
    spec = importlib.util.spec_from_file_location("tl999_bad", path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_what_stands_below_a_declaration_belongs_to_it(tmp_path: Path) -> None:
    names = "check text matters applies".split()
    below = "".join(f"def {name}(*given):\n    return ()\n" for name in names)
    below += "COLLECTORS = (Collector('facts', ('bad',), check),)\nEXAMPLES = (Ok('x = 1\\n', 'a number'),)\n"
    made = module(tmp_path, below)
    rule = rule_in(made)
    assert [getattr(rule, name) for name in names] == [getattr(made, name) for name in names]
    assert (rule.collectors, rule.examples) == (made.COLLECTORS, made.EXAMPLES)
    assert rule.code == "TL999" and rule.targets == ("torch.bad",)


def test_a_declaration_may_name_its_functions_itself(tmp_path: Path) -> None:
    rule = rule_in(module(tmp_path, more="check=print, applies=bool, examples=(Ok('x = 1\\n', 'a number'),)"))
    assert (rule.check, rule.applies) == (print, bool) and len(rule.examples) == 1


def test_a_function_that_was_imported_is_not_taken_for_the_rules_own(tmp_path: Path) -> None:
    rule = rule_in(module(tmp_path, "from os.path import exists as applies\ndef check(use, context):\n    return ()\n"))
    assert rule.applies is None


def test_a_rule_about_scripts_needs_no_function_for_python(tmp_path: Path) -> None:
    rule = rule_in(module(tmp_path, "def text(view, context):\n    return ()\n"))
    assert rule.check is nothing and rule.text is not None


@pytest.mark.parametrize(
    ("below", "more", "said"),
    [
        ("", "", "has no function `check`: nothing would find TL999"),
        ("def _check(use, context):\n    return ()\n", "", "has no function `check`"),
        (
            "def check(use, context):\n    return ()\n",
            "check=print",
            "has `check` twice: in its `RULE`, and as a function",
        ),
        ("RULE = 3\n", "", "declares no rule: it needs `RULE = Rule(...)`"),
    ],
)
def test_a_rule_file_that_cannot_be_used_is_named_with_the_reason(
    below: str, more: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(RuleFileError) as raised:
        rule_in(module(tmp_path, below, more))
    assert said in str(raised.value) and "tl999_bad.py" in str(raised.value)


def test_a_declaration_that_was_not_taken_from_the_register_says_so_when_it_is_asked(tmp_path: Path) -> None:
    made: Any = module(tmp_path, "def check(use, context):\n    return ()\n")
    with pytest.raises(LookupError, match="binds its functions"):
        made.RULE.check(None, None)


@pytest.mark.parametrize("rule", all_rules().values(), ids=lambda rule: rule.code)
def test_the_functions_of_a_rule_take_what_the_engine_hands_them(rule: Rule) -> None:
    taken = {
        "check": ["Use", "Context"],
        "text": ["TextView", "TextContext"],
        "matters": ["str", "ast.Call", "Settings"],
        "applies": ["Project"],
    }
    for name, wanted in taken.items():
        function = getattr(rule, name)
        if isinstance(function, FunctionType):
            parameters = inspect.signature(function).parameters.values()
            assert [parameter.annotation for parameter in parameters] == wanted, name
