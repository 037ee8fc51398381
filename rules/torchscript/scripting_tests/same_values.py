"""Whether two expressions of a test have the same value by their making, once nothing is scripted."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from functools import cached_property

from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.torchscript.scripting_tests.scripted_values import ScriptedValues
from torchlift.view import Binding
from torchlift.view.walk import walk

DRAWS = frozenset(
    """rand randn randint randperm rand_like randn_like randint_like normal bernoulli multinomial empty empty_like dropout
    manual_seed seed uniform choice""".split()
)
"""Functions that give another value each time."""
_PURE = frozenset(
    """abs all any bool dict enumerate float frozenset int len list max min range reversed round set sorted str sum tuple
    zip""".split()
)
_LIBRARIES = ("torch.", "numpy.", "math.", "operator.")
COPIES = frozenset({"clone", "deepcopy", "copy", "detach", "contiguous", "requires_grad_"})
# Methods whose call as a statement leaves what a later call computes as it is, as far as a test of scripting can mean.
_HARMLESS = frozenset({"eval", "train", "to", "cuda", "cpu", "append", "seek", "zero_grad"})
# Methods of any value that give another form of it.
_CONVERTS = lazy_pattern(r"(?:to|as)_[a-z]+$|(?:items|keys|values|numpy|tolist|float|double|long|size)$")
_DEPTH = 25


class SameValues:
    """Compares expressions of one function by how they are made; a scripted value is what it was made from.

    Calls are the same only where that is sure to give the same: of what is scripted somewhere in the function, of a
    function of torch that draws no numbers, of methods of such values. Changes of a value in between count.
    """

    def __init__(self, values: ScriptedValues) -> None:
        self._values = values
        self._view = values.view
        self._asking: set[int] = set()

    @cached_property
    def subjects(self) -> frozenset[Hashable]:
        """What is scripted somewhere in the function."""
        found = {self._path(captured) for captured in self._values.makers.values()}
        found |= {("param", name) for name in self._values.given}
        for node in walk(self._values.function):
            if isinstance(node, ast.Call) and self._values.helper(node) is not None:
                found |= {self._path(argument) for argument in node.args}
        return frozenset(found - {None})

    @cached_property
    def _made(self) -> frozenset[str]:
        """What is scripted where it is made: another one that is made in the same words is as good."""
        return frozenset(
            ast.dump(captured)
            for captured in self._values.makers.values()
            if isinstance(captured, ast.Call) and self._values.original(captured) is None
        )

    def is_subject(self, node: ast.expr) -> bool:
        """Whether `node` is what is scripted somewhere in the function, or the scripted value."""
        return self._values.original(node) is not None or self._path(node) in self.subjects

    def same(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether both have the same value."""
        return self.key(one) == self.key(other)

    def _path(self, node: ast.expr) -> Hashable:
        """A name or dotted name by what it is bound to, whatever was done with it; None for others."""
        original = self._values.original(node)
        if original is not None and original is not node:
            return self._path(original)
        if isinstance(node, ast.Attribute):
            base = self._path(node.value)
            return ("attribute", base, node.attr) if base is not None else None
        if isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Constant, ast.Name)):
            base = self._path(node.value)
            return ("item", base, ast.dump(node.slice)) if base is not None else None
        if isinstance(node, ast.Call) and ast.dump(node) in self._made:
            return ("made", ast.dump(node))
        if not isinstance(node, ast.Name):
            return None
        if node.id in self._values.given:
            return ("param", node.id)
        binding = self._view.definition(node)
        if binding is not None:
            value = binding.value if binding.kind == "assign" else None
            if isinstance(value, (ast.Name, ast.Attribute)):
                return self._path(value)
            if isinstance(value, ast.Call) and ast.dump(value) in self._made:
                return ("made", ast.dump(value))
            return ("bound", id(binding.node))
        bound = frozenset(id(other.node) for other in self._bindings(node))
        return ("bound", bound) if bound else ("global", node.id)

    def _bindings(self, node: ast.Name) -> tuple[Binding, ...]:
        return self._view.bindings_of(node, self._view.scope_at(node))

    def key(self, node: ast.AST, depth: int = 0, *, argument: bool = False) -> Hashable:
        """Equal for two expressions that have the same value."""
        if depth > _DEPTH:
            return ("node", id(node))
        if isinstance(node, ast.expr):
            original = self._values.original(node)
            if original is not None and original is not node:
                return self.key(original, depth + 1)
        match node:
            case ast.Constant():
                return ("constant", repr(node.value))
            case ast.Name():
                return self._name(node, depth)
            case ast.Attribute():
                return ("attribute", self.key(node.value, depth + 1), node.attr, self._version(node))
            case ast.Call():
                return self._call(node, depth, argument=argument)
            case ast.Starred():
                return ("starred", self.key(node.value, depth + 1, argument=argument))
            case ast.Lambda() | ast.Await() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr():
                return ("node", id(node))
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return ("node", id(node))
            case ast.expr() | ast.keyword() | ast.Slice():
                parts = []
                for field, value in ast.iter_fields(node):
                    items = value if isinstance(value, list) else [value]
                    parts.append(
                        (
                            field,
                            *(
                                self.key(i, depth + 1, argument=argument) if isinstance(i, ast.AST) else i
                                for i in items
                            ),
                        )
                    )
                return (type(node).__name__, *parts, self._version(node) if isinstance(node, ast.Subscript) else 0)
        return (type(node).__name__,)

    def _name(self, node: ast.Name, depth: int) -> Hashable:
        binding = self._view.definition(node)
        if binding is None:
            bindings = self._bindings(node)
            if not bindings:
                return ("global", node.id)
            if (either := self._either(bindings, depth)) is not None:
                return (*either, self._version(node))
            lines = sorted(getattr(other.node, "lineno", 0) for other in bindings)
            return ("bound", tuple(lines), sum(line < node.lineno for line in lines), self._version(node))
        if binding.kind == "assign" and binding.value is not None and self._repeats(binding.value):
            return self.key(binding.value, depth + 1)
        element = self._element(binding.node, depth)
        return element if element is not None else ("bound", id(binding.node), self._version(node))

    def _either(self, bindings: tuple[Binding, ...], depth: int) -> tuple[Hashable, ...] | None:
        """What a name is bound to in each of several blocks, if all of that is known."""
        found: list[Hashable] = []
        for one in bindings:
            if not isinstance(one.node, ast.Name) or id(one) in self._asking:
                return None
            self._asking.add(id(one))
            direct = one.kind == "assign" and one.value is not None and self._repeats(one.value)
            key = self.key(one.value, depth + 1) if direct and one.value else self._element(one.node, depth)
            self._asking.discard(id(one))
            if key is None:
                return None
            found.append((id(self._view.block(self._view.statement(one.node))), key))
        return ("either", frozenset(found))

    def _element(self, target: ast.AST, depth: int) -> Hashable:
        """A name from an unpacked value, or one that a loop runs through, by its place in that."""
        places: list[int] = []
        parent = self._view.parent(target)
        while isinstance(parent, (ast.Tuple, ast.List)):
            places.insert(0, next(index for index, item in enumerate(parent.elts) if item is target))
            target, parent = parent, self._view.parent(parent)
        if isinstance(parent, ast.Assign):
            value = parent.value
            while places and isinstance(value, (ast.Tuple, ast.List)) and places[0] < len(value.elts):
                value = value.elts[places.pop(0)]
            if not self._repeats(value):
                return None
            key = self.key(value, depth + 1)
            return ("element", tuple(places), key) if places else key
        if not isinstance(parent, (ast.For, ast.AsyncFor, ast.comprehension)) or not places:
            return None
        match parent.iter:
            case ast.Call(func=ast.Name(id="enumerate"), args=[source]):
                if places.pop(0) == 0:
                    return None
            case source:
                pass
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "zip" and places:
            index = places.pop(0)
            if index < len(source.args):
                return ("each", id(parent), self.key(source.args[index], depth + 1), tuple(places))
        return None

    def _call(self, node: ast.Call, depth: int, *, argument: bool) -> Hashable:
        if isinstance(node.func, ast.Attribute) and node.func.attr in COPIES and argument and not node.args:
            return self.key(node.func.value, depth + 1, argument=True)
        name = self._view.possible_name(node.func).rpartition(".")[2]
        if argument and name in {"deepcopy", "copy"} and len(node.args) == 1:
            return self.key(node.args[0], depth + 1, argument=True)
        if not self._repeats(node):
            return ("node", id(node))
        if (handed_on := self._handed_on(node)) is not None:
            called, arguments = handed_on
            passed = tuple(self.key(item, depth + 1, argument=True) for item in arguments)
            return ("call", self.key(called, depth + 1), passed, self._version(node))
        function = self._path(node.func) if self.is_subject(node.func) else self.key(node.func, depth + 1)
        given = tuple(self.key(item, depth + 1, argument=True) for item in (*node.args, *node.keywords))
        return ("call", function, given, self._version(node))

    def _handed_on(self, node: ast.Call) -> tuple[ast.expr, list[ast.expr]] | None:
        """What a call of a function of the test calls with what it is given, if the function does nothing else."""
        binding = self._view.definition(node.func)
        function = binding.node if binding is not None else None
        if not isinstance(function, ast.FunctionDef) or self._view.function_of(function) is not self._values.function:
            return None
        own = [parameter.arg for parameter in function.args.args]
        plain = len(own) == len(list(ast.iter_child_nodes(function.args))) == len(node.args) and not node.keywords
        match function.body:
            case [ast.Return(value=ast.Call(func=called, args=arguments, keywords=[]))] if plain:
                names = [argument.id if isinstance(argument, ast.Name) else None for argument in arguments]
                if all(name in own for name in names) and len(set(names)) == len(names):
                    return called, [node.args[own.index(name)] for name in names if name is not None]
        return None

    def _repeats(self, node: ast.expr) -> bool:
        """Whether `node` gives the same value each time."""
        match node:
            case ast.Call(func=function):
                if self.is_subject(function):
                    return True
                if isinstance(function, ast.Attribute):
                    if function.attr in DRAWS:
                        return False
                    if self.is_subject(function.value):
                        return True
                name = self._view.possible_name(function)
                if name.startswith(_LIBRARIES):
                    return name.rpartition(".")[2] not in DRAWS and not name.startswith(
                        ("torch.nn.", "numpy.random.", "torch.random.")
                    )
                if isinstance(function, ast.Name):
                    return function.id in _PURE and not self._bindings(function)
                if isinstance(function, ast.Attribute):
                    if isinstance(function.value, ast.Name):
                        return _CONVERTS.match(function.attr) is not None
                    return self._repeats(function.value)
                return self._repeats(function)
            case ast.Name():
                binding = self._view.definition(node)
                return binding is not None and (binding.value is None or self._repeats(binding.value))
            case ast.Attribute() | ast.Subscript() | ast.Starred():
                return self._repeats(node.value)
            case ast.Constant():
                return True
            case ast.Tuple() | ast.List():
                return all(self._repeats(item) for item in node.elts)
            case ast.BinOp():
                return self._repeats(node.left) and self._repeats(node.right)
            case ast.UnaryOp():
                return self._repeats(node.operand)
        return False

    # Changes

    def _version(self, node: ast.expr) -> int:
        """How many changes of what `node` is made of stand in front of it."""
        roots = {
            self._path(child) for child in walk(node) if isinstance(child, (ast.Name, ast.Attribute)) and child.lineno
        } - {None}
        return sum(line < node.lineno and (root is None or root in roots) for root, line, _ in self.changes)

    def changed_between(self, node: ast.expr, first: int, last: int) -> int | None:
        """Line of a change of the plain `node`, not of its scripted version, behind the line `first`, up to `last`."""
        path = self._path(node)
        return next(
            (line for root, line, scripted in self.changes if root == path and not scripted and first < line <= last),
            None,
        )

    def shared_change(self, node: ast.expr, first: int) -> int | None:
        """Line behind `first` on which the scripted version changes, if the plain `node` is looked at behind that."""
        path = self._path(node)
        if path is None:
            return None
        reads = [
            child.lineno
            for child in walk(self._values.function)
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load) and self._values.original(child) is None
            if self._path(child) == path
        ]
        lines = (line for root, line, scripted in self.changes if root == path and scripted and line > first)
        return next((line for line in lines if any(read > line for read in reads)), None)

    @cached_property
    def changes(self) -> list[tuple[Hashable, int, bool]]:
        """What is changed in place, on which line, and whether by its scripted version; None is everything."""
        found: list[tuple[Hashable, int, bool]] = []
        for node in walk(self._values.function):
            match node:
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=value, attr=attr))) if attr not in _HARMLESS:
                    # An optimizer knows the parameters of a module.
                    root, scripted = self._changed(value)
                    found.append((None if attr == "step" else root, node.lineno, scripted))
                case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                    root, scripted = self._changed(node.value)
                    found.append((root, node.lineno, scripted))
                case ast.AugAssign(target=ast.Name() as target):
                    found.append((self._path(target), node.lineno, False))
        return found

    def _changed(self, node: ast.expr) -> tuple[Hashable, bool]:
        scripted = any(isinstance(n, ast.expr) and self._values.original(n) is not None for n in walk(node))
        while self._path(node) is None and isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
            node = node.func if isinstance(node, ast.Call) else node.value
        return self._path(node) or "unknown", scripted
