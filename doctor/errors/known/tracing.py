"""Triton's compiler, torch.compile, torch.export, ONNX and TensorRT: what other files do not have."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_running import COMPILER_STAGE
from torchlift.doctor.errors.known_error import UNREAD, KnownError, thread, torch_file

_EXC = torch_file("torch/_dynamo/exc.py")

ROWS = (
    KnownError(
        id="onnxruntime-affinity",
        pattern=r"pthread_setaffinity_np failed for thread",
        cause="ONNX Runtime binds its threads to all processors of the machine, and this job or container may use some of them only; the session runs, slower, or hangs in old releases",
        remedy="Say how many threads there may be: SessionOptions().intra_op_num_threads = len(os.sched_getaffinity(0)); where a library makes the session, ask it for that option",
        says=(
            "[E:onnxruntime:Default, env.cc:234 ThreadMain] pthread_setaffinity_np failed for thread: 3131773, index: 22, mask: {23, }, error code: 22 error msg: Invalid argument.",
        ),
        sources=(
            thread("Zeyi-Lin/HivisionIDPhotos", 211, "2024-11-22"),
            thread("microsoft/onnxruntime", 10736, "2022-03-02"),
        ),
    ),
    KnownError(
        id="triton-too-old-for-gpu",
        pattern=r"LLVM ERROR: Cannot select: intrinsic %llvm\.nvvm|'sm_\w{1,8}' is not a recognized processor|Unsupported target|Unknown subtarget.{0,20}sm_|assertion .{0,60}computeCapability.{0,80}failed",
        cause="This Triton (its LLVM) does not know the GPU: it is older than the GPU's architecture",
        remedy="Install a newer torch with the Triton that it pins (Blackwell: torch 2.7, Triton 3.3 and newer)",
        checks=("triton-pin", "gpu-architecture"),
        says=("LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.shfl.sync.bfly.i32",),
        sources=(thread("NixOS/nixpkgs", 406675, "2025-07-01"),),
        wheel=True,
    ),
    KnownError(
        id="ptx-feature",
        pattern=r"Feature '[^'\n]{1,120}' (not supported on \.target|requires \.target|requires PTX ISA)|Instruction '[^'\n]{1,80}' (not supported on|requires) \.target|Unsupported \.version \d\.\d; current version is|PTX \.version \d\.\d does not support \.target|requires PTX ISA \.version \d|ptxas .{1,120}; error {1,4}:",
        cause="A kernel uses an instruction that the architecture it is compiled for does not have, or ptxas is older than the compiler that wrote the PTX",
        remedy="Upgrade torch with its Triton (and the library that has the kernel) to a release that supports this GPU; TRITON_PTXAS_PATH names a newer ptxas",
        checks=("triton-ptxas", "triton-pin", "gpu-architecture"),
        says=(
            "ptxas /tmp/tmpkz2cup6g.ptx, line 606; error   : Feature '.tile::gather4 with destination state space as .shared::cluster' not supported on .target 'sm_120a'",
            "ptxas application ptx input, line 9; fatal   : Unsupported .version 8.4; current version is '8.3'",
        ),
        sources=(thread("sgl-project/sglang", 8879),),
    ),
    KnownError(
        id="triton-no-driver",
        pattern=r"(?P<number>\d) active drivers \(\[.{0,120}\]\)\. There should only be one",
        cause="Triton sees {number} kinds of GPU drivers and needs exactly one: with 0 torch sees no GPU in this process, with 2 Triton's package for one vendor lies beside another's",
        remedy="With 0: see why torch sees no GPU, and do not import GPU kernels on machines without one; with 2: keep one of triton, pytorch-triton-rocm, triton-windows, triton-xpu",
        checks=("driver-missing", "torch-cpu-build", "triton-pin", "cuda-visible-devices"),
        says=("RuntimeError: 0 active drivers ([]). There should only be one.",),
        sources=(UNREAD,),
    ),
    KnownError(
        id="triton-language-changed",
        pattern=r"No module named 'triton\.(ops|language\.math|common|compiler\.\w{1,30}|runtime\.\w{1,30}|tools\.\w{1,30}|backends\.\w{1,40})[\w.]{0,40}'|module 'triton(\.\w{1,30}){0,3}' has no attribute '\w{1,40}'|cannot import name '\w{1,60}' from 'triton[\w.]{0,60}'"
        r"|JITFunction\S{0,12} got an unexpected keyword",
        cause="A kernel or library was written for another release of Triton than is installed (triton.ops went with 3.2), or is not made for this GPU",
        remedy="Keep the Triton that torch pins, and take the release of the library (vLLM, bitsandbytes, flash-linear-attention) for this torch",
        checks=("triton-pin",),
        says=(
            "ModuleNotFoundError: No module named 'triton.ops'",
            "AttributeError: module 'triton.language' has no attribute 'constexpr_function'",
        ),
        sources=(thread("vllm-project/vllm", 35091, "2026-02-23"), thread("triton-lang/triton", 1137)),
        likely=True,
    ),
    KnownError(
        id="triton-compilation",
        pattern=r"triton\.compiler\.errors\.(CompilationError|UnsupportedLanguageConstruct)|CompilationError: at \d{1,4}:\d{1,4}:|Triton compilation error",
        cause="Triton could not compile a kernel; the exception behind this line says why. Often the kernel was written for another release of Triton, or for another GPU",
        remedy="Read the last line of the message (an AttributeError or `unexpected keyword` on tl: another Triton; `not supported in this architecture`, fp8e4nv: the GPU is too old). python -m pip show triton torch: keep the Triton that torch pins (python -m pip check), and take the release of the library (vLLM, bitsandbytes, flash-linear-attention) for this torch",
        command="python -m pip check",
        checks=("triton-pin",),
        says=("triton.compiler.errors.CompilationError: at 22:25:",),
        sources=(thread("triton-lang/triton", 1137),),
        level="vague",
    ),
    KnownError(
        id="triton-two-backends",
        pattern=r"[2-9] compatible backends for target \((?P<device>\w{1,12})\)",
        cause="Two packages of Triton are installed over each other (triton, pytorch-triton, a build from source), or a folder of an earlier one is left in triton/backends",
        remedy="Uninstall each (pip uninstall triton pytorch-triton, until pip finds none), delete what is left of site-packages/triton, and install the one that torch pins",
        checks=("triton-pin",),
        says=(
            "2 compatible backends for target (cuda) ([<class 'c.CUDABackend'>, <class 'nvi.CUDABackend'>]). There should only be one.",
        ),
        sources=(thread("pytorch/torchtitan", 55),),
    ),
    KnownError(
        id="triton-cache",
        pattern=r"(PermissionError|OSError|FileNotFoundError|FileExistsError|BlockingIOError).{0,60}(\.triton[/\\]|torchinductor_|[/\\]triton[/\\]cache)|(\.triton[/\\](cache|dump)|torchinductor_\w{1,40}).{0,200}(Permission denied|Stale file handle|No such file|Read-only file system|already exists)",
        cause="Triton or inductor cannot use the folder of its cache: another user's, read-only, on a network disk that several machines write to, or (Windows) with too long a path",
        remedy="Give each user and machine a folder of its own on a local disk",
        command="export TRITON_CACHE_DIR=/tmp/triton-$USER TORCHINDUCTOR_CACHE_DIR=/tmp/inductor-$USER",
        says=(
            "PermissionError: [Errno 13] Permission denied: '/root/.triton/cache/3f2a'",
            "OSError: [Errno 116] Stale file handle: '/home/me/.triton/cache/1bc2'",
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="inductor-symbol-undefined",
        pattern=r"NameError(: |\(['\"]?)(name )?\\?'?[suz]\d{1,3}\\?'? is not defined|AssertionError: s\d{1,3} is not in var_ranges",
        cause="A defect of torch.compile: the generated code names a size that it did not define, with dynamic shapes",
        remedy="Upgrade torch; until then compile with dynamic=False, or leave that function out (torch.compiler.disable)",
        says=(
            "NameError: name 's4' is not defined",
            "triton.compiler.errors.CompilationError: at 6:10:\nNameError('s10 is not defined')",
            "CompilationError: NameError('s10 is not defined')",
        ),
        sources=(thread("unslothai/unsloth", 1175), thread("facebookresearch/blt", 84, "2025-03-18")),
        likely=True,
    ),
    KnownError(
        id="dynamo-internal",
        causes=COMPILER_STAGE,
        pattern=r"InternalTorchDynamoError|torch\._dynamo\.exc\.TorchRuntimeError|Dynamo failed to run FX node with fake tensors|Failed running call_(function|method|module)",
        cause="torch.compile failed at the operation that the message names",
        remedy="Find the stage: run without it, then with backend='eager', 'aot_eager' and 'inductor'",
        command="TORCHDYNAMO_DISABLE=1 python PROGRAM",
        says=(
            "torch._dynamo.exc.TorchRuntimeError: Failed running call_function <built-in method bmm of type object at 0x7f>(*(FakeTensor(...",
            "torch._dynamo.exc.InternalTorchDynamoError: AttributeError: 'NoneType' object has no attribute 'source'",
        ),
        sources=(_EXC,),
        likely=True,
    ),
    KnownError(
        id="inductor-lowering",
        causes=COMPILER_STAGE,
        pattern=r"torch\._inductor\.exc\.LoweringException: |LoweringException: (?P<error>\w{1,40}): |NoValidChoicesError|SubprocException: An exception occurred in a subprocess|MissingOperatorWithoutDecomp",
        cause="Inductor could not turn one operation into code ({error}); the line `target:` names it",
        remedy="Find the stage: run without the compiler, then with backend='eager', 'aot_eager' and 'inductor'",
        says=("torch._inductor.exc.LoweringException: AssertionError: ",),
        sources=(thread("pytorch/pytorch", 139911), torch_file("torch/_inductor/exc.py")),
        likely=True,
    ),
    KnownError(
        id="operator-not-registered",
        pattern=r"No such operator (?P<operator>\w{1,60}::\w{1,80})|operator (?P<operator2>\w{1,60}::\w{1,80}) does not exist|Could not find schema for (?P<operator3>\w{1,60}::\w{1,80})|Unknown (builtin|custom) op:? (?P<operator4>(?!aten::)\w{1,60}::\w{1,80})|Could not find the operator (?P<operator5>\w{1,60}::\w{1,80})",
        cause="The library that registers the operator {operator} was not loaded, or its compiled part is of another torch",
        remedy="Import the package that has it (the name before ::) before it is used; if it is imported, install it for this torch",
        checks=("companion-mismatch", "extension-abi"),
        says=("RuntimeError: Couldn't load library: No such operator fbgemm::jagged_2d_to_dense",),
        sources=(UNREAD,),
    ),
    KnownError(
        id="operator-registered-twice",
        pattern=r"Only a single TORCH_LIBRARY can be used to register the namespace (?P<name>\w{1,60})|Tried to register (an operator|multiple) .{0,200}(same name|with the same)|Key already registered with the same priority: (?P<name2>\w{1,40})"
        r"|already registered .{0,60}(kernel|backend) for|generic_type: (type|cannot initialize type) \"(?P<name3>\w{1,60})\"(:| is already registered)",
        cause="The same compiled library was loaded twice ({name}): two copies of a package, one imported and one loaded by path, or two releases of torch in one process",
        remedy="Find the copies (pip list, PYTHONPATH, ~/.local) and keep one",
        checks=("several-torch-copies", "user-site-torch", "pythonpath-torch"),
        says=(
            "RuntimeError: Only a single TORCH_LIBRARY can be used to register the namespace torchvision; please put all of your definitions in a single TORCH_LIBRARY block.",
        ),
        sources=(torch_file("torch/lib/libtorch_cpu.so"),),
    ),
    KnownError(
        id="operator-signature",
        pattern=r"Tried to access or call an operator with a wrong signature|expected at most \d{1,3} argument\(s\) but received \d{1,3} argument\(s\)\. Declaration: (?P<operator>\w{1,60}::\w{1,80})",
        cause="The program was compiled or exported for another release of the library that has the operator: its arguments changed",
        remedy="Export the model again with the releases that run it",
        checks=("companion-mismatch",),
        says=(
            "Tried to access or call an operator with a wrong signature.\n  operator: fbgemm::permute_2D_sparse_data(Tensor permute, Tensor lengths)",
        ),
        sources=(thread("pytorch/pytorch", 135563, "2024-09-10"),),
    ),
    KnownError(
        id="quantized-engine",
        pattern=r"Didn't find engine for operation|NoQEngine|quantized engine \w{1,20} is not supported|Unsupported qengine|unsupported qscheme",
        cause="torch's quantized operators need an engine (x86, fbgemm, qnnpack, onednn) that this build or processor does not have, or none was chosen",
        remedy="Set torch.backends.quantized.engine to one of torch.backends.quantized.supported_engines (qnnpack on ARM and Macs)",
        command="python -c 'import torch; print(torch.backends.quantized.supported_engines)'",
        checks=("python-platform",),
        says=("RuntimeError: Didn't find engine for operation quantized::conv2d_prepack NoQEngine",),
        sources=(torch_file("torch/lib/libtorch_cpu.so"),),
    ),
    KnownError(
        id="export-control-flow",
        pattern=r"Dynamic control flow is not supported at the moment|torch\._dynamo\.exc\.UserError: (?!Constraints)|SpecViolationError: (?!Operator torch)|Unsupported FX nodes|torch\.export\.unflatten|Found following user inputs located at \[\d",
        cause="torch.export met code that it cannot hold in a graph: a branch on values, an input or attribute of another kind than tensors, or a changed input",
        remedy="Write branches with torch.cond or torch.where, state what holds with torch._check, pass Python values as constants; strict=False takes more Python",
        says=(
            "torch._dynamo.exc.UserError: Dynamic control flow is not supported at the moment. Please use torch.cond to explicitly capture the control flow.",
        ),
        sources=(_EXC,),
    ),
    KnownError(
        id="aoti-load",
        pattern=r"API call failed at .{0,160}model_container_runner\w{0,12}\.cpp|AOTI_RUNTIME_ERROR_CODE_CHECK|Error in dlopen: .{0,200}|Failed to load (AOTInductor|constants|the model)\b.{0,40}AOT|run_func_\(.{0,60}API call failed|aoti_torch_\w{1,60} (failed|API call failed)",
        cause="A model compiled by AOTInductor does not run here: it was compiled by another torch, for another GPU or processor, or is called with other shapes or devices than it was compiled for",
        remedy="Compile it again with the torch and on the kind of GPU that runs it; the line above says which call failed",
        checks=("gpu-architecture", "extension-abi"),
        says=(
            "RuntimeError: run_func_( container_handle_, input_handles.data(), input_handles.size()) API call failed at ../torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 107",
        ),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="onnx-two-gigabytes",
        pattern=r"exceeds maximum protobuf size of 2GB|ModelProto.{0,60}(exceed|larger than).{0,20}2 ?G|exceeded maximum protobuf size|The serialized model is larger than the 2GiB limit|Failed to serialize proto",
        cause="One ONNX file holds two gigabytes at most, and the model is larger",
        remedy="Keep the weights beside it: torch.onnx.export(..., external_data=True), or onnx.save(..., save_as_external_data=True)",
        says=("RuntimeError: The serialized model is larger than the 2GiB limit imposed by the protobuf library.",),
        sources=(UNREAD,),
    ),
    KnownError(
        id="onnx-export-failed",
        pattern=r"Failed to export the model (with torch\.export|to ONNX)|torch\.onnx\._internal\.exporter\._errors\.\w{1,40}|ONNX export failed|OnnxExporterError|Failed to decompose the FX graph|Could not export Python function|SymbolicValueError|onnx\.export.{0,40}OrtExport",
        cause="torch.onnx.export could not capture the model or has no ONNX form for one of its operators; the lines that begin with a cross, or the inner exception, name it",
        remedy="Follow its advice (it tries strict and non-strict export); rewrite the operation that is named, or export with dynamo=False, as before torch 2.9",
        says=(
            "torch.onnx._internal.exporter._errors.TorchExportError: Failed to export the model with torch.export. This is step 1/3 of exporting the model to ONNX.",
        ),
        sources=(torch_file("torch/onnx/_internal/exporter/_core.py"),),
        likely=True,
    ),
    KnownError(
        id="tensorrt-engine-version",
        pattern=r"engine plan file is not compatible with this version of TensorRT|stdVersionRead == (serializationVersion|kSERIALIZATION_VERSION)|Version tag does not match|Using an engine plan file across different models of devices|plan file is (generated|not compatible).{0,80}(device|platform)|engine plan file across different"
        r"|TensorRT engine .{0,60}(different|another) (version|device)|magicTagRead == (kPLAN_MAGIC_TAG|magicTag)|deserialize\w{0,12} .{0,60}engine.{0,30}fail|Magic tag does not match",
        cause="The TensorRT engine was built by another release of TensorRT or for another GPU (or the file is no engine): engines run on the kind that built them only",
        remedy="Build the engine again here, from the ONNX file (trtexec --onnx=model.onnx --saveEngine=model.engine)",
        says=(
            "[TRT] [E] 6: The engine plan file is not compatible with this version of TensorRT, expecting library version 8.6.1.6 got 8.5.3.1, please rebuild.",
            "[TRT] [E] 1: [stdArchiveReader.cpp::StdArchiveReader::32] Error Code 1: Serialization (Serialization assertion stdVersionRead == serializationVersion failed.Version tag does not match.",
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="tensorrt-build",
        pattern=r"Could not find any implementation for node|Failed to create TensorRT engine|No importer registered for op: (?P<operator>\w{1,40})|Unable to find plugin|getPluginCreator could not find plugin|UNSUPPORTED_NODE|Insufficient workspace|INVALID_GRAPH: Assertion failed|UNSUPPORTED_GRAPH|In node \d{1,6} .{0,40}(UNSUPPORTED|INVALID)_NODE|parsers/onnx/\w{1,30}\.cpp:\d{1,6}.{0,80}(fail|Assert)",
        cause="TensorRT cannot build this ONNX graph: an operator that it does not have ({operator}), one that needs a plugin, or too little workspace or memory on the GPU",
        remedy="Simplify the graph first (onnxsim), export with static shapes, raise the workspace, or upgrade TensorRT; other programs on the GPU must leave memory",
        checks=("memory-in-use",),
        says=(
            "[TRT] [E] 10: Could not find any implementation for node {ForeignNode[/model/Where]}.",
            "ERROR: ModelImporter.cpp:726: While parsing node number 12 [NonZero -> 'x']: No importer registered for op: NonZero",
        ),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="onnx-opset-of-torch",
        pattern=r"Unsupported ONNX opset [Vv]ersion:? ?(?P<opset>\d{1,3})",
        cause="This torch cannot export to opset {opset}: it is older than that opset",
        remedy="Ask for a lower one (opset_version=12), or upgrade torch (opset 17 came with torch 1.13)",
        says=("ONNX: export failure  0.1s: Unsupported ONNX opset version: 17",),
        sources=(
            thread("ultralytics/ultralytics", 625, "2023-01-25"),
            thread("ultralytics/ultralytics", 742, "2023-02-01"),
        ),
    ),
    KnownError(
        id="tensorrt-library",
        pattern=r"Unable to load library: ?(?P<name>\S{0,10}nvinfer_\w{1,60}|\S{0,10}nvonnxparser\w{0,20})|(?:libnvinfer|libnvonnxparser|nvinfer|libnvinfer_plugin)\w{0,30}\.(?:so|dll)[\w.]{0,12}:? (?:cannot open|not found|could not be)",
        cause="TensorRT does not find one of its own libraries ({name}): its folder is not searched, the package is not whole, or an engine is built with the small runtime (tensorrt_lean, tensorrt_dispatch) that has no builder",
        remedy="Put TensorRT's folder lib (Windows: lib and bin) in front of PATH or LD_LIBRARY_PATH, or install it whole with pip for this CUDA (tensorrt-cu12, tensorrt-cu13) and import tensorrt before what uses it (ONNX Runtime's provider, torch_tensorrt); all of its files of one release",
        command="python -m pip install tensorrt-cu12",
        checks=("library-path", "missing-libraries"),
        says=("Error Code 6: API Usage Error (Unable to load library: nvinfer_builder_resource.dll: )",),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="torchscript-source",
        pattern=r"Can't get source for <|TorchScript requires source access|could not get source code|OSError: source code not available",
        cause="TorchScript and some exporters read a function's Python file, and there is none: a program that was packed (PyInstaller, Nuitka, .pyc alone), code from a notebook, exec or python -c, or a function that a decorator or a C extension put in its place",
        remedy="Run that step from an installation with its .py files (a clone and pip install, not the packed program); where you pack it: PyInstaller --add-data or module_collection_mode={'PACKAGE': 'py'} (torch and the packages with @torch.jit.script), or PYTORCH_JIT=0 where nothing is exported. In a notebook write the function into a module and import it",
        command="PYTORCH_JIT=0 python PROGRAM",
        says=(
            "Can't get source for <function fused_add_tanh_sigmoid_multiply at 0x000001F848DAC3A0>. TorchScript requires source access in order to carry out compilation, make sure original .py files are available.",
        ),
        sources=(thread("w-okada/voice-changer", 354, "2023-06-28"), torch_file("torch/_sources.py")),
    ),
    KnownError(
        id="onnx-not-parsed",
        pattern=r"Failed to parse ONNX model|Does the model file exist and contain a valid ONNX model|Failed to parse the ONNX|In node -?\d{1,6} \(parse\w{0,20}\)|Could not load model file [^\n]{0,160}\.onnx",
        cause="There is no whole ONNX file to read: the export before it failed or was interrupted (its own error stands above), an earlier half-written file was kept, the weights beside it (NAME.onnx_data) are not there, or TensorRT does not know an operator (then a line `[TRT] [E]` names it)",
        remedy="Look above for the error of torch.onnx.export and ask for that one (memory and tensors on two devices are frequent). Delete the .onnx and everything that was cached beside it, and export again; python -c \"import onnx; onnx.checker.check_model('FILE.onnx')\" says whether the file is whole (give the path, not the object, above 2 GB)",
        command="python -c \"import onnx; onnx.checker.check_model('FILE.onnx')\"",
        says=(
            "polygraphy.exception.exception.PolygraphyException: Failed to parse ONNX model. Does the model file exist and contain a valid ONNX model?",
        ),
        sources=(
            thread("NVIDIA/Stable-Diffusion-WebUI-TensorRT", 262, "2024-11-29"),
            thread("NVIDIA/Stable-Diffusion-WebUI-TensorRT", 270, "2024-03-11"),
        ),
        likely=True,
        general=True,
    ),
    KnownError(
        id="any-tensorrt",
        pattern=r"\[TRT\]:? ?(\[E\]|\d{1,2}:|E:)|\[E\] (\[TRT\] )?\d{0,2}:? ?\[\w{1,40}\.cpp|\[TensorRT\] ERROR|Error Code \d{1,2}: [A-Z]\w{2,20} ?\w{0,12} \(|IBuilder::build\w{1,30}: Error Code",
        cause="TensorRT itself gives up on this network or engine; `Error Code N:` and the text behind it name the layer and its own reason. Most often the engine was built by another TensorRT or for another GPU, a shape lies outside of the profile, or this release "
        "does not know what the exporter of this torch writes",
        remedy="Build the engine anew on this machine with the TensorRT that runs it (trtexec --onnx=FILE --verbose shows the layer); simplify the model first (onnxsim), try another opset (torch.onnx.export(..., opset_version=17)), widen min/opt/max shapes, and "
        "upgrade TensorRT: an internal error that one release has is often gone in the next",
        command="trtexec --onnx=MODEL.onnx --verbose",
        says=(
            "[E] [TRT] 7: [shapeMachine.cpp::nvinfer1::rt::ShapeMachineRoutine::executeContinuation::864] Error Code 7: Internal Error (/lightglue/ArgMax: length of reduction axis is smaller than K (1) Condition '==' violated: 0 != 1.",
        ),
        sources=(thread("fabio-sim/LightGlue-ONNX", 66, "2024-02-29"),),
        likely=True,
        general=True,
    ),
    KnownError(
        id="meta-tensor",
        pattern=r"Cannot copy out of meta tensor; no data|is not on the expected device meta|Tensor\.item\(\) cannot be called on meta tensors|is on the meta device, we need a `value`",
        cause="Weights were never loaded: the model was made empty (device meta, init_empty_weights, device_map or low_cpu_mem_usage) and a part of it has no values in the checkpoint or was left out for want of memory (device_map='auto' puts it on disk)",
        remedy="Look for the warning about missing keys above; load with device_map='auto' or a device, not with .to() afterwards (or model.to_empty(device=...) and then load_state_dict); where parts were put on the CPU or disk, use a smaller or quantized model; upgrade "
        "transformers and accelerate together",
        says=(
            "NotImplementedError: Cannot copy out of meta tensor; no data!",
            "RuntimeError: Tensor on device cuda:0 is not on the expected device meta!",
        ),
        sources=("the wording as programs print it; no thread was read for it, 2026-11-26",),
        likely=True,
    ),
    KnownError(
        id="torchscript-language",
        pattern=r"Unsupported value kind: \w|Python type cannot be used as a value|Unknown type annotation: |expected value of type \w{1,20} for argument|Unknown builtin op: aten::|Unknown type name '|Arguments for call are not valid|Expected a (?:default )?value of type '?\w{1,20}|(?:NotSupportedError|UnsupportedNodeError): |Compiled functions can't take variable number|is not usable in a script method|Could not export Python function call|was not annotated with an "
        r"explicit type|Module '\w{1,60}' has no attribute '\w{1,60}' (?:\(|:)",
        cause="TorchScript (torch.jit.script, save of a scripted model, the older ONNX exporter) takes a part of Python with types known beforehand, and this code is outside of it",
        remedy="TorchScript is no longer developed: use torch.export (or torch.onnx.export(..., dynamo=True), torch.compile) instead; `torchlift migrate --select leaving-torchscript` shows the places. To stay with it: torch.jit.trace(model, inputs) where control flow does not depend on data, type annotations on what is named, a "
        "custom autograd function written with torch's operators, or torch.jit.ignore",
        says=("RuntimeError: Unsupported value kind: Tensor",),
        sources=(thread("Rikorose/DeepFilterNet", 456, "2023-10-29"),),
        likely=True,
    ),
    KnownError(
        id="onnx-opset-too-new",
        pattern=r"Could not find an implementation for (?P<name>\w{1,40}\(\d{1,3}\)) node",
        cause="One side is older than the other: this torch does not write that opset, or this ONNX Runtime has no kernel for an operator as the exporter wrote it ({name}; often a type such as bool that it does not take)",
        remedy="Upgrade the older of the two (pip install -U onnxruntime onnx; torch), or name an opset that both know (opset_version=17); for a missing kernel cast the tensor before that operator (float or int64 instead of bool)",
        command="python -m pip install -U onnx onnxruntime",
        says=("[ErrorCode:NotImplemented] Could not find an implementation for Trilu(14) node with name '/Trilu'",),
        sources=(thread("baudm/parseq", 142, "2024-06-14"),),
    ),
    KnownError(
        id="triton-internal",
        pattern=r"Internal Triton PTX codegen error|LLVM ERROR: Failed to compute parent layout|python: /(?:project|source|root|build)\S{0,200}/(?:lib|third_party)/\S{1,200}: Assertion|PassManager::run failed|failed to legalize operation '(?P<name>[\w.]{1,60})'|`?ptxas`? (?:failed with error code|raised SIGSEGV)|LLVM ERROR: Cannot select|LLVM ERROR: operation destroyed but still has uses|mlir::\w{1,60}[^\n]{0,80}(?:Assertion|failed)",
        cause="Triton's own compiler failed on a kernel: a defect of this release with this GPU or data type, or a ptxas that does not know the GPU",
        remedy="Take the Triton that torch pins (python -m pip install --force-reinstall triton==$(python -c 'import importlib.metadata as m; print(*[r for r in m.requires(\"torch\") if r.startswith(\"triton\")])' | grep -oE '[0-9.]+' | head -1)), or torch and Triton of a newer release; delete ~/.triton/cache. To "
        "go on without it: TORCH_COMPILE_DISABLE=1, or the library's other backend",
        checks=("triton-pin", "triton-ptxas", "triton-gpu-too-old"),
        says=("RuntimeError: Internal Triton PTX codegen error", "RuntimeError: PassManager::run failed"),
        sources=(thread("pytorch/torchdynamo", 886, "2022-08-18"),),
        likely=True,
    ),
    KnownError(
        id="tensorrt-unknown-jetson",
        pattern=r"Unknown embedded device detected\. Please update the table",
        cause="This TensorRT is older than the Jetson module and does not know its memory (Xavier NX 16 GB with JetPack 4.6, for one)",
        remedy="Take a JetPack with a TensorRT that knows the module (JetPack 5 or newer for Xavier and Orin); for Xavier NX 16 GB on JetPack 4.6 NVIDIA has TensorRT 8.2.1.9 as a patch. It is not the network or the engine",
        command="dpkg -l | grep -E 'tensorrt|nvidia-l4t-core'",
        says=(
            "[utils.cpp::checkMemLimit::380] Error Code 2: Internal Error (Assertion upperBound != 0 failed. Unknown embedded device detected. Please update the table with the entry: {{1794, 6, 16}, 12660},)",
        ),
        sources=(thread("NVIDIA/TensorRT", 1866, "2022-11-08"),),
    ),
    KnownError(
        id="transformer-fast-path",
        pattern=r"Mask Type should be defined|_transformer_encoder_layer_fwd\(\)[^\n]{0,60}(?:incompatible|invalid)",
        cause="The fast path of torch 1.12 and 1.13 for Transformer layers in inference was called with arguments of another release: the library (fairseq above all) was written for one of the two",
        remedy="Take torch 1.12, which that library was written for, or a newer release of the library (of fairseq its main branch; or fairseq2). Where the program calls torch.nn.TransformerEncoder itself, torch 2 can do without the fast path: torch.backends.mha.set_fastpath_enabled(False)",
        says=("RuntimeError: Mask Type should be defined",),
        sources=(
            thread("facebookresearch/fairseq", 4899, "2022-12-10"),
            thread("facebookresearch/fairseq", 4858, "2022-11-11"),
        ),
        likely=True,
    ),
)
