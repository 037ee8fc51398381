"""Releases of torch that a project is run with where no requirement names one: lock files, container files and CI.

None of these says what the project supports, but whatever it is installed with, tested with or shipped with has to work.
A container file that no job builds may be years out of date, and a lock file tells what was newest when it was made.

Sources: the lock files of uv, Poetry, PDM, Pipenv, conda-lock and pixi, and PEP 751; tags of pytorch/pytorch on Docker Hub;
"Running variations of jobs in a workflow" in GitHub's documentation; "Configuration" in tox's, "Parametrizing sessions" in
nox's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from torchlift.dependencies.commands import read_commands
from torchlift.dependencies.images import ImageLine, read_images
from torchlift.dependencies.ini_file import read_ini
from torchlift.dependencies.lowest import lowest_release
from torchlift.dependencies.metadata import real_path
from torchlift.dependencies.requirements_file import read_requirements
from torchlift.file_bytes import file_bytes
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import SourceText
from torchlift.versions import LATEST, TorchVersion
from torchlift.view.text import TextKind, TextView
from torchlift.wheels.tables import table

_CONTAINERS = ("Dockerfile*", "Containerfile*", "*.[Dd]ockerfile")
_CONTAINER_FOLDERS = ("docker", ".docker", "dockerfiles", "containers", ".devcontainer", "ci", ".ci")
_FILES: tuple[tuple[TextKind | None, tuple[str, ...]], ...] = (
    (
        None,
        ("uv.lock", "poetry.lock", "pdm.lock", "pylock*.toml", "Pipfile.lock", "conda-lock.yml", "pixi.lock"),
    ),
    (
        "dockerfile",
        (*_CONTAINERS, *(f"{folder}/**/{name}" for folder in _CONTAINER_FOLDERS for name in _CONTAINERS)),
    ),
    (
        "yaml",
        (
            *(".github/workflows/*.y*ml", ".gitlab-ci.yml", ".gitlab/**/*.yml", ".circleci/*.yml", ".travis.yml"),
            *("azure-pipelines*.yml", ".azure*/**/*.yml", ".buildkite/*.y*ml", ".cirrus.yml", "*compose*.y*ml"),
        ),
    ),
    ("ini", ("tox.ini",)),
    # Lists that images and scripts of the project install from, which no metadata names.
    ("requirements", tuple(f"{'*/' * depth}req*.txt" for depth in range(4))),
    (None, ("noxfile.py",)),
)
# Folders whose lists are for something beside the project.
_BESIDE = frozenset(
    {"docs", "doc", "examples", "example", "benchmarks", "tutorials", "notebooks", "third_party", "site-packages"}
)
_PAGE = lazy_pattern(r"(?:README|INSTALL)", re.IGNORECASE)
_BUILDS = lazy_pattern(
    rb"\b(?:docker|podman|buildah)[ -](?:compose )?build|build-push-action|buildx|kaniko|devcontainers/ci"
)
_KEY = r"(?:py)?torch(?:[-_ ]?ver(?:sion)?s?)?"
_LISTS: dict[TextKind | None, tuple[str, ...]] = {
    # A scalar, a list on the same lines, a list of items below.
    "yaml": (
        rf"(?:^|[\s{{,-])[\"']?{_KEY}[\"']?[ \t]*:(\s*\[[^\]]*\]|(?:[ \t]*\n[ \t]*-[ \t][^\n:]*)+|[^\n\[\],}}]*)",
        r"(pytorch/pytorch:\d[\w.]*)",
    ),
    "dockerfile": (rf"^[ \t]*(?:ARG|ENV)[ \t]+{_KEY}[ \t=]+(\S+)", r"(pytorch/pytorch:\d[\w.]*)"),
    None: (
        # nox
        rf"parametrize\(\s*[\"']{_KEY}[\"'],\s*(\[[^\]]*\])",
        r"[\"'](torch==[^\"']*)[\"']",
    ),
}
_RELEASE = lazy_pattern(r"(?<![\w.<!+-])(?<!<=|!=)([12]\.\d+(?:\.\d+)?)(?:\.\*|\+\w+)?(?![\w.])")


Kind = Literal["lock", "image", "list", "job"]


@dataclass(frozen=True)
class RunWith:
    """A release that something is run with.

    Attributes:
        release: the release.
        place: where that stands, such as `tox.ini:12`, relative to the project root.
        kind: `lock` for what was resolved once, `image` for a container file that no job is seen to build, `list` for
            requirements in a file that no metadata names, `job` for what is run again and again.
    """

    release: TorchVersion
    place: str
    kind: Kind = "job"


def releases_run_with(root: Path, folder: Path) -> list[RunWith]:
    """The releases that the files of one folder name, in the order of the files. Never raises for what a file holds.

    Args:
        root: the project, a path without symbolic links.
        folder: the folder, `root` or below it.
    """
    found: dict[RunWith, None] = {}
    built = False
    for name, kind, data in _files(root, folder):
        built |= kind == "yaml" and _BUILDS.search(data) is not None
        if b"torch" not in data.lower():
            continue
        source = _decoded(data)
        for release, offset in _releases(name, kind, source):
            # Nothing can be run with what is not out yet.
            if release <= LATEST:
                how = _kind(name, kind)
                found[RunWith(release, f"{name}:{source.location(offset)[0]}", how)] = None
    return [replace(one, kind="job") if built and one.kind == "image" else one for one in found]


def releases_on_pages(root: Path, folder: Path) -> list[RunWith]:
    """The releases that commands on the pages of one folder install: what it says may be years old, and nothing is newer."""
    found = []
    for path in sorted(path for path in folder.glob("*.md") if is_page(path.name)):
        if root not in real_path(path).parents or not os.path.isfile(path):  # noqa: PTH113
            continue
        name = path.relative_to(root).as_posix()
        try:
            source = _decoded(file_bytes(path))
        except OSError:
            continue
        if "torch" in source.text:
            found += [
                RunWith(release, f"{name}:{source.location(pin.span.start)[0]}", "list")
                for item in read_commands(TextView(name, "markdown", source))
                for pin in item.pins
                if pin.is_torch and (release := lowest_release(pin)) is not None
            ]
    return found


def is_page(name: str) -> bool:
    """Whether a file of this name says how to install what lies beside it."""
    return name[:1].isupper() and name.endswith(".md") and _PAGE.match(name) is not None


def is_container_file(name: str) -> bool:
    """Whether a file of this name says how an image is made."""
    return any(fnmatchcase(name, pattern) for pattern in _CONTAINERS)


def image_of_unknown_torch(root: Path, folder: Path) -> str | None:
    """The first place in a folder's container files where an image stands that brings a torch no table tells the release of.

    These are images of NGC and of nights of PyTorch, as far as they are older than the tables.
    """
    for name, kind, data in _files(root, folder):
        if kind != "dockerfile" or b"pytorch:" not in data:
            continue
        source = _decoded(data)
        for image in read_images(TextView(name, kind, source)):
            if image.kind in {"ngc", "torch"} and image.torch is None and _of_ngc(image) is None:
                return f"{name}:{source.location(image.span.start)[0]}"
    return None


def _files(root: Path, folder: Path) -> Iterator[tuple[str, TextKind | None, bytes]]:
    """The files of a folder that can say what something is run with: path below the root, kind, bytes."""
    for kind, patterns in _FILES:
        for path in sorted({path for pattern in patterns for path in folder.glob(pattern)}):
            # A link may lead out of the project, and a pipe is never read to its end.
            if root not in real_path(path).parents or not os.path.isfile(path):  # noqa: PTH113
                continue
            if kind == "requirements" and not _BESIDE.isdisjoint(path.relative_to(folder).parts):
                continue
            try:
                data = file_bytes(path)
            except OSError:
                continue
            yield path.relative_to(root).as_posix(), kind, data


def _decoded(data: bytes) -> SourceText:
    return SourceText(data.decode("utf-8-sig", "replace").replace("\r\n", "\n"))


def _kind(name: str, kind: TextKind | None) -> Kind:
    if kind == "requirements":
        return "list"
    if kind is None and not name.endswith("noxfile.py"):
        return "lock"
    return "image" if kind == "dockerfile" or "compose" in name.rpartition("/")[2] else "job"


def _releases(name: str, kind: TextKind | None, source: SourceText) -> Iterator[tuple[TorchVersion, int]]:
    text = source.text
    if kind is not None:
        view = TextView(name, kind, source)
        of_lists = {"ini": read_ini, "requirements": read_requirements}.get(kind)
        sets = [of_lists(view)] if of_lists is not None else read_commands(view)
        for pin in (pin for item in sets for pin in item.pins if pin.is_torch):
            release = lowest_release(pin)
            if release is not None:
                yield release, pin.span.start
        for image in read_images(view):
            of_image = _of_ngc(image)
            if of_image is not None:
                yield of_image, image.span.start
        text = view.code
    elif not name.endswith(".py"):
        from torchlift.dependencies.lock_file import locked_torch

        for held, span in locked_torch(text):
            yield TorchVersion.parse(held), span.start
    for pattern in _LISTS.get(kind, ()):
        for match in re.finditer(pattern, text, re.MULTILINE | re.IGNORECASE):
            for number in _RELEASE.finditer(match[1]):
                yield TorchVersion.parse(number[1]), match.start(1) + number.start(1)


def _of_ngc(image: ImageLine) -> TorchVersion | None:
    """The last release whose names an image of NGC has for sure: builds of before a release may lack some of its own."""
    row = next((row for row in table("ngc")["rows"] if row["tag"] == image.release), None)
    if row is None:
        return None
    release = TorchVersion.parse(row["torch"])
    return TorchVersion(release.major, release.minor - 1) if "a0" in row["version"] and release.minor else release
