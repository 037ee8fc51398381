"""Pieces of the user's source as LibCST nodes, and templates filled with them.

LibCST parses fragments, never the whole file: a whole module does not always render back to the same bytes (form feeds,
lone carriage returns), and a fragment is checked to.
"""

from __future__ import annotations

import ast

import libcst as cst

from torchlift.lazy_pattern import lazy_pattern

_HOLE = lazy_pattern(r"\$([a-z_][a-z0-9_]*)")
_PREFIX = "_torchlift_hole_"
_ATOMS = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.SimpleString,
    cst.FormattedString,
    cst.List,
    cst.Dict,
    cst.Set,
    cst.ListComp,
    cst.DictComp,
    cst.SetComp,
)


class CannotEdit(Exception):
    """A rewrite that cannot be turned into a text edit without risk; the message is a sentence."""


def normalised(text: str, newline: str) -> str:
    """`text` with the file's newline written as a line feed, which is what LibCST renders.

    Raises:
        CannotEdit: the text mixes newline sequences.
    """
    plain = text.replace(newline, "\n")
    if "\r" in plain:
        raise CannotEdit("The code to change mixes different newline sequences.")
    return plain


def render(node: cst.CSTNode) -> str:
    """Source text of a node."""
    return cst.Module([]).code_for_node(node)


def parse_expression(text: str) -> cst.BaseExpression:
    """A LibCST expression that renders back to `text`, or to `text` in parentheses if it needs them.

    Raises:
        CannotEdit: LibCST cannot parse it or does not render it back.
    """
    for candidate in (text, f"({text})"):
        try:
            node = cst.parse_expression(candidate)
        except (cst.ParserSyntaxError, cst.CSTValidationError, RecursionError):
            continue
        if render(node) == candidate:
            return node
    raise CannotEdit("LibCST cannot read the expression to change back to the same text.")


def parse_import(text: str) -> cst.ImportFrom:
    """The `from ... import ...` statement in `text`.

    Raises:
        CannotEdit: it is something else, or LibCST does not render it back.
    """
    try:
        statement = cst.parse_statement(text + "\n")
    except (cst.ParserSyntaxError, cst.CSTValidationError):
        raise CannotEdit("LibCST cannot read the import statement to change.") from None
    if (
        isinstance(statement, cst.SimpleStatementLine)
        and len(statement.body) == 1
        and isinstance(statement.body[0], cst.ImportFrom)
        and render(statement.body[0]) == text
    ):
        return statement.body[0]
    raise CannotEdit("The import statement to change is not a plain `from ... import ...`.")


class _Fill(cst.CSTTransformer):
    """Replace placeholder names; parenthesise what would otherwise bind differently."""

    def __init__(self, parts: dict[str, cst.BaseExpression]) -> None:
        self.parts = parts
        self._bare: set[int] = set()

    def _mark(self, value: cst.BaseExpression) -> None:
        self._bare.add(id(value))

    def visit_Arg(self, node: cst.Arg) -> None:
        self._mark(node.value)

    def visit_Element(self, node: cst.Element) -> None:
        self._mark(node.value)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        part = self.parts.get(updated_node.value.removeprefix(_PREFIX))
        if part is None or not updated_node.value.startswith(_PREFIX):
            return updated_node
        bare = id(original_node) in self._bare and not isinstance(part, cst.NamedExpr)
        if bare or isinstance(part, _ATOMS) or part.lpar:
            return part
        return part.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def fill(template: str, parts: dict[str, str]) -> cst.BaseExpression:
    """The expression `template` with each `$name` replaced by the expression text `parts[name]`.

    The result is checked: its syntax tree is the template's tree with the parts' trees in the holes.

    Raises:
        CannotEdit: a part cannot be read, or the check fails.
    """
    skeleton = _HOLE.sub(lambda match: _PREFIX + match[1], template)
    nodes = {name: parse_expression(text) for name, text in parts.items()}
    filled = parse_expression(skeleton).visit(_Fill(nodes))
    assert isinstance(filled, cst.BaseExpression)
    expected = _FillTree({name: _tree(text) for name, text in parts.items()}).visit(_tree(skeleton))
    if ast.dump(_tree(render(filled))) != ast.dump(expected):
        raise CannotEdit("The rewritten expression would not mean what was intended.")
    return filled


def _tree(text: str) -> ast.expr:
    try:
        return ast.parse(f"({text}\n)", mode="eval").body
    except SyntaxError as error:
        raise CannotEdit(f"The rewritten expression is not valid Python ({error.msg}).") from None


class _FillTree(ast.NodeTransformer):
    def __init__(self, parts: dict[str, ast.expr]) -> None:
        self.parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id.startswith(_PREFIX):
            return self.parts[node.id.removeprefix(_PREFIX)]
        return node
