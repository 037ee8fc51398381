"""Plans the migration of one `torch.jit.trace` call: the rewrites, what they assume, or why there are none."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from torchlift.finding import (
    EditCall,
    Elsewhere,
    Group,
    InsertStatements,
    ReplaceExpression,
    Rewrite,
    Safety,
    Template,
)
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.artifacts import read_artifact
from torchlift.rules.torchscript.dropped_calls import FREEZE_NOTE, drop_calls, gradient_doubt
from torchlift.rules.torchscript.entry_module import Entry, read_entry
from torchlift.rules.torchscript.example_inputs import (
    ExampleInputs,
    read_example_inputs,
    read_keyword_inputs,
    visible_sizes,
)
from torchlift.rules.torchscript.export_arguments import (
    ArgumentBuilder,
    CannotExport,
    ExportArguments,
    fixed_dimensions,
)
from torchlift.rules.torchscript.foreign_readers import foreign_readers
from torchlift.rules.torchscript.value_life import Save, ValueLife
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Spelling, Use

# Arguments that only steer the tracer. `strict` means something else in export and is never passed on.
_TRACER_ONLY = frozenset(
    {"check_trace", "check_inputs", "check_tolerance", "optimize", "strict", "_force_outplace", "_store_inputs"}
)
_NON_STRICT_BY_DEFAULT = TorchVersion(2, 8)
_Speller = Callable[..., Spelling]
"""Writes a qualified name at the capture, or at the node given second."""


@dataclass(frozen=True)
class _Arguments:
    """What a trace call is given: the module, its example inputs, and what has to be dropped."""

    module: ast.expr
    module_key: int | str
    inputs: ast.expr
    inputs_key: int | str
    keywords: bool
    dropped: tuple[int | str, ...]


@dataclass
class TracePlan:
    """The migration of one trace call, while it is being put together.

    Attributes:
        view, call, life: the file, the call, and the life of its value.
        rewrites, elsewhere, groups: what the fix consists of.
        assumptions: clauses; any of them makes the fix unsafe.
        refusals: clauses; any of them means there is no fix.
        notes: sentences to show whatever the safety.
    """

    view: ModuleView
    call: ast.Call
    life: ValueLife
    rewrites: list[Rewrite] = field(default_factory=list)
    elsewhere: list[Elsewhere] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def weigh(self, reason: str, safety: Safety) -> None:
        """Take a reason for a refusal or for an assumption, as its safety says."""
        (self.refusals if safety is Safety.MANUAL else self.assumptions).append(reason)


def plan_trace(use: Use, context: Context, life: ValueLife) -> TracePlan:
    """The plan for the trace call of `use`."""
    assert use.call is not None
    plan = TracePlan(context.view, use.call, life)
    _weigh_life(plan)
    try:
        _plan(plan, use, context)
    except CannotExport as refusal:
        plan.refusals.insert(0, str(refusal))
    return plan


def _plan(plan: TracePlan, use: Use, context: Context) -> None:
    view, call, life = plan.view, plan.call, plan.life

    def spell(name: str, at: ast.AST = call) -> Spelling:
        spelling = view.spell(name, at, use)
        if spelling is None:
            raise CannotExport(f"`{name}` cannot be written here, because another name stands in its way")
        return spelling

    given = _arguments(call)
    inputs = _inputs(view, given, life)
    for save in life.saves:
        # The group has to be known even where this call cannot be rewritten: it holds back the readers.
        plan.groups += read_artifact(view, save.path, context.project).group()
    entry = read_entry(view, given.module, call, context.project, inputs.count if inputs.form != "unknown" else None)
    builder = ArgumentBuilder(view, call, spell, context.settings.batch_example)
    arguments = builder.build(inputs)
    _weigh_module(plan, entry, inputs)
    _weigh_surroundings(plan, context)
    for called in life.calls:
        _weigh_call(plan, called, inputs)
    plan.assumptions += arguments.assumptions
    plan.assumptions += fixed_dimensions(
        arguments, [(life.home(called), called) for called in life.calls], saved=_leaves(life)
    )
    _weigh_readers(plan, context)
    _write(plan, given, entry, arguments, context, spell)


def _leaves(life: ValueLife) -> bool:
    """Whether the value is used where its inputs are not seen."""
    return bool(life.saves or life.obstacles)


def _write(
    plan: TracePlan, given: _Arguments, entry: Entry, arguments: ExportArguments, context: Context, spell: _Speller
) -> None:
    view, call, life = plan.view, plan.call, plan.life
    export = spell("torch.export.export")
    plan.rewrites += [*export.imports, *arguments.rewrites]
    is_called = bool(life.calls) or life.as_module or not life.saves
    both = bool(life.saves) and is_called
    target = life.name or life.attribute
    if both and target is None:
        raise CannotExport("the value is both saved and called, and has no variable of its own")
    before = list(entry.before)
    if before:
        module_class = spell("torch.nn.Module")
        plan.rewrites += module_class.imports
        before[0] = before[0].replace("torch.nn.Module", module_class.text)
    before += arguments.before
    if before:
        plan.rewrites.append(InsertStatements(view.span(life.statement), tuple(before), "before"))
    replaced: list[tuple[int | str, Template]] = []
    dropped = list(given.dropped)
    added: list[tuple[str, Template]] = []
    if isinstance(given.module_key, str):
        dropped.append(given.module_key)
        added.append(("mod", entry.module or Template("$module", (("module", view.span(given.module)),))))
    elif entry.module is not None:
        replaced.append((given.module_key, entry.module))
    if isinstance(given.inputs_key, str):
        dropped.append(given.inputs_key)
        added.append(("args", arguments.args))
    else:
        replaced.append((given.inputs_key, arguments.args))
    if arguments.kwargs is not None:
        added.append(("kwargs", arguments.kwargs))
    added.append(("dynamic_shapes", arguments.shapes))
    if context.settings.min_torch < _NON_STRICT_BY_DEFAULT:
        added.append(("strict", Template("False")))
    plan.rewrites.append(
        EditCall(
            view.span(call),
            function=Template(export.text),
            callee=view.span(call.func),
            arguments=tuple(replaced),
            drop=tuple(dropped),
            add=tuple(added),
            outer=None if both or not is_called else "$call.module()",
        )
    )
    plan.rewrites += drop_calls(life)
    if (doubt := gradient_doubt(life)) is not None:
        plan.assumptions.append(doubt)
    if life.frozen:
        plan.notes.append(FREEZE_NOTE)
    program = _name_program(plan) if both else None
    for save in life.saves:
        _write_save(plan, save, program, context, spell)


def _name_program(plan: TracePlan) -> str:
    """Bind the exported program to a name of its own beside its module; returns how that name is written."""
    view, life = plan.view, plan.life
    target: ast.Name | ast.Attribute | None = life.name or life.attribute
    assert target is not None
    text = view.text(target)
    if isinstance(target, ast.Name):
        program = view.fresh_name(f"{text}_program", plan.call)
    else:
        program = f"{text}_program"
        while f".{program.rpartition('.')[2]}" in view.source.text:
            program += "_"
    homes = {_self_name(save) for save in life.saves} if isinstance(target, ast.Attribute) else set()
    if isinstance(target, ast.Attribute) and homes != {view.text(target.value)}:
        raise CannotExport("the value is saved through another name than the one it is kept on")
    if isinstance(target, ast.Name):
        scope = view.scope_at(target)
        if any(view.scope_at(save.call).frame is not scope.frame for save in life.saves):
            raise CannotExport("the value is called, and saved in another function than the one that makes it")
    plan.rewrites += [
        ReplaceExpression(view.span(target), Template(program)),
        InsertStatements(view.span(life.statement), (f"{text} = {program}.module()",)),
    ]
    return program


def _self_name(save: Save) -> str | None:
    value = save.value
    return value.value.id if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) else None


def _write_save(plan: TracePlan, save: Save, program: str | None, context: Context, spell: _Speller) -> None:
    view = plan.view
    artifact = read_artifact(view, save.path, context.project)
    reason = artifact.obstacle()
    if reason is not None:
        plan.assumptions.append(reason)
    writer = spell("torch.export.save", save.call)
    here, elsewhere = artifact.new_suffix(view, save.path)
    plan.rewrites += [*writer.imports, *here]
    plan.elsewhere += elsewhere
    if (here or elsewhere) and artifact.documents:
        plan.notes.append(f"{artifact.title} becomes a .pt2 file; {', '.join(artifact.documents[:3])} still names it")
    value = Template(program) if program else Template("$v", (("v", view.span(save.value)),))
    extra = save.extra_files
    if extra is not None:
        if not _holds_text(extra):
            plan.assumptions.append(
                "the values of `_extra_files` have to be `str`: `torch.export.save` rejects bytes, and they are read back "
                "as text"
            )
        elif artifact.readers and any(site.extra_files for _, site in artifact.readers):
            plan.assumptions.append("a reader takes the extra files as bytes, and gets text from now on")
    parts = [*value.parts, ("path", view.span(save.path))]
    tail = ""
    if extra is not None:
        parts.append(("extra", view.span(extra)))
        tail = ", extra_files=$extra"
    if save.method or extra is not None:
        hole = value.text if program else "$v"
        plan.rewrites.append(
            ReplaceExpression(view.span(save.call), Template(f"{writer.text}({hole}, $path{tail})", tuple(parts)))
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


def _holds_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Dict) and all(
        (isinstance(value, ast.Constant) and isinstance(value.value, str)) or isinstance(value, ast.JoinedStr)
        for value in node.values
    )


# What the call says


def _arguments(call: ast.Call) -> _Arguments:
    """The arguments of a trace call."""
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(k.arg is None for k in call.keywords):
        raise CannotExport("its arguments are unpacked from a variable")
    keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    unknown = set(keywords) - _TRACER_ONLY - {"func", "example_inputs", "example_kwarg_inputs"}
    if unknown:
        raise CannotExport(f"it passes `{min(unknown)}`, which has no counterpart")
    module, module_key = (call.args[0], 0) if call.args else (keywords.get("func"), "func")
    if module is None:
        raise CannotExport("it is given no module")
    dropped: list[int | str] = [*range(2, len(call.args)), *(name for name in keywords if name in _TRACER_ONLY)]
    if "example_kwarg_inputs" in keywords:
        named = keywords["example_kwarg_inputs"]
        if len(call.args) > 1 or "example_inputs" in keywords:
            raise CannotExport("it is given positional and keyword inputs")
        return _Arguments(module, module_key, named, "example_kwarg_inputs", True, tuple(dropped))
    if len(call.args) > 1:
        return _Arguments(module, module_key, call.args[1], 1, False, tuple(dropped))
    if "example_inputs" not in keywords:
        raise CannotExport("it has no example inputs")
    return _Arguments(module, module_key, keywords["example_inputs"], "example_inputs", False, tuple(dropped))


def _inputs(view: ModuleView, given: _Arguments, life: ValueLife) -> ExampleInputs:
    if given.keywords:
        return read_keyword_inputs(view, given.inputs)
    calls = [call for call in life.calls if life.home(call) is view]
    module = ast.dump(given.module)
    function = view.function_of(given.module)
    for node in ast.walk(function or view.tree):
        if isinstance(node, ast.Call) and ast.dump(node.func) == module:
            calls.append(node)
    return read_example_inputs(view, given.inputs, tuple(calls))


# What speaks against it


def _weigh_life(plan: TracePlan) -> None:
    for obstacle in plan.life.obstacles:
        plan.weigh(f"the traced value {obstacle.reason} ({plan.life.place(obstacle.node)})", obstacle.safety)


def _weigh_module(plan: TracePlan, entry: Entry, inputs: ExampleInputs) -> None:
    captured = entry.facts
    for doubt in captured.doubts:
        plan.weigh(doubt.reason, doubt.safety)
    if captured.stateful and not captured.evaluated:
        plan.assumptions.append(
            f"`.eval()` on `{captured.expression}` was not seen before the capture, and tracing in train mode runs the "
            "model once (BatchNorm statistics and the random state move), which export does not"
        )
    counted = inputs.form in {"tensor", "display", "tuple", "list"}
    if captured.parameters is not None and counted and captured.parameters != inputs.count:
        required = captured.required if captured.required is not None else captured.parameters
        if not required <= inputs.count <= captured.parameters:
            raise CannotExport(f"`forward` takes {captured.parameters} inputs and the trace gives {inputs.count}")
        plan.assumptions.append(
            "arguments of `forward` that have defaults are fixed at them: a call that passes one is rejected after export"
        )


def _autocast_callers(context: Context) -> list[str]:
    """Other files that use autocast and mention this module: they may run the capture under it."""
    view, project = context.view, context.project
    module = view.module.rpartition(".")[2].encode()
    return [path for path in project.files_holding("autocast") if path != view.path and module in project.data(path)]


def _weigh_surroundings(plan: TracePlan, context: Context) -> None:
    view = plan.view
    if callers := _autocast_callers(context):
        plan.assumptions.append(
            f"{callers[0]} uses autocast and may run this capture under it, which bakes its dtypes in"
        )
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


def _weigh_call(plan: TracePlan, call: ast.Call, inputs: ExampleInputs) -> None:
    life = plan.life
    place = life.place(call)
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    if inputs.form == "keywords":
        given = {keyword.arg for keyword in call.keywords}
        if call.args:
            plan.refusals.append(
                f"the traced value is called with positional inputs ({place}), which export rejects here"
            )
        elif inputs.keys is None or None in given:
            plan.assumptions.append(f"the call ({place}) has to give the keywords of the example")
        elif given != set(inputs.keys):
            plan.refusals.append(f"the call ({place}) gives other keywords than the example, which export rejects")
        return
    if call.keywords:
        plan.refusals.append(f"the traced value is called with keywords ({place}), which export rejects")
    elif inputs.form == "unknown" or starred:
        plan.assumptions.append(f"the number of arguments has to be that of the example inputs ({place})")
    elif len(call.args) != inputs.count:
        plan.refusals.append(
            f"the traced value is called with {len(call.args)} arguments ({place}), not {inputs.count}"
        )
    else:
        for argument, tensor in zip(call.args, inputs.tensors, strict=True):
            sizes = visible_sizes(life.home(call), argument)
            if sizes is not None and tensor.sizes is not None and len(sizes) != len(tensor.sizes):
                plan.refusals.append(f"the call ({place}) has an input of another rank than the example")


def _weigh_readers(plan: TracePlan, context: Context) -> None:
    """Programs in other languages that load TorchScript files: they cannot read what is written from now on."""
    if plan.life.saves:
        readers = foreign_readers(context.project)
        if readers:
            plan.assumptions.append(
                f"TorchScript files are read by {readers[0].title} at {readers[0].place}, which cannot read an exported "
                f"program: {readers[0].advice}"
            )


def sentence(reasons: list[str]) -> str:
    """Clauses as one sentence: each once, at most four of them."""
    unique = list(dict.fromkeys(reasons))
    shown = "; ".join(unique[:4])
    rest = f"; and {len(unique) - 4} more" if len(unique) > 4 else ""
    return f"{shown}{rest}".rstrip(".") + "."


def iterate_notes(plan: TracePlan) -> Iterator[str]:
    """Everything a finding says besides the main message."""
    if plan.assumptions:
        yield f"Needs review: {sentence(plan.assumptions)}"
    if plan.notes:
        yield sentence(plan.notes)
