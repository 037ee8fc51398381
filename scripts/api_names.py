"""Which names the table speaks of: public ones, private ones that projects use, and those that a module offers."""

from __future__ import annotations

import re

from api_surface import Names

# Names with an underscore that projects use all the same, with everything below them.
PRIVATE_BUT_USED = (
    "torch._utils", "torch._six", "torch._tensor", "torch._guards", "torch._logging", "torch._ops", "torch._library",
    "torch._lazy", "torch._export", "torch._higher_order_ops", "torch._subclasses", "torch._functorch", "torch._vmap_internals",
    "torch._dynamo", "torch._inductor", "torch._prims_common", "torch._jit_internal", "torch._deploy",
    "torch.utils._pytree", "torch.utils._python_dispatch", "torch.utils._mode_utils", "torch.utils._contextlib", "torch.utils._sympy",
    "torch.utils._triton", "torch.utils._stats", "torch.utils.data._utils", "torch.distributed._tensor", "torch.distributed._composable",
    "torch.distributed._shard", "torch.distributed._sharded_tensor", "torch.distributed._sharding_spec", "torch.distributed._spmd",
    "torch.distributed._functional_collectives", "torch.distributed._symmetric_memory", "torch.distributed._tools",
    "torch.distributed.algorithms._checkpoint", "torch.distributed.algorithms._comm_hooks",
    "torch.distributed.fsdp._fully_shard", "torch.fx._symbolic_trace", "torch.fx._pytree", "torch.nn._reduction", "torch.nn.utils._stateless",
    "torch.onnx._type_utils", "torch.onnx._globals", "torch.onnx._internal",
    "torchvision.models._utils", "torchvision.models._api", "torchvision.transforms._functional_video", "torchvision.transforms._transforms_video",
    "torchvision._internally_replaced_utils", "torchaudio._internal", "torchaudio._extension", "torchaudio._backend", "torchtext._download_hooks",
)  # fmt: skip
# Modules in which a single leading underscore is no reason to leave a name out: they are imported from all the same.
PRIVATE_NAMES_OF = (
    "torch.optim.lr_scheduler", "torch.nn.modules", "torch.nn.init", "torch.nn.parallel", "torch.nn.utils", "torch.distributed.distributed_c10d",
    "torch.distributed", "torch.distributed.fsdp", "torch.distributed.checkpoint", "torch.distributed.nn", "torch.hub", "torch.cuda", "torch.serialization", "torch.storage",
    "torch.utils.data.dataloader", "torch.utils.model_zoo", "torch.utils.checkpoint", "torch.utils.hooks", "torch.utils.cpp_extension",
    "torch.onnx", "torch.onnx.utils", "torch.onnx.symbolic_helper", "torch.autograd", "torch.fx", "torch.export", "torch.optim.optimizer", "torch.testing",
)  # fmt: skip
# Too deep inside to be anybody's interface: thousands of names that come and go.
INNER = re.compile(
    r"torch\.(?:_inductor|_dynamo)\.(?!config\b|utils\b|compile_fx\b|external_utils\b|eval_frame\b|exc\b|decorators\b|backends\b|mark)"
    r"|torch\._(?:refs|decomp|prims|meta_registrations|C|functorch\._aot_autograd|export\.(?:serde|passes|db))\b"
    r"|torch\.onnx\._internal\.(?!exporter\b)|torch\.distributed\.benchmarks|\.tests?\b|\.examples?\b|torch\.testing\._internal"
    r"|torch(?:vision|audio|ao)\.prototype\.|torchaudio\.(?:functional|transforms|models|pipelines)\._|torchao\.(?:kernel|testing|ops|experimental|_models|\w+\.prototype)\.|torchao\.quantization\.(?:autoquant|subclass)\.\w+Weight\w*"
    r"|torch\.fx\.experimental\.migrate_gradual_types|torch\.fx\.experimental\.unification|torch\.nn\.functional\.(?:Callable|handle_torch_function|has_torch_function\w*|boolean_dispatch)$"
)
# Type variables, loggers, loop variables and the base classes of C classes: nobody imports them.
_UNUSABLE = re.compile(
    r"(?<!^torch)(?<!^torch\.linalg)\.(?!io$)\w{1,2}$|\.(?:T_\w+|_?log|_?logger|\w*_T|aten|prims|prim|np|line|major|minor|patch|match|value|key|HAS_\w+|dropping_\w+)$|^torch\.\w*Base\b|^torch\.utils\.hipify\."
)


# What modules of models held or imported for themselves, and projects import from them.
_TAKEN_ALL_THE_SAME = re.compile(r"^torchvision\.models\.[\w.]+\.(?:model_urls|load_state_dict_from_url)$")


def is_listed(name: str) -> bool:
    """Whether the table speaks of `name`: public names, and the private ones that projects use."""
    if INNER.search(name) or _UNUSABLE.search(name):
        return False
    parts = name.split(".")
    if not any(part.startswith("_") for part in parts):
        return True
    if any(name == module or name.startswith(module + ".") for module in PRIVATE_BUT_USED):
        return not any(part.startswith("__") for part in parts)
    module, _, last = name.rpartition(".")
    return module in PRIVATE_NAMES_OF and last.startswith("_") and not last.startswith("__") and "._" not in module


def is_public(name: str) -> bool:
    """Whether no part of `name` starts with an underscore."""
    return not any(part.startswith("_") for part in name.split("."))


def is_another_modules(name: str, release: Names) -> bool:
    """Whether the module only imported the name for its own use."""
    module = name.rpartition(".")[0]
    if _TAKEN_ALL_THE_SAME.search(name):
        return False
    return release.names[name] not in {name, module} and not release.names[name].startswith(module + ".")


def is_offered(name: str, release: Names) -> bool:
    """Whether a name is there to be used: defined in the module, listed in its `__all__`, or gathered by a package."""
    module, _, last = name.rpartition(".")
    if module in release.exported:
        return bool(_TAKEN_ALL_THE_SAME.search(name)) or last in release.exported[module] or release.names[name] == name
    if not is_another_modules(name, release):
        return True
    home = release.names[name]
    # What a C module or a module with an underscore holds is offered by the public module that imports it.
    return (
        not is_public(home)
        and is_public(name)
        and home.rpartition(".")[0].rpartition(".")[0].startswith(module.rpartition(".")[0])
    )


def is_setting(name: str, release: Names) -> bool:
    """Whether a module's value is there to be used: exported, in a module of settings, or a constant of a public module."""
    module, _, last = name.rpartition(".")
    if _TAKEN_ALL_THE_SAME.search(name) or (module in release.exported and last in release.exported[module]):
        return True
    if is_public(name) and last.isupper() and len(last) > 3:
        return True
    return module not in release.exported and (module.endswith("config") or (is_public(name) and len(last) > 3))
