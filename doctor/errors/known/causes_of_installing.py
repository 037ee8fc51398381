"""Why installing, building and solving fail: what each of the reasons prints above the line that all of them end with."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import Cause

NO_FILE_TO_INSTALL = (
    Cause(
        "This Python is newer or older than those that the release has files for",
        "python --version is not among the cp3XX of the files on pypi.org (Download files); `from versions:` lists other releases only, or pip says `require a different python version`",
        "make an environment with a Python that the release names (conda create -n new python=3.11, uv venv --python 3.11), or take a release out of the list behind `from versions:`",
        seen=r"different python version|from versions: \d|Requires-Python",
        checks=("python-version",),
    ),
    Cause(
        "There is no such package under that name, or a word of the command was taken for one",
        "`from versions: none`, and https://pypi.org/project/NAME is not found or empty",
        "look for the name that installs it (a module's name is often another: cv2 is opencv-python, yaml pyyaml), or install its repository: pip install git+URL",
        seen=r"requirement (?:install|pip|python|--?\w)\b",
    ),
    Cause(
        "The release has no file for this system or processor (Windows, macOS, Arm, 32 bits, musl)",
        "the files on pypi.org name manylinux_x86_64 only, and python -c 'import platform, struct; print(platform.platform(), struct.calcsize(\"P\") * 8)' shows something else",
        "run it on Linux (WSL 2, a container), take a release or a fork that has a file for this system, or build it from its repository",
        seen=r"[A-Z]:\\|/Users/|macOS|[Mm]ac|Windows|aarch64|arm64|32-bit",
        checks=("python-platform", "glibc-too-old"),
    ),
    Cause(
        "Another index than PyPI was asked, which does not have it",
        "`Looking in indexes:` above, or python -m pip config list and env | grep -i index name one; torch's own index has torch's packages only",
        "add the other one: --extra-index-url https://pypi.org/simple, or ask PyPI alone: --index-url https://pypi.org/simple",
        seen=r"Looking in indexes: (?!https?://pypi)",
    ),
    Cause(
        "That release was withdrawn or never made",
        "pip index versions NAME (without the pin) lists its neighbours; pip says `yanked`",
        "loosen the pin to a neighbour: NAME>=RELEASE, or the one before it",
        seen=r"[Yy]anked",
    ),
)

BUILD_FAILED = (
    Cause(
        "The package's setup needs torch (or NumPy, packaging, wheel), and pip builds it in an empty environment",
        "above stands ModuleNotFoundError: No module named 'torch'",
        "install torch first, then pip install --no-build-isolation PACKAGE (with setuptools, wheel, packaging and ninja installed)",
        seen=r"No module named '?(?:torch|numpy|packaging|wheel|psutil|pybind11|Cython)\b",
    ),
    Cause(
        "There is no wheel for this Python or system, and the sources are for another one",
        "pypi.org lists no file of that release for this Python and system (python --version); above stands ImpImporter, distutils, use_2to3, a SyntaxError, or a name of Python's or NumPy's C interface that is not declared",
        "take a release that has a wheel for this Python, or a Python that the pinned release has one for (3.10 and 3.11 have most of the older ones)",
        seen=r"ImpImporter|No module named 'distutils|use_2to3|SyntaxError|python2\.7|Python 2\.7",
        checks=("python-version", "python-platform"),
    ),
    Cause(
        "The compiler, the CUDA toolkit, a library's development files or a submodule is missing, or too new, too old, or of another CUDA than torch's",
        "above stands error: command 'gcc' (cl.exe, nvcc) failed, Microsoft Visual C++ 14.0, CUDA_HOME, unsupported GNU version, or mismatches the version that was used to compile PyTorch; nvcc --version and python -c 'import torch; print(torch.version.cuda)' differ; or fatal error: NAME.h, cannot find -lNAME, Could NOT find NAME",
        "install g++ (Windows: Build Tools of Visual Studio with C++) and the toolkit of torch's CUDA, export CUDA_HOME; CC=gcc-12 CXX=g++-12 where the compiler is too new; install its development package (apt-file search NAME.h; cmake and ninja with pip), git submodule update --init --recursive in a clone",
        seen=r"CUDA_HOME|Visual C\+\+ .{0,40}required|unsupported (?:GNU|Microsoft)|CUDA version|command not found|No such file or directory: '[^'\n]{0,80}(?:nvcc|gcc|g\+\+|cl)\b|fatal error: |cannot find -l|Could NOT find|submodule",
        checks=("toolkit-mismatch", "host-compiler"),
    ),
    Cause(
        "The sources are for another release of torch or CUDA",
        "the first `error:` is in a .cu, .cpp or .h file (has no member, no matching function, identifier is undefined)",
        "take the package's release for this torch, best as a wheel that names torch, CUDA and Python; torch 2.1 and newer want C++17, 2.10 and newer C++20",
        seen=r"\.(?:cu|cuh|cpp|h|hpp)[(:]\d|has no member|is undefined|no matching function",
    ),
    Cause(
        "Memory ran out while many files were compiled at once",
        "above stands Killed, died due to signal 9 or internal compiler error; sudo dmesg | grep -i oom",
        "MAX_JOBS=2 (or 1) before the command, TORCH_CUDA_ARCH_LIST of this GPU only",
        seen=r"Killed|signal 9|internal compiler error|bad_alloc",
    ),
)

NO_SOLUTION = (
    Cause(
        "This Python is the obstacle: a pinned release has no file for it",
        "the lines below name python itself (Requires-Python, python_abi, no wheels with a matching Python, `is not supported by Python`), or an old pin (numpy<1.24, scipy<1.9) meets Python 3.12 and newer; python --version",
        "make the environment with the Python of the days of the pin (numpy 1.23 goes up to Python 3.11, torch 2.0 up to 3.11, 2.2 up to 3.12), or lift that pin",
        seen=r"[Rr]equires-Python|python_abi|Python ABI|matching Python|requires-python|python ?[<>=]|Python ?[<>=]|numpy ?[<=~]=? ?1\.(?:1\d|2[0-3])",
        checks=("python-version",),
    ),
    Cause(
        "Two packages ask for different releases of a third one (often torch, numpy, transformers, protobuf)",
        "two lines below end with the same name and ranges that do not meet (A depends on X==1, B depends on X>=2)",
        "take the release of A or B that goes with the other: install both without pins in a fresh environment and see what is taken; if there is none, one environment for each",
        seen=r"depends on[^\0]{1,600}depends on|and .{1,80} requires|The conflict is caused by",
    ),
    Cause(
        "A pin in the file or command excludes what a package needs",
        "the lines say `The user requested X==...`, `you require X==...`, or name the project itself",
        "loosen that pin (X>=... instead of ==), or leave it out and let the package choose",
        seen=r"The user requested|requested spec|depends on the user|(?:you require|your project depends on)\W{1,12}[\w.\[\]-]{1,60}(?:==|~=|<)",
    ),
    Cause(
        "The index or channel does not have it for this system",
        "`not found in the package registry`, `no wheels with a matching platform`, `nothing provides`, `are not available from current channels`; torch's +cuXXX builds are on its own index only, its conda channel ended with 2.5; a name that is on PyPI is missing (ninja, numpy) where --index-url took PyPI's place",
        "name the index (--index-url https://download.pytorch.org/whl/cu126; uv: [[tool.uv.index]] with explicit and [tool.uv.sources]), conda: torch with pip or from conda-forge",
        seen=r"package registry|matching platform|current platform|nothing provides|\+cu\d|\+cpu|current channels",
        checks=("python-platform",),
    ),
)

TOOLKIT_NOT_FOUND = (
    Cause(
        "There is no CUDA toolkit on this machine: torch's wheels and nvidia-smi do not bring nvcc",
        "ls -d /usr/local/cuda*/bin/nvcc and which nvcc find nothing (Windows: where nvcc)",
        "install the toolkit of torch's CUDA (python -c 'import torch; print(torch.version.cuda)'): apt-get install cuda-toolkit-12-6, conda install -c nvidia cuda-toolkit=12.6, or NVIDIA's installer; or a wheel of the package, which needs none",
    ),
    Cause(
        "It is there, and no variable names it",
        "ls -d /usr/local/cuda*/bin/nvcc lists one",
        "export CUDA_HOME=/usr/local/cuda-12.6 PATH=$CUDA_HOME/bin:$PATH with the folder of torch's CUDA (Windows: CUDA_PATH, and a new shell); in the shell that builds, for sudo and conda too",
    ),
    Cause(
        "The image or node has the part for running only",
        "the image's tag ends in -runtime or -base; on a cluster module avail cuda lists it",
        "an image with -devel (nvidia/cuda:12.6.3-devel-ubuntu24.04, pytorch/pytorch:...-devel); module load cuda",
        seen=r"[Dd]ocker|container|/workspace|RUN |module (?:load|avail)",
    ),
    Cause(
        "This torch has no CUDA, or the machine no NVIDIA GPU (a Mac, AMD, CPU only)",
        "python -c 'import torch; print(torch.version.cuda)' prints None",
        "install torch for CUDA first where there is an NVIDIA GPU (`torchlift doctor`); else switch the package's GPU part off or choose one without it",
        seen=r"version\.cuda\W{1,8}None|/Users/|macOS|darwin|rocm|\bhip",
        checks=("torch-cpu-build", "torch-other-vendor"),
    ),
)

TRITON_NOT_THERE = (
    Cause(
        "Windows: torch's wheels bring no Triton there",
        "python -c 'import triton' fails and the path or prompt is of Windows",
        "pip install triton-windows in the release for this torch (its page has the table); or do without: TORCH_COMPILE_DISABLE=1, the package's option for eager",
        seen=r"[A-Z]:\\|[Ww]indows|\.bat|python_embeded",
    ),
    Cause(
        "Linux: Triton was removed, or torch was installed without its dependencies or for the CPU",
        "python -m pip show triton is empty; python -c 'import torch; print(torch.__version__)' says +cpu",
        "install torch for this GPU again with its dependencies (`torchlift doctor` prints the line)",
    ),
    Cause(
        "Triton is there and does not load: its release is not torch's, or libcuda or a compiler is missing",
        "python -c 'import triton' shows another error; python -m pip check names triton",
        "install the Triton that torch pins (python -m pip check), gcc and, in containers, the driver's libraries",
        seen=r"libcuda|cuda_utils|DLL load failed",
    ),
    Cause(
        "There is no Triton for this system (macOS, Jetson before JetPack 6, GPUs before Volta)",
        "uname -sm; python -c 'import torch; print(torch.cuda.get_device_capability())' below (7, 0)",
        "leave torch.compile and packages that need Triton out there",
        seen=r"/Users/|macOS|[Dd]arwin|[Jj]etson|tegra|aarch64",
    ),
)

CONDA_UNSOLVED = (
    Cause(
        "The file was exported on another system or with builds (NAME=VERSION=BUILD)",
        "below stands ResolvePackageNotFound or PackagesNotFoundError with a list; lines of the file end in =py310h2bbff1b_0 or =main, or name vc, ucrt, libgcc-ng, ld_impl_linux-64; `Platform:` is not that of the author",
        "take the builds out: sed -E 's/(=[^=]+)=[^=]+$/\\1/' environment.yml > new.yml, and the packages that only that system has; the author: conda env export --from-history",
        seen=r"ResolvePackageNotFound|PackagesNotFound|Platform: (?:win|osx)|=py\d{2,3}",
        checks=("python-platform",),
    ),
    Cause(
        "A channel no longer has the release (the channel pytorch ended with torch 2.5; cudatoolkit and old Pythons are in few)",
        "conda search -c conda-forge NAME does not list it for this platform",
        "python and pip by conda, torch with pip in that environment (`torchlift doctor` prints the line), or pytorch-gpu from conda-forge",
        seen=r"pytorch|nvidia|cudatoolkit|channel",
    ),
    Cause(
        "Two pins exclude each other",
        "below stands UnsatisfiableError or LibMambaUnsatisfiableError, or it ends after a long `Examining conflict`",
        "conda create -n new python=3.11 with only the packages that the program imports, without pins; conda config --set solver libmamba says more",
        seen=r"Unsatisfiable|conflict|frozen solve|incompatible",
    ),
)

NO_FILE_OF_TORCH = (
    Cause(
        "This Python is too new or too old for that release",
        "python --version: torch 1.7 to 1.9 want 3.6 to 3.9, 2.0 3.8 to 3.11, 2.5 3.9 to 3.12 (3.13 in part), 2.9 and newer 3.10 to 3.14; `from versions:` lists none, or only newer releases",
        "an environment with the Python of that release (conda create -n old python=3.8, uv venv --python 3.8), or the release that `torchlift doctor --for torch` names for this Python",
        seen=r"from versions: (?:1\.1[1-3]|2\.)|Python (?:ABI|implementation)|Python 3\.1[3-9]|\bcp3\d{1,2}\b",
        checks=("python-version",),
    ),
    Cause(
        "The index that was asked does not have it: the CUDA or ROCm in its address never had that package or release, has ended, or has only torch",
        "the command or the line `Looking in indexes` names download.pytorch.org/whl/... or a mirror; open that address with /torchaudio/ (or the name) behind it",
        "another index for it: torchaudio ended with 2.11.0, built for CUDA 13.0 (--index-url https://download.pytorch.org/whl/cu130; it goes with torch 2.11 for the same CUDA); leave it out where the program does not need it; other releases: the index that `torchlift doctor --for torch==RELEASE` names",
        seen=r"index-url|whl/(?:cu|rocm|cpu|nightly)|Looking in indexes: (?!https?://pypi)|\+cu\d|\+cpu|\+rocm",
        checks=("wheel-index-ended",),
    ),
    Cause(
        "There are no files for this system: 32-bit Python, a Mac with an Intel processor (up to 2.2), Windows on ARM, Alpine, a Jetson, an old glibc",
        "the second command prints 32bit, i686, armv7l, arm64 under Windows, or x86_64 on a Mac; ldd --version says musl, or glibc below 2.28",
        "a 64-bit Python; torch 2.2 with NumPy below 2 on an Intel Mac; a Debian image in place of Alpine; NVIDIA's wheels for Jetsons",
        seen=r"win32|32-bit|i[36]86|macos|darwin|\barm|aarch64|musl|Alpine|Jetson|matching platform",
        checks=("python-platform", "musl", "glibc-too-old"),
    ),
    Cause(
        "pip did not reach the index, or is too old to read its files",
        "lines above say Retrying, SSL, Connection or proxy; python -m pip --version is below 20.3",
        "mend the connection (proxy, certificate); python -m pip install -U pip",
        seen=r"Retrying|SSL|[Cc]onnection|proxy|timed out|WARNING: You are using pip",
    ),
)

SETUP_STOPPED = (
    Cause(
        "Its setup imports a module that is not there",
        "the last line is No module named NAME: pip builds in an empty environment, or with --no-build-isolation in one without it",
        "python -m pip install setuptools wheel packaging ninja numpy NAME, torch first of all, then pip install --no-build-isolation PACKAGE",
        seen=r"No module named",
    ),
    Cause(
        "It reads something of the machine that is not there: torch.version.cuda, CUDA_HOME or nvcc",
        "the last line has NoneType, CUDA_HOME or nvcc; python -c 'import torch; print(torch.__version__, torch.version.cuda)' prints +cpu, None or another vendor's, or nvcc --version is not found",
        "with an NVIDIA GPU: the CUDA wheel of torch (`torchlift doctor`) and the toolkit of the same release; other devices: the package's own build for them; or a wheel of the package",
        seen=r"NoneType|CUDA_HOME|nvcc|get_cuda_bare_metal",
        checks=("torch-cpu-build", "toolkit-mismatch"),
    ),
    Cause(
        "Its code is older than this Python, setuptools or pip",
        "the last line names distutils, pkg_resources, imp, ImpImporter, use_2to3, __version__, InvalidVersion, canonicalize_version or a SyntaxError",
        "a newer release of the package; else an older Python (conda create -n old python=3.10), or pip install 'setuptools<70' wheel and --no-build-isolation",
        seen=r"distutils|pkg_resources|ImpImporter|use_2to3|__version__|InvalidVersion|canonicalize_version|SyntaxError|setuptools",
        checks=("python-version",),
    ),
    Cause(
        "It downloads something, and the server is not reached",
        "the last line has URLError, HTTPError, timed out, SSL or Remote end closed connection",
        "again, by another network or with HTTPS_PROXY set; or download that file (the URL stands above) and install it",
        seen=r"URLError|HTTPError|timed out|SSL|Remote end closed|ConnectionError|urlopen",
    ),
    Cause(
        "It reads a file that is not there or in another encoding (README, requirements.txt, a submodule)",
        "the last line is FileNotFoundError or UnicodeDecodeError ('gbk', 'cp1252')",
        "install from a whole clone: git clone --recursive, then pip install --no-build-isolation . in it; Windows: set PYTHONUTF8=1",
        seen=r"FileNotFoundError|UnicodeDecodeError",
    ),
)

WHEEL_OF_RELEASE = (
    Cause(
        "There is no ready wheel for this torch, CUDA, Python and C++ ABI",
        "open the address behind `Guessing wheel URL`: 404; the package's page of releases lists those that there are",
        "install one that is listed, by its address, and the torch that its name says (torch2.8, cu12, cp312, cxx11abiTRUE); else let it compile (an hour or more, nvcc of torch's CUDA): MAX_JOBS=4 pip install --no-build-isolation flash-attn",
        seen=r"404|wheel not found|Building from source",
    ),
    Cause(
        "The wheel is there, and GitHub was not reached",
        "Remote end closed connection, timed out, SSL or Connection refused stands behind it; curl -IL ADDRESS fails",
        "again, with HTTPS_PROXY set, or download the file elsewhere and python -m pip install FILE; a newer pip",
        seen=r"Remote end|timed out|SSL|[Cc]onnection|URLError|urlopen",
    ),
)

OTHER_TOOLKIT = (
    Cause(
        "pip builds in an environment of its own, into which it put the newest torch",
        "the release that the message gives to PyTorch is not what python -c 'import torch; print(torch.version.cuda)' prints; pip-build-env or Installing build dependencies stands above",
        "pip install --no-build-isolation PACKAGE (ninja, packaging, setuptools and wheel installed before)",
        seen=r"pip-build-env|build dependencies|builds-v0",
    ),
    Cause(
        "The toolkit of torch's CUDA is on this machine, and another comes first",
        "ls -d /usr/local/cuda-* lists it; which nvcc and echo $CUDA_HOME name the other (Windows: CUDA_PATH)",
        "export CUDA_HOME=/usr/local/cuda-12.4 PATH=$CUDA_HOME/bin:$PATH with the release that the message gives to PyTorch (Windows: set CUDA_PATH, a new shell); rm -rf build before building again",
        seen=r"/usr/local/cuda-|CUDA_PATH",
    ),
    Cause(
        "There is only the other one (nvidia-smi's `CUDA Version` is that of the driver and no toolkit)",
        "ls -d /usr/local/cuda-* and conda list | grep cuda-nvcc show no toolkit of torch's CUDA",
        "install it beside the other: conda install -c nvidia cuda-toolkit=12.4 (or NVIDIA's installer, toolkit alone), then CUDA_HOME=$CONDA_PREFIX; or torch for the toolkit that is there, from its index (--index-url https://download.pytorch.org/whl/cu118), with torchvision and torchaudio; or a wheel of the package",
    ),
)

ARCHITECTURE_REFUSED = (
    Cause(
        "The toolkit is newer than that architecture's last: CUDA 11 took away 30 and 32, CUDA 12 took away 35 and 37, CUDA 13 everything before 75",
        "nvcc --version is at least that release",
        "ask for the architectures of the GPUs that are there (TORCH_CUDA_ARCH_LIST, CMAKE_CUDA_ARCHITECTURES, -gencode in setup.py or Makefile); if the GPU itself is that old, an older toolkit and a torch of its time",
        seen=r"(?:sm|compute)_(?:1[0-3]|2[01]|3[0257]|5[023])\b",
    ),
    Cause(
        "The toolkit is older than that architecture's first: 60 to 62 came with CUDA 8, 70 and 72 with 9, 75 with 10",
        "nvcc --version is below that; often it is the distribution's /usr/bin/nvcc beside a newer one in /usr/local (which -a nvcc)",
        "put the toolkit of torch's CUDA first: export CUDA_HOME=/usr/local/cuda PATH=/usr/local/cuda/bin:$PATH, apt-get remove nvidia-cuda-toolkit; then build in a clean folder",
        seen=r"/usr/bin/nvcc",
        checks=("toolkit-mismatch",),
    ),
)

DRIVER_NOT_LINKED = (
    Cause(
        "There is only libcuda.so.1, without the name that the linker looks for",
        "ldconfig -p | grep libcuda shows libcuda.so.1 alone; WSL has them in /usr/lib/wsl/lib",
        "sudo ln -s libcuda.so.1 /usr/lib/x86_64-linux-gnu/libcuda.so (in the folder that ldconfig names) and sudo ldconfig; Triton: TRITON_LIBCUDA_PATH=/usr/lib/wsl/lib",
        checks=("driver-library-broken",),
    ),
    Cause(
        "conda's compiler or linker searches its own environment and not the system",
        "the compiler is x86_64-conda-linux-gnu-c++, or ld lies in the environment",
        "export LIBRARY_PATH=$CUDA_HOME/lib64/stubs:/usr/lib/x86_64-linux-gnu:$LIBRARY_PATH (conda: $CONDA_PREFIX/lib/stubs), or CC=/usr/bin/gcc CXX=/usr/bin/g++",
        seen=r"conda-linux-gnu|compiler_compat|conda\S{0,80}/ld",
    ),
    Cause(
        "An extension is built where there is no driver (docker build, a login node)",
        "nvidia-smi does not work there; the line has -shared and -lcuda for a file of the package",
        "link against the toolkit's stub: export LIBRARY_PATH=/usr/local/cuda/lib64/stubs:$LIBRARY_PATH (not LD_LIBRARY_PATH)",
        seen=r"ninja: |setup\.py|cpp_extension|bdist_wheel",
        checks=("driver-missing",),
    ),
    Cause(
        "The compiler stopped earlier: Python's headers or the compiler itself",
        "a line above names Python.h or another error of gcc on main.c",
        "sudo apt-get install -y python3-dev gcc (python3.12-dev for that Python)",
        seen=r"Python\.h",
        checks=("host-compiler",),
    ),
)

OTHER_TORCHVISION = (
    Cause(
        "torchvision is of another release than torch, which one of them was upgraded after",
        "python -m pip show torch torchvision: 0.15 goes with 2.0, then 0.1x counts on with 2.x (0.20 with 2.5, 0.22 with 2.7, 0.24 with 2.9)",
        "install both at once from one index: python -m pip install --force-reinstall torch torchvision --index-url https://download.pytorch.org/whl/cu126 (the one that `torchlift doctor` prints)",
        checks=("companion-mismatch",),
    ),
    Cause(
        "The right release in another build: for the CPU beside torch for CUDA, one from conda and one by pip, a distribution's or a Jetson's",
        "python -c 'import torch, torchvision; print(torch.__version__, torchvision.__version__)': what stands behind + is not the same",
        "remove all of both (python -m pip uninstall -y torch torchvision, conda remove), then install them together; Jetson: torchvision built from source against NVIDIA's torch",
        seen=r"'CUDA' backend|jetson|aarch64",
        checks=("companion-mismatch",),
    ),
    Cause(
        "torch.ops.torchvision is used, and nothing has imported torchvision",
        "the frame has torch.ops.torchvision; a model of TorchScript or in C++",
        "import torchvision first (torchvision.ops.nms in place of torch.ops); C++: link libtorchvision and include its header",
        seen=r"torch::jit|torch\.jit\.load",
    ),
    Cause(
        "Another torchvision is imported: a second one in ~/.local, or a clone of its source without the compiled part",
        "python -c 'import torchvision; print(torchvision.__file__)' is not in this environment",
        "PYTHONNOUSERSITE=1 or pip uninstall it there; start outside of the clone, or build it: python setup.py develop",
        seen=r"\.local/lib",
    ),
)
