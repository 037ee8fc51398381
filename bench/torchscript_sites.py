"""Where a Python file uses TorchScript, found without torchlift's help.

A small resolver of its own: imports under any name, in any scope, followed through attribute chains. It is deliberately
simpler than torchlift's (no assignments, no other files), so that the two do not err together.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# The names that are TorchScript, as the start of a qualified name; `torch.jit` itself is one. `torch._C.ScriptObject`
# is not: instances of custom C++ classes have that class without TorchScript, too.
_SURFACE = re.compile(
    r"torch\.(?:jit|_jit_internal|utils\.mobile_optimizer|utils\.bundled_inputs)(?:\.|$)"
    r"|torch\._C\.(?:_jit_|Script(?!Object)|LiteScriptModule|CompilationUnit|JITException|_freeze_module|_get_tracing_state)"
    r"|torch\._C\.(?:_create_function_from_trace|_script_|_get_graph_executor|_get_trace|_tracer|_import_ir_module)"
    r"|torch\.(?:ao\.)?quantization\.(?:quantize_jit\.)?\w*_jit(?:\.|$)"
)
# Every file that uses it holds one of these; the rest need not be parsed.
_WORDS = (b"jit", b"_C", b"mobile_optimizer", b"bundled_inputs", b"_lite_interpreter")
# Attributes of values that no other library has.
_MEMBERS = {"_save_for_lite_interpreter", "_save_to_buffer_for_lite_interpreter"}
_DOTTED = re.compile(r"torch\.(?:jit|_jit_internal)(?:\.\w+)+|torch\._C\._jit_\w+")
# Calls that look a name up: `mock.patch("torch.jit.load")`, `monkeypatch.setattr("torch.jit.load", ...)`.
_LOOKED_UP = {"patch", "setattr", "delattr", "import_module", "import_string", "resolve_name", "locate", "get_class"}

_VERSION = re.compile(
    r"(?<!opset_)version|^torch_?(?:ge|gt|le|lt|eq)(?:_|$)|^torch_?[0-9]|^is_torch_\w*[0-9]", re.IGNORECASE
)
_ABSENT = {"ImportError", "ModuleNotFoundError", "AttributeError", "NameError"}

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Site:
    """One use of TorchScript.

    Attributes:
        name: qualified name.
        kind: `call`, `decorator`, `base`, `annotation`, `isinstance`, `string`, `import`, `store`, `member` (an
            attribute of an unknown value), or `reference`.
        line: first line of the expression, counted from 1.
        last: last line of it.
        statement: first and last line of the statement, or of the head of a statement with a body; of the decorator.
        owner: first and last line of the head of the class around it, if any.
        imported: line and column (counted from 1) of the name in the `from` import that it comes through, if any.
        guarded: whether a test of the torch release, `hasattr(torch...)` or a handler of a failed look-up stands around
            it or around that import.
        written: the file that a `torch.jit.save` writes, as its argument is spelled; empty for everything else.
        text: the line as written.
    """

    name: str
    kind: str
    line: int
    last: int
    statement: tuple[int, int]
    owner: tuple[int, int] | None
    imported: tuple[int, int] | None
    guarded: bool
    written: str
    text: str


@dataclass(frozen=True)
class _Import:
    """A name that an import binds, the place of a `from` import, and whether its absence is dealt with."""

    name: str
    place: tuple[int, int] | None = None
    guarded: bool = False


@dataclass
class _Scope:
    """Names of one scope: what imports bind them to, and those that something else binds."""

    parent: _Scope | None
    is_class: bool = False
    imported: dict[str, list[_Import]] = field(default_factory=dict)
    other: set[str] = field(default_factory=set)
    passed_on: set[str] = field(default_factory=set)

    def names(self, name: str, *, inner: bool = False) -> list[_Import]:
        """The imports that `name` refers to here; nothing when it is something else."""
        if name not in self.passed_on and not (inner and self.is_class):
            if name in self.imported:
                return self.imported[name]
            if name in self.other:
                return []
        return self.parent.names(name, inner=True) if self.parent else []


def sites(path: Path, root: Path) -> list[Site]:
    """All sites of the file `path`, in the project below `root`.

    Raises:
        SyntaxError, ValueError: it is no Python source for this interpreter.
    """
    data = path.read_bytes()
    if not any(word in data for word in _WORDS):
        return []
    finder = _Finder(ast.parse(data), data, _package(path, root))
    return sorted(finder.found, key=lambda site: (site.line, site.last, site.name))


def _package(path: Path, root: Path) -> list[str]:
    """Parts of the name of the package that holds the module at `path`."""
    parts: list[str] = []
    folder = path.parent
    while folder != root and (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return parts


class _Finder:
    def __init__(self, tree: ast.Module, data: bytes, package: list[str]) -> None:
        self.source = data.decode("utf-8", "replace")
        self.lines = re.split(r"\r\n|\r|\n", self.source)
        self.package = package
        self.parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self.found: list[Site] = []
        self.imports: list[tuple[str, str, _Scope, ast.alias]] = []
        self.read: set[tuple[int, str]] = set()
        self.scope(tree, None)
        for name, bound, scope, node in self.imports:
            if (id(scope), bound) not in self.read:
                self.add(name, "import", node, scope)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self.parents:
            node = self.parents[node]
            yield node

    def scope(self, node: ast.AST, parent: _Scope | None) -> None:
        """Visit the inside of one scope: first what it binds, then what it uses."""
        own = _Scope(parent, isinstance(node, ast.ClassDef))
        for child in _inside(node):
            self.bind(child, own)
        if isinstance(node, _FUNCTIONS):
            arguments = node.args
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            own.other.update(argument.arg for argument in every if argument)
        for child in _own(node):
            self.visit(child, own)

    def bind(self, node: ast.AST, scope: _Scope) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                scope.imported.setdefault(bound, []).append(_Import(alias.name if alias.asname else bound))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = f"{self.absolute(node)}.{alias.name}"
                place = (alias.lineno, alias.col_offset + 1)
                imported = _Import(name, place, self.is_guarded(alias, scope))
                scope.imported.setdefault(alias.asname or alias.name, []).append(imported)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            scope.other.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            scope.other.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            scope.other.add(node.name)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            scope.passed_on.update(node.names)

    def absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        base = self.package[: len(self.package) - node.level + 1]
        return ".".join([*base, *([node.module] if node.module else [])])

    def visit(self, node: ast.AST, scope: _Scope) -> None:
        """Look at one node that stands in `scope`, and at what is in it."""
        if isinstance(node, ast.ImportFrom | ast.Import):
            self.visit_import(node, scope)
        elif isinstance(node, ast.Attribute | ast.Name):
            self.visit_chain(node, scope)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.visit_string(node, node.value.strip(), scope)
        elif isinstance(node, _SCOPES):
            # What decorates or annotates a function, and the bases of a class, belong to the scope around it.
            inside = set(_own(node))
            for child in ast.iter_child_nodes(node):
                if child not in inside:
                    self.visit(child, scope)
            self.scope(node, scope)
        else:
            for child in ast.iter_child_nodes(node):
                self.visit(child, scope)

    def visit_import(self, node: ast.Import | ast.ImportFrom, scope: _Scope) -> None:
        module = self.absolute(node) if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            name = f"{module}.{alias.name}" if module else alias.name
            if alias.name == "*":
                if _SURFACE.match(module):
                    self.add(f"{module}.*", "import", alias, scope)
            elif _SURFACE.match(name) and (module or alias.asname):
                self.imports.append((name, alias.asname or alias.name, scope, alias))

    def visit_chain(self, node: ast.Attribute | ast.Name, scope: _Scope) -> None:
        attributes: list[str] = []
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            attributes.insert(0, root.attr)
            root = root.value
        if isinstance(root, ast.Name):
            self.note_reads(root.id, scope)
            for imported in scope.names(root.id):
                name = ".".join([imported.name, *attributes])
                if _SURFACE.match(name):
                    self.add(name, self.kind(node), node, scope, imported)
                    return
        else:
            self.visit(root, scope)
        if not _MEMBERS.isdisjoint(attributes):
            (name,) = _MEMBERS.intersection(attributes)
            self.add(f"*.{name}", "member", node, scope)

    def note_reads(self, name: str, scope: _Scope) -> None:
        """Every import that binds `name` somewhere around counts as used; it is not known which one is meant when."""
        around: _Scope | None = scope
        while around is not None:
            # A class body is not around the functions in it.
            if name in around.imported and (around is scope or not around.is_class):
                self.read.add((id(around), name))
            around = around.parent

    def visit_string(self, node: ast.Constant, text: str, scope: _Scope) -> None:
        if _DOTTED.fullmatch(text) and self.is_looked_up(node):
            self.add(text, "string", node, scope)
        elif self.kind(node) == "annotation":
            # An annotation in quotes is code; its names are those of the place where it stands.
            try:
                quoted = ast.parse(text, mode="eval").body
            except SyntaxError:
                return
            for part in ast.walk(quoted):
                self.parents.update((child, part) for child in ast.iter_child_nodes(part))
                if isinstance(part, ast.expr):
                    ast.copy_location(part, node)
            self.parents[quoted] = node
            self.visit(quoted, scope)

    def add(
        self, name: str, kind: str, node: ast.expr | ast.alias, scope: _Scope, imported: _Import | None = None
    ) -> None:
        line, last = node.lineno, node.end_lineno or node.lineno
        owner = next((_head(parent) for parent in self.above(node) if isinstance(parent, ast.ClassDef)), None)
        guarded = self.is_guarded(node, scope) or (imported is not None and imported.guarded)
        place = imported.place if imported is not None else None
        call = self.parents.get(node)
        written = ""
        if name == "torch.jit.save" and isinstance(call, ast.Call) and call.func is node and len(call.args) > 1:
            written = ast.get_source_segment(self.source, call.args[1]) or ""
        text = self.lines[line - 1].strip()
        self.found.append(Site(name, kind, line, last, self.statement(node), owner, place, guarded, written, text))

    def kind(self, node: ast.expr) -> str:
        if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            return "store"
        child: ast.AST = node
        for parent in self.above(node):
            if _decorates(child, parent):
                return "decorator"
            if isinstance(parent, ast.Call):
                if child is node and child is parent.func:
                    return "decorator" if _decorates(parent, self.parents[parent]) else "call"
                if isinstance(parent.func, ast.Name) and parent.func.id in {"isinstance", "issubclass"}:
                    return "isinstance" if child in parent.args[1:] else "reference"
                return "reference"
            if isinstance(parent, ast.ClassDef):
                return "base" if child in parent.bases else "reference"
            if isinstance(parent, ast.arg) or child in (
                getattr(parent, "annotation", None),
                getattr(parent, "returns", None),
            ):
                return "annotation"
            if isinstance(parent, ast.stmt):
                return "reference"
            child = parent
        return "reference"

    def is_looked_up(self, node: ast.Constant) -> bool:
        """Whether a string is an argument of a call that looks names up, and not of one that prints or registers them."""
        call = self.parents[node]
        if not isinstance(call, ast.Call):
            return False
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        return name in _LOOKED_UP

    def statement(self, node: ast.expr | ast.alias) -> tuple[int, int]:
        child: ast.AST = node
        for parent in self.above(node):
            if _decorates(child, parent):
                return node.lineno, getattr(child, "end_lineno", node.lineno)
            if isinstance(parent, ast.stmt):
                first, last = _head(parent)
                return first, max(last, node.lineno)
            child = parent
        return node.lineno, node.end_lineno or node.lineno

    def is_guarded(self, node: ast.AST, scope: _Scope) -> bool:
        child = node
        for parent in self.above(node):
            if isinstance(parent, ast.If | ast.IfExp) and child is not parent.test:
                if any(self.asks_for_release(part, scope) for part in ast.walk(parent.test)):
                    return True
            elif isinstance(parent, ast.Call) and self.asks_for_release(parent, scope):
                return True
            elif isinstance(parent, ast.Try) and child in parent.body:
                if any(_catches_absence(handler) for handler in parent.handlers):
                    return True
            elif isinstance(parent, ast.ExceptHandler) and _catches_absence(parent):
                return True
            child = parent
        return False

    def asks_for_release(self, node: ast.AST, scope: _Scope) -> bool:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hasattr":
            root: ast.AST = node.args[0]
            while isinstance(root, ast.Attribute):
                root = root.value
            names = scope.names(root.id) if isinstance(root, ast.Name) else []
            return any(imported.name.partition(".")[0] == "torch" for imported in names)
        word = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        return _VERSION.search(word) is not None


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The children of a scope's node that stand inside the scope."""
    if isinstance(node, ast.Lambda):
        yield node.body
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield from node.body
    else:
        yield from ast.iter_child_nodes(node)


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """Every node that can bind names in the scope of `node`."""
    waiting = list(_own(node))
    while waiting:
        child = waiting.pop()
        yield child
        if not isinstance(child, _SCOPES):
            waiting += ast.iter_child_nodes(child)


def _decorates(node: ast.AST, parent: ast.AST) -> bool:
    return node in getattr(parent, "decorator_list", ())


def _head(node: ast.AST) -> tuple[int, int]:
    """First and last line of a statement, without its body."""
    body = getattr(node, "body", None)
    first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
    return first, max(first, body[0].lineno - 1) if body else last


def _catches_absence(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(kind, ast.Name) and kind.id in _ABSENT for kind in kinds)
