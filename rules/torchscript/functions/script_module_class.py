"""Reads a class derived from `torch.jit.ScriptModule`: whether it does the same as a plain `nn.Module`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import field

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.analysis.places.own_names import means_its_own
from torchlift.rules.analysis.places.uses_everywhere import uses_everywhere
from torchlift.rules.analysis.values.literals import is_plain_value
from torchlift.rules.analysis.values.self_attributes import self_attribute
from torchlift.rules.torchscript.facts.script_only import OF_MODULES
from torchlift.rules.torchscript.facts.trusted_operations import STATEFUL_LAYERS, STATELESS_LAYERS
from torchlift.rules.torchscript.functions.function_uses import call_doubt
from torchlift.rules.torchscript.functions.passed_values import calls_as_attribute, passed_doubts
from torchlift.rules.torchscript.functions.scripted_function import read_function
from torchlift.rules.torchscript.modules.submodule_walks import first_walk, parts_of
from torchlift.rules.torchscript.values.value_life import ValueLife, follow
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_BASE = "torch.jit.ScriptModule"
_METHOD = "torch.jit.script_method"
_CONSTANTS = "__constants__"
_PLAIN = frozenset({"int", "float", "bool"})
# Methods that an instance has as an `nn.Module`, whatever its base.
_MODULE = frozenset(
    """eval train to cpu cuda half float double bfloat16 parameters named_parameters buffers named_buffers modules
    named_modules children named_children state_dict load_state_dict requires_grad_ zero_grad forward apply
    register_forward_hook register_forward_pre_hook training""".split()
)


@dataclass
class ScriptClass:
    """What is known of one class.

    Attributes:
        methods: decorator expressions of its `torch.jit.script_method` methods.
        inits: `torch.jit.ScriptModule` in `torch.jit.ScriptModule.__init__(self)` calls.
        wrapped: calls of `torch.jit.Attribute`, which a plain module reads as a pair of value and type.
        constants: statements that set `__constants__`, which only the compiler reads.
        refusals: clauses about what a plain module does not serve.
        doubts: clauses about what was not read.
        branches: line of the first branch or loop in a compiled method.
    """

    methods: list[ast.expr] = field(default_factory=list)
    inits: list[ast.expr] = field(default_factory=list)
    wrapped: list[ast.Call] = field(default_factory=list)
    constants: list[ast.stmt] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    branches: int | None = None


def read_script_class(view: ModuleView, node: ast.ClassDef, project: Project, *, drops: bool = False) -> ScriptClass:
    """Facts about the class that `node` defines.

    Args:
        view: its file.
        node: the class.
        project: the project.
        drops: whether TorchScript goes from the project: what was not read runs as it is written then.
    """
    facts = ScriptClass()
    _read_shape(view, node, facts)
    own = _read_init(view, node, facts)
    if drops:
        facts.doubts.clear()
        facts.constants += _constants(view, node, project)
        if len(node.bases) > 1:
            facts.doubts.append(f"`{node.name}` has further bases, and the order of its bases changes")
    for item in _methods(node.body):
        _read_method(view, item, project, own, facts, drops)
    for child in walk(node):
        if isinstance(child, ast.Attribute):
            name = self_attribute(child)
            if name in OF_MODULES:
                facts.refusals.append(f"line {child.lineno} uses `self.{name}`")
        elif isinstance(child, ast.Call) and _named(view, child.func) == "torch.jit.Attribute":
            facts.wrapped.append(child)
    if (
        not {"module", "unread"}.isdisjoint(own.values())
        and (place := first_walk(project, parts_of(view, node, project), view.path)) is not None
    ):
        facts.doubts.append(
            f"{place} asks something for its class, and where that is a part of `{node.name}`, `isinstance` finds it from now "
            "on: the parts of a ScriptModule are no `torch.nn` classes"
        )
    _read_uses(view, node, project, facts, drops)
    return facts


def _methods(body: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Methods of a class, those in branches of its body with them."""
    for item in body:
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield item
        elif not isinstance(item, ast.ClassDef):
            parts = (*getattr(item, "handlers", ()), *getattr(item, "cases", ()))
            for block in ("body", "orelse", "finalbody"):
                yield from _methods(getattr(item, block, ()))
            for part in parts:
                yield from _methods(part.body)


def script_method_of(view: ModuleView, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.expr | None:
    """The `torch.jit.script_method` decorator of a method, if it has one."""
    return next((item for item in node.decorator_list if _named(view, item) == _METHOD), None)


def _may_compile(view: ModuleView, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.Name | None:
    """A decorator of a method whose name is bound to `torch.jit.script_method` among others, if there is one."""
    for item in node.decorator_list:
        scope = view.scope_at(item).lookup(item.id) if isinstance(item, ast.Name) else None
        for bound in scope.bindings[item.id] if scope is not None and isinstance(item, ast.Name) else ():
            if isinstance(item, ast.Name) and bound.value is not None and _named(view, bound.value) == _METHOD:
                return item
    return None


def is_script_base(view: ModuleView, node: ast.ClassDef) -> bool:
    """Whether a class derives from `torch.jit.ScriptModule` itself."""
    return any(_named(view, base) == _BASE for base in node.bases)


def _constants(view: ModuleView, node: ast.ClassDef, project: Project) -> list[ast.stmt]:
    """The statements that set `__constants__`, where no code of the project reads it."""
    found: list[ast.stmt] = []
    for item in node.body:
        match item:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if name == _CONSTANTS and is_plain_value(value):
                found.append(item)
    return [] if found and project.files_with_attribute(_CONSTANTS, ()) else found


def _named(view: ModuleView, node: ast.expr) -> str:
    return view.certain_name(node)


def _read_shape(view: ModuleView, node: ast.ClassDef, facts: ScriptClass) -> None:
    if len(node.bases) > 1 or node.keywords or node.decorator_list:
        facts.doubts.append(f"`{node.name}` has further bases or decorators")
    for item in node.body:
        match item:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Pass() | ast.Expr(value=ast.Constant()):
                continue
            case ast.AnnAssign(value=None):
                continue
            case ast.Assign(value=value) | ast.AnnAssign(value=value) if is_plain_value(value):
                continue
            case _:
                facts.doubts.append(
                    f"the body of `{node.name}` holds more than methods and constants (line {item.lineno})"
                )


def _read_init(view: ModuleView, node: ast.ClassDef, facts: ScriptClass) -> dict[str, str]:
    """Kinds of the attributes that `__init__` sets."""
    own = {"training": "bool"}
    for item in node.body:
        if isinstance(item, (ast.Assign, ast.AnnAssign)) and isinstance(item.value, ast.Constant):
            targets = item.targets if isinstance(item, ast.Assign) else [item.target]
            own |= {t.id: type(item.value.value).__name__ for t in targets if isinstance(t, ast.Name)}
    init = next((item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"), None)
    for statement in init.body if init is not None else ():
        match statement:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                continue
            case ast.Expr(value=ast.Call() as call):
                _read_init_call(view, node, call, own, facts)
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                name = self_attribute(target)
                if name is None:
                    if not isinstance(target, ast.Name):
                        facts.doubts.append(
                            f"`__init__` stores into something that was not read (line {statement.lineno})"
                        )
                    continue
                if name in own and name != "training":
                    facts.doubts.append(f"`self.{name}` is set twice")
                own[name] = _kind_of(view, init, value)
            case _:
                facts.doubts.append(f"`__init__` holds a statement that was not read (line {statement.lineno})")
    return own


def _read_init_call(
    view: ModuleView, node: ast.ClassDef, call: ast.Call, own: dict[str, str], facts: ScriptClass
) -> None:
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr == "__init__":
        base = function.value
        if isinstance(base, ast.Call) and isinstance(base.func, ast.Name) and base.func.id == "super":
            if call.args or call.keywords:
                facts.refusals.append(f"line {call.lineno} passes options to `ScriptModule.__init__`")
            return
        if _named(view, base) == _BASE:
            facts.inits.append(base)
            if len(call.args) > 1 or call.keywords:
                facts.refusals.append(f"line {call.lineno} passes options to `ScriptModule.__init__`")
            return
    if (
        isinstance(function, ast.Attribute)
        and self_attribute(function) in {"register_buffer", "register_parameter"}
        and call.args
        and isinstance(call.args[0], ast.Constant)
    ):
        own[str(call.args[0].value)] = "tensor"
        return
    if _named(view, function).startswith("torch.nn.init."):
        return
    facts.doubts.append(f"`__init__` of `{node.name}` calls something that was not read (line {call.lineno})")


def _kind_of(view: ModuleView, init: ast.FunctionDef | None, value: ast.expr) -> str:
    if isinstance(value, ast.Constant):
        kind = type(value.value).__name__
        return kind if kind in _PLAIN else "unread"
    if isinstance(value, ast.Name) and init is not None:
        for argument in [*init.args.args, *init.args.kwonlyargs]:
            if argument.arg == value.id and isinstance(argument.annotation, ast.Name):
                return argument.annotation.id if argument.annotation.id in _PLAIN else "unread"
    if isinstance(value, ast.Call):
        name = _named(view, value.func)
        if name == "torch.nn.Parameter":
            return "tensor"
        if name == "torch.nn.Sequential" and not value.keywords:
            return "module" if all(_kind_of(view, init, part) == "module" for part in value.args) else "unread"
        if name.removeprefix("torch.nn.") in STATELESS_LAYERS | STATEFUL_LAYERS:
            return "module"
    return "unread"


def _read_method(
    view: ModuleView,
    method: ast.FunctionDef | ast.AsyncFunctionDef,
    project: Project,
    own: dict[str, str],
    facts: ScriptClass,
    drops: bool,
) -> None:
    decorator = script_method_of(view, method)
    if decorator is None and (unsure := _may_compile(view, method)) is not None:
        facts.refusals.append(
            f"`{view.text(unsure)}` on line {unsure.lineno} may be `torch.jit.script_method`, under which a method of a plain "
            "module cannot be called"
        )
        return
    if decorator is None:
        if method.name != "__init__" and not drops:
            facts.doubts.append(f"`{method.name}` is not compiled and was not read (line {method.lineno})")
        return
    facts.methods.append(decorator)
    if len(method.decorator_list) > 1:
        facts.doubts.append(f"`{method.name}` has further decorators")
    known = {name: kind for name, kind in own.items() if kind != "unread"}
    read = read_function(view, method, project, known, known_only=drops)
    facts.doubts += read.doubts
    facts.refusals += read.fails
    if drops:
        calls = calls_as_attribute(view, method.name)
        facts.doubts += passed_doubts(view, method, calls, read.numbers, project, method=True)
    if read.branches is not None and facts.branches is None:
        facts.branches = read.branches


def _read_uses(view: ModuleView, node: ast.ClassDef, project: Project, facts: ScriptClass, drops: bool) -> None:
    binding = view.bound_by(node)
    if binding is None:
        facts.doubts.append(f"the uses of `{node.name}` were not found")
        return
    found, unknown = uses_everywhere(view, binding, project)
    for home, read in found:
        if drops and home is view and isinstance(heir := home.parent(read), ast.ClassDef):
            _read_heir(view, heir, project, facts)
        else:
            _read_use(home, node.name, read, project, facts, drops)
    seen = {view.path, *(home.path for home, _ in found)}
    missed = [path for path in project.files_holding(node.name) if path not in seen] if drops and not unknown else []
    missed = [path for path in missed if not means_its_own(project, path, node.name)]
    facts.doubts += unknown or [f"{path} names it, and no use was found there" for path in missed[:1]]


def _read_heir(view: ModuleView, heir: ast.ClassDef, project: Project, facts: ScriptClass) -> None:
    """A class of the same file that derives from the class, and becomes a plain module with it."""
    read = read_script_class(view, heir, project, drops=True)
    facts.methods += read.methods
    facts.inits += read.inits
    facts.wrapped += read.wrapped
    facts.constants += read.constants
    facts.refusals += read.refusals
    facts.doubts += read.doubts
    facts.branches = facts.branches or read.branches


def _read_use(view: ModuleView, name: str, read: ast.expr, project: Project, facts: ScriptClass, drops: bool) -> None:
    place = f"{view.path}:{read.lineno}"
    parent = view.parent(read)
    match parent:
        case ast.Call(func=function) if function is read:
            _read_instance(view, name, parent, project, facts, drops)
        case ast.Call(func=ast.Name(id="super" | "isinstance" | "issubclass")):
            return
        case ast.ClassDef(name=other):
            facts.refusals.append(f"`{other}` at {place} derives from it and has to change with it")
        case ast.arg() | ast.AnnAssign() | ast.FunctionDef():
            return
        case ast.Expr():
            return
        case ast.Call(func=function) if drops and view.certain_name(function).startswith("torch.jit."):
            facts.refusals.append(f"{place} passes the class to `{view.certain_name(function)}`")
        case _ if not drops:
            facts.doubts.append(f"{place} hands the class `{name}` on")


def _at(life: ValueLife, node: ast.AST) -> str:
    """The place of a node with its file, which may be another one than that of the class."""
    return f"{life.home(node).path}:{getattr(node, 'lineno', 0)}"


def _read_instance(
    view: ModuleView, name: str, call: ast.Call, project: Project, facts: ScriptClass, drops: bool
) -> None:
    life = follow(view, call, project)
    for save in life.saves:
        facts.refusals.append(
            f"an instance is saved at {_at(life, save.call)}, which a plain module does with `torch.export.save` after "
            "`torch.export.export`"
        )
    for called in life.calls:
        _read_call(life, called, facts, drops=drops)
    for frozen in life.frozen:
        facts.refusals.append(f"an instance is frozen at {_at(life, frozen)}")
    for obstacle in life.obstacles:
        home = life.home(obstacle.node)
        parent = home.parent(obstacle.node)
        place = _at(life, obstacle.node)
        if isinstance(parent, ast.Attribute) and parent.value is obstacle.node:
            if parent.attr in OF_MODULES:
                facts.refusals.append(f"an instance is asked for `.{parent.attr}` ({place})")
            elif parent.attr not in _MODULE and not drops:
                facts.doubts.append(f"an instance is asked for `.{parent.attr}` ({place})")
            elif isinstance(direct := home.parent(parent), ast.Call) and parent.attr == "forward":
                _read_call(life, direct, facts, home, drops=drops)
        elif drops:
            if "torch.jit." in obstacle.reason:
                facts.refusals.append(f"an instance {obstacle.reason.partition(':')[0]} ({place})")
        elif isinstance(obstacle.node, ast.Attribute) and isinstance(obstacle.node.ctx, ast.Store):
            facts.doubts.append(f"an instance is kept as `.{obstacle.node.attr}` ({place})")
        elif "torch.jit." in obstacle.reason:
            facts.refusals.append(f"an instance {obstacle.reason.partition(':')[0]} ({place})")
        else:
            facts.doubts.append(f"an instance {obstacle.reason} ({place})")


def _read_call(
    life: ValueLife, call: ast.Call, facts: ScriptClass, home: ModuleView | None = None, *, drops: bool
) -> None:
    doubt = call_doubt(home or life.home(call), call, drops=drops)
    if doubt is not None:
        facts.doubts.append(f"{(home or life.home(call)).path}:{call.lineno} calls an instance {doubt}")
