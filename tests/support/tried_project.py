"""A small project with tests of its own and rules whose fixes are good, or bad in a way that is known."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from repositories import commit

RULE = '''\
"""Calls of `library.{old}`."""

from torchlift.finding import AddImport, Finding, Fix, ReplaceExpression, Safety, Template
from torchlift.rules.rule import Bad, Ok, Rule

RULE = Rule(
    code="{code}", name="{name}", summary="A call of `library.{old}`", why="It is gone.", fix="Safe.",
    targets=("library.{old}",), sources=("our changelog",),
)


def check(use, context):
    if use.call is None:
        return
    span = context.view.span(use.call.func)
    rewrites = [ReplaceExpression(span, Template("library.{new}"))]
    if {imports!r}:
        rewrites.append(AddImport({imports!r}, context.view.span(context.view.tree.body[0])))
    fix = Fix("Call `library.{new}`", Safety.SAFE, tuple(rewrites))
    yield Finding("{code}", context.view.path, span, "`library.{old}` is gone.", fix=fix)


EXAMPLES = ()
'''

LIBRARY = """\
def double(x):
    return 2 * x


def twice(x):
    return 2 * x


def thrice(x):
    return 3 * x
"""

GOOD, BROKEN_IMPORT, WRONG, SILENT = "double", "double_imported", "double_asserted", "double_unasserted"
_RULES = {
    GOOD: ("X100", "twice", ""),
    BROKEN_IMPORT: ("X101", "twice", "from library import not_there"),
    WRONG: ("X102", "thrice", ""),
    SILENT: ("X103", "thrice", ""),
}


def write_rules(folder: Path) -> Path:
    """Write one rule for each name of `library` that is to go; `SILENT` and `WRONG` become another function."""
    folder.mkdir(parents=True, exist_ok=True)
    for old, (code, new, imports) in _RULES.items():
        name = old.replace("_", "-")
        text = RULE.format(code=code, name=name, old=old, new=new, imports=imports)
        (folder / f"{code.lower()}_{old}.py").write_text(text)
    return folder


def write_project(folder: Path, uses: Sequence[str], more: Mapping[str, str] | None = None) -> Path:
    """A project with a module `part_N` and a test of it for each of `uses`, in a repository where all is committed.

    The test of a part asserts its result, but for `SILENT`, where it only calls it.
    """
    files = {"library.py": LIBRARY + "".join(f"\n\ndef {old}(x):\n    return 2 * x\n" for old in _RULES if old != GOOD)}
    for number, old in enumerate(uses):
        files[f"part_{number}.py"] = (
            f"import library\n\n\ndef part(x):\n    y = library.{old}(x)\n    return y + {number}\n"
        )
        asserted = "part(3) is not None" if old == SILENT else f"part(3) == {6 + number}"
        files[f"tests/test_part_{number}.py"] = (
            f"from part_{number} import part\n\n\ndef test_part():\n    assert {asserted}\n"
        )
    files |= {
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
        ".gitignore": "__pycache__\n.pytest_cache\n",
    }
    for name, text in (files | dict(more or {})).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    commit(folder)
    return folder


def pytest_command(*arguments: str) -> str:
    """pytest of this interpreter, as a command for the shell; few plugins, since each costs at every run."""
    return " ".join([f'"{sys.executable}"', "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments])


CHECK = """\
import importlib, pathlib, sys

sys.path.insert(0, "")
{before}
for number, part in enumerate(sorted(pathlib.Path(".").glob("part_*.py"))):
    result = importlib.import_module(part.stem).part(3)
    asserted = "unasserted" not in pathlib.Path(part.name).read_text() and "thrice" not in part.read_text()
    assert not asserted or result == 6 + int(part.stem[5:]), part.stem
"""
SCRIPT_COMMAND = f'"{sys.executable}" check.py'
"""A command with an exit status and nothing else, which is over in a moment; `CHECK` is its program."""
