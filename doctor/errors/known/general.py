"""Rules for names that no list has: any module, requirement, program, symbol and library. They are tried last, and give way to every other cause."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_installing import NO_FILE_TO_INSTALL
from torchlift.doctor.errors.known.causes_of_loading import LIBRARY_NOT_FOUND, MODULE_NOT_FOUND
from torchlift.doctor.errors.known.causes_of_running import TORCH_ASSERTS
from torchlift.doctor.errors.known_error import UNREAD, KnownError, thread, torch_file

_SYMBOLS = (
    ("setupterm|tgetent|tgetnum|tgetflag|tigetnum|tparm|tputs|cur_term|del_curterm|set_curterm", "terminfo of ncurses"),
    ("compress|uncompress|inflate|deflate|crc32|adler32|gzopen|gzread|zlib", "zlib"),
    ("ffi_", "libffi"),
    ("ZSTD_", "zstd"),
    ("lzma_", "liblzma"),
    ("BZ2_", "bzip2"),
    ("SSL_|EVP_|CRYPTO_|OPENSSL_|X509_|BIO_", "OpenSSL"),
    ("cblas_|sgemm_|dgemm_|cgemm_|zgemm_|sgemv_|dgemv_|ddot_|sdot_", "BLAS (OpenBLAS or MKL)"),
    ("LAPACKE_|sgesv|dgesv|sgesdd|dgesdd|spotrf|dpotrf|dgetrf|sgetrf", "LAPACK (OpenBLAS or MKL)"),
    (
        "gsm_|Wavpack|FLAC__|ogg_|vorbis_|opus_|lame_|sox_|mad_|mpg123_|lsx_",
        "one of libsox, gsm, wavpack, FLAC, ogg and lame",
    ),
    ("av_|avcodec_|avformat_|sws_|swr_", "FFmpeg"),
    ("jpeg_|tj3|tjDecompress", "libjpeg-turbo"),
    ("png_", "libpng"),
    ("TIFF", "libtiff"),
    ("ibv_|mlx5dv_", "rdma-core (libibverbs)"),
    ("numa_", "libnuma"),
    ("io_setup|io_submit|io_getevents|io_destroy", "libaio"),
    ("H5", "HDF5"),
    ("sqlite3_", "SQLite"),
    ("curl_", "libcurl"),
    ("shm_open|shm_unlink|timer_create|clock_gettime", "librt of the C library"),
    ("pthread_", "libpthread of the C library"),
    ("dlopen|dlsym|dlclose", "libdl of the C library"),
    ("gl[A-Z]", "OpenGL"),
    ("_ZN4llvm|LLVM", "LLVM"),
    ("_ZN6google8protobuf|_ZNK6google8protobuf", "protobuf"),
    ("_ZN2cv|_ZNK2cv", "OpenCV"),
    ("_ZN3fmt", "fmt"),
    ("_ZN6google", "glog or gflags"),
    ("_ZN5arrow|_ZNK5arrow", "Arrow"),
    ("_ZN8nvinfer1|createInferBuilder", "TensorRT"),
)
"""First letters of symbols, and the library that defines them.

Found by `nm -D` in the libraries of Debian 12, and for BLAS and LAPACK in the OpenBLAS of numpy's wheel, 2026-11-23: ncurses to libjpeg's
`jpeg_`, libpng, libtiff, libnuma, SQLite, libcurl, the C library, LLVM. Not looked at, from knowledge of their headers: `SSL_`, `tj...`, FFmpeg,
rdma-core, libaio, HDF5, OpenGL, protobuf, OpenCV, fmt, glog, Arrow, TensorRT; answers say that these are likely.
"""
_PREFIXES = tuple((prefix, library) for prefixes, library in _SYMBOLS for prefix in prefixes.split("|"))
_WITHOUT_CLASS = "".join(chr(code) for code in range(ord("A"), ord("Z") + 1))
_TERMS = tuple(
    (prefix.replace("[A-Z]", letter), library)
    for prefix, library in _PREFIXES
    for letter in (_WITHOUT_CLASS if "[A-Z]" in prefix else ("",))
)
_PROGRAMS = "git|git-lfs|docker|docker-compose|podman|ninja|cmake|make|gmake|meson|cargo|rustc|go|node|npm|yarn|java|nvidia-smi|nvcc|ptxas|cuobjdump|rocm-smi|rocminfo|conda|mamba|uv|pip|python|python3|gcc|g\\+\\+|clang|clang\\+\\+|ld|lld|ldconfig|/sbin/ldconfig|wget|curl|unzip|tar|ffmpeg|ffprobe|sox|aria2c|torchrun|deepspeed|accelerate|mpirun|mpiexec|srun|sbatch|ray|tensorboard|hostname|lspci|numactl|patchelf|pkg-config|swig|protoc|bazel|bazelisk|colmap|blender|xvfb-run|dot|tesseract|espeak|espeak-ng|pdftoppm|where|which|cl|cl\\.exe|powershell"

ROWS = (
    KnownError(
        id="any-requirement",
        causes=NO_FILE_TO_INSTALL,
        pattern=r"(No matching distribution found for|Could not find a version that satisfies the requirement|Could not find any version that matches) (?P<package>[\w.-]{1,80})"
        r"|Because (there (is|are) no versions? of |only (the following versions of )?)(?P<package2>[\w.-]{1,80})|Because (?P<package3>[\w.-]{1,80}) was not found in the package registry"
        r"|Distribution `(?P<package4>[\w.-]{1,80})[^`\n]{0,200}` can't be installed because",
        cause="The index that was asked has no file of {package} that fits what was asked for, this Python and this system; `from versions:` shows what is there",
        remedy="Ask what there is for this Python, and compare with the files on https://pypi.org/project/{package}",
        command="python -m pip index versions {package}",
        checks=("python-version", "python-platform", "glibc-too-old"),
        says=(
            "ERROR: Could not find a version that satisfies the requirement tensorflow==1.15 (from versions: 2.12.0)",
            "No matching distribution found for gradio==3.23",
        ),
        sources=(thread("AUTOMATIC1111/stable-diffusion-webui", 8896), "pip 23.2.1, pip/_internal, read 2026-11-23"),
        likely=True,
        general=True,
    ),
    KnownError(
        id="any-submodule",
        pattern=r"No module named '(?P<package>[A-Za-z_]\w{0,50})\.(?P<module>[\w.]{1,80})'(?! ?; '[\w.]{1,80}' is not a package)",
        cause="Python found something named {package}, and it has no {module}: {package} is installed in another release than the code was written for, only a part of it was installed or built, or a folder or file of that name is taken for it (a clone in the folder from which the program was started, a module of the program's own)",
        remedy="The command says which {package} it is and where. In site-packages: install the release that the code names (pip index versions {package}; parts may be extras, {package}[all], or packages of their own). A folder of the program's: start from another folder, or install the clone (pip install --no-build-isolation -e .); while pip builds: the package cannot be built from PyPI, take its repository",
        command='python -c \'import {package}; print({package}.__file__, {package}.__path__, getattr({package}, "__version__", ""))\'',
        says=(
            "ModuleNotFoundError: No module named 'openfold.model'",
            "ModuleNotFoundError: No module named 'fbgemm_gpu.split_table_batched_embeddings_ops'",
        ),
        sources=(
            thread("aqlaboratory/openfold", 395, "2024-05-22"),
            thread("pytorch/FBGEMM", 1151, "2022-06-09"),
            thread("aqlaboratory/openfold", 329, "2023-06-18"),
        ),
        likely=True,
        general=True,
    ),
    KnownError(
        id="any-module",
        causes=MODULE_NOT_FOUND,
        pattern=r"No module named '?(?P<module>\w[\w.-]{0,80})'?",
        cause="The Python that runs finds no module {module}",
        remedy="See which Python runs, and whether a package of it is installed there: python -m pip show {module}",
        command="python -c 'import sys; print(sys.executable, sys.path)'",
        says=("ModuleNotFoundError: No module named 'transformers'", "ModuleNotFoundError: No module named 'utils'"),
        sources=(thread("facebookresearch/fairseq", 5270), thread("ultralytics/yolov5", 12203)),
        general=True,
    ),
    KnownError(
        id="any-program",
        pattern=r"(?P<program>[\w.+/-]{1,120}): command not found|command not found: (?P<program2>[\w.+/-]{1,120})|\b(ba|da|z)?sh: (line )?\d{1,6}: (?P<program3>[\w.+/-]{1,120}): not found"
        r"|'(?P<program4>[^'\n]{1,120})' is not recognized as an internal or external command|(?P<program8>[\w.+/-]{1,120}) ?: The term '\S{1,120}' is not recognized"
        r"|'?(?P<program10>[\w.+/-]{1,60})'? (?:n.est pas reconnu en tant que commande interne|no se reconoce como un comando interno|não é reconhecido como um comando interno|konnte nicht gefunden werden)|(?:Befehl|Command) \"(?P<program11>[\w.+/-]{1,60})\" ist entweder falsch geschrieben"
        r"|unable to execute '(?P<program5>[^'\n]{1,200})': No such file"
        rf"|FileNotFoundError: \[(Errno|WinError) 2\][^\n]{{0,60}}: '(?P<program6>{_PROGRAMS})'|No such file or directory: '(?P<program7>/([\w./-]{{1,120}}/)?bin/[\w.+-]{{1,60}})'"
        r'|exec: \\?"(?P<program9>[\w.+/-]{1,120})\\?": executable file not found',
        cause="The program {program} is not installed, or not in a folder that PATH names",
        remedy="Install it (a program of Python: python -m pip install its package, in the environment that runs; others: the system's packages or conda-forge), activate its environment, or put its folder on PATH; in a "
        "container it has to be in the image",
        says=(
            "/bin/sh: 1: docker: not found",
            "FileNotFoundError: [Errno 2] No such file or directory: 'git'",
            "'ns-train' is not recognized as an internal or external command",
            "bash: torchrun: command not found",
        ),
        sources=(UNREAD,),
        general=True,
    ),
    KnownError(
        id="symbol-of-system",
        pattern=rf"undefined symbol: (?P<symbol>(?P<term>{'|'.join(prefix for prefix, _ in _PREFIXES)})\w{{0,120}})",
        cause="{symbol} is of {meaning}: the library that is named before it was built without linking it, or another release of it was loaded first",
        remedy="Upgrade the package whose library is named, or install its build for this system; a folder on LD_LIBRARY_PATH or of conda may hold an older {meaning}: ldd FILE shows which is loaded. To see that it is this: "
        "LD_PRELOAD=PATH_OF_THAT_LIBRARY before the program",
        terms=_TERMS,
        checks=("library-path", "preloaded-libraries"),
        says=(
            "ImportError: triton/_C/libtriton.so: undefined symbol: setupterm",
            "ImportError: libtriton.so: undefined symbol: compress2",
            "ImportError: /lib/x86_64-linux-gnu/libp11-kit.so.0: undefined symbol: ffi_type_pointer, version LIBFFI_BASE_7.0",
        ),
        sources=(thread("triton-lang/triton", 42),),
        likely=True,
        general=True,
    ),
    KnownError(
        id="symbol-of-its-own",
        pattern=r"undefined symbol: '?(?P<symbol>_Z(?:T[ISV])?\d{1,3}(?!THP|THCP|THNP)\w{1,200})",
        cause="The function {owner} is one of the package's own, and is in none of its compiled parts: they are of two releases, or were built without that part (for other GPUs or another CUDA, or in a folder with the "
        "leavings of an earlier build)",
        remedy="Uninstall the package until pip knows none, delete the folder that stays, and install its wheel for this torch, CUDA and GPU; from source: a clean clone (git clean -xfd; submodules updated), TORCH_CUDA_ARCH_LIST with this GPU, "
        "then pip install --no-build-isolation --no-cache-dir . in it",
        checks=("extension-architecture", "toolkit-mismatch"),
        says=(
            "ImportError: vllm/_C.abi3.so: undefined symbol: _Z20cutlass_moe_mm_sm100RN2at6TensorERKS0_S3_S3_S3_S3_S3_S3_S3_S3_bb",
        ),
        sources=(thread("vllm-project/vllm", 28199), "Itanium C++ ABI, 5.1, read 2026-11-26"),
        likely=True,
        general=True,
    ),
    KnownError(
        id="symbol-of-namespace",
        pattern=r"undefined symbol: '?(?P<symbol>_Z(?:T[ISV])?N[VK]?\d{1,3}\w{1,200})",
        cause="A C++ name of {owner} ({symbol}) is in no library that is loaded: the file that is named before it and the library of {owner} are of different releases, or one was built with another C++ ABI (Ss in the name is the old std::string, cxx11 the new one)",
        remedy="If {owner} is the package itself, its parts are mixed: uninstall it until pip knows none, delete its folder, build folders and ~/.cache/torch_extensions, and install it anew, all parts in one release, for this torch. If it is another library, install both from one "
        "source (all from conda-forge, or all wheels); ldd FILE shows which copy is loaded",
        command="c++filt {symbol}",
        checks=("library-path", "preloaded-libraries", "extension-abi"),
        says=(
            "OSError: libtransformer_engine.so: undefined symbol: _ZN18transformer_engine9to_stringERK15NVTEScalingMode",
            "undefined symbol: _ZN21PageAlignedMemoryPool5debugEv",
        ),
        sources=(
            thread("NVIDIA/TransformerEngine", 756, "2024-04-09"),
            thread("NVIDIA/TransformerEngine", 2504, "2025-12-11"),
            thread("kvcache-ai/ktransformers", 1066, "2025-04-07"),
            "Itanium C++ ABI, 5.1, read 2026-11-26",
        ),
        likely=True,
        general=True,
    ),
    KnownError(
        id="any-symbol",
        pattern=r"(undefined symbol|symbol lookup error): '?(?P<symbol>[A-Za-z_][\w:~]{1,160})",
        cause="No library that is loaded has {symbol}: the library that is named before it was built with another release of a library that it uses, or without linking it",
        remedy="Install the package whose library is named for this environment again, or build it here; c++filt {symbol} gives the name as written (its first part names the library), ldd FILE what is loaded, and "
        "nm -D --defined-only LIBRARY what a library has",
        command="c++filt {symbol}",
        checks=("library-path", "preloaded-libraries"),
        says=("ImportError: mylib.so: undefined symbol: my_function_v2",),
        sources=(UNREAD,),
        likely=True,
        general=True,
    ),
    KnownError(
        id="any-library",
        causes=LIBRARY_NOT_FOUND,
        pattern=r"\b(?!libtpu)(?P<library>\w[\w.+-]{0,80}\. ?so[\d.]{0,20}) ?: cannot open shared object|Library not loaded: (?P<library2>[\w@./+-]{1,160})|Could not load (dynamic )?library '?(?P<library3>[\w./+-]{1,120})",
        cause="The loader does not find the library {library}",
        remedy="See whether it is on this machine at all: find / -name '{library}*' 2>/dev/null",
        checks=("library-path", "missing-libraries"),
        says=("ImportError: libpq.so.5: cannot open shared object file: No such file or directory",),
        sources=(UNREAD, "man 8 ld.so, read 2026-11-21"),
        likely=True,
        general=True,
    ),
    KnownError(
        id="any-torch-assertion",
        causes=TORCH_ASSERTS,
        pattern=r"(?:INTERNAL )?ASSERT FAILED at \"?(?P<file>[^\s\",]{1,160})[^\n]{0,80}(?:please report a bug to PyTorch)?|please report a bug to PyTorch",
        cause="torch found itself in a state that it holds to be impossible, in {file}; it is a defect of this torch with this program, or comes after another error",
        remedy="Look for an earlier error above it; the file names the part",
        says=(
            'RuntimeError: 0INTERNAL ASSERT FAILED at "../torch/csrc/jit/ir/alias_analysis.cpp":615, please report a bug to PyTorch.',
        ),
        sources=(
            thread("pytorch/pytorch", 16218, "2019-01-21"),
            "the wording as programs print it; no thread was read for it, 2026-11-26",
        ),
        likely=True,
        general=True,
    ),
    KnownError(
        id="binding-arguments",
        pattern=r"incompatible (?:constructor|function) arguments\. The following argument types are supported|Unable to cast Python instance of type|Unable to cast from non-held to held instance",
        cause="A compiled part got other arguments than its functions take: the Python side of the package and its compiled side, or the caller and the package, are of different releases",
        remedy="Install the package and the one that calls it in releases that belong together (python -m pip check); for one built from source: remove its build folder and build again (pip install --no-build-isolation --force-reinstall --no-deps .). The list below the message shows what it takes",
        command="python -m pip check",
        says=("TypeError: forward(): incompatible function arguments. The following argument types are supported:",),
        sources=("the wording as programs print it; no thread was read for it, 2026-11-26",),
        likely=True,
        general=True,
    ),
    KnownError(
        id="deprecation-remark",
        pattern=r"(?:User|Future|Deprecation|PendingDeprecation)Warning: [^\n]{0,200}(?:deprecated|will be (?:removed|an error)|is going to be removed)",
        cause="A remark that something will go or change in a later release. The program went on; it is not why anything failed",
        remedy="Look further for the error, if there was one. The path in front of the line says whose call it is: in a package, upgrade it; in the program, `torchlift migrate --check` shows what of torch's was removed in which release, and mends what it can",
        command="torchlift migrate --check",
        says=(
            "site-packages/torch/distributed/distributed_c10d.py:859: UserWarning: `_get_pg_default_device` will be deprecated, it only stays for backward-compatiblity reason.",
        ),
        sources=(thread("meta-pytorch/torchrec", 3114, "2026-11-26"),),
        level="warning",
        general=True,
    ),
    KnownError(
        id="operator-without-backend",
        pattern=r"Could not run '(?P<operator>[\w:.]{1,100})' with arguments from the '(?P<backend>\w{1,40})' backend",
        cause="The operator {operator} has no kernel for {backend}: the package that brings it was built without that device (a CPU build, no compiled part), it exists only for the other device, or for SparseCPU, Meta and Quantized: there is none for such tensors",
        remedy="Import the package and see whether its compiled part loads; install its build for this torch and CUDA; else move the tensors to the device that the list below the message names, or .to_dense() and dequantize() them first",
        checks=("extension-abi", "torch-cpu-build"),
        says=("NotImplementedError: Could not run 'cadence::quantized_conv' with arguments from the 'CPU' backend.",),
        sources=(thread("pytorch/executorch", 5508, "2024-09-24"), torch_file("torch/lib/libtorch_cpu.so")),
        likely=True,
        general=True,
    ),
    KnownError(
        id="load-library-failed",
        pattern=r"Could not load (?:this library: |the library ')(?P<library>[^\s']{1,200})",
        cause="torch.ops.load_library could not open {library}; the OSError above it says why: a library that it needs is missing, or it was built for another torch, CUDA or Python",
        remedy="python -c 'import torch, ctypes; ctypes.CDLL(\"{library}\")' says the reason in one line (undefined symbol: built for another torch; cannot open shared object: a library is missing); install the build of that package for this torch and CUDA",
        command="python -c 'import torch, ctypes; ctypes.CDLL(\"{library}\")'",
        checks=("extension-abi", "missing-libraries"),
        says=(
            "OSError: Could not load this library: /env/lib/python3.13/site-packages/fbgemm_gpu/fbgemm_gpu_experimental_gen_ai.so",
        ),
        sources=(thread("pytorch/FBGEMM", 4754, "2025-11-15"), torch_file("torch/_ops.py")),
        level="vague",
    ),
)
