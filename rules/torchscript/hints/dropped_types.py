"""Classes of TorchScript values used as types, where TorchScript goes: type tests are false, annotations name wider classes."""

from __future__ import annotations

import ast

from torchlift.finding import DeleteStatement, Fix, KeepBranch, ReplaceExpression, Rewrite, Safety, Template
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.analysis.wording.nearest_place import place_alone
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.compilers.runtime_uses import first_runtime_use
from torchlift.rules.torchscript.compilers.scripting_uses import first_compilation
from torchlift.rules.torchscript.hints.hint_conditions import condition_of
from torchlift.rules.torchscript.hints.hint_folding import CannotFold, without_question
from torchlift.view import ModuleView, Use
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

_WIDER = {
    "ScriptModule": "torch.nn.Module",
    "RecursiveScriptModule": "torch.nn.Module",
    "TracedModule": "torch.nn.Module",
    "TopLevelTracedModule": "torch.nn.Module",
    "ScriptFunction": "collections.abc.Callable",
    "ScriptMethod": "collections.abc.Callable",
}
_OF_CPP = frozenset({"torch.ScriptClass", "torch._C.ScriptClass"})
OF_CPP = "Classes that C++ registers for `torch.classes` are instances of it with and without scripting: keep it where they are meant."
_UNIONS = frozenset({"typing.Union", "typing.Optional"})
# Decorators that choose a function by its annotations.
_DISPATCHING = frozenset({"register", "overload", "dispatch"})


@dataclass(frozen=True)
class TypeAdvice:
    """What to say about one use.

    Attributes:
        help: the help text, if there is one.
        fix: the change, if there is one.
        waits_for: `path:line` of what has to go before.
    """

    help: str | None
    fix: Fix | None = None
    waits_for: str = ""


def in_annotation(use: Use, node: ast.expr, context: Context) -> TypeAdvice | None:
    """The class `node` in an annotation or type alias; None where it is not known what to write."""
    view = context.view
    wider = _WIDER.get(use.target.rpartition(".")[2])
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
    if wider is None or (use.kind == "string" and text != use.name) or _decides(view, node):
        return None
    place = first_compilation(context.project, view.path) or next(
        iter(context.project.files_holding("jit.load(")), None
    )
    if place is not None:
        advice = f"It names what {place} may make or load: migrate that first."
        return TypeAdvice(advice, waits_for=place_alone(place))
    spelling = view.spell(wider, node, use)
    if spelling is None:
        return None
    if text is not None:
        quoted = view.text(node).replace(text, spelling.text)
        rewrite = ReplaceExpression(view.span(node), Template(quoted))
        return TypeAdvice(None, Fix(f"Annotate `{spelling.text}`", Safety.SAFE, (rewrite, *spelling.imports)))
    rewrites = _narrowed(view, node, spelling.text, wider) or (
        ReplaceExpression(view.span(node), Template(spelling.text)),
        *spelling.imports,
    )
    return TypeAdvice(None, Fix(f"Annotate `{spelling.text}`", Safety.SAFE, rewrites))


def _decides(view: ModuleView, node: ast.expr) -> bool:
    """Whether the annotation chooses between functions when the program runs."""
    function = next((a for a in view.ancestors(node) if isinstance(a, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
    for decorator in function.decorator_list if function is not None else ():
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = last_name(named)
        if name in _DISPATCHING:
            return True
    return False


def _narrowed(view: ModuleView, node: ast.expr, text: str, wider: str) -> tuple[Rewrite, ...] | None:
    """The union around `node` without it, where another member of it covers it."""
    parent = view.parent(node)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.BitOr):
        other = parent.right if parent.left is node else parent.left
        if _covers(view, other, wider):
            return (ReplaceExpression(view.span(parent), Template("$other", (("other", view.span(other)),))),)
        return None
    union = view.parent(parent) if isinstance(parent, ast.Tuple) else None
    if not isinstance(parent, ast.Tuple) or not isinstance(union, ast.Subscript):
        return None
    if view.certain_name(union.value) not in _UNIONS:
        return None
    others = [element for element in parent.elts if element is not node]
    if not any(_covers(view, other, wider) for other in others):
        return None
    parts = tuple((f"p{index}", view.span(other)) for index, other in enumerate(others))
    if len(others) == 1:
        return (ReplaceExpression(view.span(union), Template("$p0", parts)),)
    listed = ", ".join(f"$p{index}" for index in range(len(others)))
    template = Template(f"$union[{listed}]", (("union", view.span(union.value)), *parts))
    return (ReplaceExpression(view.span(union), template),)


def _covers(view: ModuleView, node: ast.expr, wider: str) -> bool:
    return any(view.certain_name(part) == wider for part in _members(node))


def _members(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [*_members(node.left), *_members(node.right)]
    return [node]


def in_type_test(use: Use, node: ast.expr, targets: frozenset[str], context: Context) -> TypeAdvice | None:
    """The class `node` in `isinstance` or `issubclass`; None where something else is done with it.

    A class beside `torch.nn.Module`, which it derives from, says nothing. What is left is false where nothing makes
    TorchScript values any more.
    """
    view = context.view
    parent = view.parent(node)
    call = view.parent(parent) if isinstance(parent, ast.Tuple) else parent
    if not (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in {"isinstance", "issubclass"}
        and len(call.args) == 2
        and view.scope_at(call).lookup(call.func.id) is None
    ):
        return None
    tested = call.args[1]
    members = tested.elts if isinstance(tested, ast.Tuple) else [tested]
    if any(view.certain_name(member) in _OF_CPP for member in members):
        return TypeAdvice(OF_CPP)
    others = [member for member in members if view.certain_name(member) not in targets]
    covered = any(view.certain_name(other) == "torch.nn.Module" for other in others) and all(
        _WIDER.get(view.certain_name(member).rpartition(".")[2]) == "torch.nn.Module"
        for member in members
        if member not in others
    )
    if others:
        fix = Fix("Test for the other classes only", Safety.SAFE, (only_others(view, tested, others),))
        return TypeAdvice(None, fix) if covered else _where_nothing_runs(fix, context)
    if (asserted := _only_asserted(view, call)) is not None:
        fix = Fix("Take the assertion out, which only TorchScript passes", Safety.SAFE, (asserted,))
        return _where_nothing_runs(fix, context)
    try:
        test, owner = condition_of(view, call)
        rewrites = without_question(view, test, owner, lambda asked: False if asked is call else None)
        if isinstance(owner, ast.If) and any(_always_raises(owner, rewrite) for rewrite in rewrites):
            raise CannotFold("then it would always raise: what is checked here is for TorchScript values alone")
    except CannotFold as reason:
        return TypeAdvice(f"It is false for every value that TorchScript did not make. Not rewritten because {reason}.")
    return _where_nothing_runs(Fix("Take the type test out, which is false", Safety.SAFE, rewrites), context)


def _only_asserted(view: ModuleView, call: ast.Call) -> Rewrite | None:
    """What takes out an assertion of a test that asks nothing else, beside other statements."""
    statement = view.parent(call)
    if not isinstance(statement, ast.Assert) or not is_test_file(view.path) or len(view.block(statement)) == 1:
        return None
    if any(isinstance(part, ast.Call) for part in walk(call.args[0])):
        return None
    return DeleteStatement(view.span(statement))


def _always_raises(owner: ast.If, rewrite: Rewrite) -> bool:
    if not isinstance(rewrite, KeepBranch) or rewrite.branch is None:
        return False
    kept = owner.body if rewrite.branch == "body" else owner.orelse
    return isinstance(kept[-1], ast.Raise)


def only_others(view: ModuleView, tested: ast.expr, others: list[ast.expr]) -> Rewrite:
    """What leaves some of the classes in a tuple of them."""
    parts = tuple((f"p{index}", view.span(other)) for index, other in enumerate(others))
    listed = ", ".join(f"$p{index}" for index in range(len(others)))
    text = listed if len(others) == 1 else f"({listed})"
    return ReplaceExpression(view.span(tested), Template(text, parts))


def _where_nothing_runs(fix: Fix, context: Context) -> TypeAdvice:
    """The fix, once nothing in the project makes TorchScript values."""
    place = first_runtime_use(context.project, context.view.path)
    if place is None:
        return TypeAdvice(None, fix)
    advice = f"Keep it as long as {place} may make or load TorchScript; migrate that first."
    return TypeAdvice(advice, waits_for=place_alone(place))
