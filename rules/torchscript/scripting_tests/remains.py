"""What still speaks of scripting, or may script, once nothing in a test is scripted: sentences about it."""

from __future__ import annotations

import ast
import re

from torchlift.rules.torchscript.scripting_tests.checks import STEPS_ASIDE, called_name
from torchlift.rules.torchscript.scripting_tests.reduction import Reduction
from torchlift.rules.torchscript.values.stale_comments import SPEAKS
from torchlift.view.walk import walk

_IN_NAMES = re.compile(r"(?i)(?:^|_)(?:torch)?script|jit|(?:^|_)trac(?:e|ed|ing)(?:$|_)|[a-z]Script")


def still_speaks(reduction: Reduction) -> list[str]:
    """Sentences about what is called after scripting, or skipped for it, or may script, in what stays of a test."""
    function = reduction.values.function
    told = ["name"] if _IN_NAMES.search(function.name) else []
    if SPEAKS.search(ast.get_docstring(function) or ""):
        told.append("docstring")
    for item in function.decorator_list:
        if isinstance(item, ast.Call) and called_name(item).lower() in _SKIPS and SPEAKS.search(ast.unparse(item)):
            told.append(f"`{called_name(item)}` on line {item.lineno}")
    listed = " and ".join(filter(None, (", ".join(told[:-1]), *told[-1:])))
    sentences = [f"Its {listed} still speak{'s' * (len(told) == 1)} of scripting."] if told else []
    for statement in reduction.kept:
        for node in walk(statement):
            if not isinstance(node, ast.Call) or not _IN_NAMES.search(called_name(node)):
                continue
            if reduction.values.target(node) or reduction.values.depends(node.func):
                continue
            if reduction.values.given_to(node) is None and reduction.values.helper(node) is None:
                sentences.append(f"`{called_name(node)}` on line {node.lineno} may script, too, and stays.")
    return sentences


_SKIPS = frozenset({*(name.lower() for name in STEPS_ASIDE), "skipif", "skipunless"})
