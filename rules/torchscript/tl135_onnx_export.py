"""`torch.onnx.export` of TorchScript values, and the TorchScript-based ONNX exporter."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import (
    DeleteStatement,
    EditCall,
    Finding,
    Fix,
    ReplaceExpression,
    Rewrite,
    Safety,
    Severity,
    Template,
)
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.places.use_places import place_of
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.rules.torchscript.modules.export_obstacles import export_obstacle
from torchlift.versions import TorchVersion
from torchlift.view import Binding, ModuleView, Use

_EXPORT = "torch.onnx.export"
_DYNAMO_EXPORT = "torch.onnx.dynamo_export"
_DOCS = "https://docs.pytorch.org/docs/stable/onnx_export.html"

RULE = Rule(
    code="TL135",
    name="torchscript-onnx-export",
    summary="ONNX export of a TorchScript value, or through the TorchScript-based exporter",
    why=(
        "Since torch 2.9 `torch.onnx.export` builds on `torch.export` unless `dynamo=False` is given, and rejects traced, "
        "scripted and loaded TorchScript values. `dynamo=False` warns since torch 2.8, `fallback=` was removed in 2.11, "
        "`torch.onnx.dynamo_export` in 2.9."
    ),
    fix=(
        "Passing the module itself needs review: the graph comes from another exporter, in the module's own mode. It is "
        "offered where the captured module stands in the same scope. With `dynamo=False` such values are reported only, because "
        "dropping it changes the exporter; TL503 is about the exporter of eager modules."
    ),
    targets=(_EXPORT, _DYNAMO_EXPORT),
    triggers=(
        *(f"{onnx} & {word}" for onnx in ("torch.onnx", "import onnx") for word in ("jit", "dynamo", "fallback")),
        "dynamo_export",
    ),
    sources=(
        _DOCS,
        "torch/onnx/__init__.py, torch/export/_trace.py of the wheels 2.8.0-2.15.0",
        "https://github.com/pytorch/pytorch/pull/158130 (removal of torch.onnx.dynamo_export)",
        "eager, traced and scripted modules exported on torch 2.13.0 with onnxscript 0.7.2, with and without dynamo=False",
        *SOURCES,
    ),
)

_NEW_BY_DEFAULT = TorchVersion(2, 9)
_PARAMETER_SINCE = TorchVersion(2, 5)
_FALLBACK_REMOVED = TorchVersion(2, 11)
_CAPTURES = {
    "torch.jit.trace": "traced",
    "torch.jit.script": "scripted",
    "torch.jit.load": "loaded TorchScript",
    "torch.jit.trace_module": "traced",
    "torch.jit.freeze": "frozen TorchScript",
    "torch.jit.optimize_for_inference": "frozen TorchScript",
}
# Passed on to the TorchScript-based exporter only (torch/onnx/__init__.py of 2.13.0).
_OLD_ONLY = (
    "training",
    "operator_export_type",
    "do_constant_folding",
    "custom_opsets",
    "export_modules_as_functions",
    "autograd_inlining",
)


@dataclass(frozen=True)
class ExportedCapture:
    """A TorchScript value given to `torch.onnx.export`.

    Attributes:
        capture: the call that makes it.
        function: qualified name of what is called there.
        argument: the expression that stands in the export call.
        binding: the variable in between, if there is one.
    """

    capture: ast.Call
    function: str
    argument: ast.expr
    binding: Binding | None


def exported_capture(view: ModuleView, export: ast.Call) -> ExportedCapture | None:
    """The TorchScript value that an `torch.onnx.export` call is given, if it is made right there or in a variable."""
    argument = _model(export)
    value, binding = argument, None
    if isinstance(argument, ast.Name):
        binding = view.definition(argument)
        if binding is None or binding.kind != "assign" or binding.scope is not view.scope_at(export):
            return None
        value = binding.value
    if argument is None or not isinstance(value, ast.Call):
        return None
    resolution = view.resolve(value.func)
    if resolution is None or not resolution.certain or resolution.name not in _CAPTURES:
        return None
    return ExportedCapture(value, resolution.name, argument, binding)


def _model(export: ast.Call) -> ast.expr | None:
    if export.args:
        return None if isinstance(export.args[0], ast.Starred) else export.args[0]
    return next((keyword.value for keyword in export.keywords if keyword.arg == "model"), None)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if use.target == _DYNAMO_EXPORT:
        if place_of(use, context) is not None:
            message = f"`{_DYNAMO_EXPORT}` was removed in torch 2.9."
            advice = (
                "Write `torch.onnx.export(model, (x, ...), kwargs={...}, dynamo=True)`, which returns an `ONNXProgram` too; "
                f"options of `export_options` are its keyword arguments (`dynamic_shapes=`, `opset_version=`). {_DOCS}"
            )
            yield Finding("TL135", view.path, view.span(use.node), message, Severity.ERROR, advice)
        return
    if use.call is None:
        return
    yield from _check_fallback(use.call, context)
    dynamo = next((keyword for keyword in use.call.keywords if keyword.arg == "dynamo"), None)
    found = exported_capture(view, use.call)
    if found is not None:
        yield _of_capture(found, use, dynamo, context)


def _is(node: ast.expr, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _to_new_exporter(export: ast.Call) -> str:
    names = {keyword.arg for keyword in export.keywords}
    steps = ["Drop `dynamo=False`", "call `.eval()` on the module first, because the new exporter keeps its mode"]
    if "dynamic_axes" in names:
        steps.append("give `dynamic_shapes=` (keys are the arguments of `forward`) in place of `dynamic_axes=`")
    if "custom_opsets" in names:
        steps.append("give `custom_translation_table=` in place of symbolic functions and `custom_opsets=`")
    ignored = [f"`{name}=`" for name in _OLD_ONLY if name in names and name != "custom_opsets"]
    if ignored:
        steps.append(f"drop {', '.join(ignored)}, which it ignores")
    steps.append(
        "pass a path and no open file; install `onnxscript`, and compare the outputs of both files in onnxruntime"
    )
    return f"{'; '.join(steps)}."


def _check_fallback(call: ast.Call, context: Context) -> Iterator[Finding]:
    fallback = next((keyword for keyword in call.keywords if keyword.arg == "fallback"), None)
    if fallback is None or context.settings.target < _FALLBACK_REMOVED:
        return
    view = context.view
    message = "`torch.onnx.export(fallback=...)` was removed in torch 2.11 and is a `TypeError` now."
    if _is(fallback.value, False):
        review = "Needs review: without `fallback=` releases before 2.11 must not fall back either; that was not run."
        fix = Fix("Drop `fallback=`", Safety.UNSAFE, (EditCall(view.span(call), drop=("fallback",), add=_aloud(call)),))
        yield Finding("TL135", view.path, view.span(fallback), message, Severity.ERROR, review, fix)
        return
    advice = (
        "Drop it. Where the fallback mattered, catch `torch.onnx.OnnxExporterError` and call again with `dynamo=False`, as "
        "long as that exporter exists."
    )
    yield Finding("TL135", view.path, view.span(fallback), message, Severity.ERROR, advice)


def _of_capture(found: ExportedCapture, use: Use, dynamo: ast.keyword | None, context: Context) -> Finding:
    view = context.view
    assert use.call is not None
    kind = _CAPTURES[found.function]
    span = view.span(use.node)
    if dynamo is not None and not _is(dynamo.value, True):
        message = (
            f"A {kind} value goes through the TorchScript-based ONNX exporter: `DeprecationWarning` since torch 2.8, and "
            "the one that builds on `torch.export` is the default since 2.9."
        )
        why = "Not rewritten, because the other exporter makes another graph"
        if kind == "scripted":
            why += " (a branch that scripting keeps is fixed or an error there, unless it is a `torch.cond`)"
        advice = f"{why}. Pass the eager module; {_lower_first(_to_new_exporter(use.call))} {_DOCS}"
        return Finding("TL135", view.path, span, message, Severity.WARNING, advice)
    message = (
        f"`{_EXPORT}` of a {kind} value fails since torch 2.9: the default exporter builds on `torch.export`, which rejects "
        "TorchScript (`TorchExportError`)."
    )
    refusal = _refusal(found, dynamo, context)
    if refusal is not None:
        advice = f"Not rewritten: {refusal}. {_DOCS}"
        return Finding("TL135", view.path, span, message, Severity.ERROR, advice)
    module = found.capture.args[0]
    rewrites: tuple[Rewrite, ...] = (
        ReplaceExpression(view.span(found.argument), Template("$module", (("module", view.span(module)),))),
    )
    if found.binding is not None:
        rewrites = (ReplaceExpression(view.span(found.argument), Template(view.text(module))),)
        if len(view.reads_of(found.binding)) == 1 and found.binding.statement is not None:
            rewrites = (*rewrites, DeleteStatement(view.span(found.binding.statement)))
    review = f"Needs review: {'; '.join(_assumptions(found, use.call, view))}."
    chosen = _aloud(use.call)
    if chosen:
        rewrites = (*rewrites, EditCall(view.span(use.call), add=chosen))
    fix = Fix("Export the module itself", Safety.UNSAFE, rewrites, _PARAMETER_SINCE if chosen else None)
    return Finding("TL135", view.path, span, message, Severity.ERROR, review, fix)


def _aloud(call: ast.Call) -> tuple[tuple[str, Template], ...]:
    """`dynamo=True` for a call that leaves it to the default, which is another one up to torch 2.8 (TL503)."""
    if any(keyword.arg in {"dynamo", None} for keyword in call.keywords):
        return ()
    return (("dynamo", Template("True")),)


def _lower_first(text: str) -> str:
    return text[0].lower() + text[1:]


def _refusal(found: ExportedCapture, dynamo: ast.keyword | None, context: Context) -> str | None:
    """Why the module cannot be passed in the place of the captured value, a clause; None if it can."""
    view, call = context.view, found.capture
    if found.function not in {"torch.jit.trace", "torch.jit.script"}:
        return "the module behind the value is not known here; pass the eager module that it was made from"
    if not call.args or isinstance(call.args[0], ast.Starred):
        return "the captured module is not the first argument of the capture; pass it to the export"
    module = call.args[0]
    definition = view.definition(module)
    if isinstance(module, ast.Lambda) or (definition is not None and definition.kind == "def"):
        return "it captures a function; the exporter takes a module, so wrap the function in an `nn.Module`"
    if isinstance(module, ast.Attribute) and module.attr == "forward":
        return f"it captures a bound `forward`; pass the module, `{view.text(module.value)}`"
    old = dynamo is None and context.settings.min_torch < _NEW_BY_DEFAULT
    if found.function == "torch.jit.script" and old:
        return (
            f"this project {context.settings.supports}, whose exporter traces an eager module and drops "
            "branches that scripting keeps. Pass the eager module together with `dynamo=True`"
        )
    if found.binding is not None:
        owner = view.scope_at(found.argument).lookup(module.id) if isinstance(module, ast.Name) else None
        if owner is None or not isinstance(module, ast.Name) or len(owner.bindings[module.id]) != 1:
            return "the captured module is not a name that means the same at the export; pass the eager module there"
    return export_obstacle(view, module, context.project)


def _assumptions(found: ExportedCapture, export: ast.Call, view: ModuleView) -> Iterator[str]:
    if found.function == "torch.jit.script":
        yield (
            "control flow that scripting kept is fixed for the example inputs, or an error where it depends on data, unless "
            "it is a `torch.cond`"
        )
    else:
        yield "branches on data that tracing fixed are errors now"
    yield f"`{view.text(found.capture.args[0])}` has to be in eval mode, because this exporter keeps the mode"
    if any(keyword.arg == "dynamic_axes" for keyword in export.keywords):
        yield "`dynamic_axes=` is turned into `dynamic_shapes=` with a warning, and not always successfully"


_NET = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n\n\nnet = Net().eval()\nx = torch.rand(4, 3)\n"

EXAMPLES = (
    Bad(
        _NET + 'traced = torch.jit.trace(net, x)\ntorch.onnx.export(traced, (x,), "net.onnx")\n',
        _NET + 'torch.onnx.export(net, (x,), "net.onnx", dynamo=True)\n',
        safety="unsafe",
        why="traced for the export only",
    ),
    Bad(
        _NET + 'torch.onnx.export(torch.jit.script(net), (x,), "net.onnx")\n',
        _NET + 'torch.onnx.export(net, (x,), "net.onnx", dynamo=True)\n',
        safety="unsafe",
        why="scripted in the call",
    ),
    Bad(
        _NET
        + 'scripted = torch.jit.script(net)  # keeps branches\ntorch.onnx.export(scripted, (x,), "net.onnx", dynamo=True)\n',
        _NET + 'torch.onnx.export(net, (x,), "net.onnx", dynamo=True)\n',
        safety="unsafe",
        why="a variable used for nothing else",
    ),
    Bad(
        _NET + 'torch.onnx.export(net, (x,), "net.onnx", fallback=False)\n',
        _NET + 'torch.onnx.export(net, (x,), "net.onnx", dynamo=True)\n',
        safety="unsafe",
        why="fallback turned off",
    ),
    Bad(
        _NET + 'torch.onnx.export(torch.jit.script(net), (x,), "net.onnx")\n',
        why="torch 2.6 is supported, where the module would be traced",
        min_torch=TorchVersion(2, 6),
    ),
    Bad(
        _NET + 'scripted = torch.jit.script(net)\ntorch.onnx.export(scripted, (x,), "net.onnx", dynamo=False)\n',
        why="scripted, through the old exporter",
    ),
    Bad(
        _NET.replace("return x + 1", "return x + 1 if x.sum() > 0 else x")
        + 'torch.onnx.export(torch.jit.script(net), (x,), "net.onnx")\n',
        why="scripted, so that both branches are kept",
    ),
    Bad('import torch\n\ntorch.onnx.export(torch.jit.load("net.pt"), (1,), "net.onnx")\n', why="a loaded module"),
    Bad(_NET + 'torch.onnx.export(net, (x,), "net.onnx", fallback=True)\n', why="fallback turned on"),
    Bad(_NET + "program = torch.onnx.dynamo_export(net, x)\n", why="a function that is gone"),
    Bad(
        "from torch.onnx import dynamo_export as export\n\n\ndef write(net, x):\n    return export(net, x)\n",
        why="the function that is gone, imported",
    ),
    Ok(_NET + 'torch.onnx.export(net, (x,), "net.onnx")  # not torch.jit, dynamo\n', "an eager module"),
    Ok(_NET + 'torch.onnx.export(net, (x,), "net.onnx", dynamo=True)\n', "the new exporter, asked for"),
    Ok(_NET + 'torch.onnx.export(net, (x,), "net.onnx", dynamo=False)\n', "the old exporter for an eager module"),
    Ok("import onnx\n\nonnx.export(1, dynamo=False)\n", "the onnx package"),
    Ok(
        "import torch\n\nif hasattr(torch.onnx, 'dynamo_export'):\n    torch.onnx.dynamo_export(1, 2)\n",
        "the program asks whether the function is there",
    ),
)
