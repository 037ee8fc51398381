"""What a run is asked for, as far as it decides what the run comes to: everything but what the files of the project hold."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from torchlift.code_files import code_files
from torchlift.file_bytes import file_bytes
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.cache.digests import digest, hashed
from torchlift.migrate.cache.records import described
from torchlift.migrate.result import Mode
from torchlift.migrate.workspace.config import Config
from torchlift.migrate.workspace.discover import Discovery
from torchlift.migrate.workspace.own_rules import own_rule_paths
from torchlift.wheels.machine import Machine

# They say how a result is shown, taken apart or written, not what it is.
_NOT_ASKED = frozenset({"output_format", "jobs", "allow_dirty", "allow_no_vcs", "baseline"})


@dataclass(frozen=True)
class Request:
    """All that decides what a run comes to, but for what the files hold.

    Attributes:
        config: how to work.
        named: the paths that the run was given.
        found: what these stand for.
        mode, want_edits, machine: as for `library.migrate`.
        project_files: lists the Python files of the projects that the paths belong to.
    """

    config: Config
    named: Sequence[Path]
    found: Discovery
    mode: Mode
    want_edits: bool
    machine: Machine | None
    project_files: Callable[[], Sequence[str]]

    def name(self) -> str:
        """The name of the entry for its result.

        Raises:
            NotARecord, ConfigError, OSError: it has none.
        """
        places = [os.getcwd(), *map(os.path.realpath, self.named)]  # noqa: PTH109
        found = [self.found.files, self.found.texts, self.found.named]
        return f"run-{digest(described([self._conditions(), places, found, self.mode, self.want_edits]))}"

    def project_name(self) -> str:
        """The name of the entry for what is found in single files, whichever of them are asked for.

        Raises:
            NotARecord, ConfigError, OSError: it has none.
        """
        return f"checks-{digest(described(self._conditions()))}"

    def _conditions(self) -> list[Any]:
        config = {field.name: getattr(self.config, field.name) for field in fields(self.config)}
        settings = {name: value for name, value in config.items() if name not in _NOT_ASKED}
        own = [_contents(path) for path in own_rule_paths(self.config)]
        return [code_state(), settings, own, self.found.root, self.machine]


def _contents(folder: Path) -> Any:
    """All Python below a folder, or one file: rules of the user's own, and what they import from beside them."""
    files = [folder] if folder.is_file() else sorted(folder.rglob("*.py"))
    return [[os.fspath(file), hashed(file_bytes(file))] for file in files]


def code_state() -> Any:
    """What tells one torchlift on one Python from another, a working copy that is being edited included."""
    import torchlift.rules

    files = code_files(*torchlift.__path__, *torchlift.rules.__path__, str(Path(__file__).parents[1]))
    edits = find_spec("libcst")
    stamp = os.stat(edits.origin) if edits is not None and edits.origin is not None else None  # noqa: PTH116
    return [torchlift.__version__, sys.version, digest(files), stamp and [stamp.st_mtime_ns, stamp.st_size]]
