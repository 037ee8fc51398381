"""What a scripted function asks of code that was not read: classes that TorchScript knows, and what gets its bools."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torchlift.project import Project
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_READ = ("torch.", "numpy.", "math.", "typing.", "collections.", "builtins.", "enum.")
_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def foreign_doubts(
    view: ModuleView,
    node: _FunctionNode,
    calls: Sequence[tuple[ModuleView, ast.Call]],
    project: Project,
    *,
    unseen: bool,
) -> Iterator[str]:
    """Clauses about both; `calls` are the known calls of the function, `unseen` says that there may be further ones."""
    for child in walk(node):
        match child:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, asked]) if _is_foreign(view, asked, project):
                yield (
                    f"line {child.lineno} of `{node.name}` asks for `{ast.unparse(asked)}`, which was not read, and is no Python "
                    "class if C++ made it for TorchScript"
                )
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    for argument in node.args.args:
        written = view.text(argument.annotation) if argument.annotation is not None else ""
        if written == "bool" and (line := _handed_to_foreign(view, node, argument.arg, project)) is not None:
            given = [(named_arguments(call, names) or {}).get(argument.arg) for _, call in calls]
            if unseen or not given or not all(value is None or _is_bool(value) for value in given):
                yield (
                    f"a caller may pass another kind of bool for `{argument.arg}` of `{node.name}`, of which scripting made "
                    f"Python's, and line {line} hands it to code that was not read"
                )


def _is_foreign(view: ModuleView, node: ast.expr, project: Project) -> bool:
    """Whether a class, or one of several, is imported from a package that is not read."""
    if isinstance(node, ast.Tuple):
        return any(_is_foreign(view, item, project) for item in node.elts)
    name = view.certain_name(node)
    return "." in name and not name.startswith(_READ) and definition_of(view, node, project, ast.ClassDef) is None


def _handed_to_foreign(view: ModuleView, node: _FunctionNode, name: str, project: Project) -> int | None:
    for call in walk(node):
        if isinstance(call, ast.Call) and any(
            isinstance(value, ast.Name) and value.id == name
            for value in (*call.args, *(keyword.value for keyword in call.keywords))
        ):
            called = call.func
            if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
                made = view.definition(called.value)
                value = made.value if made is not None else None
                called = value.func if isinstance(value, ast.Call) else called
            qualified = view.certain_name(called)
            known = definition_of(view, called, project, ast.FunctionDef) is not None
            read = known or definition_of(view, called, project, ast.ClassDef) is not None
            own = "." in qualified and project.split_name(qualified, view.path) is not None
            if "." in qualified and not own and not qualified.startswith(_READ) and not read:
                return call.lineno
    return None


def _is_bool(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=bool()) | ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Call(func=ast.Name(id="bool")):
            return True
    return False
