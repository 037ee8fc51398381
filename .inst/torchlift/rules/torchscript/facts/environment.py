"""Environment variables that the TorchScript compiler reads: what each does, and what to do about it."""

from __future__ import annotations

# Read by torch/jit/_state.py, torch/jit/_trace.py, or named in libtorch_cpu.so of the 2.13.0 wheel.
ENVIRONMENT = {
    "PYTORCH_JIT": (
        "`PYTORCH_JIT=0` makes `torch.jit.script` and `trace` return their argument",
        "Keep it as long as something scripts or traces. Afterwards only forward-mode differentiation reads it: with any "
        "value but 1, `torch.autograd.forward_ad` and `torch.func` leave their decompositions out.",
    ),
    "PYTORCH_JIT_DISABLE": ("`PYTORCH_JIT_DISABLE` is read by the tracer only", "Remove it with the last trace."),
    "PYTORCH_JIT_TIME": ("`PYTORCH_JIT_TIME` is read by the tracer only", "Remove it with the last trace."),
    "PYTORCH_JIT_STATS": ("`PYTORCH_JIT_STATS` is read by the tracer only", "Remove it with the last trace."),
    "PYTORCH_JIT_LOG_LEVEL": (
        "`PYTORCH_JIT_LOG_LEVEL` prints what the TorchScript compiler does",
        'For `torch.compile` and `torch.export` write `TORCH_LOGS="+dynamo,graph_breaks"` or `torch._logging.set_logs(...)`.',
    ),
}
ENVIRONMENT |= {
    name: (f"`{name}` is read by the TorchScript compiler only", "Remove it with the last use of TorchScript.")
    for name in (
        "PYTORCH_JIT_OPT_LIMIT",
        "PYTORCH_JIT_TYPE_VERBOSITY",
        "PYTORCH_JIT_ENABLE_LARGE_SOURCE_LOCATION",
        "PYTORCH_FUSION_DEBUG",
        "PYTORCH_TENSOREXPR",
        "PYTORCH_TENSOREXPR_DONT_FUSE",
        "PYTORCH_TENSOREXPR_FALLBACK",
        "PYTORCH_TENSOREXPR_RANDOM_TRANSFORM_SEED",
    )
}
ENVIRONMENT |= {
    name: (
        f"Nothing in the torch 2.13 wheel for CPUs names `{name}` any more",
        "Remove it with the last use of TorchScript.",
    )
    for name in ("PYTORCH_JIT_ENABLE_NVFUSER", "PYTORCH_JIT_USE_NNC_NOT_NVFUSER")
}
