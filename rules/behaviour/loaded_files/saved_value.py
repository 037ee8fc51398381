"""What `torch.save` writes into a file that the same project loads."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator, Sequence

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Collector
from torchlift.rules.behaviour.loaded_files.kind_of_value import kind_of
from torchlift.rules.behaviour.loaded_files.use_of_value import Kind
from torchlift.rules.rule import Context
from torchlift.view import Binding, ModuleView

_SAVE = frozenset({"torch.save"})
# Keys under which checkpoints keep what a run was started with.
_SETTINGS = frozenset({"args", "cfg", "config", "hparams", "opt", "options", "hyper_parameters"})


@dataclass(frozen=True)
class TorchSave:
    """One `torch.save`.

    Attributes:
        path: the file's name where it is written out, else the expression that gives it, which counts in its own file only.
        is_literal: whether it is written out.
        kind: what is saved; None if nothing tells.
        line: where.
    """

    path: str
    is_literal: bool
    kind: Kind | None
    line: int


def _collect(view: ModuleView) -> tuple[TorchSave, ...] | None:
    return tuple(_saves(view)) or None


SAVES = Collector("torch_saves", ("torch.save", "save & torch as ", "save & from torch"), _collect, targets=_SAVE)


def _saves(view: ModuleView) -> Iterator[TorchSave]:
    for use in view.uses(_SAVE):
        call = use.call
        if call is None or len(call.args) < 2 or any(isinstance(argument, ast.Starred) for argument in call.args):
            continue
        path, is_literal = path_of(call.args[1])
        yield TorchSave(path, is_literal, kind_of(view, call.args[0]), call.lineno)


def path_of(node: ast.expr) -> tuple[str, bool]:
    """A path as two places can be compared by it, and whether it is written out."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value, True
    return ast.unparse(node), False


def saved_at(context: Context, path: ast.expr) -> tuple[Kind, str] | None:
    """What the project saves under `path`, and a sentence about where; None if nothing or different things do.

    A path that is written out is one file; of an expression it is an assumption that it gives the same at both places.
    """
    wanted, is_literal = path_of(path)
    found = [
        (file, saved)
        for file, saves in sorted(context.project.records(SAVES).items())
        for saved in saves
        if (saved.path, saved.is_literal) == (wanted, is_literal) and (is_literal or file == context.view.path)
    ]
    kinds = {saved.kind for _, saved in found}
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind is None:
        return None
    own, folder = context.view.path, posixpath.dirname(context.view.path)
    file, saved = min(found, key=lambda one: (one[0] != own, posixpath.dirname(one[0]) != folder))
    where = f"a cell of {file}" if file.endswith(".ipynb") else f"{file}:{saved.line}"
    if is_literal:
        return kind, f"{where} saves a file of this name"
    return kind, f"what {where} saves under `{wanted}` is taken to be it"


def line_of_save(view: ModuleView, near: ast.Call) -> int | None:
    """The line of the `torch.save` of this file that is the nearest to a place; None if it has none."""
    lines = [use.node.lineno for use in view.uses(_SAVE) if use.call is not None]
    return min(lines, key=lambda line: (abs(line - near.lineno), line), default=None)


def settings_saved(view: ModuleView) -> tuple[str, int] | None:
    """The settings that this file saves in a dict beside weights, as they are, and the line; None if it saves none."""
    for use in view.uses(_SAVE):
        value = use.call.args[0] if use.call is not None and use.call.args else None
        for held in (value, *(bound.value for bound in _bindings(view, value))):
            for key, part in zip(held.keys, held.values, strict=True) if isinstance(held, ast.Dict) else ():
                if (
                    isinstance(key, ast.Constant)
                    and key.value in _SETTINGS
                    and isinstance(part, (ast.Name, ast.Attribute))
                ):
                    return ast.unparse(part), part.lineno
    return None


def _bindings(view: ModuleView, value: ast.expr | None) -> Sequence[Binding]:
    return view.scope_at(value).bindings.get(value.id, ()) if isinstance(value, ast.Name) else ()
