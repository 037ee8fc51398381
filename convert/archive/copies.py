"""Copies of archives in which code says something else: what torch cannot load as it stands is loaded as such a copy."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

from torchlift.convert.archive.zip_entries import ZipEntries

_LARGEST = 64 << 20
_LEFT_OUT = (".debug_pkl", "/bytecode.pkl")
"""Places in the old text, and what the lite interpreter would run."""


def write_copy(archive: Path, copy: Path, changed: Callable[[str, bytes], bytes]) -> None:
    """Writes a copy of an archive that was looked through.

    Args:
        archive: the archive.
        copy: where it goes.
        changed: gets the name and the bytes of code and of `constants.pkl`, and gives those of the copy.

    Raises:
        BadArchive: what is compressed in it is larger than code and pickles are; a copy of it could be of any size.
    """
    with archive.open("rb") as file, zipfile.ZipFile(copy, "w", zipfile.ZIP_STORED) as new:
        entries = ZipEntries(file)
        with zipfile.ZipFile(file) as old:
            for entry in old.infolist():
                name = entry.filename
                if name.endswith(_LEFT_OUT):
                    continue
                may_change = ("/code/" in name and name.endswith(".py")) or name.endswith("/constants.pkl")
                if may_change or entry.compress_type != zipfile.ZIP_STORED:
                    data = entries.read(name, _LARGEST)
                    new.writestr(name, changed(name, data) if may_change else data)
                    continue
                with old.open(entry) as source, new.open(name, "w", force_zip64=True) as target:
                    shutil.copyfileobj(source, target)
