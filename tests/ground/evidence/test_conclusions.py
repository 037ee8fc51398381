"""What recorded calls let conclude, where the whole road of a run is not needed to see it."""

from __future__ import annotations

import ast

from recorded_evidence import runs, site, value

from torchlift.evidence.conclusions import exported
from torchlift.evidence.records import RecordedCall
from torchlift.source import SourceText

NESTED = "def make():\n    @torch.jit.script\n    def double(x):\n        return 2 * x\n\n    return double\n"
FILES = {"a.py": f"import torch\n\n\n{NESTED}"}


def test_what_scripted_code_alone_calls_is_not_known_to_export() -> None:
    inside = value()
    inside.calls[:] = [RecordedCall("forward", ["float32[4,3]"], via="inside")]
    called = site(FILES, "a.py", "torch.jit.script", "torch.jit.script", inside)
    assert exported(called).unknown == "scripted code alone calls it"


def test_a_decorated_function_is_found_again_in_a_text_that_changed_above_it() -> None:
    known = runs(FILES, site(FILES, "a.py", "torch.jit.script", "torch.jit.script", value()))
    text = f"import os\nimport torch\n\n\n{NESTED}"
    function = next(node for node in ast.walk(ast.parse(text)) if getattr(node, "name", "") == "double")
    assert isinstance(function, ast.FunctionDef)
    assert known.at("a.py", SourceText(text), function.decorator_list[0], function) is not None
