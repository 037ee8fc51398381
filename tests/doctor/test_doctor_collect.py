"""All probes together: nothing raises, nothing is waited for, nothing is left behind."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import jsonschema
import pytest

from torchlift import __version__
from torchlift.doctor import collect as module
from torchlift.doctor.collect import Options, collect
from torchlift.doctor.facts import Facts
from torchlift.doctor.facts.facts_json import from_json, to_json
from torchlift.doctor.schemas import facts_schema

posix = pytest.mark.skipif(os.name != "posix", reason="a program is a script with #!")


def program(path: Path, script: str) -> str:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def failures(facts: Facts, probe: str) -> list[tuple[str, str]]:
    return [(failure.outcome, failure.detail) for failure in facts.failures if failure.probe == probe]


@pytest.fixture(scope="module")
def here() -> Facts:
    return collect(Options(python=sys.executable))


def test_the_facts_of_this_machine_obey_the_schema_and_survive_json(here: Facts) -> None:
    text = json.dumps(to_json(here))
    jsonschema.Draft202012Validator(facts_schema()).validate(json.loads(text))
    assert from_json(json.loads(text)) == here


def test_every_probe_has_said_something_about_this_machine(here: Facts) -> None:
    assert here.failures == []
    assert here.torchlift == __version__
    assert here.taken.endswith("+00:00")
    assert here.system.os and here.environment["PATH"]
    assert here.nvml.outcome != "not-run"
    assert here.libcuda.outcome != "not-run"
    assert here.python.version == ".".join(map(str, sys.version_info[:3]))


def test_torch_is_found_without_being_imported_here() -> None:
    code = (
        "import sys; from torchlift.doctor.collect import *; facts = collect(Options(python=sys.executable));"
        "print(facts.torch.version, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    version, imported = done.stdout.split()
    # Metadata of a wheel from torch's own index may leave out the local part, as those of 2.11.0+cu130 do.
    assert (version.partition("+")[0], imported) == (metadata.version("torch").partition("+")[0], "False")


def test_an_interpreter_that_is_not_there_is_a_failure_of_one_probe(tmp_path: Path) -> None:
    facts = collect(Options(python=str(tmp_path / "absent"), scan_libraries=False))
    ((outcome, detail),) = failures(facts, "interpreter")
    assert outcome == "error" and detail.startswith(f"There is no Python at {tmp_path}/absent.")
    assert facts.system.os and facts.libcuda.outcome != "not-run"


@posix
@pytest.mark.parametrize(
    ("script", "outcome"),
    [("exec sleep 60", "timeout"), ("kill -SEGV $$", "crashed"), ("exit 3", "error"), ("echo nonsense", "error")],
)
def test_a_python_that_is_none_is_a_failure_of_what_runs_under_it(tmp_path: Path, script: str, outcome: str) -> None:
    facts = collect(Options(python=program(tmp_path / "python", script), timeout=1.5))
    assert [found for found, _ in failures(facts, "interpreter")] == [outcome]
    assert facts.system.os and facts.nvml.outcome != "not-run"


@pytest.mark.parametrize(
    "name", ["system", "pci_cards", "kernel_driver", "toolkits", "other_accelerators", "environment"]
)
def test_a_defect_of_a_probe_is_a_failure_and_the_others_go_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise LookupError("a hole")

    monkeypatch.setattr(module, name, broken)
    facts = collect(Options(python=sys.executable, scan_libraries=False))
    ((outcome, detail),) = [(failure.outcome, failure.detail) for failure in facts.failures]
    assert outcome == "error"
    assert detail.startswith("A defect of torchlift: LookupError: a hole (test_doctor_collect.py:")
    assert facts.python.version


def test_a_defect_in_reading_an_answer_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise TypeError("odd")

    monkeypatch.setattr(module.python_environment, "read", broken)
    facts = collect(Options(python=sys.executable, scan_libraries=False))
    assert [detail[:38] for _, detail in failures(facts, "interpreter")] == ["A defect of torchlift: TypeError: odd "]
    assert facts.libcuda.outcome != "not-run"


@posix
def test_an_interrupted_run_leaves_no_process_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = tmp_path / "pid"

    def interrupted(_: object) -> None:
        while not (note.exists() and note.read_text().endswith("\n")):
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "toolkits", interrupted)
    python = program(tmp_path / "python", f"echo $$ > {note}; sleep 600")
    with pytest.raises(KeyboardInterrupt):
        collect(Options(python=python))
    process = int(note.read_text())
    for _ in range(500):
        try:
            os.killpg(process, 0)
        except ProcessLookupError:
            return
        # The shell is our child, and a zombie until it is asked for.
        with contextlib.suppress(ChildProcessError):
            os.waitpid(process, os.WNOHANG)
        time.sleep(0.01)
    pytest.fail("the child still runs")


def test_bytes_that_are_no_text_can_be_written_and_printed(tmp_path: Path) -> None:
    variables = {**os.environ, "LD_LIBRARY_PATH": os.fsdecode(b"/caf\xe9")}
    facts = collect(Options(python=sys.executable, environment=variables, root=tmp_path, scan_libraries=False))
    assert facts.environment["LD_LIBRARY_PATH"] == "/caf\\xe9"
    json.dumps(to_json(facts), ensure_ascii=False).encode()
