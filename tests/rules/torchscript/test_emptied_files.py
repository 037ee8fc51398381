"""A file that fixes have emptied goes only where nothing else of the project names it."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files, new_bytes

from torchlift.finding import Safety
from torchlift.torchscript_intent import DROP

SETTING = "import torch\n\ntorch.jit.set_fusion_strategy([('STATIC', 1)])\n"
NAMING = {
    "a rule of make": {"Makefile": "all:\n\tpython warm.py\n"},
    "an entry point": {"pyproject.toml": '[project.scripts]\nx = "warm:main"\n'},
    "an import": {"b.py": "import warm\n"},
    "a page about the module": {"README.md": "`import warm` comes first.\n"},
    "a name that is put together": {
        "b.py": "import importlib\n\nimportlib.import_module('.'.join(('', 'warm')), 'p')\n"
    },
}
LOADS = {
    "from torch.jit": "from torch.jit import load\n\n\ndef of(p):\n    return load(p)\n",
    "by another name": "import torch.jit as tj\n\n\ndef of(p):\n    return tj.load(p)\n",
    "beside what goes": "from torch.jit import load, script_if_tracing\n\nof = script_if_tracing(print)\nx = load('a.pt')\n",
}
MAY_LOAD = {
    "a hub": "import torch\n\nmodel = torch.hub.load('a/b', 'c')\n",
    "a package": "from torch.package import PackageImporter\n\nx = PackageImporter('f').load_pickle('a', 'b')\n",
    "anything": "import torch\n\nx = torch.load('f', weights_only=False)\n",
}


@pytest.mark.parametrize("others", NAMING.values(), ids=NAMING)
def test_a_file_that_others_name_stays_without_its_statements(others: dict[str, str], tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"warm.py": SETTING, **others}, torchscript=DROP)
    assert new_bytes(result, "warm.py") == b"\n"
    assert not any(outcome.is_removed for outcome in result.outcomes)


def test_comments_stay_in_a_file_that_others_name(tmp_path: Path) -> None:
    files = {"warm.py": SETTING + "# See NOTICE.\n", **NAMING["a rule of make"]}
    assert new_bytes(analyse_files(tmp_path, files, torchscript=DROP), "warm.py") == b"# See NOTICE.\n"


def test_a_file_that_nothing_names_goes(tmp_path: Path) -> None:
    assert new_bytes(analyse_files(tmp_path, {"warm.py": SETTING}, torchscript=DROP), "warm.py") == b""


@pytest.mark.parametrize("text", LOADS.values(), ids=LOADS)
def test_settings_wait_for_what_loads_torchscript(text: str, tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"a.py": text, "b.py": SETTING}, unsafe=True, torchscript=DROP)
    (finding,) = [one for one in all_findings(result) if one.code == "TL131"]
    assert finding.fix is None and "a.py" in (finding.help or "")


@pytest.mark.parametrize("text", MAY_LOAD.values(), ids=MAY_LOAD)
def test_settings_go_after_review_where_something_may_load_torchscript(text: str, tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"a.py": text, "b.py": SETTING}, torchscript=DROP)
    (finding,) = [one for one in all_findings(result) if one.code == "TL131"]
    assert finding.safety is Safety.UNSAFE and "may still run TorchScript" in (finding.help or "")
