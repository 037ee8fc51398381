"""Whether a function does the same compiled by TorchScript and run as Python, read from its body.

What was not read, or is known to differ, becomes a doubt that names it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.analysis.places.order import leaves
from torchlift.rules.analysis.values.number_ranges import COUNT, SIZE, Range, asserted, combined, steps
from torchlift.rules.analysis.values.type_comments import comment_types
from torchlift.rules.torchscript.facts.value_kinds import (
    NUMBERS,
    TENSORS,
    is_dict_view,
    is_tensor_annotation,
    shown,
)
from torchlift.rules.torchscript.functions.known_differences import list_uses, may_wrap, of_whole
from torchlift.rules.torchscript.functions.script_only_methods import script_only_methods
from torchlift.rules.torchscript.functions.scripted_calls import CallReader
from torchlift.rules.torchscript.functions.scripted_expressions import (
    Differs,
    FunctionFacts,
    FunctionNode,
    NotRead,
)
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_IN_PLACE = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_ANEW = "TorchScript makes another tensor, and whoever handed it in does not see the change"
# Run on torch 2.13.0, 2026-11-27; `//=` is refused.
_OTHERWISE: Mapping[type[ast.operator], str] = {
    ast.Mod: "TorchScript keeps the sign of what is divided (`fmod`), and Python takes the divisor's (`remainder`)",
    ast.Pow: _ANEW,
    ast.BitAnd: _ANEW,
    ast.BitOr: _ANEW,
    ast.BitXor: _ANEW,
}


def read_function(
    view: ModuleView,
    node: FunctionNode,
    project: Project,
    own: Mapping[str, str] | None = None,
    *,
    known_only: bool = False,
) -> FunctionFacts:
    """Facts about the function that `node` defines.

    Args:
        view: its file.
        node: the function.
        project: the project.
        own: for a method, the kinds of the attributes of `self`: `tensor`, `int`, `float`, `bool`, or `module` for what
            gives a tensor when it is called with tensors.
        known_only: whether only what was measured to differ is a doubt. What is passed is not looked at then.
    """
    return _read(view, node, project, 0, own, known_only)


def tensor_parameters(view: ModuleView, node: FunctionNode, *, method: bool = False) -> list[str]:
    """Clauses about parameters that are not plain tensors, which TorchScript checks, converts or copies."""
    arguments = node.args
    doubts = []
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        doubts.append(f"`{node.name}` takes more than positional parameters")
    comments = comment_types(view, node)
    if comments is None:
        doubts.append(f"`{node.name}` has types in comments that were not read")
    for argument in [*arguments.posonlyargs, *arguments.args][1 if method else 0 :]:
        written = (comments or {}).get(argument.arg)
        if argument.annotation is not None:
            known = is_tensor_annotation(view, argument.annotation)
            written = None if known else view.text(argument.annotation)
        if written is not None:
            doubts.append(f"`{argument.arg}` of `{node.name}` is annotated `{written}`: {_conversion(written)}")
    if arguments.defaults and not doubts:
        doubts.append(f"`{node.name}` has defaults, so not all of its parameters are tensors")
    return doubts


def _conversion(annotation: str) -> str:
    if "Optional" in annotation or "None" in annotation:
        return "scripting checked what was passed"
    if any(word in annotation for word in ("List", "list", "Dict", "dict")):
        return "scripting copied what was passed, so changes in the function were not seen outside"
    if "float" in annotation:
        return "scripting turned an int that was passed into a float"
    if annotation == "int":
        return "scripting made an int of 64 bits of what was passed, or refused it"
    return "scripting checked what was passed"


def _read(
    view: ModuleView,
    node: FunctionNode,
    project: Project,
    depth: int,
    own: Mapping[str, str] | None = None,
    known_only: bool = False,
) -> FunctionFacts:
    reader = _Body(view, node, project, depth, own, known_only)
    facts = reader.facts
    if isinstance(node, ast.AsyncFunctionDef):
        facts.doubts.append(f"`{node.name}` is asynchronous")
        return facts
    if not known_only:
        facts.doubts += tensor_parameters(view, node, method=own is not None)
    reader.block(node.body)
    facts.doubts += (*of_whole(view, node), *list_uses(view, node, reader.lists)) if known_only else _unused(node)
    facts.fails += script_only_methods(view, node)
    results = set(reader.results)
    facts.result = results.pop() if len(results) == 1 else "tensor" if results == TENSORS else None
    return facts


def _unused(node: FunctionNode) -> list[str]:
    """Variables that are computed and never read: TorchScript leaves the computation out, with the errors it may raise."""
    names = [child for child in walk(node) if isinstance(child, ast.Name)]
    read = {name.id for name in names if isinstance(name.ctx, ast.Load)}
    read |= {
        child.target.id
        for child in walk(node)
        if isinstance(child, (ast.AugAssign, ast.For)) and isinstance(child.target, ast.Name)
    }
    unpacked = {
        element.id
        for child in walk(node)
        if isinstance(child, (ast.Tuple, ast.List)) and isinstance(child.ctx, ast.Store)
        for element in child.elts
        if isinstance(element, ast.Name)
    }
    unused = sorted({name.id for name in names if isinstance(name.ctx, ast.Store)} - read - unpacked)
    return [f"`{name}` of `{node.name}` is never used, and TorchScript does not compute it" for name in unused[:1]]


@dataclass(frozen=True)
class _Called:
    """The question what a function does that others call: who calls it makes no difference but by how deep it is called."""

    node: ast.FunctionDef
    depth: int
    known_only: bool

    def __call__(self, project: Project, home: ModuleView) -> FunctionFacts:
        return _read(home, self.node, project, self.depth, None, self.known_only)


class _Body(CallReader):
    """Reads the statements of one function."""

    def called_function(self, home: ModuleView, definition: ast.FunctionDef) -> FunctionFacts:
        """Facts about another function of the project, which this one calls."""
        return self.project.of_view(_Called(definition, self.depth + 1, self.known_only), home)

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            try:
                self._statement(statement)
            except NotRead as doubt:
                if isinstance(doubt, Differs) or not self.known_only:
                    self.doubt(statement, str(doubt))
                self._forget(statement)
                if self.known_only:
                    self._pass_over(statement)

    def _pass_over(self, statement: ast.stmt) -> None:
        """What is in a statement that was not read as a whole; a name is bound to what is not known."""
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return
        self.parts(statement)
        loop = isinstance(statement, (ast.For, ast.While, ast.AsyncFor))
        self.loops += loop
        for block in ("body", "orelse", "finalbody"):
            self.block(getattr(statement, block, []))
        self.loops -= loop

    def _forget(self, statement: ast.stmt) -> None:
        """What a statement that was not understood binds is taken for a tensor, so that each cause is told once."""
        for child in walk(statement):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                self.kinds[child.id] = "unknown"
                self.ranges.pop(child.id, None)

    def _statement(self, node: ast.stmt) -> None:
        self.whole = node.value if isinstance(node, (ast.Expr, ast.Assign, ast.Return)) else None
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return
            case ast.Return(value=None):
                raise NotRead("the function returns early without a value")
            case ast.Return(value=ast.expr() as value):
                self.results.append(self._result(value))
            case ast.Assign(targets=[target], value=value):
                self._assign(target, value)
            case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
                if not is_tensor_annotation(self.view, node.annotation):
                    raise NotRead("the function declares a variable that is no tensor")
                self._assign(target, value)
            case ast.AugAssign():
                self._augmented(node)
            case ast.If():
                self.condition(node.test)
                self._branches(node)
            case ast.While():
                self._loop_body(node, [*node.body, *node.orelse])
                self.condition(node.test)
            case ast.For(target=ast.Name() as target):
                self._for(node, target)
            case ast.Assert() | ast.Raise():
                if isinstance(node, ast.Assert) and not self.loops and (held := asserted(node.test)) is not None:
                    self._bound(*held)
                self.facts.raises = self.facts.raises or node.lineno
                raise NotRead(
                    "an error that the function raises is a `torch.jit.Error` when scripted and its own class in Python"
                )
            case ast.Expr(value=ast.Call() as call):
                self.kind(call)
            case _:
                raise NotRead("the function holds a statement that was not read")

    def _result(self, value: ast.expr) -> str:
        if isinstance(value, ast.Tuple):
            for element in value.elts:
                self._part_of_result(element)
            return "tuple"
        kind = self.kind(value)
        if kind == "float":
            self.reached(value, value)
        if kind in {"shape", "tensors"} or (self.known_only and is_dict_view(self.view, value)):
            self.facts.sequence = self.facts.sequence or value.lineno
        if kind == "unknown":
            return kind
        if kind not in TENSORS:
            raise NotRead(f"the function returns {shown(kind)}, which scripting may hand out as another type")
        return kind

    def _part_of_result(self, value: ast.expr) -> None:
        try:
            self._result(value)
        except NotRead as doubt:
            if isinstance(doubt, Differs) or not self.known_only:
                raise

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value)
            return
        kind = self.kind(value)
        if isinstance(target, ast.Name):
            self.kinds[target.id] = kind
            self.sources[target.id] = self.sources_of(value) if kind in NUMBERS | {"unknown"} else frozenset()
            self._bound(target.id, self.range(value) if kind in NUMBERS else None)
            (self.constants.add if self.is_constant(value) else self.constants.discard)(target.id)
        elif isinstance(target, ast.Subscript):
            self._element(target)
            if kind not in TENSORS | NUMBERS | {"unknown"}:
                raise NotRead(f"the function stores {shown(kind)} into a tensor")
        else:
            raise NotRead("the function sets an attribute")

    def _unpack(self, target: ast.Tuple | ast.List, value: ast.expr) -> None:
        names = [element.id for element in target.elts if isinstance(element, ast.Name)]
        if len(names) != len(target.elts):
            raise NotRead("the function unpacks into something that was not read")
        if isinstance(value, ast.Tuple) and len(value.elts) == len(names):
            kinds = [self.kind(element) for element in value.elts]
            bounds = [self.range(e) if k in NUMBERS else None for e, k in zip(value.elts, kinds, strict=True)]
        else:
            whole = self.kind(value)
            each = {"tensors": "tensor", "pair": "tensor", "shape": "int", "tuple": "tensor", "unknown": "unknown"}
            if whole not in each:
                raise NotRead(f"the function unpacks {shown(whole)}")
            kinds = [each[whole]] * len(names)
            bounds = [SIZE if whole == "shape" else None] * len(names)
        sources = self.sources_of(value)
        for name, bound in zip(names, bounds, strict=True):
            self._bound(name, bound)
            self.sources[name] = sources
        self.kinds |= dict(zip(names, kinds, strict=True))

    def _bound(self, name: str, bounds: Range | None) -> None:
        if bounds is None:
            self.ranges.pop(name, None)
        else:
            self.ranges[name] = bounds

    def _augmented(self, node: ast.AugAssign) -> None:
        value = self.kind(node.value)
        self.identity(node, node.op, "tensor", value, node.value)
        if isinstance(node.target, ast.Subscript):
            self._element(node.target)
            target = "tensor"
        elif isinstance(node.target, ast.Name):
            target = self.kind(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
        else:
            raise NotRead("the function sets an attribute")
        if target in TENSORS | {"unknown"} and type(node.op) in _OTHERWISE:
            raise Differs(f"where a tensor is changed by `{self.text(node)}`, {_OTHERWISE[type(node.op)]}")
        if target in TENSORS:
            self.in_place(node)
        if "unknown" in {target, value}:
            return
        if target in TENSORS and value in TENSORS | NUMBERS and isinstance(node.op, _IN_PLACE):
            return
        if target in TENSORS:
            raise Differs(f"`{self.text(node)}` was not found to do the same in TorchScript")
        if target == value == "int" and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
            assert isinstance(node.target, ast.Name)
            name = node.target.id
            before, by = self.ranges.get(name), self.range(node.value)
            after = combined(node.op, before, by) if before is not None and by is not None else None
            if after is not None and after.fits():
                self.ranges[name] = after
                return
            reason = f"`{self.text(node)}` may outgrow 64 bits, where TorchScript wraps around"
            raise Differs(reason) if may_wrap(node, in_loop=self.loops > 0) else NotRead(reason)
        raise NotRead(f"`{self.text(node)}` was not found to do the same in TorchScript")

    def _element(self, target: ast.Subscript) -> None:
        """The target of a store into a tensor."""
        self.in_place(target)
        if self.kind(target.value) not in TENSORS | {"unknown"}:
            raise NotRead("the function stores into something that is no tensor")
        self.index(target.slice)

    def _branches(self, node: ast.If) -> None:
        before, bounds = dict(self.kinds), dict(self.ranges)
        self.block(node.body)
        first, self.kinds = self.kinds, dict(before)
        ranges, self.ranges = self.ranges, bounds
        self.block(node.orelse)
        if leaves(node.body):
            return
        if leaves(node.orelse):
            self.kinds, self.ranges = first, ranges
            return
        self.ranges = {name: ranges[name].joined(self.ranges[name]) for name in ranges.keys() & self.ranges.keys()}
        second, self.kinds = self.kinds, {}
        for name in sorted(first.keys() & second.keys()):
            self.kinds[name] = self._joined(node, name, first[name], second[name])

    def _joined(self, node: ast.AST, name: str, left: str, right: str) -> str:
        """Kind of a variable where two ways through the function meet."""
        if left == right:
            return left
        if {left, right} == TENSORS:
            return "tensor"
        if "unknown" not in {left, right} and not self.known_only:
            self.doubt(node, f"`{name}` is {shown(left)} or {shown(right)}")
        return "unknown"

    def _in_loop(self, stored: set[str], counters: dict[str, Range]) -> None:
        """Nothing is known of the numbers that a loop computes from one another, but that no count gets far."""
        for name in stored:
            before = counters.get(name)
            self._bound(name, Range(before.low - COUNT.high, before.high + COUNT.high) if before is not None else None)

    def _loop_body(
        self, node: ast.stmt, statements: list[ast.stmt], counter: tuple[str, Range | None] | None = None
    ) -> None:
        self.branch(node)
        for child in walk(node):
            # What the loop assigns may be a tensor of integers by the second time round.
            if (
                isinstance(child, ast.Name)
                and isinstance(child.ctx, ast.Store)
                and self.kinds.get(child.id) == "floating"
            ):
                self.kinds[child.id] = "tensor"
        before = dict(self.kinds)
        stored = _stored(statements)
        counters = {name: self.ranges[name] for name in stored & self.ranges.keys() if _only_counts(statements, name)}
        self._in_loop(stored, counters)
        if counter is not None:
            self._bound(*counter)
        self.loops += 1
        self.block(statements)
        self.loops -= 1
        self._in_loop(stored | ({counter[0]} if counter is not None else set()), counters)
        for name, kind in before.items():
            self.kinds[name] = self._joined(node, name, kind, self.kinds.get(name, kind))

    def _for(self, node: ast.For, target: ast.Name) -> None:
        if isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name) and node.iter.func.id == "range":
            if any(self.kind(argument) not in {"int", "unknown"} for argument in node.iter.args):
                raise NotRead("the function loops over a range of something that is no number of steps")
            self.kinds[target.id] = "int"
            bounds = steps([self.range(argument) for argument in node.iter.args])
        else:
            if self.kind(node.iter) not in TENSORS:
                raise NotRead("the function loops over something that was not read")
            if _changes_in_place(node):
                raise NotRead("the function changes tensors in place while it loops over one")
            self.kinds[target.id] = "tensor"
            bounds = None
        self._loop_body(node, [*node.body, *node.orelse], (target.id, bounds))


def _stored(statements: list[ast.stmt]) -> set[str]:
    return {
        child.id
        for statement in statements
        for child in walk(statement)
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)
    }


def _only_counts(statements: list[ast.stmt], name: str) -> bool:
    """Whether a loop changes a number only in steps of one."""
    stores = 0
    counts = 0
    for statement in statements:
        for child in walk(statement):
            match child:
                case ast.AugAssign(target=ast.Name(id=other), op=ast.Add() | ast.Sub(), value=ast.Constant(value=1)):
                    counts += other == name
                case ast.Name(id=other, ctx=ast.Store()):
                    stores += other == name
    return stores == counts


def _changes_in_place(node: ast.AST) -> bool:
    for child in walk(node):
        if isinstance(child, ast.AugAssign):
            return True
        if isinstance(child, ast.Subscript) and isinstance(child.ctx, ast.Store):
            return True
        if isinstance(child, ast.Attribute) and child.attr.endswith("_") and not child.attr.endswith("__"):
            return True
    return False
