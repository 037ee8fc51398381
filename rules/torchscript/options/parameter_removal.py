"""The rewrites that take a parameter out of a function: its signature, its line in the docstring, its arguments."""

from __future__ import annotations

import ast
import re

from torchlift.finding import EditCall, ReplaceText
from torchlift.source import Span
from torchlift.view import ModuleView

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_ENTRY = r"(?::param\s+(?:[\w.\[\], |]+\s)?{0}\s*:|@param\s+{0}\b|`{{0,2}}{0}`{{0,2}}\s*(?:\([^)]*\))?\s*(?::|--?\s))"


def without_parameter(view: ModuleView, function: FunctionNode, parameter: ast.arg) -> list[ReplaceText] | None:
    """Rewrites of the definition; None where it is laid out, or declared, in a way that is not taken apart."""
    arguments = function.args
    if parameter in arguments.kwonlyargs and len(arguments.kwonlyargs) == 1 and arguments.vararg is None:
        return None
    if arguments.posonlyargs:
        return None
    gone = _in_signature(view, function, parameter)
    if gone is None or "#" in view.source.slice(gone).rpartition(",")[0]:
        return None
    return [ReplaceText(gone, ""), *_in_docstring(view, function, parameter.arg)]


def _in_signature(view: ModuleView, function: FunctionNode, parameter: ast.arg) -> Span | None:
    text = view.source.text
    span = view.span(parameter)
    positional = [*function.args.posonlyargs, *function.args.args]
    defaults = dict(
        [
            *zip(positional[::-1], function.args.defaults[::-1], strict=False),
            *((one, default) for one, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)),
        ]
    )
    default = defaults.get(parameter)
    end = view.span(default).end if default is not None else span.end
    while text[end : end + 1] == ")" and text[span.start : end].count("(") > text[span.start : end].count(")"):
        end += 1
    comma = re.compile(r"[ \t]*,").match(text, end)
    start_of_line = view.source.line_starts[view.source.location(span.start)[0] - 1]
    if comma is not None:
        end = comma.end()
        rest = re.compile(r"[ \t]*(?:#[^\r\n]*)?\r?\n").match(text, end)
        if not text[start_of_line : span.start].strip() and rest is not None:
            return Span(start_of_line, rest.end())  # a remark beside it speaks of it
        blank = re.compile(r"[ \t]*(?=\S)").match(text, end)
        if blank is not None and text[blank.end()] not in ")\\#":
            return Span(span.start, blank.end())
        if blank is not None and text[blank.end()] != ")":
            return Span(span.start, end)  # what follows on other lines needs the comma before
        return _with_comma_before(text, span.start, end) if blank is not None else None
    return _with_comma_before(text, span.start, end)


def _with_comma_before(text: str, start: int, end: int) -> Span | None:
    """The span of a last parameter with what sets it apart from the one before."""
    before = text[:start].rstrip()
    if before.endswith(","):
        return Span(len(before) - 1, end)
    return Span(start, end) if before.endswith("(") else None


def _in_docstring(view: ModuleView, function: FunctionNode, name: str) -> list[ReplaceText]:
    """Takes away the entry of the parameter, if it begins a line of its own."""
    first = function.body[0]
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return []
    span = view.span(first)
    lines = range(view.source.location(span.start)[0] + 1, view.source.location(span.end)[0])
    entry = re.compile(_ENTRY.format(re.escape(name)))
    for number in lines:
        line = view.source.line(number)
        if entry.match(line.strip()):
            indent, last = len(line) - len(line.lstrip()), number
            while last + 1 in lines and view.source.line(last + 1).strip():
                following = view.source.line(last + 1)
                if len(following) - len(following.lstrip()) <= indent:
                    break
                last += 1
            starts = view.source.line_starts
            return [ReplaceText(Span(starts[number - 1], starts[last]), "")]
    return []


def without_argument(view: ModuleView, call: ast.Call, index: int | None, name: str) -> EditCall | None:
    """The rewrite of one call; None if it does not pass the parameter."""
    if any(keyword.arg == name for keyword in call.keywords):
        return EditCall(view.span(call), drop=(name,))
    if index is not None and index < len(call.args):
        return EditCall(view.span(call), drop=(index,))
    return None
