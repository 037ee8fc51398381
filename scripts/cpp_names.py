"""What the headers of one release of torch declare: names in namespaces, macros, files, and what they say about being deprecated.

Nothing is preprocessed: a name counts as declared where any branch of the headers declares it.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from torchlift.view.cpp_text import cpp_code

_API = "torch/csrc/api/include/"
_GENERATED = re.compile(r"ATen/ops/.*(?:_native|_ops|_dispatch|_meta|_compositeimplicitautograd)\w*\.h$")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(.*)$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*$", re.MULTILINE)
_TOKEN = re.compile(r"\w+|::|\[\[|\]\]|\"\s*\"|\S")
_MARK = re.compile(r"C10_DEPRECATED\b|C10_DEPRECATED_MESSAGE\b|\[\[deprecated\b")
_SAID = re.compile(
    r"\[\[deprecated\(\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+)|C10_DEPRECATED_MESSAGE\(\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+)"
)
_STRING = re.compile(r"\"((?:[^\"\\]|\\.)*)\"")
_STANDARD = re.compile(r"#error C\+\+(\d+) or later compatible compiler is required to use ATen")
# What may stand before the name of a function and be followed by a bracket itself.
_NO_NAME = re.compile(
    r"[A-Z0-9_]+|__attribute__|__declspec|decltype|alignas|noexcept|requires|if|for|while|switch|return|sizeof|static_assert|operator|deprecated|throw|explicit|defined"
)
_PASTED = re.compile(r"\bTHC?(?:Tensor|Storage|Blas|Lapack|Vector)_\(\w+\)")
_KINDS = frozenset({"class", "struct", "union", "enum"})


@dataclass
class Headers:
    """One release.

    Attributes:
        files: what may stand behind `#include`.
        names: qualified names of functions, types and aliases in namespaces; names outside of any as they are.
        macros: every macro.
        deprecated: what is said of a deprecated name, also of members of classes; may be empty.
        plain: names, also of members, with a declaration that is not deprecated: another overload, or another release of the interface.
        pasted: functions whose names macros of TH and THC put together: `THTensor_(add)`.
        words: every word of code; a name whose last part is none of them is certainly not declared.
        standard: "17", where ATen/ATen.h refuses older ones; else empty.
    """

    files: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    macros: set[str] = field(default_factory=set)
    deprecated: dict[str, str] = field(default_factory=dict)
    plain: set[str] = field(default_factory=set)
    pasted: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    standard: str = ""

    def add(self, other: Headers) -> None:
        """Take over what one file declares."""
        self.names |= other.names
        self.macros |= other.macros
        self.plain |= other.plain
        self.pasted |= other.pasted
        self.words |= other.words
        for name, said in other.deprecated.items():
            self.deprecated[name] = said or self.deprecated.get(name, "")
        self.standard = other.standard or self.standard


def headers_in(folder: Path, known: dict[bytes, Headers]) -> Headers:
    """Read the headers of an unpacked wheel; `known` are files that were read before, most of which are in the next release, too."""
    found = Headers()
    for root in (folder / "torch/include", folder / "torch/lib/include"):
        for path in sorted(root.rglob("*")):
            relative = path.relative_to(root).as_posix()
            if path.suffix in {".h", ".hpp", ".cuh"}:
                found.files.add(relative)
                if relative.startswith(_API):
                    found.files.add(relative.removeprefix(_API))
                if not _GENERATED.search(relative):
                    data = path.read_bytes()
                    digest = hashlib.sha256(data).digest()
                    if digest not in known:
                        known[digest] = _read(data.decode("utf-8", "replace"))
                    found.add(known[digest])
    return found


def _read(text: str) -> Headers:
    found = Headers()
    if standard := _STANDARD.search(text):
        found.standard = standard[1]
    code, _ = cpp_code(text)
    found.words.update(map(sys.intern, re.findall(r"\w+", code)))
    for define in _DEFINE.finditer(code):
        found.macros.add(define[1])
    blank = _DIRECTIVE.sub(lambda match: " " * len(match[0]), code)
    found.pasted.update(map(sys.intern, _PASTED.findall(blank)))
    for name, place in _declarations(blank):
        start, is_member = place
        if not is_member:
            found.names.add(name)
        said = _deprecation(text, blank, start, name)
        if said is None:
            found.plain.add(name)
        else:
            found.deprecated[name] = said or found.deprecated.get(name, "")
    for alias in re.finditer(r"C10_DEFINE_DEPRECATED_USING\(\s*(\w+)", blank):
        found.deprecated.setdefault(f"at::{alias[1]}", "")
    return found


def _deprecation(text: str, code: str, start: int, name: str) -> str | None:
    """What the statement that begins at `start` says about being deprecated, up to the declared name; None if nothing."""
    statement = code[start : start + 1500]
    declared = re.search(rf"\b{re.escape(name.rpartition('::')[2])}\b(?!\s*::)", statement)
    head = statement[: declared.end() + 40] if declared else ""
    mark = _MARK.search(head)
    if mark is None or (declared and mark.start() > declared.start() and "using" not in head):
        return None
    said = _SAID.match(text, start + mark.start())
    return " ".join(re.sub(r"\s+", " ", part) for part in _STRING.findall(said[0])).strip() if said else ""


def _declarations(code: str) -> Iterator[tuple[str, tuple[int, bool]]]:
    """Qualified names with where their statement begins, and whether they are members of a class."""
    stack: list[tuple[str, str]] = []  # ("namespace" | "class" | "other", name)
    statement: list[str] = []
    start = 0
    depth = 0
    for token in _TOKEN.finditer(code):
        text = token[0]
        if not statement:
            start = token.start()
        if text in "([" or text == "[[":
            depth += 1
        elif text in ")]" or text == "]]":
            depth = max(0, depth - 1)
        opaque = any(kind == "other" for kind, _ in stack)
        if text == "{" and not depth:
            opened = ("other", "") if opaque else _opened(statement)
            if not opaque:
                yield from _named(statement, stack, start)
            stack.append(opened)
            statement = []
        elif text == "}" and not depth:
            if stack:
                stack.pop()
            statement = []
        elif text == ";" and not depth:
            if not opaque:
                yield from _named(statement, stack, start)
            statement = []
        elif text == ":" and statement and statement[-1] in {"public", "private", "protected"}:
            statement = []
        else:
            statement.append(text)


def _opened(statement: list[str]) -> tuple[str, str]:
    if "namespace" in statement[:2]:
        at = statement.index("namespace")
        return "namespace", "".join(statement[at + 1 :])
    if statement[:1] == ["extern"] and len(statement) == 2:
        return "namespace", ""
    name = _type_name(statement)
    return ("class", name) if name and "enum" not in statement else ("other", "")


def _type_name(statement: list[str]) -> str:
    """The name that a `class`, `struct`, `union` or `enum` at the level of the statement has."""
    words = _without_templates(statement)
    if not words or words[0] not in _KINDS | {"typedef"}:
        return ""
    if "(" in words and not re.fullmatch(r"[A-Z_0-9]+|alignas|__attribute__|deprecated", words[words.index("(") - 1]):
        return ""
    until = next((at for at, word in enumerate(words) if word in {":", "final", "<"} and at > 1), len(words))
    names = [word for word in words[1:until] if re.fullmatch(r"[A-Za-z_]\w*", word) and word not in _KINDS]
    return (
        names[-1] if names and not re.fullmatch(r"[A-Z0-9_]{4,}", names[-1]) else (names[-1] if len(names) == 1 else "")
    )


def _without_templates(statement: list[str]) -> list[str]:
    """The statement without `template <...>` before it and without attributes."""
    words = statement
    while words[:1] == ["template"] or words[:1] == ["[["]:
        opener, closer = ("<", ">") if words[0] == "template" else ("[[", "]]")
        depth = 0
        for at, word in enumerate(words):
            depth += (word == opener) - (word == closer)
            if word == closer and not depth:
                words = words[at + 1 :]
                break
        else:
            return []
    return words


def _named(statement: list[str], stack: list[tuple[str, str]], start: int) -> Iterator[tuple[str, tuple[int, bool]]]:
    """The name that a statement declares, if it is one of the kinds that are told apart."""
    words = _without_templates(statement)
    name = ""
    if words[:1] == ["using"] and len(words) > 2:
        alias = words[1:]
        if words[1] == "namespace":
            return
        name = alias[0] if "=" in alias else alias[-1]
    elif words[:1] == ["typedef"]:
        name = words[-1]
    else:
        name = _type_name(words) or _function_name(words)
    if re.fullmatch(r"[A-Za-z_]\w*", name):
        spaces = [part for _, part in stack if part]
        is_member = any(kind == "class" for kind, _ in stack)
        yield "::".join((*spaces, name)), (start, is_member)


def _function_name(words: list[str]) -> str:
    depth = 0
    for at, word in enumerate(words):
        if word == "(" and not depth and at and re.fullmatch(r"[A-Za-z_]\w*", words[at - 1]):
            before = words[at - 1]
            if not _NO_NAME.fullmatch(before) and (at < 2 or words[at - 2] != "::"):
                return before
        depth += (word in {"(", "["}) - (word in {")", "]"})
        if word in {"=", "operator"} and not depth:
            return ""
    return ""
