"""Installing packages, and building extensions."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_installing import (
    ARCHITECTURE_REFUSED,
    BUILD_FAILED,
    NO_FILE_OF_TORCH,
    OTHER_TOOLKIT,
    TOOLKIT_NOT_FOUND,
)
from torchlift.doctor.errors.known_error import KnownError, thread, torch_file

_ABSENT = "torch has no wheel for this Python, operating system or processor on the index that was asked"

_WANTS = (
    ("llama-cpp-python", "CMake and a compiler, with a GPU also nvcc (CMAKE_ARGS='-DGGML_CUDA=on'); or its author's wheels: pip install llama-cpp-python --extra-index-url https://abetlen.github.io/llama-cpp-python/whl/cu124 (or cpu, metal) for the Pythons that are listed there"),
    ("dlib", "CMake and, for a GPU, a cuDNN with headers; pip install dlib-bin is a compiled copy"),
    ("fasttext", "nothing more; pip install fasttext-wheel is a compiled copy"),
    ("webrtcvad", "nothing more; pip install webrtcvad-wheels is a compiled copy"),
    ("insightface", "Cython and NumPy before it; on Windows a wheel of somebody's for this Python"),
    ("pesq", "Cython and NumPy before it"),
    ("kenlm", "CMake and boost (libboost-all-dev); pip install https://github.com/kpu/kenlm/archive/master.zip is newer"),
    ("ctcdecode", "git submodules and an old torch; pyctcdecode or torchaudio's ctc_decoder take its place"),
    ("pycuda", "a CUDA toolkit with nvcc on PATH"),
    ("mujoco-py", "MuJoCo 2.1 in ~/.mujoco and Cython below 3; it is no longer developed: pip install mujoco"),
    ("hnswlib", "nothing more"),
    ("chumpy", "--no-build-isolation, as its setup imports pip, and NumPy below 1.24"),
    ("mysqlclient", "libmysqlclient-dev and pkg-config"),
    ("warprnnt", "torch before it, nvcc and --no-build-isolation"),
    ("box2d-py", "swig"),
    ("cchardet", "an old Python; charset-normalizer or faust-cchardet takes its place"),
    ("pyaudio", "PortAudio's headers (portaudio19-dev; macOS: brew install portaudio)"),
)  # fmt: skip
_ONLY_SOURCE = "|".join(name.replace("-", "[-_]") for name, _ in _WANTS)

_KNOWN_SINCE = (
    ("75", " (7.5, Turing, is known from CUDA 10.0 on)"),
    ("80", " (8.0, Ampere, is known from CUDA 11.0 on)"),
    ("86", " (8.6, GeForce 30, is known from CUDA 11.1 on)"),
    ("87", " (8.7, Jetson Orin, is known from CUDA 11.4 on)"),
    ("88", " (8.8 is known from CUDA 13.0 on)"),
    ("89", " (8.9, Ada, is known from CUDA 11.8 on)"),
    ("90", " (9.0, Hopper, is known from CUDA 11.8 on)"),
    ("100", " (10.0, Blackwell, is known from CUDA 12.8 on)"),
    ("101", " (10.1 is known from CUDA 12.8 on; 13.0 calls it 11.0)"),
    ("103", " (10.3 is known from CUDA 12.9 on)"),
    ("110", " (11.0, Jetson Thor, is known from CUDA 13.0 on)"),
    ("120", " (12.0, GeForce 50, is known from CUDA 12.8 on)"),
    ("121", " (12.1, GB10, is known from CUDA 12.9 on)"),
)

ROWS = (
    KnownError(
        id="triton-without-wheel",
        pattern=r"(No matching distribution found for|satisfies the requirement) (pytorch-)?triton\b(?!-)",
        cause="PyPI's Triton has wheels for Linux only",
        remedy="On Linux torch installs it by itself; on Windows triton-windows does the same, or do without torch.compile",
        command="pip install triton-windows",
        checks=("triton-pin", "python-version"),
        says=("ERROR: No matching distribution found for triton==2.3.0",),
        sources=(
            thread("KlingAIResearch/LivePortrait", 124, "2024-07-12"),
            thread("Motphys/MotrixLab", 28, "2026-09-10"),
        ),
    ),
    KnownError(
        id="local-version-elsewhere",
        pattern=r"version that satisfies the requirement torch(vision|audio)?==[\d.]{1,12}\+(?P<local>cu\d{2,3}|cpu|rocm[\d.]{1,6}|xpu) \(from versions: (?!none)[\d.abrc, ]{1,2000}\)|No matching distribution found for torch(vision|audio)?==[\d.]{1,12}\+(?P<local2>cu\d{2,3}|cpu|rocm[\d.]{1,6}|xpu)(?![\w.])",
        cause="Builds named +{local} are on PyTorch's own index for {local}, and PyPI, which was asked, has releases without such a name only",
        remedy="Name that index; where other packages come from PyPI, as an additional one. If the release is not there either, the Python or the platform has no wheel of it, or the index ended before it: `torchlift doctor --for torch==RELEASE`",
        command="pip install -r requirements.txt --extra-index-url https://download.pytorch.org/whl/{local}",
        checks=("python-version", "python-platform", "wheel-index-ended"),
        says=(
            "ERROR: Could not find a version that satisfies the requirement torch==2.1.2+cu118 (from versions: 1.11.0, 1.12.0, 2.5.1, 2.6.0)\nERROR: No matching distribution found for torch==2.1.2+cu118",
            "ERROR: No matching distribution found for torch==1.11.0+cu113",
        ),
        sources=(thread("Henry-Lee-real/MaeFuse", 4, "2025-03-27"),),
        likely=True,
        wheel=True,
    ),
    KnownError(
        id="wheel-file-invalid",
        pattern=r"Wheel '(?P<name>[\w.-]{1,60})' located at \S{1,300} is invalid|Failed to (?:install|unzip|read|extract)[^\n]{0,20}: (?P<name2>[\w.]{1,60})-[^\n]{1,120}\.whl[^\n]{0,120}\n.{0,20}Caused by: (?:The wheel is invalid|[Ii]nvalid (?:Zip|zip|gzip)|[Ff]ailed to (?:read|extract))|The wheel is invalid: ",
        cause="The file of {name} that pip got is not a whole wheel: the download was cut short or changed on its way (a proxy, a full disk), or a damaged file came from pip's cache",
        remedy="Download it again without the cache, where there is room for it (torch takes several GB: df -h /tmp; TMPDIR names another folder); behind a proxy fetch the file by hand and compare its SHA-256 with the index",
        command="pip cache purge && pip install --no-cache-dir {name}",
        says=(
            "ERROR: Wheel 'torch' located at /tmp/pip-unpack-17q_1ip0/torch-2.0.0+cu118-cp310-cp310-linux_x86_64.whl is invalid.",
        ),
        sources=(thread("voicepaw/so-vits-svc-fork", 397, "2023-04-19"),),
        likely=True,
    ),
    KnownError(
        id="no-matching-distribution",
        causes=NO_FILE_OF_TORCH,
        pattern=r"(No matching distribution found for|version that satisfies the requirement) torch(?P<part>(?:vision|audio)?)(?![\w-])"
        r"|No solution found.{0,400}\btorch(?P<part2>(?:vision|audio)?)[=<>~!]"
        r"|\btorch(?P<part3>(?:vision|audio)?)[=\w.+]{0,40}(?: @ [^`\n]{1,120})?[`']? (can't be installed because it doesn't have a source distribution or "
        r"wheel|has no (publicly available )?wheels? with a matching|has no wheels? usable)",
        cause="torch{part} has no file for this Python, operating system or processor on the index that was asked, or not that release; after `from versions:` stands what it has",
        remedy="See which of these it is with python --version, python -c 'import platform; print(platform.machine(), platform.architecture())' and the index that pip names",
        checks=("python-version", "python-platform", "musl", "glibc-too-old", "wheel-index-ended"),
        command="torchlift doctor --for torch",
        says=(
            "ERROR: Could not find a version that satisfies the requirement torch (from versions: none)\nERROR: No matching "
            "distribution found for torch",
            "ERROR: No matching distribution found for torch==1.8.1",
        ),
        sources=(
            thread("milksense/venus", 8, "2023-02-27"),
            thread("YassineYousfi/comma10k-baseline", 13, "2025-08-12"),
            thread("wwbin2017/bailing", 32, "2025-02-13"),
        ),
        wheel=True,
    ),
    KnownError(
        id="wheel-for-another-platform",
        pattern=r"\.whl is not a supported wheel on this platform",
        cause="The wheel's name says another Python, operating system or processor than this one",
        remedy="Compare the parts of the name, from the right: the platform (win_amd64, linux_x86_64, manylinux..., macosx..., aarch64), the ABI and Python (cp310 is Python 3.10), with those that python -m pip debug --verbose lists, and take the file that fits, or make an environment with that Python. "
        "A platform that no pip knows (windows_amd64) is its author's mistake: rename the file (win_amd64), or take another release of it. pip of another Python than was meant: python -m pip",
        command="python -m pip debug --verbose",
        checks=("python-version", "python-platform", "glibc-too-old"),
        says=("ERROR: torch-2.1.0+cu121-cp310-cp310-linux_x86_64.whl is not a supported wheel on this platform.",),
        sources=(
            thread("render-examples/fastai-v3", 4, "2019-02-08"),
            thread("evshiron/rocm_lab", 6, "2023-06-08"),
        ),
        wheel=True,
    ),
    KnownError(
        id="externally-managed",
        pattern=r"externally(-| )managed(-| )environment|This environment is externally managed",
        cause="This Python belongs to the operating system, which does not let pip install into it",
        remedy="Make an environment and install there",
        command="python3 -m venv .venv && . .venv/bin/activate",
        checks=("externally-managed",),
        says=("error: externally-managed-environment",),
        sources=(thread("Comfy-Org/ComfyUI", 3554, "2024-05-24"),),
    ),
    KnownError(
        id="download-broken",
        pattern=r"THESE PACKAGES DO NOT MATCH THE HASHES|IncompleteRead\(\d|ReadTimeoutError.{0,120}(pytorch|pythonhosted|pypi)"
        r"|Failed to (download|fetch).{0,200}(torch|nvidia)",
        cause="A download was cut or changed on its way: torch and its libraries are large files, and proxies and caches cut them",
        remedy="Try again without the cache and with a longer time limit",
        command="pip install --no-cache-dir --timeout 120 torch",
        says=("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",),
        sources=(thread("pytorch/pytorch", 110847, "2023-10-09"), thread("pytorch/pytorch", 78420, "2022-05-27")),
        likely=True,
    ),
    KnownError(
        id="conda-without-cuda",
        pattern=r"nothing provides __cuda|requires? _{2}cuda|__cuda.{0,60}(missing|conflict|not (found|available))",
        cause="conda sees no NVIDIA driver, as while an image is built, and refuses packages for CUDA",
        remedy="Set CONDA_OVERRIDE_CUDA to the CUDA that the driver will have, such as CONDA_OVERRIDE_CUDA=12.8",
        checks=("driver-missing",),
        says=(
            "LibMambaUnsatisfiableError: Encountered problems while solving:\n  - nothing provides __cuda needed by pytorch",
        ),
        sources=(thread("escape2020/school2022", 37, "2022-06-22"),),
    ),
    KnownError(
        id="windows-long-path",
        pattern=r"\[WinError 206\]|Windows Long Path support enabled|filename or extension is too long",
        cause="A path is longer than the 260 characters that Windows allows by default",
        remedy="Switch on long paths (LongPathsEnabled in the registry) and restart, or use a shorter folder",
        says=(
            "HINT: This error might have occurred since this system does not have Windows Long Path support enabled.",
        ),
        sources=(thread("pytorch/pytorch", 144373, "2025-01-08"),),
    ),
    KnownError(
        id="cuda-home",
        causes=TOOLKIT_NOT_FOUND,
        pattern=r"CUDA_HOME (environment )?(variable )?(is )?not set|CUDA_HOME does not exist|nvcc was not found\b"
        r"|No such file or directory: '[^']{0,200}nvcc'|\bnvcc'?: (command )?not found|unable to execute '[^'\n]{0,200}nvcc(\.exe)?'|'nvcc' is not recognized|command '[^'\n]{0,200}nvcc' failed: No such|Could NOT find CUDA\b"
        r"|CUDA_TOOLKIT_ROOT_DIR not found|in get_cuda_bare_metal_version[^\0]{0,200}?(?P<raised>TypeError: unsupported operand)|Failed to find (nvcc|CUDA)\b(?! library)",
        cause="An extension is being built, and no CUDA toolkit with a compiler (nvcc) was found",
        remedy="See whether there is one, and which CUDA torch has",
        command="export CUDA_HOME=/usr/local/cuda",
        checks=("toolkit-mismatch", "torch-cpu-build", "torch-other-vendor"),
        says=(
            "OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.",
            "FileNotFoundError: [Errno 2] No such file or directory: '/usr/local/cuda/bin/nvcc'",
            "UserWarning: flash_attn was requested, but nvcc was not found.",
        ),
        sources=(
            thread("pytorch/extension-cpp", 26, "2018-12-14"),
            thread("Jimver/cuda-toolkit", 374, "2024-11-14"),
            torch_file("torch/utils/cpp_extension.py"),
        ),
    ),
    KnownError(
        id="toolkit-mismatch",
        causes=OTHER_TOOLKIT,
        pattern=r"CUDA version .{0,20}mismatches the version that was used to compile ?PyTorch"
        r"|CUDAMismatchException|in assert_no_cuda_mismatch\b|Installed CUDA version \S{1,10} does not match the version torch was compiled with"
        r"|Cuda extensions are being compiled with a version of Cuda that does not match",
        cause="The CUDA toolkit whose nvcc was found is of another release than the CUDA of the torch that builds (a difference behind the point is only remarked by newer torch)",
        remedy="Compare the three: the toolkit, this torch, and the two numbers of the message",
        command="nvcc --version; which nvcc; ls -d /usr/local/cuda-*; python -c 'import torch; print(torch.__version__, torch.version.cuda)'",
        checks=("toolkit-mismatch",),
        says=(
            "RuntimeError:\nThe detected CUDA version (12.1) mismatches the version that was used to compile\nPyTorch (11.8). "
            "Please make sure to use the same CUDA versions.",
            "('The detected CUDA version (%s) mismatches the version that was used to compilePyTorch (%s). Please make sure to "
            "use the same CUDA versions.', '12.4', '13.0')",
            "deepspeed.ops.op_builder.builder.CUDAMismatchException: >- DeepSpeed Op Builder: Installed CUDA version 12.3 does "
            "not match the version torch was compiled with 11.8, unable to compile cuda/cpp extensions without a matching cuda "
            "version.",
        ),
        sources=(
            thread("pytorch/pytorch", 73047, "2022-02-17"),
            thread("Adamdad/rational_kat_cu", 4, "2025-01-02"),
            torch_file("torch/utils/cpp_extension.py"),
        ),
        wheel=True,
    ),
    KnownError(
        id="architecture-dropped",
        causes=ARCHITECTURE_REFUSED,
        pattern=r"(?:ptxas fatal|nvcc fatal|Value|Unsupported gpu architecture)[^\n]{0,20}'(?:sm|compute)_(?P<capability>1[0-3]|2[01]|3[0257]|5[023]|6[0-2]|70|72)'",
        cause="The nvcc that compiles does not know the GPU architecture {capability} that it was asked to build for: it is too new for it, or too old",
        remedy="See which nvcc it is, and which GPUs are there",
        command="nvcc --version; which -a nvcc; nvidia-smi --query-gpu=name,compute_cap --format=csv",
        checks=("toolkit-mismatch",),
        says=(
            "ptxas fatal   : Value 'sm_30' is not defined for option 'gpu-name'",
            "nvcc fatal   : Unsupported gpu architecture 'compute_35'",
        ),
        sources=(
            thread("AccelerateHS/accelerate", 516, "2022-04-01"),
            "CUDA 11.0, 12.0 and 13.0 release notes, deprecated features, by their names, 2026-11-26",
        ),
    ),
    KnownError(
        id="toolkit-too-old-for-gpu",
        command="nvcc --version; which -a nvcc; nvidia-smi --query-gpu=compute_cap --format=csv",
        terms=_KNOWN_SINCE,
        pattern=r"Unsupported gpu architecture(?: ?'?(?:compute|sm)_(?P<term>\d{2,3})[af]?'?)?",
        cause="The CUDA toolkit that compiles is older than the GPU architecture that it is asked for{meaning}",
        remedy="nvcc --version shows which toolkit compiles (often another one than expected: /usr/bin/nvcc of the distribution, or the first on PATH). Install one of the CUDA release that torch was built with, if that knows the GPU, else a newer pair of both; set CUDA_HOME to it and put its bin first on PATH. Where an older architecture will do: TORCH_CUDA_ARCH_LIST='8.0+PTX' (a package that writes -gencode into its setup.py has to be edited there)",
        checks=("toolkit-mismatch", "gpu-architecture"),
        says=("nvcc fatal   : Unsupported gpu architecture 'compute_120'",),
        sources=(
            thread("ggml-org/whisper.cpp", 3030, "2025-04-10"),
            thread("mit-han-lab/Block-Sparse-Attention", 15, "2025-12-31"),
        ),
    ),
    KnownError(
        id="unknown-arch",
        pattern=r"Unknown CUDA arch \(|_get_cuda_arch_flags[^\0]{0,300}IndexError|arch_list\[-1\] \+= '\+PTX' IndexError",
        cause="TORCH_CUDA_ARCH_LIST names an architecture that this torch does not know, or no GPU is in view while an "
        "extension is built",
        remedy="Name the architectures that are meant, such as TORCH_CUDA_ARCH_LIST=9.0",
        checks=("gpu-architecture", "toolkit-mismatch"),
        says=("ValueError: Unknown CUDA arch (12.0) or GPU not supported",),
        sources=(torch_file("torch/utils/cpp_extension.py"),),
    ),
    KnownError(
        id="host-compiler-too-new",
        pattern=r"unsupported GNU version|unsupported Microsoft Visual Studio version"
        r"|unsupported clang version!",
        cause="nvcc refuses the host's C++ compiler: it is newer than this CUDA toolkit knows",
        remedy="Give nvcc an older compiler (CC and CXX, or NVCC_PREPEND_FLAGS='-ccbin g++-12'), or install a newer toolkit",
        checks=("host-compiler", "toolkit-mismatch"),
        says=(
            "/usr/local/cuda/include/crt/host_config.h:143:2: error: #error -- unsupported GNU version! gcc versions later than "
            "12 are not supported!",
        ),
        sources=(thread("ninja-build/ninja", 2595, "2025-05-05"), thread("Eyeline-Labs/FlashDepth", 2)),
    ),
    KnownError(
        id="cxx-standard",
        pattern=r"C\+\+(17|20) or later compatible compiler is required to use (PyTorch|ATen)|You need C\+\+(14|17|20) to "
        r"compile PyTorch",
        cause="The extension is compiled as an older C++ than this torch's headers need",
        remedy="Drop the flag -std=c++14 from its setup, which `torchlift migrate` does (TL508)",
        says=("error: #error C++17 or later compatible compiler is required to use PyTorch.",),
        sources=("torch 2.13.0, torch/csrc/api/include/torch/all.h, read 2026-11-23",),
    ),
    KnownError(
        id="msvc-missing",
        pattern=r"Error checking compiler version for cl\b|Failed to find MSVC|(Compiler: )?\bcl(\.exe)? (is |was )?not found|command 'cl(\.exe)?' failed: (No such|None|\[WinError 2\])|FileNotFoundError: \[WinError 2\][^\n]{0,80}'cl'|Microsoft Visual C\+\+ \d{1,2}\.\d is required|Unable to find vcvarsall\.bat|'cl' is not recognized|Microsoft Visual C\+\+"
        r" 14\.\d or greater is required|\['where', 'cl'\]' returned non-zero",
        cause="What is compiled on Windows (extensions, packages without a wheel, torch.compile) needs Microsoft's C++ compiler, which is not installed or not on the path; often there is a wheel for another Python or release, which needs none",
        remedy="Install the Visual Studio Build Tools with `Desktop development with C++`, and start from the x64 Native Tools prompt; or take a Python (3.10 to 3.12 have most) or release of the package with a wheel: pip install --only-binary :all: PACKAGE",
        checks=("host-compiler",),
        says=(
            "RuntimeError: Compiler: cl is not found.",
            "UserWarning: Error checking compiler version for cl: [WinError 2] The system cannot find the file specified",
            "error: Microsoft Visual C++ 14.0 or greater is required.",
        ),
        sources=(torch_file("torch/utils/cpp_extension.py"), torch_file("torch/_inductor/cpp_builder.py")),
    ),
    KnownError(
        id="python-headers",
        pattern=r"Python\.h: No such file or directory|'Python\.h' (file )?not found",
        cause="Triton, inductor and extensions compile against Python's headers, which are not installed",
        remedy="Install the headers of this Python, or use a Python that brings them (uv, conda)",
        command="sudo apt-get install -y python3-dev",
        checks=("host-compiler",),
        says=("/tmp/tmps1rkq3y3/main.c:5:10: fatal error: Python.h: No such file or directory",),
        sources=(thread("sgl-project/sglang", 1117), thread("pytorch/pytorch", 129351, "2024-06-24")),
    ),
    KnownError(
        id="toolkit-headers",
        pattern=r"(cuda_(?:bf16|fp16|fp8)|cuda_runtime(_api)?|cublas_v2|cublasLt|cusparse|cusolverDn|curand(_kernel)?|cuda|nvrtc|cudnn|nccl|thrust/\w{1,40}"
        r"|hip/hip_runtime|crt/host_config)\.h: No such file or directory|cannot find -l(cudart|cuda|cublas|cudnn|nvrtc)\b"
        r"|cannot open input file 'cu\w{1,20}\.lib'",
        cause="Headers or libraries of the CUDA toolkit are missing: only a part of it is installed, or CUDA_HOME points elsewhere",
        remedy="Install the whole toolkit of torch's version (cuda-toolkit-X-Y, or conda's cuda-toolkit) and set CUDA_HOME",
        checks=("toolkit-mismatch",),
        says=(
            "fatal error: cuda_runtime.h: No such file or directory",
            "fatal error: cusparse.h: No such file or directory",
            "/usr/bin/ld: cannot find -lcudart: No such file or directory",
            "fatal error: hip/hip_runtime.h: No such file or directory",
        ),
        sources=(thread("ROCm/TheRock", 1837),),
    ),
    KnownError(
        id="ninja-missing",
        pattern=r"Ninja is required|\bninja: (command )?not found|No such file or directory: 'ninja'",
        cause="torch builds extensions with ninja, which is not installed or not on the path",
        remedy="Install it in the environment that runs",
        command="pip install ninja",
        says=("RuntimeError: Ninja is required to load C++ extensions",),
        sources=(torch_file("torch/utils/cpp_extension.py"),),
    ),
    KnownError(
        id="compiler-killed",
        pattern=r"Killed signal terminated program (cc1plus|cc1|ld)|make(\[\d{1,3}\])?: \*\*\* [^\n]{1,300} Error 137|died due to signal 9|cicc' died|virtual memory exhausted",
        cause="The compiler was killed for want of memory: as many run at once as there are cores",
        remedy="Compile fewer files at once: set MAX_JOBS=2 before pip install",
        says=(
            "nvcc error   : 'cicc' died due to signal 9 (Kill signal)",
            "g++: fatal error: Killed signal terminated program cc1plus",
        ),
        sources=(
            thread("NVIDIA/cudf", 8018),
            thread("Anbeeld/beellama.cpp", 80),
            thread("cms-sw/cmssw", 43117, "2023-10-26"),
        ),
    ),
    KnownError(
        id="extension-build-failed",
        causes=BUILD_FAILED,
        pattern=r"Error building extension '|Error compiling objects for extension|ninja: build stopped: subcommand failed|Command '\['ninja'.{0,60}returned non-zero|error: command '.{1,200}' failed with exit (status|code)|\b(?:cl|link|nvcc)\.exe['\"]? failed with exit (?:status|code)",
        cause="Compiling an extension failed; this line only says so",
        remedy="Look further up, from the top, for the first line with `error:`, `fatal error:`, `nvcc fatal`, `Killed` or `No such file`: that one tells these apart. If it is not there: build again into a file (MAX_JOBS=4 python -m pip install -v --no-build-isolation PACKAGE 2>&1 | tee build.log; for one that is built at its first use, delete ~/.cache/torch_extensions, under Windows %LOCALAPPDATA%\\torch_extensions, first) and ask with that file",
        command="torchlift doctor --explain-error build.log",
        checks=("toolkit-mismatch", "host-compiler", "python-version", "python-platform"),
        says=(
            "RuntimeError: Error building extension 'fused_adam'",
            "RuntimeError: Error compiling objects for extension",
        ),
        sources=(torch_file("torch/utils/cpp_extension.py"), thread("NVIDIAGameWorks/kaolin", 555)),
        level="vague",
    ),
    KnownError(
        id="libtorch-headers",
        pattern=r"torch/(torch|extension|script|all|library)\.h'? ?:? (file not found|No such file)",
        cause="A C++ program is compiled against libtorch, whose headers the compiler does not find",
        remedy="Add torch.utils.cpp_extension.include_paths() to the include path, or set CMAKE_PREFIX_PATH to "
        "torch.utils.cmake_prefix_path",
        says=("torch.cpp:3:10: fatal error: 'torch/torch.h' file not found",),
        sources=(thread("orktes/go-torch", 5, "2021-09-11"),),
    ),
    KnownError(
        id="triton-helper",
        pattern=r"\bcuda_utils\.c(\(\d{1,6}\)|:\d{1,6}:\d{1,4}): (fatal )?error|cuuint32_t",
        cause="Triton compiles a helper against cuda.h, and found one of a CUDA older than 12",
        remedy="Install the CUDA toolkit of torch's version, or take the old one out of CUDA_PATH",
        checks=("toolkit-mismatch", "host-compiler"),
        says=("C:\\Users\\0\\AppData\\Local\\Temp\\tmp61aye7_w\\cuda_utils.c(165): error C2143",),
        sources=(thread("unslothai/unsloth", 1913, "2025-03-06"),),
    ),
    KnownError(
        id="triton-launcher",
        pattern=r"__triton_launcher\.c(\(\d{1,6}\)|:\d{1,6}(:\d{1,4})?): (fatal )?error|Failed to compile\. cc_cmd|Command '\[[^\n]{0,200}cl\.(?:EXE|exe)'[^\n]{0,300}(?:main|cuda_utils|driver|__triton_launcher)\.c'|\bmain\.c(\(\d{1,6}\)|:\d{1,6}(:\d{1,4})?): (fatal )?error[^\0]{0,1500}triton",
        cause="The C compiler failed on the small program that Triton writes to launch a kernel: it is too old for Triton's C11, finds headers of another compiler, Windows SDK or CUDA, or Python's are missing",
        remedy="Read the first `error` line. ComfyUI's python_embeded and other embedded Pythons lack the folders Include and libs: copy them there from the installed Python of the same release (triton-windows says which). On Windows install the newest Build Tools and start from their x64 Native Tools prompt, so that compiler and headers are of one release; on Linux name a compiler with CC; install Python's "
        "headers; then delete Triton's cache (~/.triton/cache)",
        checks=("host-compiler", "toolkit-mismatch"),
        says=(
            "__triton_launcher.c(123): error C2059: syntax error: '}'",
            "Failed to compile. cc_cmd: ['cl.EXE', '__triton_launcher.c']",
        ),
        sources=(thread("woct0rdho/triton-windows", 178),),
        likely=True,
    ),
    KnownError(
        id="package-only-as-source",
        pattern=rf"(?:Failed building (?:editable |wheel )for|Could not build wheels for|Failed to build:?) [`']?(?P<term>{_ONLY_SOURCE})\b|pyproject\.toml based projects \((?P<term2>{_ONLY_SOURCE})\b",
        cause="PyPI has {term} as source code only, so that pip compiles it on every machine, and that failed; the first error of the compiler or CMake stands above",
        remedy="What {term} wants: {meaning}. Beside that a C and C++ compiler (sudo apt-get install build-essential cmake; Windows: Visual Studio's Build Tools with `Desktop development with C++`; macOS: xcode-select --install) and Python's headers (python3-dev). conda-forge has most of these packages compiled: conda install -c conda-forge {term}",
        command="python -m pip install -v --no-cache-dir {term} 2>&1 | tee build.log",
        terms=_WANTS,
        checks=("host-compiler", "toolkit-mismatch"),
        says=("ERROR: Failed building wheel for llama-cpp-python", "ERROR: Failed building wheel for dlib"),
        sources=(
            thread("Cinnamon/kotaemon", 577, "2025-01-02"),
            thread("abetlen/llama-cpp-python", 1947),
            "pypi.org, the files of these packages, by knowledge of them, 2026-11-26",
        ),
        likely=True,
    ),
    KnownError(
        id="torch-from-source",
        pattern=r"(?:Building wheel for|Failed building (?:wheel|editable) for|Failed to build installable wheels|Could not build wheels for|Failed to build) (?:pytorch|torch)\b(?!-|_)|You tried to install \"pytorch\"|torch-0\.1\.2|package directory 'torch/cuda' does not exist|Missing build dependency: Unable to",
        cause="pip found no wheel of torch for this Python and platform, and took the last source package that PyPI has instead (torch 0.1.2 of 2017, or the placeholder named pytorch), which cannot be built: this Python is newer (or older) than the torch that was asked for, is 32-bit, or the platform has no wheels (musl, 32-bit Arm, an Intel Mac from torch 2.3 on)",
        remedy="python -c 'import sys, struct, platform; print(sys.version, struct.calcsize(\"P\") * 8, platform.platform())' shows Python, its bits and the platform. Take a Python that this torch has wheels for (3.10 to 3.14 for the newest; `torchlift doctor` names it), in 64 bits, and install torch, not pytorch, from the index that `torchlift doctor` prints",
        command="torchlift doctor",
        checks=("python-version",),
        wheel=True,
        says=(
            "Building wheel for torch (setup.py) ... error",
            "ERROR: Failed building wheel for torch",
            'Exception: You tried to install "pytorch". The package named for PyTorch is "torch"',
        ),
        sources=(thread("pytorch/pytorch", 34798), "pypi.org, torch and pytorch, by their names, 2026-11-26"),
    ),
    KnownError(
        id="package-setup-failed",
        causes=BUILD_FAILED,
        pattern=r"metadata-generation-failed|(egg_info|bdist_wheel|editable_wheel|install) did not run successfully|python setup\.py (?:egg_info|install)\"? failed with error code|(?:Building (?:wheel|editable) for|Preparing metadata)[^\n]{1,100} did not run successfully"
        r"|Failed building (?:wheel|editable) for|Failed to build installable wheels|Building wheel for [^\n]{1,80}\.\.\. error|subprocess-exited-with-error|legacy-install-failure|ERROR: Command errored out with exit status \d|Getting requirements to build \w{1,20} did not run",
        cause="pip has no wheel of the package for this Python and platform, so that it built it from source, and that failed; this line only says so",
        remedy="Look in the output above it for the first `error:`, `ModuleNotFoundError`, `fatal error`, `CMake Error` or `not found`; it tells these apart. If it is not there: python -m pip install -v --no-cache-dir PACKAGE 2>&1 | tee build.log, and ask with that file",
        command="torchlift doctor --explain-error build.log",
        checks=("toolkit-mismatch", "host-compiler", "python-version", "python-platform"),
        says=(
            "error: metadata-generation-failed",
            "ERROR: Failed building wheel for mypackage",
            "python setup.py egg_info did not run successfully.",
        ),
        sources=(
            thread("zai-org/ChatGLM-6B", 822, "2023-04-26"),
            thread("facebookresearch/detectron2", 3001, "2021-05-03"),
        ),
        level="vague",
    ),
)
