"""How often files are parsed: once where all views are kept, and never more often because more of the project asks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from example_project import analyse_files

from torchlift.migrate.find.selection import RULES, Selection
from torchlift.migrate.result import Mode
from torchlift.project import Project
from torchlift.search.translations import Translations
from torchlift.view import ModuleView

_LEGACY = Path(__file__).parents[2] / "fixtures" / "legacy_project"
_MENTIONS = "import base\n\n\ndef made(base):\n    return base.Exportable\n\n\ndef other():\n    return base.torch\n"


def traces(number: int) -> dict[str, str]:
    """A project in which several places trace what may inherit from one class, and other files only look like it."""
    methods = "".join(
        f"\n    def export_{n}(self):\n        return torch.jit.trace(self, (torch.ones({n}),))\n"
        for n in range(number)
    )
    base = f"import torch\n\n\nclass Exportable(torch.nn.Module):{methods}"
    child = "from base import Exportable\n\n\nclass Child(Exportable):\n    def forward(self, x):\n        return x\n"
    hint = "import torch\n\n\n@torch.jit.unused\ndef plain(x):\n    return x\n"
    return {"base.py": base, "child.py": child, "hint.py": hint, **{f"mention_{n}.py": _MENTIONS for n in range(5)}}


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each file is parsed."""
    counted: Counter[str] = Counter()
    made = ModuleView.__init__

    def noted(view: ModuleView, path: str, *arguments: object) -> None:
        counted[path] += 1
        made(view, path, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ModuleView, "__init__", noted)
    return counted


@pytest.mark.parametrize(
    "files",
    [
        traces(3),
        {f"{name}.py": traces(1)["base.py"] for name in "abc"},
        {path.relative_to(_LEGACY).as_posix(): path.read_text() for path in sorted(_LEGACY.rglob("*.py"))},
    ],
    ids=["traces", "alone", "legacy"],
)
def test_a_file_of_a_small_project_is_parsed_once(files: dict[str, str], parses: Counter[str], tmp_path: Path) -> None:
    analyse_files(tmp_path, files, mode=Mode.CHECK)
    assert parses and set(parses.values()) == {1}


def test_where_a_compiler_is_handed_on_what_is_compiled_elsewhere_is_not_parsed(
    parses: Counter[str], tmp_path: Path
) -> None:
    hint = "import torch\n\n\n@torch.jit.unused\ndef plain(x):\n    return x\n"
    layers = {f"layers_{n}.py": f"class Layer{n}:\n    def forward(self, x):\n        return x\n" for n in range(5)}
    named = "".join(f"from layers_{n} import Layer{n}\n" for n in range(5))
    made = "import torch\n" + named + f"\ntorch.jit.script([{', '.join(f'Layer{n}()' for n in range(5))}])\n"
    handing = "import torch\n\nprint(torch.jit.script)\n"
    result = analyse_files(
        tmp_path, {"hint.py": hint, "made.py": made, "handing.py": handing, **layers}, mode=Mode.CHECK
    )
    helps = [one.help for outcome in result.outcomes for one in outcome.left if outcome.path == "hint.py"]
    assert helps and all("handing.py:3 hands a compiler on" in (text or "") for text in helps)
    assert dict(parses) == {"hint.py": 1, "made.py": 1, "handing.py": 1}


def test_no_sieve_drops_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {path.relative_to(_LEGACY).as_posix(): path.read_text() for path in sorted(_LEGACY.rglob("*.py"))}
    files |= {
        **traces(3),
        "alias.py": "from torch import jit as j\n\nf = j\nf.script(print)\n",
        "none.py": "x = 'jit'\n",
    }
    sieved = analyse_files(tmp_path / "sieved", files, mode=Mode.CHECK)
    chosen = Selection.wanted_by
    monkeypatch.setattr(Selection, "wanted_by", lambda self, path: chosen(self, path) | {RULES})
    monkeypatch.setattr(Translations, "_may_export", lambda self, path, name: True)
    monkeypatch.setattr(Translations, "_defines", lambda self, path, name: False)
    complete = analyse_files(tmp_path / "complete", files, mode=Mode.CHECK)
    assert [one.left for one in sieved.outcomes] == [one.left for one in complete.outcomes]
    assert sieved.files_analysed < complete.files_analysed == len(files)


def test_who_uses_a_name_is_found_again_without_parsing_others(
    parses: Counter[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torchlift.search.view_cache._MOST_TEXT", 1)
    monkeypatch.setattr("torchlift.search.view_cache._MOST_AWAITED", 1)
    files = traces(2)
    for path, text in files.items():
        (tmp_path / path).write_text(text)
    project = Project(tmp_path, sorted(files))
    base = project.view("base.py")
    assert base is not None
    answers = []
    for _ in range(3):
        with project.listening() as asked:
            found = project.uses_elsewhere(base, "Exportable")
        places = [(view.path, use.kind, use.node.lineno) for view, use in found or ()]
        answers.append((places, asked.files, asked.texts, asked.places))
    assert answers[0] == answers[1] == answers[2]
    assert {path for path, _, _ in answers[0][0]} == {"child.py"}
    assert parses["mention_0.py"] == 1
