"""Which names may stand in decorators, told from bytes: what decorates anything is never left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlift.project import Project
from torchlift.rules.torchscript.compilers.decorating_names import may_decorate

DECORATING = {
    "alone": "@THING\ndef f(): ...\n",
    "by a method": "@THING.register('a')\nclass F: ...\n",
    "as an argument, lines below": '@wrap(\n    (1,\n     # a bracket: (\n     \'(\', """\ndef no(): ...\n""",\n    ), THING)\ndef f(): ...\n',
    "in a class": "class A:\n    @staticmethod\n    @THING\n    def f(): ...\n",
    "behind a continued line": "@a.\\\nTHING.b\ndef f(): ...\n",
    "under another name": "from m import THING as other\n\n@other\ndef f(): ...\n",
    "under a name after the next": "from m import (a as b, THING \\\n    as c)\n\nimport n\nfrom m import c as d\n\n@d.x\ndef f(): ...\n",
}
SILENT = {
    "called": "THING.info('a')\n",
    "multiplied": "x = y @ THING\n",
    "imported under a name that decorates nothing": "from m import THING as log\n\n@other\ndef f(): ...\n",
    "behind a decorator": "@other(1)\ndef f():\n    THING.info('a')\n",
    "behind what looks like a decorator in a text": '"""\n@article{it\'s, title={a}}\n"""\nTHING.info("a")\n',
}


def project(folder: Path, code: str) -> Project:
    (folder / "a.py").write_text(code, encoding="utf-8")
    return Project(folder, ("a.py",))


@pytest.mark.parametrize("code", DECORATING.values(), ids=list(DECORATING))
def test_a_name_that_decorates_is_found(code: str, tmp_path: Path) -> None:
    assert may_decorate(project(tmp_path, code), "THING")


@pytest.mark.parametrize("code", SILENT.values(), ids=list(SILENT))
def test_a_name_that_does_not_is_left_out(code: str, tmp_path: Path) -> None:
    assert not may_decorate(project(tmp_path, code), "THING")


def test_a_name_with_other_letters_may_be_spelled_in_several_ways(tmp_path: Path) -> None:
    assert may_decorate(project(tmp_path, "x = 1\n"), "ﬁne")
