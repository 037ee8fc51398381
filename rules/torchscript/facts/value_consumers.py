"""Tools that take a TorchScript value, and what they take instead.

Sources, read 2026-11-21:
    coremltools 8.0 and later convert an `ExportedProgram`:
        https://apple.github.io/coremltools/docs-guides/source/model-exporting.html
    openvino.convert_model takes an `nn.Module` or an `ExportedProgram`:
        https://docs.openvino.ai/2026/openvino-workflow/model-preparation/convert-model-pytorch.html
    torch.utils.tensorboard traces the module it is given itself: torch/utils/tensorboard/_pytorch_graph.py
    torch.onnx.export captures with torch.export by default since 2.9: torch/onnx/__init__.py
    ExecuTorch replaces the mobile interpreter: https://docs.pytorch.org/executorch/stable/using-executorch-export.html
Read 2026-11-23:
    openmm-torch, README.md and python/openmmtorch.i at b653290: `TorchForce` takes a file or a `torch::jit::Module`, and "is
        deprecated, since it relies on TorchScript"; `PythonTorchForce` is recommended
    torch/backends/_nnapi/prepare.py, torch/utils/mobile_optimizer.py, torch/utils/bundled_inputs.py of torch 2.13.0
    tvm.relax.frontend.torch.from_exported_program: https://tvm.apache.org/docs/how_to/tutorials/import_model.html
    torch.ao.quantization.quantize_jit of torch 2.13.0: `prepare_jit`, `quantize_jit` and others raise for what is no ScriptModule
    bentoml.torchscript.save_model takes a `torch.ScriptModule`:
        https://docs.bentoml.com/en/latest/reference/bentoml/frameworks/torchscript.html
Read 2026-11-26:
    qai_hub.submit_compile_job and its kin take an `ExportedProgram`:
        https://workbench.aihub.qualcomm.com/docs/hub/generated/qai_hub.submit_compile_job.html
"""

from __future__ import annotations

from torchlift.lazy_pattern import lazy_pattern

_EXECUTORCH = (
    "its successor is ExecuTorch, `to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])"
    ".to_executorch()` on the exported program"
)
_ADVICE = {
    "coremltools.convert": (
        "coremltools 8.0 and later take the `ExportedProgram` itself (after `.run_decompositions({})`, and without `inputs=`), in beta"
    ),
    "coremltools.converters.convert": "coremltools 8.0 and later take the `ExportedProgram` itself, in beta",
    "openvino.convert_model": "it also takes the `ExportedProgram`, or the module with `example_input=`",
    "openvino.tools.mo.convert_model": "`openvino.convert_model` also takes the `ExportedProgram`",
    "torch.onnx.export": "pass the module itself, which it captures with `torch.export` by default since torch 2.9",
    "torch.utils.mobile_optimizer.optimize_for_mobile": _EXECUTORCH,
    "torch.utils.bundled_inputs.augment_model_with_bundled_inputs": _EXECUTORCH,
    "torch.utils.mobile_optimizer.generate_mobile_module_lints": _EXECUTORCH,
    "torch.utils.bundled_inputs.bundle_inputs": _EXECUTORCH,
    "torch.backends._nnapi.prepare.convert_model_to_nnapi": _EXECUTORCH,
    "openmmtorch.TorchForce": (
        "it takes TorchScript or a file of it, and nothing else; openmm-torch deprecates it for `PythonTorchForce`, which takes "
        "a Python function of the state and the positions that returns energy and forces"
    ),
    "tvm.relay.frontend.from_pytorch": (
        "Relay reads TorchScript alone; `tvm.relax.frontend.torch.from_exported_program` takes the `ExportedProgram`"
    ),
    "bentoml.torchscript.save_model": "it takes a ScriptModule alone; other modules of bentoml save other models",
    "qai_hub.submit_compile_job": "it also takes the `ExportedProgram`",
    "qai_hub.submit_compile_and_profile_jobs": "it also takes the `ExportedProgram`",
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


_ONLY_ELSEWHERE = lazy_pattern(
    r"^(?:torch_neuronx?|torch\.neuron|intel_extension\w*|torch2trt|qai_hub\.submit_\w+_job\w*)\b"
)
_ONLY = lazy_pattern(
    r"optimize_for_mobile|generate_mobile_module_lints|coremltools|augment_m\w+_with_bundled_inputs|torch_glow|bundle_inputs|torch_neuronx?\b"
    r"|torch\.neuron|intel_extension|\bipex\b|torch2trt|\b_nnapi\.|openmmtorch\.TorchForce|relay\.frontend\.from_pytorch"
    r"|qai_hub\.submit_|bentoml\.torchscript|torch\.(?:ao\.)?quantization\.(?:\w+\.)*\w+_jit$|torch\._export\.converter|torch\.jit\.|torch\._C\."
)


def takes_torchscript(function: str) -> bool:
    """Whether a function serves TorchScript values, and a plain module not, as far as is known."""
    return _ONLY.search(function) is not None


def advice_for(function: str) -> str | None:
    """What a tool takes in the place of a TorchScript value; None if nothing is known of `function`."""
    return _ADVICE.get(function) or ("it may want TorchScript" if _ONLY_ELSEWHERE.search(function) else None)
