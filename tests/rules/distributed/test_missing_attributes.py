"""Which attributes of the old NCCL backend the code behind a test of its class reads."""

from __future__ import annotations

import ast

import pytest

from torchlift.rules.distributed.facts.missing_attributes import missing_behind
from torchlift.source import SourceText
from torchlift.view import ModuleView


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("if isinstance(b, N):\n    b.uid, b.options, b._is_initialized()\n", ["uid", "_is_initialized"]),
        ("if ready and isinstance(b, N) and b.uid:\n    pass\n", ["uid"]),
        ("x = b._group_start if isinstance(b, N) else b.uid\n", ["_group_start"]),
        ("if isinstance(b, N):\n    b.options\nelse:\n    b.uid\n", []),
        ("if isinstance(b, N):\n    use(b)\n", None),
        ("if not isinstance(b, N):\n    b.uid\n", None),
        ("if isinstance(b, N) or ready:\n    b.uid\n", None),
        ("known = isinstance(b, N) and ready\n", None),
        ("if isinstance(self.b, N):\n    self.b.uid\n", None),
    ],
)
def test_attributes_are_named_only_where_every_read_behind_the_test_is_seen(
    code: str, expected: list[str] | None
) -> None:
    source = SourceText(code)
    view = ModuleView("a.py", source, source.parse(), "a")
    test = next(
        node
        for node in ast.walk(view.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
    )
    assert missing_behind(view, test.args[0], test) == expected
