"""How a function or class is called, read from its definition."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Parameter:
    """One parameter: `kind` is one of "positional", "normal", "*", "keyword", "**"; `default` is its source text."""

    name: str
    kind: str
    default: str | None = None


def is_overload(node: Function) -> bool:
    """Whether it is one of several ways to call a function."""
    return any(ast.unparse(decorator).rpartition(".")[2] == "overload" for decorator in node.decorator_list)


# Decorators that leave the signature as it is written.
_HARMLESS = re.compile(
    r"overload|deprecated|staticmethod|classmethod|abstractmethod|no_grad|wraps|exposed_in|lru_cache|cache|compatibility|set_module|"
    r"_exception_logger|_time_logger|torch\.jit\.|_disable_dynamo|_onnx_symbolic|final|override|property|setter|dont_skip_tracing|"
    r"_copy_to_script_wrapper|public|_maybe_handle|_use_grad_for_differentiable|_disable_dynamo_if_unsupported|experimental|forbid_in_graph|"
    r"allow_in_graph|contextmanager|substitute_in_graph|nonstrict_trace|leaf_function|skip|functional_datapipe|parse_args|_beartype|boolean_dispatch"
)


def is_unreadable(node: Function) -> bool:
    """Whether a decorator may give the function another signature than the one written."""
    return any(not _HARMLESS.search(ast.unparse(decorator)) for decorator in node.decorator_list)


def signature_of(node: Function, *, method: bool = False) -> tuple[Parameter, ...]:
    """Its parameters as they are written, without `self` for a method."""
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    found = []
    for index, (argument, default) in enumerate(zip(plain, defaults, strict=True)):
        positional = index < len(arguments.posonlyargs) or (
            argument.arg.startswith("__") and not argument.arg.endswith("__")
        )
        found.append(Parameter(argument.arg, "positional" if positional else "normal", _default(default)))
    static = node.name != "__new__" and any(ast.unparse(d).endswith("staticmethod") for d in node.decorator_list)
    if method and found and not static:
        found = found[1:]
    if arguments.vararg:
        found.append(Parameter(arguments.vararg.arg, "*"))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append(Parameter(argument.arg, "keyword", _default(default)))
    if arguments.kwarg:
        found.append(Parameter(arguments.kwarg.arg, "**"))
    return tuple(found)


def _default(node: ast.expr | None) -> str | None:
    return None if node is None else " ".join(ast.unparse(node).split())


def fields_of(node: ast.ClassDef) -> tuple[Parameter, ...]:
    """The parameters that a dataclass makes of its fields."""
    found = []
    for item in node.body:
        if (
            isinstance(item, ast.AnnAssign)
            and isinstance(item.target, ast.Name)
            and "ClassVar" not in ast.unparse(item.annotation)
        ):
            value = item.value
            if isinstance(value, ast.Call) and ast.unparse(value.func).endswith("field"):
                options = {keyword.arg: keyword.value for keyword in value.keywords}
                init = options.get("init")
                if isinstance(init, ast.Constant) and init.value is False:
                    continue
                value = options.get("default") or options.get("default_factory")
            found.append(Parameter(item.target.id, "normal", _default(value)))
    return tuple(found)


def class_body(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a class, with those in branches."""
    for item in body:
        if isinstance(item, ast.If):
            test = ast.unparse(item.test)
            if "TYPE_CHECKING" not in test or test.startswith("not "):
                yield from class_body(item.body)
            yield from class_body(item.orelse)
        else:
            yield item


def dotted_name(node: ast.expr | None) -> str | None:
    """`a.b.c` as text; None for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted_name(node.value)
        return f"{base}.{node.attr}" if base else None
    return None


def body_of(node: Function | ast.ClassDef) -> list[ast.stmt]:
    """The statements below the docstring."""
    body = node.body
    if (
        body
        and isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    ):
        return body[1:]
    return body


def digest_of(node: Function | ast.ClassDef, lines: list[str]) -> str:
    """Digest of the body without its documentation and spaces; empty for one too short to tell it from others."""
    body = body_of(node)
    if not body:
        return ""
    text = "".join("".join(line.split()) for line in lines[body[0].lineno - 1 : body[-1].end_lineno])
    return hashlib.sha1(text.encode()).hexdigest()[:16] if len(text) > 120 else ""
