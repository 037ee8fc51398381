"""Calls of an old function: their arguments by parameter, what uses the result, and the finding about each."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from torchlift.api_changes.changes import must_be_newer
from torchlift.finding import AddImport, Finding, Fix, Parts, Rewrite, Safety, Severity, Template
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.rule import Context
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.guards import is_last_resort_for
from torchlift.view.walk import walk

NOT_USED = frozenset({"string", "store", "delete", "annotation"})
"""Kinds of uses that run nothing."""
# Stands for "1.4 or earlier".
_LONG_AGO = TorchVersion(1, 4)
# Nothing that a rewrite could be inside of.
_PLAIN = (ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)


@dataclass(frozen=True)
class OldName:
    """An old function or class.

    Attributes:
        name: qualified name.
        new: names that take its place; where a `try` looks for one of them first, the old one is a fallback.
        advice: what to write instead, for uses that are no calls and for calls without a fix.
        deprecated: release that deprecated it.
        removed: release from which on it fails.
        severity: severity while it works.
    """

    name: str
    new: tuple[str, ...]
    advice: str
    deprecated: TorchVersion
    removed: TorchVersion | None = None
    severity: Severity = Severity.WARNING

    def state(self, target: TorchVersion) -> tuple[str, Severity] | None:
        """What to say about it in a project that moves to `target`, and how bad it is; None if all is well there."""
        if self.removed is not None and self.removed <= target:
            return f"`{self.name}` was removed in torch {self.removed}", Severity.ERROR
        if self.deprecated > target:
            return None
        since = f" since torch {self.deprecated}" if self.deprecated > _LONG_AGO else ""
        until = f" and was removed in {self.removed}" if self.removed is not None else ""
        return f"`{self.name}` is deprecated{since}{until}", self.severity


@dataclass(frozen=True)
class Argument:
    """One argument of a call: its position or keyword name, and its value."""

    key: int | str
    value: ast.expr

    @property
    def constant(self) -> object:
        """The value, if it is written as a constant (signs included); `...` if it is not known."""
        try:
            return ast.literal_eval(self.value)
        except ValueError:
            return ...


@dataclass(frozen=True)
class CallAdvice:
    """What to do about one call.

    Attributes:
        help: advice for the reader, or what needs review; None where the fix says it all.
        fix: the change.
        recipe: what to write in the place of this very call, for where the fix is held back; by default what the old name advises.
    """

    help: str | None = None
    fix: Fix | None = None
    recipe: str | None = None


def bind(call: ast.Call, parameters: Sequence[str]) -> dict[str, Argument] | None:
    """The arguments by parameter name; None if one is spread, unknown or too many."""
    if len(call.args) > len(parameters) or any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    given = {
        name: Argument(index, value) for index, (name, value) in enumerate(zip(parameters, call.args, strict=False))
    }
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg not in parameters or keyword.arg in given:
            return None
        given[keyword.arg] = Argument(keyword.arg, keyword.value)
    return given


def old_uses(
    code: str, use: Use, context: Context, old: OldName, answer: Callable[[ast.Call], CallAdvice]
) -> Iterator[Finding]:
    """The finding about one use of `old`; `answer` is asked about calls.

    An import is reported only where nothing in its file uses the name: every use is a finding of its own, and the import
    goes with the last one.
    """
    state = old.state(context.settings.target)
    view = context.view
    if state is None or use.kind in NOT_USED or is_last_resort_for(view, use.node, frozenset(old.new)):
        return
    said, severity = state
    if use.kind == "import":
        if not view.is_unread_import(use):
            return
        alone = "It is imported and not used here: drop the import, unless other files take it from here."
        yield Finding(code, view.path, view.span(use.node), f"{said}.", severity, f"{alone} {old.advice}")
        return
    if use.kind == "reference" and _is_called_by_another_name(view, use.node):
        return
    found = answer(use.call) if use.call is not None else CallAdvice(_without_a_call(view, use, old))
    fix = found.fix
    help = found.help
    lowest = context.settings.min_torch
    if help is None and fix is not None and fix.needs is not None and must_be_newer(fix.needs, use.target, lowest):
        help = found.recipe or old.advice  # the fix may be held back, and its title alone is no recipe
    if fix is not None and may_leave_import(use):
        fix = replace(fix, still_reported=True)
    yield Finding(code, view.path, view.span(use.call or use.node), f"{said}.", severity, help, fix)


def _without_a_call(view: ModuleView, use: Use, old: OldName) -> str:
    """The advice where the name stands for itself, which tells how calls of it are written."""
    here = {
        "reference": "It is handed on here, and not called: change what is handed on.",
        "base": "It is a base class here.",
    }.get(use.kind)
    part = view.parent(use.node)
    if use.kind == "reference" and isinstance(part, ast.Attribute) and part.value is use.node:
        here = f"Only its `{part.attr}` is used here, which has to be that of the new name, too."
    return f"{here} For a call {old.advice[0].lower()}{old.advice[1:]}" if here else old.advice


def may_leave_import(use: Use) -> bool:
    """Whether `use` goes through an import of the name, which may stay for other files and is reported in its own right then."""
    binding = use.resolution.binding if use.resolution is not None else None
    return binding is not None and isinstance(binding.statement, ast.ImportFrom)


def _is_called_by_another_name(view: ModuleView, node: ast.expr | ast.alias) -> bool:
    """Whether `node` is only given a name that is called, which is a use of its own."""
    statement = view.parent(node)
    if not isinstance(statement, ast.Assign) or statement.value is not node or len(statement.targets) != 1:
        return False
    binding = view.bound_by(statement.targets[0])
    reads = view.reads_of(binding) if binding is not None else []
    calls = [view.parent(read) for read, alone in reads if alone]
    return bool(reads) and len(calls) == len(reads) and all(isinstance(call, ast.Call) for call in calls)


def spelled(view: ModuleView, use: Use, name: str) -> tuple[str, tuple[AddImport, ...]] | None:
    """How to write `name` at the place of `use`, with the imports it needs; None if there is no way."""
    spelling = view.spell(name, use.node, use)
    return None if spelling is None else (spelling.text, spelling.imports)


def changed(title: str, rewrites: Sequence[Rewrite], needs: TorchVersion, review: str = "") -> CallAdvice:
    """The answer that offers a fix: a safe one, or with `review` one that needs it."""
    safety = Safety.UNSAFE if review else Safety.SAFE
    return CallAdvice(f"Needs review: {review}" if review else None, Fix(title, safety, tuple(rewrites), needs))


def value_of(view: ModuleView, argument: Argument) -> Template:
    """A template that is the value of `argument`."""
    return whole(view, argument.value)


def whole(view: ModuleView, node: ast.expr) -> Template:
    """A template that is the code of `node` and nothing else: plain arithmetic as it stands, without further brackets."""
    text = view.text(node)
    if "\n" not in text and "$" not in text and all(isinstance(part, _PLAIN) for part in walk(node)):
        return Template(text)
    return filled("$value", view, value=node)


def filled(text: str, view: ModuleView, **nodes: ast.expr) -> Template:
    """A template whose holes keep the code of `nodes`."""
    parts: Parts = tuple((name, view.span(node)) for name, node in nodes.items())
    return Template(text, parts)


def taken_part(view: ModuleView, call: ast.Call, fields: Sequence[str]) -> tuple[ast.expr, str] | None:
    """The expression around `call` that takes one field of its result, and the field: `call.solution` or `call[0]`."""
    parent = view.parent(call)
    if isinstance(parent, ast.Attribute) and parent.value is call and parent.attr in fields:
        return parent, parent.attr
    if isinstance(parent, ast.Subscript) and parent.value is call and isinstance(parent.slice, ast.Constant):
        index = parent.slice.value
        if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(fields):
            return parent, fields[index]
    return None


def unpacked(view: ModuleView, call: ast.Call, count: int) -> tuple[ast.Tuple, list[ast.expr]] | None:
    """The tuple that the statement `a, b = call` unpacks the result into, and its `count` elements."""
    statement = view.parent(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Tuple) or len(target.elts) != count:
        return None
    if any(isinstance(element, ast.Starred) for element in target.elts):
        return None
    return target, target.elts


def is_unread(view: ModuleView, target: ast.expr) -> bool:
    """Whether what is assigned to `target`, a local name, is surely never read."""
    if not isinstance(target, ast.Name):
        return False
    binding = view.bound_by(target)
    if binding is None or (binding.scope.kind not in {"function", "lambda"} and target.id != "_"):
        return False
    return not view.reads_of(binding)


def triggers(name: str, *, rare: bool = True) -> tuple[str, ...]:
    """Prefilter words for `torch.name`: the name anywhere beside torch, or in its usual spellings if it is an everyday word."""
    if rare:
        return (f"{name} & torch",)
    return (f"torch.{name}", f"{name} & torch as ", f"import {name} & from torch", f"{name} & from torch import *")
