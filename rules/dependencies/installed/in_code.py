"""What code installs: lists of packages that it hands on, and commands in its strings."""

from __future__ import annotations

import ast
import re

from torchlift.dependencies.grammar import read_pin
from torchlift.dependencies.pin_set import PinSet
from torchlift.dependencies.setup_file import string_place
from torchlift.dependencies.version_values import VersionValue
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import SourceText
from torchlift.view import ModuleView
from torchlift.view.text import TextView
from torchlift.view.walk import walk

LISTS = (
    "pip_install", "uv_pip_install", "packages_to_install", "pip_packages", "packages", "requirements", "dependencies", "deps",
)  # fmt: skip
"""What code calls its lists of packages."""
_COMMAND = lazy_pattern(r"\bpip3? install\b[^\n]*\btorch(?:vision|audio)?==\d")
_PINNED = lazy_pattern(r"torch(?:vision|audio)?(?:\[\w+\])?(?:===?|~=|<=?)\d[\w.+*]*")
_ASKS = lazy_pattern(
    r"(?:^|_)(?:pip|packages?|requirements?|requires|dependenc(?:y|ies)|deps|reqs)(?:_|$)", re.IGNORECASE
)
_KEEPS_OUT = lazy_pattern(
    r"(?:^|_)(?:not|no|bad|skip|exclude[sd]?|incompatible|old|broken|blocked|banned|without)(?:_|$)", re.IGNORECASE
)
_MADE = lazy_pattern(r"(?<![\w-])torch==\$?\{(?P<name>[A-Za-z_]\w*)\}")
_RELEASE = lazy_pattern(r"\d+\.\d+(?:\.\d+)?")
_OTHERS_READ = frozenset({"setup.py", "noxfile.py"})


def lists_in_code(view: ModuleView) -> list[PinSet]:
    """Lists of packages in code that names them so: arguments of `pip_install`, values of `packages_to_install`, of a key "pip"."""
    found: dict[int, PinSet] = {}
    for node in walk(view.tree) if view.path.rpartition("/")[2] not in _OTHERS_READ else ():
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or not _PINNED.fullmatch(node.value):
            continue
        place, parent = string_place(view.source, node), view.parent(node)
        of_list = isinstance(parent, (ast.List, ast.Tuple, ast.Set))
        above = view.parent(parent) if of_list and parent is not None else parent
        name = _name_of(parent if of_list else node, above) if above is not None else ""
        if place is None or above is None or not _ASKS.search(name) or _KEEPS_OUT.search(name):
            continue
        pin = read_pin(view.source.slice(place), place.start)
        found.setdefault(id(above), PinSet(place)).add(pin)
    return list(found.values())


def commands_in_code(view: ModuleView) -> TextView | None:
    """Commands in strings of code, which a shell runs: each where it stands, with blanks in the place of all else."""
    text = view.source.text
    if not _COMMAND.search(text):
        return None
    kept = []
    for node in walk(view.tree):
        said = isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        parent = view.parent(node) if said else None
        if isinstance(node, ast.expr) and parent is not None and not isinstance(parent, (ast.Expr, ast.JoinedStr)):
            kept += [view.span(node)] if _COMMAND.search(view.text(node)) else []
    shown = [text[span.start : span.end].replace('"', " ").replace("'", " ") for span in kept]
    code, at = "", 0
    for span, command in zip(kept, shown, strict=True):
        if span.start >= at:
            code += re.sub(r"[^\n]", " ", text[at : span.start]) + command
            at = span.end
    return TextView(view.path, "shell", SourceText(code + re.sub(r"[^\n]", " ", text[at:])))


def releases_in_code(view: ModuleView) -> list[VersionValue]:
    """Releases that code gives names to which requirements of torch are made with: `f"torch=={RELEASE}"`."""
    uses = {match["name"]: match[0] for match in _MADE.finditer(view.source.text)}
    found = []
    for node in walk(view.tree) if uses else ():
        if (
            not isinstance(node, ast.Assign)
            or not isinstance(node.targets[0], ast.Name)
            or node.targets[0].id not in uses
        ):
            continue
        place, name = string_place(view.source, node.value), node.targets[0].id
        if place is not None and _RELEASE.fullmatch(view.source.slice(place)):
            found.append(VersionValue("torch", name, view.source.slice(place), place, listed=False, use=uses[name]))
    return found


def _name_of(node: ast.AST | None, above: ast.AST) -> str:
    """What code calls a list that `node` is, or is one argument of."""
    if isinstance(above, ast.Call):
        return ast.unparse(above.func).rpartition(".")[2]
    if isinstance(above, ast.keyword):
        return above.arg or ""
    if isinstance(above, ast.Dict):
        key = next((key for key, value in zip(above.keys, above.values, strict=True) if value is node), None)
        return str(key.value) if isinstance(key, ast.Constant) else ""
    if isinstance(above, (ast.Assign, ast.AnnAssign)):
        return ast.unparse(above.targets[0] if isinstance(above, ast.Assign) else above.target)
    return ""
