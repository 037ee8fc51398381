"""Tools that take a TorchScript value, and what they take instead.

Sources, read 2026-11-21:
    coremltools 8.0 and later convert an `ExportedProgram`:
        https://apple.github.io/coremltools/docs-guides/source/model-exporting.html
    openvino.convert_model takes an `nn.Module` or an `ExportedProgram`:
        https://docs.openvino.ai/2026/openvino-workflow/model-preparation/convert-model-pytorch.html
    torch.utils.tensorboard traces the module it is given itself: torch/utils/tensorboard/_pytorch_graph.py
    torch.onnx.export captures with torch.export by default since 2.9: torch/onnx/__init__.py
    ExecuTorch replaces the mobile interpreter: https://docs.pytorch.org/executorch/stable/using-executorch-export.html
"""

from __future__ import annotations

_EXECUTORCH = (
    "its successor is ExecuTorch, `to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])"
    ".to_executorch()` on the exported program"
)
_ADVICE = {
    "coremltools.convert": (
        "coremltools 8.0 and later take the `ExportedProgram` itself (after `.run_decompositions({})`), in beta"
    ),
    "coremltools.converters.convert": "coremltools 8.0 and later take the `ExportedProgram` itself, in beta",
    "openvino.convert_model": "it also takes the `ExportedProgram`, or the module with `example_input=`",
    "openvino.tools.mo.convert_model": "`openvino.convert_model` also takes the `ExportedProgram`",
    "torch.onnx.export": "pass the module itself, which it captures with `torch.export` by default since torch 2.9",
    "torch.utils.mobile_optimizer.optimize_for_mobile": _EXECUTORCH,
    "torch.utils.bundled_inputs.augment_model_with_bundled_inputs": _EXECUTORCH,
    "torch.save": (
        "an exported module cannot be pickled; write the `ExportedProgram` with `torch.export.save` and change its readers"
    ),
    "torch.jit.script": "an exported module cannot be scripted; export the whole instead",
    "torch.jit.trace": "trace nothing that is exported; export the whole instead",
    "torch.jit.trace_module": "trace nothing that is exported; export the whole instead",
    "torch_tensorrt.compile": 'use `torch_tensorrt.dynamo.compile(program, ...)`, or `ir="dynamo"` with the module',
    "torch.utils.tensorboard.SummaryWriter.add_graph": "pass the module itself, which it traces on its own",
    "pickle.dump": "an exported module cannot be pickled; `torch.export.save` writes the program",
    "pickle.dumps": "an exported module cannot be pickled; `torch.export.save` writes the program",
}


def advice_for(function: str) -> str | None:
    """What a tool takes in the place of a TorchScript value; None if nothing is known of `function`."""
    return _ADVICE.get(function)
