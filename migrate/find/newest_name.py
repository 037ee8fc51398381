"""The newest name of torch that the modules of a project need to be imported: they cannot be on releases that lack it.

Looked for where no file tells which torch is the lowest, and only once a file of the run interests a rule. What functions
use may be for the one who has a newer torch; what is imported, or evaluated, outside of them and under no condition is
needed by all. Bytes tell which files seem to do so; only these are parsed, those with the newest names first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace

from torchlift.api_changes.newer_names import newer_names
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.find.selection import Selected
from torchlift.migrate.options import RunOptions
from torchlift.project import Project
from torchlift.rules.analysis.places.purpose import FOLDERS_ASIDE, is_test_file
from torchlift.rules.rule_index import newer_words
from torchlift.search.vocabulary import words_in
from torchlift.torch_names import public_name
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.guards import tests_release

# A newline at the start is found ten times faster than the start of a line.
_FROM = lazy_pattern(rb"\nfrom[ \t]+(torch[\w.]*)[ \t]+import[ \t]*(\([^)]*\)|[^\r\n(]*)")
_RENAMED = lazy_pattern(rb"\bas[ \t]+\w+|#[^\r\n]*")
_OUTSIDE = lazy_pattern(rb"\n(?:[^\s#]|[ \t]+@)[^\r\n]*")
_DOTTED = lazy_pattern(rb"(?<![\w.])torch(?:\.\w+)+")
_WORD = lazy_pattern(rb"\w+")
_NOT_EVALUATED = frozenset({"annotation", "string", "store", "delete"})
_MAYBE = (ast.If, ast.IfExp, ast.Try, ast.ExceptHandler, ast.BoolOp, ast.Match, ast.Lambda)


@dataclass(frozen=True)
class NewestName:
    """A name, the first release of the tables that has it, and a place such as `train.py:12` that needs it."""

    name: str
    since: TorchVersion
    place: str


def with_newest_name(options: RunOptions, project: Project, selected: Iterable[Selected]) -> RunOptions:
    """The options of a run with the lowest torch that the code of the project leaves, where nothing names it.

    Args:
        options: what the run was asked to do.
        project: the project with all its files.
        selected: those that the run was given, with `newer_words` noted.
    """
    settings = options.settings
    if not options.ask_code:
        return options
    found = newest_name(project, {file.path: file.noted for file in selected}, settings.min_torch, settings.target)
    if found is None:
        return options
    why = (
        f"No requirement names a lowest torch; {found.since} is taken, the first with `{found.name}`, which {found.place} "
        "needs."
    )
    return replace(
        options,
        settings=replace(settings, min_torch=found.since),
        min_torch_source=found.place,
        min_torch_why=(*options.min_torch_why[:-1], why),
    )


def newest_name(
    project: Project, noted: Mapping[str, Set[bytes]], above: TorchVersion, target: TorchVersion
) -> NewestName | None:
    """The newest name that a project needs, of those that came after `above` and not after `target`.

    Args:
        project: the project with all its files.
        noted: which of `newer_words` stand in a file, as far as it is known.
        above: a release that the project has at least.
        target: the release that it moves to.
    """
    candidates: dict[TorchVersion, dict[str, set[str]]] = {}
    for path in project.files:
        if is_test_file(path) or not FOLDERS_ASIDE.isdisjoint(path.split("/")):
            continue
        for name in _seen_in(project, path, noted):
            if above < (since := newer_names()[name]) <= target:
                candidates.setdefault(since, {}).setdefault(path, set()).add(name)
    for since in sorted(candidates, reverse=True):
        for path, names in candidates[since].items():
            use = _needed(project, path, frozenset(names))
            if use is not None:
                return NewestName(use.target, since, f"{path}:{use.node.lineno}")
    return None


def _seen_in(project: Project, path: str, noted: Mapping[str, Set[bytes]]) -> Iterator[str]:
    """Names that a file seems to spell outside of functions, and in decorators."""
    try:
        words = noted[path] if path in noted else words_in(project.data(path), newer_words())
        data = b"\n" + project.data(path) if words else b""
    except OSError:
        return
    if b"torch" not in data:
        return
    spelled = [name for line in _OUTSIDE.findall(data) for name in _DOTTED.findall(line)]
    for module, listed in _FROM.findall(data):
        spelled += [b"%b.%b" % (module, name) for name in _WORD.findall(_RENAMED.sub(b"", listed))]
    names = newer_names()
    for parts in {tuple(public_name(name.decode()).split(".")) for name in spelled}:
        yield from (name for end in range(2, len(parts) + 1) if (name := ".".join(parts[:end])) in names)


def _needed(project: Project, path: str, names: frozenset[str]) -> Use | None:
    """The first use of one of `names` in a file without which it cannot be imported."""
    view = project.view(path)
    for use in view.uses(names) if view is not None else ():
        certain = use.certain and use.wrapper is None and use.kind not in _NOT_EVALUATED
        if view is not None and certain and not _is_optional(view, use.node):
            return use
    return None


def _is_optional(view: ModuleView, node: ast.AST) -> bool:
    """Whether a file can be imported where a place in it cannot run: it is in a function, or under a condition."""
    for child, ancestor in view.upwards(node):
        if isinstance(ancestor, _MAYBE):
            return True
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)) and child in ancestor.body:
            return True
        if isinstance(ancestor, ast.Module):
            # `if torch_is_old: raise ...` above it
            return any(isinstance(below, ast.If) and tests_release(view, below.test) for below in ancestor.body)
    return False
