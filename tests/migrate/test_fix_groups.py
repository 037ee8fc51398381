"""Fixes that belong together are applied together or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files, new_bytes
from writer_and_reader import FILES, MODEL, READER, WRITER

from torchlift.finding import Safety


def changed(folder: Path, files: dict[str, str], **options: object) -> list[str]:
    result = analyse_files(folder, files, **options)  # type: ignore[arg-type]
    assert result.failures == ()
    return [outcome.path for outcome in result.outcomes if outcome.new_text is not None]


def test_writer_and_reader_change_together_and_take_a_new_suffix(tmp_path: Path) -> None:
    result = analyse_files(tmp_path, FILES)
    assert b'"net.pt2"' in (new_bytes(result, "writer.py") or b"")
    assert b'torch.export.load("net.pt2").module()(x)' in (new_bytes(result, "reader.py") or b"")
    assert b"torch.jit" not in (new_bytes(result, "writer.py") or b"") + (new_bytes(result, "reader.py") or b"")


OBSTACLES = {
    "a second reader that cannot change": {"other.py": "import torch\nprint(torch.jit.load('net.pt').graph)\n"},
    "a reader with another location": {"other.py": "import torch\nn = torch.jit.load('net.pt', map_location='cuda')\n"},
    "a reader through torch.load": {"other.py": "import torch\nn = torch.load('net.pt')\n"},
    "a reader that refuses TorchScript": {"other.py": "import torch\nn = torch.load('net.pt', weights_only=True)\n"},
    "a writer that scripts": {"other.py": "import torch\ntorch.jit.script(x).save('net.pt')\n"},
    "a suppressed reader": {"reader.py": READER.replace('"net.pt")(x)', '"net.pt")(x)  # torchlift: ignore[TL103] no')},
    "a writer in train mode": {"writer.py": WRITER.replace(".eval()", "").replace("Net()", "torch.nn.Dropout()")},
    "a C++ reader": {"serve.cpp": 'auto m = torch::jit::load("net.pt");\n'},
    "a path in a configuration": {"config.yaml": "model: net.pt\n"},
    "an existence check": {"other.py": "import os, torch.jit\nos.path.exists('net.pt')\n"},
}


@pytest.mark.parametrize("extra", OBSTACLES.values(), ids=OBSTACLES)
def test_one_site_that_cannot_change_safely_holds_back_all(extra: dict[str, str], tmp_path: Path) -> None:
    assert changed(tmp_path, FILES | extra) == []


CONSTANT = {
    "model.py": MODEL,
    "paths.py": '# where the model goes\nPATH = "out/net.pt"  # one file\n',
    "writer.py": WRITER.replace('"net.pt"', "PATH").replace("from model", "from paths import PATH\nfrom model"),
    "reader.py": READER.replace('"net.pt"', "paths.PATH").replace("import torch", "import paths\nimport torch"),
}


def test_a_shared_constant_takes_the_new_suffix_where_it_is_defined(tmp_path: Path) -> None:
    result = analyse_files(tmp_path, CONSTANT)
    assert result.failures == ()
    assert new_bytes(result, "paths.py") == b'# where the model goes\nPATH = "out/net.pt2"  # one file\n'
    assert b"torch.export.load(paths.PATH).module()(x)" in (new_bytes(result, "reader.py") or b"")
    assert b", PATH)" in (new_bytes(result, "writer.py") or b"")


def test_a_constant_outside_the_given_paths_holds_everything_back(tmp_path: Path) -> None:
    assert changed(tmp_path, CONSTANT, only=("model.py", "reader.py", "writer.py")) == []


def test_an_unrelated_constant_with_the_same_path_is_a_stranger(tmp_path: Path) -> None:
    assert changed(tmp_path, CONSTANT | {"other.py": 'COPY = "out/net.pt"\n'}) == []


def test_a_mention_in_prose_does_not_hold_anything_back(tmp_path: Path) -> None:
    assert changed(tmp_path, FILES | {"README.md": "`python writer.py` writes net.pt\n"}) == ["reader.py", "writer.py"]


def test_a_site_outside_the_given_paths_holds_back_the_others(tmp_path: Path) -> None:
    result = analyse_files(tmp_path, FILES, only=("writer.py",))
    assert new_bytes(result, "writer.py") is None
    assert "reader.py is not among the given paths" in (all_findings(result)[0].help or "")


def test_a_site_whose_rule_is_not_selected_holds_back_the_others(tmp_path: Path) -> None:
    assert changed(tmp_path, FILES, codes=frozenset({"TL101"})) == []
    assert changed(tmp_path, FILES, codes=frozenset({"TL101", "TL103"})) == ["reader.py", "writer.py"]


def test_a_fix_takes_the_least_safety_of_those_it_goes_with(tmp_path: Path) -> None:
    files = FILES | {"reader.py": READER.replace('("net.pt")(x)', '("net.pt")(*x)')}
    result = analyse_files(tmp_path, files)
    trace = next(finding for finding in all_findings(result) if finding.code == "TL101")
    assert trace.safety is Safety.UNSAFE and "TL103 in reader.py" in (trace.help or "")
    assert changed(tmp_path / "unsafe", files, unsafe=True) == ["reader.py", "writer.py"]


def test_the_order_and_number_of_processes_do_not_matter(tmp_path: Path) -> None:
    files = FILES | {f"m{i}.py": f"import torch\nx{i} = torch.ger(a, b)\n" for i in range(20)}
    one = analyse_files(tmp_path, files)
    two = analyse_files(tmp_path, dict(reversed(files.items())), jobs=3)
    assert one.outcomes == two.outcomes


_BUFFER = (
    "import io\nimport torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n\n\n"
    "def test_saved():\n    traced = torch.jit.trace(Net().eval(), torch.rand(4, 3))\n    buffer = io.BytesIO()\n"
    "    torch.jit.save(traced, buffer)\n    buffer.seek(0)\n    torch.jit.load(buffer)\n{}"
)


@pytest.mark.parametrize(("more", "alone"), [("", True), ("    check(buffer)\n", False)])
def test_a_buffer_that_nothing_else_gets_hold_of_is_read_by_no_reader_elsewhere(
    more: str, alone: bool, tmp_path: Path
) -> None:
    reader = "import sys\nimport torch\n\nnet = torch.jit.load(sys.argv[1])\n"
    result = analyse_files(tmp_path, {"test_net.py": _BUFFER.format(more), "serve.py": reader})
    assert (b"torch.export.save(traced, buffer)" in (new_bytes(result, "test_net.py") or b"")) is alone


def test_whatever_is_saved_where_the_same_function_loads_it_is_torchscript(tmp_path: Path) -> None:
    code = "import torch\n\n\ndef f(net):\n    net.save('net.pt')\n    return torch.jit.load('net.pt')\n"
    (found,) = all_findings(analyse_files(tmp_path, {"a.py": code}))
    assert found.code == "TL103" and "`net.pt` is written as TorchScript at a.py:5" in (found.help or "")
