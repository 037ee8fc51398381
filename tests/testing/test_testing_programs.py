"""Whole programs: run in fresh processes, without TorchScript, and compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlift.testing import CapturesDiffer, FreshProcesses, Program, Verdict, compare_programs, run_program
from torchlift.testing.nodes import Array, Container, Observed, Raised, Scalar

_NET = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        {body}


net = Net().eval()
"""
_TRACE = "value = torch.jit.trace(net, torch.ones(4, 3))\n"
_EXPORT = (
    "value = torch.export.export(net, (torch.ones(4, 3),), dynamic_shapes=([torch.export.Dim.AUTO] * 2,)).module()\n"
)
_STATIC = "value = torch.export.export(net, (torch.ones(4, 3),)).module()\n"
_SCRIPT = "value = torch.jit.script(net)\n"
_OBSERVE = "result = observe(value, torch.arange(12.0).reshape(4, 3))"


@pytest.mark.parametrize(
    ("body", "old", "new", "run", "verdict", "line"),
    [
        ("return 2 * x", _TRACE, _EXPORT, _OBSERVE, Verdict.SAME, "same"),
        ("return 2 * x", _TRACE, _STATIC, _OBSERVE, Verdict.RAISES, "batch size 7 (float32[7, 3]), call 1: result output: "),
        ("return 2 * x", _TRACE, _STATIC, "result = value(torch.ones(4, 3))", Verdict.SAME, "same"),
        ("self.calls += 1\n        return x + self.calls", _SCRIPT, _EXPORT, _OBSERVE, Verdict.DIFFERS, "call 2: result output"),
        ("return x * float(x.max())", _TRACE, "value = net\n", _OBSERVE, Verdict.TORCHSCRIPT_WRONG, "TorchScript 1, migrated 11"),
        ("return x.shape[0]", _TRACE, _EXPORT, "result = value(torch.ones(4, 3))", Verdict.TORCHSCRIPT_WRONG, "result: type: "),
        ("return x.add_(1)", _TRACE, "value = lambda x: x + 1\n", _OBSERVE, Verdict.DIFFERS, "result input[0]: TorchScript 1"),
        ("return 2 * x", _TRACE, _EXPORT, "result = type(value.graph).__module__", Verdict.DIFFERS, "TorchScript str 'torch'"),
        ("return 2 * x", _TRACE, _EXPORT, "result = value.eval().training", Verdict.RAISES, "migrated raised NotImplementedError"),
        ("return 2 * x", _TRACE, _EXPORT, "result = [v for v in (1.0, float('nan'), None)]", Verdict.SAME, "same"),
        ("return 2 * x", "undefined\n", _EXPORT, "result = 1", Verdict.FAILED, "NameError: name 'undefined' is not defined"),
    ],
    ids=lambda value: value.value if isinstance(value, Verdict) else "",
)  # fmt: skip
def test_an_old_and_a_new_program_are_compared(
    body: str, old: str, new: str, run: str, verdict: Verdict, line: str, processes: FreshProcesses
) -> None:
    head = _NET.format(body=body)
    found = compare_programs(Program(head + old), Program(head + new), run, processes=processes)
    assert found.verdict is verdict and line in str(found), str(found)
    if verdict is Verdict.SAME:
        found.raise_if_different()
    else:
        with pytest.raises(CapturesDiffer):
            found.raise_if_different()


def test_calls_that_all_raise_prove_nothing(processes: FreshProcesses) -> None:
    program = Program(_NET.format(body="return 2 * x") + _TRACE)
    found = compare_programs(program, program, "result = [observe(value, 'x')]", processes=processes)
    assert found.verdict is Verdict.FAILED and "Every call that the old program observed raised" in str(found)


def test_an_eager_program_that_does_not_run_is_said(processes: FreshProcesses) -> None:
    program = Program(_NET.format(body="return x") + _TRACE)
    found = compare_programs(program, program, "result = str(value.graph)", processes=processes)
    assert found.verdict is Verdict.SAME and isinstance(found.eager, Raised)
    assert "note: the old program does not run with TorchScript switched off: AttributeError" in str(found)


def test_observe_tries_values_sizes_and_repeats(processes: FreshProcesses) -> None:
    program = Program("import torch\n")
    seen = run_program(program, "result = observe(lambda x, y: x[:, :1] + y, torch.ones(4, 3), torch.ones(1, 5))", processes=processes).result  # fmt: skip
    assert isinstance(seen, Observed)
    assert [(call.case, call.number, call.given) for call in seen.calls][::2] == [
        ("inputs as given", 1, "float32[4, 3], float32[1, 5]"),
        ("other values", 1, "float32[4, 3], float32[1, 5]"),
        ("batch size 7", 1, "float32[7, 3], float32[1, 5]"),
        ("batch size 1", 1, "float32[1, 3], float32[1, 5]"),
    ]
    assert {call.number for call in seen.calls} == {1, 2}
    outcomes = [call.outcome for call in seen.calls]
    assert all(isinstance(outcome, Array) for outcome in outcomes)
    assert len({outcome.data for outcome in outcomes if isinstance(outcome, Array)}) == 4


def test_observe_takes_values_without_tensors_and_errors_are_data(processes: FreshProcesses) -> None:
    run = "result = [observe(lambda: 3), observe(lambda x: 1 / x, 0)]"
    seen = run_program(Program(""), run, processes=processes).result
    assert isinstance(seen, Container)
    (_, first), (_, second) = seen.items
    assert isinstance(first, Observed) and isinstance(second, Observed)
    assert [call.outcome for call in first.calls] == [Scalar("int", 3)] * 2
    assert [call.outcome for call in second.calls] == [Raised("ZeroDivisionError", "division by zero")] * 2


def test_files_lie_where_the_program_runs(tmp_path: Path, processes: FreshProcesses) -> None:
    program = Program(
        "import package.part\nresult = package.part.VALUE, __name__\n", {"package/part.py": "VALUE = 3\n"}
    )
    seen = run_program(program, folder=tmp_path / "here", processes=processes).result
    assert seen == Container("tuple", (("[0]", Scalar("int", 3)), ("[1]", Scalar("str", "__main__"))))
    assert (tmp_path / "here/package/part.py").read_text() == "VALUE = 3\n"
    assert run_program(program, processes=processes).result == seen


def test_programs_do_not_see_each_other(processes: FreshProcesses) -> None:
    run_program(Program("import torch, os\ntorch.left = 1\nos.environ['LEFT'] = '1'\n"), processes=processes)
    seen = run_program(
        Program("import torch, os\nresult = hasattr(torch, 'left') or 'LEFT' in os.environ\n"), processes=processes
    )
    assert seen.result == Scalar("bool", False)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "crashed (SIGKILL)"),
        ("import os\nprint('last words', flush=True)\nos._exit(7)\n", "crashed (exit status 7)"),
        ("while True:\n    pass\n", "did not end within 1 seconds"),
        ("import sys\nsys.exit('no')\n", "no"),
    ],
)  # fmt: skip
def test_a_program_that_ends_early_is_an_answer(code: str, words: str, processes: FreshProcesses) -> None:
    seen = run_program(Program(code), timeout=1 if "while" in code else 60, processes=processes)
    assert isinstance(seen.result, Raised) and words in seen.result.message
    assert ("last words" in code) == ("last words" in seen.trace and "Traceback" not in seen.trace)


EAGER = {
    "trace, save and load": "torch.jit.trace(net, torch.ones(4, 3)).save('a.pt')\nvalue = torch.jit.load('a.pt', map_location='cpu')",
    "script, freeze, optimize": "value = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.script(obj=net)))",
    "save to a buffer": "import io\nb = io.BytesIO()\ntorch.jit.save(torch.jit.script(net), b)\nb.seek(0)\nvalue = torch.jit.load(b)",
    "extra files": (
        "torch.jit.save(torch.jit.script(net), 'a.pt', _extra_files={'k': 'v'})\nextra = {'k': ''}\n"
        "value = torch.jit.load('a.pt', _extra_files=extra)\nassert extra == {'k': b'v'}"
    ),
    "a function": "@torch.jit.script\ndef value(x):\n    return 2 * x\nvalue.save('f.pt')\nvalue = torch.jit.load('f.pt')",
    "a bound forward": "value = torch.jit.trace(net.forward, torch.ones(4, 3))\nvalue.save('f.pt')",
    "a ScriptModule": (
        "class S(torch.jit.ScriptModule):\n    def __init__(self):\n        super().__init__()\n"
        "        self.k = torch.jit.Attribute(2.0, float)\n    @torch.jit.script_method\n    def forward(self, x):\n"
        "        return torch.jit.annotate(float, self.k) * x\nvalue = S()"
    ),
    "script_if_tracing": "@torch.jit.script_if_tracing\ndef f(x):\n    return 2 * x\nvalue = torch.jit.trace_module(net, {'forward': torch.ones(4, 3)})",
}  # fmt: skip


@pytest.mark.parametrize("capture", EAGER.values(), ids=EAGER)
def test_switched_off_torchscript_still_runs_the_program(capture: str, processes: FreshProcesses) -> None:
    program = Program(_NET.format(body="return 2 * x") + capture + "\n")
    run = "result = value(torch.ones(2, 3))"
    scripted = run_program(program, run, processes=processes)
    eager = run_program(program, run, eager=True, processes=processes)
    assert isinstance(eager.result, Array) and eager.result == scripted.result, eager.trace + scripted.trace
    kind = run_program(program, "result = isinstance(value, (torch.jit.ScriptFunction, torch._C.ScriptModule))", eager=True, processes=processes)  # fmt: skip
    assert kind.result == Scalar("bool", False)


def test_switched_off_torchscript_loads_a_copy_and_only_what_was_saved(processes: FreshProcesses) -> None:
    code = _NET.format(body="self.calls += 1\n        return x + self.calls") + (
        "torch.jit.save(torch.jit.script(net), 'a.pt')\nnet(torch.ones(1))\nopen('b.pt', 'w').close()\n"
        "result = [torch.jit.load('a.pt').calls, torch.jit.load('a.pt') is net]\n"
    )
    seen = run_program(Program(code), eager=True, processes=processes).result
    assert seen == Container("list", (("[0]", Scalar("int", 0)), ("[1]", Scalar("bool", False))))
    refused = run_program(Program(code), "torch.jit.load('b.pt')", eager=True, processes=processes).result
    assert isinstance(refused, Raised) and "only what the same program saved" in refused.message


def test_a_helper_process_that_somebody_ended_is_started_again() -> None:
    with FreshProcesses() as processes:
        first = run_program(Program("result = 1"), processes=processes)
        helper = processes._zygote
        assert helper is not None
        helper.kill()
        helper.wait()
        assert run_program(Program("result = 1"), processes=processes) == first
