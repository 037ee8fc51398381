"""Reads the class behind a module: its layers from `__init__`, its behaviour from `forward`."""

from __future__ import annotations

import ast

from torchlift.finding import Safety
from torchlift.project import Project
from torchlift.rules.analysis.values.literals import is_arithmetic, is_false, is_plain_value
from torchlift.rules.analysis.values.self_attributes import self_attribute
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.torchscript.facts.trusted_operations import (
    CONTAINERS,
    FAST_PATH_LAYERS,
    FRESH_LAYERS,
    MODULE_METHODS,
    SEQUENCE_LAYERS,
    STATEFUL_LAYERS,
    STATELESS_LAYERS,
)
from torchlift.rules.torchscript.facts.value_kinds import plain_parameters
from torchlift.rules.torchscript.modules.forward_body import ForwardBody
from torchlift.rules.torchscript.modules.module_facts import CaptureDoubt, ClassFacts
from torchlift.view import ModuleView


def facts_of_call(view: ModuleView, call: ast.Call, project: Project, path: tuple[str, ...]) -> ClassFacts:
    """Facts about the module that a constructor call makes."""
    shown = view.text(call.func) if call.func.end_lineno == call.func.lineno else "a call"
    resolution = view.resolve(call.func)
    if resolution is not None and resolution.certain and resolution.name.startswith("torch.nn."):
        return _torch_layer(view, call, resolution.name, project, path)
    found = definition_of(view, call.func, project, ast.ClassDef)
    if found is None:
        if resolution is not None and resolution.name.startswith("torch.jit."):
            if resolution.name == "torch.jit.trace":
                return ClassFacts(
                    doubts=[CaptureDoubt("a part of it is traced, which only newer releases export (2.13 does)")]
                )
            return ClassFacts(
                doubts=[CaptureDoubt(f"`{resolution.name}` makes part of it, which export rejects", Safety.MANUAL)]
            )
        return ClassFacts(stateful=True, doubts=[CaptureDoubt(f"what `{shown}` returns was not read")])
    owner, definition = found
    key = f"{owner.path}:{definition.lineno}"
    if key in path:
        return ClassFacts(stateful=True, doubts=[CaptureDoubt(f"`{definition.name}` contains itself")])
    return ClassReader(owner, definition, project, (*path, key)).read()


def read_function(view: ModuleView, node: ast.FunctionDef, project: Project) -> ClassFacts:
    """Facts about a module whose `forward` would be the function `node`."""
    empty = ast.ClassDef(name=node.name, bases=[], keywords=[], body=[], decorator_list=[], lineno=node.lineno)
    reader = ClassReader(view, empty, project, (f"{view.path}:{node.lineno}",))
    reader.read_method(node, is_forward=True, bound=False)
    return reader.facts


def _torch_layer(view: ModuleView, call: ast.Call, name: str, project: Project, path: tuple[str, ...]) -> ClassFacts:
    layer = name.removeprefix("torch.nn.")
    if layer in STATELESS_LAYERS | STATEFUL_LAYERS:
        facts = ClassFacts(layer in STATEFUL_LAYERS, parameters=1, fresh=layer in FRESH_LAYERS)
        facts.changes_input = any(
            keyword.arg == "inplace" and not is_false(keyword.value) for keyword in call.keywords
        ) or any(isinstance(argument, ast.Constant) and argument.value is True for argument in call.args)
        if any(keyword.arg is None or keyword.arg == "max_norm" for keyword in call.keywords) or (
            layer == "Embedding" and len(call.args) > 3
        ):
            facts.doubts.append(CaptureDoubt(f"`{name}` is made with arguments that were not read"))
        return facts
    if layer in SEQUENCE_LAYERS:
        reason = f"`{name}` fixes the sequence length at export (a trace did not)"
        return ClassFacts(stateful=True, doubts=[CaptureDoubt(reason)])
    if layer in CONTAINERS:
        facts = ClassFacts(parameters=1 if layer == "Sequential" else None)
        parts: list[ast.expr] = []
        for argument in call.args:
            inner = argument.value if isinstance(argument, ast.Starred) else argument
            if isinstance(inner, (ast.List, ast.Tuple)):
                parts += inner.elts
            elif isinstance(inner, (ast.ListComp, ast.GeneratorExp)):
                parts.append(inner.elt)
            else:
                parts.append(inner)
        previous_fresh = False
        for position, part in enumerate(parts):
            target = part
            if isinstance(part, ast.Name) and (b := view.definition(part)) is not None and b.value is not None:
                target = b.value
            if isinstance(target, ast.Call):
                inner_facts = facts_of_call(view, target, project, path)
                facts.stateful |= inner_facts.stateful
                facts.doubts += inner_facts.doubts
                if inner_facts.changes_input and not previous_fresh:
                    # In front it changes the container's own input; elsewhere something the container was given.
                    facts.changes_input = True
                    if position or layer != "Sequential":
                        facts.doubts.append(CaptureDoubt(f"a part of a `{layer}` works in place on what was not read"))
                previous_fresh = inner_facts.fresh or (inner_facts.changes_input and previous_fresh)
                facts.fresh = previous_fresh
            else:
                facts.doubts.append(CaptureDoubt(f"a part of a `{layer}` was not read"))
                previous_fresh = False
        return facts
    if layer in FAST_PATH_LAYERS:
        reason = (
            f"`{name}` has a fast path in eval mode that sets padded rows to zero, which export does not take; compare only "
            "the rows that are not padded"
        )
        return ClassFacts(stateful=True, doubts=[CaptureDoubt(reason)])
    return ClassFacts(
        stateful=True, doubts=[CaptureDoubt(f"`{name}` is not among the layers known to export like they trace")]
    )


class ClassReader:
    """Reads one class of the project that is used as a module."""

    def __init__(self, view: ModuleView, node: ast.ClassDef, project: Project, path: tuple[str, ...]) -> None:
        self.view = view
        self.node = node
        self.project = project
        self.path = path
        self.facts = ClassFacts()
        self.methods = {
            item.name: item for item in node.body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))
        }
        self.submodules: set[str] = set()
        self.lists: set[str] = set()
        self.plain: set[str] = set()
        self.fixed: set[str] = set()
        self.fresh: set[str] = set()
        self.changing: set[str] = set()
        self.read_methods: set[str] = set()

    def doubt(self, node: ast.AST, what: str, safety: Safety = Safety.UNSAFE) -> None:
        """Note a construct that is not known to capture alike."""
        line = getattr(node, "lineno", self.node.lineno)
        self.facts.doubts.append(CaptureDoubt(f"{what} ({self.view.path}:{line})", safety))

    def read(self) -> ClassFacts:
        """Facts about the class."""
        if not self._plain_module():
            return self.facts
        for statement in self.node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            if isinstance(statement, ast.Pass) or (isinstance(statement, ast.AnnAssign) and statement.value is None):
                continue
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and is_plain_value(statement.value):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                names = {target.id for target in targets if isinstance(target, ast.Name)}
                self.plain |= names
                self.fixed |= names
                continue
            self.doubt(statement, f"the body of `{self.node.name}` holds more than methods and constants")
        for name in self.methods:
            if (name.startswith("__") and name not in {"__init__", "__repr__"}) or name in MODULE_METHODS:
                self.doubt(self.methods[name], f"`{self.node.name}` defines `{name}`")
        if "__init__" in self.methods:
            self._read_init(self.methods["__init__"])
        for chain in self.view.scopes.chains.get(self.node.name, ()):
            if isinstance(getattr(chain.top, "ctx", None), ast.Store):
                self.doubt(chain.top, f"`{self.node.name}` is changed after its definition")
        forward = self.methods.get("forward")
        if forward is None:
            self.doubt(self.node, f"`{self.node.name}` has no `forward` of its own")
        else:
            self.read_method(forward, is_forward=True)
        return self.facts

    def _plain_module(self) -> bool:
        self.facts.stateful = False
        names = []
        for base in self.node.bases:
            resolution = self.view.resolve(base)
            names.append(resolution.name if resolution is not None and resolution.certain else None)
        if names == ["torch.nn.Module"] and not self.node.keywords and not self.node.decorator_list:
            return True
        self.facts.stateful = True
        if any(name in {"torch.jit.ScriptModule"} for name in names):
            self.doubt(
                self.node, f"`{self.node.name}` is a `torch.jit.ScriptModule`, which export rejects", Safety.MANUAL
            )
        elif self.node.decorator_list:
            self.doubt(self.node, f"`{self.node.name}` is decorated")
        else:
            self.doubt(self.node, f"`{self.node.name}` has base classes that were not read")
        return False

    # __init__

    def _read_init(self, init: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for statement in init.body:
            self._init_statement(statement)

    def _init_statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Assert() | ast.Raise():
                return
            case ast.If():
                for inner in [*statement.body, *statement.orelse]:
                    self._init_statement(inner)
            case ast.For():
                for inner in [*statement.body, *statement.orelse]:
                    self._init_statement(inner)
            case ast.Expr(value=ast.Call() as call):
                self._init_call(call)
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                if (attribute := self_attribute(target)) is not None:
                    self._init_attribute(attribute, value)
                elif not isinstance(target, ast.Name):
                    self.doubt(statement, "`__init__` assigns to something that was not followed")
            case _:
                self.doubt(statement, "`__init__` holds a statement that was not read")

    def _init_call(self, call: ast.Call) -> None:
        function = call.func
        if isinstance(function, ast.Attribute):
            base = function.value
            if (
                isinstance(base, ast.Call)
                and isinstance(base.func, ast.Name)
                and base.func.id == "super"
                and function.attr == "__init__"
            ):
                return
            on_self = self_attribute(function) is not None
            if on_self and function.attr in {"register_buffer", "register_parameter"} and call.args:
                if isinstance(call.args[0], ast.Constant):
                    self.plain.add(str(call.args[0].value))
                    return
            elif on_self and function.attr == "add_module" and len(call.args) == 2:
                if isinstance(call.args[0], ast.Constant) and isinstance(call.args[1], ast.Call):
                    self._submodule(str(call.args[0].value), call.args[1])
                    return
            elif (
                (attribute := self_attribute(base)) is not None
                and attribute in self.submodules
                and function.attr == "append"
                and call.args
                and isinstance(call.args[0], ast.Call)
            ):
                self._submodule(attribute, call.args[0])
                return
        resolution = self.view.resolve(function)
        if resolution is not None and resolution.certain and resolution.name.startswith("torch.nn.init."):
            return
        self.doubt(call, "`__init__` calls something that was not read")

    def _submodule(self, name: str, call: ast.Call) -> None:
        facts = facts_of_call(self.view, call, self.project, self.path)
        self.facts.stateful |= facts.stateful
        self.facts.doubts += facts.doubts
        again = name in self.submodules
        self.submodules.add(name)
        if facts.changes_input:
            self.changing.add(name)
        if facts.fresh and not again:
            self.fresh.add(name)
        elif not facts.fresh:
            self.fresh.discard(name)

    def _init_attribute(self, name: str, value: ast.expr) -> None:
        for known in (self.plain, self.fixed, self.submodules, self.fresh):
            if name in known:
                self.doubt(value, f"`self.{name}` is set more than once")
            known.discard(name)
        if is_plain_value(value):
            self.plain.add(name)
            self.fixed.add(name)
            return
        if isinstance(value, ast.Name):
            # A parameter of __init__ may be a module; it counts as one only if forward calls it.
            self.plain.add(name)
            if value.id in plain_parameters(self.methods["__init__"]):
                self.fixed.add(name)
            return
        if isinstance(value, ast.Call):
            known_name = self.view.certain_name(value.func)
            if known_name == "torch.nn.Parameter" or (known_name.startswith("torch.") and known_name.count(".") == 1):
                self.plain.add(name)
                return
            if isinstance(value.func, ast.Name) and value.func.id in {"int", "float", "len", "max", "min", "bool"}:
                self.plain.add(name)
                self.fixed.add(name)
                return
            self._submodule(name, value)
            return
        if is_arithmetic(value):
            self.plain.add(name)
            return
        self.doubt(value, f"`self.{name}` is set to something that was not read")

    # forward

    def read_method(
        self, method: ast.FunctionDef | ast.AsyncFunctionDef, *, is_forward: bool = False, bound: bool = True
    ) -> None:
        """Read one method, or with `bound` False a function, that is called while the module is captured."""
        if method.name in self.read_methods:
            return
        self.read_methods.add(method.name)
        arguments = method.args
        if method.decorator_list:
            self.doubt(method, f"`{method.name}` is decorated with `@{ast.unparse(method.decorator_list[0])}`")
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
            self.doubt(method, f"`{method.name}` takes a variable number of arguments")
        if arguments.defaults:
            self.doubt(method, f"`{method.name}` has arguments with defaults, which export fixes")
        positional = [*arguments.posonlyargs, *arguments.args][1 if bound else 0 :]
        if is_forward:
            if arguments.vararg is None:
                self.facts.parameters = len(positional)
                self.facts.required = len(positional) - len(arguments.defaults)
            for argument in positional:
                annotation = argument.annotation
                if annotation is not None and self.view.possible_name(annotation) != "torch.Tensor":
                    self.doubt(argument, f"`{argument.arg}` of `{method.name}` is not seen to be annotated as a tensor")
        reader = ForwardBody(self, {argument.arg for argument in positional})
        reader.block(method.body)
