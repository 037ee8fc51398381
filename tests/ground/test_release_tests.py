"""Version tests that the lowest torch of a project decides, and whether code below them counts as guarded."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from example_project import all_findings, analyse_files

from torchlift.project import Project
from torchlift.source import SourceText
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView
from torchlift.view.guards import is_guarded
from torchlift.view.release_tests import decided

_LOWEST = TorchVersion(2, 9)
_IMPORTS = "import torch\nfrom packaging import version\nfrom packaging.version import Version\nV = Version(torch.__version__)\n"
_IMPORTS += """import operator
from accelerate.utils import is_torch_version
from lightning_utilities.core.imports import compare_version
from monai.utils import pytorch_after
from transformers.utils import is_torch_greater_or_equal
MAJOR = int(torch.__version__.split(".")[0])
MINOR = int(torch.__version__.split(".")[1])
UNPACKED, _ = map(int, torch.__version__.split(".")[:2])
LISTED, LISTED_MINOR = [int(x) for x in torch.__version__.split(".")[:2]]
NUMBERS = [int(x) for x in torch.__version__.split(".")[:2]]
TORCH_VERSION = tuple(int(part) for part in torch.__version__.split(".")[:2])
def requires(v): return V >= Version(v)
def over(major, minor=0):
    "Doc."
    if not HAVE_PACKAGING:
        raise ImportError
    return TORCH_VERSION >= (major, minor)
def between(low=None, high=None):
    now = version.parse(torch.__version__)
    if low and version.parse(str(low)) > now:
        return False
    if high and version.parse(str(high)) < now:
        return False
    return True
def now(): return torch.__version__
def strictly(v, equal=True):
    if equal:
        return version.parse(now()) >= version.parse(v)
    return version.parse(version.parse(now()).base_version) > version.parse(v)
@torch_only
def decorated(v): return V >= Version(v)
def about_cuda(v): return Version(torch.version.cuda) >= Version(v)
def changed(v):
    v = other(v)
    return V >= Version(v)
HAS_OUTER = hasattr(torch, "outer")
HAS_FIELD = hasattr(config, "field")
TORCH_GREATER_2_5 = requires("2.5")
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
        ('torch.__version__.startswith("1.")', False),
        ('torch.__version__.startswith("2.1.")', False),
        ('torch.__version__.startswith("1.1")', False),
        ('not torch.__version__.startswith(("1",)[0]) or torch.__version__ >= "2.0"', True),
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
        ('requires("2.5")', True),
        ('requires(v="2.5")', True),
        ('not requires("2.5")', False),
        ("over(2, 5)", True),
        ("over(2)", True),
        ("between(2.5)", True),
        ('between(high="2.5")', False),
        ('strictly("2.9")', True),
        ('strictly("2.8", equal=False)', True),
        ("TORCH_GREATER_2_5", True),
        ("not TORCH_GREATER_2_5", False),
        ('Version("1.10") <= V', True),
        ('Version("1.10") > V', False),
        ('is_torch_greater_or_equal("2.5")', True),
        ('is_torch_version("<", "2.5")', False),
        ('compare_version("torch", operator.ge, "2.5.0")', True),
        ("pytorch_after(2, 5)", True),
    ],
)
def test_a_version_test_that_every_supported_torch_answers_alike_is_decided(test: str, answer: bool) -> None:
    assert _decision(test) is answer


@pytest.mark.parametrize(
    "test",
    [
        'V >= Version("2.10")',
        'torch.__version__.startswith("2")',
        'torch.__version__.startswith("2.9")',
        'torch.__version__.startswith("2.1")',  # 2.10 to 2.19
        'torch.__version__.startswith("cpu")',
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
        'requires("2.10")',
        'requires(OLDEST)',
        'over(2, 10)',
        'between(high="2.10")',
        'strictly("2.9", equal=False)',
        'decorated("2.5")',
        'about_cuda("2.5")',
        'changed("2.5")',
        'is_torch_version(OPERATOR, "2.5")',
        'compare_version("numpy", operator.ge, "1.0")',
        'other("2.5")',
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
        ('if torch.__version__.startswith("2"):\n    pass\nelse:\n    mark()\n', True),
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
        ('if requires("2.12"):\n    mark()\n', True),
        ('if requires("2.5"):\n    mark()\n', False),
        ('if requires("2.5"):\n    pass\nelse:\n    mark()\n', True),
        ('if requires("2.5") and flag:\n    mark()\n', False),
        ("if over(2, 12) and flag:\n    mark()\n", True),
        ('if other("2.12"):\n    mark()\n', False),
        ("if HAS_OUTER:\n    pass\nelse:\n    mark()\n", True),
        ("if HAS_FIELD:\n    mark()\n", False),
    ],
)
def test_a_decided_version_test_guards_only_the_branch_that_never_runs(code: str, guarded: bool) -> None:
    view = _view(_IMPORTS + code)
    mark = next(node for node in ast.walk(view.tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "mark")
    assert is_guarded(view, mark, _LOWEST) is guarded


@pytest.mark.parametrize(
    ("code", "guarded"),
    [
        ('if hasattr(torch, "there"):\n    mark()\n', False),
        ('if hasattr(torch, "there") and flag:\n    mark()\n', False),
        ('if hasattr(torch, "there"):\n    pass\nelse:\n    mark()\n', True),
        ('if not hasattr(torch, "gone"):\n    mark()\n', False),
        ('if hasattr(torch, "gone"):\n    mark()\n', True),
        ('if "there" in dir(torch):\n    mark()\n', False),
        ('if "there" not in dir(torch):\n    mark()\n', True),
        ('if hasattr(torch, "unknown"):\n    mark()\n', True),
        ('HAS = hasattr(torch, "there")\nif HAS:\n    mark()\n', False),
        ('def has(name):\n    return hasattr(torch, name)\nif has("there"):\n    mark()\n', False),
        ("if hasattr(torch, name):\n    mark()\n", True),
    ],
)
def test_a_question_for_a_name_that_torch_has_guards_only_the_branch_without_it(code: str, guarded: bool) -> None:
    view = _view("import torch\n" + code)
    mark = next(node for node in ast.walk(view.tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "mark")
    assert is_guarded(view, mark, has={"torch.there": True, "torch.gone": False}.get) is guarded


@pytest.mark.parametrize(
    ("test", "answer", "guarded"),
    [
        ('requires("2.5")', True, False),
        ('not requires("2.5")', False, True),
        ('compat.requires("2.5")', True, False),
        ('again("2.5")', True, False),
        ("IS_NEW", True, False),
        ("compat.IS_NEW", True, False),
        ("not compat.IS_NEW", False, True),
        ('requires("2.12")', None, True),
        ("HAS_OUTER", None, True),
        ("DEBUG", None, False),
    ],
)
def test_helpers_and_constants_are_read_in_the_file_that_defines_them(
    tmp_path: Path, test: str, answer: bool | None, guarded: bool
) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/compat.py": "import torch\nfrom packaging.version import parse\n\nDEBUG = True\nV = parse(torch.__version__)\n"
        'HAS_OUTER = hasattr(torch, "outer")\n\n\ndef requires(release: str) -> bool:\n    return V >= parse(release)\n\n\n'
        'IS_NEW = requires("2.5")\n',
        "pkg/shown.py": "from .compat import requires as again\n",
        "pkg/a.py": "from . import compat\nfrom .compat import DEBUG, HAS_OUTER, IS_NEW, requires\nfrom .shown import again\n\n"
        f"if {test}:\n    mark()\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    project = Project(tmp_path, sorted(files))
    view = project.parse("pkg/a.py")
    choice = view.tree.body[-1]
    assert isinstance(choice, ast.If)
    assert decided(view, choice.test, _LOWEST, project.binding) is answer
    assert is_guarded(view, choice.body[0], _LOWEST, project.binding) is guarded


@pytest.mark.parametrize(
    ("code", "guarded"),
    [
        # decided before the change of torch 2.4 came: only the branch of older releases is not asked about
        ('if V >= Version("2.2"):\n    mark()\n', False),
        ('if V >= Version("2.2"):\n    pass\nelse:\n    mark()\n', True),
        ('if V < Version("2.2"):\n    mark()\n', True),
        ('if V < Version("2.2"):\n    pass\nelse:\n    mark()\n', False),
        ('x = None if V < Version("2.2") else mark()\n', False),
        # a test of a release that knows of the change was written for it
        ('if V >= Version("2.4"):\n    mark()\n', True),
        ('if V < Version("2.4"):\n    mark()\n', True),
        ('if V >= Version("2.6"):\n    pass\nelse:\n    mark()\n', True),
        # what an early end leaves for the code behind it
        ('def f():\n    if V >= Version("2.2"):\n        return new()\n    return mark()\n', True),
        ('def f():\n    if V < Version("2.2"):\n        return old()\n    return mark()\n', False),
        ('def f():\n    if V < Version("1.10"):\n        raise ImportError\n    return mark()\n', False),
        ('def f():\n    if V >= Version("1.10"):\n        return new()\n    return mark()\n', True),
        ('def f():\n    if V >= Version("2.4"):\n        return new()\n    return mark()\n', True),
        ("for x in y:\n    if MAJOR < 2:\n        continue\n    mark()\n", False),
        ('for x in y:\n    if not requires("2.2"):\n        z()\n        break\n    mark()\n', False),
        ('def f():\n    if V >= Version("2.2"):\n        x = new()\n    return mark()\n', False),
        ('def f():\n    if V >= Version("2.2") and flag:\n        return new()\n    return mark()\n', False),
        ('def f():\n    if hasattr(torch, "compile"):\n        return new()\n    return mark()\n', False),
    ],
)
def test_of_an_open_version_test_only_the_older_releases_branch_is_left_alone(code: str, guarded: bool) -> None:
    view = _view(_IMPORTS + code)
    mark = next(node for node in ast.walk(view.tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "mark")
    assert is_guarded(view, mark, TorchVersion(2, 3, 999)) is guarded


@pytest.mark.parametrize(
    ("test", "runs"),
    [
        ('V >= Version("2.9")', True),
        ('V > Version("2.9")', False),
        ('V >= Version("2.8") and V < Version("2.10")', True),
        ("MAJOR == 2 and MINOR >= 9", True),
        ("MAJOR == 2 and MINOR < 9", False),
        ("(MAJOR > 1) or (MAJOR == 1 and MINOR >= 10)", True),
        ("int(SPLIT_MAJOR) > 1 or int(SPLIT_MINOR) >= 10", True),
        ("int(SPLIT_MAJOR) < 2 or int(SPLIT_MINOR) < 9", False),
        ('torch.__version__[0] == "1"', False),
        ("int(torch.__version__[0]) >= 2", True),
        ("int(PARTS[1]) < 9", False),
        ('torch.__version__.startswith("2.9.")', True),
        ('torch.__version__.startswith("2.8")', False),
        ('requires("2.10")', False),
    ],
)
def test_of_a_branch_on_the_release_the_one_that_the_target_runs_is_code_like_any_other(test: str, runs: bool) -> None:
    parts = 'SPLIT_MAJOR, SPLIT_MINOR = torch.__version__.split(".")[:2]\nPARTS = torch.__version__.split(".")\n'
    view = _view(f"{_IMPORTS}{parts}if {test}:\n    first()\nelse:\n    second()\n")
    choice = view.tree.body[-1]
    assert isinstance(choice, ast.If)
    assert is_guarded(view, choice.body[0], _LOWEST, only=True) is not runs
    assert is_guarded(view, choice.orelse[0], _LOWEST, only=True) is runs


@pytest.mark.parametrize(("test", "lines"), [("'2.2'", [8]), ("'2.10'", []), ("'2.12'", [])])
def test_a_capture_is_asked_about_behind_a_test_of_an_older_release_only(
    test: str, lines: list[int], tmp_path: Path
) -> None:
    code = "import torch\nfrom packaging.version import parse\n\n\ndef f(net, x):\n"
    code += f"    if parse(torch.__version__) < parse({test}):\n        return torch.jit.trace(net, x)\n"
    code += "    return torch.jit.trace(net, x)\n"
    found = all_findings(analyse_files(tmp_path, {"m.py": code}, min_torch=TorchVersion(1, 10)))
    assert [code.count("\n", 0, item.span.start) + 1 for item in found if item.code == "TL101"] == lines


@pytest.mark.parametrize(
    ("release", "lines"),
    [("1.12", [8]), ("2.3", [8]), ("2.4", []), ("2.6", [])],
)
def test_the_branch_for_newer_releases_is_asked_about_unless_it_knows_of_the_change(
    release: str, lines: list[int], tmp_path: Path
) -> None:
    code = "import torch\nfrom packaging.version import parse\n\n\ndef f(x):\n"
    code += f"    if parse(torch.__version__) < parse('{release}'):\n        return torch.cuda.amp.autocast()\n"
    code += "    return torch.cuda.amp.autocast()\n"
    found = all_findings(analyse_files(tmp_path, {"m.py": code}, min_torch=TorchVersion(1, 10)))
    assert [code.count("\n", 0, item.span.start) + 1 for item in found if item.code == "TL423"] == lines


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('assert numpy.__version__ == "0.3.1"\n    ', True),
        ('assert torchaudio.__version__ < "2.9"\n    ', False),
        ('assert numpy.__version__ < "2" and torch.__version__ < "2.9"\n    ', False),
        ('if Version(numpy.__version__) >= Version("2"):\n        ', True),
        ('if Version(SCIPY) >= Version("1"):\n        ', True),
        ('if Version(TORCH_VERSION) < Version("2.9"):\n        ', False),
        ('if any((numpy.__version__ < "2", is_torch_1_13)):\n        ', False),
        ("if supported(numpy.__version__, torch_version):\n        ", False),
        ('if parsed(numpy.__version__) > parsed("2"):\n        ', True),
        ('if numpy.__version__ < "2" and Version(torch.__version__) < Version("2.9"):\n        ', False),
    ],
)
def test_the_version_of_another_package_says_nothing_of_what_torch_has(line: str, told: bool, tmp_path: Path) -> None:
    code = "import numpy\nimport torch\nimport torchaudio\nfrom packaging.version import Version\nfrom scipy import __version__ as SCIPY\n"
    code += f"from mine import TORCH_VERSION\n\n\ndef f(path):\n    {line}return torchaudio.info(path)\n"
    found = all_findings(analyse_files(tmp_path, {"m.py": code}))
    assert ["TL402" in {finding.code for finding in found}] == [told]


@pytest.mark.parametrize(
    "handler", ["except:", "except Exception:", "except AttributeError:", "except (AttributeError, TypeError):"]
)
@pytest.mark.parametrize(
    ("line", "silent"),
    [
        ("kind = torch.gels", True),
        ("kind = torch.gels(a, b)[0]", False),
    ],
)
def test_an_attribute_alone_is_guarded_by_whatever_catches_that_it_is_missing(
    handler: str, line: str, silent: bool, tmp_path: Path
) -> None:
    code = f"import torch\n\ntry:\n    {line}\n{handler}\n    kind = torch.linalg.lstsq\n"
    assert (all_findings(analyse_files(tmp_path, {"m.py": code})) == []) is silent


@pytest.mark.parametrize("handler", ["except:", "except Exception:"])
@pytest.mark.parametrize("line", ["kind = torch.gels(a, b).solution", "kind = {1: torch.gels}.values"])
def test_a_call_is_not_guarded_by_a_handler_of_any_error_though_an_attribute_is_read_from_it(
    handler: str, line: str, tmp_path: Path
) -> None:
    code = f"import torch\n\ntry:\n    {line}\n{handler}\n    kind = torch.linalg.lstsq\n"
    assert [finding.code for finding in all_findings(analyse_files(tmp_path, {"m.py": code}))] == ["TL402"]
