"""Pins of torch and what has to move with them: the Python they are installed into, other pins of the project, its index."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from torchlift.dependencies.grammar import read_pin
from torchlift.finding import Finding, Safety
from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.dependencies.installed.reading import sets_of
from torchlift.rules.dependencies.moves.holding import lists_of
from torchlift.rules.dependencies.moves.moving import _is_below
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Settings
from torchlift.source import SourceText
from torchlift.versions import TorchVersion
from torchlift.view.text import TextView, text_kind
from torchlift.wheels.machine import Device, Machine

H100 = Machine((Device("H100", (9, 0)),), driver="595.58.03")
RULES = frozenset(code for code in all_rules() if code.startswith("TL3"))
CU = "https://download.pytorch.org/whl/"
WORKFLOW = ".github/workflows/test.yml"


def run(
    folder: Path, files: Mapping[str, str], *, unsafe: bool = True, machine: Machine | None = None, also: str = ""
) -> RunResult:
    for name, text in {**files, **({also: "{}\n"} if also else {})}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    python = tuple(sorted(name for name in files if name.endswith(".py")))
    texts = tuple(sorted(name for name in files if text_kind(name) is not None))
    wanted = Settings(min_torch=TorchVersion(2, 0), machine=machine)
    result = analyse(RunOptions(folder, python, Mode.DIFF, RULES, unsafe, wanted, texts=texts))
    assert [failure.detail or failure.reason for failure in result.failures] == []
    return result


def written(result: RunResult) -> dict[str, str]:
    return {outcome.path: outcome.new_text for outcome in result.outcomes if outcome.new_text is not None}


def left(result: RunResult, code: str) -> list[Finding]:
    return [finding for outcome in result.outcomes for finding in outcome.left if finding.code == code]


def job(*steps: str, above: str = "") -> str:
    return f"on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n{above}    steps:\n{''.join(f'    - {step}' for step in steps)}"


def setup_python(version: str) -> str:
    return f"uses: actions/setup-python@v5\n      with:\n        python-version: {version}\n"


TORCH = "run: pip install torch==1.13.1\n"


def test_the_python_of_a_job_goes_up_with_its_torch(tmp_path: Path) -> None:
    new = written(run(tmp_path, {WORKFLOW: job(setup_python("3.8"), TORCH)}))[WORKFLOW]
    assert new == job(setup_python("3.11"), TORCH.replace("1.13.1", "2.15.0"))
    assert written(run(tmp_path, {WORKFLOW: new})) == {} and left(run(tmp_path, {WORKFLOW: new}), "TL307") == []


def test_a_pin_above_the_python_of_its_job_is_an_error(tmp_path: Path) -> None:
    text = job(setup_python("3.8"), TORCH.replace("1.13.1", "2.15.0"))
    (finding,) = left(run(tmp_path, {WORKFLOW: text}), "TL307")
    assert finding.severity.value == "error" and "no wheel for Python 3.8" in finding.message


@pytest.mark.parametrize(
    ("above", "python"),
    [
        ("    strategy:\n      matrix:\n        python: ['3.8', '3.12']\n", "${{ matrix.python }}"),
        (
            "    strategy:\n      matrix:\n        include:\n        - python: 3.8\n        - python: 3.9\n",
            "${{ matrix.python }}",
        ),
    ],
)
def test_a_pin_stays_where_several_pythons_of_the_job_are_too_old(tmp_path: Path, above: str, python: str) -> None:
    result = run(tmp_path, {WORKFLOW: job(setup_python(python), TORCH, above=above)})
    assert written(result) == {}
    (finding,) = left(result, "TL309")
    assert finding.help is not None and "It needs Python 3.11" in finding.help


def test_a_row_of_a_matrix_moves_as_a_whole(tmp_path: Path) -> None:
    row = "    strategy:\n      matrix:\n        include:\n        - os: linux\n          python: 3.8\n          torch: 1.13.1\n"
    text = job(setup_python("${{ matrix.python }}"), "run: pip install torch==${{ matrix.torch }}\n", above=row)
    new = written(run(tmp_path, {WORKFLOW: text}))[WORKFLOW]
    assert new == text.replace("3.8", "3.11").replace("1.13.1", "2.15.0")
    (finding,) = left(run(tmp_path, {WORKFLOW: text.replace("1.13.1", "2.15.0")}), "TL307")
    assert finding.severity.value == "error"


def test_a_build_in_a_row_is_not_given_a_version_it_never_had(tmp_path: Path) -> None:
    row = "    strategy:\n      matrix:\n        include:\n        - python: '3.12'\n          torch: 2.3.1+cu118\n"
    text = job(setup_python("${{ matrix.python }}"), "run: pip install torch==${{ matrix.torch }}\n", above=row)
    assert written(run(tmp_path, {WORKFLOW: text})) == {}


def test_the_python_of_another_job_is_none_of_a_pin(tmp_path: Path) -> None:
    text = (
        job(setup_python("'3.12'"), TORCH) + f"  lint:\n    steps:\n    - {setup_python('3.8')}    - run: ruff check\n"
    )
    result = run(tmp_path, {WORKFLOW: text})
    assert written(result)[WORKFLOW] == text.replace("1.13.1", "2.15.0") and left(result, "TL307") == []


def test_the_image_of_a_gitlab_job_goes_up_and_that_of_others_stays(tmp_path: Path) -> None:
    text = "lint:\n  image: python:3.8\n  script: ruff check\ntest:\n  image: python:3.9-slim\n  script:\n  - pip install torch==2.3.1\n"
    new = written(run(tmp_path, {".gitlab-ci.yml": text}))[".gitlab-ci.yml"]
    assert new == text.replace("3.9", "3.11").replace("2.3.1", "2.15.0")


def test_an_image_whose_tags_are_not_known_keeps_its_python_and_its_torch(tmp_path: Path) -> None:
    assert written(run(tmp_path, {"Dockerfile": "FROM python:3.8-alpine\nRUN pip install torch==2.0.1\n"})) == {}
    text = "FROM python:3.8.10-slim\nRUN pip install torch==2.0.1\n"
    new = written(run(tmp_path, {"Dockerfile": text}))["Dockerfile"]
    assert new == "FROM python:3.11-slim\nRUN pip install torch==2.15.0\n"


def test_a_python_that_is_newer_than_all_wheels_is_not_lowered(tmp_path: Path) -> None:
    assert written(run(tmp_path, {"Dockerfile": "FROM python:3.16\nRUN pip install torch==2.14.1\n"})) == {}


BUILD = '[build-system]\nrequires = ["setuptools", "torch==1.13.1"]\n'
SETUP = 'from setuptools import setup\n\nsetup(name="a", python_requires=">=3.7", install_requires=["torch==1.13.1"])\n'


def test_what_a_project_is_built_with_and_what_it_requires_move_together(tmp_path: Path) -> None:
    new = written(run(tmp_path, {"pyproject.toml": BUILD, "setup.py": SETUP}))
    assert new["pyproject.toml"] == BUILD.replace("1.13.1", "2.15.0")
    assert new["setup.py"] == SETUP.replace("1.13.1", "2.15.0").replace("3.7", "3.11")


@pytest.mark.parametrize(
    "other",
    [
        {"setup.py": SETUP.replace(">=3.7", "==3.8.*")},
        {"setup.py": SETUP.replace('"torch==1.13.1"', '"torch==1.13.1", "xformers==0.0.16"')},
        {"requirements.txt": "torch==1.13.1 --hash=sha256:0123456789abcdef\n"},
        {"Dockerfile": "FROM pytorch/pytorch:1.13.1-cuda11.6-cudnn8-devel\nRUN pip install torch==1.13.1\n"},
    ],
)
def test_where_one_pin_of_a_project_cannot_move_none_does(tmp_path: Path, other: Mapping[str, str]) -> None:
    result = run(tmp_path, {"pyproject.toml": BUILD, **other})
    assert written(result) == {}
    assert any("applied together or not at all" in (finding.help or "") for finding in left(result, "TL309"))


def test_a_suppressed_pin_keeps_its_project_together(tmp_path: Path) -> None:
    kept = SETUP.replace('"torch==1.13.1"])', '"torch==1.13.1"])  # torchlift: ignore[TL309]')
    assert written(run(tmp_path, {"pyproject.toml": BUILD, "setup.py": kept})) == {}


def test_a_requirement_of_another_version_does_not_hold_the_project(tmp_path: Path) -> None:
    new = written(
        run(tmp_path, {"setup.py": SETUP, "requirements.txt": "torch==1.12.0 --hash=sha256:0123456789abcdef\n"})
    )
    assert set(new) == {"setup.py"}


def test_classifiers_of_dropped_pythons_are_named(tmp_path: Path) -> None:
    text = (
        '[project]\nname = "a"\nrequires-python = ">=3.9"\nclassifiers = [\n  "Programming Language :: Python :: 3.9",\n'
        '  "Programming Language :: Python :: 3.12",\n]\ndependencies = ["torch==2.3.1"]\n'
    )
    (finding,) = left(run(tmp_path, {"pyproject.toml": text}, unsafe=False), "TL309")
    assert finding.safety is Safety.UNSAFE and "classifiers of older ones (line 5)" in (finding.help or "")


@pytest.mark.parametrize("lock", ["", "uv.lock", "poetry.lock"])
def test_a_lock_file_is_spoken_of_where_there_is_one(tmp_path: Path, lock: str) -> None:
    text = '[project]\nname = "a"\nrequires-python = ">=3.11"\ndependencies = ["torch==2.3.1"]\n'
    (finding,) = left(run(tmp_path, {"pyproject.toml": text}, unsafe=False, also=lock), "TL309")
    assert ("lock file" in (finding.help or "")) == bool(lock)


def test_a_page_of_links_gives_way_to_the_index_of_the_build(tmp_path: Path) -> None:
    text = f"FROM python:3.12\nRUN pip install torch==1.13.1+cpu torchvision==0.14.1+cpu -f {CU}torch_stable.html\n"
    expected = f"FROM python:3.12\nRUN pip install torch==2.15.0+cpu torchvision==0.29.2+cpu --index-url {CU}cpu\n"
    assert written(run(tmp_path, {"Dockerfile": text}))["Dockerfile"] == expected
    assert written(run(tmp_path, {"Dockerfile": text}, machine=H100))["Dockerfile"] == expected
    beside = text.replace("torch==1.13.1+cpu", "numpy torch==1.13.1+cpu")
    assert f"--extra-index-url {CU}cpu" in written(run(tmp_path, {"Dockerfile": beside}))["Dockerfile"]


@pytest.mark.parametrize("page", [f"{CU}nightly/cpu/torch_nightly.html", f"{CU}lts/1.8/torch_lts.html", "$LINKS"])
def test_other_pages_of_links_are_left_alone_whatever_the_gpus(tmp_path: Path, page: str) -> None:
    assert written(run(tmp_path, {"a.sh": f"pip install torch==1.8.2 -f {page}\n"}, machine=H100)) == {}


@pytest.mark.parametrize(
    "page",
    [
        "(in case CUDA 9 as driver:\n`pip install torch==1.7.1+cu92 -f {links}`)\n",
        "- GPUs with CUDA 11.1: `pip install torch==1.8.0+cu111 -f {links}`\n- others: nothing\n",
        "For old drivers:\n\n```bash\npip install torch==1.7.1+cu92 -f {links}\n```\n",
        "```bash\n# CUDA 10.2\npip install torch==1.7.1+cu92 -f {links}\n```\n",
    ],
)
def test_a_command_that_a_page_says_is_for_some_hardware_stays(tmp_path: Path, page: str) -> None:
    text = f"# Tool\n\n{page.format(links=CU + 'torch_stable.html')}"
    assert written(run(tmp_path, {"README.md": text}, machine=H100)) == {}


def test_a_command_is_not_held_back_by_what_is_said_of_another_one(tmp_path: Path) -> None:
    text = f"- CUDA 9: `pip install torch==1.7.1+cu92`\n- else: `pip install torch==2.3.1 --index-url {CU}cu121`\n"
    new = written(run(tmp_path, {"README.md": text}, machine=H100))["README.md"]
    assert new == text.replace("2.3.1", "2.15.0").replace("cu121", "cu132")


def test_what_the_choice_depends_on_is_told_once_a_line(tmp_path: Path) -> None:
    result = run(tmp_path, {"requirements.txt": f"-f {CU}torch_stable.html\ntorch==1.7.1+cu92\n"})
    (index,), (pin,) = left(result, "TL301"), left(result, "TL309")
    assert index.help is not None and "depends on the machine" in index.help
    assert pin.help == "It goes with its index, of which TL301 speaks."


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("torch<2.8 ; sys_platform == 'darwin'", "It is for macOS, where torch comes from PyPI"),
        ("torch==2.13.0+xpu ; sys_platform == 'win32'", "Its build, xpu, comes from an index of its own"),
        ("torch==2.5.1 ; sys_platform == 'linux'", "It goes with its index"),
    ],
)
def test_what_comes_from_elsewhere_does_not_go_with_an_index(tmp_path: Path, condition: str, said: str) -> None:
    text = f"--extra-index-url {CU}cu121\ntorch==2.5.1+cu121 ; platform_machine == 'x86_64'\n{condition}\n"
    found = left(run(tmp_path, {"requirements.txt": text}, unsafe=False), "TL309")
    assert said in (found[-1].help or "")


def test_an_older_pin_with_a_build_is_raised_with_its_index(tmp_path: Path) -> None:
    text = "torch==2.10.0 ; python_version > '3.10'\ntorch==2.7.1+cu128 ; sys_platform != 'linux'\n"
    found = left(run(tmp_path, {"requirements.txt": text}, unsafe=False), "TL309")
    assert any("with its build (cu128) and the index it comes from" in (finding.help or "") for finding in found)


@pytest.mark.parametrize(
    ("said", "told"),
    [("It does not support torch 2.4 yet.\nDowngrade to torch 2.3.*", False), ("Take torch 2.3", True)],
)
def test_a_remedy_on_a_page_is_no_pin(tmp_path: Path, said: str, told: bool) -> None:
    page = f"# Errors\n\n{said}:\n\n```bash\npip install 'torch<2.4'\n```\n"
    assert bool(left(run(tmp_path, {"docs/trouble.md": page}, unsafe=False), "TL309")) is told


@pytest.mark.parametrize(
    "other", ["numpy==1.19.4", "pandas == 0.25.1", "scikit_learn==0.21.3", "numpy>=1.17,<1.20", "scipy<=1.5"]
)
def test_torch_stays_beside_a_pin_that_forbids_its_python(tmp_path: Path, other: str) -> None:
    result = run(tmp_path, {"requirements.txt": f"{other}\ntorch==1.8.0\n"})
    assert written(result) == {}
    (finding,) = left(result, "TL309")
    assert "It needs Python 3.11" in (finding.help or "") and f"`{other}` beside it" in (finding.help or "")


@pytest.mark.parametrize(
    "other", ["numpy==1.26.4", "numpy>=1.17,<2", "numpy!=1.19.4", "numpy", "pandas>=0.25", "tqdm==4.1"]
)
def test_torch_moves_beside_a_pin_that_its_python_has(tmp_path: Path, other: str) -> None:
    new = written(run(tmp_path, {"requirements.txt": f"{other}\ntorch==1.8.0\n"}))
    assert new["requirements.txt"] == f"{other}\ntorch==2.15.0\n"


@pytest.mark.parametrize(
    "other",
    [
        "pip install intel_extension_for_pytorch==2.1.0\n",
        "pip install --no-deps flash-attn==2.5.8\n",
        "python -m pip install 'xformers==0.0.22' -q\n",
    ],
)
def test_a_torch_stays_beside_another_command_that_installs_something_made_for_it(other: str, tmp_path: Path) -> None:
    result = run(tmp_path, {"install.sh": f"pip install torch==2.1.0\n{other}"})
    assert written(result) == {}
    assert "is bound to one torch or CUDA too" in (left(result, "TL309")[0].help or "")


def test_every_assumption_of_a_new_torch_is_named(tmp_path: Path) -> None:
    result = run(tmp_path, {"requirements.txt": "torch>=2.1,<2.4\n"}, unsafe=False)
    (finding,) = left(result, "TL309")
    assert "GPUs are taken to be" in (finding.help or "") and "The upper bound is taken to be caution" in (
        finding.help or ""
    )


def test_the_metadata_of_a_package_is_no_job(tmp_path: Path) -> None:
    metadata = "[metadata]\nname = a\n[options]\npython_requires = >=3.12\ninstall_requires =\n    torch==2.2.2\n"
    (finding,) = left(run(tmp_path, {"setup.cfg": metadata}, unsafe=False), "TL309")
    assert "GPUs are taken to be" in (finding.help or "") and "A job that tests" not in (finding.help or "")


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("Dockerfile", "ARG PYTORCH=1.6.0\nARG CUDA=10.1\nFROM pytorch/pytorch:${PYTORCH}-cuda${CUDA}-devel\n", "a part of the tag"),
        ("image.yml", "build:\n  torch_version: '2.13.0'\n  flash_attn_version: '2.8.3'\n", "because flash_attn in this file is"),
        ("Dockerfile", "FROM x\nARG TORCH=1.6.0\nRUN pip install torch==${TORCH}\nRUN pip install mmcv-full==1.3.8\n", "because mmcv-full in this file is"),
    ],
)  # fmt: skip
def test_a_value_stays_where_more_than_it_decides_about_torch(path: str, text: str, said: str, tmp_path: Path) -> None:
    result = run(tmp_path, {path: text})
    assert written(result) == {}
    assert any(said in (finding.help or "") for finding in left(result, "TL310"))


def test_a_python_beside_a_torch_in_a_variable_is_said_to_go_with_it(tmp_path: Path) -> None:
    text = "jobs:\n  build:\n    parameters:\n      torch:\n        default: 1.13.1\n    docker:\n      - image: cimg/python:3.9\n    steps:\n      - run: pip install torch==<< parameters.torch >>\n"
    for finding in left(run(tmp_path, {".circleci/config.yml": text}), "TL307"):
        assert "where the torch that this file asks for moves to 2.15" in (finding.help or "")


@pytest.mark.parametrize("path", ["docker/2.12/cpu.yml", "image/2.12-gpu.yml", "ci/torch2.12.yml"])
def test_a_file_for_one_release_says_so_by_its_name(path: str, tmp_path: Path) -> None:
    text = "build:\n  torch_version: '2.12.1'\n"
    assert left(run(tmp_path / "a", {path: text}), "TL310") == []
    assert left(run(tmp_path / "b", {"image/cuda12.12.yml": text}), "TL310") != []


def test_a_value_that_nothing_is_seen_to_take_is_not_raised(tmp_path: Path) -> None:
    result = run(tmp_path, {"image.yml": "build:\n  torch_version: '2.13.0'\n"})
    assert written(result) == {}
    assert all("Where torch is installed by it" in (finding.help or "") for finding in left(result, "TL310"))


@pytest.mark.parametrize(("heading", "told"), [("Install PyTorch", True), ("Prepare the training environment", False)])
def test_an_environment_of_a_page_ends_where_another_one_begins(heading: str, told: bool, tmp_path: Path) -> None:
    page = f"# Use\n```\nconda create -n check python=3.6\n```\n## {heading}\n```\nconda install pytorch==1.7.0 -c pytorch\n```\n"
    found = left(run(tmp_path, {"README.md": page}), "TL307")
    assert bool(found) is told


@pytest.mark.parametrize("path", ["requirements-torch2.3.txt", "ci/run_pytorch23/requirements.txt"])
def test_a_pin_in_a_file_for_one_release_stays(path: str, tmp_path: Path) -> None:
    result = run(tmp_path, {path: "torch==2.3.1\n"})
    (finding,) = left(result, "TL309")
    assert written(result) == {} and "another release gets a file of its own" in (finding.help or "")


@pytest.mark.parametrize(
    ("pin", "below"),
    [
        ("x==1.0", True),
        ("x==2.0", False),
        ("x<2.0", True),
        ("x<=2.0", False),
        ("x~=1.4", True),
        ("x>=2.1", False),
        ("x!=2.0", False),
        ("x<2.0,<3", True),
        ("x!=2.0,<3", False),
    ],
)
def test_a_requirement_is_below_a_release_when_it_takes_neither_that_nor_a_later_one(pin: str, below: bool) -> None:
    read = read_pin(pin, 0)
    assert read is not None and _is_below(read, "2.0") is below


@pytest.mark.parametrize(("index", "lists"), [("", 2), ('[tool.uv]\nindex-url = "https://download.pytorch.org/whl/cu121"\n', 1)])  # fmt: skip
def test_requirements_are_one_list_where_they_share_an_index(index: str, lists: int) -> None:
    text = f'[project]\ndependencies = ["torch>=2.1"]\noptional-dependencies.sound = ["torchaudio>=2.1"]\n{index}'
    (item,) = sets_of(TextView("pyproject.toml", "toml", SourceText(text)))
    assert [len(pins) for pins in lists_of(item)] == [2 // lists] * lists


@pytest.mark.parametrize(
    ("torch", "companion", "says"),
    [
        ("torch>=2.0", "torchvision==0.15.1", "GPUs are taken to be"),
        ("torch>=2.0", "torchvision==0.13.1", "GPUs are taken to be"),
        ("torch", "torchvision==0.21.0", "GPUs are taken to be"),
        ("torch>=2.4", "torchvision==0.28.0", "of torch 2.13"),
    ],
)
def test_a_companion_beside_an_open_torch_moves_for_review_and_is_compared_with_the_torch_it_belongs_to(
    tmp_path: Path, torch: str, companion: str, says: str
) -> None:
    result = run(tmp_path, {"requirements.txt": f"{torch}\n{companion}\n"}, unsafe=False)
    (finding,) = left(result, "TL309")
    assert finding.fix is not None and finding.fix.safety is Safety.UNSAFE
    assert says in (finding.help or "") and "left open moves too" in (finding.help or "")
    assert "of torch 2.15" not in (finding.help or "")
    known = run(tmp_path, {"requirements.txt": f"{torch}\n{companion}\n"}, unsafe=False, machine=H100)
    assert written(known) == {"requirements.txt": f"{torch}\ntorchvision==0.29.2\n"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("It doesn't support torch 2.6; use:", False),
        ("If it crashes, downgrade to", False),
        ("PyTorch 2.x is not compatible with it, so:", False),
        ("Windows is not supported. Install:", True),
        ("Older releases are incompatible with our code, so use this one:", True),
    ],
)
def test_an_old_command_is_left_alone_where_the_page_says_that_a_newer_torch_does_not_do(
    words: str, told: bool, tmp_path: Path
) -> None:
    result = run(tmp_path, {"README.md": f"{words}\n```\npip install torch==1.13.1\n```\n"})
    assert bool(left(result, "TL309") or written(result)) is told


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("ARG HUB=nvidia\nARG CUDA=11.8.0\nFROM ${HUB}/cuda:${CUDA}-devel-ubuntu22.04\n", 2),
        ("ARG CUDA\nFROM nvidia/cuda:${CUDA}-devel-ubuntu22.04\nENV CUDA=11.8.0\n", None),
    ],
)
def test_an_image_has_the_cuda_of_an_argument_above_it_and_is_told_there(
    text: str, line: int | None, tmp_path: Path
) -> None:
    found = left(run(tmp_path, {"Dockerfile": f"{text}RUN pip install torch==2.15.0\n"}), "TL302")
    assert [text.count("\n", 0, finding.span.start) + 1 for finding in found] == ([line] if line else [])
