"""Count what holds torch back, or names that went, without torchlift, and compare: `python bench/count_pins.py [--names] FOLDER...`.

Every text file of each project is searched line by line with patterns that share no code with torchlift, and the lines
are compared with those that its findings lie on. What is left out of the count is what nobody should be told of: comments,
prose of pages, lists of changes. The target is the newest torch. With `--names` it is the names, parameters and methods of
`named_sites.py` that are counted in Python files.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from pathlib import Path

from changes import lines_of
from leaving import share
from named_sites import named_sites
from notebook_rows import rows_of
from scratch import as_repository
from torchlift_command import DEFAULT, migrate

_NEWEST = "2.15"
_TEXT = re.compile(
    r"(?i)\.(?:txt|in|toml|cfg|ini|ya?ml|sh|bash|md|rst|bat|cmd|ps1|ipynb|mk|env|docker)$|dockerfile|makefile|"
    r"(?:^|/)(?:setup|noxfile)\.py$"
)
_KINDS = {
    "pin": re.compile(
        rb"(?i)(?<![\w-])(?:torch|torchvision|torchaudio|pytorch)(?:\[\w*\])?[\"']?\s*(?:[<>=!~]+\s*[\w.*]+\s*,\s*)*"
        rb"(?P<operator>===?|<=?|~=|(?<=h)=|= ?[\"'][~<=]*)\s*[\"']?(?P<release>\d+\.\d+)(?P<patch>\.[1-9])?"
    ),
    "index": re.compile(rb"whl/(?:nightly/|lts/[\d.]+/)?cu\d{2,3}|data\.pyg\.org/whl"),
    "build": re.compile(rb"\+(?:pt\d+)?cu\d{2,3}"),
    "image": re.compile(rb"(?:pytorch/pytorch|nvidia/cuda|nvidia/pytorch):[\w.${]"),
    "value": re.compile(
        rb"(?i)(?:^|[\s{,\"'(-])(?:py)?torch(?:[-_ ]?ver(?:sion)?s?)?[\"']?\s*[:=]\s*[\[\"' ]*(?P<release>\d+\.\d+)"
    ),
}
_COMMENT = re.compile(rb"^\s*(?:#|//|REM\b|::|<!--)", re.IGNORECASE)
_COMMAND = re.compile(rb"(?:pip3?|conda|mamba|uv)\b[^\n]* (?:install|add|create)\b|docker |^\s*FROM ")
_LOCKS = {"uv.lock", "poetry.lock", "pdm.lock", "pixi.lock", "Pipfile.lock"}
_CHANGES = ("change", "history", "news", "release")


def main() -> None:
    parser = argparse.ArgumentParser(description="Count what holds torch back, and compare with torchlift.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="unpacked projects")
    parser.add_argument("--names", action="store_true", help="count names of torch and its companions, not pins")
    parser.add_argument("--torchlift", default=DEFAULT, help="how to call it")
    options = parser.parse_args()
    lines: Counter[str] = Counter()
    found: Counter[str] = Counter()
    missed: list[str] = []
    print("| project | lines | found |\n|---|--:|--:|")
    for folder in options.folders:
        with tempfile.TemporaryDirectory(prefix="torchlift-count-") as scratch:
            repository = as_repository(folder, Path(scratch) / folder.name)
            run = migrate(
                options.torchlift,
                repository,
                "--check",
                "--target",
                _NEWEST,
                "--select",
                "TL1,TL2,TL4,TL5" if options.names else "TL3",
                "--output-format",
                "json",
            )
            places = {(item["filename"], line) for item in run.report["findings"] for line in rows_of(repository, item)}
        own: Counter[str] = Counter()
        seen: Counter[str] = Counter()
        for name, number, kind, text in (named_sites if options.names else counted)(folder):
            own[kind] += 1
            seen[kind] += (name, number) in places
            if (name, number) not in places:
                missed.append(f"{folder.name}/{name}:{number}: {kind} {text}")
        print(f"| {folder.name} | {own.total()} | {share(seen.total(), own.total())} |")
        lines += own
        found += seen
    print(f"| **all** | {lines.total()} | {share(found.total(), lines.total())} |")
    for kind in sorted(lines):
        print(f"| of kind {kind} | {lines[kind]} | {share(found[kind], lines[kind])} |")
    print("\n".join(["", "Without a finding:", "", *missed]))


def counted(folder: Path) -> list[tuple[str, int, str, str]]:
    """Path, line, kind and text of what holds torch back."""
    found = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or not _TEXT.search(name) or path.name in _LOCKS:
            continue
        if path.name.lower().startswith(_CHANGES):
            continue
        for number, line in enumerate(lines_of(path.read_bytes()), 1):
            kind = kind_of(name, line, _NEWEST)
            if kind is not None:
                found.append((name, number, kind, line.decode(errors="replace").strip()[:160]))
    return found


def kind_of(path: str, line: bytes, target: str) -> str | None:
    """Why a line keeps an older torch; None where it does not."""
    if _COMMENT.search(line) and not path.endswith((".md", ".rst")):
        return None
    if path.endswith((".md", ".rst", ".ipynb")) and not _COMMAND.search(line):
        return None
    for kind, pattern in _KINDS.items():
        for match in pattern.finditer(line):
            named = match.groupdict()
            if named.get("release") is None or b"torchvision" in match[0]:
                return kind
            below = pair(named["release"].decode())
            bound = named.get("operator") == b"<" and not named["patch"]
            if below < pair(target) or (bound and below == pair(target)):
                return kind
    return None


def pair(release: str) -> tuple[int, int]:
    major, minor = release.split(".")[:2]
    return int(major), int(minor)


if __name__ == "__main__":
    main()
