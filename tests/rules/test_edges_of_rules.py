"""Places of rules at which a small change went unnoticed by everything else (bench/mutants.py)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from commands import told

from torchlift.api_changes.changes import deprecated_names
from torchlift.rules.api.tl403_deprecated_name import _own_words
from torchlift.rules.catalogue import as_data
from torchlift.rules.registry import all_rules

SENDS = """\
import torch.distributed as dist

dist.init_process_group("nccl")


def exchange(x, ready, steps):
    ops = []
    {first}:
        ops.append(dist.P2POp(dist.isend, x, 1))
    {second}:
        ops.append(dist.P2POp(dist.irecv, x, 0))
    {around}:
        for request in dist.batch_isend_irecv(ops):
            request.wait()
"""


def findings(folder: Path, files: dict[str, str], *options: str) -> list[dict[str, Any]]:
    for name, text in files.items():
        (folder / name).write_text(text)
    done = told(folder, "migrate", ".", "--check", "--isolated", "--output-format=json", *options)
    found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return found


@pytest.mark.parametrize(
    ("first", "second", "around", "codes"),
    [
        ("if steps == 1", "if steps == 2", "if True", ["TL218"]),
        ("if steps % 2 == 0", "if steps % 2 == 1", "if True", []),
        ("if steps == 1", "if steps == 2", "if dist.get_world_size() > 1", []),
    ],
)
def test_a_batch_may_be_empty_unless_one_of_its_conditions_always_holds_or_the_world_was_asked(
    first: str, second: str, around: str, codes: list[str], tmp_path: Path
) -> None:
    code = SENDS.format(first=first, second=second, around=around)
    assert [item["code"] for item in findings(tmp_path, {"a.py": code}, "--select", "TL218")] == codes


def test_an_attribute_that_a_class_of_the_project_declares_is_no_misspelt_one(tmp_path: Path) -> None:
    store = "def f(options):\n    options.require_grad = True\n"
    declared = "class Options:\n    require_grad = False\n\n\n"
    assert len(findings(tmp_path, {"a.py": store}, "--select", "TL427")) == 1
    assert findings(tmp_path, {"a.py": declared + store}, "--select", "TL427") == []


def test_a_torch_from_one_of_two_builds_is_not_held_against_the_image(tmp_path: Path) -> None:
    install = "RUN pip install torch==2.13.0 --index-url https://download.pytorch.org/whl/cu126"
    image = "FROM pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime\n"
    (sure,) = findings(tmp_path, {"Dockerfile": f"{image}{install}\n"}, "--select", "TL302")
    assert "in its place" in sure["message"]
    two = f"{image}{install} --extra-index-url https://download.pytorch.org/whl/cu130\n"
    (unsure,) = findings(tmp_path, {"Dockerfile": two}, "--select", "TL302")
    assert "in its place" not in unsure["message"]


def test_the_advice_of_the_exporter_names_each_step(tmp_path: Path) -> None:
    code = (
        "import torch\n\n\ndef save(model, x):\n"
        "    torch.onnx.export(model, x, 'f.onnx', dynamo=False, dynamic_axes={'x': [0]})\n"
    )
    (finding,) = findings(tmp_path, {"a.py": code}, "--select", "TL503")
    for step in ("drop `dynamo=False`", "install `onnxscript`", "in place of `dynamic_axes=`", "compare the outputs"):
        assert step in finding["help"]


def test_an_imported_name_does_not_take_a_new_one_that_the_file_reads_already(tmp_path: Path) -> None:
    code = "from torch import ger\n\n\ndef f(a, b):\n    return ger(a, b), outer\n"
    (tmp_path / "a.py").write_text(code)
    told(tmp_path, "migrate", ".", "--isolated", "--allow-no-vcs", "--select", "TL401")
    after = (tmp_path / "a.py").read_text()
    assert "import outer\n" not in after and after.endswith(", outer\n")


def test_what_torch_says_itself_is_told_in_plain_words() -> None:
    said = [text for row in deprecated_names().values() if (text := _own_words(row)) is not None]
    assert len(said) > 20
    assert all(re.match(r"Torch\w* (?:says: |names `)", text) and text.endswith(".") for text in said)
    assert not [text for text in said if ":class:" in text or ":func:" in text or "``" in text]


GONE = "import torch\n\ntry:\n    {}\n\n    OLD = True\nexcept ImportError:\n    OLD = False\n\n\ndef f(x):\n    {}torch.gels(x, x)\n"


@pytest.mark.parametrize(
    ("tried", "asks", "reported"),
    [
        ("from torch import gels", "if OLD:\n        return ", False),
        ("import torch._six", "if OLD:\n        return ", False),
        ("from torch import relu", "if OLD:\n        return ", True),
        ("from torch import gels", "return ", True),
    ],
)
def test_a_flag_of_an_import_that_fails_today_guards_what_asks_for_it(
    tried: str, asks: str, reported: bool, tmp_path: Path
) -> None:
    found = findings(tmp_path, {"a.py": GONE.format(tried, asks)}, "--select=TL402")
    assert any(finding["location"]["row"] > 10 for finding in found) is reported


def test_a_fallback_of_a_name_that_the_target_only_begins_to_deprecate_is_told_with_that_release(
    tmp_path: Path,
) -> None:
    code = "import torch\n\ntry:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    autocast = None\n"
    told_of = {
        target: [one["code"] for one in findings(tmp_path, {"a.py": code}, "--select=TL451", f"--target={target}")]
        for target in ("2.3", "2.4")
    }
    assert told_of == {"2.3": [], "2.4": ["TL451"]}


def test_releases_of_a_rule_are_data_or_nothing() -> None:
    for rule in all_rules().values():
        data = as_data(rule)
        assert data["removed"] == (str(rule.removed) if rule.removed is not None else None)
        assert data["deprecated"] == (str(rule.deprecated) if rule.deprecated is not None else None)
    assert any(as_data(rule)["removed"] for rule in all_rules().values())


def test_a_batch_in_an_expression_is_not_its_own_guard(tmp_path: Path) -> None:
    code = SENDS.replace("    {around}:\n        for", "    for").replace(
        "in dist.batch_isend_irecv(ops):\n            request",
        "in (ready and dist.batch_isend_irecv(ops)) or ():\n        request",
    )
    found = findings(tmp_path, {"a.py": code.format(first="if steps == 1", second="if steps == 2")}, "--select=TL218")
    assert [finding["code"] for finding in found] == ["TL218"]
