"""What a run remembers is what a run would find, whatever happens to the project or to the cache in between."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner
from exhaustive import tried
from own_rule_files import write_rule

from torchlift.cli import torchlift
from torchlift.file_bytes import MOST_BYTES
from torchlift.migrate import Config, Mode, RunResult, examine, fresh, migrate, project_config, reading
from torchlift.migrate.cache import tree
from torchlift.migrate.cache.folder import CacheFolder
from torchlift.migrate.output_formats import OUTPUT_FORMATS
from torchlift.migrate.tell.report import render
from torchlift.project import Project
from torchlift.rules.registry import all_rules, url_of
from torchlift.rules.rule import Bad
from torchlift.view import ModuleView

EXAMPLES = [example for rule in all_rules().values() for example in rule.examples]
ACROSS_FILES = [example for example in EXAMPLES if example.files]
OLD = "import torch\n\nx = torch.ger(a, b)\n"
FILES = {
    "pkg/__init__.py": "",
    "pkg/write.py": "import torch\n\n\ndef write(net, x):\n    torch.jit.trace(net, x).save('net.pt')\n",
    "pkg/read.py": "import torch\n\nnet = torch.jit.load('net.pt')\n",
    "a.py": OLD,
    "requirements.txt": "torch>=2.6\n",
    "README.md": "We ship `net.pt`.\n",
}


class Runs:
    """Runs over one folder, with a cache and without, and whether the last one came from the cache."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = folder / "project"
        self.cache = CacheFolder(folder / "cache", is_chosen=True)
        self.was_fresh = True
        real = fresh.result

        def noted(*arguments: object) -> RunResult:
            self.was_fresh = True
            return real(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(fresh, "result", noted)
        for name, text in FILES.items():
            self.put(name, text)

    def put(self, name: str, text: str | bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def remembered(self, paths: tuple[str, ...] = ("",), mode: Mode = Mode.CHECK, config: Config | None = None) -> bool:
        """Whether a run took its result from the cache, which is that of a run without one."""
        named = [self.root / path for path in paths]
        config = config or project_config(named)
        want_edits = mode is Mode.CHECK
        expected = migrate(named, config, mode=mode, want_edits=want_edits)
        self.was_fresh = False
        found = migrate(named, config, mode=mode, want_edits=want_edits, cache=self.cache)
        was_fresh = self.was_fresh
        assert found == expected
        for name in OUTPUT_FORMATS:
            assert shown(found, name) == shown(expected, name)
        return not was_fresh

    def entries(self) -> list[Path]:
        return sorted((self.cache.path / "entries").glob("run-*"))


def shown(result: RunResult, output_format: str) -> str:
    names = {rule.code: rule.name for rule in all_rules().values()}
    urls = {rule.code: url for rule in all_rules().values() if (url := url_of(rule)) is not None}
    return render(result, output_format, root=result.root, color=False, verbose=False, names=names, urls=urls)  # type: ignore[arg-type]


def paths_given(monkeypatch: pytest.MonkeyPatch, home: ModuleType, name: str) -> list[list[str]]:
    """The paths that a function of a project is called with, time by time."""
    given: list[list[str]] = []
    real = getattr(home, name)

    def counted(project: Project, paths: list[str], *rest: object) -> object:
        given.append(sorted(paths))
        return real(project, paths, *rest)

    monkeypatch.setattr(home, name, counted)
    return given


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(tmp_path, monkeypatch)


def changed(source: random.Random, runs: Runs, before: dict[str, bytes]) -> str:
    """One change of the project, or none: an edit, a new file, one less, another requirement, what was there before."""
    names = sorted(p.relative_to(runs.root).as_posix() for p in runs.root.rglob("*") if p.is_file())
    python = [name for name in names if name.endswith(".py")]
    name = source.choice(python or ["a.py"])
    text = (runs.root / name).read_bytes().decode() if python else ""
    example = source.choice(ACROSS_FILES if source.random() < 0.5 else EXAMPLES)
    code = example.before if isinstance(example, Bad) else example.code
    kind = source.choice(["edit", "line", "add", "remove", "rename", "bound", "text", "touch", "nothing", "back"])
    match kind:
        case "edit":
            runs.put(name, code)
        case "line":
            lines = text.splitlines(keepends=True) or [""]
            runs.put(
                name, "".join(source.sample(lines, max(0, len(lines) - 1))) if source.random() < 0.3 else "\n" + text
            )
        case "add":
            for path, more in ((example.path, code), *example.files):
                runs.put(path if path != "example.py" else f"m{source.randrange(9)}.py", more)
        case "remove" if len(python) > 1:
            (runs.root / name).unlink()
        case "rename":
            (runs.root / name).rename(runs.root / f"moved{source.randrange(9)}.py")
        case "bound":
            runs.put("requirements.txt", f"torch>=2.{source.randrange(15)}\n")
        case "text":
            runs.put("README.md", f"See `{source.choice(['net.pt', 'model.pt', 'nothing'])}`.\n")
        case "touch":
            (runs.root / name).touch()
        case "back":
            for path in names:
                (runs.root / path).unlink()
            for path, data in before.items():
                runs.put(path, data)
        case _:
            pass
    return kind


@pytest.mark.parametrize("seed", range(3))
def test_after_any_edits_a_run_with_a_cache_finds_what_one_without_finds(seed: int, runs: Runs) -> None:
    source = random.Random(seed)
    before = {name: text.encode() for name, text in FILES.items()}
    seen: set[Mode] = set()
    for _ in range(tried(5, 120)):
        kind = changed(source, runs, before)
        mode = source.choice([Mode.CHECK, Mode.CHECK, Mode.DIFF])
        if kind in {"touch", "nothing"}:
            assert runs.remembered(mode=mode) or mode not in seen
        else:
            runs.remembered(mode=mode)
            seen.clear()
        seen.add(mode)


def test_a_run_over_the_same_project_is_remembered(runs: Runs) -> None:
    assert not runs.remembered()
    assert runs.remembered()
    assert not runs.remembered(mode=Mode.DIFF)
    assert not runs.remembered(("pkg/read.py",))
    assert runs.remembered(("pkg/read.py",)) and runs.remembered(mode=Mode.DIFF) and runs.remembered()


@pytest.mark.parametrize(
    "change",
    [
        lambda runs: runs.put("a.py", OLD.replace("a, b", "b, a")),
        lambda runs: runs.put("README.md", "We ship `xxx.pt`.\n"),
        lambda runs: runs.put("requirements.txt", "torch>=2.5\n"),
        lambda runs: runs.put("new.py", ""),
        lambda runs: (runs.root / "pkg/write.py").unlink(),
        lambda runs: runs.put("pyproject.toml", '[tool.torchlift]\nignore = ["TL401"]\n'),
        lambda runs: runs.put(".gitignore", "a.py\n"),
    ],
    ids=["code", "a text", "a requirement", "a file more", "a file less", "the configuration", "what is ignored"],
)
def test_a_change_of_anything_that_a_run_may_look_at_is_seen(change: Callable[[Runs], None], runs: Runs) -> None:
    runs.remembered()
    change(runs)
    assert not runs.remembered()


def test_a_change_that_no_time_and_no_size_tells_is_seen(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "_COARSE", -(10**18))  # as if everything had been written long ago
    runs.remembered()
    assert runs.remembered()
    path = runs.root / "a.py"
    times = path.stat()
    path.write_text(OLD.replace("ger", "geq"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert not runs.remembered()


@pytest.mark.parametrize(
    ("name", "text", "again"),
    [
        ("a.py", "\n" + OLD, {"a.py"}),
        ("b.py", "x = 1\n", set()),
        ("compat.py", "from torch import outer as ger\n", {"reader.py"}),
        ("compat.py", "\nfrom torch import ger\n", {"compat.py"}),
        ("pkg/write.py", "import torch\n", {"pkg/read.py"}),
        (
            "setup.py",
            "import setuptools\n\nsetuptools.setup()\n",
            {"a.py", "compat.py", "reader.py", "pkg/read.py", "pkg/write.py"},
        ),
    ],
    ids=[
        "a file alone",
        "a file without findings",
        "a name of another file",
        "what leaves it as it was",
        "a record",
        "what packages the project",
    ],
)
def test_after_an_edit_those_files_are_checked_again_whose_questions_it_concerns(
    name: str, text: str, again: set[str], runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs.put("b.py", "")
    runs.put("setup.py", "")
    runs.put("compat.py", "from torch import ger\n")
    runs.put("reader.py", "from compat import ger\n\nx = ger(a, b)\n")
    runs.remembered()
    runs.put(name, text)
    checked = paths_given(monkeypatch, examine, "check_files")
    assert not runs.remembered()
    _, remembered = checked  # the first is that of the run without a cache
    assert set(remembered) == again
    assert not runs.remembered(("pkg/read.py",)) and checked[-1] == []


def test_after_an_edit_that_leaves_a_shared_answer_as_it_was_nobody_is_checked_again_for_it(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
    runs.put("net.py", net)
    runs.put("script.py", "import torch\nfrom net import Net\n\ntorch.jit.script(Net()).save('n.pt')\n")
    runs.put("hint.py", "import torch\n\n\n@torch.jit.unused\ndef f(x):\n    return x\n")
    runs.remembered()
    checked = paths_given(monkeypatch, examine, "check_files")
    for text in ("\n" + net, "\n\n" + net, net + "\n\ndef g():\n    return 1\n"):
        runs.put("net.py", text)
        assert not runs.remembered() and "hint.py" not in checked[-1]
    runs.put("net.py", "from hint import f\n" + net.replace("return x", "return f(x)"))
    assert not runs.remembered() and "hint.py" in checked[-1]


@pytest.mark.parametrize(
    ("name", "text", "again"),
    [
        ("a.py", OLD + "# more\n", ["a.py"]),
        ("pkg/__init__.py", OLD, ["pkg/__init__.py"]),
        ("a.py", "x = 1\n", ["a.py"]),
        ("new.py", OLD, [*sorted(name for name in FILES if name.endswith(".py")), "new.py"]),
        ("requirements.txt", "torch>=2.5\n", sorted(name for name in FILES if name.endswith(".py"))),
    ],
    ids=["a file of two", "one without words before", "one without words now", "a file more", "a text"],
)
def test_after_an_edit_only_files_are_searched_that_may_interest_others_now(
    name: str, text: str, again: list[str], runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs.remembered()
    runs.put(name, text)
    searched = paths_given(monkeypatch, reading, "select_files")
    assert not runs.remembered()
    assert searched[1] == sorted(again)  # the first is that of the run without a cache
    assert not runs.remembered(mode=Mode.DIFF)
    assert searched[3] == []


def test_after_an_edit_files_are_not_parsed_again_for_what_is_known_of_them(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Who scripts `Net`, what it inherits from, and what `compat` makes of names.
    runs.put("net.py", "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n")
    runs.put("script.py", "import torch\nfrom net import Net\n\ntorch.jit.script(Net()).save('n.pt')\n")
    runs.put(
        "hint.py", "import torch\nfrom compat import ger\n\n\n@torch.jit.unused\ndef f(x):\n    return ger(x, x)\n"
    )
    runs.put("compat.py", "from torch import ger\n")
    runs.remembered()
    parsed: list[str] = []
    made = ModuleView.__init__

    def noted(view: ModuleView, path: str, *arguments: object) -> None:
        parsed.append(path)
        made(view, path, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ModuleView, "__init__", noted)
    assert not runs.remembered(mode=Mode.DIFF) and parsed
    # What is said of a name in `compat` rests on who uses it.
    for name, read in (("hint.py", {"hint.py", "compat.py"}), ("a.py", {"a.py"})):
        runs.put(name, (runs.root / name).read_text() + "\n# one line more\n")
        migrate([runs.root], project_config([runs.root]), mode=Mode.CHECK)
        parsed.clear()
        found = migrate([runs.root], project_config([runs.root]), mode=Mode.CHECK, cache=runs.cache)
        assert set(parsed) == read
        assert found == migrate([runs.root], project_config([runs.root]), mode=Mode.CHECK)


def test_files_that_are_as_they_were_are_not_read(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "_COARSE", -(10**18))
    runs.remembered()

    def refused(root: str, path: str) -> None:
        raise AssertionError(path)

    with monkeypatch.context() as patched:
        patched.setattr(tree, "_content", refused)
        assert runs.remembered()
    for path in runs.root.rglob("*.py"):
        path.touch()
    assert runs.remembered()  # by content
    monkeypatch.setattr(tree, "_content", refused)
    assert runs.remembered()


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_entry_is_as_if_it_was_not_there(seed: int, runs: Runs) -> None:
    source = random.Random(seed)
    for _ in range(tried(3, 60)):
        runs.remembered()
        (entry,) = runs.entries()
        if source.random() < 0.5:  # what is known of single files, once the project is another
            (entry,) = runs.cache.path.glob("entries/checks-*")
            runs.put("a.py", f"# {source.random()}\n{OLD}")
        data = bytearray(entry.read_bytes())
        match source.randrange(4):
            case 0:
                data[source.randrange(len(data))] ^= 1 << source.randrange(8)
            case 1:
                del data[source.randrange(len(data)) :]
            case 2:
                data = bytearray(source.randbytes(200))
            case _:
                data = bytearray(b"[" * 100_000)
        entry.write_bytes(data)
        assert not runs.remembered()


def test_a_cache_that_cannot_be_written_or_is_removed_meanwhile_does_no_harm(runs: Runs, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    assert not runs.remembered() and not runs.remembered()
    (tmp_path / "cache").unlink()
    assert not runs.remembered()
    (runs.cache.path / "entries").rename(tmp_path / "away")
    assert not runs.remembered() and runs.remembered()


def test_a_cache_that_others_may_write_is_not_believed(runs: Runs) -> None:
    runs.remembered()
    assert runs.remembered()
    (runs.cache.path / "entries").chmod(0o777)
    assert not runs.remembered()


def test_a_project_cannot_bring_its_cache_along(runs: Runs) -> None:
    inside = runs.root / ".torchlift_cache"
    answer = CliRunner().invoke(torchlift, ["migrate", "--check", f"--cache-dir={inside}", str(runs.root)])
    assert answer.exit_code == 2 and "could bring along one that hides findings" in " ".join(answer.output.split())
    # The user's own happens to lie in it, as where a home folder is a repository.
    runs.cache = replace(runs.cache, path=inside, is_chosen=False)
    assert not runs.remembered() and not runs.remembered() and not inside.exists()


def test_rules_of_the_users_own_are_part_of_the_question(runs: Runs, tmp_path: Path) -> None:
    write_rule(tmp_path / "rules")
    config = Config(extend_rules=(str(tmp_path / "rules"),), allow_own_rules=True)
    assert not runs.remembered(config=config) and runs.remembered(config=config)
    (tmp_path / "rules/wording.py").write_text('MESSAGE = "Gone."\n')
    assert not runs.remembered(config=config)


def test_a_run_that_writes_is_not_remembered_and_one_with_nothing_to_write_is(runs: Runs) -> None:
    config = Config(allow_no_vcs=True, select=("TL401",))

    def write() -> RunResult:
        runs.was_fresh = False
        return migrate([runs.root], config, cache=runs.cache)

    assert write().outcomes and runs.was_fresh
    assert not write().outcomes and runs.was_fresh
    runs.put("b.py", "import torch\n\nx = torch.symeig(a)\n")
    config = replace(config, select=("TL410",))
    first = write()
    assert runs.was_fresh and [outcome.path for outcome in first.outcomes] == ["b.py"]
    assert write() == first and not runs.was_fresh


def test_two_runs_at_once_and_one_that_is_killed_leave_a_cache_that_works(runs: Runs) -> None:
    command = [sys.executable, "-m", "torchlift", "migrate", "--check", "--cache-dir", str(runs.cache.path), "."]
    environment = {name: value for name, value in os.environ.items() if name != "TORCHLIFT_NO_CACHE"}

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command, cwd=runs.root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )

    started = [start() for _ in range(2)]
    outputs = {run.communicate()[0] for run in started}
    assert len(outputs) == 1 and all(run.returncode == 1 for run in started)
    killed = start()
    killed.kill()
    killed.communicate()
    assert start().communicate()[0] in outputs
    loaded = [*command[:1], "-X", "importtime", *command[1:]]
    told = subprocess.run(loaded, cwd=runs.root, capture_output=True, check=False, text=True, env=environment).stderr
    assert "torchlift.migrate.cache.whole_run" in told and "torchlift.migrate.run" not in told


def test_clean_removes_what_was_made_and_nothing_else(runs: Runs, tmp_path: Path) -> None:
    runs.remembered()
    chosen = f"--cache-dir={runs.cache.path}"
    answer = CliRunner().invoke(torchlift, ["clean", chosen])
    assert answer.exit_code == 0 and answer.output.startswith("Removed ") and not runs.cache.path.exists()
    assert CliRunner().invoke(torchlift, ["clean", chosen]).output.startswith("There is nothing in ")
    foreign = tmp_path / "foreign"
    (foreign / "entries").mkdir(parents=True)
    (foreign / "entries/mine").touch()
    answer = CliRunner().invoke(torchlift, ["clean", f"--cache-dir={foreign}"])
    assert answer.exit_code == 2 and (foreign / "entries/mine").exists()


def test_an_entry_may_be_larger_than_any_file_of_a_project(tmp_path: Path) -> None:
    folder = CacheFolder(tmp_path / "cache")
    entry = bytes(MOST_BYTES + 1)
    folder.write("run-large", entry)
    assert folder.read("run-large") == entry


def test_what_is_old_or_too_much_is_thrown_away(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    runs.remembered()
    old, left = (runs.cache.path / "entries" / name for name in ("run-old", ".run-killed.x"))
    for path, days in ((old, 40), (left, 1)):
        path.write_bytes(b"x")
        os.utime(path, (path.stat().st_mtime - days * 86_400,) * 2)
    runs.put("a.py", "")
    runs.remembered()
    assert not old.exists() and not left.exists() and runs.entries()
    monkeypatch.setattr("torchlift.migrate.cache.folder._MOST_BYTES", 10)
    runs.put("a.py", OLD)
    runs.remembered()
    assert not runs.entries()
