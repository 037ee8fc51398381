"""Code that goes another way for other numbers in a tensor, which no capture by `torch.export` takes.

Measured on torch 2.13.0, 2026-11-26: a condition, an `assert` or a `range` that holds a number from a tensor raises
`GuardOnDataDependentSymNode`, and `.numpy()` RuntimeError; `.item()`, `.tolist()`, a mask and a slice up to `n.item()` are captured.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.lazy_dataclass import dataclass
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_REDUCES = frozenset("any all sum max min mean norm amax amin argmax argmin count_nonzero prod std var".split())
_ASKS = frozenset("item equal allclose is_nonzero isnan isinf isfinite".split())
_KEEPS = frozenset("long int float abs cpu detach round ceil floor to bool type".split())
_NUMBERS = frozenset({"int", "float", "bool", "max", "min", "abs", "round", "math.ceil", "math.floor"})
# Questions whose answer is another one while a program is captured.
_OTHER_MODE = frozenset("training is_scripting is_tracing is_compiling is_exporting is_in_onnx_export".split())
_MOST_NAMES = 4
BRANCHES = "branches on values that seem to be a tensor's"


@dataclass(frozen=True)
class DataBranch:
    """One place where code follows a tensor's numbers.

    Attributes:
        line: 1-based line.
        what: the end of a clause: `BRANCHES`.
    """

    line: int
    what: str


def data_branch(view: ModuleView, function: ast.AST) -> DataBranch | None:
    """The first such place in a function; None if none is seen."""
    return min(_branches(view, function), key=lambda found: found.line, default=None)


def _branches(view: ModuleView, function: ast.AST) -> Iterator[DataBranch]:
    for node in walk(function):
        what, tests = _tests(view, node)
        for test in tests:
            if _holds_numbers(view, test, _MOST_NAMES) and not _left_out(view, test, function):
                yield DataBranch(test.lineno, what)


def _tests(view: ModuleView, node: ast.AST) -> tuple[str, list[ast.expr]]:
    """What kind of place a node is, and the expressions whose numbers decide there."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test):
            return BRANCHES, [test]
        case ast.While(test=test):
            return "loops until values say so that seem to be a tensor's", [test]
        case ast.Assert(test=test):
            return "checks values that seem to be a tensor's", [test]
        case ast.Call(func=ast.Name(id="range"), args=args):
            return "loops as often as a number in a tensor says", list(args)
        case ast.Call(func=ast.Attribute(attr="arange"), args=args):
            return "makes as many elements as a number in a tensor says", list(args)
        case ast.Call(func=ast.Attribute(attr="numpy"), args=[], keywords=[]):
            return "leaves torch for NumPy", [node]
    return "", []


def _holds_numbers(view: ModuleView, node: ast.expr, names: int) -> bool:
    """Whether a value is, or is made of, a number from a tensor, through variables of the function."""
    match node:
        case ast.BoolOp(values=values):
            return any(_holds_numbers(view, value, names) for value in values)
        case ast.UnaryOp(operand=operand):
            return _holds_numbers(view, operand, names)
        case ast.BinOp(left=left, right=right):
            return _holds_numbers(view, left, names) or _holds_numbers(view, right, names)
        case ast.Compare(left=left, ops=ops, comparators=others):
            same = any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in ops)
            return not same and any(_holds_numbers(view, value, names) for value in (left, *others))
        case ast.Subscript(value=value):
            return _is_tensor(view, value) and not isinstance(node.slice, ast.Slice)
        case ast.Name() if names:
            binding = view.definition(node)
            made = binding.value if binding is not None and binding.kind == "assign" else None
            return made is not None and _holds_numbers(view, made, names - 1)
        case ast.Call():
            return _call_holds_numbers(view, node, names)
    return False


def _call_holds_numbers(view: ModuleView, call: ast.Call, names: int) -> bool:
    resolution = view.resolve(call.func)
    name = resolution.name if resolution is not None else ""
    function = call.func
    if isinstance(function, ast.Name) and not name.startswith("torch."):
        is_number = (name or function.id) in _NUMBERS
        return is_number and any(_holds_numbers(view, value, names) for value in call.args)
    if not isinstance(function, ast.Attribute):
        return False
    if name:
        if name in _NUMBERS:
            return any(_holds_numbers(view, value, names) for value in call.args)
        return name.startswith("torch.") and name.rpartition(".")[2] in _REDUCES | _ASKS and not _keeps_axes(call, 2)
    if function.attr in _KEEPS:
        return _holds_numbers(view, function.value, names)
    if function.attr == "numpy":
        return True
    shape = isinstance(function.value, ast.Attribute) and function.value.attr == "shape"
    return function.attr in _REDUCES | _ASKS and not shape and not _keeps_axes(call, 1)


def _keeps_axes(call: ast.Call, first: int) -> bool:
    """Whether a reduction goes along one axis, and so gives no number."""
    given = {keyword.arg for keyword in call.keywords}
    return len(call.args) >= first or bool(given & {"dim", "axis", "keepdim", "keepdims"})


def _is_tensor(view: ModuleView, node: ast.expr) -> bool:
    """Whether a value is declared as a tensor, or is the mask of a comparison."""
    binding = view.definition(node)
    if binding is None or not isinstance(binding.node, ast.arg) or binding.node.annotation is None:
        return False
    return ast.unparse(binding.node.annotation).rpartition(".")[2] == "Tensor"


def _left_out(view: ModuleView, node: ast.AST, function: ast.AST) -> bool:
    """Whether code stands below a question about the mode or the capture, whose answer may leave it out."""
    for child, around in view.upwards(node):
        if around is function:
            return False
        asked = around.test if isinstance(around, (ast.If, ast.IfExp)) else None
        if asked is not None and any(
            _asks_mode(part) for part in walk(asked) if child is not asked or part is not node
        ):
            return True
    return False


def _asks_mode(node: ast.AST) -> bool:
    return (
        isinstance(node, (ast.Attribute, ast.Name))
        and (node.attr if isinstance(node, ast.Attribute) else node.id) in _OTHER_MODE
    )
