"""Environment variables that matter, and no secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PREFIXES = tuple(
    """
    CUDA_ NVIDIA_ NV_ NCCL_ TORCH_ TORCHINDUCTOR_ TORCHDYNAMO_ TORCHELASTIC_ PYTORCH_ TRITON_ CUDNN_ CUBLAS_ CUBLASLT_
    CUSOLVER_ CUFFT_ NVRTC_ NVSHMEM_ AOT_INDUCTOR_
    HIP_ HSA_ ROCM_ ROCR_ ROCBLAS_ HIPBLASLT_ MIOPEN_ RCCL_
    ONEAPI_ ZE_ SYCL_ UR_ CCL_ IPEX_
    GLOO_ UCX_ FI_ OMP_ MKL_ KMP_ GOMP_
    """.split()
)
_NAMES = frozenset(
    """
    PATH LD_LIBRARY_PATH LD_PRELOAD LD_AUDIT LD_BIND_NOW DYLD_LIBRARY_PATH DYLD_FALLBACK_LIBRARY_PATH
    DYLD_INSERT_LIBRARIES
    PYTHONPATH PYTHONHOME PYTHONNOUSERSITE PYTHONUSERBASE PYTHONSAFEPATH PYTHONPLATLIBDIR VIRTUAL_ENV CONDA_PREFIX
    CONDA_DEFAULT_ENV CONDA_OVERRIDE_CUDA
    CUDACXX CUDAHOSTCXX CC CXX MAX_JOBS USE_NINJA NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS UV_TORCH_BACKEND
    GPU_DEVICE_ORDINAL GPU_MAX_HW_QUEUES AMD_LOG_LEVEL AMD_SERIALIZE_KERNEL
    RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT
    SLURM_JOB_ID SLURM_JOB_GPUS SLURM_STEP_GPUS SLURM_LOCALID SLURM_PROCID SLURM_NTASKS PBS_JOBID LSB_JOBID
    """.split()
)
_SECRET_PARTS = frozenset(
    ["KEY", "APIKEY", "AUTH", "PASS", "PWD", "CRED", "CREDS", "CREDENTIAL", "CREDENTIALS", "SIGNATURE"]
)
_SECRET_WORDS = ("TOKEN", "SECRET", "PASSW")
# A user and password, or a token, before the host of a URL.
_URL_USER = re.compile(r"(?<=://)[^/\s@]+@")


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Those that CUDA, torch, NCCL, ROCm, XPU, the loader or Python's path look at, by name.

    Variables whose names sound like secrets are left out, and users and passwords are cut from URLs.
    """
    return {name: _URL_USER.sub("", variables[name]) for name in sorted(variables) if _matters(name)}


def _matters(name: str) -> bool:
    if name not in _NAMES and not name.startswith(_PREFIXES):
        return False
    return not any(word in name for word in _SECRET_WORDS) and _SECRET_PARTS.isdisjoint(name.split("_"))
