"""The program that was started, imported into a fresh process as `multiprocessing`'s spawn imports it.

Source: https://docs.python.org/3/library/multiprocessing.html, "The spawn and forkserver start methods" (2026-11-26): the main
module is run once more under another name, so that whatever it does stands below `if __name__ == "__main__":`. Python takes
that for granted; here it is looked at, since nobody who starts a program to record it has asked for a second run.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from multiprocessing import spawn
from typing import Any, Dict, Optional  # noqa: UP035

_SETTING_UP = frozenset(
    "add_argument add_argument_group add_mutually_exclusive_group set_defaults parse_args parse_known_args"
    " setLevel addHandler getLogger get joinpath resolve to eval cuda cpu half".split()
)
"""Methods of objects that programs make outside of their guard, and that do no work: options, logs, paths, places of models."""


def way_to_main() -> Optional[Dict[str, Any]]:  # noqa: UP006
    """What `import_main` takes; None where another run of the program would do what the program does."""
    main = sys.modules["__main__"]
    path, spec = getattr(main, "__file__", None), getattr(main, "__spec__", None)
    try:
        with open(str(path), "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return None
    if not any(map(_is_guard, tree.body)) or _does_something(tree.body, _functions_of(tree)):
        return None
    way = {"init_main_from_path": os.path.abspath(str(path))} if spec is None else {"init_main_from_name": spec.name}
    return {**way, "sys_argv": list(sys.argv)}


def import_main(way: Dict[str, Any]) -> None:  # noqa: UP006
    """Makes the program `__main__` here, too. Raises what its imports and definitions raise."""
    spawn.prepare(way)


def _is_guard(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.If) or not isinstance(statement.test, ast.Compare):
        return False
    test = statement.test
    sides = [test.left, *test.comparators]
    return (
        len(sides) == 2
        and isinstance(test.ops[0], ast.Eq)
        and any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
        and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)
    )


def _functions_of(tree: ast.Module) -> set[str]:
    return {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


def _does_something(body: list[ast.stmt], functions: set[str]) -> bool:
    """Whether it loops, opens a context, calls what it defines or a method of what it made, or hands on a function of its own.

    What it calls of others besides, an import may do, too.
    """
    outside = list(_outside_of_definitions(body))
    made = {
        node.id
        for statement in outside
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for statement in outside:
        if isinstance(statement, (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)):
            return True
        for node in ast.walk(statement):
            if isinstance(statement, ast.Expr) and isinstance(node, ast.Name) and node.id in functions:
                return True
            if isinstance(node, ast.Call) and _is_work(node.func, functions, made):
                return True
    return False


def _is_work(called: ast.expr, functions: set[str], made: set[str]) -> bool:
    if not isinstance(called, ast.Attribute):
        return isinstance(called, ast.Name) and called.id in functions
    owner: ast.expr = called
    while isinstance(owner, (ast.Attribute, ast.Call, ast.Subscript)):
        owner = owner.func if isinstance(owner, ast.Call) else owner.value
    is_made = isinstance(owner, ast.Name) and owner.id in made
    return called.attr in functions or (is_made and called.attr not in _SETTING_UP)


def _outside_of_definitions(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that an import runs; those of `if` and `try` come one by one, and not within them."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or _is_guard(statement):
            continue
        if isinstance(statement, ast.If):
            yield ast.copy_location(ast.Expr(statement.test), statement)
        elif not isinstance(statement, ast.Try):
            yield statement
        for name in ("body", "orelse", "finalbody"):
            yield from _outside_of_definitions(getattr(statement, name, []))
        for handler in getattr(statement, "handlers", []):
            yield from _outside_of_definitions(handler.body)
