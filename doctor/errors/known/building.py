"""Extensions that do not compile, beyond what is missing for it."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_installing import DRIVER_NOT_LINKED, SETUP_STOPPED, WHEEL_OF_RELEASE
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
        causes=DRIVER_NOT_LINKED,
        pattern=r"CalledProcessError: Command '\[.{0,80}(gcc|cc|clang|tcc)\W.{0,80}(main|cuda_utils|driver|__triton_launcher)\.c"
        r"|cannot find -lcuda\b|skipping incompatible .{0,60}libcuda\.so",
        cause="The driver's library libcuda.so is asked for when something is linked (Triton's helper, or an extension with -lcuda), and the linker does not find it",
        remedy="See whether it is there",
        command="ldconfig -p | grep libcuda; which gcc ld",
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
    KnownError(
        id="processor-without-code",
        pattern=r"#error \"?(?:Unsupported architecture|Unsupported processor|unsupported platform|Unknown (?:CPU )?architecture|Platform not supported)",
        cause="A part of the sources has no code for this processor (RISC-V, PowerPC, 32-bit Arm, LoongArch), or the compiler is one for another processor than was meant",
        remedy="Leave such parts out of a build of torch: USE_QNNPACK=0 USE_PYTORCH_QNNPACK=0 USE_XNNPACK=0 USE_NNPACK=0 USE_MKLDNN=0 USE_FBGEMM=0, or take a newer release, which may have it; uname -m and g++ -dumpmachine show what is built for",
        command="uname -m; g++ -dumpmachine",
        checks=("python-platform",),
        says=('../third_party/QNNPACK/src/init.c:240:4: error: #error "Unsupported architecture"',),
        sources=(thread("pytorch/pytorch", 23066, "2022-09-21"),),
        likely=True,
    ),
    KnownError(
        id="any-compile-error",
        pattern=r"(?P<file>[\w./\\+-]{1,200}\.(?:cu|cuh|cpp|cc|cxx|c|h|hpp|hip|inl))(?:\(\d{1,6}\)|:\d{1,6}(?::\d{1,5})?): (?:fatal )?error:? (?P<name>[^\n]{1,200})|error C\d{4}: |nvcc fatal {1,4}: |error: redefinition of|errors? detected in the compilation of",
        cause="The compiler does not accept a source file ({file}). In torch's own headers (torch/include): the compiler or CUDA release is too old or too new for this torch, or another C++ standard was asked for. In the package's files: it was written for another torch or CUDA (a name that "
        "was removed or renamed), or for another compiler",
        remedy="The first such line counts, not the last. Take a release of the package for this torch (its notes, or one of the time of this torch), best as a wheel; see that nvcc --version is torch.version.cuda and g++ one that it supports (export CC=gcc-12 CXX=g++-12 CUDAHOSTCXX=g++-12); build in a "
        "clean folder (git clean -xfd; git submodule update --init --recursive). torch 2.x needs C++17, from 2.10 on C++20: take an older -std out of setup.py",
        command="nvcc --version; g++ --version; python -c 'import torch; print(torch.__version__, torch.version.cuda)'",
        checks=("toolkit-mismatch", "host-compiler"),
        says=(
            'csrc/cuda/kernel.cu(123): error: identifier "foo" is undefined',
            "error C2039: 'foo': is not a member of 'std'",
        ),
        sources=("the wording as programs print it; no thread was read for it, 2026-11-26",),
        likely=True,
        general=True,
    ),
    KnownError(
        id="any-cmake-error",
        pattern=r"CMake Error at (?P<file>[^\s:]{1,160}):\d{1,6}|CMake Error: (?P<name>[^\n]{1,160})|-- Configuring incomplete, errors occurred",
        cause="CMake gave up while it configured the build; the sentence below `CMake Error at` is the cause: mostly a library, compiler or toolkit that it does not find, or a CMake that is too new or too old for the project",
        remedy="Read those lines (a line `Could NOT find X` names what to install: its -dev package, or X_ROOT). CUDA: CUDACXX=/usr/local/cuda/bin/nvcc and CMAKE_CUDA_ARCHITECTURES=native; Torch: -DCMAKE_PREFIX_PATH=$(python -c 'import torch; print(torch.utils.cmake_prefix_path)'); `Compatibility with CMake < 3.5 "
        "has been removed`: -DCMAKE_POLICY_VERSION_MINIMUM=3.5. Delete the build folder (CMakeCache.txt) before the next try",
        checks=("toolkit-mismatch", "host-compiler"),
        says=("CMake Error at CMakeLists.txt:10 (message): CUDA not found",),
        sources=("the wording as programs print it; no thread was read for it, 2026-11-26",),
        likely=True,
        general=True,
    ),
    KnownError(
        id="setup-script-failed",
        causes=SETUP_STOPPED,
        pattern=r"[\w./\\-]{0,200}setup\.py\", line \d{1,5}, in [^\n]{1,80}\n{1,4}(?:File [^\n]{1,240}\n{1,4}){0,12}(?P<raised>(?P<name>[A-Z]\w{2,40}(?:Error|Exception)): )[^\0]{0,400}?(?:end of output|subprocess-exited-with-error|metadata-generation-failed)",
        cause="The package's own setup.py stopped with that {name} while pip asked it what it needs",
        remedy="The last line of the trace tells which of these it is; where there is a wheel of the package for this Python and torch, that needs no setup",
        command="python -c 'import torch; print(torch.__version__, torch.version.cuda)'; nvcc --version",
        checks=("torch-cpu-build", "toolkit-mismatch", "python-version"),
        says=(
            """error: subprocess-exited-with-error
Traceback (most recent call last):
  File "/tmp/pip-install-x/auto-gptq/setup.py", line 62, in <module>
    CUDA_VERSION = "".join(os.environ.get("CUDA_VERSION", default_cuda_version).split("."))
AttributeError: 'NoneType' object has no attribute 'split'
[end of output]
error: metadata-generation-failed""",
        ),
        sources=(
            thread("llm-jp/llm-jp-sft", 41, "2024-03-01"),
            thread("AutoGPTQ/AutoGPTQ", 692, "2024-06-18"),
        ),
        likely=True,
    ),
    KnownError(
        id="wheel-of-release",
        causes=WHEEL_OF_RELEASE,
        pattern=r"Guessing wheel URL|Precompiled wheel not found",
        cause="The package's setup looks for a ready wheel on GitHub, and compiles where it gets none",
        remedy="Whether anything failed stands further down; the address tells whether that wheel exists",
        says=(
            "Guessing wheel URL:  https://github.com/Dao-AILab/flash-attention/releases/download/v2.6.3/flash_attn-2.6.3+cu123torch2.5cxx11abiFALSE-cp310-cp310-linux_x86_64.whl",
        ),
        sources=(thread("Dao-AILab/flash-attention", 559, "2023-09-20"), thread("genmoai/mochi", 22, "2024-10-24")),
        level="vague",
        likely=True,
    ),
)
