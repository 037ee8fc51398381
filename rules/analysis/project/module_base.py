"""Whether a class of the user's is an `nn.Module`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlift.view import ModuleView

if TYPE_CHECKING:
    from torchlift.project import Project

_MODULES = ("torch.nn.", "torch.jit.ScriptModule", "pytorch_lightning.", "lightning.")
_NOT_MODULES = frozenset({"object", "abc.ABC", "unittest.TestCase", "typing.Protocol", "enum.Enum"})


def is_module_class(view: ModuleView, node: ast.ClassDef, project: Project | None, depth: int = 0) -> bool | None:
    """Whether a class is an `nn.Module`: True, False, or None where a base class was not read."""
    answer: bool | None = False
    for written in node.bases:
        base = written.value if isinstance(written, ast.Subscript) else written  # `Base[T]`
        resolution = view.resolve(base)
        name = resolution.name if resolution is not None and resolution.certain else None
        if isinstance(base, ast.Name) and base.id == "object":
            continue
        if name is not None and (name in _NOT_MODULES or name.startswith("torch.utils.data.")):
            continue
        if name is not None and name.startswith(_MODULES):
            return True
        binding, home = view.definition(base), view
        if (binding is None or not isinstance(binding.node, ast.ClassDef)) and project is not None and name is not None:
            found = project.binding(name, view.path)
            if found is not None:
                home, binding = found
        if binding is not None and isinstance(binding.node, ast.ClassDef) and depth < 8:
            inner = is_module_class(home, binding.node, project, depth + 1)
            if inner is True:
                return True
            if inner is False:
                continue
        answer = None
    return answer
