"""What a project does around its functions that makes compiled and plain ones differ: autocast, subclasses of Tensor.

Measured on torch 2.13.0, 2026-11-21: under autocast the TorchScript compiler casts on its own (`x * y` of two bfloat16
tensors gives float32 in a scripted function on the CPU and bfloat16 in a plain one); and a scripted function gives a
plain `torch.Tensor` where a plain one keeps the subclass it was called with.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.places.possible_callers import Found, Step, called_where, step_from
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.analysis.project.installable import packaging_of
from torchlift.rules.analysis.project.same_program import in_one_program
from torchlift.rules.torchscript.compilers.dtype_choices import chooses_dtypes
from torchlift.view import ModuleView
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

_AUTOCAST = lazy_pattern(
    rb"\b(?:autocast|custom_fwd|GradScaler|mixed_precision)\b|\bprecision\s*=\s*[\"']?(?:bf)?16|\bMixedPrecision(?:Plugin)?\(\s*[\"']"
)
_SUBCLASS = lazy_pattern(
    rb"\b(?:as_subclass|_make_(?:wrapper_)?subclass|MetaTensor|tv_tensors)\b|\bdef __torch_(?:function|dispatch)__"
    rb"|\bclass +\w+\([^)\n]*\bTensor\b"
)
_OF_CLASSES = lazy_pattern(rb"\bclass |\bdef __torch_")
_QUIET = lazy_pattern(
    r"(?i)sync|lock|sess|connect|stream|timer|timeit|profil|patch|pool|executor|tempor|chdir|raises|warns|record|suppress|redirect"
)
_NO_TENSOR = lazy_pattern(
    r"int|float|bool|str|(?:torch\.)?(?:device|dtype)|(?:[Ll]ist|[Tt]uple)\[(?:int|float|bool|str|, |\.\.\.)+\]"
)
_SYMBOLIC = lazy_pattern(rb"\b(?:symbolic_trace|create_feature_extractor|fx\.Tracer)\b")
# Of each pattern, words of which one stands in every line where it matches, and what stands there besides: a quick look
# before the pattern itself.
_AUTOCAST_WORDS = {
    "autocast": "",
    "custom_fwd": "",
    "GradScaler": "",
    "precision": "16",
    "mixed_precision": "",
    "MixedPrecision": "(",
}
_SUBCLASS_WORDS = {"subclass": "", "MetaTensor": "", "tv_tensors": "", "__torch_": "", "class ": "Tensor"}
_SYMBOLIC_WORDS = {"symbolic_trace": "", "create_feature_extractor": "", "fx.Tracer": ""}
_USERS = "others may use this code ({}), run it under autocast, and ask the function for its graph"
_CHOOSES = "TorchScript chooses other dtypes than Python"
_UNDER = f"under which {_CHOOSES}"
# Lines that only import it, ask about it or switch it off, and FSDP's `MixedPrecision`, which is not autocast.
_SILENT = lazy_pattern(
    rb"^\s*(?:from|import)\s|\bmixed_precision\s*=\s*(?:\w+\.)*MixedPrecision\((?!\s*(?:[\"']|precision))|\bautocast\s*\([^()]*\benabled\s*=\s*False\b|\bautocast\s*\(\s*(?:[\"']\w+[\"']\s*,\s*)?False\s*\)"
)
_ON = lazy_pattern(rb"^\s*(?:async\s+)?with\b.*\bautocast|^\s*@.*\b(?:autocast|custom_fwd)\b")
_NO_CASTS = (
    "torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.set_grad_enabled", "torch.cuda.", "torch.profiler.",
    "torch.autograd.", "torch.random.", "warnings.", "tempfile.", "pytest.", "time.", "tqdm.", "contextlib.suppress",
    "contextlib.redirect_", "os.", "io.", "zipfile.", "tarfile.", "gzip.", "h5py.", "threading.", "multiprocessing.",
)  # fmt: skip
_NEWLINE = b"\n"


def context_doubts(project: Project, view: ModuleView, node: ast.AST | None) -> list[str]:
    """Clauses about what makes a compiled function differ from a plain one, as far as it is known."""
    packaging = packaging_of(project, view.path)
    return [*surroundings(project, view, node), *([_USERS.format(packaging)] if packaging is not None else [])]


def surroundings(project: Project, view: ModuleView, node: ast.AST | None) -> list[str]:
    """Clauses about what the project itself does around a function or class: autocast, subclasses of Tensor.

    Args:
        project: the project.
        view: the file.
        node: the function, or a class of which every method counts; None if it was not read.
    """
    clauses = (
        _autocast_around(project, view, node),
        _subclass_beside(project, view.path) if _takes_tensors(view, node) else None,
    )
    return [clause for clause in clauses if clause]


def autocast_doubt(
    project: Project, view: ModuleView, calls: Sequence[tuple[ModuleView, ast.AST]] | None
) -> str | None:
    """A clause about autocast, outside of tests, that may be on while a module runs; None if it cannot be.

    Args:
        project: the project.
        view: the file that makes the module.
        calls: every call of it; None where they are not known.
    """
    places = [place for place in project.once(_autocast) if not is_test_file(place.rpartition(":")[0])]
    if not places:
        return None
    for home, call in calls if calls is not None else ():
        if _casts_around(home, call):
            return f"{home.path}:{getattr(call, 'lineno', 1)} calls it under autocast, {_UNDER}"
        found = called_where(home, call, project, _casts_around, _step)
        if found is not None and (doubt := _of(project, home.path, places, found)) is not None:
            return doubt
    return _near(project, view.path, places) if calls is None else None


def _autocast_around(project: Project, view: ModuleView, node: ast.AST | None) -> str | None:
    """A clause about autocast that may be on while a function runs, or a method of a class."""
    places = project.once(_autocast)
    if not places:
        return None
    if node is None or isinstance(node, ast.ClassDef):
        return _near(project, view.path, places)
    if isinstance(node, ast.FunctionDef) and not chooses_dtypes(view, node, project):
        return None
    found = called_where(view, node, project, _casts_around, _step)
    return _of(project, view.path, places, found) if found is not None else None


def _of(project: Project, path: str, places: Sequence[str], found: Found) -> str | None:
    kind, place = found
    return f"{place} may run it under autocast, {_UNDER}" if kind == "there" else _near(project, path, places)


def _near(project: Project, path: str, places: Sequence[str]) -> str | None:
    """A clause about the closest place with autocast that a program with this file may load; in a test for tests alone."""
    homes = ((one, one.rpartition(":")[0]) for one in places)
    own = [(one, home) for one, home in homes if not is_test_file(home) or is_test_file(path)]
    own.sort(key=lambda one: -_shared(path, one[1]))
    place = next((one for one, home in own if in_one_program(project, path, home)), None)
    return f"{place} may use mixed precision, and under autocast {_CHOOSES}" if place is not None else None


def _shared(path: str, other: str) -> int:
    """Number of folders around both of two files."""
    parts = list(zip(path.split("/"), other.split("/"), strict=False))
    return next((count for count, (one, two) in enumerate(parts) if one != two), len(parts))


def _step(project: Project, name: str) -> Step:
    return step_from(project, name, _casts_around)


def _casts_around(view: ModuleView, node: ast.AST) -> bool:
    """Whether a place stands under what is, or may be, autocast."""
    for around in (node, *view.ancestors(node)):
        entered = around is not node and isinstance(around, ast.With)  # autocast is no asynchronous manager
        managers = [item.context_expr for item in getattr(around, "items", ())] if entered else []
        if any(_may_cast(view, manager) for manager in managers):
            return True
        for item in getattr(around, "decorator_list", ()):
            if "autocast" in ast.unparse(item) and not _switched_off(item):
                return True
    return False


def _may_cast(view: ModuleView, node: ast.expr) -> bool:
    """Whether a context manager may be autocast: it is called so, or is made somewhere else."""
    text = ast.unparse(node)
    if "autocast" in text or "precision" in text:
        return not _switched_off(node)
    function = node.func if isinstance(node, ast.Call) else node
    named = last_name(function)
    if isinstance(node, ast.Call) and (named == "open" or _QUIET.search(named) is not None):
        return False
    return not (isinstance(node, ast.Call) and view.certain_name(function).startswith(_NO_CASTS))


def _switched_off(node: ast.expr) -> bool:
    """Whether a call of `autocast` switches it off."""
    values = [keyword.value for keyword in getattr(node, "keywords", ()) if keyword.arg == "enabled"]
    values += [argument for argument in getattr(node, "args", ()) if isinstance(argument, ast.Constant)]
    return any(isinstance(value, ast.Constant) and value.value is False for value in values)


def _autocast(project: Project) -> tuple[str, ...]:
    """Places that switch autocast on, or have a library do so, those first at which that can be read."""
    found = [one for path in _holding(project, _AUTOCAST_WORDS) for one in project.once(_autocast_in, path)]
    return tuple(place for _, place in sorted(found, key=lambda one: one[0]))


# Each file is an answer of its own: after a change of one, the others need not be searched again to know that nothing is new.
def _autocast_in(project: Project, path: str) -> tuple[tuple[bool, str], ...]:
    """Those places in one file, and whether autocast is not seen to be switched on there."""
    found = _matches(project, path, _AUTOCAST, _AUTOCAST_WORDS)
    return tuple((_ON.search(line) is None, place) for place, line in found if _SILENT.search(line) is None)


def _subclass_beside(project: Project, path: str) -> str | None:
    """A clause about the first subclass of Tensor that a program with this file may load."""
    found = (place.rpartition(":")[0] for place in project.once(_subclasses))
    homes = dict.fromkeys(home for home in found if in_one_program(project, path, home))
    place = next((one for one in project.once(_subclasses) if one.rpartition(":")[0] in homes), None)
    about = "which scripted code took for plain tensors: their own operations are called from now on, and results are of their class"
    return f"{place} uses subclasses of Tensor, {about}" if place else None


def _takes_tensors(view: ModuleView, node: ast.AST | None) -> bool:
    """Whether something that a function takes may be a tensor."""
    if not isinstance(node, ast.FunctionDef):
        return True
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    written = [view.text(argument.annotation) if argument.annotation is not None else "" for argument in given]
    return not written or not all(_NO_TENSOR.fullmatch(text.strip("\"'")) for text in written)


def _subclasses(project: Project) -> tuple[str, ...]:
    """Places that define or use subclasses of Tensor."""
    return tuple(place for path in _holding(project, _SUBCLASS_WORDS) for place in project.once(_subclasses_in, path))


def _subclasses_in(project: Project, path: str) -> tuple[str, ...]:
    return tuple(
        place
        for place, line in _matches(project, path, _SUBCLASS, _SUBCLASS_WORDS)
        if (_derives(project, place) if _OF_CLASSES.search(line) else not _is_plain_parameter(project, place))
    )


def _is_plain_parameter(project: Project, place: str) -> bool:
    """Whether a place stands in a class of parameters: without a function of its own they give plain tensors."""
    path, _, line = place.rpartition(":")
    view = project.view(path)
    for node in walk(view.tree) if view is not None else ():
        if isinstance(node, ast.ClassDef) and node.lineno <= int(line) <= (node.end_lineno or 0):
            own = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
            return bases == {"Parameter"} and own.isdisjoint({"__torch_function__", "__torch_dispatch__"})
    return False


def _derives(project: Project, place: str) -> bool:
    """Whether the class at a place, or around a method there, derives from a Tensor, and not from a list of them; True where it was not read."""
    path, _, line = place.rpartition(":")
    view = project.view(path)
    for node in walk(view.tree) if view is not None else ():
        lines = [item.lineno for item in node.body] if isinstance(node, ast.ClassDef) else []
        if isinstance(node, ast.ClassDef) and int(line) in (node.lineno, *lines):
            bases = [ast.unparse(base) for base in node.bases if not isinstance(base, ast.Subscript)]
            return any("Tensor" in base or base.endswith(("Parameter", "Buffer")) for base in bases)
    return True


def symbolic_trace(project: Project) -> str | None:
    """`path:line` of the first place that runs code under torch.fx, for which a scripted function is one step."""
    return project.once(_symbolic_trace)


def _symbolic_trace(project: Project) -> str | None:
    found = (
        one
        for path in _holding(project, _SYMBOLIC_WORDS)
        for one in _matches(project, path, _SYMBOLIC, _SYMBOLIC_WORDS)
    )
    return next((place for place, _ in found), None)


def _holding(project: Project, words: Mapping[str, str]) -> list[str]:
    """Files in which one of some texts stands together with the other one that it goes with."""
    found: set[str] = set()
    for word, besides in words.items():
        holding = project.files_holding(word)
        found.update(frozenset(project.files_holding(besides)).intersection(holding) if besides else holding)
    return sorted(found)


def _matches(
    project: Project, path: str, pattern: re.Pattern[bytes], words: Mapping[str, str]
) -> Iterator[tuple[str, bytes]]:
    """Places of a file where a pattern matches outside of comments, with their lines."""
    data = project.data(path)
    pairs = [(word.encode(), besides.encode()) for word, besides in words.items()]
    for start, end in sorted({line for word, besides in pairs for line in _lines(word, besides, data)}):
        line = data[start:end]
        if any(b"#" not in line[: found.start()] for found in pattern.finditer(line)):
            yield f"{path}:{data.count(_NEWLINE, 0, start) + 1}", line


def _lines(word: bytes, besides: bytes, data: bytes) -> Iterator[tuple[int, int]]:
    """Lines with two texts: where they begin and end."""
    at = data.find(word)
    while at >= 0:
        end = data.find(_NEWLINE, at)
        end = end if end >= 0 else len(data)
        start = data.rfind(_NEWLINE, 0, at) + 1
        if data.find(besides, start, end) >= 0:
            yield start, end
        at = data.find(word, end)
