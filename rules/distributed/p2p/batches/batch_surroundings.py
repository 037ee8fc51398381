"""What stands around the operations of an exchange and between them, and whether a batch may be posted in spite of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.rules.distributed.groups.group_identity import group_key
from torchlift.rules.distributed.p2p.batches.quiet_code import effects
from torchlift.rules.distributed.p2p.batches.requests import PlacedOperation, Refused
from torchlift.rules.distributed.p2p.batches.shared_memory import part_of
from torchlift.view import ModuleView
from torchlift.view.walk import walk


class Surroundings:
    """Checks the code around one exchange; what cannot be checked is added to `assumptions`.

    Every method raises `Refused` where a batch surely or possibly is something else than the single operations were.
    """

    def __init__(self, view: ModuleView, operations: list[PlacedOperation]) -> None:
        self.view = view
        self.operations = operations
        self.calls = [operation.call for operation in operations]
        self.assumptions: list[str] = []

    def check_operations(self) -> None:
        """The operations stand in one function, go both ways, over one group, and for one device."""
        view, operations = self.view, self.operations
        functions = {view.function_of(call) for call in self.calls}
        if len(functions) != 1 or None in functions:
            raise Refused("the operations do not stand in one function.")
        if not any(one.sends for one in operations) or all(one.sends for one in operations):
            raise Refused("the other side of these operations stands elsewhere, and both have to change.")
        if len({group_key(view, one.arguments.get("group")) for one in operations}) != 1:
            raise Refused("the operations are written with different groups.")
        tensors = [(one, part_of(view, one.arguments["tensor"])) for one in operations]
        for sent, part in tensors:
            for received, other in tensors:
                if not sent.sends or received.sends:
                    continue
                one_of, one_into = sent.arguments["tensor"], received.arguments["tensor"]
                shared = part.whole == other.whole and not part.is_beside(other)
                whole = shared and not (part.indexes and other.indexes)
                if whole or ast.dump(one_of) == ast.dump(one_into):
                    raise Refused("a tensor is sent and received into at the same time.")
                if shared:
                    self.assumptions.append(f"`{view.text(one_of)}` and `{view.text(one_into)}` must not overlap")
        if len({says_cpu(view, one.arguments["tensor"]) for one in operations}) != 1:
            raise Refused("some tensors are on the CPU and others may not be; a batch is posted for one device.")

    def check_branches(self, block: list[ast.stmt]) -> None:
        """The branch that holds the exchange has to be one that no rank takes alone."""
        view = self.view
        for ancestor in view.ancestors(block[0]):
            match ancestor:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    return
                case ast.If(test=test) | ast.While(test=test):
                    decides: ast.expr | None = None if _is_membership(test) else test
                case ast.For(iter=decides) | ast.Match(subject=decides):
                    pass
                case ast.With(items=items):
                    decides = None
                    for item in items:
                        function = item.context_expr.func if isinstance(item.context_expr, ast.Call) else None
                        if function is not None and view.possible_name(function).startswith("torch.distributed."):
                            raise Refused(f"line {ancestor.lineno} puts the operations together already.")
                case _:
                    decides = None
            if decides is not None and isinstance(ancestor, ast.stmt) and self._depends_on_rank(decides):
                raise Refused(
                    f"the ranks part ways on line {ancestor.lineno}, and both sides of an exchange have to "
                    "change together."
                )

    def _depends_on_rank(self, test: ast.expr, depth: int = 4) -> bool:
        view = self.view
        for node in walk(test):
            if isinstance(node, (ast.Name, ast.Attribute)):
                word = node.id if isinstance(node, ast.Name) else node.attr
                if re.search(r"(?:^|_)(?:rank|stage|first|last)(?:_|$)", word.lower()):
                    return True
            if isinstance(node, ast.Constant) and node.value in ("RANK", "LOCAL_RANK"):
                return True
            value = assigned_value(view, node) if isinstance(node, ast.Name) and depth else None
            if value is not None and self._depends_on_rank(value, depth - 1):
                return True
        return False

    def check_before_last(self, block: list[ast.stmt], tops: list[ast.stmt], blocking: list[PlacedOperation]) -> None:
        """What runs between the first and the last operation must not matter to any of them."""
        view = self.view
        places = [block.index(top) for top in tops]
        if places != sorted(places):
            raise Refused("the operations do not stand in the order they run in.")
        first, last = places[0], places[-1]
        between = block[first : last + 1]
        # What the first operation is made from is evaluated before it, then as now.
        parts: list[ast.AST] = [*between]
        if tops[0] is self.operations[0].statement and isinstance(tops[0], (ast.Assign, ast.AnnAssign, ast.Expr)):
            same = [one for one in self.operations if one.statement is tops[0]]
            parts = [*between[1:], *(argument for one in same[1:] for argument in one.arguments.values())]
        appends = [
            node
            for statement in between
            for node in walk(statement)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append"
            and isinstance(node.func.value, ast.Name)
        ]  # fmt: skip
        found = effects(view, parts, [*self.calls, *appends])
        if found.obstacle:
            raise Refused(f"{found.obstacle} between the operations (line {found.line}).")
        if found.leaves:
            raise Refused("the function may be left between the operations.")
        for text in dict.fromkeys(found.unknown):
            self.assumptions.append(f"`{text}` must not communicate or change a tensor of the exchange")
        key = self.operations[0].arguments.get("group")
        names = {node.id for node in walk(key) if isinstance(node, ast.Name)} if key is not None else set()
        stored = {
            node.id
            for statement in between
            for node in walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        if names & stored:
            raise Refused("the group is another one by the time of the last operation.")
        if blocking:
            self._check_blocking(block, tops, blocking)

    def _check_blocking(self, block: list[ast.stmt], tops: list[ast.stmt], blocking: list[PlacedOperation]) -> None:
        """Blocking receives end the exchange, one right behind the other, and none needs what another has received."""
        if self.operations[-len(blocking) :] != blocking:
            raise Refused("a blocking `recv` stands before another operation, which may need what it receives.")
        places = [block.index(top) for top in tops[-len(blocking) :]]
        if places != list(range(places[0], places[0] + len(places))):
            raise Refused("something stands between two blocking `recv`, which may need what was received.")
        received: set[str] = set()
        for one in blocking:
            tensor = one.arguments["tensor"]
            base: ast.expr = tensor
            indexes: list[ast.expr] = []
            while isinstance(base, (ast.Subscript, ast.Attribute)):
                if isinstance(base, ast.Subscript):
                    indexes.append(base.slice)
                base = base.value
            others = [value for name, value in one.arguments.items() if name != "tensor"]
            read = {node.id for part in (*indexes, *others) for node in walk(part) if isinstance(node, ast.Name)}
            if received and (
                read & received or any(isinstance(node, ast.Call) for node in walk(one.call) if node is not one.call)
            ):
                raise Refused("a blocking `recv` may need what the one before it has received.")
            received |= {node.id for node in walk(tensor) if isinstance(node, ast.Name)}

    def check_waiting(self, between: Sequence[ast.stmt], behind: Sequence[ast.stmt], waits: Sequence[ast.stmt]) -> bool:
        """Whether nothing at all happens between the last operation and the first wait.

        `between` and `behind` are the statements before and after the first wait.
        """
        others = [statement for statement in behind if statement not in waits]
        if any(
            isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await))
            for statement in (*between, *others)
            for node in walk(statement)
        ):
            raise Refused("the function hands over control before all requests are waited for.")
        found = effects(self.view, between)
        after = effects(self.view, others)
        for one in (found, after):
            if one.communicates:
                raise Refused(f"{one.obstacle} before all requests are waited for (line {one.line}).")
        may_leave = found.leaves or any(isinstance(node, ast.Try) for statement in between for node in walk(statement))
        group = self.operations[0].arguments.get("group")
        if may_leave and group is not None and group_key(self.view, group):
            # Otherwise a rank outside the group would have failed at the wait: its request is None.
            self.assumptions.append(f"this rank has to be a member of `{self.view.text(group)}`")
        return found.quiet


_ON_CPU = frozenset({"torch.frombuffer", "torch.from_numpy"})
"""What makes tensors over memory of the host."""


def says_cpu(view: ModuleView, tensor: ast.expr, depth: int = 2) -> bool:
    """Whether an expression, or what its name is bound to, says that the tensor is on the CPU."""
    value = assigned_value(view, tensor)
    nodes = list(walk(value if value is not None else tensor))
    moved = any(isinstance(node, ast.Attribute) and node.attr in {"to", "cuda"} for node in nodes)
    for node in nodes:
        match node:
            case ast.Attribute(attr="cpu") | ast.Constant(value="cpu"):
                return True
            case ast.Call(func=function) if not moved and view.possible_name(function) in _ON_CPU:
                return True
    model = _model(view, value) if depth else None
    return model is not None and says_cpu(view, model, depth - 1)


def _model(view: ModuleView, value: ast.expr | None) -> ast.expr | None:
    """The `x` of a `torch.empty_like(x)`, which is where `x` is."""
    if not isinstance(value, ast.Call) or not value.args or any(k.arg in {"device", None} for k in value.keywords):
        return None
    return value.args[0] if view.possible_name(value.func).endswith("_like") else None


def _is_membership(test: ast.expr) -> bool:
    """Whether a test is `x in members`: what only the members of a group run."""
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In)
