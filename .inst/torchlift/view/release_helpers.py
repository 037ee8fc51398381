"""Functions that compare torch's release for their caller: those of well-known libraries, and how one of a project is read."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

Operator = type[ast.cmpop]

_OPERATORS: dict[str, Operator] = {
    ">": ast.Gt, ">=": ast.GtE, "<": ast.Lt, "<=": ast.LtE, "==": ast.Eq, "!=": ast.NotEq,
    "gt": ast.Gt, "ge": ast.GtE, "lt": ast.Lt, "le": ast.LtE, "eq": ast.Eq, "ne": ast.NotEq,
}  # fmt: skip
_CACHES = frozenset({"cache", "lru_cache"})

# What the first argument is compared with. Sources: transformers/utils/import_utils.py of transformers 5.23.0.
_RELEASE_FIRST = {
    ("transformers", "is_torch_greater_or_equal"): ast.GtE,
    ("transformers", "is_torch_less_or_equal"): ast.LtE,
}
# Operator as text, then the release. Sources: src/accelerate/utils/versions.py of accelerate 1.15.0,
# src/diffusers/utils/import_utils.py of diffusers, read 2026-11-23.
_OPERATOR_FIRST = frozenset({("accelerate", "is_torch_version"), ("diffusers", "is_torch_version")})
# Name of a package, a function of `operator`, the release. Source: src/lightning_utilities/core/imports.py of
# Lightning-AI/utilities at 0ca5515e.
_PACKAGE_FIRST = frozenset({("lightning_utilities", "compare_version")})
# Major and minor number. Source: monai/utils/module.py of monai 1.6.1.
_NUMBERS_FIRST = frozenset({("monai", "pytorch_after")})


def known_helper(name: str, call: ast.Call) -> tuple[Operator, ast.expr] | None:
    """The operator and the release with which a call to a helper of another library compares torch's own."""
    key = name.partition(".")[0], name.rpartition(".")[2]
    match call.args:
        case [release] if key in _RELEASE_FIRST:
            return _RELEASE_FIRST[key], release
        case [ast.Constant(value=str(sign)), release] if key in _OPERATOR_FIRST and sign in _OPERATORS:
            return _OPERATORS[sign], release
        case [ast.Constant(value="torch"), compare, release] if key in _PACKAGE_FIRST:
            word = ast.unparse(compare).rpartition(".")[2]
            return (_OPERATORS[word], release) if word in _OPERATORS else None
        case [ast.Constant(), ast.Constant()] | [ast.Constant(), ast.Constant(), ast.Constant()] if (
            key in _NUMBERS_FIRST
        ):
            return ast.GtE, ast.Tuple(elts=call.args, ctx=ast.Load())
    return None


def arguments(
    function: ast.FunctionDef, call: ast.Call, constant: Callable[[ast.expr], ast.expr | None]
) -> Mapping[str, ast.expr] | None:
    """What each parameter is in a call, written out; None if that is not plain, or the function is more than it seems.

    Args:
        function: what is called.
        call: its call.
        constant: what an argument is, written out; None if that is not known.
    """
    taken = function.args
    if taken.vararg or taken.kwarg or taken.posonlyargs or any(map(_changes, function.decorator_list)):
        return None
    positional = [each.arg for each in taken.args]
    names = {*positional, *(each.arg for each in taken.kwonlyargs)}
    given: dict[str, ast.expr | None] = dict(zip(reversed(positional), reversed(taken.defaults), strict=False))
    given.update(zip((each.arg for each in taken.kwonlyargs), taken.kw_defaults, strict=True))
    passed = [*zip(positional, call.args, strict=False), *((each.arg, each.value) for each in call.keywords)]
    if len(call.args) > len(positional) or any(name not in names for name, _ in passed):
        return None
    given.update((name, constant(value)) for name, value in passed if name is not None)
    known = {name: value for name, value in given.items() if value is not None}
    return known if known.keys() == names else None


def _changes(decorator: ast.expr) -> bool:
    """Whether a decorator may change what the function returns."""
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(named).rpartition(".")[2] not in _CACHES


def returned(body: Iterable[ast.stmt], decide: Callable[[ast.expr], bool | None]) -> bool | None:
    """What a function returns, as far as `decide` answers its conditions; None if it is not one answer."""
    for statement in body:
        match statement:
            case ast.Return(value=ast.Constant(value=bool(value))):
                return value
            case ast.Return(value=ast.expr() as value):
                return decide(value)
            case ast.If(test=test, body=taken, orelse=other):
                answer = decide(test)
                if answer is None and all(isinstance(each, ast.Raise) for each in taken) and not other:
                    continue  # whoever goes on did not get here
                if answer is None:
                    return None
                chosen = taken if answer else other
                if any(isinstance(each, ast.Return) for part in chosen for each in ast.walk(part)):
                    return returned(chosen, decide)
            case (
                ast.Expr()
                | ast.Assert()
                | ast.Import()
                | ast.ImportFrom()
                | ast.Assign()
                | ast.AnnAssign()
                | ast.Global()
            ):
                continue
            case _:
                return None
    return None
