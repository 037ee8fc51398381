"""Put new bytes in the place of a file's old ones, all or nothing.

The new bytes go to a file of their own beside the old one, reach the disk, and take over its name in one step. A crash,
a full disk or a kill at any moment leaves the old file or the new one. What can be left over after a kill is that
temporary file, whose name starts with `.torchlift-`.

Permissions are kept, and the owner where the system allows it. Access-control lists and extended attributes are not.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path


class ChangedOnDisk(Exception):
    """The file no longer holds the bytes that were read, so writing it would undo somebody's work."""


def write_atomic(path: Path, data: bytes, *, expected: bytes | None = None, link_to: Path | None = None) -> None:
    """Replace the content of an existing file.

    A symbolic link stays and the file it leads to is replaced. A hard link cannot be kept together with atomicity: the
    other names of such a file go on meaning the old content.

    Args:
        path: the file.
        data: its new content.
        expected: what it must still hold; not checked if None.
        link_to: a file with the new content of which it becomes another name, where the file system can do that.

    Raises:
        ChangedOnDisk: it holds something else than `expected`.
        PermissionError: it is read-only. `os.replace` would succeed all the same, but not in the owner's sense.
        OSError: it does not exist, is no regular file, or the disk refused. The file is untouched.
    """
    target = Path(os.path.realpath(path))
    old = target.stat()
    if not stat.S_ISREG(old.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    # The superuser may write everything, so the permission bits are asked besides.
    if not old.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "it is read-only; make it writable or exclude it", str(path))
    try:
        descriptor, name = tempfile.mkstemp(prefix=".torchlift-", suffix=".tmp", dir=target.parent)
    except OSError as error:
        reason = f"no file can be created beside it ({error.strerror or error})"
        raise OSError(error.errno or errno.EIO, reason, str(path)) from error
    temporary = Path(name)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor has no Path
            file.write(data)
            file.flush()
            _inherit(old, file.fileno(), temporary)
            os.fsync(file.fileno())
        if expected is not None and target.read_bytes() != expected:
            raise ChangedOnDisk("it was changed by another program after it was read; run torchlift again")
        if link_to is not None:
            _link(link_to, temporary)
        os.replace(temporary, target)  # noqa: PTH105 - the name that fault-injection tests and readers look for
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _link(file: Path, temporary: Path) -> None:
    """Make `temporary` another name of `file`; where that cannot be done it stays the copy it is."""
    other = temporary.with_suffix(".link.tmp")
    with contextlib.suppress(OSError):
        os.link(file, other)
        other.replace(temporary)


def set_aside(path: Path, *, expected: bytes) -> Path:
    """Take a file's name away and keep the file, under the name that is returned, until it is known that it may go.

    Raises:
        ChangedOnDisk: it holds something else than `expected`.
        OSError: it is a symbolic link, or read-only, or cannot be renamed. The file is untouched.
    """
    if path.is_symlink():
        raise OSError(
            errno.EINVAL, "it is a symbolic link, and nothing would be left in the file it leads to", str(path)
        )
    if not os.access(path, os.W_OK) or not path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(errno.EACCES, "it is read-only; make it writable or exclude it", str(path))
    if path.read_bytes() != expected:
        raise ChangedOnDisk("it was changed by another program after it was read; run torchlift again")
    descriptor, name = tempfile.mkstemp(prefix=".torchlift-", suffix=".tmp", dir=path.parent)
    os.close(descriptor)
    path.replace(name)
    _sync_folder(path.parent)
    return Path(name)


def _inherit(old: os.stat_result, descriptor: int, temporary: Path) -> None:
    """Give the temporary file the owner, group and mode of the old one."""
    if hasattr(os, "fchown"):
        new = os.fstat(descriptor)
        with contextlib.suppress(OSError):
            if new.st_uid != old.st_uid:
                os.fchown(descriptor, old.st_uid, -1)
        with contextlib.suppress(OSError):
            if new.st_gid != old.st_gid:
                os.fchown(descriptor, -1, old.st_gid)
    # Last, because a change of owner clears the set-user-id bits.
    temporary.chmod(stat.S_IMODE(old.st_mode))


def _sync_folder(folder: Path) -> None:
    """Make the new name durable; a file system that cannot still has the new or the old one."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
