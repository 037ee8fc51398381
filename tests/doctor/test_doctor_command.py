"""The `torchlift doctor` command as a user runs it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from closed_schema import closed
from commands import command
from doctor_machines import FIXTURES, MACHINES, changed, facts_file, healthy

from torchlift.cli import torchlift
from torchlift.doctor.checks.registry import all_checks
from torchlift.doctor.command.wanted import WantedError, torch_requirement
from torchlift.doctor.facts.facts_json import to_json
from torchlift.doctor.facts.hypothetical import DescriptionError, described
from torchlift.doctor.report.catalogue import catalogue
from torchlift.doctor.schemas import report_schema
from torchlift.json_records.schema import schema_text

ROOT = Path(__file__).parents[2]
VALIDATOR = jsonschema.Draft202012Validator(report_schema())


def run(*arguments: str, stdin: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {"NO_COLOR": None, "FORCE_COLOR": None, "COLUMNS": "100", **environment}
    done = command(["doctor", *arguments], stdin=None if stdin is None else stdin.encode(), environment=variables)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def ill() -> str:
    """A V100 with a torch that has no code for it."""
    return str(FIXTURES / "ill_machines" / "v100_torch_2_15.json")


@pytest.fixture
def doubtful(tmp_path: Path) -> str:
    """An H100 with memory errors."""
    facts = to_json(healthy("healthy_h100"))
    facts["gpus"][0]["ecc_uncorrected"] = 3
    path = tmp_path / "doubtful.json"
    path.write_text(json.dumps(facts))
    return str(path)


def test_this_very_machine_is_examined_without_a_failure() -> None:
    done = run("--json")
    report = json.loads(done.stdout)
    VALIDATOR.validate(report)
    assert done.returncode == report["exit_code"] != 2, done.stdout
    assert not [item for item in report["results"] if item["status"] == "failed"]
    assert report["facts"]["failures"] == []
    assert report["facts"]["python"]["version"] == ".".join(map(str, sys.version_info[:3]))


def test_the_doctor_command_is_installed_too() -> None:
    script = Path(sys.executable).with_name("doctor")
    done = subprocess.run([script, "--list-checks"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "gpu-architecture" in done.stdout


def test_torch_is_not_imported_in_the_doctors_own_process() -> None:
    code = (
        "import sys\nfrom torchlift.cli import torchlift\n"
        "try:\n    torchlift(['doctor', '--json'])\nexcept SystemExit:\n    pass\n"
        "assert not {'torch', 'libcst', 'pynvml', 'numpy'} & set(sys.modules), 'imported'\n"
        "assert not any(name.startswith(('torchlift.migrate', 'torchlift.rules')) for name in sys.modules), 'floors'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", MACHINES)
def test_healthy_machines_exit_with_0_and_say_so_in_the_first_line(name: str, tmp_path: Path) -> None:
    done = run("--facts", facts_file(name, tmp_path))
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("Healthy: "), done.stdout


def test_a_problem_exits_with_1_and_has_its_command_below(ill: str) -> None:
    done = run("--facts", ill)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("1 problem: torch 2.15.0+cu132 has no device code for Tesla V100")
    problem = next(index for index, line in enumerate(lines) if line.strip().startswith("[✗] torch 2.15.0"))
    fix = next(line for line in lines[problem:] if line.strip().startswith("fix: "))
    assert "torch==2.14.*" in fix and "--index-url https://download.pytorch.org/whl/cu126" in fix
    assert "uv pip install" in done.stdout.partition("\nInstall\n")[2]
    assert "Wheel data of 20" in done.stdout


def test_a_warning_exits_with_0_unless_strict(doubtful: str) -> None:
    done = run("--facts", doubtful)
    assert done.returncode == 0 and done.stdout.startswith("Healthy, with 1 warning: ")
    strict = run("--facts", doubtful, "--strict")
    assert strict.returncode == 1 and strict.stdout.startswith("1 warning: ")


@pytest.mark.parametrize("name", [*MACHINES, "ill", "doubtful"])
@pytest.mark.parametrize("more", [[], ["--redact"], ["--for", "torch==2.14"], ["--repo", str(ROOT)]], ids=" ".join)
def test_json_is_complete_and_obeys_the_published_schema(
    name: str, more: list[str], ill: str, doubtful: str, tmp_path: Path
) -> None:
    source = {"ill": ill, "doubtful": doubtful}.get(name) or facts_file(name, tmp_path)
    done = CliRunner().invoke(torchlift, ["doctor", "--facts", source, "--json", *more])
    assert done.stdout.isascii()
    report = json.loads(done.stdout)
    VALIDATOR.validate(report)
    assert report["exit_code"] == done.exit_code
    assert report["answer"] is not None and (report["project"] is not None) == ("--repo" in more)


def test_the_schema_describes_every_key_of_a_report(ill: str) -> None:
    report = json.loads(run("--facts", ill, "--json", "--repo", str(ROOT)).stdout)
    jsonschema.Draft202012Validator(closed(report_schema())).validate(report)


def test_the_published_schema_is_the_one_of_the_report() -> None:
    assert (ROOT / "doctor/report.schema.json").read_text(encoding="utf-8") == schema_text(report_schema()), (
        "run: python -m torchlift.doctor.schemas report > doctor/report.schema.json"
    )


def test_the_text_has_every_evidence_when_verbose(ill: str) -> None:
    short, long = run("--facts", ill).stdout, run("--facts", ill, "-v").stdout
    report = json.loads(run("--facts", ill, "--json").stdout)
    flat = " ".join(long.split())
    for item in report["results"]:
        assert f"({item['check']})" in flat
        for evidence in item["evidence"]:
            assert " ".join(f"{evidence['what']}: {evidence['seen']}".split()) in flat
    assert "from torchlift's tables" in long and "from torchlift's tables" not in short


def test_checks_can_be_chosen_by_id_and_group(ill: str) -> None:
    def ran(*arguments: str) -> set[tuple[str, str]]:
        report = json.loads(run("--facts", ill, "--json", *arguments).stdout)
        return {(item["group"], item["check"]) for item in report["results"]}

    assert {check for _, check in ran("--only", "gpu-architecture")} == {"gpu-architecture"}
    assert {group for group, _ in ran("--only", "torch,driver")} == {"torch", "driver"}
    assert {group for group, _ in ran("--only", "torch", "--only", "driver")} == {"torch", "driver"}
    without = ran("--skip", "torch,driver-too-old")
    assert without and all(group != "torch" and check != "driver-too-old" for group, check in without)


@pytest.mark.parametrize("option", ["--only", "--skip", "--explain"])
def test_an_unknown_check_is_a_sentence_with_close_names(option: str) -> None:
    done = run(option, "gpu-archtecture")
    assert done.returncode == 2 and done.stdout == ""
    assert "There is no check" in done.stderr and "gpu-architecture" in done.stderr


def test_all_checks_are_listed_and_explained() -> None:
    listed = run("--list-checks").stdout
    assert [line.split()[1] for line in listed.splitlines()] == [check.id for check in all_checks()]
    assert len(json.loads(run("--list-checks", "--json").stdout)) == len(all_checks())
    only = run("--list-checks", "--only", "driver").stdout
    assert {line.split()[0] for line in only.splitlines()} == {"driver"}
    explained = run("--explain", "gpu-architecture").stdout
    assert "no kernel image" in explained and "Sources:" in explained


def test_the_catalogue_is_up_to_date() -> None:
    assert (ROOT / "docs/doctor.md").read_text(encoding="utf-8") == catalogue(all_checks()), (
        "run: python -m torchlift.doctor.report.catalogue > docs/doctor.md"
    )


def test_the_page_shows_what_is_really_said() -> None:
    done = run("--facts", str(FIXTURES / "ill_machines" / "v100_torch_2_15.json"))
    assert done.returncode == 1
    assert f"```text\n{done.stdout}```" in (ROOT / "docs/machines.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be read"),
        ("", "is not JSON"),
        ("[1, 2]", "Facts are a JSON object"),
        ('{"schema": 99}', "written by a newer torchlift"),
        ('{"a": 1}', "no facts file"),
        ('{"schema": 1, "gpus": 3}', "`gpus` should be a list"),
    ],
)
def test_a_facts_file_that_is_none_is_a_sentence(content: str | None, says: str, tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    if content is not None:
        path.write_text(content)
        from_stdin = run("--facts", "-", stdin=content)
        assert from_stdin.returncode == 2 and from_stdin.stdout == ""
    done = run("--facts", str(path))
    assert done.returncode == 2 and done.stdout == "" and says in done.stderr


def test_facts_come_from_standard_input(ill: str) -> None:
    done = run("--facts", "-", stdin=Path(ill).read_text())
    assert done.returncode == 1 and done.stdout == run("--facts", ill).stdout


def test_saved_facts_give_the_same_report(ill: str, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    first = run("--facts", ill, "--save-facts", str(saved))
    assert str(saved) in first.stderr
    assert run("--facts", str(saved)).stdout == first.stdout
    assert run("--facts", ill, "--save-facts", "-").stdout == saved.read_text()


def test_facts_that_cannot_be_saved_are_an_error(ill: str, tmp_path: Path) -> None:
    done = run("--facts", ill, "--save-facts", str(tmp_path / "none" / "f.json"))
    assert done.returncode == 2 and "cannot be written" in done.stderr


def test_redaction_covers_text_json_and_saved_facts(tmp_path: Path) -> None:
    facts = healthy("healthy_h100")
    facts.python.prefix = "/home/jane77/venv"
    facts.environment["LD_LIBRARY_PATH"] = "/scratch/acme77/lib"
    path, saved = tmp_path / "f.json", tmp_path / "s.json"
    path.write_text(json.dumps(to_json(facts)))
    uuid = str(facts.gpus[0].uuid).removeprefix("GPU-")
    plain = run("--facts", str(path), "-v").stdout
    assert "jane77" in plain
    outputs = [
        run("--facts", str(path), "--redact", "-v").stdout,
        run("--facts", str(path), "--redact", "--json", "--save-facts", str(saved)).stdout,
        saved.read_text(),
    ]
    for output in outputs:
        assert "jane77" not in output and "acme77" not in output and uuid not in output


@pytest.mark.parametrize(
    "wanted",
    ["nonsense!!", "numpy==2", "torch==x", "torch; sys_platform == 'linux'", "torch @ https://a.test/x.whl", ""],
)
def test_a_plan_for_nonsense_is_a_sentence(wanted: str) -> None:
    done = run("--gpu", "V100", "--for", wanted)
    assert done.returncode == 2 and done.stdout == "" and "--for" in done.stderr
    with pytest.raises(WantedError):
        torch_requirement(wanted)


@pytest.mark.parametrize(
    ("text", "requirement"),
    [
        ("2.15", "torch==2.15.*"),
        (">=2.14,<3", "torch<3,>=2.14"),
        ("Torch == 2.15.0", "torch==2.15.0"),
        ("torch", "torch"),
    ],
)
def test_a_wanted_torch_may_be_written_shortly(text: str, requirement: str) -> None:
    assert torch_requirement(text) == requirement


def test_a_machine_that_is_only_described_is_answered_from_the_tables() -> None:
    done = run("--gpu", "V100", "--driver", "580", "--for", "torch==2.15")
    assert done.returncode == 1
    assert "the last release with one is 2.14" in done.stdout.replace("\n", " ")
    assert 'pip install "torch==2.14.*" --index-url https://download.pytorch.org/whl/cu126' in done.stdout
    well = run("--gpu", "2xH100", "--driver", "595.58.03", "--for", "torch==2.15")
    assert well.returncode == 0 and "runs on 2x H100 (9.0)" in well.stdout.splitlines()[0]
    assert "[✓]" not in well.stdout, "there is nothing to check"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--gpu", "Quadro RTX 5001"], "Did you mean"),
        (["--gpu", "zzz"], "give its compute capability"),
        (["--gpu", "0xH100"], "1 to 64"),
        (["--gpu", "H100", "--driver", "new"], "write it like 580"),
        (["--gpu", "H100", "--python-version", "two"], "write it like 3.12"),
        (["--driver", "580"], "name the GPU"),
        (["--gpu", "H100", "--facts", "x"], "Choose one"),
        (["--facts", "x", "--python", "y"], "exclude each other"),
        (["--python", "/no/such/python"], "--python"),
        (["--root", "/no/such/folder"], "no folder"),
        (["--repo", "/no/such/folder"], "There is no folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_not_understood_is_a_sentence(arguments: list[str], says: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert says in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("gpus", "machine", "os"),
    [
        (["H100"], "x86_64", "linux"),
        (["GB10"], "aarch64", "linux"),
        (["T4G"], "aarch64", "linux"),
        (["NVIDIA GH200 480GB"], "aarch64", "linux"),
        (["MI300X"], "x86_64", "linux"),
        ([], "x86_64", "linux"),
    ],
)
def test_a_described_machine_has_the_processor_that_its_gpu_comes_with(gpus: list[str], machine: str, os: str) -> None:
    facts = described(gpus)
    assert facts.hypothetical and (facts.system.machine, facts.system.os) == (machine, os)
    assert len(facts.gpus) + len(facts.other.rocm_devices) == len(gpus)


def test_a_gpu_name_that_may_mean_two_is_asked_back() -> None:
    with pytest.raises(DescriptionError, match=r"may be .* \(\d+\.\d\) or .* \(\d+\.\d\); say which"):
        described(["RTX 4000"])


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_marks_are_plain_where_the_encoding_has_no_others(encoding: str, ill: str) -> None:
    done = command(["doctor", "--facts", ill], encoding=encoding)
    assert done.stdout.isascii() and b"[x] torch" in done.stdout and b"[ok] Driver" in done.stdout


def test_there_is_no_colour_outside_of_a_terminal_unless_asked_for(ill: str) -> None:
    assert "\x1b" not in run("--facts", ill).stdout
    coloured = run("--facts", ill, "--color", "always").stdout
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == run("--facts", ill).stdout
    assert "\x1b" not in run("--facts", ill, NO_COLOR="1", FORCE_COLOR="1").stdout


@pytest.mark.parametrize("columns", ["40", "60", "110"])
def test_prose_is_as_wide_as_the_terminal_and_commands_stay_whole(columns: str, ill: str) -> None:
    done = run("--facts", ill, "-v", COLUMNS=columns)
    for line in done.stdout.splitlines():
        # Commands are not broken, and neither are words such as paths.
        longest = max((len(word) for word in line.split()), default=0)
        if "pip install" not in line and longest < 20:
            assert len(line) <= int(columns), line
    assert re.search(r"^ +pip: pip install .*whl/cu126.*$", done.stdout, re.MULTILINE)


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_closed_pipe_changes_nothing_about_the_verdict(ill: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "torchlift", "doctor", "--facts", ill]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert done.returncode == 1 and done.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_report_that_cannot_be_written_is_a_sentence(ill: str) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "torchlift", "doctor", "--facts", ill]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("The report could not be written: ") and "defect" not in done.stderr


def test_a_wheel_is_named_only_where_one_mends_something(tmp_path: Path) -> None:
    facts = changed("healthy_h100", {"packages.nvidia-cudnn-cu13.version": "9.20.0.48"})
    (tmp_path / "f.json").write_text(json.dumps(to_json(facts)))
    done = run("--facts", str(tmp_path / "f.json"))
    assert done.returncode == 1 and "fix: pip install nvidia-cudnn-cu13" in done.stdout
    assert "\nInstall\n" not in done.stdout


def test_a_gpu_that_torch_cannot_use_is_not_said_to_work(tmp_path: Path) -> None:
    nothing = {"outcome": "missing"}
    amd = {"other.rocm_devices": [{"node": 1, "architecture": "gfx1036"}], "kernel_driver": {}, "pci": []}
    facts = changed("healthy_h100", {"gpus": [], "libcuda": nothing, "nvml": nothing, **amd})
    (tmp_path / "f.json").write_text(json.dumps(to_json(facts)))
    assert run("--facts", str(tmp_path / "f.json")).stdout.startswith(
        "Healthy: torch 2.15.0+cu132 runs on the CPU only"
    )


def test_an_intel_gpu_is_named_where_torch_is_built_for_it(tmp_path: Path) -> None:
    card = [{"address": "0000:03:00.0", "vendor": "8086", "device": "e20b", "pci_class": "0300", "driver": "xe"}]
    facts = changed(
        "no_gpu_cpu_torch",
        {
            "torch.version": "2.11.0+xpu",
            "torch.metadata_version": None,
            "torch.xpu": "20250301",
            "pci": card,
            "packages": [],
        },
    )
    facts.other.level_zero = "/usr/lib/x86_64-linux-gnu/libze_loader.so.1"
    (tmp_path / "f.json").write_text(json.dumps(to_json(facts)))
    assert run("--facts", str(tmp_path / "f.json")).stdout.startswith("Healthy: Intel Arc B580 + torch 2.11.0+xpu")


def test_names_of_devices_do_not_act_on_the_terminal(tmp_path: Path) -> None:
    facts = healthy("healthy_h100")
    facts.gpus[0].name = "evil\x1b]0;title\x07\u202egpu\nnext"
    path = tmp_path / "f.json"
    path.write_text(json.dumps(to_json(facts)))
    out = run("--facts", str(path), "-v").stdout
    assert "\x1b" not in out and "\x07" not in out and "\u202e" not in out
