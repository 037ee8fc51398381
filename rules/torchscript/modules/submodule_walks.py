"""Where a project looks at the parts of modules one by one.

The parts of a ScriptModule are `RecursiveScriptModule`s and no `torch.nn.Linear`: `isinstance` says no where it says yes
for the parts of a plain module (measured on torch 2.13.0, 2026-11-21).
"""

from __future__ import annotations

import re

from torchlift.project import Project

_WORDS = ("apply", "modules", "children", "get_submodule")
_WALK = re.compile(
    rb"(?<!\bsys)\.\s*(?:apply|(?:named_)?(?:modules|children)|get_submodule|_modules)\b|[\"'](?:apply|(?:named_|_)?modules|(?:named_)?children)[\"']"
)
_NEWLINE = b"\n"


def first_walk(project: Project) -> str | None:
    """`path:line` of the first place in the project that may go through the parts of a module.

    Whatever is called `.apply`, `.modules` or the like counts: which object it belongs to is not looked at.
    """
    return project.once(_find)


def _find(project: Project) -> str | None:
    for path in project.files_holding(*_WORDS):
        data = project.data(path)
        for found in _WALK.finditer(data):
            if b"#" not in data[data.rfind(_NEWLINE, 0, found.start()) + 1 : found.start()]:
                return f"{path}:{data.count(_NEWLINE, 0, found.start()) + 1}"
    return None
