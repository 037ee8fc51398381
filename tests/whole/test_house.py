"""How the source is laid out; `.importlinter` holds who may import whom."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src/torchlift", "migrate", "doctor", "rules", "testing")

# What may be longer than the others, and why.
LONG_FUNCTIONS = {
    "src/torchlift/view/flow.py:_statement": "one branch a kind of statement, in the order of Python's grammar",
    "src/torchlift/view/scopes.py:_walk": "the innermost loop of a run: a call for each kind of node would double it",
    "testing/captures.py:compare_captures": "two thirds of it say what users may pass",
}
LONG_FILES = {
    "doctor/facts/__init__.py": "one record of a machine, as published in facts.schema.json",
    "doctor/probes/nvml_child.py": "one script, run by interpreters that have nothing of torchlift",
}
# What is small, used by one other file, and still a file of its own, and why.
SMALL_FILES = {
    "doctor/smoke/triton_kernel.py": "Triton reads the source of a kernel, in annotations that are no strings",
    "migrate/fix/promises.py": "a stage of the road with a name of its own",
    "migrate/tell/progress.py": "what a terminal shows, which a library call does without",
}
# What has one name in two rooms, and why no other would be better.
SHARED_NAMES = {
    "TorchUnavailable": "it means the same in `doctor` and in `testing`, which may not import each other",
}


def sources() -> Iterator[tuple[str, str]]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def is_small_by_nature(path: str) -> bool:
    """Whether a file is found by its name, and one of its kind a file: a rule, a check, a smoke."""
    name = path.rpartition("/")[2]
    return name.startswith(("__", "tl")) or "/checks/" in path or "/smokes/" in path


def module_of(path: str) -> str:
    inside = path.removeprefix("src/torchlift/").removesuffix(".py").removesuffix("/__init__")
    return f"torchlift.{inside.replace('/', '.')}"


def imported(path: str, text: str) -> Iterator[str]:
    """Modules that a file imports, with the names from them that may be modules."""
    package = module_of(path).split(".") if path.endswith("__init__.py") else module_of(path).split(".")[:-1]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def test_no_file_is_longer_than_a_reader_keeps_in_mind() -> None:
    long = {path for path, text in sources() if text.count("\n") > 450}
    assert long == set(LONG_FILES)


def test_no_function_is_longer_than_a_screen() -> None:
    long = {
        f"{path}:{node.name}"
        for path, text in sources()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (node.end_lineno or 0) - node.lineno >= 60
    }
    assert long == set(LONG_FUNCTIONS)


def test_a_small_file_serves_more_than_one_other() -> None:
    users: dict[str, set[str]] = defaultdict(set)
    for path, text in sources():
        for module in imported(path, text):
            users[module].add(path)
    crumbs = {
        path
        for path, text in sources()
        if text.count("\n") < 30 and not is_small_by_nature(path) and len(users[module_of(path)]) < 2
    }
    assert crumbs == set(SMALL_FILES)


def test_one_name_has_one_meaning() -> None:
    places = defaultdict(list)
    for path, text in sources():
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    assert {name for name, paths in places.items() if len(paths) > 1} == set(SHARED_NAMES)


def test_nothing_but_tests_is_called_a_test() -> None:
    found = [path for path, _ in sources() if path.rpartition("/")[2].startswith("test_")]
    for path, text in sources():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and re.match(r"test_|Test[A-Z]", node.name):
                found.append(f"{path}:{node.name}")
    assert found == []


@pytest.mark.parametrize("text", ["os.getenv", "SLURM_PROCID", "assertRaises", "SLURM_LOCALID", "PMI_RANK"])
def test_a_fact_stands_in_one_place(text: str) -> None:
    """Strings of rules that tell something about other people's code, apart from examples and prose."""
    found = set()
    for path, source in sources():
        if path.startswith("rules/"):
            tree = ast.parse(source)
            shown = [node for node in ast.walk(tree) if _is_shown(node)]
            told = {id(part) for node in shown for part in ast.walk(node)}
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and node.value == text and id(node) not in told:
                    found.add(path)
    assert len(found) <= 1


def _is_shown(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"Bad", "Ok"}
