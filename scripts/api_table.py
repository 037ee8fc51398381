"""Rewrite the table of torch's changing API in rules/api/data/ from the wheels themselves. For maintainers.

How to use it
-------------
    python scripts/api_table.py --import python2.13/bin/python --import python2.15/bin/python
    python scripts/api_table.py --check        # only say what would change (exit 1 if anything)

For the newest patch of every minor release from 2.0 it reads the .py and .pyi files of one Linux x86_64 wheel by range
requests (about 10 MB each, kept in `--cache`), reads from them without running anything which names can be imported,
how they are called and what they say about being deprecated (api_surface.py and what it imports), and compares neighbours (api_changes.py).

`--import` names Pythons with torch installed. A name that the sources seem to have lost but that such a build still
has is left out and printed: C code and tricks with `sys.modules` bind names that no source shows.

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
from package_index import PUBLIC_INDEX, configured_index
from packaging.version import Version
from wheel_sources import newest_patches, sources

from torchlift.rules.api.successors import ADVICE

DATA = Path(__file__).resolve().parent.parent / "rules" / "api" / "data"
OLDEST, NEWEST = Version("2.0"), Version("2.15")
PACKAGES = ("torch", "functorch")


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
        releases, wheels = _releases(index, chosen.cache)
    except OSError as error:
        print(f"The index could not be read: {error}.", file=sys.stderr)
        return 2
    new = tables(releases, wheels, chosen.pythons)
    advice = {old: (found.text, str(found.since or "")) for old, found in ADVICE.items()}
    missing = list(missing_successors(releases, json.loads(new["gone.json"])["rows"], advice))
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


def _releases(index: str, cache: Path) -> tuple[list[Names], dict[str, str]]:
    releases, wheels = [], {}
    for minor, wheel in newest_patches(index, OLDEST, NEWEST).items():
        folder = sources(wheel, cache)
        kept = folder / f"names-{_reader()}.pickle"
        if not kept.exists():
            for older in folder.glob("names*.pickle"):
                older.unlink()
            kept.write_bytes(pickle.dumps(names_of(minor, folder, PACKAGES, INNER)))
        releases.append(pickle.loads(kept.read_bytes()))
        wheels[minor] = wheel.name
        print(f"{minor}: {len(releases[-1].names)} names in {wheel.name}", flush=True)
    return releases, wheels


def _reader() -> str:
    """Digest of what decides which names are read from a source tree, and how."""
    here = Path(__file__).parent
    files = (here / f"api_{name}.py" for name in ("definitions", "deprecation", "modules", "surface"))
    return hashlib.sha256(b"".join([*(file.read_bytes() for file in files), INNER.pattern.encode()])).hexdigest()[:12]


def tables(releases: list[Names], wheels: dict[str, str], pythons: Iterable[str]) -> dict[str, str]:
    """The text of every data file."""
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
    head = {
        "date": datetime.date.today().isoformat(),
        "wheels": dict(wheels),
        "asked_by_import": asked,
    }
    return {
        "gone.json": _text(
            head,
            "name, last release with it, first without, how, kind, relation to its successor, successor, evidence",
            lost,
        ),
        "deprecated.json": _text(
            head,
            "names, first release that says so, last one if it was taken back, evidence",
            list(deprecated(releases)),
        ),
        "arguments.json": _text(
            head, "names, release, change, parameter, before, after, evidence", list(arguments(releases))
        ),
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


def _text(head: dict[str, Any], columns: str, rows: list[list[Any]]) -> str:
    """JSON with one row a line, so that a difference shows rows."""
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in {**head, "columns": columns}.items()]
    body = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in rows)
    return "{\n" + "\n".join(lines) + f'\n  "rows": [\n{body}\n  ]\n}}\n'


def _undated(text: str) -> str:
    return re.sub(r'"date": "[^"]*"', "", text)


if __name__ == "__main__":
    sys.exit(main())
