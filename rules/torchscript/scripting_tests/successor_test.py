"""A test of what takes the place of scripting, in the place of a test of scripting: the same checks of another capture."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import ReplaceExpression, Rewrite, Template
from torchlift.rules.torchscript.modules.scripted_module import read_scripted_module
from torchlift.rules.torchscript.scripting_tests.scripted_values import LOAD, SAVE, ScriptedValues
from torchlift.rules.torchscript.scripting_tests.successor_names import without_old_names
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk


def successor(values: ScriptedValues) -> tuple[tuple[Rewrite, ...], list[str]] | None:
    """Rewrites that put `torch.export.export` of a module, or `torch.compile` of a function, where the test scripts.

    Nothing asks for one whole graph: a function that warns, prints or goes another way for other numbers compiles in parts.
    With clauses about names that change with it. None where the test does something with the scripted value that the
    successors do not serve.
    """
    uses = [use for use in values.uses if use.kind != "isinstance"]
    if not uses or any(use.call is None or use.target in {LOAD, SAVE} for use in uses):
        return None
    if values.script_only(values.function) or any(values.helper(node) for node in _calls(values.function)):
        return None
    rewrites: list[Rewrite] = []
    calls: list[tuple[ast.Call, str]] = []
    for use in uses:
        assert use.call is not None
        captured = _captured(values, use, use.call)
        if captured is None:
            return None
        name, changes = captured
        calls.append((use.call, name))
        rewrites += changes
    names, told = without_old_names(values.view, values.function, values.project, calls)
    return (*rewrites, *names), told


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    yield from (child for child in walk(node) if isinstance(child, ast.Call))


def _captured(values: ScriptedValues, use: Use, call: ast.Call) -> tuple[str, tuple[Rewrite, ...]] | None:
    """What captures in the place of `call`, by its qualified name, and the rewrites that write it there."""
    view = values.view
    if call not in values.makers or use.target not in {"torch.jit.script", "torch.jit.trace"}:
        return None
    calls = list(_calls_of(view, call))
    if not calls:
        return None
    module = read_scripted_module(view, call.args[0], values.project)
    spread = any(other.keywords or any(isinstance(a, ast.Starred) for a in other.args) for other in calls)
    if spread and module.kind == "module":
        return None
    inputs = _inputs(view, call, calls) if module.kind == "module" else None
    name = "torch.compile" if inputs is None else "torch.export.export"
    spelled = view.spell(name, call, use)
    if spelled is None:
        return None
    parts = [("module", view.span(call.args[0])), *((f"input{i}", view.span(a)) for i, a in enumerate(inputs or ()))]
    given = ", ".join(f"${part}" for part, _ in parts[1:]) + ("," if len(parts) == 2 else "")
    text = f"{spelled.text}($module)" if inputs is None else f"{spelled.text}($module, ({given})).module()"
    return name, (ReplaceExpression(view.span(call), Template(text, tuple(parts))), *spelled.imports)


def _calls_of(view: ModuleView, call: ast.Call) -> Iterator[ast.Call]:
    """Calls of the value that `call` makes."""
    value = call
    parent = view.parent(value)
    if isinstance(parent, ast.Call) and parent.func is value:
        yield parent
    elif isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        binding = view.bound_by(parent.targets[0])
        for read, _ in view.reads_of(binding) if binding is not None else ():
            around = view.parent(read)
            if isinstance(around, ast.Call) and around.func is read:
                yield around


def _inputs(view: ModuleView, call: ast.Call, calls: list[ast.Call]) -> list[ast.expr] | None:
    """What every call is given, if that is the same and there before the capture."""
    if len({tuple(ast.dump(argument) for argument in other.args) for other in calls}) != 1 or not calls[0].args:
        return None
    for argument in calls[0].args:
        binding = view.definition(argument)
        if binding is None or (getattr(binding.node, "lineno", 0) >= call.lineno and binding.kind != "param"):
            return None
    return calls[0].args
