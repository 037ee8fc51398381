"""`@torch.jit.ignore`, `@torch.jit.unused`, `@torch.jit.export`: marks for a compiler that no longer looks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import DropDecorator, Finding, Fix, Safety, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.deprecation import DEPRECATED, SOURCES
from torchlift.rules.torchscript.scripting_uses import (
    COLLECTOR,
    first_expectation,
    first_use,
    has_exported_methods,
)
from torchlift.view import ModuleView, Use


def decorator_of(use: Use, view: ModuleView) -> ast.expr | None:
    """The whole decorator expression if `use` is one: `torch.jit.ignore` or `torch.jit.ignore(drop=True)`."""
    if use.kind == "decorator" and isinstance(use.node, ast.expr):
        return use.node
    if use.call is not None:
        parent = view.parent(use.call)
        if any(use.call is decorator for decorator in getattr(parent, "decorator_list", ())):
            return use.call
    return None


def decorator_findings(use: Use, context: Context, code: str, message: str, blocker: str | None) -> Iterator[Finding]:
    """Findings for one decorator use: a safe removal, or why it has to stay for now."""
    view = context.view
    if isinstance(use.node, ast.alias) or use.kind == "string":
        return
    span = view.span(use.node)
    decorator = decorator_of(use, view)
    if decorator is None:
        yield Finding(code, view.path, span, message, Severity.INFO, "Not used as a decorator here: remove it by hand.")
        return
    if blocker is not None:
        yield Finding(
            code, view.path, span, message, Severity.INFO, f"It has to stay as long as {blocker}; migrate that first."
        )
        return
    expected = first_expectation(context.project)
    advice = None
    if expected is not None:
        advice = f"Needs review: {expected} expects to be compiled, so users of this project may script the class."
    safety = Safety.SAFE if expected is None else Safety.UNSAFE
    fix = Fix("Remove the decorator", safety, (DropDecorator(view.span(decorator)),))
    yield Finding(code, view.path, span, message, Severity.INFO, advice, fix)


def _check(use: Use, context: Context) -> Iterator[Finding]:
    name = use.target.rpartition(".")[2]
    # torch.jit.trace compiles methods under @torch.jit.export and what they call, and nothing else.
    place = first_use(context.project, tracing=has_exported_methods(context.project))
    blocker = f"{place} still compiles TorchScript" if place else None
    message = f"`@torch.jit.{name}` only speaks to the TorchScript compiler."
    yield from decorator_findings(use, context, "TL112", message, blocker)


_BODY = """\
class Net(torch.nn.Module):
    def forward(self, x):
        return self.helper(x)

    @{decorator}
    def helper(self, x):
        return x + 1
"""
_RUN = "result = Net()(torch.ones(2))"

RULE = Rule(
    code="TL112",
    name="torchscript-method-decorator",
    summary="`@torch.jit.ignore`, `unused` or `export` although nothing compiles the class",
    why=(
        "The decorators mark methods for `torch.jit.script` (and `export` also for `torch.jit.trace`). Once nothing in "
        "the project compiles TorchScript they do nothing: eager mode, `torch.compile` and `torch.export` ignore them."
    ),
    fix=(
        "Safe when no file of the project uses `torch.jit.script`, `ScriptModule` or a relative of theirs (for "
        "`export`: nor `torch.jit.trace`). Otherwise the finding names the place that has to go first. Needs review when "
        "code of the project expects to be compiled (`is_scripting()`, `annotate`, ...): then others may script it."
    ),
    targets=("torch.jit.ignore", "torch.jit.unused", "torch.jit.export"),
    triggers=("jit", "_jit_internal"),
    check=_check,
    severity=Severity.INFO,
    deprecated=DEPRECATED,
    collectors=(COLLECTOR,),
    sources=(*SOURCES, "measured on torch 2.13.0 and 2.15.0: harmless in eager, strict and non-strict export, compile"),
    examples=(
        Bad(
            "import torch\n\n\n" + _BODY.format(decorator="torch.jit.unused"),
            "import torch\n\n\n" + _BODY.replace("    @{decorator}\n", ""),
            why="unused",
            run=_RUN,
        ),
        Bad(
            "import torch\nfrom torch.jit import export\n\n\n" + _BODY.format(decorator="export"),
            "import torch\n\n\n" + _BODY.replace("    @{decorator}\n", ""),
            why="from-import goes with its last use",
            run=_RUN,
        ),
        Bad(
            "import torch\n\n\n" + _BODY.format(decorator="torch.jit.ignore(drop=False)  # keep in Python"),
            "import torch\n\n\n" + _BODY.replace("    @{decorator}\n", ""),
            why="called decorator with a comment",
            run=_RUN,
        ),
        Bad(
            "import torch\n\n\n"
            + _BODY.format(decorator="torch.jit.ignore").replace("x + 1", "x + torch.jit.is_scripting()"),
            "import torch\n\n\n"
            + _BODY.replace("    @{decorator}\n", "").replace("x + 1", "x + torch.jit.is_scripting()"),
            safety="unsafe",
            why="the project expects to be scripted by others",
            run=_RUN,
        ),
        Bad(
            "import torch\n\n\n" + _BODY.format(decorator="torch.jit.ignore") + "\n\nnet = torch.jit.script(Net())\n",
            safety="manual",
            why="the class is still scripted",
        ),
        Ok("import pytest\n\n\n@pytest.mark.ignore\ndef f():\n    pass\n", "another library's mark"),
        Ok("def export(f):\n    return f\n\n\n@export\ndef jit():\n    pass\n", "an own decorator named export"),
        Ok("import torch\n\n\n@torch.compiler.disable\ndef jit():\n    pass\n", "torch.compiler's own decorators"),
    ),
)
