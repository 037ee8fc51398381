"""Builds of torch that have no code for a GPU, or for no GPU at all."""

from __future__ import annotations

from torchlift.doctor.errors.codes import cuda_codes
from torchlift.doctor.errors.known.causes_of_loading import BUILD_WITHOUT_DEVICE, NO_CODE_FOR_GPU
from torchlift.doctor.errors.known_error import WHEEL, KnownError, thread, torch_file

ROWS = (
    KnownError(
        id="part-of-another-build",
        pattern=r"lib(?P<part>torch_cuda|c10_cuda|torch_xpu|c10_xpu)\.so: cannot open shared object|Could not load library lib(?P<part2>torch_cuda|c10_cuda)\.so",
        cause="lib{part}.so is a part that only builds of torch for that kind of GPU have: the package that is loaded was compiled for such a build, and this environment has another torch (often the CPU's, from a mirror or a dependency that was resolved anew)",
        remedy="See which build there is (python -c 'import torch; print(torch.__version__, torch.version.cuda)'), then install torch for the GPU from its index, and the package for that torch; or the package's build for this torch",
        checks=("torch-cpu-build", "extension-abi", "companion-mismatch"),
        says=(
            "OSError: libtorch_cuda.so: cannot open shared object file: No such file or directory",
            "ImportError: libc10_cuda.so: cannot open shared object file: No such file or directory",
        ),
        sources=(thread("evshiron/rocm_lab", 1, "2023-05-19"),),
        wheel=True,
    ),
    KnownError(
        id="gb10-range-warning",
        pattern=r"NVIDIA GB10 which is of cuda capability 12\.1",
        cause="torch's table of that release ends at 12.0; code for sm_120 runs on a GB10 (12.1), so the warning is harmless",
        remedy="Ignore it, or upgrade torch",
        checks=("gpu-architecture", "torch-advice-stale"),
        says=("UserWarning: Found GPU0 NVIDIA GB10 which is of cuda capability 12.1.",),
        sources=(torch_file("torch/cuda/__init__.py, DEVICE_REQUIREMENT"),),
        level="warning",
    ),
    KnownError(
        id="gpu-not-in-wheel",
        pattern=r"(CUDA capability )?sm_\d{2,3} is not compatible with (the current|this) PyTorch installation"
        r"|does not include kernels for this GPU|No published PyTorch CUDA builds for release .{0,60} support this GPU"
        r"|which is of compute capability \(CC\) \d"
        r"|PyTorch no longer supports this GPU because it is too old"
        r"|Minimum and Maximum cuda capability supported by this version of PyTorch",
        cause="This build of torch has no code for this GPU's architecture",
        remedy=WHEEL,
        checks=("gpu-architecture",),
        says=(
            "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.\n"
            "The current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90.",
            "Found GPU0 NVIDIA GeForce GTX 1080 Ti which is of cuda capability 6.1.\n"
            "    Minimum and Maximum cuda capability supported by this version of PyTorch is\n    (7.0) - (12.0)",
            "Found GPU0 Tesla V100-SXM2-16GB which is of compute capability (CC) 7.0.\nThe following list shows the CCs this "
            "version of PyTorch was built for and the hardware CCs it supports:",
            "Found GPU0 GeForce GTX 770M which is of cuda capability 3.0.\n    PyTorch no longer supports this GPU because "
            "it is too old.",
        ),
        sources=(
            thread("pytorch/pytorch", 150733),
            thread("IAHispano/Applio", 1006, "2025-03-22"),
            torch_file("torch/cuda/__init__.py"),
        ),
        wheel=True,
    ),
    KnownError(
        id="no-kernel-image",
        causes=NO_CODE_FOR_GPU,
        pattern=r"no kernel image|cudaErrorNoKernelImageForDevice"
        r"|invalid device function|CUDA_ERROR_NO_BINARY_FOR_GPU" + cuda_codes(98, 209),
        cause="A kernel was called for which there is no code for this GPU's architecture, although torch.cuda.is_available() says True",
        remedy="First see whose kernel: torch's own, or a package's",
        checks=("gpu-architecture", "extension-architecture", "jetson-wheel", "magma-turing"),
        says=(
            "RuntimeError: CUDA error: no kernel image is available for execution on the device",
            "CUDA error: invalid device function",
        ),
        sources=(thread("Janrupf/stable-diffusion-webui-nix", 9, "2025-10-04"), thread("pytorch/pytorch", 167244)),
        wheel=True,
    ),
    KnownError(
        id="not-compiled-with-cuda",
        causes=BUILD_WITHOUT_DEVICE,
        pattern=r"(Torch|PyTorch|torch) (is )?not compiled with (CUDA|XPU|MPS|ROCm|HIP)|PyTorch is not linked with support for"
        r" (cuda|xpu|mps|hip) devices|not compiled with (XPU|MPS)|Could not run '[\w:.]{1,80}' with arguments from the "
        r"'(CUDA|XPU|MPS)' backend.{0,200}(omitted during the selective|doesn't exist for this backend)",
        cause="The torch of this interpreter is a build without support for the device that is asked for",
        remedy=WHEEL,
        checks=("torch-cpu-build", "torch-other-vendor", "several-torch-copies"),
        says=(
            "AssertionError: Torch not compiled with CUDA enabled",
            "AssertionError: Torch not compiled with XPU enabled",
            "RuntimeError: PyTorch is not linked with support for mps devices",
        ),
        sources=(torch_file("torch/cuda/__init__.py"), torch_file("torch/xpu/__init__.py")),
        wheel=True,
    ),
    KnownError(
        id="extension-of-rocm",
        pattern=r"lib(c10|torch|caffe2)\w{0,20}_hip\.so[\d.]{0,12}: cannot open shared object",
        cause="The extension was built for torch's ROCm build, and the torch that is installed is one for CUDA or the CPU, or is not imported before it",
        remedy="On an AMD GPU install torch's ROCm build of the release that the extension names; else install the extension for this torch",
        checks=("torch-other-vendor", "torch-cpu-build", "several-torch-copies"),
        says=("OSError: libc10_hip.so: cannot open shared object file: No such file or directory",),
        sources=(thread("Looong01/pyg-rocm-build", 1, "2023-02-07"),),
    ),
    KnownError(
        id="rocm-library-missing",
        pattern=r"(?P<library>lib(hip|roc(m|blas|sparse|solver|fft|rand|tx|tracer|profiler|alution)|amdhip|rccl|MIOpen|hsa-runtime|amd_comgr|amd_smi)\w{0,30}\.so[\d.]{0,20}) ?: cannot open shared object",
        cause="A library of ROCm, {library}, is not found: torch or the extension was built for another release of ROCm (the number behind .so), or its folder is not searched",
        remedy="Install torch and the extension for the ROCm that is installed; where the file is on the machine (/opt/rocm/lib, _rocm_sdk_*/lib in site-packages), put its folder on LD_LIBRARY_PATH",
        checks=("torch-other-vendor", "missing-libraries", "library-path"),
        says=(
            "ImportError: libMIOpen.so.1: cannot open shared object file: No such file or directory",
            "OSError: libamdhip64.so.6: cannot open shared object file: No such file or directory",
            "ImportError: librocblas.so.0: cannot open shared object file: No such file or directory",
        ),
        sources=(
            thread("pccr10001/comfyui-gfx1151-fa", 1, "2025-09-05"),
            thread("Looong01/pyg-rocm-build", 16, "2025-10-22"),
        ),
    ),
    KnownError(
        id="unversioned-cuda-library",
        pattern=r"(?P<library>lib(cudart|cublas|cublasLt|cudnn|cufft|curand|cusolver|cusparse|nvrtc|nvJitLink|cupti)\.so) ?: cannot open shared object",
        cause="The program opens {library} by its name without a number, which a CUDA toolkit installs; torch's wheels bring it with the number of its release only",
        remedy="Install the CUDA toolkit of torch's CUDA, or link the numbered file of site-packages/nvidia to that name; put that folder on LD_LIBRARY_PATH",
        checks=("toolkit-mismatch", "library-path", "missing-libraries"),
        says=("OSError: libcudart.so: cannot open shared object file: No such file or directory",),
        sources=(thread("NVIDIA/cuml", 5300, "2024-04-30"), thread("nvidia-cosmos/cosmos-transfer2.5", 151)),
    ),
)
