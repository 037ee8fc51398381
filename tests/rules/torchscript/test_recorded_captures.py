"""Captures in the light of recorded runs: what evidence settles, what it cannot, and what it speaks against."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from example_project import analyse_files
from recorded_evidence import PROBES, place_of, proof, runs, site, source, value, written

from torchlift.evidence.known import KnownRuns
from torchlift.evidence.records import (
    EagerProof,
    ExportProof,
    FailedCapture,
    Modes,
    Proof,
    RecordedCall,
    RecordedExample,
    RecordedSite,
    RecordedValue,
    Touch,
)
from torchlift.finding import Finding, Safety
from torchlift.torchscript_intent import TorchScriptIntent

TRACE = "torch.jit.trace"
NET = """import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)

    def forward(self, x):
        return self.linear(x)


"""
FILES = {
    "net.py": NET
    + "def export(model, x):\n    traced = torch.jit.trace(model, x)\n    return traced\n\n\nexport(Net(), torch.rand(4, 3))\n"
}
MADE = "\n\na(Net(), torch.rand(4, 3))\nb(Net(), torch.rand(4, 3))\n"
EXPORTED = "torch.export.export(model, example_inputs, dynamic_shapes="


def traced(*values: RecordedValue, files: dict[str, str] = FILES, **more: object) -> RecordedSite:
    return site(files, "net.py", "torch.jit.trace", TRACE, *values, **more)


def migrated(
    folder: Path, evidence: KnownRuns | None, files: dict[str, str] = FILES, *, unsafe: bool = False
) -> tuple[dict[str, str], list[Finding]]:
    """New texts by file, and every finding about TorchScript."""
    result = analyse_files(folder, files, evidence=evidence, unsafe=unsafe)
    assert not result.failures
    found = [finding for one in result.outcomes for finding in (*one.fixed, *one.left)]
    changed = {one.path: one.new_text for one in result.outcomes if one.new_text is not None}
    return changed, [finding for finding in found if finding.code.startswith("TL1")]


def only(folder: Path, evidence: KnownRuns | None, files: dict[str, str] = FILES) -> tuple[dict[str, str], Finding]:
    changed, (finding,) = migrated(folder, evidence, files)
    return changed, finding


def test_without_evidence_the_capture_is_for_review(tmp_path: Path) -> None:
    changed, finding = only(tmp_path, None)
    assert (changed, finding.safety) == ({}, Safety.UNSAFE)
    assert finding.notes == ()


def test_a_program_that_gave_the_same_on_two_shapes_is_written_and_says_on_what_it_was_proved(tmp_path: Path) -> None:
    changed, finding = only(tmp_path, runs(FILES, traced(value())))
    assert EXPORTED in changed["net.py"]
    assert finding.safety is Safety.PROVEN
    assert finding.help is None
    assert finding.notes == (
        "The exported program gave the results of TorchScript on 4 recorded calls in 1 test, each tried twice, with 2 shapes "
        "of inputs (float32[4,3]; float32[7,3]).",
    )


def test_one_shape_is_enough_where_probes_came_out_the_same(tmp_path: Path) -> None:
    assert only(tmp_path, runs(FILES, traced(value(shapes=["float32[4,3]"]))))[1].safety is Safety.PROVEN


REVIEWED = {
    "one shape and no probe": (
        value(shapes=["float32[4,3]"], proof=proof(probes={})),
        "the recorded runs called it with one shape only (float32[4,3])",
    ),
    "a probe that differs": (
        value(proof=proof(probes={**PROBES, "one row": "raises: Guard failed: x.size()[0] != 1"})),
        "on inputs that nobody recorded (one row) it raises: Guard failed: x.size()[0] != 1",
    ),
    "calls that could not be replayed": (
        value(proof=proof(dropped=3)),
        "3 recorded calls could not be tried again",
    ),
    "a capture in train mode": (value(training=True), "it was captured in train mode"),
    "parameters that moved": (
        value(state_changed_between_calls=True),
        "its parameters or buffers changed between the recorded calls",
    ),
    "a number that was always the same": (
        value(calls=[RecordedCall("forward", [f"float32[{n},3]", 3], training=False) for n in (2, 5)]),
        "`forward`'s args[1] was 3 in every recorded call, and may be fixed at it",
    ),
}


@pytest.mark.parametrize("case", REVIEWED)
def test_what_runs_left_open_is_for_review(tmp_path: Path, case: str) -> None:
    recorded, said = REVIEWED[case]
    changed, finding = only(tmp_path, runs(FILES, traced(recorded)))
    assert (changed, finding.safety) == ({}, Safety.UNSAFE)
    assert finding.help is not None
    assert finding.help.startswith(f"Needs review: {said}")


def test_a_number_that_varied_is_no_doubt(tmp_path: Path) -> None:
    calls = [RecordedCall("forward", ["float32[2,3]", n], training=False) for n in (2, 5)]
    assert only(tmp_path, runs(FILES, traced(value(calls=calls))))[1].safety is Safety.PROVEN


REFUSED = {
    "no export that holds, and Python differs": (
        value(proof=proof(None, eager=False, failed="Guard failed: x.size()[0] == 4 on call 2 of t.py::a")),
        "Guard failed: x.size()[0] == 4 on call 2 of t.py::a",
    ),
    "a call in train mode with gradients": (
        value(
            calls=[RecordedCall("forward", ["float32[2,3]"], training=True, site="train.py:9:5")],
            proof=proof(eager=False),
        ),
        "it is called in train mode with gradients at train.py:9, and a program has one mode only",
    ),
    "an attribute that a program has not": (
        value(attributes=[Touch("labels", ["serve.py:4:1"])]),
        "in the recorded run it was asked for `.labels` at serve.py:4:1, which a program has not",
    ),
    "eval on the value, elsewhere": (
        value(operations=[Touch("eval", ["serve.py:4:1"])]),
        "`.eval()` is called on it at serve.py:4:1, which a program rejects",
    ),
    "inputs that are one tensor": (
        value(aliased_inputs=True),
        "the example inputs hold the same tensor twice, which export would merge into one input",
    ),
    "a form that is not written": (
        value(proof=proof("autocast inside")),
        "the recorded runs proved an export in another form (autocast inside), which has to be written by hand",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_runs_speak_against_is_not_offered_and_says_why(tmp_path: Path, case: str) -> None:
    recorded, said = REFUSED[case]
    changed, (finding,) = migrated(tmp_path, runs(FILES, traced(recorded)), unsafe=True)
    assert (changed, finding.safety) == ({}, Safety.MANUAL)
    assert finding.help is not None
    assert said in finding.help


def test_calls_in_train_mode_without_gradients_are_no_training(tmp_path: Path) -> None:
    calls = [RecordedCall("forward", [f"float32[{n},3]"], training=True, context=Modes(grad=False)) for n in (2, 5)]
    assert only(tmp_path, runs(FILES, traced(value(calls=calls))))[1].safety is Safety.PROVEN


def test_a_capture_that_failed_in_the_run_is_broken_today(tmp_path: Path) -> None:
    failed = traced(failed=[FailedCapture("RuntimeError", "Expected all tensors to be on the same device")])
    changed, (finding,) = migrated(tmp_path, runs(FILES, failed), unsafe=True)
    assert (changed, finding.safety) == ({}, Safety.MANUAL)
    assert finding.help is not None
    assert "broken today: in the recorded run it raised RuntimeError: Expected all tensors" in finding.help


@pytest.mark.parametrize(
    ("recorded", "why"),
    [
        (value(calls=[]), "they never called it"),
        (value(proof=None), "nothing was tried on it"),
        (value(proof=Proof(unproved="cuda")), "nothing could be tried on it (cuda)"),
        (value(proof=Proof(export=None)), "no export of it was tried"),
    ],
)
def test_a_run_that_does_not_tell_leaves_everything_as_it_is(tmp_path: Path, recorded: RecordedValue, why: str) -> None:
    _, without = only(tmp_path, None)
    changed, finding = only(tmp_path, runs(FILES, traced(recorded)))
    assert (changed, finding.safety, finding.help) == ({}, Safety.UNSAFE, without.help)
    assert finding.notes == (f"The recorded runs do not tell: {why}.",)


def test_several_values_at_one_place_have_to_agree(tmp_path: Path) -> None:
    agreeing = runs(FILES, traced(value(), value(shapes=["float32[9,3]"])))
    assert only(tmp_path, agreeing)[1].safety is Safety.PROVEN
    one_fails = runs(FILES, traced(value(), value(proof=proof(None, eager=False, failed="Guard failed"))))
    assert only(tmp_path, one_fails)[1].safety is Safety.MANUAL
    other = runs(FILES, traced(value(proof=proof(eager=False)), value(proof=proof("fixed shapes"))))
    changed, finding = only(tmp_path, other)
    assert (changed, finding.safety) == ({}, Safety.MANUAL)
    assert "the values that it makes need different programs (`as given` and `fixed shapes`)" in (finding.help or "")


def test_the_text_is_that_of_the_proved_program(tmp_path: Path) -> None:
    files = {"net.py": NET + "def export(model):\n    return torch.jit.trace(model, torch.ones(1, 3))\n"}
    doubled = proof(export="ones doubled")
    assert doubled.export is not None
    doubled.export.detail = {"doubled": {"args[0]": [0]}}
    changed, finding = only(tmp_path, runs(files, traced(value(proof=doubled), files=files)), files)
    assert finding.safety is Safety.PROVEN
    assert "torch.export.export(model, (torch.ones(1, 3).repeat(2, 1),), dynamic_shapes=" in changed["net.py"]
    fixed = runs(files, traced(value(proof=proof("fixed shapes")), files=files))
    changed, finding = only(tmp_path, fixed, files)
    assert finding.safety is Safety.PROVEN
    assert "return torch.export.export(model, (torch.ones(1, 3),)).module()" in changed["net.py"]


def test_ones_that_cannot_be_doubled_where_the_example_stands_are_not_written(tmp_path: Path) -> None:
    doubled = proof(export="ones doubled")
    assert doubled.export is not None
    doubled.export.detail = {"doubled": {"args[0]": [0]}}
    changed, finding = only(tmp_path, runs(FILES, traced(value(proof=doubled))))
    assert (changed, finding.safety) == ({}, Safety.MANUAL)
    assert "an example of size 1 fixes that size, and it was proved with 2 in its place" in (finding.help or "")


# What changed since


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("return traced", "return traced, 1", "`export`"),
        ("self.linear(x)", "self.linear(x) + 1", "`Net`"),
        ("torch.jit.trace(model, x)", "torch.jit.trace(model, x + 1)", "this call"),
    ],
)
def test_evidence_from_before_a_change_is_told_and_not_used(tmp_path: Path, old: str, new: str, what: str) -> None:
    recorded = traced(value(source(FILES, "net.py", "Net")))
    now = {"net.py": FILES["net.py"].replace(old, new)}
    changed, finding = only(tmp_path, runs(now, recorded), now)
    assert (changed, finding.safety) == ({}, Safety.UNSAFE)
    assert finding.notes == (f"Recorded before {what} changed, so the evidence is not used: record it again.",)


def test_evidence_outlives_edits_elsewhere_in_the_file(tmp_path: Path) -> None:
    recorded = traced(value(source(FILES, "net.py", "Net")))
    now = {"net.py": "# a comment\n" + FILES["net.py"].replace("def export", "def other():\n    pass\n\n\ndef export")}
    assert only(tmp_path, runs(now, recorded), now)[1].safety is Safety.PROVEN


def test_the_record_of_one_of_two_equal_calls_is_not_taken_for_the_other(tmp_path: Path) -> None:
    call = "torch.jit.trace(model, x)"
    files = {"net.py": NET + f"def a(model, x):\n    return {call}\n\n\ndef b(model, x):\n    return {call}\n{MADE}"}
    first = site(files, "net.py", call, TRACE, value())
    changed, found = migrated(tmp_path, runs(files, first), files)
    assert [finding.safety for finding in found] == [Safety.PROVEN, Safety.UNSAFE]
    assert changed["net.py"].count(call) == 1
    assert f"def b(model, x):\n    return {call}" in changed["net.py"]


# Beside the run


def test_readers_in_other_languages_are_none_that_a_run_could_tell_of(tmp_path: Path) -> None:
    files = {
        "net.py": NET + 'def export(model, x):\n    torch.jit.trace(model, x).save("model.pt")\n',
        "serve.cpp": '#include <torch/script.h>\nauto m = torch::jit::load("model.pt");\n',
    }
    changed, finding = only(tmp_path, runs(files, traced(value(), files=files)), files)
    assert (changed, finding.safety) == ({}, Safety.MANUAL)
    assert "`model.pt` is read by C++ (`torch::jit::load`) at serve.cpp:2" in (finding.help or "")


def test_a_path_that_is_made_at_run_time_has_the_readers_that_were_seen(tmp_path: Path) -> None:
    files = {
        "net.py": NET + "def export(model, x, path):\n    torch.jit.trace(model, x).save(path)\n",
        "serve.py": "import torch\n\n\ndef serve(path, x):\n    return torch.jit.load(path)(x)\n",
    }
    recorded = traced(value(operations=[Touch("save", ["net.py:14:5"])]), files=files)
    archive = written(files, recorded, ("serve.py", "torch.jit.load"))
    changed, found = migrated(tmp_path, runs(files, recorded, archives=[archive]), files)
    assert [finding.safety for finding in found] == [Safety.PROVEN, Safety.PROVEN]
    assert "torch.export.save(torch.export.export(model, " in changed["net.py"]
    assert "return torch.export.load(path).module()(x)" in changed["serve.py"]


def test_writer_and_reader_change_together_or_not_at_all(tmp_path: Path) -> None:
    files = {
        "net.py": NET + "def export(model, x, path):\n    torch.jit.trace(model, x).save(path)\n",
        "serve.py": "import torch\n\n\ndef serve(path, x):\n    return torch.jit.load(path).graph\n",
    }
    recorded = traced(value(), files=files)
    archive = written(files, recorded, ("serve.py", "torch.jit.load"))
    changed, found = migrated(tmp_path, runs(files, recorded, archives=[archive]), files, unsafe=True)
    assert changed == {}
    assert [finding.safety for finding in found] == [Safety.MANUAL, Safety.MANUAL]


def test_a_file_that_nobody_read_in_the_run_is_left_to_the_user(tmp_path: Path) -> None:
    files = {"net.py": NET + "def export(model, x, path):\n    torch.jit.trace(model, x).save(path)\n"}
    recorded = traced(value(), files=files)
    changed, finding = only(tmp_path, runs(files, recorded, archives=[written(files, recorded)]), files)
    assert (changed, finding.safety) == ({}, Safety.MANUAL)
    assert "nobody read `path` (f6934) in the recorded runs" in (finding.help or "")


# Scripted


SCRIPTED = {"net.py": NET + "def fast(model):\n    model = torch.jit.script(model)\n    return model\n"}


def scripted(*values: RecordedValue, files: dict[str, str] = SCRIPTED) -> RecordedSite:
    return site(files, "net.py", "torch.jit.script", "torch.jit.script", *values)


def test_a_scripted_module_that_python_equals_gives_way_to_the_module(tmp_path: Path) -> None:
    changed, finding = only(tmp_path, runs(SCRIPTED, scripted(value())), SCRIPTED)
    assert finding.safety is Safety.PROVEN
    assert "torch.jit" not in changed["net.py"]
    assert finding.notes[0].startswith("The Python object gave the results of TorchScript on 4 recorded calls")


def test_a_scripted_module_that_python_does_not_equal_stays(tmp_path: Path) -> None:
    differs = value(proof=proof(None, eager=False, failed="values differ by 0.5 on call 2 of t.py::a"))
    changed, (finding,) = migrated(tmp_path, runs(SCRIPTED, scripted(differs)), SCRIPTED, unsafe=True)
    assert (changed, finding.safety) == ({}, Safety.MANUAL)
    assert "without TorchScript the result is another: values differ by 0.5 on call 2 of t.py::a" in (
        finding.help or ""
    )


SAVED = {
    "net.py": NET.replace("self, x)", "self, x, scale: int, mask=None)")
    + """def write(model, path):
    scripted = torch.jit.script(model)
    torch.jit.save(scripted, path)


def read(path):
    return torch.jit.load(path)
""",
}


def saved_script(variant: str, example: dict[str, object], files: dict[str, str] = SAVED, **more: object) -> KnownRuns:
    made = proof(variant)
    assert made.export is not None
    made.export.detail = {"example": example, **more}
    calls = [RecordedCall("forward", [f"float32[{n},3]", n], training=False, via="load") for n in (4, 7)]
    recorded = scripted(value(calls=calls, proof=made), files=files)
    return runs(files, recorded, archives=[written(files, recorded, ("net.py", "torch.jit.load"))])


def test_a_scripted_module_that_is_saved_is_exported_with_zeros_of_the_recorded_shapes(tmp_path: Path) -> None:
    example = {"args": ["float32[4,3]", 2, {"tuple": ["int64[]", None]}], "kwargs": {"mask": "bool[4]"}}
    changed, found = migrated(tmp_path, saved_script("dynamic ints", example, ints=["args[1]"]), SAVED)
    assert [finding.safety for finding in found] == [Safety.PROVEN, Safety.PROVEN]
    auto = "torch.export.Dim.AUTO"
    assert changed["net.py"].endswith(
        "def write(model, path):\n"
        "    scripted = torch.export.export(model, args=(torch.zeros(4, 3), 2, (torch.zeros((), dtype=torch.int64), None)), "
        'kwargs={"mask": torch.zeros(4, dtype=torch.bool)}, '
        f"dynamic_shapes=([{auto}] * 2, {auto}, ([], None), [{auto}] * 1))\n"
        "    torch.export.save(scripted, path)\n\n\n"
        "def read(path):\n    return torch.export.load(path).module()\n"
    )


def test_an_example_that_cannot_be_written_out_is_none(tmp_path: Path) -> None:
    for example in (
        {"args": ["float32[4,3]@cuda:0"], "kwargs": {}},
        {"args": [{"object": "m:C"}], "kwargs": {}},
        {"args": [], "kwargs": {"a": "float32[2]", "b": "float32[2]"}},
    ):
        changed, found = migrated(tmp_path, saved_script("as given", example), SAVED, unsafe=True)
        assert (changed, {finding.safety for finding in found}) == ({}, {Safety.MANUAL})


def test_a_method_that_a_program_has_not_is_for_review_though_no_run_called_it(tmp_path: Path) -> None:
    files = {
        "net.py": SAVED["net.py"]
        .replace("class Net", "class Net")
        .replace("def write(model, path)", "def write(model: Net, path)")
        .replace(
            "    def forward", "    @torch.jit.export\n    def encode(self, x):\n        return x\n\n    def forward"
        )
    }
    changed, found = migrated(
        tmp_path, saved_script("as given", {"args": ["float32[4,3]", 2], "kwargs": {}}, files), files
    )
    assert changed == {}
    assert any("`encode` of `Net` is exported by `@torch.jit.export`" in (finding.help or "") for finding in found)


def test_a_use_that_no_run_reached_is_for_review(tmp_path: Path) -> None:
    text = "def export(model, x, y):\n    traced = torch.jit.trace(model, x)\n    traced(x)\n    return traced(y)\n"
    files = {"net.py": NET + text}
    line = NET.count("\n") + 3
    calls = [RecordedCall("forward", [f"float32[{n},3]"], training=False, site=f"net.py:{line}:5") for n in (2, 5)]
    changed, finding = only(tmp_path, runs(files, traced(value(calls=calls), files=files)), files)
    assert (changed, finding.safety) == ({}, Safety.UNSAFE)
    assert finding.help == f"Needs review: no recorded run reached its use at net.py:{line + 1}."


FUNCTION = {
    "net.py": "import torch\n\n\n@torch.jit.script\ndef scale(x, n: int):\n    return x * n\n\n\ndef use(x):\n    return scale(x, x.dim())\n"
}


def test_a_decorator_goes_where_python_gave_the_same(tmp_path: Path) -> None:
    calls = [RecordedCall("forward", [f"float32[{n}]", n], count=1) for n in (2, 5)]
    recorded = site(FUNCTION, "net.py", "torch.jit.script", "torch.jit.script", value(calls=calls, kind="function"))
    _, before = only(tmp_path, None, FUNCTION)
    assert before.safety is Safety.UNSAFE
    changed, finding = only(tmp_path, runs(FUNCTION, recorded), FUNCTION)
    assert finding.safety is Safety.PROVEN
    assert changed["net.py"] == FUNCTION["net.py"].replace("@torch.jit.script\n", "")


def test_a_trace_that_only_python_equals_gives_way_to_the_module(tmp_path: Path) -> None:
    plain = value(proof=replace(proof(None), export=ExportProof(None)))
    changed, finding = only(tmp_path, runs(FILES, traced(plain)))
    assert finding.safety is Safety.PROVEN
    assert "traced = model" in changed["net.py"] or "return model" in changed["net.py"]


def test_a_trace_whose_example_draws_random_numbers_leaves_others_to_those_that_draw_later(tmp_path: Path) -> None:
    plain = value(proof=replace(proof(None), export=ExportProof(None)))
    for example, safety in (("torch.rand(4, 3)", Safety.UNSAFE), ("torch.ones(4, 3)", Safety.PROVEN)):
        files = {"net.py": NET + f"def export(model):\n    return torch.jit.trace(model, {example})\n"}
        _, finding = only(tmp_path, runs(files, traced(plain, files=files)), files)
        assert finding.safety is safety
        assert (f"`{example}` is no longer evaluated" in (finding.help or "")) is (safety is Safety.UNSAFE)


def test_a_number_that_never_varied_is_nothing_that_python_would_fix(tmp_path: Path) -> None:
    calls = [RecordedCall("forward", [f"float32[{n}]", 3]) for n in (2, 5)]
    recorded = site(FUNCTION, "net.py", "torch.jit.script", "torch.jit.script", value(calls=calls, kind="function"))
    assert only(tmp_path, runs(FUNCTION, recorded), FUNCTION)[1].safety is Safety.PROVEN


@pytest.mark.parametrize(
    ("user", "safety"),
    [
        ("from net import *\n\nprint(scale)\n", Safety.PROVEN),
        ("import net\n\nkernels = [net.scale]\n", Safety.PROVEN),
        ("import net\n\nprint(net.scale.graph)\n", Safety.MANUAL),
    ],
)
def test_uses_that_were_not_followed_count_where_they_notice_what_is_missing(
    tmp_path: Path, user: str, safety: Safety
) -> None:
    files = {**FUNCTION, "user.py": user}
    calls = [RecordedCall("forward", [f"float32[{n}]", n]) for n in (2, 5)]
    recorded = site(files, "net.py", "torch.jit.script", "torch.jit.script", value(calls=calls, kind="function"))
    assert only(tmp_path, runs(files, recorded), files)[1].safety is safety


def test_places_are_found_by_the_text_of_their_line() -> None:
    assert place_of(FILES["net.py"], "torch.jit.trace").qualname == "export"


@pytest.mark.parametrize(
    "difference",
    [{"errors": "`ValueError` in the place of `torch.jit.Error` on call 2"}, {"gradients": 1e-9}, {"gradients": 0.0}],
)
def test_a_scripted_module_that_python_nearly_equals_is_for_review(tmp_path: Path, difference: dict[str, Any]) -> None:
    near = value(
        shapes=["float32[4,3]"], proof=replace(proof(None), eager=EagerProof(True, probes=dict(PROBES), **difference))
    )
    assert only(tmp_path, runs(SCRIPTED, scripted(near)), SCRIPTED)[1].safety is Safety.UNSAFE


def test_a_value_that_only_its_example_called_is_judged_by_it_where_another_was_called(tmp_path: Path) -> None:
    example = RecordedExample(["float32[4,3]"])
    alone = value(calls=[], example=example)
    assert only(tmp_path, runs(FILES, traced(value(), alone)))[1].safety is Safety.PROVEN
    refused = replace(alone, proof=proof(None, eager=False, failed="Guard failed: x.size()[0] == 1"))
    assert only(tmp_path, runs(FILES, traced(value(), refused)))[1].fix is None
    assert only(tmp_path, runs(FILES, traced(alone)))[1].safety is Safety.UNSAFE


def test_no_run_tells_which_branch_another_input_of_a_trace_takes(tmp_path: Path) -> None:
    files = {
        "net.py": NET.replace("return self.linear(x)", "return self.linear(x[:8] if x.shape[0] > 8 else x)")
        + "def export():\n    return torch.jit.trace(Net().eval(), torch.ones(4, 3))\n"
    }
    plain = value(proof=replace(proof(None), export=ExportProof(None)))
    _, finding = only(tmp_path, runs(files, traced(plain, files=files)), files)
    assert finding.safety is Safety.UNSAFE
    assert "the trace kept the branch of its example" in (finding.help or "")


METHODS = {
    "net.py": NET + 'def export(x):\n    return torch.jit.trace_module(Net().eval(), {"forward": torch.ones(4, 3)})\n',
}


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        (None, (Safety.UNSAFE, "export.export")),
        (value(), (Safety.PROVEN, "export.export")),
        (value(proof=proof("fixed shapes")), (Safety.PROVEN, "export.export")),
        (value(proof=proof(None, eager=False, failed="Guard failed")), (Safety.MANUAL, "trace_module")),
        (value(proof=replace(proof(None), export=ExportProof(None))), (Safety.PROVEN, "return Net().eval()")),
    ],
)
def test_what_runs_say_about_a_trace_by_trace_module(
    tmp_path: Path, recorded: RecordedValue | None, expected: tuple[Safety, str]
) -> None:
    api = "torch.jit.trace_module"
    evidence = runs(METHODS, site(METHODS, "net.py", "torch.jit.trace_module", api, recorded)) if recorded else None
    changed, finding = only(tmp_path, evidence, METHODS)
    assert finding.safety is expected[0]
    assert expected[1] in changed.get("net.py", METHODS["net.py"] if recorded else "export.export")
    if recorded is not None and recorded.proof is not None and recorded.proof.export == ExportProof("fixed shapes"):
        assert "AUTO" not in changed["net.py"]


def test_evidence_settles_what_is_for_review_where_torchscript_is_dropped(tmp_path: Path) -> None:
    files = {
        "net.py": "import torch\n\n\n@torch.jit.script\ndef scale(x, factor: float):\n    return torch.full((2,), factor) + x\n",
        "use.py": "from net import scale\n\n\ndef run(x, settings):\n    return scale(x, settings.factor)\n",
    }
    calls = [RecordedCall("forward", [f"float32[{n}]", 0.5 * n]) for n in (1, 2)]
    recorded = site(files, "net.py", "torch.jit.script", "torch.jit.script", value(calls=calls, kind="function"))
    drop = TorchScriptIntent(support="drop")
    for evidence, safety in ((None, Safety.UNSAFE), (runs(files, recorded), Safety.PROVEN)):
        result = analyse_files(tmp_path, files, evidence=evidence, torchscript=drop)
        (finding,) = (one for done in result.outcomes for one in (*done.fixed, *done.left) if one.code == "TL102")
        assert finding.safety is safety
