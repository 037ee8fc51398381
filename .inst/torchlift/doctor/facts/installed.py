"""What is installed: Python, torch, packages and the libraries that they bring, toolkits, and how more is installed."""

from __future__ import annotations

from dataclasses import field

from torchlift.lazy_dataclass import dataclass


@dataclass
class Python:
    """The interpreter that was examined."""

    executable: str = ""
    version: str = ""
    """"3.11.7"."""
    implementation: str = "cpython"
    free_threaded: bool | None = None
    machine: str | None = None
    bits: int | None = None
    prefix: str | None = None
    virtual_environment: bool | None = None
    conda_environment: str | None = None
    path: list[str] = field(default_factory=list)
    """`sys.path`."""
    user_site: str | None = None
    """The per-user folder when it is on the path, else ""."""
    externally_managed: bool | None = None
    made_by_uv: bool | None = None
    """Its virtual environment was made by uv, which puts no pip into it."""


@dataclass
class ChangedFile:
    """An installed file that is not what its package recorded; `state` is "missing" or "changed"."""

    path: str
    state: str


@dataclass
class Package:
    """An installed distribution that matters here."""

    name: str
    """Normalised (PEP 503)."""
    version: str
    metadata_path: str
    requires: list[str] = field(default_factory=list)
    """Its `Requires-Dist` lines."""
    tags: list[str] = field(default_factory=list)
    """The wheel's tags."""
    build_tag: str | None = None
    installer: str | None = None
    """"pip", "uv", "conda", ..."""
    editable: bool | None = None
    source_url: str | None = None
    """Of direct_url.json, without credentials."""
    changed_files: list[ChangedFile] = field(default_factory=list)


@dataclass
class SharedFile:
    """A file that more than one installed distribution claims."""

    path: str
    owners: list[str]
    matches: list[str]
    """The owners whose recorded hash is the one on disk."""


@dataclass
class CodeImages:
    """How many device code images of one kind and architecture a library embeds."""

    kind: str
    """"sass" or "ptx"."""
    architecture: str
    """"90", "90a", "100f"."""
    count: int


@dataclass
class Library:
    """A native library of an installed distribution with device code or a link to torch."""

    path: str
    package: str | None
    size: int
    images: list[CodeImages] = field(default_factory=list)
    needed: list[str] = field(default_factory=list)
    """DT_NEEDED."""
    missing_needed: list[str] = field(default_factory=list)
    """Needed libraries that no rpath, sibling package or loader folder holds."""
    undefined_torch_symbols: list[str] = field(default_factory=list)
    """Undefined symbols of torch's or c10's namespaces that the installed torch does not define (at most 20)."""
    error: str | None = None
    """Why it could not be read (truncated, not ELF, ...)."""


@dataclass
class Torch:
    """The torch that `import torch` would take, read from its files."""

    path: str
    version: str
    """Of torch/version.py, such as "2.15.0+cu132"."""
    metadata_version: str | None = None
    cuda: str | None = None
    """The CUDA it was built for ("13.2"), None for a build without."""
    hip: str | None = None
    xpu: str | None = None
    debug: bool | None = None
    git_version: str | None = None
    other_copies: list[str] = field(default_factory=list)
    """Further folders on sys.path that hold a torch."""
    import_outcome: str = "not-run"
    """"ok", "error", "crashed", "timeout", "not-run" (importing costs seconds and is asked for)."""
    import_error: str | None = None
    import_seconds: float | None = None
    cuda_available: bool | None = None
    foreign_libraries: list[str] = field(default_factory=list)
    """CUDA libraries that the import mapped from outside the environment."""


@dataclass
class Toolkit:
    """A CUDA toolkit on the disk."""

    path: str
    version: str | None
    on_path: bool = False
    """Its nvcc is the first on PATH."""


@dataclass
class IndexSetting:
    """Where a tool is told to take packages from, instead of or beside PyPI."""

    tool: str
    """"pip" or "uv"."""
    role: str
    """"index" (instead of PyPI), "extra", "links" (a page or a folder of files) or "none" (no index at all)."""
    address: str
    """Without users and passwords; "" for the role "none"."""
    source: str
    """The variable, or the file and the setting in it."""


@dataclass
class Installing:
    """How people install packages here: what the folder in which the doctor was run shows, and which indexes are set."""

    folder: str | None = None
    """The nearest folder, from that one upwards, with a file of one of `tools`."""
    tools: list[str] = field(default_factory=list)
    """"uv", "poetry", "pixi", "conda" and "docker", by their files."""
    indexes: list[IndexSetting] = field(default_factory=list)
    chosen: str | None = None
    """The way that the user named: "pip", "uv", "uv-project", "poetry", "pixi", "conda" or "dockerfile"."""
