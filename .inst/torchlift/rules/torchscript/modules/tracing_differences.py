"""What a trace of a module keeps of the example that it was made with, read from the module's classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.project import Project
from torchlift.rules.analysis.values.self_attributes import self_attribute
from torchlift.rules.torchscript.modules.reached_classes import reached_classes
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_TAKES_OUT = frozenset({"item", "tolist", "numpy", "__len__"})
_NUMBERS = frozenset(
    {"int", "float", "bool", "len", "max", "min", "round", "isinstance", "hasattr", "getattr", "print"}
)
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def tracing_differences(view: ModuleView, owner: ast.ClassDef, project: Project) -> Iterator[str]:
    """Clauses about a module of the class `owner`."""
    classes, unread = reached_classes(view, owner, project)
    if unread is not None:
        yield unread
    for home, node in classes:
        for method in node.body:
            if isinstance(method, _FUNCTION) and not method.name.startswith("__"):
                yield from frozen_parts(home, method, f"`{node.name}.{method.name}`")


def frozen_parts(view: ModuleView, function: ast.FunctionDef | ast.AsyncFunctionDef, shown: str) -> Iterator[str]:
    """Clauses about one function that runs while it is traced; the first of a kind is enough."""
    said: set[str] = set()
    parts = {
        name.id
        for loop in walk(function)
        if isinstance(loop, ast.For) and _is_constant(loop.iter)
        for name in walk(loop.target)
        if isinstance(name, ast.Name)
    }
    for child in walk(function):
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id in parts:
            continue
        what = _frozen(view, child)
        if what is not None and what not in said:
            said.add(what)
            yield f"{shown} {what} ({view.path}:{getattr(child, 'lineno', function.lineno)})"


def _frozen(view: ModuleView, node: ast.AST) -> str | None:
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) if not _is_constant(test):
            return "branches on more than constants of the module, and the trace kept the branch of its example"
        case ast.While():
            return "loops as often as its input says, and the trace kept the rounds of its example"
        case ast.For(iter=iterable) if not _is_constant(iterable):
            return "loops over more than constants of the module, and the trace kept the rounds of its example"
        case ast.With() | ast.AsyncWith():
            return "works under a context manager, which the trace may have left out"
        case ast.Try() | ast.Assert() | ast.Raise():
            return "checks something, which the trace did not"
        case ast.Call(func=ast.Attribute(attr=name)) if name in _TAKES_OUT:
            return f"takes numbers out of a tensor with `.{name}()`, and the trace kept those of its example"
        case ast.Call(func=ast.Name(id=name)) if name in _NUMBERS and view.resolve(node.func) is None:
            return f"calls `{name}`, and the trace kept what it gave"
        case ast.Call(func=function) if (unread := _unread(view, function)) is not None:
            return f"calls `{unread}`, which was not read"
        case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store(), value=ast.Attribute()):
            return f"changes `{ast.unparse(node)[:40]}`, which the trace did not"
        case ast.Return(value=ast.Dict()):
            return "returns a dict"
    return None


def _is_constant(node: ast.expr) -> bool:
    """Whether a value is a constant of the module, and not its mode."""
    for child in walk(node):
        if isinstance(child, ast.Name) and child.id not in {"self", "range", "enumerate", "reversed", "zip", "len"}:
            return False
        if isinstance(child, ast.Attribute) and (self_attribute(child) is None or child.attr == "training"):
            return False
    return True


def _unread(view: ModuleView, function: ast.expr) -> str | None:
    """How a called function is written, if it is neither torch's, nor of the module, nor a method of a tensor."""
    resolution = view.resolve(function)
    if resolution is not None:
        return (
            None if resolution.certain and resolution.name.partition(".")[0] == "torch" else ast.unparse(function)[:60]
        )
    match function:
        case ast.Name(id=name):
            return None if name in {"range", "enumerate", "zip", "reversed", "tuple", "list", "super"} else name
    return None
