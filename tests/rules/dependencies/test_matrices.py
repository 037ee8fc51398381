"""What is said of the torch and the Python that matrices of jobs name."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlift.dependencies.grammar import read_pin
from torchlift.migrate.result import Mode
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Settings
from torchlift.source import SourceText
from torchlift.versions import TorchVersion

RULES = frozenset(code for code in all_rules() if code.startswith("TL3"))
JOB = "  {name}:\n    strategy:\n      matrix:\n{matrix}    steps:\n      - run: pip install torch==${{{{ matrix.torch }}}}\n"


def found(folder: Path, text: str, path: str = ".github/workflows/test.yml") -> list[tuple[str, int, str]]:
    """Code, line and message of what is found in one file."""
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)
    settings = Settings(min_torch=TorchVersion(2, 0))
    result = analyse(RunOptions(folder, (), Mode.CHECK, RULES, False, settings, texts=(path,)))
    assert [failure.detail or failure.reason for failure in result.failures] == []
    source = SourceText(text)
    return [
        (item.code, source.location(item.span.start)[0], item.message)
        for outcome in result.outcomes
        for item in outcome.left
    ]


def test_the_newest_of_each_list_is_told_and_no_rows_of_older_ones(tmp_path: Path) -> None:
    rows = "        include:\n          - torch: 1.6.0\n            torchvision: 0.7.0\n"
    first = JOB.format(name="cpu", matrix="        torch: [1.5.0, 1.6.0]\n" + rows)
    second = JOB.format(name="cuda", matrix="        torch:\n          - 2.4.1\n          - 2.5.1\n")
    told = found(tmp_path, "on: push\njobs:\n" + first + second)
    assert [(code, line) for code, line, _ in told] == [("TL310", 6), ("TL310", 17)]
    assert ["1.6.0" in told[0][2], "2.5.1" in told[1][2]] == [True, True]


def test_of_rows_alone_those_with_the_newest_are_told(tmp_path: Path) -> None:
    rows = "        include:\n" + "".join(
        f"          - torch: {torch}\n            python: '3.{python}'\n"
        for torch, python in (("2.0.1", 8), ("2.5.1", 12), ("2.2.2", 10))
    )
    told = found(tmp_path, "on: push\njobs:\n" + JOB.format(name="all", matrix=rows))
    assert [(code, line) for code, line, _ in told] == [("TL310", 9)]


def test_a_row_whose_own_torch_has_no_wheel_for_its_python_is_an_error(tmp_path: Path) -> None:
    rows = "        include:\n          - torch: 2.5.1\n            python: '3.8'\n"
    text = JOB.format(name="all", matrix=rows) + "      - run: python${{ matrix.python }} -m pytest\n"
    told = found(tmp_path, "on: push\njobs:\n" + text)
    assert [code for code, _, message in told if "has no wheel for Python 3.8" in message] == ["TL307"]


def test_a_build_of_cuda_behind_a_version_of_a_matrix_is_told(tmp_path: Path) -> None:
    text = JOB.format(name="cuda", matrix="        torch: [1.5.0]\n").replace("torch }}", "torch }}+cu101")
    told = found(tmp_path, "on: push\njobs:\n" + text)
    assert [line for code, line, message in told if code == "TL301" and "cu101" in message] == [8]


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("torch==2.4.0.${NIGHTLY}", ["2.4.0"]),
        ("torch==2.4.0.dev${DATE}", ["2.4.0"]),
        ("torch==2.4.0.${{ env.NIGHTLY }}", ["2.4.0"]),
        ("torch==2.${MINOR}", []),
        ("torch==${TORCH}", []),
    ],
)
def test_a_release_whose_build_is_filled_in_is_a_pin_that_nobody_edits(text: str, clauses: list[str]) -> None:
    pin = read_pin(text, 0)
    assert pin is not None
    assert ([clause.version.rstrip(".") for clause in pin.clauses], pin.opaque) == (clauses, True)


def test_a_list_of_a_shell_holds_pins_with_quotes(tmp_path: Path) -> None:
    text = 'REQUIREMENTS=(\n  torch=="2.4.0.${NIGHTLY}"\n  torchvision=="0.19.0"\n)\npip install "${REQUIREMENTS[@]}"\n'
    assert [(code, line) for code, line, _ in found(tmp_path, text, "install.sh")] == [("TL309", 2), ("TL309", 3)]


def test_a_bound_for_macs_of_intel_is_not_raised(tmp_path: Path) -> None:
    text = '[project]\nname = "a"\n\n[project.optional-dependencies]\nintel = ["torch<2.3; platform_system == \'Darwin\'"]\n'
    (tmp_path / "pyproject.toml").write_text(text)
    settings = Settings(min_torch=TorchVersion(2, 0))
    result = analyse(RunOptions(tmp_path, (), Mode.DIFF, RULES, True, settings, texts=("pyproject.toml",)))
    left = [item for outcome in result.outcomes for item in outcome.left]
    assert [(item.code, item.fix) for item in left] == [("TL309", None)]
    assert "Macs of Intel" in str(left[0].help)
