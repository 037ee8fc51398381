"""What depends on a compiler flag, in words: which code export runs, which code TorchScript or a trace ran."""

from __future__ import annotations

import ast
import re

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.torchscript.hints.hint_conditions import Flag, is_truth, settle
from torchlift.view import ModuleView
from torchlift.view.last_name import last_name

_LONGEST = 56
_REPORTING = lazy_pattern(
    r"(?:print|warn|log(?!_$)|check|assert|valid|verif|ensure|deprecat|range_push|range_pop|nvtx)", re.IGNORECASE
)
_ENDS: dict[type[ast.stmt], str] = {ast.Return: "returned", ast.Raise: "raised"}
_CHECKS = "All of it only checks or reports: what passes gives the same results."
_REFUSES = "One side is refused, and no result differs."
_NOT_CAPTURED = frozenset(
    "__init__ __repr__ __str__ __getstate__ __setstate__ extra_repr state_dict load_state_dict _load_from_state_dict _save_to_state_dict".split()
)
_REFINING = frozenset({"cast", "annotate", "_unwrap_optional"})


@dataclass(frozen=True)
class FlagDifference:
    """What a flag decides.

    Attributes:
        sentence: which code runs now and which ran then.
        why_harmless: a sentence that says why the results are the same; empty if they may differ.
    """

    sentence: str
    why_harmless: str = ""

    @property
    def harmless(self) -> bool:
        """Whether export gives what the other compiler gave."""
        return bool(self.why_harmless)


def difference(
    view: ModuleView, test: ast.expr, owner: ast.AST | None, now: Flag, then: Flag, compiler: str
) -> FlagDifference:
    """What follows from a condition that asks a flag.

    Args:
        view: the file.
        test: the whole condition.
        owner: what it is the condition of.
        now: the flags under export.
        then: the flags in the world that goes.
        compiler: name of that world inside a sentence: `TorchScript`, `a trace`.
    """
    function = view.function_of(test)
    if function is not None and runs_in_python(view, function):
        return FlagDifference("", f"`{function.name}` runs in Python, outside of what is captured.")
    before = _decided_before(view, owner, now)
    if before is not None:
        return FlagDifference("", f"Where an export gets here, line {before.test.lineno} decides before it is asked.")
    if not is_truth(owner, test):
        return FlagDifference("")
    new, old = settle(test, now).constant, settle(test, then).constant
    if isinstance(owner, ast.Assert):
        return FlagDifference(
            f"It stops {compiler} and lets export pass.", "It is an assertion, and no result depends on it."
        )
    if new is not None and new == old:
        return FlagDifference("", f"Export and {compiler} take the same side here.")
    if isinstance(owner, ast.IfExp):
        return FlagDifference(_expressions(view, owner, new, old, compiler))
    if not isinstance(owner, ast.If):
        return FlagDifference("")
    harmless = only_checks(owner.body) and only_checks(owner.orelse)
    why = _REFUSES if _refuses(owner, new, old) else _CHECKS
    return FlagDifference(_statements(view, owner, new, old, compiler), why if harmless else "")


def _refuses(owner: ast.If, *decided: bool | None) -> bool:
    """Whether one of two worlds is refused whatever it is given: a `raise` alone is no check."""
    sides = [owner.body if value else owner.orelse for value in decided if value is not None]
    return any(isinstance(statement, ast.Raise) for side in sides for statement in side)


def _decided_before(view: ModuleView, owner: ast.AST | None, now: Flag) -> ast.If | None:
    """The `if` in front of an `elif` that is true under export, so that the condition is not asked there."""
    child = owner
    while isinstance(child, ast.If):
        around = view.parent(child)
        if not isinstance(around, ast.If) or child not in around.orelse:
            return None
        if settle(around.test, now).constant is True:
            return around
        child = around
    return None


def runs_in_python(view: ModuleView, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is a method of a module that no compiler takes, unless a decorator says so."""
    owner = view.parent(function)
    derived = isinstance(owner, ast.ClassDef) and bool(owner.bases)
    return function.name in _NOT_CAPTURED and derived and not function.decorator_list


def _statements(view: ModuleView, node: ast.If, new: bool | None, old: bool | None, compiler: str) -> str:
    def side(value: bool) -> list[ast.stmt]:
        return node.body if value else node.orelse

    if new is None and old is None:
        return ""
    if new is None:
        assert old is not None
        ran = f"always ran {_show(view, side(old))}" if side(old) else f"never ran {_show(view, side(not old))}"
        return f"Under export the rest of the condition decides; {compiler} {ran}."
    if old is None:
        runs = f"always runs {_show(view, side(new))}" if side(new) else f"never runs {_show(view, side(not new))}"
        return f"Where an export gets here, it {runs}; for {compiler} the rest of the condition decided."
    if not side(old):
        return f"Where an export gets here, it runs {_show(view, side(new))}, which {compiler} skipped."
    if not side(new):
        end = _ENDS.get(type(side(old)[-1]))
        what = f"where {compiler} {end}" if end else f"which {compiler} ran"
        return f"Where an export gets here, it skips {_show(view, side(old))}, {what}."
    return f"Where an export gets here, it runs {_show(view, side(new))}; {compiler} ran {_show(view, side(old))}."


def _expressions(view: ModuleView, node: ast.IfExp, new: bool | None, old: bool | None, compiler: str) -> str:
    if new is None or old is None:
        return ""
    chosen, other = (node.body, node.orelse) if new else (node.orelse, node.body)
    return (
        f"Where an export gets here, it takes `{_cut(view.text(chosen))}`; {compiler} took `{_cut(view.text(other))}`."
    )


def _show(view: ModuleView, statements: list[ast.stmt]) -> str:
    first, last = statements[0].lineno, statements[-1].end_lineno or statements[-1].lineno
    text = _cut(view.text(statements[0]))
    return f"line {first} (`{text}`)" if first == last else f"lines {first}-{last} (`{text}` ...)"


def _cut(text: str) -> str:
    """The first line of a piece of code, shortened, and without what would end a code span."""
    line = text.splitlines()[0].strip().replace("`", "'")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3].rstrip()}..."


def only_checks(statements: list[ast.stmt]) -> bool:
    """Whether statements only check, refine types or report: they may stop a program but do not change its results."""
    return all(map(_only_checks, statements))


def _only_checks(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Assert() | ast.Raise():
            return True
        case ast.AnnAssign(value=None):
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=function)):
            return _REPORTING.search(last_name(function)) is not None
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function, args=[*_, ast.Name(id=same)])):
            return last_name(function) in _REFINING and name == same
        case ast.If():
            return only_checks(statement.body) and only_checks(statement.orelse)
        case _:
            return False
