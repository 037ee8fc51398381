from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files

USE = "x = torch.ger(a, b)"


def codes(folder: Path, code: str, **options: object) -> list[str]:
    result = analyse_files(folder, {"a.py": "import torch\n" + code}, **options)  # type: ignore[arg-type]
    assert result.failures == ()
    return [finding.code for finding in all_findings(result)]


SILENT = {
    "behind the statement": f"{USE}  # torchlift: ignore[TL401] because\n",
    "above the statement": f"# torchlift: ignore[TL401] because\n{USE}\n",
    "above, with another comment between": f"# torchlift: ignore[TL401] because\n# and so on\n{USE}\n",
    "by name": f"{USE}  # torchlift: ignore[moved-name] because\n",
    "by a code prefix": f"{USE}  # torchlift: ignore[TL4] because\n",
    "by another tool's code": f"{USE}  # torchlift: ignore[TOR101] because\n",
    "on the last line of a long statement": "x = torch.ger(\n    a,\n    b,\n)  # torchlift: ignore[TL401] because\n",
    "on the first line of a long statement": "x = torch.ger(  # torchlift: ignore[TL401] because\n    a,\n    b,\n)\n",
    "in the head of a compound statement": "if torch.ger(a, b):  # torchlift: ignore[TL401] because\n    pass\n",
    "behind another tool's comment": f"{USE}  # noqa: E501  # torchlift: ignore[TL401] because\n",
    "for the whole file": f"{USE}\n{USE}\n# torchlift: file-ignore[TL401] because\n",
}


@pytest.mark.parametrize("code", SILENT.values(), ids=SILENT)
def test_a_suppression_silences(code: str, tmp_path: Path) -> None:
    assert codes(tmp_path, code) == []


LOUD = {
    "a suppression of another rule": (f"{USE}  # torchlift: ignore[TL110] because\n", ["TL401", "TL901"]),
    "a suppression without rules": (f"{USE}  # torchlift: ignore because\n", ["TL401", "TL901"]),
    "a suppression of an unknown rule": (f"{USE}  # torchlift: ignore[TL999] because\n", ["TL401", "TL901"]),
    "a mistyped verb": (f"{USE}  # torchlift: ingore[TL401] because\n", ["TL401", "TL901"]),
    "a suppression inside the body of a compound statement": (
        "if torch.ger(a, b):\n    y = 1  # torchlift: ignore[TL401] because\n", ["TL401", "TL901"]),
    "no reason": (f"{USE}  # torchlift: ignore[TL401]\n", ["TL903"]),
    "noqa": (f"{USE}  # noqa: TL401\n", ["TL401"]),
}  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), LOUD.values(), ids=LOUD)
def test_other_comments_do_not_silence(code: str, expected: list[str], tmp_path: Path) -> None:
    assert sorted(codes(tmp_path, code)) == expected


def test_a_suppression_of_a_rule_that_does_not_run_is_not_called_unused(tmp_path: Path) -> None:
    code = f"{USE}  # torchlift: ignore[TL401] because\n"
    assert codes(tmp_path, code, codes=frozenset({"TL110", "TL901"})) == []


def test_the_number_of_suppressed_findings_is_known(tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"a.py": f"import torch\n{USE}  # torchlift: ignore[TL401] because\n"})
    assert result.suppressed == 1 and result.exit_code == 0
