"""Why modules, extensions, libraries and files do not load: what tells the reasons apart that print one message."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import Cause

OTHER_TORCH = (
    Cause(
        "The package's wheel is for another torch: torch was up- or downgraded after it, or the newest wheel was taken for an older torch",
        "the file lies in site-packages; python -m pip show PACKAGE and python -c 'import torch; print(torch.__version__)' against the package's table, or the torch in the wheel's name",
        "pip install --force-reinstall --no-deps --no-cache-dir the release of the package for this torch (a wheel that names torch, CUDA and Python, where it has such), or the torch that the package names",
        checks=("companion-mismatch", "extension-abi"),
    ),
    Cause(
        "It was compiled on this machine with another torch: an earlier one, or the newest, which pip takes into the empty environment where it builds",
        "the file lies in the folder of a clone, in an .egg, or in ~/.cache/torch_extensions; or pip built it (`Building wheel for`) without --no-build-isolation",
        "delete its build folder (rm -rf build *.egg-info, ~/.cache/torch_extensions) and build it again: pip install --no-build-isolation --no-deps --force-reinstall .; pip's cache may hold the old wheel: --no-cache-dir",
        seen=r"torch_extensions|\.egg|/build/|site-packages/[\w.-]{1,60}-\d[^/\n]{0,60}\.egg",
    ),
    Cause(
        "The wheel is built with the other C++ ABI",
        "the symbol has __cxx11 (or Ss), and python -c 'import torch; print(torch.compiled_with_cxx11_abi())' is the opposite of the wheel's cxx11abiTRUE or FALSE",
        "take the wheel with the other one (wheels of torch have the new ABI since 2.7, before that the old one; conda's and NVIDIA's containers the new one)",
        seen=r"ErrorC[12]ENS_14SourceLocation|14torchCheckFail|23torchInternalAssertFail|cxx11abi",
    ),
    Cause(
        "Two torches are in reach",
        "python -c 'import torch; print(torch.__file__)' is not the environment's folder (~/.local, conda beside pip, PYTHONPATH)",
        "keep one: python -m pip uninstall torch until it finds none, unset PYTHONPATH, PYTHONNOUSERSITE=1, then install it once",
        seen=r"(?s)\.local/lib.{1,2000}(?:conda|venv)|(?:conda|venv).{1,2000}\.local/lib",
        checks=("several-torch-copies", "user-site-torch", "pythonpath-torch"),
    ),
)

NO_CODE_FOR_GPU = (
    Cause(
        "torch itself has no code for this GPU (it is newer than the wheel, or older than those it still builds for)",
        "python -c 'import torch; print(torch.cuda.get_device_capability(), torch.cuda.get_arch_list()); print(torch.ones(2).cuda() * 2)': the capability is not in the list and the product fails, too",
        "install the wheel that `torchlift doctor` prints for this GPU (RTX 50 and B200: a build for CUDA 12.8 or newer; Maxwell, Pascal and Volta: cu126 and older)",
        seen=r"RTX ?50\d\d|5090|5080|5070|5060|B200|sm_120|sm_100|Blackwell|GTX|K80|K40|P100|Tesla|TITAN",
        checks=("gpu-architecture", "jetson-wheel"),
    ),
    Cause(
        "A package's own kernels have none (flash-attn, bitsandbytes, auto-gptq, exllama, cpm_kernels of ChatGLM's int4, vLLM, an extension)",
        "that product works, and the last frame (CUDA_LAUNCH_BLOCKING=1) is in the package",
        "upgrade the package, or build it here: TORCH_CUDA_ARCH_LIST='8.6' (this GPU's capability) pip install --no-build-isolation --no-cache-dir --force-reinstall --no-deps PACKAGE; a GPU older than the package supports: another quantization or attention (attn_implementation='sdpa', float16)",
        seen=r"flash|bitsandbytes|gptq|GPTQ|awq|exllama|quantiz|cpm_kernels|vllm|sgl|xformers|_cuda|extension|rasteriz|gsplat|mmcv|detectron|pytorch3d|spconv|deepspeed|apex",
        checks=("extension-architecture",),
    ),
    Cause(
        "An extension was compiled for the GPU of another machine",
        "it worked elsewhere: a shared home or image, or TORCH_CUDA_ARCH_LIST was set when it was built; the file is in ~/.cache/torch_extensions or build/",
        "delete that build and build it again here, or name all GPUs: TORCH_CUDA_ARCH_LIST='7.5 8.0 8.6 9.0'",
        seen=r"torch_extensions|[Dd]ocker|ARCH_LIST",
    ),
)

BUILD_WITHOUT_DEVICE = (
    Cause(
        "This torch is the build for the CPU: pip's default under Windows, conda's choice where it saw no driver, or brought in by a dependency (requirements.txt, torchvision, xformers) that replaced the right one",
        "python -c 'import torch; print(torch.__version__, torch.version.cuda)' prints +cpu or None",
        "install the wheel that `torchlift doctor` prints, with torchvision and torchaudio from the same index (--force-reinstall where pip says that it is there); then see that installing the rest does not replace it",
        checks=("torch-cpu-build",),
    ),
    Cause(
        "The machine has no such GPU: a Mac, an AMD or Intel card, or none, and the program says cuda",
        "the path or prompt is of a Mac; nvidia-smi is not there",
        "choose the device: mps on Apple's processors, xpu for Intel (torch's xpu wheel), cuda on torch's ROCm build for AMD, else cpu (map_location='cpu', --device cpu, no .cuda())",
        seen=r"/Users/|macOS|[Mm]ac ?[Oo]?S?\b|[Dd]arwin|M[1-4]\b|mps|rocm|ROCm|AMD|Radeon|Arc\b|Ryzen",
        checks=("torch-other-vendor",),
    ),
    Cause(
        "Another Python runs than the one with the GPU build",
        "python -c 'import sys, torch; print(sys.executable, torch.__file__)' inside of the program or notebook shows another folder",
        "install into that one (that python -m pip install ...), or choose the right kernel or environment",
        seen=r"ipykernel|notebook|Jupyter|In \[\d",
        checks=("several-torch-copies",),
    ),
)

MODULE_NOT_FOUND = (
    Cause(
        "The package is not installed in the environment that runs",
        "python -m pip show NAME prints nothing, for the package's name (which may differ from the module's)",
        "install it with the same Python: python -m pip install NAME, best in the release of the program's requirements.txt; in a notebook %pip install NAME and a restart of its kernel",
    ),
    Cause(
        "It is installed in another Python",
        "python -c 'import sys; print(sys.executable)' (inside of the program, notebook or launcher) is not the folder that pip --version names",
        "activate the environment in the shell that starts it, call python -m pip instead of pip, python -m torch.distributed.run instead of a torchrun of another environment; choose the notebook's kernel",
        seen=r"ipykernel|/usr/bin/python|/usr/lib/python|\.local/lib|srun|sudo",
    ),
    Cause(
        "It is a file or folder of the program",
        "its repository has NAME.py or a folder NAME",
        "start in the repository's root (python -m PACKAGE.PROGRAM), PYTHONPATH=. before it, or pip install --no-build-isolation -e . ; a submodule that was not fetched: git submodule update --init --recursive",
        seen=r"No module named '?(?:utils|models?|data|datasets?|src|lib|config|tools|modules|scripts|ldm|core|layers|common|networks|taming)\b",
    ),
    Cause(
        "It is a compiled part of the program's own (a folder with a setup.py and .cu or .cpp files), which is built on each machine",
        "its repository has that name in a setup.py (grep -rn NAME --include=setup.py .), often below ops, extensions, lib or csrc; its README has a line such as `cd ops && python setup.py install`",
        "in that folder: pip install --no-build-isolation . (older: python setup.py install), with nvcc of torch's CUDA and a compiler; where that fails ask with its first error",
        seen=r"No module named '?[\w.]{0,60}(?:_ext\b|_C\b|_C_|cuda|_ops?\b|chamfer|emd|pointnet|nms|roi|knn|deform|MultiScale|raster|voxel|corr|custom_conv|kernel|fused|alt_)",
    ),
    Cause(
        "pip is building a package, in an environment of its own",
        "above or below stands subprocess-exited-with-error, Getting requirements to build wheel, or setup.py",
        "install the module first, then pip install --no-build-isolation PACKAGE",
        seen=r"build wheel|setup\.py|subprocess-exited|build_meta|egg_info",
    ),
)

NOT_IN_THE_PACKAGE = (
    Cause(
        "The installed release is newer than the code: the name was moved or removed",
        "python -m pip show NAME gives a release from after the code was written (the date on pypi.org against that of the repository)",
        "install the release that the program's requirements name, or one of its time (python -m pip install 'NAME<RELEASE'; pip index versions NAME lists them); a package that asks: upgrade that one",
    ),
    Cause(
        "The installed release is older than the code",
        "the release is from before the code that asks, and the name is in the newest documentation",
        "python -m pip install -U NAME, together with the package that asks",
    ),
    Cause(
        "Another thing of that name is imported: a file or folder of the program, a leftover of an uninstall, or a package whose parts are two",
        "python -c 'import NAME; print(NAME.__file__)' is not in site-packages, or prints None",
        "rename it or start from another folder; delete what is left in site-packages and install it anew",
        seen=r"unknown location|partially initialized|\(\S{0,200}(?<!site-packages)/(?:home|workspace|root|Users|content)/(?!\S{0,120}site-packages)",
    ),
)

LIBRARY_NOT_FOUND = (
    Cause(
        "It is a library of the system that is not installed",
        "apt-file search NAME (dnf provides '*/NAME') finds its package; ldd FILE | grep 'not found' shows all that are missing",
        "install that package (apt-get install, dnf install), or the one of the same library from conda-forge",
    ),
    Cause(
        "It comes with another Python package (torch, CUDA's wheels, the package itself), which was not imported before or is another release",
        "find $(python -c 'import site; print(site.getsitepackages()[0])') -name 'NAME*' finds it, or finds another number behind .so",
        "import torch first; install the package that has it in the release whose number is asked; else put its folder on LD_LIBRARY_PATH",
        seen=r"site-packages/\S{1,120}\.so: |\.cpython-",
        checks=("missing-libraries",),
    ),
    Cause(
        "It is on the machine and its folder is not searched",
        "ldconfig -p | grep NAME, or find / -name 'NAME*' 2>/dev/null, shows it",
        "export LD_LIBRARY_PATH=FOLDER:$LD_LIBRARY_PATH, or sudo ldconfig FOLDER (an environment: $CONDA_PREFIX/lib; a simulator or SDK: its own setup script); macOS: DYLD_LIBRARY_PATH",
        seen=r"_bindings|/usr/local/lib",
        checks=("library-path",),
    ),
    Cause(
        "The file that the path names was never built or copied: the package is not whole, or for another Python (the number in the file's name)",
        "ls -l of that folder shows no such file, or one for another Python",
        "install or build the package again for this Python; read its installation's first error",
        seen=r"/[\w./+-]{4,200}\.so: cannot open|\w\.(?:cpython-)?3\d{1,2}\b|\.38|\.37",
    ),
)

PART_NOT_BUILT = (
    Cause(
        "The package was installed without its compiled part: no compiler, CUDA toolkit or GPU was in view, or its build failed silently",
        "python -m pip show -f PACKAGE | grep -E '[.](so|pyd)' lists none",
        "a wheel for this torch, CUDA and Python; else build it where nvcc --version is torch.version.cuda: FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST=CAPABILITY pip install -v --no-build-isolation --no-cache-dir PACKAGE, and read the first error",
        checks=("toolkit-mismatch", "host-compiler"),
    ),
    Cause(
        "It is there and does not load: built for another torch, CUDA or Python",
        "that list has it, and importing it alone (import torch first) shows another error: undefined symbol, cannot open shared object, DLL load failed",
        "ask with that error; mostly the package has to be installed for this torch",
        seen=r"undefined symbol|cannot open|DLL load|circular import|partially initialized",
        checks=("extension-abi",),
    ),
    Cause(
        "The folder of a clone is imported in place of the installed package",
        "the path in the message, or python -c 'import PACKAGE; print(PACKAGE.__file__)', is that of the clone",
        "start from another folder, or build it in place: pip install --no-build-isolation -e . (older: python setup.py build_ext --inplace, develop)",
        seen=r"\((?!\S{0,200}site-packages)/\S{1,200}__init__\.py\)",
    ),
)

FILE_NOT_WHOLE = (
    Cause(
        "The download or copy was cut short",
        "ls -l FILE is smaller than on the page it is from, or its hash differs",
        "delete it (also below ~/.cache/huggingface/hub or ~/.cache/torch/hub/checkpoints) and get it again: hf download NAME, wget -c URL",
        seen=r"unexpected EOF|central directory|truncated|IncompleteBuffer|wrong size",
    ),
    Cause(
        "It is a pointer of Git LFS or a web page, not the file",
        "head -c 200 FILE shows `version https://git-lfs` or `<html`",
        "git lfs install && git lfs pull; a page: fetch the direct link (Google Drive: gdown; a login is often needed)",
        seen=r"invalid load key, '[<v\\]|HeaderTooLarge|git-lfs|<html|\\x0[a0]",
    ),
    Cause(
        "It is whole and of another format than the one it is read as (safetensors, TorchScript, ONNX, Keras, a tar, a folder)",
        "file FILE and its ending; head -c 4 FILE: PK is torch's zip, 80 is a pickle, { behind eight bytes safetensors",
        "read it as what it is: safetensors.torch.load_file, torch.jit.load, onnx.load; files of transformers 5 and newer are safetensors",
        seen=r"safetensors(?!_rust)|invalid load key, '(?![<v])|TF 2\.0|magic number|not a ZIP",
    ),
    Cause(
        "It was being written: the program that saves stopped, its disk was full, or another rank read too early",
        "the newest of several checkpoints only; df -h",
        "take the one before it; write to a temporary name and rename, on rank 0 alone, with a barrier before reading",
        seen=r"checkpoint[-_ ]?\d|global_step",
    ),
)

RAN_OUT_OF_INPUT = (
    Cause(
        "A worker was started as a fresh process (Windows, macOS, Python 3.14), and what was to be sent to it could not be pickled: this line is its echo",
        "the trace has spawn.py or reduction.py, and another error (`Can't pickle`, `cannot pickle`) stands above or below it",
        "num_workers=0; functions, datasets and collate_fn at the top of a module, no lambda, no open files; `if __name__ == '__main__':` around what starts the program",
        seen=r"spawn|reduction\.py|multiprocessing|DataLoader|Can't pickle|cannot pickle",
    ),
    Cause(
        "A file that is unpickled is empty or cut",
        "the trace has torch.load, pickle.load or joblib; ls -l FILE shows 0 bytes",
        "delete it and make or fetch it again (a cache, a download that broke off, a disk that was full)",
        seen=r"torch\.load|pickle\.load|_load\(|\.pkl|\.pth?\b|cache",
    ),
)

NO_DRIVER_HERE = (
    Cause(
        "The container was started without NVIDIA's runtime",
        "nvidia-smi works on the host and is not there inside",
        "docker run --gpus all (Compose: deploy.resources.reservations.devices; Singularity: --nv; Kubernetes: limits nvidia.com/gpu); while an image is built there is none: do that step when it runs",
        seen=r"[Dd]ocker|container|/workspace|/app/|[Ss]ingularity|apptainer|kube|RUN ",
    ),
    Cause(
        "The driver is not installed on this machine, or it has no NVIDIA GPU (a login node, a virtual machine, CI)",
        "lspci | grep -i nvidia shows no card, or nvidia-smi is not found on the host itself",
        "a card is there: install the driver (sudo ubuntu-drivers install; Windows: NVIDIA's installer); none is: run with the CPU or on a node that has one (srun --gres=gpu:1)",
        checks=("driver-missing",),
    ),
    Cause(
        "It is there, and the loader does not find libcuda.so.1",
        "nvidia-smi works in the same place; ldconfig -p | grep libcuda is empty (WSL: it lies in /usr/lib/wsl/lib; NixOS: /run/opengl-driver/lib)",
        "sudo ldconfig, or export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH (that folder)",
        seen=r"WSL|wsl|microsoft|nix",
        checks=("library-path",),
    ),
)

NO_SUCH_KERNEL = (
    Cause(
        "The kernel is not made for a GPU so old at all: int4 and fp8 kernels, FlashAttention and many of vLLM's begin at 7.5, 8.0 or 9.0",
        "python -c 'import torch; print(torch.cuda.get_device_capability())' is below what the package's page names (V100 7.0, T4 7.5, A100 8.0)",
        "no build helps: another quantization (bitsandbytes nf4, float16), another attention (sdpa), or a newer GPU",
        seen=r"int4|_int\dmm|quant|tinygemm|fp8|flash|V100|T4|P100",
        checks=("gpu-features",),
    ),
    Cause(
        "The package was built for other GPUs than this one",
        "cuobjdump --list-elf FILE.so (of the package that the last frame names) does not list this GPU's sm_NN; the GPU is new",
        "a newer wheel of it, or build it here: TORCH_CUDA_ARCH_LIST='8.6' (this GPU's capability) pip install --no-build-isolation --no-cache-dir --force-reinstall --no-deps PACKAGE",
        seen=r"bitsandbytes|csrc|vllm|sglang|flash_attn|extension|RTX 50|sm_1\d\d",
        checks=("gpu-architecture", "extension-architecture"),
    ),
    Cause(
        "Two releases are mixed: the code asks its library for a kernel that another release of it has",
        "it began after an upgrade; ~/.cache/torch_extensions, ~/.triton or ~/.nv holds older files; the driver is older than the toolkit that compiled",
        "delete those folders, install the package and its kernels (sgl-kernel, vllm-flash-attn, nccl) anew in one release, a newer driver",
        seen=r"triton|Triton|cache|nccl|NCCL|sgl",
        checks=("driver-too-old",),
    ),
)

NVRTC_BUILTINS = (
    Cause(
        "torch's wheel nvidia-cuda-nvrtc is not whole, or another CUDA's libnvrtc is found before it",
        "python -m pip list | grep nvrtc, and another release than `python -c 'import torch; print(torch.version.cuda)'`, or LD_LIBRARY_PATH has a CUDA folder",
        "unset LD_LIBRARY_PATH; python -m pip install --force-reinstall --no-deps nvidia-cuda-nvrtc-cu12==RELEASE (the one that python -m pip show torch requires; CUDA 13: nvidia-cuda-nvrtc)",
        seen=r"nvidia/cuda_nvrtc|nvidia[/\\\\]cu1\d",
    ),
    Cause(
        "A program of the system's CUDA toolkit (C++, OpenMM, CuPy): the loader does not know the toolkit's folder",
        "ldconfig -p | grep nvrtc is empty, and /usr/local/cuda/lib64 has both files",
        "export LD_LIBRARY_PATH=/usr/local/cuda/lib64:$LD_LIBRARY_PATH, or that folder in /etc/ld.so.conf.d and sudo ldconfig; Windows: its bin on PATH; macOS: DYLD_LIBRARY_PATH",
        seen=r"exception:|OPENMM|openmm|nvcc|cupy",
    ),
    Cause(
        "The file is missing: a part of the toolkit was left out or copied by itself (containers, installers made with one library)",
        "find shows libnvrtc without libnvrtc-builtins, or of another release",
        "install the toolkit's package cuda-nvrtc whole (conda: cuda-nvrtc), and copy both files where one is shipped",
    ),
)

AMDGPU_STOPPED = (
    Cause(
        "The IOMMU refused an access of the card or its driver (no program had it: pid 0, vmid 0)",
        "AMD-Vi: Event logged [IO_PAGE_FAULT ...] or DMAR beside it; vmid:0, pid 0",
        "add iommu=pt (or amd_iommu=off) to the kernel's command line and start anew; the BIOS's newest release; then kernel and linux-firmware",
        seen=r"IO_PAGE_FAULT|AMD-Vi|DMAR|vmid:0\b|pid 0\b",
    ),
    Cause(
        "A kernel of the program read or wrote where it may not",
        "page fault with the program's name and process (`for process python pid 1234`), vmid 1 to 15; always at the same step",
        "unset HSA_OVERRIDE_GFX_VERSION; a newer torch and ROCm; AMD_SERIALIZE_KERNEL=3 python PROGRAM names the kernel; with an extension: build it for this card (PYTORCH_ROCM_ARCH)",
        seen=r"process (?!pid 0)\S{1,40} (?:pid|thread)|vmid:[1-9]",
    ),
    Cause(
        "A kernel did not end, and the driver reset the card",
        "ring ... timeout, GPU reset begin; with one model or size, or when a desktop runs on the same card",
        "newer kernel and linux-firmware; amdgpu.lockup_timeout=30000 for kernels that take long; another card for the desktop; smaller steps",
        seen=r"timeout|reset begin|Fence fallback",
    ),
    Cause(
        "Power, heat, a riser or an overclocked card",
        "at random, under load, also with other programs; VRAM is lost; sensors and rocm-smi show heat or power near the limit",
        "clocks and voltage as they were, another cable or slot, a lower power limit (rocm-smi --setpoweroverdrive)",
        seen=r"VRAM is lost|ASIC",
    ),
)

CUDNN_NOT_LOADED = (
    Cause(
        "Another cuDNN is found first: a toolkit's or the system's folder is on LD_LIBRARY_PATH, or conda and pip brought one each",
        "the path behind `Error:` is not below site-packages/nvidia/cudnn (but /usr/local/cuda, /usr/lib, an environment's lib), or a symbol `is not defined in` it",
        "unset LD_LIBRARY_PATH (also in ~/.bashrc and the launcher), remove conda's cudnn, or sudo apt remove the system's; then python -m pip install --force-reinstall torch",
        seen=r"undefined symbol|not defined in file|/usr/local/cuda|/usr/lib/|/lib/lib",
        checks=("library-path", "conda-pip-mix"),
    ),
    Cause(
        "The program is not torch and wants a cuDNN of its own: CTranslate2 and faster-whisper, ONNX Runtime, TensorFlow, Paddle (8 or 9, as the number says), or torch is imported after it",
        "the trace comes from that package; find $(python -c 'import site; print(site.getsitepackages()[0])') -name 'libcudnn*' shows another number, or none",
        "the cuDNN it names: python -m pip install 'nvidia-cudnn-cu12==9.*' (==8.9.* for CTranslate2 before 4.5), with export LD_LIBRARY_PATH=$(python -c 'import nvidia.cudnn; print(nvidia.cudnn.__path__[0])')/lib; or the release of the package for torch's cuDNN (CTranslate2 4.5 and newer: 9)",
        seen=r"[Ww]hisper|ctranslate|onnxruntime|tensorflow|paddle|libcudnn_ops_infer\.so\.8: cannot|Unable to load any",
    ),
    Cause(
        "cuDNN is not installed at all, or not whole",
        "python -m pip show nvidia-cudnn-cu12 (cu13, cu11) is empty, or python -m pip check complains",
        "python -m pip install --force-reinstall torch with its dependencies (no --no-deps); Windows: the wheel of torch with +cu in its name has it",
        checks=("missing-libraries", "nvidia-pins"),
    ),
    Cause(
        "A library that cuDNN needs is too old (nvrtc of an old toolkit)",
        "the path behind `Error:` is that of libnvrtc, libcublas or zlib, not of cuDNN",
        "take that toolkit's folder out of LD_LIBRARY_PATH; Windows: zlibwapi.dll beside the cuDNN 8 DLLs",
        seen=r"libnvrtc|libcublas|zlib",
        checks=("library-path",),
    ),
)

BUILT_AT_FIRST_USE = (
    Cause(
        "Its compilation failed or was stopped, now or in an earlier run, and left a folder without the library",
        "the folder that `Building extension module` or `Using ... as PyTorch extensions root` names has no .so; an `error:` stands further up",
        "rm -rf that folder, run again with verbose=True (or look above) for the compiler's first error, and ask with that",
    ),
    Cause(
        "Several processes build it at once, or a lock was left behind",
        "it works when one process alone has run it once; a file `lock` lies in the folder",
        "run it once with one process, then start the others; a folder of each host's own: export TORCH_EXTENSIONS_DIR=/tmp/$USER/ext",
        seen=r"rank|local_rank|torchrun|spawn|\block\b",
    ),
    Cause(
        "It was built for another Python, torch or machine and is found in a cache that they share (a home on several hosts)",
        "ls -l in that folder shows a .so of another date or Python",
        "rm -rf it; export TORCH_EXTENSIONS_DIR for each environment",
        seen=r"/\.cache/",
    ),
)

TORCH_NOT_HERE = (
    Cause(
        "pip builds a package whose setup imports torch, in an empty environment",
        "around it stands Getting requirements to build wheel, setup.py, subprocess-exited-with-error or build backend",
        "install torch first, then pip install --no-build-isolation PACKAGE (uv: uv pip install --no-build-isolation, or [tool.uv] no-build-isolation-package)",
        seen=r"build wheel|build editable|subprocess-exited|build_meta|egg_info|build backend|\[end of output\]",
    ),
    Cause(
        "Another Python runs than the one that has torch: sudo, an IDE, notebook or service, a shell where the environment is not activated",
        "python -c 'import sys; print(sys.executable)' in the same place is not the folder that python -m pip show torch (Location) names",
        "activate it (conda activate, source .venv/bin/activate), no sudo before python, choose the interpreter in the IDE or notebook; that python -m pip install ... puts packages where it looks",
        seen=r"sudo|ipykernel|/usr/lib/python|\.local/lib",
        checks=("several-torch-copies",),
    ),
    Cause(
        "torch is not installed there, or its installation failed",
        "python -m pip show torch prints nothing",
        "install it with the line that `torchlift doctor` prints; read what pip said if it fails (a too new Python has no wheel)",
        checks=("torch-missing",),
    ),
)

CUDA_LIBRARY_NOT_FOUND = (
    Cause(
        "The package was built for another CUDA than this torch has: its wheel names another, or torch was changed after it",
        "the trace ends in that package, and the number behind .so is not that of python -c 'import torch; print(torch.version.cuda)' (libcudart.so.10.1, .11.0, .12, .13 are CUDA's own releases)",
        "its wheel for this torch and CUDA (mmcv, torch-scatter, bitsandbytes, vllm, onnxruntime-gpu: the index or name with cuXXX), or build it again: rm -rf build ~/.cache/torch_extensions, pip install --no-build-isolation --no-cache-dir --force-reinstall --no-deps . in its folder",
        seen=r"(?:site|dist)-packages/(?!torch/|nvidia/)\w|mmcv|vllm|_ext|(?<!torch\.)\b_C\b|_cuda|scatter|extension",
        checks=("extension-abi", "nvidia-pins"),
    ),
    Cause(
        "torch itself lacks it: its nvidia-... wheels were not installed or were removed, or this is a wheel of torch that wants the system's CUDA",
        "the trace ends in `import torch` (_load_global_deps, from torch._C import); python -m pip check names nvidia-...; find $(python -c 'import site; print(site.getsitepackages()[0])')/nvidia -name 'NAME*' is empty",
        "python -m pip install --force-reinstall torch with its dependencies (no --no-deps), from the index that `torchlift doctor` prints",
        seen=r"torch/__init__\.py|from torch\._C import|_load_global_deps",
        checks=("missing-libraries",),
    ),
    Cause(
        "A Jetson: the wheel of torch is for another JetPack",
        "cat /etc/nv_tegra_release; ls -d /usr/local/cuda-*: libcudart.so.10.0 is JetPack 4.2 and 4.3, 10.2 is 4.4 to 4.6, 11.4 is 5, 12 is 6",
        "NVIDIA's wheel for this JetPack (its page PyTorch for Jetson, or pypi.jetson-ai-lab.io), torchvision built from source for it",
        seen=r"[Jj]etson|aarch64|tegra|l4t|nvidia\.box\.com|libcurand\.so\.10:|libcudart\.so\.10\.[02]",
        checks=("jetson-wheel",),
    ),
    Cause(
        "It is on the machine and is not searched, or torch is imported after the package",
        "ldconfig -p | grep NAME, or find / -name 'NAME*' 2>/dev/null, shows it; python -c 'import torch, PACKAGE' works",
        "import torch first; export LD_LIBRARY_PATH=/usr/local/cuda-XX.Y/lib64 of that release (nothing else in it), or sudo ldconfig",
        seen=r"LD_LIBRARY_PATH|not found in the system path",
        checks=("library-path",),
    ),
)
