"""Version tests that the lowest torch of a project decides, and whether code below them counts as guarded."""

from __future__ import annotations

import ast

import pytest

from torchlift.source import SourceText
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView
from torchlift.view.guards import is_guarded
from torchlift.view.release_tests import decided

_LOWEST = TorchVersion(2, 9)
_IMPORTS = "import torch\nfrom packaging import version\nfrom packaging.version import Version\nV = Version(torch.__version__)\n"
_IMPORTS += """MAJOR = int(torch.__version__.split(".")[0])
MINOR = int(torch.__version__.split(".")[1])
UNPACKED, _ = map(int, torch.__version__.split(".")[:2])
LISTED, LISTED_MINOR = [int(x) for x in torch.__version__.split(".")[:2]]
NUMBERS = [int(x) for x in torch.__version__.split(".")[:2]]
TORCH_VERSION = tuple(int(part) for part in torch.__version__.split(".")[:2])
OTHER, _ = map(int, numpy.__version__.split(".")[:2])
"""


def _view(code: str) -> ModuleView:
    source = SourceText(code)
    return ModuleView("a.py", source, source.parse())


def _decision(test: str) -> bool | None:
    view = _view(f"{_IMPORTS}if {test}:\n    pass\n")
    statement = view.tree.body[-1]
    assert isinstance(statement, ast.If)
    return decided(view, statement.test, _LOWEST)


@pytest.mark.parametrize(
    ("test", "answer"),
    [
        ('version.parse(torch.__version__) >= version.parse("1.10")', True),
        ('version.parse(torch.__version__) < version.parse("1.10")', False),
        ('Version(torch.__version__.split("+")[0]) >= Version("2.9")', True),
        ('torch.__version__ >= "2.0"', True),
        ("torch.__version__ < (1, 13)", False),
        ('V >= Version("2.0.0")', True),
        ("V.release >= (2, 0)", True),
        ("V.major >= 2", True),
        ('int(torch.__version__.split(".")[0]) < 2', False),
        ('tuple(map(int, torch.__version__.split(".")[:2])) >= (1, 8)', True),
        ('not V >= Version("2.0")', False),
        ('V < Version("1.5") and flag', False),
        ('V > Version("1.5") or flag', True),
        ('V == Version("1.5")', False),
        ("MAJOR < 2", False),
        ("MAJOR == 1 and MINOR < 8", False),
        ("MAJOR > 1 or (MAJOR == 1 and MINOR >= 8)", True),
        ("(MAJOR, MINOR) >= (1, 8)", True),
        ("UNPACKED < 2", False),
        ("LISTED < 2", False),
        ("(LISTED, LISTED_MINOR) < (2, 1)", False),
        ("NUMBERS[0] < 2", False),
        ("TORCH_VERSION < (2, 0)", False),
    ],
)
def test_a_version_test_that_every_supported_torch_answers_alike_is_decided(test: str, answer: bool) -> None:
    assert _decision(test) is answer


@pytest.mark.parametrize(
    "test",
    [
        'V >= Version("2.10")',
        'V > Version("2.9")',
        'V == Version("2.9")',
        'V >= Version("1.5") and flag',
        'torch.__version__.split("+")[0] >= "2.8"',  # text: "2.10" is less than "2.8"
        'str(torch.__version__) >= "1.8"',
        'torch.version.cuda >= "11.0"',
        'Version(numpy.__version__) >= Version("1.0")',
        'tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 8, 1)',
        'V.minor >= 5',
        'V >= OLDEST',
        'MINOR >= 5',
        'LISTED_MINOR >= 5',
        'MAJOR == 2 and MINOR < 12',
        'NUMBERS[1] >= 5',
        'OTHER < 2',
        '(MINOR, MAJOR) >= (1, 8)',
    ],
)  # fmt: skip
def test_a_version_test_that_is_open_or_not_understood_decides_nothing(test: str) -> None:
    assert _decision(test) is None


@pytest.mark.parametrize(
    ("code", "guarded"),
    [
        ('if V >= Version("1.10"):\n    mark()\n', False),
        ('if V >= Version("1.10"):\n    pass\nelse:\n    mark()\n', True),
        ('if V < Version("1.10"):\n    mark()\n', True),
        ('if V < Version("1.10"):\n    pass\nelse:\n    mark()\n', False),
        ('if V >= Version("1.10") and flag:\n    mark()\n', False),
        ('if V >= Version("2.12"):\n    mark()\n', True),
        ('if V >= Version("1.10") and hasattr(torch, "compile"):\n    mark()\n', True),
        ('if V >= Version("2.12"):\n    if V >= Version("1.10"):\n        mark()\n', True),
        ('x = mark() if V >= Version("1.10") else None\n', False),
        ("if MAJOR < 2:\n    mark()\n", True),
        ('x = getattr(torch, "outer", None) or mark()\n', True),
        ('x = getattr(torch, "outer", mark())\n', True),
        ('x = mark() or getattr(torch, "outer", None)\n', False),
        ('x = getattr(config, "outer", mark())\n', False),
        ('x = getattr(config, "outer", None) or mark()\n', False),
        ("if MAJOR < 2:\n    pass\nelse:\n    mark()\n", False),
        ("if TORCH_MINOR > 12:\n    mark()\n", True),
    ],
)
def test_a_decided_version_test_guards_only_the_branch_that_never_runs(code: str, guarded: bool) -> None:
    view = _view(_IMPORTS + code)
    mark = next(node for node in ast.walk(view.tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "mark")
    assert is_guarded(view, mark, _LOWEST) is guarded
