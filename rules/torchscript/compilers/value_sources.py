"""Where a value that is compiled comes from: from the expression back through names, attributes of `self` and callers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.values.parameter_values import defaults_of, named_arguments
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.torchscript.compilers.code_digest import DEFINITIONS
from torchlift.rules.torchscript.compilers.known_uses import known_uses
from torchlift.rules.torchscript.compilers.run_arguments import runs_argument
from torchlift.view import Binding, ModuleView
from torchlift.view.scopes import Scope
from torchlift.view.walk import walk

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_MOST_FILES = 20
_MOST_STEPS = 400

# Methods that give back what they are called on, or change nothing about its parts; what they are given is no module.
_SAME = frozenset(
    """eval train to cpu cuda half float double bfloat16 requires_grad_ load_state_dict state_dict parameters items keys
    values get zero_grad share_memory""".split()
)
_PLAIN_TYPES = lazy_pattern(
    r"\b(?:int|float|bool|str|bytes|Path|PathLike|device|dtype|Tensor|Namespace|Size|ndarray|DataLoader|Dataset)\b"
)
_MAY_BE_CODE = lazy_pattern(r"Module|Callable|[Tt]ype\[|\bnn\b|Any")
# What a parameter is called that code is handed in by; a configuration or a number is called otherwise.
_CODE_NAMES = lazy_pattern(
    r"(?:^|_)(?:model|net|network|module|encoder|decoder|layer|block|backbone|head|norm|act|activation|policy|generator|"
    r"critic|actor|joiner|embed|embedding|cls|class|klass|fn|func|function|factory|builder|ctor|constructor|kwargs|args)"
    r"s?\d*(?:_|$)",
    re.IGNORECASE,
)
# Packages whose calls give back code of theirs.
_OTHER_CODE = (
    "torch.",
    "torchvision.",
    "torchaudio.",
    "timm.",
    "transformers.",
    "numpy.",
    "copy.",
    "typing.",
    "functools.",
    "itertools.",
    "collections.",
    "math.",
    "io.",
    "os.",
    "tempfile.",
    "pathlib.",
)
_ARCHIVES = ("torch.load", "torch.hub.load", "torch.package", "pickle.", "dill.", "cloudpickle.", "joblib.")

_WRAPPING = ("torch.nn.", "copy.", "typing.cast")

Role = Literal["value", "part", "setting"]
"""What is compiled itself, a part of it that it runs, or something else that it is made with."""


@dataclass(frozen=True)
class Origin:
    """A piece of code that a compiled value comes from.

    Attributes:
        view: its file.
        node: an expression, or a function or class.
    """

    view: ModuleView
    node: ast.AST

    @property
    def names(self) -> bool:
        """Whether it names a function or class that is not called here."""
        parent = self.view.parent(self.node)
        called = isinstance(parent, ast.Call) and parent.func is self.node
        return isinstance(self.node, (ast.Name, ast.Attribute)) and not called


class ValueSources:
    """Follows one value back.

    Attributes:
        found: what it comes from.
        unknown: `path:line` of a place behind which it was lost; None if it was not.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.found: list[Origin] = []
        self.unknown: str | None = None
        self._seen: set[tuple[str, int, int, str]] = set()
        self._changed: set[tuple[str, Scope]] = set()

    def follow(self, view: ModuleView, node: ast.expr, *, role: Role = "value") -> None:
        """Follow an expression.

        Args:
            view: its file.
            node: the expression.
            role: what it is to what is compiled.
        """
        key = view.path, node.lineno, node.col_offset, f"{node.end_lineno}:{node.end_col_offset} {role}"
        if key in self._seen:
            return
        self._seen.add(key)
        if len(self._seen) > _MOST_STEPS:
            self._lost(view, node)
            return
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _SAME:
                self.follow(view, value, role=role)
            case ast.Call():
                self._call(view, node, role)
            case ast.Name() | ast.Attribute():
                self._name(view, node, role)
            case ast.Constant():
                return
            case ast.Lambda():
                self.found.append(Origin(view, node))
            case ast.Subscript(value=value):
                self.follow(view, value, role=role)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.follow(view, child, role=role)
                    elif isinstance(child, ast.comprehension):
                        self.follow(view, child.iter, role=role)

    def definition(self, view: ModuleView, node: ast.AST) -> None:
        """A function or class is what is compiled."""
        self.found.append(Origin(view, node))

    def _lost(self, view: ModuleView, node: ast.AST) -> None:
        self.unknown = self.unknown or f"{view.path}:{getattr(node, 'lineno', 1)}"

    def _call(self, view: ModuleView, node: ast.Call, role: Role) -> None:
        name = view.possible_name(node.func)
        head = name.partition(".")[0]
        here = view.definition(node.func) if isinstance(node.func, ast.Name) else None
        own = (here is not None and isinstance(here.node, DEFINITIONS)) or self.project.may_own(head, view.path)
        foreign = name and not name.startswith(_OTHER_CODE) and not own
        if role == "value" and (foreign or name.startswith(_ARCHIVES)):
            self._lost(view, node)
        if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) > 1:
            if role != "setting" and not isinstance(node.args[1], ast.Constant):
                self._lost(view, node)
            self.follow(view, node.args[0], role=role)
            return
        self.follow(view, node.func, role=role)
        for position, argument in enumerate(node.args):
            inner = argument.value if isinstance(argument, ast.Starred) else argument
            self.follow(view, inner, role=self._role(view, node, position, role))
        for keyword in node.keywords:
            self.follow(view, keyword.value, role=self._role(view, node, keyword.arg, role))

    def _role(self, view: ModuleView, call: ast.Call, given: int | str | None, role: Role) -> Role:
        """What an argument of a call is to what is compiled, if the call's result is that or part of it."""
        if role == "setting" or given is None:
            return "setting"
        if view.possible_name(call.func).startswith(_WRAPPING):
            return "part"
        found = definition_of(view, call.func, self.project, ast.ClassDef)
        return "part" if found is not None and runs_argument(*found, given, self.project) else "setting"

    def _name(self, view: ModuleView, node: ast.Name | ast.Attribute, role: Role) -> None:
        root: ast.expr = node
        first: ast.expr = node
        while isinstance(root, ast.Attribute):
            first, root = root, root.value
        if not isinstance(root, ast.Name):
            self.follow(view, root, role=role)
            return
        bindings = view.bindings_of(root, view.scope_at(root))
        if not bindings:
            if role == "value" and view.resolve(node) is None:
                self._lost(view, node)
            self.found.append(Origin(view, node))
            return
        for binding in bindings:
            if binding.imported is not None or isinstance(binding.node, DEFINITIONS):
                self.found.append(Origin(view, node))
            elif binding.kind == "param":
                method = view.parent(view.parent(binding.node) or binding.node)
                if _is_first(view, method, binding):
                    self._own(view, method, first if isinstance(first, ast.Attribute) else None, role)
                else:
                    self._parameter(view, binding, method, role)
            else:
                self._variable(view, binding, role)
        for binding in bindings[:1]:
            if binding.imported is None and not isinstance(binding.node, DEFINITIONS):
                self._changes(view, binding)

    def _variable(self, view: ModuleView, binding: Binding, role: Role) -> None:
        """What a variable is bound to, at this place."""
        if binding.value is not None:
            self.follow(view, binding.value, role=role)
            return
        statement = binding.statement or view.statement(binding.node)
        match statement:
            case ast.For(iter=value) | ast.AsyncFor(iter=value) | ast.Assign(value=value) | ast.AugAssign(value=value):
                self.follow(view, value, role=role)
            case ast.With() | ast.AsyncWith():
                for item in statement.items:
                    self.follow(view, item.context_expr, role=role)
            case _:
                pass
        for ancestor in view.ancestors(binding.node):
            if isinstance(ancestor, ast.comprehension):
                self.follow(view, ancestor.iter, role=role)

    def _changes(self, view: ModuleView, binding: Binding) -> None:
        """What is put into a variable: `x.head = ...`, `x.append(...)`, `replace(x, ...)`; the same for all that binds it."""
        if (binding.name, binding.scope) in self._changed:
            return
        self._changed.add((binding.name, binding.scope))
        for chain in view.scopes.chains.get(binding.name, ()):
            if chain.scope.lookup(binding.name) is not binding.scope:
                continue
            statement = view.statement(chain.root)
            if isinstance(statement, ast.Assign) and any(
                chain.root is not target and any(node is chain.root for node in walk(target))
                for target in statement.targets
            ):
                self.follow(view, statement.value, role="setting")
            elif isinstance(statement, ast.Expr) and isinstance(call := statement.value, ast.Call):
                function = call.func
                on_it = isinstance(function, ast.Attribute) and any(node is chain.root for node in walk(function))
                if on_it and isinstance(function, ast.Attribute) and function.attr in _SAME:
                    continue
                if on_it or chain.root in call.args:
                    for argument in (call, *call.args, *(keyword.value for keyword in call.keywords)):
                        inner = argument.func if argument is call else argument
                        if not any(node is chain.root for node in walk(inner)):
                            self.follow(view, inner, role="setting")

    # Attributes of `self`

    def closed_over(self, view: ModuleView, function: ast.AST) -> None:
        """What a function inside a method takes from the instance and calls or hands on, `self` under any name."""
        method = next((one for one in view.ancestors(function) if isinstance(view.parent(one), ast.ClassDef)), None)
        owner = view.parent(method) if method is not None else None
        if not isinstance(owner, ast.ClassDef):
            return
        for node in walk(function):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load):
                call = view.parent(node)
                if isinstance(call, ast.Call) and next(self._stored(view, owner, node.attr), None) is not None:
                    self._own(view, method, node, "part")

    def _own(self, view: ModuleView, method: ast.AST | None, attribute: ast.Attribute | None, role: Role) -> None:
        owner = view.parent(method) if method is not None else None
        if not isinstance(owner, ast.ClassDef):
            return
        if attribute is None:
            for home, node in self._with_subclasses(view, owner):
                self.definition(home, node)
            return
        stored = list(self._stored(view, owner, attribute.attr))
        for home, value in stored:
            self.follow(home, value, role=role)
        methods = [
            (home, item)
            for home, one in self._with_bases(view, owner)
            for item in one.body
            if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)) and item.name == attribute.attr
        ]
        for home, item in methods:
            self.definition(home, item)
        if role == "value" and not stored and not methods:
            self._lost(view, attribute)

    def _stored(self, view: ModuleView, owner: ast.ClassDef, name: str) -> Iterator[tuple[ModuleView, ast.expr]]:
        for home, one in self._with_bases(view, owner):
            for node in home.attributes_named(name):
                statement = home.statement(node)
                if not isinstance(node.ctx, ast.Load) and home.class_of(node) is one:
                    value = getattr(statement, "value", None) or getattr(statement, "iter", None)
                    if isinstance(value, ast.expr):
                        yield home, value
            scope = home.scopes.scope_of.get(one)
            for binding in scope.bindings.get(name, ()) if scope is not None else ():
                if binding.value is not None:
                    yield home, binding.value

    def _with_bases(self, view: ModuleView, owner: ast.ClassDef) -> Iterator[tuple[ModuleView, ast.ClassDef]]:
        pending, seen = [(view, owner)], set()
        while pending:
            home, one = pending.pop()
            if (home.path, one.lineno) in seen:
                continue
            seen.add((home.path, one.lineno))
            yield home, one
            for base in one.bases:
                binding, at = home.definition(base), home
                if binding is None or not isinstance(binding.node, ast.ClassDef):
                    name = home.certain_name(base)
                    found = self.project.binding(name, home.path) if name else None
                    at, binding = found if found is not None else (home, None)
                if binding is not None and isinstance(binding.node, ast.ClassDef):
                    pending.append((at, binding.node))

    def _with_subclasses(self, view: ModuleView, owner: ast.ClassDef) -> Iterator[tuple[ModuleView, ast.ClassDef]]:
        pending, seen = [(view, owner)], set()
        while pending:
            home, one = pending.pop()
            if (home.path, one.lineno) in seen:
                continue
            seen.add((home.path, one.lineno))
            yield home, one
            uses = self._uses(home, one)
            for at, node in uses:
                base: ast.AST = node
                while isinstance(parent := at.parent(base), (ast.Attribute, ast.Subscript)):
                    base = parent
                if isinstance(parent, ast.ClassDef) and base in parent.bases:
                    pending.append((at, parent))

    def _uses(self, view: ModuleView, node: ast.ClassDef | _Function) -> list[tuple[ModuleView, ast.expr]]:
        binding = view.bound_by(node)
        if binding is None:
            self._lost(view, node)
            return []
        found, complete = known_uses(view, binding, self.project)
        if not complete:
            self._lost(view, node)
        return found

    # Parameters

    def _parameter(self, view: ModuleView, binding: Binding, function: ast.AST | None, role: Role) -> None:
        argument = binding.node
        if not isinstance(argument, ast.arg) or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self._lost(view, binding.node)
            return
        if argument.annotation is not None:
            written = ast.unparse(argument.annotation)
            if _PLAIN_TYPES.search(written) and not _MAY_BE_CODE.search(written):
                return
        default = defaults_of(function.args).get(argument.arg)
        if default is not None:
            self.follow(view, default, role="setting")
        if self._from_tests(view, function, argument.arg):
            return
        given = list(self._given(view, function, argument))
        known = bool(given) and all(value is not None for _, value in given)
        if not known and (role != "setting" or _CODE_NAMES.search(argument.arg)):
            self._lost(view, argument)
        for home, value in given:
            if isinstance(value, ast.expr):
                self.follow(home, value, role=role)
            elif value is not None:
                self.definition(home, value)

    def _from_tests(self, view: ModuleView, function: _Function, name: str) -> bool:
        """Whether pytest fills a parameter in, by a mark or a fixture of the same file."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        marks = [
            decorator
            for decorator in function.decorator_list
            for node in walk(decorator)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and word.search(node.value)
        ]
        for mark in marks:
            self.follow(view, mark, role="setting")
        fixtures = [
            found.node
            for found in view.scopes.module.bindings.get(name, ())
            if isinstance(found.node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and any("fixture" in ast.unparse(decorator) for decorator in found.node.decorator_list)
        ]
        for fixture in fixtures:
            self.definition(view, fixture)
        return bool(marks or fixtures)

    def _given(
        self, view: ModuleView, function: _Function, argument: ast.arg
    ) -> Iterator[tuple[ModuleView, ast.expr | ast.stmt | None]]:
        """What a parameter is called with, everywhere; None for what cannot be told."""
        owner = view.parent(function)
        positional = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
        uses: list[tuple[ModuleView, ast.expr]]
        if isinstance(owner, ast.ClassDef):
            if not any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list):
                positional = positional[1:]
            uses = self._uses(view, owner) if function.name == "__init__" else self._method_uses(function.name)
            if function.name == "__init__":
                uses = [(at, node) for at, node in uses if isinstance(at.parent(node), ast.Call)]
        else:
            uses = self._uses(view, function)
        for home, node in uses:
            parent = home.parent(node)
            if isinstance(parent, DEFINITIONS) and node in parent.decorator_list:
                yield home, parent if positional[:1] == [argument.arg] else None
            elif isinstance(parent, ast.Call) and parent.func is node:
                if home.function_of(parent) is function:
                    continue
                decorated = home.parent(parent)
                first = positional[:1] == [argument.arg]
                if first and isinstance(decorated, DEFINITIONS) and parent in decorated.decorator_list:
                    # `@trace(check=False)` of `def trace(function=None, check=True)`
                    yield home, decorated
                    continue
                given = named_arguments(parent, positional)
                if given is None or function.args.kwarg is argument or function.args.vararg is argument:
                    yield home, None
                elif argument.arg in given:
                    yield home, given[argument.arg]
                elif argument.arg not in defaults_of(function.args):
                    yield home, None
            else:
                yield home, None

    def _method_uses(self, name: str) -> list[tuple[ModuleView, ast.expr]]:
        paths = self.project.files_with_attribute(name)
        if len(paths) > _MOST_FILES:
            self.unknown = self.unknown or f"{paths[0]}:1"
            return []
        views = [view for view in map(self.project.view, paths) if view is not None]
        return [
            (view, node)
            for view in views
            for node in view.attributes_named(name)
            if isinstance(node.ctx, ast.Load)
            and isinstance(parent := view.parent(node), ast.Call)
            and parent.func is node
        ]


def _is_first(view: ModuleView, method: ast.AST | None, binding: Binding) -> bool:
    """Whether a parameter is the `self` of a method."""
    if not isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) or not isinstance(
        view.parent(method), ast.ClassDef
    ):
        return False
    positional = [*method.args.posonlyargs, *method.args.args]
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in method.decorator_list)
    return bool(positional) and positional[0] is binding.node and not static
