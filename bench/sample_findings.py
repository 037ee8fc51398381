"""Print findings at random, with the code around them and the fix, to be judged by eye.

`python bench/sample_findings.py DEST RESULTS`, where RESULTS is what `corpus_run.py --json` wrote.
"""

from __future__ import annotations

import argparse
import difflib
import json
import random
import tokenize
from pathlib import Path
from typing import Any

from corpus import chosen

AROUND = 6  # lines shown before and after a finding


def main() -> None:
    parser = argparse.ArgumentParser(description="Print findings at random, to be judged by eye.")
    parser.add_argument("corpus", type=Path, metavar="DEST", help="folder filled by fetch_corpus.py")
    parser.add_argument("results", type=Path, metavar="RESULTS", help="file written by corpus_run.py --json")
    parser.add_argument("--number", type=int, default=20, metavar="N", help="how many (default: 20)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="another seed, another choice (default: 0)")
    parser.add_argument("--safety", choices=["safe", "unsafe", "manual"], help="only these")
    parser.add_argument("--code", action="append", help="only findings of this rule; may be given again")
    parser.add_argument("--project", action="append", help="only findings in this project; may be given again")
    options = parser.parse_args()

    pool = [
        (result["name"], finding)
        for result in json.loads(options.results.read_text(encoding="utf-8"))
        for finding in result["findings"]
        if (not options.safety or safety(finding) == options.safety)
        and (not options.code or finding["code"] in options.code)
        and (not options.project or result["name"] in options.project)
    ]
    picked = random.Random(options.seed).sample(range(len(pool)), min(options.number, len(pool)))
    print(f"{len(picked)} of {len(pool)} findings, seed {options.seed}")
    for index in sorted(picked):
        name, finding = pool[index]
        (project,) = chosen([name])
        show(project.folder, options.corpus / project.folder / finding["filename"], finding)


def show(folder: str, path: Path, finding: dict[str, Any]) -> None:
    """Print one finding, the lines around it, and what its own fix would change."""
    row, column = finding["location"]["row"], finding["location"]["column"]
    last = max(row, finding["end_location"]["row"])
    print(f"\n{'=' * 100}\n{folder}/{finding['filename']}:{row}:{column} {finding['code']} [{safety(finding)}]")
    print(finding["message"])
    if finding.get("help"):
        print(f"help: {finding['help']}")
    if finding["fix"]:
        print(f"fix: {finding['fix']['message']}")
    text = read(path)
    lines = text.split("\n")
    print()
    for number in range(max(1, row - AROUND), min(len(lines), last + AROUND) + 1):
        print(f"{'>' if row <= number <= last else ' '} {number:5d} | {lines[number - 1]}")
    if finding["fix"] and finding["fix"]["edits"]:
        print()
        new = apply(text, finding["fix"]["edits"]).split("\n")
        print("\n".join(difflib.unified_diff(lines, new, "before", "after", n=2, lineterm="")))


def read(path: Path) -> str:
    """The text of a file, with every newline as a line feed and without a byte-order mark, as rows count it."""
    with tokenize.open(path) as file:
        return file.read()


def apply(text: str, edits: list[dict[str, Any]]) -> str:
    """The text with the edits, which do not overlap, applied from the end."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for edit in sorted(edits, key=lambda edit: tuple(_place(edit[key]) for key in _ENDS), reverse=True):
        begin, end = (starts[row - 1] + column - 1 for row, column in (_place(edit[key]) for key in _ENDS))
        text = text[:begin] + edit["content"] + text[end:]
    return text


_ENDS = ("location", "end_location")


def _place(location: dict[str, int]) -> tuple[int, int]:
    return location["row"], location["column"]


def safety(finding: dict[str, Any]) -> str:
    return finding["fix"]["applicability"] if finding["fix"] else "manual"


if __name__ == "__main__":
    main()
