"""`torch.jit.trace_module`: one exported program for each method that is traced."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Fix, Safety, Severity
from torchlift.rules.analysis.places.use_places import place_of
from torchlift.rules.analysis.wording.messages import one_line
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.captures import artifact_sites
from torchlift.rules.torchscript.captures.capture_writer import Capture, Given, write_capture
from torchlift.rules.torchscript.captures.export_arguments import ArgumentBuilder, CannotExport, fixed_dimensions
from torchlift.rules.torchscript.captures.plain_module import plain_module
from torchlift.rules.torchscript.captures.proven_variant import batch_example, in_proved_form, weigh_record
from torchlift.rules.torchscript.captures.script_of_module import finding_of
from torchlift.rules.torchscript.captures.trace_plan import TRACER_ONLY, traced_module
from torchlift.rules.torchscript.facts.deprecation import DEPRECATED, EXPORT_DOCS, SINCE, SOURCES
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.modules.captured_module import read_captured_module
from torchlift.rules.torchscript.proofs.recorded_capture import rather_plain
from torchlift.rules.torchscript.scripting_tests.verdict import in_scripting_test
from torchlift.rules.torchscript.values.example_inputs import read_example_inputs
from torchlift.rules.torchscript.values.value_life import ValueLife, follow
from torchlift.source import Span
from torchlift.view import Use

RULE = Rule(
    code="TL106",
    name="torchscript-trace-module",
    summary="`torch.jit.trace_module` instead of one `torch.export.export` for each method",
    why=(
        f"{SINCE}. It traces several methods of a module into one value. An exported program has a single entry, so each "
        "method becomes a program of its own, and parameters that methods share are stored with each of them."
    ),
    fix=(
        'Needs review for `{"forward": inputs}` with visible tensors: the same program as from `torch.jit.trace`, exported '
        "with every dimension dynamic. Not rewritten for other methods: the finding shows the small module that a method needs "
        "around it, and the file that holds several programs. Recorded runs settle what is for review, as for `torch.jit.trace`."
    ),
    targets=("torch.jit.trace_module",),
    triggers=("jit", "_jit_internal"),
    deprecated=DEPRECATED,
    collectors=(artifact_sites.COLLECTOR,),
    sources=(
        *SOURCES,
        EXPORT_DOCS,
        "torch/export/pt2_archive/_package.py of torch 2.13.0: package_pt2 and load_pt2, run 2026-11-21",
        "a wrapper around a bound method exports with an empty state_dict: run on torch 2.13.0 and 2.15.0",
    ),
)

_MESSAGE = f"`torch.jit.trace_module`: {SINCE}. `torch.export.export` captures `forward`, one program at a time."
_AUTO = "torch.export.Dim.AUTO"
_GIVEN = (
    "with `inputs` the tuple of example inputs, of batch size 2 or more, and in `shapes` a list "
    f"`[{_AUTO}] * t.dim()` for every tensor `t` of it"
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    place = place_of(use, context)
    if place is None:
        return
    if (tested := in_scripting_test(use, context, "TL106", _MESSAGE)) is not None:
        yield tested
        return
    span = view.span(use.node)
    if use.call is None or place not in {"call", "raise"}:
        yield Finding("TL106", view.path, span, _MESSAGE, Severity.WARNING, _ADVICE.get(place, _ADVICE["value"]))
        return
    call = use.call
    traced = traced_module(call)
    if traced is not None and (drops(context) or rather_plain(use, context)):
        plain = plain_module(use, context, traced, traced=True)
        if plain is not None:
            yield finding_of(plain, "TL106", _MESSAGE, use, view)
            return
    inputs = _inputs(call)
    if inputs is None:
        advice = (
            f"Not rewritten: the methods and their inputs are not written out in the call. {_many('net', ['encode'])} "
            f"{EXPORT_DOCS}"
        )
        yield Finding("TL106", view.path, span, _MESSAGE, Severity.WARNING, advice)
        return
    module = one_line(view, call.args[0])
    methods = [name for name, _ in inputs]
    if methods != ["forward"]:
        advice = f"Not rewritten: {_why(methods)} {_many(module, methods)} {EXPORT_DOCS}"
        yield Finding("TL106", view.path, span, _MESSAGE, Severity.WARNING, advice)
        return
    capture = Capture(use, context, follow(view, call, context.project))
    try:
        _plan(capture, inputs[0][1])
    except CannotExport as refusal:
        advice = (
            f"Not rewritten: {refusal}. Where that can be changed: `torch.export.export({module}, inputs, "
            f"dynamic_shapes=shapes)`, whose `.module()` is called like the module, {_GIVEN}. {EXPORT_DOCS}"
        )
        yield _said(capture, span, advice)
        return
    fix = capture.fix("Capture with `torch.export.export`")
    yield _said(capture, span, capture.review(), fix)


def _said(capture: Capture, span: Span, advice: str | None, fix: Fix | None = None) -> Finding:
    groups, notes = tuple(capture.groups), capture.recorded_notes()
    path = capture.view.path
    return Finding("TL106", path, span, _MESSAGE, Severity.WARNING, advice, fix, groups=groups, notes=notes)


def _inputs(call: ast.Call) -> list[tuple[str, ast.expr]] | None:
    """Methods and inputs of a call that writes them out; None if it does not, or passes what has no counterpart."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if not call.args or any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    if set(keywords) - TRACER_ONLY - ({"inputs"} if len(call.args) == 1 else set()):
        return None
    display = call.args[1] if len(call.args) > 1 else keywords.get("inputs")
    if isinstance(display, ast.Call) and isinstance(display.func, ast.Name) and display.func.id == "dict":
        named = [(keyword.arg, keyword.value) for keyword in display.keywords if keyword.arg is not None]
        return named if named and len(named) == len(display.keywords) and not display.args else None
    if not isinstance(display, ast.Dict) or not display.keys:
        return None
    found = []
    for key, value in zip(display.keys, display.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        found.append((key.value, value))
    return found


def _plan(capture: Capture, node: ast.expr) -> None:
    view, call, life = capture.view, capture.call, capture.life
    weigh_record(capture)
    calls = tuple(called for called in life.calls if life.home(called) is view)
    inputs = read_example_inputs(view, node, calls)
    if not inputs.understood:
        raise CannotExport("how many tensors the example inputs are was not read")
    if inputs.form in {"tuple", "list"} and inputs.repeated:
        raise CannotExport("the example inputs hold the same tensor twice, which export would merge into one input")
    facts = read_captured_module(view, call.args[0], call, capture.context.project)
    for doubt in facts.doubts:
        if doubt.safety is Safety.MANUAL:
            raise CannotExport(doubt.reason)
    if facts.parameters is not None:
        required = facts.required if facts.required is not None else facts.parameters
        if not required <= inputs.count <= facts.parameters:
            raise CannotExport(f"`forward` takes {facts.parameters} inputs and the trace gives {inputs.count}")
    capture.weigh_exporting(call.args[0])
    _weigh_life(capture, life, inputs.count)
    capture.assume("autocast, gradient modes and device moves around the capture were not checked")
    if facts.stateful and not facts.evaluated:
        capture.assume(
            f"`.eval()` on `{facts.expression}` was not seen before the capture, and tracing in train mode runs the model"
        )
    capture.assume(*(doubt.reason for doubt in facts.doubts))
    builder = ArgumentBuilder(view, call, capture.spell, batch_example(capture))
    arguments = in_proved_form(capture, builder.build(inputs), clones=False)
    capture.assume(*arguments.assumptions)
    saved = bool(life.saves or life.obstacles)
    capture.assume(*fixed_dimensions(arguments, [(life.home(c), c) for c in life.calls], saved=saved))
    dropped: list[int | str] = [*range(2, len(call.args)), *(k.arg for k in call.keywords if k.arg is not None)]
    write_capture(capture, Given(None, 1 if len(call.args) > 1 else None, tuple(dropped)), arguments)


def _weigh_life(capture: Capture, life: ValueLife, count: int) -> None:
    for obstacle in life.obstacles:
        reason = f"the traced value {obstacle.clause} ({life.place(obstacle.node)})"
        if obstacle.safety is Safety.MANUAL:
            raise CannotExport(reason)
        capture.assume(reason)
    for called in life.calls:
        if called.keywords or any(isinstance(argument, ast.Starred) for argument in called.args):
            raise CannotExport(f"it is called with keywords or unpacked arguments ({life.place(called)})")
        if len(called.args) != count:
            raise CannotExport(f"it is called with {len(called.args)} arguments ({life.place(called)}), not {count}")


def _why(methods: list[str]) -> str:
    if len(methods) == 1:
        return f"a program has one entry, and this one is `{methods[0]}`."
    return "a program has one entry, and these are several."


def _many(module: str, methods: list[str]) -> str:
    """How to export methods: a small module for each, and one file for all."""
    other = next((name for name in methods if name != "forward"), methods[0])
    title = "".join(part[:1].upper() + part[1:] for part in other.split("_") if part) + "Entry"
    wrapped = (
        f"Wrap each method in a module that holds `{module}` as a submodule (one that holds the bound method loses all "
        f"parameters): `class {title}(torch.nn.Module)` with `self.net = net` in `__init__` and "
        f"a `forward` with the parameters of `{other}` that calls `self.net.{other}` with them. Then "
        f"`torch.export.export({title}({module}), inputs, dynamic_shapes=shapes)`, {_GIVEN}"
    )
    if len(methods) == 1:
        return f"{wrapped}."
    names = ", ".join(f'"{name}": ...' for name in methods)
    return (
        f"{wrapped}. That is one program for each, and from torch 2.8 on there can be one file for all of them: "
        f"`torch.export.pt2_archive._package.package_pt2(path, exported_programs={{{names}}})` (a private module), read with "
        f'`load_pt2(path).exported_programs["{other}"].module()`.'
    )


_ADVICE = {
    "import": "This file only passes the name on: take it out together with the uses elsewhere.",
    "string": "The string names `torch.jit.trace_module`: it can go together with the code that it patches or looks up.",
    "store": "What is put in the place of `torch.jit.trace_module` here can go with the last code that calls it.",
    "value": (
        "`torch.jit.trace_module` is handed on here as a function. Its successor is called otherwise, once for each method: "
        f"`torch.export.export(module, inputs, dynamic_shapes=shapes)`, {_GIVEN}."
    ),
}

_NET = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 4)

    def forward(self, x):
        return torch.relu(self.fc(x))

    def encode(self, x):
        return self.fc(x)


torch.manual_seed(0)
net = Net().eval()
"""
_EXPORT = f"torch.export.export(net, (torch.rand(4, 3),), dynamic_shapes=([{_AUTO}] * 2,))"

EXAMPLES = (
    Bad(
        _NET + 'traced = torch.jit.trace_module(net, {"forward": torch.rand(4, 3)})\n',
        _NET + f"traced = {_EXPORT}.module()\n",
        safety="unsafe",
        why="forward only, called",
        run="result = observe(traced, torch.ones(4, 3))",
    ),
    Bad(
        _NET
        + 'traced = torch.jit.trace_module(net, {"forward": (torch.rand(4, 3),)}, check_trace=False)\n'
        + 'traced.save("net.pt")\ny = traced(torch.ones(2, 3))\n',
        _NET
        + f"traced_program = {_EXPORT}\ntraced = traced_program.module()\n"
        + 'torch.export.save(traced_program, "net.pt")\ny = traced(torch.ones(2, 3))\n',
        safety="unsafe",
        why="forward only, called and saved: two names",
        run="result = (y, observe(traced, torch.ones(4, 3)))",
    ),
    Bad(
        _NET + 'traced = torch.jit.trace_module(net, inputs={"forward": torch.rand(4, 3)})\n',
        _NET
        + "traced = torch.export.export(net, args=(torch.rand(4, 3),), "
        + f"dynamic_shapes=([{_AUTO}] * 2,)).module()\n",
        safety="unsafe",
        why="inputs by keyword",
        run="result = observe(traced, torch.ones(4, 3))",
    ),
    Bad(
        _NET
        + "x = torch.rand(4, 3)\ntraced = torch.jit.trace_module(net, {'forward': x, 'encode': x})\ntraced.encode(x)\n",
        why="two methods: the wrapper and the archive are shown",
    ),
    Bad(
        "from torch.jit import trace_module as tm\n\n\ndef script(net, x):\n    return tm(net, {'ite': (x,)}, check_trace=False)\n",
        why="another method than forward",
    ),
    Bad(
        "import torch\n\n\ndef capture(net, inputs):\n    return torch.jit.trace_module(net, inputs=inputs)\n",
        why="inputs from a variable",
    ),
    Bad("import torch\n\ntracers = [torch.jit.trace_module]\n", why="handed on as a function"),
    Ok("import torch\n\nnet.trace_module(torch, 'jit')\n", "a method of that name"),
    Ok("def register_notrace_module(m):\n    return m\n\n\njit = register_notrace_module(3)\n", "a longer name"),
    Ok('"""torch.jit.trace_module traces methods."""\n', "a docstring"),
)
