"""What is traced, as a module that can be exported: the module itself, or a small wrapper around a function or lambda.

A wrapper registers every module it calls as a submodule. One that merely holds a bound method or closes over a module
would turn all parameters into nameless constants (measured on torch 2.13.0: `state_dict()` is empty).
"""

from __future__ import annotations

import ast
import re

from torchlift.finding import Template
from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.torchscript.captures.export_arguments import CannotExport
from torchlift.rules.torchscript.modules.captured_module import CapturedModule, read_captured_module
from torchlift.rules.torchscript.modules.module_class import read_function
from torchlift.rules.torchscript.modules.module_facts import CaptureDoubt
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk

# Methods that loggers, lists, dicts and strings have and modules do not.
_NOT_OF_MODULES = frozenset(
    {"debug", "info", "warning", "error", "exception", "log", "append", "extend", "get", "items", "keys", "values",
     "format", "join", "split", "add", "update", "pop", "start", "stop"}
)  # fmt: skip
_CONSTANTS = CaptureDoubt(
    "a traced lambda takes no parameters that need gradients (a RuntimeError), and the program holds the module's own parameters"
)


@dataclass
class Entry:
    """The first argument of an export call.

    Attributes:
        module: expression that replaces the traced one; None to keep it as it is.
        facts: what is known of the module behind it.
        before: a class to define in front of the statement that captures.
        wrapped: whether a function is traced and `before` wraps it.
    """

    module: Template | None
    facts: CapturedModule
    before: tuple[str, ...] = ()
    wrapped: bool = False


def read_entry(view: ModuleView, node: ast.expr, at: ast.Call, project: Project, count: int | None) -> Entry:
    """How to export what `node`, the first argument of the capture `at`, stands for.

    Args:
        view: the file.
        node: the traced expression.
        at: the capture.
        project: the project.
        count: number of example inputs, if known.

    Raises:
        CannotExport: there is no form that is right.
    """
    function = definition_of(view, node, project, ast.FunctionDef)
    if isinstance(node, ast.Lambda):
        return _lambda(view, node, at, project)
    if function is not None:
        return _wrapped_function(view, node, at, project, function, count)
    if isinstance(node, ast.Attribute) and node.attr == "forward":
        facts = read_captured_module(view, node.value, at, project)
        return Entry(Template("$module", (("module", view.span(node.value)),)), facts)
    _check_module(view, node, project)
    return Entry(None, read_captured_module(view, node, at, project))


def _check_module(view: ModuleView, node: ast.expr, project: Project) -> None:
    """Refuse what is surely no module: `torch.export.export` raises ValueError on it."""
    wrap = "`torch.export` takes a module, so call it from the `forward` of one that holds every module it uses"
    name = view.certain_name(node.func if isinstance(node, ast.Call) else node)
    if isinstance(node, ast.Call):
        if name == "functools.partial":
            raise CannotExport(f"it traces a `functools.partial`; {wrap}")
        return
    if name.startswith("torch.") and name.rpartition(".")[2].islower():
        raise CannotExport(f"it traces the function `{name}`; {wrap}")
    if isinstance(node, ast.Attribute):
        defined = re.compile(rb"\bdef\s+" + re.escape(node.attr.encode()) + rb"\s*\(")
        if any(defined.search(project.data(path)) for path in project.files_holding(f"def {node.attr}")):
            stored = re.compile(rb"\." + re.escape(node.attr.encode()) + rb"\s*(?::[^=\n]+)?=(?!=)")
            if any(stored.search(project.data(path)) for path in project.files_holding(f".{node.attr}")):
                raise CannotExport(
                    f"`{node.attr}` is a method of one class here and holds a value in another, and which of them it traces is not "
                    f"known. If it is the method: {wrap}"
                )
            raise CannotExport(f"it traces the method `{node.attr}`; {wrap}")


def _wrapped_function(
    view: ModuleView,
    node: ast.expr,
    at: ast.Call,
    project: Project,
    function: tuple[ModuleView, ast.FunctionDef],
    count: int | None,
) -> Entry:
    home, definition = function
    arguments = definition.args
    names = [argument.arg for argument in [*arguments.posonlyargs, *arguments.args]]
    required = len(names) - len(arguments.defaults)
    if arguments.vararg or any(default is None for default in arguments.kw_defaults):
        raise CannotExport(
            f"it traces the function `{definition.name}`, which takes any number of inputs; `torch.export` takes a module "
            "with a fixed signature, so wrap it by hand"
        )
    if count is None and arguments.defaults:
        raise CannotExport(
            f"it traces the function `{definition.name}` and it is not known how many of its arguments are given; wrap it "
            "in an `nn.Module` that holds every module it calls as a submodule"
        )
    if count is not None:
        if not required <= count <= len(names):
            raise CannotExport(f"`{definition.name}` takes {len(names)} inputs and the trace gives {count}")
        names = names[:count]
    _check_place(view, at)
    facts = CapturedModule(f"`{definition.name}`", stateful=False, evaluated=True)
    read = read_function(home, definition, project)
    facts.doubts += (
        CaptureDoubt(doubt.reason.replace("`forward`", f"`{definition.name}`"), doubt.safety) for doubt in read.doubts
    )
    facts.stateful = read.stateful
    used = [
        binding.name
        for binding in _called_variables(home, definition, set(names))
        if binding.kind in {"assign", "param", "target"}
    ]
    if used:
        facts.doubts.append(
            CaptureDoubt(
                f"`{definition.name}` calls {', '.join(f'`{name}`' for name in sorted(set(used)))} from around it, whose "
                "parameters become constants of the program unless you hand it to the wrapper as a submodule"
            )
        )
    title = view.fresh_name(_class_name(definition.name), at)
    called = view.text(node)
    lines = (
        f"class {title}(torch.nn.Module):",
        f"    def forward({', '.join(['self', *names])}):",
        f"        return {called}({', '.join(names)})",
        *_blank(view, at),
    )
    return Entry(Template(f"{title}()"), facts, lines, wrapped=True)


def _lambda(view: ModuleView, node: ast.Lambda, at: ast.Call, project: Project) -> Entry:
    arguments = node.args
    names = [argument.arg for argument in [*arguments.posonlyargs, *arguments.args]]
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
        raise CannotExport("it traces a lambda with more than plain parameters; wrap it in an `nn.Module` by hand")
    body = node.body
    if (
        isinstance(body, ast.Call)
        and isinstance(body.func, (ast.Name, ast.Attribute))
        and not body.keywords
        and [argument.id if isinstance(argument, ast.Name) else None for argument in body.args] == names
        and view.resolve(body.func) is None
        and (isinstance(body.func, ast.Name) or body.func.attr == "forward")
    ):
        module = body.func.value if isinstance(body.func, ast.Attribute) else body.func
        facts = read_captured_module(view, module, at, project)
        facts.doubts.append(_CONSTANTS)
        return Entry(Template("$module", (("module", view.span(module)),)), facts)
    _check_place(view, at)
    text = view.text(body)
    if "\n" in text or "\r" in text:
        raise CannotExport("it traces a lambda of several lines; wrap it in an `nn.Module` by hand")
    modules = _called_variables(view, node, set(names))
    edits: list[tuple[int, str]] = []
    start = view.span(body).start
    for binding in modules:
        if binding.name in {"self", *names}:
            raise CannotExport("it traces a lambda whose names cannot be kept apart in a module; wrap it by hand")
        edits += (
            (view.span(child).start - start, binding.name)
            for child in walk(body)
            if isinstance(child, ast.Name) and child.id == binding.name
        )
    for offset, name in sorted(edits, reverse=True):
        text = f"{text[:offset]}self.{name}{text[offset + len(name) :]}"
    held = sorted({binding.name for binding in modules})
    if "self" in {child.id for child in walk(body) if isinstance(child, ast.Name)}:
        raise CannotExport("it traces a lambda that uses `self`; wrap what it calls in an `nn.Module` by hand")
    title = view.fresh_name("TracedEntry", at)
    lines = [f"class {title}(torch.nn.Module):"]
    if held:
        lines += [f"    def __init__(self, {', '.join(held)}):", "        super().__init__()"]
        lines += [f"        self.{name} = {name}" for name in held]
        lines += [""]
    lines += [f"    def forward({', '.join(['self', *names])}):", f"        return {text}", *_blank(view, at)]
    facts = CapturedModule("the lambda", stateful=bool(held), evaluated=not held)
    function = ast.FunctionDef(
        name="lambda", args=arguments, body=[ast.Return(value=body, lineno=body.lineno)], decorator_list=[],
        lineno=node.lineno,
    )  # fmt: skip
    read = read_function(view, function, project)
    facts.doubts += (
        CaptureDoubt(doubt.reason.replace("`forward`", "the lambda"), doubt.safety) for doubt in read.doubts
    )
    if held:
        facts.doubts.append(_CONSTANTS)
    return Entry(Template(f"{title}({', '.join(held)})"), facts, tuple(lines), wrapped=True)


def _blank(view: ModuleView, at: ast.Call) -> tuple[str, ...]:
    """Lines between the class and the statement behind it."""
    return ("", "") if view.scope_at(at).kind == "module" else ("",)


def _check_place(view: ModuleView, at: ast.Call) -> None:
    """A class can be put in front of the statement only where its names mean the same there."""
    if view.scope_at(at).kind in {"comprehension", "lambda", "class"}:
        raise CannotExport("it traces a function inside an expression; wrap the function in an `nn.Module` by hand")


def _called_variables(view: ModuleView, node: ast.Lambda | ast.FunctionDef, parameters: set[str]) -> list[Binding]:
    """Variables from around a function that it calls, or whose methods it calls: they may be modules."""
    found: dict[str, Binding] = {}
    for child in walk(node):
        if not isinstance(child, ast.Call):
            continue
        root: ast.expr = child.func
        if isinstance(root, ast.Attribute) and root.attr in _NOT_OF_MODULES:
            continue
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in parameters:
            continue
        scope = view.scope_at(root)
        owner = scope.lookup(root.id)
        inside = view.scopes.scope_of.get(node)
        if owner is None or owner is inside:
            continue
        bindings = owner.bindings[root.id]
        if all(binding.kind in {"assign", "param", "target", "augmented", "walrus"} for binding in bindings):
            found.setdefault(root.id, bindings[-1])
    return list(found.values())


def _class_name(function: str) -> str:
    words = "".join(part[:1].upper() + part[1:] for part in function.split("_") if part)
    return f"{words or 'Traced'}Module"
