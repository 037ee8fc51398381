"""Archives whose code names a device, such as `cuda:0`: a trace keeps the one it was made on, and nothing loads it elsewhere.

`torch.jit.load(..., map_location="cpu")` moves weights only, so such code runs on its own device or not at all. What is
compared then is a copy of the archive in which the code says `cpu`; everything else in it is the same bytes.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from torchlift.convert.archive.code import ArchiveCode, dotted
from torchlift.convert.archive.copies import write_copy

_ELSEWHERE = r"(?:cuda|hip|xpu|mps|npu|mlu|hpu)(?::\d{1,3})?"
_WRITTEN = re.compile(rf"""(torch\.device\()(["']){_ELSEWHERE}\2(\))""".encode())
_NAME = re.compile(_ELSEWHERE)


def other_devices(code: ArchiveCode) -> list[str]:
    """Devices besides the CPU that the code names, sorted."""
    return sorted(
        {
            str(value.value)
            for function in code.everything()
            for part in ast.walk(function.node)
            if isinstance(part, ast.Call) and dotted(part.func) == "torch.device"
            for value in part.args
            if isinstance(value, ast.Constant) and is_elsewhere(value.value)
        }
    )


def is_elsewhere(value: object) -> bool:
    """Whether this is the name of a device besides the CPU."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def copy_on_cpu(archive: Path, copy: Path) -> None:
    """Writes a copy of an archive that was looked through, in which the code names the CPU. Raises `BadArchive`."""
    write_copy(archive, copy, lambda name, data: _WRITTEN.sub(rb'\1"cpu"\3', data) if name.endswith(".py") else data)
