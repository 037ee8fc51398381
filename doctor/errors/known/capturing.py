"""What torch.compile, torch.export, FX and the tracers say of a program that they cannot capture."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_running import COMPILER_STAGE
from torchlift.doctor.errors.known_error import Cause, KnownError, thread, torch_file

_FAKE = torch_file("torch/_subclasses/fake_tensor.py")

UNSUPPORTED = (
    Cause(
        "A value of a tensor is needed while it is traced: .item(), .tolist(), a branch, a size or an index that depends on data",
        "the text says Tensor.item, data-dependent, dynamic shape operator, aten.nonzero, _local_scalar_dense, or Data-dependent branching",
        "torch.compile without fullgraph breaks the graph there and goes on; torch._dynamo.config.capture_scalar_outputs = True and capture_dynamic_output_shape_ops = True; torch.where, torch.cond or fixed sizes in place of branches, torch._check for what is known",
        seen=r"\.item|item\(|tolist|[Dd]ata.?dependent|dynamic shape|nonzero|_local_scalar_dense|masked_select|unique",
    ),
    Cause(
        "It calls into something that dynamo does not follow: a compiled extension, a function of another library that is marked to be skipped, printing, logging, files, locks, warnings",
        "the text says skipped, skipfiles, builtin, C/C++ extension, print, logging, open, RLock, or names a module outside of the program",
        "take it out of the compiled part (@torch.compiler.disable on the function that calls it), no fullgraph=True; an operator of one's own: torch.library.custom_op with register_fake; a library: its newest release",
        seen=r"skipfiles|marked as skipped|skip(?:ped)? function|in skip|builtin|Builtin|\bprint\b|\blogg(?:er|ing)\b|\bwarnings?\.|C extension|C/C\+\+|pybind|RLock|_thread|\bopen\(|\bos\.\w|\btime\.\w",
    ),
    Cause(
        "The Python construct itself is not known to this torch: generators, context managers, some classes, iterators, exceptions, hooks",
        "the text says call_method, UserDefinedObjectVariable, generic context manager, generator, setattr, or `hint`; a newer torch compiles it",
        "upgrade torch (each release takes more), write that line more plainly, or let it break: torch.compile without fullgraph. Export: torch.export.export(..., strict=False)",
        seen=r"UserDefined|call_method|call_function|context manager|\bgenerator|setattr|hasattr|iterator|exception handl|\b[Hh]ook|mutat",
    ),
    Cause(
        "RNN, LSTM and GRU, and DataParallel, are left out on purpose",
        "the text names RNN, GRU, LSTMs or DataParallel",
        "leave these modules uncompiled (compile the parts around them), or torch._dynamo.config.allow_rnn = True where this torch has it; DistributedDataParallel in place of DataParallel",
        seen=r"RNN|GRU|LSTM|DataParallel",
    ),
)

NOT_SCRIPTED = (
    Cause(
        "A function or method takes *args, **kwargs or keyword-only arguments with defaults, which TorchScript does not have",
        "the message says `variable number of arguments or use keyword-only arguments`, and the lines below show that `def`",
        "write the arguments out with their types; a function that the forward pass does not need: @torch.jit.ignore (or @torch.jit.unused, where the file has to be saved); a library's layer (torch.utils.checkpoint, torchvision, transformers): torch.jit.trace(model.eval(), example) in place of script",
        seen=r"variable number of arguments|keyword-only arguments",
    ),
    Cause(
        "A value has another type than TorchScript takes it for: arguments without an annotation are tensors, an output is a dict or an object, a value may be None",
        "the message says `Expected a value of type`, `Arguments for call are not valid`, `cannot infer type` or names Optional",
        "annotate it (n: int, sizes: List[int], x: Optional[Tensor]; torch.jit.annotate), int(t) for a tensor that is a size; models of transformers: from_pretrained(..., torchscript=True), or return_dict=False, and trace them",
        seen=r"Expected a value of type|Arguments for call are not valid|cannot infer type|Optional\[",
    ),
    Cause(
        "The code has a construct that TorchScript does not compile: try, with, lambda, yield, set, comprehensions with conditions, f-strings, global values, functions of other libraries",
        "NotSupportedError, UnsupportedNodeError or `is currently not supported`, with the line below it",
        "write it plainly, or take it out: @torch.jit.ignore, @torch.jit.unused, `if not torch.jit.is_scripting():`; or trace",
        seen=r"UnsupportedNodeError|aren't supported|isn't supported|is(?: currently)? not supported",
    ),
    Cause(
        "A function that stays Python is in what is saved or exported: an autograd.Function, an ignored function, a compiled extension's call",
        "`Could not export Python function call`, with its name",
        "leave it out of the saved part (@torch.jit.unused raises only when it is called), write it with torch's operators, or register it as an operator (torch.library)",
        seen=r"Could not export Python function call",
    ),
)

_NOT_FAKE = (
    Cause(
        "The model uses a tensor that is neither an input nor a parameter or buffer: a plain attribute, a global, one made in __init__ or kept from an earlier call",
        "the operation and the real values of that tensor stand in the message, behind `Found in`",
        "self.register_buffer('name', tensor, persistent=False), or make it in forward with device=x.device; constants as Python numbers",
    ),
    Cause(
        "The weights are of a quantized or other subclass (HQQ, bitsandbytes, torchao, GGUF), whose release does not know this torch's compiler",
        "the class of the parameter, or the package in the trace, says so; without quantization it compiles",
        "upgrade that package and torch together, or leave these layers uncompiled",
        seen=r"hqq|bitsandbytes|torchao|gguf|GGUF|quant|aqlm|gptq",
    ),
    Cause(
        "Two captures are nested: a compiled function inside of export, of another compile, or of a backend that traces again",
        "`Mixing fake modes`, `fake mode`, make_fx or aot_ stand in the trace twice",
        "export or compile the plain model (model._orig_mod); a backend of one's own: detect_fake_mode(inputs) and use that one",
        seen=r"Mixing fake modes|make_fx|aot_function|export|backend",
    ),
)

_FX_OF_COMPILED = (
    Cause(
        "A model that torch.compile has wrapped is traced by something else: torch.jit.trace, ONNX export, FX, a counter of FLOPs, a quantizer",
        "torch.compile(model) is in the program, or the model's own code compiles a part; the name behind `using FX to` says which tracer",
        "hand over the plain model: model._orig_mod, or call the tracer before torch.compile; without the compiler altogether: TORCH_COMPILE_DISABLE=1",
        seen=r"torch\.jit\.trace|onnx|FlopCount|fvcore|export",
    ),
    Cause(
        "The model compiles a part of itself when it runs (ModernBERT's reference_compile, flex attention, rotary embeddings)",
        "the program has no torch.compile; the trace shows a decorated function in a modeling_*.py",
        "AutoModel.from_pretrained(NAME, reference_compile=False), attn_implementation='sdpa' or 'eager'; a newer transformers",
        seen=r"[Mm]odern[Bb]ert|flex|modeling_",
    ),
    Cause(
        "Activation checkpointing, DataParallel or several threads run compiled code while another part is being traced",
        "the trace has checkpoint.py, parallel_apply or a thread",
        "compile the inner function only, one process a GPU, one thread that compiles; a newer torch",
        seen=r"checkpoint|parallel_apply|thread",
    ),
)

ROWS = (
    KnownError(
        id="fake-value-asked",
        pattern=r"DataDependentOutputException|DynamicOutputShapeException|torch\.\* op returned non-Tensor \w{1,12} call_(?:function|method)",
        cause="While it was traced for torch.compile or export, the program asked for a value (.item(), bool(), int()) or a result whose size depends on values (nonzero, x[mask], unique, repeat_interleave), which a fake tensor does not have",
        remedy="torch.compile: no fullgraph=True, or torch._dynamo.config.capture_scalar_outputs = True and capture_dynamic_output_shape_ops = True. torch.export: torch.where or a mask in place of x[mask], repeat_interleave(..., output_size=n), torch.nonzero_static, torch._check for what holds; an assert on values: torch._assert_async or none. FakeTensorMode of one's own: shape_env=ShapeEnv(), and a newer torch",
        says=(
            "torch._subclasses.fake_tensor.DynamicOutputShapeException: aten.nonzero.default",
            "torch._subclasses.fake_tensor.DataDependentOutputException: aten._local_scalar_dense.default",
        ),
        sources=(
            thread("pytorch/pytorch", 106130, "2023-07-27"),
            thread("pytorch/pytorch", 96529, "read 2026-11-27"),
            thread("SpatialVLA/SpatialVLA", 20, "read 2026-11-27"),
            _FAKE,
        ),
    ),
    KnownError(
        id="real-tensor-in-a-trace",
        pattern=r"Please convert all Tensors to FakeTensors first|Mixing fake modes NYI|fake mode \(<[^\n]{1,120}doesn't match mode",
        cause="While the model is traced with fake tensors, an operation met a real one, or one of another trace",
        remedy="See which tensor it is: `Found in` names the operation, and the lines behind `from user code:` the place",
        command="TORCHDYNAMO_VERBOSE=1 python PROGRAM",
        causes=_NOT_FAKE,
        says=(
            "Exception: Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with 'allow_non_fake_inputs'. Found in aten.mm.default(...)",
            "AssertionError: Mixing fake modes NYI",
        ),
        sources=(
            thread("pytorch/pytorch", 127374, "read 2026-11-27"),
            thread("pytorch/pytorch", 165114, "2025-10-10"),
            thread("pytorch/pytorch", 111759, "2023-10-22"),
            _FAKE,
        ),
    ),
    KnownError(
        id="operator-without-fake",
        pattern=r"UnsupportedOperatorException: (?P<operator>[\w.:]{1,100})|[Tt]here was no fake impl registered for|no fake impl(?:ementation)? (?:registered )?for|[Uu]nsupported operator: (?P<operator2>\w{1,40}(?:::|\.)[\w.:]{1,80})",
        cause="torch.compile or export does not know the shape of the result of {operator}: the operator has no fake (meta) implementation in what is loaded",
        remedy="One of a package's: import that package before compiling and upgrade it (newer releases register it), or leave its call out: @torch.compiler.disable on the function. One's own: @torch.library.register_fake('NAMESPACE::NAME'). One of torch's (aten.): upgrade torch, or write that step otherwise",
        says=(
            "torch._subclasses.fake_tensor.UnsupportedOperatorException: mylib.op.default",
            "torch._dynamo.exc.Unsupported: unsupported operator: aten._fft_r2c.default",
        ),
        sources=(thread("pytorch/pytorch", 147854, "2025-02-25"), _FAKE),
    ),
    KnownError(
        id="dynamo-unsupported",
        pattern=r"torch\._dynamo\.exc\.Unsupported|\bUnsupported: (?:call_|Tensor\.|[Dd]ata[- ]dependent|[Dd]ynamic (?:control|shape|slic)|Attempted|Unsupported|Graph break|generic|skip|inline|'skip|'inline|TorchDynamo|torch\.)",
        cause="torch.compile(fullgraph=True) or torch.export met Python that it cannot capture; the text behind it says which",
        remedy="The lines behind `from user code:` name the place; TORCH_LOGS=graph_breaks lists all such places",
        command="TORCH_LOGS=graph_breaks python PROGRAM",
        causes=UNSUPPORTED,
        says=(
            "torch._dynamo.exc.Unsupported: Data-dependent branching",
            "torch._dynamo.exc.Unsupported: call_function BuiltinVariable(print) [TensorVariable()] {}",
        ),
        sources=(
            torch_file("torch/_dynamo/exc.py"),
            thread("pytorch/pytorch", 128095, "2024-09-04"),
            thread("pytorch/pytorch", 118740, "2024-01-31"),
            thread("pytorch/pytorch", 94795, "2023-02-14"),
        ),
    ),
    KnownError(
        id="tracing-what-is-compiled",
        pattern=r"Detected that you are using FX to (?:symbolically trace|torch\.jit\.trace) a dynamo-optimized",
        cause="A part that torch.compile has taken over is traced by a second tool, which cannot look into it",
        remedy="See which of both is needed: without the compiler the tracer works",
        command="TORCH_COMPILE_DISABLE=1 python PROGRAM",
        causes=_FX_OF_COMPILED,
        says=(
            "RuntimeError: Detected that you are using FX to symbolically trace a dynamo-optimized function. This is not supported at the moment.",
            "RuntimeError: Detected that you are using FX to torch.jit.trace a dynamo-optimized function. This is not supported at the moment.",
        ),
        sources=(
            thread("facebookresearch/fvcore", 150, "2024-07-25"),
            thread("michaelfeil/infinity", 583, "2025-07-28"),
            thread("pytorch/pytorch", 179614, "read 2026-11-27"),
        ),
    ),
    KnownError(
        id="compiled-twice-differentiated",
        pattern=r"torch\.compile with aot_autograd does not currently support double backward",
        cause="A compiled function was differentiated twice (gradient penalty, forces, Hessian, physics loss), which torch.compile does not do, whatever its backend",
        remedy="Leave the part that is differentiated twice uncompiled (@torch.compiler.disable, or compile other parts only); backend='eager' traces without that limit; a gradient that is taken inside of the compiled function: torch.func.grad",
        says=("RuntimeError: torch.compile with aot_autograd does not currently support double backward",),
        sources=(
            thread("pytorch/pytorch", 91469, "2023-01-19"),
            thread("NVIDIA/cuEquivariance", 268, "2026-04-09"),
            thread("torchmd/torchmd-net", 307, "2024-03-18"),
        ),
    ),
    KnownError(
        id="tracer-output-container",
        pattern=r"Encountering a (?P<kind>dict|list|tuple|NamedTuple|\w{1,20}) at the output of the tracer",
        cause="torch.jit.trace met a {kind} as the model's result, which it takes only with strict=False",
        remedy="torch.jit.trace(model, inputs, strict=False), or a wrapper whose forward returns tensors or a tuple of them; transformers and diffusers: return_dict=False, torchscript=True. Where TensorBoard's add_graph or a summary prints it, training goes on: leave that call out",
        says=(
            "RuntimeError: Encountering a dict at the output of the tracer might cause the trace to be incorrect, this is only valid if the container structure does not change based on the module's inputs.",
        ),
        sources=(
            thread("bubbliiiing/yolov7-pytorch", 17, "2022-07-25"),
            thread("harishanand95/diffusers", 16, "2023-11-23"),
        ),
    ),
    KnownError(
        id="tracer-constant-with-gradient",
        pattern=r"Cannot insert a Tensor that requires grad as a constant",
        cause="torch.jit.trace or the older ONNX exporter met a tensor that requires a gradient and is neither an input nor a parameter of the traced module: one made outside, a weight in a plain list or attribute, a cached copy (apex, autocast), a layer that was created in forward",
        remedy="Trace in eval() and under torch.no_grad(), with parameters as nn.Parameter or register_buffer and layers in ModuleList; x.detach() for the one that is named; trace the whole module, not a bound method; mixed precision off while exporting. torch.onnx.export(..., dynamo=True) has no such rule",
        says=(
            "RuntimeError: Cannot insert a Tensor that requires grad as a constant. Consider making it a parameter or input, or detaching the gradient",
        ),
        sources=(
            thread("ultralytics/yolov3", 1795, "read 2026-11-27"),
            thread("NVIDIA/apex", 775, "read 2026-11-27"),
            thread("pytorch/pytorch", 91750, "2023-01-05"),
            thread("pytorch/pytorch", 12946, "2021-04-23"),
        ),
        likely=True,
    ),
    KnownError(
        id="onnx-wants-a-constant",
        pattern=r"Unsupported: ONNX export of \w{1,40} in opset|ONNX export[^\n]{0,80}(?:must be (?:a )?constant|input size not accessible|not accessible)|\(output_size\) indexing|Failed to export an ONNX attribute '?(?P<name>[\w:]{1,40})|Expected (?:a )?constant [^\n]{0,40}for symbolic|convolution for kernel of unknown shape|Attention using SDPA can not be traced with torch\.jit\.trace",
        cause="The older ONNX exporter wants a size, padding or other argument as a number, and the model computes it while it runs (from x.shape, another tensor, a parameter)",
        remedy="torch.onnx.export(..., dynamo=True) keeps computed sizes. With the older one: opset_version=11 or newer (17), plain numbers (int(x.shape[2]), F.interpolate with scale_factor or a fixed size, AdaptiveAvgPool2d(1)), no dynamic axes for that dimension, or onnxsim afterwards",
        says=(
            "RuntimeError: Unsupported: ONNX export of Pad in opset 9. The input pad must be constant.",
            "torch.onnx.errors.OnnxExporterError: Unsupported: ONNX export of operator upsample_nearest2d, torch._C.Value (output_size) indexing.",
            "RuntimeError: Failed to export an ONNX attribute 'onnx::Gather', since it's not constant, please try to make things (e.g., kernel size) static if possible",
        ),
        sources=(
            thread("ultralytics/ultralytics", 17152, "2024-10-25"),
            torch_file("torch/onnx/_internal/torchscript_exporter"),
        ),
        likely=True,
    ),
    KnownError(
        id="inductor-raised",
        causes=COMPILER_STAGE,
        pattern=r"backend='(?P<backend>\w{1,30})' raised:\n{1,3}(?P<raised>(?P<error>\w{1,40}(?:Error|Exception)))\b",
        cause="The compiler's backend {backend} ended with {error}, which stands in the next line: mostly a defect of this torch (or of its Triton, compiler or a package's operator) with this model, no error of the program",
        remedy="Without it the program runs: TORCH_COMPILE_DISABLE=1. Then find the stage: backend='eager', 'aot_eager', 'inductor'; try the newest torch; look for the error's text in github.com/pytorch/pytorch/issues",
        command="TORCH_COMPILE_DISABLE=1 python PROGRAM",
        checks=("triton-pin", "host-compiler", "triton-gpu-too-old"),
        says=(
            "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\nAttributeError: 'NoneType' object has no attribute '_overloadpacket'",
        ),
        sources=(
            thread("pytorch/pytorch", 118923, "read 2026-11-27"),
            thread("tenstorrent/tt-xla", 2653, "2025-12-23"),
        ),
        likely=True,
        general=True,
    ),
    KnownError(
        id="autotuning-without-choices",
        pattern=r"NoValidChoicesError|No choices to select(?:, please consider|\b)|no valid (?:triton )?config[^\n]{0,60}(?:autotun|flex)",
        cause="torch.compile tries several kernels for one operation and chooses the fastest (max_autotune, flex_attention); here none was left: the backends that are allowed have none for these shapes and types, or each failed on this GPU (the lines above say how, mostly shared memory)",
        remedy="Let torch's own kernels take part: TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS=ATEN,TRITON, or mode='default' in place of max-autotune. flex_attention: smaller blocks, kernel_options={'BLOCK_M': 32, 'BLOCK_N': 32} (with BLOCK_M1, BLOCK_N1, BLOCK_M2, BLOCK_N2 for backward), and a newer torch",
        says=(
            "torch._inductor.exc.InductorError: LoweringException: NoValidChoicesError: No choices to select, please consider adding ATEN into max_autotune_gemm_backends config",
        ),
        sources=(torch_file("torch/_inductor/select_algorithm.py"),),
        likely=True,
    ),
    KnownError(
        id="sizes-that-inductor-compares",
        pattern=r"cannot determine truth value of Relational(?:: (?P<expression>[^\n]{1,60}))?",
        cause="A defect of torch.compile with sizes that it keeps open: it asks of two of them which is larger ({expression}), and cannot know",
        remedy="Upgrade torch. Until then fix the sizes: torch.compile(..., dynamic=False), torch._dynamo.mark_static(x, dim), inputs padded to a few lengths; or leave that part out (torch.compiler.disable). flex_attention: lengths that are multiples of 128, and block masks made for them",
        says=("LoweringException: TypeError: cannot determine truth value of Relational: 128*s1 < s0",),
        sources=("the wording of sympy, sympy/core/relational.py, by knowledge of it, 2026-11-27",),
        likely=True,
    ),
    KnownError(
        id="graph-not-cached",
        pattern=r"BypassFxGraphCache|BypassAOTAutogradCache|fx graph cache unable to (?:load|save)|fx_graph_cache_bypass",
        cause="Inductor does not put this compiled graph into its cache, since it holds something that the cache cannot describe; it is compiled anew in each process",
        remedy="Nothing has to be done, if it stands in the log alone; where an exception follows, that one is the reason. A newer torch caches more",
        level="warning",
        says=("torch._inductor.codecache.BypassFxGraphCache: Can't cache HigherOrderOperators",),
        sources=(torch_file("torch/_inductor/codecache.py"),),
    ),
)
