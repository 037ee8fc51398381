"""Reads the statements of `forward` and accepts those that are known to capture alike; doubts everything else."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlift.rules.analysis.values.literals import is_false
from torchlift.rules.analysis.values.self_attributes import self_attribute
from torchlift.rules.torchscript.facts.trusted_operations import PURE_FUNCTIONS, PURE_METHODS
from torchlift.view.walk import walk

if TYPE_CHECKING:
    from torchlift.rules.torchscript.modules.module_class import ClassReader


# Functions of several tensors that do not broadcast: export ties no sizes together that a trace left free.
_NOT_BROADCASTING = frozenset(
    f"torch.{name}"
    for name in "bmm outer ger nn.functional.linear nn.functional.conv2d nn.functional.layer_norm".split()
)
_LOOP = "a trace has the number of rounds of the example baked in, and so has export, or it fails"
_VALUES = frozenset(
    {
        "item",
        "any",
        "all",
        "sum",
        "max",
        "min",
        "mean",
        "numel",
        "nonzero",
        "isnan",
        "equal",
        "allclose",
        "tolist",
        "norm",
    }
)


# Methods and functions that give their result other dimensions than their argument has.
_RESHAPING = frozenset(
    """sum mean amax amin norm transpose permute unsqueeze squeeze reshape view flatten t matmul mm bmm outer ger
    max_pool2d avg_pool2d adaptive_avg_pool2d stack""".split()
)
_CALLS = {
    "item": "which takes a number out of a tensor: a trace has it baked in, and export may fail",
    "tolist": "which takes numbers out of a tensor: a trace has them baked in, and export may fail",
    "numpy": "which leaves torch: a trace has the result baked in, and export may fail",
    "to": "whose device or dtype export bakes in",
    "type": "whose dtype export bakes in",
    "type_as": "whose dtype export bakes in",
    "cuda": "whose device export bakes in",
    "cpu": "whose device export bakes in",
    "print": "which runs once, when the module is exported, and not at every call",
    "append": "which changes Python state that export freezes",
    "update": "which changes Python state that export freezes",
    "info": "which runs once, when the module is exported, and not at every call",
    "debug": "which runs once, when the module is exported, and not at every call",
    "warning": "which runs once, when the module is exported, and not at every call",
    "warn": "which runs once, when the module is exported, and not at every call",
}


def branch_doubt(test: ast.expr) -> str:
    """What to say about a branch that is not on constants of the module."""
    attributes = {node.attr for node in walk(test) if isinstance(node, ast.Attribute)}
    names = {node.id for node in walk(test) if isinstance(node, ast.Name)}
    if "training" in attributes:
        return "`forward` branches on the mode, and export keeps the branch of the mode it is captured in"
    if attributes & {"is_scripting", "is_tracing", "is_in_onnx_export"} or names & {"is_scripting", "is_tracing"}:
        return "`forward` asks whether it is scripted or traced: neither is so under export, so the other branch is captured"
    if attributes & {"dtype", "device", "is_cuda"}:
        return "`forward` branches on a dtype or device, which export bakes in without a guard"
    if attributes & {"shape", "size", "ndim", "dim"} or "len" in names:
        return "`forward` branches on a shape: export keeps the example's branch and guards it, where the trace had no guard"
    if isinstance(test, ast.Compare) and any(
        isinstance(part, ast.Constant) and part.value is None for part in test.comparators
    ):
        return "`forward` branches on an argument that may be None, and export fixes the branch without a guard"
    if attributes & _VALUES:
        return (
            "`forward` branches on the values of a tensor: the trace has one branch baked in and export may fail; write "
            "`torch.cond(predicate, true_fn, false_fn, (x,))`, whose branches return new tensors of one shape and dtype"
        )
    return "`forward` branches on something other than constants of the module"


def _is_state(target: ast.expr) -> bool:
    """Whether what is stored to belongs to an object, such as the module itself."""
    return any(isinstance(node, ast.Attribute) for node in walk(target))


class ForwardBody:
    """Accepts the statements and expressions of a `forward` that are known to capture alike."""

    def __init__(self, owner: ClassReader, tensors: set[str]) -> None:
        self.owner = owner
        self.view = owner.view
        self.inputs = set(tensors)
        self.fresh: set[str] = set()
        self.modules: set[str] = set()
        self.shapes: set[str] = set()
        self.reshaped: set[str] = set()

    def block(self, statements: list[ast.stmt]) -> None:
        """Read statements in order."""
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Read one statement."""
        owner = self.owner
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return
            case ast.Return(value=None):
                owner.doubt(node, "`forward` returns nothing")
            case ast.Return(value=ast.expr() as value):
                elements = value.elts if isinstance(value, ast.Tuple) else [value]
                for element in elements:
                    if not self._gives_tensor(element):
                        owner.doubt(node, "`forward` returns something that may not be a tensor")
                    self.expression(element)
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assignment(target, value)
            case ast.AugAssign(target=ast.Attribute() | ast.Subscript() as target):
                kept = "export freezes such state unless it is a buffer that is changed in place"
                done = kept if _is_state(target) else "what export makes of that was not followed"
                owner.doubt(node, f"`forward` changes `{ast.unparse(target)}`, and {done}")
            case ast.With(items=items):
                shown = ", ".join(f"`{ast.unparse(item.context_expr)}`" for item in items)
                owner.doubt(
                    node, f"`forward` works under {shown}, which a trace leaves out of its graph and export may keep"
                )
            case ast.AugAssign(target=ast.Name() as target, value=value):
                if target.id not in self.fresh:
                    owner.doubt(node, "`forward` changes a tensor in place that others may see")
                self.expression(value)
            case ast.For(target=target, iter=iterable):
                self._loop(target, iterable)
                self.block([*node.body, *node.orelse])
            case ast.If(test=test) if self._is_fixed(test):
                self.block([*node.body, *node.orelse])
            case ast.If(test=test):
                owner.doubt(node, branch_doubt(test))
            case ast.While(test=test):
                owner.doubt(node, f"`forward` loops as often as its input says: {_LOOP}")
            case ast.Assert():
                owner.doubt(
                    node,
                    "`forward` asserts something, which export turns into an error, a check at run time, or nothing",
                )
            case ast.Expr(value=value):
                self.expression(value)
            case _:
                owner.doubt(node, "`forward` holds a statement that was not read")

    def _assignment(self, target: ast.expr, value: ast.expr) -> None:
        names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        if not all(isinstance(name, ast.Name) for name in names):
            what = "an attribute" if any(isinstance(name, ast.Attribute) for name in names) else "an element"
            kept = "export freezes such state unless it is a buffer that is changed in place"
            done = kept if any(map(_is_state, names)) else "what export makes of that was not followed"
            self.owner.doubt(target, f"`forward` stores into {what}; {done}")
            return
        shape, fresh = self._is_shape(value), self._is_fresh(value)
        self.expression(value)
        for name in names:
            assert isinstance(name, ast.Name)
            (self.shapes.add if shape else self.shapes.discard)(name.id)
            (self.reshaped.add if self._ties(value) else self.reshaped.discard)(name.id)
            (self.fresh.add if fresh and len(names) == 1 else self.fresh.discard)(name.id)
            self.inputs.discard(name.id)

    def _loop(self, target: ast.expr, iterable: ast.expr) -> None:
        if (
            isinstance(iterable, ast.Call)
            and isinstance(iterable.func, ast.Name)
            and iterable.func.id
            in {
                "enumerate",
                "zip",
                "reversed",
            }
        ):
            sources = iterable.args
        else:
            sources = [iterable]
        for source in sources:
            attribute = self_attribute(source)
            if attribute in self.owner.submodules:
                self.modules |= {name.id for name in walk(target) if isinstance(name, ast.Name)}
            elif isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "range":
                if not all(self._is_fixed(argument) for argument in source.args):
                    self.owner.doubt(source, "`forward` loops as often as its input says")
            else:
                self.owner.doubt(source, "`forward` loops over something that was not read")

    def _is_fixed(self, node: ast.expr) -> bool:
        """Whether a value depends on constants of the module only, and not on train or eval mode."""
        for child in walk(node):
            if isinstance(child, ast.Name) and child.id != "self":
                if not (isinstance(child.ctx, ast.Load) and child.id == "len"):
                    return False
            elif isinstance(child, ast.Attribute):
                attribute = self_attribute(child)
                if attribute is None or attribute not in self.owner.fixed | self.owner.submodules:
                    return False
            elif isinstance(child, ast.Call) and not (isinstance(child.func, ast.Name) and child.func.id == "len"):
                return False
        return True

    def _gives_tensor(self, node: ast.expr) -> bool:
        if isinstance(node, ast.UnaryOp):
            return self._gives_tensor(node.operand)
        if isinstance(node, (ast.Name, ast.Call, ast.BinOp, ast.Subscript)):
            return not self._is_shape(node)
        return False

    def _is_shape(self, node: ast.expr) -> bool:
        """Whether a value is a size, a rank or a number and not a tensor."""
        match node:
            case ast.Constant() | ast.Attribute(attr="shape" | "ndim"):
                return True
            case ast.Name():
                return node.id in self.shapes
            case ast.Attribute():
                return self_attribute(node) in self.owner.fixed
            case ast.Subscript(value=value):
                return self._is_shape(value)
            case (
                ast.Call(func=ast.Attribute(attr="size" | "dim" | "numel")) | ast.Call(func=ast.Name(id="len" | "int"))
            ):
                return True
            case ast.UnaryOp():
                return self._is_shape(node.operand)
            case ast.BinOp():
                return self._is_shape(node.left) and self._is_shape(node.right)
            case ast.Tuple():
                return all(self._is_shape(element) for element in node.elts)
            case _:
                return False

    def _is_fresh(self, node: ast.expr) -> bool:
        """Whether a value is a tensor that nothing else refers to."""
        match node:
            case ast.Name():
                return node.id in self.fresh
            case ast.BinOp():
                return not self._is_shape(node)
            case ast.Call(func=function):
                attribute = self_attribute(function)
                if attribute in self.owner.changing:
                    return bool(node.args) and self._is_fresh(node.args[0])
                return attribute in self.owner.fresh
            case _:
                return False

    def expression(self, node: ast.expr) -> None:
        """Read one expression."""
        owner = self.owner
        match node:
            case ast.Constant() | ast.Name():
                return
            case ast.Call():
                self._call(node)
            case ast.Attribute():
                attribute = self_attribute(node)
                if attribute is not None:
                    if attribute not in owner.plain | owner.submodules:
                        owner.doubt(node, f"`forward` reads `self.{attribute}`, which `__init__` does not plainly set")
                elif node.attr in {"shape", "ndim", "T", "mT"}:
                    self.expression(node.value)
                else:
                    what = "is fixed at export" if node.attr in {"dtype", "device"} else "was not checked"
                    owner.doubt(node, f"`forward` reads `.{node.attr}`, which {what}")
            case ast.BinOp():
                self.expression(node.left)
                self.expression(node.right)
                if (
                    self._is_input(node.left)
                    and self._is_input(node.right)
                    and ast.dump(node.left) != ast.dump(node.right)
                ):
                    owner.doubt(node, "`forward` combines two inputs, whose sizes export ties together")
                elif self._ties(node.left) or self._ties(node.right):
                    owner.doubt(
                        node, "`forward` combines tensors of different shapes, whose sizes export may tie together"
                    )
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                self.expression(node.operand)
            case ast.Tuple() | ast.List():
                for element in node.elts:
                    self.expression(element)
            case ast.Subscript():
                self.expression(node.value)
                self._index(node.slice)
            case ast.Starred():
                self.expression(node.value)
            case ast.keyword():
                self.expression(node.value)
            case ast.IfExp(test=test) if self._is_fixed(test):
                self.expression(node.body)
                self.expression(node.orelse)
            case ast.IfExp(test=test):
                owner.doubt(node, branch_doubt(test))
            case _:
                owner.doubt(node, "`forward` holds an expression that was not read")

    def _is_input(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.inputs

    def _ties(self, node: ast.expr) -> bool:
        """Whether a value has sizes of its own, which broadcasting against it may tie to those of the example."""
        match node:
            case ast.Name():
                return node.id in self.reshaped
            case ast.Attribute(attr="T" | "mT"):
                return True
            case ast.Attribute():
                attribute = self_attribute(node)
                return attribute in self.owner.plain and attribute not in self.owner.fixed
            case ast.Subscript(value=value):
                return not self._is_shape(value)
            case ast.UnaryOp():
                return self._ties(node.operand)
            case ast.Call(func=ast.Attribute(attr=name)) if name in _RESHAPING:
                plain = all(keyword.arg == "keepdim" for keyword in node.keywords)
                on_torch = self.view.resolve(node.func) is not None
                return len(node.args) > (1 if on_torch else 0) or not plain
            case _:
                return False

    def _index(self, node: ast.expr) -> None:
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        if any(isinstance(part, ast.Slice) and (part.lower or part.upper or part.step) for part in parts):
            self.owner.doubt(node, "`forward` cuts a dimension, whose size export ties to the cut")
        for part in parts:
            bounds = [part.lower, part.upper, part.step] if isinstance(part, ast.Slice) else [part]
            for bound in bounds:
                if bound is None or isinstance(bound, ast.Constant):
                    continue
                if isinstance(bound, ast.UnaryOp) and isinstance(bound.operand, ast.Constant):
                    continue
                self.owner.doubt(bound, "`forward` indexes with a computed value")

    def _reshape(self, node: ast.Call, sizes: list[ast.expr]) -> None:
        if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)):
            sizes = sizes[0].elts
        if not sizes or not (self._is_shape(sizes[0]) or isinstance(sizes[0], ast.UnaryOp)):
            self.owner.doubt(node, "`forward` reshapes to sizes that were not read")
        elif isinstance(sizes[0], ast.Constant):
            self.owner.doubt(node, "`forward` reshapes with a fixed first dimension")

    def _call(self, node: ast.Call) -> None:
        owner = self.owner
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            self.expression(argument)
        function = node.func
        attribute = self_attribute(function)
        inplace = any(k.arg == "inplace" and not is_false(k.value) for k in node.keywords)
        # `inplace` may be given by position; no other argument of the trusted functions is usually True.
        inplace |= any(isinstance(argument, ast.Constant) and argument.value is True for argument in node.args)
        if (inplace or attribute in owner.changing) and not (node.args and self._is_fresh(node.args[0])):
            owner.doubt(node, "`forward` changes a tensor in place that others may see")
        if any(keyword.arg in {"out", None} for keyword in node.keywords):
            owner.doubt(node, "`forward` passes arguments that were not read")
        if attribute is not None:
            if attribute in owner.submodules:
                return
            method = owner.methods.get(attribute)
            if method is not None:
                owner.read_method(method)
                return
            owner.doubt(node, f"`forward` calls `self.{attribute}`, which was not read")
            return
        if isinstance(function, ast.Name) and function.id in self.modules:
            return
        if (
            isinstance(function, ast.Subscript)
            and (container := self_attribute(function.value)) is not None
            and container in owner.submodules
        ):
            self._index(function.slice)
            return
        resolution = self.view.resolve(function)
        if resolution is not None and resolution.certain and resolution.name.startswith("torch."):
            if resolution.name == "torch.reshape":
                self._reshape(node, node.args[1:])
            if resolution.name not in _NOT_BROADCASTING and sum(map(self._is_input, node.args)) > 1:
                owner.doubt(node, "`forward` combines two inputs, whose sizes export ties together")
            if resolution.name not in PURE_FUNCTIONS:
                owner.doubt(node, f"`forward` calls `{resolution.name}`, which is not among the functions checked")
            return
        if isinstance(function, ast.Attribute) and function.attr in PURE_METHODS and resolution is None:
            self.expression(function.value)
            if function.attr == "contiguous":
                owner.doubt(node, "`forward` calls `contiguous()`, which export settles by the strides of the example")
            if function.attr in {"view", "reshape"}:
                self._reshape(node, node.args)
            return
        name = self.view.text(function) if function.end_lineno == function.lineno else "something"
        last = name.rpartition(".")[2]
        unread = "which was not read"
        if resolution is None and "." in name:
            unread = "which is not among the methods known to capture alike"
        why = _CALLS.get(last, unread) if resolution is None or "." in name else unread
        owner.doubt(node, f"`forward` calls `{name}`, {why}")
