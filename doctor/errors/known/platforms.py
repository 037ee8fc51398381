"""Windows, WSL, AMD, Intel and Apple."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_platforms import TORCH_DLL
from torchlift.doctor.errors.known.causes_of_running import ROCM_FAILED
from torchlift.doctor.errors.known.more_causes import XPU_LOST
from torchlift.doctor.errors.known_error import NO_MODULE, UNREAD, KnownError, thread, torch_file

ROWS = (
    KnownError(
        id="windows-dll-initialisation",
        pattern=r"\[WinError 1114\].{0,400}\.dll|WinError 1114",
        cause="A library of torch could not start on Windows: the Microsoft Visual C++ runtime is too old, or another program's "
        "copy of it was loaded first",
        remedy="Install the newest Visual C++ Redistributable and restart; import torch before PyQt, PySide or OpenCV",
        command="winget install Microsoft.VCRedist.2015+.x64",
        checks=("torch-import-fails",),
        says=(
            "OSError: [WinError 1114] A dynamic link library (DLL) initialization routine failed. Error loading "
            '"C:\\Python311\\Lib\\site-packages\\torch\\lib\\c10.dll" or one of its dependencies.',
        ),
        sources=(
            thread("nagadomi/nunif", 701, "2026-06-13"),
            thread("1517005260/graph-rag-agent", 54, "2025-11-05"),
        ),
        likely=True,
    ),
    KnownError(
        id="windows-dll-conflict",
        pattern=r"WinError 182\b|DLL load failed[\w .]{0,80}: (The operating system cannot run %1|操作系统无法运行)",
        cause="A DLL is found before the one that is meant and has not what is asked of it, mostly Intel's OpenMP: an old libiomp5md.dll in C:\\Windows\\System32 or on PATH, or openmp beside intel-openmp in one conda environment",
        remedy="`where libiomp5md.dll` shows the copies: rename the one outside of this environment; with conda keep intel-openmp only; else install everything anew in an environment of its own",
        command="where libiomp5md.dll",
        checks=("torch-import-fails", "conda-pip-mix"),
        says=(
            'OSError: [WinError 182] The operating system cannot run %1. Error loading "C:\\envs\\x\\Lib\\site-packages\\torch\\lib\\fbgemm.dll" or one of its dependencies.',
            "ImportError: DLL load failed: The operating system cannot run %1.",
            "ImportError: DLL load failed: 操作系统无法运行 %1。",
            "    from torch._C import *\nImportError: DLL load failed: The operating system cannot run %1.",
        ),
        sources=(
            thread("robotology/robotology-superbuild", 1702, "2024-09-04"),
            thread("pytorch/pytorch", 31324, "2019-12-16"),
        ),
        likely=True,
    ),
    KnownError(
        id="windows-dll-blocked",
        pattern=r"DLL load failed[\w .]{0,80}: (Access is denied|An Application Control policy)",
        cause="Windows does not let this process load the DLL: a policy (Smart App Control, WDAC, AppLocker), a virus scanner, or the rights of the file",
        remedy="Ask who administers the machine to allow the folder of the environment, or install into a folder that is allowed; see the file's rights and the scanner's quarantine",
        says=("ImportError: DLL load failed while importing _C: An Application Control policy has blocked this file.",),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="windows-wrong-bits",
        pattern=r"is not a valid Win32 application|WinError 193|DLL load failed[\w .]{0,80}: %1",
        cause="A 32-bit program or DLL met a 64-bit one, or the file is damaged or not one for Windows at all (its name ends in .so): mostly a 32-bit Python",
        remedy="Install 64-bit Python and everything anew in a fresh environment",
        command="python -c 'import struct; print(struct.calcsize(\"P\") * 8)'",
        checks=("python-platform",),
        says=(
            "ImportError: DLL load failed: %1 is not a valid Win32 application.",
            "OSError: [WinError 193] %1 is not a valid Win32 application",
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="windows-dll-missing",
        causes=TORCH_DLL,
        pattern=r"\[WinError (126|127)\].{0,300}(Error loading.{0,300}(torch|intel.ext)|torch\S{0,200}\.dll)"
        r"|Microsoft Visual C\+\+ Redistributable is not installed"
        rf"|DLL load failed while importing (_C|torch\w{{0,20}}|libtorch\w{{0,20}}): ({NO_MODULE})",
        cause="Windows does not load a DLL of torch, or one that it needs in turn; the message does not say which",
        remedy="See which: the tool Dependencies (github.com/lucasg/Dependencies), opened on the DLL that is named, shows what is missing",
        command="winget install Microsoft.VCRedist.2015+.x64",
        checks=(
            "torch-import-fails",
            "torch-version-files",
            "conda-pip-mix",
            "several-torch-copies",
            "missing-libraries",
        ),
        says=(
            'OSError: [WinError 126] The specified module could not be found. Error loading "C:\\Users\\USER\\AppData\\Local\\'
            'Programs\\Python\\Python312\\Lib\\site-packages\\torch\\lib\\fbgemm.dll" or one of its dependencies.',
            'OSError: [WinError 126] 找不到指定的模块。 Error loading "D:\\anaconda3\\envs\\x\\Lib\\site-packages\\torch\\lib\\'
            'fbgemm.dll" or one of its dependencies',
            "Microsoft Visual C++ Redistributable is not installed, this may lead to the DLL load failure.",
        ),
        sources=(
            thread("pytorch/pytorch", 131662, "2024-07-26"),
            thread("hiyouga/LlamaFactory", 5132, "2024-08-09"),
            thread("pytorch/pytorch", 129568, "2024-08-07"),
            thread("guoyww/AnimateDiff", 374, "2024-08-03"),
            thread("intel/intel-extension-for-pytorch", 718, "2024-10-09"),
            torch_file("torch/__init__.py"),
        ),
        likely=True,
        wheel=True,
    ),
    KnownError(
        id="miopen-failure",
        causes=ROCM_FAILED,
        pattern=r"miopenStatus\w{1,40}|MIOpen\(HIP\): Error|MIOpen Error",
        cause="MIOpen, AMD's library of convolutions, could not build or find a kernel for this card",
        remedy="See which card and ROCm these are",
        checks=("gpu-architecture", "library-path"),
        says=(
            "RuntimeError: miopenStatusUnknownError",
            "MIOpen(HIP): Error [Compile] 'hiprtcCompileProgram(prog.get(), c_options)'",
        ),
        sources=(thread("ROCm/TheRock", 1229, "2025-10-01"), thread("ROCm/MIOpen", 3943)),
        likely=True,
    ),
    KnownError(
        id="rocm-remarks",
        pattern=r"amdgpu\.ids: No such file or directory|failed to run amdgpu-arch: binary not found|Attempting to use hipBLASLt on an? unsupported architecture"
        r"|MIOpen\(HIP\): Warning",
        cause="A remark of ROCm's libraries; nothing fails for it",
        remedy="Nothing has to be done",
        says=(
            "UserWarning: Attempting to use hipBLASLt on an unsupported architecture! Overriding blas backend to hipblas",
        ),
        sources=(thread("pytorch/pytorch", 138067, "2024-10-16"), thread("ROCm/rocm-libraries", 780, "2025-07-22")),
        level="warning",
    ),
    KnownError(
        id="xpu-device-lost",
        causes=XPU_LOST,
        command="sudo dmesg | grep -iE 'xe |i915|guc|reset|fault'",
        pattern=r"UR_RESULT_ERROR_DEVICE_LOST|PI_ERROR_DEVICE_NOT_FOUND|UR_RESULT_ERROR_UNKNOWN",
        cause="The Intel GPU was reset while something ran on it",
        remedy="Look at the kernel log of that minute: it says what was reset and why",
        says=(
            "RuntimeError: level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)",
            "Native API failed. Native API returns: 20 (UR_RESULT_ERROR_DEVICE_LOST)",
        ),
        sources=(
            thread("pytorch/pytorch", 190972),
            thread("intel/torch-xpu-ops", 2990, "2026-03-05"),
            thread("intel/intel-extension-for-pytorch", 780, "2025-03-13"),
        ),
        likely=True,
    ),
    KnownError(
        id="xpu-no-fp64",
        pattern=r"Required aspect fp64 is not supported on the device|Double type is not supported on this platform|uses-fp64-math|aspect fp64",
        cause="This Intel GPU has no 64-bit floating point",
        remedy="Keep the tensors in float32; OverrideDefaultFP64Settings=1 with IGC_EnableDPEmulation=1 emulates it, slowly",
        says=(
            "RuntimeError: Required aspect fp64 is not supported on the device",
            "RuntimeError: Native API failed. Native API returns: -996 (Function exists but address is not available) "
            'invalid_kernel("uses-fp64-math")',
        ),
        sources=(
            thread("intel/intel-extension-for-pytorch", 285, "2023-01-18"),
            thread("intel/torch-xpu-ops", 910, "2024-09-13"),
        ),
    ),
    KnownError(
        id="no-xpu",
        pattern=r"No XPU devices are available|XPU device count is zero|Failed to initialize XPU devices",
        cause="torch sees no Intel GPU: its Level Zero driver is not installed, the user is not in the group render, or the "
        "container was not given /dev/dri",
        remedy="Install Intel's GPU driver (libze-intel-gpu1) and join the group render",
        command="sudo usermod -aG render $USER",
        checks=("device-permissions", "torch-other-vendor"),
        says=("RuntimeError: No XPU devices are available.",),
        sources=(
            thread("intel/AI-Playground", 374, "2026-01-10"),
            thread("intel/torch-xpu-ops", 4787, "2026-08-03"),
        ),
        likely=True,
    ),
    KnownError(
        id="mps-operator",
        pattern=r"not current(ly)? (implemented|supported) (for|on) the MPS (device|backend)",
        cause="torch has no kernel of this operator for Apple's GPU",
        remedy="Let the CPU do what is missing, or upgrade torch",
        command="export PYTORCH_ENABLE_MPS_FALLBACK=1",
        says=(
            "NotImplementedError: The operator 'aten::_linalg_solve_ex.result' is not currently implemented for the MPS device.",
        ),
        sources=(torch_file("torch/testing/_internal/common_modules.py"),),
    ),
    KnownError(
        id="mps-no-float64",
        pattern=r"MPS Tensor to float64|MPS framework doesn't support float64",
        cause="Apple's GPUs have no 64-bit floating point",
        remedy="Use float32 (torch.set_default_dtype, .float() before .to('mps'))",
        says=(
            "TypeError: Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. Please use "
            "float32 instead.",
        ),
        sources=(torch_file("torch/testing/_internal/common_methods_invocations.py"),),
    ),
    KnownError(
        id="mps-unavailable",
        pattern=r"MPS not available because|The MPS backend is supported on MacOS|MPS is not available\b",
        cause="torch cannot use Apple's GPU: macOS is too old, this is an Intel Mac or a build without MPS, or a virtual machine",
        remedy="Use a Python for arm64 and macOS 14 or newer",
        checks=("python-platform", "torch-cpu-build"),
        says=(
            "RuntimeError: The MPS backend is supported on MacOS 12.3+.Current OS version can be queried using `sw_vers`",
            "MPS not available because the current PyTorch install was not built with MPS enabled.",
        ),
        sources=(thread("pytorch/pytorch", 164943, "2025-10-08"), thread("pytorch/pytorch", 100879, "2023-05-08")),
    ),
    KnownError(
        id="rocm-gpu-hang",
        pattern=r"HW Exception by GPU node-\d{1,2}|reason ?: ?GPU Hang",
        cause="The AMD GPU stopped answering: kernel, firmware and ROCm do not fit each other, or the card is not one that ROCm supports",
        remedy="Upgrade kernel and firmware (linux-firmware) and take torch for the newest ROCm; HSA_ENABLE_SDMA=0 helps on integrated GPUs. Look at "
        "dmesg for amdgpu",
        command="sudo dmesg | grep -i amdgpu",
        checks=("gpu-architecture", "torch-other-vendor"),
        likely=True,
        lost=True,
        says=("HW Exception by GPU node-1 (Agent handle: 0x55dc6e221990) reason :GPU Hang",),
        sources=(
            thread("lamikr/rocm_sdk_builder", 257, "2025-07-16"),
            thread("segurac/force-host-alloction-APU", 2, "2025-07-20"),
            thread("ROCm/legacy-rocm-build", 5259, "2025-09-05"),
        ),
    ),
    KnownError(
        id="mps-buffer",
        pattern=r"Invalid buffer size: [\d.]{1,12} ?[GM]i?B|kIOGPUCommandBufferCallbackErrorOutOfMemory"
        r"|Error: buffer is not large enough\. Must be \d",
        cause="One tensor is larger than a buffer that Metal gives out on this Mac",
        remedy="Lower the batch or the resolution; upgrade torch, which splits more operations",
        says=("RuntimeError: Invalid buffer size: 19.45 GB",),
        sources=(thread("pytorch/pytorch", 141909, "2025-01-21"), thread("huggingface/diffusers", 5894, "2024-03-11")),
    ),
    KnownError(
        id="mps-bfloat16",
        pattern=r"BFloat16 is not supported on MPS|convert BFloat16 to the MPS backend",
        cause="bfloat16 on MPS needs macOS 14 and an Apple GPU; older systems and Macs with AMD GPUs do not have it",
        remedy="Upgrade macOS and torch, or load the model in float16",
        says=(
            "TypeError: BFloat16 is not supported on MPS",
            "TypeError: Trying to convert BFloat16 to the MPS backend but it does not have support for that dtype.",
        ),
        sources=(
            thread("lllyasviel/stable-diffusion-webui-forge", 2399, "2024-11-30"),
            thread("pytorch/pytorch", 78168, "2023-04-16"),
        ),
    ),
    KnownError(
        id="mac-architecture",
        pattern=r"mach-o file, but is an incompatible architecture|found architecture '(x86_64|arm64)', required architecture"
        r"|wrong architecture.{0,60}(x86_64|arm64)",
        cause="Python and the library are for different processors: an Intel Python runs under Rosetta, or a package was installed by one",
        remedy="Install Python for this Mac's processor (python -c 'import platform; print(platform.machine())') and the packages again",
        checks=("python-platform", "extension-architecture"),
        says=(
            "OSError: dlopen(librwkv.dylib, 0x0006): tried: 'librwkv.dylib' (mach-o file, but is an incompatible architecture (have 'x86_64', "
            "need 'arm64'))",
        ),
        sources=(thread("RWKV/rwkv.cpp", 59, "2023-05-13"), thread("LaurentMazare/tch-rs", 881, "2024-07-25")),
    ),
    KnownError(
        id="windows-dll-unnamed",
        causes=TORCH_DLL,
        pattern=r"from torch\._C import \*[^!]{0,60}DLL load failed(?!(: |[\w .]{0,80}: )(The operating system cannot run|操作系统无法运行|%1))",
        cause="Windows does not load a DLL that torch needs; the message does not say which",
        remedy="The tool Dependencies (github.com/lucasg/Dependencies), opened on torch\\lib\\torch_python.dll, shows what is missing",
        checks=(
            "torch-import-fails",
            "conda-pip-mix",
            "several-torch-copies",
            "torch-version-files",
            "missing-libraries",
        ),
        likely=True,
        says=("    from torch._C import *\nImportError: DLL load failed: The specified module could not be found.",),
        sources=(thread("pytorch/pytorch", 4518, "2022-08-31"), thread("pytorch/pytorch", 28363, "2019-10-22")),
    ),
    KnownError(
        id="jetson-memory-manager",
        pattern=r"NvRmMemInit(Nvmap)?\W{0,4} failed|NvMapMemAllocInternalTagged",
        cause="On a Jetson the memory manager of the GPU cannot be opened (user or container without rights), or has no piece of that size left",
        remedy="Start containers with --runtime nvidia and join the groups video and render; where memory is short, restart and load less",
        checks=("device-permissions", "jetson-wheel", "memory-in-use"),
        likely=True,
        says=(
            "NvRmMemInitNvmap failed with Permission denied",
            "NvMapMemAllocInternalTagged: 1075072515 error 12",
        ),
        sources=(
            thread("dusty-nv/jetson-containers", 384, "2024-02-12"),
            thread("pytorch/pytorch", 185240, "2026-05-26"),
            thread("0xShug0/audio.cpp", 12, "2026-08-20"),
        ),
    ),
    KnownError(
        id="mps-macos-too-old",
        pattern=r"(supported|available) (natively )?(starting )?(from|on|since|in) (?P<name>macOS ?\d[\w.]{0,8})|(?P<name2>macOS ?\d[\w.]{0,8}) (or|and) (later|newer|above)|MPS[^\n]{0,60}requires? (?P<name3>macOS ?\d[\w.]{0,8})",
        cause="On this macOS Apple's GPU library does not have the operation: it came with {name}",
        remedy="Upgrade macOS to that release or newer; until then export PYTORCH_ENABLE_MPS_FALLBACK=1 before Python starts, or run that operation on the CPU (often a change of dtype is enough: int32 for int64)",
        command="sw_vers -productVersion",
        says=("RuntimeError: MPS: power op with int64 input is supported natively starting from macOS 13.2.",),
        sources=(thread("Plachtaa/VALL-E-X", 127, "2023-10-25"),),
    ),
    KnownError(
        id="mps-watermark",
        pattern=r"invalid (low|high) watermark ratio",
        cause="PYTORCH_MPS_HIGH_WATERMARK_RATIO is set below the low one, whose default is 1.4",
        remedy="Unset it, or set both: PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 lifts the limit altogether (and may stall the Mac)",
        command="unset PYTORCH_MPS_HIGH_WATERMARK_RATIO",
        says=("RuntimeError: invalid low watermark ratio 1.4",),
        sources=("the wording as programs print it; no thread was read for it, 2026-11-26",),
    ),
    KnownError(
        id="qt-plugin",
        pattern=r"Could not load the Qt platform plugin|no Qt platform plugin could be initialized|libGL error: failed to load driver|cannot connect to X server|could not connect to display",
        cause="A window was to be opened where there is no display, or opencv-python's own Qt and that of PyQt or the system got in each other's way",
        remedy="On a server show nothing: pip uninstall opencv-python opencv-contrib-python && pip install opencv-python-headless; export QT_QPA_PLATFORM=offscreen MPLBACKEND=Agg; with a desktop under conda: conda install -c conda-forge libstdcxx-ng",
        command="export QT_QPA_PLATFORM=offscreen MPLBACKEND=Agg",
        says=('qt.qpa.plugin: Could not load the Qt platform plugin "xcb" in "" even though it was found.',),
        sources=("the wording as programs print it; no thread was read for it, 2026-11-26",),
        likely=True,
    ),
    KnownError(
        id="nvml-query-not-supported",
        pattern=r"NVMLError_NotSupported|NVMLError_NoPermission|NVML: ?(Not Supported|Insufficient Permissions)",
        cause="The driver has no answer to that question for this GPU (Jetson, GB10, vGPU, WSL, a MIG instance or consumer card lack some of them), or only root may ask it",
        remedy="It says nothing about torch: let the program leave that number out (upgrade the tool that asks: gpustat, nvitop, wandb, codecarbon), or run it as root",
        says=("pynvml.NVMLError_NotSupported: Not Supported",),
        sources=("the wording as programs print it; no thread was read for it, 2026-11-26",),
        likely=True,
    ),
    KnownError(
        id="numba-toolkit",
        pattern=r"NvvmSupportError: |libNVVM cannot be found|CudaSupportError: |libnvvm\.so: cannot open",
        cause="Numba does not find the CUDA toolkit's compiler (NVVM), which torch's wheel does not bring, or no driver",
        remedy="pip install numba-cuda[cu12] (or [cu13]), or conda install -c conda-forge cuda-nvcc cuda-nvrtc; or let CUDA_HOME name a toolkit; numba -s shows what it finds",
        command="numba -s",
        checks=("toolkit-mismatch", "driver-missing"),
        says=("numba.cuda.cudadrv.error.NvvmSupportError: libNVVM cannot be found.",),
        sources=("the wording as programs print it; no thread was read for it, 2026-11-26",),
        likely=True,
    ),
    KnownError(
        id="tensorflow-remarks",
        pattern=r"Unable to register cu(DNN|FFT|BLAS) factory|Could not find TensorRT|TF-TRT Warning|oneDNN custom operations are on|This TensorFlow binary is optimized|computation placer already registered|Cannot dlopen some GPU libraries",
        cause="Remarks of TensorFlow, which another package imports beside torch (transformers, tensorboard)",
        remedy="Nothing stops for them; USE_TF=0 keeps transformers from importing TensorFlow, TF_CPP_MIN_LOG_LEVEL=3 silences it",
        command="export USE_TF=0 TF_CPP_MIN_LOG_LEVEL=3",
        level="warning",
        says=(
            "E external/local_xla/xla/stream_executor/cuda/cuda_dnn.cc:9261] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered",
        ),
        sources=("the wording as programs print it; no thread was read for it, 2026-11-26",),
    ),
)
