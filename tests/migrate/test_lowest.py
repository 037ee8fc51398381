"""Which torch is taken for the lowest, what says so, and what becomes of fixes that need a newer one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from torchlift.finding import Safety
from torchlift.migrate import Config, Mode, RunResult, migrate
from torchlift.migrate.workspace.lowest import Lowest, lowest_torch
from torchlift.versions import LATEST, TorchVersion

OLD = "import torch\n\nx = torch.ger(a, b)\n"
TRACE = "import torch\n\nnet = torch.nn.ReLU()\ntraced = torch.jit.trace(net, torch.rand(2, 3))\n"
"""Its fix needs torch 2.5."""
UNNAMED = "No requirement names a lowest torch"


def put(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def checked(folder: Path, files: Mapping[str, str], config: Config | None = None) -> RunResult:
    return migrate([put(folder, files)], config or Config(), mode=Mode.CHECK)


def lowest_in(result: RunResult) -> tuple[str, str | None]:
    return str(result.min_torch), result.min_torch_source


DOCKER = {"Dockerfile": "FROM pytorch/pytorch:2.4.0-cuda12.1-cudnn9-devel\n"}
CI = {".github/workflows/a.yml": "matrix:\n  torch: [2.3, 2.6]\n"}
PYTHON = {"pyproject.toml": '[project]\nname = "p"\nrequires-python = ">=3.13"\ndependencies = ["torch"]\n'}


def test_a_requirement_decides_over_what_the_project_is_run_with(tmp_path: Path) -> None:
    files = {"setup.py": "setup(install_requires=['torch>=2.1'])", **DOCKER, **CI}
    assert lowest_torch(put(tmp_path, files)) == Lowest(TorchVersion(2, 1), "setup.py:1")


def test_the_lowest_release_that_the_project_is_run_with_counts(tmp_path: Path) -> None:
    found = lowest_torch(put(tmp_path, {**DOCKER, **CI, **PYTHON}))
    assert found == Lowest(
        TorchVersion(2, 3),
        ".github/workflows/a.yml:2",
        (f"{UNNAMED}; 2.3 is taken, which .github/workflows/a.yml:2 runs it with, the lowest of 3 places.",),
    )


OLD_IMAGE = {"docker/Dockerfile": "FROM pytorch/pytorch:1.10.0-cuda11.3-cudnn8-devel\n"}


def test_an_older_image_that_no_job_builds_is_passed_over_where_jobs_name_releases(tmp_path: Path) -> None:
    found = lowest_torch(put(tmp_path, {**OLD_IMAGE, **CI}))
    assert (found.release, found.source) == (TorchVersion(2, 3), ".github/workflows/a.yml:2")
    assert found.why[0] == "docker/Dockerfile:1 has 1.10, and no job is seen to build it: it was passed over."
    built = CI[".github/workflows/a.yml"] + "run: docker build -f docker/Dockerfile .\n"
    assert lowest_torch(put(tmp_path, {".github/workflows/a.yml": built})).release == TorchVersion(1, 10)
    (tmp_path / ".github/workflows/a.yml").unlink()
    assert lowest_torch(tmp_path).release == TorchVersion(1, 10)


def test_a_lock_file_alone_does_not_make_the_newest_release_the_lowest(tmp_path: Path) -> None:
    lock = '[[package]]\nname = "torch"\nversion = "{}"\n'
    found = lowest_torch(put(tmp_path, {"uv.lock": lock.format(LATEST), **PYTHON}))
    assert (found.release, found.source) == (TorchVersion(2, 5), "pyproject.toml:3")
    assert found.why[0].startswith(f"uv.lock:3 has {LATEST}, which was the newest when it was locked")
    assert lowest_torch(put(tmp_path, {"uv.lock": lock.format("2.9.1")})).source == "uv.lock:3"


def test_the_folder_next_to_the_named_path_is_asked_before_those_around_it(tmp_path: Path) -> None:
    put(tmp_path, {**CI, "part/Dockerfile": DOCKER["Dockerfile"], "part/a.py": OLD, "other/a.py": OLD})
    assert lowest_torch(tmp_path, tmp_path / "part").source == "part/Dockerfile:1"
    assert lowest_torch(tmp_path, tmp_path / "other").source == ".github/workflows/a.yml:2"


@pytest.mark.parametrize(
    ("files", "lowest"),
    [
        (PYTHON, ("2.5", "pyproject.toml:3", "the first for Python 3.13, which pyproject.toml:3 asks for")),
        (
            {"setup.py": "setup(python_requires='>=3.12,<3.14')"},
            ("2.2", "setup.py:1", "the first for Python 3.12, which setup.py:1 asks for"),
        ),
        (
            {
                "setup.cfg": "[metadata]\nclassifiers =\n  Programming Language :: Python :: 3\n"
                "  Programming Language :: Python :: 3.13\n  Programming Language :: Python :: 3.12\n"
            },
            ("2.2", "setup.cfg:5", "the first for Python 3.12, which setup.cfg:5 asks for"),
        ),
    ],
)
def test_the_pythons_asked_for_leave_out_what_has_no_wheel_for_them(
    tmp_path: Path, files: Mapping[str, str], lowest: tuple[str, str, str]
) -> None:
    release, source, why = lowest
    found = lowest_torch(put(tmp_path, files))
    assert (str(found.release), found.source, found.at_least) == (release, source, True)
    assert found.why == (f"{UNNAMED}; {release} is taken, {why}.",)


@pytest.mark.parametrize("bound", [">=3.6", ">=3.10", "<3.12", ">=3.40", "==3.*"])
def test_other_pythons_leave_the_oldest_release_that_is_known(tmp_path: Path, bound: str) -> None:
    found = lowest_torch(put(tmp_path, {"pyproject.toml": f'[project]\nrequires-python = "{bound}"\n'}))
    assert (found.release, found.source, found.at_least) == (TorchVersion(2), None, True)
    assert found.why == (
        f"{UNNAMED}, and nothing else tells it; 2.0 is taken, the oldest release that torchlift knows.",
    )


@pytest.mark.parametrize("tag", ["nvcr.io/nvidia/pytorch:22.03-py3", "pytorch/pytorch:nightly-devel-cuda10.0-cudnn7"])
def test_an_image_that_brings_a_torch_of_unknown_release_is_named(tmp_path: Path, tag: str) -> None:
    found = lowest_torch(put(tmp_path, {"Dockerfile": f"# ours\nFROM {tag}\n"}))
    assert (found.release, found.source, found.at_least) == (TorchVersion(2), None, True)
    assert found.why == (
        f"{UNNAMED}, and Dockerfile:2 has an image whose torch is not known; 2.0 is taken, the oldest release that torchlift knows.",
    )


def test_an_image_of_ngc_from_before_a_release_tells_the_one_before(tmp_path: Path) -> None:
    found = lowest_torch(put(tmp_path, {"Dockerfile": "FROM nvcr.io/nvidia/pytorch:24.05-py3\n"}))
    assert (found.release, found.source) == (TorchVersion(2, 3), "Dockerfile:1")


def test_what_is_not_understood_is_told_with_what_is_taken(tmp_path: Path) -> None:
    result = checked(tmp_path, {"requirements.txt": "torch=2.1\n", "a.py": OLD})
    assert result.notes[0] == "The torch requirement in requirements.txt:1 is not understood (`=2.1`) and was left out."


def test_nobody_is_told_where_there_is_nothing_to_migrate_or_the_user_said_it(tmp_path: Path) -> None:
    assert checked(tmp_path, {"a.py": "import torch\n"}).notes == ()
    said = checked(tmp_path, {"a.py": OLD}, Config(min_torch=TorchVersion(2, 6)))
    assert said.notes == () and said.min_torch == TorchVersion(2, 6)


# What the code needs

FLEX = "torch.nn.attention.flex_attention"
NEEDED = f"{UNNAMED}; 2.5 is taken, the first with `{FLEX}"


@pytest.mark.parametrize(
    "line",
    [
        f"from {FLEX} import flex_attention, create_block_mask as mask",
        f"from {FLEX} import (\n    create_block_mask,  # for masks\n    flex_attention,\n)",
        f"import {FLEX} as flex",
        f"import torch\nclass A({FLEX}.BlockMask): ...",
        f"import torch\nclass A:\n    @{FLEX}.decorate\n    def f(self): ...",
    ],
)
def test_the_newest_name_that_a_module_needs_is_the_floor(tmp_path: Path, line: str) -> None:
    older = "from torch.distributed.checkpoint.state_dict import StateDictOptions\n"
    result = checked(tmp_path, {"a.py": OLD, "p/__init__.py": older, "p/model.py": f"{line}\n"})
    assert result.min_torch == TorchVersion(2, 5)
    assert result.min_torch_source is not None and result.min_torch_source.startswith("p/model.py:")
    assert result.notes[-1].startswith(NEEDED)


@pytest.mark.parametrize(
    "text",
    [
        f"def f():\n    from {FLEX} import flex_attention\n",
        f"try:\n    from {FLEX} import flex_attention\nexcept ImportError:\n    flex_attention = None\n",
        f"if torch_has_flex():\n    from {FLEX} import flex_attention\n",
        f"import torch\nif torch.__version__ < '2.5':\n    raise ImportError\nfrom {FLEX} import flex_attention\n",
        f"import torch\nf = lambda: {FLEX}.flex_attention\n",
        f"import torch\nf = hasattr(torch.nn, 'attention') and {FLEX}.flex_attention\n",
        f'"""Usage:\n\nfrom {FLEX} import flex_attention\n"""\n',
        f"from __future__ import annotations\nimport torch\nx: {FLEX}.BlockMask\n",
        f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from {FLEX} import BlockMask\n",
        "import torch.xpu\n",
        "from torch.nn import flex_attention\nfrom flex_attention import create_block_mask\n",
        "from torch.library import custom_op",
    ],
)
def test_what_a_module_may_do_without_is_no_floor(tmp_path: Path, text: str) -> None:
    result = checked(tmp_path, {"a.py": OLD, "p/model.py": text})
    assert result.min_torch == (TorchVersion(2, 4) if "custom_op" in text else TorchVersion(2))


def test_tests_and_examples_are_for_newer_releases_more_often_than_the_project(tmp_path: Path) -> None:
    new = f"from {FLEX} import flex_attention\n"
    result = checked(tmp_path, {"a.py": OLD, "tests/test_a.py": new, "examples/a.py": new, "broken.py": new + "x = ("})
    assert lowest_in(result) == ("2.0", None)


def test_one_file_has_the_floor_of_its_project(tmp_path: Path) -> None:
    put(tmp_path, {"a.py": OLD, "b.py": f"from {FLEX} import flex_attention\n", "setup.py": ""})
    assert lowest_in(migrate([tmp_path / "a.py"], Config(), mode=Mode.CHECK)) == ("2.5", "b.py:1")


def test_names_newer_than_the_target_are_no_floor(tmp_path: Path) -> None:
    new = {"a.py": OLD, "b.py": f"from {FLEX} import flex_attention\n"}
    # The module around it is a name of 2.3.
    assert lowest_in(checked(tmp_path, new, Config(target=TorchVersion(2, 4)))) == ("2.3", "b.py:1")


# What it is for


def test_a_fix_above_a_floor_that_nobody_stated_waits_for_a_review_and_says_what_to_state(tmp_path: Path) -> None:
    result = checked(tmp_path, {"a.py": TRACE})
    [finding] = [finding for outcome in result.outcomes for finding in outcome.left]
    assert finding.safety is Safety.UNSAFE and "`--min-torch 2.5` would say that the project has" in (
        finding.help or ""
    )
    assert result.notes[-1] == (
        f"{UNNAMED}, and nothing else tells it; 2.0 is taken, the oldest release that torchlift knows. "
        "1 fix needs a newer one, up to 2.5: `--min-torch 2.5` if the project does, too."
    )


@pytest.mark.parametrize(
    ("line", "new"),
    [
        ("index = torch.accelerator.current_device_idx()", "index = torch.accelerator.current_device_index()"),
        ("scaler = torch.cpu.amp.GradScaler()", 'scaler = torch.amp.GradScaler("cpu")'),
    ],
)
def test_a_fix_asks_for_no_newer_torch_than_what_it_takes_the_place_of(tmp_path: Path, line: str, new: str) -> None:
    source = f"import torch\n\n\ndef f():\n    {line}\n"
    result = checked(tmp_path, {"a.py": source})
    assert lowest_in(result) == ("2.0", None)
    [finding] = [finding for outcome in result.outcomes for finding in outcome.left]
    assert finding.safety is Safety.SAFE and finding.help is None and "newer one" not in result.notes[-1]
    migrate([tmp_path / "a.py"], Config(allow_no_vcs=True), mode=Mode.WRITE)
    assert new in (tmp_path / "a.py").read_text()


def test_what_the_project_is_run_with_may_be_out_of_date_so_that_a_fix_above_it_is_for_review(tmp_path: Path) -> None:
    result = checked(tmp_path, {"a.py": TRACE, "b.py": f"from {FLEX} import flex_attention\n", **CI})
    assert lowest_in(result) == ("2.3", ".github/workflows/a.yml:2")
    [finding] = [finding for outcome in result.outcomes for finding in outcome.left if finding.path == "a.py"]
    assert finding.safety is Safety.UNSAFE and "`--min-torch 2.5` would say that the project has" in (
        finding.help or ""
    )


def test_a_fix_above_a_requirement_is_withheld(tmp_path: Path) -> None:
    result = checked(tmp_path, {"a.py": TRACE, "requirements.txt": "torch>=2.3\n"})
    [finding] = [finding for outcome in result.outcomes for finding in outcome.left]
    assert finding.fix is None and "`--min-torch 2.5` says that" in (finding.help or "")


def test_a_fix_above_an_exact_pin_is_withheld(tmp_path: Path) -> None:
    result = checked(tmp_path, {"a.py": TRACE, "requirements.txt": "torch==2.3.1\n"})
    [finding] = [item for outcome in result.outcomes for item in outcome.left if item.path == "a.py"]
    assert finding.fix is None and "requirements.txt:1 asks for torch 2.3.1. `--min-torch 2.5` says that" in (
        finding.help or ""
    )


def test_a_fix_above_one_of_several_pins_names_the_lowest(tmp_path: Path) -> None:
    pins = {"requirements.txt": "torch==2.3.1\n", "requirements-gpu.txt": "torch==2.4.0\n"}
    result = checked(tmp_path, {"a.py": TRACE, **pins})
    [finding] = [item for outcome in result.outcomes for item in outcome.left if item.path == "a.py"]
    assert "and requirements.txt:1 asks for torch 2.3.1. `--min-torch 2.5` says that" in (finding.help or "")


@pytest.mark.parametrize(
    "name", ["packaging/torch-cpu/reqs_pip_torch.txt", "req-gpu.txt", "ci/pip/requirements_old.txt"]
)
def test_a_list_that_no_metadata_names_withholds_what_is_above_it(tmp_path: Path, name: str) -> None:
    pinned = {name: "numpy\ntorch==2.1.2+cpu -f https://download.pytorch.org/whl/torch_stable.html\n"}
    result = checked(tmp_path, {"a.py": TRACE, "examples/req.txt": "torch==1.4\n", **pinned})
    assert lowest_in(result) == ("2.1.2", f"{name}:2")
    [finding] = [item for outcome in result.outcomes for item in outcome.left if item.path == "a.py"]
    assert finding.fix is None and f"{name}:2 asks for torch 2.1.2" in (finding.help or "")


def test_jobs_decide_over_a_list_that_no_metadata_names(tmp_path: Path) -> None:
    found = lowest_torch(put(tmp_path, {"deploy/reqs_old.txt": "torch==1.9\n", **CI}))
    assert (found.release, found.pinned) == (TorchVersion(2, 3), False)


def test_a_fix_that_the_floor_allows_is_safe(tmp_path: Path) -> None:
    result = checked(tmp_path, {"a.py": TRACE, "b.py": f"from {FLEX} import flex_attention\n"})
    [finding] = [finding for outcome in result.outcomes for finding in outcome.left]
    assert finding.safety is Safety.SAFE
    assert result.notes[-1].endswith("If it is another, say so with `--min-torch`.")
