"""What is known of a project while it is being edited is what a run over the edited files finds."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from exhaustive import tried
from own_rule_files import write_rule
from random_edits import EXAMPLES, described, edited

from torchlift.finding import Safety
from torchlift.migrate import Mode, load_config, migrate
from torchlift.migrate.workspace.config import Config
from torchlift.rules.rule import Bad
from torchlift.server.open_project import OpenProject, Report

ACROSS_FILES = [example for example in EXAMPLES if example.files]
REQUIRES = '[project]\nname = "p"\ndependencies = ["torch>=2.13"]\n'


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, newline="")


def some_files(source: random.Random) -> dict[str, str]:
    files: dict[str, str] = {}
    for number in range(4):
        example = source.choice(ACROSS_FILES if source.random() < 0.6 else EXAMPLES)
        name = example.path if example.files or example.path != "example.py" else f"m{number}.py"
        files.setdefault(name, example.before if isinstance(example, Bad) else example.code)
        for other, text in example.files:
            files.setdefault(other, text)
    return {name: text for name, text in files.items() if not name.endswith((".ipynb", "toml", "cfg", "txt"))}


@pytest.mark.parametrize("seed", range(tried(4, 50)))
def test_after_any_edits_the_findings_are_those_of_a_fresh_run(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    root = tmp_path.resolve()
    files = {"pyproject.toml": REQUIRES, "Dockerfile": "FROM python\n", **some_files(source)}
    for name, text in files.items():
        write(root, name, text)
    config = load_config(root)
    project = OpenProject(root, config)
    # What decides about the whole project counts once it is saved, and then all is read anew.
    names = [name for name in files if project.holds(name) and not project.decides(name)]
    texts = {name: files[name] for name in source.sample(names, min(3, len(names)))}
    for _ in range(tried(5, 20)):
        for name in source.sample(sorted(texts), source.randint(1, len(texts))):
            texts[name] = edited(source, texts[name])
        report = project.report(texts)
        assert report is not None and not report.failures
        for name, text in texts.items():
            write(root, name, text)
        result = migrate([root], config, mode=Mode.CHECK)
        fresh = {outcome.path: outcome.left for outcome in result.outcomes}
        for name in texts:
            assert [*map(described, report.findings[name])] == [*map(described, fresh.get(name, ()))], name
        if source.random() < 0.3:
            # What was closed holds what was written.
            del texts[source.choice(sorted(texts))]
            texts = texts or {names[0]: (root / names[0]).read_bytes().decode()}


def test_places_in_notebooks_are_told_as_a_run_tells_them(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    text = "import torch\n\n\n@torch.jit.script\ndef f(x):\n    if x.sum() > 0:\n        return x\n    return -x\n"
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
             for source in ("import torch.fx", "x = 1\ntorch.fx.symbolic_trace(net)")]  # fmt: skip
    write(root, "pyproject.toml", REQUIRES)
    write(root, "n.ipynb", json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    write(root, "a.py", text)
    project = OpenProject(root, load_config(root))
    report = project.report({"a.py": text})
    outcomes = {outcome.path: outcome for outcome in migrate([root], load_config(root), mode=Mode.CHECK).outcomes}
    assert report is not None
    assert [*map(described, report.findings["a.py"])] == [*map(described, outcomes["a.py"].left)]
    [finding] = report.findings["a.py"]
    assert finding.help is not None and "n.ipynb:cell 2:2 may trace" in finding.help
    assert "@torch.jit.script" not in project.fixed("a.py", finding)["a.py"][1].text


def test_a_fix_and_all_fixes_are_what_the_command_writes(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    text = "import torch\nfrom torch import ger\nx = ger(1, 2)\ny = torch.ger(3, 4)\n"
    write(root, "pyproject.toml", REQUIRES)
    write(root, "a.py", "")
    project = OpenProject(root, load_config(root))
    report = project.report({"a.py": text})
    assert report is not None
    last = report.findings["a.py"][-1]
    _, after = project.fixed("a.py", last)["a.py"]
    assert after.text == text.replace("torch.ger(3", "torch.outer(3")
    whole = project.all_fixed("a.py", frozenset({Safety.SAFE}))
    write(root, "a.py", text)
    (outcome,) = migrate([root], load_config(root), mode=Mode.DIFF).outcomes
    assert whole is not None and whole[1].text == outcome.new_text != text


def test_nothing_more_is_looked_at_once_nobody_wants_to_know(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "import torch\nx = torch.ger(1, 2)\n")
    project = OpenProject(tmp_path.resolve(), load_config(tmp_path))
    assert project.report({"a.py": "import torch\nx = torch.ger(3, 4)\n"}, lambda: True) is None
    report = project.report({"a.py": "import torch\nx = torch.ger(3, 4)\n"})
    assert report is not None and [one.code for one in report.findings["a.py"]] == ["TL401"]


def test_what_is_known_is_told_before_rules_are_asked_that_take_their_time(tmp_path: Path) -> None:
    text = "import torch\n\n\ndef f(x):\n    return torch.ger(x, x)\n\n\nscripted = torch.jit.script(f)\n"
    (tmp_path / "a.py").write_text(text)
    project = OpenProject(tmp_path, Config())
    soon: list[Report] = []

    def codes(report: Report | None) -> list[str]:
        assert report is not None
        return [one.code for one in report.findings["a.py"]]

    assert codes(project.report({"a.py": text}, soon=soon.append)) == ["TL401", "TL102"] and not soon
    project._quick_first._dearest["TL102"] = 1.0
    told = project.report({"a.py": f"\n{text}"}, soon=soon.append)
    assert codes(told) == codes(soon[0]) == ["TL401", "TL102"]
    assert told is not None and told.findings["a.py"][1].span == soon[0].findings["a.py"][1].span
    again = project.report({"a.py": f"\n{text}print(torch.ger)\n"}, soon=soon.append)
    assert codes(soon[1]) == codes(again) == ["TL401", "TL102", "TL401"]
    assert codes(project.report({"a.py": text.replace("scripted =", "#")}, soon=soon.append)) == ["TL401"]
    assert project.report({"a.py": text}, stop=lambda: True) is None
    assert codes(project.report({"a.py": text}, soon=soon.append)) == ["TL401", "TL102"]
    assert codes(soon[2]) == ["TL401"]  # what the dear rule will say is not guessed


def test_a_configuration_that_names_own_rules_which_nobody_allowed_keeps_torchlifts(tmp_path: Path) -> None:
    write_rule(tmp_path / "tools")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.torchlift]\nextend-rules = ["tools"]\nignore = ["X100", "TL402"]\n'
        '[tool.torchlift.per-file-ignores]\n"a.py" = ["old-call"]\n'
    )
    text = "import torch\n\nx = torch.ger(1, 2)\n"
    (tmp_path / "a.py").write_text(text)
    root = tmp_path.resolve()
    report = OpenProject(root, load_config(root)).report({"a.py": text})
    assert report is not None and [finding.code for finding in report.findings["a.py"]] == ["TL401"]
