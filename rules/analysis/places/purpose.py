"""What code is for: the product, a test, which would test nothing once what it tests is rewritten, or something aside."""

from __future__ import annotations

import ast
import re

from torchlift.view import ModuleView
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

FOLDERS_ASIDE = frozenset(
    "benchmark benchmarks demo demos doc docs example examples experiments notebooks scripts test testing tests tools "
    "tutorials".split()
)
"""Folders whose code is not what a project is there for."""

_TESTS = frozenset({"test", "tests", "unittests"})
_WRITERS = frozenset({"save", "_save_for_lite_interpreter", "save_pretrained"})
CLOCKS = frozenset(
    "time perf_counter perf_counter_ns monotonic process_time timeit Timer elapsed_time do_bench".split()
)
"""Functions that tell the time, and those that measure it."""
_EXPECTS = ("assert", "raises", "allclose")


def enclosing_test(view: ModuleView, node: ast.AST, *, by_file: bool = True) -> str | None:
    """Name of the test that `node` stands in: a test function or, with `by_file`, a file of tests; None if none.

    Outside the files of tests, a function that is named like a test, expects nothing and saves something is a program;
    wherever it stands, one that expects nothing and measures time is a benchmark. A file without tests is none of tests.
    """
    in_tests = is_test_file(view.path)
    for ancestor in view.ancestors(node):
        if (
            isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef))
            and ancestor.name.startswith("test")
            and not is_benchmark(view, ancestor)
            and not is_program(view, ancestor)
            and (in_tests or not _does(ancestor, _WRITERS))
        ):
            return ancestor.name
    file = view.path.rpartition("/")[2]
    return file if by_file and _is_test_name(file) and _holds_tests(view) else None


def is_benchmark(view: ModuleView, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function measures something and tests nothing, by its file or by what it does."""
    return "bench" in view.path.rpartition("/")[2] or _does(function, CLOCKS)


def is_program(view: ModuleView, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is called like a test, but expects nothing and is run with arguments by its own file."""
    if view.parent(function) is not view.tree or not function.name.startswith("test") or function.decorator_list:
        return False
    names = [last_name(child.func) for child in walk(function) if isinstance(child, ast.Call)]
    if not _needed(function) or _expects(function, names):
        return False
    reads = (read for bound in view.scopes.module.bindings.get(function.name, ()) for read, _ in view.reads_of(bound))
    calls = (view.parent(read) for read in reads if view.function_of(read) is None)
    return any(isinstance(call, ast.Call) and bool(call.args or call.keywords) for call in calls)


def runs_by_itself(view: ModuleView) -> bool:
    """Whether a file has what only a program has: the guard, or the reading of its arguments."""
    for statement in view.tree.body:
        match statement:
            case ast.If(test=test) if ast.unparse(test) == "__name__ == '__main__'":
                return True
            case ast.Assign(value=ast.Call(func=ast.Attribute(attr="parse_args"))):
                return True
    return False


def _needed(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return len(function.args.posonlyargs) + len(function.args.args) - len(function.args.defaults)


def is_test_beside(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function that stands beside the code that it tests is a test: it is called so, needs nothing but what it is
    parametrized with, and expects something."""
    given = any("parametrize" in ast.unparse(item) for item in function.decorator_list)
    expects = any(
        isinstance(child, ast.Assert)
        or (isinstance(child, ast.Call) and any(word in ast.unparse(child.func).lower() for word in _EXPECTS))
        for child in walk(function)
    )
    return function.name.startswith("test_") and (given or not _needed(function)) and expects


def _holds_tests(view: ModuleView) -> bool:
    definitions = [n for n in walk(view.tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
    tests = [node for node in definitions if node.name.lower().startswith("test")]
    return any(isinstance(one, ast.ClassDef) or not (is_benchmark(view, one) or is_program(view, one)) for one in tests)


def is_test_file(path: str) -> bool:
    """Whether a file holds tests or stands among them."""
    folder, _, file = path.rpartition("/")
    return _is_test_name(file) or _is_test_folder(folder)


def _is_test_folder(folder: str) -> bool:
    return not _TESTS.isdisjoint(re.split(r"[/_.-]", folder))


def is_called_test(view: ModuleView) -> bool:
    """Whether a program is named like a file of tests, holds none, and does not stand among them: `speed_test.py`."""
    folder, _, file = view.path.rpartition("/")
    runs = any(isinstance(item, ast.If) and "__main__" in ast.unparse(item.test) for item in view.tree.body)
    return runs and _is_test_name(file) and not _is_test_folder(folder) and not _holds_tests(view)


def is_aside(path: str) -> bool:
    """Whether a file is no library code: a test, an example, a script at the top of the project."""
    *folders, file = path.split("/")
    return not folders or not FOLDERS_ASIDE.isdisjoint(folders) or file.startswith("conftest.") or _is_test_name(file)


def _is_test_name(file: str) -> bool:
    # `test.py` is a program more often than not: it evaluates a model.
    return file.startswith("test_") or file.endswith(("_test.py", "_tests.py")) or file == "tests.py"


def _does(function: ast.FunctionDef | ast.AsyncFunctionDef, what: frozenset[str]) -> bool:
    """Whether a function calls one of the functions named `what`, and expects nothing."""
    names = [last_name(child.func) for child in walk(function) if isinstance(child, ast.Call)]
    return not _expects(function, names) and not what.isdisjoint(names)


def _expects(function: ast.FunctionDef | ast.AsyncFunctionDef, names: list[str]) -> bool:
    checks = any(word in name.lower() for name in names for word in _EXPECTS)
    return checks or any(isinstance(child, ast.Assert) for child in walk(function))
