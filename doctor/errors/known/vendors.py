"""Apple's, Intel's and AMD's GPUs, and the statuses of numerical libraries."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import UNREAD, KnownError, thread, torch_file

_LIBRARY_DOCS = (
    "docs.nvidia.com, the status types of the CUDA libraries, by their names; no thread was read, 2026-11-23"
)

ROWS = (
    KnownError(
        id="mps-mixed-dtypes",
        pattern=r"LLVM ERROR: Failed to infer result type|input types 'tensor<[^'\n]{1,60}>' and 'tensor<[^'\n]{1,60}>' are not broadcast compatible|MetalPerformanceShadersGraph.{0,200}not broadcast compatible",
        cause="On Apple's GPUs an operation got tensors of different dtypes (half and single precision), which Metal's compiler does not join",
        remedy="Run the model in one precision (--no-half, --precision full, model.float()), or upgrade torch and macOS, which cast in more places",
        says=(
            "error: input types 'tensor<2x1280xf32>' and 'tensor<*xf16>' are not broadcast compatible\nLLVM ERROR: Failed to infer result type(s).",
        ),
        sources=(
            thread("AUTOMATIC1111/stable-diffusion-webui", 1212, "2022-09-28"),
            thread("s9roll7/animatediff-cli-prompt-travel", 89, "2023-10-06"),
        ),
    ),
    KnownError(
        id="mps-size",
        pattern=r"MPSGaph does not support tensor dims larger than INT_MAX|NDArray (dimension length )?> (INT_MAX|2\*\*32)|product of dimension sizes > 2\*\*31|total bytes of NDArray > 2\*\*32|MPSNDArray.{0,80}(> 2\*\*3[12]|INT_MAX)|Output channels > 65536 not supported at the MPS",
        cause="A tensor is larger than Apple's Metal takes (2^31 elements or 2^32 bytes in one array)",
        remedy="Smaller batches, images or contexts; attention in slices; upgrade macOS and torch, which raise some of the limits; else the CPU for that step",
        says=(
            "/AppleInternal/Library/BuildRoots/x/MPSNDArray.mm:705: failed assertion `[MPSTemporaryNDArray initWithDevice:descriptor:] Error: product of dimension sizes > 2**31'",
            "RuntimeError: MPSGaph does not support tensor dims larger than INT_MAX",
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="mps-failed-assertion",
        pattern=r"(MetalPerformanceShaders|MPSCore|MPSNDArray|MPSGraph|IOGPUMetal\w{1,24}|AGX\w{1,24}|MTL\w{1,30}).{0,300}failed assertion|failed assertion `?\[?(MPS|MTL|_MTL|AGX|IOGPU|Completed|A command)|commit an already committed command buffer|command buffer exited with error status|Failed to create (indexing|function|compute) .{0,20}(library|pipeline|state)|Compute function exceeds available temporary registers|failed to compile metal|Error creating (compute )?pipeline",
        cause="Apple's Metal refused what torch gave it and ended the process: a defect of this torch or macOS at that operation, or two threads that use the GPU at once",
        remedy="Upgrade macOS and torch; use the GPU from one thread; run that operation on the CPU (PYTORCH_ENABLE_MPS_FALLBACK=1 covers missing ones only)",
        command="export PYTORCH_ENABLE_MPS_FALLBACK=1",
        says=(
            "-[IOGPUMetalCommandBuffer validate]:215: failed assertion `commit an already committed command buffer'",
        ),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="mps-operator-limits",
        pattern=r"(Conv3D|ConvTranspose ?3D|(Conv|conv)\w{0,12}) .{0,30}not supported (on|for) MPS|Unsupported \w{1,20} padding mode.{0,20}MPS|MPS: Unsupported|MPS does not support|not supported (on|for|by) (the )?MPS(?! device)|is only supported on MPS|Adaptive pool MPS|op \w{0,20} ?is supported natively starting from macOS",
        cause="This operation, or this form of it, does not exist for Apple's GPUs in this torch or macOS",
        remedy="Upgrade torch and macOS; run it on the CPU (x.cpu()), or set the fallback before torch is imported",
        command="export PYTORCH_ENABLE_MPS_FALLBACK=1",
        says=(
            "RuntimeError: Conv3D is not supported on MPS",
            "RuntimeError: Adaptive pool MPS: input sizes must be divisible by output sizes.",
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="mps-placeholder",
        pattern=r"Placeholder storage has not been allocated on MPS device",
        cause="The model is on Apple's GPU and an input is not (or the other way round)",
        remedy="Move both to the same device: inputs with .to('mps')",
        says=("RuntimeError: Placeholder storage has not been allocated on MPS device!",),
        sources=(UNREAD,),
    ),
    KnownError(
        id="xpu-native-api",
        pattern=r"Native API failed\. Native API returns: -?(?P<number>\d{1,5}) \((?P<name>[\w ]{1,60})\)",
        cause="Intel's runtime answered {name}. UNINITIALIZED, DEVICE_NOT_FOUND, PLATFORM: the GPU driver or Level Zero is missing or of another release; OUT_OF_RESOURCES, OUT_OF_DEVICE_MEMORY: "
        "memory; DEVICE_LOST, backend specific error (997), 999: the GPU hung or its driver is too old; INVALID_KERNEL, BINARY: no code for this GPU; INVALID_VALUE, ARG: a defect of the library",
        remedy="Update Intel's GPU driver (compute runtime) to the one that torch's release names; do not source oneAPI's setvars.sh; with several copies of libstdc++ take the newest (conda: "
        "libstdcxx-ng); use torch's own XPU wheel",
        checks=("driver-missing", "torch-other-vendor", "library-path"),
        says=(
            "RuntimeError: Native API failed. Native API returns: -1102 (PI_ERROR_UNINITIALIZED) -1102 (PI_ERROR_UNINITIALIZED)",
            "RuntimeError: Native API failed. Native API returns: -997 (The plugin has emitted a backend specific error) -997 (The plugin has emitted a backend specific error)",
            "RuntimeError: Native API failed. Native API returns: 29 (UR_RESULT_ERROR_INVALID_KERNEL_NAME)",
            "RuntimeError: Native API failed. Native API returns: -50 (PI_ERROR_INVALID_ARG_VALUE) -50 (PI_ERROR_INVALID_ARG_VALUE)",
        ),
        sources=(
            thread("intel/intel-extension-for-pytorch", 359, "2023-05-26"),
            thread("intel/intel-extension-for-pytorch", 708, "2024-09-24"),
            thread("intel/intel-extension-for-pytorch", 335, "2023-04-24"),
            thread("intel/torch-xpu-ops", 1498, "2025-03-24"),
        ),
        likely=True,
    ),
    KnownError(
        id="xpu-status",
        pattern=r"\b(?P<name>(UR_RESULT_ERROR|ZE_RESULT_ERROR|PI_ERROR)_[A-Z_]{3,50})\b|Level[- ]Zero error:? ?(?P<name2>0x[0-9a-f]{4,10})|No device of requested type available|Default context is not supported on XPU|Kernel is incompatible with all devices",
        cause="Intel's GPU runtime (Level Zero, SYCL) reported {name}",
        remedy="Update Intel's GPU driver to the one that torch's release names, and take torch's own XPU wheel; on Windows switch the processor's graphics off where two devices disturb each other; a status with MEMORY or "
        "RESOURCES: smaller batches",
        checks=("driver-missing", "torch-other-vendor"),
        says=(
            "RuntimeError: level_zero backend failed with error: 65 (UR_RESULT_ERROR_UNINITIALIZED)",
            "RuntimeError: Default context is not supported on XPU on Windows. So we can NOT find its global index of the ATen device.",
        ),
        sources=(thread("intel/torch-xpu-ops", 910, "2024-09-13"),),
        likely=True,
    ),
    KnownError(
        id="onednn-primitive",
        pattern=r"could not (create|execute|construct) a (primitive|memory|engine|stream|\w{0,20} ?primitive descriptor)|dnnl_\w{1,40} failed|could not create a primitive descriptor",
        cause="oneDNN has no kernel for this operation: a shape with a zero in it, a dtype that this processor does not have (half precision, bfloat16), too little memory, or on Intel GPUs a driver that does not fit",
        remedy="Print shapes and dtypes before the call; try torch.backends.mkldnn.enabled = False, which uses other kernels on the CPU; on Intel GPUs update the driver",
        command="ONEDNN_VERBOSE=1 python PROGRAM",
        says=(
            "RuntimeError: could not create a primitive",
            "RuntimeError: could not create a primitive descriptor for a convolution forward propagation primitive",
        ),
        sources=(thread("intel/torch-xpu-ops", 910, "2024-09-13"),),
        likely=True,
    ),
    KnownError(
        id="rocm-library-status",
        pattern=r"\b(?P<name>(HIPBLAS|HIPFFT|HIPSPARSE|HIPSOLVER|ROCBLAS|rocblas|hipblas|HIPRAND|rocsolver|rocsparse|rocfft|ROCFFT|HIPDNN)_?(STATUS|status|PARSE|SETUP|EXEC|INTERNAL|ALLOC|INVALID)_?\w{1,40})\b|rocBLAS error: |hipBLASLt error|hipblaslt error: ",
        cause="A library of ROCm answered {name}: it has no kernels for this GPU's architecture, was given no memory, or is of another ROCm than torch's",
        remedy="Compare gcnArchName of torch.cuda.get_device_properties(0) with torch.cuda.get_arch_list(); on consumer cards HSA_OVERRIDE_GFX_VERSION names the nearest architecture that is supported; TORCH_BLAS_PREFER_HIPBLASLT=0 does without hipBLASLt",
        command="export TORCH_BLAS_PREFER_HIPBLASLT=0",
        checks=("gpu-architecture", "torch-other-vendor", "library-path"),
        says=(
            "RuntimeError: CUDA error: HIPBLAS_STATUS_ALLOC_FAILED when calling `hipblasCreate(handle)`",
            "RuntimeError: CUDA error: HIPBLAS_STATUS_INTERNAL_ERROR when calling `hipblasLtMatmul`",
        ),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="rocm-architecture-of-kernel",
        pattern=r"requires (?P<needed>gfx\w{2,6})\b.{0,40}got (?P<found>gfx\w{2,6})|unsupported (gpu )?(arch|architecture|target)\W{1,12}(?P<found2>gfx\w{2,6})|(?P<found3>gfx\w{2,6}) is not (a )?(supported|recognized)|Unsupported gfx|for GPU arch : (?P<found4>gfx\w{2,6})",
        cause="The kernel was written for other AMD GPUs ({needed}) than this one ({found})",
        remedy="Choose another backend of the library (AITER off: VLLM_ROCM_USE_AITER=0; Triton or torch's own attention), or the release that lists this GPU",
        command="export VLLM_ROCM_USE_AITER=0",
        checks=("gpu-architecture",),
        says=("AssertionError: mla_gluon requires gfx950 (CDNA4), got gfx942",),
        sources=(thread("vllm-project/vllm", 51964),),
    ),
    KnownError(
        id="amdgpu-reset",
        pattern=r"amdgpu[^\n]{0,60}(ring [\w.]{1,30} timeout|GPU reset (begin|succeeded|failed)|\[gfxhub\d?\] page fault|Fence fallback timer|VRAM is lost)|amdgpu: .{0,60}failed to|\[drm:amdgpu\w{0,40}\] \*ERROR\*",
        cause="The AMD GPU hung and its driver reset it, or a program touched memory that is not its own",
        remedy="Update kernel, firmware (linux-firmware) and ROCm to a set that belongs together; take off overclocking; HSA_OVERRIDE_GFX_VERSION of another architecture can cause it",
        checks=("gpu-lost",),
        says=("amdgpu 0000:0c:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=3",),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="directml",
        pattern=r"Could not allocate tensor with \d{1,14} bytes\. There is not enough GPU video memory|The GPU (device instance has been suspended|will not respond to more commands)|torch_directml\W.{0,80}(not implemented|not supported)|DXGI_ERROR_DEVICE_(HUNG|REMOVED|RESET)|DML.{0,40}(not supported|currently not implemented)",
        cause="DirectML ran out of the GPU's memory, or Windows reset the GPU because one command took too long",
        remedy="Smaller images and batches, --medvram or --lowvram; close what uses the GPU; on AMD cards ROCm's own torch for Windows is faster and newer than DirectML",
        says=(
            "RuntimeError: Could not allocate tensor with 1073741824 bytes. There is not enough GPU video memory available!",
        ),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="bitsandbytes-int8",
        pattern=r"cuBLAS API failed with status 15\b|cublasLt ran into an error",
        cause="bitsandbytes asks cuBLASLt for a product in 8 bits that does not exist for this GPU (status 15 is NOT_SUPPORTED): Hopper (H100, H800) has none of the layouts that its releases up to 2024-11 use, and GPUs older than "
        "Turing have none",
        remedy="Upgrade bitsandbytes, or load in 4 bits (load_in_4bit) or 16 bits instead of load_in_8bit; on GPUs that have it, see that its CUDA is torch's (python -m bitsandbytes)",
        checks=("gpu-architecture", "library-path"),
        says=("cuBLAS API failed with status 15", "Exception: cublasLt ran into an error!"),
        sources=(
            thread("bitsandbytes-foundation/bitsandbytes", 538, "2024-11-07"),
            thread("bitsandbytes-foundation/bitsandbytes", 599, "2023-07-17"),
            thread("tloen/alpaca-lora", 174, "2023-07-24"),
            thread("huggingface/transformers", 37668, "2025-04-22"),
        ),
        likely=True,
    ),
    KnownError(
        id="cublas-other-status",
        pattern=r"CUBLAS_STATUS_(?P<name>MAPPING_ERROR|LICENSE_ERROR)|cublas runtime error : (?P<name2>[\w ]{3,60}?) at |cuBLAS API failed with status (?P<name3>(?!15\b)\d{1,3})|Unable to (load|create) .{0,20}cublas",
        cause="cuBLAS failed ({name}). Most often, in this order: an index was out of range in an earlier call (embedding, labels), no memory is left, cuBLAS is of another CUDA than torch's, it has no kernels for this GPU (RTX 30 needs CUDA "
        "11, RTX 40 CUDA 11.8, RTX 50 CUDA 12.8)",
        remedy="Run once with CUDA_LAUNCH_BLOCKING=1 and once on the CPU, which name the wrong index; take other folders of CUDA out of LD_LIBRARY_PATH",
        command="CUDA_LAUNCH_BLOCKING=1 python PROGRAM",
        checks=("gpu-architecture", "library-path", "memory-in-use", "nvidia-pins"),
        says=(
            "RuntimeError: cublas runtime error : the GPU program failed to execute at /pytorch/aten/src/THC/THCBlas.cu:259",
            "cuBLAS API failed with status 13",
        ),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="cusparse-status",
        pattern=r"CUSPARSE_STATUS_(?P<name>\w{3,50})|cusparse(Lt)?\w{0,30} .{0,60}(failed|error)",
        cause="cuSPARSE answered {name}: INSUFFICIENT_RESOURCES and ALLOC_FAILED mean memory, NOT_INITIALIZED a driver or library that does not fit, ARCH_MISMATCH and NOT_SUPPORTED that this GPU or dtype has no kernel, the others indices out of "
        "range or matrices of another layout",
        remedy="See that indices are sorted, in range and int32 or int64 as the call wants; smaller matrices; other folders of CUDA out of LD_LIBRARY_PATH",
        checks=("library-path", "memory-in-use", "gpu-architecture"),
        says=(
            "RuntimeError: CUDA error: CUSPARSE_STATUS_INSUFFICIENT_RESOURCES when calling `cusparseSpMM_bufferSize`",
        ),
        sources=(_LIBRARY_DOCS,),
        likely=True,
    ),
    KnownError(
        id="curand-status",
        pattern=r"CURAND_STATUS_(?P<name>\w{3,40})|curand\w{0,30} .{0,60}(failed|error)",
        cause="cuRAND answered {name}: INITIALIZATION_FAILED, PREEXISTING_FAILURE and LAUNCH_FAILURE come of an earlier error of the GPU, ALLOCATION_FAILED of memory, ARCH_MISMATCH of a GPU without kernels",
        remedy="Look for the first error above; run with CUDA_LAUNCH_BLOCKING=1; free memory",
        checks=("memory-in-use", "gpu-architecture"),
        says=("RuntimeError: CURAND_STATUS_INITIALIZATION_FAILED",),
        sources=(_LIBRARY_DOCS,),
        likely=True,
    ),
    KnownError(
        id="cufft-other-status",
        pattern=r"\bCUFFT_(?P<name>INVALID_PLAN|INVALID_TYPE|INVALID_VALUE|EXEC_FAILED|INVALID_SIZE|UNALIGNED_DATA|INVALID_DEVICE|NO_WORKSPACE|NOT_IMPLEMENTED|LICENSE_ERROR|NOT_SUPPORTED|MISSING_DEPENDENCY)\b|cuFFT only supports dimensions whose sizes are powers of two",
        cause="cuFFT answered {name}: half precision takes sizes that are powers of two only, EXEC_FAILED and INVALID_PLAN come of an earlier error or of memory, the others of a size or device that it does not take",
        remedy="Do the transform in float32 (outside of autocast), and see that the sizes are positive; free memory",
        checks=("memory-in-use", "nvidia-pins"),
        says=(
            "RuntimeError: cuFFT error: CUFFT_INVALID_SIZE",
            "RuntimeError: cuFFT only supports dimensions whose sizes are powers of two when computing in half precision, but got a signal size of[129, 129]",
        ),
        sources=(_LIBRARY_DOCS,),
        likely=True,
    ),
    KnownError(
        id="cudnn-other-status",
        pattern=r"CUDNN_STATUS_(?P<name>BAD_PARAM\w{0,60}|ARCH_MISMATCH|INVALID_VALUE|LICENSE_ERROR|RUNTIME_\w{1,40}|NOT_SUPPORTED_\w{1,60}|EXECUTION_FAILED_\w{1,60}|DEPRECATED|SPECIFIC_ERROR\w{0,60})",
        cause="cuDNN answered {name}. BAD_PARAM: a shape, stride or dtype that it does not take (an empty tensor, a tensor that is not contiguous, mixed dtypes); ARCH_MISMATCH: this GPU is too old for it; RUNTIME_*: libraries of the driver or CUDA "
        "that do not fit; EXECUTION_FAILED_*: memory, or an earlier error",
        remedy="Print shapes and dtypes, call .contiguous(), try torch.backends.cudnn.enabled = False, which shows whether cuDNN is at fault; keep one cuDNN (pip's) on the loader's path",
        checks=("nvidia-pins", "library-path", "gpu-architecture", "memory-in-use"),
        says=(
            "RuntimeError: cuDNN error: CUDNN_STATUS_BAD_PARAM",
            "RuntimeError: cuDNN error: CUDNN_STATUS_ARCH_MISMATCH",
        ),
        sources=(_LIBRARY_DOCS,),
        likely=True,
    ),
    KnownError(
        id="cusolver-other-status",
        pattern=r"CUSOLVER_STATUS_(?P<name>ALLOC_FAILED|INVALID_VALUE|ARCH_MISMATCH|MAPPING_ERROR|MATRIX_TYPE_NOT_SUPPORTED|NOT_SUPPORTED|ZERO_PIVOT|INVALID_LICENSE|IRS_\w{1,40})|MAGMA (\w{1,20} )?(error|failed)|magma_\w{1,20} .{0,40}(error|fail)|(No|no) MAGMA library|requires compiling PyTorch with MAGMA|Calling torch\.linalg\.\w{1,20} on a CUDA tensor requires compiling",
        cause="The library for linear algebra failed ({name}): a matrix with NaN, infinite values or too large a size, no memory, or a torch without MAGMA",
        remedy="Look for NaN in the input (torch.isfinite), work in float64, choose the other library with torch.backends.cuda.preferred_linalg_library('magma' or 'cusolver')",
        checks=("memory-in-use", "magma-turing"),
        says=(
            "CUSOLVER_STATUS_ALLOC_FAILED",
            "RuntimeError: Calling torch.linalg.lu_factor on a CUDA tensor requires compiling PyTorch with MAGMA.",
        ),
        sources=(_LIBRARY_DOCS, torch_file("torch/lib/libtorch_cpu.so")),
        likely=True,
    ),
    KnownError(
        id="nvjitlink-status",
        pattern=r"NVJITLINK_ERROR_(?P<name>\w{3,40})|nvJitLink\w{0,30} .{0,60}(failed|error)|Invalid nvJitLink",
        cause="nvJitLink, which links kernels at run time, answered {name}: it is older than the code that it gets, or has no code for this GPU",
        remedy="Keep nvidia-nvjitlink at the release that torch pins, and take other folders of CUDA out of LD_LIBRARY_PATH",
        checks=("nvidia-pins", "library-path"),
        says=("RuntimeError: NVJITLINK_ERROR_PTX_COMPILE",),
        sources=(_LIBRARY_DOCS,),
        likely=True,
    ),
    KnownError(
        id="rocm-compiler",
        pattern=r"invalid target ID '(?P<name>gfx\w{2,8})|cannot find ROCm device library|cannot find HIP runtime|hipcc: error|Can't initialize amdsmi",
        cause="ROCm's compiler or libraries are older than the GPU ({name}), or not whole: its device libraries, hipcc or amdsmi are of another release or missing",
        remedy="rocminfo | grep gfx names the GPU's architecture; install a ROCm that supports it (torch's wheel names its release: python -c 'import torch; print(torch.version.hip)') with rocm-device-libs and hip-dev of the same release; PYTORCH_ROCM_ARCH=gfxNNNN limits what is compiled. amdsmi: pip install /opt/rocm/share/amd_smi, and only utilization is not shown without it",
        command="rocminfo | grep gfx",
        checks=("torch-other-vendor",),
        says=("clang++: error: invalid target ID 'gfx1201'; format is a processor name",),
        sources=("the wording as programs print it; no thread was read for it, 2026-11-26",),
        likely=True,
    ),
    KnownError(
        id="xformers-built-for-older",
        pattern=r"is for sm\d{2,3}(?:-sm\d{2,3})?, but was built for sm\d{2,3}|Failed to find a kernel that can implement the (?P<name>\w{1,20}) linear layer",
        cause="The package has this kernel for other GPUs only: it was built with an architecture list that does not have this one, or no kernel takes this combination of GPU, quantization and shape",
        remedy="Install a wheel of the package for this torch and GPU (xformers: pip install -U xformers; python -m xformers.info shows what it was built for), or build it with TORCH_CUDA_ARCH_LIST of this GPU; vLLM: the lines behind `Reasons` name what each kernel wants (group size, act order, capability), choose another quantization",
        command="python -m xformers.info",
        checks=("extension-architecture",),
        says=("FATAL: kernel `fmha_cutlassF_f32_aligned_32x128_gmem_sm80` is for sm80-sm90, but was built for sm70",),
        sources=(thread("facebookresearch/xformers", 692, "2023-03-15"), thread("vllm-project/llm-compressor", 973)),
        likely=True,
    ),
)
