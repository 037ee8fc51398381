"""Which expressions of one function are scripted values, and of what."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cached_property

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.analysis.values.literals import is_none
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.torchscript.facts.script_only import OF_MODULES
from torchlift.view import Binding, ModuleView, Use
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

E3NN_COMPILERS = frozenset(f"e3nn.util.jit.{name}" for name in ("compile", "script", "trace", "trace_module"))
LIGHTNING = "*.to_torchscript"
"""A method that gives a scripted version of its object, and writes it where it is given a path."""
MAKERS = (
    frozenset(f"torch.jit.{name}" for name in ("script", "trace", "trace_module", "freeze", "optimize_for_inference"))
    | E3NN_COMPILERS
    | {LIGHTNING}
)
"""Functions that give a scripted version of their first argument, or of their object."""
LOAD = "torch.jit.load"
SAVE = "torch.jit.save"
MARKS = frozenset(f"torch.jit.{name}" for name in ("ignore", "unused", "export"))
_TYPES = frozenset(
    f"torch.jit.{name}" for name in ("ScriptModule", "ScriptFunction", "RecursiveScriptModule", "TracedModule")
)
_TARGETS = MAKERS | {LOAD, SAVE} | MARKS | _TYPES
_SAME = frozenset({"eval", "train", "to", "cuda", "cpu", "half", "float", "double", "requires_grad_"})
_CHECKERS = frozenset({"checkScript", "checkScriptable", "assertExportImport", "check_jit_scriptable"})
_COPIERS = frozenset({"getExportImportCopy", "get_export_import_copy"})
_BUFFER_METHODS = frozenset({"seek", "getvalue", "read", "name", "flush"})


@dataclass(frozen=True)
class Helper:
    """What a function does with a scripted value, or with what it scripts, once nothing is scripted.

    Attributes:
        gives: position of the parameter that it gives back as it was; None if it gives nothing.
        method: whether the first parameter is `self`.
        holds: whether it gives what compares a value with itself.
    """

    gives: int | None = None
    method: bool = False
    holds: bool = False


Summary = Callable[[ModuleView, FunctionNode], Helper | None]


class ScriptedValues:
    """The scripted values of one function.

    Args:
        view: the file.
        function: the function, with those inside of it.
        project: the project.
        summary: what a function of the project does with scripted values, if that is nothing or giving them back.
        given: parameters that stand for scripted values.
    """

    def __init__(
        self,
        view: ModuleView,
        function: FunctionNode,
        project: Project,
        summary: Summary,
        given: frozenset[str] = frozenset(),
    ) -> None:
        self.view = view
        self.function = function
        self.project = project
        self.given = given
        self._summary = summary
        inside = {id(node) for node in walk(function)}
        self.uses: list[Use] = [
            use for use in view.uses(_TARGETS, project.translate) if id(use.node) in inside and use.kind != "import"
        ]
        self._target = {id(use.call): use.target for use in self.uses if use.call is not None}
        self._helpers: dict[ast.Call, Helper | None] = {}
        self._asking: set[int] = set()

    def target(self, node: ast.AST) -> str:
        """The name of `torch.jit` that a call calls; empty if none."""
        return self._target.get(id(node), "")

    @cached_property
    def makers(self) -> dict[ast.Call, ast.expr]:
        """Calls that script something, and what they script."""
        calls = ((use.call, _captured(use)) for use in self.uses if use.target in MAKERS)
        return {call: captured for call, captured in calls if call is not None and captured is not None}

    @property
    def unread(self) -> list[Use]:
        """Uses of `torch.jit` whose part in the function is not understood."""
        known = MAKERS | {LOAD, SAVE} | MARKS
        return [
            use
            for use in self.uses
            if (use.target in MAKERS and _captured(use) is None and not self._decorates(use))
            or (use.target in {LOAD, SAVE} and use.call is None)
            or (use.target not in known and use.kind not in {"isinstance", "annotation"} and not self._is_tested(use))
        ]

    def _decorates(self, use: Use) -> bool:
        return use.kind == "decorator" and use.target == "torch.jit.script"

    def _is_tested(self, use: Use) -> bool:
        return any(
            isinstance(ancestor, ast.Call) and self.view.text(ancestor.func).endswith(("isinstance", "IsInstance"))
            for ancestor in self.view.ancestors(use.node)
        )

    # What is scripted

    def original(self, node: ast.expr) -> ast.expr | None:
        """What `node` is a scripted version of; None if it is no scripted value."""
        if id(node) in self._asking:
            return None
        self._asking.add(id(node))
        try:
            return self._original(node)
        finally:
            self._asking.discard(id(node))

    def _original(self, node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Name():
                binding = self.view.definition(node)
                if binding is None:
                    return self._of_each(node)
                if binding.kind == "param" and node.id in self.given and binding.scope.node is self.function:
                    return node
                if binding.kind == "def" and isinstance(binding.node, ast.FunctionDef):
                    return node if any(self._is_script(item) for item in binding.node.decorator_list) else None
                return self.original(binding.value) if binding.value is not None else None
            case ast.Call():
                given = self.given_to(node)
                if given is None:
                    return None
                return self.original(given) or given
        return None

    def _of_each(self, node: ast.Name) -> ast.expr | None:
        """What a name is a scripted version of that is bound in several branches, to the same in each."""
        bound = self.view.bindings_of(node, self.view.scope_at(node))
        found = [self.original(one.value) if one.kind == "assign" and one.value is not None else None for one in bound]
        same = len({ast.dump(one) if one is not None else "" for one in found}) == 1
        return (
            found[0]
            if found
            and same
            and all(isinstance(self.view.parent(one.statement), ast.If) for one in bound if one.statement is not None)
            else None
        )

    def _is_script(self, decorator: ast.expr) -> bool:
        return any(use.node is decorator and use.target == "torch.jit.script" for use in self.uses)

    def given_to(self, node: ast.Call) -> ast.expr | None:
        """The expression that stands for the value of a call once nothing is scripted; None if it makes no scripted value."""
        target = self.target(node)
        if target == LIGHTNING:
            return node.func.value if isinstance(node.func, ast.Attribute) else None
        if target in MAKERS and node.args and not isinstance(node.args[0], ast.Starred):
            return node.args[0]
        if target == LOAD and node.args:
            return self.saved_to(node.args[0])
        if isinstance(node.func, ast.Attribute) and node.func.attr in _SAME:
            return node.func.value if self.original(node.func.value) is not None else None
        if len(node.args) == 2 and self.view.possible_name(node.func) == "typing.cast":
            return node.args[1] if self.original(node.args[1]) is not None else None
        helper = self.helper(node)
        if helper is not None and helper.gives is not None:
            index = helper.gives - helper.method
            if 0 <= index < len(node.args) and self.original(node.args[index]) is not None:
                return node.args[index]
        return None

    def helper(self, node: ast.Call) -> Helper | None:
        """What a called function does with scripted values, if it is one that only tests scripting."""
        if node not in self._helpers:
            self._helpers[node] = None  # in the meantime, for functions that call themselves
            self._helpers[node] = self._helper(node)
        return self._helpers[node]

    def _helper(self, node: ast.Call) -> Helper | None:
        name = last_name(node.func)
        if name in _CHECKERS:
            return Helper()
        if name in _COPIERS:
            return Helper(gives=0)
        found = called_function(self.view, node, self.project)
        return self._summary(*found) if found is not None else None

    # Files that nothing but the function reads

    def saves(self) -> Iterator[tuple[ast.Call, ast.expr, ast.expr]]:
        """Calls that write a scripted value, what they write and where to."""
        for node in walk(self.function):
            if not isinstance(node, ast.Call):
                continue
            if self.target(node) == SAVE and len(node.args) >= 2:
                yield node, node.args[0], node.args[1]
            elif self.target(node) == LIGHTNING and isinstance(node.func, ast.Attribute):
                given = node.args[:1] or [keyword.value for keyword in node.keywords if keyword.arg == "file_path"]
                yield from ((node, node.func.value, path) for path in given if not is_none(path))
            elif (
                isinstance(node.func, ast.Attribute)
                and node.func.attr in {"save", "_save_for_lite_interpreter"}
                and node.args
                and self.original(node.func.value) is not None
            ):
                yield node, node.func.value, node.args[0]

    def saved_to(self, place: ast.expr) -> ast.expr | None:
        """The one value that is written to what `place` names; None if that is not certain."""
        path = ast.dump(stem(place))
        found = [value for _, value, other in self.saves() if ast.dump(stem(other)) == path]
        return found[0] if len({ast.dump(value) for value in found}) == 1 else None

    def reads_own_file(self, node: ast.Call) -> bool:
        """Whether a call handles nothing but a file that a scripted value was written to: `buffer.seek(0)`."""
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in _BUFFER_METHODS:
            return False
        path = ast.dump(stem(node.func.value))
        return any(ast.dump(stem(other)) == path for _, _, other in self.saves())

    # How it is used

    def depends(self, node: ast.AST) -> bool:
        """Whether a scripted value has a part in `node`."""
        return any(isinstance(child, ast.expr) and self._is_scripted(child) for child in walk(node))

    def _is_scripted(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call):
            return self.target(node) in MAKERS | {LOAD, SAVE} or self.helper(node) is not None
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            return False
        return self.original(node) is not None or self._comes_from_scripting(node)

    def _comes_from_scripting(self, node: ast.Name) -> bool:
        return any(map(self._is_bound_to_scripted, self.view.bindings_of(node, self.view.scope_at(node))))

    def _is_bound_to_scripted(self, binding: Binding) -> bool:
        if id(binding) in self._asking:
            return False
        self._asking.add(id(binding))
        try:
            source = assigned_from(self.view, binding.node)
            return source is not None and self.depends(source)
        finally:
            self._asking.discard(id(binding))

    def script_only(self, node: ast.AST) -> bool:
        """Whether `node` asks for something that a plain module or function does not have."""
        return any(self._asks_script(child) for child in walk(node))

    def _asks_script(self, node: ast.AST) -> bool:
        match node:
            case ast.Attribute(value=value, attr=attr) if attr in OF_MODULES and attr != "save":
                return self.original(value) is not None
            case ast.Call(func=ast.Name(id="hasattr" | "isinstance" | "type"), args=[first, *_]):
                return self.original(first) is not None
            case ast.Name(ctx=ast.Load()):
                binding = self.view.definition(node)
                if binding is None or id(binding) in self._asking:
                    return False
                self._asking.add(id(binding))
                try:
                    source = assigned_from(self.view, binding.node)
                    return source is not None and self.script_only(source)
                finally:
                    self._asking.discard(id(binding))
        return isinstance(node, ast.expr) and any(use.node is node and use.target in _TYPES for use in self.uses)


def _captured(use: Use) -> ast.expr | None:
    """What a call of a maker scripts, if that is visible."""
    if use.call is not None and use.target == LIGHTNING:
        return use.call.func.value if isinstance(use.call.func, ast.Attribute) else None
    return use.call.args[0] if use.call is not None and use.call.args else None


def stem(place: ast.expr) -> ast.expr:
    """What names a file: `f` for `f`, `f.name`, `str(f)` and `os.fspath(f)`."""
    match place:
        case ast.Attribute(value=value, attr="name"):
            return stem(value)
        case ast.Call(func=ast.Name(id="str"), args=[value]):
            return stem(value)
        case ast.Call(func=ast.Attribute(value=value, attr="getvalue" | "as_posix")):
            return stem(value)
        case ast.Call(func=ast.Name(id="BytesIO") | ast.Attribute(attr="BytesIO"), args=[value]):
            return stem(value)
    return place


def assigned_from(view: ModuleView, target: ast.AST) -> ast.expr | None:
    """The expression that a stored name, or the display it stands in, gets its value from."""
    child = target
    for ancestor in view.ancestors(target):
        match ancestor:
            case ast.Tuple() | ast.List() | ast.Starred():
                child = ancestor
                continue
            case ast.Assign() if child in ancestor.targets:
                return ancestor.value
            case ast.AnnAssign() | ast.NamedExpr() | ast.AugAssign() if ancestor.target is child:
                return ancestor.value
            case ast.For() | ast.AsyncFor() | ast.comprehension() if ancestor.target is child:
                return ancestor.iter
            case ast.withitem() if ancestor.optional_vars is child:
                return ancestor.context_expr
        return None
    return None


def called_function(view: ModuleView, call: ast.Call, project: Project) -> tuple[ModuleView, FunctionNode] | None:
    """The function of the project that a call calls: by its name, or a method of the class around it by `self`."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
            owner = view.class_of(call)
            for base in _family(view, owner):
                for item in base.body:
                    if isinstance(item, ast.FunctionDef) and item.name == name:
                        return view, item
            return None
    return definition_of(view, call.func, project, ast.FunctionDef)


def _family(view: ModuleView, owner: ast.ClassDef | None) -> Iterator[ast.ClassDef]:
    """A class and those of its bases that stand in the same file."""
    seen: set[str] = set()
    pending = [owner] if owner is not None else []
    while pending:
        node = pending.pop(0)
        if node.name in seen:
            continue
        seen.add(node.name)
        yield node
        for base in node.bases:
            binding = view.definition(base)
            if binding is not None and isinstance(binding.node, ast.ClassDef):
                pending.append(binding.node)
