"""Count C++ and CMake that an upgrade of torch concerns, without torchlift's help, and list what it says nothing of.

    python bench/cpp_sites.py FOLDER ... [--torchlift "COMMAND"] [--list]

C++ is read by tree-sitter's grammar, so that comments and strings are no code: qualified names below `torch::jit`, calls of macros
that are gone or deprecated, files that are included, `AT_DISPATCH_...` with `.type()`. CMake is read line by line: standards, the ABI.
Which names are gone is asked of nobody: `--headers FOLDER` is the `torch/include` of a release, and a name of a macro or an included
file is gone where no file there has it.

Needs: tree-sitter, tree-sitter-cpp (`pip install tree-sitter tree-sitter-cpp`).
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import tree_sitter_cpp
from scratch import as_repository
from torchlift_command import DEFAULT, migrate
from tree_sitter import Language, Node, Parser

SUFFIXES = frozenset(".c .cc .cpp .cxx .cu .cuh .h .hh .hpp .hxx .hip .inl .ipp .mm .tpp".split())
# Names that say torch, by what old extensions use.
MACROS = re.compile(rb"\b(?:AT|TORCH|C10)_[A-Z][A-Z_]+\b|\bTHC?(?:_[A-Z]\w+|C?[A-Z]?[a-z]\w+)\b")
BY_THE_BUILD = frozenset({"TORCH_EXTENSION_NAME", "TORCH_API_INCLUDE_EXTENSION_H"})
DEPRECATED = frozenset({"AT_ASSERT", "AT_ASSERTM", "AT_ERROR"})
TORCH_INCLUDE = re.compile(r"(?:torch|ATen|c10|TH|THC|THCUNN|caffe2)/")
BOXED = re.compile(
    r"torch::jit::(?:Stack|push|pop|push_one|drop|peek|last|pack|tracer|RegisterOperators|Operator|FunctionSchema)\b"
)
CMAKE = {
    "standard": re.compile(
        r"(?:CXX|CUDA)_STANDARD[\s\"]+(?:11|14|17)\b|c(?:xx|uda)_std_(?:11|14|17)\b|-std=(?:c|gnu)\+\+(?:11|14|17)\b"
    ),
    "abi": re.compile(r"_GLIBCXX_USE_CXX11_ABI\s*=\s*0"),
}


def main(options: list[str] | None = None) -> int:
    """Count and compare; 0 always: what is missed is for a reader."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--headers", type=Path, required=True, help="torch/include of the release that is moved to")
    parser.add_argument("--torchlift", default=DEFAULT, help="how to call it")
    parser.add_argument("--list", action="store_true", help="print every site without a finding")
    chosen = parser.parse_args(options)
    known = {path.relative_to(chosen.headers).as_posix() for path in chosen.headers.rglob("*.*h*")}
    known |= {path.removeprefix("torch/csrc/api/include/") for path in known}
    words: set[bytes] = set()
    for path in known:
        file = chosen.headers / path
        if file.is_file() and not path.startswith("ATen/ops/"):
            words.update(re.findall(rb"\w+", file.read_bytes()))
    print("| project | kind | sites | found | not |\n| --- | --- | --: | --: | --: |")
    for folder in chosen.folders:
        sites = set(_sites(folder, known, words))
        found = _findings(folder, chosen.torchlift)
        kinds = Counter(kind for kind, _, _, _ in sites)
        missed = sorted(site for site in sites if not _is_found(site, found))
        for kind in sorted(kinds):
            not_found = sum(site[0] == kind for site in missed)
            print(f"| {folder.name} | {kind} | {kinds[kind]} | {kinds[kind] - not_found} | {not_found} |")
        if chosen.list:
            for kind, path, line, text in missed:
                print(f"    {kind} {path}:{line} {text}")
    return 0


def _is_found(site: tuple[str, str, int, str], found: dict[str, set[tuple[str, int]]]) -> bool:
    kind, path, line, _ = site
    codes = {code for code, _ in found.get(path, ())}
    told_once = {"torch::jit": "TL601", "deprecated macro": "TL603", "gone?": "TL602"}  # a file
    if kind in told_once:
        return told_once[kind] in codes
    return any(at == line for _, at in found.get(path, ()))


def _findings(folder: Path, command: str) -> dict[str, set[tuple[str, int]]]:
    with tempfile.TemporaryDirectory(prefix="torchlift-cpp-") as scratch:
        repository = as_repository(folder, Path(scratch) / folder.name)
        run = migrate(command, repository, "--check", "--target", "2.15", "--select", "TL6", "--output-format", "json")
    found: dict[str, set[tuple[str, int]]] = {}
    for item in run.report["findings"]:
        lines = range(item["location"]["row"], item["end_location"]["row"] + 1)
        path = item["filename"].removeprefix(f"{folder.name}/")
        found.setdefault(path, set()).update((item["code"], line) for line in lines)
    return found


def _sites(folder: Path, known: set[str], words: set[bytes]) -> Iterator[tuple[str, str, int, str]]:
    parser = Parser(Language(tree_sitter_cpp.language()))
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder).as_posix()
        if not path.is_file() or path.is_symlink() or path.stat().st_size > 1_000_000:
            continue
        if path.suffix in SUFFIXES:
            data = path.read_bytes()
            if re.search(rb"torch|ATen|c10|THC", data):
                tree = parser.parse(data)
                for kind, line, text in _in_cpp(tree.root_node, data, known, words):
                    yield kind, relative, line, text
        elif path.name == "CMakeLists.txt" or path.suffix == ".cmake":
            text = path.read_text(encoding="utf-8", errors="replace")
            for number, line in enumerate(text.splitlines(), 1):
                for kind, pattern in CMAKE.items():
                    if "find_package(Torch" in text.replace("( ", "(") and pattern.search(line.partition("#")[0]):
                        yield f"CMake {kind}", relative, number, line.strip()


def _in_cpp(root: Node, data: bytes, known: set[str], words: set[bytes]) -> Iterator[tuple[str, int, str]]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        text = data[node.start_byte : node.end_byte]
        if node.type in {"comment", "string_literal", "raw_string_literal", "char_literal"}:
            continue
        if node.type == "preproc_include":
            named = re.search(r"[<\"]([^>\"]+)[>\"]", text.decode("utf-8", "replace"))
            if named and TORCH_INCLUDE.match(named[1]) and named[1] not in known:
                yield "include", node.start_point[0] + 1, named[1]
            continue
        if node.type in {"preproc_arg", "preproc_def"}:  # the text of macros is not parsed
            yield from _in_text(node, re.sub(rb'//[^\n]*|"(?:[^"\\]|\\.)*"', b"", text), words)
            if node.type == "preproc_arg":
                continue
        if node.type == "qualified_identifier":
            name = re.sub(r"\s", "", text.decode("utf-8", "replace")).removeprefix("::")
            if name.startswith("torch::jit::") and not BOXED.match(name):
                yield "torch::jit", node.start_point[0] + 1, name
        if node.type in {"identifier", "type_identifier"}:
            yield from _in_text(node, text, words)
        if node.type == "call_expression" and text.startswith(b"AT_DISPATCH_"):
            head = text.partition(b"[")[0]
            if re.search(rb"(?:\.|->)type\(\)\s*,", head):
                yield "dispatch by type()", node.start_point[0] + 1, head.decode("utf-8", "replace")[:60]
        waiting.extend(node.children)


def _in_text(node: Node, text: bytes, words: set[bytes]) -> Iterator[tuple[str, int, str]]:
    for match in MACROS.finditer(text):
        name = match[0].decode()
        line = node.start_point[0] + 1 + text.count(b"\n", 0, match.start())
        if name in DEPRECATED:
            yield "deprecated macro", line, name
        elif match[0] not in words and name not in BY_THE_BUILD:
            yield "gone?", line, name


if __name__ == "__main__":
    sys.exit(main())
