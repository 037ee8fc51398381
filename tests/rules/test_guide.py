"""The migration guides: their code runs, and their tables are those of the rules."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from torchlift.migrate.cli import migrate
from torchlift.migrate.plan.cli import plan
from torchlift.migrate.workspace.config import load_config
from torchlift.rules.guide import with_rules
from torchlift.testing import FreshProcesses, Program, run_program
from torchlift.testing.nodes import Raised
from torchlift.torchscript_intent import TorchScriptIntent

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


BLOCKS = blocks(DOCS / "torchscript.md")
COMPILED = [block for block in BLOCKS if "aoti_compile_and_package" in block]


@pytest.mark.parametrize("name", ["torchscript.md", "distributed.md", "cpp.md"])
def test_the_table_of_rules_is_up_to_date(name: str) -> None:
    page = (DOCS / name).read_text(encoding="utf-8")
    assert page == with_rules(page), f"run `python -m torchlift.rules.guide docs/{name}`"


def test_the_guide_to_process_groups_runs_on_three_ranks(tmp_path: Path, processes: FreshProcesses) -> None:
    code = blocks(DOCS / "distributed.md")
    assert len(code) == 3 and code[-1].splitlines()[-1].startswith("assert")
    result = run_program(Program("\n\n".join(code)), "result = 1", folder=tmp_path, processes=processes, ranks=3)
    assert not isinstance(result.result, Raised), result.trace


def test_every_block_of_code_of_the_guide_runs(tmp_path: Path, processes: FreshProcesses) -> None:
    assert len(BLOCKS) > 10 and all(
        "assert" in block or "import" in block or "AssertionError" in block for block in BLOCKS
    )
    code = "\n\n".join(block for block in BLOCKS if block not in COMPILED)
    result = run_program(Program(code), "result = 1", folder=tmp_path, processes=processes)
    assert not isinstance(result.result, Raised), result.trace


def test_the_hang_in_the_guide_is_what_its_ring_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (DOCS / "distributed.md").read_text(encoding="utf-8")
    shown = next(block for block in re.findall(r"^```text\n(.*?)^```$", page, re.M | re.S) if "TL210" in block)
    (tmp_path / "ring.py").write_text(blocks(DOCS / "distributed.md")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    report = CliRunner().invoke(migrate, ["--check", "--select", "TL210", "ring.py"])
    assert shown in report.stdout


def test_the_guide_begins_with_what_the_plan_says() -> None:
    root = DOCS.parent
    page = (DOCS / "torchscript.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```text\n(TorchScript in .*?)^```$", page, re.M | re.S)
    report = CliRunner().invoke(plan, [str(root / "fixtures/legacy_project")])
    # What has a fix without an answer changes with every rule that learns something.
    found, then = shown.split(";")
    said = " ".join(report.stdout.split())  # lines end where the terminal does
    assert said.startswith(" ".join(found.split()))
    assert re.sub(r"\d+ ha\w+|\d+", "N", " ".join(then.split())) in re.sub(r"\d+ ha\w+|\d+", "N", said)


def test_the_answers_of_the_guide_are_a_configuration(tmp_path: Path) -> None:
    page = (DOCS / "torchscript.md").read_text(encoding="utf-8")
    (answers,) = re.findall(r"^```toml\n(.*?)^```$", page, re.M | re.S)
    (tmp_path / "pyproject.toml").write_text(answers, encoding="utf-8")
    stated = load_config(tmp_path).torchscript
    assert stated == TorchScriptIntent("drop", "successor", "eager", ("deploy/*.pt",))
    for key, value in re.findall(r'^\| `(\w+) = "(\w+)"`', page, re.M):
        (tmp_path / "pyproject.toml").write_text(f'[tool.torchlift.torchscript]\n{key} = "{value}"\n', encoding="utf-8")
        assert getattr(load_config(tmp_path).torchscript, key) == value


@pytest.mark.exhaustive  # it compiles C++
@pytest.mark.skipif(shutil.which("g++") is None or sys.platform != "linux", reason="AOTInductor needs a C++ compiler")
def test_the_compiled_package_of_the_guide_runs(tmp_path: Path, processes: FreshProcesses) -> None:
    assert len(COMPILED) == 1
    code = "\n\n".join([BLOCKS[0], *COMPILED])
    result = run_program(Program(code), "result = 1", folder=tmp_path, processes=processes)
    assert not isinstance(result.result, Raised), result.trace
