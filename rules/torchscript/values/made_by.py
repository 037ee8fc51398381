"""Whether another finding speaks for a call: the one about the call that makes the value it is given."""

from __future__ import annotations

import ast

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.values.value_life import follow
from torchlift.view import Use

# The rules about calls that make TorchScript values.
_MAKERS = ("TL101", "TL102", "TL103")


@dataclass(frozen=True)
class Maker:
    """The call that makes a value.

    Attributes:
        name: its qualified name.
        line: its line.
        rewritten: whether it has a fix that takes care of the other call too.
    """

    name: str
    line: int
    rewritten: bool


def maker_of(call: ast.Call, context: Context) -> Maker | None:
    """Who makes the value that `call`, a save or a freeze, is given; None if that is not known in this file."""
    made = next((one for one in context.once(_given).get(call, ()) if one[1] is not call), None)
    if made is None:
        return None
    code, maker, use = made
    fixes = [finding.fix for finding in context.says(code, use)]
    lowest = context.settings.min_torch
    rewritten = any(fix is not None and (fix.needs is None or lowest >= fix.needs) for fix in fixes)
    return Maker(use.target, maker.lineno, rewritten)


def _given(context: Context) -> dict[ast.Call, list[tuple[str, ast.Call, Use]]]:
    """Who makes what each save and freeze of the file is given: the code of the rule that knows, the call, and the use."""
    found: dict[ast.Call, list[tuple[str, ast.Call, Use]]] = {}
    for code in _MAKERS:
        for use in context.view.uses(frozenset(context.rules[code].targets)):
            if use.call is not None:
                life = follow(context.view, use.call, context.project)
                for given in (*(save.call for save in life.saves), *life.frozen):
                    found.setdefault(given, []).append((code, use.call, use))
    return found
