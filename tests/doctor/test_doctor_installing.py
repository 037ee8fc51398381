"""Commands for the way in which people install, indexes that are set, and pins as files."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner
from doctor_machines import changed
from packaging.requirements import Requirement

from torchlift.cli import torchlift
from torchlift.doctor.checks.registry import all_checks
from torchlift.doctor.derived.installing import chosen_way, indexes_of, ways_shown
from torchlift.doctor.facts import Facts, IndexSetting, Installing
from torchlift.doctor.facts.facts_json import to_json
from torchlift.doctor.probes.installing import installing
from torchlift.doctor.probes.world import World
from torchlift.doctor.remedies.pin_set import PinFormat
from torchlift.doctor.remedies.wheel_remedy import fitted, wheel_answer, wheel_remedy
from torchlift.wheels.answer import Choice

try:
    import tomllib
except ImportError:
    import tomli as tomllib

CU126 = "https://download.pytorch.org/whl/cu126"
V100 = {"torch": None, "packages.-torch": None, "packages.-torchvision": None}


def v100(**changes: Any) -> Facts:
    """A V100 in whose environment torch is yet to be installed."""
    return changed("healthy_v100", {**V100, **changes})


def choice(facts: Facts) -> Choice:
    found = fitted(facts, wheel_answer(facts)).choice
    assert found is not None
    return found


def setting(tool: str, role: str, address: str, source: str = "PIP_INDEX_URL") -> IndexSetting:
    return IndexSetting(tool, role, address, source)


@pytest.mark.parametrize(
    ("way", "command"),
    [
        ("uv-project", f'uv add "torch==2.14.*" --index pytorch-cu126={CU126}'),
        ("poetry", f"poetry source add --priority=explicit pytorch-cu126 {CU126} && "
                   'poetry add --source pytorch-cu126 "torch==2.14.*"'),
        ("pixi", f'pixi add --pypi "torch==2.14.*" --index {CU126}'),
        ("conda", f'conda create -y -n torch python=3.12 && conda run -n torch python -m pip install "torch==2.14.*" '
                  f"--index-url {CU126}"),
        ("dockerfile", f'RUN pip install --no-cache-dir "torch==2.14.*" --index-url {CU126}'),
    ],
)  # fmt: skip
def test_each_way_of_installing_has_a_command(way: str, command: str) -> None:
    facts = v100()
    facts.installing.chosen = way
    assert dict(choice(facts).ways)[way] == command
    assert wheel_remedy(facts).command == command


def test_the_default_index_is_not_named() -> None:
    facts = changed("healthy_h100", V100)
    facts.installing = Installing("/home/user/project", ["uv", "poetry", "pixi", "docker"])
    assert choice(facts).ways == (
        ("uv-project", "uv add torch"),
        ("poetry", "poetry add torch"),
        ("pixi", "pixi add --pypi torch"),
        ("dockerfile", "RUN pip install --no-cache-dir torch"),
    )


@pytest.mark.parametrize(
    ("prefix", "tools", "way"),
    [
        ("/home/user/project/.venv", ["uv"], "uv-project"),
        ("/home/user/project/.venv", ["poetry"], "poetry"),
        ("/home/user/.cache/pypoetry/virtualenvs/x-py3.12", ["poetry"], "poetry"),
        ("/home/user/project/.pixi/envs/default", ["pixi"], "pixi"),
        ("/home/user/elsewhere", ["uv"], None),
        ("/home/user/project/.venv", ["docker"], None),
    ],
)
def test_the_tool_that_made_the_environment_installs_into_it(prefix: str, tools: list[str], way: str | None) -> None:
    facts = v100(**{"python.prefix": prefix})
    facts.installing = Installing("/home/user/project", tools)
    assert chosen_way(facts) == way
    assert (way or "dockerfile" if "docker" in tools else way or "uv-project") in ways_shown(facts)


def test_a_conda_environment_is_installed_into_by_its_own_pip() -> None:
    facts = v100(**{"python.conda_environment": "/opt/conda/envs/my env", "python.prefix": "/opt/conda/envs/my env"})
    assert dict(choice(facts).ways)["conda"] == (
        f"conda run -p '/opt/conda/envs/my env' python -m pip install \"torch==2.14.*\" --index-url {CU126}"
    )


# Indexes


def test_a_mirror_of_pypi_stays_the_index_for_all_else() -> None:
    facts = v100()
    facts.installing.indexes = [
        setting("pip", "index", "https://mirror.example/simple"),
        setting("uv", "index", "https://mirror.example/simple", "UV_DEFAULT_INDEX"),
    ]
    found = choice(facts)
    assert found.pip.endswith(f'install "torch==2.14.1+cu126" --extra-index-url {CU126}')
    assert found.uv.endswith(f'install "torch==2.14.*" --index {CU126}')
    said = " ".join(found.reasons)
    assert "https://mirror.example/simple (PIP_INDEX_URL) stays the index" in said and "UV_DEFAULT_INDEX" in said


def test_a_mirror_of_pytorchs_index_is_used_for_the_right_build() -> None:
    facts = v100()
    facts.installing.indexes = [setting("pip", "index", "https://mirror.example/pytorch/whl/cu130/")]
    found = choice(facts)
    assert found.pip.endswith('install "torch==2.14.*" --index-url https://mirror.example/pytorch/whl/cu126')
    assert found.uv.endswith(f"--index-url {CU126}")


def test_a_mirror_of_pypi_is_named_where_its_wheel_is_the_right_one() -> None:
    facts = changed("healthy_h100", V100)
    facts.installing.indexes = [
        setting("pip", "index", "https://mirror.example/simple", "global.index-url in /etc/pip.conf")
    ]
    found = choice(facts)
    assert found.pip.endswith("install torch")
    assert "pip takes it from https://mirror.example/simple (global.index-url in /etc/pip.conf)" in found.reasons


def test_where_no_index_may_be_asked_the_wheels_have_to_be_brought() -> None:
    facts = v100()
    facts.installing.indexes = [setting("pip", "none", "", "PIP_NO_INDEX"), setting("pip", "links", "/opt/wheels")]
    found = choice(facts)
    assert found.pip.endswith('install "torch==2.14.1+cu126"')
    note = next(reason for reason in found.reasons if "PIP_NO_INDEX" in reason)
    assert "/opt/wheels" in note and f'pip download "torch==2.14.*" --index-url {CU126} -d wheels' in note


def test_a_variable_counts_more_than_a_file_and_pypi_itself_not_at_all() -> None:
    facts = Facts()
    facts.installing.indexes = [
        setting("pip", "index", "https://one.example/simple"),
        setting("pip", "index", "https://two.example/simple", "global.index-url in /etc/pip.conf"),
        setting("pip", "index", "https://three.example/simple", "global.index-url in /home/user/.config/pip/pip.conf"),
        setting("uv", "index", "https://pypi.org/simple", "UV_INDEX_URL"),
    ]
    assert indexes_of(facts, "pip").instead == facts.installing.indexes[0]
    assert indexes_of(facts, "uv").instead is None
    del facts.installing.indexes[0]
    assert indexes_of(facts, "pip").instead == facts.installing.indexes[1]


# What the probe sees


def world(tmp_path: Path, files: dict[str, str], **environment: str) -> World:
    for name, text in files.items():
        path = tmp_path / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return World(tmp_path, environment, "linux", "x86_64")


def test_settings_of_pip_and_uv_are_read_without_their_secrets(tmp_path: Path) -> None:
    files = {
        "/etc/pip.conf": "[global]\nindex-url = https://user:secret@one.example/simple\n",
        "/home/u/.config/pip/pip.conf": "[global]\nextra-index-url =\n  https://two.example/simple\n  https://t@three.example\n",
        "/venv/pip.conf": "[install]\nno-index = true\nfind-links = /opt/wheels\n",
        "/home/u/.config/uv/uv.toml": '[[index]]\nurl = "https://x:y@four.example/simple?token=secret"\ndefault = true\n',
        "/etc/xdg/pip/pip.conf": "no section\n",
    }
    variables = {
        "HOME": "/home/u",
        "VIRTUAL_ENV": "/venv",
        "PIP_INDEX_URL": "https://me:secret@five.example/simple",
        "UV_INDEX": "mirror=https://six.example/simple https://seven.example/simple",
        "PIP_NO_INDEX": "0",
    }
    found = installing(world(tmp_path, files, **variables)).indexes
    assert [(one.tool, one.role, one.address) for one in found] == [
        ("pip", "index", "https://five.example/simple"),
        ("uv", "extra", "https://six.example/simple"),
        ("uv", "extra", "https://seven.example/simple"),
        ("pip", "index", "https://one.example/simple"),
        ("pip", "extra", "https://two.example/simple"),
        ("pip", "extra", "https://three.example"),
        ("pip", "links", "/opt/wheels"),
        ("pip", "none", ""),
        ("uv", "index", "https://four.example/simple"),
    ]
    assert "secret" not in repr(found)
    assert found[3].source == "global.index-url in /etc/pip.conf"


@pytest.mark.parametrize(
    ("files", "tools"),
    [
        ({"uv.lock": ""}, ["uv"]),
        ({"pyproject.toml": "[tool.poetry]\n", "Dockerfile": ""}, ["poetry", "docker"]),
        ({"pyproject.toml": "[tool.pixi.workspace]\n"}, ["pixi"]),
        ({"pixi.toml": ""}, ["pixi"]),
        ({"environment.yml": ""}, ["conda"]),
        ({"pyproject.toml": "[project]\n"}, []),
    ],
)
def test_a_folder_shows_its_tools_from_below_too(tmp_path: Path, files: dict[str, str], tools: list[str]) -> None:
    place = world(tmp_path, {**files, ".git/HEAD": "", "src/deep/x.py": ""})
    found = installing(place, tmp_path / "src" / "deep")
    assert found.tools == tools
    assert found.folder == (str(tmp_path) if tools else None)


def test_settings_of_a_uv_project_are_read_and_explicit_indexes_are_not_meant(tmp_path: Path) -> None:
    text = '[tool.uv]\nindex-url = "https://one.example/simple"\n[[tool.uv.index]]\nurl = "https://two.example"\nexplicit = true\n'
    found = installing(world(tmp_path, {"pyproject.toml": text}), tmp_path).indexes
    assert [(one.role, one.address, one.source) for one in found] == [
        ("index", "https://one.example/simple", "index-url in [tool.uv] of pyproject.toml")
    ]


def test_broken_settings_are_passed_over(tmp_path: Path) -> None:
    files = {"/etc/pip.conf": "\0[", "/etc/uv/uv.toml": "= [", "pyproject.toml": "tool = 3"}
    assert installing(world(tmp_path, files), tmp_path).indexes == []


# Pins as files


MACHINES = {
    "V100": ["--gpu", "V100", "--driver", "580.95.05"],
    "H100": ["--gpu", "H100", "--driver", "595.58.03"],
    "H100 with the long-term driver": ["--gpu", "H100", "--driver", "580.95.05"],
    "T4 with an older driver": ["--gpu", "T4", "--driver", "535.104.05"],
    "RTX 5090": ["--gpu", "RTX 5090", "--driver", "575.57.08"],
    "K80": ["--gpu", "K80", "--driver", "470.82.01"],
}


def emitted(kind: str, *options: str) -> str:
    result = CliRunner().invoke(torchlift, ["doctor", *options, "--emit", kind])
    assert result.exit_code == 0, result.output
    return result.output


def pinned(kind: str, text: str) -> tuple[str, str | None]:
    """The version of torch and the index that a pin set names, by a parser of its kind."""
    if kind == "requirements":
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        index = next((line.split()[1] for line in lines if line.startswith("--extra-index-url ")), None)
        (torch,) = [Requirement(line) for line in lines if line.startswith("torch=")]
        return str(torch.specifier).removeprefix("=="), index
    if kind == "dockerfile":
        words = shlex.split(text.splitlines()[-1])
        assert words[:4] == ["RUN", "pip", "install", "--no-cache-dir"]
        index = words[words.index("--index-url") + 1] if "--index-url" in words else None
        return words[4].removeprefix("torch=="), index
    table = tomllib.loads(text)
    if kind == "pixi":
        wanted = table["pypi-dependencies"]["torch"]
        version, index = (wanted, None) if isinstance(wanted, str) else (wanted["version"], wanted["index"])
        return version.removeprefix("=="), index
    (torch,) = [Requirement(item) for item in table["project"]["dependencies"] if item.startswith("torch==")]
    source = table.get("tool", {}).get("uv", {}).get("sources", {}).get("torch", {}).get("index")
    indexes = {one["name"]: one for one in table.get("tool", {}).get("uv", {}).get("index", [])}
    assert all(one["explicit"] for one in indexes.values())
    return str(torch.specifier).removeprefix("=="), indexes[source]["url"] if source else None


@pytest.mark.parametrize("machine", MACHINES)
def test_each_form_pins_the_wheel_of_the_answer(machine: str) -> None:
    report = json.loads(CliRunner().invoke(torchlift, ["doctor", *MACHINES[machine], "--json"]).output)
    chosen = report["answer"]["choice"]
    for kind in get_args(PinFormat):
        version, index = pinned(kind, emitted(kind, *MACHINES[machine]))
        assert version.partition("+")[0] == chosen["version"], kind
        assert version.partition("+")[2] in ("", chosen["build"]), kind
        assert index == chosen["index"], kind


FILE = {"requirements": "requirements.txt", "uv": "pyproject.toml", "dockerfile": "Dockerfile"}


@pytest.mark.parametrize("machine", ["healthy_v100", "healthy_h100", "healthy_8xh100", "healthy_4090", "windows_4090"])
@pytest.mark.parametrize("kind", FILE)
def test_migrate_agrees_with_the_pins_that_the_doctor_writes(tmp_path: Path, machine: str, kind: str) -> None:
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps(to_json(changed(machine, {}))), encoding="utf-8")
    text = emitted(kind, "--facts", str(facts))
    project = tmp_path / "project"
    project.mkdir()
    name = '[project]\nname = "x"\nversion = "0"\nrequires-python = ">=3.11"\n'
    head = {"dockerfile": "FROM python:3.12-slim\n", "uv": ""}.get(kind, "")
    (project / FILE[kind]).write_text(head + text.replace("[project]\n", name), encoding="utf-8")
    assert findings(project, facts) == []


def findings(project: Path, facts: Path) -> list[Any]:
    """What the rules about wheels say of a project for a machine."""
    arguments = [
        "migrate",
        "--check",
        "--select",
        "TL3",
        "--facts",
        str(facts),
        "--output-format",
        "json",
        str(project),
    ]
    result = CliRunner().invoke(torchlift, arguments)
    found: list[Any] = json.loads(result.stdout)["findings"]
    assert result.exit_code == bool(found)
    return found


def test_migrate_does_not_agree_with_a_pin_that_the_doctor_would_not_write(tmp_path: Path) -> None:
    text = emitted("requirements", *MACHINES["V100"]).replace("2.14.1", "2.15.0")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "requirements.txt").write_text(text, encoding="utf-8")
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps(to_json(changed("healthy_v100", {}))), encoding="utf-8")
    assert findings(tmp_path / "project", facts)


def test_pins_hold_the_companions_that_are_installed(tmp_path: Path) -> None:
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps(to_json(changed("healthy_v100", {}))), encoding="utf-8")
    assert "torchvision==0.29.2\n" in emitted("requirements", "--facts", str(facts))


def test_where_no_one_wheel_is_right_nothing_is_pinned() -> None:
    options = ["--gpu", "P100", "--gpu", "RTX 5090", "--driver", "580.95.05", "--emit", "uv"]
    result = CliRunner().invoke(torchlift, ["doctor", *options])
    assert result.exit_code == 1 and result.stdout == ""
    assert "There is nothing to pin. No single wheel" in result.stderr


def test_comments_of_a_pin_set_are_no_requirements() -> None:
    text = emitted("requirements", *MACHINES["V100"])
    assert re.match(r"# torchlift doctor: torch 2\.14 \(cu126\) runs on V100", text)


def test_the_address_of_a_mirror_is_redacted_in_commands_too(tmp_path: Path) -> None:
    facts = v100()
    facts.installing = Installing("/home/jane/secretproject", ["uv"])
    facts.installing.indexes = [
        setting(
            "pip", "index", "https://mirror.corp.example/simple", "global.index-url in /home/jane/.config/pip/pip.conf"
        ),
        setting("uv", "index", "https://mirror.corp.example/pytorch/whl/cu130/", "UV_INDEX_URL"),
    ]
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(to_json(facts)), encoding="utf-8")
    for form in ("--json", "-v"):
        text = CliRunner().invoke(torchlift, ["doctor", "--facts", str(file), "--redact", form]).output
        assert "jane" not in text and "corp.example" not in text and "secretproject" not in text
        assert "/cu126" in text


def test_a_fix_of_a_companion_is_from_the_mirror_too() -> None:
    facts = changed("healthy_v100", {"packages.torchvision.version": "0.29.2+cu130"})
    facts.installing.indexes = [setting("pip", "index", "https://mirror.example/whl/cu126")]
    (check,) = [check for check in all_checks() if check.id == "companion-mismatch"]
    commands = [result.remedy.command or "" for result in check.look(facts) if result.remedy is not None]
    assert any("--index-url https://mirror.example/whl/cu126" in command for command in commands), commands


def test_pins_go_with_no_report() -> None:
    result = CliRunner().invoke(torchlift, ["doctor", "--gpu", "H100", "--emit", "uv", "--json"])
    assert result.exit_code == 2 and "--emit writes pins and no report" in result.output
