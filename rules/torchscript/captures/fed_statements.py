"""Statements that only made example inputs for a capture, and go with it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.analysis.places.whole_statements import stands_alone
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk

_MAKES = frozenset(
    """arange empty eye from_numpy full full_like linspace ones ones_like randint rand rand_like randn randn_like tensor
    zeros zeros_like device Size Tensor FloatTensor LongTensor IntTensor DoubleTensor""".split()
)
_RANDOM = frozenset({"rand", "rand_like", "randn", "randn_like", "randint"})
_METHODS = frozenset(
    """to cuda cpu float half double long int bool bfloat16 unsqueeze squeeze view reshape repeat expand clone detach
    contiguous permute transpose size type""".split()
)
_BUILTIN = frozenset({"int", "float", "tuple", "list", "range", "len", "max", "min"})
_SEEDS = ("manual_seed", "seed_everything", "set_seed", "setup_seed")


@dataclass(frozen=True)
class Fed:
    """What only fed a capture.

    Attributes:
        statements: they go.
        random: the first that draws random numbers, of them or of the code that they fed.
    """

    statements: tuple[ast.stmt, ...]
    random: ast.stmt | ast.expr | None


def fed_only(view: ModuleView, gone: Iterable[ast.expr], project: Project) -> Fed:
    """Statements of the same function that made a value for nothing but the code `gone`, and do nothing else."""
    gone = list(gone)
    statements: list[ast.stmt] = []
    waiting = [name for node in gone for name in walk(node) if isinstance(name, ast.Name)]
    while waiting:
        name = waiting.pop(0)
        binding = view.definition(name)
        statement = binding.statement if binding is not None else None
        if binding is None or not isinstance(statement, ast.Assign) or statement in statements:
            continue
        if not _only_for(view, binding, statement, [*gone, *statements], project):
            continue
        statements.append(statement)
        waiting += (child for child in walk(statement.value) if isinstance(child, ast.Name))
    nodes: list[ast.stmt | ast.expr] = [*statements, *gone]
    return Fed(tuple(statements), next((node for node in nodes if _draws(view, node)), None))


def first_seed(project: Project) -> str | None:
    """A file of the project that seeds the random numbers, outside of tests; None if there is none."""
    found = sorted(path for path in project.files_holding(*_SEEDS) if path.endswith(".py") and "test" not in path)
    return next((path for path in found if (view := project.view(path)) is None or _seeds(view)), None)


def _seeds(view: ModuleView) -> bool:
    """Whether code of a file seeds, and not only an example in a docstring."""
    named = (
        node.attr if isinstance(node, ast.Attribute) else node.id
        for node in walk(view.tree)
        if isinstance(node, (ast.Attribute, ast.Name))
    )
    return not set(_SEEDS).isdisjoint(named)


def _only_for(view: ModuleView, binding: Binding, statement: ast.Assign, gone: list[ast.AST], project: Project) -> bool:
    if len(statement.targets) != 1 or statement.targets[0] is not binding.node or not stands_alone(view, statement):
        return False
    if binding.scope.kind != "function" and (view.is_package or project.uses_elsewhere(view, binding.name) != []):
        return False
    inside = {id(child) for node in gone for child in walk(node)}
    around = view.tree if binding.scope.kind != "function" else binding.scope.node
    other = [
        node
        for node in walk(around)
        if isinstance(node, ast.Name)
        and node.id == binding.name
        and id(node) not in inside
        and node is not binding.node
    ]
    return not other and _is_pure(view, statement.value)


def _is_pure(view: ModuleView, value: ast.expr) -> bool:
    """Whether making a value does nothing but draw random numbers."""
    for child in walk(value):
        if isinstance(child, (ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom)):
            return False
        if isinstance(child, ast.Call):
            name = view.certain_name(child.func)
            if name.startswith("torch."):
                if name.removeprefix("torch.") not in _MAKES:
                    return False
            elif isinstance(child.func, ast.Attribute):
                if child.func.attr not in _METHODS or view.resolve(child.func) is not None:
                    return False
            elif not (isinstance(child.func, ast.Name) and child.func.id in _BUILTIN):
                return False
    return True


def _draws(view: ModuleView, node: ast.AST) -> bool:
    return any(
        isinstance(child, ast.Call) and view.certain_name(child.func).removeprefix("torch.") in _RANDOM
        for child in walk(node)
    )
