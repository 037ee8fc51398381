"""Which kind of model a file is, by its content; its name says nothing."""

from __future__ import annotations

import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from torchlift.convert.archive.pickled import Global, read_pickle
from torchlift.convert.archive.torchscript import LARGEST_PICKLE, TorchScript, read_torchscript
from torchlift.convert.archive.values import Tensor, Thing, Values, tensors_of
from torchlift.convert.archive.zip_entries import BadArchive, ZipEntries, opened

_HEAD = 64
_LFS = b"version https://git-lfs.github.com/spec/"
_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_TAR_BLOCKS = 1000

# First bytes, or bytes from the fifth on (flatbuffers), and what begins with them.
_MARKS = (
    (0, _LFS, "lfs"),
    (0, b"PK\x03\x04", "zip"),
    (0, b"PK\x05\x06", "zip"),
    (4, b"PTMF", "mobile flatbuffer"),
    (4, b"ET1", "executorch"),
    (0, b"ptrt", "tensorrt"),
    (0, b"ftrt", "tensorrt"),
    (0, b"GGUF", "gguf"),
    (0, b"\x89HDF\r\n", "hdf5"),
    (0, b"\x7fELF", "library"),
    (0, b"\x93NUMPY", "numpy"),
)


@dataclass
class ModelFile:
    """What a file holds.

    Attributes:
        kind: one of the keys of `KINDS`.
        size: bytes.
        version: of its format, as it says.
        torchscript: for TorchScript archives.
        value: what its pickle would make, for pickles.
        imports: what its pickles would import.
        calls: what its pickles would call.
        remarks: what is odd about it, as sentences.
        entries: of a zip archive: sizes by name.
    """

    kind: str
    size: int
    version: str = ""
    torchscript: TorchScript | None = None
    value: Any = None
    imports: list[Global] = field(default_factory=list)
    calls: list[Global] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    entries: dict[str, int] = field(default_factory=dict)

    def tensors(self) -> list[tuple[str, Tensor]]:
        """All tensors in it with their names, as far as it can be known without torch."""
        return list(tensors_of(self.torchscript.model if self.torchscript else self.value))


def read_model_file(path: Path) -> ModelFile:
    """What the file holds.

    Raises:
        OSError: it cannot be read.
        BadArchive: it is damaged, or made to harm whoever reads it.
    """
    with opened(path) as file:
        size = file.seek(0, 2)
        file.seek(0)
        head = file.read(_HEAD)
        file.seek(0)
        kind = next((kind for at, mark, kind in _MARKS if head[at : at + len(mark)] == mark), None)
        if kind == "zip":
            return _zip(ZipEntries(file), size)
        if kind is not None:
            return ModelFile(kind, size)
        if not head:
            return ModelFile("empty", size)
        if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < size:
            return ModelFile("safetensors", size)
        if head[257:262] == b"ustar" or _is_tar(file):
            return _legacy_tar(file, size)
        if head[:1] == b"\x80" or head[:1] in b"(]}c":
            return _legacy_pickle(file, size)
        return ModelFile("unknown", size)


def _zip(entries: ZipEntries, size: int) -> ModelFile:
    made = ModelFile("zip", size, entries=entries.sizes)
    if entries.odd_names:
        made.remarks.append(
            f"{len(entries.odd_names)} of its entries would be unpacked outside of their folder, such as "
            f"{entries.odd_names[0]!r}: never unpack it."
        )
    if entries.twice:
        made.remarks.append(
            f"The entry {entries.twice[0]!r} is there twice, and readers differ in which one they take: trust none."
        )
    names = entries.sizes
    roots = sorted({name.rpartition("/")[0] for name in names if name.rpartition("/")[2] == "data.pkl"}, key=len)
    prefix = f"{roots[0]}/" if roots and roots[0] else ""
    if any(name.endswith(("archive_format", "serialized_exported_program.json")) for name in names):
        made.kind = "aotinductor" if any("/aotinductor/" in name for name in names) else "exported"
        made.version = _small(entries, "archive_version") or _small(entries, "version")
    elif any("/aotinductor/" in name for name in names):
        made.kind = "aotinductor"
    elif any(name.endswith(".data/extern_modules") for name in names):
        made.kind = "package"
    elif "MAR-INF/MANIFEST.json" in names:
        made.kind = "torchserve"
    elif any(name.endswith("model.json") for name in names) and any("/code/" in f"/{name}" for name in names):
        made.kind = "old torchscript"
    elif roots:
        _with_data(made, entries, prefix)
    return made


def _with_data(made: ModelFile, entries: ZipEntries, prefix: str) -> None:
    """A zip archive with a pickle called data.pkl in this folder."""
    names = entries.sizes
    if prefix + "constants.pkl" in names or any(name.startswith(prefix + "code/") for name in names):
        made.torchscript = read_torchscript(entries, prefix)
        made.imports, made.version = made.torchscript.imports, made.torchscript.version
        mobile = prefix + "bytecode.pkl" in names
        without_code = not made.torchscript.code.classes and made.torchscript.refused is None
        made.kind = "mobile" if mobile and without_code else "torchscript"
        if mobile and made.kind == "torchscript":
            made.remarks.append("It also has the bytecode of PyTorch Mobile, for the lite interpreter.")
        return
    pickle = read_pickle(entries.read(prefix + "data.pkl", LARGEST_PICKLE))
    made.version = _small(entries, prefix + "version")
    _pickled(made, pickle.value, pickle.imports, pickle.calls)


def _small(entries: ZipEntries, ending: str) -> str:
    name = next((name for name in entries.sizes if name.endswith(ending)), None)
    if name is None or entries.sizes[name] > _HEAD:
        return ""
    text = entries.read(name, _HEAD).decode("ascii", "replace").strip()
    return text if text.isprintable() else ""


def _pickled(made: ModelFile, value: Any, imports: list[Global], calls: list[Global]) -> None:
    made.value, made.imports, made.calls = Values().of(value), imports, calls
    found = made.value
    if isinstance(found, Tensor):
        made.kind = "tensor"
    elif isinstance(found, dict):
        flat = [item for item in found.values() if isinstance(item, Tensor)]
        made.kind = "state dict" if flat and len(flat) * 2 >= len(found) else "checkpoint"
    elif isinstance(found, Thing) and "_modules" in found.attributes:
        made.kind = "module"
    else:
        made.kind = "pickle"


def _is_tar(file: IO[bytes]) -> bool:
    file.seek(257)
    found = file.read(5) == b"ustar"
    file.seek(0)
    return found


def _legacy_tar(file: IO[bytes], size: int) -> ModelFile:
    """torch before 0.1.12 wrote tar archives with the entries `pickle`, `storages` and `tensors`."""
    made = ModelFile("tar", size)
    try:
        with tarfile.open(fileobj=file, mode="r:") as archive:
            for _, member in zip(range(_TAR_BLOCKS), archive, strict=False):
                made.entries[member.name] = member.size
                if member.name == "pickle" and member.isfile():
                    if member.size > LARGEST_PICKLE:
                        raise BadArchive(f"holds a pickle of more than {LARGEST_PICKLE >> 20} MB")
                    inner = archive.extractfile(member)
                    pickle = read_pickle(inner.read(LARGEST_PICKLE) if inner else b"")
                    _pickled(made, pickle.value, pickle.imports, pickle.calls)
    except (tarfile.TarError, OSError, ValueError, EOFError) as error:
        if isinstance(error, BadArchive):
            raise
        raise BadArchive(f"is a damaged tar archive ({error})") from None
    if {"pickle", "storages", "tensors"} <= made.entries.keys():
        made.version = "tar"
    return made


def _legacy_pickle(file: IO[bytes], size: int) -> ModelFile:
    """torch before 1.6 wrote pickles one behind the other, then the bytes of the tensors; other programs write one."""
    made = ModelFile("pickle", size)
    data = file.read(LARGEST_PICKLE)
    first = read_pickle(data)
    if first.value != _LEGACY_MAGIC:
        if first.end < size <= LARGEST_PICKLE:
            made.remarks.append(f"{size - first.end} bytes follow behind the pickle.")
        _pickled(made, first.value, first.imports, first.calls)
        return made
    protocol = read_pickle(data, first.end)
    system = read_pickle(data, protocol.end)
    model = read_pickle(data, system.end)
    made.version = f"legacy, protocol {protocol.value}" if isinstance(protocol.value, int) else "legacy"
    everything = (first, protocol, system, model)
    imports = dict.fromkeys(name for one in everything for name in one.imports)
    _pickled(made, model.value, list(imports), list(dict.fromkeys(name for one in everything for name in one.calls)))
    return made
