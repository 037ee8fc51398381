"""What kind of value a device expression has, by evidence and never by its name."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Literal

from torchlift.project import Project
from torchlift.rules.analysis.values.environment_reads import environment_read
from torchlift.rules.analysis.values.literals import integer
from torchlift.rules.analysis.values.parameter_values import default_of, is_spawned_index
from torchlift.rules.analysis.values.trace_back import DEEPEST, TraceBack, constant_items
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.view import ModuleView
from torchlift.view.walk import walk

DeviceKind = Literal["integer", "device", "string", "unknown"]
"""`integer` is one that is surely not negative; `string` and `device` name an index."""

_INTEGERS = frozenset({"torch.distributed.get_node_local_rank", "torch.distributed.get_rank",
                       "torch.cuda.current_device"})  # fmt: skip
_COUNTS = frozenset({"torch.cuda.device_count", "torch.accelerator.device_count"})


def device_kind(view: ModuleView, project: Project, node: ast.expr, at: ast.AST) -> DeviceKind:
    """The kind of `node`, which is evaluated at `at`."""
    return _Kinds(view, project, at).of(node)


def stored_values(view: ModuleView, name: str) -> list[ast.expr | None]:
    """Everything a file assigns to an attribute called `name`; None for what is no plain assignment."""
    found: list[ast.expr | None] = []
    for node in walk(view.tree):
        if isinstance(node, ast.Attribute) and node.attr == name and not isinstance(node.ctx, ast.Load):
            parent = view.parent(node)
            found.append(parent.value if isinstance(parent, ast.Assign) and node in parent.targets else None)
    return found


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
    for choice, holds in view.choices(at, view.function_of(at)):
        if _is_bound_in(choice, node, at):
            return False
        if _excludes(choice.test, text, holds):
            return True
    return False


def _is_bound_in(around: ast.AST, node: ast.expr, at: ast.AST) -> bool:
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
            number = integer(right)
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


class _Kinds(TraceBack[DeviceKind]):
    unknown = "unknown"

    def says(self, node: ast.expr, depth: int) -> DeviceKind | None:
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
            case ast.BinOp(op=ast.Mod(), right=count):
                return "integer" if is_device_count(self.view, count) else "unknown"
            case ast.BinOp(op=ast.Add() | ast.Mult() | ast.FloorDiv()):
                return self._all((node.left, node.right), depth)
            case ast.Subscript(value=ast.List(elts=items) | ast.Tuple(elts=items)):
                return self._all(items, depth)
            case ast.Subscript(value=ast.Name() as name):
                return self._all(constant_items(self.view, name) or (), depth)
            case ast.Call(func=ast.Name(id="int"), args=[inner], keywords=[]):
                if self.view.scope_at(node).lookup("int") is not None:
                    return "unknown"
                positive = not self._may_be_negative(inner, depth) or excludes_negative(self.view, node, self.at)
                return "integer" if positive else "unknown"
            case ast.Call(func=function):
                called = self.view.certain_name(function)
                if called == "torch.device":
                    return "device"
                if called in _INTEGERS:
                    return "unknown" if self._any_negative(given_values(node), depth) else "integer"
        return None

    def _all(self, nodes: Iterable[ast.expr], depth: int) -> DeviceKind:
        return self.merged([self.of(node, depth + 1) for node in nodes])

    def _may_be_negative(self, node: ast.expr, depth: int) -> bool:
        """Whether `int(node)` may be negative: a default of -1 for an environment variable that is not set."""
        read = environment_read(self.view, node)
        if read is not None:
            return read.default is not None and self._negative_text(read.default, depth)
        if isinstance(node, ast.Name) and depth < DEEPEST:
            value = assigned_value(self.view, node)
            if value is not None:
                return self._may_be_negative(value, depth + 1)
        return not isinstance(node, ast.Constant)

    def _negative_text(self, node: ast.expr, depth: int) -> bool:
        """Whether the default of an environment variable may stand for a negative number."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and "-" in node.value
        return self.of(node, depth + 1) != "integer"

    def of_name(self, node: ast.Name, depth: int) -> DeviceKind:
        kind = super().of_name(node, depth)
        if kind == "unknown" and excludes_negative(self.view, node, self.at):
            values = [binding.value for binding in self.bindings(node)]
            return "integer" if values and all(_is_parsed(value) for value in values) else "unknown"
        return kind

    def of_parameter(self, parameter: ast.arg, depth: int) -> DeviceKind:
        match parameter.annotation:
            case ast.Name(id="str"):
                return "string"
            case ast.Name(id="int"):
                return self._annotated_integer(parameter, depth)
            case ast.expr() as annotation if self.view.possible_name(annotation) == "torch.device":
                return "device"
        arguments = self.arguments(parameter)
        kinds: list[DeviceKind] = [self.elsewhere(argument, depth) for argument in arguments or ()]
        if is_spawned_index(self.view, parameter):
            kinds.append("integer")
        return self.merged(kinds) if arguments is not None else "unknown"

    def _annotated_integer(self, parameter: ast.arg, depth: int) -> DeviceKind:
        if excludes_negative(self.view, ast.Name(parameter.arg, ast.Load()), self.at):
            return "integer"
        given = [default_of(self.view, parameter), *(self.arguments(parameter) or ())]
        return "unknown" if self._any_negative(given, depth) else "integer"

    def _any_negative(self, nodes: Iterable[ast.expr | None], depth: int) -> bool:
        return any(self._says_negative(node, depth) for node in nodes)

    def _says_negative(self, node: ast.expr | None, depth: int) -> bool:
        """Whether a value that should be an integer has a negative number, or None, among what it may be."""
        if node is None or depth > DEEPEST or excludes_negative(self.view, node, node):
            return False
        match node:
            case ast.UnaryOp() | ast.IfExp() | ast.Constant(value=None):
                return True
            case ast.Constant(value=value):
                return isinstance(value, str) and "-" in value
            case ast.Name():
                bound = [binding.value for binding in self.bindings(node) if binding.kind == "assign"]
                return self._any_negative(bound, depth + 1)
            case ast.Attribute(attr=name):
                defaults = [option_keywords(option).get("default") for option in options_called(self.view, name)]
                return self._any_negative((*stored_values(self.view, name), *defaults), depth + 1)
            case ast.Call():
                return self._any_negative(given_values(node), depth + 1)
        return False

    def of_stored(self, node: ast.Attribute, depth: int) -> DeviceKind:
        stored = stored_values(self.view, node.attr)
        options = options_called(self.view, node.attr)
        if not options:
            return "unknown"  # what it holds comes from somewhere else
        kinds = [self.elsewhere(item, depth) if item is not None else "unknown" for item in stored]
        return self.merged([*kinds, *(self._option(option, node) for option in options)])

    def _option(self, option: ast.Call, node: ast.Attribute) -> DeviceKind:
        keywords = option_keywords(option)
        kind, default = keywords.get("type"), keywords.get("default")
        if "action" in keywords or "nargs" in keywords or not (isinstance(kind, ast.Name) and kind.id == "int"):
            return "unknown"
        if excludes_negative(self.view, node, self.at):
            return "integer"
        match default:
            case ast.Call(func=ast.Name(id="int"), args=[inner, *_]) | (ast.Call() as inner):
                return "unknown" if self._may_be_negative(inner, 0) else "integer"
            case ast.Constant(value=int()):
                return "integer"
        return "unknown"


def is_device_count(view: ModuleView, node: ast.expr, depth: int = 0) -> bool:
    """Whether an expression is the number of GPUs of the host."""
    if isinstance(node, ast.Name) and depth <= DEEPEST:
        value = assigned_value(view, node)
        return value is not None and is_device_count(view, value, depth + 1)
    return isinstance(node, ast.Call) and view.possible_name(node.func) in _COUNTS


def given_values(call: ast.Call) -> list[ast.expr]:
    """Everything that is passed to a call."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def option_keywords(option: ast.Call) -> dict[str | None, ast.expr]:
    """The keywords of one of `options_called`."""
    return {keyword.arg: keyword.value for keyword in option.keywords}


def _is_parsed(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int"
