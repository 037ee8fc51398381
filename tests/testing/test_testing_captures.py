"""The harness sees what a migration can silently change, and is not alarmed by what it cannot."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from torchlift.testing import (
    CapturesDiffer,
    Comparison,
    FreshProcesses,
    TorchUnavailable,
    Verdict,
    compare_captures,
)

MODELS = Path(__file__).parents[1] / "support/capture_models.py"
SAME, DIFFERS, RAISES, FAILED = Verdict.SAME, Verdict.DIFFERS, Verdict.RAISES, Verdict.FAILED
TORCHSCRIPT = Verdict.TORCHSCRIPT_WRONG


def compare(processes: FreshProcesses, name: str, **options: Any) -> Comparison:
    functions = {role: f"{MODELS}:{name}.{role}" for role in ("eager", "torchscript", "migrated", "inputs")}
    return compare_captures(**{**functions, "processes": processes, **options})


# Name of the makers, the verdict, words of one line of the report.
CAUGHT = [
    ("WrongNumbers", DIFFERS, "(float32[4, 3]), call 1: output: TorchScript "),
    (
        "PinnedBatch",
        RAISES,
        "batch size 7 (float32[7, 3]), call 1: output: TorchScript returned float32[7, 4], migrated raised",
    ),
    ("OtherDropout", DIFFERS, "inputs as given (float32[4, 3]), call 1: output: TorchScript "),
    ("FrozenMode", DIFFERS, "eager agrees with TorchScript"),
    ("IgnoredOptional", DIFFERS, "example 2, inputs as given (float32[4, 3], float32[4, 3]), call 1: output: "),
    ("FrozenState", DIFFERS, "inputs as given (float32[4, 3]), call 2: output: "),
    ("BakedDtype", DIFFERS, "float64 (float64[4, 3]), call 1: output: dtype: TorchScript float64, migrated float32"),
    (
        "OtherRank",
        RAISES,
        "example 2, inputs as given (float32[5]), call 1: output: TorchScript returned float32[] 5, migrated raised",
    ),
    ("BakedAutocast", TORCHSCRIPT, "output: dtype: TorchScript bfloat16, migrated float32"),
    ("SameTensorTwice", DIFFERS, "other values (float32[4, 3], float32[4, 3]), call 1: output: "),
    ("TracedNamedTuple", TORCHSCRIPT, "output: type: TorchScript tuple, migrated capture_models.Pair"),
    ("LostNamedTuple", DIFFERS, "output: type: TorchScript capture_models.Pair, migrated tuple"),
    ("UnsavableNamedTuple", RAISES, "save and load: TorchScript saved and loaded, migrated raised "),
    ("TracedSize", TORCHSCRIPT, "output: type: TorchScript int64[] 4, migrated int 4"),
    ("SizeAsTensor", DIFFERS, "output: type: TorchScript int 4, migrated int64[] 4"),
    ("BakedFloat", TORCHSCRIPT, "other values (float32[4, 3]), call 1: output: "),
    ("LostMutation", DIFFERS, "inputs as given (float32[4, 3]), call 1: input[0]: TorchScript 0, migrated -1"),
    ("LostGradient", DIFFERS, "output: requires_grad: TorchScript True, migrated False"),
]


@pytest.mark.parametrize(("name", "verdict", "line"), CAUGHT, ids=[name for name, _, _ in CAUGHT])
def test_a_difference_is_found_and_shown_with_its_input(
    name: str, verdict: Verdict, line: str, processes: FreshProcesses
) -> None:
    found = compare(processes, name)
    assert found.verdict is verdict, str(found)
    assert str(found).startswith(verdict.value)
    assert line in str(found)
    with pytest.raises(CapturesDiffer, match=verdict.value):
        found.raise_if_different()
    found.raise_if_different(accept=[verdict])


@pytest.mark.parametrize("name", ["Good", "Controls", "Hooked", "ClosedOver", "Described"])
def test_what_only_looks_dangerous_is_the_same(name: str, processes: FreshProcesses) -> None:
    found = compare(processes, name, seeds=(0, 7))
    assert found.verdict is SAME, str(found)
    assert found.calls >= 16 and not found.differences and not found.failures
    found.raise_if_different()


NOTED = [
    ("Good", "`.training` is False on eager, False on TorchScript, True on migrated."),
    (
        "Statistics",
        "`state_dict()` of migrated differs in 0.running_mean, 0.running_var, 0.num_batches_tracked, compared with TorchScript.",
    ),
    ("Statistics", "leave torch's random generator in different states"),
    ("NonPersistent", "`state_dict()` of migrated lacks hidden, compared with TorchScript."),
    ("Compiled", "`state_dict()` of migrated lacks body.0.weight, body.0.bias, compared with eager and TorchScript."),
    ("Compiled", "adds _orig_mod.body.0.weight, _orig_mod.body.0.bias,"),
    ("OmittedOptional", "Only None or nothing was tried for the parameter 'mask' of forward."),
    ("OmittedOptional", "Saving was not tried: migrated is no ExportedProgram."),
    ("OtherError", "Both raise on batch size 7 (float32[7, 3]): TorchScript torch.jit.Error, migrated AssertionError."),
]


def test_what_is_no_difference_of_the_calls_is_a_note(processes: FreshProcesses) -> None:
    seen = {name: compare(processes, name, save=name == "OmittedOptional") for name in dict(NOTED)}
    for name, note in NOTED:
        assert note in str(seen[name]), str(seen[name])
    assert all(one.verdict is SAME or name == "Statistics" for name, one in seen.items())


def test_padded_rows_can_be_masked(processes: FreshProcesses) -> None:
    whole = compare(processes, "Padded", grad=False, save=False)
    assert whole.verdict is DIFFERS
    valid = compare(processes, "Padded", grad=False, save=False, mask=f"{MODELS}:Padded.valid")
    assert valid.verdict is SAME, str(valid)
    assert "src: " not in str(valid) and valid.calls > 4


def test_without_torchscript_eager_is_what_counts(processes: FreshProcesses) -> None:
    found = compare(processes, "FrozenState", torchscript=None)
    assert found.verdict is DIFFERS and "call 2: output: eager " in str(found)
    assert compare(processes, "TracedSize", torchscript=None).verdict is SAME


def test_without_eager_torchscript_is_what_counts(processes: FreshProcesses) -> None:
    assert compare(processes, "BakedFloat", eager=None).verdict is DIFFERS
    assert compare(processes, "Good", eager=None).verdict is SAME


def test_what_is_tried_can_be_chosen(processes: FreshProcesses) -> None:
    assert compare(processes, "PinnedBatch", batch_sizes=(), other_values=False).verdict is SAME
    assert compare(processes, "PinnedBatch", batch_sizes=(4,)).verdict is SAME
    assert "batch size 9" in str(compare(processes, "PinnedBatch", batch_sizes=(9,)))
    assert compare(processes, "FrozenState", calls=1, save=False, batch_sizes=(), other_values=False).verdict is SAME
    assert compare(processes, "BakedDtype", dtypes=()).verdict is SAME
    assert compare(processes, "BakedDtype", dtypes=["torch.float32"]).verdict is SAME
    assert compare(processes, "WrongNumbers", rtol=10.0, atol=10.0).verdict is SAME
    assert compare(processes, "UnsavableNamedTuple", save=False).verdict is TORCHSCRIPT
    assert compare(processes, "LostGradient", grad=False).verdict is SAME


FAILING = [
    ("migrated", "raising", "raised RuntimeError: no weights here.", FAILED),
    ("migrated", "leaving", "raised SystemExit: 3.", FAILED),
    ("migrated", "uncallable", "it returned int 3, which cannot be called", FAILED),
    ("torchscript", "raising", "raised RuntimeError: no weights here.", FAILED),
    ("inputs", "raising", "raised RuntimeError: no weights here.", FAILED),
    ("inputs", "changing_inputs", "must give the same in every process", FAILED),
    ("migrated", "missing", "failed with ImportError: there is no 'Ending.missing' in ", FAILED),
    ("mask", "missing", "failed with ImportError: there is no 'Ending.missing' in ", FAILED),
    ("migrated", "crashing_at_once", "migrated crashed the process (SIGSEGV) during: ", FAILED),
    (
        "migrated",
        "crashing",
        "migrated crashed the process (SIGSEGV) during: inputs as given (float32[4, 3]), call 1.",
        RAISES,
    ),
]


@pytest.mark.parametrize(("role", "name", "sentence", "verdict"), FAILING, ids=[f"{a} {b}" for a, b, _, _ in FAILING])
def test_what_does_not_run_is_a_result(
    role: str, name: str, sentence: str, verdict: Verdict, processes: FreshProcesses
) -> None:
    found = compare(processes, "Ending", save=False, **{role: f"{MODELS}:Ending.{name}"})
    assert found.verdict is verdict and sentence in str(found), str(found)
    assert "torchlift/testing" not in str(found) and "Traceback" not in str(found)
    if name == "raising":
        assert 'raise RuntimeError("no weights here")' in str(found), "the user's line is missing"


def test_what_does_not_end_is_a_result(processes: FreshProcesses) -> None:
    for seconds in (2, 20, 200):  # a busy machine may need longer for what does end
        found = compare(processes, "Ending", save=False, migrated=f"{MODELS}:Ending.endless", timeout=seconds)
        if found.verdict is RAISES:
            break
    ending = f"did not end within {seconds} seconds during: inputs as given (float32[4, 3]), call 1."
    assert found.verdict is RAISES and ending in str(found), str(found)


def test_a_missing_module_is_named(processes: FreshProcesses) -> None:
    found = compare(processes, "Good", migrated="no_such_package.models:make")
    assert "importing no_such_package.models:make failed with ModuleNotFoundError" in str(found)
    found = compare(processes, "Good", migrated="no_such_file.py:make")
    assert "there is no file" in str(found)


def test_eager_may_fail_where_torchscript_can_be_compared(processes: FreshProcesses) -> None:
    found = compare(processes, "Good", eager=f"{MODELS}:Ending.raising")
    assert found.verdict is SAME and "no weights here" in str(found)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("models", "is not of the form"),
        (lambda: None, "cannot be run in a fresh process"),
        (3, "cannot be run in a fresh process"),
    ],
)
def test_a_function_that_no_fresh_process_finds_is_refused(given: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        compare_captures(eager=given, migrated=given, inputs=given)


def test_calls_that_all_raise_prove_nothing(processes: FreshProcesses) -> None:
    found = compare(processes, "Good", inputs=f"{MODELS}:IgnoredOptional.inputs", batch_sizes=(), save=False)
    assert found.verdict is FAILED and "Every call of TorchScript raised, so nothing was compared." in str(found)


def test_a_negative_batch_size_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be negative"):
        compare_captures(eager="a:b", migrated="a:b", inputs="a:b", batch_sizes=[-1])


def test_inputs_that_torch_cannot_change_are_tried_as_they_are(processes: FreshProcesses) -> None:
    found = compare(processes, "Awkward", save=False, torchscript=None)
    assert found.verdict is SAME and found.calls == 8, str(found)


def test_a_fork_of_this_process_gets_processes_of_its_own(processes: FreshProcesses) -> None:
    compare(processes, "Good", save=False, torchscript=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns when a process with threads forks
        child = os.fork()
    if child == 0:
        status = 3
        try:
            status = 0 if compare(processes, "Good", save=False, torchscript=None).verdict is SAME else 1
            processes.close()
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert compare(processes, "Good", save=False, torchscript=None).verdict is SAME


def test_something_to_compare_with_is_needed() -> None:
    with pytest.raises(ValueError, match="give `eager`, `torchscript` or both"):
        compare_captures(migrated="a:b", inputs="a:b")


def make_eager() -> Any:
    import torch

    return torch.nn.ReLU()


def make_migrated() -> Any:
    import torch

    return torch.export.export(make_eager(), make_inputs(), dynamic_shapes=([torch.export.Dim.AUTO] * 2,))


def make_inputs() -> Any:
    import torch

    return (torch.rand(4, 3),)


def test_functions_can_be_given_themselves(processes: FreshProcesses) -> None:
    found = compare_captures(eager=make_eager, migrated=make_migrated, inputs=make_inputs, processes=processes)
    assert found.verdict is SAME, str(found)


@pytest.mark.exhaustive
def test_where_forking_is_not_reliable_new_processes_are_started() -> None:
    with FreshProcesses(fork=False) as started:
        crash = compare(started, "Ending", migrated=f"{MODELS}:Ending.crashing", save=False, torchscript=None)
        assert "crashed the process (SIGSEGV)" in str(crash)
        assert len(crash.variants[0].calls) == 8
        assert started.run("no.such:job", None, timeout=0.1).how == "timed out"


@pytest.mark.parametrize("fork", [True, False])
def test_a_missing_torch_is_said_in_a_sentence(fork: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torchlift

    (tmp_path / "torchlift").symlink_to(Path(torchlift.__file__).parent)
    paths = [entry for entry in sys.path if Path(entry).name not in ("", "site-packages", "dist-packages")]
    monkeypatch.setattr("sys.path", [str(tmp_path), *paths])
    with FreshProcesses(fork=fork) as started, pytest.raises(TorchUnavailable, match="is not installed for"):
        compare(started, "Good")
