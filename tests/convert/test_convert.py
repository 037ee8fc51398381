"""What `torchlift convert` makes of archives of every kind, and that it writes nothing that does something else."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import hostile_archives
import jsonschema
import pytest
import torch
import torchscript_archives as archives
from click.testing import CliRunner, Result
from commands import told
from exhaustive import is_exhaustive

import torchlift.convert
from torchlift.convert.road.cli import convert
from torchlift.convert.road.converting import Converter, ConvertWish, evidence_hash
from torchlift.convert.road.given_inputs import InputsUnreadable, from_evidence, given_by_user
from torchlift.convert.road.record import Conversion
from torchlift.convert.road.step import FoundInputs, NoResult, Task
from torchlift.convert.road.trying import first_that_runs
from torchlift.convert.schemas import PUBLISHED
from torchlift.convert.translation.eager import python_of
from torchlift.evidence.file import read_evidence
from torchlift.evidence.records import RecordedEvidence
from torchlift.json_records.reading import read_record
from torchlift.json_records.schema import schema_text
from torchlift.testing import FreshProcesses

# What has no single program, or none that torch can write, and the word of the report that says why.
NOT_CONVERTED = {
    "state_in_python": "TorchScript 2.471234, migrated 1.471234",
    "cache_in_a_list": "migrated 0.4712336",
    "scripted_gru": "rows + 3",
    "state_in_a_branch": "only the data knows",
    "list_grown_by_data": "only the data knows",
    "branch_on_dtype": "other dtype",
    "factories": "other dtype",
    "integers": "one row",
    "texts": "deserializing",
    "scripted_function": "other numbers",
}
QUICK = ("traced_function",)


def _converted(name: str, folder: Path, processes: FreshProcesses, **wish: object) -> Conversion:
    words = archives.ARCHIVES[name].inputs
    asked = ConvertWish(inputs=None if words is None else given_by_user(words), **wish)  # type: ignore[arg-type]
    first, *_ = Converter(asked, processes).convert(archives.write(name, folder), folder / f"{name}.pt2")
    return first


@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.exhaustive)
        for name in archives.ARCHIVES
        if name not in NOT_CONVERTED
    ],
)
def test_an_archive_becomes_a_program_that_does_the_same(name: str, tmp_path: Path, processes: FreshProcesses) -> None:
    done = _converted(name, tmp_path, processes)
    program = next(iter(sorted(tmp_path.glob("*.pt2"))), None)
    assert done.outcome == "converted", done.said
    assert program is not None
    assert isinstance(torch.export.load(program), torch.export.ExportedProgram)
    manifest = json.loads(program.with_name(f"{program.name}.json").read_text())
    jsonschema.validate(manifest, PUBLISHED["manifest"]())
    assert {case["verdict"] for case in manifest["conversion"]["cases"]} == {"same"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NOT_CONVERTED)
def test_what_has_no_program_is_refused_with_the_reason(name: str, tmp_path: Path, processes: FreshProcesses) -> None:
    done = _converted(name, tmp_path, processes)
    assert done.outcome in ("differs", "failed")
    assert NOT_CONVERTED[name] in done.said + "".join(str(one.failed) for one in done.tried)
    assert not list(tmp_path.glob("*.pt2*"))


@pytest.mark.parametrize(
    "name",
    [name if name == "enums" else pytest.param(name, marks=pytest.mark.exhaustive) for name in archives.ARCHIVES],
)
def test_emitted_python_does_what_the_archive_does_without_torchlift(
    name: str, tmp_path: Path, processes: FreshProcesses
) -> None:
    done = _converted(name, tmp_path, processes, emit_python=tmp_path / "out")
    assert done.outcome == "converted", done.said
    test = next(path for path in done.written if Path(path).name.startswith("test_"))
    if is_exhaustive():
        blocked = "import sys; sys.modules['torchlift'] = None; sys.argv = sys.argv[1:]; import runpy; "
        code = (
            f"{blocked}sys.path.insert(0, {str(tmp_path / 'out')!r}); runpy.run_path(sys.argv[0], run_name='__main__')"
        )
        command = [sys.executable, "-W", "ignore", "-c", code, test, str(tmp_path / f"{name}.pt")]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert ran.stdout.strip() == "same", ran.stderr


def _run(*words: object) -> Result:
    return CliRunner().invoke(convert, [str(word) for word in words])


@pytest.mark.parametrize("name", hostile_archives.HOSTILE)
def test_a_hostile_file_is_not_loaded(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "mark"
    monkeypatch.setenv(hostile_archives.MARK, str(mark))
    path = hostile_archives.write(name, tmp_path)

    class NoProcesses(FreshProcesses):
        def run(self, *words: object, **named: object) -> object:  # type: ignore[override]
            raise AssertionError("something of it was about to be loaded")

    (done,) = Converter(ConvertWish(), NoProcesses()).convert(path, tmp_path / "out.pt2")
    assert done.outcome == "refused"
    assert done.said.endswith(".")
    assert not mark.exists()
    assert not (tmp_path / "out.pt2").exists()


def test_an_archive_that_torch_reads_otherwise_is_not_loaded(tmp_path: Path, processes: FreshProcesses) -> None:
    path = archives.write("scripted_mlp", tmp_path)
    for digests in ({"code/__torch__.py": "of another code"}, {}):
        task = Task(str(path), digests, "forward", [(["float32[4,6]"], {})])
        (answer,) = processes.run("torchlift.convert.road.children:list_inputs", task).records
        assert isinstance(answer, NoResult)
        assert "tables contradict" in answer.text


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("torch.zeros([1000000000000])", "memory"),
        ("torch.add(x, torch.ones([3, 3, 3, 3, 3]), out=x)", "hostile"),
    ],
)
def test_what_asks_for_too_much_ends_with_a_sentence(
    body: str, said: str, tmp_path: Path, processes: FreshProcesses
) -> None:
    path = tmp_path / "hostile.pt"
    path.write_bytes(hostile_archives.torchscript(body))
    (done,) = Converter(ConvertWish(given_by_user("float32[2]")), processes).convert(path, tmp_path / "o.pt2")
    assert done.outcome in ("refused", "failed")
    assert said in done.said


def test_an_archive_that_was_traced_on_a_gpu_is_run_and_written_with_the_cpu_in_its_place(
    tmp_path: Path, processes: FreshProcesses
) -> None:
    body = 'torch.add(x, torch.zeros([1], dtype=6, layout=0, device=torch.device("cuda:0"), pin_memory=False))'
    path = tmp_path / "from_gpu.pt"
    path.write_bytes(hostile_archives.torchscript(body))
    (done,) = Converter(ConvertWish(given_by_user("float32[2]")), processes).convert(path, tmp_path / "o.pt2")
    assert done.outcome == "converted", done.said
    assert "names cuda:0" in done.assumption
    assert torch.equal(torch.export.load(tmp_path / "o.pt2").module()(torch.ones(2)), torch.ones(2))
    wish = ConvertWish(given_by_user("float32[2]"), emit_python=tmp_path / "python")
    (done,) = Converter(wish, processes).convert(path, tmp_path / "o.pt2")
    test = next(one for one in done.written if Path(one).name.startswith("test_"))
    ran = subprocess.run([sys.executable, "-W", "ignore", test, path], capture_output=True, text=True, check=False)
    assert ran.stdout.strip() == "same", ran.stderr


def test_what_is_missing_to_run_an_archive_is_named(tmp_path: Path, processes: FreshProcesses) -> None:
    said = []
    for body in ("ops.torchvision.nms(x, x, 0.5)", "ops.prepacked.conv2d_clamp_run(x, x)"):
        path = tmp_path / "needs.pt"
        path.write_bytes(hostile_archives.torchscript(body))
        (done,) = Converter(ConvertWish(given_by_user("float32[2]")), processes).convert(path, tmp_path / "o.pt2")
        assert done.outcome == "refused"
        said.append(done.said)
    assert "torchvision, which is" in said[0]
    assert "optimize_for_mobile" in said[1] and "does not know" in said[1]


def test_an_endless_loop_is_ended(tmp_path: Path, processes: FreshProcesses) -> None:
    lines = ("n = 0", "while torch.ge(n, 0):", "  n = torch.add(n, 1)", "return torch.mul(x, n)")
    code = hostile_archives._CODE.format(body="x").replace("    return x", "\n".join(f"    {line}" for line in lines))
    path = tmp_path / "endless.pt"
    path.write_bytes(hostile_archives.torchscript(code=code))
    wish = ConvertWish(given_by_user("float32[2]"), seconds=1.0)
    (done,) = Converter(wish, processes).convert(path, tmp_path / "o.pt2")
    assert "--timeout" in done.said


def test_inputs_are_taken_from_the_user_before_the_trace(tmp_path: Path, processes: FreshProcesses) -> None:
    path = archives.write("traced_mlp", tmp_path)
    ways = []
    for wish in (ConvertWish(check_only=True), ConvertWish(given_by_user("float32[3,6]"), check_only=True)):
        (done,) = Converter(wish, processes).convert(path, tmp_path / "o.pt2")
        ways.append((done.inputs_from, done.inputs))
    assert ways == [("trace", "float32[4,6]"), ("user", "float32[3,6]")]
    assert not list(tmp_path.glob("*.pt2*"))


def test_inputs_are_taken_from_calls_that_a_run_recorded_of_this_archive(tmp_path: Path) -> None:
    path = archives.write("scripted_mlp", tmp_path)
    call = {"method": "forward", "args": ["float32[7,6]"], "count": 3}
    value = {"id": 1, "of": {"name": "m:Mlp"}, "calls": [call], "wrote": [{"content": evidence_hash(path)}]}
    place = {
        "id": "a",
        "file": "a.py",
        "line": 3,
        "column": 0,
        "end_line": 3,
        "end_column": 9,
        "api": "torch.jit.script",
    }
    evidence = read_record(
        RecordedEvidence,
        {
            "schema_version": 1,
            "torchlift": "0",
            "sites": [{**place, "text_sha": "", "scope_sha": "", "values": [value]}],
        },
    )
    (given,) = from_evidence(evidence, evidence_hash(path), "forward")
    assert (given.args, given.source, given.said) == (["float32[7,6]"], "evidence", "recorded at a.py:3.")
    assert from_evidence(evidence, "another", "forward") == []


def test_calls_of_an_archive_whose_source_is_lost_are_recorded_and_taken_from_evidence(tmp_path: Path) -> None:
    archive = archives.write("scripted_mlp", tmp_path)
    program = f"import torch\n\nmodel = torch.jit.load('{archive.name}')\nfor rows in (5, 5, 9):\n    model(torch.rand(rows, 6))\n"
    (tmp_path / "use.py").write_text(program)
    line = [sys.executable, "-m", "torchlift", "record", "-o", "evidence.json", "--", sys.executable, "use.py"]
    subprocess.run(line, cwd=tmp_path, check=True, capture_output=True, timeout=300)
    evidence = read_evidence(tmp_path / "evidence.json")
    assert not evidence.sites
    (load,) = evidence.loads
    assert [(call.args, call.count, call.via, call.site) for call in load.calls] == [
        (["float32[5,6]"], 2, "load", "use.py:5:5"),
        (["float32[9,6]"], 1, "load", "use.py:5:5"),
    ]
    given = from_evidence(evidence, evidence_hash(archive), "forward")
    assert [(one.args, one.said) for one in given] == [
        (["float32[5,6]"], "recorded at use.py:3."),
        (["float32[9,6]"], "recorded at use.py:3."),
    ]


def test_inputs_that_were_found_by_trying_are_said_to_be_an_assumption(
    tmp_path: Path, processes: FreshProcesses
) -> None:
    path = archives.write("scripted_convolutions", tmp_path)
    (done,) = Converter(ConvertWish(check_only=True), processes).convert(path, tmp_path / "o.pt2")
    assert (done.outcome, done.inputs_from) == ("same", "search")
    assert "Nobody gave inputs" in done.assumption


@pytest.mark.parametrize(
    ("name", "operator"),
    [
        ("layers_in_branches", "branch("),
        ("break_by_data", "loop("),
        ("counted_by_data", "repeat("),
        ("checks_of_data", "demand("),
        ("branch_on_shape", None),
        ("state_in_a_branch", None),
        ("list_grown_by_data", None),
    ],
)
def test_branches_and_loops_by_data_become_operators_where_functions_can_stand_for_them(
    name: str, operator: str | None, tmp_path: Path
) -> None:
    path = archives.write(name, tmp_path)
    written, _ = python_of(path, flow=True)
    assert written.flows == (operator is not None)
    assert operator is None or operator in written.text.partition("class ")[2]
    assert not python_of(path)[0].flows, "the module for people has Python's own statements"


class Strict(torch.nn.Module):
    """Takes two things of a dictionary, a rate, and pictures of one size."""

    def forward(self, parts: dict[str, torch.Tensor], rate: int) -> torch.Tensor:
        if rate not in [8000, 16000]:
            raise ValueError("rates are 8000 and 16000")
        return parts["table"][parts["places"]].view(-1, 1, 28, 28) * rate


def test_inputs_are_found_by_what_errors_ask_for() -> None:
    script = torch.jit.script(Strict())  # type: ignore[no-untyped-call]
    found = first_that_runs(script, [([{"dict": {}}, 2], {})], True, time.monotonic() + 60)
    assert isinstance(found, FoundInputs), found
    assert found.args[1] in (8000, 16000)
    assert set(found.args[0]["dict"]) == {"table", "places"}
    assert isinstance(first_that_runs(script, [([{"dict": {}}, 2], {})], False, time.monotonic() + 60), NoResult)


class Pictures(torch.nn.Module):
    """Takes pictures of one size, which its layers cannot tell: two convolutions take borders off first."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Conv2d(3, 5, 5), torch.nn.MaxPool2d(2), torch.nn.Conv2d(5, 4, 5))
        self.last = torch.nn.Linear(4 * 9 * 9, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.flatten(torch.relu(self.layers(x)), 1))


class Forces(torch.nn.Module):
    """Takes places that ask for their gradient, and returns it, as models of molecules do."""

    def forward(self, parts: dict[str, torch.Tensor]) -> torch.Tensor:
        energy = (parts["places"] ** 2).sum() * parts["volume"].sum()
        force = torch.autograd.grad([energy], [parts["places"]])[0]
        assert force is not None
        return force


def test_sizes_of_pictures_are_found_from_the_points_that_a_layer_wanted() -> None:
    script = torch.jit.script(Pictures().eval())  # type: ignore[no-untyped-call]
    found = first_that_runs(script, [(["float32[2,3,64,64]"], {})], True, time.monotonic() + 60)
    assert isinstance(found, FoundInputs), found
    assert found.tried < 50
    assert script(torch.rand(eval(found.args[0].removeprefix("float32")))).shape == (2, 2)


def test_inputs_that_ask_for_their_gradient_are_found_and_written(tmp_path: Path, processes: FreshProcesses) -> None:
    path = tmp_path / "forces.pt"
    torch.jit.save(torch.jit.script(Forces()), str(path))  # type: ignore[no-untyped-call]
    wish = ConvertWish(emit_python=tmp_path / "out")
    (done,) = Converter(wish, processes).convert(path, tmp_path / "forces.pt2")
    assert done.outcome == "converted", done.said
    assert '"places": float32[4,3]+grad' in done.inputs
    assert given_by_user(done.inputs).args[0] == {"dict": {"places": "float32[4,3]+grad", "volume": "float32[4,3]"}}
    command = [sys.executable, "-W", "ignore", str(tmp_path / "out" / "test_forces.py"), str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.stdout.strip() == "same", ran.stderr


@pytest.mark.exhaustive
def test_a_difference_is_written_only_if_the_case_is_allowed_by_name(tmp_path: Path, processes: FreshProcesses) -> None:
    path = archives.write("integers", tmp_path)
    given = given_by_user("float32[6,4] 4 true")
    outcomes = []
    for allowed in (frozenset(), frozenset(("one row", "other numbers")), frozenset(("inputs as given",))):
        (done,) = Converter(ConvertWish(given, allowed=allowed, overwrite=True), processes).convert(
            path, tmp_path / "o.pt2"
        )
        outcomes.append((done.outcome, (tmp_path / "o.pt2").exists()))
        (tmp_path / "o.pt2").unlink(missing_ok=True)
    assert outcomes == [("differs", False), ("converted", True), ("differs", False)]


@pytest.mark.exhaustive
def test_one_program_for_each_method_that_is_named(tmp_path: Path) -> None:
    path = archives.write("several_methods", tmp_path)
    done = _run(path, "--method", "encode", "--inputs", "float32[4,6]")
    assert done.exit_code == 0, done.output
    program = torch.export.load(tmp_path / "several_methods.encode.pt2").module()
    x = torch.rand(5, 6)
    torch.testing.assert_close(program(x), torch.jit.load(str(path)).encode(x))  # type: ignore[no-untyped-call]


def test_a_program_that_is_there_is_kept_and_many_files_have_one_summary(tmp_path: Path) -> None:
    for name in ("traced_mlp", "enums"):
        archives.write(name, tmp_path)
    (tmp_path / "enums.pt2").write_bytes(b"somebody's")
    done = _run(tmp_path, "--json")
    assert done.exit_code == 1
    answer = json.loads(done.stdout)
    jsonschema.validate(answer, PUBLISHED["convert"]())
    assert [one["outcome"] for one in answer["files"]] == ["refused", "converted"]
    assert (tmp_path / "enums.pt2").read_bytes() == b"somebody's"


def test_archives_of_one_name_do_not_overwrite_each_other(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / "in" / folder).mkdir(parents=True)
        archives.write("scripted_mlp", tmp_path / "in" / folder)
    ours = [tmp_path / "in" / folder / "scripted_mlp.pt" for folder in ("one", "two")]
    done = _run(tmp_path / "in", "--emit-python", tmp_path / "python", "--inputs", "float32[4,6]")
    assert done.exit_code == 0, done.output
    assert len(list((tmp_path / "python").glob("*/scripted_mlp.py"))) == 2
    done = _run(*ours, "-o", tmp_path / "out", "--overwrite", "--inputs", "float32[4,6]")
    assert done.exit_code == 1
    assert "was written for" in done.output and "a folder of its own" in done.output


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--inputs", "float33[2]"], 2, "is no input"),
        (["--inputs", "true", "--inputs-file", "x"], 2, "not both"),
        (["--evidence", "none.json"], 2, "cannot be read"),
        (["--method", "nothing"], 1, "has no method 'nothing'"),
    ],
)
def test_bad_words_are_answered_with_a_sentence(words: list[str], code: int, said: str, tmp_path: Path) -> None:
    done = _run(archives.write("traced_mlp", tmp_path), *words)
    assert done.exit_code == code
    assert said in done.output


def test_words_of_inputs_are_read() -> None:
    given = given_by_user('float32[4, 3] \'relu\' 2 ["int64[2]<9", 1.5] mask=bool[3] names={"a": "float32[1]"}')
    assert given.args == ["float32[4,3]", {"str": "relu"}, 2, ["int64[2]<9", 1.5]]
    assert given.kwargs == {"mask": "bool[3]", "names": {"dict": {"a": "float32[1]"}}}
    with pytest.raises(InputsUnreadable):
        given_by_user("mask=bool[3] float32[1]")


@pytest.mark.parametrize("name", ["convert", "manifest"])
def test_published_schemas_are_made_anew(name: str) -> None:
    published = Path(torchlift.convert.__file__).with_name(f"{name}.schema.json")
    assert published.read_text(encoding="utf-8") == schema_text(PUBLISHED[name]()), (
        f"run: python -m torchlift.convert.schemas {name} > convert/{name}.schema.json"
    )


@pytest.mark.exhaustive
def test_a_program_for_executorch_is_written_only_if_its_runtime_does_the_same(tmp_path: Path) -> None:
    pytest.importorskip("executorch.runtime", reason="ExecuTorch is not installed")
    torch.jit.save(torch.jit.trace(torch.nn.Linear(6, 3).eval(), torch.rand(4, 6)), str(tmp_path / "net.pt"))
    refused = told(tmp_path, "convert", "net.pt", "--executorch")
    assert "ExecuTorch: " in refused.stdout and "rows + 3" in refused.stdout and not (tmp_path / "net.pte").exists()
    allowed = told(tmp_path, "convert", "net.pt", "--executorch", "--overwrite", "--allow", "rows + 3")
    assert "ExecuTorch: does the same" in allowed.stdout and (tmp_path / "net.pte").stat().st_size
