"""Which questions may have other answers after files of a project have changed."""

from __future__ import annotations

from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from torchlift.project import Project
from torchlift.rules.analysis.project.foreign_packages import foreign_packages
from torchlift.rules.analysis.project.same_program import in_one_program
from torchlift.search.asked import Asked
from torchlift.search.changes import Changes
from torchlift.search.vocabulary import Needle
from torchlift.source import SourceText

TEXTS = st.text("ab. ", max_size=12)


@given(
    front=TEXTS, before=TEXTS, after=TEXTS, end=TEXTS, word=st.text("ab", min_size=1, max_size=4), whole=st.booleans()
)
@example("x = a", "", "b", "", "ab", True)
@example("", "a ", "", "a", "a", True)
@example("ab", "", "ab", "ab", "ab", False)
def test_a_text_is_told_to_have_come_or_gone_just_when_it_did(
    front: str, before: str, after: str, end: str, word: str, whole: bool
) -> None:
    old, new = front + before + end, front + after + end
    first = Project(Path("nowhere"), ("a.py",), {"a.py": SourceText(old)})
    asked = Asked()
    asked.texts.add((word.encode(), whole))
    needle = Needle(word.encode(), whole=whole)
    differs = needle.is_in(old.encode()) != needle.is_in(new.encode())
    assert Changes(first, first.with_texts({"a.py": SourceText(new)}), {}).concern(asked) is differs


def test_what_is_noted_of_texts_is_asked_again_of_changed_files_only(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.py").write_text("1")
    read: list[str] = []

    def size(path: str, data: bytes) -> int:
        read.append(path)
        return len(data)

    project = Project(tmp_path, ("a.py", "b.py", "c.py", "gone.py"))
    assert project.noted(size) == {"a.py": 1, "b.py": 1, "c.py": 1}
    # Nobody asks in the state between.
    later = project.with_texts({"b.py": SourceText("12")}).with_texts({"c.py": SourceText("123")})
    read.clear()
    assert later.noted(size) == {"a.py": 1, "b.py": 2, "c.py": 3} and sorted(read) == ["b.py", "c.py"]


def test_what_one_program_loads_follows_the_imports_of_edited_files(tmp_path: Path) -> None:
    files = {"a.py": "import b\n", "b.py": "", "c.py": "import numpy\n", "d.py": ""}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    project = Project(tmp_path, tuple(files))
    assert in_one_program(project, "a.py", "b.py") and not in_one_program(project, "a.py", "c.py")
    assert foreign_packages(project) == ()
    project = project.with_texts({"d.py": SourceText("import a\nfrom c import x\nimport nequip.nn\n")})
    assert in_one_program(project, "a.py", "c.py") and foreign_packages(project) == ("nequip",)
    project = project.with_texts({"d.py": SourceText("import a\n")})
    assert not in_one_program(project, "a.py", "c.py") and foreign_packages(project) == ()
    project = project.with_texts({"d.py": SourceText("locate(name)\n")})
    assert in_one_program(project, "a.py", "c.py")


def test_computed_names_mean_what_the_program_around_them_can_import(tmp_path: Path) -> None:
    files = {
        "v1/train.py": "import_module(name)\nfrom src.model import Net\n",
        "v1/src/model.py": "",
        "v1/src/plain.py": "",
        "v2/train.py": "from src.model import Net\n",
        "v2/src/model.py": "",
        "examples/run.py": "",
        "main.py": "",
        "pkg/a.py": "",
        "pkg/pyproject.toml": "[project]\n",
        "pkg/tests/b.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    project = Project(tmp_path, tuple(sorted(name for name in files if name.endswith(".py"))))
    meets = [path for path in project.files if in_one_program(project, "v1/src/plain.py", path)]
    assert meets == ["pkg/a.py", "v1/src/model.py", "v1/src/plain.py", "v1/train.py"]
    assert in_one_program(project, "v2/src/model.py", "v2/train.py")
    texts = {"main.py": "import_module(name)\n", "v2/train.py": "import sys\nsys.path.append(x)\nimport_module(name)\n"}
    for name, text in texts.items():
        other = project.with_texts({name: SourceText(text)})
        assert in_one_program(other, name, "v1/src/plain.py") and in_one_program(other, name, "examples/run.py")


def test_whether_a_name_is_imported_is_asked_of_what_a_file_says_now(tmp_path: Path) -> None:
    files = {"a.py": "x = 1\n", "b.py": "import a\n\nx = 1\nprint(a.y)\n", "c.py": "x = 1\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    project = Project(tmp_path, tuple(files))

    def is_imported() -> bool:
        view = project.view("a.py")
        assert view is not None
        return project.may_be_imported(view, view.scopes.module.bindings["x"][0])

    assert not is_imported()
    project = project.with_texts({"b.py": SourceText("from a import x\n")})
    assert is_imported()
    project = project.with_texts({"b.py": SourceText("import a\n\nx = 1\nprint(a.y)\n")})
    assert not is_imported()
