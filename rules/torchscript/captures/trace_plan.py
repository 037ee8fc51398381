"""Plans the migration of one `torch.jit.trace` call: the rewrites, what they assume, or why there are none."""

from __future__ import annotations

import ast

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.places.expected_errors import handler_around
from torchlift.rules.analysis.wording.messages import one_line
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.captures.capture_writer import Capture, Given, write_capture
from torchlift.rules.torchscript.captures.entry_module import Entry, read_entry
from torchlift.rules.torchscript.captures.export_arguments import ArgumentBuilder, CannotExport, fixed_dimensions
from torchlift.rules.torchscript.captures.proven_variant import batch_example, in_proved_form, weigh_record
from torchlift.rules.torchscript.values.example_inputs import (
    ExampleInputs,
    read_example_inputs,
    read_keyword_inputs,
    visible_sizes,
)
from torchlift.rules.torchscript.values.value_life import ValueLife
from torchlift.search.vocabulary import encoded
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

# Arguments that only steer the tracer. `strict` means something else in export and is never passed on.
TRACER_ONLY = frozenset(
    {"check_trace", "check_inputs", "check_tolerance", "optimize", "strict", "_force_outplace", "_store_inputs",
     "_module_class", "_compilation_unit"}
)  # fmt: skip


@dataclass(frozen=True)
class _Arguments:
    """What a trace call is given: the module, its example inputs, and what has to be dropped."""

    module: ast.expr
    module_key: int | str
    inputs: ast.expr
    inputs_key: int | str
    keywords: bool
    dropped: tuple[int | str, ...]
    dropped_values: tuple[ast.expr, ...]
    inputs_first: bool = False


def plan_trace(use: Use, context: Context, life: ValueLife) -> Capture:
    """The plan for the trace call of `use`."""
    capture = Capture(use, context, life)
    for obstacle in life.obstacles:
        taken = ", which has to take the exported one too" if obstacle.reason.startswith("is passed on to `") else ""
        capture.weigh(f"the traced value {obstacle.clause} ({life.place(obstacle.node)}){taken}", obstacle.safety)
    try:
        weigh_record(capture)
        _plan(capture)
    except CannotExport as refusal:
        capture.refusals.insert(0, str(refusal))
    return capture


def _plan(capture: Capture) -> None:
    view, call, life, context = capture.view, capture.call, capture.life, capture.context
    given = _arguments(call)
    inputs = _inputs(context, given, life)
    entry = read_entry(view, given.module, call, context.project, inputs.count if inputs.form != "unknown" else None)
    arguments = ArgumentBuilder(view, call, capture.spell, batch_example(capture)).build(inputs)
    arguments = in_proved_form(capture, arguments, clones=bool(inputs.repeated))
    capture.weigh_exporting(given.module)
    _weigh_module(capture, entry, inputs)
    _weigh_surroundings(capture)
    for called in life.calls:
        _weigh_call(capture, called, inputs)
    capture.assume(*arguments.assumptions)
    around = [(life.home(called), called) for called in life.calls]
    capture.assume(*fixed_dimensions(arguments, around, saved=bool(life.saves or life.obstacles)))
    for dropped in given.dropped_values:
        if any(isinstance(node, (ast.Call, ast.Await, ast.NamedExpr)) for node in walk(dropped)):
            capture.assume(f"`{ast.unparse(dropped)[:60]}` is no longer evaluated", asks="project")
    if "check_inputs" in given.dropped:
        capture.assume("nothing compares the capture with the module on `check_inputs` any more", asks="project")
    by_keyword = given.module if given.module_key == "func" else None
    write_capture(
        capture,
        Given(entry.module, given.inputs_key, given.dropped, by_keyword, entry.before, given.inputs_first),
        arguments,
    )


# What the call says


def traced_module(call: ast.Call) -> ast.expr | None:
    """The expression that a trace call captures; None if it is not visible."""
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(k.arg is None for k in call.keywords):
        return None
    return call.args[0] if call.args else next((k.value for k in call.keywords if k.arg in {"func", "mod"}), None)


def _arguments(call: ast.Call) -> _Arguments:
    """The arguments of a trace call."""
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(k.arg is None for k in call.keywords):
        raise CannotExport("its arguments are unpacked from a variable")
    keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    unknown = set(keywords) - TRACER_ONLY - {"func", "example_inputs", "example_kwarg_inputs"}
    if unknown:
        raise CannotExport(f"it passes `{min(unknown)}`, which has no counterpart")
    module, module_key = (call.args[0], 0) if call.args else (keywords.get("func"), "func")
    if module is None:
        raise CannotExport("it is given no module")
    dropped: list[int | str] = [*range(2, len(call.args)), *(name for name in keywords if name in TRACER_ONLY)]
    values = (*call.args[2:], *(value for name, value in keywords.items() if name in TRACER_ONLY))
    order = list(keywords)
    inputs_first = "func" in order and order.index("func") > min(
        order.index(name) for name in order if name in {"func", "example_inputs", "example_kwarg_inputs"}
    )
    if "example_kwarg_inputs" in keywords:
        named = keywords["example_kwarg_inputs"]
        if len(call.args) > 1 or "example_inputs" in keywords:
            raise CannotExport("it is given positional and keyword inputs")
        return _Arguments(module, module_key, named, "example_kwarg_inputs", True, tuple(dropped), values, inputs_first)
    if len(call.args) > 1:
        return _Arguments(module, module_key, call.args[1], 1, False, tuple(dropped), values)
    if "example_inputs" not in keywords:
        raise CannotExport("it has no example inputs")
    return _Arguments(
        module, module_key, keywords["example_inputs"], "example_inputs", False, tuple(dropped), values, inputs_first
    )


def _calls_in(context: Context, function: ast.AST | None) -> dict[str, list[ast.Call]]:
    """Calls in a function, or in the whole file, by what they call."""
    found: dict[str, list[ast.Call]] = {}
    for node in walk(function or context.view.tree):
        if isinstance(node, ast.Call):
            found.setdefault(ast.dump(node.func), []).append(node)
    return found


def _inputs(context: Context, given: _Arguments, life: ValueLife) -> ExampleInputs:
    view = context.view
    if given.keywords:
        return read_keyword_inputs(view, given.inputs)
    calls = [call for call in life.calls if life.home(call) is view]
    named = context.once(_calls_in, view.function_of(given.module))
    calls += named.get(ast.dump(given.module), ())
    return read_example_inputs(view, given.inputs, tuple(calls))


# What speaks against it


def _weigh_module(capture: Capture, entry: Entry, inputs: ExampleInputs) -> None:
    captured = entry.facts
    for doubt in captured.doubts:
        capture.weigh(doubt.reason, doubt.safety)
    if captured.stateful and not captured.evaluated:
        shown = "what the lambda calls" if captured.expression == "the lambda" else f"`{captured.expression}`"
        capture.assume(
            f"`.eval()` on {shown} was not seen before the capture, and tracing in train mode runs the "
            "model (BatchNorm statistics and the random state move), which export does not"
        )
    counted = inputs.form in {"tensor", "display", "tuple", "list"}
    if captured.parameters is not None and counted and captured.parameters != inputs.count:
        required = captured.required if captured.required is not None else captured.parameters
        if not required <= inputs.count <= captured.parameters:
            raise CannotExport(f"`forward` takes {captured.parameters} inputs and the trace gives {inputs.count}")
        capture.assume(
            "arguments of `forward` that have defaults are fixed at them: a call that passes one is rejected after export"
        )


# A call, a decorator or an import, and not an option of that name, which other libraries have.
_AUTOCAST = lazy_pattern(rb"\bautocast\s*\(|import\b[^\n]*\bautocast\b|\bautocast\s*,?\s*\n")


def _autocast_callers(context: Context) -> list[str]:
    """Other files that use autocast and mention this module: they may run the capture under it."""
    view, project = context.view, context.project
    module = encoded(view.module.rpartition(".")[2])
    found = [
        path
        for path in project.files_holding("autocast")
        if path != view.path
        and module in project.data(path)
        and _AUTOCAST.search(project.data(path)) is not None
        and ((other := project.view(path)) is None or _names(other, "autocast"))
    ]
    return sorted(found, key=lambda path: (path.rpartition("/")[0] != view.path.rpartition("/")[0], path))


def _names(view: ModuleView, word: str) -> bool:
    """Whether a name of the code, or a string that is one, has `word` in it: what only a comment or a sentence says does nothing."""
    said = (getattr(node, key, None) for node in walk(view.tree) for key in ("id", "attr", "arg", "name", "value"))
    return word in view.source.text and any(isinstance(one, str) and word in one and " " not in one for one in said)


def _weigh_surroundings(capture: Capture) -> None:
    view = capture.view
    if callers := _autocast_callers(capture.context):
        capture.assume(f"{callers[0]} uses autocast and may run this capture under it, which bakes its dtypes in")
    for word in ("autocast", "inference_mode"):
        if _names(view, word):
            capture.assume(f"this file uses `{word}`, whose effect on the capture was not checked")
    for ancestor in view.ancestors(capture.call):
        if isinstance(ancestor, (ast.With, ast.AsyncWith)):
            for item in ancestor.items:
                function = item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
                resolution = view.resolve(function)
                name = resolution.name if resolution is not None else None
                if name != "torch.no_grad":
                    shown = f"`{name}`" if name else "a context manager"
                    capture.assume(f"the capture runs under {shown}, whose effect on export was not checked")
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for decorator in ancestor.decorator_list:
                function = decorator.func if isinstance(decorator, ast.Call) else decorator
                name = view.possible_name(function)
                if name.startswith("torch.") and name != "torch.no_grad":
                    capture.assume(f"the capture runs under `@{name}`, whose effect on export was not checked")


def _weigh_call(capture: Capture, call: ast.Call, inputs: ExampleInputs) -> None:
    life = capture.life
    place = life.place(call)
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    if inputs.form == "keywords":
        given = {keyword.arg for keyword in call.keywords}
        if call.args:
            capture.refusals.append(
                f"the traced value is called with positional inputs ({place}), which export rejects here"
            )
        elif inputs.keys is None or None in given:
            capture.assume(f"the call ({place}) has to give the keywords of the example")
        elif given != set(inputs.keys):
            capture.refusals.append(f"the call ({place}) gives other keywords than the example, which export rejects")
        return
    handler = handler_around(life.home(call), call)
    if handler is not None:
        around = "a `try`" if handler == "try" else "a block that expects errors"
        capture.assume(
            f"the call ({place}) stands in {around}: a wrong input raises AssertionError or ValueError from now on",
            asks="project",
        )
    if call.keywords:
        capture.refusals.append(f"the traced value is called with keywords ({place}), which export rejects")
    elif inputs.form == "unknown" or starred:
        capture.assume(f"the number of arguments has to be that of the example inputs ({place})")
    elif len(call.args) != inputs.count:
        capture.refusals.append(
            f"the traced value is called with {len(call.args)} arguments ({place}), not {inputs.count}"
        )
    else:
        for argument, tensor in zip(call.args, inputs.tensors, strict=True):
            sizes = visible_sizes(life.home(call), argument)
            if sizes is not None and tensor.sizes is not None and len(sizes) != len(tensor.sizes):
                capture.refusals.append(f"the call ({place}) has an input of another rank than the example")
            elif sizes is None and _is_one_of_several(life.home(call), argument):
                shown = one_line(life.home(call), argument)
                capture.assume(f"`{shown}` has to have as many dimensions as the example ({place}), which was not read")


def _is_one_of_several(view: ModuleView, node: ast.expr) -> bool:
    """Whether a value is one of those that a loop goes through, or that a test is run with."""
    binding = view.definition(node) if isinstance(node, ast.Name) else None
    if binding is None or binding.kind != "param":
        return binding is not None and isinstance(_stored_by(view, binding.node), (ast.For, ast.comprehension))
    function = view.function_of(binding.node)
    return any("parametrize" in ast.unparse(item) for item in getattr(function, "decorator_list", ()))


def _stored_by(view: ModuleView, target: ast.AST) -> ast.AST | None:
    """The statement or clause that stores to a name, through displays around it."""
    return next(
        (one for one in view.ancestors(target) if not isinstance(one, (ast.Tuple, ast.List, ast.Starred))), None
    )
