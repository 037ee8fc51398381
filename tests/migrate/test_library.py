"""The library call does what the command does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from torchlift.migrate import Config, Mode, RunResult, load_config, migrate, project_config
from torchlift.migrate.cli import migrate as command
from torchlift.migrate.tell.report import render
from torchlift.migrate.tell.report.diff import run_patch
from torchlift.migrate.workspace.config import ConfigError
from torchlift.rules.registry import all_rules, url_of
from torchlift.versions import TorchVersion

ROOT = Path(__file__).parents[2]
OLD = "import torch\n\nx = torch.ger(a, b)\n"
PROJECTS: dict[str, Mapping[str, str]] = {
    "one file": {"a.py": OLD},
    "a bound and a configuration": {
        "pyproject.toml": '[project]\nname = "p"\nversion = "1"\ndependencies = ["torch>=2.4"]\n'
        '[tool.torchlift]\nignore = ["TL102"]\nexclude = ["gen"]\n'
        '[tool.torchlift.per-file-ignores]\n"quiet.py" = ["TL401"]\n',
        "a.py": OLD,
        "quiet.py": OLD,
        "gen/b.py": OLD,
        "net.py": "import torch\n\nnet = torch.jit.script(torch.nn.ReLU())\n",
    },
    "files that belong together": {
        "pkg/__init__.py": "",
        "pkg/write.py": "import torch\n\n\ndef write(net, x):\n    torch.jit.trace(net, x).save('net.pt')\n",
        "pkg/read.py": "import torch\n\nnet = torch.jit.load('net.pt')\n",
        "run.sh": "python -m torch.distributed.launch train.py\n",
        "requirements.txt": "torch>=2.6\n",
    },
    "a file that does not parse": {"a.py": OLD, "bad.py": "x = (\n# torchlift: ignore[TL401] why\n"},
    "nothing": {"README": ""},
}


def put(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def shown(result: RunResult) -> str:
    rules = all_rules().values()
    names = {rule.code: rule.name for rule in rules}
    urls = {rule.code: url for rule in rules if (url := url_of(rule)) is not None}
    return render(result, "json", root=result.root, color=False, names=names, urls=urls)


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("project", PROJECTS)
def test_the_command_and_the_library_have_the_same_result(
    project: str, mode: Mode, unsafe: bool, tmp_path: Path
) -> None:
    theirs, ours = (put(tmp_path / name / "project", PROJECTS[project]) for name in ("theirs", "ours"))
    flags = {Mode.CHECK: ["--check"], Mode.DIFF: ["--diff"], Mode.WRITE: []}[mode]
    options = [*flags, *(["--unsafe-fixes"] if unsafe else []), "--allow-no-vcs", "--output-format", "json"]
    done = CliRunner().invoke(command, [str(theirs), *options])
    config = replace(project_config([ours]), unsafe_fixes=unsafe, allow_no_vcs=True)
    result = migrate([ours], config, mode=mode, want_edits=True)
    assert done.exit_code == result.exit_code
    assert files_in(theirs) == files_in(ours)
    patch = run_patch(result, "").decode() if mode is Mode.DIFF else ""
    printed = done.stdout.replace(str(theirs), str(ours))
    assert printed == patch if mode is Mode.DIFF else json.loads(printed) == json.loads(shown(result))


def test_without_a_configuration_the_project_s_own_counts(tmp_path: Path) -> None:
    put(tmp_path, PROJECTS["a bound and a configuration"])
    result = migrate([tmp_path], mode=Mode.CHECK)
    assert [outcome.path for outcome in result.outcomes] == ["a.py"]
    assert result.min_torch == TorchVersion(2, 4) and result.min_torch_source == "pyproject.toml:4"
    assert load_config(tmp_path) == project_config([tmp_path / "a.py"])
    every = migrate([tmp_path], Config(), mode=Mode.CHECK)
    assert {outcome.path for outcome in every.outcomes} == {"a.py", "quiet.py", "gen/b.py", "net.py"}


def test_files_without_a_history_are_not_written_unless_that_is_allowed(tmp_path: Path) -> None:
    put(tmp_path, {"a.py": OLD})
    (refused,) = migrate([tmp_path]).outcomes
    assert refused.refused is not None and "--allow-no-vcs" in refused.refused
    assert (tmp_path / "a.py").read_text() == OLD
    migrate([tmp_path], Config(allow_no_vcs=True))
    assert (tmp_path / "a.py").read_text() == OLD.replace("ger", "outer")


def test_given_text_is_migrated_and_not_written(tmp_path: Path) -> None:
    put(tmp_path, {"a.py": "x = 1\n"})
    (outcome,) = migrate([tmp_path / "a.py"], given=OLD.encode()).outcomes
    assert outcome.new_text == OLD.replace("ger", "outer") and outcome.refused is None
    assert (tmp_path / "a.py").read_text() == "x = 1\n"


def test_what_cannot_be_parsed_comes_out_of_the_filter_as_it_went_in(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["-", "--stdin-filename", str(tmp_path / "a.py")], input="x = torch.ger(\n")
    assert done.exit_code == 1 and done.stdout == "x = torch.ger(\n" and "TL902" in done.stderr


def test_a_rule_that_there_is_not_raises(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="TL999"):
        migrate([tmp_path], Config(select=("TL999",)))


def test_progress_is_told_file_by_file(tmp_path: Path) -> None:
    put(tmp_path, {"a.py": OLD, "b.py": OLD})
    told: list[tuple[str, int, int]] = []
    migrate([tmp_path], mode=Mode.CHECK, progress=lambda *step: told.append(step))
    assert told == [("select", 1, 2), ("select", 2, 2), ("check", 1, 2), ("check", 2, 2)]


def test_the_documented_call_prints_what_the_page_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "library.md").read_text()
    code, printed = (re.findall(rf"^```{kind}\n(.*?)^```$", page, re.M | re.S)[0] for kind in ("python", "text"))
    lines = re.findall(r"`([^`]*)`", page[page.index("For a project") : page.index("```text")])
    text = f"{lines[1]}\n\n{lines[2]}\n{lines[3]}\n"
    put(tmp_path / "project", {lines[0]: text})
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == printed


def test_importing_the_package_loads_nothing_of_a_run() -> None:
    code = "import sys, torchlift.migrate; print(*(name for name in sys.modules if name.startswith('torchlift.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["torchlift.migrate"]
    with pytest.raises(ImportError, match="cannot import name 'no_such_name'"):
        exec("from torchlift.migrate import no_such_name")
