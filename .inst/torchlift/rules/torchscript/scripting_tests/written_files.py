"""Files and folders that a test gives to what goes, and looks at in what stays: they would be missing from now on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlift.rules.torchscript.scripting_tests.reduction import Reduction
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk

_FILES = re.compile(r"(?i)tmp|temp|path|dir|folder|file|buf")
_MAKERS = re.compile(r"(?:^|\.)(?:join|Path|PosixPath|str|format|BytesIO|StringIO|mkdtemp|mktemp|\w*Temporary\w*)$")


def written_files(reduction: Reduction) -> Iterator[str]:
    """Clauses about such files."""
    view = reduction.values.view
    kept = {child for statement in reduction.kept for child in walk(statement)}
    gone = {child for statement in reduction.gone for child in walk(statement)}
    told: set[str] = set()
    for call in gone:
        if not isinstance(call, ast.Call) or not isinstance(view.parent(call), ast.Expr):
            continue
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            for name in walk(argument):
                binding = view.definition(name) if isinstance(name, ast.Name) else None
                if binding is None or binding.name in told or not _is_file(view, binding):
                    continue
                later = [
                    read.lineno for read, _ in view.reads_of(binding) if read in kept and read.lineno > call.lineno
                ]
                if later:
                    told.add(binding.name)
                    yield f"what line {call.lineno} writes to `{binding.name}` goes, and line {later[0]} still looks there"


def _is_file(view: ModuleView, binding: Binding) -> bool:
    """Whether a local name may stand for a file or folder."""
    value = binding.value
    if isinstance(value, (ast.Constant, ast.JoinedStr)):
        return not isinstance(value, ast.Constant) or isinstance(value.value, str)
    if isinstance(value, ast.Call):
        return _MAKERS.search(ast.unparse(value.func)) is not None
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, (ast.Div, ast.Add)) and _FILES.search(ast.unparse(value)) is not None
    around = view.parent(binding.node)
    return isinstance(around, ast.withitem) or _FILES.search(binding.name) is not None
