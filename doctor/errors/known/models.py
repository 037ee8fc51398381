"""Models of hubs and the libraries that load, quantize, adapt and export them: what they say where releases or files do not fit."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_loading import NOT_IN_THE_PACKAGE
from torchlift.doctor.errors.known.tensors import of_the_program
from torchlift.doctor.errors.known_error import Cause, KnownError, thread, torch_file
from torchlift.doctor.errors.library_names import read_library_name

_READ = "read 2026-11-27"

_HUB_CALLABLE = (
    Cause(
        "The copy of the repository in the cache is of another time than the name that is asked",
        "ls ~/.cache/torch/hub shows a folder of that repository with an old date",
        "torch.hub.load(REPO, NAME, force_reload=True), or delete that folder",
    ),
    Cause(
        "The repository's hubconf.py does not have that name on this branch",
        "torch.hub.list('OWNER/REPO:BRANCH') shows the names",
        "take one of these, or another branch or tag: 'OWNER/REPO:main'",
    ),
    Cause(
        "hubconf.py leaves names out whose packages are missing here",
        "torch.hub.load prints a warning or ImportError above; python -c 'import PACKAGE' for the dependencies that it names",
        "install these packages, then force_reload=True",
        seen=r"dependencies|ImportError|No module named",
    ),
)

_READ_ONLY_PROPERTY = (
    Cause(
        "The installed library has made it a property, and older code (of a hub, a trainer, a patch) sets it",
        "python -m pip show the library is newer than that code",
        "upgrade the code (a newer revision of the model: revision='main', trust_remote_code), or the library at the release of its time; AutoGPTQ's hf_device_map: dispatch model.model",
    ),
    Cause(
        "The object is another class than the code expects (a fast instead of a slow tokenizer, a wrapper of a quantizer)",
        "print(type(x))",
        "use_fast=False, or the object inside (model.model)",
        seen=r"[Tt]okenizer|token_id|GPTQ|AWQ",
    ),
)

ROWS = (
    KnownError(
        id="asked-of-a-model",
        pattern=r"'(?P<part>\w{1,80})' object has no attribute '(?P<name>all_tied_weights_keys|rope_parameters|get_text_config|_supports_sdpa|_supports_flash_attn|_supports_attention_backend|_attn_implementation\w{0,12}|_tp_plan|hf_quantizer|get_head_mask|is_parallelizable|pruned_heads|build_inputs_with_special_tokens|prepare_for_model|_get_logits_warper|contrastive_search|_extract_past_from_model_output|greedy_search|beam_search|_temporary_reorder_cache|_validate_model_class)'",
        cause="{part} and the installed transformers are of two times: {name} came into, or went out of, transformers' classes",
        remedy="The last File lines name who asks and where {part} is defined: a package of its own, code of a model (transformers_modules), or the program",
        command="python -m pip show transformers",
        causes=NOT_IN_THE_PACKAGE,
        reads=read_library_name,
        says=(
            "AttributeError: 'ColBERTModel' object has no attribute 'all_tied_weights_keys'",
            "AttributeError: 'Config' object has no attribute 'get_text_config'",
        ),
        sources=(
            thread("AnswerDotAI/rerankers", 77, "2026-02-13"),
            thread("lucidrains/enformer-pytorch", 55, "2026-06-26"),
            thread("huggingface/transformers", 36321, "2025-02-21"),
        ),
        likely=True,
    ),
    KnownError(
        id="tokenizer-of-transformers-five",
        pattern=r"tokenization_utils_base\.py[^\0]{0,200}'list' object has no attribute 'keys'|Tokenizer class TokenizersBackend does not exist",
        cause="The tokenizer was saved for transformers 5, and an older transformers reads it",
        remedy="python -m pip install -U transformers (5 or newer; packages that forbid it upgraded in the same command). To stay with 4: the model in a revision from before, or in its folder's tokenizer_config.json take out extra_special_tokens where it is a list, and name the class that it had (tokenizer_class)",
        command="python -m pip install -U transformers",
        says=(
            "  File \"/x/transformers/tokenization_utils_base.py\", line 1181, in _set_model_specific_special_tokens\nAttributeError: 'list' object has no attribute 'keys'",
            "ValueError: Tokenizer class TokenizersBackend does not exist or is not currently imported.",
        ),
        sources=(thread("huggingface/transformers", 45376, "2026-04-11"),),
    ),
    KnownError(
        id="read-only-property",
        pattern=r"AttributeError: can't set attribute(?: '(?P<name>\w{1,60})'|$)|property '(?P<name2>\w{1,60})' of '(?P<part>\w{1,60})' object has no setter",
        cause="{name} cannot be set: it is a property that is only read in what is installed",
        remedy="The last File line names the code that sets it, and print(type(x).__module__) the library whose class it is",
        command="python -m pip check",
        causes=_READ_ONLY_PROPERTY,
        says=(
            "AttributeError: can't set attribute 'eos_token_id'",
            "AttributeError: property 'eos_token' of 'ChatGLMTokenizer' object has no setter",
        ),
        sources=(thread("oobabooga/textgen", 984, "2023-04-10"), thread("QwenLM/Qwen", 601, "2023-11-09")),
        likely=True,
        general=True,
    ),
    KnownError(
        id="adapter-without-targets",
        pattern=r"Please specify `?target_modules`? in `?peft_config`?",
        cause="peft does not know this model's architecture by its model_type, so that it cannot choose the layers for the adapter",
        remedy="LoraConfig(target_modules='all-linear') (peft 0.8 and newer), or name layers: print([n for n, m in model.named_modules() if isinstance(m, torch.nn.Linear)]), their last parts (W_pack in Baichuan, query_key_value in GLM and Falcon, c_attn in GPT-2 and Qwen 1, Wqkv in DNABERT 2); a newer peft knows more models",
        says=("ValueError: Please specify `target_modules` in `peft_config`",),
        sources=(
            thread("baichuan-inc/Baichuan-13B", 52, "2023-07-13"),
            thread("MAGICS-LAB/DNABERT_2", 133, "2025-01-15"),
        ),
    ),
    KnownError(
        id="hub-callable",
        pattern=r"Cannot find callable (?P<name>\w{1,80}) in hubconf",
        cause="torch.hub found the repository, and its hubconf.py has no {name}",
        remedy="See which names it has: torch.hub.list('OWNER/REPO', force_reload=True)",
        causes=_HUB_CALLABLE,
        says=("RuntimeError: Cannot find callable esm2_t33_650M_UR50D in hubconf",),
        sources=(thread("facebookresearch/esm", 525, "2023-04-16"), torch_file("torch/hub.py")),
    ),
    KnownError(
        id="hub-zip-of-old",
        pattern=r"Only one file\(not dir\) is allowed in the zipfile",
        cause="An older torch.hub takes the downloaded checkpoint, which is in torch's zip form of today (1.6 and newer), for a zip archive with one file in it",
        remedy="Upgrade torch; until then download the file by hand and torch.load(FILE, map_location='cpu')",
        wheel=True,
        says=("RuntimeError: Only one file(not dir) is allowed in the zipfile",),
        sources=(thread("facebookresearch/esm", 109, "2021-07-19"), torch_file("torch/hub.py")),
    ),
    KnownError(
        id="half-remark-on-cpu",
        pattern=r"Pipelines loaded with `?(?:torch_)?dtype=torch\.float16`? cannot run with `?cpu|FP16 is not supported on CPU; using FP32|fp16 is not supported on CPU",
        cause="The model runs, or is put, on the CPU, where half precision is slow or missing. It is a remark: whisper goes on in float32; of diffusers it is also said when a pipeline is only moved there and back",
        remedy="Meant to run on the GPU: python -c 'import torch; print(torch.__version__, torch.cuda.is_available())'; +cpu or False: `torchlift doctor` says why. Meant for the CPU: torch_dtype=torch.float32, fp16=False",
        command="python -c 'import torch; print(torch.__version__, torch.cuda.is_available())'",
        checks=("torch-cpu-build", "driver-missing", "cuda-visible-devices"),
        level="warning",
        says=(
            "Pipelines loaded with `torch_dtype=torch.float16` cannot run with `cpu` device. It is not recommended to move them to `cpu` as running them will fail.",
            "UserWarning: FP16 is not supported on CPU; using FP32 instead",
        ),
        sources=(
            thread("Shiriluz/Word-As-Image", 13, "2023-04-07"),
            thread("dsymbol/decipher", 8, "2023-01-04"),
            thread("shirayu/whispering", 76, "2023-01-06"),
        ),
    ),
    KnownError(
        id="remarks-about-a-model",
        pattern=r"The model '\w{1,80}' is not supported for ?[\w-]{0,30}\. Supported models are|You are using a model of type (?P<name>[\w-]{1,60}) to instantiate a model of type|Some weights of (?:the model checkpoint|\w{1,60}) (?:at|were not)|were newly initialized|You should probably TRAIN this model|Setting `?pad_token_id`? to `?eos_token_id|generation flags are not valid and may be ignored",
        cause="transformers remarks that class and file are not of one kind, or that a part of the weights is not used or is new; it goes on. Wrong results come of it only where parts that are needed are listed as newly initialized",
        remedy="A class of AutoGPTQ, peft or another wrapper in a pipeline, clip_text_model without a second type: harmless. `newly initialized` layers that you do not train: the file belongs to another class or release: take the class in config.json (architectures), and the release in transformers_version",
        level="warning",
        says=(
            "The model 'OPTGPTQForCausalLM' is not supported for . Supported models are ['BartForCausalLM', 'BertLMHeadModel']",
            "You are using a model of type clip_text_model to instantiate a model of type . This is not supported for all configurations of models and can yield errors.",
        ),
        sources=(thread("AutoGPTQ/AutoGPTQ", 32, "2023-04-28"), thread("lrzjason/T2ITrainer", 55, "2025-07-14")),
    ),
    KnownError(
        id="position-embeddings-missing",
        pattern=r"cos, sin = position_embeddings[^\0]{0,200}(?:NoneType|not enough values)|modeling_\w{1,40}\.py\", line \d{1,5}, in forward\n{1,3}TypeError: cannot unpack non-iterable NoneType object|'\w{2,40}Attention' object has no attribute 'rotary_emb'|(?:missing \d required positional arguments?:|got an unexpected keyword argument) '(?:position_embeddings|cache_position)'",
        cause="Since transformers 4.48 attention layers get their rotary position embeddings from the model (position_embeddings) and have no rotary_emb of their own; code that calls or copies such a layer (AutoAWQ, GPTQ, a patch, a model of a hub) is older",
        remedy="Upgrade that code (AutoAWQ is no longer kept: gptqmodel or llm-compressor in its place), or python -m pip install 'transformers<4.48'. Code of one's own: position_embeddings = model.rotary_emb(hidden, position_ids), handed to each layer",
        command="python -m pip install 'transformers<4.48'",
        says=(
            "    cos, sin = position_embeddings\nTypeError: cannot unpack non-iterable NoneType object",
            "AttributeError: 'LlamaAttention' object has no attribute 'rotary_emb'",
        ),
        sources=("transformers 4.47.1 and 4.48.3, models/llama/modeling_llama.py, read 2026-11-27",),
        likely=True,
    ),
    KnownError(
        id="executorch-out-variants",
        pattern=r"Missing out variants: \{(?P<name>[^}\n]{1,200})|is not (?:an? )?(?:Aten|ATen) (?:Canonical|op)|Operator torch\._ops\.\S{1,100} is not",
        cause="ExecuTorch met an operator that is not in its set: {name}",
        remedy="model.eval() before export (batch norm in training mode is one such operator), then ep = torch.export.export(...).run_decompositions(). Operators of quantization or custom ones (quantized_decomposed::, llama::): lower them to a back end (to_edge_transform_and_lower with XnnpackPartitioner, CoreML, QNN) and import the module that registers them (executorch.kernels.quantized, executorch.extension.llm.custom_ops) before to_executorch(); scaled_dot_product_attention under torch.nn.attention.sdpa_kernel([SDPBackend.MATH]) while exporting. To see which remain: EdgeCompileConfig(_check_ir_validity=False); a newer ExecuTorch with its torch has more",
        says=(
            "RuntimeError: Missing out variants: {'aten::alias'}",
            "torch._export.verifier.SpecViolationError: Operator torch._ops.aten._native_batch_norm_legit_functional.default is not Aten Canonical.",
        ),
        sources=(
            thread("pytorch/executorch", 1132, "2023-11-06"),
            thread("pytorch/executorch", 7775, "2025-01-20"),
            thread("pytorch/executorch", 2389, "2024-03-13"),
        ),
        likely=True,
    ),
    KnownError(
        id="compiler-setting-unknown",
        pattern=r"torch\.(?P<module>_dynamo|_inductor|_functorch|fx)\.[\w.]{0,40}config\.(?P<name>\w{1,60}) does not exist",
        cause="This torch's compiler has no setting {name}: the code is for a newer torch (recompile_limit came with 2.6, before that it is cache_size_limit) or an older one",
        remedy="python -c 'import torch._dynamo.config as c; print(dir(c))' lists those here; upgrade torch, or the package that sets it to one for this torch; own code: hasattr(torch._dynamo.config, 'NAME') around it",
        command="python -c 'import torch; print(torch.__version__)'",
        says=("AttributeError: torch._dynamo.config.recompile_limit does not exist",),
        sources=(thread("kijai/ComfyUI-WanVideoWrapper", 366, "2025-04-01"),),
    ),
    KnownError(
        id="apex-not-initialized",
        pattern=r"Invoked 'with amp\.scale_loss`, but internal Amp state has not been initialized|model, optimizer = amp\.initialize\(model, optimizer",
        cause="apex.amp's scale_loss runs without amp.initialize before it: the trainer sets up torch's own mixed precision, or a checkpoint was resumed past that step",
        remedy="apex.amp is no longer developed: use torch's (torch.autocast and torch.amp.GradScaler; Lightning: precision='16-mixed', transformers: fp16=True without half_precision_backend='apex'). To stay with it: model, optimizer = amp.initialize(model.cuda(), optimizer, opt_level='O1') once, before DistributedDataParallel and before load_state_dict",
        says=(
            "RuntimeError: Invoked 'with amp.scale_loss`, but internal Amp state has not been initialized.  model, optimizer = amp.initialize(model, optimizer, opt_level=...) must be called before `with amp.scale_loss`.",
        ),
        sources=(thread("Lightning-AI/pytorch-lightning", 6097, "2021-02-20"),),
    ),
    KnownError(
        id="torch-name-of-old",
        pattern=r"'super' object has no attribute '(?P<name>conv2d_forward|conv3d_forward)'|mmcv[/\\]parallel[^\0]{0,300}'int' object has no attribute 'type'|in get_input_device[^\0]{0,200}'int' object has no attribute 'type'",
        cause="The package (mmcv 1.x, DetectoRS and others) uses an inner name of torch that has changed: conv2d_forward is _conv_forward since 1.5, and _get_stream takes a device in place of a number since 2.1",
        remedy="mmcv 2 with the mmdetection, mmsegmentation or mmrotate that go with it, or mmcv 1.x with a torch before 2.1 (mmcv/parallel/_functions.py: _get_stream(torch.device('cuda', device)) where it must run); conv2d_forward: mmcv 1.1 and newer, or self._conv_forward(x, weight, bias)",
        says=(
            "AttributeError: 'super' object has no attribute 'conv2d_forward'",
            "  File \"/site-packages/mmcv/parallel/_functions.py\", line 72, in get_input_device\nAttributeError: 'int' object has no attribute 'type'",
        ),
        sources=(thread("open-mmlab/mmcv", 463, "2020-08-10"), thread("open-mmlab/mmdetection", 10720, "2023-11-29")),
        likely=True,
    ),
    KnownError(
        id="libtorch-file-not-opened",
        pattern=r"open file failed,? ?(?:because of errno \d{1,3} on fopen: (?P<name>[^\n,]{1,60}))?,? ?file path:",
        cause="torch::jit::load (or a torch.load of C++) could not open the file: it is not at that path from where the program runs, or the path arrived damaged",
        remedy="Give the whole path and print it before the call. The path in the message is empty or of strange characters (Windows): a Debug program was linked with a Release libtorch (take the Debug download, or build in Release). Non-Latin folders: read it into a std::stringstream and load that",
        says=(
            "open file failed, file path:\nException raised from FileAdapter at ..\\..\\caffe2\\serialize\\file_adapter.cc:11 (most recent call first):",
            "open file failed because of errno 2 on fopen: No such file or directory, file path: model.pt",
        ),
        sources=(thread("PeterL1n/BackgroundMattingV2", 64, "2021-03-05"), torch_file("torch/lib/libtorch_cpu.so")),
        likely=True,
    ),
    of_the_program(
        "empty-weights-of-numbers",
        r"assert torch\.isnan\(\w{1,20}\)\.sum\(\) == 0|in pseudo_quantize_tensor\n{1,3}AssertionError",
        "The weights that are quantized hold no numbers (NaN): they were damaged in the download, or overflowed when they were loaded in float16",
        "torch.isnan over model.parameters() right after loading: there already: load again (hf download --force-download), or torch_dtype=torch.bfloat16 or float32; only later: fewer or shorter calibration samples, another group size, a newer release of the quantizer",
        "    assert torch.isnan(w).sum() == 0\nAssertionError",
        sources=(thread("casper-hansen/AutoAWQ", 498, "2024-06-11"), thread("casper-hansen/AutoAWQ", 577, _READ)),
    ),
    of_the_program(
        "weights-in-place-of-a-model",
        r"'(?:collections\.)?OrderedDict' object has no attribute '(?P<name>\w{1,40})'|'dict' object has no attribute '(?:eval|cuda|parameters|state_dict|train|forward|modules)'",
        "The file holds weights (a state_dict, or a dictionary with it) and no model, and a model's method ({name}) was called on it",
        "model = TheClass(...); sd = torch.load(FILE, map_location='cpu'); model.load_state_dict(sd.get('state_dict', sd.get('model', sd))); model.eval(). print(sd.keys()) shows what is in it; only a file that was saved as torch.save(model) can be used at once",
        "AttributeError: 'collections.OrderedDict' object has no attribute 'eval'",
        "AttributeError: 'dict' object has no attribute 'eval'",
        sources=(torch_file("torch/serialization.py"),),
    ),
    of_the_program(
        "module-without-forward",
        r"Module \[(?P<name>\w{1,60})\] is missing the required \\?['\"]forward",
        "{name} was called like a layer and has no forward: a ModuleList or ModuleDict, a class whose forward is misspelled or indented into __init__, or a part of a model that only holds others",
        "ModuleList: for layer in self.layers: x = layer(x), or nn.Sequential; a class of one's own: def forward(self, x) at the indent of __init__; a part of a detector (a list of heads): call the model",
        'NotImplementedError: Module [ModuleList] is missing the required "forward" function',
        sources=(torch_file("torch/nn/modules/module.py"),),
    ),
    KnownError(
        id="tokenizer-without-padding",
        pattern=r"Asking to pad but the tokenizer does not have a padding token|Cannot handle batch sizes > 1 if no padding token is defined",
        cause="The tokenizer (GPT-2, Llama and other models that only continue text) has no padding token, and a batch is to be padded",
        remedy="tokenizer.pad_token = tokenizer.eos_token and model.config.pad_token_id = tokenizer.pad_token_id (classification needs both); for training rather a token of its own: tokenizer.add_special_tokens({'pad_token': '[PAD]'}), then model.resize_token_embeddings(len(tokenizer)); padding_side='left' for generation",
        says=("ValueError: Asking to pad but the tokenizer does not have a padding token.",),
        sources=("transformers 4.57.6, tokenization_utils_base.py, read 2026-11-27",),
    ),
    KnownError(
        id="generation-settings",
        pattern=r"`?temperature`? \(=?-?[\d.]{1,8}\) has to be a strictly positive float|Input length of \w{1,20} is \d{1,8}, but `?max_(?:new_tokens|length)`? is set to|`?do_sample`? is set to `?False`?\. However",
        cause="generate() got settings that contradict each other: a temperature of 0 with sampling, a max_length that the prompt fills already, or sampling values without sampling",
        remedy="Temperature 0 means do_sample=False (and no temperature, top_p, top_k); max_new_tokens=N in place of max_length, which counts the prompt; a server or trainer passes them: set them there, and in generation_config.json of the model. `However, temperature is set` is only a remark",
        says=(
            "ValueError: `temperature` (=0.0) has to be a strictly positive float",
            "ValueError: Input length of input_ids is 512, but `max_length` is set to 512.",
        ),
        sources=("transformers 4.57.6, generation/logits_process.py and utils.py, read 2026-11-27",),
    ),
    KnownError(
        id="model-files-incomplete",
        pattern=r"No such file or directory: '[^'\n]{0,200}(?:model|pytorch_model|diffusion_pytorch_model)-\d{5}-of-\d{5}[^'\n]{0,20}'|No such file or directory: \"[^\"\n]{0,200}-\d{5}-of-\d{5}",
        cause="A part of the model's weights, which its index names, is not in the folder: the download or copy was not finished, or parts were renamed or removed",
        remedy="hf download NAME --local-dir FOLDER again (it fetches what is missing; git clone needs git lfs pull), df -h for space; compare with *.index.json in the folder. A folder that was trained: the saving rank ended too early",
        command="ls -l FOLDER",
        says=("FileNotFoundError: [Errno 2] No such file or directory: 'model-00001-of-00002.safetensors'",),
        sources=("transformers 4.57.6, modeling_utils.py, by its index of shards, read 2026-11-27",),
    ),
    KnownError(
        id="mapped-file-overwritten",
        pattern=r"user-mapped section open",
        cause="Windows does not let a file be overwritten that is mapped into memory: safetensors, or another program (an interface that has the model loaded), still holds tensors of it",
        remedy="Save under another name and rename after the program has ended; del the tensors that were loaded from it (and gc.collect()) or clone them first; close the other program",
        says=(
            'Exception: Error while serializing: IoError(Os { code: 1224, kind: Uncategorized, message: "The requested operation cannot be performed on a file with a user-mapped section open." })',
        ),
        sources=(thread("safetensors/safetensors", 164, "2023-01-17"),),
    ),
    KnownError(
        id="onnx-checker",
        pattern=r"Unrecognized attribute: (?P<name>\w{1,40}) for operator (?P<operator>\w{1,40})|ir_version \d{1,3} is higher than the checker|No Op registered for (?P<operator2>\w{1,60}) with domain_version of \d{1,3}|No opset import for domain|Node \(\S{1,80}\) has input size \d{1,3} not in range",
        cause="The ONNX file and the package onnx (or its runtime) are of two times, or the file mixes operators of one opset with the number of another ({operator}: its attributes became inputs in a later opset, as axes of ReduceMean in 18)",
        remedy="Upgrade onnx with its runtime first. `Unrecognized attribute`: the graph was written for a lower opset than it says (a converter, a custom symbolic, a step that raised the number): export again at that opset (opset_version=17), or onnx.version_converter.convert_version(model, 18)",
        command="python -m pip install -U onnx onnxruntime",
        says=(
            "torch.onnx.errors.CheckerError: Unrecognized attribute: axes for operator ReduceMean",
            "onnx.onnx_cpp2py_export.checker.ValidationError: Your model ir_version 10 is higher than the checker's (9).",
        ),
        sources=("github.com/onnx/onnx, docs/Changelog.md, ReduceMean-18, by knowledge of it, 2026-11-27",),
        likely=True,
    ),
    KnownError(
        id="python-integer-out-of-bounds",
        pattern=r"Python integer -?\d{1,20} out of bounds for (?P<name>u?int\d{1,2})",
        cause="NumPy 2 refuses a Python integer that {name} cannot hold, which NumPy 1 wrapped round with a remark (255 for int8, -1 for uint8)",
        remedy="np.array(n).astype(np.{name}) wraps as before; better a wider type (int64). In a package: its newest release, or python -m pip install 'numpy<2'",
        command="python -m pip install 'numpy<2'",
        says=("OverflowError: Python integer 255 out of bounds for int8",),
        sources=("numpy.org, NumPy 2.0 migration guide, NEP 50, by knowledge of it, 2026-11-27",),
    ),
    KnownError(
        id="pipeline-part-missing",
        pattern=r"Pipeline <class '[^'\n]{1,200}'> expected \{|Cannot load <class '[^'\n]{1,200}'> from [^\n]{1,200} because the following keys are missing",
        cause="The folder or file does not hold all parts, or not all weights, of the pipeline's class: it was saved by another release of diffusers, is of another pipeline, or is not whole",
        remedy="model_index.json names the class and its parts: load with DiffusionPipeline.from_pretrained, which takes that class; give a part that is missing as an argument (safety_checker=None, image_encoder=...); single files: from_single_file. Missing keys: hf download NAME again, and the diffusers of its _diffusers_version; low_cpu_mem_usage=False with device_map=None lets new weights be made where they are meant to be trained",
        says=(
            "ValueError: Pipeline <class 'diffusers.pipelines.flux.FluxPipeline'> expected {'vae', 'unet'}, but only {'vae'} were passed.",
            "ValueError: Cannot load <class 'diffusers.models.unet_2d_condition.UNet2DConditionModel'> from unet because the following keys are missing:",
        ),
        sources=("diffusers 0.36.0, pipelines/pipeline_utils.py and models/modeling_utils.py, read 2026-11-27",),
        likely=True,
    ),
    KnownError(
        id="quantization-not-there",
        pattern=r"Unsupported qscheme: (?P<name>\w{1,40})|Per channel weight observer is not supported yet for|apply_dynamic is not implemented for this packed|Embedding quantization is only supported with|didn't find kernel to dispatch to for operator 'quantized::\w{1,40}",
        cause="torch's older quantization (torch.ao.quantization, eager or FX) has no such scheme for that layer, engine or data type",
        remedy="Another scheme for that layer: qconfig_dict or QConfigMapping with per_tensor_affine (default_per_channel_qconfig only where it is supported; None leaves the layer in float), float_qparams for embeddings, qint8 for weights; torch.backends.quantized.engine = 'x86', 'fbgemm' or 'qnnpack'. It is no longer developed: torchao's quantize_ and pt2e take its place",
        says=(
            "ValueError: Per channel weight observer is not supported yet for ConvTranspose{n}d.",
            "RuntimeError: apply_dynamic is not implemented for this packed parameter type",
        ),
        sources=(torch_file("torch/ao/quantization/qconfig.py"), torch_file("torch/lib/libtorch_cpu.so")),
        likely=True,
    ),
    KnownError(
        id="tiny-cuda-nn-inputs",
        pattern=r"input\.size\(1\) == n_input_dims\(\)",
        cause="A network or encoding of tiny-cuda-nn (tinycudann) got another number of columns than it was made with (n_input_dims)",
        remedy="Print x.shape before it: it takes [batch, n_input_dims] and nothing else, so flatten all leading dimensions (x.view(-1, 3)), and give n_input_dims what the encoding before it puts out (encoding.n_output_dims). A checkpoint or configuration of another model has another number",
        says=("RuntimeError: input.size(1) == n_input_dims() check failed",),
        sources=(
            "github.com/NVlabs/tiny-cuda-nn, bindings/torch/tinycudann/bindings.cpp, by knowledge of it, 2026-11-27",
        ),
        likely=True,
    ),
    KnownError(
        id="tiny-cuda-nn-architecture",
        pattern=r"Could not find compatible tinycudann extension for compute capability (?P<value>\d{1,3})|Unknown compute capability\. Ensure PyTorch with CUDA support is installed|Insufficient compute capability \d",
        cause="tiny-cuda-nn is not built for this GPU (its compute capability stands in the message, {value}): it was built on another machine, for other GPUs, or not at all",
        remedy="Build it again for this GPU: TCNN_CUDA_ARCHITECTURES=86 (the number in the message) python -m pip install --no-build-isolation --no-cache-dir --force-reinstall 'git+https://github.com/NVlabs/tiny-cuda-nn#subdirectory=bindings/torch', with the toolkit of torch's CUDA; where no GPU is seen (docker build), that variable is a must",
        command="python -c 'import torch; print(torch.cuda.get_device_capability())'",
        checks=("gpu-architecture",),
        says=("OSError: Could not find compatible tinycudann extension for compute capability 86.",),
        sources=(
            "github.com/NVlabs/tiny-cuda-nn, bindings/torch/tinycudann/modules.py, by knowledge of it, 2026-11-27",
        ),
        likely=True,
    ),
    KnownError(
        id="four-bits-not-quantized",
        pattern=r"'NoneType' object has no attribute 'absmax'|FP4 quantization state not initialized|4bit quantization state not initialized",
        cause="A layer in 4 bits (bitsandbytes) is used before its weights were quantized, which happens as they move to the GPU; or its quantization state was lost",
        remedy="Load with BitsAndBytesConfig and device_map='auto' (or {'': 0}), or call model.to('cuda') before the first pass; no layer on the CPU or meta device (a model that does not fit is offloaded: take a smaller one). State lost: after copying, merging or wrapping weights by hand (FSDP, deepcopy, load_state_dict): use the library's own functions, with the newest bitsandbytes, accelerate and peft",
        command="python -m pip install -U bitsandbytes accelerate peft transformers",
        says=(
            "AttributeError: 'NoneType' object has no attribute 'absmax'",
            "FP4 quantization state not initialized. Please call .cuda() or .to(device) on the LinearFP4 layer first.",
        ),
        sources=(
            "github.com/bitsandbytes-foundation/bitsandbytes, bitsandbytes/nn/modules.py, by knowledge of it, 2026-11-27",
        ),
        likely=True,
    ),
)
