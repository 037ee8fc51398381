"""Where a project asks whether something is of an old class: what takes the class's place is of its base class only."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import partial

from torchlift.finding import Finding, Fix, ReplaceExpression, Safety, Severity, Template
from torchlift.project import Collector
from torchlift.rules.api.uses.old_call import CallAdvice, spelled
from torchlift.rules.rule import Context
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk


def class_tests(name: str, targets: Iterable[str], triggers: tuple[str, ...]) -> Collector:
    """What notes the first line of each file that asks for one of the classes `targets`."""
    return Collector(name, triggers, partial(_first_test, frozenset(targets)))


def _first_test(targets: frozenset[str], view: ModuleView) -> int | None:
    return min(
        (use.node.lineno for use in view.uses(targets) if is_class_test(view, use) and not asks_for_new(view, use)),
        default=None,
    )


def is_class_test(view: ModuleView, use: Use) -> bool:
    """Whether `use` asks if something is of the class: by `isinstance`, a comparison, `case` or `except`, or in a list for that."""
    if use.kind == "isinstance":
        return True
    if use.kind != "reference":
        return False
    node: ast.AST = use.node
    above = view.parent(node)
    while isinstance(above, (ast.Tuple, ast.Set, ast.List, ast.BinOp, ast.IfExp)):
        node, above = above, view.parent(above)
    if isinstance(above, ast.Call) and isinstance(above.func, ast.Name):
        return above.func.id in {"isinstance", "issubclass"} and node in above.args[1:]
    if isinstance(above, (ast.Assign, ast.AnnAssign)):
        return isinstance(node, (ast.Tuple, ast.Set, ast.List, ast.BinOp)) and above.value is node
    return isinstance(above, (ast.Compare, ast.MatchClass)) or (
        isinstance(above, ast.ExceptHandler) and above.type is node
    )


def asks_for_new(view: ModuleView, use: Use) -> bool:
    """Whether `use` is one of the classes of a test that asks for the class below `torch.amp`, too, under no condition."""
    if not is_class_test(view, use):
        return False
    last = use.target.rpartition(".")[2]
    tested: ast.AST = use.node
    while isinstance(above := view.parent(tested), (ast.Tuple, ast.Set, ast.List, ast.BinOp, ast.IfExp)):
        tested = above
    if any(isinstance(node, ast.IfExp) for node in walk(tested)):
        return False
    names = {view.certain_name(node) for node in walk(tested) if isinstance(node, (ast.Name, ast.Attribute))}
    return not names.isdisjoint({f"torch.amp.{last}", f"torch.{last}"})


def first_test(context: Context, tests: Collector) -> str | None:
    """`path:line` of a test that the project makes."""
    return next((f"{path}:{line}" for path, line in sorted(context.project.records(tests).items())), None)


def waits(test: str, base: str) -> CallAdvice:
    """The advice where an object is made that the test at `test` would not know any more."""
    return CallAdvice(
        f"Not rewritten: {test} asks for the old class, and the new object is of its base class `{base}` alone, which has to be asked "
        "for there first."
    )


def finding_about_annotation(
    code: str, use: Use, context: Context, said: str, base: str, needs: TorchVersion
) -> Iterator[Finding]:
    """The finding about an annotation in a file that makes such objects: it moves with them, to the class of both."""
    view = context.view
    if not any(other.call is not None for other in view.uses(frozenset((use.target,)))):
        return
    name = spelled(view, use, base)
    if name is None:
        return
    text = name[0]
    if isinstance(use.node, ast.Constant):
        quote = view.text(use.node)[:1]
        if use.node.value not in {"GradScaler", "autocast"} or quote not in {"'", '"'}:
            return
        text = f"{quote}{text}{quote}"
    rewrite = ReplaceExpression(view.span(use.node), Template(text))
    fix = Fix(f"Write `{base}`, the class of the old objects and the new ones", Safety.SAFE, (rewrite, *name[1]), needs)
    yield Finding(code, view.path, view.span(use.node), said, Severity.WARNING, None, fix)


def finding_about_test(code: str, use: Use, context: Context, said: str, base: str, needs: TorchVersion) -> Finding:
    """The finding about a test: it can name the base class, of which the old and the new ones are."""
    view = context.view
    advice = f"Needs review: `{base}` is its base class, of which what takes its place is, too, and what is made for other devices."
    name = spelled(view, use, base)
    fix = None
    if name is not None:
        rewrite = ReplaceExpression(view.span(use.node), Template(name[0]))
        fix = Fix(f"Ask for `{base}`", Safety.UNSAFE, (rewrite, *name[1]), needs)
    return Finding(code, view.path, view.span(use.node), said, Severity.WARNING, advice, fix)
