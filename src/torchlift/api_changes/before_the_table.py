"""What torch dropped before the oldest release of the table, or kept to itself: kept by hand, with where it was read."""

from __future__ import annotations

from torchlift.lazy_dataclass import dataclass
from torchlift.versions import TorchVersion


@dataclass(frozen=True, slots=True)
class EarlierRemoval:
    """A name that was gone before the oldest release of the table, or a private one that the table leaves out.

    Attributes:
        name: qualified name.
        since: first release without it.
        advice: what to write.
        evidence: where it was read.
    """

    name: str
    since: TorchVersion
    advice: str
    evidence: str


_V = TorchVersion
_SOURCES = (
    "the Python sources of the wheels 1.4.0 to 2.0.0, one of each minor release, read 2026-11-21; `torch.utils.ffi` and `torch.distributed.deprecated` in 1.0.1 to 1.2.0, "
    "torch/cuda/amp/grad_scaler.py in 2.2.2 and 2.3.1, read 2026-11-26"
)
OLDEST_READ = _V(1, 4)
"""What is gone in it may have gone before."""
EARLIER: dict[str, EarlierRemoval] = {
    name: EarlierRemoval(name, since, advice, _SOURCES)
    for name, since, advice in (
        (
            "torch._six", _V(2, 0),
            "`inf` and `nan` are in `math`, `string_classes` is `(str, bytes)`, `int_classes` is `int`, "
            "`container_abcs` is `collections.abc`; `PY3` and `PY37` are True.",
        ),
        ("torch.ao.sparsity", _V(2, 0), "The package is called `torch.ao.pruning` since 2.0."),
        ("torch.nn.utils._stateless", _V(2, 0), "Write `torch.func.functional_call(module, parameters, args)`."),
        ("torch.storage._TypedStorage", _V(1, 13), "Write `torch.TypedStorage`, or `torch.UntypedStorage` for bytes, which is not deprecated."),
        ("torch.storage._UntypedStorage", _V(1, 13), "Write `torch.UntypedStorage`."),
        ("torch._TypedStorage", _V(1, 13), "Write `torch.TypedStorage`, or `torch.UntypedStorage` for bytes, which is not deprecated."),
        ("torch._UntypedStorage", _V(1, 13), "Write `torch.UntypedStorage`."),
        ("torch.overrides.enable_torch_function_mode", _V(1, 13), "A mode is a context manager itself: `with Mode():`."),
        ("torch.overrides.push_torch_function_mode", _V(1, 13), "A mode is a context manager itself: `with Mode():`."),
        ("torch.utils._python_dispatch.enable_torch_dispatch_mode", _V(1, 13), "A mode is a context manager itself: `with Mode():`."),
        ("torch.utils._python_dispatch.push_torch_dispatch_mode", _V(1, 13), "A mode is a context manager itself: `with Mode():`."),
        ("torch.autocast_mode", _V(1, 12), "Write `torch.autocast`."),
        ("torch.distributed.fsdp.wrap.default_auto_wrap_policy", _V(1, 12), "Write `torch.distributed.fsdp.wrap.size_based_auto_wrap_policy`."),
        ("torch.utils.ffi", _V(1, 0), "Build the extension with `torch.utils.cpp_extension`; importing it has raised since 1.0."),
        ("torch.distributed.deprecated", _V(1, 2), "Write `torch.distributed`, which has the same functions."),
        (
            "torch.cuda.amp.grad_scaler._refresh_per_optimizer_state", _V(2, 3),
            "It is in `torch.amp.grad_scaler` now, as private as it was.",
        ),
        ("torch.cuda.amp.grad_scaler._MultiDeviceReplicator", _V(2, 3), "It is in `torch.amp.grad_scaler` now, as private as it was."),
        ("torch.onnx.utils.ONNXCheckerError", _V(1, 11), "Catch `torch.onnx.errors.CheckerError`."),
        ("torch.utils.data.BufferedShuffleDataset", _V(1, 9), "`torch.utils.data.datapipes.iter.Shuffler(dataset, buffer_size=n)` shuffles as it did."),
        ("torch.autograd.gradcheck.zero_gradients", _V(1, 9), "Set `.grad` of each tensor to None, or call `.grad.zero_()` where it has one."),
        ("torch.set_deterministic", _V(1, 10), "Write `torch.use_deterministic_algorithms(True)`."),
        ("torch.is_deterministic", _V(1, 10), "Write `torch.are_deterministic_algorithms_enabled()`."),
        ("torch.rfft", _V(1, 8), "`torch.fft.rfft` (`torch.fft.fft` for `onesided=False`) returns complex numbers: look at `torch.view_as_real` and at `dim`."),
        ("torch.irfft", _V(1, 8), "`torch.fft.irfft` (the real part of `torch.fft.ifft` for `onesided=False`) takes complex numbers: look at `torch.view_as_complex` and at `dim`."),
        ("torch.ifft", _V(1, 8), "`torch.fft.ifft` takes complex numbers: look at `torch.view_as_complex` and at `dim`."),
        ("torch.gels", _V(1, 4), "Write `torch.linalg.lstsq(A, B).solution`; the arguments are the other way round."),
        ("torch.gesv", _V(1, 4), "Write `torch.linalg.solve(A, B)`; the arguments are the other way round and there is no LU in the result."),
        ("torch.potrf", _V(1, 4), "Write `torch.linalg.cholesky(A)`; `upper=True` is an argument there too, and no longer the default."),
        ("torch.potri", _V(1, 4), "Write `torch.cholesky_inverse(L)`."),
        ("torch.potrs", _V(1, 4), "Write `torch.cholesky_solve(B, L)`."),
        ("torch.trtrs", _V(1, 4), "Write `torch.linalg.solve_triangular(A, B, upper=True)`."),
        ("torch.btrifact", _V(1, 4), "Write `torch.linalg.lu_factor(A)`."),
    )
}  # fmt: skip

EARLIER_PARAMETERS = (
    ("torch.fx.Tracer", "1.11", "removed", "enable_cpatching"),
    ("torch.fx.symbolic_trace", "1.11", "removed", "enable_cpatching"),
    ("torch.testing.assert_close", "1.11", "removed", "check_is_coalesced"),
    ("torch.utils.data.datapipes.iter.Mapper", "1.11", "removed", "fn_args"),
    ("torch.utils.data.datapipes.iter.Mapper", "1.11", "removed", "fn_kwargs"),
    ("torch.utils.data.datapipes.iter.Filter", "1.11", "removed", "fn_args"),
    ("torch.utils.data.datapipes.iter.Filter", "1.11", "removed", "fn_kwargs"),
    ("torch.utils.tensorboard.summary.scalar", "1.13", "renamed", "scalar -> tensor"),
    ("torch.distributed.fsdp.wrap.lambda_auto_wrap_policy", "2.0", "renamed", "unwrapped_params -> nonwrapped_numel"),
    (
        "torch.distributed.fsdp.wrap.transformer_auto_wrap_policy",
        "2.0",
        "renamed",
        "unwrapped_params -> nonwrapped_numel",
    ),
    (
        "torch.distributed.fsdp.wrap.size_based_auto_wrap_policy",
        "2.0",
        "renamed",
        "unwrapped_params -> nonwrapped_numel",
    ),
)
"""Function, first release with the change, change, parameter: of the wheels 1.8.1 to 2.0.1, read 2026-11-23 as the table was.
Those of `torch.onnx.export` are of TL436."""
