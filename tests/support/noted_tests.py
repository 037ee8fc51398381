"""Tests that start torch or Python again and again pass once for the same files: `fixtures/noted_tests.tsv` says with which they did.

A whole run leaves out a file of tests as long as nothing has changed that it depends on: itself, what it imports and what
that imports, what it reads and its commands run (`BESIDE`), the data beside all of these, and the releases of Python and
torch. A run that names files or folders runs them, `--anew` and `--exhaustive` run all, `--prove` notes what has passed.
"""

from __future__ import annotations

import hashlib
import platform
import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOTED = ROOT / "fixtures/noted_tests.tsv"
FOLDERS = {
    "migrate": "migrate",
    "rules": "rules",
    "doctor": "doctor",
    "testing": "testing",
    "record": "record",
    "convert": "convert",
    "server": "server",
    "survey": "survey",
}
_COMMAND = ("src/torchlift/__main__.py", "src/torchlift/cli.py")
_DOCTOR = (
    *_COMMAND,
    *(f"doctor/{room}" for room in ("cli.py", "smoke", "fleet", "checks", "derived", "remedies", "probes", "report")),
    *(f"tests/doctor/{kind}_smokes" for kind in ("faulty", "lent", "lost")),
    "docs/smokes.md",
    "fixtures/machines",
    "fixtures/ill_machines",
)
# What these tests read, and what processes of theirs run, that no import of theirs leads to: files, or whole folders.
BESIDE: dict[str, tuple[str, ...]] = {
    "tests/testing/": ("testing", "tests/support/capture_models.py", "docs/testing.md"),
    "tests/record/test_fresh_proofs.py": (*_COMMAND, "src/torchlift/at_start", "record", "testing"),
    "tests/record/test_hooks_that_fail.py": (*_COMMAND, "src/torchlift/at_start", "record", "testing"),
    "tests/record/test_record": (*_COMMAND, "src/torchlift/at_start", "record", "testing"),
    "tests/record/test_watched_functions.py": (*_COMMAND, "src/torchlift/at_start", "record", "testing"),
    "tests/convert/": (*_COMMAND, "src/torchlift/at_start", "convert", "record", "testing"),
    "tests/migrate/test_verify": (*_COMMAND, "migrate", "rules", "src/torchlift", "record", "testing"),
    "tests/rules/api/test_api_table.py": ("src/torchlift/api_changes", "scripts"),
    "tests/rules/behaviour/test_behaviour_changes.py": ("rules/behaviour",),
    "tests/rules/cpp/test_cpp_facts.py": ("rules/cpp", "scripts"),
    "tests/rules/distributed/test_p2p_": ("rules/distributed", "rules/analysis"),
    "tests/rules/torchscript/test_data_branches.py": ("rules/torchscript", "rules/analysis"),
    "tests/doctor/test_broken_torch.py": _DOCTOR,
    "tests/doctor/test_burn_faults.py": _DOCTOR,
    "tests/doctor/test_burn_verdict.py": _DOCTOR,
    "tests/doctor/test_doctor_burn.py": _DOCTOR,
    "tests/doctor/test_doctor_fleet.py": _DOCTOR,
    "tests/doctor/test_doctor_smoke": _DOCTOR,
    "tests/doctor/test_smoke_devices.py": _DOCTOR,
    "tests/doctor/test_smoke_faults_within.py": _DOCTOR,
    "tests/doctor/test_smokes_on_the_cpu.py": _DOCTOR,
}
_IMPORT = re.compile(
    r"^[ \t]*(?:import[ \t]+([^\n#]+)|from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]+))", re.M
)
_NAME = re.compile(r"\b(?:as\s+\w+|([A-Za-z_][\w.]*))")
_DATA = {".json", ".tsv", ".csv", ".txt", ".toml"}


def files() -> list[Path]:
    """The files of tests that are noted."""
    return [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if _beside(path) is not None]


def unchanged() -> list[Path]:
    """Those that passed with exactly what they depend on today."""
    noted = dict(line.split("\t") for line in NOTED.read_text(encoding="utf-8").splitlines()) if NOTED.exists() else {}
    return [path for path in files() if noted.get(_name(path)) == digest(path)]


def note(passed: Iterable[Path]) -> None:
    """Write the file anew: with those that were there and still are as they were, and with `passed`."""
    told = {_name(path): digest(path) for path in {*unchanged(), *passed}}
    NOTED.write_text("".join(f"{name}\t{told[name]}\n" for name in sorted(told)), encoding="utf-8")


def digest(path: Path) -> str:
    """Of everything that a file of tests depends on."""
    roots = [path, ROOT / "tests/conftest.py", *path.parent.glob("conftest.py")]
    for place in _beside(path) or ():
        inside = sorted((ROOT / place).rglob("*")) if (ROOT / place).is_dir() else [ROOT / place]
        roots += [each for each in inside if each.is_file() and each.suffix in {".py", ".md", *_DATA}]
    found = hashlib.sha256(_environment().encode())
    for each in sorted(_with_imports(roots)):
        found.update(f"{_name(each)}\0{_contents(each)}\n".encode())
    return found.hexdigest()[:24]


def _beside(path: Path) -> tuple[str, ...] | None:
    return next((beside for place, beside in BESIDE.items() if _name(path).startswith(place)), None)


def _with_imports(roots: Iterable[Path]) -> set[Path]:
    """Files, all of the repository that they import in whatever way, and the data beside them."""
    seen: set[Path] = set()
    left = list(roots)
    while left:
        path = left.pop()
        if path not in seen:
            seen.add(path)
            left += _imported(path) if path.suffix == ".py" else ()
            left += _data_beside(path.parent)
    return seen


@cache
def _imported(path: Path) -> tuple[Path, ...]:
    """What stands behind `import` and `from`, in strings too: to parse a thousand files would take longer than it tells more."""
    found: set[Path] = set()
    for modules, module, names in _IMPORT.findall(path.read_text(encoding="utf-8")):
        for name in filter(None, _NAME.findall(modules)):
            found.update(_files_of(name))
        level = len(module) - len(module.lstrip("."))
        above = path.parents[level - 1] if level else None
        for name in filter(None, _NAME.findall(names)):
            found.update(_files_of(f"{module.lstrip('.')}.{name}".lstrip("."), above))
    return tuple(sorted(found))


def _files_of(module: str, above: Path | None = None) -> list[Path]:
    """The packages around a module of torchlift or of the tests' support, and itself."""
    parts = module.split(".")
    if above is None:
        first, *parts = parts
        if first == "torchlift":
            known = FOLDERS.get(parts[0]) if parts else None
            above, parts = (ROOT / known, parts[1:]) if known else (ROOT / "src/torchlift", parts)
        else:
            above, parts = ROOT / "tests/support", [first, *parts]
    found = [above / "__init__.py"]
    for part in parts:
        found += [above / f"{part}.py", above / part / "__init__.py"]
        above = above / part
    return [path for path in found if path.is_file()]


@cache
def _data_beside(folder: Path) -> tuple[Path, ...]:
    inside = folder != ROOT and folder.is_relative_to(ROOT)
    return tuple(sorted(path for path in folder.iterdir() if path.suffix in _DATA)) if inside else ()


@cache
def _contents(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def _environment() -> str:
    found = [platform.system(), platform.machine(), str(sys.version_info[:2])]
    for name in ("torch", "numpy", "pytest"):
        try:
            found.append(version(name).partition("+")[0])
        except PackageNotFoundError:
            found.append("missing")
    return " ".join(found)


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
