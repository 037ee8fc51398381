"""Files of Python up to 3.6 whose only fault is an argument called `async`."""

from __future__ import annotations

import ast
from pathlib import Path

from torchlift.migrate.result import Mode
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Settings
from torchlift.source import SourceText
from torchlift.versions import TorchVersion

BEFORE = (
    "import torch\n\n\ndef step(x, y, loss):\n    x = x.cuda(async = True)\n    y = y.cuda(async=True)  # async=True\n"
    "    print('async=True', loss.data[0])\n    return torch.qr(x), y\n"
)


def test_they_are_checked_and_fixed_once_the_argument_has_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BEFORE)
    rules = frozenset(all_rules()) - {"TL902"}
    result = analyse(RunOptions(tmp_path, ("a.py",), Mode.DIFF, rules, True, Settings(min_torch=TorchVersion(2, 0))))
    assert result.failures == ()
    new = next(outcome.new_text for outcome in result.outcomes)
    assert new is not None
    ast.parse(new)
    assert new.count("non_blocking") == 2
    assert "# async=True" in new and "'async=True', loss.item()" in new and "torch.linalg.qr" in new


def test_a_fix_that_leaves_it_is_not_offered(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BEFORE)
    rules = frozenset({"TL412"})
    result = analyse(RunOptions(tmp_path, ("a.py",), Mode.DIFF, rules, True, Settings(min_torch=TorchVersion(2, 0))))
    (outcome,) = result.outcomes
    assert (outcome.new_text, [item.fix for item in outcome.left]) == (None, [None])
    assert "TL453" in str(outcome.left[0].help)


def test_places_stay_and_other_faults_are_not_hidden() -> None:
    source = SourceText(BEFORE)
    assert source.has_old_async
    assert [node.lineno for node in ast.walk(source.parse()) if isinstance(node, ast.keyword)] == [5, 6]
    assert not SourceText("async def f():\n    return 'x, async=1'\n").has_old_async
    assert not SourceText("f(a, b=1)\n").has_old_async
