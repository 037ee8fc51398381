"""Names of torch and its companions that went or are deprecated, found by the syntax tree alone: for `count_pins.py --names`.

It shares no code with torchlift and knows imports, their other names, and chains of attributes; what is written out below was
listed by hand from release notes and issues, not from torchlift's tables.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

_NAMES = {
    "torchaudio": r"torchaudio\.(?:info|load|save|load_wav|(?:get|set|list)_audio_backends?|(?:backend|sox_effects|kaldi_io|io|_backend|prototype)(?:\..*)?)$",
    "torchvision video": r"torchvision\.io\.(?:video\.)?(?:read_video\w*|write_video|VideoReader)$",
    "torchvision moved": r"torchvision\.(?:transforms\.functional_(?:tensor|pil)|models\.utils|datapoints)(?:\..*)?$|torchvision\.models\.\w+\.(?:model_urls|load_state_dict_from_url)$|torchvision\.transforms\.(?:Scale|RandomSizedCrop)$",
    "torchtext": r"torchtext(?:\..*)?$",
    "torchdata": r"torchdata\.(?:datapipes|dataloader2)(?:\..*)?$",
    "torchao": r"torchao\.quantization\.(?:quant_api\.)?(?:int\d\w*weight\w*|float8_\w+|autoquant)$|torchao\.dtypes\.(?:nf4tensor|uintx|floatx)(?:\..*)?$",
    "storage": r"torch\.(?:storage\.)?_(?:Un)?[Tt]ypedStorage$",
    "autocast": r"torch\.(?:[gs]et|is)_autocast_(?:gpu|cpu)_(?:dtype|enabled)$",
    "fsdp": r".*\.FullyShardedDataParallel\.(?:set_)?state_dict_type$",
    "library": r"torch\.library\.impl_abstract$|torch\.utils\._pytree\._register_pytree_node$|torch\._check_is_size$",
    "apex": r"apex\.(?:amp|RNN|reparameterization|parallel\.(?:DistributedDataParallel|Reducer))(?:\..*)?$",
    "old amp": r"torch\.(?:cuda|cpu)\.amp\.(?:autocast|GradScaler)$",
    "weight_norm": r"torch\.nn\.utils\.(?:weight_norm\.)?weight_norm$",
}
_KINDS = [(kind, re.compile(pattern)) for kind, pattern in _NAMES.items()]
_METHODS = {"data_ptr", "size", "resize_", "nbytes", "is_shared"}


def named_sites(folder: Path) -> list[tuple[str, int, str, str]]:
    """Path, line, kind and text of each site in the Python files of a project."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError, OSError):
            continue
        name = path.relative_to(folder).as_posix()
        found += [(name, line, kind, text) for line, kind, text in sorted(set(_sites(tree)))]
    return found


def _sites(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
                yield from _named(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield from _named(f"{node.module}.{alias.name}", alias.lineno)
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            yield from _named(_dotted(node, bound), node.lineno)
        elif isinstance(node, ast.Subscript):
            yield from _indexed(node)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and bound.get(node.func.id, "") in {
                "torchaudio.load",
                "torchaudio.save",
            }:
                yield node.lineno, "torchaudio", bound[node.func.id]
            yield from _called(node, _dotted(node.func, bound))


def _named(name: str, line: int) -> Iterator[tuple[int, str, str]]:
    for kind, pattern in _KINDS:
        if pattern.match(name):
            yield line, kind, name


def _indexed(node: ast.Subscript) -> Iterator[tuple[int, str, str]]:
    """`loss.data[0]`."""
    value, index = node.value, node.slice
    if (
        isinstance(value, ast.Attribute)
        and value.attr == "data"
        and isinstance(index, ast.Constant)
        and index.value == 0
    ):
        owner = ast.unparse(value.value)
        if "loss" in owner.lower() or "err" in owner.lower():
            yield node.lineno, "index of a number", owner


def _called(node: ast.Call, name: str) -> Iterator[tuple[int, str, str]]:
    given = {
        keyword.arg
        for keyword in node.keywords
        if not (isinstance(keyword.value, ast.Constant) and keyword.value.value is None)
    }
    if name.startswith("torch.nn.") and given & {"size_average", "reduce"}:
        yield node.lineno, "reduction", name
    if name in {"torch.onnx.export", "torch.onnx.utils.export"} and given & {
        "example_outputs",
        "enable_onnx_checker",
        "use_external_data_format",
        "strip_doc_string",
        "_retain_param_name",
    }:
        yield node.lineno, "onnx", name
    if name in {"torch.autograd.Variable", "torch.autograd.variable.Variable"} and "volatile" in given:
        yield node.lineno, "volatile", name
    if name == "torch.cross" and len(node.args) == 2 and "dim" not in given:
        yield node.lineno, "cross", name
    if isinstance(node.func, ast.Attribute):
        if node.func.attr == "register_backward_hook":
            yield node.lineno, "hook", node.func.attr
        owner = node.func.value
        if (
            node.func.attr in _METHODS
            and isinstance(owner, ast.Call)
            and isinstance(owner.func, ast.Attribute)
            and owner.func.attr == "storage"
            and not owner.args
        ):
            yield node.lineno, "typed storage", node.func.attr


def _dotted(node: ast.expr, bound: dict[str, str]) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in bound:
        return ""
    return ".".join([bound[node.id], *reversed(parts)])
