"""Types, shapes, weights and gradients that do not fit: what tells the reasons of one message apart, the most frequent first."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import Cause

TYPES_DIFFER = (
    Cause(
        "The model, or a part of it (norms, LoRA, a head, the VAE), is in half precision and the rest or the input in float32",
        "print({p.dtype for p in model.parameters()}) and x.dtype differ, or show two types; it runs under torch.autocast",
        "load all parts in one type (torch_dtype=torch.bfloat16, model.to(dtype)), x.to(next(model.parameters()).dtype), or `with torch.autocast('cuda', dtype=torch.bfloat16):` around the call; Stable Diffusion's interfaces: --no-half-vae, --upcast-sampling, on cards without half precision --no-half; PEFT on an older release: upgrade it",
        seen=r"Half|BFloat16",
    ),
    Cause(
        "The data has NumPy's type (float64) or is of integers",
        "the message names Double, Long, Int or Byte, and the tensor comes from NumPy, pandas, an image or labels",
        "x.float(); classes and indices .long(); targets of BCE, MSE and L1 .float()",
        seen=r"\b(?:Double|double|Long|long|Int|int)\b",
    ),
    Cause(
        "The weights are still quantized (int8, 4 bits, float8) and a plain torch layer multiplies with them: the library that unpacks them was passed by",
        "the message names Byte, Char, Int or Float8 for the second one; print(type(layer), layer.weight.dtype)",
        "load and call the model through that library alone (bitsandbytes, GPTQ, AWQ, GGUF loaders, an offload or LoRA patch of it left out to see), and upgrade it with transformers, peft and accelerate in one command; float8: a loader with `scaled fp8`, or a file in bfloat16",
        seen=r"\b(?:Byte|Char|Float8\w{0,12}|unsigned char|signed char)\b",
    ),
    Cause(
        "A compiled kernel of a package (CUDA or C++ extension) takes float32 only, and autocast hands it half precision",
        "the last File line is in a package with a compiled part (pointnet, deformable attention, rasterizer, roi_align), and it works without autocast",
        "switch autocast off around it: `with torch.autocast('cuda', enabled=False): f(x.float())`, or @torch.amp.custom_fwd(device_type='cuda', cast_inputs=torch.float32) on its forward; a newer release of the package",
        seen=r"expected scalar type Float but found (?:Half|BFloat16)|_ext\b|_C\.|_cuda\b",
    ),
    Cause(
        "One of them lies on another device: torch.FloatTensor is the CPU, torch.cuda.FloatTensor the GPU",
        "the two names differ by `.cuda` only; print(x.device, next(model.parameters()).device)",
        "x = x.to(model.device); model.to(device) before the first call",
        seen=r"torch\.(?!cuda)\w{3,8}Tensor\W[^\n]{0,80}torch\.cuda\.|torch\.cuda\.\w{3,12}Tensor[^\n]{0,80}torch\.(?!cuda)\w{3,8}Tensor",
    ),
)

HALF_NOT_THERE = (
    Cause(
        "It runs on the CPU, for which this torch has the operation in float32 only: no GPU is in use, though one was meant to be",
        "python -c 'import torch; print(torch.__version__, torch.cuda.is_available())' prints +cpu or False, or x.device is cpu; the name says _cpu, or is addmm_impl_cpu_, LayerNormKernelImpl, slow_conv2d_cpu, baddbmm_with_gemm, softmax_lastdim_kernel_impl",
        "`torchlift doctor` says why torch does not see the GPU; move model and inputs there; on the CPU: model.float(), torch_dtype=torch.float32, --no-half; or torch 2.2 and newer, which have most of them",
        seen=r"_cpu|LayerNormKernelImpl|slow_conv2d|baddbmm_with_gemm|lastdim_kernel|gemm|vml|\"host_|multiply|mse|check_uniform",
        checks=("torch-cpu-build", "driver-missing", "cuda-visible-devices"),
    ),
    Cause(
        "On the GPU: this torch is older than the kernel in bfloat16 or half (triu and tril have bfloat16 since torch 2.1; upsampling and others got it by and by)",
        "the name has cuda in it or x.device is cuda; torch.__version__ is an old one",
        "upgrade torch with torchvision and torchaudio; until then that step in float32: f(x.float()).to(x.dtype), or the model in float16 instead of bfloat16",
        seen=r"_cuda|triu_tril|upsample_|_out_frame|grid_sampler|BFloat16",
    ),
    Cause(
        "torch has it in float32 and float64 only, on every device (linear algebra, FFT in bfloat16, some losses)",
        "it is the same with the newest torch: linalg, svd, eigh, inverse, cholesky, lu, fft or cdist in the name",
        "that step in float32: with torch.autocast(x.device.type, enabled=False): f(x.float()).to(x.dtype)",
        seen=r"linalg|svd|eigh|inverse|cholesky|\blu_|geqrf|fft|cdist|histogram|bincount",
    ),
)

SHAPES_OF_A_PRODUCT = (
    Cause(
        "Parts of two models are combined: a checkpoint, LoRA, ControlNet, IP-Adapter, text encoder or VAE that belongs to another base model",
        "the numbers are widths of models (768 SD 1.5 and CLIP-L, 1024 SD 2, 2048 SDXL, 4096 T5 and Llama, 1280, 1152), and it is an interface or pipeline that loads several files",
        "take all files for one base model (the page of each names it), the text encoders in the loader's right type",
        seen=r"x(?:768|1024|1152|1280|2048|3072|4096) and (?:768|1024|1152|1280|2048|3072|4096)x|[Cc]omfy|[Cc]ontrol[Nn]et|IPAdapter|ip_adapter|diffusers|[Ll]ora_?[Ll]oad|KSampler",
    ),
    Cause(
        "The program's first linear layer behind convolutions or an embedding was made for another size of input",
        "print(x.shape) before that layer: the size changes with the image, the length or the number of columns",
        "resize the input to what the model was made for; nn.AdaptiveAvgPool2d, nn.LazyLinear, or Linear(x.flatten(1).shape[1], ...); it takes [batch, features]: x.flatten(1), or x.T where the axes are turned",
    ),
    Cause(
        "The weight is packed (4 bits of bitsandbytes, shape [n, 1]) or sharded (ZeRO-3, FSDP: size 0 or one dimension), and a plain layer uses it",
        "one shape is 1x followed by a number of many digits, or 0; print(type(layer), layer.weight.shape)",
        "packed: go through bitsandbytes' Linear4bit (upgrade peft, transformers, accelerate and bitsandbytes together; merge adapters only after dequantizing, load without 4 bits to see); sharded: call the wrapped model, gather first (deepspeed.zero.GatheredParameters, FSDP.summon_full_params)",
        seen=r"\b1x\d{6,}|\bx?0x\d|\d{6,}x1\b|4bit|Linear4bit|pretraining_tp",
    ),
    Cause(
        "A file of configuration does not belong to the weights (another size, other numbers of heads or classes, tensor parallel)",
        "it is a model from a hub or of one's own that was edited; config.json differs from the one beside the weights",
        "take config and weights from one revision; Llama 2 in 8 or 4 bits with old transformers: config.pretraining_tp = 1",
        seen=r"pretraining_tp|tensor_parallel|num_labels",
    ),
)

SHAPES_DO_NOT_BROADCAST = (
    Cause(
        "Samples of a batch, or images that are joined, have different sizes",
        "stack, cat, collate or a data loader in the trace; print the shapes: they differ between samples or by one pixel",
        "make them equal in the Dataset (Resize, pad, pad_sequence in collate_fn); a U-Net: pad to a multiple of its strides (8, 32, 64), F.interpolate(x, size=y.shape[-2:]) before the join",
        seen=r"stack expects|collate|Sizes of tensors must match|Expected size \d{1,5} but got|cat\(",
    ),
    Cause(
        "A text or sequence is longer than the model's positions, or mask and cache are of another length than the tokens",
        "one of the sizes is 77, 512, 514, 1024, 2048 or 4096, or the trace has attention_mask, position or past_key_values",
        "tokenizer(..., truncation=True, max_length=N); with a cache: transformers and the model's code of one time; mask of the length of past plus new tokens",
        seen=r"size of tensor [ab] \((?:77|154|231|512|514|1024|1025|2048|4096)\)|attention_mask|position_ids|position_embed|past_key|input_ids|token_type",
    ),
    Cause(
        "Images have another number of channels (alpha, grey)",
        "4 against 3, or 1 against 3, at dimension 0 or 1; Normalize or ToTensor in the trace",
        "Image.open(f).convert('RGB'); Normalize((0.5,), (0.5,)) for grey ones",
        seen=r"\bin normalize\b|Normalize\(|\([14]\)[^\n(]{0,60}\(3\)|\(3\)[^\n(]{0,60}\([14]\)|\[[14], \d[^\n\[]{0,40}\[3, |\[3, \d[^\n\[]{0,40}\[[14], ",
    ),
    Cause(
        "Weights, a latent or an adapter of another model are used with this one",
        "it comes at loading or at the first step of a pipeline, with files of one's own choice",
        "take all files for one base model; remake caches (latents, embeddings) that were written with another one",
        seen=r"\bin copy_|load_state_dict|\blatents?\b|\b[Ll]o[Rr][Aa]s?\b|merge_lora|\bin merge",
    ),
    Cause(
        "Two axes are turned round, or one is missing",
        "print both shapes: the same numbers stand in another order, or one has an axis of 1 more",
        "permute or transpose, unsqueeze(dim), keepdim=True",
    ),
)

WEIGHTS_DIFFER = (
    Cause(
        "Another number of classes, tokens or channels: only the first or last layer, or the embedding, differs in size",
        "all lines are `size mismatch` of one layer (fc, head, classifier, Prediction, embed_tokens, lm_head, conv1)",
        "build the model with the number of the file (num_classes, num_labels, charset, model.resize_token_embeddings), or leave that layer out to train it anew: {k: v for k, v in sd.items() if v.shape == model.state_dict()[k].shape} and strict=False; transformers: ignore_mismatched_sizes=True. strict=False alone does not skip sizes",
        seen=r"size mismatch for \S{0,80}(?:fc|head|classifier|logits|Prediction|embed|lm_head|decoder|output|cls|proj)\b",
    ),
    Cause(
        "A wrapper put its name before all names: DataParallel and DDP `module.`, torch.compile `_orig_mod.`, checkpointing `_checkpoint_wrapped_module`, Lightning `model.`, or the file holds more than the weights",
        "missing and unexpected names are the same but for that part, or the unexpected ones are state_dict, model, optimizer, epoch",
        "{k.replace('module.', '').replace('_orig_mod.', ''): v for k, v in sd.items()}; sd = torch.load(F)['state_dict'] (or 'model')",
        seen=r"\"module\.|_orig_mod|_checkpoint_wrapped_module|\"state_dict\"|\"optimizer\"|\"epoch\"|loading state_dict for (?:DataParallel|DistributedDataParallel)",
    ),
    Cause(
        "A library of another release builds the model: it renamed, added or dropped parts (position_ids of the embeddings, attn.bias and attn.masked_bias of GPT-2 went with transformers 4.31, in_proj to q_proj, weight_g to parametrizations)",
        "few names, of buffers or renamed parts (position_ids, relative_position_index, num_batches_tracked, parametrizations.weight.original0)",
        "install the release that the program names (old Stable Diffusion code: transformers 4.30 or older), or remove those names: sd.pop('...position_ids', None)",
        seen=r"position_ids|\.attn\.(?:masked_)?bias|relative_position_index|num_batches_tracked|parametrizations|weight_g|attn_mask|inv_freq|rotary",
    ),
    Cause(
        "It is the file of another model, size or version than the configuration builds (a base or large model, v1 or v2, ViT-B or ViT-H, another --arch)",
        "nearly all names or sizes are listed",
        "take the configuration that belongs to the file (its page or folder names it), or the other file; not strict=False, which leaves random weights",
    ),
    Cause(
        "A LoRA, adapter or quantized file is loaded as if it were a whole model",
        "the unexpected names have lora_A, lora_B, hada, qweight, qzeros, scales, absmax, quant_state",
        "load it with its own loader: PeftModel.from_pretrained(base, DIR), pipe.load_lora_weights, the GPTQ, AWQ or bitsandbytes loader of the model",
        seen=r"lora_|hada|qweight|qzeros|absmax|quant_state|\.SCB\b|nf4",
    ),
)

INDEX_OUTSIDE = (
    Cause(
        "A token, class or user number is larger than the embedding",
        "the frame is nn.Embedding or F.embedding; print(ids.min(), ids.max(), layer.num_embeddings)",
        "the tokenizer of this very model; after added tokens model.resize_token_embeddings(len(tokenizer)); ids from 0 to n - 1 without gaps or -1; nn.Embedding(max + 1, ...)",
        seen=r"index out of range in self|[Ee]mbedding|5\d{4}|3200[0-9]|vocab",
    ),
    Cause(
        "The text is longer than the positions that the model has",
        "the frame is a position embedding, or the length is above max_position_embeddings (512, 514, 1024, 77)",
        "tokenizer(..., truncation=True, max_length=512)",
        seen=r"position_ids|position_embed|index out of range in self|Token indices sequence length is longer|(?:index|size) (?:51[24]|1024|77)\b",
    ),
    Cause(
        "A label of a loss is not between 0 and the number of classes less one",
        "`Target N is out of bounds`, or the frame is cross_entropy or nll_loss; print(y.min(), y.max())",
        "labels from 0; as many outputs as classes (num_classes, num_labels); ignore_index=255 or -100 for what does not count",
        seen=r"Target -?\d|cross_entropy|nll_loss|cur_target|num_classes|Class values",
    ),
    Cause(
        "The tensor has fewer dimensions or entries than the code takes for granted: no batch, one sample or channel, an empty result",
        "`Dimension out of range`, `too many indices` or `out of bounds for dimension`; print(x.shape) in the line before",
        "x.unsqueeze(0) for a single sample, squeeze(-1) instead of squeeze(), leave out empty detections (if len(boxes) == 0)",
        seen=r"Dimension out of range|too many indices|out of bounds for (?:dimension|axis)|0-dim|with size 0|index 0",
    ),
)

NOT_A_TENSOR = (
    Cause(
        "A model or processor gave an object, tuple or dictionary where a tensor was expected (models of transformers do since 4.0; some of newer releases where older gave a tuple)",
        "print(type(x)): ModelOutput, BatchEncoding, tuple, dict or str (a str is a key of such an object that was unpacked)",
        "x.logits, x.last_hidden_state, x[0], or return_dict=False; a library that asks: the release of transformers that its requirements name",
        seen=r"not (?:tuple|str|\w{0,30}Output|dict|\w{0,20}ModelOutput)|BatchEncoding|got \(str",
    ),
    Cause(
        "A value is missing: None from a function, a mask or label that was not given, an image that was not read (cv2.imread gives None)",
        "NoneType in the message; print the argument in the first line of the program's own code",
        "look where it is made: a wrong path, an optional argument, a forward without return",
        seen=r"NoneType",
    ),
    Cause(
        "A list or batch is passed as it is",
        "list in the message, or `'list' object has no attribute`",
        "torch.stack(list), torch.tensor(list), move each part: [t.to(device) for t in x]; ModuleList is called part by part",
        seen=r"not list|'(?:list|tuple|dict)' object|got \(list",
    ),
    Cause(
        "A size is a float or NumPy number (n / 2), or an option of another type than this release takes",
        "`must be int, not float`, `tuple of ints`, or `invalid combination of arguments` with float, str or NoneType among them",
        "int(n // 2), int(x) for NumPy's; padding='same' needs torch 1.9; the signature: python -c 'import torch; help(torch.nn.functional.NAME)'",
        seen=r"(?:must be|got)[^\n]{0,60}(?:float|numpy|tuple of ints|tuple, str)|must be \w{1,20}, not str",
    ),
)

NO_GRADIENT = (
    Cause(
        "All weights are frozen, or gradient checkpointing in its reentrant form cuts the graph because the inputs need no gradient (PEFT, LoRA)",
        "print(sum(p.requires_grad for p in model.parameters())) is 0, or gradient_checkpointing is on; a warning `None of the inputs have requires_grad=True` stands above",
        "model.enable_input_require_grads(), or gradient_checkpointing_kwargs={'use_reentrant': False}; LoRA: is_trainable=True when it is loaded, target_modules that exist in this model",
        seen=r"\bin checkpoint|checkpoint\.py|gradient_checkpointing|/peft/|PEFT|LoRA|None of the inputs",
    ),
    Cause(
        "The loss was cut from the graph: torch.no_grad() or inference_mode, .detach(), .item(), .numpy(), argmax, torch.tensor(loss)",
        "print(loss.grad_fn) is None, and print(output.grad_fn) behind each step shows where it ends",
        "take that call out of the way to the loss; evaluation under no_grad only; losses of numbers are computed with torch's operations",
    ),
    Cause(
        "The loss is a vector: one value for each sample or GPU",
        "`implicitly created only for scalar outputs`; print(loss.shape)",
        "loss.mean() (nn.DataParallel gives one for each GPU), or reduction='mean'",
        seen=r"scalar outputs",
    ),
    Cause(
        "The optimizer got no parameters: a generator that was used up, a filter that matched nothing, layers in a plain list or dictionary",
        "`empty parameter list`; print(len(list(model.parameters())))",
        "nn.ModuleList and ModuleDict for layers; make the list anew for each use; look at the names that the filter asks for",
        seen=r"empty parameter list",
    ),
)

NOT_NUMBERS = (
    Cause(
        "Half precision overflows: the model was trained in bfloat16 or float32 and runs in float16, or its VAE does",
        "it is gone in float32 (--no-half, torch_dtype=torch.float32) or bfloat16",
        "torch_dtype=torch.bfloat16 where the GPU has it, else float32; Stable Diffusion: --no-half-vae, another VAE (sdxl-vae-fp16-fix), --upcast-sampling; GTX 16xx: --no-half",
        seen=r"Half|half|float16|fp16|vae|VAE|Unet|NansException|generate",
    ),
    Cause(
        "Training diverged, or a step is no number by itself (log or division of 0, sqrt at 0, an empty mean)",
        "torch.autograd.set_detect_anomaly(True) names the line; the loss grew before; torch.isfinite(batch).all() is False for some data",
        "a smaller learning rate with warm-up, clip_grad_norm_, eps in log, sqrt and divisions, leave out broken samples, GradScaler with float16",
        seen=r"returned nan|[Ll]oss is|backward|Backward",
    ),
    Cause(
        "The weights are damaged or do not fit (a quantized model that is broken, parts that were never loaded, a kernel that computes wrongly on this GPU or over several)",
        "it comes at the first step with any input; a warning about newly initialized weights stands above; CUDA_VISIBLE_DEVICES=0 alone works",
        "load again (hf download --force-download), another quantization or attention implementation (eager, sdpa), device_map on one GPU; NCCL or PCIe: `torchlift doctor --smoke`",
        seen=r"newly initialized|device_map|cuda:[1-9]|4bit|8bit|[Gg]ptq|GPTQ|awq",
    ),
    Cause(
        "A matrix is singular or not positive definite by rounding",
        "cholesky, linalg, svd, eigh or inverse in the trace",
        "x.double(), or x + 1e-6 * torch.eye(n, device=x.device); check that it has no nan",
        seen=r"cholesky|linalg|svd|eigh|inverse|positive-definite|converge|ill-conditioned",
    ),
)
