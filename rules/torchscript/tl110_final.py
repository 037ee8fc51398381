"""`torch.jit.Final` is `typing.Final` under another name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditImport, Finding, Fix, ReplaceExpression, Safety, Severity, Template
from torchlift.rules.analysis.places.use_places import place_of
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.view import Use

RULE = Rule(
    code="TL110",
    name="torchscript-final",
    summary="`torch.jit.Final` instead of `typing.Final`",
    why="`torch.jit.Final is typing.Final`: it is the same object, and only the old name depends on TorchScript. It does not "
    "warn.",
    fix="Safe: the annotation keeps its meaning for TorchScript and for type checkers.",
    targets=("torch.jit.Final",),
    triggers=("jit", "_jit_internal"),
    sources=(*SOURCES, "`torch.jit.Final is typing.Final` evaluated on torch 2.13.0 and 2.15.0"),
)

_MESSAGE = "`torch.jit.Final` is an alias of `typing.Final` and goes away with TorchScript."


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    span = view.span(use.node)
    title = "Use `typing.Final`"
    if use.kind in {"string", "store", "delete"}:
        advice = (
            "Name `typing.Final` here." if use.kind == "string" else "Drop the patch together with the code it is for."
        )
        if place_of(use, context) is not None:
            yield Finding("TL110", view.path, span, _MESSAGE, Severity.WARNING, advice)
    elif isinstance(use.node, ast.alias):
        assert use.resolution is not None and use.resolution.binding is not None
        binding = use.resolution.binding
        if not isinstance(binding.statement, ast.ImportFrom):
            return
        edit = EditImport(view.span(binding.statement), use.node.name, binding.name, "typing", "Final", binding.name)
        yield Finding("TL110", view.path, span, _MESSAGE, Severity.WARNING, fix=Fix(title, Safety.SAFE, (edit,)))
    elif isinstance(use.node, ast.Attribute) or (use.resolution is not None and use.resolution.binding is None):
        assert use.resolution is not None
        spelling = view.spell("typing.Final", use.node, use)
        if spelling is None:
            yield Finding("TL110", view.path, span, _MESSAGE, Severity.WARNING, "Write `typing.Final` here.")
            return
        fix = Fix(title, Safety.SAFE, (ReplaceExpression(span, Template(spelling.text)), *spelling.imports))
        yield Finding("TL110", view.path, span, _MESSAGE, Severity.WARNING, fix=fix)


_MODULE = """\
class Net(torch.nn.Module):
    width: {final}[int]

    def __init__(self):
        super().__init__()
        self.width = 3

    def forward(self, x):
        return x * self.width
"""
_RUN = "result = (Net()(torch.ones(2)), torch.jit.script(Net())(torch.ones(2)))"

EXAMPLES = (
    Bad(
        "import torch\n\n\n" + _MODULE.format(final="torch.jit.Final"),
        "from typing import Final\n\nimport torch\n\n\n" + _MODULE.format(final="Final"),
        why="attribute of the torch module",
        run=_RUN,
    ),
    Bad(
        "import typing\n\nimport torch as th\n\ntorch = th\n\n\n" + _MODULE.format(final="th.jit.Final"),
        "import typing\n\nimport torch as th\n\ntorch = th\n\n\n" + _MODULE.format(final="typing.Final"),
        why="aliased module, typing imported already",
        run=_RUN,
    ),
    Bad(
        "import torch\nfrom torch.jit import Final\n\n\n" + _MODULE.format(final="Final"),
        "from typing import Final\n\nimport torch\n\n\n" + _MODULE.format(final="Final"),
        why="from-import: only the import changes",
        run=_RUN,
    ),
    Bad(
        "import torch\nfrom torch.jit import (\n    Final as F,  # constant\n    script,\n)\n\n\n"
        + _MODULE.format(final="F"),
        "import torch\nfrom torch.jit import (\n    script,\n)\nfrom typing import Final as F\n\n\n"
        + _MODULE.format(final="F"),
        why="from-import beside other names",
        run=_RUN,
    ),
    Bad(
        "import torch.jit as tj\nimport torch\n\n\n" + _MODULE.format(final="tj.Final"),
        "from typing import Final\n\nimport torch\n\n\n" + _MODULE.format(final="Final"),
        why="the module under another name",
        run=_RUN,
    ),
    Bad(
        "import torch\nfrom torch._jit_internal import Final\n\n\n" + _MODULE.format(final="Final"),
        "from typing import Final\n\nimport torch\n\n\n" + _MODULE.format(final="Final"),
        why="the private module",
        run=_RUN,
    ),
    Bad("from unittest import mock\n\nmock.patch('torch.jit.Final')\n", why="patch target"),
    Ok("from typing import Final\n\nx: Final[int] = 3\n", "typing.Final itself"),
    Ok("class torch:\n    class jit:\n        Final = list\n\n\nx: torch.jit.Final = []\n", "a class named torch"),
    Ok(
        "try:\n    from torch.jit import Final\nexcept ImportError:\n    from typing import Final\n\nx: Final[int] = 3\n",
        "an import fallback handles both",
    ),
    Ok('"""Annotate with torch.jit.Final."""\n# torch.jit.Final\n', "prose in a docstring"),
)
