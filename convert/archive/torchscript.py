"""A TorchScript archive, as far as it can be known without torch: its code, its objects, its recorded inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torchlift.convert.archive.code import ArchiveCode, parsed
from torchlift.convert.archive.pickled import Global, read_pickle
from torchlift.convert.archive.values import Tensor, Thing, Values
from torchlift.convert.archive.zip_entries import BadArchive, ZipEntries

LARGEST_PICKLE = 64 << 20
_LARGEST_CODE = 16 << 20
_LARGEST_WORD = 1 << 10
_OF_ARCHIVES = frozenset(
    (
        "collections.OrderedDict", "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_qtensor",
        "torch._utils._rebuild_sparse_tensor", "torch._utils._rebuild_meta_tensor_no_storage", "torch.jit._pickle.restore_type_tag",
        "torch.jit._pickle.build_intlist", "torch.jit._pickle.build_tensorlist", "torch.jit._pickle.build_doublelist",
        "torch.jit._pickle.build_boollist", "torch.jit._pickle.build_tensor_from_id", "torch.per_tensor_affine", "torch.per_channel_affine",
        "torch._tensor._rebuild_from_type_v2", "torch.device",
    )
)  # fmt: skip


@dataclass
class TorchScript:
    """What an archive says.

    Attributes:
        prefix: folder of all entries inside of the archive, with its slash.
        version: of the archive's format, as it says; empty if it does not.
        code: parsed, not run.
        model: the module, None if it is damaged.
        constants: tensors that the code names `CONSTANTS.cN`.
        traced: example inputs of a trace by method; values are not kept by torch, types and shapes are.
        imports: what the pickles would import.
        extra: sizes of extra files in bytes, by name.
        methods: of the model: schemas by name.
    """

    prefix: str
    version: str
    code: ArchiveCode
    model: Thing | None
    constants: list[Any] = field(default_factory=list)
    traced: dict[str, list[Any]] = field(default_factory=dict)
    imports: list[Global] = field(default_factory=list)
    extra: dict[str, int] = field(default_factory=dict)

    @property
    def refused(self) -> str | None:
        """Why it must not be loaded, as the end of a sentence; None if nothing speaks against it."""
        foreign = [
            one
            for one in self.imports
            if one.module.partition(".")[0] != "__torch__"
            and str(one) not in _OF_ARCHIVES
            and not (one.module in ("torch", "torch.storage") and one.name.endswith("Storage"))
        ]
        if foreign:
            return f"would import {foreign[0]}, which no TorchScript archive needs"
        return self.code.refused

    @property
    def methods(self) -> dict[str, str]:
        """Schemas by name of what can be called, `forward` first."""
        kind = self.code.classes.get(str(self.model.kind)) if self.model else None
        names = [] if kind is None else sorted(kind.methods, key=lambda name: (name != "forward", name))
        # Of the helpers that modules of torch bring along no caller knows; they are named all the same.
        return {name: kind.methods[name].schema for name in names if kind and not name.startswith("__")}


def read_torchscript(entries: ZipEntries, prefix: str) -> TorchScript:
    """The archive below this folder of a zip archive. Raises `BadArchive`."""
    imports: dict[Global, None] = {}

    def values(name: str) -> Any:
        if prefix + name not in entries.sizes:
            return None
        found = read_pickle(entries.read(prefix + name, LARGEST_PICKLE))
        imports.update(dict.fromkeys(found.imports))
        return Values().of(found.value)

    model = values("data.pkl")
    constants = values("constants.pkl")
    traced = values("traced_inputs.pkl")
    code = parsed(_sources(entries, prefix))
    return TorchScript(
        prefix,
        _word(entries, f"{prefix}version"),
        code,
        model if isinstance(model, Thing) else None,
        list(constants) if isinstance(constants, (tuple, list)) else [],
        _traced(traced),
        list(imports),
        {
            name.removeprefix(f"{prefix}extra/"): size
            for name, size in entries.sizes.items()
            if name.startswith(f"{prefix}extra/")
        },
    )


def _sources(entries: ZipEntries, prefix: str) -> dict[str, str]:
    found = {}
    for name in entries.sizes:
        if name.startswith(f"{prefix}code/") and name.endswith(".py"):
            try:
                found[name.removeprefix(f"{prefix}code/")] = entries.read(name, _LARGEST_CODE).decode()
            except UnicodeDecodeError:
                raise BadArchive(f"has code in {name!r} that is no text") from None
    return found


def _word(entries: ZipEntries, name: str) -> str:
    if name not in entries.sizes:
        return ""
    text = entries.read(name, _LARGEST_WORD).decode("ascii", "replace").strip()
    return text if text.isprintable() else ""


def _traced(value: Any) -> dict[str, list[Any]]:
    if not isinstance(value, dict):
        return {}
    return {str(name): list(given) for name, given in value.items() if isinstance(given, (list, tuple))}


def written(value: Any) -> Any:
    """A recorded input as evidence files write it: `float32[4,3]`, lists and dictionaries of that, numbers as they are."""
    if isinstance(value, Tensor):
        return str(value)
    if isinstance(value, str):
        return {"str": value}
    if isinstance(value, list):
        return [written(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [written(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": {str(key): written(item) for key, item in value.items()}}
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return {"object": str(value.kind) if isinstance(value, Thing) else type(value).__name__}
