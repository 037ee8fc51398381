"""The sources inside a wheel on an index, those in Python or the headers, read by ranges and kept in a folder for the next time."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from package_index import RemoteFile, Wheel, listing, opened
from packaging.version import Version

PYTHON = re.compile(
    r"(?:torch|functorch|torchgen|torchvision|torchaudio|torchtext|torchdata|torchao)/.*\.pyi?$|[^/]+\.dist-info/METADATA$"
)
HEADERS = re.compile(
    r"torch/(?:lib/)?include/(?:torch|ATen|c10|caffe2|TH|THC|THCUNN|THNN)/.*\.(?:h|hpp|cuh)$|torch/share/cmake/.*\.cmake$"
)
_DONE = ".complete"
# Members closer together than this are read in one request: a request costs about as much as this many bytes.
_GAP = 1 << 18
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")


def newest_patches(index: str, package: str, oldest: Version, newest: Version) -> dict[str, Wheel]:
    """One wheel for Linux x86_64 of the newest patch of every minor release from `oldest` to `newest`, by "2.13"."""
    found: dict[str, Wheel] = {}
    for wheel in listing(index, package):
        minor = f"{wheel.version.major}.{wheel.version.minor}"
        if wheel.platform not in {"linux_x86_64", "any"} or not oldest <= Version(minor) <= newest:
            continue
        known = found.get(minor)
        if known is None or (wheel.version, known.python) > (known.version, wheel.python):
            found[minor] = wheel
    return dict(sorted(found.items(), key=lambda item: Version(item[0])))


def sources(wheel: Wheel, cache: Path, wanted: re.Pattern[str] = PYTHON) -> Path:
    """The folder with the wheel's files that are `wanted`; they are read first where it is not there yet.

    Each kind of file needs a `cache` of its own.

    Raises:
        OSError: the index cannot be reached or does not answer range requests.
    """
    folder = cache / wheel.name.removesuffix(".whl")
    if (folder / _DONE).exists():
        return folder
    with zipfile.ZipFile(io.BufferedReader(RemoteFile(wheel.url), 1 << 16)) as archive:
        members = [member for member in archive.infolist() if wanted.search(member.filename)]
    with ThreadPoolExecutor(4) as pool:
        for texts in pool.map(lambda run: list(_read(wheel.url, run)), _runs(members)):
            for name, data in texts:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(data)
    (folder / _DONE).write_text(wheel.url + "\n", encoding="utf-8")
    return folder


def _runs(members: list[zipfile.ZipInfo]) -> Iterator[list[zipfile.ZipInfo]]:
    """Members that lie close together, in order."""
    run: list[zipfile.ZipInfo] = []
    for member in sorted(members, key=lambda member: member.header_offset):
        if run and member.header_offset - _end(run[-1]) > _GAP:
            yield run
            run = []
        run.append(member)
    if run:
        yield run


def _end(member: zipfile.ZipInfo) -> int:
    # The local header may have more extra fields than the directory says; 1 KiB is more than any wheel has.
    return member.header_offset + _LOCAL_HEADER.size + len(member.filename.encode()) + 1024 + member.compress_size


def _read(url: str, run: list[zipfile.ZipInfo]) -> Iterator[tuple[str, bytes]]:
    first = run[0].header_offset
    with opened(url, {"Range": f"bytes={first}-{_end(run[-1])}"}) as answer:
        data = answer.read()
    for member in run:
        at = member.header_offset - first
        header = _LOCAL_HEADER.unpack_from(data, at)
        start = at + _LOCAL_HEADER.size + header[-2] + header[-1]
        packed = data[start : start + member.compress_size]
        text = packed if member.compress_type == zipfile.ZIP_STORED else zlib.decompress(packed, -15)
        if zlib.crc32(text) != member.CRC:
            raise OSError(f"{member.filename} of {url} was read damaged")
        yield member.filename, text
