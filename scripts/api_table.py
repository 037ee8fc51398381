"""Rewrite the tables of the changing API of torch and its companions in src/torchlift/api_changes/data/ from the wheels themselves. For maintainers.

How to use it
-------------
    python scripts/api_table.py --import python2.13/bin/python --import python2.15/bin/python
    python scripts/api_table.py --check        # only say what would change (exit 1 if anything)

For the newest patch of every minor release from 2.0 it reads the .py and .pyi files of one Linux x86_64 wheel by range
requests (about 10 MB each, kept in `--cache`), reads from them without running anything which names can be imported,
how they are called and what they say about being deprecated (api_surface.py and what it imports), and compares neighbours (api_changes.py).

`--import` names Pythons with torch installed. A name that the sources seem to have lost but that such a build still
has is left out and printed: C code and tricks with `sys.modules` bind names that no source shows. `--check` without a release that
the tables were made with takes them at their word about what only an import of it can tell, and says how many names that are.

After a new torch release: raise `NEWEST`, run it with a Python that has the new release, look at the difference, read
the sample that bench/api_rows_sample.py draws, and run tests/rules/api/test_api_table.py.

Needs: packaging, and torchlift importable.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import hashlib
import json
import pickle
import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from api_changes import added, arguments, deprecated, gone, gone_members, missing_successors
from api_importable import importable
from api_names import INNER
from api_surface import Names, names_of
from package_index import PUBLIC_INDEX, Wheel, configured_index, listing
from packaging.version import Version
from wheel_sources import newest_patches, sources

from torchlift.api_changes.successors import ADVICE

DATA = Path(__file__).resolve().parent.parent / "src" / "torchlift" / "api_changes" / "data"
TORCH_OLDEST, TORCH_NEWEST = Version("2.0"), Version("2.15")
OLDEST = {
    "torchvision": Version("0.8"),
    "torchaudio": Version("0.7"),
    "torchtext": Version("0.8"),
    "torchdata": Version("0.4"),
    "torchao": Version("0.4"),
}
"""The companions, and the first release of each that is read: those of torch 1.7, and the first with the interface of today."""
PACKAGES = {"torch": ("torch", "functorch")}
"""What a distribution holds, where that is not one package of its name."""


def main(options: list[str] | None = None) -> int:
    """Rewrite the tables; 0 when done, 1 when `--check` found something to change or advice names what is not there, 2 when the index is unreachable."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--index-url", help="simple index to read; default: pip's, else the public PyPI")
    parser.add_argument(
        "--cache", type=Path, default=Path(tempfile.gettempdir()) / "torch_sources", help="where sources are kept"
    )
    parser.add_argument(
        "--import", dest="pythons", action="append", default=[], metavar="PYTHON", help="a Python with torch"
    )
    parser.add_argument("--check", action="store_true", help="write nothing, say what would change")
    chosen = parser.parse_args(options)
    index = (chosen.index_url or configured_index() or PUBLIC_INDEX).rstrip("/")
    gc.disable()  # the trees grow to gigabytes of nodes without a cycle: looking for some took four fifths of the time
    try:
        groups = {package: _releases(index, package, chosen.cache) for package in (*OLDEST, "torch")}
        pairs = {package: _pairs(index, chosen.cache, groups[package][1]) for package in OLDEST}
    except OSError as error:
        print(f"The index could not be read: {error}.", file=sys.stderr)
        return 2
    releases, wheels = groups.pop("torch")
    new = tables(releases, wheels, chosen.pythons, _noted() if chosen.check else {}) | companions(groups, pairs)
    rows = [row for name in ("gone", "companions_gone") for row in json.loads(new[f"{name}.json"])["rows"]]
    missing = [
        line
        for package, (surfaces, _) in {"torch": (releases, wheels), **groups}.items()
        for line in missing_successors(surfaces, rows, _advice(package, surfaces[-1].version), package)
    ]
    print("\n".join(missing))
    changed = [
        name
        for name, text in new.items()
        if not (DATA / name).exists() or _undated((DATA / name).read_text()) != _undated(text)
    ]
    for name in changed:
        print(f"{name}: {'would change' if chosen.check else f'{len(new[name])} bytes'}")
        if not chosen.check:
            DATA.mkdir(exist_ok=True)
            (DATA / name).write_text(new[name], encoding="utf-8", newline="\n")
    return 1 if missing or (chosen.check and changed) else 0


def _advice(package: str, newest: str) -> dict[str, tuple[str, str]]:
    """Text and first release of the advice about names of `package`; that of a companion says which, if it is not the newest."""
    own = {old: found for old, found in ADVICE.items() if old.partition(".")[0] in PACKAGES.get(package, (package,))}
    since = {old: str(found.since or "") if package == "torch" else newest for old, found in own.items()}
    return {old: (found.text, since[old]) for old, found in own.items()}


def _releases(index: str, package: str, cache: Path) -> tuple[list[Names], dict[str, Wheel]]:
    releases, wheels = [], {}
    packages = PACKAGES.get(package, (package,))
    oldest, newest = (TORCH_OLDEST, TORCH_NEWEST) if package == "torch" else (OLDEST[package], Version("999"))
    for minor, wheel in newest_patches(index, package, oldest, newest).items():
        folder = sources(wheel, cache)
        kept = folder / f"names-{_reader()}.pickle"
        if not kept.exists():
            for older in folder.glob("names*.pickle"):
                older.unlink()
            kept.write_bytes(pickle.dumps(names_of(minor, folder, packages, INNER)))
        releases.append(pickle.loads(kept.read_bytes()))
        wheels[minor] = wheel
        print(f"{minor}: {len(releases[-1].names)} names in {wheel.name}", flush=True)
    return releases, wheels


def _pairs(index: str, cache: Path, wheels: dict[str, Wheel]) -> dict[str, list[str]]:
    """The minor release of torch that each release of a companion belongs to, and how that is known.

    "requires": METADATA pins it or has it as the lowest; "of its day": it does not, and this was the newest one on the day of the upload.
    """
    days = sorted(
        (wheel.uploaded, wheel.version) for wheel in listing(index, "torch") if wheel.platform == "linux_x86_64"
    )
    found = {}
    for minor, wheel in wheels.items():
        metadata = next(sources(wheel, cache).glob("*.dist-info/METADATA")).read_text(encoding="utf-8")
        pin = re.search(r"^Requires-Dist: torch ?\(?[=>]=(\d+\.\d+)", metadata, re.MULTILINE)
        newest = max(version for day, version in days if day <= wheel.uploaded)
        found[minor] = [pin[1], "requires"] if pin else [f"{newest.major}.{newest.minor}", "of its day"]
    return found


def _reader() -> str:
    """Digest of what decides which names are read from a source tree, and how."""
    here = Path(__file__).parent
    files = (here / f"api_{name}.py" for name in ("definitions", "deprecation", "modules", "surface"))
    return hashlib.sha256(b"".join([*(file.read_bytes() for file in files), INNER.pattern.encode()])).hexdigest()[:12]


def companions(
    groups: dict[str, tuple[list[Names], dict[str, Wheel]]], pairs: dict[str, dict[str, list[str]]]
) -> dict[str, str]:
    """The text of the data files about packages that go with torch: only what can break code, and what is deprecated."""
    head = {
        "date": datetime.date.today().isoformat(),
        "wheels": {
            package: {minor: wheel.name for minor, wheel in wheels.items()} for package, (_, wheels) in groups.items()
        },
        "torch": pairs,
    }
    surfaces = [releases for releases, _ in groups.values()]
    changes = [row for releases in surfaces for row in arguments(releases) if row[2] not in {"added", "default"}]
    return {
        "companions_gone.json": _text(
            head, _GONE, [row for releases in surfaces for row in [*gone(releases), *gone_members(releases)]]
        ),
        "companions_deprecated.json": _text(
            head, _DEPRECATED, [row for releases in surfaces for row in deprecated(releases)]
        ),
        "companions_arguments.json": _text(head, _ARGUMENTS, changes),
    }


def _noted() -> dict[str, set[str]]:
    """The releases that the table of lost names was asked by, each with the names of the table."""
    noted = json.loads((DATA / "gone.json").read_text(encoding="utf-8"))
    return {version: {row[0] for row in noted["rows"]} for version in noted["asked_by_import"]}


def tables(
    releases: list[Names], wheels: dict[str, Wheel], pythons: Iterable[str], noted: dict[str, set[str]]
) -> dict[str, str]:
    """The text of every data file about torch; imports that are only `noted` are taken to answer as they did."""
    lost = [*gone(releases), *gone_members(releases)]
    asked: list[str] = []
    for python in pythons:
        version, answers = importable(python, [row[0] for row in lost if row[3] == "gone"])
        asked.append(version)
        here = Version(Version(version).base_version)
        wrong = {name for name, answer in answers.items() if answer == "yes"}
        for row in lost:
            if row[0] in wrong and Version(row[2]) <= here:
                print(f"{row[0]} is said to be gone since {row[2]} and torch {version} has it: left out")
        lost = [row for row in lost if row[0] not in wrong or Version(row[2]) > here]
    if unasked := [
        version for version in noted if Version(version).release not in {Version(one).release for one in asked}
    ]:
        left = [row[0] for row in lost if row[3] == "gone" and row[0] not in noted[unasked[-1]]]
        lost = [row for row in lost if row[0] not in left]
        print(
            f"No import of torch {' and '.join(unasked)} was given: taken from the table that it has {len(left)} names: {' '.join(left)}"
        )
    head = {
        "date": datetime.date.today().isoformat(),
        "wheels": {minor: wheel.name for minor, wheel in wheels.items()},
        "asked_by_import": list(noted) or asked,
    }
    return {
        "gone.json": _text(
            head,
            _GONE,
            lost,
        ),
        "deprecated.json": _text(
            head,
            _DEPRECATED,
            list(deprecated(releases)),
        ),
        "arguments.json": _text(head, _ARGUMENTS, list(arguments(releases))),
        "added.json": _text(
            head,
            "release, module, names that it is the first to have",
            [
                [version, module, " ".join(names)]
                for version, modules in added(releases, {row[0] for row in lost}).items()
                for module, names in modules.items()
            ],
        ),
    }


_GONE = "name, last release with it, first without, how, kind, relation to its successor, successor, evidence"
_DEPRECATED = "names, first release that says so, last one if it was taken back, evidence"
_ARGUMENTS = "names, release, change, parameter, before, after, evidence"


def _text(head: dict[str, Any], columns: str, rows: list[list[Any]]) -> str:
    """JSON with one row a line, so that a difference shows rows."""
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in {**head, "columns": columns}.items()]
    body = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in rows)
    return "{\n" + "\n".join(lines) + f'\n  "rows": [\n{body}\n  ]\n}}\n'


def _undated(text: str) -> str:
    return re.sub(r'"date": "[^"]*"', "", text)


if __name__ == "__main__":
    sys.exit(main())
