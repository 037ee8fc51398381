"""Runs a function of a file for one rank, as far as it can be known without its data.

Ranks, world sizes and what is computed from them are real numbers and everything Python does with them is done by Python.
Tensors, settings and whatever else comes from outside are unknown values that carry where they come from. A branch whose
condition is unknown is run both ways, and what differs afterwards is unknown; as soon as something is sent, received or
waited for while it depends on such a condition, reading ends: with `CommonChoice`, if the condition is the same on every rank and
so can be tried both ways, and with `Open` otherwise.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, ClassVar

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.values.literals import is_none
from torchlift.rules.analysis.values.parameter_values import defaults_of
from torchlift.rules.analysis.values.self_attributes import self_attribute
from torchlift.rules.distributed.p2p.interpreter.calls import Calls
from torchlift.rules.distributed.p2p.interpreter.code import Body, FunctionNode, Started
from torchlift.rules.distributed.p2p.interpreter.communication import may_be_group
from torchlift.rules.distributed.p2p.interpreter.ends import Flow
from torchlift.rules.distributed.p2p.interpreter.expressions import Expressions
from torchlift.rules.distributed.p2p.interpreter.failures import Failures
from torchlift.rules.distributed.p2p.interpreter.keys import node_text
from torchlift.rules.distributed.p2p.interpreter.loops import Loops
from torchlift.rules.distributed.p2p.interpreter.meanings import Meanings
from torchlift.rules.distributed.p2p.interpreter.messages import Messages
from torchlift.rules.distributed.p2p.interpreter.names import Names
from torchlift.rules.distributed.p2p.interpreter.objects import Objects
from torchlift.rules.distributed.p2p.interpreter.operators import Unworkable
from torchlift.rules.distributed.p2p.interpreter.rank_state import is_class_method, is_static
from torchlift.rules.distributed.p2p.interpreter.statements import Statements
from torchlift.rules.distributed.p2p.interpreter.unknown_calls import UnknownCalls
from torchlift.rules.distributed.p2p.interpreter.values import (
    Class,
    CodeRaises,
    Ended,
    Frame,
    Function,
    Instance,
    Level,
    Open,
    Unknown,
    Value,
    holds_handle,
)
from torchlift.view import ModuleView


@dataclass
class _Stores:
    """How often an attribute is set in the constructor and elsewhere.

    Attributes:
        only_state: whether stores elsewhere only hold handles of operations, or take them away again.
    """

    inside: int = 0
    outside: int = 0
    only_state: bool = True


class RankRun(Statements, Loops, Failures, Names, Expressions, Objects, Calls, UnknownCalls, Messages, Meanings):
    """One run of one function by one rank; see `RankState` for what it is made with and what it leaves."""

    statement_handlers: ClassVar[dict[type[ast.stmt], Callable[[Any, Any, Frame], Flow]]] = {
        ast.Expr: Statements._expression,
        ast.Assign: Statements._assign,
        ast.AnnAssign: Statements._annotated,
        ast.AugAssign: Statements._augmented,
        ast.Delete: Statements._delete,
        ast.If: Statements._if,
        ast.For: Loops._for,
        ast.AsyncFor: Loops._for,
        ast.While: Loops._while,
        ast.With: Failures._with,
        ast.AsyncWith: Failures._with,
        ast.Try: Failures._try,
        ast.Return: Statements._return,
        ast.Raise: Statements._raise,
        ast.Assert: Statements._assert,
        ast.FunctionDef: Statements._define,
        ast.AsyncFunctionDef: Statements._define,
        ast.ClassDef: Statements._define,
        ast.Import: Statements._import,
        ast.ImportFrom: Statements._import,
        ast.Global: Statements._simple,
        ast.Nonlocal: Statements._simple,
        ast.Pass: Statements._simple,
        ast.Break: Statements._simple,
        ast.Continue: Statements._simple,
    }
    if hasattr(ast, "TryStar"):
        statement_handlers[ast.TryStar] = Failures._try

    expression_handlers: ClassVar[dict[type[ast.expr], Callable[[Any, Any, Frame], Value]]] = {
        ast.Constant: Expressions._constant,
        ast.Name: Names._name,
        ast.List: Expressions._list,
        ast.Tuple: Expressions._list,
        ast.Set: Expressions._list,
        ast.Dict: Expressions._dict,
        ast.Attribute: Names._attribute,
        ast.Subscript: Expressions._subscript,
        ast.Slice: Expressions._slice,
        ast.BinOp: Expressions._binary,
        ast.UnaryOp: Expressions._unary,
        ast.BoolOp: Expressions._boolean,
        ast.Compare: Expressions._compare,
        ast.IfExp: Expressions._conditional,
        ast.NamedExpr: Expressions._walrus,
        ast.Lambda: Expressions._lambda,
        ast.Starred: Expressions._inner,
        ast.Await: Expressions._inner,
        ast.Yield: Expressions._yield,
        ast.YieldFrom: Expressions._yield,
        ast.JoinedStr: Expressions._formatted,
        ast.ListComp: Loops._comprehension,
        ast.SetComp: Loops._comprehension,
        ast.GeneratorExp: Loops._comprehension,
        ast.DictComp: Loops._comprehension,
        ast.Call: Calls._call,
    }

    def run(self, body: Body) -> Value:
        """Run a function with unknown arguments, or the statements of the module; returns what it returns.

        Raises:
            Open, CommonChoice: it cannot be said, or not yet, what the rank does.
            CodeRaises: the code fails on this rank.
        """
        try:
            if isinstance(body, ast.Module):
                frame = self._module(self.code.view, running=True)
                self._stack.append(frame)
                self._block(body.body, frame)
                return list(frame.values.values())
            function = self._defined(body)
            return self._enter(function, body)
        except Ended:
            return None
        finally:
            for module in self._modules.values():
                self.outlives += module.values.values()

    def _defined(self, node: FunctionNode) -> Function:
        """The function as a value, with the frames around it as far as they can be known."""
        view = self.code.view
        frame = self._module(view)
        owner: Class | None = None
        for ancestor in reversed(list(view.ancestors(node))):
            if isinstance(ancestor, FunctionNode):
                outer = Frame(view, view.scopes.scope_of[ancestor], frame, running=False)
                frame, owner = outer, None
            elif isinstance(ancestor, ast.ClassDef):
                owner = Class(ancestor, frame)
        return Function(node, frame, owner)

    def _enter(self, function: Function, node: FunctionNode) -> Value:
        """Run a function that nobody in the file calls."""
        try:
            self._check_decorators(function)
        except Open as reason:
            self.assumed[f"{reason}, which runs it once on every rank"] = None
        owner = function.owner if not is_static(node) and (node.args.posonlyargs or node.args.args) else None
        first = owner if owner is None or is_class_method(node) else self._instance(owner, node)
        if first is not None:
            self.outlives.append(first)
        return self._invoke(function, self._given(node, first, self.assumed), node)

    def _given(self, node: FunctionNode, first: Value, assumed: dict[str, None]) -> dict[str, Value]:
        """What the parameters are worth where no caller is known; `first` is the object or class of a method, if it is one.

        What is taken for granted is added to `assumed`.
        """
        started = self.code.started.get(node) or Started()
        passed, replaced = dict(started.passed), _replaced_parameters(node)
        values: dict[str, Value] = {}
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            name = argument.arg
            if first is not None and not values:
                values[name] = first
            elif name in started.rank:
                values[name] = self.rank
                assumed[f"`{name}` is the rank, as line {started.line} says"] = None
            elif name in started.world:
                values[name] = self.size
            elif name in passed:
                values[name] = self._passed(passed[name], name, node)
            elif name in replaced:
                values[name] = None
                assumed[f"`{name}` is left to its default"] = None
            else:
                values[name] = self._parameter(argument, node.name)
        for extra in (node.args.vararg, node.args.kwarg):
            if extra is not None:
                values[extra.arg] = self._parameter(extra, node.name)
        return values

    def _passed(self, value: ast.expr, name: str, node: FunctionNode) -> Value:
        """What a parameter is worth that a started process is given; only constants and functions are looked at."""
        if isinstance(value, ast.Constant):
            return value.value
        binding = self.code.view.definition(value)
        if binding is not None and isinstance(binding.node, FunctionNode) and binding.scope.kind == "module":
            return self._defined(binding.node)
        return Unknown(Level.GIVEN, name, f"`{name}` is a parameter of `{node.name}`")

    def _parameter(self, argument: ast.arg, function: str) -> Unknown:
        name = argument.arg
        group = argument.annotation is not None and "ProcessGroup" in ast.unparse(argument.annotation)
        key = f"{name} of a group" if group and not may_be_group(Unknown(Level.GIVEN, name, "")) else name
        return Unknown(Level.GIVEN, key, f"`{name}` is a parameter of `{function}`")

    def _instance(self, owner: Class, entry: FunctionNode) -> Instance:
        """An object as its constructor leaves it, without what other code of the file changes later."""
        instance = Instance(owner, complete=False)
        constructor = self._find_method(owner, "__init__")
        if constructor is None or constructor.node is entry:
            return instance
        assert isinstance(constructor.node, FunctionNode)
        node = constructor.node
        values = self._given(node, instance, {})
        self.communication.silent = True
        calls = dict(self.calls)
        depth = len(self._stack)
        finished = False
        try:
            self._invoke(constructor, values, node)
            finished = True
        except (Open, CodeRaises, Ended, Unworkable):
            del self._stack[depth:]
        finally:
            self.communication.silent = False
            self.calls = calls
        reach = self.code.reach(entry) | self.code.reach(node)
        filled = self.code.filled_attributes()
        for name, stores in self._stores(owner).items():
            value = instance.attributes.get(name)
            if name in filled and not filled[name] <= reach:
                instance.attributes[name] = Unknown(
                    Level.GIVEN, f"self.{name}", f"what is in `self.{name}` is decided elsewhere", handles=True
                )
                continue
            fresh = (
                finished and name in instance.attributes and stores.only_state and (value is None or value in ([], {}))
            )
            # What is None or empty and never set again in the file is set by another one.
            unfinished = not finished and (stores.inside > 1 or isinstance(value, (list, dict, set)))
            elsewhere = value is None and not stores.outside and stores.inside == 1 and name in instance.attributes
            if (stores.outside and not fresh) or unfinished or elsewhere:
                instance.attributes[name] = Unknown(
                    Level.GIVEN, f"self.{name}", f"`self.{name}` is set in several places", handles=holds_handle(value)
                )
            elif stores.outside:
                self.assumed[f"`self.{name}` is as the constructor leaves it"] = None
        return instance

    def _stores(self, owner: Class) -> dict[str, _Stores]:
        """Where the attributes of an object of a class are set, by attribute."""
        found: dict[str, _Stores] = {}
        code = self.code
        family = code.bases(owner.node)
        for name, nodes in code.attribute_stores().items():
            for node in nodes:
                function = code.view.function_of(node)
                around = code.view.class_of(node)
                own = self_attribute(node) is not None and around is not None
                if own and around is not None and around not in family and owner.node not in code.bases(around):
                    continue  # an unrelated class that has an attribute of the same name
                stores = found.setdefault(name, _Stores())
                if own and around in family and function is not None and function.name == "__init__":
                    stores.inside += 1
                else:
                    stores.outside += 1
                    stores.only_state = stores.only_state and self._is_state(code.view.statement(node), node)
        return found

    def _is_state(self, statement: ast.stmt, target: ast.Attribute) -> bool:
        """Whether a store empties an attribute, or puts handles of operations into it."""
        if not isinstance(statement, ast.Assign) or statement.targets != [target]:
            return False
        value = statement.value
        if isinstance(value, ast.Constant):
            return value.value is None
        if isinstance(value, (ast.List, ast.Dict)):
            return not (value.elts if isinstance(value, ast.List) else value.keys)
        if isinstance(value, ast.Call):
            return value.func in self.code.communication
        return False

    def _module(self, view: ModuleView, *, running: bool = False) -> Frame:
        frame = self._modules.get(view.path)
        if frame is None:
            frame = Frame(view, view.scopes.module, None, running=running)
            self._modules[view.path] = frame
        return frame


def _replaced_parameters(node: FunctionNode) -> set[str]:
    """Parameters with the default None that the function replaces by something of its own: `if rank is None: rank = ...`."""
    names = {name for name, default in defaults_of(node.args).items() if is_none(default)}
    found = set()
    for statement in node.body:
        match statement:
            case ast.If(
                test=ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]),
                body=body,
            ) if name in names:
                if any(isinstance(s, ast.Assign) and node_text(s.targets[0]) == name for s in body):
                    found.add(name)
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.IfExp(test=ast.Compare(left=ast.Name(id=tested)))
            ) if name in names and tested == name:
                found.add(name)
    return found
