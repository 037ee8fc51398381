"""Several processes: torchrun, process groups, NCCL and Gloo."""

from __future__ import annotations

from torchlift.doctor.errors.codes import cuda_codes
from torchlift.doctor.errors.known.causes_of_running import (
    LOSS_WITHOUT_ALL,
    NCCL_ARGUMENT,
    NCCL_FAILED,
    NOT_MET,
    TWO_DEVICES,
)
from torchlift.doctor.errors.known.several_causes import TIMED_OUT
from torchlift.doctor.errors.known_error import KnownError, thread, torch_file

ROWS = (
    KnownError(
        id="geforce-peer-to-peer",
        pattern=r"RTX \d000 series doesn't support faster communication broadband via P2P or IB",
        cause="Accelerate refuses to start on several GeForce cards of this series until direct copies between GPUs are switched off",
        remedy="Set NCCL_P2P_DISABLE=1 and NCCL_IB_DISABLE=1, or start with accelerate launch, which sets them",
        command="export NCCL_P2P_DISABLE=1 NCCL_IB_DISABLE=1",
        checks=("peer-access",),
        says=(
            "NotImplementedError: Using RTX 4000 series doesn't support faster communication broadband via P2P or IB. Please set "
            '`NCCL_P2P_DISABLE="1"` and `NCCL_IB_DISABLE="1" or use `accelerate launch` which will do this automatically.',
        ),
        sources=(thread("QwenLM/Qwen-VL", 447, "2024-08-22"), thread("cocktailpeanut/fluxgym", 283, "2024-12-31")),
    ),
    KnownError(
        id="duplicate-gpu",
        pattern=r"Duplicate GPU detected",
        cause="Two ranks use the same GPU: each process must choose its own before it communicates, and there must be as many "
        "GPUs in view as ranks",
        remedy="Call torch.cuda.set_device(local_rank) first, pass device_id to init_process_group (`torchlift migrate` does: "
        "TL201), and start no more ranks than GPUs",
        checks=("cuda-visible-devices", "gpu-missing", "mig"),
        says=("Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 10",),
        sources=(thread("verl-project/verl", 161, "2025-01-29"), thread("NVIDIA/Megatron-LM", 661, "2024-01-14")),
    ),
    KnownError(
        id="nccl-memlock",
        pattern=r"ibv_(reg_mr|create_qp|create_cq|modify_qp|reg_mr_iova2|reg_dmabuf_mr)\w{0,20} failed.{0,60}Cannot allocate memory"
        r"|Failed to (register|lock) memory.{0,60}ulimit -l",
        cause="InfiniBand pins memory, and the process may not lock as much",
        remedy="Allow it: --ulimit memlock=-1 for containers, LimitMEMLOCK=infinity for services, memlock in limits.conf",
        command="ulimit -l unlimited",
        checks=("memlock-limit",),
        says=("NCCL WARN Call to ibv_create_cq failed with error Cannot allocate memory",),
        sources=(thread("deepseek-ai/DeepEP", 143),),
    ),
    KnownError(
        id="nccl-infiniband",
        pattern=r"NET/IBP? ?: ?Got (completion|async event)|vendor err (129|81|249)\b|ibv_modify_qp failed"
        r"|NET/IB : Unable to open device",
        cause="A transfer over InfiniBand or RoCE was not answered: a link, a switch or its configuration (GID index, MTU, "
        "traffic class), or the other rank had ended before",
        remedy="Look which rank failed first; try ib_write_bw between the two hosts; on RoCE set NCCL_IB_GID_INDEX; "
        "NCCL_IB_DISABLE=1 shows whether it is the fabric",
        says=(
            "NCCL WARN NET/IB : Got completion with error 12, opcode 0, len 0, vendor err 129",
            "NCCL WARN NET/IB : Got completion from peer 10.216.210.236<54862> with status=12 opcode=0 len=0 vendor err 129 (Recv)",
        ),
        sources=(
            thread("NVIDIA/nccl", 1405),
            thread("NVIDIA/nccl", 426, "2020-12-01"),
            thread("NVIDIA/nccl", 1664, "2025-04-01"),
        ),
        likely=True,
    ),
    KnownError(
        id="nccl-network",
        pattern=r"socket\w{0,30}: Connect to .{1,80}(failed|returned \d{1,4})|Call to connect .{0,80}(failed|returned)"
        r"|no socket interface found|Bootstrap : no|connect to .{1,60} failed : (No route to host|Connection (refused|timed out))",
        cause="NCCL on one host cannot reach the other: it chose a network that does not lead there (docker0, a VPN), or a "
        "firewall is between them",
        remedy="Name the network with NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME (`ip -br address` lists them; put its name for INTERFACE), and open all ports between the hosts",
        command="export NCCL_SOCKET_IFNAME=INTERFACE",
        says=(
            "socketStartConnect: Connect to 192.168.19.14<52822> failed : No route to host",
            "NCCL WARN socketPollConnect: Connect to 10.0.0.4<56849> returned 113(No route to host) errno 115(Operation now in "
            "progress)",
        ),
        sources=(thread("hkproj/pytorch-transformer-distributed", 1, "2024-03-18"), thread("sgl-project/sglang", 3820)),
    ),
    KnownError(
        id="peer-access",
        pattern=r"peer access is not supported between these two devices|failed to open CUDA IPC handle|cuMemImportFromShareable"
        r"Handle|cudaErrorPeerAccessUnsupported" + cuda_codes(217),
        cause="The program copies from GPU to GPU directly, which these cards, the slots that they are in, or a virtual machine "
        "do not allow",
        remedy="Set NCCL_P2P_DISABLE=1; switch off custom all-reduce where a server has it (vLLM: --disable-custom-all-reduce)",
        command="export NCCL_P2P_DISABLE=1",
        checks=("peer-access", "iommu", "mig"),
        says=(
            "RuntimeError: CUDA error: peer access is not supported between these two devices",
            "NCCL WARN failed to open CUDA IPC handle : 217 peer access is not supported between these two devices",
        ),
        sources=(
            thread("verl-project/verl", 1874, "2025-06-23"),
            thread("ray-project/ray_lightning", 24, "2021-03-30"),
        ),
    ),
    KnownError(
        id="collectives-differ",
        pattern=r"Detected mismatch between collectives on ranks|Ranks? .{1,60}is running (collective|inconsistent)",
        cause="Ranks called different collectives, or with different shapes: one took another branch of the program",
        remedy="Compare what the ranks do just before; TORCH_DISTRIBUTED_DEBUG=DETAIL names them",
        says=(
            "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: "
            "CollectiveFingerPrint(OpType=ALLREDUCE), but Rank 1 is running collective: CollectiveFingerPrint(OpType=BROADCAST).",
        ),
        sources=(torch_file("torch/lib/libtorch_cpu.so"),),
    ),
    KnownError(
        id="ddp-unused-parameters",
        causes=LOSS_WITHOUT_ALL,
        pattern=r"Expected to have finished reduction in the prior iteration before starting a new one",
        cause="In DistributedDataParallel some parameters got no gradient in a step",
        remedy="See which parameters these are",
        command="TORCH_DISTRIBUTED_DEBUG=DETAIL torchrun PROGRAM",
        says=("RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one.",),
        sources=(
            thread("Lightning-AI/pytorch-lightning", 5585, "2021-01-22"),
            thread("pytorch/pytorch", 22436, "2019-07-04"),
            torch_file("torch/lib/libtorch_cpu.so"),
        ),
    ),
    KnownError(
        id="port-in-use",
        pattern=r"server socket has failed to (listen|bind)|EADDRINUSE.{0,120}(29500|c10d|TCPStore)"
        r"|RuntimeError: Address already in use|bind: Address already in use|\bmaster_port\b.{0,80}(in use|occupied)|DistNetworkError.{0,160}EADDRINUSE",
        cause="The port of the rendezvous is taken, by another job on this host or one that has not ended",
        remedy="End what is left of the earlier job (ss -ltnp shows the process that has the port), or take another port: torchrun --master_port 29501 (0 with --standalone takes a free one), MASTER_PORT=29501 elsewhere. Under Slurm take one from the job's number, since other jobs share the node",
        command="ss -ltnp | grep 29500",
        says=(
            "[E socket.cpp:472] [c10d] The server socket has failed to listen on any local network address.",
            "[W socket.cpp:426] [c10d] The server socket has failed to bind to [::]:25641 (errno: 98 - Address already in use).",
            "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 29500, "
            "useIpv6: 0, code: -98, name: EADDRINUSE, message: address already in use",
        ),
        sources=(
            thread("hunto/DIST_KD", 10, "2023-07-05"),
            thread("bytedance/GR-MG", 11, "2024-12-04"),
            torch_file("torch/lib/libtorch_cpu.so"),
        ),
    ),
    KnownError(
        id="process-group-missing",
        pattern=r"Default process group has not been initialized|Default process group is not initialized",
        cause="Something that works across processes was called in a program that did not start a process group: it was started with python instead of torchrun, or on one GPU with a configuration for several (SyncBatchNorm, a distributed sampler, FSDP, DeepSpeed's layers), or the call comes before init_process_group",
        remedy="Start it with torchrun --nproc-per-node=GPUS (1 does too) and call torch.distributed.init_process_group first; for one process: replace SyncBN by BN in the configuration (mmcv: revert_sync_batchnorm), and ask torch.distributed.is_initialized() before such calls",
        command="torchrun --standalone --nproc-per-node=1 PROGRAM",
        says=(
            "RuntimeError: Default process group has not been initialized, please make sure to call init_process_group.",
        ),
        sources=(torch_file("torch/distributed/distributed_c10d.py"),),
        likely=True,
    ),
    KnownError(
        id="process-group-twice",
        pattern=r"trying to initialize the default process group twice|Default process group is already initialized",
        cause="init_process_group is called a second time in one process: by the program and by a library (accelerate, Lightning, DeepSpeed, vLLM), or by a cell or test that runs again",
        remedy="Leave it to one of them: write `if not torch.distributed.is_initialized()` before your call, and call destroy_process_group() at the end of each test or cell; in a notebook restart the kernel",
        says=("ValueError: trying to initialize the default process group twice!",),
        sources=(torch_file("torch/distributed/distributed_c10d.py"),),
    ),
    KnownError(
        id="rendezvous-unreachable",
        causes=NOT_MET,
        pattern=r"client socket has timed out|client socket has failed to connect to any network address|RendezvousConnectionError"
        r"|RendezvousTimeoutError|store based barrier on rank|\d{1,5} clients joined|TCP client failed to connect/validate|connection to the C10d store has failed"
        r"|hostname of the client socket cannot be retrieved|No socket on \(.{1,80}\) is listening yet"
        r"|network addresses of \([^)\n]{1,80}\) cannot be retrieved",
        cause="A process cannot reach the one that hosts the rendezvous",
        remedy="Look at the log of rank 0 first, then try its port from the other host: nc -vz HOST PORT",
        says=(
            "torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect to "
            "(172.17.0.9, 46229).",
            "TimeoutError: The client socket has timed out after 1800s while trying to connect to (127.0.0.1, 48391).",
            "torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the C10d store has failed.",
        ),
        sources=(
            thread("vllm-project/vllm", 19670),
            thread("lllyasviel/ControlNet", 382, "2023-05-03"),
            torch_file("torch/distributed/elastic/rendezvous/c10d_rendezvous_backend.py"),
        ),
    ),
    KnownError(
        id="libuv",
        pattern=r"use_libuv was requested but PyTorch was buil[dt] without libuv",
        cause="torch's builds for Windows have no libuv, and the store asks for it since torch 2.4",
        remedy="Switch it off",
        command="set USE_LIBUV=0",
        says=(
            "RuntimeError: use_libuv was requested but PyTorch was build without libuv support",
            "RuntimeError: use_libuv was requested but PyTorch was built without libuv support, run with USE_LIBUV=0 to disable it.",
        ),
        sources=(thread("pytorch/pytorch", 139990, "2024-11-07"), torch_file("torch/lib/libtorch_cpu.so")),
    ),
    KnownError(
        id="no-nccl",
        pattern=r"Distributed package doesn't have (NCCL|MPI|XCCL|UCC) ?built in|ProcessGroupNCCL is only supported with GPUs, no "
        r"GPUs found",
        cause="This torch has no NCCL (it is a build for Windows, macOS or the CPU), or it sees no GPU",
        remedy="Use the backend gloo there; on Linux install the build for CUDA, and see that the GPUs are in view",
        checks=("torch-cpu-build", "driver-missing", "cuda-visible-devices"),
        says=(
            "RuntimeError: Distributed package doesn't have NCCL built in",
            "RuntimeError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!",
        ),
        sources=(torch_file("torch/distributed/distributed_c10d.py"),),
    ),
    KnownError(
        id="gloo-device",
        pattern=r"makeDeviceFor(Hostname|Interface)\(\): unsupported gloo device|\[enforce fail at .{0,200}gloo.{0,200}"
        r"Unable to find (address|interface)|ifa != nullptr|unable to resolve hostname to a \(local\) address",
        cause="Gloo cannot turn this host's name into an address of its own",
        remedy="Name the network (`ip -br address` lists them; put its name for INTERFACE), and give the host's name an address in /etc/hosts",
        command="export GLOO_SOCKET_IFNAME=INTERFACE",
        says=("RuntimeError: makeDeviceForHostname(): unsupported gloo device",),
        sources=(torch_file("torch/lib/libtorch_cpu.so"),),
    ),
    KnownError(
        id="hang-up",
        pattern=r"got signal: 1\b|Signal 1 \(SIGHUP\)|Received 1 death signal",
        cause="The terminal or connection that started the job was closed, and took the job with it",
        remedy="Start it in tmux, below nohup or by the scheduler",
        says=("torch.distributed.elastic.multiprocessing.api.SignalException: Process 3429 got signal: 1",),
        sources=(torch_file("torch/distributed/elastic/multiprocessing/api.py"),),
    ),
    KnownError(
        id="nccl-invalid-usage",
        pattern=r"ncclInvalidUsage|invalid usage \(run with NCCL_DEBUG|, invalid usage, NCCL version",
        cause="NCCL was used as it may not be; the line behind `Last error:` says how: `Duplicate GPU detected`: two ranks use one GPU; otherwise ranks call different collectives or sizes",
        remedy="Choose the device of each process before it communicates (torch.cuda.set_device(int(os.environ['LOCAL_RANK']))), start no more processes than there are GPUs, and let CUDA_VISIBLE_DEVICES show each process all of them or its own one",
        command="NCCL_DEBUG=WARN torchrun PROGRAM",
        checks=("cuda-visible-devices",),
        says=("ncclInvalidUsage: This usually reflects invalid usage of NCCL library.",),
        sources=(thread("verl-project/verl", 161, "2025-01-29"),),
        level="vague",
    ),
    KnownError(
        id="nccl-invalid-argument",
        causes=NCCL_ARGUMENT,
        pattern=r"ncclInvalidArgument|, invalid argument,? (?:\(run with NCCL_DEBUG[^)]{0,30}\), )?NCCL version|NCCLUtils\.hpp:\d{1,5}, invalid argument|NCCL error: invalid argument|(?:sendbuff|recvbuff)\b.{0,40}is not a valid pointer",
        cause="NCCL was called with a value that it does not take; the line behind `Last error:` names it",
        remedy="Run again with NCCL_DEBUG=WARN where that line is missing",
        command="NCCL_DEBUG=WARN torchrun PROGRAM",
        checks=("library-path", "nvidia-pins", "two-nvidia-families", "cuda-visible-devices"),
        says=(
            "ncclInvalidArgument: Invalid value for an argument.",
            "RuntimeError: NCCL error in: /pytorch/torch/lib/c10d/../c10d/NCCLUtils.hpp:39, invalid argument",
            "Broadcast : sendbuff (nil) is not a valid pointer",
        ),
        sources=(
            thread("SpursGoZmy/Table-LLaVA", 4, "2024-07-25"),
            thread("NVIDIA/nccl", 1558, "2025-01-06"),
            thread("pytorch/examples", 484, "2018-12-27"),
        ),
        likely=True,
    ),
    KnownError(
        id="nccl-system-error",
        causes=NCCL_FAILED,
        pattern=r"unhandled system error|ncclSystemError",
        cause="A call to the system failed inside NCCL; the line behind `Last error:`, or the first `NCCL WARN` of any rank, names it",
        remedy="Run again with NCCL_DEBUG=WARN and read the first NCCL WARN of any rank",
        command="NCCL_DEBUG=WARN torchrun PROGRAM",
        checks=("shm-size", "memlock-limit", "nccl-engine"),
        says=(
            "RuntimeError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1333, unhandled system error (run "
            "with NCCL_DEBUG=INFO for details), NCCL version 2.18.6",
            "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.",
        ),
        sources=(thread("NVIDIA/nccl", 375, "2020-08-20"), thread("NVIDIA/nccl", 975, "2023-08-25")),
        level="vague",
        likely=True,
    ),
    KnownError(
        id="nccl-cuda-error",
        pattern=r"unhandled cuda error|ncclUnhandledCudaError",
        cause="NCCL met an error of CUDA; the line behind `Last error:`, or a line `NCCL WARN Cuda failure` with NCCL_DEBUG=WARN, names it: out of memory, no kernel image, driver too old, peer access, or the GPU had failed before",
        remedy="Run again with NCCL_DEBUG=WARN and ask for that line. out of memory: leave some of the GPU free; insufficient driver or no kernel image: `torchlift doctor` (NCCL's build and the driver); peer access: NCCL_P2P_DISABLE=1; illegal access, unspecified launch failure: an earlier kernel of the program (CUDA_LAUNCH_BLOCKING=1)",
        command="NCCL_DEBUG=WARN torchrun PROGRAM",
        checks=("driver-too-old", "gpu-architecture", "peer-access"),
        says=(
            "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:219, unhandled cuda "
            "error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5",
            "ncclUnhandledCudaError: Call to CUDA function failed.",
        ),
        sources=(thread("ray-project/ray_lightning", 24, "2021-03-30"),),
        level="vague",
        likely=True,
    ),
    KnownError(
        id="nccl-remote-error",
        pattern=r"ncclRemoteError|remote process exited or there was a network error|Connection closed by remote peer"
        r"|ncclInternalError",
        cause="NCCL lost another rank: that rank ended first (this line is an after-effect), or the network between them failed",
        remedy="Look for the first error, by time, among the logs of all ranks (torchrun --log-dir DIR --tee 3 keeps one for each): out of memory, a traceback, a kill. If none has one, it is the network: the line names the peer (address<port>); NCCL_DEBUG=WARN shows it on both ends, NCCL_SOCKET_IFNAME and NCCL_IB_HCA choose the interface, a firewall may close idle or high ports",
        says=(
            "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
            "NCCL WARN socketProgress: Connection closed by remote peer node1<57557>",
        ),
        sources=(thread("NVIDIA/nccl-tests", 166), thread("NVIDIA/nccl-tests", 15, "2018-10-29")),
        level="vague",
    ),
    KnownError(
        id="collective-timeout",
        causes=TIMED_OUT,
        pattern=r"Watchdog caught collective operation timeout|Some NCCL operations have failed or timed out|watchdog got stuck"
        r"|Timed out waiting \d{1,9}ms for (recv|send)|due to (watchdog hang|collective timeout)|monitoredBarrier"
        r"|HeartbeatMonitor.{0,80}(timed out|timeout)|Timeout at NCCL work: \d",
        cause="A collective did not end in its time",
        remedy="Compare SeqNum, OpType and NumelIn over the ranks: a rank that is missing, behind or different is the one to look at. TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 (torch 2.2 and newer) write what each was doing",
        checks=("iommu", "peer-access", "nvlink", "nccl-engine"),
        says=(
            "[rank1]:[E626 06:24:44.903881913 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: "
            "WorkNCCL(SeqNum=808, OpType=ALLREDUCE, NumelIn=9801523, NumelOut=9801523, Timeout(ms)=600000) ran for 600020 "
            "milliseconds before timing out.",
            "RuntimeError: Some NCCL operations have failed or timed out.",
        ),
        sources=(
            thread("XPixelGroup/BasicSR", 737, "2025-06-26"),
            thread("pytorch/pytorch", 118369, "2024-02-17"),
            thread("NVIDIA/nccl", 1409, "2024-08-19"),
        ),
        level="vague",
        likely=True,
    ),
    KnownError(
        id="store-gone",
        pattern=r"Failed to recv, got 0 bytes|TCPStore.{0,120}(Broken pipe|Connection reset|Connection was likely closed|failed to recv)|recvValue failed|(RuntimeError|DistNetworkError): (Connection reset by peer|Connection refused|Broken pipe)$|RPC agent for \d{1,4} encountered error|Read callback failed\. code:"
        r"|sendBytes failed|Failed to check the .{0,10}should dump.{0,10} flag|client socket has failed to connect to|what\(\): {1,3}Transport endpoint is not connected"
        r"|gloo/transport/tcp/pair\.cc.{0,80}(Connection (closed|reset)|Timed out)",
        cause="The connection to another rank, or to the store on rank 0, is gone: that process ended first, so that this line is an after-effect",
        remedy="Look for the first error, by time, in the log of rank 0 and of the host that is named (torchrun --log-dir DIR --tee 3): a traceback, a kill for memory, a time limit. If rank 0 had ended well, it left before the others: dist.barrier() and destroy_process_group() at the end. From the start on: the address or port is not reachable (nc -vz MASTER_ADDR MASTER_PORT)",
        says=(
            '[rank1]:[W1101 ProcessGroupNCCL.cpp:1683] [PG ID 0 PG GUID 0 Rank 1] Failed to check the "should dump" flag on '
            "TCPStore, (maybe TCPStore server has shut down too early), with error: Broken pipe",
            "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:45234",
            "[W427 01:04:16.149509694 socket.cpp:752] [c10d] The client socket has failed to connect to [::ffff:198.18.0.1]:3254 "
            "(errno: 110 - Connection timed out).",
        ),
        sources=(thread("gensyn-ai/rl-swarm", 197, "2025-04-26"), torch_file("torch/lib/libtorch_cpu.so")),
        level="vague",
    ),
    KnownError(
        id="worker-failed",
        pattern=r"ChildFailedError|Root Cause \(first observed failure\)|Engine core initialization failed|Engine process failed "
        r"to start|torch\.multiprocessing\.spawn\.Process(Raised|Exited)Exception|EngineDeadError|EngineCore failed to start|EngineCore encountered a fatal error|Rank \d{1,3} scheduler died|scheduler_\d hit an exception|exitcode ?: -(6|11)\b"
        r"|failed \(exitcode: -?\d{1,3}\) local_rank|exits with return code = -?\d",
        cause="This only says that a worker process failed; why stands in that process's own output. exitcode 1: a Python exception; -9: killed, nearly always for want of main memory; -11: a crash of a compiled part; -6: an abort, mostly of NCCL's watchdog or CUDA",
        remedy="Look above this summary for the first traceback of the rank under `Root Cause` (its lines begin with [rankN] or [N]); for -9 at sudo dmesg | grep -i oom. Nothing is there: run again with a log per rank, torchrun --log-dir logs --tee 3 PROGRAM (or @record on main, which puts the traceback into the summary; vLLM: the lines of EngineCore above), and ask with that file",
        command="torchlift doctor --explain-error LOG_OF_THAT_RANK",
        says=(
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
            "RuntimeError: Engine core initialization failed. See root cause above.",
        ),
        sources=(
            thread("pytorch/pytorch", 91278, "2022-12-21"),
            torch_file("torch/distributed/elastic/multiprocessing/errors"),
        ),
        level="vague",
    ),
    KnownError(
        id="tensors-on-two-devices",
        causes=TWO_DEVICES,
        pattern=r"Expected all tensors to be on the same device, but (found at least two devices, (?P<name>[\w:]{1,12}( and [\w:]{1,12})?)|got)|expected device cuda:\d{1,3} but got device cuda:\d{1,3}|[Aa]rguments are located on different GPUs|tensors? (is|are) on different GPUs?\b"
        r"|module must have its parameters and buffers on device cuda:\d{1,3}|Expected tensor to have \S{1,12} Device, but got tensor with|Input, output and indices must be on the current device|Expected object of device type \w{2,8} but got device type|Tensor for argument #\d{1,2} .{1,30} is on \w{2,8}, but expected"
        r"|Input type \((torch\.cuda\.|CUDA)\w{3,30}\) and (weight|bias) type \((torch\.(?!cuda)|CPU)|Input type \((torch\.(?!cuda)|CPU)\w{3,30}\) and (weight|bias) type \((torch\.cuda\.|CUDA)",
        cause="One operation got tensors of different devices",
        remedy="The last frame in the program's own code shows which tensors: print their .device before it",
        command="CUDA_VISIBLE_DEVICES=0 python PROGRAM",
        says=(
            "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cuda:0!",
            "RuntimeError: expected device cuda:0 but got device cuda:1",
            "RuntimeError: arguments are located on different GPUs",
            "RuntimeError: Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same",
        ),
        sources=(
            thread(
                "YutingXiao/Amodal-Segmentation-Based-on-Visible-Region-Segmentation-and-Shape-Prior", 6, "2021-06-13"
            ),
            thread("OpenNMT/OpenNMT-py", 921, "2018-08-25"),
            thread("rmihaylov/mpttune", 8),
        ),
        likely=True,
    ),
    KnownError(
        id="gpu-number-in-torch",
        pattern=r"device >= 0 && device < num_gpus[^\n]{0,20} INTERNAL ASSERT FAILED|CUDAContext\.cpp\W{0,3}:? ?\d{1,4}",
        cause="torch was asked for a GPU by a number that this process does not have: CUDA_VISIBLE_DEVICES was changed after torch had counted the GPUs (Ray, vLLM and launchers do so), or a rank of another host is taken for a device",
        remedy="Set CUDA_VISIBLE_DEVICES before Python starts, not after torch is imported; use LOCAL_RANK for the device, not RANK. With Ray and vLLM or OpenRLHF: unset CUDA_VISIBLE_DEVICES before `ray start`, take the releases that are named together, and "
        "RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES=1 where the library says so",
        checks=("cuda-visible-devices",),
        says=(
            'RuntimeError: device >= 0 && device < num_gpus INTERNAL ASSERT FAILED at "../aten/src/ATen/cuda/CUDAContext.cpp":49, please report a bug to PyTorch.',
        ),
        sources=(thread("OpenRLHF/OpenRLHF", 866, "2025-03-13"),),
        likely=True,
    ),
    KnownError(
        id="nccl-internal-error",
        causes=NCCL_FAILED,
        pattern=r"NCCL[^\n]{0,120}\binternal error\b|ncclInternalError|NCCL communicator was aborted|Proxy Call to rank \d{1,5} failed",
        cause="NCCL failed in its own set-up, or another rank ended and took the communicator along",
        remedy="Run again with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET: the first WARN of any rank names the call; without one, the switch below that helps names the cause",
        command="NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET torchrun ...".replace("...", "PROGRAM"),
        checks=("nccl-engine", "iommu", "peer-access", "shm-size", "memlock-limit"),
        says=(
            "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1691, internal error - please report this issue to the NCCL developers, NCCL version 2.18.1",
            "RuntimeError: NCCL communicator was aborted on rank 1.",
        ),
        sources=(
            "the wording as programs print it; no thread was read for it, 2026-11-26",
            "docs.nvidia.com/deeplearning/nccl, troubleshooting and environment variables, by their names, 2026-11-26",
        ),
        likely=True,
    ),
    KnownError(
        id="ipv6-remark",
        pattern=r"(server|client) socket cannot be initialized on \[[^\]\n]{1,80}\S{0,8} \(errno: 97|Address family not supported by protocol",
        cause="A remark: this host has no IPv6, and torch goes on with IPv4",
        remedy="Nothing stops for it. If the connection fails as well, name the host by its IPv4 address (MASTER_ADDR)",
        level="warning",
        says=(
            "[W socket.cpp:436] [c10d] The server socket cannot be initialized on [::]:29500 (errno: 97 - Address family not supported by protocol).",
        ),
        sources=("the wording as programs print it; no thread was read for it, 2026-11-26",),
    ),
)
