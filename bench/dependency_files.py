"""Edits in real dependency and build files: each must parse with the file's own parser and change nothing else.

    python bench/dependency_files.py FOLDER [--gpus H100] [--driver 580.95.05] [--list]

FOLDER holds projects, one a folder, as `fetch_corpus.py` lays them out. Real files that hold a CUDA index, a `+cuNNN`
pin, an architecture list or a Python bound are edited as they are; from every other real file that installs torch a
variant is made by giving its torch an index of an old CUDA, so that there is something to edit. Nothing is written to
FOLDER.

Needs packaging, PyYAML and dockerfile-parse beside torchlift.
"""

from __future__ import annotations

import argparse
import configparser
import difflib
import io
import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from dockerfile_parse import DockerfileParser
from packaging.requirements import Requirement

from torchlift.migrate.result import Mode
from torchlift.migrate.run import RunOptions, analyse
from torchlift.migrate.workspace.discover import discover
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Settings
from torchlift.versions import TorchVersion
from torchlift.view.text import TextKind, read_text, text_kind
from torchlift.wheels.described_machine import named_machine
from torchlift.wheels.machine import Machine

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

INDEX = "https://download.pytorch.org/whl/cu121"
# What an edit may exchange; everything else has to stay.
EXCHANGED = re.compile(
    r"(?<=[=\"' ])\d{1,2}\.\d(?:\+PTX)?(?:[; ]\d{1,2}\.\d(?:\+PTX)?)+(?=[\"' ]|$)|cu\d{2,3}|\+(?=cu|\b)"
    r"|(?<=[=<>~ \"'])\d+(?:\.\d+)*(?:\.\*)?(?:\+cu\d+)?"
)


@dataclass
class Edited:
    """One edited file."""

    name: str
    kind: TextKind
    made: bool
    lines: int
    problem: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gpus", default="H100")
    parser.add_argument("--driver", default="580.95.05")
    parser.add_argument("--list", action="store_true", help="print the changed lines of every file")
    given = parser.parse_args()
    machine = named_machine(given.gpus.split(","), given.driver)
    found: list[Edited] = []
    found_kinds: Counter[str] = Counter()
    for project in sorted(path for path in given.folder.iterdir() if path.is_dir()):
        texts = discover([project], project, respect_gitignore=False).texts
        for name in texts:
            data = (project / name).read_bytes()
            if b"torch" not in data:
                continue
            kind = text_kind(name, data[:128])
            if kind is None or kind == "markdown":
                continue
            found_kinds[kind] += 1
            edited = edit(f"{project.name}/{name}", name, data, machine, made=False, shown=given.list)
            if edited is None:
                variant = with_old_index(kind, data)
                if variant is not None:
                    edited = edit(f"{project.name}/{name}", name, variant, machine, made=True, shown=given.list)
            if edited is not None:
                found.append(edited)
    report(found, found_kinds)


def with_old_index(kind: TextKind, data: bytes) -> bytes | None:
    """The file with its torch taken from an index of CUDA 12.1; None where no place for that is found."""
    text = read_text(data).text
    if "download.pytorch.org" in text:
        return None
    newline = "\r\n" if "\r\n" in text else "\n"
    if kind == "requirements" and re.search(r"^torch\b(?!-)", text, re.MULTILINE):
        return f"--extra-index-url {INDEX}{newline}{text}".encode()
    if kind in {"dockerfile", "shell", "yaml", "makefile"}:
        changed = re.sub(r"(\bpip3? install (?=[^\n]*\btorch\b))", rf"\1--index-url {INDEX} ", text, count=1)
        return changed.encode() if changed != text else None
    if kind == "toml" and "torch" in text:
        return (
            f'{text}{newline}[[tool.uv.index]]{newline}name = "bench-cu121"{newline}url = "{INDEX}"{newline}'.encode()
        )
    return None


def edit(label: str, name: str, data: bytes, machine: Machine, *, made: bool, shown: bool) -> Edited | None:
    """Apply every fix, also those that need review, to one file on its own; None where nothing changes."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        codes = frozenset(code for code in all_rules() if code.startswith("TL30"))
        settings = Settings(min_torch=TorchVersion(2, 0), machine=machine)
        result = analyse(RunOptions(Path(scratch), (), Mode.DIFF, codes, True, settings, texts=(name,)))
        outcome = next((outcome for outcome in result.outcomes if outcome.new_text is not None), None)
        kind = text_kind(name, data[:128])
        assert kind is not None
        if result.failures:
            return Edited(label, kind, made, 0, result.failures[0].reason)
        if outcome is None or outcome.new_text is None:
            return None
        old, new = outcome.source.text, outcome.new_text
        lines = changed_lines(old, new)
        problem = same_but_for_pins(lines) or reparsed(kind, name, old, new)
        path.write_bytes(outcome.shown.to_bytes())
        again = analyse(RunOptions(Path(scratch), (), Mode.DIFF, codes, True, settings, texts=(name,)))
        if any(other.new_text is not None for other in again.outcomes):
            problem = problem or "a second run changes it again"
    if shown:
        print(f"{label}{' (variant)' if made else ''}")
        for before, after in lines:
            print(f"  - {before.strip()[:180]}\n  + {after.strip()[:180]}")
    return Edited(label, kind, made, len(lines), problem)


def changed_lines(old: str, new: str) -> list[tuple[str, str]]:
    before, after = old.splitlines(), new.splitlines()
    if len(before) != len(after):
        return [("", "".join(difflib.ndiff(before, after)))]
    return [(first, second) for first, second in zip(before, after, strict=True) if first != second]


def same_but_for_pins(lines: list[tuple[str, str]]) -> str:
    for before, after in lines:
        if EXCHANGED.sub("", before) != EXCHANGED.sub("", after):
            return f"more than pins changed: {before.strip()!r} -> {after.strip()!r}"
    return ""


def reparsed(kind: TextKind, name: str, old: str, new: str) -> str:
    """What the file's own parser finds wrong; empty where both texts have the same shape."""
    try:
        first, second = shape(kind, name, old), shape(kind, name, new)
    except Exception as error:
        try:
            shape(kind, name, old)
        except Exception:
            return ""  # a template, which its parser never took
        return f"{type(error).__name__}: {error}"
    return "" if first == second else "another shape"


def shape(kind: TextKind, name: str, text: str) -> Any:
    """What has to stay the same, as the file's own parser sees it."""
    if kind == "requirements":
        return [requirement_shape(line) for line in logical_lines(text)]
    if kind == "toml":
        return tree(tomllib.loads(text.replace("\r\n", "\n")))
    if kind == "yaml":
        return [tree(document) for document in yaml.load_all(text, Loader=yaml.BaseLoader)]
    if kind == "dockerfile":
        parser = DockerfileParser(fileobj=io.BytesIO(text.encode()))
        # It knows no here-documents and takes their lines for instructions.
        return [
            (item["instruction"].partition("=")[0], item["startline"], item["endline"]) for item in parser.structure
        ]
    if kind == "ini":
        parsed = configparser.RawConfigParser(strict=False, allow_no_value=True)
        parsed.read_string(text)
        return [(section, parsed.options(section)) for section in parsed.sections()]
    return [len(line.split()) for line in text.splitlines()]


def logical_lines(text: str) -> list[str]:
    joined = re.sub(r"\\\r?\n", " ", text)
    return [line for raw in joined.splitlines() if (line := re.sub(r"(^|\s)#.*", "", raw).strip())]


def requirement_shape(line: str) -> Any:
    if line.startswith(("-", ".", "/")) or "://" in line:
        return line.split("=", maxsplit=1)[0].split(maxsplit=1)[0]
    found = Requirement(line.split(" --", maxsplit=1)[0])
    return found.name, sorted(found.extras), str(found.marker), [item.operator for item in found.specifier]


def tree(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: tree(item) for key, item in value.items()}
    if isinstance(value, list):
        return [tree(item) for item in value]
    return EXCHANGED.sub("", value) if isinstance(value, str) else value


def report(found: list[Edited], seen: Counter[str]) -> None:
    print("| kind | files with torch | edited as they are | edited variants | lines | wrong |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind in sorted({*seen}):
        of_kind = [item for item in found if item.kind == kind]
        real = [item for item in of_kind if not item.made]
        wrong = sum(bool(item.problem) for item in of_kind)
        lines = sum(item.lines for item in of_kind)
        print(f"| {kind} | {seen[kind]} | {len(real)} | {len(of_kind) - len(real)} | {lines} | {wrong} |")
    real = [item for item in found if not item.made]
    wrong = sum(bool(item.problem) for item in found)
    print(
        f"| all | {sum(seen.values())} | {len(real)} | {len(found) - len(real)} | {sum(item.lines for item in found)} | {wrong} |"
    )
    for item in found:
        if item.problem:
            print(f"WRONG {item.name}: {item.problem}")


if __name__ == "__main__":
    main()
