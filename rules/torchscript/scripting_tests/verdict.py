"""What becomes of a test of scripting when the user says that nothing is scripted any more."""

from __future__ import annotations

import ast
from dataclasses import replace

from torchlift.finding import DeleteStatement, Elsewhere, Finding, Fix, Group, Rewrite, Safety, Severity
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.places.attached_comments import comments_above
from torchlift.rules.analysis.places.never_run import is_skipped
from torchlift.rules.analysis.places.purpose import (
    is_benchmark,
    is_called_test,
    is_program,
    is_test_beside,
    is_test_file,
)
from torchlift.rules.analysis.wording.messages import sentence
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.functions.known_differences import shows_number
from torchlift.rules.torchscript.scripting_tests.checks import asserts, called_name, expects, may_only_run
from torchlift.rules.torchscript.scripting_tests.deleted_test import StillNeeded, deleted, overrides
from torchlift.rules.torchscript.scripting_tests.made_alike import expects_otherwise, made_alike
from torchlift.rules.torchscript.scripting_tests.other_results import returns_otherwise
from torchlift.rules.torchscript.scripting_tests.reduction import Reduction, reduce
from torchlift.rules.torchscript.scripting_tests.remains import still_speaks
from torchlift.rules.torchscript.scripting_tests.same_values import SameValues
from torchlift.rules.torchscript.scripting_tests.scripted_values import FunctionNode, ScriptedValues
from torchlift.rules.torchscript.scripting_tests.scripting_helpers import callers, helpers_seen, imports_of
from torchlift.rules.torchscript.scripting_tests.scripting_switches import row_of, without_rows
from torchlift.rules.torchscript.scripting_tests.successor_test import successor
from torchlift.rules.torchscript.scripting_tests.twins import near_twins, same_test, twin_of
from torchlift.rules.torchscript.scripting_tests.unscripted_body import CannotReplace, NotTheSame, UnscriptedBody
from torchlift.rules.torchscript.scripting_tests.written_files import missing_file
from torchlift.rules.torchscript.values.stale_comments import needed_as_said
from torchlift.torchscript_intent import UNDECIDED
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

# The first release whose exported modules are called like the module in every way that tests do.
_SUCCESSORS = TorchVersion(2, 5)
_PROGRAM = lazy_pattern(r"=\s*torch\.jit\.(?:load|script|trace)\(")
_RUNNERS = frozenset("write write_text writelines exec run Popen call check_call check_output system".split())
_ERRORS = frozenset({"torch.jit.Error", "torch._C.JITException", "torch.jit.frontend.NotSupportedError"})
_GRAPHS = frozenset({"graph", "inlined_graph", "graph_for", "code", "code_with_constants"})
_OPERATION = lazy_pattern(r"\b(?:prim|aten)::\w")
_FAILS = lazy_pattern(r"xfail|expectedFailure")
_SPEAKS = lazy_pattern(r"(?i)script|jit|trac(?:e|ing|able)")


@dataclass(frozen=True)
class WholeVerdict:
    """What is said about every use of TorchScript in one test.

    Attributes:
        help: the help text, if there is something to say.
        fix: the change of the whole test.
        groups: other files that change with it.
    """

    help: str | None
    fix: Fix | None
    groups: tuple[Group, ...] = ()

    @property
    def deletes(self) -> bool:
        """Whether the whole test goes."""
        return self.fix is not None and self.fix.title.startswith("Delete")


def in_scripting_test(use: Use, context: Context, code: str, message: str) -> Finding | None:
    """The finding about a use that stands in a test of scripting; None where others know more."""
    if not drops(context) or isinstance(use.node, ast.alias):
        return None
    function, verdict = function_among_tests(context.view, use.node), _of_row(context, use)
    if verdict is None and function is not None:
        verdict = context.once(_verdict, function)
    if verdict is None:
        return None
    view, node = context.view, use.node
    return Finding(
        code, view.path, view.span(node), message, Severity.WARNING, verdict.help, verdict.fix, groups=verdict.groups
    )


def function_among_tests(view: ModuleView, node: ast.AST) -> FunctionNode | None:
    """The outermost function around `node`, if it stands among tests and is one of them or helps them."""
    around = [item for item in view.ancestors(node) if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if not is_test_file(view.path) and not (around and is_test_beside(around[-1])):
        return None
    if not around or is_benchmark(view, around[-1]) or is_program(view, around[-1]) or is_called_test(view):
        return None
    return around[-1]


def _verdict(context: Context, function: FunctionNode) -> WholeVerdict | None:
    context.answers[_verdict, (function,), ()] = None  # in the meantime, for helpers that call each other
    summary = helpers_seen(context)
    values = ScriptedValues(context.view, function, context.project, summary)
    if not function.name.startswith("test") and summary(context.view, function) is not None:
        return _of_helper(context, function)
    same = SameValues(values)
    reduction = reduce(values, same)
    if reduction.refusal is not None:
        return None
    if function.name.startswith("test") and (line := _own_program(context.view, function)) is not None:
        return _ends_in_program(context, function, reduction, line)
    if function.name == "setUp" and _repeats_base(context, function, reduction):
        return _of_class(context, function)
    if not function.name.startswith("test"):
        return _edited(values, same, reduction) if reduction.checks else None
    again = same_test(context.view, function, values, reduction.gone)
    if again is not None:
        return _deleted(context, function, values, again)
    speaks = _speaks_of_scripting(context.view, function)
    runs = _runs(reduction, same) and not speaks
    checks = [one for one in reduction.checks if not (speaks and may_only_run(one, values))]
    idle = speaks and is_skipped(context.view, function)
    hollow = _has_to_fail(function) and not any(map(asserts, reduction.kept))
    if (checks or runs) and not (idle or hollow):
        return _edited(values, same, reduction)
    verdict = _deleted(context, function, values, idle=idle and bool(checks or runs))
    return verdict if checks == reduction.checks or verdict is None else _with_calls(verdict, context, function)


def _with_calls(verdict: WholeVerdict, context: Context, function: FunctionNode) -> WholeVerdict:
    """The same where what goes calls unknown code, too: for review, unless the user wants such tests deleted."""
    if verdict.fix is None or verdict.fix.safety is Safety.UNSAFE or context.settings.torchscript.tests == "delete":
        return verdict
    about = f"Needs review: `{function.name}` calls code that was not read, which may check something."
    return replace(verdict, help=f"{about} {verdict.help}", fix=replace(verdict.fix, safety=Safety.UNSAFE))


def _own_program(view: ModuleView, function: FunctionNode) -> int | None:
    """Line on which a test writes or starts a program, as text, that uses TorchScript."""
    for node in walk(function):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _PROGRAM.search(node.value) is not None:
            calls = [around.func for around in view.ancestors(node) if isinstance(around, ast.Call)]
            if any(last_name(called) in _RUNNERS for called in calls):
                return node.lineno
    return None


def _ends_in_program(context: Context, function: FunctionNode, reduction: Reduction, line: int) -> WholeVerdict | None:
    """A test goes that has a program of its own look at what it scripted, and checks nothing before."""
    if any(check.lineno <= line for check in reduction.checks):
        return WholeVerdict(
            f"Not rewritten: the program that `{function.name}` writes on line {line} uses TorchScript, too: take both out.",
            None,
        )
    try:
        rewrites: tuple[Rewrite, ...] = deleted(context.view, function, context.project)
    except StillNeeded as reason:
        return WholeVerdict(f"`{function.name}` tests nothing but scripting. Not deleted: {reason}.", None)
    about = f"the program that `{function.name}` writes on line {line} uses TorchScript, and nothing else is checked"
    return WholeVerdict(f"Needs review: {about}.", Fix(f"Delete `{function.name}`", Safety.UNSAFE, rewrites))


def _repeats_base(context: Context, function: FunctionNode, reduction: Reduction) -> bool:
    """Whether the class around a `setUp` only runs the tests of its base again, scripted."""
    view = context.view
    owner = view.parent(function)
    if not isinstance(owner, ast.ClassDef) or len(owner.bases) != 1 or owner.body != [function]:
        return False
    base = view.definition(owner.bases[0])
    tests = base is not None and isinstance(base.node, ast.ClassDef)
    return tests and [ast.unparse(statement) for statement in reduction.kept] == ["super().setUp()"]


def _of_class(context: Context, function: FunctionNode) -> WholeVerdict | None:
    view = context.view
    owner = view.parent(function)
    assert isinstance(owner, ast.ClassDef)
    bound = view.scopes.module.bindings.get(owner.name, [])
    if len(bound) != 1 or view.reads_of(bound[0]) or context.project.may_be_imported(view, bound[0]):
        return None
    rewrite = DeleteStatement(view.span(owner), len(comments_above(view, owner)))
    about = f"`{owner.name}` runs the tests of `{ast.unparse(owner.bases[0])}` again, scripted."
    return WholeVerdict(about, Fix(f"Delete `{owner.name}`", Safety.SAFE, (rewrite,)))


def _of_row(context: Context, use: Use) -> WholeVerdict | None:
    """A row of a `parametrize` that runs a test scripted goes."""
    view, node = context.view, use.node
    found = row_of(view, node) if isinstance(node, ast.expr) and is_test_file(view.path) else None
    if found is None:
        return None
    return WholeVerdict(None, Fix("Delete the row", Safety.SAFE, (without_rows(view, *found),)))


def _of_helper(context: Context, function: FunctionNode) -> WholeVerdict | None:
    """A function that does nothing but test scripting goes with all calls of it."""
    view = context.view
    found = callers(view, function, context.project)
    if found is None:
        return None
    own: list[Rewrite] = [DeleteStatement(view.span(function), len(comments_above(view, function)))]
    elsewhere: list[Elsewhere] = []
    safety, reasons = Safety.SAFE, []
    for home, caller in found:
        there = context if home is view else replace(context, view=home, answers={})
        verdict = there.once(_verdict, caller)
        if verdict is None or verdict.fix is None or verdict.fix.elsewhere:
            reason = f"what {home.path}:{caller.lineno} does with it was not followed"
            return WholeVerdict(f"`{function.name}` does nothing but test scripting. Not deleted: {reason}.", None)
        if home is view:
            own += verdict.fix.rewrites
        else:
            elsewhere += [Elsewhere(home.path, rewrite) for rewrite in verdict.fix.rewrites]
        if verdict.fix.safety is Safety.UNSAFE:
            safety = Safety.UNSAFE
            reasons.append(
                f"so does `{caller.name}`, which goes with it" if verdict.deletes else f"`{caller.name}` changes, too"
            )
    imports = imports_of(view, function, context.project)
    if imports is None:
        return None
    elsewhere += [Elsewhere(path, rewrite) for path, rewrite in imports]
    paths = tuple(sorted({view.path, *(item.path for item in elsewhere)}))
    groups = (Group(f"the helper `{function.name}`", paths),) if elsewhere else ()
    fix = Fix(f"Delete `{function.name}` and its calls", safety, tuple(dict.fromkeys(own)), elsewhere=tuple(elsewhere))
    about = f"`{function.name}` does nothing but test scripting"
    return WholeVerdict(f"Needs review: {about}; {sentence(reasons)}" if reasons else f"{about}.", fix, groups)


def _has_to_fail(function: FunctionNode) -> bool:
    """Whether a mark says that a test fails."""
    return any(_FAILS.search(ast.unparse(decorator)) for decorator in function.decorator_list)


def _speaks_of_scripting(view: ModuleView, function: FunctionNode) -> bool:
    owner = view.class_of(function)
    return bool(_SPEAKS.search(function.name) or (owner is not None and _SPEAKS.search(owner.name)))


def _runs(reduction: Reduction, same: SameValues) -> bool:
    """Whether what stays runs what was scripted, or hands it on: a test that this works at all."""
    return any(
        isinstance(node, ast.Call) and any(map(same.is_subject, (node.func, *node.args)))
        for statement in reduction.kept
        for node in walk(statement)
    )


def _edited(values: ScriptedValues, same: SameValues, reduction: Reduction) -> WholeVerdict | None:
    missing = (
        missing_file(reduction)
        or _looks_at_a_graph(reduction)
        or _counted_in_what_goes(reduction)
        or _expects_its_error(values.view, reduction)
    )
    if missing is not None:
        return WholeVerdict(f"Not rewritten: {missing}", None)
    if (apart := expects_otherwise(values, reduction.kept)) is not None:
        return WholeVerdict(
            f"Not rewritten: line {apart} expects another value of the plain code than of the captured one.", None
        )
    if (compiled := _compiled_line(values.view, reduction)) is not None:
        about = "scripted code it refuses or leaves as it is, and whether it compiles the plain code only a run tells"
        return WholeVerdict(f"Not rewritten: `torch.compile` is called on line {compiled}; {about}.", None)
    scripted = any(use.kind == "decorator" and use.target == "torch.jit.script" for use in values.uses)
    if scripted and (numbered := shows_number(values.view, values.function)) is not None:
        about = f"line {numbered} shows a dtype, a layout or a memory format, which is a number in TorchScript"
        return WholeVerdict(f"Not rewritten: {about}.", None)
    try:
        body = UnscriptedBody(values, same, reduction)
    except CannotReplace:
        return None
    except NotTheSame as reason:
        return WholeVerdict(f"Not rewritten: {reason}.", None)
    rewrites = tuple(dict.fromkeys(body.rewrites))
    if not rewrites:
        return None
    title = "Test the plain code instead"
    doubts = body.doubts
    doubts += filter(None, (needed_as_said(values.view, values.function),))
    if (expected := next(filter(expects, reduction.kept), None)) is not None:
        doubts.append(
            f"line {expected.lineno} expects an error or a warning, which the scripted value may have been the reason for"
        )
    if (caught := _fails_without(values)) is not None:
        doubts.append(f"line {caught} fails where a capture does, and what is left may look at one value twice")
    if _has_to_fail(values.function):
        doubts.append(f"`{values.function.name}` is marked to fail, which the scripting may have been the reason for")
    if reduction.checks and (otherwise := returns_otherwise(values)) is not None:
        doubts.append(otherwise)
    if (alike := made_alike(values, reduction.kept)) is not None:
        doubts.append(f"line {alike} compares two values that are made in the same words from now on")
    left = " ".join(still_speaks(reduction, body.deleted))
    if doubts:
        return WholeVerdict(f"Needs review: {sentence(doubts)} {left}".rstrip(), Fix(title, Safety.UNSAFE, rewrites))
    return WholeVerdict(left or None, Fix(title, Safety.SAFE, rewrites))


def _fails_without(values: ScriptedValues) -> int | None:
    """Line of the first handler of a capture, a save or a load that makes the test fail."""
    for use in values.uses:
        for around in values.view.ancestors(use.node):
            for handler in around.handlers if isinstance(around, ast.Try) else ():
                if any(isinstance(node, ast.Call) and called_name(node) == "fail" for node in walk(handler)):
                    return handler.lineno
    return None


def _looks_at_a_graph(reduction: Reduction) -> str | None:
    """A sentence about the first check that stays and names an operation of TorchScript's graphs."""
    for check in reduction.checks:
        for node in walk(check):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _OPERATION.search(node.value):
                return (
                    f"line {check.lineno} looks for `{node.value}` in a graph: decide first what it has to find without "
                    "TorchScript."
                )
    return None


def _counted_in_what_goes(reduction: Reduction) -> str | None:
    """A sentence about the first check that stays of a number, or a list, that only what goes counts up or fills."""
    counted = {
        changed.id: changed.lineno
        for statement in reduction.gone
        for node in walk(statement)
        for changed in [_changed(node)]
        if isinstance(changed, ast.Name)
    }
    for check in reduction.checks:
        for node in walk(check):
            if isinstance(node, ast.Name) and node.id in counted:
                return (
                    f"line {check.lineno} checks `{node.id}`, which line {counted[node.id]} makes of a scripted value: decide first what it "
                    "has to be without TorchScript."
                )
    return None


def _changed(node: ast.AST) -> ast.expr | None:
    """What a statement or call changes in place: `n += 1`, `found.append(x)`."""
    match node:
        case ast.AugAssign(target=target):
            return target
        case ast.Call(func=ast.Attribute(value=value, attr="append" | "add" | "extend" | "update")):
            return value
    return None


def _expects_its_error(view: ModuleView, reduction: Reduction) -> str | None:
    """A sentence about the first statement that stays and expects an error which only TorchScript raises."""
    for statement in filter(expects, reduction.kept):
        for item in statement.items if isinstance(statement, (ast.With, ast.AsyncWith)) else ():
            for node in walk(item.context_expr):
                if isinstance(node, ast.Attribute) and view.certain_name(node) in _ERRORS:
                    shown = view.text(node)
                    return f"line {statement.lineno} expects `{shown}`, which plain code never raises: say what it raises instead."
    return None


def _looked_at(values: ScriptedValues) -> ast.Attribute | None:
    """The first look at the graph or code of a scripted value that does not only print it."""
    for node in walk(values.function):
        if isinstance(node, ast.Attribute) and node.attr in _GRAPHS and values.original(node.value) is not None:
            around = (one for one in values.view.ancestors(node) if isinstance(one, ast.Call))
            if not any(isinstance(call.func, ast.Name) and call.func.id == "print" for call in around):
                return node
    return None


def _compiled_line(view: ModuleView, reduction: Reduction) -> int | None:
    """Line of the first `torch.compile` in what stays of a test."""
    calls = (node for statement in reduction.kept for node in walk(statement) if isinstance(node, ast.Call))
    return next((call.lineno for call in calls if view.certain_name(call.func) == "torch.compile"), None)


def _deleted(
    context: Context,
    function: FunctionNode,
    values: ScriptedValues,
    same: FunctionNode | None = None,
    *,
    idle: bool = False,
) -> WholeVerdict | None:
    """The test goes; `same` is the one that says the same without scripting, if there is one.

    `idle` says that it checks something besides, which no run ever does.
    """
    view, intent = context.view, context.settings.torchscript
    try:
        rewrites: tuple[Rewrite, ...] = deleted(view, function, context.project)
    except StillNeeded as reason:
        return WholeVerdict(f"`{function.name}` tests nothing but scripting. Not deleted: {reason}.", None)
    twin = same or twin_of(view, function, values)
    again = tuple(Elsewhere(path, rewrite) for path, rewrite in overrides(view, function, context.project))
    paths = tuple(sorted({view.path, *(item.path for item in again)}))
    groups = (Group(f"the test `{function.name}`", paths),) if again else ()
    sure = Fix(f"Delete `{function.name}`", Safety.SAFE, rewrites, elsewhere=again)
    if twin is not None and not idle:
        about = f"`{twin.name}` on line {twin.lineno} tests the same without scripting."
        if same is None:
            about = f"It tests nothing but scripting; `{twin.name}` on line {twin.lineno} tests the same code without."
        return WholeVerdict(about, sure, groups)
    if idle or (intent.tests != "delete" and is_skipped(view, function)):
        about = f"`{function.name}` is skipped in every run, and what would take its place is, too"
        return WholeVerdict(f"Needs review: {about}.", replace(sure, safety=Safety.UNSAFE), groups)
    if intent.tests == "delete":
        return WholeVerdict("It tests nothing but scripting.", sure, groups)
    if (looked := _looked_at(values)) is not None:
        about = "which plain code does not have: say what has to hold without it"
        advice = f'line {looked.lineno} looks at `.{looked.attr}`, {about}. `tests = "delete"` deletes such tests'
        return WholeVerdict(f"Not rewritten: {advice}.", None)
    tested = successor(values) if intent.tests == "successor" else None
    if tested is not None:
        doubts = ["only a run tells whether what was scripted can be captured, and for which inputs", *tested[1]]
        return WholeVerdict(
            f"Needs review: {sentence(doubts)}",
            Fix("Test its successor instead", Safety.UNSAFE, tested[0], _SUCCESSORS),
        )
    near = next(near_twins(view, function, values), None)
    less = f" `{near.name}` on line {near.lineno} makes or calls it in other ways." if near is not None else ""
    return WholeVerdict(
        f"Needs review: `{function.name}` {UNDECIDED} the same.{less} "
        '`tests = "delete"` in `[tool.torchlift.torchscript]` deletes such tests, `tests = "successor"` makes tests '
        "of `torch.export` or `torch.compile` out of them where that is possible.",
        replace(sure, safety=Safety.UNSAFE),
        groups,
    )
