"""Who gets a file or buffer of TorchScript besides torch: code that may read nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.wording.messages import one_line
from torchlift.rules.torchscript.captures.artifact_sites import path_key
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_READS_NOTHING = lazy_pattern(
    r"(?:torch|os|pathlib|shutil|io|tempfile|logging|builtins|zipfile|hashlib)\.|(?:.*\.)?(?:print|open|str|len|isinstance|Path|"
    r"debug|info|warning|error|exists|isfile|is_file|getsize|remove|unlink|append|add|join|format|assert\w*|save|seek|fspath)$"
)
_BYTES = frozenset({"getvalue", "getbuffer", "read"})


def handed_on(view: ModuleView, path: ast.expr) -> str | None:
    """A clause about the first place of the file that hands what `path` names, or the bytes in it, to somebody else."""
    places = sorted(_places(view, path), key=lambda place: place[0])
    return places[0][1] if places else None


def given_before(view: ModuleView, node: ast.expr) -> ast.Call | None:
    """The last call before `node` that is given the variable which a path argument is, and so may write the file."""
    binding = view.definition(node)
    if binding is None:
        return None
    calls = [(view.parent(read), read) for read, _ in view.reads_of(binding) if read.lineno < node.lineno]
    given = [
        call
        for call, read in calls
        if isinstance(call, ast.Call)
        and call.func is not read
        and _READS_NOTHING.match(view.possible_name(call.func) or ast.unparse(call.func)) is None
    ]
    return max(given, key=lambda call: call.lineno, default=None)


def _places(view: ModuleView, path: ast.expr) -> Iterator[tuple[int, str]]:
    key, binding = path_key(view, path, None), view.definition(path)
    shown = one_line(view, path)
    for call in walk(view.tree) if key is not None else ():
        if not isinstance(call, ast.Call) or _reads_nothing(view, call.func):
            continue
        for given in (*call.args, *(keyword.value for keyword in call.keywords)):
            named = isinstance(given, (ast.Constant, ast.Name, ast.Attribute)) and given is not path
            if named and path_key(view, given, None) == key:
                about = f"line {call.lineno} hands `{shown}` to `{one_line(view, call.func)}`"
                yield call.lineno, f"{about}, which may read TorchScript alone: change that first"
    made = binding.value if binding is not None else None
    if binding is None or not isinstance(made, ast.Call) or view.possible_name(made.func) != "io.BytesIO":
        return
    for read, _ in view.reads_of(binding):
        taken = view.parent(read)
        around = view.parent(view.parent(taken) or read) if isinstance(taken, ast.Attribute) else None
        again = isinstance(around, ast.Call) and view.possible_name(around.func) in {"io.BytesIO", "torch.jit.load"}
        if isinstance(taken, ast.Attribute) and taken.attr in _BYTES and not again:
            yield (
                read.lineno,
                f"line {read.lineno} takes the bytes of `{shown}`, and who gets them may read TorchScript alone",
            )


def _reads_nothing(view: ModuleView, function: ast.expr) -> bool:
    name = view.possible_name(function) or ast.unparse(function)
    bound = view.definition(function)
    own = bound is not None and isinstance(bound.node, (ast.FunctionDef, ast.ClassDef))
    return own or _READS_NOTHING.match(name) is not None
