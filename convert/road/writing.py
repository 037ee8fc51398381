"""Puts finished files in their place: all of one or nothing, and never over what somebody else has written."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path


def put(source: Path, target: Path) -> None:
    """Moves a finished file to its place in one step. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file, source.open("rb") as data:
            shutil.copyfileobj(data, file)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink(missing_ok=True)
        raise


def put_text(text: str, target: Path) -> None:
    """The same for a text. Raises OSError."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        put(Path(file.name), target)
