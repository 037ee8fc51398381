"""Known failures that any smoke, or importing torch, can meet; texts as torch and the driver print them.

Sources: the texts were printed by torch 2.15.0+cu132 against a libcuda that fails on purpose, or are quoted from the
issues named beside them (2026-11-21). Where several causes are common, the signature says "likely".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .smoke import Signature

if TYPE_CHECKING:
    from collections.abc import Iterable

_WHEEL = "Run `torchlift doctor`: it prints the wheel for this GPU and driver"

COMMON = (
    Signature(
        "gpu-lost",
        r"GPU is lost|fallen off the bus|device (has been )?lost|Xid.{0,20}\b79\b",
        "The GPU no longer answers: it fell off the bus or its driver gave it up",
        "Power-cycle the machine, then look at the kernel log for Xid messages",
        lost=True,
    ),
    Signature(
        "uncorrectable-ecc",
        r"uncorrectable ECC error|uncorrectable NVLink error",
        "The GPU's memory or link reported an error that it could not correct",
        "Drain the machine and reset the GPU (nvidia-smi --gpu-reset); replace it if the error returns",
        lost=True,
    ),
    Signature(
        "no-kernel-image",
        r"no kernel image is available for execution on the device|cudaErrorNoKernelImageForDevice|invalid device function",
        "This torch (or the library that failed) has no code for this GPU's architecture, "
        "although torch.cuda.is_available() says True",
        _WHEEL,
    ),
    Signature(
        "unsupported-ptx",
        r"the provided PTX was compiled with an unsupported toolchain|CUDA_ERROR_UNSUPPORTED_PTX_VERSION|Error 222\b",
        "Code compiled at run time by this CUDA toolkit is newer than the driver can read: minor-version compatibility "
        "does not cover PTX",
        "Upgrade the driver to the one paired with the toolkit, or install torch for an older CUDA; "
        + _WHEEL[0].lower()
        + _WHEEL[1:],
    ),
    Signature(
        "driver-too-old",
        r"The NVIDIA driver on your system is too old|CUDA driver version is insufficient for CUDA runtime version",
        "The driver is older than this torch's CUDA needs (the number that torch prints is a CUDA version, not a driver)",
        _WHEEL,
    ),
    Signature(
        "no-driver",
        r"Found no NVIDIA driver on your system|libcuda\.so\.1: cannot open shared object file",
        "There is no NVIDIA driver library (libcuda) that this process can load",
        "Install the driver; in a container, start it with the NVIDIA container runtime (--gpus all)",
    ),
    Signature(
        "stub-libcuda",
        r"Error 34: CUDA driver is a stub library|CUDA_ERROR_STUB_LIBRARY",
        "The loader found the toolkit's stub of libcuda instead of the driver's library",
        "Remove the folder named stubs from LD_LIBRARY_PATH",
    ),
    Signature(
        "forward-compatibility",
        r"Error 804: forward compatibility was attempted on non supported HW|"
        r"forward compatibility was attempted on non supported HW",
        "A CUDA compatibility package is on the loader's path, and this GPU is not one that may use it",
        "Remove the cuda-compat folder from LD_LIBRARY_PATH and /etc/ld.so.conf.d",
    ),
    Signature(
        "driver-mix",
        r"Error 803: system has unsupported display driver / cuda driver combination|"
        r"unsupported display driver / cuda driver combination",
        "The libcuda that was loaded does not belong to the kernel driver that runs",
        "Reboot after a driver upgrade; remove cuda-compat folders; in a container, use the host's version",
    ),
    Signature(
        "system-not-ready",
        r"Error 802: system not yet initialized|system not yet initialized|CUDA_ERROR_SYSTEM_NOT_READY",
        "The NVSwitch fabric is not up",
        "Start nvidia-fabricmanager in exactly the driver's version (systemctl start nvidia-fabricmanager)",
        likely=True,
    ),
    Signature(
        "driver-library-mismatch",
        r"Driver/library version mismatch|RM has detected an NVML/RM version mismatch",
        "The user-space driver was upgraded and the kernel module was not yet reloaded",
        "Reboot",
    ),
    Signature(
        "no-gpus",
        r"No CUDA GPUs are available|CUDA_ERROR_NO_DEVICE|no CUDA-capable device is detected",
        "CUDA sees no GPU: CUDA_VISIBLE_DEVICES hides them, or the container was given none",
        "Look at CUDA_VISIBLE_DEVICES (empty or -1 hides every GPU)",
        likely=True,
    ),
    Signature(
        "cuda-unknown",
        r"CUDA unknown error - this may be due to an incorrectly set up environment|Error 999\b|CUDA_ERROR_UNKNOWN",
        "CUDA could not start: the device node of nvidia-uvm is missing, or the machine was suspended",
        "sudo modprobe nvidia_uvm, or reboot",
        likely=True,
    ),
    Signature(
        "busy",
        r"CUDA-capable device\(s\) is/are busy or unavailable|CUDA_ERROR_DEVICE_UNAVAILABLE",
        "Another process holds the GPU in exclusive mode, or its compute mode is prohibited",
        "nvidia-smi -c DEFAULT (as root), or end the process that holds it",
        likely=True,
    ),
    Signature(
        "mig-allocator-assert",
        r"NVML_SUCCESS == r INTERNAL ASSERT FAILED",
        "torch asked NVML for the memory in use and was refused, as inside a MIG slice; an out-of-memory error hides "
        "behind this text (pytorch#112377, pytorch#197312)",
        "Use less memory; make the slice visible by its MIG UUID",
        likely=True,
    ),
    Signature(
        "not-compiled-with-cuda",
        r"Torch not compiled with CUDA enabled|not compiled with (XPU|MPS)",
        "The torch of this interpreter is a build without support for this device",
        _WHEEL,
    ),
    Signature(
        "wheel-families-mixed",
        r"undefined symbol: nccl\w+",
        "NVIDIA libraries of two CUDA major versions overwrote each other's files (cu12 and cu13 share the path "
        "nvidia/nccl/lib), or another NCCL was loaded first (pytorch#186591)",
        "Uninstall both families of nvidia-* packages and torch, then install torch again",
    ),
    Signature(
        "missing-library",
        r"lib\w+\.so(\.\d+)*: cannot open shared object file",
        "A library that torch was built with is not installed or not found",
        "Reinstall torch with its dependencies (without --no-deps)",
    ),
    Signature(
        "torchvision-mismatch",
        r"operator torchvision::nms does not exist",
        "torchvision was built for another torch",
        "Install the torchvision that belongs to this torch",
    ),
    Signature(
        "ptxas-too-old",
        r"PTXASError|Value 'sm_\w+' is not defined for option 'gpu-name'|Value 'sm_\w+' is not defined",
        "Triton's assembler does not know this GPU: Triton is not the one torch was released with, or it is too old",
        "Install the Triton that torch names in its requirements, or set TRITON_PTXAS_PATH to a newer ptxas",
    ),
    Signature(
        "triton-gpu-too-old",
        r"GPUTooOldForTriton|too old to be supported by the triton",
        "Triton and inductor need compute capability 7.0; this GPU runs eager code only",
        "Do without torch.compile on this GPU",
    ),
    Signature(
        "no-c-compiler",
        r"Failed to find C compiler|InvalidCxxCompiler|No working C\+\+ compiler found",
        "Triton and inductor build small programs with the host's C compiler, and there is none",
        "Install gcc and g++ (build-essential), or point CC and CXX to them",
    ),
    Signature(
        "libcuda-not-in-loader-cache",
        r"libcuda\.so cannot found!",
        "Triton looks for libcuda in the loader's cache, where it is not (as on WSL)",
        "sudo ldconfig, or set TRITON_LIBCUDA_PATH to the folder of libcuda.so.1",
    ),
    Signature(
        "cudnn-mismatch",
        r"CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH|cuDNN version incompatibility",
        "Libraries of two versions of cuDNN were loaded together",
        "Take other cuDNN folders out of LD_LIBRARY_PATH and reinstall nvidia-cudnn in torch's version",
    ),
    Signature(
        "cudnn-not-initialized",
        r"CUDNN_STATUS_NOT_INITIALIZED",
        "cuDNN could not start: there is no memory left for it, it is another version, or it dropped this GPU",
        "Free GPU memory and try again; then reinstall nvidia-cudnn in torch's version",
        likely=True,
    ),
    Signature(
        "cublas-failure",
        r"CUBLAS_STATUS_(NOT_INITIALIZED|ALLOC_FAILED)",
        "cuBLAS could not start: there is most likely no memory left for it",
        "Free GPU memory and try again",
        likely=True,
    ),
    Signature(
        "cublas-not-supported",
        r"CUBLAS_STATUS_(NOT_SUPPORTED|ARCH_MISMATCH|EXECUTION_FAILED)",
        "cuBLAS has no routine for this type on this GPU, or another cuBLAS was loaded",
        "Take other CUDA folders out of LD_LIBRARY_PATH and reinstall nvidia-cublas in torch's version",
        likely=True,
    ),
    Signature(
        "nccl-cuda-error",
        r"unhandled cuda error|ncclUnhandledCudaError",
        "NCCL met an error of CUDA; with driver branch 580 and an image of CUDA 13.2 one user saw this",
        "Run again with NCCL_DEBUG=INFO; compare the driver with the one paired with the toolkit",
        likely=True,
    ),
    Signature(
        "shared-memory",
        r"Bus error|out of shared memory|SIGBUS",
        "/dev/shm is full or too small",
        "Give the container more shared memory (--shm-size=8g or --ipc=host)",
        likely=True,
    ),
    Signature(
        "illegal-access",
        r"an illegal memory access was encountered|CUDA error: misaligned address|unspecified launch failure",
        "A kernel touched memory that is not its own: a defect of the kernel, or of the hardware",
        "Run the smoke again alone (--smoke-only); if it fails again, look at the kernel log for Xid messages",
        likely=True,
    ),
    Signature(
        "out-of-memory",
        r"out of memory|OutOfMemoryError|MemoryError|can't allocate memory|Cannot allocate memory",
        "There was not enough memory: other processes use it, or a limit is set",
        "Look at what uses it (nvidia-smi, ulimit -v) and try again",
    ),
    Signature(
        "killed",
        r"^killed by SIGKILL$",
        "Something killed the process; the kernel does so when memory runs out",
        "Look at the kernel log (dmesg) and at the container's memory limit",
        likely=True,
    ),
)


def find_signature(text: str, own: Iterable[Signature] = ()) -> Signature | None:
    """The first signature in the text; a smoke's `own` come before the common ones."""
    for signature in (*own, *COMMON):
        if re.search(signature.pattern, text, re.MULTILINE):
            return signature
    return None
