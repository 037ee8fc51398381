"""One file, inspected: from what its archive says to what a person wants to know."""

from __future__ import annotations

import re
from pathlib import Path

from torchlift.convert.archive.code import LIBRARIES, NAMESPACES, ArchiveCode
from torchlift.convert.archive.model_file import ModelFile, read_model_file
from torchlift.convert.archive.packed_layers import has_packed_layers
from torchlift.convert.archive.pickled import Global
from torchlift.convert.archive.torchscript import written
from torchlift.convert.archive.zip_entries import BadArchive
from torchlift.convert.inspection.kinds import KINDS, VENDORS, WEIGHTS_ONLY
from torchlift.convert.inspection.record import Import, Inspection, Method, Parameter

_CLASS_OF_A_LIBRARY = re.compile(r"__torch__\.torch\.classes\.(\w+)\.")
_OWN_CLASSES = ("quantized", "xnnpack", "sparse", "rnn", "dist_rpc")


def inspected(path: Path) -> Inspection:
    """What the file is; what cannot be read is said in the answer."""
    try:
        size = path.stat().st_size
        found = read_model_file(path)
    except OSError as error:
        return _unreadable(path, 0, f"{path} cannot be read: {error.strerror or error}.")
    except BadArchive as error:
        return _unreadable(path, size, f"{path} {error}.")
    except RecursionError:
        return _unreadable(path, size, f"{path} holds something that is nested deeper than any model.")
    except MemoryError:
        return _unreadable(path, size, f"{path} needs more memory to be read than there is.")
    return _described(path, found)


def _unreadable(path: Path, size: int, problem: str) -> Inspection:
    return Inspection(str(path), "unreadable", "not readable", size, problem)


def _described(path: Path, found: ModelFile) -> Inspection:
    what, advice = KINDS[found.kind]
    script = found.torchscript
    remarks = list(found.remarks)
    operators: list[str] = []
    advised = [advice.format(path=path)] if advice else []
    methods = []
    if script is not None:
        operators = [name for name in script.code.operators() if name.partition("::")[0] not in ("aten", "prim")]
        remarks += _vendors(script.code, [str(kind) for kind in found.imports])
        if has_packed_layers(script.code):
            remarks.append(
                "`optimize_for_mobile` packed its layers for XNNPACK, which torch no longer has: nothing loads it as it stands, "
                "and `torchlift convert` unpacks them."
            )
        if script.refused:
            remarks.append(f"It {script.refused}: torchlift does not load it.")
            advised = []
        if script.model is None and found.kind == "torchscript":
            remarks.append("The object of the model is missing in it.")
        methods = [Method(name, schema, _recorded(script.traced.get(name))) for name, schema in script.methods.items()]
    refused = [str(one) for one in found.imports if not _allowed(one)] if script is None else []
    if refused and found.kind not in ("module",):
        remarks.append(
            f"`torch.load(weights_only=True)` refuses {refused[0]}"
            + (f" and {len(refused) - 1} more" * (len(refused) > 1))
            + "."
        )
    return Inspection(
        str(path),
        found.kind,
        what,
        found.size,
        None,
        found.version,
        bool(script.traced) if script is not None else None,
        methods,
        operators,
        [
            Parameter(name, one.dtype, list(one.shape), one.bytes, one.location, one.requires_grad)
            for name, one in found.tensors()
        ],
        script.extra if script is not None else {},
        [
            Import(str(one), one in found.calls, _allowed(one))
            for one in found.imports
            if one.module.partition(".")[0] != "__torch__"
        ],
        remarks,
        advised,
    )


def _recorded(inputs: list[object] | None) -> list[object] | None:
    return None if inputs is None else [written(value) for value in inputs]


def _vendors(code: ArchiveCode, imports: list[str]) -> list[str]:
    names = {name.partition("::")[0] for name in code.operators()} - (NAMESPACES - LIBRARIES)
    for text in [*imports, *(kind for one in code.classes.values() for kind in one.attributes.values())]:
        match = _CLASS_OF_A_LIBRARY.match(text)
        if match and match[1] not in _OWN_CLASSES:
            names.add(match[1])
        if "torch.jit.backends" in text or "LoweredModule" in text:
            names.add("backends")
    known = [f"It needs {VENDORS[name]}." for name in sorted(names) if name in VENDORS]
    others = sorted(name for name in names if name not in VENDORS)
    if others:
        known.append(f"It needs a library that brings {', '.join(f'`torch.ops.{name}`' for name in others)}.")
    return known


def _allowed(one: Global) -> bool:
    name = str(one)
    storage = one.module in ("torch", "torch.storage") and one.name.endswith("Storage")
    dtype = one.module == "torch" and one.name in _DTYPES
    rebuild = one.module == "torch._utils" and one.name.startswith("_rebuild_")
    return name in WEIGHTS_ONLY or storage or dtype or rebuild or name == "torch._tensor._rebuild_from_type_v2"


_DTYPES = frozenset(
    "float16 float32 float64 bfloat16 half float double int8 uint8 int16 int32 int64 short int long bool complex64 "
    "complex128 qint8 quint8 qint32".split()
)
