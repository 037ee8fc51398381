"""A file is written only if its fixes kept their promises; what they bring to light in other code is no broken one."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import analyse_files, new_bytes

from torchlift.finding import Finding, Fix, Safety, Severity
from torchlift.migrate.fix.promises import broken_promise
from torchlift.migrate.result import Mode
from torchlift.source import SourceText, Span


def finding(text: str, what: str, code: str = "TL401", *, fixed: bool = False) -> Finding:
    at = text.index(what)
    fix = Fix("t", Safety.SAFE, ()) if fixed else None
    return Finding(code, "a.py", Span(at, at + len(what)), "m", Severity.WARNING, None, fix)


def broken(old: str, before: list[Finding], new: str, after: list[Finding]) -> tuple[str, str] | None:
    chosen = {"a.py": [one for one in before if one.fix]}
    return broken_promise({"a.py": before}, {"a.py": after}, chosen, lambda path: (SourceText(old), SourceText(new)))


def test_a_finding_that_stays_breaks_the_promise_of_its_fix() -> None:
    old, new = "ger(a)\n", "ger(a, b)\n"
    assert broken(old, [finding(old, "ger(a)", fixed=True)], new, [finding(new, "ger(a, b)")]) is not None


def test_a_finding_in_what_a_fix_wrote_is_a_broken_promise() -> None:
    old, new = "ger(a)\n", "qr(a)\n"
    assert broken(old, [finding(old, "ger(a)", fixed=True)], new, [finding(new, "qr(a)", "TL412")]) is not None


def test_what_was_there_before_and_means_something_now_is_no_broken_promise() -> None:
    old, new = "ger(a)\ntorch.qr(a)\n", "import torch\ntorch.outer(a)\ntorch.qr(a)\n"
    assert broken(old, [finding(old, "ger(a)", fixed=True)], new, [finding(new, "torch.qr(a)", "TL412")]) is None


def test_more_about_a_line_that_stays_is_no_broken_promise() -> None:
    old, new = "import torch  # old\nqr(a); x: qr\n", "import torch\nqr(a); x: qr\n"
    said, fixed = finding(old, "qr(a)", "TL412"), finding(old, "import torch  # old", fixed=True)
    again = [finding(new, "qr(a)", "TL412"), finding(new, "x: qr", "TL412")]
    assert broken(old, [fixed, said], new, again) is None


def test_a_fix_that_leaves_the_line_it_is_about_breaks_its_promise_where_more_is_said_there() -> None:
    old, new = "import torch  # old\nqr(a); x: qr\n", "import torch\nqr(a); x: qr\n"
    again = [finding(new, "qr(a)", "TL412"), finding(new, "x: qr", "TL412")]
    assert broken(old, [finding(old, "qr(a)", "TL412", fixed=True)], new, again) is not None


def test_a_second_finding_about_the_same_text_is_counted() -> None:
    old, new = "x = ger(a)\ny = ger(a)\n", "x = ger(a)\ny = outer(a)\n"
    second = Finding("TL401", "a.py", Span(old.rindex("ger"), len(old) - 1), "m", Severity.WARNING)
    assert broken(old, [finding(old, "ger(a)", fixed=True), second], new, [finding(new, "ger(a)")]) is None


@pytest.mark.parametrize(
    "source",
    [
        "from torch.cuda.amp import GradScaler\n\n\ndef f():\n    if not torch.jit.is_scripting():\n        return GradScaler()\n",
        "from torch import chain_matmul\n\n\n@torch.jit.script\ndef g(x: torch.Tensor):\n    return x\n\n\ny = chain_matmul(a, b)\n",
    ],
)
def test_an_import_that_gives_other_names_a_meaning_stops_no_file(source: str, tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"a.py": source})
    assert result.failures == () and new_bytes(result, "a.py") is not None


def test_an_import_may_become_the_last_line_of_a_block(tmp_path: Path) -> None:
    source = "if flag:\n    import torch  # why\nx: torch.jit.Final[int] = 3\n"
    result = analyse_files(tmp_path, {"a.py": source}, unsafe=True)
    assert result.failures == ()
    assert new_bytes(result, "a.py") == (
        b"if flag:\n    import torch  # why\n    from typing import Final\nx: Final[int] = 3\n"
    )


def test_a_fix_that_would_lose_a_comment_is_not_promised_by_a_look_either(tmp_path: Path) -> None:
    source = "import torch\n\ny = torch.jit.annotate(  # why\n    int, 3)\nz = torch.jit.annotate(int,  # why\n    3)\n"
    for mode in (Mode.CHECK, Mode.DIFF):
        [outcome] = analyse_files(tmp_path, {"a.py": source}, mode=mode).outcomes
        assert len(outcome.left) == 2 and outcome.new_text is None
        for found in outcome.left:
            assert found.safety is Safety.MANUAL and "A comment in the middle of the expression" in (found.help or "")
