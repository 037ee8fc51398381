"""Messages that several things print: what each of them is, and how one is told from another.

Each is the first sentence of a row's answer, so the row's sources hold for it; where a cause was read in a thread of its own, that stands beside it.
"""

from __future__ import annotations

import re

from torchlift.doctor.errors.known_error import Cause, ValuesSay

_UNITS = {"b": 1.0, "K": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40}
_MUCH = 0.15
"""Share of the GPU that is worth gathering when it lies between tensors."""


def read_memory(message: str) -> ValuesSay | None:
    """What the numbers of an error of the GPU's memory say: too large a request, a full GPU, or memory in pieces."""
    found = _numbers(message)
    asked, total = found.get("asked"), found.get("total")
    if asked is None or total is None:
        return None
    free, own, unused = found.get("free"), found.get("own"), found.get("unused", 0.0)
    says = f"The GPU has {_said(total)}, and {_said(asked)} more were asked for"
    if asked > total:
        return ValuesSay(f"{says}: more than it has at all", 1)
    if unused >= asked and unused > _MUCH * total:
        return ValuesSay(
            f"{says}; {_said(unused)} lie unused between torch's own tensors, in pieces that are too small", 2
        )
    if own is not None and free is not None and total - own - unused - free > _MUCH * total:
        return ValuesSay(
            f"{says}; torch in this process holds {_said(own)}, {_said(free)} were free: other programs or processes hold the rest",
            3,
        )
    if own is not None:
        return ValuesSay(f"{says}; tensors of this process hold {_said(own)} of it", 0)
    return ValuesSay(says, 0)


def _numbers(message: str) -> dict[str, float]:
    """Bytes by what they are, in the wordings of torch 0.4 to 2.15: the number stands before or behind its words."""
    text = message.partition("See documentation")[0]
    found: dict[str, float] = {}
    for name, pattern in (
        ("asked", r"[Tt]ried to allocate {}"),
        ("total", r"total capacity of {}|{} total capacity|capacity of {}"),
        ("free", r"of which {} is free|{} free"),
        ("own", r"{} is allocated by PyTorch|{} already allocated"),
        ("unused", r"{} is reserved by PyTorch but unallocated|{} cached"),
        ("reserved", r"{} reserved in total"),
    ):
        size = r"(\d{1,7}(?:\.\d{1,4})?) ?([KMGT]i?B|bytes)"
        match = re.search(pattern.replace("{}", size).replace(" ", r"\s{1,9}"), text)
        if match is not None:
            number, unit = (each for each in match.groups() if each is not None)
            found[name] = float(number) * _UNITS["b" if unit == "bytes" else unit[0]]
    if "reserved" in found and "own" in found:
        found["unused"] = max(found.pop("reserved") - found["own"], 0.0)
    return found


def _said(size: float) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"


OUT_OF_MEMORY = (
    Cause(
        "The work itself is larger than the GPU",
        "the memory of this process is nearly the whole of the GPU, and the error comes at the first or largest batch",
        "smaller batch, shorter sequences or images, gradient accumulation, bfloat16, checkpointing (torch.utils.checkpoint), a smaller or quantized model, or sharding over GPUs (FSDP, device_map='auto'); evaluation under torch.no_grad()",
        checks=("mig",),
    ),
    Cause(
        "One tensor is asked for that no GPU of this size can hold",
        "the number behind `Tried to allocate` is larger than the whole GPU",
        "look at the frame that asks for it: a product over all pairs (attention without flash or SDPA, cdist, a one-hot of the vocabulary), an image that was not scaled down, a wrong dimension; cut it into parts",
    ),
    Cause(
        "Memory lies between tensors in pieces",
        "`reserved but unallocated` (older: reserved minus allocated) is larger than what was asked for; batches differ in size",
        "PYTORCH_ALLOC_CONF=expandable_segments:True (before torch 2.9 PYTORCH_CUDA_ALLOC_CONF; not under Windows), pad batches to few sizes",
    ),
    Cause(
        "Other programs hold the GPU, or an earlier run was left over",
        "nvidia-smi shows other processes, or memory in use while nothing of yours runs",
        "end them (a notebook's kernel, a run that hangs: kill PID), choose another GPU with CUDA_VISIBLE_DEVICES; several ranks on one GPU: torch.cuda.set_device(LOCAL_RANK) before anything is loaded, and map_location='cpu' in torch.load",
        seen=r"Process \d{1,9} has [\d.]{1,9} [KMG]iB memory in use",
        checks=("memory-in-use",),
    ),
    Cause(
        "It grows from step to step",
        "torch.cuda.memory_allocated() after every step rises; the error comes late",
        "keep loss.item() or .detach() instead of the loss, empty lists of outputs, no retain_graph=True; torch.cuda.memory._record_memory_history() shows who holds it",
    ),
)

CUDA_UNKNOWN = (
    Cause(
        "CUDA cannot start: the device node or module nvidia-uvm is missing, or the machine was suspended",
        "python -c 'import torch; torch.zeros(1).cuda()' fails in a new process, too, while nvidia-smi works",
        "sudo modprobe -r nvidia_uvm && sudo modprobe nvidia_uvm (in a container: start it anew, on the host), else restart",
        seen=r"is_available|cudaGetDeviceCount|_cuda_init|torch\._C\._cuda_init|CUDA initialization|/THC/THCGeneral",
        checks=("cuda-unknown-error", "device-permissions"),
    ),
    Cause(
        "The GPU or its driver gave up while the program ran",
        "a new process works, or all need a restart; sudo dmesg | grep -i xid shows an Xid of that minute; it comes at random places, on one machine only",
        "look up that Xid (`torchlift doctor` says what it means); power, cooling, bus and memory: `torchlift doctor --smoke burn`; update the driver; a laptop or one desktop under Windows: also the display's time limit (TdrDelay)",
        seen=r"(?i)\b(?:epoch|step|iter(?:ation)?|it/s|s/it|loss)\b",
        checks=("xid-errors",),
    ),
    Cause(
        "A kernel before it broke the context, and this is only the next call",
        "CUDA_LAUNCH_BLOCKING=1 names another call, always the same one",
        "an index out of range or a kernel of an extension: run that step on the CPU, switch flash-attn, custom kernels, Triton and CUDA graphs off in turn",
    ),
    Cause(
        "Under Windows: an old torch that asks for CUDA too late, a laptop that changed its graphics card, or a driver half updated",
        "python -c 'import torch; torch.cuda.current_device()' as the first thing works where the program does not",
        "call torch.cuda.current_device() right after import torch, or take a newer torch; restart; install NVIDIA's driver newly (clean installation)",
        seen=r"[A-Z]:\\",
    ),
    Cause(
        "It is a program of its own without torch (lc0, llama.cpp, a game or miner), and its CUDA files do not go with this driver or card",
        "no Python stands in the log, the line names its own source (.cc:203, .cpp, .exe); its first lines name another CUDA than it was compiled with, or than the head of nvidia-smi",
        "its build for the CUDA of this driver, with the DLLs that it brings and no others beside it; a clean installation of the driver and a restart; another backend of it (cuda in place of cudnn, DirectX, OpenCL)",
        seen=r"\.cc:\d|\.exe\b|lc0",
    ),
)

CUDA_STARTED_TWICE = (
    Cause(
        "The parent process used the GPU before it forked (data loader workers, multiprocessing.Process), and CUDA does not survive a fork",
        "the trace comes from a worker or from multiprocessing; with num_workers=0 it works",
        "keep tensors in the Dataset on the CPU (map_location='cpu'), or start workers with the method spawn (DataLoader(multiprocessing_context='spawn'), torch.multiprocessing.set_start_method('spawn')), and import nothing that touches the GPU in the parent; in a notebook start training first after a restart of its kernel",
        seen=r"[Ff]ork|multiprocessing|Process-\d|worker|Worker|notebook_launcher",
    ),
    Cause(
        "The driver cannot start CUDA for any process",
        "python -c 'import torch; torch.zeros(1).cuda()' alone fails, too",
        "`torchlift doctor`: it names module, libraries, device nodes or the GPU that is not right",
        checks=("nvml-and-cuda-disagree", "driver-version-mismatch", "cuda-unknown-error"),
    ),
)

CRASHED = (
    Cause(
        "An extension was built for another torch, CUDA or Python",
        "it crashes in an import, or at the first call of that package: python -X faulthandler -c 'import PACKAGE' alone crashes, too",
        "install that package for this torch (its wheels name torch and CUDA), or build it again with --no-build-isolation",
        seen=r"<frozen importlib|_bootstrap",
        checks=("extension-abi", "companion-mismatch"),
    ),
    Cause(
        "Two copies of one library are in the process (OpenMP, protobuf, CUDA, libstdc++, OpenCV or PyArrow beside torch)",
        "the order of imports changes it; the list `Extension modules:` of the dump, or cat /proc/PID/maps, shows which are loaded",
        "import torch first (or last), take folders out of LD_LIBRARY_PATH and LD_PRELOAD, install everything from one source (all wheels, or all conda-forge); on macOS also KMP_DUPLICATE_LIB_OK is only a plaster",
        seen=r"Extension modules:|libomp|libiomp|libgomp",
        checks=("conda-pip-mix", "preloaded-libraries", "two-nvidia-families", "library-path", "several-torch-copies"),
    ),
    Cause(
        "The first use of the GPU crashes: driver, torch or the GPU",
        "`torchlift doctor --smoke` crashes as well",
        "what it names: another driver, another wheel of torch, or the card",
    ),
    Cause(
        "A data loader's worker crashed (an image, video or HDF5 library after a fork)",
        "num_workers=0 works, or names the sample",
        "open files in the worker, cv2.setNumThreads(0), a damaged file taken out; multiprocessing_context='spawn'",
        seen=r"[Dd]ata[Ll]oader|num_workers|pin memory",
    ),
    Cause(
        "The stack is too small, or recursion too deep",
        "ulimit -s unlimited lets it go on",
        "leave that limit higher, or find the recursion (sys.setrecursionlimit that was raised)",
        seen=r"setrecursionlimit|stack overflow|[Rr]ecursion",
    ),
)

ILLEGAL_ACCESS = (
    Cause(
        "An index was out of range in a kernel that does not check it (gather, scatter, embedding, a custom kernel)",
        "the same step fails on the CPU with an IndexError, or CUDA_LAUNCH_BLOCKING=1 names an indexing call",
        "check the largest and smallest index before that call; labels and token ids against the sizes",
        seen=r"index|gather|scatter|embedding|nll_loss|cross_entropy",
    ),
    Cause(
        "A kernel of an extension does not fit this GPU, torch or shape (flash-attn, xformers, Triton, spconv, apex, vLLM)",
        "CUDA_LAUNCH_BLOCKING=1 names a call in that package; with another backend (attn_implementation='sdpa', eager mode) it works",
        "upgrade that package for this torch and GPU, or leave the other backend on; compute-sanitizer python PROGRAM names the kernel",
        seen=r"flash_attn|xformers|triton|spconv|apex|_C\.|vllm|bitsandbytes|mmcv|cutlass|deepspeed",
        checks=("extension-abi",),
    ),
    Cause(
        "Tensors of two GPUs in one kernel, or the wrong current device",
        "only with several GPUs; CUDA_VISIBLE_DEVICES=0 works",
        "torch.cuda.set_device(device) or `with torch.cuda.device_of(x):` before custom kernels",
        seen=r"cuda:[1-9]|DataParallel|device_map",
    ),
    Cause(
        "The GPU, its memory or its power is at fault",
        "it comes at random places; sudo dmesg | grep -i xid, nvidia-smi -q -d ECC, or `torchlift doctor --smoke burn` fails; an overclocked card",
        "reset clocks, check power and cooling, have the card replaced",
        checks=("ecc-errors", "row-remapping", "xid-errors"),
    ),
)

WORKER_DIED = (
    Cause(
        "The kernel killed it for want of main memory",
        "killed by signal: Killed, or sudo dmesg | grep -i oom",
        "fewer workers, a smaller prefetch_factor, no large Python lists in the Dataset (each worker copies them: use arrays), a larger --memory for the container",
        seen=r"signal: Killed|SIGKILL|\boom\b|-9\b|exit code 137",
    ),
    Cause(
        "The shared memory of the container is full",
        "signal: Bus error, `unable to open shared memory` or `No space left`; df -h /dev/shm says 64M",
        "docker run --shm-size=8g or --ipc=host; Kubernetes: an emptyDir of medium Memory at /dev/shm; or fewer workers",
        seen=r"Bus error|shm|shared memory|No space left",
        checks=("shm-size",),
    ),
    Cause(
        "Under Windows or macOS the workers could not start: the program has no `if __name__ == '__main__':`, or its Dataset cannot be pickled",
        "it comes at the first batch there; exit code 1; num_workers=0 works",
        "put what starts the program below that line, and the Dataset and collate_fn into a module",
        seen=r"[A-Z]:\\|darwin|/Users/|spawn|freeze_support|__name__",
    ),
    Cause(
        "A compiled library crashed in it (OpenCV, decord, HDF5, a database handle opened before the fork), or compiled code divided a whole number by zero (an empty image, crop or list)",
        "signal: Segmentation fault or Aborted, `Unexpected segmentation fault encountered in worker`; num_workers=0 works or shows the sample; Floating point exception is the division",
        "open files and handles in worker_init_fn or __getitem__, not in __init__; cv2.setNumThreads(0); multiprocessing_context='spawn'; a division: num_workers=0 with python -X faulthandler names the line and sample",
        seen=r"[Ss]egmentation fault|Aborted|cv2|decord|h5py|lmdb|[Ff]loating.point exception|SIGFPE",
    ),
    Cause(
        "The Dataset raised an exception that was lost on the way",
        "num_workers=0 shows it",
        "mend that",
    ),
)

BUS_ERROR = (
    Cause(
        "/dev/shm is full: a container has 64 MiB unless told otherwise (data loader workers, NCCL)",
        "df -h /dev/shm while it runs",
        "docker run --shm-size=8g or --ipc=host; fewer workers",
        seen=r"[Dd]ata[Ll]oader|worker|NCCL|docker|container",
        checks=("shm-size",),
    ),
    Cause(
        "A file that is mapped into memory lies on a full disk, or was cut or replaced while it was read (safetensors, mmap=True, numpy.memmap, a library)",
        "df -h . has no room, or the file's size is not that of its source",
        "make room, get the file again; do not write over files that a job reads",
        seen=r"safetensors|mmap|memmap|load_file|Slurm|slurm",
    ),
    Cause(
        "A compiled part is for another processor, or reads unaligned addresses (Arm boards, Jetson)",
        "uname -m says aarch64; PYTHONFAULTHANDLER=1 names an import",
        "on a Jetson the wheels that NVIDIA made for that JetPack; else build it on the machine",
        seen=r"[Jj]etson|aarch64|tegra|[Rr]aspberry",
        checks=(),
    ),
    Cause("The disk or the memory fails", "sudo dmesg names I/O errors or a machine check", "replace it"),
)

NO_DEVICE = (
    Cause(
        "CUDA_VISIBLE_DEVICES hides them: it is empty, -1, or names a number or UUID that this machine has not",
        'echo "$CUDA_VISIBLE_DEVICES" in that process (also set in a script or notebook by os.environ); nvidia-smi -L shows the cards',
        "unset CUDA_VISIBLE_DEVICES, or name a card that is there; set it before torch is imported",
        seen=r"CUDA_VISIBLE_DEVICES",
        checks=("cuda-visible-devices",),
    ),
    Cause(
        "The container was started without the GPU",
        "nvidia-smi is not found in it, and works on the host",
        "docker run --gpus all (with nvidia-container-toolkit installed on the host); singularity or apptainer exec --nv; Kubernetes: resources.limits of nvidia.com/gpu; in docker build there is never one",
        seen=r"docker|container|singularity|apptainer|/app/|/workspace|kube|alphafold3_venv",
        checks=("device-permissions",),
    ),
    Cause(
        "The job or worker was given no GPU (Slurm, Ray, a web notebook's CPU runtime)",
        "srun nvidia-smi -L lists none; ray.get_gpu_ids() is []; Colab: Runtime > Change runtime type says CPU",
        "sbatch --gres=gpu:1; @ray.remote(num_gpus=1), also for the actor that loads the model; a GPU runtime (Spaces with ZeroGPU: only inside @spaces.GPU)",
        seen=r"[Ss]lurm|srun|\bray(?:::|\.)|[Cc]olab|kaggle|@spaces|/spaces/|ZeroGPU",
    ),
    Cause(
        "The card failed, is in MIG mode without an instance, or the driver lost it",
        "nvidia-smi itself lists no device or ERR!; lspci | grep -i nvidia shows it; sudo dmesg | grep -iE 'xid|nvrm'",
        "`torchlift doctor` names it: MIG instances, a reset or restart, the driver, power and seating of the card; WSL: wsl --update",
        seen=r"Xid|MIG|fallen off|NVRM",
        checks=("mig", "driver-missing", "driver-not-loaded", "nvml-and-cuda-disagree"),
    ),
)

DEVICE_ASSERT = (
    Cause(
        "A label or class number is outside of 0..number of classes - 1 (also -1 or 255 for `ignore`)",
        "the assertion names t >= 0 && t < n_classes, or NLLLoss",
        "print labels.min() and labels.max() against the size of the last layer; ignore_index= for what is to be left out",
        seen=r"n_classes|NLLLoss|ClassNLL|nll_loss|cur_target|CrossEntropy",
    ),
    Cause(
        "An index is outside of its tensor: a token id larger than the embedding, positions longer than the model has, a wrong gather or slice",
        "the assertion names srcIndex, srcSelectDimSize, IndexKernel, ScatterGatherKernel or index out of bounds",
        "compare input_ids.max() with model.get_input_embeddings().num_embeddings (model.resize_token_embeddings(len(tokenizer)) after new tokens), the length with max_position_embeddings; truncation=True",
        seen=r"srcIndex|srcSelect|Indexing|IndexKernel|ScatterGather|index out of bounds|idx_dim|ind >=0",
    ),
    Cause(
        "Probabilities are not numbers, negative, or do not sum to more than nothing (sampling, BCELoss)",
        "the assertion names probability tensor, multinomial, TensorCompare or input_val >= zero",
        "NaN before it: lower the learning rate, bfloat16 instead of float16, do_sample=False to see; BCEWithLogitsLoss instead of BCELoss",
        seen=r"probability|multinomial|input_val|TensorCompare|bernoulli|BCE|MultinomialKernel",
    ),
)

CUDNN = (
    Cause(
        "No memory is left for it",
        "the same call works with a smaller batch; nvidia-smi shows the GPU full (TensorFlow and JAX take nearly all at once)",
        "smaller batch, end other programs, TF_FORCE_GPU_ALLOW_GROWTH=true, XLA_PYTHON_CLIENT_PREALLOCATE=false",
        seen=r"out of memory",
        checks=("memory-in-use",),
    ),
    Cause(
        "Another cuDNN than torch's is loaded (LD_LIBRARY_PATH, conda, a system's package, a newer nvidia-cudnn-cu12 that pip put over it)",
        "python -c 'import torch; print(torch.backends.cudnn.version())' is not the release that pip show torch asks for; python -m pip check complains",
        "unset LD_LIBRARY_PATH; python -m pip install --force-reinstall torch",
        seen=r"LD_LIBRARY_PATH|SUBLIBRARY|libcudnn|version mismatch",
        checks=("library-path", "nvidia-pins"),
    ),
    Cause(
        "torch's cuDNN has no kernels for this GPU: too new for the wheel, or dropped (cuDNN 9 of CUDA 13 begins with Turing)",
        "a plain convolution fails too: python -c 'import torch; torch.nn.Conv2d(3, 8, 3).cuda()(torch.rand(1, 3, 32, 32).cuda())'",
        "the wheel that `torchlift doctor` prints for this GPU and driver",
        checks=("gpu-architecture",),
    ),
    Cause(
        "An earlier kernel failed, or this shape or dtype has no algorithm",
        "CUDA_LAUNCH_BLOCKING=1 names another call, or torch.backends.cudnn.enabled = False lets it go on or shows the true error",
        "mend that call; channels_last off, float32, torch.backends.cudnn.benchmark = False",
    ),
)

TIMED_OUT = (
    Cause(
        "One rank never came: it failed, was killed, or hangs elsewhere",
        "the logs of the other ranks: the first error by time; one rank's SeqNum is missing or behind",
        "mend that one; torchrun --log-dir logs --tee 3 keeps a log per rank",
        seen=r"SIGKILL|out of memory|Killed|Segmentation fault",
    ),
    Cause(
        "One rank works alone for longer than the limit (tokenizing, saving, evaluating, downloading on rank 0)",
        "it comes at the same place each time, with ALLREDUCE of NumelIn=1 (a barrier) or a BROADCAST",
        "do it before init_process_group, or init_process_group(timeout=timedelta(hours=2)) (accelerate: InitProcessGroupKwargs, Trainer: ddp_timeout)",
        seen=r"NumelIn=1,|OpType=BARRIER|\bsaving|save_|evaluat|[Tt]okeniz",
    ),
    Cause(
        "Ranks took different ways: fewer batches on one, a branch on rank or data, parameters that are not used",
        "the same SeqNum has another OpType or NumelIn on another rank; it comes at the end of an epoch",
        "DistributedSampler with drop_last=True, join() of DDP, no `if rank == 0` around a collective or a forward, find_unused_parameters=True",
    ),
    Cause(
        "GPUs or hosts cannot reach each other although they say so (PCIe access control, IOMMU, a wrong interface, InfiniBand)",
        "all ranks stand at the first collective (SeqNum 1 or so); NCCL_P2P_DISABLE=1 or NCCL_IB_DISABLE=1 lets it go on; NCCL_DEBUG=INFO shows the way taken",
        "NCCL_SOCKET_IFNAME to the right interface; ACS and IOMMU off on the host (iommu=pt); `torchlift doctor --smoke burn` measures each pair",
        seen=r"SeqNum=[1-5],",
        checks=("iommu", "peer-access", "nvlink"),
    ),
)

XPU_STATUS = (
    Cause(
        "This GPU has no 64-bit floating point (Arc, and the graphics of processors), and the program asks for it",
        "the message has uses-fp64-math or -996, or says that the device has no fp64 or that a required aspect is missing",
        "keep tensors in float32 (torch.set_default_dtype, numpy arrays and Python floats come as float64: .float() before .to('xpu')); to emulate it: OverrideDefaultFP64Settings=1 and IGC_EnableDPEmulation=1 in the environment",
        seen=r"fp64|-996|[Rr]equired aspect|double",
    ),
    Cause(
        "The memory of the GPU is used up, or one buffer is larger than 4 GiB",
        "OUT_OF_RESOURCES, OUT_OF_DEVICE_MEMORY, OUT_OF_HOST_MEMORY, -5, -6, 40, 39; a smaller batch works",
        "a smaller batch or model, torch.xpu.empty_cache(); in Windows give the graphics of the processor more shared memory",
        seen=r"OUT_OF|\b40 \(|\b39 \(|-5 \(|-6 \(",
        checks=("memory-in-use",),
    ),
    Cause(
        "Driver and torch's runtime are not of one age, or two oneAPI runtimes are mixed",
        "UNINITIALIZED, DEVICE_NOT_FOUND, PLATFORM, -1102, -30, or it comes at the first call; setvars.sh was sourced",
        "Intel's GPU driver (compute runtime, Level Zero) of the release that torch's page names; do not source setvars.sh with torch's XPU wheel; in conda a newer libstdcxx-ng",
        seen=r"UNINIT|DEVICE_NOT_FOUND|PLATFORM|-1102|setvars",
        checks=("driver-missing", "torch-other-vendor", "library-path"),
    ),
    Cause(
        "The GPU was lost, or its driver stopped a kernel that ran for too long",
        "DEVICE_LOST, 20, -997, 999; sudo dmesg has a reset or hang of i915 or xe",
        "a newer driver and kernel; on Linux echo 0 for the heartbeat or preempt_timeout of i915; smaller work at a time",
        seen=r"DEVICE_LOST|\b20 \(|-997|\b999\b|hang",
    ),
    Cause(
        "An operation of torch, Triton or an extension was not compiled for this GPU or has a defect",
        "INVALID_KERNEL, INVALID_BINARY, INVALID_VALUE, INVALID_ARG, -46, -50, 29; the same step works on the CPU",
        "upgrade torch, look for the operation in pytorch/pytorch and intel/torch-xpu-ops, and run that one step on the CPU until then",
        seen=r"INVALID|\b29 \(|-46 |-50 ",
    ),
)
