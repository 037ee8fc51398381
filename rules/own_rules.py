"""Rules that live outside torchlift, in files of the user's own.

They are code: whoever names such a file has it run. That is for a person to say on the command line, never for the
configuration of a project that somebody may have cloned to look at it (`migrate.workspace.own_rules`).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.registry import RuleFileError, rule_in
from torchlift.rules.rule import Rule
from torchlift.rules.rule_index import indexed_rules

_CODE = lazy_pattern(r"[A-Z]{1,12}\d{2,6}")
_FILE = lazy_pattern(r"([a-z]{1,12}\d{2,6})(_\w+)?\.py")
OF_TORCHLIFT = ("TL", "TOR")
"""Letters of codes that torchlift, and TorchFix whose codes it understands, may give to rules to come."""


def rules_with(own: tuple[Path, ...]) -> Mapping[str, Rule]:
    """Every rule by its code: torchlift's, as a run needs them, and those of `own`.

    Args:
        own: as for `own_rules`.

    Raises:
        RuleFileError: as `own_rules`.
    """
    return {**indexed_rules(), **own_rules(own)} if own else indexed_rules()


@cache
def own_rules(paths: tuple[Path, ...]) -> Mapping[str, Rule]:
    """The rules in files of the user's own, by code. It imports, and thereby runs, these files.

    Args:
        paths: each a file that declares a rule, or a folder. In a folder the files that are named after a code
            (`x100_bad_pattern.py`) declare one; the others are there for them (`from .helpers import ...`).

    Raises:
        RuleFileError: there is no such file or no rule in it, a file cannot be imported, or a code or a name is taken.
    """
    found: dict[str, Rule] = {}
    for file in (file for path in paths for file in rule_files(path)):
        rule = rule_in(_imported(file))
        problem = _problem_with(rule, file, found)
        if problem is not None:
            raise RuleFileError(f"{file}: {problem}")
        found[rule.code] = rule
    return dict(sorted(found.items()))


def rule_files(path: Path) -> Sequence[Path]:
    """The files below `path` that declare rules; `path` itself if it is a file.

    Raises:
        RuleFileError: there is none.
    """
    if path.is_file():
        if not _FILE.fullmatch(path.name):
            raise RuleFileError(f"{path} is no rule: the file of one is named after its code, as x100_bad_pattern.py.")
        return [path.resolve()]
    try:
        files = sorted(file.resolve() for file in path.iterdir() if _FILE.fullmatch(file.name))
    except OSError as error:
        raise RuleFileError(f"The rules in {path} cannot be read ({error.strerror or error}).") from None
    if not files:
        raise RuleFileError(
            f"There is no rule in {path}: a file of one is named after its code, as x100_bad_pattern.py."
        )
    return files


def code_in_name(file: Path) -> str | None:
    """The code that the name of a rule's file begins with, None if it begins with none."""
    named = _FILE.fullmatch(file.name)
    return named[1].upper() if named else None


def problem_with_code(code: str) -> str | None:
    """Why `code` cannot be the code of a rule outside torchlift, None if it can."""
    if not _CODE.fullmatch(code):
        return f"{code} is no code: take capital letters and two digits or more, such as X100"
    letters = code.rstrip("0123456789")
    if letters in OF_TORCHLIFT:
        return f"{code} is taken: codes with {letters} belong to torchlift; take letters of your own, such as X100"
    return None


def _problem_with(rule: Rule, file: Path, others: Mapping[str, Rule]) -> str | None:
    problem = problem_with_code(rule.code)
    if problem is not None:
        return f"{problem}."
    named = code_in_name(file)
    if named != rule.code:
        return f"the file of {rule.code} must be named after it: {rule.code.lower()}_{rule.name.replace('-', '_')}.py."
    if rule.code in others:
        return f"{rule.code} is defined twice."
    if rule.name in {other.name for other in (*indexed_rules().values(), *others.values())}:
        return f"another rule is called {rule.name!r} already."
    return None


def _imported(file: Path) -> ModuleType:
    """The module in `file`, as part of a package that is its folder, so that it may import what lies beside it."""
    from hashlib import sha256  # most runs have no such file

    package = f"torchlift_own_rules_{sha256(bytes(file.parent)).hexdigest()[:12]}"
    if package not in sys.modules:
        made = ModuleType(package)
        made.__path__ = [str(file.parent)]
        sys.modules[package] = made
    try:
        return importlib.import_module(f"{package}.{file.stem}")
    except Exception as error:
        import traceback

        place = traceback.extract_tb(error.__traceback__)[-1]
        raise RuleFileError(
            f"The rule in {file} cannot be imported: {type(error).__name__}: {error} ({place.filename}:{place.lineno})."
        ) from error
