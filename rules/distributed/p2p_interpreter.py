"""Runs a function of a file for one rank, as far as it can be known without its data.

Ranks, world sizes and what is computed from them are real numbers and everything Python does with them is done by Python.
Tensors, settings and whatever else comes from outside are unknown values that carry where they come from. A branch whose
condition is unknown is run both ways, and what differs afterwards is unknown; as soon as something is sent, received or
waited for while it depends on such a condition, reading ends: with `Choice`, if the condition is the same on every rank and
so can be tried both ways, and with `Open` otherwise.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

from torchlift.project import Project
from torchlift.rules.distributed.p2p_code import Body, Code, FunctionNode
from torchlift.rules.distributed.p2p_communication import (
    POINT_TO_POINT,
    Communication,
    arguments_of,
    distributed_name,
    is_collective,
    is_group_query,
    is_no_member,
    is_quiet,
    likely_communicates,
    makes_group,
    may_be_group,
    parameters_of,
    transfer_kind,
)
from torchlift.rules.distributed.p2p_operators import (
    MUTATING,
    Once,
    Unworkable,
    binary,
    call_function,
    call_method,
    compare,
    elements,
    subscript,
    truth,
    unary,
)
from torchlift.rules.distributed.p2p_program import Operation
from torchlift.rules.distributed.p2p_values import (
    Choice,
    Class,
    Coalescing,
    Doubt,
    Ended,
    External,
    Frame,
    Function,
    Group,
    Handle,
    Instance,
    Level,
    Method,
    Open,
    Raised,
    Transfer,
    Unknown,
    Value,
    holds_handle,
    join,
    level_of,
    parts,
    unknown_in,
)
from torchlift.torch_names import public_name
from torchlift.view import Binding, ModuleView

_MOST_STEPS = 40_000
_DEEPEST_CALL = 16
_MOST_ROUNDS = 600
_WORTH_RUNNING = 64
"""Rounds of a loop that does not communicate which are run one by one."""

_BUILTIN_NAMES = frozenset(dir(builtins))
_RANK_VARIABLES = frozenset({"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"})
_WORLD_VARIABLES = frozenset({"WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
_ALWAYS_SET = frozenset({"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"})
_TRUE = frozenset(
    {
        "torch.cuda.is_available",
        "torch.distributed.is_available",
        "torch.distributed.is_initialized",
        "torch.distributed.is_nccl_available",
    }
)
_UNIFORM = (
    "torch.__version__",
    "torch.version.",
    "torch.backends.",
    "torch.cuda.device_count",
    "torch.cuda.nccl.version",
    "argparse.",
    "os.environ",
    "os.getenv",
    "sys.argv",
    "sys.platform",
    "sys.version",
    "platform.",
    "packaging.version.",
)
_ENDING = frozenset({"sys.exit", "os._exit", "builtins.exit", "builtins.quit"})
_SYNCHRONIZING = frozenset({"torch.cuda.synchronize", "torch.accelerator.synchronize"})
_HARMLESS = ("logging.", "warnings.", "builtins.print", "builtins.repr", "builtins.id", "builtins.type", "time.")
_LOGGING = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print"})
_THREADS = ("threading.", "concurrent.", "asyncio.")
_PROCESSES = ("torch.multiprocessing.", "multiprocessing.")
_KNOWN_DECORATORS = ("torch.", "functools.", "typing.", "abc.", "contextlib.suppress", "typing_extensions.", "pytest.")
_CHANGING_DECORATORS = frozenset(
    {"contextlib.contextmanager", "contextlib.asynccontextmanager", "functools.singledispatch"}
)
# Words in the name of a setting that says what this rank in particular is.
_RANK_WORDS = ("rank", "stage", "first", "last", "is_main", "is_master", "local", "node", "host", "coord")


class Flow(Enum):
    """How a statement ends."""

    NEXT = 0
    BREAK = 1
    CONTINUE = 2
    RETURN = 3
    RAISE = 4
    END = 5


@dataclass
class _Stores:
    """How often an attribute is set in the constructor and elsewhere.

    Attributes:
        only_state: whether stores elsewhere only hold handles of operations, or take them away again.
    """

    inside: int = 0
    outside: int = 0
    only_state: bool = True


class RankRun:
    """One run of one function by one rank.

    Args:
        code: the file.
        project: its project.
        rank, size: the rank and the number of ranks.
        choices: what conditions that are the same on every rank are taken to be, by key.

    Attributes:
        communication: what the rank did.
        calls: calls of the file that sent or received, in the order of their first use.
        outlives: what is still there when the function has ended, beside what it returns.
        assumed: what was taken for granted, as clauses.
    """

    def __init__(self, code: Code, project: Project, rank: int, size: int, choices: Mapping[str, bool]) -> None:
        self.code = code
        self.project = project
        self.rank = rank
        self.size = size
        self.choices = choices
        self.communication = Communication(rank, size)
        self.calls: dict[ast.Call, None] = {}
        self.assumed: dict[str, None] = {}
        self._modules: dict[str, Frame] = {}
        self._stack: list[Frame] = []
        self._doubts: list[Doubt] = []
        self._poisoned: dict[int, tuple[Value, Unknown]] = {}
        self._steps = 0
        self._looking_up: set[Binding] = set()
        self._site: ast.Call | None = None
        self.outlives: list[Value] = []

    # Running

    def run(self, body: Body) -> Value:
        """Run a function with unknown arguments, or the statements of the module; returns what it returns.

        Raises:
            Open, Choice: it cannot be said, or not yet, what the rank does.
            Raised: the code fails on this rank.
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
        started = self.code.started.get(node)
        values: dict[str, Value] = {}
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        passed = dict(started.passed) if started is not None else {}
        replaced = _replaced_parameters(node)
        for index, argument in enumerate((*positional, *arguments.kwonlyargs)):
            name = argument.arg
            bound = index == 0 and function.owner is not None and not _is_static(node)
            if bound and function.owner is not None:
                values[name] = function.owner if _is_class_method(node) else self._instance(function.owner, node)
                self.outlives.append(values[name])
            elif started is not None and name in started.rank:
                values[name] = self.rank
                self.assumed[f"`{name}` is the rank, as line {started.line} says"] = None
            elif started is not None and name in started.world:
                values[name] = self.size
            elif name in passed:
                values[name] = self._passed(passed[name], name, node)
            elif name in replaced:
                values[name] = None
                self.assumed[f"`{name}` is left to its default"] = None
            else:
                values[name] = self._parameter(argument, node.name)
        for extra in (arguments.vararg, arguments.kwarg):
            if extra is not None:
                values[extra.arg] = self._parameter(extra, node.name)
        return self._invoke(function, values, node)

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
        values: dict[str, Value] = {}
        node = constructor.node
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        started = self.code.started.get(node)
        replaced = _replaced_parameters(node)
        for index, argument in enumerate((*positional, *arguments.kwonlyargs)):
            if index == 0:
                values[argument.arg] = instance
            elif started is not None and argument.arg in started.rank | started.world:
                values[argument.arg] = self.rank if argument.arg in started.rank else self.size
            elif argument.arg in replaced:
                values[argument.arg] = None
            else:
                values[argument.arg] = self._parameter(argument, "__init__")
        for extra in (arguments.vararg, arguments.kwarg):
            if extra is not None:
                values[extra.arg] = self._parameter(extra, "__init__")
        self.communication.silent = True
        calls = dict(self.calls)
        depth = len(self._stack)
        finished = False
        try:
            self._invoke(constructor, values, node)
            finished = True
        except (Open, Raised, Ended, Unworkable):
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
                around = code.class_around(node)
                own = isinstance(node.value, ast.Name) and node.value.id == "self" and around is not None
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

    def _invoke(self, function: Function, values: dict[str, Value], at: ast.AST) -> Value:
        """Run the body of a function with its parameters bound."""
        node = function.node
        view = function.frame.view
        depth = sum(1 for frame in self._stack if frame.function is not None and frame.function.node is node)
        if len(self._stack) > _DEEPEST_CALL or depth > 2:
            raise Open(f"`{function.name}` calls itself, or calls are nested too deep")
        frame = Frame(view, view.scopes.scope_of[node], function.frame, function)
        frame.values.update(values)
        self._stack.append(frame)
        try:
            if isinstance(node, ast.Lambda):
                return self._eval(node.body, frame)
            flow = self._block(node.body, frame)
            if flow is Flow.END:
                raise Ended
        finally:
            self._stack.pop()
        result = frame.result if flow is Flow.RETURN else None
        for other in reversed(frame.returned):
            result = join(result, other, frame.doubts[0].condition)
        return result

    # Doubts

    @contextmanager
    def _doubting(self, doubt: Doubt) -> Iterator[None]:
        self._doubts.append(doubt)
        depth = len(self._stack)
        try:
            yield
        finally:
            self._doubts.remove(doubt)
            del self._stack[depth:]

    def _active_doubts(self) -> Iterator[Doubt]:
        yield from self._doubts
        for frame in self._stack:
            yield from frame.doubts
            for doubts in frame.loops:
                yield from doubts

    def _certain(self, line: int) -> None:
        """Insist that the code which runs now is surely run.

        Raises:
            Choice, Open: it is not known whether it is.
        """
        for doubt in self._active_doubts():
            self._choose(doubt.condition, doubt.line)
            raise Open(f"whether line {line} is run depends on line {doubt.line}: {doubt.condition.why}")

    def _choose(self, condition: Unknown, line: int) -> None:
        """Raise `Choice` if a condition is the same on every rank and nothing has been said about it yet."""
        atom = self._open_atom(condition)
        if atom is not None:
            raise Choice(atom, line)

    def _open_atom(self, condition: Unknown) -> Unknown | None:
        if condition.formula is not None:
            atoms = [self._open_atom(part) for part in condition.formula[1] if self._truth(part) is None]
            return next((atom for atom in atoms if atom is not None), None)
        if condition.choice is not None:
            return self._open_atom(condition.choice)
        return condition if condition.level is Level.UNIFORM and condition.key not in self.choices else None

    def _truth(self, value: Value) -> bool | None:
        known = truth(value)
        if known is not None or not isinstance(value, Unknown):
            return known
        if value.formula is None:
            return self.choices.get(value.key) if value.level is Level.UNIFORM else None
        kind, values = value.formula
        answers = [self._truth(part) for part in values]
        if kind == "not":
            return None if answers[0] is None else not answers[0]
        if kind == "and":
            return False if False in answers else None if None in answers else True
        return True if True in answers else None if None in answers else False

    def _poison(self, container: Value) -> None:
        """From now on nothing is known about what is in `container`."""
        if isinstance(container, (list, dict, set)):
            condition = next(self._active_doubts(), None)
            unknown = Unknown(
                Level.GIVEN,
                f"changed:{len(self._poisoned)}",
                condition.condition.why if condition is not None else "a list or dict that other code may have changed",
                never_none=True,
                handles=holds_handle(container),
                choice=condition.condition if condition is not None else None,
            )
            self._poisoned[id(container)] = container, unknown

    def _change(self, container: Value, new: Sequence[Value] = ()) -> bool:
        """Whether `container` may be changed; in doubt it is poisoned instead."""
        if next(self._active_doubts(), None) is None:
            return True
        self._poison(container)
        if any(holds_handle(value) for value in new):
            self._poisoned[id(container)][1].handles = True
        return False

    # Statements

    def _tick(self) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise Open("it is too long to be followed")

    def _block(self, statements: Sequence[ast.stmt], frame: Frame) -> Flow:
        for statement in statements:
            flow = self._statement(statement, frame)
            if flow is not Flow.NEXT:
                return flow
        return Flow.NEXT

    def _statement(self, node: ast.stmt, frame: Frame) -> Flow:
        self._tick()
        handler = _STATEMENTS.get(type(node), RankRun._other_statement)
        try:
            return handler(self, node, frame)
        except Raised as error:
            if "line" in str(error):
                raise
            if not self._doubts:
                self._certain(node.lineno)
            raise Raised(f"{error} in line {node.lineno}") from None

    def _other_statement(self, node: ast.stmt, frame: Frame) -> Flow:
        """A kind of statement that is not followed: `match`, and what later versions of Python bring."""
        if self._matters([node], frame):
            raise Open(f"the `{type(node).__name__.lower()}` statement in line {node.lineno} is not followed")
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                self._store_name(inner.id, Unknown(Level.GIVEN, f"{inner.id}@{node.lineno}", f"`{inner.id}`"), frame)
        if any(isinstance(inner, (ast.Return, ast.Break, ast.Continue)) for inner in ast.walk(node)):
            frame.doubts.append(
                Doubt(
                    Unknown(Level.GIVEN, "match", f"the statement in line {node.lineno} is not followed"), node.lineno
                )
            )
            frame.returned.append(None)
        return Flow.NEXT

    def _expression(self, node: ast.Expr, frame: Frame) -> Flow:
        self._eval(node.value, frame)
        return Flow.NEXT

    def _assign(self, node: ast.Assign, frame: Frame) -> Flow:
        value = self._eval(node.value, frame)
        for target in node.targets:
            self._store(target, value, frame)
        return Flow.NEXT

    def _annotated(self, node: ast.AnnAssign, frame: Frame) -> Flow:
        if node.value is not None:
            self._store(node.target, self._eval(node.value, frame), frame)
        return Flow.NEXT

    def _augmented(self, node: ast.AugAssign, frame: Frame) -> Flow:
        target = node.target
        if isinstance(target, ast.Name):
            old = self._name(ast.copy_location(ast.Name(target.id, ast.Load()), target), frame, target)
        else:
            old = self._eval(target, frame)
        value = self._eval(node.value, frame)
        if isinstance(old, (list, set, dict)) and not isinstance(old, Once):
            method = {ast.Add: "extend", ast.BitOr: "update"}.get(type(node.op))
            if method is not None and self._change(old, [value]):
                try:
                    call_method(old, method, [value], {})
                except Unworkable:
                    self._poison(old)
                return Flow.NEXT
            if method is not None:
                return Flow.NEXT
        try:
            result = binary(node.op, old, value)
        except Unworkable:
            result = self._computed((old, value), (target, node.value), node)
        self._store(target, result, frame)
        return Flow.NEXT

    def _store(self, target: ast.expr, value: Value, frame: Frame) -> None:
        if isinstance(target, ast.Name):
            self._store_name(target.id, value, frame)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value, frame)
        elif isinstance(target, ast.Attribute):
            self._store_attribute(self._eval(target.value, frame), target.attr, value)
        elif isinstance(target, ast.Subscript):
            container = self._eval(target.value, frame)
            index = self._eval(target.slice, frame)
            if isinstance(container, (list, dict)) and not isinstance(container, Once):
                if self._change(container, [value]):
                    try:
                        call_method(container, "__setitem__", [index, value], {})
                    except Unworkable:
                        self._poison(container)
                        self._poisoned[id(container)][1].handles |= holds_handle(value)
            elif isinstance(container, Unknown):
                container.handles |= holds_handle(value)
        elif isinstance(target, ast.Starred):
            self._store(target.value, value, frame)

    def _store_name(self, name: str, value: Value, frame: Frame) -> None:
        owner = frame.owner(name) or frame
        if owner is not frame and frame.scope.kind != "comprehension":
            doubt = next(self._active_doubts(), None)
            if doubt is not None:
                value = join(value, owner.values.get(name), doubt.condition)
        owner.values[name] = value

    def _store_attribute(self, base: Value, name: str, value: Value) -> None:
        doubt = next(self._active_doubts(), None)
        if isinstance(base, (Instance, Unknown)):
            if doubt is not None:
                value = join(value, base.attributes.get(name, _MISSING), doubt.condition)
            base.attributes[name] = value

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, frame: Frame) -> None:
        targets = target.elts
        starred = next((i for i, item in enumerate(targets) if isinstance(item, ast.Starred)), None)
        values: list[Value]
        try:
            values = elements(value)
        except Unworkable:
            values = [self._element(value, index) for index in range(len(targets))]
            starred = None
        if starred is not None:
            behind = len(targets) - starred - 1
            if len(values) < len(targets) - 1:
                raise Raised(f"line {target.lineno}: too few values to unpack")
            middle = values[starred : len(values) - behind]
            values = [*values[:starred], middle, *values[len(values) - behind :]]
        if len(values) != len(targets):
            raise Raised(f"line {target.lineno}: wrong number of values to unpack")
        for item, each in zip(targets, values, strict=True):
            self._store(item, each, frame)

    def _element(self, value: Value, index: int | str) -> Unknown:
        """One element of a value whose elements are unknown."""
        if isinstance(value, Unknown):
            return Unknown(
                value.level,
                f"{value.key}[{index}]",
                value.why,
                handles=value.handles,
                choice=value.choice,
                source=value,
            )
        name = value.name if isinstance(value, External) else type(value).__name__
        return Unknown(Level.GIVEN, f"{name}[{index}]", f"`{name}` is not followed")

    def _delete(self, node: ast.Delete, frame: Frame) -> Flow:
        for target in node.targets:
            if isinstance(target, ast.Name):
                owner = frame.owner(target.id)
                if owner is not None:
                    owner.values.pop(target.id, None)
            elif isinstance(target, ast.Subscript):
                container = self._eval(target.value, frame)
                index = self._eval(target.slice, frame)
                if isinstance(container, (list, dict)) and self._change(container):
                    try:
                        call_method(container, "__delitem__", [index], {})
                    except Unworkable:
                        self._poison(container)
        return Flow.NEXT

    def _if(self, node: ast.If, frame: Frame) -> Flow:
        test = self._eval(node.test, frame)
        known = self._truth(test)
        if known is not None:
            return self._block(node.body if known else node.orelse, frame)
        assert isinstance(test, Unknown)
        return self._either(Doubt(test, node.lineno), [node.body, node.orelse], frame)

    def _either(self, doubt: Doubt, branches: Sequence[Sequence[ast.stmt]], frame: Frame) -> Flow:
        """Run all branches, of which one is taken, nobody knows which."""
        before = frame.values
        ends: list[tuple[Flow, dict[str, Value], Value]] = []
        for branch in branches:
            frame.values = dict(before)
            with self._doubting(doubt):
                try:
                    flow = self._block(branch, frame)
                except Raised:
                    flow = Flow.RAISE
                except Ended:
                    flow = Flow.END
            ends.append((flow, frame.values, frame.result))
        frame.values = before
        going = [(flow, values, result) for flow, values, result in ends if flow is not Flow.RAISE]
        if not going:
            raise Raised(f"every branch of line {doubt.line} raises an exception")
        # A branch that raises is not what the code is written for, so the others are taken to be what happens.
        if all(flow is going[0][0] for flow, _, _ in going):
            flow, values, result = going[0]
            for _, other, other_result in going[1:]:
                values = self._joined(values, other, doubt.condition)
                result = join(result, other_result, doubt.condition) if flow is Flow.RETURN else result
            frame.values, frame.result = values, result
            return flow
        kept = next((end for end in going if end[0] is Flow.NEXT), None)
        kept = kept or next((end for end in going if end[0] in {Flow.BREAK, Flow.CONTINUE}), going[0])
        for flow, _, result in going:
            if flow is kept[0]:
                continue
            if flow in {Flow.BREAK, Flow.CONTINUE} and frame.loops:
                frame.loops[-1].append(doubt)
            elif flow is Flow.END:
                self._stack[0].doubts.append(doubt)
                self._stack[0].returned.append(None)
            else:
                frame.doubts.append(doubt)
                frame.returned.append(result)
        frame.values, frame.result = kept[1], kept[2]
        return kept[0]

    def _joined(self, left: dict[str, Value], right: dict[str, Value], condition: Unknown) -> dict[str, Value]:
        joined = dict(left)
        for name in right.keys() | left.keys():
            one, other = left.get(name, _MISSING), right.get(name, _MISSING)
            if one is not other:
                joined[name] = join(one, other, condition)
        return joined

    def _for(self, node: ast.For | ast.AsyncFor, frame: Frame) -> Flow:
        iterable = self._eval(node.iter, frame)
        if isinstance(iterable, list) and not isinstance(iterable, Once):
            rounds: Iterator[Value] | None = _live(iterable)
            count = len(iterable)
        elif isinstance(iterable, Once):
            rounds, count = _draining(iterable), len(iterable)
        elif isinstance(iterable, (tuple, range, str, dict, set, frozenset)):
            rounds, count = iter(list(iterable) if len(iterable) <= _MOST_ROUNDS else iterable), len(iterable)
        elif iterable is None or isinstance(iterable, (int, float)):
            raise Raised(f"line {node.lineno}: not iterable")
        else:
            rounds, count = None, 0
        if rounds is not None and (count <= _WORTH_RUNNING or self._matters(node.body, frame)):
            return self._rounds(node, rounds, frame)
        if rounds is None and self._matters(node.body, frame):
            return self._unknown_rounds(node, iterable, frame)
        item = self._element(iterable, "i")
        why = f"the loop in line {node.lineno} is not followed"
        doubt = Doubt(item if rounds is None else Unknown(Level.GIVEN, f"loop:{node.lineno}", why), node.lineno)
        return self._skipped_loop(doubt, item, node, frame)

    def _rounds(self, node: ast.For | ast.AsyncFor, rounds: Iterator[Value], frame: Frame) -> Flow:
        frame.loops.append([])
        before = dict(frame.values)
        done = 0
        broken = False
        try:
            for item in rounds:
                done += 1
                if done > _MOST_ROUNDS:
                    raise Open(f"the loop in line {node.lineno} is too long")
                self._store(node.target, item, frame)
                flow = self._block(node.body, frame)
                if flow is Flow.BREAK:
                    broken = True
                    break
                if flow not in {Flow.NEXT, Flow.CONTINUE}:
                    return flow
                self._forget_if_doubtful(before, frame)
        finally:
            doubts = frame.loops.pop()
        if doubts:
            frame.loops.append(doubts)
            self._forget_if_doubtful(before, frame)
            frame.loops.pop()
        if broken and not doubts:
            return Flow.NEXT
        return self._block(node.orelse, frame) if not broken else Flow.NEXT

    def _forget_if_doubtful(self, before: dict[str, Value], frame: Frame) -> None:
        """After a round that may have been cut short, forget what it did."""
        if frame.loops[-1]:
            frame.values = self._joined(frame.values, before, frame.loops[-1][0].condition)

    def _unknown_rounds(self, node: ast.For | ast.AsyncFor, iterable: Value, frame: Frame) -> Flow:
        """A loop of unknown length that communicates: two rounds stand for all, if all ranks make equally many."""
        item = self._element(iterable, "i")
        if item.level is Level.RANK:
            with self._doubting(Doubt(item, node.lineno)):
                return self._skipped_loop(Doubt(item, node.lineno), item, node, frame)
        if item.choice is not None:
            self._choose(item.choice, node.lineno)
        events = self.communication.events
        flow = self._rounds(node, iter([self._element(iterable, 0), self._element(iterable, 1)]), frame)
        if self.communication.events != events:
            self.assumed[f"the loop in line {node.lineno} is run equally often, at least twice, on every rank"] = None
        self._forget_stored(node.body, frame, item)
        return flow

    def _forget_stored(self, body: Sequence[ast.stmt], frame: Frame, why: Unknown) -> None:
        """Numbers that a loop of unknown length has changed are not known after it."""
        for statement in body:
            for inner in ast.walk(statement):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    value = frame.values.get(inner.id)
                    if isinstance(value, (int, float, str)):
                        frame.values[inner.id] = Unknown(why.level, f"{inner.id} after {why.key}", why.why)

    def _skipped_loop(self, doubt: Doubt, item: Value, node: ast.For | ast.AsyncFor, frame: Frame) -> Flow:
        """Run the body once, as something that may happen any number of times."""
        before = dict(frame.values)
        self._store(node.target, item, frame)
        frame.loops.append([])
        flow = self._either(doubt, [node.body, []], frame)
        frame.loops.pop()
        if flow in {Flow.BREAK, Flow.CONTINUE}:
            flow = Flow.NEXT
        frame.values = self._joined(frame.values, before, doubt.condition)
        return flow if flow is not Flow.NEXT else self._block(node.orelse, frame)

    def _while(self, node: ast.While, frame: Frame) -> Flow:
        frame.loops.append([])
        before = dict(frame.values)
        tried = 0
        try:
            for _ in range(_MOST_ROUNDS):
                self._tick()
                test = self._eval(node.test, frame)
                known = self._truth(test)
                if frame.loops[-1]:
                    tried += 1
                    if tried > 1:
                        break
                if known is False:
                    self._forget_if_doubtful(before, frame)
                    return self._block(node.orelse, frame) if not tried else Flow.NEXT
                if known is None:
                    assert isinstance(test, Unknown)
                    return self._undecided_while(node, test, before, frame)
                flow = self._block(node.body, frame)
                if flow is Flow.BREAK:
                    break
                if flow not in {Flow.NEXT, Flow.CONTINUE}:
                    return flow
            else:
                raise Open(f"the loop in line {node.lineno} is too long")
            self._forget_if_doubtful(before, frame)
            return Flow.NEXT
        finally:
            frame.loops.pop()

    def _undecided_while(self, node: ast.While, test: Unknown, before: dict[str, Value], frame: Frame) -> Flow:
        if self._matters([node.test, *node.body], frame):
            self._choose(test, node.lineno)
            if test.level is not Level.RANK:
                events = self.communication.events
                for _ in range(2):
                    flow = self._block(node.body, frame)
                    if flow is Flow.BREAK:
                        break
                    if flow not in {Flow.NEXT, Flow.CONTINUE}:
                        return flow
                if self.communication.events != events:
                    text = f"the loop in line {node.lineno} is run equally often, at least twice, on every rank"
                    self.assumed[text] = None
                self._forget_stored(node.body, frame, test)
                return Flow.NEXT
        flow = self._either(Doubt(test, node.lineno), [node.body, []], frame)
        frame.values = self._joined(frame.values, before, test)
        return flow if flow in {Flow.RETURN, Flow.END} else Flow.NEXT

    def _with(self, node: ast.With | ast.AsyncWith, frame: Frame) -> Flow:
        managers: list[Coalescing] = []
        for item in node.items:
            value = self._eval(item.context_expr, frame)
            if isinstance(value, Coalescing):
                managers.append(value)
            if item.optional_vars is not None:
                self._store(item.optional_vars, self._entered(value), frame)
        flow = self._block(node.body, frame)
        for _ in managers:
            self.communication.close_manager(node.lineno)
        return flow

    def _entered(self, value: Value) -> Value:
        if isinstance(value, Instance) and value.of is not None:
            method = self._find_method(value.of, "__enter__")
            if method is not None and isinstance(method.node, FunctionNode):
                return self._call_function(method, [value], {}, method.node)
        return value

    def _try(self, node: Any, frame: Frame) -> Flow:
        try:
            flow = self._block(node.body, frame)
            error = None
        except Raised as caught:
            flow, error = Flow.NEXT, caught
        if error is not None and node.handlers:
            raise Open(f"an error in the `try` in line {node.lineno} is handled: {error}")
        if error is None:
            self._doubt_flags(node, frame)
            if flow is Flow.NEXT:
                flow = self._block(node.orelse, frame)
        last = self._block(node.finalbody, frame)
        if last is not Flow.NEXT:
            return last
        if error is not None:
            raise error
        return flow

    def _doubt_flags(self, node: Any, frame: Frame) -> None:
        """`HAS_X = True` in a `try` and False in its handler is unknown, and the same on every rank."""
        for handler in node.handlers:
            for statement in handler.body:
                match statement:
                    case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=bool(value))):
                        owner = frame.owner(name) or frame
                        if isinstance(owner.values.get(name), bool) and owner.values[name] is not value:
                            owner.values[name] = Unknown(Level.UNIFORM, name, f"`{name}` is set in a `try`")

    def _return(self, node: ast.Return, frame: Frame) -> Flow:
        frame.result = self._eval(node.value, frame) if node.value is not None else None
        return Flow.RETURN

    def _raise(self, node: ast.Raise, frame: Frame) -> Flow:
        raise Raised("an exception is raised")

    def _assert(self, node: ast.Assert, frame: Frame) -> Flow:
        if self._truth(self._eval(node.test, frame)) is False:
            raise Raised("the assertion does not hold")
        return Flow.NEXT

    def _define(self, node: FunctionNode, frame: Frame) -> Flow:
        self._store_name(node.name, Function(node, frame), frame)
        return Flow.NEXT

    def _define_class(self, node: ast.ClassDef, frame: Frame) -> Flow:
        self._store_name(node.name, Class(node, frame), frame)
        return Flow.NEXT

    def _import(self, node: ast.Import | ast.ImportFrom, frame: Frame) -> Flow:
        for alias in node.names:
            if alias.name == "*":
                continue
            bound = alias.asname or alias.name.partition(".")[0]
            owner = frame.owner(bound)
            for binding in owner.scope.bindings[bound] if owner is not None else ():
                if binding.node is alias and owner is not None:
                    owner.values[bound] = self._imported(binding, frame.view)
        return Flow.NEXT

    def _pass(self, node: ast.stmt, frame: Frame) -> Flow:
        return Flow.NEXT

    def _break(self, node: ast.stmt, frame: Frame) -> Flow:
        return Flow.BREAK

    def _continue(self, node: ast.stmt, frame: Frame) -> Flow:
        return Flow.CONTINUE

    def _matters(self, nodes: Sequence[ast.AST], frame: Frame) -> bool:
        """Whether running `nodes` may post or wait for anything."""
        code = self.code
        if frame.view is not code.view:
            return True
        if code.matters(nodes):
            return True
        for top in nodes:
            for node in ast.walk(top):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    owner = frame.owner(node.func.id)
                    value = owner.values.get(node.func.id) if owner is not None else None
                    if value is not None and self._communicates(value):
                        return True
        return False

    # Names

    def _name(self, node: ast.Name, frame: Frame, origin: ast.Name | None = None) -> Value:
        name = node.id
        owner = frame.owner(name)
        if owner is None:
            if name == "__name__":
                return "__main__" if frame.module.running else frame.view.module
            if name in _BUILTIN_NAMES:
                return External(f"builtins.{name}")
            resolution = frame.view.resolve(origin or node)
            if resolution is not None and resolution.certain:
                return self._named(resolution.name, frame.view)
            return Unknown(Level.GIVEN, name, f"`{name}` is not defined in the file")
        if name in owner.values and owner.values[name] is not _MISSING:
            return owner.values[name]
        value = self._looked_up(name, owner)
        if not owner.running or owner.outer is None:
            owner.values[name] = value
        return value

    def _looked_up(self, name: str, owner: Frame) -> Value:
        """What the source says of a name whose binding has not been run."""
        bindings = [binding for binding in owner.scope.bindings[name] if binding.kind != "delete"]
        if owner.running and owner.outer is not None:
            if all(binding.imported is not None for binding in bindings) and bindings:
                return self._imported(bindings[0], owner.view)
            return Unknown(Level.GIVEN, f"unset {name}", f"`{name}` may not be set")
        values = [self._bound(binding, owner) for binding in bindings]
        if len(values) == 1:
            return values[0]
        imports = [value for value in values if isinstance(value, (External, Function, Class))]
        others = [value for value in values if not isinstance(value, (External, Function, Class))]
        if imports and all(value == imports[0] for value in imports) and all(value is None for value in others):
            return imports[0]  # `torch = None` beside `import torch`: a use means the import
        simple = values and all(isinstance(value, (bool, int, str, float)) or value is None for value in values)
        level = Level.UNIFORM if simple and not _speaks_of_rank(name) else Level.GIVEN
        return Unknown(level, name, f"`{name}` is set in several places")

    def _bound(self, binding: Binding, owner: Frame) -> Value:
        if binding.imported is not None:
            return self._imported(binding, owner.view)
        if isinstance(binding.node, FunctionNode):
            return Function(binding.node, owner)
        if isinstance(binding.node, ast.ClassDef):
            return Class(binding.node, owner)
        name = binding.name
        if isinstance(binding.node, ast.arg):
            where = getattr(owner.scope.node, "name", "lambda")
            return Unknown(Level.GIVEN, name, f"`{name}` is a parameter of `{where}`")
        unknown = Unknown(Level.GIVEN, name, f"`{name}` is set outside the function")
        if binding in self._looking_up or self._is_changed(name, owner):
            return unknown
        self._looking_up.add(binding)
        silent, self.communication.silent = self.communication.silent, True
        try:
            if binding.kind == "assign" and binding.value is not None:
                return self._eval(binding.value, owner)
            return self._from_tuple(binding, owner, unknown)
        except (Open, Raised, Ended):
            return unknown
        finally:
            self._looking_up.discard(binding)
            self.communication.silent = silent

    def _from_tuple(self, binding: Binding, owner: Frame, unknown: Unknown) -> Value:
        """`rank, world = a, b`."""
        assert isinstance(binding.node, ast.Name)
        parent = owner.view.parent(binding.node)
        statement = owner.view.parent(parent) if parent is not None else None
        if (
            not isinstance(parent, ast.Tuple)
            or not isinstance(statement, ast.Assign)
            or parent not in statement.targets
        ):
            return unknown
        if True:
            if not any(isinstance(item, ast.Starred) for item in parent.elts):
                values = self._eval(statement.value, owner)
                index = parent.elts.index(binding.node)
                if isinstance(values, (tuple, list)) and len(values) == len(parent.elts):
                    return values[index]
        return unknown

    @staticmethod
    def _is_changed(name: str, owner: Frame) -> bool:
        """Whether some code of the file may change the list or dict that a name holds."""
        for chain in owner.view.scopes.chains.get(name, ()):
            if chain.attributes and chain.attributes[0] in MUTATING:
                return True
            parent = owner.view.parent(chain.top)
            if isinstance(parent, ast.Subscript) and parent.value is chain.top and not isinstance(parent.ctx, ast.Load):
                return True
        return False

    def _imported(self, binding: Binding, view: ModuleView) -> Value:
        absolute = view.absolute(binding.imported) if binding.imported is not None else None
        if absolute is None:
            return Unknown(Level.GIVEN, binding.name, f"`{binding.name}` is imported from an unknown module")
        return self._named(absolute, view)

    def _named(self, name: str, view: ModuleView) -> Value:
        """The value of a qualified name."""
        name = public_name(view.wrappers.mirrored(name))
        if name.partition(".")[0] == "torch" or "." not in name:
            return External(name)
        translated = self.project.translate(name, view.path)
        if translated is not None and translated != name:
            name = public_name(view.wrappers.mirrored(translated))
            if name.startswith("torch."):
                return External(name)
        found = self.project.binding(name, view.path)
        if found is not None:
            other, binding = found
            if other.path == self.code.view.path:
                return self._name(ast.Name(binding.name, ast.Load()), self._module(self.code.view))
            if isinstance(binding.node, FunctionNode):
                return Function(binding.node, self._module(other))
            if isinstance(binding.node, ast.ClassDef):
                return Class(binding.node, self._module(other))
        return External(name)

    # Expressions

    def _eval(self, node: ast.expr, frame: Frame) -> Value:
        self._tick()
        handler = _EXPRESSIONS.get(type(node))
        if handler is None:
            return Unknown(Level.GIVEN, f"{node.lineno}:{node.col_offset}", f"`{_text(node)}` is not followed")
        value = handler(self, node, frame)
        if self._poisoned and isinstance(value, (list, dict, set)):
            return self._poisoned.get(id(value), (None, value))[1]
        return value

    def _computed(self, values: Sequence[Value], nodes: Sequence[ast.expr], node: ast.AST) -> Unknown:
        """The unknown result of computing something from `values`, which `nodes` stand for."""
        # Known operands that are not constants may have been computed from the rank.
        plain = all(
            unknown_in(value) is not None or isinstance(part, ast.Constant)
            for value, part in zip(values, nodes, strict=False)
        )
        first = next((found for value in values if (found := unknown_in(value)) is not None), None)
        level = level_of(values, plain)
        key = _key(node, values)
        why = first.why if first is not None else f"`{_text(node)}` is not followed"
        return Unknown(
            level,
            key,
            why,
            handles=_passes_on(node) and any(holds_handle(value) for value in values),
            choice=first.choice if first is not None else None,
            source=first if len(values) == 1 or isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)) else None,
        )

    def _constant(self, node: ast.Constant, frame: Frame) -> Value:
        return node.value

    def _list(self, node: ast.List | ast.Tuple | ast.Set, frame: Frame) -> Value:
        values: list[Value] = []
        for item in node.elts:
            if isinstance(item, ast.Starred):
                value = self._eval(item.value, frame)
                try:
                    values += elements(value)
                except Unworkable:
                    return self._computed((value,), (item.value,), node)
            else:
                values.append(self._eval(item, frame))
        if isinstance(node, ast.Set):
            if unknown_in(values) is not None or not all(isinstance(v, (int, str, tuple)) or v is None for v in values):
                return self._computed(values, node.elts, node)
            return set(values)
        return tuple(values) if isinstance(node, ast.Tuple) else values

    def _dict(self, node: ast.Dict, frame: Frame) -> Value:
        found: dict[Value, Value] = {}
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            key = self._eval(key_node, frame) if key_node is not None else None
            value = self._eval(value_node, frame)
            if key_node is None and isinstance(value, dict):
                found.update(value)
            elif key_node is not None and (key is None or isinstance(key, (int, str, float, tuple))):
                if unknown_in(key) is None:
                    found[key] = value
                    continue
                return self._computed((key, value), (key_node, value_node), node)
            else:
                return self._computed((value,), (value_node,), node)
        return found

    def _attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        text = _text(node)
        if text in self.code.rank_texts and frame.view is self.code.view:
            return self.rank
        if text in self.code.world_texts and frame.view is self.code.view:
            return self.size
        base = self._eval(node.value, frame)
        return self._attribute_of(base, node.attr, node)

    def _attribute_of(self, base: Value, name: str, node: ast.Attribute) -> Value:
        if isinstance(base, External):
            full = f"{base.name}.{name}"
            if base.name.startswith("builtins."):
                return External(full)
            if full in {"sys.argv", "sys.platform"}:
                return Unknown(Level.UNIFORM, full, f"`{full}` is not known")
            return self._named(full, self.code.view)
        if isinstance(base, Instance):
            return self._instance_attribute(base, name, node)
        if isinstance(base, Class):
            return self._class_attribute(base, name, node)
        if isinstance(base, Unknown):
            if name in base.attributes and base.attributes[name] is not _MISSING:
                return base.attributes[name]
            level = base.level
            if _speaks_of_rank(name):
                level = max(level, Level.RANK if level is Level.UNIFORM else Level.GIVEN)
            return Unknown(
                level,
                f"{base.key}.{name}",
                base.why if level is not Level.UNIFORM else f"`{base.key}.{name}` is not known",
                handles=base.handles,
                choice=base.choice,
                source=base,
            )
        if isinstance(base, Group) and name == "WORLD":
            return self.communication.world
        return Method(name, base)

    def _instance_attribute(self, base: Instance, name: str, node: ast.Attribute) -> Value:
        if name in base.attributes and base.attributes[name] is not _MISSING:
            return base.attributes[name]
        if name == "__class__" and base.of is not None:
            return base.of
        method = self._find_method(base.of, name) if base.of is not None else None
        if method is not None:
            assert isinstance(method.node, FunctionNode)
            if not base.complete and base.of is not None and self._is_overridden(base.of, name):
                return self._overridden(base.of, name, node)
            if _has_decorator(method.node, "property", "cached_property"):
                return self._call_function(method, [base], {}, node)
            if _is_static(method.node):
                return method
            return Method(method, base.of if _is_class_method(method.node) else base)
        if base.of is not None and (base.complete or not self._is_bound_below(base.of, name)):
            value = self._class_value(base.of, name)
            if value is not _MISSING:
                return value
        text = _text(node)
        unknown = Unknown(Level.GIVEN, text, f"`{text}` is not set in the class")
        base.attributes[name] = unknown
        return unknown

    def _is_overridden(self, owner: Class, name: str) -> bool:
        """Whether a subclass in the file brings a method of its own."""
        return any(
            self.code.view.parent(method) is not owner.node and owner.node in self.code.bases(parent)
            for method in self.code.methods_called(name)
            if isinstance(parent := self.code.view.parent(method), ast.ClassDef)
        )

    def _is_bound_below(self, owner: Class, name: str) -> bool:
        """Whether a subclass in the file binds a class attribute or method of that name anew."""
        scopes = self.code.view.scopes.scope_of
        return any(name in scopes[node].bindings for node in self.code.below(owner.node))

    def _overridden(self, owner: Class, name: str, node: ast.Attribute) -> Unknown:
        """What stands for a method of `self` that may be that of a subclass."""
        if any(self.code.communicates(method) for method in self.code.methods_called(name)):
            self._certain(node.lineno)
            raise Open(f"`{name}` in line {node.lineno} may be that of a subclass of `{owner.node.name}`")
        return Unknown(Level.GIVEN, f"self.{name}", f"`{name}` may be that of a subclass of `{owner.node.name}`")

    def _class_attribute(self, base: Class, name: str, node: ast.Attribute) -> Value:
        method = self._find_method(base, name)
        if method is not None:
            assert isinstance(method.node, FunctionNode)
            return Method(method, base) if _is_class_method(method.node) else method
        value = self._class_value(base, name)
        if value is not _MISSING:
            return value
        if name == "apply":
            forward = self._find_method(base, "forward")
            if forward is not None:
                return Method(forward, Instance(None))
        return Unknown(Level.GIVEN, f"{base.node.name}.{name}", f"`{base.node.name}.{name}` is not set in the class")

    def _class_value(self, base: Class, name: str) -> Value:
        """A value assigned in a class body and nowhere else."""
        view = base.frame.view
        code = self.code
        if view is not code.view:
            return _MISSING
        if name in code.attribute_stores():
            return _MISSING
        for node in code.bases(base.node):
            scope = view.scopes.scope_of[node]
            bindings = scope.bindings.get(name, ())
            if len(bindings) == 1 and bindings[0].kind == "assign" and bindings[0].value is not None:
                if self._is_changed(name, base.frame) or isinstance(bindings[0].value, (ast.List, ast.Dict)):
                    return _MISSING
                return self._eval(bindings[0].value, Frame(view, scope, base.frame, running=False))
        return _MISSING

    def _find_method(self, owner: Class, name: str) -> Function | None:
        code = self.code
        family = code.bases(owner.node) if owner.frame.view is code.view else [owner.node]
        for node in family:
            for statement in node.body:
                if isinstance(statement, FunctionNode) and statement.name == name:
                    home = owner if node is owner.node else Class(node, self._module(owner.frame.view))
                    return Function(statement, owner.frame, home)
        return None

    def _subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        container = self._eval(node.value, frame)
        index = self._eval(node.slice, frame)
        if isinstance(container, External):
            if container.name == "os.environ":
                return self._environment(index, None, node)
            return container if container.name.partition(".")[0] == "typing" else self._computed((), (), node)
        try:
            return subscript(container, index)
        except Unworkable:
            return self._computed((container, index), (node.value, node.slice), node)

    def _slice(self, node: ast.Slice, frame: Frame) -> Value:
        values = [self._eval(p, frame) if p is not None else None for p in (node.lower, node.upper, node.step)]
        if unknown_in(values) is not None or not all(value is None or isinstance(value, int) for value in values):
            return self._computed(values, [p or ast.Constant(None) for p in (node.lower, node.upper, node.step)], node)
        return slice(*values)

    def _binary(self, node: ast.BinOp, frame: Frame) -> Value:
        left, right = self._eval(node.left, frame), self._eval(node.right, frame)
        try:
            return binary(node.op, left, right)
        except Unworkable:
            return self._computed((left, right), (node.left, node.right), node)

    def _unary(self, node: ast.UnaryOp, frame: Frame) -> Value:
        value = self._eval(node.operand, frame)
        if isinstance(node.op, ast.Not):
            known = self._truth(value)
            return self._negated(value) if known is None else not known
        try:
            return unary(node.op, value)
        except Unworkable:
            return self._computed((value,), (node.operand,), node)

    @staticmethod
    def _negated(value: Unknown) -> Unknown:
        return Unknown(value.level, f"not {value.key}", value.why, choice=value.choice, formula=("not", (value,)))

    def _boolean(self, node: ast.BoolOp, frame: Frame) -> Value:
        """`and` and `or`; operands behind an unknown one are evaluated in doubt."""
        stops_at = isinstance(node.op, ast.Or)
        unknown: list[Unknown] = []
        others: list[Value] = []
        for index, operand in enumerate(node.values):
            if unknown:
                with self._doubting(Doubt(unknown[-1], node.lineno)):
                    try:
                        value = self._eval(operand, frame)
                    except Raised:
                        break  # then it is not evaluated
            else:
                value = self._eval(operand, frame)
            known = self._truth(value)
            if known is stops_at:
                if not unknown:
                    return value
                # Whatever the operands before it are, the whole is as true as this one.
                settled = ("and" if stops_at else "or", ())
                return Unknown(unknown[0].level, _key(node, unknown), unknown[0].why, formula=settled)
            if known is None:
                assert isinstance(value, Unknown)
                unknown.append(value)
            elif index == len(node.values) - 1:
                if not unknown:
                    return value
                others.append(value)
        kind = "or" if stops_at else "and"
        if len(unknown) == 1 and len(node.values) == 1:
            return unknown[0]
        return Unknown(
            max(value.level for value in unknown),
            f"({f' {kind} '.join(value.key for value in unknown)})",
            unknown[0].why,
            handles=any(holds_handle(value) for value in (*unknown, *others)),
            choice=next((value.choice for value in unknown if value.choice is not None), None),
            formula=("or" if stops_at else "and", tuple(unknown)),
        )

    def _compare(self, node: ast.Compare, frame: Frame) -> Value:
        left = self._eval(node.left, frame)
        left_node = node.left
        results: list[Unknown] = []
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self._eval(right_node, frame)
            try:
                answer = self._compared(op, left, right)
                if not answer:
                    return False
            except Unworkable:
                results.append(self._comparison(op, left, right, left_node, right_node, node))
            left, left_node = right, right_node
        if not results:
            return True
        if len(results) == 1:
            return results[0]
        return Unknown(
            max(result.level for result in results),
            " and ".join(result.key for result in results),
            results[0].why,
            formula=("and", tuple(results)),
        )

    def _compared(self, op: ast.cmpop, left: Value, right: Value) -> bool:
        if isinstance(right, External) and right.name == "os.environ" and isinstance(op, (ast.In, ast.NotIn)):
            if left in _ALWAYS_SET:
                return isinstance(op, ast.In)
            raise Unworkable
        if isinstance(left, Group) and is_no_member(right) and isinstance(op, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
            return (self.rank not in left.members) is isinstance(op, (ast.Eq, ast.Is))
        group = isinstance(left, Unknown) and may_be_group(left) and left.choice is None
        if group and right is None and isinstance(op, (ast.Is, ast.Eq, ast.IsNot, ast.NotEq)):
            return isinstance(op, (ast.IsNot, ast.NotEq))
        return compare(op, left, right)

    def _comparison(
        self, op: ast.cmpop, left: Value, right: Value, left_node: ast.expr, right_node: ast.expr, node: ast.Compare
    ) -> Unknown:
        positive = {ast.IsNot: ast.Is, ast.NotEq: ast.Eq, ast.NotIn: ast.In}.get(type(op))
        shape = ast.Compare(left_node, [positive() if positive is not None else op], [right_node])
        result = self._computed((left, right), (left_node, right_node), ast.copy_location(shape, node))
        result.handles = False
        return self._negated(result) if positive is not None else result

    def _conditional(self, node: ast.IfExp, frame: Frame) -> Value:
        test = self._eval(node.test, frame)
        known = self._truth(test)
        if known is not None:
            return self._eval(node.body if known else node.orelse, frame)
        assert isinstance(test, Unknown)
        results: list[Value] = []
        for branch in (node.body, node.orelse):
            with self._doubting(Doubt(test, node.lineno)), suppress(Raised):
                results.append(self._eval(branch, frame))
        if not results:
            raise Raised("both values raise an exception")
        return join(results[0], results[-1], test)

    def _walrus(self, node: ast.NamedExpr, frame: Frame) -> Value:
        value = self._eval(node.value, frame)
        self._store_name(node.target.id, value, frame)
        return value

    def _lambda(self, node: ast.Lambda, frame: Frame) -> Value:
        return Function(node, frame)

    def _starred(self, node: ast.Starred, frame: Frame) -> Value:
        return self._eval(node.value, frame)

    def _await(self, node: ast.Await, frame: Frame) -> Value:
        return self._eval(node.value, frame)

    def _yield(self, node: ast.Yield | ast.YieldFrom, frame: Frame) -> Value:
        if node.value is not None:
            value = self._eval(node.value, frame)
            if holds_handle(value) and len(self._stack) > 1:
                raise Open(f"line {node.lineno} gives away a handle in the middle of a function")
        return Unknown(Level.GIVEN, f"yield:{node.lineno}", f"what line {node.lineno} is sent is not known")

    def _formatted(self, node: ast.JoinedStr, frame: Frame) -> Value:
        pieces: list[str] = []
        values: list[Value] = []
        nodes: list[ast.expr] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self._eval(part.value, frame)
                values.append(value)
                nodes.append(part.value)
                if isinstance(value, (int, str)) and part.format_spec is None and part.conversion == -1:
                    pieces.append(str(value))
            elif isinstance(part, ast.Constant):
                pieces.append(str(part.value))
        if len(pieces) == len(node.values):
            return "".join(pieces)
        return self._computed(values, nodes, node)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, frame: Frame) -> Value:
        inner = Frame(frame.view, frame.view.scopes.scope_of[node], frame, frame.function)
        found: list[Value] = []
        self._stack.append(inner)
        try:
            unknown = self._generate(node, 0, inner, frame, found)
        finally:
            self._stack.pop()
        if unknown is not None:
            return unknown
        if isinstance(node, ast.ListComp):
            return found
        if isinstance(node, ast.GeneratorExp):
            return Once(found)
        keys = [item[0] for item in found] if isinstance(node, ast.DictComp) else found
        if unknown_in(keys) is not None or not all(isinstance(k, (int, str, tuple, float)) or k is None for k in keys):
            return Unknown(level_of(found, False), _key(node, ()), f"`{_text(node)}`", handles=holds_handle(found))
        return dict(found) if isinstance(node, ast.DictComp) else set(found)

    def _generate(
        self,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
        depth: int,
        inner: Frame,
        outer: Frame,
        found: list[Value],
    ) -> Unknown | None:
        """Fill `found` with what the comprehension gives; returns an unknown value instead where that is not known."""
        if depth == len(node.generators):
            if isinstance(node, ast.DictComp):
                key = self._eval(node.key, inner)
                found.append((key, self._eval(node.value, inner)))
            else:
                found.append(self._eval(node.elt, inner))
            return None
        generator = node.generators[depth]
        iterable = self._eval(generator.iter, outer if depth == 0 else inner)
        try:
            items = elements(iterable)
        except Unworkable:
            return self._generate_unknown(node, depth, inner, iterable, found)
        for item in items:
            self._store(generator.target, item, inner)
            tests: list[Value] = []
            for test in generator.ifs:
                value = self._eval(test, inner)
                if self._truth(value) is False:
                    break
                tests.append(value)
            if len(tests) < len(generator.ifs):
                continue
            open_test = next((test for test in tests if self._truth(test) is None), None)
            if open_test is not None:
                ignored: list[Value] = []
                with self._doubting(Doubt(open_test, node.lineno)), suppress(Raised):
                    self._generate(node, depth + 1, inner, outer, ignored)
                return join(ignored, None, open_test)  # type: ignore[no-any-return]
            unknown = self._generate(node, depth + 1, inner, outer, found)
            if unknown is not None:
                return unknown
        return None

    def _generate_unknown(
        self,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
        depth: int,
        inner: Frame,
        iterable: Value,
        found: list[Value],
    ) -> Unknown | None:
        item = self._element(iterable, "i")
        generator = node.generators[depth]
        matters = self._matters([node], inner) and not generator.ifs and depth == len(node.generators) - 1
        if matters and item.level is not Level.RANK:
            if item.choice is not None:
                self._choose(item.choice, node.lineno)
            events = self.communication.events
            for index in range(2):
                self._store(generator.target, self._element(iterable, index), inner)
                self._generate(node, depth + 1, inner, inner, found)
            if self.communication.events != events:
                text = f"the loop in line {node.lineno} is run equally often, at least twice, on every rank"
                self.assumed[text] = None
                return None
        ignored: list[Value] = []
        with self._doubting(Doubt(item, node.lineno)), suppress(Raised):
            self._store(generator.target, item, inner)
            for test in generator.ifs:
                self._eval(test, inner)
            self._generate(node, depth + 1, inner, inner, ignored)
        return Unknown(
            max(item.level, Level.GIVEN),
            _key(node, ()),
            item.why,
            never_none=True,
            handles=holds_handle(ignored) or item.handles,
            choice=item.choice,
        )

    # Calls

    def _call(self, node: ast.Call, frame: Frame) -> Value:
        if isinstance(node.func, ast.Name) and node.func.id == "super" and frame.owner("super") is None:
            return self._super(frame)
        function = self._eval(node.func, frame)
        positional: list[Value] = []
        complete = True
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                value = self._eval(argument.value, frame)
                try:
                    positional += elements(value)
                except Unworkable:
                    positional.append(value)
                    complete = False
            else:
                positional.append(self._eval(argument, frame))
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self._eval(keyword.value, frame)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
                keywords.update(value)
            else:
                keywords["**"] = value
                complete = False
        outside = frame.view is not self.code.view
        site, self._site = self._site, self._site if outside else node
        try:
            return self._apply(function, positional, keywords, node, frame, complete=complete)
        finally:
            self._site = site

    def _super(self, frame: Frame) -> Value:
        current: Frame | None = frame
        while current is not None and (current.function is None or current.function.owner is None):
            current = current.outer
        if current is not None and current.function is not None and current.function.owner is not None:
            owner = current.function.owner
            arguments = getattr(current.function.node, "args", None)
            first = arguments.args[0].arg if arguments is not None and arguments.args else ""
            receiver = current.values.get(first)
            if owner.frame.view is self.code.view and isinstance(receiver, Instance):
                bases = self.code.bases(owner.node)[1:]
                if bases:
                    return _Super(Class(bases[0], owner.frame), receiver)
        return Unknown(Level.GIVEN, "super()", "the base class is not in the file")

    def _apply(
        self,
        function: Value,
        positional: list[Value],
        keywords: dict[str, Value],
        node: ast.Call,
        frame: Frame,
        *,
        complete: bool,
    ) -> Value:
        if isinstance(function, External):
            return self._call_external(function.name, positional, keywords, node, complete=complete)
        if isinstance(function, Function):
            if not complete:
                return self._opaque(function, positional, keywords, node)
            return self._call_function(function, positional, keywords, node)
        if isinstance(function, Method):
            if isinstance(function.function, Function):
                if not complete:
                    return self._opaque(function, positional, keywords, node)
                return self._call_function(function.function, [function.receiver, *positional], keywords, node)
            return self._call_method(function.receiver, function.function, positional, keywords, node)
        if isinstance(function, Class):
            return (
                self._construct(function, positional, keywords, node)
                if complete
                else self._opaque(function, positional, keywords, node)
            )
        if isinstance(function, Instance):
            method = next(
                (m for name in ("__call__", "forward") if function.of and (m := self._find_method(function.of, name))),
                None,
            )
            if method is not None and complete:
                return self._call_function(method, [function, *positional], keywords, node)
        if isinstance(function, Unknown) and isinstance(node.func, ast.Attribute):
            return self._call_unknown_method(function, positional, keywords, node, frame)
        return self._opaque(function, positional, keywords, node)

    def _call_function(
        self, function: Function, positional: list[Value], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        definition = function.node
        if isinstance(definition, FunctionNode):
            communicates = self._communicates(function)
            if communicates:
                self._check_decorators(function)
                if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in _own_nodes(definition)):
                    raise Open(f"`{definition.name}` is a generator")
            if function.frame.view is not self.code.view and not communicates:
                return self._opaque(function, positional, keywords, node)
        values = self._bind(function, positional, keywords)
        if values is None:
            return self._opaque(function, positional, keywords, node)
        return self._invoke(function, values, node)

    def _check_decorators(self, function: Function) -> None:
        assert isinstance(function.node, FunctionNode)
        for decorator in function.node.decorator_list:
            expression = decorator.func if isinstance(decorator, ast.Call) else decorator
            if isinstance(expression, ast.Name) and expression.id in {"staticmethod", "classmethod", "property"}:
                continue
            value = self._eval(expression, function.frame)
            known = isinstance(value, External) and value.name.startswith(_KNOWN_DECORATORS)
            if not known or value.name in _CHANGING_DECORATORS:
                raise Open(f"`{function.name}` is decorated with `{_text(decorator)}`")

    def _bind(self, function: Function, positional: list[Value], keywords: dict[str, Value]) -> dict[str, Value] | None:
        """Parameters and their values; None where the call does not fit or is too odd."""
        arguments = function.node.args
        names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        only = [argument.arg for argument in arguments.kwonlyargs]
        values: dict[str, Value] = dict(zip(names, positional, strict=False))
        rest = positional[len(names) :]
        if rest and arguments.vararg is None:
            raise Raised(f"`{function.name}` takes {len(names)} arguments")
        if arguments.vararg is not None:
            values[arguments.vararg.arg] = tuple(rest)
        extra: dict[str, Value] = {}
        for name, value in keywords.items():
            if name in names or name in only:
                values[name] = value
            else:
                extra[name] = value
        if extra and arguments.kwarg is None:
            raise Raised(f"`{function.name}` has no parameter `{next(iter(extra))}`")
        if arguments.kwarg is not None:
            values[arguments.kwarg.arg] = extra
        defaults = dict(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True))
        defaults |= {n: d for n, d in zip(only, arguments.kw_defaults, strict=True) if d is not None}
        for name in (*names, *only):
            if name not in values:
                if name not in defaults:
                    raise Raised(f"`{function.name}` is called without `{name}`")
                if isinstance(defaults[name], (ast.List, ast.Dict, ast.Set)):
                    return (
                        None if defaults_hold_something(defaults[name]) else {**values, **self._rest(defaults, values)}
                    )
                values[name] = self._eval(defaults[name], function.frame)
        return values

    def _rest(self, defaults: Mapping[str, ast.expr], values: Mapping[str, Value]) -> dict[str, Value]:
        """Defaults with a list or dict among them, which all calls share: what is in it is not known."""
        return {
            name: Unknown(Level.GIVEN, name, f"the default of `{name}` is shared by all calls")
            for name in defaults
            if name not in values
        }

    def _construct(self, owner: Class, positional: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        if owner.frame.view is not self.code.view:
            return self._opaque(owner, positional, keywords, node)
        instance = Instance(owner)
        constructor = self._find_method(owner, "__init__")
        if constructor is not None:
            self._call_function(constructor, [instance, *positional], keywords, node)
        elif any("dataclass" in _text(decorator) for decorator in owner.node.decorator_list):
            fields = [
                s.target.id for s in owner.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
            ]
            instance.attributes.update(zip(fields, positional, strict=False))
            instance.attributes.update(keywords)
        return instance

    def _call_method(
        self, receiver: Value, name: str, positional: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        if isinstance(receiver, Handle):
            return self._handle_method(receiver, name, node)
        if isinstance(receiver, Coalescing):
            if name == "wait":
                self._certain(node.lineno)
                self.communication.wait(receiver.handle, node.lineno)
            return None
        if isinstance(receiver, Group):
            return self._group_method(receiver, name, positional, keywords, node)
        if isinstance(receiver, _Super):
            method = self._find_method(receiver.of, name)
            if method is None:
                return Unknown(Level.GIVEN, f"super().{name}", "the base class is not in the file")
            return self._call_function(method, [receiver.receiver, *positional], keywords, node)
        if isinstance(receiver, (list, dict, set)) and name in MUTATING and not self._change(receiver, positional):
            return self._computed((receiver, *positional), (), node)
        if name == "sort" and "key" in keywords:
            self._poison(receiver)
            return None
        try:
            return call_method(receiver, name, positional, keywords)
        except Unworkable:
            if name in MUTATING:
                self._poison(receiver)
            for value in positional:
                if holds_handle(value) and isinstance(receiver, (list, dict, set)):
                    self._poison(receiver)
                    self._poisoned[id(receiver)][1].handles = True
            return self._computed((receiver, *positional), (node.func, *node.args), node)

    def _handle_method(self, handle: Handle, name: str, node: ast.Call) -> Value:
        if name == "wait":
            self._certain(node.lineno)
            self.communication.wait(handle, node.lineno)
            return True
        if name == "get_future":
            return handle
        if name in {"is_completed", "then", "done", "query"}:
            self._certain(node.lineno)
            raise Open(f"line {node.lineno} asks whether an operation is done, or what to do then")
        return Unknown(Level.RANK, _key(node, ()), f"`{_text(node)}` is received")

    def _group_method(
        self, group: Group, name: str, positional: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        if name in {"rank", "size"} and not positional:
            return self.communication.query(
                "get_rank" if name == "rank" else "get_world_size", {"group": group}, node.lineno
            )
        return self._call_unknown_method(
            Unknown(Level.GIVEN, f"{group.text}.{name}", f"`{name}` of a group is not followed"),
            positional,
            keywords,
            node,
            None,
        )

    def _call_unknown_method(
        self,
        function: Unknown,
        positional: list[Value],
        keywords: dict[str, Value],
        node: ast.Call,
        frame: Frame | None,
    ) -> Value:
        """A call of an attribute of an unknown value."""
        assert isinstance(node.func, ast.Attribute)
        name = node.func.attr
        base = function.source
        if base is not None and name in {"rank", "size"} and not positional and not keywords and may_be_group(base):
            query = "get_rank" if name == "rank" else "get_world_size"
            return self.communication.query(query, {"group": base}, node.lineno)
        if name in _LOGGING and "log" in _text(node.func.value).lower():
            return None
        if name == "wait" and not function.handles:
            return Unknown(Level.GIVEN, function.key, function.why)
        if name == "wait":
            self._certain(node.lineno)
            raise Open(f"what line {node.lineno} waits for is not known: {function.why}")
        return self._opaque(function, positional, keywords, node)

    # What is not followed

    def _communicates(self, value: Value) -> bool:
        """Whether a function, class or object may post or wait when it is used."""
        if isinstance(value, External):
            name = distributed_name(value.name)
            return name is not None and (value.name in POINT_TO_POINT or is_collective(name))
        if isinstance(value, Method) and isinstance(value.function, Function):
            return self._communicates(value.function)
        if isinstance(value, Function):
            view = value.frame.view
            if isinstance(value.node, ast.Lambda):
                return self.code.matters([value.node.body]) if view is self.code.view else True
            code = self.code if view is self.code.view else self._other_code(view)
            return code.communicates(value.node) or code.matters(value.node.body)
        if isinstance(value, (Class, Instance)):
            owner = value if isinstance(value, Class) else value.of
            if owner is None or owner.frame.view is not self.code.view:
                return False
            return any(
                self.code.communicates(statement) or self.code.matters(statement.body)
                for base in self.code.bases(owner.node)
                for statement in base.body
                if isinstance(statement, FunctionNode)
            )
        return False

    def _other_code(self, view: ModuleView) -> Code:
        return Code(view, self.project)

    def _opaque(self, function: Value, positional: list[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
        """The result of a call that is not followed.

        Raises:
            Choice, Open: the call may post or wait for something.
        """
        line = getattr(node, "lineno", 0)
        text = _text(node.func) if isinstance(node, ast.Call) else "a property"
        name = function.name if isinstance(function, External) else ""
        known = name.startswith(("torch.", "builtins.", "math.", "itertools.", *_HARMLESS))
        values = [*positional, *keywords.values()]
        if not name.startswith(_HARMLESS):
            last = text.rpartition(".")[2]
            if not known and (likely_communicates(last) or self._communicates(function)):
                self._certain(line)
                raise Open(f"`{text}` in line {line} may communicate")
            for value in values:
                if name.startswith(_PROCESSES):
                    continue
                if holds_handle(value):
                    self._certain(line)
                    raise Open(f"`{text}` in line {line} is given a handle and may wait for it")
                if any(self._communicates(part) for part in parts(value)):
                    self._certain(line)
                    raise Open(f"`{text}` in line {line} is given something that communicates")
        if not known:
            for value in values:
                for part in list(parts(value)):
                    if isinstance(part, (list, dict, set)) and part:
                        self._poison(part)
        return self._result(function, values, node)

    def _result(self, function: Value, values: Sequence[Value], node: ast.AST) -> Unknown:
        text = _text(node) if isinstance(node, ast.expr) else "a call"
        name = function.name if isinstance(function, External) else ""
        base = function if isinstance(function, Unknown) else None
        arguments = node.args if isinstance(node, ast.Call) else []
        keywords = node.keywords if isinstance(node, ast.Call) else []
        constants = all(isinstance(n, ast.Constant) for n in (*arguments, *(k.value for k in keywords)))
        uniform = name.startswith(_UNIFORM) or (base is not None and base.level is Level.UNIFORM)
        if uniform:
            level = max(Level.UNIFORM, level_of(values, constants))
        else:
            level = max(Level.GIVEN, level_of(values), base.level if base is not None else Level.GIVEN)
        if _speaks_of_rank(text.rpartition("(")[0]) and level is Level.UNIFORM:
            level = Level.RANK
        why = base.why if base is not None and base.level >= level else f"`{_short(text)}` is not known"
        first = unknown_in(list(values))
        if first is not None and first.level is level and base is None:
            why = first.why
        return Unknown(
            level,
            _key(node, (function, *values)) if not uniform or not constants else _text(node),  # type: ignore[arg-type]
            why,
            never_none=name.startswith("torch.") and distributed_name(name) is None,
            handles=base is not None and base.handles,
            source=base.source if base is not None else None,
        )

    def _call_external(
        self, name: str, positional: list[Value], keywords: dict[str, Value], node: ast.Call, *, complete: bool
    ) -> Value:
        short = distributed_name(name)
        if short is not None:
            return self._call_distributed(short, positional, keywords, node, complete=complete)
        if name in _TRUE:
            return True
        if name in {"os.environ.get", "os.getenv"} and positional:
            return self._environment(
                positional[0], positional[1] if len(positional) > 1 else keywords.get("default"), node
            )
        if name == "logging.getLogger":
            return External("logging.Logger")
        if name in _ENDING:
            raise Ended
        if name in _SYNCHRONIZING:
            if any(not handle.waited for handle in self.communication.handles):
                self._certain(node.lineno)
                self.communication.synchronize(node.lineno)
            return None
        if name.startswith(_THREADS) and any(self._communicates(p) for v in (positional, keywords) for p in parts(v)):
            raise Open(f"line {node.lineno} communicates in a thread of its own")
        if complete:
            special = self._special_builtin(name, positional, keywords, node)
            if special is not _MISSING:
                return special
            try:
                return call_function(name, positional, keywords)
            except (KeyError, Unworkable):
                pass
        if name.startswith("builtins.") and name[9:] in _PASSING_ON:
            return self._computed(
                (*positional, *keywords.values()), (*node.args, *(k.value for k in node.keywords)), node
            )
        return self._opaque(External(name), positional, keywords, node)

    def _special_builtin(self, name: str, positional: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        """Builtin functions that call others, or look at kinds of values that only exist here."""
        match name, positional:
            case "builtins.map", [function, values]:
                try:
                    items = elements(values)
                except Unworkable:
                    return _MISSING
                if isinstance(function, External) and not function.name.startswith("builtins."):
                    return _MISSING
                return Once(self._apply(function, [item], {}, node, self._stack[-1], complete=True) for item in items)
            case "builtins.getattr", [base, str(attribute), *_]:
                shape = ast.copy_location(ast.Attribute(node.args[0], attribute, ast.Load()), node)
                return (
                    self._attribute_of(base, attribute, shape) if isinstance(base, (Instance, External)) else _MISSING
                )
            case "builtins.isinstance", [value, External(name=kind)] if kind[9:] in _KINDS:
                if isinstance(value, Unknown):
                    return _MISSING
                return isinstance(value, _KINDS[kind[9:]]) and not isinstance(value, Once)
            case "builtins.print", _:
                return None
            case "builtins.super", []:
                return _MISSING
        return _MISSING

    def _environment(self, key: Value, default: Value, node: ast.expr) -> Value:
        if not isinstance(key, str):
            return Unknown(Level.RANK, _key(node, ()), f"`{_text(node)}` is not known")
        if key in _RANK_VARIABLES:
            return str(self.rank)
        if key in _WORLD_VARIABLES:
            return str(self.size)
        level = Level.RANK if _speaks_of_rank(key.lower()) or key.endswith("ID") else Level.UNIFORM
        return Unknown(level, f"os.environ[{key!r}]", f"the environment variable `{key}` is not known")

    # torch.distributed

    def _call_distributed(
        self, name: str, positional: list[Value], keywords: dict[str, Value], node: ast.Call, *, complete: bool
    ) -> Value:
        parameters = parameters_of(name)
        if parameters is None:
            if name == "_get_default_group":
                return self.communication.world
            concerned = not is_quiet(name) or name.startswith(("group.", "GroupMember."))
            if name == "split_group" or (concerned and likely_communicates(name.rpartition(".")[2])):
                self._certain(node.lineno)
                raise Open(f"`torch.distributed.{name}` in line {node.lineno} is not modelled")
            return self._opaque(External(f"torch.distributed.{name}"), positional, keywords, node)
        if not complete:
            self._certain(node.lineno)
            raise Open(f"the arguments in line {node.lineno} are not known")
        given = arguments_of(node, parameters, positional, keywords)
        if is_group_query(name):
            try:
                return self.communication.query(name, given, node.lineno)
            except Unworkable:
                values = list(given.values())
                return self._computed(values, [ast.Constant(None)] * len(values), node)
        self._certain(node.lineno)
        if makes_group(name):
            return self._make_groups(name, given, node)
        if name == "P2POp":
            return self._transfer(given, node)
        if name == "batch_isend_irecv":
            return self._batch(given, node)
        if name == "_coalescing_manager":
            wanted = self._truth(given.get("async_ops", False))
            if wanted is None:
                self._choose(given["async_ops"], node.lineno)
                raise Open(f"whether line {node.lineno} waits is not known: {given['async_ops'].why}")
            return self.communication.open_manager(blocking=not wanted)
        if is_collective(name):
            return self._collective(name, given, node)
        return self._point_to_point(name, given, node)

    def _line(self, node: ast.Call) -> int:
        """Line of a call in the file that is read: of the call that led to it, if it stands in another file."""
        return self._site.lineno if self._site is not None else node.lineno

    def _note(self, node: ast.Call) -> None:
        self.calls[self._site or node] = None

    def _make_groups(self, name: str, given: Mapping[str, Value], node: ast.Call) -> Value:
        site = f"line {self._line(node)}"
        if name == "new_group":
            return self.communication.new_group(given.get("ranks"), site, given.get("backend"))
        if name == "new_subgroups":
            size = given.get("group_size")
            if type(size) is not int or size <= 0:
                raise Open(f"the size of the groups made in {site} is not known")
            if self.size % size:
                raise Raised(f"{site}: {self.size} ranks cannot be divided by {size}")
            lists: list[Value] = [list(range(start, start + size)) for start in range(0, self.size, size)]
        else:
            try:
                lists = elements(given.get("ranks_per_subgroup_list"))
            except Unworkable:
                raise Open(f"the groups made in {site} are not known") from None
        groups = [self.communication.new_group(ranks, site, given.get("backend")) for ranks in lists]
        own = next((group for group in groups if self.rank in group.members), None)
        return own, groups

    def _group(self, given: Mapping[str, Value], line: int) -> Group:
        value = given.get("group")
        if isinstance(value, Unknown) and value.choice is not None:
            self._choose(value.choice, line)
        return self.communication.group(value, line)

    def _receive(self, *values: Value) -> None:
        """Mark what other ranks write into."""
        for value in values:
            for part in list(parts(value)):
                if isinstance(part, Unknown):
                    part.receive()
            if isinstance(value, list):
                value[:] = [
                    item
                    if isinstance(item, Unknown)
                    else Unknown(Level.RANK, "received", "it is received from another rank")
                    for item in value
                ]

    def _peer(
        self, given: Mapping[str, Value], names: tuple[str, str], node: ast.Call, group: Group, *, alone: bool
    ) -> int:
        """The other side of an operation, from `dst` or `group_dst` and the like."""
        plain, relative = names
        line = self._line(node)
        in_group = given.get(plain) is None and given.get(relative) is not None
        number = given.get(relative if in_group else plain)
        if number is None:
            if plain == "src":
                raise Open(f"line {line} receives from any rank")
            raise Raised(f"line {line}: no peer")
        if isinstance(number, Unknown):
            self._choose(number, line) if number.choice is not None else None
        return self.communication.peer(
            _peer_text(node, plain, relative), number, group, line, relative=in_group, alone=alone
        )

    def _operation(self, name: str, kind: Any, peer: int, group: Group, node: ast.Call) -> Operation:
        return Operation(kind, group.key, self._line(node), peer, name)

    def _transfer(self, given: Mapping[str, Value], node: ast.Call) -> Value:
        self.communication.events += 1
        line = self._line(node)
        function = given.get("op")
        if isinstance(function, Unknown) and function.choice is not None:
            self._choose(function.choice, line)
        kind = transfer_kind(function)
        if kind is None:
            raise Open(f"what the `P2POp` in line {line} does is not known")
        group = self._group(given, line)
        if self.rank not in group.members:
            raise Raised(f"line {line}: rank {self.rank} is not in the group")
        peer = self._peer(given, ("peer", "group_peer"), node, group, alone=False) if not group.elsewhere else self.rank
        if not group.elsewhere:
            self._note(node)
        if kind == "recv":
            self._receive(given.get("tensor"))
        return Transfer(kind, peer, group, line, node)

    def _batch(self, given: Mapping[str, Value], node: ast.Call) -> Value:
        line = self._line(node)
        listed = given.get("p2p_op_list")
        if isinstance(listed, Unknown) and listed.choice is not None:
            self._choose(listed.choice, line)
        try:
            transfers = elements(listed)
        except Unworkable:
            why = listed.why if isinstance(listed, Unknown) else "it is not followed"
            raise Open(f"what is in the batch in line {line} is not known: {why}") from None
        if not transfers:
            raise Raised(f"line {line}: a batch of nothing")
        if not all(isinstance(transfer, Transfer) for transfer in transfers):
            raise Open(f"what is in the batch in line {line} is not known")
        if len({transfer.group for transfer in transfers}) > 1:
            raise Raised(f"line {line}: a batch of several groups")
        if transfers[0].group.elsewhere:
            return [self.communication.elsewhere(line)] * len(transfers)
        self._note(node)
        operations = [
            Operation(t.kind, t.group.key, t.line, t.peer, "isend" if t.kind == "send" else "irecv") for t in transfers
        ]
        handle = self.communication.post(operations, batched=True)
        return [handle] * len(operations)

    def _collective(self, name: str, given: Mapping[str, Value], node: ast.Call) -> Value:
        line = self._line(node)
        group = self._group(given, line)
        wanted = self._truth(given.get("async_op", False))
        if wanted is None:
            unknown = given["async_op"]
            self._choose(unknown, line)
            raise Open(f"whether line {line} waits is not known: {unknown.why}")
        self._receive(*(value for key, value in given.items() if key not in {"group", "op", "async_op"}))
        if self.rank not in group.members:
            return None
        if group.elsewhere:
            return self.communication.elsewhere(line) if wanted else None
        handle = self.communication.post([Operation("collective", group.key, line, -1, name)])
        if wanted:
            return handle
        self._wait_at_once(handle, line)
        return None

    def _wait_at_once(self, handle: Handle, line: int) -> None:
        if not handle.waited and not self.communication.is_collecting:
            self.communication.wait(handle, line)

    def _point_to_point(self, name: str, given: Mapping[str, Value], node: ast.Call) -> Value:
        sends = "send" in name
        line = self._line(node)
        group = self._group(given, line)
        if given.get("use_batch"):
            raise Open(f"`use_batch` in line {line} is not modelled")
        if self.rank not in group.members:
            return None
        if group.elsewhere:
            if not sends:
                self._receive(given.get("tensor", given.get("object_list")))
            return self.communication.elsewhere(line) if name in {"isend", "irecv"} else None
        peer = self._peer(given, ("dst", "group_dst") if sends else ("src", "group_src"), node, group, alone=True)
        self._note(node)
        if not sends:
            self._receive(given.get("tensor", given.get("object_list")))
        operation = self._operation(name, "send" if sends else "recv", peer, group, node)
        if name in {"isend", "irecv"}:
            return self.communication.post([operation])
        for _ in range(2 if name.endswith("object_list") else 1):
            self._wait_at_once(self.communication.post([operation]), line)
        return None if sends else peer


class _Super:
    """`super()` in a class whose base is in the file."""

    def __init__(self, of: Class, receiver: Instance) -> None:
        self.of = of
        self.receiver = receiver


class _Missing:
    """Stands for a name or attribute that has no value."""


_MISSING = _Missing()
_KINDS: dict[str, Any] = {
    "int": int, "bool": bool, "str": str, "float": float, "list": list, "tuple": tuple, "dict": dict, "set": set, "range": range,
}  # fmt: skip
# Builtin functions that only compute something from their arguments.
_PASSING_ON = frozenset(
    """abs all any bool bytes complex dict divmod enumerate filter float format frozenset getattr hasattr hash hex id int
    isinstance issubclass iter len list max min next object ord chr oct pow range repr reversed round set slice sorted str sum
    tuple type zip callable""".split()
)


_COUNTING = frozenset("abs all any bool float format hash id int isinstance len repr round str sum type".split())


def defaults_hold_something(node: ast.expr) -> bool:
    """Whether a default value is a display with elements."""
    return bool(getattr(node, "elts", None) or getattr(node, "keys", None))


def _passes_on(node: ast.AST) -> bool:
    """Whether what an expression gives may contain what it is computed from, as a number or a text cannot."""
    if isinstance(node, ast.Call):
        return not isinstance(node.func, ast.Name) or node.func.id not in _COUNTING
    return not isinstance(node, (ast.Compare, ast.JoinedStr, ast.UnaryOp))


def _live(items: list[Value]) -> Iterator[Value]:
    """Elements of a list that may grow while it is gone through."""
    index = 0
    while index < len(items):
        yield items[index]
        index += 1


def _draining(items: Once) -> Iterator[Value]:
    while items:
        yield items.pop(0)


def _text(node: ast.AST) -> str:
    return ast.unparse(node)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def _key(node: ast.AST, values: Sequence[Value]) -> str:
    """A key for what `node` computes: its text, with the keys of the unknown operands in it.

    Where operands are known or functions are called, the place is part of it: the text could mean something else elsewhere.
    """
    unknown = [value for value in values if isinstance(value, Unknown)]
    place = f"@{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}"
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        return f"{_text(node)}"
    if isinstance(node, ast.Compare) and len(values) == 2:
        sides = [
            v.key if isinstance(v, Unknown) else repr(v) if isinstance(v, (int, str, float, type(None))) else place
            for v in values
        ]
        return f"{sides[0]} {type(node.ops[0]).__name__} {sides[1]}"
    if (
        isinstance(node, ast.Subscript)
        and len(values) == 2
        and isinstance(values[0], Unknown)
        and not isinstance(values[1], Unknown)
    ):
        return f"{values[0].key}[{values[1]!r}]" if isinstance(values[1], (int, str)) else f"{values[0].key}[{place}]"
    return f"{_short(_text(node))}{place}{''.join(value.key for value in unknown)}"


def _speaks_of_rank(name: str) -> bool:
    lower = name.lower()
    return any(word in lower for word in _RANK_WORDS)


def _has_decorator(node: FunctionNode, *names: str) -> bool:
    return any(_text(decorator).rpartition(".")[2] in names for decorator in node.decorator_list)


def _is_static(node: FunctionNode) -> bool:
    return _has_decorator(node, "staticmethod")


def _is_class_method(node: FunctionNode) -> bool:
    return _has_decorator(node, "classmethod")


def _own_nodes(function: FunctionNode) -> Iterator[ast.AST]:
    """Nodes of a function without those of functions inside it."""
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(node))


def _replaced_parameters(node: FunctionNode) -> set[str]:
    """Parameters with the default None that the function replaces by something of its own: `if rank is None: rank = ...`."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True))
    pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
    names = {a.arg for a, d in pairs if isinstance(d, ast.Constant) and d.value is None}
    found = set()
    for statement in node.body:
        match statement:
            case ast.If(
                test=ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]),
                body=body,
            ) if name in names:
                if any(isinstance(s, ast.Assign) and _text(s.targets[0]) == name for s in body):
                    found.add(name)
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.IfExp(test=ast.Compare(left=ast.Name(id=tested)))
            ) if name in names and tested == name:
                found.add(name)
    return found


def _peer_text(node: ast.Call, plain: str, relative: str) -> str:
    for keyword in node.keywords:
        if keyword.arg in {plain, relative}:
            return _short(_text(keyword.value))
    index = 2 if plain == "peer" else 1
    return _short(_text(node.args[index])) if len(node.args) > index else plain


_STATEMENTS: dict[type[ast.stmt], Callable[[RankRun, Any, Frame], Flow]] = {
    ast.Expr: RankRun._expression,
    ast.Assign: RankRun._assign,
    ast.AnnAssign: RankRun._annotated,
    ast.AugAssign: RankRun._augmented,
    ast.Delete: RankRun._delete,
    ast.If: RankRun._if,
    ast.For: RankRun._for,
    ast.AsyncFor: RankRun._for,
    ast.While: RankRun._while,
    ast.With: RankRun._with,
    ast.AsyncWith: RankRun._with,
    ast.Try: RankRun._try,
    ast.Return: RankRun._return,
    ast.Raise: RankRun._raise,
    ast.Assert: RankRun._assert,
    ast.FunctionDef: RankRun._define,
    ast.AsyncFunctionDef: RankRun._define,
    ast.ClassDef: RankRun._define_class,
    ast.Import: RankRun._import,
    ast.ImportFrom: RankRun._import,
    ast.Global: RankRun._pass,
    ast.Nonlocal: RankRun._pass,
    ast.Pass: RankRun._pass,
    ast.Break: RankRun._break,
    ast.Continue: RankRun._continue,
}
if hasattr(ast, "TryStar"):
    _STATEMENTS[ast.TryStar] = RankRun._try
_EXPRESSIONS: dict[type[ast.expr], Callable[[RankRun, Any, Frame], Value]] = {
    ast.Constant: RankRun._constant,
    ast.Name: RankRun._name,
    ast.List: RankRun._list,
    ast.Tuple: RankRun._list,
    ast.Set: RankRun._list,
    ast.Dict: RankRun._dict,
    ast.Attribute: RankRun._attribute,
    ast.Subscript: RankRun._subscript,
    ast.Slice: RankRun._slice,
    ast.BinOp: RankRun._binary,
    ast.UnaryOp: RankRun._unary,
    ast.BoolOp: RankRun._boolean,
    ast.Compare: RankRun._compare,
    ast.IfExp: RankRun._conditional,
    ast.NamedExpr: RankRun._walrus,
    ast.Lambda: RankRun._lambda,
    ast.Starred: RankRun._starred,
    ast.Await: RankRun._await,
    ast.Yield: RankRun._yield,
    ast.YieldFrom: RankRun._yield,
    ast.JoinedStr: RankRun._formatted,
    ast.ListComp: RankRun._comprehension,
    ast.SetComp: RankRun._comprehension,
    ast.GeneratorExp: RankRun._comprehension,
    ast.DictComp: RankRun._comprehension,
    ast.Call: RankRun._call,
}
