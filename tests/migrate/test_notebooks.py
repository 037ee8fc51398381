"""`torchlift migrate` on Jupyter notebooks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from torch_programs import TorchPrograms

from torchlift.cli import torchlift
from torchlift.migrate.output_formats import OUTPUT_FORMATS
from torchlift.notebook import read_source

CELLS = (
    "%matplotlib inline\n!pip install torch==1.13.1+cu116 --extra-index-url https://download.pytorch.org/whl/cu116\nimport torch",
    "class Net(torch.nn.Module):\n    def forward(self, x):\n        return x.relu() + torch.ger(x[0], x[0])[:1, :1]\n\nmodel = Net().eval()\nexample = torch.arange(12.).reshape(4, 3)",
    "traced = torch.jit.trace(model, example)\nprint(traced(example))\ntraced.save('m.pt')",
    "x = torch\nno python with torch",
    "loaded = torch.jit.load('m.pt')\nprint(loaded(example * 2))",
)


def write(path: Path, cells: tuple[str, ...] = CELLS) -> bytes:
    """A notebook with outputs that nothing may touch."""
    outputs: list[Any] = [{"name": "stdout", "output_type": "stream", "text": ["torch.ger\n"]}]
    code = [
        {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": outputs, "source": cell.splitlines(True)}
        for cell in cells
    ]
    text = {"cell_type": "markdown", "metadata": {}, "source": ["About `torch.ger`"]}
    data = json.dumps({"cells": [text, *code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1).encode()
    path.write_bytes(data)
    return data


def migrate(folder: Path, *options: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(torchlift, ["migrate", str(folder), "--allow-no-vcs", "--isolated", *options])
    return done.exit_code, done.stdout, done.stderr


def printed(programs: TorchPrograms, folder: Path, path: Path) -> Any:
    """What the Python of a notebook prints."""
    text = read_source(path.name, path.read_bytes()).text
    said = "said = []\nprint = lambda *given: said.append(' '.join(map(str, given)))\n"
    return programs.run(folder, {}, f"{said}{text}\nresult = said\n")


def test_findings_are_told_by_cell_and_line_in_every_format(tmp_path: Path) -> None:
    write(tmp_path / "a.ipynb")
    places = {"TL309": "cell 2:2", "TL101": "cell 4:1", "TL902": "cell 5:2", "TL103": "cell 6:1", "TL401": "cell 3:3"}
    _, said, _ = migrate(tmp_path, "--check", "--output-format", "concise")
    for code, place in places.items():
        assert re.search(rf"a\.ipynb:{place}:\d+: {code}", said), code
    status, found, _ = migrate(tmp_path, "--check", "--output-format", "json")
    by_code = {one["code"]: one for one in json.loads(found)["findings"]}
    assert (status, by_code["TL401"]["cell"], by_code["TL401"]["location"]) == (1, 3, {"row": 3, "column": 27})
    raw = (tmp_path / "a.ipynb").read_text().splitlines()
    _, said, _ = migrate(tmp_path, "--check", "--output-format", "github")
    line = next(int(match[1]) for match in re.finditer(r"line=(\d+).*cell 4, line 1", said))
    assert "torch.jit.trace" in raw[line - 1]
    _, frames, _ = migrate(tmp_path, "--check")
    assert "2 | !pip install torch==1.13.1+cu116" in frames
    assert "# ipython|" not in frames


def test_a_fixed_notebook_prints_what_it_printed_and_a_second_run_changes_nothing(
    torch_programs: TorchPrograms, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    old, path = write(tmp_path / "a.ipynb"), tmp_path / "a.ipynb"
    apart = tmp_path_factory.mktemp("apart")
    before = printed(torch_programs, apart / "before", path)
    assert len(before[1]) == 2, before
    migrate(tmp_path, "--unsafe-fixes", "--min-torch", "2.8", "--select", "TL1,TL4")
    new = path.read_bytes()
    assert printed(torch_programs, apart / "after", path) == before
    assert b"torch.outer(x[0], x[0])" in new
    assert b"torch.export.export(" in new
    assert b"torch.export.load('m.pt2').module()" in new
    changed = set(old.splitlines()) ^ set(new.splitlines())
    assert all(re.search(rb"torch\.(jit|export|ger|outer)|traced", line) for line in changed), changed
    migrate(tmp_path, "--unsafe-fixes", "--min-torch", "2.8", "--select", "TL1,TL4")
    assert path.read_bytes() == new


def test_commands_in_cells_are_rewritten_as_in_scripts(tmp_path: Path) -> None:
    write(tmp_path / "a.ipynb")
    options = ("--gpus", "H100", "--driver", "590.44", "--select", "TL3", "--unsafe-fixes")
    _, patch, _ = migrate(tmp_path, "--diff", *options)
    added = [line for line in patch.splitlines() if line.startswith("+ ")]
    assert len(added) == 1
    assert added[0].strip("+ ,").startswith('"!pip install torch==2.15')


@pytest.mark.parametrize(
    "first", [CELLS[0], "%%bash\npip install torch==1.13.1", "def f():\n    !pip install torch==1.13.1\n    return 1"]
)
def test_a_command_that_gets_longer_moves_no_code_behind_it(tmp_path: Path, first: str) -> None:
    write(tmp_path / "a.ipynb", (first, "import torch\n\nx, y = torch.ones(2), torch.ones(2)\nprint(torch.ger(x, y))"))
    _, patch, said = migrate(tmp_path, "--diff", "--gpus", "H100", "--driver", "595.58.03", "--unsafe-fixes")
    assert "defect" not in said, said
    assert "torch==2.15.0" in patch and "torch.outer(x, y)" in patch


@pytest.mark.parametrize(
    "own", ["from torch import lu_solve", "from torch import lu_solve  # why", "from torch import lu_solve\n\n"]
)
@pytest.mark.parametrize("other", ["", "\n\n", "import os"])
@pytest.mark.parametrize("first", [True, False])
def test_a_cell_of_which_nothing_is_left_is_an_empty_one(tmp_path: Path, own: str, other: str, first: bool) -> None:
    path, cells = tmp_path / "a.ipynb", [own, other, "def f(a, b, c):\n    return lu_solve(b, a, c)", "import torch"]
    write(path, tuple(cells if first else [other, *cells]))
    options = ("--unsafe-fixes", "--min-torch", "2.13")
    _, _, said = migrate(tmp_path, *options)
    assert "defect" not in said, said
    new = path.read_bytes()
    assert b"torch.linalg.lu_solve(a, c, b)" in new and b"import lu_solve" not in new
    assert len(json.loads(new)["cells"]) == len(cells) + 2 - first
    migrate(tmp_path, *options)
    assert path.read_bytes() == new


@pytest.mark.parametrize(
    ("cells", "kept"),
    [
        (
            ("from torch.cuda.amp import autocast", "%timeit autocast()", "with torch.cuda.amp.autocast():\n    pass"),
            b"import autocast",
        ),
        (("import torch", "x = torch.jit.script(f)\n%cd there"), b"%cd there"),
    ],
    ids=["a name that a magic uses", "a line beside the edit"],
)
def test_what_ipython_runs_stays(cells: tuple[str, ...], kept: bytes, tmp_path: Path) -> None:
    write(tmp_path / "a.ipynb", cells)
    migrate(tmp_path, "--unsafe-fixes", "--torchscript", "drop")
    assert kept in (tmp_path / "a.ipynb").read_bytes()


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
@pytest.mark.parametrize("other", ["", "\n", "import os"])
def test_tidying_leaves_cells_of_which_nothing_is_left_apart(tmp_path: Path, end: str, other: str) -> None:
    use = "def f(x):\n    return torch.jit.isinstance(x, Tuple[int, Optional[str]])"
    write(tmp_path / "a.ipynb", ("import torch", f"from typing import Optional, Tuple{end}", other, use))
    _, _, said = migrate(tmp_path, "--torchscript", "drop", "--min-torch", "2.13")
    new = json.loads((tmp_path / "a.ipynb").read_bytes())
    assert "defect" not in said and len(new["cells"]) == 5
    assert "isinstance(x, tuple)" in "".join(new["cells"][4]["source"])


@pytest.mark.parametrize("form", [name for name in OUTPUT_FORMATS if name != "json"])
def test_every_form_lists_what_is_found_in_a_notebook(form: str, tmp_path: Path) -> None:
    write(tmp_path / "a.ipynb")
    status, out, err = migrate(tmp_path, "--check", "--output-format", form)
    assert status == 1 and "torch.ger" in out and "defect" not in err


def test_a_plan_names_places_of_notebooks_by_cell(tmp_path: Path) -> None:
    write(tmp_path / "a.ipynb", CELLS[:3] + CELLS[4:])
    done = CliRunner().invoke(torchlift, ["plan", str(tmp_path), "--isolated"])
    assert re.findall(r"cell \d+:\d+", " ".join(done.stdout.split())) == ["cell 4:1", "cell 5:1"]


def test_nothing_imports_a_notebook_and_what_is_none_is_told_once(tmp_path: Path) -> None:
    write(tmp_path / "torch_helpers.ipynb", ("import torch\ntorch.ger(a, b)",))
    (tmp_path / "a.py").write_text("from torch_helpers import ger\nger(1, 2)\n")
    (tmp_path / "broken.ipynb").write_text('{"cells": [torch.jit.script')
    status, said, errors = migrate(tmp_path, "--check", "--output-format", "concise")
    assert status == 1, errors
    broken, found = said.splitlines()
    assert "broken.ipynb:1:1: TL902" in broken
    assert "torch_helpers.ipynb:cell 2:2:1: TL401" in found


def test_a_notebook_too_large_to_read_is_told_of_where_it_speaks_of_torch(tmp_path: Path) -> None:
    for name, words in ("a", b"import numpy"), ("b", b"import torch"):
        (tmp_path / f"{name}.ipynb").write_bytes(b" " * ((1 << 20) - 9) + words + b" " * 20_000_000)
    _, said, _ = migrate(tmp_path, "--check", "--output-format", "concise")
    assert re.findall(r"(\w)\.ipynb:1:1: TL902 .*larger than 20 MB", said) == ["b"]


def test_what_is_remembered_of_notebooks_is_what_is_found_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TORCHLIFT_NO_CACHE", raising=False)
    project = tmp_path / "project"
    project.mkdir()
    write(project / "a.ipynb")
    (project / "b.py").write_text("import torch\nmodel = torch.jit.load('m.pt')\n")
    report = ("--check", "--output-format", "json")
    for old, new in (("", ""), ("'m.pt'", "'n.pt'"), ("torch.ger(", "torch.outer(")):
        path = project / "a.ipynb"
        path.write_text(path.read_text().replace(old, new) if old else path.read_text())
        for _ in range(2):
            known = migrate(project, *report, "--cache-dir", str(tmp_path / "cache"))
            assert known == migrate(project, *report, "--no-cache")
    assert list((tmp_path / "cache/entries").iterdir())
