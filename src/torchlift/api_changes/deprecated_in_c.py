"""Deprecations that no Python source of torch shows to the script: names that C++ warns of, and two that a caller or a mark says.

Texts are in `libtorch_python.so`, `libtorch_cpu.so` and `torch/__init__.py` of the torch 2.13.0 wheel for the CPU, read 2026-11-23 with
`strings`; wheels of other releases were not read for them, so what is said is "2.13 or earlier".
"""

from __future__ import annotations

READ_IN = "2.13"

AUTOCAST = {
    "get_autocast_cpu_dtype": "get_autocast_dtype('cpu')",
    "get_autocast_gpu_dtype": "get_autocast_dtype('cuda')",
    "get_autocast_ipu_dtype": "get_autocast_dtype('ipu')",
    "get_autocast_xla_dtype": "get_autocast_dtype('xla')",
    "is_autocast_cpu_enabled": "is_autocast_enabled('cpu')",
    "is_autocast_ipu_enabled": "is_autocast_enabled('ipu')",
    "is_autocast_xla_enabled": "is_autocast_enabled('xla')",
    "set_autocast_cpu_dtype": "set_autocast_dtype('cpu', dtype)",
    "set_autocast_gpu_dtype": "set_autocast_dtype('cuda', dtype)",
    "set_autocast_ipu_dtype": "set_autocast_dtype('ipu', dtype)",
    "set_autocast_xla_dtype": "set_autocast_dtype('xla', dtype)",
    "set_autocast_cpu_enabled": "set_autocast_enabled('cpu', enabled)",
    "set_autocast_ipu_enabled": "set_autocast_enabled('ipu', enabled)",
    "set_autocast_xla_enabled": "set_autocast_enabled('xla', enabled)",
}
"""What takes a device instead, since torch 2.4: ATen/autocast_mode.h of the wheels of 2.3.1 and 2.4.1, read 2026-11-27."""

SAID_IN_C = {
    **{
        f"torch.{name}": f"torch/lib/libtorch_python.so warns: It is deprecated. Please use `torch.{new}` instead"
        for name, new in AUTOCAST.items()
    },
    "torch.distributed.fsdp.FullyShardedDataParallel.state_dict_type": (
        "torch/distributed/fsdp/fully_sharded_data_parallel.py:827 is marked: it calls set_state_dict_type, which says that FSDP.state_dict_type() "
        "and FSDP.set_state_dict_type() are being deprecated"
    ),
    "torch._aminmax": "torch/lib/libtorch_cpu.so warns: _aminmax is deprecated as of PyTorch 1.11 and will be removed in a future release. Use aminmax instead",
    "torch._check_is_size": (
        "torch/__init__.py:1776 is marked: _check_is_size will be removed in a future PyTorch release along with "
        "guard_size_oblivious. Use _check(i >= 0) instead"
    ),
}
"""What says that a name is deprecated, by its qualified name."""
