"""Installed distributions as files on disk: their metadata, and whether their files are still those they recorded.

Formats: the PyPA "Recording installed projects" and "Core metadata" specifications, the wheel format (PEP 427) and
`direct_url.json` (PEP 610). Only files are read, so a broken distribution is as welcome as a whole one.
"""

# ruff: noqa: PTH110, PTH113, PTH116, PTH118, PTH119, PTH208
# A Path for each of torch's 15 000 files would cost more than looking at them.

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from urllib.parse import urlsplit, urlunsplit

from torchlift.doctor.facts import Package
from torchlift.doctor.probes.text import printable
from torchlift.file_bytes import without_waiting
from torchlift.lazy_dataclass import dataclass

_RELEVANT = re.compile(
    r"torch|torch-.*|torch(vision|audio|text|data|ao|codec|rl|tune|titan|metrics|comms|elastic|xla|serve|sde|geo)(-.*)?"
    r"|functorch|executorch|pytorch|pytorch-.*|libtorch.*|triton|triton-.*|nvidia-.*|cuda-.*|cudatoolkit|cudnn|nccl"
    r"|pynvml|tensorrt.*|flash-attn.*|flash-mla|flashinfer.*|xformers|bitsandbytes|apex|deepspeed|cupy.*|jax|jaxlib"
    r"|jax-.*|tensorflow|tensorflow-.*|tf-nightly.*|onnxruntime-.*|vllm.*|sglang.*|sgl-kernel.*|transformer-engine.*|cugraph.*"
    r"|cudf.*|cuml.*|fbgemm-gpu.*|auto-?gptq|auto-?awq.*|mamba-ssm|causal-conv1d|natten|spconv.*|pyg-lib|detectron2"
    r"|nvidia|dali.*|warp-lang|numba-cuda.*|intel-extension-for-pytorch|openmpi|magma.*"
)
"""Normalised names of distributions that belong in the record whatever their files are."""

_LIBRARY_LINE = re.compile(rb'"?([^,"\r\n]+\.(?:so|pyd|dll)(?:\.[0-9.]+)?)"?,')
_LIBRARY_NAME = re.compile(r"\.(?:so|pyd|dll)(?:\.[0-9.]+)?$")
_MOST_METADATA = 4 << 20
_MOST_RECORD = 64 << 20
_MOST_WALKED = 20_000


@dataclass
class Distribution:
    """A `.dist-info` or `.egg-info` on the path, before its files were read."""

    name: str
    """Normalised, from the folder's name."""
    version: str
    folder: str
    """The entry of `sys.path`."""
    metadata_path: str
    _record: bytes | None = field(default=None, init=False, repr=False)

    @property
    def relevant(self) -> bool:
        """Whether its name alone says that it matters to torch or CUDA."""
        return _RELEVANT.fullmatch(self.name) is not None

    def record(self) -> bytes:
        """The bytes of RECORD, empty where there is none."""
        if self._record is None:
            self._record = _read(os.path.join(self.metadata_path, "RECORD"), _MOST_RECORD)
        return self._record

    def libraries(self) -> list[str]:
        """Absolute paths of the native libraries it brings."""
        record = self.record()
        if record:
            lines = (_LIBRARY_LINE.match(record, start) for start in _starts_of_libraries(record))
            return [self.absolute(os.fsdecode(line[1])) for line in lines if line]
        return list(self._walked()) if self.relevant else []

    def rows(self) -> Iterator[list[str]]:
        """The lines of RECORD: path as it stands there, digest and size, of which the last two may be empty or lacking."""
        text = self.record().decode("utf-8", "surrogateescape")
        # A NUL byte makes csv.reader raise before Python 3.11.
        lines = text.replace("\0", "").splitlines()
        for row in csv.reader(lines) if '"' in text else (line.split(",") for line in lines):
            if row and row[0]:
                yield row

    def package(self) -> Package:
        """Its record without a look at its files."""
        headers = _headers(_first(self.metadata_path, "METADATA", "PKG-INFO"))
        wheel = _headers(_read(os.path.join(self.metadata_path, "WHEEL"), _MOST_METADATA))
        url, editable = _origin(_read(os.path.join(self.metadata_path, "direct_url.json"), _MOST_METADATA))
        if editable is None:
            editable = self.metadata_path.endswith(".egg-info") and not self.folder.endswith(
                ("site-packages", "dist-packages", ".egg")
            )
        return Package(
            name=normalised(headers.get("name", [""])[0]) or self.name,
            version=headers.get("version", [""])[0] or self.version,
            metadata_path=printable(self.metadata_path),
            requires=headers.get("requires-dist", []),
            tags=wheel.get("tag", []),
            build_tag=wheel.get("build", [None])[0],
            installer=printable(
                _read(os.path.join(self.metadata_path, "INSTALLER"), 200).decode("utf-8", "replace")
            ).strip()
            or None,
            editable=editable,
            source_url=url,
        )

    def absolute(self, relative: str) -> str:
        """The path of a file that RECORD names."""
        # A RECORD has forward slashes on every system; normpath on each of torch's 15 000 lines would cost 50 ms.
        if ".." in relative or "\\" in relative or os.sep != "/" or relative.startswith("/"):
            return os.path.normpath(os.path.join(self.folder, relative))
        return f"{self.folder}/{relative}"

    def _walked(self) -> Iterator[str]:
        text = _read(os.path.join(self.metadata_path, "top_level.txt"), _MOST_METADATA).decode("utf-8", "replace")
        seen = 0
        for name in text.split():
            if not re.fullmatch(r"\w+", name):
                continue
            for folder, _, files in os.walk(os.path.join(self.folder, name)):
                seen += len(files)
                if seen > _MOST_WALKED:
                    return
                yield from (os.path.join(folder, file) for file in files if _LIBRARY_NAME.search(file))


def normalised(name: str) -> str:
    """The name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def distributions_of(folders: Iterable[tuple[str, Iterable[str]]]) -> list[Distribution]:
    """The distributions of (folder on the path, names of its metadata folders), in the order of the path.

    Where one folder has several of one name, the one with a RECORD and then the newest comes first.
    """
    found: list[Distribution] = []
    for folder, names in folders:
        here = []
        for name in names:
            path = os.path.join(folder, name)
            stem = os.path.basename(folder) if name == "EGG-INFO" else name
            project, _, rest = re.sub(r"\.(dist-info|egg-info|egg)$", "", stem).partition("-")
            # An egg's name goes on with the Python version.
            version = rest.split("-", 1)[0]
            here.append(Distribution(normalised(printable(project)), printable(version), folder, path))
        here.sort(key=lambda one: (one.name, *_age(one.metadata_path)))
        found += here
    return found


def conda_packages(prefix: str, known: frozenset[str]) -> list[Package]:
    """The relevant packages of a conda environment that are not among the `known` (normalised) Python distributions.

    Their names and versions are in the names of the files of `conda-meta`; the build string goes into `build_tag`.
    """
    try:
        names = sorted(os.listdir(os.path.join(prefix, "conda-meta")))
    except (OSError, ValueError):
        return []
    found = []
    for file in names:
        parts = file[: -len(".json")].rsplit("-", 2)
        if not file.endswith(".json") or len(parts) != 3:
            continue
        name = normalised(parts[0])
        if name not in known and _RELEVANT.fullmatch(name):
            path = printable(os.path.join(prefix, "conda-meta", file))
            found.append(Package(name, parts[1], path, build_tag=parts[2], installer="conda"))
    return found


def _age(path: str) -> tuple[bool, float]:
    try:
        return not os.path.exists(os.path.join(path, "RECORD")), -os.stat(path).st_mtime
    except (OSError, ValueError):
        return True, 0.0


def _starts_of_libraries(record: bytes) -> list[int]:
    """Where the lines begin that may name one: torch's RECORD has some hundred among 15 000."""
    starts = set()
    for ending in (b".so", b".pyd", b".dll"):
        at = record.find(ending)
        while at >= 0:
            starts.add(record.rfind(b"\n", 0, at) + 1)
            end = record.find(b"\n", at)
            at = record.find(ending, end) if end >= 0 else -1
    return sorted(starts)


def _read(path: str, most: int) -> bytes:
    try:
        with open(path, "rb", opener=without_waiting) as stream:
            return stream.read(most)
    except (OSError, ValueError):
        return b""


def _first(folder: str, *names: str) -> bytes:
    # An .egg-info of distutils is one file that is the metadata itself.
    if os.path.isfile(folder):
        return _read(folder, _MOST_METADATA)
    return next((data for name in names if (data := _read(os.path.join(folder, name), _MOST_METADATA))), b"")


def _headers(data: bytes) -> dict[str, list[str]]:
    # email.parser takes milliseconds for what a loop does: nothing after the blank line is wanted.
    headers: dict[str, list[str]] = {}
    last: list[str] | None = None
    for line in printable(data.decode("utf-8", "replace")).replace("\r\n", "\n").split("\n"):
        if not line:
            break
        if line[0] in " \t":
            if last:
                last[-1] += " " + line.strip()
            continue
        name, colon, value = line.partition(":")
        last = None
        if colon:
            last = headers.setdefault(name.strip().lower(), [])
            last.append(value.strip())
    return headers


def _origin(data: bytes) -> tuple[str | None, bool | None]:
    """URL without credentials, and whether the install is editable (None: the file does not say)."""
    if not data:
        return None, None
    try:
        value = json.loads(data.decode("utf-8", "replace"))
        url = value.get("url")
        folder = value.get("dir_info")
        editable = bool(folder.get("editable")) if isinstance(folder, dict) else False
        return (printable(_without_credentials(url)) if isinstance(url, str) else None), editable
    except (ValueError, AttributeError, RecursionError):
        return None, None


def _without_credentials(url: str) -> str:
    try:
        parts = urlsplit(url)
        # Tokens also travel in queries and fragments.
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        return re.sub(r"//[^/]*@", "//", url).partition("?")[0].partition("#")[0]
