"""Where what a test captures goes: to callers, to what else is exported in its place, to a class body."""

from __future__ import annotations

from pathlib import Path

import pytest
from dropped_scripting import body, migrated

EXPORTED = """\
def test_net(method):
    net, x = Net(), torch.rand(2)
    if method == "jit":
        found = torch.jit.trace(net, (x,))
    else:
        found = torch.export.export(net, (x,))
    assert registry.converted(found) is not None
"""


def test_a_trace_stays_where_a_program_is_exported_in_its_place(tmp_path: Path) -> None:
    changed, found = migrated(tmp_path, {"test_net.py": body("import registry\n\n\n" + EXPORTED)}, unsafe=True)
    assert changed == {}
    assert "line 17 exports in its place, so what gets the value wants a capture" in (found[0].help or "")


HELPER = """\
def capture(net, scripted):
    assert net is not None
    if scripted:
        net = torch.jit.script(net)
    return net


def test_net():
    {then}
"""


@pytest.mark.parametrize(
    "then",
    [
        "assert capture(Net(), True)(torch.ones(2)).sum() == 4",
        "net = capture(Net(), True)\n    net.eval()\n    assert net(torch.ones(2)).sum() == 4",
    ],
)
def test_a_helper_whose_value_is_only_called_gives_the_plain_one(then: str, tmp_path: Path) -> None:
    changed, _ = migrated(tmp_path, {"test_net.py": body(HELPER.format(then=then))})
    assert "torch.jit" not in changed["test_net.py"]


def test_a_helper_whose_value_is_handed_on_is_left_to_review(tmp_path: Path) -> None:
    text = "import coreml\n\n\n" + HELPER.format(then="assert coreml.convert(capture(Net(), True))")
    changed, found = migrated(tmp_path, {"test_net.py": body(text)})
    assert changed == {}
    assert "`capture` gives back on line 16 what is plain then, and what test_net.py:20 does with it" in (
        found[0].help or ""
    )


OWNED = """\
def test_net(run):
    class Whole(torch.nn.Module):
        def forward(self, x):
            return self.width(x)

        @torch.jit.script
        def width(x):
            return torch.tensor(x.shape[1])

    assert run(Whole())
"""


def test_a_scripted_function_in_the_class_of_a_test_stays(tmp_path: Path) -> None:
    assert migrated(tmp_path, {"test_net.py": body(OWNED)}, unsafe=True)[0] == {}


def test_a_choice_between_a_value_and_itself_goes(tmp_path: Path) -> None:
    same = "def test_net(jit):\n    f = double\n    if jit:\n        f = torch.jit.script(double)\n    assert f(torch.ones(2)).sum() == 4\n"
    changed, _ = migrated(tmp_path, {"test_net.py": body("def double(x):\n    return 2 * x\n\n\n" + same)})
    assert "    f = double\n    assert f(" in changed["test_net.py"]


BENCHMARK = """\
import time

import torch


def main(net, x, jit):
    net.eval()
    if jit:
        net = torch.jit.script(net)
    start = time.perf_counter()
    net(x)
    return time.perf_counter() - start
"""


def test_a_benchmark_that_scripts_where_it_is_told_to_is_left_to_review(tmp_path: Path) -> None:
    changed, found = migrated(tmp_path, {"benchmark.py": BENCHMARK})
    assert changed == {}
    assert "what `jit` on line 8 chooses is measured plain from now on" in (found[0].help or "")


SURGERY = """\
def test_surgery_torchscript(surgery):
    net = Net()
    surgery(net)
    scripted = torch.jit.script(net)
    scripted.train()
    net.train()
    torch.testing.assert_close(scripted(torch.ones(2)), net(torch.ones(2)))


def test_values():
    net = Net()
    assert net(torch.ones(2)).sum() == 4
"""


def test_a_test_of_scripting_is_not_left_hollow_for_a_call_of_unknown_code(tmp_path: Path) -> None:
    changed, found = migrated(tmp_path, {"test_net.py": body(SURGERY)})
    assert changed == {} and "Needs review" in (found[0].help or "")
    changed, _ = migrated(tmp_path, {"test_net.py": body(SURGERY)}, unsafe=True)
    assert "test_surgery" not in changed["test_net.py"]


ENVIRONMENT = """\
import os

import torch


def same(x):
    return x


if os.environ.get("DOCS") is None:
    same = torch.jit.script(same)

print(same)
"""


def test_a_question_about_settings_goes_with_all_that_it_chose(tmp_path: Path) -> None:
    assert "DOCS" not in migrated(tmp_path, {"net.py": ENVIRONMENT})[0]["net.py"]


UNTIL = """\
import torch


def shown(x):
    # TODO: Remove this once script supports type() calls
    if not torch.jit.is_scripting():
        x = type(x)
    return x
"""


def test_a_remark_that_waits_for_scripting_goes_with_the_question(tmp_path: Path) -> None:
    assert "TODO" not in migrated(tmp_path, {"net.py": UNTIL})[0]["net.py"]


@pytest.mark.parametrize(
    ("given", "gone"),
    [
        ("net, optimize", True),
        ("net, True", True),
        ("net, optimize()", False),
        ("*nets", False),
        ("net, True, 1", False),
    ],
)
def test_the_second_argument_of_a_compiler_has_no_effect(given: str, gone: bool, tmp_path: Path) -> None:
    source = body(
        f"\n\ndef run(x, optimize):\n    net = Net()\n    fast = torch.jit.script({given})\n    return fast(x)\n"
    )
    new, _ = migrated(tmp_path, {"net.py": source}, unsafe=True)
    assert ("torch.jit" not in new.get("net.py", source)) == gone
