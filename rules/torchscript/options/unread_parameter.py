"""Parameters of functions that chose TorchScript and that nothing reads: how to drop them, with what callers pass."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlift.finding import Elsewhere, Finding, Fix, Group, Rewrite, Safety, Severity
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.analysis.places.uses_everywhere import uses_everywhere
from torchlift.rules.analysis.project.installable import packaging_of
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.analysis.wording.messages import sentence
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.options.parameter_removal import FunctionNode, without_argument, without_parameter
from torchlift.view import ModuleView
from torchlift.view.walk import walk

NAMES = (
    "jit jitted jittable jitable use_jit with_jit do_jit to_jit enable_jit jit_model jit_compile jit_trace jit_script "
    "script_jit torchscript use_torchscript to_torchscript torch_script use_torch_script to_torch_script "
    "gen_torch_script gen_torchscript export_torchscript scripted scripting scriptable use_script script_model to_script "
    "tracing traced trace_model use_trace use_tracing"
).split()
_READS_ALL = frozenset({"locals", "eval", "exec", "vars"})


def unread_parameters(context: Context, code: str) -> Iterator[Finding]:
    """Findings about functions of the file in view."""
    view = context.view
    for bound in view.scopes.module.bindings.values():
        function = bound[0].node
        if len(bound) != 1 or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if function.decorator_list or function.name.startswith(("test", "pytest_", "__")) or _is_stub(function):
            continue
        read = {node.id for item in function.body for node in walk(item) if isinstance(node, ast.Name)}
        for parameter in (*function.args.args, *function.args.kwonlyargs):
            if parameter.arg in NAMES and read.isdisjoint({parameter.arg, *_READS_ALL}):
                yield from _finding(context, code, function, parameter)


def _is_stub(function: FunctionNode) -> bool:
    return all(
        isinstance(item, (ast.Pass, ast.Raise)) or (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))
        for item in function.body
    )


def _finding(context: Context, code: str, function: FunctionNode, parameter: ast.arg) -> Iterator[Finding]:
    view, name = context.view, parameter.arg
    bound = view.scopes.module.bindings[function.name]
    places, unknown = uses_everywhere(view, bound[0], context.project)
    calls: list[tuple[ModuleView, ast.Call]] = []
    for home, node in places:
        call = home.parent(node)
        if not isinstance(call, ast.Call) or call.func is not node:
            return  # whoever it is handed to decides on its parameters
        calls.append((home, call))
    message = f"`{name}` of `{function.name}` chose TorchScript, and nothing reads it any more."
    removal = _Removal(view, function, parameter)
    obstacle = next(iter(unknown), None) or removal.made_from(calls)
    if obstacle is not None:
        advice = f"Drop it from the signature and from every call. Not rewritten: {obstacle}."
        yield Finding(code, view.path, view.span(parameter), message, Severity.INFO, advice)
        return
    doubts = list(removal.doubts)
    packaging = packaging_of(context.project, view.path)
    if packaging is not None and not function.name.startswith("_") and not is_test_file(view.path):
        doubts.append(f"others may use this code ({packaging}), and pass `{name}`")
    paths = tuple(sorted({view.path, *(item.path for item in removal.elsewhere)}))
    groups = (Group(f"the parameter `{name}` of `{function.name}`", paths),) if len(paths) > 1 else ()
    safety = Safety.UNSAFE if doubts else Safety.SAFE
    fix = Fix(f"Drop the parameter `{name}`", safety, tuple(removal.own), elsewhere=tuple(removal.elsewhere))
    review = f"Needs review: {sentence(doubts)}" if doubts else None
    yield Finding(
        code, view.path, view.span(parameter), message, Severity.WARNING, review, fix, view.span(parameter), groups
    )


class _Removal:
    """The rewrites that drop a parameter and what is passed for it.

    Attributes:
        own: those of the file that defines the function.
        elsewhere: those of other files.
        doubts: clauses about what they assume.
    """

    def __init__(self, view: ModuleView, function: FunctionNode, parameter: ast.arg) -> None:
        self.view = view
        self.function = function
        self.parameter = parameter
        self.own: list[Rewrite] = []
        self.elsewhere: list[Elsewhere] = []
        self.doubts: list[str] = []

    def made_from(self, calls: list[tuple[ModuleView, ast.Call]]) -> str | None:
        """Make the rewrites; the clause that says why they cannot be made, None if they were."""
        definition = without_parameter(self.view, self.function, self.parameter)
        if definition is None:
            return "the signature is written in a way that is not taken apart"
        self.own += definition
        positional = [item.arg for item in self.function.args.args]
        index = positional.index(self.parameter.arg) if self.parameter.arg in positional else None
        for home, call in calls:
            where = f"{home.path}:{call.lineno}"
            given = named_arguments(call, positional)
            if given is None:
                return f"what {where} passes is not known"
            value = given.get(self.parameter.arg)
            if value is None:
                continue
            if not _is_plain(value):
                self.doubts.append(f"{where} works out what it passes, which goes, too")
            rewrite = without_argument(home, call, index, self.parameter.arg)
            if rewrite is not None and home.path == self.view.path:
                self.own.append(rewrite)
            elif rewrite is not None:
                self.elsewhere.append(Elsewhere(home.path, rewrite))
        return None


def _is_plain(value: ast.expr) -> bool:
    """Whether working out an argument does nothing else."""
    return not any(
        isinstance(node, (ast.Call, ast.Await, ast.NamedExpr, ast.Yield, ast.Subscript)) for node in walk(value)
    )


def is_option_name(name: str) -> bool:
    """Whether a name is that of an option for TorchScript."""
    return name in NAMES or re.fullmatch(r"(?:\w+_)?(?:jit|torch_?script)", name) is not None
