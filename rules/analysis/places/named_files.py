"""Whether anything besides a file itself needs it to be there."""

from __future__ import annotations

from torchlift.notebook import is_notebook
from torchlift.project import Project
from torchlift.view import ModuleView
from torchlift.view.text import is_document

_FOUND_BY_THEMSELVES = frozenset({"__main__", "conftest", "setup"})


def is_named_elsewhere(project: Project, view: ModuleView, *, in_documents: bool = True) -> bool:
    """Whether another file of the project names a file, a command or an entry point among them, or it may be found without its name.

    Documents count unless `in_documents` is false.
    """
    stem = _stem(view)
    return (
        view.is_package
        or stem in _FOUND_BY_THEMSELVES
        or any(path != view.path for path in project.files_holding(stem, whole=True))
        or any(in_documents or not _is_read(place) for place in project.mentions(stem, (view.path,)))
    )


def documents_naming(project: Project, view: ModuleView) -> list[str]:
    """`path:line` of the places in documents that name a file, as one or as a module."""
    names = (f"{_stem(view)}.py", f"-m {view.path.removesuffix('.py').replace('/', '.')}")
    found = (place for places in project.places(names).values() for place in places)
    return [place for place in dict.fromkeys(found) if _is_read(place)]


def _is_read(place: str) -> bool:
    """Whether a place is in a document whose commands nobody runs as they stand."""
    path = place.rpartition(":")[0]
    return is_document(path) and not is_notebook(path)


def _stem(view: ModuleView) -> str:
    return view.path.rpartition("/")[2].removesuffix(".py")
