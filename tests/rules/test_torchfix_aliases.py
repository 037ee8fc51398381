"""TorchFix's codes stand for torchlift's rules, wherever a rule can be named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from torchlift.cli import torchlift
from torchlift.rules.registry import all_rules, names_of, selected_by

# Every code of TorchFix, read in its sources, 2026-11-21.
TORCHFIX = (
    "TOR001 TOR002 TOR003 TOR004 TOR101 TOR102 TOR103 TOR104 TOR105 TOR106 TOR107 TOR108 TOR109 TOR201 TOR202 TOR203 TOR401 TOR402 "
    "TOR901"
).split()
OFF_THERE = ("TOR401", "TOR402", "TOR901")
LOAD = "import torch\n\nstate = torch.load('weights.pt')\nfirst = torch.ger(state, state)\n"


def migrate(folder: Path, *arguments: str, code: str = LOAD, config: str = "") -> Result:
    (folder / "torchlift.toml").write_text(config, encoding="utf-8")
    (folder / "a.py").write_text(code, encoding="utf-8")
    return CliRunner().invoke(
        torchlift, ["migrate", "--check", "--output-format", "json", "--quiet", *arguments, str(folder / "a.py")]
    )


def codes(result: Result) -> list[str]:
    assert result.exit_code in {0, 1}, result.output
    return [finding["code"] for finding in json.loads(result.stdout)["findings"]]


def test_every_code_of_torchfix_stands_for_a_rule() -> None:
    aliases = {alias for rule in all_rules().values() for alias in rule.aliases}
    assert aliases == set(TORCHFIX)


@pytest.mark.parametrize(("name", "count"), [("TOR901", 2), ("TOR", 2), ("TL446", 0)])
def test_every_library_is_reported_where_codes_of_torchfix_ask_for_it(name: str, count: int, tmp_path: Path) -> None:
    code = (
        'from torch.library import Library\n\nA = Library("a", "DEF")\n\n\ndef f():\n    return Library("b", "DEF")\n'
    )
    assert codes(migrate(tmp_path, "--select", name, code=code)).count("TL446") == count


@pytest.mark.parametrize("name", ["TOR", "TOR1", "TOR10", "TOR102"])
def test_a_code_and_its_beginnings_select(name: str, tmp_path: Path) -> None:
    assert "TL501" in codes(migrate(tmp_path, "--select", name))


@pytest.mark.parametrize("name", ["TOR2", "TOR101", "TOR9"])
def test_another_code_does_not_select(name: str, tmp_path: Path) -> None:
    assert "TL501" not in codes(migrate(tmp_path, "--select", name))


def test_letters_that_begin_no_code_are_refused(tmp_path: Path) -> None:
    for name in ("TO", "TOR7", "TOR1021"):
        result = migrate(tmp_path, "--select", name)
        assert result.exit_code == 2 and name in result.output


def test_a_code_ignores(tmp_path: Path) -> None:
    assert codes(migrate(tmp_path, "--ignore", "TOR102")) == ["TL401"]
    assert codes(migrate(tmp_path, "--ignore", "TOR1")) == []


def test_a_code_works_in_the_configuration(tmp_path: Path) -> None:
    assert codes(migrate(tmp_path, config='select = ["TOR102"]\n')) == ["TL501"]
    assert codes(migrate(tmp_path, config='ignore = ["TOR102"]\n')) == ["TL401"]
    assert codes(migrate(tmp_path, config='[per-file-ignores]\n"a.py" = ["TOR101"]\n')) == ["TL501"]


def test_a_code_suppresses(tmp_path: Path) -> None:
    code = LOAD.replace("pt')\n", "pt')  # torchlift: ignore[TOR102] our own file\n")
    assert codes(migrate(tmp_path, code=code)) == ["TL401"]
    assert codes(migrate(tmp_path, code=f"# torchlift: file-ignore[TOR1] later\n{LOAD}")) == []


def test_a_code_is_explained() -> None:
    for name in ("TOR102", "tor102"):
        result = CliRunner().invoke(torchlift, ["rule", name])
        assert result.exit_code == 0 and "TL501 load-weights-only" in result.output and "TOR102" in result.output


def test_a_code_that_several_rules_have_explains_them_all() -> None:
    output = CliRunner().invoke(torchlift, ["rule", "TOR101"]).output
    assert "TL412 qr" in output and "TL423 amp-autocast" in output


def test_what_torchfix_leaves_off_is_off_here() -> None:
    rules = all_rules().values()
    for name in OFF_THERE:
        assert not any(rule.default for rule in rules if name in rule.aliases)


def test_a_rule_that_is_off_runs_where_it_is_selected(tmp_path: Path) -> None:
    code = "import torch\n\n\ndef f(optimizer):\n    optimizer.zero_grad(set_to_none=False)\n"
    assert codes(migrate(tmp_path, code=code)) == []
    for name in ("TL445", "zero-grad", "TOR402", "TOR", "ALL"):
        assert codes(migrate(tmp_path, "--select", name, code=code)) == ["TL445"]
    for family in ("TL4", "TL44"):
        assert codes(migrate(tmp_path, "--select", family, code=code)) == []


def test_a_rule_that_is_off_says_so_in_its_page() -> None:
    assert "runs only where it is selected" in CliRunner().invoke(torchlift, ["rule", "TL445"]).output
    listed = json.loads(CliRunner().invoke(torchlift, ["rules", "--output-format", "json"]).output)
    assert {rule["code"]: rule["default"] for rule in listed}["TL445"] is False


def test_every_name_that_is_accepted_means_a_rule() -> None:
    rules = all_rules().values()
    for name in names_of(rules):
        assert any(selected_by(rule, name) for rule in rules), name
