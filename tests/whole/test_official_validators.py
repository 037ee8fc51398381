"""Reports and templates, read by the validators of those who made the formats; npm has two of them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import told
from executed_page import blocks

ROOT = Path(__file__).parents[2]
MULTITOOL = "@microsoft/sarif-multitool-linux@5.7.0"
RDFORMAT = "@umbrelladocs/rdformat-validator@1.0.1"


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("npm") is None or sys.platform != "linux", reason="the validators come from npm")
def test_microsofts_multitool_and_a_reader_of_rdformat_object_to_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHLIFT_DOCUMENTATION", "https://torchlift.example.org")
    shutil.copytree(ROOT / "fixtures/legacy_project", tmp_path / "p")
    (tmp_path / "p/broken.py").write_text("import torch\ntorch.jit.script(\n")
    files = [f"--output-file={name}=r.{name}" for name in ("sarif", "rdjson")]
    told(tmp_path, "migrate", "--check", "p", "--unsafe-fixes", "--allow-no-vcs", *files)
    assert len(json.loads((tmp_path / "r.sarif").read_text())["runs"][0]["results"]) > 10
    installed = run(
        "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", MULTITOOL, RDFORMAT, folder=tmp_path
    )
    if installed.returncode:
        pytest.skip(f"npm has no validators for us: {installed.stderr[-300:]}")
    modules = tmp_path / "node_modules"
    multitool = next((modules / "@microsoft").rglob("Sarif.Multitool"))
    multitool.chmod(0o755)
    # `Ghas` are the rules of GitHub's code scanning. Whether an address answers says nothing about a report.
    checked = run(
        str(multitool), "validate", "r.sarif", "--rule-kind", "Sarif;Ghas", "--level", "Error;Warning", folder=tmp_path
    )
    said = [line for line in checked.stdout.splitlines() if ": error " in line or ": warning " in line]
    assert checked.returncode == 0 and said == [], checked.stdout
    read = run(
        "node", str(modules / ".bin/rdformat-validator"), "--strict", "--no-extra-fields", "r.rdjson", folder=tmp_path
    )
    assert read.returncode == 0, read.stdout + read.stderr


@pytest.mark.parametrize(
    ("schema", "name"), [("vendor.github-actions", "action.yml"), ("vendor.gitlab-ci", "ci/gitlab.yml")]
)
def test_templates_are_what_github_and_gitlab_describe(schema: str, name: str) -> None:
    done = run(sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, name, folder=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


SCHEMAS = {
    "name:": "vendor.github-workflows",
    "include:": "vendor.gitlab-ci",
    "torchlift:": "vendor.gitlab-ci",
    "repos:": "pre-commit itself",
}
"""What each file of docs/ci.md begins with, and who says how such a file looks."""


@pytest.mark.parametrize("start", SCHEMAS)
def test_files_to_paste_are_what_their_readers_describe(start: str, tmp_path: Path) -> None:
    shown = [
        text for text in blocks((ROOT / "docs/ci.md").read_text(encoding="utf-8"), "yaml") if text.startswith(start)
    ]
    assert shown
    for text in shown:
        file = tmp_path / ".pre-commit-config.yaml"
        file.write_text(text)
        if start == "repos:":
            done = run(sys.executable, "-m", "pre_commit", "validate-config", file.name, folder=tmp_path)
        else:
            done = run(
                sys.executable, "-m", "check_jsonschema", "--builtin-schema", SCHEMAS[start], file.name, folder=tmp_path
            )
        assert done.returncode == 0, done.stdout + done.stderr
