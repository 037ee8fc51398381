"""Code that measures plain against scripted: without scripting it measures the same thing twice, under two names."""

from __future__ import annotations

import ast
import re

from torchlift.rules.analysis.places.purpose import CLOCKS
from torchlift.rules.analysis.wording.messages import one_line
from torchlift.view import ModuleView
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

_FILE = re.compile(r"(?i)bench|profil|speed|timing|perf")
_MAKERS = ("torch.jit.",)


def measured_beside(view: ModuleView, call: ast.Call, value: ast.expr) -> str | None:
    """A clause about what measures `value` beside its capture `call`; None where nothing is measured, or only one of them."""
    if (chosen := measured_by_choice(view, call)) is not None:
        return chosen
    root = view.definition(value) if isinstance(value, ast.Name) else None
    if root is None or not _measures(view):
        return None
    scope = view.function_of(call) or view.tree
    for read, _ in view.reads_of(root):
        parent = view.parent(read)
        inside = any(around is call for around in view.ancestors(read))
        made = isinstance(parent, ast.Call) and view.possible_name(parent.func).startswith(_MAKERS)
        if not inside and not made and read in walk(scope):
            shown = one_line(view, value)
            return (
                f"this file measures time, and what stands for the scripted `{shown}` is `{shown}` itself from now on, which "
                f"line {read.lineno} uses already"
            )
    return None


def measured_by_choice(view: ModuleView, call: ast.Call) -> str | None:
    """A clause about a benchmark that scripts where it is told to, and would measure plain code by that name."""
    child: ast.AST = call
    for around in view.ancestors(call) if _FILE.search(view.path.rpartition("/")[2]) else ():
        if isinstance(around, ast.If) and child is not around.test:
            shown = one_line(view, around.test)
            return f"this file measures time, and what `{shown}` on line {around.lineno} chooses is measured plain from now on"
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return None
        child = around
    return None


def _measures(view: ModuleView) -> bool:
    if _FILE.search(view.path.rpartition("/")[2]):
        return True
    calls = (node.func for node in walk(view.tree) if isinstance(node, ast.Call))
    return any(last_name(called) in CLOCKS for called in calls)
