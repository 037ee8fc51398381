"""Launchers, clusters and the processes that they start."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import KnownError, thread, torch_file

ROWS = (
    KnownError(
        id="not-launched",
        pattern=r"environment variable (RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT|LOCAL_RANK) expected, but not set"
        r"|Error initializing torch\.distributed using|'(?:Namespace|\w{0,20}Arguments)' object has no attribute 'local_rank'|(?:fsdp|deepspeed|sharded_ddp|Using \w{2,20}) only works in distributed training|KeyError: '(LOCAL_RANK|RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT|SLURM_PROCID|SLURM_NTASKS|SLURM_LOCALID|SLURM_NODELIST|SLURM_JOB_ID)'",
        cause="The program was started with python, and expects what a launcher sets: which rank this process is and where rank 0 is",
        remedy="Start it with torchrun (for one process --nproc-per-node=1), or with srun and the variables set from Slurm's",
        command="torchrun --standalone --nproc-per-node=1 train.py",
        says=(
            "ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable RANK expected, but not set",
            "ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable WORLD_SIZE expected, but not set",
            "KeyError: 'LOCAL_RANK'",
        ),
        sources=(
            thread("meta-llama/llama", 391, "2023-07-23"),
            thread("HRNet/HRNet-Semantic-Segmentation", 35, "2019-07-29"),
            thread("NVIDIA/apex", 99, "2018-12-14"),
        ),
    ),
    KnownError(
        id="local-rank-argument",
        pattern=r"unrecognized arguments: .{0,200}--local[-_]rank|the following arguments are required: --local[-_]rank|error: argument --local[-_]rank: expected",
        cause="torch.distributed.launch hands --local-rank to the program (--local_rank before torch 2.0), which does not take it under that name",
        remedy="Start with torchrun and read os.environ['LOCAL_RANK']; `torchlift migrate` finds the old launcher",
        command="torchrun --nproc-per-node=1 train.py",
        says=(
            "train.py: error: unrecognized arguments: --local-rank=0",
            "train.py: error: unrecognized arguments: --local_rank=0",
        ),
        sources=(
            thread("huggingface/pytorch-image-models", 1728, "2023-03-20"),
            thread("skycrapers/TecoGAN-PyTorch", 31, "2023-09-14"),
            thread("hkchengrex/XMem", 18, "2022-08-14"),
        ),
    ),
    KnownError(
        id="backend-for-device",
        pattern=r"No backend type associated with device type|don't know which communication backend to use for this accelerator|Tensors must be CUDA and dense|does not support (allreduce|broadcast|allgather) on"
        r" (cpu|cuda)",
        cause="A collective was called with a tensor on a device that the process group has no backend for, mostly CPU tensors with nccl alone",
        remedy="Initialise without naming a backend, or with backend='cpu:gloo,cuda:nccl'; else move the tensor",
        says=("RuntimeError: No backend type associated with device type cpu",),
        sources=(
            thread("Lightning-AI/pytorch-lightning", 18803, "2023-10-16"),
            thread("THUDM/SwissArmyTransformer", 173, "2024-03-05"),
        ),
    ),
    KnownError(
        id="nccl-multicast",
        pattern=r"transport/nvls\.cc:\d{1,5} NCCL WARN|NVLS: Failed|multicast (bind|group).{0,80}(failed|CUDA error)",
        cause="NCCL's multicast over NVSwitch (NVLS) could not be set up: the fabric manager is not healthy, or the GPUs are only part of a system",
        remedy="See that nvidia-fabricmanager runs in the driver's version, and restart it; NCCL_NVLS_ENABLE=0 does without it, slower",
        command="export NCCL_NVLS_ENABLE=0",
        checks=("fabric-manager", "nvlink-domain", "nvlink"),
        likely=True,
        says=(
            "node004:27907:27907 [1] transport/nvls.cc:254 NCCL WARN Cuda failure 401 'the operation cannot be performed in the present state'",
            "transport/nvls.cc:598 NCCL WARN Cuda failure 1 'invalid argument'",
        ),
        sources=(thread("NVIDIA/nccl", 1788, "2025-07-22"), thread("NVIDIA/nccl", 1672, "2025-12-18")),
    ),
    KnownError(
        id="nccl-remarks",
        pattern=r"process group has NOT been destroyed before|destroy_process_group\(\) was not called before program exit|to perform barrier as devices used by this process are currently unknown"
        r"|The module torch\.distributed\.launch is deprecated",
        cause="torch tells what could be better: processes that end without destroy_process_group(), a barrier before the device is chosen, "
        "the old launcher",
        remedy="Nothing at once; call destroy_process_group() at the end, and init_process_group(device_id=...)",
        says=(
            "[rank0]:[W403 11:42:02.380967152 ProcessGroupNCCL.cpp:1250] Warning: WARNING: process group has NOT been destroyed before we "
            "destruct ProcessGroupNCCL.",
            "[rank0]:[W1028 04:48:19.843866299 ProcessGroupNCCL.cpp:4115] [PG ID 0 PG GUID 0 Rank 0]  using GPU 0 to perform barrier as devices "
            "used by this process are currently unknown.",
        ),
        sources=(
            thread("zunxbt/gensyn-testnet", 10, "2025-04-03"),
            thread("bmaltais/kohya_ss", 2933, "2024-10-28"),
            thread("pytorch/pytorch", 126275, "2024-05-15"),
        ),
        level="warning",
    ),
    KnownError(
        id="fsdp-mixed-dtypes",
        pattern=r"Must flatten tensors with uniform dtype|`?FlatParameter`? requires uniform dtype",
        cause="FSDP 1 puts the parameters of a module into one, and they are of different dtypes (adapters in float32 beside a model in bfloat16)",
        remedy="Load everything in one dtype, or use FSDP 2 (fully_shard; in accelerate fsdp_version: 2), which does not flatten",
        says=(
            "ValueError: Must flatten tensors with uniform dtype but got torch.bfloat16 and torch.float32",
            "ValueError: `FlatParameter` requires uniform dtype but got torch.float16 and torch.float32",
        ),
        sources=(thread("huggingface/peft", 484, "2024-05-29"), thread("hiyouga/LlamaFactory", 7993, "2025-05-08")),
    ),
    KnownError(
        id="kubernetes-no-gpu",
        pattern=r"Insufficient (nvidia|amd)\.com/gpu|UnexpectedAdmissionError[^\n]{0,160}|unavailable for (nvidia|amd)\.com/gpu",
        cause="No node has as many free GPUs as the pod asks for, or its device plugin does not run and the node offers none",
        remedy="See what the nodes offer; where it is 0 or missing, look at the device plugin's log and the container runtime of the node",
        command="kubectl describe nodes | grep -A 8 Allocatable",
        says=("0/1 nodes are available: 1 Insufficient nvidia.com/gpu.",),
        sources=(
            thread("NVIDIA/k8s-device-plugin", 33, "2018-07-11"),
            thread("NVIDIA/k8s-device-plugin", 159, "2020-05-08"),
        ),
    ),
    KnownError(
        id="fsdp-frozen-parameters",
        pattern=r"Must flatten tensors with uniform `?requires_grad`?|FSDP requires comm?mon device for param and module",
        cause="FSDP 1 puts the parameters of a module into one: some of them are frozen and others are trained (adapters), or they are on different devices",
        remedy="Pass use_orig_params=True (accelerate: fsdp_use_orig_params: true), wrap the adapters apart (peft: fsdp_auto_wrap_policy), move the whole model to one device before wrapping, or use FSDP 2 (fully_shard; fsdp_version: 2)",
        says=("ValueError: Must flatten tensors with uniform `requires_grad` when `use_orig_params=False`",),
        sources=(
            "the wording as programs print it; no thread was read for it, 2026-11-26",
            torch_file("torch/distributed/fsdp/_flat_param.py"),
        ),
    ),
    KnownError(
        id="ddp-ready-twice",
        pattern=r"Expected to mark a variable ready only once",
        cause="In DistributedDataParallel a parameter got its gradient twice in one backward pass: reentrant activation checkpointing, a module that is used twice, or find_unused_parameters=True where nothing is unused",
        remedy="Checkpoint with use_reentrant=False (transformers: gradient_checkpointing_kwargs={'use_reentrant': False}), set find_unused_parameters=False, or pass static_graph=True",
        says=("RuntimeError: Expected to mark a variable ready only once.",),
        sources=(
            "the wording as programs print it; no thread was read for it, 2026-11-26",
            torch_file("torch/nn/parallel/distributed.py"),
        ),
    ),
    KnownError(
        id="dtensor-mixed",
        pattern=r"got mixed torch\.Tensor and DTensor|does not have a sharding strategy registered|Inconsistent compute device and `device_id`|FSDP does not support CPU offloading|Operator [\w.]{1,60} does not have a sharding",
        cause="Tensors of a sharded model (DTensor, FSDP 2, tensor parallelism) and plain ones meet in one operation, or an operation has no rule for sharded tensors in this release of torch",
        remedy="Make what is created beside the model a DTensor too (distribute_tensor, or x.full_tensor() where the whole is meant), shard after the model is on its device (torch.cuda.set_device first), clip with torch.nn.utils.clip_grad_norm_ of this torch, and upgrade torch, which gains rules with each release",
        says=(
            "RuntimeError: aten.view.default: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling distributed operators!",
        ),
        sources=("the wording as programs print it; no thread was read for it, 2026-11-26",),
        likely=True,
    ),
    KnownError(
        id="world-size-not-divisible",
        pattern=r"world[ _]size \(?\d{1,6}\)? is not divisible by|is not a multiple of (?:tensor|pipeline|context|data)[\w ]{0,30}(?:size|parallel)|all tensors must be on devices\[0\]",
        cause="The number of processes (or the device of the first tensors) does not fit what was asked for: tensor, pipeline and context parallelism multiply to a number that has to divide the number of GPUs; DataParallel wants its model on the first of its devices",
        remedy="Start as many processes as the product (nproc_per_node x nnodes), or lower the sizes; DataParallel: model.to('cuda:0') before it, device_ids beginning with 0",
        says=(
            "AssertionError: world size (4) is not divisible by tensor_model_parallel_size (8)",
            "RuntimeError: all tensors must be on devices[0]",
        ),
        sources=(thread("ujsyehao/yolov3-multigpu", 3, "2020-07-08"),),
        likely=True,
    ),
    KnownError(
        id="loss-scale-at-minimum",
        pattern=r"[Cc]urrent loss scale already at minimum|assert all_groups_norm > 0",
        cause="Numbers left the range of float16: the loss became inf or nan at every scale",
        remedy="Train in bfloat16 where the GPU has it (Ampere and newer: bf16=True, fp16=False), lower the learning rate, and look for a batch that makes nan (torch.autograd.set_detect_anomaly(True))",
        checks=("gpu-features",),
        says=("Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.",),
        sources=("the wording as programs print it; no thread was read for it, 2026-11-26",),
        likely=True,
    ),
    KnownError(
        id="zero-incompatible",
        pattern=r"no sync context manager is incompatible with gradient partitioning|is not compatible with `?device_map`?|zero stage 3 requires an optimizer|DeepSpeed Zero-3 is not compatible with",
        cause="Options of DeepSpeed's ZeRO and of the trainer exclude each other: ZeRO shards weights and gradients itself, so that device_map, low_cpu_mem_usage, no_sync, or evaluation without an optimizer cannot be had with it",
        remedy="Leave device_map and low_cpu_mem_usage out; use gradient_accumulation_steps of the DeepSpeed configuration instead of no_sync (upgrade accelerate, which does so since 1.2); for evaluation alone use ZeRO-3 inference or no DeepSpeed",
        command="python -m pip install -U accelerate transformers deepspeed",
        says=("AssertionError: It is not compatible with `device_map`",),
        sources=("the wording as programs print it; no thread was read for it, 2026-11-26",),
        likely=True,
    ),
    KnownError(
        id="launcher-remark",
        pattern=r"Unable to find hostfile, will proceed with training with local resources|srun command is available on your system but is not used",
        cause="A remark of the launcher: DeepSpeed found no list of hosts and uses this machine alone, or Lightning was not started with srun on a machine that has Slurm. No failure comes from it",
        remedy="Nothing, where one machine is meant; several: deepspeed --hostfile FILE, or srun python PROGRAM in a job. What failed, if anything did, stands further down",
        says=(
            "[WARNING] [runner.py:117:fetch_hostfile] Unable to find hostfile, will proceed with training with local resources only.",
        ),
        sources=(
            thread("deepspeedai/DeepSpeed", 618, "2020-12-25"),
            thread("experimaestro/experimaestro-python", 104, "2025-04-04"),
        ),
        level="warning",
    ),
    KnownError(
        id="threads-remark",
        pattern=r"Setting OMP_NUM_THREADS environment variable for each process to be 1",
        cause="A remark of torchrun: with several processes on a host it gives each one thread, so that they do not take each other's cores. It is no error, and no failure comes from it",
        remedy="Nothing, where the GPUs are busy. Where processes wait for work on the CPU (loading, preprocessing), set cores divided by processes: export OMP_NUM_THREADS=8; that also silences it",
        command="export OMP_NUM_THREADS=$(($(nproc) / 8))",
        says=(
            "W1110 17:26:36.056000 124020523139072 torch/distributed/run.py:779] Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid your system being overloaded",
        ),
        sources=(torch_file("torch/distributed/run.py"),),
        level="warning",
    ),
    KnownError(
        id="sharded-weight",
        pattern=r"'weight' must be 2-D|weight (?:should|must) have at least (?:two|three|2|3) dimensions|size mismatch[^\n]{0,80}torch\.Size\(\[0\]\)",
        cause="A weight was used while it was sharded: with FSDP or DeepSpeed ZeRO-3 a parameter is whole only inside of the forward of the module that is wrapped, and code called another way to it (the model inside of the wrapper, an attribute, a loss that holds the model)",
        remedy="Call the wrapped model itself (the one that prepare, FSDP or deepspeed.initialize returned) and its forward, also in the loss. To read or change weights outside: with FSDP.summon_full_params(model), module.unshard() of FSDP 2, or deepspeed.zero.GatheredParameters(params). In generate: synced_gpus=True. Upgrade the trainer (transformers, TRL, Sentence Transformers), which mostly does that by itself",
        says=("RuntimeError: 'weight' must be 2-D",),
        sources=(thread("huggingface/sentence-transformers", 3023, "2025-03-28"),),
        likely=True,
    ),
    KnownError(
        id="windows-own-name",
        pattern=r"client socket has failed to connect to \[(?P<name>[^\]\n]{1,120})\]:\d{1,5} \(system error: (?:10049|10061|10060|11001)\b",
        cause="Under Windows the processes look for rank 0 at {name}, which is not an address of this machine where it listens (Docker Desktop and virtual networks give the host such names)",
        remedy="On one machine: set MASTER_ADDR=127.0.0.1 (vLLM: VLLM_HOST_IP=127.0.0.1), and USE_LIBUV=0 where this torch was built without libuv; take host.docker.internal lines out of C:\\Windows\\System32\\drivers\\etc\\hosts. As a remark before a start that works it can stay",
        command="python -c 'import socket; print(socket.gethostbyname(socket.gethostname()))'",
        says=(
            "[W812 11:56:08.000000000 socket.cpp:755] [c10d] The client socket has failed to connect to [host.docker.internal]:12594 (system error: 10049 - The requested address is not valid in its context.).",
        ),
        sources=(thread("SystemPanic/vllm-windows", 19, "2025-08-12"),),
        likely=True,
    ),
)
