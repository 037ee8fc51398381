"""A copy of the user's tree, outside of it, in which a command runs on changed files again and again.

Inside a git repository it is a detached work tree of it, so that what asks git gets an answer. Nothing is checked out: the
files are those that lie in the user's tree, and neither a hook nor a filter of the repository runs.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from torchlift.migrate.verification.failed import VerificationFailed
from torchlift.migrate.verification.tree_files import files_of
from torchlift.migrate.workspace.git import GitFailed, git, work_tree_of

_MARK = "owner.json"
_FIRST_TIME = 1_000_000_000

_State = tuple[int, int]
"""Size in bytes and time of change in nanoseconds."""


class TreeCopy:
    """The copy. Leave it as a context manager, or call `remove`.

    Args:
        root: the project; the copy is one of the work tree around it, of itself where there is none.

    Raises:
        VerificationFailed: it cannot be made.
    """

    def __init__(self, root: Path) -> None:
        tree = work_tree_of(os.path.realpath(root))
        self.tree = tree or os.path.realpath(root)
        self._home = tempfile.mkdtemp(prefix="run-", dir=homes())
        self.folder = os.path.join(self._home, os.path.basename(self.tree) or "tree")
        self._spools = 0
        self._version = 0
        _mark(self._home, self.tree)
        try:
            if tree is not None:
                _add_work_tree(self.tree, self.folder)
            os.makedirs(self.folder, exist_ok=True)
            self._fill(is_git=tree is not None)
        except BaseException as error:
            self.remove()
            if isinstance(error, OSError):
                raise VerificationFailed(
                    f"The project cannot be copied to {self._home} ({error.strerror or error}); TMPDIR names another place."
                ) from None
            raise

    def __enter__(self) -> TreeCopy:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def spool(self) -> str:
        """A new empty folder beside the copy."""
        self._spools += 1
        path = os.path.join(self._home, f"spool-{self._spools}")
        os.mkdir(path)
        return path

    def prepare(self, texts: Mapping[str, bytes | None]) -> None:
        """Bring the copy to the user's files as they were, with some others in their place.

        Args:
            texts: contents by relative path; None where there is to be no file.

        Raises:
            VerificationFailed: the user's files changed meanwhile.
        """
        self._clean()
        for path, state in self._originals.items():
            if path not in texts and self._copied[path] != _state(os.path.join(self.folder, path)):
                self._restore(path, state)
        for path, data in texts.items():
            self._put(os.path.normpath(path), data)

    def changed_meanwhile(self) -> list[str]:
        """Python files of the user's tree that are not what was copied."""
        return [
            path
            for path, state in self._originals.items()
            if path.endswith((".py", ".pyi")) and _state(os.path.join(self.tree, path)) != state
        ]

    def has(self, path: str) -> bool:
        """Whether a file was copied."""
        return path in self._originals

    def remove(self) -> None:
        """Take it away, and what git knows of it."""
        _remove(self.tree, self._home, self.folder)

    def _fill(self, *, is_git: bool) -> None:
        known = files_of(self.tree, is_git=is_git)
        self._environments = frozenset(known.environments)
        self._originals: dict[str, _State | None] = {}
        self._copied: dict[str, _State | None] = {}
        for path in known.files:
            self._originals[path] = _state(os.path.join(self.tree, path))
            self._restore(path, self._originals[path])
        for path in known.environments:
            target = os.path.join(self.folder, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.symlink(os.path.join(self.tree, path), target)

    def _restore(self, path: str, expected: _State | None) -> None:
        source, target = os.path.join(self.tree, path), os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with suppress(FileNotFoundError):
            os.unlink(target)
        if os.path.islink(source):
            leads_to = os.readlink(source)
            inside = leads_to == self.tree or leads_to.startswith(self.tree + os.sep)
            os.symlink(self.folder + leads_to[len(self.tree) :] if inside else leads_to, target)
        else:
            try:
                shutil.copy2(source, target, follow_symlinks=False)
            except FileNotFoundError:
                raise VerificationFailed(_CHANGED.format(path)) from None
        if _state(source) != expected:
            raise VerificationFailed(_CHANGED.format(path))
        _forget_compiled(target)
        self._copied[path] = _state(target)

    def _put(self, path: str, data: bytes | None) -> None:
        target = os.path.join(self.folder, path)
        if data is None:
            with suppress(FileNotFoundError):
                os.unlink(target)
            return
        mode = None
        with suppress(OSError):
            mode = stat.S_IMODE(os.stat(target).st_mode)
            os.unlink(target)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        Path(target).write_bytes(data)
        if mode is not None:
            os.chmod(target, mode)
        # Python takes compiled code for that of a file by its size and its time in seconds.
        self._version += 1
        os.utime(target, (_FIRST_TIME + self._version, _FIRST_TIME + self._version))
        _forget_compiled(target)

    def _clean(self) -> None:
        """Take away what runs have left behind; compiled files stay."""
        for folder, folders, files in os.walk(self.folder, topdown=True):
            relative = os.path.relpath(folder, self.folder)
            prefix = "" if relative == "." else relative + os.sep
            entered = []
            for name in folders:
                path = prefix + name
                if path in self._environments or path == ".git" or name == "__pycache__":
                    continue
                if os.path.islink(os.path.join(folder, name)):
                    if path not in self._originals:
                        os.unlink(os.path.join(folder, name))
                elif name == ".pytest_cache":
                    shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
                else:
                    entered.append(name)
            folders[:] = entered
            for name in files:
                path = prefix + name
                if path not in self._originals and path != ".git":
                    with suppress(OSError):
                        os.unlink(os.path.join(folder, name))


_CHANGED = "{} changed while the fixes were being tried; nothing was written. Run torchlift again."


def homes() -> str:
    """The folder that holds all copies of this user.

    Raises:
        VerificationFailed: somebody else has it, or it cannot be made.
    """
    user = os.getuid() if hasattr(os, "getuid") else 0
    path = os.path.join(os.path.realpath(tempfile.gettempdir()), f"torchlift-verify-{user}")
    try:
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
        about = os.lstat(path)
    except OSError as error:
        raise VerificationFailed(
            f"{path} cannot be made ({error.strerror or error}); TMPDIR names another place."
        ) from None
    if not stat.S_ISDIR(about.st_mode) or (hasattr(os, "getuid") and (about.st_uid != user or about.st_mode & 0o022)):
        raise VerificationFailed(f"{path} belongs to somebody else; remove it, or let TMPDIR name another place.")
    return path


def remove_leftovers() -> list[str]:
    """Take away copies whose runs were killed, and say of which trees they were."""
    removed = []
    there = homes()
    for name in sorted(os.listdir(there)):
        home = os.path.join(there, name)
        try:
            mark = json.loads(Path(home, _MARK).read_text(encoding="utf-8"))
            tree, process, started = str(mark["tree"]), int(mark["process"]), mark["started"]
        except (OSError, ValueError, KeyError, TypeError):
            continue  # one that is being made just now has no mark yet
        if started is not None and _start_of(process) != started:
            inside = [one for one in os.listdir(home) if one != _MARK and not one.startswith("spool-")]
            _remove(tree, home, os.path.join(home, inside[0]) if inside else None)
            removed.append(tree)
    return removed


def _mark(home: str, tree: str) -> None:
    mark = {"tree": tree, "process": os.getpid(), "started": _start_of(os.getpid())}
    Path(home, _MARK).write_text(json.dumps(mark), encoding="utf-8")


def _start_of(process: int) -> str | None:
    """When a process started, in words of the system that differ for another of the same number; None if there is none."""
    try:
        return (
            Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
        )
    except OSError:
        pass
    if os.path.isdir("/proc/self") or os.name == "nt":
        return None
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return "alive"


def _add_work_tree(tree: str, folder: str) -> None:
    quiet = ["-c", f"core.hooksPath={os.devnull}"]
    with suppress(GitFailed):  # no commit yet, or git cannot write there: a copy without a history does, too
        git([*quiet, "worktree", "add", "--detach", "--no-checkout", "--quiet", folder, "HEAD"], tree)
        git([*quiet, "read-tree", "HEAD"], folder)


def _remove(tree: str, home: str, folder: str | None) -> None:
    if folder is not None and os.path.isfile(os.path.join(folder, ".git")) and os.path.isdir(tree):
        with suppress(GitFailed):
            git(["-c", f"core.hooksPath={os.devnull}", "worktree", "remove", "--force", "--force", folder], tree)
    shutil.rmtree(home, ignore_errors=True)


def _state(path: str) -> _State | None:
    try:
        about = os.lstat(path)
    except OSError:
        return None
    return about.st_size, about.st_mtime_ns


def _forget_compiled(path: str) -> None:
    if not path.endswith(".py"):
        return
    folder, name = os.path.split(path)
    with suppress(OSError):
        for entry in os.listdir(os.path.join(folder, "__pycache__")):
            if entry.startswith(name[:-2]):
                os.unlink(os.path.join(folder, "__pycache__", entry))
