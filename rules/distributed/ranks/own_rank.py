"""What is the rank of the process itself, and which tests come out differently from rank to rank.

There are two strengths. `proven` is what is followed through names, attributes and small functions to `get_rank()`, to a
variable that a launcher sets, or to the index of a spawned process: a parameter called `rank` may be anybody's, and most
tests with that word in them come out alike everywhere. `plausible` goes by names too: it withholds fixes, where a doubt is
enough.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Literal

from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.places.order import running
from torchlift.rules.analysis.values.environment_reads import environment_read
from torchlift.rules.analysis.values.parameter_values import is_spawned_index
from torchlift.rules.analysis.values.trace_back import TraceBack
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.rules.distributed.facts.launchers import OWN_NUMBERS
from torchlift.view import ModuleView
from torchlift.view.walk import walk

Strength = Literal["proven", "plausible"]
Kind = Literal["number", "text"]
"""Whether the rank is a number, or still the text of an environment variable."""

_Origin = Literal["number", "text", "constant", "unknown"]

_GETTERS = frozenset({"torch.distributed.get_rank", "torch.distributed.get_node_local_rank"})
# `rank`, `global_rank`, `self.rank`: a parameter or attribute of that name is nobody else's.
_NAME = lazy_pattern(r"_?(?:global_|local_|my_|node_|dist_|world_)?rank(?:_id)?")
_DEEPEST = 6


def own_rank(view: ModuleView, node: ast.expr, strength: Strength) -> Kind | None:
    """Whether `node` is computed from the rank of the process it runs in, as a number or as text; None if not known."""
    lattice = _Proven if strength == "proven" else _Plausible
    origin = lattice(view, None, node).of(node)
    match origin:
        case "number" | "text":
            return origin
    return None


def differs_by_rank(view: ModuleView, test: ast.expr, strength: Strength, depth: int = 0) -> bool:
    """Whether a test asks for the own rank, so that it can be true on one rank and false on another.

    Questions that are answered alike everywhere (`rank != -1`, `rank is None`, `rank < world_size`) are not meant.
    """
    if depth > _DEEPEST:
        return False
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return differs_by_rank(view, operand, strength, depth + 1)
        case ast.BoolOp(values=values):
            return any(differs_by_rank(view, value, strength, depth + 1) for value in values)
        case ast.Compare():
            return _comparison_differs(view, test, strength)
        case ast.Call(func=ast.Name() as name, args=[], keywords=[]):
            returned = list(_returns(view, name))
            if (
                len(returned) == 1
                and returned[0] is not None
                and differs_by_rank(view, returned[0], strength, depth + 1)
            ):
                return True
        case ast.Name():
            value = assigned_value(view, test)
            if isinstance(value, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
                return differs_by_rank(view, value, strength, depth + 1)
    # The text of a variable is true wherever it is set.
    return own_rank(view, test, strength) == "number"


def _comparison_differs(view: ModuleView, test: ast.Compare, strength: Strength) -> bool:
    operands = [test.left, *test.comparators]
    if any(isinstance(operator, (ast.Is, ast.IsNot)) for operator in test.ops):
        return False
    ours = [operand for operand in operands if own_rank(view, operand, strength)]
    others = [operand for operand in operands if not any(operand is own for own in ours)]
    if isinstance(test.ops[0], (ast.In, ast.NotIn)) and not any(test.left is own for own in ours):
        return False
    if not ours or not others:
        return bool(ours) and strength == "plausible"  # what is called a rank may be another one
    if any(_same_answer_everywhere(view, other) for other in others):
        return False
    first, second = test.ops[0], others[0]
    zero = isinstance(second, ast.Constant) and second.value == 0
    # `rank >= 0` and `rank < 0` ask whether there is a rank at all.
    return not (zero and isinstance(first, (ast.GtE, ast.Lt)) and len(operands) == 2 and second is operands[1])


def _same_answer_everywhere(view: ModuleView, other: ast.expr) -> bool:
    """Whether comparing a rank with `other` only tells whether the program is distributed at all."""
    match other:
        case ast.UnaryOp(op=ast.USub()):
            return True
        case ast.Constant(value=value):
            return value is None or value in ("", "-1")
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return all(_same_answer_everywhere(view, element) for element in elements)
        case ast.Call(func=function):
            return view.possible_name(function) == "torch.distributed.get_world_size"
        case ast.Name():
            assigned = assigned_value(view, other)
            return isinstance(assigned, ast.Call) and _same_answer_everywhere(view, assigned)
        case _:
            return False


class _Proven(TraceBack[_Origin]):
    unknown = "unknown"

    def says(self, node: ast.expr, depth: int) -> _Origin | None:
        match node:
            case ast.Constant() | ast.UnaryOp():
                return "constant"
            case ast.Call(func=ast.Name(id="int"), args=[inner, *_]):
                return "number" if self._is_ours(inner, depth) else "unknown"
            case ast.Call(func=ast.Name(id="str"), args=[inner]):
                return "text" if self._is_ours(inner, depth) else "unknown"
            case ast.BinOp(left=left, right=right):
                return "number" if self._is_ours(left, depth) or self._is_ours(right, depth) else "unknown"
            case ast.IfExp(body=one, orelse=other):
                return self.merged([self.of(one, depth + 1), self.of(other, depth + 1)])
            case ast.BoolOp(op=ast.Or(), values=values):
                return self.merged([self.of(value, depth + 1) for value in values])
            case ast.Call(func=function) if self.view.possible_name(function) in _GETTERS:
                return "number"
        read = environment_read(self.view, node)
        if read is None:
            return None
        return "text" if read.variable in OWN_NUMBERS else "unknown"

    def _is_ours(self, node: ast.expr, depth: int) -> bool:
        return self.of(node, depth + 1) in {"number", "text"}

    def merged(self, values: Iterable[_Origin]) -> _Origin:
        # `rank = 0` stands in for the rank of a program that is not distributed.
        different = set(values)
        return super().merged(different - {"constant"} or different)

    def of_parameter(self, parameter: ast.arg, depth: int) -> _Origin:
        return "number" if is_spawned_index(self.view, parameter) else "unknown"

    def of_stored(self, node: ast.Attribute, depth: int) -> _Origin:
        return self._all(_stored_values(self.view, node), depth)

    def of_call(self, node: ast.Call, depth: int) -> _Origin:
        if node.args or node.keywords or not isinstance(node.func, ast.Name):
            return "unknown"
        return self._all(_returns(self.view, node.func), depth)

    def _all(self, values: Iterable[ast.expr | None], depth: int) -> _Origin:
        return self.merged([self.elsewhere(value, depth) if value is not None else "unknown" for value in values])


class _Plausible(_Proven):
    def says(self, node: ast.expr, depth: int) -> _Origin | None:
        match node:
            case ast.Attribute(attr=name) if _NAME.fullmatch(name):
                return "number"
            case ast.Call(func=ast.Attribute(attr="get_rank"), args=[]):
                return "number"
            case ast.Call(func=function, args=arguments):
                name = self.view.possible_name(function)
                if name == "torch.distributed.get_group_rank" or (name.endswith(".get_rank") and not arguments):
                    return "number"
        return super().says(node, depth)

    def of_name(self, node: ast.Name, depth: int) -> _Origin:
        binding = self.view.definition(node)
        if (binding is None or isinstance(binding.node, ast.arg)) and _NAME.fullmatch(node.id):
            return "number"
        return super().of_name(node, depth)


def _returns(view: ModuleView, name: ast.Name) -> Iterator[ast.expr | None]:
    """What the function of this file that a name stands for returns; None for a bare `return`."""
    binding = view.definition(name)
    function = binding.node if binding is not None else None
    for node in running(function.body if isinstance(function, ast.FunctionDef) else ()):
        if isinstance(node, ast.Return):
            yield node.value


def _stored_values(view: ModuleView, node: ast.Attribute) -> Iterator[ast.expr | None]:
    """What the file assigns to the same dotted name; for `self`, in the same class."""
    text = ast.unparse(node)
    area: ast.AST = view.tree
    if text.startswith("self."):
        area = view.class_of(node) or view.tree
    for store in walk(area):
        if not isinstance(store, ast.Attribute) or isinstance(store.ctx, ast.Load) or ast.unparse(store) != text:
            continue
        statement = view.statement(store)
        simple = isinstance(statement, (ast.Assign, ast.AnnAssign)) and view.parent(store) is statement
        yield statement.value if simple and isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
