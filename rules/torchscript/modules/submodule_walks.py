"""Where a project looks at the parts of modules one by one, and asks of which class they are.

The parts of a ScriptModule are `RecursiveScriptModule`s and no `torch.nn.Linear`: `isinstance` says no where it says yes
for the parts of a plain module (measured on torch 2.13.0, 2026-11-21). Where it asks for other classes than the parts have,
the answer stays no.
"""

from __future__ import annotations

import ast
import builtins
import numbers
import pathlib
import re
from collections.abc import Iterator

from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.project.same_program import in_one_program
from torchlift.rules.torchscript.modules.reached_classes import reached_classes
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_WORDS = ("apply", "modules", "children", "get_submodule")
_WALK = lazy_pattern(
    rb"(?<!\bsys)\.\s*(?:apply|(?:named_)?(?:modules|children)|get_submodule|_modules)\b|[\"'](?:apply|(?:named_|_)?modules|(?:named_)?children)[\"']"
)
_TEST = lazy_pattern(
    rb"\bisinstance\(\s*(?P<value>[^,()]+),\s*(?P<kinds>\([^()]*\)|[^()\n]*)|"
    rb"\btype\((?P<other>\w+)\)\s*(?:==|is|in|!=|not\s+in|is\s+not)\s*(?P<type>\([^()]*\)|[\w.]+)|"
    rb"\bcase\s+(?P<case>[\w.]+)\(|"
    rb"(?P<named>(?<!\bself)\.__class__\.__name__|\btype\((?!self\b)\w+\)\.__name__|\b(?:str|repr)\(\s*type\((?!self\b)\w+\)\s*\))"
)
# Classes of no module, unless the project has one of that name: what Python offers, tensors, errors.
_NO_PARTS = frozenset(
    [*dir(builtins), *numbers.__all__, *pathlib.__all__, *"Tensor Parameter Mapping Sequence Iterable".split()]
)
_ERROR = lazy_pattern(r"(?:Error|Exception|Warning)$")
_NAME = lazy_pattern(rb"[\w.]+")
_PART = lazy_pattern(rb"\b(?:m|mod|module|modules|layer|part|child|sub\w*|block|net|model)\w*$")
_NEWLINE = b"\n"
_ANY = ""


def first_walk(project: Project, parts: frozenset[str] | None, near: str) -> str | None:
    """`path:line` of a place, in a program with `near` and closest to it, that may find the parts of a scripted module by their classes.

    Whatever is called `.apply`, `.modules` or the like counts as going through parts, and whatever asks for a class anywhere
    in a project that does so: which object it belongs to is not looked at.

    Args:
        project: the project.
        parts: names of the classes that the module is made of, as of `parts_of`; None if they are not known.
        near: the file of the module.
    """
    walked = project.once(_find)
    if walked is None:
        return None
    asked = project.once(_asked)
    found = [place for place, kind in asked if parts is None or _is_any(kind) or kind in parts]
    found = [place for place in found if in_one_program(project, near, place.rpartition(":")[0])]
    folder = near.rpartition("/")[0]
    away = {place: (not place.startswith(f"{near}:"), place.rpartition("/")[0] != folder) for place in found}
    return min(found, key=away.__getitem__, default=None)


def _is_any(kind: str) -> bool:
    return kind == _ANY or kind.startswith("_")


def parts_of(view: ModuleView, owner: ast.ClassDef, project: Project) -> frozenset[str] | None:
    """Names of all classes that a module is made of; None if some of it was not read."""
    classes, unread = reached_classes(view, owner, project)
    if unread is not None:
        return None
    names = {node.name for _, node in classes}
    for home, node in classes:
        names |= {
            name.rpartition(".")[2]
            for child in walk(node)
            if isinstance(child, (ast.Name, ast.Attribute))
            and (name := home.certain_name(child)).startswith("torch.nn.")
        }
    return frozenset(names)


def _find(project: Project) -> str | None:
    for path in project.files_holding(*_WORDS):
        data = project.data(path)
        for found in _WALK.finditer(data):
            if _outside_comment(data, found.start()):
                return f"{path}:{data.count(_NEWLINE, 0, found.start()) + 1}"
    return None


def _asked(project: Project) -> tuple[tuple[str, str], ...]:
    """Places that ask for a class that may be a module's, with its name; with an empty one where it may be any."""
    found: dict[tuple[str, str], None] = {}
    for path in project.files_holding("isinstance", "type(", "__class__", "case "):
        data = project.data(path)
        walks = _WALK.search(data) is not None
        for test in _TEST.finditer(data):
            if _outside_comment(data, test.start()):
                place = f"{path}:{data.count(_NEWLINE, 0, test.start()) + 1}"
                for kind in _kinds(test, walks=walks):
                    if _is_no_part(project, kind):
                        continue
                    asked = _ANY if kind and _is_renamed(project, data, kind) else kind
                    found[place, asked] = None
    return tuple(found)


def _is_no_part(project: Project, kind: str) -> bool:
    """Whether no module can be of the class that is asked for."""
    other = kind in _NO_PARTS or _ERROR.search(kind) is not None
    return other and not project.files_holding(f"class {kind}", f"{kind} =", f"as {kind}")


def _is_renamed(project: Project, data: bytes, kind: str) -> bool:
    """Whether a name may be another one for a class, or one for several."""
    renamed = re.search(rf"\bas\s+{kind}\b|\b{kind}\s*(?::[^=\n]*)?=(?!=)".encode(), data) is not None
    return renamed or bool(project.files_holding(f"{kind} = ", f"{kind}: tuple", f"{kind}: Tuple"))


def _kinds(test: re.Match[bytes], *, walks: bool) -> Iterator[str]:
    if test["named"] is not None:
        if walks:
            yield _ANY
        return
    value = (test["value"] or test["other"] or b"").strip()
    for name in _NAME.findall(test["kinds"] or test["type"] or test["case"] or b""):
        last = name.rpartition(b".")[2].decode()
        if last[:1].isupper() or last.startswith("_"):
            if last != "Module":  # what a scripted part is, too
                yield last
        elif walks and _PART.search(value) is not None:
            yield _ANY


def _outside_comment(data: bytes, at: int) -> bool:
    return b"#" not in data[data.rfind(_NEWLINE, 0, at) + 1 : at]
