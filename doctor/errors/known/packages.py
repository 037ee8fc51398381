"""Packages that do not belong together."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_devices import NO_SUCH_INSTRUCTION
from torchlift.doctor.errors.known.causes_of_files import NUMPY_TWO
from torchlift.doctor.errors.known.causes_of_installing import OTHER_TORCHVISION
from torchlift.doctor.errors.known.causes_of_loading import OTHER_TORCH, TORCH_NOT_HERE
from torchlift.doctor.errors.known.causes_of_platforms import OLD_STDCXX, XFORMERS
from torchlift.doctor.errors.known.more_causes import BITSANDBYTES
from torchlift.doctor.errors.known_error import UNREAD, KnownError, thread, torch_file
from torchlift.doctor.errors.name_history import CAUSES, read_name

ROWS = (
    KnownError(
        id="companion-cuda-mismatch",
        pattern=r"Detected that PyTorch and (torchvision|torchaudio|TorchAudio) (were|was) compiled with different CUDA"
        r"|PyTorch has CUDA [Vv]ersion.{0,40}(torchvision|TorchAudio|torchaudio) has CUDA [Vv]ersion",
        cause="torch and its companion are builds for different CUDA versions",
        remedy="Install torch, torchvision and torchaudio together, from one index",
        checks=("companion-mismatch",),
        says=(
            "RuntimeError: Detected that PyTorch and torchvision were compiled with different CUDA major versions. PyTorch "
            "has CUDA Version=12.1 and torchvision has CUDA Version=11.8. Please reinstall the torchvision that matches your "
            "PyTorch install.",
            "RuntimeError: Detected that PyTorch and TorchAudio were compiled with different CUDA versions. PyTorch has CUDA "
            "version 12.8 whereas TorchAudio has CUDA version 12.6.",
        ),
        sources=(
            thread("m-bain/whisperX", 320, "2023-06-12"),
            thread("mathmanu/edgeai-torchvision", 18, "2023-08-11"),
        ),
        wheel=True,
    ),
    KnownError(
        id="torchvision-mismatch",
        causes=OTHER_TORCHVISION,
        pattern=r"(operator|No such operator) torchvision::\w{1,40}|module 'torchvision' has no attribute 'extension'"
        r"|Couldn't load custom C\+\+ ops|Could not run 'torchvision::\w{1,40}' with arguments from the 'CUDA' backend"
        r"|module 'torch\.library' has no attribute '(register_fake|impl_abstract)'",
        cause="torchvision's compiled part was not loaded: it was built for another torch, or nothing asked for it",
        remedy="See both releases and where they lie",
        command="python -c 'import torch, torchvision; print(torch.__version__, torchvision.__version__, torchvision.__file__)'",
        checks=("companion-mismatch",),
        says=(
            "RuntimeError: operator torchvision::nms does not exist",
            "AttributeError: partially initialized module 'torchvision' has no attribute 'extension' (most likely due to a "
            "circular import)",
            "RuntimeError: Couldn't load custom C++ ops. This can happen if your PyTorch and torchvision versions are "
            "incompatible, or if you had errors while compiling torchvision from source.",
            "NotImplementedError: Could not run 'torchvision::nms' with arguments from the 'CUDA' backend.",
        ),
        sources=(
            thread("pytorch/pytorch", 157648, "2025-07-04"),
            thread("unslothai/unsloth", 1793, "2025-02-22"),
        ),
        wheel=True,
    ),
    KnownError(
        id="companion-requirement",
        pattern=r"torch(vision|audio|text)? \S{1,40} requires torch==\S{1,40}, but you have torch \S{1,40} which is "
        r"incompatible|has requirement torch==\S{1,40}, but you'll have torch \S{1,40} which is|The conflict is caused by:.{0,200}depends on torch",
        cause="pip replaced torch by a release that an installed companion was not built for",
        remedy="Install torch and its companions in one command, from one index",
        checks=("companion-mismatch",),
        says=(
            "torchvision 0.20.1 requires torch==2.5.1, but you have torch 2.6.0 which is incompatible.",
            "torchaudio 2.5.1+cu124 requires torch==2.5.1, but you have torch 2.7.0 which is incompatible.",
        ),
        sources=(
            thread("2kpr/ComfyUI-PMRF", 11, "2024-10-31"),
            thread("Lightning-AI/pytorch-lightning", 739, "2020-01-23"),
        ),
        wheel=True,
    ),
    KnownError(
        id="functional-tensor-removed",
        pattern=r"No module named 'torchvision\.transforms\.functional_tensor'",
        cause="torchvision 0.17 made the module functional_tensor private, and an installed package still imports it (basicsr, "
        "pytorchvideo)",
        remedy="Replace the import by torchvision.transforms.functional in that package, or install a torchvision before 0.17 "
        "with its torch",
        checks=("companion-mismatch",),
        says=("ModuleNotFoundError: No module named 'torchvision.transforms.functional_tensor'",),
        sources=(thread("XPixelGroup/BasicSR", 663, "2024-03-12"), thread("pytorch/vision", 7269, "2023-02-16")),
    ),
    KnownError(
        id="wheel-families-mixed",
        pattern=r"undefined symbol: nccl\w{1,60}",
        cause="NVIDIA libraries of two CUDA major versions overwrote each other's files (cu12 and cu13 share the path "
        "nvidia/nccl/lib), or another NCCL was loaded first (pytorch#186591)",
        remedy="Uninstall both families of nvidia-* packages and torch, then install torch again",
        checks=("two-nvidia-families", "nvidia-pins", "library-path", "preloaded-libraries"),
        says=(
            "ImportError: /usr/local/lib/python3.12/dist-packages/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommShrink",
        ),
        sources=(thread("pytorch/pytorch", 186591),),
    ),
    KnownError(
        id="nvjitlink-symbol",
        pattern=r"symbol:? __nvJitLink\w{1,60}|nvJitLink\w{0,40} version.{0,80}not (found|defined)",
        cause="Another libnvJitLink than torch's is loaded first, mostly from a CUDA toolkit on LD_LIBRARY_PATH, and it is older",
        remedy="Take CUDA folders out of LD_LIBRARY_PATH and reinstall nvidia-nvjitlink in torch's version",
        command="unset LD_LIBRARY_PATH",
        checks=("library-path", "nvidia-pins", "missing-libraries"),
        says=(
            "ImportError: /usr/local/lib/python3.10/dist-packages/torch/lib/../../nvidia/cusparse/lib/libcusparse.so.12: "
            "undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12",
            "ImportError: libcusparse.so.12: symbol __nvJitLinkComplete_12_4, version libnvJitLink.so.12 not defined in file "
            "libnvJitLink.so.12 with link time reference",
        ),
        sources=(thread("pytorch/pytorch", 131312, "2024-07-22"), thread("pytorch/pytorch", 111469, "2023-10-21")),
    ),
    KnownError(
        id="mkl-mismatch",
        pattern=r"undefined symbol: iJIT_\w{1,40}",
        cause="conda installed MKL 2024.1 or newer, which lost a symbol that conda's builds of torch 2.2 and older link to",
        remedy="Pin MKL, or install torch with pip, which brings MKL inside",
        command="conda install mkl==2024.0",
        checks=("conda-pip-mix", "torch-import-fails"),
        says=("ImportError: libtorch_cpu.so: undefined symbol: iJIT_NotifyEvent",),
        sources=(thread("pytorch/pytorch", 123097), thread("Pointcept/Pointcept", 230, "2024-04-25")),
    ),
    KnownError(
        id="torch-files-mixed",
        pattern=r"torch/(_C\S{0,60}|lib/libtorch\w{0,20})\.so: undefined symbol: _Z",
        cause="torch's own libraries are of two releases: an installation was overwritten halfway, or another torch's folder comes "
        "first on LD_LIBRARY_PATH",
        remedy="Uninstall torch until pip and conda know none, delete what is left of its folder, and install it again",
        checks=("torch-version-files", "changed-files", "several-torch-copies", "library-path"),
        says=(
            "ImportError: /home/user/pytorch-env/lib/python2.7/site-packages/torch/_C.so: undefined symbol: "
            "_ZN4thpp10THCSTensorIlEC1EP8THCStateP14THCSLongTensor",
        ),
        sources=(thread("pytorch/pytorch", 2104, "2017-07-14"),),
    ),
    KnownError(
        id="cuda-libraries-mixed",
        pattern=r"symbol:? (cu|nccl|nvrtc)\w{1,60},? version lib\w{1,30}\.so\S{0,10} not defined in file",
        cause="Two versions of a CUDA library are loaded together, mostly because a toolkit's folder is on LD_LIBRARY_PATH",
        remedy="Take CUDA folders out of LD_LIBRARY_PATH, and install torch's CUDA packages in the versions that it asks for",
        command="unset LD_LIBRARY_PATH",
        checks=("library-path", "nvidia-pins", "conda-pip-mix"),
        says=(
            "OSError: /opt/conda/lib/python3.9/site-packages/torch/lib/../../../../libcublas.so.11: symbol "
            "cublasLtGetStatusString version libcublasLt.so.11 not defined in file libcublasLt.so.11 with link time reference",
        ),
        sources=(thread("aqlaboratory/openfold", 226, "2024-08-25"),),
    ),
    KnownError(
        id="extension-abi",
        causes=OTHER_TORCH,
        pattern=r"undefined symbol: _ZNK?\d{0,2}(St)?\d{0,2}(at|c10|torch|caffe2)|undefined symbol: _Z(?!\d{1,3}(?!TH[PCN]))N?K?\w{0,300}"
        r"(3c10|2at6Tensor|SymInt|5torch)|undefined symbol: (aoti_torch|torch_|THPVariable)\w{1,60}"
        r"|Symbol not found: __ZN\w{0,200}(3c10|2at|5torch)"
        r"|DLL load failed while importing (flash_attn\w{0,20}|_C|_C_flashattention|xformers\w{0,20}|selective_scan\w{0,20}"
        r"|causal_conv1d\w{0,20}|\w{1,30}_cuda\w{0,10}): The specified procedure could not be found",
        cause="The compiled file that is named asks for a C++ function of torch that the loaded torch does not have: it was built for another torch",
        remedy="Install the release (or wheel) of that package for this torch; one from source: build it again in its folder (pip install "
        "--no-build-isolation --no-deps --force-reinstall .); one built at its first use: delete that build (the folder in the message, or "
        "~/.cache/torch_extensions)",
        checks=("extension-abi", "companion-mismatch", "several-torch-copies", "user-site-torch", "pythonpath-torch"),
        says=(
            "ImportError: /opt/lib/python3.12/site-packages/flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so: undefined "
            "symbol: _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
            "ImportError: flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so: undefined symbol: _ZN3c104cuda9SetDeviceEi",
            "flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so: undefined symbol: "
            "_ZN2at4_ops5zeros4callEN3c108ArrayRefINS2_6SymIntEEENS2_8optionalINS2_10ScalarTypeEEE",
            "ImportError: DLL load failed while importing flash_attn_2_cuda: The specified procedure could not be found.",
        ),
        sources=(
            thread("Dao-AILab/flash-attention", 1832, "2025-08-21"),
            thread("Dao-AILab/flash-attention", 966, "2024-05-27"),
            thread("sgl-project/sglang", 851, "2024-07-31"),
        ),
    ),
    KnownError(
        id="libgl-missing",
        pattern=r"lib(GL|gthread-2\.0|glib-2\.0|SM|Xext|Xrender)\.so(\.\d{1,3}){1,2}: cannot open shared object",
        cause="OpenCV (cv2) needs a library of the desktop that this system does not have, as in slim containers",
        remedy="Install opencv-python-headless instead of opencv-python, or the system's library",
        command="sudo apt-get install -y libgl1 libglib2.0-0",
        says=("ImportError: libGL.so.1: cannot open shared object file: No such file or directory",),
        sources=(
            thread("amdegroot/ssd.pytorch", 525, "2020-11-06"),
            thread("PDFMathTranslate/PDFMathTranslate", 49, "2025-02-22"),
        ),
    ),
    KnownError(
        id="missing-library",
        pattern=r"lib(?!cudnn)\w{1,60}\.so(\.\d{1,4}){0,4}: cannot open shared object",
        cause="A library that torch was built with is not installed or not found",
        remedy="Reinstall torch with its dependencies (without --no-deps)",
        checks=("missing-libraries",),
        says=("ImportError: libfoo.so.2: cannot open shared object file: No such file or directory",),
        sources=("man 8 ld.so, read 2026-11-21",),
        smokes_only=True,
    ),
    KnownError(
        id="libstdcxx-too-old",
        causes=OLD_STDCXX,
        pattern=r"(GLIBCXX_3\.4\.\d{1,3}|CXXABI_1\.3\.\d{1,3})['\"]? (was )?not found",
        cause="A library or torch was built with a newer C++ library (libstdc++) than the one that is loaded",
        remedy="The message names the file that is too old (before `version`) and the one that asks (behind `required by`)",
        command="strings /usr/lib/x86_64-linux-gnu/libstdc++.so.6 | grep GLIBCXX_3.4 | tail -1; strings $CONDA_PREFIX/lib/libstdc++.so.6 | grep GLIBCXX_3.4 | tail -1",
        checks=("library-path", "conda-pip-mix", "preloaded-libraries", "glibc-too-old"),
        says=(
            "ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.30' not found (required by "
            "/opt/conda/lib/python3.10/site-packages/torch/lib/libtorch_python.so)",
            "ImportError: /lib64/libstdc++.so.6: version `CXXABI_1.3.9' not found",
        ),
        sources=(
            thread("pytorch/pytorch", 157709, "2025-07-07"),
            thread("pytorch/pytorch", 87279, "2022-10-19"),
            thread("pytorch/pytorch", 115138, "2023-12-05"),
            thread("mlverse/torch", 989, "2023-04-28"),
        ),
    ),
    KnownError(
        id="glibc-too-old",
        pattern=r"GLIBC_2\.\d{1,2}['\"]? (was )?not found",
        cause="The system's C library is older than the package was built for",
        remedy="Take a newer system or container image, or an older release of the package",
        checks=("glibc-too-old",),
        says=("ImportError: /lib64/libc.so.6: version `GLIBC_2.29' not found",),
        sources=(thread("ai4d-iasc/trixie", 97, "2024-05-13"),),
    ),
    KnownError(
        id="static-tls",
        pattern=r"cannot allocate memory in static TLS block",
        cause="On aarch64 a library with thread-local storage (libgomp) was loaded after the room for it was used up",
        remedy="Load the library first: put its path, which the message names, into LD_PRELOAD, or import torch before the others",
        checks=("preloaded-libraries",),
        says=("ImportError: /usr/lib/aarch64-linux-gnu/libgomp.so.1: cannot allocate memory in static TLS block",),
        sources=(
            thread("NVIDIA-AI-IOT/jetcard", 34, "2021-05-21"),
            thread("triton-inference-server/server", 4952, "2022-10-07"),
        ),
    ),
    KnownError(
        id="openmp-twice",
        pattern=r"OMP: Error #15|Initializing lib[io]omp5?\w{0,10}\.(dll|so|dylib), but found",
        cause="Two OpenMP runtimes are in one process, mostly MKL's of conda and that of a pip wheel",
        remedy="Install torch and numpy from one installer; KMP_DUPLICATE_LIB_OK=TRUE hides it and may give wrong results",
        checks=("conda-pip-mix",),
        says=("OMP: Error #15: Initializing libiomp5md.dll, but found libiomp5md.dll already initialized.",),
        sources=(
            thread("harry0703/MoneyPrinterTurbo", 90, "2024-03-28"),
            thread("HiLab-git/MIDeepSeg", 4, "2021-12-06"),
        ),
    ),
    KnownError(
        id="numpy-two",
        pattern=r"Numpy is not available|Could not infer dtype of numpy\.|expected np\.ndarray \(got numpy\.ndarray\)|Failed to initialize NumPy|compiled using NumPy 1\.x cannot be run in NumPy 2"
        r"|_ARRAY_API not found|<built-in function __import__> returned a result with an exception set",
        cause="torch (or another package) was built for NumPy 1 and NumPy 2 is installed, or there is no NumPy at all",
        remedy="See both releases first; the last File line above the message names the package",
        causes=NUMPY_TWO,
        command="python -c 'import numpy, torch; print(numpy.__version__, torch.__version__)'",
        checks=("extension-abi",),
        says=(
            "RuntimeError: Numpy is not available",
            "UserWarning: Failed to initialize NumPy: _ARRAY_API not found (Triggered internally at "
            "..\\torch\\csrc\\utils\\tensor_numpy.cpp:84.)",
            "A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.0.2 as it may crash.",
        ),
        sources=(
            thread("pytorch/pytorch", 107302, "2024-07-16"),
            thread("securefederatedai/openfederatedlearning", 999, "2024-07-09"),
        ),
    ),
    KnownError(
        id="illegal-instruction",
        causes=NO_SUCH_INSTRUCTION,
        pattern=r"Illegal instruction( \(core dumped\))?$|\bSIGILL\b|exitcode ?: -4\b"
        r"|killed by signal: Illegal instruction",
        cause="The processor met an instruction that it does not have",
        remedy="See what it has, and which library asks",
        command="grep -o -w 'avx\\|avx2\\|avx512f\\|fma' /proc/cpuinfo | sort -u; PYTHONFAULTHANDLER=1 python PROGRAM",
        checks=("python-platform",),
        says=("Illegal instruction (core dumped)",),
        sources=(
            thread("ZiwenZhuang/parkour", 16, "2023-12-09"),
            thread("pytorch/pytorch", 2714, "2023-01-27"),
            thread("pytorch/pytorch", 12112, "2019-05-11"),
        ),
        likely=True,
    ),
    KnownError(
        id="torch-file-in-the-way",
        pattern=r"partially initialized module 'torch' (has no attribute|from)|Failed to load PyTorch C extensions"
        r"|cannot import name '\w{1,60}' from partially initialized module 'torch",
        cause="Something else than the installed torch is imported as torch: a file torch.py or a folder torch beside the "
        "script, or the sources of PyTorch as working folder",
        remedy="Rename that file, or start from another folder",
        checks=("pythonpath-torch", "several-torch-copies"),
        says=(
            "AttributeError: partially initialized module 'torch' has no attribute 'cuda' (most likely due to a circular import)",
            "ImportError: Failed to load PyTorch C extensions:",
        ),
        sources=(torch_file("torch/__init__.py"),),
    ),
    KnownError(
        id="isolated-build-torch",
        pattern=r"No module named '?torch'?(?![\w.-])[^\0]{0,600}(did not run successfully|subprocess-exited-with-error|get_requires_for_build|[Bb]uild backend)"
        r"|(did not run successfully|subprocess-exited-with-error|get_requires_for_build|[Bb]uild backend returned)[^\0]{0,1500}No module named '?torch'?(?![\w.-])"
        r"|No module named 'torch'.{0,400}(build_wheel|egg_info)|Please install torch before installing|(PyTorch|pytorch|torch) (needs|has) to be installed (first|before)",
        cause="The package's setup imports torch, and pip builds it in an environment of its own that has none",
        remedy="Install torch first, then build the package in this environment",
        command="pip install --no-build-isolation PACKAGE",
        checks=("torch-missing",),
        says=("RuntimeError: PyTorch needs to be installed first",),
        sources=(UNREAD,),
    ),
    KnownError(
        id="torch-not-installed",
        causes=TORCH_NOT_HERE,
        pattern=r"No module named '?torch'?(?![\w.-])|PyTorch was not found\b|PackageNotFoundError: .{0,40}\btorch\b",
        cause="The Python that runs has no torch",
        remedy="See which Python it is, and whether torch is in it",
        command="python -c 'import sys; print(sys.executable)'; python -m pip show torch",
        checks=("torch-missing", "several-torch-copies"),
        says=(
            "ModuleNotFoundError: No module named 'torch'",
            "None of PyTorch, TensorFlow >= 2.0, or Flax have been found. PyTorch was not found",
        ),
        sources=(
            thread("ModelCloud/GPTQModel", 1528, "2025-04-10"),
            thread("pytorch/vision", 7510, "2023-04-12"),
            thread("exo-explore/exo", 521, "2024-12-03"),
            thread("huggingface/transformers", 11996, "2021-06-02"),
            thread("Dao-AILab/flash-attention", 253, "2023-05-31"),
        ),
        wheel=True,
    ),
    KnownError(
        id="companion-not-installed",
        pattern=r"No module named '?(torchvision|torchaudio|torchtext|torchcodec)'?(?![\w.])",
        cause="A companion of torch is not installed",
        remedy="Install it together with torch, from the same index, so that the two fit",
        checks=("companion-mismatch",),
        says=("ModuleNotFoundError: No module named 'torchvision'",),
        sources=(thread("pytorch/pytorch", 12525, "2018-10-10"), thread("pytorch/pytorch", 4697, "2018-01-17")),
        wheel=True,
    ),
    KnownError(
        id="torchcodec",
        pattern=r"TorchCodec is required for|requires [Tt]orch[Cc]odec|Could not load libtorchcodec|torchcodec is not installed"
        r"|To support (decoding|encoding) audio data, please install 'torchcodec'|'torchcodec_ns::\w{1,60}' with arguments",
        cause="torchaudio 2.9 and datasets 4 read audio with TorchCodec, which is missing, was built for another torch, or finds "
        "no FFmpeg",
        remedy="Install the torchcodec that belongs to this torch, and FFmpeg 4 to 8",
        command="pip install torchcodec",
        checks=("companion-mismatch", "missing-libraries"),
        says=(
            "ImportError: TorchCodec is required for load_with_torchcodec. Please install torchcodec to use this function.",
            "RuntimeError: Could not load libtorchcodec. Likely causes:",
        ),
        sources=(thread("meta-pytorch/torchcodec", 1143, "2025-12-19"), thread("ace-step/ACE-Step-1.5", 685)),
    ),
    KnownError(
        id="name-not-in-this-torch",
        pattern=r"cannot import name '\w{1,80}' from 'torch(\.[\w.]{1,80})?'(?! \(unknown)|cannot import name '\w{1,80}' from 'torch\.[\w.]{1,80}' \(unknown|module 'torch(\.[\w.]{1,80})?' has no attribute"
        r" '(?!__version__|__file__|__path__)\w{1,80}['`]|No module named 'torch\.[\w.]{1,80}'|No module named 'torch\._six'",
        cause="The installed torch does not have that name",
        remedy="See which torch runs, and who asks: the last File lines of the traceback",
        command="python -c 'import torch; print(torch.__version__, torch.__file__)'",
        causes=CAUSES,
        reads=read_name,
        checks=("several-torch-copies", "companion-mismatch", "jetson-wheel"),
        says=(
            "ModuleNotFoundError: No module named 'torch._six'",
            "AttributeError: module 'torch' has no attribute 'float8_e4m3fn'",
            "ImportError: cannot import name 'container_abcs' from 'torch._six' (unknown location)",
            "AttributeError: module 'torch.distributed' has no attribute 'device_mesh'",
        ),
        sources=("torchlift's table of torch 2.0 to 2.15, scripts/api_table.py, 2026-11-21",),
        likely=True,
    ),
    KnownError(
        id="torch-too-old-for-package",
        pattern=r"PyTorch >= ?\d\.\d{1,2} is required but found|require users to upgrade torch to at least v2\.6"
        r"|requires (PyTorch|torch) ?>= ?\d\.\d{1,2}|Disabling PyTorch because PyTorch",
        cause="An installed package needs a newer torch than this one",
        remedy="Upgrade torch, with its companions",
        checks=("torch-cpu-build",),
        says=(
            "Disabling PyTorch because PyTorch >= 2.4 is required but found 2.1.0",
            "ValueError: Due to a serious vulnerability issue in `torch.load`, even with `weights_only=True`, we now require "
            "users to upgrade torch to at least v2.6 in order to use the function.",
        ),
        sources=("transformers 5.23.0, utils/import_utils.py, read 2026-11-23",),
        wheel=True,
    ),
    KnownError(
        id="xformers-mismatch",
        causes=XFORMERS,
        pattern=r"xFormers can't load C\+\+/CUDA extensions|xFormers wasn't build with CUDA support"
        r"|No operator found for .{0,10}memory_efficient_attention_(forward|backward)",
        cause="None of xFormers' kernels can be used",
        remedy="The lines `is not supported because` and python -m xformers.info say which of these it is",
        command="python -m xformers.info",
        checks=(
            "companion-mismatch",
            "extension-abi",
            "extension-architecture",
            "torch-cpu-build",
            "torch-other-vendor",
        ),
        says=(
            "WARNING[XFORMERS]: xFormers can't load C++/CUDA extensions. xFormers was built for:",
            "NotImplementedError: No operator found for `memory_efficient_attention_forward` with inputs:",
        ),
        sources=(
            thread("facebookresearch/xformers", 982, "2024-02-11"),
            thread("yangjianxin1/Firefly", 258, "2024-05-18"),
            thread("facebookresearch/xformers", 1143, "2024-11-05"),
            thread("yufu-wang/PromptHMR", 4, "2025-06-19"),
            thread("kijai/ComfyUI-DepthAnythingV2", 27, "2025-06-03"),
        ),
    ),
    KnownError(
        id="bitsandbytes-without-cuda",
        causes=BITSANDBYTES,
        pattern=r"CUDA Setup failed despite (GPU|CUDA) being available|libbitsandbytes_cpu\.(?:so|dll|dylib)'?: ?(?:undefined symbol|cannot open|function)"
        r"|undefined symbol: c(get_col_row_stats|quantize|adam)\w{0,40}|compiled without GPU support"
        r"|Could not find the bitsandbytes CUDA binary|CUDA_SETUP: WARNING! libcudart\.so not found|CUDA SETUP: Required library version not found|Defaulting to libbitsandbytes_cpu|Configured CUDA binary not found at"
        r"|CUDA SETUP: TODO: compile library for specific version: libbitsandbytes|CUDA SETUP: Something unexpected happened|CUDA SETUP: Problem: The main issue seems|CUDA SETUP: WARNING! (?:libcuda\.so|CUDA runtime files) not found|CUDA SETUP: Loading binary \S{1,200}\.dll|Could not find module '[^\n]{0,160}libbitsandbytes_\w{1,20}\.dll",
        cause="bitsandbytes has no library for this torch's CUDA version, or sees no CUDA at all, and takes the one for the CPU, which lacks the GPU's functions",
        remedy="python -m bitsandbytes says which library it looks for and why it does not load",
        command="python -m bitsandbytes",
        checks=("torch-cpu-build", "extension-architecture", "missing-libraries"),
        says=(
            "RuntimeError: CUDA Setup failed despite GPU being available. Please run the following command to get more "
            "information:",
            "AttributeError: libbitsandbytes_cpu.so: undefined symbol: cget_col_row_stats",
            "Could not find the bitsandbytes CUDA binary at PosixPath('/notebooks/bitsandbytes/libbitsandbytes_cuda124.so')",
        ),
        sources=(
            thread("bitsandbytes-foundation/bitsandbytes", 1559, "2025-03-14"),
            thread("bitsandbytes-foundation/bitsandbytes", 492, "2023-07-16"),
        ),
        likely=True,
    ),
)
