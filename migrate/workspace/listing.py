"""How folders are listed: by git inside a work tree, else by walking them and reading `.gitignore` files."""

# Paths are strings here: a Path object for each of thousands of files costs more than all the rest.
# ruff: noqa: PTH100, PTH110, PTH114, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Collection, Sequence
from dataclasses import field
from pathlib import Path

from torchlift.file_bytes import file_bytes
from torchlift.finding import FileFailure
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.workspace.excludes import Excludes
from torchlift.migrate.workspace.git import MOST_CHARACTERS, GitFailed, git, work_tree_of
from torchlift.migrate.workspace.gitignore import IgnoreFiles
from torchlift.migrate.workspace.paths import is_within, prefix_of, relative_name
from torchlift.view.text import HEAD, is_shell_script, is_text_name, named_kind, text_kind

SUFFIXES = (".py", ".pyi", ".ipynb")

_SUFFIXES = tuple(suffix.encode() for suffix in SUFFIXES)
_ENVIRONMENT_MARKS = (b"/pyvenv.cfg", b"/conda-meta/history")
_SUBMODULE = b" 160000"
# Recordings and exports; what people write by hand is far smaller.
_MOST_TEXT = 1_000_000
_MOST_LOCKED = 8_000_000
_INCLUDABLE = (".txt", ".in")
_PYTHON_SHEBANG = lazy_pattern(rb"#![ \t]*\S*/(?:env[ \t]+(?:-\S+[ \t]+)*)?python")
_INCLUDED = lazy_pattern(r"^[ \t]*(?:-r|-c|--requirement|--constraint)[ \t=]*[\"']?([^\s\"'=]+)", re.MULTILINE)
_UNREADABLE = lazy_pattern(r"^warning: could not open directory '(.*)': (.*)$", re.MULTILINE)


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
class Listing:
    """Collects the result: absolute real paths come in, paths relative to `top` go out."""

    top: str
    excludes: Excludes
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
        if not is_within(real, self.top):
            self.fail(Path(named).absolute().as_posix(), "It is not on the drive of the other paths; name it alone.")
            return
        try:
            mode = os.stat(real).st_mode
        except OSError as error:
            self.fail(self.name_of(named), _why_not(error, is_link=os.path.islink(named)))
            return
        relative = relative_name(real, self.top)
        if force_exclude and self.excludes.below("", relative):
            self.excluded.add(relative)
        elif stat.S_ISDIR(mode):
            self.folders[real] = None
        elif stat.S_ISREG(mode):
            head = b"" if relative.endswith(SUFFIXES) else _head(real)
            if force_exclude and not _is_of_a_known_kind(relative, head):
                self.excluded.add(relative)
                return
            self.named.add(relative)
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
                text = file_bytes(Path(self.top, path)).decode("utf-8")
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
        return relative_name(absolute, self.top) if is_within(absolute, self.top) else Path(absolute).as_posix()

    def fail(self, path: str, reason: str) -> None:
        """Note that something could not be listed, and why."""
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
                self.take_listing(listing, relative_name(folder, self.top))
        # Whoever names an ignored folder wants what is in it.
        for folder in ignored:
            self.walk(folder, ignoring=False)

    def ask_git(self, tree: str, folders: Sequence[str]) -> _GitListing:
        """Ask git for the files in `folders` of one work tree.

        Raises:
            GitFailed: git is missing or cannot read the repository.
        """
        # The work tree may begin below the top, or the top may be a folder inside the work tree.
        prefix = prefix_of(relative_name(tree, self.top)) if is_within(tree, self.top) else ""
        skipped = prefix_of(relative_name(self.top, tree)) if is_within(self.top, tree) else ""
        names = [] if tree in folders else [relative_name(folder, tree) for folder in folders]
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
        inside = prefix_of(named)
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
                if not is_within(real, self.top):
                    return
                path = relative_name(real, self.top)
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
        elif found.st_size <= (_MOST_LOCKED if text_kind(path) == "lock" else _MOST_TEXT) and (
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
                self.fail(relative_name(current, self.top), _why_not(error))
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
                path = relative_name(entry.path, self.top)
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
            self.nested.add(relative_name(repository, self.top))


def _ignored_folders(tree: str, folders: Sequence[str]) -> list[str]:
    """Those of `folders` that git ignores, tracked files in them or not.

    Raises:
        GitFailed: git is missing or cannot read the repository.
    """
    # The leading `./` keeps a colon at the start of a name from being read as pathspec magic.
    names = {f"./{relative_name(folder, tree)}": folder for folder in folders if folder != tree}
    if not names:
        return []
    asked = b"".join(os.fsencode(name) + b"\0" for name in names)
    output, _ = git(["check-ignore", "--no-index", "-z", "--stdin"], tree, stdin=asked, accept=(0, 1))
    return [names[os.fsdecode(name)] for name in output.split(b"\0") if name]


def _may_be_text(path: bytes) -> bool:
    """Whether a name belongs to a text file, or has no suffix and needs a look inside."""
    last = path[path.rfind(b"/") + 1 :]
    return b"." not in last or last.endswith(tuple(map(os.fsencode, _INCLUDABLE))) or is_text_name(path)


def _is_of_a_known_kind(path: str, head: bytes) -> bool:
    """Whether a file that a program named, and not a person, is one that is read."""
    return path.endswith(SUFFIXES) or text_kind(path, head) is not None or _PYTHON_SHEBANG.match(head) is not None


def _head(path: str) -> bytes:
    """The first bytes of a file; none where it cannot be read, which is told where it is analysed."""
    try:
        with open(path, "rb") as file:
            return file.read(HEAD)
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
