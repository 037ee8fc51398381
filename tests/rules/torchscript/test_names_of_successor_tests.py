"""A test that captures in another way is not called after scripting any more, nor is what it captures."""

from __future__ import annotations

from pathlib import Path

import pytest
from dropped_scripting import body, migrated

from torchlift.torchscript_intent import TorchScriptIntent

SUCCESSOR = TorchScriptIntent("drop", tests="successor")
TEST = """\
from base import Base


def double(x):
    return 2 * x


class TestDouble{bases}:
    def test_jit_small(self):
        op_jit = torch.jit.script(double)
        x = {value}
        torch.testing.assert_close(op_jit(x), double(x))
"""
BASE = "class Base:\n    def {name}(self):\n        raise NotImplementedError\n"


def changed(folder: Path, files: dict[str, str]) -> tuple[str, str]:
    """The test afterwards, and what was said of it before."""
    said = migrated(folder, files, intent=SUCCESSOR)[1]
    new, _ = migrated(folder, files, intent=SUCCESSOR, unsafe=True)
    return new["test_net.py"], " ".join(item.help or "" for item in said)


def files(bases: str = "", value: str = "torch.rand(2)", **others: str) -> dict[str, str]:
    return {
        "test_net.py": body(TEST.format(bases=bases, value=value)),
        "base.py": BASE.format(name="test_smoke"),
        **others,
    }


def test_the_name_of_the_test_and_of_what_it_captures_say_what_they_are(tmp_path: Path) -> None:
    new, said = changed(tmp_path, files("(Base)"))
    assert "def test_compile_small(self):\n        op_compiled = torch.compile(double)\n" in new
    assert "assert_close(op_compiled(x), double(x))" in new
    assert "becomes" not in said


@pytest.mark.parametrize("name", ["test_jit_small", "test_compile_small"])
def test_a_test_that_a_base_class_has_keeps_its_name(name: str, tmp_path: Path) -> None:
    new, _ = changed(tmp_path, files("(Base)") | {"base.py": BASE.format(name=name)})
    assert "def test_jit_small(self):\n        op_compiled = torch.compile(" in new


def test_a_test_of_a_base_class_that_is_not_visible_keeps_its_name(tmp_path: Path) -> None:
    new, _ = changed(tmp_path, files("(suite.Tester)"))
    assert "def test_jit_small" in new


def test_a_name_that_is_taken_is_given_to_nothing_else(tmp_path: Path) -> None:
    new, _ = changed(tmp_path, files(value="op_compiled = torch.rand(2)"))
    assert "op_jit = torch.compile(double" in new


def test_a_test_that_other_code_names_keeps_its_name(tmp_path: Path) -> None:
    call = {"other.py": "from test_net import TestDouble\n\n\nclass TestMore(TestDouble):\n    pass\n"}
    assert "def test_jit_small" in changed(tmp_path, files(**call))[0]


def test_commands_that_select_tests_by_the_old_name_are_said(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("test:\n\tpytest -v -k 'not (grad or jit)' test/\n")
    new, said = changed(tmp_path, files())
    assert "def test_compile_small" in new
    assert "Makefile:2 selects tests by `jit` in their names, and `test_jit_small` becomes `test_compile_small`" in said


def test_a_marker_of_scripting_tests_goes_with_the_name(tmp_path: Path) -> None:
    marked = {"test_net.py": files()["test_net.py"].replace("    def test_", "    @pytest.mark.jit\n    def test_")}
    new, said = changed(tmp_path, files() | marked)
    assert "pytest.mark" not in new and "def test_compile_small" in new
    assert "it loses the marker `jit`" in said


def test_a_compiled_function_may_be_called_with_keywords(tmp_path: Path) -> None:
    called = {"test_net.py": files()["test_net.py"].replace("(x)", "(x=x)")}
    assert "op_compiled(x=x)" in changed(tmp_path, files() | called)[0]


def test_two_tests_are_not_given_one_name(tmp_path: Path) -> None:
    text = files()["test_net.py"]
    again = text[text.index("    def test_jit_small") :].replace("test_jit_small", "test_jit_trace_small")
    new, _ = changed(tmp_path, files() | {"test_net.py": f"{text}\n{again}"})
    assert "def test_jit_small" in new and "def test_jit_trace_small" in new


SKIPPED = """\
import pytest


def double(x):
    return 2 * x


class TestDouble:
    {mark}
    def test_jit_small(self):
        {script}
        x = torch.rand(2)
        {check}

    def test_other(self):
        assert len("ab") == 2
"""
SCRIPT = "op_jit = torch.jit.script(double)"
CHECK = "torch.testing.assert_close(op_jit(x), double(x))"


@pytest.mark.parametrize(
    ("script", "check"),
    [
        (SCRIPT, CHECK),
        (
            f"x = torch.rand(2)\n        {SCRIPT}\n        traced = torch.jit.trace(op_jit, (x,))",
            "actual = traced(x)\n        expected = double(x)\n        torch.testing.assert_close(actual, expected)",
        ),
        (SCRIPT, "torch.testing.assert_close(op_jit(x), 2 * x)"),
    ],
)
def test_a_test_that_never_runs_gets_no_successor(script: str, check: str, tmp_path: Path) -> None:
    mark = '@pytest.mark.skip("union types")'
    new, said = changed(tmp_path, {"test_net.py": body(SKIPPED.format(mark=mark, script=script, check=check))})
    assert "test_jit_small" not in new
    assert "compile" not in new
    assert "def test_other" in new
    assert "Needs review: `test_jit_small` is skipped in every run" in said


def test_a_test_that_only_some_machines_skip_gets_a_successor(tmp_path: Path) -> None:
    mark = '@pytest.mark.skipif(torch.cuda.is_available(), reason="slow")'
    new, _ = changed(tmp_path, {"test_net.py": body(SKIPPED.format(mark=mark, script=SCRIPT, check=CHECK))})
    assert "op_compiled = torch.compile(double)" in new
