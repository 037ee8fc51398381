"""Names that moved: the table path."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditImport, Finding, Fix, ReplaceExpression, Rewrite, Safety, Severity, Template
from torchlift.project import Collector, Project
from torchlift.rules.api.moved_names import MOVED_NAMES, MovedName
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Binding, ModuleView, Use

# Ways to read a name that no analysis of names sees.
_BY_NAME = ("globals(", "locals(", "vars(", "__dict__", "eval(", "exec(")
# Modules that `import torch` alone does not load (torch 2.13.0, fresh process).
_NOT_LOADED = ("torch.distributed.tensor.", "torch.distributed.fsdp.")
_ROWS = {row.old: row for row in MOVED_NAMES}


def _check(use: Use, context: Context) -> Iterator[Finding]:
    row = _ROWS[use.target]
    view = context.view
    gone = row.removed is not None and row.removed <= context.settings.target
    if row.deprecated is not None and row.deprecated > context.settings.target:
        return
    severity = Severity.ERROR if gone else Severity.WARNING
    state = f"was removed in torch {row.removed}" if gone else "is the old name"
    of = "" if gone else f" of `{row.new}`"
    message = f"`{row.old}` {state}{of}{f'; use `{row.new}`' if gone else ''}."
    span = view.span(use.node)
    patched = _patched_at(context.project, row.old)
    if patched is not None and use.kind not in {"string", "store", "delete"}:
        advice = f"Not rewritten: `{row.old}` is replaced or patched at {patched}, which a renamed use would escape."
        yield Finding("TL401", view.path, span, message, severity, advice)
        return
    rewrites = _rewrites(use, row, view, context.project)
    if rewrites is None:
        return
    if not rewrites:
        yield Finding("TL401", view.path, span, message, severity, f"Write `{row.new}` here.")
        return
    fix = Fix(f"Use `{row.new}`", Safety.SAFE, rewrites, needs=row.since)
    yield Finding("TL401", view.path, span, message, severity, fix=fix)


def _collect_patches(view: ModuleView) -> tuple[tuple[str, int], ...] | None:
    """Old names that a file stores to, deletes, or names in a string, with the line."""
    found = [
        (use.target, use.node.lineno)
        for use in view.uses(frozenset(_ROWS))
        if use.kind in {"store", "delete", "string"}
    ]
    return tuple(found) or None


def _patched_at(project: Project, name: str) -> str | None:
    for path, patches in sorted(project.records(_PATCHES).items()):
        for target, line in patches:
            if target == name:
                return f"{path}:{line}"
    return None


def _rewrites(use: Use, row: MovedName, view: ModuleView, project: Project) -> tuple[Rewrite, ...] | None:
    """Rewrites of one use; empty where it cannot be rewritten, None where another finding covers it."""
    node = use.node
    if isinstance(node, ast.alias):
        assert use.resolution is not None and use.resolution.binding is not None
        return _import_rewrites(use, use.resolution.binding, row, view, project)
    if isinstance(node, ast.Name):
        binding = use.resolution.binding if use.resolution is not None else None
        # Reads of an imported or assigned name follow the import or the assignment, which is reported itself.
        return None if binding is not None and binding.imported != row.old else ()
    if use.kind in {"string", "store", "delete"} or not isinstance(node, ast.Attribute):
        return ()
    if row.new.startswith(_NOT_LOADED) and not _stays_imported(view, row.old):
        return ()
    spelling = view.spell(row.new, node, use)
    if spelling is None:
        return ()
    return (ReplaceExpression(view.span(node), Template(spelling.text)), *spelling.imports)


def _stays_imported(view: ModuleView, old: str) -> bool:
    """Whether a plain `import` of the old module, which no fix removes, loads the new one too."""
    module = old.rpartition(".")[0]
    return any(
        isinstance(node, ast.Import) and any(alias.name.startswith(module) for alias in node.names)
        for node in view.tree.body
    )


def _import_rewrites(
    use: Use, binding: Binding, row: MovedName, view: ModuleView, project: Project
) -> tuple[Rewrite, ...]:
    statement, alias = binding.statement, binding.node
    if not isinstance(statement, ast.ImportFrom) or statement.level or not isinstance(alias, ast.alias):
        return ()
    # `from old.module import X` keeps the part of the name behind the moved module.
    new = row.new + use.name.removeprefix(row.old)
    module, _, last = new.rpartition(".")
    reads: tuple[Rewrite, ...] = ()
    bound = binding.name
    if alias.asname is None and last != alias.name and _may_rename(view, binding, last, project):
        bound = last
        reads = tuple(ReplaceExpression(view.span(read), Template(last)) for read, _ in view.reads_of(binding))
    return (EditImport(view.span(statement), alias.name, binding.name, module, last, bound), *reads)


def _may_rename(view: ModuleView, binding: Binding, new: str, project: Project) -> bool:
    """Whether every use of the imported name can take the new name: all in this file, all certain, name free."""
    if project.may_be_imported(view, binding) or any(word in view.source.text for word in _BY_NAME):
        return False
    if any(new in scope.bindings for scope in view.scopes.scope_of.values()):
        return False
    if new in view.scopes.chains or len(binding.scope.bindings[binding.name]) != 1:
        return False
    return all(alone for _, alone in view.reads_of(binding))


def _triggers() -> tuple[str, ...]:
    return tuple(sorted({word for row in MOVED_NAMES for word in row.words}))


_PATCHES = Collector("api.patches", _triggers(), _collect_patches)
_RUN = "result = f(torch.arange(3.0), torch.arange(2.0))"

RULE = Rule(
    code="TL401",
    name="moved-name",
    summary="A torch name that has moved",
    why="The old names are aliases that warn, or are gone; the new ones are the same objects or do the same.",
    fix=(
        "Safe: each row of the table was checked by calling both names. A fix is offered only if the lowest torch the "
        "project supports has the new name. Nothing is renamed while the project stores to the old name or names it in a string, as "
        "patches do. Imports keep their `as` names; where the imported name can be renamed "
        "throughout the file it is."
    ),
    targets=tuple(_ROWS),
    triggers=_triggers(),
    check=_check,
    collectors=(_PATCHES,),
    sources=("the table in rules/api/moved_names.py has the evidence of each row",),
    aliases=("TOR101", "TOR103", "TOR104", "TOR105"),
    examples=(
        Bad(
            "import torch\n\n\ndef f(a, b):\n    return torch.ger(torch.ger(a, b)[0], b)\n",
            "import torch\n\n\ndef f(a, b):\n    return torch.outer(torch.outer(a, b)[0], b)\n",
            why="nested calls in one go",
            run=_RUN,
        ),
        Bad(
            "import torch as th\n\n\ndef f(a, b):\n    return th.ger(a, b)\n",
            "import torch as th\n\n\ndef f(a, b):\n    return th.outer(a, b)\n",
            why="aliased module",
            run="import torch\n" + _RUN,
        ),
        Bad(
            "from torch import ger\n\n\ndef f(a, b):\n    return ger(a, b)\n",
            "from torch import outer\n\n\ndef f(a, b):\n    return outer(a, b)\n",
            why="from-import renamed throughout",
            run="import torch\n" + _RUN,
        ),
        Bad(
            "from torch import ger as g, ones\n\n\ndef f(a, b):\n    return g(a, b) + ones(1)\n",
            "from torch import outer as g, ones\n\n\ndef f(a, b):\n    return g(a, b) + ones(1)\n",
            why="from-import with an as name",
            run="import torch\n" + _RUN,
        ),
        Bad(
            "from torch import ger\n\n\ndef f(a, b):\n    outer = ger\n    return outer(a, b)\n",
            "from torch import outer as ger\n\n\ndef f(a, b):\n    outer = ger\n    return outer(a, b)\n",
            why="the new name is taken",
            run="import torch\n" + _RUN,
        ),
        Bad(
            "import torch\n\ntable = {'ger': torch.ger}\n\n\ndef f(a, b, g=torch.ger):\n    return g(*(a, b)) + table['ger'](a, b)\n",
            "import torch\n\ntable = {'ger': torch.outer}\n\n\ndef f(a, b, g=torch.outer):\n    return g(*(a, b)) + table['ger'](a, b)\n",
            why="references that are not calls",
            run=_RUN,
        ),
        Bad(
            "import torch\n\n\ndef f(a, b):\n    return torch.ger(a, b)\n",
            safety="manual",
            why="the project supports a torch without the new name",
            min_torch=TorchVersion(1, 6),
        ),
        Bad(
            "import functorch\nimport torch\n\n\ndef f(a, b):\n    return functorch.vmap(torch.dot)(a, a)\n",
            "import torch\n\n\ndef f(a, b):\n    return torch.func.vmap(torch.dot)(a, a)\n",
            why="a module that is left without use",
            run="result = f(torch.ones(3, 2), None)",
        ),
        Bad(
            "import torch\nfrom functorch import grad, vmap\n\n\ndef f(a, b):\n    return vmap(grad(torch.sin))(a)\n",
            "import torch\nfrom torch.func import grad, vmap\n\n\ndef f(a, b):\n    return vmap(grad(torch.sin))(a)\n",
            why="all names of an import move together",
            run=_RUN,
        ),
        Bad(
            "import torch\nfrom torch.nn import init\n\n\ndef f(a, b):\n    return init.constant(a, 3)\n",
            "import torch\nfrom torch.nn import init\n\n\ndef f(a, b):\n    return init.constant_(a, 3)\n",
            why="an imported submodule",
            run=_RUN,
        ),
        Bad(
            "import torch\n\nold = torch.ger\ntorch.ger = lambda a, b: old(a, b)\n",
            safety="manual",
            why="the name is patched: a renamed use would miss the patch",
        ),
        Bad("from unittest import mock\n\nmock.patch('torch.ger')\n", safety="manual", why="a patch target"),
        Ok("import numpy as torch\n\ntorch.ger(1, 2)\n", "another module called torch"),
        Ok("import torch\n\n\ndef f(torch, a):\n    return torch.ger(a, a)\n", "a parameter shadows the module"),
        Ok(
            "import torch\n\nouter = torch.outer if hasattr(torch, 'outer') else torch.ger\n",
            "hasattr already handles both",
        ),
        Ok(
            "try:\n    from torch import outer\nexcept ImportError:\n    from torch import ger as outer\n",
            "an import fallback handles both",
        ),
        Ok("import torch\n\nx = torch.ones(2)\nx.ger(x)\n", "a method of the same name"),
        Ok('"""torch.ger(a, b) and ger"""\n', "a docstring"),
    ),
)
