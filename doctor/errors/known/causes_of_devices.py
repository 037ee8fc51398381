"""Why a GPU, a processor or the host's memory does not serve a program: what tells the reasons apart that print one message."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import Cause

DRIVER_NOT_LOADED = (
    Cause(
        "The kernel was upgraded, and the driver's module was not built for it (or not yet loaded)",
        "dkms status lists nvidia for another kernel than uname -r, or for none; modprobe nvidia: not found in directory",
        "sudo apt-get install -y linux-headers-$(uname -r), then sudo dkms autoinstall (or install the driver's package again) and sudo modprobe nvidia; else restart with the former kernel",
        checks=("driver-not-loaded",),
    ),
    Cause(
        "The module is there and the kernel does not take it: Secure Boot, nouveau, or it is not for this card",
        "sudo modprobe nvidia says `Key was rejected` or `No such device`; sudo dmesg | grep -iE 'nvrm|nouveau|signature'; mokutil --sb-state",
        "enrol the key (sudo mokutil --import) or switch Secure Boot off; blacklist nouveau and restart; a driver that has the card (-open for Blackwell and newer, not for Volta and older)",
        seen=r"[Kk]ey was rejected|nouveau|probe routine|Secure Boot",
    ),
    Cause(
        "This machine, virtual machine or container has no NVIDIA GPU, or was not given it",
        "lspci | grep -i nvidia prints nothing; in a container the host's nvidia-smi works",
        "docker run --gpus all with an image that brings no driver of its own; a virtual machine or cloud instance: attach the GPU; else a machine that has one",
        seen=r"[Dd]ocker|(?<!nvidia-)container|LXD|lxc|ec2|aws",
    ),
    Cause(
        "A laptop runs on the other graphics card, or WSL has a driver of its own",
        "prime-select query says intel; under WSL dpkg -l | grep nvidia-driver lists one, or nvidia-smi of Windows works",
        "sudo prime-select nvidia and a restart; WSL: sudo apt-get purge 'nvidia-*' there, the driver in Windows only, then wsl --shutdown",
        seen=r"WSL|prime|microsoft|[Ll]aptop",
    ),
)

NO_SUCH_NUMBER = (
    Cause(
        "The program, its configuration or launcher names more GPUs, or a higher number, than there are (they count from 0)",
        "nvidia-smi -L lists fewer than --nproc-per-node, --gpus, device_ids or `cuda:1` in the code say (grep -rn 'cuda:[1-9]\\|\\.cuda([1-9]' .)",
        "cuda:0 for one GPU, device_ids=[0], as many processes as GPUs; where the number is in the code, change it there",
        checks=("gpu-missing",),
    ),
    Cause(
        "CUDA_VISIBLE_DEVICES, the container or the job shows the process fewer, and those are counted anew from 0",
        "echo $CUDA_VISIBLE_DEVICES; python -c 'import torch; print(torch.cuda.device_count())' is smaller than nvidia-smi's list",
        "count among those in view: with CUDA_VISIBLE_DEVICES=2,3 they are cuda:0 and cuda:1; set it before torch is imported; docker --gpus all, srun --gres=gpu:N",
        seen=r"VISIBLE_DEVICES|srun|[Dd]ocker|\bray\b",
        checks=("cuda-visible-devices", "mig"),
    ),
    Cause(
        "The file was saved on a GPU with a number that is not here",
        "the frame is torch.load, or the message is `Attempting to deserialize object on CUDA device`",
        "torch.load(FILE, map_location='cpu') (or 'cuda:0')",
        seen=r"deserialize|torch\.load|serialization",
    ),
)

SAVED_ON_GPU = (
    Cause(
        "This process is to run on the CPU (or Apple's or another GPU), and the file is loaded as it was saved",
        "there is no NVIDIA GPU here",
        "torch.load(FILE, map_location='cpu') in the line that the trace names (a package: its option device='cpu', or map_location there); then .to('mps') or 'xpu' where there is one",
        seen=r"/Users/|\b[Mm]ac(?:[Oo][Ss]|[Bb]ook)?\b|mps",
        checks=("torch-other-vendor",),
    ),
    Cause(
        "There is a GPU, and this torch is the build for the CPU",
        "nvidia-smi works, and python -c 'import torch; print(torch.__version__, torch.version.cuda)' prints +cpu or None",
        "install the wheel that `torchlift doctor` prints, with torchvision and torchaudio from the same index",
        seen=r"\+cpu",
        checks=("torch-cpu-build",),
    ),
    Cause(
        "There is a GPU, and this process does not see it: driver, container, CUDA_VISIBLE_DEVICES or the job",
        "nvidia-smi fails in the same place, or env | grep VISIBLE shows an empty value or -1",
        "`torchlift doctor` names it; docker --gpus all; unset CUDA_VISIBLE_DEVICES; srun --gres=gpu:1",
        seen=r"[Dd]ocker|VISIBLE",
        checks=("driver-missing", "cuda-visible-devices"),
    ),
)

HOST_MEMORY = (
    Cause(
        "The work is larger than the machine's memory: the model in float32, two copies of it while it is loaded or merged, all data in one list or array",
        "free -h (Windows: the task manager) is nearly used up at that moment, and what is asked for is some megabytes or gigabytes more",
        "load less at once: a smaller batch or resolution, torch_dtype=torch.bfloat16 and low_cpu_mem_usage=True, torch.load(mmap=True), numpy.memmap, fewer workers; swap, or Windows' virtual memory, lets it go on slowly",
    ),
    Cause(
        "One single request is larger than any memory: a product over all pairs, a video or image that was not scaled down, a wrong shape or dtype",
        "the number of bytes behind `tried to allocate` (or the GiB behind `Unable to allocate`) is near or above what free -h has in all",
        "look at the frame that asks: tile or chunk it (--tile, batches of frames), float32 in place of float64, the right dimension",
        seen=r"allocate \d{11,}|allocate (?:\d{2,}(?:\.\d+)?) [GT]iB",
    ),
    Cause(
        "A limit is set: the container's or job's memory, ulimit, a 32-bit Python, Windows' page file",
        "cat /sys/fs/cgroup/memory.max, ulimit -v; free -h shows enough; python -c 'import struct; print(struct.calcsize(\"P\") * 8)'",
        "docker run --memory, sbatch --mem, ulimit -v unlimited; Windows: virtual memory on the system's drive set to `system managed`",
        seen=r"alloc_cpu\.cpp:\d+\] data\. DefaultCPU|paging",
    ),
)

NO_SUCH_INSTRUCTION = (
    Cause(
        "The processor (or what a virtual machine shows of it) has no AVX or AVX2, which torch's wheels and others are built with",
        "grep -o -w 'avx\\|avx2\\|avx512f\\|fma' /proc/cpuinfo | sort -u lacks one; Celeron, Pentium, Atom and processors from before 2011 have none",
        "a virtual machine: processor type host; else ATEN_CPU_CAPABILITY=default, MKLDNN off, an older release, or build it on this machine",
    ),
    Cause(
        "A library was built for a newer processor than this one: compiled elsewhere with -march=native, a conda or NumPy build, an extension",
        "PYTHONFAULTHANDLER=1 python PROGRAM names the import; gdb -ex run -ex bt --args python PROGRAM names the library",
        "install that package's wheel newly, or build it here; clear ~/.cache/torch_extensions and TORCHINDUCTOR_CACHE_DIR that came from another machine",
        seen=r"faiss|extension|[Dd]ocker",
    ),
    Cause(
        "On a Jetson or another Arm board OpenBLAS takes the processor for another",
        "uname -m says aarch64, and python -c 'import numpy' alone crashes",
        "export OPENBLAS_CORETYPE=ARMV8 (into ~/.bashrc), or NumPy 1.19.4 and older there",
        seen=r"unitree|[Jj]etson|aarch64|tegra|nano\b|nx\b",
    ),
    Cause(
        "On a Mac an x86_64 Python runs under Rosetta, which has no AVX",
        "uname -m says arm64 and python -c 'import platform; print(platform.machine())' x86_64",
        "a Python for arm64 (Miniforge, python.org universal2)",
        seen=r"/Users/|[Mm]ac|zsh",
        checks=("python-platform",),
    ),
)

DISK_FULL = (
    Cause(
        "The disk with the caches or outputs is full: ~/.cache (pip, Hugging Face, torch), checkpoints, a home with a quota",
        "df -h ~ . and quota -s; du -sh ~/.cache/* | sort -h; the path in the message is below one of them",
        "delete what is old (python -m pip cache purge, hf cache delete), or export HF_HOME, TORCH_HOME, PIP_CACHE_DIR, TORCHINDUCTOR_CACHE_DIR on another disk",
    ),
    Cause(
        "/tmp is full or small (pip unpacks gigabytes there, Ray, Triton and sockets use it)",
        "df -h /tmp; the message comes while pip installs",
        "export TMPDIR=/OTHER/tmp before the command (python -m pip install --no-cache-dir)",
        seen=r"\bpip\b|Could not install packages|/tmp",
    ),
    Cause(
        "/dev/shm is full: data loader workers and NCCL write there, and a container has 64 MiB",
        "df -h /dev/shm while it runs; the trace is of a data loader or NCCL, and the disks have room",
        "docker run --shm-size=8g or --ipc=host; fewer workers",
        seen=r"/dev/shm|shm|[Dd]ata[Ll]oader|NCCL|mmap",
        checks=("shm-size",),
    ),
    Cause(
        "It is Docker's disk, or the number of files is used up",
        "docker system df; df -i shows 100 %",
        "docker system prune, a larger disk image for Docker Desktop; delete folders of many small files",
        seen=r"[Dd]ocker|overlay|failed to solve|containerd",
    ),
)

NO_CARD_LISTED = (
    Cause(
        "The card is on the PCI bus, and the driver cannot start it: it is too new or too old for the card, it is the wrong kind of kernel module, or the card failed",
        "on the host itself nvidia-smi says the same; sudo dmesg | grep -i nvrm (RmInitAdapter failed, `requires use of the NVIDIA open kernel modules`)",
        "-open drivers for Blackwell and newer, not for Volta and older; a driver that lists the card; a restart, then power and seating",
        checks=("kernel-module-flavour", "driver-too-new-for-gpu", "driver-too-old-for-gpu"),
    ),
    Cause(
        "The container or job was given the driver's files and no card",
        "on the host nvidia-smi -L lists it; in there ls /dev/nvidia* shows no nvidia0, or echo $NVIDIA_VISIBLE_DEVICES is void or wrong",
        "docker run --gpus all; singularity exec --nv in a job with a GPU (srun --gres=gpu:1); a unit or number that is there",
        seen=r"[Ss]ingularity|[Aa]pptainer|[Dd]ocker|srun|container",
        checks=("gpu-missing",),
    ),
    Cause(
        "MIG mode without an instance that this process may use",
        "nvidia-smi -L on the host shows the card without MIG devices below it, or those of others",
        "sudo nvidia-smi mig -cgi 9,9 -C, or MIG off: sudo nvidia-smi -mig 0; singularity with MIG: --nvccli, or the name of a MIG device in CUDA_VISIBLE_DEVICES",
        seen=r"MIG",
        checks=("mig",),
    ),
)

CALL_NOT_SUPPORTED = (
    Cause(
        "Memory of a kind that this driver does not offer here: expandable_segments, cudaMallocAsync or managed memory on a vGPU, on Jetson or under WSL",
        "unset PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF lets it go on",
        "take expandable_segments and cudaMallocAsync out of those variables; on a vGPU let the host switch on unified memory",
        checks=("vgpu-licence", "wsl-driver"),
    ),
    Cause(
        "There is no NVIDIA GPU or driver that works, and this torch (CUDA 13) says it so",
        "the line has cudaGetDeviceCount; nvidia-smi fails",
        "a machine without such a GPU: nothing, it runs on the CPU; else install the driver (580 or newer for CUDA 13)",
        seen=r"cudaGetDeviceCount|CPU machine",
        checks=("driver-missing",),
    ),
    Cause(
        "The driver is older than what the program calls (kernels with large arguments before 530, a newer feature of CUDA)",
        "the CUDA number in the head of nvidia-smi is below torch.version.cuda",
        "upgrade the driver, or take the wheel that `torchlift doctor` names for it",
        seen=r"installed CUDA driver",
        checks=("driver-too-old",),
    ),
)
