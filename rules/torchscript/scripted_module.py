"""What is known of a module that is scripted: its class, and the export call that would capture it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torchlift.project import Project
from torchlift.rules.torchscript.trusted_operations import SELF_RETURNING
from torchlift.view import Binding, ModuleView

_AUTO = "torch.export.Dim.AUTO"
_NUMBERS = frozenset({"int", "float", "bool", "str"})


@dataclass(frozen=True)
class ScriptedModule:
    """A module expression given to `torch.jit.script`.

    Attributes:
        text: how it is written, shortened if it is long.
        owner: the file and definition of its class, if it is visible.
    """

    text: str
    owner: tuple[ModuleView, ast.ClassDef] | None

    @property
    def forward(self) -> ast.FunctionDef | None:
        """The class's own `forward`, if it has one."""
        body = self.owner[1].body if self.owner is not None else []
        found = [item for item in body if isinstance(item, ast.FunctionDef) and item.name == "forward"]
        return found[0] if len(found) == 1 else None


def read_scripted_module(view: ModuleView, node: ast.expr, project: Project) -> ScriptedModule:
    """What the expression `node` stands for."""
    text = view.text(node)
    return ScriptedModule(
        text if len(text) <= 50 and "\n" not in text else "module", _class_behind(view, node, project, 0)
    )


def _class_behind(
    view: ModuleView, node: ast.expr, project: Project, depth: int
) -> tuple[ModuleView, ast.ClassDef] | None:
    if depth > 8:
        return None
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in SELF_RETURNING:
            return _class_behind(view, node.func.value, project, depth + 1)
        return _class_named(view, node.func, project)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        owner = _enclosing_class(view, node)
        stores = [
            statement.value
            for statement in (ast.walk(owner) if owner is not None else ())
            if isinstance(statement, ast.Assign)
            and any(isinstance(t, ast.Attribute) and ast.unparse(t) == ast.unparse(node) for t in statement.targets)
        ]
        values = [value for value in stores if not _mentions(value, node)]
        return _class_behind(view, values[0], project, depth + 1) if len(values) == 1 else None
    binding = view.definition(node)
    if binding is None:
        return None
    if binding.kind == "assign" and binding.value is not None:
        return _class_behind(view, binding.value, project, depth + 1)
    if binding.kind == "param" and isinstance(binding.node, ast.arg):
        if binding.name == "self":
            owner = _enclosing_class(view, node)
            return (view, owner) if owner is not None else None
        if binding.node.annotation is not None:
            return _class_named(view, binding.node.annotation, project)
    return None


def _mentions(value: ast.expr, node: ast.expr) -> bool:
    return any(
        isinstance(child, ast.Attribute) and ast.unparse(child) == ast.unparse(node) for child in ast.walk(value)
    )


def _enclosing_class(view: ModuleView, node: ast.AST) -> ast.ClassDef | None:
    return next((ancestor for ancestor in view.ancestors(node) if isinstance(ancestor, ast.ClassDef)), None)


def _class_named(view: ModuleView, node: ast.expr, project: Project) -> tuple[ModuleView, ast.ClassDef] | None:
    binding: Binding | None = view.definition(node)
    if binding is not None and isinstance(binding.node, ast.ClassDef):
        return view, binding.node
    resolution = view.resolve(node)
    found = project.binding(resolution.name, view.path) if resolution is not None and resolution.certain else None
    if found is None or not isinstance(found[1].node, ast.ClassDef):
        return None
    return found[0], found[1].node


@dataclass(frozen=True)
class Draft:
    """An export call for a module whose inputs are not visible.

    Attributes:
        code: the call, with the names of forward's parameters standing for example inputs.
        remarks: what to know about its inputs, sentences.
    """

    code: str
    remarks: str


def draft_export(module: ScriptedModule) -> Draft:
    """The export call that would capture `module`, as far as its class tells."""
    forward = module.forward
    parameters = [*forward.args.posonlyargs, *forward.args.args][1:] if forward is not None else []
    required = len(parameters) - (len(forward.args.defaults) if forward is not None else 0)
    names, shapes, fixed, optional, containers = [], [], [], [], []
    for index, parameter in enumerate(parameters):
        annotation = ast.unparse(parameter.annotation) if parameter.annotation is not None else ""
        if "Optional" in annotation or "None" in annotation or (index >= required and not annotation):
            optional.append(parameter.arg)
            if index >= required:
                continue
        elif index >= required:
            fixed.append(parameter.arg)
            continue
        names.append(parameter.arg)
        if annotation in _NUMBERS:
            fixed.append(parameter.arg)
            shapes.append("None")
        elif any(word in annotation for word in ("List", "list", "Dict", "dict", "Tuple", "tuple")):
            shapes.append("...")
            containers.append(parameter.arg)
        else:
            shapes.append(f"[{_AUTO}] * {parameter.arg}.dim()")
    if not names:
        names, shapes = ["x"], [f"[{_AUTO}] * x.dim()"]
    text = module.text if module.text.endswith(".eval()") else f"{module.text}.eval()"
    code = f"torch.export.export({text}, {_tuple(names)}, dynamic_shapes={_tuple(shapes)})"
    some = "an example tensor" if len(names) == 1 and not containers else "example inputs"
    remarks = [f"Take {some} {_listed(names)} of batch size 2 or more: a size of 1 becomes fixed."]
    if containers:
        remarks.append(
            f"`...` stands for one such list for every tensor in {_listed(containers)}, in the same structure."
        )
    if fixed:
        remarks.append(f"{_listed(fixed)} {'is' if len(fixed) == 1 else 'are'} fixed to the value it is exported with.")
    if optional:
        verb = "is" if len(optional) == 1 else "are"
        remarks.append(
            f"{_listed(optional)} {verb} either given or left out for good: a program exported without it ignores it later."
        )
    return Draft(code, " ".join(remarks))


def _tuple(elements: list[str]) -> str:
    return f"({elements[0]},)" if len(elements) == 1 else f"({', '.join(elements)})"


def _listed(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
