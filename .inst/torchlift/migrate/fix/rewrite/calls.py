"""Edits of one call: callee, argument values, dropped and added arguments, with layout and comments kept."""

from __future__ import annotations

import string
from collections.abc import Callable

import libcst as cst

from torchlift.finding import EditCall, Template
from torchlift.migrate.fix.rewrite.fragments import CannotEdit, parse_expression, render

Filler = Callable[[Template], cst.BaseExpression]


def edit_call(text: str, edit: EditCall, fill: Filler) -> str:
    """The call in `text` after `edit`; `fill` builds the expressions of its templates.

    Raises:
        CannotEdit: `text` is not a call, or an argument to change or drop is not there.
    """
    call = parse_expression(text)
    if not isinstance(call, cst.Call):
        raise CannotEdit("The code to change is not a call.")
    args = list(call.args)
    for key, template in edit.arguments:
        index = _index(args, key)
        args[index] = args[index].with_changes(value=fill(template))
    for index in sorted((_index(args, key) for key in edit.drop), reverse=True):
        args = _without(args, index)
    for name, template in edit.add:
        if any(arg.keyword is not None and arg.keyword.value == name for arg in args):
            raise CannotEdit(f"The call already has an argument `{name}`.")
        args = _with_keyword(call, args, name, fill(template))
    for old, new in edit.rename:
        index = _index(args, old)
        args[index] = args[index].with_changes(keyword=cst.Name(new))
    call = call.with_changes(args=args)
    if edit.first is not None:
        call = _with_first(call, fill(edit.first))
    if edit.function is not None:
        call = call.with_changes(func=fill(edit.function))
    code = render(call)
    if edit.outer is None:
        return code
    holes = {name: render(fill(Template(f"${name}", ((name, span),)))) for name, span in edit.outer_parts}
    return string.Template(edit.outer).substitute(holes, call=code)


def _index(args: list[cst.Arg], key: int | str) -> int:
    for index, arg in enumerate(args):
        if isinstance(key, int):
            if index == key and arg.keyword is None and not arg.star:
                return index
        elif arg.keyword is not None and arg.keyword.value == key:
            return index
    raise CannotEdit(f"The call has no argument {key!r} where one was expected.")


def _without(args: list[cst.Arg], index: int) -> list[cst.Arg]:
    removed = args[index]
    rest = args[:index] + args[index + 1 :]
    if index == len(args) - 1 and rest:
        last = rest[-1]
        assert isinstance(last.comma, cst.Comma)
        closing = (
            removed.comma.whitespace_after if isinstance(removed.comma, cst.Comma) else removed.whitespace_after_arg
        )
        between = last.comma.whitespace_after
        if isinstance(between, cst.ParenthesizedWhitespace):
            # A comment behind the argument that is now the last one stays with it.
            if isinstance(closing, cst.ParenthesizedWhitespace):
                closing = between.with_changes(indent=closing.indent, last_line=closing.last_line)
            elif between.first_line.comment is not None:
                closing = between
        if isinstance(removed.comma, cst.Comma):
            last = last.with_changes(comma=last.comma.with_changes(whitespace_after=closing))
        else:
            last = last.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=closing)
        rest[-1] = last
    return rest


def _with_keyword(call: cst.Call, args: list[cst.Arg], name: str, value: cst.BaseExpression) -> list[cst.Arg]:
    added = cst.Arg(
        keyword=cst.Name(name),
        value=value,
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    if not args:
        return [added]
    last = args[-1]
    if last.keyword is None and not last.star and isinstance(last.value, cst.GeneratorExp) and len(args) == 1:
        last = last.with_changes(value=_parenthesised(last.value))
    previous = args[-2].comma if len(args) > 1 else None
    between = previous.whitespace_after if isinstance(previous, cst.Comma) else call.whitespace_before_args
    closing = last.comma.whitespace_after if isinstance(last.comma, cst.Comma) else last.whitespace_after_arg
    had_comma = isinstance(last.comma, cst.Comma)
    own_line = isinstance(between, cst.ParenthesizedWhitespace)
    if own_line and isinstance(closing, cst.ParenthesizedWhitespace):
        assert isinstance(between, cst.ParenthesizedWhitespace)
        # A comment behind the last argument stays behind it.
        gap: cst.BaseParenthesizableWhitespace = closing.with_changes(
            indent=between.indent, last_line=between.last_line
        )
        after: cst.BaseParenthesizableWhitespace = closing.with_changes(
            first_line=cst.TrailingWhitespace(newline=closing.first_line.newline), empty_lines=[]
        )
    elif own_line:
        assert isinstance(between, cst.ParenthesizedWhitespace)
        gap = between.with_changes(
            first_line=cst.TrailingWhitespace(newline=between.first_line.newline), empty_lines=[]
        )
        after = closing
    elif isinstance(closing, cst.ParenthesizedWhitespace) and closing.first_line.comment is None:
        gap, after = cst.SimpleWhitespace(" "), closing
    elif isinstance(closing, cst.ParenthesizedWhitespace):
        gap, after = closing, cst.SimpleWhitespace("")
    else:
        gap, after = cst.SimpleWhitespace(" "), closing
    args = [
        *args[:-1],
        last.with_changes(whitespace_after_arg=cst.SimpleWhitespace(""), comma=cst.Comma(whitespace_after=gap)),
    ]
    if had_comma:
        added = added.with_changes(comma=cst.Comma(whitespace_after=after))
    else:
        added = added.with_changes(whitespace_after_arg=after)
    return [*args, added]


def _with_first(call: cst.Call, value: cst.BaseExpression) -> cst.Call:
    """The call with one more positional argument in front, on a line of its own if the old first one has one."""
    if not call.args:
        return call.with_changes(args=[cst.Arg(value)])
    before = call.whitespace_before_args
    gap: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
    if isinstance(before, cst.ParenthesizedWhitespace):
        # Comment lines above the old first argument stay above it.
        gap = before.with_changes(first_line=cst.TrailingWhitespace(newline=before.first_line.newline))
        before = before.with_changes(empty_lines=[])
    added = cst.Arg(value, comma=cst.Comma(whitespace_after=gap))
    return call.with_changes(whitespace_before_args=before, args=[added, *call.args])


def _parenthesised(value: cst.BaseExpression) -> cst.BaseExpression:
    if value.lpar:
        return value
    return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
