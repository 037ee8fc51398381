"""What `setup.py` asks for, as far as it stands there: literals, names for them, sums and appended items.

Nothing is executed. What only some runs add, or only a call could tell, is taken as wanted under a condition.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from torchlift.dependencies.grammar import read_pin, read_versions
from torchlift.dependencies.pin_set import Include, PinSet
from torchlift.lazy_dataclass import dataclass
from torchlift.source import SourceText, Span
from torchlift.view.walk import walk

_LISTS = frozenset({"install_requires", "setup_requires", "tests_require", "extras_require"})

# Longer texts are no requirements; `a = b + b` for every letter would otherwise fill the memory.
_LONGEST = 100_000


def setup_calls(tree: ast.Module) -> Iterator[ast.Call]:
    """Every call of something called `setup`."""
    for node in walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            if (function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")) == "setup":
                yield node


def read_setup(tree: ast.Module, source: SourceText, call: ast.Call) -> PinSet:
    """The requirements of a call of `setup`, one group for each list, and the Pythons that it asks for."""
    found = PinSet(Span(0, len(source.text)))
    values = _Values(tree)
    for keyword, value, certain in values.keywords(call.keywords):
        if keyword != "python_requires" and keyword not in _LISTS:
            continue
        texts = values.texts(value, keyword, certain)
        for text in sorted(texts, key=lambda text: (text.node.lineno, text.node.col_offset, text.group)):
            _take(found, source, text)
    return found


def string_place(source: SourceText, node: ast.AST) -> Span | None:
    """Where the content of a string stands; None unless it is written as it is, on one line."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return None
    span = source.span(node)
    written = source.slice(span)
    if (
        len(written) < 2
        or "\n" in node.value
        or written[0] not in "\"'"
        or written[1:-1] != node.value
        or written[-1] != written[0]
    ):
        return None
    return Span(span.start + 1, span.end - 1)


@dataclass(frozen=True)
class _Text:
    """A string that may be a requirement.

    Attributes:
        text: what it is.
        node: the expression that it is.
        group: the list that it is in.
        certain: whether it is in there on every run.
    """

    text: str
    node: ast.expr
    group: str
    certain: bool


def _take(found: PinSet, source: SourceText, text: _Text) -> None:
    place = string_place(source, text.node)
    span = place or source.span(text.node)
    for line in filter(None, map(str.strip, text.text.splitlines())):
        if text.group == "python_requires":
            pin = read_versions("python", line, span.start)
        elif line.endswith((".txt", ".in")):
            # `install_requires=read("requirements.txt")`, whatever `read` is called
            found.includes.append(Include(line, span, text.group))
            continue
        elif (read := read_pin(text.text if place else line, span.start, group=text.group)) is not None:
            pin = read
        else:
            continue
        pin = replace(pin if place else pin.at(span), conditional=pin.conditional or not text.certain)
        (found.python if text.group == "python_requires" else found.pins).append(pin)


class _Values:
    """What the names of a file stand for."""

    def __init__(self, tree: ast.Module) -> None:
        self._assigned: dict[str, list[ast.expr]] = {}
        for node in walk(tree):
            if isinstance(node, ast.Assign):
                self._assign(node.targets, node.value)
            elif isinstance(node, (ast.AugAssign, ast.AnnAssign)) and node.value is not None:
                self._assign([node.target], node.value)
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in {"append", "extend"}
                and node.args
            ):
                self._assign([node.func.value], node.args[0])

    def _assign(self, targets: Iterable[ast.expr], value: ast.expr) -> None:
        for target in targets:
            if isinstance(target, ast.Name):
                self._assigned.setdefault(target.id, []).append(value)

    def keywords(self, keywords: Iterable[ast.keyword]) -> Iterator[tuple[str, ast.expr, bool]]:
        """Keyword arguments, those of `**names` included, each with whether it is certainly given."""
        for keyword in keywords:
            if keyword.arg is not None:
                yield keyword.arg, keyword.value, True
                continue
            values = [keyword.value]
            if isinstance(keyword.value, ast.Name):
                values = self._assigned.get(keyword.value.id, [])
            for value in values:
                if isinstance(value, ast.Dict):
                    for key, item in zip(value.keys, value.values, strict=True):
                        if isinstance(key, ast.Constant) and isinstance(key.value, str):
                            yield key.value, item, len(values) == 1
                elif isinstance(value, ast.Call):
                    yield from ((item.arg, item.value, len(values) == 1) for item in value.keywords if item.arg)

    def texts(self, node: ast.expr, group: str, certain: bool) -> Iterator[_Text]:
        """The strings in an expression; every name is followed once for each list."""
        pending = [(node, group, certain)]
        followed: set[tuple[str, str]] = set()
        while pending:
            part, group, certain = pending.pop()
            text = None if isinstance(part, ast.Name) else self._text(part)
            if text is not None:
                yield _Text(text, part, group, certain)
            elif isinstance(part, (ast.List, ast.Tuple, ast.Set)):
                pending += [(item, group, certain) for item in part.elts]
            elif isinstance(part, ast.Dict):
                for key, item in zip(part.keys, part.values, strict=True):
                    pending.append((item, group if "." in group else group + _extra(key), certain))
            elif isinstance(part, ast.BinOp):
                pending += [(part.left, group, certain), (part.right, group, certain)]
            elif isinstance(part, ast.IfExp):
                pending += [(part.body, group, False), (part.orelse, group, False)]
            elif isinstance(part, ast.Starred):
                pending.append((part.value, group, certain))
            elif isinstance(part, ast.Attribute):
                pending.append((part.value, group, False))
            elif isinstance(part, ast.Call):
                pending += [(item, group, False) for item in (part.func, *part.args)]
            elif isinstance(part, ast.Name) and (part.id, group) not in followed:
                followed.add((part.id, group))
                values = self._assigned.get(part.id, [])
                pending += [(value, group, certain and len(values) == 1) for value in values]

    def _text(self, node: ast.expr) -> str | None:
        """The string that an expression certainly is."""
        pending: list[ast.expr] = [node]
        texts: list[str] = []
        size = 0
        while pending:
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
            elif isinstance(part, ast.Name) and len(values := self._assigned.get(part.id, [])) == 1:
                pending.append(values[0])
            else:
                return None
            if size > _LONGEST:
                return None
        return "".join(reversed(texts))


def _extra(key: ast.expr | None) -> str:
    """What a key of `extras_require` adds to the name of the group; nothing for `**`."""
    if key is None:
        return ""
    return f".{key.value}" if isinstance(key, ast.Constant) and isinstance(key.value, str) else ".?"
