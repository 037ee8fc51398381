"""What is said of torch's headers holds against the headers that are installed."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from pkgutil import get_data

import torch

from torchlift.project import Project
from torchlift.rules.analysis.cpp.standard import STANDARDS
from torchlift.rules.analysis.project.torchscript_elsewhere import cpp_naming, cpp_runtime, foreign_readers
from torchlift.rules.cpp.facts.headers import header_table
from torchlift.rules.cpp.facts.successors import DEPRECATED_MACROS, HEADERS, NAMES
from torchlift.versions import TorchVersion
from torchlift.view.cpp_text import cpp_code

INCLUDE = Path(torch.__file__).parent / "include"
HERE = TorchVersion.parse(torch.__version__)


_WORD = re.compile(r"\w+")


@cache
def headers() -> tuple[tuple[str, frozenset[str]], ...]:
    """The installed ones, without those that are generated of the single operators, with all words in them."""
    found = []
    for folder in ("ATen", "c10", "torch"):
        for path in (INCLUDE / folder).rglob("*.[hc]*"):
            if not re.match(r"ATen/ops/\w+_(native|ops|dispatch)\.h", path.relative_to(INCLUDE).as_posix()):
                text = path.read_text(encoding="utf-8", errors="replace")
                found.append((text, frozenset(_WORD.findall(text))))
    return tuple(found)


def spoken(wanted: set[str]) -> set[str]:
    """Those of the words that stand in the code of a header."""
    left = set(wanted)
    for text, words in headers():
        if not words.isdisjoint(left):
            left.difference_update(_WORD.findall(cpp_code(text)[0]))
    return wanted - left


def test_no_name_that_is_gone_by_the_installed_release_is_a_word_of_its_headers() -> None:
    table = header_table()
    rows = {**table.names, **table.macros}
    gone = [name for name, release in rows.items() if release <= HERE]
    assert len(gone) > 500
    # Another name with that last part may have gone later: `torch::linalg::cholesky` in 2.6, `at::cholesky` in 2.14.
    later = {name.rpartition("::")[2] for name, release in rows.items() if release > HERE}
    assert spoken({name.rpartition("::")[2] for name in gone} - later) == set()


def test_no_file_that_is_gone_by_the_installed_release_is_there() -> None:
    gone = [path for path, release in header_table().files.items() if release <= HERE]
    assert len(gone) > 100
    roots = (INCLUDE, INCLUDE / "torch/csrc/api/include")
    assert [path for path in gone if any((root / path).is_file() for root in roots)] == []


def test_every_file_and_name_that_an_advice_sends_to_is_there() -> None:
    texts = [text for _, text in (*HEADERS, *NAMES)] + list(DEPRECATED_MACROS.values())
    files = {file for text in texts for file in re.findall(r"\b(?:ATen|c10|torch)/[\w/]+\.(?:h|cuh)\b", text)}
    names = {
        part
        for text in texts
        for code in re.findall(r"`([^`]+)`", text)
        for part in re.findall(r"(?:at|c10|torch)(?:::\w+)+", code)
    }
    assert len(files) > 5 and len(names) > 5
    assert [file for file in sorted(files) if not (INCLUDE / file).is_file()] == []
    last = {name.rpartition("::")[2] for name in names}
    assert last - spoken(last) == set()


def test_the_standards_are_those_of_the_table() -> None:
    data = get_data("torchlift.rules.cpp", "data/headers.json")
    assert data is not None
    table = {TorchVersion.parse(minor): standard for minor, standard in json.loads(data)["standard"].items()}
    for release, standard in table.items():
        assert standard == next((needed for since, needed in STANDARDS if release >= since), "14")
    first = {standard: min(release for release in table if table[release] == standard) for standard in table.values()}
    assert [(first[needed], needed) for _, needed in STANDARDS] == list(STANDARDS)


def test_a_reader_in_a_comment_or_a_string_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text('// torch::jit::load("net.pt")\nauto s = "torch::jit::load";\n')
    (tmp_path / "b.cpp").write_text('using namespace torch::jit;\nauto net = load("models/net.pt");\n')
    project = Project(tmp_path, [])
    assert [(reader.place, reader.file) for reader in foreign_readers(project)] == [("b.cpp:2", "models/net.pt")]
    assert cpp_runtime(project) == "b.cpp:2"


def test_a_file_that_cpp_names_in_a_variable_is_found_and_one_in_a_comment_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text('// reads layers.pt\nconst char* kPath = "models/layers.pt";\n')
    assert cpp_naming(Project(tmp_path, []), "out/layers.pt") == ("a.cpp:2",)
    assert cpp_naming(Project(tmp_path, []), "other.pt") == ()
