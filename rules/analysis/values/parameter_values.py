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
    given = arguments_everywhere(view, project, parameter)
    return [value for _, value in given] if given is not None and all(home is view for home, _ in given) else None


def arguments_everywhere(
    view: ModuleView, project: Project, parameter: ast.arg
) -> list[tuple[ModuleView, ast.expr]] | None:
    """Everything that the project calls a parameter of a module-level function with, and where; None if a use is no call.

    A default belongs to the function's own file. The index that `torch.multiprocessing.spawn` passes is not among them.
    """
    function = _function(view, parameter)
    if function is None or not isinstance(view.parent(function), ast.Module) or function.decorator_list:
        return None
    if parameter not in (*function.args.args, *function.args.kwonlyargs) or function.args.vararg is not None:
        return None
    if len(view.scopes.module.bindings.get(function.name, ())) != 1:
        return None
    elsewhere = project.uses_elsewhere(view, function.name)
    if elsewhere is None:
        return None
    here = [chain.root for chain in view.scopes.chains.get(function.name, ()) if _names(view, chain.root, function)]
    default = defaults_of(function.args).get(parameter.arg)
    uses: list[tuple[ModuleView, ast.expr | ast.alias]] = [(view, node) for node in here]
    uses += [(home, use.node) for home, use in elsewhere if not isinstance(use.node, ast.alias)]
    found: list[tuple[ModuleView, ast.expr]] = []
    for home, node in uses:
        call = home.parent(node)
        if not isinstance(call, ast.Call):
            return None
        given = _given(home, call, node, function.args, parameter.arg)
        if given is None:
            return None
        found += [(view if value is default else home, value) for value in given]
    return found


def _given(
    view: ModuleView, call: ast.Call, node: ast.AST, parameters: ast.arguments, wanted: str
) -> list[ast.expr] | None:
    """What one call gives to a parameter, nothing where it is the index of a spawned process; None if that is not known."""
    positional = [argument.arg for argument in parameters.args]
    if call.func is node:
        given = named_arguments(call, positional)
    elif any(target is node for target in spawned_targets(view)):
        if positional[:1] == [wanted]:
            return []
        handed = next((keyword.value for keyword in call.keywords if keyword.arg == "args"), None)
        handed = call.args[1] if len(call.args) > 1 else handed
        if not isinstance(handed, ast.Tuple) or any(isinstance(item, ast.Starred) for item in handed.elts):
            return None
        given = dict(zip(positional[1:], handed.elts, strict=False))
    else:
        return None
    value = given.get(wanted, defaults_of(parameters).get(wanted)) if given is not None else None
    return None if value is None else [value]


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
