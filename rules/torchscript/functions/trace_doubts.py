"""What a trace of the project makes of a plain function where it kept a scripted one as it was."""

from __future__ import annotations

import ast

from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.places.possible_callers import Step, called_where, step_from
from torchlift.rules.analysis.project.same_program import in_one_program
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.compilers.compiled_context import symbolic_trace
from torchlift.rules.torchscript.compilers.scripted_classes import first_trace, first_tracer, library_tracers, traces
from torchlift.rules.torchscript.compilers.scripting_roots import traced_by
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.modules.data_branches import data_branch
from torchlift.view import ModuleView

# A function that is called so stands beside another one for eager mode, and is what the exporter gets.
_FOR_EXPORT = lazy_pattern(r"(?:^|_)(?:onnx|export|traceable|tracing)(?:_|$)")


def needed_by_trace(
    view: ModuleView, node: ast.FunctionDef | ast.AsyncFunctionDef, branches: int | None, context: Context
) -> list[str]:
    """The clause about a trace that loses branches or loops of a function which only scripting keeps; empty if none does.

    Args:
        view: its file.
        node: the function.
        branches: line of its first branch or loop, if it has one.
        context: the file and its project.
    """
    if branches is None or first_tracer(context.project) is None:
        return []
    keeps = "which keeps its branches and loops only while it is scripted: write `torch.cond` or tensor operations in their place first"
    if _FOR_EXPORT.search(node.name):
        return [f"`{node.name}` is by its name for an export, {keeps} (line {branches})"]
    found = data_branch(view, node)
    reach = traced_by(context.project, view.path, ((view.path, node.lineno),)) if found is not None else None
    if found is None or reach is None or reach.lost:
        return []
    may = "traces or exports it" if reach.certain else "may trace or export it"
    return [f"`{node.name}` {found.what} (line {found.line}), and {reach.root} {may}, {keeps}"]


def trace_doubts(
    view: ModuleView,
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    branches: int | None,
    shapes: int | None,
    context: Context,
) -> list[str]:
    """Clauses about traces that may reach a function.

    Args:
        view: its file.
        node: the function.
        branches: line of its first branch or loop, if it has one.
        shapes: line of the first size that leaves the tensors, if one does.
        context: the file and its project.
    """
    name = node.name
    if branches is None and shapes is None:
        return []
    symbolic = None if drops(context) else symbolic_trace(context.project)  # torch.fx fails on a scripted function
    if symbolic is not None:
        return [f"{symbolic} may trace with torch.fx, which passes over a scripted function and goes into a plain one"]
    place = tracer_of(context.project, view, node) if drops(context) else first_trace(context.project)
    if place is None:
        return []
    if branches is not None:
        return [
            f"{place} traces or exports to ONNX, and a trace keeps the branches and loops of a scripted function but not "
            f"those of a plain one (`{name}` has one on line {branches})"
        ]
    return [f"{place} traces or exports to ONNX, which may fix the sizes that `{name}` reads on line {shapes}"]


def tracer_of(project: Project, view: ModuleView, node: ast.stmt) -> str | None:
    """The place that traces a function or class, or may, in a program with it; a file that has a library do so."""
    reach = traced_by(project, view.path, ((view.path, node.lineno),)) if first_tracer(project) is not None else None
    if reach is not None:
        return reach.root
    places = [*traces(project), *library_tracers(project)]
    near = (one for one in places if in_one_program(project, view.path, one.rpartition(":")[0] or one))
    place = next(near, None)
    handed = place is not None and called_where(view, node, project, _nowhere, _step) is not None
    return place if handed else None


def _step(project: Project, name: str) -> Step:
    return step_from(project, name, _nowhere)


def _nowhere(_view: ModuleView, _node: ast.AST) -> bool:
    return False
