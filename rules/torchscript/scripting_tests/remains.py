"""What still speaks of scripting, or may script, once nothing in a test is scripted: sentences about it."""

from __future__ import annotations

import ast
from collections.abc import Collection

from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.torchscript.scripting_tests.checks import STEPS_ASIDE, called_name
from torchlift.rules.torchscript.scripting_tests.reduction import Reduction
from torchlift.rules.torchscript.values.stale_comments import SPEAKS
from torchlift.view.walk import walk

_IN_NAMES = lazy_pattern(r"(?i)(?:^|_)(?:torch)?script|jit|(?:^|_)trac(?:e|ed|ing)(?:$|_)|[a-z]Script")


def still_speaks(reduction: Reduction, deleted: Collection[ast.stmt]) -> list[str]:
    """Sentences about what is called after scripting, or skipped for it, or may script, in what stays of a test.

    Args:
        reduction: the test.
        deleted: statements that go for names that do.
    """
    function = reduction.values.function
    told = ["name"] if _IN_NAMES.search(function.name) else []
    if SPEAKS.search(ast.get_docstring(function) or ""):
        told.append("docstring")
    for item in function.decorator_list:
        if isinstance(item, ast.Call) and called_name(item).lower() in _SKIPS and SPEAKS.search(ast.unparse(item)):
            told.append(f"`{called_name(item)}` on line {item.lineno}")
    listed = " and ".join(filter(None, (", ".join(told[:-1]), *told[-1:])))
    sentences = [f"Its {listed} still speak{'s' * (len(told) == 1)} of scripting."] if told else []
    sentences += _idle_parameters(reduction, deleted)
    for statement in reduction.kept:
        match statement:
            case ast.Expr(value=ast.Call() as call) if _IN_NAMES.search(called_name(call)):
                known = reduction.values.target(call) or reduction.values.helper(call) is not None
                if not known and reduction.values.original(call.func) is None:
                    sentences.append(f"`{called_name(call)}` on line {call.lineno} may script, too, and stays.")
    named = [f"`{name}`" for name in _names_kept(reduction, deleted)]
    if named:
        sentences.append(f"{', '.join(named)} keep{'s' * (len(named) == 1)} a name that speaks of scripting.")
    return list(dict.fromkeys(sentences))


def _idle_parameters(reduction: Reduction, deleted: Collection[ast.stmt]) -> list[str]:
    """Sentences about parameters of a helper that nothing reads but what goes."""
    function, view = reduction.values.function, reduction.values.view
    found: list[str] = []
    if function.name.startswith("test"):
        return found
    for parameter in (*function.args.args, *function.args.kwonlyargs):
        bound = view.scopes.scope_of[function].bindings.get(parameter.arg, ())
        reads = [read for binding in bound for read, _ in view.reads_of(binding)]
        if reads and all(any(around in deleted for around in view.ancestors(read)) for read in reads):
            place = f"`{parameter.arg}` on line {parameter.lineno}"
            found.append(f"{place} has no effect any more: drop it here and where it is passed.")
    return found


def _names_kept(reduction: Reduction, deleted: Collection[ast.stmt]) -> list[str]:
    """Variables that what stays of a test binds to what came out of scripting, with names that say so."""
    stored = (
        node.id
        for statement in reduction.kept
        for node in walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and _IN_NAMES.search(node.id)
        if statement not in deleted and reduction.values.depends(statement)
    )
    return list(dict.fromkeys(stored))


_SKIPS = frozenset({*(name.lower() for name in STEPS_ASIDE), "skipif", "skipunless"})
