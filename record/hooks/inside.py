"""Watches a Python function of torch from inside of its own code: on entry, with what it returns, with what it raises.

The function object stays the same, so copies of it that somebody imported are watched too, and so do its frame and its line
numbers: `torch.jit.script` finds the names of its caller by counting frames, warnings name the caller's line, tracebacks
have no line more. Its source is parsed and compiled again, with three calls in it.
"""

from __future__ import annotations

import ast
import inspect
import itertools
from typing import Any

_COUNTER = itertools.count()


class NotWatched(Exception):
    """The function cannot be watched; the text says why."""


def watch(function: Any, entered: Any, left: Any, raised: Any) -> None:
    """Change the code of a function.

    Args:
        function: a Python function, perhaps below decorators that keep `__wrapped__`.
        entered: called with a dictionary of the arguments; returns a token.
        left: called with the token and the result; what it returns is ignored.
        raised: called with the token, while the exception is being handled.

    Raises:
        NotWatched: it is no Python function, its source is not there, or it does not compile to the same names.
    """
    function = inspect.unwrap(function)
    old = getattr(function, "__code__", None)
    if old is None or old.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise NotWatched(f"{function!r} is no plain Python function")
    hooks = {f"torchlift {next(_COUNTER)}": hook for hook in (entered, _passing(left), raised)}
    new = _compiled(_changed(_definition(old), *hooks), old)
    constants = tuple(hooks.get(value, value) if isinstance(value, str) else value for value in new.co_consts)
    new = new.replace(co_consts=constants, co_firstlineno=old.co_firstlineno)
    # A name with two underscores in front, for one, is another inside of its class.
    if (
        not set(old.co_names) <= set(new.co_names)
        or new.co_freevars != old.co_freevars
        or new.co_varnames[: _arguments(old)] != old.co_varnames[: _arguments(old)]
    ):
        raise NotWatched(f"{old.co_name} in {old.co_filename} has other names in its source")
    if hasattr(new, "co_qualname"):
        new = new.replace(co_qualname=old.co_qualname)
    function.__code__ = new


def _passing(left: Any) -> Any:
    def passing(token: Any, result: Any) -> Any:
        if token is not None:
            left(token, result)
        return result

    return passing


def _arguments(code: Any) -> Any:
    flags = code.co_flags
    variable = bool(flags & inspect.CO_VARARGS) + bool(flags & inspect.CO_VARKEYWORDS)
    return code.co_argcount + code.co_kwonlyargcount + variable


def _definition(code: Any) -> Any:
    try:
        lines, first = inspect.getsourcelines(code)
        # Below an `if`, a method keeps its columns.
        tree = ast.parse("if 1:\n" + "".join(lines)) if lines[0][:1] in " \t" else ast.parse("".join(lines))
    except (OSError, SyntaxError) as error:
        raise NotWatched(f"the source of {code.co_name} in {code.co_filename} is not there: {error}") from None
    definition: Any = tree.body[0]
    if isinstance(definition, ast.If):
        definition = definition.body[0]
        first -= 1
    if not isinstance(definition, ast.FunctionDef):
        raise NotWatched(f"the source of {code.co_name} in {code.co_filename} is no function")
    ast.increment_lineno(definition, first - 1)
    definition.decorator_list = []
    return definition


def _changed(definition: Any, entered: Any, left: Any, raised: Any) -> Any:
    body = definition.body
    at = 1 if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1 else 0
    place = body[at]
    rewritten = [_Returns(left).visit(statement) for statement in body[at:]]
    rewritten.append(ast.Return(_call(left, ast.Name("_torchlift", ast.Load()), ast.Constant(None))))
    names = definition.args
    arguments = [*names.posonlyargs, *names.args, *names.kwonlyargs, names.vararg, names.kwarg]
    given = [argument.arg for argument in arguments if argument is not None]
    bound = ast.Dict([ast.Constant(name) for name in given], [ast.Name(name, ast.Load()) for name in given])
    failed = ast.Expr(_call(raised, ast.Name("_torchlift", ast.Load())))
    handler = ast.ExceptHandler(ast.Name("BaseException", ast.Load()), None, [failed, ast.Raise()])
    token = ast.Assign([ast.Name("_torchlift", ast.Store())], _call(entered, bound))
    definition.body = [*body[:at], token, ast.Try(rewritten, [handler], [], [])]
    for statement in definition.body[at:]:
        ast.copy_location(statement, place)
    return ast.fix_missing_locations(definition)


def _call(constant: Any, *arguments: Any) -> Any:
    # A text stands where the hook will: constants of code may be any object. Through `__call__`, since calling a text is a warning.
    return ast.Call(ast.Attribute(ast.Constant(constant), "__call__", ast.Load()), list(arguments), [])


class _Returns(ast.NodeTransformer):
    def __init__(self, left: Any) -> None:
        self._left = left

    def visit_Return(self, node: Any) -> Any:  # noqa: N802, RUF100
        value = node.value or ast.copy_location(ast.Constant(None), node)
        new = ast.Return(_call(self._left, ast.Name("_torchlift", ast.Load()), value))
        return ast.copy_location(new, node)

    def visit_FunctionDef(self, node: Any) -> Any:  # noqa: N802, RUF100
        return node

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef  # noqa: N815, RUF100


def _compiled(definition: Any, old: Any) -> Any:
    tree = ast.Module([definition], [])
    if old.co_freevars:
        cells = [ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)) for name in old.co_freevars]
        around: Any = ast.parse("def around():\n    pass").body[0]
        around.body = [*cells, definition]
        tree = ast.fix_missing_locations(ast.Module([around], []))
    flags = old.co_flags & _future_flags()
    code = compile(tree, old.co_filename, "exec", flags, True)
    while True:
        inner = [value for value in code.co_consts if isinstance(value, type(code))]
        found = [value for value in inner if value.co_name == old.co_name]
        if found or not inner:
            break
        code = inner[0]
    if not found:
        raise NotWatched(f"{old.co_name} in {old.co_filename} does not compile alone")
    return found[0]


def _future_flags() -> Any:
    import __future__

    flags = 0
    for name in __future__.all_feature_names:
        flags |= getattr(__future__, name).compiler_flag
    return flags
