"""Example inputs for a scripted module, found where the same function calls it, traces it or exports it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.rules.analysis.places.order import has_surely_run
from torchlift.rules.torchscript.values.example_inputs import ExampleInputs, read_example_inputs
from torchlift.rules.torchscript.values.value_life import ValueLife
from torchlift.view import ModuleView
from torchlift.view.walk import walk

# Captures that take the module first and its inputs second.
_CAPTURES = frozenset({"torch.jit.trace", "torch.export.export", "torch.onnx.export"})


def visible_inputs(view: ModuleView, call: ast.Call, calls: list[ast.Call]) -> ExampleInputs | None:
    """Inputs, known to be tensors, that can be written at the `torch.jit.script` call; None if there are none.

    They are looked for in the call's own `example_inputs`, in calls of the scripted value (`calls`), and in what else
    the function around does with the module.
    """
    for node in _candidates(view, call, calls):
        inputs = read_example_inputs(view, node)
        if inputs.understood and not inputs.repeated and all(_known_at(view, e, call) for e in _parts(inputs)):
            return inputs
    return None


def visible_calls(view: ModuleView, call: ast.Call, life: ValueLife) -> list[tuple[ModuleView, ast.Call]]:
    """Calls of the scripted value, and of the module itself around the `torch.jit.script` call, the nearest first."""
    scripted = [(life.home(found), found) for found in life.calls]
    at_once = view.parent(life.outer)
    if isinstance(at_once, ast.Call) and at_once.func is life.outer and at_once not in life.calls:
        scripted.append((view, at_once))
    plain = sorted(_calls_of(view, call), key=lambda found: abs(found.lineno - call.lineno))
    return [*scripted, *((view, found) for found in plain if found not in life.calls)]


def _calls_of(view: ModuleView, call: ast.Call) -> Iterator[ast.Call]:
    """Calls of what is scripted, under the same name."""
    node = call.args[0]
    binding = view.definition(node)
    if binding is not None and binding.imported is None:
        nodes: list[ast.expr] = [read for read, _ in view.reads_of(binding)]
    elif isinstance(node, (ast.Name, ast.Attribute)):
        around: ast.AST | None = view.function_of(call)
        if ast.unparse(node).startswith("self."):
            around = view.class_of(call) or around
        same = ast.dump(node)
        nodes = [
            child for child in walk(around or view.tree) if isinstance(child, type(node)) and ast.dump(child) == same
        ]
    else:
        return
    for found in nodes:
        parent = view.parent(found)
        if isinstance(parent, ast.Call) and parent.func is found:
            yield parent


def _parts(inputs: ExampleInputs) -> Iterator[ast.expr]:
    if inputs.form in {"tuple", "list"}:
        yield inputs.node
    else:
        yield from (tensor.node for tensor in inputs.tensors)


def _candidates(view: ModuleView, call: ast.Call, calls: list[ast.Call]) -> Iterator[ast.expr]:
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "example_inputs"), None)
    if isinstance(given, ast.Dict) and given.values:
        given = given.values[0]
    if isinstance(given, (ast.List, ast.Tuple)) and given.elts:
        yield given.elts[0]
    module = ast.dump(call.args[0])
    around = view.function_of(call) or view.tree
    for node in [*calls, *(child for child in walk(around) if isinstance(child, ast.Call))]:
        if node in calls or ast.dump(node.func) == module:
            if node.args and not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args):
                yield ast.Tuple(list(node.args), ast.Load())
        elif len(node.args) > 1 and ast.dump(node.args[0]) == module and view.possible_name(node.func) in _CAPTURES:
            yield node.args[1]


def _known_at(view: ModuleView, node: ast.expr, call: ast.Call) -> bool:
    """Whether every name in `node` already has at `call` the meaning it has where `node` stands."""
    scope = view.scope_at(call)
    for child in walk(node):
        if isinstance(child, (ast.NamedExpr, ast.Await, ast.Yield, ast.Lambda)):
            return False
        if not isinstance(child, ast.Name):
            continue
        owner = view.scope_at(child).lookup(child.id)
        if owner is not scope.lookup(child.id):
            return False
        if owner is None:
            continue
        bindings = owner.bindings[child.id]
        if all(binding.imported is not None for binding in bindings) or (owner.kind == "module" and owner is not scope):
            continue
        binding = view.definition(child)
        if binding is None or (
            binding.kind != "param" and (binding.statement is None or not has_surely_run(view, binding.statement, call))
        ):
            return False
    return True
