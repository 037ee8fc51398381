"""Searching the words of files finds what searching the files themselves finds."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from torchlift.project import Collector, Project
from torchlift.search.project_files import ProjectFiles
from torchlift.search.vocabulary import Needle, Vocabularies, vocabulary, words_in
from torchlift.source import SourceText
from torchlift.view import ModuleView

PARTS = ["jit", "_jit", "jit2", "torch", ".", " ", '"', "::", "\n", "\t", "é", "import *", ".pt", "x", "=", "16"]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=14).map("".join)


def searched(needle: Needle, texts: list[str]) -> list[int]:
    known = Vocabularies((str(at), vocabulary(words_in(text.encode()))) for at, text in enumerate(texts))
    held = [int(path) for path in known.holding(needle)]
    assert held == [at for at in range(len(texts)) if known.may_hold(str(at), needle)]
    return held


@given(st.lists(TEXTS, max_size=5), TEXTS.filter(bool), st.booleans())
@example(["jit", "", "x"], "=", False)
@example([], ".", False)
@example(["a.pt"], '".pt"', False)
def test_files_that_hold_a_text_are_among_those_with_its_words(texts: list[str], text: str, whole: bool) -> None:
    needle = Needle(text.encode(), whole=whole)
    ends_as_word = text[-1].isascii() and re.match(r"\w", text[-1]) is not None
    before = r"(?<![A-Za-z_0-9])" if whole else ""
    behind = r"(?![A-Za-z_0-9])" if whole and ends_as_word else ""
    expected = [at for at, held in enumerate(texts) if re.search(before + re.escape(text) + behind, held, re.ASCII)]
    found = searched(needle, texts)
    assert [at for at in found if needle.is_in(texts[at].encode())] == expected
    if needle.is_word:
        assert found == expected


@pytest.mark.parametrize("text", ["jit", "my_jit2", "_"])
def test_words_alone_tell_where_a_part_of_a_word_stands(text: str) -> None:
    assert Needle(text.encode()).is_word and Needle(text.encode(), whole=True).is_word


@pytest.mark.parametrize("text", ["a.b", " a", "a ", ".", "é", '"a"'])
def test_words_alone_do_not_tell_where_another_text_stands(text: str) -> None:
    assert not Needle(text.encode()).is_word


def written(folder: Path, texts: dict[str, str]) -> tuple[str, ...]:
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return tuple(sorted(path for path in texts if path.endswith(".py")))


TREE = {
    "a.py": "import torch\ntorch.jit.load('net.pt')\n",
    "b/c.py": "from a import *\nprejit = 1\n",
    "b/d.py": "jitter = 'net.pth'\n",
    "e.py": "",
    "build.sh": "cp net.pt /srv\n",
}


@pytest.mark.parametrize("known", [[], ["a.py"], ["a.py", "b/c.py", "b/d.py", "e.py"]])
@pytest.mark.parametrize("changed", [{}, {"a.py": "x = 1\n"}, {"e.py": "jit = '.pt'\n"}])
def test_every_search_finds_the_same_whatever_is_known_of_words(
    tmp_path: Path, known: list[str], changed: dict[str, str]
) -> None:
    files = written(tmp_path, TREE)
    start = ProjectFiles(tmp_path, files, {})
    for path in known:
        start.remember(path, vocabulary(words_in(start.data(path))))
    after = ProjectFiles(tmp_path, files, {path: SourceText(text) for path, text in changed.items()}, start)
    texts = {path: changed.get(path, text) for path, text in TREE.items()}
    for word in ("jit", "net", "import *", "'", "torch.jit", "nowhere"):
        assert after.holding([word]) == [path for path in files if word in texts[path]]
    assert after.holding(["prejit", "jitter"]) == [path for path in files if re.search("prejit|jitter", texts[path])]
    assert after.naming("jit") == [path for path in files if re.search(r"\bjit\b", texts[path])]
    lines = [(path, number, line) for path, text in texts.items() for number, line in enumerate(text.splitlines(), 1)]
    for word, places in after.places((".pt", "jit", "net.pt'")).items():
        assert sorted(places) == sorted(f"{path}:{number}" for path, number, line in lines if word in line)
    for path in files:
        for word in ("jit", "net.pt", "*"):
            assert after.holds(path, Needle(word.encode())) == (word in texts[path])


def test_words_beyond_the_room_for_them_are_read_from_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torchlift.search.project_files._KEPT_WORDS", 8)
    files = written(tmp_path, {"a.py": "jit", "b.py": "jit", "c.py": "x"})
    project = ProjectFiles(tmp_path, files, {})
    for path in files:
        project.remember(path, vocabulary(words_in(project.data(path))))
    assert project.holding(["jit"]) == ["a.py", "b.py"] and project.holding(["x"]) == ["c.py"]


def test_another_process_gets_the_words_and_not_the_files(tmp_path: Path) -> None:
    files = written(tmp_path, {"a.py": "jit\n" * 10_000})
    project = ProjectFiles(tmp_path, files, {})
    project.remember("a.py", vocabulary(words_in(project.data("a.py"))))
    sent = pickle.dumps(project)
    assert len(sent) < 2000 and pickle.loads(sent).naming("jit") == ["a.py"]


def uses(folder: Path, texts: dict[str, str], name: str = "net") -> list[str] | None:
    files = written(folder, texts)
    project = Project(folder, files)
    view = project.view("pkg/nets.py")
    assert view is not None
    found = project.uses_elsewhere(view, name)
    return None if found is None else sorted(f"{other.path} {use.kind}" for other, use in found)


PACKAGE = {"pkg/__init__.py": "", "pkg/nets.py": "def net():\n    return 1\n"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from pkg.nets import net\nnet()\n", ["user.py call", "user.py import"]),
        ("from pkg import nets\nnets.net()\n", ["user.py call"]),
        (
            "from pkg.nets import net as other\nmade = other\nmade()\n",
            ["user.py call", "user.py import", "user.py reference"],
        ),
        ("import pkg.nets as n\nn \\\n  .net()\n", ["user.py call"]),
        ("import pkg\nmade = [pkg.nets.net]\n", ["user.py reference"]),
        ("from pkg.nets import *\nnet()\n", None),
        ("from other.nets import net\nnet()\n", []),
        ("import nets\nself.net = nets\n", []),
        ("from elsewhere import *\nnets = net\n", []),
    ],
)
def test_uses_of_a_function_in_other_files_are_found(tmp_path: Path, text: str, expected: list[str] | None) -> None:
    assert uses(tmp_path, {**PACKAGE, "user.py": text}) == expected


def test_a_function_that_passes_through_another_module_is_found(tmp_path: Path) -> None:
    passing = {"pkg/api.py": "from pkg.nets import net\n", "user.py": "from pkg.api import net\nnet()\n"}
    assert uses(tmp_path, {**PACKAGE, **passing}) == ["pkg/api.py import", "user.py call", "user.py import"]
    round_trip = {"pkg/nets.py": PACKAGE["pkg/nets.py"] + "from pkg.api import net\n", **passing}
    assert uses(tmp_path, {**PACKAGE, **round_trip}) == ["pkg/api.py import", "user.py call", "user.py import"]
    starring = {"user.py": "from pkg.api import *\nnet()\n"}
    assert uses(tmp_path, {**PACKAGE, **passing, **starring}) is None
    inside = {"pkg/api.py": "def made():\n    from pkg.nets import net\n    return net()\n"}
    assert uses(tmp_path, {**PACKAGE, **passing, **inside}) == ["pkg/api.py call", "pkg/api.py import"]


def test_a_file_that_names_module_and_function_without_using_it_is_not_parsed(tmp_path: Path) -> None:
    files = written(tmp_path, {**PACKAGE, "user.py": "import torch\nnets = [1]\nnet = torch.nn.GRU\nnet(nets)\n"})
    project = Project(tmp_path, files)
    view = project.view("pkg/nets.py")
    assert view is not None and project.uses_elsewhere(view, "net") == []
    assert project._views.get("user.py") is None


def test_a_file_that_is_parsed_for_one_record_is_read_for_all_that_are_wanted(tmp_path: Path) -> None:
    project = Project(tmp_path, written(tmp_path, {"a.py": "import torch\n", "b.py": "import os\n"}))
    parsed: list[str] = []

    def collect(view: ModuleView) -> str:
        parsed.append(view.path)
        return view.path

    def crashes(view: ModuleView) -> str:
        raise ValueError("no record")

    first, second = (Collector(name, ("torch",), collect) for name in ("first", "second"))
    bad = Collector("bad", ("torch",), crashes)
    project.collect_together((first, second, bad))
    assert project.records(first) == {"a.py": "a.py"} and parsed == ["a.py", "a.py"]
    assert project.records(second) == {"a.py": "a.py"} and parsed == ["a.py", "a.py"]
    with pytest.raises(ValueError, match="no record"):
        project.records(bad)


EXPORTS = (
    "import torch as x|from torch import jit as y|x = y|from .b import *|from b import(x)|from .a import  \\\n  *"
    "|y: int = 1|z = x.y|def z(): ..."
)


@given(*(st.lists(st.sampled_from(EXPORTS.split("|")), max_size=3).map("\n".join) for _ in "abc"))
@example("from .b import  \\\n  *", "from torch import jit as x", "")
def test_what_a_name_is_bound_to_does_not_depend_on_the_modules_that_are_not_parsed(a: str, b: str, c: str) -> None:
    texts = {f"p/{name}.py": SourceText(f"{text}\n") for name, text in (("a", a), ("b", b), ("c", c), ("__init__", ""))}
    names = [f"p.{module}.{name}" for module in "abc" for name in ("x", "y", "z.w", "none")]
    sieving, parsing = (Project(Path("/nowhere"), sorted(texts), texts) for _ in range(2))
    parsing._translations._may_export = lambda path, name: True  # type: ignore[method-assign]
    for name in names:
        assert sieving.translate(name, "p/c.py") == parsing.translate(name, "p/c.py")
    assert len(sieving._translations.exports) <= len(parsing._translations.exports)


def test_of_modules_with_star_imports_only_those_with_the_name_are_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = {f"pkg/part_{n}.py": f"name_{n} = made()\n" for n in range(9)}
    stars = "".join(f"from .part_{n} import *\n" for n in range(9))
    files = written(tmp_path, {"pkg/__init__.py": stars, **parts, "user.py": ""})
    parsed: list[str] = []
    made = ModuleView.__init__
    monkeypatch.setattr(
        ModuleView, "__init__", lambda view, path, *rest: (parsed.append(path), made(view, path, *rest))[1]
    )
    assert Project(tmp_path, files).translate("pkg.name_4", "user.py") == "pkg.part_4.name_4"
    assert parsed == ["pkg/__init__.py", "pkg/part_4.py"]


@pytest.mark.parametrize(
    ("files", "name", "meaning"),
    [
        # Stubs of torch without those of its modules: the import binds the module's name, too.
        ({"stubs/torch/__init__.pyi": "from .functional import *\n"}, "torch.functional.norm", None),
        ({"p/__init__.py": "from .net import net\n"}, "p.net", "p.net.net"),
        ({"p/__init__.py": "from .net import net\n", "p/net.py": "import torch\nnet = torch.nn\n"}, "p.net.net", "torch.nn"),
    ],
)  # fmt: skip
def test_a_name_that_is_imported_from_a_module_of_that_name_ends_somewhere(
    files: dict[str, str], name: str, meaning: str | None, tmp_path: Path
) -> None:
    for path, text in {**files, "user.py": "import torch\n"}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert Project(tmp_path, sorted([*files, "user.py"])).translate(name, "user.py") == meaning


def test_modules_that_import_a_name_from_each_other_end_somewhere(tmp_path: Path) -> None:
    for one, other in ("ab", "ba"):
        (tmp_path / f"{one}.py").write_text(f"from {other}.x import x\n")
    found = Project(tmp_path, ["a.py", "b.py", "user.py"]).translate("a.x", "user.py")
    assert found is None or found.startswith(("a.", "b."))
