"""Whether the module that is captured behaves the same under tracing and under export, read from its class.

Only constructs that are known to agree are accepted. Everything else becomes a `CaptureDoubt` that names it: the traps of
`torch.export` are silent more often than not, so what was not read counts as not checked.
"""

from __future__ import annotations

import ast
from dataclasses import field

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.analysis.places.order import run_before, runs_later
from torchlift.rules.analysis.values.value_of import MOST_STEPS, assigned_value
from torchlift.rules.torchscript.facts.trusted_operations import HARMLESS_METHODS, SELF_RETURNING
from torchlift.rules.torchscript.modules.module_class import facts_of_call
from torchlift.rules.torchscript.modules.module_facts import CaptureDoubt
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk


@dataclass
class CapturedModule:
    """The module instance that is traced.

    Attributes:
        expression: a description for messages.
        evaluated: whether `.eval()` surely ran on it before the capture, and `.train()` not since.
        moved: whether it (or its parameters) may be on another device than the CPU.
        stateful: whether it has layers whose behaviour depends on train and eval mode.
        parameters: number of positional parameters of `forward`, without `self`; None if unknown.
        required: how many of them have no default; None if unknown.
        doubts: everything that speaks against a safe rewrite.
    """

    expression: str
    evaluated: bool = False
    moved: bool = False
    stateful: bool = True
    parameters: int | None = None
    required: int | None = None
    doubts: list[CaptureDoubt] = field(default_factory=list)


def read_captured_module(view: ModuleView, node: ast.expr, at: ast.expr, project: Project) -> CapturedModule:
    """What is known of the module expression `node` that is captured by the call `at`."""
    module = CapturedModule(view.text(node) if node.end_lineno == node.lineno else "the module")
    creation = _creation(view, node, module, depth=0)
    _read_mode(view, node, at, module)
    if creation is None:
        module.doubts.append(CaptureDoubt(f"the class of `{module.expression}` was not found"))
        return module
    facts = facts_of_call(view, creation, project, ())
    module.stateful = facts.stateful
    module.parameters = facts.parameters
    module.required = facts.required
    module.doubts += facts.doubts
    return module


def _creation(view: ModuleView, node: ast.expr, module: CapturedModule, depth: int) -> ast.Call | None:
    """The call that makes the module, through variables and methods that return the module itself."""
    if depth > MOST_STEPS:
        return None
    if isinstance(node, ast.Name):
        value = assigned_value(view, node)
        return _creation(view, value, module, depth + 1) if value is not None else None
    if not isinstance(node, ast.Call):
        return None
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr in SELF_RETURNING:
        inner = _creation(view, function.value, module, depth + 1)
        if inner is not None:
            if function.attr in {"to", "cuda"}:
                module.moved = True
            if depth == 0:
                module.evaluated = _chain_mode(node)
            return inner
    return node


def _chain_mode(node: ast.expr | None) -> bool:
    """Whether the outermost mode switch of a chain of method calls is `.eval()`."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in {"eval", "train"}:
            return node.func.attr == "eval"
        node = node.func.value
    return False


def _read_mode(view: ModuleView, node: ast.expr, at: ast.expr, module: CapturedModule) -> None:
    """Follow the variable that holds the module: was `.eval()` called last, and does nothing else get hold of it."""
    capture = view.statement(at)
    inside = {id(capture), *(id(ancestor) for ancestor in view.ancestors(capture))}
    if isinstance(node, ast.Name) and (bound := view.definition(node)) is not None and isinstance(bound.node, ast.arg):
        module.evaluated = _evaluated_in_front(view, node.id, at)
    for depth, binding in enumerate(_variables(view, node)):
        statement = binding.statement
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or (
            isinstance(statement, ast.Assign) and len(statement.targets) > 1
        ):
            module.doubts.append(CaptureDoubt(f"`{binding.name}` is not the only name of the module"))
        if depth == 0:
            module.evaluated = _chain_mode(binding.value)
        for read, _ in view.reads_of(binding):
            _read_use(view, read, capture, inside, module, follows_eval=depth == 0)
        if depth == 0 and any(_switched_elsewhere(view, read, capture) for read, _ in view.reads_of(binding)):
            module.evaluated = False


def _evaluated_in_front(view: ModuleView, parameter: str, at: ast.expr) -> bool:
    """Whether a function calls `.eval()` on what it was passed, and up to `at` only reads attributes of it."""
    for statement in run_before(view, at):
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="eval"))) if (
                name == parameter
            ):
                return True
        reads = (part for part in walk(statement) if isinstance(part, ast.Name) and part.id == parameter)
        if not all(_only_asks(view, read) for read in reads):
            return False
    return False


def _only_asks(view: ModuleView, read: ast.expr) -> bool:
    """Whether nothing but attributes of a module is read, or a method that changes nothing called."""
    chain = read
    while isinstance(parent := view.parent(chain), ast.Attribute):
        chain = parent
    called = isinstance(parent, ast.Call) and parent.func is chain
    return (
        isinstance(chain, ast.Attribute)
        and isinstance(chain.ctx, ast.Load)
        and (not called or chain.attr in HARMLESS_METHODS)
    )


def _switched_elsewhere(view: ModuleView, read: ast.Name, capture: ast.stmt) -> bool:
    """Whether a function, which may run at any time, switches the mode of the module or hands it on."""
    if view.function_of(read) is view.function_of(capture) and not any(
        isinstance(ancestor, ast.Lambda) for ancestor in view.ancestors(read)
    ):
        return False
    parent = view.parent(read)
    if isinstance(parent, ast.Attribute):
        return parent.attr not in HARMLESS_METHODS
    return not (isinstance(parent, ast.Call) and parent.func is read)


def _variables(view: ModuleView, node: ast.expr) -> list[Binding]:
    """The bindings that the module passes through, from the capture back to its creation."""
    found: list[Binding] = []
    while len(found) < MOST_STEPS:
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SELF_RETURNING:
            node = node.func.value
        binding = view.definition(node)
        if binding is None or binding.kind != "assign" or binding.value is None or binding in found:
            break
        found.append(binding)
        node = binding.value
    return found


def _read_use(
    view: ModuleView, read: ast.Name, capture: ast.stmt, inside: set[int], module: CapturedModule, *, follows_eval: bool
) -> None:
    parent = view.parent(read)
    statement = view.statement(read)
    if statement is capture or runs_later(view, read, capture):
        return
    call = view.parent(parent) if isinstance(parent, ast.Attribute) else None
    if isinstance(parent, ast.Call) and parent.func is read:
        return
    if isinstance(parent, ast.Attribute) and isinstance(call, ast.Call) and call.func is parent:
        if parent.attr in {"to", "cuda"}:
            module.moved = True
        if parent.attr == "eval" and follows_eval:
            block = view.block(statement)
            straight = any(id(other) in inside for other in block[block.index(statement) + 1 :])
            if straight and isinstance(view.parent(call), (ast.Expr, ast.Assign)):
                module.evaluated = True
            return
        if parent.attr == "train":
            module.evaluated = False
            return
        if parent.attr in HARMLESS_METHODS:
            return
    if isinstance(parent, ast.Attribute):
        what = f"`.{parent.attr}` of it is used on line {read.lineno}"
    else:
        what = f"it is handed on at line {read.lineno}"
        module.evaluated = False
    module.doubts.append(CaptureDoubt(f"`{read.id}` may be changed before the capture: {what}"))
