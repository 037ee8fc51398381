"""What becomes of a test of scripting when the user says that nothing is scripted any more."""

from __future__ import annotations

import ast
import re

from torchlift.finding import Finding, Fix, Rewrite, Safety, Severity
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.analysis.wording.messages import sentence
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.scripting_tests.deleted_test import StillNeeded, deleted
from torchlift.rules.torchscript.scripting_tests.reduction import Reduction, reduce
from torchlift.rules.torchscript.scripting_tests.same_values import SameValues
from torchlift.rules.torchscript.scripting_tests.scripted_values import FunctionNode, ScriptedValues
from torchlift.rules.torchscript.scripting_tests.test_helpers import helpers_seen
from torchlift.rules.torchscript.scripting_tests.twins import twin_of
from torchlift.rules.torchscript.scripting_tests.unscripted_body import CannotReplace, UnscriptedBody
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

_SPEAKS = re.compile(r"(?i)script|jit|trac(?:e|ing|able)")


@dataclass(frozen=True)
class TestVerdict:
    """What is said about every use of TorchScript in one test.

    Attributes:
        help: the help text, if there is something to say.
        fix: the change of the whole test.
    """

    help: str | None
    fix: Fix | None


def in_scripting_test(use: Use, context: Context, code: str, message: str) -> Finding | None:
    """The finding about a use that stands in a test of scripting; None where others know more."""
    if not drops(context) or isinstance(use.node, ast.alias):
        return None
    function = test_around(context.view, use.node)
    if function is None:
        return None
    verdict = context.once(_verdict, function)
    if verdict is None:
        return None
    return Finding(
        code, context.view.path, context.view.span(use.node), message, Severity.WARNING, verdict.help, verdict.fix
    )


def test_around(view: ModuleView, node: ast.AST) -> FunctionNode | None:
    """The outermost function around `node`, if it stands among tests and is one of them or helps them."""
    if not is_test_file(view.path):
        return None
    around = [item for item in view.ancestors(node) if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return around[-1] if around else None


def _verdict(context: Context, function: FunctionNode) -> TestVerdict | None:
    values = ScriptedValues(context.view, function, context.project, helpers_seen(context))
    same = SameValues(values)
    reduction = reduce(values, same)
    if reduction.refusal is not None:
        return None
    if not function.name.startswith("test"):
        return None
    if reduction.checks or (_runs(reduction, same) and not _speaks_of_scripting(context.view, function)):
        return _edited(values, same, reduction)
    return _deleted(context, function, values)


def _speaks_of_scripting(view: ModuleView, function: FunctionNode) -> bool:
    owner = view.class_of(function)
    return bool(_SPEAKS.search(function.name) or (owner is not None and _SPEAKS.search(owner.name)))


def _runs(reduction: Reduction, same: SameValues) -> bool:
    """Whether what stays runs what was scripted: a test that it runs at all."""
    return any(
        isinstance(node, ast.Call) and same.is_subject(node.func)
        for statement in reduction.kept
        for node in walk(statement)
    )


def _edited(values: ScriptedValues, same: SameValues, reduction: Reduction) -> TestVerdict | None:
    try:
        body = UnscriptedBody(values, same, reduction)
    except CannotReplace:
        return None
    rewrites = tuple(dict.fromkeys(body.rewrites))
    if not rewrites:
        return None
    title = "Test the plain code instead"
    if body.doubts:
        return TestVerdict(f"Needs review: {sentence(body.doubts)}", Fix(title, Safety.UNSAFE, rewrites))
    return TestVerdict(None, Fix(title, Safety.SAFE, rewrites))


def _deleted(context: Context, function: FunctionNode, values: ScriptedValues) -> TestVerdict | None:
    view, intent = context.view, context.settings.torchscript
    try:
        rewrites: tuple[Rewrite, ...] = deleted(view, function, context.project)
    except StillNeeded as reason:
        return TestVerdict(f"`{function.name}` tests nothing but scripting. Not deleted: {reason}.", None)
    twin = twin_of(view, function, values)
    title = f"Delete `{function.name}`"
    if twin is not None:
        return TestVerdict(
            f"It tests nothing but scripting; `{twin.name}` on line {twin.lineno} tests the same without.",
            Fix(title, Safety.SAFE, rewrites),
        )
    if intent.tests == "delete":
        return TestVerdict("It tests nothing but scripting.", Fix(title, Safety.SAFE, rewrites))
    return TestVerdict(
        f"Needs review: `{function.name}` tests nothing but scripting, and no test without it was found that tests the "
        'same. `tests = "delete"` in `[tool.torchlift.torchscript]` deletes such tests, `tests = "successor"` makes tests '
        "of `torch.export` or `torch.compile` out of them where that is possible.",
        Fix(title, Safety.UNSAFE, rewrites),
    )
