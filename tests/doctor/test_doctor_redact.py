"""`--redact`: what is somebody's own does not survive, and what matters does."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from doctor_machines import MACHINES, healthy
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlift.doctor.checks.registry import all_checks
from torchlift.doctor.diagnose import Diagnosed, diagnose
from torchlift.doctor.examination import Examination
from torchlift.doctor.facts import DriverLibrary, Facts, Library, Package, ProbeFailure
from torchlift.doctor.facts.facts_json import to_json
from torchlift.doctor.repo import ProjectReport
from torchlift.doctor.report import json_report, markdown, text
from torchlift.doctor.report.page import machine as page
from torchlift.doctor.report.redact import redact_facts, redacted
from torchlift.terminal.style import Style

names = st.from_regex(r"[a-z]{3,8}[0-9]{2}[a-z]{2}", fullmatch=True)
uuids = st.tuples(*(st.text("abcdef", min_size=n, max_size=n) for n in (8, 4, 4, 4, 12))).map("-".join)


def outputs(examination: Examination) -> str:
    """Everything that a run can show or save."""
    facts = json.dumps(to_json(examination.facts))
    shown = text.render(examination, Style(width=10_000), verbose=True)
    forms = (json_report.render(examination), markdown.render(examination), page.render(examination))
    return "\n".join((facts, shown, *forms))


def examined(facts: Facts, project: ProjectReport | None = None) -> Examination:
    return Examination(facts, diagnose(facts, all_checks()), project=project)


def somebody(user: str, host: str, company: str, uuid: str, home: str) -> Facts:
    """A machine on which names stand in every place where one was ever seen."""
    facts = healthy("healthy_h100")
    environment = f"{home}/{company}/venv"
    site = f"{environment}/lib/python3.12/site-packages"
    facts.python.prefix = environment
    facts.python.executable = f"{environment}/bin/python"
    facts.python.path = [f"{home}/{company}/src", site]
    facts.python.user_site = f"{home}/.local/lib/python3.12/site-packages"
    assert facts.torch is not None
    facts.torch.path = f"{site}/torch"
    facts.torch.other_copies = [f"{home}/.local/lib/python3.12/site-packages/torch"]
    facts.gpus[0].uuid = f"GPU-{uuid}"
    facts.libcuda.devices[0].uuid = f"GPU-{uuid}"
    facts.packages.append(
        Package(f"{company}-ops", "1.0", f"{site}/x-1.0.dist-info", source_url=f"https://git.{company}.test/{user}/ops")
    )
    facts.packages[-1].name = "ops"
    facts.libraries.append(Library(f"/scratch/{user}/ops.so", "ops", 10, error=f"cannot read /scratch/{user}/ops.so"))
    facts.kernel_driver.libraries.append(
        DriverLibrary(
            "libcuda.so.1", f"{home}/{company}/stubs/libcuda.so.1", "/usr/lib/libcuda.so.1", None, 1, "directory", True
        )
    )
    facts.environment = {
        "PATH": f"{home}/bin:{environment}/bin:/usr/bin",
        "LD_LIBRARY_PATH": f"/data/{company}/lib:/usr/local/cuda/lib64",
        "VIRTUAL_ENV": environment,
        "CUDA_VISIBLE_DEVICES": f"GPU-{uuid[:8]}",
        "MASTER_ADDR": host,
        "HOSTNAME": f"{host}.{company}.test",
        "NCCL_SOCKET_IFNAME": f"{company}0",
        "TORCHELASTIC_RUN_ID": f"{user}-experiment",
        "PYTORCH_ALLOC_CONF": "expandable_segments:True",
        "NCCL_DEBUG": "INFO",
    }
    facts.failures = [ProbeFailure("interpreter", "error", f"ssh {user}@{host}.test: {home}/x of {user} on {host}")]
    return facts


@settings(max_examples=25)
@given(user=names, host=names, company=names, uuid=uuids, parent=st.sampled_from(["/home", "/Users", "/data/home"]))
def test_no_name_survives_anywhere(user: str, host: str, company: str, uuid: str, parent: str) -> None:
    if len({user, host, company}) < 3:
        return
    home = f"{parent}/{user}"
    facts = somebody(user, host, company, uuid, home)
    before = outputs(examined(facts))
    project = ProjectReport(
        f"{home}/{company}",
        indexes=(f"https://pip.{company}.test/simple",),
        notes=(f"See https://pip.{company}.test/simple.",),
    )
    after = outputs(redacted(examined(facts, project)))
    for secret in (user, host, company, uuid, home, uuid[:8]):
        assert secret in before
        assert secret.lower() not in after.lower(), re.findall(f".{{0,60}}{secret}.{{0,60}}", after, re.IGNORECASE)[:3]


def test_the_name_of_this_machine_goes_from_its_own_facts_wherever_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.node", lambda: "node77xy.cluster.test")
    facts = healthy("healthy_h100")
    facts.hypothetical = False
    facts.failures.append(ProbeFailure("nvml", "error", "no answer from node77xy"))
    after = json.dumps(to_json(redact_facts(facts)))
    assert "no answer from" in after and "node77xy" not in after


def test_what_matters_stays() -> None:
    after = redact_facts(
        somebody("jane12ab", "node77xy", "acme42qq", "01234567-89ab-cdef-0123-456789abcdef", "/home/jane12ab")
    )
    assert after.environment["NCCL_DEBUG"] == "INFO"
    assert after.environment["PYTORCH_ALLOC_CONF"] == "expandable_segments:True"
    assert after.environment["PATH"].endswith(":/usr/bin")
    assert after.environment["LD_LIBRARY_PATH"].endswith("/lib:/usr/local/cuda/lib64")
    assert after.gpus[0].pci_address == healthy("healthy_h100").gpus[0].pci_address
    assert after.torch is not None and after.torch.version == "2.15.0+cu132"
    assert after.torch.path.endswith("/lib/python3.12/site-packages/torch")


def test_the_same_thing_gets_the_same_placeholder() -> None:
    after = redact_facts(
        somebody("jane12ab", "node77xy", "acme42qq", "01234567-89ab-cdef-0123-456789abcdef", "/home/jane12ab")
    )
    assert after.gpus[0].uuid == after.libcuda.devices[0].uuid
    assert after.gpus[0].uuid is not None
    assert after.gpus[0].uuid.startswith(after.environment["CUDA_VISIBLE_DEVICES"])
    assert after.python.prefix is not None and after.torch is not None
    assert after.torch.path.startswith(f"{after.python.prefix}/")
    assert after.environment["VIRTUAL_ENV"] == after.python.prefix


def statuses(findings: tuple[Diagnosed, ...]) -> list[tuple[str, str]]:
    return [(item.check.id, item.result.status) for finding in findings for item in finding.all()]


@pytest.mark.parametrize("machine", MACHINES)
def test_redacted_facts_give_the_same_diagnosis(machine: str) -> None:
    facts = healthy(machine)
    assert statuses(diagnose(redact_facts(facts), all_checks())) == statuses(diagnose(facts, all_checks()))


@pytest.mark.parametrize("machine", MACHINES)
def test_redacting_twice_changes_nothing_more(machine: str) -> None:
    once = redact_facts(healthy(machine))
    assert to_json(redact_facts(once)) == to_json(once)


def test_windows_paths_and_names_with_blanks_are_replaced() -> None:
    facts = healthy("windows_4090")
    facts.python.prefix = r"C:\Users\Jane Doeing\proj\venv"
    facts.python.executable = r"C:\Users\Jane Doeing\proj\venv\Scripts\python.exe"
    facts.failures = [ProbeFailure("x", "error", r"cannot open C:\Users\Jane Doeing\proj\venv\x.dll of Jane Doeing")]
    after = json.dumps(to_json(redact_facts(facts)))
    assert "Jane" not in after and "Doeing" not in after and "proj" not in after


def test_a_user_called_like_a_package_does_not_take_the_package_away() -> None:
    facts = healthy("healthy_h100")
    facts.python.prefix = "/home/torch/venv"
    after = redact_facts(facts)
    assert after.package("torch") is not None
    assert "/home/torch" not in json.dumps(to_json(after))


def test_links_to_documentation_stay() -> None:
    facts = healthy("healthy_h100")
    facts.torch = replace(facts.torch, version="2.15.0+cpu", cuda=None) if facts.torch else None
    before, after = examined(facts), redacted(examined(facts))
    links = [item.result.link for finding in before.findings for item in finding.all() if item.result.link]
    assert [item.result.link for finding in after.findings for item in finding.all() if item.result.link] == links
