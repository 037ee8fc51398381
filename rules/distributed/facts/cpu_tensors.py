"""Which tensors are surely made on the CPU: by a constructor of torch without a device, where there is no default one."""

from __future__ import annotations

import ast

from torchlift.project import Collector, Project
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.source import SourceText
from torchlift.view import ModuleView

_CONSTRUCTORS = frozenset(
    f"torch.{name}"
    for name in ("tensor", "zeros", "ones", "empty", "full", "arange", "rand", "randn", "randint", "eye", "linspace")
)


def made_on_cpu(view: ModuleView, project: Project, tensor: ast.expr) -> ast.expr | None:
    """The constructor behind a tensor that surely is on the CPU; rules that ask list `DEFAULT_DEVICES` as a collector."""
    made = tensor
    if isinstance(tensor, ast.Name):
        value = assigned_value(view, tensor)
        if value is None or view.function_of(value) is not view.function_of(tensor) or _moved(view, tensor):
            return None
        made = value
    if not _is_on_cpu(view, made) or _sets_default_device(project) or _is_in_device_context(view, made):
        return None
    return made


def _is_on_cpu(view: ModuleView, node: ast.expr) -> bool:
    """Whether an expression is a tensor constructor of torch without a device, or with the CPU."""
    if not isinstance(node, ast.Call):
        return False
    name = view.certain_name(node.func)
    if name not in _CONSTRUCTORS or any(keyword.arg is None for keyword in node.keywords):
        return False
    device = next((keyword.value for keyword in node.keywords if keyword.arg == "device"), None)
    if device is not None:
        return isinstance(device, ast.Constant) and device.value == "cpu"
    # `torch.tensor(x)` of a tensor stays where that is.
    if name == "torch.tensor":
        return bool(node.args) and _is_plain_data(node.args[0])
    return True


def _is_plain_data(node: ast.expr) -> bool:
    if isinstance(node, (ast.List, ast.Tuple)):
        return True
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in {"len", "int", "float", "bool"}
    return isinstance(node, ast.Constant)


def _moved(view: ModuleView, name: ast.Name) -> bool:
    """Whether something is assigned to the tensor's storage, which may put it elsewhere."""
    for chain in view.scopes.chains.get(name.id, ()):
        if chain.attributes[:1] in {("data",), ("set_",), ("swap_tensors",)}:
            return True
    return False


def _is_in_device_context(view: ModuleView, node: ast.expr) -> bool:
    return any(
        isinstance(ancestor, (ast.With, ast.AsyncWith))
        and any(_is_device(view, item.context_expr) for item in ancestor.items)
        for ancestor in view.ancestors(node)
    )


def _is_device(view: ModuleView, context: ast.expr) -> bool:
    """Whether a `with` may set the default device: only contexts that surely do not are left out."""
    name = view.possible_name(context.func) if isinstance(context, ast.Call) else ""
    return not name.startswith(("torch.no_grad", "torch.inference_mode", "torch.profiler"))


_SETTERS = ("set_default_device", "set_default_tensor_type")


def _collect(source: SourceText) -> bool | None:
    """Whether a file sets a default device."""
    return any(setter in source.text for setter in _SETTERS) or None


DEFAULT_DEVICES = Collector("distributed.default_device", _SETTERS, _collect, reads_text=True)


def _sets_default_device(project: Project) -> bool:
    return bool(project.records(DEFAULT_DEVICES))
