"""Who may call a function, through how many calls ever: whether one of them does so in a certain place.

Callers are found by the function's bare name, whatever it belongs to, and by the names of the functions around the calls.
A file that binds the name itself means its own.
What is not called by a name ends the search: a module's `forward`, a method of a class from elsewhere, a function that is
handed on or registered, and one that nothing in the project calls.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.view import ModuleView
from torchlift.view.walk import walk

Found = tuple[Literal["there", "unknown"], str]
"""`path:line` of a call in such a place, or of what makes the callers unknown."""

_MOST_NAMES, _MOST_FILES = 60, 120
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MAKERS = frozenset({"__init__", "__new__", "__post_init__"})
_RUN_BY_OTHERS = frozenset({"forward", "backward", "setup_context", "vmap", "jvp"})
_DECORATORS = (
    "torch.jit.", "torch.no_grad", "torch.inference_mode", "torch.compile", "torch._dynamo.", "torch.compiler.",
    "functools.", "abc.", "typing.", "typing_extensions.", "pytest.", "unittest.", "contextlib.contextmanager",
)  # fmt: skip
_PLAIN_DECORATORS = frozenset({"staticmethod", "classmethod"})
_WRAPPERS = frozenset(
    {"torch.jit.script", "torch.jit.script_if_tracing", "torch.compile", "staticmethod", "torch.jit.ignore"}
)
_BASES = (
    "torch.nn.Module",
    "torch.jit.ScriptModule",
    "object",
    "abc.",
    "typing.",
    "enum.",
    "unittest.",
    "torch.autograd.Function",
)
_ASKING = frozenset({"isinstance", "issubclass", "hasattr", "type", "callable", "print", "super"})


Wanted = Callable[[ModuleView, ast.AST], bool]


@dataclass(frozen=True)
class Seen:
    """What comes of a name in one file.

    Attributes:
        path: the file.
        own: whether these are the places that mean what the file itself binds to the name, or the others.
        found: such a place, or an unknown one.
        calls: how many calls there are.
        names: the names that these are found by.
    """

    path: str
    own: bool
    found: Found | None
    calls: int
    names: tuple[str, ...]


Step = tuple[Seen, ...]
"""What comes of a name, file by file, up to the first place that is found."""


def called_where(
    view: ModuleView, node: ast.AST, project: Project, wanted: Wanted, step: Callable[[Project, str], Step]
) -> Found | None:
    """A caller, close or far, that stands where `wanted` says yes, or why that cannot be excluded; None if none does.

    Args:
        view: the file of the function.
        node: the function, or a place in it.
        project: the project.
        wanted: whether a place is such a place.
        step: `step_from` with the same `wanted`; functions of a project share most of the names that lead to them.
    """
    search = _Search(project, wanted)
    search.around(view, node)
    return search.run(view.path, step)


def step_from(project: Project, name: str, wanted: Wanted) -> Step:
    """What comes of all places where a function or class of that name may be meant."""
    seen: list[Seen] = []
    for path in project.files_holding(name):
        view = project.view(path)
        if view is None:
            continue
        nodes = list(_named(view, name, project.data(path)))
        for own in (True, False):
            search = _Search(project, wanted)
            for node in nodes:
                if _means_own(view, node) is own:
                    search.occurrence(view, node)
            seen.append(Seen(path, own, search.found, search.calls, tuple(search.names)))
        if seen[-1].found is not None:
            break
    return tuple(seen)


def _means_own(view: ModuleView, node: ast.AST) -> bool:
    """Whether a name is bound in the file that it stands in, and not imported."""
    scope = view.scope_at(node).lookup(node.id) if isinstance(node, ast.Name) else None
    bound = scope.bindings[node.id] if scope is not None and isinstance(node, ast.Name) else ()
    return bool(bound) and not any(isinstance(one.statement, (ast.Import, ast.ImportFrom)) for one in bound)


class _Search:
    def __init__(self, project: Project, wanted: Wanted) -> None:
        self.project = project
        self.wanted = wanted
        self.names: dict[str, None] = {}
        self.found: Found | None = None
        self.calls = 0

    def run(self, start: str, step: Callable[[Project, str], Step]) -> Found | None:
        pending = [(name, start) for name in self.names]
        files: set[str] = set()
        asked: set[tuple[str, str]] = set()
        names: set[str] = set()
        while self.found is None and pending:
            name, origin = pending.pop(0)
            if (name, origin) in asked:
                continue
            asked.add((name, origin))
            paths = self.project.files_holding(name)
            files.update(paths)
            if len(names | {name}) > _MOST_NAMES or len(files) > _MOST_FILES:
                self.unknown_at(paths[0] if paths else "", 1)
                break
            for seen in self.project.once(step, name):
                if seen.path == origin if seen.own else name not in names:
                    self.found = self.found or seen.found
                    self.calls += seen.calls
                    pending += [(other, seen.path) for other in seen.names]
            names.add(name)
        if names and not self.calls and self.found is None:
            self.unknown_at(start, 1)
        return self.found

    def unknown_at(self, path: str, line: int) -> None:
        self.found = self.found or ("unknown", f"{path}:{line}")

    def unknown(self, view: ModuleView, node: ast.AST) -> None:
        self.unknown_at(view.path, getattr(node, "lineno", 1))

    def called(self, view: ModuleView, node: ast.AST) -> None:
        """Something is called at a place."""
        self.calls += 1
        if self.wanted(view, node):
            self.found = self.found or ("there", f"{view.path}:{getattr(node, 'lineno', 1)}")
        else:
            self.around(view, node)

    def around(self, view: ModuleView, node: ast.AST) -> None:
        """The function around a place runs it; who calls that one?"""
        for around in (node, *view.ancestors(node)):
            if isinstance(around, ast.Lambda):
                self.value(view, around)
                return
            if isinstance(around, _FUNCTIONS) and not _at_head(around, node, view):
                self.function(view, around)
                return

    def function(self, view: ModuleView, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if self.wanted(view, node):
            self.found = self.found or ("there", f"{view.path}:{node.lineno}")
            return
        owner = view.parent(node)
        if isinstance(owner, ast.ClassDef):
            special = node.name.startswith("__") and node.name not in _MAKERS
            if special or node.name in _RUN_BY_OTHERS or not self.own(view, owner):
                self.unknown(view, node)
            elif node.name in _MAKERS:
                self.names.setdefault(owner.name)
                return
        for decorator in node.decorator_list:
            function = decorator.func if isinstance(decorator, ast.Call) else decorator
            plain = isinstance(function, ast.Name) and function.id in _PLAIN_DECORATORS
            if not plain and not view.certain_name(function).startswith(_DECORATORS):
                self.unknown(view, decorator)
        self.names.setdefault(node.name)

    def own(self, view: ModuleView, node: ast.ClassDef, steps: int = 6) -> bool:
        """Whether nobody outside of the project calls methods of a class because of its bases."""
        for base in node.bases:
            inner = base.value if isinstance(base, ast.Subscript) else base
            name = view.certain_name(inner) or (inner.id if isinstance(inner, ast.Name) else "")
            if name.startswith(_BASES):
                continue
            defined = definition_of(view, inner, self.project, ast.ClassDef) if steps else None
            if defined is None or not self.own(*defined, steps - 1):
                return False
        return True

    def occurrence(self, view: ModuleView, node: ast.AST) -> None:
        match node:
            case ast.alias(asname=str() as name):
                self.names.setdefault(name)
            case ast.Constant():
                statement = view.statement(node)
                targets = (
                    statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
                )
                if not any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
                    self.unknown(view, node)
            case _:
                self.value(view, node)

    def value(self, view: ModuleView, node: ast.AST) -> None:
        """A function, or a class, is read here."""
        parent = view.parent(node)
        match parent:
            case ast.Call(func=function) if function is node:
                self.called(view, parent)
            case ast.Call(func=ast.Name(id=asking)) if asking in _ASKING:
                return
            case ast.Call(args=[first]) if first is node and _is_wrapper(view, parent):
                self.value(view, parent)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.Assign(targets=[ast.Attribute(attr=name)]):
                self.names.setdefault(name)
            case ast.AnnAssign(target=ast.Name(id=name) | ast.Attribute(attr=name), value=value) if value is node:
                self.names.setdefault(name)
            case ast.ClassDef(name=name):
                self.names.setdefault(name)
            case ast.Attribute(attr=name) if name != "__call__":
                return  # a name of its own, of a class or module
            case ast.Expr() | ast.arg() | ast.AnnAssign() | ast.ExceptHandler() | ast.Compare():
                return
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if parent.returns is not node:
                    self.called(view, parent)
            case _:
                self.unknown(view, node)


def _named(view: ModuleView, name: str, data: bytes) -> Iterator[ast.AST]:
    """Places in a file where a function of this name may be meant."""
    for chain in view.scopes.chains.get(name, ()):
        yield chain.root
    yield from (node for node in view.attributes_named(name) if isinstance(node.ctx, ast.Load))
    if re.search(rf"\b{name}\s+as\b|[\"']{name}[\"']".encode(), data) is None:
        return
    for node in walk(view.tree):
        match node:
            case ast.alias(name=other, asname=str()) if other.rpartition(".")[2] == name:
                yield node
            case ast.Constant(value=other) if other == name:
                yield node


def _at_head(function: ast.FunctionDef | ast.AsyncFunctionDef, node: ast.AST, view: ModuleView) -> bool:
    """Whether a place is among the decorators or defaults of a function, and not in it."""
    if node is function:
        return False
    heads = [*function.decorator_list, *function.args.defaults, *function.args.kw_defaults]
    return any(around in heads for around in (node, *view.ancestors(node)))


def _is_wrapper(view: ModuleView, call: ast.Call) -> bool:
    name = (
        call.func.id
        if isinstance(call.func, ast.Name) and call.func.id == "staticmethod"
        else view.certain_name(call.func)
    )
    return name in _WRAPPERS
