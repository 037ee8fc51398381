"""What lies beside modules that nobody wrote: requirements, images, scripts and C++ of examples, modules of one example that
name each other, and notebooks, all of them changed at random."""

from __future__ import annotations

import json
import random
from functools import cache
from itertools import pairwise

from mutated_sources import CHANGES, encoded, mutated, parses, seeds

from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Bad, Ok
from torchlift.wheels.machine import Machine

TEXT_CHANGES = tuple(
    change
    for change in CHANGES
    if change.__name__ in {"_drop", "_double", "_exchange", "_rename", "_remark", "_tabs", "_cut"}
)


@cache
def _examples() -> tuple[Bad | Ok, ...]:
    return tuple(example for _, rule in sorted(all_rules().items()) for example in rule.examples)


@cache
def _of_texts() -> tuple[Bad | Ok, ...]:
    return tuple(example for example in _examples() if not example.path.endswith(".py"))


@cache
def _of_several_files() -> tuple[Bad | Ok, ...]:
    return tuple(example for example in _examples() if example.files)


def machine(chance: random.Random) -> Machine | None:
    """One of those that examples are installed on, half of the time."""
    named = [example.machine for example in _examples() if example.machine]
    return chance.choice(named) if chance.random() < 0.5 else None


def neighbours(chance: random.Random) -> dict[str, bytes]:
    """Further files of a project, by path."""
    files: dict[str, bytes] = {}
    for example in chance.sample(_of_texts(), chance.randrange(3)):
        files |= _changed(example, chance)
    if chance.random() < 0.5:
        files |= _changed(chance.choice(_of_several_files()), chance)
    if chance.random() < 0.3:
        files["n.ipynb"] = _notebook(chance)
    return files


def _changed(example: Bad | Ok, chance: random.Random) -> dict[str, bytes]:
    """The files of an example with up to three changes each; Python among them parses."""
    code = example.before if isinstance(example, Bad) else example.code
    files: dict[str, bytes] = {}
    for path, text in ((example.path, code), *example.files):
        python = path.endswith(".py")
        lines = text.splitlines()
        for _ in range(chance.randrange(4)):
            chance.choice(CHANGES if python else TEXT_CHANGES)(lines, chance)
        data = encoded(lines, chance)
        files[path] = text.encode() if python and not parses(data) else data
    return files


_MAGICS = (
    "%matplotlib inline",
    "!pip install torch==1.13.1",
    "!pip install torch==2.1.0+cu118 --extra-index-url https://download.pytorch.org/whl/cu118",
    "%%bash\npip install torchvision==0.14",
    "x = torch\nno python",
)


def _notebook(chance: random.Random) -> bytes:
    """A module cut into cells, with commands between them, in one of the forms that programs write."""
    lines = mutated(chance).decode("utf-8", "surrogatepass").removeprefix("\ufeff").splitlines() or ["import torch"]
    cuts = sorted({0, len(lines), *(chance.randrange(len(lines) + 1) for _ in range(3))})
    texts = ["\n".join(lines[start:end]) for start, end in pairwise(cuts)]
    texts.insert(chance.randrange(len(texts) + 1), chance.choice(_MAGICS))
    texts.append(chance.choice(seeds()))
    cells: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": text.splitlines(True) if chance.random() < 0.8 else text,
        }
        for text in texts
    ]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=chance.choice([1, None]), ensure_ascii=chance.random() < 0.5).encode(
        "utf-8", "replace"
    )
