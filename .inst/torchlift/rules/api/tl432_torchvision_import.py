"""`import torchvision.models as models`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import AddImport, DeleteStatement, Finding, Fix, Safety, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

_MODULES = ("datasets", "models", "transforms")

RULE = Rule(
    code="TL432",
    name="torchvision-import",
    summary="`import torchvision.models as models`, where `from torchvision import models` says the same",
    why="A matter of style, kept for projects that come from TorchFix; nothing breaks.",
    fix="Safe where the import has a line of its own: both bind the same module.",
    targets=tuple(f"torchvision.{module}" for module in _MODULES),
    triggers=tuple(f"torchvision.{module} as" for module in _MODULES),
    severity=Severity.INFO,
    default=False,
    aliases=("TOR203",),
    sources=("https://docs.python.org/3/reference/simple_stmts.html#the-import-statement",),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, alias = context.view, use.node
    binding = use.resolution.binding if use.resolution is not None else None
    if use.kind != "import" or not isinstance(alias, ast.alias) or binding is None:
        return
    statement = binding.statement
    short = alias.name.rpartition(".")[2]
    if not isinstance(statement, ast.Import) or alias.name not in RULE.targets or alias.asname != short:
        return
    span = view.span(statement)
    message = f"`import torchvision.{short} as {short}` says the name twice."
    new = f"from torchvision import {short}"
    if len(statement.names) > 1:
        yield Finding(
            "TL432", view.path, view.span(alias), message, Severity.INFO, f"Write `{new}` on a line of its own."
        )
        return
    fix = Fix(f"Write `{new}`", Safety.SAFE, (DeleteStatement(span), AddImport(new, span)))
    yield Finding("TL432", view.path, span, message, Severity.INFO, None, fix)


EXAMPLES = (
    Bad(
        "import torchvision.models as models  # pretrained ones\n\nnames = sorted(vars(models))\n",
        "from torchvision import models  # pretrained ones\n\nnames = sorted(vars(models))\n",
        why="a module under its own name",
        files=(("torchvision/__init__.py", ""), ("torchvision/models.py", "resnet = 1\n")),
        run="result = 'resnet' in names",
    ),
    Bad("import torchvision.datasets as datasets, os\n", why="with another module on the line"),
    Ok("import torchvision.models as cnn\n", "another name"),
    Ok("from torchvision import models as models\n", "the short form"),
    Ok("import torchvision.models\n", "no other name"),
)
