"""Archives whose code names a device, such as `cuda:0`: a trace keeps the one it was made on, and nothing loads it elsewhere.

`torch.jit.load(..., map_location="cpu")` moves weights only, so such code runs on its own device or not at all. What is
compared then is a copy of the archive in which the code says `cpu`; everything else in it is the same bytes.
"""

from __future__ import annotations

import ast
import re
import shutil
import zipfile
from pathlib import Path

from torchlift.convert.archive.code import Code, dotted
from torchlift.convert.archive.zip_entries import ZipEntries

_ELSEWHERE = r"(?:cuda|hip|xpu|mps|npu|mlu|hpu)(?::\d{1,3})?"
_WRITTEN = re.compile(rf"""(torch\.device\()(["']){_ELSEWHERE}\2(\))""".encode())
_LARGEST = 64 << 20
_NAME = re.compile(_ELSEWHERE)


def other_devices(code: Code) -> list[str]:
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
    """Writes a copy of an archive that was looked through, in which the code names the CPU.

    Raises:
        BadArchive: what is compressed in it is larger than code and pickles are; a copy of it could be of any size.
    """
    with archive.open("rb") as file, zipfile.ZipFile(copy, "w", zipfile.ZIP_STORED) as new:
        entries = ZipEntries(file)
        with zipfile.ZipFile(file) as old:
            for entry in old.infolist():
                name = entry.filename
                if name.endswith(".debug_pkl"):  # places in the old text
                    continue
                is_code = "/code/" in name and name.endswith(".py")
                if is_code or entry.compress_type != zipfile.ZIP_STORED:
                    data = entries.read(name, _LARGEST)
                    new.writestr(name, _WRITTEN.sub(rb'\1"cpu"\3', data) if is_code else data)
                    continue
                with old.open(entry) as source, new.open(name, "w", force_zip64=True) as target:
                    shutil.copyfileobj(source, target)
