"""Arguments of `torch.onnx.export` that went before torch 2.0."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Fix, Safety, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings
from torchlift.view import Use

# Parameter, first release without it, and what to do about it.
_GONE = {
    "aten": ("1.10", "Write `operator_export_type=torch.onnx.OperatorExportTypes.ONNX_ATEN_FALLBACK` with `dynamo=False`."),
    "export_raw_ir": ("1.10", "Nothing takes its place."),
    "example_outputs": ("1.11", "Drop it: outputs are found by running the model."),
    "_retain_param_name": ("1.11", "Drop it: the names of parameters are kept."),
    "strip_doc_string": ("1.11", "Drop it; `verbose=True` with `dynamo=False` keeps the places in the source."),
    "enable_onnx_checker": ("1.11", "Drop it, or call `onnx.checker.check_model` on what was written."),
    "use_external_data_format": ("1.11", "Drop it with `dynamo=False`: a model that is too large is split by itself. `external_data=` of `dynamo=True` is its like."),
}  # fmt: skip

RULE = Rule(
    code="TL436",
    name="old-onnx-arguments",
    summary="`torch.onnx.export` with `example_outputs=` and other arguments that went before torch 2.0",
    why="The call is a TypeError in every torch from 1.10 or 1.11 on.",
    fix="For review: an argument that had no use, or a constant one, is dropped; what it said may have been meant.",
    targets=("torch.onnx.export", "torch.onnx.utils.export"),
    triggers=tuple(sorted(f"{name} & onnx" for name in _GONE)),
    severity=Severity.ERROR,
    sources=("torch/onnx/__init__.py and torch/onnx/utils.py of the wheels 1.8.1 to 1.11.0, read 2026-11-23",),
)
_WITHOUT_TRACE = frozenset({"example_outputs", "_retain_param_name", "enable_onnx_checker", "use_external_data_format"})


def matters(target: str, call: ast.Call, settings: Settings) -> bool:
    return any(keyword.arg in _GONE for keyword in call.keywords)


def check(use: Use, context: Context) -> Iterator[Finding]:
    call, view = use.call, context.view
    if use.kind != "call" or call is None or use.name != use.target:
        return
    given = [keyword for keyword in call.keywords if keyword.arg in _GONE]
    if not given:
        return
    names = [str(keyword.arg) for keyword in given]
    first = min(_GONE[name][0] for name in names)
    listed = ", ".join(f"`{name}`" for name in names)
    message = f"`{use.target}` takes no {listed} since torch {first}: the call is a TypeError."
    advice = " ".join(dict.fromkeys(_GONE[name][1] for name in names))
    fix = None
    if set(names) <= _WITHOUT_TRACE:
        fix = Fix(f"Drop {listed}", Safety.UNSAFE, (EditCall(view.span(call), drop=tuple(names)),))
        advice = f"Needs review: what was passed is no longer computed nor looked at. {advice}"
    yield Finding("TL436", view.path, view.span(call), message, Severity.ERROR, advice, fix)


EXAMPLES = (
    Bad(
        "import torch\n\n\ndef write(model, x, path):\n    torch.onnx.export(model, x, path, example_outputs=model(x), dynamo=False)\n",
        "import torch\n\n\ndef write(model, x, path):\n    torch.onnx.export(model, x, path, dynamo=False)\n",
        safety="unsafe",
        why="outputs for scripted models",
    ),
    Bad(
        "import torch\n\n\ndef write(model, x, path):\n    torch.onnx.export(model, x, path, aten=True, dynamo=False)\n",
        why="an argument that chose operators",
    ),
    Ok(
        "import torch\n\n\ndef write(model, x, path):\n    torch.onnx.export(model, x, path, dynamo=True)\n",
        "arguments of today",
    ),
    Ok(
        "import torch\n\n\ndef write(model, **options):\n    torch.onnx.export(model, **options)  # example_outputs onnx\n",
        "options that cannot be seen",
    ),
    Ok("from mylib import onnx\n\nonnx.export(1, example_outputs=2)\n", "another library"),
)
