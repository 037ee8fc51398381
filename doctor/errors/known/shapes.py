"""Sizes, dimensions and single values that torch's functions do not take: one row a family of functions."""

from __future__ import annotations

from torchlift.doctor.errors.known.tensors import of_the_program
from torchlift.doctor.errors.known_error import Cause, thread, torch_file

_PYTHON = torch_file("torch/nn/functional.py")
_NATIVE = torch_file("torch/lib/libtorch_cpu.so")

_RESHAPED = (
    Cause(
        "The last batch is smaller, or a size is written as a number where the input decides it",
        "it comes at the end of an epoch or with another image; print(x.shape) before the line",
        "DataLoader(drop_last=True), or x.view(x.size(0), -1) with the batch taken from the tensor",
    ),
    Cause(
        "The model's code is older than the model: it takes as many key as query heads (grouped-query attention: Llama 2 70B, Llama 3, Mistral), or other image tokens",
        "the trace ends in a modeling_*.py or attention file; the one size is a part (1/4, 1/8) of the other",
        "upgrade transformers (or the program that brings its own attention); the release is in the model's config.json: transformers_version",
        seen=r"modeling_\w|\bin \w{0,30}att(?:ention|n)|num_heads|num_key_value",
    ),
    Cause(
        "Parts of two models are combined (a text encoder, ControlNet or latent of another base model)",
        "77, 154, 768, 1024, 1280, 2048 stand in the message, and files of one's own choice are loaded",
        "take all files for one base model",
        seen=r"(?<!line )\b(?:77|154|768|1280|2048)\b",
    ),
    Cause(
        "The tensor is empty: nothing was detected or selected",
        "size 0, or `reshape tensor of 0 elements`",
        "leave that step out where len(x) == 0",
        seen=r"0 elements|of size 0\b",
    ),
)

_NORMALIZED = (
    Cause(
        "The layer before it gives another number of channels than this one was made for (a changed width, a joined skip, a checkpoint's configuration)",
        "the numbers in the message are those of two layers of the model; it comes with every input",
        "make it with the number of the layer before (num_features=x.shape[1], normalized_shape=x.shape[-1], num_groups a divisor)",
    ),
    Cause(
        "Parts of two models are combined: a text encoder, adapter, ControlNet or checkpoint for another base model",
        "768, 1024, 1280, 2048 or 77 stand in it, and files of one's own choice are loaded",
        "take all files for one base model",
        seen=r"(?<!line )\b(?:77|768|1024|1280|2048|4096)\b",
    ),
    Cause(
        "The input lacks the batch or the spatial dimensions, or has its axes in another order",
        "`expected 4D input (got 2D`, `got 3D`; print(x.shape)",
        "BatchNorm1d for [batch, features], BatchNorm2d for [batch, channels, height, width]; x.unsqueeze(0), permute(0, 3, 1, 2)",
        seen=r"expected \dD",
    ),
)

_GRADIENT_SHAPE = (
    Cause(
        "The backward of a compiled package or of one's own autograd Function belongs to another variant or release than its forward (rasterizers of Gaussian splatting: every project brings its own under the same name)",
        "the name is not one of torch's (_RasterizeGaussians, a class of the program); python -m pip show that package",
        "build the submodule of this very project again (pip uninstall NAME; pip install --no-build-isolation ./submodules/NAME), give it the shapes that it is for (2 scales in 2DGS, 3 in 3DGS; one image at a time); own Functions: a gradient for each argument, in its shape",
        seen=r"Function '?_?(?!\w{0,40}Backward\d? returned)\w|_Rasterize|Gaussian",
    ),
    Cause(
        "A tensor or parameter was resized, or a mask changed, between forward and backward",
        "the program sets .data, resize_, prunes, or writes into an index or mask after it was used; torch.autograd.set_detect_anomaly(True) shows the forward line",
        "make a new tensor and a new optimizer state in place of resizing; clone masks and indices before they are changed",
        seen=r"IndexPut|Index|Select|Slice|AccumulateGrad",
    ),
    Cause(
        "Sizes did not fit in the forward pass already and were broadcast, or differ over GPUs or in the last batch",
        "print the shapes of both operands in that forward line",
        "equal shapes, drop_last=True, the loss of each replica with .mean()",
        seen=r"(?:Add|Mul|Sub|Div)Backward",
    ),
)

ROWS = (
    of_the_program(
        "reshape-does-not-fit",
        r"shape '\[[-\d, ]{1,60}\]' is invalid for input of size|cannot reshape tensor of 0 elements into shape|unflatten: Provided sizes|The size of tensor cannot be changed to",
        "A tensor is brought into a shape that has another number of elements",
        "Print x.shape before that line: its numbers multiplied have to be those of the shape in the message",
        "RuntimeError: shape '[1, 77, 768]' is invalid for input of size 78848",
        "RuntimeError: cannot reshape tensor of 0 elements into shape [0, -1] because the unspecified dimension size -1 can be any value and is ambiguous",
        causes=_RESHAPED,
        sources=(_NATIVE,),
    ),
    of_the_program(
        "normalization-shapes",
        r"running_mean should contain \d{1,6} elements|Given normalized_shape=|[Ee]xpected number of channels in input to be divisible by num_groups|Expected weight to be a vector of size equal|Expected bias to be a vector of size equal|expected \dD(?: or \dD){0,2} input \(got \dD|num_channels must be divisible by num_groups",
        "A normalization layer (BatchNorm, LayerNorm, GroupNorm) was made for another number of channels or dimensions than its input has",
        "print(x.shape) before it; the layer is named in the trace",
        "RuntimeError: running_mean should contain 64 elements not 128",
        "RuntimeError: Given normalized_shape=[768], expected input with shape [*, 768], but got input of size[1, 77, 1024]",
        "RuntimeError: Expected number of channels in input to be divisible by num_groups, but got input of shape [1, 30, 64, 64] and num_groups=32",
        "ValueError: expected 4D input (got 2D input)",
        causes=_NORMALIZED,
        sources=(torch_file("torch/nn/modules/batchnorm.py"), _PYTHON, _NATIVE),
    ),
    of_the_program(
        "size-below-zero",
        r"Trying to create tensor with negative dimension",
        "A size was computed below zero: from an argument that is missing or wrong, or an input that is smaller than a window, patch, crop or padding",
        "Print the numbers of which the size is made in the last line of the program's own code; give the input at least the window's size, leave empty samples out",
        "RuntimeError: Trying to create tensor with negative dimension -1: [-1, 3]",
        sources=(_NATIVE,),
    ),
    of_the_program(
        "order-of-dimensions",
        r"number of dims don't match in permute|number of dimensions in the tensor input does not match the length of the desired ordering|t\(\) expects a tensor with <= 2 dimensions|tensor\.T\b[^\n]{0,80}deprecated|The use of `x\.T` on tensors of dimension",
        "permute, transpose or t() was called for another number of dimensions than the tensor has: mostly the batch, or the channel of a grey image, is missing",
        "print(x.shape) before it. No batch: x.unsqueeze(0); a grey image: x.unsqueeze(0) or .convert('RGB'); turn the last two axes whatever comes before them: x.transpose(-1, -2)",
        "RuntimeError: number of dims don't match in permute",
        "RuntimeError: permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = 4 is not equal to len(dims) = 3",
        sources=(_NATIVE,),
    ),
    of_the_program(
        "recurrent-shapes",
        r"input\.size\(-1\) must be equal to input_size|Expected hidden(?:\[\d\])? size|[Ff]or (?:un)?batched \d-D input, ?(?:hx|hidden)|input must have \d dimensions, got \d|Expected input to be 2D or 3D|Length of all samples has to be greater than 0|Expected `?len\(lengths\)`? to be equal to batch_size|array has to be sorted in decreasing order|`lengths` array has to be sorted",
        "A recurrent layer (RNN, LSTM, GRU) got input, hidden state or lengths in another shape than it was made for",
        "Input is [length, batch, features], with batch_first=True [batch, length, features]; hidden states are [layers (2 times if bidirectional), batch, hidden] in both cases, made anew for the size of each batch (the last one is smaller: drop_last=True). The last number has to be input_size. Lengths: none 0, on the CPU, enforce_sorted=False. nn.DataParallel splits dimension 0, so that a hidden state that is handed over is split wrongly: make it in forward",
        "RuntimeError: input.size(-1) must be equal to input_size. Expected 256, got 512",
        "RuntimeError: Expected hidden[0] size (2, 32, 256), got [2, 64, 256]",
        "RuntimeError: For unbatched 2-D input, hx and cx should also be 2-D but got (3-D, 3-D) tensors",
        "RuntimeError: Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0",
        sources=(torch_file("torch/nn/modules/rnn.py"),),
    ),
    of_the_program(
        "attention-shapes",
        r"was expecting embedding dimension of \d|embed_dim must be divisible by num_heads|The shape of the [23]D attn_mask is|Attention (?:mask|weights) should be of size|`?attn_output`? should be of size|key_padding_mask\.shape\[|Expected `?key_padding_mask`?|the feature number of src and tgt must be equal to d_model|the batch number of src and tgt must be equal|hidden[_ ]size \(?\d{1,6}\)? (?:is not a multiple of|must be divisible by)",
        "Attention got query, key, mask or number of heads that do not go together",
        "print the shapes: without batch_first=True nn.MultiheadAttention and nn.Transformer take [length, batch, features]; attn_mask is [target length, source length], key_padding_mask [batch, source length]; the features have to be a multiple of the heads. In a modeling_*.py of transformers, or code from a hub: mask and cache are of another time than transformers: take the release in the model's config.json (transformers_version), or attn_implementation='eager'",
        "AssertionError: was expecting embedding dimension of 768, but got 512",
        "RuntimeError: The shape of the 2D attn_mask is torch.Size([10, 10]), but should be (20, 20).",
        "ValueError: Attention mask should be of size (1, 1, 1, 5), but is torch.Size([1, 1, 1, 1])",
        sources=(_PYTHON,),
        likely=True,
    ),
    of_the_program(
        "nothing-to-join",
        r"expected a non-empty (?:list of Tensors|TensorList)|stack expects a non-empty|need at least one array to (?:concatenate|stack)|Expected reduction dim to be specified for input\.numel\(\) == 0|Expected reduction dim -?\d to have non-zero size|cannot perform reduction function (?:arg)?(?:max|min) on a tensor with no elements|zero-size array to reduction operation",
        "A list or tensor that is joined, or of which the maximum is wanted, is empty: nothing was read, detected, selected or generated before",
        "print(len(list)) before that line and look where it should have been filled: a data set, folder or split without entries (paths, filters), a loop that ran 0 times, a threshold that nothing reaches, a mask that is False everywhere; frames or samples fewer than the batch or window",
        "RuntimeError: torch.cat(): expected a non-empty list of Tensors",
        "RuntimeError: stack expects a non-empty TensorList",
        "IndexError: max(): Expected reduction dim 1 to have non-zero size.",
        "RuntimeError: max(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.",
        sources=(thread("ZZZBBBZZZ/MulSen-AD", 7, "2025-04-29"), _NATIVE),
    ),
    of_the_program(
        "resizing-and-padding",
        r"Input Error: Only 3D, 4D and 5D input Tensors supported|[Ii]nput and output must have the same number of spatial dimensions|Input and output sizes should be greater than 0|It is expected input_size equals to|Got \dD input, but \w{1,12} mode needs|Padding size should be less than the corresponding input dimension|Only 2D, 3D, 4D, 5D padding with non-constant|non-positive stride is not supported|padding length (?:too large|must be divisible)|Expected 2D, 3D, 4D or 5D|Padding length should be less than or equal to",
        "Interpolating or padding got another number of dimensions than its mode is for, or sizes that are too small for the padding",
        "interpolate wants [batch, channels, height, width] for bilinear and bicubic, [batch, channels, length] for linear, and as many numbers in size as there are axes behind the channels: x[None, None] for a plain image. Reflection padding has to be smaller than the image or signal: larger images, longer audio (n_fft // 2 < samples; a file that is empty or shorter than a window), or mode='constant'",
        "NotImplementedError: Input Error: Only 3D, 4D and 5D input Tensors supported (got 2D) for the modes: nearest | linear | bilinear | bicubic | trilinear",
        "ValueError: Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of [64] and output size of (64, 64).",
        "RuntimeError: Padding size should be less than the corresponding input dimension, but got: padding (10, 10) at dimension 3 of input [1, 1, 5]",
        "RuntimeError: non-positive stride is not supported",
        sources=(_PYTHON, _NATIVE),
    ),
    of_the_program(
        "split-into-parts",
        r"split_with_sizes expects split_sizes to sum exactly|split expects split_size be non-negative|chunk expects at least a 1-dimensional",
        "A tensor is split into parts whose sizes do not add up to its own",
        "print(x.shape): the axis that is split, or the list of sizes, is another than the layer's that made x. A fused weight (qkv, gate and up) with another number of heads or layout: code and checkpoint are of two releases or model sizes; otherwise take the sizes from the tensor: x.split([n, x.size(d) - n], d)",
        "RuntimeError: split_with_sizes expects split_sizes to sum exactly to 64 (input tensor's size at dimension 1), but got split_sizes=[32, 16]",
        sources=(_NATIVE,),
    ),
    of_the_program(
        "single-value-tensor",
        r"invalid index of a 0-dim tensor|iteration over a 0-d tensor|len\(\) of a 0-d tensor|slice\(\) cannot be applied to a 0-dim tensor|zero-dimensional tensor \(at position \d{1,4}\) cannot be concatenated|[Dd]imension specified as -?\d but tensor has no dimensions|0-dim tensor to a number",
        "The tensor holds one single value and has no dimensions, and is indexed, counted or joined",
        "`loss.data[0]` and `x[0]` of programs from before torch 0.5: .item() instead. Otherwise a squeeze() took away the batch of one: squeeze(-1) or reshape(-1); to join single values: torch.stack(list)",
        "IndexError: invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number",
        "TypeError: iteration over a 0-d tensor",
        "RuntimeError: zero-dimensional tensor (at position 0) cannot be concatenated",
        sources=(_NATIVE,),
    ),
    of_the_program(
        "shared-elements",
        r"refer to a single memory location\. Please clone\(\)|more than one element of the written-to tensor refers to a single memory",
        "A tensor that repeats or overlaps its own memory (after expand, broadcasting, as_strided, or a view that is shifted in itself) is written to in place",
        "x = x.clone() (or .contiguous()) before it is written to, or y = x + 1 in place of x += 1; in a package: a newer release, since torch refuses this from 1.5 on and later in more functions",
        "RuntimeError: unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation.",
        sources=(_NATIVE,),
    ),
    of_the_program(
        "number-out-of-range",
        r"value cannot be converted to type (?:at::|c10::)?(?P<type>\w{1,12}) without overflow|Overflow when unpacking long|Overflow when unpacking double",
        "A number is put into a type that cannot hold it: -1e9, -1e10 or float32's smallest number as a mask in float16 (at most 65504), or an integer above the type's largest",
        "Masks: torch.finfo(x.dtype).min in place of the number (where autocast runs, ask the tensor that is written to); run in bfloat16 or float32 (bf16=True, torch_dtype=torch.bfloat16, autocast off around it); code of a model from a hub: a newer revision. Sizes and seeds: below 2**63, as int(x). It comes with the first words of a chat model though others run it: load the weights anew, they may be damaged",
        "RuntimeError: value cannot be converted to type at::Half without overflow",
        "RuntimeError: value cannot be converted to type int without overflow",
        sources=(
            thread("QwenLM/Qwen", 32, "2023-08-04"),
            thread("facebookresearch/advprompter", 12, "2025-03-11"),
            thread("zai-org/ChatGLM-6B", 87, "2023-03-18"),
        ),
    ),
    of_the_program(
        "rows-of-unequal-length",
        r"expected sequence of length \d{1,9} at dim \d{1,2} \(got \d{1,9}\)|too many dimensions '(?:str|dict|NoneType|list|tuple)'|new\(\): invalid data type '|Unable to create tensor, you should probably activate truncation|Could not infer dtype of (?!numpy)\w{1,40}",
        "A tensor or array is to be made of rows that differ in length, or of texts, None and other objects",
        "Tokens: tokenizer(..., padding=True, truncation=True, return_tensors='pt'), a data collator that pads (DataCollatorWithPadding, DataCollatorForSeq2Seq for labels), and leave columns of text out (remove_unused_columns, set_format('torch', columns=[...])). Other lists: pad them (torch.nn.utils.rnn.pad_sequence), or keep a list of tensors; texts have to become numbers first (class indices)",
        "ValueError: expected sequence of length 5 at dim 1 (got 4)",
        "ValueError: too many dimensions 'str'",
        "ValueError: Unable to create tensor, you should probably activate truncation and/or padding with 'padding=True' 'truncation=True'",
        sources=(torch_file("torch/lib/libtorch_python.so"),),
    ),
    of_the_program(
        "arithmetic-of-truth-values",
        r"the `-` operator, with (?:a|two) bool tensors?|(?:Subtraction|Negation)[^\n]{0,40}bool tensor|Integer division of tensors using div or / is no longer supported|Integer division with addcdiv|~ \(operator\.invert\) is only implemented on",
        "The program is older than torch's rules: comparisons give bool since 1.2 (no minus for them), and `/` of integers was refused in 1.5 and 1.6 and divides truly since 1.7",
        "A mask: ~mask in place of 1 - mask, mask1 ^ mask2 or logical_xor in place of a difference, mask.float() to count. A division: // or torch.div(a, b, rounding_mode='floor') where whole numbers are meant, a.float() / b where not; torch 1.7 and newer take `/` again. In a package: a newer release of it. `torchlift migrate --check` finds more of the kind",
        "RuntimeError: Integer division of tensors using div or / is no longer supported, and in a future release div will perform true division as in Python 3.",
        "RuntimeError: Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.",
        sources=(thread("pytorch/pytorch", 38620, "2020-05-17"), thread("danspeech/danspeech", 16, "2020-08-12")),
    ),
    of_the_program(
        "gradient-of-another-shape",
        r"returned an invalid gradient at index \d{1,3}|Mismatch in shape: grad_output\[\d{1,3}\] has a shape of|invalid gradient at index \d{1,3} - expected",
        "backward() of one function gave a gradient in another shape, type or device than its input had",
        "torch.autograd.set_detect_anomaly(True) shows the forward line that belongs to it",
        "RuntimeError: Function AddmmBackward returned an invalid gradient at index 1 - got [64, 512] but expected shape compatible with [64, 256]",
        "RuntimeError: Function _RasterizeGaussiansBackward returned an invalid gradient at index 5 - got [231550, 2] but expected shape compatible with [231550, 3]",
        causes=_GRADIENT_SHAPE,
        sources=(
            thread("hbb1/2d-gaussian-splatting", 43, "2024-05-26"),
            thread("ISEEKYAN/mbridge", 100, "2026-03-23"),
            thread("rosinality/stylegan2-pytorch", 260, "2022-08-24"),
        ),
    ),
    of_the_program(
        "more-classes-than-weights",
        r"weight tensor should be defined either for all|Expected floating point type for target with class probabilities",
        "The loss got class weights or targets that do not go with its number of classes",
        "One weight for each of the model's outputs: torch.tensor([...], device=x.device) of length x.size(1); the model has as many outputs as there are classes (num_classes). Targets of the same shape as the input are taken for probabilities and have to be floats: for class numbers take [N] in place of [N, C] or [N, 1] (y.squeeze(1).long())",
        "RuntimeError: weight tensor should be defined either for all 1000 classes or no classes but got weight tensor of shape: [2]",
        "RuntimeError: Expected floating point type for target with class probabilities, got Long",
        sources=(_NATIVE,),
    ),
    of_the_program(
        "float8-sizes",
        r"Expected (trailing dimension of mat1|both dimensions of mat2|mat2 shape) to be divisible by 16",
        "Tensor cores multiply float8 in blocks: sizes of the two matrices have to be multiples of 16, and one of this layer or batch is not",
        "torchao: Float8LinearConfig(pad_inner_dim=True), or module_filter_fn leaves such layers (heads with few classes, LoRA, odd vocabularies) in bfloat16; in your own code pad with zeros and cut the result; several GPUs split a size among them",
        "RuntimeError: Expected trailing dimension of mat1 to be divisible by 16 but got mat1 shape: (16x17).",
        "RuntimeError: Expected both dimensions of mat2 to be divisible by 16 but got torch.Size([768, 2])",
        sources=(
            thread("pytorch/ao", 571, "2024-07-30"),
            thread("pytorch/ao", 4106, "2026-03-18"),
            thread("hpcaitech/ColossalAI", 6390),
        ),
    ),
)
