"""What editors may set: the same names in the server, in its documentation and in the extension for Visual Studio Code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from torchlift.migrate.workspace.config import ConfigError
from torchlift.server.client_settings import ClientSettings
from torchlift.versions import TorchVersion

ROOT = Path(__file__).parents[2]
VSCODE = ROOT / "editors/vscode"
SETTINGS = {"configuration", "select", "ignore", "target", "minTorch", "torchscript", "allowOwnRules"}


def test_the_extension_and_the_page_name_the_settings_of_the_server() -> None:
    declared = json.loads((VSCODE / "package.json").read_text())["contributes"]["configuration"]["properties"]
    assert {name.removeprefix("torchlift.") for name in declared} - {"enable", "path", "args"} == SETTINGS
    page = (ROOT / "docs/editors.md").read_text().partition("## Settings")[2].partition("\n## ")[0]
    assert set(re.findall(r"`(\w+)`", page)) >= SETTINGS
    assert declared["torchlift.allowOwnRules"]["scope"] == "machine"  # a repository must not be able to set it


def test_the_version_of_the_extension_is_that_of_torchlift() -> None:
    from torchlift import __version__

    assert json.loads((VSCODE / "package.json").read_text())["version"] == __version__


def test_settings_stand_in_the_place_of_the_projects_own(tmp_path: Path) -> None:
    (tmp_path / "torchlift.toml").write_text('select = ["TL1"]\nignore = ["TL101"]\ntarget = "2.14"\n')
    assert ClientSettings.read(None).config_of(tmp_path).select == ("TL1",)
    sent = {"select": ["TL4"], "ignore": [], "minTorch": "2.6", "torchscript": "drop", "path": ["x"], "target": ""}
    config = ClientSettings.read(sent).config_of(tmp_path)
    assert (config.select, config.ignore) == (("TL4",), ("TL101",))
    assert (config.target, config.min_torch) == (TorchVersion(2, 14), TorchVersion(2, 6))
    assert config.torchscript.support == "drop" and not config.allow_own_rules
    (tmp_path / "other.toml").write_text('target = "2.10"\n')
    other = ClientSettings.read({"configuration": "other.toml", "allowOwnRules": True}).config_of(tmp_path)
    assert other.target == TorchVersion(2, 10) and other.select == () and other.allow_own_rules


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ([], "must be an object"),
        ({"select": "TL4"}, "`torchlift.select` must be a list of rules"),
        ({"ignore": [4]}, "`torchlift.ignore` must be a list"),
        ({"target": 2.15}, "`torchlift.target` must be text"),
        ({"minTorch": "x"}, "`torchlift.minTorch` must be a release"),
        ({"torchscript": "maybe"}, "must be `drop` or `keep`"),
        ({"allowOwnRules": "yes"}, "must be true or false"),
    ],
)
def test_a_wrong_setting_is_a_sentence(sent: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(says)):
        ClientSettings.read(sent)


def test_without_its_package_the_server_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "pygls.py").write_text("raise ModuleNotFoundError('no', name='pygls')\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.argv = ['torchlift', 'server']; from torchlift.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "pip install '.[server]'" in done.stderr and "Traceback" not in done.stderr


def test_the_documented_first_look_shows_what_is_found_and_offered(tmp_path: Path) -> None:
    page = (ROOT / "docs/editors.md").read_text()
    (tmp_path / "first_look.py").write_text(page.partition("```python\n")[2].partition("```")[0])
    (tmp_path / "old.py").write_text("import torch\n\n\ndef f(a, b):\n    return torch.ger(a, b)\n")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "first_look.py", "old.py"], cwd=tmp_path, env={**os.environ, "PATH": path},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found, fix, new, ignore, comment = done.stdout.splitlines()
    assert found.startswith("5 TL401 ") and fix.endswith("(safe)")
    assert new.endswith("/old.py, line 5: '    return torch.outer(a, b)\\n'")
    assert ignore == "    Ignore TL401 here" and comment.endswith("/old.py, line 5: '  # torchlift: ignore[TL401]'")
