"""What Python's exceptions say whoever raises them: who asked, who refused, and how the two are found."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_loading import NOT_IN_THE_PACKAGE
from torchlift.doctor.errors.known_error import UNREAD, Cause, KnownError, thread
from torchlift.doctor.errors.name_history import read_argument

_READ = "2026-11-27"
_FRAME = r'File "[^"\n]{0,200}(?:site|dist)-packages[/\\\\]'
_SAID = r"\n(?:[^\n]{0,300}\n){1,3}?(?P<raised>(?P<name>\w{1,40}(?:Error|Exception)): [^\n]{3,300})"

_SIMULATOR = (
    Cause(
        "There are too many environments, contacts or bodies for the buffers or the GPU's memory",
        "it comes after a while, or with fewer environments (--num_envs 64) it does not come; nvidia-smi while it runs",
        "fewer environments; larger max_gpu_contact_pairs, default_buffer_size_multiplier and gpu_*_capacity in the simulation's settings",
        seen=r"contact|Contact|solve|Narrowphase|buffer|step|launch",
    ),
    Cause(
        "A kernel before it failed (an index out of range in the program's tensors, a body that flew away as NaN), and all calls after it fail, too",
        "the first line of the log with an error is another one; 700 and `illegal memory access` mean this; CUDA_LAUNCH_BLOCKING=1, or --sim_device cpu names it",
        "look for that first line; check env_ids and indices against the number of environments, clamp actions, torch.isfinite on the states",
        seen=r"700|illegal|unload|719",
    ),
    Cause(
        "The driver does not give it the GPU: libcuda.so or Vulkan is not found, or the simulator is older than the card",
        "at the start; python -c 'import ctypes; ctypes.CDLL(\"libcuda.so\")' fails; vulkaninfo --summary shows no NVIDIA card (lavapipe is the CPU)",
        "container: NVIDIA_DRIVER_CAPABILITIES=all; sudo ldconfig, a link libcuda.so to libcuda.so.1; Isaac Gym knows no GPU after Ada: Isaac Lab with Isaac Sim 5",
        seen=r"libcuda\.so!|lavapipe|Falling back to CPU|preload|GpuModuleLoader",
    ),
)

_CALLED_THROUGH_A_MODULE = (
    Cause(
        "Caller and class are in two packages of different releases (a fork and its extension, a trainer and a model, code from a hub and transformers)",
        "the caller's File line and the class are in different folders of site-packages, or in transformers_modules",
        "python -m pip show both: upgrade both in one command, or take the pair that the README of the one names; a fork: the tag or branch of its extension that it lists",
        seen=r"(?:site|dist)-packages[/\\](?!torch[/\\])|transformers_modules|Patched|vllm",
    ),
    Cause(
        "Something put itself between them and wrote the method anew for another signature (quantization, offload, patching for speed: Patched..., Wrapped..., functools.partial)",
        "the class's name or the frames say Patched, Wrapped, hook, offload, unsloth, liger, inc, peft; without it the call works",
        "switch it off to see, then upgrade that package",
        seen=r"Patched|Wrapp|hook|unsloth|liger|offload",
    ),
    Cause(
        "The class is the program's own, and its forward takes other arguments than the caller (a trainer, DataParallel, a Sequential) hands over",
        "the class stands in a file of the program",
        "give forward these arguments (or **kwargs), or hand over what it takes",
    ),
)

_NO_SUCH_ATTRIBUTE = (
    Cause(
        "The class is of a package, and its release and the code that asks are of two times",
        "print(type(x).__module__) names a package; python -m pip show it, against the release that the asking code's requirements name",
        "upgrade both in one command, or take the release of that time; code of a hub (transformers_modules, torch.hub): a newer revision",
        seen=r"site-packages|dist-packages|transformers_modules|hub",
    ),
    Cause(
        "The object is another one than the code takes it for: a wrapper, an output, a part of the model, the base class of another package of the same name",
        "print(type(x)): DataParallel, OptimizedModule, PeftModel, a pipeline or output object; a class from lightning in place of pytorch_lightning",
        "ask the object inside (model.module, ._orig_mod, .base_model.model); import everything from one of the two packages",
        seen=r"Wrapped|Parallel|Peft|Pipeline|Output|[Ll]ightning|automatic_optimization",
    ),
    Cause(
        "The class is the program's own: the name is misspelled, set only in a branch or after it is used, or the object was loaded whole from a file of older code",
        "the class stands in a file of the program; grep -n 'self.NAME' in it",
        "set it in __init__ (before super().__init__() only what is no module); load a state_dict into a new object in place of the whole object",
    ),
)

ROWS = (
    KnownError(
        id="simulator-gpu",
        pattern=r"PhysX error: [^\n]{0,160}returned \d{1,3}|\bPxg?\w{3,60}\.cpp \(\d{1,6}\) : internal error : |\bGPU \w{3,80} fail(?:ed)? to launch kernel|Gym cuda error: ",
        cause="The GPU's part of the simulator (PhysX, in Isaac Gym and Isaac Sim) reports an error of CUDA",
        remedy="Look for the first such line of the log; the others follow from it",
        command="CUDA_LAUNCH_BLOCKING=1 python PROGRAM",
        causes=_SIMULATOR,
        says=(
            "PhysX error: Failed to unload CUDA module data, returned 700., FILE CudaContextManager.cpp, LINE 804",
            "source/gpusolver/src/PxgTGSCudaSolverCore.cpp (1762) : internal error : GPU solveStaticBlock fail to launch kernel!!",
        ),
        sources=(
            thread("isaac-sim/IsaacLab", 2023, "2025-03-05"),
            thread("isaac-sim/IsaacGymEnvs", 45, "2022-10-24"),
            thread("unitreerobotics/unitree_rl_gym", 48, "2025-03-13"),
        ),
        likely=True,
    ),
    KnownError(
        id="not-deterministic",
        pattern=r"does not have a deterministic implementation|Deterministic behavior was enabled with either|CUBLAS_WORKSPACE_CONFIG",
        cause="torch.use_deterministic_algorithms(True) is set (Lightning's deterministic=True, a seed function), and this operation has no deterministic form on the GPU, or cuBLAS wants CUBLAS_WORKSPACE_CONFIG for one",
        remedy="cuBLAS: export CUBLAS_WORKSPACE_CONFIG=:4096:8 before Python starts. An operation: torch.use_deterministic_algorithms(True, warn_only=True) (Lightning: deterministic='warn'), or do that step another way (interpolate with mode nearest-exact, index_add on the CPU)",
        command="export CUBLAS_WORKSPACE_CONFIG=:4096:8",
        says=(
            "RuntimeError: upsample_bilinear2d_backward_out_cuda does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True)'.",
            "RuntimeError: Deterministic behavior was enabled with either `torch.use_deterministic_algorithms(True)`",
        ),
        sources=("torch 2.13.0, torch/__init__.py, use_deterministic_algorithms, read 2026-11-27",),
    ),
    KnownError(
        id="tensor-attribute",
        pattern=r"'(?:torch\.)?(?P<part>Tensor|Parameter|Variable|device|dtype|Size|Generator|Stream|Event|Linear|Conv2d|Module|ModuleList|Sequential|Optimizer|Adam|AdamW|SGD|DataLoader|_?\w{0,20}DataLoaderIter|LRScheduler|\w{1,20}LR|GradScaler)' object has no attribute '(?P<name>\w{1,60})'",
        cause="{part} of the installed torch has no `{name}`: the code is for a newer or an older torch, the name is NumPy's or another library's, or the object was saved by another torch",
        remedy="See which torch runs and whether its documentation has {part}.{name}. It has it in a newer release only: upgrade torch (with torchvision and torchaudio), or take the release of the package that asks which supports this torch (the last File line in the trace says who asks). It has it in none: a name of NumPy (astype is .to(dtype), copy() is .clone()), or one that the program sets itself in a class of its own. Only with a file that was loaded whole: build the model from its code and load its state_dict",
        command="python -c 'import torch; print(torch.__version__, torch.__file__)'",
        says=("AttributeError: 'Tensor' object has no attribute 'ndim'",),
        sources=(thread("huggingface/sentence-transformers", 316, "2020-07-19"), UNREAD),
        likely=True,
        general=True,
    ),
    KnownError(
        id="any-object-attribute",
        pattern=r"'(?P<part>(?!NoneType)[A-Z]\w{1,79})' object has no attribute '(?P<name>\w{1,60})'",
        cause="An object of the class {part} has no {name}",
        remedy="The last File line of the traceback asks for it; print(type(x), type(x).__module__) there tells whose class it is",
        causes=_NO_SUCH_ATTRIBUTE,
        says=("AttributeError: 'PyanNet' object has no attribute 'example_output'",),
        sources=(
            thread("pyannote/pyannote-audio", 1620, "2024-01-16"),
            thread("huggingface/transformers", 840, "2019-07-23"),
        ),
        likely=True,
        general=True,
    ),
    KnownError(
        id="any-argument",
        pattern=r"TypeError: (?P<function>(?!(?:\w{1,60}\.)?forward\()[\w.<>]{1,80})\(\) (?:got an unexpected keyword argument|missing \d{1,2} required keyword-only arguments?:) '(?P<name>\w{1,60})'|TypeError: '(?P<name2>\w{1,60})' is an invalid keyword argument for (?P<function2>[\w.]{1,60})",
        cause="{function} as it is installed does not take the argument {name} (or wants it): it and the code that calls it are of different releases",
        remedy="The last File line of the trace is the caller, and its import line says which package {function} is from: python -m pip show that package. Then python -c 'import PACKAGE, inspect; print(inspect.signature(PACKAGE.FUNCTION))' shows what it takes here",
        command="python -m pip check",
        causes=NOT_IN_THE_PACKAGE,
        reads=read_argument,
        says=("TypeError: __init__() got an unexpected keyword argument 'weights_only'",),
        sources=(UNREAD,),
        likely=True,
        general=True,
    ),
    KnownError(
        id="argument-through-a-module",
        pattern=r"TypeError: (?P<function3>(?:[\w.<>]{1,80}\.)?forward)\(\) got an unexpected keyword argument '(?P<name3>\w{1,60})'|in _(?:wrapped_)?call_impl\n{1,4}(?P<raised>TypeError: )(?P<function>[\w.<>]{1,80})\(\) (?:got an unexpected keyword argument|missing \d{1,2} required (?:positional|keyword-only) arguments?:|takes \d{1,2} positional)",
        cause="{function} was called with other arguments than it takes; torch's Module.__call__ only passes them on",
        remedy="The File line above torch's names the caller; print(type(model), type(model).__module__) there names the class: the two have to be of one time",
        causes=_CALLED_THROUGH_A_MODULE,
        command="python -m pip check",
        says=(
            '  File "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", line 1606, in _call_impl\n    result = forward_call(*args, **kwargs)\n'
            "TypeError: PatchedVLLMKVCache.forward_measure() missing 2 required positional arguments: 'block_indices' and 'block_offset'",
        ),
        sources=(thread("HabanaAI/vllm-hpu-extension", 68),),
        likely=True,
        general=True,
    ),
    KnownError(
        id="raised-in-torch",
        pattern=_FRAME
        + r'torch[/\\\\](?!nn[/\\\\]modules[/\\\\]module\.py)(?P<part>[\w/\\\\]{1,80}\.py)", line \d{1,6}, in (?P<function>\w{1,60})'
        + _SAID,
        cause="torch itself raised {name} (in torch/{part}, {function}): it refuses what it was given, for the reason that the sentence says",
        remedy="Look for the last File line before torch's own. In site-packages/PACKAGE: that package and this torch do not belong together: python -m pip check, then upgrade the package or take the torch that it names. In the program: print type, shape, dtype and device of what it passes there, and compare with the documentation of that function",
        command="python -m pip check",
        says=(
            '  File "/opt/lib/python3.11/site-packages/torch/utils/data/sampler.py", line 143, in __init__\n    raise ValueError(\nValueError: num_samples should be positive',
        ),
        sources=("torch 2.13.0, its own frames, read 2026-11-27",),
        likely=True,
        general=True,
    ),
    KnownError(
        id="exit-status-only",
        pattern=r"Process finished with exit code (?!0\b|-|3221)\d{1,3}\b|(?:exited|failed|returned|terminated|ended) with (?:a )?(?:non-?zero )?(?:exit |return )?(?:code|status):? (?!0\b|13[4-9]|143)\d{1,3}\b|[Rr]eturned non-zero exit code|exit status (?!0\b)\d{1,2}\b(?!\.)",
        cause="This only says that a program ended with an error; its number 1 means that it said why itself, above 128 a signal (number less 128: 6 abort, 9 killed, 11 crash)",
        remedy="Look above for the last line of the first `Traceback`, or for `error`; the caller may have kept it back: run the program that is named by itself, or the whole with 2>&1 | tee run.log, and ask with that file",
        command="torchlift doctor --explain-error run.log",
        says=("Process finished with exit code 1",),
        sources=(UNREAD,),
        level="vague",
        general=True,
    ),
)
