"""Draw 30 rows of the API table per pair of releases and hold them against the two wheels, without the extractor.

    python bench/api_rows_sample.py --cache FOLDER --import PYTHON... > rows.txt
    python bench/api_rows_sample.py --cache FOLDER --package torchvision --of-all 40

With `--of-all` the sample is drawn from all pairs of a package together. FOLDER is where scripts/api_table.py kept the sources. Each row is looked up as text: is the name written in the file of
its module in the one wheel and not in the other, is the parameter between the brackets of the `def`, does the function
say that it is deprecated. Where an installed torch of the older release, or of the newer or a later one, is named it is
asked by import as well. What neither settles is printed with `open`, to be read by eye. The seed is fixed: the same table
gives the same sample.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from api_importable import importable

DATA = Path(__file__).resolve().parent.parent / "rules" / "api" / "data"
PER_PAIR = 30
SEED = 7


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--import", dest="pythons", action="append", default=[])
    parser.add_argument("--seed", type=int, default=SEED, help=f"which sample to draw; default: {SEED}")
    parser.add_argument("--package", default="torch", help="torch or one of its companions; default: torch")
    parser.add_argument("--of-all", type=int, help="draw so many rows from all pairs of releases together")
    chosen = parser.parse_args()
    wheels = _content("gone", chosen.package)["wheels"]
    wheels = wheels if chosen.package == "torch" else wheels[chosen.package]
    folders = {minor: chosen.cache / name.removesuffix(".whl") for minor, name in wheels.items()}
    sample = {new: _drawn(chosen.package, new, chosen.seed) for _, new in pairwise(folders)}
    if chosen.of_all:
        every = [(new, row) for new, rows in sample.items() for row in rows]
        kept = random.Random(chosen.seed).sample(every, min(chosen.of_all, len(every)))
        sample = {new: [row for release, row in kept if release == new] for new in sample}
    names = sorted(
        {name for rows in sample.values() for kind, row in rows if kind in {"gone", "added"} for name in [row[0]]}
    )
    builds = {}
    for python in chosen.pythons:
        version, answers = importable(python, names)
        builds[".".join(version.split(".")[:2])] = answers
    total: Counter[str] = Counter()
    for old, new in pairwise(folders):
        counts: Counter[str] = Counter()
        for kind, row in sample[new]:
            verdict = _verdict(kind, row, old, new, folders, builds)
            counts[verdict.partition(":")[0]] += 1
            counts[kind] += 1
            print(f"{new:>5} {verdict:40} {kind:10} {json.dumps(row)[:300]}")
        total += counts
        print(f"{old} -> {new}: {dict(counts)}", file=sys.stderr)
    print(dict(total), file=sys.stderr)
    return 0


def _drawn(package: str, new: str, seed: int) -> list[tuple[str, list[Any]]]:
    rows: list[tuple[str, list[Any]]] = []
    rows += [("gone", row) for row in _rows("gone", package) if row[2] == new and row[1]]
    rows += [("deprecated", row) for row in _rows("deprecated", package) if row[1] == new]
    rows += [("argument", row) for row in _rows("arguments", package) if row[1] == new]
    rows += [
        ("added", [f"{module}.{name}"])
        for release, module, names in _rows("added", package)
        if release == new
        for name in names.split()
    ]
    chance = random.Random(f"{seed} {new}")
    by_kind = {kind: [row for row in rows if row[0] == kind] for kind in ("gone", "deprecated", "argument", "added")}
    picked: list[tuple[str, list[Any]]] = []
    # A third of the sample are names that are gone, which is what rules act on; the rest is drawn from all others.
    picked += chance.sample(by_kind["gone"], min(10, len(by_kind["gone"])))
    others = [row for kind in ("deprecated", "argument", "added") for row in by_kind[kind]]
    picked += chance.sample(others, min(PER_PAIR - len(picked), len(others)))
    left = [row for row in by_kind["gone"] if row not in picked]
    picked += chance.sample(left, min(PER_PAIR - len(picked), len(left)))
    return picked


def _rows(name: str, package: str) -> list[list[Any]]:
    """The rows about names of `package`."""
    found: list[list[Any]] = _content(name, package)["rows"] if package == "torch" or name != "added" else []
    return [
        row
        for row in found
        if package == "torch" or (row[0] if isinstance(row[0], str) else row[0][0]).partition(".")[0] == package
    ]


def _content(name: str, package: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DATA / f"{'' if package == 'torch' else 'companions_'}{name}.json").read_text())
    return found


def _verdict(
    kind: str, row: list[Any], old: str, new: str, folders: dict[str, Path], builds: dict[str, dict[str, str]]
) -> str:
    if kind in {"gone", "added"}:
        return _presence(kind, row, old, new, folders, builds)
    if kind == "deprecated":
        return _says_so(row, old, new, folders)
    return _takes(row, old, new, folders)


# Names


def _presence(
    kind: str, row: list[Any], old: str, new: str, folders: dict[str, Path], builds: dict[str, dict[str, str]]
) -> str:
    name = row[0]
    if kind == "gone" and row[3] == "raises":
        return "source" if "raise" in _around(folders[new], row[7], 30) else "open: does not raise there"
    had, has = (_written(folders[old], name), _written(folders[new], name))
    wanted = (True, False) if kind == "gone" else (False, True)
    expected = {old: wanted[0]}
    # No name that is gone comes back; one that was added may have gone since.
    later = {release for release in builds if _order(release) > _order(new) and kind == "gone"}
    expected |= {release: wanted[1] for release in builds if release == new or release in later}
    asked = [
        (builds[release][name], "yes" if want else "no") for release, want in expected.items() if release in builds
    ]
    if any(answer in {"yes", "no"} and answer != want for answer, want in asked):
        return f"WRONG by import: {asked}"
    imported = [answer == want for answer, want in asked]
    if (had, has) == wanted:
        return "import and source" if any(imported) else "source"
    if old in builds and new in builds and all(imported):
        return "import"
    return f"open: {old} {'has' if had else 'lacks'} it, {new} {'has' if has else 'lacks'} it"


def _order(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


def _written(folder: Path, name: str) -> bool:
    """Whether the source of the module writes the name, or of the class in it, in a way that binds it."""
    parts = name.split(".")
    if _file(folder, parts) is not None:
        return True
    for end in range(len(parts) - 1, 0, -1):
        file = _file(folder, parts[:end])
        if file is not None:
            word = parts[-1]
            text = file.read_text(encoding="utf-8")
            text = re.sub(r'("""|\'\'\').*?\1', "", text, flags=re.DOTALL)
            if len(parts) - end == 2:
                inside = re.search(rf"^class {parts[-2]}\b.*?(?=^\S)", text + "\nend", re.DOTALL | re.MULTILINE)
                if inside is None:
                    return False
                return (
                    re.search(rf"^ +(?:async )?(?:def|class) {word}\b|^    {word}\s*[:=]", inside[0], re.MULTILINE)
                    is not None
                )
            binds = rf"^\s*(?:async )?(?:def|class) {word}\b|^\s*{word}\s*(?::[^=\n]*)?=[^=]|^\s*(?:\w+, )+{word}\b.*=|\bimport\b[^\n(]*\b{word}\b|import \([^)]*\b{word}\b[^)]*\)"
            if re.search(binds, text, re.MULTILINE):
                return True
            stub = file.with_suffix(".pyi")
            if name.startswith("torch.") and len(parts) == 2:
                stub = folder / "torch/_C/_VariableFunctions.pyi"
            return (
                stub.is_file()
                and re.search(rf"^def {word}\b", stub.read_text(encoding="utf-8"), re.MULTILINE) is not None
            )
    return False


def _file(folder: Path, parts: list[str]) -> Path | None:
    base = folder.joinpath(*parts)
    return next((file for file in (base / "__init__.py", base.with_suffix(".py")) if file.is_file()), None)


# Definitions


def _around(folder: Path, evidence: str, lines: int) -> str:
    place = re.match(r"([\w/.]+):(\d+)", evidence)
    if place is None or not (folder / place[1]).is_file():
        return ""
    text = (folder / place[1]).read_text(encoding="utf-8").split("\n")
    return "\n".join(text[max(0, int(place[2]) - 3) : int(place[2]) + lines])


def _says_so(row: list[Any], old: str, new: str, folders: dict[str, Path]) -> str:
    """Whether the new wheel's file calls the name deprecated, and the old one's does not."""
    word = row[0][0].rpartition(".")[2]
    file = re.match(r"([\w/.]+):", row[3])
    assert file is not None
    found = [_near(folders[release] / file[1], word) for release in (old, new)]
    if found == [False, True]:
        return "source"
    return f"open: near `{word}` {old} {'says' if found[0] else 'does not say'} so, {new} {'says' if found[1] else 'does not say'} so"


def _near(file: Path, word: str) -> bool:
    if not file.is_file():
        return False
    lines = file.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines):
        if re.search(rf"^\s*(?:def|class) {word}\b|^{word} = ", line):
            near = "\n".join(lines[max(0, number - 8) : number + 40])
            if re.search(r"deprecat|Future\w*Warning", near, re.IGNORECASE):
                return True
    return False


def _takes(row: list[Any], old: str, new: str, folders: dict[str, Path]) -> str:
    names, _, change, parameter, before, after, evidence = row
    was, _, now = parameter.partition(" -> ")
    file = re.match(r"([\w/.]+):(\d+)", evidence)
    assert file is not None
    word = names[0].rpartition(".")[2]
    heads = [_heads(folders[release] / file[1], word) for release in (old, new)]
    if not all(heads):
        return "open: no such definition in the file of one of the two"
    own = _around(folders[new], evidence, 60)
    new_head = heads[1] if len(heads[1]) == 1 else [head for head in heads[1] if head[:60] in own] or heads[1]
    has = [any(_names(head, name) for head in some) for some, name in ((heads[0], was), (new_head, now or was))]
    expected = {"added": [False, True], "added-required": [False, True], "removed": [True, False]}.get(
        change, [True, True]
    )
    if has != expected:
        return f"open: `{was}` {has}"
    if change == "default":
        texts = ["".join("".join(some).split()) for some in (heads[0], new_head)]
        if "".join(str(before).split()) not in texts[0] or "".join(str(after).split()) not in texts[1]:
            return "open: default"
    return "source"


def _heads(file: Path, word: str) -> list[str]:
    """The parameter lists of every `def word(`, and of the `__init__` of every `class word`."""
    if not file.is_file():
        return []
    text = re.sub(r"#[^\n]*", "", file.read_text(encoding="utf-8"))
    starts = [match.end() for match in re.finditer(rf"\bdef {word}\(", text)]
    for found in re.finditer(rf"^( *)class {word}\b", text, re.MULTILINE):
        inside = re.compile(rf"\n{found[1]}\S").search(text, found.end() + 1)
        part = text[found.end() : inside.start() if inside else len(text)]
        made = re.search(r"\bdef __(?:init|new)__\(", part)
        if made:
            starts.append(found.end() + made.end())
        else:
            return [part[:2500]]  # a dataclass: its fields
    return [_bracketed(text, start) for start in starts]


def _bracketed(text: str, start: int) -> str:
    depth = 1
    for index in range(start, len(text)):
        depth += (text[index] in "([{") - (text[index] in ")]}")
        if depth == 0:
            return text[start:index]
    return ""


def _names(head: str, parameter: str) -> bool:
    return re.search(rf"(?:^|[\s,*(]){parameter}\s*(?=[:=,\n]|$)", head) is not None


if __name__ == "__main__":
    sys.exit(main())
