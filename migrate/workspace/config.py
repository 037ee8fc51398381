"""What `[tool.torchlift]` in `pyproject.toml`, or a `torchlift.toml`, says.

The file nearest to the project decides alone, as with ruff: nothing is merged. A key or a value that torchlift does not
understand is an error and not a warning, because a typing mistake in `ignore` would otherwise go unseen until a file is
rewritten.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from torchlift.file_bytes import file_bytes
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.output_formats import OUTPUT_FORMATS, OutputFormat
from torchlift.search.globs import PathPatterns, PatternError
from torchlift.torchscript_intent import UNSTATED, TorchScriptIntent
from torchlift.versions import TorchVersion
from torchlift.wrappers import DEFAULT_WRAPPERS, Wrapper, problem_with_wrapper

_VERSION = lazy_pattern(r"v?\d+(\.\d+){0,2}([.+-]?[a-zA-Z][\w.+]*)?")


class ConfigError(Exception):
    """The configuration cannot be used; the message says where, why, and what to write instead."""


@dataclass(frozen=True)
class Config:
    """How torchlift is to work on a project; every field that a file may set has the name of its key, with underscores.

    Attributes:
        select: rules that run, as codes, prefixes or names; empty means all that run by default.
        ignore: rules that do not.
        exclude: patterns of files to leave out, in the place of the built-in ones if given.
        extend_exclude: further patterns.
        target: torch release the project moves to.
        min_torch: lowest torch release the project supports.
        batch_example: size that first dimensions of size 1 get in the example inputs of a capture.
        unsafe_fixes: whether fixes that need review are applied.
        output_format: how findings are shown.
        per_file_ignores: rules not reported, by pattern of the files.
        jobs: processes to use; 0 or None lets the amount of work decide.
        respect_gitignore: whether ignored files are left out.
        force_exclude: whether excludes also apply to files that are named.
        allow_dirty: whether files with uncommitted changes are written; only from a file that the user named.
        allow_no_vcs: whether files outside version control are written; likewise.
        wrappers: modules that mirror modules of torch, by their names, beside the built-in ones; None takes one away.
        extend_rules: files and folders of rules outside torchlift, relative to the folder of `source`.
        allow_own_rules: whether the code of `extend_rules` may run; no key of a file can say so.
        torchscript: what is to become of TorchScript.
        evidence: file of recorded runs to take into account, relative to the folder of `source`.
        baseline: file of findings that are known, likewise.
        source: the file all this was read from, None for the defaults.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    target: TorchVersion | None = None
    min_torch: TorchVersion | None = None
    batch_example: int | None = None
    unsafe_fixes: bool = False
    output_format: OutputFormat = "full"
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    jobs: int | None = None
    respect_gitignore: bool = True
    force_exclude: bool = False
    allow_dirty: bool = False
    allow_no_vcs: bool = False
    wrappers: Mapping[str, Wrapper | None] = field(default_factory=dict, hash=False)
    extend_rules: tuple[str, ...] = ()
    allow_own_rules: bool = False
    torchscript: TorchScriptIntent = UNSTATED
    evidence: str | None = None
    baseline: str | None = None
    source: Path | None = None

    @cached_property
    def _ignored_by(self) -> tuple[tuple[PathPatterns, tuple[str, ...]], ...]:
        return tuple((PathPatterns([pattern]), names) for pattern, names in self.per_file_ignores.items())

    def path_of(self, name: str) -> Path:
        """The file that a setting names; a name that is relative is meant from where the configuration stands."""
        return (self.source.parent if self.source is not None else Path()) / name

    @property
    def all_wrappers(self) -> tuple[Wrapper, ...]:
        """The built-in wrappers and those of the configuration, which wins where both name a module."""
        known = {wrapper.module: wrapper for wrapper in DEFAULT_WRAPPERS}
        for module, wrapper in self.wrappers.items():
            # What is said about a built-in wrapper holds for the modules inside it that have its functions.
            for name in [name for name in known if name == module or name.startswith(f"{module}.")]:
                builtin = known.pop(name)
                if wrapper is not None:
                    known[name] = replace(builtin, mirrors=wrapper.mirrors, rewrite=wrapper.rewrite)
            if wrapper is not None:
                known.setdefault(module, wrapper)
        return tuple(known.values())

    def ignored_in(self, path: str) -> tuple[str, ...]:
        """What `per_file_ignores` says about a file: the names as written there.

        Args:
            path: relative to the project root, with forward slashes.
        """
        return tuple(name for patterns, names in self._ignored_by if patterns.covers(path) for name in names)


def load_config(start: Path, *, explicit: Path | None = None) -> Config:
    """Read the configuration of the project that the folder `start` is part of.

    The nearest folder, from `start` upwards, that has a `torchlift.toml` or a `pyproject.toml` with a
    `[tool.torchlift]` table decides; in one folder the former wins.

    Args:
        start: where to begin.
        explicit: a file to read instead.

    Raises:
        ConfigError: a file cannot be read, is not TOML, or has an unknown key or a wrong value.
    """
    if explicit is not None:
        return _config(_Table.read(explicit), named=True)
    folder = start.absolute()
    for above in (folder, *folder.parents):
        for name in ("torchlift.toml", "pyproject.toml"):
            path = above / name
            # Not `Path.is_file`, which raises where a folder above may not be read.
            if os.path.isfile(path) and (name == "torchlift.toml" or _mentions_torchlift(path)):  # noqa: PTH113
                table = _Table.read(path)
                if table.values is not None:
                    return _config(table)
    return Config()


def check_codes(names: Iterable[str], known: Collection[str], where: str = "the configuration") -> None:
    """Check that each of `names` means a rule.

    Args:
        names: what the user wrote.
        known: every code, prefix and name there is; `ALL` need not be among them.
        where: where it was written, for the message.

    Raises:
        ConfigError: there is no such rule; the message suggests the nearest one.
    """
    for name in names:
        if name not in known and name != "ALL":
            hint = _suggestion(name, known) or "`torchlift rules` lists them."
            raise ConfigError(f"`{name}` in {where} is no rule; {hint}")


@dataclass(frozen=True)
class _Table:
    """The part of a file that is meant for torchlift; `values` is None where there is none."""

    path: Path
    text: str
    values: Mapping[str, Any] | None

    @classmethod
    def read(cls, path: Path) -> _Table:
        from torchlift.toml_text import parsed_toml

        try:
            text = file_bytes(path).decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise ConfigError(
                f"{_shown(path)} is not UTF-8 ({error}), which TOML has to be; save it as UTF-8."
            ) from None
        except OSError as error:
            raise ConfigError(f"The configuration {_shown(path)} cannot be read ({error.strerror or error}).") from None
        try:
            values: Any = parsed_toml(text)
        except (RecursionError, ValueError) as error:
            if type(error).__name__ != "TOMLDecodeError":  # nested too deeply, or a number with thousands of digits
                raise ConfigError(f"{_shown(path)} is beyond what can be read ({error}); simplify it.") from None
            place = re.search(r"\(at line (\d+), column \d+\)", str(error))
            line = int(place[1]) if place else text.count("\n") + 1
            reason = str(error).partition(" (at ")[0]
            raise ConfigError(f"{_shown(path)}:{line}: this is not valid TOML ({reason}); correct the line.") from None
        if path.name == "pyproject.toml":
            for name in ("tool", "torchlift"):
                values = values.get(name, {} if name == "tool" else None)
                if not isinstance(values, dict) and values is not None:
                    raise ConfigError(f"{_shown(path)}: `{name}` must be a table, but is {_kind(values)}.")
        return cls(path, text, values)

    def place(self, key: str) -> str:
        """Where `key` stands, as `file:line` where the line can be told."""
        header = re.search(r"^\s*\[\s*tool\s*\.\s*torchlift\b", self.text, re.MULTILINE)
        start = header.start() if header else 0
        found = re.compile(rf"""^[ \t]*(?:\[.*\.)?["']?{re.escape(key)}["']?\s*[=.\]]""", re.MULTILINE).search(
            self.text, start
        )
        line = f":{self.text.count(chr(10), 0, found.start()) + 1}" if found else ""
        return f"{_shown(self.path)}{line}"


def _mentions_torchlift(path: Path) -> bool:
    """A look at the bytes, so that other people's `pyproject.toml` need not be parsed, nor be valid."""
    try:
        return b"torchlift" in file_bytes(path)
    except OSError:
        return True


def _config(table: _Table, *, named: bool = False) -> Config:
    """The settings of a file; `named` if the user named it and it did not just come with the project."""
    if table.values is None:
        raise ConfigError(f"{_shown(table.path)} has no `[tool.torchlift]` table; add one or name another file.")
    values: dict[str, Any] = {}
    for key, value in table.values.items():
        reader = _READERS.get(key)
        if reader is None:
            hint = _suggestion(key, _READERS) or f"the keys are {', '.join(sorted(_READERS))}."
            raise ConfigError(f"{table.place(key)}: torchlift has no setting `{key}`; {hint}")
        if key in _OF_THE_USER and value is True and not named:
            raise ConfigError(
                f"{table.place(key)}: `{key}` is not taken from a file that comes with the project, which could switch "
                f"off what protects the user; say `--{key}`, or name the file with `--config`."
            )
        try:
            values[key.replace("-", "_")] = reader(value)
        except _Unfit as unfit:
            raise ConfigError(f"{table.place(key)}: `{key}` must be {unfit.wanted}, but is {unfit.found}.") from None
    return Config(**values, source=table.path)


class _Unfit(Exception):
    def __init__(self, wanted: str, found: str) -> None:
        super().__init__(wanted, found)
        self.wanted = wanted
        self.found = found


def _strings(value: object) -> tuple[str, ...]:
    wanted = "a list of strings"
    if not isinstance(value, list):
        raise _Unfit(wanted, _kind(value))
    for item in value:
        if not isinstance(item, str):
            raise _Unfit(wanted, f"a list that holds {_kind(item)}")
    return tuple(value)


def _patterns(value: object) -> tuple[str, ...]:
    patterns = _strings(value)
    for pattern in patterns:
        _check_pattern(pattern)
    return patterns


def _check_pattern(pattern: str) -> None:
    try:
        PathPatterns([pattern])
    except PatternError as error:
        raise _Unfit("a pattern that can be written out", f'"{pattern[:40]}": {error}') from None


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise _Unfit("true or false", _kind(value))
    return value


def _count(value: object) -> int:
    wanted = "a whole number, 0 or greater"
    if not isinstance(value, int) or isinstance(value, bool):
        raise _Unfit(wanted, _kind(value))
    if value < 0:
        raise _Unfit(wanted, str(value))
    return value


def _batch(value: object) -> int:
    wanted = "a whole number, 2 or greater"
    if not isinstance(value, int) or isinstance(value, bool):
        raise _Unfit(wanted, _kind(value))
    if value < 2:
        raise _Unfit(wanted, str(value))
    return value


def _version(value: object) -> TorchVersion:
    wanted = 'a torch version in quotes, such as "2.9"'
    if not isinstance(value, str):
        raise _Unfit(wanted, _kind(value))
    if not _VERSION.fullmatch(value.strip()):
        raise _Unfit(wanted, f'"{value}"')
    return TorchVersion.parse(value)


def _format(value: object) -> str:
    wanted = f"one of {', '.join(OUTPUT_FORMATS)}"
    if not isinstance(value, str):
        raise _Unfit(wanted, _kind(value))
    if value not in OUTPUT_FORMATS:
        raise _Unfit(wanted, f'"{value}"')
    return value


def _file_name(value: object) -> str:
    wanted = 'the name of a file, such as ".torchlift/evidence.json"'
    if not isinstance(value, str):
        raise _Unfit(wanted, _kind(value))
    if not value.strip() or "\0" in value:
        raise _Unfit(wanted, "no name of a file")
    return value


def _names_by_pattern(value: object) -> dict[str, tuple[str, ...]]:
    wanted = 'a table of lists of rules by pattern, such as {"tests/**" = ["TL1"]}'
    if not isinstance(value, dict):
        raise _Unfit(wanted, _kind(value))
    result = {}
    for pattern, names in value.items():
        _check_pattern(str(pattern))
        try:
            result[str(pattern)] = _strings(names)
        except _Unfit as unfit:
            raise _Unfit(wanted, f'a table that has {unfit.found} for "{pattern[:40]}"') from None
    return result


def _wrappers(value: object) -> dict[str, Wrapper | None]:
    wanted = 'a table of torch modules by the module that mirrors them, such as {"mylib.dist" = "torch.distributed"}'
    if not isinstance(value, dict):
        raise _Unfit(wanted, _kind(value))
    result = {}
    for module, meaning in value.items():
        result[str(module)] = _wrapper(str(module), meaning, wanted)
    return result


def _wrapper(module: str, value: object, wanted: str) -> Wrapper | None:
    if value is False:
        return None
    settings = {"mirrors": value} if isinstance(value, str) else value
    if not isinstance(settings, dict):
        raise _Unfit(wanted, f'a table that has {_kind(value)} for "{module}"')
    unknown = sorted(set(settings) - {"mirrors", "rewrite"})
    mirrors, rewrite = settings.get("mirrors"), settings.get("rewrite", False)
    if unknown or not isinstance(mirrors, str) or not isinstance(rewrite, bool):
        wanted = f'"torch.distributed", false, or {{mirrors = "torch.distributed", rewrite = true}} for "{module}"'
        raise _Unfit(wanted, _settings_problem(unknown, mirrors, rewrite))
    problem = problem_with_wrapper(module, mirrors)
    if problem is not None:
        raise _Unfit(wanted, f"a table in which {problem}")
    return Wrapper(module, mirrors, rewrite)


def _settings_problem(unknown: list[str], mirrors: object, rewrite: object) -> str:
    if unknown:
        return f"a table with the unknown key `{unknown[0]}` (a dotted name of a module stands in quotes)"
    if mirrors is None:
        return "a table without `mirrors`"
    if not isinstance(mirrors, str):
        return f"a table with {_kind(mirrors)} for `mirrors`"
    return f"a table with {_kind(rewrite)} for `rewrite`"


_TORCHSCRIPT = {"support": ("drop", "keep"), "tests": ("successor", "delete"), "speed": ("eager", "compile")}


def _torchscript(value: object) -> TorchScriptIntent:
    wanted = 'a table such as {support = "drop", tests = "successor", speed = "eager", keep = ["export/**"]}, or "drop" or "keep"'
    given = {"support": value} if isinstance(value, str) else value
    if not isinstance(given, dict):
        raise _Unfit(wanted, _kind(value))
    settings: dict[str, Any] = {}
    for key, setting in given.items():
        if key == "keep":
            try:
                settings[key] = _patterns(setting)
            except _Unfit as unfit:
                raise _Unfit(wanted, f"a table that has {unfit.found} for `keep`") from None
        elif key not in _TORCHSCRIPT:
            raise _Unfit(wanted, f"a table with the unknown key `{key}`")
        elif not isinstance(setting, str) or setting not in _TORCHSCRIPT[key]:
            raise _Unfit(wanted, f"{_kind(setting)} for `{key}`")
        else:
            settings[key] = setting
    return TorchScriptIntent(**settings)


_OF_THE_USER = frozenset({"allow-dirty", "allow-no-vcs"})

_READERS: Mapping[str, Callable[[object], object]] = {
    "allow-dirty": _flag,
    "allow-no-vcs": _flag,
    "baseline": _file_name,
    "batch-example": _batch,
    "evidence": _file_name,
    "exclude": _patterns,
    "extend-exclude": _patterns,
    "extend-rules": _strings,
    "force-exclude": _flag,
    "ignore": _strings,
    "jobs": _count,
    "min-torch": _version,
    "output-format": _format,
    "per-file-ignores": _names_by_pattern,
    "respect-gitignore": _flag,
    "select": _strings,
    "target": _version,
    "torchscript": _torchscript,
    "unsafe-fixes": _flag,
    "wrappers": _wrappers,
}


def _kind(value: object) -> str:
    if isinstance(value, str):
        return f'the string "{value}"'
    kinds = ((bool, "a boolean"), (int, "an integer"), (float, "a float"), (list, "a list"), (dict, "a table"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "a date or time")


def _suggestion(name: str, known: Iterable[str]) -> str | None:
    from difflib import get_close_matches

    by_folded = {candidate.casefold(): candidate for candidate in sorted(known)}
    # A letter for the digit it looks like is the usual slip in a code; of a wrong digit all other codes are as close.
    digits = name.casefold().translate(str.maketrans("oil", "011"))
    meant = next((by_folded[key] for key in by_folded if key.translate(str.maketrans("oil", "011")) == digits), None)
    if meant is not None:
        return f"did you mean `{meant}`?"
    folded = name.casefold()
    alike = [code for key, code in by_folded.items() if key[:3] == folded[:3] and len(key) == len(folded)]
    if len(alike) > 1 and len(folded) > 4 and folded[2:].isdigit():
        return f"of {alike[0][:3]} there are {', '.join(alike)}." if len(alike) <= 12 else None
    close = get_close_matches(folded, by_folded, n=1, cutoff=0.6)
    return f"did you mean `{by_folded[close[0]]}`?" if close else None


def _shown(path: Path) -> str:
    """A path as the user knows it: relative to the current folder if it is inside."""
    try:
        return path.absolute().relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return str(path)
