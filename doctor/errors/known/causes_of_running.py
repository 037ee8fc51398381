"""Why a run stops on a GPU, among several processes, or in the compiler: what tells the reasons of one message apart."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import Cause

KILLED = (
    Cause(
        "The host's memory (not the GPU's) was used up",
        "sudo dmesg -T | grep -iE 'out of memory|killed process' names the process at that minute; free -h while it runs",
        "load less at once: fewer data loader workers and processes that each hold the model, low_cpu_mem_usage and mmap=True, smaller shards; builds with MAX_JOBS=1; more memory or swap (Windows and WSL: memory= in .wslconfig)",
    ),
    Cause(
        "The limit of the container or job was reached",
        "docker inspect CONTAINER | grep OOMKilled, kubectl describe pod (OOMKilled), sacct -j JOB -o State,ReqMem,MaxRSS (OUT_OF_MEMORY)",
        "docker: --memory and Docker Desktop's settings; Kubernetes: resources.limits.memory; Slurm: --mem=64G or --mem-per-gpu; files in /dev/shm count as well",
        seen=r"[Dd]ocker|kube|pod|OOMKilled|slurm|srun|StepId|[Jj]ob",
        checks=("shm-size",),
    ),
    Cause(
        "Someone or something else ended it: the launcher after another rank's failure, a scheduler, a watchdog, kill -9",
        "dmesg has nothing; another rank has an earlier error in the log; the queue's time was over",
        "look for the first error of any rank by time (torchrun --log-dir logs --tee 3); sacct and the scheduler's mail say who ended it",
        seen=r"torch\.distributed\.elastic[^\n]{0,60}Sending process",
    ),
)

PRODUCT_REFUSED = (
    Cause(
        "This GPU has no such product: bfloat16 before Ampere, int8 or float8 where there is none, a batch or size that cuBLAS does not take",
        "the call names the type (CUDA_R_16BF, CUDA_R_8I); the same step in float32 works",
        "float16 or float32 in place of it (--dtype half, fp16=True), sizes in multiples of 8, no 8-bit loading on that card",
        seen=r"CUDA_R_16BF|CUDA_R_8|bf16|bfloat16|int8|fp8",
        checks=("gpu-features",),
    ),
    Cause(
        "An index was out of range in an earlier kernel (token, label, position), and this call met its result",
        "CUDA_LAUNCH_BLOCKING=1, or the same batch on the CPU, names another line",
        "correct that index: labels from 0 to classes - 1, tokens below num_embeddings (resize_token_embeddings), sequences not longer than the model",
        seen=r"[Ee]mbedding|label|Loss|token|ALLOC|EXECUTION_FAILED|INTERNAL",
    ),
    Cause(
        "Another cuBLAS was loaded than torch's, or this torch is older than the GPU (RTX 30 needs CUDA 11, RTX 40 and H100 CUDA 11.8, RTX 50 CUDA 12.8)",
        "env -u LD_LIBRARY_PATH python -c 'import torch; a = torch.ones(64, 64, device=\"cuda\"); print(torch.version.cuda, torch.cuda.get_device_name(), (a @ a).sum())': works only so, or fails there, too",
        "works only so: take other CUDA folders out of LD_LIBRARY_PATH, reinstall nvidia-cublas in torch's version; fails, too: the wheel that `torchlift doctor` prints",
        seen=r"[Ss]gemm|Sgemm|SgemmStridedBatched|RTX|cu1\d\d|/usr/local/cuda",
        checks=("library-path", "nvidia-pins", "gpu-architecture"),
    ),
    Cause(
        "There was no memory left for its workspace",
        "nvidia-smi shows the GPU nearly full at that moment; a smaller batch works",
        "smaller batch; end other programs on the GPU",
        seen=r"ALLOC_FAILED|NOT_INITIALIZED",
        checks=("memory-in-use",),
    ),
    Cause(
        "The GPU is AMD's, and ZLUDA stands in for CUDA: its cuBLAS does not find rocBLAS' or hipBLASLt's files for this card",
        "the card is a Radeon; the DLLs in torch/lib are ZLUDA's",
        "replace rocblas.dll and its library folder in the HIP SDK by those for this gfx (and zluda's cublasLt where hipBLASLt has the card); torch 2.3 for CUDA 11.8 asks for less; or AMD's own torch for Windows (ROCm 7)",
        seen=r"[Zz][Ll][Uu][Dd][Aa]|Radeon|gfx\d",
    ),
)

TWO_DEVICES = (
    Cause(
        "One GPU: an input, a label, a hidden state or a tensor made inside of the model stayed on the CPU",
        "the message names cuda:0 and cpu, and device_map is not used; print(x.device) before the last line of the program in the trace",
        "x = x.to(model.device) for inputs and labels; make new tensors with device=x.device; register constants with register_buffer, lists of modules as ModuleList; the optimizer after model.to()",
        seen=r"cuda:0 and cpu|cpu and cuda:0|found cpu|torch\.FloatTensor|mps",
    ),
    Cause(
        "device_map='auto' (or an offload) spread the model over GPUs and CPU, and code beside it puts something on one of them",
        "model.hf_device_map shows several devices; CUDA_VISIBLE_DEVICES=0 (one GPU) works",
        "inputs to the device of the first layer; keep blocks whole (no_split_module_classes, _no_split_modules), upgrade transformers and accelerate; for training one GPU a process: device_map={'': LOCAL_RANK}",
        seen=r"cuda:[1-9]|device_map|accelerate|hooks\.py|offload|hf_device",
    ),
    Cause(
        "A replica of DataParallel, or a process of another rank, uses what was put on cuda:0 by name",
        "only with several GPUs; replica 1 on device 1, or .cuda() and 'cuda' in the code",
        "torch.cuda.set_device(LOCAL_RANK) first; .to(x.device) instead of .cuda(); DistributedDataParallel with one process a GPU in place of DataParallel",
        seen=r"replica|DataParallel|rank|cuda:[1-9]",
    ),
)

NCCL_FAILED = (
    Cause(
        "The network between the hosts: an interface was taken that does not lead to the others, or a firewall",
        "several hosts; the NCCL WARN line has connect, socket, Connection refused, No route to host or timed out",
        "NCCL_SOCKET_IFNAME=INTERFACE (and GLOO_SOCKET_IFNAME) on each host (ip -br address), all ports open between them",
        seen=r"connect to|socketStartConnect|[Rr]efused|[Nn]o route|timed out",
    ),
    Cause(
        "Shared memory: /dev/shm of the container is too small",
        "the WARN line has /dev/shm, posix_fallocate, No space left or unable to allocate shared memory; df -h /dev/shm says 64M",
        "docker run --shm-size=16g or --ipc=host; Kubernetes: an emptyDir of medium Memory at /dev/shm",
        seen=r"/dev/shm|posix|[Nn]o space|shared memory",
        checks=("shm-size",),
    ),
    Cause(
        "InfiniBand or RoCE is there and not usable",
        "the WARN line has ibv_, NET/IB or Cannot allocate memory; NCCL_IB_DISABLE=1 works",
        "ulimit -l unlimited (container: --ulimit memlock=-1), give it /dev/infiniband; or leave NCCL_IB_DISABLE=1, slower",
        seen=r"ibv_|NET/IB|mlx|infiniband",
        checks=("memlock-limit",),
    ),
    Cause(
        "Direct access between the GPUs does not work here (a virtual machine, IOMMU or ACS on, cards without it)",
        "one host, several GPUs, at the first collective; NCCL_P2P_DISABLE=1 works",
        "leave it so, or switch ACS and IOMMU off in the BIOS; `torchlift doctor --smoke burn` measures each pair",
        seen=r"P2P|peer access|cuda failure|Cuda failure|\bIPC\b",
    ),
    Cause(
        "Another rank ended or has another state: an error, two ranks on one GPU, other releases of torch or NCCL",
        "its log has an earlier error; python -c 'import torch; print(torch.cuda.nccl.version())' differs between hosts",
        "mend that error first (torchrun --log-dir logs --tee 3); torch.cuda.set_device(LOCAL_RANK) before the first collective; the same environment on all",
        seen=r"remote process exited|closed by|aborted|[Dd]uplicate",
        checks=("nccl-engine",),
    ),
)

NOT_MET = (
    Cause(
        "The process that hosts the rendezvous (rank 0) did not start, is still loading, or ended early",
        "its log is empty or has an error before this time; ss -ltnp | grep 29500 on its host shows no listener",
        "mend its error first; start all nodes within the timeout; where loading takes long: init_process_group(timeout=datetime.timedelta(hours=1))",
    ),
    Cause(
        "The other hosts do not reach it: a name that resolves to 127.0.1.1, another interface, a firewall, a closed port",
        "nc -vz MASTER_ADDR MASTER_PORT from the other host fails; getent hosts MASTER_ADDR shows a loopback address",
        "MASTER_ADDR as the IP address that the others see (ip -br address), the port open, GLOO_SOCKET_IFNAME and NCCL_SOCKET_IFNAME the same network",
        seen=r"127\.0\.1\.1|hostname|kubernetes\.docker\.internal|No route|IPv6",
    ),
    Cause(
        "The numbers do not agree: nnodes, nproc-per-node, node rank, another --rdzv-id, or a job that is left over",
        "fewer processes run than WORLD_SIZE (nnodes x nproc-per-node); ps aux | grep torchrun shows an older one",
        "the same command on all nodes but for --node-rank; end what is left; another port",
        seen=r"nnodes|\d/\d clients",
    ),
    Cause(
        "On one machine: the name of the host is not resolved, or a VPN or proxy is in between (Windows, macOS, WSL)",
        "a single node with --standalone works",
        "torchrun --standalone --nproc-per-node=N, or MASTER_ADDR=127.0.0.1; Windows: USE_LIBUV=0 and GLOO_SOCKET_IFNAME",
        seen=r"[Ww]indows|[A-Z]:\\|localhost|docker\.internal|/Users/",
    ),
)

NO_AMD_CARD = (
    Cause(
        "This user may not open the devices, or the container was not given them",
        "ls -l /dev/kfd /dev/dri and id: no group render or video; in a container they are missing",
        "sudo usermod -aG render,video $USER and a new login; docker run --device /dev/kfd --device /dev/dri --group-add video --security-opt seccomp=unconfined",
        seen=r"[Dd]ocker|container|ermission|/dev/kfd",
    ),
    Cause(
        "The card (or the processor's graphics) is not one that this ROCm supports, or the kernel's amdgpu does not drive it",
        "rocminfo | grep gfx does not list it, or its gfx is not in the list of torch's ROCm (python -c 'import torch; print(torch.version.hip, torch.cuda.get_arch_list())')",
        "the newest torch for ROCm and kernel; a near relative: HSA_OVERRIDE_GFX_VERSION=10.3.0 (RDNA 2) or 11.0.0 (RDNA 3), at one's own risk",
        seen=r"gfx\d|RX ?\d{4}|Radeon|[Ii]ntegrated|APU|Ryzen",
    ),
    Cause(
        "A variable hides it",
        "env | grep -E 'HIP_VISIBLE|ROCR_VISIBLE|CUDA_VISIBLE'",
        "unset HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES",
        seen=r"VISIBLE_DEVICES",
    ),
    Cause(
        "WSL or Windows: ROCm works there with few cards and AMD's own driver only",
        "uname -r says microsoft, or the path is of Windows",
        "AMD's page `ROCm on WSL` or `on Radeon, Windows` names cards and drivers; else Linux itself, DirectML or Vulkan",
        seen=r"WSL|wsl|microsoft|[A-Z]:\\|[Ww]indows",
    ),
)

ROCM_FAILED = (
    Cause(
        "This ROCm has no code for the card, or runs code of another one",
        "rocminfo | grep gfx against python -c 'import torch; print(torch.cuda.get_arch_list())'; env | grep HSA_OVERRIDE is set",
        "the newest torch for ROCm (for the newest cards AMD's nightly wheels for that gfx), the override away; a card that no ROCm lists: HSA_OVERRIDE_GFX_VERSION of its nearest relative only",
        seen=r"gfx\d|TensileLibrary|code object|OVERRIDE|RX ?\d{4}",
    ),
    Cause(
        "A compiled extension was made for CUDA or for another card (apex, flash-attn, bitsandbytes, fused kernels)",
        "python -c 'import torch; x = torch.rand(2048, 2048).cuda(); print((x @ x).sum())' works; AMD_SERIALIZE_KERNEL=3 names a kernel of the package",
        "switch it off (sdpa or eager attention, --no-gradient-accumulation-fusion), or build it for this card: PYTORCH_ROCM_ARCH=gfx90a",
        seen=r"fused|flash|apex|megatron|Megatron|bitsandbytes|extension|deepspeed|xformers|triton",
    ),
    Cause(
        "Libraries of two ROCm releases, or a stale cache of kernels",
        "ls -d /opt/rocm*; python -c 'import torch; print(torch.version.hip)' is another release and LD_LIBRARY_PATH has /opt/rocm",
        "unset LD_LIBRARY_PATH; rm -rf ~/.cache/miopen ~/.config/miopen ~/.triton/cache; one ROCm release",
        seen=r"cache|\.so[.\d]*: |undefined symbol|version",
        checks=("library-path",),
    ),
    Cause(
        "The compiler that MIOpen calls (clang-ocl, hiprtc, amd_comgr) failed, was interrupted, or cannot write to its folder",
        "Can't execute cd /tmp/...; /opt/rocm/bin/clang-ocl ..., [Compile] or hiprtcCompileProgram: run that whole command by itself: its last lines are the compiler's own error; df -h /tmp; ls /opt/rocm*/bin/clang-ocl",
        "not found: apt install rocm-clang-ocl (hipcc, rocm-device-libs) of the same ROCm; /tmp full or mounted noexec: export TMPDIR=/OTHER; after Ctrl-C: nothing; an error of the compiler: a newer ROCm",
        seen=r"clang-ocl|\[Compile\]|hiprtc|comgr|tmp_dir",
    ),
    Cause(
        "Memory ran out, or the card hung",
        "rocm-smi while it runs; sudo dmesg | grep -i amdgpu shows a reset, ring timeout or page fault",
        "smaller batch; newer kernel and linux-firmware; several cards: NCCL_P2P_DISABLE=1, iommu=pt",
        seen=r"[Oo]ut of memory|OUT_OF_MEMORY|OutOfMemory|ALLOC_FAILED|hang|Hang|reset",
    ),
)

COMPILER_STAGE = (
    Cause(
        "The model's own code fails, with or without the compiler",
        "TORCHDYNAMO_DISABLE=1 python PROGRAM fails, too",
        "mend that error (shapes, devices, dtypes): it is the one that is shown then",
        seen=r"TorchRuntimeError|fake tensors|size|shape|device|dtype",
    ),
    Cause(
        "Dynamo cannot trace a piece of Python (an object, a C extension, a custom operator without a fake implementation)",
        "torch.compile(m, backend='eager') fails; the lines behind `from user code:` name the place",
        "@torch.compiler.disable on that function (or fullgraph=False), torch.library.register_fake for an operator of one's own, a newer torch",
        seen=r"InternalTorchDynamoError|Unsupported|from user code|symbolic_convert|BuiltinVariable|UserDefined",
    ),
    Cause(
        "An operator has no rule for differentiation or decomposition",
        "backend='eager' works, 'aot_eager' fails",
        "upgrade torch and the package of the operator; exclude that part",
        seen=r"aot_autograd|functionaliz|joint|decomp",
    ),
    Cause(
        "Inductor, Triton or the C++ compiler fails",
        "'aot_eager' works, only 'inductor' fails; the exception behind `raised:` is of triton, ptxas, CppCompileError or a CalledProcessError",
        "no compiler or headers: apt-get install gcc g++ python3-dev; Triton: the one that torch pins (python -m pip check); Windows: triton-windows and Build Tools; a defect: a newer torch; until then backend='aot_eager' or TORCH_COMPILE_DISABLE=1",
        seen=r"inductor|[Tt]riton|ptxas|CppCompile|CalledProcess|LoweringException|cuda_utils|gcc|cl\.exe",
    ),
)

TORCH_ASSERTS = (
    Cause(
        "The GPU or its memory after an earlier error, or a feature that this driver or card does not have",
        "the file is below c10/cuda or aten/src/ATen/cuda; CUDA_LAUNCH_BLOCKING=1 shows an earlier call",
        "look for the first error above; take expandable_segments and cudaMallocAsync out of PYTORCH_ALLOC_CONF; `torchlift doctor --smoke`",
        seen=r"c10/cuda|ATen/cuda|CUDACachingAllocator|ATen/native/cuda",
    ),
    Cause(
        "TorchScript or the older ONNX exporter has a defect at this model",
        "the file is below torch/csrc/jit or torch/csrc/onnx",
        "torch.onnx.export(..., dynamo=True) or torch.export in its place; a newer torch; in-place operations and slices written otherwise in the part that is named",
        seen=r"csrc/jit|csrc/onnx|alias_analysis|torch/onnx",
    ),
    Cause(
        "torch was imported twice or only in part",
        "the file is torch/csrc/Dtype.cpp, DynamicTypes or Device.cpp, after an import that failed, in a notebook",
        "restart the process (the notebook's kernel) and import torch first",
        seen=r"csrc/(?:Dtype|DynamicTypes|Device|Module|python_)|docstring|tp_dict",
    ),
    Cause(
        "A worker, hook or thread used a graph or process group that had ended",
        "the file is below autograd or distributed (c10d); another rank or thread has an earlier error",
        "the first error by time of all ranks and threads; destroy_process_group() at the end",
        seen=r"csrc/autograd|distributed|c10d|reducer",
    ),
    Cause(
        "A defect of this release on this input or device",
        "the text of the assertion is in torch's issues; a newer torch does not show it",
        "take the newest torch; print shapes, strides, dtypes and devices before the call (empty tensors, views and mixed devices are frequent), x.contiguous()",
    ),
)

RUNNER_ENDED = (
    Cause(
        "Weights, context and buffers do not fit into the GPU's memory",
        "nvidia-smi while it loads; the log says out of memory, failed to allocate or cudaMalloc",
        "a smaller context (num_ctx, n_ctx=4096), fewer layers on the GPU (num_gpu, n_gpu_layers), a smaller quantization, other programs ended",
        seen=r"alloc|memory|context",
        checks=("memory-in-use",),
    ),
    Cause(
        "The file is not whole, or of a model that this release does not know",
        "the log says unknown model architecture, invalid magic, tensor not found or wrong number of tensors",
        "upgrade the program (pip install -U --no-cache-dir llama-cpp-python; ollama's installer), fetch the model anew",
        seen=r"load model|architecture|tensor|gguf|GGUF",
    ),
    Cause(
        "The GPU's code crashed: driver, card or build do not fit",
        "it works on the CPU (CUDA_VISIBLE_DEVICES=-1, n_gpu_layers=0, OLLAMA_LLM_LIBRARY=cpu); the log has CUDA error, ROCm error, illegal instruction",
        "a newer driver and program; AMD: HSA_OVERRIDE_GFX_VERSION or Vulkan; an old processor without AVX2: a build for it",
        seen=r"CUDA error|ROCm|exit status 2|SIG|illegal|0xc0",
        checks=("driver-too-old",),
    ),
)

OWN_IMPORT = (
    Cause(
        "A file or folder of the program bears the name of the package that it wants",
        "the path in the message (or python -c 'import NAME; print(NAME.__file__)') is not in site-packages",
        "rename it (and its .pyc in __pycache__), or start from another folder",
        seen=r"\((?!\S{0,200}(?:site|dist)-packages)[^)\n]{1,200}\.py\)",
    ),
    Cause(
        "An import inside of the package failed before",
        "another exception stands further up, or an earlier cell failed; the path is in site-packages",
        "mend that first one; restart the notebook's kernel; python -c 'import NAME' in a new shell shows it",
        seen=r"During handling|above exception|ipykernel|In \[",
    ),
    Cause(
        "The package is not whole, or two of its parts are of different releases",
        "the path is in site-packages, and python -m pip check or a second distribution of that name (pip list | grep -i NAME) shows it",
        "python -m pip uninstall -y NAME until it finds none, delete the folder that stays, install it again",
        seen=r"site-packages|dist-packages",
    ),
    Cause(
        "Two modules import each other, in the package's own code",
        "all paths are of the same package, and a fresh install of that release shows it, too",
        "another release of the package; in code of one's own move the import into the function that needs it",
    ),
)

GGML_REFUSED = (
    Cause(
        "Copies between GPUs fail: cards that cannot reach each other, or that release's code for several",
        "only with several GPUs: CUDA_VISIBLE_DEVICES=0 works; the text says Multi-GPU, peer or device N",
        "use one GPU (CUDA_VISIBLE_DEVICES=0, --split-mode none, main_gpu=0); upgrade llama.cpp; build it with -DGGML_CUDA_NO_PEER_COPY=ON",
        seen=r"Multi-GPU|peer|device [1-9]|device1",
        checks=("peer-access",),
    ),
    Cause(
        "The program was built for other GPUs or a newer CUDA than card and driver have",
        "at the first computation, also with a small model on one GPU; invalid device function, no kernel image, unsupported toolchain or PTX, invalid device symbol",
        "a newer driver; build it here: CMAKE_ARGS='-DGGML_CUDA=on -DCMAKE_CUDA_ARCHITECTURES=native' pip install --no-cache-dir --force-reinstall llama-cpp-python",
        seen=r"device (?:function|symbol)|kernel image|toolchain|PTX|provided",
        checks=("driver-too-old", "extension-architecture"),
    ),
    Cause(
        "A defect of that release with this model, quantization or flash attention",
        "-ngl 0 works, or without -fa, or with another quantization; illegal memory access",
        "upgrade the program; leave out -fa and a quantized cache; a smaller context",
        seen=r"illegal memory|invalid argument|misaligned|launch failure",
    ),
)

GPU_BUSY = (
    Cause(
        "Another process holds the GPU, and its compute mode lets in only one (or none)",
        "nvidia-smi -q -d COMPUTE says Exclusive_Process or Prohibited, and nvidia-smi lists a process; on a cluster two ranks or a parent and its child use one GPU",
        "end the other process (a notebook's kernel), one process a GPU; where one may: sudo nvidia-smi -c DEFAULT",
        checks=("compute-mode",),
    ),
    Cause(
        "The compute mode is Default, and driver or GPU does not let any program start: it was upgraded while in use, or the GPU hangs",
        "python -c 'import torch; torch.zeros(1).cuda()' alone fails, too, while torch.cuda.is_available() is True; sudo dmesg | grep -iE 'xid|nvrm'",
        "end all that uses the GPU, sudo nvidia-smi --gpu-reset (or restart the machine), then a newer driver",
        checks=("xid-errors", "driver-version-mismatch"),
    ),
    Cause(
        "It is a part of a GPU in a virtual machine (GRID, vGPU): its profile is not for computing, or it has no licence",
        "nvidia-smi shows GRID or a name such as T4-8Q, and nvidia-smi -q | grep -i licen says Unlicensed",
        "a licence and a profile for computing (C, or Q with CUDA switched on) by whoever runs the host, guest and host driver of one release",
        seen=r"GRID|vGPU|T4-\d+Q|A\d+-\d+[QC]",
    ),
    Cause(
        "The GPU is in MIG mode, or the process was forked after CUDA had started",
        "nvidia-smi -L lists MIG instances; the trace comes from multiprocessing",
        "CUDA_VISIBLE_DEVICES=MIG-UUID of one instance; multiprocessing with spawn",
        seen=r"MIG|multiprocessing|fork",
        checks=("mig",),
    ),
)

NCCL_ARGUMENT = (
    Cause(
        "Another NCCL is loaded than the one this torch was built with",
        "`Invalid config blocking attribute value`, or the release behind `NCCL version` is older than python -c 'import torch; print(torch.cuda.nccl.version())'; env | grep -E 'LD_LIBRARY_PATH|LD_PRELOAD' or an nvidia-nccl package of another CUDA",
        "take the other NCCL out of LD_LIBRARY_PATH; python -m pip install --force-reinstall torch (it brings its nvidia-nccl)",
        seen=r"[Ii]nvalid config|attribute value",
        checks=("library-path", "nvidia-pins", "two-nvidia-families"),
    ),
    Cause(
        "A tensor that is handed over is empty, freed or on the CPU",
        "`sendbuff` or `recvbuff` `(nil) is not a valid pointer`; print(x.shape, x.device) before the collective that the trace names",
        "leave out empty tensors, keep the tensor until the collective has ended; with FSDP or ZeRO parameters that are on the meta device or were offloaded: load them first",
        seen=r"not a valid pointer|\(nil\)",
    ),
    Cause(
        "A rank, root or number of GPUs does not fit: more processes than GPUs, another --nproc-per-node on one host, a wrong root",
        "WORLD_SIZE is not nnodes x nproc-per-node, or `invalid root`, `invalid rank` stands behind `Last error:`",
        "the same command on all hosts, no more processes than nvidia-smi -L lists, world_size and rank from the launcher",
        seen=r"invalid (?:root|rank)|world_size|nranks",
        checks=("cuda-visible-devices",),
    ),
)

LOSS_WITHOUT_ALL = (
    Cause(
        "Some parameters do not take part in each step: a branch that is not taken, an output that the loss does not use, a head or encoder that is not called",
        "TORCH_DISTRIBUTED_DEBUG=DETAIL names them in the message; or, after one backward on one GPU: [n for n, p in model.named_parameters() if p.requires_grad and p.grad is None]",
        "requires_grad_(False) for those that are never used, return only what the loss uses, or find_unused_parameters=True (Lightning: strategy='ddp_find_unused_parameters_true'; accelerate: DistributedDataParallelKwargs; mmcv and mmengine: find_unused_parameters = True in the configuration)",
    ),
    Cause(
        "forward is called on the inner module, or returns what DistributedDataParallel does not search (a class of its own)",
        "find_unused_parameters=True does not help; the code calls model.module(...) or a method other than forward",
        "call the wrapped model itself; return tensors, tuples, lists or dicts",
    ),
    Cause(
        "A step was left out on one rank: two forward passes before one backward, an exception or `continue` on bad data, no_sync() without its end",
        "it comes after some steps only, or with gradient accumulation or a GAN",
        "each forward with its backward on all ranks; model.no_sync() around the steps that only accumulate",
    ),
)
