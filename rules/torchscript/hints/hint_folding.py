"""Takes a question about a compiler out of a condition, now that the answer is known wherever the code runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from torchlift.finding import DeleteStatement, DropOperand, KeepBranch, ReplaceExpression, Rewrite, Template
from torchlift.rules.analysis.places.attached_comments import comments_above
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.hints.annotated_values import takes_any
from torchlift.rules.torchscript.hints.hint_conditions import Flag, absent, is_truth, settle
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class CannotFold(Exception):
    """A condition that keeps its question; the message is a clause that says why."""


def unasked(
    context: Context, test: ast.expr, owner: ast.AST | None, asked: frozenset[str]
) -> tuple[tuple[Rewrite, ...], str | None]:
    """Rewrites after which a condition does not ask any of some functions, which are False, or a clause that says why there are none.

    For `Context.once`: it is the same for all that ask in the condition.
    """
    try:
        return without_question(context.view, test, owner, absent(context.view, asked)), None
    except CannotFold as reason:
        return (), str(reason)


def without_question(view: ModuleView, test: ast.expr, owner: ast.AST | None, flag: Flag) -> tuple[Rewrite, ...]:
    """Rewrites after which the condition no longer asks, and everything else is as it was.

    Args:
        view: the file.
        test: the whole condition.
        owner: what it is the condition of.
        flag: the answers.

    Raises:
        CannotFold: there are none.
    """
    settled = settle(test, flag)
    if not settled.quiet:
        raise CannotFold("the condition evaluates something else before, which may have an effect")
    if settled.constant is None:
        if not settled.drops:
            raise CannotFold("the condition is not understood")
        if not settled.same_value and not is_truth(owner, test):
            raise CannotFold("the value of the condition would be that of its other part, which may be no bool")
        return tuple(DropOperand(view.span(operand)) for operand in settled.drops)
    if not is_truth(owner, test):
        if not settled.same_value:
            raise CannotFold("the value of the condition may be that of its first part, which may be no bool")
        return (ReplaceExpression(view.span(test), Template(str(settled.constant))),)
    if isinstance(owner, ast.If):
        return _unwrapped(view, owner, settled.constant)
    if isinstance(owner, ast.IfExp):
        chosen = owner.body if settled.constant else owner.orelse
        template = Template("$chosen", (("chosen", view.span(chosen)),))
        return (ReplaceExpression(view.span(owner), template, bare=takes_any(view, owner, chosen)),)
    if isinstance(owner, ast.Assert) and settled.constant:
        return (DeleteStatement(view.span(owner)),)
    raise CannotFold("what would be left is a loop or an assertion with a constant condition")


def _unwrapped(view: ModuleView, node: ast.If, constant: bool) -> tuple[Rewrite, ...]:
    _check_dropped(view, node.orelse if constant else node.body)
    kept = node.body if constant else node.orelse
    branch: Literal["body", "orelse"] = "body" if constant else "orelse"
    never = _never_run(view, node) if kept and isinstance(kept[-1], _LEAVES) else []
    behind = (DeleteStatement(view.span(one), len(comments_above(view, one))) for one in never)
    return (KeepBranch(view.span(node), branch if kept else None), *behind)


def _never_run(view: ModuleView, node: ast.If) -> list[ast.stmt]:
    """The statements behind an `if` in its block, which nothing reaches any more; none where they mean something all the same."""
    parent = view.parent(node)
    blocks = (getattr(parent, name, None) for name in ("body", "orelse", "finalbody"))
    block = next((one for one in blocks if isinstance(one, list) and node in one), [])
    behind = block[block.index(node) + 1 :] if block else []
    try:
        _check_dropped(view, behind)
    except CannotFold:
        return []
    return behind


def _check_dropped(view: ModuleView, statements: list[ast.stmt]) -> None:
    """Code that never runs may mean something to the code around it.

    A name that is only bound there is local all the same, and a `yield` there makes the function a generator.
    """
    inside = list(_nodes(statements))
    if any(isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)) for node in inside):
        raise CannotFold("the branch that would go holds a `yield`, `await`, `global` or `nonlocal`")
    gone = set(map(id, inside))
    for statement in statements[:1]:
        scope = view.scope_at(statement)
        for name, bindings in scope.bindings.items():
            here = [binding for binding in bindings if id(binding.node) in gone]
            if here and len(here) == len(bindings):
                reads = [chain.root for chain in view.scopes.chains.get(name, ()) if chain.scope.lookup(name) is scope]
                if any(id(read) not in gone for read in reads):
                    raise CannotFold(f"`{name}` is only bound in the branch that would go, and read elsewhere")


def _nodes(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    for statement in statements:
        yield from walk(statement)
