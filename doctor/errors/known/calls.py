"""Values that torch does not take: names of devices, tensors of another device or size, what cannot be sent, copied or differentiated."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import UNREAD, KnownError, thread, torch_file

ROWS = (
    KnownError(
        id="device-string",
        pattern=r"device type at start of device string: ?(?P<device>[\w.-]{0,30})|Invalid device string: ?'?(?P<device2>[^'\n]{0,40})"
        r"|Cannot parse the device string|Invalid device, must be cuda",
        cause="`{device}` is no name of a device for this torch: its names are cpu, cuda, cuda:0, mps, xpu, hpu, xla and a few more. torch's builds for AMD call their GPUs `cuda` too (there is no rocm or hip device); gpu, cuda0 and auto are words of other libraries; an empty name or a number below 0 comes from a setting that was not filled in",
        remedy="Find where the name comes from (an argument --device, a configuration, an environment variable): for NVIDIA and AMD write cuda or cuda:0, for Macs mps, for Intel xpu (torch 2.5 and newer), else cpu. A device that this torch does not list at all (xpu, npu, musa, maia) comes with a newer torch, or with its maker's package, which has to be imported first",
        command="python -c 'import torch; print(torch.__version__, torch.version.cuda, torch.version.hip, torch.cuda.is_available())'",
        checks=("torch-cpu-build", "torch-other-vendor"),
        says=(
            "RuntimeError: Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, ort, xla, lazy, vulkan, mps, meta, hpu, mtia, privateuseone device type at start of device string: rocm",
            "RuntimeError: Invalid device string: 'cuda0'",
        ),
        sources=(thread("facebookresearch/segment-anything", 601), torch_file("torch/lib/libc10.so")),
    ),
    KnownError(
        id="one-element",
        pattern=r"only one element tensors can be converted to Python scalars|[Aa] Tensor with \d{1,12} elements cannot be converted to Scalar|only size-1 arrays can be converted to Python scalars|only (?:length-1|0-dimensional) arrays can be converted to Python scalars",
        cause="A number is wanted (.item(), float(), int(), an index, a value that is logged, torch.tensor of a list of tensors), and the tensor has more elements than one",
        remedy="The last line of the traceback that is the program's shows the tensor: print its .shape there. A loss per sample: take .mean() (nn.DataParallel gives one a GPU: loss = loss.mean()); a list of tensors: torch.stack(list) instead of torch.tensor(list); to have all values: .tolist(). In code of a package, its release is for another torch or library: upgrade it",
        says=(
            "ValueError: only one element tensors can be converted to Python scalars",
            "RuntimeError: a Tensor with 10 elements cannot be converted to Scalar",
        ),
        sources=(torch_file("torch/lib/libtorch_cpu.so"), torch_file("torch/lib/libtorch_python.so")),
    ),
    KnownError(
        id="argument-on-cpu",
        pattern=r"'lengths' argument should be a 1D CPU|[Ee]xpected an? '?(?P<name>\w{2,8})'? (?:device type for generator|generator device) but found '?(?P<other>\w{2,8})|indices should be either on (?:the same device|\w{2,8} or on the same device)|Expected a '\w{2,8}:?\d?' generator device",
        cause="One argument has to lie on a certain device: the lengths of pack_padded_sequence on the CPU, a generator on the device of the numbers that it makes, an index on the CPU or beside the tensor. torch 1.5 to 2.0 are stricter than those before, so that older programs meet it",
        remedy="lengths.cpu() for pack_padded_sequence; torch.Generator(device='cuda') for numbers on the GPU (in a DataLoader with torch.set_default_device or set_default_tensor_type('cuda'): generator=torch.Generator('cuda'), or leave the default alone); index.to(x.device) or index.cpu() for an index",
        says=(
            "RuntimeError: 'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor",
            "RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'",
            "RuntimeError: indices should be either on cpu or on the same device as the indexed tensor (cpu)",
        ),
        sources=(torch_file("torch/lib/libtorch_cpu.so"),),
    ),
    KnownError(
        id="pin-gpu-tensor",
        pattern=r"cannot pin '(?P<name>[\w.]{1,40})' only dense CPU tensors can be pinned",
        cause="A tensor that lies on the GPU already ({name}) is to be pinned: the dataset gives tensors of the GPU, or the default device or tensor type was set to the GPU",
        remedy="Keep the dataset's tensors on the CPU and move the batch (batch.to('cuda', non_blocking=True)), or DataLoader(pin_memory=False); take out torch.set_default_tensor_type('torch.cuda.FloatTensor') and set_default_device",
        says=("RuntimeError: cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",),
        sources=(torch_file("torch/lib/libtorch_cpu.so"),),
    ),
    KnownError(
        id="operation-without-type",
        pattern=r"\"(?P<name>\w{1,60})\" not implemented for '(?P<term>Long|Int|Short|Char|Byte|Bool|Double|ComplexFloat|ComplexHalf|ComplexDouble|Float8_\w{1,12}|UInt\d{1,2}|Float|Undefined)'",
        cause="torch has no kernel of this operation ({name}) for {term}",
        remedy="Convert first: x.float() for softmax, mean, norms, interpolation, losses and what comes from integers (a label map, a mask, an image as uint8); x.bool() or x.long() for masks and indices; Float8: torch only stores and multiplies it (torch._scaled_mm), so convert to bfloat16 for everything else. In a package's code: it is for a newer torch (which has more kernels), or passes what it should not: upgrade both",
        says=("RuntimeError: \"host_softmax\" not implemented for 'Long'",),
        sources=(torch_file("torch/lib/libtorch_cpu.so"),),
    ),
    KnownError(
        id="batch-cannot-be-collated",
        pattern=r"default_collate: batch must contain|batch must contain tensors, numbers, dicts or lists; found|each element in list of batch should be of equal size|Trying to resize storage that is not resizable",
        cause="The samples of one batch cannot be put into one tensor: they have different sizes, or one is None or of a type that torch does not know (a PIL image, a path)",
        remedy="Set num_workers=0 and print the shapes of the samples; make them equal (Resize, padding with torch.nn.utils.rnn.pad_sequence, ToTensor for images), leave out those that are None, or give the DataLoader a collate_fn",
        says=(
            "TypeError: default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class 'NoneType'>",
            "RuntimeError: Trying to resize storage that is not resizable",
        ),
        sources=(
            torch_file("torch/utils/data/_utils/collate.py"),
            torch_file("torch/lib/libtorch_cpu.so"),
        ),
    ),
    KnownError(
        id="numpy-to-tensor",
        pattern=r"can't convert np\.ndarray of type (?P<name>[\w.]{1,30})|strides? in the given numpy array is negative|expected np\.ndarray \(got",
        cause="torch cannot make a tensor of this array: rows of different lengths or texts (object_), a type of integers that this torch does not know (uint16 and uint32 before 2.3), or one that was turned round (negative strides)",
        remedy="Look at array.dtype and array.shape. object_: make the rows equal, or np.stack them, and pass a number type (astype(np.float32)); uint16: astype(np.int32); negative strides: array.copy(); a list: np.asarray(list) or torch.tensor(list). The same program ran before: see which NumPy is there now (python -m pip list)",
        says=(
            "TypeError: can't convert np.ndarray of type numpy.uint16. The only supported types are: float64, float32",
            "ValueError: At least one stride in the given numpy array is negative, and tensors with negative strides are not currently supported.",
        ),
        sources=(torch_file("torch/lib/libtorch_python.so"),),
    ),
    KnownError(
        id="derivative-missing",
        pattern=r"derivative for '?(?P<name>aten::\w{1,80}|\w{1,80})'? is not implemented|the derivative for '?(?P<name2>\w{1,80})'? is not implemented|cudnn RNN backward can only be called in training mode|Only Tensors of floating point and complex dtype can require gradients|only Tensors of floating point dtype can require gradients",
        cause="torch cannot differentiate this step: a kernel of attention, an integer or quantized weight, or a recurrent layer of cuDNN in eval() has no backward pass (or none of the second order)",
        remedy="Attention twice differentiated (gradient penalties, Hessians): with torch.nn.attention.sdpa_kernel(SDPBackend.MATH). cuDNN's RNN: keep that layer in train(), or torch.backends.cudnn.flags(enabled=False). Weights in 8 or 4 bits: train adapters (PEFT: prepare_model_for_kbit_training), and upgrade peft, accelerate and bitsandbytes together",
        says=(
            "RuntimeError: derivative for aten::_scaled_dot_product_efficient_attention_backward is not implemented",
            "RuntimeError: cudnn RNN backward can only be called in training mode",
            "RuntimeError: only Tensors of floating point dtype can require gradients",
        ),
        sources=(torch_file("torch/lib/libtorch_cpu.so"),),
    ),
    KnownError(
        id="tensor-without-storage",
        pattern=r"Cannot access data pointer of Tensor that doesn't have storage|Cannot access storage of \w{1,40}(?:Impl|Wrapper)|Tensors of type \w{1,40} do not have (?:numel|sizes|strides|storage)|No `?data_ptr`? for FakeTensor|Cannot access data pointer of Tensor \(e\.g\. FakeTensor",
        cause="A kernel, or code that reads memory, got a tensor that has none: a fake tensor while torch.compile or export traces, one of vmap or a subclass (DTensor, quantized, nested), or a layer whose weights were never loaded (meta)",
        remedy="Let the compiler pass the call by: upgrade the package, whose newer releases register it (torch.library.custom_op with register_fake), or put @torch.compiler.disable on the function that calls it. Without torch.compile: see that the model was loaded (device meta) and convert subclasses (x.full_tensor(), x.dequantize())",
        says=(
            "RuntimeError: Cannot access data pointer of Tensor that doesn't have storage",
            "NotImplementedError: Cannot access storage of TensorWrapper",
        ),
        sources=(torch_file("torch/lib/libc10.so"),),
        likely=True,
    ),
    KnownError(
        id="autograd-function-of-old",
        pattern=r"Legacy autograd function with non-static forward method",
        cause="The program, or a package, defines an autograd Function in the form that torch dropped with 1.5: forward without @staticmethod, called on an instance",
        remedy="Upgrade the package. In your own code: make forward and backward static with ctx as first argument, and call Name.apply(...) instead of Name()(...); a repository of 2018 to 2019 that nobody keeps needs torch 1.4, which no newer GPU runs, so that changing it is the shorter way",
        says=(
            "RuntimeError: Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with static forward method.",
        ),
        sources=(torch_file("torch/autograd/function.py"),),
    ),
    KnownError(
        id="inference-tensor",
        pattern=r"Inference tensors cannot be saved for backward|Inplace update to inference tensor outside InferenceMode|Cowardly refusing to serialize non-leaf tensor",
        cause="A tensor that was made under torch.inference_mode() is trained with or changed outside of it, or one that belongs to a graph is sent to another process",
        remedy="Use torch.no_grad() where the result is used further, or clone it outside (x = x.clone()); before sending: x.detach(). With Lightning or DeepSpeed that validate between steps: inference_mode=False",
        says=("RuntimeError: Inference tensors cannot be saved for backward. To work around you can make a clone",),
        sources=(torch_file("torch/lib/libtorch_cpu.so"), torch_file("torch/multiprocessing/reductions.py")),
    ),
    KnownError(
        id="worker-raised",
        pattern=r"Caught (?P<name>\w{3,40}) in (?:DataLoader worker process|pin memory thread|replica) (?P<number>\d{1,4})?",
        cause="{name} was raised in a process or thread that works for this one; its own traceback stands below, and the last line of that says what happened",
        remedy="Ask for that last line. To see it by itself: num_workers=0 for data loaders, one GPU (CUDA_VISIBLE_DEVICES=0) for replicas of DataParallel",
        says=("RuntimeError: Caught RuntimeError in DataLoader worker process 0.",),
        sources=(torch_file("torch/_utils.py"),),
        level="vague",
        general=True,
    ),
    KnownError(
        id="notebook-strategy",
        pattern=r"(?:is not compatible|in) (?:with )?an interactive environment|Selected distributed (?:backend|strategy) \S{1,20} is not compatible",
        cause="Lightning's strategies ddp, ddp_spawn, fsdp and deepspeed start this program again for every GPU, which a notebook (or python -i) cannot do",
        remedy="In the notebook: strategy='ddp_notebook' (Lightning 2; before that 'ddp_fork' or 'dp'), or one GPU: Trainer(accelerator='gpu', devices=1). Else save it as a script and start that. Nothing may use CUDA in the notebook before the processes are made",
        says=(
            "MisconfigurationException: Selected distributed backend ddp is not compatible with an interactive environment.",
        ),
        sources=(thread("NVIDIA-NeMo/Speech", 2678),),
    ),
    KnownError(
        id="ranks-differ",
        pattern=r"DDP expects same model across all ranks|params?, while rank \d{1,6} has inconsistent",
        cause="The ranks built different models, so that DistributedDataParallel cannot pair their parameters: one read another configuration or checkpoint, froze other layers, or failed while it built its own",
        remedy="Print sum(p.requires_grad for p in model.parameters()) on every rank; see that all got the same arguments and files, that random choices have the same seed, and that nothing is built or frozen only on rank 0. 0 parameters: that rank's model is sharded or still on meta",
        says=(
            "RuntimeError: DDP expects same model across all ranks, but Rank 0 has 42 params, while rank 1 has inconsistent 0 params.",
        ),
        sources=(torch_file("torch/lib/libtorch_cpu.so"),),
    ),
    KnownError(
        id="ddp-strides-remark",
        pattern=r"Grad strides do not match bucket view strides|grad strides do not match bucket view strides",
        cause="DistributedDataParallel copies a gradient because its layout (strides) is another than that of its buffer; it works, a little slower",
        remedy="Nothing has to be done; where it counts: x.contiguous() after transposes in front of that parameter, or one memory format (channels_last) for the whole model",
        says=("UserWarning: Grad strides do not match bucket view strides.",),
        sources=(torch_file("torch/lib/libtorch_cpu.so"),),
        level="warning",
    ),
    KnownError(
        id="semaphores-remark",
        pattern=r"(?:resource|semaphore)_tracker: There appear to be \d{1,9} leaked (?:semaphore|shared_memory|folder)",
        cause="Python cleans up what a process left that ended without being able to: this line is an echo. Alone at the end of a log, with nothing before it, the process was killed (memory) or crashed",
        remedy="Look for the first error above it. Where there is none: the exit status (echo $?: 137 killed, 139 crashed), dmesg for the OOM killer; on a Mac memory pressure; num_workers=0 and PYTHONFAULTHANDLER=1 show more",
        command="PYTHONFAULTHANDLER=1 python PROGRAM; echo $?",
        says=("UserWarning: resource_tracker: There appear to be 6 leaked semaphore objects to clean up at shutdown",),
        sources=(UNREAD,),
        level="vague",
        general=True,
    ),
    KnownError(
        id="pillow-constants",
        pattern=r"module 'PIL\.Image' has no attribute '(?P<name>ANTIALIAS|LINEAR|CUBIC|BILINEAR|BICUBIC|NEAREST)'",
        cause="Pillow 10 dropped {name}, which a package here still asks for",
        remedy="Upgrade the package that asks (torchvision, moviepy, easyocr, the last frame names it); in your own code write Image.Resampling.LANCZOS for ANTIALIAS; else pin Pillow below 10",
        command="python -m pip install 'pillow<10'",
        says=("AttributeError: module 'PIL.Image' has no attribute 'ANTIALIAS'",),
        sources=("Pillow 10.0 release notes, by their name; no thread was read for it, 2026-11-26",),
    ),
    KnownError(
        id="torchvision-image-remark",
        pattern=r"Failed to load image Python extension",
        cause="torchvision's part that reads images did not load: it was built for another torch, or (where the text in quotes is empty or names libjpeg, libpng) one of its libraries is not there. The rest of torchvision works; read_image and decode_jpeg do not",
        remedy="Install the torchvision that belongs to this torch; who does not use torchvision.io can leave it",
        checks=("companion-mismatch",),
        says=(
            "UserWarning: Failed to load image Python extension: ''If you don't plan on using image functionality from `torchvision.io`, you can ignore this warning.",
        ),
        sources=("torchvision, torchvision/io/image.py, by its words; no thread was read for it, 2026-11-26",),
        level="warning",
    ),
)
