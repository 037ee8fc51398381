"""Writing a file of our own so that it holds all of the new content or all of the old."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from pathlib import Path
from typing import BinaryIO


def write_whole(path: Path, content: bytes | BinaryIO) -> None:
    """Write `content` to `path`, new or not, with the mode that a new file gets; a link stays, and what it leads to is written.

    Pipes and devices are written as they are. Folders are made.

    Args:
        path: the file.
        content: what it is to hold, or a file to read it from.

    Raises:
        OSError: it cannot be read or written.
    """
    data = io.BytesIO(content) if isinstance(content, bytes) else content
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as device:
            shutil.copyfileobj(data, device)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            shutil.copyfileobj(data, file)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~umask)  # noqa: PTH101
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
