"""Branches and loops that data decides, as functions for `torch.cond` and `while_loop`: the form that can be exported.

A statement is written so only where a function can stand for it: it stores nothing but variables, and both branches store
the same. Which of the two forms a statement needs is seen when it runs: the helpers look at the condition.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torchlift.convert.archive.code import dotted
from torchlift.convert.translation.operators import called, name_of

_READS_DATA = frozenset(
    "bool int float annotate torch.item torch.is_nonzero torch.equal torch.allclose torch.Bool torch.Int torch.Float "
    "torch.IntImplicit torch.FloatImplicit".split()
)
_STAYS = (ast.Return, ast.Break, ast.Continue, ast.With, ast.FunctionDef, ast.Assert)
_WITHOUT_EFFECT = (ast.Pass, ast.Constant, ast.Name)

# By their names here, as those of the vocabulary; `as_truth` keeps what a tensor says in a tensor.
FLOW_HELPERS = {
    "by_data": '''
def by_data(value):
    """Whether only the data knows the value."""
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    return isinstance(value, Tensor) or (isinstance(value, (torch.SymInt, torch.SymBool)) and bool(free_unbacked_symbols(value)))
''',
    "as_truth": '''
def as_truth(value):
    """The truth of a tensor or a number; that of a tensor stays in one."""
    return value.reshape(()) != 0 if isinstance(value, Tensor) else bool(value)
''',
    "opposite": '''
def opposite(truth):
    """`not`, of a tensor too."""
    return torch.logical_not(truth) if isinstance(truth, Tensor) else torch.sym_not(truth)
''',
    "as_tensors": '''
def as_tensors(values):
    """Values as operators hand them on: numbers in tensors, and nothing that is something else under a second name."""
    return tuple(value.clone() if isinstance(value, Tensor) else as_tensor(value) for value in values)
''',
    "branch": '''
def branch(condition, then, otherwise):
    """What one of two functions returns."""
    if by_data(condition):
        return torch.cond(condition, lambda: as_tensors(then()), lambda: as_tensors(otherwise()))
    return then() if condition else otherwise()
''',
    "selected": '''
def selected(value, dimension, place):
    """One part of a tensor; a place in a tensor stays there."""
    if not isinstance(place, Tensor):
        return torch.select(value, dimension, place)
    place = torch.where(place < 0, place + value.size(dimension), place)
    return torch.index_select(value, dimension, place.reshape(1)).squeeze(dimension)
''',
    "demand": '''
def demand(condition, message):
    """Raises the message unless the condition holds."""
    if isinstance(condition, Tensor):
        torch.ops.aten._assert_async.msg(condition, message)
    elif by_data(condition):
        torch._check(condition, lambda: message)
    elif not condition:
        raise RuntimeError(message)
''',
    "loop": '''
def loop(again, step, carried):
    """Steps as long as there is to be another one."""
    from torch._higher_order_ops.while_loop import while_loop

    while not by_data(going := again(*carried)):
        if not going:
            return carried
        carried = step(*carried)
    test = lambda *values: as_tensors((again(*values),))[0]
    return while_loop(test, lambda *values: as_tensors(step(*values)), as_tensors(carried))
''',
    "repeat": '''
def repeat(count, step, carried):
    """As many steps; each knows its number. A number of steps that is a dynamic size is not counted out."""
    if not (by_data(count) or isinstance(count, torch.SymInt)):
        for number in range(count):
            carried = step(number, *carried)
        return carried
    end, start = as_tensor(count), torch.zeros((), dtype=torch.int64)
    steps = lambda number, *values: (number + 1, *step(number, *values))
    return loop(lambda number, *values: number < end, steps, (start, *carried))[1:]
''',
}
NEEDS = {
    "branch": ("by_data", "as_tensor", "as_tensors"),
    "demand": ("by_data", "opposite"),
    "loop": ("by_data", "as_tensor", "as_tensors"),
    "repeat": ("by_data", "as_tensor", "as_tensors", "loop"),
}


class DataFlow:
    """What one function's statements store and read, and which conditions hang on data.

    Args:
        node: the function, as the archive has it.
    """

    def __init__(self, node: ast.FunctionDef) -> None:
        self._node = node
        self._given = {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
        self._values: dict[str, list[ast.AST]] = {}
        self._tests: dict[str, list[ast.AST]] = {}
        for part in ast.walk(node):
            if isinstance(part, ast.Assign):
                for name in _stored([part]):
                    self._values.setdefault(name, []).append(part.value)
            elif isinstance(part, (ast.If, ast.While, ast.For)):
                for name in _stored([part]):
                    self._tests.setdefault(name, []).append(part.iter if isinstance(part, ast.For) else part.test)

    def hangs_on_data(self, test: ast.expr) -> bool:
        """Whether a condition may hang on what is in a tensor."""
        seen: set[str] = set()
        waiting: list[ast.AST] = [test]
        while waiting:
            for part in ast.walk(waiting.pop()):
                if isinstance(part, ast.Call) and dotted(part.func) in _READS_DATA:
                    return True
                if isinstance(part, ast.Name) and part.id not in seen:
                    seen.add(part.id)
                    waiting += [*self._values.get(part.id, []), *self._tests.get(part.id, [])]
        return False

    def outcome(self, node: ast.If) -> list[str] | None:
        """Variables that the statement hands on; None where no function can stand for its branches."""
        if not (_is_pure(node.body) and _is_pure(node.orelse)):
            return None
        here = _stored([node])
        read = self._read_outside(node)
        wanted = [name for name in here if name in read]
        both = set(_stored(node.body)) & set(_stored(node.orelse))
        own = _read_first(node.body, here) | _read_first(node.orelse, here)
        return wanted if wanted and not own and both >= set(wanted) else None

    def carried(self, node: ast.While | ast.For) -> list[str] | None:
        """Variables that go from step to step; None where no function can stand for the body."""
        if not _is_pure(node.body):
            return None
        outside = set(self._given)
        for name, values in self._values.items():
            inside = {id(part) for part in ast.walk(node)}
            if any(id(value) not in inside for value in values):
                outside.add(name)
        kept = [name for name in _stored(node.body) if name in outside]
        leaked = set(_stored(node.body)) - set(kept)
        return kept if kept and not leaked & self._read_outside(node) else None

    def _read_outside(self, node: ast.stmt) -> set[str]:
        inside = {id(part) for part in ast.walk(node)}
        return {
            part.id
            for part in ast.walk(self._node)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and id(part) not in inside
        }


def raised(block: Sequence[ast.stmt]) -> ast.expr | None:
    """The message of a block that raises and does nothing else."""
    for statement in block:
        value = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
        name = dotted(value.func) if isinstance(value, ast.Call) else None
        if name == "ops.prim.RaiseException" and isinstance(value, ast.Call):
            return value.args[0]
        harmless = isinstance(statement, ast.Pass) or name in ("uninitialized", "torch.format")
        if not (harmless or isinstance(value, _WITHOUT_EFFECT)):
            return None
    return None


def function(name: str, parameters: Sequence[str], body: list[ast.stmt], returned: ast.expr) -> ast.FunctionDef:
    """A function of a block."""
    arguments = ast.arguments([], [ast.arg(one) for one in parameters], None, [], [], None, [])
    return ast.FunctionDef(name, arguments, [*body, ast.Return(returned)], [])


def tupled(names: Sequence[str], context: ast.expr_context | None = None) -> ast.Tuple:
    """`(a, b)`."""
    context = context or ast.Load()
    return ast.Tuple([ast.Name(name, context) for name in names], context)


def handed_on(names: Sequence[str], helper: str, *given: ast.expr) -> ast.stmt:
    """`a, b = helper(...)`."""
    return ast.Assign([tupled(names, ast.Store())], called(name_of(helper), *given))


def _is_pure(block: Sequence[ast.stmt]) -> bool:
    for statement in block:
        for part in ast.walk(statement):
            if isinstance(part, _STAYS):
                return False
            if isinstance(part, (ast.Attribute, ast.Subscript)) and isinstance(part.ctx, ast.Store):
                return False
            if isinstance(part, ast.Call) and dotted(part.func) in ("torch._set_item", "torch.append", "torch.Delete"):
                return False
    return True


def _stored(block: Sequence[ast.stmt]) -> list[str]:
    found = (part for one in block for part in ast.walk(one) if isinstance(part, ast.Name))
    return list(dict.fromkeys(part.id for part in found if isinstance(part.ctx, ast.Store)))


def _read_first(block: Sequence[ast.stmt], names: Sequence[str]) -> set[str]:
    """Variables that the block reads before it stores them: they would be a function's own."""
    known: set[str] = set()
    found: set[str] = set()
    for node in _in_order(block):
        if node.id in names and isinstance(node.ctx, ast.Load) and node.id not in known:
            found.add(node.id)
        elif isinstance(node.ctx, ast.Store):
            known.add(node.id)
    return found & set(_stored(block))


def _in_order(block: Sequence[ast.stmt]) -> Iterator[ast.Name]:
    """Names as they are met: values before targets."""
    for statement in block:
        parts = [statement.value, *statement.targets] if isinstance(statement, ast.Assign) else None
        if parts is None:
            inner = [one for name in ("body", "orelse") for one in getattr(statement, name, [])]
            heads = [getattr(statement, name, None) for name in ("test", "iter", "target", "value", "msg")]
            parts = [one for one in heads if one is not None]
            yield from (part for one in parts for part in ast.walk(one) if isinstance(part, ast.Name))
            yield from _in_order(inner)
        else:
            yield from (part for one in parts for part in ast.walk(one) if isinstance(part, ast.Name))
