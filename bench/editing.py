"""How soon findings follow a key: `python bench/editing.py FOLDER FILE... [--keys 50] [--json RESULTS]`.

A real editor (tests/support/editor.py) opens each FILE of FOLDER, then gives it another text KEYS times: a line with a name that
torch gave up, written further and further down, and taken away again. What is measured is the time from the message with the new
text to the message with its findings, the pause included in which the server waits for another key, and the CPU time of the server
for each key, which other work on the machine hardly changes (Linux). The first look, which reads the project, is told apart.
With `--roots` each key adds or takes a call of `torch.jit.script` on a class of the file, and CPU time is told until the first findings, too,
which are those of all rules that answer at once.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/support"))

import editor as editors
from editor import Editor, edited

editors.PATIENCE = 600.0  # a large project is read first


def cpu_seconds() -> float:
    """What the server, the one child of this process, has spent until now, in steps of a tick."""
    (server,) = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    fields = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def class_of(text: str) -> str:
    """The name of the class in the middle of a file."""
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    return names[len(names) // 2] if names else "object"


def main() -> None:
    """Measure, and print one line a file."""
    parser = argparse.ArgumentParser(description="Time from a key to its findings.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", nargs="+", help="relative to FOLDER")
    parser.add_argument("--keys", type=int, default=50)
    parser.add_argument("--roots", action="store_true", help="keys that add or take a root of TorchScript")
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
            took: list[float] = []
            firsts: list[float] = []
            news: list[float] = []
            editor.on_news = lambda news=news: news.append(cpu_seconds())
            root = f"\n\nimport torch\n\n_scripted = torch.jit.script({class_of(text)}())\n"
            spent = cpu_seconds()
            for key in range(given.keys):
                at = top[-1 - key * len(top) // (2 * given.keys)]
                new = "".join((*lines[:at], "import torch; torch.ger(1, 2)\n", *lines[at:])) if key % 2 else text
                if given.roots:
                    new = text + root if key % 2 else text
                news.clear()
                begun, used = time.perf_counter(), cpu_seconds()
                found = await editor.type(path, new)
                took.append(time.perf_counter() - begun)
                firsts.append(news[0] - used)
                assert given.roots or len(found) in {len(before), len(before) + 1}
            quantiles = statistics.quantiles(took, n=20)
            told[name] = {
                "bytes": len(text.encode()), "first": first, "median": statistics.median(took),
                "of 20 the slowest": quantiles[-1], "slowest": max(took), "CPU each": (cpu_seconds() - spent) / given.keys,
                "CPU until the first": statistics.median(firsts), "the most": max(firsts),
            }  # fmt: skip
            print(name, {key: round(value, 3) for key, value in told[name].items()}, flush=True)
            editor.close(path)
        return told

    told = edited(scene, folder, apart=True)
    if given.json:
        given.json.write_text(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
