"""Findings about hints that are not simply called: passed on, patched, named in a string, imported for others."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from torchlift.finding import Finding, Fix, ReplaceExpression, Safety, Severity, Template
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.places.use_places import UsePlace, is_offered, is_read, place_of
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.compilers.scripting_uses import first_compilation
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.view import Use

_ADVICE = {
    "string": "The string names it: drop the patch or the look-up together with the code it is for.",
    "store": "It is replaced for the whole process here: drop the patch together with the code it is for.",
    "test": "Nothing is an instance of it outside TorchScript: drop the test.",
}


CALLED: frozenset[UsePlace] = frozenset({"call"})
DECORATED: frozenset[UsePlace] = frozenset({"call", "decorator"})

HelpAndFix = tuple[str | None, Fix | None] | tuple[str | None, Fix | None, str]
"""Help text and fix for a use, and the `path:line` that it waits for, if it does."""


@dataclass(frozen=True)
class Hint:
    """What a rule says of every use of one hint.

    Attributes:
        code: the rule.
        message: what is wrong.
        otherwise: advice for a use as a value.
        severity: how much it matters.
        places: places that the rule judges itself.
        plain: a function that does the same outside TorchScript, for a place that is given the hint itself.
    """

    code: str
    message: str
    otherwise: str
    severity: Severity = Severity.WARNING
    places: frozenset[UsePlace] = CALLED
    plain: str = ""

    def findings(self, use: Use, context: Context, judge: Callable[[Use, Context], HelpAndFix]) -> Iterator[Finding]:
        """The finding for a use, with the help text and fix of `judge` where the use stands in one of `places`."""
        stray = self.stray(use, context)
        if stray is not None:
            yield from stray
        else:
            yield self.finding(use, context, *judge(use, context))

    def stray(self, use: Use, context: Context) -> Iterable[Finding] | None:
        """Findings for a use outside `places`, of which there may be none; None for a use inside."""
        if isinstance(use.node, ast.alias):
            help = _of_import(use, context)
        else:
            place = place_of(use, context)
            if place in self.places:
                return None if use.call is not None or place == "decorator" else ()
            if place == "value" and self.plain and drops(context) and _is_given(use, context):
                return (self.finding(use, context, *_plainly(self.plain, use, context)),)
            help = None if place is None else _ADVICE.get(place, self.otherwise)
        return (self.finding(use, context, help),) if help is not None else ()

    def finding(
        self, use: Use, context: Context, help: str | None, fix: Fix | None = None, waits_for: str = ""
    ) -> Finding:
        """The finding for a use."""
        view = context.view
        span = view.span(use.node)
        return Finding(self.code, view.path, span, self.message, self.severity, help, fix, waits_for=waits_for)


def _is_given(use: Use, context: Context) -> bool:
    """Whether the hint itself is stored or passed where a function can take its place."""
    match context.view.parent(use.node):
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]) | ast.keyword() | ast.Dict():
            return True
        case ast.Call(args=arguments):
            return use.node in arguments
    return False


def _plainly(plain: str, use: Use, context: Context) -> tuple[str, Fix]:
    """The function in the place of the hint, where TorchScript goes."""
    rewrite = ReplaceExpression(context.view.span(use.node), Template(plain), bare=True)
    doubt = "who gets it is not known, and may look at it or compare it"
    if (left := first_compilation(context.project, context.view.path)) is not None:
        doubt = f"{left} may still script, and what is compiled cannot call a lambda"
    return f"Needs review: {doubt}.", Fix("Put a plain function in its place", Safety.UNSAFE, (rewrite,))


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
