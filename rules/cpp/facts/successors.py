"""What to write instead of C++ that torch lost or deprecates: kept by hand; every name and file here is in the headers of torch 2.13
and 2.15 (a test holds them against the installed ones).

Sources, read 2026-11-26: the headers of the wheels of torch 1.4.0, 1.10.2, 2.5.1, 2.13.0 and 2.15.0.
"""

from __future__ import annotations

_STREAM = "`at::cuda::getCurrentCUDAStream()` (ATen/cuda/CUDAContext.h)"
_ALLOCATOR = "`c10::cuda::CUDACachingAllocator` (c10/cuda/CUDACachingAllocator.h): `raw_alloc` and `raw_delete`, or a tensor that holds the memory"
_CHECK = "`C10_CUDA_CHECK(...)` (c10/cuda/CUDAException.h)"
_TORCH_CHECK = "`TORCH_CHECK(condition, ...)` (c10/util/Exception.h), in every release since 1.2"

HEADERS: tuple[tuple[str, str], ...] = (
    ("THC/THCThrustAllocator.cuh", "`#include <ATen/cuda/ThrustAllocator.h>` has `at::cuda::ThrustAllocator`."),
    ("THC/THCNumerics.cuh", "`#include <ATen/NumericUtils.h>` and the functions of `std`, which take `at::Half` too."),
    (
        "THC/",
        f"THC is gone. Streams, handles and properties: {_STREAM}. Checks: {_CHECK}. Memory: {_ALLOCATOR}. `THCCeilDiv`: `at::ceil_div` "
        "(ATen/ceil_div.h).",
    ),
    ("THCUNN/", "THCUNN is gone: call the function of `at::`, or keep the kernel in the project."),
    ("TH/", "TH is gone: tensors are `at::Tensor`, and their functions those of `at::` (ATen/ATen.h)."),
    ("caffe2/", "Caffe2 is gone from torch: there is no successor in C++."),
    ("c10/util/variant.h", "`#include <variant>`, and `std::variant`."),
    ("ATen/cuda/", f"What most programs took from there is in ATen/cuda/CUDAContext.h: {_STREAM}."),
)
"""Beginnings of paths, the longest first, each with what takes the place of what stood there."""

NAMES: tuple[tuple[str, str], ...] = (
    ("AT_CHECK", f"{_TORCH_CHECK} takes the same arguments."),
    ("THCudaCheck", f"{_CHECK}."),
    ("THCUDA_CHECK", f"{_CHECK}."),
    ("THCudaMalloc", f"{_ALLOCATOR}."),
    ("THCudaFree", f"{_ALLOCATOR}."),
    ("THCCeilDiv", "`at::ceil_div(a, b)` (ATen/ceil_div.h)."),
    ("THCState_getCurrentStream", f"{_STREAM}."),
    ("THC", f"THC is gone. Streams, handles and properties: {_STREAM}. Checks: {_CHECK}. Memory: {_ALLOCATOR}."),
    ("TH", "TH is gone: tensors are `at::Tensor`, and their functions those of `at::`."),
    ("at::autocast::get_autocast_gpu_dtype", "`at::autocast::get_autocast_dtype(at::kCUDA)` (ATen/autocast_mode.h)."),
    ("at::symeig", '`at::linalg_eigh(self, "L")`; the Python rule TL410 tells what differs.'),
    ("at::eig", "`at::linalg_eig(self)`, which gives complex tensors."),
    ("at::lstsq", "`at::linalg_lstsq(a, b)`: the arguments change places."),
    ("at::solve", "`at::linalg_solve(a, b)`: the arguments change places."),
    ("at::cholesky", "`at::linalg_cholesky(self)`, or with `upper` its `.mH()`."),
    ("at::qr", '`at::linalg_qr(self)`; `some=false` is `mode="complete"`.'),
    ("at::matrix_rank", "`at::linalg_matrix_rank(self)`."),
)
"""Beginnings of names, the longest first."""

DEPRECATED_MACROS: dict[str, str] = {
    "AT_ERROR": "`TORCH_CHECK(false, ...)`",
    "AT_ASSERT": "`TORCH_INTERNAL_ASSERT(...)` for what can only be a bug, `TORCH_CHECK(...)` for what users do wrong",
    "AT_ASSERTM": "`TORCH_INTERNAL_ASSERT(...)` for what can only be a bug, `TORCH_CHECK(...)` for what users do wrong",
}
"""Macros that c10/util/Exception.h calls deprecated, without a warning of the compiler."""


def header_advice(file: str) -> str | None:
    """What takes the place of a file that is gone."""
    return _longest(HEADERS, file)


def name_advice(name: str) -> str | None:
    """What takes the place of a name that is gone."""
    return _longest(NAMES, name)


def _longest(rows: tuple[tuple[str, str], ...], name: str) -> str | None:
    fitting = [row for row in rows if name.startswith(row[0])]
    return max(fitting, key=lambda row: len(row[0]))[1] if fitting else None
