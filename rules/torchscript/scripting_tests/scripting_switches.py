"""Parameters of a test that only say whether to script: `@pytest.mark.parametrize("jit", [False, True])`."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from torchlift.finding import DropDecorator, ReplaceExpression, ReplaceText, Rewrite, Template
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.torchscript.scripting_tests.checks import called_name
from torchlift.rules.torchscript.scripting_tests.scripted_values import FunctionNode, ScriptedValues
from torchlift.rules.torchscript.values.stale_comments import SPEAKS
from torchlift.source import Span
from torchlift.view import ModuleView
from torchlift.view.walk import walk


@dataclass(frozen=True)
class Switch:
    """A parameter that nothing reads any more.

    Attributes:
        name: the parameter.
        decorator: its `parametrize`.
        column: its place among several parameters of that; None if it is the only one.
    """

    name: str
    decorator: ast.Call
    column: int | None = None


def unread_switches(view: ModuleView, function: FunctionNode, gone: Collection[ast.AST]) -> list[Switch]:
    """Parameters that chose whether to script, by a `parametrize`, and are read in nothing but what is `gone`."""
    found = []
    for item in function.decorator_list:
        if not isinstance(item, ast.Call) or called_name(item) != "parametrize" or len(item.args) < 2:
            continue
        rows = item.args[1]
        names = _names(item.args[0])
        indirect = any(keyword.arg != "ids" for keyword in item.keywords)
        if not isinstance(rows, (ast.List, ast.Tuple)) or indirect or (len(names) > 1 and item.keywords):
            continue
        for column, name in enumerate(names):
            cells = rows.elts if len(names) == 1 else [_cell(row, column, len(names)) for row in rows.elts]
            values = {cell.value if isinstance(cell, ast.Constant) else ... for cell in cells}
            reads = [node for node in walk(function) if isinstance(node, ast.Name) and node.id == name]
            if _chooses(values) and reads and all(_inside(view, read, gone) for read in reads):
                found.append(Switch(name, item, column if len(names) > 1 else None))
                break  # another one of the same rows goes next time
    return found


def _chooses(values: Collection[object]) -> bool:
    """Whether what a parameter is given is true and false, or names ways to run code of which one is TorchScript's."""
    words = [value for value in values if isinstance(value, str)]
    return set(values) <= {True, False} or (
        all(isinstance(value, str) or value is None for value in values) and any(map(SPEAKS.search, words))
    )


def _names(node: ast.expr) -> list[str]:
    """The parameters that a `parametrize` names."""
    match node:
        case ast.Constant(value=str() as text):
            return [name.strip() for name in text.split(",") if name.strip()]
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return [str(item.value) if isinstance(item, ast.Constant) else "" for item in elements]
    return []


def _cell(row: ast.expr, column: int, width: int) -> ast.expr | None:
    """What a row gives one parameter; None if it is not a plain row."""
    return row.elts[column] if isinstance(row, (ast.Tuple, ast.List)) and len(row.elts) == width else None


def _inside(view: ModuleView, node: ast.AST, nodes: Collection[ast.AST]) -> bool:
    return any(ancestor in nodes for ancestor in view.ancestors(node))


def without_switch(view: ModuleView, function: FunctionNode, switch: Switch) -> tuple[Rewrite, ...] | None:
    """Rewrites that take the parameter and its `parametrize` away; None if the parameter is written in an odd way."""
    parameters = function.args.args
    index = next((number for number, item in enumerate(parameters) if item.arg == switch.name), None)
    if index is None or function.args.defaults or function.args.posonlyargs:
        return None
    span = view.span(parameters[index])
    if index + 1 < len(parameters):
        gone = Span(span.start, view.span(parameters[index + 1]).start)
    elif index:
        gone = Span(view.span(parameters[index - 1]).end, span.end)
    else:
        gone = span
    if "#" in view.source.slice(gone) or function.args.vararg or function.args.kwonlyargs:
        return None
    if switch.column is None:
        return DropDecorator(view.span(switch.decorator)), ReplaceText(gone, "")
    return *_without_column(view, switch.decorator, switch.column), ReplaceText(gone, "")


def _without_column(view: ModuleView, call: ast.Call, column: int) -> Iterator[Rewrite]:
    """Rewrites that take one of several parameters out of a `parametrize`, and the rows that are alike then."""
    names, rows = call.args[:2]
    assert isinstance(rows, (ast.List, ast.Tuple))
    left = [name for index, name in enumerate(_names(names)) if index != column]
    yield ReplaceExpression(view.span(names), Template(f'"{", ".join(left)}"'))
    shown: dict[str, str] = {}
    parts: list[tuple[str, Span]] = []
    for row in rows.elts:
        assert isinstance(row, (ast.Tuple, ast.List))
        cells = [cell for index, cell in enumerate(row.elts) if index != column]
        if (key := str([ast.dump(cell) for cell in cells])) in shown:
            continue
        holes = []
        for cell in cells:
            holes.append(f"$p{len(parts)}")
            parts.append((f"p{len(parts)}", view.span(cell)))
        shown[key] = holes[0] if len(holes) == 1 else f"({', '.join(holes)})"
    text = ", ".join(shown.values())
    yield ReplaceExpression(view.span(rows), Template(f"[{text}]", tuple(parts)))


def scripted_rows(values: ScriptedValues) -> list[tuple[ast.List | ast.Tuple, list[ast.expr]]]:
    """Lists and tuples that a loop goes through with a module beside its scripted version, and the elements that stay."""
    found = []
    for node in walk(values.function):
        if isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.iter, (ast.List, ast.Tuple)):
            elements = node.iter.elts
            kept = [item for item in elements if values.original(item) is None]
            plain = {ast.dump(item) for item in kept}
            scripted = [values.original(item) for item in elements if item not in kept]
            if scripted and kept and all(item is not None and ast.dump(item) in plain for item in scripted):
                found.append((node.iter, kept))
    return found


def row_of(view: ModuleView, node: ast.expr) -> tuple[ast.List | ast.Tuple, list[ast.expr]] | None:
    """The rows of a `parametrize`, one of which is or holds `node`, and those that stay; None if `node` is in no such row."""
    for row, display in view.upwards(node):
        call = view.parent(display)
        if (
            isinstance(display, (ast.List, ast.Tuple))
            and isinstance(call, ast.Call)
            and called_name(call) == "parametrize"
        ):
            kept = [item for item in display.elts if item is not row]
            plain = len(call.args) == 2 and call.args[1] is display and not call.keywords
            return (display, kept) if plain and kept and not any(isinstance(i, ast.Starred) for i in kept) else None
        if not isinstance(display, (ast.List, ast.Tuple, ast.Call)):
            return None
    return None


def without_rows(view: ModuleView, display: ast.expr, kept: Sequence[ast.expr]) -> Rewrite:
    """The rewrite that leaves only the elements `kept` in a list or tuple."""
    parts = tuple((f"row{number}", view.span(item)) for number, item in enumerate(kept))
    inside = ", ".join(f"${name}" for name, _ in parts)
    text = f"[{inside}]" if isinstance(display, ast.List) else f"({inside}{',' if len(kept) == 1 else ''})"
    return ReplaceExpression(view.span(display), Template(text, parts))
