"""What AMD's runtime says; asked before the rows of NVIDIA, whose codes HIP shares."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_platforms import NO_AMD_CODE
from torchlift.doctor.errors.known.causes_of_running import NO_AMD_CARD, ROCM_FAILED
from torchlift.doctor.errors.known_error import KnownError, thread

ROWS = (
    KnownError(
        id="no-hip-gpus",
        causes=NO_AMD_CARD,
        pattern=r"No HIP GPUs are available|hipErrorNoDevice|HIP error: no device|no ROCm-capable device is detected|No CUDA GPUs are available[^\0]{0,120}c10/hip",
        cause="ROCm shows this process no AMD GPU",
        remedy="See whether ROCm sees it at all: rocminfo | grep -E 'gfx|Marketing'; ls -l /dev/kfd /dev/dri; id",
        command="rocminfo | grep -E 'gfx|Marketing'; ls -l /dev/kfd /dev/dri; id",
        checks=("device-permissions", "torch-other-vendor"),
        says=("RuntimeError: No HIP GPUs are available",),
        sources=(
            "https://rocm.docs.amd.com/projects/install-on-linux/en/latest/install/prerequisites.html, read 2026-11-21",
        ),
        likely=True,
    ),
    KnownError(
        id="rocm-no-kernel",
        causes=NO_AMD_CODE,
        pattern=r"HIP error: (invalid device function|the device kernel image is invalid|device kernel image is invalid)"
        r"|hipErrorNoBinaryForGpu|hipErrorInvalidDeviceFunction|Unable to find code object for all current devices"
        r"|HIP error: no kernel image|Cannot read .{0,300}TensileLibrary.{0,300}: (No such file|Illegal seek)"
        r"|HSA_STATUS_ERROR_INVALID_ISA",
        cause="A kernel was called for which there is no code for this AMD GPU",
        remedy="See which card it is and which this torch has code for",
        command="rocminfo | grep gfx; python -c 'import torch; print(torch.version.hip, torch.cuda.get_arch_list())'",
        checks=(
            "gpu-architecture",
            "torch-other-vendor",
            "forgotten-switches",
            "extension-architecture",
            "library-path",
        ),
        says=(
            "RuntimeError: HIP error: invalid device function",
            '"hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"',
            "rocBLAS error: Cannot read /opt/rocm-5.4.0/lib/rocblas/library/TensileLibrary.dat: Illegal seek",
            "rocBLAS error: Cannot read C:\\Program Files\\AMD\\ROCm\\6.1\\bin\\/rocblas/library/TensileLibrary.dat: No such "
            "file or directory for GPU arch : gfx1103",
        ),
        sources=(
            thread("pytorch/pytorch", 164346, "2025-10-02"),
            thread("ROCm/rocBLAS", 1339, "2023-07-04"),
            thread("brknsoul/ROCmLibs", 4, "2024-10-05"),
        ),
        wheel=True,
    ),
    KnownError(
        id="rocm-page-fault",
        causes=ROCM_FAILED,
        pattern=r"Memory access fault by GPU node|HSA_STATUS_ERROR_(EXCEPTION|MEMORY_FAULT|OUT_OF_RESOURCES|MEMORY_APERTURE"
        r"_VIOLATION)|HIP error: an illegal memory access",
        cause="A kernel on an AMD GPU touched memory that is not its own",
        remedy="See which card and ROCm these are, and whether plain torch runs",
        command="env | grep -i 'HSA\\|ROCM'; rocminfo | grep gfx; sudo dmesg | grep amdgpu | tail",
        checks=("forgotten-switches", "torch-other-vendor", "library-path"),
        says=(
            "Memory access fault by GPU node-1 (Agent handle: 0x55f3f40) on address 0x7f0000000000. Reason: Page not present "
            "or supervisor privilege.",
        ),
        sources=(
            thread("pytorch/pytorch", 109929, "2023-09-25"),
            thread("ROCm/legacy-rocm-build", 5051, "2026-01-09"),
            thread("deepspeedai/Megatron-DeepSpeed", 201, "2023-08-25"),
        ),
        likely=True,
    ),
    KnownError(
        id="hip-launch-failure",
        causes=ROCM_FAILED,
        pattern=r"HIP error: (?P<name>unspecified launch failure|misaligned address|an illegal instruction was encountered|the operation cannot be performed|unknown error|an internal error|invalid device ordinal|invalid resource handle)"
        r"|(?P<name2>hipError(?:LaunchFailure|IllegalAddress|MisalignedAddress|LaunchTimeOut|Unknown|InvalidHandle))\b",
        cause="A kernel on an AMD GPU failed ({name})",
        remedy="See which card and ROCm these are, and whether plain torch runs: python -c 'import torch; x = torch.rand(2048, 2048).cuda(); print((x @ x).sum())'",
        command="AMD_SERIALIZE_KERNEL=3 python PROGRAM; rocminfo | grep gfx; sudo dmesg | grep amdgpu | tail",
        checks=("forgotten-switches", "torch-other-vendor", "gpu-architecture", "library-path"),
        says=("RuntimeError: HIP error: hipErrorLaunchFailure", "RuntimeError: HIP error: unspecified launch failure"),
        sources=(thread("rocm-arch/python-pytorch-rocm", 41, "2022-04-17"), thread("ROCm/pytorch", 1398, "2024-04-23")),
        likely=True,
    ),
    KnownError(
        id="hip-invalid-argument",
        causes=ROCM_FAILED,
        pattern=r"HIP error: (?:invalid (?:argument|value)|hipErrorInvalidValue)|Triton Error \[HIP\]: invalid argument",
        cause="A call of HIP got a value that it does not take",
        remedy="See which call: AMD_SERIALIZE_KERNEL=3 (and HIP_LAUNCH_BLOCKING=1) shows it in the trace; the same step with a tenth of the data tells a size from a wrong card or ROCm",
        command="AMD_SERIALIZE_KERNEL=3 python PROGRAM; rocminfo | grep gfx; python -c 'import torch; print(torch.version.hip)'",
        checks=("forgotten-switches", "torch-other-vendor", "library-path"),
        says=("RuntimeError: HIP error: invalid argument", "RuntimeError: HIP error: hipErrorInvalidValue"),
        sources=(thread("ROCm/pytorch", 639, "2020-05-05"),),
        likely=True,
    ),
)
