"""Write the pages of the site to build/pages, for Zensical (mkdocs.yml) or whatever else makes a site of Markdown.

    python scripts/site_pages.py [--repository https://...] && zensical build --strict

The long texts that torchlift writes of its rules, checks, smokes and errors become a page each, so that an address means one
of them; the first page, CONTRIBUTING, CHANGELOG and the measurements are taken from where they lie. Links are rewritten to
where their targets went; what is no page is linked to `--repository`, and is only named without it.
"""

from __future__ import annotations

import argparse
import posixpath
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from torchlift.doctor.errors.page import page
from torchlift.rules.catalogue import catalogue

ROOT = Path(__file__).parents[1]

TAKEN = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "bench/RESULTS.md": "results.md",
}
"""Pages outside docs/, and their addresses on the site."""

WHOLE = {"docs/rules.md": catalogue, "docs/errors.md": page}
"""What writes the long text in the place of a page that only lists its parts."""

LISTS = {"docs/rules.md": ("rules", 2), "docs/doctor.md": ("checks", 3), "docs/smokes.md": ("smokes", 3), "docs/errors.md": ("errors", 3)}  # fmt: skip
"""Pages that are cut: the folder of the parts, and the level of the headings that begin one."""

_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
_HEADING = re.compile(r"^(#{1,6}) +(.*?) *#*$")
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Part:
    """A rule, check, smoke or error of a long page."""

    title: str
    """As its heading says: `TL101 torchscript-trace`, or a name."""
    group: str
    """The heading above it, or nothing."""
    lines: tuple[str, ...]

    @property
    def name(self) -> str:
        """Of its file: the code of a rule, or the whole title."""
        return self.title.split()[0]

    @property
    def summary(self) -> str:
        """The first sentence that is no code."""
        return next((line for line, code in _told(self.lines) if line.strip() and not code), "")


def _told(lines: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it belongs to a block of code."""
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        mark = found.group(1) if found else ""
        yield line, bool(fence or mark)
        if mark and not fence:
            fence = mark
        elif fence and mark.startswith(fence):
            fence = ""


def slug(title: str) -> str:
    """What a heading is linked by, as GitHub makes it of one."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@cache
def cut(path: str) -> tuple[str, tuple[Part, ...]]:
    """The head of a long page, and its parts with their headings raised to be those of a page."""
    _, level = LISTS[path]
    head: list[str] = []
    parts: list[tuple[str, str, list[str]]] = []
    group = ""
    text = WHOLE[path]() if path in WHOLE else (ROOT / path).read_text(encoding="utf-8")
    for line, code in _told(tuple(text.splitlines())):
        heading = None if code else _HEADING.match(line)
        depth = len(heading.group(1)) if heading else 0
        if heading and depth == level:
            parts.append((heading.group(2), group, []))
        elif heading and depth == level - 1 > 1:
            group = heading.group(2)
        elif parts:
            parts[-1][2].append(line[level - 1 :] if heading else line)
        else:
            head.append(line)
    return "\n".join(head), tuple(Part(title, group, tuple(lines)) for title, group, lines in parts)


@cache
def addresses() -> dict[str, str]:
    """Where each page of the repository, or each heading of one that is cut, stands on the site."""
    found = {f"docs/{path.name}": path.name for path in (ROOT / "docs").iterdir() if path.is_file()}
    found |= TAKEN | {"docs/README.md": "index.md"}
    for path, (folder, _) in LISTS.items():
        found[path] = f"{folder}/index.md"
        for part in cut(path)[1]:
            found[f"{path}#{slug(part.title)}"] = f"{folder}/{part.name}.md"
    return found


def index(path: str) -> str:
    """The page that lists the parts of a long one."""
    head, parts = cut(path)
    folder, _ = LISTS[path]
    # A rule's page begins with a table of all rules, which stays.
    lines = [head.rstrip()]
    group = None
    for part in parts if folder != "rules" else ():
        if part.group != group:
            group = part.group
            lines += ["", f"## {group}", "", "| | |", "| --- | --- |"]
        told = part.summary.replace("|", "\\|")
        lines.append(f"| [{part.name}](#{slug(part.title)}) | {told} |")
    return "\n".join([*lines, ""])


def pages() -> Iterator[tuple[str, str, str]]:
    """Each page: its address on the site, the page that its links start from, its text."""
    whole = {f"docs/{path.name}": path.name for path in (ROOT / "docs").glob("*.md")} | TAKEN
    for path, address in whole.items():
        if path not in {*LISTS, "docs/README.md"}:
            yield address, path, (ROOT / path).read_text(encoding="utf-8")
    for path, (folder, _) in LISTS.items():
        yield f"{folder}/index.md", path, index(path)
        for part in cut(path)[1]:
            yield f"{folder}/{part.name}.md", path, "\n".join([f"# {part.title}", *part.lines, ""])


def linked(text: str, page: str, source: str, repository: str | None = None) -> str:
    """The text with its links leading where their targets stand on the site.

    Args:
        text: Markdown.
        page: address of the page on the site, such as `rules/TL101.md`.
        source: path of the page in the repository, which the links of `text` start from.
        repository: address of the repository, such as `https://github.com/owner/name`, if it has one.
    """
    known = addresses()

    def told(found: re.Match[str]) -> str:
        picture, words, target = found.groups()
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            return found.group()
        path, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path)) if path else source
        to = known.get(f"{path}#{anchor}")
        if to is not None:
            anchor = ""
        else:
            to = known.get(path)
        if to is None:
            return f"[{words}]({repository}/blob/HEAD/{path})" if repository else words
        away = posixpath.relpath(to, posixpath.dirname(page) or ".")
        return f"{picture}[{words}]({away}{'#' if anchor else ''}{anchor})"

    lines = text.split("\n")
    codes = [code for _, code in _told(tuple(lines))]
    return "\n".join(line if code else _outside_code(line, told) for line, code in zip(lines, codes, strict=True))


def _outside_code(line: str, told: Callable[[re.Match[str]], str]) -> str:
    pieces = re.split(r"(`+[^`]*`+(?!\]))", line) if "](" in line else [line]
    return "".join(piece if number % 2 else _LINK.sub(told, piece) for number, piece in enumerate(pieces))


def write(folder: Path, repository: str | None = None) -> None:
    """Make `folder` hold the pages, pictures and colours of the site, and nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    for address, source, text in pages():
        to = folder / address
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(linked(text, address, source, repository), encoding="utf-8")
    for other in [*(ROOT / "docs").glob("*.png"), ROOT / "docs/site.css"]:
        shutil.copy(other, folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the pages of the site.")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/pages")
    parser.add_argument("--repository", help="address of the repository, to link its files below")
    asked = parser.parse_args()
    write(asked.folder, asked.repository and asked.repository.rstrip("/"))
