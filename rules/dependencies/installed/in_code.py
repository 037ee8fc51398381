"""What code installs: lists of packages that it hands on, and commands in its strings."""

from __future__ import annotations

import ast
import re

from torchlift.dependencies.grammar import read_pin
from torchlift.dependencies.pin_set import PinSet
from torchlift.dependencies.setup_file import string_place
from torchlift.dependencies.version_values import VersionValue
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import SourceText, Span
from torchlift.versions import TorchVersion
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
_MADE = lazy_pattern(r"(?<![\w-])torch(?:==|-(?=[^\n]*\.html))(?:\$?\{|\$)(?P<name>[A-Za-z_]\w*)\}?")
_RELEASE = lazy_pattern(r"(\d+\.\d+(?:\.\d+)?)(?:\+\w+)?")
_OF_TORCH = lazy_pattern(r"(?:\w+_)?(?:py)?torch(?:_?ver(?:sion)?s?)?", re.IGNORECASE)
_IN_LIST = lazy_pattern(r"(?P<release>\d+\.\d+(?:\.\d+)?)(?:\.\*|\+\w+)?\Z")
_PIN_IN_LIST = lazy_pattern(r"(?<![\w-])torch(?:===?|~=|<=?)(?P<release>\d+\.\d+(?:\.\d+)?)")
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
        release = _RELEASE.fullmatch(view.source.slice(place)) if place is not None else None
        if place is not None and release is not None:
            span = Span(place.start, place.start + len(release[1]))
            found.append(VersionValue("torch", name, release[1], span, listed=False, use=uses[name]))
    return found


def releases_of_sessions(view: ModuleView) -> list[VersionValue]:
    """The newest release of torch in each list that sessions of nox are made for: `parametrize("torch", ["2.1", "2.5"])`, a list of such a
    name, requirements in the strings of one."""
    found = []
    for node in walk(view.tree) if view.path.rpartition("/")[2] == "noxfile.py" else ():
        match node:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[ast.Constant(value=str(name)), listed, *_]):
                made = True
            case ast.Assign(targets=[ast.Name(id=name)], value=listed):
                made = False
            case _:
                continue
        if not isinstance(listed, (ast.List, ast.Tuple)):
            continue
        of_torch = _OF_TORCH.fullmatch(name) is not None
        if not (made or of_torch):
            continue
        releases: list[VersionValue] = []
        for item in listed.elts:
            text = item.value if isinstance(item, ast.Constant) and isinstance(item.value, str) else ""
            place = string_place(view.source, item) if text else None
            if text and not of_torch and "torch" not in text:
                continue  # an entry without torch
            said = _IN_LIST.match(text) if of_torch else _PIN_IN_LIST.search(text)
            if said is None or place is None:  # `latest`, a plain `torch`, what a name holds: any release
                releases.clear()
                break
            start = place.start + said.start("release")
            span = Span(start, start + len(said["release"]))
            releases.append(VersionValue("torch", name, said["release"], span, listed=True))
        found += sorted(releases, key=lambda one: TorchVersion.parse(one.value))[-1:]
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
