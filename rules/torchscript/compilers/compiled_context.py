"""What a project does around its functions that makes compiled and plain ones differ: autocast, subclasses of Tensor.

Measured on torch 2.13.0, 2026-11-21: under autocast the TorchScript compiler casts on its own (`x * y` of two bfloat16
tensors gives float32 in a scripted function on the CPU and bfloat16 in a plain one); and a scripted function gives a
plain `torch.Tensor` where a plain one keeps the subclass it was called with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from torchlift.project import Project
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.analysis.project.installable import packaging_of

_AUTOCAST = re.compile(rb"\b(?:autocast|custom_fwd|GradScaler|mixed_precision)\b|\bprecision\s*=\s*[\"']?(?:bf)?16")
_SUBCLASS = re.compile(
    rb"\b(?:as_subclass|_make_(?:wrapper_)?subclass|MetaTensor|tv_tensors|__torch_function__|__torch_dispatch__)\b"
    rb"|\bclass +\w+\([^)\n]*\bTensor\b"
)
_SYMBOLIC = re.compile(rb"\b(?:symbolic_trace|create_feature_extractor|fx\.Tracer)\b")
# Of each pattern, words of which one stands in every line where it matches, and what stands there besides: a quick look
# before the pattern itself.
_AUTOCAST_WORDS = {"autocast": "", "custom_fwd": "", "GradScaler": "", "precision": "16", "mixed_precision": ""}
_SUBCLASS_WORDS = {"subclass": "", "MetaTensor": "", "tv_tensors": "", "__torch_": "", "class ": "Tensor"}
_SYMBOLIC_WORDS = {"symbolic_trace": "", "create_feature_extractor": "", "fx.Tracer": ""}
_USERS = "makes this code installable, and its users may run it under autocast or ask the function for its graph"
_CASTS = "uses autocast, under which TorchScript chooses other dtypes than Python"
_NEWLINE = b"\n"


def context_doubts(project: Project, path: str) -> list[str]:
    """Clauses about what makes a compiled function of the file `path` differ from a plain one, as far as it is known."""
    packaging = packaging_of(project, path)
    return [*surroundings(project), *([f"{packaging} {_USERS}"] if packaging is not None else [])]


def surroundings(project: Project) -> tuple[str, ...]:
    """Clauses about what the project itself does around its functions: autocast, subclasses of Tensor."""
    return project.once(_doubts)


def autocast_doubt(project: Project) -> str | None:
    """A clause about the first place outside of tests that uses autocast; None if none does."""
    return _first(project, _AUTOCAST, _AUTOCAST_WORDS, _CASTS, tests=False)


def _doubts(project: Project) -> tuple[str, ...]:
    subclass = "uses subclasses of Tensor, which a scripted function does not give back"
    clauses = (
        _first(project, _AUTOCAST, _AUTOCAST_WORDS, _CASTS),
        _first(project, _SUBCLASS, _SUBCLASS_WORDS, subclass),
    )
    return tuple(clause for clause in clauses if clause)


def symbolic_trace(project: Project) -> str | None:
    """`path:line` of the first place that runs code under torch.fx, for which a scripted function is one step."""
    return project.once(_symbolic_trace)


def _symbolic_trace(project: Project) -> str | None:
    found = _first(project, _SYMBOLIC, _SYMBOLIC_WORDS, "")
    return found.strip() if found else None


def _first(
    project: Project, pattern: re.Pattern[bytes], words: Mapping[str, str], what: str, *, tests: bool = True
) -> str | None:
    signs: dict[str, list[tuple[bytes, bytes]]] = {}
    for word, besides in words.items():
        both = frozenset(project.files_holding(besides)) if besides else None
        for path in project.files_holding(word):
            if (both is None or path in both) and (tests or not is_test_file(path)):
                signs.setdefault(path, []).append((word.encode(), besides.encode()))
    for path in sorted(signs):
        data = project.data(path)
        for start, end in sorted({line for word, besides in signs[path] for line in _lines(word, besides, data)}):
            line = data[start:end]
            if any(b"#" not in line[: found.start()] for found in pattern.finditer(line)):
                return f"{path}:{data.count(_NEWLINE, 0, start) + 1} {what}"
    return None


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
