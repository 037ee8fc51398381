"""Findings about hints that are not simply called: passed on, patched, named in a string, imported for others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.places.use_places import UsePlace, is_offered, is_read, place_of
from torchlift.rules.rule import Context
from torchlift.view import Use

_ADVICE = {
    "string": "The string names it: drop the patch or the look-up together with the code it is for.",
    "store": "It is replaced for the whole process here: drop the patch together with the code it is for.",
    "test": "Nothing is an instance of it outside TorchScript: drop the test.",
}


def stray_finding(
    use: Use,
    context: Context,
    code: str,
    message: str,
    otherwise: str,
    severity: Severity = Severity.INFO,
    plain: frozenset[UsePlace] = frozenset({"call"}),
) -> Iterator[Finding] | None:
    """Findings for a use outside the places that a rule handles itself; None for those.

    Args:
        use: the use.
        context: its file.
        code: the rule.
        message: what is wrong.
        otherwise: advice for a use as a value.
        severity: how much it matters.
        plain: places that the rule handles itself.
    """
    view = context.view
    if isinstance(use.node, ast.alias):
        advice = _of_import(use, context)
    else:
        place = place_of(use, context)
        if place in plain:
            return None
        advice = None if place is None else _ADVICE.get(place, otherwise)
    if advice is None:
        return iter(())
    return iter((Finding(code, view.path, view.span(use.node), message, severity, advice),))


def _of_import(use: Use, context: Context) -> str | None:
    """Advice about an import; None where the uses of the name are reported and nobody else can have it from here.

    An import that others may use is reported beside the uses: it stays when they are rewritten.
    """
    view = context.view
    binding = use.resolution.binding if use.resolution is not None else None
    if binding is None:
        return None
    read = is_read(view, binding)
    if is_offered(use, view, context.project):
        if read:
            return "Others can import it from here too, so it stays when its uses in this file go: drop it when nobody does."
        return "This file passes the name on: drop it once the files that import it from here no longer need it."
    from_torch = (view.absolute(binding.imported or "") or "").startswith("torch.")
    if from_torch and not read:
        return "It is imported and not used here: drop the import."
    return None
