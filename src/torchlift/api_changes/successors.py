"""What to write instead of names that torch removed or deprecated: kept by hand, each row with where it was read.

The table of changes knows by itself where a definition that only moved is now; here stands what no comparison of
sources can know. A name covers everything below it.
"""

from __future__ import annotations

from torchlift.api_changes.changes import must_be_newer
from torchlift.api_changes.companion_advice import companion_advice
from torchlift.api_changes.deprecated_in_c import AUTOCAST
from torchlift.lazy_dataclass import dataclass
from torchlift.torch_names import public_name
from torchlift.versions import TorchVersion


@dataclass(frozen=True, slots=True)
class Advice:
    """What replaces a name.

    Attributes:
        text: a sentence for the user.
        since: first release that has what the sentence names, where that is not every release since 2.0.
        older: the sentence for a project that runs on older releases, too, where another name is in all of them.
    """

    text: str
    since: TorchVersion | None = None
    older: str = ""

    def said(self, name: str, lowest: TorchVersion) -> str:
        """The sentence about a use of `name` in a project whose lowest release is `lowest`."""
        if not must_be_newer(self.since, name, lowest):
            return self.text
        return self.older or f"{self.text} It needs torch {self.since}."


# Modules and names of torchao 0.18.0's wheel, and of ExecuTorch's repository, read 2026-11-26.
_QUANTIZE_PT2E = Advice("It lives in torchao now, with the same names: `torchao.quantization.pt2e.quantize_pt2e`.")
_PT2E = Advice("It lives in torchao now, below `torchao.quantization.pt2e`.")
_QUANTIZERS = Advice(
    "It lives in torchao now: `torchao.quantization.pt2e.quantizer` has modules of the same names, but `xnnpack_quantizer`, which is "
    "ExecuTorch's (`executorch.backends.xnnpack.quantizer.xnnpack_quantizer`)."
)
_MULTI_GPU = Advice(
    "One process drives one GPU now: start as many ranks as there are GPUs and call the function without `_multigpu` with one "
    "tensor."
)
_RAW_EXPORTER = Advice(
    "The exporter itself decides: `torch.onnx.export(model, args, dynamo=True)` returns an `ONNXProgram`.",
    TorchVersion(2, 5),
)
_LAYOUTS = Advice(
    "Say the layouts of inputs and outputs with `input_layouts=` and `output_layouts=` of `ColwiseParallel` and `RowwiseParallel`, "
    "or with `PrepareModuleInput`.",
    TorchVersion(2, 2),
)
_PIPELINING = Advice("`torch.distributed.pipelining` is the successor, with another interface.", TorchVersion(2, 4))
_EAGER_QUANTIZATION = Advice(
    "torchao replaces it: `torchao.quantization.quantize_(model, config)`. Torch 2.15 still has the old functions."
)
_FX_QUANTIZATION = Advice(
    "torchao replaces it: `prepare_pt2e` and `convert_pt2e` of `torchao.quantization.pt2e.quantize_pt2e`. Torch 2.15 still has "
    "the old functions."
)
_COALESCED = Advice("Call the collective for each tensor, or for one flat tensor that holds them all.")
_ONNX_PROGRAM = Advice("The public name is `torch.onnx.ONNXProgram`.", TorchVersion(2, 2))
_FSDP_STATE = Advice(
    "`get_state_dict(model, optimizers)` and `set_state_dict(...)` of `torch.distributed.checkpoint.state_dict` replace it, for "
    "every kind of parallelism.",
    TorchVersion(2, 2),
)
# The signatures of `save` and `load` in state_dict_saver.py and state_dict_loader.py of the wheels of torch 2.2 to 2.15, read 2026-11-26.
_CHECKPOINT_REST = (
    "`process_group` and `planner` go over by name. There is no `coordinator_rank` (only 2.2 has it), and `no_dist` only in 2.2 and "
    "since 2.7: without it, it works alone wherever no process group runs."
)
# `register_autograd` of torch/distributed/_functional_collectives.py, in the wheels since 2.11.0, read 2026-11-27.
_NN_COLLECTIVE = (
    "Torch names `torch.distributed._functional_collectives.{0}` in its place (gradients pass through it since torch 2.11; the group "
    "has to be given), "
)


def _older(text: str) -> str:
    """The advice on a collective with the name of before torch 2.13, which 2.13 still has as an alias that warns.

    Read in torch/distributed/_functional_collectives.py: of torch 2.13.0, and of pytorch commit 000f488b, after 2.1.
    """
    if "_single(" not in text:
        return ""
    return f"{text.replace('_single(', '_tensor(')} Torch 2.13 calls it `{text.partition('_single(')[0].rpartition('.')[2]}_single`."


_SYMBOLIC = Advice("`guard_or_false` and `guard_or_true` of the same module are the successors.", TorchVersion(2, 8))

ADVICE: dict[str, Advice] = {
    public_name(name): advice
    for name, advice in {
        "torch.eig": Advice(
            "`torch.linalg.eigvals(A)` gives the eigenvalues and `torch.linalg.eig(A)` the vectors with them, both as complex numbers: what was "
            "`.eigenvalues[:, 0]` is `.real`, `[:, 1]` is `.imag`; a symmetric matrix has `torch.linalg.eigvalsh(A)`, which are real."
        ),
        # What they call, in torch/nn/functional.py of torch 2.13.0.
        "torch.nn.functional.upsample_bilinear": Advice(
            "It is `torch.nn.functional.interpolate(input, size, scale_factor, mode='bilinear', align_corners=True)`."
        ),
        "torch.nn.functional.upsample_nearest": Advice(
            "It is `torch.nn.functional.interpolate(input, size, scale_factor, mode='nearest')`."
        ),
        "torch._utils._accumulate": Advice("Python's `itertools.accumulate` gives the same running totals."),
        "torch.distributed.all_gather_multigpu": _MULTI_GPU,
        "torch.distributed.all_reduce_multigpu": _MULTI_GPU,
        "torch.distributed.broadcast_multigpu": _MULTI_GPU,
        "torch.distributed.reduce_multigpu": _MULTI_GPU,
        "torch.distributed.reduce_scatter_multigpu": _MULTI_GPU,
        "torch.distributed.pipeline": _PIPELINING,
        "torch.distributed.tensor.parallel.PairwiseParallel": Advice(
            "Name the modules: `parallelize_module(module, mesh, {'first': ColwiseParallel(), 'second': RowwiseParallel()})`."
        ),
        "torch.distributed.tensor.parallel.make_input_replicate_1d": _LAYOUTS,
        "torch.distributed.tensor.parallel.make_input_shard_1d": _LAYOUTS,
        "torch.distributed.tensor.parallel.make_output_tensor": _LAYOUTS,
        "torch.distributed.tensor.parallel.make_output_shard_1d": _LAYOUTS,
        "torch.distributed.tensor.parallel.make_output_replicate_1d": _LAYOUTS,
        "torch.export.dynamic_dim": Advice(
            "Describe the dimension with `torch.export.Dim` and pass it as `dynamic_shapes={'x': {0: Dim('batch')}}`.",
            TorchVersion(2, 2),
        ),
        "torch.export.export_for_training": Advice(
            "`torch.export.export(model, args)` returns the same training IR.", TorchVersion(2, 6)
        ),
        "torch.export.export_for_inference": Advice(
            "`torch.export.export(model, args).run_decompositions()` returns the inference IR.", TorchVersion(2, 6)
        ),
        "torch.export.constrain_as_size": Advice(
            "Write `torch._check_is_size(value)` and `torch._check(low <= value)`.",
            TorchVersion(2, 2),
        ),
        "torch.export.constrain_as_value": Advice(
            "Write `torch._check(low <= value)` and `torch._check(value <= high)`.",
            TorchVersion(2, 1),
        ),
        "torch._export.capture_pre_autograd_graph": Advice(
            "Write `torch.export.export(model, args).module()`.", TorchVersion(2, 5)
        ),
        "torch.onnx.dynamo_export": Advice("Write `torch.onnx.export(model, args, dynamo=True)`.", TorchVersion(2, 5)),
        "torch.onnx.ExportOptions": _RAW_EXPORTER,
        "torch.onnx.ONNXRuntimeOptions": _RAW_EXPORTER,
        "torch.onnx.DiagnosticOptions": _RAW_EXPORTER,
        "torch.onnx.enable_fake_mode": Advice(
            "Build the model under `torch.device('meta')` or `FakeTensorMode` and export it with `dynamo=True`.",
            TorchVersion(2, 5),
        ),
        "torch.onnx.OnnxRegistry": Advice(
            "Pass `custom_translation_table={torch.ops.ns.op: function}` to `torch.onnx.export(..., dynamo=True)`.",
            TorchVersion(2, 6),
        ),
        "torch.onnx.export_to_pretty_string": Advice(
            "Export to a file and print it with `onnx.printer.to_text(onnx.load(path))`."
        ),
        "torch.onnx.ExportTypes": Advice("Nothing takes it any more: drop the argument it was passed as."),
        "torch.distributed._composable.fully_shard": Advice(
            "It applied the first FSDP without a wrapper. `FullyShardedDataParallel` of `torch.distributed.fsdp` is that one with a "
            "wrapper; its `fully_shard`, of torch 2.6 and newer, is the second FSDP, with other arguments."
        ),
        "torch.ao.quantization.quantize_pt2e": _QUANTIZE_PT2E,
        "torch.ao.quantization.pt2e": _PT2E,
        # In torchao/quantization/pt2e/__init__.py of torchao 0.18.0, read 2026-11-26.
        "torch.ao.quantization.move_exported_model_to_eval": _PT2E,
        "torch.ao.quantization.move_exported_model_to_train": _PT2E,
        "torch.ao.quantization.allow_exported_model_train_eval": _PT2E,
        "torch.ao.quantization.quantizer": _QUANTIZERS,
        "torch.utils.bottleneck": Advice("Use `torch.profiler.profile`, or `python -m cProfile` for the Python side."),
        "torch.autograd.function.traceable": Advice("Drop the decorator: it had no effect any more."),
        "torch.profiler.ExecutionGraphObserver": Advice(
            "`torch.profiler.ExecutionTraceObserver` is its name now.", TorchVersion(2, 1)
        ),
        "torch.fx.experimental.symbolic_shapes.definitely_true": _SYMBOLIC,
        "torch.fx.experimental.symbolic_shapes.definitely_false": _SYMBOLIC,
        "torch.utils.cpp_extension.MIOPEN_HOME": Advice(
            "MIOpen is part of ROCm now: use `torch.utils.cpp_extension.ROCM_HOME`."
        ),
        "torch.cuda.MemPoolContext": Advice("Write `with torch.cuda.use_mem_pool(pool):`.", TorchVersion(2, 5)),
        "torch.distributed.pipelining.ScheduleFlexibleInterleaved1F1B": Advice(
            "`ScheduleInterleaved1F1B` takes any number of microbatches now.", TorchVersion(2, 6)
        ),
        "torch.onnx.ExportOutput": _ONNX_PROGRAM,
        "torch.onnx.ExportOutputSerializer": Advice(
            "`torch.onnx.ONNXProgram.save` writes the file.", TorchVersion(2, 2)
        ),
        "torch.onnx._internal.exporter.ONNXProgram": _ONNX_PROGRAM,
        "torch.onnx._export": Advice(
            "Write `torch.onnx.export(model, args, path, dynamo=False)` for the same exporter (without `dynamo=False` it is another one "
            "since 2.9, which needs onnxscript). It does not return the outputs of the model: call it for them.",
            TorchVersion(2, 5),
        ),
        "torch.distributed._check_for_nccl_backend": Advice("Write `torch.distributed.get_backend(group) == 'nccl'`."),
        # Deprecated names whose own words do not say enough.
        **{
            f"torch.{package}.{name}": _EAGER_QUANTIZATION
            for package in ("quantization", "ao.quantization", "ao.quantization.quantize")
            for name in ("prepare", "prepare_qat", "convert", "quantize_dynamic", "quantize_qat")
        },
        "torch.ao.quantization.quantize.quantize": _EAGER_QUANTIZATION,
        "torch.ao.quantization.quantize_fx": _FX_QUANTIZATION,
        "torch.distributed.all_reduce_coalesced": _COALESCED,
        "torch.distributed.all_gather_coalesced": _COALESCED,
        "torch.distributed.fsdp.FullyShardedDataParallel.set_state_dict_type": _FSDP_STATE,
        "torch.distributed.fsdp.FullyShardedDataParallel.state_dict_type": _FSDP_STATE,
        "torch.distributed.checkpoint.load_state_dict": Advice(
            f"Write `torch.distributed.checkpoint.load(state_dict, storage_reader=reader)`. {_CHECKPOINT_REST}",
            TorchVersion(2, 2),
        ),
        "torch.distributed.checkpoint.save_state_dict": Advice(
            f"Write `torch.distributed.checkpoint.save(state_dict, storage_writer=writer)`. {_CHECKPOINT_REST}",
            TorchVersion(2, 2),
        ),
        "torch.distributed.checkpoint._hf_storage": Advice(
            "`HuggingFaceStorageReader` and `HuggingFaceStorageWriter` of `torch.distributed.checkpoint` are what its two "
            "classes have become.",
            TorchVersion(2, 8),
        ),
        **{
            f"torch.distributed.nn{module}.{name}": Advice(text, since, _older(text))
            for module in ("", ".functional")
            for name, text, since in (
                (
                    "all_gather",
                    _NN_COLLECTIVE.format("all_gather_single(tensor, 0, group)")
                    + "which returns one concatenated tensor and no tuple of tensors.",
                    TorchVersion(2, 13),
                ),
                (
                    "all_reduce",
                    _NN_COLLECTIVE.format("all_reduce(tensor, 'sum', group)") + "which takes the operation as text.",
                    None,
                ),
                (
                    "reduce_scatter",
                    _NN_COLLECTIVE.format("reduce_scatter_single(tensor, 'sum', 0, group)")
                    + "which takes one tensor that holds all parts, and no output.",
                    TorchVersion(2, 13),
                ),
            )
        },
        "torch.utils.data.graph.traverse": Advice("Write `traverse_dps(datapipe)` of the same module."),
        "functorch.combine_state_for_ensemble": Advice(
            "`torch.func.stack_module_state(models)` returns the parameters and buffers alone; call the base model with "
            "`torch.func.functional_call`."
        ),
        "functorch.make_functional": Advice(
            "Call the module with other parameters: `torch.func.functional_call(module, parameters, args)`."
        ),
        "functorch.make_functional_with_buffers": Advice(
            "Call the module with other parameters and buffers: `torch.func.functional_call(module, (parameters, buffers), args)`."
        ),
    }.items()
}
ADVICE |= {name: Advice(text) for name, text in companion_advice()}
ADVICE |= {
    f"torch.{name}": Advice(f"Torch names `torch.{new}` in its place.", TorchVersion(2, 4))
    for name, new in AUTOCAST.items()
}


def advice_for(name: str) -> Advice | None:
    """The advice for `name` or for the closest package around it."""
    while name:
        found = ADVICE.get(name)
        if found is not None:
            return found
        name = name.rpartition(".")[0]
    return None
