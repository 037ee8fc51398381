"""Compiled parts of other packages, and helpers of torch."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_loading import BUILT_AT_FIRST_USE, PART_NOT_BUILT
from torchlift.doctor.errors.known_error import KnownError, thread
from torchlift.doctor.errors.name_history import CAUSES, read_name

ROWS = (
    KnownError(
        id="thc-is-gone",
        pattern=r"undefined symbol: '?(?P<symbol>TH(?:C|Cuda|Cud|Float|Double|Half|Long|Int|Byte|Char|Short|Bool|Tensor|Storage|NN|CUNN|CSparse|Generator|Alloc)\w{1,80})",
        cause="{symbol} is of TH and THC, the C interface of old torch, which was taken away step by step until 1.11: the extension (apex, warp-ctc, an old detector, encoding or point cloud package) was written or built for an older torch than the one that runs",
        remedy="Take the newest release or source of that package and build it against this torch (apex: a clone of its master, or do without: torch.amp in place of apex.amp); where it has ended, install the torch that it names (1.10 or older, in an environment of its own with Python 3.8 or 3.9), or replace in its sources THCudaMalloc by c10::cuda::CUDACachingAllocator::raw_alloc, THCCeilDiv by at::ceil_div, THCudaCheck by C10_CUDA_CHECK",
        checks=("extension-abi",),
        says=("AttributeError: python: undefined symbol: THCudaHalfTensor_normall",),
        sources=(thread("Lightning-AI/pytorch-lightning", 5027),),
    ),
    KnownError(
        id="name-not-in-this-companion",
        pattern=r"No module named 'torch(vision|audio|text)\.[\w.]{1,80}'|module 'torch(vision|audio|text)(\.[\w.]{1,80})?' has no "
        r"attribute '\w{1,80}'|cannot import name '\w{1,80}' from 'torch(vision|audio|text)",
        cause="The installed companion of torch does not have that name",
        remedy="See which release is here and which torch it goes with: python -m pip list | grep torch",
        command="python -m pip list | grep torch",
        causes=CAUSES,
        reads=read_name,
        checks=("companion-mismatch", "several-torch-copies", "jetson-wheel"),
        says=(
            "ModuleNotFoundError: No module named 'torchvision.transforms.v2'",
            "AttributeError: module 'torchaudio' has no attribute 'list_audio_backends'",
        ),
        sources=(thread("cubiq/ComfyUI_IPAdapter_plus", 309, "2024-03-23"),),
        likely=True,
    ),
    KnownError(
        id="built-at-first-use-is-missing",
        causes=BUILT_AT_FIRST_USE,
        pattern=r"torch/utils/cpp_extension\.py\", line \d{1,5}, in (?:_jit_compile|_import_module_from_library|load|load_inline)\b[^\0]{0,700}?(?P<raised>(?:ImportError|ModuleNotFoundError|FileNotFoundError): (?!DLL|lib\w)[^\n]{0,200}?(?P<name>\w{1,60})(?:\.so)?(?:'|: cannot open|$))",
        cause="An extension that torch compiles at its first use ({name}) is not there after that",
        remedy="Delete its build and let it be built again, in one process and with the compiler's output in view",
        command="rm -rf ~/.cache/torch_extensions /tmp/torch_extensions",
        checks=("toolkit-mismatch", "host-compiler"),
        says=(
            """  File "/usr/local/lib64/python3.6/site-packages/torch/utils/cpp_extension.py", line 1048, in _import_module_from_library
    file, path, description = imp.find_module(module_name, [path])
ImportError: No module named 'line_variance_parallel'""",
        ),
        sources=(
            thread("fidler-lab/defgrid-release", 3, "2020-10-20"),
            thread("rosinality/stylegan2-pytorch", 1, "2020-08-14"),
        ),
        likely=True,
    ),
    KnownError(
        id="extension-not-installed",
        causes=PART_NOT_BUILT,
        pattern=r"No module named '([\w.]{1,60}\.)?(_ext|_C|_C_\w{1,20}|\w{2,40}_cuda|\w{0,30}_?cuda_ext|\w{0,20}_?ext_modules?|chamfer\w{0,8}|pointnet2?_ops|emd)'|name '_C' is not defined|cannot import name '(_C|\w{2,40}_cuda)'(?! from '(gsplat|nerfacc|groundingdino|pytorch3d|sam2|natten|detectron2))"
        r"|Failed to load custom C\+\+ ops|'NoneType' object has no attribute 'origin'",
        cause="The compiled part of the package does not import",
        remedy="See whether it is there, and what it says when it is imported alone",
        checks=("toolkit-mismatch", "extension-abi", "host-compiler"),
        says=(
            "ModuleNotFoundError: No module named 'deepspeed_transformer_cuda'",
            "ModuleNotFoundError: No module named 'mmcv._ext'",
            "NameError: name '_C' is not defined",
        ),
        sources=(thread("deepspeedai/DeepSpeed", 283, "2020-07-03"),),
        likely=True,
    ),
    KnownError(
        id="extension-without-gpu",
        pattern=r"[Nn]ot compiled with GPU support|implementation for device (cuda|hip)\S{0,4} not found|compiled without CUDA"
        r"|CUDA extension not installed",
        cause="The package that is named was built without code for GPUs: no CUDA toolkit or no GPU was in view when it was built",
        remedy="Build it again with CUDA_HOME set and FORCE_CUDA=1 (where no GPU is in view also TORCH_CUDA_ARCH_LIST), or install its wheel for this torch and CUDA",
        checks=("toolkit-mismatch", "extension-architecture", "torch-cpu-build"),
        says=(
            "RuntimeError: Not compiled with GPU support",
            "RuntimeError: nms is not compiled with GPU support",
            "RuntimeError: nms_impl: implementation for device cuda:0 not found.",
        ),
        sources=(
            thread("open-mmlab/mmdetection", 2882, "2020-06-02"),
            thread("open-mmlab/mmcv", 1142, "2021-06-29"),
            thread("HKUST-Aerial-Robotics/Stereo-RCNN", 43, "2019-09-19"),
        ),
    ),
    KnownError(
        id="torch-shm-manager",
        pattern=r"(error executing|Unable to find|could not execute) torch_shm_manager",
        cause="torch cannot run its helper bin/torch_shm_manager: it lost the right to be executed, lies on a disk mounted noexec, "
        "or was left out of a frozen application",
        remedy="Install torch again on a disk that allows programs; in PyInstaller add torch/bin; or share tensors with "
        "torch.multiprocessing.set_sharing_strategy('file_descriptor')",
        checks=("torch-version-files",),
        says=("RuntimeError: error executing torch_shm_manager",),
        sources=(thread("pyinstaller/pyinstaller", 2688, "2017-07-16"),),
    ),
    KnownError(
        id="expandable-segments",
        pattern=r"expandable_segments not supported on this platform",
        cause="The allocator's expandable segments, asked for in PYTORCH_ALLOC_CONF, do not exist on this system; it goes on without",
        remedy="Nothing has to be done; take the setting away to be rid of the remark",
        checks=("forgotten-switches",),
        says=(
            "UserWarning: expandable_segments not supported on this platform (Triggered internally at "
            "C:\\actions-runner\\c10/cuda/CUDAAllocatorConfig.h:28.)",
        ),
        sources=(thread("unslothai/unsloth", 1772),),
        level="warning",
    ),
)
