"""Quantization of TorchScript graphs: `quantize_jit` and its family."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.places.use_places import place_of, whole_name
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.facts.deprecation import EXPORT_DOCS, SOURCES
from torchlift.view import Use

_NAMES = (
    "prepare_jit prepare_dynamic_jit convert_jit convert_dynamic_jit quantize_jit quantize_dynamic_jit fuse_conv_bn_jit "
    "script_qconfig script_qconfig_dict _prepare_ondevice_dynamic_jit _convert_ondevice_dynamic_jit "
    "_quantize_ondevice_dynamic_jit"
).split()
_HOMES = ("torch.ao.quantization", "torch.quantization")
_TARGETS = (*(f"{home}.{name}" for home in _HOMES for name in _NAMES), "torch.jit.quantized")

RULE = Rule(
    code="TL133",
    name="torchscript-quantization",
    summary="Quantization of TorchScript graphs",
    why=(
        "`prepare_jit`, `convert_jit`, `quantize_jit` and their dynamic forms rewrite TorchScript graphs. They never warn "
        "and have no meaning for an exported program."
    ),
    fix=(
        "None: torchao quantizes the exported graph (static) or the eager module (dynamic), with a calibration run and a "
        "choice of backend that no rule can make. Accuracy has to be measured again."
    ),
    targets=_TARGETS,
    # Few files have these words, and their first letter is one that is looked for anyway.
    triggers=(
        "jit",
        *(
            f"{home} & {word}"
            for home in ("torch.ao", "torch.quantization", "import quantization")
            for word in ("_jit", "script_qconfig")
        ),
    ),
    sources=(
        "https://docs.pytorch.org/ao/stable/pt2e_quantization/index.html",
        *SOURCES,
        EXPORT_DOCS,
        "torch/ao/quantization/quantize_jit.py and torch/jit/quantized.py of the torch 2.13.0 wheel",
        "export of a `quantize_dynamic` module on torch 2.13.0: fails",
    ),
)

_PT2E = "torchao.quantization.pt2e.quantize_pt2e"

_STATIC = (
    "Quantize the exported graph with torchao: `prepared = prepare_pt2e(torch.export.export(module.eval(), args).module(), "
    f"quantizer)`, run the calibration data through `prepared`, then `convert_pt2e(prepared)` (both from `{_PT2E}`); "
    "`X86InductorQuantizer` from `torchao.quantization.pt2e.quantizer.x86_inductor_quantizer` is a quantizer for CPUs."
)
_DYNAMIC = (
    "Quantize the eager module with torchao before it is captured: `quantize_(module, "
    "Int8DynamicActivationInt8WeightConfig())` from `torchao.quantization`. It changes the module and gives nothing back."
)
_FUSE = (
    f"Nothing takes its place: `prepare_pt2e` from `{_PT2E}` folds batch norms itself, and "
    "`torch.ao.quantization.fuse_modules` does it on an eager module."
)
_QCONFIG = f"A quantizer object given to `prepare_pt2e` (`{_PT2E}`) says what a scripted qconfig said."
_GONE = (
    "Its classes raise `RuntimeError` when they are made, on any current torch: use `torch.ao.nn.quantized.dynamic`, or "
    "torchao before the capture."
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    place = place_of(use, context)
    if place is None:
        return
    view = context.view
    name = use.name.rpartition(".")[2]
    if use.target == "torch.jit.quantized":
        message, advice = "`torch.jit.quantized` is a shell: TorchScript's own quantized layers are gone.", _GONE
    else:
        message = f"`{name}` quantizes TorchScript graphs and goes with TorchScript; it does not warn."
        advice = _advice(name)
    if place == "string":
        advice = f"The name stands in a string: take it out together with the use it means. {advice}"
    yield Finding("TL133", view.path, view.span(whole_name(use, view)), message, Severity.WARNING, advice)


def _advice(name: str) -> str:
    if "qconfig" in name:
        return _QCONFIG
    if name.startswith("fuse"):
        return _FUSE
    return _DYNAMIC if "dynamic" in name else _STATIC


EXAMPLES = (
    Bad(
        "import torch\n\n\ndef quantize(net, calibrate, data):\n"
        "    return torch.ao.quantization.quantize_jit(net, {'': None}, calibrate, [data])\n",
        why="static quantization in one call",
    ),
    Bad(
        "from torch.ao.quantization import convert_jit, prepare_jit\n\n\ndef quantize(net, qconfig, data):\n"
        "    prepared = prepare_jit(net, {'': qconfig})\n    prepared(data)\n    return convert_jit(prepared)\n",
        why="static quantization step by step",
    ),
    Bad(
        "from torch.quantization import quantize_dynamic_jit\n\n\ndef quantize(net, qconfig):\n"
        "    return quantize_dynamic_jit(net, {'': qconfig})\n",
        why="dynamic quantization under the old name",
    ),
    Bad(
        "from torch.ao.quantization.quantize_jit import fuse_conv_bn_jit as fuse\n\n\ndef prepare(net):\n    return fuse(net)\n",
        why="fusion only, from the module that defines it",
    ),
    Bad(
        "import torch.jit.quantized\n\nkind = torch.jit.quantized.QuantizedLinear\n",
        why="a layer that cannot be made any more",
    ),
    Ok(
        "import torch\n\n\ndef quantize(net):\n    return torch.ao.quantization.quantize_dynamic(net), 'jit'\n",
        "quantization of the eager module",
    ),
    Ok(
        "from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e\n\njit = prepare_pt2e, convert_pt2e\n",
        "torchao",
    ),
    Ok("from mylib import quantize_jit\n\nquantize_jit(1)\n", "another library's quantize_jit"),
    Ok("def convert_jit(net):\n    return net\n\n\nconvert_jit(1)\n", "an own convert_jit"),
)
