"""A plan in the forms that CI systems and browsers read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from annotations import annotations
from commands import told
from html_page import ALLOWED, Page
from published_formats import junit

HOSTILE = "<script>alert(1)<&script>"
SERVER = 'import torch\n\nnet = torch.jit.load("model.pt")\n\n\ndef names():\n    return [n for n, _ in net.code_with_constants]\n'


def project(folder: Path, support: str = "") -> Path:
    (folder / "net").mkdir(parents=True)
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "net"\nversion = "1"\ndependencies = ["torch>=2.6"]\n'
        + (f'\n[tool.torchlift.torchscript]\nsupport = "{support}"\n' if support else "")
    )
    (folder / "net/loss.py").write_text(
        "import torch\n\n\n@torch.jit.script\ndef loss(x: torch.Tensor, y: torch.Tensor):\n    return x - y\n"
    )
    (folder / "net/serve.py").write_text(SERVER)
    return folder


def test_junit_has_a_failure_for_each_question_and_place(tmp_path: Path) -> None:
    plan = json.loads(told(project(tmp_path), "plan", "--output-format", "json").stdout)
    done = told(tmp_path, "plan", "--output-format", "junit")
    found = junit(done.stdout)
    names = {suite.name: [case.name for case in suite] for suite in found}
    assert done.returncode == 1 and plan["questions"] and plan["left"]
    assert names["questions"] == [question["text"] for question in plan["questions"]]
    assert names["left"] == [f"{each['code']} {each['message']}" for each in plan["left"]]
    assert found.failures == found.tests == sum(map(len, names.values()))


def test_github_shows_places_where_they_stand_as_seen_from_here(tmp_path: Path) -> None:
    project(tmp_path / "sub")
    listed = annotations(told(tmp_path, "plan", "sub", "--output-format", "github").stdout)
    left = [properties for level, properties, _ in listed if level == "warning"]
    assert left and all((tmp_path / properties["file"]).is_file() and int(properties["line"]) for properties in left)
    assert [text for level, _, text in listed if level == "notice" and "support = " in text]


def test_support_that_is_kept_asks_for_nothing_in_any_form(tmp_path: Path) -> None:
    project(tmp_path, "keep")
    done = told(tmp_path, "plan", "--output-format", "junit")
    assert done.returncode == 0 and junit(done.stdout).failures == 0
    assert told(tmp_path, "plan", "--output-format", "github").stdout == ""


def test_the_page_holds_questions_answers_and_what_is_left_and_runs_nothing(tmp_path: Path) -> None:
    project(tmp_path)
    (tmp_path / "net" / f"{HOSTILE}.py").write_text(SERVER)
    done = told(tmp_path, "plan", "--html", "plan.html", "--output-file", "json=plan.json")
    shown, plan = (tmp_path / "plan.html").read_text(), json.loads((tmp_path / "plan.json").read_text())
    page = Page(shown)
    assert done.stdout.startswith("TorchScript in ") and {tag for tag, _ in page.elements} <= ALLOWED
    assert not [key for _, attributes in page.elements for key in attributes if key.startswith("on") or key == "src"]
    assert HOSTILE in page.text and "<script" not in shown and "url(" not in shown
    for question in plan["questions"]:
        assert question["text"].replace("`", "") in page.text
        assert all(answer["lines"][0] in page.text for answer in question["answers"])
    places = [each["place"] for each in plan["left"]]
    assert places and all(place in page.text for place in places)
    for code in {each["code"] for each in plan["left"]}:
        assert re.search(rf"body:has\(#show-{code}:not\(:checked\)\) \.is-{code} \{{ display: none; \}}", shown)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--output-file", "no/x.json"], "There is no folder 'no'"),
        (["--html", ""], "names no file"),
        (["--html", "a.html", "--output-file", "html=a.html"], "'a.html' is named twice"),
        (["--output-file", "a.txt", "--output-file", "b.txt"], "name the format of others"),
        (["--html", "/dev/full"], "could not be written to /dev/full: No space left on device"),
        (["--output-format", "sarif"], "is not one of"),
    ],
)
def test_a_plan_that_cannot_be_written_is_a_sentence_and_exit_2(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    done = told(project(tmp_path), "plan", *arguments)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr
