"""Whether the module that is captured behaves the same under tracing and under export, read from its class.

Only constructs that are known to agree are accepted. Everything else becomes a `CaptureDoubt` that names it: the traps of
`torch.export` are silent more often than not, so what was not read counts as not checked.
"""

from __future__ import annotations

import ast

from torchlift.project import Project
from torchlift.rules.torchscript.facts.trusted_operations import HARMLESS_METHODS, SELF_RETURNING
from torchlift.rules.torchscript.modules.module_class import facts_of_call
from torchlift.rules.torchscript.modules.module_facts import CapturedModule, CaptureDoubt
from torchlift.view import Binding, ModuleView


def read_captured_module(view: ModuleView, node: ast.expr, at: ast.expr, project: Project) -> CapturedModule:
    """What is known of the module expression `node` that is captured by the call `at`."""
    module = CapturedModule(view.text(node) if node.end_lineno == node.lineno else "the module")
    creation = _creation(view, node, module, depth=0)
    _read_mode(view, node, at, module)
    if creation is None:
        module.doubts.append(CaptureDoubt(f"the class of `{module.expression}` is not visible here"))
        return module
    facts = facts_of_call(view, creation, project, ())
    module.stateful = facts.stateful
    module.parameters = facts.parameters
    module.required = facts.required
    module.doubts += facts.doubts
    return module


def _creation(view: ModuleView, node: ast.expr, module: CapturedModule, depth: int) -> ast.Call | None:
    """The call that makes the module, through variables and methods that return the module itself."""
    if depth > 12:
        return None
    if isinstance(node, ast.Name):
        binding = view.definition(node)
        if binding is None or binding.kind != "assign" or binding.value is None:
            return None
        return _creation(view, binding.value, module, depth + 1)
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
    while len(found) < 12:
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
    if statement is capture or _surely_later(view, read, statement, capture):
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


def _surely_later(view: ModuleView, read: ast.Name, statement: ast.stmt, capture: ast.stmt) -> bool:
    """Whether a read can only run after the capture: later in the same function, and not in a loop around both."""
    if (statement.lineno, statement.col_offset) <= (capture.lineno, capture.col_offset):
        return False
    if view.function_of(read) is not view.function_of(capture):
        return False
    if any(isinstance(ancestor, (ast.Lambda, ast.ClassDef)) for ancestor in view.ancestors(read)):
        return False
    around = {id(a) for a in view.ancestors(capture) if isinstance(a, (ast.For, ast.AsyncFor, ast.While))}
    return not any(id(ancestor) in around for ancestor in view.ancestors(read))
