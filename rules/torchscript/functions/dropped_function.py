"""What takes the place of `torch.jit.script` on a function where TorchScript goes from the project.

Nobody scripts any more, so what scripting checked or rejected is answered, and the function runs as it is written. What is
left are the places where it was measured to do something else, and uses that a plain function does not serve.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import DeleteStatement, DropDecorator, Fix, KeepBranch, ReplaceExpression, Rewrite, Template
from torchlift.rules.analysis.places.expected_errors import handler_around
from torchlift.rules.analysis.values.environment_reads import GETTERS
from torchlift.rules.analysis.values.repeatable import is_repeatable
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.analysis.wording.messages import one_line, sentence
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.compilers.compiled_context import surroundings
from torchlift.rules.torchscript.facts.script_only import OF_FUNCTIONS
from torchlift.rules.torchscript.functions.foreign_code import foreign_doubts
from torchlift.rules.torchscript.functions.function_uses import FunctionUses, read_uses, static, takes_by_name
from torchlift.rules.torchscript.functions.passed_values import calls_as_attribute, passed_doubts
from torchlift.rules.torchscript.functions.scripted_expressions import FunctionFacts
from torchlift.rules.torchscript.functions.scripted_function import read_function
from torchlift.rules.torchscript.functions.trace_doubts import needed_by_trace, trace_doubts
from torchlift.rules.torchscript.functions.use_advice import UseAdvice
from torchlift.rules.torchscript.proofs.recorded_capture import (
    Assumption,
    Recorded,
    clauses,
    recorded_eager,
    safety_of,
)
from torchlift.rules.torchscript.values.kept_entry import plain_entry
from torchlift.rules.torchscript.values.measured_beside import measured_beside
from torchlift.rules.torchscript.values.script_readers import decorator_reader, unit_reader
from torchlift.rules.torchscript.values.stale_comments import needed_as_said, stale_above, without_type_comment
from torchlift.rules.torchscript.values.stale_names import without_second_name
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

_COMPILE_SINCE = TorchVersion(2, 0)
_Definition = tuple[ModuleView, ast.FunctionDef | ast.AsyncFunctionDef]


def without_decorator(
    use: Use, node: ast.FunctionDef | ast.AsyncFunctionDef, decorator: ast.expr, context: Context
) -> UseAdvice:
    """`@torch.jit.script` on a function."""
    view = context.view
    owner = view.parent(node)
    position = node.decorator_list.index(decorator)
    above = node.decorator_list[:position]
    below = [one for one in node.decorator_list[position + 1 :] if view.certain_name(one) != "torch.jit.script"]
    uses = FunctionUses()
    if isinstance(owner, ast.ClassDef):
        uses.calls = calls_as_attribute(view, node.name)
    elif (binding := view.bound_by(node)) is not None:
        uses = read_uses(view, binding, context.project, drops=True)
    uses.doubts += filter(None, (needed_as_said(view, node),))
    _of_decorators(view, above, uses, context)
    if below:
        uses.doubts.append(f"scripting left out what `@{one_line(view, below[0])}` does, which is done from now on")
    rewrites: tuple[Rewrite, ...] = (DropDecorator(view.span(decorator)),)
    title = "Remove the decorator"
    needs = None
    static = any(isinstance(item, ast.Name) and item.id == "staticmethod" for item in above)
    if isinstance(owner, ast.ClassDef) and not static:
        first = next(iter([*node.args.posonlyargs, *node.args.args]), None)
        if first is not None and first.arg in {"self", "cls"}:
            uses.doubts.append(
                f"`{node.name}` takes `{first.arg}` and becomes a method, where a scripted function was called without"
            )
        else:
            rewrites = (ReplaceExpression(view.span(decorator), Template("staticmethod")),)
            title = "Make it a static method: on a class a scripted function is called without `self`"
    elif context.settings.torchscript.speed == "compile":
        spelling = view.spell("torch.compile", decorator, use)
        if spelling is not None:
            rewrites = (ReplaceExpression(view.span(decorator), Template(spelling.text)), *spelling.imports)
            title, needs = "Put `@torch.compile` in its place", _COMPILE_SINCE
    return _verdict(title, rewrites, (view, node), uses, use, context, needs=needs)


def _of_check(view: ModuleView, call: ast.Call, uses: FunctionUses, context: Context) -> None:
    """Who notices that a function is scripted although the result is thrown away."""
    if (around := handler_around(view, call)) is not None:
        uses.doubts.append(f"`{around}` around it takes the error of a function that cannot be scripted")
    place, here = unit_reader(view, context.project)
    if place is not None:
        found = uses.refusals if here else uses.doubts
        found.append(f"{place} looks through everything that was scripted, and would not find it")


def _of_decorators(view: ModuleView, above: list[ast.expr], uses: FunctionUses, context: Context) -> None:
    """What the decorators do that were handed a scripted function so far."""
    for decorator in above:
        asked, read = decorator_reader(view, decorator, context.project)
        shown = one_line(view, decorator)
        if asked is not None:
            uses.refusals.append(f"`@{shown}` is handed the scripted function, which {asked} needs as such")
        elif not read:
            uses.doubts.append(f"`@{shown}` is handed the scripted function, and what it does with it was not read")


def without_call(
    use: Use, call: ast.Call, definition: tuple[ModuleView, ast.FunctionDef] | None, context: Context
) -> UseAdvice:
    """`torch.jit.script(function)`; `definition` is the function, None for one of torch's own."""
    view, value = context.view, call.args[0]
    uses = FunctionUses()
    compiled = _compiled(use, call, context)
    span = view.span(call)
    rewrites: tuple[Rewrite, ...]
    template = compiled or Template("$value", (("value", view.span(value)),))
    shown = one_line(view, value)
    title = f"Put `torch.compile({shown})` in its place" if compiled is not None else f"Use `{shown}` itself"
    parent = view.parent(call)
    rewrites = (ReplaceExpression(span, template), *without_type_comment(view, parent))
    match parent:
        case ast.Assign(targets=[ast.Name() as target]):
            again = view.bound_by(target)
            if again is not None:
                uses = read_uses(view, again, context.project, drops=True)
            if isinstance(view.parent(parent), ast.ClassDef):
                rewrites, title, compiled = (static(view, call, value),), f"Keep `staticmethod({shown})`", None
            elif compiled is None and isinstance(value, ast.Name) and value.id == target.id:
                rewrites, title = (_without(view, parent),), f"Leave `{target.id}` as it is"
            elif compiled is None and not uses.rewrites and len(rewrites) == 1:
                rewrites = without_second_name(view, parent, value) or rewrites
        case ast.Assign(targets=[ast.Attribute() as target]):
            if compiled is None and view.text(target) == view.text(value):
                rewrites, title = (DeleteStatement(view.span(parent)),), f"Leave `{shown}` as it is"
            elif _is_class(target.value, context):
                rewrites, title, compiled = (static(view, call, value),), f"Keep `staticmethod({shown})`", None
        case ast.Call(func=called) if called is call:
            uses.calls = [(view, parent)]
        case ast.Call() if (taker := takes_by_name(view, parent)) is not None:
            uses.refusals.append(f"it is handed to `{taker}`, which by its name takes a scripted function")
        case ast.Attribute(attr=attr) if attr in OF_FUNCTIONS:
            uses.refusals.append(f"it is asked for `.{attr}`")
        case ast.Assign(targets=[ast.Subscript() as target]):
            uses.doubts += _beside(view, target, value)
        case ast.Expr():
            rewrites = (DeleteStatement(view.span(parent)),)
            title, compiled = f"Do not check any more that `{shown}` can be scripted", None
            _of_check(view, call, uses, context)
            return _fix(title, rewrites, uses, [])
        case ast.IfExp(test=test, body=body, orelse=orelse) if test is not call and compiled is None:
            other = orelse if body is call else body
            if view.text(other) == view.text(value) and is_repeatable(view, test):
                rewrites = (ReplaceExpression(view.span(parent), template),)
    uses.doubts += filter(None, (measured_beside(view, call, value), needed_as_said(view, view.statement(call))))
    if definition is not None and (function := definition[1]).decorator_list:
        uses.doubts.append(
            f"scripting compiled what stands under the decorators of `{function.name}`, which are at work from now on"
        )
    rewrites = (*rewrites, *(_imports(use, call, context) if compiled is not None else ()))
    return _verdict(
        title, rewrites, definition, uses, use, context, needs=_COMPILE_SINCE if compiled is not None else None
    )


def _without(view: ModuleView, statement: ast.stmt) -> Rewrite:
    """The removal of a statement, with an `if` that holds nothing else and asks for nothing but settings."""
    around = view.parent(statement)
    if isinstance(around, ast.If) and around.body == [statement] and not around.orelse:
        calls = [node for node in walk(around.test) if isinstance(node, (ast.Call, ast.NamedExpr, ast.Await))]
        if all(isinstance(call, ast.Call) and view.certain_name(call.func) in GETTERS for call in calls):
            return KeepBranch(view.span(around), None)
    return DeleteStatement(view.span(statement), stale_above(view, statement))


def _beside(view: ModuleView, target: ast.Subscript, value: ast.expr) -> Iterator[str]:
    """A clause about the plain function that stands in the same container."""
    if (plain := plain_entry(view, target, value)) is not None:
        yield f"it stands beside the plain `{view.text(value)}` of line {plain.lineno}, and both are the same then"


def _compiled(use: Use, call: ast.Call, context: Context) -> Template | None:
    """`torch.compile($value)`, where the user wants it."""
    if context.settings.torchscript.speed != "compile":
        return None
    view = context.view
    spelling = view.spell("torch.compile", call, use)
    return Template(f"{spelling.text}($value)", (("value", view.span(call.args[0])),)) if spelling is not None else None


def _imports(use: Use, call: ast.Call, context: Context) -> tuple[Rewrite, ...]:
    spelling = context.view.spell("torch.compile", call, use)
    return tuple(spelling.imports) if spelling is not None else ()


def _verdict(
    title: str,
    rewrites: tuple[Rewrite, ...],
    definition: _Definition | None,
    uses: FunctionUses,
    use: Use,
    context: Context,
    *,
    needs: TorchVersion | None,
) -> UseAdvice:
    project = context.project
    if definition is None:
        around = uses.doubts or surroundings(project, context.view, None)
        return _fix(title, (*rewrites, *uses.rewrites), uses, [Assumption(doubt, "project") for doubt in around], needs)
    home, node = definition
    facts = read_function(home, node, project, known_only=True)
    uses.refusals += [*facts.fails, *needed_by_trace(home, node, facts.branches, context)]
    made: list[Rewrite] | None = [] if home is context.view else None
    code = [
        *facts.doubts,
        *passed_doubts(home, node, uses.calls, facts.numbers, project, unseen=uses.unseen, rewrites=made),
        *foreign_doubts(home, node, uses.calls, project, unseen=uses.unseen),
        *_sequences(facts, node.name, uses),
    ]
    around = [
        *_errors(facts, context),
        *trace_doubts(home, node, facts.branches, facts.shapes, context),
        *uses.doubts,
    ]
    if not code and not around:
        around = surroundings(project, home, node)
    assumptions = [*map(Assumption, code), *(Assumption(doubt, "project") for doubt in around)]
    recorded = recorded_eager(use, context)
    if recorded is not None and recorded.refuted:
        assumptions.append(Assumption(recorded.refuted, "project"))
    if code and not around and recorded is not None and recorded.proved:
        assumptions += [Assumption(doubt, "project") for doubt in surroundings(project, home, node)]
    title += ", and make a list of what is passed for one" if made else ""
    return _fix(title, (*rewrites, *(made or ()), *uses.rewrites), uses, assumptions, needs, recorded)


def _fix(
    title: str,
    rewrites: tuple[Rewrite, ...],
    uses: FunctionUses,
    assumptions: list[Assumption],
    needs: TorchVersion | None = None,
    recorded: Recorded | None = None,
) -> UseAdvice:
    notes = recorded.notes() if recorded is not None else ()
    if uses.refusals:
        return UseAdvice(
            f"Not rewritten: a plain function does not serve every use: {sentence(uses.refusals)}", notes=notes
        )
    safety, left = safety_of(assumptions or [Assumption(doubt, "project") for doubt in uses.doubts], recorded)
    review = f"Needs review: {sentence(clauses(left))}" if left else None
    return UseAdvice(review, Fix(title, safety, rewrites, needs), notes)


def _errors(facts: FunctionFacts, context: Context) -> list[str]:
    """What waits for the class that TorchScript makes of an error of the function's own."""
    if facts.raises is None:
        return []
    waiting = [path for path in context.project.files_holding("jit.Error") if context.project.is_python(path)]
    return [
        f"{path} names `torch.jit.Error`, which the error on line {facts.raises} is no more" for path in waiting[:1]
    ]


def _sequences(facts: FunctionFacts, name: str, uses: FunctionUses) -> list[str]:
    """Calls that may notice that a shape or a split is a list when it comes out of TorchScript, and a tuple in Python."""
    if facts.sequence is None:
        return []
    reason = f"line {facts.sequence} of `{name}` returns a tuple, of which scripting made a list"
    if not uses.calls:
        return [reason]
    for view, call in uses.calls:
        match view.parent(call):
            case ast.Assign(targets=[ast.Tuple() | ast.List()]) | ast.Subscript() | ast.Starred():
                continue
            case ast.For() | ast.comprehension():
                continue
        return [f"{reason}, and {view.path}:{call.lineno} does not take it apart"]
    return []


def _is_class(node: ast.expr, context: Context) -> bool:
    if isinstance(node, ast.Name) and node.id == "cls":
        return True
    return definition_of(context.view, node, context.project, ast.ClassDef) is not None
