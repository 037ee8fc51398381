"""What an expression in a function gives, as the TorchScript compiler would type it, where Python gives the same.

Every expression gets a kind: `tensor`, `floating` (a tensor of floats whatever the inputs are), `int`, `float`, `bool`,
`str`, `none`, `dtype`, `device`, `shape`, `ints`, `tuple` (of tensors), `tensors` (of a split), `pair` (values and indices),
or `unknown` behind something that has been doubted already. What has no kind here raises a `NotRead`.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import field

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.analysis.values.number_ranges import Range, combined, range_of
from torchlift.rules.torchscript.facts import value_kinds
from torchlift.rules.torchscript.facts.scripted_operations import ATTRIBUTES, MATH_CONSTANTS
from torchlift.rules.torchscript.facts.value_kinds import NUMBERS, TENSORS, is_dtype
from torchlift.rules.torchscript.functions.known_differences import (
    changes,
    draws,
    has_parameter,
    is_bound_again,
    is_condition,
    is_rebound,
    may_wrap,
)
from torchlift.view import ModuleView
from torchlift.view.walk import walk

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

# Tensor and number in either order; what is missing differs, see `scripted_operations`.
_TENSOR_NUMBER = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_TENSOR_INT = (ast.BitAnd, ast.BitOr, ast.BitXor)
_NUMBER_TENSOR = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.Pow)
_ORDER = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


@dataclass
class FunctionFacts:
    """What is known of one function.

    Attributes:
        doubts: clauses that say what may differ between the compiled function and the Python one.
        branches: line of the first branch, loop or number read from a tensor, which a trace of the plain function fixes.
        shapes: line of the first size that leaves the tensors (`math.sqrt(x.size(0))`), which a trace fixes as well.
        result: kind of the result; None if it is not known or differs from return to return.
        raises: line of the first error that the function raises itself; TorchScript makes a `torch.jit.Error` of it.
        sequence: line on which it returns a shape or a split, which is a list in TorchScript and a tuple in Python.
        numbers: parameters that reach an operation in which an int gives another result than a float, with its line.
        fails: clauses that say what raises an error in Python.
    """

    doubts: list[str] = field(default_factory=list)
    branches: int | None = None
    shapes: int | None = None
    result: str | None = None
    raises: int | None = None
    sequence: int | None = None
    numbers: dict[str, int] = field(default_factory=dict)
    fails: list[str] = field(default_factory=list)


class NotRead(Exception):
    """Something that was not read; the message is a clause."""


class Differs(NotRead):
    """Something that was measured to differ between TorchScript and Python; the message is a clause."""


class ExpressionReader(ABC):
    """Reads the expressions of one function.

    Args:
        view: the function's file.
        node: the function.
        project: the project.
        depth: how many calls are around it, in functions that are being read.
        own: for a method, the kinds of the attributes of `self`.
        known_only: whether only what is known to differ is a doubt: what was not read runs as it is written.
    """

    def __init__(
        self,
        view: ModuleView,
        node: FunctionNode,
        project: Project,
        depth: int,
        own: Mapping[str, str] | None,
        known_only: bool = False,
    ) -> None:
        self.known_only = known_only
        self._read: dict[ast.expr, str] = {}
        self.lists: list[ast.Call] = []  # give a list in TorchScript, and a tuple in Python
        self.view = view
        self.node = node
        self.project = project
        self.depth = depth
        self.facts = FunctionFacts()
        self.results: list[str] = []
        self.loops = 0
        self.sources: dict[str, frozenset[str]] = {}
        self.whole: ast.expr | None = None
        self.constants: set[str] = set()
        self.ranges: dict[str, Range] = {}
        parameters = [*node.args.posonlyargs, *node.args.args]
        self.own = own or {}
        self.me = parameters[0].arg if own is not None and parameters else None
        parameters = parameters[1 if own is not None else 0 :]
        self.kinds, floats = value_kinds.parameter_kinds(view, node, parameters, known_only=known_only)
        self.sources |= {name: frozenset({name}) for name in floats}

    # Notes

    def doubt(self, node: ast.AST, reason: str) -> None:
        """Note something that may differ."""
        line = getattr(node, "lineno", self.node.lineno)
        clause = f"{reason} ({self.view.path}:{line})"
        if clause not in self.facts.doubts:
            self.facts.doubts.append(clause)

    def branch(self, node: ast.AST) -> None:
        """Note a branch, a loop or a number read from a tensor."""
        if self.facts.branches is None:
            self.facts.branches = getattr(node, "lineno", self.node.lineno)

    def size(self, node: ast.AST) -> None:
        """Note a size that leaves the tensors."""
        if self.facts.shapes is None:
            self.facts.shapes = getattr(node, "lineno", self.node.lineno)

    def in_place(self, node: ast.AST) -> None:
        """A change of a tensor; in a loop TorchScript takes it for a change of another tensor at times."""
        if self.loops:
            reason = "the function changes tensors in place in a loop, where TorchScript was found to mix them up"
            raise Differs(reason) if is_rebound(self.view, node) else NotRead(reason)

    def reached(self, node: ast.AST, *numbers: ast.expr) -> None:
        """Note an operation in which an int for one of `numbers` gives another result than a float."""
        for number in numbers:
            for name in self.sources_of(number):
                self.facts.numbers.setdefault(name, getattr(node, "lineno", self.node.lineno))

    def sources_of(self, node: ast.expr) -> frozenset[str]:
        """The `float` parameters that make a number an int where an int is passed for them."""
        match node:
            case ast.Name(id=name):
                return self.sources.get(name, frozenset())
            case ast.BinOp(op=ast.Div()) | ast.Call(func=ast.Name(id="float")):
                return frozenset()
            case ast.BinOp(left=ast.Constant(value=float())) | ast.BinOp(right=ast.Constant(value=float())):
                return frozenset()
        held = (c.value if isinstance(c, ast.keyword) else c for c in ast.iter_child_nodes(node))
        parts = (child for child in held if isinstance(child, ast.expr))
        return frozenset().union(*map(self.sources_of, parts))

    @abstractmethod
    def call(self, node: ast.Call) -> str:
        """Kind of what a call gives; see `scripted_calls`.

        Raises:
            NotRead: it was not read.
        """

    def text(self, node: ast.AST) -> str:
        """Source of a node for messages, shortened."""
        text = ast.unparse(node)
        return text if len(text) <= 40 else f"{text[:37]}..."

    # Expressions

    def condition(self, node: ast.expr) -> None:
        """Read a condition.

        Raises:
            NotRead: it was not read.
        """
        if not value_kinds.is_switch(self.view, node, self.kinds):
            self.branch(node)
        if self.kind(node) not in {"bool", "tensor", "floating", "unknown"}:
            raise NotRead("the function branches on something that is no condition")

    def kind(self, node: ast.expr) -> str:
        """Kind of an expression.

        Raises:
            NotRead: it was not read. Where only known differences count, it is `unknown` then, and its parts are read.
        """
        if not self.known_only:
            return self._kind(node)
        if node not in self._read:
            try:
                kind = self._kind(node)
            except NotRead as doubt:
                kind = "unknown"
                if isinstance(doubt, Differs):
                    self.doubt(node, str(doubt))
                self.parts(node)
            self._read[node] = kind
        return self._read[node]

    def parts(self, node: ast.AST) -> None:
        """Read the expressions below a node that was not read itself."""
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.kind(child)
            elif not isinstance(child, ast.stmt):
                self.parts(child)

    def _kind(self, node: ast.expr) -> str:
        match node:
            case ast.Constant():
                return {bool: "bool", int: "int", float: "float", str: "str", type(None): "none"}.get(
                    type(node.value), "constant"
                )
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.Compare(ops=[op], comparators=[right]):
                return self._compare(node, op, right)
            case ast.BoolOp():
                if all(self.kind(value) == "bool" for value in node.values):
                    return "bool"
                if not is_condition(self.view, node) and any(self.kind(value) in TENSORS for value in node.values):
                    raise Differs(f"`{self.text(node)}` is a bool in TorchScript, and one of the tensors in Python")
                raise NotRead("the function joins conditions that are tensors")
            case ast.IfExp():
                self.condition(node.test)
                kinds = {self.kind(node.body), self.kind(node.orelse)}
                if len(kinds) == 1:
                    return kinds.pop()
                if kinds <= TENSORS:
                    return "tensor"
                raise NotRead("the function chooses between values of two types")
            case ast.Call():
                return self.call(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Tuple() | ast.List():
                return self._display(node)
            case _:
                raise NotRead(f"`{self.text(node)}` was not compared with what TorchScript makes of it")

    def _name(self, node: ast.Name) -> str:
        if node.id in self.kinds:
            return self.kinds[node.id]
        fixed = f"the function reads `{node.id}` from around it, which scripting fixed when it compiled"
        if self.known_only and not is_bound_again(self.view, node, self.node):
            raise NotRead(fixed)
        raise Differs(fixed)

    def _attribute(self, node: ast.Attribute) -> str:
        name = self.view.certain_name(node)
        if name in MATH_CONSTANTS:
            return "float"
        if is_dtype(name):
            return "dtype"
        if name:
            raise NotRead(f"the function reads `{name}`")
        if self.me is not None and isinstance(node.value, ast.Name) and node.value.id == self.me:
            if self.own.get(node.attr, "module") == "module":
                raise NotRead(f"the function reads `{self.me}.{node.attr}`, which was not read")
            return self.own[node.attr]
        base = self.kind(node.value)
        if base in TENSORS and node.attr == "grad":
            raise Differs(f"`{self.text(node)}` is a tensor in TorchScript where it is None in Python")
        if base == "unknown":
            return base
        if base == "pair" and node.attr in {"values", "indices"}:
            return "tensor"
        if base not in TENSORS or node.attr not in ATTRIBUTES:
            raise NotRead(f"the function reads `.{node.attr}`")
        return ATTRIBUTES[node.attr]

    def _unary(self, node: ast.UnaryOp) -> str:
        kind = self.kind(node.operand)
        if kind == "unknown":
            return kind
        match node.op:
            case ast.USub() if kind in TENSORS | NUMBERS:
                return kind
            case ast.Invert() if kind in TENSORS:
                return "tensor"
            case ast.Not() if kind == "bool":
                return "bool"
        raise NotRead(f"`{self.text(node)}` was not compared with what TorchScript makes of it")

    def _binary(self, node: ast.BinOp) -> str:
        op = node.op
        left, right = self.kind(node.left), self.kind(node.right)
        if isinstance(op, ast.Add) and value_kinds.mixes_size(self.view, (left, node.left), (right, node.right)):
            self.facts.fails.append(
                f"`{self.text(node)}` adds a list to a `torch.Size`, which raises in Python (line {node.lineno})"
            )
        if isinstance(op, ast.Mod) and left == "unknown" and changes(node.left):
            raise Differs(f"`{self.text(node)}` computes its left side twice in TorchScript")
        for kind, other, number in ((left, right, node.right), (right, left, node.left)):
            if other in NUMBERS and kind in {"tensor", "unknown"} and not isinstance(op, ast.Div):
                self.reached(node, number)
        if "unknown" in {left, right}:
            return "unknown"
        if isinstance(op, ast.Mod) and left in TENSORS and (draws(node.left) or changes(node.left)):
            raise Differs(f"`{self.text(node)}` computes its left side twice in TorchScript")
        self.identity(node, op, left, right, node.right)
        if isinstance(op, (ast.Add, ast.Mult)):
            self.identity(node, op, right, left, node.left)
        if left in TENSORS and right in TENSORS:
            if isinstance(op, ast.Pow):
                raise Differs(f"`{self.text(node)}` has other gradients at zero in TorchScript")
            floating = isinstance(op, ast.Div) or "floating" in {left, right}
            return "floating" if floating and not isinstance(op, (ast.BitAnd, ast.BitOr, ast.BitXor)) else "tensor"
        if left in TENSORS and right in NUMBERS:
            if isinstance(op, _TENSOR_NUMBER) or (right == "int" and isinstance(op, _TENSOR_INT)):
                return "floating" if left == "floating" or right == "float" or isinstance(op, ast.Div) else "tensor"
        elif left in NUMBERS and right in TENSORS:
            if isinstance(op, ast.Sub) and left == "float" and right != "floating":
                raise Differs(
                    f"`{self.text(node)}` wraps around in TorchScript if the tensor holds bytes (`torch.uint8`)"
                )
            if isinstance(op, _NUMBER_TENSOR):
                return "floating" if right == "floating" or left == "float" or isinstance(op, ast.Div) else "tensor"
        elif left in NUMBERS and right in NUMBERS:
            self._number(node, left, right)
            if isinstance(op, ast.Div):
                return "float"
            if isinstance(op, (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)):
                return "int" if left == right == "int" else "float"
            if isinstance(op, ast.Pow) and "float" in {left, right}:
                return "float"
        whole = isinstance(op, ast.FloorDiv) and left in NUMBERS and right in TENSORS
        known = whole or "bool" in {left, right}
        reason = f"`{self.text(node)}` was not found to do the same in TorchScript"
        raise Differs(reason) if known else NotRead(reason)

    def range(self, node: ast.expr) -> Range | None:
        """Bounds of an int or a float, if they are known."""
        return range_of(node, self.ranges, self.view.certain_name)

    def _number(self, node: ast.BinOp, left: str, right: str) -> None:
        """Arithmetic of numbers, which has a value in TorchScript where Python raises or goes on behind 64 bits."""
        first, second = self.range(node.left), self.range(node.right)
        if isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)) and (second is None or second.has_zero()):
            reason = f"`{self.text(node)}` may divide by zero, which raises in Python and not when scripted"
            # `//` and `%` of ints raise in TorchScript too, or end the process.
            raise Differs(reason) if isinstance(node.op, ast.Div) or "float" in {left, right} else NotRead(reason)
        result = combined(node.op, first, second) if first is not None and second is not None else None
        if isinstance(node.op, ast.Pow) and left == right == "int":
            raise Differs(f"`{self.text(node)}` is a float in TorchScript, and an int in Python")
        if isinstance(node.op, ast.Pow) and result is None:
            raise Differs(
                f"where `{self.text(node)}` is complex, too large or a power of zero, TorchScript does not do what Python does"
            )
        if left == right == "int" and not isinstance(node.op, ast.Div) and (result is None or not result.fits()):
            reason = f"`{self.text(node)}` may outgrow 64 bits, where TorchScript wraps around"
            raise Differs(reason) if may_wrap(node, in_loop=self.loops > 0) else NotRead(reason)

    def identity(self, node: ast.AST, op: ast.operator, left: str, right: str, number: ast.expr) -> None:
        """`x * 1` and `x + 0` turn a tensor of bools into one of ints, and TorchScript leaves them out; `x / 1` stays."""
        if left != "tensor" or right != "int" or not self.is_constant(number):
            return
        if isinstance(self.view.parent(node), ast.Return) and not self.depth and has_parameter(self.view, node):
            return  # left out, it would give out what came in
        neutral = 1 if isinstance(op, ast.Mult) else 0
        value = number.value if isinstance(number, ast.Constant) else None
        if self.known_only and isinstance(number, ast.UnaryOp):
            return
        if isinstance(op, (ast.Add, ast.Sub, ast.Mult)) and value in {None, neutral}:
            raise Differs(f"`{self.text(node)}` may be left out in TorchScript, and then bools stay bools")

    def is_constant(self, node: ast.expr) -> bool:
        """Whether a number is known when the function is compiled."""
        names = [child.id for child in walk(node) if isinstance(child, ast.Name)]
        calls = any(isinstance(child, ast.Call) for child in walk(node))
        return not calls and all(name in self.constants or name in {"math", self.me} for name in names)

    def _compare(self, node: ast.Compare, op: ast.cmpop, right_node: ast.expr) -> str:
        left, right = self.kind(node.left), self.kind(right_node)
        if value_kinds.mixes_size(self.view, (left, node.left), (right, right_node)):
            raise Differs(f"`{self.text(node)}` compares a `torch.Size` with a list, which are never equal in Python")
        if "unknown" in {left, right}:
            return "unknown"
        if isinstance(op, (ast.Is, ast.IsNot)) and right == "none":
            return "bool"
        if isinstance(op, _ORDER):
            if left in TENSORS | NUMBERS and right in TENSORS | NUMBERS:
                return "tensor" if {left, right} & TENSORS else "bool"
            if left == right and left in {"shape", "dtype", "device"} and isinstance(op, (ast.Eq, ast.NotEq)):
                return "bool"
        raise NotRead(f"`{self.text(node)}` was not compared with what TorchScript makes of it")

    def _display(self, node: ast.Tuple | ast.List) -> str:
        kinds = {self.kind(element) for element in node.elts}
        if "unknown" in kinds:
            return "unknown"
        if kinds and kinds <= TENSORS:
            return "tuple"
        if kinds == {"int"}:
            return "ints"
        raise NotRead("the function makes a list or tuple of mixed values")

    def _subscript(self, node: ast.Subscript) -> str:
        base = self.kind(node.value)
        if base in TENSORS:
            self.index(node.slice)
            return base
        if base == "unknown":
            several = isinstance(node.value, ast.Name) and node.value.id in self.sources
            return "float" if several and not isinstance(node.slice, ast.Slice) else base
        if base == "shape":
            if isinstance(node.slice, ast.Slice):
                self.index(node.slice)
                return "shape"
            if self.kind(node.slice) == "int":
                return "int"
        constant = isinstance(node.slice, (ast.Constant, ast.UnaryOp))
        if base in {"tensors", "pair"} and constant and self.kind(node.slice) == "int":
            return "tensor"
        raise NotRead(f"`{self.text(node)}` was not compared with what TorchScript makes of it")

    def index(self, node: ast.expr) -> None:
        """Read what stands between brackets behind a tensor.

        Raises:
            NotRead: it was not read.
        """
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        kinds = set()
        for part in parts:
            if isinstance(part, ast.Slice):
                for bound in (part.lower, part.upper, part.step):
                    if bound is not None and self.kind(bound) not in {"int", "unknown"}:
                        raise NotRead("the function cuts a tensor at something that is no number")
            elif not (isinstance(part, ast.Constant) and part.value is Ellipsis):
                kinds.add(self.kind(part))
        if not kinds <= TENSORS | {"int", "none", "unknown"} or (kinds & TENSORS and "none" in kinds):
            raise NotRead("the function indexes a tensor in a way that was not read")
