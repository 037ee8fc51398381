"""What `torchlift inspect` says of files that torch writes, and of those that were made to harm."""

from __future__ import annotations

import io
import json
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import hostile_archives
import jsonschema
import pytest
import torch
import torchscript_archives as archives
from click.testing import CliRunner
from torch import nn

import torchlift.convert
from torchlift.convert.inspection.cli import inspect
from torchlift.convert.inspection.inspect import inspected
from torchlift.convert.schemas import PUBLISHED
from torchlift.json_records.schema import schema_text

_MEMORY = 1 << 30


def test_a_trace_says_its_schema_and_the_inputs_that_it_was_made_with(tmp_path: Path) -> None:
    found = inspected(archives.write("traced_attention", tmp_path))
    assert (found.kind, found.tracing, found.remarks) == ("torchscript", True, [])
    assert [(one.schema, one.recorded) for one in found.methods] == [
        ("forward(x: Tensor) -> Tensor", ["float32[2,5,8]"])
    ]
    assert [(one.name, one.shape) for one in found.parameters][:2] == [("qkv.weight", [24, 8]), ("qkv.bias", [24])]


def test_methods_extra_files_and_operators_are_named(tmp_path: Path) -> None:
    several = inspected(archives.write("several_methods", tmp_path))
    assert [one.name for one in several.methods] == ["forward", "decode", "encode"]
    assert inspected(archives.write("with_extra_files", tmp_path)).extra_files == {"labels.txt": 7, "config.json": 11}
    assert "quantized::linear" in inspected(archives.write("quantised_statically", tmp_path)).operators


class _Own(nn.Linear):
    pass


@pytest.mark.parametrize("new", [True, False], ids=["zip", "legacy"])
def test_what_torch_save_writes_is_told_apart(tmp_path: Path, new: bool) -> None:
    path = tmp_path / "model.bin"
    kinds = []
    module = _Own(2, 3)
    for value in (module.state_dict(), {"model": module.state_dict(), "epoch": 1}, module, torch.ones(2), [1, "a"]):
        torch.save(value, path, _use_new_zipfile_serialization=new)
        kinds.append(inspected(path).kind)
    assert kinds == ["state dict", "checkpoint", "module", "tensor", "pickle"]


def test_a_whole_module_names_the_classes_that_it_would_import(tmp_path: Path) -> None:
    torch.save(_Own(2, 3), tmp_path / "m.pt")
    found = inspected(tmp_path / "m.pt")
    own = next(one for one in found.imports if one.name.endswith("_Own"))
    assert not own.allowed
    assert [one.name for one in found.parameters] == ["weight", "bias"]


def test_exported_programs_pointers_and_others_are_known_by_their_content(tmp_path: Path) -> None:
    torch.export.save(torch.export.export(nn.Linear(2, 3), (torch.ones(1, 2),)), tmp_path / "a.pt")
    (tmp_path / "b.pt").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n")
    (tmp_path / "c.pt").write_bytes(b"")
    (tmp_path / "d.pt").write_bytes(b"some text")
    (tmp_path / "e.ptl").write_bytes(b"\x1c\0\0\0PTMF" + b"\0" * 60)
    kinds = [inspected(path).kind for path in sorted(tmp_path.iterdir())]
    assert kinds == ["exported", "lfs", "empty", "unknown", "mobile flatbuffer"]


def test_every_archive_of_torch_is_read_without_a_complaint(tmp_path: Path) -> None:
    names = ["scripted_encoder", "interface", "class_of_its_own", "enums", "texts", "forked", "traced_encoder"]
    found = [inspected(archives.write(name, tmp_path)) for name in names]
    assert [(one.kind, one.problem, one.remarks) for one in found] == [("torchscript", None, [])] * len(names)


@pytest.mark.parametrize("name", hostile_archives.HOSTILE)
def test_a_hostile_file_runs_nothing_takes_little_and_ends_with_a_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    monkeypatch.setenv(hostile_archives.MARK, str(mark))
    path = hostile_archives.write(name, tmp_path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = inspected(path)
    assert not mark.exists()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < _MEMORY >> 10
    harmless = name in ("pickle that doubles sixty times", "memo at the end of memory")
    said = [found.problem] if found.problem else found.remarks
    assert said or harmless
    assert all(sentence.endswith(".") and "Traceback" not in sentence for sentence in said)


def test_escape_sequences_in_names_do_not_reach_the_terminal(tmp_path: Path) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("../\x1b]0;owned\x07", b"x")
    (tmp_path / "a.zip").write_bytes(made.getvalue())
    done = CliRunner().invoke(inspect, [str(tmp_path / "a.zip")])
    assert "\x1b" not in done.output
    assert "owned" in done.output


def test_json_is_as_the_published_schema_says(tmp_path: Path) -> None:
    schema = PUBLISHED["inspect"]()
    published = Path(torchlift.convert.__file__).with_name("inspect.schema.json")
    assert published.read_text(encoding="utf-8") == schema_text(schema), (
        "run: python -m torchlift.convert.schemas inspect > convert/inspect.schema.json"
    )
    good = archives.write("several_methods", tmp_path)
    done = CliRunner().invoke(inspect, ["--json", str(good), str(tmp_path / "none.pt")])
    assert done.exit_code == 2
    jsonschema.validate(json.loads(done.stdout), schema)


def test_exit_codes_say_whether_all_is_known(tmp_path: Path) -> None:
    good = archives.write("scripted_mlp", tmp_path)
    (tmp_path / "text").write_bytes(b"no model")
    codes = [
        CliRunner().invoke(inspect, list(map(str, args))).exit_code for args in ([good], [good, tmp_path / "text"])
    ]
    assert codes == [0, 1]


def test_torch_is_not_imported(tmp_path: Path) -> None:
    path = archives.write("scripted_mlp", tmp_path)
    code = (
        "import sys; from pathlib import Path; from torchlift.convert.inspection.inspect import inspected; "
        "inspected(Path(sys.argv[1])); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
