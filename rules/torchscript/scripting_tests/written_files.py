"""Files and folders that a test gives to what goes, and looks at in what stays: they would be missing from now on."""

from __future__ import annotations

import ast

from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.torchscript.scripting_tests.checks import called_name
from torchlift.rules.torchscript.scripting_tests.reduction import Reduction
from torchlift.rules.torchscript.scripting_tests.scripted_values import LOAD, stem
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk

_FILES = lazy_pattern(r"(?i)tmp|temp|path|dir|folder|file|buf")
_MAKERS = lazy_pattern(r"(?:^|\.)(?:join|Path|PosixPath|str|format|BytesIO|StringIO|mkdtemp|mktemp|\w*Temporary\w*)$")


_CLEARS = frozenset(
    {"rmtree", "remove", "unlink", "rmdir", "exists", "makedirs", "mkdir", "isfile", "listdir", "print"}
)


def missing_file(reduction: Reduction) -> str | None:
    """A sentence about the first file that is written by what goes and named by what stays."""
    values, later = reduction.values, [child for statement in reduction.kept for child in walk(statement)]
    for call, _, path in values.saves():
        if not any(call in walk(statement) for statement in reduction.gone):
            continue
        named = ast.dump(stem(path))
        exprs = (node for node in later if isinstance(node, ast.expr) and node.lineno > call.lineno)
        for node in exprs:
            if ast.dump(node) == named and not _is_loaded(reduction, node) and not _is_cleared(values.view, node):
                return _sentence(call.lineno, values.view.text(path), node.lineno)
        if (given := _folder_given(reduction, call, path)) is not None:
            return _sentence(call.lineno, given.id, given.lineno)
    return _given_away(reduction)


def _folder_given(reduction: Reduction, call: ast.Call, path: ast.expr) -> ast.Name | None:
    """The first read, in what stays behind a save, of a folder around what it writes that hands the folder to unknown code."""
    view = reduction.values.view
    folders: dict[Binding, None] = {}
    pending: list[ast.expr] = [path]
    while pending:
        for node in walk(pending.pop()):
            binding = view.definition(node) if isinstance(node, ast.Name) else None
            joined = (
                binding is not None and isinstance(binding.value, ast.BinOp) and isinstance(binding.value.op, ast.Div)
            )
            if binding is not None and binding not in folders and (joined or _is_file(view, binding)):
                folders[binding] = None
                pending += [binding.value] if binding.value is not None else []
    kept = {node for statement in reduction.kept for node in walk(statement)}
    reads = [read for binding in folders for read, _ in view.reads_of(binding)]
    for read in sorted(reads, key=lambda read: read.lineno):
        given = view.parent(read)
        taker = view.parent(given) if isinstance(given, ast.keyword) else given
        if read not in kept or read.lineno <= call.lineno or not isinstance(taker, ast.Call) or taker.func is read:
            continue
        if _MAKERS.search(ast.unparse(taker.func)) is None and called_name(taker) not in _CLEARS:
            return read if not _is_loaded(reduction, read) else None
    return None


def _is_cleared(view: ModuleView, node: ast.expr) -> bool:
    """Whether a file is closed or removed that is there whatever is written to it."""
    parent = view.parent(node)
    while isinstance(parent, ast.Attribute):
        parent = view.parent(parent)
    if not isinstance(parent, ast.Call) or called_name(parent) not in {"close", "unlink", "remove"}:
        return False
    binding = view.definition(stem(node)) if isinstance(stem(node), ast.Name) else None
    value = binding.value if binding is not None else None
    return isinstance(value, ast.Call) and "temp" in called_name(value).lower()


def _given_away(reduction: Reduction) -> str | None:
    """A sentence about the first file or folder that is given to what goes and named by what stays."""
    view = reduction.values.view
    kept = {child for statement in reduction.kept for child in walk(statement)}
    gone = [child for statement in reduction.gone for child in walk(statement)]
    for call in gone:
        if not isinstance(call, ast.Call) or not isinstance(view.parent(call), ast.Expr):
            continue
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            for name in walk(argument):
                binding = view.definition(name) if isinstance(name, ast.Name) else None
                if binding is None or not _is_file(view, binding):
                    continue
                later = [
                    read.lineno
                    for read, _ in view.reads_of(binding)
                    if read in kept
                    and read.lineno > call.lineno
                    and not _is_loaded(reduction, read)
                    and not _is_cleared(view, read)
                ]
                if later:
                    return _sentence(call.lineno, binding.name, later[0])
    return None


def _sentence(written: int, name: str, looked_for: int) -> str:
    return (
        f"what line {written} writes to `{name}` is looked for on line {looked_for}: decide first what becomes of the code "
        "that reads it."
    )


def _is_loaded(reduction: Reduction, read: ast.expr) -> bool:
    """Whether a read of a file stands in a call that goes with it: the value that was written takes its place."""
    values = reduction.values
    return any(
        isinstance(around, ast.Call) and values.target(around) == LOAD and values.given_to(around) is not None
        for around in values.view.ancestors(read)
    )


def _is_file(view: ModuleView, binding: Binding) -> bool:
    """Whether a local name may stand for a file or folder."""
    value = binding.value
    if isinstance(value, ast.JoinedStr):
        return True
    if isinstance(value, ast.Constant):
        # A sentence is no file, unless its name says so.
        text = value.value
        return isinstance(text, str) and (len(text.split()) < 2 or _FILES.search(binding.name) is not None)
    if isinstance(value, ast.Call):
        return _MAKERS.search(ast.unparse(value.func)) is not None
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, (ast.Div, ast.Add)) and _FILES.search(ast.unparse(value)) is not None
    around = view.parent(binding.node)
    return isinstance(around, ast.withitem) or _FILES.search(binding.name) is not None
