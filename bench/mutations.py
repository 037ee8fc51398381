"""Small changes of Python code, one at a time: what a slip of the pen would make of a line.

A mutation is an edit of the text, so that everything around it stays as it is, line numbers included. Docstrings,
annotations, messages and what stands outside functions are left alone: a changed message or a changed row of a table is
another kind of mistake.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
CALLS = {"any": "all", "all": "any", "min": "max", "max": "min"}


@dataclass(frozen=True)
class Mutation:
    """One change.

    Attributes:
        kind: what was done, in a word or two.
        line: where, from 1.
        start: offset of the first changed character.
        end: offset behind the last one.
        old: what stood there.
        new: what stands there now.
    """

    kind: str
    line: int
    start: int
    end: int
    old: str
    new: str

    def applied(self, text: str) -> str:
        """`text` with the change made."""
        return text[: self.start] + self.new + text[self.end :]


def mutations_of(text: str) -> list[Mutation]:
    """Every mutation of the functions in `text`, in the order of the text; a few do not parse or change nothing.

    Raises:
        SyntaxError: `text` is no Python.
    """
    tree = ast.parse(text)
    places = _Places(text)
    found: dict[tuple[int, int, str], Mutation] = {}
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for statement in function.body:
                for mutation in _within(statement, places):
                    found[mutation.start, mutation.end, mutation.new] = mutation
    return [mutation for _, mutation in sorted(found.items())]


def differs(text: str, changed: str) -> bool:
    """Whether `changed` is Python that says something else than `text`."""
    try:
        return ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text))
    except SyntaxError:
        return False


class _Places:
    """Offsets of nodes in a text; `ast` counts bytes of UTF-8."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def at(self, line: int, column: int) -> int:
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def replaced(self, kind: str, node: ast.expr | ast.stmt, new: str) -> Mutation:
        start, end = self.span(node)
        return Mutation(kind, node.lineno, start, end, self.text[start:end], new)

    def between(self, kind: str, left: ast.expr, right: ast.expr, old: str, new: str) -> Iterator[Mutation]:
        """Replace the operator `old` that stands between two operands."""
        start, end = self.span(left)[1], self.span(right)[0]
        gap = self.text[start:end]
        if gap.count(old) == 1 and "#" not in gap:
            begin = start + gap.index(old)
            line = self.text.count("\n", 0, begin) + 1
            yield Mutation(kind, line, begin, begin + len(old), old, new)


def _within(statement: ast.stmt, places: _Places) -> Iterator[Mutation]:
    for node in _code(statement):
        if isinstance(node, ast.stmt):
            yield from _of_statement(node, places)
        elif isinstance(node, ast.expr):
            yield from _of_expression(node, places)


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """`node` and what is below it, without what no mistake is looked for in."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)):
        return
    yield node
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns", "decorator_list", "type_comment"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _code(child)


def _of_statement(node: ast.stmt, places: _Places) -> Iterator[Mutation]:
    if isinstance(node, (ast.If, ast.While)):
        yield _negated(node.test, places)
    if isinstance(node, (ast.Expr, ast.AugAssign, ast.Continue, ast.Break)):
        yield places.replaced("statement left out", node, "pass")
    if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield places.replaced("None returned", node, "return None")


def _of_expression(node: ast.expr, places: _Places) -> Iterator[Mutation]:
    if isinstance(node, ast.IfExp):
        yield _negated(node.test, places)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        old, new = COMPARISONS[type(node.ops[0])]
        yield from places.between("comparison", node.left, node.comparators[0], old, new)
    elif isinstance(node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield from places.between("and / or", left, right, f" {old} ", f" {new} ")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        start, end = places.span(node.operand)
        yield places.replaced("not left out", node, f"({places.text[start:end]})")
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        old, new = ("+", "-") if isinstance(node.op, ast.Add) else ("-", "+")
        yield from places.between("sum", node.left, node.right, old, new)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield places.replaced("constant", node, str(not node.value))
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield places.replaced("constant", node, str(node.value + 1))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
        yield places.replaced("any / all", node.func, CALLS[node.func.id])
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        for generator in node.generators:
            for test in generator.ifs:
                yield places.replaced("filter left out", test, "True")


def _negated(test: ast.expr, places: _Places) -> Mutation:
    start, end = places.span(test)
    return places.replaced("condition", test, f"not ({places.text[start:end]})")


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
