"""Rules about changed behaviour, where settings or several files decide, and the facts they rest on, run with torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from example_project import all_findings, analyse_files, new_bytes
from torch_programs import TorchPrograms

from torchlift.finding import Finding, Safety
from torchlift.migrate.find.check import Dispatcher
from torchlift.project import Project
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Settings
from torchlift.versions import TorchVersion

ONNX = "import torch\n\n\ndef write(net, x):\n    torch.onnx.export(net, (x,), 'net.onnx', dynamic_axes={'x': [0]})\n"
EXPORT = "import torch\n\n\ndef capture(net, x):\n    return torch.export.export(net, (x,))\n"
EXTENSION = (
    "from torch.utils.cpp_extension import load\n\n\ndef build():\n"
    "    flags = ['-O3']\n    flags.append('-std={}')\n    return load('fast', ['fast.cpp'], extra_cflags=flags)\n"
)


def found(folder: Path, code: str, text: str, target: str = "2.15", low: str | None = None) -> list[Finding]:
    """Findings of one rule in one file of a project that goes to `target` and keeps `low`."""
    (folder / "file.py").write_text(text, encoding="utf-8")
    project = Project(folder, ["file.py"])
    settings = Settings(TorchVersion.parse(target), TorchVersion.parse(low or target))
    rule = all_rules()[code]
    asked = [rule] if rule.since is None or rule.since <= settings.target else []
    checked = Dispatcher(asked).check(project, project.parse("file.py"), settings)
    assert not checked.failures
    return list(checked.findings)


@pytest.mark.parametrize(
    ("code", "text", "before", "since"),
    [
        ("TL503", ONNX, "2.8", "2.9"),
        ("TL505", "import torch\n\nnet = torch.hub.load('someone/tools', 'net')\n", "2.10", "2.11"),
        (
            "TL506",
            "import torch\n\ntorch.backends.fp32_precision = 'tf32'\nprint(torch.backends.cuda.matmul.allow_tf32)\n",
            "2.8",
            "2.9",
        ),
        ("TL507", "def f(prof):\n    return [e.cuda_time_total for e in prof.key_averages()]\n", "2.3", "2.4"),
        ("TL508", EXTENSION.format("c++17"), "2.13", "2.14"),
        (
            "TL509",
            "from torch.utils.data import DataLoader\n\nloader = DataLoader([], pin_memory_device='cuda')\n",
            "2.8",
            "2.9",
        ),
        (
            "TL510",
            "import torch.nn.parallel as p\n\n\ndef f(m):\n"
            "    return p.DistributedDataParallel(m, broadcast_buffers=False)\n",
            "2.12",
            "2.13",
        ),
        ("TL511", "import torch\n\nbusy = torch.cuda.is_current_stream_capturing()\n", "2.11", "2.12"),
    ],
)
def test_a_change_is_reported_from_the_release_that_made_it(
    tmp_path: Path, code: str, text: str, before: str, since: str
) -> None:
    assert found(tmp_path, code, text, before) == []
    assert [finding.code for finding in found(tmp_path, code, text, since)] == [code]


@pytest.mark.parametrize(
    ("low", "target", "reported"),
    [
        ("2.6", "2.15", True),
        ("2.7", "2.8", True),
        ("2.8", "2.15", False),
        ("2.5", "2.7", False),
        ("2.15", "2.15", False),
    ],
)
def test_an_export_is_reported_only_where_both_defaults_of_strict_are_supported(
    tmp_path: Path, low: str, target: str, reported: bool
) -> None:
    assert bool(found(tmp_path, "TL504", EXPORT, target, low)) is reported


def test_the_captures_that_torchlift_writes_are_not_reported_afterwards(tmp_path: Path) -> None:
    text = "import torch\n\nnet = torch.nn.Linear(3, 2).eval()\nmodel = torch.jit.trace(net, torch.ones(1, 3))\nmodel(torch.ones(4, 3))\n"
    low = TorchVersion(2, 6)
    written = new_bytes(analyse_files(tmp_path, {"a.py": text}, unsafe=True, min_torch=low), "a.py")
    assert written is not None and b"strict=False" in written
    again = analyse_files(tmp_path, {"a.py": written}, min_torch=low)
    assert not [finding for finding in all_findings(again) if finding.code.startswith("TL50")]


@pytest.mark.parametrize(("low", "fixed"), [("2.4", False), ("2.5", True), ("2.15", True)])
def test_the_old_exporter_is_asked_for_only_where_every_supported_torch_has_the_parameter(
    tmp_path: Path, low: str, fixed: bool
) -> None:
    (finding,) = found(tmp_path, "TL503", ONNX, low=low)
    assert (finding.fix is not None) is fixed
    assert finding.safety is (Safety.UNSAFE if fixed else Safety.MANUAL)
    assert (f"torch {low}, which this project supports" in finding.message) is (low != "2.15")


def test_a_traced_value_for_onnx_is_one_finding_and_its_fix_leaves_none(tmp_path: Path) -> None:
    text = (
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n\n\ndef write():\n"
        "    net, x = Net(), torch.ones(2)\n"
        "    torch.onnx.export(torch.jit.trace(net, x), (x,), 'net.onnx', dynamic_axes={'x': [0]})\n"
    )
    result = analyse_files(tmp_path, {"a.py": text}, unsafe=True)
    assert {finding.code for finding in all_findings(result)} >= {"TL135"}
    assert "TL503" not in {finding.code for finding in all_findings(result)}
    written = new_bytes(result, "a.py")
    assert written is not None and b"dynamo=True" in written
    again = analyse_files(tmp_path, {"a.py": written})
    assert not {finding.code for finding in all_findings(again)} & {"TL135", "TL503"}


def test_asking_for_the_old_exporter_goes_on_being_reported_without_a_fix(tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"a.py": ONNX}, unsafe=True)
    written = new_bytes(result, "a.py")
    assert written is not None and b"dynamo=False" in written
    left = [finding for finding in all_findings(analyse_files(tmp_path, {"a.py": written})) if finding.code == "TL503"]
    assert [finding.safety for finding in left] == [Safety.MANUAL]


@pytest.mark.parametrize(
    ("standard", "target", "asked"),
    [("c++14", "2.13", "C++17"), ("c++14", "2.14", "C++20"), ("gnu++17", "2.15", "C++20"), ("c++17", "2.13", None)],
)
def test_a_standard_is_raised_to_what_the_target_needs(
    tmp_path: Path, standard: str, target: str, asked: str | None
) -> None:
    findings = found(tmp_path, "TL508", EXTENSION.format(standard), target)
    assert [finding.fix.title for finding in findings if finding.fix] == ([f"Ask for {asked}"] if asked else [])


def test_a_device_to_pin_for_stays_where_the_project_reads_it(tmp_path: Path) -> None:
    loader = "from torch.utils.data import DataLoader\n\n\ndef make(data):\n    return DataLoader(data, pin_memory_device='cuda')\n"
    reader = "def where(loader):\n    return loader.pin_memory_device\n"
    alone = analyse_files(tmp_path / "alone", {"a.py": loader})
    read = analyse_files(tmp_path / "read", {"a.py": loader, "b.py": reader})
    assert new_bytes(alone, "a.py") is not None
    assert new_bytes(read, "a.py") is None
    assert "TL509" in [finding.code for finding in all_findings(read)]


def test_calls_for_cuda_alone_are_reported_only_when_asked_for() -> None:
    off = {code for code, rule in all_rules().items() if code.startswith("TL5") and not rule.default}
    assert off == {"TL511"}


# What TL506 says about settings and questions. The settings are those of one process, so each pair gets a child of its own.
MIXED = """
import os

import torch

backends = torch.backends
pairs = {pairs!r}
result = []
for setting, question in pairs:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            exec(setting)
            exec(question)
            os.write(writer, b"answered")
        except RuntimeError:
            os.write(writer, b"raised")
        os._exit(0)
    os.close(writer)
    result.append(os.read(reader, 100).decode())
    os.waitpid(child, 0)
print(*result)
"""
PAIRS = {
    ("backends.cuda.matmul.fp32_precision = 'tf32'", "backends.cuda.matmul.allow_tf32"): "raised",
    ("backends.cuda.matmul.fp32_precision = 'tf32'", "torch.get_float32_matmul_precision()"): "raised",
    ("backends.fp32_precision = 'tf32'", "backends.cuda.matmul.allow_tf32"): "raised",
    ("backends.fp32_precision = 'ieee'", "backends.cudnn.allow_tf32"): "raised",
    ("backends.cudnn.fp32_precision = 'ieee'", "backends.cudnn.allow_tf32"): "raised",
    ("backends.cudnn.conv.fp32_precision = 'ieee'", "backends.cudnn.allow_tf32"): "raised",
    ("backends.cudnn.rnn.fp32_precision = 'ieee'", "backends.cudnn.flags().__enter__()"): "raised",
    ("backends.cuda.matmul.fp32_precision = 'ieee'", "backends.cuda.matmul.allow_tf32"): "answered",
    ("backends.cuda.matmul.fp32_precision = 'tf32'", "backends.cudnn.allow_tf32"): "answered",
    ("backends.cudnn.conv.fp32_precision = 'tf32'", "backends.cudnn.allow_tf32"): "answered",
    ("backends.cudnn.conv.fp32_precision = 'ieee'", "backends.cuda.matmul.allow_tf32"): "answered",
}


def test_the_settings_that_are_said_to_clash_do(tmp_path: Path) -> None:
    # A process of its own: whoever has left `torch.backends.cudnn.flags` once has set convolutions to what they were.
    program = [sys.executable, "-c", MIXED.format(pairs=list(PAIRS))]
    done = subprocess.run(program, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split() == list(PAIRS.values())


@pytest.mark.parametrize(("setting", "question"), PAIRS)
def test_the_rule_reports_the_settings_that_clash_and_no_others(tmp_path: Path, setting: str, question: str) -> None:
    text = f"from torch import backends\nimport torch\n\n{setting}\nkept = {question.removesuffix('.__enter__()')}\n"
    assert bool(found(tmp_path, "TL506", text)) is (PAIRS[setting, question] == "raised")


def test_profiler_names_are_gone_and_kept_where_the_rule_says_so(tmp_path: Path, torch_programs: TorchPrograms) -> None:
    old = [target.removeprefix("*.") for target in all_rules()["TL507"].targets]
    code = (
        "import torch\n\nwith torch.autograd.profiler.profile() as prof:\n    torch.ones(3) + 1\n"
        f"entry, event = prof.key_averages()[0], prof.function_events[0]\nold = {old}\n"
        "new = [name.replace('cuda', 'device') for name in old]\n"
        "result = [[hasattr(x, name) for name in names] for x in (entry, event) for names in (old, new)]\n"
    )
    _, answers = torch_programs.run(tmp_path, {}, code)
    averages_old, averages_new, events_old, events_new = [[value for _, value in row] for _, row in answers]
    assert not any(averages_old)
    assert all(averages_new) and all(events_new)
    assert [name for name, there in zip(old, events_old, strict=True) if there] == [
        "cuda_time_total",
        "self_cuda_time_total",
        "self_cuda_memory_usage",
    ]
