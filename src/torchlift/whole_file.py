"""Writing a file of our own so that it holds all of the new content or all of the old."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` to `path`, new or not, with the mode that a new file gets; a link stays, and what it leads to is written.

    Pipes and devices are written as they are.

    Raises:
        OSError: it cannot be written.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~umask)  # noqa: PTH101
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
