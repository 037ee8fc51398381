"""Names of `typing` that code imports from TorchScript's modules, where they are the same objects.

Source: each compared with `is` on torch 2.13.0; `torch/jit/annotations.py` and `torch/_jit_internal.py` import them.
"""

from __future__ import annotations

import ast

from torchlift.finding import EditImport, ReplaceExpression, Rewrite, Template
from torchlift.view import ModuleView, Use

_NAMES = ("Any", "Dict", "List", "Optional", "Tuple", "Union")
# `torch._jit_internal.List` is called `torch.jit.List` here; a plain `torch.jit.List` does not exist.
_ALIASES = {f"{home}.{name}": name for home in ("torch.jit.annotations", "torch.jit") for name in _NAMES}


def typing_alias(use: Use) -> str | None:
    """The name in `typing` that `use` stands for, if it does."""
    return _ALIASES.get(use.name)


def follows_import(use: Use) -> bool:
    """Whether `use` only reads a name that an import brought, so that changing the import changes it too."""
    return isinstance(use.node, ast.Name) and use.resolution is not None and use.resolution.binding is not None


def to_typing(use: Use, whole: ast.expr | ast.alias, view: ModuleView) -> tuple[Rewrite, ...] | None:
    """Rewrites that take the name from `typing`; None where that cannot be written.

    Args:
        use: the use.
        whole: the whole dotted name.
        view: its file.
    """
    name = _ALIASES[use.name]
    if isinstance(use.node, ast.alias):
        binding = use.resolution.binding if use.resolution is not None else None
        if binding is None or not isinstance(binding.statement, ast.ImportFrom) or binding.statement.level:
            return None
        span = view.span(binding.statement)
        return (EditImport(span, use.node.name, binding.name, "typing", name, binding.name),)
    spelling = view.spell(f"typing.{name}", whole, use) if isinstance(whole, ast.Attribute) else None
    if spelling is None:
        return None
    return (ReplaceExpression(view.span(whole), Template(spelling.text)), *spelling.imports)
