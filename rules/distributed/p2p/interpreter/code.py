"""What stands where in a file that talks to other ranks: which functions do so, who calls them, how they are started."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.analysis.places.order import running
from torchlift.rules.analysis.values.parameter_values import SPAWN
from torchlift.rules.distributed.p2p.interpreter.communication import COMMUNICATION, WORTH_READING
from torchlift.rules.distributed.p2p.interpreter.operators import MUTATING
from torchlift.view import ModuleView
from torchlift.view.walk import walk

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Body = FunctionNode | ast.Module
"""What can be run: a function, or the statements of a module."""

_PROCESS = frozenset({"torch.multiprocessing.Process", "multiprocessing.Process"})
_INIT = frozenset({"torch.distributed.init_process_group"})

# Methods that so many classes have that a call of one on an unknown object says nothing about whose it is.
_COMMON = frozenset(
    """forward backward run step start stop close join get put update wait reset init setup train eval test main call apply
    append extend pop clear items keys values copy add remove size rank""".split()
)


@dataclass(frozen=True)
class Started:
    """What a function is started with when a file starts it in processes of its own.

    Attributes:
        rank: parameters that are the rank.
        world: parameters that are the number of ranks.
        passed: expressions that other parameters are called with.
        line: line of the place that says so.
    """

    rank: frozenset[str] = frozenset()
    world: frozenset[str] = frozenset()
    passed: tuple[tuple[str, ast.expr], ...] = ()
    line: int = 0


class Code:
    """The static side of one file.

    Attributes:
        view: the file.
        communication: the expressions that stand for a function of torch.distributed that communicates.
        rank_texts: expressions that the file hands to `init_process_group` as the rank, as text.
        world_texts: the same for the number of ranks.
        steps: how much of the file has been run so far, see `rank_state.MOST_STEPS_OF_FILE`.
    """

    def __init__(self, view: ModuleView, project: Project) -> None:
        self.view = view
        self.steps = 0
        self.communication: set[ast.AST] = set()
        self._point_to_point: dict[Body, list[ast.Call]] = {}
        self._direct: set[Body] = set()
        self._reached: dict[Body, set[Body]] = {}
        self._filled: dict[str, set[Body]] | None = None
        self._stores: dict[str, list[ast.Attribute]] | None = None
        self._classes: list[ast.ClassDef] | None = None
        self._below: dict[ast.ClassDef, list[ast.ClassDef]] = {}
        self._others: dict[ModuleView, Code] = {}
        self._may_communicate: dict[FunctionNode, bool] = {}
        for use in view.uses(COMMUNICATION, project.translate):
            if use.kind in {"import", "string", "annotation", "isinstance"} or not isinstance(use.node, ast.expr):
                continue
            if use.resolution is None or not use.resolution.certain:
                continue
            self.communication.add(use.node)
            body = self._body_of(use.node)
            self._direct.add(body)
            if use.target in WORTH_READING and use.call is not None:
                self._point_to_point.setdefault(body, []).append(use.call)
        self.rank_texts: set[str] = set()
        self.world_texts: set[str] = set()
        if self._point_to_point:
            self._bodies = [view.tree, *(n for n in walk(view.tree) if isinstance(n, FunctionNode))]
            self._methods: dict[str, list[FunctionNode]] = {}
            for node in self._bodies:
                if isinstance(node, FunctionNode) and isinstance(view.parent(node), ast.ClassDef):
                    self._methods.setdefault(node.name, []).append(node)
            self._callees: dict[Body, set[Body]] = {body: set() for body in self._bodies}
            for call in (n for n in walk(view.tree) if isinstance(n, ast.Call)):
                self._callees[self._body_of(call)].update(self._called(call))
            self.started = self._all_started()
            for function, start in self.started.items():
                for _, value in start.passed:
                    binding = view.definition(value)
                    if binding is not None and isinstance(binding.node, FunctionNode):
                        self._callees[function].add(binding.node)

    def _body_of(self, node: ast.AST) -> Body:
        return self.view.function_of(node) or self.view.tree

    @property
    def is_concerned(self) -> bool:
        """Whether the file sends or receives anything."""
        return bool(self._point_to_point)

    def _called(self, call: ast.Call) -> Iterator[Body]:
        """Functions of the file that a call may run."""
        function = call.func
        if isinstance(function, ast.Name):
            binding = self.view.definition(function)
            yield from self._run_by(binding.node if binding is not None else None)
        elif isinstance(function, ast.Attribute):
            named = self._methods.get(function.attr, [])
            own = self._class_of(function)
            if isinstance(function.value, ast.Name):
                binding = self.view.definition(function.value)
                if binding is not None and isinstance(binding.node, ast.ClassDef):
                    attribute = "forward" if function.attr == "apply" else function.attr
                    yield from self._methods_of(binding.node, attribute)
                    return
            if own is not None:
                yield from self._methods_of(own, function.attr)
            elif named and function.attr not in _COMMON and self.view.resolve(function) is None:
                yield from named

    def _run_by(self, node: ast.AST | None) -> Iterator[Body]:
        if isinstance(node, FunctionNode):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from self._methods_of(node, "__init__")

    def _class_of(self, function: ast.Attribute) -> ast.ClassDef | None:
        """The class around a `self.method`."""
        if not isinstance(function.value, ast.Name) or function.value.id not in {"self", "cls"}:
            return None
        return self.view.class_of(function)

    def bases(self, node: ast.ClassDef) -> list[ast.ClassDef]:
        """The class and its bases in the file, nearest first."""
        found: list[ast.ClassDef] = []
        pending = [node]
        while pending:
            current = pending.pop(0)
            if current in found:
                continue
            found.append(current)
            for base in current.bases:
                binding = self.view.definition(base)
                if binding is not None and isinstance(binding.node, ast.ClassDef):
                    pending.append(binding.node)
        return found

    def below(self, node: ast.ClassDef) -> list[ast.ClassDef]:
        """Classes of the file that have this one among their bases, in source order."""
        if self._classes is None:
            self._classes = [item for item in walk(self.view.tree) if isinstance(item, ast.ClassDef)]
        if node not in self._below:
            self._below[node] = [one for one in self._classes if one is not node and node in self.bases(one)]
        return self._below[node]

    def _methods_of(self, node: ast.ClassDef, name: str) -> Iterator[FunctionNode]:
        family = self.bases(node)
        # An overriding method of a subclass may be meant, too.
        yield from (m for m in self._methods.get(name, ()) if self.view.parent(m) in family)
        for method in self._methods.get(name, ()):
            parent = self.view.parent(method)
            if isinstance(parent, ast.ClassDef) and parent not in family and node in self.bases(parent):
                yield method

    def reach(self, body: Body) -> set[Body]:
        """`body` and all functions of the file that it may run."""
        known = self._reached.get(body)
        if known is not None:
            return known
        found: set[Body] = set()
        pending = [body]
        while pending:
            current = pending.pop()
            if current not in found:
                found.add(current)
                pending.extend(self._callees.get(current, ()))
        self._reached[body] = found
        return found

    def of(self, view: ModuleView, project: Project) -> Code:
        """The static side of another file whose code runs here, or of this one."""
        if view is self.view:
            return self
        if view not in self._others:
            self._others[view] = Code(view, project)
        return self._others[view]

    def may_communicate(self, function: FunctionNode) -> bool:
        """Whether running it may talk to other ranks, or wait for what was begun elsewhere."""
        known = self._may_communicate.get(function)
        if known is None:
            known = self._may_communicate[function] = self.communicates(function) or self.matters(function.body)
        return known

    def communicates(self, body: Body) -> bool:
        """Whether running it may talk to other ranks."""
        return self.is_concerned and not self.reach(body).isdisjoint(self._direct)

    def point_to_point_calls(self, body: Body) -> tuple[ast.Call, ...]:
        """Calls in `body`, and in what it may run, that send or receive, in source order."""
        calls = [call for reached in self.reach(body) for call in self._point_to_point.get(reached, ())]
        return tuple(sorted(calls, key=lambda call: (call.lineno, call.col_offset)))

    def entries(self) -> list[Body]:
        """Bodies with point-to-point calls that no other function of the file runs, in source order."""
        concerned = [body for body in self._bodies if not self.reach(body).isdisjoint(self._point_to_point)]
        called = {callee for body in concerned for callee in self._callees[body] if callee is not body}
        found = [body for body in concerned if body not in called]
        covered: set[Body] = set().union(*map(self.reach, found))
        for body in concerned:
            if body not in covered:  # functions that call each other in a circle
                found.append(body)
                covered = covered | self.reach(body)
        return found

    def methods_called(self, name: str) -> list[FunctionNode]:
        """All methods of classes of the file that have this name."""
        return self._methods.get(name, [])

    def attribute_stores(self) -> dict[str, list[ast.Attribute]]:
        """Every place where an attribute is set or deleted, by its name."""
        if self._stores is None:
            self._stores = {}
            for node in walk(self.view.tree):
                if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                    self._stores.setdefault(node.attr, []).append(node)
        return self._stores

    def filled_attributes(self) -> dict[str, set[Body]]:
        """By attribute: functions that change the list or dict in it, on whatever object."""
        if self._filled is None:
            self._filled = {}
            for node in walk(self.view.tree):
                parent = self.view.parent(node) if isinstance(node, ast.Attribute) else None
                match parent:
                    case ast.Attribute(attr=attribute) if attribute in MUTATING:
                        changed = True
                    case ast.Subscript(ctx=ast.Store() | ast.Del(), value=value):
                        changed = value is node
                    case ast.AugAssign(target=target):
                        changed = target is node
                    case _:
                        changed = False
                if changed and isinstance(node, ast.Attribute):
                    self._filled.setdefault(node.attr, set()).add(self._body_of(node))
        return self._filled

    def helpers(self, body: Body) -> list[FunctionNode]:
        """Functions below `body` with point-to-point calls, in source order."""
        reached = self.reach(body) - {body}
        return [
            node
            for node in self._bodies
            if isinstance(node, FunctionNode)
            and node in reached
            and not self.reach(node).isdisjoint(self._point_to_point)
        ]

    def matters(self, nodes: Iterable[ast.AST]) -> bool:
        """Whether running `nodes` may post or wait for anything; calls of names are left to the caller."""
        for node in running(nodes):
            if node in self.communication:
                return True
            if isinstance(node, ast.Call):
                function = node.func
                if isinstance(function, ast.Attribute) and function.attr in {"wait", "is_completed", "synchronize"}:
                    return True
                if self.is_concerned and any(self.communicates(callee) for callee in self._called(node)):
                    return True
        return False

    # How functions are started

    def _all_started(self) -> dict[FunctionNode, Started]:
        found: dict[FunctionNode, Started] = {}
        for use in self.view.uses(_INIT):
            if use.call is not None:
                self._learn_from_init(use.call, found)
        self._follow_callers(found)
        for use in self.view.uses(SPAWN | _PROCESS):
            if use.call is not None:
                self._learn_from_launch(use.call, found, spawned=use.target in SPAWN)
        return found

    def _learn_from_init(self, call: ast.Call, found: dict[FunctionNode, Started]) -> None:
        """`init_process_group(rank=r, world_size=w)` says what `r` and `w` are."""
        function = self.view.function_of(call)
        for keyword in call.keywords:
            if keyword.arg not in {"rank", "world_size"}:
                continue
            value = keyword.value
            if isinstance(value, ast.Attribute):
                (self.rank_texts if keyword.arg == "rank" else self.world_texts).add(ast.unparse(value))
            elif isinstance(value, ast.Name) and function is not None:
                binding = self.view.definition(value)
                if binding is not None and isinstance(binding.node, ast.arg) and binding.scope.node is function:
                    self._learn(found, function, value.id, is_rank=keyword.arg == "rank", line=call.lineno)

    @staticmethod
    def _learn(
        found: dict[FunctionNode, Started], function: FunctionNode, name: str, *, is_rank: bool, line: int
    ) -> bool:
        old = found.get(function, Started(line=line))
        new = Started(
            old.rank | ({name} if is_rank else set()), old.world | (set() if is_rank else {name}), old.passed, old.line
        )
        found[function] = new
        return new != old

    def _follow_callers(self, found: dict[FunctionNode, Started]) -> None:
        """What `setup(rank, world)` says of its parameters is true of the parameters it is called with."""
        calls = [node for node in walk(self.view.tree) if isinstance(node, ast.Call)]
        changed = True
        while changed:
            changed = False
            for call in calls:
                binding = self.view.definition(call.func)
                callee = binding.node if binding is not None else None
                caller = self.view.function_of(call)
                if not isinstance(callee, FunctionNode) or callee not in found or caller is None or caller is callee:
                    continue
                names = [argument.arg for argument in (*callee.args.posonlyargs, *callee.args.args)]
                given = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
                for name, value in given:
                    if not isinstance(value, ast.Name) or name not in found[callee].rank | found[callee].world:
                        continue
                    bound = self.view.definition(value)
                    if bound is not None and isinstance(bound.node, ast.arg) and bound.scope.node is caller:
                        is_rank = name in found[callee].rank
                        changed |= self._learn(found, caller, value.id, is_rank=is_rank, line=found[callee].line)

    def _learn_from_launch(self, call: ast.Call, found: dict[FunctionNode, Started], *, spawned: bool) -> None:
        """`spawn(f, args=(n,), nprocs=n)`, `Process(target=f, args=(rank, n))` in a loop over `range(n)`."""
        keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        target = call.args[0] if spawned and call.args else keywords.get("fn" if spawned else "target")
        binding = self.view.definition(target) if target is not None else None
        function = binding.node if binding is not None else None
        passed = (call.args[1] if spawned and len(call.args) > 1 else None) or keywords.get("args")
        if not isinstance(function, FunctionNode) or not isinstance(passed, (ast.Tuple, ast.List, type(None))):
            return
        values: list[ast.expr | None] = [*([None] if spawned else []), *(passed.elts if passed is not None else [])]
        number, count = None, None
        if spawned:
            count = call.args[2] if len(call.args) > 2 else keywords.get("nprocs")
        else:
            number, count = self._loop_over_ranks(call)
            if number is None:
                return
        counted = ast.unparse(count) if count is not None and not isinstance(count, ast.Constant) else None
        rank: set[str] = set()
        world: set[str] = set()
        rest: list[tuple[str, ast.expr]] = []
        parameters = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        for name, value in zip(parameters, values, strict=False):
            if value is None or (isinstance(value, ast.Name) and value.id == number):
                rank.add(name)
            elif counted is not None and ast.unparse(value) == counted:
                world.add(name)
            else:
                rest.append((name, value))
        old = found.get(function)
        if old is not None and (old.passed or (old.rank and not old.rank & rank)):
            rank, rest = set(old.rank), []  # started in two ways; what `init_process_group` says is what counts
        found[function] = Started(
            frozenset(rank) | (old.rank if old else frozenset()),
            frozenset(world) | (old.world if old else frozenset()),
            tuple(rest),
            call.lineno,
        )

    def _loop_over_ranks(self, call: ast.Call) -> tuple[str | None, ast.expr | None]:
        """The variable and the end of the `for rank in range(n)` around a call."""
        for ancestor in self.view.ancestors(call):
            target = getattr(ancestor, "target", None)
            iterable = getattr(ancestor, "iter", None)
            if isinstance(ancestor, ast.ListComp):
                target, iterable = ancestor.generators[0].target, ancestor.generators[0].iter
            match target, iterable:
                case ast.Name(id=name), ast.Call(func=ast.Name(id="range"), args=[end]):
                    return name, end
        return None, None
