"""`torch.onnx.export` without `dynamo`, whose default changed in torch 2.9."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Fix, Safety, Severity, Template
from torchlift.rules.analysis.values.value_of import value_of
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

_FLIPPED = TorchVersion(2, 9)

RULE = Rule(
    code="TL503",
    name="onnx-exporter-default",
    summary="`torch.onnx.export` without `dynamo`, which means True since torch 2.9, or with `dynamo=False`",
    why=(
        "Up to torch 2.8 the call went to the TorchScript-based exporter; since 2.9 it goes to the one built on `torch.export`, "
        "which needs `onnxscript` (ModuleNotFoundError without it), keeps the mode of the module, rejects what "
        "`torch.export` cannot capture, converts `dynamic_axes` or fails to, ignores `training`, `do_constant_folding`, "
        "`operator_export_type`, `custom_opsets`, `export_modules_as_functions` and `autograd_inlining`, and returns an "
        "`ONNXProgram`. The old exporter stays behind `dynamo=False` up to 2.15 and warns since 2.8."
    ),
    fix=(
        "For review: `dynamo=False` (torch 2.5 and later) is what the call meant before 2.9. It is deprecated and goes on being "
        "reported, without a fix: a stop on the way to the new exporter."
    ),
    targets=("torch.onnx.export",),
    since=_FLIPPED,
    triggers=("onnx.export", "export & torch.onnx", "export & import onnx"),
    severity=Severity.WARNING,
    sources=(
        "torch/onnx/__init__.py of torch 2.5.1-2.15.0: `dynamo` False up to 2.8.0:133, True since 2.9.1:72; :287-351 of 2.15.0",
        "torch/onnx/_internal/exporter/_compat.py of 2.15.0 (`dynamic_axes`, opsets below 18)",
        "torch/onnx/_constants.py of torch 2.7.1-2.9.1 (default opset 17, 18, 20)",
        "https://github.com/pytorch/pytorch/releases/tag/v2.9.0, backwards incompatible changes",
        "exported with torch 2.13.0, with and without onnxscript 0.7.2 and with and without dynamo=False; with 2.15.0 the old exporter only",
    ),
)

_PARAMETER_SINCE = TorchVersion(2, 5)
_LOWEST_OPSET = 18
_DOCS = "https://docs.pytorch.org/docs/stable/onnx_export.html"
# Passed on to the old exporter only; the new one drops them without a word.
_IGNORED = frozenset(
    "training operator_export_type do_constant_folding custom_opsets export_modules_as_functions autograd_inlining".split()
)
# What only the new exporter knows: whoever passes it has chosen.
_NEW_ONLY: frozenset[str | None] = frozenset(
    "dynamic_shapes custom_translation_table report optimize verify profile dump_exported_program artifacts_dir "
    "external_data fallback".split()
)

_Arguments = dict["str | None", ast.expr]


def matters(target: str, call: ast.Call, settings: Settings) -> bool:
    if len(call.args) > 3:
        return False  # more than three by position is a TypeError since 2.5, which TL404 reports
    given: _Arguments = {keyword.arg: keyword.value for keyword in call.keywords}
    if None in given or any(isinstance(argument, ast.Starred) for argument in call.args):
        return False
    return _is(given["dynamo"], False) if "dynamo" in given else _NEW_ONLY.isdisjoint(given)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if call is None or not matters(use.target, call, context.settings):
        return
    given: _Arguments = {keyword.arg: keyword.value for keyword in call.keywords}
    if len(call.args) > 2:
        given["f"] = call.args[2]
    if any(finding.span == view.span(use.node) for finding in context.says("TL135", use)):
        return  # it says more about a TorchScript value
    if _comes_from_export(view, call):
        return
    chosen = next((keyword for keyword in call.keywords if keyword.arg == "dynamo"), None)
    if chosen is not None:
        message = (
            "`dynamo=False` asks for the TorchScript-based ONNX exporter: `DeprecationWarning` since torch 2.8, and the "
            "one built on `torch.export` is the default since 2.9."
        )
        advice = f"Not rewritten, because the other exporter makes another graph. {_to_new(given)} {_DOCS}"
        yield Finding("TL503", view.path, view.span(chosen), message, Severity.WARNING, advice)
        return
    # The old exporter returned None, so a result that is used is that of the new one.
    if not isinstance(view.parent(call), ast.Expr):
        return
    changes = list(_changes(given))
    low = context.settings.min_torch
    since = (
        f"torch {low}, which this project {'may support' if context.settings.min_torch_at_least else 'supports'}, has"
        if low < _FLIPPED
        else "Earlier releases had"
    )
    message = (
        "`torch.onnx.export` without `dynamo`: since torch 2.9 that is the exporter built on `torch.export`, which needs the "
        f"package `onnxscript` and writes another graph. {since} the TorchScript-based one."
    )
    if changes:
        message = f"{message} Here {'; '.join(changes)}."
    severity = Severity.WARNING if changes else Severity.INFO
    review = (
        "Needs review: `dynamo=False` keeps the old exporter, which is deprecated and warns since 2.8"
        f"{'' if 'opset_version' in given else '; its default opset went from 17 to 18 in 2.8 and to 20 in 2.9'}. {_to_new(given)} {_DOCS}"
    )
    edit = EditCall(view.span(call), add=(("dynamo", Template("False")),))
    fix = Fix(
        "Say `dynamo=False`, the exporter of before 2.9", Safety.UNSAFE, (edit,), _PARAMETER_SINCE, still_reported=True
    )
    yield Finding("TL503", view.path, view.span(call), message, severity, review, fix)


def _changes(given: _Arguments) -> Iterator[str]:
    """What the arguments of this call mean to the new exporter, clauses."""
    if "dynamic_axes" in given and not _is(given["dynamic_axes"], None):
        when = "" if isinstance(given["dynamic_axes"], ast.Dict) else ", where it is not None,"
        yield f"`dynamic_axes=`{when} is turned into `dynamic_shapes=`, which warns and may fail"
    ignored = sorted(
        f"`{name}=`"
        for name in given
        if name in _IGNORED and not (name == "do_constant_folding" and _is(given[name], True))
    )
    if ignored:
        yield f"{', '.join(ignored)} {'is' if len(ignored) == 1 else 'are'} ignored"
    opset = given.get("opset_version")
    if isinstance(opset, ast.Constant) and isinstance(opset.value, int) and opset.value < _LOWEST_OPSET:
        yield f"opset {opset.value} is reached by converting opset {_LOWEST_OPSET} down, which keeps {_LOWEST_OPSET} where that fails"


def _to_new(given: _Arguments) -> str:
    how = "drop `dynamo=False`" if "dynamo" in given else "pass `dynamo=True`"
    steps = [f"For the new one {how}", "install `onnxscript`", "call `.eval()` first, because it keeps the mode"]
    if "dynamic_axes" in given and not _is(given["dynamic_axes"], None):
        steps.append("give `dynamic_shapes=` (keys are the arguments of `forward`) in place of `dynamic_axes=`")
    target = given.get("f")
    if target is not None and not isinstance(target, (ast.Constant, ast.JoinedStr)):
        steps.append("pass a path and no open file")
    return f"{', '.join(steps)}, and compare the outputs of both files."


def _is(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _comes_from_export(view: ModuleView, call: ast.Call) -> bool:
    """Whether what is exported comes from `torch.export`, which the new exporter takes whatever `dynamo` says."""
    model = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "model"), None)
    value = value_of(view, model) if model is not None else None
    return isinstance(value, ast.Call) and view.possible_name(value.func).startswith("torch.export.")


_NET = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n\n\n"

EXAMPLES = (
    Bad(
        _NET + 'torch.onnx.export(\n    Net(),\n    (torch.rand(2, 3),),\n    "net.onnx",\n    input_names=["x"],\n'
        '    dynamic_axes={"x": {0: "n"}},\n)\n',
        _NET + 'torch.onnx.export(\n    Net(),\n    (torch.rand(2, 3),),\n    "net.onnx",\n    input_names=["x"],\n'
        '    dynamic_axes={"x": {0: "n"}},\n    dynamo=False,\n)\n',
        safety="unsafe",
        why="dynamic axes",
    ),
    Bad(
        "import torch.onnx as ox\n\n\ndef write(net, x):\n    ox.export(net, x, 'net.onnx', opset_version=11, do_constant_folding=True)\n",
        "import torch.onnx as ox\n\n\ndef write(net, x):\n"
        "    ox.export(net, x, 'net.onnx', opset_version=11, do_constant_folding=True, dynamo=False)\n",
        safety="unsafe",
        why="an old opset, and an argument that is ignored",
    ),
    Bad(
        "from torch.onnx import export as to_onnx\n\n\ndef write(net, x):\n    to_onnx(net, (x,), 'net.onnx')\n",
        "from torch.onnx import export as to_onnx\n\n\ndef write(net, x):\n    to_onnx(net, (x,), 'net.onnx', dynamo=False)\n",
        safety="unsafe",
        why="nothing but the change of exporter",
    ),
    Bad(
        _NET + "torch.onnx.export(Net(), (torch.rand(2, 3),), 'net.onnx', training=torch.onnx.TrainingMode.TRAINING)\n",
        why="torch 2.4 is supported, which has no such parameter",
        min_torch=TorchVersion(2, 4),
    ),
    Bad(
        _NET
        + 'torch.onnx.export(Net(), (torch.rand(2, 3),), "net.onnx", dynamic_axes={"x": {0: "n"}}, dynamo=False)\n',
        why="the old exporter, asked for",
    ),
    Ok("import torch\n\n\ndef f(net, x):\n    torch.onnx.export(net, (x,), 'n.onnx', dynamo=True)\n", "it is said"),
    Ok(
        "import torch\n\n\ndef f(net, x, **options):\n    torch.onnx.export(net, (x,), 'n.onnx', **options)\n",
        "it may be said",
    ),
    Ok(
        "import torch\n\n\ndef f(net, x):\n    torch.onnx.export(net, (x,), 'n.onnx', dynamic_shapes=({0: 'n'},))\n",
        "an argument of the new exporter",
    ),
    Ok(
        "import torch\n\n\ndef f(net, x):\n    program = torch.onnx.export(net, (x,))\n    program.save('n.onnx')\n",
        "what the new exporter returns is used",
    ),
    Ok(
        "import torch\n\n\ndef f(net, x):\n    program = torch.export.export(net, (x,), strict=True)\n"
        "    torch.onnx.export(program, (x,), 'n.onnx')\n",
        "an exported program, which always goes to the new exporter",
    ),
    Ok("import onnx\n\n\ndef f(net):\n    onnx.export(net, 'torch.onnx.export(net)')\n", "another package"),
    Ok(
        "import torch\n\nnew = tuple(map(int, torch.__version__.split('.')[:2]))\n\n\ndef f(net, x):\n"
        "    if torch.__version__ >= '2.9':\n        torch.onnx.export(net, (x,), 'n.onnx')\n",
        "under a test of the version",
    ),
)
