"""Compilers, linkers and CMake: what they say when an extension of torch is built."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import UNREAD, KnownError, thread, torch_file

_CPP = torch_file("torch/utils/cpp_extension.py")

ROWS = (
    KnownError(
        id="host-compiler-not-usable",
        pattern=r"nvcc fatal {1,4}: Failed to preprocess host compiler properties|error: unknown flag `E'",
        cause="The program that nvcc takes for its host compiler is none: `g++` on PATH (or CC, CXX, NVCC_CCBIN, -ccbin) is a wrapper, another program of that name, or a compiler that cannot run",
        remedy="See what it is (type -a gcc g++; g++ --version), and name a real one",
        command="nvcc -ccbin /usr/bin/g++ --version && export CC=/usr/bin/gcc CXX=/usr/bin/g++ CUDAHOSTCXX=/usr/bin/g++",
        checks=("host-compiler",),
        says=("error: unknown flag `E'\nnvcc fatal   : Failed to preprocess host compiler properties.",),
        sources=(thread("compiler-explorer/compiler-explorer", 8302, "2025-11-30"),),
        likely=True,
    ),
    KnownError(
        id="host-compiler-too-old-for-standard",
        pattern=r"nvcc warning ?: The -std=(?P<std>[\w+]{3,8}) flag is not supported with the configured host compiler",
        cause="The host compiler is too old for -std={std}, so that nvcc leaves the flag out; what needs that standard, as torch's headers do, fails a few lines below",
        remedy="Use a newer g++ that this CUDA supports; torch 2.x needs C++17, from 2.10 on C++20",
        command="export CC=gcc-12 CXX=g++-12 CUDAHOSTCXX=g++-12",
        checks=("host-compiler", "toolkit-mismatch"),
        says=(
            "nvcc warning : The -std=c++14 flag is not supported with the configured host compiler. Flag will be ignored.",
        ),
        sources=(thread("nv-tlabs/nglod", 9, "2021-06-08"),),
    ),
    KnownError(
        id="nvcc-extended-lambda",
        pattern=r"annotation on (a )?lambda requires --?-?(expt-)?extended-lambda",
        cause="The source has a lambda marked __host__ or __device__, which nvcc takes with --extended-lambda only, and the package's build does not pass it",
        remedy="Take a newer release of the package, or put it into its setup.py: extra_compile_args={'nvcc': ['--extended-lambda']} (before CUDA 11.2 --expt-extended-lambda)",
        says=(
            "activation_kernel.cu(21): error: __host__ or __device__ annotation on lambda requires --expt-extended-lambda nvcc flag",
        ),
        sources=(thread("zhanghang1989/PyTorch-Encoding", 218, "2019-08-10"),),
    ),
    KnownError(
        id="msvc-ambiguous-std",
        pattern=r"C2872: '?std'?: (ambiguous symbol|symbole ambigu|不明确的符号)|error: \"?std\"? is ambiguous|compiled_autograd\.h\W{0,3}\(\d{1,5}\): error",
        cause="A defect of Microsoft's compiler at torch's headers (compiled_autograd.h), when nvcc compiles them: torch has a way around it that is on with USE_CUDA only",
        remedy="Compile with -DUSE_CUDA (extra_compile_args for nvcc and cxx), or take a release of the package that does",
        command="set NVCC_APPEND_FLAGS=-DUSE_CUDA",
        says=("compiled_autograd.h(1134): error C2872: 'std': ambiguous symbol",),
        sources=(
            thread("k2-fsa/k2", 1342, "2025-11-03"),
            thread("pytorch/pytorch", 188952),
            thread("ashawkey/cubvh", 31, "2026-01-10"),
        ),
    ),
    KnownError(
        id="msvc-ambiguous-cuda",
        pattern=r"C2872: '?cuda'?\W{1,3}(ambiguous symbol|symbole ambigu|不明确的符号)",
        cause="The source says `using namespace c10` or torch, and CUDA's own namespace `cuda` collides with c10::cuda",
        remedy="Write ::cuda:: and c10::cuda:: in full, leave out the using directive, or take a newer release of the package",
        says=("cooperative_groups/details/reduce.h(401): error C2872: 'cuda' : symbole ambigu",),
        sources=(thread("MrNeRF/LichtFeld-Studio", 523, "2025-11-06"),),
    ),
    KnownError(
        id="nvcc-without-msvc",
        pattern=r"nvcc fatal {1,3}: (Could not set up the environment for Microsoft Visual Studio|Cannot find compiler 'cl\.exe' in PATH|Host compiler targets unsupported OS)"
        r"|Cannot find compiler 'cl\.exe'|vcvars64\.bat.{0,80}(not found|returned)|Could not find vcvarsall|Unable to find vcvarsall\.bat|DistutilsPlatformError: Microsoft Visual C\+\+",
        cause="nvcc does not find a Visual Studio that it can use: it is newer than this CUDA knows, is not whole (no C++ workload), or the shell is not the compiler's",
        remedy="Install the Build Tools of Visual Studio 2022 with the C++ workload, and build in its x64 Native Tools Command Prompt with DISTUTILS_USE_SDK=1",
        command="set DISTUTILS_USE_SDK=1",
        checks=("host-compiler", "toolkit-mismatch"),
        says=(
            "nvcc fatal   : Could not set up the environment for Microsoft Visual Studio using 'C:/Program Files/Microsoft Visual Studio/2022/Enterprise/VC/Tools/MSVC/14.38.33130/bin/HostX64/x64/vcvars64.bat'",
            "nvcc fatal   : Cannot find compiler 'cl.exe' in PATH",
        ),
        sources=(thread("nerfstudio-project/nerfstudio", 3676, "2025-06-24"),),
    ),
    KnownError(
        id="distutils-use-sdk",
        pattern=r"VC environment is activated but DISTUTILS_USE_SDK is not set",
        cause="The shell is Visual Studio's, and setuptools would set up a second compiler beside it",
        remedy="Say that the shell's compiler is meant",
        command="set DISTUTILS_USE_SDK=1",
        checks=("host-compiler",),
        says=("UserWarning: It seems that the VC environment is activated but DISTUTILS_USE_SDK is not set.",),
        sources=(_CPP,),
    ),
    KnownError(
        id="nvcc-crashed",
        pattern=r"'?(cudafe\+\+|ptxas|cicc|fatbinary|nvlink)'? died (with status|due to signal (?!9))|nvcc error {1,3}: '(?!cicc' died due to signal 9)|internal error: assertion failed.{0,80}(il_|scope|cudafe|exprutil)|Internal Compiler Error \(codegen\)",
        cause="A part of nvcc crashed: memory ran out, or this nvcc has a defect at these sources",
        remedy="Build with fewer processes (MAX_JOBS=1) and for this GPU only (TORCH_CUDA_ARCH_LIST); if it stays, take another release of the CUDA toolkit",
        command="export MAX_JOBS=1",
        checks=("toolkit-mismatch",),
        says=(
            "nvcc error   : 'cudafe++' died with status 0xC0000005 (ACCESS_VIOLATION)",
            "nvcc error   : 'ptxas' died due to signal 11 (Invalid memory reference)",
        ),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="nvcc-option-unknown",
        pattern=r"nvcc fatal {1,3}: (Unknown option|Value '(?P<value>[\w+.=,-]{1,40})' is not defined for option|Unsupported (NVHPC|ICC|host) compiler)",
        cause="This nvcc does not know an option or value that is given to it ({value}): it is older than the package expects (C++17 came with CUDA 11.0, C++20 with 12.0), or newer "
        "(architectures that it lost)",
        remedy="Put the toolkit of torch's CUDA first on PATH and set CUDA_HOME to it; set TORCH_CUDA_ARCH_LIST to this GPU",
        checks=("toolkit-mismatch",),
        says=(
            "nvcc fatal   : Value 'c++17' is not defined for option 'std'",
            "nvcc fatal   : Unknown option '-generate-dependencies-with-compile'",
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="deprecated-architecture-remark",
        pattern=r"nvcc warning ?: .{0,120}(architectures|offline compilation) .{0,160}(are deprecated|prior to)|Support for offline compilation for architectures prior to",
        cause="The package is also compiled for old GPUs that a coming CUDA will drop",
        remedy="Nothing; TORCH_CUDA_ARCH_LIST of this GPU shortens the build",
        says=(
            "nvcc warning : The 'compute_35', 'compute_37', 'sm_35', and 'sm_37' architectures are deprecated, and may be removed in a future release",
        ),
        sources=(UNREAD,),
        level="warning",
    ),
    KnownError(
        id="compiler-missing",
        pattern=r"error: command '?([\w./-]{0,120}/)?(?P<compiler>(gcc|g\+\+|cc|c\+\+|clang|clang\+\+|cl|cl\.exe|[\w-]{1,30}-gcc|[\w-]{1,30}-g\+\+))'? failed: (No such file|None|\[WinError 2\])|unable to execute '([\w./-]{0,120}/)?(?P<compiler2>(?!nvcc)[\w+.-]{0,30}(cc|\+\+|clang|cl|ld|ar)(-\d{1,2})?)': No such file"
        r"|error: \[Errno 2\] No such file or directory: '(?P<compiler3>gcc|g\+\+|cc|c\+\+|clang|cl|x86_64-linux-gnu-g\w\w|x86_64-conda-linux-gnu-\w{1,6})'|No such file or directory: '(?P<compiler4>gcc|g\+\+|c\+\+)'"
        r"|(gcc|g\+\+|cc1plus): (fatal )?error: (cannot execute|error trying to exec) ?'(?P<compiler5>cc1plus|cc1)'|error trying to exec '(?P<compiler6>cc1plus|cc1)': execvp|\['which', '(?P<compiler7>(c|g)\+\+|cc|gcc)'\]"
        r"|FileNotFoundError: \[(WinError 2|Errno 2)\][^\n]{0,80}'(?P<compiler8>g\+\+|gcc|cl)'",
        cause="The compiler {compiler} is not installed or not on PATH",
        remedy="Install the compilers of C and C++ (conda: gxx_linux-64), or point CC and CXX to them",
        command="sudo apt-get install -y build-essential",
        checks=("host-compiler",),
        says=(
            "error: command 'gcc' failed: No such file or directory",
            "unable to execute 'x86_64-linux-gnu-gcc': No such file or directory",
            "CalledProcessError: Command '['which', 'c++']' returned non-zero exit status 1.",
            "gcc: fatal error: cannot execute 'cc1plus': execvp: No such file or directory",
        ),
        sources=(thread("deepspeedai/DeepSpeed", 3410, "2023-04-29"),),
    ),
    KnownError(
        id="compiler-bounds",
        pattern=r"The current installed version of (?P<compiler>\S{1,60}) \(\S{1,20}\) is (?P<how>less|greater) than the (minimum|maximum) required version by CUDA",
        cause="The C++ compiler {compiler} is {how} than what this CUDA takes",
        remedy="Install one that it takes and point CC and CXX to it (Debian and Ubuntu: gcc-12 g++-12; conda: gxx_linux-64=12)",
        command="export CC=gcc-12 CXX=g++-12",
        checks=("host-compiler", "toolkit-mismatch"),
        says=(
            "RuntimeError: The current installed version of x86_64-linux-gnu-g++ (13.2.0) is greater than the maximum required version by CUDA 12.1. Please make sure to use an adequate version of "
            "x86_64-linux-gnu-g++ (>=6.0.0, <13.0).",
        ),
        sources=(_CPP,),
    ),
    KnownError(
        id="compiler-too-old",
        pattern=r"unrecognized command[- ]line option .{0,3}-(std=(c|gnu)\+\+(14|17|20|2a)|fno-plt|mavx\w{0,12}|march=native|Wno-\w{1,40}|ffp-contract\S{0,8})|invalid value '(c|gnu)\+\+(17|20|2a)' in '-std"
        r"|error: #error You need C\+\+|#error C\+\+14 or later compatible compiler is required|error: 'optional' is not a member of 'std'|error: .{0,3}std::(optional|string_view|variant|is_same_v|filesystem).{0,3} (has not been declared|is not a member)|D9002.{0,40}std:c\+\+(17|20)",
        cause="The C++ compiler is too old for torch's headers, or is told an older standard: C++14 needs GCC 5, C++17 GCC 9 (torch 2.1 and newer), C++20 GCC 11.3 (torch 2.11 and newer), Visual Studio 2022 on Windows",
        remedy="Install a newer one and point CC and CXX to it; on old distributions conda install -c conda-forge gxx_linux-64",
        command="export CC=gcc-12 CXX=g++-12",
        checks=("host-compiler",),
        says=(
            "c++: error: unrecognized command line option '-std=c++17'",
            "#error C++14 or later compatible compiler is required to use ATen.",
        ),
        sources=(thread("pytorch/vision", 2509),),
    ),
    KnownError(
        id="nvcc-stray-argument",
        pattern=r"nvcc fatal {1,3}: (A single input file is required|Don't know what to do with)",
        cause="nvcc takes an argument for one more file to compile: a path with a blank that is not quoted, an option of Visual C++ (/EHsc), or a definition whose variable is empty",
        remedy="Build with the commands shown (pip install -v, ninja -v, make VERBOSE=1) and look for that argument; build in a path without blanks; hand options of Visual C++ on with -Xcompiler",
        says=("nvcc fatal   : A single input file is required for a non-link phase when an outputfile is specified",),
        sources=(thread("Ph0rk0z/SageAttention2", 8, "2025-10-19"), thread("parallel101/course", 27, "2023-10-27")),
        likely=True,
    ),
    KnownError(
        id="extension-newer-or-older-than-torch",
        pattern=r"(error: )?namespace \"?(at|c10|torch)(::\w{1,30})?\"? has no member|(class|struct) \"?.{0,4}(at::Tensor|c10::\w{1,40}|at::\w{1,40}|torch::\w{1,60})\W{0,4} has no member( named)?|is not a member of .{0,3}(at|c10|torch)(::\w{1,40}){0,3}"
        r"|'(THCState|THCudaTensor|THFloatTensor|AT_CHECK)' (does not name a type|was not declared)|no member named '\w{1,60}' in (namespace )?'(at|c10|torch)|no (suitable user-defined )?conversion (function )?from \"(const )?at::\w{1,60}|cannot convert .{0,3}(const )?at::(DeprecatedTypeProperties|Tensor)"
        r"|identifier \"?(at|c10|torch)::\w{1,60}\"? is undefined|static assertion failed:? .{0,20}(data_ptr|packed_accessor)|AT_DISPATCH\w{1,60}.{0,80}(was not declared|undefined|requires)|too few arguments.{0,60}(torch|at|c10)::"
        r"|ATen/(cuda/CUDAApplyUtils|DeviceGuard|cuda/Atomic|cuda/CUDAEventPool|cuda/DeviceUtils|native/\w{1,30}|cuda/CUDAGeneratorImpl|core/\w{1,40})\.(cuh|h): No such file|c10/(cuda|util)/\w{1,40}\.h: No such file|torch/csrc/\w[\w/]{1,60}\.h: No such file",
        cause="The extension's sources are for another torch: a name of torch's C++ interface that they use is not in the one that is installed",
        remedy="Take a release of the package for this torch (its notes say which), or the torch that it was written for",
        checks=("extension-abi", "companion-mismatch"),
        says=(
            'error: namespace "at" has no member "Half"',
            "error: 'class at::Tensor' has no member named 'scalar_type_old'",
            "fatal error: ATen/cuda/CUDAApplyUtils.cuh: No such file or directory",
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="architecture-without-feature",
        pattern=r"no instance of overloaded function \"?(atomicAdd|__hadd|__hmul|__hmul2|__shfl\w{0,12}|__ldg|hexp|hlog|__hmax|__hfma2)|more than one (operator|conversion function|instance).{0,120}__half|no operator .{0,10} matches these operands.{0,200}(__half|nv_bfloat16)"
        r"|identifier \"?(__hadd2|__hmax2?|__hmin|__nv_bfloat16|__nv_fp8_\w{1,10}|__hmul2|__half2float2|__reduce_\w{1,12}_sync|nv_bfloat16|__nv_cvt_\w{1,40})\"? is undefined",
        cause="The kernel uses half precision or atomics that the architecture it is compiled for does not have (TORCH_CUDA_ARCH_LIST names an old one), or the operators are switched off by torch's flags "
        "(__CUDA_NO_HALF_OPERATORS__)",
        remedy="Set TORCH_CUDA_ARCH_LIST to this GPU (7.0 or newer for half atomics, 8.0 for bfloat16, 8.9 for fp8); if it stays, undefine the flags: -U__CUDA_NO_HALF_OPERATORS__ "
        "-U__CUDA_NO_HALF_CONVERSIONS__",
        command="export TORCH_CUDA_ARCH_LIST=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | sort -u | paste -sd ';')",
        checks=("gpu-architecture", "toolkit-mismatch"),
        says=(
            'error: no instance of overloaded function "atomicAdd" matches the argument list argument types are: (__half *, __half)',
            'error: identifier "__hmax" is undefined',
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="half-operators-in-build",
        pattern=r"more than one operator \"?[<>=+*/!-]{1,2}\"? matches these operands|ambiguous \"?\?\"? operation|function \"?__half::operator",
        cause="Code for half precision meets another CUDA than it was written for: newer toolkits have more conversions, so that one is ambiguous",
        remedy="Take a newer release of the package, or the CUDA toolkit that it names",
        checks=("toolkit-mismatch",),
        says=('error: more than one operator "<" matches these operands:',),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="objects-missing",
        pattern=r"(ld|collect2|g\+\+|c\+\+|LINK)\W.{0,120}(cannot find |error: ){1,2}.{0,200}\.(o|obj)\b.{0,4}(: No such file|没有那个文件|不存在)?$|ld: cannot find \S{1,200}\.o\b|error: \S{1,200}\.o(bj)?: No such file",
        cause="The linker misses files that were to be compiled before: their compilation failed (above), or ninja and setuptools disagree on a path (old ninja, a relative path)",
        remedy="Look at the first compiler error; delete the folder build, then build again (USE_NINJA=0 shows each file)",
        command="rm -rf build && USE_NINJA=0 pip install -v --no-build-isolation .",
        checks=("toolkit-mismatch",),
        says=(
            "ld: cannot find build/temp.linux-x86_64-cpython-37/cuda_rasterizer/backward.o: No such file or directory",
        ),
        sources=(thread("graphdeco-inria/gaussian-splatting", 785, "2024-05-02"),),
    ),
    KnownError(
        id="ninja-of-old",
        pattern=r"Command '\['ninja', '--version'\]' returned|ninja: error: (build\.ninja:\d{1,5}: |manifest|loading|unknown target|mkdir|remove)|ninja: fatal: ",
        cause="ninja is broken or its folder is: a stale build folder, a path with blanks, or a ninja of pip whose Python is gone",
        remedy="Delete the build folder and ~/.cache/torch_extensions, and install ninja anew",
        command="python -m pip install --force-reinstall ninja",
        says=("ninja: error: build.ninja:27: expected '=', got identifier",),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="cmake-missing",
        pattern=r"CMake must be installed to build|cmake: (command )?not found|No such file or directory: '?cmake'?|CMake \d\.\d{1,2}(\.\d)? or higher is required\.? You are running|Could not find CMAKE_MAKE_PROGRAM|CMAKE_MAKE_PROGRAM is not set|CMake was unable to find a build program"
        r"|could not find any instance of Visual Studio|No CMAKE_(C|CXX)_COMPILER could be found|CMAKE_CXX_COMPILER-NOTFOUND|Problem with the CMake installation, aborting build",
        cause="CMake, or the build program or compiler that it drives, is missing or too old",
        remedy="Install CMake and ninja with pip and the compilers of C and C++; on Windows the Build Tools of Visual Studio with the C++ workload",
        command="python -m pip install --upgrade cmake ninja && sudo apt-get install -y build-essential",
        checks=("host-compiler",),
        says=(
            "RuntimeError: CMake must be installed to build the following extensions: _dlib_pybind11",
            "CMake Error at CMakeLists.txt:1 (cmake_minimum_required):\n  CMake 3.26 or higher is required.  You are running version 3.16.3",
            "CMake Error: CMAKE_CXX_COMPILER not set, after EnableLanguage\n  No CMAKE_CXX_COMPILER could be found.",
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="cmake-python",
        pattern=r"Could NOT find Python3? \(missing: Python3?_(INCLUDE_DIRS|LIBRARIES|NumPy)|Could NOT find PythonLibs|Could NOT find (pybind11|Python3?) ?\(|Cannot find Python development|missing: PYTHON_LIBRARIES",
        cause="CMake does not find Python's headers and library: those of the development package are missing, or another Python comes first",
        remedy="Install python3-dev, or pass -DPython_EXECUTABLE=$(which python) (-DPython3_EXECUTABLE)",
        command="sudo apt-get install -y python3-dev",
        checks=("host-compiler",),
        says=("Could NOT find Python (missing: Python_INCLUDE_DIRS Python_LIBRARIES Development)",),
        sources=(UNREAD,),
    ),
    KnownError(
        id="caffe2-cmake-cuda",
        pattern=r"Your installed Caffe2 version uses CUDA but I cannot find|Caffe2: (Found CUDA|CUDA).{0,60}(not|cannot) (be )?f(ound|ind)|Caffe2: Cannot find CUDA|FindCUDA says CUDA version is|PyTorch requires CUDA \d{1,3} or above|Caffe2: USE_CUDNN is set"
        r"|PyTorch: Could not find nvToolsExt|Target \"\S{1,60}\" requires the language dialect \"CUDA\d\d\"",
        cause="torch's CMake files look for the CUDA toolkit (the one of torch's CUDA, with cuDNN headers where asked) and find none or another",
        remedy="Set CUDA_HOME and -DCUDA_TOOLKIT_ROOT_DIR to that toolkit; without a GPU take the CPU build of libtorch",
        checks=("toolkit-mismatch",),
        says=(
            "Your installed Caffe2 version uses CUDA but I cannot find the CUDA libraries.  Please set the proper CUDA prefixes and / or install CUDA.",
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="rocm-home",
        pattern=r"ROCM_HOME environment variable is not set|No ROCm runtime is found, using ROCM_HOME|hipcc: (command )?not found|No such file or directory: '[^']{0,80}hipcc'|cannot find (HIP|ROCm) (runtime|device library|installation)|clang\S{0,6}: error: cannot find ROCm",
        cause="No ROCm toolkit (hipcc) is found, which compiling for AMD GPUs needs; torch's wheel has its libraries only",
        remedy="Install ROCm's development packages of torch's release, and set ROCM_HOME",
        command="export ROCM_HOME=/opt/rocm PATH=/opt/rocm/bin:$PATH",
        checks=("toolkit-mismatch", "torch-other-vendor"),
        says=(
            "OSError: ROCM_HOME environment variable is not set. Please set it to your ROCm install root.",
            "No ROCm runtime is found, using ROCM_HOME='/opt/rocm'",
        ),
        sources=(_CPP,),
    ),
    KnownError(
        id="sycl-toolkit",
        pattern=r"SYCL runtime is not dected|Failed to parse DPC\+\+ compiler version|icpx: (command )?not found|ninja is required to build sycl extensions",
        cause="Compiling for Intel GPUs needs Intel's oneAPI compiler (icpx) in the shell",
        remedy="Install Intel's Deep Learning Essentials and source its compiler's vars.sh before the build",
        command=". /opt/intel/oneapi/compiler/latest/env/vars.sh",
        checks=("host-compiler",),
        says=("RuntimeError: SYCL runtime is not dected. Please setup the pytorch prerequisites for Intel GPU",),
        sources=(_CPP,),
    ),
    KnownError(
        id="nvcc-at-path",
        pattern=r"nvcc not found at '[^'\n]{1,200}'|With dlink=True, ninja is required to build cuda extension|setuptools>=49\.4\.0 is required",
        cause="The folder that CUDA_HOME names has no nvcc, or the builder lacks ninja or a newer setuptools",
        remedy="Set CUDA_HOME to a whole toolkit (its bin has nvcc), and install ninja and setuptools",
        command="python -m pip install --upgrade ninja setuptools",
        checks=("toolkit-mismatch",),
        says=(
            "RuntimeError: nvcc not found at '/usr/local/cuda-12.4/bin/nvcc'. Ensure CUDA path '/usr/local/cuda-12.4' is correct.",
        ),
        sources=(_CPP,),
    ),
    KnownError(
        id="nvcc-path-wrong",
        pattern=r"(?P<program>[\w./+\[\]:-]{0,120}/bin/nvcc): No such file|Could not find compiler set in environment variable CUDACXX: ?\n?\s?(?P<program2>\S{1,120})|sh: \d{1,4}: (?P<program3>:\S{1,120}/bin/nvcc): not found",
        cause="CUDA_HOME (or CUDA_PATH, CUDACXX) names a toolkit that is not there: {program} does not exist, or the variable is a list with colons, as PATH is",
        remedy="export CUDA_HOME=/usr/local/cuda-XX.Y with one folder that has bin/nvcc, of torch's CUDA release; without a toolkit take a wheel of the package, or conda install -c nvidia cuda-nvcc",
        command="ls -d /usr/local/cuda*/bin/nvcc; echo $CUDA_HOME",
        checks=("toolkit-mismatch",),
        says=("/bin/sh: /usr/local/cuda-11.2/bin/nvcc: No such file or directory",),
        sources=(
            thread("NVIDIA/MinkowskiEngine", 569),
            thread("zhanghang1989/PyTorch-Encoding", 297),
            thread("hyangwinter/flownet3d_pytorch", 11),
        ),
    ),
    KnownError(
        id="host-compiler-unknown",
        pattern=r"Unsupported NVHPC compiler found|unsupported (clang|Microsoft Visual Studio|Intel|ICC|PGI) (compiler )?version|nvcc fatal {1,4}: Unsupported (host )?compiler",
        cause="nvcc was given a host compiler that it does not know or that is too new for it (NVHPC, Intel's, a new clang or Visual Studio): the shell's modules or CC and CXX choose it",
        remedy="Name a GCC (or Visual Studio) that this CUDA release supports: export CC=gcc-12 CXX=g++-12 CUDAHOSTCXX=g++-12 (module load gcc), then build in a clean folder",
        command="export CC=gcc-12 CXX=g++-12 CUDAHOSTCXX=g++-12",
        checks=("host-compiler",),
        says=("error: Unsupported NVHPC compiler found. nvc++ is the only NVHPC compiler that is supported.",),
        sources=(thread("NVIDIA/apex", 1833),),
    ),
    KnownError(
        id="build-file-gone",
        pattern=r"(No such file or directory: '|could not create ')(?P<name>build[/\\\\][^'\n]{1,300})'|(?P<name2>[\w./-]{1,120}\.cu\.o):? (No such file|Not found)",
        cause="The build did not find or could not write one of its own files ({name}): a build folder of an earlier attempt is mixed in, an earlier step failed (nvcc did not run), or on Windows the path is longer than 260 characters",
        remedy="Delete the folders build and *.egg-info (git clean -xfd in a clone) and pip's cache (pip install --no-cache-dir), then build again and read the first error. Windows: enable long paths (LongPathsEnabled=1), or work in a short folder such as C:\\w",
        says=(
            "error: [Errno 2] No such file or directory: 'build/bdist.linux-x86_64/wheel/languages/java.py'",
            "src/nearest_neighborhood.cu.o: No such file or directory",
        ),
        sources=(
            thread("terryyin/lizard", 85, "2016-01-20"),
            thread("zju3dv/pvnet", 79, "2020-07-30"),
            thread("Project-MONAI/MONAILabel", 1344, "2023-03-19"),
        ),
        likely=True,
    ),
    KnownError(
        id="symbol-version-remark",
        pattern=r"(?P<library>lib[\w.+-]{1,60}): no version information available \(required by (?P<program>[^)\n]{1,120})\)",
        cause="A remark of the loader: {program} was linked with a build of {library} that has symbol versions, and another build (conda's, a copy) is found at run time",
        remedy="Nothing stops for it. If something fails as well, take the folder of that copy out of LD_LIBRARY_PATH: ldd {program} shows which is loaded",
        level="warning",
        says=("libcudart.so.11.0: no version information available (required by bandwidth_test)",),
        sources=(thread("Bruce-Lee-LY/cuda_hook", 8, "2023-11-25"),),
    ),
    KnownError(
        id="toolkit-headers-mixed",
        pattern=r"macro \"?__cudaLaunch\"? passed \d arguments|(?:identifier|error:)[^\n]{0,20}\"?__(?:cudaLaunch|nv_bfloat16_raw|half_raw)\"?[^\n]{0,40}(?:undefined|redefin|was not declared)|crt/host_runtime\.h[^\n]{0,80}error:",
        cause="nvcc reads headers of another CUDA release than its own: an include folder of Triton, conda, a pip package (nvidia/cuda_runtime/include) or an old toolkit stands before it",
        remedy="Look in the command that failed for -I folders with another CUDA's headers and take them away (CPATH, CPLUS_INCLUDE_PATH, CUDA_HOME); nvcc, cuda_runtime and cccl in one release",
        command="env | grep -E 'CPATH|INCLUDE|CUDA'",
        checks=("toolkit-mismatch",),
        says=('error: macro "__cudaLaunch" passed 2 arguments, but takes just 1',),
        sources=(thread("lightseekorg/tokenspeed", 247, "2026-05-25"),),
        likely=True,
    ),
)
