"""What `torchlift convert` makes of every TorchScript archive below some folders, by content and each once: a row a method.

    python bench/archives.py FOLDER... --out rows.tsv [--python] [--timeout 120]

With `--python` a Python module is written and compared in the place of a program. A row: file, method, outcome, where its
inputs are from, the inputs, what was said, what was tried. Rows that are there already are not measured again.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from torchlift.convert.archive.model_file import read_model_file
from torchlift.convert.archive.zip_entries import BadArchive
from torchlift.convert.road.converting import Converter, ConvertWish
from torchlift.convert.road.record import Conversion
from torchlift.testing.processes import FreshProcesses

_COMPARED = ("same", "converted")


def main() -> int:
    """Measure, and print how many files have a method that does the same."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--python", action="store_true")
    parser.add_argument("--timeout", type=float, default=120.0)
    options = parser.parse_args()
    known = options.out.read_text(encoding="utf-8").splitlines() if options.out.exists() else []
    done = {line.split("\t")[0] for line in known}
    with FreshProcesses() as processes, options.out.open("a", encoding="utf-8") as out:
        for path in archives(options.folders):
            if str(path) in done:
                continue
            with tempfile.TemporaryDirectory() as scratch:
                emit = Path(scratch) if options.python else None
                wish = ConvertWish(check_only=True, seconds=options.timeout, emit_python=emit)
                for one in Converter(wish, processes).convert(path, Path(scratch, "program.pt2")):
                    known.append(row(path, one))
                    print(known[-1], file=out, flush=True)
    best: dict[str, str] = {}
    for line in known:
        path, _, outcome, *_ = line.split("\t")
        if best.get(path) not in _COMPARED:
            best[path] = outcome
    print(", ".join(f"{outcome}: {count}" for outcome, count in sorted(Counter(best.values()).items())))
    return 0


def archives(folders: list[Path]) -> Iterator[Path]:
    """TorchScript archives, those that cannot be converted included; of files that are equal the first."""
    seen: set[bytes] = set()
    for folder in folders:
        for path in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
            if not path.is_file():
                continue
            with path.open("rb") as file:
                if file.read(2) != b"PK":
                    continue
            try:
                kind = read_model_file(path).kind
            except (OSError, BadArchive, RecursionError):
                continue
            digest = hashlib.sha256(path.read_bytes()).digest()
            if kind in ("torchscript", "mobile") and digest not in seen:
                seen.add(digest)
                yield path


def row(path: Path, one: Conversion) -> str:
    """What came of a method, in one line."""
    tried = " | ".join(f"{way.way}: {way.failed}" for way in one.tried)
    cells = (str(path), one.method, one.outcome, one.inputs_from, one.inputs, one.said, tried)
    return "\t".join(" ".join(cell.split()) for cell in cells)


if __name__ == "__main__":
    sys.exit(main())
