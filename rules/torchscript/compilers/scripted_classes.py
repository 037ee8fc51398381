"""Classes handed to `torch.jit.script`, and who else in the project compiles code that may use them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Collector, Project
from torchlift.rules.torchscript.compilers import scripting_uses
from torchlift.view import Binding, ModuleView, Use

# Methods and functions of other libraries that trace a module when they are told to.
_LIBRARY_TRACERS = (
    "to_torchscript", "to_torch_script", "export_torchscript", "save_torchscript", "export_to_ts", "save_neutone_model",
)  # fmt: skip


@dataclass(frozen=True)
class ClassSites:
    """Lines of one file that script a class, which leaves the Python class as it is."""

    lines: tuple[int, ...]


def scripted_class(view: ModuleView, use: Use) -> tuple[ast.ClassDef, Binding | None] | None:
    """The class that a use of `torch.jit.script` compiles, and the binding of `X = torch.jit.script(X)`, if it is one."""
    parent = view.parent(use.node)
    if isinstance(parent, ast.ClassDef) and use.kind == "decorator":
        return parent, None
    call = use.call
    if call is None or len(call.args) != 1 or call.keywords or not isinstance(call.args[0], ast.Name):
        return None
    binding = view.definition(call.args[0])
    statement = view.parent(call)
    if (
        binding is None
        or not isinstance(binding.node, ast.ClassDef)
        or not isinstance(statement, ast.Assign)
        or len(statement.targets) != 1
        or not isinstance(target := statement.targets[0], ast.Name)
        or target.id != call.args[0].id
    ):
        return None
    again = view.bound_by(target)
    return (binding.node, again) if again is not None else None


def _collect(view: ModuleView) -> ClassSites | None:
    if view.is_stub:
        return None
    lines = [use.node.lineno for use in view.uses(frozenset({"torch.jit.script"})) if scripted_class(view, use)]
    return ClassSites(tuple(lines)) if lines else None


CLASSES = Collector("torchscript.classes", ("script & jit",), _collect, frozenset({"torch.jit.script"}))


def first_compiler(project: Project) -> str | None:
    """`path:line` of the first place that compiles something else than a class, and with it the classes it uses."""
    classes = project.records(CLASSES)
    for path, record in sorted(project.records(scripting_uses.COLLECTOR).items()):
        known = classes.get(path)
        lines = set(record.scripts) - set(known.lines if known is not None else ())
        if lines:
            return f"{path}:{min(lines)}"
    return None


def first_trace(project: Project) -> str | None:
    """`path:line` of the first place in the project that traces."""
    return next(traces(project), None)


def traces(project: Project) -> Iterator[str]:
    """`path:line` of the first place of each file that traces."""
    records = sorted(project.records(scripting_uses.COLLECTOR).items())
    return (f"{path}:{min(record.traces)}" for path, record in records if record.traces)


def first_tracer(project: Project) -> str | None:
    """The first place that traces, or a file that has another library do so, which may trace or script."""
    return first_trace(project) or next(library_tracers(project), None)


def library_tracers(project: Project) -> Iterator[str]:
    """Files that have another library trace or script."""
    return (path for word in _LIBRARY_TRACERS for path in project.files_holding(word) if project.is_python(path))
