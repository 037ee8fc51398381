"""A program that does nothing but write TorchScript: where nobody loads that any more, the whole file may go."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from torchlift.finding import DeleteStatement, Finding, Fix, Safety
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

_DOES_MORE = lazy_pattern(
    r"(?i)save|writ|dump|export|upload|push|publish|plot|show|train|fit|backward|step|send|post|insert|commit|copy|move|rename"
    r"|remove|delete|unlink|open|run|call|popen|system|exec|convert|compile|benchmark|assert|check|compare|test|register|setattr"
)
_KEEPS = frozenset(
    {"torch.jit.save", "torch.jit.script", "torch.jit.trace", "torch.jit.freeze", "argparse.ArgumentParser"}
)
_MAKERS = frozenset({"torch.jit.script", "torch.jit.trace", "torch.jit.freeze"})


def or_whole_file(found: Iterator[Finding], use: Use, context: Context) -> Iterator[Finding]:
    """The findings about a use; where none has a fix and it stands in such a program, they offer the removal of the file."""
    for finding in found:
        if finding.fix is not None or not drops(context) or not context.once(_only_writes):
            yield finding
            continue
        view = context.view
        about = f"{view.path} does nothing but write TorchScript, and nothing else in the project names it: whoever runs it by hand misses it"
        rewrites = tuple(DeleteStatement(view.span(statement)) for statement in view.tree.body)
        fix = Fix("Delete the file", Safety.UNSAFE, rewrites)
        yield replace(finding, help=f"Needs review: {about}.", fix=fix, waits_for="")


def _only_writes(context: Context) -> bool:
    view = context.view
    if is_test_file(view.path) or view.is_package or not any(map(_is_guard, view.tree.body)) or _is_named(context):
        return False
    calls = [node for node in walk(view.tree) if isinstance(node, ast.Call)]
    saves = [call for call in calls if _writes(view, call)]
    own = {node.name for node in walk(view.tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return bool(saves) and not any(_does_more(view, call, own) for call in calls if call not in saves)


def _is_guard(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and ast.unparse(statement.test) == "__name__ == '__main__'"


def _is_named(context: Context) -> bool:
    """Whether another file of the project holds the name of the file, or it may be imported as part of a package."""
    view, project = context.view, context.project
    folder, _, file = view.path.rpartition("/")
    stem = file.removesuffix(".py")
    packaged = folder and project.view(f"{folder}/__init__.py") is not None
    return bool(
        packaged
        or any(path != view.path for path in project.files_holding(stem, whole=True))
        or project.mentions(stem, (view.path,))
    )


def _writes(view: ModuleView, call: ast.Call) -> bool:
    """Whether a call writes a scripted or traced value to a file."""
    if view.certain_name(call.func) == "torch.jit.save":
        return True
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "save":
        return False
    value: ast.expr | None = call.func.value
    binding = view.definition(value) if isinstance(value, ast.Name) else None
    value = binding.value if binding is not None else value
    return isinstance(value, ast.Call) and view.certain_name(value.func) in _MAKERS


def _does_more(view: ModuleView, call: ast.Call, own: set[str]) -> bool:
    """Whether a call may do something that is wanted besides; functions of the file are read with it."""
    name = view.certain_name(call.func)
    called = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return name not in _KEEPS and called not in own and called != "deepcopy" and _DOES_MORE.search(called) is not None
