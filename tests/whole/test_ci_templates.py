"""What docs/ci.md offers to CI systems, run by the shell that they run it with."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from published_formats import junit
from repositories import commit

ROOT = Path(__file__).parents[2]
OLD = "import torch\n\n\ndef f(a, b):\n    return torch.ger(a, b)\n"

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="CI systems run these by bash")


def action_step(name: str) -> str:
    action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    [step] = [step for step in action["runs"]["steps"] if step["name"] == name]
    return str(step["run"])


def run(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    # As the runner starts `shell: bash`.
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    environment = {**os.environ, **environment}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def runner(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "runner"
    (home / "torchlift").mkdir(parents=True)
    (home / "torchlift/bin").symlink_to(Path(sys.executable).parent)
    return {
        "RUNNER_TEMP": str(home),
        "GITHUB_STEP_SUMMARY": str(home / "summary.md"),
        "GITHUB_OUTPUT": str(home / "output"),
        "GITHUB_ACTION_PATH": str(ROOT),
    }


@pytest.mark.parametrize(("fail", "status"), [("true", 1), ("false", 0)])
def test_the_action_annotates_summarises_and_hands_on_what_it_found(
    tmp_path: Path, runner: dict[str, str], fail: str, status: int
) -> None:
    (tmp_path / "a.py").write_text(OLD)
    done = run(action_step("Check"), tmp_path, ARGUMENTS="a.py --select TL4", FAIL=fail, **runner)
    assert done.returncode == status, done.stderr
    assert done.stdout.startswith("::warning title=TL401 moved-name,file=a.py,line=5,")
    home = Path(runner["RUNNER_TEMP"])
    assert "| moved-name | 1 | 1 safe |" in (home / "summary.md").read_text()
    assert (home / "output").read_text() == f"sarif={home}/torchlift.sarif\n"
    assert len(json.loads((home / "torchlift.sarif").read_text())["runs"][0]["results"]) == 1


def test_of_a_pull_request_the_action_annotates_what_is_new_and_code_scanning_gets_all(
    tmp_path: Path, runner: dict[str, str]
) -> None:
    project = tmp_path / "p"
    project.mkdir()
    (project / "a.py").write_text(OLD)
    since = commit(project)
    home = Path(runner["RUNNER_TEMP"])
    done = run(action_step("Check"), project, ARGUMENTS=".", SINCE=since, FAIL="true", **runner)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    (project / "b.py").write_text(OLD)
    done = run(action_step("Check"), project, ARGUMENTS=".", SINCE=since, FAIL="true", **runner)
    assert done.returncode == 1 and done.stdout.count("::warning ") == 1 and "file=b.py" in done.stdout
    results = json.loads((home / "torchlift.sarif").read_text())["runs"][0]["results"]
    assert len(results) == 2
    done = run(action_step("Check"), project, ARGUMENTS=". --select NONE", SINCE=since, FAIL="true", **runner)
    assert done.returncode == 2 and not (home / "torchlift.sarif").exists()
    assert (home / "summary.md").read_text().count("### torchlift: 1 finding") == 1


def test_what_could_not_be_done_fails_the_action_whatever_it_may_pass_over(
    tmp_path: Path, runner: dict[str, str]
) -> None:
    done = run(action_step("Check"), tmp_path, ARGUMENTS=". --select NONE", FAIL="false", **runner)
    assert done.returncode == 2 and "is no rule" in done.stderr
    assert "::error title=torchlift::Error: " in done.stdout
    assert "is no rule" in Path(runner["GITHUB_STEP_SUMMARY"]).read_text()
    assert not Path(runner["GITHUB_OUTPUT"]).exists()


@pytest.mark.exhaustive
def test_the_action_installs_torchlift_from_its_own_checkout(tmp_path: Path, runner: dict[str, str]) -> None:
    (tmp_path / "runner/torchlift/bin").unlink()
    done = run(action_step("Install torchlift"), tmp_path, PYTHON=sys.executable, **runner)
    assert done.returncode == 0, done.stderr
    shown = run('"$RUNNER_TEMP/torchlift/bin/torchlift" --version', tmp_path, **runner)
    assert shown.stdout.startswith("torchlift, version ")


def test_the_action_uses_nothing_by_a_name_that_can_be_moved() -> None:
    action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    used = [step["uses"].partition("@")[2] for step in action["runs"]["steps"] if "uses" in step]
    assert used and all(len(revision) == 40 and int(revision, 16) for revision in used)


def test_the_job_of_gitlab_writes_the_reports_that_it_names(tmp_path: Path) -> None:
    template: dict[str, Any] = yaml.safe_load((ROOT / "ci/gitlab.yml").read_text())
    job, defaults = template["torchlift"], template["variables"]
    assert "variables" not in job  # those of a job would go over the ones of a file that includes it
    (tmp_path / "a.py").write_text(OLD)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    given = {name: value for name, value in defaults.items() if name != "TORCHLIFT"}
    done = run("\n".join(job["script"]), tmp_path, PATH=path, **given)
    assert done.returncode == 1, done.stderr
    reports = job["artifacts"]["reports"]
    [issue] = json.loads((tmp_path / reports["codequality"]).read_text())
    assert issue["location"] == {
        "path": "a.py",
        "positions": {"begin": {"line": 5, "column": 12}, "end": {"line": 5, "column": 21}},
    }
    assert junit((tmp_path / reports["junit"]).read_text()).failures == 1


def test_of_a_merge_request_only_what_is_new_fails_and_code_quality_has_all(tmp_path: Path) -> None:
    template: dict[str, Any] = yaml.safe_load((ROOT / "ci/gitlab.yml").read_text())
    script, path = (
        "\n".join(template["torchlift"]["script"]),
        f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    )
    (tmp_path / "a.py").write_text(OLD)
    since = commit(tmp_path)

    def merge_request(revision: str) -> tuple[int, int, int]:
        done = run(script, tmp_path, PATH=path, TORCHLIFT_ARGUMENTS=".", TORCHLIFT_SINCE=revision)
        if done.returncode == 2:
            return 2, 0, 0
        issues = json.loads((tmp_path / "torchlift.json").read_text())
        return done.returncode, len(issues), junit((tmp_path / "torchlift.xml").read_text()).failures

    assert merge_request(since) == (0, 1, 0)
    (tmp_path / "b.py").write_text(OLD)
    assert merge_request(since) == (1, 2, 1)
    assert merge_request("0" * 40)[0] == 2


def test_the_job_of_gitlab_refuses_to_install_it_does_not_know_what(tmp_path: Path) -> None:
    template: dict[str, Any] = yaml.safe_load((ROOT / "ci/gitlab.yml").read_text())
    done = run(template["torchlift"]["before_script"][0], tmp_path, TORCHLIFT=template["variables"]["TORCHLIFT"])
    assert done.returncode == 2 and "The variable TORCHLIFT has to say" in done.stdout
    assert run(template["torchlift"]["before_script"][0], tmp_path, TORCHLIFT="git+https://x").returncode == 0


def _allowed_in_image(name: str) -> bool:
    """Whether `.dockerignore`, which names what comes along, lets a file in."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert lines[0] == "*" and all(line.startswith(("!", "**/")) for line in lines[1:])
    return name.partition("/")[0] in {line[1:] for line in lines if line.startswith("!")}


@pytest.mark.exhaustive
def test_the_steps_of_the_image_install_a_torchlift_that_looks_at_what_is_mounted(tmp_path: Path) -> None:
    steps = [line.partition(" ")[::2] for line in (ROOT / "Dockerfile").read_text().splitlines() if line[:1].isupper()]
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for name in filter(_allowed_in_image, listed):
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / "src" / name)
    run(f"{sys.executable} -m venv {tmp_path}/env", tmp_path)
    environment = {"PATH": f"{tmp_path}/env/bin{os.pathsep}{os.environ['PATH']}"}
    # No registry gives its base image here, and its packages are those of this machine; the rest is run as it stands.
    for command in (text for step, text in steps if step == "RUN" and not text.startswith("apt-get ")):
        done = run(
            command.replace("/wheels", f"{tmp_path}/wheels").replace("/src", f"{tmp_path}/src"), tmp_path, **environment
        )
        assert done.returncode == 0, done.stderr
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.py").write_text(OLD)
    variables = dict(text.split("=", 1) for step, text in steps if step == "ENV")
    [entry] = [json.loads(text)[0] for step, text in steps if step == "ENTRYPOINT"]
    done = run(f"{entry} migrate --check .", tmp_path / "project", **environment, **variables)
    assert done.returncode == 1 and "a.py:5:12" in done.stdout and not (tmp_path / "wheels").exists()
