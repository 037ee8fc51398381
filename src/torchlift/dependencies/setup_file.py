"""What `setup.py` asks for, as far as it stands there: literals, names for them, sums and appended items.

Nothing is executed. What only some runs add, or only a call could tell, is taken as wanted under a condition.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from torchlift.dependencies.grammar import read_pin, read_versions
from torchlift.dependencies.pin_set import Include, PinSet
from torchlift.source import SourceText, Span
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

_LISTS = frozenset({"install_requires", "setup_requires", "tests_require", "extras_require", "python_requires"})

# Longer texts are no requirements; `a = b + b` for every letter would otherwise fill the memory.
_LONGEST = 100_000


def setup_calls(tree: ast.Module) -> Iterator[ast.Call]:
    """Every call of something called `setup`."""
    for node in walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            if last_name(function) == "setup":
                yield node


def read_setup(tree: ast.Module, source: SourceText, call: ast.Call) -> PinSet:
    """The requirements of a call of `setup`, one group for each list, and the Pythons that it asks for."""
    found = PinSet(Span(0, len(source.text)))
    texts = _texts(call, _assigned(tree))
    for text in sorted(texts, key=lambda text: (text.node.lineno, text.node.col_offset, text.group)):
        _take(found, source, text)
    return found


def string_place(source: SourceText, node: ast.AST) -> Span | None:
    """Where the content of a string stands; None unless it is written as it is, on one line."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or "\n" in node.value:
        return None
    span = source.span(node)
    if source.slice(span) not in {f"'{node.value}'", f'"{node.value}"'}:
        return None
    return Span(span.start + 1, span.end - 1)


class _Text(NamedTuple):
    """A string in a list of requirements; `certain` tells whether it is in there on every run."""

    text: str
    node: ast.expr
    group: str
    certain: bool


def _take(found: PinSet, source: SourceText, item: _Text) -> None:
    place = string_place(source, item.node)
    span = place or source.span(item.node)
    for line in [item.text] if place else item.text.splitlines():
        if line.strip().endswith((".txt", ".in")):
            # `install_requires=read("requirements.txt")`, whatever `read` is called
            found.includes.append(Include(line.strip(), span, item.group))
            continue
        python = item.group == "python_requires"
        pin = read_versions("python", line, span.start) if python else read_pin(line, span.start, group=item.group)
        if pin is not None and line.strip():
            pin = replace(pin if place else pin.at(span), conditional=pin.conditional or not item.certain)
            (found.python if python else found.pins).append(pin)


def _assigned(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """What is assigned to the names of a file, or appended to them, and what its functions return."""
    found: dict[str, list[ast.expr]] = {}
    for node in walk(tree):
        targets: list[ast.expr] = []
        value: ast.expr | None = None
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            targets, value = [node.target], node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            targets, value = [node.func.value] if node.func.attr in {"append", "extend"} else [], node.args[0]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            given = [one.value for one in walk(node) if isinstance(one, ast.Return) and one.value is not None]
            found.setdefault(node.name, []).extend(given)
        for target in targets:
            if isinstance(target, ast.Name) and value is not None:
                found.setdefault(target.id, []).append(value)
    return found


def _texts(call: ast.Call, assigned: dict[str, list[ast.expr]]) -> Iterator[_Text]:
    """The strings in the lists of a call, those of `**names` included; every name is followed once for each list."""
    pending: list[tuple[ast.expr, str, bool]] = []
    followed: set[tuple[str, str]] = set()

    def push(parts: Iterable[ast.expr], group: str, certain: bool) -> None:
        if not group or group.partition(".")[0] in _LISTS:
            pending.extend((part, group, certain) for part in parts)

    def push_keywords(keywords: Iterable[ast.keyword], group: str, certain: bool) -> None:
        for keyword in keywords:
            push([keyword.value], _below(group, keyword.arg), certain)

    push_keywords(call.keywords, "", True)
    while pending:
        part, group, certain = pending.pop()
        text = None if isinstance(part, ast.Name) else _text(part, assigned)
        if text is not None and group:
            yield _Text(text, part, group, certain)
        elif isinstance(part, (ast.List, ast.Tuple, ast.Set)):
            push(part.elts, group, certain)
        elif isinstance(part, ast.Dict):
            for key, value in zip(part.keys, part.values, strict=True):
                named = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else "?"
                push([value], _below(group, named if key else None), certain)
        elif isinstance(part, ast.BinOp):
            push([part.left, part.right], group, certain)
        elif isinstance(part, ast.IfExp):
            push([part.body, part.orelse], group, False)
        elif isinstance(part, ast.Starred):
            push([part.value], group, certain)
        elif isinstance(part, ast.Attribute):
            push([part.value], group, False)
        elif isinstance(part, ast.Call) and not group:
            push_keywords(part.keywords, group, certain)
        elif isinstance(part, ast.Call):
            push([part.func, *part.args], group, False)
        elif isinstance(part, ast.Name) and (part.id, group) not in followed:
            followed.add((part.id, group))
            values = assigned.get(part.id, [])
            push(values, group, certain and len(values) == 1)


def _below(group: str, key: str | None) -> str:
    """The list that a value under a key is in: an argument of `setup`, or an extra; `**` has no key."""
    if key is None or (group and group != "extras_require"):
        return group
    return f"{group}.{key}" if group else key


def _text(node: ast.expr, assigned: dict[str, list[ast.expr]]) -> str | None:
    """The string that an expression certainly is."""
    pending: list[ast.expr] = [node]
    texts: list[str] = []
    size = 0
    while pending and size <= _LONGEST:
        part = pending.pop()
        size += 1
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            texts.append(part.value)
            size += len(part.value)
        elif isinstance(part, ast.JoinedStr):
            pending += part.values
        elif isinstance(part, ast.FormattedValue):
            pending.append(part.value)
        elif isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add):
            pending += [part.left, part.right]
        elif isinstance(part, ast.Name) and len(values := assigned.get(part.id, [])) == 1:
            pending.append(values[0])
        else:
            return None
    return "".join(reversed(texts)) if size <= _LONGEST else None
