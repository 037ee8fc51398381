"""`torchlift doctor --explain-error` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from torchlift.cli import torchlift
from torchlift.doctor.schemas import error_schema
from torchlift.json_records.schema import schema_text

ROOT = Path(__file__).parents[2]
V100 = str(ROOT / "fixtures/ill_machines/v100_torch_2_15.json")
H100 = str(ROOT / "fixtures/machines/healthy_h100.json")
NO_KERNEL = "RuntimeError: CUDA error: no kernel image is available for execution on the device"


def run(*arguments: str, stdin: bytes | None = None) -> Result:
    done = CliRunner().invoke(torchlift, ["doctor", *arguments], input=stdin)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def as_json(*arguments: str, stdin: bytes | None = None) -> Any:
    report = json.loads(run(*arguments, "--json", stdin=stdin).stdout)
    jsonschema.Draft202012Validator(error_schema()).validate(report)
    return report


def test_the_published_schema_is_the_one_of_the_code() -> None:
    assert (ROOT / "doctor/error.schema.json").read_text(encoding="utf-8") == schema_text(error_schema()), (
        "run: python -m torchlift.doctor.schemas error > doctor/error.schema.json"
    )


def test_the_machine_that_has_it_is_told_its_command() -> None:
    done = run("--facts", V100, "--explain-error", NO_KERNEL)
    assert done.exit_code == 0 and "pip install --upgrade" in done.stdout and "whl/cu126" in done.stdout
    report = as_json("--facts", V100, "--explain-error", NO_KERNEL)
    assert report["first"]["id"] == "no-kernel-image" and report["results"][0]["status"] == "problem"


def test_a_machine_that_does_not_have_it_is_not_blamed() -> None:
    done = run("--facts", H100, "--explain-error", NO_KERNEL)
    assert done.exit_code == 0 and "The checks find nothing of it here" in done.stdout and "[✗]" not in done.stdout


def test_a_cpu_build_on_a_machine_without_a_gpu_is_told_though_no_check_finds_it_wrong(tmp_path: Path) -> None:
    facts = json.loads(Path(H100).read_text(encoding="utf-8"))
    facts["torch"]["version"], facts["torch"]["cuda"] = "2.13.0+cpu", None
    facts["pci"], facts["gpus"], facts["nvml"], facts["libcuda"], facts["kernel_driver"] = [], [], {}, {}, {}
    bare = tmp_path / "facts.json"
    bare.write_text(json.dumps(facts))
    done = run("--facts", str(bare), "--explain-error", "AssertionError: Torch not compiled with CUDA enabled")
    said = " ".join(done.stdout.split())
    assert "torch 2.13.0+cpu is a build for the CPU only, and no NVIDIA GPU is in view" in said


def test_variables_are_set_in_the_words_of_the_system_that_the_text_is_from() -> None:
    error = "nvcc error : 'cicc' died with status 0xC0000409"
    assert "export MAX_JOBS=1" in run("--facts", H100, "--explain-error", error).stdout
    assert '$env:MAX_JOBS="1"' in run("--facts", H100, "--explain-error", f"C:\\\\build {error}").stdout


def test_a_machine_that_is_only_described_is_told_the_wheel_that_fits() -> None:
    done = run("--gpu", "V100", "--driver", "580", "--explain-error", NO_KERNEL)
    assert done.exit_code == 0 and "pip install" in done.stdout and "whl/cu126" in done.stdout


@pytest.mark.parametrize("text", ["KeyError: 'label'", "it does not work", "::error::x"])
def test_what_is_not_known_is_said_to_be_unknown_with_status_1(text: str) -> None:
    done = run("--explain-error", text)
    assert done.exit_code == 1 and "does not know" in done.stdout
    assert as_json("--explain-error", text)["verdict"] == "unknown"


def test_a_file_and_standard_input_are_read(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(f"step 1\nstep 2\n[rank3]: {NO_KERNEL}\n")
    for report in (
        as_json("--facts", H100, "--explain-error", str(log)),
        as_json("--facts", H100, "--explain-error", "-", stdin=log.read_bytes()),
    ):
        assert (report["first"]["place"]["line"], report["first"]["place"]["rank"], report["lines"]) == (3, 3, 3)


def test_what_cannot_be_read_is_a_sentence_with_status_2(tmp_path: Path) -> None:
    binary = tmp_path / "core"
    binary.write_bytes(b"\x7fELF\0\0\0")
    for text in ("", str(tmp_path), str(binary), "/no/such/train.log"):
        done = run("--explain-error", text)
        assert done.exit_code == 2 and done.stderr.rstrip().endswith("."), (text, done.stderr)
    assert run("--explain-error", "-", stdin=b"").exit_code == 2


@pytest.mark.parametrize(
    "other", [["--emit", "uv"], ["--smoke"], ["--explain", "shm-size"], ["--strict"], ["--for", "2.15"]]
)
def test_what_has_no_effect_beside_it_is_refused(other: list[str]) -> None:
    assert run("--explain-error", NO_KERNEL, *other).exit_code == 2


def test_a_hostile_text_gives_no_orders_to_terminals_and_ci_systems() -> None:
    text = (
        "::set-env name=A::b\n\x1b]0;title\x07\x1b[2J##vso[task.setvariable]x "
        + NO_KERNEL
        + " ##[error] \u202e\n::error::y"
    )
    done = run("--facts", H100, "--explain-error", text)
    assert done.exit_code == 0
    assert not [line for line in done.stdout.splitlines() if line.lstrip().startswith("::")]
    assert "\x1b" not in done.stdout and "##vso[" not in done.stdout and "\u202e" not in done.stdout
    assert "##vso[" not in run("--facts", H100, "--json", "--explain-error", text).stdout


def test_names_are_taken_out_of_quoted_lines() -> None:
    text = f"File /home/alice/secret/train.py: {NO_KERNEL}"
    assert "alice" not in run("--facts", H100, "--redact", "--explain-error", text).stdout


def test_explain_with_a_message_points_here() -> None:
    done = run("--explain", "no kernel image")
    assert done.exit_code == 2 and "--explain-error" in done.stderr
