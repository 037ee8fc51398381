"""What the parameters of a function are called with, where all of its callers are known."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torchlift.project import Project
from torchlift.view import ModuleView

SPAWN = frozenset({"torch.multiprocessing.spawn", "torch.multiprocessing.start_processes"})
"""What runs a function in several processes, with the index of the process as its first argument."""


def named_arguments(call: ast.Call, parameters: Sequence[str]) -> dict[str, ast.expr] | None:
    """Arguments by parameter name; None where `*` or `**` hides some, or there are more than `parameters`."""
    if any(keyword.arg is None for keyword in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    if len(call.args) > len(parameters):
        return None
    return dict(zip(parameters, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}


def is_spawned_index(view: ModuleView, parameter: ast.arg) -> bool:
    """Whether `parameter` is the first one of a function that this file hands to `torch.multiprocessing.spawn`.

    It is the index of the process then: an integer that counts from 0.
    """
    function = _function(view, parameter)
    if function is None or not function.args.args or function.args.args[0] is not parameter:
        return False
    return any(_names(view, target, function) for target in spawned_targets(view))


def spawned_targets(view: ModuleView) -> list[ast.expr]:
    """The functions that a file hands to `torch.multiprocessing.spawn`, as written."""
    found = []
    for use in view.uses(SPAWN):
        if use.kind == "call" and use.call is not None:
            keyword = next((k.value for k in use.call.keywords if k.arg == "fn"), None)
            target = use.call.args[0] if use.call.args else keyword
            if target is not None:
                found.append(target)
    return found


def arguments_of(view: ModuleView, project: Project, parameter: ast.arg) -> list[ast.expr] | None:
    """Everything a parameter of a module-level function is called with; None unless all calls stand in this file.

    The index that `torch.multiprocessing.spawn` passes is not among them.
    """
    function = _function(view, parameter)
    if function is None or not isinstance(view.parent(function), ast.Module) or function.decorator_list:
        return None
    if parameter not in (*function.args.args, *function.args.kwonlyargs) or function.args.vararg is not None:
        return None
    if view.scopes.module.bindings.get(function.name, [None])[0] is None:
        return None
    if len(view.scopes.module.bindings[function.name]) != 1 or project.uses_elsewhere(view, function.name) != []:
        return None
    positional = [argument.arg for argument in function.args.args]
    spawned = spawned_targets(view)
    found: list[ast.expr] = []
    for chain in view.scopes.chains.get(function.name, ()):
        if not _names(view, chain.root, function):
            continue
        if any(chain.root is target for target in spawned):
            if positional[:1] != [parameter.arg]:
                return None
            continue
        call = view.parent(chain.root)
        if not isinstance(call, ast.Call) or call.func is not chain.root:
            return None
        given = named_arguments(call, positional)
        value = given.get(parameter.arg, defaults_of(function.args).get(parameter.arg)) if given is not None else None
        if value is None:
            return None
        found.append(value)
    return found


def default_of(view: ModuleView, parameter: ast.arg) -> ast.expr | None:
    """The default of a parameter; None if it has none, or belongs to a lambda."""
    function = _function(view, parameter)
    return defaults_of(function.args).get(parameter.arg) if function is not None else None


def defaults_of(arguments: ast.arguments) -> dict[str, ast.expr]:
    """The defaults of the parameters that have one, by name."""
    positional = [*arguments.posonlyargs, *arguments.args][::-1]
    given = [
        *zip(positional, arguments.defaults[::-1], strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return {parameter.arg: default for parameter, default in given if default is not None}


def _function(view: ModuleView, parameter: ast.arg) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    arguments = view.parent(parameter)
    function = view.parent(arguments) if arguments is not None else None
    return function if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


def _names(view: ModuleView, node: ast.expr, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    binding = view.definition(node)
    return binding is not None and binding.node is function
