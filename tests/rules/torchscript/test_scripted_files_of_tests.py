"""Files that a test wrote and read only to script: the module that was saved takes their place."""

from __future__ import annotations

from pathlib import Path

import pytest
from dropped_scripting import body, migrated


def test_a_test_that_reads_the_file_that_another_part_of_it_wrote_is_left_to_the_user(tmp_path: Path) -> None:
    test = (
        "def test_teacher(tmp_path, build):\n    name = str(tmp_path / 'a.pt')\n    torch.jit.save(torch.jit.script(Net()), name)\n"
        "    assert build(name)(1) == 2\n"
    )
    changed, left = migrated(tmp_path, {"test_net.py": body(test)}, unsafe=True)
    assert not changed
    assert any("is looked for on line 12" in (finding.help or "") for finding in left)


def test_a_file_that_is_loaded_again_is_no_longer_looked_for(tmp_path: Path) -> None:
    test = (
        "def test_saved(tmp_path):\n    name = str(tmp_path / 'a.pt')\n    torch.jit.save(torch.jit.script(Net()), name)\n"
        "    loaded = torch.jit.load(name)\n    assert loaded(1) == 2\n"
    )
    changed, _ = migrated(tmp_path, {"test_net.py": body(test)})
    assert "jit" not in changed["test_net.py"] and "(1) == 2" in changed["test_net.py"]


def test_a_temporary_file_is_removed_as_before(tmp_path: Path) -> None:
    test = (
        "def test_saved():\n    file = tempfile.NamedTemporaryFile(delete=False)\n    file.close()\n"
        "    Net().to_torchscript(file_path=file.name, method='trace')\n    loaded = torch.jit.load(file.name)\n"
        "    os.unlink(file.name)\n    assert loaded(1) == 2\n"
    )
    changed, _ = migrated(tmp_path, {"test_net.py": "import os\nimport tempfile\n\n" + body(test)}, unsafe=True)
    assert "jit" not in changed["test_net.py"] and "os.unlink(file.name)" in changed["test_net.py"]


@pytest.mark.parametrize(
    "ways",
    [
        "with tempfile.NamedTemporaryFile() as f:\n        torch.jit.script(net).save(f.name)\n        fast = torch.jit.load(f.name)",
        "with tempfile.NamedTemporaryFile() as f:\n        made = torch.jit.script(net)\n        torch.jit.save(made, f.name)\n"
        "        fast = torch.jit.load(f.name)",
        "torch.jit.save(torch.jit.script(net), 'net.pt')\n    fast = torch.jit.load('net.pt')",
    ],
)
def test_what_is_loaded_from_a_file_is_the_module_that_was_saved_there(ways: str, tmp_path: Path) -> None:
    test = f"import tempfile\n\n\ndef test_net():\n    net = Net()\n    {ways}\n    assert fast(torch.ones(2)).sum() == 4\n"
    changed, left = migrated(tmp_path, {"test_net.py": body(test)})
    assert changed["test_net.py"].endswith(
        "def test_net():\n    net = Net()\n    assert net(torch.ones(2)).sum() == 4\n"
    )
    assert not left


def test_a_temporary_folder_that_nothing_is_put_into_goes(tmp_path: Path) -> None:
    test = (
        "import os\nimport tempfile\n\n\ndef test_net():\n    net = Net()\n    with tempfile.TemporaryDirectory() as folder:\n"
        "        torch.jit.script(net).save(os.path.join(folder, 'net.pt'))\n"
        "        y = torch.jit.load(os.path.join(folder, 'net.pt'))(torch.ones(2))\n    assert y.sum() == 4\n"
    )
    changed, _ = migrated(tmp_path, {"test_net.py": body(test)}, unsafe=True)
    assert changed["test_net.py"].endswith(
        "def test_net():\n    net = Net()\n    y = net(torch.ones(2))\n    assert y.sum() == 4\n"
    )


def test_two_temporary_files_that_nothing_is_put_into_go_together(tmp_path: Path) -> None:
    test = (
        "import tempfile\n\n\ndef test_net():\n    net, other = Net(), Net()\n"
        "    with tempfile.NamedTemporaryFile() as a, tempfile.NamedTemporaryFile() as b:\n"
        "        torch.jit.script(net).save(a.name)\n        x = torch.jit.load(a.name)(torch.ones(2))\n"
        "        torch.jit.script(other).save(b.name)\n        y = torch.jit.load(b.name)(torch.ones(2))\n"
        "        assert x.sum() == y.sum() + 0\n"
    )
    changed, _ = migrated(tmp_path, {"test_net.py": body(test)}, unsafe=True)
    assert "tempfile" not in changed["test_net.py"]
    assert changed["test_net.py"].endswith("    y = other(torch.ones(2))\n    assert x.sum() == y.sum() + 0\n")


def test_a_value_that_a_helper_hands_to_one_which_saves_it_is_for_review(tmp_path: Path) -> None:
    test = (
        "def _save(net, path):\n    torch.jit.save(net, path)\n    return path\n\n\n"
        "def _check(net, path):\n    assert _save(net, path)\n\n\n"
        "def test_net(path):\n    net = Net()\n    fast = torch.jit.script(net)\n    _check(fast, path)\n    assert fast(1) == 2\n"
    )
    changed, left = migrated(tmp_path, {"test_net.py": body(test)})
    assert "fast = torch.jit.script(net)" in changed.get("test_net.py", body(test))
    assert left


def test_a_name_that_is_deleted_in_between_is_bound_by_what_loads_the_file(tmp_path: Path) -> None:
    test = (
        "import torch\nfrom builder import Builder\n\n\ndef test_saved():\n    net = Builder().build()\n    torch.jit.save(net, 'net.pt')\n"
        "{}    net = torch.jit.load('net.pt')\n    for _ in range(2):\n        assert net(torch.ones(2)).sum() == 2\n"
    )
    builder = "import torch\n\n\nclass Builder:\n    def build(self):\n        return torch.nn.Identity()\n"
    for line, edited in (("", True), ("    del net\n", False)):
        files = {"test_a.py": test.format(line), "builder.py": builder}
        changed, _ = migrated(tmp_path, files, unsafe=True)
        assert ("test_a.py" in changed) == edited
