"""How soon findings follow a key: `python bench/editing.py FOLDER FILE... [--keys 50] [--json RESULTS]`.

A real editor (tests/support/editor.py) opens each FILE of FOLDER, then gives it another text KEYS times: a line with a name that
torch gave up, written further and further down, and taken away again. What is measured is the time from the message with the new
text to the message with its findings, the pause included in which the server waits for another key, and the CPU time of the server
for each key, which other work on the machine hardly changes (Linux). The first look, which reads the project, is told apart.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/support"))

from editor import Editor, edited


def cpu_seconds(editor: Editor) -> float:
    """What the server has spent until now, in steps of a tick."""
    server = editor.client._server
    assert server is not None
    fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure, and print one line a file."""
    parser = argparse.ArgumentParser(description="Time from a key to its findings.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", nargs="+", help="relative to FOLDER")
    parser.add_argument("--keys", type=int, default=50)
    parser.add_argument("--json", type=Path, metavar="RESULTS")
    given = parser.parse_args()
    folder = given.folder.resolve()

    async def scene(editor: Editor) -> dict[str, dict[str, float]]:
        told = {}
        for name in given.files:
            path = folder / name
            text = path.read_text()
            begun = time.perf_counter()
            before = await editor.open(path)
            first = time.perf_counter() - begun
            lines = text.splitlines(keepends=True)
            top = [number for number, line in enumerate(lines) if line.strip() and not line[0].isspace()]
            took = []
            spent = cpu_seconds(editor)
            for key in range(given.keys):
                at = top[-1 - key * len(top) // (2 * given.keys)]
                new = "".join((*lines[:at], "import torch; torch.ger(1, 2)\n", *lines[at:])) if key % 2 else text
                begun = time.perf_counter()
                found = await editor.type(path, new)
                took.append(time.perf_counter() - begun)
                assert len(found) in {len(before), len(before) + 1}
            quantiles = statistics.quantiles(took, n=20)
            told[name] = {
                "bytes": len(text.encode()), "first": first, "median": statistics.median(took),
                "of 20 the slowest": quantiles[-1], "slowest": max(took), "CPU each": (cpu_seconds(editor) - spent) / given.keys,
            }  # fmt: skip
            print(name, {key: round(value, 3) for key, value in told[name].items()}, flush=True)
            editor.close(path)
        return told

    told = edited(scene, folder)
    if given.json:
        given.json.write_text(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
