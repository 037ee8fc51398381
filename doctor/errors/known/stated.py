"""Messages that say themselves what is missing: a package, a release, a newer GPU, another CUDA, a GPU at all, another system.

The shapes are those of what 24 packages raise (accelerate 1.15.0, transformers 5.24.0, diffusers 0.42.1, sglang 0.5.10, flashinfer 0.7.2,
DeepSpeed and others), read from their sources on 2026-11-26. These rows give way to every row that knows the cause more closely.
"""

from __future__ import annotations

from torchlift.doctor.errors.known_error import KnownError, thread

_READ = "2026-11-26"
_NOT_PACKAGES = r"(?!(?:it|the|this|that|them|these|a|an|following|your|to|not|from|with|and|or|for|is|are|be|all|any|one|both|at|CUDA|cuda|Cuda|cuDNN|GPU|GPUs|SM|sm_|compute|model|models|version)\b)"
_NAME = rf"{_NOT_PACKAGES}[A-Za-z][\w.-]{{1,40}}"
_COMPARED = r"(?:>=|==|<=|~=|!=|>|<)"
_VERSION = r"v?\d{1,4}[\w.]{0,16}"
_RELEASE = r"v?\d{1,4}\.\d[\w.]{0,16}"
_ASKS = r"(?:requires?|[Nn]eeds?|(?<!pip.)(?<!pip3.)(?<!conda.)(?<!mamba.)(?<!get.)[Ii]nstall|[Uu]pgrade to|[Uu]pdate to|[Ee]xpected|supports?|depends on|compatible with|to use)"
_INSTALLERS = r"(?:pip3?|uv pip|conda|mamba|apt|apt-get) install"
_FEATURE = r"(?:compute capability|device capability|CUDA capability|cuda capability|sm_?\d{2,3}|SM ?_?\d{2,3}|Ampere|Hopper|Blackwell|Turing|Volta)"

ROWS = (
    KnownError(
        id="signal-outside-the-main-thread",
        pattern=r"signal only works in main thread",
        cause="A library sets a handler for signals (Lightning for Slurm's, torchrun's agent, gradio, asyncio, timeouts) in a thread that is not the main one (Ray's actors, Streamlit, Flask, a notebook's thread, FastAPI's pool), and Python allows that in the main thread only",
        remedy="The last File line above names the library. Lightning: pass plugins=[SLURMEnvironment(auto_requeue=False)] or LightningEnvironment(), or unset SLURM_JOB_NAME (export SLURM_JOB_NAME=bash) where it takes an interactive job for a batch one; upgrade it and Ray; otherwise start the training in a process of its own (multiprocessing with spawn, subprocess) in place of a thread",
        command="export SLURM_JOB_NAME=bash",
        likely=True,
        says=("ValueError: signal only works in main thread",),
        sources=(thread("ray-project/ray", 10995),),
    ),
    KnownError(
        id="kernel-of-the-hub",
        pattern=r"Cannot find a build variant for this system|has a build matching the current (PyTorch|torch)|kernel from the Hub"
        r"|No compatible (kernel )?build[^\n]{0,40}(variant|kernels-community)",
        cause="The Hugging Face hub has that kernel for other releases of torch, CUDA, C++ ABI, Python or systems than those here",
        remedy="Compare torch and CUDA here (python -c 'import torch; print(torch.__version__, torch.version.cuda)') with the variants that the message or the "
        "kernel's repository lists (build/torch2x-cxx11-cu12x-...); take a torch that is listed, a newer revision of the kernel (pip install -U kernels), "
        "or another attention implementation (attn_implementation='sdpa')",
        says=(
            "ImportError: Failed to load the NVFP4 kernel. Check that the Hub kernel has a build matching the current PyTorch and CUDA versions.",
            "FileNotFoundError: Cannot find a build variant for this system in kernels-community/flash-attn2",
        ),
        sources=(f"transformers 5.24.0 and accelerate 1.15.0, their sources, read {_READ}",),
    ),
    KnownError(
        id="stated-toolkit",
        pattern=r"(?:requires?|[Nn]eeds?|supported|only|works)[^\n]{0,60}\bCUDA (?:[Tt]oolkit |[Vv]ersion )?(?:version )?(?:of )?(?:>=|>|==|at least)? ?\d{1,2}(?:\.\d)?"
        r"|CUDA (?:[Tt]oolkit )?[Vv]ersions? ?(?:must|should|is too|has to|needs to|lower than|below|\d{1,2}\.\d{1,2} (?:is|are|does) (?:not|n't|too))"
        r"|CUDA \d{1,2}\.\d{1,2} (?:is|or|and) (?:not supported|required|newer|higher|above|later|too old)"
        r"|(?:[Rr]equires?|needs?) (?:nvcc|NVCC) ?(?:version )?(?:>=|>)? ?\d{1,2}\.\d",
        cause="A package asks for another CUDA than it finds: that of torch's wheel, or where it compiles at the first use that of nvcc",
        remedy="Compare python -c 'import torch; print(torch.version.cuda)' and nvcc --version with what the message asks for. Kernels that come with torch: take torch's wheel "
        "for that CUDA (`torchlift doctor` says which this driver can run). Kernels that are compiled here: install that toolkit and let CUDA_HOME name it. "
        "Else choose the package's other backend",
        checks=("toolkit-mismatch", "driver-too-old"),
        says=(
            "NotImplementedError: mxfp8_quantize_2d requires CUDA, SM 10.x, and CUDA 12.8+.",
            "ValueError: Cake NVFP4 SVDQuant requires CUDA 13.0 or later. Current CUDA version: 12.6.",
        ),
        sources=(f"flashinfer 0.7.2 and torchao 0.18.0, their sources, read {_READ}",),
        likely=True,
        general=True,
    ),
    KnownError(
        id="stated-capability",
        pattern=rf"(?:[Rr]equires?|[Nn]eeds?|[Oo]nly|[Ss]upports?|[Ss]upported|[Mm]inimum)[^\n]{{0,80}}{_FEATURE}"
        rf"|{_FEATURE}[^\n]{{0,60}}(?:(?:is|are) (?:required|not supported|unsupported|too (?:low|old))|not (?:yet )?supported|or (?:newer|higher|above|later)|lower than|less than|but (?:got|found))"
        r"|[Uu]nsupported (?:GPU|gpu|CUDA|cuda|compute|device|SM|sm)[ _-](?:arch(?:itecture)?|capability|version|compute capability)"
        r"|not supported (?:on|for|by) (?:this|your|the current) (?:GPU|device|hardware|architecture|card)|GPU (?:architecture|arch) (?:is )?not supported",
        cause="A kernel or a number format that was asked for does not exist for this GPU, or not in this release of the package: the message names the compute capability "
        "(SM) that it needs",
        remedy="python -c 'import torch; print(torch.cuda.get_device_capability())' says what this GPU has: 7.5 Turing, 8.0 and 8.6 Ampere, 8.9 Ada, 9.0 Hopper, 10.x and 12.x "
        "Blackwell. If that is older: choose another attention backend, quantization or dtype (float16 for bfloat16, int8 or int4 for fp8), or another GPU. If it is newer: "
        "upgrade the package, whose list of GPUs ends before it",
        command="python -c 'import torch; print(torch.cuda.get_device_capability())'",
        checks=("gpu-features", "gpu-architecture"),
        says=(
            "RuntimeError: silu_and_mul_nvfp4_quantize requires a Blackwell GPU (SM100+, compute capability >= 10.0); got SM90.",
            "RuntimeError: XQA is only supported on SM90, SM100, SM120/SM121 GPUs",
            "ImportError: FlashAttention2 requires compute capability >= 8.0, but found cuda:0 with compute capability 7.5",
        ),
        sources=(f"transformers 5.24.0 and flashinfer 0.7.2, their sources, read {_READ}",),
        likely=True,
        general=True,
    ),
    KnownError(
        id="stated-version",
        pattern=rf"{_ASKS} (?:the |at least |a |an )?(?:installation of |package )?'?(?P<package>{_NAME})'? ?(?:versions? |package )?\(?{_COMPARED} ?{_RELEASE}"
        rf"|(?:[Rr]equires?|[Nn]eeds?|[Uu]pgrade (?:to|your)|[Uu]pdate to|tested (?:to work )?with|required version of|at least) '?(?P<package2>{_NAME})'? (?:versions? )?{_RELEASE}(?![^\n]{{0,80}}providers can be installed)"
        rf"|versions? of '?(?P<package3>{_NAME})'? (?:is|does|doesn't|do|must|that|installed|needs|should|you)\b"
        rf"|'?(?P<package4>{_NAME})'? version (?:(?:must|should|needs to|has to) be (?:>|at least|greater|higher|newer|equal|\d)|is too (?:old|low|new)|{_VERSION} is (?:not|too|older|incompatible))"
        rf"|[Pp]lease (?:upgrade|update|downgrade) (?:your |the |to (?:the |a )?(?:latest |newer |more recent )?(?:version of )?)?(?:versions? of |installation of )?'?(?P<package5>{_NAME})"
        rf"|but (?:found|got|you have|have|detected|the (?:installed|current) version is|current version is|installed version is|(?:\w{{1,30}} ){{1,3}}is installed)[ :](?:version |v)?'?(?P<package6>{_NAME} )?{_RELEASE}"
        rf"|'?(?P<package7>{_NAME})'? ?{_COMPARED} ?{_RELEASE}'? (?:is |are )?(?:required|needed|must be|has to be)"
        r"|INCOMPATIBLE PYTHON VERSION|[Nn]ot compatible with (?:the )?(?:installed|current|this) version of '?(?P<package8>[\w.-]{1,40})"
        r"|[Rr]equires either '(?P<package9>[\w.-]{2,40})",
        cause="The code that raises this was written for another release of {package} than the one in this environment; the message says which it wants",
        remedy="Install what the message asks for with the same Python (python -m pip install 'NAME>=VERSION'), then python -m pip check: where another package pins it, upgrade "
        "both in one command, or take the release of the code that fits. Where the right release was installed, another environment runs (python -m pip show NAME, and "
        "sys.executable), or a notebook was not restarted",
        command="python -m pip check",
        says=(
            "ImportError: A valid HQQ version (>=0.2.1) is not available. Please update hqq",
            "ValueError: Loading a tensor-parallel PEFT adapter requires peft >= 0.21.0, please upgrade your peft installation.",
            "The program is tested to work with torch 2.0.0.",
            "RuntimeError: cuDNN FP4 requires version 1.13+, found 1.9. Please upgrade cudnn-frontend",
        ),
        sources=(
            f"accelerate 1.15.0, peft 0.21.2 and transformers 5.24.0, their sources, read {_READ}",
            thread("AUTOMATIC1111/stable-diffusion-webui", 9980, "2023-05-02"),
        ),
        general=True,
    ),
    KnownError(
        id="requires-autoawq",
        pattern=r"requires (?:the )?auto-?awq|auto-?awq (?:library|package)|pip install auto-?awq\b|AWQ .{0,60}requires .{0,30}(?:gptqmodel|autoawq)",
        cause="Loading a model in AWQ needs the package autoawq, whose module is awq, and it is not there or does not import; AutoAWQ is no longer developed (its last release, 0.2.9, goes with torch 2.6 and transformers 4.51)",
        remedy="With torch 2.6 and that transformers: python -m pip install autoawq (on Linux; under Windows it wants triton-windows and has no newer wheels); python -c 'import awq' shows whether it imports. With anything newer: transformers 5 loads AWQ through gptqmodel (pip install gptqmodel --no-build-isolation), vLLM reads such models itself, or take the model in GPTQ, GGUF or bitsandbytes form",
        command="python -c 'import awq'",
        checks=("companion-mismatch",),
        says=("ImportError: Loading an AWQ quantized model requires auto-awq library (pip install autoawq)",),
        sources=(
            "github.com/casper-hansen/AutoAWQ, README, by its name, 2026-11-26",
            thread("oobabooga/textgen", 7007),
        ),
        likely=True,
    ),
    KnownError(
        id="stated-package",
        pattern=rf"(?:[Rr]equires?|[Nn]eeds?|need to|[Rr]equired|must|have to|not installed|n't installed|[Mm]issing|not found|not available|unavailable|[Tt]o use|[Pp]lease|[Ii]nstall (?:it|them)|[Tt]ry|[Rr]un|via|using|by running)"
        rf"[^\n]{{0,120}}?\b{_INSTALLERS} (?:-[\w-]{{1,30}} ){{0,4}}'?(?P<package>[\w.+:/@=<>~-]{{2,80}})"
        rf"|[Pp]lease (?:pip )?install (?:the |a )?(?:latest |compatible )?(?:version of )?'?(?P<package2>{_NAME})"
        rf"|(?:[Rr]equires?|[Nn]eeds?|need to install|have to install|depends on) (?:the )?'?(?P<package3>{_NAME})'? (?:library|package|module|to be installed|installed)\b"
        rf"|'?(?P<package4>{_NAME})'? (?:library |package |module )?(?:is|are|was) (?:not|n't) installed\b|'?(?P<package5>{_NAME})'? (?:must|needs? to|has to|should) be installed"
        r"|(?:it was|they were|was|were) not found in your environment|pip uninstall (?P<package6>[\w.-]{2,40})\s[^\0]{0,80}pip install"
        r"|Missing optional dependency '(?P<package7>[\w.-]{2,40})|\[E050\] Can't find model '(?P<package8>[\w.-]{2,60})",
        cause="The package {package}, which the code needs for what it was asked to do, is not in the environment that runs, or does not import there; the message names it",
        remedy="Install it as the message says, with the Python that runs (python -m pip install NAME), and restart a notebook's kernel. If it is installed already: "
        "python -c 'import NAME' shows the reason why it does not import, which the code that raised this hides",
        command="python -m pip list",
        says=(
            "ImportError: Loading a GPTQ quantized model requires gptqmodel (`pip install gptqmodel`) library.",
            "ImportError: To support decoding macromolecular structures, please install 'biopython'.",
            "RuntimeError: WandbCallback requires wandb to be installed. Run `pip install wandb`.",
            "ImportError: coqui-tts switched to a forked version of Coqpit, but you still have the original package installed. Run the following to avoid conflicts:\n  pip uninstall coqpit\n  pip install coqpit-config",
        ),
        sources=(
            f"transformers 5.24.0 and datasets 5.2.0, their sources, read {_READ}",
            thread("idiap/coqui-ai-TTS", 449, "2025-07-08"),
        ),
        general=True,
    ),
    KnownError(
        id="stated-platform",
        pattern=r"(?:not|isn't|n't) (?:yet )?(?:supported|available|implemented) (?:on|for) (?:the )?(?P<system>Windows|macOS|MacOS|Mac|Linux|aarch64|ARM|arm64|Apple Silicon|WSL|ROCm|HIP|AMD)\b"
        r"|(?:only|Only) (?:supported|available|works?|runs?|implemented) (?:on|for|with|under) (?:the )?(?P<system2>Windows|macOS|Linux|x86_64|aarch64|ROCm|Apple Silicon)\b"
        r"|(?P<system3>Windows|macOS|Linux|ROCm|WSL)(?: \w{1,12})? (?:is|are) not (?:currently |yet )?supported",
        cause="What was asked for does not exist for this system ({system}): the package has no build of it there",
        remedy="Choose another backend or option, if the package has one; run it where it exists (under Windows mostly in WSL 2 or a Linux container, with a GPU of the vendor that it names)",
        says=(
            "RuntimeError: backend='tirx' is not supported on Windows",
            "ImportError: NCCL is not supported on Windows",
        ),
        sources=(f"flashinfer 0.7.2 and transformers 5.24.0, their sources, read {_READ}",),
        likely=True,
        general=True,
    ),
    KnownError(
        id="stated-device",
        pattern=r"(?:[Rr]equires?|[Nn]eeds?) (?:a |an |at least one )?(?:working |supported |visible )?(?P<device>CUDA|GPU|NVIDIA GPU|NVIDIA|XPU|HPU|NPU|ROCm)[ -](?:GPU|device|accelerator|capable|enabled|runtime|tensors?|support)"
        r"|(?:must|should|has to|have to) be (?:a |an |on a |on the |on )?(?P<device2>CUDA|GPU|XPU) (?:tensors?|devices?|GPU)|is not a (?P<device5>CUDA) tensor|[Ee]xpected an? '?(?P<device7>cuda|xpu)'? (?:device|tensor)|(?:requires?|needs?) a (?P<device6>GPU)\b"
        r"|(?:only|Only) (?:be )?(?:supported|available|works?|runs?|run|implemented|used) (?:on|for|with|in) (?:a |the )?(?P<device3>CUDA|GPUs?|NVIDIA|XPU)\b"
        r"|not (?:supported|implemented|available) (?:on|for) (?:the )?(?P<device4>CPU|MPS|mps|XPU)(?: device| backend)?\b",
        cause="The kernel that was asked for exists for another kind of device: no GPU of that kind is visible to torch, or the tensor or model was left in main memory",
        remedy="python -c 'import torch; print(torch.__version__, torch.cuda.is_available())' says whether torch sees a GPU; if not, `torchlift doctor` says why. If it does, move model "
        "and tensors there (.to('cuda'), device_map='cuda'), or choose an implementation for this device",
        command="python -c 'import torch; print(torch.__version__, torch.cuda.is_available())'",
        checks=("torch-cpu-build", "driver-missing", "cuda-visible-devices"),
        says=(
            "ValueError: the SM120 KDA prefill backend requires a CUDA device",
            "RuntimeError: GSan symmetric memory requires CUDA tensors.",
            "ValueError: Pointer argument (at 0) must be a CUDA tensor",
        ),
        sources=(f"triton 3.9.0 and flashinfer 0.7.2, their sources, read {_READ}",),
        likely=True,
        general=True,
    ),
)
