"""`torch.jit.trace` through the life of the traced value: create, call, save, `.eval()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.wording.messages import sentence
from torchlift.rules.rule import Context, Rule
from torchlift.rules.torchscript.captures.artifact_sites import COLLECTOR
from torchlift.rules.torchscript.captures.dead_branch import dead_branch, is_silent
from torchlift.rules.torchscript.captures.plain_module import plain_module
from torchlift.rules.torchscript.captures.script_of_module import finding_of
from torchlift.rules.torchscript.captures.trace_plan import plan_trace, traced_module
from torchlift.rules.torchscript.captures.writing_program import or_whole_file
from torchlift.rules.torchscript.examples.trace_examples import EXAMPLES
from torchlift.rules.torchscript.facts.deprecation import DEPRECATED, EXPORT_DOCS, SINCE, SOURCES
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.proofs.recorded_capture import rather_plain
from torchlift.rules.torchscript.scripting_tests.verdict import in_scripting_test
from torchlift.rules.torchscript.values.takers import saved_later
from torchlift.rules.torchscript.values.value_life import follow
from torchlift.view import Use

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
        "in a way that an exported module does not offer, where nothing says which module it is, where code that it runs follows the "
        "values of a tensor or quantizes for training, where an export beside it is the other way or has failed, and where "
        'C++ in the project opens the file by its name. Where `torchscript = "drop"` is said, the module itself takes the '
        "place of a trace that is only called, kept or handed on, and inputs made for it alone go."
    ),
    targets=("torch.jit.trace",),
    triggers=("jit", "_jit_internal"),
    deprecated=DEPRECATED,
    sees_guarded=True,
    collectors=(COLLECTOR,),
    sources=(
        *SOURCES,
        EXPORT_DOCS,
        "66 programs run as TorchScript and as export on torch 2.13.0 and 2.15.0, 2026-11-21",
    ),
    examples=EXAMPLES,
)

_MESSAGE = f"`torch.jit.trace`: {SINCE}. Its successor for a module with example inputs is `torch.export.export`."


def check(use: Use, context: Context) -> Iterator[Finding]:
    yield from or_whole_file(_check(use, context), use, context)


def _check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if isinstance(use.node, ast.alias) and use.kind == "import":
        return
    if (dead := dead_branch(use, context, "TL101", _MESSAGE)) is not None:
        yield dead
        return
    if is_silent(use, context):
        return
    if (tested := in_scripting_test(use, context, "TL101", _MESSAGE)) is not None:
        yield tested
        return
    span = view.span(use.node)
    if use.call is None:
        advice = "Only calls are rewritten; replace this use by hand."
        yield Finding("TL101", view.path, span, _MESSAGE, Severity.WARNING, advice)
        return
    traced = traced_module(use.call)
    if traced is not None and (drops(context) or rather_plain(use, context)):
        plain = plain_module(use, context, traced, traced=True)
        if plain is not None:
            yield finding_of(plain, "TL101", _MESSAGE, use, view)
            return
    life = follow(view, use.call, context.project)
    capture = plan_trace(use, context, life)
    if not capture.refusals and (saved := saved_later(life, context.project)) is not None:
        capture.refusals.append(f"the traced value {saved}")
    groups = tuple(capture.groups)
    if capture.refusals:
        advice = f"Not rewritten: {sentence(capture.refusals)} See {EXPORT_DOCS}"
        yield Finding(
            "TL101", view.path, span, _MESSAGE, Severity.WARNING, advice, groups=groups, notes=capture.recorded_notes()
        )
        return
    fix = capture.fix("Capture with `torch.export.export`")
    yield Finding(
        "TL101",
        view.path,
        span,
        _MESSAGE,
        Severity.WARNING,
        capture.review(),
        fix,
        groups=groups,
        notes=capture.recorded_notes(),
    )
