"""The native libraries of installed distributions: device code, what they need, and whether torch has their symbols."""

# ruff: noqa: PTH110, PTH113, PTH114, PTH118, PTH119, PTH120, PTH208

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import field
from functools import cached_property

from torchlift.doctor.facts import CodeImages, Library
from torchlift.doctor.native import pe
from torchlift.doctor.native.elf import ELF_MAGIC, Elf, Section
from torchlift.doctor.native.fatbin import SECTIONS, Image, count_images
from torchlift.doctor.native.source import Source, Unreadable
from torchlift.doctor.probes.loader_cache import CACHE, cached_libraries
from torchlift.doctor.probes.text import printable
from torchlift.file_bytes import without_waiting
from torchlift.lazy_dataclass import dataclass

MOST_SYMBOLS = 20
"""Undefined symbols kept per library."""

_TORCH_LIBRARY = re.compile(r"lib(torch|c10|caffe2|shm)\b|lib(torch|c10)_|_C\.")
_CUDA_OR_TORCH = re.compile(
    r"lib(torch|c10|caffe2|cuda|cublas|cudnn|nccl|nvrtc|cufft|cufile|cusparse|cusolver|curand|cupti|nvJitLink|nvshmem|nvToolsExt)"
)
_DRIVER = re.compile(r"lib(cuda|nvidia-[\w-]+|nvcuvid|nvoptix|cudadebugger)\.so\b")
"""Part of the driver, which has checks of its own."""
_TORCH_SYMBOL = re.compile(r"_Z(?:T[ISVTC]|GV)?(?:N[KVRO]*)?(?:3c10|2at|5torch)(?=\d|L|C|D|[a-z])")
_MACH_O = (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
_LIBRARY_NAME = re.compile(r"\.so(?:\.[0-9.]+)?$|\.pyd$|\.dll$", re.IGNORECASE)
_SYSTEM_FOLDERS = ("/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib", "/lib32", "/usr/lib32")
_MOST_IN_CLOSURE = 64


@dataclass(frozen=True)
class OwnedFiles:
    """The libraries of one distribution; `relevant` ones are reported when broken, others only when they matter."""

    name: str
    paths: tuple[str, ...]
    relevant: bool


@dataclass
class _Seen:
    owner: OwnedFiles
    path: str
    library: Library
    search: tuple[str, ...] = ()
    is_elf: bool = False


@dataclass
class LibraryLook:
    """A look at all libraries of an environment. `folders` are those of `sys.path`, `torch` torch's own folder."""

    folders: tuple[str, ...]
    torch: str | None
    prefixes: tuple[str, ...]
    """`sys.prefix` and `sys.base_prefix`: interpreters of conda find libraries in their `lib`."""
    environment: Mapping[str, str]
    _seen: list[_Seen] = field(default_factory=list, init=False)
    _found: dict[str, bool] = field(default_factory=dict, init=False)

    def run(self, owned: Iterable[OwnedFiles]) -> list[Library]:
        """The libraries with device code or a link to torch or CUDA, and the broken ones of relevant distributions."""
        done = set()
        real_path = _RealPaths()
        for owner in owned:
            for path in owner.paths:
                real = real_path(path)
                if real not in done:
                    done.add(real)
                    self._look(owner, path)
        with _Opened() as torch:
            for seen in self._seen:
                with suppress(Unreadable):
                    self._link(seen, torch)
        found = [seen.library for seen in self._seen if self._matters(seen)]
        return sorted(found, key=lambda library: library.path)

    def _matters(self, seen: _Seen) -> bool:
        library = seen.library
        if library.images:
            return True
        linked = any(_CUDA_OR_TORCH.match(name) and not _DRIVER.match(name) for name in library.needed)
        return linked or (seen.owner.relevant and bool(library.error or library.missing_needed))

    def _look(self, owner: OwnedFiles, path: str) -> None:
        library = Library(printable(path), owner.name, 0)
        seen = _Seen(owner, path, library)
        images: Counter[Image] = Counter()
        try:
            with Source(path) as source:
                library.size = source.size
                start = source.some(0, 4, "its header")
                if start in _MACH_O:
                    return
                sections: tuple[Section, ...] = ()
                if start[:2] == pe.PE_MAGIC:
                    sections = pe.sections(source)
                else:
                    elf = Elf(source)
                    seen.is_elf = start == ELF_MAGIC
                    library.needed = [printable(name) for name in elf.needed]
                    seen.search = elf.search_path(path)
                    sections = elf.sections(SECTIONS)
                count_images(source, sections, images)
        except Unreadable as error:
            # A file that is gone is the business of RECORD; a linker script or a 32-bit helper is no fault of the install.
            if not os.path.isfile(path) or not owner.relevant:
                return
            library.error = str(error)
        library.images = _counted(images)
        self._seen.append(seen)

    def _link(self, seen: _Seen, torch: _Opened) -> None:
        if not seen.is_elf or not seen.library.needed or sys.platform != "linux":
            return
        if not (seen.owner.relevant or seen.library.images or self._linked_to_torch(seen)):
            return
        seen.library.missing_needed = [
            name for name in seen.library.needed if self._surely_missing(name, seen) and _breaks(name, seen)
        ]
        if self._outside_torch(seen) and self._linked_to_torch(seen):
            seen.library.undefined_torch_symbols = self._undefined(seen, torch)

    def _linked_to_torch(self, seen: _Seen) -> bool:
        return any(_TORCH_LIBRARY.match(name) for name in seen.library.needed)

    def _outside_torch(self, seen: _Seen) -> bool:
        return self.torch is not None and not os.path.realpath(seen.path).startswith(
            os.path.realpath(self.torch) + os.sep
        )

    def _surely_missing(self, name: str, seen: _Seen) -> bool:
        if _DRIVER.match(name) or "/" in name or name in self._names or "$" in "".join(seen.search):
            return False
        if self._for_all(name) or any(os.path.exists(os.path.join(folder, name)) for folder in seen.search):
            return False
        # Without the loader's cache there may be folders that nobody told us of (musl, NixOS, Guix).
        return bool(self._cache) and name not in self._cache

    def _for_all(self, name: str) -> bool:
        """Whether the loader finds it for every library."""
        if name not in self._found:
            self._found[name] = any(os.path.exists(os.path.join(folder, name)) for folder in self._loader_folders)
        return self._found[name]

    @cached_property
    def _names(self) -> frozenset[str]:
        """Every library that any distribution brings: packages also load theirs by hand, which no header tells."""
        owners = {id(seen.owner): seen.owner for seen in self._seen}.values()
        beside = {os.path.basename(path) for owner in owners for path in owner.paths}
        return frozenset(beside.union(*(_listed(folder) for folder in self._bundled)))

    @cached_property
    def _bundled(self) -> tuple[str, ...]:
        """torch/lib, and nvidia/*/lib of every folder on the path, which torch itself searches."""
        found = [os.path.join(self.torch, "lib")] if self.torch else []
        for folder in self.folders:
            nvidia = os.path.join(folder, "nvidia")
            found += [os.path.join(nvidia, name, "lib") for name in _listed(nvidia)]
        return tuple(found)

    @cached_property
    def _loader_folders(self) -> tuple[str, ...]:
        told = self.environment.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":")
        machine = os.uname().machine if hasattr(os, "uname") else ""
        triplets = tuple(f"{folder}/{machine}-linux-gnu" for folder in ("/lib", "/usr/lib"))
        own = tuple(os.path.join(prefix, "lib") for prefix in self.prefixes if prefix)
        return (*(folder for folder in told if folder), *own, *triplets, *_SYSTEM_FOLDERS)

    @cached_property
    def _cache(self) -> frozenset[str]:
        try:
            with open(CACHE, "rb", opener=without_waiting) as stream:
                return frozenset(name for name, _ in cached_libraries(stream.read(64 << 20), "every machine"))
        except OSError:
            return frozenset()

    def _undefined(self, seen: _Seen, torch: _Opened) -> list[str]:
        with _Opened() as opened:
            elf = opened.elf(seen.path)
            wanted = [name for name in elf.undefined() if _TORCH_SYMBOL.match(name)]
            for path in self._torch_libraries:
                wanted = [name for name in wanted if not torch.elf(path).defines(name)]
            for path in self._others(seen) if wanted else ():
                # What cannot be read might define them all, so an `Unreadable` goes up: then nothing is sure.
                wanted = [name for name in wanted if not opened.elf(path).defines(name)]
        return [printable(name) for name in sorted(wanted)[:MOST_SYMBOLS]]

    def _others(self, seen: _Seen) -> Iterator[str]:
        """What else the loader would load for this library, then its siblings of the package, in small numbers.

        Raises `Unreadable` where a library that may define anything is not there.
        """
        known = {one.path: one for one in self._seen}
        queue, done = [(name, seen) for name in seen.library.needed], {seen.path, *self._torch_libraries}
        while queue and len(done) < _MOST_IN_CLOSURE:
            name, user = queue.pop(0)
            path = self._locate(name, user)
            if path is None:
                if not _CUDA_OR_TORCH.match(name) and self._surely_missing(name, user):
                    raise Unreadable(f"needs {name}, which is not there")
            elif path not in done:
                done.add(path)
                yield path
                if path in known:
                    queue += [(needed, known[path]) for needed in known[path].library.needed]
        siblings = [one for one in seen.owner.paths if one in known and known[one].is_elf and one not in done]
        yield from siblings[:_MOST_IN_CLOSURE]

    @cached_property
    def _torch_libraries(self) -> tuple[str, ...]:
        folder = os.path.join(self.torch or "", "lib")
        names = [name for name in _listed(folder) if name.startswith(("libc10", "libtorch")) and ".so" in name]
        return tuple(os.path.join(folder, name) for name in sorted(names))

    def _locate(self, name: str, user: _Seen) -> str | None:
        folders = (*user.search, os.path.dirname(user.path), *self._bundled, *self._told)
        return next((path for folder in folders if os.path.isfile(path := os.path.join(folder, name))), None)

    @cached_property
    def _told(self) -> tuple[str, ...]:
        return tuple(folder for folder in self.environment.get("LD_LIBRARY_PATH", "").split(":") if folder)


class _RealPaths:
    """`os.path.realpath` for many files of few folders: it looks at every folder above each."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def __call__(self, path: str) -> str:
        folder, name = os.path.split(path)
        if os.path.islink(path):
            return os.path.realpath(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return os.path.join(self._folders[folder], name)


class _Opened(ExitStack):
    """ELF files that stay open until the end of a `with`."""

    def __init__(self) -> None:
        super().__init__()
        self._files: dict[str, Elf] = {}

    def elf(self, path: str) -> Elf:
        """The file, opened once; raises `Unreadable`."""
        if path not in self._files:
            self._files[path] = Elf(self.enter_context(Source(path)))
        return self._files[path]


def _breaks(name: str, seen: _Seen) -> bool:
    """Whether a missing library is a fault. Plugins for MPI, InfiniBand, UCX or one of five FFmpegs may well be without
    it: nvidia-nvshmem, nvidia-cufile and torchcodec bring such, and nobody loads them where it is missing.
    """
    if _CUDA_OR_TORCH.match(name) or seen.owner.name == "torch":
        return True
    return re.search(r"\.(?:cpython-|abi3)", os.path.basename(seen.path)) is not None


def torch_libraries(place: str) -> list[str]:
    """The libraries in the folder of torch that its RECORD would list, for a torch without one (editable, conda)."""
    found = [
        os.path.join(place, name) for name in _listed(place) if name.startswith("_C") and _LIBRARY_NAME.search(name)
    ]
    folder = os.path.join(place, "lib")
    return found + [os.path.join(folder, name) for name in _listed(folder) if _LIBRARY_NAME.search(name)]


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (OSError, ValueError):
        return []


def _counted(images: Counter[Image]) -> list[CodeImages]:
    # What the driver can run or compile; linker input of `-dlto` is neither.
    merged: Counter[tuple[str, str]] = Counter()
    for image, count in images.items():
        if image.kind in ("sass", "ptx"):
            merged[(image.kind, image.architecture)] += count
    return [CodeImages(kind, architecture, count) for (kind, architecture), count in sorted(merged.items(), key=_order)]


def _order(entry: tuple[tuple[str, str], int]) -> tuple[str, int, str]:
    (kind, architecture), _ = entry
    return kind, int(architecture.rstrip("af")), architecture
