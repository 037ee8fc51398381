"""Modules of a project are found through folders without `__init__.py`, too, from wherever they are imported."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files

from torchlift.finding import Safety
from torchlift.project import Project
from torchlift.search.module_files import ModuleFiles

DEFINITION = "def double(x):\n    return x * 2\n"
PLACES = ("python/tools/run.py", "python/pkg/ops/other.py", "python/pkg/train/run.py", "tests/test_ops.py")
IMPORTS = {
    "from pkg.ops.scale import double": ("double(1)", PLACES),
    "from pkg.ops.scale import double as twice": ("twice(1)", PLACES),
    "from pkg.ops import scale": ("scale.double(1)", PLACES),
    "import pkg.ops.scale": ("pkg.ops.scale.double(1)", PLACES),
    "import pkg.ops.scale as scale": ("scale.double(1)", PLACES),
    "from .scale import double": ("double(1)", ("python/pkg/ops/other.py",)),
    "from . import scale": ("scale.double(1)", ("python/pkg/ops/other.py",)),
    "from ..ops.scale import double": ("double(1)", ("python/pkg/train/run.py",)),
    "from ..ops import scale": ("scale.double(1)", ("python/pkg/train/run.py",)),
}


@pytest.mark.parametrize("packages", [(), ("python/pkg",), ("python/pkg", "python/pkg/ops")])
@pytest.mark.parametrize(
    ("line", "place"), [(line, place) for line, (_, places) in IMPORTS.items() for place in places]
)
def test_uses_through_folders_without_init_are_found(
    tmp_path: Path, line: str, place: str, packages: tuple[str, ...]
) -> None:
    texts = {"python/pkg/ops/scale.py": DEFINITION, place: f"{line}\n\n{IMPORTS[line][0]}\n"}
    texts |= {f"{folder}/__init__.py": "" for folder in packages}
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    project = Project(tmp_path, tuple(sorted(texts)))
    view = project.view("python/pkg/ops/scale.py")
    assert view is not None
    found = project.uses_elsewhere(view, "double")
    assert found is not None
    assert [(other.path, use.node.lineno) for other, use in found if use.kind == "call"] == [(place, 3)]


def test_a_folder_that_is_called_like_torch_does_not_take_its_place() -> None:
    files = ModuleFiles(("bench/run.py", "bench/torch/utils.py"))
    assert files.find("torch.utils", "bench/other/run.py") is None
    assert not files.may_own("torch", "other/run.py")


def test_a_path_that_two_folders_have_is_not_certain() -> None:
    files = ModuleFiles(("a/pkg/ops/scale.py", "b/pkg/ops/scale.py", "run.py"))
    assert files.find("pkg.ops.scale", "run.py") is None


def test_a_scripted_function_stays_where_a_file_asks_it_for_its_graph_through_such_a_folder(tmp_path: Path) -> None:
    files = {
        "python/pkg/ops/scale.py": f"import torch\n\n\n@torch.jit.script\n{DEFINITION}\n\nprint(double(torch.ones(2)))\n",
        "tests/look.py": "from pkg.ops import scale\n\nprint(scale.double.graph)\n",
    }
    (finding,) = all_findings(analyse_files(tmp_path, files))
    assert finding.safety is Safety.MANUAL and "tests/look.py:3" in str(finding.help)
