"""What a checkpoint would import that `weights_only=True` refuses, for a torch that cannot say so itself (before 2.6)."""

from __future__ import annotations

import sys
from typing import Any

_LARGEST = 64 << 20


def unsafe_globals(target: Any) -> Any:
    """Names such as `net.Net`, sorted; None where it is no zip archive of `torch.save`, or too large to look at.

    Args:
        target: a path, or a file that is open for reading; where it stands afterwards is not said.
    """
    import pickletools
    import zipfile

    try:
        data = _pickle_of(zipfile, target)
    except (zipfile.BadZipFile, KeyError, EOFError):
        data = None
    unpickler = sys.modules.get("torch._weights_only_unpickler")
    if unpickler is None or data is None:
        return None
    found = set()
    texts: list[Any] = []
    for operation, value, _ in pickletools.genops(data):
        if operation.name == "GLOBAL":
            found.add(str(value).replace(" ", ".", 1))
        elif operation.name == "STACK_GLOBAL":
            found.add(".".join(texts[-2:]))
        elif isinstance(value, str):
            texts.append(value)
    allowed = {*unpickler._get_allowed_globals()}
    own: Any = getattr(unpickler, "_get_user_allowed_globals", dict)()
    return sorted(found - allowed - {*own})


def _pickle_of(zipfile: Any, target: Any) -> Any:
    if not zipfile.is_zipfile(target):
        return None
    with zipfile.ZipFile(target) as archive:
        names = [name for name in archive.namelist() if name.rpartition("/")[2] in ("data.pkl", "constants.pkl")]
        # A TorchScript archive has both.
        if len(names) != 1 or not names[0].endswith("data.pkl") or archive.getinfo(names[0]).file_size > _LARGEST:
            return None
        return archive.read(names[0])
