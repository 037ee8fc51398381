"""`x.cuda(async=True)`: an argument that is no Python any more."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Fix, ReplaceText, Safety, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule, nothing
from torchlift.source import OLD_ASYNC, Span
from torchlift.versions import TorchVersion
from torchlift.view.walk import walk

# Methods of tensors and modules that took `async` up to torch 0.3.
_TAKE_IT = frozenset({"cuda", "to", "type", "copy_", "cpu", "half", "float", "double", "long", "int", "byte"})

RULE = Rule(
    code="TL453",
    name="async-argument",
    summary="`async=`, a keyword since Python 3.7, which torch calls `non_blocking` since 0.4",
    why=(
        "`async` became a keyword in Python 3.7: the file is a SyntaxError for every Python that torch 2 runs on, before anything "
        "of it runs. Torch renamed the argument to `non_blocking` in 0.4, with the same meaning."
    ),
    fix=(
        "Needs review: no Python of today runs the file as it is, so there is nothing to compare with. What else is found in the "
        "file is told, and rewritten once the argument has its new name."
    ),
    targets=(),
    check=nothing,
    triggers=("torch & async=", "torch & async ="),
    deprecated=TorchVersion(0, 4),
    severity=Severity.ERROR,
    sources=(
        "https://docs.python.org/3/whatsnew/3.7.html",
        "https://github.com/pytorch/pytorch/releases/tag/v0.4.0 (`async` is renamed to `non_blocking`)",
    ),
)


def whole(context: Context) -> Iterator[Finding]:
    view = context.view
    if not view.source.has_old_async:
        return
    for call in (node for node in walk(view.tree) if isinstance(node, ast.Call)):
        given = next((keyword for keyword in call.keywords if keyword.arg == OLD_ASYNC), None)
        if given is None:
            continue
        start = view.source.offset(given.lineno, given.col_offset)
        span = Span(start, start + len(OLD_ASYNC))
        message = "`async` is a keyword since Python 3.7, so no Python that torch 2 runs on can read this file."
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in _TAKE_IT:
            advice = "Give the parameter another name, here and where it is defined; torch calls its own `non_blocking` since 0.4."
            yield Finding("TL453", view.path, span, message, Severity.ERROR, advice)
            continue
        advice = f"Needs review: `.{call.func.attr}` is taken to be torch's, which calls the argument `non_blocking` since 0.4."
        fix = Fix("Call it `non_blocking`", Safety.UNSAFE, (ReplaceText(span, "non_blocking"),))
        yield Finding("TL453", view.path, span, message, Severity.ERROR, advice, fix)


EXAMPLES = (
    Bad(
        "import torch\n\n\ndef f(x):\n    return x.cuda(0, async=True)\n",
        "import torch\n\n\ndef f(x):\n    return x.cuda(0, non_blocking=True)\n",
        "unsafe",
        why="a copy to a GPU",
    ),
    Bad("import torch\n\n\ndef f(x, send):\n    return send(x, async=True)\n", why="a parameter of the project's own"),
    Ok("import torch\n\n\ndef f(x):\n    return x.cuda(0, non_blocking=True)\n", "the new name"),
    Ok("import torch\n\n\ndef f(x):\n    return x.cuda(0, is_async=True)\n", "another name"),
    Ok("import torch\n\n\nasync def f(x):\n    return 'async=True'\n", "a function and a text"),
)
