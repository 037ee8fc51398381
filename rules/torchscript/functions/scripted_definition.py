"""`torch.jit.script` on a function or a class: when the Python original can take its place."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torchlift.finding import (
    DeleteStatement,
    DropDecorator,
    Fix,
    ReplaceExpression,
    Rewrite,
    Safety,
    Template,
)
from torchlift.rules.analysis.places.purpose import enclosing_test
from torchlift.rules.analysis.project.module_base import is_module_class
from torchlift.rules.analysis.wording.messages import one_line, sentence
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.compilers.compiled_context import context_doubts, surroundings
from torchlift.rules.torchscript.compilers.scripted_classes import first_compiler
from torchlift.rules.torchscript.compilers.scripting_uses import first_expectation
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.functions.dropped_function import without_call, without_decorator
from torchlift.rules.torchscript.functions.function_uses import FunctionUses, read_uses
from torchlift.rules.torchscript.functions.scripted_function import read_function
from torchlift.rules.torchscript.functions.trace_doubts import needed_by_trace, trace_doubts
from torchlift.rules.torchscript.functions.use_advice import UseAdvice
from torchlift.rules.torchscript.proofs.recorded_capture import Assumption, clauses, recorded_eager, safety_of
from torchlift.rules.torchscript.values.kept_entry import kept_entry
from torchlift.view import Binding, ModuleView, Use

_SPEED = "Where its speed on a GPU mattered, put `@torch.compile` in its place."


def decorated_function(
    use: Use, node: ast.FunctionDef | ast.AsyncFunctionDef, decorator: ast.expr, context: Context
) -> UseAdvice:
    """`@torch.jit.script` on a function."""
    view = context.view
    if drops(context) and enclosing_test(view, node, by_file=False) is None:
        return without_decorator(use, node, decorator, context)
    rewrites = (DropDecorator(view.span(decorator)),)
    owner = view.parent(node)
    position = next(index for index, item in enumerate(node.decorator_list) if item is decorator)
    static = any(isinstance(above, ast.Name) and above.id == "staticmethod" for above in node.decorator_list[:position])
    if isinstance(owner, ast.ClassDef) and not static:
        return UseAdvice(
            "Not rewritten: a scripted function in a class body is called without `self`, a plain one would get it. Put "
            "`@staticmethod` in the place of the decorator if that is what the calls expect."
        )
    if (test := enclosing_test(view, node, by_file=False)) is not None:
        return _for_test(test, node.name)
    facts = read_function(view, node, context.project)
    binding = view.bound_by(node)
    uses = _uses(view, binding, use, context) if binding is not None else FunctionUses()
    uses.refusals += [*facts.fails, *needed_by_trace(view, node, facts.branches, context)]
    if isinstance(owner, ast.ClassDef):
        uses.doubts.append(f"the uses of `{owner.name}.{node.name}` were not looked for")
    around = [*trace_doubts(view, node, facts.branches, facts.shapes, context), *uses.doubts]
    others = [
        item
        for index, item in enumerate(node.decorator_list)
        if index != position and not _is_static(item, index, position)
    ]
    if others:
        around.append(f"what `@{one_line(view, others[0])}` makes of the plain function was not checked")
    return _verdict(
        "Remove the decorator", rewrites, _assumptions(facts.doubts, around), uses, (view, node), use, context
    )


def scripted_value(
    use: Use, call: ast.Call, definition: tuple[ModuleView, ast.FunctionDef], context: Context
) -> UseAdvice:
    """`torch.jit.script(function)`, with the function in view."""
    view = context.view
    home, function = definition
    value = call.args[0]
    statement = view.parent(call)
    if (test := enclosing_test(view, call)) is not None:
        return _for_test(test, one_line(view, value))
    if drops(context):
        return without_call(use, call, definition, context)
    if function.decorator_list:
        return UseAdvice(
            f"Not rewritten: `{function.name}` is decorated, and scripting compiles what stands under the decorators. Use "
            f"`{one_line(view, value)}` itself once you have checked that they make no difference."
        )
    facts = read_function(home, function, context.project)
    uses = FunctionUses()
    plain = ReplaceExpression(view.span(call), Template("$value", (("value", view.span(value)),)))
    rewrites: tuple[Rewrite, ...] = (plain,)
    title = f"Use `{one_line(view, value)}` itself"
    match statement:
        case ast.Assign(targets=[ast.Name() as target]):
            again = view.bound_by(target)
            if again is None or again.scope.kind == "class":
                return UseAdvice(
                    "Not rewritten: a scripted function kept on a class is called without `self`, a plain one would get "
                    f"it. `{target.id} = staticmethod({one_line(view, value)})` is called the same way."
                )
            uses = _uses(view, again, use, context)
            if isinstance(value, ast.Name) and value.id == target.id:
                rewrites, title = (DeleteStatement(view.span(statement)),), f"Leave `{target.id}` as it is"
        case ast.Call(func=called) if called is call:
            pass
        case ast.Attribute(attr=attr):
            uses.refusals.append(f"it is asked for `.{attr}`")
        case ast.Assign(targets=[ast.Attribute(attr=attr)]):
            uses.doubts.append(f"it is kept as `.{attr}`, whose uses were not followed")
        case ast.Assign(targets=[ast.Subscript() as target]):
            return UseAdvice(kept_entry(view, target, value))
        case ast.Return():
            shown = one_line(view, value)
            return UseAdvice(
                f"Not rewritten: it is returned, and what the callers do with it was not followed. Return `{shown}` itself "
                f"where it is only called, or `torch.compile({shown})`."
                + "".join(
                    f" Mind that {clause}."
                    for clause in trace_doubts(home, function, facts.branches, facts.shapes, context)
                )
            )
        case ast.Expr():
            return UseAdvice(_thrown_away(function.name, one_line(view, value)))
        case _:
            uses.doubts.append("it is handed on, and what happens to it there was not followed")
    uses.refusals += [*facts.fails, *needed_by_trace(home, function, facts.branches, context)]
    around = [*trace_doubts(home, function, facts.branches, facts.shapes, context), *uses.doubts]
    return _verdict(title, rewrites, _assumptions(facts.doubts, around), uses, definition, use, context)


def scripted_class(
    view: ModuleView, node: ast.ClassDef, decorator: ast.expr | None, again: Binding | None, context: Context
) -> UseAdvice:
    """`torch.jit.script` on a class, which it hands back as it is."""
    if is_module_class(view, node, context.project) is True:
        return UseAdvice(
            f"`torch.jit.script` raises RuntimeError for `{node.name}`, because it is an `nn.Module` class: it takes "
            "instances only. Delete the call or the decorator."
        )
    place = first_compiler(context.project)
    if place is not None and not drops(context):
        return UseAdvice(
            f"Keep it as long as code that uses `{node.name}` is scripted: {place} scripts something, and whether that uses it "
            "was not followed. The class itself is the Python class, scripted or not."
        )
    expected = None if drops(context) else first_expectation(context.project, view.path)
    review = None
    if expected is not None:
        review = (
            f"Needs review: {expected} expects to be compiled, so users of this project may script code with the class."
        )
    if place is not None:
        review = (
            f"Needs review: {place} still scripts something, and whether that uses `{node.name}` was not followed; where it does, "
            "it compiles the class with it by itself."
        )
    safety = Safety.UNSAFE if review else Safety.SAFE
    rewrite: Rewrite
    if decorator is not None:
        rewrite = DropDecorator(view.span(decorator))
    else:
        assert again is not None and again.statement is not None
        rewrite = DeleteStatement(view.span(again.statement))
    return UseAdvice(review, Fix("Leave the class as it is", safety, (rewrite,)))


def _verdict(
    title: str,
    rewrites: tuple[Rewrite, ...],
    assumptions: list[Assumption],
    uses: FunctionUses,
    definition: tuple[ModuleView, ast.FunctionDef | ast.AsyncFunctionDef],
    use: Use,
    context: Context,
) -> UseAdvice:
    recorded = recorded_eager(use, context)
    notes = recorded.notes() if recorded is not None else ()
    if uses.refusals:
        return UseAdvice(
            f"Not rewritten: a plain function does not serve every use: {sentence(uses.refusals)} {_SPEED}", notes=notes
        )
    if recorded is not None and recorded.refuted:
        return UseAdvice(f"Not rewritten: {recorded.refuted}. {_SPEED}", notes=notes)
    if recorded is not None and recorded.proved:
        around = surroundings(context.project, *definition)
        users = [clause for clause in context_doubts(context.project, *definition) if clause not in around]
        assumptions = [*assumptions, *_assumptions(users, around)]
    elif not assumptions:
        # Only the functions that pass everything else are worth a look through the whole project.
        assumptions = _assumptions([], context_doubts(context.project, *definition))
    safety, left = safety_of(assumptions, recorded)
    said = f"Needs review: {sentence(clauses(left))} {_SPEED}" if left else None
    return UseAdvice(said, Fix(title, safety, rewrites), notes)


def _uses(view: ModuleView, binding: Binding, use: Use, context: Context) -> FunctionUses:
    """What the project does with a function; where runs prove the plain one, what was not followed counts only if it notices."""
    recorded = recorded_eager(use, context)
    uses = read_uses(view, binding, context.project)
    if recorded is None or not recorded.proved or uses.refusals:
        return uses
    noticed = read_uses(view, binding, context.project, drops=True)
    return uses if noticed.rewrites else noticed


def _assumptions(code: Sequence[str], around: Sequence[str]) -> list[Assumption]:
    """What is not known of the function's own code, and of the project around it."""
    return [*map(Assumption, code), *(Assumption(clause, "project") for clause in around)]


def _for_test(test: str, name: str) -> UseAdvice:
    return UseAdvice(
        f"Not rewritten: `{test}` is a test and scripts `{name}`. Where that is all it is for, delete that part of it, or "
        f"test its successor: `torch.compile({name}, fullgraph=True)`, called with inputs."
    )


def _is_static(item: ast.expr, index: int, position: int) -> bool:
    return index < position and isinstance(item, ast.Name) and item.id == "staticmethod"


def _thrown_away(name: str, shown: str) -> str:
    return (
        f"The result is thrown away, so the call only checks that `{name}` can be scripted: delete it, or check that "
        f"`torch.compile({shown}, fullgraph=True)` runs."
    )
