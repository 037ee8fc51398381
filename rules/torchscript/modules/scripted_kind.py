"""Whether it is a module or a function that is scripted, as far as definitions, calls and names tell."""

from __future__ import annotations

import ast
import re
from typing import Literal

from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.values.self_attributes import self_attribute, stored_on_self
from torchlift.rules.analysis.values.value_of import MOST_STEPS
from torchlift.rules.torchscript.facts.trusted_operations import SELF_RETURNING
from torchlift.view import Binding, ModuleView

ScriptedKind = Literal["module", "function", "unknown"]

# What is asked of modules and of no function.
MODULE_ATTRIBUTES = frozenset(
    """eval train to cuda cpu half double bfloat16 parameters named_parameters buffers named_buffers modules children
    state_dict load_state_dict zero_grad requires_grad_ forward training""".split()
)
_FUNCTION_NAMES = frozenset({"f", "fn", "func", "function", "method", "callable"})
_MODULE_NAMES = lazy_pattern(
    r"(?:^|_)(?:model|net|network|module|encoder|decoder|layer|block|backbone|policy|generator|discriminator)\d*$",
    re.IGNORECASE,
)


def kind_of(view: ModuleView, node: ast.expr, project: Project) -> ScriptedKind:
    """What the expression `node` gives; a guess from its name only where nothing else is known of it."""
    return _kind(view, node, project, MOST_STEPS)


def _kind(view: ModuleView, node: ast.expr, project: Project, depth: int) -> ScriptedKind:
    if depth == 0:
        return "unknown"
    match node:
        case ast.Lambda():
            return "function"
        case ast.Call():
            return _of_call(view, node, project, depth)
        case ast.Name():
            found = _of_name(view, node, project, depth)
            return found if found != "unknown" else _by_uses(view, node) or _by_name(node.id)
        case ast.Attribute():
            found = _of_attribute(view, node, project, depth)
            return found if found != "unknown" else _by_name(node.attr)
        case ast.Subscript(value=ast.Name(id=name)) | ast.Subscript(value=ast.Attribute(attr=name)):
            return _by_name(name)
        case _:
            return "unknown"


def _by_name(name: str) -> ScriptedKind:
    if name in _FUNCTION_NAMES:
        return "function"
    return "module" if _MODULE_NAMES.search(name) else "unknown"


def _by_uses(view: ModuleView, node: ast.Name) -> ScriptedKind | None:
    """`module` if something is asked of the variable that only a module has."""
    binding = view.definition(node)
    for read, _ in view.reads_of(binding) if binding is not None else ():
        parent = view.parent(read)
        if isinstance(parent, ast.Attribute) and parent.attr in MODULE_ATTRIBUTES:
            return "module"
    return None


def _of_call(view: ModuleView, node: ast.Call, project: Project, depth: int) -> ScriptedKind:
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr in SELF_RETURNING:
        return "module"
    name = view.possible_name(function)
    if isinstance(function, ast.Name) and function.id == "getattr":
        return "unknown"
    if name == "functools.partial":
        return "function"
    if name == "typing.cast" and len(node.args) == 2:
        return _kind(view, node.args[1], project, depth - 1)
    if name in {"copy.copy", "copy.deepcopy"} and node.args:
        return _kind(view, node.args[0], project, depth - 1)
    return "module"


def _of_name(view: ModuleView, node: ast.Name, project: Project, depth: int) -> ScriptedKind:
    binding = view.definition(node)
    if binding is None:
        return "unknown"
    if binding.imported is not None:
        return _of_qualified(view, node, project, depth)
    return _of_binding(view, binding, project, depth)


def _of_binding(view: ModuleView, binding: Binding, project: Project, depth: int) -> ScriptedKind:
    if isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return "function"
    if binding.kind == "assign" and binding.value is not None:
        return _kind(view, binding.value, project, depth - 1)
    if binding.kind == "param" and isinstance(binding.node, ast.arg) and binding.node.annotation is not None:
        written = ast.unparse(binding.node.annotation)
        if "Callable" in written:
            return "function"
        return "module" if re.search(r"(?:^|\.)[A-Z]\w*$", written) and "Any" not in written else "unknown"
    return "unknown"


def _of_attribute(view: ModuleView, node: ast.Attribute, project: Project, depth: int) -> ScriptedKind:
    if isinstance(node.value, ast.Name):
        owner = view.definition(node.value)
        if owner is not None and isinstance(owner.node, ast.ClassDef):
            scope = view.scopes.scope_of.get(owner.node)
            bound = scope.bindings.get(node.attr, []) if scope is not None else []
            return _of_binding(view, bound[0], project, depth) if len(bound) == 1 else "unknown"
        if self_attribute(node) is not None:
            kinds = {_kind(view, value, project, depth - 1) for value in stored_on_self(view, node)}
            if len(kinds) == 1:
                return kinds.pop()
    found = _of_qualified(view, node, project, depth)
    if found != "unknown" or _by_name(node.attr) == "module":
        return found
    pattern = re.compile(rb"\bdef\s+" + re.escape(node.attr.encode()) + rb"\s*\(")
    defined = any(pattern.search(project.data(path)) for path in project.files_holding(f"def {node.attr}"))
    return "function" if defined else "unknown"


def _of_qualified(view: ModuleView, node: ast.expr, project: Project, depth: int) -> ScriptedKind:
    """What an imported name, or an attribute of one, stands for."""
    resolution = view.resolve(node)
    if resolution is None or not resolution.certain:
        return "unknown"
    found = project.binding(resolution.name, view.path)
    if found is not None and found[1].imported is None:
        return _of_binding(*found, project, depth)
    owner, _, last = resolution.name.rpartition(".")
    is_method = owner.rpartition(".")[2][:1].isupper() and not last[:1].isupper()
    return "function" if is_method else "unknown"
