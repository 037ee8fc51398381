"""What pip, uv, Poetry and conda say when packages cannot be chosen, built or installed."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_installing import BUILD_FAILED, NO_SOLUTION
from torchlift.doctor.errors.known_error import UNREAD, KnownError, thread

_PIP = "pip 23.2.1, pip/_internal, read 2026-11-23"
_WITH_TORCH = (
    "flash[-_]attn|flash[-_]attention|detectron2|apex|mmcv(-full)?|xformers|torch[-_](scatter|sparse|cluster|spline[-_]conv)|pyg[-_]lib|pytorch3d|gsplat|nvdiffrast"
    "|diff[-_]gaussian[-_]rasterization|simple[-_]knn|fused[-_]ssim|tinycudann|mamba[-_]ssm|causal[-_]conv1d|transformer[-_]engine(_torch)?|deepspeed|auto[-_]gptq"
    "|gptqmodel|autoawq(_kernels)?|exllamav2|groundingdino|sageattention|torchsparse|minkowskiengine|kaolin|natten|spconv|vllm|sgl[-_]kernel|bitsandbytes|pointnet2(_ops)?"
    "|fast[-_]hadamard[-_]transform|grouped[-_]gemm|deep[-_](ep|gemm)|nerfacc|cumesh|o[-_]voxel|flex[-_]gemm|curope|dgl|horovod|torchvision|torchaudio|torchtext|fairseq|basicsr"
    "|gfpgan|realesrgan|facexlib|sam2|segment[-_]anything[-_]2|selective[-_]scan|fbgemm[-_]gpu|torchrec|kornia|nvidia-dali|monotonic[-_]align|unicore|openfold|alphafold"
)
_RUST = "tokenizers|safetensors|tiktoken|sudachipy|cryptography|orjson|pydantic[-_]core|rpds[-_]py|outlines[-_]core|hf[-_](transfer|xet)|kornia[-_]rs|blake3|rustworkx|polars"
_COMPILED = (
    "numpy|scipy|pandas|scikit[-_]learn|scikit[-_]image|matplotlib|pillow|h5py|grpcio|lxml|psutil|pyyaml|aiohttp|frozenlist|multidict|yarl|cffi|numba|llvmlite|spacy|thinc|blis"
    "|pyarrow|shapely|opencv[-_]python(-headless)?|onnx|onnxruntime|regex|ujson|msgpack|cython|gevent|greenlet|kiwisolver|contourpy|ruamel[.\\w]{0,20}|wrapt|pycocotools"
    "|hnswlib|annoy|faiss[-_]cpu|editdistance|python[-_]levenshtein|rapidfuzz|pystoi|pesq|pyworld|webrtcvad|openai[-_]whisper|cchardet|box2d[-_]py|mujoco[-_]py|dm[-_]tree|jaxlib"
    "|tensorflow|sentence[-_]?piece|sentencepiece|fasttext|kenlm|ctcdecode|pyaudio|soxr|resampy|samplerate|insightface|dlib|av|decord|pynini|warprnnt|lmdb|mpi4py|pycuda|cupy[\\w-]{0,12}"
    "|llama[-_]cpp[-_]python|ctransformers|triton|pyqt5|wxpython|pyopengl[-_]accelerate|pysqlite3|psycopg2|mysqlclient|numcodecs|zarr|pyzmq|netifaces|antlr4[-\\w]{0,20}|sacrebleu"
    "|ninja|cmake|simsimd|stringzilla|hdbscan|umap|leidenalg|igraph|pymesh|open3d|trimesh|embreex|pyembree|pybullet|gym|atari[-_]py|ray|chumpy|pyhash|oldest[-\\w]{0,12}"
)

ROWS = (
    KnownError(
        id="runtime-dependencies-check",
        pattern=r"- (?P<package>[\w.-]{1,60})(?:[<>=!~][\w.,<>=!~*]{0,60})? not satisfied by version (?P<release>[\w.+]{1,20})|- (?P<package2>[\w.-]{1,60}) not installed\s[^\0]{0,80}pythonRuntimeDepsCheck",
        cause="Nixpkgs' check of a wheel: it asks for another {package} than the one that nixpkgs has ({release})",
        remedy='If the package works with it: pythonRelaxDeps = [ "{package}" ] (or true) in its derivation, pythonRemoveDeps to leave it out; else override {package} to the release that it wants, or take the package\'s newer release',
        says=("  - docarray==0.21.0 not satisfied by version 0.40.0",),
        sources=(
            thread("jina-ai/clip-as-service", 951, "2024-06-04"),
            "nixos.org/manual/nixpkgs, Python, pythonRelaxDeps, by its name, 2026-11-26",
        ),
    ),
    KnownError(
        id="torch-extension-wheel",
        causes=BUILD_FAILED,
        pattern=rf"Failed building (editable |wheel )for (?P<package>({_WITH_TORCH}))\b|Could not build wheels for (?P<package2>({_WITH_TORCH}))\b"
        rf"|Failed to build:? [`']?(?P<package3>({_WITH_TORCH}))\b|pyproject\.toml based projects \((?P<package4>({_WITH_TORCH}))\b",
        cause="{package} is compiled against torch when it is installed, and that failed; the compiler's or setup's first error stands above",
        remedy="Take a wheel that names this torch, CUDA and Python, where {package} has such; else install torch first, see that `nvcc --version` says the release of `python -c 'import torch; print(torch.version.cuda)'`, and build with --no-build-isolation",
        command="MAX_JOBS=4 pip install -v --no-build-isolation {package}",
        checks=("toolkit-mismatch", "host-compiler", "torch-cpu-build", "python-version", "python-platform"),
        says=(
            "ERROR: Failed building wheel for detectron2",
            "ERROR: Failed to build installable wheels for some pyproject.toml based projects (detectron2)",
            "ERROR: Could not build wheels for flash-attn, which is required to install pyproject.toml-based projects",
            "ERROR: Failed building wheel for diff-gaussian-rasterization",
        ),
        sources=(
            thread("facebookresearch/detectron2", 5445, "2025-03-01"),
            thread("zqcrafts/SkySense-O", 20, "2025-09-19"),
            thread("graphdeco-inria/gaussian-splatting", 785, "2024-05-02"),
        ),
        likely=True,
    ),
    KnownError(
        id="rust-package-wheel",
        pattern=rf"Failed building (editable |wheel )for (?P<package>({_RUST}))\b|Could not build wheels for (?P<package2>({_RUST}))\b|Failed to build:? [`']?(?P<package3>({_RUST}))\b"
        rf"|pyproject\.toml based projects \((?P<package4>({_RUST}))\b",
        cause="{package} is written in Rust; there is no wheel of this release for this Python or platform, so pip tried to compile it",
        remedy="Take a newer {package} that has a wheel for this Python (or an older Python); else install Rust from rustup.rs",
        command="pip install --upgrade --only-binary :all: {package}",
        checks=("python-version", "python-platform"),
        says=(
            "ERROR: Could not build wheels for tokenizers, which is required to install pyproject.toml-based projects",
        ),
        sources=(UNREAD, _PIP),
        likely=True,
    ),
    KnownError(
        id="package-without-wheel",
        causes=BUILD_FAILED,
        pattern=rf"Failed building (editable |wheel )for (?P<package>({_COMPILED}))\b|Could not build wheels for (?P<package2>({_COMPILED}))\b|Failed to build:? [`']?(?P<package3>({_COMPILED}))\b"
        rf"|pyproject\.toml based projects \((?P<package4>({_COMPILED}))\b",
        cause="There is no wheel of this release of {package} for this Python or system, so that pip tried to compile it",
        remedy="Ask for a release with a wheel: the command fails where there is none",
        command="pip install --only-binary :all: {package}",
        checks=("python-version", "python-platform", "host-compiler", "toolkit-mismatch"),
        says=("ERROR: Failed building wheel for numpy", "  ERROR: Failed building wheel for soxr"),
        sources=(UNREAD, _PIP),
        likely=True,
    ),
    KnownError(
        id="one-package-that-conflicts-with-itself",
        pattern=r"Cannot install (?P<package>[\w.-]{1,60})==\S{1,20}, (?P=package)==[^\n]{1,600}because these package versions have conflicting dependencies[^\0]{0,300}depends on (?P<name>[\w.-]{1,40})|Cannot install (?P<package2>[\w.-]{1,60})==\S{1,20}, (?P=package2)==\S{1,20}, (?P=package2)==",
        cause="pip tried all releases of {package}, and each asks for a package ({name}) of which there is no file for this Python and platform (or which another line of the same command forbids); `The conflict is caused by` below names it",
        remedy="See whether that one can be had at all: python -m pip install {name}. `from versions: none`: this Python is too new or too old for it, or 32-bit, or the platform has ended (torch for Macs with Intel: 2.2 and Python 3.12 at most); take a Python that it has wheels for. If it installs alone, another requirement of the command forbids that release",
        command="python -m pip install {name}",
        checks=("python-version", "python-platform"),
        says=(
            "ERROR: Cannot install trl==0.0.1, trl==0.0.2, trl==0.0.3, trl==0.1.0, trl==0.2.0 and trl==0.2.1 because these package versions have conflicting dependencies.\n\nThe conflict is caused by:\n    trl 0.2.1 depends on torch>=1.4.0",
        ),
        sources=(thread("huggingface/trl", 179, "2023-02-28"),),
        likely=True,
    ),
    KnownError(
        id="conflicting-requirements",
        causes=NO_SOLUTION,
        pattern=r"ResolutionImpossible|Cannot install (?P<packages>[^\n]{1,160}) because these package versions have conflicting dependencies|The conflict is caused by:",
        cause="The requirements exclude each other, so that no set of releases satisfies all of them; the lines below `The conflict is caused by` say which",
        remedy="Read those lines to the end; python -m pip install -r requirements.txt --dry-run shows them again",
        checks=("companion-mismatch", "python-version", "python-platform"),
        says=(
            "ERROR: Cannot install -r requirements.txt (line 3) and torch==2.1.0 because these package versions have conflicting dependencies.",
            "ERROR: ResolutionImpossible: for help visit https://pip.pypa.io/en/latest/topics/dependency-resolution/#dealing-with-dependency-conflicts",
        ),
        sources=(_PIP,),
    ),
    KnownError(
        id="installed-conflicts-remark",
        pattern=r"dependency resolver does not currently take into account all the packages that are installed|(?:has requirement|[\w.-]{2,60} [\w.+!-]{1,40} requires) [^\n]{1,120}, but you(?:'ll|'ll| will)? have [^\n]{1,80} which is incompatible",
        cause="pip has installed what was asked; the lines below name packages that were there before and ask for other releases",
        remedy="If torch, torchvision, torchaudio or NumPy is among them, install them in one command with the others; else nothing",
        command="pip check",
        checks=("companion-mismatch",),
        says=(
            "ERROR: pip's dependency resolver does not currently take into account all the packages that are installed. This behaviour is the source of the following dependency conflicts.",
        ),
        sources=(_PIP,),
        level="warning",
    ),
    KnownError(
        id="metadata-invalid",
        pattern=r"Please use pip<24\.1|\.\* suffix can only be used with|Invalid metadata.{0,80}(Expected|requirement)|has invalid metadata: Expected",
        cause="The package's metadata name a requirement in a way that pip 24.1 and newer refuse (omegaconf 2.0, pytorch-lightning 1.5 to 1.8, textract and others)",
        remedy="Take a newer release of that package; if it must be this one, an older pip",
        command="python -m pip install 'pip<24.1'",
        says=(
            "WARNING: Ignoring version 2.0.6 of omegaconf since it has invalid metadata:\nRequested omegaconf==2.0.6 has invalid metadata: .* suffix can only be used with `==` or `!=` operators\nPlease use pip<24.1 if you need to use this version.",
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="setuptools-too-new",
        pattern=r"use_2to3 is invalid|error in \S{1,60} setup command: ('|\"|`)?(use_2to3|extras_require|install_requires|tests_require|python_requires)|canonicalize_version\(\) got an unexpected keyword"
        r"|install_layout\. Did you mean|has no attribute 'install_layout'|Invalid dash-separated|module 'setuptools\.\w{1,30}' has no attribute|cannot import name '\w{1,40}' from 'setuptools"
        r"|TypeError: canonicalize_version|'\w{1,20}' object has no attribute 'install_layout'|invalid command 'bdist_wheel'|No module named 'setuptools\.\w[\w.]{1,60}'|'_NamespacePath' object has no attribute 'sort'",
        cause="setuptools, wheel or packaging and the package's setup do not fit: the setup was written for older ones, or one of the three is old beside the others",
        remedy="Upgrade the three together; if the package is old, build it with an old setuptools and without isolation",
        command="python -m pip install --upgrade pip wheel packaging 'setuptools<81'",
        says=(
            "error in fairseq setup command: use_2to3 is invalid.",
            "TypeError: canonicalize_version() got an unexpected keyword argument 'strip_trailing_zero'",
            "AttributeError: install_layout. Did you mean: 'install_platlib'?",
            "error: invalid command 'bdist_wheel'",
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="build-requirement-missing",
        pattern=r"(BackendUnavailable|Backend '[\w.:]{1,60}' is not available|Cannot import '(?P<module>(setuptools|hatchling|poetry|flit_core|scikit_build_core|mesonpy|maturin|pdm)[\w.]{0,40})')"
        r"|No module named '(?P<module2>setuptools|wheel|skbuild|Cython|hatchling|hatchling\.build|poetry|poetry\.core|flit_core|scikit_build_core|setuptools_scm|setuptools_rust|pybind11|pbr|versioneer|mesonpy|cmake|packaging|numpy\.distutils)'",
        cause="{module} is needed to build the package and is not there: with --no-build-isolation (or Python 3.12 and newer, whose environments come without setuptools) nothing "
        "installs it",
        remedy="Install what builds need, then the package again",
        command="python -m pip install --upgrade pip setuptools wheel packaging ninja cmake cython pybind11",
        says=(
            "pip._vendor.pyproject_hooks._impl.BackendUnavailable: Cannot import 'setuptools.build_meta'",
            "ModuleNotFoundError: No module named 'packaging'",
            "ModuleNotFoundError: No module named 'Cython'",
        ),
        sources=(_PIP,),
    ),
    KnownError(
        id="not-a-python-project",
        pattern=r"does not appear to be a Python project: neither 'setup\.py' nor 'pyproject\.toml' found|Directory '?[^'\n]{0,200}'? is not installable\.|File \"setup\.py\"( or \"setup\.cfg\")? not found\. Directory cannot be installed"
        r"|Could not open requirements file: \[Errno 2\]",
        cause="pip was started in a folder that has no such project or file, or the submodule there is empty",
        remedy="Change into the repository's folder; fetch empty submodules",
        command="git submodule update --init --recursive",
        says=(
            "ERROR: file:///content does not appear to be a Python project: neither 'setup.py' nor 'pyproject.toml' found.",
            "ERROR: Could not open requirements file: [Errno 2] No such file or directory: 'requirements.txt'",
        ),
        sources=(_PIP,),
    ),
    KnownError(
        id="cannot-uninstall",
        pattern=r"Cannot uninstall '?(?P<package>[\w.-]{1,60})'?[.,:]? ?(It is a distutils installed project|\S{0,20},? ?RECORD file (was )?not found|\S{0,20} ?no RECORD file was found)"
        r"|[Uu]ninstall-no-record-file|It is a distutils installed project and thus we cannot accurately determine|The package's contents are unknown: no RECORD file",
        cause="{package} was installed by the system or by conda, and pip cannot remove it",
        remedy="Work in a virtual environment; or leave the old one in place",
        command="python -m pip install --ignore-installed {package}",
        checks=("conda-pip-mix", "externally-managed"),
        says=(
            "ERROR: Cannot uninstall 'PyYAML'. It is a distutils installed project and thus we cannot accurately determine which files belong to it which would lead to only a partial uninstall.",
            "error: uninstall-no-record-file",
        ),
        sources=(_PIP,),
    ),
    KnownError(
        id="pip-remarks",
        pattern=r"Ignoring invalid distribution|DEPRECATION: (?:Legacy editable install|Loading egg at|Building '|Configuring installation scheme|Python \d\.\d)|(?:'|`)use-pep517' |No `requires-python` value found in the workspace|Retrying \(Retry\(total=\d|is installed in '[^'\n]{1,200}' which is not on PATH|Running pip as the 'root' user can result|Defaulting to user installation because normal site-packages is not writeable"
        r"|A new release of pip is available|Attempted to use ninja as the BuildExtension backend but we could not find ninja|Torch did not find available GPUs on this system|There are no \S{1,12} version bounds defined for CUDA"
        r"|has a minor version mismatch with the version that was used to compile PyTorch|TORCH_CUDA_ARCH_LIST is not set, all archs for visible cards are included",
        cause="A remark of pip or of torch's builder; what follows it is what failed, if anything did",
        remedy="For `Ignoring invalid distribution -x` delete the folders that begin with ~ in site-packages; ninja makes builds faster (pip install ninja)",
        checks=("host-compiler", "toolkit-mismatch"),
        says=(
            "WARNING: Ignoring invalid distribution -orch (c:\\python39\\lib\\site-packages)",
            "UserWarning: Attempted to use ninja as the BuildExtension backend but we could not find ninja.. Falling back to using the slow distutils backend.",
            "UserWarning: There are no g++ version bounds defined for CUDA version 11.6",
            "UserWarning: The detected CUDA version (11.5) has a minor version mismatch with the version that was used to compile PyTorch (11.7). Most likely this shouldn't be a problem.",
        ),
        sources=(
            thread("PatBall1/detectree2", 146, "2024-07-26"),
            thread("graphdeco-inria/gaussian-splatting", 128, "2023-08-26"),
            thread("graphdeco-inria/gaussian-splatting", 785, "2024-05-02"),
        ),
        level="warning",
    ),
    KnownError(
        id="torchcodec-without-wheel",
        pattern=r"(No matching distribution found for|satisfies the requirement) [Tt]orch[Cc]odec",
        cause="torchcodec has no wheel for this system: before 0.7 for Linux on x86 and Macs with Apple's processor only; each release is for one torch",
        remedy="Take the release that belongs to this torch; where there is none, decode with PyAV (pip install av)",
        checks=("python-platform", "python-version", "companion-mismatch"),
        says=('ERROR: No matching distribution found for torchcodec>=0.2.1; sys_platform != "win32"',),
        sources=(
            thread("huggingface/lerobot", 867, "2025-03-16"),
            thread("meta-pytorch/torchcodec", 608, "2025-03-31"),
        ),
    ),
    KnownError(
        id="nvidia-package-index",
        pattern=r"(No matching distribution found for|satisfies the requirement) (?P<package>nvidia-[\w-]{2,40}|pytorch-triton\S{0,20}|triton-rocm|tensorrt[\w-]{0,30}|cuda-python|pytorch-quantization|torch[-_]tensorrt|transformer[-_]engine\S{0,20})",
        cause="{package} is not on the index that was asked for this Python and platform: NVIDIA's runtime packages are for Linux and Windows on their own indexes, and "
        "torch's index has only those of its releases",
        remedy="Leave the pin to torch, which asks for the right ones by itself; add the index where it is: --extra-index-url https://pypi.nvidia.com, or https://pypi.org/simple where only "
        "torch's index was given",
        checks=("python-platform", "python-version", "nvidia-pins"),
        says=("ERROR: No matching distribution found for nvidia-cublas-cu12==12.1.3.1",),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="poetry-candidates",
        causes=NO_SOLUTION,
        pattern=r"Unable to find installation candidates for (?P<package>[\w-]{1,60})|SolverProblemError|version solving failed",
        cause="Poetry found no release (or no file for this Python and platform) that satisfies what is asked",
        remedy="Read the last lines of its explanation (poetry lock -vvv shows more); requires-python has to lie within what torch supports, and torch's index is a source of its own with priority explicit",
        checks=("python-version", "python-platform"),
        says=(
            "Unable to find installation candidates for torch (2.1.0+cu118)",
            "Because no versions of torchvision match >0.15 ... version solving failed.",
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="uv-no-solution",
        causes=NO_SOLUTION,
        pattern=r"No solution found when resolving (dependencies|tool dependencies|script dependencies)|Because [\w.-]{1,60} was not found in the package registry",
        cause="uv found no set of packages that satisfies all requirements; the tree below says which exclude each other",
        remedy="Read the last `we can conclude` and what stands before it",
        checks=("python-version", "python-platform"),
        says=(
            "  x No solution found when resolving dependencies:\n  ╰─▶ Because only the following versions of example are available",
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="uv-build-failed",
        causes=BUILD_FAILED,
        pattern=r"The build backend returned an error|Call to `[\w.:]{1,60}\.(build_wheel|build_editable|get_requires_for_build_wheel|prepare_metadata_for_build_wheel)` failed|depends on `?torch`?, but doesn't declare it as a build dependency",
        cause="uv built a package apart from the environment, and its setup failed; its own error stands below",
        remedy="Read it from the top. torch is missing there: install torch first, then uv pip install --no-build-isolation PACKAGE; in projects: [tool.uv] no-build-isolation-package, or extra-build-dependencies with torch",
        checks=("toolkit-mismatch", "host-compiler", "python-version", "python-platform"),
        says=(
            "  x Failed to build `x==0.1`\n  ├─▶ The build backend returned an error\n  ╰─▶ Call to `setuptools.build_meta:__legacy__.build_wheel` failed (exit status: 1)",
        ),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="index-unreachable",
        pattern=r"(NewConnectionError|ConnectTimeoutError|ProxyError|NameResolutionError|Read timed out|Max retries exceeded).{0,300}(pypi|pythonhosted|download\.pytorch\.org|/simple/|/whl/|conda\.anaconda)"
        r"|(download\.pytorch\.org|pythonhosted\.org|pypi\.org).{0,300}(Read timed out|Max retries exceeded|Temporary failure in name resolution|403 Client Error|HTTP error 403)",
        cause="pip cannot reach the package index: no network, a proxy or firewall, or the index refuses this address",
        remedy="Set HTTPS_PROXY or a mirror (pip config set global.index-url URL); for slow lines --timeout 120 --retries 10; without a network carry wheels over (pip download)",
        says=(
            "WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection "
            "object>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/torch/",
        ),
        sources=(_PIP,),
    ),
    KnownError(
        id="ssl-module-missing",
        pattern=r"the ssl module in Python is not available|SSL module is not available",
        cause="This Python was built without OpenSSL, or conda's is not activated (on Windows its DLLs are not on PATH)",
        remedy="Activate the environment, or install another Python",
        says=(
            "WARNING: pip is configured with locations that require TLS/SSL, however the ssl module in Python is not available.",
        ),
        sources=(_PIP,),
    ),
    KnownError(
        id="git-missing",
        pattern=r"Cannot find command 'git'|ERROR: Error \[(WinError 2|Errno 2)\].{0,80}git (version|clone)",
        cause="A requirement is installed from a git repository, and git is not installed",
        remedy="Install git",
        command="sudo apt-get install -y git",
        says=("ERROR: Cannot find command 'git' - do you have 'git' installed and in your PATH?",),
        sources=(_PIP,),
    ),
    KnownError(
        id="proxy-of-this-machine",
        pattern=r"unable to access 'https?://(?!localhost|127\.)[^'\n]{1,200}': (Failed to connect to|Could not connect to|Couldn't connect to) (127\.0\.0\.1|localhost|::1) port (?P<port>\d{1,5})",
        cause="The download goes to a proxy on this machine (port {port}), where nothing answers: its program is not running, or it was set in another shell, container or WSL",
        remedy="Start that program, or take the proxy out: unset http_proxy, https_proxy and all_proxy; git config --global --unset http.proxy, and the same for https.proxy",
        says=(
            "fatal: unable to access 'https://github.com/unslothai/unsloth.git/': Failed to connect to 127.0.0.1 port 1080 after 2077 ms: Couldn't connect to server",
        ),
        sources=(thread("unslothai/unsloth", 553),),
    ),
    KnownError(
        id="git-clone-failed",
        pattern=r"git clone .{1,200}did not run successfully|Could not clone |fatal: unable to access 'https://github\.com|error: RPC failed; curl|fatal: early EOF|fetch-pack: unexpected disconnect",
        cause="git could not fetch a repository: the network or a proxy broke the transfer, or the repository is gone or private",
        remedy="Try again on another network; where a proxy is needed name it (git config --global http.proxy URL), else take out one that is set (--unset http.proxy); for large ones clone with --depth 1",
        says=(
            "fatal: unable to access 'https://github.com/facebookresearch/detectron2.git/': Failed to connect to github.com port 443",
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="user-install-in-venv",
        pattern=r"Can not perform a '--user' install",
        cause="pip was asked to install for the user inside of a virtual environment, which hides the user's packages",
        remedy="Leave out --user (or unset PIP_USER)",
        command="unset PIP_USER",
        says=("ERROR: Can not perform a '--user' install. User site-packages are not visible in this virtualenv.",),
        sources=(_PIP,),
    ),
    KnownError(
        id="wants-another-torch",
        pattern=r"(?<![\w.-])(?P<package>[\w.-]{1,60}) \S{1,40} requires (?P<wanted>(torch|torchvision|torchaudio|triton|numpy)[^\s,]{0,40})[^\n]{0,80}, but you('ll)? have (?P<found>\w{1,30} \S{1,40}) which is incompatible",
        cause="{package} asks for {wanted}, and another release is installed ({found}): pip went on, and {package} may fail when it is imported or used",
        remedy="Install the release of {package} that takes this torch; if there is none, the torch that it asks for with the torchvision and torchaudio of that release, in one command",
        command="pip check",
        checks=("companion-mismatch",),
        says=(
            "lmdeploy 0.9.2.post1 requires torch<=2.7.1,>=2.0.0, but you have torch 2.8.0+cu128 which is incompatible.",
        ),
        sources=(thread("InternLM/lmdeploy", 3931, "2025-09-04"),),
    ),
    KnownError(
        id="distribution-not-found",
        pattern=r"\bThe '(?P<package>[^'\n]{1,80})' distribution was not found|pkg_resources\.(ContextualVersionConflict|VersionConflict): \((?P<package2>[\w. -]{1,60})",
        cause="A program asks its environment for {package}, which is not installed there or in another release: the environment was changed after the program was installed",
        remedy="Install it, or the program again; pip check shows what else does not fit",
        command="pip check",
        says=(
            "pkg_resources.DistributionNotFound: The 'pyannote.core>=2.1' distribution was not found and is required by pyannote.pipeline",
        ),
        sources=(thread("pyannote/pyannote-audio", 160, "2019-03-10"),),
    ),
    KnownError(
        id="pth-file-broken",
        pattern=r"Error processing line \d{1,4} of (?P<name>\S{1,200}\.pth)",
        cause="A file that Python reads at each start ({name}) is of a package that is gone, half installed, or for another Python",
        remedy="Uninstall the package that it is named after, delete the file if it stays, and install the package again",
        command="rm {name}",
        says=("Error processing line 1 of /venv/lib/python3.11/site-packages/TRK_2_34-1.0-py3.11-nspkg.pth:",),
        sources=(thread("NASA-PDS/PyTrk234", 7, "2025-05-21"),),
    ),
    KnownError(
        id="several-requirements-on-a-line",
        pattern=r"Invalid requirement: '(?P<name>[\w.\[\]-]{1,40} ?[=<>~!]=[\w.+*]{1,30} {1,4}[\w.-]{1,40} ?(?:[=<>~!]=|@)[^'\n]{0,80})",
        cause="One line of the requirements file holds several requirements ({name}), which pip does not read: the file is for another program (the project's own setup script splits its lines), or its line ends were lost",
        remedy="Run the project's setup, which reads that file itself (setup.sh, setup.py, its launcher), or put each requirement on a line of its own: sed 's/ \\([A-Za-z]\\)/\\n\\1/g' FILE. torch's +cu118 builds need their index: pip install torch==... torchvision==... --index-url https://download.pytorch.org/whl/cu118",
        says=(
            "ERROR: Invalid requirement: 'torch==2.0.1+cu118 torchvision==0.15.2+cu118' (from line 1 of requirements_linux.txt)",
        ),
        sources=(thread("bmaltais/kohya_ss", 1088, "2023-06-27"),),
        wheel=True,
    ),
    KnownError(
        id="pip-arguments",
        pattern=r"ERROR: Invalid requirement: '(?P<name>[^'\n]{1,80})|setuptools-scm was unable to detect version|error: could not find `?(?P<name2>cargo|rustc)",
        cause="The installer cannot use what it was given: a requirement that is misspelt ({name}: one `=` for two, a space, a conda name), sources without their git history, or a lock file made on another platform",
        remedy="pip takes NAME==VERSION and quotes around < and >; setuptools-scm: clone with tags (git fetch --tags) or export SETUPTOOLS_SCM_PRETEND_VERSION=1.0; a wheel that this platform does not have: mark the index or requirement with sys_platform and platform_machine (uv: tool.uv.environments, tool.uv.sources with marker), and lock "
        "again; cargo: install Rust (rustup.rs)",
        checks=("python-platform",),
        says=("ERROR: Invalid requirement: 'torch=2.0'",),
        sources=("the wording as programs print it; no thread was read for it, 2026-11-26",),
        likely=True,
    ),
    KnownError(
        id="pip-skipping-remark",
        pattern=r"WARNING: Skipping (?P<name>[\w.-]{1,60}) as it is not installed",
        cause="A remark of pip uninstall: {name} was to be removed, and was not there. Nothing failed",
        remedy="Nothing. If {name} should be there, pip belongs to another Python than the program: python -m pip list",
        says=("WARNING: Skipping bitsandbytes as it is not installed.",),
        sources=(thread("bmaltais/kohya_ss", 750, "2023-05-09"),),
        level="warning",
    ),
    KnownError(
        id="pip-url-is-a-page",
        pattern=r"Cannot unpack file \S{1,300} \(downloaded from [^\n]{1,300}text/html|Cannot determine archive format of",
        cause="The URL that pip was given leads to a web page, not to a package: a repository without `git+` before it, or a download that asks for a login",
        remedy="A repository: pip install 'NAME @ git+https://github.com/OWNER/NAME.git'; a wheel: its direct address, in quotes; a release page: copy the link of the .whl itself",
        says=(
            "ERROR: Cannot determine archive format of /tmp/pip-install-cv1xxdm6/autoawq_1ae396e7919942539bc0a1bcf6e4ab4d",
        ),
        sources=(thread("casper-hansen/AutoAWQ", 470, "2024-05-04"),),
    ),
    KnownError(
        id="pip-source-unavailable",
        pattern=r"satisfies the requirement (?P<name>[\w.-]{1,60}) \(unavailable\)|No matching distribution found for (?P<name2>[\w.-]{1,60}) \(unavailable\)",
        cause="pip fetched {name} from the URL or repository that was named, and its setup failed to say what it is; the error of the setup stands above (`metadata-generation-failed`, a traceback), and PyPI has nothing that takes its place",
        remedy="Clone it and build it by hand to see the error: pip install --no-build-isolation -v 'NAME @ git+URL' (most often its setup imports torch, or needs nvcc or another Python)",
        says=(
            "ERROR: Could not find a version that satisfies the requirement openfold (unavailable) (from versions: 0.0.1)",
        ),
        sources=(thread("facebookresearch/esm", 592, "2023-07-26"),),
        likely=True,
    ),
    KnownError(
        id="uv-wheel-not-installed",
        pattern=r"Failed to install: (?P<name>[\w.]{1,60})-\S{1,120}\.whl",
        cause="uv has the wheel of {name} and could not put its files into the environment: the line `Caused by:` below says why (a program that runs from there holds a file, the disk is full, the cache lies on another disk, an anti-virus program)",
        remedy="Read the line behind `Caused by:`. Close every program of that environment and try again; UV_LINK_MODE=copy where cache and environment are on different disks; uv cache clean {name} if the file is damaged; on Windows exclude the environment from the scan",
        command="uv cache clean {name}",
        says=("error: Failed to install: httptools-0.7.1-cp312-cp312-win_amd64.whl (httptools==0.7.1)",),
        sources=(thread("invoke-ai/InvokeAI", 8616, "2025-10-15"),),
        level="vague",
    ),
)
