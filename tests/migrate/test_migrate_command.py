"""The `torchlift migrate` command as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commands import command
from repositories import commit

OLD = "import torch\n\n\ndef f(a, b):\n    return torch.ger(a, b)\n"
NEW = OLD.replace("ger", "outer")


def run(folder: Path, *arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return command(arguments, folder=folder, stdin=stdin, environment={"COLUMNS": "100"})


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(OLD)
    commit(tmp_path)
    return tmp_path


def test_safe_fixes_are_written_in_place_and_nothing_is_left(repository: Path) -> None:
    done = run(repository, "migrate", ".")
    assert done.returncode == 0 and (repository / "a.py").read_text() == NEW
    assert b"Fixed 1 finding in 1 file" in done.stderr
    again = run(repository, "migrate", ".", "--allow-dirty")
    assert again.returncode == 0 and (repository / "a.py").read_text() == NEW


def test_the_migrate_command_is_installed_too(repository: Path) -> None:
    script = Path(sys.executable).with_name("migrate")
    done = subprocess.run([script, "--check"], cwd=repository, capture_output=True, check=False)
    assert done.returncode == 1 and b"TL401" in done.stdout


@pytest.mark.parametrize("mode", ["--check", "--diff"])
def test_check_and_diff_write_nothing_and_exit_with_one(repository: Path, mode: str) -> None:
    done = run(repository, "migrate", mode)
    assert done.returncode == 1 and (repository / "a.py").read_text() == OLD


def test_the_diff_is_a_patch_that_git_applies(repository: Path) -> None:
    patch = run(repository, "migrate", "--diff").stdout
    subprocess.run(["git", "apply", "-"], cwd=repository, input=patch, check=True)
    assert (repository / "a.py").read_text() == NEW


def test_the_diff_of_a_file_in_another_encoding_has_its_bytes(repository: Path) -> None:
    (repository / "b.py").write_bytes(b"# -*- coding: latin-1 -*-\n" + OLD.encode() + b"    # caf\xe9\n")
    patch = run(repository, "migrate", "--diff", "b.py").stdout
    assert b" # caf\xe9\n" in patch
    subprocess.run(["git", "apply", "-"], cwd=repository, input=patch, check=True)
    assert (repository / "b.py").read_bytes().endswith(NEW.encode() + b"    # caf\xe9\n")


def test_a_file_with_uncommitted_changes_is_not_written(repository: Path) -> None:
    (repository / "a.py").write_text(OLD + "x = 1\n")
    done = run(repository, "migrate", ".")
    assert done.returncode == 1 and (repository / "a.py").read_text() == OLD + "x = 1\n"
    assert b"has uncommitted changes" in done.stderr and b"--allow-dirty" in done.stderr
    assert run(repository, "migrate", ".", "--allow-dirty").returncode == 0
    assert (repository / "a.py").read_text() == NEW + "x = 1\n"


def test_a_file_outside_version_control_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(OLD)
    done = run(tmp_path, "migrate", ".")
    assert done.returncode == 1 and (tmp_path / "a.py").read_text() == OLD
    assert b"is not under version control" in done.stderr and b"--allow-no-vcs" in done.stderr
    assert run(tmp_path, "migrate", ".", "--allow-no-vcs").returncode == 0
    assert (tmp_path / "a.py").read_text() == NEW


def test_standard_input_is_filtered(repository: Path) -> None:
    data = OLD.replace("\n", "\r\n").encode()
    done = run(repository, "migrate", "-", "--stdin-filename", "b.py", stdin=data)
    assert done.returncode == 0 and done.stdout == data.replace(b"ger", b"outer")
    untouched = run(repository, "migrate", "-", "--stdin-filename", "b.py", stdin=b"x = 1\r\n")
    assert untouched.returncode == 0 and untouched.stdout == b"x = 1\r\n"


def test_standard_input_can_be_checked(repository: Path) -> None:
    done = run(
        repository,
        "migrate",
        "-",
        "--stdin-filename",
        "b.py",
        "--check",
        "--output-format",
        "concise",
        stdin=OLD.encode(),
    )
    assert done.returncode == 1 and done.stdout.startswith(b"b.py:5:12: TL401 [*]")


def test_json_names_every_finding_with_its_edits(repository: Path) -> None:
    done = run(repository, "migrate", "--check", "--output-format", "json")
    report = json.loads(done.stdout)
    (finding,) = report["findings"]
    assert report["schema_version"] == 1
    assert finding["code"] == "TL401" and finding["filename"] == "a.py"
    assert finding["location"] == {"row": 5, "column": 12}
    assert finding["fix"]["applicability"] == "safe"
    assert finding["fix"]["edits"][0]["content"] == "torch.outer"


def test_the_lowest_torch_of_the_project_is_read_from_its_metadata(repository: Path) -> None:
    (repository / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\ndependencies = ["torch>=1.6"]\n')
    done = run(repository, "migrate", "--check")
    assert done.returncode == 1 and b"offered for torch>=1.7" in done.stdout
    assert b"[*]" not in done.stdout
    forced = run(repository, "migrate", "--check", "--min-torch", "2.0")
    assert b"[*]" in forced.stdout


def test_a_project_inside_a_repository_stands_for_itself(repository: Path) -> None:
    inner = repository / "inner"
    inner.mkdir()
    (repository / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\ndependencies = ["torch>=2.0"]\n')
    (inner / "pyproject.toml").write_text('[project]\nname = "y"\nversion = "1"\ndependencies = ["torch>=1.6"]\n')
    (inner / "b.py").write_text(OLD)
    done = run(repository, "migrate", "--check", "inner")
    assert b"offered for torch>=1.7" in done.stdout


def test_selection_and_configuration(repository: Path) -> None:
    assert run(repository, "migrate", "--check", "--select", "TL1").returncode == 0
    assert run(repository, "migrate", "--check", "--ignore", "moved-name").returncode == 0
    assert run(repository, "migrate", "--check", "--select", "TOR").returncode == 1
    (repository / "pyproject.toml").write_text('[tool.torchlift]\nignore = ["TL401"]\n')
    assert run(repository, "migrate", "--check").returncode == 0
    assert run(repository, "migrate", "--check", "--isolated").returncode == 1
    (repository / "pyproject.toml").write_text('[tool.torchlift.per-file-ignores]\n"a.py" = ["TL4"]\n')
    assert run(repository, "migrate", "--check").returncode == 0


def test_statistics_count_per_rule(repository: Path) -> None:
    done = run(repository, "migrate", "--check", "--statistics")
    assert b"TL401" in done.stdout and b"moved-name" in done.stdout and b"1" in done.stdout


def test_a_target_that_nobody_knows_yet_is_said_to_be_one(repository: Path) -> None:
    done = run(repository, "migrate", "--check", "--target", "97.1")
    assert b"torch 97.1 is newer than torchlift's data" in done.stdout + done.stderr


WRONG = {
    "a path that does not exist": (["migrate", "nowhere"], b"nowhere"),
    "an unknown rule": (["migrate", "--select", "TL4O1"], b"TL401"),
    "a version that is none": (["migrate", "--target", "new"], b"2.15"),
    "a lowest torch above the target": (["migrate", "--min-torch", "2.20"], b"2.15, which is older"),
    "an unknown format": (["migrate", "--output-format", "xml"], b"full"),
    "both check and diff": (["migrate", "--check", "--diff"], b"exclude each other"),
    "standard input without a name": (["migrate", "-"], b"--stdin-filename"),
    "a name without standard input": (["migrate", "--stdin-filename", "x.py"], b"goes with"),
    "an unknown command": (["migrat"], b"migrate"),
    "an unknown option": (["migrate", "--chekc"], b"--check"),
    "an unknown rule to explain": (["rule", "TL999"], b"TL9"),
    "a family of rules to explain": (["rule", "TL2"], b"TL201"),
    "a configuration that is missing": (["migrate", "--config", "none.toml"], b"none.toml"),
}


@pytest.mark.parametrize(("arguments", "word"), WRONG.values(), ids=WRONG)
def test_wrong_input_is_answered_with_a_sentence(repository: Path, arguments: list[str], word: bytes) -> None:
    done = run(repository, *arguments)
    assert done.returncode == 2 and word in done.stderr
    assert (repository / "a.py").read_text() == OLD


def test_a_configuration_with_an_unknown_key_suggests_the_right_one(repository: Path) -> None:
    (repository / "pyproject.toml").write_text('[tool.torchlift]\ningore = ["TL401"]\n')
    done = run(repository, "migrate")
    assert done.returncode == 2 and b"ignore" in done.stderr and b"pyproject.toml" in done.stderr


def test_a_rule_explains_itself(tmp_path: Path) -> None:
    done = run(tmp_path, "rule", "TL101")
    text = done.stdout.decode()
    assert done.returncode == 0
    for word in ("torchscript-trace", "Why", "Fix", "becomes", "Not reported", "Sources", "torch.export"):
        assert word in text
    assert json.loads(run(tmp_path, "rule", "tl101", "--output-format", "json").stdout)["code"] == "TL101"


def test_all_rules_are_listed(tmp_path: Path) -> None:
    done = run(tmp_path, "rules")
    assert done.returncode == 0 and b"TL101" in done.stdout and b"TL903" in done.stdout
    assert len(json.loads(run(tmp_path, "rules", "--output-format", "json").stdout)) == len(done.stdout.splitlines())


def test_an_empty_folder_has_nothing_to_migrate(tmp_path: Path) -> None:
    done = run(tmp_path, "migrate", ".")
    assert done.returncode == 0 and b"No Python files found" in done.stderr


def test_the_diff_of_a_project_below_applies_from_where_it_was_made(repository: Path) -> None:
    inner = repository / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text('[project]\nname = "y"\nversion = "1"\n')
    (inner / "b.py").write_text(OLD)
    patch = run(repository, "migrate", "--diff", "inner").stdout
    subprocess.run(["git", "apply", "-"], cwd=repository, input=patch, check=True)
    assert (inner / "b.py").read_text() == NEW


def test_a_defect_is_told_in_a_sentence_and_is_not_mistaken_for_findings(repository: Path) -> None:
    code = (
        "import torchlift.migrate.run as run\n"
        "def broken(*anything):\n    raise ZeroDivisionError('by design')\n"
        "run.read = broken\n"
        "import sys; sys.argv = ['torchlift', 'migrate', '--check']\n"
        "from torchlift.cli import main; main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, check=False)
    assert done.returncode == 2 and b"ZeroDivisionError: by design" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_repository_inside_the_repository_is_left_out_and_named(repository: Path) -> None:
    inner = repository / "inner"
    inner.mkdir()
    (inner / "b.py").write_text(OLD)
    commit(inner)
    done = run(repository, "migrate", "--check")
    assert b"inner" in done.stderr and b"b.py" not in done.stdout
    assert b"b.py" in run(repository, "migrate", "--check", "inner").stdout


def test_a_file_that_becomes_fixable_only_later_is_guarded_too(repository: Path) -> None:
    # `script_if_tracing` can go only after the trace in the other file has gone.
    dirty = "import torch\n\n\n@torch.jit.script_if_tracing\ndef double(x):\n    return 2 * x\n"
    trace = "import torch\n\nnet = torch.nn.ReLU()\nt = torch.jit.trace(net, torch.rand(2, 3))\nprint(t(torch.rand(2, 3)))\n"
    (repository / "losses.py").write_text(dirty)
    (repository / "export.py").write_text(trace)
    commit(repository)
    (repository / "losses.py").write_text(dirty + "x = 1\n")
    done = run(repository, "migrate", ".", "--min-torch", "2.13")
    assert "torch.export.export" in (repository / "export.py").read_text()
    assert (repository / "losses.py").read_text() == dirty + "x = 1\n"
    assert done.returncode == 1 and b"losses.py: has uncommitted changes" in done.stderr


def test_an_example_with_a_batch_of_one_is_captured_with_the_batch_asked_for(repository: Path) -> None:
    trace = "import torch\n\nnet = torch.nn.ReLU()\ntraced = torch.jit.trace(net, torch.rand(1, 3))\n"
    (repository / "a.py").write_text(trace)
    commit(repository)
    (repository / "requirements.txt").write_text("torch>=2.6\n")
    kept = run(repository, "migrate", "--check", "a.py")
    assert b"stays fixed at its size: pass --batch-example 2" in kept.stdout
    assert (
        b"torch.rand(1, 3).repeat(3, 1)" in run(repository, "migrate", "--diff", "--batch-example", "3", "a.py").stdout
    )
    (repository / "torchlift.toml").write_text("batch-example = 2\n")
    assert b"torch.rand(1, 3).repeat(2, 1)" in run(repository, "migrate", "--diff", "a.py").stdout
    wrong = run(repository, "migrate", "--batch-example", "1")
    assert wrong.returncode == 2 and b"--batch-example" in wrong.stderr
