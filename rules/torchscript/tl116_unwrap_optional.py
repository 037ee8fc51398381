"""`torch.jit._unwrap_optional(x)`: `x`, once it is known not to be None."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import (
    DeleteStatement,
    Finding,
    Fix,
    InsertStatements,
    ReplaceExpression,
    Rewrite,
    Safety,
    Template,
)
from torchlift.rules.analysis.places.whole_statements import assigns_itself, stands_alone
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.compilers.scripting_uses import COLLECTORS
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.rules.torchscript.hints.hint_removal import removal
from torchlift.rules.torchscript.hints.stray_uses import HelpAndFix, Hint
from torchlift.view import ModuleView, Use

RULE = Rule(
    code="TL116",
    name="torchscript-unwrap-optional",
    summary="`torch.jit._unwrap_optional` instead of a check for None",
    why=(
        "The function turns an Optional into its type for the TorchScript compiler; in Python it raises `AssertionError` "
        "on None and otherwise returns its argument. It is private, gives no warning, and goes with TorchScript."
    ),
    fix=(
        "Safe where it is the whole value of a statement and its argument is a variable, when nothing in the project "
        "compiles TorchScript and the code is not installable: the check is written out, with the same error."
    ),
    targets=("torch.jit._unwrap_optional",),
    triggers=("jit", "_jit_internal"),
    collectors=COLLECTORS,
    sources=(*SOURCES, "`_unwrap_optional` in torch/jit/_script.py of torch 2.13.0"),
)

_HINT = Hint(
    "TL116",
    "`torch.jit._unwrap_optional` is private to TorchScript and goes with it: in Python it only raises on None.",
    "Not called here: pass a function that raises on None and returns its argument.",
)
_ERROR = 'raise AssertionError("Unwrapping null optional")'


def check(use: Use, context: Context) -> Iterator[Finding]:
    return _HINT.findings(use, context, _judged)


def _judged(use: Use, context: Context) -> HelpAndFix:
    answer = removal(context, use.node)
    if answer.safety is Safety.MANUAL or use.call is None:
        return answer.reason, None, answer.root
    rewrites = _rewrites(context.view, use.call)
    if rewrites is None:
        return (
            "Put `assert value is not None` in front and use the value itself. Rewritten only where a variable is unwrapped as "
            "the whole value of a statement: elsewhere the check would move in front of what is evaluated before it."
        ), None
    return answer.reason, Fix("Check for None in front", answer.safety, rewrites)


def _rewrites(view: ModuleView, call: ast.Call) -> tuple[Rewrite, ...] | None:
    """Check and plain value, where the call is the whole value of a statement and its argument a variable.

    The check is written out and not an `assert`: `python -O` would drop that one, and it keeps the function's own.
    """
    if len(call.args) != 1 or call.keywords or not isinstance(call.args[0], ast.Name):
        return None
    name = call.args[0].id
    statement = view.statement(call)
    if (
        not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr))
        or view.parent(call) is not statement
    ):
        return None
    if not stands_alone(view, statement):
        return None
    span = view.span(statement)
    check = (f"if {name} is None:", f"    {_ERROR}")
    itself = isinstance(statement, ast.Expr) or assigns_itself(view, statement, call.args[0])
    if itself:
        return DeleteStatement(span), InsertStatements(span, check)
    value = Template("$value", (("value", view.span(call.args[0])),))
    if _is_asked(view, statement, name):
        return (ReplaceExpression(view.span(call), value, bare=True),)
    return InsertStatements(span, check, "before"), ReplaceExpression(view.span(call), value, bare=True)


def _is_asked(view: ModuleView, statement: ast.stmt, name: str) -> bool:
    """Whether a statement comes first in the `else` of `if name is None`."""
    around = view.parent(statement)
    match around:
        case ast.If(test=ast.Compare(left=ast.Name(id=asked), ops=[ast.Is()], comparators=[ast.Constant(value=None)])):
            return asked == name and around.orelse[:1] == [statement]
    return False


_BEFORE = """\
import torch
from typing import Optional


def double(x: Optional[torch.Tensor]):
    {}
    return y * 2
"""
_AFTER = """\
import torch
from typing import Optional


def double(x: Optional[torch.Tensor]):
    if x is None:
        raise AssertionError("Unwrapping null optional")
    y = x
    return y * 2
"""
_RUN = """\
def outcome(value):
    try:
        return double(value)
    except Exception as error:
        return type(error).__name__, str(error)


result = outcome(torch.ones(2)), outcome(None)
"""

EXAMPLES = (
    Bad(_BEFORE.format("y = torch.jit._unwrap_optional(x)"), _AFTER, why="assigned", run=_RUN),
    Bad(
        _BEFORE.replace(
            "import torch\n", "import torch\nfrom torch.jit._script import _unwrap_optional as some\n"
        ).format("x = some(x)  # given\n    y = x"),
        _AFTER.replace('optional")\n', 'optional")  # given\n'),
        why="the private module, a variable checked in place",
        run=_RUN,
    ),
    Bad(
        "from torch.jit import _unwrap_optional\n\n\ndef double(x):\n    return _unwrap_optional(x)\n",
        'def double(x):\n    if x is None:\n        raise AssertionError("Unwrapping null optional")\n    return x\n',
        why="returned",
        run="import torch\n" + _RUN,
    ),
    Bad(
        "import torch\n\n\ndef double(x):\n    if x is None:\n        return 0\n    else:\n"
        "        return torch.jit._unwrap_optional(x)\n",
        "import torch\n\n\ndef double(x):\n    if x is None:\n        return 0\n    else:\n        return x\n",
        why="the other branch asks for None",
        run="import torch\n" + _RUN,
    ),
    Bad(
        _BEFORE.format("y = torch.jit._unwrap_optional(x)"),
        _AFTER,
        safety="unsafe",
        why="an installable project",
        run=_RUN,
        files=(("setup.py", "from setuptools import setup\n\nsetup()\n"),),
    ),
    Bad(_BEFORE.format("y = abs(torch.jit._unwrap_optional(x))"), why="inside an expression"),
    Bad(
        _BEFORE.format("y = torch.jit._unwrap_optional(x)") + "\n\ntorch.jit.script(double).save('x.pt')\n",
        why="the function is still scripted",
    ),
    Ok("def _unwrap_optional(x):\n    return x\n\n\njit = _unwrap_optional(3)\n", "an own function"),
    Ok("import option\n\noption.jit._unwrap_optional(3)\n", "another package"),
    Ok("class jit:\n    _unwrap_optional = abs\n\n\njit._unwrap_optional(-3)\n", "an own class"),
    Ok("# torch.jit._unwrap_optional(x)\njit = 1\n", "a comment"),
)
