"""What a project does around its functions that makes compiled and plain ones differ: autocast, subclasses of Tensor.

Measured on torch 2.13.0, 2026-11-21: under autocast the TorchScript compiler casts on its own (`x * y` of two bfloat16
tensors gives float32 in a scripted function on the CPU and bfloat16 in a plain one); and a scripted function gives a
plain `torch.Tensor` where a plain one keeps the subclass it was called with.
"""

from __future__ import annotations

import re
from pathlib import Path
from weakref import WeakKeyDictionary

from torchlift.project import Project

_AUTOCAST = re.compile(rb"\b(?:autocast|custom_fwd|GradScaler|mixed_precision)\b|\bprecision\s*=\s*[\"']?(?:bf)?16")
_SUBCLASS = re.compile(
    rb"\b(?:as_subclass|_make_(?:wrapper_)?subclass|MetaTensor|tv_tensors|__torch_function__|__torch_dispatch__)\b"
    rb"|\bclass\s+\w+\([^)\n]*\bTensor\b"
)
_SYMBOLIC = re.compile(rb"\b(?:symbolic_trace|create_feature_extractor|fx\.Tracer)\b")
# Of each pattern, words of which one stands wherever it matches: a quick look before the pattern itself.
_AUTOCAST_WORDS = ("autocast", "custom_fwd", "GradScaler", "mixed_precision", "precision")
_SUBCLASS_WORDS = ("subclass", "MetaTensor", "tv_tensors", "__torch_", "Tensor)", "Tensor,", "Tensor ")
_SYMBOLIC_WORDS = ("symbolic_trace", "create_feature_extractor", "fx.Tracer")
_PACKAGED = re.compile(r"^\s*\[(?:project|build-system|tool\.poetry|metadata)\]", re.MULTILINE)
_known: WeakKeyDictionary[Project, list[str]] = WeakKeyDictionary()


def context_doubts(project: Project) -> list[str]:
    """Clauses about places in the project that make a compiled function differ from a plain one."""
    if project not in _known:
        _known[project] = [
            clause
            for clause in (
                _first(project, _AUTOCAST, _AUTOCAST_WORDS, "uses autocast, under which TorchScript chooses other dtypes than Python"),
                _packaged(project),
                _first(project, _SUBCLASS, _SUBCLASS_WORDS, "uses subclasses of Tensor, which a scripted function does not give back"),
            )
            if clause
        ]
    return _known[project]


def symbolic_trace(project: Project) -> str | None:
    """`path:line` of the first place that runs code under torch.fx, for which a scripted function is one step."""
    found = _first(project, _SYMBOLIC, _SYMBOLIC_WORDS, "")
    return found.strip() if found else None


def _first(project: Project, pattern: re.Pattern[bytes], words: tuple[str, ...], what: str) -> str | None:
    for path in project.files_holding(*words):
        data = project.data(path)
        for found in pattern.finditer(data):
            if b"#" not in data[data.rfind(b"\n", 0, found.start()) + 1 : found.start()]:
                line = data.count(b"\n", 0, found.end()) + 1
                return f"{path}:{line} {what}"
    return None


def _packaged(project: Project) -> str | None:
    """Whether others install this code and run it in ways that cannot be seen here."""
    folders = {Path(path).parts[0] if "/" in path else "" for path in project.files}
    for folder in ("", *sorted(folders - {""})):
        place = project.root / folder
        names = {item.name for item in place.iterdir()} if place.is_dir() else set()
        shown = f"{folder}/" if folder else ""
        sure = sorted(name for name in names if name == "setup.py" or name.endswith((".dist-info", ".egg-info")))
        for name in sure:
            return f"{shown}{name} {_USERS}"
        for name in sorted(names & {"pyproject.toml", "setup.cfg"}):
            if _PACKAGED.search((place / name).read_text(encoding="utf-8", errors="replace")):
                return f"{shown}{name} {_USERS}"
    return None


_USERS = "makes this code installable, and its users may run it under autocast or ask the function for its graph"
