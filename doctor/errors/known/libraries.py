"""Libraries on top of torch that do not fit it, each other or the GPU."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_loading import NOT_IN_THE_PACKAGE
from torchlift.doctor.errors.known.causes_of_running import GGML_REFUSED
from torchlift.doctor.errors.known_error import KnownError, thread
from torchlift.doctor.errors.library_names import read_library_name

ROWS = (
    KnownError(
        id="chatglm-kernels",
        pattern=r"^[^\n]{0,40}No compiled kernel found\.?$|Compile (?:default )?cpu kernel|Compiling gcc (?:-O3|quantization)|Cannot load cpu kernel, don't use quantized model on cpu|quantization_kernels(?:_parallel)?\.(?:c|so)",
        cause="ChatGLM's quantized model compiles its kernels for the CPU on first use, and says so; that step needs gcc with OpenMP, and without it the quantized model runs on a GPU only",
        remedy="On a GPU the line does no harm: look below it for the error. On the CPU: install gcc (Ubuntu: build-essential; Windows: TDM-GCC with OpenMP, and a path without blanks or non-ASCII letters; macOS: libomp), delete the cached folder under ~/.cache/huggingface/modules/transformers_modules, start anew; or load the model unquantized in float32 (model.float()), or a GGUF of it with chatglm.cpp",
        command="gcc --version",
        likely=True,
        says=("No compiled kernel found.", "Cannot load cpu kernel, don't use quantized model on cpu."),
        sources=(thread("chatchat-space/Langchain-Chatchat", 778),),
    ),
    KnownError(
        id="bitsandbytes-setup-folder",
        pattern=r"No such file or directory: '?[^'\n]{0,160}bitsandbytes[/\\]{1,4}cuda_setup",
        cause="A program's installer (kohya's) puts its own files for Windows into the folder cuda_setup of bitsandbytes, and that folder is not there: bitsandbytes is not installed in this Python, or is a release that no longer has it (0.43 and newer bring their own files for Windows)",
        remedy="Skip that step of the installer and install a release with Windows files: python -m pip install -U bitsandbytes (0.43 or newer); the program pins an older one: python -m pip install bitsandbytes==0.41.1 before it. A path with msys64 or mingw64: this is MSYS's Python, for which there is no torch: use the one of python.org in a new environment",
        command="python -m pip show bitsandbytes",
        likely=True,
        says=("FileNotFoundError: [Errno 2] No such file or directory: 'site-packages\\\\bitsandbytes\\\\cuda_setup'",),
        sources=(thread("Linaqruf/kohya-trainer", 287),),
    ),
    KnownError(
        id="trainer-setting-is-none",
        pattern=r"training_args\.py\"?, line \d{1,6}, in __post_init__[\n](?:[^\n]{0,200}\n){0,3}?(?P<raised>TypeError: )(?:argument of type 'NoneType' is not (?:iterable|a container)|'NoneType' object is not \w{1,20})",
        cause="TrainingArguments of transformers got None for a setting that it takes apart (fsdp, report_to, debug and such): the program that builds on it hands over its own default, which is for another release of transformers",
        remedy='The quoted line names the setting: pass it explicitly (--fsdp "" for FSDPOption, --report_to none). Then upgrade the program (ms-swift, LLaMA-Factory, axolotl) and transformers together, or take the transformers that it pins',
        command="python -m pip check",
        likely=True,
        says=(
            '  File "/venv/lib/python3.11/site-packages/transformers/training_args.py", line 1887, in __post_init__\n    elif FSDPOption.FULL_SHARD in self.fsdp:\n'
            "TypeError: argument of type 'NoneType' is not iterable",
        ),
        sources=(thread("modelscope/ms-swift", 7156),),
    ),
    KnownError(
        id="library-requires-library",
        pattern=r"is required for a normal functioning of this module, but found|but found [\w-]{1,40}==[\w.]{1,20}\.? ?Try: `pip install"
        r"|MMCV==\S{1,20} is used but incompatible|MMEngine==\S{1,20} is used but incompatible|MMDet==\S{1,20} is used but incompatible",
        cause="An installed library asks for another release of the one that is named, mostly since an installation of something else replaced it",
        remedy="Install the two in one command, so that the installer finds releases that fit",
        says=(
            "ImportError: huggingface-hub>=0.19.3,<1.0 is required for a normal functioning of this module, but found "
            "huggingface-hub==0.17.1",
            "AssertionError: MMCV==1.7.2 is used but incompatible. Please install mmcv>=2.0.0rc4.",
        ),
        sources=(
            thread("huggingface/huggingface_hub", 2377, "2024-07-05"),
            thread("YanWenKun/Hunyuan3D-2-WinPortable", 104, "2025-12-26"),
            thread("open-mmlab/mmcv", 2236, "2022-08-29"),
            thread("xzz777/SCTNet", 11, "2024-01-29"),
        ),
    ),
    KnownError(
        id="name-not-in-this-library",
        pattern=r"cannot import name '\w{1,80}' from '(transformers|huggingface_hub|diffusers|accelerate|peft|trl|datasets|tokenizers"
        r"|pytorch_lightning|lightning|torchmetrics|timm|safetensors|vllm|deepspeed|flash_attn|xformers|mmcv|mmengine)(\.[\w.]{1,80})?'(?! \(unknown location\))"
        r"|No module named '(transformers|huggingface_hub|diffusers|accelerate|peft|trl|pytorch_lightning|lightning|torchmetrics|timm|mmcv|vllm"
        r"|deepspeed)\.[a-z][\w.]{1,80}'"
        r"|module '(transformers|diffusers|accelerate|peft|pytorch_lightning|torchmetrics|timm|mmcv)(\.[\w.]{1,80})?' has no attribute",
        cause="The installed release of the library has no such name: it and the code that asks are of different times",
        remedy="The last File line before the message says who asks: the program, or a package. python -m pip show NAME gives the installed release; whether it is older or newer than the code decides (a name of new hardware or a new model is mostly missing in an older release, one that was long there was removed in a newer)",
        causes=NOT_IN_THE_PACKAGE,
        reads=read_library_name,
        command="python -m pip check",
        says=(
            "ImportError: cannot import name 'cached_download' from 'huggingface_hub'",
            "ModuleNotFoundError: No module named 'pytorch_lightning.utilities.distributed'",
        ),
        sources=(
            thread("navervision/lincir", 22, "2024-10-30"),
            thread("GaParmar/img2img-turbo", 97, "2024-10-23"),
            thread("deepbeepmeep/Wan2GP", 1263, "2025-12-30"),
        ),
    ),
    KnownError(
        id="bitsandbytes-kernel",
        pattern=r"(named symbol not found|no kernel image[^\n]{0,60}|invalid device function|device kernel image is invalid) at line \d{1,5} in file [^\n]{0,120}(bitsandbytes|csrc/ops\.cu|csrc\\ops\.cu)",
        cause="The library of bitsandbytes was loaded, and has no kernel for this GPU: that release was built for other architectures",
        remedy="Upgrade bitsandbytes; for a GPU that its wheels leave out, build it here (cmake -DCOMPUTE_BACKEND=cuda -DCOMPUTE_CAPABILITY=NUMBER, 75 for 7.5), or take a type without it",
        command="pip install -U bitsandbytes",
        checks=("gpu-architecture", "library-path"),
        says=("Error named symbol not found at line 116 in file bitsandbytes/csrc/ops.cu",),
        sources=(
            thread("bitsandbytes-foundation/bitsandbytes", 571),
            thread("bitsandbytes-foundation/bitsandbytes", 382, "2023-05-11"),
        ),
    ),
    KnownError(
        id="bitsandbytes-without-library",
        pattern=r"'NoneType' object has no attribute 'c(quantize|dequantize|get|gemm|adam|igemm|optimizer)\w{0,60}'"
        r"|argument of type 'WindowsPath' is not iterable|function 'c\w{1,60}' not found|dlsym\([^\n]{0,40}c(?:quantize|dequantize|get|gemm|adam|igemm)\w{0,60}\)",
        cause="bitsandbytes did not find a library of its own for this CUDA, and goes on without one or with the one for the CPU, which has none of the GPU's functions",
        remedy="python -m bitsandbytes says which CUDA it looks for and why it is not found: a torch without CUDA, no GPU in view, or a CUDA that this release has no library for. Upgrade bitsandbytes; BNB_CUDA_VERSION=126 takes the library of another CUDA; an AMD or Intel GPU needs release 0.49 or newer",
        command="pip install -U bitsandbytes",
        checks=("torch-cpu-build", "library-path", "gpu-architecture"),
        says=("AttributeError: 'NoneType' object has no attribute 'cquantize_blockwise_fp16_nf4'",),
        sources=(thread("bitsandbytes-foundation/bitsandbytes", 693, "2024-10-24"),),
    ),
    KnownError(
        id="deepspeed-operator",
        pattern=r"'DeepSpeedCPUAdam' object has no attribute 'ds_opt_adam'|Unable to (pre-compile|JIT load the) \w{1,40}",
        cause="DeepSpeed could not build one of its operators; what failed stands further up (libaio, the compiler, a toolkit of another CUDA)",
        remedy="See with ds_report which operators can be built; install what it names, and the toolkit of torch's CUDA",
        command="ds_report",
        checks=("toolkit-mismatch", "host-compiler"),
        says=(
            "AttributeError: 'DeepSpeedCPUAdam' object has no attribute 'ds_opt_adam'",
            "AssertionError: Unable to pre-compile async_io",
        ),
        sources=(
            thread("deepspeedai/DeepSpeed", 1846),
            thread("deepspeedai/DeepSpeed", 1401, "2021-09-26"),
            thread("LlamaChinese/Llama-Chinese", 351, "2024-07-10"),
        ),
    ),
    KnownError(
        id="deepspeed-async-io-remark",
        pattern=r"async_io requires the dev libaio|async_io: please install the libaio",
        cause="DeepSpeed would like libaio for offloading to NVMe, and does without it",
        remedy="Nothing, where nothing is offloaded to disk; else install libaio-dev",
        says=(" [WARNING]  async_io requires the dev libaio .so object and headers but these were not found.",),
        sources=(thread("deepspeedai/DeepSpeed", 6995),),
        level="warning",
    ),
    KnownError(
        id="vllm-without-device",
        pattern=r"Failed to infer device type|No platform detected, vLLM is running on UnspecifiedPlatform|Device string must not be empty",
        cause="vLLM finds no GPU that it was built for: torch sees none, NVML cannot be asked, or the package is for another platform",
        remedy="See that torch.cuda.is_available() is True; set VLLM_LOGGING_LEVEL=DEBUG; remove the package pynvml, which hides nvidia-ml-py",
        checks=("torch-cpu-build", "driver-missing", "cuda-visible-devices", "pynvml-shadow", "driver-library-broken"),
        says=("RuntimeError: Failed to infer device type",),
        sources=(thread("vllm-project/vllm", 14200, "2025-03-04"), thread("ai-dynamo/dynamo", 391, "2025-03-26")),
    ),
    KnownError(
        id="custom-operator-missing",
        pattern=r"'_OpNamespace' '\w{1,60}' object has no attribute '\w{1,80}'|'(fbgemm|torch_\w{1,20}|vllm|_C|torchvision|torchaudio|xformers|flash_attn\w{0,10})' object has no attribute '\w{1,80}'|Failed to import from vllm\._\w{1,30} with",
        cause="The compiled part of a package did not load, so that its operators are missing; why stands further up as a warning",
        remedy="Import that part alone to see the reason; mostly the package was built for another torch or CUDA: install the build for this one",
        checks=("extension-abi", "missing-libraries"),
        says=(
            "AttributeError: '_OpNamespace' '_C' object has no attribute 'rms_norm'",
            "Failed to import from vllm._C with ImportError('libcudart.so.13: cannot open')",
        ),
        sources=(thread("vllm-project/vllm", 9319, "2024-10-15"),),
    ),
    KnownError(
        id="quantization-needs-newer-gpu",
        pattern=r"quantization (method|scheme).{0,60}is not supported for.{0,12}the current GPU|Quantization scheme is not supported for"
        r"|Marlin does not support.{0,60}(capability|GPU)|Cannot use FA version \d is not supported"
        r"|Only (Ampere|Turing|Hopper|Volta) (and|or) (newer|above|later)",
        cause="The kernels of this format need a newer GPU: the message names the capability that it asks for and the one that the card has",
        remedy="Take the weights in a format that this GPU runs, such as float16 or GPTQ, or a newer GPU",
        checks=("gpu-features",),
        says=(
            "ValueError: The quantization method awq is not supported for the current GPU. Minimum capability: 75. Current capability: 70.",
            "RuntimeError: ('Quantization scheme is not supported for ', 'the current GPU. Min capability: 80. ', 'Current capability: 75.')",
        ),
        sources=(
            thread("vllm-project/vllm", 1282, "2023-10-07"),
            thread("vllm-project/vllm", 4327),
            thread("vllm-project/vllm", 14040),
        ),
    ),
    KnownError(
        id="kv-cache-too-small",
        pattern=r"larger than the (available KV cache memory|maximum number of tokens that can be stored in KV cache)"
        r"|Not enough memory\. Please try to increase --mem-fraction-static|max seq len.{0,200}KV cache is needed",
        cause="The memory that is left beside the weights is too small for one request of the model's greatest length",
        remedy="Lower max_model_len to what you need, or raise gpu_memory_utilization; spread the model over more GPUs",
        checks=("memory-in-use",),
        says=(
            "ValueError: The model's max seq len (163840) is larger than the maximum number of tokens that can be stored in KV cache (13360).",
            "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, which is larger "
            "than the available KV cache memory (0.71 GiB).",
        ),
        sources=(
            thread("deepseek-ai/DeepSeek-V2", 83, "2024-08-15"),
            thread("vllm-project/tpu-inference", 223, "2025-07-17"),
        ),
    ),
    KnownError(
        id="quantized-model-too-large",
        pattern=r"Some modules are dispatched on the CPU or the disk",
        cause="The quantised model does not fit into the free memory of the GPUs, and its format cannot run on the CPU",
        remedy="Free GPU memory, quantise further (4 bits), or allow the offload that the message names",
        checks=("memory-in-use",),
        says=(
            "ValueError: Some modules are dispatched on the CPU or the disk. Make sure you have enough GPU RAM to fit the quantized model.",
        ),
        sources=(thread("hustvl/Senna", 17, "2025-01-07"), thread("meta-llama/llama-cookbook", 56, "2023-07-27")),
    ),
    KnownError(
        id="lightning-without-gpu",
        pattern=r"No supported gpu backend found|\w{0,10}Accelerator`? can( )?not run on your system since the accelerator is not available"
        r"|You requested (?:gpu|GPUs?): .{0,60} [Bb]ut your machine only has|GPUs requested but none are available|Insufficient GPUs: requested|requested gpu: \[[\d, ]{1,40}\]",
        cause="Lightning was told to use a GPU, and torch sees none: it is a build for the CPU, or the GPU is out of its view",
        remedy="Install torch for this GPU, or pass accelerator='auto'",
        checks=("torch-cpu-build", "driver-missing", "cuda-visible-devices", "torch-other-vendor"),
        wheel=True,
        says=(
            "MisconfigurationException: No supported gpu backend found!",
            "MisconfigurationException: You requested GPUs: [1]\n But your machine only has: []",
            "MisconfigurationException: GPUAccelerator can not run on your system since the accelerator is not available.",
        ),
        sources=(
            thread("microsoft/mattergen", 217, "2025-10-22"),
            thread("open-edge-platform/anomalib", 510, "2022-08-19"),
        ),
    ),
    KnownError(
        id="onnxruntime-cuda",
        pattern=r"Failed to create CUDAExecutionProvider|onnxruntime_providers_(cuda|tensorrt|shared)\.(dll|so)"
        r"|CUDA_PATH is set but CUDA wasn'?t able to be loaded|Specified provider 'CUDAExecutionProvider' is not in available provider names",
        cause="onnxruntime goes on without the GPU: the package is the one for the CPU, or CUDA and cuDNN of the major versions that it was "
        "built for are not found",
        remedy="Keep onnxruntime-gpu alone (not onnxruntime beside it), in the release for the CUDA and cuDNN that torch brings; import torch "
        "before it, or call onnxruntime.preload_dlls()",
        checks=("missing-libraries", "library-path"),
        says=(
            "Failed to create CUDAExecutionProvider. Require cuDNN 9.* and CUDA 12.*, and the latest MSVC runtime.",
            "UserWarning: Specified provider 'CUDAExecutionProvider' is not in available provider names.Available providers: "
            "'AzureExecutionProvider, CPUExecutionProvider'",
        ),
        sources=(
            thread("microsoft/onnxruntime", 21825, "2024-08-22"),
            thread("microsoft/onnxruntime", 23736, "2025-02-18"),
            thread("microsoft/onnxruntime", 16931, "2023-07-31"),
        ),
    ),
    KnownError(
        id="onnx-ir-version",
        pattern=r"Unsupported model IR version|guarantees\W{0,3} support for models stamped with official released onnx opset"
        r"|Opset \d{1,3} is under development",
        cause="The ONNX file was written by a newer onnx than this onnxruntime reads",
        remedy="Upgrade onnxruntime, or export again with a lower opset_version and an older onnx",
        command="pip install -U onnxruntime",
        says=("onnxruntime::Model::Model Unsupported model IR version: 10, max supported IR version: 9",),
        sources=(
            thread("microsoft/onnxruntime", 20559, "2024-09-30"),
            thread("microsoft/onnxruntime", 23602, "2025-02-06"),
        ),
    ),
    KnownError(
        id="audio-backend",
        pattern=r"Couldn't find appropriate backend to handle uri|No audio backend is available|No audio I/O backend is available|is not one of available backends: \[|requires (?:lib)?sox extension which is not available|sox_io backend is not available",
        cause="torchaudio found no library that reads such a file: neither soundfile nor FFmpeg nor SoX is there in a release that it loads, or the program asks for one that is not there (sox_io under Windows, names of before 2.1)",
        remedy="Install soundfile (and libsndfile of the system where it says so); for compressed formats FFmpeg too, for SoX the system's libsox. Leave set_audio_backend out, or name one of torchaudio.list_audio_backends() (2.1 to 2.8). Since torchaudio 2.9, TorchCodec reads files",
        command="pip install soundfile",
        says=("RuntimeError: Couldn't find appropriate backend to handle uri output.wav and format None.",),
        sources=(
            thread("Stability-AI/stable-audio-3", 32, "2026-05-20"),
            thread("facebookresearch/encodec", 79, "2024-06-17"),
        ),
    ),
    KnownError(
        id="flash-attention-version",
        pattern=r"Requires Flash-?[Aa]ttention version",
        cause="A package that calls flash-attn takes only certain releases of it, and the installed one is none of them",
        remedy="Install a release of flash-attn within the range that the message names, or upgrade the package that asks for it",
        checks=("extension-abi",),
        says=("Requires Flash-attention version >=2.7.1, <=2.7.4 but got 2.8.3",),
        sources=(thread("Tongyi-MAI/Z-Image", 128),),
    ),
    KnownError(
        id="flash-attention-toolkit",
        pattern=r"FlashAttention is only supported on CUDA \d",
        cause="FlashAttention is being compiled, and the CUDA compiler (nvcc) that it found is too old, whatever CUDA torch is for",
        remedy="Install a wheel of flash-attn for this torch and Python; else install the toolkit of torch's CUDA, and put its nvcc first on PATH",
        checks=("toolkit-mismatch",),
        says=(
            "RuntimeError: FlashAttention is only supported on CUDA 11.7 and above.  Note: make sure nvcc has a supported version by running "
            "nvcc -V.",
        ),
        sources=(thread("Dao-AILab/flash-attention", 825, "2024-07-25"), thread("DQiaole/MemFlow", 14, "2025-03-21")),
    ),
    KnownError(
        id="ipex-version",
        pattern=r"Intel\S{0,3} Extension for PyTorch\S{0,2} needs to work with PyTorch",
        cause="Intel's extension is for one minor release of torch, and another one is installed",
        remedy="Uninstall intel-extension-for-pytorch: torch's own builds for XPU and CPU have what it brought; or install the torch that it names",
        command="pip uninstall intel-extension-for-pytorch",
        checks=("torch-other-vendor",),
        says=(
            "ERROR! Intel® Extension for PyTorch* needs to work with PyTorch 2.2.*, but PyTorch 2.1.0+cu121 is found. Please switch to the "
            "matching version and run again.",
        ),
        sources=(
            thread("intel/intel-extension-for-transformers", 1278, "2024-02-18"),
            thread("intel/intel-extension-for-pytorch", 871, "2025-11-10"),
        ),
    ),
    KnownError(
        id="bitsandbytes-move",
        pattern=r"`\.to` is not supported for `\d-bit`|\.to\(\)?` is not supported for|You can't train a model that has been loaded in 8-bit",
        cause="A model in 8 or 4 bits lies where bitsandbytes put it when it was loaded and is not moved as a whole; with several processes each has to load it on its own GPU",
        remedy="Leave out .to() and .cuda(), load with device_map={'': torch.cuda.current_device()} (one GPU a process; 'auto' only for inference), and upgrade accelerate, transformers and bitsandbytes together: newer ones leave such models alone",
        command="python -m pip install -U accelerate transformers bitsandbytes",
        says=("ValueError: `.to` is not supported for `4-bit` or `8-bit` bitsandbytes models.",),
        sources=(
            "the wording as programs print it; no thread was read for it, 2026-11-26",
            "accelerate 1.15.0 and transformers 5.24.0, their sources, read 2026-11-26",
        ),
        likely=True,
    ),
    KnownError(
        id="ggml-cuda-error",
        pattern=r"(?:Multi-GPU|CUDA|ROCm|HIP|MUSA) error,? ?[^\n]{0,40}(?:at )?[^\n]{0,160}ggml-cuda[\w/\\.-]{0,60}?\.cuh?:\d{1,6}:? (?!out of memory)(?P<name>[\w ]{0,60})",
        cause="llama.cpp's own code for CUDA (ggml-cuda, in llama-cpp-python, ollama, whisper.cpp) was refused a call ({name}); torch has no part in it",
        remedy="Tell these apart by what makes it go away",
        causes=GGML_REFUSED,
        command="CUDA_VISIBLE_DEVICES=0 PROGRAM",
        checks=("driver-too-old", "extension-architecture", "peer-access"),
        says=(
            "Multi-GPU error, ggml-cuda.cu:7036: invalid argument",
            "CUDA error 13 at ggml-cuda.cu:9033: invalid device symbol",
        ),
        sources=(thread("abetlen/llama-cpp-python", 886), thread("ggml-org/llama.cpp", 3930)),
    ),
    KnownError(
        id="ggml-assertion",
        pattern=r"GGML_ASSERT\b|ggml_abort|ggml_cuda_compute_forward: \w{1,40} failed",
        cause="llama.cpp ended itself because a condition does not hold: this release has a defect with this model, GPU or split over GPUs, or was built for other GPUs; a line of CUDA beside it is the nearer cause",
        remedy="Upgrade the package that contains it (llama-cpp-python, ollama), with code for this GPU (CMAKE_ARGS='-DGGML_CUDA=on -DCMAKE_CUDA_ARCHITECTURES=native'); try -ngl 0 (CPU), one GPU (CUDA_VISIBLE_DEVICES=0), and without -fa to see which of them it is",
        checks=("extension-architecture",),
        says=("GGML_ASSERT: ggml-cuda.cu:7233: false",),
        sources=("the wording as programs print it; no thread was read for it, 2026-11-26",),
        likely=True,
        general=True,
    ),
    KnownError(
        id="webui-torch-install",
        pattern=r"Couldn't install torch\.",
        cause="The program's own installer ran pip for a fixed release of torch, and pip had no file of it: mostly Python is newer than that release knows (the line `from versions:` further up), or the download broke off",
        remedy="Install the Python that the program names (AUTOMATIC1111: 3.10), delete its folder venv, and start it again; or set TORCH_COMMAND in webui-user to a release for this Python",
        checks=("python-version",),
        says=("RuntimeError: Couldn't install torch.",),
        sources=(
            thread("AUTOMATIC1111/stable-diffusion-webui", 7964, "2023-02-20"),
            thread("AUTOMATIC1111/stable-diffusion-webui", 17372, "2026-04-14"),
        ),
        likely=True,
    ),
    KnownError(
        id="transformer-engine-state",
        pattern=r"fp8_meta\[.recipe.\][^\n]{0,60}\n?.{0,80}KeyError: 'recipe'|KeyError: 'recipe'|\._extra_state\b[^\n]{0,80}(?:Missing|Unexpected|mismatch)|(?:Missing|Unexpected) key[^\n]{0,200}\._extra_state",
        cause="The checkpoint holds the state of FP8 layers (_extra_state) in the form of another Transformer Engine, or was written without it",
        remedy="Install the Transformer Engine that the model's authors name (its README or requirements), for this torch; or load with strict=False and leave out keys that end in _extra_state, where FP8 is calibrated anew",
        command="python -m pip show transformer-engine",
        says=("KeyError: 'recipe'",),
        sources=(thread("ArcInstitute/evo2", 122, "2025-05-10"), thread("ArcInstitute/evo2", 75, "2025-03-19")),
        likely=True,
    ),
    KnownError(
        id="deepspeed-accelerator",
        pattern=r"Can't instantiate abstract class (?P<name>\w{1,20}_Accelerator)",
        cause="DeepSpeed's part for this device ({name}) lacks methods that the rest of that release asks for: it is not whole there",
        remedy="Upgrade DeepSpeed; on a Mac train without it (it is for several GPUs: accelerate config without DeepSpeed, or take `deepspeed` out of the script's arguments)",
        command="python -m pip install -U deepspeed",
        says=(
            "TypeError: Can't instantiate abstract class MPS_Accelerator with abstract methods handles_memory_backpressure",
        ),
        sources=(thread("deepspeedai/DeepSpeed", 5132, "2024-02-14"),),
    ),
    KnownError(
        id="scipy-numpy-remark",
        pattern=r"A NumPy version >=[\w.]{1,12} and <[\w.]{1,12} is required for this version of SciPy",
        cause="A remark of SciPy: the NumPy here is newer or older than the releases that it was tested with. It mostly works; where something fails in SciPy, this is why",
        remedy="Upgrade both together: python -m pip install -U scipy numpy; where torch or a program pins NumPy, take the SciPy of its time",
        command="python -m pip install -U scipy",
        says=(
            "UserWarning: A NumPy version >=1.16.5 and <1.23.0 is required for this version of SciPy (detected version 1.23.5",
        ),
        sources=(thread("camenduru/sdxl-colab", 22, "2023-10-23"),),
        level="warning",
    ),
)
