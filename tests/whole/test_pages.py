"""The pages: links lead somewhere, and the first one stays short."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^(```+|~~~+).*?^\1\s*$", re.M | re.S)
_LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")


def pages() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=False)  # fmt: skip
    found = [ROOT / name for name in listed.stdout.split()] or [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    return [path for path in found if "fixtures" not in path.parts and path.is_file()]


@cache
def anchors(page: Path) -> set[str]:
    """What headings are linked by, as GitHub makes it of them."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    found = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    for heading in re.findall(r"^#{1,6}\s+(.*?)\s*#*$", text, re.M):
        plain = re.sub(r"[`*]|\[|\]\([^)]*\)", "", heading).lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found |= {name, *(f"{name}-{number}" for number in range(1, 4))}
    return found


def test_every_link_between_pages_leads_somewhere() -> None:
    broken = []
    for page in pages():
        for target in _LINK.findall(re.sub(r"`[^`\n]*`", "", _FENCE.sub("", page.read_text(encoding="utf-8")))):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            to = (page.parent / path).resolve() if path else page
            if not to.exists() or (anchor and to.suffix == ".md" and anchor not in anchors(to)):
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def test_every_page_of_the_documentation_is_listed() -> None:
    listed = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    assert [page.name for page in (ROOT / "docs").glob("*.md") if f"({page.name})" not in listed] == ["README.md"]


def test_a_newcomer_reads_the_first_page_in_a_few_minutes() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
