"""What Python itself, NumPy and the tools that install packages say after an upgrade."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import KnownError, thread

ROWS = (
    KnownError(
        id="pkg-resources-gone",
        pattern=r"cannot import name 'packaging' from 'pkg_resources'|No module named '?pkg_resources'?"
        r"|module 'distutils' has no attribute 'version'|module 'setuptools' has no attribute 'distutils'",
        cause="setuptools is newer than this torch or package knows: setuptools 59.6 broke torch.utils.tensorboard before torch 1.11, "
        "setuptools 70 torch.utils.cpp_extension before torch 2.1, and newer ones have no pkg_resources",
        remedy="Upgrade torch; where it must stay, install an older setuptools (below 70; below 59.6 for torch before 1.11), and build with "
        "--no-build-isolation",
        command="pip install 'setuptools<70'",
        says=(
            "ImportError: cannot import name 'packaging' from 'pkg_resources'",
            "ModuleNotFoundError: No module named 'pkg_resources'",
            "AttributeError: module 'distutils' has no attribute 'version'",
        ),
        sources=(
            thread("stanford-futuredata/ColBERT", 350, "2024-06-09"),
            thread("torchpipe/torchpipe", 62, "2026-05-18"),
            thread("pytorch/pytorch", 69894, "2021-12-14"),
        ),
    ),
    KnownError(
        id="package-older-than-python",
        pattern=r"module 'pkgutil' has no attribute 'ImpImporter'|No module named '(distutils|imp|asyncore)'"
        r"|module 'inspect' has no attribute 'getargspec'|cannot import name '(Mapping|MutableMapping|Iterable|Sequence|Callable)' from "
        r"'collections'|module 'collections' has no attribute '(Mapping|MutableMapping|MutableSet|MutableSequence|Iterable|Sequence|Callable|Hashable|Sized|Set)'|module 'ssl' has no attribute 'wrap_socket'|module 'asyncio' has no attribute 'coroutine'|module 'fractions' has no attribute 'gcd'|module 'time' has no attribute 'clock'|No module named '(?:cgi|pipes|telnetlib|imghdr|sndhdr|crypt|asynchat|smtpd|audioop|aifc|chunk)'|mutable default <class '[^'\n]{1,120}'> for field|'float' object cannot be interpreted as an integer|integer argument expected, got float",
        cause="A package, or the pip and setuptools that build it, are older than this Python: what Python 3.10 to 3.13 took out or no longer allow (floats for whole numbers since 3.10, mutable defaults of dataclasses since 3.11, distutils and imp since 3.12, cgi, pipes, imghdr, telnetlib and audioop since 3.13)",
        remedy="Upgrade pip, setuptools and the package that is named last in the traceback, or take the Python that it was made for (fairseq 0.12.2, hydra-core 1.0 and omegaconf 2.0 want 3.10 or older). A float in the program's own code: int(x), n // 2",
        command="python -m pip install --upgrade pip setuptools wheel",
        checks=("python-version",),
        says=(
            "AttributeError: module 'pkgutil' has no attribute 'ImpImporter'. Did you mean: 'zipimporter'?",
            "ModuleNotFoundError: No module named 'distutils'",
            "ValueError: mutable default <class 'fairseq.dataclass.configs.CommonConfig'> for field common is not allowed: use default_factory",
            "TypeError: 'float' object cannot be interpreted as an integer",
        ),
        sources=(
            thread("facebookresearch/fairseq", 5012, "2023-03-07"),
            thread("ddPn08/rvc-webui", 29, "2023-05-04"),
            thread("pypa/pip", 12358, "2023-10-16"),
            thread("numpy/numpy", 29345, "2025-07-09"),
            thread("python/cpython", 111822, "2023-11-07"),
        ),
    ),
    KnownError(
        id="code-of-python-2",
        pattern=r"NameError: (?:global )?name '(?P<name>unicode|xrange|raw_input|basestring|long|reload|unichr|execfile)' is not defined|Missing parentheses in call to '(?P<name2>print|exec)'|'dict' object has no attribute '(?P<name3>has_key|iteritems|itervalues|iterkeys)'|No module named '(?P<name4>cPickle|urllib2|ConfigParser|Queue|StringIO|commands|Tkinter|urlparse|__builtin__|httplib|cStringIO)'",
        cause="The code was written for Python 2 ({name} is of that), and this is Python 3",
        remedy="Look for a newer release or fork of the program. It is small: 2to3 -w FILES (up to Python 3.12) or the tool `modernize` rewrites it: print(...), range, input, str, items(), pickle, urllib.request, configparser, queue. Python 2 itself has no torch after 1.4, and no GPU since Ampere runs that",
        says=("NameError: name 'xrange' is not defined", "ModuleNotFoundError: No module named 'cPickle'"),
        sources=("docs.python.org, Porting Python 2 code, by its name; no thread was read for it, 2026-11-26",),
    ),
    KnownError(
        id="newer-python-wanted",
        pattern=r"future feature annotations is not defined|unsupported operand type\(s\) for \|: '(?:type|NoneType|_GenericAlias|ABCMeta|builtin_function_or_method|_UnionGenericAlias|TensorType|_TensorMeta)' and|TypeError: '(?:type|ABCMeta|_TensorMeta|builtin_function_or_method|collections\.\w{1,20})' object is not subscriptable|cannot import name '(?P<name>Self|Literal|Annotated|TypeAlias|ParamSpec|override|Protocol|TypedDict|Final|NotRequired|Required|Unpack|TypeVarTuple|StrEnum|batched|Concatenate|TypeGuard|assert_never|reveal_type|Never|cached_property|cache)' from '(?:typing|enum|itertools|functools)'|No module named '(?P<name2>tomllib|zoneinfo|graphlib|importlib\.metadata|importlib\.resources\.abc|dataclasses|contextvars)'|'str' object has no attribute 'removeprefix'|'str' object has no attribute 'removesuffix'|dataclass\(\) got an unexpected keyword argument '(?:slots|kw_only)'|zip\(\) takes no keyword arguments|zip\(\) got an unexpected keyword argument 'strict'",
        cause="The code uses what a newer Python has: `X | Y` in types since 3.10, list[int] since 3.9, match since 3.10, Self, tomllib and StrEnum since 3.11, override and batched since 3.12; this Python is older",
        remedy="Make the environment with the Python that the package names (python --version shows this one; 3.11 and 3.12 have torch's newest releases), or take the last release of the package for this Python: pip install 'PACKAGE<NEXT'",
        command="python --version",
        checks=("python-version",),
        says=(
            "TypeError: unsupported operand type(s) for |: 'type' and 'NoneType'",
            "TypeError: 'type' object is not subscriptable",
            "ImportError: cannot import name 'Self' from 'typing' (/usr/lib/python3.8/typing.py)",
        ),
        sources=("docs.python.org, What's New in Python, by their names; no thread was read for it, 2026-11-26",),
        likely=True,
    ),
    KnownError(
        id="pip-ignored-for-this-python",
        pattern=r"Ignored the following (?:yanked )?versions that require a different python version",
        cause="pip passed over releases of the package because they say that they do not run with this Python, and found none that is left (the line lists the releases and the Pythons that they want)",
        remedy="Make the environment with a Python that they want (conda create -n new python=3.11, uv venv --python 3.11), or ask for the newest release of the package, or its successor, that runs with this one. Where the missing package is another one than those in the list, its name is misspelt or it is on another index",
        command="python --version",
        checks=("python-version",),
        says=(
            "ERROR: Ignored the following versions that require a different python version: 0.0.10 Requires-Python >=3.6.0, <3.9",
        ),
        sources=(thread("mozilla/TTS", 794, "2025-08-11"),),
        likely=True,
    ),
    KnownError(
        id="syntax-of-a-newer-python",
        pattern=r"(?:site-packages|dist-packages|\.egg)[^\n]{0,160}\", line \d{1,6}(?:, in \S{1,60})?\n[^\0]{0,400}?SyntaxError: (?:invalid syntax|f-string|future feature|expected ':'|positional-only)",
        cause="The installed package is written in a newer Python than the one that runs (annotated names and f-strings want 3.6, := and positional-only parameters 3.8, match 3.10, f-strings with the same quotation marks inside 3.12), or, where it says print without parentheses or `async` as a name, in an older one",
        remedy="Run with a Python that the package supports (its page on pypi.org says which: a wheel or egg that pip did not check, or a copy of the sources, was put into this one), or install the last release of the package for this Python",
        command="python --version; python -m pip check",
        checks=("python-version",),
        says=(
            '  File "C:\\Python35\\lib\\site-packages\\detectron2\\config\\compat.py", line 151\n    RENAME: List[Tuple[str, str]] = []\n          ^\nSyntaxError: invalid syntax',
        ),
        sources=(
            thread("facebookresearch/detectron2", 528, "2019-12-14"),
            "docs.python.org, What's New in Python, by their names, 2026-11-26",
        ),
        likely=True,
    ),
    KnownError(
        id="python-2",
        pattern=r"Python 2\.7 reached the end of its life|Python 2\.7 is no longer maintained|Running under Python 2 is not supported|requires Python '?>=3\.\d[^\n]{0,40}running Python is 2\.7",
        cause="pip is that of Python 2.7: nearly all packages, torch among them since 1.5, are for Python 3 only, and what pip takes for Python 2 is an old release or sources that do not build",
        remedy="Use Python 3: python3 -m venv env && . env/bin/activate && python -m pip install PACKAGE. Where a program has to stay on Python 2 (ROS 1 before Noetic), ask for the last release that had it (pip2 install 'PACKAGE<RELEASE')",
        command="python3 -m pip --version",
        checks=("python-version",),
        says=(
            "DEPRECATION: Python 2.7 reached the end of its life on January 1st, 2020. Please upgrade your Python as Python 2.7 is no longer maintained.",
        ),
        sources=(thread("matthew-brett/transforms3d", 49, "2022-08-30"),),
        likely=True,
    ),
    KnownError(
        id="requires-another-python",
        pattern=r"requires a different Python: \d\.\d{1,2}|No supported Python \([^)\n]{1,20}\) found|Python \d\.\d[\w.]{0,8} is outside supported range|Requires-Python .{0,60}not in|requires Python .{0,40}but the running Python is"
        r"|(current|your) Python version \(?\d\.\d{1,2}.{0,60}(does not satisfy|is not allowed)|Python version [\d.]{1,8} is not supported"
        r"|(is not compatible|not satisfied) with (the|this) Python|Python version \d[\w.]{0,10},? which is not supported|(?:only|Only) Python \d\.\d{1,2}",
        cause="The package says that it does not run with this Python",
        remedy="Make the environment with a Python that it names",
        checks=("python-version",),
        says=("ERROR: Package 'cell-eval' requires a different Python: 3.13.7 not in '<3.13,>=3.10'",),
        sources=(
            thread("mittagessen/kraken", 623, "2024-07-12"),
            thread("ArcInstitute/cell-eval", 231, "2026-03-23"),
        ),
    ),
    KnownError(
        id="numpy-older-than-built-for",
        pattern=r"module compiled against API version (?P<built>0x[0-9a-fA-F]{1,8}) but this version of numpy is (?P<here>0x[0-9a-fA-F]{1,8})",
        cause="A compiled package was built with a NumPy ({built}) newer than the one that is installed ({here}): 0xd is 1.16 to 1.19, 0xe 1.20 and 1.21, 0xf 1.22, 0x10 1.23 and 1.24, 0x11 1.25 and 1.26, 0x12 2.0, 0x13 2.1 and 2.2",
        remedy="Upgrade NumPy to the release that the package was built with (up to 0x11: the last NumPy 1, 1.26); where something else holds NumPy back, install an older release of the package whose import fails. Two NumPys in one environment (conda and pip) look the same: uninstall both, install one",
        command="python -m pip install --upgrade 'numpy<2'",
        says=("RuntimeError: module compiled against API version 0x10 but this version of numpy is 0xf",),
        sources=("NumPy, numpy/_core/include/numpy/numpyconfig.h, read 2026-11-26",),
        likely=True,
    ),
    KnownError(
        id="numpy-abi",
        pattern=r"numpy\.(dtype|ndarray|ufunc) size changed, may indicate binary incompatibility|module compiled against ABI version|numpy\.core\.multiarray failed to import|No module named 'numpy\._core'|No module named 'numpy\.core\.\w{1,30}'",
        cause="A compiled package was built for another NumPy than the one that is installed",
        remedy="Reinstall the package that is named in the traceback for this NumPy; where it has no such build, pin NumPy below 2",
        command="pip install --force-reinstall 'numpy<2'",
        likely=True,
        says=(
            "ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header, got 88 from PyObject",
            "ImportError: numpy.core.multiarray failed to import",
        ),
        sources=(thread("ONSdigital/csvcubed", 913, "2024-07-08"), thread("MathOnco/valis", 165, "2024-10-16")),
    ),
    KnownError(
        id="numpy-aliases",
        pattern=r"was removed in the NumPy 2\.0 release|module 'numpy' has no attribute '(bool|int|float|object|complex|str|long|unicode|bool8|float_|product|cumproduct|Inf|NaN"
        r"|infty|in1d|trapz|row_stack)'|`np\.(bool|int|float|object|Inf|NaN|float_)` was (a deprecated alias|removed in the NumPy 2\.0)",
        cause="A package uses names of NumPy that NumPy 1.24 (np.bool, np.int) or 2.0 (np.Inf, np.float_) took out",
        remedy="Upgrade the package; in your own code write bool, int, np.inf. Else pin NumPy: below 1.24 for the first, below 2 for the others",
        says=(
            "AttributeError: module 'numpy' has no attribute 'bool'.",
            "AttributeError: `np.float_` was removed in the NumPy 2.0 release. Use `np.float64` instead.",
        ),
        sources=(thread("aliyun/algorithm-base", 4, "2023-02-03"), thread("resemble-ai/Resemblyzer", 85, "2023-09-06")),
    ),
    KnownError(
        id="protobuf-generated",
        pattern=r"Descriptors cannot (not )?be created directly|cannot import name 'builder' from 'google\.protobuf"
        r"|'MessageFactory' object has no attribute 'GetPrototype'",
        cause="protobuf and the code that a package generated with it (tensorboard, onnx, sentencepiece) are of different generations",
        remedy="Upgrade the package; where that cannot be, install the protobuf that it was generated with",
        command="pip install 'protobuf<3.21'",
        says=(
            "TypeError: Descriptors cannot not be created directly.",
            "TypeError: Descriptors cannot be created directly.",
        ),
        sources=(
            thread("protocolbuffers/protobuf", 10064, "2022-05-27"),
            thread("neulab/prompt2model", 220, "2023-08-04"),
        ),
    ),
    KnownError(
        id="tensorboard-missing",
        pattern=r"No module named '?tensorboard'?|TensorBoard logging requires TensorBoard version|requires tensorboard to be installed",
        cause="torch.utils.tensorboard needs the package tensorboard, which is not installed",
        remedy="Install it in the same environment",
        command="pip install tensorboard",
        says=(
            "ModuleNotFoundError: No module named 'tensorboard'",
            "ImportError: TensorBoard logging requires TensorBoard version 1.15 or above",
        ),
        sources=(thread("JCZ404/Semi-DETR", 27, "2024-09-10"),),
    ),
    KnownError(
        id="rust-compiler",
        pattern=r"can('|no)?t find Rust compiler|Can not find Rust compiler|Cargo, the Rust package manager, is not installed"
        r"|requires Rust and Cargo",
        cause="A package (tokenizers, safetensors) has no wheel for this Python or platform, so that pip builds it, and there is no Rust",
        remedy="Upgrade pip and take a release of the package that has a wheel for this Python; else install Rust (https://rustup.rs)",
        command="python -m pip install --upgrade pip",
        checks=("python-version",),
        says=("error: can't find Rust compiler", "error: Can not find Rust compiler"),
        sources=(
            thread("PrithivirajDamodaran/Parrot_Paraphraser", 41, "2022-10-21"),
            thread("huggingface/tokenizers", 97, "2020-01-22"),
        ),
    ),
    KnownError(
        id="files-in-use",
        pattern=r"Could not install packages due to an (OSError|EnvironmentError): \[(WinError (5|32)|Errno 13)\]"
        r"|\[WinError (5|32)\].{0,300}(torch|pip-un|site-packages|~orch)",
        cause="pip may not write there: a program has files of the package open (an IDE, a notebook, an antivirus scan), or the folder belongs "
        "to someone else",
        remedy="Close the programs that use this Python and try again; install into an environment of your own. Delete folders named ~orch in "
        "site-packages",
        checks=("torch-version-files", "changed-files"),
        says=(
            "ERROR: Could not install packages due to an OSError: [WinError 5] Access is denied: "
            "'c:\\\\users\\\\anaconda3\\\\lib\\\\site-packages\\\\~orch\\\\lib\\\\asmjit.dll'",
            "ERROR: Could not install packages due to an OSError: [WinError 32] The process cannot access the file because it is being used by "
            "another process",
        ),
        sources=(
            thread("zalandoresearch/pytorch-ts", 56, "2021-06-19"),
            thread("patientx/ComfyUI-Zluda", 421, "2026-01-20"),
        ),
    ),
    KnownError(
        id="certificate",
        pattern=r"CERTIFICATE_VERIFY_FAILED|certificate verify failed",
        cause="A download met a certificate that this Python does not trust: a proxy that opens connections, a clock that is wrong, or a Python "
        "without certificates (macOS)",
        remedy="Give Python the proxy's certificate (SSL_CERT_FILE, REQUESTS_CA_BUNDLE, PIP_CERT); on macOS run Install Certificates.command",
        says=(
            "urllib.error.URLError: <urlopen error [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer "
            "certificate (_ssl.c:997)>",
        ),
        sources=(thread("cbh123/charl-e-original", 11, "2022-09-12"),),
        likely=True,
    ),
    KnownError(
        id="socket-path-too-long",
        pattern=r"AF_UNIX path too long",
        cause="Processes talk over sockets in the folder of temporary files, whose name is longer than the system allows (108 bytes)",
        remedy="Give a short folder",
        command="export TMPDIR=/tmp",
        says=("OSError: AF_UNIX path too long",),
        sources=(thread("hzi-bifo/RiboDetector", 57, "2025-01-21"), thread("RVC-Boss/GPT-SoVITS", 572, "2024-02-21")),
    ),
    KnownError(
        id="pip-missing",
        pattern=r"No module named '?pip'?(?![\w.'-])|\bpip3?: (?:command )?not found|'pip' is not recognized",
        cause="The Python that runs has no pip: Debian and Ubuntu leave it out of python3, uv's environments have none, or Python is not on PATH (Windows)",
        remedy="Debian and Ubuntu: apt-get install -y python3-pip python3-venv, best in an environment (python3 -m venv .venv); uv: uv pip install; elsewhere python -m ensurepip --upgrade; Windows: py -m pip",
        command="python3 -m ensurepip --upgrade || sudo apt-get install -y python3-pip python3-venv",
        says=("/usr/bin/python3: No module named pip",),
        sources=(thread("snowzach/doods2", 119, "2024-10-30"), thread("pytorch/pytorch", 5592, "2018-03-06")),
    ),
    KnownError(
        id="program-not-found",
        pattern=r"can't open file '(?P<name>[^'\n]{1,200})': \[Errno 2\]",
        cause="Python was to run {name}, which is not there: the path is counted from the folder where the command runs, or is divided at a space",
        remedy="Go to the folder of the program first (cd), or give the whole path; paths with spaces in quotes; a launcher (accelerate, torchrun, a user interface) whose second program is missing: fetch it (git submodule update --init --recursive), or mend the folder in its settings",
        command="pwd; ls",
        says=("python: can't open file '/work/train_network.py': [Errno 2] No such file or directory",),
        sources=(thread("kohya-ss/sd-scripts", 87),),
    ),
)
