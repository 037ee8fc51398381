"""What a rule sees of one file: its text, its tree, and what every name in it means."""

from __future__ import annotations

import ast

from torchlift.view import spelling
from torchlift.view.spelling import Spelling
from torchlift.view.uses import SearchedFile, Use


class ModuleView(SearchedFile):
    """One parsed file: what its names mean, where it uses some, and how to write others in it."""

    def spell(self, name: str, at: ast.AST, like: Use | None = None) -> Spelling | None:
        """How to write the qualified `name` at `at`.

        First choice is the way the file already spells `like` (`th.jit.trace` shows how to write `th.export.export`),
        then any other import visible at `at`, then a new import. A new import goes right behind the import that `like`
        came through, so that it is available exactly where the old name was. None if nothing of this is possible.
        """
        return spelling.spell(self, name, at, like, self._project_name)

    def is_unread_import(self, use: Use) -> bool:
        """Whether `use` is a `from ... import` of a name that nothing in this file reads, so that no other use tells of it."""
        binding = use.resolution.binding if use.kind == "import" and use.resolution is not None else None
        return binding is not None and isinstance(binding.statement, ast.ImportFrom) and not self.reads_of(binding)

    def fresh_name(self, base: str, at: ast.AST) -> str:
        """A name starting with `base` that nothing in this file uses."""
        return spelling.fresh_name(self, base)
