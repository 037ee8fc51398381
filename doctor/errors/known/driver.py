"""The driver, its libraries, containers, and GPUs that a program does not see."""

from __future__ import annotations

from torchlift.doctor.errors.codes import cuda_codes
from torchlift.doctor.errors.known.causes_of_devices import (
    DRIVER_NOT_LOADED,
    NO_CARD_LISTED,
    NO_SUCH_NUMBER,
    SAVED_ON_GPU,
)
from torchlift.doctor.errors.known.causes_of_loading import NO_DRIVER_HERE
from torchlift.doctor.errors.known.causes_of_running import GPU_BUSY
from torchlift.doctor.errors.known.more_causes import CUDA_START, NO_GPU_SEEN
from torchlift.doctor.errors.known.several_causes import CUDA_UNKNOWN, NO_DEVICE
from torchlift.doctor.errors.known_error import WHEEL, KnownError, thread, torch_file

_FAKE = "torch 2.15.0 against a libcuda that fails on purpose, measured 2026-11-21"

ROWS = (
    KnownError(
        id="container-runtime-mode",
        pattern=r"invoking the NVIDIA Container Runtime Hook directly .{0,80}is not supported",
        cause="On a Jetson, or where Docker uses CDI, GPUs are given by the NVIDIA runtime and not by --gpus",
        remedy="Start the container with --runtime=nvidia instead of --gpus",
        checks=("jetson-wheel", "driver-missing"),
        says=(
            "invoking the NVIDIA Container Runtime Hook directly (e.g. specifying the docker --gpus flag) is not supported. "
            "Please use the NVIDIA Container Runtime (e.g. specify the --runtime=nvidia flag) instead.: unknown.",
        ),
        sources=(thread("NVIDIA/TensorRT-LLM", 799, "2024-01-03"),),
    ),
    KnownError(
        id="kernel-module-build",
        pattern=r"Bad return status for module build on kernel|error processing package (nvidia|amdgpu)\S{0,40}dkms"
        r"|Unable to build the kernel module|the step: .{0,4}Building kernel modules",
        cause="The driver's kernel module could not be built: it does not know this kernel yet, or the kernel's headers or compiler "
        "are missing",
        remedy="Read the end of the make.log that is named; install the headers of the running kernel, or a newer driver. Inside a "
        "container no kernel module is needed: leave the -dkms package out",
        checks=("driver-not-loaded",),
        says=("Error! Bad return status for module build on kernel: 6.14.0-29-generic (x86_64)",),
        sources=(thread("invoke-ai/InvokeAI", 8518, "2025-09-02"),),
    ),
    KnownError(
        id="gpu-lost",
        pattern=r"GPU is lost|fallen off the bus|CUDA.{0,40}device (has been )?lost|Xid.{0,60}\b79\b"
        r"|Unable to determine the device handle for (gpu|GPU)",
        cause="The GPU no longer answers: it fell off the bus or its driver gave it up",
        remedy="Power-cycle the machine, then look at the kernel log for Xid messages. Where it comes again under load: temperature (nvidia-smi -q -d TEMPERATURE), the power supply and its cables (nvidia-smi -pl WATTS, lower, as a test), slot and riser, the BIOS, another driver; then the card",
        checks=("gpu-lost", "driver-hangs"),
        says=(
            "Unable to determine the device handle for GPU 0000:0A:00.0: GPU is lost.  Reboot the system to recover this GPU",
            "NVRM: Xid (PCI:0000:81:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
        ),
        sources=("https://docs.nvidia.com/deploy/xid-errors/, read 2026-11-21",),
        lost=True,
    ),
    KnownError(
        id="uncorrectable-ecc",
        pattern=r"uncorrectable ECC error|uncorrectable NVLink error|Xid.{0,60}: (48|94|95)," + cuda_codes(214, 220),
        cause="The GPU's memory or link reported an error that it could not correct",
        remedy="Drain the machine and reset the GPU; replace it if the error returns",
        command="sudo nvidia-smi --gpu-reset",
        checks=("ecc-errors", "row-remapping"),
        says=("RuntimeError: CUDA error: uncorrectable ECC error encountered",),
        sources=("https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/, read 2026-11-21",),
        lost=True,
    ),
    KnownError(
        id="unsupported-ptx",
        pattern=r"the provided PTX was compiled with an unsupported toolchain|CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
        r"|Error 222\b" + cuda_codes(222),
        cause="Code compiled at run time by this CUDA toolkit is newer than the driver can read: minor-version "
        "compatibility does not cover PTX",
        remedy="Upgrade the driver to the one paired with the toolkit, or install torch for an older CUDA",
        checks=("driver-too-old",),
        says=("RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.",),
        sources=(
            "https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html, read 2026-11-21",
        ),
        wheel=True,
    ),
    KnownError(
        id="driver-too-old",
        pattern=r"The NVIDIA driver on your system is too old|CUDA driver version is insufficient"
        r"|unsatisfied condition: (cuda|driver)|cudaErrorInsufficientDriver" + cuda_codes(35),
        cause="The driver is older than this CUDA needs (the number that torch prints is a CUDA version, not a driver)",
        remedy=WHEEL,
        checks=("driver-too-old",),
        says=(
            "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver "
            "by downloading and installing a new version from the URL: http://www.nvidia.com/Download/index.aspx",
            "CUDA error: CUDA driver version is insufficient for CUDA runtime version",
            "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.4, please update your driver to a "
            "newer version, or use an earlier cuda container: unknown.",
        ),
        sources=(thread("pytorch/pytorch", 25581), _FAKE),
        wheel=True,
    ),
    KnownError(
        id="container-host-without-driver",
        pattern=r"load library failed: libnvidia-ml\.so\.1|nvidia-container-cli(?:\.real)?: [^\n]{0,80}libnvidia-ml\.so\.1",
        cause="The NVIDIA container runtime of this host finds no driver library to give to the container: the driver is not installed there, Docker comes from a snap or runs rootless or in Docker Desktop's virtual machine and does not see it, or the image was built or run where no GPU is",
        remedy="Run nvidia-smi on the host: not there: install the driver (in WSL: the one of Windows). There: use Docker's own packages instead of snap, Docker Desktop on Linux offers no GPU (docker context use default), sudo ldconfig, then restart docker. Without a GPU: leave out --gpus all, and `deploy: resources: reservations: devices` in a compose file",
        command="nvidia-smi && snap list docker; docker context ls",
        checks=("driver-missing", "driver-library-broken"),
        says=(
            "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown",
        ),
        sources=(thread("xserrat/docker-facebook-demucs", 21, "2022-10-08"),),
    ),
    KnownError(
        id="no-driver",
        causes=NO_DRIVER_HERE,
        pattern=r"Found no NVIDIA driver|The NVIDIA Driver was not detected|libcuda\.so(\.1)?: cannot open shared object"
        r"|NVML Shared Library Not Found|couldn't find libnvidia-ml\.so library"
        r"|could not load NVML library|initialize NVML: ERROR_LIBRARY_NOT_FOUND|libnvidia-ml\.so(\.1)?: cannot open shared object",
        cause="There is no NVIDIA driver library that this process can load",
        remedy="Run nvidia-smi in the same place, and on the host",
        command="nvidia-smi; ldconfig -p | grep libcuda",
        checks=("driver-missing", "driver-library-broken", "library-path"),
        says=(
            "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a "
            "driver from http://www.nvidia.com/Download/index.aspx",
            "OSError: libcuda.so.1: cannot open shared object file: No such file or directory",
            "pynvml.NVMLError_LibraryNotFound: NVML Shared Library Not Found",
        ),
        sources=(_FAKE, thread("pytorch/pytorch", 25581)),
    ),
    KnownError(
        id="driver-api-missing",
        pattern=r"handle\w{0,4} INTERNAL ASSERT FAILED at .{0,40}c10/cuda/driver_api\.cpp",
        cause="torch's allocator asks for the driver's library by the name libcuda.so.1 (or libnvidia-ml.so.1), and the process did "
        "not load it under that name: in a container without all driver capabilities, or with another libcuda in front",
        remedy="Start the container with NVIDIA_DRIVER_CAPABILITIES=all; take expandable_segments out of PYTORCH_ALLOC_CONF, which "
        "needs it",
        checks=("driver-library-broken", "driver-missing", "library-path", "stub-libcuda"),
        says=(
            'RuntimeError: handle_0 INTERNAL ASSERT FAILED at "../c10/cuda/driver_api.cpp":15, please report a bug to PyTorch.',
        ),
        sources=(thread("LlamaChinese/Llama-Chinese", 256, "2023-11-13"),),
        likely=True,
    ),
    KnownError(
        id="stub-libcuda",
        pattern=r"CUDA driver is a stub library|CUDA_ERROR_STUB_LIBRARY" + cuda_codes(34),
        cause="The loader found the toolkit's stub of libcuda instead of the driver's library",
        remedy="Remove the folder named stubs from LD_LIBRARY_PATH",
        checks=("stub-libcuda",),
        says=(
            "UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions "
            "before calling NumCudaDevices() that might have already set an error? Error 34: CUDA driver is a stub library",
        ),
        sources=(_FAKE,),
    ),
    KnownError(
        id="forward-compatibility",
        pattern=r"forward compatibility was attempted on non supported HW|CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"
        + cuda_codes(804),
        cause="A CUDA compatibility package is on the loader's path, and this GPU is not one that may use it; or an upgrade "
        "of the driver waits for a restart",
        remedy="Remove the cuda-compat folder from LD_LIBRARY_PATH and /etc/ld.so.conf.d; after an upgrade of the driver, "
        "restart",
        checks=("compat-package", "driver-library-mix", "driver-version-mismatch"),
        says=(
            "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling "
            "NumCudaDevices() that might have already set an error? Error 804: forward compatibility was attempted on non "
            "supported HW",
        ),
        sources=(thread("PKU-YuanGroup/Video-LLaVA", 22, "2023-11-30"), _FAKE),
    ),
    KnownError(
        id="driver-mix",
        pattern=r"unsupported display driver / cuda driver combination|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
        + cuda_codes(803),
        cause="The libcuda that was loaded does not belong to the kernel driver that runs",
        remedy="Restart after a driver upgrade; remove cuda-compat folders; in a container, use the host's version",
        checks=("driver-library-mix", "compat-package"),
        says=("Error 803: system has unsupported display driver / cuda driver combination",),
        sources=(thread("llm-d/llm-d", 706), _FAKE),
    ),
    KnownError(
        id="system-not-ready",
        pattern=r"system not yet initialized|CUDA_ERROR_SYSTEM_NOT_READY" + cuda_codes(802),
        cause="The NVSwitch fabric is not up",
        remedy="Start nvidia-fabricmanager in exactly the driver's version",
        command="sudo systemctl start nvidia-fabricmanager",
        checks=("fabric-manager",),
        says=(
            "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling "
            "NumCudaDevices() that might have already set an error? Error 802: system not yet initialized",
        ),
        sources=(thread("haotian-liu/LLaVA", 683, "2023-10-27"), thread("pytorch/pytorch", 35710)),
        likely=True,
    ),
    KnownError(
        id="driver-library-mismatch",
        pattern=r"[Dd]river/library version mismatch|Mismatch in versions between nvidia-smi and NVML|RM has detected an NVML/RM version mismatch",
        cause="The user-space driver was upgraded and the kernel module was not yet reloaded",
        remedy="Restart the machine",
        command="sudo reboot",
        checks=("driver-version-mismatch",),
        says=("Failed to initialize NVML: Driver/library version mismatch",),
        sources=(thread("oddmario/NVIDIA-Ubuntu-Driver-Guide", 4),),
    ),
    KnownError(
        id="nvml-unknown-error",
        pattern=r"NVML:? Unknown Error|NVMLError_Unknown",
        cause="The container lost its GPUs while it ran: `systemctl daemon-reload` on the host, or an update, rewrote the "
        "rules of its cgroup, and the device nodes can no longer be opened",
        remedy="Start the container again. For good: name the device nodes (--device /dev/nvidia0 ...), use CDI, or set "
        '"exec-opts": ["native.cgroupdriver=cgroupfs"] in /etc/docker/daemon.json',
        checks=("device-permissions", "driver-missing"),
        says=("Failed to initialize NVML: Unknown Error",),
        sources=(
            thread("NVIDIA/nvidia-docker", 1730, "2023-02-07"),
            thread("NVIDIA/nvidia-container-toolkit", 1397, "2025-10-28"),
        ),
        likely=True,
    ),
    KnownError(
        id="gpu-access-blocked",
        pattern=r"GPU access blocked by the operating system",
        cause="Under WSL, Windows does not let Linux use the GPU: its driver is too old, is being updated, or WSL is version 1",
        remedy="Update the NVIDIA driver of Windows and WSL itself, then start WSL anew",
        command="wsl --update && wsl --shutdown",
        checks=("wsl-driver",),
        says=("Failed to initialize NVML: GPU access blocked by the operating system",),
        sources=("https://docs.nvidia.com/cuda/wsl-user-guide/, read 2026-11-21",),
        likely=True,
    ),
    KnownError(
        id="driver-not-loaded",
        causes=DRIVER_NOT_LOADED,
        pattern=r"couldn't communicate with the NVIDIA driver|NVML:? Driver Not Loaded|NVMLError_DriverNotLoaded"
        r"|nvml error: driver not loaded|ROCk module is NOT loaded",
        cause="The GPU's kernel module is not loaded",
        remedy="See whether there is a card, whether the module is there, and what the kernel says",
        command="lspci | grep -iE 'nvidia|amd/ati'; sudo modprobe nvidia; dkms status; sudo dmesg | grep -iE 'nvrm|nouveau|amdgpu' | tail",
        checks=("driver-not-loaded",),
        says=(
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA "
            "driver is installed and running.",
            "nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown.",
        ),
        sources=(
            thread("ameli/manylinux-cuda", 5, "2024-05-12"),
            thread("mattshma/bigdata", 133, "2018-12-29"),
            thread("junxnone/tio", 206, "2018-12-06"),
            "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/, read 2026-11-21",
        ),
    ),
    KnownError(
        id="device-permissions",
        pattern=r"NVML:? Insufficient Permissions|nvml error: insufficient permissions|NVMLError_NoPermission|Unable to open /dev/kfd|Error 304: OS call failed",
        cause="This user may not open the device nodes of the GPU",
        remedy="Join the groups that own them, or give the container its devices",
        checks=("device-permissions",),
        says=(
            "Failed to initialize NVML: Insufficient Permissions",
            "Unable to open /dev/kfd read-write: Permission denied",
        ),
        sources=(
            "https://rocm.docs.amd.com/projects/install-on-linux/en/latest/install/prerequisites.html, read 2026-11-21",
        ),
        likely=True,
    ),
    KnownError(
        id="gpu-initialisation-failed",
        causes=NO_CARD_LISTED,
        pattern=r"RmInitAdapter failed|^No devices were found\.?$",
        cause="The driver is there and lists no card",
        remedy="Ask the host itself first: nvidia-smi outside of the container or job",
        command="sudo dmesg | grep -i nvrm; ls -l /dev/nvidia*",
        checks=("gpu-missing", "kernel-module-flavour", "driver-too-new-for-gpu", "driver-too-old-for-gpu", "mig"),
        says=("NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x24:0x72:1568)", "No devices were found"),
        sources=(thread("NVIDIA/open-gpu-kernel-modules", 872),),
        likely=True,
    ),
    KnownError(
        id="container-without-runtime",
        pattern=r"could not select device driver.{0,40}capabilities: \[\[gpu"
        r"|[Uu]nknown (or invalid )?runtime( name| specified)?:? ?nvidia",
        cause="Docker on this host does not know the NVIDIA container runtime: the NVIDIA Container Toolkit is not installed "
        "or not configured",
        remedy="Install nvidia-container-toolkit on the host and configure Docker for it",
        command="sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker",
        checks=("driver-missing",),
        says=(
            'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
            'Error response from daemon: could not select device driver "nvidia" with capabilities: [[gpu]]',
            "docker: Error response from daemon: unknown or invalid runtime name: nvidia.",
        ),
        sources=(
            thread("NVIDIA/nvidia-docker", 1034),
            "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html, read 2026-11-21",
        ),
    ),
    KnownError(
        id="no-gpus",
        causes=NO_DEVICE,
        command="nvidia-smi; env | grep -E 'VISIBLE|SLURM_JOB_GPUS'",
        pattern=r"(?:No CUDA GPUs|no CUDA-capable device|CUDA_ERROR_NO_DEVICE|no CUDA-capable device is detected)(?![^\0]{0,120}c10.hip)"
        + cuda_codes(100),
        cause="The driver answers, and shows this process no GPU",
        remedy="Run nvidia-smi in the same place (container, job, shell): no command or no card there means that the place has none; cards there, that this process hides them",
        checks=(
            "cuda-visible-devices",
            "mig",
            "driver-missing",
            "driver-not-loaded",
            "nvml-and-cuda-disagree",
            "device-permissions",
        ),
        says=(
            "RuntimeError: No CUDA GPUs are available",
            "RuntimeError: CUDA error: no CUDA-capable device is detected",
        ),
        sources=(_FAKE, "torch/cuda/__init__.py, _parse_visible_devices, torch 2.13.0, read 2026-11-21"),
        likely=True,
    ),
    KnownError(
        id="cuda-unknown",
        causes=CUDA_UNKNOWN,
        pattern=r"CUDA unknown error\b|Error 999\b|CUDA_ERROR_UNKNOWN"
        r"|C[Uu][Dd]A error: ?unknown error" + cuda_codes(999),
        cause="CUDA gives no reason: it could not start, or lost its context",
        remedy="First see which: does CUDA work in a new process",
        command="python -c 'import torch; torch.zeros(1).cuda()'; sudo dmesg | grep -i xid",
        checks=("cuda-unknown-error", "device-permissions", "xid-errors"),
        says=(
            "RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env "
            "variable CUDA_VISIBLE_DEVICES after program start. Setting the available devices to be zero.",
        ),
        sources=(_FAKE,),
        likely=True,
    ),
    KnownError(
        id="busy",
        causes=GPU_BUSY,
        pattern=r"CUDA-capable device(s|\(s\) is/are| is|s are) busy or unavailable|CUDA_ERROR_DEVICE_UNAVAILABLE"
        + cuda_codes(46, 216),
        cause="CUDA is refused on a GPU that is in view",
        remedy="See which: the compute mode, and whether anything else is on the GPU",
        command="nvidia-smi -q -d COMPUTE; nvidia-smi; sudo dmesg | grep -iE 'xid|nvrm' | tail",
        checks=("compute-mode", "xid-errors", "driver-version-mismatch", "mig"),
        says=("RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable",),
        sources=(
            thread("microsoft/Bringing-Old-Photos-Back-to-Life", 28, "2020-10-23"),
            thread("pytorch/pytorch", 58824, "2021-05-25"),
            "https://docs.nvidia.com/deploy/nvidia-smi/index.html (compute mode), read 2026-11-21",
        ),
        likely=True,
    ),
    KnownError(
        id="invalid-device-ordinal",
        causes=NO_SUCH_NUMBER,
        pattern=r"invalid device ordinal|Attempting to deserialize object on CUDA device \d{1,4} but "
        r"torch\.cuda\.device_count\(\) is|CUDA unavailable, invalid device|AssertionError: Invalid device id"
        + cuda_codes(101),
        cause="The program asks for a GPU by a number that this process does not have",
        remedy="See how many this process has: python -c 'import torch; print(torch.cuda.device_count())'",
        command="nvidia-smi -L; echo $CUDA_VISIBLE_DEVICES; python -c 'import torch; print(torch.cuda.device_count())'",
        checks=("cuda-visible-devices", "gpu-missing", "mig"),
        says=(
            "RuntimeError: CUDA error: invalid device ordinal",
            "RuntimeError: Attempting to deserialize object on CUDA device 1 but torch.cuda.device_count() is 1. Please use "
            "torch.load with map_location to map your storages to an existing device.",
            "AssertionError: Invalid device id",
        ),
        sources=(
            thread("wdrink/PyDeepFakeDet", 1, "2022-08-19"),
            thread("gaomingqi/Track-Anything", 83, "2023-06-02"),
            thread("NVIDIA/nccl-tests", 263, "2024-11-04"),
            thread("shariqfarooq123/AdaBins", 79, "2023-05-17"),
        ),
    ),
    KnownError(
        id="saved-on-cuda",
        causes=SAVED_ON_GPU,
        pattern=r"Attempting to deserialize object on a CUDA device but torch\.cuda\.is_available\(\) is False",
        cause="The file was saved on a GPU, and this process sees none",
        remedy="torch.load(FILE, map_location='cpu') reads it everywhere; whether there should be a GPU tells the rest",
        checks=("torch-cpu-build", "driver-missing", "cuda-visible-devices", "torch-other-vendor"),
        says=(
            "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you "
            "are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your "
            "storages to the CPU.",
        ),
        sources=(torch_file("torch/serialization.py"),),
    ),
    KnownError(
        id="cuda-not-available",
        causes=NO_GPU_SEEN,
        command="torchlift doctor",
        pattern=r"torch\.cuda\.is_available\(\) ?(==|is|returns|returned|->|:|=)? ?False\b|\bis_available\(\) False\b"
        r"|\bCUDA (is )?(not|un)(-| )?available\b|Torch is not able to use GPU|Found no available GPU"
        r"|no CUDA device (was )?found|torch\.cuda\.current_device\(\) did not return a device|No CUDA runtime is found|CUDA is required to compile|can only be used on CUDA devices|No GPU found\b|GPU is needed for quantization",
        cause="torch sees no GPU",
        remedy="Run `torchlift doctor` with the Python that runs the program: it says which of these it is",
        checks=(
            "torch-cpu-build",
            "torch-other-vendor",
            "driver-missing",
            "driver-not-loaded",
            "driver-too-old",
            "cuda-visible-devices",
            "device-permissions",
            "nvml-and-cuda-disagree",
            "cuda-unknown-error",
        ),
        says=(
            "torch.cuda.is_available() returns False",
            "UserWarning: User provided device_type of 'cuda', but CUDA is not available. Disabling",
            "RuntimeError: Torch is not able to use GPU; add --skip-torch-cuda-test to COMMANDLINE_ARGS variable to disable "
            "this check",
        ),
        sources=(torch_file("torch/amp/autocast_mode.py"), _FAKE),
        level="vague",
    ),
    KnownError(
        id="cuda-initialisation",
        causes=CUDA_START,
        pattern=r"Unexpected error from cudaGetDeviceCount\(\)|CUDA driver initialization failed"
        r"|Can't initialize NVML|The NVIDIA Driver is present, but CUDA failed to initialize" + cuda_codes(3),
        cause="The driver did not start CUDA for this process: its kernel module, its libraries and the device nodes are not of one release or not all there, a container was given only a part of "
        "them, or a GPU has failed; `Error N` behind the text, where it stands, is the driver's own reason",
        remedy="Run `torchlift doctor` where the program runs: it asks the driver itself and names which of these it is. By hand: nvidia-smi; ls -l /dev/nvidia*; sudo dmesg | grep -iE 'nvrm|xid'",
        command="torchlift doctor",
        checks=("nvml-and-cuda-disagree", "driver-version-mismatch", "driver-library-broken", "cuda-unknown-error"),
        says=(
            "UserWarning: CUDA initialization: CUDA driver initialization failed, you might not have a CUDA gpu.",
            "UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions "
            "before calling NumCudaDevices() that might have already set an error? Error 3: initialization error",
            "UserWarning: Can't initialize NVML",
            "ERROR: The NVIDIA Driver is present, but CUDA failed to initialize.  GPU functionality will not be available.",
        ),
        sources=(_FAKE, torch_file("torch/cuda/__init__.py")),
        level="vague",
    ),
)
