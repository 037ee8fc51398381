"""`@torch.jit.script_if_tracing` only acts while something traces."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import DropDecorator, Finding, Fix, Safety, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.deprecation import DEPRECATED, SOURCES
from torchlift.rules.torchscript.scripting_uses import COLLECTOR, first_use
from torchlift.rules.torchscript.tl112_method_decorators import decorator_of
from torchlift.view import Use

_MESSAGE = "`@torch.jit.script_if_tracing` scripts the function while it is traced, and does nothing otherwise."
_BRANCHES = (ast.If, ast.For, ast.While, ast.IfExp, ast.Assert)


def _check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if isinstance(use.node, ast.alias):
        return
    span = view.span(use.node)
    decorator = decorator_of(use, view)
    function = view.parent(decorator) if decorator is not None else None
    if decorator is None or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        advice = "Not used as a decorator here: replace it by hand."
        yield Finding("TL111", view.path, span, _MESSAGE, Severity.WARNING, advice)
        return
    place = first_use(context.project, tracing=True)
    if place is not None:
        advice = f"It has to stay as long as {place} traces or scripts; migrate that first."
        yield Finding("TL111", view.path, span, _MESSAGE, Severity.WARNING, advice)
        return
    branch = next((node for node in ast.walk(function) if isinstance(node, _BRANCHES)), None)
    review = None
    if branch is not None:
        review = (
            f"Needs review: the function branches or loops on line {branch.lineno}, which scripting kept and "
            "`torch.export` fixes for the example inputs; `torch.cond` keeps a branch."
        )
    safety = Safety.UNSAFE if branch is not None else Safety.SAFE
    fix = Fix("Remove the decorator", safety, (DropDecorator(view.span(decorator)),))
    yield Finding("TL111", view.path, span, _MESSAGE, Severity.WARNING, review, fix)


_BODY = "def scale(x):\n    return x * x.shape[0]\n"
_LOOP = "def total(x):\n    y = x[0]\n    for i in range(1, x.shape[0]):\n        y = y + x[i]\n    return y\n"

RULE = Rule(
    code="TL111",
    name="script-if-tracing",
    summary="`@torch.jit.script_if_tracing` although nothing traces",
    why=(
        "The decorator keeps loops and branches dynamic while `torch.jit.trace` runs. Eager mode, `torch.compile` and "
        "`torch.export` never look at it."
    ),
    fix=(
        "Safe when nothing in the project traces or scripts and the function neither branches nor loops. With a branch "
        "or loop the removal needs review, because an export of the function specialises it."
    ),
    targets=("torch.jit.script_if_tracing", "torch.jit._script_if_tracing"),
    triggers=("jit", "_jit_internal"),
    check=_check,
    deprecated=DEPRECATED,
    collectors=(COLLECTOR,),
    sources=(*SOURCES, "docstring deprecation since torch 2.11 in torch/jit/_script.py"),
    examples=(
        Bad(
            f"import torch\n\n\n@torch.jit.script_if_tracing\n{_BODY}",
            f"import torch\n\n\n{_BODY}",
            why="straight-line function",
            run="result = scale(torch.ones(3, 2))",
        ),
        Bad(
            f"from torch.jit import _script_if_tracing\n\n\n@_script_if_tracing\n{_BODY}",
            f"\n\n{_BODY}",
            why="private spelling, import goes with it",
            run="import torch\nresult = scale(torch.ones(3, 2))",
        ),
        Bad(
            f"import torch\n\n\n@torch.jit.script_if_tracing\n{_LOOP}",
            f"import torch\n\n\n{_LOOP}",
            safety="unsafe",
            why="a loop over the shape",
            run="result = total(torch.ones(3, 2))",
        ),
        Bad(
            f"import torch\n\n\n@torch.jit.script_if_tracing\n{_BODY}\n\ntraced = torch.jit.trace(scale, torch.ones(3))\n",
            safety="manual",
            why="the project still traces",
        ),
        Ok(
            "def script_if_tracing(f):\n    return f\n\n\n@script_if_tracing\ndef jit():\n    pass\n",
            "an own decorator",
        ),
        Ok("import torch\n\n\n@torch.compile\ndef jit(x):\n    return x\n", "torch.compile"),
        Ok('"""@torch.jit.script_if_tracing"""\n', "a docstring"),
    ),
)
