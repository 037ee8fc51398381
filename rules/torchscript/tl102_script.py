"""`torch.jit.script`: reported with the advice that fits the place; there is no mechanical successor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.deprecation import DEPRECATED, EXPORT_DOCS, SINCE, SOURCES
from torchlift.rules.torchscript.tl112_method_decorators import decorator_of
from torchlift.rules.torchscript.value_life import follow
from torchlift.view import ModuleView, Use

_MESSAGE = f"`torch.jit.script`: {SINCE}. It compiles source code; `torch.export` needs example inputs instead."


def _check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if isinstance(use.node, ast.alias):
        return
    yield Finding("TL102", view.path, view.span(use.node), _MESSAGE, Severity.WARNING, _advice(use, view))


def _advice(use: Use, view: ModuleView) -> str:
    decorator = decorator_of(use, view)
    if decorator is not None:
        definition = view.parent(decorator)
        if isinstance(definition, ast.ClassDef):
            return "Once no scripted code uses the class, the decorator can go: eager mode and export run it as it is."
        return (
            "The decorator can go once no scripted code calls the function; eager mode, torch.compile and torch.export "
            "run it as it is. Check functions with int, float or container arguments: scripting converted and copied them."
        )
    if use.call is None:
        return "Replace this use by hand."
    life = follow(view, use.call)
    if life.saves:
        return (
            f"To keep a file that can be loaded without the source, pass example inputs to `torch.export.export(module, "
            f"args, dynamic_shapes=...)` and write it with `torch.export.save`; call `.eval()` before, not after. {EXPORT_DOCS}"
        )
    if life.form in {"bound", "called"} and life.calls and not life.obstacles:
        return "The value is only called: drop the call, or use `torch.compile(module)` for speed in this process."
    return (
        "For speed in this process use `torch.compile(module)`; to leave Python use `torch.export.export` with example "
        f"inputs, then AOTInductor (C++, serving) or ExecuTorch (mobile). {EXPORT_DOCS}"
    )


RULE = Rule(
    code="TL102",
    name="torchscript-script",
    summary="`torch.jit.script`, which has no mechanical successor",
    why=(
        f"{SINCE}. Scripting keeps control flow, Python scalars and several methods; `torch.export` captures one call "
        "with example inputs, and `torch.compile` only speeds up the running process. Which one is right depends on "
        "what the scripted value is for."
    ),
    fix="None yet: the advice depends on whether the value is saved, called or passed on, and says which case it is.",
    targets=("torch.jit.script",),
    triggers=("jit", "_jit_internal"),
    check=_check,
    deprecated=DEPRECATED,
    sources=(*SOURCES, EXPORT_DOCS),
    examples=(
        Bad(
            "import torch\n\n\n@torch.jit.script\ndef f(x):\n    return x + 1\n",
            safety="manual",
            why="function decorator",
        ),
        Bad("from torch.jit import script\n\nnet = script(object())\nnet(1)\n", safety="manual", why="called only"),
        Bad("from torch import jit\n\njit.script(object()).save('x.pt')\n", safety="manual", why="saved"),
        Bad("import torch\n\nnets = map(torch.jit.script, [])\n", safety="manual", why="passed as a function"),
        Ok("import script\n\nscript.script('jit')\n", "a module named script"),
        Ok("from numba import jit\n\n\n@jit\ndef script(x):\n    return x\n", "numba's jit"),
        Ok("jit = object()\n\n\n@jit.script\ndef f(x):\n    return x\n", "an own object named jit"),
        Ok("# torch.jit.script(model)\njit = 3\n", "a comment"),
    ),
)
