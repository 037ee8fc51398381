"""The migration guide: its code runs, and its table is that of the rules."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from torchlift.rules.guide import with_rules
from torchlift.testing import FreshProcesses, Program, run_program
from torchlift.testing.nodes import Raised

PAGE = Path(__file__).parent.parent / "docs" / "torchscript.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
COMPILED = [block for block in BLOCKS if "aoti_compile_and_package" in block]


def test_the_table_of_rules_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_rules(page), "run `python -m torchlift.rules.guide docs/torchscript.md`"


def test_every_block_of_code_of_the_guide_runs(tmp_path: Path, processes: FreshProcesses) -> None:
    assert len(BLOCKS) > 10 and all(
        "assert" in block or "import" in block or "AssertionError" in block for block in BLOCKS
    )
    code = "\n\n".join(block for block in BLOCKS if block not in COMPILED)
    result = run_program(Program(code), "result = 1", folder=tmp_path, processes=processes)
    assert not isinstance(result.result, Raised), result.trace


@pytest.mark.skipif(shutil.which("g++") is None or sys.platform != "linux", reason="AOTInductor needs a C++ compiler")
def test_the_compiled_package_of_the_guide_runs(tmp_path: Path, processes: FreshProcesses) -> None:
    assert len(COMPILED) == 1
    code = "\n\n".join([BLOCKS[0], *COMPILED])
    result = run_program(Program(code), "result = 1", folder=tmp_path, processes=processes)
    assert not isinstance(result.result, Raised), result.trace
