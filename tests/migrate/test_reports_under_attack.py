"""Every machine format over odd trees: it is whole and fits its schema, or there is none and the exit says so."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

import jsonschema
import pytest
from click.testing import CliRunner, Result
from closed_schema import closed

from torchlift.cli import torchlift
from torchlift.migrate.find import check
from torchlift.migrate.output_formats import OutputFormat
from torchlift.migrate.plan.report import plan_schema
from torchlift.migrate.tell.report.json_schema import migrate_schema

OLD = b"import torch\n\nx = torch.ger(a, b)\n"
BROKEN = b"def f(:\n    return torch.ger(a, b)\n# torchlift: ignore[TL401] why\n"
# What stands in the tree; names are bytes.
TREES: dict[str, Mapping[bytes, bytes]] = {
    "names that say something to a terminal or a log": {
        b"::error file=x::y.py": OLD, b"new\nline.py": OLD, b"\x1b[31mred.py": OLD, "\u202egnp.py".encode(): OLD,
    },
    "names that are no UTF-8, and quotes": {b"s\xff\xfe.py": OLD, b'"quoted".py': OLD, b"<&>.py": OLD, b"%41?#.py": OLD},
    "names that differ in case alone": {b"Model.py": OLD, b"model.py": OLD, b"MODEL.PY": OLD, b"pkg/A.py": OLD, b"PKG/A.py": OLD},
    "files that cannot be read": {b"broken.py": BROKEN, b"null.py": b"import torch\0\n", b"cookie.py": b"# coding: no\nimport torch.jit\n",
                                  b"bytes.py": b"import torch.jit  # \xff\n", b"deep.py": b"import torch.jit\nx = " + b"(" * 5000},
    "text files among them": {b"r\xff/requirements.txt": b"torch==1.9.0\ntorchvision==0.1\n", b"Dockerfile": b"FROM pytorch/pytorch:1.9.0\n",
                              b"a.sh": b"python -m torch.distributed.launch --use_env a\xff.py\n"},
    "nothing": {},
}  # fmt: skip


def plant(folder: Path, tree: Mapping[bytes, bytes]) -> None:
    for name, data in tree.items():
        path = os.path.join(os.fsencode(folder), name)  # noqa: PTH118 - a Path holds no bytes
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        with open(path, "wb") as stream:  # noqa: PTH123
            stream.write(data)


def whole(form: str, text: str) -> None:
    """Fail unless `text` is a whole report of its format."""
    assert "\x1b" not in text
    assert "\u202e" not in text or form not in {"full", "concise", "github", "markdown"}
    if form == "json":
        jsonschema.Draft202012Validator(closed(migrate_schema())).validate(json.loads(text))
    elif form in {"sarif", "gitlab", "rdjson"}:
        json.loads(text)
    elif form == "junit":
        ElementTree.fromstring(text)
    elif form == "github":
        told = [line for line in text.splitlines() if line.startswith("::")]
        assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in told)
        assert not any(line.startswith("::error file=x::") for line in told)


def asked(*arguments: str) -> Result:
    return CliRunner().invoke(torchlift, list(arguments))


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_every_format_is_whole(tree: Mapping[bytes, bytes], tmp_path: Path) -> None:
    plant(tmp_path, tree)
    for form in get_args(OutputFormat):
        done = asked("migrate", str(tmp_path), "--check", "--isolated", "--select", "ALL", "--output-format", form)
        assert done.exit_code in {0, 1}, done.stderr
        whole(form, done.stdout)
    plan = asked("plan", str(tmp_path), "--isolated", "--format", "json")
    jsonschema.Draft202012Validator(closed(plan_schema())).validate(json.loads(plan.stdout))


def test_names_that_differ_in_case_alone_are_files_of_their_own(tmp_path: Path) -> None:
    plant(tmp_path, TREES["names that differ in case alone"])
    (tmp_path / "model.py").write_bytes(b"x = 1\n")
    (tmp_path / ".gitignore").write_text("PKG/\n")
    done = asked("migrate", str(tmp_path), "--check", "--isolated", "--output-format", "json")
    assert [item["filename"] for item in json.loads(done.stdout)["findings"]] == ["Model.py", "pkg/A.py"]
    done = asked("migrate", str(tmp_path / "Model.py"), "--isolated", "--allow-no-vcs", "-q")
    assert b"torch.outer" in (tmp_path / "Model.py").read_bytes()
    assert (tmp_path / "model.py").read_bytes() == b"x = 1\n" and (tmp_path / "MODEL.PY").read_bytes() == OLD


def _crash(*_: object, **__: object) -> None:
    raise RuntimeError("on purpose")


def _interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("form", get_args(OutputFormat))
@pytest.mark.parametrize(("stops", "exit_code"), [(_crash, 2), (_interrupt, 1)], ids=["a defect", "Ctrl-C"])
def test_what_ends_a_run_leaves_a_whole_report_or_none(
    form: str, stops: Callable[..., None], exit_code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, {b"a.py": OLD, b"b\xff.py": OLD})
    monkeypatch.setattr(check.Dispatcher, "check", stops)
    done = asked("migrate", str(tmp_path), "--check", "--isolated", "--jobs", "1", "--output-format", form)
    assert done.exit_code == exit_code, done.output  # the command itself ends with 130 after Ctrl-C
    if done.stdout:
        whole(form, done.stdout)
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize("form", ["json", "sarif", "gitlab", "rdjson", "junit"])
def test_input_that_cannot_be_used_leaves_no_half_report(form: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.torchlift]\ntarget = "no"\n')
    for given in (str(tmp_path), str(tmp_path / "gone.py")):
        done = asked("migrate", given, "--check", "--output-format", form)
        assert done.exit_code == 2 and done.stderr and "Traceback" not in done.stderr
        if done.stdout:
            whole(form, done.stdout)
