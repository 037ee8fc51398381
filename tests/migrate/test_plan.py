"""`torchlift plan`: the questions, what their answers decide, and how they get into the configuration."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from closed_schema import closed
from commands import told

from torchlift.migrate import Config, Mode, migrate
from torchlift.migrate.plan.answers_file import CannotWrite, with_answers
from torchlift.migrate.plan.report import plan_schema
from torchlift.migrate.workspace.config import load_config
from torchlift.torchscript_intent import TorchScriptIntent

PROJECT = {
    "pyproject.toml": '[project]\nname = "net"\nversion = "1"\ndependencies = ["torch>=2.6"]  # as CI has it\n',
    "src/net/__init__.py": "",
    "src/net/model.py": (
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
        "        if not torch.jit.is_scripting():\n            assert x.dim() == 2\n        return self.twice(x)\n\n"
        "    @torch.jit.unused\n    def twice(self, x):\n        return x + x\n"
    ),
    "src/net/loss.py": "import torch\n\n\n@torch.jit.script\ndef loss(x: torch.Tensor, y: torch.Tensor):\n    return x - y\n",
    "src/net/export.py": (
        "import argparse\n\nimport torch\n\nfrom net.model import Net\n\nparser = argparse.ArgumentParser()\n"
        'parser.add_argument("--torchscript", action="store_true")\nparser.add_argument("--script", help="a script")\n'
        'torch.jit.script(Net()).save("model.pt")\n'
    ),
    "src/net/serve.py": 'import torch\n\nnet = torch.jit.load("model.pt")\n',
    "cpp/server.cpp": '#include <torch/script.h>\nauto net = torch::jit::load("model.pt");\n',
    "tests/test_model.py": (
        "import torch\n\nfrom net.model import Net\n\n\ndef test_scripts():\n    torch.jit.script(Net())\n\n\n"
        "def test_runs():\n    assert Net()(torch.ones(2, 2)).shape == (2, 2)\n"
    ),
}


def put(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


def planned(folder: Path, *arguments: str) -> dict[str, Any]:
    done = told(folder, "plan", "--format", "json", *arguments)
    report: dict[str, Any] = json.loads(done.stdout)
    jsonschema.Draft202012Validator(closed(plan_schema())).validate(report)
    return report


def test_what_the_plan_says_of_dropping_is_what_migrate_then_does(tmp_path: Path) -> None:
    put(tmp_path, PROJECT)
    report = planned(tmp_path)
    intent = TorchScriptIntent("drop")
    result = migrate([tmp_path], Config(select=("TL1",), unsafe_fixes=True, torchscript=intent), mode=Mode.DIFF)
    left = [finding for outcome in result.outcomes for finding in outcome.left]
    gone = report["gone"]
    assert gone["roots"] + gone["hints"] == report["roots"] + report["hints"] - len(left) > 0
    assert gone["effort"]["files"] == sum(outcome.new_text is not None for outcome in result.outcomes)
    assert sum(row["findings"] for row in report["left"]) == len(left)
    assert report["questions"][0]["about"] == "support"
    assert report["questions"][0]["answers"][0]["lines"] == ['support = "drop"']


def test_artifacts_readers_options_tests_and_what_holds_the_hints_are_told(tmp_path: Path) -> None:
    steps = "steps:\n  - uses: actions/upload-artifact@v4\n    with:\n      path: model.pt\n"
    download = "steps:\n  - run: curl -O https://example.org/model.pt\n"
    workflows = {".github/workflows/release.yml": steps, ".github/workflows/test.yml": download}
    report = planned(put(tmp_path, {**PROJECT, **workflows}))
    assert (report["roots"], report["hints"], report["files"]) == (4, 2, 5)
    assert report["artifacts"] == [
        {
            "name": "model.pt",
            "writers": ["src/net/export.py:10"],
            "readers": ["src/net/serve.py:3", "cpp/server.cpp:2"],
            "uploads": [".github/workflows/release.yml:4"],
        }
    ]
    assert [reader["place"] for reader in report["other_readers"]] == ["cpp/server.cpp:2"]
    assert report["options"] == [{"name": "--torchscript", "place": "src/net/export.py:8"}]
    assert [(row["folder"], row["files"], row["functions"]) for row in report["tests"]] == [("tests", 1, 1)]
    assert sum(row["findings"] for row in report["held"]) == report["hints"]
    artifact = [question for question in report["questions"] if question["about"] == "artifact"]
    assert [question["answers"][0]["lines"] for question in artifact] == [['keep = ["model.pt"]']]
    assert artifact[0]["text"].endswith(
        "? C++ (`torch::jit::load`) reads TorchScript at cpp/server.cpp:2; .github/workflows/release.yml:4 uploads it."
    )


def test_it_is_asked_what_takes_the_place_of_scripting_for_speed_until_it_is_answered(tmp_path: Path) -> None:
    put(tmp_path, PROJECT)
    asked = [question for question in planned(tmp_path)["questions"] if question["about"] == "speed"]
    assert [answer["lines"] for answer in asked[0]["answers"]] == [['speed = "eager"'], ['speed = "compile"']]
    assert "1 place" in asked[0]["answers"][1]["effect"]
    said = PROJECT["pyproject.toml"] + '[tool.torchlift.torchscript]\nspeed = "eager"\n'
    report = planned(put(tmp_path, {"pyproject.toml": said}))
    assert report["stated"]["speed"] == "eager"
    assert all(question["about"] != "speed" for question in report["questions"])


def test_what_becomes_of_tests_of_scripting_alone_is_asked_where_it_matters(tmp_path: Path) -> None:
    test = (
        "import torch\n\n\ndef f(x):\n    return x + 1\n\n\ndef test_jit():\n    x = torch.rand(2)\n"
        "    assert torch.equal(torch.jit.script(f)(x), f(x))\n"
    )
    report = planned(put(tmp_path, {**PROJECT, "tests/test_more.py": test}))
    (asked,) = [question for question in report["questions"] if question["about"] == "tests"]
    assert asked["decides"] == 1
    effects = {answer["value"]: answer["effect"] for answer in asked["answers"]}
    assert effects == {
        "delete": "1 test function goes, 0 go on without TorchScript.",
        "successor": "0 test functions go, 1 goes on without TorchScript.",
    }
    assert [answer["gone"]["safe"] for answer in asked["answers"]] == [1, 0]


def test_a_test_whose_decorator_scripts_is_a_test_of_scripting(tmp_path: Path) -> None:
    test = (
        "import pytest\nimport torch\n\n\ndef f(x):\n    return x + 1\n\n\n"
        '@pytest.mark.parametrize("f", [torch.jit.script(f)])\ndef test_f(f):\n    assert f(1) == 2\n'
    )
    report = planned(put(tmp_path, {"pyproject.toml": PROJECT["pyproject.toml"], "tests/test_more.py": test}))
    assert [(folder["folder"], folder["functions"]) for folder in report["tests"]] == [("tests", 1)]


def test_a_plan_writes_nothing(tmp_path: Path) -> None:
    put(tmp_path, PROJECT)
    assert told(tmp_path, "plan").returncode == 1
    assert {name: (tmp_path / name).read_text() for name in PROJECT} == PROJECT
    assert {path.name for path in tmp_path.iterdir()} == {"pyproject.toml", "src", "cpp", "tests"}


def test_paths_of_the_text_can_be_opened_from_where_the_user_stands(tmp_path: Path) -> None:
    put(tmp_path, PROJECT)
    done = told(tmp_path / "cpp", "plan", "..", "--color", "never")
    assert "../src/net/serve.py:3" in done.stdout and " server.cpp:2" in done.stdout


def test_markdown_has_the_lines_for_the_configuration(tmp_path: Path) -> None:
    text = told(put(tmp_path, PROJECT), "plan", "--format", "markdown").stdout
    assert text.startswith("## TorchScript in ")
    assert '```toml\n[tool.torchlift.torchscript]\nsupport = "drop"\n' in text
    assert "`src/net/export.py:10`" in text


def test_a_project_that_keeps_torchscript_is_asked_nothing(tmp_path: Path) -> None:
    kept = PROJECT["pyproject.toml"] + '[tool.torchlift.torchscript]\nsupport = "keep"\n'
    done = told(put(tmp_path, {**PROJECT, "pyproject.toml": kept}), "plan")
    assert done.returncode == 0
    assert "Does anybody" not in done.stdout and 'support = "keep"' in done.stdout


def test_a_project_that_drops_torchscript_is_not_asked_whether_it_does(tmp_path: Path) -> None:
    dropped = PROJECT["pyproject.toml"] + '[tool.torchlift.torchscript]\nsupport = "drop"\n'
    report = planned(put(tmp_path, {**PROJECT, "pyproject.toml": dropped}))
    assert report["stated"]["support"] == "drop" and report["gone"] is not None
    assert all(question["about"] != "support" for question in report["questions"])


def test_a_project_without_torchscript_has_nothing_to_plan(tmp_path: Path) -> None:
    done = told(put(tmp_path, {"a.py": "import torch\n"}), "plan")
    assert done.returncode == 0 and "nothing to plan" in done.stdout and len(done.stdout.splitlines()) == 1


def test_three_hundred_findings_fit_two_screens(tmp_path: Path) -> None:
    files = {"net/__init__.py": "", "net/a.py": "import torch\n\nmain = torch.jit.load(open('x'))\n"}
    for number in range(30):
        body = "".join(
            f"\n\n\n@torch.jit.script\ndef f{item}(x, y=eval('1')):\n    return torch.jit.annotate(int, x)"
            for item in range(5)
        )
        files[f"net/folder{number}/part{number}.py"] = f"import torch{body}\n"
        files[f"tests/folder{number}/test_part{number}.py"] = (
            "import torch\n\n\ndef test_it(net):\n    torch.jit.trace(net, eval('x')).save(eval('x'))\n"
        )
    done = told(put(tmp_path, files), "plan")
    report = planned(tmp_path)
    assert report["roots"] + report["hints"] >= 300
    assert len(done.stdout.splitlines()) <= 100
    assert max(map(len, done.stdout.splitlines())) <= 100
    whole = told(tmp_path, "plan", "--verbose").stdout
    assert "`--verbose` shows" in done.stdout and "--verbose" not in whole and len(whole) > len(done.stdout)


def test_asking_without_a_terminal_is_refused_in_a_sentence(tmp_path: Path) -> None:
    done = told(put(tmp_path, PROJECT), "plan", "--ask")
    assert done.returncode == 2 and "--ask needs a terminal" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are a Unix matter")
def test_answers_are_asked_for_and_written_with_every_comment_kept(tmp_path: Path) -> None:
    import pty

    put(tmp_path, PROJECT)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "torchlift", "plan", "--ask", "--color", "never"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs):
        os.close(theirs)
        os.write(ours, b"drop\nmaybe\n" + b"skip\n" * 5)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
    os.close(ours)
    assert b"Traceback" not in shown
    assert b"Written to pyproject.toml" in shown, shown.decode()
    assert (tmp_path / "pyproject.toml").read_text() == (
        PROJECT["pyproject.toml"] + '\n[tool.torchlift.torchscript]\nsupport = "drop"\n'
    )
    assert load_config(tmp_path).torchscript == TorchScriptIntent("drop")


TABLE = "tool.torchlift.torchscript"
HEAD = '[tool.other] # [tool.torchlift.torchscript]\na = """\n[x]\n"""\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f'[{TABLE}]\nsupport = "drop"\n'),
        ("a = 1", f'a = 1\n\n[{TABLE}]\nsupport = "drop"\n'),
        (HEAD, f'{HEAD}\n[{TABLE}]\nsupport = "drop"\n'),
        (
            f'[{TABLE}] # ours\n# why\nspeed = "eager"\n\n# next\n[b]\n',
            f'[{TABLE}] # ours\n# why\nspeed = "eager"\nsupport = "drop"\n\n# next\n[b]\n',
        ),
        (f"[{TABLE}]\nsupport = 'keep'  # for now\n", f'[{TABLE}]\nsupport = "drop"  # for now\n'),
        (
            "[ tool . torchlift.torchscript ]\r\n[b]\r\n",
            '[ tool . torchlift.torchscript ]\r\nsupport = "drop"\r\n[b]\r\n',
        ),
    ],
)
def test_an_answer_changes_one_line_and_nothing_else(before: str, after: str) -> None:
    assert with_answers(before, TABLE, {"support": "drop"}) == after


@pytest.mark.parametrize(
    "text",
    [
        '[tool.torchlift]\ntorchscript = { support = "keep" }\n',
        '[tool.torchlift]\ntorchscript.support = "keep"\n',
        f'[{TABLE}]\nkeep = [\n  "a.pt",  # theirs\n]\n',
        "a = \n",
    ],
)
def test_a_file_that_cannot_be_edited_by_lines_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(CannotWrite) as refusal:
        with_answers(text, TABLE, {"support": "drop", "keep": ["b.pt"]})
    assert str(refusal.value).endswith((".", "yourself."))


def test_without_a_pyproject_the_answers_get_a_file_that_changes_no_build(tmp_path: Path) -> None:
    from torchlift.migrate.plan.answers_file import write_answers
    from torchlift.migrate.plan.ask import answers_path

    put(tmp_path, {"setup.py": "", "a.py": ""})
    path = answers_path([tmp_path], Config())
    write_answers(path, {"support": "drop", "keep": ["a*.pt"]})
    assert path.name == "torchlift.toml"
    assert load_config(tmp_path).torchscript == TorchScriptIntent("drop", keep=("a*.pt",))


def test_a_file_that_cannot_be_read_is_told_and_not_passed_over(tmp_path: Path) -> None:
    put(tmp_path, {"broken.py": "import torch\ntorch.jit.script(\n"})
    done = told(tmp_path, "plan", ".")
    assert done.returncode == 2
    assert "none was found, but not everything could be read" in done.stdout
    assert "broken.py: Not analysed: " in done.stdout


def test_keeping_ends_the_questions_and_a_file_that_cannot_be_edited_is_told_as_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from torchlift.migrate.plan.ask import ask_and_write
    from torchlift.migrate.plan.report import PlannedAnswer, Question

    put(tmp_path, {"pyproject.toml": '[tool.torchlift]\ntorchscript = { support = "drop" }\n'})
    support, speed = (
        Question(about, f"What of {about}?", 1, None, (PlannedAnswer(answer, (), "Nothing.", None),))
        for about, answer in (("support", "keep"), ("speed", "eager"))
    )
    asked: list[str] = []
    monkeypatch.setattr("click.prompt", lambda *_, type, **_more: asked.append(type.choices[0]) or type.choices[0])
    with pytest.raises(SystemExit) as end:
        ask_and_write(SimpleNamespace(questions=(support, speed)), [tmp_path], Config())  # type: ignore[arg-type]
    out, err = capsys.readouterr()
    assert end.value.code == 2 and asked == ["keep"]
    assert "was left as it is. " in err and "Written" not in out + err


def test_a_name_of_an_artifact_gives_no_orders_to_the_terminal_that_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from torchlift.migrate.plan.ask import ask_and_write
    from torchlift.migrate.plan.report import PlannedAnswer, Question

    name = "a\x1b[31m\x07\nb\u202e\udcff.pt"
    question = Question("artifact", f"Does {name} stay?", 1, name, (PlannedAnswer("keep", (), f"{name} stays.", None),))
    monkeypatch.setattr("click.prompt", lambda *_, **_more: "skip")
    ask_and_write(SimpleNamespace(questions=(question,)), [tmp_path], Config())  # type: ignore[arg-type]
    out = capsys.readouterr().out
    assert not {"\x1b", "\x07", "\u202e", "\udcff"} & set(out) and len(out.strip().splitlines()) == 3


def test_names_are_written_as_toml_has_them_or_refused_in_a_sentence(tmp_path: Path) -> None:
    from torchlift.migrate.plan.answers_file import write_answers

    names = ["a\x7f.pt", 'b"]\n[tool.x]\ny = 1', "c\\u0041\x1b.pt"]
    path = tmp_path / "pyproject.toml"
    path.write_text("# ours\n")
    write_answers(path, {"keep": names})
    assert load_config(tmp_path).torchscript.keep == tuple(names)
    path.write_text("# ours\n")
    with pytest.raises(CannotWrite, match=r"No TOML file holds '\\udcff'"):
        write_answers(path, {"keep": ["a\udcff.pt"]})
    assert path.read_text() == "# ours\n"


def test_asking_without_the_configuration_that_answers_go_into_is_refused(tmp_path: Path) -> None:
    done = told(put(tmp_path, PROJECT), "plan", "--ask", "--isolated")
    assert done.returncode == 2 and "--isolated leaves out" in done.stderr
