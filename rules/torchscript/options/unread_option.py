"""Options of commands that chose TorchScript and that nothing reads: `parser.add_argument("--jit", ...)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlift.finding import DeleteStatement, Finding, Fix, Safety, Severity
from torchlift.rules.analysis.places.attached_comments import comments_above
from torchlift.rules.analysis.wording.messages import sentence
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.options.unread_parameter import is_option_name
from torchlift.view import ModuleView
from torchlift.view.walk import walk


def unread_options(context: Context, code: str) -> Iterator[Finding]:
    """Findings about options that the file in view declares with argparse."""
    view = context.view
    for call in walk(view.tree):
        if (
            not isinstance(call, ast.Call)
            or not isinstance(call.func, ast.Attribute)
            or call.func.attr != "add_argument"
        ):
            continue
        flags = [item.value for item in call.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        statement = view.parent(call)
        dest = _destination(call, flags)
        if dest is None or not is_option_name(dest) or not isinstance(statement, ast.Expr):
            continue
        if _is_read(context, dest, call):
            continue
        doubts = [f"whoever passes `{flags[-1]}` gets an error from now on", *_passed(context, flags)]
        fix = Fix(
            f"Drop the option `{flags[-1]}`",
            Safety.UNSAFE,
            (DeleteStatement(view.span(statement), len(comments_above(view, statement))),),
        )
        message = f"The option `{flags[-1]}` chose TorchScript, and nothing reads `{dest}` any more."
        yield Finding(
            code, view.path, view.span(call), message, Severity.WARNING, f"Needs review: {sentence(doubts)}", fix
        )


def _destination(call: ast.Call, flags: list[str]) -> str | None:
    """The attribute that an option ends in; None for what is no option."""
    if not flags or not all(flag.startswith("-") for flag in flags):
        return None
    for keyword in call.keywords:
        if keyword.arg == "dest":
            return str(keyword.value.value) if isinstance(keyword.value, ast.Constant) else None
    long = next((flag for flag in flags if flag.startswith("--")), flags[0])
    return long.lstrip("-").replace("-", "_")


def _is_read(context: Context, dest: str, own: ast.Call) -> bool:
    """Whether anything in the project may read what an option was given."""
    view = context.view
    if any(isinstance(node.ctx, ast.Load) for node in view.attributes_named(dest)):
        return True
    if context.project.files_with_attribute(dest, (view.path,)):
        return True
    inside = set(walk(own))
    return _shares_its_destination(view, dest, own) or any(
        (isinstance(node, ast.Constant) and node.value == dest and node not in inside)
        or (isinstance(node, ast.Name) and node.id == "vars")
        or (isinstance(node, ast.Attribute) and node.attr == "__dict__")
        for node in walk(view.tree)
    )


def _shares_its_destination(view: ModuleView, dest: str, own: ast.Call) -> bool:
    """Whether another option of the file ends in the same attribute."""
    return any(
        isinstance(node, ast.keyword) and node.arg == "dest" and getattr(node.value, "value", None) == dest
        for node in walk(view.tree)
        if not any(node is keyword for keyword in own.keywords)
    )


def _passed(context: Context, flags: list[str]) -> Iterator[str]:
    """Clauses about scripts, pages and settings of CI that pass one of the flags."""
    long = [flag for flag in flags if flag.startswith("--")]
    found = context.project.places(tuple(long)) if long else {}
    places = sorted({place for flag in long for place in found[flag] if _names(context, place, flag)})
    if places:
        yield f"it is passed or described in {', '.join(places)}"


def _names(context: Context, place: str, flag: str) -> bool:
    """Whether a place outside Python names just this flag."""
    path, _, line = place.rpartition(":")
    if context.project.is_python(path):
        return False
    try:
        text = context.project.data(path).decode("utf-8", "replace").splitlines()[int(line) - 1]
    except (OSError, IndexError):
        return False
    return re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", text) is not None
