"""How the source is laid out; `.importlinter` holds who may import whom."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from torchlift.view.walk import walk

pytestmark = pytest.mark.xdist_group("the house")

ROOT = Path(__file__).parents[2]
FOLDERS = ("src/torchlift", "migrate", "doctor", "rules", "testing", "record", "convert", "server", "survey")

# What may be longer than the others, and why.
LONG_FUNCTIONS = {
    "src/torchlift/view/flow.py:_statement": "one branch a kind of statement, in the order of Python's grammar",
    "src/torchlift/view/scopes.py:_walk": "the innermost loop of a run: a call for each kind of node would double it",
    "testing/captures.py:compare_captures": "two thirds of it say what users may pass",
}
# What is small, used by one other file, and still a file of its own, and why.
SMALL_FILES = {
    "doctor/smoke/triton_kernel.py": "Triton reads the source of a kernel, in annotations that are no strings",
    "server/cli.py": "a command, which the command line finds by the name of its file",
}
# What has one name in two rooms, and why no other would be better.
SHARED_NAMES = {
    "TorchUnavailable": "it means the same in `doctor` and in `testing`, which may not import each other",
}
# What a rule, a check or a smoke needs before it can say what it is, and why.
BEFORE_DECLARATIONS = {
    "rules/distributed/tl234_private_group_helpers.py:_Helper": "the rows that its targets are the keys of",
}


@dataclass(frozen=True)
class ReadFile:
    """What the tests ask about a file; its tree is walked once, since there are hundreds.

    Attributes:
        path: from the root.
        lines: how many.
        imports: modules, with names from them that may be modules.
        functions: name and number of lines of each.
        classes: all of them, and those at the top.
        texts: string constants outside examples.
        first: functions and classes before the `RULE`, `CHECK` or `SMOKE` of the file.
    """

    path: str
    lines: int
    imports: frozenset[str]
    functions: tuple[tuple[str, int], ...]
    classes: tuple[str, ...]
    top_classes: tuple[str, ...]
    texts: frozenset[str]
    first: tuple[str, ...]


@cache
def everything() -> tuple[ReadFile, ...]:
    paths = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))
    return tuple(read(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths)


def read(path: str, text: str) -> ReadFile:
    tree = ast.parse(text)
    nodes = list(walk(tree))
    functions = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    shown = {id(part) for node in nodes if _is_shown(node) for part in walk(node)}
    constants = [node for node in nodes if isinstance(node, ast.Constant) and id(node) not in shown]
    return ReadFile(
        path,
        text.count("\n"),
        frozenset(imported(path, nodes)),
        tuple((node.name, (node.end_lineno or 0) - node.lineno) for node in functions),
        tuple(node.name for node in nodes if isinstance(node, ast.ClassDef)),
        tuple(node.name for node in tree.body if isinstance(node, ast.ClassDef)),
        frozenset(node.value for node in constants if isinstance(node.value, str)),
        tuple(before_the_declaration(tree)),
    )


def before_the_declaration(tree: ast.Module) -> Iterator[str]:
    declared = [
        place
        for place, node in enumerate(tree.body)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in {"RULE", "CHECK", "SMOKE"}
    ]
    for node in tree.body[: declared[0]] if declared else ():
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name


def is_small_by_nature(path: str) -> bool:
    """Whether a file is found by its name, and one of its kind a file: a rule, a check, a smoke, a format."""
    name = path.rpartition("/")[2]
    return name.startswith(("__", "tl")) or any(f"/{kind}/" in path for kind in ("checks", "smokes", "formats"))


def module_of(path: str) -> str:
    inside = path.removeprefix("src/torchlift/").removesuffix(".py").removesuffix("/__init__")
    return f"torchlift.{inside.replace('/', '.')}"


def imported(path: str, nodes: Iterable[ast.AST]) -> Iterator[str]:
    package = module_of(path).split(".") if path.endswith("__init__.py") else module_of(path).split(".")[:-1]
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def test_no_file_is_longer_than_a_reader_keeps_in_mind() -> None:
    assert [source.path for source in everything() if source.lines > 450] == []


def test_no_function_is_longer_than_a_screen() -> None:
    functions = ((source.path, *function) for source in everything() for function in source.functions)
    assert {f"{path}:{name}" for path, name, lines in functions if lines >= 60} == set(LONG_FUNCTIONS)


def test_a_small_file_serves_more_than_one_other() -> None:
    users: dict[str, set[str]] = defaultdict(set)
    for source in everything():
        for module in source.imports:
            users[module].add(source.path)
    small = {source.path for source in everything() if source.lines < 30 and not is_small_by_nature(source.path)}
    assert {path for path in small if len(users[module_of(path)]) < 2} == set(SMALL_FILES)


def test_one_name_has_one_meaning() -> None:
    places = Counter(name for source in everything() for name in set(source.top_classes) if not name.startswith("_"))
    assert {name for name, count in places.items() if count > 1} == set(SHARED_NAMES)


def test_a_rule_a_check_and_a_smoke_say_what_they_are_before_how() -> None:
    first = [f"{source.path}:{name}" for source in everything() for name in source.first]
    assert first == list(BEFORE_DECLARATIONS)


def test_nothing_but_tests_is_called_a_test() -> None:
    assert [source.path for source in everything() if source.path.rpartition("/")[2].startswith("test_")] == []
    names = ((s.path, name) for s in everything() for name in (*s.classes, *(name for name, _ in s.functions)))
    assert [f"{path}:{name}" for path, name in names if re.match(r"test_|Test[A-Z]", name)] == []


@pytest.mark.parametrize("text", ["os.getenv", "SLURM_PROCID", "assertRaises", "SLURM_LOCALID", "PMI_RANK"])
def test_a_fact_stands_in_one_place(text: str) -> None:
    """Strings of rules that tell something about other people's code, apart from examples and prose."""
    found = [source.path for source in everything() if source.path.startswith("rules/") and text in source.texts]
    assert len(found) <= 1, found


def _is_shown(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"Bad", "Ok"}
