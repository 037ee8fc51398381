"""Memory of GPUs and hosts, shared memory, and data loading."""

from __future__ import annotations

from torchlift.doctor.errors.codes import cuda_codes
from torchlift.doctor.errors.known.causes_of_devices import DISK_FULL, HOST_MEMORY
from torchlift.doctor.errors.known.causes_of_running import KILLED
from torchlift.doctor.errors.known.more_causes import NOT_SHARED
from torchlift.doctor.errors.known.several_causes import (
    BUS_ERROR,
    CUDA_STARTED_TWICE,
    OUT_OF_MEMORY,
    WORKER_DIED,
    read_memory,
)
from torchlift.doctor.errors.known_error import KnownError, thread, torch_file

ROWS = (
    KnownError(
        id="mig-allocator-assert",
        pattern=r"NVML_SUCCESS == r INTERNAL ASSERT FAILED",
        cause="torch asked NVML for the memory in use and was refused, as inside a MIG slice; an out-of-memory error hides "
        "behind this text",
        remedy="Use less memory; make the slice visible by its MIG UUID",
        checks=("mig", "memory-in-use"),
        says=('RuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at "../c10/cuda/CUDACachingAllocator.cpp":1131',),
        sources=(thread("pytorch/pytorch", 112377), thread("pytorch/pytorch", 197312)),
        likely=True,
    ),
    KnownError(
        id="mps-out-of-memory",
        pattern=r"MPS backend out of memory",
        cause="There is not enough of the memory that the Mac's GPU may use (it shares it with everything else)",
        remedy="Use a smaller batch or close other programs; PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 lifts the limit, and the Mac "
        "may then stand still",
        says=(
            "RuntimeError: MPS backend out of memory (MPS allocated: 5.56 GB, other allocations: 1.10 GB, max allowed: 6.80 "
            "GB). Tried to allocate 768.00 MB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit "
            "for memory allocations (may cause system failure).",
        ),
        sources=(thread("Comfy-Org/ComfyUI", 2489, "2024-01-08"), thread("pytorch/pytorch", 105839, "2023-10-25")),
    ),
    KnownError(
        id="memory-taken-by-others",
        pattern=r"No available memory for the cache blocks|Free memory on device .{0,160}is less than desired GPU memory "
        r"utilization",
        cause="vLLM may not take as much of the GPU's memory as its gpu_memory_utilization says: other programs hold some, or "
        "the model leaves nothing for the cache",
        remedy="End what else uses the GPU; lower max_model_len, or set gpu_memory_utilization to what is free",
        checks=("memory-in-use",),
        says=(
            "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing "
            "the engine.",
            "ValueError: Free memory on device (10.2/23.64 GiB) on startup is less than desired GPU memory utilization (0.9, "
            "21.28 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
        ),
        sources=(thread("vllm-project/vllm", 2248, "2023-12-24"), thread("QwenLM/Qwen3", 12, "2024-02-06")),
    ),
    KnownError(
        id="triton-shared-memory",
        pattern=r"out of resources?: ?(shared memory|registers|tensor memory|threads)|OutOfResources",
        cause="A Triton kernel wants more shared memory (or registers) of a multiprocessor than this GPU has: its block sizes "
        "were chosen for a larger GPU",
        remedy="Use smaller blocks or fewer stages (num_stages); upgrade the library that has the kernel",
        checks=("gpu-features",),
        says=(
            "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 163840, Hardware limit: 101376. "
            "Reducing block sizes or `num_stages` may help.",
        ),
        sources=(thread("triton-lang/triton", 8182, "2025-09-15"), thread("state-spaces/mamba", 387, "2024-06-13")),
    ),
    KnownError(
        id="kernel-shared-memory",
        pattern=r"Failed to set (?:the )?max(?:imum)? (?:dynamic )?shared memory size|[Rr]equest(?:ed|s) [^\n]{0,40}shared memory[^\n]{0,60}(?:exceed|larger than|more than)|uses too much shared data \(|shared memory (?:size )?(?:required|requested|needed)[^\n]{0,60}(?:exceed|larger|more than)|MaxDynamicSharedMemorySize",
        cause="A kernel asks for more shared memory of a multiprocessor than this GPU gives to one block (48 KiB without being asked; 64 on Turing, 96 on Volta, 99 on consumer Ampere, Ada and Blackwell, 163 on A100, 227 on H100): it was written or tuned for another GPU, or compiled without this one's architecture",
        remedy="Make the tile, block, head dimension or number of channels smaller (gsplat: tile_size 8, or render fewer channels at once), use fewer stages, or another backend; upgrade the package, and build it for this GPU (TORCH_CUDA_ARCH_LIST). A request that is small (below 48 KiB) and fails: the extension was built for another architecture, or an earlier CUDA error is the cause (CUDA_LAUNCH_BLOCKING=1)",
        checks=("gpu-features", "extension-architecture"),
        says=(
            "RuntimeError: Failed to set maximum shared memory size (requested 7168 bytes), try lowering tile_size.",
            "ptxas error   : Entry function '_Z6kernelv' uses too much shared data (0x10000 bytes, 0xc000 max)",
        ),
        sources=(thread("nerfstudio-project/gsplat", 266),),
        likely=True,
    ),
    KnownError(
        id="shared-memory",
        pattern=r"Unexpected bus error encountered in worker|insufficient shared memory|unable to (write to|resize|allocate)"
        r".{0,40}</?torch_\w{0,60}|No space left on device.{0,40}/dev/shm|DataLoader worker \(pid\(?s?\)? .{1,60}\) is killed by "
        r"signal: Bus error|Error while creating shared memory segment|failed to extend /dev/shm|posix_fallocate.{0,40}No space"
        r"|\bshared memory object .{0,80}No space left|Bus error\b.{0,40}out of shared memory",
        cause="/dev/shm is full or too small: data loader workers and NCCL hand data over in it, and containers get 64 MiB",
        remedy="Give the container more shared memory (--shm-size=8g or --ipc=host; in Kubernetes an emptyDir of medium Memory "
        "at /dev/shm)",
        checks=("shm-size",),
        says=(
            "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
            "RuntimeError: DataLoader worker (pid 2161) is killed by signal: Bus error. It is possible that dataloader's "
            "workers are out of shared memory. Please try to raise your shared memory limit.",
            "RuntimeError: unable to write to file </torch_1234_0>",
            "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-BCwDbD (size 9637888)",
        ),
        sources=(
            thread("pytorch/pytorch", 26009),
            torch_file("torch/utils/data/dataloader.py"),
            torch_file("torch/lib/libtorch_python.so"),
        ),
        likely=True,
    ),
    KnownError(
        id="bus-error",
        causes=BUS_ERROR,
        pattern=r"\bBus error\b(?!: 10)|SIGBUS\b|exitcode ?: -7\b|return code = -7\b|\(exitcode: -7\)|exit(?:ed with)? (?:code|status) (?:135|249)\b",
        cause="The process read a page of memory that nothing stands behind (SIGBUS)",
        remedy="df -h /dev/shm and df -h of the model's disk while it runs, and PYTHONFAULTHANDLER=1 for the Python line, say which",
        command="df -h /dev/shm . && PYTHONFAULTHANDLER=1 python PROGRAM",
        checks=("shm-size",),
        says=("Bus error (core dumped)", 'Thread 1 "python3" received signal SIGBUS, Bus error.'),
        sources=(thread("microsoft/onnxruntime", 995, "2019-05-08"), thread("pytorch/pytorch", 26009)),
        likely=True,
    ),
    KnownError(
        id="slurm-out-of-memory",
        pattern=r"slurmstepd[\w.-]{0,40}: error: .{0,40}(?:oom-kill event|oom_kill event|exceeded (?:job|step) memory limit|Exceeded (?:job|step) memory limit)|error: \S{1,60}: task \S{1,20}: Out Of Memory|Some of (?:your processes|the step tasks) may have been killed by the cgroup out-of-memory handler|some of your processes may have been killed",
        cause="The job used more of the host's memory (not the GPU's) than Slurm had been asked for, and the kernel killed a process of it",
        remedy="sacct -j JOB -o JobID,State,ReqMem,MaxRSS,Elapsed (or seff JOB) shows what was asked and used. Ask for more with --mem=64G (or --mem-per-cpu, --mem-per-gpu): the default is often a few GiB a core; or use less: fewer data loader workers, one process that loads the model instead of one a GPU (low_cpu_mem_usage, mmap=True), no whole data set in lists",
        command="sacct -j JOB -o JobID,State,ReqMem,MaxRSS,Elapsed",
        says=(
            "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1234.0.",
            "slurmstepd: error: Exceeded job memory limit at some point.",
        ),
        sources=("slurm.schedmd.com, sacct and sbatch, by their names, 2026-11-26", thread("lanl/PyBNF", 118)),
    ),
    KnownError(
        id="out-of-memory-killer",
        causes=KILLED,
        pattern=r"Signal 9 \(SIGKILL\)|exit ?code ?:? -9\b|\(exitcode: -9\)|exited with (?:exit )?code:? -9\b|exits with return code = -9\b|exit (?:code|status) (?:137|247)\b|Out of memory: Killed process|OOMKilled"
        r"|\boom-kill\b|oom_kill event|killed by signal: Killed|exceeded memory limit.{0,60}being killed"
        r"|Worker \(pid:\d{1,9}\) was sent SIGKILL|died with <Signals\.SIGKILL: 9>",
        cause="A process was ended from outside by SIGKILL, nearly always for want of main memory",
        remedy="Look at the kernel log of that minute",
        checks=("shm-size",),
        command="sudo dmesg -T | grep -iE 'out of memory|killed process' | tail",
        says=(
            "traceback : Signal 9 (SIGKILL) received by PID 14750",
            "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 3 (pid: 812917) of binary: "
            "/opt/conda/bin/python",
            "RuntimeError: DataLoader worker (pid 27281) is killed by signal: Killed.",
        ),
        sources=(
            thread("hpcaitech/ColossalAI", 3514),
            thread("lzhxmu/CPPO", 6, "2025-05-21"),
            thread("OpenBMB/MiniCPM-V", 770, "2025-01-21"),
        ),
        likely=True,
    ),
    KnownError(
        id="killed",
        pattern=r"^killed by SIGKILL$",
        cause="Something killed the process; the kernel does so when memory runs out",
        remedy="Look at the kernel log (dmesg) and at the container's memory limit",
        says=("killed by SIGKILL",),
        sources=("torchlift writes it for a smoke that was killed, doctor/smoke, 2026-11-23",),
        likely=True,
        smokes_only=True,
    ),
    KnownError(
        id="out-of-memory",
        causes=OUT_OF_MEMORY,
        reads=read_memory,
        pattern=r"\b(CUDA|Cuda|cuda|GPU) (OOM|oom)\b|\bGPU out of memory|OutOfMemoryError: (CUDA|HIP|XPU)|"
        r"(CUDA|HIP|XPU) out of memory|\btorch\.(cuda\.)?OutOfMemoryError: |CUDA error: out of memory"
        r"|(HIP|hip) error: out of memory|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|hipErrorOutOfMemory"
        r"|Cuda failure ?\d{0,4} ?'out of memory'|cudaGetDeviceCount\(\).{0,160}Error 2: out of memory"
        r"|UR_RESULT_ERROR_OUT_OF_(DEVICE_MEMORY|HOST_MEMORY|RESOURCES)|PI_ERROR_OUT_OF_RESOURCES|[Rr]an out of memory on (?:your )?GPU|Allocation on device (?:\d{0,3}|$)(?: would exceed allowed memory)?"
        r"|Triton Error \[CUDA\]: out of memory|Not enough memory on the device" + cuda_codes(2),
        cause="There was not enough memory on the GPU for what was asked",
        remedy="Read the numbers of the message, and see who uses the GPU: nvidia-smi",
        command="nvidia-smi",
        checks=("memory-in-use", "mig"),
        says=(
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.69 GiB of "
            "which 17.69 MiB is free.",
            "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 10.76 GiB total capacity; 8.12 GiB already "
            "allocated; 1.32 GiB free; 8.50 GiB reserved in total by PyTorch)",
            "RuntimeError: CUDA error: out of memory",
            "torch.cuda.OutOfMemoryError: Allocation on device",
            "Got an OOM, unloading all loaded models. Ran out of memory on your GPU",
            "torch.cuda.OutOfMemoryError: HIP out of memory. Tried to allocate 256.00 MiB.",
            "NCCL WARN Cuda failure 2 'out of memory'",
            "RuntimeError: level_zero backend failed with error: 40 (UR_RESULT_ERROR_OUT_OF_RESOURCES)",
        ),
        sources=("torch 2.15.0, text of torch.OutOfMemoryError, 2026-11-21", thread("pytorch/pytorch", 190972)),
    ),
    KnownError(
        id="host-out-of-memory",
        causes=HOST_MEMORY,
        pattern=r"DefaultCPUAllocator: (can't allocate memory|not enough memory)|^(\w{1,40}\.){0,4}MemoryError\b"
        r"|unable to mmap \d{1,20} bytes from file <(?!/?torch_)|Unable to allocate \S{1,12} [KMGT]iB for an array|_ArrayMemoryError|memory allocation of \d{1,20} bytes failed"
        r"|\[enforce fail at (alloc_cpu|CPUAllocator)\.cpp|OSError: \[Errno 12\] Cannot allocate memory|std::bad_alloc|LLVM ERROR: out of memory",
        cause="There was not enough memory on the host (not on the GPU), or a limit is set",
        remedy="Compare what was asked for with what there is",
        command="free -h; cat /sys/fs/cgroup/memory.max; ulimit -v",
        says=(
            "RuntimeError: [enforce fail at alloc_cpu.cpp:114] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
            "allocate 1073741824 bytes. Error code 12 (Cannot allocate memory)",
            "RuntimeError: [enforce fail at alloc_cpu.cpp:116] data. DefaultCPUAllocator: not enough memory: you tried to "
            "allocate 2097152000 bytes.",
            "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000000,) and "
            "data type float64",
            "MemoryError",
        ),
        sources=(
            thread("JingyunLiang/VRT", 49, "2022-10-16"),
            thread("lllyasviel/Fooocus", 237, "2023-12-08"),
            thread("ymcui/Chinese-LLaMA-Alpaca", 18, "2023-04-03"),
            torch_file("torch/lib/libc10.so"),
        ),
    ),
    KnownError(
        id="paging-file",
        pattern=r"WinError 1455|werfault[^\n]{0,20}0xc000012d|os error 1455|paging file is too small",
        cause="Windows could not reserve memory: its paging file is too small, and each worker process loads torch's libraries "
        "again",
        remedy="Let Windows manage the size of the paging file, or set fewer workers (num_workers=0)",
        says=(
            "OSError: [WinError 1455] The paging file is too small for this operation to complete. Error loading "
            '"D:\\anaconda3\\envs\\yolov5\\lib\\site-packages\\torch\\lib\\caffe2_detectron_ops_gpu.dll" or one of its '
            "dependencies.",
            'OSError: [WinError 1455] 页面文件太小 Error loading "D:\\torch\\lib\\cublas64_11.dll"',
        ),
        sources=(thread("cszn/KAIR", 127, "2022-03-21"), thread("ultralytics/yolov5", 11418)),
    ),
    KnownError(
        id="open-files",
        pattern=r"Too many open files|received 0 items of ancdata",
        cause="The process has as many files open as it may: each tensor that a data loader worker hands over is one",
        remedy="Raise the limit, or hand tensors over by name: torch.multiprocessing.set_sharing_strategy('file_system')",
        command="ulimit -n 65536",
        checks=("open-files-limit",),
        says=(
            "RuntimeError: Too many open files. Communication with the workers is no longer possible. Please increase the limit "
            "using `ulimit -n` in the shell or change the sharing strategy by calling "
            "`torch.multiprocessing.set_sharing_strategy('file_system')` at the beginning of your code",
            "RuntimeError: received 0 items of ancdata",
            "OSError: [Errno 24] Too many open files",
        ),
        sources=(torch_file("torch/utils/data/dataloader.py"),),
    ),
    KnownError(
        id="too-many-threads",
        pattern=r"can't start new thread|creation via pthread_create\(\) failed|std::system_error[^\n]{0,60}\n?[^\n]{0,20}Resource temporarily unavailable|libgomp: Thread creation failed|pthread_create failed.{0,60}Resource temporarily "
        r"unavailable|OpenBLAS blas_thread_init: pthread_create",
        cause="The user, or the container, has as many threads as its limit allows",
        remedy="Use fewer workers and threads (OMP_NUM_THREADS, OPENBLAS_NUM_THREADS), or raise the limit (ulimit -u, pids_limit)",
        says=(
            "OpenBLAS blas_thread_init: pthread_create failed for thread 63 of 64: Resource temporarily unavailable",
            "RuntimeError: can't start new thread",
        ),
        sources=(thread("MIC-DKFZ/nnUNet", 1343), thread("willsheffler/worms", 2, "2018-02-23")),
    ),
    KnownError(
        id="shared-memory-mapping",
        causes=NOT_SHARED,
        pattern=r"unable to mmap \d{1,20} bytes from file </?torch_|unable to open shared memory object </torch_",
        cause="A tensor could not be shared between two processes",
        remedy="See what ran out: the place, the files or the mappings",
        command="df -h /dev/shm; ulimit -n; sysctl vm.max_map_count",
        checks=("shm-size", "open-files-limit"),
        says=(
            "RuntimeError: unable to mmap 1056 bytes from file </torch_3114_3816413216_65509>: Cannot allocate memory (12)",
            "RuntimeError: unable to open shared memory object </torch_29919_1396182366> in read-write mode",
        ),
        sources=(
            thread("pytorch/pytorch", 14768, "2018-12-10"),
            torch_file("torch/lib/libtorch_cpu.so"),
        ),
        likely=True,
    ),
    KnownError(
        id="disk-full",
        causes=DISK_FULL,
        pattern=r"No space left on device|\[Errno 28\]|Disk quota exceeded|There is not enough space on the disk",
        cause="The place that is written to is full",
        remedy="See which it is",
        command="df -h . ~ /tmp /dev/shm; df -i . /tmp; quota -s",
        checks=("shm-size",),
        says=("OSError: [Errno 28] No space left on device",),
        sources=(thread("pypa/pip", 7745, "2020-02-14"), thread("huggingface/lerobot", 59, "2024-03-28")),
    ),
    KnownError(
        id="cuda-in-fork",
        checks=(
            "nvml-and-cuda-disagree",
            "driver-version-mismatch",
            "cuda-unknown-error",
        ),
        causes=CUDA_STARTED_TWICE,
        pattern=r"Cannot re-initialize (CUDA|XPU) in forked subprocess|can't create new processes if CUDA is already initialized"
        r"|(CUDA|HIP) error: initialization error|cuda runtime error \(3\)|CUDA has been initialized before the (?:`?notebook_launcher|fork)",
        cause="CUDA could not start in this process",
        remedy="See whether the process was forked from one that had used the GPU",
        likely=True,
        says=(
            "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the "
            "'spawn' start method",
            "RuntimeError: Lightning can't create new processes if CUDA is already initialized.",
            "RuntimeError: CUDA error: initialization error",
        ),
        sources=(
            thread("pytorch/pytorch", 40403, "2024-10-19"),
            thread("pytorch/pytorch", 77159, "2022-05-10"),
            thread("NVIDIA/recsys-examples", 352, "2026-04-10"),
            thread("stochasticai/xTuring", 231, "2023-07-13"),
        ),
    ),
    KnownError(
        id="spawn-without-guard",
        pattern=r"An attempt has been made to start a new process before the current process has finished its bootstrapping",
        cause="On Windows and macOS workers import the main script again, and it starts workers at its top level",
        remedy='Put what the script does below `if __name__ == "__main__":`',
        says=(
            "RuntimeError: An attempt has been made to start a new process before the current process has finished its "
            "bootstrapping phase.",
        ),
        sources=("Python 3.11, multiprocessing/spawn.py, read 2026-11-23",),
    ),
    KnownError(
        id="worker-hung-up",
        pattern=r"DataLoader worker .{0,80}is killed by signal: (?P<why>Hangup|Terminated|Interrupt)|Signal (?:1 \(SIGHUP\)|15 \(SIGTERM\)) received by PID|(?:Received|received) \d{1,2} death signal,? shutting down workers|[Rr]eceived (?:Signals\.SIGHUP|1|SIGHUP) death signal",
        cause="The program was ended from outside: the terminal or the ssh connection from which it was started was closed, a scheduler or somebody stopped it, or the main process had ended and took its workers along",
        remedy="Start long runs so that they outlive the terminal: tmux or screen, nohup PROGRAM > log 2>&1 &, or sbatch. If none was closed, look in the log above for an exception of the main process, and at sacct or journalctl for who sent the signal",
        command="tmux new -s train",
        says=("RuntimeError: DataLoader worker (pid 41956) is killed by signal: Hangup.",),
        sources=(thread("open-mmlab/mmdetection", 7031),),
        likely=True,
    ),
    KnownError(
        id="worker-died",
        causes=WORKER_DIED,
        pattern=r"DataLoader [Ww]orker .{0,200}(exited unexpectedly|quit unexpectedly|is killed by signal)|Unexpected (?:segmentation fault|floating-point exception) encountered in worker",
        cause="A data loader's worker process ended without handing its exception on",
        remedy="Run once with num_workers=0: an exception then shows itself; if that works, look why the process was ended",
        command="sudo dmesg | grep -iE 'oom|killed process|segfault'",
        checks=("shm-size",),
        says=(
            "RuntimeError: DataLoader worker (pid(s) 12345) exited unexpectedly",
            "ERROR: Unexpected segmentation fault encountered in worker.",
        ),
        sources=(torch_file("torch/utils/data/dataloader.py"),),
        level="vague",
    ),
    KnownError(
        id="loader-shutdown-remark",
        pattern=r"AssertionError: can only (join|test) a child process",
        cause="A remark of the garbage collector: a data loader's iterator was freed in another process than the one that made it (notebooks, forks); it comes after something else, or does no harm",
        remedy="Look for another exception above it; if there is none, persistent_workers=True or num_workers=0 make it go away",
        level="warning",
        says=("AssertionError: can only test a child process",),
        sources=(
            thread("fastai/fastai", 1990),
            "the wording as programs print it; no thread was read for it, 2026-11-26",
        ),
    ),
)
