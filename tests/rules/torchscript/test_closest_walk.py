"""Of the places that ask for classes of parts, a finding names the closest of the same program."""

from __future__ import annotations

from pathlib import Path

from example_project import all_findings, analyse_files

from torchlift.finding import Safety
from torchlift.torchscript_intent import DROP

_WALK = "import torch.nn as nn\n\n\ndef init(net):\n    for part in net.modules():\n        if isinstance(part, nn.Linear):\n            print(part)\n"
_NET = (
    "import torch\nimport torch.nn as nn\n\n\nclass Net(torch.jit.ScriptModule):\n    def __init__(self):\n        super().__init__()\n"
    "        self.body = nn.Linear(2, 2)\n\n    @torch.jit.script_method\n    def forward(self, x):\n        return self.body(x)\n"
)


def test_the_file_of_the_module_is_named_before_the_first_one_of_the_project(tmp_path: Path) -> None:
    own = _WALK.partition("\n\n\n")[2]
    result = analyse_files(
        tmp_path, {"a/model.py": _WALK, "b/model.py": f"{_NET}\n\n{own}"}, codes=frozenset({"TL105"}), torchscript=DROP
    )
    said = " ".join(finding.help or "" for finding in all_findings(result) if finding.path == "b/model.py")
    assert "b/model.py:17 asks something for its class" in said and "a/model.py" not in said


def test_a_place_of_another_program_is_none(tmp_path: Path) -> None:
    result = analyse_files(
        tmp_path, {"a/model.py": _WALK, "b/model.py": _NET}, codes=frozenset({"TL105"}), torchscript=DROP
    )
    assert {finding.safety for finding in all_findings(result)} == {Safety.SAFE}
