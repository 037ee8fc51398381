"""Which files a run looks at: Python, and the scripts, container files and YAML beside it.

Inside a git work tree git itself lists them, so that ignore rules mean exactly what they mean to git; elsewhere folders
are walked and `.gitignore` files are read. Either way a file is listed once, under its real path.

Repositories inside a repository (submodules, clones) have a history and a root of their own. They are left out unless
they are named, and `Discovery.nested` says which they are.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from torchlift.finding import FileFailure
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.workspace.excludes import Excludes
from torchlift.migrate.workspace.listing import Listing
from torchlift.migrate.workspace.paths import common_folder, folder_of, is_within, real_paths


@dataclass(frozen=True)
class Discovery:
    """What the named paths stand for.

    Attributes:
        root: folder that all paths are relative to; the one asked for, or a folder above it where a path lies outside.
        files: Python files to analyse, sorted, with forward slashes. Names that are not valid Unicode hold surrogates, as
            `os.fsdecode` makes them.
        failures: what could not be listed, by path.
        excluded_explicit: named paths that an exclude pattern left out.
        nested: repositories inside the named folders that were left out because they are not part of this one.
        texts: scripts, container files and other text to analyse, in the same form.
        named: those of `files` and `texts` that were named one by one.
    """

    root: Path
    files: tuple[str, ...]
    failures: tuple[FileFailure, ...] = ()
    excluded_explicit: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


def discover(
    paths: Sequence[Path],
    root: Path,
    *,
    exclude: Sequence[str] | None = None,
    extend_exclude: Sequence[str] = (),
    force_exclude: bool = False,
    respect_gitignore: bool = True,
    base: Path | None = None,
) -> Discovery:
    """List the files that `paths` stand for.

    In folders these are `.py` and `.pyi` files, notebooks, and text files (see `view.text`), that neither git nor a pattern leaves
    out. Scripts without a suffix count if they may be executed; text too large to be written by hand does not. A named
    file is taken whatever its suffix and size and even if it is ignored, as Python if nothing speaks for another
    language; so is a named folder.

    Args:
        paths: files and folders.
        root: what the result is relative to; paths outside it move it up.
        exclude: patterns (see `globs`) in the place of `DEFAULT_EXCLUDES`.
        extend_exclude: further patterns.
        force_exclude: whether patterns also apply to the named paths themselves and to the folders above them, and named files
            of kinds that are not read are left out.
        respect_gitignore: whether ignored files are left out.
        base: folder that patterns with a slash are relative to, `root` or above it; anything else means `root`.
    """
    top = os.path.realpath(root)
    real = real_paths(paths)
    outside = [path for path in real if not is_within(path, top)]
    if outside:
        top = common_folder([top, *map(folder_of, outside)]) or top
    listing = Listing(top, Excludes(top, exclude, extend_exclude, base), respect_gitignore)
    for named, path in zip(paths, real, strict=True):
        listing.add(os.fspath(named), path, force_exclude=force_exclude)
    listing.list_folders()
    listing.add_included()
    return Discovery(
        Path(top),
        tuple(sorted(listing.files)),
        tuple(sorted(listing.failures, key=lambda failure: (failure.path, failure.reason))),
        tuple(sorted(listing.excluded)),
        tuple(sorted(listing.nested)),
        tuple(sorted(listing.texts - listing.files)),
        tuple(sorted(listing.named)),
    )
