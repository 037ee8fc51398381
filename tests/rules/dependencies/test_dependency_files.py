"""Dependency and build files: what is read in them, edits that leave everything else alone, options that decide."""

from __future__ import annotations

import configparser
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement

from torchlift.finding import Finding, ReplaceText, Safety
from torchlift.migrate.cli import migrate
from torchlift.migrate.fix.text_edits import problem_with_text, text_edits
from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.dependencies.moves.compiled_files import compiled_for
from torchlift.rules.dependencies.moves.said_of_pins import is_excluded
from torchlift.rules.dependencies.wheels.builds import lines_of
from torchlift.rules.dependencies.wheels.companions import can_go_together, companion_of
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Settings
from torchlift.source import SourceText, Span
from torchlift.versions import TorchVersion
from torchlift.view.text import TextView, text_kind
from torchlift.wheels.described_machine import MachineError, machine_in_facts, named_machine
from torchlift.wheels.machine import Device, Machine

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[3]
H100 = Machine((Device("H100", (9, 0)),), driver="580.95.05")
V100 = Machine((Device("V100", (7, 0)),), driver="580.95.05")
WHEEL_RULES = frozenset(code for code in all_rules() if code.startswith("TL30"))
CU = "https://download.pytorch.org/whl/"


def view(path: str, text: str) -> TextView:
    kind = text_kind(path)
    assert kind is not None
    return TextView(path, kind, SourceText(text))


def run(
    folder: Path, files: Mapping[str, str | bytes], machine: Machine | None = H100, *, unsafe: bool = False
) -> RunResult:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    python = tuple(sorted(name for name in files if name.endswith(".py")))
    texts = tuple(sorted(name for name in files if text_kind(name) is not None))
    wanted = Settings(min_torch=TorchVersion(2, 5), machine=machine)
    result = analyse(RunOptions(folder, python, Mode.DIFF, WHEEL_RULES, unsafe, wanted, texts=texts))
    assert [failure.detail or failure.reason for failure in result.failures] == []
    return result


def after(result: RunResult, path: str) -> str | None:
    return next((outcome.new_text for outcome in result.outcomes if outcome.path == path), None)


def left(result: RunResult) -> list[Finding]:
    return [finding for outcome in result.outcomes for finding in outcome.left]


# What is edited


PARTS = st.sampled_from(
    ["numpy", "scipy==1.11.0  # pinned", "# a comment", "", "tqdm>=4 ; python_version < '4'", "-e ."]
)
NEWLINES = st.sampled_from(["\n", "\r\n"])
PINS = st.sampled_from(
    [
        "torch==2.3.1+cu118",
        "torch == 2.3.1+cu118",
        "torch==2.3.1",
        "torch",
        "torch>=2.1",
        "torch==2.3.*",
        "torch[opt]==2.3.1",
    ]
)
COMPANIONS = st.sampled_from(
    ["torchvision==0.18.1", "torchvision==0.18.1+cu118", "torchvision", "triton==2.3.1", "pillow"]
)
TAILS = st.sampled_from(["", "  # keep", "\t"])
PROPERTY = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def twice_is_nothing(folder: Path, path: str, new: str) -> None:
    again = run(folder, {path: new})
    assert after(again, path) is None and left(again) == []


@PROPERTY
@given(st.lists(PARTS, max_size=3), st.lists(PARTS, max_size=3), PINS, COMPANIONS, TAILS, NEWLINES)
def test_an_edited_requirement_file_differs_in_its_pins_only(
    tmp_path: Path, head: list[str], tail: list[str], pin: str, companion: str, end: str, newline: str
) -> None:
    lines = [*head, f"--extra-index-url {CU}cu118{end}", pin + end, companion, *tail]
    text = newline.join(lines)
    new = after(run(tmp_path, {"requirements.txt": text}), "requirements.txt")
    assert new is not None
    changed = new.split(newline)
    assert len(changed) == len(lines)
    for number, (old_line, new_line) in enumerate(zip(lines, changed, strict=True)):
        if number not in {len(head), len(head) + 1, len(head) + 2}:
            assert new_line == old_line
    for line in changed[len(head) + 1 : len(head) + 3]:
        requirement = Requirement(line.partition("#")[0].strip())
        if requirement.name == "torch":
            assert requirement.specifier.contains("2.15.0+cu130")
    assert changed[len(head)] == f"--extra-index-url {CU}cu130{end}"
    twice_is_nothing(tmp_path, "requirements.txt", new)


@PROPERTY
@given(PINS.filter(lambda pin: "[" not in pin), COMPANIONS, st.sampled_from(["'", '"']), st.booleans(), NEWLINES)
def test_an_edited_pyproject_means_the_same_but_for_its_pins(
    tmp_path: Path, pin: str, companion: str, quote: str, one_line: bool, newline: str
) -> None:
    items = [f"{quote}{item}{quote}" for item in ("numpy", pin, companion)]
    joined = ", ".join(items) if one_line else "".join(f"\n    {item},  # {n}" for n, item in enumerate(items)) + "\n"
    text = (
        f'[project]\nname = "a"\ndescription = """\ntorch==2.3.1+cu118 in prose\n"""\ndependencies = [{joined}]\n\n'
        f'[tool.uv.sources]\ntorch = {{ index = "gpu-cu118" }}\n\n[[tool.uv.index]]\nname = "gpu-cu118"\nurl = "{CU}cu118"\n'
    ).replace("\n", newline)
    new = after(run(tmp_path, {"pyproject.toml": text}), "pyproject.toml")
    assert new is not None
    old_content, content = (tomllib.loads(value.replace("\r\n", "\n")) for value in (text, new))
    assert content["tool"]["uv"] == {
        "sources": {"torch": {"index": "gpu-cu130"}},
        "index": [{"name": "gpu-cu130", "url": f"{CU}cu130"}],
    }
    assert content["project"]["description"] == old_content["project"]["description"]
    old_names, names = (
        [Requirement(item).name for item in c["project"]["dependencies"]] for c in (old_content, content)
    )
    assert names == old_names and content["project"]["dependencies"][0] == "numpy"
    assert new.count(newline) == text.count(newline)
    twice_is_nothing(tmp_path, "pyproject.toml", new)


@PROPERTY
@given(
    PINS.filter(lambda pin: "[" not in pin and ">" not in pin and " " not in pin),
    st.sampled_from(["Dockerfile", "install.sh", "ci.yml", "Makefile"]),
    st.sampled_from(["", '"', "'"]),
    st.booleans(),
)
def test_an_edited_command_keeps_its_words(tmp_path: Path, pin: str, path: str, quote: str, split: bool) -> None:
    before = {
        "Dockerfile": "FROM a\nRUN ",
        "install.sh": "#!/bin/sh\nset -e\n",
        "ci.yml": "x:\n  - run: |\n      ",
        "Makefile": "a:\n\t",
    }
    gap = " \\\n        " if split else " "
    text = f"{before[path]}pip install -q{gap}{quote}{pin}{quote} numpy{gap}--index-url {CU}cu121 && echo done  # end\n"
    new = after(run(tmp_path, {path: text}, unsafe=True), path)
    assert new is not None and new != text
    assert new.replace("2.15.0", "2.3.1").replace("2.15.*", "2.3.*").replace("cu130", "cu121") == text.replace(
        "+cu118", "+cu121"
    )
    again = run(tmp_path, {path: new}, unsafe=True)
    assert after(again, path) is None and left(again) == []


def test_an_edited_setup_cfg_reads_the_same_otherwise(tmp_path: Path) -> None:
    text = (
        "[metadata]\nname = a\n\n[options]\npython_requires = >=3.8 \ninstall_requires =\n    torch >= 2.9  # new\n    numpy\n"
        "zip_safe = no\n"
    )
    new = after(run(tmp_path, {"setup.cfg": text}, unsafe=True), "setup.cfg")
    assert new == text.replace(">=3.8", ">=3.10")
    parser = configparser.ConfigParser()
    parser.read_string(new)
    assert parser["options"]["python_requires"] == ">=3.10"


def test_bytes_that_are_no_text_in_utf_8_stay(tmp_path: Path) -> None:
    data = f"# caf\xe9\n--extra-index-url {CU}cu118\r\ntorch==2.3.1+cu118\n".encode("latin-1")
    result = run(tmp_path, {"requirements.txt": data})
    (outcome,) = result.outcomes
    assert outcome.shown.to_bytes() == data.replace(b"cu118", b"cu130").replace(b"2.3.1", b"2.15.0")


UNTOUCHED = {
    "hashes": ("requirements.txt", f"--index-url {CU}cu118\ntorch==2.3.1+cu118 --hash=sha256:00\n"),
    "markers": ("requirements.txt", f"--index-url {CU}cu118\ntorch==2.3.1+cu118; sys_platform == 'linux'\n"),
    "two indexes": ("requirements.txt", f"--index-url {CU}cu118\n--extra-index-url {CU}cu121\ntorch==2.3.1\n"),
    "an address of one file": (
        "requirements.txt",
        f"torch @ {CU}cu118/torch-2.3.1%2Bcu118-cp310-cp310-linux_x86_64.whl\n",
    ),
    "links of another package": (
        "requirements.txt",
        f"--index-url {CU}cu118\n-f https://data.pyg.org/whl/torch-2.3.1+cu118.html\ntorch==2.3.1+cu118\n",
    ),
    "a package for one torch": ("requirements.txt", f"--index-url {CU}cu118\ntorch==2.3.1\nxformers==0.0.27\n"),
    "nvidia's libraries": ("requirements.txt", f"--index-url {CU}cu118\ntorch==2.3.1\nnvidia-cudnn-cu11==8.7.0.84\n"),
    "a variable": ("a.sh", f"pip install torch==2.3.1 $MORE --index-url {CU}cu118\n"),
    "nightly builds": ("a.sh", f"pip install --pre torch==2.3.1+cu118 --extra-index-url {CU}nightly/cu118\n"),
    "a template": ("requirements.txt.in", ""),
    "an image with another compiler": (
        "Dockerfile",
        f"FROM nvidia/cuda:12.8.1-devel-ubuntu22.04\nRUN pip install torch==2.8.0 --index-url {CU}cu128\n",
    ),
    "an image with a torch": (
        "Dockerfile",
        f"FROM pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime\nRUN pip install torch==2.5.1 --index-url {CU}cu124\n",
    ),
    "extras of uv": (
        "pyproject.toml",
        '[project]\nname = "a"\n[project.optional-dependencies]\ncpu = ["torch==2.3.1"]\ncu118 = ["torch==2.3.1+cu118"]\n'
        f'[[tool.uv.index]]\nname = "x"\nurl = "{CU}cu118"\n',
    ),
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_what_is_not_plain_is_never_rewritten(tmp_path: Path, name: str) -> None:
    path, text = UNTOUCHED[name]
    if text_kind(path) is None:
        return
    for unsafe in (False, True):
        assert after(run(tmp_path, {path: text}, unsafe=unsafe), path) is None


@pytest.mark.parametrize("name", ["a sh", "another line", "a name"])
def test_what_else_is_made_for_the_old_torch_asks_for_review(tmp_path: Path, name: str) -> None:
    command = f"pip install torch==2.8.0 --index-url {CU}cu128\n"
    path, text = {
        "a sh": ("a.sh", f"{command}pip install flash_attn-2.7.4+cu12torch2.8-cp310.whl\n"),
        "another line": ("a.sh", f"export TAG=cu128\n{command}"),
        "a name": ("install-torch2.8.sh", command),
    }[name]
    assert after(run(tmp_path, {path: text}), path) is None
    (finding,) = [finding for finding in left(run(tmp_path, {path: text})) if finding.code == "TL301"]
    assert finding.safety is Safety.UNSAFE and "Needs review" in (finding.help or "")


def test_without_gpus_the_help_names_a_wheel_for_each_class(tmp_path: Path) -> None:
    result = run(tmp_path, {"requirements.txt": f"--index-url {CU}cu118\ntorch\n"}, machine=None)
    (finding,) = left(result)
    assert finding.fix is None and finding.help is not None
    for part in ("cu130", "580", "2.14 for cu126", "525.60.13", "V100", "--gpus"):
        assert part in finding.help


def test_a_wheel_older_than_the_lowest_torch_needs_review(tmp_path: Path) -> None:
    files = {"requirements.txt": f"--index-url {CU}cu124\ntorch\n"}
    (tmp_path / "requirements.txt").write_text(files["requirements.txt"])
    wanted = Settings(min_torch=TorchVersion(2, 15), machine=V100)
    result = analyse(RunOptions(tmp_path, (), Mode.DIFF, WHEEL_RULES, False, wanted, texts=("requirements.txt",)))
    (finding,) = left(result)
    assert finding.safety is Safety.UNSAFE and "--min-torch 2.14" in (finding.help or "")


# The checks on an edited file


@pytest.mark.parametrize(
    ("path", "text", "part", "replacement"),
    [
        ("pyproject.toml", 'a = "x"\n', '"x"', '"x'),
        ("pyproject.toml", 'a = "x"\nb = "y"\n', '"x"', '"x", c = "z"'),
        ("requirements.txt", "torch==2.1\n", "2.1", "two"),
        ("requirements.txt", "torch==2.1\n", "torch", "torch2"),
        ("a.sh", "pip install torch==2.1\n", "2.1", "2.1 ; rm x"),
        ("a.sh", "pip install torch==2.1\n", "2.1", "$(x)"),
        ("Dockerfile", "RUN a\nRUN b\n", "b", "b # c"),
        ("setup.cfg", "[a]\nb = c\n", "b = c", "[d]"),
        ("a.yml", "a:\n  - b\n", "b", "b c"),
    ],
)
def test_an_edit_that_changes_the_meaning_is_refused(path: str, text: str, part: str, replacement: str) -> None:
    shown = view(path, text)
    start = text.index(part)
    edits = text_edits(shown, [ReplaceText(Span(start, start + len(part)), replacement)])
    new = SourceText(text[:start] + replacement + text[start + len(part) :])
    assert problem_with_text(shown, edits, new) is not None


# Options


def test_gpus_are_named_as_people_name_them() -> None:
    machine = named_machine(["2xH100", "Tesla V100-SXM2-32GB", "sm_75"], "R580.95.05")
    assert [device.capability for device in machine.devices] == [(9, 0), (7, 0), (7, 5)]
    assert (machine.driver, machine.os, machine.machine) == ("580.95.05", "linux", "x86_64")
    assert named_machine(["DGX Spark"]).machine == "aarch64"


@pytest.mark.parametrize("names", [["GTX 99999"], ["H1000"], [""]])
def test_an_unknown_gpu_is_an_error(names: list[str]) -> None:
    with pytest.raises(MachineError):
        named_machine(names)


def test_a_facts_file_gives_gpus_and_driver(tmp_path: Path) -> None:
    machine = machine_in_facts(ROOT / "fixtures/machines/healthy_8xh100.json")
    assert {device.capability for device in machine.devices} == {(9, 0)} and len(machine.devices) == 8
    assert machine.driver == "580.95.05" and machine.glibc == (2, 39) and machine.python is None
    for text in ("{", "[]", '{"schema": 99}', '{"schema": 1, "gpus": []}'):
        (tmp_path / "facts.json").write_text(text)
        with pytest.raises(MachineError):
            machine_in_facts(tmp_path / "facts.json")


def test_the_facts_read_here_are_those_that_the_doctor_writes(tmp_path: Path) -> None:
    from doctor_machines import MACHINES, facts_file

    from torchlift.doctor.derived.machine_of import machine_of
    from torchlift.doctor.facts.facts_json import read_facts

    for name in MACHINES:
        path = Path(facts_file(name, tmp_path))
        facts = read_facts(path)
        wanted = machine_of(facts)
        nvidia = [device.capability for device in wanted.devices if device.vendor == "nvidia"]
        if "CUDA_VISIBLE_DEVICES" in facts.environment or not nvidia:
            continue
        found = machine_in_facts(path)
        assert [device.capability for device in found.devices] == nvidia, path.name
        assert (found.driver, found.os, found.machine) == (wanted.driver, wanted.os, wanted.machine), path.name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--driver", "580"], "goes with --gpus"),
        (["--gpus", "H100", "--facts", "x.json"], "in the place of"),
        (["--gpus", "H9999"], "no GPU"),
        (["--gpus", "H100", "--driver", "new"], "not a driver version"),
        (["--facts", "missing.json"], "cannot be read"),
    ],
)
def test_wrong_options_are_explained(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(migrate, [*arguments, "--isolated", str(tmp_path)])
    assert done.exit_code == 2 and message in done.output


def test_the_command_writes_what_the_facts_decide(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(f"--index-url {CU}cu121\ntorch==2.3.1\n")
    facts = ROOT / "fixtures/machines/healthy_8xh100.json"
    arguments = ["--isolated", "--allow-no-vcs", "--min-torch", "2.5", "--facts", str(facts), str(tmp_path)]
    assert CliRunner().invoke(migrate, arguments).exit_code == 0
    assert (tmp_path / "requirements.txt").read_text() == f"--index-url {CU}cu130\ntorch==2.15.0\n"
    done = CliRunner().invoke(migrate, ["--check", "--output-format", "json", *arguments])
    assert json.loads(done.stdout)["findings"] == []


def test_the_last_torchaudio_goes_with_the_cudas_that_it_is_built_for(tmp_path: Path) -> None:
    text = f"--index-url {CU}cu118\ntorch==2.3.1\ntorchaudio==2.3.1\n"
    built = after(run(tmp_path, {"requirements.txt": text}), "requirements.txt")
    assert built == f"--index-url {CU}cu130\ntorch==2.15.0\ntorchaudio==2.11.0\n"
    for_cu132 = Machine((Device("H100", (9, 0)),), driver="595.58.03")
    assert after(run(tmp_path, {"requirements.txt": text}, for_cu132, unsafe=True), "requirements.txt") is None


CERTAIN = {
    "a build without CUDA": (
        "2.14",
        "torch==2.13.0+cpu",
        "--index-url {CU}cpu",
        "torch==2.14.1+cpu",
        "--index-url {CU}cpu",
        "safe",
    ),
    "the same drivers and GPUs": (
        "2.6",
        "torch==2.5.1",
        "--index-url {CU}cu121",
        "torch==2.6.0",
        "--index-url {CU}cu124",
        "safe",
    ),
    "the same from the default index": ("2.6", "torch==2.5.1", "", "torch==2.6.0", "", "safe"),
    "another CUDA of the same drivers": ("2.12", "torch==2.11.0", "", "torch==2.12.1", "", "safe"),
    "a default that leaves GPUs out": ("2.8", "torch==2.7.1", "", "torch==2.8.0", "", "unsafe"),
    "fewer GPUs": ("2.8", "torch==2.7.1", "--index-url {CU}cu118", "", "", "manual"),
    "a newer driver": ("2.15", "torch==2.14.1", "--index-url {CU}cu126", "", "", "manual"),
}


@pytest.mark.parametrize("name", CERTAIN)
def test_without_named_gpus_only_what_serves_all_of_them_is_safe(tmp_path: Path, name: str) -> None:
    target, pin, index, new_pin, new_index, safety = CERTAIN[name]
    before, wanted = (
        "".join(f"{line.format(CU=CU)}\n" for line in lines if line) for lines in ((index, pin), (new_index, new_pin))
    )
    (tmp_path / "requirements.txt").write_text(before)
    for unsafe in (False, True):
        options = Settings(target=TorchVersion.parse(target), min_torch=TorchVersion(2, 5))
        done = analyse(RunOptions(tmp_path, (), Mode.DIFF, WHEEL_RULES, unsafe, options, texts=("requirements.txt",)))
        assert after(done, "requirements.txt") == (
            wanted if safety == "safe" or (unsafe and safety == "unsafe") else None
        )


def test_a_newer_python_that_nothing_tells_of_needs_review(tmp_path: Path) -> None:
    text = f"RUN pip install torch==2.3.1+cpu --index-url {CU}cpu\n"
    assert after(run(tmp_path, {"Dockerfile": text}, None), "Dockerfile") is None
    assert after(run(tmp_path, {"Dockerfile": f"FROM python:3.12\n{text}"}, None), "Dockerfile") is not None
    assert after(run(tmp_path, {"Dockerfile": f"FROM python:3.9\n{text}"}, None), "Dockerfile") is None


def test_what_pip_compile_wrote_is_not_edited(tmp_path: Path) -> None:
    text = "# This file is autogenerated by pip-compile with Python 3.12\ntorch==2.3.1\n"
    done = run(tmp_path, {"requirements.txt": text}, unsafe=True)
    assert after(done, "requirements.txt") is None and "made this file" in left(done)[0].help


def test_a_suppression_in_a_requirement_file_is_heeded(tmp_path: Path) -> None:
    text = f"--index-url {CU}cu121  # torchlift: ignore[TL301] old cluster\ntorch==2.3.1  # torchlift: ignore[TL309]\n"
    result = run(tmp_path, {"requirements.txt": text})
    assert result.suppressed == 2 and left(result) == [] and after(result, "requirements.txt") is None


# What the tables say


def test_indexes_end_where_the_tables_say() -> None:
    assert {build: lines_of(build)[-1] for build in ("cu118", "cu121", "cu124", "cu126", "cu128", "cu130")} == {
        "cu118": (2, 7),
        "cu121": (2, 5),
        "cu124": (2, 6),
        "cu126": (2, 14),
        "cu128": (2, 11),
        "cu130": (2, 15),
    }
    assert lines_of("cpu") == () and lines_of("cu113") == ()


@pytest.mark.parametrize(
    ("torch", "name", "wanted", "together"),
    [
        ("==2.1.2", "torchvision", "==0.16.2", True),
        ("==2.1.2", "torchvision", "==0.16.1", False),
        ("==2.1.2", "torchvision", ">=0.20", False),
        (">=2.1", "torchvision", ">=0.20", True),
        ("==2.15.0", "torchvision", "==0.29.0", True),
        ("==2.13.0", "torchvision", "==0.29.0", False),
        ("==2.15.0", "torchvision", "==0.29.9", True),
        ("==2.15.0", "torchvision", ">=0.40", True),
        ("==1.13.1", "torchvision", "==0.14.1", True),
        ("==2.6.0", "torchaudio", "==2.6.0", True),
        ("==2.6.0", "torchaudio", "==2.5.1", False),
        ("==2.15.0", "torchaudio", "==2.11.0", True),
        ("==2.15.0", "triton", "==3.9.1", True),
        ("==2.6.0", "triton", "==3.1.0", False),
        ("==2.99.0", "torchvision", "==0.29.0", True),
        (">=2.1", "torchvision", "==0.1.0", True),
    ],
)
def test_companions_go_together_as_their_metadata_says(torch: str, name: str, wanted: str, together: bool) -> None:
    assert can_go_together(torch, name, wanted) is together


def test_a_companion_is_known_for_every_torch_it_was_made_for() -> None:
    assert companion_of("torchvision", "2.5.1") == "0.20.1"
    assert companion_of("torchaudio", "2.15.0") is None
    assert companion_of("triton", "2.15.0") == "3.9.0"


def test_files_that_requirements_include_are_read_whatever_they_are_called(tmp_path: Path) -> None:
    files = {
        "requirements.txt": "numpy\n-r lists/gpu.txt\n-c 'lists/limits.in'\n-r ../outside.txt\n-r missing.txt\n-r requirements.txt\n",
        "lists/gpu.txt": f"--index-url {CU}cu121\n-r more.txt\n",
        "lists/more.txt": "torch==2.9.0\ntriton==3.1.0\n",
        "lists/limits.in": f"--extra-index-url {CU}cu118\n",
        "lists/data.txt": f"--extra-index-url {CU}cu118\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path.parent / "outside.txt").write_text(f"--extra-index-url {CU}cu118\n")
    command = ["--check", "--isolated", "--select", "TL3", "--output-format", "json"]
    found = json.loads(CliRunner().invoke(migrate, [*command, str(tmp_path)]).stdout)["findings"]
    assert {Path(finding["filename"]).name for finding in found} == {"gpu.txt", "more.txt", "limits.in"}
    alone = json.loads(CliRunner().invoke(migrate, [*command, str(tmp_path / "requirements.txt")]).stdout)["findings"]
    assert alone == []
    named = json.loads(CliRunner().invoke(migrate, [*command, str(tmp_path / "lists/data.txt")]).stdout)["findings"]
    assert [finding["code"] for finding in named] == ["TL301"]


def test_a_build_is_not_moved_away_from_an_index_that_is_named_elsewhere_in_the_file(tmp_path: Path) -> None:
    text = f"[testenv]\ndeps =\n    torch==2.4.0+cu121\nsetenv =\n    PIP_EXTRA_INDEX_URL = {CU}cu121\n"
    result = run(tmp_path, {"tox.ini": text}, unsafe=True)
    (outcome,) = result.outcomes
    assert outcome.new_text is None
    assert any("both change together" in (finding.help or "") for finding in outcome.left)


@pytest.mark.parametrize("exclude", ["exclude:\n    -", "exclude:\n  -", "exclude: # why\n  - python: 3\n   "])
def test_what_a_matrix_excludes_is_no_pin(exclude: str) -> None:
    text = f"matrix:\n  torch: ['torch==2.7.1']\n  {exclude} torch: 'torch==2.7.1'\nsteps: []\n"
    read = view("ci.yml", text)
    assert [is_excluded(read, at) for at in (text.index("torch=="), text.rindex("torch=="), text.index("steps"))] == [
        False,
        True,
        False,
    ]


def test_a_wheel_for_later_releases_too_is_bound_to_none() -> None:
    assert compiled_for("a-0.1.0+cu130torch2.9.0andhigher-cp39-abi3-win_amd64.whl", Span(0, 0), (2, 15)) == ""
    assert compiled_for("a-0.1.0+cu130torch2.9.0-cp39-win_amd64.whl", Span(0, 0), (2, 15)) != ""
