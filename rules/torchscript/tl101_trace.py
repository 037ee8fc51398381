"""`torch.jit.trace` through the life of the traced value: create, call, save, `.eval()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from torchlift.finding import (
    DeleteStatement,
    EditCall,
    Elsewhere,
    Finding,
    Fix,
    Group,
    InsertStatements,
    ReplaceExpression,
    Rewrite,
    Safety,
    Severity,
    Template,
)
from torchlift.rules.rule import Context, Rule
from torchlift.rules.torchscript.artifacts import COLLECTOR, read_artifact
from torchlift.rules.torchscript.captured_module import read_captured_module
from torchlift.rules.torchscript.deprecation import DEPRECATED, EXPORT_DOCS, SINCE, SOURCES
from torchlift.rules.torchscript.example_inputs import ExampleInputs, read_example_inputs, visible_sizes
from torchlift.rules.torchscript.module_facts import CapturedModule
from torchlift.rules.torchscript.trace_examples import EXAMPLES
from torchlift.rules.torchscript.value_life import ValueLife, follow
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Spelling, Use

_MESSAGE = f"`torch.jit.trace`: {SINCE}. Its successor for a module with example inputs is `torch.export.export`."
# Arguments that only steer the tracer. `strict` means something else in export and is never passed on.
_TRACER_ONLY = frozenset(
    {"check_trace", "check_inputs", "check_tolerance", "optimize", "strict", "_force_outplace", "_store_inputs"}
)
_NEEDS = TorchVersion(2, 5)  # Dim.AUTO
_NON_STRICT_BY_DEFAULT = TorchVersion(2, 8)


@dataclass
class _Plan:
    """The migration of one trace call, while it is being put together."""

    view: ModuleView
    call: ast.Call
    life: ValueLife
    rewrites: list[Rewrite] = field(default_factory=list)
    elsewhere: list[Elsewhere] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)

    def weigh(self, reason: str, safety: Safety) -> None:
        (self.refusals if safety is Safety.MANUAL else self.assumptions).append(reason)


def _check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if isinstance(use.node, ast.alias) and use.kind == "import":
        return
    span = view.span(use.node)
    if use.call is None:
        advice = "Only calls are rewritten; replace this use by hand."
        yield Finding("TL101", view.path, span, _MESSAGE, Severity.WARNING, advice)
        return
    plan = _Plan(view, use.call, follow(view, use.call))
    try:
        _plan(plan, use, context)
    except _Refused as refusal:
        plan.refusals.append(str(refusal))
    if plan.refusals:
        advice = f"Not rewritten: {_sentence(plan.refusals)} See {EXPORT_DOCS}"
        yield Finding("TL101", view.path, span, _MESSAGE, Severity.WARNING, advice, groups=tuple(plan.groups))
        return
    safety = Safety.UNSAFE if plan.assumptions else Safety.SAFE
    review = f"Needs review: {_sentence(plan.assumptions)}" if plan.assumptions else None
    if plan.notes:
        review = f"{review} {_sentence(plan.notes)}" if review else _sentence(plan.notes)
    fix = Fix("Capture with `torch.export.export`", safety, tuple(plan.rewrites), _NEEDS, tuple(plan.elsewhere))
    yield Finding("TL101", view.path, span, _MESSAGE, Severity.WARNING, review, fix, groups=tuple(plan.groups))


class _Refused(Exception):
    """Why a trace call is not rewritten at all; the message is a clause."""


def _sentence(reasons: list[str]) -> str:
    unique = list(dict.fromkeys(reasons))
    shown = "; ".join(unique[:4])
    rest = f"; and {len(unique) - 4} more" if len(unique) > 4 else ""
    text = f"{shown}{rest}".rstrip(".")
    return f"{text}."


def _plan(plan: _Plan, use: Use, context: Context) -> None:
    view, call, life = plan.view, plan.call, plan.life
    module, example = _arguments(call)
    inputs = read_example_inputs(view, example)
    captured = read_captured_module(view, module, call, context.project)
    _weigh_module(plan, captured, inputs, module)
    _weigh_inputs(plan, inputs)
    _weigh_surroundings(plan)
    for obstacle in life.obstacles:
        line = obstacle.node.lineno
        plan.weigh(f"the traced value {obstacle.reason} (line {line})", obstacle.safety)
    for binding in life.bindings:
        if context.project.may_be_imported(view, binding):
            plan.assumptions.append(f"other files may use `{binding.name}` in ways that were not read")
    for called in life.calls:
        _weigh_call(plan, called, inputs if inputs.form != "unknown" else None)

    def spell(name: str, at: ast.AST) -> Spelling:
        spelling = view.spell(name, at, use)
        if spelling is None:
            raise _Refused(f"`{name}` cannot be written here, because another name stands in its way")
        return spelling

    export = spell("torch.export.export", call)
    auto = spell("torch.export.Dim.AUTO", call)
    plan.rewrites += [*export.imports, *auto.imports]
    is_called = bool(life.calls) or life.as_module or not life.saves
    both = bool(life.saves) and is_called and life.form == "bound"
    plan.rewrites.append(
        EditCall(
            view.span(call),
            function=Template(export.text),
            callee=view.span(call.func),
            arguments=((1, _argument(view, inputs)),),
            drop=tuple(_dropped(call)),
            add=(
                ("dynamic_shapes", _dynamic_shapes(view, inputs, auto.text)),
                *((("strict", Template("False")),) if context.settings.min_torch < _NON_STRICT_BY_DEFAULT else ()),
            ),
            outer=None if both or not is_called else "$call.module()",
        )
    )
    if life.outer is not call:
        plan.rewrites.append(
            ReplaceExpression(view.span(life.outer), Template("$value", (("value", view.span(call)),)))
        )
    program = None
    if both:
        assert life.name is not None
        program = view.fresh_name(f"{life.name.id}_program", call)
        plan.rewrites += [
            ReplaceExpression(view.span(life.name), Template(program)),
            InsertStatements(view.span(life.statement), (f"{life.name.id} = {program}.module()",)),
        ]
    plan.rewrites += [DeleteStatement(view.span(statement)) for statement in life.evals]
    for save in life.saves:
        artifact = read_artifact(view, save.path, context.project)
        plan.groups += artifact.group()
        reason = artifact.obstacle()
        if reason is not None:
            plan.assumptions.append(reason.rstrip("."))
        writer = spell("torch.export.save", save.call)
        here, elsewhere = artifact.new_suffix(view, save.path)
        plan.rewrites += [*writer.imports, *here]
        plan.elsewhere += elsewhere
        if (here or elsewhere) and artifact.documents:
            plan.notes.append(
                f"{artifact.title} becomes a .pt2 file; {', '.join(artifact.documents[:3])} still names it"
            )
        value = Template(program) if program else Template("$v", (("v", view.span(save.value)),))
        if save.method:
            hole = value.text if program else "$v"
            plan.rewrites.append(
                ReplaceExpression(
                    view.span(save.call),
                    Template(f"{writer.text}({hole}, $path)", (*value.parts, ("path", view.span(save.path)))),
                )
            )
        else:
            plan.rewrites.append(
                EditCall(
                    view.span(save.call),
                    function=Template(writer.text),
                    callee=view.span(save.call.func),
                    arguments=((0, value),) if program else (),
                )
            )


def _arguments(call: ast.Call) -> tuple[ast.expr, ast.expr]:
    """The module and the example inputs of a trace call."""
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(k.arg is None for k in call.keywords):
        raise _Refused("its arguments are unpacked from a variable")
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if "example_kwarg_inputs" in keywords:
        raise _Refused("it is traced with keyword inputs; an exported module then accepts keyword calls only")
    if len(call.args) > 2:
        raise _Refused("it passes tracer options by position")
    if not call.args:
        raise _Refused("the module is passed by keyword")
    unknown = set(keywords) - _TRACER_ONLY - {"example_inputs"}
    if unknown:
        raise _Refused(f"it passes `{sorted(str(name) for name in unknown)[0]}`, which has no counterpart")
    if len(call.args) == 1:
        raise _Refused(
            "its example inputs are passed by keyword" if "example_inputs" in keywords else "it has no example inputs"
        )
    return call.args[0], call.args[1]


def _dropped(call: ast.Call) -> Iterator[str]:
    for keyword in call.keywords:
        if keyword.arg in _TRACER_ONLY:
            yield keyword.arg


def _weigh_module(plan: _Plan, captured: CapturedModule, inputs: ExampleInputs, module: ast.expr) -> None:
    view = plan.view
    binding = view.definition(module)
    if isinstance(module, ast.Lambda) or (
        binding is not None and isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ):
        raise _Refused(
            "it traces a function; `torch.export` takes a module, so wrap the function in an `nn.Module` that holds "
            "every module it calls as a submodule"
        )
    if isinstance(module, ast.Attribute) and module.attr == "forward":
        raise _Refused(f"it traces a bound `forward`; export the module itself, `{view.text(module.value)}`")
    for doubt in captured.doubts:
        plan.weigh(doubt.reason, doubt.safety)
    if captured.stateful and not captured.evaluated:
        plan.assumptions.append(
            f"`.eval()` on `{captured.expression}` was not seen before the capture, and tracing in train mode runs the "
            "model once (BatchNorm statistics and the random state move), which export does not"
        )
    if captured.parameters is not None and inputs.form != "unknown" and captured.parameters != len(inputs.tensors):
        raise _Refused(f"`forward` takes {captured.parameters} inputs and the trace gives {len(inputs.tensors)}")


def _weigh_inputs(plan: _Plan, inputs: ExampleInputs) -> None:
    if inputs.form == "unknown":
        raise _Refused("it is not known here whether the example inputs are a tensor or a tuple of tensors")
    if inputs.form == "tuple" and inputs.repeated:
        raise _Refused("the example inputs hold the same tensor twice, which export would merge into one input")
    for tensor in inputs.tensors:
        if tensor.sizes is None:
            plan.assumptions.append(
                f"the shape of `{plan.view.text(tensor.node)}` is not visible; a dimension of size 1 would become fixed"
            )
        elif None in tensor.sizes:
            plan.assumptions.append(
                f"a dimension of `{plan.view.text(tensor.node)}` is not a literal; a size of 1 would become fixed"
            )
        elif any(size is not None and size < 2 for size in tensor.sizes):
            places = ", ".join(str(i) for i, size in enumerate(tensor.sizes) if size is not None and size < 2)
            plan.assumptions.append(
                f"dimension {places} of the example is below 2 and becomes fixed: take an example with 2 or more there if "
                "other sizes are used"
            )


def _weigh_surroundings(plan: _Plan) -> None:
    view = plan.view
    for word in ("autocast", "inference_mode"):
        if word in view.source.text:
            plan.assumptions.append(f"this file uses `{word}`, whose effect on the capture was not checked")
    for ancestor in view.ancestors(plan.call):
        if isinstance(ancestor, (ast.With, ast.AsyncWith)):
            for item in ancestor.items:
                function = item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
                resolution = view.resolve(function)
                name = resolution.name if resolution is not None else None
                if name != "torch.no_grad":
                    shown = f"`{name}`" if name else "a context manager"
                    plan.assumptions.append(f"the capture runs under {shown}, whose effect on export was not checked")
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for decorator in ancestor.decorator_list:
                function = decorator.func if isinstance(decorator, ast.Call) else decorator
                resolution = view.resolve(function)
                name = resolution.name if resolution is not None else ""
                if name.startswith("torch.") and name != "torch.no_grad":
                    plan.assumptions.append(f"the capture runs under `@{name}`, whose effect on export was not checked")


def _weigh_call(plan: _Plan, call: ast.Call, inputs: ExampleInputs | None) -> None:
    line = call.lineno
    if call.keywords:
        plan.refusals.append(f"the traced value is called with keywords (line {line}), which export rejects")
    elif any(isinstance(argument, ast.Starred) for argument in call.args):
        plan.assumptions.append(f"the number of arguments at line {line} is not known")
    elif inputs is not None and len(call.args) != inputs.count:
        plan.refusals.append(
            f"the traced value is called with {len(call.args)} arguments (line {line}), not {inputs.count}"
        )
    elif inputs is not None:
        for argument, tensor in zip(call.args, inputs.tensors, strict=True):
            sizes = visible_sizes(plan.view, argument)
            if sizes is not None and tensor.sizes is not None and len(sizes) != len(tensor.sizes):
                plan.refusals.append(f"the call on line {line} has an input of another rank than the example")


def _argument(view: ModuleView, inputs: ExampleInputs) -> Template:
    """The `args` tuple; repeated tensors are cloned, because export would merge them into one input."""
    if inputs.form == "tuple":
        return Template("$inputs", (("inputs", view.span(inputs.node)),))
    names = []
    parts = []
    for index, tensor in enumerate(inputs.tensors):
        name = f"input{index}"
        parts.append((name, view.span(tensor.node)))
        names.append(f"${name}.clone()" if index in inputs.repeated else f"${name}")
    text = f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"
    return Template(text, tuple(parts))


def _dynamic_shapes(view: ModuleView, inputs: ExampleInputs, auto: str) -> Template:
    """One list per tensor that leaves every dimension dynamic where the module allows it."""
    specs: list[str] = []
    parts = []
    for index, tensor in enumerate(inputs.tensors):
        if tensor.sizes is not None:
            specs.append(f"[{auto}] * {len(tensor.sizes)}")
            continue
        if not isinstance(tensor.node, (ast.Name, ast.Attribute)):
            raise _Refused("the rank of an example input is not visible")
        name = f"input{index}"
        parts.append((name, view.span(tensor.node)))
        specs.append(f"[{auto}] * ${name}.dim()")
    text = f"({specs[0]},)" if len(specs) == 1 else f"({', '.join(specs)})"
    return Template(text, tuple(parts))


RULE = Rule(
    code="TL101",
    name="torchscript-trace",
    summary="`torch.jit.trace` instead of `torch.export.export`",
    why=(
        f"{SINCE}. `torch.export.export` captures the same module from the same inputs as an `ExportedProgram`: "
        "`.module()` is called, `torch.export.save` writes it, `torch.export.load` reads it."
    ),
    fix=(
        "Every dimension is exported as `Dim.AUTO`, so other batch sizes keep working. Safe when all of this was checked: "
        "the module's class is visible and its `forward` holds only layers and operations known to capture alike; it is "
        "in eval mode (or has no layer that cares); the inputs are tensors with visible shapes and no size 1; every use "
        "of the traced value is a positional call, a save or `.eval()`; and each file written is a constant path that is "
        "read back in the project, where TL103 changes the reader together with the writer. "
        "Needs review when one of these is an assumption, which the finding names. Not rewritten when the value is used "
        "in a way that an exported module does not offer."
    ),
    targets=("torch.jit.trace",),
    triggers=("jit", "_jit_internal"),
    check=_check,
    deprecated=DEPRECATED,
    collectors=(COLLECTOR,),
    sources=(
        *SOURCES,
        EXPORT_DOCS,
        "66 programs run as TorchScript and as export on torch 2.13.0 and 2.15.0, 2026-11-21",
    ),
    examples=EXAMPLES,
)
