"""What is known of a module or function that is scripted: its class, and how messages write it."""

from __future__ import annotations

import ast

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.analysis.values.self_attributes import self_attribute, stored_on_self
from torchlift.rules.analysis.values.value_of import MOST_STEPS, definition_of
from torchlift.rules.analysis.wording.messages import one_line
from torchlift.rules.torchscript.facts.trusted_operations import SELF_RETURNING
from torchlift.rules.torchscript.modules.scripted_kind import ScriptedKind, kind_of
from torchlift.view import ModuleView


@dataclass(frozen=True)
class ScriptedModule:
    """An expression given to `torch.jit.script`.

    Attributes:
        text: how it is written, on one line; arguments of calls are left out if it is long.
        kind: whether it is a module or a function.
        owner: the file and definition of its class, if it is visible.
    """

    text: str
    kind: ScriptedKind
    owner: tuple[ModuleView, ast.ClassDef] | None

    @property
    def forward(self) -> ast.FunctionDef | None:
        """The class's own `forward`, if it has one."""
        body = self.owner[1].body if self.owner is not None else []
        found = [item for item in body if isinstance(item, ast.FunctionDef) and item.name == "forward"]
        return found[0] if len(found) == 1 else None


def read_scripted_module(view: ModuleView, node: ast.expr, project: Project) -> ScriptedModule:
    """What the expression `node` stands for."""
    owner = _class_behind(view, node, project, 0)
    return ScriptedModule(one_line(view, node), "module" if owner else kind_of(view, node, project), owner)


def _class_behind(
    view: ModuleView, node: ast.expr, project: Project, depth: int
) -> tuple[ModuleView, ast.ClassDef] | None:
    if depth > MOST_STEPS:
        return None
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in SELF_RETURNING:
            return _class_behind(view, node.func.value, project, depth + 1)
        return definition_of(view, node.func, project, ast.ClassDef)
    if isinstance(node, ast.Attribute) and self_attribute(node) is not None:
        values = stored_on_self(view, node)
        return _class_behind(view, values[0], project, depth + 1) if len(values) == 1 else None
    binding = view.definition(node)
    if binding is None:
        return None
    if binding.kind == "assign" and binding.value is not None:
        return _class_behind(view, binding.value, project, depth + 1)
    if binding.kind == "param" and isinstance(binding.node, ast.arg):
        if binding.name == "self":
            owner = view.class_of(node)
            return (view, owner) if owner is not None else None
        if binding.node.annotation is not None:
            return definition_of(view, binding.node.annotation, project, ast.ClassDef)
    return None
