"""One program, recorded once: everything that the hooks see of it, and that it does not notice them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import evidence_programs as programs
import pytest
import torch

from torchlift.evidence.file import evidence_text, read_evidence
from torchlift.evidence.records import RecordedEvidence, RecordedSite, RecordedValue
from torchlift.record.hooks.pickled_names import unsafe_globals

pytestmark = pytest.mark.xdist_group("a recorded program")
OTHERS = "TORCHLIFT_TEST_PYTHONS"

_NET = """\
import torch


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = torch.nn.Linear(4, 3)
        self.labels = ["a", "b"]

    def forward(self, x):
        return torch.relu(self.encoder(x))

    @torch.jit.export
    def encode(self, x: torch.Tensor, twice: bool = False) -> torch.Tensor:
        return self.encoder(x) * (2 if twice else 1)


class Doubler(torch.jit.ScriptModule):
    @torch.jit.script_method
    def forward(self, x):
        return x * 2
"""

_MAIN = """\
import copy
import io
import random
import sys
import traceback
import warnings

import torch
from torch.jit import trace as make_trace

from net import Doubler, Net

warnings.simplefilter("ignore")
torch.manual_seed(3)
random.seed(3)


def traced():
    net = Net().eval()
    value = make_trace(net, torch.ones(2, 4), check_trace=False)
    for rows in (2, 3, 2, 2):
        value(torch.ones(rows, 4))
    value.save("net.pt")
    loaded = torch.jit.load("net.pt")
    print(loaded(torch.ones(5, 4)).sum())
    return value


def scripted():
    value = torch.jit.script(Net())
    value.encode(torch.ones(1, 4), twice=True)
    value.encoder(torch.ones(7, 4))
    value.eval()
    print(value.labels, value.training, len(value.code) > 10)
    buffer = io.BytesIO()
    torch.jit.save(value, buffer)
    buffer.seek(0)
    torch.jit.load(buffer)(x=torch.ones(1, 4))
    torch.jit.freeze(value)(torch.ones(2, 4))
    copy.deepcopy(value)(torch.ones(6, 4))


def local_names():
    factor = 3

    def helper(x):
        return x * 2

    @torch.jit.script
    class Pair:
        def __init__(self, x: torch.Tensor):
            self.x = x * 2

    @torch.jit.script
    def double(x):
        return x + 1

    double(torch.ones(3))
    try:
        double("three")
    except RuntimeError:
        traceback.print_exc()


def refused():
    try:
        torch.jit.script(lambda x: print(**x))
    except Exception:
        traceback.print_exc()
    torch.save({"net": Net()}, "net.pickle")
    torch.load("net.pickle", weights_only=False)
    try:
        torch.load("net.pickle")
    except Exception as error:
        print(type(error))


kept = traced()
scripted()
local_names()
refused()
Doubler()(torch.ones(2))
with torch.no_grad():
    kept(torch.zeros(4, 4).add_(1))
print(torch.rand(2), random.random(), [name for name in sys.modules if "sitecustomize" in name])
print([folder for folder in sys.path if "torchlift" in folder and "startup" in folder], torch.jit.trace.__name__)
sys.exit(7)
"""


class Done(NamedTuple):
    plain: subprocess.CompletedProcess[str]
    recorded: subprocess.CompletedProcess[str]
    evidence: RecordedEvidence

    def site(self, api: str, nth: int = 0) -> RecordedSite:
        found = [site for site in self.evidence.sites if site.api == api]
        return found[nth]

    def value(self, api: str, nth: int = 0) -> RecordedValue:
        return self.site(api, nth).values[0]


def interpreters() -> list[Any]:
    """This one, and those that are named, with other releases of torch: the hooks need nothing else from them."""
    named = [path for path in os.environ.get(OTHERS, "").split(os.pathsep) if path]
    reason = f"{OTHERS} names no interpreters with other releases of torch"
    missing = [] if named else [pytest.param("", marks=pytest.mark.skip(reason=reason), id="other torch")]
    return [sys.executable, *missing, *named]


@pytest.fixture(scope="module", params=interpreters())
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Done]:
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "net.py").write_text(_NET)
    (folder / "main.py").write_text(_MAIN)
    program = [request.param, "main.py"]
    record = [sys.executable, "-m", "torchlift", "record", "--no-prove", "-o", "evidence.json", "--", *program]
    plain, recorded = (
        subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        for command in (program, record)
    )
    yield Done(plain, recorded, read_evidence(folder / "evidence.json"))


def own_errors(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("record: "))


def test_the_command_keeps_output_errors_random_numbers_and_exit_status(done: Done) -> None:
    assert done.plain.returncode == done.recorded.returncode == 7
    assert done.recorded.stdout == done.plain.stdout
    # Before Python 3.11 a traceback through a call of TorchScript has a line more.
    if not done.evidence.python.startswith(("3.9.", "3.10.")):
        assert own_errors(done.recorded.stderr) == done.plain.stderr


def test_each_capture_is_found_at_its_column_and_in_its_function(done: Done) -> None:
    found = {(site.file, site.qualname, site.api) for site in done.evidence.sites}
    assert found == {
        ("main.py", "traced", "torch.jit.trace"),
        ("main.py", "scripted", "torch.jit.script"),
        ("main.py", "scripted", "torch.jit.freeze"),
        ("main.py", "local_names", "torch.jit.script"),
        ("main.py", "refused", "torch.jit.script"),
        ("main.py", "", "torch.jit.ScriptModule"),
    }
    trace = done.site("torch.jit.trace")
    line = _MAIN.splitlines()[trace.line - 1]
    assert line[trace.column - 1 :].startswith("make_trace(net")
    assert trace.keywords == ["check_trace"]
    assert trace.hits == 1


def test_calls_that_are_alike_are_one_and_are_counted(done: Done) -> None:
    value = done.value("torch.jit.trace")
    calls = {(call.args[0], call.via, call.count) for call in value.calls}
    assert calls == {
        ("float32[2,4]", "capture", 3),
        ("float32[3,4]", "capture", 1),
        ("float32[5,4]", "load", 1),
        ("float32[4,4]", "capture", 1),
    }
    assert value.varied == {"forward": {"args[0]": [0]}}
    assert value.of.name == "net:Net" and value.of.file == "net.py"


def test_methods_parts_copies_and_loaded_values_are_calls_of_the_capture(done: Done) -> None:
    scripts = [site for site in done.evidence.sites if site.qualname == "scripted" and site.api == "torch.jit.script"]
    value = scripts[0].values[0]
    calls = {(call.method, call.via) for call in value.calls}
    assert calls == {
        ("encode", "capture"),
        ("encoder.forward", "capture"),
        ("forward", "load"),
        ("forward", "copy"),
    }
    encode = next(call for call in value.calls if call.method == "encode")
    assert encode.kwargs == {"twice": True}
    assert "labels" in [touch.name for touch in value.attributes]
    assert "code" in [touch.name for touch in value.attributes]
    assert [touch.name for touch in value.operations] == ["eval"]


def test_writers_and_readers_of_an_archive_are_linked_by_its_bytes(done: Done) -> None:
    written = done.value("torch.jit.trace").wrote[0]
    assert written.path == "net.pt"
    archive = next(one for one in done.evidence.files if one.content == written.content)
    assert archive.writers == [f"{done.site('torch.jit.trace').id}#1"]
    assert len(archive.readers) == 1 and archive.readers[0].startswith("main.py:")


def test_a_capture_that_fails_is_broken_today(done: Done) -> None:
    failed = [site for site in done.evidence.sites if site.failed]
    assert [site.qualname for site in failed] == ["refused"]
    assert failed[0].failed[0].error


def test_what_weights_only_would_refuse_is_named(done: Done) -> None:
    loads = [load for load in done.evidence.loads if not load.torchscript]
    assert any("net.Net" in load.unsafe_globals and load.weights_only is False for load in loads)


@pytest.mark.skipif(
    not hasattr(torch.serialization, "get_unsafe_globals_in_checkpoint"),
    reason="torch 2.5 has nothing of its own to compare with",
)
def test_an_older_torch_is_told_the_same_about_what_weights_only_would_refuse(tmp_path: Path) -> None:
    for number, value in enumerate(({"path": Path("a"), "weight": torch.ones(2)}, {"weight": torch.ones(2)})):
        torch.save(value, tmp_path / f"{number}.pt")
        wanted = sorted(torch.serialization.get_unsafe_globals_in_checkpoint(tmp_path / f"{number}.pt"))
        assert unsafe_globals(str(tmp_path / f"{number}.pt")) == wanted
        with (tmp_path / f"{number}.pt").open("rb") as file:
            assert unsafe_globals(file) == wanted
    assert unsafe_globals(str(tmp_path / "1.pt")) == []
    torch.jit.save(torch.jit.script(torch.nn.ReLU()), str(tmp_path / "script.pt"))
    (tmp_path / "text.pt").write_text("no archive")
    assert [unsafe_globals(str(tmp_path / name)) for name in ("script.pt", "text.pt")] == [None, None]


def test_a_trace_after_a_compilation_is_seen_behind_what_dynamo_puts_around_it() -> None:
    program = "import torch\n\ntorch.compile(torch.relu, backend='eager')(torch.ones(2))\ntorch.jit.trace(torch.nn.ReLU(), torch.ones(2))\n"
    run = programs.recorded_text(program, limits={"seconds": 20, "nice": 0, "memory": 1 << 30})
    assert (run.status, [(site.api, site.line) for site in run.sites]) == (0, [("torch.jit.trace", 4)])


def test_no_data_is_in_the_file(done: Done) -> None:
    text = evidence_text(done.evidence)
    assert "0.088" not in text and str(Path.home()) not in text.replace(sys.executable, "")


@pytest.mark.parametrize(
    "path",
    sorted(
        path
        for room in ("record/hooks", "migrate/verification/inside", "src/torchlift/at_start/*")
        for path in Path(__file__).parents[2].glob(f"{room}/*.py")
    ),
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_what_runs_in_the_program_is_python_3_9_without_torchlift(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
    foreign = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
    assert foreign <= {"sitecustomize", "pluggy"}  # pytest, which imports the plugin, has pluggy
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Match)]
