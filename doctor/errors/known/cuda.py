"""Codes of CUDA that no other file has: what each means for a program of torch."""

from __future__ import annotations

from torchlift.doctor.errors.codes import cuda_codes
from torchlift.doctor.errors.known.causes_of_running import PRODUCT_REFUSED
from torchlift.doctor.errors.known_error import KnownError, thread

_CODES = "cudaGetErrorString of CUDA 13.0's libcudart, and driver_types.h, read 2026-11-23"

ROWS = (
    KnownError(
        id="cuda-shutting-down",
        pattern=r"\bdriver shutting down\b" + cuda_codes(4),
        cause="Something called CUDA while the process was ending: a thread or a destructor that outlives the interpreter, mostly "
        "because another error ended the process first",
        remedy="Look for the first error above; end communication in order with torch.distributed.destroy_process_group(), and join threads",
        says=("node2:24881:25569 [32707] include/alloc.h:243 NCCL WARN Cuda failure 'driver shutting down'",),
        sources=(_CODES, thread("NVIDIA/nccl", 1485)),
    ),
    KnownError(
        id="cuda-launch-configuration",
        pattern=r"invalid configuration argument" + cuda_codes(9, 720, 912),
        cause="A kernel was to be started with a grid or block that this GPU does not take: most often over an empty tensor, or one "
        "so large that its grid passes 65535 blocks in y or z",
        remedy="Print shapes before the call (CUDA_LAUNCH_BLOCKING=1 shows it), leave out empty batches, split very large ones, and "
        "upgrade the library that has the kernel",
        says=(
            "RuntimeError: CUDA error: invalid configuration argument",
            "RuntimeError: cuda runtime error (9)",
            "CUDA error: too many blocks in cooperative launch",
        ),
        sources=(_CODES, thread("JIA-Lab-research/PointGroup", 30)),
        likely=True,
    ),
    KnownError(
        id="cuda-resource-handle",
        pattern=r"invalid resource handle" + cuda_codes(400, 201, 709),
        cause="A stream, event, library handle or context of one GPU or process was used on another: the current device is not the "
        "tensors', or a process was forked after CUDA had started",
        remedy="Call torch.cuda.set_device, or use torch.cuda.device(x.device), before the call; start processes with spawn",
        says=(
            "RuntimeError: CUDA error: invalid resource handle",
            "RuntimeError: Triton Error [CUDA]: invalid resource handle",
            "CUDA error: invalid device context",
            "CUDA error: context is destroyed",
        ),
        sources=(_CODES,),
        likely=True,
    ),
    KnownError(
        id="cuda-invalid-pointer",
        pattern=r"invalid (device|host) pointer\b|invalid copy direction for memcpy" + cuda_codes(12, 16, 17, 21),
        cause="A library gave CUDA an address that is not memory of the GPU: a tensor of the CPU or one that was freed went to code "
        "that expects the GPU, or an extension was built for another torch",
        remedy="See that every tensor given to the extension is on the GPU and contiguous; build the extension again for this torch",
        checks=("extension-abi",),
        says=("RuntimeError: CUDA error: invalid device pointer",),
        sources=(_CODES,),
        likely=True,
    ),
    KnownError(
        id="vgpu-licence",
        pattern=r"have valid Grid license" + cuda_codes(102),
        cause="A virtual GPU (NVIDIA vGPU) has no licence, and without one CUDA is off or slow",
        remedy="Give the machine its licence (gridd.conf or a client token), restart nvidia-gridd, and look at nvidia-smi -q, License Status",
        command="sudo systemctl restart nvidia-gridd",
        says=("RuntimeError: CUDA error: device doesn't have valid Grid license",),
        sources=(_CODES,),
    ),
    KnownError(
        id="cuda-startup",
        pattern=r"startup failure in cuda runtime|integrity checks failed" + cuda_codes(103, 127),
        cause="CUDA's libraries found themselves changed or could not start: a driver of one version with files of another, or a "
        "damaged installation",
        remedy="Install the driver and torch again, and restart; remove other folders of CUDA from LD_LIBRARY_PATH",
        checks=("driver-library-mix", "library-path", "driver-version-mismatch"),
        says=("CUDA error: startup failure in cuda runtime",),
        sources=(_CODES,),
        likely=True,
    ),
    KnownError(
        id="cuda-graphics",
        pattern=r"mapping of buffer object failed|invalid OpenGL or DirectX context"
        + cuda_codes(205, 206, 207, 208, 211, 212, 213, 219),
        cause="CUDA could not share memory with OpenGL or DirectX: the window is drawn by another GPU (or by the CPU, over a remote "
        "desktop or without a screen), or its context is not current",
        remedy="Draw on the GPU that computes (on laptops: prime-select nvidia, or the graphics settings of Windows); without a screen "
        "use EGL or the program's CUDA renderer",
        says=(
            "RuntimeError: Cuda error: 219[cudaGraphicsGLRegisterBuffer(&s.cudaPosBuffer, s.glPosBuffer, cudaGraphicsRegisterFlagsWriteDiscard);]: invalid OpenGL or DirectX context",
        ),
        sources=(_CODES,),
        likely=True,
    ),
    KnownError(
        id="ptx-jit",
        pattern=r"PTX JIT compilation (failed|was disabled)|PTX JIT compiler library not found|libnvidia-ptxjitcompiler\.so\S{0,12}: cannot open"
        + cuda_codes(218, 221, 223),
        cause="The driver had to compile a kernel from PTX and could not: the package has no code for this GPU, and its PTX is "
        "invalid or too new, or libnvidia-ptxjitcompiler.so is missing (containers) or CUDA_DISABLE_PTX_JIT is set",
        remedy="Install a build that has code for this GPU; upgrade the driver; in containers use the runtime of the NVIDIA Container Toolkit; "
        "unset CUDA_DISABLE_PTX_JIT",
        checks=("gpu-architecture", "driver-too-old", "extension-architecture"),
        says=(
            "RuntimeError: CUDA error: a PTX JIT compilation failed",
            "CUDA error: PTX JIT compiler library not found",
        ),
        sources=(_CODES,),
    ),
    KnownError(
        id="nvlink-contained",
        pattern=r"Invalid access of peer GPU memory over nvlink or a hardware error" + cuda_codes(226),
        cause="Memory of another GPU could not be read over NVLink: that GPU or process failed, or the link has a defect",
        remedy="Look at the kernel log for Xid messages and at nvidia-smi nvlink -e on all GPUs; end all processes of the job and start again",
        checks=("ecc-errors", "nvlink"),
        says=("CUDA error: Invalid access of peer GPU memory over nvlink or a hardware error",),
        sources=(_CODES,),
    ),
    KnownError(
        id="cuda-file-or-library",
        pattern=r"shared object (symbol not found|initialization failed)\b" + cuda_codes(301, 302, 303),
        cause="CUDA could not load a file or library that a kernel is in: libraries of several CUDA releases are mixed, or a cache was deleted",
        remedy="Keep one CUDA: take other folders out of LD_LIBRARY_PATH, install torch again, and clear the caches of kernels "
        "(~/.nv/ComputeCache, ~/.triton/cache)",
        checks=("library-path", "two-nvidia-families"),
        says=(
            "RuntimeError: CUDA error: shared object initialization failed",
            "RuntimeError: CUDA error: file not found",
        ),
        sources=(_CODES,),
        likely=True,
    ),
    KnownError(
        id="cuda-state",
        pattern=r"the operation cannot be performed in the present state|cannot set while device is active in this process"
        + cuda_codes(401, 600, 708),
        cause="A call came at a moment at which CUDA does not take it: a setting after the device had started, or a query of work that still runs",
        remedy="Make settings (device flags, allocator, CUDA_VISIBLE_DEVICES) before the first use of the GPU; synchronize before queries",
        says=("CUDA error: cannot set while device is active in this process",),
        sources=(_CODES,),
        likely=True,
    ),
    KnownError(
        id="peer-access-state",
        pattern=r"peer access (is already|has not been) enabled" + cuda_codes(704, 705),
        cause="Two libraries switch direct copies between the same two GPUs on, or one uses them without",
        remedy="It is mostly an earlier error that was not fetched: upgrade the library that is named in the traceback; switch its peer-to-peer off "
        "(NCCL_P2P_DISABLE=1, --disable-custom-all-reduce)",
        checks=("peer-access",),
        says=("RuntimeError: CUDA error: peer access is already enabled",),
        sources=(_CODES,),
        likely=True,
    ),
    KnownError(
        id="host-memory-registration",
        pattern=r"part or all of the requested memory range is already mapped|pointer does not correspond to a registered memory region"
        r"|(host|pinned?|pinning) ?(memory|register)\w{0,12} .{0,40}fail" + cuda_codes(712, 713),
        cause="Memory of the host is pinned twice, or unpinned without having been pinned: two parts of a program (DeepSpeed, FSDP "
        "offload, a data loader with pin_memory, shared memory) handle the same tensor",
        remedy="Pin in one place only: leave out pin_memory or the offload's pinning, and upgrade the library",
        says=(
            "RuntimeError: CUDA error: part or all of the requested memory range is already mapped",
            "RuntimeError: CUDA error: pointer does not correspond to a registered memory region",
        ),
        sources=(_CODES,),
        likely=True,
    ),
    KnownError(
        id="kernel-crashed",
        pattern=r"hardware stack error|invalid program counter|operation not supported on global/shared address space"
        r"|tensor memory not completely freed" + cuda_codes(714, 717, 718, 721),
        cause="A kernel ran out of its code or stack: a defect of that kernel or of the compiler that made it, or code of another "
        "architecture's features",
        remedy="Run with CUDA_LAUNCH_BLOCKING=1, which shows the kernel; upgrade the library that has it, and the driver; build it for this GPU",
        checks=("extension-architecture", "driver-too-old"),
        says=("RuntimeError: CUDA error: invalid program counter", "RuntimeError: CUDA error: hardware stack error"),
        sources=(_CODES,),
        likely=True,
    ),
    KnownError(
        id="cuda-not-permitted",
        pattern=r"(CUDA|Cuda|HIP) (driver )?(error|failure):? ?\d{0,3} ?'?operation not permitted(?! (when|on))"
        + r"|cudaErrorNotPermitted\b|CUDA_ERROR_NOT_PERMITTED\b"
        r"|[Cc]uda runtime error \(800\)|Cuda failure 800\b",
        cause="The driver refused the call to this process: a container or user without the rights, another user's memory, or a "
        "function that is off (MIG, confidential computing, vGPU, profiling)",
        remedy="Try it as the user who started the other process, with the container's devices and capabilities (SYS_PTRACE for memory shared "
        "between containers), and outside of MIG",
        checks=("device-permissions", "mig"),
        says=("RuntimeError: CUDA error: operation not permitted",),
        sources=(_CODES,),
        likely=True,
    ),
    KnownError(
        id="mps-daemon",
        pattern=r"MPS client failed to connect to the MPS control daemon|MPS server is not ready to accept|MPS client has been terminated by the server"
        + cuda_codes(805, 806, 807, 808, 809, 810),
        cause="NVIDIA's Multi-Process Service (MPS; not Apple's) is set for this GPU, and its daemon does not run, belongs to another user, "
        "is full, or was ended by an error of another client",
        remedy="Start it (nvidia-cuda-mps-control -d) as the same user with the same CUDA_MPS_PIPE_DIRECTORY, or stop using it: "
        "echo quit | nvidia-cuda-mps-control; containers need --ipc=host and that folder",
        command="echo quit | nvidia-cuda-mps-control",
        checks=("compute-mode",),
        says=(
            "RuntimeError: CUDA error: MPS client failed to connect to the MPS control daemon or the MPS server",
            "CUDA error: the remote procedural call between the MPS server and the MPS client failed",
        ),
        sources=(_CODES,),
    ),
    KnownError(
        id="dynamic-parallelism",
        pattern=r"CUDA Dynamic Parallelism|unsupported call to cudaDeviceSynchronize"
        + cuda_codes(65, 68, 69, 225, 811, 812),
        cause="A kernel starts kernels, which this CUDA, this GPU's mode (MPS) or the depth that is set does not allow",
        remedy="Upgrade the library that has the kernel; run it without MPS",
        says=("CUDA error: the provided PTX contains unsupported call to cudaDeviceSynchronize",),
        sources=(_CODES,),
    ),
    KnownError(
        id="cuda-graph-update",
        pattern=r"the graph update was not performed because it included changes" + cuda_codes(910),
        cause="A CUDA graph that exists was to be changed into one of another shape, which an update cannot do",
        remedy="Let it be made anew: upgrade torch or the library, or switch CUDA graphs off there (mode='default', --enforce-eager)",
        says=(
            "CUDA error: the graph update was not performed because it included changes which violated constraints specific to "
            "instantiated graph update",
        ),
        sources=(_CODES,),
    ),
    KnownError(
        id="cuda-external-device",
        pattern=r"async error has occured in external entity outside of CUDA|wait operation timed out"
        + cuda_codes(909, 911),
        cause="CUDA waited for something outside of it (a network card, another GPU's memory, a semaphore), which failed or did not come",
        remedy="Look at the logs of the network and of the other ranks; switch direct transfers off to see whether it is they "
        "(NCCL_NET_GDR_LEVEL=0, NVSHMEM_DISABLE_P2P=1)",
        says=("CUDA error: an async error has occured in external entity outside of CUDA",),
        sources=(_CODES,),
        likely=True,
    ),
    KnownError(
        id="cuda-old-code",
        pattern=r"linear filtering not supported for non-float type|fetch from texture failed|function call is not configured"
        r"|unsupported, file-scoped (textures|surfaces)"
        + cuda_codes(13, 18, 19, 20, 22, 23, 24, 25, 26, 27, 28, 37, 43, 44, 45, 52, 53, 66, 67, 703),
        cause="An extension was built for another CUDA or GPU than it runs on, or uses functions of CUDA that new GPUs and toolkits have lost "
        "(texture references)",
        remedy="Build it again for this GPU with the CUDA that torch was built with, or use a newer release of it",
        checks=("extension-architecture", "toolkit-mismatch"),
        says=("RuntimeError: CUDA error: invalid device symbol", "CUDA error: invalid texture reference"),
        sources=(_CODES,),
        likely=True,
    ),
    KnownError(
        id="cuda-limits",
        pattern=r"limit is not supported on this architecture|provided execution affinity is not supported"
        + cuda_codes(31, 32, 215, 224, 402, 913, 914, 915),
        cause="A call asks this GPU or driver for something that it does not have, mostly because a library expects a newer one",
        remedy="Upgrade the driver, or use a release of the library that supports this GPU",
        checks=("driver-too-old", "gpu-architecture"),
        says=("CUDA error: limit is not supported on this architecture",),
        sources=(_CODES,),
        likely=True,
    ),
    KnownError(
        id="cublas-failed",
        causes=PRODUCT_REFUSED,
        pattern=r"CUBLAS_STATUS_(?P<term>EXECUTION_FAILED|INVALID_VALUE|INTERNAL_ERROR|MAPPING_ERROR)",
        cause="A product on the GPU was not carried out ({term}). Most often {meaning}",
        remedy="Run it once with CUDA_LAUNCH_BLOCKING=1, or the same batch on the CPU",
        command="CUDA_LAUNCH_BLOCKING=1 python PROGRAM",
        terms=(
            (
                "EXECUTION_FAILED",
                "an earlier kernel had failed (an index out of range shows itself only later), the GPU is newer than torch's CUDA (an RTX 30 with CUDA 10), or the memory was full",
            ),
            (
                "INVALID_VALUE",
                "a cuBLAS of another CUDA release was loaded instead of torch's own (LD_LIBRARY_PATH, a module of the cluster, a system's CUDA beside torch 1.13's wheels), or a matrix is empty or not contiguous",
            ),
            (
                "INTERNAL_ERROR",
                "an earlier kernel had failed (an index out of range shows itself only later), or the memory was full",
            ),
            ("MAPPING_ERROR", "an earlier kernel had failed (an index out of range shows itself only later)"),
        ),
        checks=("library-path", "nvidia-pins", "gpu-architecture", "memory-in-use", "gpu-features"),
        says=(
            "RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm( handle, opa, opb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc)`",
            "RuntimeError: CUDA error: CUBLAS_STATUS_INVALID_VALUE when calling `cublasSgemm( handle, opa, opb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc)`",
        ),
        sources=(thread("songyangco/GETNext", 8, "2024-04-24"), thread("OpenNMT/CTranslate2", 1865, "2025-03-10")),
        likely=True,
    ),
)
