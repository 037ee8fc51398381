"""Libraries that the loader does not find, or cannot start: whose they are decides what helps."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_loading import CUDA_LIBRARY_NOT_FOUND, CUDNN_NOT_LOADED
from torchlift.doctor.errors.known_error import (
    NO_MODULE,
    NO_PROCEDURE,
    NOT_STARTED,
    UNREAD,
    Cause,
    KnownError,
    thread,
)

_CUDA = (
    ("cublas", "nvidia-cublas"),
    ("cublasLt", "nvidia-cublas"),
    ("cudart", "nvidia-cuda-runtime"),
    ("cufft", "nvidia-cufft"),
    ("cufftw", "nvidia-cufft"),
    ("cufile", "nvidia-cufile"),
    ("cupti", "nvidia-cuda-cupti"),
    ("curand", "nvidia-curand"),
    ("cusolver", "nvidia-cusolver"),
    ("cusolverMg", "nvidia-cusolver"),
    ("cusparse", "nvidia-cusparse"),
    ("cusparseLt", "nvidia-cusparselt"),
    ("nccl", "nvidia-nccl"),
    ("nvrtc", "nvidia-cuda-nvrtc"),
    ("nvrtc-builtins", "nvidia-cuda-nvrtc"),
    ("nvJitLink", "nvidia-nvjitlink"),
    ("nvToolsExt", "nvidia-nvtx"),
)
"""Which of NVIDIA's packages on PyPI carries a library; the name ends in -cu11 or -cu12 up to CUDA 12."""

_INTEL = (
    ("iomp5", "intel-openmp"),
    ("sycl", "intel-sycl-rt"),
    ("ze_loader", "the system's package of Level Zero (libze1, level-zero)"),
    ("svml", "intel-cmplr-lib-rt"),
)

_OF_WINDOWS = (
    ("_imaging", "pillow"),
    ("_imagingft", "pillow"),
    ("cv2", "opencv-python"),
    ("_MeCab", "mecab-python3"),
    ("_multiarray_umath", "numpy"),
    ("_ufuncs", "scipy"),
    ("_arpack", "scipy"),
    ("_fblas", "scipy"),
    ("_flapack", "scipy"),
    ("etree", "lxml"),
    ("_sentencepiece", "sentencepiece"),
    ("onnx_cpp2py_export", "onnx"),
    ("onnxruntime_pybind11_state", "onnxruntime"),
    ("_framework_bindings", "mediapipe"),
    ("_pywrap_tensorflow_internal", "tensorflow"),
    ("tokenizers", "tokenizers"),
    ("lib", "pyarrow"),
    ("_ext", "the package in the trace"),
    ("_zmq", "pyzmq"),
    ("win32api", "pywin32"),
    ("pywintypes", "pywin32"),
    ("_path", "matplotlib"),
    ("ft2font", "matplotlib"),
    ("defs", "h5py"),
    ("_errors", "h5py"),
    ("_dlib_pybind11", "dlib"),
)
"""Packages that have nothing to do with torch, by the compiled module that Windows names."""

_OF_PYTHON = "_ssl|_sqlite3|_ctypes|_hashlib|_lzma|_bz2|pyexpat|_tkinter|_socket|_decimal"

_EXTENSION_DLL = (
    Cause(
        "The module was built on torch, and torch's DLLs are not loaded yet",
        "python -c 'import torch, PACKAGE' works where python -c 'import PACKAGE' does not",
        "import torch first in the program",
    ),
    Cause(
        "It was built for another CUDA or torch than the one that is here, whose DLLs (cudart64_110.dll, cublas64_12.dll) do not exist on this machine",
        "the tool Dependencies (or dumpbin /dependents FILE.pyd) shows the DLL that is missing",
        "install its wheel for this torch and CUDA, or build it again",
        seen=r"cudart|cublas|cu\d{3}",
        checks=("missing-libraries", "extension-abi", "toolkit-mismatch"),
    ),
    Cause(
        "Microsoft's Visual C++ runtime is missing or old",
        "C:\\Windows\\System32 has no vcruntime140_1.dll or msvcp140.dll, or an old one; other compiled packages fail, too",
        "install the Visual C++ Redistributable (x64): https://aka.ms/vs/17/release/vc_redist.x64.exe",
    ),
    Cause(
        "The package is damaged, or conda and pip both brought DLLs of it",
        "conda list and pip list have it twice, or it worked before another package was installed",
        "uninstall it with both, install it once: python -m pip install --force-reinstall --no-cache-dir PACKAGE",
    ),
)

ROWS = (
    KnownError(
        id="cudnn-not-found",
        causes=CUDNN_NOT_LOADED,
        pattern=r"Could not load library libcudnn\w{0,60}\.so|Unable to load any of \{libcudnn|Could not locate cudnn\w{0,60}\.dll"
        r"|Cannot load symbol cudnn\w{1,60}|libcudnn\w{0,60}\.so(\.\d{1,3}){0,4}: cannot open shared object",
        cause="cuDNN, or one of its parts, does not load",
        remedy="See which cuDNN there is, and which is found first",
        command="find $(python -c 'import site; print(site.getsitepackages()[0])') -name 'libcudnn*.so*'; echo $LD_LIBRARY_PATH; ldconfig -p | grep cudnn",
        checks=("library-path", "conda-pip-mix", "missing-libraries", "nvidia-pins"),
        says=(
            "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory",
            "Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared object file: No "
            "such file or directory",
            "Unable to load any of {libcudnn_ops.so.9.1.0, libcudnn_ops.so.9.1, libcudnn_ops.so.9, libcudnn_ops.so}",
        ),
        sources=(
            thread("nanoporetech/dorado", 166, "2023-05-18"),
            thread("naver/dust3r", 198, "2024-12-23"),
            thread("daswer123/xtts-finetune-webui", 18, "2024-12-17"),
            thread("pytorch/pytorch", 131312, "2024-07-22"),
        ),
    ),
    KnownError(
        id="missing-cuda-library",
        causes=CUDA_LIBRARY_NOT_FOUND,
        pattern=r"lib(?P<term>cu(?:blasLt|blas|dart|fftw|fft|file|pti|rand|solverMg|solver|sparseLt|sparse)|nccl|nvrtc-builtins|nvrtc|nvJitLink|nvToolsExt"
        r"|nvshmem\w{0,20})\.so(?:\.(?P<release>\d{1,4}))?(?:\.\d{1,4}){0,3} ?: cannot open shared object"
        r"|lib(?P<term2>cudart|cublas|nccl)\w{0,10}\.so\S{0,20} not found in the system path",
        cause="A library of CUDA (lib{term}) that torch or an extension was built with is not installed or not found; {meaning} carries torch's own",
        remedy="The last lines of the trace say whether torch or another package asks for it",
        command="python -c 'import torch; print(torch.__version__, torch.version.cuda)'; find / -name 'lib{term}.so*' 2>/dev/null",
        terms=_CUDA,
        checks=("missing-libraries", "nvidia-pins", "extension-abi", "library-path", "jetson-wheel"),
        says=(
            "ImportError: libcublas.so.11: cannot open shared object file: No such file or directory",
            "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
        ),
        sources=(
            thread("leofansq/CPCL", 4, "2024-04-17"),
            thread("dusty-nv/jetson-inference", 559, "2020-04-28"),
            thread("iSEE-Laboratory/LLMDet", 32, "2025-04-24"),
            thread("pytorch/pytorch", 131312, "2024-07-22"),
        ),
    ),
    KnownError(
        id="missing-torch-library",
        pattern=r"lib(?P<library>torch(?!_cuda_(?:cpp|cu|linalg))\w{0,20}|c10\w{0,20}|shm|caffe2\w{0,20})\.so[.\d]{0,12}: cannot open shared object",
        cause="An extension needs torch's own lib{library}.so and the loader does not know where it is: torch was not imported before it, or the extension belongs to another torch (with a GPU or without one), which has no such library here",
        remedy="Import torch before the package. If that does not help, install the package for this torch: libtorch_cuda or libc10_cuda that is missing means a torch for the CPU (install the one for the GPU), libc10_hip one for AMD; programs in C++ need torch's folder lib (python -c 'import torch, os; print(os.path.dirname(torch.__file__))') on LD_LIBRARY_PATH",
        checks=("missing-libraries", "extension-abi", "library-path", "torch-cpu-build"),
        says=("ImportError: libc10.so: cannot open shared object file: No such file or directory",),
        sources=(UNREAD,),
    ),
    KnownError(
        id="missing-intel-library",
        pattern=r"lib(?P<term>iomp5|sycl|ze_loader|svml)\.so[.\d]{0,12}: cannot open shared object|lib(?P<library>mkl\w{0,30})\.so[.\d]{0,12}: cannot open shared object",
        cause="A library of Intel's (MKL, OpenMP, SYCL, Level Zero), which the package was built with, is not where the loader looks",
        remedy="MKL: python -m pip install mkl (conda install mkl) in the release that the number names (libmkl_intel_lp64.so.1: 2021 and older, .so.2: newer), and its folder lib on LD_LIBRARY_PATH; libiomp5: intel-openmp; libsycl: torch's XPU wheel brings intel-sycl-rt, oneAPI's setvars.sh is for builds of one's own; libze_loader: the system's level-zero. Without it in view: which package asks is the last one in the trace; install it newly for this torch",
        terms=_INTEL,
        command="python -m pip install mkl intel-openmp",
        checks=("missing-libraries", "library-path"),
        says=(
            "ImportError: libmkl_intel_lp64.so.1: cannot open shared object file: No such file or directory",
            "OSError: libiomp5.so: cannot open shared object file: No such file or directory",
            "ImportError: libsycl.so.8: cannot open shared object file: No such file or directory",
        ),
        sources=(
            "pypi.org, mkl, intel-openmp and intel-sycl-rt, by their names; no thread was read for it, 2026-11-26",
        ),
        likely=True,
    ),
    KnownError(
        id="windows-package-dll",
        pattern=rf"DLL load failed while importing (?:[\w.]{{0,40}}\.)?(?P<term>_imaging|_imagingft|cv2|_MeCab|_multiarray_umath|_ufuncs|_arpack|_fblas|_flapack|etree|_sentencepiece|onnx_cpp2py_export|onnxruntime_pybind11_state|_framework_bindings|_pywrap_tensorflow_internal|tokenizers|lib|_zmq|win32api|pywintypes|_path|ft2font|defs|_errors|_dlib_pybind11)(?: ?: (?:{NO_MODULE}|{NO_PROCEDURE})|\.?$)",
        cause="Windows does not find a DLL that {term}, the compiled part of {meaning}, needs (torch and the GPU have no part in it): the installation is damaged or mixed (conda and pip, or files of an older release), it is for another Python, or Microsoft's Visual C++ runtime is missing",
        remedy="Install {meaning} newly, with one installer only (conda remove it first where conda brought it); if that does not help, the Visual C++ Redistributable (x64, https://aka.ms/vs/17/release/vc_redist.x64.exe) and a restart, then another release of {meaning}. The tool Dependencies, opened on the .pyd, shows the DLL that is missing",
        command="python -m pip install --force-reinstall --no-cache-dir {meaning}",
        terms=_OF_WINDOWS,
        says=(
            "ImportError: DLL load failed while importing _imaging: The specified module could not be found.",
            "ImportError: DLL load failed while importing _MeCab",
            "ImportError: DLL load failed while importing cv2: The specified module could not be found.",
        ),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="windows-python-dll",
        pattern=rf"DLL load failed while importing (?P<module>{_OF_PYTHON})\b",
        cause="A module of Python itself ({module}) does not find its DLL: a conda environment that is not activated (its Library\\bin is not on PATH), or another Python's DLLs come first on PATH",
        remedy="Activate the environment (conda activate NAME) in the shell or editor that starts the program; else conda install --force-reinstall python openssl libffi sqlite, or repair Python with its installer",
        command="conda activate base",
        says=("ImportError: DLL load failed while importing _ssl: The specified module could not be found.",),
        sources=("docs.conda.io, troubleshooting, by its name; no thread was read for it, 2026-11-26",),
        likely=True,
    ),
    KnownError(
        id="windows-extension-dll",
        causes=_EXTENSION_DLL,
        pattern=rf"DLL load failed while importing (?P<module>(?!_C:|torch|libtorch)[\w.]{{1,60}}): (?:{NO_MODULE})"
        rf"|DLL load failed while importing (?P<module2>(?!_C\b|torch|libtorch)[\w.]{{1,60}})\.?$",
        cause="Windows does not find a DLL that {module} needs; the message does not say which",
        remedy="The tool Dependencies (github.com/lucasg/Dependencies), opened on the .pyd in the trace, shows which DLL it is",
        checks=("missing-libraries", "extension-abi", "toolkit-mismatch"),
        says=(
            "ImportError: DLL load failed while importing nvdiffrast_plugin: The specified module could not be found.",
        ),
        sources=(thread("TencentARC/InstantMesh", 34, "2024-04-21"),),
        likely=True,
    ),
    KnownError(
        id="windows-unnamed-dll",
        causes=_EXTENSION_DLL,
        pattern=rf"DLL load failed: (?:{NO_MODULE})|\[WinError 126\] (?:{NO_MODULE})\W{{0,3}}(?:$|(?!.{{0,10}}Error loading)\s)",
        cause="Windows does not find a DLL that a compiled module needs; which module it is stands in the last line of the trace, `from X import Y`",
        remedy="The tool Dependencies (github.com/lucasg/Dependencies), opened on the .pyd of the module in the last line of the trace, shows which DLL it is; a Python of 3.7 or older says no more than this",
        checks=("missing-libraries", "extension-abi", "toolkit-mismatch"),
        says=(
            "ImportError: DLL load failed: The specified module could not be found.",
            "OSError: [WinError 126] The specified module could not be found",
        ),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="windows-library-dll",
        pattern=r"(?:Could not find module|Failed to load(?: the native)?) '?(?P<library>[^'\n]{1,160}\.dll)|The code execution cannot proceed because (?P<library2>\S{1,80}\.dll)",
        cause="Windows does not load {library}: if the file is there, a DLL that it needs in turn is missing (CUDA's cudart64, cublas64, cusparse64 of exactly that release; the Visual C++ runtime), since the message is the same for both",
        remedy="See whether the file exists. If it does: the tool Dependencies (github.com/lucasg/Dependencies), opened on it, shows what is missing; a number in its name (cuda122) is the CUDA release that has to be there: import torch of that CUDA first, or os.add_dll_directory(FOLDER). If it does not: the package has no build for Windows or for this CUDA in this release: upgrade it. Also install the Visual C++ Redistributable (x64)",
        checks=("missing-libraries",),
        says=(
            "FileNotFoundError: Could not find module 'C:\\env\\lib\\foo.dll' (or one of its dependencies). Try using the full path with constructor syntax.",
        ),
        sources=("Python 3.14, ctypes/__init__.py, 2026-11-26",),
        likely=True,
        general=True,
    ),
    KnownError(
        id="windows-extension-initialisation",
        pattern=rf"DLL load failed while importing (?P<module>[\w.]{{1,60}}): ({NOT_STARTED})",
        cause="A DLL of {module} does not start: mostly an older Visual C++ runtime was loaded before it (onnx 1.16.2 and newer, torch 2.4 and newer need "
        "a new one), or two packages bring their own",
        remedy="Install the newest Microsoft Visual C++ Redistributable (x64) and restart; import torch before the others; for onnx, another release",
        checks=("missing-libraries",),
        says=(
            "ImportError: DLL load failed while importing onnx_cpp2py_export: A dynamic link library (DLL) initialization routine failed.",
        ),
        sources=(thread("vuer-ai/feature-splatting", 3),),
        likely=True,
    ),
    KnownError(
        id="windows-extension-procedure",
        pattern=rf"DLL load failed while importing (?P<module>[\w.]{{1,60}}): ({NO_PROCEDURE})"
        rf"|DLL load failed: ({NO_PROCEDURE})|The procedure entry point \S{{1,200}} could not be located",
        cause="{module} was built for other releases of the DLLs that it uses than those that are found: another torch, Python or CUDA",
        remedy="Install {module} for exactly this torch, CUDA and Python; see that no other folder on PATH has DLLs of the same names",
        checks=("extension-abi", "companion-mismatch"),
        says=(
            "ImportError: DLL load failed while importing libtriton: The specified procedure could not be found.",
            "ImportError: DLL load failed while importing _C: 找不到指定的程序。",
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="mac-library-not-loaded",
        pattern=r"Library not loaded: (@rpath/)?(?P<library>[\w./+-]{1,120}\.dylib)|symbol not found in flat namespace '?(?P<library2>_\w{1,120})",
        cause="macOS does not find {library}, which the module needs: it was built for another torch, or a library of Homebrew or conda was removed or renamed",
        remedy="Install the package that raises it again, for this torch; libomp: brew install libomp; libjpeg and libpng: brew install jpeg libpng",
        checks=("extension-abi", "companion-mismatch"),
        says=(
            "ImportError: dlopen(/venv/lib/python3.10/site-packages/torchvision/image.so, 0x0006): Library not loaded: @rpath/libjpeg.9.dylib",
            "ImportError: dlopen(_C.so, 0x0002): symbol not found in flat namespace '__ZN2at4_ops10zeros_like4call'",
        ),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="preload-ignored",
        pattern=r"object '(?P<library>[^'\n]{1,200})' from (?P<place>LD_PRELOAD|/etc/ld\.so\.preload) cannot be preloaded",
        cause="{place} names {library}, which the system's loader cannot open: every program says so when it starts, and goes on without it",
        remedy="Install that library (Debian and Ubuntu: libjemalloc2, libtcmalloc-minimal4), name it by its full path (ldconfig -p | grep NAME), or take it out of {place}; a script that reads what a program prints may choke on the line",
        checks=("preloaded-libraries",),
        says=(
            "ERROR: ld.so: object '/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4' from LD_PRELOAD cannot be preloaded (cannot open shared object file): ignored.",
            "ERROR: ld.so: object '/' from LD_PRELOAD cannot be preloaded (cannot read file data): ignored.",
        ),
        sources=(
            thread("pytorch/pytorch", 180983, "2026-04-21"),
            thread("pytorch/xla", 3669, "2022-06-28"),
            thread("mit-han-lab/temporal-shift-module", 207, "2021-11-20"),
        ),
        level="warning",
    ),
)
