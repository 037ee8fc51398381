"""Names, arguments and parts that one package asks of another, which is there in another release, or another thing of that name."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_loading import NOT_IN_THE_PACKAGE
from torchlift.doctor.errors.known.causes_of_running import OWN_IMPORT
from torchlift.doctor.errors.known_error import KnownError, thread
from torchlift.doctor.errors.library_names import read_library_name
from torchlift.doctor.errors.name_history import read_argument

_READ = "2026-11-26"
_UNREAD = f"the wording as programs print it; no thread was read for it, {_READ}"
_INSTALLED = r"(?:site|dist)-packages[/\\](?P<package>[\w.-]{1,60})[/\\][^\n]{1,200}\n{1,4}"
"""The last frame of a traceback, in an installed package: what it quotes is blank."""
_PLAIN = r"NoneType|dict|list|tuple|set|str|bytes|int|float|bool|Tensor|Parameter|function|method|builtin_function_or_method|generator|ndarray|DataFrame|Namespace"

ROWS = (
    KnownError(
        id="another-thing-of-that-name",
        pattern=r"cannot import name '(?P<name>\w{1,80})' from '(?P<package>[\w.]{1,80})' \(unknown location\)"
        r"|module '(?P<package2>\w{1,60})' has no attribute '(?:__version__|__file__|__path__)'",
        cause="Python found a folder named {package} without the package's own files in it, so that it has no names: one in the folder from which the program was started "
        "(a clone of the repository, whose package lies one level deeper), or what an uninstall left over in site-packages",
        remedy="python -c 'import {package}; print({package}.__path__)' names the folder: start from another folder or rename it, or delete it and install {package} anew (pip install "
        "--force-reinstall --no-deps)",
        command="python -c 'import {package}; print({package}.__path__)'",
        says=(
            "ImportError: cannot import name 'GRPOTrainer' from 'some_package' (unknown location)",
            "ImportError: cannot import name 'Coqpit' from 'coqpit' (unknown location)",
        ),
        sources=(thread("huggingface/trl", 3421, "2025-05-08"), thread("idiap/coqui-ai-TTS", 471, "2025-08-01")),
        general=True,
    ),
    KnownError(
        id="submodule-of-itself",
        pattern=r"cannot import name '(?P<name>\w{1,80})' from partially initialized module '(?P<package>\w{1,60}\.[\w.]{1,80})'|partially initialized module '(?P<package2>\w{1,60}\.[\w.]{1,80})' has no attribute",
        cause="Inside of the import of {package} something imports it again before it has ended: two modules of the package import each other, or an import in it took another file than was meant (a folder `datasets`, `utils` or `config` beside the program, or in the folder that a launcher makes the working directory, hides the package of that name)",
        remedy="The path in the message shows whose {package} it is. Look at the imports between the first and the last `File` line: where one of them is answered by a file of the program instead of a package, start in the folder above (with python -m), take the folder out of PYTHONPATH, or do not hand it to Ray as working_dir; otherwise it is the package's own fault in this release: another release of it, or the import moved into the function that needs {name}",
        command="python -c 'import sys; print(sys.path)'",
        says=(
            "ImportError: cannot import name 'convert_token_to_id' from partially initialized module 'openrlhf.utils.utils' (most likely due to a circular import) (OpenRLHF/openrlhf/utils/utils.py)",
        ),
        sources=(thread("OpenRLHF/OpenRLHF", 796, "2025-02-27"), thread("OpenRLHF/OpenRLHF", 603, "2024-12-19")),
        likely=True,
        general=True,
    ),
    KnownError(
        id="import-of-itself",
        causes=OWN_IMPORT,
        pattern=r"cannot import name '(?P<name>\w{1,80})' from partially initialized module '(?P<package>[\w.]{1,80})'|partially initialized module '(?P<package2>[\w.]{1,80})' has no attribute",
        cause="{package} is imported while its own import has not ended",
        remedy="Look at the path in the message, and at what stands before it",
        command="python -c 'import {package}; print({package}.__file__)'",
        says=(
            "ImportError: cannot import name 'Llama' from partially initialized module 'llama_cpp' (most likely due to a circular import)",
        ),
        sources=(_UNREAD,),
        likely=True,
        general=True,
    ),
    KnownError(
        id="part-not-compiled",
        pattern=r"(?:NameError: |^|[^\w])name '(?P<name>\w{0,40}(?:_cuda|cuda_|_kernels?|_ext|_backend|_ops|_C)\w{0,20})' is not defined|(?P<name2>AWQ|ExLlamaV2|ExLlama|GEMM|Marlin|CUDA) kernels (?:could not be loaded|not installed)|cannot import name '(?P<name3>\w{1,40}_(?:cuda|cpu|ext))' from partially initialized module",
        cause="The compiled part {name} of a package was never built or does not load for this torch, CUDA and Python: the package catches that error when it is imported, and fails where it uses the part",
        remedy="Import it alone to see the reason (python -c 'import {name}'); install the package's wheel for this torch and CUDA, or build it with --no-build-isolation where nvcc is that of torch's CUDA. On "
        "a Mac or without an NVIDIA GPU it does not exist: take a model or option that does not need it",
        command="python -c 'import {name}'",
        checks=("toolkit-mismatch", "extension-abi", "torch-cpu-build"),
        says=("NameError: name 'autogptq_cuda_256' is not defined",),
        sources=(
            thread("LlamaChinese/Llama-Chinese", 75, "2023-08-03"),
            thread("PromtEngineer/localGPT", 145, "2023-06-20"),
        ),
        likely=True,
    ),
    KnownError(
        id="optional-package-missing",
        pattern=r"name '(?P<package>apex|amp|amp_C|flash_attn\w{0,30}|xformers|triton|deepspeed|bitsandbytes|bnb|transformer_engine|torch_xla|xm|nccl|mpi4py|MPI|onnx|onnxruntime|tensorrt|trt|cupy|pynvml|init_empty_weights|PartialState|MambaLMHeadModel|"
        r"selective_scan_fn|causal_conv1d_fn|mamba_inner_fn|rearrange|spacy|librosa|torchaudio|torchvision|mmcv|FusedAdam|FusedLayerNorm|unpad_input|pad_input|index_first_axis|flash_attn_func|flash_attn_varlen_func)' is not defined",
        cause="The import of {package}, which is optional for the code, failed silently further up, because it is not installed or does not load here",
        remedy="Import it alone to see the reason (python -c 'import {package}' or the package that it is from: init_empty_weights is of accelerate, rearrange of einops, flash_attn_func and unpad_input of flash-attn, "
        "selective_scan_fn of mamba-ssm, FusedAdam of apex); install it for this torch, or switch the option that needs it off",
        says=("NameError: name 'apex' is not defined", "NameError: name 'init_empty_weights' is not defined"),
        sources=(thread("yuange250/not_so_strong_baseline_for_video_based_person_reID", 2, "2020-10-25"),),
        likely=True,
    ),
    KnownError(
        id="argument-between-packages",
        pattern=r"(?:site|dist)-packages[/\\](?!torch[/\\](?:nn[/\\]modules[/\\]module|utils[/\\]_contextlib|_dynamo[/\\]\w{1,20}|autograd[/\\]\w{1,20})\.py)(?P<package>[\w.-]{1,60})[/\\][^\n]{1,200}\n{1,4}"
        + r"(?P<raised>TypeError: )(?P<function>[\w.<>]{1,80})\(\) (?:got an unexpected keyword argument '(?P<name>\w{1,60})'|missing \d{1,2} required (?:positional|keyword-only) arguments?:? '(?P<name2>\w{1,60})'|takes \d{1,2} positional arguments? but \d{1,2}|takes from \d{1,2} to \d{1,2} positional)",
        cause="{package}, which is installed, calls {function} with other arguments than its installed release takes: the two packages are of releases that do not belong together",
        remedy="pip show {package} names its requirements; the package that {function} is from is in the traceback's last frame or its neighbour. Upgrade both in one command (python -m pip install -U {package} OTHER), "
        "or take for the other one the release that {package}'s documentation or requirements name; then python -m pip check",
        command="python -m pip check",
        says=(
            'Traceback (most recent call last):\n  File "/venv/lib/python3.10/site-packages/trl/trainer/sft_trainer.py", line 300, in __init__\n    super().__init__(\n'
            "TypeError: Trainer.__init__() got an unexpected keyword argument 'tokenizer'",
        ),
        sources=(_UNREAD,),
        likely=True,
        general=True,
    ),
    KnownError(
        id="argument-of-another-release",
        pattern=r"TypeError: (?P<function>(?:torch\.)?(?:_?[a-z_]{1,20}\.)?(?:GradScaler|ReduceLROnPlateau|Accelerator|TrainingArguments|Trainer|SFTTrainer|SFTConfig|GRPOConfig|DPOTrainer|PPOTrainer|PPOConfig|LoraConfig|BitsAndBytesConfig|Seq2Seq\w{1,20}|DataLoader|FullyShardedDataParallel|DistributedDataParallel|Client|AsyncClient|OpenAI|StableDiffusion\w{1,30}|AutoencoderKL|UNet\w{1,20}|DynamicCache|LLM|EngineArgs|SamplingParams|ModelCheckpoint|LightningModule|EarlyStopping|CosineAnnealing\w{0,20}|StepLR|LRScheduler|AdamW?)\.__init__|(?:torch\.|_pytree\.)?(?:scaled_dot_product_attention|meshgrid|linspace|arange|load|compile|export|stft|istft|norm|svd|qr|eig|solve|cdist|interpolate|grid_sample|one_hot|register_pytree_node|_register_pytree_node|init_process_group|checkpoint|clip_grad_norm_|autocast|custom_fwd|custom_bwd|from_pretrained|hf_hub_download|snapshot_download|prepare_inputs_for_generation|flash_attn_func|flash_attn_varlen_func|rotary_kernel|load_dataset|resize|mel|melspectrogram|make_grid|save_image|draw_bounding_boxes))\(\) (?:got an unexpected keyword argument '(?P<name>\w{1,60})'|missing \d{1,2} required (?:positional|keyword-only) arguments?:? ['\"](?P<name2>\w{1,60})['\"]|takes (?:from )?\d{1,2}[^\n]{0,30} positional)"
        r"|TypeError: (?P<function2>__init__|forward|\w{1,40}\.forward)\(\) got an unexpected keyword argument '(?P<name3>scale|added_cond_kwargs|num_logits_to_keep|logits_to_keep|num_items_in_batch|image_embeds|dispatch_batches|even_batches|use_seedable_sampler|evaluation_strategy|eval_strategy|proxies|tokenizer|processing_class|cache_position|position_embeddings|past_key_values|attn_implementation|torch_dtype|use_auth_token|serialized_type_name|load_in_8bit|load_in_4bit|gradient_checkpointing_kwargs|dataset_text_field|max_seq_length|progress_bar_refresh_rate|gpus|resume_from_checkpoint|strategy|verbose|device_map|use_fast|norm_type|enable_gqa)'",
        cause="{function} of the release that is installed does not take the argument {name} (or wants it)",
        remedy="Find the package of {function} (python -m pip show PACKAGE) and the release that the caller's requirements name; upgrade caller and package together. Known ones: dispatch_batches: transformers 4.45 and newer for accelerate 1.0; evaluation_strategy is eval_strategy since transformers 4.46; tokenizer is processing_class since 4.46 (trl 0.13); proxies: openai 1.56 and newer, or httpx<0.28; enable_gqa: torch 2.5 and newer; verbose of schedulers left torch in 2.7; serialized_type_name: torch 2.2 and newer; gpus of Trainer is devices since Lightning 2; steps of linspace has to be given since torch 1.11",
        causes=NOT_IN_THE_PACKAGE,
        reads=read_argument,
        command="python -m pip check",
        says=(
            "TypeError: Accelerator.__init__() got an unexpected keyword argument 'dispatch_batches'",
            "TypeError: scaled_dot_product_attention() got an unexpected keyword argument 'enable_gqa'",
            "TypeError: Client.__init__() got an unexpected keyword argument 'proxies'",
            'TypeError: linspace() missing 1 required positional arguments: "steps"',
        ),
        sources=(_UNREAD,),
        likely=True,
        general=True,
    ),
    KnownError(
        id="attribute-between-packages",
        pattern=_INSTALLED
        + rf"(?P<raised>AttributeError: )(?:type object )?'(?!(?:{_PLAIN})')(?P<function>[\w.]{{1,60}})' "
        r"(?:object )?has no attribute '(?P<name>\w{1,60})'",
        cause="{package}, which is installed, asks {function} for {name}, which the installed release of that class's package does not have: the two are of releases that do not belong together",
        remedy="Find the package that {function} is from, upgrade both in one command (python -m pip install -U {package} OTHER), or take for it the release that {package} names in its requirements; then python -m pip check",
        command="python -m pip check",
        says=(
            'Traceback (most recent call last):\n  File "/venv/lib/python3.10/site-packages/accelerate/accelerator.py", line 300, in __init__\n    plugin = state.fsdp_plugin\n'
            "AttributeError: 'AcceleratorState' object has no attribute 'fsdp_plugin'",
        ),
        sources=(thread("huggingface/accelerate", 1893, "2023-08-29"),),
        likely=True,
        general=True,
    ),
    KnownError(
        id="any-name",
        causes=NOT_IN_THE_PACKAGE,
        pattern=r"cannot import name '?(?P<name>\w{1,80})'?(?: from (?:partially initialized module )?'(?P<package>[\w.]{1,80})')|module '(?P<package2>[\w.]{1,80})' has no attribute '(?P<name2>\w{1,80})|cannot import name '?(?P<name3>\w{1,80})'?(?P<package3>)(?! from)",
        cause="The package {package} that is imported has no {name}",
        remedy="See which release is here and where it lies; the path in the message, if there is one, shows whether it is the package or a file of the program",
        command="python -m pip show {package}",
        says=(
            "ImportError: cannot import name 'GuiHandle' from 'viser' (/env/lib/python3.8/site-packages/viser/__init__.py)",
            "AttributeError: module 'triton_key' has no attribute 'compute'",
        ),
        sources=(thread("meyerls/FruitNeRF", 4, "2024-08-18"),),
        likely=True,
        general=True,
    ),
    KnownError(
        id="any-class-attribute",
        pattern=r"type object '(?P<part>\w{1,60})' has no attribute '?(?P<name>\w{1,80})",
        cause="The class {part} that is installed has no {name}: the package that has the class is of a newer or an older release than the code that asks",
        remedy="The last `File` line of the traceback shows who asks, and its import line which package {part} comes from: python -m pip show PACKAGE says which release is here. If a package asks, upgrade it and that package together; if the program does, install the release that its requirements name, or one of the time when it was written (python -m pip index versions PACKAGE)",
        command="python -m pip list",
        says=("AttributeError: type object 'QuantizedLinear' has no attribute 'quantize_module'",),
        sources=(thread("mustafaaljadery/lightning-whisper-mlx", 11, "2024-05-04"),),
        likely=True,
        general=True,
    ),
    KnownError(
        id="library-object-attribute",
        causes=NOT_IN_THE_PACKAGE,
        reads=read_library_name,
        pattern=r"'(?P<part>\w{0,40}(?:Tokenizer(?:Fast)?|ForCausalLM|ForConditionalGeneration|TrainingArguments|DiffusionPipeline)|(?:Dynamic|Static)Cache|MixedPrecisionPolicy|MixedPrecision|AcceleratorState|GRPOTrainer|(?:DeepSpeed|FullyShardedDataParallel)Plugin|GenerationConfig|(?:Llama|Qwen\d?|Mistral|Gemma\d?|Phi\d?|Bert|T5|Whisper|CLIP)\w{0,20}(?:Config|Attention|Model))' "
        r"object has no attribute '(?P<name>\w{1,80})",
        cause="{part} is a class of a library (torch, transformers, accelerate, diffusers), and the release that is installed has no {name}: what asks for it (another library, a model's own code from the hub, the program) was written for another release",
        remedy="The last `File` lines of the traceback name who asks. A library: upgrade it together with the other in one command (python -m pip install -U torch transformers accelerate peft trl). Code of a model (transformers_modules, trust_remote_code): the release of transformers in the model's config.json (transformers_version). FSDP: MixedPrecisionPolicy belongs to FSDP 2, MixedPrecision to FSDP 1; fsdp_version has to be the one that the trainer supports",
        command="python -m pip check",
        says=("AttributeError: 'MixedPrecisionPolicy' object has no attribute '_module_classes_to_ignore'",),
        sources=(thread("huggingface/trl", 3581, "2026-06-22"),),
        likely=True,
        general=True,
    ),
)
