"""Whether a traced value becomes a part of a module that is scripted as a whole, with this part in it."""

from __future__ import annotations

import ast

from torchlift.project import Project
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.torchscript.compilers.scripting_roots import compiled_by
from torchlift.rules.torchscript.values.value_life import ValueLife
from torchlift.view import ModuleView


def part_of_scripted(life: ValueLife, project: Project, path: str, owner: ast.ClassDef) -> str | None:
    """End of the sentence "the value ..." where the class `owner` of `path`, which holds it, is compiled; None otherwise.

    A part that is scripted is scripted with the whole, too; a traced one may be what cannot be, and neither can an exported one.
    """
    if not life.view.possible_name(life.origin.func).startswith("torch.jit.trace"):
        return None
    reach = compiled_by(project, ((path, owner.lineno),))
    if reach is None:
        return None
    compiles = "compiles and which has to go first" if reach.certain else "may compile, and that has to go first"
    return f"becomes a part of `{owner.name}`, which {reach.root} {compiles}"


def given_to_scripted(life: ValueLife, project: Project | None, view: ModuleView, call: ast.Call) -> str | None:
    """The same where the value is an argument of `call`, which makes an object of a class."""
    made = definition_of(view, call.func, project, ast.ClassDef) if project is not None else None
    return part_of_scripted(life, project, made[0].path, made[1]) if made is not None and project is not None else None
