"""Whether anything besides a file itself needs it to be there."""

from __future__ import annotations

from torchlift.project import Project
from torchlift.view import ModuleView

_FOUND_BY_THEMSELVES = frozenset({"__main__", "conftest", "setup"})


def is_named_elsewhere(project: Project, view: ModuleView) -> bool:
    """Whether another file of the project names a file, a command or an entry point among them, or it may be found without its name."""
    stem = view.path.rpartition("/")[2].removesuffix(".py")
    return (
        view.is_package
        or stem in _FOUND_BY_THEMSELVES
        or any(path != view.path for path in project.files_holding(stem, whole=True))
        or bool(project.mentions(stem, (view.path,)))
    )
