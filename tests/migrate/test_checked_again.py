"""After a fix only those files are checked again whose findings may be others, and nothing is missed by that."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from example_project import analyse_files

from torchlift.finding import Finding
from torchlift.migrate import examine
from torchlift.migrate.examine import Examiner, State
from torchlift.migrate.find.selection import select_files, select_texts
from torchlift.migrate.options import RunOptions
from torchlift.migrate.result import Mode
from torchlift.project import Deferred, Project
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Bad, Settings
from torchlift.source import SourceText
from torchlift.versions import TorchVersion
from torchlift.view.text import text_kind

EXAMPLES = [example for rule in all_rules().values() for example in rule.examples]
ACROSS_FILES = [example for example in EXAMPLES if example.files]


def put(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_two_fixes_make_two_files_be_checked_again_and_not_the_reader_of_a_name_that_means_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[list[str]] = []
    real = examine.check_files

    def counted(project: Project, paths: list[str], *rest: object) -> object:
        checked.append(list(paths))
        return real(project, paths, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(examine, "check_files", counted)
    alone = {f"alone{number}.py": "import torch\nu = torch.symeig(s)\n" for number in range(8)}
    files = {
        "a.py": "import torch\nx = torch.ger(1, 2)\n",
        "compat.py": "import torch\nfrom torch import symeig\ny = torch.ger(3, 4)\n",
        "reader.py": "import torch\nfrom compat import symeig\nz = symeig(1)\n",
        **alone,
    }
    result = analyse_files(tmp_path, files)
    assert [o.path for o in result.outcomes if o.new_text is not None] == ["a.py", "compat.py"]
    first, second = checked
    assert set(second) == {"a.py", "compat.py"} and set(second) < set(first) and len(first) == 11


class Both:
    """One project, looked at in state after state: as a run does, and from the beginning each time."""

    def __init__(self, root: Path, files: Mapping[str, str]) -> None:
        put(root, files)
        python = tuple(sorted(name for name in files if name.endswith((".py", ".pyi"))))
        texts = tuple(sorted(name for name in files if text_kind(name) is not None))
        rules = list(all_rules().values())
        settings = Settings(min_torch=TorchVersion(2, 13))
        options = RunOptions(root, python, Mode.DIFF, frozenset(all_rules()), settings=settings, texts=texts, jobs=1)
        project = Project(root, python)
        selected = select_files(project, python, rules, settings)
        self.files = files
        self.examiner = Examiner(options, rules, [*selected, *select_texts(project, texts, rules, settings, ())])
        self.known = {file.path: dict.fromkeys(file.collectors, Deferred.DEFERRED) for file in selected}
        self.project = project.with_records(python, self.known)
        self.texts: dict[str, SourceText] = {}
        self.state = self.examiner.first(self.project)

    def edit(self, name: str, text: str) -> None:
        self.texts[name] = SourceText(text)

    def text(self, name: str) -> str:
        return self.texts[name].text if name in self.texts else self.files[name]

    def compare(self) -> int:
        """How many files were not checked again; what is known of all of them is what a fresh look finds."""
        before = self.state
        self.state = self.examiner.next(before, before.project.with_texts(self.texts))
        known = {path: records for path, records in self.known.items() if path not in self.texts}
        fresh = self.examiner.first(Project(self.project.root, self.project.files, self.texts, known))
        assert found(self.state) == found(fresh)
        return sum(before.files.get(name) is file for name, file in self.state.files.items())


def found(state: State) -> dict[str, tuple[tuple[Finding, ...], int, str | None]]:
    assert not state.failures
    return {name: (file.findings, file.suppressed, file.unreadable) for name, file in state.files.items()}


def some_files(source: random.Random) -> dict[str, str]:
    """Examples of a few rules as one project."""
    files: dict[str, str] = {}
    for number in range(source.randint(2, 6)):
        example = source.choice(ACROSS_FILES if source.random() < 0.5 else EXAMPLES)
        name = example.path if example.files or example.path != "example.py" else f"m{number}.py"
        files.setdefault(name, example.before if isinstance(example, Bad) else example.code)
        for other, text in example.files:
            files.setdefault(other, text)
    return files


def edited(source: random.Random, text: str) -> str:
    example = source.choice(EXAMPLES)
    lines = text.splitlines(keepends=True)
    match source.randrange(4):
        case 0:
            return example.code if not isinstance(example, Bad) else example.after or example.before
        case 1 if lines:
            del lines[source.randrange(len(lines))]
            return "".join(lines)
        case 2:
            return f"import torch\nfrom torch import jit\n{text}"
        case _:
            return f"\n{text}"


@pytest.mark.parametrize("seed", range(40))
def test_what_is_not_checked_again_would_be_found_the_same(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    both = Both(tmp_path, some_files(source))
    for _ in range(3):
        for name in source.sample(sorted(both.files), min(2, len(both.files))):
            both.edit(name, edited(source, both.text(name)))
        both.compare()


@pytest.mark.parametrize("first", ["first", "second", "third"])
def test_a_name_means_the_same_whichever_module_of_a_circle_is_asked_first(first: str, tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "first.py": "from second import *\nfrom torch import ger\n",
            "second.py": "from third import *\nfrom third import inv\n",
            "third.py": "from first import *\nfrom torch import inverse as inv\nfrom second import svd\n",
            "user.py": "",
        },
    )
    modules = ["first", "second", "third"]
    project = Project(tmp_path, ("first.py", "second.py", "third.py", "user.py"))
    names = [f"{module}.{name}" for module in modules for name in ("ger", "inv", "svd", "nothing")]
    with project.listening() as asked:
        project.translate(f"{first}.ger", "user.py")
        meant = {name: project.translate(name, "user.py") for name in names}
    alone = {name: Project(tmp_path, project.files).translate(name, "user.py") for name in names}
    assert meant == alone and alone["second.ger"] == "torch.ger" and alone["first.inv"] == "torch.inverse"
    assert not asked.unbounded and asked.names >= {"first.py", "second.py", "third.py"}


@pytest.mark.parametrize(
    ("asker", "edit"),
    [
        ("from compat import ger\nx = ger(a, b)\n", ("compat.py", "from torch import outer as ger\n")),
        ("import pkg\nx = pkg.ger(a, b)\n", ("pkg/inner.py", "from torch import outer as ger\n")),
        ("import torch\nnet = torch.jit.load('net.pt')\n", ("writer.py", "import torch\n")),
        (
            "import torch\n\n\n@torch.jit.script_if_tracing\ndef f(x):\n    return x\n",
            ("tracer.py", "import torch\n"),
        ),
        (
            "import torch\n\n\ndef h(x):\n    assert not torch.jit.is_scripting()\n    return x\n",
            ("between.py", "def g(x):\n    return x\n"),
        ),
    ],
    ids=["a name of another file", "a name through two files", "a record", "a word anywhere", "what is compiled"],
)
def test_a_file_is_checked_again_when_what_it_asked_about_changes(
    asker: str, edit: tuple[str, str], tmp_path: Path
) -> None:
    files = {
        "asker.py": asker,
        "compat.py": "from torch import ger\n",
        "pkg/__init__.py": "from pkg.inner import ger\n",
        "pkg/inner.py": "from torch import ger\n",
        "writer.py": "import torch\n\n\ndef write(net, x):\n    torch.jit.trace(net, x).save('net.pt')\n",
        "tracer.py": "import torch\nimport asker\n\nt = torch.jit.trace(lambda x: asker.f(x), torch.ones(2))\n",
        "between.py": "import asker\n\n\ndef g(x):\n    return asker.h(x)\n",
        "scripts.py": "import torch\nimport between\n\ntorch.jit.script(between.g)\n",
        "other.py": "import torch\nx = torch.ger(1, 2)\n",
    }
    both = Both(tmp_path, files)
    before = both.state.files["asker.py"].findings
    both.edit(*edit)
    assert both.compare() > 0
    assert both.state.files["asker.py"].findings != before
