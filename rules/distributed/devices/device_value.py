"""What kind of value a device expression has, by evidence and never by its name."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Literal

from torchlift.project import Project
from torchlift.rules.analysis.values.parameter_values import arguments_of, default_of, is_spawned_index
from torchlift.rules.analysis.values.repeatable import returned_value
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk

DeviceKind = Literal["integer", "device", "string", "unknown"]
"""`integer` is one that is surely not negative; `string` and `device` name an index."""

_DEEPEST = 6
_INTEGERS = frozenset({"torch.distributed.get_node_local_rank", "torch.distributed.get_rank",
                       "torch.cuda.current_device"})  # fmt: skip
_COUNTS = frozenset({"torch.cuda.device_count", "torch.accelerator.device_count"})
_ENVIRONMENT = frozenset({"os.environ.get", "os.getenv"})


def device_kind(view: ModuleView, project: Project, node: ast.expr, at: ast.AST) -> DeviceKind:
    """The kind of `node`, which is evaluated at `at`."""
    return _Kinds(view, project, at).of(node, 0)


def assigned_before(view: ModuleView, attribute: ast.Attribute, at: ast.AST) -> ast.expr | None:
    """The value of the last plain assignment to `attribute` that surely ran before `at` in the same function."""
    text = ast.unparse(attribute)
    statement: ast.stmt = view.statement(at)
    function = view.function_of(at)
    while True:
        block = view.block(statement)
        for earlier in reversed(block[: block.index(statement)]):
            if isinstance(earlier, ast.Assign) and any(ast.unparse(target) == text for target in earlier.targets):
                return earlier.value
            if any(isinstance(node, ast.Attribute) and _is_store_of(node, text) for node in walk(earlier)):
                return None
        parent = view.parent(statement)
        if not isinstance(parent, ast.stmt) or parent is function:
            return None
        statement = parent


def stored_values(view: ModuleView, name: str) -> list[ast.expr | None]:
    """Everything a file assigns to an attribute called `name`; None for what is no plain assignment."""
    found: list[ast.expr | None] = []
    for node in walk(view.tree):
        if isinstance(node, ast.Attribute) and node.attr == name and not isinstance(node.ctx, ast.Load):
            parent = view.parent(node)
            found.append(parent.value if isinstance(parent, ast.Assign) and node in parent.targets else None)
    return found


def constant_items(view: ModuleView, name: ast.Name) -> list[ast.expr] | None:
    """Items of the list that a name stands for, if nothing but looking them up is ever done with it."""
    binding = view.definition(name)
    if binding is None or binding.kind != "assign" or not isinstance(binding.value, (ast.List, ast.Tuple)):
        return None
    for read, _ in view.reads_of(binding):
        parent = view.parent(read)
        looked_up = isinstance(parent, ast.Subscript) and parent.value is read and isinstance(parent.ctx, ast.Load)
        measured = isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "len"
        if not looked_up and not measured:
            return None
    return binding.value.elts


def options_called(view: ModuleView, name: str) -> list[ast.Call]:
    """The `add_argument` calls of a file that declare the command-line option behind the attribute `name`."""
    found = []
    for node in walk(view.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            target = next((k.value for k in node.keywords if k.arg == "dest"), None)
            if target is not None:
                if isinstance(target, ast.Constant) and target.value == name:
                    found.append(node)
                continue
            flags = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            long = [flag for flag in flags if flag.startswith("--")] or flags
            if long and long[0].lstrip("-").replace("-", "_") == name:
                found.append(node)
    return found


def excludes_negative(view: ModuleView, node: ast.expr, at: ast.AST) -> bool:
    """Whether tests around `at` leave no negative value for `node`: `if args.local_rank != -1:` and the like."""
    text = ast.unparse(node)
    child: ast.AST = at
    for ancestor in view.ancestors(at):
        if isinstance(ancestor, ast.If) and child is not ancestor.test:
            if _is_bound_in(ancestor, node, at):
                return False
            holds = any(child is statement for statement in ancestor.body)
            if _excludes(ancestor.test, text, holds):
                return True
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
            break
        child = ancestor
    return False


def _is_bound_in(around: ast.If, node: ast.expr, at: ast.AST) -> bool:
    """Whether something in an `if`, in front of `at`, binds what `node` reads to another value."""
    names = {child.id for child in walk(node) if isinstance(child, ast.Name)}
    attributes = {child.attr for child in walk(node) if isinstance(child, ast.Attribute)}
    end = getattr(at, "lineno", 0), getattr(at, "col_offset", 0)
    for child in walk(around):
        if not isinstance(child, (ast.Name, ast.Attribute)) or isinstance(child.ctx, ast.Load):
            continue
        same = child.id in names if isinstance(child, ast.Name) else child.attr in attributes
        if same and (child.lineno, child.col_offset) < end:
            return True
    return False


def _excludes(test: ast.expr, text: str, holds: bool) -> bool:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _excludes(operand, text, not holds)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) is holds:
            return any(_excludes(value, text, holds) for value in values)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if ast.unparse(left) == text:
            number = _number(right)
            if number is None:
                return False
            if holds:
                return (
                    (isinstance(op, ast.NotEq) and number == -1)
                    or (isinstance(op, ast.GtE) and number >= 0)
                    or (isinstance(op, ast.Gt) and number >= -1)
                )
            return (
                (isinstance(op, ast.Eq) and number == -1)
                or (isinstance(op, ast.Lt) and number >= 0)
                or (isinstance(op, ast.LtE) and number >= -1)
            )
    return False


def _number(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -node.operand.value if isinstance(node.operand.value, int) else None
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool):
        return node.value
    return None


def _is_store_of(node: ast.Attribute, text: str) -> bool:
    return not isinstance(node.ctx, ast.Load) and ast.unparse(node) == text


class _Kinds:
    def __init__(self, view: ModuleView, project: Project, at: ast.AST) -> None:
        self.view = view
        self.project = project
        self.at = at

    def of(self, node: ast.expr, depth: int) -> DeviceKind:
        if depth > _DEEPEST:
            return "unknown"
        match node:
            case ast.Constant(value=bool()):
                return "unknown"
            case ast.Constant(value=int()):
                return "integer"
            case ast.Constant(value=str() as text):
                return "string" if ":" in text else "unknown"
            case ast.JoinedStr():
                return "string"
            case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str() as text)):
                return "string" if ":" in text else "unknown"
            case ast.BinOp(op=ast.Mod()):
                return "integer" if self._is_count(node.right, depth) else "unknown"
            case ast.BinOp(op=ast.Add() | ast.Mult() | ast.FloorDiv()):
                return self._joined((node.left, node.right), depth)
            case ast.Subscript(value=ast.List() | ast.Tuple() as items):
                return self._joined(items.elts, depth)
            case ast.Subscript(value=ast.Name() as name):
                known = constant_items(self.view, name)
                return self._joined(known, depth) if known else "unknown"
            case ast.Call():
                return self._call(node, depth)
            case ast.Name():
                return self._name(node, depth)
            case ast.Attribute():
                return self._attribute(node, depth)
        return "unknown"

    def _elsewhere(self, node: ast.expr, depth: int) -> DeviceKind:
        """The kind of an expression that is evaluated where it stands."""
        return _Kinds(self.view, self.project, node).of(node, depth + 1)

    def _joined(self, nodes: Iterable[ast.expr], depth: int) -> DeviceKind:
        kinds = {self.of(node, depth + 1) for node in nodes}
        return kinds.pop() if len(kinds) == 1 else "unknown"

    def _is_count(self, node: ast.expr, depth: int) -> bool:
        if isinstance(node, ast.Name):
            binding = self.view.definition(node)
            if binding is None or binding.kind != "assign" or binding.value is None or depth >= _DEEPEST:
                return False
            return self._is_count(binding.value, depth + 1)
        if isinstance(node, ast.Call):
            resolution = self.view.resolve(node.func)
            return resolution is not None and resolution.name in _COUNTS
        return False

    def _call(self, node: ast.Call, depth: int) -> DeviceKind:
        match node:
            case ast.Call(func=ast.Name(id="int"), args=[inner], keywords=[]):
                if self.view.scope_at(node).lookup("int") is not None:
                    return "unknown"
                if not self._may_be_negative(inner, depth) or excludes_negative(self.view, node, self.at):
                    return "integer"
                return "unknown"
        value = returned_value(self.view, node)
        if value is not None:
            return self.of(value, depth + 1)
        resolution = self.view.resolve(node.func)
        if resolution is None or not resolution.certain:
            return "unknown"
        if resolution.name == "torch.device":
            return "device"
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if any(self._says_negative(value, depth) for value in given):
            return "unknown"
        return "integer" if resolution.name in _INTEGERS else "unknown"

    def _may_be_negative(self, node: ast.expr, depth: int) -> bool:
        """Whether `int(node)` may be negative: a default of -1 for an environment variable that is not set."""
        if isinstance(node, ast.Call):
            resolution = self.view.resolve(node.func)
            if resolution is not None and resolution.name in _ENVIRONMENT:
                defaults = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "default")]
                return any(self._negative_text(default, depth) for default in defaults)
            return True
        if isinstance(node, ast.Subscript):
            resolution = self.view.resolve(node.value)
            return resolution is None or resolution.name != "os.environ"
        if isinstance(node, ast.Name) and depth < _DEEPEST:
            binding = self.view.definition(node)
            if binding is not None and binding.kind == "assign" and binding.value is not None:
                return self._may_be_negative(binding.value, depth + 1)
        return not isinstance(node, ast.Constant)

    def _negative_text(self, node: ast.expr, depth: int) -> bool:
        """Whether the default of an environment variable may stand for a negative number."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and "-" in node.value
        return self.of(node, depth + 1) != "integer"

    def _name(self, node: ast.Name, depth: int) -> DeviceKind:
        bindings = [binding for binding in self._bindings(node) if not _is_none(binding.value)]
        if not bindings:
            return "unknown"
        if all(binding.kind == "assign" and binding.value is not None for binding in bindings):
            values = [binding.value for binding in bindings if binding.value is not None]
            kinds = {self._elsewhere(value, depth) for value in values}
            kind = kinds.pop() if len(kinds) == 1 else "unknown"
            if kind == "unknown" and excludes_negative(self.view, node, self.at):
                return "integer" if all(self._is_parsed(binding.value) for binding in bindings) else "unknown"
            return kind
        if len(bindings) == 1 and isinstance(bindings[0].node, ast.arg):
            return self._parameter(bindings[0].node, depth)
        return "unknown"

    def _bindings(self, node: ast.Name) -> tuple[Binding, ...]:
        single = self.view.definition(node)
        if single is not None:
            return (single,)
        return self.view.bindings_of(node, self.view.scope_at(node))

    @staticmethod
    def _is_parsed(node: ast.expr | None) -> bool:
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int"

    def _parameter(self, parameter: ast.arg, depth: int) -> DeviceKind:
        annotation = parameter.annotation
        if isinstance(annotation, ast.Name) and annotation.id in {"int", "str"}:
            return "string" if annotation.id == "str" else self._annotated_integer(parameter, depth)
        resolution = self.view.resolve(annotation) if annotation is not None else None
        if resolution is not None and resolution.name == "torch.device":
            return "device"
        spawned = is_spawned_index(self.view, parameter)
        arguments = arguments_of(self.view, self.project, parameter)
        if arguments is None or (not arguments and not spawned):
            return "unknown"
        kinds = {self._elsewhere(argument, depth) for argument in arguments}
        if spawned:
            kinds.add("integer")
        return kinds.pop() if len(kinds) == 1 else "unknown"

    def _annotated_integer(self, parameter: ast.arg, depth: int) -> DeviceKind:
        name = ast.Name(parameter.arg, ast.Load())
        if excludes_negative(self.view, name, self.at):
            return "integer"
        given = [default_of(self.view, parameter), *(arguments_of(self.view, self.project, parameter) or ())]
        return "unknown" if any(self._says_negative(value, depth) for value in given) else "integer"

    def _says_negative(self, node: ast.expr | None, depth: int) -> bool:
        """Whether a value that should be an integer has a negative number, or None, among what it may be."""
        if node is None or depth > _DEEPEST or excludes_negative(self.view, node, node):
            return False
        if _is_none(node) or isinstance(node, (ast.UnaryOp, ast.IfExp)):
            return True
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and "-" in node.value
        if isinstance(node, ast.Name):
            values = [b.value for b in self._bindings(node) if b.kind == "assign"]
            return any(self._says_negative(value, depth + 1) for value in values)
        if isinstance(node, ast.Attribute):
            stored = [item for item in stored_values(self.view, node.attr) if item is not None]
            defaults = [k.value for o in options_called(self.view, node.attr) for k in o.keywords if k.arg == "default"]
            return any(self._says_negative(value, depth + 1) for value in (*stored, *defaults))
        if isinstance(node, ast.Call):
            return any(
                self._says_negative(value, depth + 1) for value in (*node.args, *(k.value for k in node.keywords))
            )
        return False

    def _attribute(self, node: ast.Attribute, depth: int) -> DeviceKind:
        value = assigned_before(self.view, node, self.at)
        if value is not None:
            return self._elsewhere(value, depth)
        stored = stored_values(self.view, node.attr)
        if any(item is None for item in stored):
            return "unknown"
        kinds: set[DeviceKind] = {self._elsewhere(item, depth) for item in stored if item is not None}
        options = options_called(self.view, node.attr)
        kinds |= {self._option(option, node) for option in options}
        if not options:
            return "unknown"  # what it holds comes from somewhere else
        return kinds.pop() if len(kinds) == 1 else "unknown"

    def _option(self, option: ast.Call, node: ast.Attribute) -> DeviceKind:
        keywords = {keyword.arg: keyword.value for keyword in option.keywords}
        kind, default = keywords.get("type"), keywords.get("default")
        if "action" in keywords or "nargs" in keywords or not (isinstance(kind, ast.Name) and kind.id == "int"):
            return "unknown"
        if excludes_negative(self.view, node, self.at):
            return "integer"
        if default is None or isinstance(default, ast.UnaryOp):
            return "unknown"
        if isinstance(default, ast.Call):
            return "unknown" if self._negative_default(default) else "integer"
        return "integer" if isinstance(default, ast.Constant) and isinstance(default.value, int) else "unknown"

    def _negative_default(self, default: ast.Call) -> bool:
        inner = default.args[0] if isinstance(default.func, ast.Name) and default.func.id == "int" else default
        return self._may_be_negative(inner, 0)


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
