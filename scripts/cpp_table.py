"""Rewrite the table of what torch's C++ headers lost and deprecate, rules/cpp/data/, from the wheels themselves. For maintainers.

How to use it
-------------
    python scripts/cpp_table.py [--cache FOLDER]
    python scripts/cpp_table.py --check        # only say what would change (exit 1 if anything)

For the newest patch of every minor release from 1.0 it reads the headers of one Linux x86_64 wheel by range requests (about 15 MB
each, kept in `--cache`), and takes from them, without a compiler, what they declare (cpp_names.py). A name is gone only where its
last part is no word in any header of the newest release; a name that goes on elsewhere is told by hand, in rules/cpp/facts/successors.py.

After a new torch release: raise `NEWEST`, run it, look at the difference, read a sample, run tests/rules/cpp.

Needs: packaging, and torchlift importable.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from cpp_names import Headers, headers_in
from package_index import PUBLIC_INDEX, configured_index
from packaging.version import Version
from wheel_sources import HEADERS, newest_patches, sources

DATA = Path(__file__).resolve().parent.parent / "rules" / "cpp" / "data" / "headers.json"
OLDEST, NEWEST = Version("1.0"), Version("2.15")
# What is nobody's business outside of torch, and what another project's headers declare.
_INNER = re.compile(
    r"(?:^|::)(?:detail|details|detail_|_ops|impl|internal|guts|native|caffe2|generated|meta|redispatch|functorch|cpu|namedinference"
    r"|composite\w+|tensorexpr|fuser|cpp17|TypeDefault|\w*(?:CPU|CUDA)Type|protobuf_\w+|_\w+)(?:::|$)|::dispatch_"
)
_INNER_MACRO = re.compile(r"_.*|.*_(?:H|H_|INC|INCLUDED|HPP)|(?!AT_|TORCH_|C10_|TH|CAFFE_|CUDA_|REGISTER_).*")


def main(options: list[str] | None = None) -> int:
    """Rewrite the table; 0 when done, 1 when `--check` found something to change, 2 when the index is unreachable."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--index-url", help="simple index to read; default: pip's, else the public PyPI")
    parser.add_argument(
        "--cache", type=Path, default=Path(tempfile.gettempdir()) / "torch_headers", help="where headers are kept"
    )
    parser.add_argument("--check", action="store_true", help="write nothing, say what would change")
    chosen = parser.parse_args(options)
    index = (chosen.index_url or configured_index() or PUBLIC_INDEX).rstrip("/")
    try:
        wheels = newest_patches(index, "torch", OLDEST, NEWEST)
        folders = [sources(wheel, chosen.cache, HEADERS) for wheel in wheels.values()]
    except OSError as error:
        print(f"The index could not be read: {error}.", file=sys.stderr)
        return 2
    known: dict[bytes, Headers] = {}
    releases = {minor: headers_in(folder, known) for minor, folder in zip(wheels, folders, strict=True)}
    text = (
        json.dumps(_table(releases, [str(wheel.version) for wheel in wheels.values()]), indent=0, ensure_ascii=False)
        + "\n"
    )
    old = DATA.read_text(encoding="utf-8") if DATA.exists() else ""
    if chosen.check:
        print("nothing changes" if text == old else f"{DATA.name} would change")
        return int(text != old)
    DATA.write_text(text, encoding="utf-8")
    return 0


def _table(releases: dict[str, Headers], read: list[str]) -> dict[str, object]:
    newest = releases[str(NEWEST)]
    return {
        "releases": read,
        "standard": {minor: headers.standard for minor, headers in releases.items() if headers.standard},
        "files": _gone(releases, lambda one: one.files, lambda path: path in newest.files or _is_inner_file(path)),
        "macros": _gone(
            releases, lambda one: one.macros, lambda name: name in newest.words or bool(_INNER_MACRO.fullmatch(name))
        ),
        "names": _without_kernels(
            _gone(
                releases,
                lambda one: one.names,
                lambda name: name.rpartition("::")[2] in newest.words or _is_inner(name),
            )
        ),
        "pasted": _gone(releases, lambda one: one.pasted, lambda name: name.endswith("_(NAME)")),
        "deprecated": _deprecated(releases),
    }


def _without_kernels(gone: dict[str, str]) -> dict[str, str]:
    """Without the kernels of operators, which stand in headers that are not read in newer releases."""
    return {
        name: release
        for name, release in gone.items()
        if name.replace("at::cuda::", "at::", 1) not in gone or not name.startswith("at::cuda::")
    }


def _is_inner(name: str) -> bool:
    space, _, last = name.rpartition("::")
    return bool(_INNER.search(name)) or not (space or last.startswith(("TH", "torch_")))


def _is_inner_file(path: str) -> bool:
    return path.startswith(("ATen/ops/", "ATen/native/")) or "/detail/" in path


def _gone(
    releases: dict[str, Headers], of: Callable[[Headers], set[str]], stays: Callable[[str], bool]
) -> dict[str, str]:
    """The release that no longer has it, for what some release had and `stays` does not speak for."""
    minors = list(releases)
    last: dict[str, int] = {}
    for at, headers in enumerate(releases.values()):
        last.update(dict.fromkeys(of(headers), at))
    gone = {name: minors[at + 1] for name, at in last.items() if at + 1 < len(minors) and not stays(name)}
    return dict(sorted(gone.items()))


def _deprecated(releases: dict[str, Headers]) -> dict[str, list[str]]:
    """Since when, and what the newest release says, for what has no declaration without it."""
    newest = releases[str(NEWEST)]
    found = {}
    for name, said in sorted(newest.deprecated.items()):
        if name in newest.plain or "::" not in name or _INNER.search(name):
            continue
        since = str(NEWEST)
        for minor in reversed(releases):
            if name not in releases[minor].deprecated or name in releases[minor].plain:
                break
            since = minor
        found[name] = [since, said]
    return found


if __name__ == "__main__":
    sys.exit(main())
