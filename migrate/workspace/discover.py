"""Which files a run looks at: Python, and the scripts, container files and YAML beside it.

Inside a git work tree git itself lists them, so that ignore rules mean exactly what they mean to git; elsewhere folders
are walked and `.gitignore` files are read. Either way a file is listed once, under its real path.

Repositories inside a repository (submodules, clones) have a history and a root of their own. They are left out unless
they are named, and `Discovery.nested` says which they are.
"""

# Paths are strings here: a Path object for each of thousands of files costs more than all the rest.
# ruff: noqa: PTH100, PTH109, PTH110, PTH112, PTH114, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Collection, Sequence
from dataclasses import field
from pathlib import Path

from torchlift.finding import FileFailure
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.workspace.git import MOST_CHARACTERS, GitFailed, git, work_tree_of
from torchlift.migrate.workspace.gitignore import IgnoreFiles
from torchlift.migrate.workspace.globs import PathPatterns
from torchlift.view.text import is_shell_script, is_text_name, named_kind, text_kind

SUFFIXES = (".py", ".pyi")

# The names ruff leaves out, and what holds installed packages or caches besides. A plain `env` is not among them:
# reinforcement learning code keeps its environments there. Virtual environments are known by what they contain.
DEFAULT_EXCLUDES = (
    ".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".jj", ".mypy_cache", ".nox",
    ".pants.d", ".pixi", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode",
    "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv",
    "*.egg-info",
)  # fmt: skip

_SUFFIXES = tuple(suffix.encode() for suffix in SUFFIXES)
_ENVIRONMENT_MARKS = (b"/pyvenv.cfg", b"/conda-meta/history")
_SUBMODULE = b" 160000"
_HEAD = 128
# Recordings and exports; what people write by hand is far smaller.
_MOST_TEXT = 1_000_000
_INCLUDABLE = (".txt", ".in")
_INCLUDED = re.compile(r"^[ \t]*(?:-r|-c|--requirement|--constraint)[ \t=]*[\"']?([^\s\"'=]+)", re.MULTILINE)
_UNREADABLE = re.compile(r"^warning: could not open directory '(.*)': (.*)$", re.MULTILINE)
_PROJECT_MARKS = ("pyproject.toml", "setup.py", "setup.cfg")


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


def find_root(paths: Sequence[Path]) -> Path:
    """The project that `paths` (default: the current folder) belong to, as an absolute path without symbolic links.

    That is the git work tree around the first path, else the nearest folder above it with a `pyproject.toml`,
    `setup.py` or `setup.cfg`, else the path itself or, for a file, its folder. Where another path lies outside, it is
    found in the same way from the folder that all paths have in common.
    """
    folders = [_folder_of(path) for path in _real(paths)] or [os.path.realpath(".")]
    root = _project_around(folders[0])
    if all(_is_within(folder, root) for folder in folders):
        return Path(root)
    common = _common(folders)
    return Path(root if common is None else _project_around(common))


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

    In folders these are `.py` and `.pyi` files, and text files (see `view.text`), that neither git nor a pattern leaves
    out. Scripts without a suffix count if they may be executed; text too large to be written by hand does not. A named
    file is taken whatever its suffix and size and even if it is ignored, as Python if nothing speaks for another
    language; so is a named folder.

    Args:
        paths: files and folders.
        root: what the result is relative to; paths outside it move it up.
        exclude: patterns (see `globs`) in the place of `DEFAULT_EXCLUDES`.
        extend_exclude: further patterns.
        force_exclude: whether patterns also apply to the named paths themselves and to the folders above them.
        respect_gitignore: whether ignored files are left out.
        base: folder that patterns with a slash are relative to, `root` or above it; anything else means `root`.
    """
    top = os.path.realpath(root)
    real = _real(paths)
    outside = [path for path in real if not _is_within(path, top)]
    if outside:
        top = _common([top, *map(_folder_of, outside)]) or top
    listing = _Listing(top, _Excludes(top, exclude, extend_exclude, base), respect_gitignore)
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


class _Excludes:
    """Exclude patterns over paths relative to `top`; answers for folders are remembered."""

    def __init__(self, top: str, exclude: Sequence[str] | None, extend: Sequence[str], base: Path | None) -> None:
        self._patterns = PathPatterns([*(DEFAULT_EXCLUDES if exclude is None else exclude), *extend])
        start = os.path.realpath(base) if base is not None else top
        self._prefix = _relative(top, start) + "/" if start != top and _is_within(top, start) else ""
        self._folders: dict[tuple[str, str], bool] = {}

    def matches(self, path: str) -> bool:
        return self._patterns.matches(self._prefix + path)

    def below(self, named: str, path: str) -> bool:
        """Whether a pattern leaves out `path` or a folder between it and the folder `named`."""
        return path != named and (self.matches(path) or self._folder_below(named, path.rpartition("/")[0]))

    def _folder_below(self, named: str, folder: str) -> bool:
        if folder in {named, ""}:
            return False
        key = (named, folder)
        known = self._folders.get(key)
        if known is None:
            known = self._folders[key] = self.below(named, folder)
        return known


@dataclass(frozen=True)
class _GitListing:
    """What git knows below one work tree; paths are relative to the top of the listing.

    Attributes:
        sources: source files, tracked or not, deleted ones among them.
        texts: what may be a script or another text file, the same way.
        repositories: nested repositories and submodules.
        environments: folders that hold a virtual or conda environment nobody ignored.
    """

    sources: list[str]
    texts: list[str]
    repositories: list[str]
    environments: list[str]


@dataclass
class _Listing:
    """Collects the result: absolute real paths come in, paths relative to `top` go out."""

    top: str
    excludes: _Excludes
    respect_gitignore: bool
    files: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    includable: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    failures: list[FileFailure] = field(default_factory=list)
    excluded: set[str] = field(default_factory=set)
    nested: set[str] = field(default_factory=set)
    folders: dict[str, None] = field(default_factory=dict)

    def add(self, named: str, real: str, *, force_exclude: bool) -> None:
        """Take one named path; folders are listed later, together."""
        if not _is_within(real, self.top):
            self.fail(Path(named).absolute().as_posix(), "It is not on the drive of the other paths; name it alone.")
            return
        try:
            mode = os.stat(real).st_mode
        except OSError as error:
            self.fail(self.name_of(named), _why_not(error, is_link=os.path.islink(named)))
            return
        relative = _relative(real, self.top)
        if force_exclude and self.excludes.below("", relative):
            self.excluded.add(relative)
        elif stat.S_ISDIR(mode):
            self.folders[real] = None
        elif stat.S_ISREG(mode):
            self.named.add(relative)
            head = b"" if relative.endswith(SUFFIXES) else _head(real)
            (self.files if named_kind(relative, head) is None else self.texts).add(relative)
        else:
            self.fail(self.name_of(named), "It is neither a file nor a folder, so there is nothing to analyse.")

    def add_included(self) -> None:
        """Add what files of requirements include by `-r` and `-c`, whatever it is called."""
        # Whoever names one file means that file.
        pending = [path for path in sorted(self.texts - self.named) if text_kind(path) == "requirements"]
        while pending:
            path = pending.pop()
            try:
                text = Path(self.top, path).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                continue  # it is reported where it is analysed
            for value in _INCLUDED.findall(text):
                target = os.path.normpath(os.path.join(os.path.dirname(path), value)).replace(os.sep, "/")
                # What is ignored, excluded, or outside of the folders that were named is not among those.
                if target in self.includable:
                    self.includable.remove(target)
                    found = Path(self.top, target).lstat()
                    if stat.S_ISREG(found.st_mode) and found.st_size <= _MOST_TEXT:
                        self.texts.add(target)
                        pending.append(target)

    def name_of(self, named: str) -> str:
        """A path as reports show it: relative to the top if it is inside."""
        absolute = os.path.abspath(named)
        return _relative(absolute, self.top) if _is_within(absolute, self.top) else Path(absolute).as_posix()

    def fail(self, path: str, reason: str) -> None:
        self.failures.append(FileFailure(path or ".", "discover", reason))

    def list_folders(self) -> None:
        """List every named folder, with one look at each repository."""
        by_tree: dict[str, list[str]] = {}
        for folder in self.folders:
            tree = work_tree_of(folder) if self.respect_gitignore else None
            if tree is None:
                self.walk(folder)
            else:
                by_tree.setdefault(tree, []).append(folder)
        for tree, folders in by_tree.items():
            self.list_repository(tree, folders)

    def list_repository(self, tree: str, folders: Sequence[str]) -> None:
        """List `folders` of one work tree."""
        try:
            ignored = _ignored_folders(tree, folders)
            wanted = [folder for folder in folders if folder not in ignored]
            listing = self.ask_git(tree, wanted) if wanted else None
        except GitFailed:
            for folder in folders:
                self.walk(folder)
            return
        if listing is not None:
            for folder in wanted:
                self.take_listing(listing, _relative(folder, self.top))
        # Whoever names an ignored folder wants what is in it.
        for folder in ignored:
            self.walk(folder, ignoring=False)

    def ask_git(self, tree: str, folders: Sequence[str]) -> _GitListing:
        """Ask git for the files in `folders` of one work tree.

        Raises:
            GitFailed: git is missing or cannot read the repository.
        """
        # The work tree may begin below the top, or the top may be a folder inside the work tree.
        prefix = _prefix(_relative(tree, self.top)) if _is_within(tree, self.top) else ""
        skipped = _prefix(_relative(self.top, tree)) if _is_within(self.top, tree) else ""
        names = [] if tree in folders else [_relative(folder, tree) for folder in folders]
        limits = names if sum(map(len, names)) <= MOST_CHARACTERS else []
        command = ["--literal-pathspecs", "ls-files", "-t", "-s", "-c", "-o", "-z", "--exclude-standard", "--", *limits]
        output, complaints = git(command, tree)
        for folder, why in _UNREADABLE.findall(complaints):
            path = prefix + folder.removeprefix(skipped).rstrip("/")
            self.fail(path, f"It cannot be listed ({why}); allow reading it or exclude it.")
        listing = _GitListing([], [], [], [])
        outer = os.fsencode(skipped)
        for entry in output.split(b"\0"):
            # `? path`, or a tag, mode, object and stage, a tab and the path.
            tracked = not entry.startswith(b"? ")
            name = entry.partition(b"\t")[2] if tracked else entry[2:]
            if not name.startswith(outer):
                continue
            if name.endswith(b"/") or (tracked and entry[1:8] == _SUBMODULE):
                target = listing.repositories
            elif name.endswith(_SUFFIXES):
                target = listing.sources
            elif name.endswith(_ENVIRONMENT_MARKS):
                target = listing.environments
                name = name[: -len(next(mark for mark in _ENVIRONMENT_MARKS if name.endswith(mark)))]
            elif _may_be_text(name):
                target = listing.texts
            else:
                continue
            target.append(prefix + os.fsdecode(name[len(outer) :].rstrip(b"/")))
        return listing

    def take_listing(self, listing: _GitListing, named: str) -> None:
        """Take what lies in the folder `named`."""
        inside = _prefix(named)
        environments = tuple(f"{path}/" for path in listing.environments if path != named)
        for path in listing.repositories:
            if path.startswith(inside) and not self.excludes.below(named, path):
                self.leave_out(os.path.join(self.top, path))
        for path in listing.sources:
            if path.startswith(inside) and not path.startswith(environments) and not self.excludes.below(named, path):
                self.take(path)
        for path in listing.texts:
            if path.startswith(inside) and not path.startswith(environments) and not self.excludes.below(named, path):
                self.take(path, text=True)

    def take(self, path: str, *, text: bool = False) -> None:
        """Take a file found in a folder, unless it is deleted, a pipe, or another name of a file elsewhere.

        One that may be `text` is taken if its first line or its name says so, and if it is not too large.
        """
        absolute = os.path.join(self.top, path)
        if text and path.endswith(_INCLUDABLE) and not is_text_name(os.fsencode(path)):
            self.includable.add(path)  # data, unless a file of requirements includes it
            return
        try:
            found = os.lstat(absolute)
            if stat.S_ISLNK(found.st_mode):
                real = os.path.realpath(absolute)
                found = os.stat(real)
                # A link out of the project leads to somebody else's file, and nobody named it.
                if not _is_within(real, self.top):
                    return
                path = _relative(real, self.top)
                if self.excludes.below("", path):
                    return
        except OSError as error:
            # Deleted files that git still tracks, and links to nowhere: editors use them as locks.
            if error.errno not in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}:
                self.fail(path, _why_not(error))
            return
        if not stat.S_ISREG(found.st_mode):
            return
        if not text:
            self.files.add(path)
        elif found.st_size <= _MOST_TEXT and (
            is_text_name(os.fsencode(path)) or (found.st_mode & stat.S_IXUSR and is_shell_script(_head(absolute)))
        ):
            self.texts.add(path)

    def walk(self, folder: str, *, ignoring: bool = True) -> None:
        """List `folder` without git.

        Args:
            folder: where to start.
            ignoring: whether ignore files count.
        """
        tree = work_tree_of(folder)
        ignores = IgnoreFiles(tree or self.top) if ignoring and self.respect_gitignore else None
        if ignores is not None and ignores.read_down_to(folder):
            ignores = None
        pending = [folder]
        while pending:
            current = pending.pop()
            try:
                with os.scandir(current) as scanned:
                    entries = {entry.name: entry for entry in scanned}
            except OSError as error:
                self.fail(_relative(current, self.top), _why_not(error))
                continue
            if current != folder:
                if _is_environment(current, entries):
                    continue
                if ".git" in entries and work_tree_of(current) == current:
                    if tree is not None:
                        self.leave_out(current)
                        continue
                    if ignores is not None:
                        self.list_repository(current, [current])
                        continue
            if ignores is not None:
                ignores.read(current)
            base = f"{os.path.basename(current)}/"  # noqa: PTH119
            for entry in entries.values():
                is_folder = entry.is_dir(follow_symlinks=False)
                python = entry.name.endswith(SUFFIXES)
                if entry.name == ".git" or not (is_folder or python or _may_be_text(os.fsencode(base + entry.name))):
                    continue
                path = _relative(entry.path, self.top)
                if self.excludes.matches(path) or (
                    ignores is not None and ignores.ignored(entry.path, is_folder=is_folder)
                ):
                    continue
                if is_folder:
                    pending.append(entry.path)
                else:
                    self.take(path, text=not python)

    def leave_out(self, repository: str) -> None:
        """Note a nested repository; one that was never checked out has nothing to note."""
        if repository not in self.folders and os.path.lexists(os.path.join(repository, ".git")):
            self.nested.add(_relative(repository, self.top))


def _ignored_folders(tree: str, folders: Sequence[str]) -> list[str]:
    """Those of `folders` that git ignores, tracked files in them or not.

    Raises:
        GitFailed: git is missing or cannot read the repository.
    """
    # The leading `./` keeps a colon at the start of a name from being read as pathspec magic.
    names = {f"./{_relative(folder, tree)}": folder for folder in folders if folder != tree}
    if not names:
        return []
    asked = b"".join(os.fsencode(name) + b"\0" for name in names)
    output, _ = git(["check-ignore", "--no-index", "-z", "--stdin"], tree, stdin=asked, accept=(0, 1))
    return [names[os.fsdecode(name)] for name in output.split(b"\0") if name]


def _may_be_text(path: bytes) -> bool:
    """Whether a name belongs to a text file, or has no suffix and needs a look inside."""
    last = path[path.rfind(b"/") + 1 :]
    return b"." not in last or last.endswith(tuple(map(os.fsencode, _INCLUDABLE))) or is_text_name(path)


def _head(path: str) -> bytes:
    """The first bytes of a file; none where it cannot be read, which is told where it is analysed."""
    try:
        with open(path, "rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""


def _is_environment(folder: str, names: Collection[str]) -> bool:
    """Whether `folder` is a virtual or conda environment."""
    return "pyvenv.cfg" in names or (
        "conda-meta" in names and os.path.exists(os.path.join(folder, "conda-meta", "history"))
    )


def _why_not(error: OSError, *, is_link: bool = False) -> str:
    if error.errno == errno.ELOOP:
        return "It is a symbolic link that leads back to itself."
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return "It is a symbolic link to a file that does not exist." if is_link else "There is no such file or folder."
    return f"It cannot be read ({error.strerror or error}); allow reading it or exclude it."


def _project_around(folder: str) -> str:
    tree = work_tree_of(folder)
    if tree is not None:
        return tree
    path = Path(folder)
    marked = (above for above in (path, *path.parents) if any((above / mark).is_file() for mark in _PROJECT_MARKS))
    return os.fspath(next(marked, path))


def _folder_of(path: str) -> str:
    """The folder that a path stands for: itself, or the nearest one above it that exists."""
    while not os.path.isdir(path):
        above = os.path.dirname(path)
        if above == path:
            break
        path = above
    return path


def _real(paths: Sequence[Path]) -> list[str]:
    """Absolute paths without symbolic links; folders that many paths share are resolved once."""
    folders: dict[str, str] = {}
    result = []
    for path in paths:
        absolute = os.path.join(os.getcwd(), path)
        folder, name = os.path.split(absolute)
        if name in {"", ".", ".."} or os.path.islink(absolute):
            result.append(os.path.realpath(absolute))
            continue
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        result.append(os.path.join(folders[folder], name))
    return result


def _common(folders: Sequence[str]) -> str | None:
    try:
        return os.path.commonpath(folders)
    except ValueError:  # Windows: nothing is above two drives
        return None


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _relative(path: str, folder: str) -> str:
    """`path` below `folder` with forward slashes; empty for the folder itself."""
    return path[len(folder) :].lstrip(os.sep).replace(os.sep, "/")


def _prefix(folder: str) -> str:
    return f"{folder}/" if folder else ""
