"""The archive that is loaded for a file: the file itself, or a copy of it that torch can still load."""

from __future__ import annotations

import hashlib
from pathlib import Path

from torchlift.convert.archive.model_file import ModelFile, read_model_file
from torchlift.convert.archive.packed_layers import copy_unpacked, has_packed_layers
from torchlift.convert.archive.zip_entries import BadArchive, ZipEntries, opened
from torchlift.convert.inspection.kinds import KINDS
from torchlift.lazy_dataclass import dataclass

_LARGEST_ENTRY = 64 << 20
UNPACKED = (
    "Its layers were packed for XNNPACK, which torch no longer has: what ran and was compared is a copy of it with ordinary "
    "layers and clamps in their place."
)
"""What is said of such a copy."""


@dataclass(frozen=True)
class LoadedArchive:
    """What is loaded.

    Attributes:
        path: of it.
        found: what was read of it.
        digests: hashes of all that was looked through, by the names that torch's reader has for them.
        unpacked: whether it is a copy with ordinary layers in the place of packed ones.
    """

    path: Path
    found: ModelFile
    digests: dict[str, str]
    unpacked: bool = False

    def methods(self) -> list[str]:
        """`forward`; without one, every method that is there."""
        assert self.found.torchscript is not None
        methods = self.found.torchscript.methods
        return ["forward"] if "forward" in methods else list(methods)


def read_source(path: Path, folder: Path) -> LoadedArchive | str:
    """What is loaded for a file, or a sentence that says why nothing is.

    Args:
        path: the file.
        folder: where a copy may be put.
    """
    try:
        found = read_model_file(path)
        if problem := _why_not(path, found):
            return problem
        unpacked = found.torchscript is not None and has_packed_layers(found.torchscript.code)
        if unpacked:
            assert found.torchscript is not None
            copy = folder / path.name
            copy_unpacked(path, copy, found.torchscript)
            found = read_model_file(copy)
        return LoadedArchive(copy if unpacked else path, found, _digests(copy if unpacked else path, found), unpacked)
    except OSError as error:
        return f"{path} cannot be read: {error.strerror or error}."
    except BadArchive as error:
        return f"{path} {error}."
    except RecursionError:
        return f"{path} is nested too deeply."


def _why_not(path: Path, found: ModelFile) -> str | None:
    if found.kind != "torchscript" or found.torchscript is None:
        what, advice = KINDS[found.kind]
        return f"{path} is {what}, and no TorchScript archive. {advice.format(path=path)}".strip()
    if found.torchscript.refused:
        return f"{path} {found.torchscript.refused}. It is not loaded."
    if found.remarks and any("twice" in one or "outside" in one for one in found.remarks):
        return f"{path}: {found.remarks[0]} It is not loaded."
    if found.torchscript.model is None:
        return f"{path} has no object of a model in it."
    if not found.torchscript.methods:
        return f"{path} has no method that could be called."
    return None


def _digests(path: Path, found: ModelFile) -> dict[str, str]:
    assert found.torchscript is not None
    prefix = found.torchscript.prefix
    with opened(path) as file:
        entries = ZipEntries(file)
        names = [
            name
            for name in entries.sizes
            if name.startswith(prefix)
            and (
                (name.startswith(f"{prefix}code/") and name.endswith(".py"))
                or name.endswith(("/data.pkl", "/constants.pkl"))
            )
        ]
        return {
            name.removeprefix(prefix): hashlib.sha256(entries.read(name, _LARGEST_ENTRY)).hexdigest() for name in names
        }
