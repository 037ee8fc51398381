"""A scripted module that is written to a file: the program that takes its place there, or how to make one by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Safety, Template
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.analysis.project.torchscript_elsewhere import foreign_reading
from torchlift.rules.analysis.wording.messages import one_line, sentence
from torchlift.rules.torchscript.captures.artifacts import Artifact, read_artifact
from torchlift.rules.torchscript.captures.capture_writer import Capture, Given, write_capture
from torchlift.rules.torchscript.captures.export_arguments import (
    ArgumentBuilder,
    CannotExport,
    ExportArguments,
    fixed_dimensions,
)
from torchlift.rules.torchscript.captures.module_call import (
    ModuleCall,
    ModuleVerdict,
    attribute_at,
    sorted_obstacles,
    unreadable,
)
from torchlift.rules.torchscript.captures.proven_variant import batch_example, in_proved_form, weigh_record
from torchlift.rules.torchscript.captures.recorded_example import recorded_example
from torchlift.rules.torchscript.captures.visible_inputs import visible_inputs
from torchlift.rules.torchscript.facts.deprecation import EXPORT_DOCS
from torchlift.rules.torchscript.modules.captured_module import read_captured_module
from torchlift.rules.torchscript.values.example_inputs import ExampleInputs


def saved(about: ModuleCall) -> ModuleVerdict:
    """The program that takes the place of a scripted module which is written to a file."""
    view, life, call = about.view, about.life, about.call
    capture = Capture(about.use, about.context, life)
    artifacts = [(save, read_artifact(view, save.path, about.context.project)) for save in life.saves]
    inputs = None
    refusal = unreadable(call)
    try:
        if refusal is not None:
            raise CannotExport(refusal)
        weigh_record(capture)
        inspected, escaping = sorted_obstacles(about)
        other = [o.reason for o in life.obstacles if (a := attribute_at(life, o)) is not None and a.attr != "eval"]
        if inspected or escaping or other:
            raise CannotExport(f"the scripted value {[*inspected, *escaping, *other][0]}")
        if life.origin is not call:
            raise CannotExport("it is saved under another type (`typing.cast`)")
        inputs = visible_inputs(view, call, [c for c in life.calls if life.home(c) is view])
        if (example := recorded_example(capture)) is not None:
            _weigh_module(capture, about)
            _write(capture, about, example)
        elif inputs is None:
            raise CannotExport("what it would be exported with is not certain here")
        else:
            _plan(capture, about, inputs)
    except CannotExport as refusal_found:
        by_hand = _by_hand(about, str(refusal_found), [a for _, a in artifacts])
        return ModuleVerdict(by_hand, None, tuple(capture.groups), capture.recorded_notes())
    fix = capture.fix("Capture with `torch.export.export`")
    return ModuleVerdict(capture.review() or "", fix, tuple(capture.groups), capture.recorded_notes())


def _plan(capture: Capture, about: ModuleCall, inputs: ExampleInputs) -> None:
    view, life, call = about.view, about.life, about.call
    for called in life.calls:
        if called.keywords or any(isinstance(argument, ast.Starred) for argument in called.args):
            raise CannotExport(f"it is called with keywords or unpacked arguments ({life.place(called)})")
        if len(called.args) != inputs.count:
            raise CannotExport(
                f"it is called with {len(called.args)} arguments ({life.place(called)}), not {inputs.count}"
            )
    facts = read_captured_module(view, about.node, call, about.context.project)
    if facts.parameters is not None:
        required = facts.required if facts.required is not None else facts.parameters
        if not required <= inputs.count <= facts.parameters:
            raise CannotExport(f"`forward` takes {facts.parameters} inputs and {inputs.count} were read")
    _weigh_module(capture, about)
    builder = ArgumentBuilder(view, call, capture.spell, batch_example(capture))
    arguments = in_proved_form(capture, builder.build(inputs), clones=False)
    capture.assume(*arguments.assumptions)
    capture.assume(*fixed_dimensions(arguments, [(view, called) for called in life.calls], saved=True))
    _write(capture, about, arguments)


def _weigh_module(capture: Capture, about: ModuleCall) -> None:
    """What speaks against exporting the module, whatever its inputs.

    Raises:
        CannotExport: something surely does.
    """
    capture.weigh_exporting(about.node)
    facts = read_captured_module(about.view, about.node, about.call, about.context.project)
    capture.assume(
        "branches and loops of `forward`, ints that it is given and arguments that are left out are fixed as these inputs "
        "take them, which scripting kept open"
    )
    if capture.recorded is not None:
        capture.assume(*_other_methods(about), asks="project")
    if _eval_first(about):
        moves = f"`.eval()` moves in front of the capture, so it now reaches `{about.module.text}` too"
        capture.assume(moves, asks="project" if capture.was_training else "run")
    elif facts.stateful and not facts.evaluated:
        capture.assume(f"`.eval()` on `{about.module.text}` was not seen, so it is captured in train mode")
    capture.assume(*(doubt.reason for doubt in facts.doubts if doubt.safety is not Safety.MANUAL))
    refused = [doubt.reason for doubt in facts.doubts if doubt.safety is Safety.MANUAL]
    if refused:
        raise CannotExport(refused[0])


def _other_methods(about: ModuleCall) -> Iterator[str]:
    """Clauses about methods that the scripted module has and a program has not, called or not."""
    if about.module.owner is None:
        return
    owner, definition = about.module.owner
    for use in owner.uses(frozenset({"torch.jit.export"}), about.context.project.translate):
        method = owner.parent(use.node)
        if use.kind == "decorator" and isinstance(method, ast.FunctionDef) and owner.parent(method) is definition:
            yield f"`{method.name}` of `{definition.name}` is exported by `@torch.jit.export`, and a program has `forward` only"


def _write(capture: Capture, about: ModuleCall, arguments: ExportArguments) -> None:
    view, call = about.view, about.call
    simple = isinstance(about.node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    hole = "$module" if simple else "($module)"
    template = Template(f"{hole}.eval()", (("module", view.span(about.node)),)) if _eval_first(about) else None
    dropped = tuple(keyword.arg for keyword in call.keywords if keyword.arg is not None)
    write_capture(capture, Given(template, None, dropped), arguments)


def _eval_first(about: ModuleCall) -> bool:
    """Whether `.eval()` on the scripted value has to run before the capture: it is live on one, and no use on the other.

    Raises:
        CannotExport: the value is used before it is put into eval mode.
    """
    life, view = about.life, about.view
    if not life.evals:
        return life.outer is not about.call
    last = max(statement.lineno for statement in life.evals)
    used = [node.lineno for node in (*life.calls, *(save.call for save in life.saves))]
    block = view.block(life.statement)
    if min(used, default=last + 1) < last or any(statement not in block for statement in life.evals):
        raise CannotExport("it is used before `.eval()` is called on it, and an exported program has one mode only")
    return True


def _by_hand(about: ModuleCall, reason: str, artifacts: list[Artifact]) -> str:
    path = one_line(about.view, about.life.saves[0].path)
    successor = "make it from that again" if about.draft.plain else "become `torch.export.load(path).module()` with it"
    readers = [
        f"`torch.jit.load` at {place}:{site.line} has to {successor}"
        + ("" if place == about.view.path else " where it reads the same file")
        for artifact in artifacts
        for place, site in artifact.readers
    ]
    foreign = _foreign(about, artifacts) if not about.draft.plain else []
    return " ".join(
        [
            f"Not rewritten: {reason}. {_file_left(about, path)}",
            *([sentence(readers)] if readers else []),
            *([f"Code that may read the file: {sentence(foreign)}"] if foreign else []),
            EXPORT_DOCS,
        ]
    )


def _foreign(about: ModuleCall, artifacts: list[Artifact]) -> list[str]:
    """Readers in other languages; nothing but this program knows a buffer, a path made up here, or a test's file."""
    view = about.view
    local = all(artifact.buffer or (artifact.key or "").startswith("local ") for artifact in artifacts) or all(
        isinstance(save.path, ast.Call) and view.possible_name(save.path.func) == "io.BytesIO"
        for save in about.life.saves
    )
    if local or is_test_file(view.path):
        return []
    return [f"{r.title} at {r.place}: {r.advice}" for r in foreign_reading(about.context.project)]


def _file_left(about: ModuleCall, path: str) -> str:
    """How to leave a file behind."""
    draft = about.draft
    if draft.plain:
        return (
            f"It takes {draft.plain}, which `torch.export` would fix: keep it as Python code, and save what it is made "
            "from (`torch.save` of its vocabulary or `state_dict()`) in the place of the program."
        )
    entry = {
        "module": "",
        "function": " A function has to stand in the `forward` of a module first.",
        "unknown": " If it is a function, it has to stand in the `forward` of a module first.",
    }[about.module.kind]
    return f"To leave a file behind, where it can be captured: `torch.export.save({draft.code}, {path})`.{entry} {draft.remarks}"
