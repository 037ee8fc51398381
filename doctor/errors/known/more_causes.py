"""Messages that several things print, of vendors and of CUDA's checks of arguments."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import Cause

INVALID_ARGUMENT = (
    Cause(
        "A kernel of a package asks for more than this GPU has (threads, shared memory) or is older than the GPU, driver or torch",
        "the frame that CUDA_LAUNCH_BLOCKING=1 names is in xformers, flash-attn, Triton, bitsandbytes or an extension; another backend works",
        "upgrade that package for this torch and GPU, or choose the other backend (attn_implementation='sdpa', eager mode)",
        seen=r"xformers|flash|triton|Triton|bitsandbytes|_C\b|extension|gsplat|mamba|memory_efficient",
    ),
    Cause(
        "CUDA memory is shared between processes where that does not work: Jetsons and WSL have no sharing by CUDA's IPC, nor have processes on other GPUs or with another PYTORCH_ALLOC_CONF (expandable segments)",
        "a CUDA tensor goes through a Queue, share_memory_() or a data loader's worker; the frame is in multiprocessing/reductions.py or _share_cuda_; uname -m says aarch64 or uname -r microsoft",
        "hand CPU tensors (x.cpu()) from process to process, or threads instead of processes; leave expandable_segments out; the same CUDA_VISIBLE_DEVICES in both",
        seen=r"shared_memory|share_memory|_share_cuda|reductions\.py|multiprocessing|[Jj]etson|tegra|Ipc|IPC|Queue",
    ),
    Cause(
        "The tensor is empty, or has a stride or size that the call does not take",
        "the frame is torch's own; print x.shape, x.stride() and x.dtype before it shows a zero",
        "leave out empty batches, x.contiguous()",
        seen=r"empty|zero-size|stride",
    ),
    Cause(
        "A tensor or stream of another GPU, or a handle that has ended",
        "only with several GPUs; CUDA_VISIBLE_DEVICES=0 works",
        "torch.cuda.set_device(RANK) first in each process, `with torch.cuda.device_of(x):` around kernels of one's own",
        seen=r"cuda:[1-9]",
    ),
)

XPU_LOST = (
    Cause(
        "A kernel of torch, Triton or a package wrote where it must not, or has a defect on this GPU",
        "the kernel log says page fault, CAT error or engine reset at that moment, and it is always the same call (the last frame, after SYCL_UR_TRACE=1 or a synchronize behind each step)",
        "switch that package's own path off (another quantization, attention or backend), upgrade it, and report it there; torch's own: pytorch/pytorch or intel/torch-xpu-ops",
        seen=r"[Pp]age fault|CAT|CCS|auto.?round|gptq|GPTQ|quant",
    ),
    Cause(
        "A kernel took longer than the driver lets it",
        "the kernel log says GUC or job timeout; smaller batches work",
        "smaller work at a time; Linux: job_timeout_ms and preempt_timeout_us of the engine below /sys/class/drm/card*/device (xe), i915.enable_hangcheck=0; Windows: TdrDelay",
        seen=r"time.?out|TDR|hang",
    ),
    Cause(
        "Driver, firmware and torch's runtime do not fit each other, or the GPU itself is unstable",
        "it comes with other programs as well, at random places; the log has errors of GuC or of PCIe",
        "Intel's newest compute runtime and kernel (a new GPU wants a new kernel), Resizable BAR on in the BIOS, power and cooling",
        seen=r"GuC|firmware|PCIe",
    ),
)

CUBLAS_START = (
    Cause(
        "No memory is left for its workspace: the model or another process has taken all",
        "nvidia-smi shows the GPU full; a smaller batch works",
        "a smaller batch, end other processes (several ranks on one GPU: torch.cuda.set_device(LOCAL_RANK)); TensorFlow or JAX in the same process: let them grow",
        seen=r"out of memory",
        checks=("memory-in-use",),
    ),
    Cause(
        "An index was out of range in an earlier kernel (a label or token id too large), and this is only the next call",
        "CUDA_LAUNCH_BLOCKING=1 names an embedding, loss or indexing call; the same step fails on the CPU with an IndexError",
        "compare labels with the number of classes, token ids with the embedding (model.resize_token_embeddings)",
        seen=r"[Aa]ssert|srcIndex|embedding|label|index",
    ),
    Cause(
        "Another cuBLAS than torch's is loaded, or this wheel has no code for the GPU",
        "python -c 'import torch; a = torch.rand(8, 8).cuda(); print(a @ a)' fails alone; LD_LIBRARY_PATH names a CUDA",
        "unset LD_LIBRARY_PATH, python -m pip install --force-reinstall torch; the wheel that `torchlift doctor` prints",
        seen=r"LD_LIBRARY_PATH|sm_\d|not compatible",
        checks=("nvidia-pins",),
    ),
)

CUDA_START = (
    Cause(
        "The kernel module and the libraries of the driver are of two releases: it was upgraded and the machine not restarted",
        "nvidia-smi says `Driver/library version mismatch`, or cat /proc/driver/nvidia/version and nvidia-smi differ",
        "restart, or unload and load the modules (sudo rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia; sudo modprobe nvidia)",
        seen=r"Error 803|Error 804|mismatch|upgrade",
        checks=("driver-version-mismatch", "driver-library-broken"),
    ),
    Cause(
        "In a container: it was given only a part of the devices or libraries, or has a compatibility package that this driver does not take",
        "nvidia-smi works on the host and not in it, or ls /dev/nvidia* lacks nvidia-uvm; /usr/local/cuda/compat is on LD_LIBRARY_PATH",
        "docker run --gpus all with a current nvidia-container-toolkit (after systemctl daemon-reload GPUs can be lost: start it anew, or no-cgroups and CDI); take compat out of LD_LIBRARY_PATH",
        seen=r"[Dd]ocker|container|/workspace|/opt/conda|kube|compat",
        checks=("nvml-and-cuda-disagree",),
    ),
    Cause(
        "The device node or module nvidia-uvm is missing, or the machine slept",
        "nvidia-smi works and CUDA does not; Error 999 or 3",
        "sudo modprobe nvidia_uvm (nvidia-modprobe -u -c=0); after sleep: sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm",
        seen=r"Error 999|Error 3\b",
        checks=("cuda-unknown-error",),
    ),
    Cause(
        "The process was forked after CUDA had started in the parent",
        "it comes in a data loader's worker or a multiprocessing child only",
        "multiprocessing_context='spawn'; no call of CUDA in the parent before",
        seen=r"[Ff]ork|[Ww]orker|multiprocessing",
    ),
    Cause(
        "A GPU has failed or was lost, or on NVSwitch machines (HGX, DGX) the fabric manager does not run or is of another release",
        "sudo dmesg | grep -i xid; nvidia-smi shows ERR! or one card less; Error 802 is the fabric: systemctl status nvidia-fabricmanager",
        "the fabric manager of exactly the driver's release, started; else restart; look up the Xid (`torchlift doctor` says what it means); leave that card out with CUDA_VISIBLE_DEVICES",
        seen=r"Xid|fallen off|ERR!|Error 802|system not yet initialized|[Ff]abric",
    ),
)

BITSANDBYTES = (
    Cause(
        "torch here is a build for the CPU, or sees no GPU",
        "python -c 'import torch; print(torch.__version__, torch.cuda.is_available())' prints +cpu or False",
        "install torch for the GPU (`torchlift doctor` prints the wheel), then bitsandbytes again",
        seen=r"\+cpu|is_available\W{1,3}False",
        checks=("torch-cpu-build",),
    ),
    Cause(
        "This release of bitsandbytes has no library for torch's CUDA (an old one with a new torch, or CUDA 13 before 0.48)",
        "the number in the file that it names (libbitsandbytes_cuda124) is that of torch.version.cuda, and no such file is in its folder",
        "python -m pip install -U bitsandbytes; if it has to stay old: BNB_CUDA_VERSION=121 for a library that is there, with that CUDA's libraries on LD_LIBRARY_PATH",
        seen=r"libbitsandbytes_cuda\d|Configured CUDA binary",
    ),
    Cause(
        "Under Windows: releases before 0.43 had no build for it (and .so files in its folder show that one for Linux was installed)",
        "pip show bitsandbytes says less than 0.43",
        "python -m pip install -U bitsandbytes, in the Python of the program (ComfyUI: python_embeded\\python.exe -m pip ...)",
        seen=r"[A-Z]:\\[^\n]{0,300}libbitsandbytes_\w{1,20}\.so|WindowsPath|libbitsandbytes_cuda116\.dll|bitsandbytes-windows",
    ),
    Cause(
        "Its library is there and a library that it needs is not found (libcudart, libcublas, libnvJitLink)",
        "ldd on that file says `not found`; importing torch before it helps",
        "import torch first; python -m pip install --force-reinstall torch; take a foreign CUDA out of LD_LIBRARY_PATH",
        seen=r"libcudart|libcublas|nvJitLink|cannot open shared",
        checks=("missing-libraries",),
    ),
    Cause(
        "The GPU is AMD's or Intel's, or the machine is a Mac",
        "rocminfo, xpu-smi or uname -s",
        "release 0.49 or newer has ROCm, Intel and CPU builds; on a Mac use MLX or GGUF instead",
        seen=r"rocm|ROCm|\bhip\b|\bxpu\b|darwin|macOS",
    ),
)

ONNX_OPERATOR = (
    Cause(
        "This torch's exporter is too old: newer ones have the operator at the same opset (amax since 1.12, many since 2.0)",
        "the message names the operator without `aten::` (torch 1.12 and older), or python -c 'import torch; print(torch.__version__)' is years old",
        "export in an environment with the newest torch (the .onnx file does not ask for that torch later), with the same weights",
        seen=r"operator (?!'?aten::)\w{1,60} to ONNX|ONNX export of operator",
    ),
    Cause(
        "The operator came with a later opset",
        "the message ends with `Support for this operator was added in version N`",
        "opset_version=N (17 or 18 for most), if the runtime reads it",
        seen=r"was added in version",
    ),
    Cause(
        "The exporter that traces TorchScript has no rule for it at all",
        "it is the same with the newest torch and opset",
        "torch.onnx.export(..., dynamo=True) (torch 2.5 and newer, the default since 2.9); or write that step with other operators (amax as max(dim).values), or torch.onnx.register_custom_op_symbolic",
        seen=r"aten::|UnsupportedOperatorError",
    ),
)

NO_GPU_SEEN = (
    Cause(
        "This torch is a build for the CPU (pip took it from PyPI under Windows, or conda solved to a cpu build)",
        "python -c 'import torch; print(torch.__version__, torch.version.cuda)' prints +cpu, or None",
        "install the wheel that `torchlift doctor` prints, in this environment",
        seen=r"\+cpu|cpuonly|version\.cuda\W{1,8}None",
        checks=("torch-cpu-build", "torch-other-vendor"),
    ),
    Cause(
        "The driver is missing, not loaded, or too old for this torch's CUDA",
        "nvidia-smi fails, or the CUDA version in its head is lower than torch.version.cuda",
        "install or upgrade the driver, or take the wheel that `torchlift doctor` names for this driver",
        seen=r"driver (?:is )?too old|nvidia-smi|NVIDIA-SMI has failed",
        checks=(
            "driver-missing",
            "driver-not-loaded",
            "driver-too-old",
            "nvml-and-cuda-disagree",
            "cuda-unknown-error",
        ),
    ),
    Cause(
        "The GPU is hidden: CUDA_VISIBLE_DEVICES, a container without --gpus all, a job without a GPU",
        "echo $CUDA_VISIBLE_DEVICES is empty or -1; nvidia-smi is not there inside of the container or job",
        "unset CUDA_VISIBLE_DEVICES; docker run --gpus all; sbatch --gres=gpu:1",
        seen=r"docker|container|CUDA_VISIBLE_DEVICES|srun|sbatch",
        checks=("cuda-visible-devices", "device-permissions"),
    ),
    Cause(
        "It runs while a container is built, when there is no GPU",
        "lines begin with the number and second of a step (#0 920.0), or `failed to solve` and a RUN stand below",
        'do not ask for the GPU there (stable-diffusion-webui: COMMANDLINE_ARGS=--skip-torch-cuda-test in that RUN; extensions: TORCH_CUDA_ARCH_LIST and FORCE_CUDA=1), only at docker run --gpus all; or give builds one: "default-runtime": "nvidia" in /etc/docker/daemon.json with DOCKER_BUILDKIT=0',
        seen=r"(?m)^#\d{1,3} \d{1,6}\.\d|failed to solve|docker build|^Step \d{1,3}/\d",
    ),
    Cause(
        "Another Python runs than the one that has the GPU build (a second environment, a notebook's kernel)",
        "python -c 'import sys, torch; print(sys.executable, torch.__file__)' inside of the program prints another path",
        "install into that one (python -m pip install ...), or choose the right kernel",
    ),
)

NOT_SHARED = (
    Cause(
        "The process has as many files open as it may: each tensor that a worker hands over is one",
        "ulimit -n says 1024 (256 on macOS), it comes after some hundreds of batches, `Too many open files` stands near; `unable to open ... in read-write mode`",
        "ulimit -n 65536 in the shell that starts it, torch.multiprocessing.set_sharing_strategy('file_system'), and do not keep what a loader yields in a list (copy.deepcopy or .clone() it)",
        seen=r"read-write mode|Too many open files|\(24\)",
        checks=("open-files-limit",),
    ),
    Cause(
        "/dev/shm is full, or main memory is",
        "df -h /dev/shm while it runs; `No space left on device (28)` or `Cannot allocate memory (12)`",
        "docker run --shm-size=8g or --ipc=host; fewer workers, smaller batches",
        seen=r"\(28\)|\(12\)|No space left|Cannot allocate",
        checks=("shm-size",),
    ),
    Cause(
        "There are more mappings than the kernel allows",
        "wc -l /proc/PID/maps is near sysctl vm.max_map_count (65530)",
        "sudo sysctl -w vm.max_map_count=262144, fewer or larger tensors",
        seen=r"\(12\)",
    ),
    Cause(
        "The process that sent it has ended, or the file was removed",
        "its log ends before, `No such file or directory (2)`; a job that cleans /dev/shm",
        "keep the sender alive until the receiver has copied; look at its error first",
        seen=r"\(2\)|No such file",
    ),
)
