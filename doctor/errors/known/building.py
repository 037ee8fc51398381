"""Extensions that do not compile, beyond what is missing for it."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import KnownError, thread

ROWS = (
    KnownError(
        id="extension-older-than-torch",
        pattern=r"\bTHC/\w{1,40}\.(h|cuh): No such file|\bTH/\w{1,40}\.h: No such file|identifier \"?(AT_CHECK|THCudaCheck|THCState"
        r"|THCudaMalloc)\"? is undefined|\W(AT_CHECK|THCudaCheck|THCState|THCudaMalloc)\W{1,3} was not declared"
        r"|cannot open source file \"THC/\w{1,40}\.(h|cuh)\"|no suitable conversion function from \"const at::DeprecatedTypeProperties\""
        r"|DeprecatedTypeProperties\W.{0,80}(could not convert|cannot convert|no known conversion)",
        cause="The extension is older than this torch: THC and AT_CHECK left its headers with torch 1.11 and 1.5, and tensors have no "
        "type() of that kind",
        remedy="Take a release of the extension that was made for this torch; in its code AT_CHECK is TORCH_CHECK, THCudaCheck is C10_CUDA_CHECK, "
        "THC/THC.h goes, x.type() is x.scalar_type()",
        says=(
            "fatal error: THC/THC.h: No such file or directory",
            'error: identifier "THCudaCheck" is undefined',
            "error: 'AT_CHECK' was not declared in this scope",
        ),
        sources=(
            thread("CoinCheung/pytorch-loss", 36, "2022-03-26"),
            thread("hasanirtiza/Pedestron", 146),
            thread("tianweiy/CenterPoint", 185),
        ),
    ),
    KnownError(
        id="nvtx-target",
        pattern=r"CUDA::nvToolsExt|Failed to find nvToolsExt|libnvToolsExt\.so', needed by",
        cause="CMake's files of this torch (before 2.7) ask for nvToolsExt, which CUDA toolkits since 12.9 do not bring (they have NVTX 3)",
        remedy="Build with the toolkit of torch's CUDA, or with a newer torch",
        checks=("toolkit-mismatch",),
        likely=True,
        says=(
            'The link interface of target "torch::nvtoolsext" contains:\n\n      CUDA::nvToolsExt\n\n    but the target was not found.',
        ),
        sources=(
            thread("conda-forge/pytorch-cpu-feedstock", 357, "2025-02-12"),
            thread("vllm-project/vllm", 20892, "2025-07-14"),
            thread("pytorch/pytorch", 139108),
        ),
    ),
    KnownError(
        id="torch-cmake",
        pattern=r"provided by \"Torch\" with any of|FindTorch\.cmake|TorchConfig\.cmake\W.{0,40}(not found|torch-config)",
        cause="CMake does not know where torch is",
        remedy="Tell it the folder that torch names",
        command="cmake -DCMAKE_PREFIX_PATH=\"$(python -c 'import torch; print(torch.utils.cmake_prefix_path)')\" .",
        says=(
            'Could not find a package configuration file provided by "Torch" with any of\n  the following names:\n\n    TorchConfig.cmake',
        ),
        sources=(
            thread("ljk53/pytorch-android-cpp-demo", 3, "2020-10-15"),
            thread("acids-ircam/nn_tilde", 21, "2022-09-03"),
        ),
    ),
    KnownError(
        id="cmake-cuda-compiler",
        pattern=r"No CMAKE_CUDA_COMPILER could be found|CMAKE_CUDA_COMPILER-NOTFOUND|Failed to detect a default CUDA architecture"
        r"|Compatibility with CMake < 3\.5 has been removed|CMAKE_CUDA_ARCHITECTURES must be non-empty",
        cause="CMake finds no CUDA compiler that works, or is newer than the project that it builds",
        remedy="Put nvcc of torch's CUDA on PATH (CUDACXX=/usr/local/cuda/bin/nvcc); for projects that want an old CMake, set "
        "CMAKE_POLICY_VERSION_MINIMUM=3.5",
        checks=("toolkit-mismatch", "host-compiler"),
        likely=True,
        says=("CMake Error: No CMAKE_CUDA_COMPILER could be found.",),
        sources=(
            thread("limbo018/DREAMPlace", 63, "2022-02-21"),
            thread("ComputationalRadiationPhysics/cuda_memtest", 45, "2023-09-19"),
        ),
    ),
    KnownError(
        id="compiler-newer-than-toolkit",
        pattern=r"parameter packs not expanded with|std_function\.h\W{1,3}(435|530)\W|identifier \"?(_Float32|_Float64|_Float128|__builtin_\w"
        r"{1,40})\"? is undefined|exception specification is incompatible with that of previous function \"?(rsqrt|cospi|sinpi)",
        cause="The system's C++ headers are newer than this CUDA toolkit reads (GCC 11 with CUDA below 11.6, glibc 2.41 with CUDA below 13)",
        remedy="Give nvcc an older compiler, or install a newer toolkit",
        command="export CC=gcc-10 CXX=g++-10 CUDAHOSTCXX=g++-10",
        checks=("host-compiler", "toolkit-mismatch"),
        says=("/usr/include/c++/11/bits/std_function.h:435:145: error: parameter packs not expanded with '...':",),
        sources=(thread("NVIDIA/nccl", 650, "2024-01-22"), thread("NVIDIA/FasterTransformer", 314, "2023-08-23")),
    ),
    KnownError(
        id="triton-cannot-link",
        pattern=r"CalledProcessError: Command '\[.{0,80}(gcc|cc|clang|tcc)\W.{0,80}(main|cuda_utils|driver|__triton_launcher)\.c"
        r"|cannot find -lcuda\b|skipping incompatible .{0,60}libcuda\.so",
        cause="Triton compiles its helper against libcuda.so, and the linker does not find one: there is only libcuda.so.1, or Python's headers "
        "are missing; the compiler's own line stands above",
        remedy="Make the linker find the driver's library; where the compiler names Python.h, install python3-dev",
        command="sudo ldconfig && ldconfig -p | grep libcuda",
        checks=("driver-library-broken", "host-compiler", "driver-missing"),
        likely=True,
        says=(
            "/usr/bin/ld: cannot find -lcuda: No such file or directory",
            "subprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpe7nu9b0l/main.c', '-O3', '-shared', '-fPIC', '-lcuda']' "
            "returned non-zero exit status 1.",
        ),
        sources=(
            thread("JIA-Lab-research/Seg-Zero", 63, "2025-07-08"),
            thread("HannesStark/boltzgen", 2, "2025-10-27"),
            thread("state-spaces/mamba", 123, "2024-01-23"),
        ),
    ),
    KnownError(
        id="triton-helper-stale",
        pattern=r"PY_SSIZE_T_CLEAN macro must be defined",
        cause="The helper that Triton compiled and keeps (~/.triton/cache) is from another Triton or Python, or two Tritons are installed over "
        "each other",
        remedy="Uninstall triton and pytorch-triton, install the one that torch pins, and delete its cache",
        command="pip uninstall -y triton pytorch-triton && rm -rf ~/.triton/cache",
        checks=("triton-pin",),
        likely=True,
        says=("SystemError: PY_SSIZE_T_CLEAN macro must be defined for '#' formats",),
        sources=(
            thread("triton-lang/triton", 5919, "2025-03-03"),
            thread("2U1/Qwen-VL-Series-Finetune", 139, "2025-06-07"),
            thread("woct0rdho/triton-windows", 149, "2025-09-01"),
        ),
    ),
)
