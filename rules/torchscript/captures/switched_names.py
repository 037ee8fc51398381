"""Names that a condition binds to TorchScript's own and that are plain otherwise, and names that nothing reads any more."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Literal

from torchlift.finding import (
    DeleteStatement,
    Finding,
    Fix,
    KeepBranch,
    ReplaceExpression,
    Rewrite,
    Safety,
    Severity,
    Template,
)
from torchlift.rules.analysis.project.torchscript_elsewhere import cpp_runtime
from torchlift.rules.analysis.wording.messages import one_line, sentence
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.captures.scripting_option import is_option, only_asks, speaks
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.functions.compiler_as_value import is_used
from torchlift.view import Binding, ModuleView, Use
from torchlift.view.walk import walk

_SWITCHED = frozenset({"torch.jit.ScriptModule", "torch.jit.script_method", "torch.jit.script"})
_PLAIN = frozenset({"torch.nn.Module", "torch.nn.modules.Module", "torch.nn.modules.module.Module"})


def switched_name(use: Use, context: Context, code: str, message: str) -> Finding | None:
    """The finding about `Base = torch.jit.ScriptModule` in one arm of an `if` whose other way binds `Base` to a plain class.

    So is one about a name that nothing reads any more. None where TorchScript is not dropped, the arm does anything else, or a name has no plain meaning without it.
    """
    view = context.view
    statement = view.parent(use.node)
    if not drops(context) or not isinstance(statement, ast.Assign):
        return None
    if _is_unread(view, statement, context):
        gone = Fix("Delete the name, which nothing reads", Safety.SAFE, (DeleteStatement(view.span(statement)),))
        return Finding(code, view.path, view.span(use.node), message, Severity.WARNING, None, gone)
    fix, review = _branch(view, statement) or _rebound(use, statement, context) or (None, None)
    return Finding(code, view.path, view.span(use.node), message, Severity.WARNING, review, fix) if fix else None


def _branch(view: ModuleView, statement: ast.Assign) -> tuple[Fix, str | None] | None:
    """The arm goes, and what is left unsaid about it."""
    around = view.parent(statement)
    if not isinstance(around, ast.If) or not only_asks(around.test):
        return None
    arm, other = (around.body, around.orelse) if statement in around.body else (around.orelse, around.body)
    read = _bound_in(view, arm)
    if read is None:
        return None
    names, settings = read
    plain = _plainly_bound(view, other or _before(view, around))
    if not names <= plain:
        return None
    branch: Literal["body", "orelse"] | None = ("body" if arm is around.orelse else "orelse") if other else None
    doubts = [f"line {item.lineno} no longer sets `{one_line(view, item.targets[0])}`" for item in settings]
    if not is_option(view, around.test):
        test = one_line(view, around.test)
        doubts.append(f"`{test}` may choose more than scripting, and nobody is known to run the code without")
    review = f"Needs review: {sentence(doubts)}" if doubts else None
    safety = Safety.UNSAFE if doubts else Safety.SAFE
    return Fix("Keep the plain names", safety, (KeepBranch(view.span(around), branch),)), review


def _rebound(use: Use, statement: ast.Assign, context: Context) -> tuple[Fix, str] | None:
    """Names that are bound on several ways, all of one block together, get a plain meaning where they stand.

    None where the file saves modules or asks TorchScript for anything else, or C++ of the project runs it.
    """
    view = context.view
    saved = any(view.certain_name(item) != "torch.save" for item in view.attributes_named("save"))
    if saved or cpp_runtime(context.project) is not None:
        return None
    rewrites: list[Rewrite] = []
    for item in view.block(statement):
        match item:
            case ast.Assign(targets=[ast.Name(id=name) as target], value=value) if (
                view.certain_name(value) in _SWITCHED
            ):
                scope = view.scope_at(target).lookup(name)
                bound = scope.bindings[name] if scope is not None and scope.kind == "module" else []
                if len(bound) < 2 or not all(_is_plain_or_switched(view, one) for one in bound):
                    return None
                plain: str | None = "lambda function: function"
                if view.certain_name(value) == "torch.jit.ScriptModule":
                    spelling = view.spell("torch.nn.Module", value, use)
                    plain = spelling.text if spelling is not None and not spelling.imports else None
                if plain is None:
                    return None
                rewrites.append(ReplaceExpression(view.span(value), Template(plain), bare=True))
    review = "Needs review: what stands under these names runs as Python from now on, and was not read here."
    return (Fix("Bind the plain names", Safety.UNSAFE, tuple(rewrites)), review) if rewrites else None


def _is_plain_or_switched(view: ModuleView, bound: Binding) -> bool:
    """Whether what binds a name gives it one of TorchScript's own, or their plain meaning."""
    if bound.value is not None and view.certain_name(bound.value) in _SWITCHED:
        return True
    statement = bound.statement
    block = view.block(statement) if statement is not None else []
    before = block[: block.index(statement) + 1] if statement is not None and block else ()
    return bound.name in _plainly_bound(view, before)


def _is_unread(view: ModuleView, statement: ast.Assign, context: Context) -> bool:
    """Whether a statement only gives TorchScript's own a name, and nothing reads what that name is bound to anywhere."""
    match statement.targets:
        case [ast.Name(id=name) as target] if view.certain_name(statement.value) in _SWITCHED:
            scope = view.scope_at(target).lookup(name)
            bound = scope.bindings[name] if scope is not None and scope.kind != "class" else []
            return bool(bound) and not any(is_used(view, binding, context) for binding in bound)
    return False


def _bound_in(view: ModuleView, arm: list[ast.stmt]) -> tuple[set[str], list[ast.Assign]] | None:
    """Names that an arm binds to TorchScript's own, and what it sets in the environment; None if it does more."""
    names: set[str] = set()
    settings: list[ast.Assign] = []
    for statement in arm:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if view.certain_name(value) in _SWITCHED:
                names.add(name)
            case ast.Assign(targets=[ast.Subscript(value=container)], value=ast.Constant()):
                if view.certain_name(container) != "os.environ":
                    return None
                settings.append(statement)
            case _ if not speaks(statement):
                return None
    return names, settings


def _plainly_bound(view: ModuleView, statements: Iterable[ast.stmt]) -> set[str]:
    """Names that statements bind to a plain module class or to a function that gives back what it is given."""
    plain: set[str] = set()
    functions: set[str] = set()
    for statement in statements:
        match statement:
            case ast.FunctionDef(name=name) if _gives_back(statement):
                functions.add(name)
                plain.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                plain.discard(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=given)) if given in functions:
                plain.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as value) if _gives_back(value):
                plain.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if view.certain_name(value) in _PLAIN:
                plain.add(name)
            case ast.Assign(targets=targets):
                plain -= {node.id for target in targets for node in walk(target) if isinstance(node, ast.Name)}
    return plain


def _gives_back(function: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether a function of one argument returns it and does nothing else."""
    given = [*function.args.posonlyargs, *function.args.args]
    body = function.body if isinstance(function.body, list) else [ast.Return(function.body)]
    match body:
        case [ast.Return(value=ast.Name(id=name))]:
            return len(given) == 1 and given[0].arg == name and not getattr(function, "decorator_list", [])
    return False


def _before(view: ModuleView, around: ast.If) -> list[ast.stmt]:
    block = view.block(around)
    return block[: block.index(around)]
