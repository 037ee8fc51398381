"""torch.compile and Triton, CUDA graphs, torch.export, ONNX and TorchScript."""

from __future__ import annotations

from torchlift.doctor.errors.codes import cuda_codes
from torchlift.doctor.errors.known.capturing import NOT_SCRIPTED
from torchlift.doctor.errors.known.causes_of_installing import TRITON_NOT_THERE
from torchlift.doctor.errors.known.causes_of_running import COMPILER_STAGE
from torchlift.doctor.errors.known.more_causes import ONNX_OPERATOR
from torchlift.doctor.errors.known_error import KnownError, thread, torch_file

ROWS = (
    KnownError(
        id="ptxas-too-old",
        pattern=r"PTXASError|Value 'sm_\w{1,10}' is not defined( for option 'gpu-name')?|ptxas fatal ? ?:"
        r"|bin/ptxas .{1,400}returned non-zero exit status",
        cause="Triton's assembler does not know this GPU: Triton is not the one torch was released with, or it is too old",
        remedy="Install the Triton that torch names in its requirements, or set TRITON_PTXAS_PATH to a newer ptxas",
        checks=("triton-ptxas", "triton-pin"),
        says=(
            "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'",
            "triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error",
        ),
        sources=("triton 3.9.0, backends/nvidia/compiler.py, read 2026-11-21",),
    ),
    KnownError(
        id="triton-gpu-too-old",
        pattern=r"GPUTooOldForTriton|too old to be supported by the triton",
        cause="Triton and inductor need compute capability 7.0; this GPU runs eager code only",
        remedy="Do without torch.compile on this GPU",
        checks=("triton-gpu-too-old",),
        says=(
            "torch._inductor.exc.GPUTooOldForTriton: Found NVIDIA GeForce GTX 1080 Ti which is too old to be supported by the "
            "triton GPU compiler, which is used as the backend. Triton only supports devices of CUDA Capability >= 7.0, but your "
            "device is of CUDA capability 6.1",
        ),
        sources=(torch_file("torch/_inductor/exc.py"),),
    ),
    KnownError(
        id="triton-optional",
        pattern=r"A matching Triton is not available, some optimizations will not be enabled|triton not found; flop counting "
        r"will not work|Error caught was: No module named 'triton'",
        cause="Triton is not installed, and the program goes on without it",
        remedy="Nothing has to be done; on Windows triton-windows adds it",
        checks=("triton-pin",),
        says=("A matching Triton is not available, some optimizations will not be enabled",),
        sources=("torch 2.13.0, torch/utils/flop_counter.py, read 2026-11-23",),
        level="warning",
    ),
    KnownError(
        id="triton-missing",
        causes=TRITON_NOT_THERE,
        pattern=r"Cannot find a working triton installation|TritonMissing|No module named '?triton'?(?![\w.])"
        r"|Triton is not installed\b",
        cause="torch.compile for GPUs, and some libraries, need Triton, which does not import here",
        remedy="See why: python -c 'import triton'",
        checks=("triton-pin", "host-compiler"),
        says=(
            "torch._inductor.exc.TritonMissing: Cannot find a working triton installation. Either the package is not installed "
            "or it is too old. More information on installing Triton can be found at: https://github.com/triton-lang/triton",
            "RuntimeError: Cannot find a working triton installation. More information on installing Triton can be found at "
            "https://github.com/openai/triton",
            "ModuleNotFoundError: No module named 'triton'",
        ),
        sources=(
            thread("pytorch/pytorch", 136361, "2024-09-20"),
            thread("Motphys/MotrixLab", 28, "2026-09-10"),
            torch_file("torch/_inductor/exc.py"),
        ),
    ),
    KnownError(
        id="no-c-compiler",
        pattern=r"Failed to find C compiler|InvalidCxxCompiler|No working C\+\+ compiler found",
        cause="Triton and inductor build small programs with the host's C compiler, and there is none",
        remedy="Install gcc and g++, or point CC and CXX to them",
        command="sudo apt-get install -y build-essential",
        checks=("host-compiler",),
        says=(
            "RuntimeError: Failed to find C compiler. Please specify via CC environment variable or set triton.knobs.build.impl.",
            "torch._inductor.exc.InvalidCxxCompiler: No working C++ compiler found in torch._inductor.config.cpp.cxx: (None, 'g++')",
        ),
        sources=(torch_file("torch/_inductor/exc.py"), "triton 3.9.0, runtime/build.py, read 2026-11-21"),
    ),
    KnownError(
        id="libcuda-not-in-loader-cache",
        pattern=r"libcuda\.so cannot found!|CUDA is not linked properly",
        cause="Triton looks for libcuda in the loader's cache, where it is not (as on WSL)",
        remedy="Renew the cache, or set TRITON_LIBCUDA_PATH to the folder of libcuda.so.1",
        command="sudo ldconfig",
        checks=("wsl-driver", "driver-missing"),
        says=("AssertionError: libcuda.so cannot found!",),
        sources=("triton 3.9.0, backends/nvidia/driver.py, read 2026-11-21",),
    ),
    KnownError(
        id="openmp-headers",
        pattern=r"'?omp\.h'?:? (file )?(not found|No such file or directory)|library not found for -lomp\b"
        r"|cannot find -lgomp\b|unsupported option '-fopenmp",
        cause="torch.compile for the CPU compiles with OpenMP, which the compiler does not have (Apple's clang brings none)",
        remedy="Install OpenMP",
        command="brew install libomp",
        checks=("host-compiler",),
        says=("fatal error: 'omp.h' file not found",),
        sources=(torch_file("torch/_inductor/cpp_builder.py"),),
    ),
    KnownError(
        id="cpp-compile-error",
        pattern=r"CppCompileError|C\+\+ compile error$|CUDACompileError",
        cause="The host's C++ compiler did not accept what torch.compile generated, or there is none; its own message stands below `Output:`",
        remedy="Look at the first `error:` below `Output:`. No such file (omp.h, Python.h): install libgomp or python3-dev; unknown option or C++20: a newer compiler (g++ 10 or newer; CXX names one); permission or space: TORCHINDUCTOR_CACHE_DIR in a folder that can be written. To see that it is this: torch.compile(m, backend='aot_eager') works without a compiler",
        command="c++ --version",
        checks=("host-compiler",),
        says=("torch._inductor.exc.InductorError: CppCompileError: C++ compile error",),
        sources=(thread("rasbt/reasoning-from-scratch", 192, "2026-03-01"), torch_file("torch/_inductor/exc.py")),
        level="vague",
    ),
    KnownError(
        id="compile-python-version",
        pattern=r"torch\.compile is not supported on Python|Dynamo is not supported on Python|Python 3\.\d{1,2}\+? not yet "
        r"supported for torch\.compile",
        cause="This torch cannot compile with this Python: it is newer than the release",
        remedy="Upgrade torch, or take an older Python (3.12 with 2.4, 3.13 with 2.6, 3.14 with 2.10)",
        checks=("python-version",),
        says=(
            "RuntimeError: Dynamo is not supported on Python 3.12+",
            "RuntimeError: torch.compile is not supported on Python 3.15+",
            "RuntimeError: Python 3.11+ not yet supported for torch.compile",
        ),
        sources=(torch_file("torch/__init__.py"),),
    ),
    KnownError(
        id="compile-windows",
        pattern=r"Windows not yet supported for torch\.compile",
        cause="torch.compile came to Windows with torch 2.5 (CPU), and needs triton-windows there for GPUs",
        remedy="Upgrade torch, or leave out torch.compile",
        checks=("triton-pin",),
        says=("RuntimeError: Windows not yet supported for torch.compile",),
        sources=(thread("pytorch/pytorch", 122094, "2024-09-25"),),
        wheel=True,
    ),
    KnownError(
        id="recompile-limit",
        pattern=r"torch\._dynamo hit config\.\w{1,40}_limit|RecompileLimitExceeded|FailOnRecompileLimitHit",
        cause="torch.compile compiled one function again and again, because shapes, flags or modules change, and gave up",
        remedy="Run with TORCH_LOGS=recompiles, which says what changes; mark dimensions that vary as dynamic",
        says=("torch._dynamo hit config.recompile_limit (8)", "torch._dynamo hit config.cache_size_limit (8)"),
        sources=(torch_file("torch/_dynamo/convert_frame.py"),),
        level="warning",
    ),
    KnownError(
        id="cudagraph-output-overwritten",
        pattern=r"accessing tensor output of CUDAGraphs that has been overwritten",
        cause="mode='reduce-overhead' reuses the memory of its outputs at the next call, and one of an earlier call is still used",
        remedy="Clone outputs that are kept, or call torch.compiler.cudagraph_mark_step_begin() before each step",
        says=(
            "RuntimeError: Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run.",
        ),
        sources=(torch_file("torch/_inductor/cudagraph_trees.py"),),
    ),
    KnownError(
        id="stream-capture",
        pattern=r"captures_underway\.\w{2,8}|operation not permitted when stream is capturing|operation failed due to a previous error during capture"
        r"|Offset increment outside graph capture|operation would make the legacy stream depend on a capturing"
        r"|cudaErrorStreamCapture\w{1,40}" + cuda_codes(900, 901, 902, 903, 904, 905, 906, 907, 908),
        cause="While a CUDA graph is captured, something ran that may not: a wait for the GPU (.item(), .cpu(), print), an "
        "allocation on another stream or GPU, or a library's first start; captures_underway: a capture was going on, or had failed, when a memory pool was freed or another capture began",
        remedy="Warm up first, keep everything on the capturing device and stream, and take what waits out of the captured part; look for the first error above it (mostly memory, or a kernel of the model). Servers start without graphs: vLLM --enforce-eager, sglang --disable-cuda-graph, or smaller --cuda-graph-max-bs; torch.compile: mode='default'",
        says=(
            "RuntimeError: CUDA error: operation not permitted when stream is capturing",
            "RuntimeError: Offset increment outside graph capture encountered unexpectedly.",
            'RuntimeError: captures_underway.empty() INTERNAL ASSERT FAILED at "../c10/cuda/CUDACachingAllocator.cpp":2967',
        ),
        sources=(
            thread("sgl-project/sglang", 4717),
            thread("pytorch/pytorch", 87794, "2022-10-26"),
            thread("ace-step/ACE-Step-1.5", 613),
        ),
    ),
    KnownError(
        id="data-dependent-export",
        pattern=r"Could not guard on data-dependent expression|GuardOnDataDependentSymNode|Could not extract specialized "
        r"integer from data-dependent",
        cause="torch.export (or a full-graph compile) met a branch that depends on values in a tensor, which it cannot decide",
        remedy="State what holds with torch._check, or write the branch with torch.where or torch.cond",
        says=(
            "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: Could not guard on data-dependent expression "
            "Eq(u0, 1) (unhinted: Eq(u0, 1)).  (Size-like symbols: none)",
        ),
        sources=(thread("pytorch/pytorch", 143222), thread("OHF-Voice/piper1-gpl", 148, "2025-12-16")),
    ),
    KnownError(
        id="export-constraints",
        pattern=r"Constraints violated \(|ConstraintViolationError|conflicts between user-specified ranges and inferred|have been specialized and CANNOT be dynamic|was inferred to be a constant \(",
        cause="A dimension that was declared dynamic is fixed by the model, or the other way round",
        remedy="Take the suggested fixes that the message ends with into dynamic_shapes",
        says=(
            'torch._dynamo.exc.UserError: Constraints violated (batch)! For more information, run with TORCH_LOGS="+dynamic".',
        ),
        sources=(torch_file("torch/fx/experimental/symbolic_shapes.py"),),
    ),
    KnownError(
        id="onnx-operator",
        causes=ONNX_OPERATOR,
        pattern=r"UnsupportedOperatorError|ONNX export of operator \w{1,60}, |SymbolicValueError|Exporting the operator .{1,80} to ONNX opset version \d{1,3} is not supported",
        cause="The ONNX exporter of this torch has no rule for this operator at this opset",
        remedy="See how old torch is: that decides",
        command="python -c 'import torch; print(torch.__version__)'",
        says=(
            "torch.onnx.errors.UnsupportedOperatorError: Exporting the operator 'aten::tile' to ONNX opset version 17 is not "
            "supported.",
            "RuntimeError: Exporting the operator var to ONNX opset version 10 is not supported.",
        ),
        sources=(thread("pytorch/pytorch", 119155), thread("pytorch/pytorch", 49005, "2020-12-08")),
    ),
    KnownError(
        id="onnxscript-missing",
        pattern=r"No module named 'onnxscript'|install onnxscript",
        cause="The ONNX exporter of torch 2.9 and newer (dynamo=True) needs onnxscript",
        remedy="Install it",
        command="pip install onnx onnxscript",
        says=("ModuleNotFoundError: No module named 'onnxscript'",),
        sources=(torch_file("torch/onnx/_internal/exporter"),),
    ),
    KnownError(
        id="torchscript-ends",
        pattern=r"`?torch\.jit\.\w{1,40}`? is (deprecated|not supported in Python 3\.14)",
        cause="TorchScript is deprecated, and from Python 3.14 on it may break",
        remedy="`torchlift plan` says what leaving it takes; until then stay with Python 3.13",
        checks=("python-version",),
        says=(
            "DeprecationWarning: `torch.jit.script` is not supported in Python 3.14+ and may break. Please switch to "
            "`torch.compile` or `torch.export`.",
            "DeprecationWarning: `torch.jit.script` is deprecated. Please switch to `torch.compile` or `torch.export`.",
        ),
        sources=(torch_file("torch/jit/_script.py"),),
        level="warning",
    ),
    KnownError(
        id="torchscript-operator-missing",
        pattern=r"Unknown builtin op: torch(vision|audio)::",
        cause="The saved TorchScript calls an operator of torchvision or torchaudio, which was not imported before loading",
        remedy="Import it before torch.jit.load; in C++ link libtorchvision",
        checks=("companion-mismatch",),
        says=(
            "RuntimeError:\nUnknown builtin op: torchvision::nms.\nCould not find any similar ops to torchvision::nms.",
        ),
        sources=(thread("pytorch/vision", 1405, "2020-11-20"),),
    ),
    KnownError(
        id="traced-as-a-constant",
        pattern=r"TracerWarning: (?:Converting a tensor|Iterating over a tensor|torch\.tensor results|Using len)[^\n]{0,80}",
        cause="Tracing (torch.jit.trace, the older ONNX exporter) wrote the value of this line down as a constant and went on: with an input of another size or content the traced model still does what it did for the example",
        remedy="A comparison of sizes that only checks (an assert, `if x.shape[1] == ...: raise`) does no harm. A branch, a length or a loop that depends on the input does: try the exported model with another size against the original. It differs: torch.onnx.export(..., dynamo=True) or torch.export keep sizes dynamic, torch.where or torch.cond keep the branch",
        level="warning",
        says=(
            "TracerWarning: Converting a tensor to a Python boolean might cause the trace to be incorrect.",
            "TracerWarning: torch.tensor results are registered as constants in the trace.",
        ),
        sources=("torch 2.13.0, torch/csrc/jit/frontend/tracer.cpp and torch/jit/_trace.py, read 2026-11-27",),
    ),
    KnownError(
        id="torchscript-compiler",
        pattern=r"torch\.jit\.frontend\.(NotSupportedError|UnsupportedNodeError|FrontendError)|Could not export Python function call"
        r"|is currently not supported in Torchscript|Arguments for call are not valid\.?$|TracerWarning: (?!Converting a tensor|Iterating over a tensor|torch\.tensor results|Using len)"
        r"|Tracer cannot (infer type|set value trace)",
        cause="TorchScript's compiler, or its tracer, cannot take this Python code; the lines below the message show which",
        remedy="Leave TorchScript for torch.export or torch.compile: `torchlift plan` says what that takes here; or mend what it cannot take",
        causes=NOT_SCRIPTED,
        says=(
            "torch.jit.frontend.NotSupportedError: Compiled functions can't take variable number of arguments or use "
            "keyword-only arguments with defaults:",
            "RuntimeError: Tracer cannot infer type of SequenceClassifierOutput(loss=None)",
        ),
        sources=(torch_file("torch/jit/frontend.py"),),
    ),
    KnownError(
        id="inductor-command-failed",
        pattern=r"InductorError: (subprocess\.)?CalledProcessError: Command|inductor[^\n]{0,80}CalledProcessError: Command",
        cause="torch.compile started a compiler (for C++ or for Triton's helper) that ended with an error; what that printed, with the command behind this text or above it, says why",
        remedy="Run the command of the message by hand, or read its first `error` line: `Python.h` missing: apt install python3-dev; `cannot find -lcuda`: the driver's libcuda is not on the linker's path (export LIBRARY_PATH=/usr/lib/x86_64-linux-gnu:/usr/lib/wsl/lib); no gcc: install one; no space or permission: TRITON_CACHE_DIR and TORCHINDUCTOR_CACHE_DIR in another folder",
        checks=("host-compiler", "triton-pin"),
        says=(
            "torch._inductor.exc.InductorError: CalledProcessError: Command '['cl.exe', 'kernel.cpp']' returned non-zero exit status 2.",
        ),
        sources=(thread("kijai/ComfyUI-WanVideoWrapper", 1168),),
        level="vague",
    ),
    KnownError(
        id="backend-compiler-failed",
        causes=COMPILER_STAGE,
        pattern=r"BackendCompilerFailed: backend=|\bInductorError(?::|$)|TorchExportError: Failed to export",
        cause="torch.compile or torch.export failed inside; the exception behind `raised:`, or the next line, says why",
        remedy="Ask for that exception by itself, or find the stage: run without the compiler, then with backend='eager', 'aot_eager' and 'inductor'",
        command="TORCH_LOGS=+dynamo TORCHDYNAMO_VERBOSE=1 python PROGRAM",
        checks=("triton-pin", "host-compiler", "triton-gpu-too-old"),
        says=("torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:",),
        sources=(thread("pytorch/pytorch", 137689, "2024-10-10"), thread("OHF-Voice/piper1-gpl", 110, "2025-11-02")),
        level="vague",
    ),
    KnownError(
        id="accelerator-graph",
        pattern=r"Graph is not supported on device type",
        cause="torch.accelerator.Graph exists for backends that registered it only (Intel GPUs in torch 2.15)",
        remedy="Use torch.cuda.CUDAGraph on NVIDIA and AMD GPUs",
        says=("RuntimeError: Graph is not supported on device type: cuda",),
        sources=(torch_file("torch/lib/libtorch_cpu.so"),),
    ),
    KnownError(
        id="inductor-remarks",
        pattern=r"Not enough SMs to use max_autotune_gemm|TensorFloat32 tensor cores for float32 matrix multiplication available but not enabled"
        r"|that has Tensor Cores\. To properly utilize them|skipping cudagraphs due to",
        cause="torch tells what would be faster: a GPU with fewer processors than autotuning is worth, TF32 that is off, a graph that CUDA graphs "
        "cannot hold",
        remedy="Nothing; torch.set_float32_matmul_precision('high') allows TF32, with less precision",
        says=(
            "torch/_inductor/utils.py:1558] Not enough SMs to use max_autotune_gemm mode",
            "UserWarning: TensorFloat32 tensor cores for float32 matrix multiplication available but not enabled.",
        ),
        sources=(thread("NVIDIA/TensorRT", 4398, "2025-03-24"), thread("kijai/ComfyUI-KJNodes", 362, "2025-08-12")),
        level="warning",
    ),
)
